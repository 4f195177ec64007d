"""The page in Italian and in Spanish: every word that it says comes from the catalogues, and no word that is data."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

import ingenuo as ing
from ingenuo.datasets import play_tennis
from ingenuo.errors import IngenuoError
from ingenuo.language import catalogue
from ingenuo.page import build, page
from ingenuo.page.link import FOLDER
from ingenuo.page.session import Session

Visits = Callable[..., Any]
DAY = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}

HEADS = {
    "it": [
        "Perché questa risposta",
        "Nomogramma",
        "Che cosa la cambierebbe",
        "Ci si può fidare?",
        "Colonne",
        "Due modelli",
    ],
    "es": ["Por qué esta respuesta", "Nomograma", "Qué la cambiaría", "¿Es fiable?", "Columnas", "Dos modelos"],
}

# Everything that is read or heard on a page; what is folded is opened.
SAID = """
(() => {
  document.querySelectorAll('#app details').forEach((each) => each.open = true);
  const found = [], walk = document.createTreeWalker(document.getElementById('app'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (!walk.currentNode.parentElement.closest('style, code')) found.push(walk.currentNode.data);
  for (const each of document.querySelectorAll('#app *'))
    for (const name of ['aria-label', 'title', 'placeholder', 'aria-valuetext'])
      if (each.getAttribute(name)) found.push(each.getAttribute(name));
  return found;
})()
"""


@pytest.fixture(scope="module")
def tennis() -> Any:
    return ing.NaiveBayes().fit(play_tennis(), "Play")


def data_of(html: str) -> Any:
    found = re.search(r'id="data">([^<]*)<', html)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def settled(found: Any) -> None:
    """Wait until every view is drawn."""
    views = "[...document.querySelectorAll('section.view')]"
    found.until(f"{views}.every((each) => each.children.length > 1)")
    found.page.evaluate(f"{views}.forEach((each) => each.scrollIntoView())")
    found.until("!document.querySelector('[aria-busy=true], .columns-waits') && document.querySelector('.badge.good')")


# The notes' own example.


@pytest.mark.parametrize("language", ["it", "es"])
def test_play_tennis_is_asked_in_the_languages_of_the_notes(visit: Visits, tennis: Any, language: str) -> None:
    found = visit(page(tennis, play_tennis(), question=DAY, language=language))
    assert found.page.get_attribute("html", "lang") == language
    assert found.texts("section.view > h2") == HEADS[language]
    assert found.texts(".sums tbody th") == ["a priori", "Outlook", "Humidity", "Wind", "Temperature"]
    no, yes = tennis.answer_row(DAY)[1]
    assert found.texts(".class-row .n") == [f"{no:.1%}", f"{yes:.1%}"]
    assert found.texts(".class-name") == ["No", "Yes"]  # what the data say is not translated
    settled(found)
    assert {"it": "matrice di confusione", "es": "matriz de confusión"}[language] in found.text("#believe")
    assert {"it": "14 righe", "es": "14 filas"}[language] in found.text("#believe .how")
    found.page.click(".ask-head .tools > button:last-of-type")  # everything unknown
    known = {"it": "Non si sa ancora nulla.", "es": "Todavía no se sabe nada."}[language]
    found.until(f"document.querySelector('.verdict-note').innerText === '{known}'")


def test_the_default_is_english_and_carries_no_catalogue(tennis: Any) -> None:
    english, italian = page(tennis), page(tennis, language="it")
    assert '<html lang="en">' in english
    assert "words" not in data_of(english)
    assert set(data_of(italian)["words"]) <= set(catalogue("it"))
    assert len(italian) - len(english) < 16_000
    assert "Apertura del modello" in italian
    with pytest.raises(IngenuoError, match="known: en, it, es"):
        page(tennis, language="de")


def test_notebooks_and_the_page_at_home_speak_it_too(tennis: Any) -> None:
    assert '<html lang="es">' in tennis.page(language="es").html
    assert '<html lang="it">' in Session(tennis, language="it").page()


# Nothing is said past the catalogues.


class Rest(dict[str, str]):
    """A language in which every message stands in brackets."""

    def __init__(self) -> None:
        super().__init__({words: f"⟦{words}⟧" for words in catalogue("it", "page")})


def unsaid(texts: list[str], data: set[str]) -> set[str]:
    """Words that stand in no brackets, which a shortened message does not close, and are not of the data."""
    found = set()
    for text in texts:
        before = None
        while before != text:
            before, text = text, re.sub(r"⟦[^⟦⟧]*[⟧…]", " ", text)
        found |= set(re.findall(r"[A-Za-z]{2,}", text))
    return found - data


@pytest.mark.parametrize("kind", ["naive Bayes", "network", "texts"])
def test_every_word_on_the_page_is_of_the_catalogue_or_of_the_data(visit: Visits, kind: str) -> None:
    days = play_tennis()
    given = {word for row in days.to_pylist() for pair in row.items() for word in pair}
    rows: Any = days
    if kind == "texts":
        rows = ["lovely warm", "dull cold", "lovely story", "dull story"] * 4
        model: Any = ing.NaiveBayes().fit(rows, ["Yes", "No"] * 8)
        given, question = {*" ".join(rows).split(), "Yes", "No", "text"}, "lovely cold strange"
    elif kind == "network":
        model, question = ing.NetworkClassifier("tan").fit(days, "Play"), DAY
    else:
        model, question = (
            ing.NaiveBayes(calibration="temperature").fit(days, "Play"),
            {"Outlook": "Fog", "Wind": "Weak"},
        )
    made = data_of(page(model, None if kind == "texts" else rows, question=question, title="Play"))
    found = visit(build(made | {"words": Rest()}))
    settled(found)
    texts = found.page.evaluate(SAID)
    found.page.wait_for_timeout(400)  # what was folded is drawn
    texts = found.page.evaluate(SAID)
    assert len(texts) > 100
    own = {type(model).__name__, "SVG", "Fog", "strange", "Play"}
    assert unsaid(texts, given | own) == set()


def test_the_catalogues_have_every_message_of_the_page_with_its_values() -> None:
    paths = [path for path in sorted(FOLDER.rglob("*.mjs")) if path.name != "language.mjs"]
    sources = "".join(path.read_text(encoding="utf-8") for path in paths)
    said = {json.loads(each) for each in re.findall(r'\bsay\(("(?:[^"\\]|\\.)*")', sources)}
    assert len(said) > 300
    for language in ("it", "es"):
        words = catalogue(language)
        assert sorted(said - words.keys()) == []
        names = re.compile(r"\{\w+\}")
        assert [each for each in said & words.keys() if {*names.findall(each)} != {*names.findall(words[each])}] == []
