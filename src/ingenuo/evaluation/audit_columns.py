"""The groups of an audit's rows: from a protected column, from several together, or from labels beside the rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators import inputs
from ingenuo.labels import Labels, encode, objects
from ingenuo.schema import column_name
from ingenuo.sources import open_source
from ingenuo.target_bins import cut

BANDS = 4
MISSING = "(missing)"
_AS_THEY_ARE = 10  # different numbers: of more, bands are made
_MOST = 100  # groups


class Groups(NamedTuple):
    """Codes of the rows and the names of the groups; of what, the columns it is, and what was done."""

    codes: NDArray[np.int64]
    names: Labels
    called: str
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def groups_of(X: Any, protected: Any, cuts: Any, n_rows: int | None = None) -> Groups:
    """The group of each row.

    Parameters
    ----------
    X : table or None
        The rows.
    protected : str, list of str, or array-like
        A column of X, several (their combinations are the groups), or a label for each row.
    cuts : list of numbers, optional
        Where to cut numbers into bands.
    n_rows : int, optional
        How many rows there are, where X is None.

    >>> found = groups_of(None, [23, 35, 61, 44], [30, 50])
    >>> found.names.tolist(), found.codes.tolist()
    (['below 30', '30 to below 50', '50 and above'], [0, 1, 2, 1])
    """
    beside = inputs.is_frame(protected)
    if beside:  # columns beside the rows
        rows = n_rows if X is None else _n_rows(X)
        if rows is not None and _n_rows(protected) != rows:
            raise InputError(f"there are {rows} rows and {_n_rows(protected)} in protected; give one for each row")
        X, protected = protected, [column_name(name) for name in open_source(protected).names.tolist()]
    columns = _columns(X, protected)
    if not columns:
        values = _beside(protected, n_rows if X is None else _n_rows(X))
        found = _coded(values, "protected", cuts)
        check_groups(found[1], len(found[0]), "protected")
        return Groups(*found[:2], "protected", (), found[2])
    source = open_source(X)
    parts = []
    for name in columns:
        values, numeric = column_values(source, name)
        parts.append(_coded(values, name, cuts if len(columns) == 1 or numeric else None))
    called = " × ".join(columns)
    notes = tuple(note for part in parts for note in part[2])
    columns = () if beside else columns
    codes, names = parts[0][:2] if len(parts) == 1 else combined([part[:2] for part in parts])
    check_groups(names, len(codes), called)
    return Groups(codes, names, called, columns, notes)


def column_values(source: Any, name: str) -> tuple[Any, bool]:
    """The values of a column of a table, and whether they are numbers."""
    import narwhals as nw

    series = source.frame[name]
    numeric = series.dtype.is_numeric() and not isinstance(series.dtype, nw.Boolean)
    return series.to_numpy() if numeric and not series.null_count() else objects(series.to_list()), numeric


def _columns(X: Any, protected: Any) -> tuple[str, ...]:
    """The columns of X that are named; none where labels were given."""
    named = (protected,) if isinstance(protected, str) else ()
    if isinstance(protected, list | tuple) and protected and all(isinstance(name, str) for name in protected):
        # As many strings as rows may be labels; names of columns they are where each is one.
        known = set(map(str, open_source(X).names.tolist())) if inputs.is_frame(X) else set()
        if set(protected) <= known or (X is not None and len(protected) != _n_rows(X)):
            named = tuple(dict.fromkeys(protected))
    if not named:
        return ()
    if not inputs.is_frame(X):
        raise InputError(
            f"protected={protected!r} names a column, and X has no names; give a table with column names, or a label "
            "for each row"
        )
    known_names = [column_name(name) for name in open_source(X).names.tolist()]
    for name in named:
        if name not in known_names:
            raise InputError(f"X has no column {name!r} to protect{did_you_mean(name, known_names)}")
    return named


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _beside(protected: Any, n_rows: int | None) -> Any:
    """A label for each row."""
    if isinstance(protected, str | bytes) or not hasattr(protected, "__len__"):
        raise KindError(
            f"protected must name a column of X or hold a label for each row, got {type(protected).__name__} "
            f"{protected!r:.60}"
        )
    values = protected.to_numpy() if hasattr(protected, "to_numpy") else protected
    values = values if isinstance(values, np.ndarray) else objects(list(values))
    if n_rows is not None and len(values) != n_rows:
        raise InputError(f"there are {n_rows} rows and {len(values)} labels in protected; give one for each row")
    return values


class Coding(NamedTuple):
    """How the values of a column make groups: numbers by the points that cut them into bands, all else as they are."""

    cuts: list[float] | None
    names: Labels
    notes: tuple[str, ...]


def coding_of(labels: Labels, counts: NDArray[np.int64], name: str, cuts: Any) -> Coding:
    """How a column makes groups, by its different values and how often each occurs."""
    numeric = labels.dtype.kind in "iuf"
    if cuts is not None and not numeric:
        raise InputError(
            f"groups={cuts!r} are cut points for numbers, and {name!r} has the values "
            f"{', '.join(map(repr, labels.tolist()[:3]))}, …; leave groups out"
        )
    if not numeric or (cuts is None and len(labels) <= _AS_THEY_ARE):
        return Coding(None, labels, ())
    if cuts is None:
        bands = cut(labels.astype(np.float64), counts.astype(np.float64), BANDS, "equal-frequency")
        points, how = bands.edges[1:-1].tolist(), "with as nearly equal numbers of rows as can be"
    else:
        points, how = _points(cuts), "as they were given"
    names = objects(band_names(points))
    return Coding(points, names, (f"Bands of {name!r}, {how}: {', '.join(names.tolist())}.",))


def coded(codes: NDArray[Any], labels: Labels, cuts: list[float] | None) -> tuple[NDArray[np.int64], Labels]:
    """Codes and names of the groups that values make; what is missing is a group of its own."""
    codes = codes.astype(np.int64)
    if cuts is not None:
        there = codes >= 0
        codes[there] = np.searchsorted(cuts, labels.astype(np.float64), side="right")[codes[there]]
        labels = objects(band_names(cuts))
    if (codes < 0).any():
        labels = objects([*labels.tolist(), MISSING])
        codes[codes < 0] = len(labels) - 1
    seen = np.bincount(codes, minlength=len(labels)) > 0
    return (np.cumsum(seen) - 1)[codes], labels[seen]


def _coded(values: Any, name: str, cuts: Any) -> tuple[NDArray[np.int64], Labels, tuple[str, ...]]:
    """Codes and names of the groups, numbers cut into bands, and what was done."""
    codes, labels = encode(values)
    coding = coding_of(labels, np.bincount(codes[codes >= 0], minlength=len(labels)), name, cuts)
    return *coded(codes, labels, coding.cuts), coding.notes


def _points(cuts: Any) -> list[float]:
    try:
        points = np.asarray(cuts, np.float64)
    except (TypeError, ValueError):
        points = np.zeros((0, 0))
    if points.ndim != 1 or len(points) == 0 or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
        raise InputError(f"groups={cuts!r} are no cut points; give numbers that ascend, such as [30, 50]")
    return list(points.tolist())


def band_names(cuts: list[float]) -> list[str]:
    """Bands of numbers as a person writes them.

    >>> band_names([30, 50])
    ['below 30', '30 to below 50', '50 and above']
    """
    if not cuts:
        return ["all"]
    said = [f"{point:.10g}" for point in cuts]
    middle = [f"{low} to below {high}" for low, high in pairwise(said)]
    return [f"below {said[0]}", *middle, f"{said[-1]} and above"]


def combined(parts: list[tuple[NDArray[np.int64], Labels]]) -> tuple[NDArray[np.int64], Labels]:
    """The combinations that occur of several columns' groups."""
    whole = parts[0][0]
    names = [str(name) for name in parts[0][1].tolist()]
    for codes, labels in parts[1:]:
        whole = whole * len(labels) + codes
        names = [f"{one}, {other}" for one in names for other in labels.tolist()]
        seen = np.bincount(whole, minlength=len(names)) > 0
        whole = (np.cumsum(seen) - 1)[whole]
        names = [name for name, there in zip(names, seen) if there]
    return whole, objects(names)


def check_groups(names: Labels, rows: int, called: str) -> None:
    """Raise where there is nothing to compare."""
    n = len(names)
    if n == 1:
        raise InputError(
            f"{called!r} is {names.tolist()[0]!r} in every row, so there are no two groups to compare; "
            "give rows of several groups, or another column"
        )
    if n > _MOST or (n > BANDS + 1 and n > rows / 2):
        raise InputError(
            f"{called!r} has {n:,} different values in {rows:,} rows, which makes no groups; give a column of "
            "few values, or cut points of numbers by groups=[…]"
        )


def refuse_target(y: Any, named: Any) -> None:
    """Raise where the class is among the columns of groups."""
    if isinstance(y, str) and y in named:
        raise InputError(f"{y!r} is both y and protected; the groups cannot be what is to be told")


def taken_off(names: list[str]) -> str:
    """The sentence on columns that the model does not know."""
    return f"The model does not know {', '.join(map(repr, names))}: taken off before it was asked."


def known_columns(model: Any) -> list[str] | None:
    """The names of the columns that a model takes; None where it does not say."""
    schema = getattr(model, "schema_", None)
    if schema is not None and schema.named and len(schema):
        return [str(name) for name in schema.names.tolist()]
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [column_name(name) for name in np.asarray(names).tolist()]
