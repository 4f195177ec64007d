"""Italian and Spanish: the notes' own examples as they print, and catalogues that lack nothing."""

from __future__ import annotations

import copy
import importlib.util
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

import ingenuo as ing
import ingenuo.language
from ingenuo.cli import main
from ingenuo.datasets import play_tennis
from ingenuo.errors import InputError
from ingenuo.language import LANGUAGES, Message, catalogue, say, speaking, spoken, translated

spec = importlib.util.spec_from_file_location("messages", Path(__file__).with_name("messages.py"))
assert spec is not None
assert spec.loader is not None
messages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(messages)

SUNNY = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}
OTHERS = ["it", "es"]


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.fixture(scope="module")
def tennis() -> ing.NaiveBayes:
    return ing.NaiveBayes(prior=ing.MaximumLikelihood()).fit(play_tennis(), "Play")


# The catalogues.


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_has_a_translation_and_none_is_of_the_past(language: str) -> None:
    assert set(catalogue(language)) == set(messages.messages())


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_values_of_its_message(language: str) -> None:
    def values(text: str) -> set[str]:
        return set(re.findall(r"\{(\w+)\}", text))

    assert not {words for words, text in catalogue(language).items() if values(words) != values(text)}


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_begins_and_ends_as_its_message(language: str) -> None:
    for words, text in catalogue(language).items():
        assert words[-1:] not in ".:…" or text[-1:] == words[-1:], text
        assert text == text.strip(), text
        assert (words[0] == "(") == (text[0] == "("), text


@pytest.mark.parametrize("path", messages.CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_is_as_the_script_writes_it(path: Path) -> None:
    known, found = messages.read_catalogue(path.read_text(encoding="utf-8")), messages.messages()
    head = messages.HEAD.format(language=LANGUAGES[path.stem].capitalize(), code=path.stem).rstrip()
    entries = [messages.entry(words, known[words][0], found[words]) for words in sorted(found)]
    assert path.read_text(encoding="utf-8") == "\n\n".join([head, *entries]) + "\n"


def test_the_page_gets_the_messages_of_the_page_alone() -> None:
    own = catalogue("it", "page")
    assert own["Answer"] == "Risposta"
    assert "→ {answer}, with probability {p}" not in own


# Messages.


def test_a_message_is_its_english_text_to_all_code() -> None:
    shown = say("{n} factors", n=3)
    assert shown == "3 factors"
    assert {shown: 1}["3 factors"] == 1
    assert json.dumps(shown) == '"3 factors"'
    assert translated(shown, "es") == "3 factores"


def test_messages_within_messages_are_translated() -> None:
    shown = say("log({how})", how=say("{n} factors", n=2))
    assert shown == "log(2 factors)"
    assert shown.into("it") == "log(2 fattori)"


def test_braces_of_a_user_stay_as_they_are() -> None:
    assert say("{column} = {value}", column="{value}", value="x").into("it") == "{value} = x"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_can_be_translated_too(copied) -> None:
    again = copied(say("{n} factors", n=3))
    assert again == "3 factors"
    assert again.into("it") == "3 fattori"


def test_a_language_is_spoken_within_its_block_alone() -> None:
    with speaking("it"):
        with speaking("es"):
            assert spoken(say("missing")) == "sin valor"
        assert spoken(say("missing")) == "mancante"
        assert spoken("missing") == "missing"
    assert spoken(say("missing")) == "missing"


def test_the_environment_changes_no_language(monkeypatch: pytest.MonkeyPatch, tennis: ing.NaiveBayes) -> None:
    for name in ("LANG", "LC_ALL", "LANGUAGE", "LC_MESSAGES"):
        monkeypatch.setenv(name, "it_IT.UTF-8")
    assert "with probability" in str(tennis.explain(SUNNY))


@pytest.mark.parametrize("language", ["fr", "IT", "", "italian"])
def test_another_language_is_refused_and_those_that_there_are_are_named(tennis, language: str) -> None:
    with pytest.raises(InputError, match=r"language='.*' is not known; (known: en, it, es|did you mean 'it'\?)"):
        tennis.explain(SUNNY, language=language)


# The notes' own examples.


def test_play_tennis_in_italian(tennis: ing.NaiveBayes) -> None:
    assert lines(str(ing.explain(tennis, SUNNY, language="it"))) == lines(
        """
                         No                  Yes
────────────────────────────────────────────────────────────────
a priori                 5/14  = 0.3571429   9/14  = 0.6428571
Outlook          Sunny   3/5   = 0.6         2/9   = 0.2222222
Temperature      Cool    1/5   = 0.2         3/9   = 0.3333333
Humidity         High    4/5   = 0.8         3/9   = 0.3333333
Wind             Strong  3/5   = 0.6         3/9   = 0.3333333
────────────────────────────────────────────────────────────────
prodotto                       = 0.02057143        = 0.005291005
la loro somma    P(x) = 0.02586243
÷ la loro somma                = 0.795417          = 0.204583
→ No, con probabilità 0.795417
"""
    )


@pytest.mark.filterwarnings("ignore:'none' was never seen")
def test_play_tennis_in_logarithms_in_spanish(tennis: ing.NaiveBayes) -> None:
    row = {**SUNNY, "Outlook": None, "Wind": "none"}
    found = tennis.explain(row, form="log", language="es")
    assert lines(str(found)) == lines(
        """
                             No                       Yes
─────────────────────────────────────────────────────────────────────────────
a priori                     log(5/14)  = -1.029619   log(9/14)  = -0.4418328
Outlook           sin valor  se omite
Temperature       Cool       log(1/5)   = -1.609438   log(3/9)   = -1.098612
Humidity          High       log(4/5)   = -0.2231436  log(3/9)   = -1.098612
Wind              none       nunca visto: se omite
─────────────────────────────────────────────────────────────────────────────
suma                                    = -2.862201              = -2.639057
log P(x)          = -2.051271
− log P(x)                              = -0.8109302             = -0.5877867
e^ del resultado                        = 0.444444               = 0.555556
→ Yes, con probabilidad 0.555556
"""
    )


def test_the_coin_in_italian() -> None:
    coin = ing.Hypotheses(
        {"bilanciata": 0.75, "sbilanciata": 0.25},
        {"bilanciata": {"Testa": 0.5, "Croce": 0.5}, "sbilanciata": {"Testa": 0.6, "Croce": 0.4}},
    )
    assert lines(str(coin.update("Testa").explain(language="it"))) == lines(
        """
                   bilanciata              sbilanciata
──────────────────────────────────────────────────────────────────
a priori                       = 0.75                   = 0.25
Testa                          = 0.5                    = 0.6
──────────────────────────────────────────────────────────────────
prodotto                       = 0.375                  = 0.15
la loro somma    P(x) = 0.525
÷ la loro somma                = 0.714286               = 0.285714
→ bilanciata, con probabilità 0.714286
"""
    )
    assert lines(str(coin.update(["Testa", "Croce"]).trace.translate("it"))) == lines(
        """
passo  osservazione  bilanciata  sbilanciata
0                    0.750000    0.250000
1      Testa         0.714286    0.285714
2      Croce         0.757576    0.242424
"""
    )


def test_the_boxes_in_spanish() -> None:
    cajas = ing.Hypotheses(
        {"roja": 4, "blanca": 6},
        {
            "roja": {"manzana": 2, "limón": 4, "naranja": 6},
            "blanca": {"manzana": 3, "limón": 6, "naranja": 1},
        },
        normalise=True,
    )
    assert lines(str(cajas.update("naranja").explain(language="es"))) == lines(
        """
             roja              blanca
─────────────────────────────────────────────────
a priori     2/5   = 0.4       3/5     = 0.6
naranja      1/2   = 0.5       1/10    = 0.1
─────────────────────────────────────────────────
producto           = 0.2               = 0.06
su suma    P(x) = 0.26
÷ su suma          = 0.769231          = 0.230769
→ roja, con probabilidad 0.769231
"""
    )


def test_the_weather_network_in_spanish() -> None:
    """The notes' figure 1: outlook rainy, temperature cool, humidity high, windy true."""
    days = ing.datasets.weather()
    frame = (
        pd.DataFrame({name: days[name] for name in days.column_names}) if isinstance(days, dict) else days.to_pandas()
    )
    frame["temperature"] = pd.cut(frame["temperature"], [0, 70, 80, 99], labels=["cool", "mild", "hot"]).astype(str)
    frame["humidity"] = np.where(frame["humidity"] > 80, "high", "normal")
    model = ing.NetworkClassifier(structure="tan").fit(frame, "play")
    row = {"outlook": "rainy", "temperature": "cool", "humidity": "high"}
    shown = str(model.explain(row, language="es"))
    assert "eliminado por suma: sus valores posibles suman 1" in shown or "sumado sobre" in shown
    assert "a priori" in shown
    assert "su suma" in shown
    assert "summed" not in shown


def test_a_text_in_italian() -> None:
    texts = ["vinci soldi adesso", "soldi gratis vinci", "riunione alle dieci", "alle dieci con me"]
    model = ing.NaiveBayes().fit(texts, ["spam", "spam", "posta", "posta"])
    shown = lines(str(model.explain("vinci soldi alle dieci cara zia", language="it")))
    assert "text             sconosciute: 2  mai viste, si omettono: cara, zia" in shown
    assert shown[-2:] == ["text: + a favore di “spam”, − di “posta”", "vinci⁺⁺ soldi⁺⁺ alle⁻⁻ dieci⁻⁻ cara zia"]


def presence() -> ing.NaiveBayes:
    """A model of which words are there, and which are not."""
    texts = {"text": ["vinci soldi", "soldi", "dieci", "alle dieci"], "y": ["a", "a", "b", "b"]}
    return ing.NaiveBayes(columns={"text": "words-bernoulli"}).fit(pd.DataFrame(texts), "y")


@pytest.mark.parametrize(
    ("text", "language", "absent", "unknown"),
    [
        ("vinci soldi alle zia", "en", "1 absent 1 - p", "1 unknown"),
        ("vinci soldi alle zia", "it", "assenti: 1 1 - p", "sconosciute: 1"),
        ("vinci soldi alle zia", "es", "ausentes: 1 1 - p", "desconocidas: 1"),
        ("vinci soldi cara zia", "it", "assenti: 2 2 fattori 1 - p", "sconosciute: 2"),
        ("vinci soldi cara zia", "es", "ausentes: 2 2 factores 1 - p", "desconocidas: 2"),
    ],
)
def test_one_of_something_is_not_spoken_of_as_several(text: str, language: str, absent: str, unknown: str) -> None:
    shown = " ".join(str(presence().explain({"text": text}, language=language)).split())
    assert f"text {absent} = " in shown
    assert f"text {unknown} " in shown


def test_no_line_stands_for_one_other() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(30, 25)), columns=[f"c{k}" for k in range(25)])
    model = ing.NaiveBayes(numbers="gaussian").fit(rows, ["a", "b"] * 15)
    shown = model.explain(rows.iloc[0].to_dict()).abridge()
    assert "…" not in " ".join(factor.column for factor in shown.factors)


def test_a_nomogram_in_italian(tennis: ing.NaiveBayes) -> None:
    found = ing.nomogram(tennis).translate("it")
    assert lines(str(found))[:3] == [
        "P(Yes), contro No",
        "colonna      punti",
        "Humidity     High 0 · Normal 100 · (mancante 42)",
    ]
    assert ">punti totali</text>" in found.svg()
    assert "points" not in found.svg()


def test_the_picture_of_a_network_in_italian(tmp_path: Path) -> None:
    tables = {"pioggia": {"sì": 0.3, "no": 0.7}, "erba": {"sì": {"b": 0.9, "a": 0.1}, "no": {"b": 0.2, "a": 0.8}}}
    garden = ing.Network.from_arcs([("pioggia", "erba")], tables=tables)
    drawn = str(garden.draw(evidence={"erba": "b"}, language="it"))
    for said in ("osservato", "prima dell'evidenza", "mutua informazione dati gli altri genitori:", " bit<"):
        assert said in drawn.replace("&#x27;", "'").replace("&#39;", "'")
    assert not re.search(r">[^<]*\b(observed|before|evidence|mutual|bits)\b", drawn)
    garden.write(tmp_path / "garden.bif")
    made = run("network", "draw", str(tmp_path / "garden.bif"), "-o", str(tmp_path / "g.svg"), "--tables", "--given",
               "erba=b", "--language", "es")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert "dada la evidencia" in (tmp_path / "g.svg").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="language='fr' is not known"):
        garden.draw(language="fr")


def test_the_strongest_signs_in_spanish(tennis: ing.NaiveBayes) -> None:
    assert lines(str(ing.strongest(tennis, 2).translate("es")))[:4] == [
        "para No",
        "            valor  cuán probable      en la clase  en total",
        "  Humidity  High   ×2.4 más probable  4            7",
        "  Outlook   Sunny  ×2.7 más probable  3            5",
    ]


# What stays as it is.


def test_what_a_user_called_missing_is_not_translated() -> None:
    frame = pd.DataFrame({"prior": ["missing", "left out"] * 6, "y": ["product", "sum"] * 6})
    shown = str(ing.NaiveBayes().fit(frame, "y").explain({"prior": "missing"}, language="it"))
    assert re.search(r"^ +product +sum$", shown, re.MULTILINE)
    assert re.search(r"^prior +missing +\(6", shown, re.MULTILINE)
    assert "→ product, con probabilità" in shown


def test_data_stay_english_and_plain(tennis: ing.NaiveBayes) -> None:
    row = {**SUNNY, "Wind": None}
    english, italian = tennis.explain(row), tennis.explain(row, language="it")
    assert italian.to_dict() == english.to_dict()
    assert italian.to_csv() == english.to_csv()
    assert italian.to_json() == english.to_json()
    assert yaml.safe_load(yaml.safe_dump(italian.to_dict())) == english.to_dict()  # which takes strings alone


def test_every_form_that_people_read_is_translated(tennis: ing.NaiveBayes) -> None:
    found = tennis.explain(SUNNY, language="it")
    page = found.to_html()
    assert '<html lang="it">' in page
    assert "<title>Perché No?</title>" in page
    for shown in (page, found._repr_html_(), found.to_markdown(), found.to_latex(), found.as_logs().to_text()):
        assert "la loro somma" in shown or "somma" in shown
        assert "with probability" not in shown


def test_many_explanations_are_translated(tennis: ing.NaiveBayes) -> None:
    found = tennis.explain(play_tennis(), language="es")
    assert str(found).endswith("… y otras filas: 4")
    assert "fila 2" in str(found)
    assert "con probabilidad" in str(found[3])
    assert "".join(found[:2].pieces("html")).startswith('<!doctype html>\n<html lang="es">')


# Nothing of the arithmetic stays English: with a language in which every message stands in brackets, what stands
# outside of them is the user's, or a formula.

ROWS = 90


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.choice(["yy", "nn"], ROWS)
    return pd.DataFrame(
        {
            "aa": rng.normal(size=ROWS) + (y == "yy"),
            "bb": rng.gamma(2.0, size=ROWS) + 1,
            "cc": np.where(rng.random(ROWS) < 0.7, y, "zz"),
            "yy": y,
        }
    ).replace({"cc": {"yy": "vv", "nn": "uu"}})


def of_rows(model):
    return lambda: model.fit(table(), "yy")


def of_texts(model):
    words = ["ww", "vv", "uu", "zz"]
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(words, 5)) for _ in range(40)]
    return lambda: model.fit(texts, rng.choice(["yy", "nn"], 40))


def of_numbers(model):
    frame = table()
    return lambda: model.fit(frame[["aa", "bb"]], frame["yy"])


MODELS = {
    "naive Bayes": of_rows(ing.NaiveBayes(tune=True, calibration="platt")),
    "kernels": of_rows(ing.NaiveBayes(numbers={"aa": "kernel", "bb": "histogram"})),
    "formulas": of_rows(ing.NaiveBayes(numbers={"aa": "mixture", "bb": "log-normal"})),
    "given priors": of_rows(ing.NaiveBayes(class_prior={"yy": 0.5, "nn": 0.5})),
    "softmax": of_rows(ing.SoftmaxRegression()),
    "penalty": of_rows(ing.SoftmaxRegression(l2="auto")),
    "trees": of_rows(ing.BoostedTrees()),
    "discriminant": of_numbers(ing.GaussianDiscriminant()),
    "regularised": of_rows(ing.GaussianDiscriminant(covariance="regularised")),
    "least squares": of_numbers(ing.LeastSquaresClassifier()),
    "network": of_rows(ing.NetworkClassifier(structure="tan")),
    "average": of_rows(ing.NetworkClassifier(structure="aode")),
    "back-off": of_rows(ing.NetworkClassifier(smoothing="back-off")),
    "regressor": lambda: ing.NaiveBayesRegressor(bins=8).fit(table().drop(columns="yy").assign(bb=range(ROWS)), "bb"),
    "vote": of_rows(ing.BayesClassifier()),
    "words": of_texts(ing.NaiveBayes(text=ing.Words(binary=True), calibration="temperature")),
    "language model": of_texts(ing.LanguageModelClassifier(order=2)),
}
FORMULA = {"aa", "bb", "cc", "yy", "nn", "uu", "vv", "zz", "ww", "aa²", "bb²", "log", "text", "e-05", "inf"} | {
    "normal",
    "network",
    "discriminant",
    "trees",
    "softmax",
    "products",
}


@pytest.fixture
def bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {words: (f"⟦{words}⟧", frozenset({"python"})) for words in messages.messages()}
    monkeypatch.setattr(ingenuo.language, "_read", lambda language: known if language != "en" else {})


def outside(text: str) -> set[str]:
    """The words of a text that stand in no brackets."""
    while (less := re.sub(r"⟦[^⟦⟧]*⟧", " ", text)) != text:
        text = less
    return {word for word in re.findall(r"[^\W\d_]{2,}", text) if word not in FORMULA}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_nothing_of_the_arithmetic_stays_english(name: str, bracketed: None) -> None:
    model = MODELS[name]()
    texts = name in ("words", "language model")
    rows = ["ww vv ww qq", "uu"] if texts else [{"aa": 0.5, "bb": 1.5, "cc": "vv"}, {"aa": 0.1}, {"cc": "qq", "bb": 2}]
    if name in ("discriminant", "least squares"):
        rows = rows[:2]
        rows[0] = {"aa": 0.5, "bb": 1.5}
    if name == "regressor":
        rows = [{"aa": 0.5, "cc": "vv"}]
    for row in rows:
        found = model.explain(row, language="it")
        assert not outside(str(found)) - {"qq"}, str(found)
        assert "⟦" in str(found)


# The commands.


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tennis: ing.NaiveBayes) -> None:
    monkeypatch.chdir(tmp_path)
    ing.save(tennis, "tennis.ingenuo")
    play_tennis().to_pandas().to_csv("days.csv", index=False)
    Path("coin.json").write_text(
        '{"priors": {"a": 0.5, "b": 0.5}, "likelihoods": {"a": {"x": 1}, "b": {"x": 0.5, "y": 0.5}}}'
    )


def run(*words: str):
    return CliRunner().invoke(main, list(words))


def test_the_commands_take_a_language(saved: None) -> None:
    row = ["--row", "Outlook=Sunny, Wind=Strong"]
    assert "la loro somma" in run("explain", "tennis.ingenuo", *row, "--language", "it").stdout
    assert "su suma" in run("explain", "tennis.ingenuo", "days.csv", "--rows", "1-2", "--language", "es").stdout
    assert "la más probable (MAP): a" in run("believe", "coin.json", "x", "--language", "es").stdout
    run("inspect", "tennis.ingenuo", "--nomogram", "n.svg", "--language", "it")
    assert "punti totali" in Path("n.svg").read_text(encoding="utf-8")


def test_reasons_are_translated(saved: None) -> None:
    ing.save(presence(), "texts.ingenuo")
    Path("new.txt").write_text("vinci soldi\n")
    found = run("predict", "texts.ingenuo", "new.txt", "--format", "lines", "--reasons", "9", "--language", "it")
    assert found.exit_code == 0, found.output
    assert "assenti" in found.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explain", "tennis.ingenuo", "--row", "Wind=Weak", "--json", "--language", "it"], "json is for programs"),
        (
            ["explain", "tennis.ingenuo", "--row", "Wind=Weak", "--language", "fr"],
            "'fr' is not one of 'en', 'it', 'es'",
        ),
        (["believe", "coin.json", "x", "--json", "--language", "it"], "--json is for programs"),
        (["predict", "tennis.ingenuo", "days.csv", "--language", "it"], "--language is that of the --reasons"),
        (["inspect", "tennis.ingenuo", "--language", "it"], "--language are of the --nomogram"),
    ],
)
def test_a_language_that_would_say_nothing_is_refused(saved: None, words: list[str], message: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_a_message_is_never_lost_in_a_table() -> None:
    assert isinstance(say("missing"), Message)
    assert not isinstance(str(say("missing")), Message)
