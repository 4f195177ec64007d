"""A table of a tally over classes and pairs of columns: how the rows of a class scatter about their mean.

    N = Σ 1        s = Σ x        Q = Σ xxᵀ

for each class; Q for each class as well, or of all classes together. All three are exact, so they add and subtract to
the last bit, in any order. What is asked for is the scatter about the means,

    S = Σ (x - s/N)(x - s/N)ᵀ = Q - ssᵀ/N

which is worked out in whole numbers and rounded once: no offset costs a digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, MergeError, RefusedError
from ingenuo.tally.exact import LIMB, Exact, ratio
from ingenuo.tally.labels import Labels, find, labels_of, objects, same, unite

Floats = NDArray[np.float64]

# ssᵀ/N is worked out to so many bits beyond those of N. Where S is so much smaller that fewer than 60 are left of it,
# it is worked out again as a fraction.
_SPARE = 300


@dataclass(frozen=True, eq=False)
class Moments:
    """Rows, sums and products of each class.

    >>> one = Moments.of(["a"], [0, 1], Exact.of([2]), Exact.of([[4, 8]]), Exact.of([10, 20, 40]))
    >>> one.scatter().tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    >>> two = one.plus("scatter", one)
    >>> two.scatter().tolist(), two.minus("scatter", one) == one
    ([[4.0, 8.0], [8.0, 16.0]], True)
    """

    classes: Labels  # sorted
    columns: Labels  # sorted
    counts: Exact  # (classes,)
    sums: Exact  # (classes, columns)
    products: Exact  # the lower triangle, row by row: (cells,), or (classes, cells)

    names = ("class", "column")
    signed = True

    @staticmethod
    def of(classes: Any, columns: Any, counts: Exact, sums: Exact, products: Exact) -> Moments:
        """A table of what was just added up; classes are sorted, columns may stand in any order."""
        classes, given = labels_of(classes), columns if isinstance(columns, np.ndarray) else objects(list(columns))
        columns = labels_of(given)
        if not same(columns, given):
            order = _places(given, columns)
            sums, products = sums.pick(1, order), products.pick(len(products.shape) - 1, _cells(order))
        return Moments(classes, columns, counts, sums, products)._checked().trimmed()

    @property
    def axes(self) -> tuple[Labels, ...]:
        """The labels of the classes and of the columns."""
        return self.classes, self.columns

    @property
    def pooled(self) -> bool:
        """Whether the products are those of all classes together."""
        return len(self.products.shape) == 1

    def scatter(self) -> Floats:
        """S of all classes together (columns × columns), or of each (classes × columns × columns), rounded once."""
        d = len(self.columns)
        rows = [(i, 0) for i in range(d)]
        found = np.zeros((1 if self.pooled else len(self.classes), d, d))
        for matrix, lines in zip(found, self._about_means(rows)):
            for i, line in enumerate(lines):
                matrix[i, : i + 1] = matrix[: i + 1, i] = line
        return found[0] if self.pooled else found

    def variations(self) -> Floats:
        """The diagonal of the scatter."""
        rows = [(i, i) for i in range(len(self.columns))]
        lists = [[line[0] for line in lines] for lines in self._about_means(rows)]
        found = np.array(lists, np.float64).reshape(-1, len(self.columns))
        return found[0] if self.pooled else found

    def _about_means(self, rows: list[tuple[int, int]]) -> Iterator[Iterator[list[float]]]:
        """Of all classes, or of each: S_ij for i and j from the second number to i, of each of the rows."""
        (products, low), (sums, unit), (counts, whole) = (
            each.integers() for each in (self.products, self.sums, self.counts)
        )
        if self.pooled:
            yield _centred(products, low, sums, 2 * unit - whole, counts.tolist(), rows)
            return
        for k, n in enumerate(counts.tolist()):
            yield _centred(products[k], low, sums[k : k + 1], 2 * unit - whole, [n], rows)

    def means(self) -> Floats:
        """The mean of each class and column, rounded once."""
        return quotients(self.sums, self.counts)

    def means_from(self, centre: Floats) -> Floats:
        """The mean of each class and column less a centre, rounded once: near it, no digit is lost."""
        fractions = [value.as_integer_ratio() for value in centre.tolist()]
        depth = max((bottom.bit_length() - 1 for _, bottom in fractions), default=0)
        middle = np.array([top << depth - bottom.bit_length() + 1 for top, bottom in fractions], object)
        (sums, unit), (counts, whole) = self.sums.integers(), self.counts.integers()
        low = min(unit, whole - depth)
        result = np.zeros(self.sums.shape)
        for k, n in enumerate(counts.tolist()):
            top = sums[k] * (1 << (unit - low)) - middle * (n << (whole - depth - low))
            result[k] = [ratio(int(each), n, low - whole) for each in top]
        return result

    def over(self, classes: Labels) -> Moments:
        """The same for these classes, all of its own among them; there is nothing of the others."""
        if same(self.classes, classes):
            return self
        return self._picked(classes, find(self.classes, classes))

    def trimmed(self) -> Moments:
        """Without the classes that have no rows."""
        used = self.counts.used(0)
        if used.all():
            return self
        at = np.flatnonzero(used)
        return self._picked(self.classes[at], at)

    def _picked(self, classes: Labels, at: NDArray[np.intp]) -> Moments:
        products = self.products if self.pooled else self.products.pick(0, at)
        return Moments(classes, self.columns, self.counts.pick(0, at), self.sums.pick(0, at), products)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Moments)
            and same(self.classes, other.classes)
            and same(self.columns, other.columns)
            and self.counts == other.counts
            and self.sums == other.sums
            and self.pooled == other.pooled
            and self.products == other.products
        )

    __hash__ = None  # type: ignore[assignment]

    def _together(self, name: str, other: Any) -> tuple[Moments, Moments]:
        if not isinstance(other, Moments) or self.pooled != other.pooled:
            raise MergeError(f"'{name}' is of another kind in either tally; only tallies of the same kind of model add")
        if not same(self.columns, other.columns):
            odd = [label for label in unite(self.columns, other.columns).tolist() if not _in_both(label, self, other)]
            raise MergeError(
                f"column {odd[0]!r} is in one of the models only; how columns vary together is known only of those "
                "that were seen together, so give both the same columns"
            )
        classes = unite(self.classes, other.classes)
        return self.over(classes), other.over(classes)

    def plus(self, name: str, other: Any) -> Moments:
        """The sum with another."""
        one, two = self._together(name, other)
        sums = one.counts + two.counts, one.sums + two.sums, one.products + two.products
        return Moments(one.classes, one.columns, *sums)._checked()

    def minus(self, name: str, other: Any) -> Moments:
        """What is left when the other is taken away; an error where that was never added."""
        one, two = self._together(name, other)
        sums = one.counts - two.counts, one.sums - two.sums, one.products - two.products
        rest = Moments(one.classes, one.columns, *sums)
        signs = rest.counts.signs()
        short = np.flatnonzero(signs < 0)
        if len(short):
            k = int(short[0])
            raise ForgetError(
                f"cannot take away {two.counts.floats()[k]:g} from '{name}' at class {one.classes.tolist()[k]!r}, "
                f"where only {one.counts.floats()[k]:g} was added; only rows that were learned can be forgotten"
            )
        left = (rest.sums.signs() != 0).any(axis=1)
        if not self.pooled:
            left |= (rest.products.signs() != 0).any(axis=1)
        elif (signs == 0).all():
            left |= (rest.products.signs() != 0).any()
        if left[signs == 0].any():
            label = one.classes.tolist()[int(np.flatnonzero((signs == 0) & left)[0])]
            raise ForgetError(
                f"cannot take these rows away: class {label!r} would have no row left, but sums that are not zero; "
                "only rows that were learned can be forgotten"
            )
        impossible = np.argwhere(rest.variations() < 0)
        if len(impossible):
            raise ForgetError(
                f"cannot take these rows away: the numbers left in column {rest.columns.tolist()[impossible[0][-1]]!r} "
                "would have a negative variance; only rows that were learned can be forgotten"
            )
        return rest.trimmed()

    def _checked(self) -> Moments:
        if (self.products.low + len(self.products.limbs)) * LIMB < 1000:  # nothing is near the largest double
            return self
        bad = np.argwhere(~np.isfinite(self.variations()))
        if len(bad):
            raise InputError(
                f"column {self.columns.tolist()[bad[0][-1]]!r}: its numbers are so large that their squares are beyond "
                "the doubles; divide the column by a large constant"
            )
        return self

    def scale(self, factor: float | int | Fraction) -> Moments:
        """As if each row had been seen so many times."""
        scaled = self.counts.scale(factor), self.sums.scale(factor), self.products.scale(factor)
        return Moments(self.classes, self.columns, *scaled).trimmed()

    def without_rare(self, minimum: float, classes: Labels) -> Moments:
        """Only these classes, where they have as many complete rows."""
        kept = (self.counts.floats() >= minimum) & (find(classes, self.classes) >= 0)
        if self.pooled and not kept.all():
            raise RefusedError(
                f"some class has fewer than {minimum:g} complete rows, and how the columns vary together is kept for "
                "all classes in one, so what such a class brought to it cannot be dropped; leave its rows out (forget "
                "them), or keep a covariance for each class"
            )
        limbs = np.where(kept, self.counts.limbs, 0)
        return replace(self, counts=Exact.canonical(limbs, self.counts.low)).trimmed()

    def nothing(self) -> Moments:
        """A table like this one with nothing in it."""
        none, shape = np.zeros(0, np.intp), self.products.shape
        sums = self.counts.pick(0, none), self.sums.pick(0, none), Exact.zeros(shape if self.pooled else (0, shape[1]))
        return Moments(self.classes[:0], self.columns, *sums)

    def listing(self, most: int) -> str:
        """The first classes as text."""
        rows = [f"{name} {n:g} rows" for name, n in zip(self.classes.tolist(), self.counts.floats())]
        return ", ".join(rows[:most]) + (", …" if len(rows) > most else "")


def diagonal(matrices: Floats) -> Floats:
    """The diagonals of one matrix, or of several."""
    return np.asarray(np.diagonal(matrices, axis1=-2, axis2=-1))


def quotients(sums: Exact, counts: Exact) -> Floats:
    """Σx / N of each class and column, as the nearest doubles; 0 where there is nothing.

    >>> quotients(Exact.of([[1, 2]]), Exact.of([3])).tolist()
    [[0.3333333333333333, 0.6666666666666666]]
    """
    (top, shift), (bottom, unit) = sums.integers(), counts.integers()
    flat = [ratio(int(a), int(n), shift - unit) for row, n in zip(top, bottom) for a in row]
    return np.array(flat, np.float64).reshape(top.shape)


def _centred(
    products: NDArray[Any],
    low: int,
    sums: NDArray[Any],
    unit: int,
    counts: list[int],
    rows: list[tuple[int, int]],
) -> Iterator[list[float]]:
    """S_ij = Q_ij 2^low - Σ_k s_ki s_kj / N_k · 2^unit, rounded, for some i and the j from a first one to i."""
    spare = _SPARE + max((n.bit_length() for n in counts), default=0)
    bottom = min(low, unit - spare)
    up, down = low - bottom, unit - spare - bottom
    kept = [k for k, n in enumerate(counts) if n]
    largest = [max((abs(each) for each in sums[k].tolist()), default=0) for k in kept]
    for i, first in rows:
        start = i * (i + 1) // 2
        line = products[start + first : start + i + 1] * (1 << up)
        doubt = 0
        for k, most in zip(kept, largest):
            quotient, rest = divmod(int(sums[k, i]) << spare, counts[k])
            line = line - sums[k, first : i + 1] * (quotient << down)
            doubt += most if rest else 0
        doubt <<= 60 + down
        found = [ratio(top, 1, bottom) for top in line.tolist()]
        if doubt:
            for place in [place for place, top in enumerate(line.tolist()) if abs(top) <= doubt]:
                j = first + place
                parts = (Fraction(int(sums[k, i] * sums[k, j]), counts[k]) for k in kept)
                exact = Fraction(2) ** low * int(products[start + j]) - Fraction(2) ** unit * sum(parts, Fraction(0))
                found[place] = ratio(exact.numerator, exact.denominator, 0)
        yield found


def _cells(order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where the cells of a lower triangle stand in one whose columns have another order."""
    i, j = (order[each] for each in np.tril_indices(len(order)))
    high, low = np.maximum(i, j), np.minimum(i, j)
    return np.asarray(high * (high + 1) // 2 + low)


def _places(given: Labels, wanted: Labels) -> NDArray[np.intp]:
    order = {label: place for place, label in enumerate(given.tolist())}
    return np.array([order[label] for label in wanted.tolist()], np.intp)


def _in_both(label: object, one: Moments, two: Moments) -> bool:
    return label in one.columns.tolist() and label in two.columns.tolist()
