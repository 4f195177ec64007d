"""The Gaussian as one of several densities to choose from: the same estimate as the family's, with its score; and none.

Left out of n values with mean μ and variance σ², the value x leaves

    μ' = μ - (x - μ) / (n - 1)        σ'² = n σ² / (n - 1) - n (x - μ)² / (n - 1)²

x is the centre of its bin. Where bins are wider than a quarter of σ̂, the deviation by exact sums, that would judge the
bins and not the Gaussian; there the log likelihood less its two parameters stands in, which needs no bins:

    -n/2 (log 2πσ² + σ̂²/σ²) - 2        σ being σ̂, or the prior's floor
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import FARTHEST, Column, Curve
from ingenuo.families.family import Floats
from ingenuo.families.gaussian import GaussianParameters
from ingenuo.kernels.curves import GAUSSIAN


@dataclass(frozen=True)
class GaussianCurve(Curve):
    """A Gaussian for each class, by formula."""

    means: Floats  # (classes,), in the column's own unit
    deviations: Floats
    alone: bool = False  # whether the bins are too wide for any other density
    kind = "gaussian"
    way = GAUSSIAN

    def log_density(self, x: Floats) -> Floats:
        """The logarithm of the normal density."""
        return log_normal(x, self.means, self.deviations)

    def beyond(self, t: Floats) -> Floats:
        """The same formula."""
        return self.log_density(self.column.values(t)) + self.column.unit

    def how(self, x: float, k: int) -> str:
        """Mean and deviation."""
        return f"f({x:.6g} | μ {self.means[k]:.6g}, σ {self.deviations[k]:.6g})"

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """Normal deviates."""
        return self.column.positions(rng.normal(self.means[k], self.deviations[k], n))

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """Normal deviates; a Gaussian has no imaginary values."""
        return rng.normal(self.means[k], self.deviations[k], n)

    @property
    def detail(self) -> str:
        """Nothing but its name; and why, where there was no choice."""
        width = float(np.ldexp(1.0, self.column.exponent))
        return "mean and deviation" + (f" (bins of {width:.6g} are too wide for another density)" if self.alone else "")


@dataclass(frozen=True)
class SilentCurve(Curve):
    """A column in which no two values were seen: it is left out of the product."""

    kind = "constant"
    way = GAUSSIAN

    def log_density(self, x: Floats) -> Floats:
        """Zeros."""
        return np.zeros((len(x), self.table.shape[1]))

    def beyond(self, t: Floats) -> Floats:
        """Zeros."""
        return self.log_density(t)

    def how(self, x: float, k: int) -> str:
        """One."""
        return "1"

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """The value that was seen, within its bin."""
        return np.zeros(n)

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """The value that was seen, within its bin."""
        return self.column.values(self.draw(k, n, rng))

    @property
    def detail(self) -> str:
        """Why it is left out."""
        return "no two values were seen"


def log_normal(x: Floats, means: Floats, deviations: Floats) -> Floats:
    """The logarithm of the normal density of each value (rows) under each Gaussian."""
    with np.errstate(over="ignore"):
        z = ((x[:, np.newaxis] - means) / deviations).clip(-FARTHEST, FARTHEST)
    return np.asarray(-np.log(deviations) - 0.5 * math.log(2 * math.pi) - 0.5 * z * z)


@dataclass(frozen=True)
class Spread:
    """Mean and deviations of one column's classes by exact sums, in the column's own unit."""

    means: Floats  # (classes,)
    deviations: Floats  # no less than the prior's floor
    seen: Floats  # and without it
    whole: float  # the deviation of all the values

    @staticmethod
    def of(parameters: GaussianParameters, at: int) -> Spread:
        """Of one of the columns of the Gaussian family."""
        assert parameters.seen is not None
        assert parameters.whole is not None
        return Spread(
            parameters.means[:, at], parameters.deviations[:, at], parameters.seen[:, at], float(parameters.whole[at])
        )

    def within(self, bins: float, column: Column) -> NDArray[np.bool_]:
        """The classes whose deviation is less than so many bins."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.ldexp(self.seen, -column.exponent) < bins)

    def only_gaussian(self, column: Column) -> bool:
        """Whether a quarter of the values are of classes whose deviation is less than a bin, and not zero.

        A quarter, so that of many small classes the few whose two or three values happen to agree do not decide. Bins
        of half a deviation still tell two peaks from one, and are left to the scores.
        """
        fine = self.within(1, column) & (self.seen > 0) & (column.seen > 0)
        return bool(4 * column.seen[fine].sum() >= column.seen.sum())


def normal(column: Column, spread: Spread) -> GaussianCurve:
    """The Gaussians of a column, with the likelihood of each value left out."""
    alone = spread.only_gaussian(column)
    # One value over and over has no deviation; as long as others are there to judge, the bins do for it.
    exactly = spread.within(4, column) & ((spread.seen > 0) | alone)
    scores = np.where(exactly, _by_sums(column, spread), _by_bins(column, spread.means, spread.deviations))
    none = np.zeros((0, len(spread.means)))
    return GaussianCurve(column, column.summed(scores), 0.0, 1.0, none, spread.means, spread.deviations, alone)


def _by_sums(column: Column, spread: Spread) -> Floats:
    """The score of each class from its sums; of one value and of two, what leaving one out leaves."""
    n = column.totals
    whole = max(spread.whole, float(np.finfo(float).tiny))
    mean = float(column.seen @ spread.means / column.seen.sum())
    with np.errstate(over="ignore", under="ignore"):
        away = np.where(n > 1, 2 * spread.seen, spread.means - mean) / whole  # of two values, from the other
        few = -np.log(whole) - 0.5 * math.log(2 * math.pi) - 0.5 * away.clip(-FARTHEST, FARTHEST) ** 2
        ratio = (spread.seen / spread.deviations) ** 2
    many = -np.log(spread.deviations) - 0.5 * math.log(2 * math.pi) - 0.5 * ratio
    scores = np.where(n > 2, n * np.maximum(many, -700.0) - 2, n * np.maximum(few, -700.0))
    return np.asarray(scores + n * column.unit)


def _by_bins(column: Column, means: Floats, deviations: Floats) -> Floats:
    """The score of each class, every value taken to be at the centre of its bin."""
    n = column.totals[:, np.newaxis]
    rest = np.where(n > 2, n - 1, 1.0)  # fewer have their own way below
    with np.errstate(over="ignore", under="ignore"):
        mean = column.positions(means)[:, np.newaxis]
        variance = np.ldexp(deviations, -column.exponent)[:, np.newaxis] ** 2
    away = column.centres - mean
    whole = column.pooled @ column.centres / column.pooled.sum()
    overall = max(float(column.spread[-1]) ** 2, float(np.finfo(float).tiny))
    centre = np.where(n > 1, mean - away / rest, whole)  # of two values, the other one
    left = n / rest * variance - n / (rest * rest) * away * away
    floor = max(column.prior.floor * overall, np.finfo(float).tiny)
    left = np.where(n > 2, np.maximum(left, floor), overall)  # one value has no spread, and takes the column's
    with np.errstate(over="ignore"):
        terms = -0.5 * np.log(2 * np.pi * left) - 0.5 * (column.centres - centre) ** 2 / left
    return column.total(np.maximum(terms, -700.0))
