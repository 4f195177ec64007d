"""What a structure is learned from: for each node a column of small integers, checked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.contingency import codes_matrix, each_pair

Floats = NDArray[np.float64]
Measure = Callable[[NDArray[Any]], float]  # of counts: given × first × second


class Pairs(Protocol):
    """What trees are made from: every two columns, measured by how often their values meet."""

    @property
    def n_columns(self) -> int:
        """How many nodes there are."""
        ...

    def about(self, target: int, nodes: Sequence[int], measure: Measure) -> dict[int, float]:
        """What each of the nodes tells of the target, from the rows in which both are known."""
        ...

    def shared(self, nodes: Sequence[int], target: int | None, measure: Measure) -> Floats:
        """What each two of the nodes share, given the target where there is one: a symmetric matrix.

        It is measured by the rows in which both, and the target, are known.
        """
        ...


# Joining equal rows is worth its while when it leaves at most this part of them.
_WORTH_JOINING = 0.75


class Sample:
    """Rows of categorical codes.

    Parameters
    ----------
    columns
        For each node its code in each row, from 0; below 0 where it is missing.
    cards
        For each node the number of its states; it may be more than occur.
    weights
        Of each row, not negative; 1 where not given.

    Attributes
    ----------
    codes
        Columns × rows, int32, -1 where missing.
    holes
        Whether a value is missing, for each column.
    total
        The rows' weight together.

    >>> sample = Sample([np.array([0, 1, 1]), np.array([2, -1, 0])], [2, 3])
    >>> sample.n_rows, sample.n_columns, sample.holes, sample.total
    (3, 2, (False, True), 3.0)
    """

    def __init__(
        self, columns: Sequence[NDArray[Any]] | NDArray[Any], cards: Sequence[int], weights: NDArray[Any] | None = None
    ) -> None:
        self.cards = tuple(int(card) for card in cards)
        for j, card in enumerate(self.cards):
            if card < 1:
                raise InputError(f"column {j} has {card} states; a node needs at least one")
        self.codes = codes_matrix(columns, self.cards)
        self.n_columns, self.n_rows = self.codes.shape
        self.weights = None if weights is None else _checked(weights, self.n_rows)
        self.total = float(self.n_rows if self.weights is None else self.weights.sum())
        if not self.total > 0:
            raise InputError("there are no rows with a weight above 0 to learn a structure from; give at least one")

    @cached_property
    def holes(self) -> tuple[bool, ...]:
        """Whether a value is missing, for each column."""
        return tuple(bool(self.n_rows and column.min() < 0) for column in self.codes)

    def about(self, target: int, nodes: Sequence[int], measure: Measure) -> dict[int, float]:
        """What each of the nodes tells of the target."""
        known = self.codes[target] >= 0
        card = self.cards[target]
        said = {}
        for node in nodes:
            both = known & (self.codes[node] >= 0)
            cells = self.codes[target][both].astype(np.int64) * self.cards[node] + self.codes[node][both]
            weights = None if self.weights is None else self.weights[both]
            counts = np.bincount(cells, weights, card * self.cards[node])
            said[node] = measure(counts.reshape(1, card, self.cards[node]))
        return said

    def shared(self, nodes: Sequence[int], target: int | None, measure: Measure) -> Floats:
        """What each two of the nodes share, given the target where there is one."""
        codes = np.ascontiguousarray(self.codes[list(nodes)])
        cards = [self.cards[node] for node in nodes]
        labels, n_classes = np.zeros(self.n_rows, np.int64), 1
        if target is not None:
            labels, n_classes = self.codes[target], self.cards[target]
        shared = np.zeros((len(nodes), len(nodes)))
        for (i, j), found in each_pair(codes, cards, labels, n_classes, self.weights, measure).items():
            shared[i, j] = shared[j, i] = found
        return shared

    def distinct(self) -> Sample:
        """The same sample with equal rows joined to one of their common weight; itself where that would save little.

        >>> joined = Sample([np.array([0, 1, 0, 0, 0])], [2]).distinct()
        >>> joined.codes.tolist(), joined.weights.tolist()
        ([[0, 1]], [4.0, 1.0])
        """
        if self.n_rows < 2 or not self.n_columns:
            return self
        keys = np.zeros(self.n_rows, np.uint64)
        for column, card in zip(self.codes, self.cards):
            # The number of the row in a mixed base where that fits 64 bits; beyond them it wraps round, as a hash.
            keys *= np.uint64(2 * card + 1)
            keys += (column + 1).astype(np.uint64)
        # A glance at some of the rows spares most large samples without equal rows the sorting of all.
        glance = keys[:: max(1, self.n_rows // 4096)]
        if self.n_rows > len(glance) * 16 and len(np.unique(glance)) > 0.99 * len(glance):
            return self
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) > _WORTH_JOINING * self.n_rows:
            return self
        codes = np.ascontiguousarray(self.codes[:, first])
        if any((row[place] != column).any() for row, column in zip(codes, self.codes)):
            return self  # two rows of one hash: as good as never, and then nothing is joined
        return Sample(codes, self.cards, np.bincount(place, self.weights, len(first)))


def _checked(weights: NDArray[Any], n_rows: int) -> Floats:
    found = np.ascontiguousarray(weights, np.float64)
    if found.shape != (n_rows,):
        raise InputError(f"there are {found.size} weights for {n_rows} rows; each row needs one")
    bad = ~np.isfinite(found) | (found < 0)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"row {row} has weight {found[row]}; a weight must be a number of at least 0")
    return found
