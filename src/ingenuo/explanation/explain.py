"""The arithmetic behind an answer, asked for in any way: a row, a text, a line that a person typed, rows of a table."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError
from ingenuo.rows import checks
from ingenuo.rows.rows import take_rows
from ingenuo.rows.typed import parse_row, reads_texts
from ingenuo.show.page import page
from ingenuo.show.table import Shown


def explain(model: Any, row: Any, *, rows: Iterable[int] | None = None) -> Any:
    """The arithmetic of an answer: what a person would write to check it.

    Parameters
    ----------
    model : fitted model
        Any classifier of this package, or `NaiveBayesRegressor`.
    row : mapping, sequence, table of one row, or text
        The row to explain; what a mapping leaves out is missing. A text is the row itself where the model reads one
        column of text, else it is read by `parse_row`: "Outlook=Sunny, Wind=Strong", or a JSON object.
    rows : iterable of int, optional
        Which rows to explain, where the second argument is a table (or a list of texts) of several; counted from 0.

    Returns
    -------
    Explanation, or another of its kind; of several rows a list
        All print as tables, have `to_dict()`, `to_html()` and `to_text()`, and show themselves in notebooks.

    Examples
    --------
    >>> import ingenuo as ing, ingenuo.datasets
    >>> from ingenuo.explanation.explain import explain
    >>> model = ing.NaiveBayes().fit(ingenuo.datasets.play_tennis(), "Play")
    >>> print(explain(model, "Outlook=Overcast, Wind=?"))
                           No                             Yes
    ──────────────────────────────────────────────────────────────────────────────────
    prior                  5/14             = 0.3571429   9/14             = 0.6428571
    Outlook      Overcast  (0 + 1)/(5 + 3)  = 0.125       (4 + 1)/(9 + 3)  = 0.4166667
    Temperature  missing   left out
    Humidity     missing   left out
    Wind         missing   left out
    ──────────────────────────────────────────────────────────────────────────────────
    product                                 = 0.04464286                   = 0.2678571
    ÷ their sum                             = 0.142857                     = 0.857143
    → Yes, with probability 0.857143
    """
    if not callable(getattr(model, "explain", None)) or not hasattr(model, "fit"):
        raise KindError(
            f"a {type(model).__name__} cannot explain an answer; give a fitted model of this package, as NaiveBayes"
        )
    if rows is not None:
        return [model.explain(each) for each in _taken(row, rows)]
    if isinstance(row, str) and not reads_texts(model):
        row = parse_row(row, model)
    return model.explain(row)


def explained_page(explanations: Sequence[Shown], names: Sequence[str] = (), title: str = "Why?") -> str:
    """Several explanations on one page, each under its name.

    Parameters
    ----------
    explanations : sequence
        What `explain` gave.
    names : sequence of str
        What each is called; one alone needs none.
    title : str
        The title of the page.

    Examples
    --------
    >>> import ingenuo as ing, ingenuo.datasets
    >>> model = ing.NaiveBayes().fit(ingenuo.datasets.play_tennis(), "Play")
    >>> shown = explained_page(explain(model, ingenuo.datasets.play_tennis(), rows=[0, 3]), ["row 0", "row 3"])
    >>> shown.count("<h2>"), "<script" in shown
    (2, False)
    """
    if names and len(names) != len(explanations):
        raise InputError(f"there are {len(explanations)} explanations and {len(names)} names; give one for each")
    parts = []
    for place, each in enumerate(explanations):
        name = names[place] if names else ""
        head = f"<h2>{html.escape(name)}</h2>" if name else ""
        parts.append(f"<section>{head}{each._repr_html_()}</section>")
    return page(title, "\n".join(parts))


def _taken(table: Any, rows: Iterable[int]) -> list[Any]:
    """Rows of a table, each as a model takes it."""
    if isinstance(table, str | bytes | Mapping):
        raise KindError(f"rows are taken of a table or of a list of texts, got {type(table).__name__}; leave out rows=")
    chosen = list(rows)
    n = _n_rows(table)
    for row in chosen:
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise KindError(f"rows must be whole numbers, got {type(row).__name__} {row!r}")
        if not 0 <= row < n:
            raise InputError(f"there is no row {row}: the table has {n} rows, counted from 0")
    if checks.is_frame(table):
        return [take_rows(table, np.array([row], np.intp)) for row in chosen]
    if hasattr(table, "tocsr"):
        table = table.tocsr()
        return [table[int(row)] for row in chosen]
    if hasattr(table, "iloc"):
        return [table.iloc[int(row)] for row in chosen]
    values = [table[int(row)] for row in chosen]
    return [value.as_py() if hasattr(value, "as_py") else value for value in values]


def _n_rows(table: Any) -> int:
    if hasattr(table, "num_rows"):
        return int(table.num_rows)
    if hasattr(table, "shape") and len(table.shape):
        return int(table.shape[0])
    try:
        return len(table)
    except TypeError:
        raise KindError(f"rows are taken of a table or of a list of texts, got {type(table).__name__}") from None
