"""Calibrators against scikit-learn's, and what they do to naive Bayes on texts that people wrote."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.calibration import _SigmoidCalibration
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from tests.real_texts import labelled

from ingenuo.evaluation.reliability import reliability
from ingenuo.models.calibration import choose, fit


def scores(n: int = 800, k: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    honest = log_softmax(rng.normal(0, 1.5, (n, k)), axis=1)
    return 3 * honest, (honest + rng.gumbel(size=honest.shape)).argmax(axis=1)


def test_platt_is_that_of_scikit_learn() -> None:
    z, codes = scores()
    theirs = _SigmoidCalibration().fit(z[:, 1] - z[:, 0], codes)
    found = fit("platt", z, codes)
    assert found.slope == pytest.approx(-theirs.a_, rel=1e-3)
    assert found.shifts[1] - found.shifts[0] == pytest.approx(-theirs.b_, abs=1e-3)


def test_isotonic_has_the_blocks_of_scikit_learn_with_two_imaginary_rows_in_each() -> None:
    z, codes = scores()
    s = z[:, 1] - z[:, 0]
    _, block = np.unique(IsotonicRegression().fit_transform(s, codes), return_inverse=True)
    rows = np.bincount(block) + 2
    smoothed = IsotonicRegression().fit_transform(
        np.arange(len(rows)), (np.bincount(block, codes) + 1) / rows, sample_weight=rows
    )
    assert len(np.unique(smoothed)) > 5
    np.testing.assert_allclose(np.exp(fit("isotonic", z, codes).apply(z))[:, 1], smoothed[block], atol=1e-9)


def test_platt_of_many_classes_is_a_regression_with_one_slope() -> None:
    z, codes = scores(3000, 3)
    found = fit("platt", z, codes)
    free = LogisticRegression(C=1e4, max_iter=1000).fit(z, codes)  # a slope for each pair of classes
    ours, theirs = log_loss(codes, np.exp(found.apply(z))), log_loss(codes, free.predict_proba(z))
    assert theirs - 1e-6 <= ours <= theirs + 0.003


@pytest.mark.parametrize("name", ["films", "messages", "newsgroups", "customers"])
def test_naive_bayes_of_texts_becomes_believable(name: str) -> None:
    texts, labels = labelled(name, 2500)
    X, y = CountVectorizer().fit_transform(texts), np.unique(labels, return_inverse=True)[1]
    learned = np.random.default_rng(0).random(len(y)) < 0.7
    model = MultinomialNB().fit(X[learned], y[learned])
    unseen = cross_val_predict(MultinomialNB(), X[learned], y[learned], cv=10, method="predict_log_proba")
    words = np.asarray(X.sum(axis=1)).ravel()
    calibrator, report = choose(unseen, y[learned], lengths=words[learned])
    before = model.predict_log_proba(X[~learned])
    after = calibrator.apply(before, words[~learned])
    classes = list(range(int(y.max()) + 1))
    sure, repaired = (reliability(np.exp(z), y=y[~learned], classes=classes) for z in (before, after))
    assert report.gained > 0
    assert repaired.ece < max(0.5 * sure.ece, 0.035)  # of few rows chance alone makes some
    assert repaired.brier.score < sure.brier.score
    assert log_loss(y[~learned], np.exp(after), labels=classes) < log_loss(y[~learned], np.exp(before), labels=classes)
    right = [(z.argmax(axis=1) == y[~learned]).mean() for z in (before, after)]
    assert right[1] > right[0] - 0.01
