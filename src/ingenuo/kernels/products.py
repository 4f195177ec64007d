"""Exact sums of x and xxᵀ over rows, nearly at the speed of BLAS: drives the loops over blocks and threads.

One product HᵀH of the slices side by side has the products of all of them, exactly; of three slices of few columns,
five smaller products have (see `squares`). Rows that need more than three slices, for a number in them is tiny, wait
until there are many and are cut into digits then, as rows with weights are. All is poured into limbs at absolute binary
positions, and so depends on no block, order or thread.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial, reduce
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.exact import LIMB, Exact
from ingenuo.kernels import moments, slices, squares, threads
from ingenuo.kernels.moments import Codes, Floats, Rows
from ingenuo.kernels.numbers import _by_class, _carry
from ingenuo.kernels.slices import DIGIT, FEW, FIRST, NEXT, PLACES, ROWS

Integers = NDArray[np.int64]
Slices = tuple[Floats, Integers, Integers]  # side by side; the column of each, and its binary position
T = TypeVar("T")

_HELD = 128  # blocks whose products, below 2^53, are added as int64 before they are poured out
_TILE = 256  # slices that are multiplied at a time
_WAITING = 1 << 19  # numbers that may wait to be cut into digits
_ROOM = 1 << 20  # numbers of digits at a time: 8 MiB
_CHUNK = 1 << 18  # numbers asked for at a time: 2 MiB
_WEIGHTS = 64  # different weights, times classes, whose rows are added up apart
NO_WEIGHTS: Floats = np.zeros(0)


class _Limbs:
    """Limbs that grow as they are needed."""

    def __init__(self, *shape: int) -> None:
        self.limbs = np.zeros((*shape, 0), np.int64)
        self.base = 0

    def reach(self, low: int, high: int) -> None:
        """Have room for whole numbers below 2^62 at positions low to high."""
        least, most = low // LIMB, (high + 62) // LIMB + 2
        now = self.limbs.shape[-1]
        if now:
            least, most = min(least, self.base), max(most, self.base + now)
        if now != most - least:
            wide = np.zeros((*self.limbs.shape[:-1], most - least), np.int64)
            offset = self.base - least if now else 0
            wide[..., offset : offset + now] = self.limbs
            self.limbs, self.base = wide, least

    def exact(self) -> Exact:
        """The sums."""
        if self.limbs.shape[-1] == 0:
            return Exact.zeros(self.limbs.shape[:-1])
        return Exact.canonical(np.ascontiguousarray(np.moveaxis(self.limbs, -1, 0)), self.base)


class _Sums:
    """Σ x of each class and Σ xxᵀ of each class, or of all: there is a group for each, or one."""

    def __init__(self, n_classes: int, d: int, *, pooled: bool) -> None:
        groups = 1 if pooled else n_classes
        self.n_classes, self.d, self.pooled = n_classes, d, pooled
        self.sums, self.products = _Limbs(n_classes, d), _Limbs(groups, d * (d + 1) // 2)
        self.deep_sums = Exact.zeros((n_classes * d,))  # of the rows that were cut into digits
        self.holes = np.zeros(n_classes, np.int64)  # rows that are not complete
        self.units, self.scales = np.zeros((groups, d), np.int64), np.ones((groups, d))
        self.held = np.zeros((3 * d, 3 * d) if 3 * d <= _TILE else (0, 0), np.int64)
        self.holding, self.blocks = 0, 0  # the group whose products are held, and how many blocks of it
        self.totals = np.zeros((n_classes, 3 * d))
        self.columns = np.tile(np.arange(d), 3)
        # Buffers of the blocks.
        self.slices, self.found = np.empty((ROWS, 3 * d)), np.empty(self.held.size)
        self.rest, self.squares, self.moved = np.empty(d), np.empty(d), np.empty(d, np.bool_)
        self.depth, self.deep = np.empty(ROWS, np.int64), np.empty(ROWS, np.int64)
        padded = squares.width(d) if len(self.held) else 0
        self.values = np.zeros((squares.POINTS, squares.ROWS, padded))
        self.value_products = np.zeros((squares.POINTS, padded, padded))
        self.value_sums = np.zeros((squares.POINTS, padded, padded), np.int64)
        self.waiting: list[tuple[Floats, Codes]] = []
        self.n_waiting = 0

    def add(self, X: Floats, labels: Codes, places: Integers, group: int) -> bool:
        """Add the rows at these places, at most 512 of them, to a group; False where a number is infinite."""
        given = X, places, self.scales[group], self.slices, self.rest, self.depth, self.squares, self.moved, self.deep
        depth, more, moved = slices._cut(*given)
        if depth == 0:
            if not self._refine(X, places, group):
                return False
            depth, more, moved = slices._cut(*given)
        if more < len(places):
            H = self.slices[: len(places), : depth * self.d]
            slices._add_slices(H, places, labels, self.totals)
            self._multiply(H, group)
        if more:
            rows = self.deep[:more]
            self.waiting.append((X[rows], labels[rows]))
            self.n_waiting += more * self.d
            if self.n_waiting > _WAITING:
                self._flush()
        return not moved or self._refine(X, places, group)

    def _refine(self, X: Floats, places: Integers, group: int) -> bool:
        """Give the columns that moved another unit, by what these rows have; False where a number is infinite."""
        self._empty_totals(group, self.moved)
        if self.holding == group:
            self._empty(self.moved)
        if not slices._choose(X, places, self.units[group], self.moved):
            return False
        self.scales[group] = np.ldexp(1.0, -self.units[group])
        return True

    def _positions(self, group: int) -> Integers:
        at = self.units[group]
        return np.concatenate([at, at - NEXT, at - 2 * NEXT])

    def _empty_totals(self, group: int, moved: NDArray[np.bool_]) -> None:
        """Pour out the sums of slices of a group, for some columns."""
        at, classes = self._positions(group), (0, self.n_classes) if self.pooled else (group, group + 1)
        self.sums.reach(int(at.min()), int(at.max()))
        slices._pour_totals(self.totals, at, moved, *classes, self.sums.limbs, self.sums.base)
        _carry(self.sums.limbs[slice(*classes)])

    def _multiply(self, H: Floats, group: int) -> None:
        if not len(self.held):
            self._pour((H, self.columns, self._positions(group)), None, group)
            return
        if self.holding != group or self.blocks == _HELD:
            self._empty(np.ones(self.d, np.bool_))
            self.blocks = 0
        self.holding = group
        self.blocks += 1
        if H.shape[1] < 3 * self.d:
            self._hold(H)
            return
        left = squares._square(H, self.d, self.values, self.value_products, self.value_sums)
        for lo in range(0, len(H), squares.ROWS):
            if left >> (lo // squares.ROWS) & 1:
                self._hold(H[lo : lo + squares.ROWS])
        if self.blocks % squares.HELD == 0:
            self._empty_values(np.ones(self.d, np.bool_))

    def _hold(self, H: Floats) -> None:
        width = H.shape[1]
        M = self.found[: width * width].reshape(width, width)
        np.matmul(H.T, H, out=M)  # NumPy knows this for symmetric: half the work
        slices._hold(M, self.held)

    def _empty(self, moved: NDArray[np.bool_]) -> None:
        """Pour out the products that are held, of some columns."""
        if self.blocks:
            at = self._positions(self.holding)
            self.products.reach(2 * int(at.min()), 2 * int(at.max()))
            limbs = self.products.limbs[self.holding]
            slices._pour_held(self.held, at, moved, limbs, self.products.base)
            _carry(limbs[np.newaxis])
            self._empty_values(moved)

    def _empty_values(self, moved: NDArray[np.bool_]) -> None:
        """The same for the products of what three slices have for values at five points."""
        units = self.units[self.holding]
        self.products.reach(2 * int(units.min()) - 4 * NEXT, 2 * int(units.max()))
        limbs = self.products.limbs[self.holding]
        squares._pour_squares(self.value_sums, units, moved, limbs, self.products.base)
        _carry(limbs[np.newaxis])

    def _pour(self, right: Slices, left: Slices | None, group: int) -> None:
        """Multiply slices of x by themselves, or those of w·x by those of x, and pour out the products."""
        H, columns, at = right
        G, left_columns, left_at = left or right
        self.products.reach(int(at.min() + left_at.min()), int(at.max() + left_at.max()))
        limbs = self.products.limbs[group]
        # A copy of each tile: with rows that lie 24 kB apart BLAS takes twice as long.
        rights = [np.ascontiguousarray(H[:, lo : lo + _TILE]) for lo in range(0, H.shape[1], _TILE)]
        lefts = [np.ascontiguousarray(G[:, lo : lo + _TILE]) for lo in range(0, G.shape[1], _TILE)] if left else rights
        for one, first in enumerate(lefts):
            a = slice(one * _TILE, (one + 1) * _TILE)
            for two, second in enumerate(rights if left else rights[: one + 1]):
                b = slice(two * _TILE, (two + 1) * _TILE)
                tiles = -1 if left else int(one == two)
                M = first.T @ second
                slices._pour_products(
                    M, left_columns[a], left_at[a], columns[b], at[b], tiles, limbs, self.products.base
                )
        _carry(limbs[np.newaxis])

    def _flush(self) -> None:
        """Cut the rows that wait into digits; those with a hole are left out."""
        if self.waiting:
            X, labels = (np.concatenate(each) for each in zip(*self.waiting))
            self.waiting, self.n_waiting = [], 0
            holes = np.isnan(X).any(axis=1)
            self.holes += np.bincount(labels[holes], minlength=self.n_classes)
            X, labels = X[~holes], labels[~holes]
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
            for lo in range(0, len(rows), FEW):
                self._digits(rows[lo : lo + FEW], own[lo : lo + FEW], group)

    def _digits(self, X: Floats, weights: Floats, group: int) -> None:
        places = [_places(X, NO_WEIGHTS), *([_places(X, weights)] if len(weights) else [])]
        if len(X) > 1 and max(len(columns) for _, columns, _ in places) * len(X) > _ROOM:
            half = len(X) // 2
            self._digits(X[:half], weights[:half], group)
            self._digits(X[half:], weights[half:], group)
            return
        found: list[Slices] = []
        for (index, columns, at), given in zip(places, (NO_WEIGHTS, weights)):
            H = np.zeros((len(X), len(columns)))
            slices._digits(X, given, index, H, True)
            found.append((H, columns, at))
        if all(len(columns) for _, columns, _ in found):
            self._pour(found[0], found[1] if len(weights) else None, group)

    def results(self) -> tuple[Integers, Exact, Exact]:
        """Incomplete rows of each class, Σx and Σxxᵀ."""
        self._flush()
        every = np.ones(self.d, np.bool_)
        for group in range(len(self.units)):
            self._empty_totals(group, every)
        self._empty(every)
        deep = Exact(self.deep_sums.limbs.reshape(-1, self.n_classes, self.d), self.deep_sums.low)
        return self.holes, deep + self.sums.exact(), self.products.exact()


def _places(X: Floats, weights: Floats) -> tuple[Integers, Integers, Integers]:
    """Where the columns have digits: the number of each among all, its column, and its binary position."""
    index = np.zeros((X.shape[1], PLACES), np.int64)
    slices._digits(X, weights, index, np.zeros((0, 0)), False)
    columns, found = np.nonzero(index)
    index[columns, found] = np.arange(len(columns))
    return index, columns, DIGIT * (found + FIRST)


def sums(table: Rows, labels: Codes, n_classes: int, *, pooled: bool) -> tuple[Exact, Exact, Exact]:
    """Of the rows without a hole: how many, and Σx, of each class; and Σxxᵀ of all classes, or of each.

    Of the products the lower triangle is given, row by row: (cells,), or (classes, cells).
    """
    step = _step(table, n_classes, pooled)

    def work(lo: int, hi: int) -> tuple[Exact, Exact, Exact]:
        found = _Sums(n_classes, table.shape[1], pooled=pooled)
        places, ends = np.arange(step), np.zeros(n_classes + 1, np.int64)
        for start in range(lo, hi, step):
            X = table.rows(start, min(start + step, hi))
            own = labels[start : start + len(X)]
            if pooled:
                ends[0] = len(X)
            else:
                _by_class(own, 0, len(X), places, ends)
            first = 0
            for group, last in enumerate(ends[: len(found.units)].tolist()):
                for block in range(first, last, ROWS):
                    if not found.add(X, own, places[block : min(block + ROWS, last)], group):
                        row, column = np.argwhere(np.isinf(X))[0].tolist()
                        raise moments.not_finite(table, start + row, column, X[row, column])
                first = last
        holes, totals, squares = found.results()
        return Exact.counts(np.bincount(labels[lo:hi], minlength=n_classes) - holes), totals, squares

    parts = _over_rows(work, table)
    counts, totals, squares = (reduce(Exact.__add__, each) for each in zip(*parts))
    return counts, totals, _shaped(squares, pooled)


def weighted_products(table: Rows, labels: Codes, weights: Floats, n_classes: int, *, pooled: bool) -> Exact:
    """Σwxxᵀ, as :func:`sums` gives Σxxᵀ; no row may have a hole.

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


def _step(table: Rows, n_classes: int, pooled: bool) -> int:
    return max(ROWS, _CHUNK // max(table.shape[1], 1), 0 if pooled else 64 * n_classes) // ROWS * ROWS


def _over_rows(work: Callable[[int, int], T], table: Rows) -> list[T]:
    """BLAS on one thread while several of ours call it: both at once took twice as long."""
    n, d = table.shape
    parts = threads.split(n, threads.width(), max(ROWS, _CHUNK // max(d, 1)))
    with threads.single_blas() if n * d >= _CHUNK else nullcontext():
        return threads.run([partial(work, lo, hi) for lo, hi in parts])


def _shaped(squares: Exact, pooled: bool) -> Exact:
    return Exact(squares.limbs[:, 0], squares.low) if pooled else squares
