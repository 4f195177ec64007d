"""A drawing by matplotlib: the same shapes at the same places as the SVG, for PNG, PDF or a part of a figure.

Letters are drawn as outlines in the units of the picture, so that they fit their boxes at any size of the axes.
"""

from __future__ import annotations

from functools import lru_cache
from os import PathLike
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.networks.drawing.geometry import Curve, Disc, Drawing, Polygon, Rectangle, Words

UNITS_PER_INCH = 72.0  # of a figure of its own: a unit is a point


def picture(drawing: Drawing, ax: Any = None) -> Any:
    """Paint a drawing.

    Parameters
    ----------
    drawing : Drawing
        What `ingenuo.networks.drawing.geometry.drawing` gives.
    ax : optional
        Axes of matplotlib; by default those of a new figure of the drawing's own size.

    Returns
    -------
    The axes; `axes.figure.savefig(path)` writes them.

    Examples
    --------
    >>> from ingenuo.networks.drawing.geometry import drawing
    >>> from ingenuo.networks.drawing.picture import picture
    >>> found = drawing(["rain", "wet"], [["yes", "no"]] * 2, [(), (0,)])
    >>> bool(picture(found).get_xlim() == (0.0, found.width))
    True
    """
    if ax is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(drawing.width / UNITS_PER_INCH, drawing.height / UNITS_PER_INCH), facecolor="white")
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_xlim(0.0, drawing.width)
    ax.set_ylim(drawing.height, 0.0)
    ax.set_aspect("equal")
    ax.axis("off")
    # Lines have their widths in points whatever the axes; here they follow the scale that the axes have now.
    corner, size = ax.get_position(), ax.figure.get_size_inches()
    inches = min(corner.width * size[0] / drawing.width, corner.height * size[1] / drawing.height)
    points = 72.0 * float(inches)
    order = 2.0  # later shapes lie above earlier ones
    for group in drawing.groups:
        for shape in group.shapes:
            if not isinstance(shape, Words):
                ax.add_artist(_painted(shape, points, order))
                order += 1e-5
        by_colour: dict[str, list[Words]] = {}
        for shape in group.shapes:
            if isinstance(shape, Words):
                by_colour.setdefault(shape.colour, []).append(shape)
        for colour, words in by_colour.items():
            ax.add_artist(_lettered(words, colour, order))
    return ax


def save(
    drawing: Drawing, path: str | PathLike[str] | IO[bytes], dpi: float = 144.0, format: str | None = None
) -> None:
    """Write a drawing to a file.

    Parameters
    ----------
    drawing : Drawing
        What `ingenuo.networks.drawing.geometry.drawing` gives.
    path : path or open binary file
        Where to.
    dpi : float
        Dots to the inch, of 72 units of the drawing: 144 gives two dots to the unit. A very large picture is written
        with fewer, so that no side is longer than 30,000 dots.
    format : str, optional
        "png", "pdf"…; by default what the name of the file ends in.
    """
    longest = max(drawing.width, drawing.height) / UNITS_PER_INCH
    picture(drawing).figure.savefig(path, dpi=min(dpi, 30_000 / longest), format=format)


def _painted(shape: Rectangle | Disc | Curve | Polygon, points: float, zorder: float) -> Any:
    """A shape as a patch of matplotlib; `points` is how many points a unit has."""
    from matplotlib.patches import Circle, FancyBboxPatch, PathPatch
    from matplotlib.patches import Polygon as PolygonPatch
    from matplotlib.patches import Rectangle as RectanglePatch
    from matplotlib.path import Path

    if isinstance(shape, Rectangle):
        style: dict[str, Any] = {"facecolor": shape.fill, "edgecolor": shape.edge or "none", "zorder": zorder}
        style["linewidth"] = shape.line * points if shape.edge else 0.0
        if shape.radius == 0:
            return RectanglePatch((shape.x, shape.y), shape.width, shape.height, **style)
        rounded = f"round,pad=0,rounding_size={shape.radius}"
        return FancyBboxPatch((shape.x, shape.y), shape.width, shape.height, boxstyle=rounded, **style)
    if isinstance(shape, Disc):
        return Circle((shape.x, shape.y), shape.radius, facecolor=shape.fill, edgecolor="none", zorder=zorder)
    if isinstance(shape, Polygon):
        return PolygonPatch(shape.points, closed=True, facecolor=shape.fill, edgecolor="none", zorder=zorder)
    path = Path(shape.route, [Path.MOVETO] + [Path.CURVE4] * (len(shape.route) - 1))
    width = shape.width * points
    return PathPatch(path, facecolor="none", edgecolor=shape.colour, linewidth=width, capstyle="butt", zorder=zorder)


def _lettered(lines: list[Words], colour: str, zorder: float) -> Any:
    """Texts of one colour, as one patch of the outlines of their letters."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    vertices, codes = [np.zeros((0, 2))], [np.zeros(0, dtype=np.uint8)]
    for words in lines:
        outline, its_codes, width = _outline(words.text, words.bold)
        start = words.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[words.anchor] * width * words.size
        vertices.append(outline * [words.size, -words.size] + [start, words.y])
        codes.append(its_codes)
    path = Path(np.concatenate(vertices), np.concatenate(codes))
    return PathPatch(path, facecolor=colour, edgecolor="none", zorder=zorder)


@lru_cache(maxsize=4096)
def _outline(text: str, bold: bool) -> tuple[NDArray[np.float64], NDArray[np.uint8], float]:
    """The outlines of a text of size 1, in DejaVu Sans, which matplotlib brings along; and how wide it is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal", size=100)
    vertices, codes = text_to_path.get_text_path(font, text, ismath=False)  # a $ is a $
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    scale = text_to_path.FONT_SCALE
    return np.asarray(vertices, float).reshape(-1, 2) / scale, np.asarray(codes, np.uint8), float(width) / 100
