"""The picture of a network as SVG: boxes with belief bars or tables in layers, arcs as thick as they are strong.

Each connected part is laid out after Sugiyama: layers with the shortest arcs, a stop in each layer that an arc passes,
the order with few crossings, places, and curves that keep clear of boxes. Box sizes do not depend on beliefs.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.language import say, spoken
from ingenuo.networks.graph import children
from ingenuo.show.svg import Picture, clean, group, number, percentage, shorten, tag, text_width, whole, words

Floats = NDArray[np.float64]
Point = tuple[float, float]
Route = list[Point]  # a start and then, for each cubic curve, two control points and its end
Size = tuple[float, float]  # width and height
Parents = Sequence[Sequence[int]]
Arc = tuple[int, int]

BETWEEN_BOXES, BETWEEN_STOPS, BETWEEN_PARTS = 26.0, 11.0, 36.0
WIDEST, WIDE = 1.5, 1000.0  # width to height, and width, beyond both of which rows are broken
PULL = (1.0, 2.0, 16.0)  # of an edge between two boxes, a box and a stop, two stops
SWEEPS = 60  # over the rows, for the horizontal places
HEAD, CLEARANCE, PORT_STEP = 9.0, 5.0, 9.0  # of arrows; between curve and box; between arcs at one side of a box

NAME_SIZE, STATE_SIZE, SMALL_SIZE, TITLE_SIZE = 12.0, 10.5, 10.0, 15.0
NAME_LIMIT, STATE_LIMIT, TITLE_LIMIT = 150.0, 84.0, 640.0  # longer texts are cut, and whole in the tooltip
PADDING, COLUMN_GAP, MARGIN = 8.0, 6.0, 18.0
HEADER, LINE, COMPACT = 22.0, 15.0, 28.0  # heights: of the name, of a state, of a box without bars
BAR, BAR_HEIGHT, FIGURES = 46.0, 9.0, text_width(">99.9%", STATE_SIZE)
MOST_STATES = 8  # of more, the most probable are shown, and how many there are besides
MOST_ROWS, CELL_GAP, CELL = 18, 10.0, "{:.3f}"  # of a table: lines that are shown, room between columns, figures
BEFORE, AFTER = say("before"), say("given the evidence")
MARKS = {"class": say("class"), "observed": say("observed"), "set": say("set"), BEFORE: say("before the evidence")}
THINNEST, THICKEST = 0.9, 5.5
MEASURE = say("mutual information given the other parents")

# Blue and vermilion of Okabe and Ito's palette, which all eyes tell apart; the rest are greys.
INK, FAINT, PAPER, EDGE, ARC = "#1f2933", "#52606d", "#ffffff", "#7b8794", "#66727f"
HEAD_FILL, TRACK, BAR_FILL = "#e6eef5", "#e9edf1", "#0072b2"
SEEN_FILL, SEEN_HEAD, SEEN_EDGE, SEEN_TRACK = "#e3e5e8", "#c3c8ce", "#3e4c59", "#f6f7f8"
TARGET_EDGE, TARGET_HEAD = "#d55e00", "#fbe0cf"


@dataclass(frozen=True)
class Layout:
    """Boxes by their centres, arcs by their curves, from (0, 0) at the top left to (width, height)."""

    width: float
    height: float
    centres: list[Point]
    layers: list[int]  # counted from the top of the node's own part
    routes: dict[Arc, Route]  # (parent, child) to the curves from box to box, HEAD short of the child's


@dataclass(frozen=True)
class Rows:
    """A layered graph: nodes first, then the stops of long arcs; every edge leads from one row to the next."""

    rows: list[list[int]]
    above: list[list[int]]  # of each vertex, its neighbours one row up
    below: list[list[int]]
    chains: dict[Arc, list[int]]  # of each arc, its stops from top to bottom
    n_nodes: int


def layout(parents: Parents, sizes: Sequence[Size]) -> Layout:
    """Lay out a network with boxes of these sizes: every arc leads downwards."""
    part_of, n = list(range(len(parents))), len(parents)
    for child, above in enumerate(parents):
        for parent in above:
            ends = part_of[parent], part_of[child]
            part_of = [min(ends) if each in ends else each for each in part_of]
    connected = [[v for v in range(n) if part_of[v] == which] for which in sorted(set(part_of))]
    parts = []
    for nodes in connected:
        place = {node: k for k, node in enumerate(nodes)}
        parts.append(_lay_out_part([[place[p] for p in parents[v]] for v in nodes], [sizes[v] for v in nodes]))
    corners, width, height = _pack([(part.width, part.height) for part in parts])
    centres, layers, routes = [(0.0, 0.0)] * n, [0] * n, dict[Arc, Route]()
    for nodes, part, (left, top) in zip(connected, parts, corners):
        for node, (x, y), layer in zip(nodes, part.centres, part.layers):
            centres[node], layers[node] = (x + left, y + top), layer
        for (p, c), route in part.routes.items():
            routes[nodes[p], nodes[c]] = [(x + left, y + top) for x, y in route]
    return Layout(width, height, centres, layers, dict(sorted(routes.items())))


def _pack(sizes: Sequence[Size]) -> tuple[list[Point], float, float]:
    """The top left corner of each part, on shelves, the highest parts first; with the width and height of all."""
    area = sum((width + BETWEEN_PARTS) * (height + BETWEEN_PARTS) for width, height in sizes)
    limit = max([(area * WIDEST) ** 0.5, *(width for width, _ in sizes)])
    corners: list[Point] = [(0.0, 0.0)] * len(sizes)
    x = y = shelf = widest = 0.0
    for k in sorted(range(len(sizes)), key=lambda k: (-sizes[k][1], k)):
        width, height = sizes[k]
        if x > 0 and x + width > limit:
            x, y, shelf = 0.0, y + shelf + BETWEEN_PARTS, 0.0
        corners[k] = (x, y)
        widest, shelf = max(widest, x + width), max(shelf, height)
        x += width + BETWEEN_PARTS
    return corners, widest, y + shelf


def _lay_out_part(parents: Parents, sizes: Sequence[Size]) -> Layout:
    if len(parents) == 1:
        ((width, height),) = sizes
        return Layout(width, height, [(width / 2, height / 2)], [0], {})
    layers = choose_layers(parents, sizes)
    graph = with_stops(parents, layers)
    # Of orders with as few crossings, the one whose arcs run straightest; a large graph has time for one only. The
    # first ones keep more of the nodes' own order, so a later one must be clearly better.
    least, x = np.inf, list[float]()
    for order in reduce_crossings(graph)[: max(1, 400 // len(graph.above))]:
        cost, places = _places(order, sizes)
        if cost < 0.7 * least:
            least, x, graph = cost, places, order
    return _route_arcs(graph, layers, x, sizes)


def choose_layers(parents: Parents, sizes: Sequence[Size]) -> list[int]:
    """The layer of each node: the shortest arcs, unless a row is far too wide; then some go down a row."""
    tight, n = shortest_layers(parents), len(parents)
    widths = np.bincount(tight, [width + BETWEEN_BOXES for width, _ in sizes])
    area = sum((width + BETWEEN_BOXES) * (height + 60.0) for width, height in sizes)
    limit = max(WIDE, (WIDEST * area) ** 0.5)
    if widths.max() <= limit:
        return tight
    below, layers, layer = children([tuple(above) for above in parents]), [-1] * n, 0
    while -1 in layers:
        used = 0.0
        waiting = [v for v in range(n) if layers[v] < 0 and tight[v] <= layer]
        ready = [v for v in waiting if all(0 <= layers[p] < layer for p in parents[v])]
        for v in sorted(ready, key=lambda v: not below[v]):  # leaves go down before those that lead on
            if used == 0.0 or used + sizes[v][0] + BETWEEN_BOXES <= limit:
                layers[v], used = layer, used + sizes[v][0] + BETWEEN_BOXES
        layer += used > 0.0
        tight = tight if used else [min(each, layer) for each in tight]
    return layers


def shortest_layers(parents: Parents) -> list[int]:
    """Layers with the least total length of the arcs (the programme's matrix is totally unimodular: whole numbers)."""
    from scipy.optimize import linprog

    if not any(parents):
        return [0] * len(parents)
    arcs = np.array([(parent, child) for child, above in enumerate(parents) for parent in above])
    matrix = np.zeros((len(arcs), len(parents)))
    matrix[np.arange(len(arcs)), arcs[:, 0]], matrix[np.arange(len(arcs)), arcs[:, 1]] = 1.0, -1.0
    found = linprog(-matrix.sum(axis=0), A_ub=matrix, b_ub=-np.ones(len(arcs)), bounds=(0, len(parents)))
    assert found.x is not None  # without a cycle there is always an answer
    layers = np.rint(found.x).astype(int)
    return [int(layer) for layer in layers - layers.min()]


def with_stops(parents: Parents, layers: Sequence[int]) -> Rows:
    """The graph with a stop in each layer that an arc passes, its rows in the order of a walk down from the roots."""
    n, chains = len(parents), dict[Arc, list[int]]()
    row_of, ends = list(layers), list(layers)  # of each vertex its row, and the row to which its arc leads
    for child, its_parents in enumerate(parents):
        for parent in its_parents:
            lanes = range(layers[parent] + 1, layers[child])
            chains[parent, child] = list(range(len(row_of), len(row_of) + len(lanes)))
            row_of += lanes
            ends += [layers[child]] * len(lanes)
    above: list[list[int]] = [[] for _ in row_of]
    below: list[list[int]] = [[] for _ in row_of]
    for (parent, child), chain in chains.items():
        for upper, lower in pairwise([parent, *chain, child]):
            below[upper].append(lower)
            above[lower].append(upper)
    # Arcs that lead far stand amid their neighbours: the trunk of a class above rows of columns goes down between them.
    dealt = []
    for own in below:
        left, right = list[int](), list[int]()
        for end in sorted({ends[w] for w in own}):
            same = [w for w in own if ends[w] == end]
            left, right = left + same[: (len(same) + 1) // 2], same[(len(same) + 1) // 2 :] + right
        dealt.append(left + right)
    return Rows(_walk(row_of, above, dealt), above, below, chains, n)


def _walk(row_of: Sequence[int], first: list[list[int]], then: list[list[int]]) -> list[list[int]]:
    """Rows in the order in which a walk in depth meets the vertices, begun at those without neighbours `first`."""
    rows: list[list[int]] = [[] for _ in range(max(row_of) + 1)]
    seen = [False] * len(row_of)
    waiting = [v for v in range(len(row_of)) if not first[v]][::-1]
    while waiting:
        v = waiting.pop()
        if not seen[v]:
            seen[v] = True
            rows[row_of[v]].append(v)
            waiting.extend(w for w in reversed(then[v]) if not seen[w])
    return rows


def crossings(graph: Rows) -> int:
    """How many pairs of edges cross."""
    total = 0
    for upper, lower in pairwise(graph.rows):
        place = {v: k for k, v in enumerate(lower)}
        starts, ends = np.array([(k, place[w]) for k, v in enumerate(upper) for w in graph.below[v]]).reshape(-1, 2).T
        total += int(np.count_nonzero((starts[:, np.newaxis] < starts) & (ends[:, np.newaxis] > ends)))
    return total


def reduce_crossings(graph: Rows) -> list[Rows]:
    """The graph with its rows in the orders of the fewest crossings that sweeps find from some starts."""
    row_of = {v: layer for layer, row in enumerate(graph.rows) for v in row}
    starts = [graph.rows, _walk([row_of[v] for v in sorted(row_of)], graph.below, graph.above)]
    for seed in range(min(max(6000 // len(row_of), 8), 60)):  # fixed seeds: the same network, the same picture
        starts.append([random.Random(seed).sample(row, len(row)) for row in graph.rows])
    found = [(crossings(graph), graph.rows), *(_improve(replace(graph, rows=rows)) for rows in starts)]
    fewest = min(count for count, _ in found)
    best = {str(rows): rows for count, rows in found if count == fewest}
    return [replace(graph, rows=rows) for rows in best.values()]


def _improve(graph: Rows) -> tuple[int, list[list[int]]]:
    """The fewest crossings on the way from one start, and the rows that have them."""
    graph = replace(graph, rows=[list(row) for row in graph.rows])
    fewest, best, idle = crossings(graph), [list(row) for row in graph.rows], 0
    for sweep in range(24):
        if fewest == 0 or idle > 7:
            break
        near, rows = (graph.above, graph.rows) if sweep % 2 == 0 else (graph.below, graph.rows[::-1])
        for before, row in pairwise(rows):  # sort each row by its neighbours' mean place; who has none keeps its place
            place = {v: k for k, v in enumerate(before)}
            keys = {v: sum(place[w] for w in near[v]) / len(near[v]) for v in row if near[v]}
            moving = list(keys)[:: -1 if sweep % 4 >= 2 else 1]  # those alike are turned round now and then
            moved = iter(sorted(moving, key=keys.__getitem__))
            row[:] = [next(moved) if v in keys else v for v in row]
        count, idle = crossings(graph), idle + 1
        if count < fewest:
            fewest, best, idle = count, [list(row) for row in graph.rows], 0
    return fewest, best


def _places(graph: Rows, sizes: Sequence[Size]) -> tuple[float, list[float]]:
    """The centre of each vertex, and Σ weight · (x of child − x of parent)², which sweeps over the rows make small.

    The best places of one row, the others standing still, are an isotonic regression: each vertex wants to be at the
    mean of its neighbours, and they keep their order and their distances.
    """
    from scipy.optimize import isotonic_regression

    n, total = graph.n_nodes, len(graph.above)
    near = [[(w, PULL[(v >= n) + (w >= n)]) for w in (*graph.above[v], *graph.below[v])] for v in range(total)]
    weights = [sum(weight for _, weight in each) for each in near]
    x, offsets = np.zeros(total), []
    for row in graph.rows:
        halves = [sizes[v][0] / 2 if v < n else 0.0 for v in row]
        gaps = [BETWEEN_BOXES if max(pair) < n else BETWEEN_STOPS for pair in pairwise(row)]
        steps = [left + gap + right for left, gap, right in zip(halves, gaps, halves[1:])]
        offsets.append(np.cumsum([0.0, *steps]))
        x[row] = offsets[-1] - offsets[-1][-1] / 2
    for turn in range(SWEEPS):
        for k in range(len(graph.rows)) if turn % 2 == 0 else reversed(range(len(graph.rows))):
            row = graph.rows[k]
            wanted = np.array([sum(x[w] * weight for w, weight in near[v]) / weights[v] for v in row])
            x[row] = isotonic_regression(wanted - offsets[k], weights=[weights[v] for v in row]).x + offsets[k]
    cost = sum(weight * (x[v] - x[w]) ** 2 for v in range(total) for w, weight in near[v])
    return float(cost), x.tolist()


def _route_arcs(graph: Rows, layers: list[int], x: list[float], sizes: Sequence[Size]) -> Layout:
    """Heights of the rows, ports on the boxes and the curves between them."""
    n = graph.n_nodes
    left = min(x[v] - (sizes[v][0] / 2 if v < n else 0.0) for v in range(len(x)))
    x = [place - left for place in x]
    tops, bottoms, y = [], [], 0.0
    for row in graph.rows:
        tops.append(y)
        bottoms.append(y + max((sizes[v][1] for v in row if v < n), default=0.0))
        spans = [abs(x[v] - x[w]) for v in row for w in graph.below[v]]
        # Far arcs need room to be steep.
        y = bottoms[-1] + min(46.0 + 0.05 * max(spans, default=0.0) + 0.5 * len(spans), 110.0)
    centres = [(x[v], (tops[layers[v]] + bottoms[layers[v]]) / 2) for v in range(n)]
    boxes = np.array([(cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2) for (cx, cy), (w, h) in zip(centres, sizes)])
    outlets = [_ports(v, x, graph.below[v], sizes[v][0], n) for v in range(n)]
    inlets = [_ports(v, x, graph.above[v], sizes[v][0], n) for v in range(n)]
    routes = {}
    for (parent, child), chain in graph.chains.items():
        start = (outlets[parent][chain[0] if chain else child], float(boxes[parent, 3]))
        end = (inlets[child][chain[-1] if chain else parent], float(boxes[child, 1]) - HEAD)
        lanes = range(layers[parent] + 1, layers[child])
        stops = [start, *((x[s], (tops[k] + bottoms[k]) / 2) for s, k in zip(chain, lanes)), end]
        gaps = [(bottoms[k], min(tops[k + 1], end[1])) for k in range(layers[parent], layers[child])]
        others = np.delete(boxes, [parent, child], axis=0) + CLEARANCE * np.array([-1.0, -1.0, 1.0, 1.0])
        routes[parent, child] = _route(stops, gaps, others)
    return Layout(max(float(boxes[:, 2].max()), *x), bottoms[-1], centres, layers, routes)


def _ports(v: int, x: list[float], near: list[int], width: float, n: int) -> dict[int, float]:
    """Where the arcs meet one side of a box: towards their other ends, in order and a little apart."""
    order, half = sorted(near, key=lambda w: (x[w], w)), 0.4 * width
    # Two boxes meet half way; a stop has no width of its own, so the box goes all the way to be straight above it.
    wanted = [min(max((x[w] - x[v]) * (0.5 if w < n else 1.0), -half), half) for w in order]
    step = min(PORT_STEP, 2 * half / max(len(order), 1))
    for k in range(1, len(wanted)):
        wanted[k] = max(wanted[k], wanted[k - 1] + step)
    wanted[-1:] = [min(last, half) for last in wanted[-1:]]
    for k in range(len(wanted) - 2, -1, -1):
        wanted[k] = min(wanted[k], wanted[k + 1] - step)
    return {w: x[v] + offset for w, offset in zip(order, wanted)}


def _route(stops: list[Point], gaps: list[Point], others: Floats) -> Route:
    """Curves through the stops, as few as keep clear of the boxes; in the last resort along the stops' free lanes."""
    route, here = [stops[0]], 0
    while here < len(stops) - 1:
        for there in range(len(stops) - 1, here, -1):
            curve = _curve(stops[here], stops[there])
            if _is_clear(curve, stops[here + 1 : there], others):
                route += curve[1:]
                break
        else:
            there = here + 1
            (x0, _), (x1, y1), (leaves, arrives) = stops[here], stops[there], gaps[here]
            for point in ((x0, leaves), (x1, arrives), (x1, y1)):
                if point[1] > route[-1][1]:
                    route += _curve(route[-1], point)[1:]
        here = there
    return route


def _curve(start: Point, end: Point) -> Route:
    """A cubic curve that leaves and arrives straight down."""
    (x0, y0), (x1, y1) = start, end
    return [start, (x0, y0 + 0.48 * (y1 - y0)), (x1, y1 - 0.48 * (y1 - y0)), end]


def points_on(curve: Route, n: int) -> Floats:
    """n points on one cubic curve, evenly by its parameter."""
    t = np.linspace(0.0, 1.0, n)[:, np.newaxis]
    a, b, c, d = (np.array(point) for point in curve)
    return np.asarray((1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t**2 * (1 - t) * c + t**3 * d)


def _is_clear(curve: Route, passed: list[Point], others: Floats) -> bool:
    """Whether a curve keeps clear of the other boxes, and near the stops whose place in the order it takes over."""
    (x0, y0), (x1, y1) = curve[0], curve[-1]
    points = points_on(curve, max(16, int((abs(x1 - x0) + y1 - y0) / 4)))
    if any(abs(np.interp(y, points[:, 1], points[:, 0]) - x) > 45.0 for x, y in passed):
        return False
    px, py = points[:, :1], points[:, 1:]
    return not ((px > others[:, 0]) & (px < others[:, 2]) & (py > others[:, 1]) & (py < others[:, 3])).any()


# The painter.


@dataclass(frozen=True)
class Grid:
    """The table of a node as it is written in its box: heads, then lines; `lefts` columns of them are the parents'."""

    heads: list[str]
    lines: list[list[str]]
    lefts: int
    totals: int = 0  # so many of the last lines stand under a rule, their first cell over all the parents' columns

    def widths(self) -> list[float]:
        """Of each column; what stands under the rule may widen the last of the parents' columns."""
        first, left = len(self.lines) - self.totals, self.lefts
        below = [[*[""] * left, *line[left:]] for line in self.lines[first:]]
        columns = zip(*(line for line in (self.heads, *self.lines[:first], *below) if len(line) == len(self.heads)))
        found = [max(text_width(text, STATE_SIZE) for text in column) for column in columns]
        labels = [text_width(line[0], STATE_SIZE) for line in self.lines[first:]]
        if labels:
            found[left - 1] += max(max(labels) - sum(found[:left]) - CELL_GAP * (left - 1), 0.0)
        return found

    def size(self) -> Size:
        """How much room it takes under the name."""
        rest = [text_width(line[0], STATE_SIZE) for line in self.lines if len(line) == 1]
        width = sum(self.widths()) + CELL_GAP * (len(self.heads) - 1)
        return max([width, *rest]) + 2 * PADDING, LINE * (1 + len(self.lines)) + 10.0 + 4.0 * bool(self.totals)


def grid_of(
    node: int,
    names: Sequence[str],
    texts: Sequence[Sequence[str]],
    parents: Parents,
    table: Floats,
    beliefs: tuple[Floats, Floats] | None,
) -> Grid:
    """The table of a node, the last parent changing fastest; under it what was believed before and is now."""
    above, shown = parents[node], range(min(len(texts[node]), MOST_STATES))
    more = [_more(len(texts[node]) - len(shown))] if len(shown) < len(texts[node]) else []

    def cut(text: str) -> str:
        return shorten(text, STATE_LIMIT, STATE_SIZE)

    def figures(row: Floats) -> list[str]:
        return [*(CELL.format(row[k]) for k in shown), *("" for _ in more)]

    keys = list(islice(np.ndindex(table.shape[:-1]), MOST_ROWS))
    lines = [[*(cut(texts[up][k]) for up, k in zip(above, key)), *figures(table[key])] for key in keys]
    hidden = table.size // table.shape[-1] - len(lines)
    lines += [[spoken(say("… {n} more rows", n=f"{hidden:,}"))]] if hidden else []
    lefts = len(above)
    if beliefs is not None:
        lefts = max(lefts, 1)
        lines = lines if above else []  # which is what was believed before
        lines += [[spoken(what), *[""] * (lefts - 1), *figures(p)] for what, p in zip((BEFORE, AFTER), beliefs)]
    heads = [
        *(cut(names[up]) for up in above),
        *[""] * (lefts - len(above)),
        *(cut(texts[node][k]) for k in shown),
        *more,
    ]
    return Grid(heads, lines, lefts, 2 if above and beliefs is not None else 0)


def _more(n: int) -> str:
    return str(spoken(say("… {n} more", n=n)))


def picture(
    nodes: Sequence[str],
    states: Sequence[Sequence[Any]],
    parents: Parents,
    *,
    beliefs: Sequence[Floats] | None = None,
    before: Sequence[Floats] | None = None,
    tables: Sequence[Floats] | None = None,
    strengths: Mapping[Arc, float] | None = None,
    marks: Mapping[int, str] | None = None,
    target: int | None = None,
    title: str | None = None,
) -> Picture:
    """A network as SVG, on a white ground of its own, without scripts, references or names that could clash.

    Nodes are called by their places; `marks` says which are "observed" or "set". Without beliefs a box has its name
    only; with tables it has its table, and no bars; `before` are the beliefs without the evidence. Without strengths
    all arcs are alike.
    """
    names, texts = [clean(name) for name in nodes], [[clean(state) for state in own] for own in states]
    kinds = [(marks or {}).get(v, "class" if v == target else "") for v in range(len(nodes))]
    both = None if beliefs is None or before is None else list(zip(before, beliefs))
    grids = [
        None if tables is None else grid_of(v, names, texts, parents, tables[v], both[v] if both else None)
        for v in range(len(nodes))
    ]
    sizes = [box_size(name, own, beliefs is not None, grid) for name, own, grid in zip(names, texts, grids)]
    found = layout(parents, sizes)
    strongest = max((strengths or {}).values(), default=0.0)
    marked = [kind for kind in ("class", "observed", "set") if kind in kinds]
    legend, legend_width = _legend(strongest, [*marked, *([BEFORE] if both and tables is None else [])])
    heading = shorten(clean(title), TITLE_LIMIT, TITLE_SIZE, bold=True) if title else ""
    inner = max(found.width, legend_width, text_width(heading, TITLE_SIZE, bold=True))
    top = MARGIN + (TITLE_SIZE + 15.0 if heading else 0.0)
    width, height = inner + 2 * MARGIN, top + found.height + MARGIN
    inside = []
    for (parent, child), route in found.routes.items():
        strength = None if strengths is None else strengths.get((parent, child), 0.0)
        about = f"{names[parent]} → {names[child]}"
        if strength is not None:
            about += f"\n{spoken(MEASURE)} {spoken(say('{n} bits', n=f'{strength:.6g}'))}"
        inside.append(group("arc", _arc(route, 1.3 if strength is None else _thickness(strength, strongest)), about))
    for v, ((x, y), (w, h)) in enumerate(zip(found.centres, sizes)):
        p, former = None if beliefs is None else beliefs[v], both[v][0] if both and kinds[v] != "set" else None
        listed = [
            text
            + ("" if p is None else f": {p[k]:.12g}")
            + ("" if former is None else f" ({spoken(BEFORE)}: {former[k]:.12g})")
            for k, text in enumerate(texts[v])
        ]
        about = "\n".join([f"{names[v]} ({spoken(MARKS[kinds[v]])})" if kinds[v] else names[v], *listed])
        corner = x - w / 2, y - h / 2
        box = _frame(corner, (w, h), names[v], kinds[v], v == target, p is not None or grids[v] is not None)
        if (grid := grids[v]) is not None:
            box += _cells(corner, w, grid)
        elif p is not None:
            box += _bars(corner, w, _lines(texts[v], p, former), kinds[v], v == target)
        inside.append(group("node", [*box, *_badge(corner[0] + w - 5.0, corner[1] + 1.0, kinds[v])], about))
    parts = [tag("rect", width=width, height=height + (22 + MARGIN / 2 if legend else 0), fill=PAPER)]
    if heading:
        line = words(width / 2, MARGIN + TITLE_SIZE - 2, heading, TITLE_SIZE, INK, anchor="middle", font_weight="bold")
        parts.append(group("title", [line], clean(title)))
    parts.append(group("network", inside, at=(MARGIN + (inner - found.width) / 2, top)))
    if legend:
        parts.append(group("legend", legend, at=(MARGIN, height + 4)))
        height += 22.0 + MARGIN / 2
    return whole(width, height, clean(title) if title else "network", parts)


def box_size(name: str, states: Sequence[str], with_bars: bool, grid: Grid | None = None) -> Size:
    """How large the box of a node is."""
    title = text_width(shorten(name, NAME_LIMIT, NAME_SIZE, bold=True), NAME_SIZE, bold=True) + 2 * PADDING
    if grid is not None:
        wide, high = grid.size()
        return max(title, wide), HEADER + high
    if not with_bars:
        return max(title, 44.0), COMPACT
    labels = [*states, *([_more(len(states) - MOST_STATES + 1)] if len(states) > MOST_STATES else [])]
    label = max((text_width(shorten(text, STATE_LIMIT, STATE_SIZE), STATE_SIZE) for text in labels), default=0.0)
    wide = label + BAR + FIGURES + 2 * COLUMN_GAP + 2 * PADDING
    return max(title, wide), HEADER + LINE * min(len(states), MOST_STATES) + 7.0


def _frame(corner: Point, size: Size, name: str, mark: str, is_target: bool, filled: bool) -> list[str]:
    """The box of a node and its name, which is a head where there is something below it."""
    (x, y), (width, height), seen = corner, size, mark in ("observed", "set")
    head = SEEN_HEAD if seen else TARGET_HEAD if is_target else HEAD_FILL
    stroke = TARGET_EDGE if is_target else SEEN_EDGE if seen else EDGE
    edge: dict[str, Any] = {"stroke": stroke, "stroke_width": 2 if is_target or seen else 1}
    frame: dict[str, Any] = {"x": x, "y": y, "width": width, "height": height, "rx": 5}
    title, base = shorten(name, NAME_LIMIT, NAME_SIZE, bold=True), y + (HEADER if filled else COMPACT) / 2 + 4.3
    shapes = [tag("rect", **frame, fill=head if not filled else SEEN_FILL if seen else PAPER, **edge)]
    if filled:  # the head is a round box cut off below by a strip of its own colour, and the edge goes over it
        shapes.append(tag("rect", **{**frame, "height": HEADER}, fill=head))
        shapes.append(tag("rect", x=x, y=y + HEADER - 6.0, width=width, height=6, fill=head))
        shapes.append(tag("rect", **frame, fill="none", **edge))
    return [*shapes, words(x + width / 2, base, title, NAME_SIZE, INK, anchor="middle", font_weight="bold")]


def _bars(
    corner: Point, width: float, lines: Sequence[tuple[str, float, float | None, bool]], mark: str, is_target: bool
) -> list[str]:
    """A bar for each state, with a stroke where it ended before the evidence."""
    (x, y), seen, shapes = corner, mark in ("observed", "set"), list[str]()
    right = x + width - PADDING
    for k, (text, share, former, rest) in enumerate(lines):
        top, colour = y + HEADER + 4.0 + LINE * k, FAINT if rest else INK
        left, high = right - FIGURES - COLUMN_GAP - BAR, top + (LINE - BAR_HEIGHT) / 2
        bar: dict[str, Any] = {"x": left, "y": high, "height": BAR_HEIGHT}
        filled = SEEN_EDGE if seen else EDGE if rest else TARGET_EDGE if is_target else BAR_FILL
        shapes.append(words(x + PADDING, top + 10.8, shorten(text, STATE_LIMIT, STATE_SIZE), STATE_SIZE, colour))
        shapes.append(tag("rect", **bar, width=BAR, fill=SEEN_TRACK if seen else TRACK))
        if share > 0:
            shapes.append(tag("rect", **bar, width=BAR * min(share, 1.0), fill=filled))
        if former is not None:
            shapes += _stroke(left + BAR * min(former, 1.0), high)
        shapes.append(words(right, top + 10.8, percentage(share), STATE_SIZE, colour, anchor="end"))
    return shapes


def _stroke(x: float, y: float) -> list[str]:
    """Where a bar ended before the evidence: dark, with light sides, so that it is seen on any bar."""
    sides = ((2.0, PAPER), (0.9, INK))
    return [tag("rect", x=x - w, y=y - 2.0, width=2 * w, height=BAR_HEIGHT + 4, fill=fill) for w, fill in sides]


def _cells(corner: Point, width: float, grid: Grid) -> list[str]:
    """A table: the parents' states at the left of a rule, a probability for each state at its right."""
    (x, y), shapes, widths = corner, list[str](), grid.widths()
    y += HEADER
    spare = width - 2 * PADDING - sum(widths) - CELL_GAP * (len(widths) - 1)
    lefts = [x + PADDING + spare / 2 + sum(widths[:k]) + CELL_GAP * k for k in range(len(widths))]
    first = len(grid.lines) - grid.totals
    for n, line in enumerate([grid.heads, *grid.lines]):
        base = y + 4.0 + LINE * n + 10.8 + (2.0 if n else 0.0) + (4.0 if n > first else 0.0)
        for k, text in enumerate(line):
            parents = k < grid.lefts or len(line) == 1
            colour = FAINT if parents and (n == 0 or n > first or len(line) == 1) else INK
            at, anchor = (lefts[k], "start") if parents else (lefts[k] + widths[k], "end")
            shapes.append(words(at, base, text, STATE_SIZE, colour, anchor=anchor) if text else "")
    rules = [f"M{number(x)},{number(y + LINE + 4.0)} h{number(width)}"]
    if grid.lefts:
        rules.append(f"M{number(lefts[grid.lefts] - CELL_GAP / 2)},{number(y)} v{number(grid.size()[1])}")
    if grid.totals:
        rules.append(f"M{number(x)},{number(y + LINE * (first + 1) + 8.0)} h{number(width)}")
    shapes += [tag("path", d=each, stroke=EDGE, stroke_width=0.7) for each in rules]
    return [shape for shape in shapes if shape]


def _badge(x: float, y: float, mark: str) -> list[str]:
    """The mark of a node that was observed (an eye) or set ("do"), on the corner of its box."""
    if mark == "set":
        back = tag("rect", x=x - 9.0, y=y - 6.5, width=18, height=13, rx=4, fill=SEEN_EDGE, stroke=PAPER)
        return [back, words(x, y + 3.2, "do", 9, PAPER, anchor="middle")]
    circles = ((6, PAPER), (5, SEEN_EDGE), (1.9, PAPER)) if mark == "observed" else ()
    return [tag("circle", cx=x, cy=y, r=r, fill=fill) for r, fill in circles]


def _lines(texts: Sequence[str], p: Floats, former: Floats | None) -> list[tuple[str, float, float | None, bool]]:
    """Of each line its text, its probability, the one before, and whether it stands for states that are left out."""
    places, rest = [[k] for k in range(len(texts))], list[int]()
    if len(texts) > MOST_STATES:
        order = np.argsort(-p, kind="stable").tolist()
        places, rest = [[k] for k in sorted(order[: MOST_STATES - 1])], order[MOST_STATES - 1 :]
    named = [(texts[k], own) for own in places for k in own] + ([(_more(len(rest)), rest)] if rest else [])
    return [
        (text, float(p[own].sum()), None if former is None else float(former[own].sum()), own is rest)
        for text, own in named
    ]


def _thickness(strength: float, strongest: float) -> float:
    share = min(max(strength / strongest, 0.0), 1.0) if strongest > 0 else 0.0
    return THINNEST + (THICKEST - THINNEST) * share


def _arc(route: Route, width: float) -> list[str]:
    """A curve and the head of the arrow: routes end straight downwards, HEAD above the box."""
    (x, y), half = route[-1], 3.2 + 0.75 * width
    points = [f"{number(a)},{number(b)}" for a, b in (*route, (x - half, y), (x + half, y), (x, y + HEAD))]
    path = f"M{points[0]} C{' '.join(points[1:-3])}"
    curve = tag("path", d=path, fill="none", stroke=ARC, stroke_width=width)
    return [curve, tag("polygon", points=" ".join(points[-3:]), fill=ARC)]


def _legend(strongest: float, kinds: Sequence[str]) -> tuple[list[str], float]:
    """What the marks and the thickness of arcs mean, from (0, 0), and how wide it is."""
    shapes, x = list[str](), 0.0
    for kind in kinds:
        text = spoken(MARKS[kind]) + (" (do)" if kind == "set" else "")
        if kind == BEFORE:
            shapes += [tag("rect", x=x, y=4, width=22, height=BAR_HEIGHT, fill=BAR_FILL), *_stroke(x + 12.0, 4.0)]
            shapes.append(words(x + 30.0, 11.5, text, SMALL_SIZE, FAINT))
            x += 46.0 + text_width(text, SMALL_SIZE)
            continue
        fill, edge = (TARGET_HEAD, TARGET_EDGE) if kind == "class" else (SEEN_HEAD, SEEN_EDGE)
        shapes.append(tag("rect", x=x, y=2, width=22, height=12, rx=3, fill=fill, stroke=edge, stroke_width=1.5))
        shapes += [*_badge(x + 20.0, 3.0, kind), words(x + 34.0, 11.5, text, SMALL_SIZE, FAINT)]
        x += 50.0 + text_width(text, SMALL_SIZE)
    if strongest > 0:
        measure = spoken(MEASURE)
        shapes.append(words(x, 11.5, f"{measure}:", SMALL_SIZE, FAINT))
        x += text_width(measure, SMALL_SIZE) + 16.0
        for share in (1.0, 0.5, 0.0):
            text = spoken(say("{n} bits", n=f"{share * strongest:.3g}")) if share else "0"
            width = _thickness(share * strongest, strongest)
            shapes.append(tag("path", d=f"M{number(x)},8 h30", stroke=ARC, stroke_width=width))
            shapes.append(words(x + 36.0, 11.5, text, SMALL_SIZE, FAINT))
            x += 52.0 + text_width(text, SMALL_SIZE)
    return shapes, max(x - 16.0, 0.0)
