"""Histograms of columns, counted in one pass on a grid that coarsens as the range grows.

Bin k of a column covers [k·2^e, (k+1)·2^e). The exponent e is the smallest for which

    the bins from the least to the largest value are at most BINS, and |x| < 2^(e + 50) for every value x

so it depends on the least and the largest value only, and not on order, blocks or threads. When a block of rows
reaches farther, e grows and neighbouring bins are added: floor(x / 2^(e+1)) = floor(x / 2^e) >> 1, exactly. The
counts lie in a ring, bin k at k mod BINS: no two bins in use meet there, and nothing moves while e stays.

Measured on 1M x 50 doubles, 5 classes, two cores: 0.10 s normal, 0.13 s lognormal (the Gaussian's sums 0.05 to 0.06 s);
with 1,024 bins 0.10 and 0.16 s, with 4,096 bins 0.14 and 0.17 s.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.moments import Codes, Floats, Rows, not_finite, weights_by_cell
from ingenuo.kernels.native import F64, I32, I64, INT, REAL, function
from ingenuo.tally.exact import Exact

_count_bins = function("count_bins", F64, I32, *[INT] * 5, I32, I64, F64, returns=INT)
_finest_exponent = function("finest_exponent", REAL, REAL, returns=INT)

BINS = 2048
LEAST_EXPONENT, LARGEST_EXPONENT = -1074, 1015  # 2^-1074 is the least double, and 2^1025 the widest range
_RING = 1 << 25  # bytes of counts that a thread holds at most: beyond, the columns are counted group by group
_MOST_ROWS = 1 << 30  # counts of one pass are 32 bits wide


class Counted(NamedTuple):
    """The counts of one column: bin `first` + i of class k was seen counts[k, i] times."""

    exponent: int
    first: int
    counts: Exact  # (classes, bins)


def histograms(table: Rows, labels: Codes, n_classes: int) -> list[list[Counted | None]]:
    """The histograms of every column, in parts that are to be added: one list for each part of the rows.

    A column without a value in a part has None there.
    """
    n, d = table.shape
    width = max(1, min(threads.width(), n >> 12))
    parts = threads.split(n, max(width, -(-n // _MOST_ROWS)))
    group = max(1, _RING // (n_classes * BINS * 4))
    tasks = [
        partial(_histograms_of, table, labels, n_classes, lo, hi, c0, min(c0 + group, d))
        for lo, hi in parts
        for c0 in range(0, d, group)
    ]
    found = threads.run(tasks)
    per_part = -(-d // group)
    return [[each for one in found[p * per_part : (p + 1) * per_part] for each in one] for p in range(len(parts))]


def _histograms_of(
    table: Rows, labels: Codes, n_classes: int, lo: int, hi: int, c0: int, c1: int
) -> list[Counted | None]:
    rings = np.zeros((c1 - c0, n_classes, BINS), np.int32)
    exponents = np.zeros(c1 - c0, np.int64)
    ranges = np.zeros((7, c1 - c0))  # the least and the largest values so far, and room for the loop
    lows, highs = ranges[:2]
    lows[:], highs[:] = np.inf, -np.inf
    for start in range(lo, hi, table.step):
        stop = min(start + table.step, hi)
        block = table.rows(start, stop)
        shape = stop - start, table.shape[1], c0, c1, n_classes
        place = _count_bins(block, labels[start:stop], *shape, rings, exponents, ranges)
        if place >= 0:
            row, column = divmod(place, table.shape[1])
            raise not_finite(table, start + row, column, block[row, column])
    return [
        None if low > high else _unrolled(ring, int(e), low, high)
        for ring, e, low, high in zip(rings, exponents, lows, highs)
    ]


def _unrolled(ring: NDArray[np.int32], exponent: int, low: float, high: float) -> Counted:
    first, last = _places(np.array([low, high]), exponent).tolist()
    return Counted(exponent, first, Exact.counts(ring[:, np.arange(first, last + 1) & (BINS - 1)]))


def _places(x: Floats, exponent: int) -> NDArray[np.int64]:
    """floor(x / 2^exponent), right also where a tiny negative number underflows to zero."""
    with np.errstate(under="ignore"):
        places = np.floor(np.ldexp(x, -exponent)).astype(np.int64)
    places[(places == 0) & (x < 0)] = -1
    return places


def weighted_histograms(table: Rows, labels: Codes, weights: Floats, n_classes: int) -> list[Counted | None]:
    """The same with a weight per row, summed exactly; rows of weight zero are not there."""
    n, d = table.shape
    kept = np.flatnonzero(weights)
    codes, amounts = labels[kept].astype(np.int64), weights[kept]

    def column(j: int) -> Counted | None:
        x = np.concatenate([table.rows(lo, min(lo + table.step, n))[:, j] for lo in range(0, n, table.step)])[kept]
        infinite = np.flatnonzero(np.isinf(x))
        if len(infinite):
            raise not_finite(table, int(kept[infinite[0]]), j, x[infinite[0]])
        there = ~np.isnan(x)
        if not there.any():
            return None
        x, own = x[there], codes[there]
        exponent = int(_finest_exponent(x.min(), x.max()))
        places = _places(x, exponent)
        first, last = int(places.min()), int(places.max())
        size = last - first + 1
        sums = weights_by_cell(amounts[there], own * size + (places - first), n_classes * size)
        return Counted(exponent, first, Exact(sums.limbs.reshape(len(sums.limbs), n_classes, size), sums.low))

    return threads.run([partial(column, j) for j in range(d)])
