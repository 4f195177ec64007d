"""A table of a tally over classes and the bins of one column: a histogram that coarsens as its range grows.

Bin k covers [k·2^e, (k+1)·2^e). Two histograms add and subtract at the coarser of their resolutions, and a sum whose
bins would be more than `BINS` coarsens further, so that it is the histogram of all the rows whatever came first. What
is taken away leaves no bin behind; the resolution stays where it is, for what was between the bins is gone:

    (a + b) - b == a.coarsened(e of a + b)        and so a itself where b did not widen the range
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError
from ingenuo.kernels.moments import BINS, LARGEST_EXPONENT, LEAST_EXPONENT, Counted
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, labels_of
from ingenuo.tally.tally import Table

Integers = NDArray[np.int64]

PREFIX = "bins:"
NAMES = ("class", "bin")
_MOST = 0.9  # of the values that any width would leave, those that are left when rare cells are dropped


def bins_name(column: object) -> str:
    """The name of a column's histogram in a tally."""
    return f"{PREFIX}{column}"


@dataclass(frozen=True, eq=False)
class Histogram(Table):
    """How often each class has a value in each bin of a column."""

    sums: Exact
    exponent: int = 0

    @staticmethod
    def of(classes: Any, places: Any, counts: Any, exponent: int) -> Histogram:  # type: ignore[override]
        """A histogram from plain numbers; classes and places ascend."""
        labels, where = labels_of(classes), np.asarray(places, np.int64)
        sums = counts if isinstance(counts, Exact) else Exact.of(counts)
        found = Histogram(NAMES, (labels, where), sums, exponent=exponent)
        if not LEAST_EXPONENT <= exponent <= LARGEST_EXPONENT:
            raise InputError(f"bins of width 2^{exponent} are beyond the doubles")
        if sums.shape != (len(labels), len(where)) or len(labels) != len(list(classes)) or (np.diff(where) <= 0).any():
            raise InputError("a histogram needs a count for each class and bin, both in ascending order")
        if len(where) and (int(where[-1] - where[0]) >= BINS or int(np.abs(where).max()) > 1 << 50):
            raise InputError(f"a histogram has at most {BINS} bins from its first to its last")
        return found.trimmed()

    @staticmethod
    def counted(classes: Labels, found: Counted) -> Histogram:
        """A histogram as the loops have counted it."""
        places = np.arange(found.counts.shape[1]) + found.first
        return Histogram(NAMES, (classes, places), found.counts, exponent=found.exponent).trimmed()

    @property
    def classes(self) -> Labels:
        """The classes, sorted."""
        return self.axes[0]

    @property
    def places(self) -> Integers:
        """The bins' numbers k, ascending."""
        return self.axes[1]

    @property
    def width(self) -> float:
        """The width of a bin."""
        return float(np.ldexp(1.0, self.exponent))

    def coarsened(self, exponent: int) -> Histogram:
        """The same counts in bins of width 2^exponent, which is not less than theirs."""
        assert exponent >= self.exponent, "bins cannot be cut"
        if exponent == self.exponent or not len(self.places):
            return replace(self, exponent=exponent)
        places = self.places >> min(exponent - self.exponent, 63)
        starts = np.flatnonzero(np.diff(places, prepend=places[0] - 1))
        # Limbs are below 2^39 and bins at most 2^11: no sum of them leaves the 63 bits.
        limbs = np.add.reduceat(self.sums.limbs, starts, axis=2)
        sums = Exact.canonical(limbs, self.sums.low)
        return replace(self, axes=(self.classes, places[starts]), sums=sums, exponent=exponent)

    def _is_like(self, other: Histogram) -> bool:
        nothing = not self.sums.limbs.size and not other.sums.limbs.size  # which is nothing, however wide its bins
        return nothing or (self.exponent == other.exponent and super()._is_like(other))

    def align(self, name: str, other: Any) -> tuple[Histogram, Histogram]:
        """Both in bins as wide as hold the values of either."""
        if not isinstance(other, Histogram):
            raise MergeError(
                f"'{name}' is a histogram here and a table over {' × '.join(other.names)} there; only tallies of the "
                "same kind of model add"
            )
        exponent = max(self.exponent, other.exponent)
        one, two = self.coarsened(exponent), other.coarsened(exponent)
        ends = [part.places[at] for part in (one, two) if len(part.places) for at in (0, -1)]
        if ends:
            first, last = int(min(ends)), int(max(ends))
            while last - first >= BINS:
                first, last, exponent = first >> 1, last >> 1, exponent + 1
        return Table.align(one.coarsened(exponent), name, two.coarsened(exponent))

    def labels_of_cell(self, cell: Any) -> list[Any]:
        """The class and the interval of a cell."""
        k, i = cell
        low, high = (float(np.ldexp(float(end), self.exponent)) for end in (self.places[i], self.places[i] + 1))
        return [self.classes.tolist()[k], f"[{low:.12g}, {high:.12g})"]

    def describe(self, cell: Any, name: str) -> str:
        """What an error says of a cell of a table of that name."""
        label, interval = self.labels_of_cell(cell)
        return f"from '{name}' at class {label!r}, values {interval}"

    def without_rare(self, minimum: float, classes: Labels | None = None, rows: Any = None) -> Histogram:
        """Only the cells of these classes that have as many values, in bins as narrow as leave most of them.

        Where bins are narrow nearly every cell is rare. So they are made wider, until nine tenths are left of the
        values that the widest bins would leave.
        """
        own = self if classes is None else Table.without_rare(self, 0, classes)
        found = [super(Histogram, own).without_rare(minimum)]
        while len(own.places) and (own.places[0] < -1 or own.places[-1] > 0) and own.exponent < LARGEST_EXPONENT:
            own = own.coarsened(own.exponent + 1)
            found.append(super(Histogram, own).without_rare(minimum))
        left = [float(each.sums.floats().sum()) for each in found]
        return next(each for each, n in zip(found, left) if n >= _MOST * left[-1])
