"""The Open Inference Protocol, version 2: rows as tensors, one of each column, or all of a table of numbers.

What the protocol leaves open is closed as its servers do: data is flat in the order of rows, or nested; null is a
missing value (an extension), and so is a column that is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ingenuo.errors import InputError, did_you_mean
from ingenuo.serve.bodies import MOST, Columns, Rows
from ingenuo.serve.http import Refused
from ingenuo.show.format import shortened

NAME, EXTENSIONS = "ingenuo", ("ingenuo-null", "ingenuo-explain", "ingenuo-learn")
OUTPUTS = ("predict", "probability", "predict_proba")
_WHOLE = {
    f"{sign}INT{bits}": (0 if sign else -(1 << (bits - 1)), (1 << (bits if sign else bits - 1)) - 1)
    for sign in ("", "U")
    for bits in (8, 16, 32, 64)
}
_REAL = ("FP16", "FP32", "FP64")
DATATYPES = ("BOOL", *_WHOLE, *_REAL, "BYTES")
_TYPES: Mapping[str, frozenset[type]] = {
    **{kind: frozenset({int, type(None)}) for kind in _WHOLE},
    **{kind: frozenset({float, int, type(None)}) for kind in _REAL},
    "BOOL": frozenset({bool, type(None)}),
    "BYTES": frozenset({str, type(None)}),
}  # of the elements
_OF_KIND = {"number": "FP64", "count": "INT64", "category": "BYTES", "text": "BYTES"}
_BINARY = "binary tensors are not taken: send and ask for JSON (binary_data=False)"


def describe_model(name: str, version: str, columns: Columns, n_classes: int) -> dict[str, Any]:
    """The metadata of a model."""
    return {
        "name": name, "versions": [version], "platform": NAME,
        "inputs": [
            {"name": each, "datatype": _OF_KIND[columns.kinds[each]], "shape": [-1, 1]} for each in columns.names
        ],
        "outputs": [
            {"name": "predict", "datatype": "BYTES", "shape": [-1]},
            {"name": "probability", "datatype": "FP64", "shape": [-1]},
            {"name": "predict_proba", "datatype": "FP64", "shape": [-1, n_classes]},
        ],
    }  # fmt: skip


def read_request(asked: Any, columns: Columns) -> tuple[Rows, list[str], str | None]:
    """The rows of a request, the outputs that are wanted, and its id."""
    if not isinstance(asked, dict):
        raise InputError("the request must be an object of JSON")
    name = asked.get("id")
    if name is not None and not isinstance(name, str):
        raise InputError("the id must be a text")
    parameters = asked.get("parameters")
    if isinstance(parameters, dict) and parameters.get("binary_data_output"):
        raise InputError(_BINARY)
    wanted = _wanted(asked.get("outputs"))
    inputs = asked.get("inputs")
    if inputs is None or inputs == []:
        return columns.rows([{}]), wanted, name
    if not isinstance(inputs, list):
        raise InputError('"inputs" must be a list of tensors')
    return _rows([_tensor(each, place) for place, each in enumerate(inputs)], columns), wanted, name


def _wanted(outputs: Any) -> list[str]:
    if outputs is None or outputs == []:
        return list(OUTPUTS)
    if not isinstance(outputs, list):
        raise InputError('"outputs" must be a list of objects with a "name"')
    found = []
    for each in outputs:
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(name, str) or name not in OUTPUTS:
            raise InputError(f"there is no output {shortened(name)!r}{did_you_mean(name, OUTPUTS)}")
        parameters = each.get("parameters")
        if isinstance(parameters, dict) and (parameters.get("binary_data") or "classification" in parameters):
            raise InputError(_BINARY if parameters.get("binary_data") else "classification is no parameter here")
        if name in found:
            raise InputError(f"the output {name!r} is asked for twice")
        found.append(name)
    return found


class _Tensor(NamedTuple):
    """A tensor that was checked, with its elements in the order of rows."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]


def _tensor(given: Any, place: int) -> _Tensor:
    """A tensor, checked."""
    if not isinstance(given, dict):
        raise InputError(f"input {place} must be an object with name, shape, datatype and data")
    name, shape, kind, data = (given.get(key) for key in ("name", "shape", "datatype", "data"))
    if not isinstance(name, str):
        raise InputError(f"input {place} has no name")
    called = f"input {shortened(name)!r}"
    if kind not in DATATYPES:
        raise InputError(f"{called}: the datatype {shortened(kind)!r} is not known{did_you_mean(kind, DATATYPES)}")
    parameters = given.get("parameters")
    if data is None and isinstance(parameters, dict) and "binary_data_size" in parameters:
        raise InputError(_BINARY)
    if not isinstance(shape, list) or not shape or not all(type(size) is int and size >= 0 for size in shape):
        raise InputError(f"{called}: the shape must be a list of whole numbers")
    if len(shape) > 2:
        raise InputError(f"{called}: the shape has {len(shape)} axes; give [n, 1], [n], or [n, columns]")
    if shape[0] > MOST:
        raise Refused(413, f"there are {shape[0]:,} rows, and {MOST:,} are taken at a time; send them in parts")
    if not isinstance(data, list):
        raise InputError(f"{called}: the data must be a list")
    types = {*map(type, data)}
    if list in types:
        width = shape[1] if len(shape) == 2 else -1
        if len(data) != shape[0] or not all(type(each) is list and len(each) == width for each in data):
            raise InputError(f"{called}: the data does not have the shape {shape}")
        data = [cell for each in data for cell in each]
        types = {*map(type, data)}
    n = shape[0] * (shape[1] if len(shape) == 2 else 1)
    if len(data) != n:
        raise InputError(f"{called}: the shape {shape} has {n:,} elements, and the data has {len(data):,}")
    if not types <= _TYPES[kind] or kind in _WHOLE:
        _check_elements(called, kind, data)
    return _Tensor(name, shape, kind, data)


def _check_elements(called: str, kind: str, data: list[Any]) -> None:
    """Raise where an element is not of the datatype; null is of any."""
    types, (low, high) = _TYPES[kind], _WHOLE.get(kind, (None, None))
    for place, each in enumerate(data):
        wrong = type(each) not in types
        if not wrong and low is not None and each is not None:
            wrong = not low <= each <= high
        if wrong:
            raise InputError(f"{called}: element {place} is {shortened(repr(each), 40)}, which is no {kind}")


def _rows(tensors: Sequence[_Tensor], columns: Columns) -> Rows:
    (name, shape, kind, data), width = tensors[0], len(columns.names)
    n = shape[0]
    if len(tensors) == 1 and len(shape) == 2 and shape[1] == width and (width > 1 or name not in columns.kinds):
        if columns.numeric != columns.names:
            raise InputError(
                f"one tensor of {width} columns is for numbers alone, and the model has other columns; give a tensor "
                "for each column"
            )
        if kind not in ("BOOL", "BYTES") and (found := columns.matrix(data, n)) is not None:
            return found
        return _some({each: data[place::width] for place, each in enumerate(columns.names)}, n, columns)
    named: dict[str, list[Any]] = {}
    for name, shape, _, data in tensors:
        columns.check_name(name)
        if name in named:
            raise InputError(f"there are two inputs {shortened(name)!r}; give each column once")
        if len(shape) == 2 and shape[1] != 1:
            raise InputError(
                f"input {shortened(name)!r} has the shape {shape}; the tensor of a column has [n, 1] or [n]"
            )
        if shape[0] != n:
            raise InputError(
                f"input {shortened(name)!r} has {shape[0]:,} rows and input {shortened(tensors[0].name)!r} {n:,}; give "
                "each the same number"
            )
        named[name] = data
    return _some(named, n, columns)


def _some(found: Mapping[str, list[Any]], n: int, columns: Columns) -> Rows:
    if n == 0:
        raise InputError("the tensors have no rows; give one at least")
    return columns.lists({name: each for name, each in found.items() if name in columns.names}, n)


def answer_request(
    name: str, version: str, labels: Sequence[str], posterior: Any, wanted: Sequence[str], id_: str | None
) -> dict[str, Any]:
    """The answer to a request."""
    n, outputs = len(posterior), list[dict[str, Any]]()
    if isinstance(posterior, np.ndarray):
        places = posterior.argmax(axis=1).tolist()
        posterior = posterior.tolist()
    else:
        places = [row.index(max(row)) for row in posterior]
    for each in wanted:
        if each == "predict":
            outputs.append({"name": each, "datatype": "BYTES", "shape": [n], "data": [labels[k] for k in places]})
        elif each == "probability":
            best = [row[k] for row, k in zip(posterior, places)]
            outputs.append({"name": each, "datatype": "FP64", "shape": [n], "data": best})
        else:
            outputs.append(
                {
                    "name": each,
                    "datatype": "FP64",
                    "shape": [n, len(labels)],
                    "data": [p for row in posterior for p in row],
                    "parameters": {"classes": list(labels)},
                }
            )
    found: dict[str, Any] = {"model_name": name, "model_version": version}
    if id_ is not None:
        found["id"] = id_
    return found | {"outputs": outputs}
