"""Bayes-optimal classification over fitted models: every classifier votes, weighted by its posterior given data.

P(v | x, D) = Σ_h P(v | x, h) P(h | D),   P(h | D) ∝ P(h) Π_i P(y_i | x_i, h)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted, validate_data

from ingenuo.errors import InputError, KindError
from ingenuo.language import say
from ingenuo.models import packing
from ingenuo.models.classifier import Answering, Explains, TableModel, summary_html
from ingenuo.models.folds import check_members, classes_of, fit_copy, log_answers
from ingenuo.models.hypotheses import Hypotheses, read_number
from ingenuo.models.members import sheet_member
from ingenuo.models.model import CLASS, Refusals
from ingenuo.models.registry import pack_members, unpack_members
from ingenuo.networks import learn
from ingenuo.rows import checks
from ingenuo.rows.rows import rows_of, take_rows
from ingenuo.rows.schema import Schema
from ingenuo.rows.source import is_texts
from ingenuo.show.arithmetic import CLASSES, say_answer
from ingenuo.show.arithmetic import logs as logs_of
from ingenuo.show.format import plain
from ingenuo.show.table import Block, PrintedTable, Translated
from ingenuo.tally.labels import Labels, find, labels_of, public, unite
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]

PREFIT = "prefit"


@dataclass(frozen=True, eq=False, repr=False)
class Vote(Translated):
    """The vote of weighted models; prints as a table, and `to_dict` gives the same as data.

    >>> print(Vote(np.array(["no", "yes"]), ("a", "b"), np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.8]])))
         weight    no                      yes
    ─────────────────────────────────────────────────────────────
    a    0.600000  × 0.900000  = 0.540000  × 0.100000  = 0.060000
    b    0.400000  × 0.200000  = 0.080000  × 0.800000  = 0.320000
    ─────────────────────────────────────────────────────────────
    sum                        = 0.620000              = 0.380000
    → no, with probability 0.620000
    """

    classes: Labels
    names: tuple[Any, ...]
    weights: Floats
    probabilities: Floats  # models × classes

    @property
    def posterior(self) -> Floats:
        """The weighted sum for each class."""
        return np.asarray(self.weights @ self.probabilities)

    @property
    def prediction(self) -> Any:
        """The most probable class."""
        return self.classes[int(np.argmax(self.posterior))]

    def as_logs(self) -> Vote:
        """It has no products of factors."""
        raise InputError("a vote is a sum, and has no product; leave out form='log', or ask each of its classifiers")

    def reasons(self, n: int) -> NoReturn:
        """It has none of its own."""
        raise InputError("a vote has no reasons of its own: each of its classifiers has; ask one of them")

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        classes, posterior = self.classes.tolist(), self.posterior
        votes = [
            {"name": name, "weight": weight, "probabilities": dict(zip(classes, row))}
            for name, weight, row in zip(self.names, self.weights.tolist(), self.probabilities.tolist())
        ]
        found = {"prediction": classes[int(np.argmax(posterior))], "votes": votes}
        return plain({**found, "posterior": dict(zip(classes, posterior.tolist()))})  # type: ignore[no-any-return]

    def records(self) -> list[dict[str, Any]]:
        """A line for each model, with its weight and probabilities, and one for their weighted sums."""
        lines = [*zip(self.names, self.weights.tolist(), self.probabilities), ("sum", 1.0, self.posterior)]
        names = [f"P({label})" for label in self.classes.tolist()]
        return [{"classifier": name, "weight": w, **dict(zip(names, p.tolist()))} for name, w, p in lines]

    def _title(self) -> str:
        return say("Why {answer}?", answer=self.prediction)

    def _blocks(self) -> list[str | Block]:
        order = np.argsort(-self.posterior, kind="stable").tolist()
        shown, hidden = sorted(order[:CLASSES]) if len(order) <= CLASSES else order[:CLASSES], order[CLASSES:]
        rows: list[list[Any]] = [
            [str(name), weight, *chain(*((f"× {row[k]:.6f}", f"= {weight * row[k]:.6f}") for k in shown))]
            for name, weight, row in zip(self.names, self.weights, self.probabilities)
        ]
        rows.append([say("sum"), None, *chain(*(("", f"= {self.posterior[k]:.6f}") for k in shown))])
        heads = ["", say("weight"), *chain(*((str(self.classes[k]), "") for k in shown))]
        table = PrintedTable(heads, rows, ["", ".6f"], rule=True, totals=1, divided=(2, 2))
        found: list[str | Block] = [table, say_answer(self.prediction, self.posterior.max())]
        if hidden:
            how = {"n": len(hidden), "p": f"{self.posterior[hidden].sum():.2g}"}
            found.append(say("({n} less probable classes are not shown; together {p})", **how))
        return found


@dataclass(eq=False, repr=False)
class BayesOptimalClassifier(Refusals, Explains, Answering, ClassifierMixin, _BaseComposition):  # type: ignore[misc]
    """The vote of several classifiers, each weighted by its posterior given the data.

    A classifier is a hypothesis h. P(h | D) is its prior times the product of P(y_i | x_i, h), over the labels of rows
    that it had not learned. A classifier that gives one of those
    labels probability 0 is refuted, and has weight 0.

    Parameters
    ----------
    estimators : list of (name, classifier)
        Classifiers that give probabilities: of this package, of scikit-learn, or any that keep its contract.
    folds : int, or "prefit"
        Into how many parts the rows are cut: each part is scored by classifiers that learned from the others, and then
        all classifiers learn from all rows. With "prefit" the classifiers are taken as they were fitted, and the rows
        of `fit`, which should be new to them, only weigh them.
    priors : mapping, optional
        The probability of each classifier, by name, before any row was seen; by default they are equal.

    Attributes
    ----------
    weights_, log_likelihoods_ : dict
        The posterior of each classifier, and its Σ_i log P(y_i | x_i, h).
    hypotheses_ : Hypotheses
        The classifiers as hypotheses, and how belief in them changed row by row: `hypotheses_.plot()`.
    estimators_ : list of classifiers
        As they were fitted on all rows.
    classes_ : array
        All the classes that any of them knows, sorted; a classifier gives those that it does not know probability 0.

    Notes
    -----
    Folds are stratified and the same at every call. A class of which there is one row cannot be both learned and
    scored: its row is left out of the product.

    Examples
    --------
    >>> from ingenuo import NaiveBayes
    >>> from ingenuo.datasets import play_tennis
    >>> columns = {"Temperature": "ignore", "Humidity": "ignore"}
    >>> model = BayesOptimalClassifier([("all", NaiveBayes()), ("sky and wind", NaiveBayes(columns))])
    >>> model = model.fit(play_tennis(), "Play")
    >>> {name: round(weight, 3) for name, weight in model.weights_.items()}
    {'all': 0.282, 'sky and wind': 0.718}
    """

    _refusals: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("partial_fit", "forget", "merge"),
            "its weights come from rows that the classifiers had not learned from, and other rows would make other "
            "classifiers; fit it on all the rows together",
        ),
        "sample": "it averages answers, and has no distribution of the rows; draw from one of its classifiers",
    }

    estimators: Any
    folds: int | str = 5
    priors: Mapping[Any, float] | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and with `deep` those of the classifiers as name__parameter."""
        return self._get_params("estimators", deep=deep)  # type: ignore[no-any-return]

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a classifier by its name, its parameters as name__parameter."""
        self._set_params("estimators", **params)
        return self

    # Learning.

    def _check_settings(self) -> tuple[str, ...]:
        """The classifiers' names; raises if a parameter makes no sense."""
        names = check_members("estimators", self.estimators)
        with checks.convert_errors():
            self._validate_names(names)
        if self.folds != PREFIT:
            checks.check_whole('folds, unless it is "prefit",', self.folds, 2)
        if self.priors is not None:
            if not isinstance(self.priors, Mapping):
                raise KindError(
                    "priors must be a mapping from a classifier's name to its probability, "
                    f"got {type(self.priors).__name__} {self.priors!r}"
                )
            total = float(sum(read_number(p, f"the prior of {name!r}") for name, p in self.priors.items()))
            if abs(total - 1) > 1e-9:
                raise InputError(f"the priors sum to {total:g}; they must sum to 1: divide each by that")
        return names

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifiers (unless they are "prefit"), and weigh them by rows that they had not learned from.

        Parameters
        ----------
        X : anything that all the classifiers take
            The rows.
        y : array-like, or the name of a column of X
            The class of each row.
        sample_weight : array-like, or the name of a column of X, optional
            How often each row counts, to the classifiers and in the product.
        """
        names = self._check_settings()
        rows = rows_of(X, y, sample_weight).in_memory()
        target, X, y = rows.target, checks.divisible(rows.X), rows.y
        n_rows = checks.count_rows(X)
        if n_rows == 0:
            raise InputError("Found array with 0 sample(s) while a minimum of 1 is required: give some rows")
        codes, classes = checks.labels(self, y, n_rows)
        weights = checks.weights(rows.weights, n_rows)
        # The classifiers' names and priors are looked at before the long work begins, which fills the logarithms.
        logs = np.full((n_rows, len(names)), -np.inf)
        held_out = {name: _HeldOut(logs[:, h]) for h, name in enumerate(names)}
        before = Hypotheses(names if self.priors is None else self.priors, held_out)
        if self.folds == PREFIT:
            scored, fitted = np.arange(n_rows), [estimator for _, estimator in self.estimators]
            for h, (name, estimator) in enumerate(self.estimators):
                check_is_fitted(estimator)
                logs[:, h] = log_probabilities(estimator, X, classes, codes, name)
        else:
            scored = self._score_out_of_fold(X, codes, classes, weights, logs)
            fitted = [fit_copy(estimator, X, public(classes)[codes], weights) for _, estimator in self.estimators]
        if weights is not None:
            scored = scored[weights[scored] > 0]
            logs[scored] *= weights[scored, np.newaxis]
        possible = [h for h, name in enumerate(names) if before.priors[name] > 0]
        refuted = np.isneginf(logs[scored][:, possible])
        if refuted.any(axis=0).all():
            at = {names[h]: int(scored[refuted[:, place].argmax()]) for place, h in enumerate(possible)}
            zeros = [f"{name!r} that of row {row} ({classes.tolist()[codes[row]]!r})" for name, row in at.items()]
            raise InputError(
                "every classifier gives the true label of some row probability 0, so none of them is possible: "
                f"{', '.join(zeros[:3])}; smooth or calibrate one of them at least (CalibratedClassifierCV)"
            )
        found = before.update(scored)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if not is_texts(X):
            with checks.convert_errors():
                validate_data(self, X, skip_check_array=True, reset=True)
        self._names, self._table = checks.columns_of(X)
        seen = Table.of(
            {"class": classes}, learn.count_states(np.zeros(n_rows, np.int64), codes, [len(classes)], weights)
        )
        self._set_voters(found, fitted, Tally({CLASS: seen}), target)
        return self

    def _set_voters(self, found: Hypotheses, fitted: list[Any], seen: Tally, target: str | None) -> None:
        """Take the classifiers and what is believed of them."""
        known = labels_of([]) if self.folds == PREFIT else seen.labels(CLASS, 0)
        for estimator in fitted:
            known = unite(known, classes_of(estimator))
        self.hypotheses_, self.log_likelihoods_ = found, found.log_likelihoods
        self.weights_ = {name: float(weight) for name, weight in found.posterior.items()}
        self.estimators_, self.classes_, self._target, self.tally_ = fitted, public(known), target, seen

    @property
    def schema_(self) -> Schema:
        """What the columns are to the first classifier that says it; those of scikit-learn say nothing."""
        check_is_fitted(self)
        known = [each.schema_ for each in self.estimators_ if hasattr(each, "schema_")]
        if not known:
            raise AttributeError("none of the classifiers says what its columns are")
        return known[0]  # type: ignore[no-any-return]

    # Files: the classifiers, each as its own file would be, and what is believed of them; not the trace.

    def state(self) -> tuple[dict[str, Any], packing.Tensors]:
        """The model as plain values and tensors; all its classifiers must be of this package."""
        check_is_fitted(self)
        tensors: packing.Tensors = {}
        voters = pack_members(self.estimators_, "voters", tensors)
        return {
            "kind": "model",
            "model": type(self).__name__,
            "names": list(self.weights_),
            "voters": voters,
            "logs": packing.pack(list(self.log_likelihoods_.values())),
            "settings": packing.pack({"folds": self.folds, "priors": self.priors}),
            "columns": packing.pack(self._names),
            "target": self._target,
            "tally": packing.pack_tally(self.tally_, tensors),
        }, tensors

    @classmethod
    def from_state(cls, manifest: Mapping[str, Any], tensors: packing.Tensors) -> Self:
        """The model that `state` gave; raises for what is no model."""
        names, settings = list(map(str, manifest["names"])), packing.unpack(manifest["settings"])
        fitted = unpack_members(manifest["voters"], "voters", tensors)
        logs = [float(each) for each in packing.unpack(manifest["logs"])]
        if not len(names) == len(fitted) == len(logs) or np.isnan(logs).any() or max(logs) > 0:
            raise InputError("the classifiers, their names and their likelihoods do not match")
        model = cls([(name, clone(own)) for name, own in zip(names, fitted)], settings["folds"], settings["priors"])
        model._check_settings()
        before = Hypotheses(
            names if model.priors is None else model.priors,
            {name: _HeldOut(np.array([log])) for name, log in zip(names, logs)},
        )
        seen = packing.unpack_tally(manifest["tally"], tensors)
        target = None if manifest["target"] is None else str(manifest["target"])
        model._names = list(packing.unpack(manifest["columns"]))
        model._table = pa.Table if model._names else None
        model._set_voters(before.update(np.array([0])), fitted, seen, target)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted[0], name):
                setattr(model, name, getattr(fitted[0], name))
        return model

    def answer_nothing(self) -> None:
        """Let each classifier answer a row of which nothing is known."""
        for estimator in self.estimators_:
            estimator.answer_nothing()

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated: those of all classifiers, and the weight of each but one."""
        check_is_fitted(self)
        return sum(int(each.n_parameters_) for each in self.estimators_) + len(self.estimators_) - 1

    def _score_out_of_fold(
        self, X: Any, codes: NDArray[np.int32], classes: Labels, weights: Floats | None, logs: Floats
    ) -> NDArray[np.intp]:
        """Fill in log P(y_i | x_i, h) of every row by classifiers that did not learn from it; the rows that count."""
        folds, n_rows = int(self.folds), len(codes)
        if n_rows < folds:
            raise InputError(f"{folds} folds need {folds} rows at least, got n_samples={n_rows}; take fewer folds")
        fold = np.empty(n_rows, np.int64)
        fold[np.argsort(codes, kind="stable")] = np.arange(n_rows) % folds  # so each has its share of every class
        scored = np.flatnonzero(np.bincount(codes)[codes] > 1)
        if not len(scored):
            raise InputError("every class has one row only, so none can be both learned and scored; give more rows")
        y = public(classes)[codes]
        for part in range(folds):
            held, rest = np.flatnonzero(fold == part), np.flatnonzero(fold != part)
            learned, ask = take_rows(X, rest), take_rows(X, held)
            for h, (name, estimator) in enumerate(self.estimators):
                fitted = fit_copy(estimator, learned, y[rest], None if weights is None else weights[rest])
                logs[held, h] = log_probabilities(fitted, ask, classes, codes[held], name)
        return scored

    # Answering.

    def _each(self, X: Any) -> Floats:
        """P(class | row, h): hypotheses × rows × classes; nothing is asked of those of weight 0."""
        check_is_fitted(self)
        known = labels_of(self.classes_.tolist())
        X = checks.without_target(X, self._target, Schema.of({}))
        weights = list(self.weights_.values())
        result = np.zeros((len(weights), checks.count_rows(X), len(known)))
        for h in np.flatnonzero(weights).tolist():
            own = classes_of(self.estimators_[h])
            result[h][:, find(known, own)] = np.asarray(self.estimators_[h].predict_proba(X), np.float64)
        return result

    def _predict_proba(self, X: Any) -> Floats:
        """Σ_h weight_h · P(class | row, h)."""
        return self._average(self._each(X))

    def _average(self, each: Floats) -> Floats:
        found = np.zeros(each.shape[1:])
        for weight, own in zip(self.weights_.values(), each):
            found += weight * own
        return found

    def answer_row(self, row: Any) -> tuple[None, Floats]:
        """The weighted sum of what the classifiers say of one row; there is no joint."""
        one = checks.one_row(checks.without_target(row, self._target, Schema.of({})), self._names, self._table)
        return None, self._average(self._each(one))[0]

    def sheet_schema(self) -> tuple[Schema, list[Any], Floats]:
        """What a sheet says of the columns, the classes, and the shares of these."""
        classes = labels_of(self.classes_.tolist())
        rows = self.tally_.over(CLASS, classes).floats()
        return self.schema_, classes.tolist(), rows / max(float(rows.sum()), 1e-300)

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: what each classifier says, weighted."""
        known = labels_of(self.classes_.tolist())
        pairs = zip(self.weights_.items(), self.estimators_)
        members = [sheet_member(name, each, w, self.schema_, known) for (name, w), each in pairs if w]
        return {"op": "average", "members": members}

    def _predict_log_proba(self, X: Any) -> Floats:
        return logs_of(self._predict_proba(X))

    def _predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[self._predict_proba(X).argmax(axis=1)])

    def _explain_row(self, row: Any) -> Vote:
        """A vote: what each classifier says, times its weight, and the sums."""
        one = checks.one_row(checks.without_target(row, self._target, Schema.of({})), self._names, self._table)
        weights = np.array(list(self.weights_.values()))
        return Vote(labels_of(self.classes_.tolist()), tuple(self.weights_), weights, self._each(one)[:, 0])

    _repr_mimebundle_ = TableModel._repr_mimebundle_

    def _repr_html_inner(self) -> str:
        shell: str = super()._repr_html_inner()
        if "weights_" not in self.__dict__:
            return shell
        lines = [[name, f"{self.log_likelihoods_[name]:.6g}", f"{w:.6f}"] for name, w in self.weights_.items()]
        summary = summary_html(self.tally_, Schema.of({}), labels_of(self.classes_.tolist()))
        return summary + PrintedTable(["classifier", "log-likelihood", "weight"], lines).html() + shell

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            each = [get_tags(estimator).input_tags for _, estimator in self.estimators]
        except (TypeError, ValueError, AttributeError):  # no list of classifiers, which `fit` will say
            return tags
        for name in ("sparse", "allow_nan", "string", "categorical"):
            setattr(tags.input_tags, name, bool(each) and all(getattr(its, name) for its in each))
        return tags


@dataclass
class _HeldOut:
    """A classifier as a hypothesis about rows by their number: its log probability of the true label of each."""

    logs: Floats

    def logpmf(self, rows: Any) -> Floats:
        return np.asarray(self.logs[np.asarray(rows)])


def log_probabilities(estimator: Any, X: Any, classes: Labels, codes: NDArray[np.int32], name: str) -> Floats:
    """log P(true label | row) by a fitted classifier; -inf where it does not know the label."""
    found = log_answers(estimator, X)
    places = find(classes_of(estimator), classes)[codes]
    logs: Floats = np.where(places >= 0, found[np.arange(len(codes)), places], -np.inf)
    if np.isnan(logs).any():
        raise InputError(
            f"the classifier {name!r} gave a row a probability that is no number; leave it out, or correct it"
        )
    return logs
