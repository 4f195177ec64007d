"""Numbers in intervals: how often each class has each value, cut points, and the bins of a target.

A cut is worth its place where it shortens the description of the classes (Fayyad and Irani 1993): rows are cut in two
where the classes are told apart best, and each part again, as long as

    gain  >  (log₂(N - 1) + log₂(3^k - 2) - k·H + k₁·H₁ + k₂·H₂) / N

with N rows of k classes and entropy H, and k₁, H₁, k₂, H₂ of the two parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.kernels import moments
from ingenuo.kernels.portable import log
from ingenuo.tally.exact import LIMB, Exact
from ingenuo.tally.labels import Labels, objects
from ingenuo.tally.tally import Table, Tally

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


def mdl_cuts(column: ByValue) -> Cuts:
    """The cuts that tell the classes apart, no more than are worth describing.

    >>> values, labels = np.array([1.0, 2, 3, 11, 12, 13] * 5), np.array([0, 0, 0, 1, 1, 1] * 5)
    >>> mdl_cuts(ByValue.of(values, labels, 2)).points
    (7.0,)
    """
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


def equal_shares(column: ByValue, parts: int = PARTS) -> Cuts:
    """Cuts into parts of as nearly the same number of rows as the values allow.

    >>> equal_shares(ByValue.of(np.arange(10.0), np.zeros(10, int), 1), 5).points
    (1.5, 3.5, 5.5, 7.5)
    """
    if len(column.at) < 2:
        return Cuts(())
    below = np.cumsum(column.counts().sum(axis=1))
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


# How a target of numbers is cut into bins: of equal frequency, of equal width, or by minimum description length.

BinPlaces = NDArray[np.intp]

# Candidates for the cuts of minimum description length: at most so many cells, and so many rows in each. Their search
# takes the square of the cells for each bin: 0.05 s for 64 bins. Cells of fewer rows would let two targets that happen
# to lie close together pass for a peak.
CELLS = 256
ROWS_OF_A_CELL = 5


@dataclass(frozen=True, eq=False)
class TargetBins:
    """Neighbouring bins, by their edges.

    >>> bins = TargetBins(np.array([25.0, 40.0, 62.5]))
    >>> bins.names, bins.codes(np.array([39.9, 40.0, 1000.0])).tolist()
    (['[25, 40)', '[40, 62.5]'], [0, 1, 1])
    """

    edges: Floats  # one more than bins, ascending

    @staticmethod
    def of_labels(labels: Labels) -> TargetBins:
        """The bins that have these labels; an error unless each begins where the one before it ends."""
        if len(labels) == 0:
            raise InputError("the target has no bins")
        pairs = [(float(low), float(high)) for low, high in labels.tolist()]
        edges = np.array([low for low, _ in pairs] + [high for _, high in pairs[-1:]])
        ascending = (edges[1:-1] > edges[:-2]).all() and edges[-1] >= edges[-2]
        together = all(one[1] == two[0] for one, two in pairwise(pairs))
        if not np.isfinite(edges).all() or not ascending or not together:
            raise InputError("the bins of the target are not in a row")
        return TargetBins(edges)

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __str__(self) -> str:
        return (
            f"{len(self)} bins, {self.names[0]} to {self.names[-1]}" if len(self) > 1 else f"one bin, {self.names[0]}"
        )

    @cached_property
    def labels(self) -> Labels:
        """(low, high) of each bin."""
        return objects(list(pairwise(self.edges.tolist())))

    @cached_property
    def names(self) -> list[str]:
        """The bins as a person writes them, with as many digits as tell them apart."""
        digits = next((d for d in range(4, 17) if len({f"{edge:.{d}g}" for edge in self.edges[:-1]}) == len(self)), 17)
        texts = [f"{edge:.{digits}g}" for edge in self.edges]
        ends = [")"] * (len(self) - 1) + ["]"]
        return [f"[{low}, {high}{end}" for (low, high), end in zip(pairwise(texts), ends)]

    def codes(self, targets: Floats) -> NDArray[np.int32]:
        """The place of the bin that each target falls into."""
        return np.searchsorted(self.edges[1:-1], targets, side="right").astype(np.int32)


def cut(targets: Floats, weights: Floats | None, bins: int, binning: str) -> TargetBins:
    """Bins for these targets; of as few different targets as bins, each has its own.

    >>> cut(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 9.0]), None, 2, "equal-frequency").names
    ['[1, 3)', '[3, 9]']
    >>> cut(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 9.0]), None, 2, "equal-width").names
    ['[1, 5)', '[5, 9]']
    """
    values, mass = _distinct(targets, weights)
    return TargetBins(RULES[binning](values, mass, bins))


def edges_of(given: Any) -> Floats:
    """Edges as a user gives them, checked.

    >>> edges_of([0, 10, 100]).tolist()
    [0.0, 10.0, 100.0]
    """
    try:
        edges = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"bins must be a whole number, or numbers as the edges of the bins, got {given!r}") from None
    if edges.ndim != 1 or len(edges) < 2:
        raise InputError(f"the edges of bins are two numbers at least, in one list, got {given!r}")
    bad = ~np.isfinite(edges[1:]) | (edges[1:] <= edges[:-1])
    if bad.any() or not np.isfinite(edges[0]):
        at = int(np.argmax(bad)) if np.isfinite(edges[0]) else -1
        raise InputError(
            f"the edges of bins must be finite and ascend, got {edges[at + 1]:g}"
            + (f" after {edges[at]:g}" if at >= 0 else " first")
        )
    return edges


def _distinct(targets: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """The different targets, ascending, and the weight of each."""
    if weights is None:
        ordered = np.sort(targets)
    else:
        targets, weights = targets[weights > 0], weights[weights > 0]
        order = np.argsort(targets, kind="stable")
        ordered, weights = targets[order], weights[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if weights is None:
        return ordered[starts], np.diff(starts, append=len(ordered)).astype(np.float64)
    return ordered[starts], np.add.reduceat(weights, starts)


def _at(values: Floats, places: BinPlaces) -> Floats:
    """Edges with a cut just below each of these values: the value begins the next bin."""
    return np.concatenate([values[:1], values[places], values[-1:]])


def _equal_frequency(values: Floats, mass: Floats, bins: int) -> Floats:
    return _at(values, _quantiles(mass, bins))


def _quantiles(mass: Floats, bins: int) -> BinPlaces:
    """Where to cut between values so that the parts weigh as nearly the same as these can."""
    if len(mass) <= bins:
        return np.arange(1, len(mass))
    below = np.cumsum(mass)
    wanted = below[-1] * np.arange(1, bins) / bins
    above = np.searchsorted(below[:-1], wanted).clip(1, len(mass) - 2)
    nearer = wanted - below[above - 1] <= below[above] - wanted
    return np.unique(np.where(nearer, above, above + 1))


def _equal_width(values: Floats, mass: Floats, bins: int) -> Floats:
    low, high = values[0], values[-1]
    if low == high:
        return np.array([low, high])
    share = np.arange(bins + 1) / bins
    edges = low * (1 - share) + high * share  # the difference of the ends could be beyond the doubles
    edges[0], edges[-1] = low, high
    return np.unique(edges)  # a range of a few doubles has room for as many bins only


def _shortest_description(values: Floats, mass: Floats, bins: int) -> Floats:
    """The histogram that describes the targets in the fewest bits, by normalised maximum likelihood.

    With K bins of n_k rows and widths L_k, cut at K - 1 of C candidates (Kontkanen and Myllymäki 2007), that is

        - Σ n_k log(n_k / (n L_k))  +  log R(K, n)  +  log binomial(C, K - 1)

    where R is what being free to choose K shares costs. The best places for every K come by dynamic programming.
    """
    if len(values) == 1:
        return _at(values, np.zeros(0, np.intp))
    cells = int(np.clip(mass.sum() // ROWS_OF_A_CELL, 1, CELLS))
    places = _quantiles(mass, cells)
    below = np.concatenate([[0.0], np.cumsum(mass)])[np.concatenate([[0], places, [len(values)]])]
    bounds = _bounds(values, places)
    most = min(bins, len(places) + 1)
    lengths, last = _best_histograms(below, bounds, most)
    choices = np.arange(most)
    candidates = len(places)
    lengths += log_complexity(most, float(below[-1])) + _log_binomial(candidates, choices)
    cuts: list[int] = []
    at = candidates + 1
    for k in range(int(np.argmin(lengths)), 0, -1):
        at = int(last[k, at])
        cuts.append(int(places[at - 1]))
    return _at(values, np.array(cuts[::-1], np.intp))


def _bounds(values: Floats, places: BinPlaces) -> Floats:
    """The bounds of the cells in a scale from 0 to 1: halfway between values, and half a step beyond the ends."""
    scaled = values / np.abs(values).max()
    first, last = scaled[1] - scaled[0], scaled[-1] - scaled[-2]
    inner = (scaled[places - 1] + scaled[places]) / 2
    bounds = np.concatenate([[scaled[0] - first / 2], inner, [scaled[-1] + last / 2]])
    return np.asarray((bounds - bounds[0]) / (bounds[-1] - bounds[0]))


def _best_histograms(below: Floats, bounds: Floats, most: int) -> tuple[Floats, NDArray[np.intp]]:
    """The least -log likelihood with 1..most bins, and where the last bin begins, for each number and end."""
    rows, widths = below[np.newaxis] - below[:, np.newaxis], bounds[np.newaxis] - bounds[:, np.newaxis]
    costs = np.full(rows.shape, np.inf)
    upper = np.triu_indices(len(below), 1)
    n, width = rows[upper], np.maximum(widths[upper], np.finfo(float).tiny)
    costs[upper] = -n * (np.log(n / below[-1]) - np.log(width))
    best = costs[0]
    lengths, last = [best[-1]], np.zeros((most, len(below)), np.intp)
    for k in range(1, most):
        totals = best[:, np.newaxis] + costs
        last[k] = totals.argmin(axis=0)
        best = totals.min(axis=0)
        lengths.append(best[-1])
    return np.array(lengths), last


def log_complexity(most: int, n: float) -> Floats:
    """log R(K, n) for K = 1..most: the parametric complexity of a multinomial of K values and n rows.

    R(1) = 1, R(2) = Σ_i n(n-1)…(n-i+1) / n^i, of which some 9√n terms matter, and R(K+2) = R(K+1) + n/K R(K)
    (Mononen and Myllymäki 2008).

    >>> np.exp(log_complexity(3, 2)).round(6).tolist()
    [1.0, 2.5, 4.5]
    """
    terms = np.cumprod(np.maximum(1 - np.arange(int(9 * np.sqrt(n)) + 2) / n, 0)) if n > 0 else np.zeros(0)
    logs = [0.0, float(np.log1p(terms.sum()))]
    for k in range(1, most - 1):
        logs.append(float(np.logaddexp(logs[-1], np.log(n / k) + logs[-2])))
    return np.array(logs[:most])


def _log_binomial(n: int, k: Any) -> Any:
    from scipy.special import gammaln

    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


RULES: dict[str, Callable[[Floats, Floats, int], Floats]] = {
    "equal-frequency": _equal_frequency,
    "equal-width": _equal_width,
    "mdl": _shortest_description,
}
