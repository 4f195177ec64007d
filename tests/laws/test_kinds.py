"""What a column is does not depend on the door through which its rows come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ingenuo as ing

N = 120
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "id": np.arange(N) + 1,
        "user_id": RNG.permutation(10 * N)[:N],
        "name": [f"N{i} Smith" for i in range(N)],
        "zip": [f"{i * 37 % 99999:05d}" for i in range(N)],
        "code": RNG.choice(["0", "1", "2"], N),
        "written": [f"{x:.2f}" for x in RNG.random(N)],
        "date": [f"2024-01-{1 + i % 28:02d}" for i in range(N)],
        "time": pd.date_range("2024-01-01", periods=N, freq="h"),
        "grouped": [f"{x:,}" for x in RNG.integers(10_000, 99_999, N)],
        "nothing": [None] * N,
        "no number": [np.nan] * N,
        "size": RNG.normal(size=N),
        "rooms": RNG.integers(1, 6, N),
        "town": RNG.choice(["Bari", "Pisa"], N),
        "flag": RNG.random(N) < 0.5,
        "note": [
            " ".join(RNG.choice(["a", "fine", "day", "for", "a", "long", "walk", "by", "the", "sea"], 7))
            for _ in range(N)
        ],
    }
)
KINDS = {
    "id": "ignore", "user_id": "ignore", "name": "ignore", "zip": "category", "code": "category", "written": "category",
    "date": "ignore", "time": "ignore", "grouped": "ignore", "nothing": "ignore", "no number": "ignore",
    "size": "number", "rooms": "number", "town": "category", "flag": "category", "note": "text",
}  # fmt: skip
Y = np.where(FRAME["size"] + RNG.normal(size=N) > 0, "yes", "no")


def _door(door: str, folder: Path) -> Any:
    frame = FRAME.assign(answer=Y)
    if door == "pandas":
        return frame
    if door == "polars":
        return pl.from_pandas(frame)
    if door == "arrow":
        return pa.Table.from_pandas(frame, preserve_index=False)
    if door == "reader":
        return pa.Table.from_pandas(frame, preserve_index=False).to_reader(max_chunksize=50)
    if door == "dask":
        return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2, sort=False)
    path = folder / f"rows.{door}"
    frame.to_csv(path, index=False) if door == "csv" else frame.to_parquet(path)
    return ing.scan(path)


@pytest.mark.parametrize("door", ["pandas", "polars", "arrow", "reader", "dask", "csv", "parquet"])
def test_a_column_is_the_same_kind_through_every_door(door: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="To use a column, declare what it is: columns={'id': 'category'}"):
        model = ing.NaiveBayes().fit(_door(door, tmp_path), "answer")
    found = {name: kind for name, kind, *_ in model.schema_.rows()}
    # Files of text parse numbers, which is the only difference.
    written = {"code": "number", "written": "number"} if door == "csv" else {}
    assert found == {**KINDS, **written}


def test_a_column_that_is_ignored_is_used_where_it_is_declared(tmp_path: Path) -> None:
    columns = dict.fromkeys((name for name, kind in KINDS.items() if kind == "ignore"), "ignore") | {"id": "number"}
    model = ing.NaiveBayes(columns=columns).fit(FRAME, Y)
    assert model.schema_.family("id") == "gaussian"


@pytest.mark.filterwarnings("ignore:ignored")
def test_a_file_is_read_as_what_the_model_says_or_knows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    FRAME[["id", "code", "size"]].assign(answer=Y).to_csv(path, index=False)
    model = ing.NaiveBayes(columns={"id": "number", "code": "category"}).fit(str(path), "answer")
    assert [model.schema_.family(name) for name in ("id", "code", "size")] == ["gaussian", "categorical", "gaussian"]
    # A model that learned from a frame, where codes are strings, reads them as such in a file of its rows.
    learned = ing.NaiveBayes().fit(FRAME[["code", "size"]], Y)
    assert learned.predict_proba(path).tolist() == learned.predict_proba(FRAME[["code", "size"]]).tolist()


@pytest.mark.parametrize(
    "model",
    [
        ing.NaiveBayes(),
        ing.GaussianDiscriminant(),
        ing.LeastSquaresClassifier(),
        ing.SoftmaxRegression(),
        ing.NetworkClassifier("tan"),
        ing.NaiveBayes(tune=True),
    ],
    ids=lambda model: f"{type(model).__name__}{'-tuned' if getattr(model, 'tune', False) else ''}",
)
@pytest.mark.parametrize("table", ["frame", "array"])
@pytest.mark.filterwarnings("ignore:ignored")
def test_a_column_without_a_value_never_stops_a_fit(model: Any, table: str) -> None:
    from sklearn.base import clone

    rows = FRAME[["size", "rooms", "no number"]].assign(rooms=FRAME["rooms"] + 0.5)
    given = rows if table == "frame" else rows.to_numpy()
    found = clone(model).fit(given, Y)
    without = clone(model).fit(given[["size", "rooms"]] if table == "frame" else given[:, :2], Y)
    assert (
        found.predict(given).tolist()
        == without.predict(given[["size", "rooms"]] if table == "frame" else given[:, :2]).tolist()
    )
