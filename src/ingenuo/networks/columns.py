"""The columns of a table as the nodes of a network: categories as they are, numbers in intervals, no text.

What the columns are, where numbers are cut and which states there are is made of sums over the rows:

    survey         which classes and values there are, and about how many different numbers
    count_values   how often each class has each number; again, where numbers lie close together

Each is exact, so that it is the same wherever the rows lie, however they are cut into parts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.families import discretise
from ingenuo.families.discretise import ByValue, Cuts, equal_shares, mdl_cuts
from ingenuo.rows.part import Codes
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, encode, find, labels_of, objects
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Reduce = Callable[..., Tally]  # of one of the sums below and its options, for all rows

MANY = 30  # a column of no more different values is never taken for the names of rows
FEW = 10  # whole numbers of no more different values than this are categories
_CLASS, _ROWS = "class", "rows"
_KINDS = ("category", "number", "ignore")
_CATEGORICAL, _IGNORE = (list(FAMILIES).index(name) for name in ("categorical", "ignore"))


def used_columns(schema: Schema) -> list[Any]:
    """The names of the columns that are not set aside."""
    return schema.names[schema.families != _IGNORE].tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are to a network."""

    schema: Schema
    cuts: dict[Any, Cuts]  # of the columns of numbers
    classes: Labels
    states: dict[Any, Labels]  # of each column that is used; of numbers, the places of their intervals
    n_rows: int

    def refuse_empty(self) -> None:
        """Raise for a column without a value."""
        for name, states in self.states.items():
            if not len(states):
                raise _without_value(name)

    def warn_of_names(self) -> None:
        """Warn of a column that has another value in nearly every row, as the rows' names."""
        for name, states in self.states.items():
            if name not in self.cuts and len(states) > max(MANY, 0.9 * self.n_rows):
                warnings.warn(
                    f"column {column_name(name)!r} has {len(states):,} values in {self.n_rows:,} rows: what names the "
                    f"rows tells nothing of others; leave it out with columns={{{name!r}: 'ignore'}}",
                    stacklevel=6,
                )


def plan_columns(
    source: Source,
    declared: Mapping[Any, Any] | None,
    reduce: Reduce,
    known: Mapping[Any, Cuts] | None = None,
    parts: int | None = None,
    *,
    at_once: Labelled | None,
) -> Columns:
    """What the columns are, by their types and by sums over all rows.

    Numbers are cut where the cuts are known, into `parts` of as many rows each, or by the classes. Rows that are all
    here are counted at once, whose numbers need no survey.
    """
    schema, numbers = inspect(source, declared)
    used, known = used_columns(schema), known or {}
    counted = [name for name in numbers if name not in known]
    seen = reduce(
        survey,
        categories=[name for name in used if name not in numbers],
        cuts={name: list(known[name].points) for name in numbers if name in known},
        numbers=[] if at_once else counted,
    )
    classes, why = seen.labels(_CLASS, 0), dict(schema.why)
    if not len(classes):
        raise InputError("there are no rows to learn from: none has a class and a weight")
    values = _values_by_class(reduce, seen, counted, classes) if at_once is None else at_once.values_by_class(counted)
    cuts, states = {}, {}
    for name in used:
        column = values.get(name)
        if column is None:
            states[name] = seen.labels(_states(name), 0)
            if name in numbers and len(states[name]):
                cuts[name] = known[name]
        elif (few := few_whole(column)) is not None and name not in (declared or {}):
            states[name], why[name] = labels_of(column.lows), f"{few} whole numbers"
            continue
        elif not len(column.at):
            raise _without_value(name)
        else:
            cuts[name] = mdl_cuts(column) if parts is None else equal_shares(column, parts)
        if name in cuts:
            states[name] = np.arange(len(cuts[name].points) + 1)
            shown = ", ".join(f"{point:.6g}" for point in cuts[name].points)
            why[name] = f"numbers cut at {shown}" if shown else "numbers that tell nothing of the class: one interval"
    n_rows = int(seen.over(_ROWS, np.array([0])).floats()[0])
    return Columns(replace(schema, why=why), cuts, classes, states, n_rows)


def inspect(source: Source, declared: Mapping[Any, Any] | None) -> tuple[Schema, list[Any]]:
    """What the columns are by their types or declared as, and which are numbers; text is refused, with advice."""
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
        kind, why[name] = given.get(name), "declared"
        if kind is None:
            kind, why[name] = _infer_kind(source, place)
        elif not isinstance(kind, str):
            kind, categories[name] = "category", labels_of(kind)
        if kind == "number":
            numbers.append(name)
        elif kind == "ignore":
            families[place] = _IGNORE
    if (families == _IGNORE).all():
        raise InputError("every column is set aside, so there is no node to make of any; keep one at least")
    return Schema(source.names, families, why, categories), numbers


def _infer_kind(source: Source, place: int) -> tuple[str, str]:
    kind, why = source.uniform() or source.guess(place)
    name = source.names.tolist()[place]
    if kind == "text":
        raise InputError(
            f"column {column_name(name)!r} is text ({why}), and a node of a network has states; leave it out with "
            f"columns={{{name!r}: 'ignore'}}, take columns={{{name!r}: 'category'}} if its values are states, or learn "
            "it with NaiveBayes, which reads text beside other columns"
        )
    return ("number" if kind == "count" else kind), why


def few_whole(column: ByValue) -> int | None:
    """How many different values there are, if they are whole numbers and few; else None."""
    values = column.lows
    if not 0 < len(values) <= FEW or column.bits != discretise.EXACT:
        return None
    # Beyond 2^53 doubles do not tell whole numbers apart.
    whole = np.array_equal(values, np.rint(values)) and (np.abs(values) <= 1 << 53).all()
    return len(values) if whole else None


def _without_value(name: object) -> InputError:
    return InputError(
        f"column {column_name(name)!r} has no value in any row; drop it, or set it aside with "
        f"columns={{{name!r}: 'ignore'}}"
    )


# The sums.


class Labelled(NamedTuple):
    """Some rows and their classes, of which one may be missing (-1)."""

    source: Source
    labels: NDArray[Any]
    classes: Labels
    weights: Floats | None = None

    def known(self, codes: NDArray[Any]) -> NDArray[Any]:
        """The codes that are not missing, of rows that have a weight."""
        return codes[codes >= 0] if self.weights is None else codes[(codes >= 0) & (self.weights > 0)]

    def numbers(self, name: object) -> Floats:
        """A column of numbers, missing where the row has no weight or no class."""
        values = finite(self.source, self.source.names.tolist().index(name), name)
        absent = self.labels < 0 if self.weights is None else (self.labels < 0) | (self.weights == 0)
        return np.where(absent, np.nan, values) if absent.any() else values

    def values_by_class(self, names: Sequence[Any]) -> dict[Any, ByValue]:
        """How often each class has each number."""
        K = len(self.classes)
        return {name: ByValue.of(self.numbers(name), self.labels, K, self.weights) for name in names}


def survey(rows: Labelled, options: Mapping[str, Any]) -> Tally:
    """How many rows and classes there are, the values of categories, and how many numbers there may be."""
    source, places = rows.source, {name: place for place, name in enumerate(rows.source.names.tolist())}
    n_rows = source.n_rows if rows.weights is None else np.count_nonzero(rows.weights)
    found = {
        _CLASS: _counts("class", rows.known(rows.labels), rows.classes),
        _ROWS: Table.of({"all": [0]}, Exact.counts(np.array([n_rows]))),
    }
    for name in options["categories"]:
        codes, labels = column_codes_of(source, places[name], name, None)
        found[_states(name)] = _counts("state", rows.known(codes), labels)
    for name, points in options["cuts"].items():
        codes, labels = column_codes_of(source, places[name], name, Cuts(tuple(points)))
        found[_states(name)] = _counts("state", rows.known(codes), labels)
    for name in options["numbers"]:
        found |= discretise.glance(name, rows.numbers(name))
    return Tally(found)


def _states(name: object) -> str:
    return f"states:{name}"


def _counts(axis: str, codes: NDArray[Any], labels: Labels) -> Table:
    return Table.of({axis: labels}, Exact.counts(np.bincount(codes, minlength=len(labels))))


def count_values(rows: Labelled, options: Mapping[str, Any]) -> Tally:
    """How often each class has each number, by as many bits as the options say."""
    classes = np.asarray(options["classes"])
    labels = np.append(find(classes, rows.classes), -1)[rows.labels]
    found: dict[str, Table] = {}
    for name, bits in options["bits"].items():
        found |= discretise.tallied(name, rows.numbers(name), labels, len(classes), rows.weights, bits)
    return Tally(found)


COLUMN_SUMS = {"survey": survey, "count_values": count_values}


def _values_by_class(reduce: Reduce, seen: Tally, numbers: list[Any], classes: Labels) -> dict[Any, ByValue]:
    """How often each class has each number, in as many rounds as it takes to tell them apart."""
    found: dict[Any, ByValue] = {}
    bits = {name: discretise.bits_by(seen, name) for name in numbers}
    while bits:
        tally = reduce(count_values, classes=classes, bits=bits)
        more = {}
        for name, these in bits.items():
            found[name] = discretise.from_tally(tally, name, len(classes), these)
            wanted = these if these == discretise.EXACT else discretise.finer(these, len(found[name].at))
            if wanted != these:
                more[name] = wanted
        bits = more
    return found


# Codes.


def encode_columns(source: Source, schema: Schema, cuts: Mapping[Any, Cuts], places: NDArray[np.intp]) -> Codes:
    """The columns that are not set aside, as codes; those of numbers by their intervals, which are called 0, 1, …"""
    names = schema.names[schema.families != _IGNORE]
    columns, labels = [], []
    for name, place in zip(names.tolist(), places[schema.families != _IGNORE].tolist()):
        codes, own = column_codes_of(source, place, name, cuts.get(name))
        columns.append(codes)
        labels.append(own)
    return Codes(names, source.n_rows, columns, labels)


def column_codes_of(source: Source, place: int, name: object, cuts: Cuts | None) -> tuple[NDArray[Any], Labels]:
    """One column as codes, and what they stand for; the source keeps them, for a plan asks for them several times."""
    kept: dict[Any, tuple[NDArray[Any], Labels]] = vars(source).setdefault("column_codes", {})
    if (place, cuts) not in kept:
        if cuts is None:
            kept[place, cuts] = codes_of(source, place, name)
        else:
            kept[place, cuts] = intervals(source, place, name, cuts), np.arange(len(cuts.points) + 1)
    return kept[place, cuts]


def codes_of(source: Source, place: int, name: object) -> tuple[NDArray[Any], Labels]:
    """A column as categories: codes, and what they stand for."""
    block = source.codes(np.array([place]), objects([name]))
    assert block.labels is not None
    column = block.columns[:, 0] if isinstance(block.columns, np.ndarray) else block.columns[0]
    return column, block.labels[0]


def intervals(source: Source, place: int, name: object, cuts: Cuts) -> NDArray[np.int32]:
    """The interval of each value; a column may also hold the names of intervals, as rows that were drawn do."""
    if (source.uniform() or source.guess(place))[0] not in ("number", "count"):
        codes, labels = codes_of(source, place, name)
        known = {interval: at for at, interval in enumerate(cuts.names)}
        if len(labels) and all(label in known for label in labels.tolist()):
            places = np.array([*(known[label] for label in labels.tolist()), -1], np.int32)
            return np.asarray(places[codes])
    return cuts.codes(finite(source, place, name))


def finite(source: Source, place: int, name: object) -> Floats:
    """A column as numbers; raises for an infinite one."""
    values = source.numbers(np.array([place]), objects([name])).column(0)
    if np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise InputError(
            f"column {column_name(name)!r}, row {row}: {values[row]} has no interval; make it missing, or a large "
            "number"
        )
    return values


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
