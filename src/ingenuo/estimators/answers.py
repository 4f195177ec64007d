"""What a classifier answers to rows, as columns to put beside them: the class, its probability, that of every class."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from ingenuo import container
from ingenuo.engines import rows_on_engine
from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators.contract import check_is_fitted
from ingenuo.estimators.packed_models import pack_model, unpack_model
from ingenuo.kernels import threads
from ingenuo.schema import FAMILIES, column_name

EVERYTHING, PROBABILITIES = "everything", "probabilities"
_BEST = ("predicted", "probability")


def columns(model: Any, rows: Any, *, all_classes: bool = True) -> dict[str, pa.Array]:
    """`predicted`, `probability`, and the probability `P(…)` of every class if so asked; of a regressor one number."""
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


def _fields(model: Any, what: str, taken: list[str]) -> pa.Schema:
    """The columns that are put beside those that are there."""
    if not hasattr(model, "classes_"):
        return pa.schema([(free("predicted", taken), pa.float64())])
    labels = model.classes_.tolist()
    types = dict.fromkeys(["probability", *(f"P({label})" for label in labels)], pa.float64())
    types = {"predicted": pa.array(labels).type, **types}
    return pa.schema([(free(n, taken), t) for n, t in types.items() if what == EVERYTHING or n not in _BEST])


def free(name: str, taken: list[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name


def of_frame(model: Any, X: Any, what: str = EVERYTHING) -> Any:
    """A Dask or Spark frame with the answers beside its rows, not yet computed."""
    check_is_fitted(model)
    frame: Any = rows_on_engine(X)
    if not hasattr(frame, "answered"):
        raise KindError("the rows of files are answered by the command `predict`; of a frame give the frame itself")
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
    tensors: dict[str, Any] = {}
    packed = container.to_bytes(pack_model(model, tensors), tensors)
    return frame.answered(partial(_answer, packed, what), _fields(model, what, frame.names))


def _answer(packed: bytes, what: str, rows: pa.Table) -> pa.Table:
    """The answers to some rows, where they are."""
    model, names = _unpacked(packed), rows.column_names
    fields = _fields(model, what, names)
    if not rows.num_rows:
        return fields.empty_table()
    known, target = set(model.schema_.names.tolist()), getattr(model, "_target", None)
    own = rows.select([name for name in names if (name in known if known else name != target)])
    with threads.limited(1):  # an engine has a task for every core
        found = columns(model, own)
    return pa.table(
        [values for name, values in found.items() if what == EVERYTHING or name not in _BEST], schema=fields
    )


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> Any:
    """The model, once for all the rows that a worker gets."""
    return unpack_model(*container.from_bytes(packed))
