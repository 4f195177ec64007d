"""Numbers of any distribution: a histogram, a kernel estimate or a mixture of Gaussians for each class and column.

All of them are functions of one tally, a `Histogram`. "auto" keeps the sums of `GaussianOrStates` and of logarithms as
well. Where that has states, it has too; and else takes for each column what has the highest likelihood when each value
is left out of the estimate that judges it; where the bins are too wide for the others, the Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import STRAIGHTNESS, Column, Curve, GaussianCurve, equal_mass, gaussian, histogram, silent
from ingenuo.families.family import Family, LearnedRows, Measure, Values, check_rows
from ingenuo.families.gaussian import (
    COUNT,
    FARTHEST,
    Chosen,
    Gaussian,
    GaussianParameters,
    NumberParameters,
    check_sums,
)
from ingenuo.families.positive import DISTRIBUTIONS, LOGS, Positive, PositiveParameters, logs_of
from ingenuo.families.states import GaussianOrStates, StateParameters, whole_name
from ingenuo.kernels import densities as loops
from ingenuo.kernels import moments as counting
from ingenuo.kernels import portable, threads
from ingenuo.kernels.densities import maximise
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Numbers, Places
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show import plots
from ingenuo.show.arithmetic import Factor, Floats, Term, exponential, logs
from ingenuo.tally.histogram import PREFIX, Histogram, bins_name
from ingenuo.tally.labels import Labels, find
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Tally

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
    """A small Gaussian on every value: f(t) = 1/n Σ_b n_b φ_h(t - c_b), c_b being the centre of bin b."""

    bandwidths: Floats  # (classes,), in bins
    kind = "kernel"

    @property
    def n_parameters(self) -> int:
        """A bandwidth for each class: what it is laid upon are the values themselves."""
        return len(self.bandwidths)

    def beyond(self, t: Floats) -> Floats:
        """As the outermost value of the class has it, which far away is nearly all there is."""
        found = [_nearest(self.column, k, h, t) for k, h in enumerate(self.bandwidths.tolist())]
        return self.column.smooth(np.column_stack(found) - portable.log(self.column.totals), t)

    def sheet_beyond(self) -> dict[str, Any]:
        """The outermost values of each class: before the table the first is the nearest, behind it the last."""
        column = self.column
        used = [np.flatnonzero(own)[[0, -1]] for own in column.counts]
        ends = np.array(used, np.float64).T
        counts = np.array([portable.log(own[at]) for own, at in zip(column.counts, used)]).T
        peaks = np.array([math.log(h * _ROOT) for h in self.bandwidths.tolist()])
        return {
            "op": "kernel", "ends": ends, "counts": counts, "widths": self.bandwidths, "peaks": peaks,
            "middle": column.size / 2, "totals": portable.log(column.totals), "smoothing": column.sheet_smoothing(),
        }  # fmt: skip

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
        n = f"{self.column.totals[k]:.6g}" + (f" + {self.column.imagined:.6g}" if self.column.imagined else "")
        h = float(self.column.widths(self.bandwidths[k]))
        return say("f({x} | {n} values, h {h})", x=f"{x:.6g}", n=n, h=f"{h:.4g}")

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
_VALUES = 5  # of a class, for each of its components at least


@dataclass(frozen=True)
class Components:
    """The Gaussians of one class, in bins."""

    shares: Floats
    means: Floats
    deviations: Floats

    def log_density(self, t: Floats) -> Floats:
        """log f at positions."""
        z = ((t[:, np.newaxis] - self.means) / self.deviations).clip(-FARTHEST, FARTHEST)
        return np.asarray(portable.log_total(self.constants - 0.5 * z * z, 1))

    @property
    def constants(self) -> Floats:
        """What a number at each mean adds."""
        return np.asarray(logs(self.shares) - portable.log(self.deviations * _ROOT))


@dataclass(frozen=True)
class MixtureCurve(Curve):
    """A density that is a mixture of few Gaussians."""

    components: tuple[Components, ...]  # of each class
    kind = "mixture"

    @property
    def handicap(self) -> float:  # type: ignore[override]
        """As much more for each Gaussian but the first as it had to gain."""
        each = (1.5 * (len(own.means) - 1) * math.log(max(n, 1)) for own, n in zip(self.components, self.column.seen))
        return Curve.handicap + sum(each)

    @property
    def n_parameters(self) -> int:
        """A mean, a deviation and a share of each Gaussian; one share follows from the others."""
        return sum(3 * len(each.means) - 1 for each in self.components)

    def beyond(self, t: Floats) -> Floats:
        """The mixture itself."""
        return self.column.smooth(np.column_stack([each.log_density(t) for each in self.components]), t)

    def sheet_beyond(self) -> dict[str, Any]:
        """The mixture itself."""
        each = [{"means": c.means, "deviations": c.deviations, "constants": c.constants} for c in self.components]
        return {"op": "mixture", "components": each, "smoothing": self.column.sheet_smoothing()}

    def how(self, x: float, k: int) -> str:
        """How many Gaussians."""
        m, column = len(self.components[k].means), self.column
        what = say("one Gaussian") if m == 1 else say("{n} Gaussians", n=m)
        if not column.imagined:
            return say("f({x} | {what})", x=f"{x:.6g}", what=what)
        n = f"{column.totals[k]:.6g} + {column.imagined:.6g}"
        return say("f({x} | {what}, {n} values)", x=f"{x:.6g}", what=what, n=n)

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
    """The mixture that is likeliest when each value is left out, class by class."""
    least = max(1.0, column.gap / 2, math.sqrt(column.prior.floor) * float(column.spread[-1]))
    components, scores = zip(*(_best(column, k, least, most) for k in range(len(column.counts))))
    low = min(0.0, *(float((each.means - 4 * each.deviations).min()) for each in components))
    high = max(float(column.size), *(float((each.means + 4 * each.deviations).max()) for each in components))
    step = max(min(float(each.deviations.min()) for each in components) / 8, (high - low) / _MOST_POINTS)
    t: Floats = low + step * np.arange(_THINNEST * math.ceil((high - low) / (step * _THINNEST)) + 1, dtype=np.float64)
    bare = MixtureCurve(column, 0.0, low, step, np.zeros((0, len(components))), components)
    table, step = _thin(bare.beyond(t), step)
    return MixtureCurve(column, column.sum_seen(np.array(scores)), low, step, table, components)


def _best(column: Column, k: int, least: float, most: int) -> tuple[Components, float]:
    """The components of one class, as many as are likeliest when each value is left out, and that likelihood.

    Taken away from converged components a value leaves its trace, so each one more has to gain 1½ log n besides.
    """
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
    each = 1.5 * math.log(max(total, 1.0))
    best, highest, worse = Components(np.ones(1), np.array([mean]), np.array([deviation])), -math.inf, 0
    for m in range(1, max(min(most, len(points), int(total / _VALUES)), 1) + 1):
        shares = np.full(m, 1 / m)
        means = column.quantiles(column.counts[k][np.newaxis], tuple((i + 0.5) / m for i in range(m)))[0].copy()
        variances = np.full(m, max(deviation / m, least) ** 2)
        maximise(points, weights, shares, means, variances, least * least, _ROUNDS, _TOLERANCE)
        kept = shares > 0
        found = Components(shares[kept], means[kept], np.sqrt(variances[kept])) if m > 1 else best
        score = _score_left_out(column, found, points, weights, least)
        if score - (m - 1) * each > highest - (len(best.means) - 1) * each:
            best, highest, worse = found, score, 0
        else:
            worse += 1
            if worse == 2:
                break
    return best, highest


def _score_left_out(column: Column, found: Components, points: Floats, weights: Floats, least: float) -> float:
    """Σ n log p of each value by the components without it: of each, its share of the value is taken away."""
    x, n = points[:, np.newaxis], weights[:, np.newaxis]
    z = ((x - found.means) / found.deviations).clip(-FARTHEST, FARTHEST)
    terms = logs(found.shares) - portable.log(found.deviations) - 0.5 * z * z
    own = portable.exp(terms - portable.log_total(terms, 1)[:, np.newaxis])  # of one value at each point
    total = float(weights.sum())
    m = np.maximum((n * own).sum(axis=0) - own, np.finfo(float).tiny)
    many = np.maximum(m, 1.0)
    about = x - found.means  # so that no digits are lost
    first, second = (n * own * about).sum(axis=0), (n * own * about * about).sum(axis=0)
    shift = (first - own * about) / many
    wide = float(column.spread[-1]) ** 2
    variance = np.where(m > 1, (second - own * about * about) / many - shift * shift, wide)  # one value has no spread
    deviation = np.sqrt(np.maximum(variance, least * least))
    z = ((about - shift) / deviation).clip(-FARTHEST, FARTHEST)
    shares = portable.log(m) - math.log(max(total - 1, np.finfo(float).tiny))
    left = np.asarray(portable.log_total(shares - portable.log(deviation * _ROOT) - 0.5 * z * z, 1))
    a = column.imagined
    above = max(total - 1, 0) * portable.exp(left) + a * portable.exp(column.log_background(points))
    below = max(total - 1, 0) + a
    p = above / below if below > 0 else np.zeros(len(points))
    return float(weights @ np.maximum(logs(p), -700.0))


ESTIMATES: dict[str, Callable[[Column], Curve]] = {"histogram": histogram, "kernel": kernel, "mixture": mixture}
HELD = ("histogram", "kernel", "equal-mass")  # densities whose shape can be held


@dataclass(frozen=True)
class FormulaCurve(Curve):
    """A distribution of numbers that are not negative, by formula."""

    of: PositiveParameters  # of the one column

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The name of the distribution."""
        return self.of.of.name

    @property
    def detail(self) -> str:
        """Its parameters."""
        return self.of.chosen(self.of.columns[0]).detail

    @property
    def n_parameters(self) -> int:
        """Those of each class."""
        return self.of.n_parameters

    def log_density(self, x: Floats) -> Floats:
        """By the formula; what is impossible, or farther out than any value, says nothing."""
        return np.maximum(self.of.log_density(self.of.columns[0], x), -700.0)

    def outside(self, x: Floats) -> Floats:
        """By the formula: there is no table."""
        return self.log_density(x)

    def sheet_term(self) -> dict[str, Any]:
        """The formula."""
        (found,) = self.of.sheet_terms()
        return {**found, "op": "bounded formula"}

    def how(self, x: float, k: int) -> str:
        """The name, and the parameters."""
        return self.of.how(0, x, k)

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """By the distribution; it has no imaginary values."""
        return np.asarray(next(iter(self.of.sample(np.full(n, k), rng).values())))

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and deviation."""
        return self.of.moments(0)


def formulas(
    column: Column, tally: Tally, prior: Prior, schema: Schema, name: Labels, classes: Labels
) -> Iterator[FormulaCurve]:
    """What a column may have all of whose values are positive, or whole; the score: the likelihood less parameters."""
    n = tally.over(COUNT, classes, name).floats()[:, 0]
    positive = np.array_equal(tally.over(LOGS[0], classes, name).floats()[:, 0], n)
    whole = tally.labels(whole_name(name.tolist()[0]), 1)
    counts = tally.over(whole_name(name.tolist()[0]), classes, whole).floats()
    counted = len(whole) > 0 and whole[0] >= 0 and np.array_equal(counts.sum(axis=1), n)
    for of in DISTRIBUTIONS:
        if not (counted if of.whole else positive):
            continue
        found = Positive(of).estimate(tally, prior, schema, name, classes)
        assert isinstance(found, PositiveParameters)
        if of.whole:
            terms = np.maximum(found.log_density(name[0], whole.astype(np.float64)).T, -700.0)
            score = float((counts * terms).sum())
        else:
            score = found.sum_log_likelihood(tally, classes)
        offset = float(column.seen.sum()) * column.unit - found.n_parameters
        yield FormulaCurve(column, score + offset, 0.0, 1.0, np.zeros((0, len(classes))), found)


# Whether a column's bins are too wide for most of its values, because a few lie, or lay, very far out.
_FEW = 4  # bins between the quartiles
_FEWEST = 20  # values: fewer have no bulk to speak of
_OUTSIDE, _CODES = 0.01, 3  # of the values, at most, lie outside, and at most so many different ones


def describe_crowd(column: Column, deviations: Floats | None) -> str:
    """What to say of a column whose bins are too wide for most of its values, by exact deviations where known."""
    pooled = column.pooled
    total, used = float(pooled.sum()), np.flatnonzero(pooled)
    whole = column.exponent <= 0 and not ((used + column.first) & ((1 << min(-column.exponent, 62)) - 1)).any()
    if total < _FEWEST or not column.widened or whole:
        return ""
    low, high = np.searchsorted(np.cumsum(pooled), np.array([0.25, 0.75]) * total).tolist()
    if high - low + 1 >= _FEW:
        return ""
    near = used[(used >= low - _FEW) & (used <= high + _FEW)]
    if len(used) - len(near) <= _CODES and total - pooled[near].sum() <= _OUTSIDE * total:
        low, high = int(near[0]), int(near[-1])
        inside = (column.seen > 0) & (column.counts[:, low] == column.totals)
        if low == high and deviations is not None and inside.any() and not (deviations[inside] > 0).any():
            return ""  # one value, by the classes that have no others
    elif high == low:
        return ""
    share, bins = pooled[low : high + 1].sum() / total, int((pooled[low : high + 1] > 0).sum())
    wide = f"{float(column.widths(1.0)):.6g} wide"
    return f"{column_name(column.name)!r} ({wide}, {100 * share:.4g} % of the values in {bins} of them)"


@dataclass(frozen=True)
class DensityParameters(NumberParameters):
    """The curves of each column, and the scores of all that were tried."""

    columns: Labels
    curves: tuple[Curve, ...]
    scores: tuple[Mapping[str, float], ...]
    tables: loops.Tables
    remarks: tuple[str, ...] = ()  # on columns whose bins are too wide
    letters = words = ("mean", "standard deviation")

    def only(self, lo: int, hi: int) -> DensityParameters:
        """The same of columns lo..hi."""
        curves = self.curves[lo:hi]
        tables = _tables(curves, self.tables.points.shape[1])
        return DensityParameters(self.columns[lo:hi], curves, self.scores[lo:hi], tables)

    def figures(self, j: int) -> tuple[Floats, ...]:
        """Mean and deviation."""
        return self.moments(j)

    def moments(self, j: int) -> tuple[Floats, Floats]:
        """Mean and deviation."""
        return self.curves[j].moments()

    def add_log_likelihood(self, block: Numbers, out: Floats, floor: float | None = None) -> None:
        """Add the log densities; a missing value adds nothing."""
        least = -np.inf if floor is None else floor
        tables = self.tables if floor is None else self.tables._replace(points=np.maximum(self.tables.points, floor))
        loops.add_curves(block, tables, out, lambda j, x: np.maximum(self.curves[j].outside(x), least))

    def factors(self, block: Numbers) -> list[Factor]:
        """The density of each class, and how it comes about."""
        found = []
        for j, (name, curve, x) in enumerate(zip(self.columns, self.curves, block.rows(0, 1)[0])):
            if math.isnan(x):
                found.append(Factor(column_name(name), say("missing"), note=say("left out")))
                continue
            if curve.kind == "constant":
                found.append(Factor(column_name(name), f"{x:.6g}", note=say("left out: no two values were seen")))
                continue
            logs = np.zeros((1, self.tables.points.shape[1]))
            self.only(j, j + 1).add_log_likelihood(block.only(j, j + 1), logs)
            terms = [Term(curve.how(float(x), k), exponential(log), log) for k, log in enumerate(logs[0].tolist())]
            found.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        return found

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Values drawn from the curves."""
        result = {}
        for name, curve in zip(self.columns.tolist(), self.curves):
            values = result[name] = np.empty(len(drawn))
            for k in np.unique(drawn).tolist():
                values[drawn == k] = curve.sample(k, int((drawn == k).sum()), rng)
        return result

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """The curve of each column."""
        for column, curve in zip(self.columns.tolist(), self.curves):
            yield {**curve.sheet_term(), "column": column}

    def log_density(self, column: object, x: Floats) -> Floats:
        """log p(x | class) of one column, for each value and class."""
        at = self.columns.tolist().index(column)
        return np.asarray(self.curves[at].log_density(np.asarray(x, np.float64)))

    def chosen(self, column: object) -> Chosen:
        """What one column was given."""
        at = self.columns.tolist().index(column)
        return Chosen(self.curves[at].kind, self.curves[at].detail, self.scores[at])

    def reach(self, column: object) -> tuple[float, float] | None:
        """Where to draw a column whose bins are wider than its Gaussians; of others, the histogram tells."""
        curve = self.curves[self.columns.tolist().index(column)]
        if not isinstance(curve, GaussianCurve) or not curve.alone:
            return None
        none = np.zeros((1, 1))
        own = curve.means[:, np.newaxis], curve.deviations[:, np.newaxis]
        return GaussianParameters(np.array([column]), none, *own).reach(column)

    @property
    def n_parameters(self) -> int:
        """Those of each column's curve."""
        return sum(curve.n_parameters for curve in self.curves)

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Measure]:
        """What numbers add."""
        for column, curve in zip(self.columns.tolist(), self.curves):

            def at(x: Floats, column: object = column) -> Floats:
                return weight * self.log_density(column, x)

            first, last = curve.column.values(np.array([0.0, float(curve.column.size)])).tolist()
            if curve.kind == "constant":
                nothing = np.zeros(len(priors))
                yield Measure(column, at, first, last, nothing, nothing, weight, silent=True)
            else:
                found = Measure.of(column, at, *curve.moments(), priors, weight=weight)
                yield replace(found, low=max(found.low, first), high=min(found.high, last))


@dataclass(frozen=True)
class Density(Family):
    """A density per class and column, estimated from histograms: of one kind, or of the likeliest."""

    kind: str  # one of ESTIMATES, "equal-mass", or "auto"
    bins: int = 10  # of equal mass
    in_bins = True

    def tally(self, chunk: Chunk, block: Numbers) -> Tally:
        """The histogram of each column; for "auto" the Gaussian's sums as well."""
        K = len(chunk.classes)
        if chunk.weights is None:
            parts = counting.histograms(block, chunk.coded, K)
        else:
            parts = [counting.weighted_histograms(block, chunk.coded, chunk.weights, K)]
        total = Tally()
        if self.kind == "auto":
            total = GaussianOrStates().tally(chunk, block) + Gaussian().tally(chunk, logs_of(block), names=LOGS)
        for part in parts:
            found = zip(map(bins_name, block.names.tolist()), part)
            total = total + Tally(
                {name: Histogram.counted(chunk.classes, own) for name, own in found if own is not None}
            )
        return total

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> DensityParameters | StateParameters:
        """The curves of every column, or its states."""
        counted = GaussianOrStates().estimate(tally, prior, schema, columns, classes) if self.kind == "auto" else None
        states = {}
        if isinstance(counted, StateParameters):  # which must be likelier by as much as all others
            gains = {j: max(own.values()) - own["gaussian"] for j, own in counted.scores.items() if own}
            states = {j: own for j, own in counted.states.items() if gains[j] >= Curve.handicap}
        sums: Any = counted.plain if isinstance(counted, StateParameters) else counted
        each = [
            partial(self._try, tally, prior, schema, columns[j : j + 1], classes, sums, j) for j in range(len(columns))
        ]
        found = threads.run(each)
        curves = tuple(max(tried, key=lambda curve: curve.score - curve.handicap) for tried, _ in found)
        scores = tuple({curve.kind: curve.score - curve.offset for curve in tried} for tried, _ in found)
        crowds = [crowd for j, (_, crowd) in enumerate(found) if crowd and j not in states]
        more = f" and {len(crowds) - 5} more" if len(crowds) > 5 else ""
        remark = (
            f"the bins of column{'s' if len(crowds) > 1 else ''} {', '.join(crowds[:5])}{more} are too wide to tell "
            "these values apart, because of a value very far from the others; make it missing (NaN), or fit again "
            "without it"
        )
        plain = DensityParameters(columns, curves, scores, _tables(curves, len(classes)), (remark,) if crowds else ())
        if not isinstance(counted, StateParameters) or not states:
            return plain
        tried = {j: {**own, **(counted.scores[j] if j in states else {})} for j, own in enumerate(scores)}
        return StateParameters(plain, states, tried)

    def _try(
        self, tally: Tally, prior: Prior, schema: Schema, column_of: Labels, classes: Labels,
        sums: GaussianParameters | None, j: int,
    ) -> tuple[list[Curve], str]:  # fmt: skip
        """The curves that one column may have, and what to say where its bins are too wide."""
        name = column_of.tolist()[0]
        bins = tally.bins(bins_name(name))
        if bins is None or not len(bins.places):
            return [silent(name, bins, classes, prior)], ""
        column = Column.of(name, bins, classes, prior)
        if not column.seen.any():
            return [silent(name, None, classes, prior)], ""
        tried: list[Curve] = []
        seen = None if sums is None or sums.seen is None else sums.seen[:, j]
        crowd = describe_crowd(column, seen)
        if sums is not None and sums.whole is not None and (column.size > 1 or (sums.whole[j] > 0 and column.widened)):
            normal = gaussian(column, sums, j)
            tried.append(normal)
            if normal.alone or column.size == 1:
                return tried, crowd
        if column.size == 1:
            return [silent(name, bins, classes, prior)], crowd
        if self.kind == "equal-mass":
            return [equal_mass(column, self.bins)], crowd
        more = formulas(column, tally, prior, schema, column_of, classes) if self.kind == "auto" else ()
        return [*tried, *(ESTIMATES[kind](column) for kind in ESTIMATES if self.kind in ("auto", kind)), *more], crowd

    def tables(self, columns: Labels) -> set[str]:
        """The tables of whole numbers that "auto" has."""
        return GaussianOrStates().tables(columns) if self.kind == "auto" else set()

    def left_out(self, rows: LearnedRows, prior: Prior, block: Numbers) -> Floats:
        """With the shape held, where it can be, unless exact answers are asked for."""
        if rows.exact or self.kind not in HELD:
            return super().left_out(rows, prior, block)
        parameters: DensityParameters = rows.estimate(self, prior, block.names)
        y, w = rows.chunk.coded, rows.weights
        found = (curve.left_out(block.column(j), y, w) for j, curve in enumerate(parameters.curves))
        return np.asarray(sum(found, np.zeros((block.n_rows, len(rows.classes)))))

    def check(self, tally: Tally) -> None:
        """No class has more values in a column than it has rows."""
        if self.kind == "auto":
            GaussianOrStates().check(tally)
            check_sums(tally, LOGS)
        for name in tally:
            if name.startswith(PREFIX):
                check_rows(tally, name)


def _tables(curves: tuple[Curve, ...], K: int) -> loops.Tables:
    d = len(curves)
    sizes = [len(curve.table) for curve in curves]
    means, over, constants = np.zeros((3, d, K))  # so that a silent column adds 0
    for j, curve in enumerate(curves):
        if isinstance(curve, GaussianCurve):
            means[j], over[j], constants[j] = curve.means, 1 / curve.deviations, loops.constants(curve.deviations)
    return loops.Tables(
        np.array([curve.way for curve in curves], np.int64),
        np.array([curve.column.exponent for curve in curves], np.int64),
        np.array([curve.column.first + curve.origin for curve in curves]),
        np.array([1 / curve.step for curve in curves]),
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        np.maximum(np.concatenate([np.zeros((0, K)), *(c.table - c.column.unit for c in curves)]), loops.NOTHING),
        means,
        over,
        constants,
    )


_POINTS = 801
_BARS = 40  # of the histogram behind the curves, about


def draw_densities(parameters: Any, part: Measure, classes: Labels, bins: Histogram | None, ax: Any) -> Any:
    """A curve for each class, and the histogram of its values where the model keeps one."""
    ax, column = plots.new_axes(ax), part.column
    reach = parameters.reach(column)
    bins = bins if reach is None else None
    low, high = reach or _range(bins)
    x = np.nextafter(np.linspace(low, high, _POINTS), np.inf)  # beside whole numbers, which may have a mass
    densities = np.exp(part.at(x))
    top = float(densities.max())
    bars = None if bins is None else _bars(bins, classes, low, high)
    for k, label in enumerate(classes.tolist()):
        colour = f"C{k % 10}"
        if bars is not None:
            ax.stairs(bars[1][k], bars[0], fill=True, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, densities[:, k], color=colour, label=str(label), linestyle="-" if k < 10 else "--")
    ax.set_xlim(low, high)
    # Up to the top of the curves, and of bars up to twice as high.
    ax.set_ylim(0, 1.05 * (top if bars is None else max(top, min(float(bars[1].max()), 2 * top))))
    ax.set_xlabel(column_name(column))
    ax.set_ylabel(f"density (per unit of {column_name(column)})")
    ax.set_title(parameters.chosen(column).density, fontsize="medium")
    if column in parameters.masses:
        values, shares = parameters.masses[column]
        _draw_masses(values, shares, (high - low) / 100, ax)
    ax.legend(title="class", fontsize="small", ncols=1 + len(classes) // 10)
    return ax


def _draw_masses(values: Labels, shares: Floats, width: float, ax: Any) -> None:
    """A bar for each class at each number that has a probability of its own, by a scale of their own."""
    scale = ax.twinx()
    for k, own in enumerate(shares[:, : len(values)]):
        at = values + (k - (len(shares) - 1) / 2) * width
        scale.bar(at, own, width, color=f"C{k % 10}", alpha=0.5)
    scale.set_ylim(0, 1)
    scale.set_ylabel("P(value | class), the bars")


def _range(bins: Histogram | None) -> tuple[float, float]:
    """All the values; where a few lie very far out, the middle 99 % with as much on either side."""
    assert bins is not None, "every density but the Gaussian has a histogram"
    upto = np.cumsum(bins.sums.floats().sum(axis=0))
    ends = np.ldexp(np.array([bins.places[0], bins.places[-1] + 1], np.float64), bins.exponent)
    middle = bins.places[np.searchsorted(upto / upto[-1], [0.005, 0.995]).clip(0, len(upto) - 1)]
    near = np.ldexp(middle + 0.5, bins.exponent)
    reach = max(float(near[1] - near[0]), bins.width)
    low, high = max(ends[0], near[0] - reach), min(ends[1], near[1] + reach)
    margin = 0.05 * (high - low)
    return float(low - margin), float(high + margin)


def _bars(bins: Histogram, classes: Labels, low: float, high: float) -> tuple[Floats, Floats]:
    """Edges and heights (classes × bars) of a histogram of about so many bars between low and high."""
    coarse = max(bins.exponent, int(np.ceil(np.log2((high - low) / _BARS))))
    wide = bins.coarsened(coarse)
    places = np.arange(wide.places[0], wide.places[-1] + 1)
    counts = wide.over(classes).pick(1, find(wide.places, places)).floats()
    totals = np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.ldexp(np.append(places, places[-1] + 1).astype(np.float64), coarse), counts / totals / wide.width
