"""A nomogram on axes of matplotlib."""

from __future__ import annotations

from typing import Any

from ingenuo.explanation.nomogram import Nomogram
from ingenuo.explanation.nomogram_layout import WIDTH, Line, Mark, Path, layout
from ingenuo.explanation.pictures import axes

_INCH = 100.0  # units of the layout
_MARK = "#1f6fb5"


def draw(shown: Nomogram, ax: Any = None) -> Any:
    """Draw it on axes, by default on those of a new figure that is as large as it needs; the axes are returned."""
    picture = layout(shown)
    ax = axes(ax, (WIDTH / _INCH, picture.height / _INCH))
    box = ax.get_window_extent()
    # Letters are as large as the axes allow, so that they stand clear of one another on a small figure too.
    unit = min(box.width / WIDTH, box.height / picture.height) / ax.figure.dpi * 72
    ink = ax.xaxis.label.get_color()
    for shape in picture.shapes:
        if isinstance(shape, Line):
            ends = [shape.x1, shape.x2], [shape.y1, shape.y2]
            ax.plot(*ends, color=ink, alpha=shape.strength, linewidth=shape.width * unit, solid_capstyle="butt")
        elif isinstance(shape, Path):
            ax.plot(*zip(*shape.points), color=ink, linewidth=1.2 * unit)
        elif isinstance(shape, Mark):
            face, edge = ("none", ink) if shape.ring else (_MARK, _MARK)
            size = (9 if shape.ring else 6) * unit
            ax.plot(
                shape.x, shape.y, "o", markersize=size, markerfacecolor=face, markeredgecolor=edge,
                markeredgewidth=unit, zorder=3,
            )  # fmt: skip
        else:
            ax.text(
                shape.x, shape.y, shape.text.replace("$", r"\$"), fontsize=shape.size * unit, color=ink,
                alpha=shape.strength, ha={"start": "left", "end": "right"}.get(shape.anchor, "center"), va="baseline",
                fontweight="bold" if shape.bold else "normal",
            )  # fmt: skip
    ax.set_xlim(0, WIDTH)
    ax.set_ylim(picture.height, 0)
    ax.set_axis_off()
    return ax
