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
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.native import F64, I32, I64, INT, function

Floats = NDArray[np.float64]


_gather = function("gather_columns", I64, I32, F64, INT, INT, INT, F64, INT, F64)
_scatter = function("scatter_columns", I64, I32, F64, INT, INT, INT, INT, F64, INT, INT, F64)
_gram = function("gram_columns", I64, I32, F64, INT, F64, INT, INT, INT, F64, INT, F64, F64)
_sort = function("sort_by_column", I32, I32, F64, INT, INT, I64, INT, I32, F64)
_pick = function("pick_columns", I64, I32, F64, INT, I64, INT, I64, I32, F64)


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
        starts = np.zeros(n_columns + 2, np.int64)
        new_rows = np.empty(np.count_nonzero(columns >= 0), np.int32)
        new_values = np.empty(len(new_rows) if len(values) else 0)
        given = (np.ascontiguousarray(each) for each in (rows, columns, values))
        _sort(*given, len(values) == 0, len(rows), starts, n_columns, new_rows, new_values)
        return Columns(n_rows, starts[:-1], new_rows, new_values)

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
        _pick(*self._given(), np.ascontiguousarray(kept, np.int64), len(kept), starts, rows, values)
        return Columns(self.n_rows, starts, rows, values)

    def by_place(self, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """Columns that have an entry, in the order of the row in their middle."""
        middle = self.rows[(self.starts[columns] + self.starts[columns + 1]) // 2]
        return np.asarray(columns[np.argsort(middle, kind="stable")])

    def _given(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, bool]:
        """As the loops take them, and whether the values are ones."""
        return self.starts, self.rows, self.values, len(self.values) == 0

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
        return self._scattered(V, V.shape[1], squared=False)

    def gathered(self, G: Floats) -> Floats:
        """Xᵀ G."""
        G = np.ascontiguousarray(G)
        out = np.empty((self.shape[1], G.shape[1]))
        threads.run([partial(_gather, *self._given(), lo, hi, G, G.shape[1], out) for lo, hi in self._parts()])
        return out

    def squares_gathered(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""
        return self._squared.gathered(G)

    @cached_property
    def _squared(self) -> Columns:
        return Columns(self.n_rows, self.starts, self.rows, self.values * self.values)

    def gram(self, G: Floats, squares: Floats) -> Floats:
        """X S Xᵀ G with S diagonal for each vector of G: squares (columns × vectors); none are ones."""
        G, squares, width = np.ascontiguousarray(G), np.ascontiguousarray(squares), G.shape[1]

        def loop(lo: int, hi: int, out: Floats) -> None:
            _gram(*self._given(), squares, squares.size == 0, lo, hi, G, width, out, np.empty(width))

        return self._added(loop, width)

    def squared_times(self, squares: Floats, width: int) -> Floats:
        """The diagonal of X S Xᵀ for each of `width` vectors: X² S."""
        return self._scattered(squares, width, squared=True)

    def _scattered(self, V: Floats, width: int, *, squared: bool) -> Floats:
        """X V, or X² V; without V it is ones."""
        V = np.ascontiguousarray(V)
        rest = V, squared and V.size == 0, width
        return self._added(lambda lo, hi, out: _scatter(*self._given(), squared, lo, hi, *rest, out), width)
