"""A sparse matrix held by its columns, times a few vectors at once: X V, Xᵀ G, and X S² Xᵀ G in one pass.

By columns each of these streams through the matrix and through V, while what is read and written at random (G, Z:
rows × vectors) is small enough for a cache. X S² Xᵀ G needs no vector over the columns at all: what a column gathers
from G is scattered into Z at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.codes import readable

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _gather(starts, rows, values, first, last, G, out):  # type: ignore[no-untyped-def]
    """out[j] = Σ_i x_ij G[i]."""
    plain, width = values.size == 0, G.shape[1]
    for j in range(first, last):
        if width == 1:
            total = 0.0
            for c in range(starts[j], starts[j + 1]):
                total += G[rows[c], 0] if plain else values[c] * G[rows[c], 0]
            out[j, 0] = total
            continue
        for k in range(width):
            out[j, k] = 0.0
        for c in range(starts[j], starts[j + 1]):
            i = rows[c]
            x = 1.0 if plain else values[c]
            for k in range(width):
                out[j, k] += x * G[i, k]


@njit(cache=True, nogil=True)
def _scatter(starts, rows, values, first, last, V, out):  # type: ignore[no-untyped-def]
    """out[i] += Σ_j x_ij V[j]."""
    plain, width = values.size == 0, V.shape[1]
    for j in range(first, last):
        for c in range(starts[j], starts[j + 1]):
            i = rows[c]
            x = 1.0 if plain else values[c]
            for k in range(width):
                out[i, k] += x * V[j, k]


@njit(cache=True, nogil=True)
def _scatter_squares(starts, rows, values, squares, first, last, out):  # type: ignore[no-untyped-def]
    """out[i] += Σ_j x_ij² squares[j]; no squares are ones."""
    plain, width, scaled = values.size == 0, out.shape[1], squares.size > 0
    for j in range(first, last):
        for c in range(starts[j], starts[j + 1]):
            i = rows[c]
            x = 1.0 if plain else values[c] * values[c]
            for k in range(width):
                out[i, k] += x * squares[j, k] if scaled else x


@njit(cache=True, nogil=True)
def _gram(starts, rows, values, squares, first, last, G, out):  # type: ignore[no-untyped-def]
    """out[i] += Σ_j x_ij squares[j] Σ_l x_lj G[l]; no squares are ones."""
    plain, width, scaled = values.size == 0, G.shape[1], squares.size > 0
    held = np.empty(width)
    for j in range(first, last):
        if width == 1:
            total = 0.0
            for c in range(starts[j], starts[j + 1]):
                total += G[rows[c], 0] if plain else values[c] * G[rows[c], 0]
            if scaled:
                total *= squares[j, 0]
            for c in range(starts[j], starts[j + 1]):
                out[rows[c], 0] += total if plain else values[c] * total
            continue
        for k in range(width):
            held[k] = 0.0
        for c in range(starts[j], starts[j + 1]):
            i = rows[c]
            x = 1.0 if plain else values[c]
            for k in range(width):
                held[k] += x * G[i, k]
        if scaled:
            for k in range(width):
                held[k] *= squares[j, k]
        for c in range(starts[j], starts[j + 1]):
            i = rows[c]
            x = 1.0 if plain else values[c]
            for k in range(width):
                out[i, k] += x * held[k]


@njit(cache=True, nogil=True)
def _count_columns(columns, starts):  # type: ignore[no-untyped-def]
    """starts[j + 1] = the entries of columns 0..j; an entry of column -1 is none."""
    starts[:] = 0
    for c in range(columns.size):
        if columns[c] >= 0:
            starts[columns[c] + 1] += 1
    for j in range(starts.size - 1):
        starts[j + 1] += starts[j]


@njit(cache=True, nogil=True)
def _by_column(rows, columns, values, starts, new_rows, new_values):  # type: ignore[no-untyped-def]
    """Entries put in the order of their columns; within one they stay in theirs."""
    place = starts.copy()
    for c in range(columns.size):
        j = columns[c]
        if j >= 0:
            new_rows[place[j]] = rows[c]
            if values.size > 0:
                new_values[place[j]] = values[c]
            place[j] += 1


@njit(cache=True, nogil=True)
def _pick(starts, rows, values, kept, new_starts, new_rows, new_values):  # type: ignore[no-untyped-def]
    """Copy the columns that are kept."""
    for j in range(kept.size):
        shift = starts[kept[j]] - new_starts[j]
        for c in range(new_starts[j], new_starts[j + 1]):
            new_rows[c] = rows[c + shift]
            if values.size > 0:
                new_values[c] = values[c + shift]


@dataclass(frozen=True)
class Columns:
    """A sparse matrix by columns; no values are ones."""

    n_rows: int
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: Floats

    @staticmethod
    def of(n_rows: int, n_columns: int, rows: NDArray[np.int32], columns: NDArray[np.int32], values: Floats) -> Columns:
        """From entries that, within a column, are sorted by row; those of column -1 are left out.

        >>> matrix = Columns.of(2, 3, np.array([0, 0, 1], np.int32), np.array([2, 0, 2], np.int32), np.zeros(0))
        >>> matrix.times(np.array([[1.0], [10.0], [100.0]])).ravel().tolist()
        [101.0, 100.0]
        """
        starts = np.zeros(n_columns + 1, np.int64)
        _count_columns(readable(columns), starts)
        new_rows = np.empty(int(starts[-1]), np.int32)
        new_values = np.empty(len(new_rows) if len(values) else 0)
        _by_column(readable(rows), readable(columns), readable(values), starts, new_rows, new_values)
        return Columns(n_rows, starts, new_rows, new_values)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.starts) - 1

    def only(self, kept: NDArray[np.intp]) -> Columns:
        """Some of the columns, in the order that is given."""
        counts = np.diff(self.starts)[kept]
        starts = np.append(0, np.cumsum(counts))
        rows = np.empty(int(starts[-1]), np.int32)
        values = np.empty(len(rows) if len(self.values) else 0)
        _pick(*self._given(), readable(kept), starts, rows, values)
        return Columns(self.n_rows, starts, rows, values)

    def by_place(self, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """Columns that have an entry, in the order of the row in their middle."""
        middle = self.rows[(self.starts[columns] + self.starts[columns + 1]) // 2]
        return np.asarray(columns[np.argsort(middle, kind="stable")])

    def _given(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        return readable(self.starts), readable(self.rows), readable(self.values)

    def _parts(self) -> list[tuple[int, int]]:
        """Ranges of columns with as many entries each."""
        n = threads.width() if len(self.rows) > 1 << 14 else 1
        cuts = np.searchsorted(self.starts, np.linspace(0, len(self.rows), n + 1)[1:-1])
        bounds = [0, *cuts.tolist(), self.shape[1]]
        return list(pairwise(bounds))

    def _added(self, loop: Callable[..., None], width: int) -> Floats:
        """The sum of what each thread has added to rows of its own."""

        def work(lo: int, hi: int) -> Floats:
            out = np.zeros((self.n_rows, width))
            loop(lo, hi, out)
            return out

        first, *others = threads.run([partial(work, lo, hi) for lo, hi in self._parts()])
        for other in others:
            first += other
        return first

    def times(self, V: Floats) -> Floats:
        """X V."""
        given, V = self._given(), readable(V)
        return self._added(lambda lo, hi, out: _scatter(*given, lo, hi, V, out), V.shape[1])

    def gathered(self, G: Floats) -> Floats:
        """Xᵀ G."""
        out, given, G = np.empty((self.shape[1], G.shape[1])), self._given(), readable(G)
        threads.run([partial(_gather, *given, lo, hi, G, out) for lo, hi in self._parts()])
        return out

    def squares_gathered(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""
        return self._squared.gathered(G)

    @cached_property
    def _squared(self) -> Columns:
        return Columns(self.n_rows, self.starts, self.rows, self.values * self.values)

    def gram(self, G: Floats, squares: Floats) -> Floats:
        """X S Xᵀ G with S diagonal for each vector of G: squares (columns × vectors); none are ones."""
        given, G, squares = self._given(), readable(G), readable(squares)
        return self._added(lambda lo, hi, out: _gram(*given, squares, lo, hi, G, out), G.shape[1])

    def squared_times(self, squares: Floats, width: int) -> Floats:
        """The diagonal of X S Xᵀ for each of `width` vectors: X² S."""
        given, squares = self._given(), readable(squares)
        return self._added(lambda lo, hi, out: _scatter_squares(*given, squares, lo, hi, out), width)
