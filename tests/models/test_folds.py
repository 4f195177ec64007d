"""Folds: every class has its share, and what a classifier says of rows is said without their fold."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ingenuo import NaiveBayes, SoftmaxRegression
from ingenuo.datasets import play_tennis
from ingenuo.errors import RefusedError
from ingenuo.models.folds import FLOOR, answer_folds, stratified_folds
from ingenuo.rows.rows import rows_of, take_rows


@pytest.mark.parametrize("seed", range(5))
def test_folds_share_out_rows_and_classes(seed):
    codes = np.random.default_rng(seed).integers(0, 4, 203)
    folds = stratified_folds(codes, 5, seed)
    assert set(np.bincount(folds)) <= {40, 41}
    for k in range(4):
        shares = np.bincount(folds[codes == k], minlength=5)
        assert shares.max() - shares.min() <= 1
    np.testing.assert_array_equal(folds, stratified_folds(codes, 5, seed))
    assert (folds != stratified_folds(codes, 5, seed + 1)).any()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [NaiveBayes(), SoftmaxRegression()], ids=lambda m: type(m).__name__)
def test_each_row_is_answered_without_its_fold(model, weighted):
    table = play_tennis()
    X, y = table.drop_columns(["Play"]), np.asarray(table["Play"])
    weights = np.linspace(0.5, 2, len(y)) if weighted else None
    folds = stratified_folds(y == "Yes", 3)
    found = model._fit_with_folds(X, y, weights, folds)
    for fold in range(3):
        held, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        other = type(model)().fit(take_rows(X, rest), y[rest], None if weights is None else weights[rest])
        np.testing.assert_array_equal(found[held], other.predict_log_proba(take_rows(X, held)))
    np.testing.assert_array_equal(model.predict_proba(X), type(model)().fit(X, y, weights).predict_proba(X))


def test_a_class_that_a_fold_does_not_know_has_the_floor():
    X, y = np.arange(9.0)[:, np.newaxis], np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])
    folds = stratified_folds(y, 3)
    for model in (NaiveBayes(), LogisticRegression()):
        found = answer_folds(model, X, y, None, folds)
        assert found.shape == (9, 3)
        assert found[8, 2] == np.log(FLOOR)
        assert np.isfinite(found).all()


def test_what_is_a_sum_counts_again_and_what_is_none_refuses():
    table = play_tennis()
    first = NaiveBayes().fit(take_rows(table, np.arange(9)), "Play")
    assert first._is_tally
    first._count_again(rows_of(table, "Play"))
    assert first.tally_ == NaiveBayes().fit(table, "Play").tally_
    softmax = SoftmaxRegression().fit(table, "Play")
    assert not softmax._is_tally
    with pytest.raises(RefusedError, match="no sum over rows"):
        softmax._count_again(rows_of(table, "Play"))
