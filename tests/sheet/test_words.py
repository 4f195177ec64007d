"""Texts in JavaScript: cut into the same words as by Python, and answered with the same bits."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.real_texts import labelled

import ingenuo as ing
from ingenuo import Words
from ingenuo.errors import InputError
from ingenuo.sheet import sheet
from ingenuo.text.reader import reader_of
from ingenuo.text.tokens import reader_tables, tokens

from .node import PAGE, assert_same_bits

#: Pieces of texts: letters of all sorts, what is in no alphabet, what opens and closes the scope of a negation.
PIECES = [
    "a", "b", "Z", "_", "7", " ", " ", ". ", ", ", "\n", "film", "Film", "FINE", "dull", "not ", "No ", "never ",
    "n't ",
    "isn't ", "DON’T ", "can't", "n't_", "not_", "?!", "…", "¿", "'", "’", "-", "[positive]", "<s>", "</script>",
    "Σ", "ΟΔΟΣ", "ΣΑΣ'", "σ", "ς", "Σ\u0301", "İ", "İZMİR ", "ı", "ß", "ẞ", "ﬁ", "Ǆ", "K", "Å", "é", "e\u0301",
    "\u0345",
    "\u0300\u0301", "ـ", "שלום", "مرحبا", "\u202e", "\u200d", "\ufeff", "日本語", "ไทย", "한국", "𝔘", "𐐀", "𝟘", "😀",
    "👩‍👩‍👧",
    "Ა", "Ꭰ", "Ⓐ", "²", "½", "٣", "Ⅷ", "\u10d50", "\U00010d50", "\U0001e030", "\u1c89", "\ua7cb", "\ufffd", "\uffff",
    "\U0010ffff", "\0", "\x1c", "\x1d", "\x1f", "\x85", "\xa0", "\u2028", "\u3000", "\u180e", "\t", "\r\n", "\x7f",
]  # fmt: skip
HALVES = ["\ud800", "\udfff", "a\udc00b", "\ud83d"]

SCRIPT = """
import readline from "node:readline";
import fs from "node:fs";
import { Letters, Reader } from "TOKENS";
let letters;
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { tables, settings, text, file } = JSON.parse(line);
  if (tables) letters = new Letters(tables);
  const found = settings ? new Reader(settings, letters).cut(file ? fs.readFileSync(file, "utf8") : text) : null;
  if (file) fs.writeFileSync(file + ".words", found.words.join("\\n"));
  process.stdout.write(JSON.stringify(file ? found.words.length : found) + "\\n");
});
"""


class NodeReader:
    """tokens.mjs in a process of its own."""

    def __init__(self) -> None:
        script = SCRIPT.replace("TOKENS", (PAGE / "tokens.mjs").as_uri())
        self.process = subprocess.Popen(
            ["node", "--input-type=module", "-e", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ask(tables=reader_tables())

    def ask(self, **question: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def tokens(self, text: str, words: Words) -> list[tuple[int, int, str]]:
        """The words, and where they begin and end, as Python counts characters."""
        found = self.ask(settings=reader_of(words), text=text)
        units, at = {0: 0}, 0
        for place, letter in enumerate(text, 1):
            at += 1 + (letter > "\uffff")
            units[at] = place
        places = [units[place] for place in found["places"]]
        return list(zip(places[::2], places[1::2], found["words"]))


@pytest.fixture(scope="module")
def reader() -> Iterator[NodeReader]:
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    found = NodeReader()
    yield found
    assert found.process.stdin is not None
    found.process.stdin.close()
    found.process.wait(10)


PATTERNS = [
    r"\S+", r"[a-z]+", r"\b[a-zA-Z]{3,}\b", r"\w+(?:['’]\w+)?", r"\w+|[^\w\s]", r"[^\W\d_]+", r"(?:#|@)?(\w+)", r"\d+",
    r"\D\B", r"(?<!\w)\w{1,3}(?!\w)", r"^\w+|\w+$", r"\A.|.\Z", r"a+?|b{1,2}?\w", r"[\W_]\w", r"\w+(?=\s)",
    r"[-.*^\]\\]",
    r"(?:not|no) (\w+)", r"[😀-🙏]|[ֿ-ת]+", r"x|.", "é\\w?", r"[^\n]",
]  # fmt: skip
CUTS = [
    Words(), Words(token=r"\w+"), Words(lowercase=False), Words(characters=(2, 3)),
    Words(characters=(1, 1), lowercase=False), Words(negation="english"), Words(negation="spanish", token=r"\w+"),
    Words(negation="italian", lowercase=False), Words(negation="english", lowercase=False),
    *(Words(token=pattern) for pattern in PATTERNS), Words(token=r"\w+(?:'\w+)?", negation="english"),
]  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
texts_with_halves = st.lists(st.sampled_from([*PIECES, *HALVES]), max_size=30).map("".join)


def python_tokens(text: str, words: Words) -> list[tuple[int, int, str]]:
    return [tuple(token) for token in tokens(text, words)]


@settings(deadline=None, max_examples=150)
@given(text=st.one_of(texts, texts_with_halves), which=st.integers(0, len(CUTS) - 1))
def test_texts_are_cut_as_by_python(reader: NodeReader, text: str, which: int) -> None:
    text = re.sub(r"[\ud800-\udbff]+(?=[\udc00-\udfff])", "", text)  # which are one character in JavaScript
    assert reader.tokens(text, CUTS[which]) == python_tokens(text, CUTS[which])


@pytest.mark.parametrize("which", range(len(CUTS)))
def test_every_setting_cuts_one_long_odd_text_as_python_does(reader: NodeReader, which: int) -> None:
    rng = np.random.default_rng(which)
    text = "".join(rng.choice(np.array(PIECES, object), 3000))
    assert reader.tokens(text, CUTS[which]) == python_tokens(text, CUTS[which])


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character_is_a_letter_or_not_as_in_python(reader: NodeReader, lowercase: bool, tmp_path: Path) -> None:
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    text = "".join(f"a{letter}b " for letter in every)
    words = Words(token=r"\w+", lowercase=lowercase)
    found = cut_from_file(reader, text, words, tmp_path)
    assert found == re.findall(r"\w+", text.lower() if lowercase else text)


def test_a_sigma_is_final_after_and_before_every_character_as_in_python(reader: NodeReader, tmp_path: Path) -> None:
    every = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200))]
    text = "".join(f"a{letter}Σ {letter}Σ aΣ{letter}b Σ{letter}\n" for letter in every)
    assert cut_from_file(reader, text, Words(), tmp_path) == re.findall(r"\w\w+", text.lower())


def cut_from_file(reader: NodeReader, text: str, words: Words, folder: Path) -> list[str]:
    path = folder / "text"
    path.write_bytes(text.encode())
    reader.ask(settings=reader_of(words), file=str(path))
    return (folder / "text.words").read_bytes().decode().split("\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (Words(stem="english"), "a stemmer"),
        (Words(token=lambda text: text.split(",")), "a Python function"),
        (Words(token=r"(?i)[a-z]+"), "flags"),
        (Words(token=r"(?i:[a-z])+"), "flags"),
        (Words(token=r"(?a:\w)+"), "flags"),
        (Words(token=r"\w*"), "a match of nothing"),
        (Words(token=r"(?:a?)+b"), "a repeated match of nothing"),
        (Words(token=r"(?:(a)|b)+"), "a group that is repeated"),
        (Words(token=r"\w++"), "possessive"),
        (Words(token=r"(\w)\1"), "groupref"),
        (Words(token=r"(?>a|ab)c"), "atomic"),
        (Words(token=r"(?<=(a))b"), "looked at"),
    ],
)
def test_what_cannot_be_cut_alike_is_refused_in_one_sentence(words: Words, why: str) -> None:
    model = ing.NaiveBayes(text=words).fit(["aab, abc", "b, ac abbc"], ["u", "v"])
    with pytest.raises(InputError, match=why) as caught:
        sheet(model)
    assert str(caught.value).startswith("the words of column 'text' have no sheet: ")
    assert "\n" not in str(caught.value)


# Answers.


def odd_texts(n: int, seed: int) -> list[str]:
    """Texts of the pieces, some of which are much more frequent than others."""
    rng = np.random.default_rng(seed)
    pieces, shares = np.array(PIECES, object), rng.dirichlet(np.full(len(PIECES), 0.5))
    sizes = rng.integers(0, 40, n).tolist()
    return [" ".join(rng.choice(pieces, size, p=shares if size % 2 else None)) for size in sizes]


LEXICON = {"film": 1, "fine": 1, "dull": -1, "שלום": 1, "zz": -1}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "pairs": {"ngrams": (1, 2)},
    "triples alone": {"ngrams": (3, 3), "token": r"\w+"},
    "to four words": {"ngrams": (1, 4), "token": r"\w+"},
    "binary": {"binary": True, "ngrams": (1, 2)},
    "as it stands": {"lowercase": False, "negation": "english"},
    "spaces": {"token": r"[^\s\0]+"},
    "apostrophes": {"token": r"\w+(?:['’]\w+)?", "ngrams": (1, 2)},
    "stop words": {"stop_words": "english", "negation": "english", "ngrams": (1, 2)},
    "own stop words": {"stop_words": ["FILM", "ß", "not_dull", "of the"], "negation": "english"},
    "frequent words": {"stop_words": 3, "ngrams": (1, 2)},
    "lexicon": {"lexicon": LEXICON, "negation": "english", "ngrams": (1, 2), "stop_words": ["dull"]},
    "lexicon of classes": {"lexicon": {"film": "thing", "fine": "praise"}, "ngrams": (2, 2), "negation": "english"},
    "tf-idf": {"weighting": "tfidf", "ngrams": (1, 2)},
    "tf-idf, unit length": {"weighting": "tfidf", "norm": "l2"},
    "tf-idf, unit length, binary": {"weighting": "tfidf", "norm": "l2", "binary": True, "ngrams": (1, 2)},
    "characters": {"characters": (1, 3)},
    "characters as they stand": {"characters": (2, 5), "lowercase": False, "weighting": "tfidf"},
    "hashed": {"hashed": 64, "ngrams": (1, 2)},
    "hashed, long": {"hashed": 2**20, "ngrams": (1, 3), "token": r"\S{1,40}", "binary": True},
    "hashed tf-idf": {"hashed": 2**12, "weighting": "tfidf", "norm": "l2", "stop_words": "english"},
    "hashed lexicon": {"hashed": 32, "lexicon": LEXICON, "negation": "english"},
    "hashed characters": {"hashed": 2**16, "characters": (2, 4)},
    "limits": {"min_count": 2, "max_words": 30, "max_documents": 0.5, "ngrams": (1, 2)},
    "replaced": {"errors": "replace", "characters": (1, 2)},
}


def fitted(texts: Any, y: Any, words: Words, **given: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ing.NaiveBayes(text=words, **given).fit(texts, y)


def labels(n: int, classes: int) -> list[str]:
    return [f"class {k % classes}" for k in range(n)]


def rows_to_ask() -> list[dict[str, Any]]:
    """Odd texts, none, empty ones, ones of unknown words, and a long one."""
    own = [*odd_texts(14, 5), "", " ", "neverseen", "film " * 500, "not film fine Σ " * 40]
    return [{}, {"text": None}, *({"text": text.replace("\0", "")} for text in own)]


@pytest.mark.parametrize("model", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("classes", [2, 5])
def test_every_setting_of_words_has_the_same_bits(model: str, classes: int) -> None:
    texts, cases = [text.replace("\0", "") for text in odd_texts(60, 3)], []
    for name, settings_ in SETTINGS.items():
        if model == "bernoulli" and settings_.get("weighting") == "tfidf":
            continue
        words = Words(**settings_, model=model)
        cases.append((f"{name}, {model}", fitted(texts, labels(60, classes), words), rows_to_ask()))
    assert_same_bits(cases)


@pytest.mark.parametrize("classes", [2, 5])
def test_impossible_and_certain_words_have_the_same_bits(classes: int) -> None:
    texts = [f"film {text}" for text in odd_texts(40, 4)]
    texts[1::classes] = [f"{text} onlyhere" for text in texts[1::classes]]  # which every text of one class has
    dirichlet = ing.Dirichlet({"film": 3.0, "fine": 1.0, "dull": 1.25})
    cases = []
    for model in ("multinomial", "complement", "bernoulli"):
        for settings_ in ({}, {"ngrams": (1, 2)}, {"hashed": 16}, {"binary": True}):
            for prior in (ing.MaximumLikelihood(), ing.Lidstone(0.3), dirichlet):
                if prior is dirichlet and (model == "bernoulli" or settings_):
                    continue
                own = fitted(texts, labels(40, classes), Words(**settings_, model=model), prior=prior)
                cases.append((f"{model} {settings_} {prior}", own, [*rows_to_ask(), {"text": "onlyhere film"}]))
    terms = [sheet(own).scorer["terms"][0] for _, own, _ in cases]
    assert all(any(term[what] is not None for term in terms) for what in ("strict", "certain", "base"))
    assert_same_bits(cases)


@pytest.mark.parametrize("calibration", ["temperature", "platt", "isotonic", "auto"])
def test_calibrated_by_length_and_tuned_texts_have_the_same_bits(calibration: str) -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(3, size=150)
    topics = np.array(["film fine cast music", "dull long slow film", "soup bread fine salt"])
    texts = [
        " ".join(rng.choice([*topics[k].split(), "and", "the", *PIECES[10:14]], int(rng.integers(0, 60)))) for k in y
    ]
    frame = pd.DataFrame({"title": texts[::-1], "body": texts, "x": rng.normal(y), "n": rng.poisson(1 + y)})
    frame.loc[::9, "body"] = None
    columns = {"title": "text", "body": "text", "n": "count"}
    cells = frame[:20].astype(object).where(frame[:20].notna(), None).to_numpy().tolist()
    rows = [{name: value for name, value in zip(frame, row) if rng.random() < 0.8} for row in cells]
    words: Any = {"title": Words(ngrams=(1, 2)), "body": Words(model="bernoulli")}
    cases = []
    for tune in (False, True):
        model = fitted(frame, y, words, columns=columns, calibration=calibration, tune=tune)
        cases.append((f"{calibration} {tune}", model, [{}, *rows]))
    assert tune
    assert any(each.exponent for each in cases[-1][1].attributes_)
    assert_same_bits(cases)


@pytest.mark.parametrize("classes", [2, 5])
def test_linear_models_of_texts_have_the_same_bits(classes: int) -> None:
    texts, cases = [text.replace("\0", "") for text in odd_texts(60, 3)], []
    for name in ("pairs", "binary", "lexicon", "tf-idf, unit length", "characters", "hashed", "limits"):
        model = ing.SoftmaxRegression(text=Words(**SETTINGS[name])).fit(texts, labels(60, classes))
        cases.append((name, model, rows_to_ask()))
    assert_same_bits(cases)


def test_words_that_were_all_forgotten_have_the_same_bits() -> None:
    frame = pd.DataFrame({"t": ["ab cd", None, None], "x": [1.0, 2.0, 3.0]})
    for settings_ in ({"ngrams": (1, 2)}, {"hashed": 8}, {"model": "bernoulli"}):
        model = fitted(frame, ["u", "v", "u"], Words(**settings_), columns={"t": "text"})
        model.forget(frame[:1], ["u"])
        assert_same_bits([(str(settings_), model, [{"t": "ab cd", "x": 2.0}, {"t": ""}, {}])])


@pytest.mark.parametrize("name", ["newsgroups", "films", "italian tweets", "spanish tweets", "messages"])
def test_texts_that_people_wrote_have_the_same_bits(name: str) -> None:
    texts, y = labelled(name, 800)
    every = [
        Words(max_words=5000), Words(ngrams=(1, 2), stop_words="english", negation="english", min_count=2),
        Words(weighting="tfidf", norm="l2"), Words(characters=(2, 4), max_words=5000, model="complement"),
        Words(token=r"(?:#|@)?\w+(?:['’]\w+)*|[^\w\s]", binary=True),
    ]  # fmt: skip
    rows = [{"text": text} for text in texts[::40]]
    assert_same_bits([(repr(words), fitted(texts[1::2], y[1::2], words), rows) for words in every])


# What is shown.

SHOWN = """
import { open } from "SHEET";
import fs from "node:fs";
const found = JSON.parse(fs.readFileSync(0, "utf8")).map(({ sheet, rows }) => {
  const model = open(sheet);
  return rows.map((row) => {
    const { factors, order } = model.explain(row);
    const numbers = (logs) => logs && Array.from(logs, (log) => Math.max(log, -1e300));
    const passages = model.passages(row, order[0], order[1]);
    return { factors: factors.map((each) => ({ ...each, logs: numbers(each.logs) })), passages };
  });
});
process.stdout.write(JSON.stringify(found));
"""


def shown_in_node(jobs: list[tuple[Any, list[dict[str, Any]]]]) -> Any:
    """What node shows of rows: the factors of each, and its texts in pieces."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    given = json.dumps([{"sheet": sheet(model).document(), "rows": rows} for model, rows in jobs])
    script = SHOWN.replace("SHEET", (PAGE / "sheet.mjs").as_uri())
    call = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(call, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("model", ["multinomial", "complement", "bernoulli"])
def test_a_text_is_explained_as_by_python(model: str) -> None:
    texts, jobs = [text.replace("\0", "") for text in odd_texts(60, 3)], []
    rows = [
        {"text": text} for text in [*odd_texts(4, 9)[::2], "A FINE dull film, isn't fine at all: neverseen", "", " "]
    ]
    for settings_ in SETTINGS.values():
        if model == "bernoulli" and settings_.get("weighting") == "tfidf":
            continue
        if "max_words" in settings_ or settings_.get("stop_words") == 3:
            continue  # words that are cut by limits are not in the sheet, so they count as never seen
        jobs.append((fitted(texts, labels(60, 3), Words(**settings_, model=model)), rows))
    certain = [f"film {text}" for text in texts]
    words = Words(model=model, stop_words=["dull"])
    jobs.append((fitted(certain, labels(60, 3), words, prior=ing.MaximumLikelihood()), rows))
    for (own, _), found in zip(jobs, shown_in_node(jobs), strict=True):
        for row, shown in zip(rows, found, strict=True):
            expected = own.explain([row["text"]])
            mine = {(each["name"], each["value"], each["note"]): each["logs"] for each in shown["factors"][1:]}
            wanted = {
                (each.column, each.value, each.note or None): [max(term.log, -1e300) for term in each.terms] or None
                for each in expected.factors
            }
            assert mine.keys() == wanted.keys(), (own.text, row)
            for name, logs in wanted.items():
                close = None if logs is None else pytest.approx(logs, rel=1e-9, abs=1e-9)
                assert mine[name] == close, (own.text, name)
            ((passage,), (its,)) = expected.passages, shown["passages"]
            assert [piece for piece, _ in its["pieces"]] == [piece for piece, _ in passage.pieces]
            for (_, weight), (_, strength) in zip(its["pieces"], passage.pieces):
                assert weight == (None if strength is None else pytest.approx(strength, rel=1e-9, abs=1e-9))


def test_of_several_texts_each_word_is_part_of_its_own() -> None:
    frame = pd.DataFrame({"title": ["a film", "soup bread"], "x": [1.0, 2.0], "body": ["film film", "bread"]})
    model = fitted(frame, ["u", "v"], Words(), columns={"title": "text", "body": "text"})
    (((shown,),)) = shown_in_node([(model, [{"title": "film", "x": 1.5, "body": "bread zz"}])])
    named = [(each["column"], each["of"], each["name"], each["value"]) for each in shown["factors"]]
    assert named == [
        (None, None, "prior", ""), (0, 0, "film", "×1"), (1, None, "x", "1.5"), (2, 2, "bread", "×1"),
        (2, None, "body", "1 unknown"),
    ]  # fmt: skip
    assert [each["column"] for each in shown["passages"]] == [0, 2]


def test_half_a_pair_of_surrogates_is_no_letter_and_a_question_mark_where_it_is_replaced() -> None:
    plain, replaced = (
        fitted(["ab a?b not film", "soup"], ["u", "v"], Words(characters=(1, 2), errors=how))
        for how in ("strict", "replace")
    )
    texts = ["a\ud800b", "a?b", "a\udc00\ud800"]
    ((_, known, _), (half, known_too, two)) = shown_in_node(
        [(own, [{"text": text} for text in texts]) for own in (plain, replaced)]
    )
    assert half["factors"] == known["factors"] == known_too["factors"]
    assert "".join(piece for piece, _ in two["passages"][0]["pieces"]) == "a??"
    assert replaced.predict_proba(texts).tolist() == replaced.predict_proba(["a?b", "a?b", "a??"]).tolist()


# Laws over any texts.


@settings(deadline=None, max_examples=10)
@given(learned=st.lists(texts, min_size=4, max_size=12), asked=st.lists(texts, min_size=1, max_size=12))
def test_any_texts_have_the_same_bits(learned: list[str], asked: list[str]) -> None:
    learned = [f"{text.replace(chr(0), '')} film" for text in learned]
    y = labels(len(learned), 2)
    rows = [{"text": text.replace("\0", "")} for text in [*asked, *learned]]
    every = [Words(ngrams=(1, 2)), Words(characters=(1, 3), model="bernoulli"), Words(hashed=256, negation="english")]
    assert_same_bits([(repr(words), fitted(learned, y, words), rows) for words in every])
