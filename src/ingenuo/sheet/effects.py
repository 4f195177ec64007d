"""A model as its sheet has it, asked in plain Python: what a value of a column adds, and where a number's effect turns.

The page's `effects.mjs` says the same. Everything is asked of the terms that answer, so nothing here can differ from
the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from ingenuo.errors import InputError, KindError
from ingenuo.kernels.portable import exp_each, log_each
from ingenuo.sheet import Sheet, sheet
from ingenuo.sheet.score import Score, scorer, share, terms_of
from ingenuo.sheet.score.calibration import calibrator
from ingenuo.sheet.score.terms import Cells, NotPlain, Term, unpack

IMPOSSIBLE = -1073741824.0  # -2^30 stands in for log 0, as in the answers
_FINE = 512  # steps in which the turns of a curve without a formula are looked for
_WHOLE = 2000  # whole numbers of a column that are tried
_LEAST = -700.0  # a bounded formula is level where it is less, so it turns there too
_COUNTED = ("poisson", "negative-binomial")  # formulas of whole numbers

Row = Mapping[str, Any]
Numbers = list[float]


@dataclass(frozen=True)
class Range:
    """Between which numbers a column is looked at."""

    low: float
    high: float
    whole: bool = False

    @cached_property
    def step(self) -> float:
        """A step in which a number can be read: a two-hundredth of the range or less, or 1 of whole numbers."""
        return 1.0 if self.whole else 10.0 ** math.floor(math.log10(max(self.high - self.low, 1e-300)) - 2.3)


@dataclass(frozen=True)
class Shape:
    """Where the effect of a number turns.

    `isolated` values stand by themselves; with `between` any other number says something too, and between two `knots`
    the difference of any two classes only rises or only falls.
    """

    isolated: list[float]
    between: bool
    knots: list[float]


def on_step(x: float, step: float, way: Callable[[float], float] = round) -> float:
    """A number on a step, with no more digits than that has."""
    digits = min(100, max(0, -math.floor(math.log10(step) + 1e-9)))
    return float(f"{way(x / step) * step:.{digits}f}")


class Asked:
    """A model that is asked one row at a time, and of what each value of a column adds to the classes."""

    def __init__(self, model: Any, found: Sheet | None = None, score: Score | None = None) -> None:
        self.model, self.sheet = model, sheet(model) if found is None else found
        self._score = scorer(model) if score is None else score
        self.columns, self.classes = self.sheet.columns, self.sheet.classes
        self.node: dict[str, Any] = unpack(self.sheet.scorer)
        self._terms = self._open()
        self.effect_of = cache(self._effect_of)
        self.shape = cache(self._shape)

    def score(self, row: Row) -> tuple[Numbers | None, Numbers, int]:
        """The log joint where there is one, the posterior, and the place of the answer."""
        joint, posterior = self._score(row)
        return joint, posterior, posterior.index(max(posterior))

    @property
    def additive(self) -> bool:
        """Whether columns add up."""
        return self._terms is not None

    @property
    def calibrated(self) -> bool:
        """Whether the posterior is calibrated."""
        return bool(self.node.get("calibrate"))

    def _open(self) -> list[tuple[set[int], Term, Mapping[str, Any]]] | None:
        """The terms, each with its columns; none where the model is no sum of them."""
        if self.node["op"] != "sum":
            return None
        try:
            terms = terms_of(self.node["terms"], len(self.classes))
        except NotPlain:
            return None
        return [(set(_columns_of(node)), term, node) for node, term in zip(self.node["terms"], terms)]

    def present(self, row: Row, place: int) -> Any:
        """The value of a column in a row; None where it is missing."""
        value = row.get(self.columns[place]["name"])
        return None if value is None or value == "" or value != value else value

    def changed(self, row: Row, values: Iterable[tuple[int, Any]]) -> dict[str, Any]:
        """The row with other values in some columns; None takes a value out."""
        found = dict(row)
        for place, value in values:
            name = self.columns[place]["name"]
            if value is None or value == "":
                found.pop(name, None)
            else:
                found[name] = value
        return found

    def nodes_of(self, place: int) -> list[Mapping[str, Any]]:
        """The nodes that speak of a column, without the weights around them."""
        return [each for each in _within(self.node.get("terms", ())) if place in _columns_of(each)]

    def cells(self, row: Row) -> list[Any]:
        """A row as the terms take it."""
        return [self._cell(place, self.present(row, place)) for place in range(len(self.columns))]

    def _cell(self, place: int, value: Any) -> Any:
        kind = self.columns[place]["kind"]
        if kind == "count":
            return 0.0 if value is None else float(value)
        return float(value) if kind == "number" and value is not None else value

    def _effect_of(self, place: int) -> Callable[[Any], Numbers]:
        """A function from a value of a column to what it adds to each class."""
        own = [term for columns, term, _ in self._terms or () if place in columns]
        empty, n = self.cells({}), len(self.classes)
        nothing = _added(own, empty, n)

        def effect(value: Any) -> Numbers:
            cells = list(empty)
            cells[place] = self._cell(place, value)
            return [each - less if less != 0 else each for each, less in zip(_added(own, cells, n), nothing)]

        return effect

    @cached_property
    def start(self) -> Numbers:
        """The joint of a row of which nothing is known, in which log 0 is bounded."""
        found = [bounded(each) for each in self.node["start"]]
        empty, n = self.cells({}), len(self.classes)
        for _, term, _ in self._terms or ():
            found = [each + bounded(own) for each, own in zip(found, _added([term], empty, n))]
        return found

    def posterior_by(self, row: Row) -> Callable[[Sequence[float]], Numbers] | None:
        """The posterior by a joint, where all else is as in a row; None where the answer is not made of it so."""
        if not self.additive:
            return None
        lengths = [term.length for _, term, _ in self._terms or () if term.length is not None]
        length = sum(own(self.cells(row)) for own in lengths)
        repair = calibrator(self.node["calibrate"]) if self.calibrated else None

        def posterior(joint: Sequence[float]) -> Numbers:
            plain, below = share(joint)
            if repair is None:
                return plain
            (log,) = log_each(below[-1:])
            return exp_each(repair([each - log for each in below[:-1]], length))

        joint, own, _ = self.score(row)
        if joint is None or not all(math.isfinite(each) for each in joint):
            return posterior
        same = all(abs(each - other) < 1e-9 for each, other in zip(posterior(joint), own))
        return posterior if same else None

    def range(self, place: int) -> Range | None:
        """Between which numbers a column is looked at; None where the model does not say."""
        column = self.columns[place]
        if column["kind"] == "count":
            return Range(0.0, max(1.0, math.ceil(column.get("high", 10.0))), True)
        low, high = float(column.get("low", math.nan)), float(column.get("high", math.nan))
        if not (math.isfinite(low) and math.isfinite(high) and high > low):
            return None
        return Range(low, high, column.get("whole") is True)

    def presence(self, place: int) -> list[float] | None:
        """Of a thing that is there or not: the counts that stand for the two."""
        found = [node for node in self.nodes_of(place) if node["op"] in ("presence", "presence above")]
        return [0.0, max(1.0, math.floor(found[0].get("above") or 0.0) + 1.0)] if found else None

    def _shape(self, place: int) -> Shape:
        range_, nodes = self.range(place), self.nodes_of(place)
        isolated: list[float] = []
        for node in nodes:
            if range_ is not None and _is_counted(node):
                isolated += map(float, range(min(_WHOLE, math.floor(range_.high) + 1)))
            elif node["op"] == "states":
                isolated += [node["low"] + at for at in range(len(node["points"]))]
            elif node["op"] == "values or":
                isolated += list(node["values"])
        counted = [range_ is not None and _is_counted(node) for node in nodes]
        free = [not own and (node["op"] != "states" or node.get("means")) for own, node in zip(counted, nodes)]
        between = any(free) or not nodes
        if range_ is None or not between:
            return Shape(isolated, between and range_ is not None, [])
        low, width = range_.low, range_.high - range_.low
        grid = [low + width * at / _FINE for at in range(1, _FINE)]
        known = bool(nodes) and all(node["op"] in _KNOTS for node in nodes)
        knots = (
            [x for node in nodes for x in _KNOTS[node["op"]](node, range_, self.effect_of(place))] if known else grid
        )
        if known and any(node["op"] == "curve" for node in nodes):  # beyond its table a curve is no line
            knots = [*knots, *grid]
        inside = {x for x in knots if math.isfinite(x) and low < x < range_.high}
        return Shape(isolated, True, sorted({low, *inside, range_.high}))


def bounded(x: float) -> float:
    """A log that is finite: of log 0 what stands in for it."""
    return IMPOSSIBLE if x != x else min(max(x, IMPOSSIBLE), -IMPOSSIBLE)


def asked(model: Any, found: Sheet | None = None, score: Score | None = None) -> Asked:
    """A model to be asked; raises where it has no sheet."""
    try:
        return Asked(model, found, score)
    except KindError as error:
        raise InputError(str(error)) from None


def _added(terms: Iterable[Term], cells: Cells, n: int) -> Numbers:
    out = [0.0] * n
    for term in terms:
        term.add(cells, out)
    return out


def _within(nodes: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    for node in nodes:
        if node["op"] == "weighted":
            yield from _within(node["terms"])
        else:
            yield node


def _columns_of(node: Mapping[str, Any]) -> list[int]:
    if node["op"] == "weighted":
        return [place for each in node["terms"] for place in _columns_of(each)]
    own = [] if node.get("column") is None else [node["column"]]
    return [int(place) for place in [*own, *(node.get("columns") or ())]]


def _is_counted(node: Mapping[str, Any]) -> bool:
    return any(each and each.get("name") in _COUNTED for each in (node, node.get("others")))


# Where the difference of two classes turns, by the kind of node.


def _before(x: float) -> float:
    """A neighbour among the doubles, or close to it."""
    return x - max(abs(x) * 2.0**-52, 5e-324)


def _bells(node: Mapping[str, Any], range_: Range | None = None, effect: Any = None) -> list[float]:
    means, inverse = node["means"], node["inverse"]
    found = []
    for a in range(len(means)):
        for b in range(a):
            p, q = inverse[a] ** 2, inverse[b] ** 2
            if p != q:
                found.append((means[a] * p - means[b] * q) / (p - q))
    return found


def _turn(name: str, one: Sequence[float], other: Sequence[float]) -> float:
    try:
        if name == "log-normal":
            (m, s), (n, t) = one, other
            return math.exp((m / s**2 - n / t**2) / (1 / s**2 - 1 / t**2))
        if name == "gamma":
            (k, s), (own, t) = one, other
            return (k - own) / (1 / s - 1 / t)
    except (ArithmeticError, ValueError):
        pass
    return math.nan


def _mode(name: str, own: Sequence[float]) -> float:
    if name == "log-normal":
        return math.exp(own[0] - own[1] * own[1])
    return max(0.0, (own[0] - 1) * own[1]) if name == "gamma" else 0.0


def _formulas(node: Mapping[str, Any], range_: Range, effect: Callable[[Any], Numbers]) -> list[float]:
    name, values, start = node["name"], node["values"], float(node.get("first") or 0.0)
    found = [_before(start), start, start + 2.0**-1000]
    own = list(zip(*values))
    for a, mine in enumerate(own):
        mode = start + _mode(name, mine)
        found.append(mode)
        found += [start + _turn(name, mine, other) for other in own[:a]]
        for end in (start, max(range_.high, mode)):
            good, bad = mode, end
            for _ in range(200):
                middle = good + (bad - good) / 2
                if middle in (good, bad):
                    break
                if effect(middle)[a] > _LEAST:
                    good = middle
                else:
                    bad = middle
            found += [good, bad]
    return found


def _values_or(node: Mapping[str, Any], range_: Range, effect: Callable[[Any], Numbers]) -> list[float]:
    return _formulas(node["others"], range_, effect)


def _curve(node: Mapping[str, Any], range_: Range, effect: Callable[[Any], Numbers]) -> list[float]:
    found = []
    for at in range(len(node["points"])):
        x = (at / node["inverse"] + node["origin"]) / node["more"] / node["scale"]
        found += [x] if node["straight"] else [_before(_before(x)), _before(x), x]
    return found


def _none(*_: Any) -> list[float]:
    return []


def _states(node: Mapping[str, Any], *_: Any) -> list[float]:
    return _bells(node) if node.get("means") else []


_KNOTS: dict[str, Callable[..., list[float]]] = {
    "gaussian": _bells, "slopes": _none, "formula": _formulas, "bounded formula": _formulas, "values or": _values_or,
    "silent": _none, "states": _states, "curve": _curve,
}  # fmt: skip
