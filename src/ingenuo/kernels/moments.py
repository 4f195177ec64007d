"""From rows of numbers to exact sums of x, x² and xxᵀ per class, and to histograms, nearly as fast as reading.

How it is done is said in cpp/numbers.hpp and cpp/products.hpp. A sum is kept as 40-bit limbs at absolute binary
positions, so it cannot depend on order, blocks or threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial, reduce
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import call, check_codes, check_shape, threads
from ingenuo.kernels.counts import sort_by_class
from ingenuo.kernels.threads import over
from ingenuo.tally.exact import LIMB, Exact

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Integers = NDArray[np.int64]

_BLOCK = 512  # rows that are looked at together
_PIECE = 1 << 17  # numbers that are added up with weights at a time: 1 MiB
_FEW_ROWS = 1 << 12  # a thread has at least so many
REACH = 1000  # whole numbers that are counted one by one, as in numbers.hpp


class Rows(Protocol):
    """Rows of numbers, handed out as C-ordered doubles, without a copy where they already are."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    @property
    def step(self) -> int:
        """How many rows to read at a time: all where that costs no copy."""
        ...

    def rows(self, lo: int, hi: int) -> Floats:
        """Rows lo..hi."""
        ...

    def take(self, rows: NDArray[np.intp]) -> Any:
        """Some of the rows, in any order."""
        ...

    def place(self, row: int, column: int) -> str:
        """How a cell is called in a message."""
        ...


def blocks(table: Rows, lo: int, hi: int, step: int = 0) -> Iterator[tuple[int, Floats]]:
    """Rows lo..hi some at a time, and where they begin."""
    step = step or table.step
    for start in range(lo, hi, step):
        rows = table.rows(start, min(start + step, hi))
        check_shape((min(step, hi - start), table.shape[1]), rows)
        yield start, rows


def _check_labels(table: Rows, labels: Codes, n_classes: int, weights: Floats | None = None) -> None:
    check_shape(table.shape[:1], labels, weights)
    check_codes(n_classes, labels, 0)


def refuse_infinite(table: Rows, start: int, block: Floats, place: int) -> None:
    """Raise where a loop over a block has found an infinite value: it returns its place, or -1."""
    if place >= 0:
        row, column = divmod(place, block.shape[1])
        raise InputError(
            f"{table.place(start + row, column)}: {float(block[row, column])!r} is infinite; replace it by a finite "
            "number, or by NaN if it is missing"
        )


def refuse_infinities(table: Rows) -> None:
    """Raise for the first infinite value of a table."""
    for start, block in blocks(table, 0, table.shape[0]):
        bad = np.isinf(block)
        if bad.any():
            refuse_infinite(table, start, block, int(bad.argmax()))


class _Limbs:
    """Limbs of sums (of any shape) that grow as they are needed."""

    def __init__(self, *shape: int) -> None:
        self.limbs = np.zeros((*shape, 0), np.int64)
        self.base = 0

    def widen(self, first: int, end: int) -> None:
        """Have limbs from one position to another."""
        now = self.limbs.shape[-1]
        if now:
            first, end = min(first, self.base), max(end, self.base + now)
        if now != end - first:
            wide = np.zeros((*self.limbs.shape[:-1], end - first), np.int64)
            offset = self.base - first if now else 0
            wide[..., offset : offset + now] = self.limbs
            self.limbs, self.base = wide, first

    def reach(self, low: int, high: int) -> tuple[Integers, int]:
        """Have room for numbers below 2^62 at binary positions low to high: the limbs, and the first's position."""
        self.widen(low // LIMB, (high + 62) // LIMB + 2)
        return self.limbs, self.base

    def exact(self) -> Exact:
        """The sums."""
        if self.limbs.shape[-1] == 0:
            return Exact.zeros(self.limbs.shape[:-1])
        return Exact.canonical(np.ascontiguousarray(np.moveaxis(self.limbs, -1, 0)), self.base)


def moments(
    table: Rows, labels: Codes, n_classes: int, whole: NDArray[np.bool_] | None = None
) -> tuple[Integers, Exact, Exact]:
    """Missing values, Σx and Σx², each (classes, columns); `whole` marks the columns that have a whole number."""
    _check_labels(table, labels, n_classes)
    n, d = table.shape
    wide = max(d, 4)  # of the loop, which adds up to four columns together

    def work(lo: int, hi: int) -> tuple[Integers, Exact, Exact]:
        missing, sums, squares = np.zeros((n_classes, d), np.int64), _Limbs(n_classes, d), _Limbs(n_classes, d)
        window, place = np.array([1 << 20, -(1 << 20)] * 2, np.int64), np.array([-1])
        for start, block in blocks(table, lo, hi):
            done = 0
            while done < len(block):
                room = np.zeros(4 * _BLOCK + 16 * wide)
                more = np.zeros((7 + 6 * n_classes) * wide + n_classes + 1 + _BLOCK, np.int64)
                given = block, labels[start : start + len(block)], done, len(block), d, n_classes
                done = call.moments(*given, sums.limbs, squares.limbs, missing, window, place, room, more, whole)
                refuse_infinite(table, start, block, int(place[0]))
                if done < len(block):
                    sums.widen(*window[:2].tolist())
                    squares.widen(*window[2:].tolist())
        return missing, sums.exact(), squares.exact()

    missing, sums, squares = zip(*(over(n, work, _FEW_ROWS) or [work(0, 0)]))
    return sum(missing[1:], missing[0]), reduce(Exact.__add__, sums), reduce(Exact.__add__, squares)


def weighted_moments(
    table: Rows, labels: Codes, weights: Floats, n_classes: int, whole: NDArray[np.bool_] | None = None
) -> tuple[Exact, Exact, Exact]:
    """Σw over the values that are not missing, Σwx and Σwx², each (classes, columns); `whole` as in `moments`."""
    _check_labels(table, labels, n_classes, weights)
    n, d = table.shape

    def work(lo: int, hi: int) -> list[Exact]:
        total = [Exact.zeros((n_classes, d))] * 3
        for start, block in blocks(table, lo, hi, max(_BLOCK, _PIECE // max(d, 1))):
            own = slice(start, start + len(block))
            if whole is not None:
                whole[((np.abs(block) <= REACH) & (block == np.rint(block)))[weights[own] != 0].any(axis=0)] = True
            w_least, w_top = _exponents(weights[own])
            x_least, x_top = _exponents(block)
            found = [_Limbs(n_classes, d) for _ in range(3)]
            for m, each in enumerate(found):
                # A product of m doubles is a multiple of 2^(the sum of their exponents - 53m), and below 2^(that sum).
                each.reach(w_least + m * x_least - 53 * (m + 1), w_top + m * x_top)
            sizes, bases = np.array([(each.limbs.shape[-1], each.base) for each in found]).T.copy()
            given = block, labels[own], weights[own], len(block), d, n_classes, *(each.limbs for each in found)
            refuse_infinite(table, start, block, call.weighted_moments(*given, sizes, bases))
            total = [t + each.exact() for t, each in zip(total, found)]
        return total

    first, second, third = (reduce(Exact.__add__, each) for each in zip(*(over(n, work, _FEW_ROWS) or [work(0, 0)])))
    return first, second, third


def weights_by_cell(weights: Floats, cells: Integers, n_cells: int) -> Exact:
    """The exact sum of the weights that fall on each cell; a negative cell means none."""
    check_shape(weights.shape, cells)
    check_codes(n_cells, cells)
    least, top = _exponents(weights)
    found = _Limbs(n_cells)
    limbs, base = found.reach(least - 53, top)
    call.add_to_cells(weights, cells, len(weights), limbs, n_cells, limbs.shape[-1], base)
    return found.exact()


def _exponents(values: Floats) -> tuple[int, int]:
    """Binary exponents e (values below 2^e) of the smallest and the largest magnitude that is not zero."""
    magnitude = np.abs(values)
    kept = magnitude[(magnitude > 0) & np.isfinite(magnitude)]
    if kept.size == 0:
        return 0, 0
    return math.frexp(float(kept.min()))[1], math.frexp(float(kept.max()))[1]


# How often each class has each whole number that is not beyond REACH. That is a sum like all others, and of few cells.


def whole_numbers(
    table: Rows, labels: Codes, weights: Floats | None, n_classes: int, columns: Integers
) -> Iterator[tuple[Integers, Exact]]:
    """Of each of these columns, the whole numbers it has, and how often (classes × numbers)."""
    _check_labels(table, labels, n_classes, weights)
    size, n = 2 * REACH + 2, len(labels)  # the last of all others
    for some in np.array_split(columns, -(-4 * n_classes * size * len(columns) // _RING) or 1):

        def work(lo: int, hi: int, some: Integers = some) -> NDArray[np.int32]:
            counts = np.zeros((len(some), n_classes, size), np.int32)
            for start, X in blocks(table, lo, hi):
                own = labels[start : start + len(X)]
                call.count_whole(X, *X.shape, np.ascontiguousarray(some), len(some), own, n_classes, counts)
            return counts

        counted = np.sum(over(n, work, _FEW_ROWS) or [work(0, 0)], axis=0, dtype=np.int64)
        for column, counts in zip(some.tolist(), np.asarray(counted)):
            places = np.flatnonzero(counts[:, :-1].any(axis=0))
            if weights is None:
                yield places - REACH, Exact.counts(counts[:, places])
                continue
            x = np.concatenate([X[:, column] for _, X in blocks(table, 0, n)])
            known = (np.abs(x) <= REACH) & (x == np.rint(x)) & (weights != 0)
            at = np.searchsorted(places, np.where(known, x, 0).astype(np.int64) + REACH)
            cells = np.where(known, labels * len(places) + at, -1)
            sums = weights_by_cell(weights, cells, n_classes * len(places))
            yield places - REACH, Exact(sums.limbs.reshape(len(sums.limbs), n_classes, len(places)), sums.low)


# Histograms of columns, counted in one pass on a grid that coarsens as the range grows. Bin k of a column covers
# [k·2^e, (k+1)·2^e). The exponent e is the smallest for which the bins from the least to the largest value are at most
# BINS, and |x| < 2^(e + 50) for every value x: so it depends on nothing else. When a block of rows reaches farther, e
# grows and neighbouring bins are added. The counts lie in a ring, bin k at k mod BINS.

BINS = 2048
LEAST_EXPONENT, LARGEST_EXPONENT = -1074, 1015  # 2^-1074 is the least double, and 2^1025 the widest range
_RING = 1 << 25  # bytes of counts that a thread holds at most: beyond, the columns are counted group by group
_MOST_ROWS = 1 << 30  # counts of one pass are 32 bits wide


class Counted(NamedTuple):
    """The counts of one column: bin `first` + i of class k was seen counts[k, i] times."""

    exponent: int
    first: int
    counts: Exact  # (classes, bins)


def histograms(table: Rows, labels: Codes, n_classes: int) -> list[list[Counted | None]]:
    """The histograms of every column, in parts of the rows that are to be added; None where a column has no value."""
    _check_labels(table, labels, n_classes)
    n, d = table.shape
    parts = threads.split(n, max(1, min(threads.width(), n >> 12), -(-n // _MOST_ROWS)))
    group = max(1, _RING // (n_classes * BINS * 4))

    def count(lo: int, hi: int, c0: int, c1: int) -> list[Counted | None]:
        rings = np.zeros((c1 - c0, n_classes, BINS), np.int32)
        exponents = np.zeros(c1 - c0, np.int64)
        ranges = np.zeros((7, c1 - c0))  # the least and the largest values so far, and room for the loop
        ranges[0], ranges[1] = np.inf, -np.inf
        for start, block in blocks(table, lo, hi):
            given = block, labels[start : start + len(block)], *block.shape, c0, c1, n_classes
            refuse_infinite(table, start, block, call.count_bins(*given, rings, exponents, ranges))
        found: list[Counted | None] = []
        for ring, e, low, high in zip(rings, exponents.tolist(), *ranges[:2].tolist()):
            first, last = _bins(np.array([low, high]), e).tolist() if low <= high else (0, 0)
            counts = Exact.counts(ring[:, np.arange(first, last + 1) & (BINS - 1)])
            found.append(Counted(e, first, counts) if low <= high else None)
        return found

    groups = [(c0, min(c0 + group, d)) for c0 in range(0, d, group)]
    found = iter(threads.run([partial(count, *rows, *columns) for rows in parts for columns in groups]))
    return [[each for _ in groups for each in next(found)] for _ in parts]


def _bins(x: Floats, exponent: int) -> Integers:
    """floor(x / 2^exponent), right also where a tiny negative number underflows to zero."""
    with np.errstate(under="ignore"):
        bins = np.floor(np.ldexp(x, -exponent)).astype(np.int64)
    bins[(bins == 0) & (x < 0)] = -1
    return bins


def weighted_histograms(table: Rows, labels: Codes, weights: Floats, n_classes: int) -> list[Counted | None]:
    """The same with a weight per row, summed exactly; rows of weight zero are not there."""
    n, d = table.shape
    kept = np.flatnonzero(weights)
    codes, amounts = labels[kept].astype(np.int64), weights[kept]

    def column(j: int) -> Counted | None:
        x = np.concatenate([block[:, j] for _, block in blocks(table, 0, n)])[kept]
        infinite = np.flatnonzero(np.isinf(x))
        if len(infinite):
            row = int(kept[infinite[0]])
            refuse_infinite(table, row, table.rows(row, row + 1), j)
        there = ~np.isnan(x)
        if not there.any():
            return None
        x, own = x[there], codes[there]
        ends = np.array([x.min(), x.max()])
        exponent = max(LEAST_EXPONENT, int(np.frexp(np.abs(ends).max())[1]) - 50) if ends.any() else LEAST_EXPONENT
        while np.ptp(_bins(ends, exponent)) >= BINS:
            exponent += 1
        bins, (first, last) = _bins(x, exponent), _bins(ends, exponent).tolist()
        size = last - first + 1
        sums = weights_by_cell(amounts[there], own * size + (bins - first), n_classes * size)
        return Counted(exponent, first, Exact(sums.limbs.reshape(len(sums.limbs), n_classes, size), sums.low))

    return threads.run([partial(column, j) for j in range(d)])


# Σxxᵀ. Numbers are cut into slices whose products add without rounding (see cpp/products.hpp). Rows that need more than
# three slices, for a number in them is tiny, wait until there are many and are cut into digits then, as rows with
# weights are; their products go through BLAS. All is poured into limbs.

# As in products.hpp.
_ROWS, _PANEL, _POINTS, _NEXT = 128, 4, 5, 23
_DIGIT, _FIRST, _PLACES = 22, -110, 220
_DONE, _TOO_LARGE, _TOO_SMALL, _EMPTY_FIRST, _MANY_DEEP = range(5)
_AT, _ROW, _DEEP, _CHOSEN, _N_POINTS, _N_BLOCKS, _AT_ONCE = range(7)  # what is kept of a group

_AIM = 47  # a unit is chosen for slices whose squares add up to less than 2^47 in a block
_FEW = 256  # rows cut into digits together: products of two digits then add up to at most 2^52
_TILE = 256  # digits that are multiplied at a time
_WAITING = 1 << 19  # numbers that may wait to be cut into digits
_ROOM = 1 << 20  # numbers of digits at a time: 8 MiB
_CHUNK = 1 << 18  # numbers that a thread is worth its start for
_WEIGHTS = 64  # different weights, times classes, whose rows are added up separately

Digits = tuple[Floats, Integers, Integers]  # side by side; the column of each, and its binary position


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
        self.progress[:, _AT_ONCE] = _ROWS
        self.values = np.empty(_POINTS * panels * (_ROWS * _PANEL + 8))
        self.moved, self.deep = np.zeros(d, np.uint8), np.empty(1 << 12, np.int64)
        self.waiting: list[tuple[Floats, Codes]] = []
        self.n_waiting = 0

    def add(self, X: Floats, labels: Codes, places: Integers, group: int) -> bool:
        """Add the rows at these places to a group; False where a number is infinite."""
        progress, last = self.progress[group], len(places)
        progress[_AT] = 0
        while True:
            stop = call.add_products(
                X, self.d, labels, places, last, self.scales[group], self.totals, self.held[group],
                self.values, self.moved, self.deep, len(self.deep), progress,
            )  # fmt: skip
            if progress[_DEEP]:
                rows = self.deep[: progress[_DEEP]]
                self.waiting.append((X[rows], labels[rows]))
                self.n_waiting += len(rows) * self.d
                progress[_DEEP] = 0
                if self.n_waiting > _WAITING:
                    self._flush()
            if stop == _DONE:
                return True
            if stop == _EMPTY_FIRST:
                self._empty(group, np.ones(self.d, np.uint8))
            if stop in (_TOO_LARGE, _TOO_SMALL):
                self._empty(group, self.moved)
                if stop == _TOO_LARGE and progress[_CHOSEN]:
                    self.units[group] += self.moved  # numbers of a column that is constant, say, may all round one way
                elif not self._choose_units(X[places[progress[_ROW] : progress[_ROW] + _ROWS]], group):
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
        extent = np.frexp((shares * shares).sum(axis=0) * (_ROWS / len(X)))[1]
        # Below 2^-920 a scale would be no double; of numbers that are so small the digits are taken.
        self.units[group, moved] = np.maximum(exponent - (_AIM - extent) // 2, -920)
        return True

    def _empty(self, group: int, moved: NDArray[np.uint8]) -> None:
        """Pour out the products that are held, and the sums of slices, of some columns of a group."""
        units, progress = self.units[group], self.progress[group]
        least, most = int(units.min()), int(units.max())
        limbs, base = self.products.reach(2 * least - 4 * _NEXT, 2 * most)
        sums, sums_base = self.sums.reach(least - 2 * _NEXT, most)
        classes = (0, self.n_classes) if self.pooled else (group, group + 1)
        call.pour_products(
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
                M = first.T @ second
                places = left_columns[a], left_at[a], columns[b], at[b], -1 if left else one == two
                call.pour_tile(M, *M.shape, *places, limbs[group], self.d, base, limbs.shape[-1])

    def _flush(self) -> None:
        """Cut the rows that wait into digits; those with a missing value are left out."""
        if self.waiting:
            X, labels = (np.concatenate(each) for each in zip(*self.waiting))
            self.waiting, self.n_waiting = [], 0
            missing = np.isnan(X).any(axis=1)
            self.incomplete += np.bincount(labels[missing], minlength=self.n_classes)
            X, labels = X[~missing], labels[~missing]
            cells = labels[:, np.newaxis].astype(np.int64) * self.d + np.arange(self.d)
            self.deep_sums += weights_by_cell(X.ravel(), cells.ravel(), self.n_classes * self.d)
            self.add_digits(X, labels, None)

    def add_digits(self, X: Floats, labels: Codes, weights: Floats | None) -> None:
        """Add rows by as many digits as they have."""
        for group in [0] if self.pooled else np.unique(labels).tolist():
            mine = slice(None) if self.pooled else labels == group
            rows, own = X[mine], None if weights is None else weights[mine]
            for lo in range(0, len(rows), _FEW):
                self._digits(rows[lo : lo + _FEW], None if own is None else own[lo : lo + _FEW], group)

    def _digits(self, X: Floats, weights: Floats | None, group: int) -> None:
        given = [None] if weights is None else [None, weights]
        places = [_places(X, each) for each in given]
        if len(X) > 1 and max(len(columns) for _, columns, _ in places) * len(X) > _ROOM:
            for half in (slice(len(X) // 2), slice(len(X) // 2, None)):
                self._digits(X[half], None if weights is None else weights[half], group)
            return
        found: list[Digits] = []
        for (index, columns, at), each in zip(places, given):
            H = np.zeros((len(X), len(columns)))
            call.cut_digits(X, *X.shape, each, index, H, H.shape[1])
            found.append((H, columns, at))
        if all(len(columns) for _, columns, _ in found):
            self._pour(found[0], None if weights is None else found[1], group)

    def results(self) -> tuple[Integers, Exact, Exact]:
        """Incomplete rows of each class, Σx and Σxxᵀ."""
        self._flush()
        for group in range(len(self.units) if self.d else 0):
            self._empty(group, np.ones(self.d, np.uint8))
        limbs, low = self.deep_sums.limbs, self.deep_sums.low
        deep = Exact(limbs.reshape(len(limbs), self.n_classes, self.d), low)
        return self.incomplete, deep + self.sums.exact(), self.products.exact()


def _places(X: Floats, weights: Floats | None) -> tuple[Integers, Integers, Integers]:
    """Where the columns have digits: the number of each among all, its column, and its binary position."""
    index = np.zeros((X.shape[1], _PLACES), np.int64)
    call.cut_digits(X, *X.shape, weights, index, None, 0)
    columns, found = (np.ascontiguousarray(each) for each in np.nonzero(index))
    index[columns, found] = np.arange(len(columns))
    return index, columns, _DIGIT * (found + _FIRST)


def products(
    table: Rows, labels: Codes, n_classes: int, weights: Floats | None = None, *, pooled: bool
) -> tuple[Exact, Exact, Exact]:
    """Of the rows without a missing value: how many, and Σx, of each class; and Σxxᵀ of all classes, or of each.

    Of the products the lower triangle is given, row by row: (cells,), or (classes, cells). With weights (when no row
    may have a missing value) these are Σw, Σwx and Σwxxᵀ.
    """
    _check_labels(table, labels, n_classes, weights)
    if weights is not None:
        by_column, sums, _ = weighted_moments(table, labels, weights, n_classes)
        counts = Exact.canonical(by_column.limbs[..., 0].copy(), by_column.low)  # as many in any column
        return counts, sums, _weighted_products(table, labels, weights, n_classes, pooled)

    def work(lo: int, hi: int) -> tuple[Exact, Exact, Exact]:
        found = _Sums(n_classes, table.shape[1], pooled=pooled)
        for start, X in blocks(table, lo, hi, _step(table, n_classes, pooled)):
            own = np.ascontiguousarray(labels[start : start + len(X)])
            places, ends = (np.arange(len(X)), [len(X)]) if pooled else sort_by_class(own, n_classes)
            for group, (first, last) in enumerate(pairwise([0, *ends])):
                if first < last and not found.add(X, own, places[first:last], group):
                    refuse_infinite(table, start, X, int(np.isinf(X).argmax()))
        incomplete, totals, squares = found.results()
        return Exact.counts(np.bincount(labels[lo:hi], minlength=n_classes) - incomplete), totals, squares

    n, d = table.shape
    # BLAS on one thread while several of ours call it: both at once took twice as long.
    with threads.single_blas() if n * d >= _CHUNK else nullcontext():
        parts = over(n, work, max(_ROWS, _CHUNK // max(d, 1))) or [work(0, 0)]
    counts, totals, squares = (reduce(Exact.__add__, each) for each in zip(*parts))
    return counts, totals, Exact(squares.limbs[:, 0], squares.low) if pooled else squares


def _weighted_products(table: Rows, labels: Codes, weights: Floats, n_classes: int, pooled: bool) -> Exact:
    """Σwxxᵀ. Where there are few different weights, as of balanced classes or repeated rows, the rows of each are
    added up without it, and the sums are multiplied: several times faster than w·x in digits.
    """
    groups, different = 1 if pooled else n_classes, np.unique(weights[: 1 << 12])
    if len(different) * groups <= _WEIGHTS:
        different = np.unique(weights)
    if len(different) * groups <= _WEIGHTS:
        own = np.searchsorted(different, weights).astype(np.int32)
        own += 0 if pooled else labels * np.int32(len(different))
        squares = products(table, own, len(different) * groups, pooled=False)[2]
        each = [squares.pick(0, np.arange(w, squares.shape[0], len(different))) for w in range(len(different))]
        total = reduce(Exact.__add__, (part.scale(w) for part, w in zip(each, different.tolist())))
    else:

        def work(lo: int, hi: int) -> Exact:
            found = _Sums(n_classes, table.shape[1], pooled=pooled)
            for start, X in blocks(table, lo, hi, _step(table, n_classes, pooled)):
                found.add_digits(X, labels[start : start + len(X)], weights[start : start + len(X)])
            return found.products.exact()

        n, d = table.shape
        with threads.single_blas() if n * d >= _CHUNK else nullcontext():
            parts = over(n, work, max(_ROWS, _CHUNK // max(d, 1)))
        total = reduce(Exact.__add__, parts)
    return Exact(total.limbs[:, 0], total.low) if pooled else total


def _step(table: Rows, n_classes: int, pooled: bool) -> int:
    """Rows that are read at a time; each class is to have some."""
    most = max(min(table.step, _ROOM // max(table.shape[1], 1)), 0 if pooled else 64 * n_classes)
    return max(_ROWS, most // _ROWS * _ROWS)
