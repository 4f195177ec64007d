"""The picture of a nomogram as SVG: text that can be selected, in the colours of the page around it, without scripts.

Columns stand below one another, the widest first, under a scale of points. The values of a category, and numbers whose
points only rise or only fall, are marks on a line; where points turn, the line is a curve, with smaller numbers below.
Labels never overlap: they stand in several lines above and below, and those for which there is no room are left out.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ingenuo.show.svg import Picture, clean, number, shorten, tag, text_width, words

if TYPE_CHECKING:
    from ingenuo.explanation.nomogram import Nomogram, Scale, Tick


WIDTH, LEFT, RIGHT = 960.0, 176.0, 930.0  # of the picture; between which the scales are
SIZE, SMALL, LINE = 12.0, 10.5, 14.0  # of letters; from one line of labels to the next
LEVELS = {"category": [1, -1, 2, -2, 3, -3], "text": [1, -1, 2, -2, 3, -3], "number": [1, -1]}  # of labels, for kinds
_TURN = 2.0  # points by which a number's points may turn and still be drawn on a line

# The marks have a colour of their own, which a page may set as --ingenuo-mark; all else has that of the text.
_STYLE = (
    ".ingenuo-nomogram{--mark:var(--ingenuo-mark,#0b62b8);width:100%;min-width:640px;max-width:1100px;height:auto;"
    "font-family:system-ui,Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif}"
    "@media (prefers-color-scheme:dark){.ingenuo-nomogram{--mark:var(--ingenuo-mark,#6cb2ff)}}"
    ".ingenuo-nomogram text{fill:currentColor}.ingenuo-nomogram line,.ingenuo-nomogram polyline{stroke:currentColor;"
    "fill:none}.ingenuo-nomogram circle{fill:var(--mark);stroke:var(--mark)}"
    ".ingenuo-nomogram .missing{fill:none;stroke:currentColor;stroke-width:1.5}"
)


def svg(shown: Nomogram) -> Picture:
    """The picture as SVG."""
    scales = shown.scales[: shown.drawn]
    ends = [0.0, *(scale.width for scale in scales if scale.kind != "text")]
    ends += [t.points for scale in scales if scale.kind == "text" for t in scale.ticks if math.isfinite(t.points)]
    painter = _Painter(min(ends), max(ends))
    painter.say(10, 22, shorten(clean(shown.title), WIDTH - 20, 15), 15, "start", font_weight="600")
    ticks = round_values(painter.low, painter.high, 10)
    painter.rule("points", 58.0, [(t, f"{t:g}") for t in ticks])
    y = 70.0
    for scale in scales:
        y = painter.row(scale, y)
    painter.shapes[:0] = [_line(painter.x(t), 58.0, painter.x(t), y, strength=0.13) for t in ticks]
    y = _paint_totals(painter, shown, y + 30)
    remarks = ["○ where nothing is known of a column", *shown.remarks] if scales else shown.remarks
    for part in (part for each in remarks for part in textwrap.wrap(clean(each), int((WIDTH - 20) / (SMALL * 0.52)))):
        y += LINE
        painter.say(10, y, part, SMALL, "start", fill_opacity=0.8)
    size = f'class="ingenuo-nomogram" viewBox="0 0 {number(WIDTH)} {number(y + 14)}"'
    title, about = tag("title", _escaped(f"Nomogram: {shown.title}")), tag("desc", _escaped(_description(shown)))
    return Picture(
        "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
                title,
                about,
                tag("style", _STYLE),
                *painter.shapes,
                "</svg>",
            ]
        )
    )


def _escaped(text: str) -> str:
    from html import escape

    return escape(clean(text))


def _description(shown: Nomogram) -> str:
    """What can be read off, for those who do not see the picture."""
    parts = []
    for scale in shown.scales[: shown.drawn]:
        known = sorted((t for t in scale.ticks if t.points == t.points), key=lambda t: t.points)
        for first, last in [(known[0], known[-1])] if known else []:
            parts.append(f"{scale.column}: from {first.label}, {first.points:.0f}, to {last.label}, {last.points:.0f}")
    even = shown.total(0.5)
    half = "" if even is None else f" A total of {even:.0f} points is a probability of 0.5."
    return f"Points of each column. {'; '.join(parts)}.{half}"


def round_values(low: float, high: float, about: int, *, whole: bool = False) -> list[float]:
    """Round numbers between two, at most about so many.

    >>> round_values(0.1, 1.9, 4)
    [0.5, 1.0, 1.5]
    """
    step = 10.0 ** math.floor(math.log10((high - low) / about))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (m * step) <= about)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _line(x1: float, y1: float, x2: float, y2: float, strength: float | None = None, width: float = 1.0) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width, stroke_opacity=strength)


class _Painter:
    """Shapes on a scale from one number of points to another."""

    def __init__(self, low: float, high: float, shapes: list[str] | None = None) -> None:
        self.low, self.high = low, high if high > low else low + 1.0
        self.shapes: list[str] = [] if shapes is None else shapes

    def x(self, points: float) -> float:
        """The place of points across the picture."""
        return LEFT + min(max((points - self.low) / (self.high - self.low), 0.0), 1.0) * (RIGHT - LEFT)

    def say(self, x: float, y: float, text: str, size: float = SMALL, anchor: str = "middle", **more: Any) -> None:
        """A text."""
        self.shapes.append(words(x, y, text, size, anchor=anchor, **more))

    def mark(self, x: float, y: float, missing: bool = False) -> None:
        """A dot on a line, or a ring where a value is missing."""
        self.shapes.append(
            tag("circle", cx=x, cy=y, r=4.5 if missing else 3, **({"class": "missing"} if missing else {}))
        )

    def rule(self, name: str, y: float, ticks: Sequence[tuple[float, str]], below: bool = False) -> None:
        """A scale from one side to the other."""
        self.say(10, y + 4, name, SIZE, "start", font_weight="600")
        self.shapes.append(_line(self.x(self.low), y, self.x(self.high), y, width=1.2))
        taken: list[tuple[float, float]] = []
        for at, text in ticks:
            self.shapes.append(_line(self.x(at), y, self.x(at), y + (5 if below else -5)))
            if _fits(taken, self.x(at), text_width(text, SMALL)):
                self.say(self.x(at), y + (16 if below else -9), text)

    def row(self, scale: Scale, y: float) -> float:
        """One column from y on; where the next may begin."""
        if _turns(scale):
            line, bottom = self._curve(scale, y)
        else:
            line, bottom = self._marks(scale, y)
        self.say(10, line + 4, shorten(clean(scale.column), LEFT - 26, SIZE, True), SIZE, "start", font_weight="600")
        for count, part in enumerate(textwrap.wrap(clean(scale.note), int((LEFT - 20) / (SMALL * 0.54)))[:3], 1):
            self.say(10, line + 4 + count * 13, part, SMALL, "start", fill_opacity=0.75)
            bottom = max(bottom, line + 8 + count * 13)
        return bottom

    def _marks(self, scale: Scale, y: float) -> tuple[float, float]:
        """Values as marks on a line, the outermost of which choose first where their labels stand."""
        taken: dict[int, list[tuple[float, float]]] = {}
        placed: list[tuple[Tick, int, str]] = []
        ticks = [tick for tick in scale.ticks if not math.isnan(tick.points)]
        for tick in sorted(ticks, key=lambda tick: -abs(self.x(tick.points) - (LEFT + RIGHT) / 2)):
            text = shorten(clean(tick.label) or "“”", 150, SMALL)
            text += {math.inf: " ∞", -math.inf: " −∞"}.get(tick.points, "")
            x, wide = self.x(tick.points), text_width(text, SMALL)
            levels = LEVELS.get(scale.kind, [1])
            placed.append((tick, next((k for k in levels if _fits(taken.setdefault(k, []), x, wide)), 0), text))
        above, below = max([0, *(-k for _, k, _ in placed)]), max([1, *(k for _, k, _ in placed)])
        line = y + 18 + above * LINE
        xs = [
            self.x(p)
            for p in (*(t.points for t in ticks), scale.missing, *(p for _, p in scale.curve))
            if math.isfinite(p)
        ]
        self.shapes.append(_line(min(xs), line, max(xs), line, width=1.2))
        for tick, level, text in placed:
            x, base = self.x(tick.points), line + (4 if level > 0 else 6) + LINE * level
            self.mark(x, line)
            if abs(level) > 1:  # a thread from the mark to its label
                self.shapes.append(_line(x, line, x, base - 9 if level > 0 else base + 2, strength=0.25))
            if level:
                self.say(x, base, text)
        self.mark(self.x(scale.missing), line, missing=True)
        return line, line + 6 + below * LINE

    def _curve(self, scale: Scale, y: float) -> tuple[float, float]:
        """Numbers from below upwards, each above its points."""
        top = y + 16
        bottom = top + max(84.0, 1.1 * SMALL * len(scale.ticks))
        (low, _), (high, _) = scale.curve[0], scale.curve[-1]
        heights = {
            v: bottom - (v - low) / (high - low) * (bottom - top)
            for v in [x for x, _ in scale.curve] + [t.value for t in scale.ticks]
        }
        points = " ".join(f"{number(self.x(p))},{number(heights[v])}" for v, p in scale.curve)
        self.shapes.append(tag("polyline", points=points))
        bases: list[float] = []
        for tick in (tick for tick in scale.ticks if math.isfinite(tick.points)):
            x, at = self.x(tick.points), heights[tick.value]
            self.mark(x, at)
            right = x + text_width(tick.label, SMALL) + 8 < RIGHT
            ahead = next((p for v, p in scale.curve if v > tick.value), tick.points)
            base = at + (12 if (ahead >= tick.points) == right else -4)  # on the side that the curve leaves free
            if all(abs(base - other) >= SMALL for other in bases):
                self.say(x + 4 if right else x - 4, base, tick.label, SMALL, "start" if right else "end")
                bases.append(base)
        self.mark(self.x(scale.missing), bottom + 6, missing=True)
        return (top + bottom) / 2, bottom + 14


def _fits(taken: list[tuple[float, float]], x: float, width: float) -> bool:
    """Whether a label fits in a line; if so, its place is taken."""
    low, high = x - width / 2 - 3, x + width / 2 + 3
    if any(low < b and a < high for a, b in taken):
        return False
    taken.append((low, high))
    return True


def _turns(scale: Scale) -> bool:
    """Whether the points of a number rise and fall again, or fall and rise, by more than a little."""
    points = [p for _, p in scale.curve]
    if not points:
        return False
    rises = max(p - min(points[: i + 1]) for i, p in enumerate(points))
    falls = max(max(points[: i + 1]) - p for i, p in enumerate(points))
    return min(rises, falls) > _TURN


def _paint_totals(painter: _Painter, shown: Nomogram, y: float) -> float:
    """The scale of totals and beneath it that of probabilities."""
    levels = shown.levels()
    scales = shown.scales[: shown.drawn]
    inside = [total for _, total in levels]
    low, high = (inside[0], inside[-1]) if len(inside) > 1 else (0.0, 100.0)
    if not any(scale.kind in ("text", "count") for scale in scales):  # which have no most points
        least, most = max(0.0, low), min(sum(scale.width for scale in scales), high)
        low, high = (least, most) if least < most else (low, high)
    total = _Painter(low, high, painter.shapes)
    total.rule("total points", y, [(t, f"{t:g}") for t in round_values(low, high, 12)])
    shares = [(points, f"{p:g}") for p, points in levels if low - 1e-9 <= points <= high + 1e-9]
    total.rule(shorten(clean(f"P({shown.positive})"), LEFT - 26, SIZE, True), y + 34, shares, below=True)
    return y + 60
