"""The report is one page that needs nothing else, says what the evaluation says, and stays small; a model with a sheet
can be asked on it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.audit import audit
from ingenuo.evaluation.predictions import predictions_of
from ingenuo.report.page import choose_examples, limited, report
from ingenuo.show import plots
from ingenuo.show.arithmetic import Passage

ABOUT = {
    "title": "Diabetes, a year on",
    "target": "progression",
    "rows": 300,
    "sources": [{"path": "patients.csv", "bytes": 12345, "sha256": "ab" * 32}],
    "command": "ingenuo train patients.csv --target progression -o patients.ingenuo",
    "created": "2026-01-31",
    "version": "0.1.0",
    "history": [{"what": "train", "rows": 300, "source": "patients.csv", "when": "2026-01-31"}],
}


class _Reader(HTMLParser):
    """Names, references, scripts and headings of a page, and whether its tags are closed in order."""

    void = frozenset({"meta", "link", "br", "hr", "img", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.references: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.policy = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.void:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag == "meta" and dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = str(dict(attrs)["content"])
        for name, value in attrs:
            if name == "id":
                self.names.append(str(value))
            elif name in ("href", "src", "xlink:href", "action", "data", "srcset", "poster"):
                self.references.append(str(value))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attrs, text = self.scripts.pop()
            self.scripts.append((attrs, text + data))

    def run(self) -> list[str]:
        """The scripts that a browser would run, were there no policy."""
        return [text for attrs, text in self.scripts if not str(attrs.get("type")).startswith("application/")]


def data_of(text: str) -> Any:
    """What the page carries for its program."""
    found = [each for attrs, each in _Reader(text).scripts if attrs.get("id") == "data"]
    return json.loads(gzip.decompress(base64.b64decode(found[0])))


@pytest.fixture(scope="module")
def patients() -> tuple[Any, Any]:
    table = diabetes().select(["age", "sex", "bmi", "bp", "progression"])
    return ing.NaiveBayes().fit(table.slice(0, 300), "progression"), table.slice(300)


@pytest.fixture(scope="module")
def page(patients: tuple[Any, Any]) -> str:
    return report(*patients, about=ABOUT)


def test_the_page_needs_nothing_else(page: str) -> None:
    read = _Reader(page)
    assert read.open == []
    assert not {"iframe", "object", "embed", "base", "form"} & set(read.tags)
    assert read.policy.startswith("default-src 'none'; ")
    for script in read.run():  # each is allowed by what it is, and no other is
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in read.policy
    assert "connect-src" not in read.policy
    outside = [ref for ref in read.references if not ref.startswith(("#", "data:"))]
    assert outside == []
    assert "@import" not in page
    assert re.findall(r"url\((?!#)", page) == []


def test_names_are_unique_and_references_lead_somewhere(page: str) -> None:
    read = _Reader(page)
    assert len(set(read.names)) == len(read.names)
    inside = {ref[1:] for ref in read.references if ref.startswith("#")} | set(re.findall(r"url\(#([^)]+)\)", page))
    assert inside <= set(read.names)


def test_every_section_is_there(page: str) -> None:
    for anchor in (
        "summary", "table", "schema", "balance", "evaluation", "confusion", "reliability", "evidence", "model",
        "densities", "examples", "audit", "reproduce",
    ):  # fmt: skip
        assert f'<section id="{anchor}"' in page


def test_the_model_is_asked_and_judged_on_the_same_page(patients: tuple[Any, Any], page: str) -> None:
    model, table = patients
    data = data_of(page)
    assert data["sheet"]["classes"] == model.classes_.tolist()
    assert data["rows"] is None  # whoever has the page cannot read them
    answers = data["evaluation"]
    expected = model.predict_proba(table.drop_columns(["progression"]))
    np.testing.assert_allclose(answers["posteriors"], expected, atol=1e-7)
    assert [model.classes_[k] for k in answers["labels"]] == table["progression"].to_pylist()
    assert data["about"] == {"rows": 300}  # and no command, and no path


def test_the_same_rows_give_the_same_page(patients: tuple[Any, Any], page: str) -> None:
    assert report(*patients, about=ABOUT) == page


def test_the_numbers_are_those_of_the_evaluation(patients: tuple[Any, Any], page: str) -> None:
    found = ing.evaluate(*patients, "progression")
    accuracy = found["accuracy"]
    assert f"answers {accuracy.value:.1%} correctly (95% interval {accuracy.low:.1%} to {accuracy.high:.1%})" in page
    for name in ("accuracy", "log_loss", "ece"):
        assert f"{found[name].value:.3f}" in page
    confusions = re.search(r'aria-label="confusion matrix">(.*?)</table>', page)
    assert confusions is not None
    cells = [int(n) for n in re.findall(r'<td class="n">(\d+)</td>', confusions[1])]
    assert cells == found.confusion.ravel().tolist()


def test_the_origin_of_the_model_is_stated(page: str) -> None:
    for fact in ("patients.csv", "12,345", "ab" * 32, "ingenuo train patients.csv", "2026-01-31"):
        assert fact in page
    assert re.search(r"<h1[^>]*>Diabetes, a year on</h1>", page)


def test_missing_values_and_classes_are_counted(patients: tuple[Any, Any], page: str) -> None:
    _, table = patients
    assert f"{table['bmi'].null_count / len(table):.1%}" in page
    slow = sum(value == "slow" for value in table["progression"].to_pylist())
    assert f">{slow}<" in page


def test_what_is_in_the_data_cannot_become_markup() -> None:
    bad = "</td><script>alert('\"x')</script>"
    table = pa.table({bad: [bad, "b"] * 20, "n": [1.0, 2.0] * 20, "class": [bad, "&amp;"] * 20})
    model = ing.NaiveBayes().fit(table, "class")
    text = report(model, table, title=bad, about={"sources": [{"path": bad}], "command": bad})
    plain = report(ing.NaiveBayes().fit(play_tennis(), "Play"), play_tennis())
    assert _Reader(text).run() == _Reader(plain).run()  # the scripts of every page, and no other
    assert "alert(" not in "".join(_Reader(text).run())
    assert "alert('\"x')</script>" not in text
    assert _Reader(text).open == []


def test_a_wide_table_of_many_classes_stays_small() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 50, 600)
    columns: dict[str, Any] = {
        f"a column with a long name, number {j}": y % (j % 3 + 2) if j % 250 else rng.normal(size=600) + y
        for j in range(200)
    }
    table = pa.table(columns | {"class": pa.array([f"class number {k}" for k in y])})
    kinds = {name: "category" for j, name in enumerate(columns) if j % 250}
    text = report(ing.NaiveBayes(kinds).fit(table.slice(0, 300), "class"), table.slice(300))
    assert len(text.encode()) < 2_000_000
    assert "140 more columns are not listed" in text
    assert "50 classes are too many for a table" in text


def test_long_texts_are_shown_in_a_window() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(300)]
    texts = [" ".join([*rng.choice(words, 5000), ["good", "bad"][k % 2]]) for k in range(8)]
    model = ing.NaiveBayes().fit(texts, ["+", "-"] * 4)
    text = report(model, texts, ["+", "-"] * 4)
    assert len(text.encode()) < 2_000_000
    assert "5001 to 5001 words" in text
    assert text.count("w1 ") < 100


def test_a_section_that_makes_the_page_too_large_is_left_out() -> None:
    large, small = limited([("large", "Large", "é" * 1_500_000), ("small", "Small", "<p>kept</p>")])
    assert small == ("small", "Small", "<p>kept</p>")
    assert large == ("large", "Large", "<p>Large would make this page larger than 1.9 MB, and is left out.</p>")


def test_of_more_rows_some_are_drawn_and_that_is_said() -> None:
    model = ing.NaiveBayes().fit(play_tennis(), "Play")
    text, again, other = (report(model, play_tennis(), max_rows=10, seed=seed) for seed in (3, 3, 4))
    assert text == again
    assert text.replace("seed of this page is 3", "seed of this page is 4") != other
    assert "Of 10 rows, drawn at random from 14," in text
    assert "14 rows, of which 10 were drawn at random" in text


def test_examples_are_the_sure_the_usual_and_the_wrong() -> None:
    probabilities = [[0.9, 0.1], [0.6, 0.4], [0.55, 0.45], [0.2, 0.8], [0.99, 0.01]]
    found = choose_examples(predictions_of(probabilities, y=["no", "no", "no", "no", "yes"], classes=["no", "yes"]))
    assert [row for _, row in found] == [0, 1, 2, 4, 3]
    assert [what.split(",")[0] for what, _ in found] == ["right"] * 3 + ["wrong"] * 2


def test_an_abridged_explanation_still_multiplies_to_its_product() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 100)), ["a", "b", "c"] * 20
    whole = ing.NaiveBayes().fit(X, y).explain(X[0])
    short = whole.abridge()
    assert len(short.factors) < 30
    for k in range(3):
        log = short.prior.terms[k].log + sum(factor.terms[k].log for factor in short.factors)
        assert log == pytest.approx(whole.joint[k], rel=1e-12)


def test_a_window_is_where_a_text_says_most() -> None:
    pieces = [("so ", None)] * 400 + [("good ", 3.0)] + [("so ", None)] * 400
    shown = Passage("text", tuple(pieces)).window(60).pieces
    assert ("good ", 3.0) in shown
    assert sum(len(text) for text, _ in shown) <= 63
    assert shown[0][0].startswith("…")
    assert shown[-1][0].endswith("…")


def test_an_audit_is_given_in_plain_words_with_its_picture() -> None:
    days = play_tennis()
    model = ing.NaiveBayes().fit(days, "Play")
    found = audit(model, days, "Play", protected="Wind")
    text = report(model, days, audit=[found, found])
    assert text.count("<h3>Groups by Wind</h3>") == 2
    assert text.count('aria-label="Rates of each group, with intervals') == 4
    for said in [*found.plain, *found.warnings]:
        assert said in unescape(text)
    read = _Reader(text)
    assert read.open == []
    assert len(set(read.names)) == len(read.names)
    assert "No audit was made" in report(model, days)


class _LabelsOnly:
    """A classifier of somebody else's, which gives no probabilities and shows no working."""

    classes_ = np.array(["No", "Yes"])

    def predict(self, X: Any) -> Any:
        return np.array(["No", "Yes"] * 7)


def test_a_model_without_probabilities_says_what_is_missing() -> None:
    text = report(_LabelsOnly(), play_tennis(), "Play")
    assert "answers with classes only, without probabilities" in text
    assert "does not show its working" in text
    assert "log loss (nats)</dt>" not in text
    assert "The model cannot be asked on this page." in text


def test_texts_networks_and_lines_have_reports_too() -> None:
    texts, y = ["a good film", "a bad film", "good", "bad", "so good", "so bad"] * 3, ["+", "-"] * 9
    spoken = report(ing.LanguageModelClassifier(2).fit(texts, y), texts, y)
    assert "sequences of words" in spoken
    assert "cannot be asked on this page. A LanguageModelClassifier reads" in spoken
    assert "<script" not in spoken
    network = report(ing.NetworkClassifier("tan").fit(play_tennis(), "Play"), play_tennis())
    assert "The network</h2>" in network
    numbers = np.random.default_rng(0).normal(size=(40, 3))
    line = report(ing.GaussianDiscriminant().fit(numbers, numbers[:, 0] > 0), numbers, numbers[:, 0] > 0)
    assert "Regions</h2>" in line
    for text in (spoken, network, line):
        assert _Reader(text).open == []


def test_what_cannot_be_reported_is_refused_with_a_reason(patients: tuple[Any, Any]) -> None:
    model, table = patients
    number = ing.NaiveBayesRegressor(bins=2).fit([[1], [2], [3], [4]], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(KindError, match="answers with numbers"):
        report(number, [[1]], [1.0])
    with pytest.raises(KindError, match="fitted classifier"):
        report(ing.NaiveBayes, table, "progression")
    with pytest.raises(InputError, match="did you mean 'progression'"):
        report(model, table, "progresion")
    with pytest.raises(InputError, match="y is missing"):
        report(ing.NaiveBayes().fit([[1], [2]], ["a", "b"]), [[1], [2]])
    with pytest.raises(KindError, match=r"ingenuo\.audit"):
        report(model, table, audit="fair")
    with pytest.raises(KindError, match="about must be a mapping"):
        report(model, table, about="patients.csv")
    with pytest.raises(InputError, match="max_rows"):
        report(model, table, max_rows=0)


def test_densities_are_drawn_over_the_rows_and_end_with_them() -> None:
    values = [np.r_[np.linspace(0, 1, 200), 1e6], np.linspace(2, 3, 100)]
    ax = plots.new_axes()
    ax.plot([-5, 0, 5], [0, 1, 0])
    plots.draw_rows(ax, values)
    low, high = ax.get_xlim()
    assert -0.2 <= low <= 0
    assert 3 <= high <= 7
    assert len(ax.patches) == 2
    for bars, own in zip(ax.patches, values):
        heights, edges, _ = bars.get_data()
        inside = own[own <= edges[-1]]
        np.testing.assert_allclose(heights, np.histogram(inside, edges)[0] / len(own) / np.diff(edges))
    plots.draw_rows(ax, values)
    assert len(ax.patches) == 2  # what has its own histogram gets no other


def test_a_report_has_bars_for_each_class(page: str) -> None:
    densities = page.partition('<section id="densities"')[2].partition("</section>")[0]
    assert densities.count("<figure>") == 2
    assert "over the rows of each class" in densities
