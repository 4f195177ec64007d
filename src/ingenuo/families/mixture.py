"""A mixture of Gaussians for each class and column, by expectation and maximisation on the tally's bins.

    f(t) = Σ_c share_c φ(t; mean_c, σ_c)

The number of components, 1 to 5, has the least BIC = -2 L + (3m - 1) log n; the means start at the quantiles, so the
same histogram always gives the same mixture. For the likelihood with each value left out the log likelihood less the
number of parameters stands in, to which it tends as the rows grow in number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ingenuo.families.curves import FARTHEST, THINNEST, Column, Curve, thinned
from ingenuo.families.family import Floats, logs
from ingenuo.kernels import portable
from ingenuo.kernels.mixtures import maximise

MOST = 5
POINTS = 256  # a class with more bins in use is coarsened for the search: its cost is points × components × rounds
_ROUNDS = 300
_TOLERANCE = 1e-6
MOST_POINTS = 1 << 13  # of the table


@dataclass(frozen=True)
class Components:
    """The Gaussians of one class, in bins."""

    shares: Floats
    means: Floats
    deviations: Floats

    def log_density(self, t: Floats) -> Floats:
        """log f at positions."""
        z = ((t[:, np.newaxis] - self.means) / self.deviations).clip(-FARTHEST, FARTHEST)
        terms = logs(self.shares) - portable.log(self.deviations * math.sqrt(2 * math.pi)) - 0.5 * z * z
        return np.asarray(portable.log_total(terms, 1))


@dataclass(frozen=True)
class MixtureCurve(Curve):
    """A density that is a mixture of few Gaussians."""

    components: tuple[Components, ...]  # of each class
    kind = "mixture"

    def beyond(self, t: Floats) -> Floats:
        """The mixture itself."""
        return self.column.smoothed(np.column_stack([each.log_density(t) for each in self.components]), t)

    def how(self, x: float, k: int) -> str:
        """How many Gaussians."""
        m = len(self.components[k].means)
        a = f", {self.column.totals[k]:.6g} + {self.column.imagined:.6g} values" if self.column.imagined else ""
        return f"f({x:.6g} | {m} Gaussian{'s' if m > 1 else ''}{a})"

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """A component by its share, then a normal deviate."""
        own = self.components[k]
        chosen = rng.choice(len(own.means), n, p=own.shares / own.shares.sum())
        return np.asarray(rng.normal(own.means[chosen], own.deviations[chosen]))

    @property
    def detail(self) -> str:
        """The number of Gaussians of each class."""
        numbers = [len(each.means) for each in self.components]
        return ", ".join(map(str, numbers[:12])) + (", …" if len(numbers) > 12 else "") + " Gaussians"


def mixture(column: Column, most: int = MOST) -> MixtureCurve:
    """The mixture with the least BIC, class by class."""
    least = max(1.0, column.gap / 2, math.sqrt(column.prior.floor) * float(column.spread[-1]))
    components = tuple(_best(column, k, least, most) for k in range(len(column.counts)))
    narrow = min(float(each.deviations.min()) for each in components)
    low = min(float((each.means - 4 * each.deviations).min()) for each in components)
    high = max(float((each.means + 4 * each.deviations).max()) for each in components)
    low, high = min(low, 0.0), max(high, float(column.size))
    step = max(narrow / 8, (high - low) / MOST_POINTS)
    t: Floats = low + step * np.arange(THINNEST * math.ceil((high - low) / (step * THINNEST)) + 1, dtype=np.float64)
    dense = np.column_stack([each.log_density(t) for each in components])
    table, step = thinned(column.smoothed(dense, t), step)
    whole = MixtureCurve(column, 0.0, low, step, table, components)
    used = np.flatnonzero(column.pooled)
    at = np.full(column.counts.shape, 0.0)
    at[:, used] = whole.beyond(column.centres[used]).T
    parameters = sum(3 * len(each.means) - 1 for each, n in zip(components, column.seen) if n > 0)
    score = column.summed(column.total(at)) - parameters
    return MixtureCurve(column, score, low, step, table, components)


def _best(column: Column, k: int, least: float, most: int) -> Components:
    points, weights = _points(column.counts[k])
    total = float(weights.sum())
    mean = float(weights @ points) / total
    deviation = math.sqrt(float(weights @ (points - mean) ** 2) / total)
    if total <= 1 and deviation == 0:  # one value has no spread of its own
        deviation = float(column.spread[-1])
    deviation = max(deviation, least)
    best, lowest = Components(np.ones(1), np.array([mean]), np.array([deviation])), math.inf
    worse = 0
    for m in range(1, min(most, len(points)) + 1):
        found, likelihood = _fitted(column, k, points, weights, m, deviation, least)
        bic = -2 * likelihood + (3 * m - 1) * math.log(max(total, 1.0))
        if bic < lowest - 1e-9 * abs(lowest if lowest < math.inf else 0):
            best, lowest, worse = found if m > 1 else best, bic, 0
        else:
            worse += 1
            if worse == 2:
                break
    return best


def _fitted(
    column: Column, k: int, points: Floats, weights: Floats, m: int, deviation: float, least: float
) -> tuple[Components, float]:
    """m components, and their log likelihood."""
    shares = np.full(m, 1 / m)
    means = column.quantiles(column.counts[k][np.newaxis], tuple((i + 0.5) / m for i in range(m)))[0].copy()
    variances = np.full(m, max(deviation / m, least) ** 2)
    likelihood = float(maximise(points, weights, shares, means, variances, least * least, _ROUNDS, _TOLERANCE))
    kept = shares > 0
    return Components(shares[kept], means[kept], np.sqrt(variances[kept])), likelihood


def _points(counts: Floats) -> tuple[Floats, Floats]:
    """Positions and counts of the bins in use, coarsened until they are at most POINTS."""
    used = np.flatnonzero(counts)
    level = 0
    while len(np.unique(used >> level)) > POINTS:
        level += 1
    _, where = np.unique(used >> level, return_inverse=True)
    weights = np.bincount(where, counts[used]).astype(np.float64)
    return np.bincount(where, counts[used] * (used + 0.5)) / weights, weights
