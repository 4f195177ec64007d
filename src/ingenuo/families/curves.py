"""One column's densities, class by class: the histogram they are estimated from, and the table they are looked up in.

Everything is reckoned in bins: t = x / 2^e - first is the position of x in the column's histogram, bin i covers
[i, i + 1) and its centre is i + ½. So no column is too large, too small or too far from zero for a double, and

    log p(x) = log p(t) - e log 2

A prior is imaginary data here too: so many values a of each class, spread as widely as the column's values and with
tails that never end (a Cauchy distribution with the column's median and quartiles):

    p(t | class) = (n f(t) + a g(t)) / (n + a)        g(t) = 1 / (π s (1 + z²)),  z = (t - m) / s
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.gaussian import GaussianParameters
from ingenuo.kernels import portable
from ingenuo.kernels.densities import GAUSSIAN, LEVEL, STRAIGHT
from ingenuo.show.arithmetic import Floats, logs
from ingenuo.tally.histogram import Histogram
from ingenuo.tally.labels import Labels, objects
from ingenuo.tally.prior import Prior

STRAIGHTNESS = 1 / 1024  # of a logarithm: straight lines between the points of a table miss it by no more
THINNEST = 64
MODERATE = 1e100  # no class counts for more values than this, or for fewer than one in so many
_LEAST = -700.0  # no value that is left out counts as less likely: a single one says no more
FARTHEST = 1e150  # positions beyond are taken as this far: their squares are finite


def imaginary(prior: Prior, column: object, values: int = 1) -> float:
    """How many imaginary observations the prior has of each of so many values of a column of numbers."""
    # Bins have no names that a prior could speak of, so the labels are such as no column has.
    labels = objects([("bin", i) for i in range(values)])
    return float(prior.pseudo_counts(labels, column).sum()) / values


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
        """How far the typical value is from the next one that differs: of what is rounded to tenths, a tenth.

        Estimates that are finer would only find out to what values are rounded. Bins that have far fewer values than
        that of the typical value do not count: among whole numbers, a few halves.
        """
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
    def imagined(self) -> float:
        """How many imaginary values each class has."""
        return imaginary(self.prior, self.name)

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of each class, and that of the whole column last."""
        every = np.vstack([self.counts, self.pooled])
        totals = every.sum(axis=1)
        means = every @ self.centres / totals
        deviation = self.centres - means[:, np.newaxis]
        with np.errstate(under="ignore"):
            return np.asarray(np.sqrt((every * deviation * deviation).sum(axis=1) / totals))

    def quantiles(self, counts: Floats, shares: tuple[float, ...]) -> Floats:
        """The positions below which these shares of the counts lie (rows × shares).

        A gap before a bin in use belongs to it by half, as does that behind it, so that what is symmetric stays so:
        the median of two values is their midpoint.
        """
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
        """log g at positions."""
        middle, scale = self.background
        z = ((t - middle) / scale).clip(-FARTHEST, FARTHEST)
        return np.asarray(-math.log(math.pi * scale) - portable.log1p(z * z))

    def smoothed(self, log_density: Floats, t: Floats) -> Floats:
        """log (n f + a g) / (n + a), from log f (positions × classes)."""
        n, a = self.totals, self.imagined
        if a == 0:
            return log_density
        own = log_density + portable.log(n) - portable.log(n + a)
        return np.asarray(
            portable.log_sum(own, self.log_background(t)[:, np.newaxis] + math.log(a) - portable.log(n + a))
        )

    def left_out(self, above: Floats) -> Floats:
        """Σ n_b log p(b) of each class, each value left out of its estimate, from n f without it (classes × bins).

        No probability counts for less than e^-700, so that one value alone decides nothing.
        """
        a = self.imagined
        whole = np.maximum(above, 0) + a * portable.exp(self.log_background(self.centres))
        below = np.maximum(self.totals - 1, 0) + a
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(below[:, np.newaxis] > 0, whole / below[:, np.newaxis], 0)
        return self.total(np.maximum(logs(p), -700.0))

    def total(self, terms: Floats) -> Floats:
        """Σ n_b · terms over the bins in use of each class (terms: classes × bins)."""
        return np.asarray((self.counts * np.where(self.counts > 0, terms, 0)).sum(axis=1))

    def summed(self, scores: Floats) -> float:
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

    @property
    def unit(self) -> float:
        """The logarithm of a bin's width."""
        return self.exponent * math.log(2)


def thinned(table: Floats, step: float, allowed: Floats | float = STRAIGHTNESS) -> tuple[Floats, float]:
    """As few of the points, evenly, as keep straight lines within what is allowed of all of them.

    The number of points is 1 more than a multiple of THINNEST, so that the last one always stays.
    """
    best = table, step
    factor = 2
    while factor <= THINNEST:
        kept = table[::factor]
        parts = np.arange(factor)[np.newaxis, :, np.newaxis] / factor
        lines = kept[:-1, np.newaxis] + parts * (kept[1:] - kept[:-1])[:, np.newaxis]
        if (np.abs(lines.reshape(-1, table.shape[1]) - table[:-1]) > allowed).any():
            break
        best, factor = (kept, step * factor), factor * 2
    return best


@dataclass(frozen=True)
class Curve(ABC):
    """The densities of one column: a table of logarithms, straight between its points (or level), and tails."""

    column: Column
    score: float  # the log likelihood with each value left out, in bins
    origin: float  # the position of the table's first point
    step: float
    table: Floats  # (points, classes), log densities in bins
    kind = ""
    way = STRAIGHT  # between the points; or level, each point's value up to the next

    @abstractmethod
    def log_density(self, x: Floats) -> Floats:
        """log p(x | class), for each value and class."""

    def left_out(self, x: Floats, y: NDArray[Any], w: Floats) -> Floats:
        """log p(x | class), where the class is the value's own without the value; a missing value says nothing.

        The shape stays: the width of the bins, or the bandwidth, is that of all values. So settings are compared: a
        setting is what is held, and each value is scored by the others.
        """
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

    @property
    def offset(self) -> float:
        """What the score is less in the column's own unit than in bins."""
        return float(self.column.seen.sum()) * self.column.unit

    @abstractmethod
    def how(self, x: float, k: int) -> str:
        """What a person would write for the density of class k at x."""

    @property
    @abstractmethod
    def detail(self) -> str:
        """The settings that were chosen, in a few words."""

    @abstractmethod
    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """So many values drawn from class k."""


@dataclass(frozen=True)
class TableCurve(Curve):
    """Densities that are looked up in the table."""

    def log_density(self, x: Floats) -> Floats:
        """log p(x | class), for each value and class."""
        t = self.column.positions(x)
        u = (t - self.origin) / self.step
        inside = (u >= 0) & (u < len(self.table) - 1)
        result = np.empty((len(x), self.table.shape[1]))
        place = u[inside].astype(np.intp)
        if self.way == STRAIGHT:
            rest = (u[inside] - place)[:, np.newaxis]
            result[inside] = self.table[place] + rest * (self.table[place + 1] - self.table[place])
        else:
            result[inside] = self.table[place]
        if not inside.all():
            result[~inside] = self.beyond(t[~inside])
        return result - self.column.unit

    @abstractmethod
    def beyond(self, t: Floats) -> Floats:
        """Log densities (positions × classes) outside the table."""

    @abstractmethod
    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """So many positions drawn from class k, without the imaginary values."""

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """So many values drawn from class k."""
        t = self.draw(k, n, rng)
        a, total = self.column.imagined, self.column.totals[k]
        middle, scale = self.column.background
        imagined = rng.random(n) < a / (total + a)
        return self.column.values(np.where(imagined, middle + scale * rng.standard_cauchy(n), t))


@dataclass(frozen=True)
class LevelCurve(TableCurve):
    """Level densities: a share of the values over the width of a bin. The imaginary values are in the bins."""

    counts: Floats  # (classes, bins)
    pseudo: float  # imaginary values in each bin

    way = LEVEL
    open_ends = 0  # bins beyond the last ones, that have imaginary values too

    @property
    def all_pseudo(self) -> float:
        """The imaginary values of all bins."""
        return float(self.pseudo * (self.counts.shape[1] + self.open_ends))

    @abstractmethod
    def bins_of(self, t: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The bins that positions are in, and their widths."""

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

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """So many values drawn from class k."""
        return self.column.values(self.draw(k, n, rng))


# The Gaussian as one of several densities to choose from: the same estimate as the family's, with its score; and none.


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

    def how(self, x: float, k: int) -> str:
        """Mean and deviation."""
        return f"f({x:.6g} | μ {self.means[k]:.6g}, σ {self.deviations[k]:.6g})"

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

    def how(self, x: float, k: int) -> str:
        """One."""
        return "1"

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """The value that was seen, within its bin."""
        return self.column.values(np.zeros(n))

    @property
    def detail(self) -> str:
        """Why it is left out."""
        return "no two values were seen"


def log_normal(x: Floats, means: Floats, deviations: Floats) -> Floats:
    """The logarithm of the normal density of each value (rows) under each Gaussian."""
    with np.errstate(over="ignore"):
        z = ((x[:, np.newaxis] - means) / deviations).clip(-FARTHEST, FARTHEST)
    return np.asarray(-portable.log(deviations) - 0.5 * math.log(2 * math.pi) - 0.5 * z * z)


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
        few = -portable.log(whole) - 0.5 * math.log(2 * math.pi) - 0.5 * away.clip(-FARTHEST, FARTHEST) ** 2
        ratio = (spread.seen / spread.deviations) ** 2
    many = -portable.log(spread.deviations) - 0.5 * math.log(2 * math.pi) - 0.5 * ratio
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
        terms = -0.5 * portable.log(2 * np.pi * left) - 0.5 * (column.centres - centre) ** 2 / left
    return column.total(np.maximum(terms, -700.0))
