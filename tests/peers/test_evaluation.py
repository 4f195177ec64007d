"""Evaluation beside scikit-learn's metrics, scipy's and statsmodels' intervals, and scikit-learn on resampled rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB

from ingenuo.evaluation.evaluation import evaluate
from ingenuo.evaluation.intervals import exact
from ingenuo.kernels import densities


def answers(load, seed=0, share=0.5):
    """Probabilities of naive Bayes for rows that it did not learn from, their labels, and the classes."""
    X, y = load(return_X_y=True)
    learned = np.random.default_rng(seed).random(len(y)) < share
    model = GaussianNB(var_smoothing=1e-2).fit(X[learned], y[learned])
    return model.predict_proba(X[~learned]), y[~learned], model.classes_


SETS = [load_iris, load_wine, load_digits, load_breast_cancer]


def weights_for(y, weighted):
    return np.random.default_rng(1).gamma(1.0, 1.0, len(y)) if weighted else None


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("load", SETS)
def test_every_number_is_scikit_learns(load, weighted):
    p, y, classes = answers(load)
    w = weights_for(y, weighted)
    found = evaluate(p, y=y, classes=classes, sample_weight=w)
    guess = classes[p.argmax(axis=1)]

    def same(name, value):
        assert found[name].value == pytest.approx(value, rel=1e-12, abs=1e-14), name

    same("accuracy", metrics.accuracy_score(y, guess, sample_weight=w))
    same("balanced_accuracy", metrics.balanced_accuracy_score(y, guess, sample_weight=w))
    same("mcc", metrics.matthews_corrcoef(y, guess, sample_weight=w))
    same("log_loss", metrics.log_loss(y, p, sample_weight=w, labels=classes))
    np.testing.assert_allclose(found.confusion, metrics.confusion_matrix(y, guess, sample_weight=w), rtol=1e-12)
    for mean in ("macro", "micro", "weighted"):
        expected = metrics.precision_recall_fscore_support(y, guess, average=mean, sample_weight=w, zero_division=0)
        for name, value in zip(("precision", "recall", "f1"), expected):
            same(f"{name}_{mean}", value)
    each = metrics.precision_recall_fscore_support(y, guess, sample_weight=w, zero_division=np.nan)
    for name, values in zip(("precision", "recall", "f1"), each):
        for label, value in zip(classes.tolist(), values):
            same((name, label), value)
    np.testing.assert_allclose(found.support, each[3], rtol=1e-12)
    if len(classes) == 2:
        same("brier", 2 * metrics.brier_score_loss(y, p[:, 1], sample_weight=w))
        same("roc_area", metrics.roc_auc_score(y, p[:, 1], sample_weight=w))
        same("pr_area", metrics.average_precision_score(y, p[:, 1], sample_weight=w))
        return
    truth = y[:, np.newaxis] == classes
    for mean in ("macro", "weighted"):
        same(f"roc_area_{mean}", metrics.roc_auc_score(truth, p, average=mean, sample_weight=w))
        same(f"pr_area_{mean}", metrics.average_precision_score(truth, p, average=mean, sample_weight=w))
    for k, label in enumerate(classes.tolist()):
        same(("roc_area", label), metrics.roc_auc_score(truth[:, k], p[:, k], sample_weight=w))
        same(("pr_area", label), metrics.average_precision_score(truth[:, k], p[:, k], sample_weight=w))
    same("brier", np.average(((p - truth) ** 2).sum(axis=1), weights=w))


@pytest.mark.parametrize(
    ("y", "guess"),
    [
        (["a", "a", "b", "c"], ["a", "b", "b", "b"]),  # c is never answered
        (["a", "a", "b", "b"], ["a", "c", "b", "b"]),  # c is true of no row
        (["a", "a", "a"], ["a", "a", "a"]),
        (["a", "a", "b"], ["a", "a", "a"]),
        (["a", "b"], ["b", "a"]),
    ],
)
def test_means_count_the_undefined_as_scikit_learn_does(y, guess):
    found = evaluate(guess, y=y)
    for mean in ("macro", "micro", "weighted"):
        expected = metrics.precision_recall_fscore_support(y, guess, average=mean, zero_division=0)
        for name, value in zip(("precision", "recall", "f1"), expected):
            assert found[f"{name}_{mean}"].value == pytest.approx(value, abs=1e-15)
    each = metrics.precision_recall_fscore_support(y, guess, zero_division=np.nan)
    for name, values in zip(("precision", "recall", "f1"), each):
        np.testing.assert_allclose([found[name, label].value for label in found.classes.tolist()], values)
    assert found["mcc"].value == pytest.approx(metrics.matthews_corrcoef(y, guess), abs=1e-15)


def test_an_impossible_row_costs_what_it_costs_in_scikit_learn():
    p, y = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), [0, 0, 1]
    assert evaluate(p, y=y)["log_loss"].value == pytest.approx(metrics.log_loss(y, p), rel=1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_the_exact_interval_is_scipys(confidence):
    for n in (1, 2, 7, 100, 12_345):
        for k in {0, 1, n // 3, n - 1, n}:
            peer = binomtest(k, n).proportion_ci(confidence, "exact")
            assert exact(k, n, confidence)[:2] == pytest.approx((peer.low, peer.high), rel=1e-9, abs=1e-12)


def test_the_exact_interval_is_that_of_statsmodels():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    assert exact(37, 50, 0.9)[:2] == pytest.approx(proportion.proportion_confint(37, 50, 0.1, "beta"), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_each_replicate_measures_what_scikit_learn_measures_on_its_rows(load, weighted):
    p, y, classes = answers(load)
    p = np.round(p, 2)  # with ties
    p /= p.sum(axis=1, keepdims=True)
    w = weights_for(y, weighted)
    found = evaluate(p, y=y, classes=classes, sample_weight=w)
    rows, n = found.rows, found.n_rows
    drawn = found._resampled
    # How often a row was drawn is the sum of a column that is 1 for it and 0 elsewhere.
    seed = int(np.random.default_rng([0, 2]).integers(0, 1 << 64, dtype=np.uint64))
    nothing = (np.zeros(0), np.zeros(0, np.int8), 0)
    times = densities.draw_replicates(
        20, seed, np.eye(n), *nothing, rows.codes, rows.predicted, len(classes), None, np.zeros((0, n)),
        np.zeros(0, np.int32),
    ).sums  # fmt: skip
    assert (times.sum(axis=1) == n).all()
    for r in range(20):
        v = times[r] if rows.weights is None else times[r] * rows.weights
        resampled = {"sample_weight": v}
        loss = metrics.log_loss(rows.codes, rows.probabilities, labels=range(len(classes)), **resampled)
        assert drawn.rows["log_loss"][r] == pytest.approx(loss, rel=1e-10)
        for s, k in enumerate([1] if len(classes) == 2 else range(len(classes))):
            truth, score = rows.codes == k, rows.probabilities[:, k]
            assert drawn.roc[r, s] == pytest.approx(metrics.roc_auc_score(truth, score, **resampled), rel=1e-10)
            assert drawn.pr[r, s] == pytest.approx(
                metrics.average_precision_score(truth, score, **resampled), rel=1e-10
            )
        matrix = metrics.confusion_matrix(rows.codes, rows.predicted, labels=range(len(classes)), **resampled)
        np.testing.assert_allclose(drawn.matrix.tp[r], np.diag(matrix), atol=1e-9)
        np.testing.assert_allclose(drawn.matrix.answered[r], matrix.sum(axis=0), atol=1e-9)
        again = evaluate(rows.probabilities, y=rows.codes, classes=range(len(classes)), sample_weight=v)
        assert drawn.rows["ece"][r] == pytest.approx(again["ece"].value, abs=1e-12)
        assert drawn.rows["brier"][r] == pytest.approx(again["brier"].value, rel=1e-10)


def test_intervals_are_those_of_a_bootstrap_by_hand():
    p, y, classes = answers(load_breast_cancer)
    guess = classes[p.argmax(axis=1)]
    rng = np.random.default_rng(5)
    drawn = [rng.integers(0, len(y), len(y)) for _ in range(250)]
    found = evaluate(p, y=y, classes=classes)
    by_hand = {
        "log_loss": [metrics.log_loss(y[d], p[d], labels=classes) for d in drawn],
        "roc_area": [metrics.roc_auc_score(y[d], p[d, 1]) for d in drawn],
        "f1_macro": [metrics.f1_score(y[d], guess[d], average="macro") for d in drawn],
        "mcc": [metrics.matthews_corrcoef(y[d], guess[d]) for d in drawn],
    }
    for name, values in by_hand.items():
        spread = np.std(values)
        np.testing.assert_allclose(
            [found[name].low, found[name].high], np.quantile(values, [0.025, 0.975]), atol=0.5 * spread
        )
