"""A statistic sent to where rows lie: it travels with its model as a task, in the format of the model file.

What comes back is a tally, or the one sentence that says why there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ingenuo import container
from ingenuo.engines.local import Total
from ingenuo.errors import EngineError, IngenuoError, InputError, KindError
from ingenuo.estimators.packed_models import models, name_of, pack_model, unpack_model
from ingenuo.estimators.rows import Statistic, part_of, together, weightless
from ingenuo.exact import Exact
from ingenuo.kernels import threads
from ingenuo.labels import objects
from ingenuo.packed.travelling import as_tensor, refused, to_bytes
from ingenuo.packed.values import pack, unpack
from ingenuo.sources.frames import described
from ingenuo.tally import Table, Tally
from ingenuo.version import VERSION

LEFT_OUT = "rows without a class"
_ROWS = 1 << 17  # rows that a statistic is given at a time, where there are as many
_BYTES = 1 << 26  # or so many bytes


class Task(NamedTuple):
    """What is to be done with every part of the rows."""

    model: Any
    options: Mapping[str, Any]  # among them the target and the weight
    columns: list[str]
    types: pa.Schema
    kinds: Mapping[str, tuple[str, str]]
    labelled: bool  # whether rows without a class are left out
    named: bool  # whether messages say of which part they speak

    def packed(self) -> bytes:
        """The task as bytes."""
        tensors = {"types": as_tensor(self.types.serialize().to_pybytes())}
        manifest = {
            "kind": "task",
            "version": VERSION,
            "model": None if self.model is None else _pack(self.model, tensors),
            "options": pack(dict(self.options)),
            "columns": self.columns,
            "kinds": [[name, *kind] for name, kind in self.kinds.items()],
            "labelled": self.labelled,
            "named": self.named,
        }
        return container.to_bytes(manifest, tensors)


def _pack(model: Any, tensors: dict[str, Any]) -> dict[str, Any]:
    try:
        name = name_of(model)
    except KindError:
        raise KindError(
            f"{type(model).__name__} cannot be sent to rows that lie in parts elsewhere, for only ingenuo's own models "
            "can; judge it by rows in memory, or by its predictions"
        ) from None
    if hasattr(model, "schema_"):
        return pack_model(model, tensors)
    return {"kind": "parameters", "model": name, "parameters": pack(model.get_params(deep=False))}


@lru_cache(maxsize=4)
def _unpacked(task: bytes) -> Task:
    """The task, once for all the parts that a worker gets."""
    manifest, tensors = container.from_bytes(task)
    if manifest["version"] != VERSION:
        raise EngineError(
            f"a worker has ingenuo {VERSION}, and the work was given by {manifest['version']}; install the "
            "same version everywhere"
        )
    packed = manifest["model"]
    if packed is None:
        model = None
    elif packed["kind"] == "parameters":
        model = models()[packed["model"]](**unpack(packed["parameters"]))
    else:
        model = unpack_model(packed, tensors)
    types = pa.ipc.read_schema(pa.py_buffer(tensors["types"].tobytes()))
    kinds = {name: (kind, why) for name, kind, why in manifest["kinds"]}
    options = unpack(manifest["options"])
    return Task(model, options, manifest["columns"], types, kinds, manifest["labelled"], manifest["named"])


def done(statistic: Statistic, task: bytes, number: int, tables: Iterable[pa.Table]) -> bytes:
    """What a part of the rows comes to: a tally, or an error, as bytes."""
    try:
        with threads.limited(1):  # an engine has a task for every core
            return to_bytes(_tally_of(statistic, _unpacked(task), number, tables))
    except IngenuoError as error:
        return refused(error)


def _tally_of(statistic: Statistic, task: Task, number: int, tables: Iterable[pa.Table]) -> Tally:
    total, before, left_out = Total(), 0, 0
    target = task.options.get("target")
    with _placed(task, number):
        for table in _gathered(tables):
            rows = _conforming(table, task)
            if task.labelled and rows.column(target).null_count:
                left_out += rows.column(target).null_count
                rows = rows.filter(rows.column(target).is_valid())
            if rows.num_rows:
                part = part_of(rows, target, task.options.get("weight"), number=number, before=before)
                if not weightless(part.weights):
                    total.add(statistic(task.model, part, task.options))
            before += rows.num_rows
    found = total.sum()
    return found + _counted(LEFT_OUT, ["rows"], [left_out]) if left_out else found


@contextmanager
def _placed(task: Task, number: int) -> Iterator[None]:
    """Errors say which partition they are about, unless they name a file."""
    try:
        yield
    except IngenuoError as error:
        if not task.named:
            raise
        raise type(error)(f"partition {number}: {error}") from None


def _gathered(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Tables of many rows, for each look at the columns of a table has its cost."""
    waiting: list[pa.Table] = []
    rows = size = 0
    for table in tables:
        waiting.append(table)
        rows, size = rows + table.num_rows, size + table.nbytes
        if rows >= _ROWS or size >= _BYTES:
            yield together(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield together(waiting)


def _conforming(table: pa.Table, task: Task) -> pa.Table:
    """The columns that are needed, of the types that they have in the other parts, with what they are."""
    columns, fields = [], []
    for name in task.columns:
        place = table.schema.get_field_index(name)
        if place < 0:
            raise InputError(f"there is no column {name!r}, which other parts have; give every part the same columns")
        column, field = table.column(place), table.schema.field(place)
        wanted = task.types.get_field_index(name)
        if wanted >= 0 and not pa.types.is_null(task.types.field(wanted).type):
            column = _cast(name, column, task.types.field(wanted).type)
        columns.append(column)
        fields.append(pa.field(name, column.type, metadata=field.metadata))
    return described(pa.Table.from_arrays(columns, schema=pa.schema(fields)), task.kinds)


def _cast(name: str, column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """A column in the type that it has elsewhere; where two differ, they are at least of one sort."""
    if pa.types.is_decimal(column.type):
        return column.cast(pa.float64())
    if column.type == wanted or pa.types.is_dictionary(wanted) or pa.types.is_dictionary(column.type):
        return column
    if pa.types.is_null(column.type) or _sort(column.type) == _sort(wanted):
        try:
            return column.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            if _sort(wanted) == "numbers":  # 2.5 among whole numbers
                return column
    raise InputError(
        f"column {name!r} holds {column.type} values, and {wanted} in other parts; give it one type in all parts"
    )


def _sort(type: pa.DataType) -> str:
    if is_string(type):
        return "strings"
    if pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type):
        return "numbers"
    return "dates" if pa.types.is_temporal(type) else str(type)


def is_string(type: pa.DataType) -> bool:
    """Whether a column of this type holds strings."""
    return pa.types.is_string(type) or pa.types.is_large_string(type) or str(type) == "string_view"


def _counted(name: str, labels: Iterable[Any], counts: Iterable[int]) -> Tally:
    axis = objects(list(labels))
    if not len(axis):
        return Tally()
    return Tally({name: Table.of({"what": axis}, Exact.counts(np.array(list(counts), np.int64)))})
