"""The kernel estimate: a small Gaussian on every value, added up by FFT over the tally's bins.

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

from ingenuo.families.curves import STRAIGHTNESS, THINNEST, Column, Curve, thinned
from ingenuo.families.family import Floats, logs
from ingenuo.kernels import portable

MULTIPLES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
NARROWEST = 2.0  # bins: h is never less
WITHIN = 1 / 12  # the variance of values that are even within a bin
_NOISE = 1e-11  # of the largest density: below, the FFT's rounding shows


@dataclass(frozen=True)
class KernelCurve(Curve):
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
