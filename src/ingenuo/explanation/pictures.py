"""Where pictures are drawn: matplotlib's axes, made only when a picture is asked for.

No picture needs a window or a global state of matplotlib: without axes of the caller's a figure of its own is made.
"""

from __future__ import annotations

from typing import Any


def axes(ax: Any = None, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The axes to draw on: the caller's, or those of a new figure (`axes.figure.savefig(path)` writes it)."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure.add_subplot()
