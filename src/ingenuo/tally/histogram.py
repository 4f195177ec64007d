"""A table of a tally over classes and the bins of one column: a histogram that coarsens as its range grows.

Bin k covers [k·2^e, (k+1)·2^e). Two histograms add and subtract at the coarser of their resolutions, and a sum whose
bins would be more than `BINS` coarsens further, so that it is the histogram of all the rows whatever came first. What
is taken away leaves no bin behind; the resolution stays where it is, for what was between the bins is gone:

    (a + b) - b == a.coarsened(e of a + b)        and so a itself where b did not widen the range
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, MergeError
from ingenuo.kernels.histograms import BINS, LARGEST_EXPONENT, LEAST_EXPONENT, Counted
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, labels_of, same, unite

Integers = NDArray[np.int64]

PREFIX = "bins:"
_MOST = 0.9  # of the values that any width would leave, those that are left when rare cells are dropped


def bins_name(column: object) -> str:
    """The name of a column's histogram in a tally.

    >>> bins_name("age")
    'bins:age'
    """
    return f"{PREFIX}{column}"


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each class has a value in each bin of a column.

    >>> few = Histogram.of(["no"], [6, 7], [[1, 2]], exponent=0)
    >>> many = few.plus("age", Histogram.of(["yes"], [5000], [[1]], exponent=0))
    >>> few.width, many.width, many.places.tolist()
    (1.0, 4.0, [1, 1250])
    >>> many.minus("age", Histogram.of(["yes"], [5000], [[1]], exponent=0)) == few.coarsened(2)
    True
    """

    exponent: int
    classes: Labels  # sorted
    places: Integers  # the bins' numbers k, ascending
    sums: Exact  # (classes, bins)

    names = ("class", "bin")
    signed = False

    @staticmethod
    def of(classes: Any, places: Any, counts: Any, exponent: int) -> Histogram:
        """A histogram from plain numbers; classes and places ascend."""
        labels, where = labels_of(classes), np.asarray(places, np.int64)
        sums = counts if isinstance(counts, Exact) else Exact.of(counts)
        found = Histogram(exponent, labels, where, sums)
        if not LEAST_EXPONENT <= exponent <= LARGEST_EXPONENT:
            raise InputError(f"bins of width 2^{exponent} are beyond the doubles")
        if sums.shape != (len(labels), len(where)) or len(labels) != len(list(classes)) or (np.diff(where) <= 0).any():
            raise InputError("a histogram needs a count for each class and bin, both in ascending order")
        if len(where) and (found._span >= BINS or int(np.abs(where).max()) > 1 << 50):
            raise InputError(f"a histogram has at most {BINS} bins from its first to its last")
        return found.trimmed()

    @staticmethod
    def counted(classes: Labels, found: Counted) -> Histogram:
        """A histogram as the loops have counted it."""
        places = np.arange(found.counts.shape[1]) + found.first
        return Histogram(found.exponent, classes, places, found.counts).trimmed()

    @property
    def axes(self) -> tuple[Labels, ...]:
        """The classes, and the bins' numbers."""
        return self.classes, self.places

    @property
    def width(self) -> float:
        """The width of a bin."""
        return float(np.ldexp(1.0, self.exponent))

    @property
    def _span(self) -> int:
        return int(self.places[-1] - self.places[0]) if len(self.places) else 0

    def over(self, classes: Labels) -> Exact:
        """The sums of these classes, zero where a class is not there."""
        return self.sums if same(self.classes, classes) else self.sums.pick(0, find(self.classes, classes))

    def coarsened(self, exponent: int) -> Histogram:
        """The same counts in bins of width 2^exponent, which is not less than theirs."""
        assert exponent >= self.exponent, "bins cannot be cut"
        if exponent == self.exponent or not len(self.places):
            return Histogram(exponent, self.classes, self.places, self.sums)
        places = self.places >> min(exponent - self.exponent, 63)
        starts = np.flatnonzero(np.diff(places, prepend=places[0] - 1))
        # Limbs are below 2^39 and bins at most 2^11: no sum of them leaves the 63 bits.
        limbs = np.add.reduceat(self.sums.limbs, starts, axis=2) if len(self.sums.limbs) else self.sums.limbs
        sums = Exact.canonical(limbs, self.sums.low) if len(limbs) else Exact.zeros((len(self.classes), len(starts)))
        return Histogram(exponent, self.classes, places[starts], sums)

    def trimmed(self) -> Histogram:
        """Without the bins that are empty and the classes that have none."""
        result = self
        for axis in (0, 1):
            used = result.sums.used(axis)
            if not used.all():
                at = np.flatnonzero(used)
                classes, places = result.classes, result.places
                classes, places = (classes[at], places) if axis == 0 else (classes, places[at])
                result = Histogram(result.exponent, classes, places, result.sums.pick(axis, at))
        return result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return False
        one, two = self.trimmed(), other.trimmed()
        if 0 in one.sums.shape and 0 in two.sums.shape:
            return True  # nothing is nothing, however wide its bins
        return (
            one.exponent == two.exponent
            and same(one.classes, two.classes)
            and np.array_equal(one.places, two.places)
            and one.sums == two.sums
        )

    __hash__ = None  # type: ignore[assignment]

    def _together(self, name: str, other: Any) -> tuple[Histogram, Exact, Exact]:
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
            one, two = one.coarsened(exponent), two.coarsened(exponent)
        classes, places = unite(one.classes, two.classes), np.union1d(one.places, two.places)
        left, right = (part.over(classes).pick(1, find(part.places, places)) for part in (one, two))
        return Histogram(exponent, classes, places, left), left, right

    def plus(self, name: str, other: Any) -> Histogram:
        """The sum with another histogram of the same column."""
        both, left, right = self._together(name, other)
        return Histogram(both.exponent, both.classes, both.places, left + right)

    def minus(self, name: str, other: Any) -> Histogram:
        """What is left when the other is taken away; an error where that was never added."""
        both, left, right = self._together(name, other)
        rest = left - right
        negative = np.argwhere(rest.signs() < 0)
        if len(negative):
            k, i = negative[0]
            raise ForgetError(
                f"cannot take away {float(right.floats()[k, i]):g} from '{name}' at class "
                f"{both.classes.tolist()[k]!r}, values {_interval(int(both.places[i]), both.exponent)}, where only "
                f"{float(left.floats()[k, i]):g} was added; only rows that were learned can be forgotten"
            )
        return Histogram(both.exponent, both.classes, both.places, rest).trimmed()

    def scale(self, factor: float | int | Fraction) -> Histogram:
        """Every sum times the factor."""
        return Histogram(self.exponent, self.classes, self.places, self.sums.scale(factor)).trimmed()

    def without_rare(self, minimum: float, classes: Labels) -> Histogram:
        """Only the cells of these classes that have as many values, in bins as narrow as leave most of them.

        Where bins are narrow nearly every cell is rare. So they are made wider, until nine tenths are left of the
        values that the widest bins would leave.

        >>> ages = Histogram.of(["ill"], [40, 41, 42, 43, 50, 51, 88], [[4, 4, 4, 4, 4, 4, 1]], exponent=0)
        >>> print(ages.without_rare(5, ages.classes).listing(5))
        ill [40, 42) 8, ill [42, 44) 8, ill [50, 52) 8
        """
        own = Histogram(self.exponent, classes, self.places, self.over(classes)).trimmed()
        found = [own._of_many(minimum)]
        while len(own.places) and (own.places[0] < -1 or own.places[-1] > 0) and own.exponent < LARGEST_EXPONENT:
            own = own.coarsened(own.exponent + 1)
            found.append(own._of_many(minimum))
        left = [float(each.sums.floats().sum()) for each in found]
        return next(each for each, n in zip(found, left) if n >= _MOST * left[-1])

    def _of_many(self, minimum: float) -> Histogram:
        """The same without the cells that have fewer values."""
        limbs = np.where(self.sums.floats() >= minimum, self.sums.limbs, 0)
        return Histogram(self.exponent, self.classes, self.places, Exact.canonical(limbs, self.sums.low)).trimmed()

    def nothing(self) -> Histogram:
        """A histogram like this one with nothing in it."""
        return Histogram(self.exponent, self.classes[:0], self.places[:0], Exact.zeros((0, 0)))

    def listing(self, most: int) -> str:
        """The first cells as text."""
        values = self.sums.floats()
        cells = [
            f"{self.classes[k]} {_interval(int(self.places[i]), self.exponent)} {values[k, i]:g}"
            for k, i in np.argwhere(values != 0)[: most + 1]
        ]
        return ", ".join(cells[:most]) + (", …" if len(cells) > most else "")


def _interval(place: int, exponent: int) -> str:
    low, high = (float(np.ldexp(float(k), exponent)) for k in (place, place + 1))
    return f"[{low:.12g}, {high:.12g})"
