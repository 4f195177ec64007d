"""Rows that lie in parts on an engine: each part is reduced to a tally, or answered, where it lies.

What travels is the bytes of a model file, never a pickled object of ours: there a task, a statistic and the number of
a part; back a tally, or the one sentence that says why there is none.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ingenuo import __version__, errors
from ingenuo.errors import EngineError, IngenuoError, InputError, KindError, RefusedError, did_you_mean
from ingenuo.kernels import threads
from ingenuo.models.packing import pack, pack_tally, unpack, unpack_tally
from ingenuo.models.registry import model_class, name_of
from ingenuo.rows.engines import EngineFrame
from ingenuo.rows.kinds import describe, infer_kind, sort_of
from ingenuo.rows.rows import OURS, MemoryRows, Part, Statistic, Total, part_of, weightless
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.rows.source import SAMPLE, Source, open_source, rows_on_engine
from ingenuo.rows.streams import Drawn, concatenate, memory_rows
from ingenuo.tally import container
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import objects
from ingenuo.tally.tally import Table, Tally

LEFT_OUT = "rows without a class"
_ERROR = "refusal"
_ROWS = 1 << 17  # rows that a statistic is given at a time, where there are as many
_BYTES = 1 << 26  # or so many bytes
_BEST = ("predicted", "probability")


# Tallies and errors as bytes.


def to_bytes(tally: Tally) -> bytes:
    """A tally, as `save` writes it."""
    tensors: dict[str, Any] = {}
    return container.to_bytes({"kind": "tally", "tally": pack_tally(tally, tensors)}, tensors)


def error_to_bytes(error: IngenuoError) -> bytes:
    """An error, by the name of its class and what it says."""
    return container.to_bytes({"kind": _ERROR, "error": type(error).__name__, "says": str(error)}, {})


def from_bytes(data: bytes) -> Tally:
    """The tally; raises the error, should there be one instead."""
    manifest, tensors = container.from_bytes(data)
    raise_error(manifest)
    return unpack_tally(manifest["tally"], tensors)


def raise_error(manifest: Mapping[str, Any]) -> None:
    """Raise the error that was sent in place of sums or rows."""
    if manifest["kind"] != _ERROR:
        return
    kind: Any = getattr(errors, str(manifest["error"]), None)
    known = isinstance(kind, type) and issubclass(kind, IngenuoError)
    raise (kind if known else EngineError)(str(manifest["says"]))


def merge_bytes(parts: Sequence[bytes]) -> bytes:
    """The sum of tallies; of errors the first."""
    if len(parts) == 1:
        return parts[0]
    total = Total()
    try:
        for part in parts:
            total.add(from_bytes(part))
        return to_bytes(total.sum())
    except IngenuoError as error:
        return error_to_bytes(error)


# What is done with a part of the rows, where it lies.


class Task(NamedTuple):
    """What is to be done with every part of the rows."""

    model: Any
    options: Mapping[str, Any]  # among them the target and the weight
    columns: list[str]
    types: pa.Schema
    kinds: Mapping[str, tuple[str, str]]
    labelled: bool  # whether rows without a class are left out
    named: bool  # whether messages name the part

    def to_bytes(self) -> bytes:
        """The task as bytes."""
        tensors = {"types": np.frombuffer(self.types.serialize(), np.uint8)}
        model = None if self.model is None else _pack_model(self.model, tensors)
        plain = {name: value for name, value in self._asdict().items() if name not in ("model", "types")}
        manifest = {"kind": "task", "version": __version__, "model": model, "task": pack(plain)}
        return container.to_bytes(manifest, tensors)


def _pack_model(model: Any, tensors: dict[str, Any]) -> dict[str, Any]:
    try:
        name = name_of(model)
    except KindError:
        raise KindError(
            f"{type(model).__name__} cannot be sent to rows that lie in parts elsewhere, for only ingenuo's own models "
            "can; judge it by rows in memory, or by its predictions"
        ) from None
    if not hasattr(model, "schema_"):
        return {"kind": "parameters", "model": name, "parameters": pack(model.get_params(deep=False))}
    manifest, own = model.state()
    tensors.update(own)
    return dict(manifest)


@lru_cache(maxsize=4)
def _unpack_task(task: bytes) -> Task:
    """The task, once for all the parts that a worker gets."""
    manifest, tensors = container.from_bytes(task)
    if manifest["version"] != __version__:
        raise EngineError(
            f"a worker has ingenuo {__version__}, and the work was given by {manifest['version']}; install the "
            "same version everywhere"
        )
    packed, model = manifest["model"], None
    if packed is not None and packed["kind"] == "parameters":
        model = model_class(packed["model"])(**unpack(packed["parameters"]))
    elif packed is not None:
        model = model_class(packed["model"]).from_state(packed, tensors)
    types = pa.ipc.read_schema(pa.py_buffer(tensors["types"].tobytes()))
    return Task(model=model, types=types, **unpack(manifest["task"]))


def run_task(statistic: Statistic, task: bytes, number: int, tables: Iterable[pa.Table]) -> bytes:
    """What a part of the rows comes to: a tally, or an error, as bytes."""
    named = False
    try:
        with threads.limited(1):  # an engine has a task for every core
            unpacked = _unpack_task(task)
            named = unpacked.named
            return to_bytes(_tally_part(statistic, unpacked, number, tables))
    except IngenuoError as error:
        return error_to_bytes(type(error)(f"partition {number}: {error}") if named else error)


def _tally_part(statistic: Statistic, task: Task, number: int, tables: Iterable[pa.Table]) -> Tally:
    total, before, left_out = Total(), 0, 0
    target = task.options.get("target")
    for table in _gather(tables):
        rows = _labelled(_conform(table, task), task)
        left_out += table.num_rows - rows.num_rows
        if rows.num_rows:
            part = part_of(rows, target, task.options.get("weight"), number=number, before=before)
            if not weightless(part.weights):
                total.add(statistic(task.model, part, task.options))
        before += rows.num_rows
    if left_out:
        total.add(Tally({LEFT_OUT: Table.of({"what": objects(["rows"])}, Exact.counts(np.array([left_out])))}))
    return total.sum()


def _labelled(rows: pa.Table, task: Task) -> pa.Table:
    """The rows that have a class, where the others are left out."""
    target = task.options.get("target")
    if not task.labelled or not rows.column(target).null_count:
        return rows
    return rows.filter(rows.column(target).is_valid())


# Rows that are drawn at random, each part where it lies; a table of them as bytes, with their keys.


def _draw_part(task: bytes, number: int, tables: Iterable[pa.Table]) -> bytes:
    """What is drawn of a part of the rows, or an error, as bytes."""
    named = False
    try:
        with threads.limited(1):
            unpacked = _unpack_task(task)
            named, options = unpacked.named, unpacked.options
            rng = np.random.default_rng([OURS, options["seed"], number])
            drawn = Drawn(options["n"], options["n"], options["target"])
            for table in _gather(tables):
                rows = _labelled(_conform(table, unpacked), unpacked)
                drawn.add(rows, rng.random(rows.num_rows), np.arange(rows.num_rows) + drawn.total, rows.num_rows)
            return _pack_drawn(drawn)
    except IngenuoError as error:
        return error_to_bytes(type(error)(f"partition {number}: {error}") if named else error)


def _pack_drawn(drawn: Drawn) -> bytes:
    if not drawn.total:
        return container.to_bytes({"kind": "drawn", "total": 0}, {})
    table, keys, numbers = drawn.rows()
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as file:
        file.write_table(table)
    rows = np.frombuffer(stream.getvalue(), np.uint8)
    tensors: dict[str, Any] = {"rows": rows, "keys": keys, "numbers": numbers}
    return container.to_bytes({"kind": "drawn", "total": drawn.total}, tensors)


def _merge_drawn(n: int, target: str | None, parts: Sequence[bytes]) -> bytes:
    """What is drawn of several parts; of errors the first."""
    try:
        return parts[0] if len(parts) == 1 else _pack_drawn(_unpack_drawn(n, target, parts))
    except IngenuoError as error:
        return error_to_bytes(error)


def _unpack_drawn(n: int, target: str | None, parts: Sequence[bytes]) -> Drawn:
    drawn = Drawn(n, n, target)
    for part in parts:
        manifest, tensors = container.from_bytes(part)
        raise_error(manifest)
        if manifest["total"]:
            table = pa.ipc.open_stream(tensors["rows"].tobytes()).read_all()
            drawn.add(table, tensors["keys"], tensors["numbers"], manifest["total"])
    return drawn


def _gather(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Tables of many rows, for each look at the columns of a table has its cost."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(each.num_rows for each in waiting) >= _ROWS or sum(each.nbytes for each in waiting) >= _BYTES:
            yield concatenate(waiting)
            waiting = []
    if waiting:
        yield concatenate(waiting)


def _conform(table: pa.Table, task: Task) -> pa.Table:
    """The columns that are needed, of the types that they have in the other parts, with what they are."""
    columns, fields = [], []
    for name in task.columns:
        place, wanted = table.schema.get_field_index(name), task.types.get_field_index(name)
        if place < 0:
            raise InputError(f"there is no column {name!r}, which other parts have; give every part the same columns")
        column = table.column(place)
        if wanted >= 0 and not pa.types.is_null(task.types.field(wanted).type):
            column = _cast(name, column, task.types.field(wanted).type)
        columns.append(column)
        fields.append(pa.field(name, column.type, metadata=table.schema.field(place).metadata))
    return describe(pa.Table.from_arrays(columns, schema=pa.schema(fields)), task.kinds)


def _cast(name: str, column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """A column in the type that it has elsewhere; where two differ, they are at least of one sort."""
    if pa.types.is_decimal(column.type):
        return column.cast(pa.float64())
    if column.type == wanted or pa.types.is_dictionary(wanted) or pa.types.is_dictionary(column.type):
        return column
    if pa.types.is_null(column.type) or sort_of(column.type) == sort_of(wanted):
        try:
            return column.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            if sort_of(wanted) == "number":  # 2.5 among whole numbers
                return column
    raise InputError(
        f"column {name!r} holds {column.type} values, and {wanted} in other parts; give it one type in all parts"
    )


# The rows.


def remote_rows(
    X: Any, y: Any = None, sample_weight: Any = None, declared: Collection[Any] = (), *, labelled: bool = True
) -> RemoteRows:
    """The rows of a Dask or Spark frame, or of files on an engine; arguments as of `rows_of`."""
    found: Any = rows_on_engine(X)
    if found is None:
        raise KindError(f"a Dask or Spark frame was expected, got {type(X).__name__}")
    target = weight = None
    y = found.target if y is None else y
    if y is not None:
        found, target = found.column(y, "y")
    elif labelled:
        raise InputError(f"{found.called}: name the column to learn, y=…{did_you_mean('', found.names)}")
    if sample_weight is not None:
        found, weight = found.column(sample_weight, "sample_weight")
        if weight == target:
            raise InputError(f"column {weight!r} cannot be both the class and the weight; name another")
    return RemoteRows(found, target, weight, declared)


class RemoteRows:
    """Rows that lie in parts, wherever an engine has them."""

    is_here = False

    def __init__(
        self, frame: EngineFrame, target: str | None, weight: str | None, declared: Collection[Any] = ()
    ) -> None:
        self.frame, self.target, self.weight, self._declared = frame, target, weight, declared
        self.names = [name for name in frame.names if name not in (target, weight)]
        if not self.names:
            raise InputError(f"{frame.called} has no column to learn from; keep one at least")
        self._read = [*self.names, *(name for name in (target, weight) if name is not None)]
        self._types = frame.schema
        self._kinds = None if frame.kinds is None else {name: frame.kinds[name] for name in self.names}

    @property
    def name(self) -> str:
        """What messages call them."""
        return self.frame.called

    @property
    def kinds(self) -> dict[str, tuple[str, str]]:
        """What each column is, and why: inferred from the first rows, unless it is declared."""
        if self._kinds is not None:
            return self._kinds
        unknown = [name for name in self.names if name not in self._declared]
        typeless = [name for name in self._read if pa.types.is_null(self._field(name).type)]
        self._kinds = dict.fromkeys(self.names, ("category", "declared"))
        if not unknown and not typeless:
            return self._kinds
        first = self.frame.head(list(dict.fromkeys([*unknown, *typeless])), SAMPLE)
        if not first.num_rows:
            raise InputError(f"{self.name}: there are no rows to learn from")
        for name in typeless:  # of which the engine does not know the type
            place = self._types.get_field_index(name)
            self._types = self._types.set(place, pa.field(name, first.schema.field(name).type))
        for name in unknown:
            found = infer_kind(name, first.column(name))
            self._kinds[name] = found.kind, found.why
        return self._kinds

    def _field(self, name: str) -> pa.Field:
        place = self._types.get_field_index(name)
        return pa.field(name, self._types.field(place).type if place >= 0 else pa.null())

    def columns(self, model: Any = None, *, whole: bool = False) -> Source:
        """What the columns are."""
        kinds = self.kinds
        return open_source(describe(pa.schema([self._field(name) for name in self.names]).empty_table(), kinds))

    def reduce(self, statistic: Statistic, model: Any = None, **options: Any) -> Tally:
        """The sum of what a statistic gives for every part."""
        task = self._task(model, {"target": self.target, "weight": self.weight, **options})
        found = from_bytes(self.frame.reduce(self._read, partial(run_task, statistic, task), merge_bytes))
        self.frame.left_out = int(found.over(LEFT_OUT, found.labels(LEFT_OUT, 0)).floats().sum())
        return Tally({name: table for name, table in found.items() if name != LEFT_OUT})

    def _task(self, model: Any, options: Mapping[str, Any]) -> bytes:
        """What is to be done with every part, as bytes."""
        kinds = self.kinds
        drops = self.frame.drops_unlabelled and options["target"] is not None
        return Task(model, options, self._read, self._types, kinds, drops, bool(self.frame.place(0))).to_bytes()

    def sample(self, n: int, most: int, seed: int) -> tuple[MemoryRows, int]:
        """Some of them here; the others stay where they are."""
        task = self._task(None, {"target": self.target, "n": n, "seed": seed})
        merge = partial(_merge_drawn, n, self.target)
        drawn = _unpack_drawn(n, self.target, [self.frame.reduce(self._read, partial(_draw_part, task), merge)])
        if not drawn.total:
            raise InputError(f"{self.name}: there are no rows to learn from")
        table, _, _ = drawn.rows()
        return memory_rows(describe(table, self.kinds), self.target, self.weight), drawn.total

    def parts(self) -> Iterator[Part]:
        """They stay where they are."""
        yield from self.in_memory().parts()

    def in_memory(self, instead: str = "") -> MemoryRows:
        """They are not, and stay where they are."""
        raise RefusedError(
            f"{self.name}: this goes over all the rows more than once, and is no sum of what each part of them gives; "
            "bring rows that fit one machine here (frame.compute(), frame.toPandas())"
            + (f", or {instead}" if instead else "")
        )

    def answer(self, model: Any, method: str) -> Any:
        """A frame of the engine with the answers beside its rows, not yet computed."""
        frame, schema = self.frame, getattr(model, "schema_", None)
        if schema is None:
            raise RefusedError(
                f"{frame.called}: a {type(model).__name__} is made of several models, and cannot be sent to rows that "
                "lie there; bring the rows here (frame.compute(), frame.toPandas()), or use one of its models"
            )
        if method not in ("predict", "predict_proba"):
            raise RefusedError(
                f"{frame.called}: {method} answers rows in memory; rows that lie there have predict_proba"
            )
        if not len(schema) and len([name for name in frame.names if name != getattr(model, "_target", None)]) != 1:
            raise InputError(
                f"{frame.called} has the columns {', '.join(map(repr, frame.names))}, and the model reads texts; give "
                "the column of the texts alone, frame[['text']]"
            )
        used = schema.names[schema.families != list(FAMILIES).index("ignore")].tolist()
        lacking = [column_name(name) for name in used if schema.named and name not in frame.names]
        if lacking:
            raise InputError(
                f"{frame.called} has no column {lacking[0]!r}, which the model was trained on"
                f"{did_you_mean(lacking[0], frame.names)}"
            )
        if hasattr(model, "_parameters"):
            model._parameters()  # what is wrong with the model is raised here and now
        packed = container.to_bytes(*model.state())
        return frame.with_answers(partial(_answer_part, packed, method), _answer_fields(model, method, frame.names))


# Answers as columns.


def answer_columns(model: Any, rows: Any, *, all_classes: bool = True) -> dict[str, pa.Array]:
    """`predicted`, `probability`, and the probability `P(…)` of every class if wanted; of a regressor one number."""
    if not hasattr(model, "classes_"):
        return {"predicted": pa.array(np.asarray(model.predict(rows), np.float64))}
    labels, probabilities = model.classes_.tolist(), np.asarray(model.predict_proba(rows))
    best = probabilities.argmax(axis=1)
    found = {
        "predicted": pa.array(labels).take(pa.array(best)),
        "probability": pa.array(probabilities[np.arange(len(best)), best]),
    }
    every = {f"P({label})": pa.array(np.ascontiguousarray(column)) for label, column in zip(labels, probabilities.T)}
    return {**found, **every} if all_classes else found


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name


def _answer_fields(model: Any, method: str, taken: list[str]) -> pa.Schema:
    """The columns that are put beside those that are there."""
    if not hasattr(model, "classes_"):
        return pa.schema([(free_name("predicted", taken), pa.float64())])
    labels = model.classes_.tolist()
    names = [*(_BEST if method == "predict" else ()), *(f"P({label})" for label in labels)]
    types = {"predicted": pa.array(labels).type}
    return pa.schema([(free_name(name, taken), types.get(name, pa.float64())) for name in names])


def _answer_part(packed: bytes, method: str, rows: pa.Table) -> pa.Table:
    """The answers to some rows, where they are."""
    model, names = _unpack_model(packed), rows.column_names
    fields = _answer_fields(model, method, names)
    if not rows.num_rows:
        return fields.empty_table()
    known, target = set(model.schema_.names.tolist()), getattr(model, "_target", None)
    own = rows.select([name for name in names if (name in known if known else name != target)])
    with threads.limited(1):  # an engine has a task for every core
        found = answer_columns(model, own)
    return pa.table(
        [values for name, values in found.items() if method == "predict" or name not in _BEST], schema=fields
    )


@lru_cache(maxsize=2)
def _unpack_model(packed: bytes) -> Any:
    """The model, once for all the rows that a worker gets."""
    manifest, tensors = container.from_bytes(packed)
    return model_class(manifest["model"]).from_state(manifest, tensors)
