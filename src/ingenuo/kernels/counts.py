"""Matrices of counts, sparse (CSR) or dense: sums per class, log likelihoods; and what the cross-entropy solver needs.

Counts are whole numbers as a rule, and then every sum is an exact int64, whatever type the matrix has. Other entries
(TF-IDF, say) are summed in doubles, each cell in the order of the rows, so that the result does not depend on the
number of threads. Entries that are negative or not finite are refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import TYPES, call, check_codes, check_shape, portable, record
from ingenuo.kernels.threads import over, run, split, width

Array = NDArray[Any]
Floats = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float64).max)
# Whole numbers are summed in int64 while no sum can pass this, and in doubles are exact below that.
_INT_SAFE = 2**62
_FLOAT_EXACT = 2.0**53
# A thread is worth its start (some 30 µs) from about this many entries.
_ENTRIES_PER_THREAD = 1 << 16
# Entries of a dense block that is copied: 1 MB of doubles. Smaller ones lose more by asking for the GIL oftener.
_BLOCK = 1 << 17
_ENTRIES = {np.dtype(name) for name in ("u1", "i4", "i8", "f4", "f8")}  # what the loops over sparse matrices read
_CSR = record("data indices indptr", "type wide")


class NotACount(InputError):
    """An entry that is no count: where it stands, and what it is."""

    def __init__(self, row: int, column: int, value: float, name: str | None = None) -> None:
        self.row, self.column, self.value = row, column, value
        fault = "Negative values in data" if np.isfinite(value) else "Input X contains NaN or infinity"
        place = f"row {row}, column {column if name is None else repr(name)}"
        super().__init__(f"{fault}: {place} is {value!r}; counts must be finite and 0 or more")


def sort_by_class(labels: Array, n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of the rows in the order of their classes, without those below 0, and where each class ends."""
    check_codes(n_classes, labels)
    rows, ends = np.empty(len(labels), np.int64), np.empty(n_classes + 1, np.int64)
    call.sort_by_class(labels, len(labels), n_classes, rows, ends)
    return rows[: ends[-1]], ends[:-1]


def tally(matrix: Any, labels: Array, n_classes: int, weights: Floats | None = None, presence: bool = False) -> Array:
    """Sum the rows of a matrix per class (with presence, count its entries that are not zero), times their weights.

    An entry of a sparse matrix may not be stored twice. Rows below class 0 are left out. The sums are int64 where
    entries and weights are whole, else float64.
    """
    check_shape(matrix.shape[:1], labels, weights)
    check_codes(n_classes, labels)
    row_weights, heaviest = np.ones(len(labels), np.int64), 1.0
    if weights is not None:
        heaviest = float(np.abs(weights).max(initial=1.0))
        whole = heaviest < _FLOAT_EXACT and bool(np.all(weights == np.floor(weights)))
        row_weights = weights.astype(np.int64 if whole else np.float64)
    labels = labels.astype(np.int64, copy=False)
    dense = isinstance(matrix, np.ndarray)
    return (_tally_dense if dense else _tally_csr)(matrix, labels, n_classes, row_weights, int(heaviest), presence)


def _tally_csr(matrix: Any, labels: Array, n_classes: int, weights: Array, heaviest: int, presence: bool) -> Array:
    csr, n_columns = _as_csr(matrix), matrix.shape[1]
    data, _, indptr = csr.kept[:3]
    limit = _INT_SAFE // (max(data.size, 1) * heaviest)

    def inspect(lo: int, hi: int) -> Array:
        found = np.zeros(3, np.int64)
        lowest = -_LARGEST if presence else 0.0
        call.inspect_entries(csr.type, data[lo:hi], hi - lo, lowest, float(limit), found)
        return found

    outside, fractions, beyond = sum(over(data.size, inspect, 4 * _ENTRIES_PER_THREAD), np.zeros(3, np.int64))
    if outside:
        _refuse(matrix, presence)
    if not presence and (fractions or beyond):
        weights = weights.astype(np.float64)
    exact = weights.dtype == np.int64
    table = np.zeros((n_classes, n_columns), weights.dtype)

    # Rows in order of class, so that a thread adds to one row of the table at a time, and to rows of its own.
    order, ends = sort_by_class(labels, n_classes)
    done = np.cumsum(indptr[order + 1] - indptr[order])
    shares = split(int(done[-1]) if len(done) else 0, 2 * width() if width() > 1 else 1, _ENTRIES_PER_THREAD)
    cuts = np.searchsorted(done, [hi for _, hi in shares[:-1]])
    if not exact:  # then each cell has its order, and no class is cut
        cuts = ends[labels[order[cuts]]]

    def add(lo: int, hi: int) -> tuple[int, Array] | None:
        """Where a range begins within a class that another adds to, those rows get a sum of their own."""
        first, middle, own = int(labels[order[lo]]), lo, None
        if lo and labels[order[lo - 1]] == first:
            middle = min(int(ends[first]), hi)
            own = first, np.zeros(n_columns, weights.dtype)
            given = order[lo:middle], middle - lo, labels, first, weights, presence
            call.tally_csr(csr, exact, *given, own[1], n_columns)
        call.tally_csr(csr, exact, order[middle:hi], hi - middle, labels, 0, weights, presence, table, n_columns)
        return own

    for own in run([partial(add, lo, hi) for lo, hi in pairwise([0, *cuts.tolist(), len(order)]) if lo < hi]):
        if own is not None:
            table[own[0]] += own[1]
    return table


def _tally_dense(matrix: Array, labels: Array, n_classes: int, weights: Array, heaviest: int, presence: bool) -> Array:
    matrix, doubles = _as_numbers(matrix), weights.astype(np.float64, copy=False)
    counted, sums = weights.dtype == np.int64, partial(_sum_dense, matrix, labels, n_classes, presence=presence)
    if matrix.dtype.kind != "f":
        smallest, largest = (0, 1) if presence else (int(matrix.min(initial=0)), int(matrix.max(initial=0)))
        if smallest < 0:
            _refuse(matrix, presence)
        if counted and max(largest, 1) * heaviest * max(len(labels), 1) < _INT_SAFE:
            return sums(weights, any_order=True)[0]
    # Whole numbers, none of them negative, that sum to less than 2**53 are summed in doubles without
    # rounding, in any order. The first rows tell whether that is worth trying.
    if counted and weights.min(initial=0) >= 0 and (presence or np.all(matrix[:64] == np.floor(matrix[:64]))):
        table, whole = sums(doubles, any_order=True)
        if whole and table.max(initial=0.0) < _FLOAT_EXACT:
            return table.astype(np.int64)
    return sums(doubles, any_order=False)[0]


def _sum_dense(
    matrix: Array, labels: Array, n_classes: int, weights: Array, *, presence: bool, any_order: bool
) -> tuple[Array, bool]:
    """Sum in the weights' type, on one thread where their order matters. Also whether all entries are whole."""
    (n, m), lowest = matrix.shape, -_LARGEST if presence else 0.0
    direct = matrix.flags.c_contiguous and matrix.dtype == weights.dtype
    step = n if direct else max(8, _BLOCK // max(m, 1))

    def add(first: int, last: int) -> tuple[Array, Array]:
        found, part = np.zeros(3, np.int64), np.zeros((n_classes, m), weights.dtype)
        for lo in range(first, last, step):
            hi = min(lo + step, last)
            block = np.require(matrix[lo:hi], weights.dtype, ["C", "A"])
            given = block, hi - lo, m, labels[lo:hi], weights[lo:hi], presence, lowest
            call.tally_dense(weights.dtype == np.int64, *given, part, found)
        return found, part

    threads = min(width(), n * m // _ENTRIES_PER_THREAD) if any_order else 1
    parts = over(n, add, 4 * n_classes, threads)
    outside, fractions, _ = sum((found for found, _ in parts), np.zeros(3, np.int64))
    if outside:
        _refuse(matrix, presence)
    return sum((part for _, part in parts), np.zeros((n_classes, m), weights.dtype)), presence or not fractions


def add_log_likelihood(matrix: Any, log_table: Floats, out: Floats, presence: bool = False) -> None:
    """Add to each row of `out` its log likelihood: out[i, :] += Σ x · log_table[column, :] over its entries.

    `log_table` is columns × classes and may hold -inf, which an entry of zero leaves alone. With `presence` every other
    entry counts as 1.
    """
    (n, m), (_, classes) = matrix.shape, log_table.shape
    check_shape((m, classes), log_table)
    check_shape((n, classes), out)
    if not isinstance(matrix, np.ndarray):
        csr, table = _as_csr(matrix), np.ascontiguousarray(log_table)
        indptr = csr.kept[2]
        # Rows may differ much in length: twice as many ranges as threads, of equal numbers of entries.
        shares = split(int(indptr[-1]), 2 * width() if width() > 1 else 1, _ENTRIES_PER_THREAD)
        cuts = [0, *np.searchsorted(indptr, [hi for _, hi in shares[:-1]]).tolist(), n]
        run([partial(call.add_csr, csr, lo, hi, presence, table, classes, out) for lo, hi in pairwise(cuts)])
        return
    matrix, never = _as_numbers(matrix), np.isneginf(log_table)
    columns = np.flatnonzero(never.any(axis=1))
    ruled_out = never[columns].astype(np.float64)
    padded = np.zeros((m, -(-classes // 4) * 4))  # whole vectors
    padded[:, :classes] = np.where(never, 0.0, log_table)
    step = max(4, _BLOCK // max(m, 1))

    def add(first: int, last: int) -> None:
        for lo in range(first, last, step):
            hi = min(lo + step, last)
            block = np.ascontiguousarray(matrix[lo:hi] != 0 if presence else matrix[lo:hi], np.float64)
            call.add_dense(block, hi - lo, m, padded, padded.shape[1], out[lo:hi], classes)
            if columns.size:
                out[lo:hi][(block[:, columns] != 0).astype(np.float64) @ ruled_out > 0] = -np.inf

    over(n, add, max(1, _ENTRIES_PER_THREAD // max(m, 1)))


def refuse_not_finite(matrix: Any) -> None:
    """Raise for the first entry that is NaN or infinite."""
    data = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if data.dtype.kind == "f" and not np.isfinite(data.sum()) and not np.isfinite(data).all():
        _refuse(matrix, presence=True)


def _refuse(matrix: Any, presence: bool) -> None:
    """Raise for the first entry that is not finite or, unless presence counts, negative."""
    data = matrix if isinstance(matrix, np.ndarray) else matrix.data
    bad = ~(np.isfinite(data) & (presence | (data >= 0)))
    position = int(bad.argmax())
    if data is matrix:
        row, column = divmod(position, data.shape[1])
    else:
        row, column = int(np.searchsorted(matrix.indptr, position, "right")) - 1, int(matrix.indices[position])
    raise NotACount(row, column, float(data[row, column] if data is matrix else data[position]))


def _as_numbers(array: Array) -> Array:
    """The array with a type that every kernel knows: booleans as bytes, odd floats as doubles."""
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype.kind not in "iuf":
        raise InputError(f"counts are of type {array.dtype}; they must be numbers")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def refuse_damaged(matrix: Any) -> None:
    """Raise where the row pointers of a sparse matrix do not fit its entries; SciPy's own loops trust them too."""
    indptr = np.asarray(matrix.indptr, np.int64)
    sound = len(indptr) == matrix.shape[0] + 1 and indptr[0] == 0 and np.all(np.diff(indptr) >= 0)
    if not sound or indptr[-1] > min(matrix.data.size, matrix.indices.size):
        raise InputError("the sparse matrix is damaged: its row pointers do not fit its entries")


def _as_csr(matrix: Any) -> Any:
    """A sparse matrix as the kernels read it; a broken one would have them read at random."""
    wide = np.int32 if matrix.indices.dtype == matrix.indptr.dtype == np.int32 else np.int64
    indices, indptr = (np.ascontiguousarray(each, wide) for each in (matrix.indices, matrix.indptr))
    refuse_damaged(matrix)
    n_columns = matrix.shape[1]
    data, indices = matrix.data[: indptr[-1]], indices[: indptr[-1]]
    unsigned = indices.view(f"u{indices.dtype.itemsize}")  # so a negative index is a large one: one pass instead of two
    tops = over(indices.size, lambda lo, hi: int(unsigned[lo:hi].max()), 4 * _ENTRIES_PER_THREAD)
    if max(tops, default=-1) >= n_columns:
        raise InputError(f"the sparse matrix is damaged: a column index is not in 0..{n_columns - 1}")
    data = _as_numbers(data)
    if data.dtype not in _ENTRIES:
        small = data.dtype.kind != "f" and (data.dtype.itemsize < 8 or int(data.max(initial=0)) < _INT_SAFE)
        data = data.astype(np.int64 if small else np.float64)
    return _CSR(np.require(data, None, ["C", "A"]), indices, indptr, TYPES[data.dtype], wide == np.int64)


_LOGS = 1 << 10  # logarithms kept of small whole counts: 8 kB, a quarter of a first-level cache


def log_counts(counts: Array, pseudo: ArrayLike, totals: ArrayLike, others: bool = False) -> Floats:
    """log((count + pseudo) / total), columns × classes, of counts that are classes × columns; log 0 is -inf.

    The pseudo-count is one for all, or one per column. With `others`, of the counts of all the other classes.
    """
    n_classes, n_columns = counts.shape
    integers = counts.dtype.kind in "iub"
    counts = np.ascontiguousarray(counts, np.int64 if integers else np.float64)
    each = np.asarray(pseudo, np.float64)
    logs = None if each.ndim else portable.log(np.arange(_LOGS) + each)
    whole = counts.sum(axis=0) if others else None
    log_totals = portable.log(np.atleast_1d(np.asarray(totals, np.float64)))
    check_shape((n_classes,), log_totals)
    check_shape((n_columns,) if each.ndim else (), each)
    out = np.empty((n_columns, n_classes))
    given = integers, counts, n_classes, n_columns, whole, np.atleast_1d(each), logs, _LOGS, log_totals
    over(n_columns, lambda lo, hi: call.log_shares(*given, lo, hi, out), _ENTRIES_PER_THREAD // max(n_classes, 1))
    return out


# The cross-entropy of rows under logits. Two classes have one logit z, the log odds of the second; more have one each.
#
#     loss = Σ_i w_i (log Σ_k exp z_ik - z_i,y)        gradient in z_ik = w_i (p_ik - [y_i = k])

_FEW = 1 << 12  # rows that a part has at least
_PARTS = 8  # as many whatever the threads, so that sums are added in one order


def _check_labels(logits: Floats, labels: NDArray[np.int32], weights: Floats) -> None:
    check_shape(logits.shape[:1], labels, weights if len(weights) else None)
    check_codes(max(logits.shape[1], 2), labels, 0)


def residuals(logits: Floats, labels: NDArray[np.int32], weights: Floats, out: Floats) -> float:
    """The loss; its gradient in the logits is written to out. No weights are ones."""
    _check_labels(logits, labels, weights)
    given = logits, *logits.shape, None, None, 0, labels, weights if len(weights) else None
    return float(
        sum(over(len(logits), lambda lo, hi: call.cross_entropy(*given, lo, hi, None, None, None, out), _FEW, _PARTS))
    )


def within(
    logits: Floats, directions: Floats, lengths: Floats, labels: NDArray[np.int32], weights: Floats
) -> tuple[float, Floats, Floats]:
    """The loss at logits + Σ_m lengths[m] · directions[m], and its gradient and curvature in the lengths."""
    (n, columns), size = logits.shape, len(lengths)
    _check_labels(logits, labels, weights)
    check_shape((size, n, columns), directions)
    assert size, "without directions the loop would write a gradient in the logits"
    given = (
        logits,
        n,
        columns,
        np.ascontiguousarray(directions),
        lengths,
        size,
        labels,
        weights if len(weights) else None,
    )

    def loss(lo: int, hi: int) -> tuple[float, Floats, Floats]:
        slope, bend, work = np.zeros(size), np.zeros((size, size)), np.empty((size + 1) * (columns + 1))
        return call.cross_entropy(*given, lo, hi, slope, bend, work, None), slope, bend

    found = over(n, loss, _FEW, _PARTS)
    lower = sum((bend for _, _, bend in found), np.zeros((size, size)))
    slope = sum((slope for _, slope, _ in found), np.zeros(size))
    return float(sum(value for value, _, _ in found)), slope, lower + np.tril(lower, -1).T


def curvature(logits: Floats, weights: Floats, least: float) -> tuple[Floats, Floats]:
    """q and root of the curvature in the logits, H = root (I - q qᵀ) root row by row; no weights are ones."""
    check_shape(logits.shape[:1], weights if len(weights) else None)
    q, root, given = np.empty_like(logits), np.empty_like(logits), weights if len(weights) else None
    work = partial(call.curvature, logits)
    over(len(logits), lambda lo, hi: work(lo, hi, logits.shape[1], given, least, q, root), _FEW)
    return q, root


def bend(q: Floats, root: Floats, v: Floats, shift: Floats) -> tuple[Floats, Floats]:
    """H (v - shift), and its sum over the rows."""
    check_shape(q.shape, root, v)
    check_shape(q.shape[1:], shift)
    out = np.empty_like(root)

    def work(lo: int, hi: int) -> Floats:
        total = np.zeros(q.shape[1])
        call.bend(root, q, lo, hi, q.shape[1], v, shift, out, total)
        return total

    return out, np.asarray(sum(over(len(q), work, _FEW, _PARTS), np.zeros(q.shape[1])))


_DENSE = 0.3  # the share of entries that are not zero from which a table is no longer taken as sparse


class Ridge:
    """Ridge softmax regression of a dense table, of singles or doubles: each search begins where the last one ended."""

    def __init__(self, table: Array, labels: NDArray[np.int32], weights: Floats, logits: int) -> None:
        n, f = table.shape
        check_shape((n,), labels, weights if len(weights) else None)
        check_codes(max(logits, 2), labels, 0)
        self.n_rows, self.n_features, rows, features = n, f, max(-(-n // 4) * 4, 4), max(-(-f // 8) * 8, 8)
        self._rows, self._starts, self._at = rows, None, None
        if n * f and np.count_nonzero(table) < _DENSE * n * f:
            filled = table != 0
            self._starts = np.zeros(rows + 1, np.int64)
            np.cumsum(filled.sum(axis=1), out=self._starts[1 : n + 1])
            self._starts[n + 1 :] = self._starts[n]
            self._at, self._table = np.nonzero(filled)[1].astype(np.int32), table[filled]
        else:
            self._table = np.zeros((rows, features), table.dtype)
            self._table[:n, :f] = table
        self._labels, self._weights = np.zeros(rows, np.int32), np.zeros(rows)
        self._labels[:n], self._weights[:n] = labels, weights if len(weights) else 1.0
        self._own, self.intercepts = np.zeros((logits, features)), np.zeros(logits)
        size = logits * features
        self._room = np.empty((3 * features + 1) * (logits + 3), table.dtype)
        self._work = np.empty(6 * size + 6 * rows * logits + logits * (logits + 2))

    def begin(self, weights: Floats, intercepts: Floats) -> None:
        """The weights (features × logits) from which to search; features beyond them have none."""
        self._own[:, : len(weights)] = weights.T
        self.intercepts[:] = intercepts

    def search(self, l2: float, tolerance: float, most: int, steps: int = 200) -> tuple[int, Floats, float, bool]:
        """To the minimum: the passes over the table, the losses, the bound on what is left, whether that is enough."""
        (logits, features), losses, found = self._own.shape, np.zeros(steps + 1), np.zeros(3)
        given = TYPES[self._table.dtype], self._table, self._starts, self._at, self._rows, features, logits
        passes = call.ridge(
            *given, self._labels, self._weights, l2, tolerance, most, steps, self._own, self.intercepts, self._room,
            self._work, losses, found,
        )  # fmt: skip
        return int(passes), losses[: int(found[0]) + 1], float(found[1]), bool(found[2])

    @property
    def weights(self) -> Floats:
        """Features × logits."""
        return np.ascontiguousarray(self._own.T[: self.n_features])

    @property
    def logits(self) -> Floats:
        """Of the table's rows, by the last search."""
        width = len(self._own)
        return self._work[: self.n_rows * width].reshape(self.n_rows, width).copy()


def add_pairs(matrix: Floats, left: NDArray[np.int32], right: NDArray[np.int32], weights: Floats, out: Floats) -> None:
    """Add the products of features (rows × features; a right of -1 is none) times their weights (products × logits)."""
    check_codes(matrix.shape[1], left, 0)
    check_codes(matrix.shape[1], right)
    check_shape((len(left), out.shape[1]), weights)
    check_shape((len(left),), right)
    check_shape((len(out), matrix.shape[1]), matrix)
    given = matrix.shape[1], left, right, len(left), weights, out.shape[1], out
    over(len(out), lambda lo, hi: call.add_pairs(matrix, lo, hi, *given), _FEW)


_NO_WEIGHTS: Floats = np.zeros(0)


def log_losses(
    joint: Floats, codes: NDArray[Any], most: float, scores: Floats | None = None, weights: Floats = _NO_WEIGHTS,
    shifts: Floats | None = None, *, shares: Floats | None = None,
) -> Floats:  # fmt: skip
    """The log loss of each row, at most so much, under joint + shifts + scores · weights (rows × classes × weights).

    The probabilities of the classes are written to `shares`, if there is room for them.
    """
    (n, K), d = joint.shape, len(weights)
    check_shape((n, K, d), scores)
    check_shape((K,), shifts)
    check_shape((n, K), shares)
    check_shape((n,), codes)
    check_codes(K, codes, 0)
    arrays = [None if each is None else np.ascontiguousarray(each) for each in (joint, scores, weights, shifts)]
    given, losses = (arrays[0], K, arrays[1], d, *arrays[2:], np.ascontiguousarray(codes, np.int32)), np.empty(n)

    def work(lo: int, hi: int) -> None:
        call.softmax_losses(*given, lo, hi, most, losses, shares, np.empty(2 * K))

    over(n, work, max(_FEW // K, 64))
    return losses


_GATHER, _TIMES, _GRAM, _SQUARES = range(4)  # what `sparse_columns` does
_COLUMN_PARTS = 4  # as many whatever the threads, too


@dataclass(frozen=True)
class Columns:
    """A sparse matrix by columns, to be multiplied with a few vectors at once; no values are ones.

    By columns, products stream through the matrix, while what is read and written at random is small enough for a
    cache.
    """

    n_rows: int
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: Floats

    @staticmethod
    def of(n_rows: int, n_columns: int, rows: NDArray[np.int32], columns: NDArray[np.int32], values: Floats) -> Columns:
        """From entries that, within a column, are sorted by row; those of column -1 are left out."""
        check_codes(n_rows, rows, 0)
        order, ends = sort_by_class(columns, n_columns)
        return Columns(n_rows, np.append(0, ends), rows[order], values[order] if len(values) else values)

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

    def _multiply(
        self, what: int, V: Floats | None, squares: Floats | None, size: int, out: Floats | None = None
    ) -> Floats:
        """Ranges of columns with as many entries each, all into one out, or each into its own, which are then added."""
        n = _COLUMN_PARTS if len(self.rows) > 1 << 14 else 1
        cuts = np.searchsorted(self.starts, np.linspace(0, len(self.rows), n + 1)[1:-1])
        V, squares = (None if each is None else np.ascontiguousarray(each) for each in (V, squares))

        def work(lo: int, hi: int) -> Floats:
            own = np.zeros((self.n_rows, size)) if out is None else out
            values = self.values if len(self.values) else None
            call.sparse_columns(what, self.starts, self.rows, values, lo, hi, V, squares, size, np.empty(size), own)
            return own

        first, *others = run([partial(work, lo, hi) for lo, hi in pairwise([0, *cuts.tolist(), self.shape[1]])])
        for other in others if out is None else []:
            first += other
        return first

    def times(self, V: Floats) -> Floats:
        """X V."""
        return self._multiply(_TIMES, V, None, V.shape[1])

    def gather(self, G: Floats) -> Floats:
        """Xᵀ G."""
        return self._multiply(_GATHER, G, None, G.shape[1], np.empty((self.shape[1], G.shape[1])))

    def gather_squares(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""
        return self._squared.gather(G)

    @cached_property
    def _squared(self) -> Columns:
        return Columns(self.n_rows, self.starts, self.rows, self.values * self.values)

    def gram(self, G: Floats, squares: Floats) -> Floats:
        """X S Xᵀ G with S diagonal for each vector of G: squares (columns × vectors); none are ones."""
        return self._multiply(_GRAM, G, squares if len(squares) else None, G.shape[1])

    def squared_times(self, squares: Floats, size: int) -> Floats:
        """The diagonal of X S Xᵀ for each of `size` vectors: X² S."""
        return self._multiply(_SQUARES, None, squares if len(squares) else None, size)


_MOST_LOSS = 700.0  # of a row
_ROWS_OF_LOSS = 1 << 12


def losses(joint: Floats, scores: Floats, among: list[int], codes: NDArray[np.int32], rows: Floats) -> Floats:
    """The mean log loss of rows with each of these attributes (of attributes × rows × classes) added to their joint."""

    def loss(j: int) -> float:
        total = 0.0
        for lo in range(0, len(joint), _ROWS_OF_LOSS):
            part = slice(lo, lo + _ROWS_OF_LOSS)
            z = joint[part] + scores[j, part]
            z -= z.max(axis=1, keepdims=True)
            own = portable.log(portable.exp(z).sum(axis=1)) - z[np.arange(len(z)), codes[part]]
            total += float((rows[part] * np.minimum(own, _MOST_LOSS)).sum())
        return total

    return np.asarray(np.array(run([partial(loss, j) for j in among])) / rows.sum())
