"""One row is answered by plain sums as by `answer_row`: with the same bits, and the same errors.

`assert_same_bits` (node.py) holds every model of the tests of sheets to that; here is which models do without
`answer_row`, and what is wrong with a row.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.errors import IngenuoError
from ingenuo.sheet.score import scorer

from .node import bits
from .test_sheet import CALIBRATORS, COUNTS, FAMILIES, fitted, harsh_rows, table


def plain(model: Any, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of the rows are answered without the model, and with its bits."""
    expected = [[bits(each) for each in model.answer_row(row)] for row in rows]
    score, asked = scorer(model), []
    of_model = type(model).answer_row

    def answer(self: Any, row: Any) -> Any:
        asked.append(row)
        return of_model(self, row)

    with monkeypatch.context() as patch:
        patch.setattr(type(model), "answer_row", answer)
        found = [[bits(each) for each in score(row)] for row in rows]
    assert found == expected
    return len(rows) - len(asked)


@pytest.mark.parametrize("numbers", ["auto", *FAMILIES, *COUNTS])
def test_every_family_of_numbers_is_answered_by_plain_sums(numbers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = table(100, 2)
    if numbers in COUNTS or numbers.startswith(("log", "gamma", "exp")):
        frame = frame.assign(bell=frame["many"] + 1.0, skew=frame["many"] + 2.0, **{"often 0": frame["many"]})
    rows = frame[["bell", "skew", "often 0", "word </script>"]].dropna()[:20].to_dict("records")
    assert plain(fitted(frame, y, numbers=numbers), rows, monkeypatch) == 20


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("calibration", CALIBRATORS)
def test_every_calibrator_is_plain_too(calibration: str | None, classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = table(80, classes)
    rows = harsh_rows(frame, 20)
    model = fitted(frame[["bell", "skew", "code"]], y, calibration=calibration)
    rows = [{name: row[name] for name in row if name in model.schema_.names.tolist()} for row in rows]
    assert plain(model, rows, monkeypatch) >= 15  # the others are beyond the doubles


def test_words_are_plain_but_for_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a fine film, not dull", "so dull", "fine music", "ΣΊΣΥΦΟΣ 𝔘 été"] * 5
    rows = [{"text": text} for text in [*texts[:4], "", "İ DULL", "film " * 1000, "a\ud800b"]]
    for words in (ing.Words(ngrams=(1, 3), negation="english"), ing.Words(characters=(2, 4)), ing.Words(token=r"\S+")):
        model = ing.NaiveBayes(text=words).fit(texts, ["u", "v", "v", "u"] * 5)
        readable = [row for row in rows if "\ud800" not in row["text"]]
        assert plain(model, readable, monkeypatch) == len(readable) - 1
        with pytest.raises(Exception) as expected:  # noqa: PT011
            model.answer_row(rows[-1])
        with pytest.raises(type(expected.value)) as found:
            scorer(model)(rows[-1])
        assert str(found.value) == str(expected.value)


@pytest.fixture(scope="module")
def mixed() -> tuple[Any, Any, dict[str, Any]]:
    frame = pd.DataFrame({
        "x": [1.0, 2.5, 3.0, 0.5] * 5, "kind": ["a", "b", "b", "c"] * 5, "n": [0, 1, 2, 3] * 5,
        "text": ["good film", "dull", "not dull", "film"] * 5,
    })  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ing.NaiveBayes({"n": "count", "text": "text"}).fit(frame, ["u", "v", "u", "v"] * 5)
    return model, scorer(model), frame.iloc[0].to_dict()


def said(ask: Any, row: dict[str, Any]) -> Any:
    """The bits of an answer, or the error."""
    try:
        return [bits(each) for each in ask(row)]
    except IngenuoError as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    "changed",
    [
        {"x": "many"}, {"x": np.inf}, {"x": -np.inf}, {"x": 10**400}, {"x": [1]}, {"n": -1}, {"n": np.nan}, {"n": "a"},
        {"kind": ["a"]}, {"text": 5}, {"text": "a\0b"}, {"never": 1}, {"X": 1},
    ],
    ids=repr,
)  # fmt: skip
def test_a_row_that_is_wrong_has_the_error_of_the_model(mixed: Any, changed: dict[str, Any]) -> None:
    model, score, row = mixed
    assert said(score, {**row, **changed}) == said(model.answer_row, {**row, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"x": 2}, {"x": True}, {"x": "2.5"}, {"x": np.float32(2.5)}, {"x": 2**60}, {"x": None}, {"x": float("nan")},
        {"x": pd.NA}, {"kind": 1}, {"kind": True}, {"kind": pd.NaT}, {"kind": float("nan")}, {"n": 2}, {"n": True},
        {"text": None}, {"text": float("nan")},
    ],
    ids=repr,
)  # fmt: skip
def test_values_of_odd_types_are_what_they_are_to_the_model(mixed: Any, changed: dict[str, Any]) -> None:
    test_a_row_that_is_wrong_has_the_error_of_the_model(mixed, changed)


def test_labels_are_met_by_what_they_are_and_as_they_are_spelled(monkeypatch: pytest.MonkeyPatch) -> None:
    labels: list[list[Any]] = [[1, 2, 30], [True, False, True], ["1", "True", "a"], [1.5, 2.0, 3.0], ["1", 1, True]]
    asked = [1, "1", True, "True", "true", 1.0, 1.5, "1.5", 2, "2.0", "a", "A", "", None, "30"]
    for own in labels:
        frame = pd.DataFrame({"c": pd.Series(own * 4, dtype=object), "x": np.arange(12.0)})
        model = ing.NaiveBayes({"c": "category"}).fit(frame, ["u", "v", "v"] * 4)
        assert plain(model, [{"c": each, "x": 3.5} for each in asked], monkeypatch) == len(asked)


def test_columns_without_names_are_x0_and_so_on() -> None:
    model = ing.NaiveBayes().fit([["a", 1.0], ["b", 2.5], ["b", 2.0]], ["no", "yes", "yes"])
    assert scorer(model)({"x1": 2.25, "x0": "b"})[1] == model.predict_proba([["b", 2.25]])[0].tolist()
    with pytest.raises(IngenuoError, match="column 7"):
        scorer(model)({"x7": 2.25})


def test_a_scorer_knows_what_was_learned_when_it_was_made() -> None:
    model = ing.NaiveBayes().fit([["a", 1.0], ["b", 2.5], ["b", 2.0]], ["no", "yes", "yes"])
    before = scorer(model)
    found = before({"x0": "b"})
    model.partial_fit([["b", 9.0]], ["no"])
    assert before({"x0": "b"}) == found != scorer(model)({"x0": "b"})


def test_threads_may_share_a_scorer(mixed: Any) -> None:
    _, score, row = mixed
    rows = [{**row, "x": float(i % 7), "text": "good film " * (i % 5)} for i in range(400)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(score, rows)) == [score(each) for each in rows]


def test_what_is_no_plain_sum_is_answered_by_the_model() -> None:
    stemmed = ing.NaiveBayes(text=ing.Words(stem="english"))
    stemmed.fit(["good film", "dull films", "dull", "good"], ["u", "v", "v", "u"])
    joined = ing.GaussianDiscriminant().fit([[1.0, 2.0], [2.0, 1.5], [3.0, 5.0], [0.5, 3.0]], ["u", "v", "u", "v"])
    for model, row in ((stemmed, {"text": "good films"}), (joined, {"x0": 1.5})):
        assert said(scorer(model), row) == said(model.answer_row, row)
