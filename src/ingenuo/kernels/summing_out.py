"""One row's missing nodes summed out of a network, and the way back: what each cell of each table had a part in."""

from __future__ import annotations

import numpy as np
from numba import int64, njit

AXES = 32  # no table of so many nodes fits the scratch, as nodes of one state are never summed out
SUMMED, WIDE, IMPOSSIBLE = 0, 1, 2  # what came of a row


@njit(cache=True, nogil=True)
def forward(  # type: ignore[no-untyped-def]
    row, needed, free, target, cards, offsets, starts, family, strides, cells, base, room, by_class
):
    """Sum the free nodes but the target out of the needed tables.

    Adds what depends on the target to `by_class`. Returns how it went, the logarithm of all else, and the end of the
    cells in use.
    """
    begins, axes, nodes, steps, gone, sums, lists, listed, made, numbers, missing, costs, axis_of = room
    m = len(needed)
    # Typed, as numba would compile the functions below once more for a constant 0.
    n_factors, n_missing, n_sums, n_listed = int64(0), int64(0), int64(0), int64(0)
    end, shared = base, 0.0
    for v in range(m):
        if not needed[v]:
            continue
        if free[v] and v != target:
            missing[n_missing] = v
            n_missing += 1
        cell, n_axes = offsets[v], 0
        for f in range(starts[v], starts[v + 1]):
            member = family[f]
            if not free[member]:
                cell += strides[f] * max(row[member], 0)
            elif n_axes == AXES:
                return WIDE, 0.0, end
            else:
                nodes[n_factors, n_axes] = member
                steps[n_factors, n_axes] = strides[f]
                n_axes += 1
        if n_axes == 0:
            shared += cells[cell]
        elif n_axes == 1 and nodes[n_factors, 0] == target:
            for k in range(cards[target]):
                by_class[k] += cells[cell + k * steps[n_factors, 0]]
        else:
            begins[n_factors], axes[n_factors], gone[n_factors] = cell, n_axes, -1
            n_factors += 1
    for u in range(n_missing):
        costs[u] = _cost(missing[u], n_factors, axes, nodes, gone, cards, axis_of)
    lists[0] = 0
    while n_missing > 0:
        chosen = 0
        for u in range(1, n_missing):
            if costs[u] < costs[chosen]:
                chosen = u
        v = missing[chosen]
        if end + costs[chosen] > len(cells):
            return WIDE, 0.0, end
        n_missing -= 1
        missing[chosen], costs[chosen] = missing[n_missing], costs[n_missing]
        # The new factor is over all that share a table with v.
        n_axes = 0
        for f in range(n_factors):
            if gone[f] < 0 and _has(f, v, axes, nodes):
                gone[f] = n_sums
                listed[n_listed] = f
                n_listed += 1
                for a in range(axes[f]):
                    other = nodes[f, a]
                    if other != v and axis_of[other] < 0:
                        axis_of[other] = n_axes
                        nodes[n_factors, n_axes] = other
                        n_axes += 1
        size = 1
        for a in range(n_axes - 1, -1, -1):
            steps[n_factors, a] = size
            size *= cards[nodes[n_factors, a]]
            axis_of[nodes[n_factors, a]] = -1
        begins[n_factors], axes[n_factors], gone[n_factors] = end, n_axes, -1
        sums[n_sums], made[n_sums], lists[n_sums + 1] = v, n_factors, n_listed
        numbers[0], numbers[1], numbers[2] = n_factors + 1, n_sums + 1, n_listed
        _sum_out(n_sums, cards, cells, cells, int64(0), room)
        if n_axes == 0:
            shared += cells[end]
            gone[n_factors] = n_sums
        elif n_axes == 1 and nodes[n_factors, 0] == target:
            for k in range(size):
                by_class[k] += cells[end + k]
            gone[n_factors] = n_sums
        else:
            for u in range(n_missing):
                if _has(n_factors, missing[u], axes, nodes):
                    costs[u] = _cost(missing[u], n_factors + 1, axes, nodes, gone, cards, axis_of)
        end += size
        n_factors += 1
        n_sums += 1
    numbers[0], numbers[1], numbers[2] = n_factors, n_sums, n_listed
    return (IMPOSSIBLE if shared == -np.inf else SUMMED), shared, end


@njit(cache=True, nogil=True)
def _has(f, v, axes, nodes):  # type: ignore[no-untyped-def]
    a = 0
    while a < axes[f] and nodes[f, a] != v:
        a += 1
    return a < axes[f]


@njit(cache=True, nogil=True)
def _cost(v, n_factors, axes, nodes, gone, cards, axis_of):  # type: ignore[no-untyped-def]
    """The cells of the table that summing v out would make."""
    size, n_axes = 1.0, 0
    for f in range(n_factors):
        if gone[f] < 0 and _has(f, v, axes, nodes):
            for a in range(axes[f]):
                other = nodes[f, a]
                if other != v and axis_of[other] < 0:
                    axis_of[other] = 0
                    size *= cards[other]
                    n_axes += 1
    for f in range(n_factors):
        if gone[f] < 0 and _has(f, v, axes, nodes):
            for a in range(axes[f]):
                axis_of[nodes[f, a]] = -1
    return np.inf if n_axes >= AXES else size


@njit(cache=True, nogil=True)
def _sum_out(s, cards, cells, counts, back, room):  # type: ignore[no-untyped-def]
    """Carry out one sum; or go back over it, and share the counts of what it made among what went into it."""
    begins, axes, nodes, steps, _, sums, lists, listed, made = room[:9]
    v, result = sums[s], made[s]
    card, n_axes, first, n = cards[v], axes[result], lists[s], lists[s + 1] - lists[s]
    jumps = np.zeros((n, n_axes + 1), np.int64)  # along the new table's axes, and along v
    places, turn, terms = np.empty(n, np.int64), np.zeros(n_axes, np.int64), np.empty(card)
    for j in range(n):
        f = listed[first + j]
        places[j] = begins[f]
        for a in range(axes[f]):
            if nodes[f, a] == v:
                jumps[j, n_axes] = steps[f, a]
            for b in range(n_axes):
                if nodes[result, b] == nodes[f, a]:
                    jumps[j, b] = steps[f, a]
    size = 1
    for b in range(n_axes):
        size *= cards[nodes[result, b]]
    for at in range(begins[result], begins[result] + size):
        if not back or counts[at] > 0.0:
            largest = -np.inf
            for x in range(card):
                term = 0.0
                for j in range(n):
                    term += cells[places[j] + x * jumps[j, n_axes]]
                terms[x] = term
                largest = max(largest, term)
            if back:
                for x in range(card):
                    share = counts[at] * np.exp(terms[x] - cells[at])
                    for j in range(n):
                        counts[places[j] + x * jumps[j, n_axes]] += share
            elif largest == -np.inf:
                cells[at] = -np.inf
            else:
                total = 0.0
                for x in range(card):
                    total += np.exp(terms[x] - largest)
                cells[at] = largest + np.log(total)
        a = n_axes - 1
        while a >= 0:
            turn[a] += 1
            for j in range(n):
                places[j] += jumps[j, a]
            if turn[a] < cards[nodes[result, a]]:
                break
            for j in range(n):
                places[j] -= jumps[j, a] * turn[a]
            turn[a] = 0
            a -= 1


@njit(cache=True, nogil=True)
def backward(weight, cards, cells, counts, room):  # type: ignore[no-untyped-def]
    """Share a row's weight among the cells of the tables that have missing members."""
    begins, axes, made, numbers = room[0], room[1], room[8], room[9]
    for s in range(numbers[1] - 1, -1, -1):
        if axes[made[s]] == 0:
            counts[begins[made[s]]] = weight
        _sum_out(s, cards, cells, counts, int64(1), room)
