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
from ingenuo.networks.values import ByValue

Floats = NDArray[np.float64]

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
    if h - mixed[best] <= (np.log2(N - 1) + change) / N:
        return None
    return lo + 1 + best


def _entropy(counts: Floats, totals: Floats) -> Floats:
    """In bits, of each row of counts."""
    shares = counts / np.maximum(totals, np.finfo(float).tiny)[:, np.newaxis]
    logs = np.log2(shares, where=shares > 0, out=np.zeros_like(shares))
    return np.asarray(-(shares * logs).sum(axis=1))


def _log2_of_choices(k: int) -> float:
    """log₂(3^k - 2), which for many classes is beyond the doubles before the logarithm."""
    return float(np.log2(3.0**k - 2)) if k < 600 else k * float(np.log2(3.0))
