"""From counts to logarithms of smoothed proportions: what the log likelihood multiplies counts with.

Tables of words are large and their counts small, so the logarithms of small whole counts are looked up, and the
tables are turned (classes × columns to columns × classes) in tiles that stay in the cache.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import portable
from ingenuo.kernels.counts import ENTRIES_PER_THREAD, numbers
from ingenuo.kernels.native import ANY, F64, I64, INT, REAL, function
from ingenuo.kernels.threads import run, split, width

Array = NDArray[Any]
Floats = NDArray[np.float64]

# Logarithms kept for counts below this: 8 kB, a quarter of a first-level cache.
_LOGS = 1 << 10
_TILE = 1 << 6


_log_shares = function(
    "log_shares", INT, ANY, INT, INT, ANY, INT, F64, INT, F64, INT, F64, INT, INT, ANY, INT, INT
)
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
