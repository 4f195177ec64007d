"""Models in MLflow: saved, logged and served as an `.ingenuo` file beside MLflow's own, without a pickle.

What `save_model` wrote, `mlflow.pyfunc.load_model` serves, and `load_model` here gives back as it was.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import warnings
from typing import Any

import numpy as np

from ingenuo import __version__, store
from ingenuo.errors import InputError, KindError, check_choice
from ingenuo.models.model import check_is_fitted
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.typed import known_categories, reads_texts

FLAVOUR = "ingenuo"
FILE = "model.ingenuo"
METHODS = ("predict", "predict_proba")  # what `params={"method": …}` asks for


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    signature: Any = None,
    mlflow_model: Any = None,
    pip_requirements: list[str] | None = None,
    **more: Any,
) -> None:
    """Save a fitted model as a folder that MLflow loads and serves.

    Parameters
    ----------
    model : classifier or regressor
        Fitted; it is in the folder as its own file, which holds no code.
    path : path
        The folder, which must not be there yet.
    signature : ModelSignature, optional
        Of the columns; by default what the model has learned them as, and each may be left out.
    mlflow_model : Model, optional
        MLflow's own description, if there is one already.
    pip_requirements : list of str, optional
        What the model needs where it is loaded; by default this version of ingenuo.
    **more
        The others of `mlflow.pyfunc.save_model`: input_example, metadata, code_paths, …
    """
    pyfunc = _import("mlflow.pyfunc")
    if not isinstance(model, type) and hasattr(model, "predict"):
        check_is_fitted(model)
    if isinstance(model, type) or not hasattr(model, "schema_") or not hasattr(model, "predict"):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise KindError(f"a {name} answers no rows, so MLflow cannot serve it; take a fitted classifier or regressor")
    if os.path.exists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise InputError(f"{os.fspath(path)} is there already; name a folder that is not, or remove it")
    described = _import("mlflow.models").Model() if mlflow_model is None else mlflow_model
    described.add_flavor(FLAVOUR, data=f"data/{FILE}", version=__version__, kind=type(model).__name__)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*An input example was not provided")  # the schema is the signature
        file = os.path.join(folder, FILE)
        store.save(model, file)
        pyfunc.save_model(
            path,
            loader_module=__name__,
            data_path=file,
            mlflow_model=described,
            signature=_signature(model) if signature is None else signature,
            pip_requirements=[f"ingenuo=={__version__}"] if pip_requirements is None else pip_requirements,
            **more,
        )


def log_model(model: Any, name: str = "model", **more: Any) -> Any:
    """Log a fitted model to the active run of MLflow; what MLflow says of it is returned.

    The options are those of `save_model` and of `mlflow.models.Model.log` (registered_model_name, metadata, …).
    """
    models = _import("mlflow.models")
    return models.Model.log(artifact_path=None, name=name, flavor=sys.modules[__name__], model=model, **more)


def load_model(uri: str | os.PathLike[str]) -> Any:
    """The model of a folder or URI that `save_model` or `log_model` wrote, as it was."""
    models = _import("mlflow.models")
    folder = _import("mlflow.artifacts").download_artifacts(artifact_uri=os.fspath(uri))
    flavours = models.Model.load(folder).flavors
    if FLAVOUR not in flavours:
        raise InputError(f"{uri} holds a model of {', '.join(flavours) or 'nothing'}, and none of ingenuo")
    return store.load(os.path.join(folder, flavours[FLAVOUR]["data"]))


def _load_pyfunc(path: str) -> Served:
    """What MLflow calls to serve the model of a file."""
    return Served(store.load(path))


class Served:
    """A model as MLflow asks it: rows in a frame or an array; columns that are left out are missing."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, rows: Any, params: dict[str, Any] | None = None) -> Any:
        """The answers; with `params={"method": "predict_proba"}` a frame with a column for each class."""
        method = check_choice("method", (params or {}).get("method", METHODS[0]), METHODS)
        if not hasattr(self.model, method):
            raise InputError(f"a {type(self.model).__name__} has no {method}")
        found = getattr(self.model, method)(self._taken(rows))
        if method == METHODS[0]:
            return found
        import pandas as pd

        return pd.DataFrame(found, columns=[str(label) for label in self.model.classes_.tolist()])

    def _taken(self, rows: Any) -> Any:
        """Rows as the model takes them."""
        if not hasattr(rows, "columns"):
            return rows
        schema = self.model.schema_
        if schema.named:
            lacking = {column_name(name): None for name in _learned(schema) if name not in rows.columns}
            return rows.assign(**lacking) if lacking else rows
        if reads_texts(self.model):
            return ["" if text is None or text != text else text for text in rows.iloc[:, 0].tolist()]
        return rows.to_numpy()


def _learned(schema: Schema) -> list[Any]:
    """The names of the columns that are not set aside."""
    return [name for name in schema.names.tolist() if FAMILIES[schema.family(name)] != "ignore"]


def _signature(model: Any) -> Any:
    """What goes in and what comes out, as MLflow describes it."""
    types, signatures = _import("mlflow.types.schema"), _import("mlflow.models.signature")
    schema: Schema = model.schema_
    every = schema.names.tolist()
    if schema.named:
        named = [(_type(model, name, types), column_name(name)) for name in _learned(schema)]
        inputs = [types.ColSpec(type, name, required=False) for type, name in named]
    elif reads_texts(model):
        inputs = [types.ColSpec("string", "text")]
    elif all(FAMILIES[schema.family(name)] in ("number", "count") for name in every):
        inputs = [types.TensorSpec(np.dtype(np.float64), (-1, len(every)))]
    else:
        inputs = [types.ColSpec(types.AnyType()) for _ in every]
    kinds = {"b": "boolean", "i": "long", "u": "long", "f": "double"}
    labels = np.asarray(getattr(model, "classes_", np.zeros(0)))
    outputs = types.Schema([types.ColSpec(kinds.get(labels.dtype.kind, "string"))])
    params = types.ParamSchema([types.ParamSpec("method", "string", METHODS[0])])
    return signatures.ModelSignature(types.Schema(inputs), outputs, params)


def _type(model: Any, name: Any, types: Any) -> Any:
    """The type of a column; any, where MLflow has none that may be missing."""
    kind = FAMILIES[model.schema_.family(name)]
    if kind == "number":
        return "double"
    if kind == "count":  # whole or not
        return types.AnyType()
    if kind == "category":
        values = known_categories(model, name, model.schema_)
        every = [] if values is None else [value for value in values.tolist() if value is not None]
        return "string" if every and all(isinstance(value, str) for value in every) else types.AnyType()
    return "string"


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError("MLflow is not installed; pip install 'ingenuo[mlflow]'") from None
