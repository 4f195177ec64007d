"""Demšar's critical-difference diagram: models hang from an axis of ranks, and a bar joins those that do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation.evaluation_pictures import short
from ingenuo.explanation.pictures import axes
from ingenuo.explanation.regions import colour

Floats = NDArray[np.float64]

_STEP, _BAR = 0.22, 0.14  # between two names and between two bars, in inches


def groups_of(ranks: Floats, cd: float) -> list[tuple[int, ...]]:
    """The largest groups of two and more whose average ranks are less than the critical difference apart.

    >>> groups_of(np.array([1.2, 3.9, 2.0, 2.5]), 1.5)
    [(0, 2, 3), (3, 1)]
    """
    order = np.argsort(ranks, kind="stable")
    ends = np.searchsorted(ranks[order], ranks[order] + cd, side="left").tolist()
    before = [0, *ends[:-1]]
    groups = [order[at:end] for at, (end, past) in enumerate(zip(ends, before)) if end > past and end - at > 1]
    return [tuple(group.tolist()) for group in groups]


def draw(ranks: Floats, names: Sequence[str], cd: float, ax: Any = None) -> Any:
    """Draw the diagram of some models' average ranks; the axes are returned."""
    k, order, bars = len(ranks), np.argsort(ranks, kind="stable").tolist(), groups_of(ranks, cd)
    half = (k + 1) // 2
    called = [short(name, 40) for name in names]
    start = 0.34 + _BAR * len(bars)  # of the names, below the axis
    depth = start + _STEP * (half - 1) + 0.15
    beside = 0.75 + 0.078 * max(map(len, called))  # the room for the longest name, in inches
    axis = max(7.2 - 2 * beside, 3.4)
    ax = axes(ax, (axis + 2 * beside, depth + 0.82))
    room = beside / axis * (k - 1)
    ax.set(xlim=(1 - room, k + room), ylim=(-depth, 0.62))
    ax.axis("off")
    ax.plot([1, k], [0, 0], color="black", lw=1.2, clip_on=False)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, 0.07], color="black", lw=1.2)
        ax.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize=9)
    shown = min(cd, k - 1.0)
    ax.errorbar([1 + shown / 2], [0.42], xerr=shown / 2, color="0.35", lw=1.2, capsize=3)
    said = f"critical difference {cd:.2f}{'' if cd <= k - 1 else ', beyond the axis'}"
    ax.text(1 + shown / 2, 0.46, said, ha="center", va="bottom", fontsize=9)
    for place, model in enumerate(order):
        left = place < half
        # On the right the worst is nearest to the axis, so that no lines cross.
        y = -start - _STEP * (place if left else k - 1 - place)
        edge = 1 - 0.06 * (k - 1) if left else k + 0.06 * (k - 1)
        ax.plot([ranks[model], ranks[model], edge], [0, y, y], color="0.25", lw=0.9)
        parts = [called[model], f"{ranks[model]:.2f}"]
        text = "  ".join(parts if left else parts[::-1])
        ax.text(
            edge + (-0.015 if left else 0.015) * (k - 1),
            y,
            text,
            ha="right" if left else "left",
            va="center",
            fontsize=9,
        )
    for place, group in enumerate(bars):
        ends = ranks[list(group)].min() - 0.012 * (k - 1), ranks[list(group)].max() + 0.012 * (k - 1)
        y = -0.16 - _BAR * place
        ax.plot(ends, [y, y], color=colour(0), lw=4, solid_capstyle="butt", zorder=3)
    return ax
