"""Some rows, encoded by a schema: one block of data for each family, the labels and the weights.

Blocks are views of what came in wherever that is possible; numbers become C-ordered doubles a small piece at
a time, when the loops ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.codes import count_codes
from ingenuo.kernels.gathering import gathered
from ingenuo.kernels.text import cuts_by_bytes
from ingenuo.rows.schema import Reference, column_name
from ingenuo.tally.labels import Labels
from ingenuo.text.words import Words

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


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

    def column(self, at: int) -> Floats:
        """All the values of one column."""
        pieces = [self.rows(lo, min(lo + self.step, self.n_rows))[:, at] for lo in range(0, self.n_rows, self.step)]
        return np.concatenate(pieces) if pieces else np.zeros(0)

    def only(self, lo: int, hi: int) -> Numbers:
        """Columns lo..hi: a view."""
        if self.matrix is not None:
            return Numbers(self.names[lo:hi], self.n_rows, self.matrix[:, lo:hi])
        return Numbers(self.names[lo:hi], self.n_rows, columns=self.columns[lo:hi])

    def place(self, row: int, column: int) -> str:
        """How a cell is called in a message."""
        return f"column {column_name(self.names[column])!r}, row {row}"

    def take(self, rows: Places) -> Numbers:
        """Some rows, in any order: a copy."""
        if self.matrix is not None:
            return replace(self, n_rows=len(rows), matrix=self.matrix[rows])
        taken = [np.asarray(column(0, self.n_rows))[rows] for column in self.columns]
        return Numbers(self.names, len(rows), columns=[partial(_between, column) for column in taken])

    def part(self, lo: int, hi: int) -> Numbers:
        """Rows lo..hi: a view."""
        if self.matrix is not None:
            return replace(self, n_rows=hi - lo, matrix=self.matrix[lo:hi])
        return Numbers(self.names, hi - lo, columns=[partial(_shifted, column, lo) for column in self.columns])


def _between(column: NDArray[Any], lo: int, hi: int) -> NDArray[Any]:
    return column[lo:hi]


def _shifted(column: Callable[[int, int], NDArray[Any]], by: int, lo: int, hi: int) -> NDArray[Any]:
    return column(lo + by, hi + by)


@dataclass(frozen=True)
class Codes:
    """Columns of categories as small integers, -1 = missing, and the labels that the codes stand for."""

    names: Labels
    n_rows: int
    columns: Sequence[NDArray[Any]] | NDArray[Any]  # one array a column, or a matrix (rows × columns)
    labels: Sequence[Labels] | None  # unique, in any order; None: codes are their own labels, from 0 on
    holes: bool = True  # whether codes may be missing; where not, one below zero is an error

    def only(self, lo: int, hi: int) -> Codes:
        """Columns lo..hi: a view."""
        own = self.columns
        columns = own[:, lo:hi] if isinstance(own, np.ndarray) else own[lo:hi]
        labels = None if self.labels is None else self.labels[lo:hi]
        return replace(self, names=self.names[lo:hi], columns=columns, labels=labels)

    def take(self, rows: Places) -> Codes:
        """Some rows, in any order: a copy."""
        return self._at(rows, len(rows))

    def part(self, lo: int, hi: int) -> Codes:
        """Rows lo..hi: a view."""
        return self._at(slice(lo, hi), hi - lo)

    def _at(self, rows: Any, n_rows: int) -> Codes:
        own = self.columns
        return replace(
            self, n_rows=n_rows, columns=own[rows] if isinstance(own, np.ndarray) else [each[rows] for each in own]
        )


@dataclass(frozen=True)
class Counts:
    """Columns of counts: a matrix, dense or CSR (data, indices, indptr)."""

    names: Labels
    n_rows: int
    matrix: Any

    def only(self, lo: int, hi: int) -> Counts:
        """Columns lo..hi of a dense matrix: a view."""
        return Counts(self.names[lo:hi], self.n_rows, self.matrix[:, lo:hi])

    @property
    def sparse(self) -> bool:
        """Whether the matrix is CSR."""
        return not isinstance(self.matrix, np.ndarray)

    def take(self, rows: Places) -> Counts:
        """Some rows, in any order: a copy."""
        return replace(self, n_rows=len(rows), matrix=self.matrix[rows])

    def part(self, lo: int, hi: int) -> Counts:
        """Rows lo..hi: a view, where the matrix is no CSR."""
        return replace(self, n_rows=hi - lo, matrix=self.matrix[lo:hi])


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


class Share(NamedTuple):
    """Some rows of a piece, for one thread to read."""

    piece: Piece
    rows: Places | range  # of the piece; those that are missing may be among a range only
    places: slice | Places  # where all the rows of the piece are in the column


Shares = list[Callable[[], Share]]  # which are made when they are asked for, by the thread that reads them


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

    def shares(self, errors: str = "strict", labels: NDArray[np.int32] | None = None) -> Iterator[Shares]:
        """The rows in shares of some hundred thousand bytes, a piece after the other.

        With labels, the rows of a piece that are not missing come in the order of their labels.
        """
        for piece in self.pieces(errors):
            places = slice(piece.first, piece.first + piece.n_rows)
            lengths = np.diff(piece.offsets)
            if labels is None:
                ranges = [range(lo, hi) for lo, hi in pairwise(cuts_by_bytes(lengths))]
                yield [partial(Share, piece, rows, places) for rows in ranges]
                continue
            order = by_label(labels[places])
            order = order if piece.missing is None else order[~piece.missing[order]]
            cuts = pairwise(cuts_by_bytes(lengths[order]))
            yield [partial(Share, piece, order[lo:hi], places) for lo, hi in cuts]

    def missing(self, errors: str = "strict") -> NDArray[np.bool_]:
        """Which rows have no text at all; known once the column was read."""
        if self._holes is None:
            for _ in self.pieces(errors):
                pass
        assert self._holes is not None
        return self._holes


def by_label(labels: NDArray[np.int32]) -> Places:
    """The rows in the order of their labels."""
    narrow = labels.astype(np.int16) if labels.max(initial=0) < 1 << 15 else labels  # a radix sort
    return np.argsort(narrow, kind="stable")


class GatheredText(Text):
    """Rows of a column of text that was read already: one piece."""

    def __init__(self, name: object, piece: Piece, holes: NDArray[np.bool_]) -> None:
        super().__init__(name, piece.n_rows)
        self._piece, self._holes = piece, holes

    def _read(self, errors: str) -> Iterator[Piece]:
        yield self._piece

    def part(self, lo: int, hi: int) -> GatheredText:
        """Rows lo..hi: a view."""
        piece = self._piece
        missing = None if piece.missing is None else piece.missing[lo:hi]
        assert self._holes is not None
        return GatheredText(self.name, Piece(0, piece.data, piece.offsets[lo : hi + 1], missing), self._holes[lo:hi])


def _gathered(text: Text, rows: Places, errors: str) -> GatheredText:
    """Some rows of a column of text, in any order: a copy."""
    pieces = list(text.pieces(errors))
    firsts = np.array([piece.first for piece in pieces], np.int64)
    data, offsets = gathered([(piece.data, piece.offsets) for piece in pieces], firsts, rows)
    holes = text.missing(errors)[rows]
    return GatheredText(text.name, Piece(0, data, offsets, holes if holes.any() else None), holes)


@dataclass(frozen=True)
class Texts:
    """Columns of text."""

    names: Labels
    n_rows: int
    columns: Sequence[Text]
    settings: Sequence[Words] = ()  # how the words of each are counted
    references: Sequence[Reference | None] = ()  # and measured, where that is fixed

    def only(self, lo: int, hi: int) -> Texts:
        """Columns lo..hi."""
        return Texts(self.names[lo:hi], self.n_rows, self.columns[lo:hi], self.settings[lo:hi], self.references[lo:hi])

    def take(self, rows: Places) -> Texts:
        """Some rows, in any order: a copy."""
        taken = [_gathered(text, rows, words.errors) for text, words in zip(self.columns, self.settings)]
        return replace(self, n_rows=len(rows), columns=taken)

    def part(self, lo: int, hi: int) -> Texts:
        """Rows lo..hi: a view, of rows that were taken."""
        columns = [
            text.part(lo, hi) if isinstance(text, GatheredText) else _gathered(text, np.arange(lo, hi), words.errors)
            for text, words in zip(self.columns, self.settings)
        ]
        return replace(self, n_rows=hi - lo, columns=columns)


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
        return count_codes(self.coded, len(self.classes))

    def take(self, rows: Places) -> Chunk:
        """Some rows, in any order: a copy; all the classes stay known."""
        return Chunk(
            len(rows),
            {name: block.take(rows) for name, block in self.blocks.items()},
            None if self.labels is None else self.labels[rows],
            self.classes,
            None if self.weights is None else self.weights[rows],
        )

    def part(self, lo: int, hi: int) -> Chunk:
        """Rows lo..hi: views."""
        return Chunk(
            hi - lo,
            {name: block.part(lo, hi) for name, block in self.blocks.items()},
            None if self.labels is None else self.labels[lo:hi],
            self.classes,
            None if self.weights is None else self.weights[lo:hi],
        )
