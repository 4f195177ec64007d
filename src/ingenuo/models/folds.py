"""Folds, and what classifiers answer to rows that they have not learned: each row by a model without its fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import RefusedError
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


def answer_folds(
    estimator: Any, X: Any, y: NDArray[Any], weights: Floats | None, folds: Folds, after: Callable[[], object]
) -> Floats:
    """log P(class | row) of every row by a copy of a classifier that did not learn its fold; `after` each fold."""
    wanted = labels_of(y.tolist())
    found = np.empty((len(y), len(wanted)))
    for fold in range(int(folds.max()) + 1):
        held, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all rows says it
            fitted = fit_copy(estimator, take_rows(X, rest), y[rest], None if weights is None else weights[rest])
        found[held] = over_classes(log_answers(fitted, take_rows(X, held)), classes_of(fitted), wanted, np.log(FLOOR))
        after()
    return found


class Member:
    """Mix-in: a classifier that votes, judged by rows that it has not learned."""

    _is_tally = False  # whether `partial_fit`, `forget` and `merge` are exact for it

    def _fit_with_folds(self, X: Any, y: NDArray[Any], sample_weight: Floats | None, folds: Folds) -> Floats:
        """Fit on all rows, in memory; log P(class | row), each row answered by a model that did not learn its fold.

        Settings are chosen by the same folds, and what is found from rows within each fold's own training rows. The
        columns are the classes in their order.
        """
        model: Any = self
        found = answer_folds(model, X, y, sample_weight, folds, lambda: None)
        model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight)
        return found

    def _count_again(self, rows: Rows) -> None:
        """Learn all of these rows, with everything that was found from others kept."""
        raise RefusedError(f"a {type(self).__name__} is no sum over rows; fit it again on all of them")
