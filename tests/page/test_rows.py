"""The rows that a page embeds are those of the files, as the model takes them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import InputError
from ingenuo.page.rows import MOST, page_rows
from ingenuo.rows.streams import rows_for


def test_all_rows_are_there_with_the_places_of_their_classes() -> None:
    rows = play_tennis()
    found = page_rows(ing.NaiveBayes().fit(rows, "Play"), rows)
    assert found["columns"] == ["Outlook", "Temperature", "Humidity", "Wind"]
    assert [dict(zip(found["columns"], row)) for row in found["values"]] == rows.drop_columns(["Play"]).to_pylist()
    assert found["labels"] == [["No", "Yes"].index(label) for label in rows["Play"].to_pylist()]
    assert (found["given"], found["note"]) == (14, "14 rows")


def test_of_more_rows_some_are_drawn_by_the_seed() -> None:
    rows = diabetes()
    model = ing.NaiveBayes().fit(rows, "progression")
    one, same, other = (page_rows(model, rows, max_rows=50, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one["values"] != other["values"]
    assert one["note"] == "50 of 442 rows, drawn by seed 1"
    whole = page_rows(model, rows)
    there = list(zip(map(tuple, whole["values"]), whole["labels"]))
    assert all(pair in there for pair in zip(map(tuple, one["values"]), one["labels"]))


def test_rows_of_files_are_as_those_in_memory(tmp_path: pytest.TempPathFactory) -> None:
    rows, path = diabetes(), f"{tmp_path}/rows.csv"
    rows.to_pandas().to_csv(path, index=False)
    model = ing.NaiveBayes().fit(ing.read(path), "progression")
    stream = rows_for(model, ing.scan(path))
    assert page_rows(model, stream) == page_rows(model, rows)


def test_missing_values_labels_and_classes_are_told_apart() -> None:
    model = ing.NaiveBayes({"n": "number", "c": "category"}).fit(
        pd.DataFrame({"n": [1.0, 2.5, 3.0], "c": [True, False, True], "y": [1, 0, 1]}), "y"
    )
    rows = pd.DataFrame({"n": [np.nan, 2.5], "c": [None, False], "extra": [1, 2]})
    assert page_rows(model, rows)["labels"] == [None, None]
    found = page_rows(model, rows, [7, 0])
    assert found["labels"] == [-1, 0]
    assert found["values"] == [[None, None], [2.5, False]]
    assert page_rows(model, rows, [None, "1"])["labels"] == [None, 1]


def test_texts_counts_and_arrays_are_rows_too() -> None:
    texts = ing.NaiveBayes().fit(["good film", "bad film"], ["+", "-"])
    assert page_rows(texts, ["good", None], ["-", "+"])["values"] == [["good"], [None]]
    counts = ing.NaiveBayes({0: "count", 1: "count"}).fit([[1, 0], [0, 2]], [0, 1])
    assert page_rows(counts, np.array([[3, 0]]))["values"] == [[3, 0]]


def test_what_cannot_be_embedded_is_refused() -> None:
    model = ing.NaiveBayes().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(InputError, match=f"takes {MOST:,} rows at most"):
        page_rows(model, [[1.0]], max_rows=MOST + 1)
    with pytest.raises(InputError, match="no columns"):
        page_rows(ing.LanguageModelClassifier(2).fit(["a b", "b a"], [0, 1]), ["a"])
    wide = ing.NaiveBayes().fit(np.arange(6000.0).reshape(2, 3000), [0, 1])
    with pytest.raises(InputError, match="embed at most 1,666 rows"):
        page_rows(wide, np.zeros((2000, 3000)))
