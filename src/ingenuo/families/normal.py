"""The Gaussian as one of several densities to choose from: the same estimate as the family's, with its score; and none.

Left out of n values with mean μ and variance σ², the value x leaves

    μ' = μ - (x - μ) / (n - 1)        σ'² = n σ² / (n - 1) - n (x - μ)² / (n - 1)²
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import FARTHEST, Column, Curve
from ingenuo.families.family import Floats
from ingenuo.kernels.curves import GAUSSIAN


@dataclass(frozen=True)
class GaussianCurve(Curve):
    """A Gaussian for each class, by formula."""

    means: Floats  # (classes,), in the column's own unit
    deviations: Floats
    kind = "gaussian"
    way = GAUSSIAN

    def outside(self, x: Floats) -> NDArray[np.bool_]:
        """None: there is no table."""
        return np.zeros(len(x), np.bool_)

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
        """Nothing but its name."""
        return "mean and deviation"


@dataclass(frozen=True)
class SilentCurve(Curve):
    """A column in which no two values were seen: it is left out of the product."""

    kind = "constant"
    way = GAUSSIAN

    def outside(self, x: Floats) -> NDArray[np.bool_]:
        """None: there is no table."""
        return np.zeros(len(x), np.bool_)

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


def normal(column: Column, means: Floats, deviations: Floats) -> GaussianCurve:
    """The Gaussians of a column, with the likelihood of each value left out."""
    n = column.totals[:, np.newaxis]
    rest = np.where(n > 2, n - 1, 1.0)  # fewer have their own way below
    with np.errstate(over="ignore", under="ignore"):
        mean = column.positions(means)[:, np.newaxis]
        variance = np.ldexp(deviations, -column.exponent)[:, np.newaxis] ** 2
    away = column.centres - mean
    whole = column.pooled @ column.centres / column.pooled.sum()
    overall = float(column.spread[-1]) ** 2
    centre = np.where(n > 1, mean - away / rest, whole)  # of two values, the other one
    left = n / rest * variance - n / (rest * rest) * away * away
    floor = max(column.prior.floor * overall, np.finfo(float).tiny)
    left = np.where(n > 2, np.maximum(left, floor), overall)  # one value has no spread, and takes the column's
    terms = -0.5 * np.log(2 * np.pi * left) - 0.5 * (column.centres - centre) ** 2 / left
    score = column.summed(column.total(np.maximum(terms, -700.0)))
    return GaussianCurve(column, score, 0.0, 1.0, np.zeros((0, len(means))), means, deviations)
