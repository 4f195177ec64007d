"""Pictures of an evaluation: the confusion matrix, ROC and precision-recall curves, and reliability.

The drawing knows nothing of models: it is given counts, curves and bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.explanation import pictures
from ingenuo.explanation.regions import colour

Floats = NDArray[np.float64]

_NUMBERED = 20  # classes: the cells of a larger matrix have no room for numbers
_NAMED = 6  # curves: of more, those of the smallest areas are named
_WORST = 3
_NAME = 18  # letters of a class


class Curve(NamedTuple):
    """One class's curve: its name, its points, and the area under it."""

    name: str
    x: Floats
    y: Floats
    area: float


def short(label: Any, letters: int = _NAME) -> str:
    """A name in a picture; a long one without its middle, for names often differ at their ends.

    >>> short("comp.sys.ibm.pc.hardware")
    'comp.sys.…hardware'
    """
    name = str(label)
    return name if len(name) <= letters else f"{name[: letters // 2]}…{name[1 - letters // 2 :]}"


def intervals(names: Sequence[str], values: Sequence[Any], measure: str, ax: Any = None) -> Any:
    """Draw a dot for each model, with its interval where it has one; the first stands at the top."""
    ax = pictures.axes(ax, (6.4, 0.9 + 0.32 * len(names)))
    for place, value in enumerate(values):
        if value.low is not None and value.high is not None:
            ax.plot([value.low, value.high], [place, place], color=colour(0), lw=1.8, zorder=2)
        ax.plot([value.value], [place], color=colour(0), marker="o", ms=5, zorder=3)
    ax.set_yticks(range(len(names)), [short(name, 40) for name in names])
    ax.set(ylim=(len(names) - 0.5, -0.5), xlabel=measure)
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def grid(panels: int = 4, crowded: bool = False) -> list[Any]:
    """Axes for the panels, two in a line, on a new figure; of one panel, one."""
    if panels == 1:
        return [pictures.axes(None, (6.4, 5.6) if crowded else (5.0, 4.4))]
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 11.0) if crowded else (10.0, 8.4), layout="constrained")
    return list(figure.subplots(2, 2).ravel())


def confusion(cells: NDArray[Any], names: list[str], ax: Any = None) -> Any:
    """Draw the confusion matrix: true classes down, answers across; the colour is the share of the true class."""
    ax = pictures.axes(ax, (5.0, 4.4))
    n = len(names)
    whole = cells.sum(axis=1, keepdims=True)
    shares = np.divide(cells, whole, out=np.zeros(cells.shape), where=whole > 0)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto" if n > _NUMBERED else "equal")
    if n <= _NUMBERED:
        size = 10 if n <= 6 else max(5.0, 10 - 0.25 * n)
        for i in range(n):
            for j in range(n):
                if cells[i, j]:
                    said = f"{cells[i, j]:,}" if cells.dtype.kind == "i" else f"{cells[i, j]:.4g}"
                    tone = "white" if shares[i, j] > 0.55 else "black"
                    ax.text(j, i, said, ha="center", va="center", color=tone, fontsize=size)
    # Names stand at every class, or at as many as can be read.
    shown = np.unique(np.linspace(0, n - 1, min(n, _NUMBERED)).round().astype(int))
    small = 9 if n <= 6 else 7
    labels = [names[k] for k in shown]
    crossed = n > 4 or max(map(len, names)) > 8
    ax.set_xticks(shown, labels, rotation=60 if crossed else 0, ha="right" if crossed else "center", fontsize=small)
    if crossed:
        for tick in ax.get_xticklabels():
            tick.set_rotation_mode("anchor")
    ax.set_yticks(shown, labels, fontsize=small)
    ax.set(xlabel="answered", ylabel="true", title="confusion matrix (colour: share of the true class)")
    return ax


def _curves(curves: list[Curve], ax: Any, drawstyle: str) -> None:
    """Draw the curves: a few with their names, many in grey with those of the smallest areas in colour."""
    many = len(curves) > _NAMED
    worst = sorted(range(len(curves)), key=lambda k: curves[k].area)[:_WORST] if many else list(range(len(curves)))
    for k, curve in enumerate(curves):
        if k not in worst:
            ax.plot(curve.x, curve.y, color="0.7", lw=0.8, drawstyle=drawstyle, zorder=1)
    for k in worst:
        curve = curves[k]
        said = f"{curve.name} ({curve.area:.3f})"
        ax.plot(curve.x, curve.y, color=colour(k), lw=1.6, label=said, drawstyle=drawstyle, zorder=2)
    if many:
        ax.plot([], [], color="0.7", lw=0.8, label=f"{len(curves) - len(worst)} other classes")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def roc(curves: list[Curve], mean: float | None = None, ax: Any = None) -> Any:
    """Draw ROC curves, with the areas in the legend."""
    ax = pictures.axes(ax, (5.0, 4.4))
    ax.plot([0, 1], [0, 1], color="0.45", lw=1.0, ls=":")
    _curves(curves, ax, "default")
    said = "" if mean is None else f", macro area {mean:.3f}"
    ax.set(xlabel="share of the others taken for it", ylabel="share of the class found (recall)", title=f"ROC{said}")
    _legend(ax, curves, "lower right")
    return ax


def precision_recall(curves: list[Curve], shares: list[float], mean: float | None = None, ax: Any = None) -> Any:
    """Draw precision over recall; dotted is the share of the class, which chance would have."""
    ax = pictures.axes(ax, (5.0, 4.4))
    if len(curves) <= _NAMED:
        for k, share in enumerate(shares):
            ax.axhline(share, color=colour(k), lw=1.0, ls=":")
    _curves(curves, ax, "steps-pre")
    said = "" if mean is None else f", macro area {mean:.3f}"
    ax.set(xlabel="recall", ylabel="precision", title=f"precision and recall{said}")
    _legend(ax, curves, "lower left")
    return ax


def _legend(ax: Any, curves: list[Curve], place: str) -> None:
    if curves:
        ax.legend(loc=place, fontsize=8, frameon=True, framealpha=0.85, edgecolor="none", title="class (area)")
        ax.get_legend().get_title().set_fontsize(8)
    else:
        ax.text(0.5, 0.6, "no class has rows to tell apart", ha="center", transform=ax.transAxes, color="0.35")


def reliability(
    edges: Floats, rows: Floats, points: tuple[Floats, ...], labels: tuple[str, str], title: str, ax: Any = None
) -> Any:
    """Draw how often forecasts came true over what they said; bars beneath are the rows in each bin.

    Points are, of each bin, the mean forecast, the share that came true and the ends of its interval; NaN where there
    is none.
    """
    ax = pictures.axes(ax, (5.0, 4.4))
    ax.plot([0, 1], [0, 1], color="0.45", lw=1.0, ls=":")
    beneath = ax.twinx()
    width = np.diff(edges)
    beneath.bar(edges[:-1], rows, width, align="edge", color="0.85", edgecolor="white", zorder=0)
    # The bars take the lower quarter of the picture.
    beneath.set_ylim(0, 4 * max(float(rows.max()), 1.0))
    beneath.set_yticks([])
    beneath.spines[["top", "right"]].set_visible(False)
    for left, wide, n in zip(edges[:-1], width, rows):
        if n and len(rows) <= _NUMBERED:
            beneath.text(left + wide / 2, n, f"{n:,.0f}", ha="center", va="bottom", fontsize=7, color="0.35")
    ax.set_zorder(beneath.get_zorder() + 1)
    ax.patch.set_visible(False)
    x, y, low, high = (each[rows > 0] for each in points)
    off = np.nan_to_num(np.array([y - np.minimum(low, y), np.maximum(high, y) - y]))
    ax.errorbar(x, y, yerr=off, color=colour(0), marker="o", ms=5, lw=1.4, capsize=3)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), xlabel=labels[0], ylabel=labels[1], title=title)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
