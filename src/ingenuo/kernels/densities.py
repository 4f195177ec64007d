"""The log density of rows under one Gaussian per class and column, and the step from log joint to posterior."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import portable, threads
from ingenuo.kernels.moments import Rows
from ingenuo.kernels.native import BYTES, F64, I64, INT, function

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
