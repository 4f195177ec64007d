"""The summary of a fitted model for notebooks: what it has seen, and what its columns are."""

from __future__ import annotations

import html

from ingenuo.explanation import STYLE
from ingenuo.labels import Labels
from ingenuo.schema import Schema
from ingenuo.tally import Tally

_MOST = 12


def summary_html(tally: Tally, schema: Schema, classes: Labels) -> str:
    """Two small tables: the classes with their share of the rows, the columns with their kinds."""
    rows = tally.over("class", classes).floats()
    shares = rows / max(float(rows.sum()), 1e-300)
    by_class = "".join(
        f"<tr><td>{html.escape(str(name))}</td><td class='n'>{count:,.10g}</td><td class='n'>{share:.4f}</td></tr>"
        for name, count, share in list(zip(classes, rows, shares))[:_MOST]
    )
    by_column = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{kind}</td><td>{family}</td><td>{html.escape(why)}</td></tr>"
        for name, kind, family, why in schema.rows(_MOST)
    )
    more = [
        f"<p>… and {len(items) - _MOST:,} more {what}</p>"
        for what, items in (("classes", classes), ("columns", schema.names))
        if len(items) > _MOST
    ]
    heads = (
        "<tr><th>class</th><th class='n'>rows</th><th class='n'>share</th></tr>",
        "<tr><th>column</th><th>kind</th><th>family</th><th>why</th></tr>",
    )
    tables = [f"<table class='ingenuo'>{h}{body}</table>" for h, body in zip(heads, (by_class, by_column)) if body]
    return (
        f"<div style='overflow-x:auto'><style>{STYLE}</style>"
        f"<p>Learned from {rows.sum():,.10g} rows: {len(classes)} classes{_columns(schema)}.</p>"
        f"{''.join(tables)}{''.join(more)}</div>"
    )


def _columns(schema: Schema) -> str:
    if len(schema) == 0:  # a model of sequences has none
        return ""
    return f", {len(schema)} column{'s' if len(schema) > 1 else ''}"
