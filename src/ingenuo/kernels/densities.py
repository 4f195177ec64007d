"""The log density of rows under one Gaussian per class and column, and the step from log joint to posterior."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels import portable, threads
from ingenuo.kernels.moments import Rows

Floats = NDArray[np.float64]

# Sums may be taken in any order here (they are not tallies); NaN must keep its meaning.
ANY_ORDER = {"reassoc", "contract", "nsz"}
HALF_LOG_2PI = 0.9189385332046727
FARTHEST = 1e300  # no row is farther away than this: joints stay finite, and so do their differences


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def _add_gaussian(X, means, inverse, constants, totals, first, out):  # type: ignore[no-untyped-def]
    """out[first + i, k] += Σ_j constants[k, j] - z²/2 over the columns j that are not missing.

    Returns the row and the column of an infinite value, where it stops; else (-1, -1).
    """
    n, d = X.shape
    for i in range(n):
        holes = 0
        for j in range(d):
            nothing = X[i, j] - X[i, j]  # 0, or NaN where the value is missing or infinite
            holes += 1 if nothing != nothing else 0
        if holes > 0:
            for j in range(d):
                if math.isinf(X[i, j]):
                    return i, j
        for k in range(means.shape[0]):
            total = 0.0
            if holes == 0:
                for j in range(d):
                    z = (X[i, j] - means[k, j]) * inverse[k, j]
                    total += z * z
                constant = totals[k]
            else:
                constant = 0.0
                for j in range(d):
                    x = X[i, j]
                    z = (x - means[k, j]) * inverse[k, j]
                    total += z * z if x == x else 0.0
                    constant += constants[k, j] if x == x else 0.0
            out[first + i, k] += constant - 0.5 * min(total, FARTHEST)
    return -1, -1


@njit(cache=True, nogil=True)
def _posterior(joint, first, last, log, odd):  # type: ignore[no-untyped-def]
    """Turn log joints into posteriors (or their logs) in place; rows without a finite maximum are marked odd."""
    K = joint.shape[1]
    for i in range(first, last):
        at = 0
        for k in range(1, K):
            at = k if joint[i, k] > joint[i, at] else at
        top = joint[i, at]
        odd[i] = not math.isfinite(top)
        if odd[i]:
            continue
        total = 1.0  # of the largest, whose exponential is known
        if log:
            for k in range(K):
                joint[i, k] -= top
                if k != at:
                    total += math.exp(joint[i, k])
            shift = math.log(total)
            for k in range(K):
                joint[i, k] -= shift
        else:
            for k in range(K):
                if k != at:
                    joint[i, k] = math.exp(joint[i, k] - top)
                    total += joint[i, k]
            joint[i, at] = 1.0
            for k in range(K):
                joint[i, k] /= total


@njit(cache=True, nogil=True)
def _best(joint, first, last, best, odd):  # type: ignore[no-untyped-def]
    """The class with the largest joint in each row; rows without a finite maximum are marked odd."""
    for i in range(first, last):
        at = 0
        for k in range(1, joint.shape[1]):
            if joint[i, k] > joint[i, at]:
                at = k
        best[i] = at
        odd[i] = not math.isfinite(joint[i, at])


def repeated(row: Floats, n_rows: int) -> Floats:
    """A matrix of so many equal rows, filled by all the threads."""
    matrix = np.empty((n_rows, len(row)))

    def fill(lo: int, hi: int) -> None:
        matrix[lo:hi] = row

    over_rows(fill, n_rows)
    return matrix


def constants(deviations: Floats) -> Floats:
    """-log σ - ½ log 2π: what a number at the mean adds to the log joint."""
    return -portable.log(deviations) - HALF_LOG_2PI


def add_gaussian(table: Rows, means: Floats, deviations: Floats, out: Floats) -> tuple[int, int] | None:
    """Add the log density of each row under each class to out (rows × classes).

    Returns the place of an infinite value, if there is one: then out is not complete.
    """
    assert out.shape == (table.shape[0], len(means)), "the loop would write beyond its rows"
    inverse = 1.0 / deviations
    given = constants(deviations)
    totals = given.sum(axis=1)

    infinite: list[tuple[int, int]] = []

    def work(lo: int, hi: int) -> None:
        for start in range(lo, hi, table.step):
            stop = min(start + table.step, hi)
            row, column = _add_gaussian(table.rows(start, stop), means, inverse, given, totals, start, out)
            if row >= 0:
                infinite.append((start + row, column))
                return

    over_rows(work, table.shape[0])
    return min(infinite, default=None)


def posterior(joint: Floats, *, log: bool = False) -> NDArray[np.intp]:
    """Write the posterior of each row's classes over the log joints, by log-sum-exp.

    Returns the rows that were left as they are, for they have no finite maximum.
    """
    odd = np.empty(len(joint), np.bool_)
    over_rows(lambda lo, hi: _posterior(joint, lo, hi, log, odd), len(joint))
    return np.flatnonzero(odd)


def best(joint: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The most probable class of each row, and the rows that have no finite maximum."""
    found, odd = np.empty(len(joint), np.intp), np.empty(len(joint), np.bool_)
    over_rows(lambda lo, hi: _best(joint, lo, hi, found, odd), len(joint))
    return found, np.flatnonzero(odd)


def over_rows(work: Callable[[int, int], None], n_rows: int) -> None:
    """Do the work on ranges of rows, by all the threads."""
    parts = threads.split(n_rows, threads.width(), 1 << 10)
    threads.run([partial(work, lo, hi) for lo, hi in parts])
