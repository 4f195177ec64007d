"""Rows as they come in bodies (JSON, NDJSON, CSV, Arrow) as a model takes them, and answers as they are sent.

Every value is read by the kind of its column, so that a number is a number and a category the one that the model knows,
however it was spelled. Few rows become mappings, to be answered one by one; more become a table.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from ingenuo.errors import InputError, did_you_mean
from ingenuo.rows.files.contents import MISSING as MISSING_CELLS
from ingenuo.rows.files.write import write
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.rows.typed import MISSING, category, known_categories, reads_texts
from ingenuo.serve.http import Refused, find_repeated, read_json, read_object
from ingenuo.show.format import shortened
from ingenuo.tally.labels import Labels, labels_of, objects

MOST = 100_000  # rows of a body
WIDE = 10_000  # columns of CSV, for a model that has fewer
FEW = 64  # rows that are answered one by one
FEW_NUMBERS = 16  # where they come as one tensor, which makes a table cheap

JSON, NDJSON, CSV, ARROW = (
    "application/json",
    "application/x-ndjson",
    "text/csv",
    "application/vnd.apache.arrow.stream",
)
KINDS = (JSON, NDJSON, CSV, ARROW)
_LOWEST, _HIGHEST = -1.7976931348623157e308, 1.7976931348623157e308

Reader = Callable[[Any, str, int], Any]  # of a value of a column in a row; None is missing


class Rows(NamedTuple):
    """Rows as a model takes them: few as mappings, more as a table; perhaps with classes and weights."""

    n: int
    few: list[dict[str, Any]] | None
    table: Any = None
    labels: list[Any] | None = None
    weights: list[float] | None = None


class Columns:
    """The columns of a model, and how their values are read."""

    def __init__(self, model: Any) -> None:
        schema = model.schema_
        self.model, self.named, self.texts = model, schema.named, reads_texts(model)
        every = schema.names.tolist()
        if self.texts:
            every = every or ["text"]
            self.kinds = {column_name(every[0]): "text"}
        else:
            self.kinds = {column_name(name): FAMILIES[schema.family(name)] for name in every}
        self.names = [name for name, kind in self.kinds.items() if kind != "ignore"]
        self.target: str | None = model.__dict__.get("_target")
        self.known = {
            column_name(name): known_categories(model, name, schema)
            for name in every
            if self.kinds[column_name(name)] == "category"
        }
        self._readers: dict[str, Reader] = {}
        for name in self.names:
            labels, kind = self.known.get(name), self.kinds[name]
            if kind == "text":
                self._readers[name] = _read_text
            else:  # a column of categories that is cut from numbers has none
                self._readers[name] = _read_number if kind != "category" or labels is None else _Categories(labels)
        self.numeric = [name for name in self.names if self._readers[name] is _read_number]
        self._label = _Categories(labels_of(model.classes_))

    # Few rows.

    def row(self, given: Any, place: int) -> dict[str, Any]:
        """A row as a mapping without what is missing."""
        if type(given) is not dict:
            if self.texts and type(given) is str:
                return {self.names[0]: given}
            raise InputError(
                f"row {place} is {_called(given)}; a row is an object from column to a number, a text, true, false or "
                "null"
            )
        found, readers = {}, self._readers
        for name, value in given.items():
            if value is not None:
                read = readers.get(name)
                if read is None:
                    self.check_name(name, place)
                else:
                    value = read(value, name, place)
                    if value is not None:
                        found[name] = value
        return found

    def check_name(self, name: str, place: int | None = None) -> None:
        """Raise for a column that the model does not know."""
        if name not in self._readers and name not in self.kinds and name != self.target:
            where = "there is" if place is None else f"row {place} has"
            raise InputError(
                f"{where} a column {shortened(name)!r} that the model does not know{did_you_mean(name, self.names)}"
            )

    # Many rows.

    def rows(self, given: Sequence[Any], few: int = FEW) -> Rows:
        """Rows of JSON; up to so few are mappings."""
        check_number(len(given))
        if len(given) <= few:
            return Rows(len(given), [self.row(each, place) for place, each in enumerate(given)])
        if self.texts and all(type(each) is str for each in given):
            return Rows(len(given), None, list(given))
        if not all(type(each) is dict for each in given):
            return Rows(len(given), None, self.table([self.row(each, place) for place, each in enumerate(given)]))
        for name in dict.fromkeys(name for each in given for name in each):
            if name not in self._readers:
                self.check_name(name, next(place for place, each in enumerate(given) if name in each))
        return Rows(
            len(given),
            None,
            self._as_model({name: self._column(name, [each.get(name) for each in given]) for name in self.names}),
        )

    def lists(self, given: Mapping[str, Sequence[Any]], n: int, few: int = FEW) -> Rows:
        """Columns of values; what is left out is missing."""
        check_number(n)
        if n <= few:
            names = list(given)
            cells = zip(*given.values()) if given else [()] * n
            return Rows(n, [self.row(dict(zip(names, each)), place) for place, each in enumerate(cells)])
        return Rows(
            n, None, self._as_model({name: self._column(name, given.get(name, [None] * n)) for name in self.names})
        )

    def matrix(self, cells: Sequence[float | None], n: int) -> Rows | None:
        """Rows of numbers alone, one behind the other; None where they must be read one by one."""
        check_number(n)
        found = _finite(cells) if {*self.kinds.values()} == {"number"} else None
        if found is None:
            return None
        rows = found.reshape(n, -1)
        if n <= FEW_NUMBERS:
            return Rows(n, [{name: x for name, x in zip(self.names, row) if x == x} for row in rows.tolist()])
        if not self.named:
            return Rows(n, None, rows)
        return Rows(n, None, pa.table({name: pa.array(each) for name, each in zip(self.names, rows.T.copy())}))

    def table(self, few: Sequence[Mapping[str, Any]]) -> Any:
        """Rows that were read already as `predict_proba` takes them."""
        return self._as_model({name: self._array(name, [each.get(name) for each in few]) for name in self.names})

    def arrow(self, table: pa.Table, few: int = FEW) -> Rows:
        """The rows of an Arrow table; columns that the model does not know are left out where it lacks none."""
        check_number(table.num_rows)
        names = table.column_names
        there = {*names}
        if len(there) < len(names):
            raise InputError(f"there are two columns {shortened(find_repeated(names))!r}; give each a name of its own")
        if not there.issuperset(self.names):
            for name in names:
                self.check_name(name)
        table = table.select([name for name in self.names if name in there])
        if table.num_rows <= few:
            plain = [_plain_column(table.column(name), name).to_pylist() for name in table.column_names]
            return self.lists(dict(zip(table.column_names, plain)), table.num_rows, few)
        columns = {name: _plain_column(table.column(name), name) for name in table.column_names}
        empty = pa.nulls(table.num_rows)
        return Rows(
            table.num_rows,
            None,
            self._as_model({name: self._typed(name, columns.get(name, empty)) for name in self.names}),
        )

    def _column(self, name: str, values: Sequence[Any]) -> pa.Array:
        """The values of a column of JSON, all at once where they are of one type."""
        read, types = self._readers[name], {*map(type, values)} - {type(None)}
        if read is _read_number and types <= {int, float} and (numbers := _finite(values)) is not None:
            return pa.array(np.nan_to_num(numbers) if self.kinds[name] == "count" else numbers)
        found = None
        if len(types) == 1 and not types & {bool, dict, list}:
            with suppress(pa.ArrowException, OverflowError):  # of numbers that are too large
                found = pa.array(values)
        if found is None:
            return self._each(name, values)
        return self._typed(name, found)

    def _typed(self, name: str, values: Any) -> Any:
        """A column of Arrow in the type that the model takes."""
        read, n = self._readers[name], len(values)
        if pa.types.is_null(values.type):
            return self._array(name, [None] * n)
        texts = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
        if read is _read_text:
            return values if texts else self._each(name, values.to_pylist())
        if read is _read_number:
            found = _numbers_of(values) if texts else None
            if found is not None or not (texts or pa.types.is_boolean(values.type)):
                found = values.cast(pa.float64(), safe=False) if found is None else found
                infinite = pc.index(pc.is_inf(found), True).as_py()
                if infinite >= 0:
                    read(found[infinite].as_py(), name, infinite)
                if self.kinds[name] == "count":
                    found = pc.fill_null(pc.if_else(pc.is_nan(found), 0.0, found), 0.0)
                return found
            return self._each(name, values.to_pylist())
        coded = values.dictionary_encode()
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
        try:
            own = [read(each, name, -1) for each in coded.dictionary.to_pylist()]
        except InputError:  # once more, for the row
            return self._each(name, values.to_pylist())
        return self._array(name, own).take(coded.indices)

    def _each(self, name: str, values: Iterable[Any]) -> pa.Array:
        """Values that are read one by one."""
        read = self._readers[name]
        return self._array(name, [None if x is None else read(x, name, place) for place, x in enumerate(values)])

    def _array(self, name: str, values: list[Any]) -> pa.Array:
        """Values that were read, in the type that the model takes; of several types as text."""
        kind = self.kinds[name]
        if self._readers[name] is _read_number:
            return pa.array([0.0 if x is None else x for x in values] if kind == "count" else values, pa.float64())
        if kind == "text":
            return pa.array(values, pa.string())
        try:
            found = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            found = pa.array([None if x is None else str(x) for x in values], pa.string())
        return pa.array(values, pa.string()) if pa.types.is_null(found.type) else found

    def _as_model(self, columns: Mapping[str, Any]) -> Any:
        """Columns as the table that the model was learned from had them."""
        if self.texts:
            texts = columns[self.names[0]].to_pylist()
            return texts if len(self.model.schema_) else ["" if text is None else text for text in texts]
        if self.named:
            return pa.table({name: columns[name] for name in self.names})
        if self.numeric == list(self.kinds):
            return np.column_stack(
                [np.asarray(columns[name].to_numpy(zero_copy_only=False), np.float64) for name in self.names]
            )
        n = len(next(iter(columns.values())))
        cells = np.empty((n, len(self.kinds)), object)
        for place, name in enumerate(self.kinds):
            cells[:, place] = objects(columns[name].to_pylist()) if name in columns else None
        return cells

    # Classes.

    def labels(self, given: Sequence[Any], n: int) -> list[Any]:
        """The classes of rows: those that the model knows, or new ones."""
        if len(given) != n:
            raise InputError(f"there are {n} rows and {len(given)} classes; give one class for each row")
        found, read = list[Any](), dict[Any, Any]()
        for place, value in enumerate(given):
            key = (type(value), value) if _is_plain(value) else place
            if key not in read:
                read[key] = self._label_of(value, place)
            found.append(read[key])
        return found

    def label(self, value: Any) -> Any:
        """A class as the model knows it, or as it is given."""
        return self._label_of(value, None)

    def _label_of(self, value: Any, place: int | None) -> Any:
        found = None if value is None else self._label(value, "class", -1 if place is None else place)
        if found is None:
            raise InputError(f"row {place} has no class; give one, or leave the row out")
        return found


def check_number(n: int) -> None:
    """Raise for more rows than are taken."""
    if n > MOST:
        raise Refused(413, f"there are {n:,} rows, and {MOST:,} are taken at a time; send them in parts")


def _called(value: Any) -> str:
    """What a value of JSON is, in a message."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _wrong(value: Any, name: str, place: int, wanted: str) -> InputError:
    where = f"row {place}, column {shortened(name)!r}" if place >= 0 else f"column {shortened(name)!r}"
    shown = _called(value) if isinstance(value, dict | list) else shortened(repr(value), 60)
    return InputError(f"{where}: {shown} is no {wanted}")


def _numbers_of(texts: Any) -> Any:
    """Texts as doubles where all are plain numbers, or missing; else None."""
    try:
        found = pc.cast(pc.utf8_trim_whitespace(texts), pa.float64())
    except pa.ArrowInvalid:
        return None
    return None if pc.any(pc.is_inf(found)).as_py() else found


def _finite(values: Sequence[float | None]) -> NDArray[np.float64] | None:
    """Numbers of JSON as doubles, null as NaN; None where one of them is none that a double holds."""
    try:
        found = np.array(values, np.float64)
    except OverflowError:
        return None
    return None if np.isinf(found).any() else found


def _read_number(value: Any, name: str, place: int) -> float | None:
    kind = type(value)
    if kind is float or kind is int:
        if _LOWEST <= value <= _HIGHEST:
            return float(value)
        if value != value:
            return None
        raise _wrong(value, name, place, "number that a double holds; give a finite one, or null if it is missing")
    if kind is str:
        value = value.strip()
        if value in MISSING:
            return None
        try:
            return _read_number(float(value), name, place)
        except ValueError:
            pass
    raise _wrong(value, name, place, "number; give one, or null if it is missing")


def _read_text(value: Any, name: str, place: int) -> str:
    if type(value) is str:
        return value
    if isinstance(value, dict | list | bytes):
        raise _wrong(value, name, place, "text")
    return str(value)


class _Categories:
    """Reads the values of a column of categories, each as the model knows it."""

    def __init__(self, known: Labels) -> None:
        self.known = known
        self._own = {each if type(each) is str else (type(each), each): each for each in known.tolist()}

    def __call__(self, value: Any, name: str, place: int) -> Any:
        found = self._own.get(value if type(value) is str else (type(value), value)) if _is_plain(value) else None
        if found is not None:
            return found
        if value != value:
            return None
        if isinstance(value, dict | list | bytes) or (isinstance(value, float) and math.isinf(value)):
            raise _wrong(value, name, place, "category; give a text, a number, true or false")
        if type(value) is int and not -(1 << 63) <= value < 1 << 63:
            raise _wrong(value, name, place, "category; a whole number has 64 bits at most, give it as a text")
        return category(value, self.known)


def _is_plain(value: Any) -> bool:
    return value.__hash__ is not None


# Bodies.


def read_rows(
    kind: str, data: bytes, columns: Columns, *, labelled: bool = False, few: int = FEW
) -> tuple[Rows, dict[str, Any]]:
    """The rows of a body, and what else an object of JSON says; labelled rows have their classes."""
    said: dict[str, Any] = {}
    if kind == JSON:
        said = read_object(data)
        given = said.pop("rows", None)
        if not isinstance(given, list):
            raise InputError('the body must have "rows", a list with an object for each row')
        found = columns.rows(given, few)
        if labelled:
            found = _with_labels(found, given, said, columns)
    elif kind == NDJSON:
        given = _lines(data)
        found = columns.rows(given, few)
        if labelled:
            found = _with_labels(found, given, {}, columns)
    else:
        table = read_csv(data, columns) if kind == CSV else read_arrow(data)
        found = columns.arrow(table, few)
        if labelled:
            found = found._replace(labels=columns.labels(_target_of(table, columns), found.n))
    if not found.n:
        raise InputError("there are no rows; give one at least")
    return found, said


def _with_labels(found: Rows, given: list[Any], said: dict[str, Any], columns: Columns) -> Rows:
    labels, weights = said.pop("classes", None), said.pop("weights", None)
    if labels is None:
        name = columns.target
        labels = [each.get(name) for each in given if type(each) is dict] if name is not None else []
        if len(labels) != found.n or all(each is None for each in labels):
            own = "" if name is None else f", or every row its {name!r}"
            raise InputError(f'the body must have "classes", a list with the class of each row{own}')
    if not isinstance(labels, list):
        raise InputError(f'"classes" is {_called(labels)}; it must be a list with the class of each row')
    if weights is not None:
        if not isinstance(weights, list) or len(weights) != found.n:
            raise InputError(f'"weights" must be a list of {found.n} numbers, one for each row')
        weights = [_weight(each, place) for place, each in enumerate(weights)]
    return found._replace(labels=columns.labels(labels, found.n), weights=weights)


def _weight(value: Any, place: int) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1e300:
        raise InputError(
            f"the weight of row {place} is {shortened(repr(value), 60)}; weights are finite and not negative"
        )
    return float(value)


def _target_of(table: pa.Table, columns: Columns) -> list[Any]:
    if columns.target is None or columns.target not in table.column_names:
        name = "of JSON by its classes" if columns.target is None else f"{columns.target!r}"
        raise InputError(f"the rows have no column of their class; give it as column {name}")
    return list(_plain_column(table.column(columns.target), columns.target).to_pylist())


def _lines(data: bytes) -> list[Any]:
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                found.append(read_json(line))
            except Refused as error:
                raise Refused(error.code, f"line {number}: {error}") from None
            check_number(len(found))
    return found


def read_csv(data: bytes, columns: Columns) -> pa.Table:
    """A table of CSV whose first line names the columns; cells are text."""
    own = [*columns.kinds, *([columns.target] if columns.target is not None else [])]
    read = arrow_csv.ReadOptions(use_threads=False, block_size=max(len(data), 1) + 1)
    parsed = arrow_csv.ParseOptions(newlines_in_values=True)
    convert = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(own, pa.string()),
        null_values=[*MISSING_CELLS, ""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    most = max(WIDE, 2 * len(own))
    if data.count(b",") >= most:
        with suppress(UnicodeError, csv.Error):  # of which more is said below
            width = len(next(csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")), ()))
            if width > most:
                raise Refused(413, f"there are {width:,} columns, and {most:,} are taken; leave out what is not needed")
    try:
        return arrow_csv.read_csv(io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")), read, parsed, convert)
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError) as error:
        raise InputError(f"the body is no CSV: {shortened(' '.join(str(error).split()), 200)}") from None


def read_arrow(data: bytes) -> pa.Table:
    """The table of an Arrow stream, checked before anything is believed of it."""
    try:
        refuse_packed(data)
        with pa.ipc.open_stream(pa.py_buffer(data)) as stream:
            batches, n = [], 0
            for batch in stream:
                n += batch.num_rows
                check_number(n)
                batch.validate(full=True)
                batches.append(batch)
            return pa.Table.from_batches(batches, stream.schema)
    except (pa.ArrowException, OSError, ValueError, OverflowError, EOFError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        said = shortened(" ".join(str(error).split()), 200) or "it ends too early"
        raise InputError(f"the body is no Arrow stream: {said}") from None


def refuse_packed(data: bytes) -> None:
    """Raise for buffers that are packed within the stream: a few bytes could become any number of them.

    Each message is 0xFFFFFFFF, its length, a table of flatbuffers, and its body; of the header of a batch of rows, or
    of a dictionary's batch, the fourth field is how its buffers are packed.
    """
    reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(data))
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return
        if message.type in ("record batch", "dictionary"):
            table = memoryview(message.metadata.to_pybytes())
            header = _field(table, _word(table, 0), 2)
            if header is None:
                raise ValueError("a message has no header")
            header += _word(table, header)
            if message.type == "dictionary":
                inner = _field(table, header, 1)
                if inner is None:
                    continue
                header = inner + _word(table, inner)
            if _field(table, header, 3) is not None:
                raise InputError(
                    "the buffers of the Arrow stream are packed; send them plain, and pack the body by gzip"
                )


def _word(table: memoryview, at: int, size: int = 4, signed: bool = False) -> int:
    if not 0 <= at <= len(table) - size:
        raise ValueError("a message is damaged")
    return int.from_bytes(table[at : at + size], "little", signed=signed)


def _field(table: memoryview, at: int, number: int) -> int | None:
    """Where a field of a table of flatbuffers stands; None where it is not there."""
    fields = at - _word(table, at, signed=True)
    entry = 4 + 2 * number
    if entry + 2 > _word(table, fields, 2):
        return None
    offset = _word(table, fields + entry, 2)
    return at + offset if offset else None


def _plain_column(column: Any, name: str) -> Any:
    """A column of plain values: dictionaries are written out, and what is nested is refused."""
    type_ = column.type
    if pa.types.is_dictionary(type_):
        column = column.cast(type_.value_type)
        type_ = column.type
    if pa.types.is_string_view(type_):
        return column.cast(pa.string())
    if pa.types.is_decimal(type_):
        return column.cast(pa.float64())
    texts = pa.types.is_string(type_) or pa.types.is_large_string(type_)
    numbers = pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_)
    if texts or numbers or pa.types.is_null(type_):
        return column
    raise InputError(f"column {shortened(name)!r} is of type {type_}; give numbers, texts, or true and false")


# Answers.


def accepted(accept: str, came: str) -> str:
    """The kind of an answer: the first that is accepted; else as the rows came."""
    for each in accept.lower().split(","):
        kind = each.partition(";")[0].strip()
        if kind in KINDS:
            return kind
        if kind in ("*/*", "application/*", "text/*"):
            break
    else:
        if accept.strip():
            raise Refused(406, f"none of {shortened(accept, 60)} can be answered; accept {', '.join(KINDS)}")
    return came


def answer_table(classes: Sequence[Any], posterior: Any) -> pa.Table:
    """The answers as a table: `predicted`, `probability`, and `P(…)` of each class."""
    found = np.asarray(posterior, np.float64).reshape(-1, len(classes))
    best = found.argmax(axis=1)
    columns: dict[str, Any] = {
        "predicted": pa.array(list(classes)).take(pa.array(best)),
        "probability": pa.array(found[np.arange(len(best)), best]),
    }
    columns |= {f"P({label})": pa.array(np.ascontiguousarray(each)) for label, each in zip(classes, found.T)}
    return pa.table(columns)


def write_table(table: pa.Table, kind: str) -> bytes:
    """A table as NDJSON, CSV or an Arrow stream."""
    if kind == ARROW:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return bytes(sink.getvalue().to_pybytes())
    return b"".join(write(iter([table]), "csv" if kind == CSV else "jsonl"))


def each_line(data: Iterable[Any]) -> bytes:
    """Values as NDJSON."""
    import json

    return "".join(json.dumps(each, separators=(",", ":"), allow_nan=False) + "\n" for each in data).encode()
