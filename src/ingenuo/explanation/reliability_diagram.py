"""The reliability diagram: how often forecasts came true over what they said, and beneath it where the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import pictures
from ingenuo.explanation.regions import colour

Floats = NDArray[np.float64]


def draw(
    edges: Floats,
    rows: NDArray[np.int64],
    points: tuple[Floats, Floats, Floats, Floats],
    labels: tuple[str, str],
    title: str,
    ax: Any = None,
) -> Any:
    """Draw the points of a reliability diagram with their intervals, the diagonal, and a histogram of rows beneath.

    Parameters
    ----------
    edges, rows : array
        Where the bins end, and how many rows each has.
    points : tuple of arrays
        Of each bin the mean forecast, the share that came true, and the ends of its interval; NaN where there is none.
    labels, title : str
        Of the axes, and above.
    ax : optional
        Axes of matplotlib; by default those of a new figure. The histogram stands below them.
    """
    ax = pictures.axes(ax, (5.4, 5.2))
    forecast, share, low, high = points
    there = rows > 0
    ax.plot([0, 1], [0, 1], color="0.45", lw=1.0, ls=":", zorder=1)
    known = there & ~np.isnan(low)
    ax.vlines(forecast[known], low[known], high[known], color=colour(0), lw=1.6, alpha=0.7, zorder=2)
    marker = "o" if len(rows) <= 50 else ""
    ax.plot(forecast[there], share[there], color=colour(0), marker=marker, ms=5, lw=1.2, zorder=3)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), ylabel=labels[1])
    ax.set_title(title, fontsize=10)
    beneath = ax.inset_axes((0, -0.29, 1, 0.24), sharex=ax)  # below the axes, and of their width
    beneath.bar(edges[:-1], rows, np.diff(edges), align="edge", color=colour(0), alpha=0.45, edgecolor="white", lw=0.5)
    beneath.set(xlabel=labels[0], ylabel="rows")
    beneath.yaxis.set_major_locator(_few_whole_numbers())
    beneath.yaxis.set_major_formatter("{x:,.0f}")
    ax.tick_params(labelbottom=False)
    for one in (ax, beneath):
        one.grid(alpha=0.25)
        one.spines[["top", "right"]].set_visible(False)
    return ax


def _few_whole_numbers() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3, integer=True)
