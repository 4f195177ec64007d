"""The model file: `save` and `load`. What is saved is the tally, so a loaded model goes on learning.

A file holds a manifest (what kind of model, its parameters, its schema, the shapes of its tables) and tensors
(limbs and labels). Everything in it is named from closed lists: nothing is imported by name, unpickled or run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo import container
from ingenuo.errors import InputError, KindError, ModelFileError
from ingenuo.networks.network import Network
from ingenuo.store.networks import pack_network, unpack_network
from ingenuo.store.tallies import pack_schema, pack_tally, unpack_schema, unpack_tally
from ingenuo.store.values import pack, pack_labels, unpack, unpack_labels
from ingenuo.tally import Tally

Tensors = dict[str, NDArray[Any]]


def _models() -> dict[str, type[Any]]:
    """The classes a file may name."""
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


def save(model: Any, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model (or a tally) to one file, whole or not at all.

    Parameters
    ----------
    model : classifier, Network or Tally
        What to save.
    path : path
        Where to.
    about : mapping, optional
        What a reader should know of the model besides, in values that JSON has: where its rows came from, what it is
        for. `about(path)` of this module reads it; the model does not depend on it.

    >>> import tempfile, os
    >>> from ingenuo import NaiveBayes, load, save
    >>> model = NaiveBayes().fit([["a", 1], ["b", 2]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.ingenuo"))
    ...     again = load(os.path.join(folder, "model.ingenuo"))
    >>> again.tally_ == model.tally_
    True
    """
    container.write(path, *_to_parts(model, about))


def about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What was saved beside a model, of where it comes from; nothing where nothing was."""
    found = container.read(path)[0].get("about", {})
    return found if isinstance(found, dict) else {}


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model (or a tally) that `save` wrote; damage of any kind raises `ModelFileError`."""
    return _from_parts(*container.read(path), str(path))


def to_bytes(model: Any, about: Mapping[str, Any] | None = None) -> bytes:
    """What `save` writes, as bytes."""
    return container.to_bytes(*_to_parts(model, about))


def from_bytes(data: bytes) -> Any:
    """What `load` reads, from bytes."""
    return _from_parts(*container.from_bytes(data), "model data")


def _to_parts(model: Any, about: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Tensors]:
    tensors: Tensors = {}
    manifest = _described(model, tensors)
    return manifest | {"about": dict(about)} if about else manifest, tensors


def _described(model: Any, tensors: Tensors) -> dict[str, Any]:
    """The manifest of a model, whose arrays are put among the tensors."""
    if isinstance(model, Tally):
        return {"kind": "tally", "tally": pack_tally(model, tensors)}
    if isinstance(model, Network):
        return {"kind": "network", "network": pack_network(model, tensors)}
    models = _models()
    name = type(model).__name__
    if models.get(name) is not type(model):
        raise KindError(f"{name} cannot be saved; what can: Tally, Network, {', '.join(models)}")
    from sklearn.utils.validation import check_is_fitted

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


def _from_parts(manifest: dict[str, Any], tensors: Tensors, name: str) -> Any:
    from ingenuo.families import FAMILY

    try:
        if manifest["kind"] == "tally":
            return unpack_tally(manifest["tally"], tensors)
        if manifest["kind"] == "network":
            return unpack_network(manifest["network"], tensors)
        if manifest["kind"] != "model":
            raise InputError(f"it holds a {manifest['kind']!r}")
        model = _models()[manifest["model"]](**unpack(manifest["parameters"]))
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
            arrays = {
                key.removeprefix("besides/"): value for key, value in tensors.items() if key.startswith("besides/")
            }
            model._restore(schema, tally, unpack(manifest["besides"]), arrays)
            return model
        model._set(schema, tally)
        if "class" in tally:
            model._check_against_data()
        return model
    except ModelFileError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ModelFileError(
            f"{name} is signed right, but what it describes is no model that this version can build "
            f"({type(error).__name__}: {error}); save it again from the model it came from"
        ) from error
