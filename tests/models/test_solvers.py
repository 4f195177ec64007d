"""The solvers and what they stand on: the loss and its derivatives, curvature, the two ways to store weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp, softmax

from ingenuo.kernels import counts as loops
from ingenuo.kernels.counts import Columns
from ingenuo.kernels.threads import limited
from ingenuo.models.solver import Curvature, Dense, Few, OverFeatures, OverRows, Problem, minimise
from ingenuo.rows.part import Numbers
from ingenuo.tally.labels import labels_of

ordinary = settings(deadline=None, max_examples=25)
NO_WEIGHTS = np.zeros(0)


def drawn(seed, n=12, classes=3, spread=3.0, weighted=False):
    """Logits as the solvers store them (one for two classes), labels and weights."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(scale=spread, size=(n, 1 if classes == 2 else classes))
    y = rng.integers(0, classes, n).astype(np.int32)
    return Z, y, np.where(rng.random(n) < 0.2, 0.0, rng.uniform(0.5, 2, n)) if weighted else NO_WEIGHTS


def loss_of(Z, y, weights):
    full = np.hstack([np.zeros_like(Z), Z]) if Z.shape[1] == 1 else Z
    each = logsumexp(full, axis=1) - full[np.arange(len(y)), y]
    return float(each.sum() if len(weights) == 0 else weights @ each)


cases = given(
    seed=st.integers(0, 2**32),
    classes=st.integers(2, 4),
    weighted=st.booleans(),
    spread=st.sampled_from([0.0, 1.0, 30.0, 800.0]),
)


@ordinary
@cases
def test_the_loss_and_its_gradient_are_those_of_the_definition(seed, classes, weighted, spread):
    Z, y, weights = drawn(seed, classes=classes, spread=spread, weighted=weighted)
    out = np.empty_like(Z)
    loss = loops.residuals(Z, y, weights, out)
    assert loss == pytest.approx(loss_of(Z, y, weights), rel=1e-12, abs=1e-12)
    full = np.hstack([np.zeros_like(Z), Z]) if classes == 2 else Z
    expected = (softmax(full, axis=1) - np.eye(classes)[y])[:, -Z.shape[1] :]
    np.testing.assert_allclose(out, expected * (weights[:, np.newaxis] if weighted else 1.0), atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 129])
@pytest.mark.parametrize("classes", [2, 3, 5, 8])
def test_any_number_of_rows_has_its_loss(n, classes):
    Z, y, weights = drawn(n, n=n, classes=classes, weighted=True)
    out, ways = np.empty_like(Z), np.random.default_rng(n).normal(size=(2, *Z.shape))
    assert loops.residuals(Z, y, weights, out) == pytest.approx(loss_of(Z, y, weights), rel=1e-12, abs=1e-12)
    loss, slope, bend = loops.within(Z, ways, np.zeros(2), y, weights)
    assert loss == pytest.approx(loss_of(Z, y, weights), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(slope, np.tensordot(ways, out, ([1, 2], [0, 1])), atol=1e-12)
    assert bend.shape == (2, 2)


def test_threads_add_the_same_loss():
    Z, y, weights = drawn(0, n=20_000, weighted=True)
    found = []
    for threads in (1, 2, 3):
        out = np.empty_like(Z)
        with limited(threads):
            found.append((loops.residuals(Z, y, weights, out), out))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12) == pytest.approx(found[2][0], rel=1e-12)
    np.testing.assert_array_equal(found[0][1], found[1][1])


@ordinary
@cases
def test_the_way_along_directions_has_the_derivatives_of_the_loss(seed, classes, weighted, spread):
    spread = min(spread, 30.0)  # beyond, differences of the loss are differences of roundings
    Z, y, weights = drawn(seed, classes=classes, spread=spread, weighted=weighted)
    rng = np.random.default_rng(seed)
    ways, lengths = rng.normal(size=(2, *Z.shape)), rng.normal(size=2)
    loss, slope, bend = loops.within(Z, ways, lengths, y, weights)

    def at(t):
        return loss_of(Z + np.tensordot(t, ways, 1), y, weights)

    assert loss == pytest.approx(at(lengths), rel=1e-11, abs=1e-11)
    step = 1e-4
    near = [(at(lengths + step * e), at(lengths - step * e)) for e in np.eye(2)]
    np.testing.assert_allclose(slope, [(hi - lo) / (2 * step) for hi, lo in near], atol=1e-4)
    np.testing.assert_allclose(np.diag(bend), [(hi - 2 * at(lengths) + lo) / step**2 for hi, lo in near], atol=2e-3)
    np.testing.assert_array_equal(bend, bend.T)


@ordinary
@cases
def test_the_best_of_a_few_directions_has_no_slope_left_even_if_they_depend(seed, classes, weighted, spread):
    Z, y, weights = drawn(seed, classes=classes, spread=min(spread, 30.0), weighted=weighted)
    rng = np.random.default_rng(seed)
    ways = rng.normal(size=(3, *Z.shape))
    ways[2] = ways[0] - 2 * ways[1]
    bends = np.tensordot(ways, ways, ([1, 2], [1, 2]))
    problem = Problem(y, weights, 1.0, 1e-9, 100)
    lengths = problem.best_lengths(Z, ways, (np.zeros(3), bends))
    loss, slope, _ = loops.within(Z, ways, lengths, y, weights)
    start = loops.within(Z, ways, np.zeros(3), y, weights)
    assert loss + lengths @ bends @ lengths / 2 <= start[0] + 1e-12
    # What is left to gain is a thousandth of what there was: a solver's step needs no more.
    assert np.abs(slope + bends @ lengths).max() <= 0.1 * max(np.abs(start[1]).max(), 1e-9)


@ordinary
@cases
def test_settled_intercepts_leave_no_slope(seed, classes, weighted, spread):
    Z, y, weights = drawn(seed, n=40, classes=classes, spread=min(spread, 1.0), weighted=weighted)
    y[:classes] = np.arange(classes)
    if weighted:
        weights[:classes] = 1.0  # every class has rows that count
    problem = Problem(y, weights, 1.0, 1e-9, 100)
    shift = problem.best_shift(Z)
    _, before = problem.residuals(Z)
    _, after = problem.residuals(Z + shift)
    assert np.abs(after.sum(axis=0)).max() <= max(1e-8, 1e-6 * np.abs(before.sum(axis=0)).max())


@ordinary
@cases
def test_the_square_of_the_curvature_is_the_curvature(seed, classes, weighted, spread):
    Z, y, weights = drawn(seed, n=6, classes=classes, spread=min(spread, 1.0), weighted=weighted)
    bend = Curvature(Z, weights, 1e-12)
    n, width = len(y), Z.shape[1]
    p = expit(Z) if width == 1 else softmax(Z, axis=1)
    w = weights if weighted else np.ones(n)
    H = np.zeros((n, width, n, width))
    for i in range(n):
        H[i, :, i, :] = w[i] * (
            np.array([[p[i, 0] * (1 - p[i, 0])]]) if width == 1 else np.diag(p[i]) - np.outer(p[i], p[i])
        )
    H = H.reshape(n * width, -1)
    basis = np.eye(n * width).reshape(-1, n, width)
    B = np.array([bend.forth(e).ravel() for e in basis]).T
    np.testing.assert_allclose(B @ B.T, H, atol=1e-10)
    np.testing.assert_allclose(np.array([bend.back(e).ravel() for e in basis]).T, B.T, atol=1e-12)
    np.testing.assert_allclose(bend.of_rows().ravel(), np.diag(H), atol=1e-10)
    v = np.random.default_rng(seed).normal(size=(n, width))
    free = bend.without_intercepts(v)
    np.testing.assert_allclose(bend.forth(free).sum(axis=0), 0, atol=1e-9)  # no part of it moves the intercepts
    np.testing.assert_allclose(bend.without_intercepts(free), free, atol=1e-9)
    K = np.random.default_rng(1).uniform(0, 2, size=(n, width))
    np.testing.assert_allclose(bend.diagonal(K).ravel(), np.diag(B.T @ np.diag(K.ravel()) @ B), atol=1e-9)


# Weights over features and over rows.


def made(kind, classes, stretched, n=14, d=9, seed=0):
    """A table, dense and centred or sparse, perhaps a stretch, the weights of a twin, the table as an array, labels."""
    rng = np.random.default_rng(seed)
    width = 1 if classes == 2 else classes
    X = rng.normal(size=(n, d)) if kind == "dense" else rng.poisson(0.5, size=(n, d)).astype(float)
    if kind == "dense":
        table = Dense(Numbers(labels_of([f"x{j}" for j in range(d)]), n, X), X.mean(axis=0))
        X = X - X.mean(axis=0)
    else:
        rows, columns = (each.astype(np.int32) for each in np.nonzero(X))
        table = Columns.of(n, d, rows, columns, X[rows, columns])
    twin = rng.normal(size=(d, width))
    if kind == "sparse":
        twin[3] = 0.0
    y = np.append(np.arange(classes), rng.integers(0, classes, n - classes)).astype(np.int32)
    stretch = np.repeat(twin[:, :1], width, axis=1) if kind == "dense" else twin  # numbers have one for all classes
    return table, stretch if stretched else None, twin - twin.mean(axis=1, keepdims=True) * (width > 1), X, y


WAYS = [("dense", Few), ("dense", OverFeatures), ("sparse", OverFeatures), ("sparse", OverRows)]
every = pytest.mark.parametrize("classes", [2, 3])
stretches = pytest.mark.parametrize("stretched", [False, True], ids=["plain", "stretched"])
ways = pytest.mark.parametrize(("kind", "Space"), WAYS)


def space_of(Space, table, stretch, problem, width):
    return Space(table, stretch, problem, width) if Space is OverRows else Space(table, stretch, problem)


def F(X, y, V, b, stretch, l2):
    W = V if stretch is None else np.divide(V, stretch, out=np.zeros_like(V), where=stretch != 0)
    return loss_of(X @ V + b, y, NO_WEIGHTS) + l2 / 2 * float((W**2).sum())


@ways
@stretches
@every
def test_newtons_step_is_that_of_the_whole_curvature(classes, kind, Space, stretched):
    """Where the intercepts are the best, the step leads down, and to the minimum of the quadratic."""
    table, S, twin, X, y = made(kind, classes, stretched)
    problem = Problem(y, NO_WEIGHTS, 0.7, 1e-9, 100)
    space = space_of(Space, table, S, problem, twin.shape[1])
    b = problem.best_shift(np.zeros((len(y), twin.shape[1])))
    point = space.nothing(b)
    _, residuals = problem.residuals(point.logits + b)
    space.gradient(point, residuals)
    (step, *_), _, _ = space.step(point, residuals, 1e-12, 200)
    W = twin * 0 + 1 if S is None else S  # V = S W
    J = np.einsum("ij,jk,kl->ikjl", X, W, np.eye(W.shape[1])).reshape(residuals.size, -1)
    J = np.hstack([J, np.tile(np.eye(W.shape[1]), (len(y), 1))])
    bend = Curvature(point.logits + b, NO_WEIGHTS)
    H = np.array([bend.forth(bend.back(e)).ravel() for e in np.eye(residuals.size).reshape(-1, *residuals.shape)])
    penalty = np.append(np.full(X.shape[1] * W.shape[1], 0.7), np.zeros(W.shape[1]))
    expected = np.linalg.lstsq(J.T @ H @ J + np.diag(penalty), -J.T @ residuals.ravel(), rcond=1e-12)[0]
    moved = (J @ expected).reshape(residuals.shape)
    found = step.logits + step.intercepts
    centred = [each - (each.mean(axis=1, keepdims=True) if classes > 2 else 0) for each in (found, moved)]
    np.testing.assert_allclose(*centred, atol=1e-7)


def step_of(space, point, problem):
    _, residuals = problem.residuals(point.logits + point.intercepts)
    space.gradient(point, residuals)
    return space.step(point, residuals, 1e-3, 50)[0][0]


@ways
@stretches
@every
def test_points_know_their_logits_their_penalty_and_their_gradient(classes, kind, Space, stretched):
    table, S, twin, X, y = made(kind, classes, stretched)
    problem = Problem(y, NO_WEIGHTS, 0.7, 1e-9, 100)
    space = space_of(Space, table, S, problem, twin.shape[1])
    zero = space.nothing(np.arange(twin.shape[1]) * 0.3)
    point = zero.move([step_of(space, zero, problem)], np.array([0.4]))
    V = space.weights(point.own)
    np.testing.assert_allclose(point.logits, X @ V, atol=1e-9)
    W = V if S is None else np.divide(V, S, out=np.zeros_like(V), where=S != 0)
    assert space.product(point, point) == pytest.approx(float((W**2).sum()), rel=1e-9)
    _, residuals = problem.residuals(point.logits + point.intercepts)
    slope = X.T @ residuals * (1 if S is None else S) + 0.7 * W
    assert space.gradient(point, residuals) == pytest.approx(float((slope**2).sum()), rel=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@stretches
@every
def test_all_spaces_reach_the_same_minimum(classes, kind, stretched):
    table, S, twin, X, y = made(kind, classes, stretched)
    problem = Problem(y, NO_WEIGHTS, 0.7, 1e-11, 5000)
    found = []
    for Space in (Space for its, Space in WAYS if its == kind):
        space = space_of(Space, table, S, problem, twin.shape[1])
        solution = minimise(space, problem, np.zeros(twin.shape[1]))
        assert solution.converged
        assert solution.excess <= 1e-11 * solution.loss
        assert solution.loss == pytest.approx(F(X, y, solution.weights, solution.intercepts, S, 0.7), rel=1e-10)
        found.append(solution.loss)
    assert max(found) - min(found) <= 1e-9 * min(found)


def test_features_of_one_row_are_that_rows_alone():
    """They lie on the diagonal of X S² Xᵀ and are summed up beforehand: the sum must be the same."""
    rng = np.random.default_rng(5)
    X = np.hstack([np.diag(rng.uniform(1, 2, 6)), rng.poisson(1.0, size=(6, 4)).astype(float)])
    rows, columns = (each.astype(np.int32) for each in np.nonzero(X))
    S = rng.normal(size=(10, 3))
    problem = Problem(np.zeros(6, np.int32), NO_WEIGHTS, 1.0, 1e-9, 100)
    space = OverRows(Columns.of(6, 10, rows, columns, X[rows, columns]), S, problem, 3)
    R = rng.normal(size=(6, 3))
    expected = np.column_stack([X * S[:, k] ** 2 @ X.T @ R[:, k] for k in range(3)])
    np.testing.assert_allclose(space.gram(R), expected, atol=1e-10)
    np.testing.assert_allclose(space.diagonal, (X**2) @ (S**2), atol=1e-10)


@pytest.mark.parametrize("n", [5, 3000])
def test_a_dense_table_is_centred_and_its_missing_values_are_at_the_mean(n):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(n, 4)) + 100
    X[rng.random(X.shape) < 0.2] = np.nan
    means = np.nanmean(X, axis=0)
    C = np.where(np.isnan(X), 0.0, X - means)
    V, G = rng.normal(size=(4, 2)), rng.normal(size=(n, 2))
    for threads in (1, 2):
        with limited(threads):
            table = Dense(Numbers(labels_of(list("abcd")), n, X), means)
            np.testing.assert_allclose(table.times(V), C @ V, atol=1e-9)
            np.testing.assert_allclose(table.gather(G), C.T @ G, atol=1e-9)
            np.testing.assert_allclose(table.gather_squares(G), (C * C).T @ G, atol=1e-9)
