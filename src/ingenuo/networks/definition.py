"""A network as plain data: what files hold, inference reads and pictures show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Definition:
    """Nodes with named states, the parents of each, and its table: P(node | parents).

    Nodes are called by their places. The table of a node has an axis for each of its parents, in their order, and
    the node's own axis last, along which it sums to 1.
    """

    nodes: Sequence[str]
    states: Sequence[Sequence[Any]]  # of each node, its states in order
    parents: Sequence[tuple[int, ...]]  # of each node, the places of its parents
    tables: Sequence[Floats]
    name: str = "network"
    cuts: Mapping[str, tuple[float, ...]] = field(
        default_factory=dict
    )  # of nodes whose states are intervals of numbers

    @property
    def cards(self) -> tuple[int, ...]:
        """How many states each node has."""
        return tuple(len(states) for states in self.states)

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """(parent, child), by name."""
        return [(self.nodes[parent], self.nodes[child]) for child, above in enumerate(self.parents) for parent in above]
