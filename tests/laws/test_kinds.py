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
    assert model.schema_.family("id") == "gaussian-or-states"


@pytest.mark.filterwarnings("ignore:ignored")
def test_a_file_is_read_as_what_the_model_says_or_knows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    FRAME[["id", "code", "size"]].assign(answer=Y).to_csv(path, index=False)
    model = ing.NaiveBayes(columns={"id": "number", "code": "category"}).fit(str(path), "answer")
    assert [model.schema_.family(name) for name in ("id", "code", "size")] == [
        "gaussian-or-states", "categorical", "gaussian-or-states",
    ]  # fmt: skip
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


# Labels that a text file spells: a boolean or a number there is the one that a frame has.

LATE = 20_000  # rows, so that the last are beyond what is looked at first


def _labelled(late: str | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"vip": rng.random(LATE) < 0.5, "code": rng.integers(1, 30, LATE), "paid": rng.random(LATE)})
    frame["paid"] = frame["paid"] < 0.3 + 0.3 * frame["vip"]
    if late is not None:
        frame = frame.astype({"vip": str, "code": str})
        frame.loc[LATE - 5 :, ["vip", "code"]] = late
    return frame


CODES = {"code": "category"}


@pytest.mark.parametrize("how", ["scan", "path", "read", "batches"])
@pytest.mark.parametrize("late", [None, "maybe"])
def test_labels_of_a_text_file_are_decided_by_all_its_rows(late: str | None, how: str, tmp_path: Path) -> None:
    frame, path = _labelled(late), tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    given: Any = {
        "scan": lambda: ing.scan(path, block_size=1 << 16, columns=CODES),
        "path": lambda: str(path),
        "read": lambda: ing.read(path, block_size=1 << 16, columns=CODES),
        "batches": lambda: ing.read(path, columns=CODES).to_reader(max_chunksize=999),
    }[how]()
    model = ing.NaiveBayes(columns=CODES).fit(given, "paid")
    whole = ing.NaiveBayes(columns=CODES).fit(pd.read_csv(path, low_memory=False), "paid")
    assert model.tally_ == whole.tally_
    expected = {"False", "True", "maybe"} if late else {False, True}
    assert set(model.tally_.labels("category:vip", 1).tolist()) == expected
    assert model.classes_.tolist() == [False, True]


def test_labels_that_turn_out_to_be_strings_need_rows_that_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    data = _labelled("maybe").to_csv(index=False).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(ing.errors.InputError, match="standard input: column 'vip' has booleans or numbers at first"):
        ing.NaiveBayes().fit(ing.scan("-", block_size=1 << 16, columns=CODES), "paid")


def test_labels_meet_however_they_were_learned(tmp_path: Path) -> None:
    frame, path = _labelled()[:300], tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    written, learned = (ing.NaiveBayes(columns=CODES).fit(rows, "paid") for rows in (str(path), frame))
    strings = ing.NaiveBayes(columns=CODES).fit(frame.astype({"vip": str, "code": str}), "paid")
    asked: list[Any] = [
        {"vip": True, "code": 2},
        {"vip": "True", "code": "2"},
        "vip=true, code=2",
        '{"vip": true, "code": 2}',
    ]
    for model in (written, learned, strings):
        assert len({tuple(model.explain(row).posterior.tolist()) for row in asked[:2]}) == 1
        assert "never seen" not in str(model.explain(asked[0]))
        assert model.predict_proba(frame.drop(columns="paid")).tolist() == model.predict_proba(str(path)).tolist()
        both = model + (learned if model is not learned else strings)
        assert len(both.tally_.labels("category:vip", 1)) == 2
        assert len(both.tally_.labels("category:code", 1)) == frame["code"].nunique()
        assert (both.forget(frame, "paid").tally_) == model.tally_
        assert model.score(str(path), "paid") == learned.score(frame, "paid")
    # A value that is new stands beside those that are known, in their type.
    more = pd.DataFrame({"vip": ["maybe", "True"], "code": [77, 2], "paid": [True, False]})
    more.to_csv(path, index=False)
    written.partial_fit(str(path), "paid")
    assert set(written.tally_.labels("category:vip", 1).tolist()) == {False, True, "maybe"}
    assert written.tally_.labels("category:code", 1).tolist()[-1] == 77
    assert written.forget(more, "paid").tally_ == learned.tally_


def test_fingerprints_know_a_row_however_its_labels_are_written(tmp_path: Path) -> None:
    frame, path = _labelled()[:300], tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    model = ing.NaiveBayes(columns=CODES, fingerprints=True).fit(frame.astype({"vip": str, "code": str}), "paid")
    assert (
        model.forget(str(path), "paid").tally_
        == ing.NaiveBayes(columns=CODES).fit(frame, "paid").forget(frame, "paid").tally_
    )


def test_priors_and_declared_values_meet_the_labels(tmp_path: Path) -> None:
    frame, path = _labelled()[:300], tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    declared = ing.NaiveBayes(columns={"vip": ["True", "False", "maybe"], "code": "ignore"}).fit(str(path), "paid")
    assert set(declared.tally_.labels("category:vip", 1).tolist()) == {"False", "True"}
    told = ing.NaiveBayes(columns={"code": "ignore"}, prior=ing.MEstimate(2, {"vip": {"True": 0.25, "False": 0.75}}))
    meant = ing.NaiveBayes(columns={"code": "ignore"}, prior=ing.MEstimate(2, {"vip": {True: 0.25, False: 0.75}}))
    found = [model.fit(str(path), "paid").explain({"vip": True}).posterior.tolist() for model in (told, meant)]
    assert found[0] == found[1]


def test_codes_with_zeros_before_them_stay_strings(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("zip,y\n" + "01067,a\n10115,b\n" * 20)
    model = ing.NaiveBayes(columns={"zip": "category"}).fit(str(path), "y")
    assert model.tally_.labels("category:zip", 1).tolist() == ["01067", "10115"]


# What is decided by the first 10,000 rows is so through every door.


@pytest.mark.parametrize("door", ["pandas", "polars", "arrow", "reader", "dask", "csv", "wide csv", "parquet"])
@pytest.mark.parametrize("first", [9_000, 12_000])
@pytest.mark.filterwarnings("ignore:ignored")
def test_a_column_that_is_empty_at_first_is_the_same_everywhere(door: str, first: int, tmp_path: Path) -> None:
    n = 15_000
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"size": rng.normal(size=n).round(3), "late": rng.choice(["a", "b"], n).astype(object)})
    frame["number"] = rng.normal(size=n).round(2)
    frame.loc[: first - 1, "late"] = None
    frame.loc[: first - 1, "number"] = np.nan
    frame["answer"] = rng.choice(["no", "yes"], n)
    if door == "wide csv":
        frame.insert(0, "long", "x" * 300)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if door.endswith("csv"):
        frame.to_csv(tmp_path / "rows.csv", index=False)
    elif door == "parquet":
        frame.to_parquet(tmp_path / "rows.parquet", index=False)
    given: Any = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_arrow(table),
        "arrow": lambda: table,
        "reader": lambda: table.to_reader(max_chunksize=2_000),
        "dask": lambda: pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3, sort=False),
        "csv": lambda: ing.scan(tmp_path / "rows.csv"),
        "wide csv": lambda: ing.scan(tmp_path / "rows.csv"),
        "parquet": lambda: ing.scan(tmp_path / "rows.parquet"),
    }[door]()
    model = ing.NaiveBayes().fit(given, "answer")
    found = {name: (kind, why) for name, kind, _, why in model.schema_.rows()}
    nothing = ("ignore", "no value in the first 10,000 rows")
    assert (found["late"] == nothing) == (found["number"] == nothing) == (first > 10_000)
    if first < 10_000:
        assert (found["late"][0], found["number"][0]) == ("category", "number")


def test_the_index_of_a_pandas_frame_is_no_column(tmp_path: Path) -> None:
    frame = FRAME[["size", "town"]].assign(answer=Y).sample(frac=0.9, random_state=0)
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.warns(UserWarning, match="'__index_level_0__' \\(the index of a pandas frame"):
        model = ing.NaiveBayes().fit(str(tmp_path / "rows.parquet"), "answer")
    assert model.tally_ == ing.NaiveBayes().fit(frame, "answer").tally_
    table = ing.read(tmp_path / "rows.parquet")
    declared = ing.NaiveBayes(columns={"__index_level_0__": "number"}).fit(table, "answer")
    assert {name: kind for name, kind, *_ in declared.schema_.rows()}["__index_level_0__"] == "number"


def test_the_share_of_different_texts_is_of_those_that_were_looked_at() -> None:
    texts = [f"a fine day for a long walk number {i % 1500}" for i in range(2000)]
    _, why = ing.rows.source.kind_of_strings(texts)
    assert why == "strings of 9 words, 75% different among 200 of them"


# Rows that are mappings, and lazy frames.


def test_rows_that_are_mappings_are_a_table() -> None:
    frame = FRAME[["size", "rooms", "town", "flag"]].assign(answer=Y)
    rows = frame.to_dict("records")
    model, whole = ing.NaiveBayes().fit(rows, "answer"), ing.NaiveBayes().fit(frame, "answer")
    assert model.tally_ == whole.tally_
    assert (
        ing.NaiveBayes().fit([{k: v for k, v in row.items() if k != "answer"} for row in rows], Y).tally_
        == whole.tally_
    )
    assert model.predict(rows).tolist() == whole.predict(frame).tolist()
    # What a row leaves out is missing, as in `explain`.
    given = {"town": "Bari", "flag": True}
    assert model.predict_proba([given])[0].tolist() == model.explain(given).posterior.tolist()
    assert model.predict_proba([given, {"size": 1.0}]).shape == (2, 2)
    assert (
        ing.evaluate(model, rows, "answer")["accuracy"].value == ing.evaluate(whole, frame, "answer")["accuracy"].value
    )
    assert model.score(rows, "answer") == whole.score(frame, "answer")
    assert model.forget(rows[:20], "answer").tally_ == ing.NaiveBayes().fit(frame[20:], "answer").tally_
    with pytest.raises(TypeError, match="row 1 is int 3, and those before it are mappings"):
        model.predict([given, 3])
    with pytest.warns(UserWarning, match="twon"):
        model.predict([{"twon": "Bari"}])


def test_a_lazy_frame_is_collected() -> None:
    frame = FRAME[["size", "rooms", "town"]].assign(answer=Y)
    lazy, whole = pl.from_pandas(frame).lazy(), ing.NaiveBayes().fit(frame, "answer")
    assert ing.NaiveBayes().fit(lazy, "answer").tally_ == whole.tally_
    assert whole.predict(lazy.drop("answer")).tolist() == whole.predict(frame).tolist()
    assert ing.evaluate(whole, lazy, "answer")["accuracy"].value == whole.score(frame, "answer")
