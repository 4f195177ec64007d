"""From rows of numbers to exact sums of x and x² per class and column, at nearly the speed of reading them.

How it is done is said in cpp/numbers.hpp. A sum is kept as 40-bit limbs at absolute binary positions, so it cannot
depend on order, blocks or threads.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import threads
from ingenuo.kernels.native import F64, I32, I64, INT, function
from ingenuo.tally.exact import LIMB, Exact

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

_add_moments = function("moments", F64, I32, *[INT] * 4, *[I64] * 5, F64, I64, returns=INT)
_add_weighted = function("weighted_moments", F64, I32, F64, *[INT] * 3, *[I64] * 5, returns=INT)
_add_to_cells = function("add_to_cells", F64, I64, INT, I64, *[INT] * 3)

_BLOCK = 512  # rows that are looked at together
_PIECE = 1 << 17  # numbers converted at a time where the input is not already rows of doubles: 1 MiB


class Rows(Protocol):
    """Rows of numbers, handed out as C-ordered doubles, without a copy where they already are."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    @property
    def step(self) -> int:
        """How many rows to ask for at a time: all where that costs no copy."""
        ...

    def rows(self, lo: int, hi: int) -> Floats:
        """Rows lo..hi."""
        ...

    def place(self, row: int, column: int) -> str:
        """How a cell is called in a message."""
        ...


def moments(table: Rows, labels: Codes, n_classes: int) -> tuple[NDArray[np.int64], Exact, Exact]:
    """Missing values, Σx and Σx², each (classes, columns)."""
    parts = threads.split(table.shape[0], threads.width(), 1 << 12) or [(0, 0)]
    tasks = [lambda lo=lo, hi=hi: _moments_of(table, labels, n_classes, lo, hi) for lo, hi in parts]
    results = threads.run(tasks)
    missing, sums, squares = results[0]
    for more_missing, more_sums, more_squares in results[1:]:
        missing, sums, squares = missing + more_missing, sums + more_sums, squares + more_squares
    return missing, sums, squares


def _moments_of(table: Rows, labels: Codes, n_classes: int, lo: int, hi: int) -> tuple[NDArray[np.int64], Exact, Exact]:
    d = table.shape[1]
    missing = np.zeros((n_classes, d), np.int64)
    sums = np.zeros((n_classes, d, 0), np.int64)
    squares = np.zeros((n_classes, d, 0), np.int64)
    window = np.array([1 << 20, -(1 << 20), 1 << 20, -(1 << 20)], np.int64)
    place = np.array([-1])
    width = max(d, 4)  # of the loop, which adds up to four columns together
    for start in range(lo, hi, table.step):
        stop = min(start + table.step, hi)
        block, own = table.rows(start, stop), labels[start:stop]
        done = 0
        while done < stop - start:
            before = window.copy()
            work = (
                np.zeros(4 * _BLOCK + 16 * width),
                np.zeros((6 + 6 * n_classes) * width + n_classes + 1 + _BLOCK, np.int64),
            )
            done = _add_moments(
                block, own, done, stop - start, d, n_classes, sums, squares, missing, window, place, *work
            )
            if place[0] >= 0:
                row, column = divmod(int(place[0]), d)
                raise not_finite(table, start + row, column, block[row, column])
            if done < stop - start:
                sums = _widened(sums, before[:2], window[:2])
                squares = _widened(squares, before[2:], window[2:])
    return missing, _exact(sums, window[0]), _exact(squares, window[2])


def weighted_moments(table: Rows, labels: Codes, weights: Floats, n_classes: int) -> tuple[Exact, Exact, Exact]:
    """Σw over the values that are not missing, Σwx and Σwx², each (classes, columns)."""
    parts = threads.split(table.shape[0], threads.width(), 1 << 12) or [(0, 0)]
    tasks = [lambda lo=lo, hi=hi: _weighted_of(table, labels, weights, n_classes, lo, hi) for lo, hi in parts]
    results = threads.run(tasks)
    total = results[0]
    for more in results[1:]:
        total = (total[0] + more[0], total[1] + more[1], total[2] + more[2])
    return total


def _weighted_of(
    table: Rows, labels: Codes, weights: Floats, n_classes: int, lo: int, hi: int
) -> tuple[Exact, Exact, Exact]:
    d = table.shape[1]
    total: tuple[Exact, ...] = (Exact.zeros((n_classes, d)),) * 3
    step = max(512, _PIECE // max(d, 1))
    for start in range(lo, hi, step):
        stop = min(start + step, hi)
        block = table.rows(start, stop)
        w_least, w_top = _exponents(weights[start:stop])
        x_least, x_top = _exponents(block)
        # A product of m doubles is a multiple of 2^(the sum of their exponents - 53m), and below 2^(that sum).
        spans = [(w_least + m * x_least - 53 * (m + 1), w_top + m * x_top) for m in range(3)]
        bases = np.array([least // LIMB for least, _ in spans], np.int64)
        arrays = [np.zeros((n_classes, d, top // LIMB + 3 - least // LIMB), np.int64) for least, top in spans]
        sizes = np.array([array.shape[2] for array in arrays])
        place = _add_weighted(
            block, labels[start:stop], weights[start:stop], stop - start, d, n_classes, *arrays, sizes, bases
        )
        if place >= 0:
            row, column = divmod(place, d)
            raise not_finite(table, start + row, column, block[row, column])
        total = tuple(t + _exact(a, base) for t, a, base in zip(total, arrays, bases))
    return total[0], total[1], total[2]


def weights_by_cell(weights: Floats, cells: NDArray[np.int64], n_cells: int) -> Exact:
    """The exact sum of the weights that fall on each cell; a negative cell means none."""
    weights, cells = np.ascontiguousarray(weights, np.float64), np.ascontiguousarray(cells, np.int64)
    least, top = _exponents(weights)
    base = (least - 53) // LIMB
    limbs = np.zeros((1, n_cells, (top - 1) // LIMB + 3 - base), np.int64)
    _add_to_cells(weights, cells, len(weights), limbs, n_cells, limbs.shape[2], base)
    exact = _exact(limbs, base)
    return Exact(exact.limbs.reshape(exact.limbs.shape[0], n_cells), exact.low)


def _exponents(values: Floats) -> tuple[int, int]:
    """Binary exponents e (values below 2^e) of the smallest and the largest magnitude that is not zero."""
    magnitude = np.abs(values)
    kept = magnitude[(magnitude > 0) & np.isfinite(magnitude)]
    if kept.size == 0:
        return 0, 0
    return math.frexp(float(kept.min()))[1], math.frexp(float(kept.max()))[1]


def _widened(limbs: NDArray[np.int64], before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same sums in a window of limbs that reaches further."""
    wide = np.zeros((*limbs.shape[:2], int(after[1] - after[0])), np.int64)
    if limbs.shape[2]:
        offset = int(before[0] - after[0])
        wide[:, :, offset : offset + limbs.shape[2]] = limbs
    return wide


def _exact(limbs: NDArray[np.int64], base: int) -> Exact:
    if limbs.shape[2] == 0:
        return Exact.zeros(limbs.shape[:2])
    return Exact.canonical(np.ascontiguousarray(np.moveaxis(limbs, 2, 0)), int(base))


def not_finite(table: Rows, row: int, column: int, value: float) -> InputError:
    """What to say of an infinite value."""
    return InputError(
        f"{table.place(row, column)}: {float(value)!r} is infinite; replace it by a finite number, or by NaN if it is "
        "missing"
    )
