"""Pictures of a comparison: the critical-difference diagram over many sets, and intervals side by side on one.

In Demšar's diagram (2006) models hang from an axis of average ranks, the best on the left; a bar joins those that do
not differ significantly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation.pictures import axes
from ingenuo.explanation.regions import colour

Floats = NDArray[np.float64]

_STEP = 0.22  # between two names, in inches
_BAR = 0.14  # between two bars
_NAMED = 40  # letters of a name that are shown
_LETTER = 0.078  # the width of a letter, in inches
_AXIS = 3.4  # the width of the axis, at least


def shortened(name: str) -> str:
    """A name that is too long without its middle: what tells names apart stands at their ends.

    >>> shortened("logistic regression with standardised numbers and one-hot codes")
    'logistic regression …s and one-hot codes'
    """
    half = (_NAMED - 1) // 2
    return name if len(name) <= _NAMED else f"{name[: _NAMED - 1 - half]}…{name[-half:]}"


def groups_of(ranks: Floats, cd: float) -> list[tuple[int, ...]]:
    """The largest groups of two and more whose average ranks are less than the critical difference apart.

    >>> groups_of(np.array([1.2, 3.9, 2.0, 2.5]), 1.5)
    [(0, 2, 3), (3, 1)]
    """
    order = np.argsort(ranks, kind="stable")
    sorted_ranks = ranks[order]
    found: list[tuple[int, ...]] = []
    reached = 0
    for first in range(len(order)):
        last = int(np.searchsorted(sorted_ranks, sorted_ranks[first] + cd, side="left"))
        if last > reached and last - first > 1:
            found.append(tuple(order[first:last].tolist()))
        reached = max(reached, last)
    return found


def draw(ranks: Floats, names: Sequence[str], cd: float, ax: Any = None) -> Any:
    """Draw the critical-difference diagram; the axes are returned.

    Parameters
    ----------
    ranks : array
        The average rank of each model; 1 is the best.
    names : list
        The models.
    cd : float
        The critical difference.
    ax : optional
        Axes of matplotlib; by default those of a new figure, as high as the names need.
    """
    k = len(ranks)
    order = np.argsort(ranks, kind="stable").tolist()
    left = order[: (k + 1) // 2]
    right = order[(k + 1) // 2 :][::-1]  # the worst nearest to the axis, so that no lines cross
    bars = groups_of(ranks, cd)
    names_start = 0.24 + _BAR * len(bars) + 0.1
    depth = names_start + _STEP * max(len(left) - 1, 0) + 0.15
    top = 0.62
    # The axis runs from the best possible rank to the worst, and the names stand beside it.
    beside = 0.75 + _LETTER * max(len(shortened(name)) for name in names)
    axis = max(7.2 - 2 * beside, _AXIS)
    ax = axes(ax, (axis + 2 * beside, top + depth + 0.2))
    room = beside / axis * (k - 1)
    ax.set_xlim(1 - room, k + room)
    ax.set_ylim(-depth, top)
    ax.axis("off")
    ax.plot([1, k], [0, 0], color="black", lw=1.2, clip_on=False)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, 0.07], color="black", lw=1.2)
        ax.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize=9)
    shown = min(cd, k - 1.0)
    ax.plot([1, 1 + shown], [0.42, 0.42], color="0.35", lw=1.2)
    for end in (1.0, 1 + shown):
        ax.plot([end, end], [0.39, 0.45], color="0.35", lw=1.2)
    wider = "" if cd <= k - 1 else ", beyond the axis"
    ax.text(1 + shown / 2, 0.46, f"critical difference {cd:.2f}{wider}", ha="center", va="bottom", fontsize=9)
    for side, models in (("left", left), ("right", right)):
        edge, beyond = (1 - 0.06 * (k - 1), -0.015) if side == "left" else (k + 0.06 * (k - 1), 0.015)
        for place, model in enumerate(models):
            y = -names_start - _STEP * place
            ax.plot([ranks[model], ranks[model], edge], [0, y, y], color="0.25", lw=0.9)
            name = shortened(names[model])
            said = f"{name}  {ranks[model]:.2f}" if side == "left" else f"{ranks[model]:.2f}  {name}"
            ha = "right" if side == "left" else "left"
            ax.text(edge + beyond * (k - 1), y, said, ha=ha, va="center", fontsize=9)
    for place, group in enumerate(bars):
        y, overhang = -0.16 - _BAR * place, 0.012 * (k - 1)
        low, high = float(ranks[list(group)].min()), float(ranks[list(group)].max())
        ax.plot([low - overhang, high + overhang], [y, y], color=colour(0), lw=4, solid_capstyle="butt", zorder=3)
    return ax


def intervals(
    names: Sequence[str],
    values: Floats,
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    measure: str,
    ax: Any,
) -> Any:
    """Draw a dot for each model, with its interval where it has one; the first stands at the top."""
    ax = axes(ax, (6.4, 0.9 + 0.32 * len(names)))
    for place, (value, low, high) in enumerate(zip(values.tolist(), lows, highs)):
        if low is not None and high is not None:
            ax.plot([low, high], [place, place], color=colour(0), lw=1.8, zorder=2)
        ax.plot([value], [place], color=colour(0), marker="o", ms=5, zorder=3)
    ax.set_yticks(range(len(names)), [shortened(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(measure)
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
