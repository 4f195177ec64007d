"""What each term of a sheet adds to the log joint of each class, as operations of ONNX."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.positive import log_gamma
from ingenuo.kernels import portable
from ingenuo.sheet.onnx.graph import BOOLEAN, DOUBLE, INTEGER, STRING, Graph

Node = Mapping[str, Any]
Floats = NDArray[np.float64]

FARTHEST = 1e300  # a square; and
DEVIATIONS = 1e150  # its root
NEVER = -1e299  # less than this in a table is log 0
LARGEST = 2.0**53  # of whole numbers
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_SPELLED = {True: ("True", "true", "TRUE"), False: ("False", "false", "FALSE")}


@dataclass
class Writer:
    """What the terms of a model are written into."""

    graph: Graph
    columns: Sequence[Mapping[str, Any]]  # of the sheet
    n_classes: int
    together: bool = False  # whether all columns are one input
    readings: dict[str, dict[str, Any]] = field(default_factory=dict)  # of each input of texts: how they are cut

    def name(self, place: int) -> str:
        """What a column is called."""
        return str(self.columns[place]["name"])

    def _input(self, name: str, type: str, shape: list[Any]) -> str:
        self.graph.inputs[name] = (type, shape)
        return name

    def declare(self) -> None:
        """All the columns are inputs, in their order, whether they say something or not."""
        if self.together:
            self._input("X", DOUBLE, ["N", len(self.columns)])
            return
        for place, column in enumerate(self.columns):
            if column["kind"] == "text":
                self._input(self.name(place), STRING, ["N", f"words of {self.name(place)}"])
            else:
                type = DOUBLE if column["kind"] in ("number", "count") else STRING
                self._input(self.name(place), type, ["N", 1])

    def number(self, place: int) -> str:
        """A column of numbers."""
        if self.together:
            return self.graph.op("Gather", "X", self.graph.integer([place]), axis=1)
        return self.name(place)

    def count(self, place: int) -> str:
        """A column of counts; what is missing is none."""
        x, g = self.number(place), self.graph
        return g.where(g.op("IsNaN", x), g.double(0.0), x)

    def is_number(self, place: int) -> bool:
        """Whether a column holds numbers."""
        return self.columns[place]["kind"] in ("number", "count")

    def words(self, place: int, read: Mapping[str, Any], once: bool) -> str:
        """A column of texts, cut in some way into words: an input for each way."""
        called, how = self.name(place), {"column": self.name(place), "once": once, **read}
        for name, known in self.readings.items():
            if json.dumps(known, sort_keys=True) == json.dumps(how, sort_keys=True):
                return name
        if any(known["column"] == called for known in self.readings.values()):
            called = self.graph.free(f"{called} ({'characters' if 'characters' in read else 'words'})")
            self._input(called, STRING, ["N", f"words of {called}"])
        self.readings[called] = how
        return called

    def is_missing(self, place: int, values: Sequence[Any] = ()) -> str:
        """Whether a row has no value of a column: no number, or an empty string that is none of the values."""
        g = self.graph
        if self.is_number(place):
            return g.op("IsNaN", self.number(place))
        empty = 0 if "" in spellings(values) else 1
        return g.cast(g.places(self.name(place), {"": empty}, 0), BOOLEAN)

    def place(self, place: int, values: Sequence[Any], *, unseen: int = -1, missing: int | None = None) -> str:
        """The number of a column's value among those that are known, as Python recognises them."""
        if self.is_number(place):
            g, known = self.graph, np.array([float(each) for each in values])
            x = self.number(place)
            same = g.cast(g.op("Equal", x, g.double(known[np.newaxis])), DOUBLE)
            found = g.op("ArgMax", same, axis=1, keepdims=1)
            found = g.where(g.cast(g.top(same), BOOLEAN), found, g.integer(unseen))
            return found if missing is None else g.where(g.op("IsNaN", x), g.integer(missing), found)
        known_places = spellings(values)
        if missing is not None:
            known_places.setdefault("", missing)
        return self.graph.places(self.name(place), known_places, unseen)

    def terms(self, nodes: Sequence[Node], floor: float | None) -> list[str]:
        """What each of some terms adds, one after another."""
        return [added for node in nodes for added in self.term(node)(node, self, floor)]

    def term(self, node: Node) -> Term:
        """How a kind of term is written."""
        if node["op"] not in TERMS:
            raise InputError(f"the term {node['op']!r} has no ONNX; export the model to js, or fit it without")
        return TERMS[node["op"]]

    def length(self, nodes: Sequence[Node]) -> str | None:
        """How many words, or things counted, a row has by some terms; None where none of them has a length."""
        found = [LENGTHS[node["op"]](node, self) for node in nodes if node["op"] in LENGTHS]
        there = [each for each in found if each is not None]
        return self.sum(there) if there else None

    def sum(self, parts: Sequence[str]) -> str:
        """A sum from left to right."""
        total = parts[0]
        for each in parts[1:]:
            total = self.graph.add(total, each)
        return total

    def log1p(self, x: str) -> str:
        """log(1 + x)."""
        return self.graph.op("Log", self.graph.add(self.graph.double(1.0), x))

    def clip(self, x: str, most: float) -> str:
        """No farther from 0 than that."""
        g = self.graph
        return g.op("Max", g.op("Min", x, g.double(most)), g.double(-most))

    def log_sum(self, a: str, b: str) -> str:
        """log(exp(a) + exp(b))."""
        g = self.graph
        largest, least = g.op("Max", a, b), g.op("Min", a, b)
        apart = g.sub(least, self.finite(largest))
        return g.add(largest, self.log1p(g.op("Exp", apart)))

    def finite(self, x: str) -> str:
        """The number, and 0 for one that is infinite."""
        g = self.graph
        return g.where(g.op("IsInf", x), g.double(0.0), x)

    def log_total(self, x: str, axis: int) -> str:
        """log Σ exp along an axis, which it keeps."""
        g = self.graph
        top = g.top(x, axis)
        total = g.total(g.op("Exp", g.sub(x, self.finite(top))), axis, keep=True)
        return g.add(g.op("Log", total), self.finite(top))


Term = Callable[[Node, Writer, "float | None"], "list[str]"]


def array(value: Any) -> Floats:
    """Numbers of a node."""
    return np.asarray(value, np.float64)


def floored(values: Any, floor: float | None) -> Floats:
    """Log probabilities, no less than a floor."""
    return array(values) if floor is None else np.maximum(array(values), floor)


def spellings(values: Sequence[Any]) -> dict[str, int]:
    """Where each value stands, by all the strings that mean it; of two that are written alike the first."""
    found: dict[str, int] = {}
    for place, value in enumerate(values):
        if value is None:
            continue
        if isinstance(value, str):
            found.setdefault(value, place)
    for place, value in enumerate(values):
        for text in _spelled(value):
            found.setdefault(text, place)
    return found


def _spelled(value: Any) -> Sequence[str]:
    """The strings that mean a value that is none, as a text file has them."""
    if value is None or isinstance(value, str):
        return ()
    if isinstance(value, bool):
        return _SPELLED[value]
    if isinstance(value, int):
        return str(value), f"{value}.0"
    return (str(value), str(int(value))) if value.is_integer() and abs(value) < LARGEST else (str(value),)


# Numbers.


def _bell(x: str, node: Node, w: Writer, floor: float | None) -> str:
    g = w.graph
    z = g.mul(g.sub(x, g.double([node["means"]])), g.double([node["inverse"]]))
    square = g.op("Min", g.mul(z, z), g.double(FARTHEST))
    return g.add(g.double([floored(node["constants"], floor)]), g.mul(square, g.double(-0.5)))


def _unless_missing(x: str, added: str, w: Writer) -> list[str]:
    g = w.graph
    return [g.where(g.op("IsNaN", x), g.double(0.0), added)]


def _gaussian(node: Node, w: Writer, floor: float | None) -> list[str]:
    x = w.number(node["column"])
    return _unless_missing(x, _bell(x, node, w, None), w)


def _silent(node: Node, w: Writer, floor: float | None) -> list[str]:
    return []


def _states(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, x, low = w.graph, w.number(node["column"]), float(node["low"])
    points = floored(node["points"], floor).reshape(-1, w.n_classes)
    place = g.sub(x, g.double(low))
    within = g.op("And", g.op("GreaterOrEqual", place, g.double(0.0)), g.op("Less", place, g.double(len(points))))
    whole = g.op("Equal", place, g.op("Floor", place))
    same = g.op("Equal", g.add(place, g.double(low)), x)
    there = g.op("And", g.op("And", within, whole), same)
    at = g.cast(g.where(there, place, g.double(0.0)), INTEGER)
    found = g.take(g.double(points if len(points) else np.zeros((1, w.n_classes))), at)
    others = g.double(0.0) if node.get("means") is None else _bell(x, node, w, floor)
    return _unless_missing(x, g.where(there, found, others), w)


def _values_or(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, x, logs = w.graph, w.number(node["column"]), array(node["logs"])
    values = array(node["values"])
    others = g.add(g.double([logs[len(values)]]), density(x, node["others"], w))
    if len(values):
        same = g.cast(g.op("Equal", x, g.double([values])), DOUBLE)
        found = g.take(g.double(logs[: len(values)]), g.op("ArgMax", same, axis=1, keepdims=1))
        others = g.where(g.cast(g.top(same), BOOLEAN), found, others)
    return _unless_missing(x, _at_least(others, w, floor), w)


def _at_least(added: str, w: Writer, floor: float | None) -> str:
    return added if floor is None else w.graph.op("Max", added, w.graph.double(floor))


def _formula(node: Node, w: Writer, floor: float | None) -> list[str]:
    x = w.number(node["column"])
    return _unless_missing(x, _at_least(density(x, node, w), w, floor), w)


def _bounded_formula(node: Node, w: Writer, floor: float | None) -> list[str]:
    x = w.number(node["column"])
    bounded = w.graph.op("Max", density(x, node, w), w.graph.double(-700.0))
    return _unless_missing(x, _at_least(bounded, w, floor), w)


def _log_gamma(x: str, w: Writer) -> str:
    """log Γ, as families/positive.py has it."""
    g, d = w.graph, w.graph.double
    small, product = g.op("Less", x, d(8.0)), x
    for step in range(1, 8):
        product = g.mul(product, g.add(x, d(float(step))))
    product = g.where(small, product, d(1.0))
    y = g.where(small, g.add(x, d(8.0)), x)
    z = g.op("Div", d(1.0), g.mul(y, y))
    series = d(691 / 360360)
    for under in (1188.0, 1680.0, 1260.0, 360.0, 12.0):
        series = g.sub(d(1 / under), g.mul(z, series))
    main = g.sub(g.mul(g.sub(y, d(0.5)), g.op("Log", y)), y)
    return g.sub(g.add(g.add(main, d(_HALF_LOG_2PI)), g.op("Div", series, y)), g.op("Log", product))


def _log(values: Floats) -> Floats:
    return np.asarray(portable.log(values), np.float64)


def _poisson(x: str, w: Writer, mean: Floats) -> str:
    g, d = w.graph, w.graph.double
    return g.sub(g.sub(g.mul(x, d([_log(mean)])), d([mean])), _log_gamma(g.add(x, d(1.0)), w))


def _log_normal(x: str, w: Writer, mean: Floats, deviation: Floats) -> str:
    g, d = w.graph, w.graph.double
    log = g.op("Log", x)
    z = w.clip(g.op("Div", g.sub(log, d([mean])), d([deviation])), DEVIATIONS)
    rest = g.add(g.mul(g.mul(d(0.5), z), z), d([_log(deviation) + _HALF_LOG_2PI]))
    return g.sub(g.op("Neg", log), rest)


def _gamma(x: str, w: Writer, k: Floats, scale: Floats) -> str:
    g, d = w.graph, w.graph.double
    below = g.op("Min", g.op("Div", x, d([scale])), d(DEVIATIONS))
    constant = np.asarray(log_gamma(k)) + k * _log(scale)
    return g.sub(g.sub(g.mul(d([k - 1]), g.op("Log", x)), below), d([constant]))


def _exponential(x: str, w: Writer, scale: Floats) -> str:
    g, d = w.graph, w.graph.double
    return g.sub(g.op("Neg", g.op("Min", g.op("Div", x, d([scale])), d(DEVIATIONS))), d([_log(scale)]))


def _negative_binomial(x: str, w: Writer, mean: Floats, r: Floats) -> str:
    g, d = w.graph, w.graph.double
    finite = np.where(np.isfinite(r), r, 1.0)
    grown = g.sub(g.sub(_log_gamma(g.add(x, d([finite])), w), d([log_gamma(finite)])), _log_gamma(g.add(x, d(1.0)), w))
    constant = finite * np.asarray(portable.log1p(mean / finite))
    found = g.add(g.sub(grown, d([constant])), g.mul(x, d([_log(mean) - _log(mean + finite)])))
    return g.where(g.constant(np.isfinite(r)[np.newaxis]), found, _poisson(x, w, mean))


_FORMULAS: dict[str, Callable[..., str]] = {
    "log-normal": _log_normal, "gamma": _gamma, "exponential": _exponential, "poisson": _poisson,
    "negative-binomial": _negative_binomial,
}  # fmt: skip


def density(x: str, node: Node, w: Writer) -> str:
    """The log density of each class at a number; -inf where it is impossible."""
    g, d, name, first = w.graph, w.graph.double, node["name"], float(node["first"])
    above = name in ("log-normal", "gamma")
    possible = g.op("Greater" if above else "GreaterOrEqual", x, d(0.0 if above else first))
    if name in ("poisson", "negative-binomial"):
        whole = g.op("And", g.op("Equal", x, g.op("Round", x)), g.op("LessOrEqual", x, d(LARGEST)))
        possible = g.op("And", possible, whole)
    inside = g.where(possible, g.sub(x, d(first)), d(1.0))
    found = _FORMULAS[name](inside, w, *(array(each) for each in node["values"]))
    return g.where(possible, found, d(-math.inf))


# Tabulated curves, straight or level between their points, and what is beyond the table.


def _curve(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, d, x = w.graph, w.graph.double, w.number(node["column"])
    points = floored(node["points"], floor)
    last = len(points) - 1
    u = g.mul(g.mul(x, d(float(node["scale"]))), d(float(node["more"])))
    u = g.mul(g.sub(u, d(float(node["origin"]))), d(float(node["inverse"])))
    inside = g.op("And", g.op("GreaterOrEqual", u, d(0.0)), g.op("Less", u, d(float(last))))
    u = g.where(inside, u, d(0.0))
    place = g.op("Floor", u)
    at, rest = g.cast(place, INTEGER), g.mul(g.sub(u, place), d(float(node["straight"])))
    here = g.take(d(points), at)
    step = g.sub(g.take(d(points[1:] if last else points), at), here)
    found = g.add(here, g.mul(rest, step))
    beyond = node["beyond"]
    t = g.sub(w.clip(_scale_by_two(x, -int(node["exponent"]), w), DEVIATIONS), d(float(node["first"])))
    outside = g.sub(_BEYOND[beyond["op"]](t, beyond, w), d(float(node["unit"])))
    found = g.where(inside, found, _at_least(outside, w, floor))
    found = g.where(g.op("Greater", found, d(NEVER)), found, d(-math.inf))
    return _unless_missing(x, found, w)


def _scale_by_two(x: str, n: int, w: Writer) -> str:
    while n:
        step = max(min(n, 1000), -1000)
        x, n = w.graph.mul(x, w.graph.double(math.ldexp(1.0, step))), n - step
    return x


def _level(t: str, node: Node, w: Writer) -> str:
    g, d = w.graph, w.graph.double
    (low, high), (one, other), levels = node["edges"], node["widths"], array(node["levels"])
    far = g.op("Max", g.op("Div", g.sub(d(float(low)), t), d(float(one))), d(0.0))
    far = g.op("Max", far, g.op("Div", g.sub(t, d(float(high))), d(float(other))))
    side = g.op("Less", t, d((float(low) + float(high)) / 2))
    return g.sub(g.where(side, d([levels[0]]), d([levels[1]])), g.mul(d(2.0), w.log1p(far)))


def _smooth(found: str, t: str, node: Node, w: Writer) -> str:
    if not node["imagined"]:
        return found
    g, d = w.graph, w.graph.double
    z = w.clip(g.op("Div", g.sub(t, d(float(node["middle"]))), d(float(node["scale"]))), DEVIATIONS)
    background = g.sub(d(float(node["peak"])), w.log1p(g.mul(z, z)))
    own = g.sub(g.add(found, d([array(node["logs"])])), d([array(node["logs_with"])]))
    background = g.sub(g.add(background, d(float(node["log_imagined"]))), d([array(node["logs_with"])]))
    return w.log_sum(own, background)


def _kernel(t: str, node: Node, w: Writer) -> str:
    g, d = w.graph, w.graph.double
    side = g.op("Less", t, d(float(node["middle"])))

    def of_side(values: Any) -> str:
        return g.where(side, d([array(values)[0]]), d([array(values)[1]]))

    z = w.clip(g.op("Div", g.sub(g.sub(t, of_side(node["ends"])), d(0.5)), d([array(node["widths"])])), DEVIATIONS)
    found = g.sub(of_side(node["counts"]), g.mul(g.mul(d(0.5), z), z))
    return _smooth(g.sub(found, d([array(node["peaks"]) + array(node["totals"])])), t, node["smoothing"], w)


def _mixture(t: str, node: Node, w: Writer) -> str:
    g, d, each = w.graph, w.graph.double, node["components"]
    size = max(len(own["means"]) for own in each)

    def padded(name: str, rest: float) -> str:
        rows = [[*array(own[name]).tolist(), *[rest] * (size - len(own[name]))] for own in each]
        return d([rows])

    z = g.op("Div", g.sub(g.unsqueeze(t, 2), padded("means", 0.0)), padded("deviations", 1.0))
    z = w.clip(z, DEVIATIONS)
    terms = g.sub(padded("constants", -math.inf), g.mul(g.mul(d(0.5), z), z))
    found = g.op("Squeeze", w.log_total(terms, 2), g.integer([2]))
    return _smooth(found, t, node["smoothing"], w)


_BEYOND: dict[str, Callable[[str, Node, Writer], str]] = {"level": _level, "kernel": _kernel, "mixture": _mixture}


# Categories and counts.


def _category(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, values = w.graph, list(node["values"])
    logs = floored(node["logs"], floor).reshape(len(values), w.n_classes)
    at = w.place(node["column"], values, unseen=len(values))
    return [g.take(g.double(np.vstack([logs, np.zeros(w.n_classes)])), at)]


def _counts(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, table, found = w.graph, floored(node["table"], floor), []
    for column, row in zip(node["columns"], table):
        x = w.count(column)
        each = g.mul(x, g.double([row]))
        found.append(each if np.isfinite(row).all() else g.where(g.op("Equal", x, g.double(0.0)), g.double(0.0), each))
    return found


def _presence(node: Node, w: Writer, floor: float | None) -> list[str]:
    return _present([w.count(column) for column in node["columns"]], node, w, floor)


def _presence_above(node: Node, w: Writer, floor: float | None) -> list[str]:
    return _present(_marks(node, w), node, w, floor)


def _marks(node: Node, w: Writer) -> list[str]:
    g, above = w.graph, w.graph.double(float(node["above"]))
    return [g.cast(g.op("Greater", w.number(column), above), DOUBLE) for column in node["columns"]]


def _present(counts: list[str], node: Node, w: Writer, floor: float | None) -> list[str]:
    """Things that are there or not; where some class is certain of one, what is impossible is counted apart."""
    g, d = w.graph, w.graph.double
    there = [g.op("Not", g.op("Equal", x, d(0.0))) for x in counts]
    if node.get("odds") is not None:
        odds = array(node["odds"])
        return [d([array(node["start"])]), *(g.where(x, d([row]), d(0.0)) for x, row in zip(there, odds))]
    present, absent = floored(node["present"], floor), floored(node["absent"], floor)
    none = np.isneginf(absent)
    finite = np.zeros(w.n_classes)
    for row in np.where(none, 0.0, absent):
        finite += row
    added = [d([finite])]
    for x, row, without in zip(there, present, np.where(none, 0.0, absent)):
        added.append(g.where(x, d([row - without]), d(0.0)))
    if none.any():
        seen = [g.where(x, d([row]), d(0.0)) for x, row in zip(there, none.astype(np.float64)) if row.any()]
        lacks = g.op("Less", w.sum(seen), d([none.sum(axis=0).astype(np.float64)]))
        added.append(g.where(lacks, d(-math.inf), d(0.0)))
    return added


# Words, which the caller has cut.


@dataclass(frozen=True)
class WordTable:
    """What each word adds, by its number; behind them what unknown words add, and what the end of a text does."""

    ids: str  # (n, words)
    size: int


def _word_table(node: Node, w: Writer) -> WordTable:
    if node["buckets"]:
        raise InputError(
            f"the words of column {w.name(node['column'])!r} are hashed, and ONNX has no such hash; export the model "
            "to js, or fit it without"
        )
    names = word_names(node)
    known = {name: place for place, name in enumerate(names)}
    known[""] = len(names) + 1
    return WordTable(
        w.graph.places(w.words(node["column"], node["read"], bool(node["once"])), known, len(names)), len(names)
    )


def word_names(node: Node) -> list[str]:
    """The words of a node, and its n-grams with blanks between their words, in the order of the arrays."""
    packed, names, before = node["words"], list[str](), b""
    for each in packed["text"].split(packed["between"]) if packed["text"] else ():
        kept = 2 * (ord(each[0]) - ord("0"))  # so many letters of the one before it, as JavaScript counts them
        before = before[:kept] + each[1:].encode("utf-16-le", "surrogatepass")
        names.append(before.decode("utf-16-le", "surrogatepass"))
    level, words = names, names
    for found in node["levels"]:
        sizes, gaps = np.asarray(found["sizes"], np.int64), np.asarray(found["lasts"], np.int64)
        starts = np.append(0, np.cumsum(sizes))
        lasts = gaps.copy()
        for above in range(len(sizes)):
            lasts[starts[above] : starts[above + 1]] = np.cumsum(gaps[starts[above] : starts[above + 1]])
        level = [f"{level[up]} {words[last]}" for up, last in zip(np.repeat(np.arange(len(sizes)), sizes), lasts)]
        names = [*names, *level]
    return names


def _of_words(values: Floats, table: WordTable, w: Writer) -> str:
    """What the words of a text have of a table, (n, words, …)."""
    padded = np.concatenate([values, np.zeros((2, *values.shape[1:]))])
    return w.graph.op("Gather", w.graph.double(padded), table.ids, axis=0)


def _used(node: Node, size: int) -> NDArray[np.bool_]:
    return np.ones(size, np.bool_) if node["used"] is None else np.asarray(node["used"]) != 0


def _words(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, d, K = w.graph, w.graph.double, w.n_classes
    table = _word_table(node, w)
    used, counts = _used(node, table.size), np.asarray(node["counts"], np.int64)
    codes = np.asarray(node["codes"], np.int64)
    owners = np.repeat(np.arange(table.size), counts)
    weights = np.ones(table.size) if node["weights"] is None else array(node["weights"])
    base = np.zeros(table.size) if node["base"] is None else array(node["base"])
    values = weights[:, np.newaxis] * array(node["constant"]) + base[:, np.newaxis]
    values = np.where(used[:, np.newaxis], values, 0.0)
    np.add.at(values, (owners, codes), array(node["values"]))
    added = [g.total(_of_words(values, table, w), 1)]
    if node["norm"] is not None:
        squares = _of_words(np.where(used, weights, 0.0) ** 2, table, w)
        if not node["once"]:  # Σ over different words of (times · weight)²
            same = g.op("Equal", g.unsqueeze(table.ids, 2), g.unsqueeze(table.ids, 1))
            squares = g.mul(squares, g.total(g.cast(same, DOUBLE), 2))
        squares = g.total(squares, 1, keep=True)
        size = g.op("Sqrt", g.where(g.op("Greater", squares, d(0.0)), squares, d(1.0)))
        added = [g.op("Div", added[0], size)]
    own = np.zeros((table.size, K))
    own[owners, codes] = 1.0
    impossible = []
    if node["strict"] is not None:
        strict = np.asarray(node["strict"]) != 0
        lacking = np.where((strict & used)[:, np.newaxis], 1.0 - own, 0.0)
        impossible.append(g.total(_of_words(lacking, table, w), 1))
    if node["certain"] is not None:
        sure = np.zeros((table.size, K))
        sure[owners, codes] = array(node["certain"])
        impossible.append(g.sub(d([array(node["n_certain"])]), g.total(_of_words(sure, table, w), 1)))
    for missing in impossible:
        by = d(-math.inf) if floor is None else g.mul(missing, d(floor))
        added.append(g.where(g.op("Greater", missing, d(0.0)), by, d(0.0)))
    if node["absent"] is None:
        return added
    # A text of no words at all is missing, and says nothing.
    added.insert(1, d([array(node["absent"])]))
    ends = g.op("Equal", table.ids, g.integer(table.size + 1))
    empty = g.op("Not", g.cast(g.top(g.cast(g.op("Not", ends), DOUBLE)), BOOLEAN))
    return [g.where(empty, d(0.0), each) for each in added]


def _length_of_words(node: Node, w: Writer) -> str | None:
    table = _word_table(node, w)
    return w.graph.total(_of_words(_used(node, table.size).astype(np.float64), table, w), 1, keep=True)


# Terms to the power of a weight.


def _weighted(node: Node, w: Writer, floor: float | None) -> list[str]:
    if not node["weight"]:
        return []
    added = w.terms(node["terms"], floor)
    if not added:
        return []
    g, d, by = w.graph, w.graph.double, w.graph.double(float(node["weight"]))
    if node["exponent"]:
        length = w.length(node["terms"])
        assert length is not None, "an exponent is of terms that have a length"
        grown = g.op("Div", g.add(d(1.0), length), d(float(node["typical"])))
        by = g.mul(by, g.op("Exp", g.mul(d(-float(node["exponent"])), g.op("Log", grown))))
    return [g.mul(by, w.sum(added))]


def _length_of_counts(node: Node, w: Writer) -> str | None:
    return w.sum([w.count(column) for column in node["columns"]])


def _slopes(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, found = w.graph, []
    for column, centre, weights in zip(node["columns"], array(node["centre"]), array(node["weights"])):
        x = g.sub(w.number(column), g.double(float(centre)))
        x = g.where(g.op("IsNaN", x), g.double(0.0), x)
        found.append(g.mul(x, g.double([weights])))
    return found


LENGTHS: dict[str, Callable[[Node, Writer], str | None]] = {
    "words": _length_of_words,
    "counts": _length_of_counts,
    "presence": _length_of_counts,
    "presence above": lambda node, w: w.sum(_marks(node, w)),
    "weighted": lambda node, w: w.length(node["terms"]),
}

TERMS: dict[str, Term] = {
    "gaussian": _gaussian, "silent": _silent, "states": _states, "values or": _values_or, "formula": _formula,
    "bounded formula": _bounded_formula, "curve": _curve, "category": _category, "counts": _counts,
    "presence": _presence, "presence above": _presence_above, "words": _words, "weighted": _weighted,
    "slopes": _slopes,
}  # fmt: skip
