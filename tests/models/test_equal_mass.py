"""Bins of equal mass: as many values in each, a density that integrates to one, and the formulas of values left out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

import ingenuo as ing
from ingenuo.families import Attribute
from ingenuo.families.family import LearnedRows
from ingenuo.models.classifier import tally_chunk
from ingenuo.rows.rows import MemoryRows

KINDS = ("equal-mass-5", "equal-mass-10", "equal-mass-20")
RNG = np.random.default_rng(0)
Y = np.arange(600) % 2
X = (RNG.lognormal(0, 1, 600) * (1 + Y))[:, np.newaxis]


def curve_of(model):
    return model._parameters().own.curves[0]


def density(model, x, k):
    """p(x | class k), from the joint and equal priors."""
    joint = model.predict_joint_log_proba(np.reshape(x, (-1, 1)))
    return np.exp(joint[:, k] - np.log(0.5))


def fitted(kind, X=X, y=Y, **given):
    return ing.NaiveBayes(
        {0: "number"}, numbers=kind, class_prior=dict.fromkeys(np.unique(y).tolist(), 0.5), **given
    ).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_bins_hold_about_as_many_values(kind):
    bins = int(kind.rsplit("-", 1)[1])
    curve = curve_of(fitted(kind))
    held = curve.counts.sum(axis=0)
    assert len(held) == bins
    assert held.sum() == 600
    np.testing.assert_allclose(held, 600 / bins, rtol=0.35)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", [ing.Laplace(), ing.Lidstone(0.1)], ids=["laplace", "lidstone"])
@pytest.mark.parametrize("k", [0, 1])
def test_the_density_integrates_to_one(kind, prior, k):
    model = fitted(kind, prior=prior)
    curve = curve_of(model)
    edges = curve.column.values(curve.edges)
    inside = sum(density(model, (lo + hi) / 2, k)[0] * (hi - lo) for lo, hi in pairwise(edges))
    below = quad(lambda x: density(model, x, k)[0], -np.inf, edges[0], limit=300)[0]
    above = quad(lambda x: density(model, x, k)[0], edges[-1], np.inf, limit=300)[0]
    assert inside + below + above == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_far_away_decides_nothing(kind):
    model = fitted(kind)
    near, far, farther = (model.predict_proba([[x]])[0] for x in (X.max(), 1e6, 1e200))
    np.testing.assert_allclose(far, near, rtol=1e-9)
    np.testing.assert_allclose(farther, near, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_values_mirrored_are_cut_alike(kind):
    for x in (X, np.rint(X * 4)):
        model, mirrored = fitted(kind, x), fitted(kind, -x)
        np.testing.assert_allclose(model.predict_proba(x), mirrored.predict_proba(-x), atol=0.02)


def test_an_explanation_shows_the_fraction_and_the_width():
    model = fitted("equal-mass-5")
    for x in (1.0, float(X.max() * 3)):
        shown = model.explain([x])
        (factor,) = shown.factors
        for k in (0, 1):
            counted, width, *far = factor.terms[k].how.split(" ÷ ")
            above, below = (sum(map(float, part.strip("()").split(" + "))) for part in counted.split("/"))
            beyond = float(far[0].strip("²")) ** 2 if far else 1.0
            assert above / below / float(width) / beyond == pytest.approx(density(model, x, k)[0], rel=1e-3)
        np.testing.assert_allclose(shown.posterior, model.predict_proba([[x]])[0], rtol=1e-9)


def test_what_is_drawn_has_the_quantiles_of_what_was_learned():
    rows, drawn = fitted("equal-mass-20").sample(20_000, random_state=0)
    values = np.asarray(rows, float).ravel()
    for k in (0, 1):
        for q in (0.25, 0.5, 0.75):
            assert np.quantile(values[drawn == k], q) == pytest.approx(np.quantile(X[k == Y], q), rel=0.2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "x",
    [np.zeros((6, 1)), np.array([[1.0], [1], [1], [1], [1], [9]]), np.arange(6.0)[:, np.newaxis] * 1e150],
    ids=["constant", "nearly", "huge"],
)
def test_few_and_equal_values_are_answered_for(kind, x):
    model = fitted(kind, x, np.arange(6) % 2)
    p = model.predict_proba(np.vstack([x, x + 1, -x]))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_forgetting_is_never_having_seen(kind):
    inner = np.argsort(X[:, 0])[50:150]  # the range stays, and so does the width of what is counted
    rest = np.setdiff1d(np.arange(600), inner)
    forgotten, never = fitted(kind).forget(X[inner], Y[inner]), fitted(kind, X[rest], Y[rest])
    assert forgotten.tally_ == never.tally_
    assert np.array_equal(forgotten.predict_proba(X), never.predict_proba(X))


# Values left out while the shape is held, which is how tuning compares settings.


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["histogram", "kernel", *KINDS])
def test_a_value_left_out_changes_its_own_class_only_and_by_the_formula(kind, weighted):
    prior = ing.Lidstone(1.0, variance_floor=0.1)
    weights = RNG.integers(1, 4, 600).astype(float) if weighted else None
    model = ing.NaiveBayes({0: "number"}, numbers=kind, prior=prior)
    schema, chunk = model._encode_all(MemoryRows(X, Y, weights))
    tally = tally_chunk(chunk)
    attribute = Attribute(schema.names, kind, kind, prior)
    found = attribute.left_out(LearnedRows(schema, tally, chunk))
    curve = attribute.estimate(tally, schema, chunk.classes).own.curves[0]
    whole = curve.log_density(X[:, 0])
    rows, w = np.arange(600), np.ones(600) if weights is None else weights
    np.testing.assert_allclose(found[rows, 1 - Y], whole[rows, 1 - Y], rtol=1e-12)
    assert (found[rows, Y] <= whole[rows, Y] + 1e-12).all()  # what it had added is missing
    n = np.bincount(Y, w)[Y]
    if kind == "kernel":
        a = curve.column.imagined
        share = np.exp(found[rows, Y]) * (n - w + a) - np.exp(whole[rows, Y]) * (n + a)
        assert (share <= 1e-9).all()
        return
    G = curve.counts.shape[1] + (2 if kind == "histogram" else 0)
    taken = np.exp(whole[rows, Y]) * (n + curve.pseudo * G) - np.exp(found[rows, Y]) * (n - w + curve.pseudo * G)
    t = curve.column.positions(X[:, 0])
    _, widths = curve.bins_of(t)
    # (n_b + α) - (n_b - w + α) = w, over the width
    np.testing.assert_allclose(taken, w / (widths * np.exp(curve.column.unit)), rtol=1e-6)
