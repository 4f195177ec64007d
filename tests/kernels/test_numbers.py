"""Sums, densities and posteriors of numbers: at the edges of blocks, in any layout, with the same bits everywhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.laws import harsh

from ingenuo.errors import InputError
from ingenuo.kernels import densities, moments, portable, threads
from ingenuo.kernels.densities import GAUSSIAN, LEVEL, NOTHING, STRAIGHT, Tables, add_curves
from ingenuo.rows.part import Numbers


def table_of(X):
    return Numbers(np.arange(X.shape[1]), len(X), matrix=X)


def unaligned(X):
    """The same numbers, 8 bytes beyond a multiple of 64."""
    room = np.zeros(X.size + 16)
    start = (-room.ctypes.data % 64) // 8 + 1
    view = room[start : start + X.size].reshape(X.shape)
    view[:] = X
    assert view.ctypes.data % 64 == 8
    return view


LAYOUTS = {
    "C": np.ascontiguousarray,
    "unaligned": unaligned,
    "Fortran": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
}


@pytest.mark.parametrize("n", [0, 1, 3, 511, 512, 513])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 9])
def test_sums_are_exact_at_the_edges_of_blocks(n, d):
    kinds = ["doubles", "light", "everywhere", "missing values", "poisoned"]
    X = harsh.matrix([kinds[j % len(kinds)] for j in range(d)], max(n, 1), n + d)[:n]
    labels = np.random.default_rng(n).integers(0, 3, n).astype(np.int32)
    weights = np.random.default_rng(d).random(n)
    missing, *sums = moments.moments(table_of(X), labels, 3)
    wanted = harsh.rational_sums(X, labels, 3)
    assert np.array_equal(missing, [np.isnan(X[labels == k]).sum(axis=0) for k in range(3)])
    assert all(found.fractions().tolist() == each.tolist() for found, each in zip(sums, wanted[1:]))
    weighted = moments.weighted_moments(table_of(X), labels, weights, 3)
    wanted = harsh.rational_sums(X, labels, 3, weights)
    assert all(found.fractions().tolist() == each.tolist() for found, each in zip(weighted, wanted))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_changes_no_bit(layout):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1100, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = rng.integers(0, 3, len(X)).astype(np.int32)
    means, deviations = rng.normal(size=(3, 6)), rng.uniform(0.5, 2, (3, 6))
    found = {}
    for name in ("C", layout):
        table = table_of(LAYOUTS[name](X))
        out = unaligned(np.zeros((len(X), 3)))
        densities.add_gaussian(table, LAYOUTS[name](means), LAYOUTS[name](deviations), out)
        posterior = LAYOUTS[name](out.copy())
        densities.posterior(posterior)
        best, _ = densities.best(LAYOUTS[name](out.copy()))
        sums = moments.moments(table, labels, 3)
        found[name] = [out, posterior, best, *(each.floats() for each in sums[1:])]
    assert all(np.array_equal(a, b) for a, b in zip(found["C"], found[layout]))


def gaussian_by_a_plain_loop(X, means, deviations, out):
    """As a person would write it: what the loops must give to the last bit."""
    result = out.copy()
    for i, row in enumerate(X.tolist()):
        for k in range(len(means)):
            total = float(out[i, k])
            for j, x in enumerate(row):
                if not math.isnan(x):
                    z = (x - float(means[k, j])) * (1.0 / float(deviations[k, j]))
                    constant = -portable.log(float(deviations[k, j])) - densities.HALF_LOG_2PI
                    total += constant - 0.5 * min(z * z, densities.FARTHEST)
            result[i, k] = total
    return result


@pytest.mark.parametrize("n", [0, 1, 7, 8, 15, 16, 17, 33])
@pytest.mark.parametrize("d", [1, 3, 4, 5, 63, 64, 65, 130])
@pytest.mark.parametrize("kind", ["ordinary", "missing", "far"])
def test_gaussian_terms_are_added_from_left_to_right(n, d, kind):
    rng = np.random.default_rng(n * d)
    X = rng.normal(size=(n, d))
    means, deviations = rng.normal(size=(3, d)), rng.uniform(0.1, 2, (3, d))
    if kind != "ordinary":
        X[rng.random(X.shape) < 0.3] = np.nan
    if kind == "far":
        X[rng.random(X.shape) < 0.3] = 1.7e308
        X[rng.random(X.shape) < 0.2] = -1e160
        deviations[:, ::3] = 2.3e-308
    start = rng.normal(size=(n, 3))
    together = start.copy()
    densities.add_gaussian(table_of(X), means, deviations, together)
    assert np.array_equal(together, gaussian_by_a_plain_loop(X, means, deviations, start))
    apart = start.copy()
    for j in range(d):
        densities.add_gaussian(table_of(X[:, [j]]), means[:, [j]], deviations[:, [j]], apart)
    assert np.array_equal(together, apart)


def test_a_missing_value_adds_nothing_not_even_a_sign():
    out = np.full((20, 2), -0.0)
    densities.add_gaussian(table_of(np.full((20, 3), np.nan)), np.zeros((2, 3)), np.ones((2, 3)), out)
    assert np.signbit(out).all()


@pytest.mark.parametrize("place", [(0, 0), (16, 1), (39, 199), (5000, 70)])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_the_first_infinite_value_is_named(place, value):
    X = np.zeros((5001, 200))
    X[place] = value
    X[5000, 150] = np.inf
    X[:, 3] = np.nan
    given = table_of(X), np.zeros((2, 200)), np.ones((2, 200)), np.zeros((5001, 2))
    with pytest.raises(InputError, match=f"column 'x{place[1]}', row {place[0]}: {value!r} is infinite"):
        densities.add_gaussian(*given)


def posterior_by_a_plain_loop(joint, log):
    result, odd = joint.copy(), []
    for i, row in enumerate(joint.tolist()):
        top = row[0]
        for value in row[1:]:
            top = value if value > top else top
        if not math.isfinite(top):
            odd.append(i)
            continue
        exponentials = [portable.exp(value - top) for value in row]
        total = 0.0
        for each in exponentials:
            total += each
        result[i] = [(v - top) - portable.log(total) for v in row] if log else [e / total for e in exponentials]
    return result, odd


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("n", "classes"), [(0, 3), (1, 1), (700, 2), (513, 5), (3, 1024), (3, 1025), (2, 2100)])
def test_the_posterior_sums_in_the_order_of_the_classes(log, n, classes):
    rng = np.random.default_rng(classes)
    joint = rng.normal(size=(n, classes)) * 20
    joint[rng.random(joint.shape) < 0.1] = -np.inf
    joint[rng.random(n) < 0.1] = -np.inf
    joint[rng.random(n) < 0.05, 0] = np.nan
    joint[rng.random(n) < 0.05, -1] = np.inf
    joint[rng.random(n) < 0.05] = 1.5  # all equal
    wanted, odd = posterior_by_a_plain_loop(joint, log)
    found = joint.copy()
    assert densities.posterior(found, log=log).tolist() == odd
    assert np.array_equal(found, wanted, equal_nan=True)


def test_the_best_class_is_the_first_of_the_largest():
    joint = np.array([[1, 2, 2], [3, 3, 1], [-np.inf] * 3, [np.nan, 5, 1], [1, np.nan, 4], [0, 1, np.inf]])
    best, odd = densities.best(joint)
    assert best.tolist() == [1, 0, 0, 0, 2, 2]
    assert odd.tolist() == [2, 3, 5]


def curves(K, seed):
    """Five columns: two tables that are straight, one that is level, a Gaussian, and one that says nothing."""
    rng = np.random.default_rng(seed)
    ways = np.array([STRAIGHT, LEVEL, GAUSSIAN, STRAIGHT, GAUSSIAN])
    sizes = np.array([9, 5, 0, 17, 0])
    points = rng.normal(size=(sizes.sum(), K)) * 3
    points[rng.random(points.shape) < 0.1] = NOTHING
    means, over, constants = rng.normal(size=(5, K)), rng.uniform(0.5, 2, (5, K)), rng.normal(size=(5, K))
    for each in (means, over, constants):
        each[4] = 0.0
    exponents, origins = np.array([-2, 0, 0, 1, 0]), np.array([-16.0, -2.0, 0.0, -1.0, 0.0])
    starts = np.append(0, np.cumsum(sizes))
    return Tables(ways, exponents, origins, np.array([0.25, 1, 1, 8, 1]), starts, points, means, over, constants)


def beyond(j, x):
    """Any function will do; some of its values are impossible."""
    K = beyond.classes
    values = -np.abs(x)[:, np.newaxis] * (1 + np.arange(K)) - j
    return np.where(values < -30, -np.inf, values)


def curves_by_a_plain_loop(X, tables, out):
    result = out.copy()
    for i, row in enumerate(X.tolist()):
        for k in range(out.shape[1]):
            total = float(out[i, k])
            for j, x in enumerate(row):
                first, size = int(tables.starts[j]), int(tables.starts[j + 1] - tables.starts[j])
                u = (math.ldexp(x, -int(tables.exponents[j])) - float(tables.origins[j])) * float(tables.inverses[j])
                if math.isnan(x):
                    continue
                if 0 <= u < size - 1:
                    at = first + int(u)
                    a, b = float(tables.points[at, k]), float(tables.points[at + 1, k])
                    value = a + ((u - int(u)) if tables.ways[j] == STRAIGHT else 0.0) * (b - a)
                elif tables.ways[j] == GAUSSIAN:
                    z = (x - float(tables.means[j, k])) * float(tables.over[j, k])
                    total += float(tables.constants[j, k]) - 0.5 * min(z * z, densities.FARTHEST)
                    continue
                else:
                    value = float(beyond(j, np.array([x]))[0, k])
                total += value if value > -1e299 else -math.inf
            result[i, k] = total
    return result


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 9, 13])
@pytest.mark.parametrize("n", [0, 1, 300, 5000])
def test_terms_of_curves_are_added_from_left_to_right(K, n):
    rng = np.random.default_rng(K)
    X = rng.normal(size=(n, 5)) * 4
    X[rng.random(X.shape) < 0.1] = np.nan
    beyond.classes, tables, start = K, curves(K, n), rng.normal(size=(n, K))
    out = start.copy()
    add_curves(table_of(X), tables, out, beyond)
    some = np.s_[:300]
    assert np.array_equal(out[some], curves_by_a_plain_loop(X[some], tables, start[some]))
    again = start.copy()
    with threads.limited(3):
        add_curves(table_of(np.asfortranarray(X)), tables, again, beyond)
    assert np.array_equal(out, again)


def test_an_infinite_value_of_a_curve_is_named():
    X = np.zeros((6000, 5))
    X[5000, 3] = -np.inf
    X[:, 1] = 100  # outside its table
    beyond.classes = 2
    with pytest.raises(InputError, match="column 'x3', row 5000: -inf is infinite"):
        add_curves(table_of(X), curves(2, 0), np.zeros((6000, 2)), beyond)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_mixture_is_improved_as_a_plain_loop_does(weighted):
    rng = np.random.default_rng(5)
    points, weights = np.arange(40.0), rng.integers(0, 9, 40) * (0.3 if weighted else 1.0)
    m = 3
    found = np.array([0.5, 0.5, 0.0]), np.array([10.0, 30.0, 5.0]), np.array([16.0, 9.0, 1.0])
    shares, means, variances = (each.copy() for each in found)
    rounds = 7
    likelihood = densities.maximise(points, weights, *found, 0.25, rounds, 0.0)
    for _ in range(rounds):
        with np.errstate(divide="ignore"):
            logs = np.log(shares) - 0.5 * np.log(2 * np.pi * variances)
        logs = logs - (points[:, np.newaxis] - means) ** 2 / (2 * variances)
        totals = np.logaddexp.reduce(logs, axis=1)
        parts = weights[:, np.newaxis] * np.exp(logs - totals[:, np.newaxis])
        wanted, mass = float(weights @ totals), parts.sum(axis=0)
        shares = mass / weights.sum()
        for c in range(m):
            if mass[c] > 0:
                before = means[c]
                means[c] = parts[:, c] @ points / mass[c]
                variances[c] = max(parts[:, c] @ (points - before) ** 2 / mass[c] - (means[c] - before) ** 2, 0.25)
    assert likelihood == pytest.approx(wanted, rel=1e-12)
    for each, other in zip(found, (shares, means, variances)):
        np.testing.assert_allclose(each, other, rtol=1e-9)


def drawn(seed, replicate, n):
    """SplitMix64, by Python's integers."""
    whole, golden = (1 << 64) - 1, 0x9E3779B97F4A7C15

    def mixed(z):
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & whole
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & whole
        return z ^ (z >> 31)

    state, counts = mixed((seed + replicate * golden) & whole), np.zeros(n, int)
    for _ in range(n):
        state = (state + golden) & whole
        counts[(mixed(state) >> 32) * n >> 32] += 1
    return counts


@pytest.mark.parametrize(("n", "replicates"), [(1, 1), (2, 9), (60, 8), (61, 19)])
@pytest.mark.parametrize("weighted", [False, True])
def test_replicates_are_what_each_would_measure_alone(n, replicates, weighted):
    rng, seed, K = np.random.default_rng(n), (1 << 63) + 12345, 3
    codes, predicted = (rng.integers(0, K, n).astype(np.int32) for _ in range(2))
    numbers, gaps, bins = rng.random((n, 2)), rng.random(n), rng.integers(0, 4, n).astype(np.int8)
    numbers[-1, 0] = np.inf
    weights = rng.random(n) if weighted else None
    scores = np.round(rng.random((K, n)), 1)
    found = densities.draw_replicates(
        replicates, seed, numbers, gaps, bins, 4, codes, predicted, K, weights, scores, np.arange(K, dtype=np.int32)
    )
    for r in range(replicates):
        counts = drawn(seed, r, n)
        w = counts * (1.0 if weights is None else weights)
        there = counts > 0
        np.testing.assert_allclose(found.sums[r], (w[there, np.newaxis] * numbers[there]).sum(axis=0), rtol=1e-13)
        np.testing.assert_allclose(found.bins[r], np.bincount(bins, w * gaps, 4), rtol=1e-13)
        right = np.bincount(codes, w * (codes == predicted), K)
        sides = right, np.bincount(codes, w, K), np.bincount(predicted, w, K)
        np.testing.assert_allclose(found.classes[:, r], sides, rtol=1e-13)
        for k in range(K):
            own = codes == k
            P, N = w[own].sum(), w[~own].sum()
            higher = scores[k][own][:, np.newaxis] - scores[k][~own]
            won = (w[own][:, np.newaxis] * w[~own] * (np.sign(higher) + 1) / 2).sum()
            precision = [
                w[i] * w[own & (scores[k] >= scores[k][i])].sum() / w[scores[k] >= scores[k][i]].sum()
                for i in np.flatnonzero(own & (w > 0))
            ]
            np.testing.assert_allclose(found.roc[r, k], won / (P * N) if P > 0 and N > 0 else np.nan, atol=1e-13)
            np.testing.assert_allclose(found.pr[r, k], sum(precision) / P if P > 0 else np.nan, rtol=1e-12)
