"""Text cut into blocks of whole rows, so that each can be parsed by itself.

A line end within quotes ends no row. Blocks without quotes are cut at their last line end. In others the quotes are
counted: if each quote of an even place (the first, the third, …) begins a cell or follows the quote before it, then
they open and close in turn, and an even number of them before a line end means that it lies outside. Where a quote
stands elsewhere (5" nails), the cells are walked through one by one.

To look at each quote takes as long as to parse the block. A quick cut takes it that an even number of quotes will do;
whoever parses the block then sees whether it has as many rows as lines, and where it has not, whether its quotes are
in turn (`in_turn`); if they are not, it has to be cut again, carefully.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import FileError
from ingenuo.sources.files.sniffing import Dialect

BLOCK = 1 << 22  # bytes: measured, the least that parses as fast as larger ones
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
    n_lines: int = -1  # line ends in it, where they were counted


def cut(
    stream: Readable, name: str, dialect: Dialect = LINES, size: int = BLOCK, *, quick: bool = False, offset: int = 0,
    line: int = 1,
) -> Iterator[Block]:  # fmt: skip
    r"""Blocks of about so many bytes; an error where a quote is never closed.

    The stream begins at an offset and a line of its file.

    >>> import io
    >>> stream = io.BytesIO(b'good,"two\nlines"\nbad,one\n')
    >>> [bytes(block.data) for block in cut(stream, "reviews.csv", Dialect(), size=12)]
    [b'good,"two\nlines"\n', b'bad,one\n']
    """
    rest: bytes | bytearray = b""
    asked = size
    while True:
        data, more = _filled(stream, rest, asked)
        end = last_row_end(data, dialect, quick=quick) if more else len(data)
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
            n_lines = _count(data, ord(dialect.line_end))
            yield Block(data, offset, line, n_lines)
            offset += end
            line += n_lines
        if not more:
            return


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


def last_row_end(data: bytes | bytearray, dialect: Dialect, *, quick: bool = False) -> int:
    """Where the last row that is whole ends."""
    line_end = dialect.line_end
    last = data.rfind(line_end) + 1
    if last == 0 or not _quoted(data, dialect):
        return last
    if quick and _count(memoryview(data)[:last], ord(dialect.quote or '"')) % 2 == 0:
        return last
    places = _quotes(data, dialect)
    if not _in_turn(data, places, dialect.separator):
        return _walk(data, dialect)[0]
    while last and np.searchsorted(places, last) % 2:  # the line end lies within quotes: go before the opening one
        last = data.rfind(line_end, 0, int(places[np.searchsorted(places, last) - 1])) + 1
    return last


def _count(data: bytes | bytearray | memoryview, sign: int) -> int:
    """How often a byte occurs: NumPy counts six times as fast as bytes do."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == sign))


def in_turn(data: bytes | bytearray, dialect: Dialect) -> bool:
    """Whether the quotes open and close cells in turn."""
    return not _quoted(data, dialect) or _in_turn(data, _quotes(data, dialect), dialect.separator)


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
        f"{name}, line {line}: the quote before {opened!r} is never closed; close it, "
        "or say that there are no quotes (quote='')"
    )
