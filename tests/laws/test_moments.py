"""Scatter adds and is taken away to the last bit, and is that of the rows about their means."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.errors import ForgetError, InputError, MergeError
from ingenuo.families.covariance import EACH, POOLED
from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier
from ingenuo.tally.exact import Exact
from ingenuo.tally.moments import Moments

ordinary = settings(deadline=None, max_examples=60)

value = st.one_of(
    st.integers(-5, 5).map(float),
    st.floats(-100, 100),
    st.floats(-1, 1).map(lambda x: 1e9 + x),
    st.sampled_from([0.0, -0.0, 0.1, 1e-30, 1e12, -1e12, 1e100, 5e-324]),
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


def about_means(X, y, w, label):
    """Σ w (x - mean)(x - mean)ᵀ of a class, in fractions."""
    rows = [[Fraction(float(x)) for x in row] for row in X[y == label]]
    own = [Fraction(float(each)) for each in w[y == label]]
    means = [sum(each * row[j] for each, row in zip(own, rows)) / sum(own) for j in range(3)]
    return np.array(
        [
            [sum(w * (row[i] - means[i]) * (row[j] - means[j]) for w, row in zip(own, rows)) for j in range(3)]
            for i in range(3)
        ],
        object,
    )


@ordinary
@given(parts(), kinds, st.booleans())
def test_the_scatter_is_that_of_the_rows_about_their_class_means_rounded_once(drawn, covariance, weighted):
    X, y, w = drawn[0]
    w = w if weighted else np.ones(len(X))
    found = table(learned(drawn[0], covariance, weighted), covariance)
    wanted = np.array([about_means(X, y, w, label) for label in found.classes.tolist()])
    wanted = wanted.sum(axis=0) if found.pooled else wanted
    # Rounded once, from a value that is known to 60 bits: the nearest double or, a hair from the middle, the next.
    nearest = wanted.astype(float)
    assert (np.abs(found.scatter() - nearest) <= np.spacing(np.abs(nearest))).all()
    assert ((found.scatter() == 0) == (nearest == 0)).all()


@ordinary
@given(parts(), kinds, st.booleans())
def test_adding_two_parts_is_learning_all(drawn, covariance, weighted):
    one, two = (learned(part, covariance, weighted) for part in drawn)
    whole = learned(both(*drawn), covariance, weighted)
    assert one + two == two + one == whole
    turned = learned(tuple(each[::-1] for each in both(*drawn)), covariance, weighted)
    assert turned == whole


@ordinary
@given(parts(), kinds, st.booleans())
def test_forgetting_equals_never_having_seen(drawn, covariance, weighted):
    kept, forgotten = (learned(part, covariance, weighted) for part in drawn)
    assert (kept + forgotten) - forgotten == kept


@ordinary
@given(parts(), kinds)
def test_a_whole_weight_is_as_many_rows(drawn, covariance):
    X, y, _ = drawn[0]
    times = np.arange(len(X)) % 4
    repeated = np.repeat(X, times, axis=0), np.repeat(y, times), None
    if times.any():
        weighted = learned((X, y, times.astype(float)), covariance, True)
        assert table(weighted, covariance) == table(learned(repeated, covariance, False), covariance)


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
    assert tally + tally == tally.scale(2)
    assert len(tally.scale(0)) == 0


def test_a_class_that_is_forgotten_disappears():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.repeat(["a", "b", "c"], 20)
    for covariance in ("shared", "full"):
        model = GaussianDiscriminant(covariance).partial_fit(X, y).forget(X[20:40], y[20:40])
        assert model.classes_.tolist() == ["a", "c"]
        kept = GaussianDiscriminant(covariance).partial_fit(np.delete(X, slice(20, 40), 0), np.delete(y, slice(20, 40)))
        assert model.tally_ == kept.tally_
        np.testing.assert_array_equal(model.covariance_, kept.covariance_)


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_rows_learned_in_pieces_and_nearly_all_forgotten_are_the_rest_to_the_last_bit(covariance):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 20_000)
    X = rng.normal(size=(20_000, 8)) @ rng.normal(size=(8, 8)) + 1e6 + 100 * y[:, np.newaxis]
    X[::100, 3] = np.nan
    whole = GaussianDiscriminant(covariance).partial_fit(X, y)
    model = GaussianDiscriminant(covariance)
    for lo, hi in zip([0, 1, 700, 5000, 19_999], [1, 700, 5000, 19_999, 20_000]):
        model.partial_fit(X[lo:hi], y[lo:hi])
    assert model.tally_ == whole.tally_
    for lo in range(0, 19_000, 500):
        model.forget(X[lo : lo + 500], y[lo : lo + 500])
    kept = GaussianDiscriminant(covariance).partial_fit(X[19_000:], y[19_000:])
    assert model.tally_ == kept.tally_
    np.testing.assert_array_equal(model.predict_proba(X[:500]), kept.predict_proba(X[:500]))


def test_an_offset_costs_no_digits():
    rng = np.random.default_rng(2)
    X, y = np.rint(rng.normal(size=(300, 3)) * 1024) / 1024, rng.integers(0, 2, 300)
    plain, far = (GaussianDiscriminant().partial_fit(X + offset, y) for offset in (0.0, 2.0**40))
    np.testing.assert_array_equal(far.covariance_, plain.covariance_)
    np.testing.assert_allclose(far.predict_proba(X + 2.0**40), plain.predict_proba(X), rtol=1e-10)


def test_forgetting_an_enormous_value_restores_every_bit():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    clean = GaussianDiscriminant().partial_fit(X, y)
    model = GaussianDiscriminant().partial_fit(X, y).partial_fit([[1e30, 0.0]], [0]).forget([[1e30, 0.0]], [0])
    assert model.tally_ == clean.tally_
    np.testing.assert_array_equal(model.coef_, clean.coef_)


def test_a_column_of_one_value_does_not_vary_whatever_the_weights():
    rng = np.random.default_rng(6)
    X, y, w = np.column_stack([np.full(90, 0.1), rng.normal(size=90)]), np.arange(90) % 3, rng.uniform(0.1, 3, 90)
    for covariance in ("shared", "full"):
        found = table(learned((X, y, w), covariance, True), covariance)
        assert not found.scatter()[..., 0].any()
        assert (found.means_from(np.array([0.1, 0.0]))[:, 0] == 0).all()


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
    for rest in (X[1:15] * 1.5, X[2:15]):  # one row would be left, or two: rows that those cannot be
        wrong = np.vstack([rest, np.zeros((14 - len(rest), 2))])
        with pytest.raises(ForgetError):
            model.forget(wrong + [[0.0, 9.0]], [0] * 14)
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
    given = Moments.of(["k"], ["b", "a"], Exact.of([3]), Exact.of([[1.0, 2.0]]), Exact.of([1.0, 2.0, 5.0]))
    turned = Moments.of(["k"], ["a", "b"], Exact.of([3]), Exact.of([[2.0, 1.0]]), Exact.of([5.0, 2.0, 1.0]))
    assert given == turned


def test_both_models_learn_the_same_sums():
    X, y = np.random.default_rng(5).normal(size=(40, 3)), np.arange(40) % 3
    assert GaussianDiscriminant().partial_fit(X, y).tally_ == LeastSquaresClassifier().partial_fit(X, y).tally_
