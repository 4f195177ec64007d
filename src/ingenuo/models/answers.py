"""What a model answers to rows: arrays, or columns beside the rows of a frame that lies elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ingenuo.errors import InputError, RefusedError, did_you_mean
from ingenuo.kernels import moments, threads
from ingenuo.models.model import check_is_fitted
from ingenuo.models.registry import model_class
from ingenuo.rows import checks
from ingenuo.rows.rows import EVERYTHING, Part, rows_of
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.tally import container
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import public
from ingenuo.tally.tally import Table, Tally

if TYPE_CHECKING:
    import pyarrow as pa


_BEST = ("predicted", "probability")


class Answering:
    """Mix-in: the answers of a classifier to rows wherever they lie; a class brings them for rows in memory."""

    def predict(self, X: Any) -> Any:
        """The most probable class of each row.

        Of a Dask or Spark frame the answer is such a frame, not yet computed: its columns, `predicted`, `probability`,
        and `P(…)` of each class.
        """
        return answer(self, X, "predict")

    def predict_proba(self, X: Any) -> Any:
        """The posterior of each class, for each row; rows sum to 1.

        Of a Dask or Spark frame the answer is such a frame, not yet computed: its columns, and `P(…)` of each class.
        """
        return answer(self, X, "predict_proba")

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the posterior of each class."""
        return answer(self, X, "predict_log_proba")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted correctly; y and weights as for `fit`."""
        check_is_fitted(self)
        found = rows_of(X, y, sample_weight, EVERYTHING, model=self).reduce(accuracy, self)
        correct, rows = found.over("accuracy", np.arange(2)).fractions()  # type: ignore[misc, union-attr]
        if not rows:
            raise InputError("the rows to score by have no weight; give some that count")
        return float(correct / rows)


def answer(model: Any, X: Any, method: str) -> Any:
    """What a method of a model answers to rows wherever they lie."""
    check_is_fitted(model)
    return rows_of(X, labelled=False, model=model).answer(model, method)


def accuracy(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """The weight of the rows whose class is predicted correctly, and of all."""
    codes, classes = checks.labels(model, part.y, checks.count_rows(part.X))
    weights = checks.weights(part.weights, len(codes))
    correct = np.asarray(model._predict(part.X) == public(classes)[codes], np.int64)
    if weights is None:
        sums = Exact.counts(np.array([correct.sum(), len(codes)]))
    else:
        cells = np.concatenate([correct - 1, np.ones_like(correct)])  # 0: correct; 1: all; -1: neither
        sums = moments.weights_by_cell(np.tile(weights, 2), cells, 2)
    return Tally({"accuracy": Table.of({"rows": np.arange(2)}, sums)})


def columns(model: Any, rows: Any, *, all_classes: bool = True) -> dict[str, pa.Array]:
    """`predicted`, `probability`, and the probability `P(…)` of every class if so asked; of a regressor one number."""
    import pyarrow as pa

    if not hasattr(model, "classes_"):
        return {"predicted": pa.array(np.asarray(model.predict(rows), np.float64))}
    labels = model.classes_.tolist()
    probabilities = np.asarray(model.predict_proba(rows))
    best = probabilities.argmax(axis=1)
    found: dict[str, pa.Array] = {
        "predicted": pa.array(labels).take(pa.array(best)),
        "probability": pa.array(probabilities[np.arange(len(best)), best]),
    }
    if all_classes:
        for place, label in enumerate(labels):
            found[f"P({label})"] = pa.array(np.ascontiguousarray(probabilities[:, place]))
    return found


def _fields(model: Any, method: str, taken: list[str]) -> pa.Schema:
    """The columns that are put beside those that are there."""
    import pyarrow as pa

    if not hasattr(model, "classes_"):
        return pa.schema([(free("predicted", taken), pa.float64())])
    labels = model.classes_.tolist()
    types = dict.fromkeys(["probability", *(f"P({label})" for label in labels)], pa.float64())
    types = {"predicted": pa.array(labels).type, **types}
    return pa.schema([(free(n, taken), t) for n, t in types.items() if method == "predict" or n not in _BEST])


def free(name: str, taken: list[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name


def of_frame(model: Any, frame: Any, method: str) -> Any:
    """A Dask or Spark frame with the answers beside its rows, not yet computed."""
    if not hasattr(model, "schema_"):
        raise RefusedError(
            f"{frame.called}: a {type(model).__name__} is made of several models, and cannot be sent to rows that lie "
            "there; bring the rows here (frame.compute(), frame.toPandas()), or ask one of its models"
        )
    if method not in ("predict", "predict_proba"):
        raise RefusedError(f"{frame.called}: {method} answers rows in memory; rows that lie there have predict_proba")
    if not len(model.schema_) and len([name for name in frame.names if name != getattr(model, "_target", None)]) != 1:
        raise InputError(
            f"{frame.called} has the columns {', '.join(map(repr, frame.names))}, and the model reads texts; give "
            "the column of the texts alone, frame[['text']]"
        )
    named = model.schema_.names[model.schema_.families != list(FAMILIES).index("ignore")].tolist()
    lacking = [column_name(name) for name in named if model.schema_.named and name not in frame.names]
    if lacking:
        raise InputError(
            f"{frame.called} has no column {lacking[0]!r}, which the model was trained on"
            f"{did_you_mean(lacking[0], frame.names)}"
        )
    if hasattr(model, "_parameters"):
        model._parameters()  # what is wrong with the model is said here and now
    packed = container.to_bytes(*model.state())
    return frame.answered(partial(_answer, packed, method), _fields(model, method, frame.names))


def _answer(packed: bytes, method: str, rows: pa.Table) -> pa.Table:
    """The answers to some rows, where they are."""
    import pyarrow as pa

    model, names = _unpacked_model(packed), rows.column_names
    fields = _fields(model, method, names)
    if not rows.num_rows:
        return fields.empty_table()
    known, target = set(model.schema_.names.tolist()), getattr(model, "_target", None)
    own = rows.select([name for name in names if (name in known if known else name != target)])
    with threads.limited(1):  # an engine has a task for every core
        found = columns(model, own)
    return pa.table(
        [values for name, values in found.items() if method == "predict" or name not in _BEST], schema=fields
    )


@lru_cache(maxsize=2)
def _unpacked_model(packed: bytes) -> Any:
    """The model, once for all the rows that a worker gets."""
    manifest, tensors = container.from_bytes(packed)
    return model_class(manifest["model"]).from_state(manifest, tensors)
