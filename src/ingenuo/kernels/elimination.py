"""Networks, many rows at once, each with its own missing cells: these are summed out exactly, row by row.

All is in logarithms, so that nothing underflows. Of a row, tables are read where its known cells point; a table with
missing members is left as it lies and read with strides. Missing nodes are then summed out one by one, the one that
makes the smallest table next. Going back over those sums gives the posterior of every table's cells: it is the
derivative of the row's log probability by the logarithm of the cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba import int64, njit
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.codes import readable
from ingenuo.kernels.threads import run, split, width

Floats = NDArray[np.float64]
Codes = NDArray[Any]
Places = NDArray[np.int64]

SCRATCH = 1 << 22
"""The cells that one row's sums may take in all; beyond, the row is left to the caller."""

_AXES = 32  # no table of so many nodes fits the scratch, as nodes of one state are never summed out
_ROWS_PER_THREAD = 256
_PARTS = 16  # expected counts are added in as many parts at any number of threads, so that they are the same
_SUMMED, _WIDE, _IMPOSSIBLE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Flat:
    """A network in a few arrays: all tables end to end, and of each family where its members are and their strides."""

    cards: Places
    tables: Floats  # logarithms
    offsets: Places  # of each node's table, and the end
    starts: Places  # of each node's family in the two that follow, and the end
    family: Places  # the parents in order, then the node
    strides: Places
    child_starts: Places
    children: Places
    upwards: Places  # every node before its parents
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, parents: Sequence[tuple[int, ...]], tables: Sequence[Floats]) -> Flat:
        """The flat form of a network without cycles; tables have the parents' axes in order and the node's last.

        >>> flat = Flat.of([(), (0,)], [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])])
        >>> flat.strides, flat.offsets
        (array([1, 2, 1]), array([0, 2, 6]))
        """
        families = [(*above, node) for node, above in enumerate(parents)]
        below: list[list[int]] = [[] for _ in parents]
        for node, above in enumerate(parents):
            for parent in above:
                below[parent].append(node)
        waiting = [len(nodes) for nodes in below]
        upwards = [node for node, n in enumerate(waiting) if n == 0]
        for node in upwards:
            for parent in parents[node]:
                waiting[parent] -= 1
                if waiting[parent] == 0:
                    upwards.append(parent)
        if len(upwards) < len(parents):
            raise InputError("the parents of the nodes go round in a circle; a network must have no cycle")
        strides = [np.cumprod([1, *table.shape[:0:-1]])[::-1] for table in tables]
        with np.errstate(divide="ignore"):
            logs = np.log(_joined([np.asarray(table, np.float64).ravel() for table in tables], np.float64))
        return cls(
            cards=np.array([table.shape[-1] for table in tables], np.int64),
            tables=logs,
            offsets=_starts([table.size for table in tables]),
            starts=_starts([len(family) for family in families]),
            family=_joined(families, np.int64),
            strides=_joined(strides, np.int64),
            child_starts=_starts([len(nodes) for nodes in below]),
            children=_joined(below, np.int64),
            upwards=np.array(upwards, np.int64),
            shapes=tuple(table.shape for table in tables),
        )

    def shaped(self, cells: Floats) -> list[Floats]:
        """Numbers that lie as the tables do, one array for each node.

        >>> Flat.of([()], [np.array([0.5, 0.5])]).shaped(np.array([3.0, 4.0]))
        [array([3., 4.])]
        """
        cuts = np.split(cells, self.offsets[1:-1])
        return [part.reshape(shape) for part, shape in zip(cuts, self.shapes, strict=True)]


def joint_by_class(flat: Flat, codes: Codes, target: int, out: Floats) -> Places:
    """Put into out[i, k] the logarithm of P(target = k, the known cells of row i).

    Parameters
    ----------
    flat
        The network.
    codes
        Rows × nodes, the place of each state; below zero is missing. The target's column is not looked at.
    target
        The place of the target.
    out
        Rows × states of the target; what it held is lost.

    Returns
    -------
    array
        The rows that need more than the scratch space and are not done.

    >>> flat = Flat.of([(), (0,)], [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])])
    >>> out = np.empty((2, 2))
    >>> joint_by_class(flat, np.array([[0, 1], [0, -1]]), 0, out)
    array([], dtype=int64)
    >>> np.exp(out)
    array([[0.05, 0.4 ],
           [0.5 , 0.5 ]])
    """
    codes = _checked(flat, codes, target)
    if out.shape != (len(codes), int(flat.cards[target])):
        raise InputError(f"out is of shape {out.shape}; it needs one of {(len(codes), int(flat.cards[target]))}")
    by_class = [readable(array) for array in _by_class(flat, target)]
    wide = np.zeros(len(codes), np.int64)
    ours = out if out.flags.c_contiguous and out.dtype == np.float64 else np.empty(out.shape)

    def fill(lo: int, hi: int) -> None:
        upwards = [readable(array) for array in (flat.child_starts, flat.children, flat.upwards)]
        cells, room = _workspace(flat), _room(len(flat.cards))
        _joint_rows(
            codes[lo:hi], target, *_families(flat), *upwards, *by_class, cells, len(flat.tables), room,
            ours[lo:hi], wide[lo:hi],
        )  # fmt: skip

    run([partial(fill, lo, hi) for lo, hi in split(len(codes), width(), _ROWS_PER_THREAD)])
    if ours is not out:
        out[:] = ours
    return np.flatnonzero(wide)


def expected_counts(flat: Flat, codes: Codes, weights: Floats | None = None) -> tuple[Floats, Floats, Places]:
    """How often each cell of each table is expected among the rows, given their known cells.

    Parameters
    ----------
    flat
        The network.
    codes
        Rows × nodes, the place of each state; below zero is missing.
    weights
        How much each row counts; 1 by default.

    Returns
    -------
    counts
        Laid out as the tables are (:meth:`Flat.shaped`).
    log_probabilities
        Of the known cells of each row; -inf where they are impossible, and such a row is not counted.
    wide
        The rows that need more than the scratch space; they are not counted.

    >>> flat = Flat.of([(), (0,)], [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])])
    >>> counts, log_probabilities, wide = expected_counts(flat, np.array([[-1, 1]]))
    >>> counts.round(3)
    array([0.111, 0.889, 0.   , 0.111, 0.   , 0.889])
    """
    codes = _checked(flat, codes, -1)
    n = len(codes)
    weights = readable(np.ones(n) if weights is None else np.ascontiguousarray(weights, np.float64))
    if weights.shape != (n,):
        raise InputError(f"there are {weights.size} weights for {n} rows; each row needs one")
    logs, status = np.zeros(n), np.zeros(n, np.int64)

    def count(lo: int, hi: int) -> Floats:
        cells, room = _workspace(flat), _room(len(flat.cards))
        counts = np.zeros(len(cells))
        _count_rows(
            codes[lo:hi], weights[lo:hi], *_families(flat), cells, len(flat.tables), room, counts,
            logs[lo:hi], status[lo:hi],
        )  # fmt: skip
        return counts[: len(flat.tables)].copy()  # without the scratch space

    total = np.zeros(len(flat.tables))
    for part in run([partial(count, lo, hi) for lo, hi in split(n, _PARTS, _ROWS_PER_THREAD)]):
        total += part
    return total, logs, np.flatnonzero(status == _WIDE)


def _starts(lengths: Sequence[int]) -> Places:
    return np.cumsum([0, *lengths]).astype(np.int64)


def _joined(parts: Sequence[Any], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *[np.asarray(part, dtype) for part in parts]]).astype(dtype)


def _checked(flat: Flat, codes: Codes, target: int) -> NDArray[np.int32]:
    """The codes as the kernels read them; one beyond its table would be read from another."""
    if codes.ndim != 2 or codes.shape[1] != len(flat.cards):
        raise InputError(f"the codes are of shape {codes.shape}; the network has {len(flat.cards)} nodes, one a column")
    if codes.dtype.kind not in "iu":
        raise InputError(f"codes are of type {codes.dtype}; they must be integers")
    largest = codes.max(axis=0, initial=-1).astype(np.int64)
    beyond = (largest >= flat.cards) & (np.arange(len(flat.cards)) != target)
    if beyond.any():
        column = int(beyond.argmax())
        raise InputError(
            f"row {int(codes[:, column].argmax())}, column {column} has code {largest[column]}, but its node has "
            f"{flat.cards[column]} states; a state that the network does not know is missing: below 0"
        )
    return readable(np.ascontiguousarray(codes, np.int32))


def _families(flat: Flat) -> list[NDArray[Any]]:
    return [readable(array) for array in (flat.cards, flat.offsets, flat.starts, flat.family, flat.strides)]


def _workspace(flat: Flat) -> Floats:
    """The tables, and behind them scratch space; pages of it that no row needs are never touched."""
    cells = np.empty(len(flat.tables) + SCRATCH)
    cells[: len(flat.tables)] = flat.tables
    return cells


def _room(m: int) -> tuple[NDArray[Any], ...]:
    """Space to note one row's factors and sums, of m nodes.

    There are at most m tables, and each sum takes at least one factor away and makes one: 2 m in all.
    """
    return (
        np.zeros(2 * m + 1, np.int64),  # where each factor's cells start
        np.zeros(2 * m + 1, np.int64),  # its number of axes
        np.zeros((2 * m + 1, _AXES), np.int64),  # their nodes
        np.zeros((2 * m + 1, _AXES), np.int64),  # and strides
        np.zeros(2 * m + 1, np.int64),  # the sum that it went into, -1 before
        np.zeros(m + 1, np.int64),  # the node of each sum
        np.zeros(m + 2, np.int64),  # where its factors begin in the list
        np.zeros(2 * m + 1, np.int64),  # the list of factors by sum
        np.zeros(m + 1, np.int64),  # the factor that each sum made
        np.zeros(3, np.int64),  # factors, sums, listed factors
        np.zeros(m + 1, np.int64),  # missing nodes
        np.zeros(m + 1, np.float64),  # and what it costs to sum each out
        np.full(m + 1, -1, np.int64),  # of each node, its axis in the table at hand
    )


def _by_class(flat: Flat, target: int) -> tuple[Floats, Places, Places]:
    """The tables with the target's axis last, where each starts, and the strides of the others; the target's is 0."""
    tables, strides = [], flat.strides.copy()
    n_classes = int(flat.cards[target])
    for node, table in enumerate(flat.shaped(flat.tables)):
        members = slice(flat.starts[node], flat.starts[node + 1])
        at = np.flatnonzero(flat.family[members] == target)
        if len(at):
            table = np.moveaxis(table, at[0], -1)
            others = np.cumprod([n_classes, *table.shape[-2:0:-1]])[::-1][: table.ndim - 1]
            strides[members] = np.insert(others, at[0], 0)
        tables.append(table.ravel())
    return _joined(tables, np.float64), flat.offsets, strides


@njit(cache=True, nogil=True)
def _joint_rows(  # type: ignore[no-untyped-def]
    codes, target, cards, offsets, starts, family, strides, child_starts, children, upwards,
    class_tables, class_offsets, class_strides, cells, base, room, out, wide,
):  # fmt: skip
    """Each row's log joint with every class: rows without holes in one pass, others by elimination."""
    n, m = codes.shape
    n_classes = cards[target]
    needed, free = np.ones(m, np.bool_), np.zeros(m, np.bool_)
    with_target = np.zeros(m, np.bool_)
    with_target[target] = True
    for c in range(child_starts[target], child_starts[target + 1]):
        with_target[children[c]] = True
    for i in range(n):
        holes = False
        for v in range(m):
            if codes[i, v] < 0 and v != target and cards[v] > 1:
                holes = True
                break
        for k in range(n_classes):
            out[i, k] = 0.0
        if holes:
            for u in range(m):
                v = upwards[u]
                free[v] = v == target or (codes[i, v] < 0 and cards[v] > 1)
                needed[v] = v == target or not free[v]
                if not needed[v]:
                    for c in range(child_starts[v], child_starts[v + 1]):
                        if needed[children[c]]:
                            needed[v] = True
                            break
            status, shared, _ = _forward(
                codes[i], needed, free, target, cards, offsets, starts, family, strides, cells, base, room, out[i]
            )
            wide[i] = status == _WIDE
        else:
            shared = 0.0
            for v in range(m):
                cell = class_offsets[v]
                for f in range(starts[v], starts[v + 1]):
                    cell += class_strides[f] * max(codes[i, family[f]], 0)
                if with_target[v]:
                    for k in range(n_classes):
                        out[i, k] += class_tables[cell + k]
                else:
                    shared += class_tables[cell]
        for k in range(n_classes):
            out[i, k] += shared


@njit(cache=True, nogil=True)
def _count_rows(  # type: ignore[no-untyped-def]
    codes, weights, cards, offsets, starts, family, strides, cells, base, room, counts, logs, status
):
    """Add each row's expected counts to `counts`, which lies as the tables do, and find its log probability."""
    n, m = codes.shape
    needed, free = np.ones(m, np.bool_), np.zeros(m, np.bool_)
    nothing = np.zeros(0)
    for i in range(n):
        for v in range(m):
            free[v] = codes[i, v] < 0 and cards[v] > 1
        status[i], logs[i], used = _forward(
            codes[i], needed, free, int64(-1), cards, offsets, starts, family, strides, cells, base, room, nothing
        )
        if status[i] != _SUMMED or weights[i] == 0.0:
            continue
        for v in range(m):
            complete = True
            cell = offsets[v]
            for f in range(starts[v], starts[v + 1]):
                if free[family[f]]:
                    complete = False
                    break
                cell += strides[f] * max(codes[i, family[f]], 0)
            if complete:
                counts[cell] += weights[i]
        counts[base:used] = 0.0
        _backward(weights[i], cards, cells, counts, room)


@njit(cache=True, nogil=True)
def _forward(  # type: ignore[no-untyped-def]
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
            elif n_axes == _AXES:
                return _WIDE, 0.0, end
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
            return _WIDE, 0.0, end
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
    return (_IMPOSSIBLE if shared == -np.inf else _SUMMED), shared, end


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
    return np.inf if n_axes >= _AXES else size


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
def _backward(weight, cards, cells, counts, room):  # type: ignore[no-untyped-def]
    """Share a row's weight among the cells of the tables that have missing members."""
    begins, axes, made, numbers = room[0], room[1], room[8], room[9]
    for s in range(numbers[1] - 1, -1, -1):
        if axes[made[s]] == 0:
            counts[begins[made[s]]] = weight
        _sum_out(s, cards, cells, counts, int64(1), room)
