"""What node answers, Chromium answers too: the engine, linked as the page has it, with Python's bits."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.browsers import chromium

import ingenuo as ing
from ingenuo.page.link import link
from ingenuo.sheet import Sheet, sheet

from .node import assert_same_bits, bits
from .test_sheet import CALIBRATORS, COUNTS, FAMILIES, fitted, harsh_rows, table

ANSWER = """
(text) => {
  const bits = (numbers) => numbers === null ? null
    : [...new Uint8Array(Float64Array.from(numbers).buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const [document, rows] = JSON.parse(text), model = window.openSheet(document), check = model.check();
  const answer = ({ joint, posterior }) => [bits(joint), bits(posterior)];
  return [check.passed, rows.map((row) => answer(model.score(row)))];
}
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page on which sheets can be opened."""
    path = tmp_path_factory.mktemp("engine") / "engine.html"
    script = link("sheet.mjs").replace("</script", "<\\/script")
    path.write_text(f"<!doctype html><script type=module>{script}\nwindow.openSheet = open;</script>")
    with chromium() as running:
        page = running.new_page()
        page.goto(Path(path).as_uri())
        page.wait_for_function("window.openSheet !== undefined")
        yield page


def check(engine: Any, model: Any, rows: list[dict[str, Any]], own: Sheet | None = None) -> None:
    passed, answers = engine.evaluate(ANSWER, json.dumps([(own or sheet(model)).document(), rows]))
    assert passed == 32
    for row, found in zip(rows, answers, strict=True):
        joint, posterior = model.answer_row(row)
        assert found == [bits(joint), bits(posterior)], row


@pytest.mark.parametrize("classes", [2, 5])
def test_every_family_with_every_calibrator_in_node_and_here(request: pytest.FixtureRequest, classes: int) -> None:
    frame, y = table(60, classes)
    cases: list[tuple[str, Any, list[dict[str, Any]]]] = []
    for family in [*FAMILIES, *COUNTS]:
        if family == "auto":
            continue  # one of the others
        positive = family in COUNTS or family.startswith(("log", "gamma", "exp"))
        x = frame["many"] + (family == "exponential") if positive else frame["bell"]
        own = pd.DataFrame({"x": x, "code": frame["code"]})
        for calibration in CALIBRATORS[1:]:
            model = fitted(own, y, numbers=family, calibration=calibration)
            cases.append((f"{family}, {calibration}", model, harsh_rows(own, 8, least=0.0 if positive else -np.inf)))
    sheets = assert_same_bits(cases)
    engine = request.getfixturevalue("engine")  # where there is no browser, the rest is skipped
    for (_, model, rows), own_sheet in zip(cases, sheets):
        check(engine, model, rows, own_sheet)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("kind", ["category", "multinomial", "complement", "bernoulli", "tuned"])
def test_categories_and_counts(engine: Any, kind: str, classes: int) -> None:
    frame, y = table(60, classes)
    frame = frame[["word </script>", "code", "many"]]
    columns = {"code": "category", "many": "category" if kind == "category" else "count"}
    own = {"tune": True} if kind == "tuned" else {} if kind == "category" else {"counts": kind}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ing.NaiveBayes(columns, **own).fit(frame, y)
    check(engine, model, harsh_rows(frame.assign(many=frame["many"].astype("int64")), 8))


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(
    "model",
    [
        *(ing.GaussianDiscriminant(covariance) for covariance in ("shared", "full", "diagonal")),
        ing.GaussianDiscriminant("regularised"),
        ing.GaussianDiscriminant(shrinkage="auto"),
        ing.LeastSquaresClassifier(),
        ing.SoftmaxRegression(),
        ing.SoftmaxRegression(l2="auto", tolerance=1e-3),
        ing.BoostedTrees(),
        *(ing.NetworkClassifier(each) for each in ("naive", "tan", "kdb", "aode", "hill-climb")),
        ing.NetworkClassifier("tan", smoothing="back-off"),
        ing.NetworkClassifier("tan", smoothing="back-off", weighting="levels"),
    ],
    ids=repr,
)
def test_other_classifiers(engine: Any, model: Any, classes: int) -> None:
    frame, y = table(80, classes)
    only_numbers = isinstance(model, ing.LeastSquaresClassifier) or (
        isinstance(model, ing.GaussianDiscriminant) and model.covariance != "regularised"
    )
    frame = frame[["bell", "skew", "flag"]] if only_numbers else frame[["bell", "skew", "word </script>"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = clone(model).fit(
            frame.dropna() if only_numbers else frame, y[frame.notna().all(axis=1)] if only_numbers else y
        )
    check(engine, own, harsh_rows(frame, 8))


TEXTS = [
    "a fine film",
    "fine, fine music!",
    "not a fine film at all.",
    "dull \U0001d518 été ΣΊΣΥΦΟΣ",
    "dull plot",
    "so dull",
]


@pytest.mark.parametrize(
    "words",
    [ing.Words(ngrams=(1, 2)), ing.Words(weighting="tfidf", norm="l2"), ing.Words(negation="english", binary=True)],
    ids=["pairs", "tfidf", "negation"],
)
def test_texts(engine: Any, words: Any) -> None:
    model = ing.NaiveBayes(text=words).fit(TEXTS * 4, ["good", "good", "bad", "bad", "bad", "bad"] * 4)
    name = sheet(model).document()["columns"][0]["name"]
    rows = [{name: text} for text in [*TEXTS, "", "DULL İstanbul e\u0301 \U0001f600 don't", "\x00 fine\u202e"]]
    check(engine, model, rows)


@pytest.mark.parametrize("classes", [2, 5])
def test_the_vote(engine: Any, classes: int) -> None:
    frame, y = table(150, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ing.BayesClassifier(columns={"code": "category"}).fit(frame, y)
    check(engine, model, harsh_rows(frame, 8))
