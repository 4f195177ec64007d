"""Matrices of counts, sparse (CSR) or dense: their sums per class, and the log likelihood.

Counts are whole numbers as a rule, and then every sum is an exact int64, whatever type the matrix has.
Other entries (TF-IDF, say) are summed in doubles, each cell in the order of the rows, so that the result
does not depend on the number of threads. Entries that are negative or not finite are refused by name.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import portable
from ingenuo.kernels.codes import class_codes
from ingenuo.kernels.native import ANY, F64, I64, INT, REAL, TYPES, function
from ingenuo.kernels.threads import run, split, width

Array = NDArray[Any]
Floats = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float64).max)
# Whole numbers are summed in int64 while no sum can pass this, and in doubles are exact below that.
_INT_SAFE = 2**62
_FLOAT_EXACT = 2.0**53
# A thread is worth its start (some 30 µs) from about this many entries.
ENTRIES_PER_THREAD = 1 << 16
# Entries of a dense block that is copied: 1 MB of doubles. Smaller ones fit a second-level cache, and lose
# more by asking for the GIL oftener.
_BLOCK = 1 << 17

_inspect = function("inspect_entries", INT, ANY, INT, REAL, REAL, I64)
_tally_dense = function("tally_dense", INT, ANY, INT, INT, INT, INT, I64, ANY, INT, REAL, ANY, I64)
_tally_csr = function("tally_csr", INT, INT, INT, ANY, ANY, ANY, I64, INT, I64, INT, ANY, INT, ANY, INT)
_add_csr = function("add_csr", INT, INT, ANY, ANY, ANY, INT, INT, INT, F64, INT, F64)
_add_dense = function("add_dense", F64, INT, INT, F64, INT, F64, INT)
_ENTRIES = {np.dtype(name) for name in ("u1", "i4", "i8", "f4", "f8")}  # what the loops over sparse matrices read


class NotACount(InputError):
    """An entry that is no count: where it stands, and what it is."""

    def __init__(self, row: int, column: int, value: float, name: str | None = None) -> None:
        self.row, self.column, self.value = row, column, value
        fault = "Negative values in data" if np.isfinite(value) else "Input X contains NaN or infinity"
        place = f"row {row}, column {column if name is None else repr(name)}"
        super().__init__(f"{fault}: {place} is {value!r}; counts must be finite and 0 or more")

    def named(self, name: str) -> NotACount:
        """The same with the name of the column."""
        return NotACount(self.row, self.column, self.value, name)


def tally_csr(
    data: Array,
    indices: Array,
    indptr: Array,
    labels: Array,
    n_classes: int,
    n_columns: int,
    presence: bool = False,
    weights: Floats | None = None,
) -> Array:
    """Sum the rows of a CSR matrix per class.

    Parameters
    ----------
    data, indices, indptr
        The matrix, or with a part of ``indptr`` some of its rows. An entry may not be stored twice
        (``sum_duplicates`` sees to that).
    labels
        The class of each row, 0..n_classes - 1; a row with a label below zero is left out.
    n_classes, n_columns
        The shape of the result.
    presence
        Count the entries that are not zero instead of summing them; they may then be negative.
    weights
        The finite weight of each row; an entry x counts as the double nearest to weight · x.

    Returns
    -------
    array
        n_classes × n_columns, int64 where entries (or presence) and weights are whole, else float64.

    >>> tally_csr(np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 1, 2]), np.array([0, 0]), 1, 2)
    array([[2, 1]])
    """
    data, indices, indptr = _matrix(data, indices, indptr, n_columns)
    labels = class_codes(labels, n_classes, len(indptr) - 1)
    row_weights, heaviest = _row_weights(weights, len(labels))
    whole = _look_at_csr(data, indices, indptr, presence, heaviest)
    if not whole:
        row_weights = row_weights.astype(np.float64, copy=False)
    exact = row_weights.dtype == np.int64
    table = np.zeros((n_classes, n_columns), row_weights.dtype)

    # Rows in order of class, so that a thread adds to one row of the table at a time, and to rows of its
    # own. A sort of 16-bit keys is a radix sort.
    keys = labels.astype(np.int16) if n_classes < 2**15 else labels
    order = np.argsort(keys, kind="stable")[np.count_nonzero(labels < 0) :]
    order = np.ascontiguousarray(order, np.int64)
    kinds = TYPES[data.dtype], indices.dtype == np.int64, exact

    def add(rows: Array, first: int, into: Array) -> None:
        given = data, indices, indptr, rows, len(rows), labels, first, row_weights, presence
        _tally_csr(*kinds, *given, into, n_columns)

    tasks, parts = [], []
    cuts = _cuts(order, labels, indptr, n_columns if exact else None)
    for lo, hi in pairwise(cuts):
        label = labels[order[lo]]
        if lo and labels[order[lo - 1]] == label:
            # The task begins within a class that another adds to: these rows get a sum of their own.
            middle = lo + int(np.searchsorted(labels[order[lo:hi]], label, "right"))
            part = np.zeros((1, n_columns), np.int64)
            parts.append((label, part))
            tasks.append(partial(add, order[lo:middle], int(label), part))
            lo = middle
        if lo < hi:
            tasks.append(partial(add, order[lo:hi], 0, table))
    run(tasks)
    for label, part in parts:
        table[label] += part[0]
    return table


def tally_dense(
    matrix: Array, labels: Array, n_classes: int, weights: Floats | None = None, presence: bool = False
) -> Array:
    """Sum the rows of a dense matrix of any type and layout per class, as :func:`tally_csr` does.

    >>> tally_dense(np.array([[1.0, 0.0], [2.0, 5.0]]), np.array([0, 0]), 1)
    array([[3, 5]])
    >>> tally_dense(np.array([[0.5, 0.0], [2.0, 5.0]]), np.array([0, 0]), 1)
    array([[2.5, 5. ]])
    """
    matrix = numbers(matrix)
    labels = class_codes(labels, n_classes, len(matrix))
    row_weights, heaviest = _row_weights(weights, len(labels))
    counted = row_weights.dtype == np.int64
    if matrix.dtype.kind != "f":
        smallest, largest = (0, 1) if presence else _extremes(matrix)
        if smallest < 0:
            _refuse_dense(matrix, presence)
        if counted and max(largest, 1) * heaviest * max(len(labels), 1) < _INT_SAFE:
            return _sum_dense(matrix, labels, n_classes, row_weights, presence, True)[0]
    # Whole numbers, none of them negative, that sum to less than 2**53 are summed in doubles without
    # rounding, in any order. The first rows tell whether that is worth trying.
    doubles = row_weights.astype(np.float64, copy=False)
    if counted and row_weights.min(initial=0) >= 0 and (presence or np.all(matrix[:64] == np.floor(matrix[:64]))):
        table, whole = _sum_dense(matrix, labels, n_classes, doubles, presence, True)
        if whole and table.max(initial=0.0) < _FLOAT_EXACT:
            return table.astype(np.int64)
    return _sum_dense(matrix, labels, n_classes, doubles, presence, False)[0]


def add_log_likelihood_csr(
    data: Array, indices: Array, indptr: Array, log_table: Floats, out: Floats, presence: bool = False
) -> None:
    """Add to each row of `out` its log likelihood: out[i, :] += Σ x · log_table[column, :] over its entries.

    `log_table` is columns × classes and may hold -inf, which an entry of zero leaves alone. With `presence`
    every other entry counts as 1.

    >>> out = np.zeros((1, 2))
    >>> table = np.array([[-1.0, -2.0], [-np.inf, -3.0]])
    >>> add_log_likelihood_csr(np.array([2.0, 0.0]), np.array([0, 1]), np.array([0, 2]), table, out)
    >>> out
    array([[-2., -4.]])
    """
    if not out.flags.c_contiguous:
        own = np.ascontiguousarray(out)
        add_log_likelihood_csr(data, indices, indptr, log_table, own, presence)
        out[:] = own
        return
    data, indices, indptr = _matrix(data, indices, indptr, len(log_table))
    table = np.ascontiguousarray(log_table, np.float64)
    n, entries = len(indptr) - 1, int(indptr[-1])
    _check_shape(out, n, table)
    # Rows may differ much in length: twice as many ranges as threads, of equal numbers of entries.
    ranges = split(entries, 2 * width() if width() > 1 else 1, ENTRIES_PER_THREAD)
    cuts = [0, *(int(np.searchsorted(indptr, hi)) for _, hi in ranges[:-1]), n]
    given = TYPES[data.dtype], indices.dtype == np.int64, data, indices, indptr
    run([partial(_add_csr, *given, lo, hi, presence, table, table.shape[1], out) for lo, hi in pairwise(cuts)])


def add_log_likelihood_dense(matrix: Array, log_table: Floats, out: Floats, presence: bool = False) -> None:
    """Add to each row of `out` its log likelihood, as :func:`add_log_likelihood_csr` does.

    >>> out = np.zeros((1, 2))
    >>> add_log_likelihood_dense(np.array([[2, 0]]), np.array([[-1.0, -2.0], [-np.inf, -3.0]]), out)
    >>> out
    array([[-2., -4.]])
    """
    if not out.flags.c_contiguous:
        own = np.ascontiguousarray(out)
        add_log_likelihood_dense(matrix, log_table, own, presence)
        out[:] = own
        return
    matrix = numbers(matrix)
    _check_shape(out, len(matrix), log_table)
    never = np.isneginf(log_table)
    finite = np.where(never, 0.0, log_table)
    columns = np.flatnonzero(never.any(axis=1))
    ruled_out = never[columns].astype(np.float64)
    n_columns, classes = finite.shape
    padded = np.zeros((n_columns, -(-classes // 4) * 4))  # whole vectors
    padded[:, :classes] = finite
    step = max(4, _BLOCK // max(matrix.shape[1], 1))

    def add(first: int, last: int) -> None:
        for lo in range(first, last, step):
            hi = min(lo + step, last)
            block = matrix[lo:hi] != 0 if presence else matrix[lo:hi]
            block = np.ascontiguousarray(block, np.float64)
            _add_dense(block, hi - lo, n_columns, padded, padded.shape[1], out[lo:hi], classes)
            if columns.size:
                out[lo:hi][(block[:, columns] != 0).astype(np.float64) @ ruled_out > 0] = -np.inf

    parts = split(len(matrix), width(), max(1, ENTRIES_PER_THREAD // max(matrix.shape[1], 1)))
    run([partial(add, lo, hi) for lo, hi in parts])


def refuse_not_finite(data: Array, indices: Array | None = None, indptr: Array | None = None) -> None:
    """Raise for the first entry of a dense matrix, or of a CSR one, that is NaN or infinite."""
    if data.dtype.kind != "f" or np.isfinite(data.sum()):
        return
    if indices is None or indptr is None:
        _refuse_dense(data, presence=True)
    elif not np.isfinite(data).all():
        _refuse_csr(data, indices, indptr, presence=True)


def numbers(array: Array) -> Array:
    """The array with a type that every kernel knows: booleans as bytes, odd floats as doubles."""
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype.kind not in "iuf":
        raise InputError(f"counts are of type {array.dtype}; they must be numbers")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _matrix(data: Array, indices: Array, indptr: Array, n_columns: int) -> tuple[Array, Array, Array]:
    """The three arrays as the kernels read them; a broken matrix would have them read at random."""
    sound = indptr.size > 0 and indptr[0] >= 0 and bool(np.all(indptr[1:] >= indptr[:-1]))
    if not sound or indptr[-1] > min(data.size, indices.size):
        raise InputError("the sparse matrix is damaged: its row pointers do not fit its entries")
    # A slice of rows may come with the whole matrix's entries, and scipy may keep room for more of them.
    data, indices = data[indptr[0] : indptr[-1]], indices[indptr[0] : indptr[-1]]
    if indptr[0]:
        indptr = indptr - indptr[0]
    if indices.size:
        # Seen as unsigned a negative index is a large one: one pass instead of two.
        unsigned = indices.view(f"u{indices.dtype.itemsize}")
        ranges = split(indices.size, width(), 4 * ENTRIES_PER_THREAD)
        if max(run([partial(np.max, unsigned[lo:hi]) for lo, hi in ranges])) >= n_columns:
            raise InputError(f"the sparse matrix is damaged: a column index is not in 0..{n_columns - 1}")
    data = numbers(data)
    if data.dtype not in _ENTRIES:
        small = data.dtype.kind != "f" and (data.dtype.itemsize < 8 or int(data.max(initial=0)) < _INT_SAFE)
        data = data.astype(np.int64 if small else np.float64)
    if indices.dtype not in (np.int32, np.int64):
        indices = indices.astype(np.int64)
    if indices.dtype != indptr.dtype:
        wide = np.int64 if np.int64 in (indices.dtype, indptr.dtype) else np.int32
        indices, indptr = indices.astype(wide, copy=False), indptr.astype(wide, copy=False)
    return np.ascontiguousarray(data), np.ascontiguousarray(indices), np.ascontiguousarray(indptr)


def _check_shape(out: Floats, n: int, table: Floats) -> None:
    if out.shape != (n, table.shape[1]):
        raise InputError(f"the result is of shape {out.shape}; it must be {(n, table.shape[1])}: rows, classes")


def _extremes(array: Array) -> tuple[int, int]:
    """The smallest (or 0) and the largest (or 0) of an array of integers."""
    per_row = max(1, array.size // max(len(array), 1))
    parts = split(len(array), width(), max(1, 4 * ENTRIES_PER_THREAD // per_row))

    def extremes(lo: int, hi: int) -> tuple[int, int]:
        return int(array[lo:hi].min(initial=0)), int(array[lo:hi].max(initial=0))

    found = run([partial(extremes, lo, hi) for lo, hi in parts])
    return min((low for low, _ in found), default=0), max((high for _, high in found), default=0)


def _row_weights(weights: Floats | None, n: int) -> tuple[Array, int]:
    """The weights, as int64 where they are whole, and then a bound on their magnitude."""
    if weights is None:
        return np.ones(n, np.int64), 1
    weights = np.ascontiguousarray(weights, np.float64)
    if weights.shape != (n,):
        raise InputError(f"there are {weights.size} weights for {n} rows; each row needs one")
    heaviest = float(np.abs(weights).max(initial=1.0))
    if heaviest < _FLOAT_EXACT and np.all(weights == np.floor(weights)):
        return weights.astype(np.int64), int(heaviest)
    return weights, 1


def _look_at_csr(data: Array, indices: Array, indptr: Array, presence: bool, heaviest: int) -> bool:
    """Refuse entries that are no counts; say whether all are whole and safe to sum in int64."""
    limit = _INT_SAFE // (max(data.size, 1) * heaviest)
    if data.dtype.kind != "f":
        smallest, largest = (0, 1) if presence else _extremes(data)
        if smallest < 0:
            _refuse_csr(data, indices, indptr, presence)
        return largest <= limit
    lowest = -_LARGEST if presence else 0.0
    ranges = split(data.size, width(), 4 * ENTRIES_PER_THREAD)

    def inspect(lo: int, hi: int) -> Array:
        found = np.zeros(3, np.int64)
        _inspect(TYPES[data.dtype], data[lo:hi], hi - lo, lowest, float(limit), found)
        return found

    found = run([partial(inspect, lo, hi) for lo, hi in ranges])
    if any(outside for outside, _, _ in found):
        _refuse_csr(data, indices, indptr, presence)
    return presence or not any(fractions or beyond for _, fractions, beyond in found)


def _refuse_csr(data: Array, indices: Array, indptr: Array, presence: bool) -> None:
    position = int(_is_refused(data, presence).argmax())
    row = int(np.searchsorted(indptr, position, "right")) - 1
    _refuse(row, int(indices[position]), data[position])


def _refuse_dense(matrix: Array, presence: bool) -> None:
    step = max(1, _BLOCK // max(matrix.shape[1], 1))
    for lo in range(0, len(matrix), step):
        refused = _is_refused(matrix[lo : lo + step], presence)
        if refused.any():
            row, column = divmod(int(refused.argmax()), matrix.shape[1])
            _refuse(lo + row, column, matrix[lo + row, column])


def _is_refused(array: Array, presence: bool) -> NDArray[np.bool_]:
    finite = np.isfinite(array)
    return ~finite if presence else ~(finite & (array >= 0))


def _refuse(row: int, column: int, value: Any) -> None:
    raise NotACount(row, column, float(value))


def _cuts(order: Array, labels: Array, indptr: Array, n_columns: int | None) -> list[int]:
    """Cut the rows, in order of class, into tasks of about as many entries.

    Cuts fall between classes, so that no two tasks add to the same cell. Within a class that is more than
    one thread's share they are allowed if `n_columns` says what a further sum costs (whole numbers only).
    """
    if not order.size:
        return []
    done = np.cumsum(indptr[order + 1] - indptr[order])
    shares = split(int(done[-1]), 2 * width() if width() > 1 else 1, ENTRIES_PER_THREAD)
    sorted_labels = labels[order]
    cuts = {0, len(order)}
    for lo, hi in shares[:-1]:
        cut = int(np.searchsorted(done, hi))
        start, stop = (int(np.searchsorted(sorted_labels, sorted_labels[cut], side)) for side in ("left", "right"))
        entries = int(done[stop - 1] - (done[start - 1] if start else 0))
        divisible = n_columns is not None and n_columns <= hi - lo and entries * width() > done[-1]
        cuts.add(cut if divisible else stop)
    return sorted(cuts)


def _sum_dense(
    matrix: Array, labels: Array, n_classes: int, weights: Array, presence: bool, any_order: bool
) -> tuple[Array, bool]:
    """Sum in the weights' type and say whether all entries are whole.

    Where the order of the rows may matter, threads take columns; else rows, which are read faster.
    """
    n, m = matrix.shape
    lowest = -_LARGEST if presence else 0.0
    inspected = weights.dtype == np.int64
    direct = matrix.flags.c_contiguous and matrix.dtype == weights.dtype

    def add(rows: tuple[int, int], columns: tuple[int, int]) -> tuple[int, int, Array]:
        first, last = columns
        found = np.zeros(3, np.int64)
        part = np.zeros((n_classes, last - first), weights.dtype)
        step = n if direct else max(8, _BLOCK // (last - first))
        for lo in range(*rows, step):
            hi = min(lo + step, rows[1])
            if direct:
                block, ends = matrix[lo:hi], columns
            else:
                block, ends = np.array(matrix[lo:hi, first:last], weights.dtype, order="C"), (0, last - first)
            given = (block, hi - lo, block.shape[1], *ends, labels[lo:hi], weights[lo:hi])
            _tally_dense(inspected, *given, presence, lowest, part, found)
        return int(found[0]), int(found[1]), part

    threads = max(1, min(width(), n * m // ENTRIES_PER_THREAD))
    if any_order:
        tasks = [(rows, (0, m)) for rows in split(n if m else 0, threads, 4 * n_classes)]
    else:
        # Half of each row of a C-ordered matrix takes longer to read than the whole (0.019 s, 0.013 s).
        tasks = [((0, n), columns) for columns in split(m if n else 0, 1 if direct else threads, 8)]
    found = run([partial(add, *task) for task in tasks])
    if any(outside for outside, _, _ in found):
        _refuse_dense(matrix, presence)
    table = np.zeros((n_classes, m), weights.dtype)
    for (_, (first, last)), (_, _, part) in zip(tasks, found):
        table[:, first:last] += part
    return table, presence or not any(fractions for _, fractions, _ in found)


# From counts to logarithms of smoothed proportions: what the log likelihood multiplies counts with.
#
# Tables of words are large and their counts small, so the logarithms of small whole counts are looked up, and the
# tables are turned (classes × columns to columns × classes) in tiles that stay in the cache.


# Logarithms kept for counts below this: 8 kB, a quarter of a first-level cache.
_LOGS = 1 << 10
_TILE = 1 << 6


_log_shares = function("log_shares", INT, ANY, INT, INT, ANY, INT, F64, INT, F64, INT, F64, INT, INT, ANY, INT, INT)
_log_odds = function("log_odds", I64, INT, INT, REAL, F64, F64, F64, INT, F64, INT, INT, INT, F64, F64)


def log_counts(
    counts: Array, pseudo: ArrayLike, totals: ArrayLike, transposed: bool = True, others: bool = False
) -> Floats:
    """The logarithms of smoothed proportions, log((count + pseudo) / total); log 0 is -inf.

    Parameters
    ----------
    counts
        Classes × columns.
    pseudo
        The pseudo-count: one for all, or one per column.
    totals
        The total of each class, pseudo-counts included.
    transposed
        Whether to return columns × classes, as the log likelihood reads it, or classes × columns.
    others
        Take, for each class, the counts of all the other classes.

    >>> log_counts(np.array([[0, 1], [2, 1]]), 1, [3, 5]).round(3)
    array([[-1.099, -0.511],
           [-0.405, -0.916]])
    """
    n_classes, n_columns = counts.shape
    integers = numbers(counts).dtype.kind in "iu"
    counts = np.ascontiguousarray(counts, np.int64 if integers else np.float64)
    pseudo = np.asarray(pseudo, np.float64)
    shared = pseudo.ndim == 0
    each = np.atleast_1d(np.ascontiguousarray(pseudo))
    log_totals = np.asarray(portable.log(np.asarray(totals, np.float64)))
    logs = portable.log(np.arange(_LOGS) + each[0]) if shared else each[:0]
    out = np.empty((n_columns, n_classes) if transposed else (n_classes, n_columns))
    steps = (n_classes, 1) if transposed else (1, n_columns)
    whole = counts.sum(axis=0) if others else np.zeros(0, counts.dtype)
    given = integers, counts, n_classes, n_columns, whole, others, each, shared, logs, len(logs), log_totals
    parts = split(n_columns, width(), max(1, ENTRIES_PER_THREAD // max(n_classes, 1)))
    run([partial(_log_shares, *given, lo, hi, out, *steps) for lo, hi in parts])
    return out


def log_odds(counts: NDArray[np.int64], pseudo: float, totals: ArrayLike) -> tuple[Floats, Floats]:
    """What presence and absence say: with p = (count + pseudo) / (total + 2 pseudo) of a column in a class,
    log p - log(1 - p), columns × classes, and Σ log(1 - p) over the columns, one per class.

    Counts are 0..total; `pseudo` is above 0, for at p = 1 the two would be +inf and -inf.

    >>> odds, absent = log_odds(np.array([[0, 1]]), 1.0, [1])
    >>> odds.round(3).tolist(), absent.round(3).tolist()
    ([[-0.693], [0.693]], [-1.504])
    """
    if not pseudo > 0:
        raise InputError(f"the pseudo-count is {pseudo}; log odds need one above 0")
    n_classes, n_columns = counts.shape
    counts = np.ascontiguousarray(counts, np.int64)
    rows = np.ascontiguousarray(totals, np.int64)
    if np.any(counts < 0) or np.any(counts.max(axis=1, initial=0) > rows):
        raise InputError("a column is present in more rows of a class than the class has, or in fewer than 0")
    out = np.empty((n_columns, n_classes))
    # Sums by tile, then of the tiles: the same for any number of threads.
    absent = np.zeros((-(-n_columns // _TILE), n_classes))
    parts = split(len(absent), width(), max(1, ENTRIES_PER_THREAD // (_TILE * max(n_classes, 1))))
    smoothed = rows + 2.0 * pseudo
    few = np.arange(_TILE) + float(pseudo)
    rest = portable.log1p(-(np.minimum(few, smoothed[:, np.newaxis] - pseudo) / smoothed[:, np.newaxis]))
    tables = portable.log(smoothed), portable.log(np.arange(_LOGS) + float(pseudo)), _LOGS, rest, _TILE
    given = counts, n_classes, n_columns, float(pseudo), smoothed, *tables
    run([partial(_log_odds, *given, lo, hi, out, absent) for lo, hi in parts])
    return out, absent.sum(axis=0)
