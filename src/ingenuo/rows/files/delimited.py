"""Delimited text (CSV, TSV and their kin): cut into blocks of rows, each parsed by Arrow in types fixed before.

Arrow's own streaming reader parses in one thread and takes the types from its first block; here several blocks are
parsed at a time, and what a block refuses is told with its line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from ingenuo.errors import FileError
from ingenuo.rows.files.bytes import File, Text, bad_byte, decode, detect
from ingenuo.rows.files.contents import (
    LONGEST,
    Block,
    Content,
    Form,
    Options,
    Part,
    after,
    ahead,
    cut,
    last_row_end,
    never_closed,
)
from ingenuo.rows.files.sniff import Dialect, is_number, rows, sniff
from ingenuo.rows.kinds import as_types, mixed

_LEAST = 1 << 16  # bytes from which the form of a file is told, at least


class Delimited(Content):
    """The rows of a delimited text."""

    written = True

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file)
        self.options = options
        self._look()
        self.decimal = self.dialect.decimal
        self.names = list(self.dialect.names)
        self.notes = [note for note in (self.encoding.note, *self.dialect.notes) if note]

    def _look(self) -> None:
        """Find out the form of the text by its first bytes."""
        file, options = self.file, self.options
        size = max(options.look, _LEAST)
        while True:
            head = file.head(size)
            complete = len(head) < size
            self.encoding = detect(head, file.name, options.encoding)
            head = decode(head, self.encoding)
            self.dialect = sniff(
                head, file.name, file.suffix(), separator=options.separator, quote=options.quote,
                header=options.header, known=options.known, missing=options.missing, complete=complete,
            )  # fmt: skip
            self._whole = len(head) if complete else last_row_end(head, self.dialect)
            if complete or self._whole > self.dialect.body or size > LONGEST:
                break
            size *= 4  # a first row that is longer
        self._size = size
        titles = head[: self.dialect.body]
        if options.errors == "strict" and (error := bad_byte(titles, self.encoding.mark, 1, file.name)):
            raise error

    def _head(self) -> bytes:
        return decode(self.file.head(self._size), self.encoding)

    def first(self) -> Any:
        """The first rows, all of strings."""
        types, start, data = dict.fromkeys(self.names, pa.string()), self.dialect.body, self._head()[: self._whole]
        if not data[start:].strip(b"\r\n"):
            return pa.schema(list(types.items())).empty_table()
        block = Block(data[start:], start, 1 + data.count(self.dialect.line_end, 0, start))
        try:
            return self._parse(block.data, types)
        except pa.ArrowInvalid as error:
            return self._again(block, types, None, error)

    def form(self) -> Form:
        """How the text is written."""
        name, mark, form = self.encoding.name, self.encoding.mark, replace(self.dialect, body=0, notes=())
        name = {"utf-8": "utf-8-sig"}.get(name, name) if mark else name
        skipped = self._head().count(self.dialect.line_end, 0, self.dialect.body)
        missing = tuple(self.options.missing)
        return Form(self.format, self.file.packed(), name, form, skipped, missing, self.options.errors)

    def line_of(self, row: int) -> int | None:
        """The line of one of the first rows."""
        d = self.dialect
        text = self._head().decode("utf-8", "replace")
        found = next(islice(rows(text, d.separator, d.quote, padded=d.padded), row + (d.header_line > 0), None), None)
        return None if found is None else found.line

    def parts(self, types: dict[str, Any], fixed: str | None) -> Iterator[Part]:
        """The rows, a block at a time."""
        with self.file.open() as stream:
            text = Text(stream, self.encoding, self.options.errors)
            for (block, consumed), future in ahead(
                self._blocks(text, stream), lambda b: self._parse(b[0].data, dict(types))
            ):
                try:
                    table = future.result()
                except pa.ArrowInvalid as error:
                    table = self._again(block, types, fixed, error)
                if table.schema.types != list(types.values()):  # parsed before a whole number became a double
                    table = as_types(table, types, self.file.name)
                yield Part(table, consumed)

    def _blocks(self, text: Any, stream: Any) -> Iterator[tuple[Block, int]]:
        """The blocks, without the header."""
        d = self.dialect
        for block in after(cut(text, self.file.name, d, self.options.block_size), d.body, d.line_end):
            if block.data.strip(b"\r\n"):
                yield block, stream.consumed()

    def _parse(self, data: bytes | bytearray, types: Mapping[str, Any]) -> Any:
        return parse(data, self.dialect, types, self.options.missing)

    def _mended(self, data: bytes | bytearray) -> bytes | bytearray:
        """Bytes that are no UTF-8 replaced, where that is wanted."""
        return data.decode("utf-8", "replace").encode() if self.options.errors == "replace" else data

    def _again(self, block: Block, types: dict[str, Any], fixed: str | None, error: Exception) -> Any:
        """A block that was refused: with bytes replaced, or doubles for whole numbers; else what is wrong with it."""
        data = self._mended(block.data)
        wider = {
            name: pa.float64() if pa.types.is_integer(type) and name != fixed else type for name, type in types.items()
        }
        for attempt in (types, wider):
            try:
                table = self._parse(data, attempt)
            except pa.ArrowInvalid:
                continue
            if attempt is wider:
                whole = {name: type for name, type in types.items() if type != wider[name]}
                types.update({name: wider[name] for name in whole if not self._fits(data, name, types[name])})
                return as_types(table, types, self.file.name)
            return table
        found = diagnose(
            data, self.dialect, self.file.name, line=block.line, offset=block.offset + self.encoding.mark,
            types=wider, missing=self.options.missing,
        )  # fmt: skip
        told = FileError(
            f"{self.file.name}, after line {block.line}: the rows cannot be read ({str(error).splitlines()[0]})"
        )
        raise (found or told) from None

    def _fits(self, data: bytes | bytearray, name: str, type: Any) -> bool:
        try:
            self._parse(data, {name: type})
        except pa.ArrowInvalid:
            return False
        return True


def parse(data: bytes | bytearray, dialect: Dialect, types: Mapping[str, Any], missing: Sequence[str]) -> Any:
    """Some rows as a table with the columns that are wanted."""
    if not types:  # Arrow would read all the columns
        return parse(data, dialect, {dialect.names[0]: pa.string()}, missing).select([])
    if dialect.padded:
        data = _trimmed(data, dialect)
    if not data.strip(b" \r\n"):
        return pa.schema(list(types.items())).empty_table()
    table = csv.read_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(column_names=dialect.names, block_size=len(data) + 1, use_threads=False),
        parse_options=csv.ParseOptions(delimiter=dialect.separator, quote_char=dialect.quote or False),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=list(missing),
            strings_can_be_null=True,
            decimal_point=dialect.decimal,
        ),
    )
    for column in table.columns:
        if pa.types.is_floating(column.type) and pc.any(pc.is_inf(column)).as_py():
            raise pa.ArrowInvalid("a number is out of range")
    return table


def _trimmed(data: bytes | bytearray, dialect: Dialect) -> bytes | bytearray:
    """The data without spaces around its cells."""
    separator = dialect.separator.encode()
    if dialect.quote is None or dialect.quote.encode() not in data:
        for sign in (separator, b"\n", b"\r"):  # replacing twenty times as fast as a regular expression
            for padded in (b" " + sign, sign + b" "):
                while padded in data:
                    data = data.replace(padded, sign)
        return data.strip(b" ")
    s, q = re.escape(separator), re.escape(dialect.quote.encode())
    quoted = q + rb"[^" + q + rb"]*(?:" + q + q + rb"[^" + q + rb"]*)*" + q
    before = rb"([" + s + rb"\r\n]|\A) *(" + quoted + rb")?"  # what is within quotes is passed over
    after = rb" +(?=[" + s + rb"\r\n]|\Z)"
    return re.sub(before + rb"|" + after, lambda found: (found[1] or b"") + (found[2] or b""), data)


# What is wrong with a block that Arrow refuses: the first bad row, its line, cell and remedy.


def diagnose(
    data: bytes | bytearray,
    dialect: Dialect,
    name: str,
    *,
    line: int,
    offset: int,
    types: Mapping[str, Any],
    missing: Sequence[str],
) -> FileError | None:
    """The error for the first thing that is wrong, or None where nothing is found."""
    if (error := bad_byte(data, offset, line, name)) is not None:
        return error
    numbers = {
        dialect.names.index(column): (column, type)
        for column, type in types.items()
        if pa.types.is_integer(type) or pa.types.is_floating(type)
    }
    expected = len(dialect.names)
    for row in rows(data.decode(), dialect.separator, dialect.quote, line, dialect.padded):
        if row.unclosed:
            return never_closed(
                name, row.line, next(cell for cell in row.cells if cell.startswith(dialect.quote or '"'))
            )
        if len(row.cells) != expected:
            return _ragged(row.cells, expected, row.line, dialect, name)
        for place, (column, type) in numbers.items():
            cell = row.cells[place].strip()
            if cell in missing:
                continue
            if not is_number(cell, dialect.decimal):
                if cell.lower().lstrip("+-") in ("inf", "infinity"):
                    return _infinite(name, row.line, column, cell)
                return mixed(name, row.line, column, cell)
            value = float(cell.replace(dialect.decimal, "."))
            if math.isinf(value):
                return _infinite(name, row.line, column, cell)
            if pa.types.is_integer(type) and not cell.lstrip("+-").isdecimal():
                return FileError(
                    f"{name}, line {row.line}: column {column!r} held whole numbers as far as was looked, and {cell!r} "
                    f"is none; declare the column (--column {column}=category or {column}=number)"
                )
    return None


def _ragged(cells: list[str], expected: int, line: int, dialect: Dialect, name: str) -> FileError:
    found = f"{len(cells)} field{'s' * (len(cells) != 1)}"
    shown = dialect.separator.join(cells)
    shown = shown if len(shown) <= 60 else shown[:57] + "…"
    if len(cells) > expected:
        quoted = (
            f"quote a cell that holds {dialect.separator!r}" if dialect.quote else "take the separator out of a cell"
        )
        remedy = f"{quoted}, or mend the row"
    else:
        remedy = "add what is missing, if only empty cells, or mend the row"
    source = f"the header (line {dialect.header_line}) has" if dialect.header_line else "the other rows have"
    return FileError(f"{name}, line {line}: the row has {found} and {source} {expected} ({shown!r}); {remedy}")


def _infinite(name: str, line: int, column: str, cell: str) -> FileError:
    return FileError(
        f"{name}, line {line}: column {column!r} has {cell!r}, which is out of the range of numbers; name it missing "
        f"(--missing {cell!r}), or mend the file"
    )
