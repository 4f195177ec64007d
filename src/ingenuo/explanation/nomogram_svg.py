"""A nomogram as SVG: text that can be selected and found, in the colours of the page around it, without scripts."""

from __future__ import annotations

from html import escape

from ingenuo.explanation.nomogram import Nomogram
from ingenuo.explanation.nomogram_layout import WIDTH, Label, Line, Mark, Path, Shape, layout

# The marks have a colour of their own, which a page may set as --ingenuo-mark; all else has that of the text.
_STYLE = (
    ".ingenuo-nomogram{--mark:var(--ingenuo-mark,#0b62b8);width:100%;min-width:640px;max-width:1100px;height:auto;"
    "font-family:system-ui,Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif}"
    "@media (prefers-color-scheme:dark){.ingenuo-nomogram{--mark:var(--ingenuo-mark,#6cb2ff)}}"
    ".ingenuo-nomogram text{fill:currentColor}.ingenuo-nomogram line,.ingenuo-nomogram polyline{stroke:currentColor;"
    "fill:none}.ingenuo-nomogram circle{fill:var(--mark);stroke:var(--mark)}"
    ".ingenuo-nomogram .missing{fill:none;stroke:currentColor;stroke-width:1.5}"
)


def svg(shown: Nomogram) -> str:
    """The picture as SVG.

    >>> import ingenuo as ing, ingenuo.data
    >>> from ingenuo.explanation.nomogram import nomogram
    >>> text = svg(nomogram(ing.NaiveBayes().fit(ingenuo.data.play_tennis(), "Play")))
    >>> text.startswith("<svg"), "Overcast</text>" in text
    (True, True)
    """
    picture = layout(shown)
    size = f"{_number(WIDTH)} {_number(picture.height)}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ingenuo-nomogram" viewBox="0 0 {size}" role="img">',
        f"<title>{_clean(f'Nomogram: {shown.title}')}</title>",
        f"<desc>{_clean(_description(shown))}</desc>",
        f"<style>{_STYLE}</style>",
        *(_painted(shape) for shape in picture.shapes),
        "</svg>",
    ]
    return "\n".join(lines)


def _description(shown: Nomogram) -> str:
    """What can be read off, for those who do not see the picture."""
    parts = []
    for scale in shown.scales[: shown.drawn]:
        finite = sorted((t for t in scale.ticks if t.points == t.points), key=lambda t: t.points)
        if finite:
            first, last = finite[0], finite[-1]
            parts.append(f"{scale.column}: from {first.label}, {first.points:.0f}, to {last.label}, {last.points:.0f}")
    even = shown.total(0.5)
    half = "" if even is None else f" A total of {even:.0f} points is a probability of 0.5."
    return f"Points of each column. {'; '.join(parts)}.{half}"


def _painted(shape: Shape) -> str:
    if isinstance(shape, Line):
        faint = "" if shape.strength == 1 else f' stroke-opacity="{_number(shape.strength)}"'
        ends = " ".join(f'{name}="{_number(getattr(shape, name))}"' for name in ("x1", "y1", "x2", "y2"))
        return f'<line {ends} stroke-width="{_number(shape.width)}"{faint}/>'
    if isinstance(shape, Path):
        return f'<polyline points="{" ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)}"/>'
    if isinstance(shape, Mark):
        kind = ' class="missing"' if shape.ring else ""
        return f'<circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{4.5 if shape.ring else 3}"{kind}/>'
    return _written(shape)


def _written(label: Label) -> str:
    anchor = "" if label.anchor == "start" else f' text-anchor="{label.anchor}"'
    weight = ' font-weight="600"' if label.bold else ""
    faint = "" if label.strength == 1 else f' fill-opacity="{_number(label.strength)}"'
    place = f'x="{_number(label.x)}" y="{_number(label.y)}" font-size="{_number(label.size)}"'
    return f"<text {place}{anchor}{weight}{faint}>{_clean(label.text)}</text>"


def _clean(text: str) -> str:
    """Text without what no page may hold."""
    return escape("".join(c if c.isprintable() else " " for c in text))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
