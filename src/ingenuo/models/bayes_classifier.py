"""A weighted vote of Bayesian models: the classifier to begin with, for numbers, categories, counts and text together.

    P(c | x)  ∝  exp(b_c + Σ_m w_m log P_m(c | x)),   w ≥ 0

Each member answers every row by a model that did not learn it; the weights w and the shifts b are those that make these
answers most probable, drawn towards equal shares. Their sum is free, so the answers are calibrated too.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, MergeError, check_choice
from ingenuo.kernels import densities, portable, threads
from ingenuo.kernels.moments import refuse_infinities
from ingenuo.language import say
from ingenuo.models.classifier import JointAnswers, warn_of_ignored
from ingenuo.models.folds import (
    FLOOR,
    Folds,
    check_members,
    classes_of,
    fit_with_folds,
    log_answers,
    n_folds_for,
    over_classes,
    stratified_folds,
    watch_folds,
)
from ingenuo.models.log_linear import fit_weights
from ingenuo.models.members import choose_members, count_members, join_sums, sheet_member, split_sums
from ingenuo.models.model import CLASS, NO_LABELS, Packed, Refusals, check_is_fitted, clone, unless_refused
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.registry import pack_members, unpack_members
from ingenuo.models.sums import LearnsSums
from ingenuo.rows import checks
from ingenuo.rows.part import Chunk
from ingenuo.rows.rows import rows_of, take_rows
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Opinion, Passage, PooledExplanation, pool_factors
from ingenuo.show.format import Line
from ingenuo.show.plots import new_panels, short
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, find, is_missing, labels_of, public, unite
from ingenuo.tally.tally import Tally
from ingenuo.text.words import Words

Floats = NDArray[np.float64]

AUTO, ADDITIVE = "auto", "additive"
LARGE = 200_000  # rows of a table here, or in files, of which more are only counted: settings come from a sample
SAMPLE = 20_000  # rows of that sample
FEWEST = 30  # rows, below which there is one member, and no fold
RIDGE = 20.0  # of the weights, towards equal shares
_SURE, _LEAST = 0.3, 0.02  # no member may give a class less than this over the number of rows, if that is less
_CELLS = 4e7  # answers to rows that the weights are found by: members × rows × classes


@dataclass(frozen=True, repr=False)
class Members(Shown):
    """The members of a vote, and those that were left out, with the reason; prints as a table."""

    lines: Sequence[Mapping[str, Any]]
    pool: float  # the log loss of the vote on rows that neither the members nor the weights learned; NaN if unknown
    left_out: Mapping[str, str]
    note: str = ""

    def _blocks(self) -> list[str | Block]:
        heads = ["member", "what it is", "left-out log loss", "weight", "rows", "adds and forgets"]
        rows = [list(line.values()) for line in self.lines]
        rows.append(["vote", "", self.pool, sum(line["weight"] for line in self.lines), None, None])
        formats = ["", "", ".4f", ".3f", ",", ""]
        table = PrintedTable(heads, rows, formats, rule=True, totals=1, divided=(1, 1))
        reasons = [f"{name} was left out: {why}" for name, why in self.left_out.items()]
        return [table, *([self.note] if self.note else []), *reasons]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        pool = None if np.isnan(self.pool) else self.pool
        return {"members": [dict(line) for line in self.lines], "log_loss": pool, "left_out": dict(self.left_out)}


@dataclass(eq=False, repr=False)
class BayesClassifier(Refusals, LearnsSums, Packed, JointAnswers):
    """A vote of Bayesian models, each weighted by what it says of rows that it has not learned.

    Numbers, categories, counts and text in one table, with missing values, need no preparation. Every setting of the
    members and the weights of the vote are found by folds of the rows.

    Parameters
    ----------
    members : {"auto", "additive"} or list of (name, classifier)
        "auto": a network, a discriminant, boosted trees and two softmax regressions for the columns of a table, naive
        Bayes and softmax regression for text. "additive": those of them that are sums over rows, so that
        `partial_fit`, `forget` and `merge` are exact. Or classifiers of one's own, of this package or with
        scikit-learn's contract.
    columns : mapping, optional
        Column to kind, as in `NaiveBayes`.
    random_state : int
        The seed of the folds, and of the sample of many rows.
    text : Words or mapping, optional
        Which words of text columns count, and how; a mapping chooses by column.
    verbose : bool, optional
        Whether to print a line for each fold to stderr. By default a line is kept up to date there once a fit has taken
        some seconds, if stderr is a terminal.

    Attributes
    ----------
    members_ : Members
        A table of the members: what they are, their log loss on rows that they did not learn, weights and rows; and
        which were left out, and why.
    weights_, shifts_ : dict, array
        The weight of each member, and what is added to the log odds of each class.
    least_ : float
        The least probability that a member may give a class, as far as the vote hears it: nobody may be surer than the
        rows allow.
    estimators_ : list of classifiers
        The members, fitted.
    schema_ : Schema
        What the columns are, and why.

    Notes
    -----
    With fewer than 30 rows there is one member, naive Bayes. From 200,000 rows on, the settings, the weights and the
    softmax regressions and trees come from a random sample, and the other members count all rows.

    Examples
    --------
    >>> from ingenuo.datasets import diabetes
    >>> model = BayesClassifier("additive").fit(diabetes(), "progression")
    >>> sorted(model.weights_)
    ['discriminant', 'network']
    """

    members: Any = AUTO
    columns: Mapping[Any, Any] | None = None
    random_state: int = 0
    text: Words | Mapping[Any, Words] | None = None
    verbose: bool | None = None

    # What it is.

    @property
    def _refusals(self) -> Mapping[str, str]:  # type: ignore[override]
        why = "it votes, and has no distribution of the rows; draw from one of its members, such as the network"
        if self._adds:
            return {"sample": why}
        again = "its softmax regressions and trees are no sums over rows"
        if not isinstance(self.members, str):
            again = "not all of its members are sums over rows"
        again += '; fit it again on all the rows, or take BayesClassifier(members="additive"), which can'
        return {**dict.fromkeys(("partial_fit", "forget", "merge"), again), "sample": why}

    @property
    def _adds(self) -> bool:
        """Whether all its members are sums over rows."""
        given = [getattr(each, "_is_tally", False) for _, each in self._given_members()]
        return all(given) if given else bool(self.members == ADDITIVE)

    def _given_members(self) -> list[tuple[str, Any]]:
        """Members of one's own; none where they are no list of pairs, which `fit` will say."""
        pairs = self.members if isinstance(self.members, list | tuple) else []
        return [(each[0], each[1]) for each in pairs if isinstance(each, list | tuple) and len(each) == 2]

    _is_tally = property(lambda self: self._adds)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and with `deep` members that were given, and their parameters as name__parameter."""
        found: dict[str, Any] = super().get_params(deep=False)
        for name, member in self._given_members() if deep else ():
            found |= {name: member} | {f"{name}__{key}": value for key, value in member.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a member that was given by its name, its parameters as name__parameter."""
        given = dict(self._given_members())
        own = {key: params.pop(key) for key in list(params) if key.partition("__")[0] in given}
        for key, value in sorted(own.items(), key=lambda each: "__" in each[0]):
            name, _, inner = key.partition("__")
            if inner:
                given[name].set_params(**{inner: value})
            else:
                given[name] = value
        if own:
            self.members = list(given.items())
        super().set_params(**params)
        return self

    def _check_settings(self) -> None:
        if isinstance(self.members, str):
            check_choice("members", self.members, [AUTO, ADDITIVE])
        else:
            check_members("members", self.members)
        checks.check_whole("random_state", self.random_state)
        if self.verbose is not None:
            checks.check_flag("verbose", self.verbose)
        self._reader()._check_settings()

    def _reader(self) -> NaiveBayes:
        """The model that knows what columns are."""
        return NaiveBayes(self.columns, text=self.text)

    def _declared_columns(self) -> Any:
        return self._reader()._declared_columns()

    def __sklearn_is_fitted__(self) -> bool:
        return "estimators_" in self.__dict__

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated: those of all members, the weights, and the shifts but one."""
        check_is_fitted(self)
        return sum(int(each.n_parameters_) for each in self.estimators_) + len(self.estimators_) + len(self.shifts_) - 1

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each member."""
        check_is_fitted(self)
        return dict(zip(self._names, self._weights.tolist()))

    @property
    def members_(self) -> Members:
        """The members, what they are, and what they are worth."""
        check_is_fitted(self)
        found = []
        for place, (name, each) in enumerate(zip(self._names, self.estimators_)):
            adds = bool(getattr(each, "_is_tally", False))
            rows = self._rows_learned[1 if adds else 0]
            loss, weight = float(self._losses[place]), float(self._weights[place])
            what = each._describe() if hasattr(each, "_describe") else type(each).__name__
            exact = "exactly" if adds else "no"
            line = {"name": name, "what": what, "log_loss": loss, "weight": weight, "rows": rows, "adds": exact}
            found.append(line)
        some, every = self._rows_learned
        note = f"settings and weights are of a sample of {some:,} of {every:,} rows" if some < every else ""
        if len(found) == 1 and np.isnan(self._losses[0]):
            note = f"{every:,} rows are too few for folds, so there is one member, and its weight is 1"
        return Members(found, float(self._losses[-1]), dict(self._left_out), note)

    # Learning.

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and their labels, forgetting what was learned before.

        Parameters
        ----------
        X : array, sparse matrix, list of texts, table, path, what `scan` gives, Arrow stream, Dask or Spark DataFrame
            The rows; missing values are NaN or null.
        y : array-like, or the name of a column of X
            The class of each row; of a file, a stream or a frame of an engine, the name of a column.
        sample_weight : array-like, optional
            How often each row counts; of a file, a stream or a frame of an engine, the name of a column.
        """
        self._check_settings()
        with self._undo_on_error():
            rows = rows_of(X, y, sample_weight, self._declared_columns())
            sample, total = rows.sample(SAMPLE, LARGE, int(self.random_state))
            self._learn(checks.divisible(sample.X), sample.y, sample.weights)
            if rows.target is not None:
                self._target = rows.target
            if checks.count_rows(sample.X) < total:
                self._set_tallies(rows.reduce(count_members, self._counting()))
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn from rows in memory."""
        for name in ("n_features_in_", "feature_names_in_", "_declared_classes", "_target", "_behind"):
            self.__dict__.pop(name, None)
        source = self._source(X, reset=True)
        source.is_whole = True
        codes, classes = checks.labels(self, y, source.n_rows)
        weights = checks.weights(sample_weight, source.n_rows)
        if not source.n_rows:
            raise InputError("there are no rows to learn from (0 samples); give some")
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            self._learn(take_rows(X, kept), public(classes)[codes[kept]], weights[kept])
            return
        self.schema_ = self._reader()._schema_of(source)
        warn_of_ignored(self.schema_)
        for _, kind, names, chosen in self.schema_.by_family:
            if kind == "number":
                refuse_infinities(source.numbers(np.flatnonzero(chosen), names))
        seen = Chunk(source.n_rows, {}, codes, classes, weights).count_classes()
        checks.warn_of_numbers(classes, seen.over(CLASS, classes).floats())
        self._table = checks.columns_of(X)[1]
        labels, often = public(classes)[codes], np.bincount(codes)[codes] > 1
        in_folds = source.n_rows >= FEWEST and len(set(codes[often].tolist())) > 1
        given, self._left_out = self._choose(source, len(classes), in_folds)
        folds = stratified_folds(codes, n_folds_for(source.n_rows), int(self.random_state))
        fitted, answers = self._fit_members(given, X, labels, weights, folds if in_folds else None)
        self._names, self.estimators_ = [name for name, _ in fitted], [each for _, each in fitted]
        self.n_features_in_ = len(self.schema_)
        self._rows_learned = (source.n_rows, source.n_rows)
        self._set_classes(seen)
        self._weights, self.shifts_ = np.full(len(fitted), 1 / len(fitted)), np.zeros(len(self.classes_))
        self._losses, self.least_ = np.full(len(fitted) + 1, np.nan), FLOOR
        if in_folds:
            self._weigh(answers, codes, weights, folds, np.flatnonzero(often))

    def _set_classes(self, seen: Tally) -> None:
        """Take the rows of each class; the classes are those that any member knows."""
        known = unite(self.__dict__.get("_declared_classes", NO_LABELS), seen.labels(CLASS, 0))
        for each in self.estimators_:
            known = unite(known, classes_of(each))
        self.classes_, self.tally_ = public(known), Tally({CLASS: seen[CLASS]})

    def _choose(self, source: Any, n_classes: int, in_folds: bool) -> tuple[list[tuple[str, Any]], dict[str, str]]:
        """The members that can work with such columns and rows, and why others cannot."""
        if not isinstance(self.members, str):
            given = list(self.members)
            few = "there are too few rows for folds, so the first member answers alone"
            return (given, {}) if in_folds else (given[:1], dict.fromkeys([name for name, _ in given[1:]], few))
        if not in_folds:
            return [("naive bayes", NaiveBayes(self.columns, text=self.text))], {}
        return choose_members(self.schema_, source, n_classes, self.text, additive=self.members == ADDITIVE)

    def _fit_members(
        self, given: Sequence[tuple[str, Any]], X: Any, y: NDArray[Any], weights: Floats | None, folds: Folds | None
    ) -> tuple[list[tuple[str, Any]], Floats]:
        """The members, fitted, and what they say of rows that they did not learn: members × rows × classes."""
        members = [(name, clone(each)) for name, each in given]
        answers, errors = dict[str, Floats](), list[IngenuoError]()
        line, own = Line(self.verbose), isinstance(self.members, str)
        n_folds = 1 if folds is None else int(folds.max()) + 1
        try:
            for place, (name, each) in enumerate(members):
                said = f"member {place + 1} of {len(given)}, {name}"

                def after(fold: int, said: str = said, place: int = place) -> None:
                    how = f": fold {fold} of {n_folds}" if fold else ""
                    line.say(said + how, place * n_folds + fold, len(given) * n_folds)

                after(0)
                try:
                    with warnings.catch_warnings(), watch_folds(after), threads.single_blas():
                        if own:
                            warnings.simplefilter("ignore")
                        if folds is None:
                            each.fit(X, y) if weights is None else each.fit(X, y, sample_weight=weights)
                            answers[name] = np.zeros(0)
                        elif own and getattr(each, "interactions", None):  # it begins with the one before it
                            before, linear = members[place - 1]
                            both = each._fit_both_with_folds(linear, X, y, weights, folds)
                            answers |= dict(zip((before, name), both))
                        elif not (
                            own and any(getattr(m, "interactions", None) for _, m in members[place + 1 : place + 2])
                        ):
                            answers[name] = fit_with_folds(each, X, y, weights, folds, name)
                except IngenuoError as error:
                    if not own:
                        raise
                    self._left_out[name] = str(error)
                    errors.append(error)
        finally:
            line.close()
        if not answers:
            raise errors[0]
        for name, _ in members:  # one that another, which failed, begins with
            if name not in answers:
                self._left_out.setdefault(name, str(errors[-1]))
        fitted = [(name, each) for name, each in members if name in answers]
        return fitted, np.array([answers[name] for name, _ in fitted])

    def _weigh(
        self,
        answers: Floats,
        codes: NDArray[np.int32],
        weights: Floats | None,
        folds: Folds | None,
        counted: NDArray[np.intp],
    ) -> None:
        """Find the weights and the shifts by what the members say of rows that they did not learn."""
        most = int(_CELLS // max(answers.shape[0] * answers.shape[2], 1))
        if len(counted) > most:
            chosen = np.random.default_rng(0).choice(len(counted), most, replace=False)
            counted = counted[np.sort(chosen)]
        if folds is not None:  # nobody may be surer than the rows allow
            self.least_ = min(_SURE / len(counted), _LEAST)
        logs = np.maximum(answers[:, counted], np.log(self.least_))
        codes, weights = codes[counted], None if weights is None else weights[counted]
        towards = np.full(len(logs), 1 / len(logs))
        rows = np.arange(len(codes))
        self._losses = np.full(len(logs) + 1, np.nan)
        self._losses[:-1] = [np.average(-each[rows, codes], weights=weights) for each in logs]
        with threads.single_blas():
            self._weights, self.shifts_ = fit_weights(
                logs, codes, np.zeros(logs.shape[1:]), RIDGE, towards, weights, shifts=logs.shape[2] > 1
            )
            if folds is None:
                return
            loss, own = np.zeros(len(codes)), folds[counted]
            for fold in range(int(own.max()) + 1):
                held, rest = np.flatnonzero(own == fold), np.flatnonzero(own != fold)
                given = None if weights is None else weights[rest]
                w, b = fit_weights(
                    logs[:, rest], codes[rest], np.zeros((len(rest), logs.shape[2])), RIDGE, towards, given
                )
                pooled = np.ascontiguousarray(np.tensordot(w, logs[:, held], 1) + b)
                densities.posterior(pooled, log=True)
                loss[held] = -pooled[np.arange(len(held)), codes[held]]
            self._losses[-1] = np.average(loss, weights=weights)

    # Sums over rows: more of them, or all of which some were a sample.

    def _counting(self) -> Self:
        """A vote of those members that are sums, which know their columns and have counted nothing."""
        empty = copy.copy(self)
        adding = self._adding()
        empty._names, empty.members = [name for name, _ in adding], AUTO
        empty.estimators_ = [each._make_empty(each.schema_) for _, each in adding]
        empty._weights, empty._losses = np.ones(len(adding)), np.full(len(adding) + 1, np.nan)
        return empty

    def _adding(self) -> list[tuple[str, Any]]:
        return [(n, each) for n, each in zip(self._names, self.estimators_) if getattr(each, "_is_tally", False)]

    def _set_tallies(self, counted: Tally) -> None:
        """Let the members that are sums take theirs."""
        by_member = split_sums(counted)
        for name, each in self._adding():
            each._set_tally(each.schema_, by_member[name].named_as(each.tally_.all_labels()))
        self._shift_classes(by_member[""].named_as(self.tally_.all_labels()))

    def _shift_classes(self, seen: Tally) -> None:
        """Take the rows of each class; classes that come later have no shift."""
        before, shifts = labels_of(self.classes_), self.shifts_
        self._set_classes(seen)
        places = find(before, labels_of(self.classes_))
        self.shifts_ = np.append(shifts, 0.0)[places]
        every = self.tally_.over(CLASS, labels_of(self.classes_)).floats().sum()
        self._rows_learned = (self._rows_learned[0], round(float(every)))

    def sums_of(self, X: Any, y: Any = None, sample_weight: Any = None) -> Tally:
        """The sums of rows: what `partial_fit` adds, and `forget` takes away. The vote stays as it is."""
        rows = rows_of(X, y, sample_weight, set(self.schema_.names.tolist()), model=self)
        counted = split_sums(rows.reduce(count_members, self._counting()))
        known = {"": self.tally_, **{name: each.tally_ for name, each in self._adding()}}
        return join_sums({name: sums.named_as(known[name].all_labels()) for name, sums in counted.items()})

    def add_sums(self, sums: Tally) -> Self:
        """Add what `sums_of` has counted, as `partial_fit` of those rows does."""
        with self._undo_members():
            more = split_sums(sums)
            for name, each in self._adding():
                each.add_sums(more[name])
            self._shift_classes(self.tally_ + more[""])
            self._fall_behind(more[""])
        return self

    def subtract_sums(self, sums: Tally) -> Self:
        """Take away what `sums_of` has counted, as `forget` of those rows does."""
        with self._undo_members():
            less = split_sums(sums)
            for name, each in self._adding():
                each.subtract_sums(less[name])
            self._shift_classes(self.tally_ - less[""])
            self._fall_behind(less[""])
        return self

    @property
    def _how_to_calibrate(self) -> str:
        return "find the weights of the vote again by rows that are new to it: reweigh(X, y)"

    @unless_refused
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: what was found from the first, and the weights, are kept.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array-like, optional
            Classes that will come, for `classes_` to hold from the start.
        """
        with self._undo_members(), self._warn_behind():
            if not self.__sklearn_is_fitted__():
                self.fit(X, y, sample_weight)
            else:
                self.add_sums(self.sums_of(X, y, sample_weight))
            if classes is not None:
                declared = self.__dict__.get("_declared_classes", NO_LABELS)
                self._declared_classes = unite(declared, checks.sort_classes(classes))
                self._shift_classes(self.tally_)
        return self

    @unless_refused
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: the members' sums are then, to the last bit, as if they had never seen them.

        Parameters
        ----------
        X, y, sample_weight
            The rows to forget, as they were learned. What was found from the first rows, and the weights, are kept.
        """
        check_is_fitted(self)
        with self._warn_behind():
            self.subtract_sums(self.sums_of(X, y, sample_weight))
        return self

    @unless_refused
    def merge(self, other: Any) -> Self:
        """Add what the members of another vote have learned, which must have the same cuts, arcs and settings."""
        check_is_fitted(self)
        if type(other) is not type(self):
            raise MergeError(f"a BayesClassifier can be merged with another, not with {type(other).__name__}")
        check_is_fitted(other)
        if self._names != other._names:
            raise MergeError(f"one vote has the members {self._names}, and the other {other._names}; only the same add")
        with self._undo_members(), self._warn_behind():
            for own, its in zip(self.estimators_, other.estimators_):
                own.merge(its)
            self._shift_classes(self.tally_ + other.tally_.named_as(self.tally_.all_labels()))
            self._fall_behind(other.tally_)
        return self

    def _undo_members(self) -> Any:
        """Whatever goes wrong within, the vote and its members are as they were before."""
        if self.__sklearn_is_fitted__():
            self.estimators_ = [copy.copy(each) for each in self.estimators_]
        return self._undo_on_error()

    def reweigh(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the weights of the vote again, by rows that should be new to its members; nothing else changes.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`; of many rows a sample is taken.

        Examples
        --------
        >>> from ingenuo.datasets import diabetes
        >>> rows = diabetes()
        >>> model = BayesClassifier("additive").fit(rows[:300], "progression").reweigh(rows[300:], "progression")
        >>> sorted(model.weights_)
        ['discriminant', 'network']
        """
        check_is_fitted(self)
        rows, _ = rows_of(X, y, sample_weight, model=self).sample(SAMPLE, LARGE, int(self.random_state))
        codes, classes = checks.labels(self, rows.y, checks.count_rows(rows.X))
        checks.check_label_types(classes, labels_of(self.classes_))
        weights, places = checks.weights(rows.weights, len(codes)), find(labels_of(self.classes_), classes)
        if (places < 0).any():
            odd = classes.tolist()[int(np.argmax(places < 0))]
            raise InputError(f"class {odd!r} was never learned, so no weights can be found by its rows; leave them out")
        with self._undo_on_error():
            self._weigh(self._each(rows.X), places[codes].astype(np.int32), weights, None, np.arange(len(codes)))
            self._catch_up()
        return self

    def calibrate_again(self, X: Any, y: Any = None, sample_weight: Any = None, *, learned: bool = True) -> Self:
        """Find the weights again by rows that the members have not learned: `reweigh`."""
        if learned:
            said = "the weights of a vote are found by rows that it has not learned; say so: learned=False"
            raise InputError(said).typed_as("learned=False", '"learned": false')
        return self.reweigh(X, y, sample_weight)

    # Answering.

    def _each(self, X: Any, skip: bool = False) -> Floats:
        """log P(class | row) by each member, members × rows × classes; with `skip`, 0 by those without weight."""
        X, known, least = self._without_target(X), labels_of(self.classes_), portable.log(self.least_)
        n_rows = checks.count_rows(X)
        found = np.zeros((len(self.estimators_), n_rows, len(known)))
        for place, (each, weight) in enumerate(zip(self.estimators_, self._weights)):
            if weight or not skip:
                own = over_classes(log_answers(each, X), classes_of(each), known, least)
                np.maximum(own, least, out=found[place])
        return found

    def _pooled(self, X: Any, *, log: bool = False) -> Floats:
        check_is_fitted(self)
        found = self._each(X, skip=True)
        pooled = np.repeat(self.shifts_[np.newaxis], found.shape[1], axis=0)
        for weight, each in zip(self._weights.tolist(), found):
            pooled += weight * each
        densities.posterior(pooled, log=log)
        return pooled

    def _predict_proba(self, X: Any) -> Floats:
        return self._pooled(X)

    def _predict_log_proba(self, X: Any) -> Floats:
        return self._pooled(X, log=True)

    def _predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[self._pooled(X).argmax(axis=1)])

    def answer_row(self, row: Any) -> tuple[Floats, Floats]:
        """What the members say of one row, pooled, and the posterior."""
        return self._pool([opinion for opinion, _, _ in self._opinions(self._without_target(row), by_column=False)])

    def _pool(self, opinions: Sequence[Opinion]) -> tuple[Floats, Floats]:
        pooled = self.shifts_ + 0.0
        for each in opinions:
            pooled += each.weight * each.heard
        posterior = pooled[np.newaxis].copy()
        densities.posterior(posterior)
        return pooled, posterior[0]

    def _opinions(self, row: Any, *, by_column: bool = True) -> Iterator[tuple[Opinion, Any, Any]]:
        """What each member that has a weight says of one row, with the member and what it has read of the row."""
        known, least = labels_of(self.classes_), portable.log(self.least_)
        for name, each, weight in zip(self._names, self.estimators_, self._weights.tolist()):
            if not weight:
                continue
            factors: Sequence[Factor] = ()
            found = None
            if getattr(type(each), "_factors", JointAnswers._factors) is not JointAnswers._factors:
                found = each._open_row(row)
                factors, own = each._factors(found) if by_column else (), each._posterior(found, 1, log=True)
            else:
                own = log_answers(each, checks.one_row(row, self.schema_.names.tolist(), self._table))
            own, at = over_classes(own, classes_of(each), known, least)[0], find(classes_of(each), known)
            yield Opinion(name, weight, factors, at, own, np.maximum(own, least)), each, found

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: what each member says, weighted."""
        known, members = labels_of(self.classes_), []
        for name, each, weight in zip(self._names, self.estimators_, self._weights.tolist()):
            if weight:
                members.append(sheet_member(name, each, weight, self.schema_, known))
        least = portable.log(self.least_)
        return {"op": "vote", "members": members, "shifts": self.shifts_, "least": least, "calibrate": None}

    def _explain_row(self, row: Any) -> PooledExplanation:
        row, known = self._without_target(row), labels_of(self.classes_)
        source = checks.row(row, self.schema_)
        places = {column_name(name): place for place, name in enumerate(source.names.tolist())}

        def value(column: str) -> str | None:
            if column not in places:
                return None
            cell = source.cell(places[column], 0)
            if cell is None or is_missing(cell):
                return say("missing")
            return f"{cell:.6g}" if isinstance(cell, float) else str(cell)

        asked = list(self._opinions(row))
        opened = [(opinion.weight, each, found) for opinion, each, found in asked if found is not None]
        said = [opinion for opinion, _, _ in asked]
        joint, posterior = self._pool(said)
        pooled = replace(pool_factors(known, said, self.shifts_, value, places), joint=joint, posterior=posterior)
        return replace(pooled, passages=self._passages_by(opened, known[pooled.order][:2]))

    def _passages_by(self, opened: list[tuple[float, Any, Any]], pair: Labels) -> tuple[Passage, ...]:
        """The texts of a row, with what their words say to the members that read them, weighted."""
        best: tuple[Passage, ...] = ()
        for weight, each, found in sorted(opened, key=lambda one: one[0]):
            places = find(classes_of(each), pair).tolist()
            own = each._passages(found, places[0], places[-1]) if min(places) >= 0 else ()
            best = tuple(each.scaled(weight) for each in own) or best
        return best

    # Pictures.

    def plot(self, row: Any = None, axes: Any = None) -> Any:
        """Draw the vote: the weight of each member, and its log loss on rows that it had not learned; or of one row.

        Parameters
        ----------
        row : mapping, sequence, text, or table of one row, optional
            The row whose answer is drawn as well: how much each member speaks for it, and the vote.
        axes : list of matplotlib axes, optional
            Two of them, or three with a row; by default on a new figure, `axes[0].figure`.
        """
        check_is_fitted(self)
        n = 2 if row is None else 3
        axes = new_panels(1, n, (3.4 * n, 1.6 + 0.35 * len(self._names))) if axes is None else list(axes)
        names = [short(name) for name in self._names]
        places, blue, grey = np.arange(len(names)), "#0072B2", "#999999"
        axes[0].barh(places, self._weights, color=blue)
        axes[0].set_yticks(places, names)
        axes[0].set_xlabel("weight")
        both = [*names, "vote"]
        axes[1].barh(np.arange(len(both)), self._losses, color=[grey] * len(names) + [blue])
        axes[1].set_yticks(np.arange(len(both)), both)
        axes[1].set_xlabel("left-out log loss")
        if row is not None:
            found = self._explain_row(row)
            best, second = (found.order * 2)[:2]
            by_member = found.member_odds(best, second)
            odds = [*(by_member.get(name, 0.0) for name in self._names), found.joint[best] - found.joint[second]]
            axes[2].barh(np.arange(len(both)), odds, color=[grey] * len(names) + [blue])
            axes[2].set_yticks(np.arange(len(both)), both)
            axes[2].axvline(0.0, color="black", linewidth=0.8)
            axes[2].set_xlabel(f"log odds for {short(self.classes_[best])}, not {short(self.classes_[second])}")
        for ax in axes:
            ax.invert_yaxis()
            ax.spines[["top", "right"]].set_visible(False)
        return axes

    # Files.

    def _given(self) -> dict[str, Any]:
        given: dict[str, Any] = self.get_params(deep=False)
        return given if isinstance(self.members, str) else {**given, "members": AUTO}

    def _extra(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {}
        return {
            "members": pack_members(self.estimators_, "members", arrays),
            "names": list(self._names),
            "own": not isinstance(self.members, str),
            "weights": self._weights.tolist(),
            "shifts": self.shifts_.tolist(),
            "losses": self._losses.tolist(),
            "least": self.least_,
            "rows": list(self._rows_learned),
            "left out": dict(self._left_out),
        }, arrays

    def _restore(self, schema: Schema, tally: Tally, plain: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        names = list(map(str, plain["names"]))
        fitted = unpack_members(plain["members"], "members", arrays)
        weights, shifts, losses = (np.array(plain[name], np.float64) for name in ("weights", "shifts", "losses"))
        whole = len(names) == len(fitted) == len(weights) == len(losses) - 1 and len(set(names)) == len(names)
        whole = whole and all(hasattr(each, "predict_proba") and hasattr(each, "schema_") for each in fitted)
        if not whole or not (np.isfinite(weights) & (weights >= 0)).all() or not np.isfinite(shifts).all():
            raise InputError("the members, their names and their weights do not match")
        self.schema_, self._names, self.estimators_, self._weights = schema, names, fitted, weights
        self._losses, self._left_out = losses, {str(name): str(why) for name, why in plain["left out"].items()}
        self.least_, (some, every) = float(plain["least"]), map(int, plain["rows"])
        if not 0 < self.least_ < 0.5:
            raise InputError(f"the least probability is {self.least_!r}")
        self._rows_learned, self._table, self.n_features_in_ = (some, every), None, len(schema)
        if plain["own"]:
            self.members = [(name, clone(each)) for name, each in zip(names, fitted)]
        self.shifts_ = shifts
        self._set_classes(tally)
        if len(shifts) != len(self.classes_):
            raise InputError("there is not one shift for each class")

    def answer_nothing(self) -> None:
        """Answer one row of which nothing is known: whatever an answer relies on must be there."""
        self._explain_row({} if self.schema_.named or len(self.schema_) != 1 else [None])

    def _repr_html_inner(self) -> str:
        shell: str = super()._repr_html_inner()
        return self.members_.body_html() + shell if self.__sklearn_is_fitted__() else shell
