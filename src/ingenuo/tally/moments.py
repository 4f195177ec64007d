"""A table of a tally over classes and pairs of columns: how the rows of a class scatter about their mean.

    N = Σ 1        s = Σ x        Q = Σ xxᵀ

for each class; Q for each class as well, or of all classes together. All three are exact, so they add and subtract to
the last bit, in any order. What is asked for is the scatter about the means,

    S = Σ (x - s/N)(x - s/N)ᵀ = Q - ssᵀ/N

which is worked out in whole numbers and rounded once: no offset costs a digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, MergeError, RefusedError
from ingenuo.tally.exact import LIMB, Exact, ratio
from ingenuo.tally.labels import Labels, find, labels_of, objects, same, unite
from ingenuo.tally.tally import AnyTable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments(AnyTable):
    """Rows, sums and products of each class."""

    classes: Labels  # sorted
    columns: Labels  # sorted
    counts: Exact  # (classes,)
    sums: Exact  # (classes, columns)
    products: Exact  # the lower triangle, row by row: (cells,), or (classes, cells)

    names = ("class", "column")
    signed = True
    parts = ("counts", "sums", "products")

    @staticmethod
    def of(classes: Any, columns: Any, counts: Exact, sums: Exact, products: Exact) -> Moments:
        """A table of what was just added up; classes are sorted, columns may stand in any order."""
        classes, given = labels_of(classes), columns if isinstance(columns, np.ndarray) else objects(list(columns))
        columns = labels_of(given)
        if not same(columns, given):
            order = np.argsort(find(columns, given))
            sums, products = sums.pick(1, order), products.pick(len(products.shape) - 1, _cells(order))
        return Moments(classes, columns, counts, sums, products)._settle().trimmed()

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
        i, j = np.tril_indices(d)
        values = self._about_means(i, j)
        found = np.zeros((len(values), d, d))
        found[:, i, j] = found[:, j, i] = values
        return found[0] if self.pooled else found

    def variations(self) -> Floats:
        """The diagonal of the scatter."""
        each = np.arange(len(self.columns))
        found = self._about_means(each, each)
        return found[0] if self.pooled else found

    def _about_means(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> Floats:
        """S_ij, i ≥ j, of all classes together in one row, or of each class: fractions of one denominator, rounded."""
        (products, low), (sums, unit), (counts, whole) = (
            each.integers() for each in (self.products, self.sums, self.counts)
        )
        groups = [range(len(counts))] if self.pooled else [[k] for k in range(len(counts))]
        found = np.zeros((len(groups), len(i)))
        bottom = min(low, 2 * unit - whole)
        for row, group, own in zip(found, groups, np.atleast_2d(products)):
            seen = [k for k in group if counts[k]]
            common = math.lcm(*(counts[k] for k in seen))
            tops = own[i * (i + 1) // 2 + j] * (common << low - bottom)
            for k in seen:
                scaled = sums[k] * (common // counts[k] << 2 * unit - whole - bottom)
                tops = tops - scaled[i] * sums[k][j]
            row[:] = [ratio(top, common, bottom) for top in tops.tolist()]
        return found

    def means(self) -> Floats:
        """The mean of each class and column, rounded once."""
        return quotients(self.sums, self.counts)

    def means_from(self, centre: Floats) -> Floats:
        """The mean of each class and column less a centre, rounded once: near it, no digit is lost."""
        centres = [Fraction(value) for value in centre.tolist()]
        rows = zip(self.sums.fractions(), self.counts.fractions())
        means = [[float(s / n - c) if n else 0.0 for s, c in zip(row, centres)] for row, n in rows]
        return np.array(means, np.float64).reshape(self.sums.shape)

    def weigh(self, factors: Floats) -> Moments:
        """The sums of each class times its factor."""
        if self.pooled and len({*factors.tolist()}) > 1:
            raise RefusedError(
                "the covariance that classes share is known of all of them together, so they cannot get weights "
                "afterwards; take 'gaussian-full', or give weights to the rows: sample_weight"
            )
        return super().weigh(factors) if not self.pooled else self

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

    def align(self, name: str, other: Any) -> tuple[Moments, Moments]:
        """Both for the classes of either."""
        if not isinstance(other, Moments) or self.pooled != other.pooled:
            raise MergeError(f"'{name}' is of another kind in either tally; only tallies of the same kind of model add")
        if not same(self.columns, other.columns):
            odd = sorted({*self.columns.tolist()} ^ {*other.columns.tolist()}, key=str)
            raise MergeError(
                f"column {odd[0]!r} is in one of the models only; how columns vary together is known only of those "
                "that were seen together, so give both the same columns"
            )
        classes = unite(self.classes, other.classes)
        return self.over(classes), other.over(classes)

    def _refuse_unlearned(self, name: str, one: Moments, two: Moments) -> None:
        rest = self
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

    def _settle(self) -> Moments:
        if (self.products.low + len(self.products.limbs)) * LIMB < 1000:  # nothing is near the largest double
            return self
        bad = np.argwhere(~np.isfinite(self.variations()))
        if len(bad):
            raise InputError(
                f"column {self.columns.tolist()[bad[0][-1]]!r}: its numbers are so large that their squares are beyond "
                "the doubles; divide the column by a large constant"
            )
        return self

    def without_rare(self, minimum: float, classes: Labels, rows: Any = None) -> Moments:
        """Only these classes, where they have as many complete rows."""
        kept = (self.counts.floats() >= minimum) & (find(classes, self.classes) >= 0)
        if self.pooled and not kept.all():
            raise RefusedError(
                f"some class has fewer than {minimum:g} complete rows, and how the columns vary together is kept for "
                "all classes in one, so what such a class brought to it cannot be dropped; leave its rows out (forget "
                "them), or keep a covariance for each class"
            )
        return replace(self, counts=self.counts.where(kept)).trimmed()

    def listing(self, most: int) -> str:
        """The first classes as text."""
        rows = [f"{name} {n:g} rows" for name, n in zip(self.classes.tolist(), self.counts.floats())]
        return ", ".join(rows[:most]) + (", …" if len(rows) > most else "")


def quotients(sums: Exact, counts: Exact) -> Floats:
    """Σx / N of each class and column, as the nearest doubles; 0 where there is nothing."""
    (top, shift), (bottom, unit) = sums.integers(), counts.integers()
    flat = [ratio(int(a), int(n), shift - unit) for row, n in zip(top, bottom) for a in row]
    return np.array(flat, np.float64).reshape(top.shape)


def _cells(order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where the cells of a lower triangle stand in one whose columns have another order."""
    i, j = (order[each] for each in np.tril_indices(len(order)))
    high, low = np.maximum(i, j), np.minimum(i, j)
    return np.asarray(high * (high + 1) // 2 + low)
