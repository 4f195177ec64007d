"""Contingency tables of categorical columns: how often their values meet, and what the tables say of a node.

All counting is one loop. The columns on one side of the tables (a class and an attribute, or a node and its parents)
are first joined into a single *cell* per row; the loop then meets the cells with one column after another, four at a
time, so that a table's increments do not wait for one another. Codes are a matrix of int32, columns × rows; -1 is
missing. Each table has one row and one column more than its values need, where what is missing is counted and left
behind: the loop has no branches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.codes import class_codes
from ingenuo.kernels.native import ANY, F64, I32, I64, INT, function
from ingenuo.kernels.threads import run

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
