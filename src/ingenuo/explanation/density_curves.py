"""The densities of one column within each class, drawn over the histogram of its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ingenuo.bins import Bins
from ingenuo.explanation import pictures
from ingenuo.families.density import DensityParameters, chosen, log_density
from ingenuo.families.family import Floats
from ingenuo.families.gaussian import GaussianParameters
from ingenuo.families.normal import GaussianCurve
from ingenuo.labels import Labels, find
from ingenuo.schema import column_name

POINTS = 801
_BARS = 40  # of the histogram behind the curves, about


def draw(
    parameters: DensityParameters | GaussianParameters, column: object, classes: Labels, bins: Bins | None, ax: Any
) -> Any:
    """A curve for each class, and the histogram of its values where the model keeps one."""
    ax = pictures.axes(ax)
    gaussian = _gaussian(parameters, column)
    bins = None if gaussian is not None else bins
    low, high = _range(bins) if bins is not None else _reach(gaussian)
    x = np.linspace(low, high, POINTS)
    densities = np.exp(log_density(parameters, column, x))
    bars = _bars(bins, classes, low, high) if bins is not None else None
    for k, label in enumerate(classes.tolist()):
        colour = f"C{k % 10}"
        if bars is not None:
            edges, heights = bars
            ax.stairs(heights[k], edges, fill=True, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, densities[:, k], color=colour, label=str(label), linestyle="-" if k < 10 else "--")
    ax.set_xlim(low, high)
    ax.set_ylim(0, 1.05 * _highest(densities, bars))
    ax.set_xlabel(column_name(column))
    ax.set_ylabel(f"density (per unit of {column_name(column)})")
    ax.set_title(chosen(parameters, column).density, fontsize="medium")
    ax.legend(title="class", fontsize="small", ncols=1 + len(classes) // 10)
    return ax


def _range(bins: Bins) -> tuple[float, float]:
    """All the values; where a few lie very far out, the middle 99 % with as much on either side."""
    counts = bins.sums.floats().sum(axis=0)
    upto = np.cumsum(counts) / counts.sum()
    ends = np.ldexp(np.array([bins.places[0], bins.places[-1] + 1], np.float64), bins.exponent)
    middle = np.ldexp(bins.places[np.searchsorted(upto, [0.005, 0.995]).clip(0, len(upto) - 1)] + 0.5, bins.exponent)
    reach = max(float(middle[1] - middle[0]), bins.width)
    low, high = max(ends[0], middle[0] - reach), min(ends[1], middle[1] + reach)
    margin = 0.05 * (high - low)
    return float(low - margin), float(high + margin)


def _gaussian(parameters: DensityParameters | GaussianParameters, column: object) -> tuple[Floats, Floats] | None:
    """Means and deviations, where there is no histogram, or one whose bins are wider than the Gaussians."""
    at = parameters.columns.tolist().index(column)
    if isinstance(parameters, GaussianParameters):
        return parameters.means[:, at], parameters.deviations[:, at]
    curve = parameters.curves[at]
    return (curve.means, curve.deviations) if isinstance(curve, GaussianCurve) and curve.alone else None


def _reach(gaussian: tuple[Floats, Floats] | None) -> tuple[float, float]:
    """Four deviations around the means."""
    assert gaussian is not None, "every other density has a histogram"
    means, deviations = gaussian
    return float((means - 4 * deviations).min()), float((means + 4 * deviations).max())


def _bars(bins: Bins, classes: Labels, low: float, high: float) -> tuple[Floats, Floats]:
    """Edges and heights (classes × bars) of a histogram of about so many bars between low and high."""
    coarse = max(bins.exponent, int(np.ceil(np.log2((high - low) / _BARS))))
    wide = bins.coarsened(coarse)
    places = np.arange(wide.places[0], wide.places[-1] + 1)
    counts = wide.over(classes).pick(1, find(wide.places, places)).floats()
    totals = np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.ldexp(np.append(places, places[-1] + 1).astype(np.float64), coarse), counts / totals / wide.width


def _highest(densities: Floats, bars: tuple[Floats, Floats] | None) -> float:
    """The top of the picture: of the curves, and of bars up to twice as high."""
    top = float(densities.max())
    return top if bars is None else max(top, min(float(bars[1].max()), 2 * top))
