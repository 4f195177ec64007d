"""The model card: what a model is, for what, from what, how good and where not, in Markdown that model hubs read.

All of it is generated from facts; what nobody said is marked as not stated, with what to fill in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from ingenuo.errors import KindError
from ingenuo.report.audit_part import audits_of
from ingenuo.report.card_facts import (
    Measured,
    assumptions,
    measure_rows,
    measured,
    missing_of,
    rows_by_class,
    small_classes,
    tags_of,
    task_of,
)
from ingenuo.report.card_use import unlearning, usage
from ingenuo.report.markdown import bullets, code, plain, table
from ingenuo.report.markup import percent, shortened
from ingenuo.report.reproduction import history_of, parameters_of, sources_of, version
from ingenuo.report.rows import schema_of

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
    >>> from ingenuo.data import play_tennis
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
        table(["file", "bytes", "SHA-256"], files)
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
        parts.append(table(["class", "rows", "share"], lines))
        if len(largest) > _CLASSES:
            parts.append(f"{len(largest) - _CLASSES:,} smaller classes are not listed.")
    schema = schema_of(model)
    if schema is not None:
        lines = []
        for name, (called, kind, family, why) in zip(schema.names[:_COLUMNS].tolist(), schema.rows(_COLUMNS)):
            missing = missing_of(model, name)
            lines.append([shortened(called), kind, family, shortened(why), "" if missing is None else percent(missing)])
        parts.append(table(["column", "kind", "family", "why", "missing"], lines))
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
        parts.append(table(["parameter", "value"], [[name, value] for name, value in given.items()]))
    steps = history_of(about)
    if steps:
        parts.append(table(["what", "rows", "source", "when"], steps))
    return parts


def _evaluation(found: Measured) -> list[str]:
    if not found.values:
        return [_not_stated("Judge the model on rows that it has not learned from, with `ingenuo evaluate`.")]
    sure = "" if found.confidence is None else f"{found.confidence:.0%} "
    on = "" if found.rows is None else f"On {found.rows:,} rows. "
    how = f"{plain(found.how)} " if found.how else ""
    parts = [
        f"{on}{how}Each measure with its {sure}interval.",
        table(["measure", "value", "interval"], measure_rows(found)),
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
