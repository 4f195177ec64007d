"""The log density of rows under tabulated curves, a table for each column: one place, and a line to the next.

The values of all the classes at a point lie side by side, so that the place is found once for them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.densities import over_rows
from ingenuo.kernels.moments import Rows
from ingenuo.kernels.native import BYTES, F64, I64, INT, function

Floats = NDArray[np.float64]

_add_curves = function(
    "add_curves", F64, *[INT] * 4, I64, *[F64] * 4, I64, *[F64] * 6, INT, F64, F64, I64, I64, BYTES, I64, F64,
    returns=INT,
)  # fmt: skip
_NONE = np.zeros((0, 0))

GAUSSIAN, LEVEL, STRAIGHT = 0, 1, 2
NOTHING = -1e300  # in a table this stands for log 0, for 0 · -inf is no number; what is less than -1e299 is log 0
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


def add_curves(
    table: Rows, tables: Tables, out: Floats, beyond: Callable[[int, Floats], Floats]
) -> tuple[int, int] | None:
    """Add the log density of each row under each class to out (rows × classes), column by column from left to right.

    `beyond(j, x)` gives the log densities of values outside column j's table. Returns the place of an infinite value,
    if there is one: then out is not complete.
    """
    n_classes, d = out.shape[1], table.shape[1]
    assert out.shape == (table.shape[0], tables.points.shape[1]), "the loop would write beyond its rows"
    width = 2 if n_classes <= 2 else -(-n_classes // 4) * 4

    def widen(values: Floats) -> Floats:
        wide = np.zeros((len(values), width))
        wide[:, :n_classes] = values
        return wide

    given = (
        tables.ways, *_scales(tables.exponents), tables.origins, tables.inverses, tables.starts[:-1] * width,
        np.diff(tables.starts) - 1.0, (tables.ways == STRAIGHT).astype(np.float64),
        *(widen(each) for each in (tables.points, tables.means, tables.over, tables.constants)),
    )  # fmt: skip
    infinite: list[tuple[int, int]] = []

    def work(lo: int, hi: int) -> None:
        room = np.empty(d, np.int64), np.empty(d)
        left, n_left, outside = np.empty(_PIECE, np.int64), np.zeros(1, np.int64), np.empty((_PIECE, d), np.bool_)
        for start in range(lo, hi, _PIECE):
            stop = min(start + _PIECE, hi)
            block, own = table.rows(start, stop), out[start:stop]

            kept = own, left, n_left, outside, *room
            place = _add_curves(block, stop - start, d, n_classes, width, *given, False, _NONE, *kept)
            if place >= 0:
                infinite.append((start + place // d, place % d))
                return
            if n_left[0]:
                rows, marked = left[: n_left[0]], outside[: n_left[0]]
                index = np.cumsum(marked).reshape(marked.shape) - 1
                values = np.zeros((index[-1, -1] + 1, width))
                for j in np.flatnonzero(marked.any(axis=0)).tolist():
                    mine = np.flatnonzero(marked[:, j])
                    values[index[mine, j], :n_classes] = beyond(j, block[rows[mine], j])
                _add_curves(block, len(rows), d, n_classes, width, *given, True, values, *kept)

    over_rows(work, table.shape[0])
    return min(infinite, default=None)


def _scales(exponents: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """2^-e as two factors, for 2^1074 is no double."""
    up = np.minimum(-exponents, 1000)
    return np.ldexp(1.0, up), np.ldexp(1.0, -exponents - up)
