"""The columns of a table as the nodes of a network: categories as they are, numbers in intervals, no text."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.families.categorical import column_codes
from ingenuo.families.discretise import PARTS, Cuts, equal_shares, supervised
from ingenuo.rows.part import Codes
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source
from ingenuo.tally.labels import Labels, encode, labels_of

Floats = NDArray[np.float64]
Few = Callable[[int], int | None]

MANY = 30  # a column of no more different values is never taken for the names of rows
_GLANCE = 1000  # rows that are looked at first
FEW = 10  # whole numbers of no more different values than this are categories
_KINDS = ("category", "number", "ignore")
_CATEGORICAL, _IGNORE = (list(FAMILIES).index(name) for name in ("categorical", "ignore"))


@dataclass(frozen=True)
class Inspected:
    """What the columns of a table are to a network."""

    schema: Schema
    numbers: tuple[Any, ...]  # the names of the columns to cut into intervals


def inspect(
    source: Source, declared: Mapping[Any, Any] | None = None, weights: Floats | None = None, few: Few | None = None
) -> Inspected:
    """Which columns are categories, and which are numbers to be cut; text is refused, with advice.

    Of rows that lie elsewhere, `few` says of a column by its place how many values it has, as `few_whole` does.
    """
    if few is None:
        few = partial(_few_of, source, weights)
    given = dict(declared or {})
    names = source.names.tolist()
    for name, kind in given.items():
        if name not in names:
            raise InputError(f"columns: the table has no column {name!r}{did_you_mean(name, names)}")
        if isinstance(kind, str) and kind not in _KINDS:
            raise InputError(
                f"column {column_name(name)!r} was declared as {kind!r}; a node of a network is one of "
                f"{', '.join(_KINDS)}, or a list of its states"
            )
        if not isinstance(kind, str | list | tuple | set | frozenset | np.ndarray):
            raise KindError(f"column {column_name(name)!r} was declared as {type(kind).__name__} {kind!r}")
    families = np.full(len(names), _CATEGORICAL, np.int8)
    why, categories, numbers = {}, {}, []
    for place, name in enumerate(names):
        kind = given.get(name)
        if kind is None:
            kind, why[name] = _kind(source, place, few)
        elif not isinstance(kind, str):
            categories[name] = labels_of(kind)
            kind, why[name] = "category", "declared"
        else:
            why[name] = "declared"
        if kind == "number":
            numbers.append(name)
        elif kind == "ignore":
            families[place] = _IGNORE
    if (families == _IGNORE).all():
        raise InputError("every column is set aside, so there is no node to make of any; keep one at least")
    return Inspected(Schema(source.names, families, why, categories), tuple(numbers))


def few_whole(values: Floats) -> int | None:
    """How many different values there are, if they are whole numbers and few; else None.

    >>> few_whole(np.array([3.0, 1.0, 3.0])), few_whole(np.array([0.5, 1.0]))
    (2, None)
    """
    different = np.unique(values)
    # Beyond 2^53 doubles do not tell whole numbers apart.
    whole = np.array_equal(different, np.rint(different)) and (np.abs(different) <= 1 << 53).all()
    return len(different) if len(different) <= FEW and whole else None


def _few_of(source: Source, weights: Floats | None, place: int) -> int | None:
    values = source.numbers(np.array([place]), source.names[[place]]).column(0)
    there = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
    first = np.flatnonzero(there[:_GLANCE])
    if few_whole(values[first]) is None:  # which spares most columns the sorting of all their values
        return None
    return few_whole(values[there])


def _kind(source: Source, place: int, few: Few) -> tuple[str, str]:
    uniform = source.uniform()
    kind, why = source.guess(place) if uniform is None else uniform
    name = source.names.tolist()[place]
    if kind == "text":
        raise InputError(
            f"column {column_name(name)!r} is text ({why}), and a node of a network has states; leave it out with "
            f"columns={{{name!r}: 'ignore'}}, take columns={{{name!r}: 'category'}} if its values are states, or learn "
            "it with NaiveBayes, which reads text beside other columns"
        )
    if kind == "count":
        kind = "number"
    if kind == "number":
        n = few(place)
        if n is not None:
            return "category", f"{n} whole numbers"
    return kind, why


def cut(
    source: Source,
    inspected: Inspected,
    labels: NDArray[Any] | None = None,
    n_classes: int = 0,
    weights: Floats | None = None,
    parts: int = PARTS,
    known: Mapping[Any, Cuts] | None = None,
) -> dict[Any, Cuts]:
    """The cut points of each column of numbers: known ones, or by the classes, or without those by equal shares."""
    names = source.names.tolist()
    found = {}
    for name in inspected.numbers:
        if known and name in known:
            found[name] = known[name]
            continue
        values = finite(source, names.index(name), name)
        if weights is not None and not weights.all():
            values = np.where(weights > 0, values, np.nan)
        if np.isnan(values).all():
            raise without_value(name)
        if labels is None:
            found[name] = equal_shares(values, parts, weights)
        else:  # by the rows that have a class
            found[name] = supervised(np.where(labels < 0, np.nan, values), labels, n_classes, weights)
    return found


def without_value(name: object) -> InputError:
    """What to say of a column that is missing in every row."""
    return InputError(
        f"column {column_name(name)!r} has no value in any row; drop it, or set it aside with "
        f"columns={{{name!r}: 'ignore'}}"
    )


def warn_of_names(block: Codes, weights: Floats | None = None) -> None:
    """Warn of a column that has another value in nearly every row, as the rows' names."""
    assert block.labels is not None
    n_rows = block.n_rows if weights is None else int((weights > 0).sum())
    for j, (name, labels) in enumerate(zip(block.names.tolist(), block.labels)):
        if len(labels) > max(MANY, 0.9 * n_rows):  # unless most of them are in no row
            codes = column_codes(block, j)
            there = codes >= 0 if weights is None else (codes >= 0) & (weights > 0)
            warn_of_name(name, len(np.unique(codes[there])), n_rows)


def warn_of_name(name: object, n_values: int, n_rows: int) -> None:
    """Warn of a column if it has so many values in so few rows."""
    if n_values > max(MANY, 0.9 * n_rows):
        warnings.warn(
            f"column {column_name(name)!r} has {n_values:,} values in {n_rows:,} rows: what names the rows tells "
            f"nothing of others; leave it out with columns={{{name!r}: 'ignore'}}",
            stacklevel=7,
        )


def described(schema: Schema, cuts: Mapping[Any, Cuts]) -> Schema:
    """The schema, which says of the numbers where they were cut."""
    why = dict(schema.why)
    for name, each in cuts.items():
        shown = ", ".join(f"{point:.6g}" for point in each.points)
        why[name] = f"numbers cut at {shown}" if shown else "numbers that tell nothing of the class: one interval"
    return Schema(schema.names, schema.families, why, schema.categories)


def encoded(source: Source, schema: Schema, cuts: Mapping[Any, Cuts], places: NDArray[np.intp]) -> Codes:
    """The columns that are not set aside, as codes; those of numbers by their intervals, which are called 0, 1, …"""
    used = np.flatnonzero(schema.families != _IGNORE)
    names = schema.names[used]
    columns: list[NDArray[Any]] = []
    labels: list[Labels] = []
    for name, place in zip(names.tolist(), places[used].tolist()):
        if name in cuts:
            columns.append(intervals(source, place, name, cuts[name]))
            labels.append(np.arange(len(cuts[name].points) + 1))
        else:
            codes, found = codes_of(source, place, name)
            columns.append(codes)
            labels.append(found)
    return Codes(names, source.n_rows, columns, labels)


def codes_of(source: Source, place: int, name: object) -> tuple[NDArray[Any], Labels]:
    """A column as categories: codes, and what they stand for."""
    block = source.codes(np.array([place]), _single(name))
    assert block.labels is not None
    column = block.columns[:, 0] if isinstance(block.columns, np.ndarray) else block.columns[0]
    return column, block.labels[0]


def intervals(source: Source, place: int, name: object, cuts: Cuts) -> NDArray[np.int32]:
    """The interval of each value; a column may also hold the names of intervals, as rows that were drawn do."""
    uniform = source.uniform()
    if (source.guess(place) if uniform is None else uniform)[0] not in ("number", "count"):
        codes, labels = codes_of(source, place, name)
        known = {interval: at for at, interval in enumerate(cuts.names)}
        if len(labels) and all(label in known for label in labels.tolist()):
            places = np.array([*(known[label] for label in labels.tolist()), -1], np.int32)
            return np.asarray(places[codes])
    return cuts.codes(finite(source, place, name))


def finite(source: Source, place: int, name: object) -> Floats:
    """A column as numbers; raises for an infinite one."""
    values = source.numbers(np.array([place]), _single(name)).column(0)
    if np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise InputError(
            f"column {column_name(name)!r}, row {row}: {values[row]} has no interval; make it missing, or a large "
            "number"
        )
    return values


def _single(name: object) -> Labels:
    result = np.empty(1, object)
    result[0] = name
    return result


def compact(codes: NDArray[Any], labels: Labels) -> tuple[NDArray[Any], Labels]:
    """Codes of sorted labels that occur."""
    seen = np.bincount(codes[codes >= 0], minlength=len(labels)) > 0
    again, sorted_labels = encode(labels[seen])
    places = np.full(len(labels) + 1, -1, np.int32)
    places[:-1][seen] = again
    return places[codes], sorted_labels


def states_of(labels: Labels) -> Sequence[Any]:
    """Labels as plain values; whole numbers that came as doubles are whole again."""
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in labels.tolist()]
