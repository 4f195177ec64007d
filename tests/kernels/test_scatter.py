"""The loops of the discriminants against NumPy written out: any threads, any blocks, missing and infinite values."""

from __future__ import annotations

import numpy as np
import pytest

from ingenuo.errors import InputError
from ingenuo.kernels import densities as loops
from ingenuo.kernels import threads
from ingenuo.rows.part import Numbers

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
    assert loops.find_complete(table(X)) is None
    X[[0, 17, 8999], [1, 3, 0]] = np.nan
    assert np.setdiff1d(np.arange(9000), loops.find_complete(table(X))).tolist() == [0, 17, 8999]


@pytest.mark.parametrize("width", [1, 3])
def test_lines_are_dot_products_and_rows_with_holes_are_left_alone(rows, width):
    X, _, means = rows
    X = X.copy()
    X[[5, 20_000], [0, 6]] = np.nan
    centre, constants, out = X[1], np.array([1.0, 2.0, 3.0]), np.ones((len(X), 3))
    with threads.limited(width):
        missing = loops.add_lines(table(X), centre, means, constants, out)
    assert missing.tolist() == [5, 20_000]
    assert (out[missing] == 1).all()
    whole = np.delete(np.arange(len(X)), missing)
    np.testing.assert_allclose(out[whole], 1 + (X[whole] - centre) @ means.T + constants, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shared", [True, False])
def test_distances_are_those_of_the_inverse_covariance(rows, shared):
    X, _, means = rows
    X = X.copy()
    X[7, 2] = np.nan
    roots = RNG.normal(size=(7, 7)) if shared else RNG.normal(size=(3, 7, 7))
    centre, constants, out = means[0], np.arange(3.0), np.zeros((len(X), 3))
    missing = loops.add_distances(table(X), centre, roots, means - centre, constants, out)
    assert missing.tolist() == [7]
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
    for add, given in ((loops.add_lines, means), (loops.add_distances, np.eye(7))):
        rest = [means] if add is loops.add_distances else []
        with pytest.raises(InputError, match="column 'x3', row 15000: -inf is infinite"):
            add(table(X), X[0], given, *rest, np.zeros(3), out)


def by_hand(X, centre, weights, constants, out):
    """Lines in plain Python: the constant, then one term for each column."""
    for i in range(len(X)):
        for k in range(len(constants)):
            score = float(constants[k])
            for j in range(X.shape[1]):
                score += (float(X[i, j]) - float(centre[j])) * float(weights[k, j])
            out[i, k] += score


@pytest.mark.parametrize("d", [1, 3, 8, 50])
@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 9])
def test_lines_are_added_up_from_left_to_right(d, K):
    rng = np.random.default_rng(d * K)
    X, weights, centre = rng.normal(size=(19, d)), rng.normal(size=(K, d)), rng.normal(size=d)
    constants, start = rng.normal(size=K), rng.normal(size=(19, K))
    found, wanted = start.copy(), start.copy()
    loops.add_lines(table(X), centre, weights, constants, found)
    by_hand(X, centre, weights, constants, wanted)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shared", [True, False])
def test_a_row_has_the_same_distance_alone_and_among_others(shared):
    rng = np.random.default_rng(2)
    X, means, centre = rng.normal(size=(1030, 11)), rng.normal(size=(3, 11)), rng.normal(size=11)
    roots = np.triu(rng.normal(size=(11, 11) if shared else (3, 11, 11)))
    given = centre, roots, means, np.arange(3.0)
    together, alone = np.zeros((len(X), 3)), np.zeros((len(X), 3))
    loops.add_distances(table(X), *given, together)
    for i in range(len(X)):
        loops.add_distances(table(X[i : i + 1]), *given, alone[i : i + 1])
    np.testing.assert_array_equal(together, alone)
    with threads.limited(3):
        again = np.zeros((len(X), 3))
        loops.add_distances(table(np.asfortranarray(X)), *given, again)
    np.testing.assert_array_equal(again, together)


def singular_covariance(rng, d, rank):
    B = rng.normal(size=(d, rank))
    if rank < d:
        B[rng.integers(d)] = 0.0  # a column of no variance
    return B, B @ B.T


def pseudo_inverse(S):
    return np.linalg.pinv(S, rcond=1e-9, hermitian=True) if len(S) else S


@pytest.mark.parametrize(("d", "rank"), [(1, 1), (4, 4), (5, 3), (9, 9), (9, 6), (12, 2)])
@pytest.mark.parametrize("what", [loops.LINE, loops.SHARE])
def test_incomplete_rows_are_answered_by_the_inverse_of_their_part(d, rank, what):
    rng = np.random.default_rng(d)
    B, S = singular_covariance(rng, d, rank)
    placed, centre, shares = rng.normal(size=(3, rank)) @ B.T, rng.normal(size=d), np.arange(3.0)
    X = centre + rng.normal(size=(40, d))  # also off the range of S
    X[rng.random(X.shape) < 0.4] = np.nan
    out, places = np.ones((40, 3)), np.arange(5, 40)
    loops.add_incomplete(table(X), places, centre, placed, S[np.newaxis], out, shares, what=what)
    assert (out[:5] == 1).all()
    for i in places:
        there = ~np.isnan(X[i])
        weights = placed[:, there] @ pseudo_inverse(S[np.ix_(there, there)])
        constants = shares if what == loops.SHARE else -0.5 * (weights * placed[:, there]).sum(axis=1)
        wanted = 1 + constants + weights @ (X[i] - centre)[there]
        np.testing.assert_allclose(out[i], wanted, rtol=1e-5, atol=1e-6 * (1 + np.abs(weights).max(initial=0)))


@pytest.mark.parametrize("shared", [True, False])
def test_incomplete_rows_have_the_density_of_the_columns_they_have(shared):
    rng = np.random.default_rng(3)
    S = np.array([(A := rng.normal(size=(6, 6))) @ A.T for _ in range(1 if shared else 3)])
    placed, centre = rng.normal(size=(3, 6)), rng.normal(size=6)
    X = rng.normal(size=(50, 6))
    X[rng.random(X.shape) < 0.3] = np.nan
    out = np.zeros((50, 3))
    loops.add_incomplete(table(X), np.arange(50), centre, placed, S, out)
    for i, row in enumerate(X):
        there = ~np.isnan(row)
        for k in range(3):
            part = S[0 if shared else k][np.ix_(there, there)]
            off = (row - centre - placed[k])[there]
            log = -0.5 * (off @ np.linalg.solve(part, off) + np.linalg.slogdet(2 * np.pi * part)[1]) if len(off) else 0
            np.testing.assert_allclose(out[i, k], log, rtol=1e-9, atol=1e-9)


def test_incomplete_rows_have_the_same_answer_alone_and_among_others():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(7, 7))
    X = rng.normal(size=(300, 7))
    X[rng.random(X.shape) < 0.3] = np.nan
    given = rng.normal(size=7), rng.normal(size=(3, 7)), (A @ A.T)[np.newaxis]
    together, alone = np.zeros((300, 3)), np.zeros((300, 3))
    with threads.limited(3):
        loops.add_incomplete(table(X), np.arange(300), *given, together, what=loops.LINE)
    for i in range(300):
        loops.add_incomplete(table(X[i : i + 1]), np.zeros(1, np.intp), *given, alone[i : i + 1], what=loops.LINE)
    np.testing.assert_array_equal(together, alone)


def test_lines_between_knots_are_those_of_numpy():
    rng = np.random.default_rng(5)
    lines, X = [], rng.normal(size=(400, 4)) * 2
    X[rng.random(X.shape) < 0.1] = np.nan
    for size in (1, 2, 300):
        knots, heights = np.sort(rng.normal(size=size)), rng.normal(size=size)
        X[:size, 1] = knots
        lines.append((knots, heights, np.append(np.diff(heights) / np.diff(knots), 0.0)))
    out = np.full((400, 5), 9.0)
    loops.interpolate(X, np.array([3, 0, 1]), loops.Polylines.of(lines), out, np.array([4, 0, 2]))
    assert (out[:, [1, 3]] == 9).all()
    for (knots, heights, _), column, to in zip(lines, (3, 0, 1), (4, 0, 2), strict=True):
        wanted = np.where(np.isnan(X[:, column]), 0.0, np.interp(X[:, column], knots, heights))
        np.testing.assert_array_equal(out[:, to], wanted)


def test_no_rows_have_no_scores():
    out = np.zeros((0, 2))
    missing = loops.add_lines(table(np.zeros((0, 3))), np.zeros(3), np.ones((2, 3)), np.zeros(2), out)
    assert len(missing) == 0


def test_scores_go_into_an_array_of_any_layout():
    X, weights = RNG.normal(size=(30, 4)), RNG.normal(size=(2, 4))
    plain, turned = np.zeros((30, 2)), np.zeros((2, 30)).T
    for out in (plain, turned):
        loops.add_lines(table(X), np.zeros(4), weights, np.ones(2), out)
    np.testing.assert_array_equal(plain, turned)
