"""What a fitted model's columns say of each class, one value at a time: the parts of which its log joint is the sum.

    log P(class, row) = constant + Σ_j evidence_j(value of column j)        (+ what all classes have in common)

So it is with naive Bayes of any families, with softmax regression, and with Gaussians of one covariance for all
classes; models whose columns do not add up are refused, with the reason. A missing value adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.families.categorical import CategoricalParameters
from ingenuo.families.counts import BagParameters, PresenceParameters
from ingenuo.families.covariance import Gaussians
from ingenuo.families.curves import GaussianCurve, SilentCurve, log_normal
from ingenuo.families.density import DensityParameters
from ingenuo.families.gaussian import GaussianParameters
from ingenuo.families.word_features import ColumnParameters, totals
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.show.arithmetic import Floats, logs
from ingenuo.tally.bag import Bag
from ingenuo.tally.labels import Labels, labels_of

_DEVIATIONS = 3.0  # how far from the mean of all rows a number is looked at


@dataclass(frozen=True)
class Values:
    """A column of categories, or of things that are there or not."""

    column: object
    values: Labels
    logs: Floats  # (values, classes)
    weight: float = 1.0  # that the logs have been multiplied by
    counts: Floats | None = None  # (classes, values): in how many rows
    shares: Floats | None = None  # (classes, values): and how probable; none in a linear model


@dataclass(frozen=True)
class Measure:
    """A column of numbers."""

    column: object
    at: Callable[[Floats], Floats]  # from numbers to logs (numbers, classes)
    low: float  # between these nearly all numbers lie
    high: float
    means: Floats  # (classes,)
    deviations: Floats
    weight: float = 1.0
    slopes: Floats | None = None  # (classes,), where the evidence is a line
    together: bool = False  # with other columns: where one is missing, the lines of the others change
    silent: bool = False  # it has one value only


@dataclass(frozen=True)
class Bags:
    """Columns of counts, of which each one more adds the same; or of things that are there or not. May be very many."""

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

    column: object
    bag: Bag  # what was counted
    used: NDArray[np.bool_]  # which of its nodes count
    each: Callable[[int], Floats]  # what an occurrence of each node adds to a class's log joint
    parameters: ColumnParameters
    model: str  # "multinomial", "complement", "bernoulli" or "linear"
    weight: float = 1.0
    empty: Floats | None = None  # (classes,): what a text without any word adds
    typical: str = ""  # of what texts that is true, where it depends on them
    weights: Floats | None = None  # (nodes, logits) of a linear model


Part = Values | Measure | Bags | WordTable


@dataclass(frozen=True)
class Evidence:
    """All that a model adds up."""

    classes: Labels
    constant: Floats  # (classes,)
    priors: Floats  # (classes,): the shares of the classes
    parts: tuple[Part, ...]  # in the table's order
    linear: bool = False


def evidence(model: Any, what: str = "nomogram", *, added: bool = True) -> Evidence:
    """What a model adds up, or an error that says why its columns do not add up.

    With `added` false, columns that have a covariance for each class stand side by side, each on its own.
    """
    name = type(model).__name__
    if not hasattr(model, "explain"):
        raise KindError(f"a {what} is of a fitted classifier of this package, got {name}")
    if name in _NO_SUM:
        raise InputError(f"a {name} has no {what}: {_NO_SUM[name]}")
    if not hasattr(model, "classes_"):
        raise InputError(
            f"a {what} is of the classes of a model, and this {name} has none; fit it first, or take a classifier"
        )
    if hasattr(model, "_groups") and hasattr(model, "_intercepts"):
        return _softmax(model)
    if not hasattr(model, "schema_") or not hasattr(model, "_parameters"):
        raise InputError(f"a {name} has no {what}: its answer is no sum over its columns")
    parameters = model._parameters()
    priors = np.exp(parameters.log_prior - np.logaddexp.reduce(parameters.log_prior))
    constant = np.array(parameters.log_prior, np.float64)
    parts: list[Part] = []
    for each in parameters.attributes:
        attribute = each.attribute
        if attribute.weight:
            parts += _parts(each.own, attribute.family, attribute.weight, priors, constant, attribute, added)
    return Evidence(parameters.classes, constant, priors, _in_order(parts, model.schema_.names), False)


_NO_SUM = {
    "LeastSquaresClassifier": "its lines are no log odds, for what is below 0 is cut off; take a GaussianDiscriminant, "
    "which learns from the same sums",
    "NetworkClassifier": "its columns depend on one another, so that a value says nothing by itself; draw its network, "
    "or take NaiveBayes",
    "LanguageModelClassifier": "a word counts by the words before it, and says nothing by itself; take NaiveBayes",
    "BayesOptimalClassifier": "it averages what several models say; ask for that of each of them",
    "NaiveBayesRegressor": "it answers with a number; take NaiveBayes, and classes",
}


def _in_order(parts: list[Part], names: Labels) -> tuple[Part, ...]:
    order = {name: place for place, name in enumerate(names.tolist())}
    return tuple(sorted(parts, key=lambda part: order.get(part.column, len(order))))


def _parts(
    own: Any, family: str, weight: float, priors: Floats, constant: Floats, attribute: Any, added: bool
) -> Iterator[Part]:
    """The columns of one family; what they add to every row goes to the constant."""
    if isinstance(own, CategoricalParameters):
        for column, table in zip(own.columns.tolist(), own.tables):
            yield Values(column, table.labels, weight * logs(table.thetas).T, weight, table.counts, table.thetas)
    elif isinstance(own, GaussianParameters | DensityParameters):
        for j, column in enumerate(own.columns.tolist()):
            yield _measure(own, j, column, weight, priors)
    elif isinstance(own, BagParameters):
        yield _amounts(own, weight, priors)
    elif isinstance(own, PresenceParameters):
        yield Bags(
            own.columns, weight * own.present, weight * own.absent, np.ones(len(own.columns)), weight,
            own.counts.floats(), own.rows, np.exp(own.present).T,
        )  # fmt: skip
    elif isinstance(own, Gaussians):
        if own.shared:
            yield from _lines(own, constant)
        elif not added:
            yield from _marginals(own, priors)
        else:
            columns = ", ".join(column_name(name) for name in own.columns.tolist()[:4])
            raise InputError(
                f"the columns {columns}{', …' if len(own.columns) > 4 else ''} have a covariance for each class, so "
                f"what one says depends on the others and there is no nomogram; take covariance='shared', or 'diagonal'"
            )
    else:
        for p in own:
            yield _words(p, FAMILY_MODELS[family], weight, attribute)


FAMILY_MODELS = {"words": "multinomial", "words-complement": "complement", "words-bernoulli": "bernoulli"}


def _around(means: Floats, deviations: Floats, priors: Floats) -> tuple[float, float]:
    """Between where nearly all numbers lie: three deviations around the mean of all classes together."""
    unit = max(float(np.abs(means).max(initial=0)), float(deviations.max(initial=0)), np.finfo(float).tiny)
    m, s = means / unit, deviations / unit
    mean = float(priors @ m)
    spread = float(np.sqrt(priors @ (s * s + (m - mean) ** 2)))
    return (mean - _DEVIATIONS * spread) * unit, (mean + _DEVIATIONS * spread) * unit


def _measure(
    own: GaussianParameters | DensityParameters, j: int, column: object, weight: float, priors: Floats
) -> Measure:
    if isinstance(own, GaussianParameters):
        means, deviations = own.means[:, j], own.deviations[:, j]

        def at(x: Floats) -> Floats:
            return weight * log_normal(np.asarray(x, np.float64), means, deviations)

        return Measure(column, at, *_around(means, deviations, priors), means, deviations, weight)
    curve = own.curves[j]

    def along(x: Floats) -> Floats:
        return weight * curve.log_density(np.asarray(x, np.float64))

    first, last = curve.column.values(np.array([0.0, float(curve.column.size)])).tolist()
    if isinstance(curve, SilentCurve):
        nothing = np.zeros(len(priors))
        return Measure(column, along, first, last, nothing, nothing, weight, silent=True)
    if isinstance(curve, GaussianCurve):
        means, deviations = curve.means, curve.deviations
    else:
        bins = curve.column
        means = bins.values(bins.counts @ bins.centres / bins.totals)
        with np.errstate(over="ignore", under="ignore"):
            deviations = np.ldexp(bins.spread[:-1], bins.exponent)
    low, high = _around(means, deviations, priors)
    return Measure(column, along, max(low, first), min(high, last), means, deviations, weight)


def _amounts(own: BagParameters, weight: float, priors: Floats) -> Bags:
    counts = own.counts.floats()
    total = counts.sum(axis=1, keepdims=True)
    shares = (counts + own.pseudo) / np.maximum(total + own.pseudo.sum(), np.finfo(float).tiny)
    most = _poisson(priors @ (shares * own.lengths[:, np.newaxis]))
    return Bags(own.columns, weight * own.table, None, most, weight, counts, None, shares, own.lengths)


def _poisson(mean: Floats) -> Floats:
    """What hardly a row has more of: counts are about Poisson, so three deviations above the mean."""
    return np.asarray(np.maximum(np.ceil(mean + 3 * np.sqrt(mean)), 1.0))


def _lines(own: Gaussians, constant: Floats) -> Iterator[Measure]:
    """Of one covariance for all classes: w_k·(x - centre), and constants."""
    weights, constants = own.lines()
    constant += constants
    deviations = np.sqrt(np.diag(own.covariances[0]))
    shares = own.counts / max(float(own.counts.sum()), 1e-300)
    for j, column in enumerate(own.columns.tolist()):
        yield _line(column, weights[:, j], float(own.centre[j]), own.means[:, j], deviations[j], shares, together=True)


def _marginals(own: Gaussians, priors: Floats) -> Iterator[Measure]:
    """Each column by itself, the others integrated out."""
    deviations = np.sqrt(np.maximum(np.diagonal(own.covariances, axis1=1, axis2=2), np.finfo(float).tiny))
    alone = GaussianParameters(own.columns, np.zeros_like(own.means), own.means, deviations)
    for j, column in enumerate(own.columns.tolist()):
        yield _measure(alone, j, column, 1.0, priors)


def _line(
    column: object, slopes: Floats, centre: float, means: Floats, deviation: float, shares: Floats, *, together: bool
) -> Measure:
    deviations = np.full(len(means), deviation)
    low, high = _around(means, deviations, shares)

    def at(x: Floats) -> Floats:
        return (np.asarray(x, np.float64)[:, np.newaxis] - centre) * slopes

    return Measure(column, at, low, high, means, deviations, 1.0, slopes, together)


def _words(p: ColumnParameters, model: str, weight: float, attribute: Any) -> WordTable:
    used = np.asarray(p.weights != 0)
    typical = ""
    if attribute.exponent:
        typical = f"in a text of {attribute.typical - 1:.4g} words"
    elif p.words.norm is not None:
        typical = "divided by the length of the text's vector"

    def each(k: int) -> Floats:
        return weight * _per_occurrence(p, model, k)

    empty = None if p.absent is None else weight * p.absent
    return WordTable(p.name, p.bag, used, each, p, model, weight, empty, typical)


def _per_occurrence(p: ColumnParameters, model: str, k: int) -> Floats:
    """What one occurrence of each node adds to the log joint of class k; 0 for those that are not used."""
    counts = np.asarray(p.bag.column(k), np.float64) * p.weights
    used = p.weights != 0
    pseudo = np.asarray(p.pseudo)
    if model == "bernoulli":
        missing = p.normaliser[k] - float(np.max(p.pseudo)) - counts
        odds = logs(counts + float(np.max(p.pseudo))) - logs(np.maximum(missing, 0.0))
        return np.where(used, odds, 0.0)
    above = counts + pseudo
    if model == "complement":
        above = np.asarray(totals(p.bag), np.float64) * p.weights - counts + pseudo
    share = p.weights * logs(np.where(used, above / max(float(p.normaliser[k]), 1e-300), 1.0))
    return np.asarray(-share if model == "complement" else share)


def _softmax(model: Any) -> Evidence:
    """The weights of a softmax regression, by the kind of their columns."""
    classes = labels_of(model.classes_)
    b = np.asarray(model._intercepts, np.float64)
    constant = np.concatenate([[0.0], b]) if len(b) == 1 else b.copy()
    rows = np.ones(len(classes))
    if "class" in model.tally_:
        rows = model.tally_.over("class", classes).floats()
    priors = rows / max(float(rows.sum()), 1e-300)
    parts: list[Part] = []
    for family, weights in model._by_group().items():
        group, kind = model._groups[family], FAMILIES[family]
        table = weights if weights.shape[1] > 1 else np.hstack([np.zeros_like(weights), weights])
        if kind == "number":
            shares = group.shares
            for j, column in enumerate(group.columns.tolist()):
                deviation = float(np.sqrt(group.variances[j]))
                means = group.by_class[:, j]
                parts.append(
                    _line(column, table[j], float(group.means[j]), means, deviation, shares[:, j], together=False)
                )
        elif kind == "category":
            for j, column in enumerate(group.columns.tolist()):
                at = slice(int(group.first[j]), int(group.first[j + 1]))
                counts = model.tally_.over(f"category:{column}", classes, group.values[j]).floats()
                parts.append(Values(column, group.values[j], table[at], counts=counts))
        elif kind == "count":
            sums = model.tally_.over("count:sum", classes, group.columns).floats()
            most = _poisson(np.abs(sums.sum(axis=0)) / max(float(rows.sum()), 1e-300))
            parts.append(Bags(group.columns, table, None, most, counts=sums))
        else:
            for j, part in enumerate(group.parts):
                own = table[int(group.first[j]) : int(group.first[j + 1])] * part.weights[:, np.newaxis]
                p = part.parameters(weights[int(group.first[j]) : int(group.first[j + 1])])
                parts.append(_linear_words(part, own, p))
    return Evidence(classes, constant, priors, _in_order(parts, model.schema_.names), True)


def _linear_words(part: Any, own: Floats, p: ColumnParameters) -> WordTable:
    typical = "divided by the length of the text's vector" if part.words.norm is not None else ""
    return WordTable(
        part.name, part.bag, np.asarray(part.weights != 0), lambda k: own[:, k], p, "linear", typical=typical,
        weights=own,
    )  # fmt: skip
