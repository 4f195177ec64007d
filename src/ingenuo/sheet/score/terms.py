"""The terms of a sum in plain Python: of categories, counts, numbers by formula and by table."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ingenuo.kernels.portable import exp_each, log1p_each, log_each
from ingenuo.tally.labels import is_missing, labels_of, recognise

Cells = Sequence[Any]
Numbers = Sequence[float]
Node = Mapping[str, Any]
Of = Callable[[float], "Numbers | None"]

FARTHEST, _DEVIATIONS = 1e300, 1e150  # a square, and its root
_HALF_LOG_2PI, _LOG_2PI_HALF = 0.9189385332046727, 0.5 * 1.8378770664093453
_NEVER = -1e299  # less than this in a table is log 0
_IMPOSSIBLE = -math.inf


class NotPlain(Exception):
    """What is not answered here, but by the model."""


class Term(NamedTuple):
    """What adds to the joint of a row; and how many words or things a row has, where it counts them."""

    add: Callable[[Cells, list[float]], None]
    length: Callable[[Cells], float] | None = None


def unpack(value: Any) -> Any:
    """A node with flat arrays of doubles for NumPy's, and lists of them."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        if value.ndim > 1:
            return [unpack(each) for each in value]
        return array("d", np.ascontiguousarray(value, np.float64).tobytes())
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {name: unpack(each) for name, each in value.items()}
    if isinstance(value, list | tuple) and value and type(value[0]) is not str:
        return [unpack(each) for each in value]
    return value


def place_by(values: Sequence[Any]) -> Callable[[Any], int]:
    """Where a value stands among those that are known, by itself or as it is spelled; -1 where it does not."""
    known = {(type(value), value): place for place, value in enumerate(values)}
    labels = labels_of(values)

    def place(value: Any) -> int:
        if value is None:
            return -1
        found = known.get((type(value), value))
        if found is not None:
            return found
        return -1 if is_missing(value) else int(recognise(labels, labels_of([value]))[0])

    return place


def _category(node: Node, n_classes: int) -> Term:
    column, logs, place = node["column"], node["logs"], place_by(node["values"])

    def add(cells: Cells, out: list[float]) -> None:
        at = place(cells[column])
        if at >= 0:
            for k, log in enumerate(logs[at]):
                out[k] += log

    return Term(add)


def _counts(node: Node, n_classes: int) -> Term:
    columns, table = node["columns"], node["table"]
    each = list(zip(columns, table))

    def add(cells: Cells, out: list[float]) -> None:
        for column, own in each:
            x = cells[column]
            if x != 0:
                for k, log in enumerate(own):
                    out[k] += x * log

    return Term(add, _sum_of(columns))


def _sum_of(columns: Sequence[int]) -> Callable[[Cells], float]:
    def length(cells: Cells) -> float:
        found = 0.0
        for column in columns:
            found += cells[column]
        return found

    return length


def _presence(node: Node, n_classes: int) -> Term:
    """Things that are there or not; where one is certain, it is not plain."""
    columns, start, odds = node["columns"], node["start"], node["odds"]
    if not odds:
        raise NotPlain
    each = list(zip(columns, odds))

    def add(cells: Cells, out: list[float]) -> None:
        for k, log in enumerate(start):
            out[k] += log
        for column, own in each:
            if cells[column] != 0:
                for k, log in enumerate(own):
                    out[k] += log

    return Term(add, _sum_of(columns))


# Numbers.


def _of_column(column: int, of: Of) -> Term:
    """A term from what a number adds to each class; None where it adds nothing."""

    def add(cells: Cells, out: list[float]) -> None:
        x = cells[column]
        if x is None:
            return
        found = of(x)
        if found is not None:
            for k, each in enumerate(found):
                out[k] += each

    return Term(add)


def _bell(node: Node) -> Callable[[float], list[float]]:
    each = list(zip(node["means"], node["inverse"], node["constants"]))

    def of(x: float) -> list[float]:
        found = []
        for mean, inverse, constant in each:
            z = (x - mean) * inverse
            z *= z
            found.append(constant - 0.5 * (z if z < FARTHEST else FARTHEST))
        return found

    return of


def _gaussian(node: Node, n_classes: int) -> Term:
    column, each = node["column"], list(enumerate(zip(node["means"], node["inverse"], node["constants"])))

    def add(cells: Cells, out: list[float]) -> None:
        x = cells[column]
        if x is None:
            return
        for k, (mean, inverse, constant) in each:
            z = (x - mean) * inverse
            z *= z
            out[k] += constant - 0.5 * (z if z < FARTHEST else FARTHEST)

    return Term(add)


def _silent(node: Node, n_classes: int) -> Term:
    return Term(lambda cells, out: None)


def _states(node: Node, n_classes: int) -> Term:
    """Whole numbers from `low` on have their points; any other number, if there may be any, a Gaussian."""
    low, points = node["low"], node["points"]
    others = _bell(node) if node["means"] is not None and len(node["means"]) else None

    def of(x: float) -> Numbers | None:
        place = x - low
        if 0 <= place < len(points) and place == int(place) and place + low == x:
            return points[int(place)]  # type: ignore[no-any-return]
        return None if others is None else others(x)

    return _of_column(node["column"], of)


def _values_or(node: Node, n_classes: int) -> Term:
    """Values that are states, and a formula for all others."""
    places = {value: place for place, value in reversed(list(enumerate(node["values"])))}
    logs, formula = node["logs"], _density(node["others"])
    rest = logs[len(node["values"])]

    def of(x: float) -> Numbers:
        at = places.get(x)
        return logs[at] if at is not None else [own + each for own, each in zip(rest, formula(x))]

    return _of_column(node["column"], of)


def _clipped(z: float) -> float:
    return _DEVIATIONS if z > _DEVIATIONS else -_DEVIATIONS if z < -_DEVIATIONS else z


def _log(x: float) -> float:
    return log_each([x])[0]


def _log_gamma(x: float) -> float:
    """log Γ, as families/positive.py has it."""
    product, y = 1.0, x
    if x < 8:
        product = x
        for step in range(1, 8):
            product *= x + step
        y = x + 8
    z = 1 / (y * y)
    series = 1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360)))))
    log, log_product = log_each([y, product])
    return (y - 0.5) * log - y + _LOG_2PI_HALF + series / y - log_product


# What each formula says of a number x and of its logarithm, once the parameters of a class are known.


def _log_normal(mean: float, deviation: float) -> Callable[[float, float], float]:
    log_deviation = _log(deviation)

    def of(x: float, log: float) -> float:
        z = _clipped((log - mean) / deviation)
        return -log - log_deviation - _LOG_2PI_HALF - 0.5 * z * z

    return of


def _gamma(k: float, scale: float) -> Callable[[float, float], float]:
    constant = _log_gamma(k) + k * _log(scale)
    return lambda x, log: (k - 1) * log - min(x / scale, _DEVIATIONS) - constant


def _exponential(scale: float) -> Callable[[float, float], float]:
    constant = _log(scale)
    return lambda x, log: -min(x / scale, _DEVIATIONS) - constant


def _poisson(mean: float) -> Callable[[float, float], float]:
    log_mean = _log(mean)
    return lambda x, log: x * log_mean - mean - _log_gamma(x + 1)


def _negative_binomial(mean: float, r: float) -> Callable[[float, float], float]:
    if r == math.inf:
        return _poisson(mean)
    gamma_r, (shrunk,), apart = _log_gamma(r), log1p_each([mean / r]), _log(mean) - _log(mean + r)
    return lambda x, log: _log_gamma(x + r) - gamma_r - _log_gamma(x + 1) - r * shrunk + x * apart


_FORMULAS: dict[str, Callable[..., Callable[[float, float], float]]] = {
    "log-normal": _log_normal, "gamma": _gamma, "exponential": _exponential, "poisson": _poisson,
    "negative-binomial": _negative_binomial,
}  # fmt: skip
_ABOVE, _WHOLE = frozenset({"log-normal", "gamma"}), frozenset({"poisson", "negative-binomial"})
_LARGEST = 9007199254740992  # of whole numbers


def _density(node: Node) -> Callable[[float], Numbers]:
    """The log density of each class at a number; -inf where it is impossible."""
    name, first = node["name"], node["first"]
    formulas = [_FORMULAS[name](*own) for own in zip(*node["values"])]
    never, above, whole = [_IMPOSSIBLE] * len(formulas), name in _ABOVE, name in _WHOLE

    def of(x: float) -> Numbers:
        if not (x > 0 if above else x >= first) or (whole and not (x == math.floor(x) and x <= _LARGEST)):
            return never
        y = x - first
        log = _log(y) if above else 0.0
        return [formula(y, log) for formula in formulas]

    return of


def _formula(node: Node, n_classes: int) -> Term:
    return _of_column(node["column"], _density(node))


def _bounded_formula(node: Node, n_classes: int) -> Term:
    """A formula by which what is impossible, or farther out than any value, says nothing."""
    of = _density(node)
    return _of_column(node["column"], lambda x: [max(each, -700.0) for each in of(x)])


# Tabulated curves, straight or level between their points, and what is beyond the table.


def _smooth(node: Node) -> Callable[[list[float], float], Numbers]:
    imagined, log_imagined = node["imagined"], node["log_imagined"]
    logs, logs_with = node["logs"], node["logs_with"]
    middle, scale, peak = node["middle"], node["scale"], node["peak"]

    def smoothed(own: list[float], t: float) -> Numbers:
        if imagined == 0:
            return own
        z = _clipped((t - middle) / scale)
        background = peak - log1p_each([z * z])[0]
        return [
            _log_sum(each + log - with_, background + log_imagined - with_)
            for each, log, with_ in zip(own, logs, logs_with)
        ]

    return smoothed


def _log_sum(a: float, b: float) -> float:
    largest, least = (a, b) if a > b else (b, a)
    apart = -math.inf if least == -math.inf else least - (0.0 if largest == -math.inf else largest)
    return largest + log1p_each(exp_each([apart]))[0]


def _level(node: Node) -> Callable[[float], Numbers]:
    edges, widths, levels = node["edges"], node["widths"], node["levels"]

    def of(t: float) -> Numbers:
        far = max((edges[0] - t) / widths[0], (t - edges[1]) / widths[1], 0.0)
        fall = 2 * log1p_each([far])[0]
        return [each - fall for each in levels[0 if t < (edges[0] + edges[1]) / 2 else 1]]

    return of


def _kernel(node: Node) -> Callable[[float], Numbers]:
    ends, counts, middle, smoothed = node["ends"], node["counts"], node["middle"], _smooth(node["smoothing"])
    each = [list(zip(ends[side], counts[side], node["widths"], node["peaks"], node["totals"])) for side in (0, 1)]

    def of(t: float) -> Numbers:
        found = []
        for end, count, width, peak, total in each[0 if t < middle else 1]:
            z = _clipped((t - end - 0.5) / width)
            found.append(count - 0.5 * z * z - peak - total)
        return smoothed(found, t)

    return of


def _mixture(node: Node) -> Callable[[float], Numbers]:
    smoothed = _smooth(node["smoothing"])
    components = [list(zip(own["means"], own["deviations"], own["constants"])) for own in node["components"]]

    def of(t: float) -> Numbers:
        found = []
        for own in components:
            terms = []
            for mean, deviation, constant in own:
                z = _clipped((t - mean) / deviation)
                terms.append(constant - 0.5 * z * z)
            largest = max(terms)
            largest = 0.0 if largest == -math.inf else largest
            total = 0.0
            for each in exp_each([term - largest for term in terms]):
                total += each
            found.append(_log(total) + largest)
        return smoothed(found, t)

    return of


_BEYOND: dict[str, Callable[[Node], Callable[[float], Numbers]]] = {
    "level": _level, "kernel": _kernel, "mixture": _mixture,
}  # fmt: skip


def _curve(node: Node, n_classes: int) -> Term:
    scale, more, origin, inverse = node["scale"], node["more"], node["origin"], node["inverse"]
    straight, points, exponent, first, unit = (
        node[name] for name in ("straight", "points", "exponent", "first", "unit")
    )
    outside, last = _BEYOND[node["beyond"]["op"]](node["beyond"]), len(points) - 1

    def of(x: float) -> Numbers:
        u = (x * scale * more - origin) * inverse
        if 0 <= u < last:
            place = int(u)
            rest = (u - place) * straight
            found = [each + rest * (then - each) for each, then in zip(points[place], points[place + 1])]
        else:
            t = _clipped(math.ldexp(x, -int(exponent))) - first
            found = [each - unit for each in outside(t)]
        return [each if each > _NEVER else -math.inf for each in found]

    return _of_column(node["column"], of)


TERMS: dict[str, Callable[[Node, int], Term]] = {
    "category": _category, "counts": _counts, "presence": _presence, "gaussian": _gaussian,
    "silent": _silent, "states": _states, "values or": _values_or, "formula": _formula,
    "bounded formula": _bounded_formula, "curve": _curve,
}  # fmt: skip
