"""The solvers and what they stand on: the loss and its derivatives, curvature, the two ways to store weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from ingenuo.kernels import softmax as loops
from ingenuo.kernels.columns import Columns
from ingenuo.kernels.threads import limited
from ingenuo.models import solver
from ingenuo.models.solver import Curvature, Dense, Design, OverFeatures, OverRows, Problem, along_twin, shares
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
    penalty = (0.5, np.zeros(3), bends)
    lengths, total = problem.best(Z, ways, penalty)
    loss, slope, _ = loops.within(Z, ways, lengths, y, weights)
    start = loops.within(Z, ways, np.zeros(3), y, weights)
    assert total == pytest.approx(loss + 0.5 + lengths @ bends @ lengths / 2, rel=1e-9)
    assert total <= start[0] + 0.5 + 1e-12
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
    shift = problem.settled(Z)
    _, before = problem.residuals(Z)
    _, after = problem.residuals(Z + shift)
    assert np.abs(after.sum(axis=0)).max() <= max(1e-8, 1e-6 * np.abs(before.sum(axis=0)).max())


@ordinary
@cases
def test_the_square_of_the_curvature_is_the_curvature(seed, classes, weighted, spread):
    Z, y, weights = drawn(seed, n=6, classes=classes, spread=min(spread, 1.0), weighted=weighted)
    bend = Curvature(Z, weights, 1e-12)
    p, n, width = shares(Z), len(y), Z.shape[1]
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
    """A table, dense and centred or sparse, with a start and perhaps a stretch; and the table as an array."""
    rng = np.random.default_rng(seed)
    width = 1 if classes == 2 else classes
    X = rng.normal(size=(n, d)) if kind == "dense" else rng.poisson(0.5, size=(n, d)).astype(float)
    if kind == "dense":
        table = Dense(Numbers(labels_of([f"x{j}" for j in range(d)]), n, X), X.mean(axis=0))
        X = X - X.mean(axis=0)
    else:
        rows, columns = (each.astype(np.int32) for each in np.nonzero(X))
        table = Columns.of(n, d, rows, columns, X[rows, columns])
    start = rng.normal(size=(d, width))
    start[3] = 0.0
    y = np.append(np.arange(classes), rng.integers(0, classes, n - classes)).astype(np.int32)
    return Design(table, start, start if stretched else None), X, y


every = pytest.mark.parametrize("classes", [2, 3])
tables = pytest.mark.parametrize("kind", ["dense", "sparse"])
stretches = pytest.mark.parametrize("stretched", [False, True], ids=["plain", "stretched"])
spaces = pytest.mark.parametrize("Space", [OverRows, OverFeatures])


def F(X, y, V, b, stretch, l2):
    W = V if stretch is None else np.divide(V, stretch, out=np.zeros_like(V), where=stretch != 0)
    return loss_of(X @ V + b, y, NO_WEIGHTS) + l2 / 2 * float((W**2).sum())


def ways_from(space, problem, vector):
    """The ways down from a vector, and the bound on what is left to go."""
    _, residuals = problem.residuals(space.logits(vector))
    return space.directions(problem, vector, space.logits(vector), residuals, passes=1, check=True, enough=0.0)[:2]


@spaces
@stretches
@tables
@every
def test_vectors_know_their_logits_and_their_penalty(classes, kind, stretched, Space):
    design, X, y = made(kind, classes, stretched)
    space, problem = Space(design, 0.7), Problem(y, NO_WEIGHTS, 0.7, 1e-9, 100)
    b = np.arange(design.start.shape[1]) * 0.3
    vector = space.point(0.4, b)
    for _ in range(3):  # down some ways, so that the vectors are no longer multiples of the start
        for way in ways_from(space, problem, vector)[0]:
            vector = vector + 0.3 * way
    V, intercepts = space.weights(vector)
    np.testing.assert_allclose(space.logits(vector), X @ V + intercepts, atol=1e-9)
    other = space.point(1.0, b)
    S = design.stretch
    W = [each if S is None else np.divide(each, S, out=np.zeros_like(each), where=S != 0) for each in (V, design.start)]
    expected = [[float((one * two).sum()) for two in W] for one in W]
    np.testing.assert_allclose(space.products(np.stack([vector, other])), expected, rtol=1e-9)


@spaces
@stretches
@tables
@every
def test_the_first_direction_leads_down_and_the_bound_holds(classes, kind, stretched, Space):
    design, X, y = made(kind, classes, stretched)
    space, problem = Space(design, 0.7), Problem(y, NO_WEIGHTS, 0.7, 1e-13, 5000)
    lowest = solver.minimise_in_subspace(space, problem, space.point(0.0, np.zeros(design.start.shape[1])))[1]
    vector = space.point(0.5, np.zeros(design.start.shape[1]))
    vector[-design.start.shape[1] :] += problem.settled(space.logits(vector))
    ways, excess = ways_from(space, problem, vector)
    here = F(X, y, *space.weights(vector), design.stretch, 0.7)
    near = F(X, y, *space.weights(vector + 1e-6 * ways[0]), design.stretch, 0.7)
    assert near < here
    assert 0 <= here - lowest <= excess


@stretches
@tables
@every
def test_both_spaces_reach_the_same_minimum(classes, kind, stretched):
    design, X, y = made(kind, classes, stretched)
    problem = Problem(y, NO_WEIGHTS, 0.7, 1e-11, 5000)
    found = []
    for Space in (OverRows, OverFeatures):
        space = Space(design, 0.7)
        nothing = np.zeros(design.start.shape[1])
        for begin in (space.point(0.0, nothing), along_twin(space, problem, nothing, nothing)):
            vector, total, excess, _, arrived = solver.minimise_in_subspace(space, problem, begin)
            V, b = space.weights(vector)
            assert arrived
            assert excess <= 1e-11 * total
            assert total == pytest.approx(F(X, y, V, b, design.stretch, 0.7), rel=1e-10)
            found.append(total)
    assert max(found) - min(found) <= 1e-9 * min(found)
    if kind == "dense" and not stretched:
        V, b, total, *_ = solver.minimise(design.columns, problem, 0 * design.start, nothing)
        assert total == pytest.approx(F(X, y, V, b, None, 0.7), rel=1e-12)
        assert total == pytest.approx(min(found), rel=1e-9)


@stretches
@every
def test_the_way_to_the_twin_is_gone_as_far_as_it_helps(classes, stretched):
    design, X, y = made("sparse", classes, stretched)
    space, problem = OverFeatures(design, 0.7), Problem(y, NO_WEIGHTS, 0.7, 1e-9, 100)
    nothing = np.zeros(design.start.shape[1])
    found = F(X, y, *space.weights(along_twin(space, problem, nothing, nothing)), design.stretch, 0.7)
    on_the_way = [F(X, y, t * design.start, nothing, design.stretch, 0.7) for t in np.linspace(0, 2, 401)]
    assert found <= min(on_the_way) * (1 + 1e-6)


def test_features_of_one_row_are_that_rows_alone():
    """They lie on the diagonal of X S² Xᵀ and are summed up beforehand: the sum must be the same."""
    rng = np.random.default_rng(5)
    X = np.hstack([np.diag(rng.uniform(1, 2, 6)), rng.poisson(1.0, size=(6, 4)).astype(float)])
    rows, columns = (each.astype(np.int32) for each in np.nonzero(X))
    S = rng.normal(size=(10, 3))
    space = OverRows(Design(Columns.of(6, 10, rows, columns, X[rows, columns]), S, S), 1.0)
    R = rng.normal(size=(6, 3))
    expected = np.column_stack([X * S[:, k] ** 2 @ X.T @ R[:, k] for k in range(3)])
    np.testing.assert_allclose(space.gram(R), expected, atol=1e-10)
    np.testing.assert_allclose(space.diagonal, (X**2) @ (S**2), atol=1e-10)


@pytest.mark.parametrize("n", [5, 3000])
def test_a_dense_table_is_centred_and_its_holes_are_at_the_mean(n):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(n, 4)) + 100
    X[rng.random(X.shape) < 0.2] = np.nan
    means = np.nanmean(X, axis=0)
    C = np.where(np.isnan(X), 0.0, X - means)
    V, G, S = rng.normal(size=(4, 2)), rng.normal(size=(n, 2)), rng.uniform(0, 2, size=(4, 2))
    for threads in (1, 2):
        with limited(threads):
            table = Dense(Numbers(labels_of(list("abcd")), n, X), means)
            np.testing.assert_allclose(table.times(V), C @ V, atol=1e-9)
            np.testing.assert_allclose(table.gathered(G), C.T @ G, atol=1e-9)
            np.testing.assert_allclose(table.squares_gathered(G), (C * C).T @ G, atol=1e-9)
            np.testing.assert_allclose(table.gram(G, S), C @ (S * (C.T @ G)), atol=1e-8)
            np.testing.assert_allclose(table.squared_times(S, 2), (C * C) @ S, atol=1e-9)
