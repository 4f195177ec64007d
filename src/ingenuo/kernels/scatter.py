"""Scores of rows of numbers: x - c times a few weights (lines), or times the inverse root of a covariance (distances).

Each row has sums of its own, from left to right, so it has the same scores alone and among others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.moments import Floats, Rows
from ingenuo.kernels.native import F64, I64, INT, U8, function

T = TypeVar("T")

_BLOCK = 1 << 18  # numbers in a block: 2 MiB


_GROUP = 8  # rows that the loops turn at a time, as in scores.hpp

_add_lines = function("add_lines", F64, INT, INT, F64, F64, F64, INT, F64, U8, F64, returns=INT)
_add_distances = function(
    "add_distances", F64, INT, INT, F64, F64, INT, INT, I64, F64, F64, INT, F64, U8, F64, F64, returns=INT
)


class Kept:
    """Some rows of a table, by their places (ascending)."""

    def __init__(self, table: Rows, places: NDArray[np.intp]) -> None:
        self.table, self.places = table, places
        self.shape = len(places), table.shape[1]
        self.step = max(512, (1 << 17) // max(self.shape[1], 1) & ~511)

    def rows(self, lo: int, hi: int) -> Floats:
        """Rows lo..hi of those that are kept."""
        places = self.places[lo:hi]
        result = np.empty((len(places), self.shape[1]))
        done = 0
        while done < len(places):  # no more at a time than the table likes to give
            first = int(places[done])
            stop = int(np.searchsorted(places, first + self.table.step))
            some = places[done:stop]
            result[done:stop] = self.table.rows(first, int(some[-1]) + 1)[some - first]
            done = stop
        return result

    def place(self, row: int, column: int) -> str:
        """How a cell is called in a message."""
        return self.table.place(int(self.places[row]), column)


def complete(table: Rows) -> NDArray[np.intp] | None:
    """The places of the rows without a missing value; None where no row has one. Infinite values are left to others."""
    missing = np.zeros(table.shape[0], np.bool_)

    def work(lo: int, hi: int) -> None:
        for start, stop in _blocks(table, lo, hi):
            missing[start:stop] = np.isnan(table.rows(start, stop)).any(axis=1)

    _over_rows(work, table.shape[0])
    return np.flatnonzero(~missing) if missing.any() else None


def add_lines(
    table: Rows, centre: Floats, weights: Floats, constants: Floats, out: Floats
) -> tuple[NDArray[np.intp], tuple[int, int] | None]:
    """Add constant_k + weights_k · (x - centre) to out (rows × classes), for the rows without a missing value.

    A score begins with the constant, and has one term for each column, from left to right.
    Returns the rows with a missing value, and the place of an infinite one, if there is one: then out is not complete.
    """
    centre, weights, constants = (np.ascontiguousarray(each) for each in (centre, weights, constants))
    given = centre, weights, constants, len(constants)

    def answer(X: Floats, part: Floats, missing: NDArray[np.uint8]) -> int:
        turned = np.empty(table.shape[1] * _GROUP)
        return int(_add_lines(X, *X.shape, *given, part, missing, turned))

    return _answered(table, out, answer)


def add_distances(
    table: Rows, centre: Floats, roots: Floats, means: Floats, constants: Floats, out: Floats
) -> tuple[NDArray[np.intp], tuple[int, int] | None]:
    """Add constant_k - ½ |(x - mean_k) A_k|² to out, for the rows without a missing value.

    One root A (d × r) serves all classes, or each has its own (classes × d × r); means are given less the centre.
    Returns as `add_lines` does.
    """
    shared = roots.ndim == 2
    centre, constants = np.ascontiguousarray(centre), np.ascontiguousarray(constants)
    placed = means @ roots if shared else np.einsum("kj,kjr->kr", means, roots)
    every = np.ascontiguousarray(roots[np.newaxis] if shared else roots)
    n_roots, d, rank = every.shape
    # Most roots are triangles: each column has zeros from some row on.
    ends = np.where(every != 0, np.arange(1, d + 1)[:, np.newaxis], 0).max(axis=1, initial=0)
    given = centre, every, n_roots, rank, ends, np.ascontiguousarray(placed), constants, len(means)

    def answer(X: Floats, part: Floats, missing: NDArray[np.uint8]) -> int:
        turned, distances = np.empty(d * _GROUP), np.empty(len(means) * _GROUP)
        return int(_add_distances(X, *X.shape, *given, part, missing, turned, distances))

    return _answered(table, out, answer)


def _answered(
    table: Rows, out: Floats, answer: Callable[[Floats, Floats, NDArray[np.uint8]], int]
) -> tuple[NDArray[np.intp], tuple[int, int] | None]:
    """Answer the rows, a block at a time: those with a missing value, and the place of an infinite one."""
    missing, sums = np.zeros(table.shape[0], np.uint8), np.ascontiguousarray(out)

    def work(lo: int, hi: int) -> tuple[int, int] | None:
        for start, stop in _blocks(table, lo, hi):
            place = answer(table.rows(start, stop), sums[start:stop], missing[start:stop])
            if place >= 0:
                row, column = divmod(place, table.shape[1])
                return start + row, column
        return None

    infinite = [place for place in _over_rows(work, table.shape[0]) if place is not None]
    if sums is not out:
        out[...] = sums
    return np.flatnonzero(missing), min(infinite, default=None)


def _step(table: Rows) -> int:
    """Rows in a block."""
    return max(256, min(4096, _BLOCK // max(table.shape[1], 1)))


def _blocks(table: Rows, lo: int, hi: int) -> Iterator[tuple[int, int]]:
    step = _step(table)
    for start in range(lo, hi, step):
        yield start, min(start + step, hi)


def _over_rows(work: Callable[[int, int], T], n_rows: int) -> list[T]:
    parts = threads.split(n_rows, threads.width(), 1 << 12)
    return threads.run([partial(work, lo, hi) for lo, hi in parts])
