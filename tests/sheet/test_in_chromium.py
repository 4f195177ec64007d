"""What node answers, Chromium answers too: the engine, linked as the page has it, with Python's bits."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ingenuo as ing
from ingenuo.page.link import link
from ingenuo.sheet import sheet

from .node import bits
from .test_sheet import CALIBRATORS, COUNTS, FAMILIES, fitted, harsh_rows, table

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

ANSWER = """
([document, rows]) => {
  const bits = (numbers) => numbers === null ? null
    : [...new Uint8Array(Float64Array.from(numbers).buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const model = window.openSheet(document), check = model.check();
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
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed, so no browser can be driven")
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    with sync.sync_playwright() as driver:
        # Chromium refuses its sandbox to the user root.
        open_to = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        page = driver.chromium.launch(executable_path=chromium, args=open_to).new_page()
        page.goto(Path(path).as_uri())
        page.wait_for_function("window.openSheet !== undefined")
        yield page


def check(engine: Any, model: Any, rows: list[dict[str, Any]]) -> None:
    passed, answers = engine.evaluate(ANSWER, [sheet(model).document(), rows])
    assert passed == 32
    for row, found in zip(rows, answers, strict=True):
        joint, posterior = model.answer_row(row)
        assert found == [bits(joint), bits(posterior)], row


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("family", [*FAMILIES, *COUNTS])
def test_families_of_numbers(engine: Any, family: str, classes: int) -> None:
    frame, y = table(100, classes)
    least = float("-inf")
    if family in COUNTS or family.startswith(("log", "gamma", "exp")):
        frame, least = frame.assign(bell=frame["bell"].round().abs(), skew=frame["skew"].round()), 0.0
        frame["skew"], frame["often 0"] = frame["many"] + 1.0, frame["many"]
        if family == "exponential":
            frame["bell"] = frame["bell"] + 0.5
    check(engine, fitted(frame, y, numbers=family), harsh_rows(frame, 8, least=least))


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("calibration", CALIBRATORS)
def test_calibrators(engine: Any, calibration: str | None, classes: int) -> None:
    frame, y = table(150, classes)
    check(engine, fitted(frame, y, calibration=calibration, tune=True), harsh_rows(frame, 8))


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
