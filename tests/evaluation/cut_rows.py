"""Rows that lie in parts, without an engine: each part is asked by itself, and what it says travels as bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from ingenuo.rows.engines import EngineFrame


class Cut(EngineFrame):
    """A table cut into parts, of which only bytes come back."""

    schema: pa.Schema = None
    called = "the parts"

    def __init__(self, table: Any, cuts: Sequence[int]) -> None:
        whole = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
        ends = [0, *sorted(cuts), whole.num_rows]
        self.parts = [whole.slice(a, b - a) for a, b in pairwise(ends)]
        self.names: list[str] = whole.column_names
        self.schema: pa.Schema = whole.schema.remove_metadata()
        self.travelled: list[int] = []

    def place(self, part: int) -> str:
        return f"part {part}"

    def column(self, given: Any, what: str) -> tuple[Cut, str]:
        assert given in self.names, what
        return self, given

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        return pa.concat_tables(self.parts).select(columns).slice(0, n)

    def reduce(
        self, columns: Sequence[str], part: Callable[..., bytes], merge: Callable[[Sequence[bytes]], bytes]
    ) -> bytes:
        found = [part(n, [rows.select(list(columns))]) for n, rows in enumerate(self.parts)]
        self.travelled += map(len, found)
        return merge(found)
