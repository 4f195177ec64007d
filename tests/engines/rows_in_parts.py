"""A mixed table, and a stand-in for an engine: parts that are reduced in this process, through bytes as elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ingenuo.errors import InputError
from ingenuo.rows.engines import EngineFrame, Merge, RemotePart

WORDS = ["good", "bad", "fine", "film", "plot", "long", "dull", "great", "awful", "never", "again", "twice"]


def mixed(rows: int = 600, seed: int = 3) -> pd.DataFrame:
    """Numbers, categories and texts with missing values, two classes, and whole weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    found = pd.DataFrame(
        {
            "size": (rng.lognormal(size=rows) + y).round(3),
            "age": rng.integers(18, 90, rows).astype(float),
            "town": rng.choice(["Bari", "Pisa", "Roma", "Lodi"], rows),
            "note": [" ".join(rng.choice(WORDS[k : k + 8], 7)) for k in 3 * y],
            "paid": np.where(y == 1, "yes", "no"),
            "times": rng.integers(0, 4, rows),
        }
    )
    found.loc[found.index % 7 == 3, "size"] = np.nan
    found.loc[found.index % 11 == 5, "town"] = None
    return found


class Listed(EngineFrame):
    """Tables as the parts of a frame."""

    schema: pa.Schema = None
    called = "the listed frame"

    def __init__(self, parts: Sequence[pa.Table]) -> None:
        self.parts = list(parts)
        self.names = self.parts[0].column_names
        self.schema = self.parts[0].schema.remove_metadata()
        self.heads = 0  # how often the first rows were looked at
        self.rounds = 0  # how often the parts were gone through

    def column(self, given: Any, what: str) -> tuple[Listed, str]:
        if given not in self.names:
            raise InputError(f"there is no column {given!r}")
        return self, given

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        self.heads += 1
        filled = [part for part in self.parts if part.num_rows] or self.parts[:1]
        alike = [part for part in filled if part.schema.equals(filled[0].schema)]
        return pa.concat_tables(alike).select(columns).slice(0, n)

    def reduce(self, columns: Sequence[str], part: RemotePart, merge: Merge) -> bytes:
        self.rounds += 1
        return merge([part(number, [table]) for number, table in enumerate(self.parts)])


def listed(frame: pd.DataFrame, cuts: Sequence[int]) -> Listed:
    """A table cut at some rows."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    bounds = [0, *sorted(cuts), table.num_rows]
    return Listed([table.slice(a, b - a) for a, b in pairwise(bounds)])
