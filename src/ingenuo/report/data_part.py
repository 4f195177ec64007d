"""The sections on the data: what the rows hold, what the model takes the columns for, how many rows a class has."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.evaluation.evaluation import Evaluation
from ingenuo.explanation import evaluation_tables
from ingenuo.labels import find, labels_of
from ingenuo.report import charts
from ingenuo.report.columns import COLUMNS, Column, columns_of, kinds_beyond
from ingenuo.report.evaluation_part import short_names
from ingenuo.report.markup import Section, figure, paragraphs, percent, region, shortened, table
from ingenuo.report.rows import Rows, schema_of

Floats = NDArray[np.float64]

_CLASSES = 20  # whose shares are drawn


def data(model: Any, rows: Rows) -> Section:
    """The rows that were judged, column by column."""
    source, schema = rows.source(), schema_of(model)
    how = "These are the rows that the model was judged on; they should be rows that it has not learned from."
    if source is None:
        return Section("data", "What the data is", how, paragraphs([f"{len(rows):,} texts, each a list of words."]))
    found = columns_of(source, schema)
    n = len(source.names) if schema is None else len(schema)
    said = [f"{len(rows):,} rows, {n:,} column{'' if n == 1 else 's'} besides the class."]
    if len(rows) < rows.given:
        said[0] = f"{rows.given:,} rows, of which {len(rows):,} were drawn at random for this report; " + said[0]
    if schema is not None and kinds_beyond(schema):
        said.append(kinds_beyond(schema))
    elif schema is None and n > COLUMNS:
        said.append(f"The first {COLUMNS} are listed.")
    return Section("data", "What the data is", how, paragraphs([" ".join(said)]) + _listed(found))


def _listed(found: list[Column]) -> str:
    """The table of the columns; the histograms are for the eye only."""
    body = ""
    for each in found:
        missing = "" if np.isnan(each.missing) else missing_share(each.missing)
        body += (
            f'<tr><th scope="row">{escape(shortened(each.name))}</th><td>{each.kind}</td><td class="n">{missing}</td>'
            f'<td class="long">{escape(each.values)}</td><td class="bars" aria-hidden="true">{each.bars}</td></tr>'
        )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("column", "kind", "missing", "values", ""))
    sheet = f'<table class="sheet"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
    return region(sheet, "columns and their values")


def missing_share(share: float) -> str:
    """A share of missing values: none and all are said exactly.

    >>> missing_share(0.0), missing_share(0.0001), missing_share(0.25)
    ('none', 'less than 0.1%', '25.0%')
    """
    if share == 0:
        return "none"
    return "all" if share == 1 else percent(share)


def schema(model: Any) -> Section:
    """What each column is to the model, and why."""
    found = schema_of(model)
    how = "What the model takes each column for, how it models it, and why: inferred from the values, or declared."
    if found is None:
        what = (
            "The model reads texts as sequences of words" if hasattr(model, "order") else "The model names no columns"
        )
        return Section("schema", "Schema", how, paragraphs([f"{what}: it has no schema."]))
    lines = [[shortened(name), kind, family, shortened(why, 200)] for name, kind, family, why in found.rows(COLUMNS)]
    body = table([["column", "kind", "family", "why"], *lines], "schema")
    return Section("schema", "Schema", how, body + paragraphs([s for s in [kinds_beyond(found)] if s]))


def learned_rows(model: Any, classes: Any) -> Floats | None:
    """How many rows of each class the model has learned from, if its sums say so."""
    tally = getattr(model, "tally_", None)
    if tally is None or "class" not in tally:
        return None
    known = labels_of(tally.labels("class", 0))
    counts = tally.over("class", known).floats()
    places = find(known, classes)
    return np.where(places >= 0, np.append(counts, 0.0)[places], 0.0)


def balance(model: Any, found: Evaluation) -> Section:
    """The classes' shares of the rows learned from and of the rows judged."""
    classes = labels_of(found.classes)
    learned, judged = learned_rows(model, classes), found.support
    names = [shortened(label) for label in classes.tolist()]
    order = np.argsort(-(judged if learned is None else learned), kind="stable")
    shown = order[:_CLASSES] if len(order) > _CLASSES else np.arange(len(order))
    heads = ["class", *(["learned from", "share"] if learned is not None else []), "judged on", "share"]
    lines = []
    for k in order[: 3 * _CLASSES] if len(order) > _CLASSES else range(len(order)):
        cells = [names[k]]
        for counts in [learned, judged] if learned is not None else [judged]:
            cells += [evaluation_tables.count(float(counts[k])), percent(counts[k] / max(counts.sum(), 1))]
        lines.append(cells)
    body = table([heads, *lines], "rows of each class", range(1, len(heads)))
    said = []
    if len(order) > _CLASSES:
        said.append(f"Of {len(order)} classes the {len(shown)} largest are drawn and the {len(lines)} largest listed.")
    with charts.drawing():
        shares = None if learned is None else learned[shown] / max(float(learned.sum()), 1.0)
        names = short_names(found)
        ax = charts.balance([names[k] for k in shown.tolist()], shares, judged[shown] / judged.sum())
        picture = charts.svg(ax, "share of each class; the table has its numbers", "balance")
    how = (
        "A model that learned from other shares than it meets will expect the wrong ones: its prior is the shares it "
        "learned from, unless it was told otherwise."
    )
    body = figure(picture, "Share of each class among the rows.") + body + paragraphs(said)
    return Section("balance", "Class balance", how, body)
