"""What a search for a structure returns: the structure, its score, and the way to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Arc = tuple[int, int]  # (parent, child)
Change = Literal["add", "delete", "reverse", "restart", "fill"]


@dataclass(frozen=True)
class Step:
    """One change of the structure.

    `arc` is (parent, child) as it was before the change, or as it is added; None for a restart, which goes on from
    where the path stands with some changes at random, and where holes were filled anew. `score` is that after the step.
    """

    change: Change
    arc: Arc | None
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
    steps: int = 0  # changes made, those given up included

    @property
    def arcs(self) -> list[Arc]:
        """(parent, child), by child."""
        return [(parent, child) for child, above in enumerate(self.parents) for parent in above]


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
