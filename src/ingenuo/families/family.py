"""What every family does: count its columns, estimate parameters, and answer for rows that the tally has not learned.

A family that knows what one row changes has its own `left_out`. The one here is right for every family: a fold is
subtracted, and the rest estimated again. Folds are ten, or, for exact answers, as many as there are rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, KindError, RefusedError
from ingenuo.kernels.moments import weights_by_cell
from ingenuo.rows.part import Block, Chunk, Numbers, Places
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Passage
from ingenuo.tally.bag import Bag
from ingenuo.tally.exact import Exact
from ingenuo.tally.histogram import Histogram
from ingenuo.tally.labels import Labels, find
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally

Values = dict[Any, NDArray[Any]]

LogsAt = Callable[[Floats], Floats]  # from numbers to logs (numbers, classes)

# Stands in for log 0 only where every class of a row has probability zero: then the class with the fewest
# impossible factors wins, as it would under ever weaker smoothing. Large against any ordinary log term, small
# enough to leave those terms seven digits.
IMPOSSIBLE = -float(1 << 30)
FOLDS = 10
_LEAST = -1e3  # no column that is left out by folds makes a class less likely than this
_DEVIATIONS = 3.0  # how far from the mean of all rows a number is looked at


@dataclass(frozen=True)
class Categories:
    """A column of categories."""

    kind: ClassVar[Literal["category"]] = "category"
    column: object
    values: Labels
    logs: Floats  # (values, classes)
    weight: float = 1.0  # that the logs have been multiplied by
    counts: Floats | None = None  # (classes, values): in how many rows
    shares: Floats | None = None  # (classes, values): and how probable; none in a linear model


@dataclass(frozen=True)
class Measure:
    """A column of numbers."""

    kind: ClassVar[Literal["number"]] = "number"
    column: object
    at: LogsAt
    low: float  # between these nearly all numbers lie
    high: float
    means: Floats  # (classes,)
    deviations: Floats
    weight: float = 1.0
    slopes: Floats | None = None  # (classes,), where the evidence is a line
    together: bool = False  # with other columns: where one is missing, the lines of the others change
    silent: bool = False  # it has one value only
    figures: Mapping[str, Floats] = field(default_factory=dict)  # (classes,) to show in place of mean and deviation

    @staticmethod
    def of(column: object, at: LogsAt, means: Floats, deviations: Floats, priors: Floats, **more: Any) -> Measure:
        """Nearly all numbers lie within three deviations around the mean of all classes together."""
        unit = max(float(np.abs(means).max(initial=0)), float(deviations.max(initial=0)), np.finfo(float).tiny)
        m, s = means / unit, deviations / unit
        mean = float(priors @ m)
        reach = _DEVIATIONS * float(np.sqrt(priors @ (s * s + (m - mean) ** 2)))
        return Measure(column, at, (mean - reach) * unit, (mean + reach) * unit, means, deviations, **more)

    @staticmethod
    def line(
        column: object, slopes: Floats, centre: float, means: Floats, deviation: float, shares: Floats, **more: Any
    ) -> Measure:
        """A line in x - centre for each class."""

        def at(x: Floats) -> Floats:
            return (np.asarray(x, np.float64)[:, np.newaxis] - centre) * slopes

        return Measure.of(column, at, means, np.full(len(means), deviation), shares, slopes=slopes, **more)


@dataclass(frozen=True)
class Bags:
    """Columns of counts, of which each one more adds the same; or of things that are there or not. May be very many."""

    kind: ClassVar[Literal["count"]] = "count"
    columns: Labels
    each: Floats  # (columns, classes): what one more adds; of a thing, what it adds where it is there
    absent: Floats | None  # (columns, classes): and where it is not; none of counts, where that adds nothing
    most: Floats  # (columns,): hardly a row has more
    weight: float = 1.0
    counts: Floats | None = None  # (classes, columns): the sums, or in how many rows it was there
    rows: Floats | None = None  # (classes,): of a thing, in how many rows it could have been
    shares: Floats | None = None  # (classes, columns): of all that is counted, or of the rows; none in a linear model
    sizes: Floats | None = None  # (classes,): how much is counted in a row

    @property
    def column(self) -> object:
        """The first of them."""
        return self.columns[0]


@dataclass(frozen=True)
class WordTable:
    """A column of text: each occurrence of a word adds the same."""

    kind: ClassVar[Literal["text"]] = "text"
    column: object
    bag: Bag  # what was counted
    used: NDArray[np.bool_]  # which of its nodes count
    each: Callable[[int], Floats]  # what an occurrence of each node adds to a class's log joint
    parameters: Any  # of the column
    model: str  # "multinomial", "complement", "bernoulli" or "linear"
    weight: float = 1.0
    empty: Floats | None = None  # (classes,): what a text without any word adds
    typical: str = ""  # of what texts that is true, where it depends on them
    weights: Floats | None = None  # (nodes, logits) of a linear model


Evidence = Categories | Measure | Bags | WordTable


def most_of(mean: Floats) -> Floats:
    """What hardly a row has more of: counts are about Poisson, so three deviations above the mean."""
    return np.asarray(np.maximum(np.ceil(mean + 3 * np.sqrt(mean)), 1.0))


class Parameters(ABC):
    """What a family has estimated for its columns: all that rows need to be answered."""

    columns: Labels
    remarks: tuple[str, ...] = ()  # what to warn of
    reasons: Mapping[Any, str] = MappingProxyType({})  # by column: why it was given what it was given
    # By column: numbers with a probability of their own, and it (classes, numbers); that of all others last, if any.
    masses: Mapping[Any, tuple[Labels, Floats]] = MappingProxyType({})
    additive = True  # whether each column adds to the log joint, whatever the others are
    constant: Any = 0.0  # what is added to the log joint of each class besides the evidence of the columns

    @abstractmethod
    def add_log_likelihood(self, block: Any, out: Floats, floor: float | None = None) -> None:
        """Add log p(x | class) to out (rows × classes); floor stands in for log 0 when it is given."""

    @abstractmethod
    def factors(self, block: Any) -> list[Factor]:
        """The terms of a block of one row, column by column."""

    @abstractmethod
    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """One value of every column for each of the drawn classes."""

    @abstractmethod
    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Evidence]:
        """What each column adds, times the weight; `texts` are those of which that is true, where it depends on it."""

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """What is added to a row's joint, column by column, as a sheet has it; columns by name."""
        raise InputError(f"{type(self).__name__} has no sheet")

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """How many numbers were estimated, less those that follow from the others because shares sum to 1."""

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """Σ log p(x | class) of the rows of a tally, each under its own class."""
        raise RefusedError(
            f"the log likelihood of the rows does not follow from the sums that are kept of column "
            f"{column_name(self.columns[0])!r}; add it up: predict_joint_log_proba(X) has the terms of each row"
        )

    def lengths(self, block: Any) -> Floats | None:
        """How many known words, or things counted, each row has; None of columns that have no length."""
        return None

    def passages(self, block: Any, best: int, second: int) -> list[Passage]:
        """Texts, each word with how much it speaks for the one class and against the other."""
        return []


class Family(ABC):
    """Columns of one kind within a class. Pure: nothing here is ever changed."""

    together = False  # whether its columns are modelled together, as one attribute
    in_tables = False  # whether it counts in tables of classes × something
    in_bins = False  # whether it counts in bins, which widen

    @abstractmethod
    def tally(self, chunk: Chunk, block: Any) -> Tally:
        """The sums over a chunk's rows."""

    def sheet_sums(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> Iterator[dict[str, Any]]:
        """What a page needs to take a row away, and to estimate these columns again; raises where it cannot."""
        name = columns.tolist()[0]
        raise KindError(
            f"column {column_name(name)!r} is {schema.family(name)!r}, and a page cannot take rows away from the sums "
            "of that; forget with ingenuo open instead"
        )

    @abstractmethod
    def estimate(self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels) -> Parameters:
        """The parameters, from the sums and the prior."""

    def tables(self, columns: Labels) -> set[str]:
        """The tables that a tally has of such columns only where some row asks for it."""
        return set()

    def check(self, tally: Tally) -> None:  # noqa: B027 (nothing to check is a check)
        """Raise ForgetError if the sums cannot be those of any rows."""

    def left_out(self, rows: LearnedRows, prior: Prior, block: Any) -> Floats:
        """log p(x | class) of rows that were learned, each by the tally without it (rows × classes)."""
        return estimate_again(self, rows, prior, block)

    def left_out_lengths(self, rows: LearnedRows, prior: Prior, block: Any) -> Floats | None:
        """How many words, or things counted, each row has; if a short way tells, of what is known without the row."""
        return None


def count_cells(cells: NDArray[Any], n: int, weights: Floats | None) -> Exact:
    """How many rows, or how much weight, each of n cells has; a cell of -1 is none."""
    if weights is None:
        return Exact.counts(np.bincount(cells[cells >= 0], minlength=n))
    return weights_by_cell(weights, cells.astype(np.int64), n)


def check_rows(tally: Tally, name: str) -> None:
    """Raise ForgetError where a table (class × column, or class × value) counts more than the class has rows."""
    if name not in tally or not isinstance(counts := tally[name].sums, Exact):
        return
    classes = tally[name].axes[0]
    if tally[name].names[1] in ("value", "bin"):  # a row has one value at most
        counts = Exact.canonical(counts.limbs.sum(axis=2, keepdims=True), counts.low)
    rows = tally.over("class", classes)
    assert isinstance(rows, Exact)
    repeated = Exact(np.repeat(rows.limbs[..., np.newaxis], counts.shape[1], axis=-1), rows.low)
    exceeding = np.argwhere((repeated - counts).signs() < 0)
    if len(exceeding):
        k, j = exceeding[0]
        left = f"{rows.floats()[k]:g} rows left and {counts.floats()[k, j]:g} values in '{name}'"
        raise cannot_forget(classes, k, left)


def cannot_forget(classes: Labels, k: int, left: str) -> ForgetError:
    """The error for a class that would be left with what no rows have."""
    return ForgetError(
        f"cannot take these rows away: class {classes.tolist()[k]!r} would have {left}; only rows that were learned "
        "can be forgotten"
    )


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
        fold = stratify(self.chunk.coded, FOLDS, self.seed)
        return [rows for f in range(FOLDS) if len(rows := np.flatnonzero(fold == f))]

    def estimate(self, family: Family, prior: Prior, columns: Labels) -> Any:
        """The parameters of a family by all rows."""
        return family.estimate(self.tally, prior, self.schema, columns, self.classes)


def stratify(codes: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row, drawn by a seed; every class is shared out as evenly as it goes."""
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    found = np.empty(len(codes), np.int64)
    found[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % folds
    return found


class AllButOneFold:
    """The tally of all rows but those of a fold; `recount` counts all rows but some.

    That is needed where a fold has a value in an outermost bin: it may have widened all bins, which are not cut again.
    """

    def __init__(self, total: Tally, recount: Callable[[Places], Tally]) -> None:
        self.total, self._recount = total, recount

    def without(self, fold: Tally, places: Places) -> Tally:
        """The rest."""
        rest = self.total - fold
        bins = {name: table for name, table in fold.items() if isinstance(table, Histogram)}
        touched = [name for name, table in bins.items() if self._is_at_an_end(name, table)]
        if touched:
            rest = Tally({name: table for name, table in rest.items() if name not in touched})
            for counted in (self._recount(places), self._not_counted):
                rest = rest + Tally({name: counted[name] for name in touched if name in counted})
        return rest

    @cached_property
    def _not_counted(self) -> Tally:
        """What the total has in addition to the rows that can be counted."""
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
        out[there] += _by_folds(family, rows, prior, single, list(there[first][:, np.newaxis]))[same.ravel()]
    return out


def _by_folds(
    family: Family, rows: LearnedRows, prior: Prior, block: Block, tests: Sequence[Places], floor: float | None = None
) -> Floats:
    """The log likelihood of the rows of all the tests, one after the other, each by the rows of the others."""
    if not tests:
        return np.zeros((0, len(rows.classes)))
    chunk = Chunk(block.n_rows, {"": block}, rows.chunk.labels, rows.chunk.classes, rows.chunk.weights)

    def count(part: Chunk) -> Tally:
        return part.count_classes() + family.tally(part, part.blocks[""])

    def recount(places: Places) -> Tally:
        others = np.delete(np.arange(block.n_rows), places)
        return count(chunk.take(others)) if len(others) else Tally()

    taken, ends = chunk.take(np.concatenate(tests)), np.append(0, np.cumsum([len(test) for test in tests])).tolist()
    parts = [taken.part(lo, hi) for lo, hi in pairwise(ends)]
    folds = [count(part) for part in parts]
    counted = {name for fold in folds for name in fold} | family.tables(block.names)
    total = Tally({name: _of_columns(rows.tally[name], block.names) for name in rows.tally if name in counted})
    rests = AllButOneFold(total, recount)
    out = np.zeros((ends[-1], len(rows.classes)))
    for at, test, part, fold in zip(ends, tests, parts, folds):
        rest = rests.without(fold, test)
        left = rest.labels("class", 0)
        found = np.zeros((len(test), len(left)))
        parameters = family.estimate(rest, prior, rows.schema, block.names, left)
        parameters.add_log_likelihood(part.blocks[""], found, floor)
        places = find(left, rows.classes)
        out[at : at + len(test), places >= 0] = found[:, places[places >= 0]]
    return out


def _of_columns(table: Any, columns: Labels) -> Any:
    """A table of many columns, of some of them only."""
    if not isinstance(table, Table) or table.names != ("class", "column"):
        return table
    classes = table.axes[0]
    return Table.of({"class": classes, "column": columns}, table.over(classes, columns), signed=table.signed)
