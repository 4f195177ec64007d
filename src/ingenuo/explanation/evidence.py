"""What a fitted model's columns say of each class, one value at a time: the parts of which its log joint is the sum.

    log P(class, row) = constant + Σ_j evidence_j(value of column j)        (+ what all classes have in common)

So it is with naive Bayes of any families, with softmax regression, and with Gaussians of one covariance for all
classes; models whose columns do not add up are refused, with the reason. A missing value adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError
from ingenuo.families.family import Bags, Categories, Measure, WordTable, most_of
from ingenuo.families.family import Evidence as Part
from ingenuo.families.words import ColumnParameters
from ingenuo.rows.schema import FAMILIES, column_name
from ingenuo.show.arithmetic import Floats
from ingenuo.tally.labels import Labels, labels_of


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
        if added and not each.own.additive:
            columns = ", ".join(column_name(name) for name in each.own.columns.tolist()[:4])
            raise InputError(
                f"the columns {columns}{', …' if len(each.own.columns) > 4 else ''} have a covariance for each class, "
                "so what one says depends on the others and there is no nomogram; take covariance='shared', or "
                "'diagonal'"
            )
        constant += each.own.constant
        parts += each.evidence(priors)
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
                parts.append(Measure.line(column, table[j], float(group.means[j]), means, deviation, shares[:, j]))
        elif kind == "category":
            for j, column in enumerate(group.columns.tolist()):
                at = slice(int(group.first[j]), int(group.first[j + 1]))
                counts = model.tally_.over(f"category:{column}", classes, group.values[j]).floats()
                parts.append(Categories(column, group.values[j], table[at], counts=counts))
        elif kind == "count":
            sums = model.tally_.over("count:sum", classes, group.columns).floats()
            most = most_of(np.abs(sums.sum(axis=0)) / max(float(rows.sum()), 1e-300))
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
