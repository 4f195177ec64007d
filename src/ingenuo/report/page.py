"""The report: one HTML page that needs nothing else, on what a model is and how good it is.

No script, no request, no font from elsewhere; the same rows and the same seed give the same page.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ingenuo.container import replace_file
from ingenuo.errors import KindError
from ingenuo.evaluation.evaluation import Evaluation, evaluate
from ingenuo.report import data_part, evaluation_part, model_part
from ingenuo.report.audit_part import audits, audits_of
from ingenuo.report.charts import drawing
from ingenuo.report.examples import examples
from ingenuo.report.markup import Section, paragraphs, shortened
from ingenuo.report.reproduction import reproduction, version
from ingenuo.report.rows import Rows, rows_of
from ingenuo.report.style import sheet

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
    >>> from ingenuo.data import play_tennis
    >>> model = NaiveBayes().fit(play_tennis(), "Play")
    >>> page = report(model, play_tennis(), "Play", title="Shall we play?")
    >>> page.startswith("<!DOCTYPE html>"), "Shall we play?" in page
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
    >>> from ingenuo.data import play_tennis
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
        panels = evaluation_part.panels(found)
        curves = (panels[1], panels[2]) if len(panels) == 4 else None
        parts = [
            evaluation_part.summary(found, rows.given, notes),
            data_part.data(model, rows),
            data_part.schema(model),
            data_part.balance(model, found),
            evaluation_part.evaluation(found, curves),
            evaluation_part.confusion(found, panels[0]),
            evaluation_part.reliability(found),
            model_part.evidence(model),
            model_part.picture(model),
            model_part.densities(model, rows),
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
    contents = "".join(f'<li><a href="#{part.anchor}">{escape(part.heading)}</a></li>' for part in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>{escape(heading)}</title>\n<link rel="icon" href="data:,">\n<style>{sheet()}</style>\n</head>\n'
        "<body>\n"
        '<a class="skip" href="#main">Skip to the report</a>\n'
        f'<header><h1>{escape(heading)}</h1>\n<nav aria-label="Contents"><ul>{contents}</ul></nav></header>\n'
        f'<main id="main" tabindex="-1">\n{chr(10).join(bodies[part.anchor] for part in parts)}\n</main>\n'
        f"<footer><p>Made with ingenuo {escape(version())}.</p></footer>\n</body>\n</html>\n"
    )
