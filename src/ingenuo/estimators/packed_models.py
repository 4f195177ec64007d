"""A model as plain values and tensors: what kind it is, its parameters, its schema and its tally.

Everything is named from closed lists: nothing is imported by name, unpickled or run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.estimators.contract import check_is_fitted
from ingenuo.families import FAMILY
from ingenuo.packed.tallies import pack_schema, pack_tally, unpack_schema, unpack_tally
from ingenuo.packed.values import pack, pack_labels, unpack, unpack_labels

Tensors = dict[str, NDArray[Any]]


def models() -> dict[str, type[Any]]:
    """The classes that may be named."""
    from ingenuo.estimators import drop_in, language, language_classifier, naive_bayes, regressor
    from ingenuo.estimators.discriminant import GaussianDiscriminant
    from ingenuo.estimators.least_squares import LeastSquaresClassifier
    from ingenuo.estimators.network import NetworkClassifier
    from ingenuo.estimators.softmax import SoftmaxRegression

    return {
        "NaiveBayes": naive_bayes.NaiveBayes,
        "GaussianDiscriminant": GaussianDiscriminant,
        "LeastSquaresClassifier": LeastSquaresClassifier,
        "NaiveBayesRegressor": regressor.NaiveBayesRegressor,
        "SoftmaxRegression": SoftmaxRegression,
        "NetworkClassifier": NetworkClassifier,
        "GaussianNB": drop_in.GaussianNB,
        "MultinomialNB": drop_in.MultinomialNB,
        "ComplementNB": drop_in.ComplementNB,
        "BernoulliNB": drop_in.BernoulliNB,
        "CategoricalNB": drop_in.CategoricalNB,
        "LanguageModel": language.LanguageModel,
        "LanguageModelClassifier": language_classifier.LanguageModelClassifier,
    }


def name_of(model: Any) -> str:
    """What a model is called where it is packed; raises for what cannot be."""
    known, name = models(), type(model).__name__
    if known.get(name) is not type(model):
        raise KindError(f"{name} cannot be saved; what can: Tally, Network, {', '.join(known)}")
    return name


def pack_model(model: Any, tensors: Tensors) -> dict[str, Any]:
    """The manifest of a fitted model; its arrays are put among the tensors."""
    name = name_of(model)
    check_is_fitted(model)
    manifest = {
        "kind": "model",
        "model": name,
        "parameters": pack(model.get_params(deep=False)),
        "schema": pack_schema(model.schema_, tensors),
        "tally": pack_tally(model.tally_, tensors),
    }
    if hasattr(model, "_besides"):  # what no tally gives
        plain, arrays = model._besides()
        manifest["besides"] = pack(plain)
        tensors.update({f"besides/{name}": array for name, array in arrays.items()})
    if "_declared_classes" in model.__dict__:
        manifest["classes"] = pack_labels(model._declared_classes, "classes", tensors)
    if "_target" in model.__dict__:
        manifest["target"] = model._target
    if "feature_names_in_" in model.__dict__:
        manifest["names"] = pack_labels(np.asarray(model.feature_names_in_, object), "names", tensors)
    return manifest


def unpack_model(manifest: dict[str, Any], tensors: Tensors) -> Any:
    """What `pack_model` packed; raises for what is no model."""
    if manifest["kind"] != "model":
        raise InputError(f"it holds a {manifest['kind']!r}")
    model = models()[manifest["model"]](**unpack(manifest["parameters"]))
    model._check_settings()
    schema, tally = unpack_schema(manifest["schema"], tensors), unpack_tally(manifest["tally"], tensors)
    for family in schema.families_used():
        FAMILY[family].check(tally)
    if "classes" in manifest:
        model._declared_classes = unpack_labels(manifest["classes"], tensors)
    if "target" in manifest:
        model._target = str(manifest["target"])
    if "names" in manifest:
        model.feature_names_in_ = unpack_labels(manifest["names"], tensors)
    if hasattr(model, "_restore"):
        arrays = {key.removeprefix("besides/"): value for key, value in tensors.items() if key.startswith("besides/")}
        model._restore(schema, tally, unpack(manifest["besides"]), arrays)
        return model
    model._set(schema, tally)
    if "class" in tally:
        model._check_against_data()
    return model
