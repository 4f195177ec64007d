"""The answers of discriminants: rows of numbers, a block at a time and a thread for each part of the rows.

They multiply x - c by a few weights (a line), or by the inverse root of a covariance (a distance). Blocks stay in the
caches, so the rows are read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.moments import Floats, Rows
from ingenuo.kernels.native import BYTES, F64, I64, INT, function

T = TypeVar("T")

_BLOCK = 1 << 18  # numbers in a block: 2 MiB


_add_lines = function("add_lines", F64, INT, INT, F64, F64, F64, INT, F64, BYTES, F64, returns=INT)
_add_distances = function(
    "add_distances", F64, INT, INT, F64, F64, INT, INT, I64, F64, F64, INT, F64, BYTES, F64, F64, returns=INT
)
_GROUP = 8  # rows that the loops turn into columns at a time


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
    """The places of the rows without a hole; None where no row has one. (Infinite values are left to others.)"""
    holes = np.zeros(table.shape[0], np.bool_)

    def work(lo: int, hi: int) -> None:
        for start, stop in _blocks(table, lo, hi):
            holes[start:stop] = np.isnan(table.rows(start, stop)).any(axis=1)

    _over_rows(work, table.shape[0])
    return np.flatnonzero(~holes) if holes.any() else None


def add_lines(
    table: Rows, centre: Floats, weights: Floats, constants: Floats, out: Floats
) -> tuple[NDArray[np.intp], tuple[int, int] | None]:
    """Add weights_k · (x - centre) + constant_k to out (rows × classes), for the rows without a hole.

    Returns the rows that have one, and the place of an infinite value, if there is one: then out is not complete.
    """
    given = *map(np.ascontiguousarray, (centre, weights, constants)), len(constants)

    def work(lo: int, hi: int, missing: NDArray[np.bool_]) -> int:
        d = table.shape[1]
        place = _add_lines(table.rows(lo, hi), hi - lo, d, *given, out[lo:hi], missing, np.empty(_GROUP * d))
        return int(place)

    return _answered(table, work)


def add_distances(
    table: Rows, centre: Floats, roots: Floats, means: Floats, constants: Floats, out: Floats
) -> tuple[NDArray[np.intp], tuple[int, int] | None]:
    """Add constant_k - ½ |(x - mean_k) A_k|² to out, for the rows without a hole.

    One root A (d × r) serves all classes, or each has its own (classes × d × r); means are given less the centre.
    Returns as `add_lines` does.
    """
    shared = roots.ndim == 2
    placed = means @ roots if shared else np.einsum("kj,kjr->kr", means, roots)
    each = np.ascontiguousarray(roots[np.newaxis] if shared else roots)
    d, rank = each.shape[1:]
    # Roots are triangular as a rule: from there on a column has zeros only.
    ends = np.where((each != 0).any(axis=1), d - (each[:, ::-1] != 0).argmax(axis=1), 0).astype(np.int64)
    n_classes = len(means)
    given = np.ascontiguousarray(centre), each, len(each), rank, ends, np.ascontiguousarray(placed)

    def work(lo: int, hi: int, missing: NDArray[np.bool_]) -> int:
        buffers = np.empty(_GROUP * d), np.empty(_GROUP * n_classes)
        rest = np.ascontiguousarray(constants), n_classes, out[lo:hi], missing
        return int(_add_distances(table.rows(lo, hi), hi - lo, d, *given, *rest, *buffers))

    return _answered(table, work)


def _answered(
    table: Rows, answer: Callable[[int, int, NDArray[np.bool_]], int]
) -> tuple[NDArray[np.intp], tuple[int, int] | None]:
    """Answer the rows, a block at a time: the rows that lack a value, and the place of an infinite one."""
    holes = np.zeros(table.shape[0], np.bool_)

    def work(lo: int, hi: int) -> tuple[int, int] | None:
        for start, stop in _blocks(table, lo, hi):
            place = answer(start, stop, holes[start:stop])
            if place >= 0:
                return start + place // table.shape[1], place % table.shape[1]
        return None

    infinite = [place for place in _over_rows(work, table.shape[0]) if place is not None]
    return np.flatnonzero(holes), min(infinite, default=None)


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

