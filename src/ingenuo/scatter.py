"""A table of a tally over classes and pairs of columns: how the rows of a class scatter about their mean.

    N = Σ 1        s = Σ x        S = Σ (x - s/N)(x - s/N)ᵀ

for each class; S for each class as well, or of all classes together. N and s are exact. S is in doubles, about the
means themselves, so no offset costs a digit, and there is no reference that the first rows would have to fix:

    S(a + b) = S(a) + S(b) + N_a N_b / (N_a + N_b) · δδᵀ        δ = s_a/N_a - s_b/N_b, from the exact sums

and the other way round to take b away. What rounding may have left in S is kept beside it: taking rows away cannot
lower it, so a model that has forgotten nearly everything knows that little of S is left, and says so.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, MergeError
from ingenuo.exact import Exact, ratio
from ingenuo.labels import Labels, find, labels_of, objects, same, unite

Floats = NDArray[np.float64]

# A bound for the relative error of S as BLAS adds it up: 2^-46, measured to be a few 2^-53 for a million rows.
ROUNDING = 2.0**-46
_LOST = 1e-6  # relative error of what is left from which a warning is given


@dataclass(frozen=True, eq=False)
class Scatter:
    """Rows, sums and scatter of each class.

    >>> rows = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> one = Scatter.of(["a"], [0, 1], Exact.of([2]), Exact.of([rows.sum(axis=0)]), np.cov(rows.T, ddof=0) * 2)
    >>> two = one.plus("scatter", one)
    >>> two.products.tolist(), two.minus("scatter", one).near(one)
    ([[4.0, 8.0], [8.0, 16.0]], True)
    """

    classes: Labels  # sorted
    columns: Labels  # sorted
    counts: Exact  # (classes,)
    sums: Exact  # (classes, columns)
    products: Floats  # (columns, columns), or (classes, columns, columns)
    noise: Floats  # what rounding may have left on the diagonal: (columns,), or (classes, columns)

    names = ("class", "column")
    signed = True

    @staticmethod
    def of(classes: Any, columns: Any, counts: Exact, sums: Exact, products: Floats) -> Scatter:
        """A table of what was just added up; classes are sorted, columns may stand in any order."""
        classes, given = labels_of(classes), columns if isinstance(columns, np.ndarray) else objects(list(columns))
        columns = labels_of(given)
        if not same(columns, given):
            order = _places(given, columns)
            sums, products = sums.pick(1, order), products[..., order, :][..., order]
        means, n = quotients(sums, counts), counts.floats()[:, np.newaxis]
        with np.errstate(over="ignore"):
            centred = n * (2.0**-52 * means) ** 2  # for the means about which S was added up are rounded
            noise = ROUNDING * diagonal(products) + (centred.sum(axis=0) if products.ndim == 2 else centred)
        noise = np.minimum(noise, 1e300)
        return Scatter(classes, columns, counts, sums, products, noise)._checked().trimmed()

    @property
    def axes(self) -> tuple[Labels, ...]:
        """The labels of the classes and of the columns."""
        return self.classes, self.columns

    @property
    def pooled(self) -> bool:
        """Whether S is that of all classes together."""
        return self.products.ndim == 2

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

    def over(self, classes: Labels) -> Scatter:
        """The same for these classes, all of its own among them; there is nothing of the others."""
        if same(self.classes, classes):
            return self
        at = find(self.classes, classes)
        products, noise = self.products, self.noise
        if not self.pooled:
            products, noise = (np.where(_under(at >= 0, each), each[at], 0.0) for each in (products, noise))
        return Scatter(classes, self.columns, self.counts.pick(0, at), self.sums.pick(0, at), products, noise)

    def trimmed(self) -> Scatter:
        """Without the classes that have no rows."""
        used = self.counts.used(0)
        if used.all():
            return self
        at = np.flatnonzero(used)
        parts = (self.products, self.noise) if self.pooled else (self.products[at], self.noise[at])
        return Scatter(self.classes[at], self.columns, self.counts.pick(0, at), self.sums.pick(0, at), *parts)

    def __eq__(self, other: object) -> bool:
        return self._alike(other) and np.array_equal(self.products, other.products)  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def near(self, other: Scatter) -> bool:
        """Whether both are equal but for what rounding may have left in S; N and s must be equal to the last bit."""
        if not self._alike(other):
            return False
        ours, theirs = diagonal(self.products), diagonal(other.products)
        spread = np.sqrt(np.maximum(ours, theirs)) + 1e-150  # squares of less are no doubles
        roots = np.sqrt(self.noise) + np.sqrt(other.noise)
        # |S_ij| is at most the root of S_ii S_jj; of a column that is lost in noise, nothing else is known.
        lost = (roots + 1e-150) * ((ours == 0) | (theirs == 0))
        one, two = roots + 2.0**-26 * spread, 2 * lost
        allowed = _outer(one, one) + _outer(two, spread) + _outer(spread, two)
        return bool((np.abs(self.products - other.products) <= allowed).all())

    def _alike(self, other: object) -> bool:
        return (
            isinstance(other, Scatter)
            and same(self.classes, other.classes)
            and same(self.columns, other.columns)
            and self.counts == other.counts
            and self.sums == other.sums
            and self.pooled == other.pooled
        )

    def _together(self, name: str, other: Any) -> tuple[Scatter, Scatter]:
        if not isinstance(other, Scatter) or self.pooled != other.pooled:
            raise MergeError(f"'{name}' is of another kind in either tally; only tallies of the same kind of model add")
        if not same(self.columns, other.columns):
            odd = [label for label in unite(self.columns, other.columns).tolist() if not _in_both(label, self, other)]
            raise MergeError(
                f"column {odd[0]!r} is in one of the models only; how columns vary together is known only of those "
                "that were seen together, so give both the same columns"
            )
        classes = unite(self.classes, other.classes)
        return self.over(classes), other.over(classes)

    def plus(self, name: str, other: Any) -> Scatter:
        """The sum with another."""
        one, two = self._together(name, other)
        between, noise = _between(one, two)
        return Scatter(
            one.classes,
            one.columns,
            one.counts + two.counts,
            one.sums + two.sums,
            one.products + two.products + between,
            one.noise + two.noise + noise,
        )._checked()

    def minus(self, name: str, other: Any) -> Scatter:
        """What is left when the other is taken away; an error where that was never added."""
        one, two = self._together(name, other)
        counts, sums = one.counts - two.counts, one.sums - two.sums
        short = np.flatnonzero(counts.signs() < 0)
        if len(short):
            k = int(short[0])
            raise ForgetError(
                f"cannot take away {two.counts.floats()[k]:g} from '{name}' at class {one.classes.tolist()[k]!r}, "
                f"where only {one.counts.floats()[k]:g} was added; only rows that were learned can be forgotten"
            )
        empty = counts.signs() == 0
        if (sums.signs()[empty] != 0).any():
            label = one.classes.tolist()[int(np.flatnonzero(empty & (sums.signs() != 0).any(axis=1))[0])]
            raise ForgetError(
                f"cannot take these rows away: class {label!r} would have no row left, but sums that are not zero; "
                "only rows that were learned can be forgotten"
            )
        rest = Scatter(one.classes, one.columns, counts, sums, one.products, one.noise)
        between, noise = _between(rest, two)
        products, noise = one.products - two.products - between, one.noise + two.noise + noise
        if not self.pooled:
            products[empty], noise[empty] = 0.0, 0.0
        return _settled(rest, products, noise, one).trimmed()

    def _checked(self) -> Scatter:
        bad = np.argwhere(~np.isfinite(diagonal(self.products)))
        if len(bad):
            raise InputError(
                f"column {self.columns.tolist()[bad[0][-1]]!r}: its numbers are so large that their squares are beyond "
                "the doubles; divide the column by a large constant"
            )
        return self

    def scale(self, factor: float | int | Fraction) -> Scatter:
        """As if each row had been seen so many times."""
        by = float(factor)
        scaled = self.counts.scale(factor), self.sums.scale(factor), self.products * by, self.noise * by
        return Scatter(self.classes, self.columns, *scaled).trimmed()

    def nothing(self) -> Scatter:
        """A table like this one with nothing in it."""
        none, d = np.zeros(0, np.intp), len(self.columns)
        parts = (np.zeros((d, d)), np.zeros(d)) if self.pooled else (self.products[:0], self.noise[:0])
        return Scatter(self.classes[:0], self.columns, self.counts.pick(0, none), self.sums.pick(0, none), *parts)

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


def _between(one: Scatter, two: Scatter) -> tuple[Floats, Floats]:
    """N_a N_b / (N_a + N_b) · δδᵀ, for each class or all together, and what rounding may have left of it."""
    n, m = one.counts.floats(), two.counts.floats()
    both = np.flatnonzero((n > 0) & (m > 0))
    d = len(one.columns)
    if len(both) == 0:
        return np.zeros(one.products.shape), np.zeros(one.noise.shape)
    (a, a_unit), (b, b_unit) = one.sums.integers(), two.sums.integers()
    (p, p_unit), (q, q_unit) = one.counts.integers(), two.counts.integers()
    left, right = a_unit + q_unit, b_unit + p_unit
    low = min(left, right)
    delta = np.zeros((len(both), d))
    for place, k in enumerate(both.tolist()):
        top = a[k] * (q[k] << (left - low)) - b[k] * (p[k] << (right - low))
        delta[place] = [ratio(int(each), int(p[k] * q[k]), low - p_unit - q_unit) for each in top]
    with np.errstate(over="ignore", invalid="ignore"):
        delta *= np.sqrt(n[both] * (m[both] / (n[both] + m[both])))[:, np.newaxis]
        if one.pooled:
            return delta.T @ delta, 2.0**-52 * (delta**2).sum(axis=0)
        products, noise = np.zeros(one.products.shape), np.zeros(one.noise.shape)
        products[both], noise[both] = np.einsum("ki,kj->kij", delta, delta), 2.0**-52 * delta**2
        return products, noise


def _settled(rest: Scatter, products: Floats, noise: Floats, before: Scatter) -> Scatter:
    """With what is left: nothing where it is no more than rounding; an error where it cannot be of any rows."""
    left = diagonal(products)
    impossible = np.argwhere(left < -16 * noise)
    if len(impossible):
        raise ForgetError(
            f"cannot take these rows away: the numbers left in column {rest.columns.tolist()[impossible[0][-1]]!r} "
            "would have a negative variance; only rows that were learned can be forgotten"
        )
    gone = left <= noise
    products = np.where(gone[..., :, np.newaxis] | gone[..., np.newaxis, :], 0.0, products)
    several = rest.counts.floats() > 1
    lost = (noise > _LOST * left) & (diagonal(before.products) > before.noise)
    lost = lost & several.any() if rest.pooled else lost & several[:, np.newaxis]
    if lost.any():
        name = rest.columns.tolist()[int(np.argwhere(lost)[0][-1])]
        warnings.warn(
            f"the rows taken away had nearly all the scatter of column {name!r}, and rounding has left fewer than six "
            "digits of the rest; fit the model again on the rows that are left",
            stacklevel=4,
        )
    return Scatter(rest.classes, rest.columns, rest.counts, rest.sums, products, noise)


def _outer(a: Floats, b: Floats) -> Floats:
    return a[..., :, np.newaxis] * b[..., np.newaxis, :]


def _under(flags: NDArray[np.bool_], array: Floats) -> NDArray[np.bool_]:
    return flags.reshape(-1, *(1,) * (array.ndim - 1))


def _places(given: Labels, wanted: Labels) -> NDArray[np.intp]:
    order = {label: place for place, label in enumerate(given.tolist())}
    return np.array([order[label] for label in wanted.tolist()], np.intp)


def _in_both(label: object, one: Scatter, two: Scatter) -> bool:
    return label in one.columns.tolist() and label in two.columns.tolist()
