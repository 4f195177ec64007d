"""The section of audits: how the model treats groups of people, in plain words first, then in a picture and tables."""

from __future__ import annotations

from html import escape
from typing import Any

from ingenuo.errors import KindError
from ingenuo.explanation import audit_tables
from ingenuo.report import charts
from ingenuo.report.markup import Section, details, embedded, figure, paragraphs, shortened, table

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
            "Rates of each group": audit_tables.rate_lines(audit),
            "Differences between groups": audit_tables.difference_lines(audit),
            "Calibration of each group": audit_tables.calibration_lines(audit),
        }
        caption = "Rates of each group, with intervals; dotted is the group that the others are compared with."
    elif hasattr(audit, "comparisons"):
        lines = {
            "Differences between groups": audit_tables.comparison_lines(audit),
            "Scores of each group": audit_tables.score_lines(audit),
            "The worst sentences": audit_tables.worst_lines(audit),
        }
        caption = "Mean differences between groups in the same sentences, with intervals."
    else:
        return details("In numbers", embedded(audit._repr_html_(), f"audit {number}", 4))
    axes = audit.plot()
    first = axes[0] if isinstance(axes, list) else axes
    picture = figure(charts.svg(first, caption, f"audit{number}", crowded=True), caption)
    tables = "".join(
        f"<h4>{name}</h4>" + table([[shortened(cell, _CELL) for cell in line] for line in each], name.lower())
        for name, each in lines.items()
        if len(each) > 1
    )
    return picture + details("In numbers", tables)
