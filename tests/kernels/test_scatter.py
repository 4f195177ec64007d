"""The loops of the discriminants against NumPy written out: any threads, any blocks, holes and infinities."""

from __future__ import annotations

import numpy as np
import pytest

from ingenuo.chunk import Numbers
from ingenuo.kernels import scatter as loops
from ingenuo.kernels import threads

RNG = np.random.default_rng(0)


def table(X):
    return Numbers(np.arange(X.shape[1]), len(X), matrix=X)


@pytest.fixture(scope="module")
def rows():
    n, d, K = 20_003, 7, 3  # several blocks, the last one short
    labels = RNG.integers(0, K, n).astype(np.int32)
    X = RNG.normal(size=(n, d)) + labels[:, np.newaxis]
    means = np.array([X[labels == k].mean(axis=0) for k in range(K)])
    return X, labels, means


def test_complete_finds_the_rows_without_a_hole():
    X = RNG.normal(size=(9000, 4))
    assert loops.complete(table(X)) is None
    X[[0, 17, 8999], [1, 3, 0]] = np.nan
    assert np.setdiff1d(np.arange(9000), loops.complete(table(X))).tolist() == [0, 17, 8999]


def test_kept_rows_are_those_at_the_places():
    X = RNG.normal(size=(100, 3))
    kept = loops.Kept(table(X), np.array([2, 3, 50, 99]))
    assert kept.shape == (4, 3)
    assert np.array_equal(kept.rows(1, 4), X[[3, 50, 99]])
    assert kept.place(2, 1) == "column 'x1', row 50"


@pytest.mark.parametrize("width", [1, 3])
def test_lines_are_dot_products_and_rows_with_holes_are_left_alone(rows, width):
    X, _, means = rows
    X = X.copy()
    X[[5, 20_000], [0, 6]] = np.nan
    centre, constants, out = X[1], np.array([1.0, 2.0, 3.0]), np.ones((len(X), 3))
    with threads.limited(width):
        holes, infinite = loops.add_lines(table(X), centre, means, constants, out)
    assert holes.tolist() == [5, 20_000]
    assert infinite is None
    assert (out[holes] == 1).all()
    whole = np.delete(np.arange(len(X)), holes)
    np.testing.assert_allclose(out[whole], 1 + (X[whole] - centre) @ means.T + constants, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shared", [True, False])
def test_distances_are_those_of_the_inverse_covariance(rows, shared):
    X, _, means = rows
    X = X.copy()
    X[7, 2] = np.nan
    roots = RNG.normal(size=(7, 7)) if shared else RNG.normal(size=(3, 7, 7))
    centre, constants, out = means[0], np.arange(3.0), np.zeros((len(X), 3))
    holes, _ = loops.add_distances(table(X), centre, roots, means - centre, constants, out)
    assert holes.tolist() == [7]
    assert not out[7].any()
    for k in range(3):
        image = (X - means[k]) @ (roots if shared else roots[k])
        wanted = constants[k] - 0.5 * (image**2).sum(axis=1)
        np.testing.assert_allclose(np.delete(out[:, k], 7), np.delete(wanted, 7), rtol=1e-9)


def test_the_first_infinite_cell_is_named(rows):
    X, _, means = rows
    X = X.copy()
    X[15_000, 3], X[19_000, 1] = -np.inf, np.inf
    out = np.zeros((len(X), 3))
    assert loops.add_lines(table(X), X[0], means, np.zeros(3), out)[1] == (15_000, 3)
    assert loops.add_distances(table(X), X[0], np.eye(7), means, np.zeros(3), out)[1] == (15_000, 3)
