"""What a search for a structure returns, and what it may not do: required and forbidden arcs, families too large."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import NetworkError
from ingenuo.networks.graph import refuse_cycle

Arc = tuple[int, int]  # (parent, child)
Change = Literal["add", "delete", "reverse", "restart", "fill"]
Flags = NDArray[np.bool_]

# Cells of a node's table (32 MB in doubles): a search proposes no family with more, and none can be required.
MOST_CELLS = 1 << 22


@dataclass(frozen=True)
class Step:
    """One change of the structure.

    `arc` is (parent, child) as it was before the change, or as it is added; None for a restart, which goes on from
    where the path stands with some changes at random, and where missing values were filled again. `score` is that
    after the step.
    """

    change: Change
    arc: Any  # by place, or by name
    gain: float
    score: float


@dataclass(frozen=True)
class Search:
    """A structure and how it was found.

    The path leads from the start (with the required arcs in it) to the structure: what a search tried and gave up
    is not on it, but is among the steps.

    >>> Search(((), (0,)), -3.5, "bic", (Step("add", (0, 1), 1.5, -3.5),)).arcs
    [(0, 1)]
    """

    parents: tuple[tuple[int, ...], ...]  # of each node, in ascending order
    score: float
    measure: str  # what the score and the gains are
    path: tuple[Step, ...] = ()
    evaluations: int = 0  # families counted and scored
    hits: int = 0  # families whose score was known
    steps: int = field(default=0, compare=False)  # changes made, those given up included

    @property
    def arcs(self) -> list[Arc]:
        """(parent, child), by child."""
        return [(parent, child) for child, above in enumerate(self.parents) for parent in above]

    def named(self, nodes: Sequence[str]) -> Search:
        """The same with the arcs of its path by the names of their ends."""
        path = (s if s.arc is None else replace(s, arc=(nodes[s.arc[0]], nodes[s.arc[1]])) for s in self.path)
        return replace(self, path=tuple(path))

    def __str__(self) -> str:
        steps = sum(step.arc is not None for step in self.path)
        lines = [f"{self.measure}: {self.score:.6g} after {steps} step{'' if steps == 1 else 's'}"]
        for number, step in enumerate(self.path, 1):
            what = step.change if step.arc is None else f"{step.change} {step.arc[0]} → {step.arc[1]}"
            lines.append(f"{number:4}  {what}  {step.gain:+.6g}  {step.score:.8g}")
        return "\n".join(lines)


def parents_of(n: int, arcs: Iterable[Arc]) -> tuple[tuple[int, ...], ...]:
    """Each node's parents, in ascending order.

    >>> parents_of(3, [(2, 0), (1, 0)])
    ((1, 2), (), ())
    """
    above: list[set[int]] = [set() for _ in range(n)]
    for parent, child in arcs:
        above[child].add(parent)
    return tuple(tuple(sorted(parents)) for parents in above)


def replay(start: Sequence[Iterable[int]], path: Iterable[Step]) -> tuple[tuple[int, ...], ...]:
    """The structure to which the path leads.

    >>> replay([(), ()], [Step("add", (0, 1), 1.0, 1.0), Step("reverse", (0, 1), 0.0, 1.0)])
    ((1,), ())
    """
    arcs = {(parent, child) for child, above in enumerate(start) for parent in above}
    for step in path:
        if step.arc is None:
            continue
        if step.change == "add":
            arcs.add(step.arc)
        else:
            arcs.remove(step.arc)
        if step.change == "reverse":
            arcs.add((step.arc[1], step.arc[0]))
    return parents_of(len(start), arcs)


class Constraints:
    """Required and forbidden arcs and the most parents a node may have, checked against one another.

    >>> Constraints([2, 2], [(0, 1)], [(0, 1)])
    Traceback (most recent call last):
    ...
    ingenuo.errors.NetworkError: the arc 0 → 1 is both required and forbidden; take it from one of the two lists
    """

    def __init__(
        self,
        cards: Sequence[int],
        required: Iterable[Arc] = (),
        forbidden: Iterable[Arc] = (),
        max_parents: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        n = len(cards)
        self.cards, self.names = tuple(cards), [str(name) for name in names] if names is not None else None
        if max_parents is not None and max_parents < 0:
            raise NetworkError(f"the most parents of a node are {max_parents}; they must be at least 0")
        self.most = n if max_parents is None else int(max_parents)
        self.required, self.forbidden = self._flags(required, "required"), self._flags(forbidden, "forbidden")
        both = np.argwhere(self.required & self.forbidden)
        if len(both):
            raise NetworkError(
                f"the arc {self.shown(*both[0])} is both required and forbidden; take it from one of the two lists"
            )
        np.fill_diagonal(self.forbidden, True)
        self.start = parents_of(n, ((int(parent), int(child)) for parent, child in np.argwhere(self.required)))
        refuse_cycle([self.name(node) for node in range(n)], self.start)
        self.check(self.start, "required")

    def name(self, node: int) -> str:
        """What messages call a node."""
        return str(node) if self.names is None else self.names[node]

    def shown(self, parent: int, child: int) -> str:
        """An arc as messages show it."""
        return f"{self.name(parent)} → {self.name(child)}"

    def check(self, parents: Sequence[Collection[int]], what: str) -> None:
        """Raise where a node has more parents than it may, or a table too large."""
        for node, above in enumerate(parents):
            if len(above) > self.most:
                raise NetworkError(
                    f"{self.name(node)} has {len(above)} {what} parents, but at most {self.most} are allowed; raise "
                    f"max_parents or take arcs away"
                )
            cells = math.prod((self.cards[node], *(self.cards[parent] for parent in above)))
            if cells > MOST_CELLS:
                raise NetworkError(
                    f"with its {what} parents the table of {self.name(node)} has {cells:,} cells, more than "
                    f"{MOST_CELLS:,}; take arcs away or join rare states"
                )

    def with_required(self, start: Sequence[Collection[int]]) -> tuple[tuple[int, ...], ...]:
        """A start that has the required arcs too; raises where it cannot be one.

        >>> Constraints([2, 2, 2], [(0, 1)]).with_required([(), (), (0,)])
        ((), (0,), (0,))
        """
        n = len(self.cards)
        if len(start) != n:
            raise NetworkError(f"the start has {len(start)} nodes, but there are {n}")
        flags = self._flags(((parent, child) for child, above in enumerate(start) for parent in above), "start's")
        wrong = np.argwhere(flags & self.forbidden)
        if len(wrong):
            raise NetworkError(f"the start has the arc {self.shown(*wrong[0])}, which is forbidden; take it away")
        parents = parents_of(n, ((int(parent), int(child)) for parent, child in np.argwhere(flags | self.required)))
        refuse_cycle([self.name(node) for node in range(n)], parents)
        self.check(parents, "starting")
        return parents

    def _flags(self, arcs: Iterable[Arc], what: str) -> Flags:
        n = len(self.cards)
        flags = np.zeros((n, n), np.bool_)
        for parent, child in arcs:
            for node in (parent, child):
                if not 0 <= node < n:
                    raise NetworkError(
                        f"the {what} arc {parent} → {child} names node {node}, but the nodes are 0 to {n - 1}"
                    )
            if parent == child and what != "forbidden":
                raise NetworkError(
                    f"the {what} arc {self.shown(parent, child)} leads from a node to itself; take it away"
                )
            flags[parent, child] = True
        return flags
