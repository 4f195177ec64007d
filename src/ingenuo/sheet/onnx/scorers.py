"""From what terms add to answers, as operations of ONNX: log joints, posteriors, calibrators, votes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ingenuo.errors import InputError
from ingenuo.families.family import IMPOSSIBLE
from ingenuo.kernels import portable
from ingenuo.sheet.onnx import tables
from ingenuo.sheet.onnx.graph import INTEGER
from ingenuo.sheet.onnx.terms import FARTHEST, Node, Writer, array, floored


@dataclass(frozen=True)
class Answer:
    """How a scorer answers: tensors (n, classes)."""

    joint: str | None  # where there is one
    compared: str  # of which the first that is the largest is the class
    posterior: str
    logs: str  # of the posterior


def answer(node: Node, w: Writer) -> Answer:
    """How a scorer answers."""
    if node["op"] in _REFUSED:
        raise InputError(f"{_REFUSED[node['op']]}; export the model to js")
    if node["op"] not in SCORERS:
        raise InputError(f"a scorer of the kind {node['op']!r} has no ONNX; export the model to js")
    return SCORERS[node["op"]](node, w)


_OUT = "integrates values out that are missing, by other matrices for each case, which ONNX cannot"
_REFUSED = {
    "network": "a network sums over what is missing, which ONNX cannot",
    "least squares": f"least squares {_OUT}",
}


# Posteriors.


def _normalise(joint: str, compared: str, w: Writer) -> Answer:
    """The posterior of logarithms of which one at least is finite."""
    g = w.graph
    apart = g.sub(compared, g.top(compared))
    shares = g.op("Exp", apart)
    total = _total(shares, w)
    return Answer(joint, compared, g.op("Div", shares, total), g.sub(apart, g.op("Log", total)))


def _total(x: str, w: Writer) -> str:
    """The sum over the classes, in their order, where these are few."""
    g, K = w.graph, w.n_classes
    if K > 32:
        return g.total(x, 1, keep=True)
    return w.sum([g.op("Gather", x, g.integer([k]), axis=1) for k in range(K)])


def _within(joint: str, w: Writer) -> str:
    """A joint by which rows that no class allows, or that are beyond the doubles, can be answered."""
    g, d = w.graph, w.graph.double
    return w.clip(g.where(g.op("IsNaN", joint), d(-FARTHEST), joint), FARTHEST)


def _or_possible(joint: str, possible: str, w: Writer) -> str:
    """The joint; where no class has a finite one, another."""
    g, top = w.graph, w.graph.top(joint)
    finite = g.op("And", g.op("Greater", top, g.double(-math.inf)), g.op("Less", top, g.double(math.inf)))
    return g.where(finite, joint, _within(possible, w))


def _by_joint(of: Callable[[float | None], str], w: Writer) -> Answer:
    joint = of(None)
    return _normalise(joint, _or_possible(joint, of(IMPOSSIBLE), w), w)


def _add_up(start: Any, added: Sequence[str], w: Writer, floor: float | None) -> str:
    """The start, and what each term adds, from left to right; of each row."""
    g, name = w.graph, next(iter(w.graph.inputs))
    n = g.op("Gather", g.op("Shape", name), g.integer([0]), axis=0)
    shape = g.op("Concat", n, g.integer([w.n_classes]), axis=0)
    return w.sum([g.op("Expand", g.double([floored(start, floor)]), shape), *added])


def _sum(node: Node, w: Writer) -> Answer:
    def joint(floor: float | None) -> str:
        found = _add_up(node["start"], w.terms(node["terms"], floor), w, floor)
        return _within(found, w) if node.get("limit") else found

    found = _by_joint(joint, w)
    calibrate = node.get("calibrate")
    if not calibrate or calibrate["kind"] == "none":
        return found
    logs = _calibrated(calibrate, found.logs, w.length(node["terms"]), w)
    return replace(found, compared=logs, logs=logs, posterior=w.graph.op("Exp", logs))


# Calibrators, as models/calibration.py has them.


def _calibrated(node: Node, logs: str, length: str | None, w: Writer) -> str:
    groups = [int(each) for each in node["groups"]]
    if not groups:
        return _calibrated_classes(node, logs, length, w)
    g, d = w.graph, w.graph.double
    sizes = np.bincount(groups)
    places = [g.integer([k for k, own in enumerate(groups) if own == group]) for group in range(len(sizes))]
    each = [g.op("Gather", logs, own, axis=1) for own in places]
    pooled = g.join([own if n == 1 else w.log_total(own, 1) for own, n in zip(each, sizes)])
    inner = replace(w, n_classes=len(sizes))
    found = _calibrated_classes(node, pooled, length, inner)
    of_class = g.integer(groups)
    mine, above = (g.op("Gather", own, of_class, axis=1) for own in (found, pooled))
    even = d([[-float(portable.log(float(sizes[group]))) for group in groups]])
    impossible = g.op("Equal", above, d(-math.inf))
    return g.add(mine, g.where(impossible, even, g.sub(logs, g.where(impossible, d(0.0), above))))


def _below_top(z: str, w: Writer) -> str:
    return w.graph.sub(z, w.graph.top(z))


def _calibrated_classes(node: Node, logs: str, length: str | None, w: Writer) -> str:
    g, d, K = w.graph, w.graph.double, w.n_classes
    found, scale, slope = _below_top(logs, w), node["scale"], float(node["slope"])
    if scale is not None:
        assert length is not None, "a calibrator by lengths is of columns that have some"
        grown = g.op("Div", g.add(d(1.0), length), d(float(scale["typical"])))
        by = g.op("Exp", g.mul(d(float(scale["exponent"])), g.op("Log", grown)))
        prior = d([array(scale["prior"]) if len(scale["prior"]) else np.zeros(K)])
        found = _below_top(g.add(g.op("Div", g.sub(found, prior), by), prior), w)
    found = g.mul(found, d(slope)) if slope else g.where(g.op("IsInf", found), found, d(0.0))
    found = _below_top(g.add(found, d([array(node["shifts"])])), w)
    found = g.sub(found, g.op("Log", _total(g.op("Exp", found), w)))
    curves = node["curves"]
    if not len(curves):
        return found
    if K == 2:
        one, two = (g.op("Gather", found, g.integer([k]), axis=1) for k in (0, 1))
        second = _interpolate(g.sub(two, one), curves[0], w)
        shares = g.join([g.sub(d(1.0), second), second])
    else:
        odds = _log_odds(found, w)
        each = [g.op("Gather", odds, g.integer([k]), axis=1) for k in range(K)]
        shares = g.join([_interpolate(own, curve, w) for own, curve in zip(each, curves)])
    return g.sub(g.op("Log", shares), g.op("Log", _total(shares, w)))


def _log_odds(z: str, w: Writer) -> str:
    """log p_k - log of the sum of all others, for each class; of the largest by the others themselves."""
    g, d, K = w.graph, w.graph.double, w.n_classes
    below = _below_top(z, w)
    powers = g.op("Exp", below)
    odds = g.sub(below, g.op("Log", g.sub(_total(powers, w), powers)))
    best = g.op("ArgMax", z, axis=1, keepdims=1)
    is_best = g.op("Equal", best, g.integer([list(range(K))]))
    runner = w.finite(g.top(g.where(is_best, d(-math.inf), below)))
    others = g.where(is_best, d(0.0), g.op("Exp", g.sub(below, runner)))
    return g.where(is_best, g.op("Neg", g.add(runner, g.op("Log", _total(others, w)))), odds)


def _interpolate(x: str, curve: Any, w: Writer) -> str:
    """Straight lines between rising knots, level beyond them."""
    g, d = w.graph, w.graph.double
    knots, values = (array(each) for each in curve)
    if len(knots) == 1:
        return g.where(g.op("IsNaN", x), d(float(values[0])), d(float(values[0])))
    last = len(knots) - 1
    slopes = (values[1:] - values[:-1]) / (knots[1:] - knots[:-1])
    below = g.total(g.cast(g.op("LessOrEqual", d([knots]), x), INTEGER), 1, keep=True)
    at = g.op("Min", g.op("Max", g.sub(below, g.integer(1)), g.integer(0)), g.integer(last - 1))
    slope, knot, value = (g.op("Gather", d(each), at, axis=0) for each in (slopes, knots[:-1], values[:-1]))
    found = g.add(g.mul(slope, g.sub(x, knot)), value)
    found = g.where(g.op("GreaterOrEqual", x, d(float(knots[-1]))), d(float(values[-1])), found)
    return g.where(g.op("GreaterOrEqual", x, d(float(knots[0]))), found, d(float(values[0])))


# Votes.


def _members(node: Node, w: Writer) -> list[tuple[Node, Answer]]:
    """The members of a vote, and how each answers."""
    found = []
    for member in node["members"]:
        try:
            own = answer(member["scorer"], replace(w, n_classes=len(member["classes"])))
        except InputError as error:
            raise InputError(f"the member {member['name']!r} of the vote: {error}") from None
        found.append((member, own))
    return found


def _over_classes(of: str, member: Node, rest: float, w: Writer) -> str:
    """What a member says of the classes of a vote; of those that it does not know, something else."""
    at = np.asarray(member["at"], np.int64)
    if np.array_equal(at, np.arange(len(member["classes"]))):
        return of
    g = w.graph
    found = g.op("Gather", of, g.integer(np.maximum(at, 0)), axis=1)
    return g.where(g.constant((at < 0)[np.newaxis]), g.double(rest), found) if (at < 0).any() else found


def _vote(node: Node, w: Writer) -> Answer:
    g, d, least = w.graph, w.graph.double, float(node["least"])
    added = []
    for member, own in _members(node, w):
        heard = g.op("Max", _over_classes(own.logs, member, least, w), d(least))
        added.append(g.mul(d(float(member["weight"])), heard))
    joint = _add_up(node["shifts"], added, w, None)
    return _normalise(joint, joint, w)


def _average(node: Node, w: Writer) -> Answer:
    g, d = w.graph, w.graph.double
    said = [(member, _over_classes(own.posterior, member, 0.0, w)) for member, own in _members(node, w)]
    posterior = w.sum([g.mul(d(float(member["weight"])), own) for member, own in said])
    logs = g.op("Log", posterior)
    return Answer(logs, posterior, posterior, logs)


# Networks and discriminants.


def _averaged(node: Node, w: Writer) -> Answer:
    return _by_joint(lambda floor: tables.averaged(node, w, floor), w)


def _back_off(node: Node, w: Writer) -> Answer:
    return _by_joint(lambda floor: _add_up(node["start"], w.terms(node["terms"], floor), w, floor), w)


def _discriminant(node: Node, w: Writer) -> Answer:
    """A discriminant of features, which are there even where values are missing."""
    if node["design"] is None:
        raise InputError(f"a discriminant {_OUT}; export the model to js")
    g, term = w.graph, node["term"]
    x = tables.features(node["design"], tables.FARTHEST, w)

    def tempered(found: str, floor: float | None) -> str:
        return g.add(g.mul(found, g.double(float(node["temperature"]))), g.double([floored(node["start"], floor)]))

    of_density = tables.density_of_features(x, term, w)
    joint, compared = tempered(of_density, None), tempered(of_density, None)
    if node["lines"] is not None:
        compared = tempered(tables.lines(x, term["centre"], node["lines"], w), None)
    return _normalise(joint, _or_possible(compared, tempered(of_density, IMPOSSIBLE), w), w)


SCORERS: Mapping[str, Callable[[Node, Writer], Answer]] = {
    "sum": _sum, "vote": _vote, "average": _average, "averaged": _averaged, "back-off": _back_off,
    "discriminant": _discriminant,
}  # fmt: skip
