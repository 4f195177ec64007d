"""Smooth densities from the bins of a tally: the kernel estimate and mixtures of Gaussians.

    f(t) = 1/n Σ_b n_b φ_h(t - c_b)        φ_h: a Gaussian of standard deviation h, c_b the centre of bin b

The bandwidth of a class is a multiple of Silverman's rule, 0.9 min(σ, quartile distance / 1.34) n^-1/5; of a
few multiples, the one with the highest leave-one-out likelihood. A value in bin b is left out as n f(c_b) - φ_h(0).

A value is moved by half a bin's width w at most, so the estimate differs from that of the values themselves by less
than (w/2) max|φ_h'| = 0.121 w / h². Values even within their bins only add w²/12 to the variance of φ; that much is
taken from h², so that the difference is of the fourth order in w/h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import FARTHEST, STRAIGHTNESS, THINNEST, Column, TableCurve, thinned
from ingenuo.kernels import portable
from ingenuo.kernels.densities import maximise
from ingenuo.show.arithmetic import Floats, logs

MULTIPLES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
NARROWEST = 2.0  # bins: h is never less
WITHIN = 1 / 12  # the variance of values that are even within a bin
_NOISE = 1e-11  # of the largest density: below, the FFT's rounding shows


@dataclass(frozen=True)
class KernelCurve(TableCurve):
    """A density that is a small Gaussian on every value."""

    bandwidths: Floats  # (classes,), in bins
    kind = "kernel"

    def beyond(self, t: Floats) -> Floats:
        """As the outermost value of the class has it, which far away is nearly all there is."""
        column = self.column
        result = np.empty((len(t), len(column.counts)))
        below = t < self.origin
        for k, h in enumerate(self.bandwidths):
            used = column.centres[column.counts[k] > 0]
            near = np.where(below, used[0], used[-1])
            many = np.where(
                below, column.counts[k][column.counts[k] > 0][0], column.counts[k][column.counts[k] > 0][-1]
            )
            z = ((t - near) / h).clip(-1e150, 1e150)
            result[:, k] = (
                portable.log(many) - portable.log(column.totals[k]) - 0.5 * z * z - math.log(h * math.sqrt(2 * math.pi))
            )
        return column.smoothed(result, t)

    def own_left_out(self, t: Floats, y: NDArray[Any], w: Floats, log_density: Floats) -> Floats:
        """((n + a) p(x) - w φ_h(x - c_b)) / (n - w + a), at least a g(x) / (n - w + a); c_b: the centre of its bin."""
        column = self.column
        n, a = column.totals[y], column.imagined
        h = np.sqrt(self.bandwidths[y] ** 2 - WITHIN)
        z = (t - np.floor(t) - 0.5) / h
        own = w * np.exp(-0.5 * z * z) / (h * math.sqrt(2 * math.pi))
        imagined = a * np.exp(column.log_background(t))
        above = np.maximum((n + a) * np.exp(log_density + column.unit) - own, imagined)
        left = np.maximum(n - w, 0) + a
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(above) - np.log(left)
        alone = column.seen[y] <= w
        return np.asarray(np.where(alone | (left <= 0), column.log_background(t), found) - column.unit)

    def how(self, x: float, k: int) -> str:
        """The bandwidth and how many values."""
        h = float(np.ldexp(self.bandwidths[k], self.column.exponent))
        a = f" + {self.column.imagined:.6g}" if self.column.imagined else ""
        return f"f({x:.6g} | {self.column.totals[k]:.6g}{a} values, h {h:.4g})"

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """A value of the histogram, moved by the kernel."""
        counts = self.column.counts[k]
        bins = rng.choice(len(counts), n, p=counts / counts.sum())
        return np.asarray(bins + rng.random(n) + math.sqrt(self.bandwidths[k] ** 2 - WITHIN) * rng.normal(size=n))

    @property
    def detail(self) -> str:
        """The bandwidths."""
        widths = np.ldexp(self.bandwidths, self.column.exponent)
        return "h " + ", ".join(f"{h:.4g}" for h in widths[:6]) + (", …" if len(widths) > 6 else "")


def kernel(column: Column, multiples: tuple[float, ...] = MULTIPLES) -> KernelCurve:
    """The kernel estimate of the best bandwidth."""
    rule = silverman(column)
    least = max(NARROWEST, column.gap / 2)
    choices = [np.maximum(multiple * rule, least) for multiple in multiples]
    sums = _Sums(column, max(float(choice.max()) for choice in choices))
    found = np.array([column.left_out(sums.at(choice) - _peak(choice)[:, np.newaxis]) for choice in choices])
    best = found.argmax(axis=0)
    classes = np.arange(len(rule))
    return _curve(column, np.array(choices)[best, classes], column.summed(found[best, classes]), sums)


def with_bandwidths(column: Column, bandwidths: Floats) -> KernelCurve:
    """The kernel estimate of given bandwidths, in bins."""
    sums = _Sums(column, float(bandwidths.max()))
    found = column.left_out(sums.at(bandwidths) - _peak(bandwidths)[:, np.newaxis])
    return _curve(column, bandwidths, column.summed(found), sums)


def silverman(column: Column) -> Floats:
    """0.9 min(σ, quartile distance / 1.34) n^-1/5 of each class; of the whole column, where a class has no spread."""
    every = np.vstack([column.counts, column.pooled])
    quartiles = column.quantiles(every, (0.25, 0.75))
    distance = (quartiles[:, 1] - quartiles[:, 0]) / 1.34
    scale = np.where(distance > column.gap, np.minimum(column.spread, distance), column.spread)
    scale = np.where(scale[:-1] > 0, scale[:-1], scale[-1])
    return np.asarray(0.9 * scale * np.maximum(column.totals, 1) ** -0.2)


def _curve(column: Column, bandwidths: Floats, score: float, sums: _Sums) -> KernelCurve:
    # Straight lines over h/8 are within 1/512 of log f; where f is smoother than its kernel, fewer points will do.
    step = 1 << max(0, math.floor(math.log2(bandwidths.min() / 8)))
    margin = math.ceil(4 * bandwidths.max())
    points = THINNEST * -(-(column.size + 2 * margin) // (step * THINNEST)) + 1
    values = sums.at(bandwidths, margin, points * step - column.size - margin)[:, ::step]
    t = np.arange(points) * step - margin + 0.5
    dense = logs(np.where(values > _NOISE * values.max(axis=1, keepdims=True), values, 0))
    for k, h in enumerate(bandwidths):
        hidden = np.isneginf(dense[k])
        if hidden.any():
            dense[k, hidden] = _nearest(column, k, float(h), t[hidden])
    smooth = column.smoothed((dense - portable.log(column.totals)[:, np.newaxis]).T, t)
    # The standard error of log f is about (2 √π n f h)^-½; a twentieth of it more or less is nothing.
    error = np.sqrt(portable.exp(-smooth) / (2 * math.sqrt(math.pi) * column.totals * bandwidths)).clip(0, 1)
    table, apart = thinned(smooth, float(step), STRAIGHTNESS + error[:-1] / 20)
    return KernelCurve(column, score, float(t[0]), apart, table, bandwidths)


def _peak(bandwidths: Floats) -> Floats:
    return np.asarray(1 / np.sqrt(2 * np.pi * (bandwidths * bandwidths - WITHIN)))


def _nearest(column: Column, k: int, h: float, t: Floats) -> Floats:
    """log n_b φ_h(t - c_b) of the nearest bins in use on both sides: the sum's largest terms, where it is tiny."""
    used = np.flatnonzero(column.counts[k])
    place = np.searchsorted(used + 0.5, t)
    found = np.full(len(t), -np.inf)
    for side in (place - 1, place):
        at = used[side.clip(0, len(used) - 1)]
        z = (t - at - 0.5) / h
        found = np.maximum(
            found, portable.log(column.counts[k, at]) - 0.5 * z * z - math.log(h * math.sqrt(2 * math.pi))
        )
    return found


class _Sums:
    """Σ_b n_b φ_h(t - c_b) at the bins' centres, for any h up to the widest; the counts are transformed once."""

    def __init__(self, column: Column, widest: float) -> None:
        self.size = column.size
        # Up to 4 h before the bins and 12 h + THINNEST behind are asked for; beyond 8.5 h, φ is below the rounding.
        self.length = 1 << (self.size + math.ceil(20.5 * widest) + THINNEST).bit_length()
        self._counts = np.fft.rfft(column.counts, self.length, axis=1)
        self._distance = np.minimum(np.arange(self.length), self.length - np.arange(self.length)).astype(np.float64)

    def at(self, bandwidths: Floats, before: int = 0, behind: int = 0) -> Floats:
        """The sums (classes × positions), from so many bins before the first to so many behind the last."""
        variance = (bandwidths * bandwidths - WITHIN)[:, np.newaxis]
        distance = self._distance
        kernels = portable.exp(-0.5 * distance * distance / variance) / np.sqrt(2 * np.pi * variance)
        found = np.fft.irfft(self._counts * np.fft.rfft(kernels, axis=1), self.length, axis=1)
        return np.concatenate([found[:, self.length - before :], found[:, : self.size + behind]], axis=1)


# A mixture of Gaussians for each class and column, by expectation and maximisation on the tally's bins.


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
class MixtureCurve(TableCurve):
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
