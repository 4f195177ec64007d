"""The sections on how good the model is: in a few sentences, in measures, in confusions, in reliability."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ingenuo.evaluation.evaluation import Evaluation, EvaluationDisplay
from ingenuo.evaluation.reliability import Reliability
from ingenuo.explanation import evaluation_pictures, evaluation_tables, pictures
from ingenuo.report import charts
from ingenuo.report.markup import Section, details, embedded, figure, paragraphs, percent, shortened, table

_FEW = 30  # rows of which no measure says much
_SMALL = 10  # rows of a class of which no measure says much
_MATRIX = 20  # classes whose confusion matrix can be read


def summary_sentences(found: Evaluation, given: int) -> list[str]:
    """How good the model is, for somebody who reads nothing else."""
    accuracy, majority = found["accuracy"], found["majority_rate"]
    right, rate = float(accuracy), float(majority)
    of = "" if given == found.n_rows else f", drawn at random from {given:,}"
    said = [f"Of {found.n_rows:,} rows{of}, the model answers {percent(right)} rightly."]
    if accuracy.low is not None and accuracy.high is not None:
        said[0] = (
            said[0][:-1] + f" ({found.confidence:.0%} interval {percent(accuracy.low)} to {percent(accuracy.high)})."
        )
    always = f"Always answering {shortened(found.majority)!r} would be right for {percent(rate)}"
    if accuracy.low is not None and accuracy.low > rate:
        said.append(f"{always}: the model has learned something that holds for new rows.")
    elif right > rate:
        said.append(f"{always}, which lies within the interval: these rows do not show that the model is better.")
    else:
        said.append(f"{always}: on these rows the model is no better than no model.")
    if found.probable:
        shares = found.support[found.support > 0] / found.support.sum()
        plain = float(-(shares * np.log(shares)).sum())
        loss = float(found["log_loss"])
        worse = ", which is less: the probabilities do more harm than good, and should be calibrated" * (loss > plain)
        said.append(
            f"The log loss of its probabilities is {loss:.3f} nats; to forecast nothing but the share of each class "
            f"would cost {plain:.3f}{worse}."
        )
        said.append(
            f"What it says and how often it is right differ by {percent(float(found['ece']))} on average (ECE, the "
            "expected calibration error)."
        )
    wrong, answers, rows = found.confused
    if wrong:
        true, answered, n = wrong[0], answers[0], rows[0]
        said.append(
            f"The most frequent confusion: {evaluation_tables.count(n)} row{'s' if n != 1 else ''} of "
            f"{shortened(found.labels[true])!r} answered as {shortened(found.labels[answered])!r}."
        )
    else:
        said.append("No row was answered wrongly.")
    return said


def warnings(found: Evaluation) -> list[str]:
    """What makes the numbers less sure than they look."""
    said = []
    if found.n_rows < _FEW:
        said.append(f"{found.n_rows} rows are few: read the intervals, not the values.")
    labels, support = found.labels, found.support
    small = [shortened(labels[k], 30) for k in np.flatnonzero((support > 0) & (support < _SMALL)).tolist()]
    if small and found.n_rows >= _FEW:
        more = f" and {len(small) - 5} more" if len(small) > 5 else ""
        said.append(
            f"Fewer than {_SMALL} rows each, so little is known of these classes: {', '.join(small[:5])}{more}."
        )
    return said


def summary(found: Evaluation, given: int, notes: Iterable[str] = ()) -> Section:
    """A few numbers and a few sentences."""
    names = [("accuracy", "right"), ("majority_rate", "always the largest class"), ("log_loss", "log loss (nats)")]
    tiles = [f"<div><dt>rows judged</dt><dd>{found.n_rows:,}</dd></div>"]
    for name, called in [*names, ("ece", "ECE")]:
        measure = found[name]
        if measure.value is not None:
            ends = "" if measure.low is None else f"<small>{evaluation_tables.span(measure.low, measure.high)}</small>"
            tiles.append(f"<div><dt>{called}</dt><dd>{measure.value:.3f}{ends}</dd></div>")
    body = f'<dl class="figures">{"".join(tiles)}</dl>' + paragraphs([" ".join(summary_sentences(found, given))])
    return Section("summary", "In short", "", body + paragraphs([*notes, *warnings(found)], "warning"))


def evaluation(found: Evaluation, curves: tuple[Any, Any] | None) -> Section:
    """The measures with their intervals, of all classes together and of each."""
    measures = evaluation_tables.measure_lines(found)
    classes = evaluation_tables.class_lines(found)
    body = "<h3>All classes together</h3>" + table(measures, "measures of all classes", (1, 2))
    body += "<h3>Class by class</h3>" + table(classes, "measures of each class", range(1, len(classes[0])))
    if len(found.classes) > len(classes) - 4:  # the heads, and three means
        body += paragraphs([f"Of {len(found.classes)} classes those of the lowest F1 are shown."])
    body += paragraphs(found.remarks)
    if curves is not None:
        names = (
            "ROC curves: of each class, what is found against what is wrongly taken for it",
            "Precision and recall",
        )
        pair = [figure(charts.svg(ax, n, f"c{i}"), n + ".") for i, (ax, n) in enumerate(zip(curves, names))]
        body += details("ROC and precision-recall curves", f'<div class="several">{"".join(pair)}</div>')
    how = (
        f"Every measure stands with its {found.confidence:.0%} interval, the values that so few or so many rows leave "
        "possible. Precision is the share of the answers of a class that are right, recall the share of the class's "
        "rows that are found."
    )
    return Section("evaluation", "Evaluation", how, body)


def confusion(found: Evaluation, ax: Any) -> Section:
    """The confusion matrix, or of many classes the pairs that are most confused."""
    n = len(found.classes)
    lines = evaluation_tables.confusion_lines(found)
    if n > _MATRIX:
        how = f"{n} classes are too many for a table: these are the pairs that are most often confused."
        body = table(lines, "most confused pairs", (2,)) if len(lines) > 1 else paragraphs(["No row is confused."])
    else:
        how = "Down stands what is true, across what was answered: on the diagonal is what was answered rightly."
        body = table(lines, "confusion matrix", range(1, n + 1))
    caption = "Confusion matrix; the darker a cell, the larger its share of the rows of that class."
    picture = figure(charts.svg(ax, "confusion matrix; the table has its numbers", "confusion", crowded=n > 8), caption)
    return Section("confusion", "Confusions", how, picture + body)


def panels(found: Evaluation) -> list[Any]:
    """The axes of the confusion matrix and, where there are probabilities, of the ROC and precision-recall curves."""
    crowded = len(found.classes) > 8
    if not found.probable:
        axes = [pictures.axes(None, (6.4, 5.6) if crowded else (4.6, 4.0))]
    else:
        axes = [pictures.axes(None, (6.4, 5.6) if crowded and k == 0 else (4.6, 4.0)) for k in range(4)]
    EvaluationDisplay(found).plot(axes)
    axes[0].set_title("")  # the caption says it
    return axes


def reliability(found: Evaluation) -> Section:
    """Whether the probabilities can be believed."""
    how = (
        "Of the answers that were given with 80%, 80% should be right: then the points lie on the dotted diagonal. "
        "Points below it are answers that were too sure. The bars beneath are the rows."
    )
    if not found.probable:
        why = "The model answers with classes only, without probabilities, so there is nothing to compare."
        return Section("reliability", "Can the probabilities be believed?", "", paragraphs([why]))
    judged = Reliability(found, 10, "width", None, found.confidence)
    picture = charts.svg(judged.plot(), "reliability diagram; the table has its numbers", "reliability")
    body = figure(picture, "How often answers are right, over how sure they were, with intervals.")
    body += details("The numbers", embedded(judged._repr_html_(), "reliability in numbers"))
    return Section("reliability", "Can the probabilities be believed?", how, body)


def short_names(found: Evaluation) -> list[str]:
    """The classes, as they stand in pictures."""
    return [evaluation_pictures.short(label) for label in found.labels]
