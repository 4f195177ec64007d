"""Scatter adds and is taken away: counts and sums to the last bit, products to within the rounding that it states."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo import GaussianDiscriminant, LeastSquaresClassifier
from ingenuo.errors import ForgetError, InputError, MergeError
from ingenuo.exact import Exact
from ingenuo.families.gaussians import EACH, POOLED
from ingenuo.scatter import Scatter

ordinary = settings(deadline=None, max_examples=60)

value = st.one_of(
    st.integers(-5, 5).map(float),
    st.floats(-100, 100),
    st.floats(-1, 1).map(lambda x: 1e9 + x),
    st.sampled_from([0.0, -0.0, 0.1, 1e-30, 1e12, -1e12]),
)


@st.composite
def parts(draw, least=1):
    """Two parts of some rows: numbers, labels and weights; classes overlap in some draws and not in others."""

    def part():
        n = draw(st.integers(least, 12))
        X = np.array([[draw(value) for _ in range(3)] for _ in range(n)]).reshape(n, 3)
        y = np.array([draw(st.sampled_from("abc")) for _ in range(n)], object)
        w = np.array([draw(st.sampled_from([1.0, 2.0, 0.5, 0.1, 3.0])) for _ in range(n)])
        return X, y, w

    return part(), part()


def learned(part, covariance, weighted):
    X, y, w = part
    return GaussianDiscriminant(covariance).partial_fit(X, y, sample_weight=w if weighted else None).tally_


def both(one, two):
    return tuple(np.concatenate([a, b]) for a, b in zip(one, two))


def table(tally, covariance):
    return tally.scatter(POOLED if covariance == "shared" else EACH)


kinds = st.sampled_from(["shared", "full"])


@ordinary
@given(parts(), kinds, st.booleans())
def test_the_scatter_is_that_of_the_rows_about_their_class_means(drawn, covariance, weighted):
    (X, y, w), _ = drawn
    w = w if weighted else np.ones(len(X))
    found = table(learned(drawn[0], covariance, weighted), covariance)
    wanted = []
    for label in found.classes.tolist():
        rows, own = X[y == label].astype(np.longdouble), w[y == label].astype(np.longdouble)
        apart = rows - (rows * own[:, None]).sum(axis=0) / own.sum()
        wanted.append((apart.T * own) @ apart)
    wanted = np.array(wanted, float)
    wanted = wanted.sum(axis=0) if found.pooled else wanted
    # The square of less than 1e-150 is no double, so the diagonal says nothing of such a column.
    roots = np.sqrt(np.maximum(np.diagonal(wanted, axis1=-2, axis2=-1) * 1e-13, found.noise)) + 1e-150
    assert (np.abs(found.products - wanted) <= 4 * np.einsum("...i,...j->...ij", roots, roots)).all()


@ordinary
@given(parts(), kinds, st.booleans())
def test_adding_two_parts_is_learning_all(drawn, covariance, weighted):
    one, two = (learned(part, covariance, weighted) for part in drawn)
    whole = table(learned(both(*drawn), covariance, weighted), covariance)
    assert table(one + two, covariance).near(whole)
    assert table(two + one, covariance).near(whole)


@ordinary
@given(parts(), kinds, st.booleans())
def test_forgetting_equals_never_having_seen(drawn, covariance, weighted):
    kept, forgotten = (learned(part, covariance, weighted) for part in drawn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that little is left of a column is said, and true
        rest = table((kept + forgotten) - forgotten, covariance)
    assert rest.near(table(kept, covariance))


@ordinary
@given(parts(), kinds, st.booleans())
def test_what_is_wholly_forgotten_leaves_no_trace(drawn, covariance, weighted):
    tally = learned(drawn[0], covariance, weighted)
    assert len(tally - tally) == 0
    assert dict(tally - tally) == {}


@ordinary
@given(parts(), kinds)
def test_scaling_is_having_seen_each_row_so_often(drawn, covariance):
    tally = learned(drawn[0], covariance, False)
    assert table(tally + tally, covariance).near(table(tally.scale(2), covariance))
    assert len(tally.scale(0)) == 0


def test_a_class_that_is_forgotten_disappears():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.repeat(["a", "b", "c"], 20)
    for covariance in ("shared", "full"):
        model = GaussianDiscriminant(covariance).partial_fit(X, y).forget(X[20:40], y[20:40])
        assert model.classes_.tolist() == ["a", "c"]
        kept = GaussianDiscriminant(covariance).partial_fit(np.delete(X, slice(20, 40), 0), np.delete(y, slice(20, 40)))
        np.testing.assert_allclose(model.covariance_, kept.covariance_, rtol=1e-13, atol=1e-14)
        np.testing.assert_array_equal(model.means_, kept.means_)


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_forgetting_half_a_million_numbers_keeps_thirteen_digits(covariance):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 20_000)
    X = rng.normal(size=(20_000, 8)) @ rng.normal(size=(8, 8)) + 1e6 + 100 * y[:, np.newaxis]
    model = GaussianDiscriminant(covariance).partial_fit(X, y)
    for lo in range(0, 19_000, 500):
        model.forget(X[lo : lo + 500], y[lo : lo + 500])
    kept = GaussianDiscriminant(covariance).partial_fit(X[19_000:], y[19_000:])
    scale = np.sqrt(np.einsum("...ii,...jj->...ij", kept.covariance_, kept.covariance_))
    assert (np.abs(model.covariance_ - kept.covariance_) / scale).max() < 1e-12
    np.testing.assert_array_equal(model.means_, kept.means_)


def test_an_offset_costs_no_digits():
    rng = np.random.default_rng(2)
    X, y = np.rint(rng.normal(size=(300, 3)) * 1024) / 1024, rng.integers(0, 2, 300)
    plain, far = (GaussianDiscriminant().partial_fit(X + offset, y) for offset in (0.0, 2.0**30))
    np.testing.assert_allclose(far.covariance_, plain.covariance_, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(far.predict_proba(X + 2.0**30), plain.predict_proba(X), rtol=1e-10)


def test_forgetting_an_enormous_value_says_that_the_rest_is_lost():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    model = GaussianDiscriminant().partial_fit(X, y).partial_fit([[1e30, 0.0]], [0])
    with pytest.warns(UserWarning, match="nearly all the scatter of column 0.*fit the model again"):
        model.forget([[1e30, 0.0]], [0])
    np.testing.assert_array_equal(
        table(model.tally_, "shared").means(), table(learned((X, y, None), "shared", False), "shared").means()
    )


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_taking_away_what_was_never_added_raises(covariance):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1], 15)
    model = GaussianDiscriminant(covariance).partial_fit(X, y)
    before = model.tally_
    for rows, labels, words in (
        (np.zeros((16, 2)), [0] * 16, "only 15 was added"),
        ([[0.0, 0.0]], [7], "at class 7"),
        ([[1e4, 0.0]], [0], "negative variance"),
        (np.zeros((15, 2)), [0] * 15, "no row left"),
    ):
        with pytest.raises(ForgetError, match=words):
            model.forget(rows, labels)
        assert model.tally_ == before
    holes = X[:1].copy()
    holes[0, 0] = np.nan
    model.partial_fit(holes, [5])  # a row of class 5, but none that is complete
    with pytest.raises(ForgetError):
        model.forget(X[:1], [5])


def test_tables_of_other_columns_or_kinds_do_not_add():
    X, y = np.eye(3), [0, 1, 1]
    shared, full = (GaussianDiscriminant(kind).partial_fit(X, y).tally_ for kind in ("shared", "full"))
    with pytest.raises(MergeError, match="of another kind"):
        shared[POOLED].plus("scatter", full[EACH])
    fewer = GaussianDiscriminant().partial_fit(X[:, :2], y).tally_
    with pytest.raises(MergeError, match="column 2 is in one of the models only"):
        _ = shared + fewer


def test_numbers_whose_squares_are_no_doubles_are_refused():
    with pytest.raises(InputError, match="column 1: its numbers are so large"):
        GaussianDiscriminant().partial_fit([[0.0, 1e200], [1.0, -1e200]], [0, 0])
    model = GaussianDiscriminant().partial_fit([[0.0, 1e200]], [0])
    before = model.tally_
    with pytest.raises(InputError, match="so large"):
        model.partial_fit([[0.0, -1e200]], [0])
    assert model.tally_ == before


def test_columns_of_a_table_may_stand_in_any_order():
    products = np.array([[1.0, 2.0], [2.0, 5.0]])
    given = Scatter.of(["k"], ["b", "a"], Exact.of([3]), Exact.of([[1.0, 2.0]]), products)
    turned = Scatter.of(["k"], ["a", "b"], Exact.of([3]), Exact.of([[2.0, 1.0]]), products[::-1, ::-1])
    assert given == turned


def test_both_models_learn_the_same_sums():
    X, y = np.random.default_rng(5).normal(size=(40, 3)), np.arange(40) % 3
    assert GaussianDiscriminant().partial_fit(X, y).tally_ == LeastSquaresClassifier().partial_fit(X, y).tally_
