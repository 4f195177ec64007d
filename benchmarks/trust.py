"""Can it be believed: what honest answers cost, and how right they are.

A model with a tally answers for every row as if it had not learned it, by subtraction. In the place of the peer stands
our own fit with the log probabilities of all rows after it, or scikit-learn's `cross_val_predict` on the same folds,
in one process, as it does by default. The answers are compared with those of models refitted. How right tuned and
calibrated models are is measured over public tables and collections of texts: see `trust_tables` and `trust_text`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import ingenuo
from benchmarks import data, trust_tables, trust_text
from benchmarks.by_hand import JoinedByHand, as_scikit_learn
from benchmarks.cases import Case, Duel, Race
from benchmarks.corpora import table as texts_of
from benchmarks.published import FOLDS
from benchmarks.report import Absent, Bar, farthest
from ingenuo.evaluation.cross_validation import cross_validate
from ingenuo.models.naive_bayes import NaiveBayes

ROWS = 50_000  # of the tables that are made; of public tables and texts, at most so many
REFITTED = 3  # folds, or rows, that are answered for by models refitted
SELECTED, ATTRIBUTES = 2, 100  # times the rows, and columns, of which some are selected
SECONDS = 60.0  # "seconds, not minutes"

Make = Callable[[int], tuple[Any, NDArray[Any], int]]  # the rows, their classes, and bytes


# The rows.


def mixed(rows: int) -> tuple[pd.DataFrame, NDArray[Any], int]:
    """Ten normal numbers and ten categories, nothing missing, as pandas."""
    table = data.mixed(rows, missing=0.0)
    rng = np.random.default_rng(6)
    normal = rng.normal(size=table.values.shape) + 0.1 * table.y[:, np.newaxis]
    frame = replace(table, values=normal).pandas()
    return frame, table.y, int(frame.memory_usage(index=False, deep=True).sum())


def numbers(rows: int) -> tuple[NDArray[np.float64], NDArray[Any], int]:
    """Twenty normal numbers."""
    given = data.numbers("normal", rows, columns=20)
    return given.X, given.y, given.nbytes


def news(rows: int) -> tuple[list[str], NDArray[Any], int]:
    """The training part of 20 Newsgroups."""
    given = texts_of("20news-train.csv.gz").at_most(rows)
    return given.texts, np.array(given.labels), given.nbytes


def _taken(X: Any, rows: NDArray[np.intp]) -> Any:
    return [X[row] for row in rows] if isinstance(X, list) else X.iloc[rows] if hasattr(X, "iloc") else X[rows]


# The races.


def _from_anew(X: Any, y: NDArray[Any], found: Any, make: Callable[[], NaiveBayes] = NaiveBayes) -> float:
    """How far the answers for some folds, or rows, are from those of models that are fitted without them."""
    distances = []
    for place in np.linspace(0, len(found.test) - 1, REFITTED).astype(int):
        test = found.test[place]
        train = np.setdiff1d(np.arange(len(y)), test)
        model = make().fit(_taken(X, train), y[train])
        distances.append(farthest(model.predict_proba(_taken(X, test)), found.probabilities[test]))
    return float(np.max(distances))


def after_one_fit(make: Make, folds: int | str, rows: int) -> Duel:
    """One fit and the log probabilities of all rows; and every row by a model that has not learned it."""
    X, y, nbytes = make(rows)
    return Duel(
        lambda: NaiveBayes().fit(X, y).predict_log_proba(X),
        lambda: cross_validate(NaiveBayes(), X, y, folds, verbose=False),
        lambda _, found: _from_anew(X, y, found),
        nbytes,
    )


class Joined(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The models joined by hand, as `cross_val_predict` takes them."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit them to a table of columns n0.. and c0.. ."""
        numbers = sum(name.startswith("n") for name in X.columns)
        self.model_ = JoinedByHand(numbers, X.shape[1] - numbers).fit(X, y)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        """The posteriors."""
        return self.model_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        """The labels."""
        return self.model_.predict(X)


def against_scikit_learn(make: Make, peer: Any, rows: int) -> Duel:
    """Ten folds, the same on both sides."""
    X, y, nbytes = make(rows)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)

    def remark(theirs: Any, own: Any) -> str:
        return f"{np.mean(theirs.argmax(axis=1) == own.probabilities.argmax(axis=1)):.4%} of the answers the same"

    return Duel(
        lambda: cross_val_predict(clone(peer), X, y, cv=folds, method="predict_proba"),
        lambda: cross_validate(as_scikit_learn(), X, y, folds, verbose=False),
        lambda _, found: _from_anew(X, y, found, as_scikit_learn),
        nbytes,
        remark=remark,
    )


def selection(rows: int) -> Duel:
    """Forward selection after one fit and the log probabilities of all rows: half the columns are noise."""
    selector = getattr(ingenuo, "AttributeSelector", None)
    if selector is None:
        raise Absent("ingenuo has no AttributeSelector yet")
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, SELECTED * rows)
    X = rng.normal(size=(len(y), ATTRIBUTES))
    X[:, : ATTRIBUTES // 2] += np.linspace(0.1, 0.02, ATTRIBUTES // 2) * y[:, np.newaxis]

    def remark(_: Any, own: Any) -> str:
        kept = np.flatnonzero(own.get_support())
        return f"{len(kept)} columns kept, {int((kept >= ATTRIBUTES // 2).sum())} of them noise"

    return Duel(
        lambda: NaiveBayes().fit(X, y).predict_log_proba(X),
        lambda: selector(method="forward").fit(X, y),
        None,
        X.nbytes,
        remark=remark,
    )


def _within(times: float) -> Bar:
    """So many times as long at most, so one in so many of the pace."""
    return Bar(1 / times, why=f"(within {times:g}×)")


def _speed() -> list[Case]:
    words = make_pipeline(CountVectorizer(), MultinomialNB())
    thirty, close = Bar(30), 1e-9
    return [
        Race("leave-one-out after one fit, mixed", _within(4), partial(after_one_fit, mixed, "leave-one-out"), close),
        Race("10-fold after one fit, mixed", _within(2.5), partial(after_one_fit, mixed, FOLDS), close),
        Race("10-fold after one fit, 20 Newsgroups", _within(3), partial(after_one_fit, news, FOLDS), close),
        Race("10-fold, GaussianNB", thirty, partial(against_scikit_learn, numbers, GaussianNB()), close),
        Race("10-fold, joined by hand, mixed", thirty, partial(against_scikit_learn, mixed, Joined()), close),
        Race("10-fold, MultinomialNB, 20 Newsgroups", thirty, partial(against_scikit_learn, news, words), close),
        Race("forward selection after one fit", Bar(limit=SECONDS), selection),
    ]


def cases() -> list[Case]:
    """Every case of this suite."""
    return [*_speed(), *trust_tables.cases(), *trust_text.cases()]
