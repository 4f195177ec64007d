"""Numbers in intervals: how often each class has each value, cut points, and the bins of a target.

A cut is worth its place where it shortens the description of the classes (Fayyad and Irani 1993): rows are cut in two
where the classes differ most, and each part again, as long as
gain > (log₂(N - 1) + log₂(3^k - 2) - k·H + k₁·H₁ + k₂·H₂) / N, with N rows of k classes and entropy H.
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
from ingenuo.families.family import count_cells
from ingenuo.kernels.portable import log
from ingenuo.language import say
from ingenuo.tally.exact import LIMB, Exact
from ingenuo.tally.labels import Labels, objects
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

VALUES = 1 << 16  # the most values, or cells of values, that are counted of a column; a power of two
EXACT = 64  # bits: every value for itself
_MAGNITUDE = np.int64((1 << 63) - 1)
_TINY = np.finfo(float).tiny
LN_2 = 0.6931471805599453
PARTS = 5  # equal shares, where there is no class to go by


@dataclass(frozen=True)
class Cuts:
    """The intervals of a column of numbers: up to the first point, above it up to the next, …, above the last."""

    points: tuple[float, ...]

    def __post_init__(self) -> None:
        if any(not np.isfinite(p) for p in self.points) or any(a >= b for a, b in pairwise(self.points)):
            raise InputError(f"cut points must be finite and ascend, got {self.points}")

    @property
    def names(self) -> tuple[str, ...]:
        """What the intervals are called, in their order."""
        if not self.points:
            return (say("any number"),)
        shown = [f"{point:.6g}" for point in self.points]
        if len(set(shown)) < len(shown):
            shown = [repr(point) for point in self.points]
        return (f"≤ {shown[0]}", *(f"({a}, {b}]" for a, b in pairwise(shown)), f"> {shown[-1]}")

    def codes(self, values: Floats) -> NDArray[np.int32]:
        """The interval of each value; -1 where it is missing."""
        found = np.searchsorted(np.asarray(self.points), values, side="left").astype(np.int32)
        found[np.isnan(values)] = -1
        return found


def mdl_cuts(column: ByValue) -> Cuts:
    """The cuts that tell the classes apart, no more than are worth describing."""
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
    return column.cut_before(np.sort(np.array(found, np.intp)))


def equal_shares(column: ByValue, parts: int = PARTS) -> Cuts:
    """Cuts into parts of as nearly the same number of rows as the values allow."""
    if len(column.at) < 2:
        return Cuts(())
    below = np.cumsum(column.counts().sum(axis=1))
    wanted = below[-1] * np.arange(1, parts) / parts
    return column.cut_before(np.unique(np.clip(np.searchsorted(below, wanted * (1 - 1e-12)) + 1, 1, len(below) - 1)))


def tenths(column: ByValue) -> Cuts:
    """Cuts into ten parts of as many rows each, as nearly as values allow; of ten values at most each is a part."""
    n = len(column.at)
    return column.cut_before(np.arange(1, n)) if 1 < n <= 10 else equal_shares(column, 10)


def _best_cut(below: Floats, lo: int, hi: int) -> int | None:
    """Where to cut the distinct values lo..hi; None where no cut is worth it."""
    whole = below[hi] - below[lo]
    N = whole.sum()
    if hi - lo < 2 or N <= 1:
        return None
    left = below[lo + 1 : hi] - below[lo]
    right = whole - left
    n_left, n_right = left.sum(axis=1), right.sum(axis=1)
    h_left, h_right = _entropy(left, n_left), _entropy(right, n_right)
    mixed = (n_left * h_left + n_right * h_right) / N
    best = int(np.argmin(mixed))
    h = float(_entropy(whole[np.newaxis], np.array([N]))[0])
    k, k_left, k_right = (int((each > 0).sum()) for each in (whole, left[best], right[best]))
    choices = log(3.0**k - 2) if k < 600 else k * log(3.0)  # of many classes, 3^k is beyond the doubles
    change = float(choices) / LN_2 - k * h + k_left * h_left[best] + k_right * h_right[best]
    return None if h - mixed[best] <= (log(float(N) - 1) / LN_2 + change) / N else lo + 1 + best


def _entropy(counts: Floats, totals: Floats) -> Floats:
    """In bits, of each row of counts."""
    shares = counts / np.maximum(totals, _TINY)[:, np.newaxis]
    return np.asarray(-(shares * log(np.where(shares > 0, shares, 1.0))).sum(axis=1) / LN_2)


# How often each class has each value of a column: all that cut points are chosen by.
#
# Up to `VALUES` different values, each counts for itself. Of more, neighbours are counted together in cells:
#
#     cell of x  =  ⌈place of x / 2^(64 - bits)⌉        the place of a double: the whole number that its bits are
#
# The first bits of a double are its exponent, so cells are narrow where numbers are small. How many bits are looked at
# is a function of the set of values alone: few at first, then as many more as `VALUES` cells allow, until those would
# be two at most. So there are more than VALUES / 8 cells, and no more than VALUES, whatever the parts of the rows.


def places(values: Floats) -> Places:
    """Whole numbers in the order of the doubles; -0 has the place of 0."""
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    return np.where(bits < 0, -(bits & _MAGNITUDE), bits)


def _numbers(at: Places) -> Floats:
    """The doubles at these places."""
    return np.copysign(np.abs(at).view(np.float64), at)


def cells(at: Places, bits: int) -> Places:
    """The cells of places, by so many of their bits; a cell has its upper end and not its lower."""
    return -(-at >> (EXACT - bits))


def _first_bits() -> int:
    """So many bits that there are VALUES / 8 cells at most, whatever the values."""
    return VALUES.bit_length() - 4


def finer(bits: int, n_cells: int) -> int:
    """How many bits to look at, where these give so many cells that are not empty; the same where they are enough."""
    more = (VALUES // n_cells).bit_length() - 1 if n_cells else 0
    return bits + more if more > 2 and bits < EXACT else bits


def _bits_for(at: Places) -> int:
    """How many bits of these different, ascending places are looked at."""
    if len(at) <= VALUES:
        return EXACT
    bits, wanted = 0, _first_bits()
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
        """The values of rows; NaN is none."""
        known = ~np.isnan(values)
        at, place = np.unique(places(values[known]), return_inverse=True)
        bits = _bits_for(at)
        if bits < EXACT:
            at, joined = np.unique(cells(at, bits), return_inverse=True)
            place = joined[place]
        weights = None if weights is None else weights[known]
        sums = count_cells(place * n_classes + labels[known], len(at) * n_classes, weights)
        return ByValue(at, bits, Exact(sums.limbs.reshape(len(sums.limbs), len(at), n_classes), sums.low))

    def join_values(self) -> ByValue:
        """The same in cells, if there are too many values."""
        bits = _bits_for(self.at) if self.bits == EXACT else EXACT
        if bits == EXACT:
            return self
        joined = cells(self.at, bits)
        starts = np.flatnonzero(np.diff(joined, prepend=joined[0] - 1))
        # Limbs are below 2^39: as many as there are places for do not leave the 63 bits together.
        limbs = np.add.reduceat(self.sums.limbs, starts, axis=1)
        return ByValue(joined[starts], bits, Exact.canonical(limbs, self.sums.low))

    @property
    def lows(self) -> Floats:
        """Of each value the value itself; of a cell the largest number below it."""
        return _numbers(self.at if self.bits == EXACT else (self.at - 1) << (EXACT - self.bits))

    @property
    def highs(self) -> Floats:
        """The largest number that each value or cell has."""
        largest = _MAGNITUDE >> (EXACT - self.bits)  # beyond, there are no finite numbers
        return _numbers(np.minimum(self.at, largest) << (EXACT - self.bits))

    def counts(self) -> Floats:
        """How much of each class has each value, of the classes that have any; values × classes."""
        found = np.zeros(self.sums.shape)
        for position in range(len(self.sums.limbs) - 1, -1, -1):
            found += np.ldexp(self.sums.limbs[position].astype(np.float64), LIMB * (self.sums.low + position))
        return found[:, found.any(axis=0)]

    def cut_before(self, chosen: NDArray[np.intp]) -> Cuts:
        """Cuts halfway between some values and those before them; at the lower, where doubles have nothing between."""
        low, high = self.highs[chosen - 1], self.lows[chosen]
        middle = low / 2 + high / 2
        return Cuts(tuple(np.where((middle >= low) & (middle < high), middle, low).tolist()))


def _bucket(at: Places) -> Places:
    """One of 2 · VALUES buckets for each place, as if thrown."""
    mixed = at.view(np.uint64)
    for shift in (32, 29):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(EXACT - VALUES.bit_length())).astype(np.int64)


def survey(column: str, values: Floats) -> dict[str, Table]:
    """How many values a part of the rows may have: cells by few bits, and buckets, unless these show too many."""
    at = places(values[np.isfinite(values)])
    first, half = cells(at, _first_bits()), 1 << (_first_bits() - 1)
    buckets = np.bincount(_bucket(at))
    found = {f"first:{column}": _table("cell", np.bincount(first + half), -half)}
    if np.count_nonzero(buckets) > VALUES:
        return found | {f"many:{column}": Table.of({"all": [0]}, Exact.counts(np.array([len(at)])))}
    return found | {f"bucket:{column}": _table("bucket", buckets, 0)}


def _table(axis: str, counts: NDArray[Any], first: int) -> Table:
    """A table of the counts that are not 0, with labels from the first on."""
    there = np.flatnonzero(counts)
    return Table.of({axis: there + first}, Exact.counts(counts[there]))


def bits_by(glanced: Tally, column: str) -> int:
    """By how many bits to count the values at first."""
    if f"many:{column}" in glanced or len(glanced.labels(f"bucket:{column}", 0)) > VALUES:
        return finer(_first_bits(), len(glanced.labels(f"first:{column}", 0)))
    return EXACT


def tally_values(
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
        sums = count_cells(place, len(at), None if weights is None else weights[known[mine]])
        found[f"values:{k}:{column}"] = Table.of({"cell": at}, sums)
    return found


def from_tally(tally: Tally, column: str, n_classes: int, bits: int) -> ByValue:
    """What `tally_values` gave for all rows."""
    names = [f"values:{k}:{column}" for k in range(n_classes)]
    at = np.unique(np.concatenate([tally.labels(name, 0).astype(np.int64) for name in names]))
    own = [sums for name in names if isinstance(sums := tally.over(name, at), Exact)]
    low, high = min(sums.low for sums in own), max(sums.low + len(sums.limbs) for sums in own)
    limbs = np.zeros((high - low, len(at), n_classes), np.int64)
    for k, sums in enumerate(own):
        limbs[sums.low - low : sums.low - low + len(sums.limbs), :, k] = sums.limbs
    return ByValue(at, bits, Exact.canonical(limbs, low)).join_values()


# Candidates for the cuts of minimum description length: at most so many cells, and so many rows in each. Their search
# takes the square of the cells for each bin: 0.05 s for 64 bins. Cells of fewer rows would let two targets that happen
# to lie close together pass for a peak.
CELLS = 256
ROWS_OF_A_CELL = 5


@dataclass(frozen=True, eq=False)
class TargetBins:
    """Neighbouring bins, by their edges."""

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
        first, last = self.names[0], self.names[-1]
        return f"{len(self)} bins, {first} to {last}" if len(self) > 1 else f"one bin, {first}"

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
    """Bins for these targets; of as few different targets as bins, each has its own."""
    if weights is not None:
        targets, weights = targets[weights > 0], weights[weights > 0]
    values, place = np.unique(targets, return_inverse=True)
    return TargetBins(RULES[binning](values, np.bincount(place, weights).astype(np.float64), bins))


def edges_of(given: Any) -> Floats:
    """Edges as a user gives them, checked."""
    try:
        edges = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"bins must be a whole number, or numbers as the edges of the bins, got {given!r}") from None
    if edges.ndim != 1 or len(edges) < 2:
        raise InputError(f"the edges of bins are two numbers at least, in one list, got {given!r}")
    previous = np.append(-np.inf, edges[:-1])
    bad = np.flatnonzero(~np.isfinite(edges) | (edges <= previous))
    if len(bad):
        after = f" after {previous[bad[0]]:g}" if bad[0] else " first"
        raise InputError(f"the edges of bins must be finite and ascend, got {edges[bad[0]]:g}{after}")
    return edges


def _edges_before(values: Floats, chosen: NDArray[np.intp]) -> Floats:
    """Edges with a cut just below each of these values: the value begins the next bin."""
    return np.concatenate([values[:1], values[chosen], values[-1:]])


def _equal_frequency(values: Floats, mass: Floats, bins: int) -> Floats:
    return _edges_before(values, _quantiles(mass, bins))


def _quantiles(mass: Floats, bins: int) -> NDArray[np.intp]:
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
    - Σ n_k log(n_k / (n L_k)) + log R(K, n) + log binomial(C, K - 1), where R is what being free to choose K shares
    costs. The best places for every K come by dynamic programming.
    """
    from scipy.special import gammaln

    if len(values) == 1:
        return _edges_before(values, np.zeros(0, np.intp))
    chosen = _quantiles(mass, int(np.clip(mass.sum() // ROWS_OF_A_CELL, 1, CELLS)))
    below = np.concatenate([[0.0], np.cumsum(mass)])[np.concatenate([[0], chosen, [len(values)]])]
    C, most = len(chosen), min(bins, len(chosen) + 1)
    lengths, last = _best_histograms(below, _bounds(values, chosen), most)
    k = np.arange(most)
    lengths += log_complexity(most, float(below[-1])) + gammaln(C + 1) - gammaln(k + 1) - gammaln(C - k + 1)
    cuts: list[int] = []
    at = C + 1
    for bin_ in range(int(np.argmin(lengths)), 0, -1):
        at = int(last[bin_, at])
        cuts.append(int(chosen[at - 1]))
    return _edges_before(values, np.array(cuts[::-1], np.intp))


def _bounds(values: Floats, chosen: NDArray[np.intp]) -> Floats:
    """The bounds of the cells in a scale from 0 to 1: halfway between values, and half a step beyond the ends."""
    scaled = values / np.abs(values).max()
    first, last = scaled[1] - scaled[0], scaled[-1] - scaled[-2]
    inner = (scaled[chosen - 1] + scaled[chosen]) / 2
    bounds = np.concatenate([[scaled[0] - first / 2], inner, [scaled[-1] + last / 2]])
    return np.asarray((bounds - bounds[0]) / (bounds[-1] - bounds[0]))


def _best_histograms(below: Floats, bounds: Floats, most: int) -> tuple[Floats, NDArray[np.intp]]:
    """The least -log likelihood with 1..most bins, and where the last bin begins, for each number and end."""
    rows, widths = below[np.newaxis] - below[:, np.newaxis], bounds[np.newaxis] - bounds[:, np.newaxis]
    costs = np.full(rows.shape, np.inf)
    upper = np.triu_indices(len(below), 1)
    n, width = rows[upper], np.maximum(widths[upper], _TINY)
    costs[upper] = -n * (np.log(n / below[-1]) - np.log(width))
    best = costs[0]
    lengths, last = [best[-1]], np.zeros((most, len(below)), np.intp)
    for k in range(1, most):
        totals = best[:, np.newaxis] + costs
        last[k], best = totals.argmin(axis=0), totals.min(axis=0)
        lengths.append(best[-1])
    return np.array(lengths), last


def log_complexity(most: int, n: float) -> Floats:
    """log R(K, n) for K = 1..most: the parametric complexity of a multinomial of K values and n rows.

    R(1) = 1, R(2) = Σ_i n(n-1)…(n-i+1) / n^i, of which some 9√n terms matter, and R(K+2) = R(K+1) + n/K R(K)
    (Mononen and Myllymäki 2008).
    """
    terms = np.cumprod(np.maximum(1 - np.arange(int(9 * np.sqrt(n)) + 2) / n, 0)) if n > 0 else np.zeros(0)
    logs = [0.0, float(np.log1p(terms.sum()))]
    for k in range(1, most - 1):
        logs.append(float(np.logaddexp(logs[-1], np.log(n / k) + logs[-2])))
    return np.array(logs[:most])


RULES: dict[str, Callable[[Floats, Floats, int], Floats]] = {
    "equal-frequency": _equal_frequency,
    "equal-width": _equal_width,
    "mdl": _shortest_description,
}
