"""What is wrong with a block of delimited text that Arrow refuses: the first bad row, its line, cell and remedy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ingenuo.errors import FileError
from ingenuo.sources.files.blocks import never_closed
from ingenuo.sources.files.rows import rows
from ingenuo.sources.files.sniffing import Dialect, is_number
from ingenuo.sources.files.streams import bad_byte


def mixed(name: str, line: int | None, column: str, value: str, row: int | None = None) -> FileError:
    """A value that is no number in a column of numbers."""
    where = f"{name}, line {line}" if line is not None else f"{name}, row {row}"
    return FileError(
        f"{where}: column {column!r} holds numbers, and {value!r} is none; mend the file, name the value as missing "
        f"(--missing {value!r}), or declare the column as 'category' (--column {column}=category)"
    )


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
