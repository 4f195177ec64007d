"""Some rows, encoded by a schema: one block of data for each family, the labels and the weights.

Blocks are views of what came in wherever that is possible; numbers become C-ordered doubles a small piece at
a time, when the loops ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.labels import Labels
from ingenuo.schema import column_name

Floats = NDArray[np.float64]


_PIECE = 1 << 17  # numbers converted at a time


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers, NaN = missing: one matrix, or a function per column that gives rows lo..hi."""

    names: Labels
    n_rows: int
    matrix: NDArray[Any] | None = None
    columns: Sequence[Callable[[int, int], NDArray[Any]]] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.names)

    @property
    def step(self) -> int:
        """How many rows to ask for at a time: all where that costs no copy, else a mebibyte of them."""
        m = self.matrix
        if m is not None and m.dtype == np.float64 and m.flags.c_contiguous:
            return max(self.n_rows, 1)
        return max(512, _PIECE // max(len(self.names), 1) & ~511)

    def rows(self, lo: int, hi: int) -> Floats:
        """Rows lo..hi as C-ordered doubles: a view where the matrix already is that."""
        if self.matrix is not None:
            return np.ascontiguousarray(self.matrix[lo:hi], np.float64)
        block = np.empty((hi - lo, len(self.names)))
        for j, column in enumerate(self.columns):
            block[:, j] = column(lo, hi)
        return block

    def place(self, row: int, column: int) -> str:
        """How a cell is called in a message."""
        return f"column {column_name(self.names[column])!r}, row {row}"


@dataclass(frozen=True)
class Codes:
    """Columns of categories as small integers, -1 = missing, and the labels that the codes stand for."""

    names: Labels
    n_rows: int
    columns: Sequence[NDArray[Any]] | NDArray[Any]  # one array a column, or a matrix (rows × columns)
    labels: Sequence[Labels] | None  # unique, in any order; None: codes are their own labels, from 0 on
    holes: bool = True  # whether codes may be missing; where not, one below zero is an error


@dataclass(frozen=True)
class Counts:
    """Columns of counts: a matrix, dense or CSR (data, indices, indptr)."""

    names: Labels
    n_rows: int
    matrix: Any

    @property
    def sparse(self) -> bool:
        """Whether the matrix is CSR."""
        return not isinstance(self.matrix, np.ndarray)


Block = Numbers | Codes | Counts


@dataclass(frozen=True)
class Chunk:
    """Some rows: a block for each family, with labels and weights when they are for learning."""

    n_rows: int
    blocks: Mapping[str, Block]
    labels: NDArray[np.int32] | None = None  # places in classes
    classes: Labels = field(default_factory=lambda: np.zeros(0, np.int64))
    weights: Floats | None = None

    @property
    def coded(self) -> NDArray[np.int32]:
        """The labels of rows that are for learning."""
        assert self.labels is not None, "this chunk has no labels"
        return self.labels

    @cached_property
    def rows_by_class(self) -> NDArray[np.int64]:
        """How many rows each class has."""
        return np.bincount(self.coded, minlength=len(self.classes))
