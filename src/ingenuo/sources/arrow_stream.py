"""Rows of anything that speaks Arrow's stream interface: a DuckDB relation, a database cursor, a reader of batches.

They are read a batch at a time and never held. What the columns are is inferred from the first rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from ingenuo.errors import InputError
from ingenuo.sources.kinds import as_types, infer_kind
from ingenuo.sources.objects import SAMPLE


class ArrowStream:
    """What hands out its rows as Arrow record batches, with the kind of each column and the reason for it."""

    target: str | None = None
    n_bytes: int | None = None

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._reader: pa.RecordBatchReader | None = pa.RecordBatchReader.from_stream(stream)
        self._schema: pa.Schema = self._reader.schema
        self._first: list[pa.RecordBatch] = []
        while sum(batch.num_rows for batch in self._first) < SAMPLE:
            try:
                self._first.append(self._reader.read_next_batch())
            except StopIteration:
                break
        self.paths = [f"the {type(stream).__name__}"]
        self.names: list[str] = self._schema.names
        self.categories: Mapping[str, Sequence[str]] = {}
        sample = pa.Table.from_batches(self._first, self._schema)
        found = {name: infer_kind(name, sample.column(name).slice(0, SAMPLE)) for name in self.names}
        self.kinds = {name: (kind.kind, kind.why) for name, kind in found.items()}
        self._types = {name: kind.type for name, kind in found.items()}

    @property
    def schema(self) -> pa.Schema:
        """The columns of the batches and their types."""
        return pa.schema(list(self._types.items()))

    def batches(self, progress: Callable[[int], None] | None = None) -> Iterator[pa.Table]:
        """The rows, some at a time, from the start."""
        reader, self._reader = self._reader, None
        if reader is not None:
            waiting: Iterator[pa.RecordBatch] = chain(self._first, reader)
            self._first = []
        elif hasattr(self._stream, "read_next_batch"):
            raise InputError(
                f"{self.paths[0]} was read already, and can be read only once; what was asked for goes over the rows "
                "again: give a table (reader.read_all()), or what can be read again"
            )
        else:
            waiting = iter(pa.RecordBatchReader.from_stream(self._stream))
        for batch in waiting:
            if batch.num_rows:
                yield as_types(pa.Table.from_batches([batch], self._schema), self._types, self.paths[0])

    def table(self) -> pa.Table:
        """All the rows."""
        batches = list(self.batches())
        return pa.concat_tables(batches).unify_dictionaries() if batches else self.schema.empty_table()
