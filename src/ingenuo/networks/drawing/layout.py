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

from collections.abc import Sequence

import numpy as np

from ingenuo.networks.drawing.crossings import reduce_crossings
from ingenuo.networks.drawing.layers import choose_layers, with_stops
from ingenuo.networks.drawing.places import centred, distances, horizontal
from ingenuo.networks.drawing.routes import routed
from ingenuo.networks.drawing.rows import Layout, Parents, Point, Route, Size

BETWEEN_PARTS = 36.0
PARTS_RATIO = 1.7  # width to height that the packing of parts aims at


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
    >>> from ingenuo.networks.drawing.layout import layout
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
    return routed(graph, layers, centred(graph, x, distances(graph, widths)), sizes)


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
