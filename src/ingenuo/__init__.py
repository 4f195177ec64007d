"""Classification by Bayes' rule, for tables of numbers, categories, counts and text.

Everything public is a name of this package; each is imported when it is first used, so that importing the
package itself costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Every public name by its module. This is the one list: commands, model files and what is sent to engines name a model
# by it, and nothing that it does not have.
_NAMES = {
    "evaluation.audit": "audit",
    "evaluation.comparison": "compare",
    "evaluation.cross_validation": "CrossValidation cross_validate",
    "evaluation.evaluation": "Evaluation EvaluationDisplay evaluate",
    "evaluation.reliability": "Reliability ReliabilityDisplay reliability",
    "explanation.explain": "explain",
    "explanation.nomogram": "nomogram",
    "explanation.strongest": "strongest",
    "models.attribute_selection": "AttributeSelector",
    "models.bayes_classifier": "BayesClassifier",
    "models.bayes_optimal": "BayesOptimalClassifier",
    "models.boosted_trees": "BoostedTrees",
    "models.discriminant": "GaussianDiscriminant LeastSquaresClassifier",
    "models.hypotheses": "Hypotheses",
    "models.language": "LanguageModel LanguageModelClassifier",
    "models.naive_bayes": "NaiveBayes",
    "models.network_classifier": "NetworkClassifier",
    "models.regressor": "NaiveBayesRegressor",
    "models.scikit_learn": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "models.softmax": "SoftmaxRegression",
    "networks.network": "Network",
    "rows.files.scan": "read scan",
    "rows.schema": "Schema",
    "store": "load save",
    "tally.prior": "Dirichlet Laplace Lidstone MEstimate MaximumLikelihood",
    "tally.tally": "Tally",
    "text.words": "Words",
}
HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

_MODULES = {"errors": "ingenuo.errors", "significance": "ingenuo.evaluation.significance"}

__all__ = sorted([*HOMES, "__version__"])

if TYPE_CHECKING:
    from ingenuo.evaluation.audit import audit as audit
    from ingenuo.evaluation.comparison import compare as compare
    from ingenuo.evaluation.cross_validation import CrossValidation as CrossValidation
    from ingenuo.evaluation.cross_validation import cross_validate as cross_validate
    from ingenuo.evaluation.evaluation import Evaluation as Evaluation
    from ingenuo.evaluation.evaluation import EvaluationDisplay as EvaluationDisplay
    from ingenuo.evaluation.evaluation import evaluate as evaluate
    from ingenuo.evaluation.reliability import Reliability as Reliability
    from ingenuo.evaluation.reliability import ReliabilityDisplay as ReliabilityDisplay
    from ingenuo.evaluation.reliability import reliability as reliability
    from ingenuo.explanation.explain import explain as explain
    from ingenuo.explanation.nomogram import nomogram as nomogram
    from ingenuo.explanation.strongest import strongest as strongest
    from ingenuo.models.attribute_selection import AttributeSelector as AttributeSelector
    from ingenuo.models.bayes_classifier import BayesClassifier as BayesClassifier
    from ingenuo.models.bayes_optimal import BayesOptimalClassifier as BayesOptimalClassifier
    from ingenuo.models.boosted_trees import BoostedTrees as BoostedTrees
    from ingenuo.models.discriminant import GaussianDiscriminant as GaussianDiscriminant
    from ingenuo.models.discriminant import LeastSquaresClassifier as LeastSquaresClassifier
    from ingenuo.models.hypotheses import Hypotheses as Hypotheses
    from ingenuo.models.language import LanguageModel as LanguageModel
    from ingenuo.models.language import LanguageModelClassifier as LanguageModelClassifier
    from ingenuo.models.naive_bayes import NaiveBayes as NaiveBayes
    from ingenuo.models.network_classifier import NetworkClassifier as NetworkClassifier
    from ingenuo.models.regressor import NaiveBayesRegressor as NaiveBayesRegressor
    from ingenuo.models.scikit_learn import BernoulliNB as BernoulliNB
    from ingenuo.models.scikit_learn import CategoricalNB as CategoricalNB
    from ingenuo.models.scikit_learn import ComplementNB as ComplementNB
    from ingenuo.models.scikit_learn import GaussianNB as GaussianNB
    from ingenuo.models.scikit_learn import MultinomialNB as MultinomialNB
    from ingenuo.models.softmax import SoftmaxRegression as SoftmaxRegression
    from ingenuo.networks.network import Network as Network
    from ingenuo.rows.files.scan import read as read
    from ingenuo.rows.files.scan import scan as scan
    from ingenuo.rows.schema import Schema as Schema
    from ingenuo.store import load as load
    from ingenuo.store import save as save
    from ingenuo.tally.prior import Dirichlet as Dirichlet
    from ingenuo.tally.prior import Laplace as Laplace
    from ingenuo.tally.prior import Lidstone as Lidstone
    from ingenuo.tally.prior import MaximumLikelihood as MaximumLikelihood
    from ingenuo.tally.prior import MEstimate as MEstimate
    from ingenuo.tally.tally import Tally as Tally
    from ingenuo.text.words import Words as Words


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in HOMES:
        raise AttributeError(f"module 'ingenuo' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ingenuo.{HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
