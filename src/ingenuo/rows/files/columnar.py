"""Parquet and Arrow files: columns that have types already, read some rows at a time."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ingenuo.errors import FileError
from ingenuo.rows.files.bytes import File, explain_refusal, refuse_ratio
from ingenuo.rows.files.contents import Content, Options, Types
from ingenuo.rows.kinds import as_types, is_string

_ROWS = 1 << 17  # rows of a batch
_BATCH = 1 << 25  # bytes of a batch, about, where rows are wide
_BUFFERS = 1 << 25  # bytes of the buffers of all the columns that are read
_FIRST = 1 << 15  # rows from which kinds are inferred
_PROBE = 1 << 13  # rows that are looked at first for the values of a dictionary


class Typed(Content):
    """What both have in common."""

    what = ""  # as messages call the format

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file, options)
        with self._explain():
            self.own_schema = self._schema()  # the columns and types as they are in the file
        self.names = [str(name) for name in self.own_schema.names]
        self.refuse_doubled()

    @cached_property
    def _held(self) -> Any:
        """The bytes of what cannot be opened twice, or is packed."""
        return self.file.buffer(self.options.max_ratio).read_buffer()

    def _source(self) -> Any:
        """The bytes, from the start."""
        if self.file.is_stream or self.file.is_packed():
            return pa.BufferReader(self._held)
        return self._open()

    def _open(self) -> Any:
        return self.file.buffer()

    @contextmanager
    def _explain(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(
                f"{self.file.name}: the file cannot be read as {self.what} ({str(error).splitlines()[0]}); it may be "
                "damaged or cut short: fetch or write it again"
            ) from None

    def _schema(self) -> Any:
        raise NotImplementedError

    def _tables(self, types: Mapping[str, Any] | None, rows: int) -> Iterator[tuple[Any, float]]:
        """Tables of at most so many rows with the columns of these types, and which share has then been read."""
        raise NotImplementedError

    def first(self) -> Any:
        """The first rows."""
        with self._explain():
            for table, _ in self._tables(None, _FIRST):
                if table.num_rows:
                    return table.slice(0, _FIRST)
            return self._schema().empty_table()

    def parts(self, types: Types, fixed: str | None) -> Iterator[tuple[Any, int]]:
        """The rows, some at a time."""
        tables = self._tables(types, _ROWS)
        while True:
            with self._explain():
                found = next(tables, None)
            if found is None:
                return
            table, share = found
            yield as_types(table, types, self.file.name), int(share * (self.file.n_bytes or 0))


class Parquet(Typed):
    """A Parquet file."""

    what = "Parquet"

    def _open(self) -> Any:
        # Not mapped: the pages of a mapped file would count as the memory of whoever reads it.
        with explain_refusal(self.file.path):
            return pa.OSFile(self.file.path)

    def _file(self, **options: Any) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(self._source(), **options)

    def _schema(self) -> Any:
        file = self._file()
        self._refuse_bomb(file.metadata)
        return file.schema_arrow

    def _refuse_bomb(self, metadata: Any) -> None:
        """Raise where a column has cells that are too long on the average, or unpacks to far more than it is."""
        name, most = self.file.name, self.options.max_line
        unpacked = packed = 0
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for chunk in map(group.column, range(group.num_columns)):
                unpacked += chunk.total_uncompressed_size
                packed += chunk.total_compressed_size
                if chunk.total_uncompressed_size > most * max(chunk.num_values, 1):
                    raise FileError(
                        f"{name}: the cells of column {chunk.path_in_schema!r} are longer than {most / (1 << 20):g} "
                        "MiB; if they are meant, raise the limit (--max-line MIB; scan(…, max_line=BYTES))"
                    )
        refuse_ratio(name, unpacked, max(packed, 1), self.options.max_ratio)

    def _tables(self, types: Mapping[str, Any] | None, rows: int) -> Iterator[tuple[Any, float]]:
        columns, own = None if types is None else list(types), self.own_schema
        # Parquet has strings as dictionaries: to read them so is far quicker than to make a dictionary of them after.
        coded = [name for name, type in (types or {}).items() if pa.types.is_dictionary(type)]
        coded = [name for name in coded if is_string(own.field(name).type)]
        n_columns = max(len(own) if columns is None else len(columns), 1)
        large = (self.file.n_bytes or 0) > _BUFFERS
        file = self._file(read_dictionary=coded, buffer_size=max(1 << 16, _BUFFERS // n_columns) if large else 0)
        metadata = file.metadata
        total, done, width = max(metadata.num_rows, 1), 0, 8 * n_columns
        if any(not pa.types.is_primitive(own.field(name).type) for name in columns or own.names if name not in coded):
            width += sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)) // total
        if types is not None:  # the first rows, from which kinds are inferred, are as many whatever their width
            rows = max(1 << 10, min(rows, _BATCH // width, total))
        for batch in file.iter_batches(rows, columns=columns, use_threads=large):
            done += batch.num_rows
            found = [_used(c) if n in coded else c for n, c in zip(batch.schema.names, batch.columns)]
            yield pa.Table.from_arrays(found, schema=batch.schema), done / total


def _used(values: Any) -> Any:
    """The same values with a dictionary of those alone that occur; Parquet has one for a whole row group."""
    dictionary, indices = values.dictionary, values.indices
    seen = np.zeros(len(dictionary), bool)
    for some in (indices.slice(0, _PROBE), indices):
        seen[some.drop_null().to_numpy(zero_copy_only=False)] = True
        if seen.all():
            return values
    places = pa.array(np.cumsum(seen, dtype=np.int32) - np.int32(1))
    return pa.DictionaryArray.from_arrays(places.take(indices), dictionary.filter(pa.array(seen)))


class ArrowFile(Typed):
    """An Arrow file, stream or Feather file."""

    what = "an Arrow file"

    def _batches(self) -> tuple[Any, int, Iterator[Any]]:
        """The schema, how many batches there are (0: unknown), and the batches."""
        source = self._source()
        magic = bytes(source.read(6))
        source.seek(0)
        if magic.startswith(b"FEA1"):
            from pyarrow import feather

            table = feather.read_table(source)
            return table.schema, 0, iter(table.to_batches(_ROWS))
        if magic == b"ARROW1":
            reader = pa.ipc.open_file(source)
            n = reader.num_record_batches
            return reader.schema, n, (reader.get_batch(i) for i in range(n))
        stream = pa.ipc.open_stream(source)
        return stream.schema, 0, iter(stream)

    def _schema(self) -> Any:
        return self._batches()[0]

    def _tables(self, types: Mapping[str, Any] | None, rows: int) -> Iterator[tuple[Any, float]]:
        _, n, batches = self._batches()
        for place, batch in enumerate(batches, 1):
            for start in range(0, max(batch.num_rows, 1), rows):  # a file may be one batch, however long
                table = pa.Table.from_batches([batch.slice(start, rows)])
                yield table if types is None else table.select(list(types)), place / n if n else 1.0


class Spreadsheet(Content):
    """The first sheet of a workbook; its cells have types."""

    def __init__(self, file: File, options: Options) -> None:
        super().__init__(file, options)
        try:
            from python_calamine import CalamineError, load_workbook
        except ImportError:
            raise FileError(
                f"{file.name}: python-calamine, which reads sheets, is not installed; pip install 'ingenuo[excel]'"
            ) from None
        with explain_refusal(file.path):
            if zipfile.is_zipfile(file.path):
                with zipfile.ZipFile(file.path) as archive:
                    unpacked = sum(member.file_size for member in archive.infolist())
                refuse_ratio(file.name, unpacked, file.n_bytes or 1, options.max_ratio)
        try:
            book = load_workbook(file.path)
            cells = book.get_sheet_by_index(0).to_python(skip_empty_area=True)
        except (CalamineError, ValueError, OSError) as error:
            raise FileError(f"{file.name}: the sheet cannot be read ({error}); save it again, or as CSV") from None
        if not cells:
            raise FileError(f"{file.name}: the first sheet is empty; give one with a header and rows")
        header = options.names is None if options.header is None else options.header
        if options.header is None and header:
            header = all(isinstance(cell, str) for cell in cells[0])
        self.titled = header or options.names is not None
        self.names = self.given_names(len(cells[0]))
        if header and options.names is None:
            self.names = [str(cell) or name for cell, name in zip(cells[0], self.names)]
        self.refuse_doubled()
        missing = set(options.missing)
        columns = list(zip(*cells[header:])) or [()] * len(self.names)
        self._table = pa.table(
            [_cells([None if c in missing else c for c in column]) for column in columns], self.names
        )
        self.own_schema = self._table.schema
        if len(book.sheet_names) > 1:
            self.notes = [f"the first sheet, {book.sheet_names[0]!r}, of {len(book.sheet_names)}"]

    def first(self) -> Any:
        """The first rows."""
        return self._table.slice(0, _FIRST)

    def parts(self, types: Types, fixed: str | None) -> Iterator[tuple[Any, int]]:
        """The rows, some at a time."""
        for start in range(0, self._table.num_rows, _ROWS):
            done = min(start + _ROWS, self._table.num_rows) / max(self._table.num_rows, 1)
            part = self._table.select(list(types)).slice(start, _ROWS)
            yield as_types(part, types, self.file.name), int(done * (self.file.n_bytes or 0))


def _cells(values: list[Any]) -> Any:
    """The cells of a column in one type; as strings where they are of several. A sheet has no whole numbers."""
    whole = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    for found in (whole, values):
        try:
            return pa.array(found)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            continue
    return pa.array([None if v is None else str(v) for v in whole], pa.string())
