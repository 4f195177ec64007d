"""Some rows, encoded by a schema: one block of data for each family, the labels and the weights.

Blocks are views of what came in wherever that is possible; numbers become C-ordered doubles a small piece at
a time, when the loops ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.labels import Labels
from ingenuo.schema import Reference, column_name
from ingenuo.text.words import Words

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


class Piece(NamedTuple):
    """Some rows of a text column: row i of them is data[offsets[i]:offsets[i + 1]]."""

    first: int  # its first row
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    missing: NDArray[np.bool_] | None  # None: no row is

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.offsets) - 1


class Text:
    """A column of text, a piece at a time."""

    def __init__(self, name: object, n_rows: int) -> None:
        self.name, self.n_rows = name, n_rows
        self._holes: NDArray[np.bool_] | None = None

    def pieces(self, errors: str = "strict") -> Iterator[Piece]:
        """The rows as UTF-8; bytes that are none raise, or are replaced."""
        holes = np.zeros(self.n_rows, np.bool_)
        for piece in self._read(errors):
            if piece.missing is not None:
                holes[piece.first : piece.first + piece.n_rows] = piece.missing
            yield piece
        self._holes = holes

    def _read(self, errors: str) -> Iterator[Piece]:
        raise NotImplementedError

    def missing(self, errors: str = "strict") -> NDArray[np.bool_]:
        """Which rows have no text at all; known once the column was read."""
        if self._holes is None:
            for _ in self.pieces(errors):
                pass
        assert self._holes is not None
        return self._holes


@dataclass(frozen=True)
class Texts:
    """Columns of text."""

    names: Labels
    n_rows: int
    columns: Sequence[Text]
    settings: Sequence[Words] = ()  # how the words of each are counted
    references: Sequence[Reference | None] = ()  # and measured, where that is fixed


Block = Numbers | Codes | Counts | Texts


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
