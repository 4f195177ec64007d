"""Rows answered by a tally that has not learned them: the total less the row, or less its fold.

    tally without f = tally of all rows - tally of f

A family that knows what one row changes says so by its own `left_out`. What stands here is right for every family: a
fold is subtracted, and the rest estimated again. Folds are ten, or, for exact answers, as many as there are rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.rows.part import Block, Chunk, Numbers
from ingenuo.rows.schema import Schema
from ingenuo.tally.histogram import Histogram
from ingenuo.tally.labels import Labels, find
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally

if TYPE_CHECKING:
    from ingenuo.families.family import Family


Floats = NDArray[np.float64]
Places = NDArray[np.intp]

FOLDS = 10
_LEAST = -1e3  # no column that is left out by folds makes a class less likely than this


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """Rows that are part of a tally, and of classes that it has."""

    schema: Schema
    tally: Tally
    chunk: Chunk
    exact: bool = False  # whether families without a short way leave out row by row, in place of ten folds
    seed: int = 0  # of the folds
    read: dict[Any, Any] = field(default_factory=dict)  # what was read of texts, for the next prior

    @property
    def classes(self) -> Labels:
        """The classes of the tally."""
        return self.chunk.classes

    @property
    def weights(self) -> Floats:
        """How often each row counts."""
        return np.ones(self.chunk.n_rows) if self.chunk.weights is None else self.chunk.weights

    @cached_property
    def folds(self) -> list[Places]:
        """The rows of each of ten folds."""
        fold = stratified(self.chunk.coded, FOLDS, self.seed)
        return [rows for f in range(FOLDS) if len(rows := np.flatnonzero(fold == f))]


def stratified(codes: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row, drawn by a seed; every class is shared out as evenly as it goes.

    >>> stratified(np.array([0, 0, 0, 0, 1, 1]), 2, 0).reshape(3, 2).sum(axis=1).tolist()
    [1, 1, 1]
    """
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    found = np.empty(len(codes), np.int64)
    found[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % folds
    return found


class AllButOneFold:
    """The tally of all rows but those of a fold.

    The bins of a histogram may have been widened by values that the fold takes away, and cannot be cut finer again.
    So where a fold has a value in an outermost bin, the other rows are counted again: `recount` counts all the rows
    but those at some places.
    """

    def __init__(self, total: Tally, recount: Callable[[Places], Tally]) -> None:
        self.total, self._recount = total, recount

    def without(self, fold: Tally, places: Places) -> Tally:
        """The rest."""
        rest = self.total - fold
        touched = [
            name for name, table in fold.items() if isinstance(table, Histogram) and self._is_at_an_end(name, table)
        ]
        if not touched:
            return rest
        others, unknown = self._recount(places), self._not_counted
        for name in touched:
            parts = [Tally({name: each[name]}) for each in (others, unknown) if name in each]
            rest = Tally({each: table for each, table in rest.items() if each != name})
            for part in parts:
                rest = rest + part
        return rest

    @cached_property
    def _not_counted(self) -> Tally:
        """What the total has beside the rows that can be counted."""
        every = self._recount(np.zeros(0, np.intp))
        return Tally({name: table.minus(name, every[name]) for name, table in self.total.items() if name in every})

    def _is_at_an_end(self, name: str, own: Histogram) -> bool:
        whole = self.total.bins(name)
        assert whole is not None
        places = own.coarsened(max(own.exponent, whole.exponent)).places
        return bool(len(places)) and (places[0] == whole.places[0] or places[-1] == whole.places[-1])


def estimate_again(family: Family, rows: LearnedRows, prior: Prior, block: Block, only: Places | None = None) -> Floats:
    """The log likelihood of every row (or of some) by estimates without it: rows × classes."""
    if only is None and not rows.exact:
        out = np.empty((block.n_rows, len(rows.classes)))
        out[np.concatenate(rows.folds)] = _by_folds(family, rows, prior, block, rows.folds, _LEAST)
        return out
    places = np.arange(block.n_rows) if only is None else only
    if not isinstance(block, Numbers) or family.together or only is not None:
        return _by_folds(family, rows, prior, block, list(places[:, np.newaxis]))
    out = np.zeros((block.n_rows, len(rows.classes)))
    for j in range(len(block.names)):  # rows of one class, value and weight share the answer
        x = block.column(j)
        there = np.flatnonzero(~np.isnan(x))
        keys = np.column_stack([rows.chunk.coded[there], x[there], rows.weights[there]])
        _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        single = Numbers(block.names[j : j + 1], block.n_rows, x[:, np.newaxis])
        found = _by_folds(family, rows, prior, single, list(there[first][:, np.newaxis]))
        out[there] += found[same.ravel()]
    return out


def _by_folds(
    family: Family, rows: LearnedRows, prior: Prior, block: Block, tests: Sequence[Places], floor: float | None = None
) -> Floats:
    """The log likelihood of the rows of all the tests, one after the other, each by the rows of the others."""
    chunk = Chunk(block.n_rows, {"": block}, rows.chunk.labels, rows.chunk.classes, rows.chunk.weights)

    def count(part: Chunk) -> Tally:
        return part.count_classes() + family.tally(part, part.blocks[""])

    def recount(places: Places) -> Tally:
        others = np.delete(np.arange(block.n_rows), places)
        return count(chunk.take(others)) if len(others) else Tally()

    if not tests:
        return np.zeros((0, len(rows.classes)))
    order = np.concatenate(tests)
    taken = chunk.take(order)
    parts = [taken.part(lo, hi) for lo, hi in pairwise(np.append(0, np.cumsum([len(test) for test in tests])).tolist())]
    folds = [count(part) for part in parts]
    counted = {name for fold in folds for name in fold}
    rests = AllButOneFold(
        Tally({name: _of_columns(table, block.names) for name, table in rows.tally.items() if name in counted}), recount
    )
    out = np.zeros((len(order), len(rows.classes)))
    at = 0
    for test, part, fold in zip(tests, parts, folds):
        rest = rests.without(fold, test)
        left = rest.labels("class", 0)
        found = np.zeros((len(test), len(left)))
        parameters = family.estimate(rest, prior, rows.schema, block.names, left)
        family.log_likelihood(parameters, part.blocks[""], found, floor)
        places = find(left, rows.classes)
        out[at : at + len(test), places >= 0] = found[:, places[places >= 0]]
        at += len(test)
    return out


def _of_columns(table: Any, columns: Labels) -> Any:
    """A table of many columns, of some of them only."""
    if not isinstance(table, Table) or table.names != ("class", "column"):
        return table
    classes = table.axes[0]
    return Table.of({"class": classes, "column": columns}, table.over(classes, columns), signed=table.signed)
