"""An evaluation as tables: in a terminal and in a notebook, with sentences on what the numbers do not say."""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.models.hypotheses import shortened
from ingenuo.show.page import STYLE
from ingenuo.show.table import aligned, html_table

_CLASSES = 20  # shown of the class table and of the confusion matrix
_CONFUSIONS = 10  # listed where the matrix is not shown
_NAMED = 5  # classes in one remark

_MEANS = ("macro", "micro", "weighted")
_TITLES = {
    "accuracy": "accuracy",
    "majority_rate": "majority-class rate",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "log_loss": "log loss (nats)",
    "brier": "Brier score",
    "ece": "ECE",
    "roc_area": "ROC area",
    "pr_area": "PR area",
}


def title(name: str) -> str:
    """What a measure is called in a table.

    >>> title("f1_macro"), title("log_loss")
    ('macro F1', 'log loss (nats)')
    """
    if name in _TITLES:
        return _TITLES[name]
    stem, mean = name.rsplit("_", 1)
    return f"{mean} {_TITLES[stem]}"


def number(value: float | None) -> str:
    """A value as it is printed: a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{value:.3f}"


def span(low: float | None, high: float | None) -> str:
    """An interval as it is printed."""
    return "–" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def cell(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval.

    >>> cell(0.5, 0.25, 0.75), cell(0.5, None, None)
    ('0.500 [0.250, 0.750]', '0.500')
    """
    return number(value) if low is None or high is None else f"{number(value)} {span(low, high)}"


def count(value: float) -> str:
    """Rows, or a sum of their weights."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def remarks(labels: list[Any], matrix: Any, probable: bool) -> list[str]:
    """Sentences on what is undefined.

    Parameters
    ----------
    labels : list
        The classes.
    matrix : tuple of arrays
        Of each class: rows predicted correctly, rows that it is true of, rows that it was answered for.
    probable : bool
        Whether there are probabilities.
    """
    _, true, answered = matrix
    found = []
    silent = np.flatnonzero((true > 0) & (answered == 0))
    if len(silent):
        found.append(f"Never answered, so without a precision (0 in the means): {_named(labels, silent)}.")
    empty = np.flatnonzero((true == 0) & (answered > 0))
    if len(empty):
        found.append(
            f"Answered but true of no row, so without a recall (0 in the macro means): {_named(labels, empty)}."
        )
    absent = np.flatnonzero((true == 0) & (answered == 0))
    if len(absent):
        found.append(f"Neither true of a row nor answered, and left out of the means: {_named(labels, absent)}.")
    if probable and (true == 0).any() and len(labels) > 1:
        found.append(f"Without an area, for no row is of it: {_named(labels, np.flatnonzero(true == 0))}.")
    if (true > 0).sum() == 1:
        found.append(f"Every row is of class {labels[int(true.argmax())]!r}: there is nothing to tell apart.")
    if (true > 0).sum() == 1 or (answered > 0).sum() == 1:
        found.append("The MCC of a single class is 0/0, and counts as 0.")
    if not probable:
        found.append("Only labels were given: log loss, Brier score, ECE and areas take probabilities.")
    return found


def _named(labels: list[Any], places: NDArray[Any]) -> str:
    names = [repr(labels[k]) for k in places[:_NAMED].tolist()]
    return ", ".join(names) + (f" and {len(places) - _NAMED} more" if len(places) > _NAMED else "")


def _headline(found: Any) -> str:
    rows, classes = found.n_rows, len(found.classes)
    right, majority = found["accuracy"].value, found["majority_rate"].value
    weighed = ", weighted" if found.weighted else ""
    return (
        f"{rows:,} {'row' if rows == 1 else 'rows'}{weighed}, {classes} {'class' if classes == 1 else 'classes'}: "
        f"{right:.1%} are correct; always answering {found.majority!r} would be right for {majority:.1%}."
    )


def measure_lines(found: Any) -> list[list[str]]:
    """What is measured of all classes together, with heads; means over the classes stand in the table of these."""
    lines = [["measure", "value", f"{100 * found.confidence:g}% interval"]]
    for measure in found.measures.values():
        if measure.label is None and measure.value is not None and not measure.name.endswith(_MEANS):
            lines.append([title(measure.name), number(measure.value), span(measure.low, measure.high)])
    return lines


def _shown(found: Any) -> list[int]:
    """The classes in the class table: all, or those of the lowest F1."""
    n = len(found.classes)
    if n <= _CLASSES:
        return list(range(n))
    f1 = np.array([found["f1", label].value for label in found.labels])
    return [int(k) for k in np.argsort(np.where(np.isnan(f1), 2.0, f1), kind="stable")[:_CLASSES]]


def class_lines(found: Any) -> list[list[str]]:
    """A line for each class, with heads."""
    labels = found.labels
    names = ["precision", "recall", "f1"]
    if len(labels) > 2 and found.probable:
        names += ["roc_area", "pr_area"]
    lines = [["class", "rows", *(title(name) for name in names)]]
    for k in _shown(found):
        cells = [str(found[name, labels[k]]) for name in names]
        lines.append([shortened(labels[k]), count(float(found.support[k])), *cells])
    rows = count(float(found.support.sum()))
    for mean in _MEANS:
        cells = [str(found[f"{name}_{mean}"]) if f"{name}_{mean}" in found else "" for name in names]
        lines.append([f"({mean} mean)", rows, *cells])
    return lines


def confusion_lines(found: Any) -> list[list[str]]:
    """The confusion matrix, or its largest wrong cells where it is too large to be read; with heads."""
    names = [shortened(label) for label in found.labels]
    if len(names) <= _CLASSES:
        rows = [[name, *map(count, line)] for name, line in zip(names, found.confusion.tolist())]
        return [["true \\ answered", *names], *rows]
    confused = [[names[i], names[j], count(n)] for i, j, n in zip(*found.confused)]
    return [["true", "answered", "rows"], *confused]


def largest(wrong: NDArray[Any]) -> tuple[list[int], list[int], list[float]]:
    """The largest cells of a confusion matrix: true class, answered class, rows."""
    cells = np.flatnonzero(wrong)
    first = cells[np.argsort(-wrong.ravel()[cells], kind="stable")[:_CONFUSIONS]]
    codes, predicted = np.divmod(first, len(wrong))
    return codes.tolist(), predicted.tolist(), wrong.ravel()[first].astype(np.float64).tolist()


def _said(found: Any) -> list[str]:
    """The remarks, and why intervals are missing."""
    said = list(found.remarks)
    n = len(found.classes)
    if n > _CLASSES:
        said.append(f"Of {n} classes the {_CLASSES} with the lowest F1 are shown, and the most frequent confusions.")
    reasons: dict[str, list[str]] = {}
    labels = found.labels
    shown = {None, *(labels[k] for k in _shown(found))}  # what is not shown is not resampled either
    for measure in found.measures.values():
        if measure.label not in shown or measure.value is None or math.isnan(measure.value):
            continue
        if measure.reason is not None:
            of = "" if measure.label is None else f" of {measure.label!r}"
            reasons.setdefault(measure.reason, []).append(title(measure.name) + of)
    for reason, names in reasons.items():
        first = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        said.append(f"No interval for {first}: {reason}.")
    return said


def text(found: Any) -> str:
    """An evaluation in a terminal."""
    parts = [_headline(found)]
    for lines in (measure_lines(found), class_lines(found), confusion_lines(found)):
        shown = aligned(lines)
        parts += ["", shown[0], "─" * max(map(len, shown)), *shown[1:]]
    said = _said(found)
    return "\n".join([*parts, *([""] if said else []), *said])


def html_of(found: Any) -> str:
    """An evaluation in a notebook."""
    tables = [html_table(lines) for lines in (measure_lines(found), class_lines(found), confusion_lines(found))]
    said = "".join(f"<p>{html.escape(line)}</p>" for line in _said(found))
    head = f"<p>{html.escape(_headline(found))}</p>"
    return f"<div style='overflow-x:auto'><style>{STYLE}</style>{head}{''.join(tables)}{said}</div>"
