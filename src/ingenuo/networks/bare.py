"""What a network is made of: nodes, arcs, states and tables, before anything is asked of it or learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import NetworkError
from ingenuo.networks import evidence as known
from ingenuo.networks import showing
from ingenuo.networks.cuts import Cuts
from ingenuo.networks.definition import Definition
from ingenuo.networks.expectation import Expectation
from ingenuo.networks.graph import Parents, refuse_cycle
from ingenuo.networks.inference import JunctionTree
from ingenuo.networks.named_search import NamedSearch
from ingenuo.prior import Prior
from ingenuo.tally import Tally

Floats = NDArray[np.float64]


class Bare:
    """Nodes with named states, arcs without cycles, and the tables, if they are known."""

    def __init__(
        self,
        nodes: Sequence[str],
        parents: Parents,
        states: Mapping[str, Sequence[Any]] | None = None,
        tables: Sequence[Floats] | None = None,
        *,
        name: str = "network",
        cuts: Mapping[str, Cuts] | None = None,
        target: str | None = None,
        search: NamedSearch | None = None,
    ) -> None:
        self.nodes = tuple(nodes)
        self._parents = tuple(tuple(above) for above in parents)
        refuse_cycle(self.nodes, self._parents)
        self.name, self.target, self.search = name, target, search
        self.cuts: dict[str, Cuts] = dict(cuts or {})
        given = {node: tuple(own) for node, own in (states or {}).items()}
        self._states = None if tables is None else tuple(given[node] for node in self.nodes)
        # Of these nodes no other states are learned; those of numbers in intervals follow from the cuts.
        self._declared = {node: own for node, own in given.items() if node not in self.cuts}
        self._categories: frozenset[str] = frozenset()  # nodes whose columns are states, whatever they look like
        self._tables = None if tables is None else tuple(frozen(table) for table in tables)
        self.tally: Tally | None = None
        self.prior: Prior | None = None
        self.expectation: Expectation | None = None  # how holes were filled, if they were
        self._likelihoods: dict[int, Floats] = {}
        self._set: frozenset[int] = frozenset()  # nodes that were intervened on
        self._tree: JunctionTree | None = None

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """(parent, child) for every arc."""
        return [(self.nodes[up], self.nodes[down]) for down, above in enumerate(self._parents) for up in above]

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each node."""
        return {node: tuple(self.nodes[up] for up in above) for node, above in zip(self.nodes, self._parents)}

    @property
    def states(self) -> dict[str, list[Any]]:
        """The states of each node."""
        return {node: list(own) for node, own in zip(self.nodes, self._known_states())}

    @property
    def tables(self) -> dict[str, Floats]:
        """P(node | parents) of each node: an axis for each parent, the node's own last."""
        return dict(zip(self.nodes, self._known_tables()))

    @property
    def definition(self) -> Definition:
        """The network as plain data."""
        cuts = {node: each.points for node, each in self.cuts.items()}
        return Definition(self.nodes, self._known_states(), self._parents, self._known_tables(), self.name, cuts)

    def table(self, node: str) -> Any:
        """The table of a node as an Arrow table: a row for each configuration of its parents."""
        return showing.table_of(self.definition, known.place_of(self.nodes, node))

    def _known_tables(self) -> tuple[Floats, ...]:
        if self._tables is None:
            raise NetworkError(
                "the network has arcs and no tables yet: every node needs a value in some row, or declared states; "
                "learn them with fit(table), or give tables"
            )
        return self._tables

    def _known_states(self) -> tuple[tuple[Any, ...], ...]:
        self._known_tables()
        assert self._states is not None
        return self._states

    @property
    def evidence(self) -> str:
        """What was observed, and what was set, as a person writes it."""
        done = {place: self._known_tables()[place] for place in sorted(self._set)}
        observed = known.shown(self.nodes, self._known_states(), self._likelihoods) if self._likelihoods else ""
        doing = f"do({known.shown(self.nodes, self._known_states(), done, likely=False)})" if done else ""
        return ", ".join(part for part in (doing, observed) if part)

    def _copy(self) -> Self:
        result = type(self).__new__(type(self))
        result.__dict__.update(self.__dict__)
        return result


def frozen(table: Floats) -> Floats:
    """A copy that nobody can change."""
    table = np.array(table, np.float64)
    table.flags.writeable = False
    return table
