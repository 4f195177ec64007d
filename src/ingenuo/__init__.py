"""Classification by Bayes' rule, for tables of numbers, categories, counts and text.

Everything public is a name of this package; each is imported when it is first used, so that importing the
package itself costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ingenuo.version import VERSION as _VERSION

__version__ = _VERSION

_HOMES = {
    "AttributeSelector": "estimators.attribute_selection",
    "BayesOptimalClassifier": "estimators.bayes_optimal",
    "BernoulliNB": "estimators.drop_in",
    "CategoricalNB": "estimators.drop_in",
    "ComplementNB": "estimators.drop_in",
    "CrossValidation": "evaluation.cross_validation",
    "Dirichlet": "prior",
    "Evaluation": "evaluation.evaluation",
    "EvaluationDisplay": "evaluation.evaluation",
    "GaussianDiscriminant": "estimators.discriminant",
    "GaussianNB": "estimators.drop_in",
    "Hypotheses": "estimators.hypotheses",
    "LanguageModel": "estimators.language",
    "LanguageModelClassifier": "estimators.language_classifier",
    "Laplace": "prior",
    "LeastSquaresClassifier": "estimators.least_squares",
    "Lidstone": "prior",
    "MEstimate": "prior",
    "MaximumLikelihood": "prior",
    "MultinomialNB": "estimators.drop_in",
    "NaiveBayes": "estimators.naive_bayes",
    "NaiveBayesRegressor": "estimators.regressor",
    "Network": "networks.network",
    "NetworkClassifier": "estimators.network",
    "Reliability": "evaluation.reliability",
    "ReliabilityDisplay": "evaluation.evaluation",
    "Schema": "schema",
    "SoftmaxRegression": "estimators.softmax",
    "Tally": "tally",
    "Words": "text.words",
    "audit": "evaluation.audit",
    "compare": "evaluation.comparison",
    "cross_validate": "evaluation.cross_validation",
    "evaluate": "evaluation.evaluation",
    "explain": "estimators.explaining",
    "load": "store",
    "nomogram": "explanation.nomogram",
    "read": "sources.files",
    "reliability": "evaluation.evaluation",
    "save": "store",
    "scan": "sources.files",
    "strongest": "explanation.strongest",
}

_MODULES = {"errors": "ingenuo.errors", "significance": "ingenuo.evaluation.significance"}

__all__ = sorted([*_HOMES, "__version__"])

if TYPE_CHECKING:
    from ingenuo.estimators.attribute_selection import AttributeSelector as AttributeSelector
    from ingenuo.estimators.bayes_optimal import BayesOptimalClassifier as BayesOptimalClassifier
    from ingenuo.estimators.discriminant import GaussianDiscriminant as GaussianDiscriminant
    from ingenuo.estimators.drop_in import BernoulliNB as BernoulliNB
    from ingenuo.estimators.drop_in import CategoricalNB as CategoricalNB
    from ingenuo.estimators.drop_in import ComplementNB as ComplementNB
    from ingenuo.estimators.drop_in import GaussianNB as GaussianNB
    from ingenuo.estimators.drop_in import MultinomialNB as MultinomialNB
    from ingenuo.estimators.explaining import explain as explain
    from ingenuo.estimators.hypotheses import Hypotheses as Hypotheses
    from ingenuo.estimators.language import LanguageModel as LanguageModel
    from ingenuo.estimators.language_classifier import LanguageModelClassifier as LanguageModelClassifier
    from ingenuo.estimators.least_squares import LeastSquaresClassifier as LeastSquaresClassifier
    from ingenuo.estimators.naive_bayes import NaiveBayes as NaiveBayes
    from ingenuo.estimators.network import NetworkClassifier as NetworkClassifier
    from ingenuo.estimators.regressor import NaiveBayesRegressor as NaiveBayesRegressor
    from ingenuo.estimators.softmax import SoftmaxRegression as SoftmaxRegression
    from ingenuo.evaluation.audit import audit as audit
    from ingenuo.evaluation.comparison import compare as compare
    from ingenuo.evaluation.cross_validation import CrossValidation as CrossValidation
    from ingenuo.evaluation.cross_validation import cross_validate as cross_validate
    from ingenuo.evaluation.evaluation import Evaluation as Evaluation
    from ingenuo.evaluation.evaluation import EvaluationDisplay as EvaluationDisplay
    from ingenuo.evaluation.evaluation import ReliabilityDisplay as ReliabilityDisplay
    from ingenuo.evaluation.evaluation import evaluate as evaluate
    from ingenuo.evaluation.evaluation import reliability as reliability
    from ingenuo.evaluation.reliability import Reliability as Reliability
    from ingenuo.explanation.nomogram import nomogram as nomogram
    from ingenuo.explanation.strongest import strongest as strongest
    from ingenuo.networks.network import Network as Network
    from ingenuo.prior import Dirichlet as Dirichlet
    from ingenuo.prior import Laplace as Laplace
    from ingenuo.prior import Lidstone as Lidstone
    from ingenuo.prior import MaximumLikelihood as MaximumLikelihood
    from ingenuo.prior import MEstimate as MEstimate
    from ingenuo.schema import Schema as Schema
    from ingenuo.sources.files import read as read
    from ingenuo.sources.files import scan as scan
    from ingenuo.store import load as load
    from ingenuo.store import save as save
    from ingenuo.tally import Tally as Tally
    from ingenuo.text.words import Words as Words


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'ingenuo' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ingenuo.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
