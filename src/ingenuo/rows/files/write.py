"""Tables written as they come: CSV, TSV, JSON lines, Parquet, Arrow or Excel, in pieces of bytes."""

from __future__ import annotations

import csv
import io
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from ingenuo.errors import InputError, did_you_mean
from ingenuo.rows.kinds import sort_of

_ENDINGS = {"csv": "csv", "tsv": "tsv tab", "jsonl": "jsonl ndjson", "parquet": "parquet pq"}
_ENDINGS |= {"arrow": "arrow feather ipc", "xlsx": "xlsx"}
_MOST = 1_048_576  # rows of a sheet
_RUN = ("=", "+", "-", "@", "\t", "\r")  # a cell that begins so is a formula to a spreadsheet
FORMATS = {f".{ending}": format for format, endings in _ENDINGS.items() for ending in endings.split()}


def format_of(path: str | None, wanted: str | None = None) -> str:
    """The format to write: as wanted, as the ending of a name says, else CSV."""
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


def pack(pieces: Iterable[bytes], path: str) -> Iterator[bytes]:
    """The pieces, in gzip where the name of the file ends so."""
    if not path.endswith(".gz"):
        yield from pieces
        return
    packing = zlib.compressobj(wbits=31)
    yield from map(packing.compress, pieces)
    yield packing.flush()


def write(tables: Iterable[pa.Table], kind: str, *, safe: bool = False) -> Iterator[bytes]:
    """The bytes of a file that holds the tables, all of the same columns.

    If safe, what a spreadsheet would run in delimited text has an apostrophe before it.
    """
    if kind in ("csv", "tsv"):
        return _delimited(map(_defuse, tables) if safe else tables, "," if kind == "csv" else "\t")
    if kind == "xlsx":
        return _sheet(tables)
    return _columnar(tables, kind) if kind in ("parquet", "arrow") else _lines(tables)


def _delimited(tables: Iterable[pa.Table], separator: str) -> Iterator[bytes]:
    """Lines of cells; where a batch needs quotes, all its strings have them, for Arrow puts all or none in quotes."""
    for number, table in enumerate(tables):
        if number == 0:
            header = io.StringIO()
            csv.writer(header, delimiter=separator, lineterminator="\n").writerow(table.column_names)
            yield header.getvalue().encode()
        plain = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in table.schema]
        table = table.cast(pa.schema(list(zip(table.column_names, plain))))
        for place in (at for at, type in enumerate(plain) if pa.types.is_boolean(type)):  # as Python and pandas do
            written = pc.if_else(table.column(place), "True", "False")
            table = table.set_column(place, table.column_names[place], written)
        for quotes in ("none", "needed"):
            out = pa.BufferOutputStream()
            options = arrow_csv.WriteOptions(include_header=False, delimiter=separator, quoting_style=quotes)
            try:
                arrow_csv.write_csv(table, out, options)
            except pa.ArrowInvalid:
                continue
            yield out.getvalue().to_pybytes()
            break


def _defuse(table: pa.Table) -> pa.Table:
    """The table, where strings and names that a spreadsheet would run begin with an apostrophe."""
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if sort_of(field.type) == "string":
            column = pc.replace_substring_regex(column.cast(pa.large_string()), r"^([=+\-@\t\r])", r"'\1")
        name = f"'{field.name}" if field.name.startswith(_RUN) else field.name
        table = table.set_column(place, name, column)
    return table


def _sheet(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """A workbook of one sheet: strings are text there, and never formulas or links."""
    try:
        import xlsxwriter
    except ImportError:
        raise InputError("xlsxwriter, which writes sheets, is not installed; pip install 'ingenuo[excel]'") from None
    data, at = io.BytesIO(), 0
    with xlsxwriter.Workbook(data, {"constant_memory": True, "remove_timezone": True}) as book:
        sheet = book.add_worksheet()
        dated = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for table in tables:
            for place, name in enumerate(table.column_names if at == 0 else ()):
                sheet.write_string(0, place, name)
            if at + table.num_rows >= _MOST:
                raise InputError(f"a sheet has {_MOST:,} rows at most, and there are more; write CSV or Parquet")
            for row in zip(*(column.to_pylist() for column in table.columns)):
                at += 1
                for place, cell in enumerate(row):
                    if isinstance(cell, bool):
                        sheet.write_boolean(at, place, cell)
                    elif isinstance(cell, int | float) and math.isfinite(cell):
                        sheet.write_number(at, place, cell)
                    elif isinstance(cell, date):
                        sheet.write_datetime(at, place, cell, dated)
                    elif cell is not None:
                        sheet.write_string(at, place, str(cell))
    yield data.getvalue()


def _lines(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    for table in tables:
        lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in table.to_pylist())
        yield "".join(lines).encode()


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

    def take(self) -> bytes:
        """What was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _columnar(tables: Iterable[pa.Table], kind: str) -> Iterator[bytes]:
    import pyarrow.parquet as pq

    pieces, writer = _Pieces(), None
    sink = pa.PythonFile(pieces, mode="w")
    for table in tables:
        if writer is None:
            schema = table.schema.remove_metadata()
            writer = pq.ParquetWriter(sink, schema) if kind == "parquet" else pa.ipc.new_file(sink, schema)
        writer.write_table(table.cast(writer.schema if kind == "parquet" else table.schema.remove_metadata()))
        yield pieces.take()
    if writer is not None:
        writer.close()
    yield pieces.take()
