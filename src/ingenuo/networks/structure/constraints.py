"""What a search may not do: arcs that must be there, arcs that must not, and how large a family may become."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import NetworkError
from ingenuo.networks.graph import refuse_cycle
from ingenuo.networks.structure.search import Arc, parents_of

Flags = NDArray[np.bool_]

# Cells of a node's table (32 MB in doubles): a search proposes no family with more, and none can be required.
MOST_CELLS = 1 << 22


class Constraints:
    """Required and forbidden arcs and the most parents a node may have, checked against one another.

    Parameters
    ----------
    cards
        The number of states of each node.
    required, forbidden
        Arcs, (parent, child).
    max_parents
        The most parents of a node; None for no limit but that of :data:`MOST_CELLS`.
    names
        What messages call the nodes; their numbers where not given.

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
