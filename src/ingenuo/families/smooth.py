"""Smooth densities from the bins of a tally: the kernel estimate and mixtures of Gaussians.

f(t) = 1/n Σ_b n_b φ_h(t - c_b), where φ_h is a Gaussian of standard deviation h, and c_b the centre of bin b.
The bandwidth of a class is that multiple of Silverman's rule, 0.9 min(σ, quartile distance / 1.34) n^-1/5, which has
the highest leave-one-out likelihood. Values even within their bins add w²/12 to the variance of φ, taken from h².
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import STRAIGHTNESS, Column, Curve
from ingenuo.families.gaussian import FARTHEST
from ingenuo.kernels import portable
from ingenuo.kernels.densities import maximise
from ingenuo.show.arithmetic import Floats, logs

MULTIPLES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
NARROWEST = 2.0  # bins: h is never less
WITHIN = 1 / 12  # the variance of values that are even within a bin
_NOISE = 1e-11  # of the largest density: below, the FFT's rounding shows
_THINNEST = 64  # of so many points of a table one stays at least
_ROOT = math.sqrt(2 * math.pi)


def _thin(table: Floats, step: float, allowed: Floats | float = STRAIGHTNESS) -> tuple[Floats, float]:
    """As few of the points (1 more than a multiple of 64), evenly, as keep straight lines within what is allowed."""
    best = table, step
    factor = 2
    while factor <= _THINNEST:
        kept = table[::factor]
        parts = np.arange(factor)[np.newaxis, :, np.newaxis] / factor
        lines = kept[:-1, np.newaxis] + parts * (kept[1:] - kept[:-1])[:, np.newaxis]
        if (np.abs(lines.reshape(-1, table.shape[1]) - table[:-1]) > allowed).any():
            break
        best, factor = (kept, step * factor), factor * 2
    return best


@dataclass(frozen=True)
class KernelCurve(Curve):
    """A density that is a small Gaussian on every value."""

    bandwidths: Floats  # (classes,), in bins
    kind = "kernel"

    def beyond(self, t: Floats) -> Floats:
        """As the outermost value of the class has it, which far away is nearly all there is."""
        found = [_nearest(self.column, k, h, t) for k, h in enumerate(self.bandwidths.tolist())]
        return self.column.smooth(np.column_stack(found) - portable.log(self.column.totals), t)

    def own_left_out(self, t: Floats, y: NDArray[Any], w: Floats, log_density: Floats) -> Floats:
        """((n + a) p(x) - w φ_h(x - c_b)) / (n - w + a), at least a g(x) / (n - w + a); c_b: the centre of its bin."""
        column = self.column
        n, a = column.totals[y], column.imagined
        h = np.sqrt(self.bandwidths[y] ** 2 - WITHIN)
        z = (t - np.floor(t) - 0.5) / h
        own = w * np.exp(-0.5 * z * z) / (h * _ROOT)
        background = column.log_background(t)
        above = np.maximum((n + a) * np.exp(log_density + column.unit) - own, a * np.exp(background))
        left = np.maximum(n - w, 0) + a
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(above) - np.log(left)
        return np.asarray(np.where((column.seen[y] <= w) | (left <= 0), background, found) - column.unit)

    def how(self, x: float, k: int) -> str:
        """The bandwidth and how many values."""
        a = f" + {self.column.imagined:.6g}" if self.column.imagined else ""
        h = float(self.column.widths(self.bandwidths[k]))
        return f"f({x:.6g} | {self.column.totals[k]:.6g}{a} values, h {h:.4g})"

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """A value of the histogram, moved by the kernel."""
        counts = self.column.counts[k]
        bins = rng.choice(len(counts), n, p=counts / counts.sum())
        return np.asarray(bins + rng.random(n) + math.sqrt(self.bandwidths[k] ** 2 - WITHIN) * rng.normal(size=n))

    @property
    def detail(self) -> str:
        """The bandwidths."""
        widths = self.column.widths(self.bandwidths)
        return "h " + ", ".join(f"{h:.4g}" for h in widths[:6]) + (", …" if len(widths) > 6 else "")


def _nearest(column: Column, k: int, h: float, t: Floats) -> Floats:
    """log n_b φ_h(t - c_b) of the nearest bins in use on both sides: the sum's largest terms, where it is tiny."""
    used = np.flatnonzero(column.counts[k])
    place = np.searchsorted(used + 0.5, t)
    found = np.full(len(t), -np.inf)
    for side in (place - 1, place):
        at = used[side.clip(0, len(used) - 1)]
        z = ((t - at - 0.5) / h).clip(-FARTHEST, FARTHEST)
        found = np.maximum(found, portable.log(column.counts[k, at]) - 0.5 * z * z - math.log(h * _ROOT))
    return found


def kernel(column: Column, choices: Sequence[Floats] | None = None) -> KernelCurve:
    """The kernel estimate of the best bandwidths: of these (in bins, of all classes), or of multiples of the rule."""
    if choices is None:
        rule, least = silverman(column), max(NARROWEST, column.gap / 2)
        choices = [np.maximum(multiple * rule, least) for multiple in MULTIPLES]
    # Up to 4 h before the bins and 12 h + 64 behind are asked for; beyond 8.5 h, φ is below the rounding.
    widest = max(float(choice.max()) for choice in choices)
    length = 1 << (column.size + math.ceil(20.5 * widest) + _THINNEST).bit_length()
    transformed = np.fft.rfft(column.counts, length, axis=1)
    distance = np.minimum(np.arange(length), length - np.arange(length)).astype(np.float64)

    def sums(bandwidths: Floats, before: int = 0, behind: int = 0) -> Floats:
        """Σ_b n_b φ_h(t - c_b) at centres of bins, from so many before the first to so many behind the last."""
        variance = (bandwidths * bandwidths - WITHIN)[:, np.newaxis]
        kernels = portable.exp(-0.5 * distance * distance / variance) / np.sqrt(2 * np.pi * variance)
        found = np.fft.irfft(transformed * np.fft.rfft(kernels, axis=1), length, axis=1)
        return np.concatenate([found[:, length - before :], found[:, : column.size + behind]], axis=1)

    peaks = [1 / np.sqrt(2 * np.pi * (h * h - WITHIN))[:, np.newaxis] for h in choices]
    scores = np.array([column.left_out(sums(h) - peak) for h, peak in zip(choices, peaks)])
    best, classes = scores.argmax(axis=0), np.arange(len(column.counts))
    bandwidths, score = np.array(choices)[best, classes], column.sum_seen(scores[best, classes])
    # Straight lines over h/8 are within 1/512 of log f; where f is smoother than its kernel, fewer points will do.
    step = 1 << max(0, math.floor(math.log2(bandwidths.min() / 8)))
    margin = math.ceil(4 * bandwidths.max())
    points = _THINNEST * -(-(column.size + 2 * margin) // (step * _THINNEST)) + 1
    values = sums(bandwidths, margin, points * step - column.size - margin)[:, ::step]
    t = np.arange(points) * step - margin + 0.5
    dense = logs(np.where(values > _NOISE * values.max(axis=1, keepdims=True), values, 0))
    for k, h in enumerate(bandwidths.tolist()):
        hidden = np.isneginf(dense[k])
        if hidden.any():
            dense[k, hidden] = _nearest(column, k, h, t[hidden])
    smooth = column.smooth((dense - portable.log(column.totals)[:, np.newaxis]).T, t)
    # The standard error of log f is about (2 √π n f h)^-½; a twentieth of it more or less is nothing.
    error = np.sqrt(portable.exp(-smooth) / (2 * math.sqrt(math.pi) * column.totals * bandwidths)).clip(0, 1)
    table, between = _thin(smooth, float(step), STRAIGHTNESS + error[:-1] / 20)
    return KernelCurve(column, score, float(t[0]), between, table, bandwidths)


def silverman(column: Column) -> Floats:
    """0.9 min(σ, quartile distance / 1.34) n^-1/5 of each class; of the whole column, where a class has no spread."""
    quartiles = column.quantiles(np.vstack([column.counts, column.pooled]), (0.25, 0.75))
    distance = (quartiles[:, 1] - quartiles[:, 0]) / 1.34
    scale = np.where(distance > column.gap, np.minimum(column.spread, distance), column.spread)
    scale = np.where(scale[:-1] > 0, scale[:-1], scale[-1])
    return np.asarray(0.9 * scale * np.maximum(column.totals, 1) ** -0.2)


MOST = 5
POINTS = 256  # a class with more bins in use is coarsened for the search: its cost is points × components × rounds
_ROUNDS = 300
_TOLERANCE = 1e-6
_MOST_POINTS = 1 << 13  # of the table


@dataclass(frozen=True)
class Components:
    """The Gaussians of one class, in bins."""

    shares: Floats
    means: Floats
    deviations: Floats

    def log_density(self, t: Floats) -> Floats:
        """log f at positions."""
        z = ((t[:, np.newaxis] - self.means) / self.deviations).clip(-FARTHEST, FARTHEST)
        terms = logs(self.shares) - portable.log(self.deviations * _ROOT) - 0.5 * z * z
        return np.asarray(portable.log_total(terms, 1))


@dataclass(frozen=True)
class MixtureCurve(Curve):
    """A density that is a mixture of few Gaussians."""

    components: tuple[Components, ...]  # of each class
    kind = "mixture"

    def beyond(self, t: Floats) -> Floats:
        """The mixture itself."""
        return self.column.smooth(np.column_stack([each.log_density(t) for each in self.components]), t)

    def how(self, x: float, k: int) -> str:
        """How many Gaussians."""
        m, column = len(self.components[k].means), self.column
        a = f", {column.totals[k]:.6g} + {column.imagined:.6g} values" if column.imagined else ""
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
    low = min(0.0, *(float((each.means - 4 * each.deviations).min()) for each in components))
    high = max(float(column.size), *(float((each.means + 4 * each.deviations).max()) for each in components))
    step = max(min(float(each.deviations.min()) for each in components) / 8, (high - low) / _MOST_POINTS)
    t: Floats = low + step * np.arange(_THINNEST * math.ceil((high - low) / (step * _THINNEST)) + 1, dtype=np.float64)
    bare = MixtureCurve(column, 0.0, low, step, np.zeros((0, len(components))), components)
    table, step = _thin(bare.beyond(t), step)
    at = np.zeros(column.counts.shape)
    used = np.flatnonzero(column.pooled)
    at[:, used] = bare.beyond(column.centres[used]).T
    parameters = sum(3 * len(each.means) - 1 for each, n in zip(components, column.seen) if n > 0)
    score = column.sum_seen(column.total(at)) - parameters
    return MixtureCurve(column, score, low, step, table, components)


def _best(column: Column, k: int, least: float, most: int) -> Components:
    """The components of one class, as many as have the least BIC."""
    used, level = np.flatnonzero(column.counts[k]), 0
    while len(np.unique(used >> level)) > POINTS:
        level += 1
    own = column.counts[k][used]
    where = np.unique(used >> level, return_inverse=True)[1]
    weights = np.bincount(where, own).astype(np.float64)
    points = np.bincount(where, own * (used + 0.5)) / weights
    total = float(weights.sum())
    mean = float(weights @ points) / total
    deviation = math.sqrt(float(weights @ (points - mean) ** 2) / total)
    if total <= 1 and deviation == 0:  # one value has no spread of its own
        deviation = float(column.spread[-1])
    deviation = max(deviation, least)
    best, lowest, worse = Components(np.ones(1), np.array([mean]), np.array([deviation])), math.inf, 0
    for m in range(1, min(most, len(points)) + 1):
        shares = np.full(m, 1 / m)
        means = column.quantiles(column.counts[k][np.newaxis], tuple((i + 0.5) / m for i in range(m)))[0].copy()
        variances = np.full(m, max(deviation / m, least) ** 2)
        likelihood = float(maximise(points, weights, shares, means, variances, least * least, _ROUNDS, _TOLERANCE))
        bic = -2 * likelihood + (3 * m - 1) * math.log(max(total, 1.0))
        if bic < lowest - 1e-9 * abs(lowest if lowest < math.inf else 0):
            kept = shares > 0
            found = Components(shares[kept], means[kept], np.sqrt(variances[kept]))
            best, lowest, worse = found if m > 1 else best, bic, 0
        else:
            worse += 1
            if worse == 2:
                break
    return best
