"""Rows that come in batches, what is made of them as they come, and how a fitted model takes them.

What `scan` gives is a stream, and so is what an Arrow stream hands out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.rows.kinds import as_types, describe, infer_kind, is_string
from ingenuo.rows.schema import FAMILIES, Schema
from ingenuo.rows.source import SAMPLE
from ingenuo.rows.typed import category, known_categories, reads_texts
from ingenuo.tally.labels import Labels

Progress = Callable[[int], object] | None

# Before every seed: a user's data may have been drawn by the same generator with the same small seed.
OURS = 0x1A6E


class Stream:
    """Rows that come in batches, as often as they are asked for."""

    names: list[str]
    paths: Sequence[Any]
    kinds: Mapping[str, tuple[str, str]]  # of each column but the target: what it is, and why
    target: str | None = None  # the column to learn, where the format names it
    categories: Mapping[str, Sequence[str]] = {}  # the values that the format declares
    n_bytes: int | None = None
    progress: Progress = None  # is told how many bytes have been read

    @property
    def name(self) -> str:
        """The files, as messages call them."""
        names = ["standard input" if path == "-" else str(path) for path in self.paths]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def batches(self) -> Iterator[pa.Table]:
        """The rows, some at a time, from the start."""
        raise NotImplementedError

    def table(self) -> pa.Table:
        """All the rows."""
        batches = list(self.batches())
        if not batches:
            raise InputError(f"{self.name}: there are no rows")
        return concatenate(batches)


def concatenate(tables: Sequence[pa.Table]) -> pa.Table:
    """Some tables as one; whole numbers become doubles where a later table has such."""
    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


class ArrowStream(Stream):
    """What hands out its rows as Arrow record batches: a DuckDB relation, a database cursor, a reader of batches."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._reader: pa.RecordBatchReader | None = pa.RecordBatchReader.from_stream(stream)
        self._schema: pa.Schema = self._reader.schema
        self._first: list[pa.RecordBatch] = []
        while sum(batch.num_rows for batch in self._first) < SAMPLE:
            try:
                self._first.append(self._reader.read_next_batch())
            except StopIteration:
                break
        self.paths = [f"the {type(stream).__name__}"]
        self.names = self._schema.names
        sample = pa.Table.from_batches(self._first, self._schema)
        found = {name: infer_kind(name, sample.column(name).slice(0, SAMPLE)) for name in self.names}
        self.kinds = {name: (kind.kind, kind.why) for name, kind in found.items()}
        self._types = {name: kind.type for name, kind in found.items()}

    def batches(self) -> Iterator[pa.Table]:
        """The rows, some at a time, from the start."""
        reader, self._reader = self._reader, None
        if reader is not None:
            waiting: Iterator[pa.RecordBatch] = chain(self._first, reader)
            self._first = []
        elif hasattr(self._stream, "read_next_batch"):
            raise InputError(
                f"{self.paths[0]} was read already, and can be read only once; what was asked for goes over the rows "
                "again: give a table (reader.read_all()), or what can be read again"
            )
        else:
            waiting = iter(pa.RecordBatchReader.from_stream(self._stream))
        for batch in waiting:
            if batch.num_rows:
                yield as_types(pa.Table.from_batches([batch], self._schema), self._types, self.paths[0])


class Mapped(Stream):
    """A stream that is made of another: what a function makes of the number of each batch and the batch."""

    def __init__(
        self,
        stream: Any,
        change: Callable[[int, pa.Table], pa.Table],
        names: list[str] | None = None,
        target: str | None = None,
    ) -> None:
        self.stream, self._change = stream, change
        self.names = list(stream.names) if names is None else names
        self.target = stream.target if target is None else target
        self.paths, self.kinds, self.n_bytes, self.categories = (
            stream.paths, stream.kinds, stream.n_bytes, stream.categories,
        )  # fmt: skip

    @property
    def progress(self) -> Progress:  # type: ignore[override]
        """What is told how many bytes have been read."""
        return self.stream.progress  # type: ignore[no-any-return]

    @progress.setter
    def progress(self, progress: Progress) -> None:
        self.stream.progress = progress

    def batches(self) -> Iterator[pa.Table]:
        """What is made of the batches."""
        for number, batch in enumerate(self.stream.batches()):
            yield self._change(number, batch)


def select_columns(stream: Any, names: list[str]) -> Stream:
    """Some of the columns."""
    return Mapped(stream, lambda _, batch: batch.select(names), names)


def pick_rows(stream: Any, pick: Callable[[int, int], NDArray[np.bool_]]) -> Stream:
    """Some of the rows: those that a function of the batch's number and length picks."""
    return Mapped(stream, lambda number, batch: batch.filter(pa.array(pick(number, batch.num_rows))))


def describe_columns(stream: Any) -> Stream:
    """The rows, whose columns say what they are and why; those that are set aside are there, and empty."""

    def described(_: int, batch: pa.Table) -> pa.Table:
        there = set(batch.column_names)
        for place, name in enumerate(stream.names):
            if name not in there:
                batch = batch.add_column(place, name, pa.nulls(batch.num_rows))
        return describe(batch, stream.kinds)

    return Mapped(stream, described)


class Held(Mapped):
    """All the rows of a stream that can be read once only, such as standard input, kept to be read again."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream, lambda _, batch: batch)
        self._table = stream.table()

    def batches(self) -> Iterator[pa.Table]:
        """The one."""
        yield self._table


class Labelled(Mapped):
    """The rows that have a class; `left_out` counts the others, as far as they have been read."""

    def __init__(self, stream: Any, target: str) -> None:
        super().__init__(stream, self._with_class, target=target)
        self.left_out = 0

    def batches(self) -> Iterator[pa.Table]:
        """Those rows, some at a time."""
        self.left_out = 0
        yield from super().batches()

    def _with_class(self, _: int, batch: pa.Table) -> pa.Table:
        classes = batch.column(self.target)
        self.left_out += classes.null_count
        return batch.filter(classes.is_valid()) if classes.null_count else batch

    @property
    def note(self) -> str:
        """A sentence on the rows that were left out, if there are any."""
        if not self.left_out:
            return ""
        rows = "1 row has" if self.left_out == 1 else f"{self.left_out:,} rows have"
        return f"{rows} no class in column {self.target!r}, and {'is' if self.left_out == 1 else 'are'} left out"


# A few rows: drawn at random, or by their numbers.


def draw_rows(stream: Any, n: int, seed: int) -> tuple[pa.Table, NDArray[np.int64], int]:
    """At most n rows of a stream, drawn at random in one reading; their numbers, from 0; and how many there were."""
    rng, total = np.random.default_rng([OURS, seed]), 0
    kept: list[tuple[pa.Table, NDArray[np.float64], NDArray[np.int64]]] = []

    def pruned() -> tuple[pa.Table, NDArray[np.float64], NDArray[np.int64]]:
        tables, keys, numbers = zip(*kept)
        table = concatenate(tables)
        key, number = np.concatenate(keys), np.concatenate(numbers)
        if len(key) <= n:
            return table, key, number
        least = np.sort(np.argpartition(key, n)[:n])  # the rows with the smallest keys are a fair draw
        return table.take(pa.array(least)), key[least], number[least]

    for batch in stream.batches():
        numbers = np.arange(total, total + batch.num_rows)
        kept.append((batch, rng.random(batch.num_rows), numbers))
        total += batch.num_rows
        if sum(len(key) for _, key, _ in kept) > 2 * n:
            kept = [pruned()]
    if not kept:
        raise InputError(f"{stream.name}: there are no rows")
    table, _, numbers = pruned()
    return table, numbers, total


_PART = re.compile(r"\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?")
_MOST = 10_000


def row_numbers(text: str) -> list[int]:
    """Numbers of rows as they are written, counted from 1.

    >>> row_numbers("3,7-9")
    [3, 7, 8, 9]
    """
    found: list[int] = []
    for part in text.split(","):
        matched = _PART.fullmatch(part)
        if matched is None:
            raise InputError(f"{part!r} in {text!r} is no row; write rows such as 3,7 or 7-9, counted from 1")
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if first == 0:
            raise InputError(f"{text!r} asks for row 0; rows are counted from 1")
        if last < first:
            raise InputError(f"{part.strip()!r} in {text!r} runs backwards; write {last}-{first}")
        if last - first >= _MOST or len(found) + last - first >= _MOST:
            raise InputError(f"{text!r} asks for more than {_MOST:,} rows; ask for fewer")
        found += range(first, last + 1)
    return found


def read_rows(stream: Any, numbers: Sequence[int]) -> pa.Table:
    r"""The rows of these numbers (from 1), in their order.

    >>> import tempfile
    >>> from ingenuo.rows.files.scan import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/rows.csv", "w") as file:
    ...         _ = file.write("a,b\n1,x\n2,y\n3,x\n")
    ...     read_rows(scan(f"{folder}/rows.csv"), [3, 1]).column("a").to_pylist()
    [3, 1]
    """
    last, seen = max(numbers), 0
    places: dict[int, int] = {}
    parts: list[pa.Table] = []
    for batch in stream.batches():
        wanted = sorted({number - seen - 1 for number in numbers if seen < number <= seen + batch.num_rows})
        if wanted or not parts:
            places |= {seen + place + 1: len(places) + at for at, place in enumerate(wanted)}
            parts.append(batch.take(pa.array(wanted, pa.int64())))
        seen += batch.num_rows
        if seen >= last:
            break
    if seen < last:
        raise InputError(f"{stream.name}: there is no row {last:,}; there are {seen:,}, and the header is none of them")
    return concatenate(parts).take(pa.array([places[number] for number in numbers], pa.int64()))


# The rows of files as a fitted model takes them: its columns and no others, as what it knows them for.


def choose_columns(model: Any, rows: Any, target: str | None) -> Any:
    """The columns that a model can learn from: of a language model the one that is text."""
    if not hasattr(model, "boundaries"):  # which the models of sequences have
        return rows
    target = rows.target if target is None else target
    return select_columns(rows, [_text_column(rows, target), *([] if target is None else [target])])


def _text_column(rows: Any, target: str | None) -> str:
    """The one column that holds texts."""
    texts = [name for name, (kind, _) in rows.kinds.items() if kind == "text" and name != target]
    others = [name for name in rows.names if name != target]
    if len(texts) == 1 or (not texts and len(others) == 1):
        return str((texts or others)[0])
    raise InputError(
        f"{rows.name}: one column of texts is needed, and there {'are several' if texts else 'is none'} "
        f"({', '.join(map(repr, texts or others))}); say which it is, and set the others aside"
    )


def rows_for(
    model: Any,
    rows: Any,
    target: str | None = None,
    *,
    labelled: bool = True,
    besides: Sequence[str] = (),
    others: bool = False,
) -> Any:
    """The rows of a scan as a fitted model takes them, with their class where it is asked for, as `target`.

    Columns that the model does not know are left out, but for those named in `besides`; with `others` they are read all
    the same, for `pairs`.
    """
    if not hasattr(model, "schema_"):
        raise KindError(f"a {type(model).__name__} learns and answers no rows of a table; a model does")
    texts = reads_texts(model)
    own, renamed = {} if texts else _kinds_of(model), {}
    named = _target_of(model, rows, target) if labelled else None
    more = [name for name in besides if name != named]
    if not texts and model.schema_.named:
        lacking = [name for name, kind in own.items() if kind != "ignore" and name not in rows.names]
        if lacking:
            raise InputError(
                f"{rows.name}: there is no column {lacking[0]!r}, which the model was trained on"
                f" (add it, left empty if it is not known){did_you_mean(lacking[0], rows.names)}"
            )
        kinds = {name: own[name] for name in rows.names if name != named and own.get(name, "ignore") != "ignore"}
        kinds |= {name: _kind_besides(rows, name) for name in more if name not in kinds}
        rows = rows.declared(kinds, target=named, others=others)
        kept = [name for name in rows.names if name in kinds]
    elif texts:
        called = str(model.schema_.names[0]) if len(model.schema_) else "text"
        column = called if called in rows.names else _text_column(rows, named or getattr(model, "_target", None))
        kinds = {column: "text"} | {name: _kind_besides(rows, name) for name in more}
        rows = rows.declared(kinds, target=named, others=others)
        kept, renamed = list(kinds), {column: called}
    else:
        kept = [name for name in rows.names if name != named]
    read = [*kept, *([] if named is None else [named])]
    names = [renamed.get(name, name) for name in read]
    taken = partial(_as_model_knows, model=model, target=named, read=read, names=names)
    found = Matched(rows, taken, names, named)
    return found if named is None else Labelled(found, named)


def match_stream(model: Any, stream: Any, target: str | None, weight: str | None) -> Any:
    """A stream as a fitted model takes it, where it can be read again as other kinds."""
    if not hasattr(stream, "declared") or not hasattr(model, "schema_"):
        return stream
    besides = [] if weight is None else [weight]
    found = rows_for(model, stream, target, labelled=target is not None, besides=besides)
    return found if target is None else found.stream  # rows without a class are refused, not left out


def _kind_besides(rows: Any, name: str) -> str:
    """What a column is that the model has no use for."""
    if name not in rows.names:
        raise InputError(f"{rows.name}: there is no column {name!r}{did_you_mean(name, rows.names)}")
    kind = rows.kinds.get(name, ("ignore", ""))[0]
    return "category" if kind in ("ignore", "text") else str(kind)


def _kinds_of(model: Any) -> dict[Any, str]:
    """What each column of a model is read as; a network's categories may be numbers that it cuts."""
    schema, cut = model.schema_, getattr(model, "cuts_", {})
    return {name: "number" if name in cut else FAMILIES[schema.family(name)] for name in schema.names.tolist()}


class Matched(Mapped):
    """Rows as a fitted model takes them."""

    def pairs(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Some rows with all the columns that are read, and what the model takes of them."""
        for number, batch in enumerate(self.stream.batches()):
            yield batch, self._change(number, batch)


def _as_model_knows(
    _: int, batch: pa.Table, model: Any, target: str | None, read: list[str], names: list[str]
) -> pa.Table:
    """The columns of a model, with categories and classes of the types that it knows them by.

    A file of text has "1" and "true" where a model that learned from another source may have 1 and True.
    """
    batch = batch.select(read)
    for place, name in enumerate(read):
        known, type = _known_values(model, name, target), batch.schema.field(place).type
        is_text = is_string(type.value_type if pa.types.is_dictionary(type) else type)
        if known is not None and is_text != (known.dtype.kind not in "biuf"):
            batch = batch.set_column(place, name, _as_known(batch.column(place), known))
    return batch.rename_columns(names)


def _known_values(model: Any, name: str, target: str | None) -> Labels | None:
    """The classes, or the categories of a column, that a model knows; None where it knows none."""
    schema: Schema = model.schema_
    if name == target:
        known = getattr(model, "classes_", None)
    else:
        own = name in schema.names.tolist() and FAMILIES[schema.family(name)] == "category"
        known = known_categories(model, name, schema) if own else None
    return known if known is not None and len(known) else None


def _as_known(column: pa.ChunkedArray, known: Labels) -> pa.ChunkedArray:
    """Values as those that a model knows by them; what it does not know is missing, as whatever it has never seen."""
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        encoded = encoded.dictionary_encode()
    labels = {(type(label), label) for label in known.tolist()}
    meant = [category(value, known) for value in encoded.dictionary.to_pylist()]
    kind = {"b": pa.bool_(), "f": pa.float64(), "i": pa.int64(), "u": pa.int64()}.get(known.dtype.kind, pa.string())
    values = pa.array([value if (type(value), value) in labels else None for value in meant], kind)
    return pa.chunked_array([values.take(encoded.indices)])


def _target_of(model: Any, rows: Any, target: str | None = None) -> str:
    """The column that holds the class: as named, as the model knows it, or as the format of the file has it."""
    known = getattr(model, "_target", None)
    for name in (target, known, rows.target):
        if name is not None and (name in rows.names or name == target):
            break
    else:
        raise InputError(
            f"{rows.name}: there is no column {known!r} to judge by{did_you_mean(known, rows.names)}; "
            "name the column that holds the class (--target COLUMN)"
            if known
            else f"name the column that holds the class (--target COLUMN){did_you_mean('', rows.names)}"
        )
    if name not in rows.names:
        raise InputError(f"{rows.name}: there is no column {name!r}{did_you_mean(name, rows.names)}")
    return str(name)
