"""Where in its row each box stands, so that arcs run straight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ingenuo.networks.drawing.rows import Rows

BETWEEN_BOXES = 26.0
BETWEEN_STOPS = 11.0
WIDTH_WEIGHT = 8.0  # a pixel of the picture's width against one of an arc's horizontal way


def distances(graph: Rows, widths: Sequence[float]) -> dict[tuple[int, int], float]:
    """(left, right) neighbours in a row to the least distance of their centres."""
    apart = {}
    for row in graph.rows:
        for left, right in pairwise(row):
            half = sum(widths[v] / 2 for v in (left, right) if v < graph.n_nodes)
            apart[left, right] = half + (BETWEEN_BOXES if max(left, right) < graph.n_nodes else BETWEEN_STOPS)
    return apart


def horizontal(graph: Rows, widths: Sequence[float]) -> tuple[float, list[float]]:
    """The centre of each vertex, so that long arcs are straight and ways short, and what that costs at least."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n, total = graph.n_nodes, len(graph.above)
    apart = distances(graph, widths)
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


def centred(graph: Rows, x: list[float], apart: dict[tuple[int, int], float]) -> list[float]:
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
