"""What terms of a sheet add to the log joint of each class, as SQL: categories, counts, weights; and what all share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import portable
from ingenuo.sheet.sql.dialects import Dialect
from ingenuo.sheet.sql.query import Query
from ingenuo.tally.labels import spelled_value

if TYPE_CHECKING:
    from ingenuo.sheet.sql.tables import Store

Node = Mapping[str, Any]
Floats = NDArray[np.float64]
Texts = list[str]  # one expression for each class
Term = Callable[[Node, "Writer", "float | None"], "list[Texts]"]

LARGEST = 2.0**53  # of whole numbers
_FEW = 12  # values that stand in a CASE; of more there is a table
_MANY = 1000  # values that stand in an array, where a database has them
_ADDENDS = 30  # of one expression: some databases have no room for many
_LEVELS = 16  # ways of a CASE, beyond which it is nested


@dataclass
class Writer:
    """What the terms of a model are written into."""

    query: Query
    columns: Sequence[Mapping[str, Any]]  # of the sheet
    n_classes: int
    labels: Sequence[str]  # what the classes are called in a table
    makers: Mapping[str, Term]  # of terms, by their kind
    scorers: Mapping[str, Any]  # functions from a node and a writer to an `Answer`, by its kind
    store: Store | None = None  # the table that values and words are kept in, if there is one
    notes: list[str] = field(default_factory=list)  # what the answer does not do
    infinite: bool = False  # whether something was found that is impossible
    unbounded: bool = False  # whether sums may leave the doubles

    @property
    def dialect(self) -> Dialect:
        """How the database spells things."""
        return self.query.dialect

    def name(self, place: int) -> str:
        """What a column is called."""
        return str(self.columns[place]["name"])

    def number(self, place: int) -> str:
        """A column of numbers, without what is no number; a count that is missing is 0."""
        if self.columns[place]["kind"] == "count":
            return self.count(place)
        name = self.name(place)
        return self.query.let(self.dialect.cell(self.query.column(name)), name)

    def missing(self, place: int) -> str:
        """Whether a column has no value in a row: a condition."""
        name, d = self.name(place), self.dialect
        if self.columns[place]["kind"] in ("number", "count"):
            return f"{self.number(place)} IS NULL"
        column = self.query.column(name)
        ways = [(f"{column} IS NULL", "1")]
        if d.is_nan:
            number = d.maybe.format(x=column, double=d.own_double or d.double)
            ways.append((d.is_nan.format(x=number), "1"))
        return f"{self.query.let(case(ways, '0'), f'{name}_missing')} = 1"

    def code(self, place: int, values: Sequence[Any], codes: Sequence[int], missing: int, rest: int) -> str:
        """The code of a value of a category, that of what is missing, and that of all others."""
        known = by_label(place, values, [[str(each)] for each in codes], [str(rest)], self)[0]
        return self.query.let(case([(self.missing(place), str(missing))], known), f"{self.name(place)}_code")

    def interval(self, place: int, points: Sequence[float], codes: Sequence[int], missing: int) -> str:
        """The code of the interval that a number is in: up to the first point, above it up to the next, and so on."""
        x = self.number(place)
        found = piecewise(x, [self.lit(each) for each in points], [str(each) for each in codes], "<=")
        return self.query.let(case([(f"{x} IS NULL", str(missing))], found), f"{self.name(place)}_code")

    def count(self, place: int) -> str:
        """A column of counts; what is missing is none."""
        name = self.name(place)
        cell = self.dialect.cell(self.query.column(name))
        return self.query.let(f"COALESCE({cell}, {self.lit(0.0)})", name)

    def lit(self, x: float) -> str:
        """A double."""
        return self.dialect.literal(x)

    def log(self, x: float, floor: float | None) -> str:
        """A log probability, or the floor."""
        if floor is not None:
            x = max(x, floor)
        if x == -math.inf:
            self.infinite = True
        return self.dialect.literal(x)

    def logs(self, own: Iterable[float], floor: float | None) -> Texts:
        """Log probabilities of the classes."""
        return [self.log(float(x), floor) for x in own]

    def add_up(self, addends: Sequence[str], hint: str) -> str:
        """A sum from left to right."""
        zero = self.lit(0.0)
        total, rest = addends[0], [each for each in addends[1:] if each != zero]
        while len(rest) > _ADDENDS:
            some, rest = rest[:_ADDENDS], rest[_ADDENDS:]
            total = self.query.let("\n      + ".join([total, *some]), hint)
        return "\n      + ".join([total, *rest])

    def terms(self, nodes: Iterable[Node], floor: float | None) -> list[Texts]:
        """What each of some terms adds, one after another."""
        return [added for node in nodes for added in self.term(node)(node, self, floor)]

    def note(self, text: str) -> None:
        """Say once what the answer does not do."""
        if text not in self.notes:
            self.notes.append(text)

    def term(self, node: Node) -> Term:
        """How a kind of term is written."""
        if node["op"] not in self.makers:
            at = [node["column"]] if "column" in node else list(node.get("columns") or [])
            named = f" of column {self.name(at[0])!r}" if len(at) == 1 else ""
            raise InputError(
                f"the term {node['op']!r}{named} has no SQL; export to js or onnx, or fit a model without it"
            )
        return self.makers[node["op"]]

    def length(self, node: Node) -> str | None:
        """How many words, or things counted, a row has; None of terms that have no length."""
        return LENGTHS[node["op"]](node, self) if node["op"] in LENGTHS else None

    def lengths(self, nodes: Iterable[Node]) -> str | None:
        """The lengths of some terms together; None where none has one."""
        found = [each for each in map(self.length, nodes) if each is not None]
        return self.add_up(found, "length") if found else None


def array(value: Any) -> Floats:
    """Numbers of a node."""
    return np.asarray(value, np.float64)


# Ways through a CASE.


def case(branches: Sequence[tuple[str, str]], otherwise: str) -> str:
    """The first branch whose condition holds."""
    return f"CASE {' '.join(f'WHEN {when} THEN {then}' for when, then in branches)} ELSE {otherwise} END"


def piecewise(x: str, edges: Sequence[str], pieces: Sequence[str], below: str = "<") -> str:
    """The piece that a number falls into: the first below the first edge, the last from the last edge on."""
    if not edges:
        return pieces[0]
    if len(pieces) <= _LEVELS:
        return case([(f"{x} {below} {edge}", piece) for edge, piece in zip(edges, pieces)], pieces[-1])
    middle = len(pieces) // 2
    low = piecewise(x, edges[: middle - 1], pieces[:middle], below)
    high = piecewise(x, edges[middle:], pieces[middle:], below)
    return case([(f"{x} {below} {edges[middle - 1]}", low)], high)


def by_value(x: str, values: Texts, own: Sequence[Texts], others: Texts, w: Writer, hint: str) -> Texts:
    """Of each class what a value has; by a table, where there are many values."""
    if len(values) <= _FEW:
        each = [[(value, logs[k]) for value, logs in zip(values, own)] for k in range(len(others))]
        ways = [" ".join(f"WHEN {value} THEN {log}" for value, log in pairs) for pairs in each]
        return [f"CASE {x} {way} ELSE {other} END" if way else other for way, other in zip(ways, others)]
    if w.dialect.arrays and len(values) <= _MANY:
        at = f"CAST(NULLIF(ARRAY_POSITION(ARRAY({', '.join(values)}), {x}), 0) AS INT)"
        place = w.query.let(at, f"place_{hint}")
        logs = [f"ELEMENT_AT(ARRAY({', '.join(column)}), {place})" for column in zip(*own)]
        return [f"COALESCE({each}, {other})" for each, other in zip(logs, others)]
    names = [f"l{k}" for k in range(len(others))]
    table = w.query.constants(["v", *names], ([value, *logs] for value, logs in zip(values, own)), f"values_{hint}")
    found = w.query.join(table, [(x, "v")], names, hint)
    return [f"COALESCE({each}, {other})" for each, other in zip(found, others)]


# Categories.


def spellings(label: Any, d: Dialect) -> list[str]:
    """How a database may write a value as text, the likeliest first."""
    value = spelled_value(label) if isinstance(label, str) else label
    found = [label] if isinstance(label, str) else []
    if isinstance(value, bool):
        found += [d.spelled[value], *(("True", "true", "TRUE") if value else ("False", "false", "FALSE"))]
        found += [] if isinstance(label, str) else [str(int(value))]
    elif isinstance(value, int | float):
        whole = float(value).is_integer() and abs(value) <= LARGEST
        found += [str(value), *((str(int(value)), f"{int(value)}.0") if whole else ())]
    return list(dict.fromkeys(found))


def _refuse_odd(values: Iterable[Any], name: str) -> None:
    """Raise for values that are no text, number or boolean."""
    for value in values:
        if not isinstance(value, str | int | float):
            raise InputError(
                f"column {name!r} has a value of type {type(value).__name__} ({value!r}), which has no SQL; "
                "learn the column as text"
            )


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(not isinstance(each, str | bool) and abs(each) <= LARGEST for each in values) and len(values) > 0


def known_texts(values: Sequence[Any], d: Dialect) -> dict[str, int]:
    """Texts that a database may have for values, with the place of each value; a value's own text comes first."""
    known = {label: at for at, label in enumerate(values) if isinstance(label, str)}
    for at, label in enumerate(values):
        for text in spellings(label, d):
            known.setdefault(text, at)
    return known


def text_of(place: int, values: Sequence[Any], w: Writer) -> str:
    """A column as the text by which its values are known."""
    _refuse_odd(values, w.name(place))
    d, name, column = w.dialect, w.name(place), w.query.column(w.name(place))
    text = w.query.let(d.as_text(column), name)
    if _are_numbers(values):  # 3.00 of a decimal is 3
        number = w.query.let(d.try_cell(column), name)
        text = w.query.let(f"COALESCE({d.as_text(number)}, {text})", name)
    return d.same.format(x=text)


def by_label(place: int, values: Sequence[Any], own: Sequence[Texts], others: Texts, w: Writer) -> Texts:
    """Of each class what a value of a category has, by its value or as it is spelled."""
    d, name = w.dialect, w.name(place)
    _refuse_odd(values, name)
    if _are_numbers(values):
        x = w.query.let(d.try_cell(w.query.column(name)), name)
        return by_value(x, [w.lit(float(each)) for each in values], own, others, w, name)
    known = known_texts(values, d)
    texts = [d.string(each, f"a value of column {name!r}") for each in known]
    return by_value(text_of(place, values, w), texts, [own[at] for at in known.values()], others, w, name)


def _category(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    if not len(node["values"]):
        return []
    if w.store is not None:
        return w.store.category(node, w, floor)
    own = [w.logs(each, floor) for each in array(node["logs"])]
    zeros = [w.lit(0.0)] * w.n_classes
    return [[f"({each})" for each in by_label(node["column"], list(node["values"]), own, zeros, w)]]


def _words(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    if w.store is None:
        raise InputError(
            f"column {w.name(node['column'])!r} is a text, whose words a query reads from a table of words that you "
            "cut; ask for style='tables', and a key"
        ).typed_as("style='tables', and a key", "--as tables --key COLUMN")
    return w.store.words_of(node, w)


def _count_words(node: Node, w: Writer) -> str:
    assert w.store is not None, "where words are added, there is a table of them"
    return w.store.length(node, w)


# Counts.


def _counts(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """Each thing more adds the same; nothing adds nothing."""
    found = []
    w.unbounded = True
    for column, logs in zip(node["columns"], array(node["table"])):
        x = w.count(column)
        texts = w.logs(logs, floor)
        products = [f"({w.dialect.times(x, max(log, -math.inf if floor is None else floor))})" for log in logs.tolist()]
        if np.isinf(logs).any() and floor is None:  # 0 times -inf is no number
            products = [f"(CASE WHEN {x} = {w.lit(0.0)} THEN {w.lit(0.0)} ELSE {x} * {text} END)" for text in texts]
        found.append(products)
    return found


def _is_there(column: int, node: Node, w: Writer) -> str:
    """Whether a thing is there: a condition."""
    return f"{w.count(column)} {'>' if 'above' in node else '<>'} {w.lit(node.get('above', 0.0))}"


def _presence(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """Things that are there or not; where some are certain, that they are not there is impossible."""
    zero = w.lit(0.0)
    there = [_is_there(column, node, w) for column in node["columns"]]
    if node["odds"] is not None:
        found = [[w.lit(each) for each in array(node["start"]).tolist()]]
        odds = array(node["odds"])
        found += [[f"(CASE WHEN {x} THEN {w.lit(each)} ELSE {zero} END)" for each in own.tolist()]
                  for x, own in zip(there, odds)]  # fmt: skip
        return found
    least = -math.inf if floor is None else floor
    present, absent = (np.maximum(array(node[name]), least) for name in ("present", "absent"))
    certain = np.isneginf(absent)
    finite = np.where(certain, 0.0, absent)
    found = [[w.lit(each) for each in portable.total(finite, 0).tolist()]]
    for x, own in zip(there, present - finite):
        found.append([f"(CASE WHEN {x} THEN {w.log(each, None)} ELSE {zero} END)" for each in own.tolist()])
    if certain.any():
        lacking = []
        for k in range(w.n_classes):
            wanted = [x for x, sure in zip(there, certain[:, k].tolist()) if sure]
            lacking.append(f"(CASE WHEN {' AND '.join(wanted)} THEN {zero} ELSE {w.log(-math.inf, None)} END)"
                           if wanted else zero)  # fmt: skip
        found.append(lacking)
    return found


def _count_things(node: Node, w: Writer) -> str:
    return w.add_up([w.count(column) for column in node["columns"]], "length")


def _count_above(node: Node, w: Writer) -> str:
    one, zero = w.lit(1.0), w.lit(0.0)
    return w.add_up([f"({case([(_is_there(each, node, w), one)], zero)})" for each in node["columns"]], "length")


# Terms to the power of a weight.


def _weighted(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """For long texts, or bags, the weight may be less."""
    weight, exponent = float(node["weight"]), float(node["exponent"] or 0.0)
    if weight == 0:
        return []
    added = w.terms(node["terms"], floor)
    own = [w.query.let(w.add_up([w.lit(0.0), *each], "own"), "weighted") for each in zip(*added)]
    if not own:
        return []
    if not exponent:
        return [[f"({w.dialect.times(each, weight)})" for each in own]]
    length = w.lengths(node["terms"])
    assert length is not None, "a weight that depends on lengths is of columns that have some"
    d = w.dialect
    log = f"{d.log}(({w.lit(1.0)} + {length}) / {w.lit(node['typical'])})"
    by = w.query.let(f"{w.lit(weight)} * EXP({w.lit(-exponent)} * {log})", "weight")
    return [[f"({by} * {each})" for each in own]]


def _weighted_length(node: Node, w: Writer) -> str | None:
    return w.lengths(node["terms"])


TERMS: dict[str, Term] = {
    "category": _category, "counts": _counts,
    "presence": _presence, "presence above": _presence, "weighted": _weighted,
    "words": _words,
}  # fmt: skip
LENGTHS: dict[str, Callable[[Node, Writer], str | None]] = {
    "counts": _count_things, "presence": _count_things, "presence above": _count_above, "weighted": _weighted_length,
    "words": _count_words,
}  # fmt: skip
