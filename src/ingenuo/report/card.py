"""The model card: what a model is, for what, from what, how good and where not, in Markdown that model hubs read.

All of it is generated from facts; what nobody said is marked as not stated, with what to fill in.
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
from ingenuo.evaluation.evaluation import Evaluation
from ingenuo.evaluation.measures import title
from ingenuo.families.gaussian import COUNT, SUM
from ingenuo.report.page import audits_of, history_of, parameters_of, quoted, sources_of, version
from ingenuo.report.sections import schema_of
from ingenuo.rows.schema import FAMILIES, category_table, column_name
from ingenuo.show.format import cell, span
from ingenuo.show.table import block, bullets, code, markdown_table, percent, plain, shortened
from ingenuo.tally.exact import Real
from ingenuo.tally.histogram import bins_name
from ingenuo.tally.labels import objects

# What is known of a model without asking anybody: its task, its classes, its columns, its measures, its limits.


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
        lines.append([title(name), cell(value, None, None), span(low, high)])
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
    if category_table(name) in tally:
        counted = tally[category_table(name)].sums.floats().sum()
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


# The lines of a model card that can be run: asking the model, teaching it more, making it forget.


_CELLS = 3  # of the row in the example


def example_row(model: Any) -> dict[str, Any] | str:
    """A row to ask about: of the first columns the most frequent value, or the mean; of texts, a text."""
    schema = schema_of(model)
    if schema is None or len(schema.texts) == len(schema):
        return "a text to classify"
    row: dict[str, Any] = {}
    tally = getattr(model, "tally_", None)
    if tally is None:
        return row
    for name in schema.names.tolist():
        if len(row) == _CELLS:
            break
        if category_table(name) in tally:
            counts = tally[category_table(name)]
            row[column_name(name)] = counts.axes[1].tolist()[int(counts.sums.floats().sum(axis=0).argmax())]
        elif COUNT in tally and name in tally.labels(COUNT, 1).tolist():
            column = objects([name]) if isinstance(name, str) else np.array([name])
            sums = (tally.over(table, tally.labels(COUNT, 0), column).floats().sum() for table in (SUM, COUNT))
            row[column_name(name)] = float(f"{np.divide(*sums):.3g}")
    return row


def _as_option(row: dict[str, Any] | str) -> str:
    """The row as the command takes it."""
    if isinstance(row, str):
        return shlex.quote(row)
    cells = (f'{name}="{value}"' if "," in str(value) else f"{name}={value}" for name, value in row.items())
    return shlex.quote(", ".join(cells))


def usage(model: Any, about: Mapping[str, Any], file: str) -> list[str]:
    """How to ask the model, in Python and from the command line."""
    row = example_row(model)
    lines = ["import ingenuo as ing", "", f"model = ing.load({quoted(file)})"]
    if isinstance(row, str):
        lines += [f"print(model.predict([{quoted(row)}]))"]
    else:
        lines += ['table = ing.read("rows.csv")', "print(model.predict(table))"]
    if hasattr(model, "predict_proba"):
        lines[-1] = lines[-1].replace("predict(", "predict_proba(")
    explains = hasattr(model, "explain") and bool(row)
    if explains:
        lines.append(f"print(model.explain({row!r}))")
    command = [f"ingenuo predict {shlex.quote(file)} rows.csv"]
    if explains:
        command.append(f"ingenuo explain {shlex.quote(file)} --row {_as_option(row)}")
    return ["In Python:", block(lines, "python"), "From the command line:", block(command, "sh")]


def unlearning(model: Any, about: Mapping[str, Any], file: str) -> list[str]:
    """How to add rows, take rows away and join models, or why that cannot be."""
    target = str(about.get("target") or getattr(model, "_target", None) or "class")
    path = shlex.quote(file)
    ways = {
        "partial_fit": (
            f'model.partial_fit(ing.read("more.csv"), {quoted(target)})',
            f"ingenuo update {path} more.csv",
        ),
        "forget": (f'model.forget(ing.read("gone.csv"), {quoted(target)})', f"ingenuo forget {path} gone.csv"),
        "merge": ('model.merge(ing.load("other.ingenuo"))', f"ingenuo merge {path} other.ingenuo -o both.ingenuo"),
    }
    refused = {method: why for method in ways if (why := refusal(model, method)) is not None}
    able = [way for method, way in ways.items() if method not in refused]
    parts = []
    if able:
        lines = ["import ingenuo as ing", "", f"model = ing.load({quoted(file)})", *(python for python, _ in able)]
        lines.append(f"ing.save(model, {quoted(file)})")
        parts += [block(lines, "python"), block([command for _, command in able], "sh")]
        if "forget" not in refused:
            near = "to the last bit" if sums_exactly(model) else "but for the rounding of sums"
            parts.append(
                "The model is a sum over rows. Rows that are taken away leave no trace: it is then, "
                f"{near}, what it would be had it never seen them."
            )
        if getattr(model, "calibration", None) is not None:
            parts.append("It was calibrated: after it has learned or forgotten rows, calibrate it again.")
    if refused:
        parts.append(bullets(plain(why) for why in refused.values()))
    return parts


_COLUMNS = 40  # listed
_CLASSES = 40
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
    intended_use, out_of_scope : str, optional
        For what the model was made, and for what it was not.
    limits : str or list of str, optional
        What is known besides of where it fails.
    license, language, datasets, tags
        For the metadata: identifiers that the hub knows.
    judged_on : list of str
        The files that the evaluation is of.
    title : str, optional
        The model's name.
    model_file : str
        What the file is called in the lines to run.

    Examples
    --------
    >>> from ingenuo import NaiveBayes
    >>> from ingenuo.datasets import play_tennis
    >>> model = NaiveBayes().fit(play_tennis(), "Play")
    >>> text = card(model, {"title": "Shall we play?"}, intended_use="A textbook's example.")
    >>> text.startswith("---"), "# Shall we play?" in text
    (True, True)
    """
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise KindError(f"a card is of a fitted model that predicts, got {type(model).__name__} {shortened(model)!r}")
    for name, value, kind in (("about", about, Mapping), ("license", license, str), ("title", title, str)):
        if value is not None and not isinstance(value, kind):
            raise KindError(f"{name} must be a {kind.__name__.lower()}, got {type(value).__name__} {value!r}")
    known = dict(about or {})
    found = measured(evaluation if evaluation is not None else known.get("evaluation"))
    audits = audits_of(audit)
    name = str(title or known.get("title") or type(model).__name__)
    languages = [language] if isinstance(language, str) else list(language or ())
    metadata = _metadata(model, known, found, name, license, languages, datasets, tags, judged_on)
    parts = [
        f"# {plain(name)}",
        _what(model, known, found),
        "## Intended use",
        plain(intended_use)
        if intended_use
        else _not_stated("Say who should use the model, for what, and in which decisions it may take part."),
        "### Out of scope",
        plain(out_of_scope)
        if out_of_scope
        else _not_stated("Say for which rows, people, languages or decisions it was not made."),
        "## Data",
        *_data(model, known),
        "## How it was trained",
        *_training(model, known),
        "## Evaluation",
        *_evaluation(found),
        "## Calibration",
        _calibration(model, found),
        "## Audit and known harms",
        *_audits(audits),
        "## Limits",
        _limits(model, found, audits, [limits] if isinstance(limits, str) else list(limits or ())),
        "## How to use it",
        *usage(model, known, model_file),
        "## How to update, unlearn and merge it",
        *unlearning(model, known, model_file),
    ]
    return f"---\n{metadata}---\n\n" + "\n\n".join(part for part in parts if part) + "\n"


def _not_stated(remedy: str) -> str:
    return f"*Not stated.* {remedy}"


def _slug(text: str) -> str:
    """A name as hubs take it."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-.") or "model"


def _line(value: Any) -> str:
    """A value in one line: within the block no other line may begin with its end mark."""
    return " ".join(str(value).split())


def _metadata(
    model: Any,
    about: Mapping[str, Any],
    found: Measured,
    name: str,
    license: str | None,
    languages: Sequence[str],
    datasets: Sequence[str],
    tags: Sequence[str],
    judged_on: Sequence[str],
) -> str:
    """The block that hubs read, as YAML."""
    import yaml

    languages, datasets, tags = ([_line(each) for each in given] for given in (languages, datasets, tags))
    task = task_of(model)
    block: dict[str, Any] = {"language": languages} if languages else {}
    block |= {"license": _line(license or "unknown"), "library_name": "ingenuo", "pipeline_tag": task}
    block["tags"] = list(dict.fromkeys([*tags_of(model), *tags]))
    if datasets:
        block["datasets"] = datasets
    metrics = [
        {"type": _HUB[key], "value": round(value, 6), "name": key, **_ends(low, high)}
        for key, (value, low, high) in found.values.items()
        if key in _HUB
    ]
    if metrics:
        block["metrics"] = list(dict.fromkeys(each["type"] for each in metrics))
        files = [PurePath(source[0]).name for source in sources_of(about)]
        candidates = [*map(_line, judged_on), *datasets, *map(_line, files), "not stated"]
        data = candidates[0]
        of = {"type": data if data in datasets else _slug(data), "name": data}
        kind = {"type": task, "name": task.replace("-", " ").capitalize()}
        result = {"task": kind, "dataset": of, "metrics": metrics}
        block["model-index"] = [{"name": _slug(name), "results": [result]}]
    return str(yaml.safe_dump(block, sort_keys=False, allow_unicode=True, width=1000))


def _ends(low: float | None, high: float | None) -> dict[str, Any]:
    return {} if low is None or high is None else {"args": {"low": round(low, 6), "high": round(high, 6)}}


def _what(model: Any, about: Mapping[str, Any], found: Measured) -> str:
    """Two or three sentences for those who read no more."""
    kind = type(model).__name__
    target = about.get("target") or getattr(model, "_target", None)
    said = [f"A {code(kind)} of the library ingenuo (version {plain(about.get('version') or version())})"]
    if hasattr(model, "classes_"):
        classes = [shortened(label, 30) for label in model.classes_.tolist()]
        shown = ", ".join(plain(label) for label in classes[:6]) + (", …" if len(classes) > 6 else "")
        of = f" of the column {code(target)}" if target else ""
        said[0] += f", that tells {len(classes)} classes{of} apart: {shown}"
    elif target:
        said[0] += f", that predicts the number {code(target)}"
    said[0] += "."
    said.append("It answers with probabilities, and shows the arithmetic behind every answer.")
    if "accuracy" in found.values:
        value, low, high = found.values["accuracy"]
        ends = "" if low is None or high is None else f" (interval {percent(low)} to {percent(high)})"
        on = "" if found.rows is None else f" of the {found.rows:,} rows that it was judged by"
        said.append(f"It is right for {percent(value)}{ends}{on}.")
    if not hasattr(model, "predict_proba") or not hasattr(model, "explain"):
        said.pop(1)
    return " ".join(said)


def _data(model: Any, about: Mapping[str, Any]) -> list[str]:
    """Files, rows, classes, columns and what is missing in them."""
    files = sources_of(about)
    parts = [
        markdown_table(["file", "bytes", "SHA-256"], files)
        if files
        else _not_stated("Say which files or tables were learned from, where they come from and who may use them.")
    ]
    by_class = rows_by_class(model)
    rows = about.get("rows") or (sum(by_class.values()) if by_class else None)
    parts.append(f"Rows learned from: {f'{rows:,.10g}' if isinstance(rows, int | float) else 'not stated'}.")
    if by_class:
        whole = max(sum(by_class.values()), 1e-300)
        largest = sorted(by_class.items(), key=lambda item: -item[1])
        lines = [[shortened(name), f"{n:,.10g}", percent(n / whole)] for name, n in largest[:_CLASSES]]
        parts.append(markdown_table(["class", "rows", "share"], lines))
        if len(largest) > _CLASSES:
            parts.append(f"{len(largest) - _CLASSES:,} smaller classes are not listed.")
    schema = schema_of(model)
    if schema is not None:
        lines = []
        for name, (called, kind, family, why) in zip(schema.names[:_COLUMNS].tolist(), schema.rows(_COLUMNS)):
            missing = missing_of(model, name)
            lines.append([shortened(called), kind, family, shortened(why), "" if missing is None else percent(missing)])
        parts.append(markdown_table(["column", "kind", "family", "why", "missing"], lines))
        if len(schema) > _COLUMNS:
            parts.append(f"{len(schema) - _COLUMNS:,} more columns are not listed.")
    parts.append(
        "How the data was gathered, and who is in it: "
        + _not_stated("Say when, where and by whom, who is missing, and whether people agreed.")
    )
    return parts


def _training(model: Any, about: Mapping[str, Any]) -> list[str]:
    """The model, its parameters, its version, its date, its command, and what was done to it since."""
    parts = []
    if about.get("command"):
        parts.append("Command: " + code(shortened(about["command"], 2000)))
    else:
        parts.append("Command: " + _not_stated("Give the command, or the lines of Python, that made the model."))
    made = about.get("created")
    parts.append(f"Made {f'on {plain(made)}' if made else '(date not stated)'} with ingenuo "
                 f"{plain(about.get('version') or f'{version()} or before')}.")  # fmt: skip
    given = parameters_of(model)
    if given:
        parts.append(markdown_table(["parameter", "value"], [[name, value] for name, value in given.items()]))
    steps = history_of(about)
    if steps:
        parts.append(markdown_table(["what", "rows", "source", "when"], steps))
    return parts


def _evaluation(found: Measured) -> list[str]:
    if not found.values:
        return [_not_stated("Judge the model on rows that it has not learned from, with `ingenuo evaluate`.")]
    sure = "" if found.confidence is None else f"{found.confidence:.0%} "
    on = "" if found.rows is None else f"On {found.rows:,} rows. "
    how = f"{plain(found.how)} " if found.how else ""
    parts = [
        f"{on}{how}Each measure with its {sure}interval.",
        markdown_table(["measure", "value", "interval"], measure_rows(found)),
    ]
    if found.remarks:
        parts.append(bullets(plain(remark) for remark in found.remarks))
    return parts


def _calibration(model: Any, found: Measured) -> str:
    """Whether its probabilities can be believed."""
    said = []
    repaired = getattr(model, "calibration", None)
    if repaired is not None:
        said.append(f"Its probabilities were calibrated: {code(shortened(repr(repaired), 200))}.")
    elif hasattr(model, "calibration"):
        said.append("Its probabilities were not calibrated.")
    if "ece" in found.values:
        value, low, high = found.values["ece"]
        ends = "" if low is None or high is None else f" (interval {percent(low)} to {percent(high)})"
        said.append(f"What it says and how often it is right differ by {percent(value)} on average{ends}.")
    else:
        said.append(
            "Whether they can be believed: "
            + _not_stated("Measure it with `ingenuo report`, or in Python with `ingenuo.reliability`.")
        )
    return " ".join(said)


def _audits(audits: Sequence[Any]) -> list[str]:
    """What the audits found, in plain words."""
    if not audits:
        remedy = (
            "No audit was made; that does not mean that there is no harm. Run `ingenuo audit`, and say what it found."
        )
        return [_not_stated(remedy)]
    parts = []
    for number, each in enumerate(audits, 1):
        if len(audits) > 1:
            parts.append(f"### Audit {number}")
        parts.append(bullets(plain(sentence) for sentence in [*each.plain, *each.warnings]))
    return parts


def _limits(model: Any, found: Measured, audits: Sequence[Any], given: Sequence[str]) -> str:
    """What the model takes for granted, and what nobody looked at."""
    said = [plain(sentence) for sentence in [*given, *assumptions(model)]]
    small = small_classes(model)
    said += [plain(small)] if small else []
    if not found.values:
        said.append("How good it is was not measured.")
    elif found.rows is not None and found.rows < 100:
        said.append(f"It was judged on {found.rows} rows only: the intervals are wide.")
    if not audits:
        said.append("How it treats groups of people was not looked at.")
    said.append("Of rows from other times, places or sources than those that it learned from nothing is known.")
    return bullets(said)
