"""The model card: what a model is, for what, from what, how good and where not, in Markdown that model hubs read.

All of it is generated from facts, by `show/templates/card.md`; what nobody said is marked as not stated.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, TypeGuard

import numpy as np

from ingenuo.errors import KindError, RefusedError
from ingenuo.evaluation.intervals import Judged
from ingenuo.evaluation.measures import title as title_of
from ingenuo.families.gaussian import COUNT, SUM
from ingenuo.report.page import audits_of, history_of, parameters_of, rows_by_class, schema_of, sources_of, version
from ingenuo.rows.schema import FAMILIES, category_table, column_name
from ingenuo.show.format import cell, percent, shortened, span
from ingenuo.show.page import template
from ingenuo.tally.exact import Real
from ingenuo.tally.histogram import bins_name
from ingenuo.tally.labels import objects

_SMALL = 30  # rows of a class that little can be learned from
_CELLS = 3  # of the row in the example
_COLUMNS = 40  # listed
_HUB = {  # measures by the names that hubs know
    "accuracy": "accuracy",
    "f1_macro": "f1",
    "precision_macro": "precision",
    "recall_macro": "recall",
    "mcc": "matthews_correlation",
    "roc_area": "roc_auc",
    "roc_area_macro": "roc_auc",
    "brier": "brier_score",
    "log_loss": "log_loss",
    "ece": "expected_calibration_error",
}
_TAGS = {
    "GaussianDiscriminant": "discriminant-analysis",
    "LeastSquaresClassifier": "linear-model",
    "SoftmaxRegression": "logistic-regression",
    "NetworkClassifier": "bayesian-network",
    "LanguageModelClassifier": "language-model",
    "BayesClassifier": "ensemble",
    "BayesOptimalClassifier": "ensemble",
}


def card(
    model: Any,
    about: Mapping[str, Any] | None = None,
    evaluation: Any = None,
    audit: Any = None,
    *,
    intended_use: str | None = None,
    out_of_scope: str | None = None,
    limits: str | Sequence[str] | None = None,
    license: str | None = None,
    language: str | Sequence[str] | None = None,
    datasets: Sequence[str] = (),
    judged_on: Sequence[str] = (),
    tags: Sequence[str] = (),
    title: str | None = None,
    model_file: str = "model.ingenuo",
) -> str:
    """A model card in Markdown, with the metadata that hubs read at its head.

    Parameters
    ----------
    model : classifier or regressor
        Fitted.
    about : mapping, optional
        Where the model comes from, as `ingenuo.store.about` gives it.
    evaluation : Evaluation or mapping, optional
        What was measured, on rows that the model had not learned from; by default what `about` has.
    audit : audit, or list of these, optional
        What `ingenuo.audit` found.
    intended_use, out_of_scope, limits : str, optional
        For what the model was made, for what it was not, and what else is known of where it fails.
    license, language, datasets, tags
        For the metadata: identifiers that the hub knows.
    judged_on : list of str
        The files that the evaluation is of.
    title, model_file : str, optional
        The model's name, and what its file is called in the lines to run.
    """
    kind = type(model).__name__
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise KindError(f"a card is of a fitted model that predicts, got {kind} {shortened(model)!r}")
    for name, value, expected in (("about", about, Mapping), ("license", license, str), ("title", title, str)):
        if value is not None and not isinstance(value, expected):
            raise KindError(f"{name} must be a {expected.__name__.lower()}, got {type(value).__name__} {value!r}")
    known = dict.fromkeys(("command", "created", "version")) | dict(about or {})
    found = _measured(evaluation if evaluation is not None else known.get("evaluation"))
    name = str(title or known.get("title") or kind)
    by_class, schema = rows_by_class(model), schema_of(model)
    target = known.get("target") or getattr(model, "_target", None)
    row = _example_row(model)
    path = shlex.quote(model_file)
    refused = {method: why for method in ("partial_fit", "forget", "merge") if (why := _refusal(model, method))}
    for_hub: dict[str, Any] = {"license": license, "tags": tags, "datasets": datasets}
    for_hub["language"] = [language] if isinstance(language, str) else language
    text = template("card.md").render(
        metadata=_metadata(model, known, found, name, judged_on, **for_hub),
        name=name,
        kind=kind,
        about=known,
        version=version(),
        target=target,
        classes=model.classes_.tolist() if hasattr(model, "classes_") else None,
        explains=hasattr(model, "predict_proba") and hasattr(model, "explain"),
        explainable=hasattr(model, "explain"),
        ask="predict_proba" if hasattr(model, "predict_proba") else "predict",
        found=found,
        measures=[
            [title_of(key), cell(value, None, None), span(*ends)] for key, (value, *ends) in found.values.items()
        ],
        intended_use=intended_use,
        out_of_scope=out_of_scope,
        files=sources_of(known),
        rows=known.get("rows") or (sum(by_class.values()) if by_class else None),
        by_class=_class_rows(by_class),
        columns=[] if schema is None else _column_rows(model, schema),
        n_columns=0 if schema is None else len(schema),
        parameters=parameters_of(model),
        steps=history_of(known),
        calibration=getattr(model, "calibration", None),
        calibrates=hasattr(model, "calibration"),
        behind=getattr(model, "calibration_behind_", 0),
        audits=audits_of(audit),
        limits=[limits] if isinstance(limits, str) else limits or (),
        families=set() if schema is None else {tuple(FAMILIES)[code] for code in schema.families},
        kinds=set() if schema is None else {kind for _, kind, _, _ in schema.rows(len(schema))},
        small=[str(label) for label, n in by_class.items() if n < _SMALL],
        file=model_file,
        path=path,
        row=row,
        typed_row=_typed(row),
        exact=_sums_exactly(model),
        refused=refused,
    )
    return re.sub(r"\n{3,}", "\n\n", text.lstrip()).rstrip() + "\n"


# What is known of a model without asking anybody: its measures, its task, its rows, its columns, its limits.


@dataclass(frozen=True)
class _Measured:
    """What was measured: by name the value and the ends of its interval, and on how many rows."""

    values: dict[str, tuple[float, float | None, float | None]] = field(default_factory=dict)
    rows: int | None = None
    confidence: float | None = None
    remarks: Sequence[str] = ()
    how: str = ""


def _measured(evaluation: Any) -> _Measured:
    """An evaluation, or what was noted of one: {"accuracy": 0.9}, or {"accuracy": {"value": 0.9, "low": …}}."""
    if evaluation is None:
        return _Measured()
    values: dict[str, tuple[float, float | None, float | None]] = {}
    if isinstance(evaluation, Judged):
        for m in evaluation.measures.values():
            if m.label is None and not m.name.endswith(("_micro", "_weighted")) and _is_number(m.value):
                values[m.name] = (float(m.value), m.low, m.high)
        return _Measured(values, evaluation.n_rows, evaluation.confidence, evaluation.remarks)
    if not isinstance(evaluation, Mapping):
        raise KindError(
            f"evaluation must be what ingenuo.evaluate gives, or a mapping of measures, got {type(evaluation).__name__}"
        )
    given = evaluation.get("measures", evaluation)
    for name, value in given.items() if isinstance(given, Mapping) else ():
        one = value if isinstance(value, Mapping) else {"value": value}
        if _is_number(one.get("value")) and name not in ("rows", "n_rows", "confidence"):
            low, high = (float(one[end]) if _is_number(one.get(end)) else None for end in ("low", "high"))
            values[str(name)] = (float(one["value"]), low, high)
    rows, sure = evaluation.get("rows", evaluation.get("n_rows")), evaluation.get("confidence")
    how = str(evaluation.get("how") or "")
    return _Measured(values, int(rows) if _is_number(rows) else None, sure if _is_number(sure) else None, (), how)


def _is_number(value: Any) -> TypeGuard[float]:
    known = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return known and not math.isnan(float(value))


def _task(model: Any) -> str:
    """What hubs call the task."""
    if not hasattr(model, "classes_") and hasattr(model, "predict_quantiles"):
        return "tabular-regression"
    schema = schema_of(model)
    texts = hasattr(model, "order") if schema is None else len(schema.texts) == len(schema)
    return "text-classification" if texts else "tabular-classification"


def _metadata(
    model: Any,
    about: Mapping[str, Any],
    found: _Measured,
    name: str,
    judged_on: Sequence[str],
    *,
    license: str | None,
    language: Sequence[str] | None,
    datasets: Sequence[str],
    tags: Sequence[str],
) -> str:
    """The block that hubs read, as YAML; within it no line may begin with its end mark."""
    import yaml

    def lines(given: Sequence[Any] | None) -> list[str]:
        return [" ".join(str(each).split()) for each in given or ()]

    def slug(text: str) -> str:
        return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-.") or "model"

    task = _task(model)
    block: dict[str, Any] = {"language": lines(language)} if language else {}
    block |= {"license": lines([license or "unknown"])[0], "library_name": "ingenuo", "pipeline_tag": task}
    block["tags"] = list(dict.fromkeys(["ingenuo", _TAGS.get(type(model).__name__, "naive-bayes"), task, *lines(tags)]))
    if datasets:
        block["datasets"] = lines(datasets)
    metrics = []
    for key, (value, low, high) in found.values.items():
        if key in _HUB:
            ends = {} if low is None or high is None else {"args": {"low": round(low, 6), "high": round(high, 6)}}
            metrics.append({"type": _HUB[key], "value": round(value, 6), "name": key, **ends})
    if metrics:
        block["metrics"] = list(dict.fromkeys(each["type"] for each in metrics))
        files = [PurePath(source[0]).name for source in sources_of(about)]
        data = [*lines(judged_on), *lines(datasets), *lines(files), "not stated"][0]
        of = {"type": data if data in lines(datasets) else slug(data), "name": data}
        kind = {"type": task, "name": task.replace("-", " ").capitalize()}
        block["model-index"] = [{"name": slug(name), "results": [{"task": kind, "dataset": of, "metrics": metrics}]}]

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """In quotes is what has a "<", which is then escaped: read as HTML it must not become a tag."""

    def quoted(dumper: Any, text: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if "<" in text else None)

    Dumper.add_representer(str, quoted)
    written = str(yaml.dump(block, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1000))
    return written.replace("<", "\\x3C")


def _class_rows(by_class: Mapping[Any, float]) -> list[list[str]]:
    """The classes, the largest first, with their rows and shares."""
    whole = max(sum(by_class.values()), 1e-300)
    largest = sorted(by_class.items(), key=lambda item: -item[1])
    return [[shortened(name), f"{n:,.10g}", percent(n / whole)] for name, n in largest]


def _column_rows(model: Any, schema: Any) -> list[list[str]]:
    """The first columns: name, kind, family, why, and the share of the learned rows without a value."""
    found = []
    for name, (called, kind, family, why) in zip(schema.names[:_COLUMNS].tolist(), schema.rows(_COLUMNS)):
        rows, counted = sum(rows_by_class(model).values()), _values_of(model, name)
        missing = "" if rows <= 0 or counted is None else percent(float(min(max(1 - counted / rows, 0.0), 1.0)))
        found.append([shortened(called), kind, family, shortened(why), missing])
    return found


def _values_of(model: Any, name: Any) -> float | None:
    """How many values of a column were learned, where the sums tell."""
    tally = model.tally_
    if category_table(name) in tally:
        return float(tally[category_table(name)].sums.floats().sum())
    if bins_name(name) in tally:
        return float(tally.bins(bins_name(name)).sums.floats().sum())
    return _sum_of(tally, name, COUNT)


def _sum_of(tally: Any, name: Any, table: str) -> float | None:
    """What one of the tables of numbers has of a column, over all classes."""
    if COUNT not in tally or name not in tally.labels(COUNT, 1).tolist():
        return None
    column = objects([name]) if isinstance(name, str) else np.array([name])
    return float(tally.over(table, tally.labels(COUNT, 0), column).floats().sum())


def _sums_exactly(model: Any) -> bool:
    """Whether all its sums are exact; counts that are no whole numbers are kept in doubles."""
    tally = getattr(model, "tally_", None)
    return tally is not None and not any(isinstance(getattr(table, "sums", None), Real) for table in tally.values())


def _refusal(model: Any, method: str) -> str | None:
    """Why a model cannot do something; None where it can."""
    try:
        getattr(model, method)
    except RefusedError as error:
        return str(error)
    except AttributeError:
        return f"a {type(model).__name__} has no {method}"
    return None


def _example_row(model: Any) -> dict[str, Any] | str:
    """A row to ask about: of the first columns the most frequent value, or the mean; of texts, a text."""
    schema, tally = schema_of(model), getattr(model, "tally_", None)
    if schema is None or len(schema.texts) == len(schema):
        return "a text to classify"
    row: dict[str, Any] = {}
    for name in schema.names.tolist():
        if tally is None or len(row) == _CELLS:
            break
        if category_table(name) in tally:
            counts = tally[category_table(name)]
            row[column_name(name)] = counts.axes[1].tolist()[int(counts.sums.floats().sum(axis=0).argmax())]
        elif n := _sum_of(tally, name, COUNT):
            row[column_name(name)] = float(f"{(_sum_of(tally, name, SUM) or 0.0) / n:.3g}")
    return row


def _typed(row: dict[str, Any] | str) -> str:
    """The row as the command takes it."""
    if isinstance(row, str):
        return shlex.quote(row)
    cells = (f'{name}="{value}"' if "," in str(value) else f"{name}={value}" for name, value in row.items())
    return shlex.quote(", ".join(cells))
