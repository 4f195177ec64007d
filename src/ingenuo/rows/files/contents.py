"""What every format gives of one file: its columns, its first rows, and all its rows; texts in blocks of whole rows."""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from ingenuo.errors import FileError
from ingenuo.rows.files.bytes import MAX_LINE, MAX_RATIO, File, detect_encoding, find_bad_byte
from ingenuo.rows.kinds import Kind, as_types

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
BLOCK = 1 << 22  # bytes: measured, the least that parses as fast as larger ones
_AHEAD = 4  # at most so many blocks are parsed, or batches read, before they are asked for
T = TypeVar("T")
R = TypeVar("R")
Data = bytes | bytearray
Types = dict[str, Any]


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
    look: int = 1 << 20  # bytes from which the form of a file is inferred
    max_line: int = MAX_LINE
    max_ratio: float = MAX_RATIO
    texts: Sequence[str] = ()  # where rows are texts: their column and others that a header may name
    names: Sequence[str] | None = None  # of the columns, as given


@dataclass(frozen=True)
class Dialect:
    """The form of a delimited text."""

    separator: str = ","
    quote: str | None = '"'
    padded: bool = False  # whether cells have spaces around them that do not belong to them
    decimal: str = "."
    names: tuple[str, ...] = ()
    body: int = 0  # where the rows begin, in bytes of UTF-8
    header_line: int = 0  # the line of the header; 0 where there is none
    line_end: bytes = b"\n"
    notes: tuple[str, ...] = ()


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

    written = False  # whether numbers are written as strings, and must be inferred
    decimal = "."
    may_lack_columns = False  # whether rows, and so files, may lack some columns
    own_schema: Any = None  # of formats that have types
    format = ""  # as `open_content` calls it
    target: str | None = None  # the class, where the format itself names it
    titled = True  # whether columns have names of their own

    def __init__(self, file: File, options: Options) -> None:
        self.file, self.options = file, options
        self.names: list[str] = []
        self.notes: list[str] = []
        self.kinds: dict[str, Kind] = {}  # that the format declares
        self.categories: dict[str, list[str]] = {}  # likewise

    def first(self) -> Any:
        """The first rows, as an Arrow table: strings where the format has no types."""
        raise NotImplementedError

    def form(self) -> Form:
        """How the file is written."""
        return Form(self.format, self.file.is_packed())

    def line_of(self, row: int) -> int | None:
        """The line of one of the first rows, where rows are lines."""
        return None

    def parts(self, types: Types, fixed: str | None) -> Iterator[tuple[Any, int]]:
        """All the rows with the columns that are wanted, in their types, and the bytes of the file up to them.

        Where a later row needs it, whole numbers become doubles, and `types` is changed; the column `fixed` is not.
        """
        raise NotImplementedError

    @property
    def untitled(self) -> str:
        """What an error on a column that is not there says of the names of columns."""
        return (
            "" if self.titled else " (no header was found: --header says that there is one, --names a,b,… gives names)"
        )

    def given_names(self, n_columns: int) -> list[str]:
        """The names that are given to the columns, else x0, x1, …"""
        given = self.options.names
        if given is not None and len(given) != n_columns:
            raise FileError(
                f"{self.file.name}: {len(given)} names were given, and there are {n_columns} columns; name each"
            )
        return [f"x{i}" for i in range(n_columns)] if given is None else list(given)

    def refuse_doubled(self, what: str = "columns") -> None:
        """Raise where two columns have one name."""
        doubled = next((name for name, count in Counter(self.names).items() if count > 1), None)
        if doubled is not None:
            raise FileError(f"{self.file.name}: two {what} are called {doubled!r}; rename one")


class Block(NamedTuple):
    """Some whole rows of a text."""

    data: Data
    offset: int  # bytes before it
    line: int  # the number of its first line


class TextContent(Content):
    """A text: its form is inferred from its first bytes, and its rows are parsed a block at a time, in threads."""

    dialect = Dialect(quote=None)  # rows are lines
    least = 0  # bytes from which the form is inferred, at least
    body = 0  # where the rows begin, in bytes of UTF-8

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file, options)
        self._size = min(max(options.look, self.least), options.max_line)
        while True:
            head = file.head(self._size)
            complete = len(head) < self._size
            self.encoding = detect_encoding(head, file.name, options.encoding)
            text = self._text(head)
            if complete or b"\n" in text or b"\r" in text[:-1]:  # what is not all of a line has no form
                self._begin(text, complete)
                self._whole = len(text) if complete else find_row_end(text, self.dialect)[0]
                if complete or self._whole > self.body:
                    break
            if self._size >= options.max_line:
                raise too_long(file.name, 1 + text.count(b"\n", 0, self.body), options.max_line)
            self._size = min(4 * self._size, options.max_line)  # a first row that is longer
        self.notes = [self.encoding.note] if self.encoding.note else []

    def _begin(self, text: bytes, complete: bool) -> None:
        """Infer the form from the first bytes, as UTF-8; where the rows begin is in `body`."""

    def _parse(self, data: Data, types: Mapping[str, Any]) -> Any:
        """Some rows as a table; pa.ArrowInvalid where they cannot be read so."""
        raise NotImplementedError

    def _diagnose(self, data: Data, line: int, types: Types) -> FileError | None:
        """What is wrong with rows that cannot be read, should it be found; they begin at a line."""
        return None

    def _text(self, head: bytes) -> bytes:
        """The first bytes as UTF-8."""
        return self.encoding.decode(head)

    def _head(self) -> bytes:
        return self._text(self.file.head(self._size))

    def first(self) -> Any:
        """The first rows; of strings, where numbers are written so."""
        data, start = self._head()[: self._whole], self.body
        block = Block(data[start:], start, 1 + data.count(self.dialect.line_end, 0, start))
        types: Types = dict.fromkeys(self.names, pa.string()) if self.written else {}
        try:
            return self._parse(block.data, types)
        except pa.ArrowInvalid as error:
            return self._retry(block, types, None, error)

    def _blocks(self) -> Iterator[Block]:
        with self.file.open_text(self.encoding, self.options.errors) as text:
            yield from cut(text, self.file.name, self.dialect, self.options.block_size, self.options.max_line)

    def parts(self, types: Types, fixed: str | None) -> Iterator[tuple[Any, int]]:
        """The rows, a block at a time."""
        blocks = skip(self._blocks(), self.body, self.dialect.line_end)
        filled = ((block, self.file.n_read) for block in blocks if block.data.strip(b"\r\n"))
        for (block, n_read), future in ahead(filled, lambda item: self._parse(item[0].data, dict(types))):
            try:
                table = future.result()
            except pa.ArrowInvalid as error:
                table = self._retry(block, types, fixed, error)
            yield as_types(table, types, self.file.name), n_read

    def _retry(self, block: Block, types: Types, fixed: str | None, error: Exception) -> Any:
        """A block that was refused: with bytes replaced, or doubles for whole numbers; else what is wrong with it."""
        name, data = self.file.name, block.data
        if self.options.errors == "replace":
            data = data.decode("utf-8", "replace").encode()
        wider = {n: pa.float64() if pa.types.is_integer(t) and n != fixed else t for n, t in types.items()}
        for attempt in (types, wider):
            table = self._try(data, attempt)
            if table is None:
                continue
            whole = {column: type for column, type in types.items() if type != attempt[column]}
            types.update({c: attempt[c] for c, type in whole.items() if self._try(data, {c: type}) is None})
            return as_types(table, types, name) if types else table
        bad = find_bad_byte(data, block.offset + self.encoding.mark, block.line, name)
        found = bad or self._diagnose(data, block.line, wider)
        first_line = str(error).splitlines()[0]
        raise found or FileError(f"{name}, after line {block.line}: the rows cannot be read ({first_line})") from None

    def _try(self, data: Data, types: Mapping[str, Any]) -> Any:
        try:
            return self._parse(data, types)
        except pa.ArrowInvalid:
            return None


def require_utf8(data: Data) -> None:
    """Raise where bytes are not UTF-8, for readers that do not check it."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            raise pa.ArrowInvalid("not UTF-8") from None


def ahead(items: Iterator[T], work: Callable[[T], R], workers: int = _AHEAD) -> Iterator[tuple[T, Future[R]]]:
    """Each item with what is made of it, in order; threads make some while the caller is at work."""
    workers = min(os.cpu_count() or 1, workers)
    waiting: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(workers, "parse") as pool:
        try:
            for item in items:
                waiting.append((item, pool.submit(work, item)))
                if len(waiting) > (_AHEAD if workers == 1 else workers):
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        finally:
            for _, future in waiting:
                future.cancel()


# Text cut into blocks of whole rows, so that each can be parsed by itself.
#
# A line end within quotes ends no row. Blocks without quotes are cut at their last line end. In others the quotes are
# counted: if each quote of an even place (the first, the third, …) begins a cell or follows the quote before it, then
# they open and close in turn, and an even number of them before a line end means that it lies outside. Where a quote
# stands elsewhere (5" nails), the cells are walked through one by one.


def cut(stream: Any, name: str, dialect: Dialect, size: int = BLOCK, longest: int = MAX_LINE) -> Iterator[Block]:
    """Blocks of about so many bytes; an error where a quote is never closed."""
    rest: Data = b""
    wanted, offset, line = size, 0, 1
    while True:
        # Read where the bytes are to stay: a copy would cost as much as the reading.
        data, at = bytearray(len(rest) + wanted), len(rest)
        data[:at] = rest
        with memoryview(data) as view:
            while at < len(view) and (n := stream.readinto(view[at:])):
                at += n
        more = at > len(rest)
        del data[at:]
        end, opened = find_row_end(data, dialect)
        if (more and end == 0 and len(data) >= longest) or (not more and opened >= 0):
            if opened < 0 or more:
                raise too_long(name, line, longest)
            cell = data[opened : opened + 30].decode("utf-8", "replace")
            raise never_closed(name, line + data.count(dialect.line_end, 0, opened), cell)
        if more and end == 0:
            # Twice as much, so that long rows cost no square of their length.
            rest, wanted = data, min(len(data), max(longest - len(data), 1))
            continue
        end = end if more else len(data)
        rest, wanted = bytes(data[end:]), size
        del data[end:]
        if end:
            yield Block(data, offset, line)
            offset += end
            line += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord(dialect.line_end)))  # quicker than bytes
        if not more:
            return


def skip(blocks: Iterator[Block], n: int, line_end: bytes) -> Iterator[Block]:
    """The blocks without the first n bytes."""
    for data, offset, line in blocks:
        own = min(n, len(data))
        n -= own
        yield Block(data[own:], offset + own, line + data.count(line_end, 0, own)) if own else Block(data, offset, line)


def find_row_end(data: Data, dialect: Dialect) -> tuple[int, int]:
    """Where the last whole row ends, and where the quote stands that is open at the end of the data (-1: none is)."""
    quote, line_end = (dialect.quote or "").encode(), dialect.line_end
    last = data.rfind(line_end) + 1
    if not quote or quote not in data:
        return last, -1
    signs = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(signs == ord(quote))
    opening = quotes[::2]
    before = signs[opening - 1]  # of the first byte: the last one, which is put right
    fine = (before == ord(dialect.separator)) | (before == 10) | (before == 13) | (opening == 0)
    if len(quotes) > 2:
        fine |= np.r_[-2, quotes[1::2]][: len(opening)] == opening - 1
    if not fine.all():
        return _walk(data, dialect)
    while last and (n := int(np.searchsorted(quotes, last))) % 2:  # within quotes: go before the opening one
        last = data.rfind(line_end, 0, int(quotes[n - 1])) + 1
    return last, int(quotes[-1]) if len(quotes) % 2 else -1


def _walk(data: Data, dialect: Dialect) -> tuple[int, int]:
    """The same, cell by cell."""
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


def too_long(name: str, line: int, longest: int) -> FileError:
    """The error for a line, or a cell, that is longer than any is taken to be."""
    return FileError(
        f"{name}, line {line}: the line is longer than {longest / (1 << 20):g} MiB, which is no row of a table (or a "
        "quote is never closed); if it is meant, raise the limit (--max-line MIB; scan(…, max_line=BYTES))"
    )


def never_closed(name: str, line: int, cell: str) -> FileError:
    """The error for a quote that opens a cell and is never closed."""
    opened = cell.splitlines()[0]
    return FileError(
        f"{name}, line {line}: the quote before {opened!r} is never closed; close it, or read the file without quotes"
    )
