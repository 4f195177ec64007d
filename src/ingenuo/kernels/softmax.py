"""The cross-entropy of rows under logits: its value, its gradient, its curvature, and how it goes along a line.

Two classes have one logit z, the log odds of the second; more have one each. Logits and gradients are rows × logits.

    loss = Σ_i w_i (log Σ_k exp z_ik - z_i,y)        gradient in z_ik = w_i (p_ik - [y_i = k])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.native import F64, I32, I64, INT, REAL, function

Floats = NDArray[np.float64]

_cross_entropy = function("cross_entropy", F64, INT, INT, F64, F64, INT, I32, F64, *[INT] * 3, *[F64] * 4, returns=REAL)
_NONE = np.zeros(0)

_FEW = 1 << 12  # rows that a part has at least
_PARTS = 8  # as many whatever the threads, so that sums are added in one order


def _parts(n_rows: int) -> list[tuple[int, int]]:
    return threads.split(n_rows, _PARTS, _FEW)


def residuals(logits: Floats, labels: NDArray[np.int32], weights: Floats, out: Floats) -> float:
    """The loss; its gradient in the logits is written to out. No weights are ones."""
    given = logits, *logits.shape, _NONE, _NONE, 0, labels, weights, len(weights) > 0
    tasks = [partial(_cross_entropy, *given, lo, hi, _NONE, _NONE, _NONE, out) for lo, hi in _parts(len(logits))]
    return float(sum(threads.run(tasks)))


def within(
    logits: Floats, directions: Floats, lengths: Floats, labels: NDArray[np.int32], weights: Floats
) -> tuple[float, Floats, Floats]:
    """The loss at logits + Σ_m lengths[m] · directions[m], and its gradient and curvature in the lengths."""
    (n, columns), size = logits.shape, len(lengths)
    assert size, "without directions the loop would write a gradient in the logits"
    given = logits, n, columns, np.ascontiguousarray(directions), lengths, size, labels, weights, len(weights) > 0

    def loss(lo: int, hi: int) -> tuple[float, Floats, Floats]:
        slope, bend = np.zeros(size), np.zeros((size, size))
        work = np.empty((size + 1) * (columns + 1))
        return _cross_entropy(*given, lo, hi, slope, bend, work, _NONE), slope, bend

    found = threads.run([partial(loss, lo, hi) for lo, hi in _parts(n)])
    lower = sum((bend for _, _, bend in found), np.zeros((size, size)))
    slope = sum((slope for _, slope, _ in found), np.zeros(size))
    return float(sum(value for value, _, _ in found)), slope, lower + np.tril(lower, -1).T


# A sparse matrix held by its columns, times a few vectors at once: X V, Xᵀ G, and X S² Xᵀ G in one pass.
#
# By columns each of these streams through the matrix and through V, while what is read and written at random (G, Z:
# rows × vectors) is small enough for a cache. X S² Xᵀ G needs no vector over the columns at all: what a column gathers
# from G is scattered into Z at once.


_columns = function("sparse_columns", INT, I64, I32, F64, INT, INT, INT, F64, F64, INT, INT, F64, F64)
_sort_by_column = function("sort_by_column", I32, I32, F64, INT, INT, I64, I32, F64)
# What `_columns` does.
_GATHER, _TIMES, _GRAM, _SQUARES = range(4)
_NO_VALUES: Floats = np.zeros(0)
_COLUMN_PARTS = 4


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
        counts = np.bincount(columns[columns >= 0], minlength=n_columns)
        starts = np.append(0, np.cumsum(counts))
        new_rows = np.empty(int(starts[-1]), np.int32)
        new_values = np.empty(len(new_rows) if len(values) else 0)
        _sort_by_column(rows, columns, values, len(columns), len(values) == 0, starts[:-1].copy(), new_rows, new_values)
        return Columns(n_rows, starts, new_rows, new_values)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.starts) - 1

    def only(self, kept: NDArray[np.intp]) -> Columns:
        """Some of the columns, in the order that is given."""
        counts = np.diff(self.starts)[kept]
        starts = np.append(0, np.cumsum(counts))
        entries = np.repeat(self.starts[kept] - starts[:-1], counts) + np.arange(starts[-1])
        return Columns(
            self.n_rows, starts, self.rows[entries], self.values[entries] if len(self.values) else self.values
        )

    def by_place(self, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """Columns that have an entry, in the order of the row in their middle."""
        middle = self.rows[(self.starts[columns] + self.starts[columns + 1]) // 2]
        return np.asarray(columns[np.argsort(middle, kind="stable")])

    def _parts(self) -> list[tuple[int, int]]:
        """Ranges of columns with as many entries each: as many whatever the threads, so that sums have one order."""
        n = _COLUMN_PARTS if len(self.rows) > 1 << 14 else 1
        cuts = np.searchsorted(self.starts, np.linspace(0, len(self.rows), n + 1)[1:-1])
        bounds = [0, *cuts.tolist(), self.shape[1]]
        return list(pairwise(bounds))

    def _run(self, what: int, V: Floats, squares: Floats, width: int, out: Floats, lo: int, hi: int) -> Floats:
        given = self.starts, self.rows, self.values, len(self.values) == 0
        _columns(what, *given, lo, hi, V, squares, len(squares) > 0, width, np.empty(width), out)
        return out

    def _added(self, what: int, V: Floats, squares: Floats, width: int) -> Floats:
        """The sum of what each thread has added to rows of its own."""

        def work(lo: int, hi: int) -> Floats:
            return self._run(what, V, squares, width, np.zeros((self.n_rows, width)), lo, hi)

        first, *others = threads.run([partial(work, lo, hi) for lo, hi in self._parts()])
        for other in others:
            first += other
        return first

    def times(self, V: Floats) -> Floats:
        """X V."""
        return self._added(_TIMES, np.ascontiguousarray(V), _NO_VALUES, V.shape[1])

    def gathered(self, G: Floats) -> Floats:
        """Xᵀ G."""
        G = np.ascontiguousarray(G)
        out, width = np.empty((self.shape[1], G.shape[1])), G.shape[1]
        threads.run([partial(self._run, _GATHER, G, _NO_VALUES, width, out, lo, hi) for lo, hi in self._parts()])
        return out

    def squares_gathered(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""
        return self._squared.gathered(G)

    @cached_property
    def _squared(self) -> Columns:
        return Columns(self.n_rows, self.starts, self.rows, self.values * self.values)

    def gram(self, G: Floats, squares: Floats) -> Floats:
        """X S Xᵀ G with S diagonal for each vector of G: squares (columns × vectors); none are ones."""
        return self._added(_GRAM, np.ascontiguousarray(G), np.ascontiguousarray(squares), G.shape[1])

    def squared_times(self, squares: Floats, width: int) -> Floats:
        """The diagonal of X S Xᵀ for each of `width` vectors: X² S."""
        return self._added(_SQUARES, _NO_VALUES, np.ascontiguousarray(squares), width)


# The log loss of rows with each of many attributes added to, or taken from, what is said of them already.


_LOSSES = 256  # numbers that the loop works on at a time

_log_loss = function("log_loss", F64, F64, REAL, I32, INT, F64, INT, INT, F64, returns=REAL)


def losses(
    joint: Floats, scores: Floats, among: list[int], sign: float, codes: NDArray[np.int32], rows: Floats
) -> Floats:
    """The mean log loss with each of these attributes (of attributes × rows × classes) added, or taken away.

    >>> joint, scores = np.zeros((2, 2)), np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> losses(joint, scores, [0], 1.0, np.array([1, 0], np.int32), np.ones(2)).round(4).tolist()
    [0.3133]
    """
    n, n_classes = joint.shape
    joint, codes = np.require(joint, np.float64, ["C", "A"]), np.require(codes, np.int32, ["C", "A"])
    rows = np.require(rows, np.float64, ["C", "A"])
    weighted = not (rows == 1).all()

    def loss(j: int) -> float:
        own, room = np.require(scores[j], np.float64, ["C", "A"]), np.empty(_LOSSES + n_classes)
        found: float = _log_loss(joint, own, sign, codes, weighted, rows, n, n_classes, room)
        return found

    return np.asarray(np.array(threads.run([partial(loss, j) for j in among])) / rows.sum())
