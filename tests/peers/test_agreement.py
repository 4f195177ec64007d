"""The drop-ins and scikit-learn's classes give the same parameters and answers, to 1e-10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import naive_bayes as theirs
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import ingenuo as ours

SETS = {load.__name__[5:]: load(return_X_y=True) for load in (load_iris, load_wine, load_digits, load_breast_cancer)}
COUNTED = ["feature_count_", "feature_log_prob_", "class_log_prior_", "class_count_"]
CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    # With weights scikit-learn takes epsilon_ from the unweighted rows: without the floor, all agrees.
    ("GaussianNB", {"var_smoothing": 0.0}, ["theta_", "var_", "class_prior_", "class_count_", "epsilon_"]),
    ("GaussianNB", {"var_smoothing": 1e-9}, ["theta_", "var_", "class_prior_", "class_count_", "epsilon_"]),
    ("MultinomialNB", {}, COUNTED),
    ("MultinomialNB", {"alpha": 0.01, "fit_prior": False}, COUNTED),
    ("ComplementNB", {}, [*COUNTED, "feature_all_"]),
    ("ComplementNB", {"norm": True, "alpha": 0.5}, [*COUNTED, "feature_all_"]),
    ("BernoulliNB", {"binarize": 3.0}, COUNTED),
    ("BernoulliNB", {"binarize": 3.0, "alpha": 0.1}, COUNTED),
    ("CategoricalNB", {}, ["category_count_", "feature_log_prob_", "class_log_prior_", "n_categories_"]),
    ("CategoricalNB", {"alpha": 0.3, "min_categories": 2000}, ["category_count_", "feature_log_prob_"]),
]


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, list):
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    else:
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", SETS)
@pytest.mark.parametrize(("name", "parameters", "attributes"), CASES, ids=lambda case: str(case)[:60])
def test_same_parameters_and_answers(
    name: str, parameters: dict[str, Any], attributes: list[str], table: str, weighted: bool
) -> None:
    X, y = SETS[table]
    if name == "GaussianNB":
        X = X[:, X.std(axis=0) > 0]
        X = X[:, [bool((np.array([X[y == k, j].std() for k in np.unique(y)]) > 0).all()) for j in range(X.shape[1])]]
        if weighted and parameters["var_smoothing"]:
            pytest.skip("scikit-learn takes epsilon_ from the unweighted rows: a listed deviation")
    elif name != "MultinomialNB" or parameters:
        X = np.rint(X)
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    a = getattr(ours, name)(**parameters).fit(X, y, sample_weight=weights)
    b = getattr(theirs, name)(**parameters).fit(X, y, sample_weight=weights)
    for attribute in attributes:
        assert_same(getattr(a, attribute), getattr(b, attribute))
    for method in ("predict_joint_log_proba", "predict_log_proba"):
        np.testing.assert_allclose(getattr(a, method)(X), getattr(b, method)(X), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=0, atol=1e-10)
    best = np.sort(b.predict_joint_log_proba(X), axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-9  # a tie may fall either way
    np.testing.assert_array_equal(a.predict(X)[clear], b.predict(X)[clear])


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_sparse_and_dense_rows_give_scikit_learns_answers(name: str) -> None:
    X, y = SETS["digits"]
    sparse = csr_matrix(X)
    a, b = getattr(ours, name)().fit(sparse, y), getattr(theirs, name)().fit(sparse, y)
    assert a.tally_ == getattr(ours, name)().fit(X, y).tally_
    np.testing.assert_allclose(a.predict_log_proba(sparse), b.predict_log_proba(sparse), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(sparse), rtol=1e-10, atol=1e-9)


def test_the_floor_does_not_depend_on_the_batches() -> None:
    X, y = SETS["wine"]
    whole = ours.GaussianNB().fit(X, y)
    pieces = ours.GaussianNB()
    for rows in np.array_split(np.random.default_rng(0).permutation(len(y)), 5):
        pieces.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert pieces.epsilon_ == whole.epsilon_
    np.testing.assert_array_equal(pieces.var_, whole.var_)
