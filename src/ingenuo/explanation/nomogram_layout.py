"""Where everything of a nomogram's picture stands: lines, marks and words, the same for every way of drawing it.

Columns stand below one another, the widest first, under a scale of points. The values of a category, and numbers whose
points only rise or only fall, are marks on a line. Where points turn once, the line is folded: smaller numbers above,
larger ones below. Where they turn more often, the line is a curve, with smaller numbers below. Labels never overlap:
they stand in several lines above and below, and those for which there is no room are left out, their marks are not.
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from ingenuo.explanation.nomogram import PROBABILITIES, Nomogram
from ingenuo.explanation.nomogram_scales import Scale, Tick, round_values

WIDTH = 960.0
LEFT, RIGHT = 176.0, 930.0  # between which the scales are
SIZE = 12.0  # of letters
SMALL = 10.5
LINE = 14.0  # from one line of labels to the next
_TURN = 2.0  # points by which a curve may turn and still be one line
_STRETCHES = 2
_CURVE = 84.0  # how high a curve is at least


@dataclass(frozen=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    strength: float = 1.0  # from invisible to full
    width: float = 1.0


@dataclass(frozen=True)
class Path:
    """A line through points."""

    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Mark:
    """A dot on a line, or a ring where a value is missing."""

    x: float
    y: float
    ring: bool = False


@dataclass(frozen=True)
class Label:
    """A word, with its baseline at y."""

    x: float
    y: float
    text: str
    size: float = SIZE
    anchor: str = "middle"  # "start", "middle" or "end"
    bold: bool = False
    strength: float = 1.0


Shape = Line | Path | Mark | Label


@dataclass
class Picture:
    """Shapes, one over the other, and how high they are together."""

    shapes: list[Shape] = field(default_factory=list)
    height: float = 0.0


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is, rather too much than too little.

    >>> text_width("wide") > text_width("id")
    True
    """
    wide = sum(1.7 if unicodedata.east_asian_width(letter) in "WF" else 1.0 for letter in text)
    return wide * size * 0.6


def cut(text: str, limit: float, size: float = SIZE) -> str:
    """A text no wider than a limit.

    >>> cut("catecholamine", 60)
    'catecho…'
    """
    text = " ".join(text.split()) or "“”"
    if text_width(text, size) <= limit:
        return text
    while text and text_width(text + "…", size) > limit:
        text = text[:-1]
    return text.rstrip() + "…"


def layout(shown: Nomogram) -> Picture:
    """The picture of a nomogram."""
    scales = shown.scales[: shown.drawn]
    ends = [0.0, *(scale.width for scale in scales if scale.kind != "text")]
    ends += [t.points for scale in scales for t in scale.ticks if scale.kind == "text" and math.isfinite(t.points)]
    axis = _Axis(min(ends), max(ends))
    picture = Picture()
    picture.shapes.append(Label(10, 22, cut(shown.title, WIDTH - 20, 15), 15, "start", bold=True))
    y = 58.0
    top = y
    ticks = round_values(axis.low, axis.high, 10)
    _rule(picture, "points", y, axis, [(t, f"{t:g}") for t in ticks], below=False)
    y += 12
    for scale in scales:
        y = _row(picture, scale, axis, y)
    grid = [Line(axis.x(t), top, axis.x(t), y, 0.13) for t in ticks]
    picture.shapes[:0] = grid
    y = _totals(picture, shown, y + 30)
    note = "○ where nothing is known of a column" if scales else ""
    remarks = [each for each in (note, *shown.remarks) if each]
    for remark in remarks:
        for part in textwrap.wrap(remark, int((WIDTH - 20) / (SMALL * 0.52))):
            y += LINE
            picture.shapes.append(Label(10, y, part, SMALL, "start", strength=0.8))
    picture.height = y + 14
    return picture


class _Axis:
    """From points to the place across the picture."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high if high > low else low + 1.0

    def x(self, points: float) -> float:
        share = (points - self.low) / (self.high - self.low)
        return LEFT + min(max(share, 0.0), 1.0) * (RIGHT - LEFT)


def _rule(
    picture: Picture, name: str, y: float, axis: _Axis, ticks: Sequence[tuple[float, str]], *, below: bool
) -> None:
    """A scale from one side to the other."""
    picture.shapes.append(Label(10, y + 4, name, SIZE, "start", bold=True))
    picture.shapes.append(Line(axis.x(axis.low), y, axis.x(axis.high), y, 1.0, 1.2))
    free = _Free()
    for at, text in ticks:
        x = axis.x(at)
        picture.shapes.append(Line(x, y, x, y + (5 if below else -5)))
        if free.take(0, x, text_width(text, SMALL)):
            picture.shapes.append(Label(x, y + (16 if below else -9), text, SMALL))


class _Free:
    """What is still free in each line of labels."""

    def __init__(self) -> None:
        self.taken: dict[int, list[tuple[float, float]]] = {}

    def take(self, level: int, x: float, width: float) -> bool:
        """Whether a label fits there; if so, it is taken."""
        low, high = x - width / 2 - 3, x + width / 2 + 3
        if any(low < b and a < high for a, b in self.taken.get(level, [])):
            return False
        self.taken.setdefault(level, []).append((low, high))
        return True


def _row(picture: Picture, scale: Scale, axis: _Axis, y: float) -> float:
    """One column from y on; where the next may begin."""
    stretches = _stretches(scale)
    if len(stretches) > _STRETCHES:
        return _curve(picture, scale, axis, y)
    if len(stretches) == _STRETCHES:
        return _folded(picture, scale, axis, y, stretches)
    levels = {"category": [1, -1, 2, -2, 3, -3], "text": [1, -1, 2, -2, 3, -3], "number": [1, -1]}.get(scale.kind, [1])
    placed, above, below = _placed(scale.ticks, axis, levels)
    line = y + 18 + above * LINE
    xs = [axis.x(t.points) for t in scale.ticks if math.isfinite(t.points)] + [axis.x(scale.missing)]
    xs += [axis.x(p) for _, p in scale.curve]
    picture.shapes.append(Line(min(xs), line, max(xs), line, 1.0, 1.2))
    _marks(picture, placed, axis, line)
    picture.shapes.append(Mark(axis.x(scale.missing), line, ring=True))
    return _named(picture, scale, line, line + 6 + max(below, 1) * LINE)


def _named(picture: Picture, scale: Scale, line: float, bottom: float) -> float:
    """The name of a column at its line, with a note beneath; where the row ends."""
    picture.shapes.append(Label(10, line + 4, cut(scale.column, LEFT - 26), SIZE, "start", bold=True))
    if scale.note:
        parts = textwrap.wrap(scale.note, int((LEFT - 20) / (SMALL * 0.54)))[:3]
        for number, part in enumerate(parts, 1):
            picture.shapes.append(Label(10, line + 4 + number * 13, part, SMALL, "start", strength=0.75))
        bottom = max(bottom, line + 8 + len(parts) * 13)
    return bottom


Placed = list[tuple[Tick, int, str]]  # a tick, the line of its label (0: none), and what it says


def _placed(ticks: Sequence[Tick], axis: _Axis, levels: Sequence[int]) -> tuple[Placed, int, int]:
    """The labels' lines, and how many there are above and below; the outermost ticks choose first."""
    free = _Free()
    found: dict[int, tuple[int, str]] = {}
    finite = [i for i, tick in enumerate(ticks) if not math.isnan(tick.points)]
    order = sorted(finite, key=lambda i: -abs(axis.x(ticks[i].points) - (LEFT + RIGHT) / 2))
    for i in order:
        text = cut(ticks[i].label, 150, SMALL) + {math.inf: " ∞", -math.inf: " −∞"}.get(ticks[i].points, "")
        x = axis.x(ticks[i].points)
        level = next((each for each in levels if free.take(each, x, text_width(text, SMALL))), 0)
        found[i] = level, text
    used = [level for level, _ in found.values()]
    placed = [(ticks[i], *found[i]) for i in finite]
    return placed, max([0, *(-each for each in used)]), max([0, *used])


def _marks(picture: Picture, placed: Placed, axis: _Axis, line: float, *, dots: bool = True) -> None:
    for tick, level, text in placed:
        x = axis.x(tick.points)
        if dots:
            picture.shapes.append(Mark(x, line))
        if level:
            base = line + 4 + LINE * level if level > 0 else line + 6 + LINE * level
            picture.shapes.append(Label(x, base, text, SMALL))
            if abs(level) > 1:  # a thread from the mark to its label
                end = base - 9 if level > 0 else base + 2
                picture.shapes.append(Line(x, line, x, end, 0.25))


def _stretches(scale: Scale) -> list[tuple[float, float]]:
    """The stretches of a number's range along which its points only rise, or only fall, but for a little."""
    if not scale.curve:
        return []
    turns, start = [], 0
    direction, extreme, at = 0, scale.curve[0][1], 0
    for i, (_, points) in enumerate(scale.curve):
        if (direction >= 0 and points >= extreme) or (direction <= 0 and points <= extreme):
            if direction == 0 and abs(points - scale.curve[0][1]) > _TURN:
                direction = 1 if points > scale.curve[0][1] else -1
            if direction != 0 or points >= extreme:
                extreme, at = points, i
        elif direction and abs(points - extreme) > _TURN:
            turns.append((start, at))
            start, direction, extreme, at = at, -direction, points, i
    turns.append((start, len(scale.curve) - 1))
    return [(scale.curve[a][0], scale.curve[b][0]) for a, b in turns]


def _folded(picture: Picture, scale: Scale, axis: _Axis, y: float, stretches: Sequence[tuple[float, float]]) -> float:
    """Two lines: smaller numbers on the upper one, larger ones on the lower."""
    (low, turn), (_, high) = stretches
    upper = [tick for tick in scale.ticks if tick.value <= turn]
    lower = [tick for tick in scale.ticks if tick.value > turn]
    gap = 10.0
    placed, above, _ = _placed(upper, axis, [-1, -2])
    line = y + 18 + max(above, 1) * LINE
    beneath, _, below = _placed(lower, axis, [1, 2])
    for ticks, at, (a, b) in ((placed, line, (low, turn)), (beneath, line + gap, (turn, high))):
        xs = [axis.x(p) for x, p in scale.curve if a <= x <= b]
        picture.shapes.append(Line(min(xs), at, max(xs), at, 1.0, 1.2))
        _marks(picture, ticks, axis, at)
    knee = next(axis.x(p) for x, p in scale.curve if x >= turn)
    picture.shapes.append(Line(knee, line, knee, line + gap, 1.0, 1.2))
    picture.shapes.append(Mark(axis.x(scale.missing), line + gap / 2, ring=True))
    return _named(picture, scale, line + gap / 2, line + gap + 6 + max(below, 1) * LINE)


def _curve(picture: Picture, scale: Scale, axis: _Axis, y: float) -> float:
    """Numbers from below upwards, each above its points."""
    top = y + 16
    bottom = top + max(_CURVE, 1.1 * SMALL * len(scale.ticks))
    low, high = scale.curve[0][0], scale.curve[-1][0]

    def height(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    picture.shapes.append(Path(tuple((axis.x(p), height(x)) for x, p in scale.curve)))
    last = math.inf
    for tick in scale.ticks:
        if not math.isfinite(tick.points):
            continue
        x, at = axis.x(tick.points), height(tick.value)
        picture.shapes.append(Mark(x, at))
        if last - at >= SMALL:
            side = x + text_width(tick.label, SMALL) + 8 < RIGHT
            picture.shapes.append(
                Label(x + 6 if side else x - 6, at + 4, tick.label, SMALL, "start" if side else "end")
            )
            last = at
    picture.shapes.append(Mark(axis.x(scale.missing), bottom + 6, ring=True))
    return _named(picture, scale, (top + bottom) / 2, bottom + 14)


def _totals(picture: Picture, shown: Nomogram, y: float) -> float:
    """The scale of totals and beneath it that of probabilities."""
    levels = [(p, total) for p in PROBABILITIES if (total := shown.total(p)) is not None]
    scales = shown.scales[: shown.drawn]
    open_ended = any(scale.kind in ("text", "count") for scale in scales)
    least = -math.inf if open_ended else 0.0
    most = math.inf if open_ended else sum(scale.width for scale in scales)
    inside = [total for _, total in levels]
    low, high = (max(least, inside[0]), min(most, inside[-1])) if inside else (least, most)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        low, high = (inside[0], inside[-1]) if len(inside) > 1 else (0.0, 100.0)
    axis = _Axis(low, high)
    ticks = [(t, f"{t:g}") for t in round_values(low, high, 12)]
    _rule(picture, "total points", y, axis, ticks, below=False)
    y += 34
    shares = [(total, f"{p:g}") for p, total in levels if low - 1e-9 <= total <= high + 1e-9]
    _rule(picture, cut(f"P({shown.positive})", LEFT - 26), y, axis, shares, below=True)
    return y + 26
