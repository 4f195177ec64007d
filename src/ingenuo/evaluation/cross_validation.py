"""Cross-validation: every row is answered for by a model that has not learned it.

A model that is a function of a tally needs no refitting for that: the tally without a fold is the total less the fold,
and without a row the total less the row. Its answers are those of a model refitted, to the last digits. Other models
are refitted, on all processors.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError, did_you_mean
from ingenuo.evaluation.evaluation import Evaluation
from ingenuo.evaluation.intervals import check_share
from ingenuo.evaluation.predictions import Predictions
from ingenuo.kernels.threads import width
from ingenuo.models.classifier import Classifier, tally_chunk
from ingenuo.models.left_out import (
    Answered,
    ChunkRows,
    Split,
    learnable,
    leave_one_out,
    out_of_fold,
    over_classes,
    train_rows,
)
from ingenuo.models.model import clone, is_classifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows import checks
from ingenuo.rows.checks import check_whole
from ingenuo.rows.rows import rows_of, take_rows
from ingenuo.show.format import Counter
from ingenuo.tally.labels import Labels, encode, find, labels_of, objects, public

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

LEAVE_ONE_OUT = "leave-one-out"


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """What models said of rows they had not learned; prints as what `evaluate` says of it."""

    classes: NDArray[Any]  # sorted
    y: NDArray[Any]  # what is true of each row
    probabilities: Floats | None  # the mean where a row was tested more than once, NaN where it never was
    predicted: NDArray[Any]  # the answers (of rows that were never tested, the first class)
    test: Sequence[NDArray[np.intp]]  # the test rows of each fold
    exact: bool  # whether nothing was refitted: each model is the total less its fold
    fit_time: float  # seconds, over all folds
    predict_time: float
    remarks: tuple[str, ...] = ()  # what should be known about the folds
    confidence: float = 0.95
    random_state: int = 0
    _codes: tuple[Any, ...] = field(default=(), repr=False)

    def _of(self, rows: NDArray[np.intp]) -> Evaluation:
        """The evaluation of some rows."""
        codes, predicted, weights, _ = self._codes
        probabilities, weights = (None if each is None else each[rows] for each in (self.probabilities, weights))
        found = Predictions(labels_of(self.classes), codes[rows], predicted[rows], probabilities, weights)
        return Evaluation(found, self.confidence, self.random_state)

    @cached_property
    def evaluation(self) -> Evaluation:
        """All that `evaluate` says of the out-of-fold answers."""
        return self._of(self._codes[-1])

    def by_fold(self, measure: str = "accuracy") -> Floats:
        """A measure of `evaluate`, such as "log_loss" or "f1_macro", of each fold by itself, as `corrected_t` takes."""
        return np.array([float(self._of(test)[measure]) for test in self.test])

    def _said(self) -> list[str]:
        n, folds = len(self.y), len(self.test)
        ways = "leaving each row out" if folds == n else f"{folds} folds"
        how = "exactly, by subtraction from one tally" if self.exact else "by refitting for each fold"
        return [f"Out of fold: {n:,} rows, {ways}, {how}.", *self.remarks]

    def __str__(self) -> str:
        return "\n".join([*self._said(), str(self.evaluation)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        said = "".join(f"<p>{html.escape(line)}</p>" for line in self._said())
        return f"<div>{said}{self.evaluation._repr_html_()}</div>"


def cross_validate(
    model: Any,
    X: Any,
    y: Any = None,
    folds: Any = 10,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
    verbose: bool | None = None,
) -> CrossValidation:
    """Answer for every row by a model that has not learned it, and judge the answers.

    Parameters
    ----------
    model : classifier
        It is not changed. A model with a tally is exact and counts each row once; with `tune` or `calibration` its
        settings are found again in each fold. Any other classifier is refitted for each fold, on all processors.
    X : array, sparse matrix, list of texts, or pandas, polars or Arrow table
        The rows.
    y : array-like, or the name of a column of X
        The class of each row.
    folds : int, "leave-one-out", splitter or list
        So many folds, stratified and shuffled by `random_state`; each row by itself; a splitter of scikit-learn's; or
        pairs of training and test rows.
    groups : array-like, or the name of a column of X, optional
        Rows of one group are never parted between training and test.
    sample_weight : array-like, optional
        How often each row counts, in learning and in judging.
    confidence : float
        Of the intervals of the evaluation.
    random_state : int
        Seed for the shuffling, and for the bootstrap of the intervals.
    verbose : bool, optional
        Whether to say on stderr how far it is; by default in a terminal, once it takes long.

    Examples
    --------
    >>> from ingenuo import NaiveBayes
    >>> X = [["sun"], ["sun"], ["rain"], ["rain"], ["rain"], ["sun"]]
    >>> y = ["out", "out", "in", "in", "out", "out"]
    >>> found = cross_validate(NaiveBayes(), X, y, folds="leave-one-out")
    >>> found.predicted.tolist()
    ['out', 'out', 'out', 'out', 'in', 'out']
    >>> found.evaluation["accuracy"].value
    0.5
    """
    _check_model(model)
    check_share("confidence", confidence)
    if groups is None and _is_leave_one_out(folds):
        folds = LEAVE_ONE_OUT
    here = rows_of(X, y, sample_weight).in_memory("judge the model by rows that it has not learned: evaluate")
    X, y, sample_weight = here.X, here.y, here.weights
    if isinstance(groups, str):
        X, groups = checks.target_column(X, groups)
    codes, classes = checks.labels(model, y, checks.count_rows(X))
    n_rows = len(codes)
    weights = checks.weights(sample_weight, n_rows)
    splits, remarks = splits_of(folds, codes, classes, groups, random_state)
    exact = isinstance(model, Classifier) and (model._is_additive or isinstance(model, NaiveBayes))
    answers: Iterator[Answered]
    if exact:
        rows = learnable(clone(model), X, checks.Coded(codes, classes), sample_weight)
        quick = isinstance(folds, str) and isinstance(model, NaiveBayes) and model._is_additive and rows.divisible
        answers = _left_out(rows) if quick and isinstance(rows, ChunkRows) else out_of_fold(rows, splits)
    else:
        answers = _anew(model, X, public(classes)[codes], weights, splits, classes)
    collected = _Collected(n_rows, classes, len(splits))
    with Counter("fold", len(splits), verbose) as progress:
        for answer in answers:
            collected.add(answer)
            progress.step(len(answer.rows) if isinstance(folds, str) else 1)
    probabilities, predicted = collected.means()
    tested = collected.times > 0
    remarks += collected.remarks()
    return CrossValidation(
        public(classes), public(classes)[codes], probabilities, public(classes)[predicted],
        [test for _, test in splits], exact, collected.fit_time, collected.predict_time, tuple(remarks), confidence,
        random_state, (codes, predicted, weights, np.flatnonzero(tested)),
    )  # fmt: skip


class _Collected:
    """The answers for each row, added up."""

    def __init__(self, n_rows: int, classes: Labels, folds: int) -> None:
        self.classes, self.folds = classes, folds
        self.sums, self.votes = np.zeros((n_rows, len(classes))), False
        self.times = np.zeros(n_rows, np.int64)
        self.fit_time = self.predict_time = 0.0
        self.unseen: dict[Any, int] = {}

    def add(self, answer: Answered) -> None:
        """Those of one fold; a classifier that gives labels only votes."""
        self.sums[answer.rows] += np.exp(answer.log_posterior)
        self.times[answer.rows] += 1
        self.votes = self.votes or answer.labels_only
        self.fit_time += answer.fit_time
        self.predict_time += answer.predict_time
        for label in answer.unseen.tolist():
            self.unseen[label] = self.unseen.get(label, 0) + 1

    def means(self) -> tuple[Floats | None, NDArray[np.int32]]:
        """The mean probabilities of each row (None for votes), and the places of the answers."""
        with np.errstate(invalid="ignore"):
            means = self.sums / self.times[:, np.newaxis]
        predicted = np.nan_to_num(means).argmax(axis=1).astype(np.int32)
        return (None if self.votes else means), predicted

    def remarks(self) -> list[str]:
        """What should be known about which rows were tested how often, and of classes that were not learned."""
        said = []
        never = int((self.times == 0).sum())
        if never:
            rows = f"{never:,} of {len(self.times):,} rows {'was' if never == 1 else 'were'}"
            said.append(f"{rows} never tested, and {'is' if never == 1 else 'are'} not judged.")
        most = int(self.times.max())
        if most > 1:
            said.append(f"Rows were tested up to {most} times; each is judged by the mean of its answers.")
        for label, folds in list(self.unseen.items())[:5]:
            if len(self.times) != self.folds:  # of rows left out one by one it was said before
                said.append(
                    f"The training rows of {folds} of {self.folds} folds have no row of class {label!r}, so it has "
                    "probability 0 there, which the log loss takes for 2.2e-16; stratified folds (an integer) avoid "
                    "that."
                )
        for sentence in said[1 if never else 0 :]:
            if sentence.startswith("The training rows"):
                warnings.warn(sentence, stacklevel=3)
        return said


def _left_out(rows: ChunkRows) -> Iterator[Answered]:
    """Every row by the tally without it, at once."""
    began = time.perf_counter()
    tally = tally_chunk(rows.chunk)
    rows.check(tally)
    counted = time.perf_counter()
    logs = leave_one_out(rows.model, rows.schema, rows.chunk, tally)
    every = np.arange(rows.n_rows)
    yield Answered(every, logs, rows.classes[:0], counted - began, time.perf_counter() - counted)


def _anew(
    model: Any, X: Any, y: NDArray[Any], weights: Floats | None, splits: Sequence[Split], classes: Labels
) -> Iterator[Answered]:
    """Each fold by a model of its own, on all processors."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    def one(train: NDArray[np.intp] | None, test: NDArray[np.intp]) -> Answered:
        began = time.perf_counter()
        train = train_rows(train, test, len(y))
        given = {} if weights is None else {"sample_weight": weights[train]}
        try:
            fitted = clone(model).fit(take_rows(X, train), y[train], **given)
        except (TypeError, ValueError) as error:
            if isinstance(error, IngenuoError):
                raise
            raise InputError(f"{type(model).__name__} cannot be fitted to these rows: {error}") from error
        middle = time.perf_counter()
        asked = take_rows(X, test)
        known = labels_of(fitted.classes_)
        labels_only = not hasattr(fitted, "predict_proba")
        if hasattr(fitted, "predict_log_proba") and not labels_only:
            with np.errstate(divide="ignore"):
                logs = np.asarray(fitted.predict_log_proba(asked), np.float64)
        elif not labels_only:
            with np.errstate(divide="ignore"):
                logs = np.log(np.asarray(fitted.predict_proba(asked), np.float64))
        else:
            answers = np.asarray(fitted.predict(asked))
            logs = np.where(answers[:, np.newaxis] == np.asarray(fitted.classes_)[np.newaxis], 0.0, -np.inf)
        done = time.perf_counter()
        unseen = classes[find(known, classes) < 0]
        order = np.argsort(find(known, objects(np.asarray(fitted.classes_).tolist())))  # to the sorted classes
        logs = over_classes(logs[:, order], known, classes)
        return Answered(test, logs, unseen, middle - began, done - middle, labels_only)

    yield from Parallel(n_jobs=width(), prefer="threads", return_as="generator")(
        delayed(one)(train, test) for train, test in splits
    )


def _is_leave_one_out(folds: Any) -> bool:
    if not type(folds).__module__.startswith("sklearn."):
        return False
    from sklearn.model_selection import LeaveOneOut

    return isinstance(folds, LeaveOneOut)


def _check_model(model: Any) -> None:
    if isinstance(model, type):
        raise KindError(f"a classifier was expected, got the class {model.__name__}; give {model.__name__}()")
    if not hasattr(model, "fit") or not hasattr(model, "predict"):
        raise KindError(f"a classifier was expected, with fit and predict, got {type(model).__name__} {model!r}")
    if not is_classifier(model):
        raise KindError(f"{type(model).__name__} is no classifier, and only classifiers are cross-validated here")


# Which rows are learned from and which are answered for, fold by fold.


def splits_of(
    folds: Any, codes: NDArray[np.int32], classes: Labels, groups: Any, random_state: int
) -> tuple[list[Split], list[str]]:
    """The training and the test rows of each fold, and what should be said of them.

    >>> splits, _ = splits_of(2, np.array([0, 0, 1, 1], np.int32), np.array([0, 1]), None, 0)
    >>> [sorted(test.tolist()) for _, test in splits]
    [[1, 2], [0, 3]]
    """
    n_rows = len(codes)
    if n_rows == 0:
        raise InputError("Found array with 0 sample(s): there are no rows to learn from; give two at least")
    if n_rows < 2:
        raise InputError("there is one row only, which cannot be both learned from and answered for; give two at least")
    check_whole("random_state", random_state, 0)
    grouped = None if groups is None else _groups(groups, n_rows)
    if isinstance(folds, str):
        if folds != LEAVE_ONE_OUT:
            raise InputError(f"folds={folds!r} is not known{did_you_mean(folds, [LEAVE_ONE_OUT])}")
        if grouped is not None:
            raise InputError(
                "groups are not parted, and leaving one row out would part them; take "
                "folds=sklearn.model_selection.LeaveOneGroupOut(), or leave groups out"
            )
        every = np.arange(n_rows)
        return [(None, row) for row in every[:, np.newaxis]], _lone_classes(codes, classes)
    if isinstance(folds, bool | float) or folds is None:
        raise KindError(
            f"folds must be a whole number, {LEAVE_ONE_OUT!r}, a splitter or a list of pairs, got {folds!r}"
        )
    if isinstance(folds, int | np.integer):
        return _stratified(int(folds), codes, classes, grouped, random_state), []
    if hasattr(folds, "split"):
        try:
            with checks.ours():
                given = list(folds.split(np.zeros((n_rows, 1)), codes, grouped))
        except InputError as error:
            raise InputError(f"{type(folds).__name__} cannot split these rows: {error}") from None
    elif isinstance(folds, Iterable):
        given = list(folds)
    else:
        raise KindError(
            f"folds must be a whole number, {LEAVE_ONE_OUT!r}, a splitter or a list of pairs, got "
            f"{type(folds).__name__} {folds!r}"
        )
    return _checked(given, n_rows), []


def _stratified(
    folds: int, codes: NDArray[np.int32], classes: Labels, groups: NDArray[Any] | None, random_state: int
) -> list[Split]:
    if folds < 2:
        raise InputError(
            f"folds={folds} leaves nothing to learn from for the rows that are tested; take 2 at least, usually 10"
        )
    counts = np.bincount(codes, minlength=len(classes))
    rarest = int(counts.argmin())
    if counts[rarest] < folds:
        few = int(counts[rarest])
        instead = (
            f"take folds={few} at most, folds={LEAVE_ONE_OUT!r}, " if few > 1 else f"take folds={LEAVE_ONE_OUT!r}, "
        )
        raise InputError(
            f"class {classes.tolist()[rarest]!r} has {few} row{'s' if few > 1 else ''}, fewer than the {folds} folds, "
            f"so a fold would have none of it; {instead}give more rows of it, leave it out, or pass a splitter such as "
            "sklearn.model_selection.KFold"
        )
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    splitter: Any = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    if groups is not None:
        distinct = len(np.unique(groups))
        if distinct < folds:
            raise InputError(f"{distinct} groups cannot be parted into {folds} folds; take {distinct} at most")
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=random_state)
    with checks.ours():
        return [(None, test) for _, test in splitter.split(np.zeros((len(codes), 1)), codes, groups)]


def _groups(groups: Any, n_rows: int) -> NDArray[Any]:
    found = encode(groups if isinstance(groups, np.ndarray) else np.array([*groups, None], object)[:-1])[0]
    if len(found) != n_rows:
        raise InputError(f"there are {len(found)} groups for {n_rows} rows; give one for each row")
    if len(found) and int(found.min()) < 0:
        raise InputError(f"row {int(np.argmin(found))} has no group; give one for each row")
    return found


def _checked(given: list[Any], n_rows: int) -> list[Split]:
    """Pairs of places that are rows, none of which is both learned from and tested."""
    if not given:
        raise InputError("there are no folds; give pairs of training and test rows")
    splits: list[Split] = []
    for f, pair in enumerate(given):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise KindError(f"fold {f} must be a pair of training and test rows, got {type(pair).__name__}")
        train, test = (_places(each, n_rows, f, name) for each, name in zip(pair, ("training", "test")))
        learned = np.zeros(n_rows, np.bool_)
        learned[train] = True
        if learned[test].any():
            both = int(test[learned[test]][0])
            raise InputError(f"row {both} is both learned from and tested in fold {f}; keep them apart")
        splits.append((train, test))
    return splits


def _places(given: Any, n_rows: int, fold: int, name: str) -> Places:
    array = np.asarray(given)
    if array.dtype == np.bool_ and array.shape == (n_rows,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise KindError(f"the {name} rows of fold {fold} must be a list of places, got {array.dtype}")
    if not array.size:
        raise InputError(f"fold {fold} has no {name} rows; give one at least")
    outside = (array < 0) | (array >= n_rows)
    if outside.any():
        raise InputError(f"fold {fold} names row {int(array[outside][0])} of {n_rows}; rows count from 0")
    named = np.zeros(n_rows, np.bool_)
    named[array] = True
    found = np.flatnonzero(named)
    if len(found) != len(array):
        raise InputError(f"fold {fold} names one of its {name} rows twice; name each once")
    return found


def _lone_classes(codes: NDArray[np.int32], classes: Labels) -> list[str]:
    counts = np.bincount(codes, minlength=len(classes))
    lone = [repr(label) for label in classes[counts == 1].tolist()]
    if not lone:
        return []
    shown = ", ".join(lone[:5]) + (f" and {len(lone) - 5} more" if len(lone) > 5 else "")
    one = len(lone) == 1
    return [
        f"{'Class' if one else 'Classes'} {shown} {'has' if one else 'have'} one row only, which is answered for by a "
        "model that has never seen that class: its probability is 0, which the log loss takes for 2.2e-16."
    ]
