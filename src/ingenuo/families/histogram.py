"""Histograms as densities: bins of one width for all the classes of a column, or of equal mass.

    p(x | class) = (n_b + α) / (n + α (J + 2)) ÷ width        for x in bin b of J

The width is a power of two times that of the tally's bins, and is the one with the highest leave-one-out likelihood

    Σ_b n_b log ((n_b - 1 + α) / (n - 1 + α (J + 2)) ÷ width)        over the classes

The two ends beyond the column's range are bins as well, open ones: the density falls there from that of an empty bin
as 1 / (1 + u)², u being the distance in widths, which holds just the α imaginary values of one bin.

Bins of equal mass are cut where the column's own quantiles are, so that each has about as many values:

    p(x | class) = (n_g + α) / (n + α G) ÷ width_g        for x in bin g of G

Far values are no matter there: they are in the last bin, however far. Beyond the range the density falls in the same
way, but shares the mass of the outermost bin; so the classes stay in the same proportion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import Column, LevelCurve, imaginary
from ingenuo.kernels import portable
from ingenuo.show.arithmetic import Floats, fraction, logs


@dataclass(frozen=True)
class HistogramCurve(LevelCurve):
    """Level densities."""

    kind = "histogram"
    open_ends = 2

    def beyond(self, t: Floats) -> Floats:
        """The open ends."""
        below, above = self.origin - t, t - (self.origin + self.step * self.counts.shape[1])
        far = np.maximum(np.maximum(below, above), 0) / self.step
        n = self.counts.sum(axis=1)
        end = logs(np.full(len(n), self.pseudo)) - portable.log(n + self.all_pseudo) - portable.log(self.step)
        return np.asarray(end - 2 * portable.log1p(far)[:, np.newaxis])

    def bins_of(self, t: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The bins that positions are in, and their widths."""
        at = ((t - self.origin) / self.step).astype(np.intp).clip(0, self.counts.shape[1] - 1)
        return at, np.full(len(t), self.step)

    def how(self, x: float, k: int) -> str:
        """A fraction over the width."""
        u = float((self.column.positions(np.array([x]))[0] - self.origin) / self.step)
        J = self.counts.shape[1]
        own = float(self.counts[k, int(u)]) if 0 <= u < J else 0.0
        tail = "" if 0 <= u < J else f" ÷ {1 + max(-u, u - J):.4g}²"
        width = float(np.ldexp(self.step, self.column.exponent))
        return f"{fraction(own, self.pseudo, float(self.counts[k].sum()), self.all_pseudo)} ÷ {width:.6g}{tail}"

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """A bin by its share, a place in it evenly; in the open ends by the inverse of their distribution."""
        J = self.counts.shape[1]
        shares = np.concatenate([[self.pseudo], self.counts[k] + self.pseudo, [self.pseudo]])
        chosen = rng.choice(J + 2, n, p=shares / shares.sum()) - 1
        uniform = rng.random(n)
        far = 1 / (1 - uniform) - 1  # 1 - 1/(1 + u) is the distribution of u
        u = np.where(chosen < 0, -far, np.where(chosen == J, J + far, chosen + uniform))
        return np.asarray(self.origin + self.step * u)

    @property
    def detail(self) -> str:
        """How many bins, and how wide."""
        return f"{self.counts.shape[1]} bins of {float(np.ldexp(self.step, self.column.exponent)):.6g}"


def histogram(column: Column) -> HistogramCurve:
    """The histogram of the best width."""
    first = max(0, (column.gap - 1).bit_length())  # narrower bins would only find out to what values are rounded
    found = []
    for level in range(first, column.size.bit_length() + 1):
        counts, shift = _coarse(column, level)
        pseudo = imaginary(column.prior, column.name, counts.shape[1])
        found.append((_left_out(column, counts, pseudo, 2, float(1 << level)), level, counts, shift, pseudo))
        if counts.shape[1] == 1:
            break
    score, level, counts, shift, pseudo = max(found, key=lambda each: each[0])
    below = (counts.sum(axis=1) + pseudo * (counts.shape[1] + 2))[:, np.newaxis]
    table = (logs(counts + pseudo) - portable.log(below) - level * portable.log(2)).T
    return HistogramCurve(
        column, score, -float(shift), float(1 << level), np.vstack([table, table[-1:]]), counts, pseudo
    )


def _coarse(column: Column, level: int) -> tuple[Floats, int]:
    """The counts in bins 2^level as wide, on the same absolute grid, and how far before the column they begin."""
    shift = column.first & ((1 << level) - 1)
    padded = np.pad(column.counts, ((0, 0), (shift, -(shift + column.size) % (1 << level))))
    return padded.reshape(len(padded), -1, 1 << level).sum(axis=2), shift


def _left_out(column: Column, counts: Floats, pseudo: float, ends: int, width: float | Floats) -> float:
    """Σ n log p of each value left out; so many open ends have imaginary values too."""
    own = counts[column.seen > 0]
    below = np.maximum(own.sum(axis=1, keepdims=True) - 1, 0) + pseudo * (own.shape[1] + ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(below > 0, (np.maximum(own - 1, 0) + pseudo) / below, 0) / width
    return float((own * np.maximum(logs(p), -700.0)).sum())


# Bins of equal mass.


@dataclass(frozen=True)
class EqualMassCurve(LevelCurve):
    """Level densities between quantiles."""

    edges: Floats  # (bins + 1,) positions
    parts: Floats  # (bins,) how often its width a bin holds: once, and once more for an open end

    kind = "equal-mass"

    def beyond(self, t: Floats) -> Floats:
        """The open ends."""
        below = t < self.edges[0]
        widths = np.where(below, self.edges[1] - self.edges[0], self.edges[-1] - self.edges[-2])
        far = np.maximum(np.maximum(self.edges[0] - t, t - self.edges[-1]), 0) / widths
        levels = np.where(below[:, np.newaxis], self.table[0], self.table[-1])
        return np.asarray(levels - 2 * portable.log1p(far)[:, np.newaxis])

    def bins_of(self, t: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The bins that positions are in, and their widths."""
        at = (np.searchsorted(self.edges, t, "right") - 1).clip(0, self.counts.shape[1] - 1)
        return at, (np.diff(self.edges) * self.parts)[at]

    def how(self, x: float, k: int) -> str:
        """A fraction over the width."""
        t = self.column.positions(np.array([x]))
        (g,), (width,) = self.bins_of(t)
        own = fraction(float(self.counts[k, g]), self.pseudo, float(self.counts[k].sum()), self.all_pseudo)
        far = max(float(self.edges[0] - t[0]), float(t[0] - self.edges[-1]), 0.0) / (self.edges[g + 1] - self.edges[g])
        tail = f" ÷ {1 + far:.4g}²" if far > 0 else ""
        return f"{own} ÷ {float(np.ldexp(width, self.column.exponent)):.6g}{tail}"

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """A bin by its share, a place in it evenly; of an outermost one, perhaps beyond it."""
        shares = self.counts[k] + self.pseudo
        shares = shares if shares.sum() > 0 else np.ones_like(shares)
        g = rng.choice(len(shares), n, p=shares / shares.sum())
        widths = np.diff(self.edges)[g]
        t = self.edges[g] + widths * rng.random(n)
        far = widths * (1 / (1 - rng.random(n)) - 1)
        outside, last = rng.random(n) < 1 - 1 / self.parts[g], g == len(shares) - 1
        above = last & ((g > 0) | (rng.random(n) < 0.5))
        return np.where(outside, np.where(above, self.edges[-1] + far, self.edges[0] - far), t)

    @property
    def detail(self) -> str:
        """How many bins."""
        return f"{self.counts.shape[1]} bins of equal mass"


def equal_mass(column: Column, bins: int) -> EqualMassCurve:
    """The histogram of about so many bins, cut at the quantiles of the whole column."""
    upto = np.cumsum(column.pooled)
    wanted = upto[-1] * np.arange(1, bins) / bins
    # A cut is where the share is nearest to what is wanted, before or behind the bin that reaches it.
    behind = np.searchsorted(upto, wanted) + 1
    before = np.append(0.0, upto)[behind - 1]
    cuts = np.where(wanted - before < upto[np.minimum(behind - 1, column.size - 1)] - wanted, behind - 1, behind)
    # A gap between values belongs to both by half, so that the same values mirrored are cut alike.
    used = np.flatnonzero(column.pooled)
    places = np.searchsorted(used, cuts)
    inner = (places > 0) & (places < len(used))
    last = used[places[inner] - 1] + 1
    middle = np.unique((last + used[places[inner]]) // 2)
    edges = np.concatenate([[0], middle, [column.size]]).astype(np.intp)
    edges = np.unique(edges)
    counts = np.add.reduceat(column.counts, edges[:-1], axis=1)
    pseudo = imaginary(column.prior, column.name, counts.shape[1])
    parts = np.ones(counts.shape[1])
    parts[0] += 1
    parts[-1] += 1
    widths = np.diff(edges) * parts
    below = counts.sum(axis=1, keepdims=True) + pseudo * counts.shape[1]
    levels = (logs(counts + pseudo) - portable.log(below) - portable.log(widths)).T
    table = np.repeat(levels, np.diff(edges), axis=0)
    score = _left_out(column, counts, pseudo, 0, widths)
    return EqualMassCurve(
        column, score, 0.0, 1.0, np.vstack([table, table[-1:]]), counts, pseudo, edges.astype(np.float64), parts
    )
