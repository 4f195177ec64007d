"""The weights of a log-linear pool: the minimum of a convex function with w ≥ 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.models.log_linear import fit_weights


def drawn(seed, features=4, rows=40, classes=3):
    """Features, of which every other tells something of the classes, on rows with a base of their own."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, rows)
    logs = rng.normal(scale=1.5, size=(features, rows, classes)) + rng.normal(size=(rows, classes))
    logs[::2, np.arange(rows), codes] += 1.0
    return logs - logs.mean(axis=2, keepdims=True), codes, rng.normal(scale=0.3, size=(rows, classes))


def objective(found, logs, codes, base, ridge, towards, weights, shifts):
    """The function and its gradient, by the definition."""
    w, b = found[: len(logs)], found[len(logs) :] if shifts else 0.0
    scores = base + np.tensordot(w, logs, 1) + b
    scores = scores - scores.max(axis=1, keepdims=True)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    own = np.eye(base.shape[1])[codes]
    value = -(weights @ np.log((shares * own).sum(axis=1))) + ridge / 2 * ((w - towards) ** 2).sum()
    off = (shares - own) * weights[:, np.newaxis]
    slope = np.tensordot(logs, off, 2) + ridge * (w - towards)
    if shifts:
        value, slope = value + ridge / 20 * (b**2).sum(), np.concatenate([slope, off.sum(axis=0) + ridge / 10 * b])
    return value, slope


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    features=st.integers(1, 12),
    rows=st.integers(1, 60),
    classes=st.integers(2, 5),
    ridge=st.sampled_from([0.01, 1.0, 20.0]),
    shifts=st.booleans(),
    scale=st.sampled_from([0.0, 1.0, 20.0]),
)
def test_no_weight_could_be_better(seed, features, rows, classes, ridge, shifts, scale):
    logs, codes, base = drawn(seed, features, rows, classes)
    logs, towards = logs * scale, np.full(features, 1 / features)
    weights = np.random.default_rng(seed).uniform(0, 2, rows)
    w, b = fit_weights(logs, codes, base, ridge, towards, weights, shifts=shifts)
    found = np.concatenate([w, b]) if shifts else w
    slope = objective(found, logs, codes, base, ridge, towards, weights, shifts)[1]
    near = 3e-4 * max(1.0, scale) * np.sqrt(rows)
    assert (w >= 0).all()
    assert b.any() <= shifts
    assert (slope[:features] >= -near).all()  # at 0 a weight may only lose by growing
    assert (np.abs(slope[:features])[w > 1e-6] <= near).all()  # elsewhere the function is flat
    assert (np.abs(slope[features:]) <= near).all()


@pytest.mark.parametrize(("features", "rows", "classes"), [(8, 500, 2), (30, 300, 4), (90, 200, 3)])
def test_the_minimum_is_that_of_a_general_optimiser(features, rows, classes):
    optimize = pytest.importorskip("scipy.optimize")
    logs, codes, base = drawn(features, features, rows, classes)
    towards = np.full(features, features**-0.5)
    w, b = fit_weights(logs, codes, base, 10.0, towards)
    fixed = (logs, codes, base, 10.0, towards, np.ones(rows), True)
    bounds = [(0, None)] * features + [(None, None)] * classes
    start = np.concatenate([towards, np.zeros(classes)])
    options = {"maxiter": 10000, "ftol": 1e-15, "gtol": 1e-9}
    other = optimize.minimize(objective, start, fixed, "L-BFGS-B", jac=True, bounds=bounds, options=options)
    assert objective(np.concatenate([w, b]), *fixed)[0] <= other.fun * (1 + 1e-9)
    np.testing.assert_allclose(np.concatenate([w, b]), other.x, atol=1e-4)
    assert 0 < (w == 0).sum() < features


def test_a_weight_is_a_number_of_rows():
    logs, codes, base = drawn(1)
    times = np.random.default_rng(1).integers(0, 4, len(codes))
    weighted = fit_weights(logs, codes, base, 2.0, np.full(4, 0.25), times)
    repeated = [np.repeat(each, times, axis=axis) for each, axis in ((logs, 1), (codes, 0), (base, 0))]
    for one, two in zip(weighted, fit_weights(*repeated, 2.0, np.full(4, 0.25))):
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_what_all_classes_share_does_not_matter_and_no_rows_leave_the_centre():
    logs, codes, base = drawn(2)
    shifted = logs + np.random.default_rng(2).normal(size=(4, len(codes), 1))
    for one, two in zip(
        fit_weights(logs, codes, base, 1.0, np.ones(4)), fit_weights(shifted, codes, base, 1.0, np.ones(4))
    ):
        np.testing.assert_allclose(one, two, atol=1e-6)
    w, b = fit_weights(logs[:, :0], codes[:0], base[:0], 1.0, np.array([0.1, 0.2, 0.3, 0.4]))
    assert w.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert not b.any()
