"""Networks: counts of configurations and pairs, elimination of variables, averaged one-dependence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.codes import class_codes
from ingenuo.kernels.native import ANY, BYTES, F64, I32, I64, INT, REAL, function
from ingenuo.kernels.portable import log
from ingenuo.kernels.threads import run, split, width

# Contingency tables of categorical columns: how often their values meet, and what the tables say of a node.
#
# All counting is one loop. The columns on one side of the tables (a class and an attribute, or a node and its parents)
# are first joined into a single *cell* per row; the loop then meets the cells with one column after another, four at a
# time, so that a table's increments do not wait for one another. Codes are a matrix of int32, columns × rows; -1 is
# missing. Each table has one row and one column more than its values need, where what is missing is counted and left
# behind: the loop has no branches.


Codes = NDArray[np.int32]
Cells = NDArray[np.int64]
Floats = NDArray[np.float64]
T = TypeVar("T")

# Cells of the tables that are counted in one call; a larger one is counted alone.
_CELLS_AT_ONCE = 1 << 18
# Renumbering keeps a map of the combinations up to this many; beyond, it sorts.
_MAP_UP_TO = 1 << 22
# One pair's table (512 MB), and all of them together where all are kept (2 GB).
_PAIR_UP_TO = 1 << 26
_PAIRS_UP_TO = 1 << 28


_count_tables = function(
    "count_tables", I64, I32, *[INT] * 3, I64, I64, INT, INT, F64, INT, I64, ANY, INT, F64, F64, F64
)
_number_configurations = function("number_configurations", I64, I32, INT, INT, INT, I64, I64, returns=INT)
_NOTHING = np.zeros(0)


def configurations(above: Cells, n_above: int, codes: Codes, card: int) -> tuple[Cells, int]:
    """Join one more column to the configurations of some, numbered 0, 1, … as they first come, without gaps.

    Parameters
    ----------
    above
        The configuration of each row so far, 0..n_above - 1, or -1 where a value is missing.
    n_above
        How many there are.
    codes, card
        The column and how many values it may have.

    >>> configurations(np.array([0, 1, 1, -1]), 2, np.array([2, 0, 0, 1], np.int32), 3)
    (array([ 0,  1,  1, -1]), 2)
    """
    above, codes = np.require(above, np.int64, ["C", "A"]), np.require(codes, np.int32, ["C", "A"])
    keys = np.empty(len(above), np.int64)
    mapped = n_above * card <= _MAP_UP_TO
    places = np.full(n_above * card if mapped else 0, -1, np.int64)
    found = _number_configurations(above, codes, len(above), card, mapped, places, keys)
    if mapped:
        return keys, found
    known = keys >= 0
    kept, places = np.unique(keys[known], return_inverse=True)
    keys[known] = places
    return keys, len(kept)


def data_terms(
    above: Cells,
    n_above: int,
    codes: Codes,
    node: int,
    states: int,
    extra: Sequence[int],
    cards: Sequence[int],
    priors: Sequence[float],
    weights: Floats | None,
) -> tuple[Floats, Floats]:
    """The data terms of a node whose parents are some and, in turn, each of the extra columns.

    Parameters
    ----------
    above, n_above
        The configuration of the parents so far in each row, see :func:`configurations`.
    codes
        All columns, columns × rows.
    node, states
        The node's column and the number of its states.
    extra, cards
        The columns that are added one at a time, and the number of values of each; a code of theirs is below it.
    priors
        For each of them, the imaginary count of a cell; 0 for the plain log likelihood.
    weights
        Of each row; None where all are 1.

    Returns
    -------
    (terms, weights)
        For each of the extra columns the term, and the weight of the rows in which no member of the family is missing.

    >>> codes = np.array([[0, 0, 1, 1], [0, 0, 1, -1]], np.int32)
    >>> terms, weights = data_terms(np.zeros(4, np.int64), 1, codes, 0, 2, [1], [2], [0.0], None)
    >>> terms.tolist(), weights.tolist()
    ([0.0], [3.0])
    """
    width = n_above * states + 1
    above = np.require(above, np.int64, ["C", "A"])
    each, prior = np.array(cards, np.int64), np.array(priors, np.float64)
    terms, counted = np.empty(len(extra)), np.empty(len(extra))
    for lo, hi in _together([(card + 1) * width for card in cards]):
        scored = prior[lo:hi], terms[lo:hi], counted[lo:hi]
        _tables(above, codes, node, states, extra[lo:hi], each[lo:hi], width, weights, scored)
    return terms, counted


def each_pair(
    codes: Codes,
    cards: Sequence[int],
    labels: NDArray[Any],
    n_classes: int,
    weights: Floats | None,
    see: Callable[[NDArray[Any]], T],
    firsts: range | None = None,
) -> dict[tuple[int, int], T]:
    """Count every two columns within each class, and keep what `see` makes of each table, classes × first × second.

    Rows in which the class or either value is missing are left out of a table. The codes are columns × rows, known
    to be below their cards. The table is only good until `see` returns. Where `firsts` are given, only pairs whose
    first column is among them are counted.

    >>> each_pair(np.array([[0, 1], [1, 1]], np.int32), [2, 2], np.array([0, 0]), 1, None, np.ndarray.tolist)
    {(0, 1): [[[0, 1], [0, 1]]]}
    """
    classes = class_codes(labels, n_classes, codes.shape[1])
    two = too_wide(cards, n_classes)
    if two is not None:
        raise InputError(
            f"columns {two[0]} and {two[1]} have {cards[two[0]]} and {cards[two[1]]} values, within {n_classes} "
            "classes too many for a table; leave one out or join its rare values"
        )

    def pairs_of(i: int) -> list[tuple[tuple[int, int], T]]:
        width = n_classes * cards[i] + 1
        seen = []
        others = range(i + 1, len(cards))
        for lo, hi in _together([(cards[j] + 1) * width for j in others]):
            columns = others[lo:hi]
            own = np.array([cards[j] for j in columns], np.int64)
            tables, offsets = _tables(classes, codes, i, cards[i], columns, own, width, weights)
            for j, start in zip(columns, offsets.tolist()):
                table = tables[start : start + (cards[j] + 1) * width].reshape(cards[j] + 1, width)[1:, :-1]
                seen.append(((i, j), see(table.reshape(cards[j], n_classes, cards[i]).transpose(1, 2, 0))))
        return seen

    tasks = [partial(pairs_of, i) for i in (range(len(cards) - 1) if firsts is None else firsts)]
    return dict(pair for pairs in run(tasks) for pair in pairs)


def too_wide(cards: Sequence[int], n_classes: int) -> tuple[int, int] | None:
    """The two columns of the most values, if their table would be too large; None where all tables can be counted.

    >>> too_wide([9, 1 << 20, 3, 1 << 19], 2)
    (1, 3)
    """
    two = sorted(range(len(cards)), key=lambda i: cards[i])[-2:]
    if len(two) == 2 and n_classes * (cards[two[0]] + 1) * (cards[two[1]] + 1) > _PAIR_UP_TO:
        return min(two), max(two)
    return None


def pairs_by_class(
    columns: Sequence[NDArray[Any]] | NDArray[Any],
    cards: Sequence[int],
    labels: NDArray[Any],
    n_classes: int,
    weights: Floats | None = None,
) -> dict[tuple[int, int], NDArray[Any]]:
    """Count every two columns within each class.

    Parameters
    ----------
    columns
        Codes from 0, below 0 where missing; a matrix is columns × rows (int32 in C order is read as it is).
    cards
        The number of values of each column.
    labels
        The class of each row; a row with a label below 0 is left out.
    n_classes
        The number of classes.
    weights
        Of each row; 1 where not given.

    Returns
    -------
    dict
        For columns i < j the counts, n_classes × cards[i] × cards[j]; integers, or doubles with weights.

    >>> pairs_by_class([np.array([0, 1, 1]), np.array([0, 0, -1])], [2, 2], np.array([0, 1, 1]), 2)
    {(0, 1): array([[[1, 0],
            [0, 0]],
    <BLANKLINE>
           [[0, 0],
            [1, 0]]])}
    """
    codes = codes_matrix(columns, cards)
    cells = n_classes * (sum(cards) ** 2 - sum(card * card for card in cards)) // 2
    if cells > _PAIRS_UP_TO:
        raise InputError(
            f"the tables of all pairs of {len(cards)} columns in {n_classes} classes would have {cells:,} cells, more "
            f"than {_PAIRS_UP_TO:,}; leave columns with many values out or join their rare values"
        )
    if weights is not None:
        weights = np.ascontiguousarray(weights, np.float64)
        if weights.shape != (codes.shape[1],):
            raise InputError(f"there are {weights.size} weights for {codes.shape[1]} rows; each row needs one")
    return each_pair(codes, cards, labels, n_classes, weights, np.ascontiguousarray)


def codes_matrix(columns: Sequence[NDArray[Any]] | NDArray[Any], cards: Sequence[int]) -> Codes:
    """The columns as the loops read them, checked: int32, columns × rows, each code below its column's card.

    >>> codes_matrix([np.array([0, 1]), np.array([-7, 0])], [2, 1])
    array([[ 0,  1],
           [-1,  0]], dtype=int32)
    """
    if len(columns) != len(cards):
        raise InputError(f"there are {len(cards)} numbers of values for {len(columns)} columns; each column needs one")
    if not len(columns):
        return np.empty((0, 0), np.int32)
    n = len(columns[0])
    as_it_is = isinstance(columns, np.ndarray) and columns.dtype == np.int32 and columns.flags.c_contiguous
    out: Codes = np.asarray(columns) if as_it_is else np.empty((len(columns), n), np.int32)
    for j, column in enumerate(columns):
        if column.shape != (n,):
            raise InputError(f"column {j} has {len(column)} rows where {n} were expected")
        if column.dtype.kind not in "iub":
            raise InputError(f"the codes of column {j} are of type {column.dtype}; they must be integers")
        if n and column.max() >= cards[j]:
            row = int((column >= cards[j]).argmax())
            raise InputError(
                f"row {row}, column {j} has code {column[row]}, but the column has {cards[j]} values; its codes must "
                f"be below {cards[j]}, or below 0 where missing"
            )
        if n and column.min() < -1:
            if as_it_is:
                out, as_it_is = np.array(columns), False
            column = np.maximum(column, -1)
        if not as_it_is:
            out[j] = column
    return out


def _tables(
    above: Cells,
    codes: Codes,
    node: int,
    states: int,
    columns: Sequence[int],
    cards: Cells,
    width: int,
    weights: Floats | None,
    scored: tuple[Floats, Floats, Floats] | None = None,
) -> tuple[NDArray[Any], Cells]:
    """The tables of (above, node) with each of the columns, one after another, and where each begins.

    Where there are priors, terms and weights of the rows counted, the latter two are filled in.
    """
    sizes = (cards + 1) * width
    offsets = np.cumsum(sizes) - sizes
    tables = np.zeros(int(sizes.sum()), np.int64 if weights is None else np.float64)
    _count_tables(
        above, codes, codes.shape[1], node, states, np.array(columns, np.int64), cards, len(columns),
        weights is not None, _NOTHING if weights is None else weights, width, offsets, tables, scored is not None,
        *(scored or (_NOTHING,) * 3),
    )  # fmt: skip
    return tables, offsets


def _together(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Cut the tables into runs of a moderate size each; a large one is alone."""
    first, cells = 0, 0
    for k, size in enumerate(sizes):
        if k > first and cells + size > _CELLS_AT_ONCE:
            yield first, k
            first, cells = k, 0
        cells += size
    if len(sizes) > first:
        yield first, len(sizes)


# Networks, many rows at once, each with its own missing cells: these are summed out exactly, row by row.
#
# All is in logarithms, so that nothing underflows. Of a row, tables are read where its known cells point; a table with
# missing members is left as it lies and read with strides. Missing nodes are then summed out one by one, the one that
# makes the smallest table next. Going back over those sums gives the posterior of every table's cells: it is the
# derivative of the row's log probability by the logarithm of the cell.


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


def joint_by_class(flat: Flat, codes: NDArray[Any], target: int, out: Floats) -> Places:
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


def expected_counts(flat: Flat, codes: NDArray[Any], weights: Floats | None = None) -> tuple[Floats, Floats, Places]:
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


# Averaged one-dependence: each attribute in turn is the parent of the others, and their products are averaged.


_ROWS_AVERAGED = 256

_average_parents = function(
    "average_parents", I32, INT, INT, F64, I64, F64, I64, I64, BYTES, F64, INT, INT, I64, F64, F64
)


def average(
    codes: NDArray[np.int32],
    roots: Floats,
    root_at: NDArray[np.int64],
    pairs: Floats,
    pair_at: NDArray[np.int64],
    sizes: NDArray[np.int64],
    usable: NDArray[np.bool_],
    naive: Floats,
    n_classes: int,
) -> Floats:
    """The log joint of each row and class; codes are rows × attributes, -1 where a value is missing or unknown."""
    codes = np.require(codes, np.int32, ["C", "A"])
    out = np.empty((len(codes), n_classes))

    def fill(lo: int, hi: int) -> None:
        rows, terms = np.empty(codes.shape[1], np.int64), np.empty((codes.shape[1] + 2) * n_classes)
        _average_parents(
            codes[lo:hi], hi - lo, codes.shape[1], roots, root_at, pairs, pair_at, sizes, usable, naive, len(naive),
            n_classes, rows, terms, out[lo:hi],
        )  # fmt: skip

    run([partial(fill, lo, hi) for lo, hi in split(len(codes), width(), _ROWS_AVERAGED)])
    return out


# What the other rows tell of each row: information of two columns from counts, the row itself taken off.


_information_of_others = function("information_of_others", F64, INT, INT, INT, F64, returns=REAL)


def told_by_others(counts: NDArray[np.float64]) -> float:
    """Σ n_abc log (n_abc - 1 + q B/2) / ((n_ac - 1 + B/2) q) over the cells of counts (class × a × b).

    q = (n_bc - 1/2) / (n_c - 1 + B/2), where B values of b occur.

    >>> round(told_by_others(np.array([[[3.0, 0.0], [0.0, 3.0]]])), 4)
    3.9555
    """
    counts = np.ascontiguousarray(counts, np.float64)
    classes, _, seconds = counts.shape
    found: float = _information_of_others(counts, *counts.shape, np.zeros((classes, seconds)))
    return found
