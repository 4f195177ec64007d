"""The log density of rows under tabulated curves, a table for each column: one place, and a line to the next.

The values of all the classes at a point lie side by side, so that the place is found once for them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels.codes import readable
from ingenuo.kernels.densities import FARTHEST, over_rows
from ingenuo.kernels.histograms import _scales
from ingenuo.kernels.moments import Rows

Floats = NDArray[np.float64]

GAUSSIAN, LEVEL, STRAIGHT = 0, 1, 2
NOTHING, NEVER = (
    -1e300,
    -1e299,
)  # in a table NOTHING stands for log 0, for 0 · -inf is no number; less than NEVER is log 0
_PIECE = 1 << 12  # rows at a time: what falls outside the tables is then looked for near by


class Tables(NamedTuple):
    """The curves of d columns; Gaussians are by mean and deviation, the others by the points of their tables."""

    ways: NDArray[np.int64]  # (d,)
    exponents: NDArray[np.int64]  # the position of x is x · 2^-exponent - origin
    origins: Floats
    inverses: Floats  # 1 / the distance of two points
    starts: NDArray[np.int64]  # (d + 1,) where the points of each column begin
    points: Floats  # (all the points, classes), none below NOTHING
    means: Floats  # (d, classes)
    over: Floats  # 1 / the deviations
    constants: Floats  # -log the deviations - ½ log 2π


@njit(cache=True, nogil=True)
def _add(X, ways, scales, more, origins, inverses, starts, lines, points, means, over, constants, out, outside):  # type: ignore[no-untyped-def]
    """Add the log densities of the rows X to out; columns with a value outside their table are marked, it is left out.

    The last two points are zeros, for values that are not looked up. Returns the row and the column of an infinite
    value, where it stops; else (-1, -1).
    """
    n, d = X.shape
    K = out.shape[1]
    flat = points.reshape(points.size)
    nowhere = points.size - 2 * K
    at, rest = np.empty(d, np.int64), np.empty(d)
    first, last = starts[:-1] * K, (starts[1:] - starts[:-1] - 1).astype(np.float64)
    for i in range(n):
        others = 0
        for j in range(d):  # no branches, so that four are done at a time
            u = (X[i, j] * scales[j] * more[j] - origins[j]) * inverses[j]
            inside = u >= 0.0 and u < last[j]
            others += 0 if inside else 1
            u = u if inside else 0.0
            place = np.int32(u)
            at[j] = first[j] + place * np.int32(K) if inside else nowhere
            rest[j] = (u - place) * lines[j]
        if others > 0:
            for j in range(d):
                x = X[i, j]
                if math.isinf(x):
                    return i, j
                if at[j] == nowhere and x == x:
                    if ways[j] == GAUSSIAN:
                        for k in range(K):
                            z = (x - means[j, k]) * over[j, k]
                            out[i, k] += constants[j, k] - 0.5 * min(z * z, FARTHEST)
                    else:
                        outside[j] = True
        k = 0
        while k + 4 <= K:
            t0 = t1 = t2 = t3 = 0.0
            for j in range(d):
                a, r = at[j] + k, rest[j]
                t0 += flat[a] + r * (flat[a + K] - flat[a])
                t1 += flat[a + 1] + r * (flat[a + K + 1] - flat[a + 1])
                t2 += flat[a + 2] + r * (flat[a + K + 2] - flat[a + 2])
                t3 += flat[a + 3] + r * (flat[a + K + 3] - flat[a + 3])
            out[i, k] += t0 if t0 > NEVER else -np.inf
            out[i, k + 1] += t1 if t1 > NEVER else -np.inf
            out[i, k + 2] += t2 if t2 > NEVER else -np.inf
            out[i, k + 3] += t3 if t3 > NEVER else -np.inf
            k += 4
        while k < K:
            t0 = 0.0
            for j in range(d):
                a = at[j] + k
                t0 += flat[a] + rest[j] * (flat[a + K] - flat[a])
            out[i, k] += t0 if t0 > NEVER else -np.inf
            k += 1
    return -1, -1


def add_curves(
    table: Rows, tables: Tables, out: Floats, beyond: Callable[[int, Floats], tuple[NDArray[np.bool_], Floats]]
) -> tuple[int, int] | None:
    """Add the log density of each row under each class to out (rows × classes).

    `beyond(j, x)` says which of the values of column j are outside its table, and their log densities. Returns the
    place of an infinite value, if there is one: then out is not complete.
    """
    assert out.shape == (table.shape[0], tables.points.shape[1]), "the loop would write beyond its rows"
    factors = [_scales(int(e)) for e in tables.exponents]
    scales, more = (np.array([pair[side] for pair in factors]).reshape(len(factors)) for side in (0, 1))
    points = np.concatenate([tables.points, np.zeros((2, tables.points.shape[1]))])
    lines = (tables.ways == STRAIGHT).astype(np.float64)
    infinite: list[tuple[int, int]] = []

    def work(lo: int, hi: int) -> None:
        for start in range(lo, hi, _PIECE):
            stop = min(start + _PIECE, hi)
            block = readable(table.rows(start, stop))
            outside = np.zeros(block.shape[1], np.bool_)
            row, column = _add(
                block,
                tables.ways,
                scales,
                more,
                tables.origins,
                tables.inverses,
                tables.starts,
                lines,
                points,
                tables.means,
                tables.over,
                tables.constants,
                out[start:stop],
                outside,
            )
            if row >= 0:
                infinite.append((start + row, column))
                return
            for j in np.flatnonzero(outside).tolist():
                where, values = beyond(j, block[:, j])
                out[start:stop][where] += values

    over_rows(work, table.shape[0])
    return min(infinite, default=None)
