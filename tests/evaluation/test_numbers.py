"""Regressors, judged: R², errors beside those of the mean, and what the intervals hold."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict

import ingenuo as ing
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.numbers import NumbersEvaluation

X, Y = load_diabetes(return_X_y=True)
MODEL = ing.NaiveBayesRegressor(bins=10).fit(X[:300], Y[:300])


def test_the_measures_are_scikit_learns():
    found = ing.evaluate(MODEL, X[300:], Y[300:])
    truth, answers = Y[300:], MODEL.predict(X[300:])
    mean = np.full(len(truth), truth.mean())
    for name, wanted in {
        "r2": r2_score(truth, answers),
        "mean_absolute_error": mean_absolute_error(truth, answers),
        "root_mean_squared_error": root_mean_squared_error(truth, answers),
        "always_the_mean_absolute": mean_absolute_error(truth, mean),
        "always_the_mean": root_mean_squared_error(truth, mean),
    }.items():
        assert found[name].value == pytest.approx(wanted, rel=1e-12)
        assert found[name].low < found[name].value < found[name].high
    low, high = MODEL.predict_interval(X[300:], 0.9).T
    assert found["within_interval"].value == pytest.approx(((low <= truth) & (truth <= high)).mean())
    assert found["interval_width"].value == pytest.approx((high - low).mean())
    assert "R²" in str(found)
    assert "<table" in found._repr_html_()


def test_weights_are_repetitions():
    weights = np.arange(len(Y[300:])) % 3
    weighted = ing.evaluate(MODEL, X[300:], Y[300:], sample_weight=weights)
    repeated = ing.evaluate(MODEL, np.repeat(X[300:], weights, axis=0), np.repeat(Y[300:], weights))
    assert weighted.n_rows == (weights > 0).sum()
    for name in repeated:
        assert weighted[name].value == pytest.approx(repeated[name].value, rel=1e-12)


def test_intervals_of_the_measures_hold_what_they_say():
    """Of many draws of 200 rows, 95 % of the intervals hold what all rows measure."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=100_000)
    answers = truth + rng.normal(0, 0.7, len(truth))
    whole = ing.evaluate(Given(answers), np.arange(len(truth))[:, np.newaxis], truth)
    held = dict.fromkeys(whole, 0)
    for _ in range(400):
        rows = rng.integers(0, len(truth), 200)
        found = whole.take(rows)
        for name in whole:
            held[name] += found[name].low <= whole[name].value <= found[name].high
    assert min(held.values()) > 0.91 * 400
    assert max(held.values()) < 0.99 * 400


class Given(RegressorMixin, BaseEstimator):
    """A regressor that answers with what it was given."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, X):
        return self.answers[X[:, 0].astype(int)]


def test_files_are_judged_as_tables_are(tmp_path):
    table = pa.table({**{f"x{k}": X[:, k] for k in range(10)}, "y": Y})
    csv.write_csv(table, tmp_path / "rows.csv")
    model = ing.NaiveBayesRegressor(5).fit(table, "y")
    here, there = (
        ing.evaluate(model, table, "y"),
        ing.evaluate(model, ing.scan(tmp_path / "rows.csv", block_size=9000), "y"),
    )
    assert [here[name].value for name in here] == [there[name].value for name in there]


def test_folds_answer_by_models_that_have_not_learned_the_rows():
    folds = KFold(5, shuffle=True, random_state=3)
    found = ing.cross_validate(ing.NaiveBayesRegressor(bins=10), X, Y, folds)
    wanted = cross_val_predict(ing.NaiveBayesRegressor(bins=10), X, Y, cv=folds)
    np.testing.assert_array_equal(found.predicted, wanted)
    assert found.evaluation["r2"].value == pytest.approx(r2_score(Y, wanted))
    assert 0.86 < found.evaluation["within_interval"].value < 0.94
    by_fold = [r2_score(Y[test], wanted[test]) for _, test in folds.split(X)]
    np.testing.assert_allclose(found.by_fold(), by_fold)
    assert not found.exact
    assert "by refitting for each fold" in str(found)


def test_a_regressor_without_intervals_is_judged_by_its_errors():
    found = ing.cross_validate(LinearRegression(), X, Y, 5)
    assert "within_interval" not in found.evaluation
    assert found.evaluation["r2"].value > 0.45
    assert "within_interval" not in ing.evaluate(LinearRegression().fit(X, Y), X, Y)


def test_rows_tested_twice_are_judged_by_the_mean_and_those_never_tested_are_not():
    folds = [(np.arange(50, 200), np.arange(50)), (np.arange(100, 300), np.arange(25, 100))]
    found = ing.cross_validate(ing.NaiveBayesRegressor(5), X, Y, folds)
    assert found.evaluation.n_rows == 100
    one, two = (ing.NaiveBayesRegressor(5).fit(X[train], Y[train]).predict(X[25:50]) for train, _ in folds)
    np.testing.assert_allclose(found.predicted[25:50], (one + two) / 2)


def test_a_target_that_does_not_vary_has_no_r2_and_one_row_no_intervals():
    model = ing.NaiveBayesRegressor(3).fit(X[:50], Y[:50])
    found = ing.evaluate(model, X[:5], [7.0] * 5)
    assert np.isnan(found["r2"].value)
    assert "all targets are the same" in found["r2"].reason
    one = ing.evaluate(model, X[:1], Y[:1])
    assert one["mean_absolute_error"].low is None


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: ing.evaluate(MODEL, X, Y, keep_rows=False), InputError, "row by row"),
        (lambda: ing.evaluate(MODEL, X, Y, classes=[1, 2]), InputError, "leave classes"),
        (lambda: ing.evaluate(MODEL, X, Y)["accuracy"], InputError, "not measured here"),
        (lambda: ing.evaluate(MODEL, X, ["a"] * len(Y)), KindError, "no number"),
        (lambda: ing.cross_validate(MODEL, X, Y[:10]), InputError, "X has 442 rows and y has 10"),
        (lambda: ing.evaluate(MODEL, X[:0], Y[:0]), InputError, "0 sample"),
    ],
)
def test_bad_input_is_one_sentence(act, error, message):
    with pytest.raises(error, match=message):
        act()


def test_what_several_folds_warn_of_is_one_warning():
    rows = np.random.default_rng(0).normal(size=(200, 30)) * 10.0 ** np.arange(-3, 3).repeat(5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ing.cross_validate(ing.SoftmaxRegression(max_iter=2), rows, rows[:, 0] + rows[:, 7] > 0, 10)
    own = [str(each.message) for each in caught if "iteration" in str(each.message)]
    assert len(own) == 1, own
    assert "of 10 folds; this is the first)" in own[0]


def test_times_are_those_that_passed():
    import time

    class Slow(LinearRegression):
        def fit(self, X, y):
            time.sleep(0.05)
            return super().fit(X, y)

    began = time.perf_counter()
    found = ing.cross_validate(Slow(), X, Y, 8)
    passed = time.perf_counter() - began
    assert found.fit_time > 0.04
    assert found.fit_time + found.predict_time <= passed


def test_large_numbers_print_without_powers_of_ten() -> None:
    truth = np.array([35000.0, 81000.5, 120000.0, 64000.0])
    text = str(NumbersEvaluation(truth, truth + 20000.25))
    assert "20000.250" in text
    assert "e+0" not in text
