"""Exact sums of x and xxᵀ over rows, at a few times the cost of rounded ones: drives the loops over blocks and threads.

Numbers are cut into slices whose products add without rounding (see `cpp/products.hpp`). Rows that need more than three
slices, for a number in them is tiny, wait until there are many and are cut into digits then, as rows with weights are;
their products go through BLAS. All is poured into limbs at absolute binary positions, and so depends on no block, order
or thread.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial, reduce
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import moments, native, threads
from ingenuo.kernels.moments import Codes, Floats, Rows
from ingenuo.kernels.native import F64, I32, I64, INT, U8
from ingenuo.tally.exact import LIMB, Exact

Integers = NDArray[np.int64]
Digits = tuple[Floats, Integers, Integers]  # side by side; the column of each, and its binary position
T = TypeVar("T")

# As in products.hpp.
_BLOCK, _PANEL, _POINTS, _NEXT = 128, 4, 5, 23
_DIGIT, _FIRST, _PLACES = 22, -110, 220
_DONE, _TOO_LARGE, _TOO_SMALL, _EMPTY_FIRST, _MANY_DEEP = range(5)
_AT, _ROW, _DEEP, _CHOSEN, _N_POINTS, _N_BLOCKS, _ROWS = range(7)  # what is kept of a group

_AIM = 47  # a unit is chosen for slices whose squares add up to less than 2^47 in a block
_FEW = 256  # rows cut into digits together: products of two digits then add up to at most 2^52
_TILE = 256  # digits that are multiplied at a time
_WAITING = 1 << 19  # numbers that may wait to be cut into digits
_ROOM = 1 << 20  # numbers of digits at a time: 8 MiB
_CHUNK = 1 << 18  # numbers that a thread is worth its start for
_WEIGHTS = 64  # different weights, times classes, whose rows are added up apart
NO_WEIGHTS: Floats = np.zeros(0)

_add_products = native.function(
    "add_products", F64, INT, I32, I64, INT, F64, F64, I64, F64, U8, I64, INT, I64, returns=INT
)
_pour_products = native.function("pour_products", I64, INT, F64, *[INT] * 3, I64, U8, I64, INT, INT, I64, INT, INT)
_cut_digits = native.function("cut_digits", F64, INT, INT, F64, INT, I64, F64, INT)
_pour_tile = native.function("pour_tile", F64, INT, INT, I64, I64, I64, I64, INT, I64, INT, INT, INT)


class _Limbs:
    """Limbs that grow as they are needed."""

    def __init__(self, *shape: int) -> None:
        self.limbs = np.zeros((*shape, 0), np.int64)
        self.base = 0

    def reach(self, low: int, high: int) -> tuple[Integers, int]:
        """Have room for whole numbers below 2^62 at positions low to high: the limbs, and the position of the first."""
        least, most = low // LIMB, (high + 62) // LIMB + 2
        now = self.limbs.shape[-1]
        if now:
            least, most = min(least, self.base), max(most, self.base + now)
        if now != most - least:
            wide = np.zeros((*self.limbs.shape[:-1], most - least), np.int64)
            offset = self.base - least if now else 0
            wide[..., offset : offset + now] = self.limbs
            self.limbs, self.base = wide, least
        return self.limbs, self.base

    def exact(self) -> Exact:
        """The sums."""
        if self.limbs.shape[-1] == 0:
            return Exact.zeros(self.limbs.shape[:-1])
        return Exact.canonical(np.ascontiguousarray(np.moveaxis(self.limbs, -1, 0)), self.base)


class _Sums:
    """Σ x of each class and Σ xxᵀ of each class, or of all: there is a group for each, or one."""

    def __init__(self, n_classes: int, d: int, *, pooled: bool) -> None:
        groups, panels = 1 if pooled else n_classes, -(-d // _PANEL)
        self.n_classes, self.d, self.pooled = n_classes, d, pooled
        self.sums, self.products = _Limbs(n_classes, d), _Limbs(groups, d * (d + 1) // 2)
        self.deep_sums = Exact.zeros((n_classes * d,))  # of the rows that were cut into digits
        self.incomplete = np.zeros(n_classes, np.int64)  # rows with a missing value
        self.units = np.full((groups, d), -920)  # the least: any number is too large for it, and another is chosen
        self.scales = np.full((groups, panels * _PANEL), 2.0**920)
        self.held = np.zeros((groups, _POINTS, panels * (panels + 1) // 2 * _PANEL**2), np.int64)
        self.totals = np.zeros((n_classes, 3, panels * _PANEL))
        self.progress = np.zeros((groups, 7), np.int64)
        self.progress[:, _ROWS] = _BLOCK
        self.values = np.empty(_POINTS * panels * (_BLOCK * _PANEL + 8))
        self.moved, self.deep = np.zeros(d, np.uint8), np.empty(1 << 12, np.int64)
        self.waiting: list[tuple[Floats, Codes]] = []
        self.n_waiting = 0

    def add(self, X: Floats, labels: Codes, places: Integers, group: int) -> bool:
        """Add the rows at these places to a group; False where a number is infinite."""
        progress, last = self.progress[group], len(places)
        progress[_AT] = 0
        while True:
            stop = _add_products(
                X, self.d, labels, places, last, self.scales[group], self.totals, self.held[group],
                self.values, self.moved, self.deep, len(self.deep), progress,
            )  # fmt: skip
            if progress[_DEEP]:
                self._wait(X, labels, self.deep[: progress[_DEEP]])
                progress[_DEEP] = 0
            if stop == _DONE:
                return True
            if stop == _EMPTY_FIRST:
                self._empty(group, np.ones(self.d, np.uint8))
            if stop in (_TOO_LARGE, _TOO_SMALL):
                self._empty(group, self.moved)
                if stop == _TOO_LARGE and progress[_CHOSEN]:
                    self.units[group] += self.moved  # numbers of a column that is constant, say, may all round one way
                elif not self._choose_units(X[places[progress[_ROW] : progress[_ROW] + _BLOCK]], group):
                    return False
                self.scales[group, : self.d] = np.ldexp(1.0, -self.units[group])
                progress[_CHOSEN] += stop == _TOO_LARGE

    def _choose_units(self, X: Floats, group: int) -> bool:
        """Units for the columns that moved, by the squares that these rows have; False where a number is infinite."""
        moved = np.flatnonzero(self.moved)
        size = np.fmax(np.abs(X[:, moved]), 0.0)  # what is missing is 0
        most = size.max(axis=0)
        if np.isinf(most).any():
            return False
        share, exponent = np.frexp(most)
        shares = size / np.maximum(most, 5e-324) * share
        extent = np.frexp((shares * shares).sum(axis=0) * (_BLOCK / len(X)))[1]
        # Below 2^-920 a scale would be no double; of numbers that are so small the digits are taken.
        self.units[group, moved] = np.maximum(exponent - (_AIM - extent) // 2, -920)
        return True

    def _wait(self, X: Floats, labels: Codes, rows: Integers) -> None:
        self.waiting.append((X[rows], labels[rows]))
        self.n_waiting += len(rows) * self.d
        if self.n_waiting > _WAITING:
            self._flush()

    def _empty(self, group: int, moved: NDArray[np.uint8]) -> None:
        """Pour out the products that are held, and the sums of slices, of some columns of a group."""
        units, progress = self.units[group], self.progress[group]
        least, most = int(units.min()), int(units.max())
        limbs, base = self.products.reach(2 * least - 4 * _NEXT, 2 * most)
        sums, sums_base = self.sums.reach(least - 2 * _NEXT, most)
        classes = (0, self.n_classes) if self.pooled else (group, group + 1)
        _pour_products(
            self.held[group], int(progress[_N_POINTS]), self.totals, *classes, self.d, units, moved, limbs[group], base,
            limbs.shape[-1], sums, sums_base, sums.shape[-1],
        )  # fmt: skip
        if moved.all():
            progress[_N_BLOCKS] = 0

    def _pour(self, right: Digits, left: Digits | None, group: int) -> None:
        """Multiply digits of x by themselves, or those of w·x by those of x, and pour out the products."""
        H, columns, at = right
        G, left_columns, left_at = left or right
        limbs, base = self.products.reach(int(at.min() + left_at.min()), int(at.max() + left_at.max()))
        # A copy of each tile: with rows that lie 24 kB apart BLAS takes twice as long.
        rights = [np.ascontiguousarray(H[:, lo : lo + _TILE]) for lo in range(0, H.shape[1], _TILE)]
        lefts = [np.ascontiguousarray(G[:, lo : lo + _TILE]) for lo in range(0, G.shape[1], _TILE)] if left else rights
        for one, first in enumerate(lefts):
            a = slice(one * _TILE, (one + 1) * _TILE)
            for two, second in enumerate(rights if left else rights[: one + 1]):
                b = slice(two * _TILE, (two + 1) * _TILE)
                kind = -1 if left else int(one == two)
                M = first.T @ second
                places = left_columns[a], left_at[a], columns[b], at[b]
                _pour_tile(M, *M.shape, *places, kind, limbs[group], self.d, base, limbs.shape[-1])

    def _flush(self) -> None:
        """Cut the rows that wait into digits; those with a missing value are left out."""
        if self.waiting:
            X, labels = (np.concatenate(each) for each in zip(*self.waiting))
            self.waiting, self.n_waiting = [], 0
            missing = np.isnan(X).any(axis=1)
            self.incomplete += np.bincount(labels[missing], minlength=self.n_classes)
            X, labels = X[~missing], labels[~missing]
            if len(X):
                cells = labels[:, np.newaxis].astype(np.int64) * self.d + np.arange(self.d)
                more = moments.weights_by_cell(X.ravel(), cells.ravel(), self.n_classes * self.d)
                self.deep_sums = self.deep_sums + more
                self.add_digits(X, labels, None)

    def add_digits(self, X: Floats, labels: Codes, weights: Floats | None) -> None:
        """Add the products of rows, with weights or without, cut into as many digits as they have."""
        groups = [slice(None)] if self.pooled else [labels == k for k in np.unique(labels)]
        for mine in groups:
            group = 0 if self.pooled else int(labels[mine][0])
            rows, own = X[mine], NO_WEIGHTS if weights is None else weights[mine]
            for lo in range(0, len(rows), _FEW):
                self._digits(rows[lo : lo + _FEW], own[lo : lo + _FEW], group)

    def _digits(self, X: Floats, weights: Floats, group: int) -> None:
        places = [_places(X, NO_WEIGHTS), *([_places(X, weights)] if len(weights) else [])]
        if len(X) > 1 and max(len(columns) for _, columns, _ in places) * len(X) > _ROOM:
            half = len(X) // 2
            self._digits(X[:half], weights[:half], group)
            self._digits(X[half:], weights[half:], group)
            return
        found: list[Digits] = []
        for (index, columns, at), given in zip(places, (NO_WEIGHTS, weights)):
            H = np.zeros((len(X), len(columns)))
            _cut_digits(X, *X.shape, given, len(given) > 0, index, H, H.shape[1])
            found.append((H, columns, at))
        if all(len(columns) for _, columns, _ in found):
            self._pour(found[0], found[1] if len(weights) else None, group)

    def results(self) -> tuple[Integers, Exact, Exact]:
        """Incomplete rows of each class, Σx and Σxxᵀ."""
        self._flush()
        every = np.ones(self.d, np.uint8)
        for group in range(len(self.units) if self.d else 0):
            self._empty(group, every)
        deep = Exact(self.deep_sums.limbs.reshape(-1, self.n_classes, self.d), self.deep_sums.low)
        return self.incomplete, deep + self.sums.exact(), self.products.exact()


def _places(X: Floats, weights: Floats) -> tuple[Integers, Integers, Integers]:
    """Where the columns have digits: the number of each among all, its column, and its binary position."""
    index = np.zeros((X.shape[1], _PLACES), np.int64)
    _cut_digits(X, *X.shape, weights, len(weights) > 0, index, NO_WEIGHTS, 0)
    columns, found = (np.ascontiguousarray(each) for each in np.nonzero(index))
    index[columns, found] = np.arange(len(columns))
    return index, columns, _DIGIT * (found + _FIRST)


def sums(table: Rows, labels: Codes, n_classes: int, *, pooled: bool) -> tuple[Exact, Exact, Exact]:
    """Of the rows without a missing value: how many, and Σx, of each class; and Σxxᵀ of all classes, or of each.

    Of the products the lower triangle is given, row by row: (cells,), or (classes, cells).
    """
    step = _step(table, n_classes, pooled)

    def work(lo: int, hi: int) -> tuple[Exact, Exact, Exact]:
        found = _Sums(n_classes, table.shape[1], pooled=pooled)
        for start in range(lo, hi, step):
            X = table.rows(start, min(start + step, hi))
            own = np.ascontiguousarray(labels[start : start + len(X)])
            places, ends = (np.arange(len(X)), [len(X)]) if pooled else _by_class(own, n_classes)
            for group, (first, last) in enumerate(pairwise([0, *ends])):
                if first < last and not found.add(X, own, places[first:last], group):
                    row, column = np.argwhere(np.isinf(X))[0].tolist()
                    raise moments.not_finite(table, start + row, column, X[row, column])
        incomplete, totals, squares = found.results()
        return Exact.counts(np.bincount(labels[lo:hi], minlength=n_classes) - incomplete), totals, squares

    parts = _over_rows(work, table)
    counts, totals, squares = (reduce(Exact.__add__, each) for each in zip(*parts))
    return counts, totals, _shaped(squares, pooled)


def weighted_products(table: Rows, labels: Codes, weights: Floats, n_classes: int, *, pooled: bool) -> Exact:
    """Σwxxᵀ, as :func:`sums` gives Σxxᵀ; no row may have a missing value.

    Where there are few different weights, as there are for classes that are balanced or rows that are repeated, the
    rows of each are added up without it, and the sums are multiplied: several times faster than w·x in digits.
    """
    groups, step = 1 if pooled else n_classes, _step(table, n_classes, pooled)
    different = np.unique(weights[: 1 << 12])
    if len(different) * groups <= _WEIGHTS:
        different = np.unique(weights)
    if len(different) * groups <= _WEIGHTS:
        own = np.searchsorted(different, weights).astype(np.int32)
        own += 0 if pooled else labels * np.int32(len(different))
        squares = sums(table, own, len(different) * groups, pooled=False)[2]
        each = [squares.pick(0, np.arange(w, squares.shape[0], len(different))) for w in range(len(different))]
        scaled = (part.scale(w) for part, w in zip(each, different.tolist()))
        return _shaped(reduce(Exact.__add__, scaled), pooled)

    def work(lo: int, hi: int) -> Exact:
        found = _Sums(n_classes, table.shape[1], pooled=pooled)
        for start in range(lo, hi, step):
            stop = min(start + step, hi)
            found.add_digits(table.rows(start, stop), labels[start:stop], weights[start:stop])
        return found.products.exact()

    return _shaped(reduce(Exact.__add__, _over_rows(work, table)), pooled)


def _by_class(labels: Codes, n_classes: int) -> tuple[Integers, list[int]]:
    """The places of the rows in the order of their class, and where each class ends there."""
    keys = labels.astype(np.int16) if n_classes < 2**15 else labels  # of 16 bits it is a radix sort
    return np.argsort(keys, kind="stable"), np.cumsum(np.bincount(labels, minlength=n_classes)).tolist()


def _step(table: Rows, n_classes: int, pooled: bool) -> int:
    """Rows that are asked for at a time; each class is to have some."""
    most = max(min(table.step, _ROOM // max(table.shape[1], 1)), 0 if pooled else 64 * n_classes)
    return max(_BLOCK, most // _BLOCK * _BLOCK)


def _over_rows(work: Callable[[int, int], T], table: Rows) -> list[T]:
    """BLAS on one thread while several of ours call it: both at once took twice as long."""
    n, d = table.shape
    parts = threads.split(n, threads.width(), max(_BLOCK, _CHUNK // max(d, 1))) or [(0, 0)]
    with threads.single_blas() if n * d >= _CHUNK else nullcontext():
        return threads.run([partial(work, lo, hi) for lo, hi in parts])


def _shaped(squares: Exact, pooled: bool) -> Exact:
    return Exact(squares.limbs[:, 0], squares.low) if pooled else squares
