"""Rows that come in batches, what is made of them as they come, and how a fitted model takes them.

What `scan` gives is a stream, and so is what an Arrow stream hands out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.rows import checks
from ingenuo.rows.kinds import as_types, describe, infer_kind, sort_of
from ingenuo.rows.rows import (
    OURS,
    MemoryRows,
    Part,
    Statistic,
    Total,
    draw,
    is_path,
    is_stream,
    part_of,
    weightless,
)
from ingenuo.rows.schema import FAMILIES
from ingenuo.rows.source import SAMPLE, Source, open_source
from ingenuo.rows.typed import reads_texts
from ingenuo.tally.labels import Labels, labels_of, meet, objects
from ingenuo.tally.tally import Tally

R = TypeVar("R")
Progress = Callable[[int, int], object] | None
Change = Callable[[int, pa.Table], pa.Table]
_Drawn = tuple[pa.Table, NDArray[np.float64], NDArray[np.int64]]  # rows, with their keys and numbers

_TARGET = ("y='COLUMN'", "--target COLUMN")  # in Python, and as the command has it
_TOGETHER = 4  # batches that are summed at a time
_LARGE = 1 << 26  # bytes, unless they are large


class Stream:
    """Rows that come in batches, as often as they are needed."""

    names: list[str]
    paths: Sequence[Any]
    kinds: Mapping[str, tuple[str, str]]  # of each column but the target: what it is, and why
    target: str | None = None  # the column to learn, where the format names it
    categories: Mapping[str, Sequence[str]] = {}  # the values that the format declares
    labels: Mapping[str, Any] = {}  # columns of labels that are read as booleans or numbers until one is neither
    n_bytes: int | None = None
    untitled: str = ""  # what is said of the names of columns where one is not there
    progress: Progress = None  # is called with the numbers of bytes and rows read so far

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
        batches = read_alike(self, lambda: list(self.batches_alike()))
        if not batches:
            raise InputError(f"{self.name}: there are no rows")
        return concatenate(batches)

    def batches_alike(self) -> Iterator[pa.Table]:
        """The same, as long as labels are of the type that they had at first; `Relabelled` where one is not."""
        before = dict(self.labels)
        for batch in self.batches():
            if self.labels != before:
                break
            yield batch
        if self.labels != before:
            raise Relabelled(next(name for name in before if name not in self.labels))


class Relabelled(Exception):
    """Labels of a text file were booleans or numbers as far as was looked, and are strings."""


def read_alike(stream: Stream, read: Callable[[], R], done: int = 0) -> R:
    """What is made of all the batches: once more from the start where labels turn out to be strings."""
    while True:
        try:
            return read()
        except Relabelled as error:
            once = stream.n_bytes is None
            if once or done:
                remedy = "write the rows to a file, and give that" if once else "remove the checkpoint, and begin again"
                raise InputError(
                    f"{stream.name}: column {str(error)!r} has booleans or numbers at first, and then a word, so that "
                    f"it has to be read again as strings; {remedy}"
                ) from None


def concatenate(tables: Sequence[pa.Table]) -> pa.Table:
    """Some tables as one; whole numbers become doubles where a later table has such, and labels strings."""
    if len(tables) == 1:
        return tables[0]
    strings = {field.name for table in tables for field in table.schema if pa.types.is_dictionary(field.type)}
    for name in strings if any(table.schema != tables[0].schema for table in tables) else ():
        tables = [
            table
            if sort_of(table.schema.field(name).type) not in ("bool", "number")
            else table.set_column(
                place,
                name,
                pa.array(
                    [None if v is None else str(v) for v in table.column(name).to_pylist()], pa.string()
                ).dictionary_encode(),
            )
            for table in tables
            for place in [table.schema.get_field_index(name)]
        ]
    return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


class ArrowStream(Stream):
    """What hands out its rows as Arrow record batches: a DuckDB relation, a database cursor, a reader of batches."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._reader: pa.RecordBatchReader | None = pa.RecordBatchReader.from_stream(stream)
        self._schema: pa.Schema = self._reader.schema
        self._first: list[pa.RecordBatch] = []
        for batch in self._reader:
            self._first.append(batch)
            if sum(each.num_rows for each in self._first) >= SAMPLE:
                break
        self.paths = [f"the {type(stream).__name__}"]
        self.names = self._schema.names
        sample = pa.Table.from_batches(self._first, self._schema).slice(0, SAMPLE)
        found = {name: infer_kind(name, sample.column(name)) for name in self.names}
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
                f"{self.paths[0]} was read already, and can be read only once, and this goes over the rows again: give "
                "a table (reader.read_all()), or what can be read again"
            )
        else:
            waiting = iter(pa.RecordBatchReader.from_stream(self._stream))
        for batch in waiting:
            if batch.num_rows:
                yield as_types(pa.Table.from_batches([batch], self._schema), self._types, self.paths[0])


class Mapped(Stream):
    """A stream that is made of another: what a function makes of the number of each batch and the batch."""

    left_out = 0  # rows without a class, as far as the stream has been read

    def __init__(self, stream: Any, change: Change, names: list[str] | None = None, target: str | None = None) -> None:
        self.stream, self._change = stream, change
        self.names = list(stream.names) if names is None else names
        self.target = stream.target if target is None else target
        self.paths, self.kinds, self.categories = stream.paths, stream.kinds, stream.categories
        self.n_bytes, self.untitled = stream.n_bytes, stream.untitled

    @property
    def labels(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The columns of labels that are read as booleans or numbers."""
        return self.stream.labels  # type: ignore[no-any-return]

    @property
    def progress(self) -> Progress:  # type: ignore[override]
        """What is called with the numbers of bytes and rows read so far."""
        return self.stream.progress  # type: ignore[no-any-return]

    @progress.setter
    def progress(self, progress: Progress) -> None:
        self.stream.progress = progress

    def pairs(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """The batches, and what is made of each."""
        for number, batch in enumerate(self.stream.batches()):
            yield batch, self._change(number, batch)

    def batches(self) -> Iterator[pa.Table]:
        """What is made of the batches."""
        self.left_out = 0
        return (changed for _, changed in self.pairs())

    @property
    def note(self) -> str:
        """A sentence on the rows that were left out, if there are any."""
        if not self.left_out:
            return ""
        rows = "1 row has" if self.left_out == 1 else f"{self.left_out:,} rows have"
        return f"{rows} no class in column {self.target!r}, and {'is' if self.left_out == 1 else 'are'} left out"


def select_columns(stream: Any, names: list[str]) -> Mapped:
    """Some of the columns."""
    return Mapped(stream, lambda _, batch: batch.select(names), names)


def pick_rows(stream: Any, pick: Callable[[int, int], NDArray[np.bool_]]) -> Mapped:
    """Some of the rows: those that a function of the batch's number and length picks."""
    return Mapped(stream, lambda number, batch: batch.filter(pa.array(pick(number, batch.num_rows))))


class Held(Mapped):
    """All the rows of a stream that can be read once only, such as standard input, kept to be read again."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream, lambda _, batch: batch)
        self._table = stream.table()

    def batches(self) -> Iterator[pa.Table]:
        """The one."""
        return iter([self._table])


class Kept(Mapped):
    """A stream of which some rows are drawn as it is read, so that they are there when it can be read once only."""

    def __init__(self, stream: Any, n: int, n_bytes: int, seed: int = 0) -> None:
        super().__init__(stream, self._draw)
        self._most, self._most_bytes, self._seed = n, n_bytes, seed
        self._drawn: list[Drawn] = []

    def _draw(self, number: int, batch: pa.Table) -> pa.Table:
        if number == 0:  # from the start again; some readings end before the last row
            self._drawn = sorted(self._drawn, key=lambda each: each.total)[-1:]
            n = min(self._most, self._most_bytes * batch.num_rows // max(batch.nbytes, 1))
            self._drawn.append(Drawn(max(n, 1), max(n, 1)))
            self._rng = np.random.default_rng([OURS, self._seed])
        drawn = self._drawn[-1]
        numbers = np.arange(drawn.total, drawn.total + batch.num_rows)
        drawn.add(batch, self._rng.random(batch.num_rows), numbers, batch.num_rows)
        return batch

    def kept(self) -> tuple[pa.Table | None, int]:
        """The rows that were drawn (of few rows all), and of how many."""
        best = max(self._drawn, key=lambda each: each.total, default=None)
        return (None, 0) if best is None or not best.total else (best.rows()[0], best.total)


def keep_labelled(stream: Any, target: str) -> Mapped:
    """The rows that have a class; the others are counted."""

    def keep(_: int, batch: pa.Table) -> pa.Table:
        classes = batch.column(target)
        found.left_out += classes.null_count
        return batch.filter(classes.is_valid()) if classes.null_count else batch

    found = Mapped(stream, keep, target=target)
    return found


def describe_columns(stream: Any) -> Mapped:
    """The rows, whose columns say what they are and why; those that are not read are there, and empty."""

    def change(_: int, batch: pa.Table) -> pa.Table:
        there = set(batch.column_names)
        for place, name in enumerate(stream.names):
            if name not in there:
                batch = batch.add_column(place, name, pa.nulls(batch.num_rows))
        return describe(batch, stream.kinds)

    return Mapped(stream, change)


# A stream as rows.


class FileRows:
    """Rows that come in batches, such as those of a file that no memory holds."""

    is_here = False

    def __init__(self, stream: Any, target: str | None, weight: str | None) -> None:
        self.stream, self.target, self.weight = describe_columns(stream), target, weight
        self.names = [name for name in stream.names if name not in (target, weight)]
        self.name = str(stream.name)

    def columns(self, model: Any, *, whole: bool = False) -> Source:
        """What the columns are, as the stream has inferred them, or by its first rows."""
        names = self.names
        kinds = {name: self.stream.kinds[name] for name in names if name in self.stream.kinds}
        if len(kinds) == len(names) and any(kind != "ignore" for kind, _ in kinds.values()):
            return open_source(describe(pa.schema([(name, pa.null()) for name in names]).empty_table(), kinds))
        first: list[pa.Table] = []
        for batch in self.stream.batches():
            if batch.num_rows:
                first.append(batch.select(names))
            if sum(each.num_rows for each in first) >= SAMPLE:
                break
        if not first:
            raise InputError(f"{self.name}: there are no rows to learn from")
        return open_source(concatenate(first))

    def reduce(
        self,
        statistic: Statistic,
        model: Any = None,
        *,
        done: int = 0,
        after: Callable[[int, Total], None] | None = None,
        **options: Any,
    ) -> Tally:
        """The sum over the batches: `done` of them are skipped; `after` is called with their number and the sum."""

        def add_up() -> Tally:
            total = Total()
            for n, part in self._numbered(done):
                total.add(statistic(model, part, options))
                if after is not None:
                    after(n, total.now())
            return total.sum()

        return read_alike(self.stream, add_up, done)

    def parts(self) -> Iterator[Part]:
        """Some batches at a time, but for those that have no weight."""
        return (part for _, part in self._numbered())

    def _numbered(self, done: int = 0) -> Iterator[tuple[int, Part]]:
        """The parts, each with the number of its last batch."""
        before = 0
        for n, batch in self._gather(done):
            part = part_of(batch, self.target, self.weight, before=before)
            self._check_weights(part.weights, before)
            before += batch.num_rows
            if not weightless(part.weights):
                yield n, part

    def _check_weights(self, weights: Any, before: int) -> None:
        """Raise where a weight is none, by the number of its row."""
        if weights is not None and weights.dtype.kind in "fiu":
            checks.refuse_bad_weights(
                weights, f"{self.name}, row {{}}: the weight in column {self.weight!r}", before + 1
            )

    def _gather(self, done: int) -> Iterator[tuple[int, pa.Table]]:
        """Some batches together, for each look at the columns of a table has its cost."""
        waiting: list[pa.Table] = []
        n = 0
        for n, batch in enumerate(self.stream.batches_alike(), start=1):
            if n > done and batch.num_rows:
                waiting.append(batch)
            if waiting and (len(waiting) == _TOGETHER or sum(each.nbytes for each in waiting) > _LARGE):
                yield n, concatenate(waiting)
                waiting = []
        if waiting:
            yield n, concatenate(waiting)

    def answer(self, model: Any, method: str) -> Any:
        """The answers, as an array; the rows themselves are not kept."""
        found = [getattr(model, f"_{method}")(part.X) for part in self.parts()]
        if not found:
            raise InputError(f"{self.name}: there are no rows to answer")
        return np.concatenate(found)

    def in_memory(self, instead: str = "") -> MemoryRows:
        """All the rows, read at once."""
        return memory_rows(self.stream.table(), self.target, self.weight)

    def sample(self, n: int, most: int, seed: int) -> tuple[MemoryRows, int]:
        """Some of them, or all, in one reading."""

        def checked() -> Iterator[pa.Table]:
            before = 0
            for _, table in self._gather(0):
                self._check_weights(part_of(table, None, self.weight).weights, before)
                before += table.num_rows
                yield table

        drawn = read_alike(self.stream, lambda: _draw(self.stream, checked(), Drawn(n, most, self.target), seed))
        return memory_rows(drawn.rows()[0], self.target, self.weight), drawn.total


def memory_rows(table: pa.Table, target: str | None, weight: str | None) -> MemoryRows:
    """The rows of a table, whose class and weight are columns of it."""
    weights = part_of(table, None, weight).weights
    return MemoryRows(table if weight is None else table.drop_columns([weight]), target, weights)


def file_rows(
    X: Any, y: Any, sample_weight: Any, declared: Collection[Any] = (), *, labelled: bool = True, model: Any = None
) -> FileRows:
    """The rows of a stream, a path or what hands out Arrow batches; arguments as of `rows_of`."""
    if is_path(X):
        from ingenuo.rows.files.scan import scan

        own = declared if model is None and isinstance(declared, Mapping) else None
        X = scan(X, texts=text_columns(model), columns=own)
    stream = X if is_stream(X) else ArrowStream(X)
    target, weight = target_and_weight(stream, y, sample_weight, labelled=labelled)
    if hasattr(model, "schema_") and hasattr(stream, "declare"):  # a scan, which can be read again as other kinds
        stream = _match_model(model, stream, target, () if weight is None else (weight,))
    elif model is None and isinstance(declared, Mapping) and declared and hasattr(stream, "with_kinds"):
        stream = stream.with_kinds(declared, target)
    return FileRows(stream, target, weight)


def target_and_weight(X: Any, y: Any, sample_weight: Any, *, labelled: bool = True) -> tuple[str | None, str | None]:
    """The columns of a stream that hold the class and the weights."""
    y = X.target if y is None else y
    if y is None and labelled:
        message = f"{X.name}: name the column to learn (y='COLUMN'){did_you_mean('', X.names)}"
        raise InputError(message).typed_as(*_TARGET)
    for what, name in (("y", y), ("sample_weight", sample_weight)):
        if name is not None and not isinstance(name, str):
            raise KindError(
                f"rows that come in batches have their {what} in a column; name it, instead of giving {name!r}"
            )
        if name is not None:
            _require_column(X, name)
    if y is not None and y == sample_weight:
        raise InputError(f"column {y!r} cannot be both the class and the weight; name another")
    return y, sample_weight


def _require_column(rows: Any, name: str, why: str = "") -> None:
    if name not in rows.names:
        untitled = getattr(rows, "untitled", "")
        raise InputError(f"{rows.name}: there is no column {name!r}{why}{untitled}{did_you_mean(name, rows.names)}")


# A few rows: drawn at random, or by their numbers.


class Drawn:
    """Rows that are drawn at random as they come: all, until they are more than `most`, and then n (see `draw`).

    Each has a key and a number; with a `target`, some of every class are kept.
    """

    def __init__(self, n: int, most: int, target: str | None = None) -> None:
        self.n, self.most, self.target, self.total, self._held = n, most, target, 0, list[_Drawn]()
        self._bound: float | None = None  # a greater key is not among the n least, whatever comes

    def add(self, table: pa.Table, keys: NDArray[np.float64], numbers: NDArray[np.int64], total: int) -> None:
        """More rows, which are (or were drawn from) so many."""
        if self._bound is not None:
            some = np.flatnonzero(keys <= self._bound)
            table, keys, numbers = table.take(pa.array(some)), keys[some], numbers[some]
        self._held.append((table, keys, numbers))
        self.total += total
        if sum(len(keys) for _, keys, _ in self._held) > max(self.most, 2 * self.n):
            self._held = [self.rows()]
            self._bound = None if self.target is not None else float(self._held[0][1].max())

    def rows(self) -> _Drawn:
        """What was drawn, in the order in which it came, with the keys and the numbers."""
        tables, keys, numbers = zip(*self._held)
        table, key, number = concatenate(tables), np.concatenate(keys), np.concatenate(numbers)
        if self.total <= self.most:
            return table, key, number
        codes = None
        if self.target is not None:
            labels = table.column(self.target).combine_chunks()
            labels = labels if pa.types.is_dictionary(labels.type) else labels.dictionary_encode()
            codes = labels.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        least = draw(key, self.n, codes)
        return table.take(pa.array(least)), key[least], number[least]


def draw_rows(stream: Any, n: int, seed: int) -> tuple[pa.Table, NDArray[np.int64], int]:
    """At most n rows of a stream, drawn at random in one reading; their numbers, from 0; and how many there were."""
    drawn = _draw(stream, stream.batches(), Drawn(n, n), seed)
    table, _, numbers = drawn.rows()
    return table, numbers, drawn.total


def _draw(stream: Any, tables: Iterable[pa.Table], drawn: Drawn, seed: int) -> Drawn:
    rng = np.random.default_rng([OURS, seed])
    for table in tables:
        numbers = np.arange(drawn.total, drawn.total + table.num_rows)
        drawn.add(table, rng.random(table.num_rows), numbers, table.num_rows)
    if not drawn.total:
        raise InputError(f"{stream.name}: there are no rows to learn from")
    return drawn


_RANGE = re.compile(r"\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?")
_MOST = 10_000


def row_numbers(text: str) -> list[int]:
    """Numbers of rows as they are written, counted from 1: "3,7-9" is 3, 7, 8, 9."""
    found: list[int] = []
    for part in text.split(","):
        matched = _RANGE.fullmatch(part)
        if matched is None:
            raise InputError(f"{part!r} in {text!r} is no row; write rows such as 3,7 or 7-9, counted from 1")
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if first == 0:
            raise InputError(f"{text!r} asks for row 0; rows are counted from 1")
        if last < first:
            raise InputError(f"{part.strip()!r} in {text!r} runs backwards; write {last}-{first}")
        if len(found) + last - first >= _MOST:
            raise InputError(f"{text!r} asks for more than {_MOST:,} rows; ask for fewer")
        found += range(first, last + 1)
    return found


def read_rows(stream: Any, numbers: Sequence[int]) -> pa.Table:
    """The rows of these numbers (from 1), in their order."""
    last, seen, places = max(numbers), 0, dict[int, int]()
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


def refuse_class(*given: object) -> None:
    """Raise where a class, weights or a checkpoint are given for a model of all texts."""
    if any(each is not None for each in given):
        raise InputError(
            "a language model of all texts has no class to learn, weigh or judge by; take 'language', which has"
        )


def text_columns(model: Any) -> list[str]:
    """Of a model whose rows are texts: the column that these are, and that of the class, if it knows one; else none."""
    if not hasattr(model, "schema_"):  # all that learns without a class are language models
        return [] if getattr(model, "_labelled", True) else ["text"]
    if not reads_texts(model):
        return []
    called = str(model.schema_.names[0]) if len(model.schema_) else "text"
    return [called, *([model._target] if getattr(model, "_target", None) else [])]


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
    extra: Sequence[str] = (),
    others: bool = False,
    as_text: bool = False,
) -> Mapped:
    """The rows of a scan as a fitted model takes them; with `labelled`, those that have a class, as `target`.

    Columns that the model does not know are left out, but for those in `extra`; with `others` they are read all the
    same, for `pairs`, and with `as_text` as they are written.
    """
    if not hasattr(model, "schema_"):
        raise KindError(f"a {type(model).__name__} learns and answers no rows of a table; a model does")
    if labelled and not getattr(model, "_labelled", True):
        refuse_class(target, *extra)
        labelled = False
    target = _target_of(model, rows, target) if labelled else None
    found = _match_model(model, rows, target, extra, others=others, as_text=as_text)
    return found if target is None else keep_labelled(found, target)


def _match_model(
    model: Any,
    rows: Any,
    target: str | None,
    extra: Sequence[str] = (),
    *,
    others: bool = False,
    as_text: bool = False,
) -> Mapped:
    """The columns of a scan that a fitted model knows, of the types that it knows them by, and some more."""
    schema, renamed = model.schema_, {}
    kinds = {name: _kind_of_extra(rows, name) for name in extra if name != target}
    if reads_texts(model):
        called = str(schema.names[0]) if len(schema) else "text"
        column = called if called in rows.names else _text_column(rows, target or getattr(model, "_target", None))
        kinds, renamed = {column: "text"} | kinds, {column: called}
    elif schema.named:
        cut = getattr(model, "cuts_", {})  # a network's categories may be numbers that it cuts
        own = {name: "number" if name in cut else FAMILIES[schema.family(name)] for name in schema.names.tolist()}
        own = {name: kind for name, kind in own.items() if kind != "ignore"}
        for name in own:
            _require_column(rows, name, ", which the model was trained on (add it, left empty if it is not known)")
        kinds = {n: own.get(n) or kinds[n] for n in rows.names if n != target and (n in own or n in kinds)}
    if schema.named or renamed:
        rows = rows.declare(kinds, target=target, others=others, as_text=as_text)
        read = list(kinds)
    else:
        read = [name for name in rows.names if name != target]
    read += [] if target is None else [target]
    names = [renamed.get(name, name) for name in read]
    classes = None if target is None else getattr(model, "classes_", None)

    def change(_: int, batch: pa.Table) -> pa.Table:
        columns = batch.select(read).columns
        if classes is not None and len(classes):
            columns[-1] = _as_classes(columns[-1], labels_of(classes))
        return pa.Table.from_arrays(columns, names)

    return Mapped(rows, change, names, target)


def _kind_of_extra(rows: Any, name: str) -> str:
    """What a column is that the model has no use for."""
    _require_column(rows, name)
    kind = rows.kinds.get(name, ("ignore", ""))[0]
    return "category" if kind in ("ignore", "text") else str(kind)


def _as_classes(column: pa.ChunkedArray, classes: Labels) -> pa.ChunkedArray:
    """Labels as the classes that a model knows by them: a file has "1" where rows in memory may have had 1."""
    encoded = column.combine_chunks()
    encoded = encoded if pa.types.is_dictionary(encoded.type) else encoded.dictionary_encode()
    labels = objects(encoded.dictionary.to_pylist())
    called = meet(labels, classes)
    return column if called is labels else pa.chunked_array([pa.array(called.tolist()).take(encoded.indices)])


def _target_of(model: Any, rows: Any, target: str | None) -> str:
    """The column that holds the class: as named, as the model knows it, or as the format of the file has it."""
    known = getattr(model, "_target", None)
    if target is not None:
        _require_column(rows, target)
        return target
    found = next((str(name) for name in (known, rows.target) if name is not None and name in rows.names), None)
    if found is None and known:
        raise InputError(
            f"{rows.name}: there is no column {known!r} to judge by{did_you_mean(known, rows.names)}; "
            "name the column that holds the class (y='COLUMN')"
        ).typed_as(*_TARGET)
    if found is None:
        message = f"name the column that holds the class (y='COLUMN'){did_you_mean('', rows.names)}"
        raise InputError(message).typed_as(*_TARGET)
    return found
