"""The lines of a model card that can be run: asking the model, teaching it more, making it forget."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from ingenuo.families.categorical import table_name
from ingenuo.families.gaussian import COUNT, SUM
from ingenuo.labels import objects
from ingenuo.report.card_facts import refusal, sums_exactly
from ingenuo.report.markdown import block, bullets, plain
from ingenuo.report.reproduction import quoted
from ingenuo.report.rows import schema_of
from ingenuo.schema import column_name

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
        if table_name(name) in tally:
            counts = tally[table_name(name)]
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
