"""Cross-validation: every row is answered for by a model that has not learned it.

A model that is a function of a tally needs no refitting for that: the tally without a fold is the total less the fold,
and without a row the total less the row. Its answers are those of a model refitted, to the last digits. Other models
are refitted, on all processors.
"""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError, did_you_mean
from ingenuo.evaluation.evaluation import Evaluation
from ingenuo.evaluation.intervals import check_share
from ingenuo.evaluation.numbers import NumbersEvaluation, ask
from ingenuo.evaluation.predictions import Predictions, list_names, predictions_of
from ingenuo.kernels.threads import width
from ingenuo.models import left_out
from ingenuo.models.classifier import Classifier, tally_chunk
from ingenuo.models.left_out import Answered, ChunkRows, Split
from ingenuo.models.model import NO_LABELS, clone, is_classifier, is_regressor
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows import checks
from ingenuo.rows.checks import check_whole
from ingenuo.rows.rows import rows_of, take_rows
from ingenuo.show import format as show
from ingenuo.show.table import Block, Shown
from ingenuo.tally.labels import Labels, encode, find, labels_of, objects, public

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Places = NDArray[np.intp]

LEAVE_ONE_OUT = "leave-one-out"


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Shown):
    """What models answered to rows they had not learned; prints as what `evaluate` finds of it.

    >>> import ingenuo as ing, ingenuo.datasets
    >>> found = ing.cross_validate(ing.NaiveBayes(), ingenuo.datasets.play_tennis(), "Play", folds="leave-one-out")
    >>> found.exact, found.probabilities.shape
    (True, (14, 2))
    """

    classes: NDArray[Any]  # sorted; none where the answers are numbers
    y: NDArray[Any]  # what is true of each row
    probabilities: Floats | None  # the mean where a row was tested more than once, NaN where it never was
    predicted: NDArray[Any]  # the answers (of rows that were never tested, the first class, or NaN)
    test: Sequence[Places]  # the test rows of each fold
    exact: bool  # whether nothing was refitted: each model is the total less its fold
    fit_time: float  # seconds that passed; of folds side by side, their share of it
    predict_time: float
    remarks: tuple[str, ...]  # what should be known about the folds
    _judged: Any  # what `evaluate` finds of all rows, in their order

    @cached_property
    def evaluation(self) -> Any:
        """All that `evaluate` finds of the out-of-fold answers."""
        return self._judged.take(np.unique(np.concatenate(self.test)))

    def by_fold(self, measure: str | None = None) -> Floats:
        """A measure of `evaluate`, such as "log_loss", of each fold by itself, as `corrected_t` takes.

        By default it is the accuracy, or R² where the answers are numbers.
        """
        name = next(iter(self.evaluation)) if measure is None else measure
        return np.array([float(self._judged.take(test)[name]) for test in self.test])

    @property
    def summary(self) -> str:
        """How many rows, which folds, and whether models were refitted."""
        n, folds = len(self.y), len(self.test)
        ways = "leaving each row out" if folds == n else f"{folds} folds"
        how = "exactly, by subtraction from one tally" if self.exact else "by refitting for each fold"
        return f"Out of fold: {n:,} rows, {ways}, {how}."

    def _blocks(self) -> Sequence[str | Block]:
        return [self.summary, *self.remarks, *self.evaluation._blocks()]


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
    model : classifier or regressor
        It is not changed. A classifier with a tally is exact and counts each row once; with `tune` or `calibration` its
        settings are found again in each fold. Any other model is refitted for each fold, on all processors: a
        regressor's bins and margins are those of the rows that it learns.
    X, y : array, sparse matrix, list of texts, or table; array-like, or the name of a column of X
        The rows, and the class, or the number, of each.
    folds : int, "leave-one-out", splitter or list
        So many folds, stratified by the classes and shuffled by `random_state`; each row by itself; a splitter of
        scikit-learn's; or pairs of training and test rows.
    groups : array-like, or the name of a column of X, optional
        Rows of one group are never parted between training and test.
    sample_weight : array-like, optional
        How often each row counts, in learning and in judging.
    confidence, random_state : float, int
        Of the intervals; seed for the shuffling, and for the bootstrap.
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
    if isinstance(model, type):
        raise KindError(f"a classifier was expected, got the class {model.__name__}; give {model.__name__}()")
    if not hasattr(model, "fit") or not hasattr(model, "predict"):
        raise KindError(f"a classifier was expected, with fit and predict, got {type(model).__name__} {model!r}")
    numbers = is_regressor(model)
    if not numbers and not is_classifier(model):
        raise KindError(
            f"{type(model).__name__} is neither a classifier nor a regressor, which are cross-validated here"
        )
    check_share("confidence", confidence)
    if groups is None and type(folds).__module__.startswith("sklearn.") and type(folds).__name__ == "LeaveOneOut":
        folds = LEAVE_ONE_OUT
    here = rows_of(X, y, sample_weight).in_memory("judge the model by rows that it has not learned: evaluate")
    X, y, sample_weight = here.X, here.y, here.weights
    if isinstance(groups, str):
        X, groups = checks.target_column(X, groups)
    n_rows = checks.count_rows(X)
    if numbers:  # which are one class, where folds are drawn
        y, codes, classes = checks.targets(model, y), np.zeros(n_rows, np.int32), np.zeros(1, np.int64)
        if len(y) != n_rows:
            raise InputError(f"X has {n_rows} rows and y has {len(y)}; give one target for each row")
    else:
        codes, classes = checks.labels(model, y, n_rows)
    weights = checks.weights(sample_weight, n_rows)
    splits, remarks = splits_of(folds, codes, classes, groups, random_state)
    exact = not numbers and isinstance(model, Classifier) and (model._is_additive or isinstance(model, NaiveBayes))
    if numbers:
        answers = _refit(splits, partial(_answer_numbers, model, X, y, weights))
    elif exact:
        answers = _subtract(model, X, checks.Coded(codes, classes), weights, splits)
    else:
        answers = _refit(splits, partial(_answer_classes, model, X, checks.Coded(codes, classes), weights))
    sums, times = np.zeros((n_rows, 3 if numbers else len(classes))), np.zeros(n_rows, np.int64)
    taken, labels_only, unseen, began = [0.0, 0.0], False, Counter[Any](), time.perf_counter()
    with show.Counter("fold", len(splits), verbose) as progress, _noted_once(len(splits)):
        for answer in answers:
            # A classifier that gives labels only votes; of numbers there are the answer and the ends of its interval.
            sums[answer.rows] += answer.log_posterior if numbers else np.exp(answer.log_posterior)
            times[answer.rows] += 1
            taken = [taken[0] + answer.fit_time, taken[1] + answer.predict_time]
            labels_only |= answer.labels_only
            unseen.update(answer.unseen.tolist())
            progress.step(len(answer.rows) if isinstance(folds, str) else 1)
    side_by_side = min(1.0, (time.perf_counter() - began) / max(sum(taken), 1e-12))
    with np.errstate(invalid="ignore"):
        means = sums / times[:, np.newaxis]
    remarks += _describe_folds(times, Counter() if isinstance(folds, str) else unseen, len(splits))
    judged: Evaluation | NumbersEvaluation
    if numbers:
        known, truth, probabilities, predicted = classes[:0], y, None, means[:, 0]
        judged = NumbersEvaluation(y, predicted, None if labels_only else means[:, 1:], weights, confidence)
    else:
        chosen = np.nan_to_num(means).argmax(axis=1).astype(np.int32)
        known, probabilities = public(classes), None if labels_only else means
        truth, predicted = known[codes], known[chosen]
        judged = Evaluation(Predictions(classes, codes, chosen, probabilities, weights), confidence, random_state)
    return CrossValidation(
        known, truth, probabilities, predicted, [test for _, test in splits], exact,
        taken[0] * side_by_side, taken[1] * side_by_side, tuple(remarks), judged,
    )  # fmt: skip


@contextmanager
def _noted_once(folds: int) -> Iterator[None]:
    """What several folds warn of, but for its numbers, is one warning, which says how many did."""
    with warnings.catch_warnings(record=True) as caught:
        yield
    alike: dict[Any, list[Any]] = {}
    for each in caught:
        alike.setdefault((each.category, re.sub(r"[-+.\d]+(e[-+]?\d+)?", "0", str(each.message))), []).append(each)
    for (category, _), found in alike.items():
        many = f" (so in {len(found)} of {folds} folds; this is the first)" if len(found) > 1 else ""
        warnings.warn(f"{found[0].message}{many}", category, stacklevel=4)


def _describe_folds(times: NDArray[np.int64], unseen: Counter[Any], folds: int) -> list[str]:
    """Which rows were tested how often, and classes that were not learned, of which there is a warning."""
    never, most, found = int((times == 0).sum()), int(times.max()), []
    if never:
        were, are = ("was", "is") if never == 1 else ("were", "are")
        found.append(f"{never:,} of {len(times):,} rows {were} never tested, and {are} not judged.")
    if most > 1:
        found.append(f"Rows were tested up to {most} times; each is judged by the mean of its answers.")
    for label, count in list(unseen.items())[:5]:
        found.append(
            f"The training rows of {count} of {folds} folds have no row of class {label!r}, so it has probability 0 "
            "there, which the log loss takes for 2.2e-16; stratified folds (an integer) avoid that."
        )
        warnings.warn(found[-1], stacklevel=3)
    return found


def _subtract(
    model: Any, X: Any, y: checks.Coded, weights: Floats | None, splits: Sequence[Split]
) -> Iterator[Answered]:
    """Each fold by the total less the fold; rows left out one by one at once, where that is quick."""
    began = time.perf_counter()
    rows = left_out.learnable(clone(model), X, y, weights)
    one_by_one = len(splits) == len(rows) and all(train is None for train, _ in splits)
    quick = isinstance(model, NaiveBayes) and model._is_additive and rows.divisible and model.class_weight is None
    if not (one_by_one and quick and isinstance(rows, ChunkRows)):
        yield from left_out.out_of_fold(rows, splits)
        return
    tally = tally_chunk(rows.chunk)
    rows.check(tally)
    counted = time.perf_counter()
    logs = left_out.leave_one_out(rows.model, rows.schema, rows.chunk, tally)
    yield Answered(np.arange(len(rows)), logs, rows.classes[:0], counted - began, time.perf_counter() - counted)


def _refit(splits: Sequence[Split], answer: Callable[[Places | None, Places], Answered]) -> Iterator[Answered]:
    """Each fold by a model of its own, on all processors."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    yield from Parallel(n_jobs=width(), prefer="threads", return_as="generator")(
        delayed(answer)(train, test) for train, test in splits
    )


def _fit(model: Any, X: Any, y: NDArray[Any], weights: Floats | None, train: Places | None, test: Places) -> Any:
    """A copy of a model, fitted to the training rows of a fold."""
    train = left_out.train_rows(train, test, len(y))
    given = {} if weights is None else {"sample_weight": weights[train]}
    try:
        return clone(model).fit(take_rows(X, train), y[train], **given)
    except (TypeError, ValueError) as error:
        if isinstance(error, IngenuoError):
            raise
        raise InputError(f"{type(model).__name__} cannot be fitted to these rows: {error}") from error


def _answer_classes(
    model: Any, X: Any, coded: checks.Coded, weights: Floats | None, train: Places | None, test: Places
) -> Answered:
    """What a classifier answers to the test rows of a fold."""
    began, (codes, classes) = time.perf_counter(), coded
    y = public(classes)[codes]
    fitted = _fit(model, X, y, weights, train, test)
    middle = time.perf_counter()
    rows, labels_only = take_rows(X, test), not hasattr(fitted, "predict_proba")
    given_answers = fitted.predict(rows) if labels_only else fitted.predict_proba(rows)
    done = time.perf_counter()
    found = predictions_of(given_answers, y=y[test], classes=np.asarray(fitted.classes_)).on(classes)
    with np.errstate(divide="ignore"):
        logs = np.log(np.eye(len(classes))[found.predicted] if found.probabilities is None else found.probabilities)
    unseen = classes[find(labels_of(fitted.classes_), classes) < 0]
    return Answered(test, logs, unseen, middle - began, done - middle, labels_only)


def _answer_numbers(
    model: Any, X: Any, y: Floats, weights: Floats | None, train: Places | None, test: Places
) -> Answered:
    """What a regressor answers, and the ends of its intervals (zeros where it has none)."""
    began = time.perf_counter()
    fitted = _fit(model, X, y, weights, train, test)
    middle = time.perf_counter()
    answers, ends = ask(fitted, take_rows(X, test))
    found = np.column_stack([answers, np.zeros((len(test), 2)) if ends is None else ends])
    return Answered(test, found, NO_LABELS, middle - began, time.perf_counter() - middle, ends is None)


# Which rows are learned from and which are answered for, fold by fold.


def splits_of(
    folds: Any, codes: Codes, classes: Labels, groups: Any, random_state: int
) -> tuple[list[Split], list[str]]:
    """The training rows (None: all others) and the test rows of each fold, and remarks."""
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
        return [(None, row) for row in np.arange(n_rows)[:, np.newaxis]], _describe_lone(codes, classes)
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        return [(None, test) for test in _stratified(int(folds), codes, classes, grouped, random_state)], []
    if hasattr(folds, "split"):
        try:
            return _check_splits(_split(folds, codes, grouped), n_rows), []
        except InputError as error:
            raise InputError(f"{type(folds).__name__} cannot split these rows: {error}") from None
    if isinstance(folds, Iterable):
        return _check_splits(list(folds), n_rows), []
    raise KindError(
        f"folds must be a whole number, {LEAVE_ONE_OUT!r}, a splitter or a list of pairs, got {folds!r:.60}"
    )


def _split(splitter: Any, codes: Codes, groups: NDArray[Any] | None) -> list[Any]:
    with checks.convert_errors():
        return list(splitter.split(np.zeros((len(codes), 1)), codes, groups))


def _stratified(
    folds: int, codes: Codes, classes: Labels, groups: NDArray[Any] | None, random_state: int
) -> list[NDArray[Any]]:
    """The rows of each of so many folds: those of scikit-learn's `StratifiedKFold`, without importing it (1 s)."""
    if folds < 2:
        raise InputError(
            f"folds={folds} leaves nothing to learn from for the rows that are tested; take 2 at least, usually 10"
        ).typed_as("folds=", "--folds ")
    counts = np.bincount(codes, minlength=len(classes))
    few = int(counts.min())
    if few < folds:
        checks.warn_of_numbers(classes, counts)
        fewer = f"folds={few} at most, " if few > 1 else ""
        error = InputError(
            f"class {classes.tolist()[counts.argmin()]!r} has {few} row{'s' if few > 1 else ''}, fewer than the "
            f"{folds} folds, so a fold would have none of it; take {fewer}folds={LEAVE_ONE_OUT!r}, give more rows of "
            "it, leave it out, or pass a splitter such as sklearn.model_selection.KFold"
        )
        error.typed_as(repr(LEAVE_ONE_OUT), LEAVE_ONE_OUT).typed_as("folds=", "--folds ")
        raise error.typed_as(
            "leave it out, or pass a splitter such as sklearn.model_selection.KFold", "or leave it out"
        )
    distinct = folds if groups is None else len(np.unique(groups))
    if distinct < folds:
        raise InputError(f"{distinct} groups cannot be parted into {folds} folds; take {distinct} at most")
    if groups is not None:
        from sklearn.model_selection import StratifiedGroupKFold

        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=random_state)
        return [test for _, test in _split(splitter, codes, groups)]
    generator = np.random.RandomState(random_state)
    present, first = np.unique(codes, return_index=True)
    in_order = present[np.argsort(first)]  # classes are numbered by their first row there
    sorted_ = np.repeat(np.arange(len(present)), counts[in_order])
    shares = np.array([np.bincount(sorted_[fold::folds], minlength=len(present)) for fold in range(folds)])
    found = np.empty(len(codes), np.int64)
    for k, code in enumerate(in_order):
        own = np.arange(folds).repeat(shares[:, k])
        generator.shuffle(own)
        found[codes == code] = own
    return [np.flatnonzero(found == fold) for fold in range(folds)]


def _groups(groups: Any, n_rows: int) -> NDArray[Any]:
    found = encode(groups if isinstance(groups, np.ndarray) else objects(list(groups)))[0]
    if len(found) != n_rows:
        raise InputError(f"there are {len(found)} groups for {n_rows} rows; give one for each row")
    if int(found.min()) < 0:
        raise InputError(f"row {int(np.argmin(found))} has no group; give one for each row")
    return found


def _check_splits(given: list[Any], n_rows: int) -> list[Split]:
    """Pairs of places that are rows, none of which is both learned from and tested."""
    if not given:
        raise InputError("there are no folds; give pairs of training and test rows")
    splits: list[Split] = []
    for fold, pair in enumerate(given):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise KindError(f"fold {fold} must be a pair of training and test rows, got {type(pair).__name__}")
        train, test = (_check_places(each, n_rows, fold, name) for each, name in zip(pair, ("training", "test")))
        both = np.intersect1d(train, test)
        if len(both):
            raise InputError(f"row {both[0]} is both learned from and tested in fold {fold}; keep them apart")
        splits.append((train, test))
    return splits


def _check_places(given: Any, n_rows: int, fold: int, name: str) -> Places:
    """Sorted places of rows; a mask of all rows will do."""
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
    found = np.unique(array).astype(np.intp)
    if len(found) != len(array):
        raise InputError(f"fold {fold} names one of its {name} rows twice; name each once")
    return found


def _describe_lone(codes: Codes, classes: Labels) -> list[str]:
    """A sentence on classes of one row."""
    lone = classes[np.bincount(codes, minlength=len(classes)) == 1]
    if not len(lone):
        return []
    what, has = ("Class", "has") if len(lone) == 1 else ("Classes", "have")
    return [
        f"{what} {list_names(lone)} {has} one row only, which is answered for by a model that has never seen that "
        "class: its probability is 0, which the log loss takes for 2.2e-16."
    ]
