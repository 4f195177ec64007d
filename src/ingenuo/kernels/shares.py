"""From counts to logarithms of smoothed proportions: what the log likelihood multiplies counts with.

Tables of words are large and their counts small, so the logarithms of small whole counts are looked up, and the
tables are turned (classes × columns to columns × classes) in tiles that stay in the cache.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numba import njit, uint64
from numpy.typing import ArrayLike, NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.codes import readable
from ingenuo.kernels.counts import ENTRIES_PER_THREAD, numbers
from ingenuo.kernels.threads import run, split, width

Array = NDArray[Any]
Floats = NDArray[np.float64]

# Logarithms kept for counts below this: 8 kB, a quarter of a first-level cache.
_LOGS = 1 << 10
_TILE = 1 << 6


@njit(cache=True, nogil=True)
def _log_counts(counts, whole, pseudo, shared, log_totals, first, last, out):  # type: ignore[no-untyped-def]
    """out[v, k] = log(counts[k, v] + pseudo[v]) - log_totals[k], in tiles that stay in the cache.

    With `whole` (the sums over the classes) the counts of the other classes are taken: whole[v] - counts[k, v].
    Most counts are small, so logarithms are looked up: of all small whole counts where one pseudo-count is
    shared, else of each column's zero.
    """
    logs = np.empty(_LOGS)
    if shared:
        for c in range(_LOGS):
            logs[c] = math.log(c + pseudo[0])
    others, zero = whole.size > 0, counts.dtype.type(0)
    for start in range(first, last, _TILE):
        stop = min(start + _TILE, last)
        if not shared:
            for v in range(start, stop):
                logs[v - start] = math.log(pseudo[v])
        for k in range(counts.shape[0]):
            row, log_total = counts[k], log_totals[k]
            for v in range(start, stop):
                c = max(whole[v] - row[v], zero) if others else row[v]
                if shared:
                    at = uint64(c)
                    known = (at < uint64(_LOGS)) & (c == np.int64(c))
                    out[v, k] = (logs[at] if known else math.log(c + pseudo[0])) - log_total
                else:
                    out[v, k] = (logs[v - start] if c == 0 else math.log(c + pseudo[v])) - log_total


@njit(cache=True, nogil=True)
def _log_odds(counts, pseudo, totals, first, last, out, absent):  # type: ignore[no-untyped-def]
    """out[v, k] = log p - log(1 - p), p = (c + pseudo) / totals[k]; log(1 - p) is summed by tile.

    log1p keeps what log(total - c + pseudo) - log(total) would cancel: most p are near 0.
    """
    classes = counts.shape[0]
    present, rest = np.empty(_LOGS), np.empty((classes, _TILE))
    for c in range(_LOGS):
        present[c] = math.log(c + pseudo)
    for k in range(classes):
        for c in range(_TILE):
            rest[k, c] = math.log1p(-(min(c + pseudo, totals[k] - pseudo) / totals[k]))
    log_totals = np.log(totals)
    for tile in range(first, last):
        for k in range(classes):
            row, total = counts[k], 0.0
            for v in range(tile * _TILE, min((tile + 1) * _TILE, row.size)):
                c = row[v]
                log_rest = rest[k, c] if c < _TILE else math.log1p(-((c + pseudo) / totals[k]))
                log_present = present[c] if c < _LOGS else math.log(c + pseudo)
                out[v, k] = log_present - log_totals[k] - log_rest
                total += log_rest
            absent[tile, k] = total


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
    counts = readable(np.ascontiguousarray(numbers(counts)))
    pseudo = np.asarray(pseudo, np.float64)
    shared = pseudo.ndim == 0
    each = readable(np.atleast_1d(np.ascontiguousarray(pseudo)))
    with np.errstate(divide="ignore"):
        log_totals = readable(np.log(np.asarray(totals, np.float64)))
    out = np.empty((n_columns, n_classes)) if transposed else np.empty((n_classes, n_columns)).T
    parts = split(n_columns, width(), max(1, ENTRIES_PER_THREAD // max(n_classes, 1)))
    whole = readable(counts.sum(axis=0) if others else np.zeros(0, counts.dtype))
    run([partial(_log_counts, counts, whole, each, shared, log_totals, lo, hi, out) for lo, hi in parts])
    return out if transposed else out.T


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
    counts = readable(np.ascontiguousarray(counts, np.int64))
    rows = readable(np.ascontiguousarray(totals, np.int64))
    if np.any(counts < 0) or np.any(counts.max(axis=1, initial=0) > rows):
        raise InputError("a column is present in more rows of a class than the class has, or in fewer than 0")
    out = np.empty((n_columns, n_classes))
    # Sums by tile, then of the tiles: the same for any number of threads.
    absent = np.zeros((-(-n_columns // _TILE), n_classes))
    parts = split(len(absent), width(), max(1, ENTRIES_PER_THREAD // (_TILE * max(n_classes, 1))))
    smoothed = readable(rows + 2.0 * pseudo)
    run([partial(_log_odds, counts, float(pseudo), smoothed, lo, hi, out, absent) for lo, hi in parts])
    return out, absent.sum(axis=0)
