"""The rows that a page embeds: as the model takes them, with the place of each one's class, and a note on the draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from ingenuo.errors import InputError
from ingenuo.language import say
from ingenuo.rows import checks
from ingenuo.rows.rows import OURS, is_stream, take_rows
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source, match, open_source
from ingenuo.rows.streams import draw_rows
from ingenuo.show.format import plain
from ingenuo.tally.labels import encode, is_missing, labels_of, recognise

ROWS = 2_000  # that a page has unless more are asked for
MOST = 10_000
_CELLS = 5_000_000

UNSEEN = -1  # in place of a class that the model does not know


def page_rows(
    model: Any, X: Any, y: Any = None, *, max_rows: int = ROWS, seed: int = 0, given: int | None = None
) -> dict[str, Any]:
    """Rows for a page, as plain data: columns, values, labels, how many were given, and a note.

    Parameters
    ----------
    model : classifier
        Fitted.
    X, y : table, array, texts, or rows of files as `rows_for` gives them; and the class of each, or its column
        Without classes the rows can be asked, and the model is not judged by them.
    max_rows, seed : int
        Of more rows so many are drawn at random.
    given : int, optional
        How many rows there were, where these have been drawn from more already.

    Returns
    -------
    dict
        "labels" are places among the model's classes: -1 of a class that it does not know, None where there is none.

    Examples
    --------
    >>> import ingenuo as ing
    >>> from ingenuo.datasets import play_tennis
    >>> found = page_rows(ing.NaiveBayes().fit(play_tennis(), "Play"), play_tennis(), max_rows=3)
    >>> found["columns"], len(found["values"]), found["note"]
    (['Outlook', 'Temperature', 'Humidity', 'Wind'], 3, '3 of 14 rows, drawn by seed 0')
    """
    checks.check_whole("max_rows", max_rows, 1)
    checks.check_whole("seed", seed)
    if max_rows > MOST:
        raise InputError(f"max_rows is {max_rows:,}, and a page takes {MOST:,} rows at most; draw fewer")
    schema = getattr(model, "schema_", None)
    if not isinstance(schema, Schema) or not len(schema):
        raise InputError(f"a {type(model).__name__} has no columns, so that no rows can be embedded; leave them out")
    y = _known_target(model, X) if y is None else y
    if is_stream(X):
        X, _, given = draw_rows(X, max_rows, seed)
    X, y = checks.target_column(X, y)
    source = _source_of(X, schema)
    given = source.n_rows if given is None else given
    if source.n_rows > max_rows:
        drawn = np.sort(np.random.default_rng([OURS, seed]).choice(source.n_rows, max_rows, replace=False))
        X, y = take_rows(X, drawn), None if y is None else take_rows(y, drawn)
        source = _source_of(X, schema)
    kept = [name for name in schema.names.tolist() if FAMILIES[schema.family(name)] != "ignore"]
    if len(kept) * source.n_rows > _CELLS:
        fewer = max(_CELLS // len(kept), 1)
        raise InputError(
            f"{source.n_rows:,} rows of {len(kept):,} columns are too much for a page; embed at most {fewer:,} rows"
        ).typed_as("embed at most", "say --max-rows")
    places = dict(zip(schema.names.tolist(), match(schema, source).tolist()))
    columns = [_values(source, schema, name, places[name]) for name in kept]
    some = say("{n} of {m} rows, drawn by seed {seed}", n=f"{source.n_rows:,}", m=f"{given:,}", seed=seed)
    whole = say("1 row") if given == 1 else say("{n} rows", n=f"{given:,}")
    note = whole if given == source.n_rows else some
    return {
        "columns": [column_name(name) for name in kept],
        "values": [list(row) for row in zip(*columns)],
        "labels": [None] * source.n_rows if y is None else _places_of(model, y),
        "given": given,
        "note": note,
    }


def _known_target(model: Any, X: Any) -> str | None:
    """The column of classes that the model learned, where the rows have it."""
    target = getattr(X, "target", None) or getattr(model, "_target", None)
    names = getattr(X, "names", None) if is_stream(X) else open_source(X).names.tolist() if checks.is_frame(X) else ()
    return target if target in (names or ()) else None


def _source_of(X: Any, schema: Schema) -> Source:
    """The rows column by column; a column of texts by itself has the name that the model knows."""
    if isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple | np.ndarray):
        X = checks.array_of(X)
    found = open_source(X.to_list() if hasattr(X, "to_list") and not checks.is_frame(X) else X)
    if checks.is_frame(X) and schema.named:
        known = set(schema.names.tolist())
        unknown = [name for name in found.names.tolist() if name not in known]
        return open_source(checks.drop_columns(X, unknown)) if unknown else found
    return found


def _values(source: Source, schema: Schema, name: Any, place: int) -> list[Any]:
    """A column as values that JSON has; None is missing, and a count that is not there is 0."""
    at, kind = np.array([place]), FAMILIES[schema.family(name)]
    if kind == "number":
        numbers = source.numbers(at, source.names[at]).column(0)
        if np.isinf(numbers).any():
            raise InputError(f"column {column_name(name)!r} has an infinite number, which a model does not take")
        return [None if x != x else int(x) if x.is_integer() and abs(x) < 1e15 else x for x in numbers.tolist()]
    if kind == "count":
        matrix: Any = source.counts(at, source.names[at]).matrix
        dense = np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix, np.float64).ravel()
        return [int(x) if x.is_integer() else x for x in dense.tolist()]
    column = source.column(place)
    values = column.to_pylist() if hasattr(column, "to_pylist") else np.asarray(column, object).tolist()
    if kind == "text":
        return [None if is_missing(x) else x.decode("utf-8", "replace") if isinstance(x, bytes) else x for x in values]
    return [None if is_missing(x) else plain(x) for x in values]


def _places_of(model: Any, y: Any) -> list[int | None]:
    """Of each label its place among the classes of the model; None where there is no label."""
    codes, found = encode(y.to_pylist() if hasattr(y, "to_pylist") else np.asarray(y, object).tolist())
    places = np.append(recognise(labels_of(model.classes_), found), -2)
    return [None if place == -2 else place for place in places[codes].tolist()]
