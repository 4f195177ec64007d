"""Folds, and what classifiers answer to rows that they have not learned: each row by a model without its fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError
from ingenuo.models.model import clone
from ingenuo.rows.rows import OURS, Rows, take_rows
from ingenuo.show.arithmetic import logs
from ingenuo.tally.labels import Labels, find, labels_of

Floats = NDArray[np.float64]
Folds = NDArray[np.intp]  # of each row, the number of its fold

FLOOR = 1e-6  # the least probability that a vote hears of
FOLDS, LATER, MANY = 5, 3, 2_000  # folds; and how many there are from so many rows on


def n_folds_for(n_rows: int) -> int:
    """How many folds so many rows are cut into.

    >>> n_folds_for(1999), n_folds_for(2000), n_folds_for(4)
    (5, 3, 4)
    """
    return min(FOLDS if n_rows < MANY else LATER, n_rows)


def stratified_folds(codes: NDArray[Any], n_folds: int, seed: int = 0) -> Folds:
    """The fold of each row: shuffled, and each fold has its share of every class and of all rows.

    A class of two rows or more has rows in two folds or more, so that it is known to every model without one fold.

    >>> stratified_folds(np.array([0, 0, 0, 1, 1, 1]), 3).tolist()
    [0, 2, 1, 0, 1, 2]
    """
    shuffled = np.random.default_rng([OURS, seed]).permutation(len(codes))
    folds = np.empty(len(codes), np.intp)
    folds[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % n_folds
    return folds


def over_classes(log_posterior: Floats, classes: Labels, wanted: Labels, least: float = -np.inf) -> Floats:
    """Log posteriors with a column for each of these classes; the least where a class is not known."""
    places = find(classes, wanted)
    if len(places) == log_posterior.shape[1] and np.array_equal(places, np.arange(len(places))):
        return log_posterior
    found = np.full((len(log_posterior), len(wanted)), least)
    found[:, places >= 0] = log_posterior[:, places[places >= 0]]
    return found


def log_answers(estimator: Any, X: Any) -> Floats:
    """The log posteriors that a fitted classifier, of this package or not, gives rows in memory."""
    if hasattr(estimator, "predict_log_proba"):  # which may tell more than the logarithm of what underflowed
        return np.asarray(estimator.predict_log_proba(X), np.float64)
    return logs(np.asarray(estimator.predict_proba(X), np.float64))


def classes_of(estimator: Any) -> Labels:
    """The classes that a fitted classifier, of this package or not, knows."""
    return labels_of(np.asarray(estimator.classes_).tolist())


def fit_copy(estimator: Any, X: Any, y: Any, weights: Floats | None) -> Any:
    """A new classifier of the same settings, fitted."""
    return clone(estimator).fit(X, y) if weights is None else clone(estimator).fit(X, y, sample_weight=weights)


_watcher: ContextVar[Callable[[int], object] | None] = ContextVar("watcher", default=None)


@contextmanager
def watch_folds(after: Callable[[int], object]) -> Iterator[None]:
    """Let a function know how many folds a member has done, as long as it lasts."""
    held = _watcher.set(after)
    try:
        yield
    finally:
        _watcher.reset(held)


def folds_done(n: int) -> None:
    """Say that so many folds are done, to who wants to know."""
    after = _watcher.get()
    if after is not None:
        after(n)


def answer_folds(estimator: Any, X: Any, y: NDArray[Any], weights: Floats | None, folds: Folds) -> Floats:
    """log P(class | row) of every row by a copy of a classifier that did not learn its fold."""
    wanted = labels_of(y.tolist())
    found = np.empty((len(y), len(wanted)))
    for fold in range(int(folds.max()) + 1):
        held, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all rows says it
            fitted = fit_copy(estimator, take_rows(X, rest), y[rest], None if weights is None else weights[rest])
        found[held] = over_classes(log_answers(fitted, take_rows(X, held)), classes_of(fitted), wanted, np.log(FLOOR))
        folds_done(fold + 1)
    return found


def fit_with_folds(
    estimator: Any, X: Any, y: NDArray[Any], weights: Floats | None, folds: Folds, name: str = ""
) -> Floats:
    """Fit any classifier on all rows; what it says of each without its fold, as `Member._fit_with_folds`."""
    if hasattr(estimator, "_fit_with_folds"):
        found: Floats = estimator._fit_with_folds(X, y, weights, folds)
    else:
        found = Member._fit_with_folds(estimator, X, y, weights, folds)
    if np.isnan(found).any():
        raise InputError(
            f"the classifier {name!r} gave a row a probability that is no number; leave it out, or correct it"
        )
    return found


def check_members(what: str, given: Any) -> tuple[str, ...]:
    """The names of classifiers that are to vote; raises where they are no list of (name, classifier)."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise KindError(f"{what} must be a list of (name, classifier), got {type(given).__name__} {given!r}")
    if not given:
        raise InputError(f"{what} is empty; give a list of (name, classifier), with one at least")
    names: list[str] = []
    for pair in given:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise KindError(f"{what} must be a list of (name, classifier), got {pair!r} in it")
        if not hasattr(pair[1], "predict_proba"):
            raise KindError(
                f"the classifier {pair[0]!r}, {type(pair[1]).__name__}, gives no probabilities; wrap it in "
                "scikit-learn's CalibratedClassifierCV, or leave it out"
            )
        if pair[0] in names or "__" in pair[0] or "\n" in pair[0]:
            why = "is there twice" if pair[0] in names else "has __ or a line break in it"
            raise InputError(f"the name {pair[0]!r} in {what} {why}; give each classifier another name")
        names.append(pair[0])
    return tuple(names)


class Member:
    """Mix-in: a classifier that votes, judged by rows that it has not learned."""

    _is_tally = False  # whether `partial_fit`, `forget` and `merge` are exact for it

    def _fit_with_folds(self, X: Any, y: NDArray[Any], sample_weight: Floats | None, folds: Folds) -> Floats:
        """Fit on all rows, in memory; log P(class | row), each row answered by a model that did not learn its fold.

        Settings are chosen by the same folds, and what is found from rows within each fold's own training rows. The
        columns are the classes in their order.
        """
        model: Any = self
        found = answer_folds(model, X, y, sample_weight, folds)
        model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight=sample_weight)
        return found

    def _describe(self) -> str:
        """What it is, in short, with what it has chosen."""
        return type(self).__name__

    def _count_again(self, rows: Rows) -> None:
        """Learn all of these rows, with everything that was found from others kept."""
        raise RefusedError(f"a {type(self).__name__} is no sum over rows; fit it again on all of them")
