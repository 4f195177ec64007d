"""How the arcs run: curves that go down all the way and keep clear of every box."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ingenuo.networks.drawing.rows import HEAD, Layout, Point, Route, Rows, Size

CLEARANCE = 5.0  # what a curve keeps from boxes; a stop's lane keeps more, BETWEEN_STOPS
PORT_STEP = 9.0  # between two arcs at the same side of a box


def routed(graph: Rows, layers: list[int], x: list[float], sizes: Sequence[Size]) -> Layout:
    """Heights of the rows, ports on the boxes and the curves between them."""
    n = graph.n_nodes
    left = min(x[v] - (sizes[v][0] / 2 if v < n else 0.0) for v in range(len(x)))
    x = [place - left for place in x]
    tops, bottoms = [], []
    y = 0.0
    for row in graph.rows:
        tops.append(y)
        y += max((sizes[v][1] for v in row if v < n), default=0.0)
        bottoms.append(y)
        spans = [abs(x[v] - x[w]) for v in row for w in graph.below[v]]
        y += min(46.0 + 0.05 * max(spans, default=0.0) + 0.5 * len(spans), 110.0)  # far arcs need room to be steep
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
    right = max(float(boxes[:, 2].max()), *x)
    return Layout(right, bottoms[-1], centres, layers, routes)


def _ports(v: int, x: list[float], near: list[int], width: float, n: int) -> dict[int, float]:
    """Where the arcs meet one side of a box: towards their other ends, in order and a little apart."""
    if not near:
        return {}
    order = sorted(near, key=lambda w: (x[w], w))
    half = 0.4 * width
    # Two boxes meet half way; a stop has no width of its own, so the box goes all the way to be straight above it.
    wanted = [min(max((x[w] - x[v]) * (0.5 if w < n else 1.0), -half), half) for w in order]
    step = min(PORT_STEP, 2 * half / len(order))
    for k in range(1, len(wanted)):
        wanted[k] = max(wanted[k], wanted[k - 1] + step)
    wanted[-1] = min(wanted[-1], half)
    for k in range(len(wanted) - 2, -1, -1):
        wanted[k] = min(wanted[k], wanted[k + 1] - step)
    return {w: x[v] + offset for w, offset in zip(order, wanted)}


def _route(stops: list[Point], gaps: list[tuple[float, float]], others: NDArray[np.float64]) -> Route:
    """Curves through the stops, as few as keep clear of the boxes; in the last resort along the stops' free lanes."""
    route = [stops[0]]
    here = 0
    while here < len(stops) - 1:
        for there in range(len(stops) - 1, here, -1):
            curve = _curve(stops[here], stops[there])
            if _is_clear(curve, stops[here + 1 : there], others):
                route += curve[1:]
                break
        else:
            there = here + 1
            (x0, _), (x1, y1) = stops[here], stops[there]
            leaves, arrives = gaps[here]
            for point in ((x0, leaves), (x1, arrives), (x1, y1)):
                if point[1] > route[-1][1]:
                    route += _curve(route[-1], point)[1:]
        here = there
    return route


def _curve(start: Point, end: Point) -> Route:
    """A cubic curve that leaves and arrives straight down."""
    bend = 0.48 * (end[1] - start[1])
    return [start, (start[0], start[1] + bend), (end[0], end[1] - bend), end]


def points_on(curve: Route, n: int) -> NDArray[np.float64]:
    """n points on one cubic curve, evenly by its parameter."""
    t = np.linspace(0.0, 1.0, n)[:, np.newaxis]
    a, b, c, d = (np.array(point) for point in curve)
    found: NDArray[np.float64] = (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t**2 * (1 - t) * c + t**3 * d
    return found


def _is_clear(curve: Route, passed: list[Point], others: NDArray[np.float64]) -> bool:
    """Whether a curve keeps clear of the other boxes, and near the stops whose place in the order it takes over."""
    (x0, y0), (x1, y1) = curve[0], curve[-1]
    points = points_on(curve, max(16, int((abs(x1 - x0) + y1 - y0) / 4)))
    if any(abs(np.interp(y, points[:, 1], points[:, 0]) - x) > 45.0 for x, y in passed):
        return False
    px, py = points[:, :1], points[:, 1:]
    inside = (px > others[:, 0]) & (px < others[:, 2]) & (py > others[:, 1]) & (py < others[:, 3])
    return not inside.any()
