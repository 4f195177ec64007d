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
from ingenuo.kernels.summing_out import AXES, SUMMED, WIDE, backward, forward
from ingenuo.kernels.threads import run, split, width

Floats = NDArray[np.float64]
Codes = NDArray[Any]
Places = NDArray[np.int64]

SCRATCH = 1 << 22
"""The cells that one row's sums may take in all; beyond, the row is left to the caller."""

_ROWS_PER_THREAD = 256
_PARTS = 16  # expected counts are added in as many parts at any number of threads, so that they are the same


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
    return total, logs, np.flatnonzero(status == WIDE)


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
        np.zeros((2 * m + 1, AXES), np.int64),  # their nodes
        np.zeros((2 * m + 1, AXES), np.int64),  # and strides
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
            status, shared, _ = forward(
                codes[i], needed, free, target, cards, offsets, starts, family, strides, cells, base, room, out[i]
            )
            wide[i] = status == WIDE
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
        status[i], logs[i], used = forward(
            codes[i], needed, free, int64(-1), cards, offsets, starts, family, strides, cells, base, room, nothing
        )
        if status[i] != SUMMED or weights[i] == 0.0:
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
        backward(weights[i], cards, cells, counts, room)
