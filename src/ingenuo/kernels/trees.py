"""Boosted decision trees on codes, two bytes each, column by column: 0 is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import call, check_codes, check_shape, record, threads

Floats = NDArray[np.float64]
Codes = NDArray[np.uint16]

UNSEEN = 65535  # what no row had, which ends the way through a tree: its node's value counts
DEEPEST = 10  # levels of a tree
MOST_COLUMNS = 1 << 14  # that splits have room for
_ROWS = 1 << 13  # that are worth a thread
_Growth = record("cards categories", "n_columns depth seed")


class Growth(NamedTuple):
    """How trees grow."""

    depth: int
    rate: float  # by which a tree's values are multiplied
    l2: float  # added to the curvature of a node
    row_share: float  # of the rows, those that a tree sees
    column_share: float  # of the columns, those that a level may take
    least: float  # rows on either side of a split
    seed: int


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees, each a full one of the same depth; see cpp/trees.hpp for its splits."""

    depth: int
    splits: NDArray[np.int32]  # trees × nodes
    values: Floats  # trees × nodes × scores

    @staticmethod
    def none(depth: int, width: int) -> Trees:
        """No trees."""
        nodes = (2 << depth) - 1
        return Trees(depth, np.zeros((0, nodes), np.int32), np.zeros((0, nodes, width)))

    def __len__(self) -> int:
        return len(self.splits)

    @property
    def width(self) -> int:
        """How many scores a row has: one of two classes, else one for each class."""
        return int(self.values.shape[2])

    def first(self, n: int) -> Trees:
        """The first n trees."""
        return Trees(self.depth, self.splits[:n], self.values[:n])

    def compact(self) -> dict[str, NDArray[Any]]:
        """The nodes that rows can come to, tree after tree and level by level: their splits, their values, how many
        there are in each tree; the children of the splits come in the order of these, two by two.
        """
        reached = np.zeros(self.splits.shape, np.bool_)
        reached[:, 0] = True
        for x in range(self.splits.shape[1] // 2):
            reached[:, 2 * x + 1] = reached[:, 2 * x + 2] = reached[:, x] & (self.splits[:, x] >= 0)
        return {"nodes": reached.sum(axis=1), "splits": self.splits[reached], "values": self.values[reached]}

    def check(self, n_columns: int) -> None:
        """Raise where these are no trees over so many columns: a walk would leave them."""
        nodes = (2 << self.depth) - 1
        check_shape((len(self), nodes), self.splits)
        check_shape((len(self), nodes, self.width), self.values)
        last = self.splits[:, nodes // 2 :]
        if self.splits.size and (self.splits.min() < -1 or (self.splits.max() >> 17) >= n_columns or (last >= 0).any()):
            raise InputError(f"the splits are none of trees of depth {self.depth} over {n_columns} columns")
        if not np.isfinite(self.values).all():
            raise InputError("the values of the trees are no finite numbers")

    def add(self, codes: Codes, scores: Floats) -> None:
        """Add what the trees say to the scores of rows: rows × scores."""
        n = self._check_rows(codes, scores)

        def work(lo: int, hi: int) -> None:
            given = codes, n, lo, hi, self.width, self.depth, self.splits, self.values, len(self)
            call.add_trees(*given, None, None, scores, None)

        threads.over(n, work, _ROWS)

    def losses(self, codes: Codes, labels: NDArray[np.int32], weights: Floats | None, scores: Floats) -> Floats:
        """Add what the trees say, and give the sum of the rows' log losses after each tree."""
        n = self._check_rows(codes, scores)
        check_shape((n,), labels, weights)
        check_codes(max(self.width, 2), labels, 0)
        found = np.zeros(len(self))
        given = codes, n, 0, n, self.width, self.depth, self.splits, self.values, len(self)
        call.add_trees(*given, labels, weights, scores, found)
        return found

    def trace(self, codes: Codes) -> tuple[Floats, Floats]:
        """What the roots say, and by how much each column moves the scores: rows × columns × scores."""
        d, n = codes.shape
        self.check(d)
        base, moves = np.zeros(self.width), np.zeros((n, d, self.width))
        given = codes, n, d, self.width, self.depth, self.splits, self.values, len(self)
        call.trace_trees(*given, base, moves)
        return base, moves

    def _check_rows(self, codes: Codes, scores: Floats) -> int:
        self.check(len(codes))
        check_shape((codes.shape[1], self.width), scores)
        return int(codes.shape[1])


def boost(
    codes: Codes,
    cards: NDArray[np.int64],
    categories: NDArray[np.uint8],
    labels: NDArray[np.int32],
    weights: Floats | None,
    growth: Growth,
    first: int,
    rounds: int,
    scores: Floats,
) -> Trees:
    """So many more trees, after the first ones, which `scores` has; it gets what these add."""
    d, n = codes.shape
    width = scores.shape[1]
    check_shape((n, width), scores)
    check_shape((n,), labels, weights)
    check_shape((d,), cards, categories)
    check_codes(max(width, 2), labels, 0)
    if (codes.size and (codes.max(axis=1) >= cards).any()) or d > MOST_COLUMNS or not 1 <= growth.depth <= DEEPEST:
        raise InputError(f"codes beyond {cards.max()}, {d} columns, or trees of depth {growth.depth}")
    made = Trees.none(growth.depth, width)
    splits = np.empty((rounds, made.splits.shape[1]), np.int32)
    values = np.empty((rounds, *made.values.shape[1:]))
    shape: Any = _Growth(cards, categories, d, growth.depth, growth.seed)
    shares = growth.rate, growth.l2, growth.row_share, growth.column_share, growth.least
    if not call.boost_trees(codes, labels, weights, n, width, shape, first, rounds, *shares, scores, splits, values):
        raise MemoryError(f"no memory for the gradients of {n:,} rows of {width} scores")
    return Trees(growth.depth, splits, values)
