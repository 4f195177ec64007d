"""Tables written as they come: CSV, TSV, JSON lines, Parquet or Arrow, in pieces of bytes."""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingenuo.errors import InputError, did_you_mean

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


def format_of(path: str | None, wanted: str | None = None) -> str:
    """The format to write: as asked for, as the ending of a name says, else CSV."""
    if wanted is not None:
        return wanted
    if path is None or path == "-":
        return "csv"
    suffix = Path(path.removesuffix(".gz")).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(
            f"{path}: rows cannot be written to a file of type {suffix or 'unknown'!r}{did_you_mean(suffix, FORMATS)}"
        )
    return FORMATS[suffix]


def separator_of(kind: str, own: str | None, *, named: bool) -> str | None:
    """What parts the cells of what is written; None where they are not parted so.

    A delimited text keeps its own separator, unless another was named by the format or by the ending of a file.
    """
    if kind not in ("csv", "tsv"):
        return None
    if own is None or (named and (own == "\t") != (kind == "tsv")):
        return "," if kind == "csv" else "\t"
    return own


def shown_of(separator: str | None, own: str | None) -> str:
    """How rows are shown in what is written: by their values, or by their lines or cells as they are in the file."""
    return "values" if separator is None else "lines" if separator == own else "cells"


def packed(pieces: Iterable[bytes], path: str) -> Iterator[bytes]:
    """The pieces, in gzip where the name of the file ends so."""
    if not path.endswith(".gz"):
        yield from pieces
        return
    packing = zlib.compressobj(wbits=31)
    for piece in pieces:
        yield packing.compress(piece)
    yield packing.flush()


class Beside(NamedTuple):
    """What is shown of some rows, as a table or as lines of delimited text, and columns to stand beside it."""

    shown: Any
    columns: pa.Table

    def table(self) -> pa.Table:
        """All of it; lines cannot be parted here."""
        names = [*self.shown.column_names, *self.columns.column_names]
        return pa.table([*self.shown.columns, *self.columns.columns], names)


def written(tables: Iterable[pa.Table | Beside], kind: str, separator: str | None = None) -> Iterator[bytes]:
    """The bytes of a file that holds the tables, all of the same columns.

    Delimited text has the separator that is given, which lines must have too; else a comma, or a tab for "tsv".
    """
    parts = (table if isinstance(table, Beside) else Beside(table.select([]), table) for table in tables)
    if kind in ("csv", "tsv"):
        return _delimited(parts, separator or ("," if kind == "csv" else "\t"))
    whole = (part.table() for part in parts)
    return _columnar(whole, kind) if kind in ("parquet", "arrow") else _lines(whole)


def _delimited(parts: Iterable[Beside], separator: str) -> Iterator[bytes]:
    """Lines of cells, in quotes where they need them and only there (Arrow's writer puts every string in quotes)."""
    for number, (shown, columns) in enumerate(parts):
        if number == 0:
            names = pa.chunked_array([pa.array([*shown.column_names, *columns.column_names], pa.large_string())])
            yield separator.join(quoted(names, separator).to_pylist()).encode() + b"\n"
        if columns.num_rows:
            rows = [shown.text] if hasattr(shown, "text") else _cells(shown, separator)
            yield joined([*rows, *_cells(columns, separator)], separator)


def _cells(table: pa.Table, separator: str) -> list[pa.ChunkedArray]:
    return [quoted(_text(column), separator) for column in table.columns]


def joined(cells: Sequence[pa.ChunkedArray], separator: str) -> bytes:
    """Lines of cells that are text already, and in quotes where they must be."""
    rows = pc.binary_join_element_wise(*cells, _letter(separator))
    lines = pc.binary_join_element_wise(rows, _letter(""), _letter("\n"))
    return b"".join(map(_bytes, lines.chunks if isinstance(lines, pa.ChunkedArray) else [lines]))


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells as text; those that are missing are empty."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pc.fill_null(column.cast(pa.large_string()), "")


def quoted(cells: pa.ChunkedArray, separator: str) -> pa.ChunkedArray:
    """Cells of text, in quotes where they hold what would end them."""
    signs = (b'"', b"\n", b"\r", separator.encode())
    if not any(sign in data for data in map(_bytes, cells.chunks) for sign in signs):
        return cells  # a look at the bytes is much quicker than one at each cell
    odd = pc.match_substring_regex(cells, f'[{re.escape(separator)}"\\r\\n]')
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(odd, pc.binary_join_element_wise(_letter(""), doubled, _letter(""), _letter('"')), cells)


def _letter(text: str) -> Any:
    return pa.scalar(text, pa.large_string())


def _bytes(lines: pa.Array) -> bytes:
    """The strings of an array, one after the other, as they lie in memory."""
    _, offsets, data = lines.buffers()
    if data is None or len(lines) == 0:
        return b""
    bounds = np.frombuffer(offsets, np.int64 if pa.types.is_large_string(lines.type) else np.int32)
    low, high = int(bounds[lines.offset]), int(bounds[lines.offset + len(lines)])
    return bytes(data.slice(low, high - low).to_pybytes())


def _lines(tables: Iterator[pa.Table]) -> Iterator[bytes]:
    for table in tables:
        text = io.StringIO()
        for row in table.to_pylist():
            text.write(json.dumps(row, ensure_ascii=False, default=str))
            text.write("\n")
        yield text.getvalue().encode()


class _Pieces(io.RawIOBase):
    """A file whose bytes are taken away as they are written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        return self._at

    def taken(self) -> bytes:
        """What was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _columnar(tables: Iterator[pa.Table], kind: str) -> Iterator[bytes]:
    import pyarrow.parquet as pq

    pieces, writer = _Pieces(), None
    sink = pa.PythonFile(pieces, mode="w")
    for table in tables:
        if writer is None:
            schema = table.schema.remove_metadata()
            writer = pq.ParquetWriter(sink, schema) if kind == "parquet" else pa.ipc.new_file(sink, schema)
        writer.write_table(table.cast(writer.schema if kind == "parquet" else table.schema.remove_metadata()))
        yield pieces.taken()
    if writer is not None:
        writer.close()
    yield pieces.taken()
