"""Questions to a network: what follows from what is known, and what would follow from what is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ImpossibleEvidenceError, InputError, KindError, NetworkError
from ingenuo.networks import evidence as known
from ingenuo.networks import inference, showing
from ingenuo.networks.bare import Bare, frozen

Floats = NDArray[np.float64]
Evidence = Mapping[str, Any] | None


class MostProbable(NamedTuple):
    """The most probable states of all nodes together."""

    states: dict[str, Any]
    probability: float  # of these states, given the evidence
    log_probability: float


class Asking(Bare):
    """A network that answers."""

    def posterior(self, node: str | Sequence[str], evidence: Evidence = None) -> dict[Any, float]:
        """P(node | evidence): state to probability; of several nodes together, a tuple of states to probability.

        Parameters
        ----------
        node : str, or list of them
            What is asked.
        evidence : mapping, optional
            Node to what is known of it: a state; a list of states (one of these); a mapping from state to likelihood
            (soft evidence), or to 0 only (not these). Of numbers in intervals, a number.
        """
        tables, likelihoods = self._known_tables(), self._evidence(evidence)
        states = self._known_states()
        if isinstance(node, str):
            place = known.place_of(self.nodes, node)
            with self._impossible(likelihoods):
                found, _ = inference.posteriors(self._parents, tables, likelihoods, [place])
            return dict(zip(states[place], found[0].tolist()))
        if not isinstance(node, list | tuple):
            raise KindError(f"ask for a node by its name, or for a list of them, got {type(node).__name__} {node!r}")
        places = [known.place_of(self.nodes, each) for each in node]
        if not places or len(set(places)) != len(places):
            raise NetworkError(f"ask for one node or several different ones, got {list(node)!r}")
        with self._impossible(likelihoods):
            together = inference.joint(self._parents, tables, likelihoods, places)
        return {
            tuple(states[place][i] for place, i in zip(places, cell)): float(together[cell])
            for cell in np.ndindex(together.shape)
        }

    def posteriors(self, evidence: Evidence = None) -> dict[str, dict[Any, float]]:
        """The posterior of every node."""
        return {
            node: dict(zip(own, found.tolist()))
            for node, own, found in zip(self.nodes, self._known_states(), self._beliefs(evidence))
        }

    def _beliefs(self, evidence: Evidence = None) -> list[Floats]:
        tables, likelihoods = self._known_tables(), self._evidence(evidence)
        with self._impossible(likelihoods):
            return inference.posteriors(self._parents, tables, likelihoods, tree=self._junction_tree(likelihoods))[0]

    def _junction_tree(self, likelihoods: Mapping[int, Floats]) -> inference.JunctionTree | None:
        """The tree of the whole network, kept; none where only the evidence makes it narrow enough."""
        if self._tree is None:
            try:
                self._tree = inference.JunctionTree.of(
                    self._parents, [table.shape[-1] for table in self._known_tables()]
                )
            except NetworkError:
                if not likelihoods:
                    raise
        return self._tree

    def probability(self, evidence: Evidence = None) -> float:
        """P(evidence); with soft evidence, the mean of its likelihoods."""
        return float(np.exp(self.log_probability(evidence)))

    def log_probability(self, evidence: Evidence = None) -> float:
        """log P(evidence), which may be -inf."""
        return inference.log_probability(self._parents, self._known_tables(), self._evidence(evidence))

    def most_probable(self, evidence: Evidence = None) -> MostProbable:
        """The most probable states of all nodes together, and their probability given the evidence."""
        tables, likelihoods = self._known_tables(), self._evidence(evidence)
        with self._impossible(likelihoods):
            places, log_joint = inference.most_probable(self._parents, tables, likelihoods)
        log = log_joint - inference.log_probability(self._parents, tables, likelihoods)
        found = {node: own[i] for node, own, i in zip(self.nodes, self._known_states(), places)}
        return MostProbable(found, float(np.exp(log)), float(log))

    def sample(self, n: int = 1, evidence: Evidence = None, random_state: Any = None) -> Any:
        """Draw rows given the evidence, exactly: an Arrow table with a column for each node."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer):
            raise KindError(f"n must be a whole number, got {type(n).__name__} {n!r}")
        if n < 0:
            raise InputError(f"cannot draw {n} rows; n must not be negative")
        tables, likelihoods = self._known_tables(), self._evidence(evidence)
        with self._impossible(likelihoods):
            drawn = inference.sample(self._parents, tables, likelihoods, int(n), np.random.default_rng(random_state))
        return showing.rows(self.nodes, self._known_states(), drawn)

    def _evidence(self, evidence: Evidence) -> dict[int, Floats]:
        found = known.likelihoods(self.nodes, self._known_states(), evidence, self.cuts)
        for place in self._set & found.keys():
            if not (self._known_tables()[place] * found[place]).any():
                raise ImpossibleEvidenceError(
                    f"{self.nodes[place]!r} was set, and is nothing else; leave it out of the evidence"
                )
        return known.combined(self._likelihoods, found, self.nodes)

    def _impossible(self, likelihoods: Mapping[int, Floats]) -> _Named:
        return _Named(self.nodes, self._known_states(), likelihoods)

    def observe(self, evidence: Mapping[str, Any] | None = None, /, **nodes: Any) -> Self:
        """The network in which this is known; every question to it takes it into account."""
        result = self._copy()
        result._likelihoods = self._evidence({**(evidence or {}), **nodes})
        return result

    def intervene(self, values: Mapping[str, Any] | None = None, /, **nodes: Any) -> Self:
        """The network in which nodes are *set*, whatever would have made them so: do(node = state).

        Arcs into such a node are cut, so that it tells nothing of its causes, and its effects follow. A mapping from
        every state to its probability sets it at random.
        """
        given = {**(values or {}), **nodes}
        chosen = known.set_values(self.nodes, self._known_states(), given, self.cuts)
        parents, tables = list(self._parents), list(self._known_tables())
        for place, shares in chosen.items():
            if place in self._likelihoods:
                raise NetworkError(
                    f"{self.nodes[place]!r} was observed, and cannot be set as well; intervene before observing others"
                )
            parents[place] = ()
            tables[place] = shares
        result = self._copy()
        result._parents, result._tables = tuple(parents), tuple(frozen(table) for table in tables)
        result._set = self._set | frozenset(chosen)
        result.tally, result._tree = None, None
        return result

    def strengths(self) -> dict[tuple[str, str], float]:
        """Of each arc the bits that parent and child tell of one another, given the child's other parents."""
        tree = self._junction_tree({})
        assert tree is not None
        found = showing.strengths(self._parents, inference.Propagation(tree, self._known_tables(), {}))
        return {(self.nodes[up], self.nodes[down]): bits for (up, down), bits in found.items()}


class _Named:
    """Impossible evidence within is told by the names of nodes and states."""

    def __init__(
        self, nodes: Sequence[str], states: Sequence[Sequence[Any]], likelihoods: Mapping[int, Floats]
    ) -> None:
        self.nodes, self.states, self.likelihoods = nodes, states, likelihoods

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, ImpossibleEvidenceError):
            shown = known.shown(self.nodes, self.states, self.likelihoods)
            raise ImpossibleEvidenceError(
                f"the evidence has probability 0: {shown}; the tables rule it out, so change it, or learn the tables "
                "with a prior that leaves nothing impossible, such as Laplace()"
            ) from None
