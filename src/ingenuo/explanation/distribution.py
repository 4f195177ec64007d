"""The predicted distribution of a number: probabilities of bins, and the density within each.

Within a bin nothing is known but its ends and the mean of its targets. The density that assumes least besides is an
exponential, f(t) ∝ exp(κ t) for t from 0 to 1 across the bin, tilted so that it has that mean (κ = 0: flat). Where all
targets of a bin are the same, the whole probability lies there. So the mean of the distribution is the predicted mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.explanation.pictures import axes

Floats = NDArray[np.float64]

# The steepest tilt: the mean is then a billionth of the bin from its end.
_STEEPEST = 1e9


@dataclass(frozen=True, eq=False)
class Distribution:
    """The predicted distribution of the target, for each of some rows.

    >>> one = Distribution(np.array([[0.25, 0.75]]), np.array([0.0, 10.0, 30.0]), np.array([5.0, 20.0]), np.ones(2))
    >>> one.mean().tolist(), one.quantiles([0.25, 0.5]).round(6).tolist()
    ([16.25], [[10.0, 16.666667]])
    """

    probabilities: Floats  # (rows, bins); each row sums to 1
    edges: Floats  # one more than bins
    means: Floats  # of the targets in each bin
    deviations: Floats  # and their standard deviation

    def __len__(self) -> int:
        return len(self.probabilities)

    def __getitem__(self, rows: int | slice) -> Distribution:
        """Some of the rows."""
        chosen = self.probabilities[rows if isinstance(rows, slice) else [rows]]
        return Distribution(chosen, self.edges, self.means, self.deviations)

    def mean(self) -> Floats:
        """Σ_b P(b) · mean_b, for each row."""
        return np.asarray(self.probabilities @ self.means)

    def deviation(self) -> Floats:
        """The standard deviation: √ Σ_b P(b) · (deviation_b² + (mean_b - mean)²), for each row."""
        unit = max(float(np.abs(self.edges).max()), np.finfo(float).tiny)  # so that no square is beyond the doubles
        means, mean = self.means / unit, self.mean() / unit
        total = np.zeros(len(self))
        for share, centre, deviation in zip(self.probabilities.T, means, self.deviations / unit):
            total += share * (deviation * deviation + (centre - mean) ** 2)
        return np.asarray(np.sqrt(total) * unit)

    def quantiles(self, levels: Sequence[float] | Floats) -> Floats:
        """The values below which the target lies with these probabilities (rows × levels)."""
        chosen = _levels(levels)
        shares = self.probabilities
        below = np.cumsum(shares, axis=1)
        first, last = (shares > 0).argmax(axis=1), shares.shape[1] - 1 - (shares[:, ::-1] > 0).argmax(axis=1)
        rows = np.arange(len(self))
        found = np.empty((len(self), len(chosen)))
        for j, level in enumerate(chosen):
            wanted = level * below[:, -1]
            place = (below < wanted[:, np.newaxis]).sum(axis=1).clip(first, last)
            share = shares[rows, place]
            within = ((wanted - below[rows, place] + share) / share).clip(0, 1)
            low, high = self.edges[place], self.edges[place + 1]
            at = _inverse(within, self._tilts[place])
            spread = (low * (1 - at) + high * at).clip(low, high)
            found[:, j] = np.where(self._points[place], self.means[place], spread)
        return found

    def interval(self, coverage: float = 0.9) -> Floats:
        """The interval that leaves as much probability below it as above it (rows × 2)."""
        (share,) = _levels([coverage], "coverage")
        return self.quantiles([(1 - share) / 2, (1 + share) / 2])

    def density(self, values: Any) -> Floats:
        """The density at these values (rows × values); a bin whose targets are all the same has none."""
        values = np.asarray(values, np.float64)
        bins = np.searchsorted(self.edges[1:-1], values, side="right")
        with np.errstate(over="ignore"):  # a bin wider than the largest double has no density to speak of
            widths = np.diff(self.edges)[bins]
        inside = (values >= self.edges[0]) & (values <= self.edges[-1]) & ~self._points[bins] & (widths > 0)
        t, tilt = (values - self.edges[bins]) / np.where(inside, widths, 1), self._tilts[bins]
        # κ e^(κt) / (e^κ - 1), written from the side on which the exponents are not positive
        steep = np.abs(tilt)
        from_end = np.where(tilt > 0, 1 - t, t)
        height = np.where(steep < 1e-6, 1.0, steep / -np.expm1(-np.maximum(steep, 1e-6)))
        within = np.where(
            inside, height * np.exp(-steep * np.where(inside, from_end, 0)) / np.where(inside, widths, 1), 0
        )
        return np.asarray(self.probabilities[:, bins] * within)

    @property
    def _points(self) -> NDArray[np.bool_]:
        """Which bins have one target only, or none."""
        return np.asarray(self.deviations == 0)

    @cached_property
    def _tilts(self) -> Floats:
        low, high = self.edges[:-1] / 2, self.edges[1:] / 2  # halved, for a width may be beyond the doubles
        wide = high > low
        return _tilt(np.where(wide, (self.means / 2 - low) / np.where(wide, high - low, 1), 0.5))

    def plot(self, row: int = 0, ax: Any = None, coverage: float = 0.9, unit: str = "target") -> Any:
        """Draw the density of one row, its mean and its interval; the axes are returned.

        Parameters
        ----------
        row : int
            Which of the rows, counted from 0.
        ax : matplotlib axes, optional
            Where to draw; by default on a figure of its own.
        coverage : float
            The probability within the shaded interval.
        unit : str
            What the target is and in what unit, for the axis; the density is per one of it.
        """
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise KindError(f"row must be a whole number, got {type(row).__name__} {row!r}")
        n = len(self)
        if not -n <= row < n:
            raise InputError(
                f"row {row} cannot be drawn, for there {'is 1 row' if n == 1 else f'are {n} rows'}; count them from 0"
            )
        one = self[row]
        low, high = one.interval(coverage)[0]
        ends = one.quantiles([0.001, 0.999])[0]
        ax = axes(ax)
        points, heights = one._outline(low, high)
        ax.fill_between(points, heights, color="#9ecae1", linewidth=0)
        ax.fill_between(points, heights, where=(points >= low) & (points <= high), color="#4292c6", linewidth=0)
        single = self._points & (one.probabilities[0] >= 0.001)
        dense = bool((one.probabilities[0, ~self._points] > 0).any())
        if single.any():  # where a density stands beside them, the height of a probability means nothing
            tops = ax.get_ylim()[1] if dense else one.probabilities[0, single]
            label = f"single values: {one.probabilities[0, single].sum():.1%}" if dense else None
            ax.vlines(self.means[single], 0, tops, color="#4292c6", linestyle=":" if dense else "-", label=label)
        ax.axvline(one.mean()[0], color="#d94801", label=f"mean {one.mean()[0]:.4g}")
        ax.plot([], [], color="#4292c6", linewidth=6, label=f"{coverage:.0%} from {low:.4g} to {high:.4g}")
        margin = (ends[1] - ends[0]) * 0.04
        if margin > 0:
            ax.set_xlim(ends[0] - margin, ends[1] + margin)
        ax.set_ylim(bottom=0)
        ax.set_xlabel(unit)
        ax.set_ylabel("density" if dense else "probability")
        ax.legend(frameon=False)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        return ax

    def _outline(self, *marks: float) -> tuple[Floats, Floats]:
        """Points and the first row's density there; twice at an edge, where it leaps, and once at each mark."""
        points, heights = [self.edges[:1]], [np.zeros(1)]
        for a, b in zip(self.edges[:-1], self.edges[1:]):
            if b > a:
                inner = np.unique(
                    [*np.linspace(a, b, 60)[:-1], *(mark for mark in marks if a < mark < b), np.nextafter(b, a)]
                )
                points.append(inner)
                heights.append(self.density(inner)[0])
        return np.concatenate(points), np.concatenate(heights)

    def __repr__(self) -> str:
        ends = f"{self.edges[0]:g} to {self.edges[-1]:g}"
        rows, bins = len(self), len(self.means)
        what = f"{rows} row{'' if rows == 1 else 's'} over {bins} bin{'' if bins == 1 else 's'}"
        return f"<Distribution of {what} from {ends}>"


def _levels(levels: Any, name: str = "quantiles") -> Floats:
    try:
        found = np.asarray(levels, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"{name} must be numbers between 0 and 1, got {levels!r}") from None
    if found.ndim != 1:
        raise InputError(f"{name} must be a list of numbers between 0 and 1, got {levels!r}")
    bad = ~((found >= 0) & (found <= 1))
    if bad.any():
        raise InputError(f"{name} must lie between 0 and 1, got {float(found[bad][0])!r}")
    return found


def _mean(tilt: Floats) -> Floats:
    """The mean of f(t) ∝ e^(κt) on 0..1, κ ≥ 0: 1/(1 - e^-κ) - 1/κ; near κ = 0 its series 1/2 + κ/12 - κ³/720."""
    small = tilt < 1e-2
    safe = np.where(small, 1.0, tilt)
    return np.where(small, 0.5 + tilt / 12 - tilt**3 / 720, -1 / np.expm1(-safe) - 1 / safe)


def _tilt(mean: Floats) -> Floats:
    """The κ that gives this mean, by halving: the mean rises with κ."""
    farther = np.maximum(mean, 1 - mean)  # the mean for -κ is 1 less the mean for κ
    low, high = np.zeros(len(mean)), np.full(len(mean), _STEEPEST)
    for _ in range(90):
        middle = (low + high) / 2
        above = _mean(middle) > farther
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(mean < 0.5, -high, high)


def _inverse(share: Floats, tilt: Floats) -> Floats:
    """The t below which the share s of f(t) ∝ e^(κt) lies: log(1 - s + s e^κ) / κ."""
    steep = np.abs(tilt)
    from_end = np.where(tilt > 0, 1 - share, share)  # measured from the end where the density is highest
    flat = steep < 1e-6
    safe = np.where(flat, 1.0, steep)
    with np.errstate(divide="ignore"):  # log 0 at either end
        at = np.where(flat, from_end, -np.logaddexp(np.log1p(-from_end), np.log(from_end) - safe) / safe)
    return np.where(tilt > 0, 1 - at, at)
