"""Numbers as intervals: cut points chosen by what they tell of the class, or by equal shares of the rows.

A cut is worth its place where it shortens the description of the classes (Fayyad and Irani 1993): rows are cut in two
where the classes are told apart best, and each part again, as long as

    gain  >  (log₂(N - 1) + log₂(3^k - 2) - k·H + k₁·H₁ + k₂·H₂) / N

with N rows of k classes and entropy H, and k₁, H₁, k₂, H₂ of the two parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.exact import LIMB, Exact
from ingenuo.kernels import moments
from ingenuo.kernels.portable import log
from ingenuo.tally import Table, Tally

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

VALUES = 1 << 16  # the most values, or cells of values, that are counted of a column; a power of two
EXACT = 64  # bits: every value for itself
_MAGNITUDE = np.int64((1 << 63) - 1)
LN_2 = 0.6931471805599453
PARTS = 5  # equal shares, where there is no class to go by


@dataclass(frozen=True)
class Cuts:
    """The intervals of a column of numbers: up to the first point, above it up to the next, …, above the last.

    >>> cuts = Cuts((2.5, 4.75))
    >>> list(cuts.names)
    ['≤ 2.5', '(2.5, 4.75]', '> 4.75']
    >>> cuts.codes(np.array([2.5, 3.0, 9.0, np.nan])).tolist()
    [0, 1, 2, -1]
    """

    points: tuple[float, ...]

    def __post_init__(self) -> None:
        if any(not np.isfinite(p) for p in self.points) or any(a >= b for a, b in pairwise(self.points)):
            raise InputError(f"cut points must be finite and ascend, got {self.points}")

    @property
    def names(self) -> tuple[str, ...]:
        """What the intervals are called, in their order."""
        if not self.points:
            return ("any number",)
        shown = [f"{point:.6g}" for point in self.points]
        if len(set(shown)) < len(shown):
            shown = [repr(point) for point in self.points]
        between = [f"({a}, {b}]" for a, b in pairwise(shown)]
        return (f"≤ {shown[0]}", *between, f"> {shown[-1]}")

    def codes(self, values: Floats) -> NDArray[np.int32]:
        """The interval of each value; -1 where it is missing."""
        found = np.searchsorted(np.asarray(self.points), values, side="left").astype(np.int32)
        found[np.isnan(values)] = -1
        return found


def supervised(values: Floats, labels: NDArray[Any], n_classes: int, weights: Floats | None = None) -> Cuts:
    """The cuts that tell the classes apart, no more than are worth describing.

    >>> supervised(np.array([1.0, 2, 3, 11, 12, 13] * 5), np.array([0, 0, 0, 1, 1, 1] * 5), 2).points
    (7.0,)
    """
    return told_apart(ByValue.of(values, labels, n_classes, weights))


def told_apart(column: ByValue) -> Cuts:
    """The cuts that tell the classes apart, by how much of each class has each value."""
    if len(column.at) < 2:
        return Cuts(())
    counts = column.counts()
    below = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    found: list[int] = []
    waiting = [(0, len(counts))]
    while waiting:
        lo, hi = waiting.pop()
        at = _best_cut(below, lo, hi)
        if at is not None:
            found.append(at)
            waiting += [(lo, at), (at, hi)]
    return Cuts(_between(column, np.sort(np.array(found, np.intp))))


def equal_shares(values: Floats, parts: int = PARTS, weights: Floats | None = None) -> Cuts:
    """Cuts into parts of as nearly the same number of rows as the values allow.

    >>> equal_shares(np.arange(10.0), 5).points
    (1.5, 3.5, 5.5, 7.5)
    """
    column = ByValue.of(values, np.zeros(len(values), np.intp), 1, weights)
    if len(column.at) < 2:
        return Cuts(())
    below = np.cumsum(column.counts()[:, 0])
    wanted = below[-1] * np.arange(1, parts) / parts
    places = np.unique(np.clip(np.searchsorted(below, wanted * (1 - 1e-12)) + 1, 1, len(below) - 1))
    return Cuts(_between(column, places))


def _between(column: ByValue, places: NDArray[np.intp]) -> tuple[float, ...]:
    """Halfway between neighbours; the lower one, where doubles have nothing between."""
    low, high = column.highs[places - 1], column.lows[places]
    middle = low / 2 + high / 2
    return tuple(np.where((middle >= low) & (middle < high), middle, low).tolist())


def _best_cut(below: Floats, lo: int, hi: int) -> int | None:
    """Where to cut the distinct values lo..hi; None where no cut is worth it."""
    if hi - lo < 2:
        return None
    whole = below[hi] - below[lo]
    left = below[lo + 1 : hi] - below[lo]
    right = whole - left
    n_left, n_right = left.sum(axis=1), right.sum(axis=1)
    N = whole.sum()
    if N <= 1:
        return None
    h_left, h_right = _entropy(left, n_left), _entropy(right, n_right)
    mixed = (n_left * h_left + n_right * h_right) / N
    best = int(np.argmin(mixed))
    h = float(_entropy(whole[np.newaxis], np.array([N]))[0])
    k, k_left, k_right = (int((each > 0).sum()) for each in (whole, left[best], right[best]))
    change = _log2_of_choices(k) - k * h + k_left * h_left[best] + k_right * h_right[best]
    if h - mixed[best] <= (log(float(N) - 1) / LN_2 + change) / N:
        return None
    return lo + 1 + best


def _entropy(counts: Floats, totals: Floats) -> Floats:
    """In bits, of each row of counts."""
    shares = counts / np.maximum(totals, np.finfo(float).tiny)[:, np.newaxis]
    logs = log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=1) / LN_2)


def _log2_of_choices(k: int) -> float:
    """log₂(3^k - 2), which for many classes is beyond the doubles before the logarithm."""
    return float(log(3.0**k - 2) if k < 600 else k * log(3.0)) / LN_2


# How often each class has each value of a column: all that cut points are chosen by.
#
# Up to `VALUES` different values, each counts for itself. Where a column has more, neighbours are counted together in
# cells, whose ends are powers of two and binary fractions of them:
#
#     cell of x  =  ⌈place of x / 2^(64 - bits)⌉
#
# where the place of a double is the whole number that its bits are, with its sign. The first bits of a double are its
# exponent, so that cells are narrow where numbers are small. How many bits are looked at is a function of the set of
# values alone: few at first, then as many more as `VALUES` cells allow, until those would be two at most. So there are
# more than VALUES / 8 cells, and no more than VALUES, however the rows are cut into parts.


def places(values: Floats) -> Places:
    """Whole numbers in the order of the doubles; -0 has the place of 0.

    >>> places(np.array([-0.0, 5e-324, -5e-324])).tolist()
    [0, 1, -1]
    """
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    return np.where(bits < 0, -(bits & _MAGNITUDE), bits)


def numbers(at: Places) -> Floats:
    """The doubles at these places.

    >>> numbers(places(np.array([-2.5, 0.1]))).tolist()
    [-2.5, 0.1]
    """
    return np.copysign(np.abs(at).view(np.float64), at)


def cells(at: Places, bits: int) -> Places:
    """The cells of places, by so many of their bits; a cell has its upper end and not its lower.

    >>> cells(places(np.array([1.0, 1.25, 1.5, 1.75])), bits=13).tolist()
    [2046, 2047, 2047, 2048]
    """
    return -(-at >> (EXACT - bits))


def first_bits() -> int:
    """So many bits that there are VALUES / 8 cells at most, whatever the values."""
    return VALUES.bit_length() - 4


def finer(bits: int, n_cells: int) -> int:
    """How many bits to look at, where these give so many cells that are not empty; the same where they are enough.

    >>> finer(13, 100), finer(22, 20_000)
    (22, 22)
    """
    more = (VALUES // n_cells).bit_length() - 1 if n_cells else 0
    return bits + more if more > 2 else bits


def bits_for(at: Places) -> int:
    """How many bits of these different, ascending places are looked at."""
    if len(at) <= VALUES:
        return EXACT
    bits, wanted = 0, first_bits()
    while wanted != bits:
        bits = wanted
        wanted = finer(bits, 1 + int(np.count_nonzero(np.diff(cells(at, bits)))))
    return bits


@dataclass(frozen=True)
class ByValue:
    """The values of a column, ascending, or cells of them, and how much of each class has each."""

    at: Places  # of the values, or the cells
    bits: int
    sums: Exact  # values × classes

    @staticmethod
    def of(values: Floats, labels: NDArray[Any], n_classes: int, weights: Floats | None = None) -> ByValue:
        """The values of rows; NaN is none.

        >>> ByValue.of(np.array([2.5, 0.5, np.nan, 2.5]), np.array([0, 0, 0, 1]), 2).counts().tolist()
        [[1.0, 0.0], [1.0, 1.0]]
        """
        known = ~np.isnan(values)
        if not np.isfinite(values[known]).all():
            raise InputError("an infinite number has no interval; make it missing, or a large number")
        at, place = np.unique(places(values[known]), return_inverse=True)
        bits = bits_for(at)
        if bits < EXACT:
            at, joined = np.unique(cells(at, bits), return_inverse=True)
            place = joined[place]
        where = place * n_classes + labels[known]
        if weights is None:
            sums = Exact.counts(np.bincount(where, minlength=len(at) * n_classes))
        else:
            sums = moments.weights_by_cell(weights[known], where, len(at) * n_classes)
        return ByValue(at, bits, Exact(sums.limbs.reshape(len(sums.limbs), len(at), n_classes), sums.low))

    def joined(self) -> ByValue:
        """The same in cells, if there are too many values."""
        bits = bits_for(self.at) if self.bits == EXACT else self.bits
        if bits == self.bits:
            return self
        all_of_them = cells(self.at, bits)
        starts = np.flatnonzero(np.diff(all_of_them, prepend=all_of_them[0] - 1))
        # Limbs are below 2^39: as many as there are places for do not leave the 63 bits together.
        limbs = np.add.reduceat(self.sums.limbs, starts, axis=1)
        return ByValue(all_of_them[starts], bits, Exact.canonical(limbs, self.sums.low))

    @property
    def lows(self) -> Floats:
        """Of each value the value itself; of a cell the largest number below it."""
        return numbers(self.at if self.bits == EXACT else (self.at - 1) << (EXACT - self.bits))

    @property
    def highs(self) -> Floats:
        """The largest number that each value or cell has."""
        if self.bits == EXACT:
            return numbers(self.at)
        largest = np.int64(_MAGNITUDE) >> (EXACT - self.bits)  # beyond, there are no finite numbers
        return numbers(np.minimum(self.at, largest) << (EXACT - self.bits))

    def counts(self) -> Floats:
        """How much of each class has each value, of the classes that have any; values × classes."""
        found = np.zeros(self.sums.shape)
        for position in range(len(self.sums.limbs) - 1, -1, -1):
            found += np.ldexp(self.sums.limbs[position].astype(np.float64), LIMB * (self.sums.low + position))
        return found[:, found.any(axis=0)]


# Values as a tally, for columns whose rows lie in parts: first a glance, by which the bits are chosen, then the values.


def _bucket(at: Places) -> Places:
    """One of 2 · VALUES buckets for each place, as if thrown."""
    mixed = at.view(np.uint64)
    for shift in (32, 29):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(EXACT - VALUES.bit_length())).astype(np.int64)


def glance(column: str, values: Floats) -> dict[str, Table]:
    """How many values there may be: cells by few bits, and buckets, unless those show that there are too many.

    Values are never fewer than the buckets they fall into. Parts of the rows that have few values each may have many
    together, and then their buckets tell.
    """
    infinite = np.isinf(values)
    at = places(values[~infinite & ~np.isnan(values)])
    half = 1 << (first_bits() - 1)
    found = {f"first:{column}": _counted("cell", cells(at, first_bits()) + half, -half)}
    buckets = _counted("bucket", _bucket(at), 0)
    if len(buckets.axes[0]) > VALUES:
        found[f"many:{column}"] = Table.of({"all": [0]}, Exact.counts(np.array([len(at)])))
    else:
        found[f"bucket:{column}"] = buckets
    if infinite.any():
        found[f"infinite:{column}"] = Table.of({"all": [0]}, Exact.counts(np.array([infinite.sum()])))
    return found


def _counted(axis: str, at: Places, first: int) -> Table:
    """How often each place from 0 on is there; its label is so much more."""
    counts = np.bincount(at)
    there = np.flatnonzero(counts)
    return Table.of({axis: there + first}, Exact.counts(counts[there]))


def has_infinite(glanced: Tally, column: str) -> bool:
    """Whether any row has an infinite number."""
    return f"infinite:{column}" in glanced


def bits_by(glanced: Tally, column: str) -> int:
    """By how many bits to count the values at first."""
    if f"many:{column}" in glanced or len(glanced.labels(f"bucket:{column}", 0)) > VALUES:
        return finer(first_bits(), len(glanced.labels(f"first:{column}", 0)))
    return EXACT


def tallied(
    column: str, values: Floats, labels: NDArray[Any], n_classes: int, weights: Floats | None, bits: int
) -> dict[str, Table]:
    """The values of some rows by so many bits, a table for each class that has any."""
    known = np.flatnonzero(~np.isnan(values))
    known = known[np.argsort(labels[known], kind="stable")]
    of_classes = cells(places(values[known]), bits)
    ends = np.searchsorted(labels[known], np.arange(n_classes + 1))
    found = {}
    for k in np.flatnonzero(np.diff(ends)).tolist():
        mine = slice(ends[k], ends[k + 1])
        at, place = np.unique(of_classes[mine], return_inverse=True)
        if weights is None:
            sums = Exact.counts(np.bincount(place))
        else:
            sums = moments.weights_by_cell(weights[known[mine]], place.astype(np.int64), len(at))
        found[_name(column, k)] = Table.of({"cell": at}, sums)
    return found


def _name(column: str, k: int) -> str:
    return f"values:{k}:{column}"


def from_tally(tally: Tally, column: str, n_classes: int, bits: int) -> ByValue:
    """What `tallied` gave for all rows."""
    names = [_name(column, k) for k in range(n_classes)]
    at = np.unique(np.concatenate([tally.labels(name, 0).astype(np.int64) for name in names]))
    sums = Exact.zeros((len(at), n_classes))
    for k, name in enumerate(names):
        own = tally.over(name, at)
        assert isinstance(own, Exact)
        alone = np.zeros((len(own.limbs), len(at), n_classes), np.int64)
        alone[:, :, k] = own.limbs
        sums = sums + Exact(alone, own.low)
    return ByValue(at, bits, sums).joined()
