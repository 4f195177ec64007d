"""Parquet and Arrow files: columns that have types already, read some rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from ingenuo.errors import FileError
from ingenuo.sources.files.contents import Content, Part
from ingenuo.sources.files.kinds import as_types
from ingenuo.sources.files.streams import File

_ROWS = 1 << 17  # rows of a batch
_FIRST = 1 << 15  # rows from which kinds are guessed


class _Typed(Content):
    """What both have in common."""

    def __init__(self, file: File, what: str) -> None:
        super().__init__(file)
        self._what = what
        self._bytes: Any = None  # of what cannot be opened twice, or is packed
        with self._told():
            schema = self._schema()
        self.names = [str(name) for name in schema.names]
        doubled = next((name for name, count in Counter(self.names).items() if count > 1), None)
        if doubled is not None:
            raise FileError(f"{file.name}: two columns are called {doubled!r}; rename one")

    def _source(self) -> Any:
        """The bytes, from the start; what is packed or comes by standard input is held whole."""
        if not self.file.is_stream and not self.file.packed():
            return self.file.buffer()
        if self._bytes is None:
            self._bytes = self.file.buffer().read_buffer()
        return pa.BufferReader(self._bytes)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(
                f"{self.file.name}: the file cannot be read as {self._what} ({str(error).splitlines()[0]}); it may be "
                "damaged or cut short: fetch or write it again"
            ) from None

    def _schema(self) -> Any:
        raise NotImplementedError

    def _tables(self, columns: list[str] | None, rows: int) -> Iterator[tuple[Any, float]]:
        """Tables of about so many rows, and which share of the file has then been read."""
        raise NotImplementedError

    def first(self) -> Any:
        """The first rows."""
        with self._told():
            for table, _ in self._tables(None, _FIRST):
                if table.num_rows:
                    return table.slice(0, _FIRST)
            return self._schema().empty_table()

    def parts(self, types: dict[str, Any], cells: bool, fixed: str | None, *, lines: bool = False) -> Iterator[Part]:
        """The rows, some at a time."""
        tables = self._tables(None if cells else list(types), _ROWS)
        while True:
            with self._told():
                found = next(tables, None)
            if found is None:
                return
            table, share = found
            typed = as_types(table, types, self.file.name)
            yield Part(typed, table if cells else None, int(share * (self.file.n_bytes or 0)))


class Parquet(_Typed):
    """A Parquet file."""

    def __init__(self, file: File) -> None:
        super().__init__(file, "Parquet")

    def _file(self) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(self._source())

    def _schema(self) -> Any:
        return self._file().schema_arrow

    def _tables(self, columns: list[str] | None, rows: int) -> Iterator[tuple[Any, float]]:
        file = self._file()
        total, done = max(file.metadata.num_rows, 1), 0
        for batch in file.iter_batches(rows, columns=columns):
            done += batch.num_rows
            yield pa.Table.from_batches([batch]), done / total


class ArrowFile(_Typed):
    """An Arrow file, stream or Feather file."""

    def __init__(self, file: File) -> None:
        super().__init__(file, "an Arrow file")

    def _batches(self) -> tuple[Any, int, Iterator[Any]]:
        """The schema, how many batches there are (0: unknown), and the batches."""
        source = self._source()
        magic = source.read(6)
        source.seek(0)
        if bytes(magic).startswith(b"FEA1"):
            from pyarrow import feather

            table = feather.read_table(source)
            return table.schema, 0, iter(table.to_batches(_ROWS))
        if bytes(magic) == b"ARROW1":
            reader = pa.ipc.open_file(source)
            n = reader.num_record_batches
            return reader.schema, n, (reader.get_batch(i) for i in range(n))
        stream = pa.ipc.open_stream(source)
        return stream.schema, 0, iter(stream)

    def _schema(self) -> Any:
        return self._batches()[0]

    def _tables(self, columns: list[str] | None, rows: int) -> Iterator[tuple[Any, float]]:
        _, n, batches = self._batches()
        for place, batch in enumerate(batches, 1):
            for start in range(0, max(batch.num_rows, 1), rows):  # a file may be one batch, however long
                table = pa.Table.from_batches([batch.slice(start, rows)])
                yield table if columns is None else table.select(columns), place / n if n else 1.0
