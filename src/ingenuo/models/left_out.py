"""Answers for rows that a model has not learned, for every row that it has: tally without f = tally - tally of f.

f is one row, or a fold. Each row is counted once. A model that is tuned or calibrated finds its settings again from the
tally of each fold's training rows.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families import FAMILY, in_runs
from ingenuo.families.family import AllButOneFold, LearnedRows
from ingenuo.families.ngrams import NGRAMS
from ingenuo.kernels import densities
from ingenuo.kernels.threads import width
from ingenuo.models.class_prior import class_prior_of, share_classes
from ingenuo.models.classifier import Classifier, tally_chunk, with_document_frequencies
from ingenuo.models.folds import over_classes
from ingenuo.models.language import SCHEMA, SequenceModel
from ingenuo.models.model import CLASS
from ingenuo.rows import checks
from ingenuo.rows.part import Chunk
from ingenuo.rows.rows import MemoryRows, Part, take_rows
from ingenuo.rows.schema import Schema
from ingenuo.show.arithmetic import logs
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, labels_of, public
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Split = tuple[Places | None, Places]  # the rows to learn from (None: all the others), and those to answer for

_MOST = 64  # folds that are counted as pairs of a fold and a class


def leave_one_out(model: Any, schema: Schema, chunk: Chunk, tally: Tally, *, exact: bool = True) -> Floats:
    """The log posterior of each row by the tally without it, or, if not exact, perhaps without its fold of ten."""
    classes, wanted = tally.labels(CLASS, 0), chunk.classes
    refuse_alone(tally, chunk)
    # A class that the tally has not has rows of no weight only: leaving those out takes nothing from any class.
    places = np.maximum(find(classes, wanted), 0).astype(np.int32)
    rows = LearnedRows(schema, tally, replace(chunk, labels=places[chunk.coded], classes=classes), exact)
    joint = log_priors(model.class_prior, tally, classes, rows.chunk) + model._shifts(classes)
    for attribute in in_runs(model._attributes(schema)):
        if attribute.weight:
            joint += attribute.left_out(rows)
    odd = densities.posterior(joint, log=True)
    for row in odd.tolist():  # no class allows it: the one that does so least often wins, as in every answer
        single = rows.chunk.part(row, row + 1)
        trained = without(model, schema, tally - tally_chunk(single))
        joint[row] = over_classes(
            trained._posterior(dict(single.blocks), 1, log=True), labels_of(trained.classes_), classes
        )[0]
    return over_classes(joint, classes, wanted)


def refuse_alone(tally: Tally, chunk: Chunk) -> None:
    """Raise where one row is all that was learned."""
    rows = tally.over(CLASS, tally.labels(CLASS, 0))
    most = 1.0 if chunk.weights is None else float(chunk.weights.max())
    if (sum(rows.fractions()) if isinstance(rows, Exact) else rows.floats().sum()) <= Fraction(most):
        raise InputError(
            "1 sample has all the weight, and with that row left out there is nothing to learn from; give two rows at "
            "least"
        )


def log_priors(given: Any, tally: Tally, classes: Labels, chunk: Chunk) -> Floats:
    """The log prior of each class without the row; -inf for a class that has no other row."""
    given, sums = class_prior_of(given), tally.over(CLASS, classes)
    exact, rows = (sums.fractions() if isinstance(sums, Exact) else None), sums.floats()
    weights = np.ones(1) if chunk.weights is None else np.unique(chunk.weights)
    at = 0 if chunk.weights is None else np.searchsorted(weights, chunk.weights)
    left = np.empty((len(weights), len(classes)))  # of each class, without a row of such a weight
    for place, weight in enumerate(weights.tolist()):
        taken = rows - weight if exact is None else [float(n - Fraction(weight)) for n in exact]
        left[place] = np.maximum(taken, 0.0)
    found = np.empty((len(weights), len(classes), len(classes)))
    whole = share_classes(given, rows, classes)[0]
    pseudo = given.pseudo_counts(classes) if isinstance(given, Prior) else None
    for k in range(len(classes)):
        many = np.repeat(rows[np.newaxis], len(weights), axis=0)
        many[:, k] = left[:, k]
        if pseudo is None:
            found[:, k] = logs(whole)
        else:
            found[:, k] = logs((many + pseudo) / (many + pseudo).sum(axis=1, keepdims=True))
        for place in np.flatnonzero(left[:, k] <= 0).tolist():  # the class is gone, and the others share its prior
            there = np.arange(len(classes)) != k
            found[place, k] = -np.inf
            if there.any():
                found[place, k, there] = logs(share_classes(given, rows[there], classes[there])[0])
    return np.asarray(found[at, chunk.coded])


def without(model: Any, schema: Schema, tally: Tally) -> Any:
    """The model as it would be with another tally; the one that is given stays as it is."""
    other = copy.copy(model)
    other.__dict__.pop("_declared_classes", None)
    other._set_tally(schema, tally)
    return other


class Answered(NamedTuple):
    """What a model that has not learned some rows says of them."""

    rows: Places
    log_posterior: Floats  # rows × all the classes; -inf for a class that the training rows had not; of numbers, these
    unseen: Labels  # such classes
    fit_time: float
    predict_time: float
    labels_only: bool = False  # whether the log posteriors only say which class was answered


@dataclass(frozen=True)
class ChunkRows:
    """Rows that a model is to learn from, encoded."""

    model: Any
    schema: Schema
    chunk: Chunk

    @property
    def classes(self) -> Labels:
        """The classes of all the rows."""
        return self.chunk.classes

    @property
    def weights(self) -> Floats | None:
        """How often each row counts."""
        return self.chunk.weights

    def __len__(self) -> int:
        return self.chunk.n_rows

    @property
    def divisible(self) -> bool:
        """Not where documents are of unit length by the frequencies of the rows that are learned."""
        return all(words.norm is None for words in self.schema.texts.values())

    def take(self, places: Places) -> Any:
        """Some rows."""
        return self.chunk.take(places)

    def count(self, tests: Sequence[Places]) -> tuple[list[Any], list[Tally]]:
        """The rows of each test, and their tallies; of tables, by one pass over pairs of a test and a class."""
        taken, sizes, K = self.chunk.take(np.concatenate(tests)), [len(test) for test in tests], len(self.classes)
        parts = [taken.part(lo, hi) for lo, hi in pairwise(np.append(0, np.cumsum(sizes)).tolist())]
        if len(tests) > _MOST or not all(FAMILY[name].in_tables for name in self.schema.families_used()):
            return parts, [tally_chunk(part) for part in parts]
        codes = np.repeat(np.arange(len(tests), dtype=np.int32), sizes) * np.int32(K) + taken.coded
        pairs = np.arange(len(tests) * K)
        found: list[dict[str, Any]] = [{} for _ in tests]
        for name, table in tally_chunk(replace(taken, labels=codes, classes=pairs)).items():
            assert isinstance(table, Table)
            sums = table.over(pairs, *table.axes[1:])
            for f, own in enumerate(found):
                cells = sums.pick(0, np.arange(f * K, f * K + K))
                own[name] = Table(table.names, (self.classes, *table.axes[1:]), cells, table.signed)
        return parts, [Tally(own) for own in found]

    def recount(self, places: Places) -> Tally:
        """The histograms of all rows but these."""
        others = np.delete(np.arange(len(self)), places)
        blocks = {name: block for name, block in self.chunk.blocks.items() if FAMILY[name].in_bins}
        return tally_chunk(replace(self.chunk, blocks=blocks).take(others)) if len(others) else Tally()

    def check(self, tally: Tally) -> None:
        """Raise where these sums of all rows are such as no model is fitted to."""
        self.model._check_whole(self.schema, self.chunk.classes, tally)

    def train(self, places: Places, tally: Tally | None = None) -> Any:
        """The model that has learned the rows at these places, whose tally may be known."""
        if tally is not None and self.model._is_additive:
            return without(self.model, self.schema, tally)
        schema, chunk = with_document_frequencies(self.schema, self.chunk.take(places))
        trained = without(self.model, schema, tally_chunk(chunk) if tally is None else tally)
        if not self.model._is_additive:
            trained._tune_and_calibrate(chunk)
        return trained

    def answer(self, trained: Any, part: Chunk) -> Floats:
        """What a model says of some rows."""
        found: Floats = trained._posterior(dict(part.blocks), part.n_rows, log=True)
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

    def __len__(self) -> int:
        return len(self.y)

    def take(self, places: Places) -> Any:
        """Some of the texts."""
        weights = None if self.weights is None else self.weights[places]
        return Part(take_rows(self.X, places), self.y[places], weights)

    def count(self, tests: Sequence[Places]) -> tuple[list[Any], list[Tally]]:
        """The texts of each test, and their tallies."""
        parts = [self.take(test) for test in tests]
        return parts, [self.model._tally_of(part) for part in parts]

    def recount(self, places: Places) -> Tally:
        """There are no histograms."""
        return Tally()

    def check(self, tally: Tally) -> None:
        """Raise where no text has a word."""
        if NGRAMS not in tally:
            raise InputError("the texts have no word; give one that has")

    def train(self, places: Places, tally: Tally | None = None) -> Any:
        """The model that has learned the texts at these places."""
        return without(self.model, SCHEMA, self.model._tally_of(self.take(places)) if tally is None else tally)

    def answer(self, trained: Any, part: Part) -> Floats:
        """What a model says of some texts."""
        found: Floats = trained._posterior(*trained._rows(part.X), log=True)
        return found


def learnable(model: Classifier, X: Any, y: Any, sample_weight: Any) -> ChunkRows | TextRows:
    """The rows as the model is to learn them; it notes their columns, and learns nothing."""
    model._check_settings()
    if isinstance(model, SequenceModel):
        codes, classes = checks.labels(model, y, len(X))
        return TextRows(model, X, public(classes)[codes], checks.weights(sample_weight, len(X)), classes)
    schema, chunk = model._encode_all(MemoryRows(X, y, sample_weight))
    return ChunkRows(model, schema, chunk)


def out_of_fold(rows: ChunkRows | TextRows, splits: Sequence[Split]) -> Iterator[Answered]:
    """For each split, what the model would say of its test rows had it learned its training rows only."""
    for group, shared_out in _groups(splits, len(rows)):
        yield from _answer(rows, group, shared_out and rows.divisible)


def _answer(rows: ChunkRows | TextRows, group: Sequence[Split], shared_out: bool) -> Iterator[Answered]:
    """The answers of splits that share out all the rows by subtraction, of others by counting their training rows."""
    began = time.perf_counter()
    parts: list[Any] = []
    if shared_out:
        parts, tallies = rows.count([test for _, test in group])
        total = _sum(tallies)
        rows.check(total)
        rests = AllButOneFold(total, rows.recount)
    spent = (time.perf_counter() - began) / len(group)

    def one(f: int) -> Answered:
        began = time.perf_counter()
        train, test = train_rows(group[f][0], group[f][1], len(rows)), group[f][1]
        if rows.weights is not None and not rows.weights[train].any():
            raise InputError(
                f"all the training rows of the fold that tests row {int(test[0])} have weight 0, so there is nothing "
                "to learn from; give weight to rows of other folds"
            )
        trained = rows.train(train, rests.without(tallies[f], test) if parts else None)
        trained._parameters()
        fitted = time.perf_counter()
        found = rows.answer(trained, parts[f] if parts else rows.take(test))
        known = labels_of(trained.classes_)
        posterior, unseen = over_classes(found, known, rows.classes), rows.classes[find(known, rows.classes) < 0]
        return Answered(test, posterior, unseen, spent + fitted - began, time.perf_counter() - fitted)

    if rows.model._is_additive:
        yield from map(one, range(len(group)))
        return
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    yield from Parallel(n_jobs=width(), prefer="threads", return_as="generator")(
        delayed(one)(f) for f in range(len(group))
    )


def _sum(tallies: Sequence[Tally]) -> Tally:
    """The sum, in pairs: vocabularies that unite are then of about the same size."""
    found = list(tallies)
    while len(found) > 1:
        found = [found[i] + found[i + 1] if i + 1 < len(found) else found[i] for i in range(0, len(found), 2)]
    return found[0]


def train_rows(train: Places | None, test: Places, n_rows: int) -> Places:
    """The rows to learn from."""
    return np.delete(np.arange(n_rows), test) if train is None else train


def _groups(splits: Sequence[Split], n_rows: int) -> Iterator[tuple[list[Split], bool]]:
    """Splits that follow each other; and whether they share out all the rows, each learning what it does not test."""
    waiting: list[Split] = []
    covered = np.zeros(n_rows, np.bool_)
    for split in splits:
        if covered[split[1]].any():
            yield waiting, False
            waiting, covered = [], np.zeros(n_rows, np.bool_)
        waiting.append(split)
        covered[split[1]] = True
        if covered.all():
            once = sum(len(test) for _, test in waiting) == n_rows and len(waiting) > 1
            yield waiting, once and all(train is None or len(train) + len(test) == n_rows for train, test in waiting)
            waiting, covered = [], np.zeros(n_rows, np.bool_)
    if waiting:
        yield waiting, False
