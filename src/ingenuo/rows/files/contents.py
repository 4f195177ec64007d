"""What every format gives of one file: its columns, its first rows, and all its rows, in blocks of whole rows."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import FileError
from ingenuo.rows.files.bytes import File
from ingenuo.rows.files.sniff import MISSING, Dialect
from ingenuo.rows.kinds import Kind

BLOCK = 1 << 22  # bytes: measured, the least that parses as fast as larger ones
T = TypeVar("T")
R = TypeVar("R")
_AHEAD = 4  # at most so many blocks are parsed at a time
_READ = 4  # so many batches are read before they are asked for
_END = object()


@dataclass(frozen=True)
class Options:
    """What the user says of the files; None where it is to be found out."""

    format: str | None = None
    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    missing: Sequence[str] = MISSING
    errors: str = "strict"
    known: Sequence[str] = ()  # names of columns that a header would have
    block_size: int = BLOCK
    look: int = 1 << 20  # bytes from which the form of a file is told


class Part(NamedTuple):
    """Some rows, and the bytes of the file up to them."""

    table: Any
    consumed: int


class Form(NamedTuple):
    """How some files are written, for readers that are not ours."""

    format: str
    packed: bool = False
    encoding: str = "utf-8"  # as Python calls it, with its mark
    dialect: Dialect | None = None  # of delimited text
    skipped: int = 0  # lines before the rows
    missing: tuple[str, ...] = ()
    errors: str = "strict"
    paths: tuple[str, ...] = ()


class Content:
    """The rows of one file; a format fills in what it knows."""

    written = False  # whether numbers are written as strings, and must be told by looking
    decimal = "."
    may_lack_columns = False  # whether rows, and so files, may lack some columns
    format = ""  # as `open_content` calls it
    options: Options = Options()

    def __init__(self, file: File) -> None:
        self.file = file
        self.names: list[str] = []
        self.target: str | None = None  # the class, where the format itself names it
        self.notes: list[str] = []
        self.kinds: dict[str, Kind] = {}  # that the format declares
        self.categories: dict[str, list[str]] = {}  # likewise

    def first(self) -> Any:
        """The first rows, as an Arrow table: strings where the format has no types."""
        raise NotImplementedError

    def form(self) -> Form:
        """How the file is written."""
        return Form(self.format, self.file.packed())

    def line_of(self, row: int) -> int | None:
        """The line of one of the first rows, where rows are lines."""
        return None

    def parts(self, types: dict[str, Any], fixed: str | None) -> Iterator[Part]:
        """All the rows with the columns that are wanted, in their types.

        A whole number may become a double on the way, where a later row needs it: `types` is then changed. The
        column `fixed` stays what it is.
        """
        raise NotImplementedError


def ahead(blocks: Iterator[T], parse: Callable[[T], R]) -> Iterator[tuple[T, Future[R]]]:
    """Each block with what it parses to, in order; some are parsed in threads while the caller is at work."""
    workers = min(os.cpu_count() or 1, _AHEAD)
    waiting: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(workers, "parse") as pool:
        try:
            for block in blocks:
                waiting.append((block, pool.submit(parse, block)))
                if len(waiting) > workers:
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        finally:
            for _, future in waiting:
                future.cancel()


def beforehand(items: Iterator[T]) -> Iterator[T]:
    """The items in their order; a thread makes the next ones while the caller is at work.

    >>> list(beforehand(iter("abc")))
    ['a', 'b', 'c']
    """
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(1, "read") as pool:
        try:
            while True:
                while len(waiting) <= _READ:
                    waiting.append(pool.submit(next, items, _END))
                item = waiting.popleft().result()
                if item is _END:
                    return
                yield item
        finally:
            for future in waiting:
                future.cancel()


# Text cut into blocks of whole rows, so that each can be parsed by itself.
#
# A line end within quotes ends no row. Blocks without quotes are cut at their last line end. In others the quotes are
# counted: if each quote of an even place (the first, the third, …) begins a cell or follows the quote before it, then
# they open and close in turn, and an even number of them before a line end means that it lies outside. Where a quote
# stands elsewhere (5" nails), the cells are walked through one by one.

LONGEST = 1 << 28  # bytes of one row
LINES = Dialect(quote=None)  # rows that are lines


class Readable(Protocol):
    """What gives bytes."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Put bytes there, and say how many; none only at the end."""
        ...


@dataclass(frozen=True)
class Block:
    """Some whole rows."""

    data: bytes | bytearray
    offset: int  # bytes before it
    line: int  # the number of its first line


def cut(stream: Readable, name: str, dialect: Dialect = LINES, size: int = BLOCK) -> Iterator[Block]:
    r"""Blocks of about so many bytes; an error where a quote is never closed.

    >>> import io
    >>> stream = io.BytesIO(b'good,"two\nlines"\nbad,one\n')
    >>> [bytes(block.data) for block in cut(stream, "reviews.csv", Dialect(), size=12)]
    [b'good,"two\nlines"\n', b'bad,one\n']
    """
    rest: bytes | bytearray = b""
    asked, offset, line = size, 0, 1
    while True:
        data, more = _filled(stream, rest, asked)
        end = last_row_end(data, dialect) if more else len(data)
        if end == 0 and more:
            if len(data) > LONGEST:
                raise _unclosed(data, name, line, dialect)
            rest, asked = data, len(data)  # twice as much, so that long rows cost no square of their length
            continue
        if not more and _open(data, dialect):
            raise _unclosed(data, name, line, dialect)
        rest, asked = bytes(data[end:]), size
        del data[end:]
        if end:
            yield Block(data, offset, line)
            offset += end
            line += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord(dialect.line_end)))  # quicker than bytes
        if not more:
            return


def after(blocks: Iterator[Block], n: int, line_end: bytes = b"\n") -> Iterator[Block]:
    """The blocks without the first n bytes."""
    for block in blocks:
        skipped = min(n, len(block.data))
        n -= skipped
        if skipped:
            lines = block.data.count(line_end, 0, skipped)
            block = Block(block.data[skipped:], block.offset + skipped, block.line + lines)
        yield block


def _filled(stream: Readable, rest: bytes | bytearray, size: int) -> tuple[bytearray, int]:
    """The rest and so many bytes more, read where they are to stay: a copy would cost as much as the reading."""
    start = len(rest)
    data = bytearray(start + size)
    data[:start] = rest
    at = start
    with memoryview(data) as view:
        while at < len(view) and (n := stream.readinto(view[at:])):
            at += n
    del data[at:]
    return data, at - start


def last_row_end(data: bytes | bytearray, dialect: Dialect) -> int:
    """Where the last row that is whole ends."""
    line_end = dialect.line_end
    last = data.rfind(line_end) + 1
    if last == 0 or not _quoted(data, dialect):
        return last
    places = _quotes(data, dialect)
    if not _in_turn(data, places, dialect.separator):
        return _walk(data, dialect)[0]
    while last and np.searchsorted(places, last) % 2:  # the line end lies within quotes: go before the opening one
        last = data.rfind(line_end, 0, int(places[np.searchsorted(places, last) - 1])) + 1
    return last


def _quoted(data: bytes | bytearray, dialect: Dialect) -> bool:
    return dialect.quote is not None and dialect.quote.encode() in data


def _quotes(data: bytes | bytearray, dialect: Dialect) -> NDArray[np.intp]:
    """Where the quotes stand."""
    return np.flatnonzero(np.frombuffer(data, np.uint8) == ord(dialect.quote or '"'))


def _in_turn(data: bytes | bytearray, places: NDArray[np.intp], separator: str) -> bool:
    """Whether each quote of an even place begins a cell, or is the second of a doubled one."""
    opening = places[::2]
    before = np.frombuffer(data, np.uint8)[opening - 1]  # of the first byte: the last one, which is put right
    fine = (before == ord(separator)) | (before == 10) | (before == 13) | (opening == 0)
    if len(places) > 2:
        closed = np.r_[-2, places[1::2]][: len(opening)]
        fine |= closed == opening - 1
    return bool(fine.all())


def _open(data: bytes | bytearray, dialect: Dialect) -> bool:
    """Whether the data ends within quotes."""
    if not _quoted(data, dialect):
        return False
    places = _quotes(data, dialect)
    return len(places) % 2 == 1 if _in_turn(data, places, dialect.separator) else _walk(data, dialect)[1] >= 0


def _walk(data: bytes | bytearray, dialect: Dialect) -> tuple[int, int]:
    """Where the last whole row ends, and where the quote opens that is not closed (or -1), cell by cell."""
    q, s = re.escape((dialect.quote or '"').encode()), re.escape(dialect.separator.encode())
    opening = re.compile(rb"(?:(?<=[" + s + rb"\r\n])|\A)" + (rb" *" if dialect.padded else b"") + q)
    closing = re.compile(q + q + rb"|" + q)
    at = end = 0
    while found := opening.search(data, at):
        end = max(end, data.rfind(dialect.line_end, 0, found.start()) + 1)
        at = found.end()
        while (close := closing.search(data, at)) and len(close[0]) == 2:
            at = close.end()
        if close is None:
            return end, found.start()
        at = close.end()
    return max(end, data.rfind(dialect.line_end, at) + 1), -1


def _unclosed(data: bytes | bytearray, name: str, line: int, dialect: Dialect) -> FileError:
    place = _walk(data, dialect)[1] if dialect.quote is not None else -1
    if place < 0:
        return FileError(f"{name}, line {line}: the line is longer than {LONGEST >> 20} MB, which is no row of a table")
    line += data.count(dialect.line_end, 0, place)
    return never_closed(name, line, data[place : place + 30].decode("utf-8", "replace"))


def never_closed(name: str, line: int, cell: str) -> FileError:
    """The error for a quote that opens a cell and is never closed."""
    opened = cell.splitlines()[0]
    return FileError(
        f"{name}, line {line}: the quote before {opened!r} is never closed; close it, or read the file without quotes"
    )
