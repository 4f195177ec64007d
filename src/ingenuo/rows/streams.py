"""Rows that come in batches, and what can be made of them as they come: parts, columns, a watched reading.

A stream has `names`, `kinds` and `paths`, the `target` that its format names (or None), `batches()`, which begins again
each time it is called, and `table()`, all of it at once. What `scan` gives is one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ingenuo.errors import EngineError, InputError, did_you_mean
from ingenuo.rows.frames import described

Progress = Callable[[int], None] | None

# Before every seed: a user's data may have been drawn by the same generator with the same small seed.
OURS = 0x1A6E


class Stream(Protocol):
    """Rows that come in batches."""

    names: list[str]
    paths: Sequence[Any]
    target: str | None
    kinds: Mapping[str, tuple[str, str]]
    n_bytes: int | None

    def batches(self, progress: Progress = None) -> Iterator[pa.Table]:
        """The rows, some at a time."""
        ...

    def table(self) -> pa.Table:
        """All the rows."""
        ...


class Made:
    """A stream that is made of another."""

    def __init__(self, stream: Any, names: list[str] | None = None) -> None:
        self.stream = stream
        self.names: list[str] = list(stream.names) if names is None else names
        self.paths, self.target = stream.paths, stream.target
        self.kinds: Mapping[str, tuple[str, str]] = stream.kinds
        self.n_bytes: int | None = stream.n_bytes
        self.categories: Mapping[str, Sequence[str]] = getattr(stream, "categories", {})

    def batches(self, progress: Progress = None) -> Iterator[pa.Table]:
        """The rows, some at a time; the function, if there is one, is told of the bytes that have been read."""
        for number, batch in enumerate(self.stream.batches(progress=progress)):
            yield self.made(number, batch)

    def made(self, number: int, batch: pa.Table) -> pa.Table:
        """What becomes of a batch."""
        return batch

    def table(self) -> pa.Table:
        """All the rows."""
        batches = list(self.batches())
        if not batches:
            raise InputError(f"{', '.join(map(str, self.paths))}: there are no rows")
        return pa.concat_tables(batches, promote_options="default")


class Held(Made):
    """All the rows of a stream that can be read once only, such as standard input, kept to be read again."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._table = stream.table()

    def batches(self, progress: Progress = None) -> Iterator[pa.Table]:
        """The one."""
        yield self._table

    def table(self) -> pa.Table:
        """It."""
        return self._table


class Selected(Made):
    """Some of the columns."""

    def made(self, number: int, batch: pa.Table) -> pa.Table:
        """Those columns."""
        return batch.select(self.names)


class Part(Made):
    """Some of the rows: those that a function of the batch's number and length picks."""

    def __init__(self, stream: Any, pick: Callable[[int, int], NDArray[np.bool_]]) -> None:
        super().__init__(stream)
        self.pick = pick

    def made(self, number: int, batch: pa.Table) -> pa.Table:
        """Those rows."""
        return batch.filter(pa.array(self.pick(number, batch.num_rows)))


class Described(Made):
    """Rows whose columns say what they are and why; those that are set aside are there, and empty."""

    def made(self, number: int, batch: pa.Table) -> pa.Table:
        """All the columns, with what they are."""
        there = set(batch.column_names)
        for place, name in enumerate(self.names):
            if name not in there:
                batch = batch.add_column(place, name, pa.nulls(batch.num_rows))
        return described(batch, self.kinds)


class Labelled(Made):
    """The rows that have a class; `left_out` counts the others, as far as they have been read."""

    def __init__(self, stream: Any, target: str | None) -> None:
        super().__init__(stream)
        self.target, self.left_out = target, 0

    def batches(self, progress: Progress = None) -> Iterator[pa.Table]:
        """Those rows, some at a time."""
        self.left_out = 0
        yield from super().batches(progress)

    def made(self, number: int, batch: pa.Table) -> pa.Table:
        """Those rows."""
        if self.target is None or not batch.column(self.target).null_count:
            return batch
        self.left_out += batch.column(self.target).null_count
        return batch.filter(batch.column(self.target).is_valid())

    @property
    def note(self) -> str:
        """A sentence on the rows that were left out, if there are any."""
        if not self.left_out:
            return ""
        rows = "1 row has" if self.left_out == 1 else f"{self.left_out:,} rows have"
        return f"{rows} no class in column {self.target!r}, and {'is' if self.left_out == 1 else 'are'} left out"


def draw_rows(stream: Any, n: int, seed: int) -> tuple[pa.Table, NDArray[np.int64], int]:
    """At most n rows of a stream, drawn at random in one reading; their numbers, from 0; and how many there were."""
    rng, total = np.random.default_rng([OURS, seed]), 0
    kept: list[tuple[pa.Table, NDArray[np.float64], NDArray[np.int64]]] = []

    def pruned() -> tuple[pa.Table, NDArray[np.float64], NDArray[np.int64]]:
        tables, keys, numbers = zip(*kept)
        table = pa.concat_tables(tables, promote_options="default")
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
        raise InputError(f"{', '.join(map(str, stream.paths))}: there are no rows")
    table, _, numbers = pruned()
    return table, numbers, total


class Watched(Made):
    """A stream that says how many bytes of its files it has read, whoever reads it."""

    def __init__(self, stream: Any, progress: Callable[[int], None]) -> None:
        super().__init__(stream)
        self.progress = progress

    def batches(self, progress: Progress = None) -> Iterator[pa.Table]:
        """The rows, some at a time."""
        yield from self.stream.batches(progress=self.progress)


# A few rows, by their numbers: a stream is read no further than the last of them.

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


def picked(stream: Any, numbers: Sequence[int]) -> pa.Table:
    r"""The rows of these numbers (from 1), in their order.

    >>> import tempfile
    >>> from ingenuo.rows.files.scan import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/rows.csv", "w") as file:
    ...         _ = file.write("a,b\n1,x\n2,y\n3,x\n")
    ...     picked(scan(f"{folder}/rows.csv"), [3, 1]).column("a").to_pylist()
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
        files = ", ".join(map(str, stream.paths))
        raise InputError(f"{files}: there is no row {last:,}; there are {seen:,}, and the header is none of them")
    found = pa.concat_tables(parts, promote_options="default").unify_dictionaries()
    return found.take(pa.array([places[number] for number in numbers], pa.int64()))


# Rows that lie in parts on an engine, as everyone above sees them: their columns, and one way to reduce them.


RemotePart = Callable[[int, Iterable[pa.Table]], bytes]  # the number of a part, and its rows
Merge = Callable[[Sequence[bytes]], bytes]

TOGETHER = 8  # parts that are merged at a time


class Spread(Protocol):
    """Rows that lie in parts on an engine."""

    lies_in_parts: bool
    names: list[str]

    @property
    def called(self) -> str:
        """What messages call it."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """The type of each column; null where it is not known before the rows are looked at."""
        ...

    def place(self, part: int) -> str:
        """What a part is called in messages; "" where messages name its files anyway."""
        ...

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        """The first rows of some columns."""
        ...

    def reduce(self, columns: Sequence[str], part: RemotePart, merge: Merge) -> bytes:
        """What the merged parts come to."""
        ...


class Frame(Spread, Protocol):
    """A frame of an engine, to which columns can be added."""

    def column(self, given: Any, what: str) -> tuple[Frame, str]:
        """The frame that has a column, which may be given as one of the engine's, and the column's name."""
        ...

    def answered(self, answer: Callable[[pa.Table], pa.Table], fields: pa.Schema) -> Any:
        """A frame of the engine with what a function answers to its rows in further columns, not yet computed."""
        ...


def known(frame: Spread, name: str) -> str:
    """The name of a column that a frame must have."""
    if name not in frame.names:
        raise InputError(f"{frame.called} has no column {name!r}{did_you_mean(name, frame.names)}")
    return name


def refuse_doubled(frame: Spread) -> None:
    """Raise where two columns have one name."""
    doubled = next((name for name, count in Counter(frame.names).items() if count > 1), None)
    if doubled is not None:
        raise InputError(f"two columns of {frame.called} are called {doubled!r}; rename one")


def lacks_package(message: str) -> bool:
    """Whether an error of a worker says that it cannot import this package."""
    return "No module named 'ingenuo'" in message


def without_package(engine: str, remedy: str = "pip install ingenuo") -> EngineError:
    """The error for a worker that lacks this package."""
    return EngineError(
        f"a worker of {engine} cannot import ingenuo; install the same version of it on every worker ({remedy})"
    )


def not_installed(engine: str, what: str) -> EngineError:
    """The error for an engine that is not installed."""
    return EngineError(f"{what} is not installed, which the engine {engine!r} needs; pip install 'ingenuo[{engine}]'")
