"""Where the boxes of a network stand and how its arcs run: a layered layout, after Sugiyama.

Each connected part is laid out by itself, in five steps, and the parts are then packed side by side:

1. layers, so that the arcs are short: min Σ (layer of child − layer of parent), each term at least 1, a linear
   programme; a row that would make the picture too wide is broken into several;
2. stops: an arc over several layers passes a stop in each layer between, which keeps a lane free for it;
3. the order within the rows, so that few arcs cross: sweeps by mean and median, then exchanges of neighbours;
4. the horizontal places: min Σ weight · |x of child − x of parent|, a second linear programme, then centred;
5. the arcs: curves that go down all the way and keep clear of every box.

Nothing is left to chance: the same network gives the same layout.
"""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

Point = tuple[float, float]
Route = list[Point]  # a start and then, for each cubic curve, two control points and its end
Parents = Sequence[Sequence[int]]
Size = tuple[float, float]  # width and height

HEAD = 9.0  # room above a box for the head of an arrow: routes end there
BETWEEN_BOXES = 26.0
BETWEEN_STOPS = 11.0
BETWEEN_PARTS = 36.0
CLEARANCE = 5.0  # what a curve keeps from boxes; a stop's lane keeps more, BETWEEN_STOPS
PORT_STEP = 9.0  # between two arcs at the same side of a box
FEWEST_TRIES, MOST_TRIES = 5, 16  # starts of the crossing reduction, of large graphs and of small ones
WIDTH_WEIGHT = 8.0  # a pixel of the picture's width against one of an arc's horizontal way
WIDEST, WIDE = 1.5, 1000.0  # width to height, and width, beyond both of which rows are broken
PARTS_RATIO = 1.7  # width to height that the packing of parts aims at


@dataclass(frozen=True)
class Layout:
    """Boxes by their centres, arcs by their curves, from (0, 0) at the top left to (width, height)."""

    width: float
    height: float
    centres: list[Point]
    layers: list[int]  # counted from the top of the node's own part
    routes: dict[tuple[int, int], Route]  # (parent, child) to the curves from box to box, HEAD short of the child's


@dataclass(frozen=True)
class Rows:
    """A layered graph: nodes first, then the stops of long arcs; every edge leads from one row to the next."""

    rows: list[list[int]]
    above: list[list[int]]  # of each vertex, its neighbours one row up
    below: list[list[int]]
    chains: dict[tuple[int, int], list[int]]  # of each arc, its stops from top to bottom
    n_nodes: int


def layout(parents: Parents, sizes: Sequence[Size]) -> Layout:
    """Lay out a network: boxes in layers, every arc downwards.

    Parameters
    ----------
    parents : sequence
        Of each node, the places of its parents; no arcs that go round in a circle.
    sizes : sequence
        Of each node, the width and height of its box.

    Returns
    -------
    Layout

    Examples
    --------
    >>> from ingenuo.networks.layout import layout
    >>> found = layout([(), (0,), (0,), (1, 2)], [(80, 30)] * 4)
    >>> found.layers
    [0, 1, 1, 2]
    >>> found.centres[0][1] < found.centres[1][1] < found.centres[3][1]
    True
    """
    laid = []
    for nodes in parts(parents):
        place = {node: k for k, node in enumerate(nodes)}
        laid.append((nodes, _lay_out_part([[place[p] for p in parents[v]] for v in nodes], [sizes[v] for v in nodes])))
    corners, width, height = _pack([(part.width, part.height) for _, part in laid])
    centres: list[Point] = [(0.0, 0.0)] * len(parents)
    layers = [0] * len(parents)
    routes: dict[tuple[int, int], Route] = {}
    for (nodes, part), (left, top) in zip(laid, corners):
        for k, node in enumerate(nodes):
            centres[node] = (part.centres[k][0] + left, part.centres[k][1] + top)
            layers[node] = part.layers[k]
        for (p, c), route in part.routes.items():
            routes[nodes[p], nodes[c]] = [(x + left, y + top) for x, y in route]
    return Layout(width, height, centres, layers, {arc: routes[arc] for arc in sorted(routes)})


def parts(parents: Parents) -> list[list[int]]:
    """The connected parts of a graph, each in the order of its nodes, the first node's part first."""
    part = list(range(len(parents)))

    def root(node: int) -> int:
        while part[node] != node:
            part[node] = part[part[node]]
            node = part[node]
        return node

    for child, above in enumerate(parents):
        for parent in above:
            a, b = root(child), root(parent)
            part[max(a, b)] = min(a, b)
    found: dict[int, list[int]] = {}
    for node in range(len(parents)):
        found.setdefault(root(node), []).append(node)
    return list(found.values())


def _lay_out_part(parents: Parents, sizes: Sequence[Size]) -> Layout:
    if len(parents) == 1:
        width, height = sizes[0]
        return Layout(width, height, [(width / 2, height / 2)], [0], {})
    layers = choose_layers(parents, sizes)
    graph = with_stops(parents, layers)
    widths = [width for width, _ in sizes]
    # Of orders with as few crossings, the one whose arcs run straightest; a large graph has time for one only. The
    # first ones keep more of the nodes' own order, so a later one must be clearly better.
    least, x = np.inf, [0.0] * len(graph.above)
    for order in reduce_crossings(graph)[: max(1, 1200 // len(graph.above))]:
        cost, places = horizontal(order, widths)
        if cost < 0.93 * least:
            least, x, graph = cost, places, order
    return _routed(graph, layers, _centred(graph, x, _distances(graph, widths)), sizes)


# ---- layers


def choose_layers(parents: Parents, sizes: Sequence[Size]) -> list[int]:
    """The layer of each node: the shortest arcs, unless the picture would be far wider than high."""
    tight = shortest_layers(parents)
    best, ratio, widest = tight, *_proportions(parents, tight, sizes)
    limit = widest
    for _ in range(24):
        if ratio <= WIDEST or widest <= WIDE:
            break
        limit *= 0.88
        layers = _broken_layers(parents, tight, [width for width, _ in sizes], limit)
        found = _proportions(parents, layers, sizes)
        if found[0] < ratio:
            best, ratio, widest = layers, *found
    return best


def shortest_layers(parents: Parents) -> list[int]:
    """Layers with the least total length of the arcs (the programme's matrix is totally unimodular: whole numbers)."""
    arcs = [(parent, child) for child, above in enumerate(parents) for parent in above]
    if not arcs:
        return [0] * len(parents)
    upper, lower = np.array(arcs).T
    n, m = len(parents), len(arcs)
    cost = np.bincount(lower, minlength=n) - np.bincount(upper, minlength=n)
    each = np.arange(m)
    matrix: Any = coo_array(
        (np.repeat([1.0, -1.0], m), (np.tile(each, 2), np.concatenate([upper, lower]))), shape=(m, n)
    )
    found = linprog(cost, A_ub=matrix.tocsr(), b_ub=-np.ones(m), bounds=(0, n), method="highs")
    assert found.x is not None  # without a cycle there is always an answer
    layers = np.rint(found.x).astype(int)
    return [int(layer) for layer in layers - layers.min()]


def _proportions(parents: Parents, layers: Sequence[int], sizes: Sequence[Size]) -> tuple[float, float]:
    """Width to height that layers would have, about, and the width of the widest row."""
    depth = max(layers) + 1
    widths, heights = np.zeros(depth), np.zeros(depth)
    for layer, (width, height) in zip(layers, sizes):
        widths[layer] += width + BETWEEN_BOXES
        heights[layer] = max(heights[layer], height)
    for child, above in enumerate(parents):
        for parent in above:
            widths[layers[parent] + 1 : layers[child]] += BETWEEN_STOPS
    return float(widths.max() / (heights.sum() + 60.0 * depth)), float(widths.max())


def _broken_layers(parents: Parents, tight: Sequence[int], widths: Sequence[float], limit: float) -> list[int]:
    """Layers no wider than the limit: what does not fit goes a row down, leaves before those that lead far."""
    n = len(parents)
    reach = [0] * n  # arcs on the longest way down
    for child in sorted(range(n), key=lambda v: -tight[v]):
        for parent in parents[child]:
            reach[parent] = max(reach[parent], reach[child] + 1)
    layers = [-1] * n
    waiting, layer = list(range(n)), 0
    while waiting:
        ready = [v for v in waiting if tight[v] <= layer and all(0 <= layers[p] < layer for p in parents[v])]
        used = 0.0
        for v in sorted(ready, key=lambda v: (-reach[v], v)):
            if used == 0.0 or used + widths[v] + BETWEEN_BOXES <= limit:
                layers[v] = layer
                used += widths[v] + BETWEEN_BOXES
        waiting = [v for v in waiting if layers[v] < 0]
        layer += 1
    used_layers = {old: new for new, old in enumerate(sorted(set(layers)))}
    return [used_layers[old] for old in layers]


def with_stops(parents: Parents, layers: Sequence[int]) -> Rows:
    """The graph with a stop in each layer that an arc passes, its rows in the order of a walk down from the roots."""
    n = len(parents)
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    chains: dict[tuple[int, int], list[int]] = {}
    row_of = list(layers)
    for child, its_parents in enumerate(parents):
        for parent in its_parents:
            chain = []
            last = parent
            for layer in range(layers[parent] + 1, layers[child]):
                stop = len(above)
                above.append([last])
                below.append([])
                below[last].append(stop)
                row_of.append(layer)
                chain.append(stop)
                last = stop
            above[child].append(last)
            below[last].append(child)
            chains[parent, child] = chain
    graph = Rows([], above, below, chains, n)
    return replace(graph, rows=_walked(row_of, above, _far_ones_amid(graph, row_of)))


def _walked(row_of: Sequence[int], first: list[list[int]], then: list[list[int]]) -> list[list[int]]:
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


def _far_ones_amid(graph: Rows, row_of: Sequence[int]) -> list[list[int]]:
    """The neighbours below, with those of arcs that lead far in the middle: a class above rows of columns is a tree
    whose trunk goes down between them.
    """
    ends = {(p, chain[0] if chain else c): row_of[c] for (p, c), chain in graph.chains.items()}
    dealt = []
    for v, below in enumerate(graph.below):
        left: list[int] = []
        right: list[int] = []
        layers = [ends.get((v, w), 0) for w in below]
        for layer in sorted(set(layers)):
            same = [w for w, its_layer in zip(below, layers) if its_layer == layer]
            left, right = left + same[: (len(same) + 1) // 2], same[(len(same) + 1) // 2 :] + right
        dealt.append(left + right)
    return dealt


# ---- the order within the rows


def crossings(graph: Rows) -> int:
    """How many pairs of edges cross."""
    total = 0
    for upper, lower in pairwise(graph.rows):
        place = {v: k for k, v in enumerate(lower)}
        met: list[int] = []
        for v in upper:
            ends = sorted(place[w] for w in graph.below[v])
            total += sum(len(met) - bisect_right(met, end) for end in ends)
            for end in ends:
                insort(met, end)
    return total


def reduce_crossings(graph: Rows) -> list[Rows]:
    """The same graph with its rows in the best orders that sweeps and exchanges find from several starts.

    All have the same number of crossings, never more than the graph had.
    """
    row_of = [0] * len(graph.above)
    for layer, row in enumerate(graph.rows):
        for v in row:
            row_of[v] = layer
    found = [(crossings(graph), graph.rows)]
    for attempt in range(min(max(MOST_TRIES * 150 // len(row_of), FEWEST_TRIES), MOST_TRIES)):
        if attempt == 0:
            rows = [list(row) for row in graph.rows]
        elif attempt == 1:
            rows = _walked(row_of, graph.below, graph.above)
        elif attempt == 2:
            rows = _walked(row_of, graph.above, graph.below)
        else:
            chance = random.Random(attempt)  # a fixed seed: the same network, the same picture
            rows = [chance.sample(row, len(row)) for row in graph.rows]
        found.append(_improved(replace(graph, rows=rows), by_median=attempt % 2 == 1))
    fewest = min(count for count, _ in found)
    orders: list[list[list[int]]] = []
    for count, rows in found:
        if count == fewest and rows not in orders:
            orders.append(rows)
    return [replace(graph, rows=rows) for rows in orders]


def _improved(graph: Rows, by_median: bool) -> tuple[int, list[list[int]]]:
    """The fewest crossings on the way from one start, and the rows that have them."""
    fewest, best = crossings(graph), [list(row) for row in graph.rows]
    idle = 0
    for sweep in range(24):
        _sweep(graph, down=sweep % 2 == 0, by_median=by_median, turn_ties=sweep % 4 >= 2)
        _exchange(graph)
        count = crossings(graph)
        idle += 1
        if count < fewest:
            fewest, best, idle = count, [list(row) for row in graph.rows], 0
        if fewest == 0 or idle > 7:
            break
    return fewest, best


def _sweep(graph: Rows, down: bool, by_median: bool, turn_ties: bool) -> None:
    """Sort each row by where its neighbours in the row before stand; who has none keeps its place."""
    near = graph.above if down else graph.below
    rows = graph.rows if down else graph.rows[::-1]
    for before, row in pairwise(rows):
        place = {v: k for k, v in enumerate(before)}
        keys: dict[int, float] = {}
        for v in row:
            ends = sorted(place[w] for w in near[v])
            if ends:
                middle = (ends[(len(ends) - 1) // 2] + ends[len(ends) // 2]) / 2
                keys[v] = middle if by_median else sum(ends) / len(ends)
        moving = [v for v in row if v in keys]
        if turn_ties:
            moving.reverse()
        moved = iter(sorted(moving, key=keys.__getitem__))
        row[:] = [next(moved) if v in keys else v for v in row]


def _exchange(graph: Rows) -> None:
    """Exchange neighbours in a row as long as that takes crossings away."""
    place = [0] * len(graph.above)
    for row in graph.rows:
        for k, v in enumerate(row):
            place[v] = k
    waiting = set(range(len(graph.rows)))  # rows where an exchange may have become worth while
    for _ in range(8):
        now, waiting = sorted(waiting), set()
        for layer in now:
            row = graph.rows[layer]
            ups = [sorted([place[w] for w in graph.above[v]]) for v in row]
            downs = [sorted([place[w] for w in graph.below[v]]) for v in row]
            for k in range(len(row) - 1):
                up, next_up, down, next_down = ups[k], ups[k + 1], downs[k], downs[k + 1]
                crossed_up = up and next_up and up[-1] > next_up[0]
                if not (crossed_up or (down and next_down and down[-1] > next_down[0])):
                    continue
                gain = _inversions(up, next_up) - _inversions(next_up, up)
                gain += _inversions(down, next_down) - _inversions(next_down, down)
                if gain > 0:
                    u, v = row[k], row[k + 1]
                    row[k], row[k + 1], place[u], place[v] = v, u, k + 1, k
                    ups[k], ups[k + 1], downs[k], downs[k + 1] = next_up, up, next_down, down
                    waiting.update((layer - 1, layer, layer + 1))
        waiting &= set(range(len(graph.rows)))
        if not waiting:
            return


def _inversions(left: list[int], right: list[int]) -> int:
    """Pairs of an end of the left vertex and one of the right that cross; both sorted."""
    total = passed = 0
    for end in left:
        while passed < len(right) and right[passed] < end:
            passed += 1
        total += passed
    return total


# ---- horizontal places


def _distances(graph: Rows, widths: Sequence[float]) -> dict[tuple[int, int], float]:
    """(left, right) neighbours in a row to the least distance of their centres."""
    apart = {}
    for row in graph.rows:
        for left, right in pairwise(row):
            half = sum(widths[v] / 2 for v in (left, right) if v < graph.n_nodes)
            apart[left, right] = half + (BETWEEN_BOXES if max(left, right) < graph.n_nodes else BETWEEN_STOPS)
    return apart


def horizontal(graph: Rows, widths: Sequence[float]) -> tuple[float, list[float]]:
    """The centre of each vertex, so that long arcs are straight and ways short, and what that costs at least."""
    n, total = graph.n_nodes, len(graph.above)
    apart = _distances(graph, widths)
    edges = [(u, v) for u in range(total) for v in graph.below[u]]
    weights = [(1.0, 2.0, 8.0)[(u >= n) + (v >= n)] for u, v in edges]
    # Variables: x of the vertices (the picture begins at 0), the length of each edge, the right edge of the picture.
    # Rows: ±(x_u − x_v) ≤ length, x_left + apart ≤ x_right, x of the last in a row + half its width ≤ right edge.
    m, k, rows = len(edges), len(apart), len(graph.rows)
    upper, lower = np.array(edges).T
    left, right = np.array(list(apart)).T if apart else (np.zeros(0, int), np.zeros(0, int))
    lasts = np.array([row[-1] for row in graph.rows])
    halves = np.array([widths[v] / 2 if v < n else 0.0 for v in range(total)])
    lengths, ends = total + np.arange(m), np.full(rows, total + m)
    plus = [*zip(range(m), upper), *zip(range(m, 2 * m), lower), *zip(range(2 * m, 2 * m + k), left)]
    minus = [*zip(range(m), lower), *zip(range(m, 2 * m), upper), *zip(range(2 * m, 2 * m + k), right)]
    minus += [*zip(range(m), lengths), *zip(range(m, 2 * m), lengths), *zip(range(2 * m + k, 2 * m + k + rows), ends)]
    plus += zip(range(2 * m + k, 2 * m + k + rows), lasts)
    at = np.array(plus + minus).T
    values = np.concatenate([np.ones(len(plus)), -np.ones(len(minus))])
    matrix: Any = coo_array((values, (at[0], at[1])), shape=(2 * m + k + rows, total + m + 1))
    found = linprog(
        np.concatenate([np.zeros(total), weights, [WIDTH_WEIGHT]]),
        A_ub=matrix.tocsr(),
        b_ub=np.concatenate([np.zeros(2 * m), -np.array(list(apart.values())), -halves[lasts]]),
        bounds=[*((half, None) for half in halves), *[(0, None)] * (m + 1)],
        method="highs",
    )
    assert found.x is not None  # if wide enough, any order has places
    assert found.fun is not None
    return float(found.fun), [float(x) for x in found.x[:total]]


def _centred(graph: Rows, x: list[float], apart: dict[tuple[int, int], float]) -> list[float]:
    """Move each vertex amid its neighbours as far as the row allows; stops in one line stay in one line.

    The programme's answer lies at a corner, so a parent of two children stands above one of them. Here each moves to
    the mean of its neighbours, which makes the sum of squares smaller at every step.
    """
    blocks = [[v] for v in range(graph.n_nodes)]
    for chain in graph.chains.values():
        for before, stop in zip([-1, *chain], chain):
            if before >= 0 and abs(x[before] - x[stop]) < 0.01:
                blocks[-1].append(stop)
            else:
                blocks.append([stop])
    left_of = {right: (left, gap) for (left, right), gap in apart.items()}
    right_of = {left: (right, gap) for (left, right), gap in apart.items()}
    for turn in range(40):
        most = 0.0
        for block in blocks if turn % 2 == 0 else reversed(blocks):
            members = set(block)
            near = [w for v in block for w in (*graph.above[v], *graph.below[v]) if w not in members]
            low = max((x[w] + gap for v in block if v in left_of for w, gap in [left_of[v]]), default=-np.inf)
            high = min((x[w] - gap for v in block if v in right_of for w, gap in [right_of[v]]), default=np.inf)
            wanted = sum(x[w] for w in near) / len(near)
            moved = min(max(wanted, low), high) if low <= high else x[block[0]]
            most = max(most, abs(moved - x[block[0]]))
            for v in block:
                x[v] = moved
        if most < 0.25:
            break
    return x


# ---- the arcs


def _routed(graph: Rows, layers: list[int], x: list[float], sizes: Sequence[Size]) -> Layout:
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


# ---- parts side by side


def _pack(sizes: Sequence[Size]) -> tuple[list[Point], float, float]:
    """The top left corner of each part, on shelves, the highest parts first; with the width and height of all."""
    if not sizes:
        return [], 0.0, 0.0
    area = sum((width + BETWEEN_PARTS) * (height + BETWEEN_PARTS) for width, height in sizes)
    limit = max(max(width for width, _ in sizes), (area * PARTS_RATIO) ** 0.5)
    corners: list[Point] = [(0.0, 0.0)] * len(sizes)
    x = y = shelf = widest = 0.0
    for k in sorted(range(len(sizes)), key=lambda k: (-sizes[k][1], k)):
        width, height = sizes[k]
        if x > 0 and x + width > limit:
            x, y = 0.0, y + shelf + BETWEEN_PARTS
            shelf = 0.0
        corners[k] = (x, y)
        x += width + BETWEEN_PARTS
        shelf = max(shelf, height)
        widest = max(widest, x - BETWEEN_PARTS)
    return corners, widest, y + shelf
