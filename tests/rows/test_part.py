"""Some rows of a chunk are those rows: taken in any order, or cut out as views."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from ingenuo.models.classifier import tally_chunk
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows.rows import MemoryRows
from ingenuo.text.words import Words

RNG = np.random.default_rng(0)
N = 40
TABLE = pd.DataFrame(
    {
        "x": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "small": RNG.normal(size=N).astype(np.float32),
        "colour": pd.Series(RNG.choice(["red", "blue"], N)).where(RNG.random(N) > 0.2),
        "coded": pd.Categorical(RNG.choice(list("pqr"), N), categories=list("rqpz")),
        "heads": RNG.poisson(2, N),
        "text": [None if i % 9 == 0 else " ".join(RNG.choice(["ein", "però", "three", ""], 3)) for i in range(N)],
    }
)
KINDS = {"x": "number", "small": "number", "colour": "category", "coded": "category", "heads": "count", "text": "text"}
LABELS = RNG.choice(["a", "b", "c"], N)
WEIGHTS = RNG.random(N)
SOURCES = {
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "Arrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
    "Arrow in chunks": lambda table: pa.concat_tables(
        [pa.Table.from_pandas(part, preserve_index=False) for part in (table[:7], table[7:8], table[8:])]
    ),
}


def chunk_of(rows, y=LABELS, weights=WEIGHTS, **given):
    return NaiveBayes(**given)._encode_all(MemoryRows(rows, y, weights))[1]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("order", ["reversed", "shuffled", "some", "repeated", "one"])
def test_rows_that_are_taken_are_counted_as_a_table_of_those_rows(source, order):
    places = {
        "reversed": np.arange(N)[::-1],
        "shuffled": RNG.permutation(N),
        "some": np.array([3, 8, 9, 30]),
        "repeated": np.array([5, 5, 0, 5]),
        "one": np.array([39]),
    }[order]
    taken = chunk_of(SOURCES[source](TABLE), columns=KINDS).take(places)
    wanted = chunk_of(SOURCES["pandas"](TABLE.iloc[places]), LABELS[places], WEIGHTS[places], columns=KINDS)
    assert taken.n_rows == len(places)
    assert tally_chunk(taken) == tally_chunk(wanted)
    assert taken.classes.tolist() == ["a", "b", "c"]  # all stay known


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(sorted(SOURCES)), st.integers(0, N), st.integers(0, N), st.booleans())
def test_a_part_is_the_rows_between(source, one, other, taken):
    lo, hi = sorted((one, other))
    whole = chunk_of(SOURCES[source](TABLE), columns=KINDS)
    if taken:  # of rows that were taken, parts are views
        whole = whole.take(np.arange(N))
    part = whole.part(lo, hi)
    assert part.n_rows == hi - lo
    if lo < hi:
        wanted = chunk_of(TABLE.iloc[lo:hi], LABELS[lo:hi], WEIGHTS[lo:hi], columns=KINDS)
        assert tally_chunk(part) == tally_chunk(wanted)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, N - 1), min_size=1, max_size=20), st.data())
def test_a_part_of_what_was_taken_is_taking_the_part(rows, data):
    lo = data.draw(st.integers(0, len(rows) - 1))
    hi = data.draw(st.integers(lo + 1, len(rows)))
    whole, places = chunk_of(TABLE, columns=KINDS), np.array(rows)
    assert tally_chunk(whole.take(places).part(lo, hi)) == tally_chunk(whole.take(places[lo:hi]))
    assert tally_chunk(whole.part(0, N).take(places)) == tally_chunk(whole.take(places))
    assert tally_chunk(whole.take(places).take(np.arange(lo, hi))) == tally_chunk(whole.take(places[lo:hi]))


@pytest.mark.parametrize("shape", [np.asarray, csr_matrix, np.asfortranarray], ids=["dense", "sparse", "by columns"])
@pytest.mark.parametrize("counts", ["multinomial", "bernoulli"])
def test_matrices_are_taken_by_rows(shape, counts):
    matrix = RNG.poisson(1, (N, 5)).astype(float)
    given = {"columns": dict.fromkeys(range(5), "count"), "counts": counts}
    places = RNG.permutation(N)[:17]
    wanted = tally_chunk(chunk_of(matrix[places], LABELS[places], WEIGHTS[places], **given))
    assert tally_chunk(chunk_of(shape(matrix), **given).take(places)) == wanted
    assert tally_chunk(chunk_of(shape(matrix[places]), LABELS[places], WEIGHTS[places], **given).part(0, 17)) == wanted


def test_numbers_of_a_matrix_are_taken_and_cut():
    matrix = RNG.normal(size=(N, 3))
    block = chunk_of(matrix).blocks["gaussian-or-states"]
    places = np.array([7, 1, 1, 30])
    np.testing.assert_array_equal(block.take(places).rows(0, 4), matrix[places])
    np.testing.assert_array_equal(block.part(5, 20).rows(2, 9), matrix[7:14])
    np.testing.assert_array_equal(block.part(5, 20).part(3, 9).rows(0, 6), matrix[8:14])
    assert np.shares_memory(block.part(5, 20).rows(0, 15), matrix)


def test_bytes_that_are_no_text_are_read_as_the_settings_say():
    texts = [b"good \xff film", b"bad film", b"a \xfe good one"]
    given = {"columns": {0: "text"}, "text": Words(errors="replace")}
    rows = np.array([[each] for each in texts], object)
    whole = chunk_of(rows, ["a", "b", "a"], None, **given)
    wanted = tally_chunk(chunk_of(rows[[2, 0]], ["a", "a"], None, **given))
    assert tally_chunk(whole.take(np.array([2, 0]))) == wanted


def test_the_chunk_is_not_changed_by_taking():
    whole = chunk_of(TABLE, columns=KINDS)
    before = tally_chunk(whole)
    whole.take(np.array([3, 1])).part(0, 1)
    assert tally_chunk(whole) == before
    assert whole.n_rows == N
