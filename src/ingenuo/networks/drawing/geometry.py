"""The picture of a network as plain shapes, each at its place: what svg.py and picture.py paint, and nothing else.

The sizes of the boxes are known before the layout: the width of a text comes from a table of the widths of letters.
They do not depend on the beliefs, so that a network keeps its shape when evidence is entered.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ingenuo.errors import InputError
from ingenuo.networks.drawing.layout import layout
from ingenuo.networks.drawing.letters import clean, percentage, shorten, text_width
from ingenuo.networks.drawing.rows import HEAD, Layout, Point, Route
from ingenuo.networks.graph import refuse_cycle

NAME_SIZE, STATE_SIZE, SMALL_SIZE, TITLE_SIZE = 12.0, 10.5, 10.0, 15.0
NAME_LIMIT, STATE_LIMIT, TITLE_LIMIT = 150.0, 84.0, 640.0  # longer texts are cut, and whole in the tooltip
PADDING, COLUMN_GAP = 8.0, 6.0
HEADER, LINE, COMPACT = 22.0, 15.0, 28.0
BAR, BAR_HEIGHT = 46.0, 9.0
MARGIN = 18.0
MOST_STATES = 8  # a node with more shows the most probable and how many more there are
MOST_TOLD = 40  # states in a tooltip
THINNEST, THICKEST = 0.9, 5.5

# Blue and vermilion of Okabe and Ito's palette, which all eyes tell apart; the rest are greys.
INK, FAINT, PAPER, EDGE, ARC = "#1f2933", "#52606d", "#ffffff", "#7b8794", "#66727f"
HEAD_FILL, TRACK, BAR_FILL = "#e6eef5", "#e9edf1", "#0072b2"
SEEN_FILL, SEEN_HEAD, SEEN_EDGE, SEEN_TRACK = "#e3e5e8", "#c3c8ce", "#3e4c59", "#f6f7f8"
TARGET_EDGE, TARGET_HEAD = "#d55e00", "#fbe0cf"


@dataclass(frozen=True)
class Rectangle:
    """A box with round corners, from its top left corner."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    edge: str | None = None
    line: float = 1.0
    radius: float = 0.0


@dataclass(frozen=True)
class Disc:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str


@dataclass(frozen=True)
class Words:
    """A line of text on the base line y; x is its start, middle or end."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    bold: bool = False
    anchor: str = "start"

    @property
    def width(self) -> float:
        """How wide the text is, by the table."""
        return text_width(self.text, self.size, self.bold)


@dataclass(frozen=True)
class Curve:
    """Cubic curves in a row."""

    route: Route
    width: float
    colour: str


@dataclass(frozen=True)
class Polygon:
    """A filled polygon."""

    points: list[Point]
    fill: str


Shape = Rectangle | Disc | Words | Curve | Polygon


@dataclass(frozen=True)
class Group:
    """Shapes that belong together, with the text that is shown when a pointer rests on them."""

    kind: str  # node, arc, title or legend
    shapes: list[Shape]
    tooltip: str = ""


@dataclass(frozen=True)
class Drawing:
    """A whole picture: its size, its groups from the lowest to the topmost, and where the boxes are."""

    width: float
    height: float
    title: str
    groups: list[Group]
    boxes: list[tuple[float, float, float, float]]  # of each node: left, top, width, height
    layout: Layout


def drawing(
    nodes: Sequence[str],
    states: Sequence[Sequence[Any]],
    parents: Sequence[Sequence[int]],
    beliefs: Sequence[ArrayLike | None] | None = None,
    strengths: Mapping[tuple[int, int], float] | None = None,
    evidence: Collection[int] = (),
    target: int | None = None,
    title: str | None = None,
    interventions: Collection[int] = (),
    measure: str = "mutual information",
    unit: str = "bits",
) -> Drawing:
    """Lay a network out and say what is to be painted where.

    Parameters
    ----------
    nodes, states, parents : sequences
        The name of each node, its states, and the places of its parents.
    beliefs : sequence, optional
        The probability of each state of each node, drawn as bars; None for a node that is to show its name only.
    strengths : mapping, optional
        (parent, child), by their places, to the strength of the arc, such as a mutual information: its thickness. An
        arc that is not there is drawn as thin as one of strength 0.
    evidence, interventions : collections of int
        The places of the nodes that were observed, and of those that were set.
    target : int, optional
        The place of the class node.
    title : str, optional
        What stands above the picture.
    measure, unit : str
        What the strengths are, and in what unit.

    Returns
    -------
    Drawing

    Examples
    --------
    >>> from ingenuo.networks.drawing.geometry import drawing
    >>> found = drawing(["rain", "wet"], [["yes", "no"]] * 2, [(), (0,)], beliefs=[[0.2, 0.8], [0.31, 0.69]])
    >>> [shape.text for shape in found.groups[-1].shapes if hasattr(shape, "text")]
    ['wet', 'yes', '31.0%', 'no', '69.0%']
    """
    believed = _checked(nodes, states, parents, beliefs, strengths, [*evidence, *interventions], target)
    names = [clean(name) for name in nodes]
    texts = [[clean(state) for state in its_states] for its_states in states]
    sizes = [_size(name, its_texts, p is not None) for name, its_texts, p in zip(names, texts, believed)]
    found = layout(parents, sizes)
    legend, legend_width = _legend(
        strengths, bool(evidence), bool(interventions), target is not None, clean(measure), clean(unit)
    )
    heading = shorten(clean(title), TITLE_LIMIT, TITLE_SIZE, bold=True) if title else ""
    said = heading or ("" if nodes else "a network without nodes")
    inner = max(found.width, legend_width, text_width(said, TITLE_SIZE, bold=True))
    left = MARGIN + (inner - found.width) / 2
    top = MARGIN + (TITLE_SIZE + 15.0 if said else 0.0)
    groups = []
    if said:
        words = Words(MARGIN + inner / 2, MARGIN + TITLE_SIZE - 2, said, TITLE_SIZE, bold=True, anchor="middle")
        groups.append(Group("title", [words], clean(title) if title else ""))
    strongest = max((strengths or {}).values(), default=0.0)
    for (parent, child), route in found.routes.items():
        moved = [(x + left, y + top) for x, y in route]
        told = f"{names[parent]} → {names[child]}"
        width = 1.3
        if strengths is not None:
            strength = strengths.get((parent, child))
            width = _thickness(strength or 0.0, strongest)
            told += "" if strength is None else f"\n{clean(measure)} {strength:.6g} {clean(unit)}"
        groups.append(Group("arc", _arc(moved, width), told))
    boxes = []
    for v, ((x, y), (width, height)) in enumerate(zip(found.centres, sizes)):
        box = (x + left - width / 2, y + top - height / 2, width, height)
        mark = "set" if v in interventions else "observed" if v in evidence else "target" if v == target else ""
        shapes = _box(box, names[v], texts[v], believed[v], mark, v == target)
        groups.append(Group("node", shapes, _told(names[v], texts[v], believed[v], mark)))
        boxes.append(box)
    height = top + found.height + MARGIN
    if legend:
        groups.append(Group("legend", [_moved(shape, MARGIN, height + 4.0) for shape in legend]))
        height += 22.0 + MARGIN / 2
    return Drawing(inner + 2 * MARGIN, height, clean(title) if title else "network", groups, boxes, found)


def _checked(
    nodes: Sequence[str],
    states: Sequence[Sequence[Any]],
    parents: Sequence[Sequence[int]],
    beliefs: Sequence[ArrayLike | None] | None,
    strengths: Mapping[tuple[int, int], float] | None,
    marked: Sequence[int],
    target: int | None,
) -> list[NDArray[np.float64] | None]:
    """The beliefs as arrays, after everything was found to fit together."""
    n = len(nodes)
    for name, given in (("states", states), ("parents", parents), ("beliefs", beliefs)):
        if given is not None and len(given) != n:
            raise InputError(f"the network has {n} nodes and {name} has {len(given)} entries; give one for each node")
    for v in [*marked, *([] if target is None else [target]), *(p for above in parents for p in above)]:
        if not 0 <= v < n:
            raise InputError(f"there is no node at place {v} in a network of {n}; give a place from 0 to {n - 1}")
    refuse_cycle(nodes, [tuple(above) for above in parents])
    for (parent, child), strength in (strengths or {}).items():
        if not np.isfinite(strength):
            raise InputError(f"the strength of the arc from {parent} to {child} is {strength}; give a finite number")
    arrays: list[NDArray[np.float64] | None] = []
    for v, belief in enumerate(beliefs if beliefs is not None else [None] * n):
        p = None if belief is None else np.asarray(belief, dtype=np.float64).ravel()
        if p is not None and len(p) != len(states[v]):
            raise InputError(f"node {nodes[v]!r} has {len(states[v])} states and {len(p)} beliefs; give one for each")
        if p is not None and not ((p >= 0) & (p <= 1 + 1e-6)).all():
            raise InputError(f"a belief of node {nodes[v]!r} is not between 0 and 1: {p.tolist()}; give probabilities")
        arrays.append(p)
    return arrays


_FIGURES = text_width(">99.9%", STATE_SIZE)


# ---- boxes


def _size(name: str, texts: Sequence[str], with_bars: bool) -> tuple[float, float]:
    title = text_width(shorten(name, NAME_LIMIT, NAME_SIZE, bold=True), NAME_SIZE, bold=True) + 2 * PADDING
    if not with_bars:
        return max(title, 44.0), COMPACT
    labels = [*texts, *([_more(len(texts))] if len(texts) > MOST_STATES else [])]
    label = max((text_width(shorten(t, STATE_LIMIT, STATE_SIZE), STATE_SIZE) for t in labels), default=0.0)
    lines = min(len(texts), MOST_STATES)
    return max(title, label + BAR + _FIGURES + 2 * COLUMN_GAP + 2 * PADDING), HEADER + LINE * lines + 7.0


def _more(n: int) -> str:
    return f"… {n - MOST_STATES + 1} more"


def _box(
    box: tuple[float, float, float, float],
    name: str,
    texts: Sequence[str],
    p: NDArray[np.float64] | None,
    mark: str,
    is_target: bool,
) -> list[Shape]:
    """A node: its name and, with beliefs, a bar for each state."""
    x, y, width, height = box
    seen = mark in ("observed", "set")
    edge = TARGET_EDGE if is_target else SEEN_EDGE if seen else EDGE
    head = SEEN_HEAD if seen else TARGET_HEAD if is_target else HEAD_FILL
    line = 2.0 if is_target or seen else 1.0
    title = shorten(name, NAME_LIMIT, NAME_SIZE, bold=True)
    tall = COMPACT if p is None else HEADER
    words = Words(x + width / 2, y + tall / 2 + 4.3, title, NAME_SIZE, bold=True, anchor="middle")
    shapes: list[Shape]
    if p is None:
        shapes = [Rectangle(x, y, width, height, head, edge, line, 5.0), words]
    else:
        body = SEEN_FILL if seen else PAPER
        # The head is a round box cut off below by a strip of the body's colour; the edge is drawn over both.
        shapes = [
            Rectangle(x, y, width, height, body, None, 0.0, 5.0),
            Rectangle(x, y, width, HEADER, head, None, 0.0, 5.0),
            Rectangle(x, y + HEADER - 6.0, width, 6.0, head),
            Rectangle(x, y, width, height, "none", edge, line, 5.0),
            words,
        ]
        right = x + width - PADDING
        bar = right - _FIGURES - COLUMN_GAP - BAR
        for k, (text, share, aside) in enumerate(_lines(texts, p)):
            base = y + HEADER + 4.0 + LINE * k
            colour = FAINT if aside else INK
            shapes.append(Words(x + PADDING, base + 10.8, shorten(text, STATE_LIMIT, STATE_SIZE), STATE_SIZE, colour))
            top = base + (LINE - BAR_HEIGHT) / 2
            shapes.append(Rectangle(bar, top, BAR, BAR_HEIGHT, SEEN_TRACK if seen else TRACK))
            filled = SEEN_EDGE if seen else EDGE if aside else TARGET_EDGE if is_target else BAR_FILL
            if share > 0:
                shapes.append(Rectangle(bar, top, BAR * min(share, 1.0), BAR_HEIGHT, filled))
            shapes.append(Words(right, base + 10.8, percentage(share), STATE_SIZE, colour, anchor="end"))
    return [*shapes, *_badge(x + width - 5.0, y + 1.0, mark)]


def _badge(x: float, y: float, mark: str) -> list[Shape]:
    """The mark of a node that was observed (an eye) or set ("do"), on the corner of its box."""
    if mark == "observed":
        return [Disc(x, y, 6.0, PAPER), Disc(x, y, 5.0, SEEN_EDGE), Disc(x, y, 1.9, PAPER)]
    if mark == "set":
        words = Words(x, y + 3.2, "do", 9.0, PAPER, anchor="middle")
        return [Rectangle(x - 9.0, y - 6.5, 18.0, 13.0, SEEN_EDGE, PAPER, 1.0, 4.0), words]
    return []


def _lines(texts: Sequence[str], p: NDArray[np.float64]) -> list[tuple[str, float, bool]]:
    """Of each line its text, its probability, and whether it stands for the states that are left out."""
    if len(texts) <= MOST_STATES:
        return [(text, float(share), False) for text, share in zip(texts, p)]
    kept = np.sort(np.argsort(-p, kind="stable")[: MOST_STATES - 1])
    rest = max(float(p.sum() - p[kept].sum()), 0.0)
    return [*((texts[k], float(p[k]), False) for k in kept), (_more(len(texts)), rest, True)]


def _told(name: str, texts: Sequence[str], p: NDArray[np.float64] | None, mark: str) -> str:
    said = {"observed": " (observed)", "set": " (set)", "target": " (class)"}.get(mark, "")
    lines = [name + said]
    for k, text in enumerate(texts[:MOST_TOLD]):
        lines.append(text if p is None else f"{text}: {p[k]:.12g}")
    if len(texts) > MOST_TOLD:
        lines.append(f"… {len(texts) - MOST_TOLD} more")
    return "\n".join(lines)


# ---- arcs and the legend


def _thickness(strength: float, strongest: float) -> float:
    share = min(max(strength / strongest, 0.0), 1.0) if strongest > 0 else 0.0
    return THINNEST + (THICKEST - THINNEST) * share


def _arc(route: Route, width: float) -> list[Shape]:
    """A curve and the head of the arrow: routes end straight downwards, HEAD above the box."""
    x, y = route[-1]
    half = 3.2 + 0.75 * width
    return [Curve(route, width, ARC), Polygon([(x - half, y), (x + half, y), (x, y + HEAD)], ARC)]


def _legend(
    strengths: Mapping[tuple[int, int], float] | None, seen: bool, was_set: bool, target: bool, measure: str, unit: str
) -> tuple[list[Shape], float]:
    """What the marks and the thickness of arcs mean, from (0, 0), and how wide it is."""
    shapes: list[Shape] = []
    x = 0.0

    def say(text: str) -> None:
        nonlocal x
        shapes.append(Words(x, 11.5, text, SMALL_SIZE, FAINT))
        x += text_width(text, SMALL_SIZE) + 16.0

    for shown, mark, text in ((target, "", "class"), (seen, "observed", "observed"), (was_set, "set", "set (do)")):
        if shown:
            fill, edge = (SEEN_HEAD, SEEN_EDGE) if mark else (TARGET_HEAD, TARGET_EDGE)
            shapes += [Rectangle(x, 2.0, 22.0, 12.0, fill, edge, 1.5, 3.0), *_badge(x + 20.0, 3.0, mark)]
            x += 34.0 if mark == "set" else 30.0
            say(text)
    strongest = max((strengths or {}).values(), default=0.0)
    if strengths and strongest > 0:
        say(f"{measure}:")
        for share in (1.0, 0.5, 0.0):
            route: Route = [(x, 8.0), (x + 10.0, 8.0), (x + 20.0, 8.0), (x + 30.0, 8.0)]
            shapes.append(Curve(route, _thickness(share * strongest, strongest), ARC))
            x += 36.0
            say(f"{share * strongest:.3g} {unit}" if share else "0")
    return shapes, max(x - 16.0, 0.0)


def _moved(shape: Shape, dx: float, dy: float) -> Shape:
    if isinstance(shape, Curve):
        return replace(shape, route=[(x + dx, y + dy) for x, y in shape.route])
    if isinstance(shape, Polygon):
        return replace(shape, points=[(x + dx, y + dy) for x, y in shape.points])
    return replace(shape, x=shape.x + dx, y=shape.y + dy)
