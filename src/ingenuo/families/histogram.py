"""The histogram as a density: bins of one width for all the classes of a column.

    p(x | class) = (n_b + α) / (n + α (J + 2)) ÷ width        for x in bin b of J

The width is a power of two times that of the tally's bins, and is the one with the highest leave-one-out likelihood

    Σ_b n_b log ((n_b - 1 + α) / (n - 1 + α (J + 2)) ÷ width)        over the classes

The two ends beyond the column's range are bins as well, open ones: the density falls there from that of an empty bin
as 1 / (1 + u)², u being the distance in widths, which holds just the α imaginary values of one bin.
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
class HistogramCurve(Curve):
    """Level densities."""

    counts: Floats  # (classes, bins), in the bins that were chosen
    pseudo: float  # imaginary values in each bin, and in each open end

    kind = "histogram"
    way = LEVEL

    @property
    def _all_pseudo(self) -> float:
        return float(self.pseudo * (self.counts.shape[1] + 2))

    def beyond(self, t: Floats) -> Floats:
        """The open ends."""
        below, above = self.origin - t, t - (self.origin + self.step * self.counts.shape[1])
        far = np.maximum(np.maximum(below, above), 0) / self.step
        n = self.counts.sum(axis=1)
        end = logs(np.full(len(n), self.pseudo)) - portable.log(n + self._all_pseudo) - portable.log(self.step)
        return np.asarray(end - 2 * portable.log1p(far)[:, np.newaxis])

    def own_left_out(self, t: Floats, y: NDArray[Any], w: Floats, log_density: Floats) -> Floats:
        """(n_b - w + α) / (n - w + α (J + 2)) ÷ width."""
        at = ((t - self.origin) / self.step).astype(np.intp).clip(0, self.counts.shape[1] - 1)
        return level_left_out(self, at, np.full(len(t), self.step), y, w, self._all_pseudo)

    def how(self, x: float, k: int) -> str:
        """A fraction over the width."""
        u = float((self.column.positions(np.array([x]))[0] - self.origin) / self.step)
        J = self.counts.shape[1]
        own = float(self.counts[k, int(u)]) if 0 <= u < J else 0.0
        tail = "" if 0 <= u < J else f" ÷ {1 + max(-u, u - J):.4g}²"
        width = float(np.ldexp(self.step, self.column.exponent))
        return f"{fraction(own, self.pseudo, float(self.counts[k].sum()), self._all_pseudo)} ÷ {width:.6g}{tail}"

    def draw(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """A bin by its share, a place in it evenly; in the open ends by the inverse of their distribution."""
        J = self.counts.shape[1]
        shares = np.concatenate([[self.pseudo], self.counts[k] + self.pseudo, [self.pseudo]])
        chosen = rng.choice(J + 2, n, p=shares / shares.sum()) - 1
        uniform = rng.random(n)
        far = 1 / (1 - uniform) - 1  # 1 - 1/(1 + u) is the distribution of u
        u = np.where(chosen < 0, -far, np.where(chosen == J, J + far, chosen + uniform))
        return np.asarray(self.origin + self.step * u)

    def sample(self, k: int, n: int, rng: np.random.Generator) -> Floats:
        """So many values; the imaginary ones are in the bins already."""
        return self.column.values(self.draw(k, n, rng))

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
        found.append((_left_out(column, counts, pseudo, 1 << level), level, counts, shift, pseudo))
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


def _left_out(column: Column, counts: Floats, pseudo: float, width: int) -> float:
    own = counts[column.seen > 0]
    n = own.sum(axis=1, keepdims=True)
    below = np.maximum(n - 1, 0) + pseudo * (own.shape[1] + 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(below > 0, (np.maximum(own - 1, 0) + pseudo) / below, 0) / width
    return float((own * np.maximum(logs(p), -700.0)).sum())
