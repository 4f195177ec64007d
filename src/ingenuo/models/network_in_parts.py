"""A network classifier from rows that lie in parts: its columns, its structure and its tables, each from sums.

    glance   which classes and values there are, and about how many different numbers
    values   how often each class has each number, for the cut points; again, where numbers lie close together
    pairs    how often two columns have their values together, for trees and k-dependence
    sums     the tables of the structure that was found, as of every model

Each round is exact, and what is made of the sums is a function of them alone. So the model is the one that all rows in
memory would give, to the last bit, however they are cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families import discretise as values
from ingenuo.families.categorical import column_codes
from ingenuo.families.discretise import ByValue, Cuts, mdl_cuts
from ingenuo.models.classifier import sums
from ingenuo.models.network_classifier import Structure
from ingenuo.networks import averaged
from ingenuo.networks.columns import codes_of, described, few_whole, inspect, intervals, warn_of_name, without_value
from ingenuo.networks.learn import refuse_large
from ingenuo.networks.structure.learn import search_pairs
from ingenuo.networks.structure.search import Search
from ingenuo.networks.structure.trees import Job, PairCounts, count_pairs
from ingenuo.rows import checks
from ingenuo.rows.checks import weights as checked
from ingenuo.rows.rows import Part, Rows
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source, open_source
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]

_CLASS, _ROWS = "class", "rows"


# The rounds.


class _Counted(NamedTuple):
    """Some rows that have a weight."""

    source: Source
    labels: NDArray[np.int32]
    classes: Labels
    weights: Floats | None


def _opened(part: Part) -> _Counted:
    """The rows with a weight, of which there are some."""
    rows, labels, weights = part.X, part.y, None
    if part.weights is not None:
        weights = np.asarray(checked(part.weights, rows.num_rows))
        if not weights.all():
            kept = pa.array(weights > 0)
            rows, labels, weights = rows.filter(kept), labels.filter(kept), weights[weights > 0]
    codes, classes = checks.labels(None, labels, rows.num_rows)
    return _Counted(open_source(rows), codes, classes, weights)


def _numbers(source: Source, name: str) -> Floats:
    place = source.names.tolist().index(name)
    return source.numbers(np.array([place]), source.names[[place]]).column(0)


def survey(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """How many rows and classes there are, the values of categories, and what can be told of numbers at a glance."""
    source, labels, classes, _ = _opened(part)
    found = {
        _CLASS: _counts("class", labels, classes),
        _ROWS: Table.of({"all": [0]}, Exact.counts(np.array([source.n_rows]))),
    }
    places = {name: place for place, name in enumerate(source.names.tolist())}
    for name in options["categories"]:
        found[_states(name)] = _counts("state", *codes_of(source, places[name], name))
    for name, points in options["cuts"].items():
        cuts = Cuts(tuple(points))
        found[_states(name)] = _counts("state", intervals(source, places[name], name, cuts), np.arange(len(points) + 1))
    for name in options["numbers"]:
        found |= values.glance(name, _numbers(source, name))
    return Tally(found)


def _states(name: str) -> str:
    return f"states:{name}"


def _counts(axis: str, codes: NDArray[Any], labels: Labels) -> Table:
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    return Table.of({axis: labels}, Exact.counts(counts))


def count_values(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """How often each class has each number, by as many bits as the options say."""
    some = _opened(part)
    classes = np.asarray(options["classes"])
    labels = find(classes, some.classes)[some.labels]
    found: dict[str, Table] = {}
    for name, bits in options["bits"].items():
        found |= values.tallied(name, _numbers(some.source, name), labels, len(classes), some.weights, bits)
    return Tally(found)


def pairs(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """How often two columns have their values together; the model knows its columns and cut points."""
    some = _opened(part)
    block = model._codes(some.source)
    known: list[Labels] = options["labels"]
    own = [some.classes, *block.labels]
    codes = [some.labels, *(column_codes(block, j) for j in range(len(block.labels)))]
    columns = [np.append(find(all_of_it, here), -1)[each] for all_of_it, here, each in zip(known, own, codes)]
    return count_pairs(columns, [len(each) for each in known], options["jobs"], some.weights)


# What is made of their sums.


def learn(model: Any, rows: Rows) -> tuple[Schema, Structure, Tally]:
    """The schema, the structure and the tables of all rows."""
    empty = rows.columns(model)
    declared, known = model._declared_columns(empty), model._given_cuts(empty)
    columns = _Columns(rows, empty, declared, known)
    nodes = model._nodes_of(columns.names, rows.target)
    bare = model._bare(columns.schema)
    bare.__dict__.pop("_declared_classes", None)
    bare._found = Structure(nodes, tuple(() for _ in nodes), columns.cuts, None)
    sizes = [len(each) for each in columns.labels]

    def count(jobs: list[Job]) -> Tally:
        return rows.reduce(pairs, bare, labels=columns.labels, jobs=jobs)

    def found_by_pairs() -> Search:
        return search_pairs(PairCounts(nodes, sizes, count), nodes, model._options(), 0)

    found: Structure = model._structure_by(nodes, columns.cuts, found_by_pairs)
    if model._averages:
        averaged.refuse_large(sizes[1:], sizes[0])
    for node, above in enumerate(found.parents):
        refuse_large(nodes, node, above, sizes)
    bare._found = found
    return columns.schema, found, rows.reduce(sums, bare)


class _Columns:
    """What the columns are, where numbers are cut, and the values of each; those of the class come first."""

    def __init__(self, rows: Rows, empty: Source, declared: Mapping[Any, Any], known: Mapping[Any, Cuts]) -> None:
        supposed = inspect(empty, declared, few=lambda place: None)
        used = supposed.schema.names[supposed.schema.families != list(FAMILIES).index("ignore")].tolist()
        numbers = [name for name in supposed.numbers if name not in known]
        seen = rows.reduce(
            survey,
            categories=[name for name in used if name not in supposed.numbers],
            cuts={name: list(known[name].points) for name in supposed.numbers if name in known},
            numbers=numbers,
        )
        classes = seen.labels(_CLASS, 0)
        if not len(classes):
            raise InputError(f"{rows.name}: there are no rows to learn from")
        for name in numbers:
            if values.has_infinite(seen, name):
                raise InputError(
                    f"column {column_name(name)!r} has an infinite number, which has no interval; make it missing, or "
                    "a large number"
                )
        counted = _by_value(rows, seen, numbers, classes)
        names = empty.names.tolist()

        def few(place: int) -> int | None:
            found = counted[names[place]]
            return few_whole(found.lows) if found.bits == values.EXACT else None

        inspected = inspect(empty, declared, few=few)
        self.cuts: dict[Any, Cuts] = {}
        for name in inspected.numbers:
            if name in counted and not len(counted[name].at):
                raise without_value(name)
            self.cuts[name] = known[name] if name in known else mdl_cuts(counted[name])
        self.schema = described(inspected.schema, self.cuts)
        self.names = used
        self.labels: list[Labels] = [classes]
        n_rows = int(seen.over(_ROWS, np.array([0])).floats()[0])
        for name in used:
            states = counted[name].lows if name in counted else seen.labels(_states(name), 0)
            if not len(states):
                raise without_value(name)
            if name in self.cuts:
                states = np.arange(len(self.cuts[name].points) + 1)
            warn_of_name(name, len(states), n_rows)
            self.labels.append(states)


def _by_value(rows: Rows, seen: Tally, numbers: list[str], classes: Labels) -> dict[str, ByValue]:
    """How often each class has each number, in as many rounds as it takes to tell them apart."""
    found: dict[str, ByValue] = {}
    bits = {name: values.bits_by(seen, name) for name in numbers}
    while bits:
        tally = rows.reduce(count_values, classes=classes, bits=bits)
        more = {}
        for name, these in bits.items():
            found[name] = values.from_tally(tally, name, len(classes), these)
            wanted = these if these == values.EXACT else values.finer(these, len(found[name].at))
            if wanted != these:
                more[name] = wanted
        bits = more
    return found
