"""What callers of MLflow's and SageMaker's servers send to `/invocations`, and what they expect."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from ingenuo.errors import InputError, check_choice
from ingenuo.serve.bodies import CSV, JSON, Columns, Rows, read_csv
from ingenuo.serve.http import Answer, read_object

FORMS = ("dataframe_split", "dataframe_records", "instances", "inputs")
METHODS = ("predict", "predict_proba")


def read_invocation(kind: str, data: bytes, columns: Columns) -> tuple[Rows, str]:
    """The rows of a body, and the method that is asked for."""
    if kind == CSV:
        return columns.arrow(read_csv(data, columns)), METHODS[0]
    asked = read_object(data)
    forms = [form for form in FORMS if form in asked]
    if len(forms) != 1:
        raise InputError(f"the body must have one of {', '.join(FORMS)}, and has {' and '.join(forms) or 'none'}")
    params = asked.get("params") or {}
    if not isinstance(params, dict):
        raise InputError('"params" must be an object')
    method = check_choice("method", params.get("method", METHODS[0]), METHODS)
    found = _READERS[forms[0]](asked[forms[0]], columns)
    if not found.n:
        raise InputError("there are no rows; give one at least")
    return found, method


def _split(given: Any, columns: Columns) -> Rows:
    names, data = (given.get(key) if isinstance(given, dict) else None for key in ("columns", "data"))
    if not isinstance(data, list) or not (names is None or isinstance(names, list)):
        raise InputError('dataframe_split must be an object with "columns" and "data", both lists')
    return _cells(names, data, columns)


def _records(given: Any, columns: Columns) -> Rows:
    if not isinstance(given, list) or not all(type(each) is dict for each in given):
        raise InputError("dataframe_records must be a list of objects")
    return columns.rows([_without_strangers(each, columns) for each in given])


def _instances(given: Any, columns: Columns) -> Rows:
    if not isinstance(given, list):
        raise InputError("instances must be a list of rows")
    if given and all(type(each) is list for each in given):
        return _cells(None, given, columns)
    if len(columns.names) == 1:  # a list of values of the one column
        name = columns.names[0]
        return columns.rows([each if type(each) is dict else {name: each} for each in given])
    return columns.rows(given)


def _inputs(given: Any, columns: Columns) -> Rows:
    if not isinstance(given, dict):
        return _instances(given, columns)
    lists = {name: each if isinstance(each, list) else [each] for name, each in given.items()}
    lists = {name: [cell[0] if _is_cell(cell) else cell for cell in each] for name, each in lists.items()}
    lengths = {len(each) for each in lists.values()}
    if len(lengths) != 1:
        raise InputError("inputs must be an object from column to a list of its values, all of one length")
    for name in lists:
        columns.check_name(name)
    return columns.lists({name: each for name, each in lists.items() if name in columns.names}, lengths.pop())


def _is_cell(value: Any) -> bool:
    return type(value) is list and len(value) == 1


_READERS = {"dataframe_split": _split, "dataframe_records": _records, "instances": _instances, "inputs": _inputs}


def _cells(names: Sequence[Any] | None, data: list[Any], columns: Columns) -> Rows:
    """Rows that are lists of cells, in the order of the names, or of the model's own columns."""
    own = columns.names if names is None else [str(name) for name in names]
    if names is not None and all(type(name) is int for name in names) and not columns.named:
        own = columns.names if list(names) == list(range(len(columns.names))) else own  # the positions
    if len({*own}) < len(own):
        raise InputError("two columns have the same name; give each a name of its own")
    odd = next((place for place, row in enumerate(data) if type(row) is not list or len(row) != len(own)), None)
    if odd is not None:
        raise InputError(f"row {odd} is no list of {len(own)} values, one for each column")
    return columns.rows([_without_strangers(dict(zip(own, row)), columns) for row in data])


def _without_strangers(row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """A row of a frame, which may have other columns too where none of the model's is lacking."""
    if row.keys() <= columns.kinds.keys():
        return dict(row)
    lacking = any(name not in row for name in columns.names)
    return {name: value for name, value in row.items() if lacking or name in columns.kinds}


def answer_invocation(classes: Sequence[Any], posterior: Any, method: str, accept: str) -> Answer:
    """The answers as these callers expect them."""
    every = [list(map(float, row)) for row in posterior]
    best = [classes[row.index(max(row))] for row in every]
    if CSV in accept.lower() and JSON not in accept.lower():
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows(every if method == METHODS[1] else ([label] for label in best))
        return Answer(text.getvalue().encode(), b"text/csv")
    if method == METHODS[0]:
        return Answer.of({"predictions": best})
    names = [str(label) for label in classes]
    return Answer.of({"predictions": [dict(zip(names, row)) for row in every]})
