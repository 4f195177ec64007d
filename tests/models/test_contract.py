"""The estimators' own part of scikit-learn's contract, and how they join scikit-learn when it is imported later.

All other tests import scikit-learn first, so that its classes are the bases from the start.
"""

from __future__ import annotations

import subprocess
import sys

# What is done before scikit-learn is imported, what is done after, and that both give the same.
PROGRAM = """
import copy, pickle, sys
import numpy as np
import ingenuo as ing

class Own(ing.NaiveBayes):
    pass

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
models = [
    ing.NaiveBayes(prior=ing.Lidstone(0.5), columns={0: "number", 1: "number", 2: "ignore"}, numbers="kernel"),
    ing.GaussianNB(var_smoothing=1e-3),
    ing.SoftmaxRegression(l2=2.0),
    ing.NaiveBayesRegressor(),
    ing.LanguageModel(order=2),
    ing.NetworkClassifier(),
    Own(tune=True),
]
fitted = ing.NaiveBayes().fit(X, y)

def refusal(call):
    try:
        call()
    except (ValueError, AttributeError) as error:
        return type(error).__name__, str(error)

def facts():
    return [
        [
            repr(model),
            repr(model.get_params()),
            repr(model.get_params(deep=False)),
            repr(pickle.loads(pickle.dumps(model))),
            repr(copy.deepcopy(model)),
            refusal(lambda: model.set_params(nothing=1)),
            refusal(lambda: model.nothing),
            type(model.set_params()) is type(model),
        ]
        for model in models
    ] + [refusal(lambda: ing.SoftmaxRegression().forget)]

alone = facts()
assert "sklearn" not in sys.modules
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier, is_regressor
assert isinstance(ing.NaiveBayes(), BaseEstimator)
assert all(isinstance(model, BaseEstimator) for model in models)
joined = facts()
assert alone == joined, (alone, joined)
assert [isinstance(model, ClassifierMixin) for model in models] == [True, True, True, False, False, True, True]
assert [is_classifier(model) for model in models] == [True, True, True, False, False, True, True]
assert [isinstance(model, RegressorMixin) for model in models] == [is_regressor(model) for model in models]
assert [repr(clone(model)) for model in models] == [repr(model) for model in models]
assert fitted.predict(X).tolist() == clone(fitted).fit(X, y).predict(X).tolist()

from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
grid = GridSearchCV(make_pipeline(StandardScaler(), Own()), {"own__prior": [ing.Laplace(), ing.Lidstone(9)]}, cv=2)
assert grid.fit(X, y).predict(X).shape == y.shape
with sklearn.config_context(enable_metadata_routing=True):
    weighted = Own().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    assert len(cross_val_score(weighted, X, y, params={"sample_weight": np.ones(60)}, cv=3)) == 3
assert "Learned" in fitted._repr_html_()
with sklearn.config_context(display="text"):
    assert not hasattr(fitted, "_repr_html_")
"""


def test_scikit_learn_may_be_imported_after_models_were_made() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def first(call: str) -> subprocess.CompletedProcess[str]:
    """A call on a model that was fitted without scikit-learn in the process."""
    program = f"""
import sys, numpy as np, ingenuo as ing
X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
model = ing.NaiveBayes().fit(X, y)
assert "sklearn" not in sys.modules
{call}
assert "sklearn" in sys.modules
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_what_needs_scikit_learn_imports_it() -> None:
    for call in ("model._repr_html_()", "model.__sklearn_tags__()"):
        done = first(call)
        assert done.returncode == 0, done.stderr


def test_a_model_that_has_learned_nothing_raises_scikit_learns_error() -> None:
    done = first("ing.NaiveBayes().predict(X)")
    assert "sklearn.exceptions.NotFittedError" in done.stderr


def test_arrays_that_are_none_are_refused_in_scikit_learns_words() -> None:
    done = first("ing.NaiveBayes().fit(X[0], y[:2])")
    assert "Expected 2D array, got 1D array instead" in done.stderr
    done = first("model.predict(X[:, :1])")
    assert "X has 1 features, but NaiveBayes is expecting 2 features as input" in done.stderr
