"""Answers for rows that a model has not learned, for every row that it has: the total less the fold.

A tally is a sum, so what a model would have learned without a fold needs no second look at the other rows:

    tally without fold f = Σ of the folds' tallies - tally of fold f

Each row is counted once. Where a table cannot be cut finer again (the bins of a histogram, which widened for a value
that the fold took away), the other folds are added up instead, which is the same sum.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.bins import Bins
from ingenuo.chunk import Chunk
from ingenuo.errors import InputError
from ingenuo.estimators import inputs
from ingenuo.estimators.base import TallyClassifier, referenced, tally_chunk
from ingenuo.estimators.rows import MemoryRows, take_rows
from ingenuo.estimators.rows import Part as Given
from ingenuo.estimators.sequence_model import SCHEMA, SequenceModel
from ingenuo.exact import Exact
from ingenuo.families.sequences import NGRAMS
from ingenuo.labels import Labels, find, labels_of, public
from ingenuo.real import Real
from ingenuo.schema import FAMILIES, Schema
from ingenuo.tally import Table, Tally

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Split = tuple[Places | None, Places]  # the rows to learn from (None: all the others), and those to answer for

_MOST = 64  # folds that are counted as pairs of a fold and a class
_TABLES = ("gaussian", "gaussian-unbiased", "multinomial", "complement", "bernoulli")  # families that count in tables


class Answered(NamedTuple):
    """What a model that has not learned some rows says of them."""

    rows: Places
    log_posterior: Floats  # rows × all the classes; -inf for a class that the training rows had not
    unseen: Labels  # such classes
    fit_time: float
    predict_time: float
    labels_only: bool = False  # whether the log posteriors only say which class was answered


class Part(Protocol):
    """Some rows that can be counted, and asked about."""

    def tally(self) -> tuple[Schema, Tally]:
        """What is learned from them."""

    def log_posterior(self, trained: Any) -> Floats:
        """What a model says of them."""


class Learnt(Protocol):
    """Rows that a model is to learn from, in parts."""

    @property
    def model(self) -> Any:
        """What is to learn them."""

    @property
    def schema(self) -> Schema:
        """What their columns are."""

    @property
    def classes(self) -> Labels:
        """The classes of all the rows."""

    @property
    def n_rows(self) -> int:
        """How many rows."""

    @property
    def divisible(self) -> bool:
        """Whether the tally of all is the sum of the parts'."""

    def parts(self, rows: Sequence[Places]) -> Sequence[Part]:
        """The rows at these places, part by part."""

    def by_fold(self, parts: Sequence[Part]) -> Tally | None:
        """The tally of these parts, with a class for each class of each; None where that is no short way."""

    def check(self, tally: Tally) -> None:
        """Raise where these sums of all rows are such as no model is fitted to."""


@dataclass(frozen=True)
class ChunkRows:
    """Rows that are a chunk."""

    model: Any
    schema: Schema
    chunk: Chunk

    @property
    def classes(self) -> Labels:
        """The classes of all the rows."""
        return self.chunk.classes

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.chunk.n_rows

    @property
    def divisible(self) -> bool:
        """Not where documents are of unit length by the frequencies of the rows that are learned."""
        return all(words.norm is None for words in self.schema.texts.values())

    def parts(self, rows: Sequence[Places]) -> Sequence[Part]:
        """Views of the rows, put in order once."""
        taken = self.chunk.take(np.concatenate(rows))
        ends = np.append(0, np.cumsum([len(part) for part in rows])).tolist()
        return [_ChunkPart(self.schema, taken.part(lo, hi), taken) for lo, hi in pairwise(ends)]

    def check(self, tally: Tally) -> None:
        """Raise where a column has no value in any row."""
        self.model._check_whole(self.schema, self.chunk.classes, tally)

    def by_fold(self, parts: Sequence[Part]) -> Tally | None:
        """The tally of fold and class, where all that is counted are tables."""
        if not all(FAMILIES[name] == "category" or name in _TABLES for name in self.schema.families_used()):
            return None
        first, K = parts[0], len(self.classes)
        assert isinstance(first, _ChunkPart)
        whole = first.whole
        sizes = [part.chunk.n_rows for part in parts if isinstance(part, _ChunkPart)]
        fold = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        pairs = fold * np.int32(K) + whole.coded
        return tally_chunk(replace(whole, labels=pairs, classes=np.arange(len(sizes) * K)))


@dataclass(frozen=True)
class _ChunkPart:
    schema: Schema
    chunk: Chunk
    whole: Chunk  # that it is a part of

    def tally(self) -> tuple[Schema, Tally]:
        schema, chunk = referenced(self.schema, self.chunk)
        return schema, tally_chunk(chunk)

    def log_posterior(self, trained: Any) -> Floats:
        found: Floats = trained._posterior(dict(self.chunk.blocks), self.chunk.n_rows, log=True)
        return found


@dataclass(frozen=True)
class TextRows:
    """Texts, for a model that reads them as sequences."""

    model: Any
    X: Any
    y: NDArray[Any]
    weights: Floats | None
    classes: Labels
    divisible = True

    @property
    def schema(self) -> Schema:
        """There are no columns."""
        return SCHEMA

    @property
    def n_rows(self) -> int:
        """How many texts."""
        return len(self.y)

    def parts(self, rows: Sequence[Places]) -> Sequence[Part]:
        """The texts."""
        return [_TextPart(self, part) for part in rows]

    def check(self, tally: Tally) -> None:
        """Raise where no text has a word."""
        if NGRAMS not in tally:
            raise InputError("the texts have no word; give one that has")

    def by_fold(self, parts: Sequence[Part]) -> Tally | None:
        """Texts are counted fold by fold."""
        return None


@dataclass(frozen=True)
class _TextPart:
    whole: TextRows
    rows: Places

    def tally(self) -> tuple[Schema, Tally]:
        whole = self.whole
        weights = None if whole.weights is None else whole.weights[self.rows]
        found = whole.model._tally_of(Given(take_rows(whole.X, self.rows), whole.y[self.rows], weights))
        return SCHEMA, found

    def log_posterior(self, trained: Any) -> Floats:
        found: Floats = trained._posterior(*trained._rows(take_rows(self.whole.X, self.rows)), log=True)
        return found


def learnt(model: TallyClassifier, X: Any, y: Any, sample_weight: Any) -> Learnt:
    """The rows as the model is to learn them; it notes their columns, and learns nothing."""
    model._check_settings()
    if isinstance(model, SequenceModel):
        codes, classes = inputs.labels(model, y, len(X))
        return TextRows(model, X, public(classes)[codes], inputs.weights(sample_weight, len(X)), classes)
    schema, chunk = model._whole(MemoryRows(X, y, sample_weight))
    return ChunkRows(model, schema, chunk)


def without(model: Any, schema: Schema, tally: Tally) -> Any:
    """The model as it would be with another tally; the one that is given stays as it is."""
    other = copy.copy(model)
    other.__dict__.pop("_declared_classes", None)
    other._set(schema, tally)
    return other


def out_of_fold(rows: Learnt, splits: Sequence[Split], base: Tally | None = None) -> Iterator[Answered]:
    """For each split, what the model would say of its test rows had it learned its training rows only.

    With `base`, a tally that the rows are part of, each model has learned all of it but the test rows.
    """
    for group in _groups(splits, rows.n_rows):
        if _is_partition(group, rows.n_rows) and rows.divisible:
            yield from _by_subtraction(rows, [test for _, test in group], base)
        else:
            assert base is None, "only folds that are all the rows can be taken from another tally"
            for train, test in group:
                began = time.perf_counter()
                schema, tally = rows.parts([train_rows(train, test, rows.n_rows)])[0].tally()
                spent = time.perf_counter() - began
                yield _answer(rows, schema, tally, rows.parts([test])[0], test, spent)


def _by_subtraction(rows: Learnt, tests: Sequence[Places], base: Tally | None) -> Iterator[Answered]:
    began = time.perf_counter()
    parts = rows.parts(tests)
    paired = rows.by_fold(parts) if base is None and len(tests) <= _MOST else None
    rests: Rests | PairedRests
    if paired is not None and all(isinstance(table, Table) for table in paired.values()):
        rests = PairedRests(paired, len(tests), rows.classes)
    else:
        rests = Rests([part.tally()[1] for part in parts], base)
    if base is None:
        rows.check(rests.whole())
    spent = (time.perf_counter() - began) / len(tests)
    for f, (part, test) in enumerate(zip(parts, tests)):
        began = time.perf_counter()
        rest = rests[f]
        yield _answer(rows, rows.schema, rest, part, test, spent + time.perf_counter() - began)


class PairedRests:
    """The same from one tally whose classes are pairs of a fold and a class: fold · classes + class."""

    def __init__(self, tally: Tally, folds: int, classes: Labels) -> None:
        self.classes = classes
        self._cells: dict[str, tuple[Table, NDArray[Any], Exact | None, int]] = {}
        pairs = np.arange(folds * len(classes))
        for name, table in tally.items():
            assert isinstance(table, Table)
            sums = table.over(pairs, *table.axes[1:])
            shape = (folds, len(classes), *sums.shape[1:])
            if isinstance(sums, Exact):
                cells = sums.limbs.reshape(len(sums.limbs), *shape)
                # Limbs are below 2^39 and folds few: no sum of them leaves the 63 bits.
                self._cells[name] = table, cells, Exact.canonical(cells.sum(axis=1), sums.low), sums.low
            else:
                self._cells[name] = table, sums.values.reshape(shape), None, 0

    def __getitem__(self, fold: int) -> Tally:
        tables = {}
        for name, (table, cells, total, low) in self._cells.items():
            if total is None:  # doubles: what was never added is not left over
                rest: Exact | Real = Real(np.delete(cells, fold, axis=0).sum(axis=0))
            else:
                rest = total - Exact(cells[:, fold], low)
            tables[name] = self._table(table, rest)
        return Tally(tables)

    def whole(self) -> Tally:
        """All the folds."""
        return Tally(
            {
                name: self._table(table, Real(cells.sum(axis=0)) if total is None else total)
                for name, (table, cells, total, _) in self._cells.items()
            }
        )

    def _table(self, table: Table, sums: Exact | Real) -> Table:
        return Table(table.names, (self.classes, *table.axes[1:]), sums, table.signed).trimmed()


class Rests:
    """What all the folds but one add up to."""

    def __init__(self, tallies: Sequence[Tally], base: Tally | None = None) -> None:
        parted = [_parted(tally) for tally in tallies]
        self._folds = [one for one, _ in parted]
        added = [other for _, other in parted]
        nothing = Tally()
        if base is None:
            self._total, above = _sum(self._folds), nothing
        else:
            # What the base has beside the folds; of histograms, at the resolution that it has now.
            self._total, above = _parted(base)
            above = above - _sum(added)
        self._before = list(accumulate(added, initial=above))
        self._behind = list(accumulate(reversed(added), initial=nothing))

    def __getitem__(self, fold: int) -> Tally:
        rest = self._total - self._folds[fold]
        return rest + self._before[fold] + self._behind[len(self._folds) - fold - 1]

    def whole(self) -> Tally:
        """All the folds, and what else the base has."""
        return self._total + self._before[-1]


def _sum(tallies: Sequence[Tally]) -> Tally:
    """The sum, in pairs: vocabularies that unite are then of about the same size."""
    found = list(tallies)
    while len(found) > 1:
        found = [found[i] + found[i + 1] if i + 1 < len(found) else found[i] for i in range(0, len(found), 2)]
    return found[0]


def _parted(tally: Tally) -> tuple[Tally, Tally]:
    """The tables that are subtracted, and those that are added up."""
    added = {name: table for name, table in tally.items() if isinstance(table, Bins)}
    return Tally({name: table for name, table in tally.items() if name not in added}), Tally(added)


def _answer(rows: Learnt, schema: Schema, tally: Tally, part: Part, test: Places, spent: float) -> Answered:
    began = time.perf_counter()
    if "class" not in tally:
        raise InputError(
            f"all the training rows of the fold that tests row {int(test[0])} have weight 0, so there is nothing to "
            "learn from; give weight to rows of other folds"
        )
    trained = without(rows.model, schema, tally)
    trained._parameters()
    fitted = time.perf_counter()
    posterior = over_classes(part.log_posterior(trained), labels_of(trained.classes_), rows.classes)
    answered = time.perf_counter()
    unseen = rows.classes[find(labels_of(trained.classes_), rows.classes) < 0]
    return Answered(test, posterior, unseen, spent + fitted - began, answered - fitted)


def over_classes(log_posterior: Floats, classes: Labels, wanted: Labels) -> Floats:
    """Log posteriors with a column for each of these classes; -inf where a class is not known."""
    places = find(classes, wanted)
    if len(places) == log_posterior.shape[1] and np.array_equal(places, np.arange(len(places))):
        return log_posterior
    found = np.full((len(log_posterior), len(wanted)), -np.inf)
    found[:, places >= 0] = log_posterior[:, places[places >= 0]]
    return found


def train_rows(train: Places | None, test: Places, n_rows: int) -> Places:
    """The rows to learn from."""
    return np.delete(np.arange(n_rows), test) if train is None else train


def _groups(splits: Sequence[Split], n_rows: int) -> Iterator[list[Split]]:
    """Splits that follow each other and share out all the rows, together; others by themselves."""
    waiting: list[Split] = []
    covered = np.zeros(n_rows, np.bool_)
    for split in splits:
        if covered[split[1]].any():
            yield waiting
            waiting, covered = [], np.zeros(n_rows, np.bool_)
        waiting.append(split)
        covered[split[1]] = True
        if covered.all():
            yield waiting
            waiting, covered = [], np.zeros(n_rows, np.bool_)
    if waiting:
        yield waiting


def _is_partition(group: Sequence[Split], n_rows: int) -> bool:
    """Whether the test rows are all the rows, each once, and the training rows all but the test rows."""
    if sum(len(test) for _, test in group) != n_rows or len(group) < 2:
        return False
    seen = np.zeros(n_rows, np.bool_)
    for train, test in group:
        if train is not None and len(train) + len(test) != n_rows:  # none of which is both
            return False
        if seen[test].any():
            return False
        seen[test] = True
    return bool(seen.all())
