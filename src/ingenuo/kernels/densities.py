"""Log densities of rows under Gaussians and tabulated curves, mixtures, and posteriors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import portable, threads
from ingenuo.kernels.moments import Rows
from ingenuo.kernels.native import BYTES, F64, I64, INT, REAL, function

# The log density of rows under one Gaussian per class and column, and the step from log joint to posterior.


Floats = NDArray[np.float64]

_add_gaussian = function("add_gaussian", F64, INT, INT, INT, F64, F64, F64, F64, returns=INT)
_posterior = function("posterior", F64, INT, INT, INT, BYTES)
_best = function("best", F64, INT, INT, I64, BYTES)

FARTHEST = 1e300  # no row is farther away than this: joints stay finite, and so do their differences
HALF_LOG_2PI = 0.9189385332046727


def repeated(row: Floats, n_rows: int) -> Floats:
    """A matrix of so many equal rows, filled by all the threads."""
    matrix = np.empty((n_rows, len(row)))

    def fill(lo: int, hi: int) -> None:
        matrix[lo:hi] = row

    over_rows(fill, n_rows)
    return matrix


def constants(deviations: Floats) -> Floats:
    """-log σ - ½ log 2π: what a number at the mean adds to the log joint."""
    return np.ascontiguousarray(-portable.log(deviations) - HALF_LOG_2PI)


def add_gaussian(table: Rows, means: Floats, deviations: Floats, out: Floats) -> tuple[int, int] | None:
    """Add the log density of each row under each class to out (rows × classes), column by column from left to right.

    Returns the place of an infinite value, if there is one: then out is not complete.
    """
    assert out.shape == (table.shape[0], len(means)), "the loop would write beyond its rows"
    n_classes, d = means.shape
    given = np.ascontiguousarray(means), np.ascontiguousarray(1.0 / deviations), constants(deviations)
    infinite: list[tuple[int, int]] = []

    def work(lo: int, hi: int) -> None:
        for start in range(lo, hi, table.step):
            stop = min(start + table.step, hi)
            place = _add_gaussian(table.rows(start, stop), stop - start, d, n_classes, *given, out[start:stop])
            if place >= 0:
                infinite.append((start + place // d, place % d))
                return

    over_rows(work, table.shape[0])
    return min(infinite, default=None)


def posterior(joint: Floats, *, log: bool = False) -> NDArray[np.intp]:
    """Write the posterior of each row's classes over the log joints, by log-sum-exp.

    Returns the rows that were left as they are, for they have no finite maximum.
    """
    if not joint.flags.c_contiguous:
        rows = np.ascontiguousarray(joint)
        odd_rows = posterior(rows, log=log)
        joint[:] = rows
        return odd_rows
    odd, n_classes = np.empty(len(joint), np.bool_), joint.shape[1]
    over_rows(lambda lo, hi: _posterior(joint[lo:hi], hi - lo, n_classes, log, odd[lo:hi]), len(joint))
    return np.flatnonzero(odd)


def best(joint: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The most probable class of each row, and the rows that have no finite maximum."""
    joint = np.ascontiguousarray(joint)
    found, odd, n_classes = np.empty(len(joint), np.intp), np.empty(len(joint), np.bool_), joint.shape[1]
    over_rows(lambda lo, hi: _best(joint[lo:hi], hi - lo, n_classes, found[lo:hi], odd[lo:hi]), len(joint))
    return found, np.flatnonzero(odd)


def over_rows(work: Callable[[int, int], None], n_rows: int) -> None:
    """Do the work on ranges of rows, by all the threads."""
    parts = threads.split(n_rows, threads.width(), 1 << 10)
    threads.run([partial(work, lo, hi) for lo, hi in parts])


# The log density of rows under tabulated curves, a table for each column: one place, and a line to the next.
#
# The values of all the classes at a point lie side by side, so that the place is found once for them all.


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


# Expectation and maximisation for a mixture of Gaussians on weighted points: the bins of a histogram.


_maximise = function("maximise", F64, F64, INT, INT, F64, F64, F64, REAL, INT, REAL, F64, returns=REAL)


def maximise(
    points: Floats, weights: Floats, shares: Floats, means: Floats, variances: Floats, least: float, rounds: int,
    tolerance: float,
) -> float:  # fmt: skip
    """Improve shares, means and variances in place until a round gains less than the tolerance for each weight.

    Returns the log likelihood before the last round. No variance falls below `least`.
    """
    n, m = len(points), len(means)
    work = np.empty((n + 1) * m + 3 * n)
    return float(_maximise(points, weights, n, m, shares, means, variances, least, rounds, tolerance, work))
