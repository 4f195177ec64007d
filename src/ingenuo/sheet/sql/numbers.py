"""What columns of numbers add to the log joint of each class, as SQL: Gaussians, states, formulas, tabulated curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ingenuo.families.positive import log_gamma
from ingenuo.kernels import portable
from ingenuo.sheet.sql.terms import LARGEST, Floats, Node, Term, Texts, Writer, array, by_value, case, piecewise

FARTHEST = 1e300  # a square; and
DEVIATIONS = 1e150  # its root
NEVER = -1e299  # less than this in a table is log 0
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def _ordered(x: float) -> int:
    """A double as a whole number: larger ones are larger."""
    bits = int(np.float64(x).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _double(place: int) -> float:
    bits = np.int64(abs(place))
    return math.copysign(float(bits.view(np.float64)), place)


def first_double(holds: Callable[[float], bool]) -> float | None:
    """The least finite double of which something holds that holds of all larger ones as well; None of none."""
    largest = float(np.finfo(float).max)
    low, high = _ordered(-largest) - 1, _ordered(largest)
    if not holds(largest):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if holds(_double(middle)):
            high = middle
        else:
            low = middle
    return _double(high)


def bell(x: str, node: Node, w: Writer, floor: float | None) -> Texts:
    """The log densities of Gaussians at a number."""
    d, found = w.dialect, []
    for mean, inverse, constant in zip(*(array(node[name]).tolist() for name in ("means", "inverse", "constants"))):
        apart, own = f"({x} - {w.lit(mean)})", w.log(constant, floor)
        z = f"({apart} * {w.lit(inverse)})"
        if not d.strict:
            found.append(f"{own} - {w.lit(0.5)} * {d.least}({z} * {z}, {w.lit(FARTHEST)})")
            continue
        # Beyond these bounds the square is the largest there is, or too small to change anything.
        high = first_double(lambda x, m=mean, i=inverse: x > m and ((x - m) * i) >= DEVIATIONS)  # type: ignore[misc]
        low = first_double(lambda x, m=mean, i=inverse: x > m or ((x - m) * i) > -DEVIATIONS)  # type: ignore[misc]
        far = [f"{x} >= {w.lit(high)}"] if high is not None else []
        far += [f"{x} < {w.lit(low)}"] if low is not None and low > -np.finfo(float).max else []
        ways = [(" OR ".join(far), f"{own} - {w.lit(0.5 * FARTHEST)}")] if far else []
        ways.append((f"ABS{apart} < {w.lit(1e-150 / inverse)}", own))
        found.append(case(ways, f"{own} - {w.lit(0.5)} * ({z} * {z})"))
    return found


def unless_missing(x: str, added: Texts, w: Writer) -> list[Texts]:
    """What a number adds; what is missing adds nothing."""
    return [[f"({case([(f'{x} IS NULL', w.lit(0.0))], each)})" for each in added]]


def _gaussian(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    x = w.number(node["column"])
    return unless_missing(x, bell(x, node, w, floor), w)


def _nothing(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    return []


def _states(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """Whole numbers from `low` on have their points; any other number, if there may be any, a Gaussian."""
    x, points = w.number(node["column"]), array(node["points"])
    own = [w.logs(each, floor) for each in points]
    values = [w.lit(float(node["low"]) + place) for place in range(len(points))]
    hint, zeros = w.name(node["column"]), [w.lit(0.0)] * w.n_classes
    if node["means"] is None:
        return [[f"({each})" for each in by_value(x, values, own, zeros, w, hint)]]
    return unless_missing(x, by_value(x, values, own, bell(x, node, w, floor), w, hint), w)


def _values_or(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """Values that are states, and a formula for all others."""
    x, logs = w.number(node["column"]), array(node["logs"])
    n, hint = len(node["values"]), w.name(node["column"])
    possible, found = density(x, node["others"], w, hint)
    infinity = w.log(-math.inf, floor)
    rest = [f"{w.lit(own)} + ({each})" for own, each in zip(logs[n].tolist(), found)]
    rest = [case([(possible, _floored(each, w, floor))], infinity) for each in rest]
    values = [w.lit(float(each)) for each in node["values"]]
    return unless_missing(x, by_value(x, values, [w.logs(each, floor) for each in logs[:n]], rest, w, hint), w)


def _floored(text: str, w: Writer, floor: float | None) -> str:
    return text if floor is None else w.dialect.largest([text, w.lit(floor)])


def _formula(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    x = w.number(node["column"])
    possible, found = density(x, node, w, w.name(node["column"]))
    infinity = w.log(-math.inf, floor)
    return unless_missing(x, [case([(possible, _floored(each, w, floor))], infinity) for each in found], w)


def _bounded_formula(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """A formula by which what is impossible, or farther out than any value, says little."""
    x, least = w.number(node["column"]), w.lit(-700.0)
    possible, found = density(x, node, w, w.name(node["column"]))
    return unless_missing(x, [case([(possible, w.dialect.largest([each, least]))], least) for each in found], w)


# Formulas: the logarithms of their parameters are constants, those of the numbers are the database's own.


def density(x: str, node: Node, w: Writer, hint: str) -> tuple[str, Texts]:
    """Where a number is possible, and the log density of each class there."""
    name, first = node["name"], float(node["first"])
    values = [array(each).tolist() for each in node["values"]]
    possible = f"{x} > {w.lit(0.0)}" if name in ("log-normal", "gamma") else f"{x} >= {w.lit(first)}"
    if name in ("poisson", "negative-binomial"):
        possible += f" AND {x} = {w.dialect.whole}({x}) AND {x} <= {w.lit(LARGEST)}"
    possible = f"({possible})"
    # Of what is impossible the formula is not asked, but some databases compute it all the same.
    at = w.query.let(f"CASE WHEN {possible} THEN {x} - {w.lit(first)} ELSE {w.lit(1.0)} END", hint)
    return possible, FORMULAS[name](at, values, w, hint)


def _log_of(x: str, w: Writer, hint: str) -> str:
    return w.query.let(f"{w.dialect.log}({x})", f"log_{hint}")


def _log_normal(x: str, values: Sequence[Sequence[float]], w: Writer, hint: str) -> Texts:
    log, found = _log_of(x, w, hint), []
    for mean, deviation in zip(*values):
        apart = w.query.let(f"{log} - {w.lit(mean)}", hint)
        square = square_of(w.dialect.over(apart, deviation), w, hint)
        less = w.lit(-portable.log(deviation))
        found.append(f"-{log} + {less} - {w.lit(_HALF_LOG_2PI)} - {w.lit(0.5)} * {square}")
    return found


def _over(x: str, scale: float, w: Writer) -> str:
    """A number that is not negative, divided; no more than what is very far."""
    d = w.dialect
    plain = f"{x} / {w.lit(scale)}"
    most = scale * DEVIATIONS
    if d.strict and math.isfinite(most):
        ways = [(f"{x} >= {w.lit(most)}", w.lit(DEVIATIONS)), (f"{x} < {w.lit(scale * 1e-300)}", w.lit(0.0))]
        return case(ways, plain)
    return plain if d.strict else f"{d.least}({plain}, {w.lit(DEVIATIONS)})"


def _gamma(x: str, values: Sequence[Sequence[float]], w: Writer, hint: str) -> Texts:
    log, found = _log_of(x, w, hint), []
    for k, scale in zip(*values):
        constant = float(log_gamma(np.array([k]))[0]) + k * portable.log(scale)
        found.append(f"{w.lit(k - 1)} * {log} - {_over(x, scale, w)} - {w.lit(constant)}")
    return found


def _exponential(x: str, values: Sequence[Sequence[float]], w: Writer, hint: str) -> Texts:
    return [f"-({_over(x, scale, w)}) - {w.lit(portable.log(scale))}" for scale in values[0]]


def _log_gamma(x: str, w: Writer, hint: str) -> str:
    """log Γ by its series, as families/positive.py has it."""
    q, one, eight = w.query, w.lit(1.0), w.lit(8.0)
    x = q.let(x, hint)
    y = q.let(f"CASE WHEN {x} < {eight} THEN {x} + {eight} ELSE {x} END", hint)
    factors = " * ".join([x, *(f"({x} + {w.lit(float(step))})" for step in range(1, 8))])
    product = q.let(f"CASE WHEN {x} < {eight} THEN {factors} ELSE {one} END", hint)
    z = q.let(f"{one} / ({y} * {y})", hint)
    series = w.lit(691 / 360360)
    for below in (1188, 1680, 1260, 360, 12):
        series = f"({w.lit(1 / below)} - {z} * {series})"
    log = w.dialect.log
    whole = f"({y} - {w.lit(0.5)}) * {log}({y}) - {y} + {w.lit(_HALF_LOG_2PI)} + {series} / {y} - {log}({product})"
    return q.let(whole, f"log_gamma_{hint}")


def _poisson(x: str, values: Sequence[Sequence[float]], w: Writer, hint: str) -> Texts:
    less = _log_gamma(f"({x} + {w.lit(1.0)})", w, hint)
    return [f"{x} * {w.lit(portable.log(mean))} - {w.lit(mean)} - {less}" for mean in values[0]]


def _negative_binomial(x: str, values: Sequence[Sequence[float]], w: Writer, hint: str) -> Texts:
    found = []
    for mean, r in zip(*values):
        if r == math.inf:
            found += _poisson(x, [[mean]], w, hint)
            continue
        grown = _log_gamma(f"({x} + {w.lit(r)})", w, hint)
        own, less = float(log_gamma(np.array([r]))[0]), _log_gamma(f"({x} + {w.lit(1.0)})", w, hint)
        share = portable.log(mean) - portable.log(mean + r)
        level = r * portable.log1p(mean / r)
        found.append(f"({grown} - {w.lit(own)} - {less} - {w.lit(level)} + {x} * {w.lit(share)})")
    return found


FORMULAS: dict[str, Callable[[str, Sequence[Sequence[float]], Writer, str], Texts]] = {
    "log-normal": _log_normal, "gamma": _gamma, "exponential": _exponential, "poisson": _poisson,
    "negative-binomial": _negative_binomial,
}  # fmt: skip


# Tabulated curves.


def _curve(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """Straight or level between the points of a table, and what is beyond it."""
    x, points, hint = w.number(node["column"]), array(node["points"]), w.name(node["column"])
    scale, more, origin, inverse = (float(node[name]) for name in ("scale", "more", "origin", "inverse"))

    def position(at: float) -> float:
        return (at * scale * more - origin) * inverse

    last = len(points) - 1
    low, high = (first_double(lambda at, n=n: position(at) >= n) for n in (0, last))  # type: ignore[misc]
    t = _clipped_position(x, node, w, hint)
    beyond = BEYOND[node["beyond"]["op"]](t, node["beyond"], w, hint)
    outside = [_floored(f"({each} - {w.lit(node['unit'])})", w, floor) for each in beyond]
    if node["beyond"].get("smoothing", {}).get("imagined") == 0:
        outside = [_never(each, w, floor) for each in outside]
    if low is None:
        return unless_missing(x, outside, w)
    inside = f"{x} >= {w.lit(low)}" + (f" AND {x} < {w.lit(high)}" if high is not None else "")
    if node["straight"]:
        within = _straight(x, inside, points, (scale, more, origin, inverse), w, floor, hint)
    else:
        within = _level(x, points, position, w, floor)
    return unless_missing(x, [case([(inside, a)], b) for a, b in zip(within, outside)], w)


def _straight(
    x: str, inside: str, points: Floats, steps: Sequence[float], w: Writer, floor: float | None, hint: str
) -> Texts:
    """Straight lines between the points, by a table."""
    d, q = w.dialect, w.query
    scale, more, origin, inverse = steps
    moved = q.let(d.times(x, scale), hint) if scale != 1 else x
    moved = q.let(d.times(moved, more), hint) if more != 1 else moved
    u = q.let(f"CASE WHEN {inside} THEN ({moved} - {w.lit(origin)}) * {w.lit(inverse)} END", hint)
    place = q.let(f"CAST(FLOOR({u}) AS {d.integer})", f"{hint}_place")
    logs = [w.logs(np.maximum(each, -FARTHEST), floor) for each in points]
    if d.arrays:
        first = q.let(f"CAST({place} + 1 AS INT)", hint)
        pairs = q.lets([f"SLICE(ARRAY({', '.join(column)}), {first}, 2)" for column in zip(*logs)], hint)
        here, following = ([f"ELEMENT_AT({pair}, {which})" for pair in pairs] for which in (1, 2))
    else:
        names = [f"l{k}" for k in range(w.n_classes)]
        table = q.constants(["place", *names], ([str(at), *each] for at, each in enumerate(logs)), f"curve_{hint}")
        here = q.join(table, [(place, "place")], names, hint)
        following = q.join(table, [(q.let(f"{place} + 1", hint), "place")], names, hint)
    found = [f"{a} + ({u} - {place}) * ({b} - {a})" for a, b in zip(here, following)]
    return found if points.min() > NEVER else [_never(each, w, floor) for each in found]


def _never(text: str, w: Writer, floor: float | None) -> str:
    """What is less than any logarithm is log 0."""
    if floor is not None:
        return text
    return case([(f"{text} > {w.lit(NEVER)}", text)], w.log(-math.inf, None))


def _level(x: str, points: Floats, position: Callable[[float], float], w: Writer, floor: float | None) -> Texts:
    """Level between the points: neighbours that are equal are one piece."""
    own = np.where(points > NEVER, points, -np.inf)[:-1]
    starts = np.flatnonzero(np.any(own[1:] != own[:-1], axis=1)) + 1
    edges = [first_double(lambda at, n=n: position(at) >= n) for n in starts.tolist()]  # type: ignore[misc]
    known = [(edge, start) for edge, start in zip(edges, starts.tolist()) if edge is not None]
    pieces = [w.logs(own[at], floor) for at in [0, *(start for _, start in known)]]
    cuts = [w.lit(edge) for edge, _ in known]
    return [piecewise(x, cuts, [piece[k] for piece in pieces]) for k in range(w.n_classes)]


def _clipped_position(x: str, node: Node, w: Writer, hint: str) -> str:
    """Where a number stands in the histogram, no farther than is far."""
    exponent = int(node["exponent"])
    reach = DEVIATIONS * 2.0 ** min(max(exponent, -1500), 500) if exponent < 500 else math.inf
    step = w.query.let(x, hint)
    left = -exponent
    while left:
        part = max(min(left, 1000), -1000)
        step = w.query.let(w.dialect.times(step, 2.0**part), hint)
        left -= part
    ways = []
    if reach < np.finfo(float).max:
        ways = [(f"{x} > {w.lit(reach)}", w.lit(DEVIATIONS)), (f"{x} < {w.lit(-reach)}", w.lit(-DEVIATIONS))]
    clipped = case(ways, step) if ways else step
    return w.query.let(f"({clipped}) - {w.lit(node['first'])}", f"{hint}_at")


def square_of(z: str, w: Writer, hint: str) -> str:
    """The square of a number of deviations, no larger than the largest there is; of nothing nothing."""
    z = w.query.let(z, f"{hint}_z")
    ways = [(f"ABS({z}) >= {w.lit(DEVIATIONS)}", w.lit(FARTHEST))]
    ways += [(f"ABS({z}) < {w.lit(1 / DEVIATIONS)}", w.lit(0.0))] if w.dialect.strict else []
    return f"({case(ways, f'{z} * {z}')})"


def _log_sum(a: str, b: str, w: Writer, hint: str) -> str:
    """log(exp(a) + exp(b)), of b that is finite."""
    d, q = w.dialect, w.query
    a, b = q.let(a, hint), q.let(b, hint)
    most = d.largest([a, b])
    apart = q.let(f"CASE WHEN {a} < {b} THEN {a} - {b} ELSE {b} - {a} END", hint)
    return f"{most} + {d.log}({w.lit(1.0)} + {d.exp(apart)})"


def _smoothed(own: Texts, t: str, smoothing: Node, w: Writer, hint: str) -> Texts:
    """With imaginary values around the whole column."""
    if smoothing["imagined"] == 0:
        return own
    d = w.dialect
    apart = w.query.let(f"{t} - {w.lit(smoothing['middle'])}", hint)
    square = square_of(d.over(apart, float(smoothing["scale"])), w, hint)
    background = w.query.let(f"{w.lit(smoothing['peak'])} - {d.log}({w.lit(1.0)} + {square})", hint)
    logs, logs_with = array(smoothing["logs"]).tolist(), array(smoothing["logs_with"]).tolist()
    imagined = float(smoothing["log_imagined"])
    return [
        _log_sum(
            f"({each}) + {w.lit(n)} - {w.lit(m)}", f"{background} + {w.lit(imagined)} - {w.lit(m)}", w, hint
        )
        for each, n, m in zip(own, logs, logs_with)
    ]  # fmt: skip


def _beyond_level(t: str, node: Node, w: Writer, hint: str) -> Texts:
    (low, high), (first, last) = array(node["edges"]).tolist(), array(node["widths"]).tolist()
    d, zero = w.dialect, w.lit(0.0)
    below, above = w.query.lets((f"{w.lit(low)} - {t}", f"{t} - {w.lit(high)}"), hint)
    far = d.largest([d.over(below, first), d.over(above, last), zero])
    log = w.query.let(f"{w.lit(2.0)} * {d.log}({w.lit(1.0)} + {far})", hint)
    first_half = f"{t} < {w.lit((low + high) / 2)}"
    levels = array(node["levels"])
    return [f"{case([(first_half, w.log(a, None))], w.log(b, None))} - {log}" for a, b in levels.T.tolist()]


def _beyond_kernel(t: str, node: Node, w: Writer, hint: str) -> Texts:
    ends, counts = array(node["ends"]), array(node["counts"])
    below, found = f"{t} < {w.lit(node['middle'])}", []
    rows = zip(ends.T.tolist(), counts.T.tolist(), *(array(node[n]).tolist() for n in ("widths", "peaks", "totals")))
    for (a, b), (few, many), width, peak, total in rows:
        apart = w.query.let(f"{t} - {case([(below, w.lit(a))], w.lit(b))} - {w.lit(0.5)}", hint)
        own = case([(below, w.lit(few))], w.lit(many))
        square = square_of(w.dialect.over(apart, width), w, hint)
        found.append(f"{own} - {w.lit(0.5)} * {square} - {w.lit(peak)} - {w.lit(total)}")
    return _smoothed(found, t, node["smoothing"], w, hint)


def _beyond_mixture(t: str, node: Node, w: Writer, hint: str) -> Texts:
    d, q, found = w.dialect, w.query, []
    for each in node["components"]:
        rows = zip(*(array(each[name]).tolist() for name in ("means", "deviations", "constants")))
        terms = []
        for mean, deviation, constant in rows:
            square = square_of(d.over(q.let(f"{t} - {w.lit(mean)}", hint), deviation), w, hint)
            terms.append(q.let(f"{w.log(constant, None)} - {w.lit(0.5)} * {square}", hint))
        top = q.let(d.largest(terms), hint)
        total = q.let(" + ".join(f"({d.exp(f'({term} - {top})')})" for term in terms), hint)
        found.append(f"{d.log}({total}) + {top}")
    return _smoothed(found, t, node["smoothing"], w, hint)


BEYOND: dict[str, Callable[[str, Node, Writer, str], Texts]] = {
    "level": _beyond_level, "kernel": _beyond_kernel, "mixture": _beyond_mixture,
}  # fmt: skip


TERMS: dict[str, Term] = {
    "gaussian": _gaussian, "silent": _nothing, "states": _states, "values or": _values_or, "formula": _formula,
    "bounded formula": _bounded_formula, "curve": _curve,
}  # fmt: skip
