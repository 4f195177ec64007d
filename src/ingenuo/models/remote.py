"""Rows that lie elsewhere, asked in rounds: each is a function of a model and some rows, and gives a tally.

What comes back is a tally, or the one sentence that says why there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ingenuo import __version__
from ingenuo.errors import EngineError, IngenuoError, InputError, KindError, RefusedError, did_you_mean
from ingenuo.kernels import threads
from ingenuo.models.packing import (
    as_tensor,
    from_bytes,
    merged,
    pack,
    refused,
    to_bytes,
    unpack,
)
from ingenuo.models.registry import model_class, name_of
from ingenuo.rows.engines import EngineFrame
from ingenuo.rows.frames import described
from ingenuo.rows.kinds import infer_kind
from ingenuo.rows.rows import MemoryRows, Part, Statistic, Total, part_of, weightless
from ingenuo.rows.source import SAMPLE, Source, open_source, rows_on_engine
from ingenuo.rows.streams import concatenate
from ingenuo.tally import container
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import objects
from ingenuo.tally.tally import Table, Tally

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
            "version": __version__,
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
        manifest: dict[str, Any]
        manifest, own = model.state()
        tensors.update(own)
        return manifest
    return {"kind": "parameters", "model": name, "parameters": pack(model.get_params(deep=False))}


@lru_cache(maxsize=4)
def _unpacked_task(task: bytes) -> Task:
    """The task, once for all the parts that a worker gets."""
    manifest, tensors = container.from_bytes(task)
    if manifest["version"] != __version__:
        raise EngineError(
            f"a worker has ingenuo {__version__}, and the work was given by {manifest['version']}; install the "
            "same version everywhere"
        )
    packed = manifest["model"]
    if packed is None:
        model = None
    elif packed["kind"] == "parameters":
        model = model_class(packed["model"])(**unpack(packed["parameters"]))
    else:
        model = model_class(packed["model"]).from_state(packed, tensors)
    types = pa.ipc.read_schema(pa.py_buffer(tensors["types"].tobytes()))
    kinds = {name: (kind, why) for name, kind, why in manifest["kinds"]}
    options = unpack(manifest["options"])
    return Task(model, options, manifest["columns"], types, kinds, manifest["labelled"], manifest["named"])


def done(statistic: Statistic, task: bytes, number: int, tables: Iterable[pa.Table]) -> bytes:
    """What a part of the rows comes to: a tally, or an error, as bytes."""
    try:
        with threads.limited(1):  # an engine has a task for every core
            return to_bytes(_tally_of(statistic, _unpacked_task(task), number, tables))
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
            yield concatenate(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield concatenate(waiting)


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


# Rows that lie in parts on an engine: what the columns are is found out first, where it is not declared.


def in_parts(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    declared: Collection[Any] = (),
    *,
    labelled: bool = True,
) -> InParts:
    """The rows of a Dask or Spark frame, or of files on an engine.

    Parameters
    ----------
    X
        The frame or the files.
    y, sample_weight
        The columns of the classes and of the weights: their names, or columns of the engine.
    declared
        Columns of which it is known what they are, and that need not be looked at.
    labelled
        Whether there must be a column of classes.
    """
    found: Any = rows_on_engine(X)
    if found is None:
        raise KindError(f"a Dask or Spark frame was expected, got {type(X).__name__}")
    target = weight = None
    y = getattr(found, "target", None) if y is None else y
    if y is not None:
        found, target = found.column(y, "y")
    elif labelled:
        raise InputError(f"{found.called}: name the column to learn, y=…{did_you_mean('', found.names)}")
    if sample_weight is not None:
        found, weight = found.column(sample_weight, "sample_weight")
        if weight == target:
            raise InputError(f"column {weight!r} cannot be both the class and the weight; name another")
    return InParts(found, target, weight, declared)


class InParts:
    """Rows that lie in parts, wherever an engine has them.

    Attributes
    ----------
    names : list of str
        The columns to learn from.
    target, weight : str or None
        The columns of the classes and of the weights.
    left_out : int
        How many rows of files had no class, in the last round.
    """

    is_here = False

    def __init__(
        self,
        rows: EngineFrame,
        target: str | None = None,
        weight: str | None = None,
        declared: Collection[Any] = (),
    ) -> None:
        self.rows, self.target, self.weight, self._declared = rows, target, weight, declared
        self.names = [name for name in rows.names if name not in (target, weight)]
        if not self.names:
            raise InputError(f"{rows.called} has no column to learn from; keep one at least")
        self.left_out = 0
        self._types = rows.schema
        known: Mapping[str, tuple[str, str]] | None = getattr(rows, "kinds", None)
        self._kinds = None if known is None else {name: known[name] for name in self.names}

    @property
    def kinds(self) -> dict[str, tuple[str, str]]:
        """What each column is, and why: inferred from the first rows, unless it is declared."""
        if self._kinds is None:
            unknown = [name for name in self.names if name not in self._declared]
            self._kinds = dict.fromkeys(self.names, ("category", "declared"))
            for name, values in zip(unknown, self._first_rows(unknown)):
                found = infer_kind(name, values)
                self._kinds[name] = found.kind, found.why
        return self._kinds

    def _first_rows(self, unknown: list[str]) -> list[pa.ChunkedArray]:
        """The first rows of some columns; columns of which the engine does not know the type have one by them."""
        typeless = [name for name in self._read() if pa.types.is_null(self._field(name).type)]
        wanted = list(dict.fromkeys([*unknown, *typeless]))
        if not wanted:
            return []
        first = self.rows.head(wanted, SAMPLE)
        if not first.num_rows:
            raise InputError(f"{self.name}: there are no rows to learn from")
        for name in typeless:
            type = first.schema.field(name).type
            self._types = self._types.set(self._types.get_field_index(name), pa.field(name, type))
        return [first.column(name) for name in unknown]

    @property
    def name(self) -> str:
        """What messages call them."""
        return self.rows.called

    def columns(self, model: Any = None, *, whole: bool = False) -> Source:
        """What the columns are."""
        kinds = self.kinds
        return open_source(described(pa.schema([self._field(name) for name in self.names]).empty_table(), kinds))

    def reduce(self, statistic: Statistic, model: Any = None, **options: Any) -> Tally:
        """The sum of what a statistic gives for every part."""
        kinds = self.kinds
        given = {"target": self.target, "weight": self.weight, **options}
        return self._asked(statistic, model, given, self._read(), kinds)

    def parts(self) -> Iterator[Part]:
        """They stay where they are."""
        yield from self.in_memory().parts()

    def answer(self, model: Any, method: str) -> Any:
        """A frame of the engine with the answers beside its rows, not yet computed."""
        from ingenuo.models.answers import of_frame

        return of_frame(model, self.rows, method)

    def in_memory(self, instead: str = "") -> MemoryRows:
        """They are not, and stay where they are."""
        raise RefusedError(
            f"{self.name}: what was asked for goes over all the rows more than once, and is no sum of what each part "
            "of them gives; bring rows that fit one machine here (frame.compute(), frame.toPandas())"
            + (f", or {instead}" if instead else "")
        )

    def _read(self) -> list[str]:
        return [*self.names, *(name for name in (self.target, self.weight) if name is not None)]

    def _field(self, name: str) -> pa.Field:
        place = self._types.get_field_index(name)
        return pa.field(name, self._types.field(place).type if place >= 0 else pa.null())

    def _asked(
        self, statistic: Statistic, model: Any, options: Mapping[str, Any], columns: list[str], kinds: Mapping[str, Any]
    ) -> Tally:
        drops = bool(getattr(self.rows, "drops_unlabelled", False)) and options.get("target") is not None
        task = Task(model, options, columns, self._types, kinds, drops, bool(self.rows.place(0)))
        found = from_bytes(self.rows.reduce(columns, partial(done, statistic, task.packed()), merged))
        self.left_out = int(found.over(LEFT_OUT, found.labels(LEFT_OUT, 0)).floats().sum())
        if drops:
            self.rows.left_out = self.left_out  # type: ignore[attr-defined]
        return Tally({name: table for name, table in found.items() if name != LEFT_OUT})
