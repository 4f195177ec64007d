"""The columns of a table as the nodes of a network: categories as they are, numbers in intervals, no text.

What the columns are, where numbers are cut and which states there are is made of sums over the rows: `survey` (which
classes and values there are, and about how many different numbers) and `count_values` (how often each class has each
number; again, where numbers lie close together). Each is exact: it is the same however rows are cut into parts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, NetworkError, Remark, did_you_mean
from ingenuo.families import discretise
from ingenuo.families.discretise import PARTS, ByValue, Cuts, equal_shares, mdl_cuts
from ingenuo.networks.evidence import match_states
from ingenuo.rows.checks import weights as row_weights
from ingenuo.rows.part import Codes
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source, open_source
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, encode, find, labels_of, objects
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Column = tuple[NDArray[Any], Labels]  # codes, and what they stand for
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
                remark = Remark(
                    f"column {column_name(name)!r} has {len(states):,} values in {self.n_rows:,} rows: what names the "
                    f"rows tells nothing of others; leave it out with columns={{{name!r}: 'ignore'}}"
                )
                warnings.warn(remark.declaring(name, "ignore"), stacklevel=6)


def plan_columns(
    source: Source,
    declared: Mapping[Any, Any] | None,
    reduce: Reduce,
    known: Mapping[Any, Cuts] | None = None,
    cut: Callable[[ByValue], Cuts] = mdl_cuts,
    *,
    at_once: Labelled | None,
    few: int = FEW,
) -> Columns:
    """What the columns are, by their types and by sums over all rows.

    Numbers are cut where the cuts are known, or by a function of their values; whole ones of a `few` values at most are
    categories. Rows that are all here are counted at once, whose numbers need no survey.
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
            states[name] = seen.labels(f"states:{name}", 0)
            if name in numbers and len(states[name]):
                cuts[name] = known[name]
        elif (n_values := _count_few(column, few)) and name not in (declared or {}):
            states[name], why[name] = labels_of(column.lows), f"{n_values} whole numbers"
        elif not len(column.at) and few:
            raise _without_value(name)
        else:
            cuts[name] = cut(column)
        if name in cuts:
            states[name] = np.arange(len(cuts[name].points) + 1)
            shown = ", ".join(f"{point:.6g}" for point in cuts[name].points)
            why[name] = f"numbers cut at {shown}" if shown else "numbers that tell nothing of the class: one interval"
    n_rows = int(seen.over(_ROWS, np.array([0])).floats()[0])
    return Columns(replace(schema, why=why), cuts, classes, states, n_rows)


def plan_in_memory(
    source: Source,
    declared: Mapping[Any, Any] | None,
    classes: Column | None,
    weights: Floats | None,
    parts: int = PARTS,
) -> Columns:
    """What the columns of a table are, its numbers cut by the classes, or else into parts of as many rows each."""
    labels, own = classes or (np.zeros(source.n_rows, np.int32), np.zeros(1, np.int64))
    rows = Labelled(source, labels, own, weights)
    reduce = lambda sums, **options: sums(rows, options)  # noqa: E731
    cut = mdl_cuts if classes is not None else partial(equal_shares, parts=parts)
    return plan_columns(source, declared, reduce, cut=cut, at_once=rows)


def inspect(source: Source, declared: Mapping[Any, Any] | None) -> tuple[Schema, list[Any]]:
    """What the columns are by their types or declared as, and which are numbers; text is refused, with advice."""
    given, names = dict(declared or {}), source.names.tolist()
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
            kind, why[name] = source.uniform() or source.guess(place)
        elif not isinstance(kind, str):
            kind, categories[name] = "category", labels_of(kind)
        if kind == "text":
            error = InputError(
                f"column {column_name(name)!r} is text ({why[name]}), and a node of a network has states; leave it out "
                f"with columns={{{name!r}: 'ignore'}}, take columns={{{name!r}: 'category'}} if its values are states, "
                "or learn it with NaiveBayes, which reads text beside other columns"
            )
            raise error.declaring(name, "ignore", "category").typed_as("NaiveBayes", "--model naive-bayes")
        if kind in ("number", "count"):
            numbers.append(name)
        elif kind == "ignore":
            families[place] = _IGNORE
    if (families == _IGNORE).all():
        raise InputError("every column is set aside, so there is no node to make of any; keep one at least")
    return Schema(source.names, families, why, categories), numbers


def _count_few(column: ByValue, few: int) -> int:
    """How many different values there are, if they are whole numbers and few; else 0."""
    values = column.lows
    if len(values) > few or column.bits != discretise.EXACT:
        return 0
    # Beyond 2^53 doubles do not tell whole numbers apart.
    return len(values) if (values == np.rint(values)).all() and (np.abs(values) <= 1 << 53).all() else 0


def _without_value(name: object) -> InputError:
    return InputError(
        f"column {column_name(name)!r} has no value in any row; drop it, or set it aside with "
        f"columns={{{name!r}: 'ignore'}}"
    ).declaring(name, "ignore")


# The sums.


class Labelled(NamedTuple):
    """Some rows and their classes, of which one may be missing (-1)."""

    source: Source
    labels: NDArray[Any]
    classes: Labels
    weights: Floats | None = None

    def count_labels(self, axis: str, codes: NDArray[Any], labels: Labels) -> Table:
        """How many rows that have a weight have each label."""
        known = codes >= 0 if self.weights is None else (codes >= 0) & (self.weights > 0)
        return Table.of({axis: labels}, Exact.counts(np.bincount(codes[known], minlength=len(labels))))

    def numbers(self, name: object) -> Floats:
        """A column of numbers, missing where the row has no weight or no class."""
        values = _read_numbers(self.source, self.source.names.tolist().index(name))
        absent = self.labels < 0 if self.weights is None else (self.labels < 0) | (self.weights == 0)
        return np.where(absent, np.nan, values) if absent.any() else values

    def values_by_class(self, names: Sequence[Any]) -> dict[Any, ByValue]:
        """How often each class has each number."""
        return {name: ByValue.of(self.numbers(name), self.labels, len(self.classes), self.weights) for name in names}


def survey(rows: Labelled, options: Mapping[str, Any]) -> Tally:
    """How many rows and classes there are, the values of categories, and how many numbers there may be."""
    n_rows = rows.source.n_rows if rows.weights is None else np.count_nonzero(rows.weights)
    found = {
        _CLASS: rows.count_labels("class", rows.labels, rows.classes),
        _ROWS: Table.of({"all": [0]}, Exact.counts(np.array([n_rows]))),
    }
    names, cuts = rows.source.names.tolist(), {name: Cuts(tuple(each)) for name, each in options["cuts"].items()}
    for name in (*options["categories"], *cuts):
        found[f"states:{name}"] = rows.count_labels(
            "state", *read_column(rows.source, names.index(name), cuts.get(name))
        )
    for name in options["numbers"]:
        found |= discretise.survey(name, rows.numbers(name))
    return Tally(found)


def count_values(rows: Labelled, options: Mapping[str, Any]) -> Tally:
    """How often each class has each number, by as many bits as the options say."""
    classes = np.asarray(options["classes"])
    labels = np.append(find(classes, rows.classes), -1)[rows.labels]
    found: dict[str, Table] = {}
    for name, bits in options["bits"].items():
        found |= discretise.tally_values(name, rows.numbers(name), labels, len(classes), rows.weights, bits)
    return Tally(found)


COLUMN_SUMS = {"survey": survey, "count_values": count_values}


def _values_by_class(reduce: Reduce, seen: Tally, numbers: list[Any], classes: Labels) -> dict[Any, ByValue]:
    """How often each class has each number, in as many rounds as it takes to tell them apart."""
    found: dict[Any, ByValue] = {}
    bits = {name: discretise.bits_by(seen, name) for name in numbers}
    while bits:
        tally, more = reduce(count_values, classes=classes, bits=bits), {}
        for name, these in bits.items():
            found[name] = discretise.from_tally(tally, name, len(classes), these)
            wanted = discretise.finer(these, len(found[name].at))
            if wanted != these:
                more[name] = wanted
        bits = more
    return found


# The rows as codes of the nodes' states.


def read_column(source: Source, place: int, cuts: Cuts | None) -> Column:
    """One column as codes, which the source keeps; those of numbers by their intervals, which are called 0, 1, …"""
    kept: dict[Any, Column] = vars(source).setdefault("column_codes", {})
    if (place, cuts) not in kept:
        kept[place, cuts] = _read_categories(source, place) if cuts is None else _read_intervals(source, place, cuts)
    return kept[place, cuts]


def _read_categories(source: Source, place: int) -> Column:
    block = source.codes(np.array([place]), source.names[[place]])
    assert block.labels is not None
    return block.columns[:, 0] if isinstance(block.columns, np.ndarray) else block.columns[0], block.labels[0]


def _read_intervals(source: Source, place: int, cuts: Cuts) -> Column:
    """The interval of each value; a column may also hold the names of intervals, as rows that were drawn do."""
    own = np.arange(len(cuts.names))
    if (source.uniform() or source.guess(place))[0] not in ("number", "count"):
        codes, labels = _read_categories(source, place)
        known = {interval: at for at, interval in enumerate(cuts.names)}
        if len(labels) and all(label in known for label in labels.tolist()):
            return np.array([*(known[label] for label in labels.tolist()), -1], np.int32)[codes], own
    return cuts.codes(_read_numbers(source, place)), own


def _read_numbers(source: Source, place: int) -> Floats:
    """A column as numbers; raises for an infinite one."""
    values = source.numbers(np.array([place]), source.names[[place]]).column(0)
    if np.isinf(values).any():
        row, name = int(np.isinf(values).argmax()), column_name(source.names.tolist()[place])
        raise InputError(
            f"column {name!r}, row {row}: {values[row]} has no interval; make it missing, or a large number"
        )
    return values


def encode_columns(source: Source, schema: Schema, cuts: Mapping[Any, Cuts], places: NDArray[np.intp]) -> Codes:
    """The columns that are not set aside, as codes."""
    used = schema.families != _IGNORE
    names, at = schema.names[used], places[used].tolist()
    columns = [read_column(source, place, cuts.get(name)) for name, place in zip(names.tolist(), at)]
    return Codes(names, source.n_rows, [codes for codes, _ in columns], [labels for _, labels in columns])


def compact(codes: NDArray[Any], labels: Labels) -> Column:
    """Codes of sorted labels that occur."""
    seen = np.bincount(codes[codes >= 0], minlength=len(labels)) > 0
    again, sorted_labels = encode(labels[seen])
    places = np.full(len(labels) + 1, -1, np.int32)
    places[:-1][seen] = again
    return places[codes], sorted_labels


def source_of(table: Any) -> Source:
    """The rows of a table; there must be some."""
    source = open_source(np.array(table, object) if isinstance(table, list | tuple) else table)
    if source.n_rows == 0 or len(source.names) == 0:
        raise InputError(f"the table is empty: {source.n_rows} rows and {len(source.names)} columns")
    return source


def _place_columns(source: Source, nodes: Sequence[str]) -> dict[str, int]:
    """Of the nodes that have a column, its place in the table."""
    known = {column_name(name): place for place, name in enumerate(source.names.tolist())}
    return {node: known[node] for node in nodes if node in known}


def encode_rows(
    nodes: Sequence[str],
    table: Any,
    sample_weight: Any,
    cuts: Mapping[str, Cuts],
    declared: Mapping[str, Sequence[Any]],
    categories: frozenset[str],
    *,
    hidden: bool = False,
    columns: Mapping[str, str] | None = None,
) -> tuple[Codes, Floats | None, dict[str, Cuts]]:
    """The rows for learning: codes of each node, weights, and the cut points of numbers.

    A node without a column is hidden where that is allowed, and an error else. Values that are none of a node's
    declared states are an error; nodes among the categories have states, whatever their columns look like.
    """
    source = source_of(table)
    weights, cuts = row_weights(sample_weight, source.n_rows), dict(cuts)
    at = _place_columns(source, nodes)
    absent = [node for node in nodes if node not in at]
    if absent and not hidden:
        near = did_you_mean(absent[0], [column_name(name) for name in source.names.tolist()])
        raise NetworkError(
            f"the table has no column for node {absent[0]!r}{near} (a node that is never seen can be learned with "
            "missing='em', if its states are declared)"
        )
    names = source.names.tolist()
    new = {names[place]: node for node, place in at.items() if node not in {*cuts, *declared, *categories}}
    if new:
        kinds = {name: "ignore" for name in names if name not in new}
        kinds |= {name: columns[node] for name, node in new.items() if columns and node in columns}
        cuts |= {new[name]: each for name, each in plan_in_memory(source, kinds, None, weights).cuts.items()}
    found, labels = [], []
    for node in nodes:
        codes, own = np.full(source.n_rows, -1, np.int32), labels_of([])
        if node in at:
            codes, own = read_column(source, at[node], cuts.get(node))
        if node in declared and node not in cuts:
            codes, own = _match_declared(node, declared[node], codes, own)
        found.append(codes)
        labels.append(own)
    return Codes(objects(list(nodes)), source.n_rows, found, labels), weights, cuts


def _match_declared(node: str, states: Sequence[Any], codes: NDArray[Any], labels: Labels) -> Column:
    """Codes of the declared states; a value that is none of them is an error."""
    found = np.array([*match_states(states, labels.tolist()), -1], np.int32)[codes]
    strange = (found < 0) & (codes >= 0)
    if strange.any():
        row = int(strange.argmax())
        value = labels.tolist()[int(codes[row])]
        raise NetworkError(
            f"column {node!r}, row {row}: {value!r} is none of the declared states{did_you_mean(value, states)}; "
            "declare it, or make it missing"
        )
    return found, objects(list(states))


def encode_known(
    nodes: Sequence[str], states: Sequence[Sequence[Any]], table: Any, cuts: Mapping[str, Cuts], without: int = -1
) -> NDArray[np.int32]:
    """Rows × nodes codes of the states, for questions: -1 where a value is missing, or no state that is known.

    The column of one node may be left out: it is what is asked for.
    """
    return encode_states(nodes, states, source_of(table), cuts, without)


def encode_states(
    nodes: Sequence[str], states: Sequence[Sequence[Any]], source: Source, cuts: Mapping[str, Cuts], without: int
) -> NDArray[np.int32]:
    """The same of rows that are read already."""
    result = np.full((source.n_rows, len(nodes)), -1, np.int32)
    at = _place_columns(source, [node for i, node in enumerate(nodes) if i != without])
    if not at and len(nodes) > 1:
        raise no_column([column_name(name) for name in source.names.tolist()], nodes)
    for i, node in enumerate(nodes):
        if node not in at:
            continue
        codes, labels = read_column(source, at[node], cuts.get(node))
        if node not in cuts:
            places = match_states(states[i], labels.tolist())
            if places and max(places) < 0 and _are_numbers(labels.tolist()) and not _are_numbers(states[i]):
                raise NetworkError(
                    f"column {node!r} holds numbers, as {labels.tolist()[0]!r}, and the node has the states "
                    f"{', '.join(map(str, states[i][:3]))}; give states, or read the network from a file that has the "
                    "cut points (.yaml, .json, .ingenuo; .bif and .xml have none)"
                )
            codes = np.array([*places, -1], np.int32)[codes]
        result[:, i] = codes
    return result


def no_column(columns: Sequence[str], nodes: Sequence[str]) -> NetworkError:
    """The error where no column is a node."""
    shown = (", ".join(each[:6]) + (", …" if len(each) > 6 else "") for each in (columns, nodes))
    return NetworkError(
        f"the table has no column that is a node of the network; its columns are {next(shown)}, and the nodes "
        f"{next(shown)}"
    )


def _are_numbers(values: Sequence[Any]) -> bool:
    """Whether all of these are numbers, or some of them are written as numbers."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return True
    return any(str(value).replace(".", "", 1).lstrip("+-").isdecimal() for value in values)
