"""Terms and scorers of columns that are taken together: lines, products, discriminants, trees and networks, as SQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingenuo.errors import InputError
from ingenuo.families.family import IMPOSSIBLE
from ingenuo.kernels import portable
from ingenuo.sheet.sql.numbers import square_of
from ingenuo.sheet.sql.scorers import Answer, normalise, within
from ingenuo.sheet.sql.terms import Floats, Node, Term, Texts, Writer, array, by_value, case, piecewise

_REACH = 8.0  # deviations from the mean, beyond which no number counts as farther
_CELLS = 200_000  # of one table
_ENDS = -1  # the code of what ends the way through a tree
_TINY = 1e-300  # stands for a share of 0 where every class is impossible


# Numbers less their means, times weights.


def _slopes(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """A missing number counts as the mean."""
    found = []
    w.unbounded = True
    for place, centre, weights in zip(node["columns"], array(node["centre"]).tolist(), array(node["weights"]).tolist()):
        x = w.number(place)
        apart = w.query.let(f"COALESCE({x} - {w.lit(centre)}, {w.lit(0.0)})", w.name(place))
        found.append([f"({w.dialect.times(apart, each)})" for each in weights])
    return found


# Features: what a design makes of the columns.


@dataclass(frozen=True)
class Feature:
    """A number, or a condition that is 1 where it holds and else 0."""

    text: str
    flag: bool

    def times(self, weight: float, w: Writer, less: float = 0.0) -> str:
        """The feature, less something, times a weight."""
        if self.flag:
            return f"({case([(self.text, w.lit((1.0 - less) * weight))], w.lit((0.0 - less) * weight))})"
        apart = f"({self.text} - {w.lit(less)})" if less else self.text
        return f"({w.dialect.times(w.query.let(apart, 'apart') if w.dialect.strict else apart, weight)})"

    def with_other(self, other: Feature, weight: float, w: Writer) -> str:
        """The product of two features, times a weight."""
        if self.flag and other.flag:
            return f"({case([(f'{self.text} AND {other.text}', w.lit(weight))], w.lit(0.0))})"
        if self.flag or other.flag:
            flag, number = (self, other) if self.flag else (other, self)
            return f"({case([(flag.text, number.times(weight, w))], w.lit(0.0))})"
        return f"{self.text} * {other.text} * {w.lit(weight)}"


def design(nodes: Sequence[Node], farthest: float, w: Writer) -> list[Feature]:
    """The features of a table, at most so far from 0."""
    found = []
    for node in nodes:
        place, name = node["column"], w.name(node["column"])
        if node["number"]:
            z = _score(w.number(place), node, w)
            d, far = w.dialect, min(farthest, math.inf if len(node["knots"]) else _REACH)
            if far < math.inf:
                z = f"{d.least}({d.most}({z}, {w.lit(-far)}), {w.lit(far)})"
            z = case([(f"{w.number(place)} IS NULL", w.lit(0.0))], z)
            found.append(Feature(w.query.let(z, f"{name}_z"), False))
        values = list(node["values"])
        if values:
            code = w.code(place, values, range(len(values)), -1, -1)
            found += [Feature(f"{code} = {at}", True) for at in range(len(values))]
        if node["missing"]:
            found.append(Feature(w.missing(place), True))
    return found


def _score(x: str, node: Node, w: Writer) -> str:
    """Deviations from the mean; or straight lines between knots, level beyond them."""
    if not len(node["knots"]):
        apart = w.query.let(f"{x} - {w.lit(node['centre'])}", "apart")
        scale = float(node["scale"])
        if w.dialect.strict and scale < 1:
            most = scale * 1e3
            return case([(f"{apart} > {w.lit(most)}", w.lit(1e3)), (f"{apart} < {w.lit(-most)}", w.lit(-1e3))],
                        w.dialect.over(apart, scale))  # fmt: skip
        return w.dialect.over(apart, scale)
    knots, scores, slopes = (array(node[name]).tolist() for name in ("knots", "scores", "slopes"))
    pieces = [w.lit(scores[0])]
    for knot, score, slope in zip(knots[:-1], scores, slopes):
        pieces.append(f"{w.lit(slope)} * ({x} - {w.lit(knot)}) + {w.lit(score)}")
    return piecewise(x, [w.lit(each) for each in knots], [*pieces, w.lit(scores[-1])])


def _products(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """Features, and products of two of them, times weights: of each class, or of the second of two."""
    features = design(node["design"], float(node["farthest"]), w)
    weights, zero = array(node["weights"]), w.lit(0.0)
    width = weights.shape[1] if weights.ndim == 2 and len(weights) else w.n_classes
    pairs: list[tuple[int, int]] = list(
        zip(np.asarray(node["left"], int).tolist(), np.asarray(node["right"], int).tolist())
    )

    def text(at: int, weight: float) -> str:
        """What a feature, or a product of two, adds."""
        if weight == 0:
            return zero
        if at < len(features):
            return features[at].times(weight, w)
        left, right = pairs[at - len(features)]
        return features[left].with_other(features[right], weight, w)

    # The terms are added to a sum of their own, as the kernel does it.
    sums = ([zero, *map(text, range(len(weights)), own.tolist())] for own in weights.reshape(len(weights), width).T)
    own = [w.query.let(w.add_up(each, "products"), "products") for each in sums]
    return [[*([zero] * (w.n_classes - width)), *own]]


# Discriminants.


def _discriminant(node: Node, w: Writer) -> Answer:
    """Classes are compared by lines, where they share a covariance; else by the densities."""
    term, lines = node["term"], node["lines"]
    if node["design"] is not None:
        features = design(node["design"], _REACH, w)
        temperature = w.lit(float(node["temperature"]))
    else:
        features, temperature = _whole(term["columns"], w), None
    if lines is not None:
        own = _lines(features, term["centre"], lines["weights"], lines["constants"], w)
    else:
        own = _distances(features, term, w)

    def compared(floor: float | None) -> Texts:
        start = w.logs(array(node["start"]).tolist(), floor)
        if temperature is None:
            return w.query.lets((f"{a} + {b}" for a, b in zip(start, own)), "compared")
        return w.query.lets((f"{b} * {temperature} + {a}" for a, b in zip(start, own)), "compared")

    joints = compared(None)
    if node["design"] is not None:  # whose features are near 0
        return normalise(joints, w, None, compared(IMPOSSIBLE) if w.infinite else None)
    if lines is not None:
        own = _distances(features, term, w)
    floored = [within(each, w) for each in compared(IMPOSSIBLE)]
    return normalise(joints, w, None, w.query.lets(floored, "possible") if w.dialect.infinity else None)


def _whole(columns: Sequence[int], w: Writer) -> list[Feature]:
    """Columns of numbers that are all there; rows that lack one have no answer."""
    names = ", ".join(w.name(each) for each in columns)
    w.note(f"rows in which one of these columns is missing have no answer, for that takes a matrix: {names}")
    return [Feature(w.number(each), False) for each in columns]


def _lines(features: Sequence[Feature], centre: Any, weights: Any, constants: Any, w: Writer) -> Texts:
    centres, found = array(centre).tolist(), []
    for own, constant in zip(array(weights).tolist(), array(constants).tolist()):
        addends = [each.times(weight, w, less) for each, weight, less in zip(features, own, centres)]
        found.append(w.query.let(w.add_up([w.lit(constant), *addends], "line"), "line"))
    return found


def _distances(features: Sequence[Feature], node: Node, w: Writer) -> Texts:
    """The log densities of Gaussians of several columns, by the roots of their covariances."""
    centres, roots, placed = array(node["centre"]).tolist(), array(node["roots"]), array(node["placed"])
    found = []
    for k, peak in enumerate(array(node["peaks"]).tolist()):
        root = roots[k if len(roots) > 1 else 0]
        squares = []
        for c in range(root.shape[1]):
            addends = [each.times(weight, w, less) for each, weight, less in zip(features, root[:, c].tolist(), centres)
                       if weight]  # fmt: skip
            image = w.query.let(w.add_up([w.lit(0.0), *addends], "image"), "image")
            apart = w.query.let(f"{image} - {w.lit(float(placed[k, c]))}", "apart")
            squares.append(square_of(apart, w, "apart") if w.dialect.strict else f"{apart} * {apart}")
        total = w.query.let(w.add_up([w.lit(0.0), *squares], "squares"), "squares")
        found.append(f"({w.lit(peak)} - {w.lit(0.5)} * {total})")
    return w.query.lets(found, "density")


def _distances_term(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    w.unbounded = True
    return [_distances(_whole(node["columns"], w), node, w)]


def _least_squares(node: Node, w: Writer) -> Answer:
    """Lines that are no log odds: what is below 0 is cut off, and the rest divided by its sum."""
    q, d, zero = w.query, w.dialect, w.lit(0.0)
    lines = _lines(_whole(node["columns"], w), node["centre"], node["weights"], node["shares"], w)
    above = q.lets((case([(f"{each} > {zero}", each), (f"{each} <= {zero}", zero)], "NULL") for each in lines), "above")
    total = q.let(w.add_up(above, "total"), "total")
    rest = [w.lit(each) for each in array(node["shares"]).tolist()]
    shares = q.lets(
        (
            case([(f"{total} > {zero}", f"{each} / {total}"), (f"{total} = {zero}", share)], "NULL")
            for each, share in zip(above, rest)
        ),
        "share",
    )
    logs = [case([(f"{each} > {zero}", f"{d.log}({each})")], w.lit(-math.inf)) for each in shares]
    return Answer(lines, shares, shares, None, lambda: q.lets(logs, "log"))


# Boosted trees.


def _trees(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """Each row goes from the root of each tree to a leaf; what stands there is added, tree after tree."""
    codes, may_end = [], []
    for each in node["coding"]:
        place, missing, rest = each["column"], int(each["missing"]), int(each["rest"])
        if each["points"] is not None:
            points = array(each["points"]).tolist()
            codes.append(w.interval(place, points, range(1, len(points) + 2), missing))
            may_end.append(missing == _ENDS)
        else:
            values = list(each["values"])
            codes.append(w.code(place, values, range(1, len(values) + 1), missing, rest))
            may_end.append(_ENDS in (missing, rest))
    splits = np.asarray(node["splits"], np.int64).tolist()
    leaves = array(node["values"]).reshape(len(splits), -1)
    width, zero = leaves.shape[1], w.lit(0.0)
    found, first = [], 0
    for size in np.asarray(node["nodes"], np.int64).tolist():
        below = _children(splits, first, size)
        texts = [_walk(first, below, splits, leaves[:, k].tolist(), codes, may_end, w) for k in range(width)]
        found.append([*([zero] * (w.n_classes - width)), *(f"({each})" for each in texts)])
        first += size
    return found


def _children(splits: Sequence[int], first: int, size: int) -> dict[int, int]:
    """Of each split of a tree the first of its two children."""
    following, found = first + 1, {}
    for x in range(first, first + size):
        if splits[x] >= 0:
            found[x] = following
            following += 2
    return found


def _walk(
    x: int, below: Mapping[int, int], splits: Sequence[int], values: Sequence[float], codes: Texts,
    may_end: Sequence[bool], w: Writer,
) -> str:  # fmt: skip
    """What a row finds from a node on. A split is column << 17 | kind << 16 | code."""
    split, here = splits[x], w.lit(values[x])
    if split < 0:
        return here
    column, code = split >> 17, split & 0xFFFF
    low, high = (_walk(below[x] + side, below, splits, values, codes, may_end, w) for side in (0, 1))
    ends = [(f"{codes[column]} = {_ENDS}", here)] if may_end[column] else []
    return case([*ends, (f"{codes[column]} {'=' if (split >> 16) & 1 else '<='} {code}", low)], high)


# Networks.


def _node_code(node: Node, w: Writer) -> str:
    """The code of a node's value: the place of its state, -1 where that is missing or never seen."""
    states = list(node["states"])
    missing = states.index(None) if None in states else -1
    if node["cuts"] is not None:
        points = array(node["cuts"]).tolist()
        codes = [states.index(at) if at in states else -1 for at in range(len(points) + 1)]
        return w.interval(node["column"], points, codes, missing)
    known = [(at, state) for at, state in enumerate(states) if state is not None]
    return w.code(node["column"], [state for _, state in known], [at for at, _ in known], missing, -1)


def _table(cell: str, logs: Floats, floor: float | None, w: Writer, hint: str) -> Texts:
    """What each cell of a table (cells × classes) adds; of no cell nothing."""
    if len(logs) > _CELLS:
        raise InputError(
            f"the table of {hint!r} has {len(logs):,} cells, and SQL is written up to {_CELLS:,}; give the network "
            "fewer parents, or export to js"
        )
    own = [w.logs(each, floor) for each in logs]
    zeros = [w.lit(0.0)] * logs.shape[1]
    return [f"({each})" for each in by_value(cell, [str(at) for at in range(len(own))], own, zeros, w, hint)]


def _levels(node: Node, w: Writer, floor: float | None) -> list[Texts]:
    """A column whose shares, given the class and other columns, lean on those given fewer: a table of all cells."""
    value = _node_code(node["node"], w)
    sizes, cell = [int(each) for each in node["shape"]], "0"
    for each, size in zip(node["given"], sizes[1:-1]):
        code = _node_code(each, w)
        cell = f"({cell}) * {size + 1} + {case([(f'{code} < 0', str(size))], code)}"
    cell = w.query.let(case([(f"{value} >= 0", f"({cell}) * {sizes[-1]} + {value}")], "NULL"), "cell")
    return [_table(cell, _level_sums(node, sizes), floor, w, str(node["node"]["name"]))]


def _level_sums(node: Node, shape: Sequence[int]) -> Floats:
    """Σ over levels of weight · log share: cells × classes, as networks/back_off.py has it."""
    counts, m, weights = array(node["counts"]), array(node["m"]).tolist(), [float(each) for each in node["weights"]]
    if node["gaps"] is not None:
        deepest = np.zeros(math.prod(shape))
        deepest[np.cumsum(array(node["gaps"])).astype(np.intp)] = counts
        counts = deepest
    levels = [counts.reshape(shape)]
    while levels[0].ndim > 2:
        levels.insert(0, portable.total(levels[0], -2))
    column = portable.total(levels[0], 0)
    shares = (column + 1) / (portable.total(column) + len(column))
    known, found = None, None
    for level, weight, own_m in zip(levels, weights, m):
        shares = shares if known is None else shares[..., np.newaxis, :]
        shares = (level + own_m * shares) / (portable.total(level)[..., np.newaxis] + own_m)
        logs = portable.log(shares)
        if known is None or found is None:
            known, found = logs, weight * logs
            continue
        known = np.repeat(known[..., np.newaxis, :], level.shape[-2] + 1, axis=-2)
        known[tuple(slice(size) for size in level.shape)] = logs
        found = found[..., np.newaxis, :] + weight * known
    assert found is not None
    return np.ascontiguousarray(np.moveaxis(found, 0, -1)).reshape(-1, shape[0])


def _back_off(node: Node, w: Writer) -> Answer:
    def joint(floor: float | None) -> Texts:
        start = w.logs(array(node["start"]).tolist(), floor)
        added = w.terms(node["terms"], floor)
        return w.query.lets((w.add_up([a, *(each[k] for each in added)], "sum") for k, a in enumerate(start)), "joint")

    joints = joint(None)
    return normalise(joints, w, joints, joint(IMPOSSIBLE) if w.infinite else None)


def _network(node: Node, w: Writer) -> Answer:
    """A network whose nodes are known, or missing where nothing that is known hangs on them."""
    if node["match"] != "labels":
        raise InputError("a network that matches values by their text has no SQL; take a NetworkClassifier")
    nodes, parents, target = node["nodes"], node["parents"], int(node["target"])
    cards = [len(each["states"]) for each in nodes]
    codes = [None if v == target else _node_code(each, w) for v, each in enumerate(nodes)]
    children = [[v for v, above in enumerate(parents) if u in above] for u in range(len(nodes))]
    tables = [array(table).reshape([*(cards[up] for up in above), cards[v]])
              for v, (above, table) in enumerate(zip(parents, node["tables"]))]  # fmt: skip
    unknown = list(_unknown(codes, children, cards, target, w))
    if unknown:
        w.note("rows in which a node is missing or never seen that others hang on have no answer, for that takes sums")

    def joint(floor: float | None) -> Texts:
        shared, own = [w.lit(0.0)], [[w.lit(0.0)] for _ in range(cards[target])]
        for v, above in enumerate(parents):
            members = [*above, v]
            logs = portable.log(tables[v] if floor is None else np.maximum(tables[v], _TINY))
            others = [each for each in members if each != target]
            cell, size = "0", 1
            for each in others:
                cell, size = f"({cell}) * {cards[each]} + {codes[each]}", size * cards[each]
            hint, alone = str(nodes[v]["name"]), v != target
            if target in members:
                logs = np.moveaxis(logs, members.index(target), -1).reshape(size, cards[target])
            else:
                logs = logs.reshape(size, 1)
            known = " AND ".join(f"{codes[each]} >= 0" for each in others)
            place = w.query.let(case([(known, cell)], "NULL"), "cell") if others else None
            found = _table(place, logs, floor, w, hint) if place is not None else w.logs(logs[0], floor)
            if alone and target not in members:
                shared.append(found[0])
            else:
                for sums, each in zip(own, found):
                    sums.append(each)
        total = w.query.let(w.add_up(shared, "shared"), "shared")
        joints = w.query.lets((f"{w.add_up(each, 'own')} + {total}" for each in own), "joint")
        if unknown:
            joints = [case([(" OR ".join(unknown), "NULL")], each) for each in joints]
        return w.query.lets(joints, "joint")

    joints = joint(None)
    return normalise(joints, w, joints, joint(IMPOSSIBLE) if w.infinite else None)


def _unknown(
    codes: Sequence[str | None], children: Sequence[Sequence[int]], cards: Sequence[int], target: int, w: Writer
) -> Iterator[str]:
    """Conditions that hold where a node is missing and yet needed: the target, or a known node, is below it."""
    needed: dict[int, str] = {}

    def needs(v: int) -> str:
        """Whether a node is known, or the target, or above such a one: 1 or 0."""
        if v == target:
            return "1"
        if v not in needed:
            ways = [f"{codes[v]} >= 0", *(f"{needs(child)} = 1" for child in children[v])]
            needed[v] = w.query.let(case([(" OR ".join(ways), "1")], "0"), "needed")
        return needed[v]

    for v, own in enumerate(children):
        if v != target and own and cards[v] > 1:
            below = " OR ".join(f"{needs(child)} = 1" for child in own)
            yield f"({codes[v]} < 0 AND ({below}))"


TERMS: dict[str, Term] = {
    "slopes": _slopes, "products": _products, "distances": _distances_term, "trees": _trees, "levels": _levels,
}  # fmt: skip
SCORERS: dict[str, Callable[[Node, Writer], Answer]] = {
    "discriminant": _discriminant, "least squares": _least_squares, "back-off": _back_off, "network": _network,
}  # fmt: skip
