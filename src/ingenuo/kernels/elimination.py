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
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.native import F64, I32, I64, INT, function
from ingenuo.kernels.portable import log
from ingenuo.kernels.threads import run, split, width

Floats = NDArray[np.float64]
Codes = NDArray[Any]
Places = NDArray[np.int64]

SCRATCH = 1 << 22

_ROWS_PER_THREAD = 256
_PARTS = 16  # expected counts are added in as many parts at any number of threads, so that they are the same

_joint_rows = function("joint_rows", I32, INT, INT, INT, *[I64] * 8, F64, I64, F64, INT, INT, F64, I64, returns=INT)
_count_expected = function("count_expected", I32, INT, INT, F64, *[I64] * 5, F64, INT, INT, F64, F64, I64, returns=INT)


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
        logs = log(_joined([np.asarray(table, np.float64).ravel() for table in tables], np.float64))
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
    by_class, strides = _by_class(flat, target)
    wide = np.zeros(len(codes), np.int64)
    ours = out if out.flags.c_contiguous and out.dtype == np.float64 else np.empty(out.shape)

    def fill(lo: int, hi: int) -> None:
        cells = _workspace(flat)
        if not _joint_rows(
            codes[lo:hi], hi - lo, len(flat.cards), target, *_families(flat), flat.child_starts, flat.children,
            flat.upwards, by_class, strides, cells, len(flat.tables), len(cells), ours[lo:hi], wide[lo:hi],
        ):  # fmt: skip
            raise MemoryError

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
    weights = np.ones(n) if weights is None else np.require(weights, np.float64, ["C", "A"])
    if weights.shape != (n,):
        raise InputError(f"there are {weights.size} weights for {n} rows; each row needs one")
    logs, wide = np.zeros(n), np.zeros(n, np.int64)

    def count(lo: int, hi: int) -> Floats:
        cells = _workspace(flat)
        counts = np.zeros(len(cells))
        if not _count_expected(
            codes[lo:hi], hi - lo, len(flat.cards), weights[lo:hi], *_families(flat), cells, len(flat.tables),
            len(cells), counts, logs[lo:hi], wide[lo:hi],
        ):  # fmt: skip
            raise MemoryError
        return counts[: len(flat.tables)].copy()  # without the scratch space

    total = np.zeros(len(flat.tables))
    for part in run([partial(count, lo, hi) for lo, hi in split(n, _PARTS, _ROWS_PER_THREAD)]):
        total += part
    return total, logs, np.flatnonzero(wide)


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
    return np.require(codes, np.int32, ["C", "A"])


def _families(flat: Flat) -> list[NDArray[Any]]:
    return [flat.cards, flat.offsets, flat.starts, flat.family, flat.strides]


def _workspace(flat: Flat) -> Floats:
    """The tables, and behind them scratch space; pages of it that no row needs are never touched."""
    cells = np.empty(len(flat.tables) + SCRATCH)
    cells[: len(flat.tables)] = flat.tables
    return cells


def _by_class(flat: Flat, target: int) -> tuple[Floats, Places]:
    """The tables with the target's axis last, and the strides of the others; the target's is 0."""
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
    return _joined(tables, np.float64), strides
