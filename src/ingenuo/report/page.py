"""The report: one HTML page that needs nothing else, on what a model is and how good it is.

No script, no request, no font from elsewhere; the same rows and the same seed give the same page.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, KindError
from ingenuo.evaluation.audit import findings
from ingenuo.evaluation.evaluation import Evaluation, EvaluationDisplay, evaluate
from ingenuo.evaluation.predictions import Predictions
from ingenuo.evaluation.reliability import Reliability
from ingenuo.report import sections
from ingenuo.report.sections import Rows, rows_of
from ingenuo.show import page, plots
from ingenuo.show.arithmetic import Addend, Explanation, Factor, Passage, SumExplanation, Term, exponential
from ingenuo.show.format import count, span
from ingenuo.show.page import drawing
from ingenuo.show.table import (
    PrintedTable,
    Section,
    details,
    embedded,
    figure,
    listing,
    paragraphs,
    percent,
    sentence,
    shortened,
    table,
)
from ingenuo.tally.container import replace_file

# The sections on how good the model is: in a few sentences, in measures, in confusions, in reliability.


_FEW = 30  # rows of which no measure says much
_SMALL = 10  # rows of a class of which no measure says much
_MATRIX = 20  # classes whose confusion matrix can be read


def _lines(table: PrintedTable) -> list[list[str]]:
    """A table as cells of text, the first of them heads."""
    return [list(table.heads), *table.cells()]


def summary_sentences(found: Evaluation, given: int) -> list[str]:
    """How good the model is, for somebody who reads nothing else."""
    accuracy, majority = found["accuracy"], found["majority_rate"]
    right, rate = float(accuracy), float(majority)
    of = "" if given == found.n_rows else f", drawn at random from {given:,}"
    said = [f"Of {found.n_rows:,} rows{of}, the model answers {percent(right)} correctly."]
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
    if found.confused:
        true, answered, n = found.confused[0]
        said.append(
            f"The most frequent confusion: {count(n)} row{'s' if n != 1 else ''} of "
            f"{shortened(true)!r} answered as {shortened(answered)!r}."
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
            ends = "" if measure.low is None else f"<small>{span(measure.low, measure.high)}</small>"
            tiles.append(f"<div><dt>{called}</dt><dd>{measure.value:.3f}{ends}</dd></div>")
    body = f'<dl class="figures">{"".join(tiles)}</dl>' + paragraphs([" ".join(summary_sentences(found, given))])
    return Section("summary", "In short", "", body + paragraphs([*notes, *warnings(found)], "warning"))


def evaluation(found: Evaluation, curves: tuple[Any, Any] | None) -> Section:
    """The measures with their intervals, of all classes together and of each."""
    measures = _lines(found.measure_table())
    classes = _lines(found.class_table())
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
        pair = [figure(page.svg(ax, n, f"c{i}"), n + ".") for i, (ax, n) in enumerate(zip(curves, names))]
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
    lines = _lines(found.confusion_table())
    if n > _MATRIX:
        how = f"{n} classes are too many for a table: these are the pairs that are most often confused."
        body = table(lines, "most confused pairs", (2,)) if len(lines) > 1 else paragraphs(["No row is confused."])
    else:
        how = "Down stands what is true, across what was answered: on the diagonal is what was predicted correctly."
        body = table(lines, "confusion matrix", range(1, n + 1))
    caption = "Confusion matrix; the darker a cell, the larger its share of the rows of that class."
    picture = figure(page.svg(ax, "confusion matrix; the table has its numbers", "confusion", crowded=n > 8), caption)
    return Section("confusion", "Confusions", how, picture + body)


def evaluation_panels(found: Evaluation) -> list[Any]:
    """The axes of the confusion matrix and, where there are probabilities, of the ROC and precision-recall curves."""
    crowded = len(found.classes) > 8
    if not found.probable:
        axes = [plots.new_axes(None, (6.4, 5.6) if crowded else (4.6, 4.0))]
    else:
        axes = [plots.new_axes(None, (6.4, 5.6) if crowded and k == 0 else (4.6, 4.0)) for k in range(4)]
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
    picture = page.svg(judged.plot(), "reliability diagram; the table has its numbers", "reliability")
    body = figure(picture, "How often answers are right, over how sure they were, with intervals.")
    body += details("The numbers", embedded(judged._repr_html_(), "reliability in numbers"))
    return Section("reliability", "Can the probabilities be believed?", how, body)


# The section of audits: how the model treats groups of people, in plain words first, then in a picture and tables.


_CELL = 200  # letters: sentences are shown whole, unless they are very long


def audits_of(given: Any) -> list[Any]:
    """One audit or several, as a list; an error where something else was given."""
    found = [] if given is None else list(given) if isinstance(given, list | tuple) else [given]
    for each in found:
        if isinstance(each, type) or not all(hasattr(each, name) for name in ("plain", "warnings", "_repr_html_")):
            raise KindError(f"audit must be what ingenuo.audit gives, or a list of it, got {type(each).__name__}")
    return found


def audits(given: Any) -> Section:
    """What was found, each audit under a heading of its own; or that nobody looked."""
    found = audits_of(given)
    how = "How the model treats groups of people. An audit shows what it looks at, and nothing else."
    if not found:
        said = (
            "No audit was made. That says nothing of whether the model treats groups alike: run “ingenuo audit” with "
            "sentences, or with the column that says who is of which group."
        )
        return Section("audit", "Audit for harms", "", paragraphs([said]))
    body = ""
    for number, each in enumerate(found, 1):
        body += f"<h3>{escape(_heading(each, number))}</h3>" + paragraphs(each.warnings, "warning")
        body += f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in each.plain)}</ul>"
        body += _shown(each, number)
    return Section("audit", "Audit for harms", how, body)


def _heading(audit: Any, number: int) -> str:
    if hasattr(audit, "protected"):
        return f"Groups by {shortened(audit.protected)}"
    return "Sentences that differ in a name or a term only" if hasattr(audit, "comparisons") else f"Audit {number}"


def _shown(audit: Any, number: int) -> str:
    """The picture and the tables of an audit."""
    if hasattr(audit, "protected"):
        lines = {
            "Rates of each group": findings.rate_lines(audit),
            "Differences between groups": findings.difference_lines(audit),
            "Calibration of each group": findings.calibration_lines(audit),
        }
        caption = "Rates of each group, with intervals; dotted is the group that the others are compared with."
    elif hasattr(audit, "comparisons"):
        lines = {
            "Differences between groups": findings.comparison_lines(audit),
            "Scores of each group": findings.score_lines(audit),
            "The worst sentences": findings.worst_lines(audit),
        }
        caption = "Mean differences between groups in the same sentences, with intervals."
    else:
        return details("In numbers", embedded(audit._repr_html_(), f"audit {number}", 4))
    axes = audit.plot()
    first = axes[0] if isinstance(axes, list) else axes
    picture = figure(page.svg(first, caption, f"audit{number}", crowded=True), caption)
    tables = "".join(
        f"<h4>{name}</h4>" + table([[shortened(cell, _CELL) for cell in line] for line in each], name.lower())
        for name, each in lines.items()
        if len(each) > 1
    )
    return picture + details("In numbers", tables)


# The section of examples: rows predicted correctly and wrongly, each with its arithmetic, cut to what can be read.


_EACH = 3  # right, and wrong
_FACTORS = 24  # shown one by one
_LETTERS = 900  # of a text
_VALUE = 48  # letters of a value


def chosen(predictions: Predictions) -> list[tuple[str, int]]:
    """Rows to show, each with what it is an example of: right ones sure, typical and unsure; the surest wrong ones."""
    right = predictions.codes == predictions.predicted
    if predictions.probabilities is None:
        found = [("right", row) for row in np.flatnonzero(right)[:_EACH].tolist()]
        return found + [("wrong", row) for row in np.flatnonzero(~right)[:_EACH].tolist()]
    sure = predictions.probabilities[np.arange(len(predictions)), predictions.predicted]
    good, bad = (rows[np.argsort(-sure[rows], kind="stable")].tolist() for rows in map(np.flatnonzero, (right, ~right)))
    places = {0: "right, and most sure", len(good) // 2: "right, and as sure as usual"}
    places.setdefault(len(good) - 1, "right, but least sure")
    found = [(what, good[place]) for place, what in places.items() if 0 <= place < len(good)]
    names = ("wrong, and most sure", "wrong, and second most sure", "wrong, and third most sure")
    return found + list(zip(names, bad[:_EACH]))


def examples(model: Any, rows: Rows, predictions: Predictions) -> Section:
    """The arithmetic behind some answers."""
    labels, parts = predictions.classes.tolist(), []
    shown = chosen(predictions)
    for what, row in shown:
        true, answered = (shortened(labels[codes[row]]) for codes in (predictions.codes, predictions.predicted))
        said = f"Row {rows.numbers[row] + 1:,}: {what}. Answered {answered!r}"
        if predictions.probabilities is not None:
            said += f" with {percent(float(predictions.probabilities[row, predictions.predicted[row]]))}"
        said += f", and it is {true!r}" if what.startswith("right") else f", but it is {true!r}"
        first = what == shown[0][0] or what.startswith("wrong, and most")
        parts.append(details(said + ".", _arithmetic(model, rows, row), unfolded=first))
    how = (
        "Each answer with its working: the prior, what each column says of each class, the product, and the division "
        "by the sum. Wrong answers that were sure show best what the model does not know. Rows are counted from 1."
    )
    if not any(what.startswith("wrong") for what, _ in shown):
        parts.append(paragraphs(["No row was answered wrongly."]))
    return Section("examples", "Examples, right and wrong", how, "".join(parts))


def _arithmetic(model: Any, rows: Rows, row: int) -> str:
    if not hasattr(model, "explain"):
        return paragraphs([f"A {type(model).__name__} does not show its working."])
    try:
        explanation = abridged(model.explain(rows.row(row)))
    except IngenuoError as error:
        return paragraphs([sentence(error)])
    return embedded(explanation._repr_html_(), f"arithmetic of row {row}")


def abridged(explanation: Any) -> Any:
    """An explanation with the strongest factors one by one, the others together, and a window of every long text."""
    if isinstance(explanation, SumExplanation):
        return _shorter_sum(explanation)
    if not isinstance(explanation, Explanation):
        return explanation
    factors = [replace(f, column=_cut(f.column), value=_cut(f.value)) for f in explanation.factors]
    if len(factors) > _FACTORS and not any(factor.part_of for factor in factors):
        factors = _strongest(factors, len(explanation.classes))
    passages = tuple(window(passage) for passage in explanation.passages)
    return replace(explanation, factors=tuple(factors), passages=passages)


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE else shortened(text, _VALUE)


def _strongest(factors: list[Factor], n_classes: int) -> list[Factor]:
    """The factors that move the answer most, in their order; what the others come to in one line."""
    spoken = [factor for factor in factors if factor.terms]
    kept = _most([[term.log for term in factor.terms] for factor in spoken])
    rest = [factor for k, factor in enumerate(spoken) if k not in kept]
    logs = [sum(factor.terms[k].log for factor in rest) for k in range(n_classes)]
    terms = tuple(Term(f"{len(rest):,} factors", exponential(log), log) for log in logs)
    shown = [factor for k, factor in enumerate(spoken) if k in kept]
    silent = len(factors) - len(spoken)
    left_out = [Factor("…", "", (), f"{silent:,} columns say nothing, for their values are missing")] if silent else []
    return [*shown, *([Factor(f"… {len(rest):,} more", "", terms)] if rest else []), *left_out]


def _most(amounts: list[list[float]]) -> set[int]:
    """The places of the factors that differ most between the classes."""
    spread = np.array([np.nan_to_num(np.ptp(np.clip(each, -1e300, 1e300)), nan=np.inf) for each in amounts])
    return set(np.argsort(-spread, kind="stable")[:_FACTORS].tolist())


def _shorter_sum(explanation: SumExplanation) -> SumExplanation:
    """The same for sums."""
    addends = [replace(each, column=_cut(each.column), value=_cut(each.value)) for each in explanation.addends]
    spoken = [each for each in addends if each.amounts]
    if len(addends) > _FACTORS:
        kept = _most([list(each.amounts) for each in spoken])
        rest = [each for k, each in enumerate(spoken) if k not in kept]
        sums = tuple(float(sum(each.amounts[k] for each in rest)) for k in range(len(explanation.classes)))
        more = Addend(f"… {len(rest):,} more", "", tuple(f"{len(rest):,} terms" for _ in sums), sums)
        addends = [each for k, each in enumerate(spoken) if k in kept] + ([more] if rest else [])
    return replace(explanation, addends=tuple(addends))


def window(passage: Passage, letters: int = _LETTERS) -> Passage:
    """The part of a text that says most, with "…" where something was left out.

    >>> text = Passage("text", (("so ", None),) * 9 + (("good", 2.0),) + ((" so", None),) * 9)
    >>> "".join(piece for piece, _ in window(text, 12).pieces)
    '… so so good…'
    """
    pieces = [(text[:letters], weight) for text, weight in passage.pieces]
    ends = np.cumsum([0, *(len(text) for text, _ in pieces)])
    if ends[-1] <= letters:
        return replace(passage, pieces=tuple(pieces))
    strength = np.cumsum([0.0, *(abs(weight or 0.0) for _, weight in pieces)])
    # Of each beginning the last piece that still fits.
    last: NDArray[Any] = np.searchsorted(ends, ends[:-1] + letters, side="right") - 1
    said = strength[last] - strength[:-1]
    first = int(np.argmax(said))
    kept = pieces[first : int(last[first])]
    before = [("… ", None)] if first else []
    after = [("…", None)] if last[first] < len(pieces) else []
    return replace(passage, pieces=(*before, *kept, *after))


# The section on how to have the same again: where the model comes from, its parameters, the lines to run.


_SOURCES = 50  # files that are listed
_HISTORY = 30  # steps
_PARAMETER = 300  # letters


def version() -> str:
    """The version of this package."""
    import ingenuo

    return str(ingenuo.__version__)


def parameters_of(model: Any) -> dict[str, str]:
    """The parameters of the model's constructor, as they are written."""
    if not hasattr(model, "get_params"):
        return {}
    return {name: shortened(repr(value), _PARAMETER) for name, value in model.get_params(deep=False).items()}


def facts(model: Any, about: Mapping[str, Any]) -> list[list[str]]:
    """What is known of the model's making, a line each."""
    lines = [["model", type(model).__name__]]
    for key, called in (
        ("title", "title"),
        ("target", "class column"),
        ("rows", "rows learned from"),
        ("command", "command"),
        ("created", "made on"),
        ("version", "made with ingenuo"),
    ):
        value = about.get(key)
        if value is not None:
            said = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
            lines.append([called, shortened(said, 1000)])
    return lines


def sources_of(about: Mapping[str, Any]) -> list[list[str]]:
    """The files that were learned from: name, bytes, SHA-256."""
    found = []
    for source in about.get("sources") or ():
        one = source if isinstance(source, Mapping) else {"path": source}
        size = one.get("bytes")
        found.append(
            [str(one.get("path", "not stated")), "" if size is None else f"{size:,}", str(one.get("sha256") or "")]
        )
    return found


def history_of(about: Mapping[str, Any]) -> list[list[str]]:
    """What was done to the model: what, rows, source, when."""
    return [
        [shortened(step.get(key, "") if step.get(key) is not None else "", 200) for key in keys]
        for keys in [("what", "rows", "source", "when")]
        for step in about.get("history") or ()
    ]


def quoted(text: str) -> str:
    """A string as it is written in Python.

    >>> print(quoted("rows.csv"), quoted('say "no"'))
    "rows.csv" 'say "no"'
    """
    return f'"{text}"' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)


def python_lines(model: Any, about: Mapping[str, Any], seed: int) -> str:
    """Lines that make the same model, and judge it."""
    name = type(model).__name__
    files = [source[0] for source in sources_of(about)]
    first = quoted(files[0] if files else "rows.csv")
    target = quoted(str(about.get("target") or getattr(model, "_target", None) or "class"))
    maker = shortened(repr(model), 2000) if type(model).__module__.startswith("ingenuo") else f"{name}(…)"
    return "\n".join(
        [
            "import ingenuo as ing",
            *([f"from ingenuo import {name}"] if maker.startswith(name) and not maker.endswith("(…)") else []),
            "",
            f"table = ing.read({first})" + ("" if files else "  # the rows to learn from"),
            f"model = {maker}.fit(table, {target})",
            'judged = ing.read("judged.csv")  # rows that the model has not learned from',
            f"print(ing.evaluate(model, judged, {target}, random_state={seed}))",
        ]
    )


def reproduction(model: Any, about: Mapping[str, Any], seed: int) -> Section:
    """How the model and this page were made."""
    how = "With the same files, the same parameters and the same version, the model comes out the same."
    body = table([["what", "value"], *facts(model, about), ["this page made with ingenuo", version()]], "origin")
    if not about:
        body += paragraphs(["Nothing was noted of where the model comes from, when it was saved."])
    files = sources_of(about)
    if files:
        lines = [["file", "bytes", "SHA-256"], *files[:_SOURCES]]
        body += "<h3>Files learned from</h3>" + table(lines, "files learned from", (1,))
        if len(files) > _SOURCES:
            body += paragraphs([f"{len(files) - _SOURCES:,} more files are not listed."])
    steps = history_of(about)
    if steps:
        lines = [["what", "rows", "source", "when"], *steps[-_HISTORY:]]
        body += "<h3>History</h3>" + table(lines, "history", (1,))
    given = [[name, value] for name, value in parameters_of(model).items()]
    if given:
        body += details("Parameters of the model", table([["parameter", "value"], *given], "parameters"))
    body += "<h3>In Python</h3>" + listing(python_lines(model, about, seed), "Python lines")
    return Section("reproduce", "How to reproduce it", how, body + paragraphs([f"The seed of this page is {seed}."]))


SIZE = 2_000_000  # bytes that no page exceeds
ROWS = 100_000


def report(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    about: Mapping[str, Any] | None = None,
    title: str | None = None,
    audit: Any = None,
    seed: int = 0,
    max_rows: int = ROWS,
    notes: Sequence[str] = (),
) -> str:
    """A page on a fitted classifier: the data, the evaluation, the evidence, examples, and how to have it again.

    Parameters
    ----------
    model : classifier
        Fitted.
    X : table, array, list of texts, or what `scan` gives
        Rows that it has not learned from.
    y : array-like, or the name of a column of X
        What is true of each row; by default the column of that name that the model learned.
    about : mapping, optional
        Where the model comes from, as `ingenuo.store.about` gives it.
    title : str, optional
        The page's heading.
    audit : audit, or list of these, optional
        What `ingenuo.audit` found.
    seed : int
        Of the bootstrap, and of which rows are drawn.
    max_rows : int
        Of more rows so many are drawn at random; the page says so.
    notes : list of str
        Sentences that a reader should see first.

    Returns
    -------
    str
        HTML, of two million bytes at most.

    Examples
    --------
    >>> from ingenuo import NaiveBayes
    >>> from ingenuo.datasets import play_tennis
    >>> model = NaiveBayes().fit(play_tennis(), "Play")
    >>> page = report(model, play_tennis(), "Play", title="Shall we play?")
    >>> page.startswith("<!doctype html>"), "Shall we play?" in page
    (True, True)
    """
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise KindError(f"a report is on a fitted classifier, got {_called(model)}; give one that was fitted")
    if hasattr(model, "predict_quantiles"):
        raise KindError(
            f"a {type(model).__name__} answers with numbers, and a report is on classes; cut the target into classes "
            "and fit a NaiveBayes, or look at one answer with model.explain(row)"
        )
    if about is not None and not isinstance(about, Mapping):
        raise KindError(f"about must be a mapping, got {type(about).__name__}; give ingenuo.store.about(path)")
    audits_of(audit)  # refuses what is none, before the work begins
    rows = rows_of(model, X, y, max_rows, seed)
    found = evaluate(model, rows.X, rows.y, random_state=seed)
    sections = _sections(model, rows, found, dict(about or {}), audit, seed, notes)
    heading = title or (about or {}).get("title") or f"Report on a {type(model).__name__}"
    return _page(shortened(heading, 200), sections)


def write(model: Any, X: Any, y: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a report to a file, whole or not at all; the options are those of `report`.

    >>> import tempfile, os
    >>> from ingenuo import NaiveBayes
    >>> from ingenuo.datasets import play_tennis
    >>> model = NaiveBayes().fit(play_tennis(), "Play")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(model, play_tennis(), "Play", os.path.join(folder, "report.html"))
    ...     os.listdir(folder)
    ['report.html']
    """
    if not isinstance(path, str | os.PathLike):
        raise KindError(f"path must be the path of a file, got {type(path).__name__} {path!r}")
    page = report(model, X, y, **options)
    replace_file(os.path.realpath(os.fspath(path)), [page.encode()])


def _called(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else f"{type(model).__name__} {shortened(model)!r}"


def _sections(
    model: Any, rows: Rows, found: Evaluation, about: dict[str, Any], audit: Any, seed: int, notes: Sequence[str]
) -> list[Section]:
    """The parts of the page, in the order they are read."""
    with drawing():
        panels = evaluation_panels(found)
        curves = (panels[1], panels[2]) if len(panels) == 4 else None
        parts = [
            summary(found, rows.given, notes),
            sections.data(model, rows),
            sections.schema(model),
            sections.balance(model, found),
            evaluation(found, curves),
            confusion(found, panels[0]),
            reliability(found),
            sections.evidence(model),
            sections.picture(model),
            sections.densities(model, rows),
            examples(model, rows, found.predictions),
            audits(audit),
            reproduction(model, about, seed),
        ]
    return [part for part in parts if part is not None]


def _page(heading: str, sections: Iterable[Section]) -> str:
    """The page, with the largest sections left out should it be too large."""
    parts = list(sections)
    bodies = {part.anchor: part.html() for part in parts}
    while sum(len(body.encode()) for body in bodies.values()) > SIZE - 20_000:
        worst = max(parts, key=lambda part: len(bodies[part.anchor].encode()))
        said = f"{worst.heading} would make this page larger than {SIZE / 1e6:g} MB, and is left out."
        bodies[worst.anchor] = Section(worst.anchor, worst.heading, "", paragraphs([said])).html()
    return page.page(heading, "\n".join(bodies.values()), parts)
