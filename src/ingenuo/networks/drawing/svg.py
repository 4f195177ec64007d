"""A drawing as SVG: text that browsers and notebooks show, without scripts, references or names that could clash."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ingenuo.networks.drawing.geometry import Curve, Disc, Drawing, Polygon, Rectangle, Shape
from ingenuo.networks.drawing.rows import Point

FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def svg(drawing: Drawing) -> str:
    """The picture as SVG, on a white ground of its own.

    Examples
    --------
    >>> from ingenuo.networks.drawing.geometry import drawing
    >>> from ingenuo.networks.drawing.svg import svg
    >>> text = svg(drawing(["rain", "wet"], [["yes", "no"]] * 2, [(), (0,)], title="rain & wet"))
    >>> text.startswith("<svg"), "rain &amp; wet" in text
    (True, True)
    """
    width, height = _number(drawing.width), _number(drawing.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(drawing.title)}" font-family="{FONTS}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for group in drawing.groups:
        tooltip = f"<title>{escape(group.tooltip)}</title>" if group.tooltip else ""
        lines.append(f'<g class="{group.kind}">{tooltip}')
        lines += [_painted(shape) for shape in group.shapes]
        lines.append("</g>")
    return "\n".join([*lines, "</svg>"])


def _painted(shape: Shape) -> str:
    if isinstance(shape, Rectangle):
        corner = f' rx="{_number(shape.radius)}"' if shape.radius else ""
        edge = f' stroke="{shape.edge}" stroke-width="{_number(shape.line)}"' if shape.edge else ""
        size = f'width="{_number(shape.width)}" height="{_number(shape.height)}"'
        return f'<rect x="{_number(shape.x)}" y="{_number(shape.y)}" {size}{corner} fill="{shape.fill}"{edge}/>'
    if isinstance(shape, Disc):
        return (
            f'<circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{_number(shape.radius)}" fill="{shape.fill}"/>'
        )
    if isinstance(shape, Curve):
        path = f"M{_points(shape.route[:1])} C{_points(shape.route[1:])}"
        return f'<path d="{path}" fill="none" stroke="{shape.colour}" stroke-width="{_number(shape.width)}"/>'
    if isinstance(shape, Polygon):
        return f'<polygon points="{_points(shape.points)}" fill="{shape.fill}"/>'
    anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
    weight = ' font-weight="bold"' if shape.bold else ""
    place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" font-size="{_number(shape.size)}"'
    return f'<text {place} fill="{shape.colour}"{anchor}{weight}>{escape(shape.text)}</text>'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
