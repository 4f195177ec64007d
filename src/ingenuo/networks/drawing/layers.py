"""Which row each box stands in, so that arcs are short and the picture is not too wide; and stops for long arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ingenuo.networks.drawing.rows import Parents, Rows, Size

BETWEEN_BOXES = 26.0
BETWEEN_STOPS = 11.0
WIDEST, WIDE = 1.5, 1000.0  # width to height, and width, beyond both of which rows are broken


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
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

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
    return replace(graph, rows=walked(row_of, above, _far_ones_amid(graph, row_of)))


def walked(row_of: Sequence[int], first: list[list[int]], then: list[list[int]]) -> list[list[int]]:
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
