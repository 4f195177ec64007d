"""What votes, and the vote itself, one row at a time: lines and products, discriminants of features, trees, networks.

The order of every sum is that of page/linear.mjs, trees.mjs, networks.mjs and vote.mjs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ingenuo.kernels.portable import log_each
from ingenuo.sheet.score.terms import Cells, Node, NotPlain, Term, place_by

_REACH = 8.0  # deviations from the mean that a feature has at most
_MOST_KEPT = 10_000  # sums of a column of a network that are kept
_ENDS = -1  # the code of what ends the way through a tree

# Features: what a design makes of the columns.


def _feature(node: Node) -> tuple[Callable[[Any, list[float], int], None], int]:
    """What writes the features of a column from a place on, and how many they are."""
    number, missing, n = node["number"], node["missing"], len(node["values"])
    knots, scores, slopes = node["knots"], node["scores"], node["slopes"]
    centre, scale, place = node["centre"], node["scale"], place_by(node["values"]) if n else None

    def of_number(x: float | None) -> float:
        if x is None:
            return 0.0
        if not len(knots):
            z = (x - centre) / scale
            return _REACH if z > _REACH else -_REACH if z < -_REACH else z
        inside = min(max(x, knots[0]), knots[-1])
        at = max(bisect_right(knots, inside) - 1, 0)
        found: float = slopes[at] * (inside - knots[at]) + scores[at]
        return 0.0 if found != found else found

    def write(value: Any, out: list[float], at: int) -> None:
        if number:
            out[at] = of_number(value)
        if place is not None and (found := place(value)) >= 0:
            out[at + number + found] = 1.0
        if missing and value is None:
            out[at + number + n] = 1.0

    return write, int(number) + n + int(missing)


def _design(nodes: Sequence[Node], farthest: float) -> tuple[Callable[[Cells], list[float]], int]:
    """What makes the features of a row, none farther than this from 0; and how many there are."""
    every, size = [], 0
    for node in nodes:
        write, width = _feature(node)
        every.append((node["column"], write, size))
        size += width

    def of(cells: Cells) -> list[float]:
        out = [0.0] * size
        for column, write, at in every:
            write(cells[column], out, at)
        return [farthest if z > farthest else -farthest if z < -farthest else z for z in out]

    return of, size


def _products(node: Node, n_classes: int) -> Term:
    """The features of a table and products of two of them, times weights: of each class, or of the second of two."""
    of, _ = _design(node["design"], node["farthest"])
    weights = node["weights"]
    width = len(weights[0]) if len(weights) else (1 if n_classes == 2 else n_classes)
    pairs = [(int(i), int(j)) for i, j in zip(node["left"], node["right"])]

    def add(cells: Cells, out: list[float]) -> None:
        a = of(cells)
        own = [0.0] * width
        for x, line in zip([*a, *(a[i] * a[j] for i, j in pairs)], weights):
            if x != 0:
                for k, weight in enumerate(line):
                    own[k] += weight * x
        for k, each in enumerate(own, n_classes - width):
            out[k] += each

    return Term(add)


def _slopes(node: Node, n_classes: int) -> Term:
    """Numbers less their means, times weights; a missing one counts as the mean."""
    each = list(zip(node["columns"], node["centre"], node["weights"]))

    def add(cells: Cells, out: list[float]) -> None:
        for column, centre, line in each:
            x = 0.0 if cells[column] is None else cells[column] - centre
            for k, weight in enumerate(line):
                out[k] += x * weight

    return Term(add)


# Discriminants of features: every row is whole, for what is missing has features of its own.


def discriminant(node: Node, n_classes: int) -> Callable[[Cells], tuple[list[float], list[float]]]:
    """The log joint of a row, and what its classes are compared by."""
    if node["design"] is None:
        raise NotPlain
    of, _ = _design(node["design"], _REACH)
    start, temperature, lines = list(node["start"]), node["temperature"], node["lines"]
    density = _density(node["term"], n_classes)
    centre = node["term"]["centre"]

    def tempered(sums: list[float]) -> list[float]:
        return [each * temperature + own for each, own in zip(sums, start)]

    def compare(x: list[float]) -> list[float]:
        found = []
        for line, constant in zip(lines["weights"], lines["constants"]):
            total = constant
            for each, middle, weight in zip(x, centre, line):
                total += (each - middle) * weight
            found.append(total)
        return found

    def joint(cells: Cells) -> tuple[list[float], list[float]]:
        x = of(cells)
        found = tempered(density(x))
        return found, found if lines is None else tempered(compare(x))

    return joint


def _density(term: Node, n_classes: int) -> Callable[[list[float]], list[float]]:
    """Gaussians of several numbers together."""
    centre, roots, placed, peaks = term["centre"], term["roots"], term["placed"], term["peaks"]
    d, rank = len(centre), len(placed[0])
    every: list[list[list[float]]] = []  # of each root its columns, up to the last that is not 0 among four
    for root in roots:
        ends = [max((j + 1 for j in range(d) if root[j][c] != 0), default=0) for c in range(rank)]
        ends = [max(ends[c - c % 4 : c - c % 4 + 4]) for c in range(rank)]
        every.append([[root[j][c] for j in range(ends[c])] for c in range(rank)])

    def density(x: list[float]) -> list[float]:
        apart, found = [each - middle for each, middle in zip(x, centre)], []
        images: list[float] = []
        for k in range(n_classes):
            if k == 0 or len(every) > 1:
                images = []
                for column in every[k if len(every) > 1 else 0]:
                    image = 0.0
                    for each, own in zip(apart, column):
                        image += each * own
                    images.append(image)
            total = 0.0
            for image, place in zip(images, placed[k]):
                image -= place
                total += image * image
            found.append(0.0 + (peaks[k] - 0.5 * total))
        return found

    return density


# Trees.


def _code(node: Node) -> Callable[[Any], int]:
    """The code of a value: how many points it is above, or the place of a category, and one more."""
    points, missing, rest = node["points"], int(node["missing"]), int(node["rest"])
    place = None if points is not None else place_by(node["values"])

    def code(value: Any) -> int:
        if value is None:
            return missing
        if place is None:
            return bisect_left(points, value) + 1
        found = place(value)
        return rest if found < 0 else found + 1

    return code


def _trees(node: Node, n_classes: int) -> Term:
    codes = [(each["column"], _code(each)) for each in node["coding"]]
    splits, values = [int(each) for each in node["splits"]], node["values"]
    width = len(values[0]) if len(values) else 1
    below, roots, first = [0] * len(splits), [], 0
    for size in map(int, node["nodes"]):
        after = first + 1
        for x in range(first, first + size):
            if splits[x] >= 0:
                below[x] = after
                after += 2
        roots.append(first)
        first += size
    # Column, whether the test is of one code alone, the code, and the first child; None at a leaf.
    tests = [
        None if split < 0 else (split >> 17, bool((split >> 16) & 1), split & 65535, below[x])
        for x, split in enumerate(splits)
    ]

    def add(cells: Cells, out: list[float]) -> None:
        found = [code(cells[column]) for column, code in codes]
        for x in roots:
            while (test := tests[x]) is not None:
                column, one, limit, child = test
                code = found[column]
                if code == _ENDS:
                    break
                x = child if (code == limit if one else code <= limit) else child + 1
            for k, each in enumerate(values[x], n_classes - width):
                out[k] += each

    return Term(add)


# Networks that back off.


def _state(node: Mapping[str, Any]) -> Callable[[Any], int]:
    """The code of a value of a node; -1 where it is missing or never seen, and missing is no state."""
    states, cuts = list(node["states"]), node["cuts"]
    missing = states.index(None) if None in states else -1
    places = [place for place, each in enumerate(states) if each is not None]
    own = place_by([states[place] for place in places])

    def state(value: Any) -> int:
        if value is None:
            return missing
        found = own(value if cuts is None else bisect_left(cuts, value))
        return -1 if found < 0 else places[found]

    return state


def _levels(node: Node, n_classes: int) -> Term:
    """A column whose shares, given the class and other columns, lean on those given fewer."""
    shape, m, weights = [int(each) for each in node["shape"]], node["m"], node["weights"]
    values, size = shape[-1], 1
    for each in shape:
        size *= each
    deepest = list(node["counts"])
    if node["gaps"] is not None:
        deepest, at = [0.0] * size, 0
        for gap, count in zip(node["gaps"], node["counts"]):
            at += int(gap)
            deepest[at] = count
    by_level = [deepest]
    for axis in range(len(shape) - 2, 0, -1):
        above, to = by_level[0], [0.0] * (len(by_level[0]) // shape[axis])
        for i in range(0, len(to), values):
            for u in range(shape[axis]):
                begin = (i * shape[axis]) + u * values
                for v in range(values):
                    to[i + v] = above[begin + v] if u == 0 else to[i + v] + above[begin + v]
        by_level.insert(0, to)
    column = by_level[0][:values]
    for k in range(1, shape[0]):
        column = [each + by_level[0][k * values + v] for v, each in enumerate(column)]
    rows = 0.0
    for each in column:
        rows += each
    own, given = (
        (node["node"]["column"], _state(node["node"])),
        [(each["column"], _state(each)) for each in node["given"]],
    )
    kept: dict[tuple[int, ...], list[float]] = {}

    def sums_of(value: int, above: Sequence[int]) -> list[float]:
        found = []
        for k in range(shape[0]):
            share, context, known, total = (column[value] + 1) / (rows + values), k, 0.0, 0.0
            for j in range(len(given) + 1):
                if j <= len(above):
                    if j:
                        context = context * shape[j] + above[j - 1]
                    counts = by_level[j][context * values : (context + 1) * values]
                    every = 0.0
                    for each in counts:
                        every += each
                    share = (counts[value] + m[j] * share) / (every + m[j])
                    (known,) = log_each([share])
                total = total + weights[j] * known if j else weights[0] * known
            found.append(total)
        return found

    def add(cells: Cells, out: list[float]) -> None:
        value = own[1](cells[own[0]])
        if value < 0:
            return
        above: list[int] = []
        for place, state in given:
            code = state(cells[place])
            if code < 0:
                break
            above.append(code)
        cell = (value, *above)
        found = kept.get(cell)
        if found is None:
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            found = kept[cell] = sums_of(value, above)
        for k, each in enumerate(found):
            out[k] += each

    return Term(add)


TERMS: dict[str, Callable[[Node, int], Term]] = {
    "products": _products, "slopes": _slopes, "trees": _trees, "levels": _levels,
}  # fmt: skip
