"""Regression by naive Bayes: bins, means, distributions, and the laws of adding and taking back."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv
from sklearn.datasets import load_diabetes
from tests.laws import harsh

import ingenuo as ing
from ingenuo.errors import EmptyModelError, ForgetError, InputError, KindError, MergeError, ModelFileError
from ingenuo.families.discretise import TargetBins, cut, log_complexity
from ingenuo.models.regressor import Distribution
from ingenuo.store import from_bytes, to_bytes

ordinary = settings(deadline=None, max_examples=30)

ROWS = [["flat", 40], ["flat", 55], ["flat", 70], ["house", 90], ["house", 120], ["house", 150]]
PRICES = [110, 140, 185, 240, 330, 390]


def homes(bins=3, **others):
    return ing.NaiveBayesRegressor(bins=bins, **others).fit(ROWS, PRICES)


def independent(n, seed=0):
    """Columns that are independent given the target: naive Bayes' own world."""
    rng = np.random.default_rng(seed)
    y = rng.normal(50, 10, n)
    return np.column_stack([y + rng.normal(0, 10, n), rng.normal(0, 5, n) - y, y / 10 + rng.normal(0, 2, n)]), y


# The answer, and how it comes about.


def test_the_answer_is_the_sum_of_probability_times_mean():
    model = homes()
    probability = model.classifier_.predict_proba(ROWS)
    np.testing.assert_allclose(model.predict(ROWS), probability @ [125, 212.5, 360], rtol=1e-14)


def test_the_explanation_shows_numbers_that_add_up_to_the_answer():
    model = homes()
    explained = model.explain({"x0": "flat", "x1": 60})
    found = explained.to_dict()
    total = sum(found["posterior"][name] * found["means"][name] for name in found["means"])
    assert total == pytest.approx(model.predict([["flat", 60]])[0], rel=1e-12)
    assert found["prediction"] == explained.prediction == pytest.approx(total, rel=1e-12)
    assert list(found["means"].items()) == [("[110, 185)", 125), ("[185, 330)", 212.5), ("[330, 390]", 360)]
    text = str(explained)
    assert f"→ {total:.6g}, the expected value" in text
    assert "[110, 185)" in explained._repr_html_()


def test_of_many_bins_the_explanation_shows_the_most_probable_and_the_rest_together():
    X, y = independent(500)
    explained = ing.NaiveBayesRegressor(bins=20).fit(X, y).explain(X[0])
    assert "14 other bins" in str(explained)
    assert "14 other bins" in explained._repr_html_()
    shown = [
        float(line.rsplit("= ", 1)[1]) for line in str(explained).split("P × mean")[1].splitlines() if "= " in line
    ]
    assert sum(shown[:-1]) == pytest.approx(shown[-1], rel=1e-4)


def test_the_deviation_is_that_of_the_targets_where_the_columns_say_nothing():
    y = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 99.0])
    model = ing.NaiveBayesRegressor(bins=3).fit(np.ones((6, 1)), y)
    mean, deviation = model.predict(np.ones((1, 1)), return_std=True)
    assert mean[0] == pytest.approx(y.mean(), rel=1e-14)
    assert deviation[0] == pytest.approx(y.std(), rel=1e-14)


def test_the_density_integrates_to_one_and_has_the_mean_that_is_predicted():
    X, y = independent(400)
    found = ing.NaiveBayesRegressor(bins=7).fit(X, y).predict_distribution(X[:5])
    total, mean = np.zeros(5), np.zeros(5)
    for low, high in itertools.pairwise(found.edges):
        nodes, weights = np.polynomial.legendre.leggauss(40)
        points = (low + high) / 2 + (high - low) / 2 * nodes
        density = found.density(points) * weights * (high - low) / 2
        total, mean = total + density.sum(axis=1), mean + density @ points
    np.testing.assert_allclose(total, 1, rtol=1e-9)
    np.testing.assert_allclose(mean, found.mean(), rtol=1e-9)
    assert (found.density([found.edges[0] - 1, found.edges[-1] + 1]) == 0).all()


def test_quantiles_are_where_the_integral_of_the_density_reaches_them():
    X, y = independent(400)
    found = ing.NaiveBayesRegressor(bins=5).fit(X, y).predict_distribution(X[:3])
    for row, quantiles in enumerate(found.quantiles([0.1, 0.5, 0.9])):
        points = np.linspace(found.edges[0], found.edges[-1], 400_001)
        below = np.cumsum(found[row].density(points)[0]) * (points[1] - points[0])
        np.testing.assert_allclose(np.interp(quantiles, points, below), [0.1, 0.5, 0.9], atol=1e-4)


def test_quantiles_begin_and_end_with_the_bins_that_are_possible():
    one = Distribution(np.array([[0, 0.5, 0.5, 0]]), np.arange(5.0), np.arange(4) + 0.5, np.full(4, 0.3))
    np.testing.assert_allclose(one.quantiles([0, 0.25, 0.5, 0.75, 1]), [[1, 1.5, 2, 2.5, 3]], atol=1e-9)
    np.testing.assert_allclose(one.interval(0.5), [[1.5, 2.5]], atol=1e-9)


@ordinary
@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30), st.integers(1, 8))
def test_quantiles_ascend_and_stay_between_the_edges(targets, bins):
    model = ing.NaiveBayesRegressor(bins=bins).fit(np.arange(len(targets))[:, np.newaxis], targets)
    found = model.predict_quantiles(np.arange(len(targets))[:, np.newaxis], np.linspace(0, 1, 23))
    assert (np.diff(found, axis=1) >= 0).all()
    assert found.min() >= min(targets)
    assert found.max() <= max(targets)


def test_targets_of_few_values_have_quantiles_among_them():
    visits = np.arange(40) % 4
    found = ing.NaiveBayesRegressor().fit(visits[:, np.newaxis] * 2.0 + np.arange(40)[:, np.newaxis] % 3, visits)
    assert set(found.predict_quantiles(np.arange(9.0)[:, np.newaxis]).ravel()) <= {0.0, 1.0, 2.0, 3.0}


# Intervals: conformal, from the rows left out.


def grades(n=3000, seed=0):
    """Six grades, most of them in the middle, and measurements that say the same thing several times."""
    rng = np.random.default_rng(seed)
    y, z = rng.choice(np.arange(3.0, 9.0), n, p=[0.01, 0.03, 0.43, 0.4, 0.12, 0.01]), rng.normal(size=n)
    own = [0.6 * y + 0.5 * z, z, z - 0.4 * y, np.exp(z / 2), 9 + y / 2, 10 + y / 2 - z]
    return np.column_stack([each + rng.normal(0, 0.8, n) for each in own]), y


def repeated(n=3000, seed=0):
    """One measurement eight times over: naive Bayes takes it for eight."""
    rng = np.random.default_rng(seed)
    y = rng.gamma(2, 10, n)
    return (y + rng.normal(0, 8, n))[:, np.newaxis] + rng.normal(0, 1, (n, 8)), y


def held(make, coverage=0.9, folds=5, **settings):
    """The share of targets within the intervals of models that have not learned them."""
    X, y = make
    fold, within = np.random.default_rng(1).permutation(len(y)) % folds, np.zeros(len(y), bool)
    for test in (fold == k for k in range(folds)):
        low, high = ing.NaiveBayesRegressor(**settings).fit(X[~test], y[~test]).predict_interval(X[test], coverage).T
        within[test] = (low <= y[test]) & (y[test] <= high)
    return within.mean()


@pytest.mark.parametrize("binning", ["equal-frequency", "equal-width"])
@pytest.mark.parametrize(
    "make",
    [load_diabetes(return_X_y=True), grades(), independent(3000), repeated()],
    ids=["diabetes", "grades", "own", "twins"],
)
def test_intervals_hold_nine_targets_of_ten(make, binning):
    assert 0.88 <= held(make, binning=binning) <= 0.92


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_intervals_hold_any_share(coverage):
    assert held(repeated(), coverage) == pytest.approx(coverage, abs=0.025)


def test_the_distribution_alone_would_hold_too_few():
    X, y = repeated()
    model = ing.NaiveBayesRegressor().fit(X[:1500], y[:1500])
    low, high = model.predict_distribution(X[1500:]).interval(0.9).T
    assert ((low <= y[1500:]) & (y[1500:] <= high)).mean() < 0.7


def test_the_margins_are_those_of_models_refitted_without_each_row():
    X, y = independent(40)
    model = ing.NaiveBayesRegressor(bins=[20, 45, 55, 80]).fit(X, y)
    wanted = []
    for row in range(40):
        rest = copy.deepcopy(model).forget(X[[row]], y[[row]])
        mean, deviation = rest.predict(X[[row]], return_std=True)
        wanted.append((y[row] - mean[0], deviation[0]))
    residuals, deviations, counts = model.margins_.rows.T
    assert counts.sum() == 40
    found = np.repeat(residuals, counts.astype(int))
    np.testing.assert_allclose(np.sort(found), np.sort([each for each, _ in wanted]), rtol=1 / 32, atol=1e-9)
    np.testing.assert_allclose(
        np.sort(np.repeat(deviations, counts.astype(int))), np.sort([d for _, d in wanted]), rtol=1 / 8
    )


def test_what_comes_later_leaves_the_margins_and_forgetting_brings_the_interval_back():
    X, y = independent(300)
    model = ing.NaiveBayesRegressor(bins=6).partial_fit(X[:200], y[:200])
    before, margins = model.predict_interval(X), model.margins_.rows
    model.partial_fit(X[200:], y[200:])
    assert model.margins_.rows is margins
    assert model.forget(X[200:], y[200:]).predict_interval(X).tobytes() == before.tobytes()


def test_merged_models_have_the_margins_of_both_in_either_order():
    (X, y), edges = independent(300), [0, 40, 60, 100]
    one, two = (ing.NaiveBayesRegressor(edges).fit(X[k::2], y[k::2]) for k in (0, 1))
    both = one + two
    assert both.margins_.rows[:, 2].sum() == 300
    assert both.predict_interval(X).tobytes() == (two + one).predict_interval(X).tobytes()
    assert one.margins_.rows[:, 2].sum() == 150


def test_margins_are_the_same_through_files_and_weights_are_repetitions(tmp_path):
    X, y = independent(200)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    csv.write_csv(table, tmp_path / "rows.csv")
    here = ing.NaiveBayesRegressor().fit(table, "y")
    there = ing.NaiveBayesRegressor().fit(ing.scan(tmp_path / "rows.csv", block_size=1000), "y")
    np.testing.assert_array_equal(here.margins_.rows, there.margins_.rows)
    np.testing.assert_array_equal(from_bytes(to_bytes(here)).predict_interval(table), here.predict_interval(table))
    weights = np.arange(200) % 3.0
    weighted = ing.NaiveBayesRegressor().fit(X, y, weights)
    assert weighted.margins_.rows[:, 2].sum() == weights.sum()
    kept = weights > 0
    np.testing.assert_array_equal(
        weighted.margins_.rows, ing.NaiveBayesRegressor().fit(X[kept], y[kept], weights[kept]).margins_.rows
    )


@pytest.mark.parametrize("power", [-900, -300, 300, 900])
def test_intervals_do_not_depend_on_the_unit_of_the_target(power):
    X, y = independent(200)
    one, other = (ing.NaiveBayesRegressor(bins=8).fit(X, y * unit) for unit in (1.0, 2.0**power))
    np.testing.assert_allclose(other.predict_interval(X) * 2.0**-power, one.predict_interval(X), rtol=1e-9)


def test_a_file_with_margins_of_something_else_is_no_model():
    X, y = independent(60)
    manifest, tensors = ing.NaiveBayesRegressor(3).fit(X, y).state()
    for bad in (np.zeros(3), np.full((2, 3), np.nan), np.array([[1.0, -1, 1]]), np.array([[1.0, 1, 0]])):
        with pytest.raises(InputError, match="margins"):
            ing.NaiveBayesRegressor.from_state(manifest, tensors | {"besides/residuals": bad})


# How the target is cut.


@ordinary
@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(1, 9), st.sampled_from([1, 2]))
def test_parts_of_equal_frequency_are_as_equal_as_ties_allow(targets, bins, scale):
    found = cut(np.array(targets, float) * scale, None, bins, "equal-frequency")
    assert len(found) <= bins
    assert set(found.edges[:-1]) <= set(np.array(targets) * scale)
    sizes = np.bincount(found.codes(np.array(targets, float) * scale), minlength=len(found))
    assert sizes.min() > 0
    most = np.bincount(targets).max()
    if len(found) == bins:
        assert sizes.max() <= len(targets) / bins + most
    else:
        assert len(set(targets)) <= bins or most > len(targets) / bins / 2


def test_parts_of_equal_frequency_are_equal_without_ties():
    y = np.random.default_rng(0).permutation(1000).astype(float)
    assert np.bincount(cut(y, None, 8, "equal-frequency").codes(y)).tolist() == [125] * 8


@pytest.mark.parametrize("binning", ["equal-frequency", "equal-width", "mdl"])
@ordinary
@given(st.lists(harsh.finite, min_size=1, max_size=40), st.integers(1, 8), st.data())
def test_bins_do_not_depend_on_order_and_weights_are_repetitions(binning, targets, bins, data):
    y = np.array(targets)
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))), float)
    weights[0] = 1
    order = data.draw(st.permutations(range(len(y))))
    one = cut(y, weights, bins, binning)
    assert one.edges.tolist() == cut(y[order], weights[order], bins, binning).edges.tolist()
    repeated = np.repeat(y, weights.astype(int))
    assert one.edges.tolist() == cut(repeated, None, bins, binning).edges.tolist()
    assert (one.edges[1:-1] > one.edges[:-2]).all()
    assert one.edges[0] == repeated.min()
    assert one.edges[-1] == repeated.max()
    assert TargetBins.of_labels(one.labels).edges.tolist() == one.edges.tolist()
    assert len(set(one.names)) == len(one)


def test_as_few_targets_as_bins_have_a_bin_each():
    assert cut(np.array([3.0, 1.0, 7.0, 3.0]), None, 5, "equal-frequency").names == ["[1, 3)", "[3, 7)", "[7, 7]"]


def test_a_bin_of_equal_width_with_no_rows_has_probability_zero():
    model = ing.NaiveBayesRegressor(bins=4, binning="equal-width", class_prior=ing.Laplace())
    found = model.fit([[0], [1], [2], [3]], [0, 1, 2, 16]).predict_distribution([[0], [9]])
    assert found.edges.tolist() == [0, 4, 8, 12, 16]
    assert (found.probabilities[:, 1:3] == 0).all()
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)


def test_a_row_that_comes_later_brings_an_empty_bin_to_life():
    model = ing.NaiveBayesRegressor(bins=[0, 4, 8]).fit([[0], [1]], [1, 2])
    assert model.predict_distribution([[9]]).probabilities.tolist() == [[1, 0]]
    model.partial_fit([[9], [8]], [7, 6])
    assert model.predict([[9]])[0] == pytest.approx(6.5, abs=0.1)


def test_the_complexity_of_a_multinomial_is_the_sum_over_all_counts():
    def complexity(values, n):
        total = 0.0
        for counts in itertools.product(range(n + 1), repeat=values):
            if sum(counts) == n:
                ways = math.factorial(n) / math.prod(math.factorial(count) for count in counts)
                total += ways * math.prod((count / n) ** count for count in counts)
        return total

    for n in (1, 2, 5, 9):
        np.testing.assert_allclose(np.exp(log_complexity(4, n)), [complexity(k, n) for k in (1, 2, 3, 4)])


def test_the_shortest_description_is_the_shortest_of_all():
    """Every choice of cuts among the candidates, by brute force."""
    rng = np.random.default_rng(3)
    y = np.sort(np.concatenate([rng.uniform(0, 1, 35), rng.uniform(1, 6, 15)]))
    starts = [5 * i for i in range(1, 10)]  # cells of five rows

    def length(places):
        bounds = [y[0] - (y[1] - y[0]) / 2, *((y[p - 1] + y[p]) / 2 for p in places), y[-1] + (y[-1] - y[-2]) / 2]
        rows = np.diff([0, *places, len(y)])
        fit = -(rows * np.log(rows / len(y) / np.diff(bounds))).sum()
        return fit + log_complexity(len(places) + 1, len(y))[-1] + math.log(math.comb(9, len(places)))

    best = min((c for k in range(5) for c in itertools.combinations(starts, k)), key=length)
    assert cut(y, None, 5, "mdl").edges[1:-1].tolist() == y[list(best)].tolist()


def test_the_shortest_description_finds_where_the_density_changes():
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.uniform(0, 1, 3000), rng.uniform(1, 10, 1000)])
    found = cut(y, None, 50, "mdl").edges
    assert len(found) == 3
    assert found[1] == pytest.approx(1, abs=0.05)


def test_bins_are_at_most_as_many_as_allowed_by_mdl():
    y = np.random.default_rng(0).normal(size=5000)
    assert len(cut(y, None, 4, "mdl")) == 4
    assert len(cut(y, None, 100, "mdl")) > 8


def test_a_flat_target_is_said_to_have_one_bin_only():
    y = np.random.default_rng(0).uniform(size=500)
    with pytest.warns(UserWarning, match="is one bin, .* take binning='equal-frequency'"):
        model = ing.NaiveBayesRegressor(binning="mdl").fit(y[:, np.newaxis], y)
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), y.mean())


# The laws: everything learned is a sum.


@st.composite
def learned_rows(draw, least=1):
    rows = draw(harsh.rows(least=least, most=12, n_numbers=2))
    targets = [draw(harsh.finite) for _ in rows]
    X = np.empty((len(rows), 3), object)
    for i, (numbers, category, _, _) in enumerate(rows):
        X[i] = [*numbers, category]
    return X, np.array(targets), np.array([max(weight, 1e-3) for *_, weight in rows])


KINDS = {0: "number", 1: "number", 2: "category"}
EDGES = [-1e3, -1.0, 0.0, 0.5, 1e3]


def stream(X, y, weights=None):
    return ing.NaiveBayesRegressor(EDGES, columns=KINDS).partial_fit(X, y, sample_weight=weights)


def answers(model):
    rows = np.empty((4, 3), object)
    rows[:, 0], rows[:, 1], rows[:, 2] = [0.0, 1.0, -1e30, math.nan], [1e12, 0.1, math.nan, 2.0], ["x", "y", None, "?"]
    found = model.predict_distribution(rows)
    return [part.tobytes() for part in (found.probabilities, found.edges, found.means, found.deviations)]


@ordinary
@given(learned_rows(), learned_rows(), st.booleans())
def test_batches_merging_and_the_whole_are_one(a, b, weighted):
    w = (a[2], b[2]) if weighted else (None, None)
    together = None if not weighted else np.concatenate(w)
    whole = stream(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]]), together)
    batches = stream(*a[:2], w[0]).partial_fit(*b[:2], sample_weight=w[1])
    one, two = stream(*a[:2], w[0]), stream(*b[:2], w[1])
    before = answers(one)
    summed = one + two
    for model in (batches, summed, two + one):
        assert model.tally_ == whole.tally_
        assert answers(model) == answers(whole)
    assert answers(one) == before


@ordinary
@given(learned_rows(), learned_rows(), st.booleans())
def test_forgetting_equals_never_having_seen(kept, gone, weighted):
    w = (kept[2], gone[2]) if weighted else (None, None)
    model = stream(*kept[:2], w[0])
    never = copy.copy(model)
    model.partial_fit(*gone[:2], sample_weight=w[1]).forget(*gone[:2], sample_weight=w[1])
    assert model.tally_ == never.tally_
    assert answers(model) == answers(never)


def test_forgetting_keeps_the_bins_of_the_first_rows():
    X, y = independent(300)
    model = ing.NaiveBayesRegressor(bins=6).fit(X, y)
    model.forget(X[:200], y[:200])
    alone = ing.NaiveBayesRegressor(bins=model.edges_).fit(X[200:], y[200:])
    assert model.tally_ == alone.tally_
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))


def test_the_target_sums_are_the_rational_ones():
    y = np.array([0.1, 0.2, 1e30, -1e-30, 0.3, 1e30])
    tally = ing.NaiveBayesRegressor([-1, 1, 2]).fit(np.arange(6)[:, np.newaxis], y).tally_
    fractions = [Fraction(v) for v in y]
    low, high = [f for f in fractions if f < 1], [f for f in fractions if f >= 1]
    assert tally["target:sum"].sums.fractions()[:, 0].tolist() == [sum(low), sum(high)]
    assert tally["target:square"].sums.fractions()[:, 0].tolist() == [sum(f * f for f in p) for p in (low, high)]


def test_rows_that_were_never_learned_cannot_be_forgotten_and_change_nothing():
    model = homes()
    before = model.tally_
    for rows, targets in ((ROWS[:1], [390]), (ROWS[:1], [150]), (ROWS * 2, PRICES * 2)):
        with pytest.raises(ForgetError):
            model.forget(rows, targets)
    assert model.tally_ is before


@pytest.mark.parametrize(
    ("rows", "targets", "message"),
    [
        (
            [["flat", 55]],
            [1e6],
            "cannot forget rows with targets in [330, 390]: such rows were never learned, or not so",
        ),
        (ROWS[:2] * 2, PRICES[:2] * 2, "cannot forget rows with targets in [110, 185): such rows were never"),
        ([["house", 40]], [110], "cannot forget rows with targets in [110, 185): such rows were never learned"),
        ([["flat", 99]], [110], "cannot forget rows with targets in [110, 185): such rows were never learned"),
    ],
)
def test_what_was_never_learned_is_told_in_a_regressors_words(rows, targets, message):
    with pytest.raises(ForgetError) as told:
        homes().forget(rows, targets)
    assert str(told.value).startswith(message)
    assert not any(word in str(told.value) for word in ("class", "'", "square"))


def test_a_model_that_forgot_all_says_so_and_can_learn_again():
    model = homes().forget(ROWS, PRICES)
    with pytest.raises(EmptyModelError, match="forgotten every row"):
        model.predict(ROWS)
    np.testing.assert_array_equal(model.partial_fit(ROWS, PRICES).predict(ROWS), homes().predict(ROWS))


def test_later_targets_beyond_the_ends_fall_into_the_outer_bins_and_are_possible():
    X, y = independent(300)
    model = ing.NaiveBayesRegressor(bins=5).fit(X, y)
    ends = model.predict_distribution(X[:1]).edges[[0, -1]]
    model.partial_fit(X[:2], [y.max() + 1000, y.min() - 500])
    moved = model.predict_distribution(X[:1]).edges
    assert moved[0] < ends[0]
    assert moved[-1] > ends[1]
    assert model.edges_[[0, -1]].tolist() == ends.tolist()
    model.forget(X[:2], [y.max() + 1000, y.min() - 500])
    assert model.predict_distribution(X[:1]).edges[[0, -1]].tolist() == ends.tolist()


def test_outer_bins_end_as_near_as_their_mean_and_variance_allow():
    model = ing.NaiveBayesRegressor([10, 20, 30]).fit([[1]] * 5, [0, 12, 24, 28, 50])
    found = model.predict_distribution([[1]])
    high = np.array([24, 28, 50])
    ends = [6 - 36 / (20 - 6), high.mean() + high.var() / (high.mean() - 20)]
    np.testing.assert_allclose(found.edges, [ends[0], 20, ends[1]])
    np.testing.assert_allclose(found.quantiles([0, 1]), [ends])
    assert repr(found) == f"<Distribution of 1 row over 2 bins from {ends[0]:g} to {ends[1]:g}>"
    assert model.edges_.tolist() == [10, 20, 30]


def test_one_bin_takes_all_that_comes():
    model = ing.NaiveBayesRegressor([0, 1]).partial_fit([[1], [2]], [0.2, 0.8]).partial_fit([[3], [4]], [-50, 70])
    found = model.predict_distribution([[1]])
    assert found.mean()[0] == pytest.approx(5.25)
    assert found.edges[0] < -30
    assert found.edges[1] > 40


# Files, copies, parameters.


def test_a_saved_model_goes_on_learning_where_it_stopped():
    X, y = independent(200)
    model = ing.NaiveBayesRegressor(bins=6).fit(X[:100], y[:100])
    for again in (from_bytes(to_bytes(model)), pickle.loads(pickle.dumps(model))):
        assert again.tally_ == model.tally_
        np.testing.assert_array_equal(again.predict_quantiles(X), model.predict_quantiles(X))
        again.partial_fit(X[100:], y[100:])
        wanted = copy.copy(model).partial_fit(X[100:], y[100:])
        np.testing.assert_array_equal(again.predict(X), wanted.predict(X))


def test_a_saved_model_keeps_names_target_empty_bins_and_words():
    frame = pd.DataFrame({"review": ["a fine film", "fine", "dull", "a dull, dull film"], "stars": [5, 4, 1, 2]})
    model = ing.NaiveBayesRegressor(bins=[1, 2, 3, 5], columns={"review": "text"}).fit(frame, "stars")
    again = from_bytes(to_bytes(model))
    assert again.edges_.tolist() == [1, 2, 3, 5]
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert again.feature_names_in_.tolist() == ["review"]


def test_a_model_file_with_bins_apart_is_no_model():
    model = homes()
    model._declared_classes = model._declared_classes[[0, 2]]
    with pytest.raises(ModelFileError, match="bins of the target are not in a row"):
        from_bytes(to_bytes(model))


def test_a_prior_that_is_changed_is_used_at_once():
    model = homes()
    before = model.predict([["flat", 90]])
    model.set_params(prior=ing.Laplace(variance_floor=1.0))
    assert model.predict([["flat", 90]]) != before
    assert model.predict([["flat", 90]]) == homes(prior=ing.Laplace(variance_floor=1.0)).predict([["flat", 90]])


def test_a_bins_prior_can_be_given_by_its_ends():
    shares = {(110.0, 185.0): 0.0, (185.0, 330.0): 0.0, (330.0, 390.0): 1.0}
    assert homes(class_prior=shares).predict([["flat", 40]]).tolist() == [360]


def test_copies_do_not_learn_from_each_other():
    model = homes()
    before = model.predict(ROWS)
    copy.copy(model).partial_fit(ROWS, PRICES[::-1])
    np.testing.assert_array_equal(model.predict(ROWS), before)


# All kinds of input.


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"])
def test_tables_of_every_kind_give_one_answer(make):
    frame = pd.DataFrame({"kind": [k for k, _ in ROWS], "size": [float(s) for _, s in ROWS], "price": PRICES})
    frame.loc[1, "size"] = None
    frame.loc[2, "kind"] = None
    table = make(frame)
    model = ing.NaiveBayesRegressor(bins=3).fit(table, "price")
    plain = ing.NaiveBayesRegressor(bins=3).fit(frame[["kind", "size"]], PRICES)
    assert model.tally_ == plain.tally_
    np.testing.assert_array_equal(model.predict(table), plain.predict(frame[["kind", "size"]]))
    assert model.score(table, "price") == plain.score(frame[["kind", "size"]], PRICES)
    explained = model.explain({"kind": "house"})
    assert [factor.note for factor in explained.bins.factors] == ["", "left out"]


def test_texts_are_rated():
    reviews = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull"]
    model = ing.NaiveBayesRegressor(bins=2).fit(reviews, [5, 4, 2, 1])
    good, bad = model.predict(["such a fine cast", "dull"])
    assert good > 4
    assert bad < 2
    assert "fine" in str(model.explain("such a fine cast"))


@pytest.mark.parametrize(
    "targets",
    [
        pd.Series(PRICES, dtype="Int64"),
        pl.Series(PRICES),
        pa.chunked_array([PRICES]),
        np.array(PRICES, object),
        [Fraction(p) for p in PRICES],
        tuple(PRICES),
        np.array(PRICES, np.uint16),
    ],
    ids=lambda t: type(t).__name__,
)
def test_targets_of_every_kind_are_the_same(targets):
    assert ing.NaiveBayesRegressor(3).fit(ROWS, targets).tally_ == homes().tally_


def test_a_constant_target_and_a_single_row_are_predicted():
    for n in (1, 6):
        model = ing.NaiveBayesRegressor().fit(ROWS[:n], [7.5] * n)
        assert model.predict(ROWS).tolist() == [7.5] * 6
        assert model.predict(ROWS, return_std=True)[1].tolist() == [0] * 6
        assert model.predict_quantiles(ROWS).tolist() == [[7.5] * 3] * 6
        assert model.predict_interval(ROWS).tolist() == [[7.5] * 2] * 6


@pytest.mark.parametrize("binning", ["equal-frequency", "equal-width", "mdl"])
@pytest.mark.parametrize("size", [1.7e308, 1e200, 1e-200, 5e-324])
def test_targets_of_any_size_are_answered_within_their_range(binning, size):
    targets = np.array([-1, -0.5, 0, 0.2, 0.5, 1] * 8) * size
    rows = np.arange(48.0)[:, np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ing.NaiveBayesRegressor(4, binning).fit(rows, targets)
    mean, deviation = model.predict(rows, return_std=True)
    assert np.isfinite(deviation).all()
    for answer in (mean, model.predict_quantiles(rows), model.predict_interval(rows)):
        assert (np.abs(answer) <= size).all()


# Pictures.


def test_the_picture_names_the_mean_the_interval_and_the_unit():
    X, y = independent(300)
    found = ing.NaiveBayesRegressor().fit(X, y).predict_distribution(X[:2])
    drawn = found.plot(1, unit="weight in kg")
    labels = [text.get_text() for text in drawn.get_legend().get_texts()]
    low, high = found.interval()[1]
    assert labels == [f"mean {found.mean()[1]:.4g}", f"90% from {low:.4g} to {high:.4g}"]
    assert drawn.get_xlabel() == "weight in kg"
    assert found.plot(0, ax=drawn) is drawn


def test_the_picture_of_single_values_shows_probabilities():
    drawn = homes(bins=20).predict_distribution(ROWS[:1]).plot()
    assert drawn.get_ylabel() == "probability"
    mixed = ing.NaiveBayesRegressor(2).fit([[1]] * 5, [0, 0, 0, 5, 9]).predict_distribution([[1]]).plot()
    assert "single values: 60.0%" in [text.get_text() for text in mixed.get_legend().get_texts()]


def test_a_notebook_shows_bins_and_columns():
    page = homes()._repr_html_()
    assert "Learned from 6 rows" in page
    assert "(110.0, 185.0)" in page


# Bad input: one sentence, and nothing changes.


def _fit(y=PRICES, X=ROWS, **parameters):
    return lambda: ing.NaiveBayesRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (_fit([1, 2, math.nan, 4, 5, 6]), InputError, "Input y contains NaN: row 2 has no target"),
        (_fit([1, 2, None, 4, 5, 6]), InputError, "Input y contains NaN: row 2 has no target"),
        (_fit(pd.array([1, 2, None, 4, 5, 6], dtype="Int64")), InputError, "row 2 has no target"),
        (_fit([1, 2, math.inf, 4, 5, 6]), InputError, "the target of row 2 is inf; give finite targets"),
        (_fit(["1", "2", "3", "4", "5", "6"]), KindError, "row 0 is str '1', which is no number; convert y"),
        (_fit([1, 2, 3, 4, 5, "x"]), KindError, "row 5 is str 'x'"),
        (_fit(np.array([1] * 6, "M8[D]")), KindError, "row 0 is date"),
        (_fit("price"), KindError, "got the string 'price'; a column name needs a table"),
        (_fit(None), InputError, "requires y to be passed"),
        (_fit([]), InputError, "y is empty"),
        (_fit(PRICES[:4]), InputError, "X has 6 rows and y has 4 targets; give one target for each row"),
        (lambda: homes().predict([["flat"]]), InputError, "X has 1 features, but NaiveBayesRegressor is expecting 2"),
        (lambda: homes().forget([["flat"]], [110]), InputError, "but NaiveBayesRegressor is expecting 2"),
        (lambda: homes().predict_distribution(ROWS[:2]).plot(2), InputError, "row is 2; it must be below 2"),
        (lambda: homes().predict_distribution(ROWS[:1]).plot(-2), InputError, "row is -2; it must be at least -1"),
        (lambda: homes().predict_distribution(ROWS).plot("first"), KindError, "a whole number, got str 'first'"),
        (_fit(np.ones((6, 2))), InputError, "y should be a 1d array"),
        (_fit(X=pd.DataFrame({"size": [1], "price": [2]}), y="prize"), InputError, "did you mean 'price'"),
        (_fit(bins=0), InputError, "bins is 0; it must be at least 1"),
        (_fit(bins=2.5), KindError, "bins must be a whole number, or the edges of the bins, got float 2.5"),
        (_fit(bins=True), KindError, "got bool True"),
        (_fit(bins="many"), KindError, "got str 'many'"),
        (_fit(bins=[1]), InputError, "two numbers at least"),
        (_fit(bins=[1, 3, 2]), InputError, "must be finite and ascend, got 2 after 3"),
        (_fit(bins=[math.nan, 2]), InputError, "got nan first"),
        (_fit(bins=["a", "b"]), KindError, "numbers as the edges"),
        (_fit(binning="equal-with"), InputError, "did you mean 'equal-width'"),
        (_fit(binning=3), KindError, "binning must be one of equal-frequency, equal-width, mdl"),
        (_fit(prior=["laplace"]), KindError, "prior must be a Prior"),
        (_fit(prior="laplce"), InputError, "did you mean 'laplace'"),
        (
            lambda: homes().predict_quantiles(ROWS, [0.5, 1.5]),
            InputError,
            "quantiles is 1.5; it must be at least 0 and at most 1",
        ),
        (lambda: homes().predict_quantiles(ROWS, 0.5), InputError, "must be a list"),
        (lambda: homes().predict_quantiles(ROWS, ["a"]), KindError, "must be numbers"),
        (
            lambda: homes().predict_interval(ROWS, math.nan),
            InputError,
            "coverage is nan; it must be at least 0 and at most 1",
        ),
        (lambda: ing.NaiveBayesRegressor().partial_fit(ROWS[:1], [5]), InputError, "give the edges: bins="),
        (lambda: homes().merge(homes(2)), MergeError, r"3 bins, \[110, 185\) to \[330, 390\] in one model and into 2"),
        (lambda: homes().merge(ing.NaiveBayes().fit(ROWS, PRICES)), MergeError, "not with NaiveBayes"),
        (lambda: homes().set_params(bins=4).partial_fit(ROWS, PRICES), InputError, "bins was changed"),
        (
            lambda: homes().set_params(columns={1: "category"}).partial_fit(ROWS, PRICES),
            InputError,
            "was changed after",
        ),
    ],
)
def test_bad_input_is_told_in_one_sentence(act, error, message):
    with pytest.raises(error, match=message) as told:
        act()
    assert "\n" not in str(told.value)


def test_bad_input_changes_nothing():
    model = homes()
    before, tally = model.predict(ROWS), model.tally_
    for learn in (model.fit, model.partial_fit, model.forget):
        for X, y in ((ROWS, [math.nan] * 6), ([["flat", math.inf]] * 6, PRICES), (ROWS, PRICES[:2])):
            with pytest.raises(InputError):
                learn(X, y)
            assert model.tally_ is tally
            np.testing.assert_array_equal(model.predict(ROWS), before)
