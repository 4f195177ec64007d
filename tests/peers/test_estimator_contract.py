"""scikit-learn's contract: every estimator through its checker, and at work inside its tools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import ingenuo as ing

ESTIMATORS = [
    ing.NaiveBayes(),
    ing.NaiveBayes(numbers="auto"),
    ing.NaiveBayes(tune=True, calibration="auto"),
    ing.GaussianDiscriminant(),
    ing.LeastSquaresClassifier(),
    ing.NetworkClassifier(),
    ing.NetworkClassifier("aode"),
    ing.NetworkClassifier("hill-climb"),
    ing.SoftmaxRegression(tolerance=1e-14),  # a check compares weighted and repeated rows to 1e-7
    ing.GaussianNB(),
    ing.MultinomialNB(),
    ing.ComplementNB(),
    ing.BernoulliNB(),
    ing.CategoricalNB(),
    ing.BayesClassifier(),
    ing.BayesClassifier("additive"),
    ing.BayesOptimalClassifier([("bayes", ing.NaiveBayes()), ("logistic", LogisticRegression(max_iter=1000))]),
]

# Those who answer with a number: for the checker, and not for the tools of classifiers.
REGRESSORS = [ing.NaiveBayesRegressor()]

LEFT_OUT = (
    "a row of weight 2 is left out as one, and of two rows each is left out by itself, so tuning differs a little"
)
# Those of a model that learns from its own rows left out, beside those that it has without.
LEARNED_BESIDES = {
    "check_sample_weight_equivalence_on_dense_data": LEFT_OUT,
    "check_sample_weight_equivalence_on_sparse_data": LEFT_OUT,
}

# Of densities that are chosen by the rows.
CHOSEN_DENSITIES = {
    "check_class_weight_classifiers": "a row of weight 1000 counts as 1000 rows, so a kernel may follow each, and "
    "leaves other rows to a class of no weight; with another choice of densities it may pass",
}

EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "NaiveBayes": {
        "check_parameters_default_constructible": "the default priors are objects, Laplace() and MaximumLikelihood(); "
        "they are immutable, so sharing them as defaults is safe",
    },
    "NaiveBayesRegressor": {
        "check_parameters_default_constructible": "the default priors are objects, as those of NaiveBayes are",
    },
    "GaussianDiscriminant": {
        "check_parameters_default_constructible": "the default class prior is an object, MaximumLikelihood(); it is "
        "immutable, so sharing it as a default is safe",
    },
    "LeastSquaresClassifier": {},
    "NetworkClassifier": {
        "check_parameters_default_constructible": "the default prior is an object, Lidstone(0.5); it is immutable, so "
        "sharing it as a default is safe",
    },
    "SoftmaxRegression": {
        "check_sample_weight_equivalence_on_sparse_data": "the minimum is found to within the rounding of the loss, "
        "which leaves the eighth digit of a logit near 0 open; on some machines it agrees",
    },
    "GaussianNB": {},
    "MultinomialNB": {},
    "ComplementNB": {},
    "BernoulliNB": {},
    "CategoricalNB": {},
    "BayesClassifier": {},
    "BayesOptimalClassifier": dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
        "its members are compared by folds: a row of weight 2 lies in one, two equal rows may lie in two",
    ),
}


def _checks() -> list[Any]:
    found = []
    for estimator in [*ESTIMATORS, *REGRESSORS]:
        expected = EXPECTED_FAILURES[type(estimator).__name__]
        if getattr(estimator, "tune", False):
            expected = {**expected, **LEARNED_BESIDES}
        if getattr(estimator, "numbers", None) == "auto" and hasattr(estimator, "class_weight"):
            expected = {**expected, **CHOSEN_DENSITIES}
        for made, check in estimator_checks_generator(estimator, expected_failed_checks=expected, mark=None):
            name = getattr(check, "func", check).__name__
            sure = not any(words in expected.get(name, "") for words in ("on some machines", "may pass"))
            marks = [pytest.mark.xfail(reason=expected[name], strict=sure)] if name in expected else []
            found.append(pytest.param(made, check, id=f"{type(estimator).__name__}-{name}", marks=marks))
    return found


@pytest.mark.parametrize(("estimator", "check"), _checks())
def test_estimator_keeps_the_contract(estimator: Any, check: Any) -> None:
    check(estimator)


X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_estimator_works_inside_scikit_learns_tools(estimator: Any) -> None:
    rows = np.rint(X) if type(estimator).__name__ == "CategoricalNB" else X
    assert cross_val_score(clone(estimator), rows, Y, cv=3).mean() > 0.3
    calibrated = CalibratedClassifierCV(clone(estimator), cv=3).fit(rows, Y)
    np.testing.assert_allclose(calibrated.predict_proba(rows).sum(axis=1), 1)


def test_grid_search_finds_a_prior() -> None:
    grid = {"prior": [ing.MaximumLikelihood(), ing.Laplace(variance_floor=0.5)]}
    search = GridSearchCV(ing.NaiveBayes(), grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.9
    assert search.best_params_["prior"] in grid["prior"]


def test_pipeline_passes_names_and_rows() -> None:
    model = make_pipeline(StandardScaler(), ing.NaiveBayes()).set_output(transform="pandas")
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model.fit(frame, Y)
    assert model[-1].feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.score(frame, Y) > 0.9


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_html_shows_the_model_and_not_only_its_parameters(estimator: Any) -> None:
    fitted = clone(estimator).fit(np.rint(X), np.array(["a<b", "two", "three"])[Y])
    page = fitted._repr_html_()
    assert "a&lt;b" in page
    assert "150 rows" in page
    assert "0.3333" in page
    assert "a&lt;b" not in clone(estimator)._repr_html_()
