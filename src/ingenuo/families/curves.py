"""One column's densities, class by class, from its histogram: Gaussians, level bins, and what all curves share.

Everything is reckoned in bins: t = x / 2^e - first is the position of x in the column's histogram, bin i covers
[i, i + 1) and its centre is i + ½. So no column is too large, too small or too far from zero for a double, and
log p(x) = log p(t) - e log 2. A prior is imaginary data here too: so many values a of each class, with the density g of
a Cauchy distribution that has the column's median and quartiles: p(t | class) = (n f(t) + a g(t)) / (n + a).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.gaussian import FARTHEST, GaussianParameters, log_normal
from ingenuo.families.states import imaginary
from ingenuo.kernels import portable
from ingenuo.kernels.densities import GAUSSIAN, LEVEL, NOTHING, STRAIGHT, constants
from ingenuo.kernels.moments import LEAST_EXPONENT
from ingenuo.show.arithmetic import Floats, fraction, logs
from ingenuo.tally.histogram import Histogram
from ingenuo.tally.labels import Labels
from ingenuo.tally.prior import Prior

STRAIGHTNESS = 1 / 1024  # of a logarithm: straight lines between the points of a table miss it by no more
MODERATE = 1e100  # no class counts for more values than this, or for fewer than one in so many
_LEAST = -700.0  # no value that is left out counts as less likely: a single one says no more
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Column:
    """The histogram of one column, from its first bin to its last, for each class."""

    name: object
    exponent: int
    first: int
    seen: Floats  # (classes,) how many values
    counts: Floats  # (classes, bins); a class that has no value has the whole column's
    prior: Prior

    @staticmethod
    def of(name: object, bins: Histogram, classes: Labels, prior: Prior) -> Column:
        """The column's histogram in a tally."""
        counts = np.zeros((len(classes), int(bins.places[-1] - bins.places[0]) + 1))
        counts[:, bins.places - bins.places[0]] = bins.over(classes).floats()
        for own in counts:  # weights beyond MODERATE keep their shares, and the class is as large as that
            total = float(own.sum())
            if total > 0 and not 1 / MODERATE < total < MODERATE:
                own[:] = own / total * min(max(total, 1 / MODERATE), MODERATE)
        seen = counts.sum(axis=1)
        counts[seen == 0] = counts.sum(axis=0)
        return Column(name, bins.exponent, int(bins.places[0]), seen, counts, prior)

    @property
    def size(self) -> int:
        """How many bins."""
        return int(self.counts.shape[1])

    @property
    def unit(self) -> float:
        """The logarithm of a bin's width."""
        return self.exponent * math.log(2)

    @cached_property
    def totals(self) -> Floats:
        """The number of values of each class (of the whole column, for a class that has none)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def centres(self) -> Floats:
        """The positions of the bins' centres."""
        return np.arange(self.size, dtype=np.float64) + 0.5

    @cached_property
    def pooled(self) -> Floats:
        """The counts of all the classes together."""
        return np.asarray(self.counts[self.seen > 0].sum(axis=0))

    @cached_property
    def gap(self) -> int:
        """How far the typical value is from the next one that differs, rare ones aside: if rounded, the unit."""
        used = np.flatnonzero(self.pooled)
        sizes = np.sort(self.pooled[used])
        if len(used) >= 2:
            upto = np.cumsum(sizes)
            used = np.flatnonzero(self.pooled >= sizes[np.searchsorted(upto, upto[-1] / 2)] / 4)
        if len(used) < 2:
            return 1
        steps = np.diff(used)
        nearest = np.minimum(np.append(steps, steps[-1]), np.append(steps[0], steps))
        order = np.argsort(nearest, kind="stable")
        upto = np.cumsum(self.pooled[used][order])
        return int(nearest[order][np.searchsorted(upto, upto[-1] / 2)])

    @cached_property
    def widened(self) -> bool:
        """Whether the bins are wider than the size of the values alone demands: for that, places are at least 2^49."""
        farthest = max(abs(self.first), abs(self.first + self.size - 1))
        return self.exponent > LEAST_EXPONENT and farthest < 1 << 49

    @cached_property
    def imagined(self) -> float:
        """How many imaginary values each class has."""
        return imaginary(self.prior, self.name)

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of each class, and that of the whole column last."""
        every = np.vstack([self.counts, self.pooled])
        totals = every.sum(axis=1)
        deviation = self.centres - (every @ self.centres / totals)[:, np.newaxis]
        with np.errstate(under="ignore"):
            return np.asarray(np.sqrt((every * deviation * deviation).sum(axis=1) / totals))

    def quantiles(self, counts: Floats, shares: tuple[float, ...]) -> Floats:
        """The positions below which these shares of the counts lie (rows × shares); a gap is halved."""
        result = np.empty((len(counts), len(shares)))
        for row, each in enumerate(counts):
            upto = np.append(0.0, np.cumsum(each))
            wanted = np.array(shares) * upto[-1]
            used = np.flatnonzero(each)  # no flat steps, so that the inverse is a function
            ends, starts = np.append(used[0], used + 1), np.append(used, used[-1] + 1)
            result[row] = (np.interp(wanted, upto[ends], ends) + np.interp(wanted, upto[starts], starts)) / 2
        return result

    @cached_property
    def background(self) -> tuple[float, float]:
        """Median and half the distance of the quartiles of the whole column; at least half a gap."""
        low, middle, high = self.quantiles(self.pooled[np.newaxis], (0.25, 0.5, 0.75))[0]
        scale = (high - low) / 2 if high - low > self.gap else self.spread[-1]
        return float(middle), max(float(scale), self.gap / 2)

    def log_background(self, t: Floats) -> Floats:
        """log g at positions: g = 1 / (π s (1 + z²)), z = (t - m) / s."""
        middle, scale = self.background
        z = ((t - middle) / scale).clip(-FARTHEST, FARTHEST)
        return np.asarray(-math.log(math.pi * scale) - portable.log1p(z * z))

    def smooth(self, log_density: Floats, t: Floats) -> Floats:
        """log (n f + a g) / (n + a), from log f (positions × classes)."""
        n, a = self.totals, self.imagined
        if a == 0:
            return log_density
        own = log_density + portable.log(n) - portable.log(n + a)
        return np.asarray(
            portable.log_sum(own, self.log_background(t)[:, np.newaxis] + math.log(a) - portable.log(n + a))
        )

    def sheet_smoothing(self) -> dict[str, Any]:
        """What a sheet has of the imaginary values."""
        n, a = self.totals, self.imagined
        middle, scale = self.background
        return {
            "imagined": a, "log_imagined": math.log(a) if a else 0.0, "logs": portable.log(n),
            "logs_with": portable.log(n + a), "middle": middle, "scale": scale, "peak": -math.log(math.pi * scale),
        }  # fmt: skip

    def left_out(self, above: Floats) -> Floats:
        """Σ n_b log p(b) of each class, each value left out of its estimate, from n f without it (classes × bins)."""
        a = self.imagined
        whole = np.maximum(above, 0) + a * portable.exp(self.log_background(self.centres))
        below = np.maximum(self.totals - 1, 0) + a
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(below[:, np.newaxis] > 0, whole / below[:, np.newaxis], 0)
        return self.total(logs(p))

    def total(self, terms: Floats) -> Floats:
        """Σ n_b · terms over the bins in use of each class (terms: classes × bins), none below -700."""
        return np.asarray((self.counts * np.where(self.counts > 0, np.maximum(terms, _LEAST), 0)).sum(axis=1))

    def sum_seen(self, scores: Floats) -> float:
        """The scores of the classes that have values, together."""
        return float(scores[self.seen > 0].sum())

    def positions(self, x: Floats) -> Floats:
        """Where values stand in the histogram."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.ldexp(x, -self.exponent).clip(-FARTHEST, FARTHEST) - self.first)

    def values(self, t: Floats) -> Floats:
        """The values at positions; those beyond the doubles are the farthest there are."""
        most = np.finfo(float).max
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.ldexp(t + self.first, self.exponent).clip(-most, most))

    def widths(self, bins: Any) -> Any:
        """So many bins in the column's own unit."""
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(bins, self.exponent)


@dataclass(frozen=True)
class Curve:
    """The densities of one column: a table of logarithms, straight between its points (or level), and tails."""

    column: Column
    score: float  # the log likelihood with each value left out, in bins
    origin: float  # the position of the table's first point
    step: float
    table: Floats  # (points, classes), log densities in bins
    kind = ""
    way = STRAIGHT  # between the points; or level, each point's value up to the next
    # Nats by which it must be likelier than a Gaussian: what it has to choose, its values have helped to choose.
    handicap = 10.0

    @property
    def offset(self) -> float:
        """What the score is less in the column's own unit than in bins."""
        return float(self.column.seen.sum()) * self.column.unit

    @property
    def detail(self) -> str:
        """The settings that were chosen, in a few words."""
        return ""

    def how(self, x: float, k: int) -> str:
        """What a person would write for the density of class k at x."""
        raise NotImplementedError

    def beyond(self, t: Floats) -> Floats:
        """Log densities (positions × classes) outside the table."""
        raise NotImplementedError

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """So many positions drawn from class k, without the imaginary values."""
        raise NotImplementedError

    @property
    def n_parameters(self) -> int:
        """How many numbers were estimated: of a curve that is left out, none."""
        return 0

    def log_density(self, x: Floats) -> Floats:
        """log p(x | class), for each value and class."""
        t = self.column.positions(x)
        u = (t - self.origin) / self.step
        inside = (u >= 0) & (u < len(self.table) - 1)
        result = np.empty((len(x), self.table.shape[1]))
        place = u[inside].astype(np.intp)
        result[inside] = self.table[place]
        if self.way == STRAIGHT:
            rest = (u[inside] - place)[:, np.newaxis]
            result[inside] += rest * (self.table[place + 1] - self.table[place])
        if not inside.all():
            result[~inside] = self.beyond(t[~inside])
        return result - self.column.unit

    def outside(self, x: Floats) -> Floats:
        """log p(x | class) of values outside the table."""
        return self.beyond(self.column.positions(x)) - self.column.unit

    def sheet_beyond(self) -> dict[str, Any]:
        """What a sheet has of the densities outside the table."""
        raise NotImplementedError

    def sheet_term(self) -> dict[str, Any]:
        """What a sheet has of the column."""
        column = self.column
        up = min(-column.exponent, 1000)
        return {
            "op": "curve", "scale": math.ldexp(1.0, up), "more": math.ldexp(1.0, -column.exponent - up),
            "origin": column.first + self.origin, "inverse": 1 / self.step, "straight": float(self.way == STRAIGHT),
            "points": np.maximum(self.table - column.unit, NOTHING), "exponent": column.exponent,
            "first": float(column.first), "unit": column.unit, "beyond": self.sheet_beyond(),
        }  # fmt: skip

    def left_out(self, x: Floats, y: NDArray[Any], w: Floats) -> Floats:
        """log p(x | class), the value left out of its own class; the width of the bins, or the bandwidth, stays."""
        out = np.zeros((len(x), self.table.shape[1]))
        there = np.flatnonzero(~np.isnan(x))
        x, y, w = x[there], y[there], w[there]
        found, rows = self.log_density(x), np.arange(len(x))
        found[rows, y] = self.own_left_out(self.column.positions(x), y, w, found[rows, y])
        out[there] = np.maximum(found, _LEAST)
        return out

    def own_left_out(self, t: Floats, y: NDArray[Any], w: Floats, log_density: Floats) -> Floats:
        """The log density of each value in its own class without it, from that with it."""
        return log_density

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """So many values drawn from class k."""
        t = self.draw(k, n, rng)
        a, total = self.column.imagined, self.column.totals[k]
        middle, scale = self.column.background
        imagined = rng.random(n) < a / (total + a)
        return self.column.values(np.where(imagined, middle + scale * rng.standard_cauchy(n), t))

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and deviation of each class."""
        column = self.column
        means = column.values(column.counts @ column.centres / column.totals)
        return means, np.asarray(column.widths(column.spread[:-1]))


@dataclass(frozen=True)
class LevelCurve(Curve):
    """A histogram: (n_b + α) / (n + all imagined) ÷ width of bin b; beyond its ends, ÷ (1 + distance / width)²."""

    counts: Floats  # (classes, bins)
    pseudo: float  # imaginary values in each bin
    edges: Floats  # (bins + 1,) positions
    widths: Floats  # (bins,) what a bin's share is divided by
    levels: Floats  # (bins + 2, classes) log densities, of the two ends as well
    even: bool  # whether bins are of one width, and the ends bins as well; else of equal mass, the outermost open

    way = LEVEL

    @property
    def n_parameters(self) -> int:
        """The share of each bin in each class, of which one follows from the others."""
        return int(self.counts.shape[0] * (self.counts.shape[1] - 1))

    @property
    def kind(self) -> str:  # type: ignore[override]
        """How the bins are cut."""
        return "histogram" if self.even else "equal-mass"

    @property
    def all_pseudo(self) -> float:
        """The imaginary values of all bins."""
        return float(self.pseudo * (self.counts.shape[1] + 2 * self.even))

    @property
    def detail(self) -> str:
        """How many bins, and how wide."""
        wide = f"{float(self.column.widths(self.widths[0])):.6g}" if self.even else "equal mass"
        return f"{self.counts.shape[1]} bins of {wide}"

    def _far(self, t: Floats) -> Floats:
        """How far beyond the range positions are, in the width of the bin there."""
        widths = np.diff(self.edges)
        return np.asarray(np.maximum(np.maximum((self.edges[0] - t) / widths[0], (t - self.edges[-1]) / widths[-1]), 0))

    def beyond(self, t: Floats) -> Floats:
        """The open ends."""
        middle = (self.edges[0] + self.edges[-1]) / 2
        ends = np.where((t < middle)[:, np.newaxis], self.levels[0], self.levels[-1])
        return np.asarray(ends - 2 * portable.log1p(self._far(t))[:, np.newaxis])

    def sheet_beyond(self) -> dict[str, Any]:
        """The open ends."""
        ends = np.array([0, -1])
        return {
            "op": "level", "edges": self.edges[ends], "widths": np.diff(self.edges)[ends], "levels": self.levels[ends],
        }  # fmt: skip

    def bins_of(self, t: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The bins that positions are in, and their widths."""
        at = (np.searchsorted(self.edges, t, "right") - 1).clip(0, self.counts.shape[1] - 1)
        return at, self.widths[at]

    def own_left_out(self, t: Floats, y: NDArray[Any], w: Floats, log_density: Floats) -> Floats:
        """log (n_b - w + α) / (n - w + all that is imagined) ÷ width."""
        at, widths = self.bins_of(t)
        column = self.column
        n = self.counts.sum(axis=1)[y] - w
        own = np.maximum(self.counts[y, at] - w, 0)
        alone = column.seen[y] <= w  # a class without values has those of the whole column
        if alone.any():
            every = self.counts[column.seen > 0].sum(axis=0)
            n = np.where(alone, every.sum() - w, n)
            own = np.where(alone, np.maximum(every[at] - w, 0), own)
        below = np.maximum(n, 0) + self.all_pseudo
        return np.asarray(logs(own + self.pseudo) - logs(below) - np.log(widths) - column.unit)

    def how(self, x: float, k: int) -> str:
        """A fraction over the width."""
        t = self.column.positions(np.array([x]))
        (g,), (width,), (far,) = *self.bins_of(t), self._far(t)
        own = 0.0 if self.even and (far > 0 or t[0] >= self.edges[-1]) else float(self.counts[k, g])
        shown = fraction(own, self.pseudo, float(self.counts[k].sum()), self.all_pseudo)
        return f"{shown} ÷ {float(self.column.widths(width)):.6g}" + (f" ÷ {1 + far:.4g}²" if far > 0 else "")

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """A bin by its share, a place in it evenly; in the open ends by the inverse of their distribution."""
        J, widths = self.counts.shape[1], np.pad(np.diff(self.edges), 1, "edge")
        shares = portable.exp(self.levels[:, k]) * widths
        chosen = rng.choice(J + 2, n, p=shares / shares.sum())
        uniform = rng.random(n)
        far = 1 / (1 - uniform) - 1  # 1 - 1/(1 + u) is the distribution of u
        start = np.append(self.edges[0], self.edges)[chosen]
        u = np.where(chosen == 0, -far, np.where(chosen == J + 1, far, uniform))
        return self.column.values(start + widths[chosen] * u)


def _score(column: Column, counts: Floats, pseudo: float, ends: int, width: float | Floats) -> float:
    """Σ n log p of each value left out; so many open ends have imaginary values too.

    A value that is alone in an outermost bin has widened the range: without it, it lies beyond the end.
    """
    own = counts[column.seen > 0]
    below = np.maximum(own.sum(axis=1, keepdims=True) - 1, 0) + pseudo * (own.shape[1] + ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(below > 0, (np.maximum(own - 1, 0) + pseudo) / below, 0) / width
    every = own.sum(axis=0)
    used = np.flatnonzero(every)
    far = np.ones(len(every))  # beyond an end, the density is divided by (1 + distance / width)²
    for at, other in [(used[0], used[1]), (used[-1], used[-2])] if ends and len(used) > 1 and every.sum() > 2 else []:
        far[at] = (abs(other - at) + 0.5) ** 2 if every[at] <= 1 else 1.0
    return float((own * np.maximum(logs(p) - logs(far), _LEAST)).sum())


def histogram(column: Column) -> LevelCurve:
    """Bins of one width: a power of two times that of the tally's, with the highest leave-one-out likelihood."""
    first = max(0, (column.gap - 1).bit_length())  # narrower bins would only find out to what values are rounded
    found = []
    for level in range(first, column.size.bit_length() + 1):
        shift = column.first & ((1 << level) - 1)  # on the same absolute grid
        padded = np.pad(column.counts, ((0, 0), (shift, -(shift + column.size) % (1 << level))))
        counts = padded.reshape(len(padded), -1, 1 << level).sum(axis=2)
        pseudo = imaginary(column.prior, column.name, counts.shape[1])
        found.append((_score(column, counts, pseudo, 2, float(1 << level)), level, counts, shift, pseudo))
        if counts.shape[1] == 1:
            break
    score, level, counts, shift, pseudo = max(found, key=lambda each: each[0])
    J, width = counts.shape[1], float(1 << level)
    below = (counts.sum(axis=1) + pseudo * (J + 2))[:, np.newaxis]
    levels = (logs(np.pad(counts, ((0, 0), (1, 1))) + pseudo) - portable.log(below) - level * portable.log(2)).T
    edges = width * np.arange(J + 1) - shift
    table = np.vstack([levels[1:-1], levels[-2:-1]])
    return LevelCurve(
        column, score, -float(shift), width, table, counts, pseudo, edges, np.full(J, width), levels, True
    )


def equal_mass(column: Column, bins: int) -> LevelCurve:
    """About so many bins, cut at the quantiles of the whole column: far values are in the last bin, however far."""
    upto = np.cumsum(column.pooled)
    wanted = upto[-1] * np.arange(1, bins) / bins
    # A cut is where the share is nearest to what is wanted, before or behind the bin that reaches it.
    behind = np.searchsorted(upto, wanted) + 1
    before = np.append(0.0, upto)[behind - 1]
    cuts = np.where(wanted - before < upto[np.minimum(behind - 1, column.size - 1)] - wanted, behind - 1, behind)
    # A gap between values belongs to both by half, so that the same values mirrored are cut alike.
    used = np.flatnonzero(column.pooled)
    places = np.searchsorted(used, cuts)
    inner = places[(places > 0) & (places < len(used))]
    edges = np.unique(np.concatenate([[0], (used[inner - 1] + 1 + used[inner]) // 2, [column.size]])).astype(np.intp)
    counts = np.add.reduceat(column.counts, edges[:-1], axis=1)
    pseudo = imaginary(column.prior, column.name, counts.shape[1])
    parts = np.ones(counts.shape[1])  # how often its width a bin holds: once, and once more for an open end
    parts[0] += 1
    parts[-1] += 1
    widths = np.diff(edges) * parts
    below = counts.sum(axis=1, keepdims=True) + pseudo * counts.shape[1]
    levels = (logs(counts + pseudo) - portable.log(below) - portable.log(widths)).T
    table = np.repeat(np.vstack([levels, levels[-1:]]), np.append(np.diff(edges), 1), axis=0)
    levels = np.pad(levels, ((1, 1), (0, 0)), "edge")
    score = _score(column, counts, pseudo, 0, widths)
    return LevelCurve(column, score, 0.0, 1.0, table, counts, pseudo, edges.astype(np.float64), widths, levels, False)


@dataclass(frozen=True)
class GaussianCurve(Curve):
    """A Gaussian for each class, by formula."""

    means: Floats  # (classes,), in the column's own unit
    deviations: Floats
    alone: bool = False  # whether the bins are too wide for any other density
    kind = "gaussian"
    way = GAUSSIAN
    handicap = 0.0

    @property
    def n_parameters(self) -> int:
        """A mean and a variance for each class."""
        return 2 * len(self.means)

    def log_density(self, x: Floats) -> Floats:
        """The logarithm of the normal density."""
        return log_normal(x, self.means, self.deviations)

    def sheet_term(self) -> dict[str, Any]:
        """Means and deviations."""
        own = {"means": self.means, "inverse": 1 / self.deviations, "constants": constants(self.deviations)}
        return {"op": "gaussian", **own}

    def how(self, x: float, k: int) -> str:
        """Mean and deviation."""
        return f"f({x:.6g} | μ {self.means[k]:.6g}, σ {self.deviations[k]:.6g})"

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """Normal deviates; a Gaussian has no imaginary values."""
        return rng.normal(self.means[k], self.deviations[k], n)

    def moments(self) -> tuple[Floats, Floats]:
        """By exact sums."""
        return self.means, self.deviations

    @property
    def detail(self) -> str:
        """Nothing but its name; and why, where there was no choice."""
        width = float(self.column.widths(1.0))
        return "mean and deviation" + (f" (bins of {width:.6g} are too wide for another density)" if self.alone else "")


class SilentCurve(Curve):
    """A column in which no two values were seen: it is left out of the product."""

    kind = "constant"
    way = GAUSSIAN

    @property
    def detail(self) -> str:
        """Why it is left out."""
        return "no two values were seen"

    def sheet_term(self) -> dict[str, Any]:
        """Nothing."""
        return {"op": "silent"}

    def log_density(self, x: Floats) -> Floats:
        """Zeros."""
        return np.zeros((len(x), self.table.shape[1]))

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """The value that was seen, within its bin."""
        return self.column.values(np.zeros(n))


def silent(name: object, bins: Histogram | None, classes: Labels, prior: Prior) -> SilentCurve:
    """The curve of a column of one value, or of none."""
    K = len(classes)
    exponent, first = (0, 0) if bins is None else (bins.exponent, int(bins.places[0]))
    return SilentCurve(
        Column(name, exponent, first, np.zeros(K), np.ones((K, 1)), prior), 0.0, 0.0, 1.0, np.zeros((0, K))
    )


def gaussian(column: Column, sums: GaussianParameters, j: int) -> GaussianCurve:
    """The Gaussians of one of the columns, with the likelihood of each value left out."""
    assert sums.seen is not None
    means, deviations, seen = sums.means[:, j], sums.deviations[:, j], sums.seen[:, j]
    with np.errstate(over="ignore", under="ignore"):
        in_bins = np.ldexp(seen, -column.exponent)
    # Alone where a quarter of the values are of classes whose deviation is less than a bin, and not zero; a quarter, so
    # that of many small classes the few whose two or three values happen to agree do not decide.
    fine = (in_bins < 1) & (seen > 0) & (column.seen > 0)
    alone = bool(4 * column.seen[fine].sum() >= column.seen.sum())
    # One value over and over has no deviation; as long as others are there to judge, the bins do for it.
    exactly = (in_bins < 4) & ((seen > 0) | alone)
    scores = np.where(exactly, _score_by_sums(column, sums, j), _score_by_bins(column, means, seen))
    none = np.zeros((0, len(means)))
    return GaussianCurve(column, column.sum_seen(scores), 0.0, 1.0, none, means, deviations, alone)


def _score_by_sums(column: Column, sums: GaussianParameters, j: int) -> Floats:
    """The score of each class from its sums; of one value and of two, what leaving one out leaves."""
    assert sums.seen is not None
    assert sums.whole is not None
    n, means, deviations, seen = column.totals, sums.means[:, j], sums.deviations[:, j], sums.seen[:, j]
    whole = max(float(sums.whole[j]), _TINY)
    mean = float(column.seen @ means / column.seen.sum())
    with np.errstate(over="ignore", under="ignore"):
        away = np.where(n > 1, 2 * seen, means - mean) / whole  # of two values, from the other
        few = -portable.log(whole) - 0.5 * math.log(2 * math.pi) - 0.5 * away.clip(-FARTHEST, FARTHEST) ** 2
        ratio = (seen / deviations) ** 2
    many = -portable.log(deviations) - 0.5 * math.log(2 * math.pi) - 0.5 * ratio
    scores = np.where(n > 2, n * np.maximum(many, _LEAST) - 2, n * np.maximum(few, _LEAST))
    return np.asarray(scores + n * column.unit)


def _score_by_bins(column: Column, means: Floats, seen: Floats) -> Floats:
    """The score of each class of these deviations, every value taken to be at the centre of its bin."""
    n = column.totals[:, np.newaxis]
    rest = np.where(n > 2, n - 1, 1.0)  # fewer have their own way below
    with np.errstate(over="ignore", under="ignore"):
        mean = column.positions(means)[:, np.newaxis]
        variance = np.ldexp(seen, -column.exponent)[:, np.newaxis] ** 2
    away = column.centres - mean
    whole = column.pooled @ column.centres / column.pooled.sum()
    overall = max(float(column.spread[-1]) ** 2, _TINY)
    centre = np.where(n > 1, mean - away / rest, whole)  # of two values, the other one
    left = n / rest * variance - n / (rest * rest) * away * away
    left += column.prior.rows / (rest + column.prior.rows) * (overall - left)
    left = np.where(n > 2, np.maximum(left, max(column.prior.floor * overall, _TINY)), overall)  # one has no spread
    with np.errstate(over="ignore"):
        return column.total(-0.5 * portable.log(2 * np.pi * left) - 0.5 * (column.centres - centre) ** 2 / left)
