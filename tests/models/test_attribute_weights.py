"""Weights of attributes: the derivatives are right, the minimum is the minimum, and no weight is negative."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax

from ingenuo.models import tuning
from ingenuo.models.tuning import PENALTIES, Problem, choose, fit


def problem(n=200, K=3, d=4, seed=0, weighted=False):
    """Scores that know something of the classes, the first attribute most."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
    scores = rng.normal(size=(n, K, d))
    scores[np.arange(n), codes] += np.linspace(1, 0, d)
    log_prior = np.log(np.bincount(codes, minlength=K) / n) + np.zeros((n, 1))
    rows = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    return Problem.of(scores.copy(), log_prior, codes, rows), scores


def penalised(p, scores, w, b, penalty):
    """The formula of the module, by scipy."""
    d = len(w)
    logs = log_softmax(p.log_prior + b + scores @ w, axis=1)
    loss = -(p.rows @ logs[np.arange(len(p.codes)), p.codes])
    return loss + penalty / 2 * (((w - 1 / np.sqrt(d)) ** 2).sum() + (b**2).sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_is_that_of_the_formula(weighted):
    p, scores = problem(weighted=weighted)
    w, b = np.array([0.3, 0.0, 1.2, 0.5]), np.array([0.2, -0.1, 0.0])
    assert p.rows @ p.losses(w, b) == pytest.approx(penalised(p, scores, w, b, 0.0), rel=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.integers(3, 40), st.integers(2, 3), st.integers(1, 5), st.integers(0, 1000))
def test_the_derivatives_are_those_of_the_loss(n, K, d, seed):
    p, _ = problem(n + K, K, d, seed, weighted=bool(seed % 2))
    at = np.abs(np.random.default_rng(seed).normal(size=d + K))
    first, second = p.derivatives(at[:d], at[d:], True)
    slopes = approx_fprime(at, lambda z: p.rows @ p.losses(z[:d], z[d:]), 1e-7)
    np.testing.assert_allclose(first, slopes, rtol=1e-4, atol=1e-4 * n)
    bends = approx_fprime(at, lambda z: p.derivatives(z[:d], z[d:], True)[0], 1e-7)
    np.testing.assert_allclose(second, bends, rtol=1e-4, atol=1e-4 * n)
    only = p.derivatives(at[:d], at[d:], False)  # by the weights alone
    np.testing.assert_allclose(only[0], first[:d], rtol=1e-9, atol=1e-9 * n)
    np.testing.assert_allclose(only[1], second[:d, :d], rtol=1e-9, atol=1e-9 * n)


def test_rows_are_added_up_in_parts(monkeypatch):
    p, _ = problem(500)
    w, b = np.full(4, 0.5), np.zeros(3)
    whole = p.derivatives(w, b, True)
    monkeypatch.setattr(tuning, "_PARTED", 64)
    for one, other in zip(whole, p.derivatives(w, b, True)):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("weighted", [True, False])
def test_no_other_weights_do_better(penalty, shifted, weighted):
    p, scores = problem(weighted=weighted)
    w, b = fit(p, penalty, shifted)
    assert (w >= 0).all()
    assert shifted or not b.any()
    found = penalised(p, scores, w, b, penalty)
    wanted = minimize(
        lambda z: penalised(p, scores, z[:4], z[4:] if shifted else np.zeros(3), penalty),
        np.concatenate([np.full(4, 0.5), np.zeros(3)]),
        method="L-BFGS-B", bounds=[(0, None)] * 4 + [(None, None)] * 3, options={"maxfun": 100_000, "ftol": 1e-14},
    ).fun  # fmt: skip
    assert found <= wanted * (1 + 1e-9)


def test_copies_share_what_one_of_them_has():
    p, scores = problem(400, d=1)
    ten = Problem.of(np.repeat(scores, 10, axis=2), p.log_prior, p.codes, p.rows)
    alone, together = fit(p, 1e-3, True)[0], fit(ten, 1e-3, True)[0]
    np.testing.assert_allclose(together, together.mean(), rtol=1e-6)
    np.testing.assert_allclose(together.sum(), alone[0], rtol=1e-3)


def test_an_attribute_that_misleads_has_no_weight():
    p, scores = problem(d=2)
    misleading = Problem.of(np.stack([scores[:, :, 0], -3 * scores[:, :, 0]], axis=2), p.log_prior, p.codes, p.rows)
    weights = fit(misleading, 1.0, True)[0]
    assert weights[1] == 0
    assert weights[0] > 0.3


def test_what_all_classes_have_in_common_changes_nothing():
    p, scores = problem()
    common = np.random.default_rng(1).normal(size=(200, 1, 4)) * 100
    other = Problem.of(scores + common, p.log_prior, p.codes, p.rows)
    for one, two in zip(fit(p, 1.0, True), fit(other, 1.0, True)):
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_a_row_of_weight_three_is_three_rows():
    p, scores = problem(weighted=True)
    times = np.repeat(np.arange(200), p.rows.astype(int))
    repeated = Problem.of(scores[times], p.log_prior[times], p.codes[times], np.ones(len(times)))
    for one, two in zip(fit(p, 1.0, True), fit(repeated, 1.0, True)):
        np.testing.assert_allclose(one, two, atol=1e-6)


def test_the_penalty_is_the_one_with_the_least_loss_of_rows_held_out():
    p, _ = problem(seed=3)
    chosen = choose(p, [np.arange(4)], True, 0)
    assert chosen.penalty in PENALTIES
    fold = np.random.default_rng(0).permutation(200) % 5
    losses = []
    for penalty in PENALTIES:
        held = 0.0
        for f in range(5):
            w, b = fit(p.take(np.flatnonzero(fold != f)), penalty, True)
            held += p.take(np.flatnonzero(fold == f)).losses(w, b).sum()
        losses.append(held / 200)
    assert chosen.penalty == PENALTIES[int(np.argmin(losses))]
    assert chosen.held_out == pytest.approx(min(losses), rel=1e-6)
    assert chosen.loss == pytest.approx(p.losses(chosen.weights, chosen.shifts).mean(), rel=1e-12)
    assert chosen.loss <= chosen.held_out


def test_of_many_rows_none_are_held_out(monkeypatch):
    monkeypatch.setattr(tuning, "_ENOUGH", 100)
    p, _ = problem()
    chosen = choose(p, [np.arange(4)], True, 0)
    assert chosen.held_out is None
    assert chosen.penalty == 1.0


def test_impossible_classes_are_far_and_finite():
    p, scores = problem()
    scores[::3, 0, :] = -np.inf
    other = Problem.of(scores, p.log_prior, p.codes, p.rows)
    w, b = fit(other, 1.0, True)
    assert np.isfinite(w).all()
    assert np.isfinite(b).all()
    assert (other.losses(w, b) <= 700).all()


def test_the_set_that_does_best_on_rows_held_out_stays():
    p, scores = problem(n=120, d=1, seed=4)
    noise = np.random.default_rng(9).normal(size=(120, 3, 30))
    both = Problem.of(np.concatenate([scores, noise], axis=2), p.log_prior, p.codes, p.rows)
    chosen = choose(both, [np.arange(31), np.array([0])], True, 0)
    assert not chosen.weights[1:].any()
    alone = choose(p, [np.array([0])], True, 0)
    np.testing.assert_allclose(chosen.weights[0], alone.weights[0], rtol=1e-6)
    assert chosen.held_out == pytest.approx(alone.held_out, rel=1e-6)
