"""Discriminants and least squares against scikit-learn and NumPy, to 1e-8."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.covariance import oas, shrunk_covariance
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}


@pytest.fixture(params=SETS)
def rows(request):
    X, y = SETS[request.param](return_X_y=True)
    return X / X.std(axis=0), y


@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.3, 1.0])
def test_shared_covariance_is_lda(rows, shrinkage):
    X, y = rows
    ours = GaussianDiscriminant(shrinkage=shrinkage).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, atol=1e-8)
    np.testing.assert_allclose(ours.means_, theirs.means_, atol=1e-12)


def test_their_priors_weigh_the_covariances_too_as_weights_of_rows_do_here(rows):
    X, y = rows
    K = len(np.unique(y))
    priors = np.arange(1, K + 1) / (K * (K + 1) / 2)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", priors=priors).fit(X, y)
    ours = GaussianDiscriminant().fit(X, y, sample_weight=(priors / np.bincount(y))[y])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(ours.priors_, priors, rtol=1e-12)


def test_a_given_prior_moves_the_lines_and_does_not_turn_them():
    X, y = load_iris(return_X_y=True)
    plain = GaussianDiscriminant().fit(X, y)
    given = GaussianDiscriminant(class_prior={0: 0.2, 1: 0.3, 2: 0.5}).fit(X, y)
    np.testing.assert_array_equal(given.coef_, plain.coef_)
    np.testing.assert_allclose(given.intercept_ - plain.intercept_, np.log(np.array([0.2, 0.3, 0.5]) * 3), atol=1e-12)


@pytest.fixture(scope="module")
def theirs_divides_by_n():
    """scikit-learn's QDA divides by n - 1 in earlier versions, and by n in later ones."""
    X = np.array([[0.0], [2.0], [5.0], [9.0]])
    found = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, [0, 0, 1, 1]).covariance_[0][0, 0]
    return bool(np.isclose(found, 1.0))


def test_one_covariance_for_each_class_is_qda(rows, theirs_divides_by_n):
    X, y = rows
    ours = GaussianDiscriminant("full", unbiased=not theirs_divides_by_n).fit(X, y)
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    d, K = X.shape[1], len(ours.classes_)
    constant = 0.0 if K == 2 else 0.5 * d * np.log(2 * np.pi)  # which theirs leaves out
    np.testing.assert_allclose(ours.decision_function(X) + constant, theirs.decision_function(X), rtol=1e-8, atol=1e-7)


def test_unbiased_divides_by_the_rows_less_the_means():
    X, y = load_iris(return_X_y=True)
    full = GaussianDiscriminant("full", unbiased=True).fit(X, y)
    np.testing.assert_allclose(full.covariance_[1], np.cov(X[y == 1].T), rtol=1e-12)
    shared = GaussianDiscriminant(unbiased=True).fit(X, y)
    within = sum(np.cov(X[y == k].T, ddof=0) * 50 for k in range(3))
    np.testing.assert_allclose(shared.covariance_, within / 147, rtol=1e-12)


def test_variances_only_is_gaussian_naive_bayes(rows):
    X, y = rows
    ours, theirs = GaussianDiscriminant("diagonal").fit(X, y), TheirGaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(ours.covariance_, theirs.var_, rtol=1e-10)


@pytest.mark.parametrize("few", [False, True])
def test_automatic_shrinkage_is_oas_of_the_rows_about_their_class_means(rows, few):
    X, y = rows
    if few:  # fewer rows than most have columns
        X, y = X[:: len(X) // 24], y[:: len(X) // 24]
    means = np.array([X[y == k].mean(axis=0) for k in np.unique(y)])
    covariance, amount = oas(X - means[np.searchsorted(np.unique(y), y)], assume_centered=True)
    ours = GaussianDiscriminant(shrinkage="auto").fit(X, y)
    assert ours.shrinkage_ == pytest.approx(amount, rel=1e-10)
    np.testing.assert_allclose(ours.covariance_, covariance, rtol=1e-9, atol=1e-12)
    full = GaussianDiscriminant("full", shrinkage="auto").fit(X, y)
    for k, label in enumerate(full.classes_):
        covariance, amount = oas(X[y == label] - means[k], assume_centered=True)
        assert full.shrinkage_[k] == pytest.approx(amount, rel=1e-10)
        np.testing.assert_allclose(full.covariance_[k], covariance, rtol=1e-9, atol=1e-12)


def test_full_covariances_shrink_as_theirs():
    X, y = load_iris(return_X_y=True)
    ours = GaussianDiscriminant("full", shrinkage=0.25).fit(X, y)
    for k in range(3):
        theirs = shrunk_covariance(np.cov(X[y == k].T, ddof=0), 0.25)
        np.testing.assert_allclose(ours.covariance_[k], theirs, rtol=1e-10)


def test_collinear_columns_give_the_discriminant_of_least_norm():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X[:, 0] + 2 * X[:, 1], X[:, 2]])
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    ours = GaussianDiscriminant().fit(X, y)
    with pytest.warns(UserWarning, match="columns 'x4', 'x5' follow from the columns before"):
        found = ours.coef_
    np.testing.assert_allclose(found - found[0], theirs.coef_ - theirs.coef_[0], atol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)


def test_pixels_that_never_change_do_not_matter():
    X, y = load_digits(return_X_y=True)
    ours = GaussianDiscriminant().fit(X, y)
    with pytest.warns(UserWarning, match="the same value in every row, left out"):
        found = ours.predict(X)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert (found == theirs.predict(X)).mean() > 0.999


@pytest.mark.parametrize("l2", [0.0, 2.5])
def test_least_squares_is_linear_regression_on_one_hot_targets(rows, l2):
    X, y = rows
    targets = np.eye(y.max() + 1)[y]
    ours = LeastSquaresClassifier(l2=l2).fit(X, y)
    theirs = (Ridge(l2) if l2 else LinearRegression()).fit(X, targets)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-8)
    brier = ((theirs.predict(X) - targets) ** 2).sum(axis=1).mean()
    assert ours.brier_ == pytest.approx(brier, rel=1e-9)
    assert ours.brier_score(X, y) == pytest.approx(brier, rel=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X).argmax(axis=1))


def test_weighted_least_squares_is_theirs_with_weights():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.1, 3, 150)
    ours = LeastSquaresClassifier().fit(X, y, sample_weight=weights)
    theirs = LinearRegression().fit(X, np.eye(3)[y], sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)


def test_singular_least_squares_is_numpys_of_least_norm():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 30))  # fewer rows than columns
    y = rng.integers(0, 3, 12)
    ours = LeastSquaresClassifier().fit(X, y)
    with pytest.warns(UserWarning, match="of least norm"):
        found = ours.coef_
    wanted = np.linalg.lstsq(X - X.mean(axis=0), np.eye(3)[y] - np.eye(3)[y].mean(axis=0))[0].T
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_fewer_rows_than_columns_agree_with_the_pseudo_inverse():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 40)), np.arange(20) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = GaussianDiscriminant().fit(X, y)
        means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
        within = sum(np.cov(X[y == k].T, ddof=0) for k in (0, 1)) / 2
        wanted = np.linalg.pinv(within, rcond=1e-10) @ (means[1] - means[0])
        np.testing.assert_allclose(ours.coef_[0], wanted, rtol=1e-6, atol=1e-8)
