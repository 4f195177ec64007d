"""The log density of rows under one Gaussian per class and column, and the step from log joint to posterior."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.moments import Rows

Floats = NDArray[np.float64]

# Sums may be taken in any order here (they are not tallies); NaN must keep its meaning.
_ANY_ORDER = {"reassoc", "contract", "nsz"}
FARTHEST = 1e300  # no row is farther away than this: joints stay finite, and so do their differences


@njit(cache=True, nogil=True, fastmath=_ANY_ORDER)
def _add_gaussian(X, means, inverse, constants, totals, first, out):  # type: ignore[no-untyped-def]
    """out[first + i, k] += Σ_j constants[k, j] - z²/2 over the columns j that are not missing."""
    n, d = X.shape
    for i in range(n):
        holes = 0
        for j in range(d):
            holes += 1 if X[i, j] != X[i, j] else 0
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


@njit(cache=True, nogil=True)
def _posterior(joint, first, last, log):  # type: ignore[no-untyped-def]
    """Turn log joints into posteriors (or their logs) in place; each row keeps a finite maximum."""
    K = joint.shape[1]
    for i in range(first, last):
        top = joint[i, 0]
        for k in range(1, K):
            top = max(top, joint[i, k])
        total = 0.0
        if log:
            for k in range(K):
                joint[i, k] -= top
                total += np.exp(joint[i, k])
            shift = np.log(total)
            for k in range(K):
                joint[i, k] -= shift
        else:
            for k in range(K):
                joint[i, k] = np.exp(joint[i, k] - top)
                total += joint[i, k]
            for k in range(K):
                joint[i, k] /= total


def add_gaussian(table: Rows, means: Floats, deviations: Floats, out: Floats) -> None:
    """Add the log density of each row under each class to out (rows × classes)."""
    inverse = 1.0 / deviations
    constants = -np.log(deviations) - 0.5 * np.log(2 * np.pi)
    totals = constants.sum(axis=1)
    step = max(512, (1 << 17) // max(table.shape[1], 1))

    def work(lo: int, hi: int) -> None:
        for start in range(lo, hi, step):
            stop = min(start + step, hi)
            _add_gaussian(table.rows(start, stop), means, inverse, constants, totals, start, out)

    _over_rows(work, table.shape[0])


def posterior(joint: Floats, *, log: bool = False) -> Floats:
    """The posterior of each row's classes, by log-sum-exp, written over the log joints."""
    _over_rows(lambda lo, hi: _posterior(joint, lo, hi, log), joint.shape[0])
    return joint


def _over_rows(work: Callable[[int, int], None], n_rows: int) -> None:
    parts = threads.split(n_rows, threads.width(), 1 << 10)
    threads.run([partial(work, lo, hi) for lo, hi in parts])
