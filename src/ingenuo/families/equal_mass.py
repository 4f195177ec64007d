"""Bins of equal mass: cut where the column's own quantiles are, so that each has about as many values.

    p(x | class) = (n_g + α) / (n + α G) ÷ width_g        for x in bin g of G

Far values are no matter here: they are in the last bin, however far. Beyond the range the density falls as
1 / (1 + u)², u being the distance in widths of the outermost bin, whose mass it shares; so the classes stay in the same
proportion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import Column, Curve, imaginary, level_left_out
from ingenuo.families.family import Floats, fraction, logs
from ingenuo.kernels import portable
from ingenuo.kernels.curves import LEVEL


@dataclass(frozen=True)
class EqualMassCurve(Curve):
    """Level densities between quantiles."""

    counts: Floats  # (classes, bins)
    pseudo: float  # imaginary values in each bin
    edges: Floats  # (bins + 1,) positions
    parts: Floats  # (bins,) how often its width a bin holds: once, and once more for an open end

    kind = "equal-mass"
    way = LEVEL

    def beyond(self, t: Floats) -> Floats:
        """The open ends."""
        below = t < self.edges[0]
        widths = np.where(below, self.edges[1] - self.edges[0], self.edges[-1] - self.edges[-2])
        far = np.maximum(np.maximum(self.edges[0] - t, t - self.edges[-1]), 0) / widths
        levels = np.where(below[:, np.newaxis], self.table[0], self.table[-1])
        return np.asarray(levels - 2 * portable.log1p(far)[:, np.newaxis])

    def bin_of(self, t: Floats) -> np.ndarray:
        """Which bin positions are in."""
        return (np.searchsorted(self.edges, t, "right") - 1).clip(0, self.counts.shape[1] - 1)

    def own_left_out(self, t: Floats, y: NDArray[Any], w: Floats, log_density: Floats) -> Floats:
        """(n_g - w + α) / (n - w + α G) ÷ width_g."""
        at = self.bin_of(t)
        widths = (np.diff(self.edges) * self.parts)[at]
        return level_left_out(self, at, widths, y, w, self.pseudo * self.counts.shape[1])

    def how(self, x: float, k: int) -> str:
        """A fraction over the width."""
        t = self.column.positions(np.array([x]))
        g = int(self.bin_of(t)[0])
        own = fraction(
            float(self.counts[k, g]), self.pseudo, float(self.counts[k].sum()), self.pseudo * self.counts.shape[1]
        )
        width = float(np.ldexp(self.parts[g] * (self.edges[g + 1] - self.edges[g]), self.column.exponent))
        far = max(float(self.edges[0] - t[0]), float(t[0] - self.edges[-1]), 0.0) / (self.edges[g + 1] - self.edges[g])
        return f"{own} ÷ {width:.6g}" + (f" ÷ {1 + far:.4g}²" if far > 0 else "")

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

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """So many values; the imaginary ones are in the bins already."""
        return self.column.values(self.draw(k, n, rng))

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
    score = _left_out(column, counts, pseudo, widths)
    return EqualMassCurve(
        column, score, 0.0, 1.0, np.vstack([table, table[-1:]]), counts, pseudo, edges.astype(np.float64), parts
    )


def _left_out(column: Column, counts: Floats, pseudo: float, widths: Floats) -> float:
    own = counts[column.seen > 0]
    below = np.maximum(own.sum(axis=1, keepdims=True) - 1, 0) + pseudo * own.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(below > 0, (np.maximum(own - 1, 0) + pseudo) / below, 0) / widths
    return float((own * np.maximum(logs(p), -700.0)).sum())
