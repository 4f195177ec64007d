"""Tables written as they come: CSV, TSV, JSON lines, Parquet or Arrow, in pieces of bytes."""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

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


def packed(pieces: Iterable[bytes], path: str) -> Iterator[bytes]:
    """The pieces, in gzip where the name of the file ends so."""
    if not path.endswith(".gz"):
        yield from pieces
        return
    packing = zlib.compressobj(wbits=31)
    for piece in pieces:
        yield packing.compress(piece)
    yield packing.flush()


def written(tables: Iterable[pa.Table], kind: str) -> Iterator[bytes]:
    """The bytes of a file that holds the tables, all of the same columns."""
    if kind in ("csv", "tsv"):
        return _delimited(tables, "," if kind == "csv" else "\t")
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
        try:
            yield _cells(table, separator, "none")
        except pa.ArrowInvalid:
            yield _cells(table, separator, "needed")


def _cells(table: pa.Table, separator: str, quotes: str) -> bytes:
    out = pa.BufferOutputStream()
    options = arrow_csv.WriteOptions(include_header=False, delimiter=separator, quoting_style=quotes)
    arrow_csv.write_csv(table, out, options)
    return bytes(out.getvalue().to_pybytes())


def _lines(tables: Iterable[pa.Table]) -> Iterator[bytes]:
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


def _columnar(tables: Iterable[pa.Table], kind: str) -> Iterator[bytes]:
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
