"""Tables that back off: where a combination of parents has few rows, the share of a value leans on shorter ones.

    p(x | y, u₁ … u_j) = (n(x, y, u₁ … u_j) + m_j p(x | y, u₁ … u_{j-1})) / (n(y, u₁ … u_j) + m_j)

down to p(x | y) and p(x) = (n(x) + 1) / (n + values). Each node has an m for each level: the one of a grid by which the
rows, each left out of all counts, are most probable. That is a function of the counts alone, so it is found again
whenever they change. A weight for each level of each node turns the product into a log-linear pool:

    P(y | row) ∝ P(y) e^(b_y) Π over nodes and levels of p(x | y, u₁ … u_j)^(w_j)

A missing value is a value of its own, so that every row counts at every node, and each level is a sum of the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.categorical import column_codes
from ingenuo.kernels import codes as loops
from ingenuo.kernels import densities
from ingenuo.kernels.portable import total
from ingenuo.language import say
from ingenuo.networks.graph import Parents
from ingenuo.networks.learn import counts_over, table_name
from ingenuo.rows.part import Codes
from ingenuo.show.arithmetic import Factor, Term, exponential, fraction, logs
from ingenuo.show.table import PrintedTable, Shown
from ingenuo.tally.labels import Labels, find, labels_of, objects, unite
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Tally

Floats = NDArray[np.float64]

BACK_OFF, LEVELS = "back-off", "levels"
GRID = np.array([0.1, 0.3, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024])
CELLS = 1 << 18  # of a table, beyond which a parent is passed over
MISSING: Labels = objects([None])  # the label of what is missing


@dataclass(frozen=True, eq=False, repr=False)
class LevelWeights(Shown, Mapping[str, Mapping[str, float]]):
    """Of each column how much each level of its shares counts, by what it is given; and the shift of each class."""

    nodes: tuple[str, ...]  # the class first
    parents: Parents
    weights: tuple[tuple[float, ...], ...]  # of each column, by level
    classes: Labels
    shifts: Floats

    def __getitem__(self, column: str) -> Mapping[str, float]:
        place = self.nodes.index(column, 1)
        given = [self.nodes[up] for up in self.parents[place]]
        return {", ".join(given[: j + 1]): weight for j, weight in enumerate(self.weights[place - 1])}

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes[1:])

    def __len__(self) -> int:
        return len(self.nodes) - 1

    def _blocks(self) -> Sequence[Any]:
        rows = [[column, given, weight] for column, of in self.items() for given, weight in of.items()]
        shifts = [[str(label), shift] for label, shift in zip(self.classes.tolist(), self.shifts.tolist())]
        return [
            PrintedTable(["column", "given", "weight"], rows, ["", "", ".4g"]),
            PrintedTable(["class", "shift"], shifts, ["", ".4g"]),
        ]

    def shifts_of(self, classes: Labels) -> Floats:
        """The shift of each of these classes; 0 of one that came later."""
        return np.append(self.shifts, 0.0)[find(self.classes, classes)]

    def to_plain(self) -> dict[str, Any]:
        """The numbers, for a file."""
        weights = [list(each) for each in self.weights]
        return {"weights": weights, "classes": self.classes.tolist(), "shifts": self.shifts.tolist()}

    @staticmethod
    def from_plain(nodes: tuple[str, ...], parents: Parents, plain: Mapping[str, Any]) -> LevelWeights:
        """What `to_plain` gave; raises for what are no weights of these nodes."""
        weights = tuple(tuple(map(float, each)) for each in plain["weights"])
        classes, shifts = labels_of(plain["classes"]), np.array(plain["shifts"], np.float64)
        if [len(each) for each in weights] != [len(above) for above in parents[1:]] or len(classes) != len(shifts):
            raise InputError("the weights of the levels are not as many as the levels of the network")
        if not all(0 <= weight < np.inf for each in weights for weight in each) or not np.isfinite(shifts).all():
            raise InputError("the weights of the levels must be finite, and not below 0")
        return LevelWeights(nodes, parents, weights, classes, shifts)


def with_missing(block: Codes) -> Codes:
    """The columns with what is missing as a value of its own."""
    assert block.labels is not None
    columns, labels = [], []
    for j, own in enumerate(block.labels):
        codes = column_codes(block, j)
        if codes.min(initial=0) < 0:
            both = labels_of([*own.tolist(), None])
            codes, own = np.append(find(both, own), find(both, MISSING)).astype(np.int32)[codes], both
        columns.append(codes)
        labels.append(own)
    return Codes(block.names, block.n_rows, columns, labels)


def order_parents(
    nodes: Sequence[str], parents: Parents, path: Sequence[tuple[int, int]], sizes: Sequence[int]
) -> Parents:
    """The class first, then the strongest; without those that would make a table too large.

    The path has the arcs, of each node the strongest first; where there is none, they are in order.
    """
    found = []
    for node, above in enumerate(parents):
        if (0 in above) != (node > 0) or (node == 0 and above):
            what = "has a parent" if node == 0 else "is not a parent of it"
            raise InputError(
                f"smoothing='back-off' is for networks in which the class is a parent of all and has none; look at "
                f"{nodes[node]!r}: the class {what}"
            )
        others = [up for up, down in path if down == node] if path else above
        kept, cells = list(above[:0]), sizes[node] * sizes[0]
        for up in [0, *(up for up in others if up)] if node else []:
            if up == 0 or cells * sizes[up] <= CELLS:
                kept.append(up)
                cells *= sizes[up] if up else 1
        found.append(tuple(kept))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Node:
    """The counts of a node by level, classes × parents × values, its m, and its shares."""

    counts: list[Floats]
    m: Floats
    shares: list[Floats]

    @staticmethod
    def of(counts: Floats) -> Node:
        """From the counts of the deepest level."""
        levels = [counts]
        while levels[0].ndim > 2:
            levels.insert(0, total(levels[0], -2))
        column = total(levels[0], 0)
        size, rows = len(column), float(total(column))
        below = ((column + 1.0) / (rows + size))[np.newaxis]
        left = ((np.maximum(column - 1.0, 0.0) + 1.0) / (max(rows - 1.0, 0.0) + size))[np.newaxis]
        found, shares = [], []
        for level in levels:
            m, below, left = loops.smooth_level(level.reshape(-1, size), below, left, GRID)
            found.append(m)
            shares.append(below.reshape(level.shape))
        return Node(levels, np.array(found), shares)

    def table(self, weights: Sequence[float]) -> Floats:
        """Σ over levels of weight · log share: cells × classes.

        A cell has a place for each parent, one more than it has values, and for the value. A parent of which nothing is
        known stops at the level before it.
        """
        known = logs(self.shares[0])
        found = weights[0] * known
        for shares, weight in zip(self.shares[1:], weights[1:]):
            known = np.repeat(known[..., np.newaxis, :], shares.shape[-2] + 1, axis=-2)
            known[tuple(slice(size) for size in shares.shape)] = logs(shares)
            found = found[..., np.newaxis, :] + weight * known
        return np.ascontiguousarray(np.moveaxis(found, 0, -1)).reshape(-1, len(self.counts[0]))

    def sheet(self) -> dict[str, Any]:
        """The deepest counts, from which the shares follow, and the m of each level; of many zeros what is between."""
        flat = np.ravel(self.counts[-1])
        places = np.flatnonzero(flat)
        own = {"shape": list(self.counts[-1].shape), "m": self.m, "gaps": None, "counts": flat}
        if 4 * len(places) < len(flat):
            own |= {"gaps": np.diff(places, prepend=0).astype(np.float64), "counts": flat[places]}
        return own


@dataclass(frozen=True, eq=False)
class BackOff:
    """The tables of a network whose node 0 is the class, which is a parent of all others."""

    parents: Parents
    labels: tuple[Labels, ...]  # of each node
    rows: Floats  # of each class
    imagined: Floats
    columns: list[Node]  # the nodes but the class
    levels: LevelWeights | None

    @property
    def weights(self) -> list[tuple[float, ...]]:
        """Of each column those of its levels; without weights the deepest alone counts."""
        if self.levels is None:
            return [(*(0.0,) * (len(node.m) - 1), 1.0) for node in self.columns]
        return list(self.levels.weights)

    @cached_property
    def shares(self) -> Floats:
        """Of the classes."""
        return np.asarray((self.rows + self.imagined) / total(self.rows + self.imagined))

    @cached_property
    def log_prior(self) -> Floats:
        """The log share of each class, and its shift."""
        return logs(self.shares) + (0.0 if self.levels is None else self.levels.shifts_of(self.labels[0]))

    @cached_property
    def sums(self) -> list[Floats]:
        """Of each column what it adds to the log joint of each class, by cell."""
        return [node.table(weights) for node, weights in zip(self.columns, self.weights)]

    @property
    def n_parameters(self) -> int:
        """The share of each value but one given the parents, those of the classes, and the weights."""
        tables = sum(int(node.shares[-1].size - node.shares[-1][..., 0].size) for node in self.columns)
        weights = 0 if self.levels is None else sum(map(len, self.weights)) + len(self.rows) - 1
        return tables + weights + len(self.rows) - 1

    @cached_property
    def tables(self) -> list[Floats]:
        """The deepest shares as tables of a network in which what is missing is no state."""
        found = [self.shares]
        for node, above in enumerate(self.parents[1:], 1):
            table = self.columns[node - 1].shares[-1]
            for axis, each in enumerate((*above, node)):
                table = np.take(table, find(self.labels[each], self.states[each]), axis)
            found.append(table / table.sum(axis=-1, keepdims=True))
        return found

    @cached_property
    def states(self) -> list[Labels]:
        """The labels of each node without that of what is missing."""
        kept = [[label for label in own.tolist() if label is not None] for own in self.labels]
        return [labels_of(own) if own else MISSING for own in kept]

    def cells(self, codes: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """Of each column the cell of each row, by rows × columns codes; -1 where its value is not known."""
        found = []
        for node, above in enumerate(self.parents[1:], 1):
            place = np.zeros(len(codes), np.int32)
            for up in above[1:]:
                size, code = len(self.labels[up]), codes[:, up - 1]
                place *= size + 1
                place += np.where(code < 0, np.int32(size), code)
            value = codes[:, node - 1]
            place *= len(self.labels[node])
            place += value
            place[value < 0] = -1
            found.append(place)
        return found

    def joint(self, codes: NDArray[np.int32], floor: float | None = None) -> Floats:
        """The log joint of each row and class; no share is 0."""
        joint = densities.repeat_row(self.log_prior if floor is None else np.maximum(self.log_prior, floor), len(codes))
        loops.add_log_likelihood(self.cells(codes), self.sums, joint)
        return joint

    def sheet_scorer(self, nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: the log prior, and of each column its levels."""
        terms = []
        for node, (each, weights) in enumerate(zip(self.columns, self.weights), 1):
            given = [dict(nodes[up]) for up in self.parents[node][1:]]
            own = {"node": dict(nodes[node]), "given": given, "weights": list(weights)}
            terms.append({"op": "levels", **own, **each.sheet()})
        return {"op": "back-off", "start": self.log_prior, "terms": terms}

    def entry(self, node: int, codes: NDArray[np.int32], classes: NDArray[np.intp]) -> Floats:
        """What a node adds to the log joint of a class of each row."""
        return self.sums[node - 1][self.cells(codes)[node - 1], classes]

    def left_out(self, codes: NDArray[np.int32], labels: NDArray[Any], own: Floats) -> tuple[Floats, Floats]:
        """The logs of each level of each column for rows that were learned, without their own weight in any count.

        Levels of all columns × rows × classes; and the log prior of the classes, rows × classes.
        """
        n_rows, K = len(codes), len(self.rows)
        found = np.empty((sum(len(node.m) for node in self.columns), n_rows, K))
        place = 0
        for node, each in enumerate(self.columns, 1):
            above = np.ascontiguousarray(codes[:, [up - 1 for up in self.parents[node][1:]]].T)
            out = found[place : place + len(each.m)]
            loops.left_out_levels(
                np.ascontiguousarray(codes[:, node - 1]), above, labels, own, each.counts, each.m, out
            )
            place += len(each.m)
        rows = np.tile(self.rows + self.imagined, (n_rows, 1))
        rows[np.arange(n_rows), labels] -= np.minimum(own, self.rows[labels])
        return found, logs(np.maximum(rows, 1e-300) / rows.sum(axis=1, keepdims=True))

    def factors(
        self,
        nodes: Sequence[str],
        states: Sequence[Sequence[str]],
        codes: Sequence[int],
        shown: Sequence[str],
        joint: Floats,
    ) -> list[Factor]:
        """The prior and a factor for each column: its shares by level, each to the power of its weight."""
        shifts = np.zeros(len(self.rows)) if self.levels is None else self.levels.shifts_of(self.labels[0])
        rows, imagined = self.rows.sum(), self.imagined.sum()
        terms = [
            fraction(n, a, rows, imagined) + (f" × e^{shift:.6g}" if shift else "")
            for n, a, shift in zip(self.rows, self.imagined, shifts)
        ]
        found = [Factor(say("prior"), "", tuple(map(_term, terms, self.log_prior.tolist())))]
        cells = [int(each[0]) for each in self.cells(np.array([codes], np.int32))]
        for node, (each, weights, cell) in enumerate(zip(self.columns, self.weights, cells), 1):
            if cell < 0:
                absent = shown[node - 1] == "missing"
                why = say(
                    "never missing in the rows that were learned: it says nothing"
                    if absent
                    else "never seen: it says nothing"
                )
                found.append(Factor(nodes[node], shown[node - 1], note=why))
                continue
            known = self.parents[node][1:]
            depth = next((j for j, up in enumerate(known) if codes[up - 1] < 0), len(known))
            given = ", ".join(f"{nodes[up]} {states[up][codes[up - 1]]}" for up in known[:depth])
            at = [tuple(codes[up - 1] for up in known[:j]) for j in range(depth + 1)]
            hows = [_powers(each, weights, k, at, codes[node - 1]) for k in range(len(self.rows))]
            terms_ = tuple(map(_term, hows, self.sums[node - 1][cell].tolist()))
            value = f"{shown[node - 1]} | {given}" if given else shown[node - 1]
            found.append(Factor(nodes[node], value, terms_))
        return found


def _term(how: str, log: float) -> Term:
    return Term(how, exponential(log), log)


def _powers(node: Node, weights: Sequence[float], k: int, at: Sequence[tuple[int, ...]], value: int) -> str:
    """The shares of the levels that are known, each to its weight; the last as its counts give it."""
    depth = len(at) - 1
    powers = [*weights[:depth], sum(weights[depth:])]  # levels beyond repeat the last that is known
    parts = []
    for j, (above, power) in enumerate(zip(at, powers)):
        if power == 0:
            continue
        counts, m = node.counts[j][(k, *above)], float(node.m[j])
        below = node.shares[j - 1][(k, *at[j - 1], value)] if j else _base(node)[value]
        share = f"{node.shares[j][(k, *above, value)]:.6g}"
        if j == depth:
            share = f"({counts[value]:.12g} + {m:g}·{below:.6g})/({counts.sum():.12g} + {m:g})"
        parts.append(share if power == 1 else f"({share})^{power:.4g}" if j == depth else f"{share}^{power:.4g}")
    return " × ".join(parts) or "1"


def _base(node: Node) -> Floats:
    column = node.counts[0].sum(axis=0)
    return np.asarray((column + 1.0) / (column.sum() + len(column)))


def estimate(
    tally: Tally,
    nodes: Sequence[str],
    parents: Parents,
    declared: Mapping[str, Labels],
    prior: Prior,
    levels: LevelWeights | None,
) -> BackOff:
    """All the tables, from the counts; the prior is that of the classes. Intervals and classes are declared."""
    none = labels_of([])
    labels = [unite(declared.get(node, none), tally.labels(table_name(node), -1)) for node in nodes]
    labels = [own if len(own) else MISSING for own in labels]  # all of a column's values were forgotten
    rows, *counts = counts_over(tally, nodes, parents, labels)
    return BackOff(parents, tuple(labels), rows, prior.pseudo_counts(labels[0]), list(map(Node.of, counts)), levels)
