"""A sparse matrix by columns multiplies as SciPy's and NumPy's do, on one thread and on several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ingenuo.kernels.counts import Columns
from ingenuo.kernels.threads import limited

ordinary = settings(deadline=None, max_examples=30)
widths = pytest.mark.parametrize("width", [1, 3])
kinds = pytest.mark.parametrize("plain", [True, False], ids=["ones", "numbers"])


def drawn(seed, n_rows, n_columns, share, plain):
    """A matrix as the loops hold it, and the same as a dense array."""
    rng = np.random.default_rng(seed)
    there = rng.random((n_rows, n_columns)) < share
    X = np.where(there, 1.0 if plain else rng.normal(size=there.shape) * 10.0 ** rng.integers(-3, 4), 0.0)
    rows, columns = np.nonzero(there)
    values = np.zeros(0) if plain else X[rows, columns]
    return Columns.of(n_rows, n_columns, rows.astype(np.int32), columns.astype(np.int32), values), X


matrices = st.tuples(
    st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 12), st.sampled_from([0.0, 0.1, 0.5, 1.0])
)


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * max(1.0, float(np.abs(wanted).max(initial=0))))


@kinds
@widths
@ordinary
@given(drawing=matrices)
def test_products_are_those_of_the_dense_matrix(width, plain, drawing):
    matrix, X = drawn(*drawing, plain)
    rng = np.random.default_rng(1)
    V, G = rng.normal(size=(X.shape[1], width)), rng.normal(size=(X.shape[0], width))
    S = rng.uniform(0, 2, size=(X.shape[1], width))
    assert matrix.shape == X.shape
    close(matrix.times(V), X @ V)
    close(matrix.gather(G), X.T @ G)
    close(matrix.gather_squares(G), (X * X).T @ G)
    none = np.zeros((0, width))
    close(matrix.gram(G, none), X @ (X.T @ G))
    close(matrix.gram(G, S), np.column_stack([X * S[:, k] @ (X.T @ G[:, k]) for k in range(width)]))
    close(matrix.squared_times(none, width), np.repeat((X * X).sum(axis=1)[:, np.newaxis], width, axis=1))
    close(matrix.squared_times(S, width), (X * X) @ S)


@kinds
@ordinary
@given(drawing=matrices, chosen=st.integers(0, 2**12 - 1))
def test_some_of_the_columns_are_the_matrix_without_the_others(plain, drawing, chosen):
    matrix, X = drawn(*drawing, plain)
    rng = np.random.default_rng(2)
    kept = rng.permutation(np.array([j for j in range(X.shape[1]) if chosen >> j & 1], np.intp))
    part = matrix.only(kept)
    assert part.shape == (X.shape[0], len(kept))
    V = rng.normal(size=(len(kept), 2))
    close(part.times(V), X[:, kept] @ V)


def test_columns_in_the_order_of_the_row_in_their_middle():
    rows, columns = np.array([0, 1, 2, 3, 3], np.int32), np.array([2, 2, 0, 1, 0], np.int32)
    matrix = Columns.of(4, 4, rows, columns, np.zeros(0))
    assert matrix.by_place(np.array([0, 1, 2])).tolist() == [2, 0, 1]


@kinds
@widths
def test_threads_share_a_matrix_that_is_large(width, plain):
    """Above 16,384 entries the columns are cut: by entries, so a column that has most of them is a part of its own."""
    rng = np.random.default_rng(3)
    X = sparse.random(3000, 400, 0.05, "lil", rng=rng)
    X[:, 17] = np.arange(1.0, 3001.0)[:, np.newaxis]
    X = X.tocsr()
    if plain:
        X.data[:] = 1.0
    rows = np.repeat(np.arange(3000, dtype=np.int32), np.diff(X.indptr))
    matrix = Columns.of(3000, 400, rows, X.indices.astype(np.int32), np.zeros(0) if plain else X.data)
    assert len(matrix.rows) > 1 << 14
    V, G = rng.normal(size=(400, width)), rng.normal(size=(3000, width))
    S = rng.uniform(0, 2, size=(400, width))
    for threads in (1, 2, 5):
        with limited(threads):
            close(matrix.times(V), X @ V)
            close(matrix.gather(G), X.T @ G)
            close(matrix.gram(G, S), X @ (S * (X.T @ G)))
            close(matrix.squared_times(S, width), X.multiply(X) @ S)


def test_entries_of_column_minus_one_are_left_out():
    rows, columns = np.array([0, 0, 1, 1], np.int32), np.array([1, -1, -1, 0], np.int32)
    matrix = Columns.of(2, 2, rows, columns, np.array([2.0, 50.0, 60.0, 3.0]))
    np.testing.assert_array_equal(matrix.times(np.eye(2)), [[0.0, 2.0], [3.0, 0.0]])


def test_a_matrix_without_entries_gives_zeros():
    nothing = np.zeros(0, np.int32)
    matrix = Columns.of(3, 2, nothing, nothing, np.zeros(0))
    np.testing.assert_array_equal(matrix.times(np.ones((2, 1))), np.zeros((3, 1)))
    np.testing.assert_array_equal(matrix.gather(np.ones((3, 2))), np.zeros((2, 2)))


def test_rows_stay_in_their_order_within_a_column():
    """What later passes read and write at random then goes forward through the rows."""
    rng = np.random.default_rng(4)
    rows = np.sort(rng.integers(0, 50, 400)).astype(np.int32)
    columns = rng.integers(0, 7, 400).astype(np.int32)
    matrix = Columns.of(50, 7, rows, columns, np.zeros(0))
    for lo, hi in zip(matrix.starts, matrix.starts[1:]):
        assert (np.diff(matrix.rows[lo:hi]) >= 0).all()
