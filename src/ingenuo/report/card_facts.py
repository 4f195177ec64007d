"""What is known of a model without asking anybody: its task, its classes, its columns, its measures, its limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np

from ingenuo.bins import bins_name
from ingenuo.errors import KindError, RefusedError
from ingenuo.evaluation.evaluation import Evaluation
from ingenuo.explanation import evaluation_tables
from ingenuo.families.categorical import table_name
from ingenuo.families.gaussian import COUNT
from ingenuo.labels import objects
from ingenuo.real import Real
from ingenuo.report.rows import schema_of
from ingenuo.schema import FAMILIES

_SMALL = 30  # rows of a class that little can be learned from
_NAMED = 5

_FAMILY_NAMES = tuple(FAMILIES)


@dataclass(frozen=True)
class Measured:
    """What was measured: by name the value and the ends of its interval, and on how many rows."""

    values: dict[str, tuple[float, float | None, float | None]] = field(default_factory=dict)
    rows: int | None = None
    confidence: float | None = None
    remarks: tuple[str, ...] = ()
    how: str = ""


def measured(evaluation: Any) -> Measured:
    """An evaluation, or what was noted of one: {"accuracy": 0.9} or {"accuracy": {"value": 0.9, "low": …, "high": …}}.

    >>> measured({"accuracy": {"value": 0.9, "low": 0.8, "high": 0.95}, "rows": 50}).values
    {'accuracy': (0.9, 0.8, 0.95)}
    """
    if evaluation is None:
        return Measured()
    if isinstance(evaluation, Evaluation):
        values = {
            measure.name: (float(measure.value), measure.low, measure.high)
            for measure in evaluation.measures.values()
            if measure.label is None
            and not measure.name.endswith(("_micro", "_weighted"))
            and measure.value is not None
            and not math.isnan(measure.value)
        }
        return Measured(values, evaluation.n_rows, evaluation.confidence, evaluation.remarks)
    if not isinstance(evaluation, Mapping):
        raise KindError(
            f"evaluation must be what ingenuo.evaluate gives, or a mapping of measures, got {type(evaluation).__name__}"
        )
    given = evaluation.get("measures", evaluation)
    values = {}
    for name, value in given.items() if isinstance(given, Mapping) else ():
        one = value if isinstance(value, Mapping) else {"value": value}
        if _is_number(one.get("value")) and name not in ("rows", "n_rows", "confidence"):
            low, high = (float(one[end]) if _is_number(one.get(end)) else None for end in ("low", "high"))
            values[str(name)] = (float(one["value"]), low, high)
    rows = evaluation.get("rows", evaluation.get("n_rows"))
    sure = evaluation.get("confidence")
    return Measured(
        values,
        int(rows) if _is_number(rows) else None,
        float(sure) if _is_number(sure) else None,
        (),
        str(evaluation.get("how") or ""),
    )


def _is_number(value: Any) -> TypeGuard[float]:
    known = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return known and not math.isnan(float(value))


def measure_rows(found: Measured) -> list[list[str]]:
    """A line for each measure: what it is called, its value, its interval."""
    lines = []
    for name, (value, low, high) in found.values.items():
        try:
            called = evaluation_tables.title(name)
        except (KeyError, ValueError):  # a measure of somebody else's
            called = name
        lines.append([called, evaluation_tables.number(value), evaluation_tables.span(low, high)])
    return lines


def task_of(model: Any) -> str:
    """What hubs call the task."""
    if not hasattr(model, "classes_") and hasattr(model, "predict_quantiles"):
        return "tabular-regression"
    schema = schema_of(model)
    texts = hasattr(model, "order") if schema is None else len(schema.texts) == len(schema)
    return "text-classification" if texts else "tabular-classification"


def tags_of(model: Any) -> list[str]:
    """What hubs find a model by."""
    by_name = {
        "GaussianDiscriminant": "discriminant-analysis",
        "LeastSquaresClassifier": "linear-model",
        "SoftmaxRegression": "logistic-regression",
        "NetworkClassifier": "bayesian-network",
        "LanguageModelClassifier": "language-model",
        "BayesOptimalClassifier": "ensemble",
    }
    return ["ingenuo", by_name.get(type(model).__name__, "naive-bayes"), task_of(model)]


def rows_by_class(model: Any) -> dict[str, float]:
    """How many rows of each class were learned, if the model's sums say so."""
    tally = getattr(model, "tally_", None)
    if tally is None or "class" not in tally or not hasattr(model, "classes_"):
        return {}
    labels = tally.labels("class", 0)
    return dict(zip(map(str, labels.tolist()), tally.over("class", labels).floats().tolist()))


def missing_of(model: Any, name: Any) -> float | None:
    """The share of the learned rows that have no value in a column, where the sums tell."""
    tally = getattr(model, "tally_", None)
    rows = sum(rows_by_class(model).values())
    if tally is None or rows <= 0:
        return None
    if table_name(name) in tally:
        counted = tally[table_name(name)].sums.floats().sum()
    elif bins_name(name) in tally:
        counted = tally.bins(bins_name(name)).sums.floats().sum()
    elif COUNT in tally and name in tally.labels(COUNT, 1).tolist():
        column = objects([name]) if isinstance(name, str) else np.array([name])
        counted = tally.over(COUNT, tally.labels(COUNT, 0), column).floats().sum()
    else:
        return None
    return float(min(max(1 - counted / rows, 0.0), 1.0))


def assumptions(model: Any) -> list[str]:
    """What the model takes for granted, and where that hurts."""
    name = type(model).__name__
    schema = schema_of(model)
    families = set() if schema is None else {_FAMILY_NAMES[code] for code in schema.families}
    said = {
        "GaussianDiscriminant": "The columns are taken to be jointly normal within each class; heavy tails and several "
        "peaks make its probabilities too sure.",
        "LeastSquaresClassifier": "Classes are told apart by planes that are fitted by least squares; rows far on the "
        "right side of a plane pull it as much as wrong ones, and its scores are no probabilities.",
        "SoftmaxRegression": "The log odds are taken to be a sum of a term for each column: columns that matter only "
        "together are not seen.",
        "NetworkClassifier": "Columns are taken to be independent but for the arcs of the network, and numbers are cut "
        "into intervals within which they do not differ.",
        "LanguageModelClassifier": "A word is taken to depend on a few words before it only; what stands farther away "
        "is not seen.",
        "BayesOptimalClassifier": "It votes among the models it was given, and is wrong where all of them are.",
    }.get(
        name,
        "Columns (and words) are taken to be independent within a class. Where they are not, the same evidence counts "
        "twice: classes may still be right, but the probabilities are too near 0 and 1.",
    )
    found = [said]
    if families & {"gaussian", "gaussian-unbiased"}:
        found.append("Numbers are taken to be normally distributed within each class.")
    if any(FAMILIES[family] == "text" for family in families):
        found.append("The order of words is not seen, nor irony, nor words that were never learned.")
    return found


def small_classes(model: Any) -> str:
    """The classes that were learned from few rows, in a sentence; "" where there are none."""
    small = [name for name, rows in rows_by_class(model).items() if rows < _SMALL]
    if not small:
        return ""
    more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
    return f"Fewer than {_SMALL} rows were learned of: {', '.join(small[:_NAMED])}{more}."


def sums_exactly(model: Any) -> bool:
    """Whether all its sums are exact; counts that are no whole numbers are kept in doubles."""
    tally = getattr(model, "tally_", None)
    return tally is not None and not any(isinstance(getattr(table, "sums", None), Real) for table in tally.values())


def refusal(model: Any, method: str) -> str | None:
    """Why a model cannot do something; None where it can."""
    try:
        getattr(model, method)
    except RefusedError as error:
        return str(error)
    except AttributeError:
        return f"a {type(model).__name__} has no {method}"
    return None
