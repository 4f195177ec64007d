"""Learning curves of two models: what is measured over the number of rows learned from, with its spread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import pictures
from ingenuo.explanation.regions import colour

Floats = NDArray[np.float64]

_APART = 0.07  # of the picture's height: two names closer than that would touch
_STEEP = 20.0  # a measure that falls so many times is drawn on a logarithmic axis
_WIDE = 0.09  # of the axis between two numbers of rows, for both to be read


def draw(
    sizes: NDArray[Any],
    means: Floats,
    spreads: Floats,
    names: tuple[str, str],
    measure: str,
    crossings: tuple[float, ...] = (),
    ax: Any = None,
) -> Any:
    """Draw two curves with bands of one standard deviation, each with its name at its end.

    Parameters
    ----------
    sizes : array
        How many rows were learned from.
    means, spreads : array (sizes, 2)
        The measure, and its standard deviation.
    names : tuple
        The two models.
    measure : str
        What is measured, for the axis.
    crossings : tuple of float
        Where the curves cross, in rows: marked by a line.
    ax : optional
        Axes of matplotlib; by default those of a new figure.
    """
    from matplotlib.ticker import LogLocator

    ax = pictures.axes(ax)
    ax.set_xscale("log")
    steep = bool(means.min() > 0 and means.max() > _STEEP * means.min())
    if steep:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter("{x:g}")
    for k in range(2):
        middle, spread = means[:, k], spreads[:, k]
        # On a logarithmic axis m - s may have no place; there the band reaches as far down as up, to m²/(m + s).
        low = middle**2 / (middle + spread) if steep else middle - spread
        ax.fill_between(sizes, low, middle + spread, color=colour(k), alpha=0.18, lw=0, zorder=1)
        ax.plot(sizes, middle, color=colour(k), lw=1.8, marker="o", ms=4, zorder=3)
    for rows in crossings:
        ax.axvline(rows, color="0.45", lw=1.0, ls=":", zorder=0)
        said = f"cross near {rows:,.0f} rows" if len(crossings) == 1 else f"{rows:,.0f}"
        # Just above the axes.
        ax.text(
            rows, 1.015, said, transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=8, color="0.35"
        )
    ax.margins(x=0.02)
    ax.autoscale_view()  # now, for the names' places depend on it
    for k, place in enumerate(_places(ax, means[-1])):
        ax.text(1.015, place, names[k], transform=ax.transAxes, va="center", color=colour(k))
    shown = _ticks(sizes)
    ax.set_xticks(shown, [f"{size:,}" for size in shown])
    ax.minorticks_off()
    ax.set(xlabel="rows learned from", ylabel=measure)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _places(ax: Any, ends: Floats) -> list[float]:
    """How high the two names stand, as shares of the height: beside the curves' ends, and apart."""
    inverse = ax.transAxes.inverted()
    first, second = (float(inverse.transform(ax.transData.transform((1.0, end)))[1]) for end in ends.tolist())
    if abs(first - second) >= _APART:
        return [first, second]
    middle = min(max((first + second) / 2, _APART / 2), 1 - _APART / 2)
    half = _APART / 2 if first >= second else -_APART / 2
    return [middle + half, middle - half]


def _ticks(sizes: NDArray[Any]) -> list[int]:
    """The sizes that are named on the axis: the last, and of the others those that leave room."""
    span = max(float(np.log(sizes[-1] / sizes[0])), 1e-9)
    shown = [int(sizes[-1])]
    for size in sizes[-2::-1].tolist():
        if np.log(shown[-1] / size) >= _WIDE * span:
            shown.append(size)
    return shown[::-1]
