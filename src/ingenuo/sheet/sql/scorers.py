"""From what terms add to answers, as SQL: log joints, posteriors, calibrators, votes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ingenuo.errors import InputError
from ingenuo.families.family import IMPOSSIBLE
from ingenuo.kernels import portable
from ingenuo.sheet.sql.numbers import FARTHEST
from ingenuo.sheet.sql.terms import Node, Texts, Writer, array, case, piecewise

_LARGEST = float(np.finfo(float).max)


@dataclass(frozen=True)
class Answer:
    """How a scorer answers, class by class: expressions that have names."""

    joints: Texts | None  # what classes are compared by, where that is one number
    compared: Texts  # of which the first that is the largest is the class
    shares: Texts  # what probabilities are proportional to
    total: str | None  # the sum of these; None where it is 1
    logs: Callable[[], Texts]  # of the posteriors

    def posteriors(self) -> Texts:
        """The probabilities."""
        return [each if self.total is None else f"{each} / {self.total}" for each in self.shares]


def answer(node: Node, w: Writer) -> Answer:
    """How a scorer answers."""
    if node["op"] not in w.scorers:
        raise InputError(f"a scorer of the kind {node['op']!r} has no SQL; export the model to js or onnx")
    found: Answer = w.scorers[node["op"]](node, w)
    return found


# Posteriors.


def normalise(logs: Texts, w: Writer, joints: Texts | None = None, floored: Texts | None = None) -> Answer:
    """Logarithms that are proportional to probabilities; where none is finite, others instead."""
    q, d = w.query, w.dialect
    top = q.let(d.largest(logs), "top")
    apart = [f"{each} - {top}" for each in logs]
    if floored is not None:
        finite = f"{top} > {w.lit(-_LARGEST)} AND {top} < {w.lit(_LARGEST)}"
        second = q.let(d.largest(floored), "top")
        apart = [case([(finite, a)], f"{b} - {second}") for a, b in zip(apart, floored)]
    apart = q.lets(apart, "apart")
    shares = q.lets((d.exp(each) for each in apart), "share")
    total = q.let(w.add_up(shares, "total"), "total")

    def logs_of() -> Texts:
        below = q.let(f"{d.log}({total})", "log_total")
        return q.lets((f"{each} - {below}" for each in apart), "log")

    return Answer(joints, apart, shares, total, logs_of)


def within(text: str, w: Writer) -> str:
    """A number between those that are very far; what is no number is the least."""
    d, far = w.dialect, w.lit(FARTHEST)
    least = w.lit(-FARTHEST)
    clipped = f"{d.least}({d.most}({text}, {least}), {far})"
    # Where there is no number at all, as of a row that has no answer, there is none of this either.
    ways = [(f"{text} IS NULL", "NULL"), *([(d.is_nan.format(x=text), least)] if d.is_nan else [])]
    return case(ways, clipped)


def _add_terms(node: Node, w: Writer, floor: float | None) -> Texts:
    """The start, and what each term adds, from left to right."""
    start = w.logs(array(node["start"]).tolist(), floor)
    added = w.terms(node["terms"], floor)
    return w.query.lets((w.add_up([own, *(each[k] for each in added)], "sum") for k, own in enumerate(start)), "joint")


def _sum(node: Node, w: Writer) -> Answer:
    joints = _add_terms(node, w, None)
    clipped = w.unbounded and bool(w.dialect.infinity)
    if node.get("limit") and clipped:
        joints = w.query.lets((within(each, w) for each in joints), "joint")
    floored = None
    if w.infinite or (clipped and not node.get("limit")):
        floored = _add_terms(node, w, IMPOSSIBLE) if w.infinite else joints
        if clipped:
            floored = w.query.lets((within(each, w) for each in floored), "possible")
    found = normalise(joints, w, joints, floored)
    calibrate = node.get("calibrate")
    if not calibrate or calibrate["kind"] == "none":
        return found
    return replace(calibrated(calibrate, found.logs(), w.lengths(node["terms"]), w), joints=joints)


# Calibrators.


def calibrated(node: Node, logs: Texts, length: str | None, w: Writer) -> Answer:
    """Log posteriors as a calibrator makes them, as models/calibration.py has it."""
    groups = [int(each) for each in node["groups"]]
    if not groups:
        return _calibrated(node, logs, length, w)
    q, d = w.query, w.dialect
    own = [[log for log, each in zip(logs, groups) if each == group] for group in range(max(groups) + 1)]
    pooled = [each[0] if len(each) == 1 else _pool(each, w) for each in own]
    found = _calibrated(node, pooled, length, w).logs()
    within_group = []
    for log, group in zip(logs, groups):
        if len(own[group]) == 1:
            within_group.append(found[group])
            continue
        even = w.lit(-portable.log(float(len(own[group]))))
        rest = case([(f"{pooled[group]} < {w.lit(-_LARGEST)}", even)], f"{log} - {pooled[group]}")
        within_group.append(q.let(f"{found[group]} + {rest}", "log"))
    shares = q.lets((d.exp(each) for each in within_group), "share")
    return Answer(None, within_group, shares, None, lambda: within_group)


def _pool(logs: Texts, w: Writer) -> str:
    """log Σ exp."""
    d, q = w.dialect, w.query
    top = q.let(d.largest(logs), "top")
    some = f"{top} > {w.lit(-_LARGEST)}"
    apart = q.lets((case([(some, f"{each} - {top}")], w.lit(0.0)) for each in logs), "apart")
    total = w.add_up([f"({d.exp(each)})" for each in apart], "total")
    return q.let(case([(some, f"{d.log}({q.let(total, 'total')}) + {top}")], top), "pooled")


def _calibrated(node: Node, logs: Texts, length: str | None, w: Writer) -> Answer:
    q, d, K = w.query, w.dialect, len(logs)
    scaled = _below_top(logs, w)
    scale = node["scale"]
    if scale is not None:
        assert length is not None, "a calibrator by lengths is of columns that have some"
        log = f"{d.log}(({w.lit(1.0)} + {length}) / {w.lit(scale['typical'])})"
        by = q.let(f"EXP({w.lit(scale['exponent'])} * {log})", "by_length")
        priors = [float(each) for each in scale["prior"]] or [0.0] * K
        scaled = _below_top(
            q.lets((f"({a} - {w.lit(b)}) / {by} + {w.lit(b)}" for a, b in zip(scaled, priors)), "scaled"), w
        )
    slope = float(node["slope"])
    if slope == 0:
        stretched = [case([(f"{each} > {w.lit(-_LARGEST)}", w.lit(0.0))], each) for each in scaled]
    else:
        stretched = [f"({d.times(each, slope)})" for each in scaled]
    shifts = array(node["shifts"]).tolist()
    found = normalise(q.lets((f"{a} + {w.lit(b)}" for a, b in zip(stretched, shifts)), "shifted"), w)
    curves = node["curves"]
    return _by_curves(found, curves, w) if len(curves) else found


def _below_top(logs: Texts, w: Writer) -> Texts:
    top = w.query.let(w.dialect.largest(logs), "top")
    return w.query.lets((f"{each} - {top}" for each in logs), "apart")


def _by_curves(found: Answer, curves: Sequence[Sequence[Any]], w: Writer) -> Answer:
    """The probabilities that rising curves of the log odds have."""
    q, d, K = w.query, w.dialect, len(found.shares)
    if K == 2:
        log = found.logs()
        odds = q.let(f"{log[1]} - {log[0]}", "log_odds")
        second = q.let(_interpolate(odds, curves[0], w), "p")
        shares = [q.let(f"{w.lit(1.0)} - {second}", "p"), second]
    else:
        shares = q.lets((_interpolate(each, own, w) for each, own in zip(_log_odds(found, w), curves)), "p")
    total = q.let(w.add_up(shares, "total"), "total")

    def logs_of() -> Texts:
        below = q.let(f"{d.log}({total})", "log_total")
        return q.lets((f"{d.log}({each}) - {below}" for each in shares), "log")

    return Answer(None, shares, shares, total, logs_of)


def _interpolate(x: str, curve: Sequence[Any], w: Writer) -> str:
    """Straight lines between rising knots, level beyond them."""
    knots, values = (array(each).tolist() for each in curve)
    pieces = [w.lit(values[0])]
    for (a, b), (low, high) in zip(pairwise(knots), pairwise(values)):
        slope = (high - low) / (b - a)
        pieces.append(w.lit(low) if slope == 0 else f"{w.lit(slope)} * ({x} - {w.lit(a)}) + {w.lit(low)}")
    pieces.append(w.lit(values[-1]))
    return piecewise(x, [w.lit(each) for each in knots], pieces)


def _log_odds(found: Answer, w: Writer) -> Texts:
    """log p_k - log of the sum of all others; of the first of the largest, that sum is added up by itself."""
    q, d = w.query, w.dialect
    logs = _below_top(found.logs(), w)
    powers = q.lets((d.exp(each) for each in logs), "power")
    total = q.let(w.add_up(powers, "total"), "total")
    tops = []
    for k, log in enumerate(logs):
        first = [f"{each} < {w.lit(0.0)}" for each in logs[:k]]
        tops.append(" AND ".join([f"{log} = {w.lit(0.0)}", *first]))
    result = []
    for k, log in enumerate(logs):
        others = [each for j, each in enumerate(logs) if j != k]
        runner = q.let(d.largest(others), "runner")
        safe = q.let(case([(f"{runner} > {w.lit(-_LARGEST)}", runner)], w.lit(0.0)), "runner")
        rest = w.add_up([f"({d.exp(f'({each} - {safe})')})" for each in others], "rest")
        rest = q.let(rest, "rest")
        infinite = w.lit(math.inf) if d.infinity else w.lit(FARTHEST)
        own = case([(f"{rest} > {w.lit(0.0)}", f"-({safe} + {d.log}({rest}))")], infinite)
        less = q.let(f"{total} - {powers[k]}", "rest")
        other = case([(f"{less} > {w.lit(0.0)}", f"{log} - {d.log}({less})")], infinite)
        result.append(q.let(case([(tops[k], own)], other), "log_odds"))
    return result


# Votes.


def _of_member(member: Node, w: Writer) -> Answer:
    """How a member answers; an error names it."""
    labels = [str(each) for each in member["classes"]]
    own = replace(w, n_classes=len(labels), labels=labels, infinite=False, unbounded=False)
    try:
        return answer(member["scorer"], own)
    except InputError as refused:
        error = InputError(f"the member {member['name']!r} of the vote is not to be had in SQL: {refused}")
        error.typed = refused.typed
        raise error from None


def _at_least(log: str, least: str) -> str:
    """The larger of two; of nothing nothing, where most databases would take the other."""
    return case([(f"{log} < {least}", least)], log)


def _vote(node: Node, w: Writer) -> Answer:
    q = w.query
    least = w.lit(node["least"])
    pooled = w.logs(array(node["shifts"]).tolist(), None)
    for member in node["members"]:
        logs = _of_member(member, w).logs()
        heard = [least if at < 0 else q.let(_at_least(logs[at], least), "heard") for at in member["at"]]
        weight = w.lit(member["weight"])
        pooled = [f"{sum_} + {weight} * {each}" for sum_, each in zip(pooled, heard)]
    pooled = q.lets(pooled, "pooled")
    return normalise(pooled, w, pooled)


def _average(node: Node, w: Writer) -> Answer:
    """The posteriors of members, each times its weight."""
    q = w.query
    total = [w.lit(0.0)] * w.n_classes
    for member in node["members"]:
        own = q.lets(_of_member(member, w).posteriors(), "p")
        weight = w.lit(member["weight"])
        total = [each if at < 0 else f"{each} + {weight} * {own[at]}" for each, at in zip(total, member["at"])]
    shares = q.lets(total, "share")
    logs = [case([(f"{each} > {w.lit(0.0)}", f"{w.dialect.log}({each})")], w.lit(-math.inf)) for each in shares]
    return Answer(None, shares, shares, None, lambda: q.lets(logs, "log"))


SCORERS: dict[str, Callable[[Node, Writer], Answer]] = {"sum": _sum, "vote": _vote, "average": _average}
