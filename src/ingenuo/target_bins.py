"""How a target of numbers is cut into bins: of equal frequency, of equal width, or by minimum description length.

A bin is [low, high); the last holds its upper end too. Targets below the first bin or above the last, which only rows
that come later can have, fall into those. Equal targets are never parted.
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
from ingenuo.labels import Labels, objects

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

# Candidates for the cuts of minimum description length: at most so many cells, and so many rows in each. Their search
# takes the square of the cells for each bin: 0.05 s for 64 bins. Cells of fewer rows would let two targets that happen
# to lie close together pass for a peak.
CELLS = 256
ROWS_OF_A_CELL = 5


@dataclass(frozen=True, eq=False)
class Bins:
    """Neighbouring bins, by their edges.

    >>> bins = Bins(np.array([25.0, 40.0, 62.5]))
    >>> bins.names, bins.codes(np.array([39.9, 40.0, 1000.0])).tolist()
    (['[25, 40)', '[40, 62.5]'], [0, 1, 1])
    """

    edges: Floats  # one more than bins, ascending

    @staticmethod
    def of_labels(labels: Labels) -> Bins:
        """The bins that have these labels; an error unless each begins where the one before it ends."""
        if len(labels) == 0:
            raise InputError("the target has no bins")
        pairs = [(float(low), float(high)) for low, high in labels.tolist()]
        edges = np.array([low for low, _ in pairs] + [high for _, high in pairs[-1:]])
        ascending = (edges[1:-1] > edges[:-2]).all() and edges[-1] >= edges[-2]
        together = all(one[1] == two[0] for one, two in pairwise(pairs))
        if not np.isfinite(edges).all() or not ascending or not together:
            raise InputError("the bins of the target are not in a row")
        return Bins(edges)

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


def cut(targets: Floats, weights: Floats | None, bins: int, binning: str) -> Bins:
    """Bins for these targets; of as few different targets as bins, each has its own.

    >>> cut(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 9.0]), None, 2, "equal-frequency").names
    ['[1, 3)', '[3, 9]']
    >>> cut(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 9.0]), None, 2, "equal-width").names
    ['[1, 5)', '[5, 9]']
    """
    values, mass = _distinct(targets, weights)
    return Bins(RULES[binning](values, mass, bins))


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


def _at(values: Floats, places: Places) -> Floats:
    """Edges with a cut just below each of these values: the value begins the next bin."""
    return np.concatenate([values[:1], values[places], values[-1:]])


def _equal_frequency(values: Floats, mass: Floats, bins: int) -> Floats:
    return _at(values, _quantiles(mass, bins))


def _quantiles(mass: Floats, bins: int) -> Places:
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


def _bounds(values: Floats, places: Places) -> Floats:
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
