"""The order within the rows, so that few arcs cross."""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from dataclasses import replace
from itertools import pairwise

from ingenuo.networks.drawing.layers import walked
from ingenuo.networks.drawing.rows import Rows

FEWEST_TRIES, MOST_TRIES = 5, 16  # starts of the crossing reduction, of large graphs and of small ones


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
            rows = walked(row_of, graph.below, graph.above)
        elif attempt == 2:
            rows = walked(row_of, graph.above, graph.below)
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
