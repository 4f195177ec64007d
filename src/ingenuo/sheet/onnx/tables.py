"""Terms of several columns together: features and products of them, trees, networks that back off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import portable
from ingenuo.sheet.onnx.graph import BOOLEAN, DOUBLE, INTEGER
from ingenuo.sheet.onnx.terms import TERMS, Floats, Node, Writer, array, floored

FARTHEST = 8.0  # deviations from the mean
_MOST_CELLS = 4_000_000  # of a table that is written out


# Features: what a design makes of the columns (models/design.py).


def features(nodes: Sequence[Node], farthest: float, w: Writer) -> str:
    """The features of a row, (n, features)."""
    g, d = w.graph, w.graph.double
    found = []
    for node in nodes:
        place, values = node["column"], list(node["values"])
        if node["number"]:
            x = w.number(place)
            z = _score(x, node, w) if len(node["knots"]) else _standard(x, node, w)
            z = g.where(g.op("IsNaN", z), d(0.0), z)
            found.append(w.clip(z, farthest) if farthest < math.inf else z)
        if values:
            marks = np.vstack([np.eye(len(values)), np.zeros(len(values))])
            found.append(g.take(d(marks), w.place(place, values, unseen=len(values))))
        if node["missing"]:
            found.append(g.cast(w.is_missing(place, values), DOUBLE))
    return g.join(found)


def _standard(x: str, node: Node, w: Writer) -> str:
    g, d = w.graph, w.graph.double
    return w.clip(g.op("Div", g.sub(x, d(float(node["centre"]))), d(float(node["scale"]))), FARTHEST)


def _score(x: str, node: Node, w: Writer) -> str:
    """Straight lines between knots, level beyond them."""
    g, d = w.graph, w.graph.double
    knots, scores, slopes = (array(node[name]) for name in ("knots", "scores", "slopes"))
    inside = g.op("Max", g.op("Min", x, d(float(knots[-1]))), d(float(knots[0])))
    below = g.total(g.cast(g.op("LessOrEqual", d([knots]), x), INTEGER), 1, keep=True)
    at = g.op("Max", g.sub(below, g.integer(1)), g.integer(0))
    slope, knot, score = (g.op("Gather", d(each), at, axis=0) for each in (_as_long(slopes, knots), knots, scores))
    found = g.add(g.mul(slope, g.sub(inside, knot)), score)
    return g.where(g.op("IsNaN", x), d(0.0), found)


def _as_long(values: Floats, like: Floats) -> Floats:
    return np.concatenate([values, np.zeros(max(len(like) - len(values), 0))])


def by_class(weights: Floats, n_classes: int) -> Floats:
    """Weights of each class, or of the second of two."""
    width = weights.shape[1] if weights.size else n_classes
    return np.hstack([np.zeros((len(weights), n_classes - width)), weights])


def _products(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, weights = w.graph, array(node["weights"])
    if not weights.size:
        return []
    found = features(node["design"], float(node["farthest"]), w)
    left, right = (np.asarray(node[name], np.int64) for name in ("left", "right"))
    if len(left):
        both = (g.op("Gather", found, g.integer(each), axis=1) for each in (left, right))
        found = g.join([found, g.mul(*both)])
    return [g.op("MatMul", found, g.double(by_class(weights, w.n_classes)))]


# Trees: all of them go one step down at a time.


def _trees(node: Node, w: Writer, floor: float | None) -> list[str]:
    g, values = w.graph, array(node["values"])
    if not len(node["nodes"]):
        return []
    codes = g.join([_tree_code(each, w) for each in node["coding"]])
    splits, sizes = np.asarray(node["splits"], np.int64), np.asarray(node["nodes"], np.int64)
    roots = np.append(0, np.cumsum(sizes)[:-1])
    inner = splits >= 0
    first = np.arange(len(splits))  # a leaf leads to itself
    depth = np.zeros(len(splits), np.int64)
    for root, size in zip(roots.tolist(), sizes.tolist()):
        below = root + 1
        for at in range(root, root + size):
            if inner[at]:
                first[at] = below
                depth[below : below + 2] = depth[at] + 1
                below += 2
    parts = {
        "column": np.where(inner, splits >> 17, 0), "equal": np.where(inner, splits >> 16 & 1, 0).astype(bool),
        "code": np.where(inner, splits & 65535, 0), "first": first, "second": np.where(inner, first + 1, first),
    }  # fmt: skip
    zeros = g.mul(g.op("Gather", codes, g.integer([0]), axis=1), g.integer(0))
    place = g.add(zeros, g.integer([roots]))  # (n, trees)
    for _ in range(int(depth.max())):
        column, equal, code, one, two = (
            g.op("Gather", g.constant(parts[name]), place, axis=0)
            for name in ("column", "equal", "code", "first", "second")
        )
        own = g.op("GatherElements", codes, column, axis=1)
        same, less = g.op("Equal", own, code), g.op("LessOrEqual", own, code)
        holds = g.op("Or", g.op("And", equal, same), g.op("And", g.op("Not", equal), less))
        # What was never seen ends the way.
        place = g.where(g.op("Less", own, g.integer(0)), place, g.where(holds, one, two))
    table = g.double(by_class(values.reshape(len(splits), -1), w.n_classes))
    return [g.total(g.op("Gather", table, place, axis=0), 1)]


def _tree_code(node: Node, w: Writer) -> str:
    """How many points a number is above, and one more; the place of a value, and one more."""
    g, place, missing = w.graph, node["column"], int(node["missing"])
    if node["points"] is None:
        values = list(node["values"])
        return _renumbered(w.place(place, values, unseen=-1, missing=-2), len(values), missing, int(node["rest"]), 1, w)
    x = w.number(place)
    return g.where(g.op("IsNaN", x), g.integer(missing), g.add(_interval(x, array(node["points"]), w), g.integer(1)))


def _renumbered(found: str, n: int, missing: int, unseen: int, more: int, w: Writer) -> str:
    """Places from 0 on, one for each value, -1 for what is unseen and -2 for what is missing, as other numbers."""
    g = w.graph
    numbers = np.concatenate([[missing, unseen], np.arange(n) + more])
    return g.op("Gather", g.integer(numbers), g.add(found, g.integer(2)), axis=0)


def _interval(x: str, points: Floats, w: Writer) -> str:
    """How many points are less."""
    g = w.graph
    if not len(points):
        return g.cast(g.op("IsNaN", x), INTEGER)
    return g.total(g.cast(g.op("Less", g.double([points]), x), INTEGER), 1, keep=True)


# Networks whose nodes are known.


def code_of(node: Node, w: Writer) -> str:
    """The state of a node, by its number; -1 where it is missing or never seen."""
    g, states, place = w.graph, list(node["states"]), node["column"]
    missing = states.index(None) if None in states else -1
    if node["cuts"] is None:
        return w.place(place, states, unseen=-1, missing=missing)
    points, x = array(node["cuts"]), w.number(place)
    known = {int(state): at for at, state in enumerate(states) if state is not None}
    table = np.array([known.get(interval, -1) for interval in range(len(points) + 1)])
    found = g.op("Gather", g.integer(table), _interval(x, points, w), axis=0)
    return g.where(g.op("IsNaN", x), g.integer(missing), found)


def _levels(node: Node, w: Writer, floor: float | None) -> list[str]:
    """A column whose shares, given the class and other columns, lean on those given fewer: each case is written out."""
    g, value, above = w.graph, code_of(node["node"], w), [code_of(each, w) for each in node["given"]]
    cards, found = [int(each) for each in node["shape"]], None
    at, known = g.integer(0), None
    for depth, table in enumerate(_shares(node, w)):
        if depth:
            code = above[depth - 1]
            there = g.op("GreaterOrEqual", code, g.integer(0))
            known = there if known is None else g.op("And", known, there)
            at = g.add(g.mul(at, g.integer(cards[depth])), g.op("Max", code, g.integer(0)))
        place = g.add(g.mul(at, g.integer(cards[-1])), g.op("Max", value, g.integer(0)))
        own = g.take(g.double(table), place)
        found = own if found is None or known is None else g.where(known, own, found)
    assert found is not None
    return [g.where(g.op("Less", value, g.integer(0)), g.double(0.0), found)]


def _shares(node: Node, w: Writer) -> list[Floats]:
    """By how many of the parents are known: what each case of them and each value add, (cases, classes)."""
    shape = [int(each) for each in node["shape"]]
    if math.prod(shape) > _MOST_CELLS:
        raise InputError(
            f"column {w.name(node['node']['column'])!r} has {math.prod(shape):,} cases given its parents, and ONNX "
            f"would have to hold each ({_MOST_CELLS:,} at most); export the model to js"
        )
    deepest = np.zeros(math.prod(shape))
    if node["gaps"] is None:
        deepest[:] = array(node["counts"]).ravel()
    else:
        deepest[np.cumsum(np.asarray(node["gaps"], np.int64))] = array(node["counts"])
    by_level = [deepest.reshape(shape)]
    for axis in range(len(shape) - 2, 0, -1):
        by_level.insert(0, _add_up(by_level[0], axis))
    column = _add_up(by_level[0], 0)
    total = float(portable.total(column))
    share = np.broadcast_to((column + 1) / (total + len(column)), by_level[0].shape)
    m, weights, known, found = array(node["m"]), array(node["weights"]), list[Floats](), list[Floats]()
    for level, (counts, strength) in enumerate(zip(by_level, m)):
        if level:
            share, known = share[..., np.newaxis, :], [each[..., np.newaxis, :] for each in known]
        share = (counts + strength * share) / (_add_up(counts, -1)[..., np.newaxis] + strength)
        known.append(np.asarray(portable.log(share)))
        added = weights[0] * known[0]
        for j in range(1, len(by_level)):
            added = added + weights[j] * known[min(j, level)]
        added = np.broadcast_to(added, share.shape)
        found.append(np.ascontiguousarray(np.moveaxis(added, 0, -1).reshape(-1, shape[0])))
    return found


def _add_up(values: Floats, axis: int) -> Floats:
    """Sums along an axis, from left to right."""
    parts = np.moveaxis(values, axis, 0)
    result: Floats = parts[0] + 0.0
    for each in parts[1:]:
        result = result + each
    return result


def averaged(node: Node, w: Writer, floor: float | None) -> str:
    """Each attribute in turn the parent of the others beside the class, and the mean of these."""
    g, d, i = w.graph, w.graph.double, w.graph.integer
    n = len(node["nodes"])
    codes = g.join([code_of(each, w) for each in node["nodes"]])  # (n, attributes)
    roots, pairs, naive = (floored(node[name], floor) for name in ("roots", "pairs", "naive"))
    root_at, pair_at = np.asarray(node["root_at"], np.int64), np.asarray(node["pair_at"], np.int64)
    there, at_least_0 = g.op("GreaterOrEqual", codes, i(0)), g.op("Max", codes, i(0))
    at = g.add(i([root_at[:n]]), at_least_0)
    usable = np.asarray(node["usable"], np.float64) != 0
    may = g.op("And", there, g.op("Gather", g.constant(usable), at, axis=0))  # be a parent
    sizes = i(np.asarray(node["sizes"], np.int64)[np.newaxis, np.newaxis])
    pair_at = pair_at.reshape(n, -1)[:, :n]
    own = g.add(g.mul(g.unsqueeze(at_least_0, 2), sizes), g.unsqueeze(at_least_0, 1))
    of_pairs = g.op("Gather", d(pairs), g.op("Max", g.add(i(pair_at[np.newaxis]), own), i(0)), axis=0)
    counts = g.op("And", g.unsqueeze(there, 1), g.constant(~np.eye(n, dtype=bool)[np.newaxis]))
    counts = g.op("And", counts, g.unsqueeze(may, 2))  # elsewhere the places mean nothing
    terms = g.total(g.where(g.unsqueeze(counts, 3), of_pairs, d(0.0)), 2)
    terms = g.add(g.op("Gather", d(roots), at, axis=0), terms)
    terms = g.where(g.unsqueeze(may, 2), terms, d(-math.inf))
    number = g.total(g.cast(may, DOUBLE), 1, keep=True)
    mean = g.sub(g.op("Squeeze", w.log_total(terms, 1), i([1])), g.op("Log", g.op("Max", number, d(1.0))))
    plain = g.where(g.unsqueeze(there, 2), g.op("Gather", d(naive), at, axis=0), d(0.0))
    plain = g.add(d([naive[-1]]), g.total(plain, 1))
    return g.where(g.cast(number, BOOLEAN), mean, plain)


# Gaussians of features.


def density_of_features(x: str, term: Mapping[str, Any], w: Writer) -> str:
    """peak - |z|²/2 of each class."""
    g, d = w.graph, w.graph.double
    roots, placed, peaks = (array(term[name]) for name in ("roots", "placed", "peaks"))
    apart = g.sub(x, d([array(term["centre"])]))
    rank = placed.shape[1]
    if len(roots) == 1:
        image = g.unsqueeze(g.op("MatMul", apart, d(roots[0])), 1)
    else:
        image = g.op("MatMul", apart, d(np.hstack(list(roots))))
        image = g.op("Reshape", image, g.integer([-1, len(roots), rank]))
    z = g.sub(image, d(placed[np.newaxis]))
    return g.sub(d([peaks]), g.mul(d(0.5), g.total(g.mul(z, z), 2)))


def lines(x: str, centre: Any, own: Mapping[str, Any], w: Writer) -> str:
    """share + Σ weight · (x - centre) of each class."""
    g, d = w.graph, w.graph.double
    weights: NDArray[np.float64] = array(own["weights"])
    return g.add(d([array(own["constants"])]), g.op("MatMul", g.sub(x, d([array(centre)])), d(weights.T)))


TERMS |= {"products": _products, "trees": _trees, "levels": _levels}
