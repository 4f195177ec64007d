"""Messages along a junction tree: what each clique's tables say, summed down to what it shares with the next.

Gathered once towards the top, they give the probability of the evidence; sent back, the posterior of any clique. The
way back is walked only as far as is asked. Products are of plain probabilities, each message divided by its largest
cell; where one falls below the smallest double (evidence that pulls in opposite ways by hundreds of magnitudes), all is
done again with logarithms, which is slower and cannot fail so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ImpossibleEvidenceError, NetworkError
from ingenuo.networks.inference.junction_tree import JunctionTree

Floats = NDArray[np.float64]
Axes = tuple[int, ...]


@dataclass(frozen=True)
class Arithmetic:
    """What stands for product, quotient and sum, and how numbers come in and go out."""

    multiply: Callable[..., Any]
    divide: Callable[[Floats, Floats], Floats]
    total: Callable[[Floats, Axes], Floats]
    enter: Callable[[Floats], Floats]
    shares: Callable[[Floats], Floats]  # plain numbers, in proportion along the last axis
    scaled: Callable[[Floats], tuple[Floats, float]]  # so that the largest is 1, and the logarithm of what it was


def _quotient(above: Floats, below: Floats) -> Floats:
    """0/0 is 0: what was impossible stays so."""
    return above / np.where(below == 0.0, 1.0, below)


def _scaled(table: Floats) -> tuple[Floats, float]:
    largest = float(table.max())
    return (table, -np.inf) if largest == 0.0 else (table / largest, log(largest))


def _difference(above: Floats, below: Floats) -> Floats:
    return above - np.where(below == -np.inf, 0.0, below)


def _logarithm(table: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(table)


def _log_total(table: Floats, axes: Axes) -> Floats:
    if not axes:
        return table
    largest = np.maximum.reduce(table, axis=axes, keepdims=True)
    largest[largest == -np.inf] = 0.0
    result: Floats = _logarithm(np.add.reduce(np.exp(table - largest), axis=axes))
    return result + largest.reshape(result.shape)


def _log_shares(table: Floats) -> Floats:
    largest = table.max(axis=-1, keepdims=True)
    largest[largest == -np.inf] = 0.0
    result: Floats = np.exp(table - largest)
    return result


def _log_scaled(table: Floats) -> tuple[Floats, float]:
    largest = float(table.max())
    return (table, -np.inf) if largest == -np.inf else (table - largest, largest)


PLAIN = Arithmetic(
    np.multiply,
    _quotient,
    lambda table, axes: np.add.reduce(table, axis=axes),
    lambda table: table,
    lambda t: t,
    _scaled,
)
LOGARITHMS = Arithmetic(np.add, _difference, _log_total, _logarithm, _log_shares, _log_scaled)
LARGEST = Arithmetic(  # in place of a sum the largest term: for the most probable explanation
    np.add, _difference, lambda table, axes: np.maximum.reduce(table, axis=axes), _logarithm, _log_shares, _log_scaled
)


class Propagation:
    """The tables of a network and what is known of its nodes, gathered along a junction tree.

    Parameters
    ----------
    tree
        The tree of the network, or of any tables (:meth:`JunctionTree.over`).
    tables
        Of each of the tree's scopes, its table.
    likelihoods
        Of nodes that something is known of, a number for each state: how likely what was seen is in it. A node whose
        likelihood is positive for one state only narrows every table that it is in.
    arithmetic
        Which sum; by default plain, and with logarithms where that falls short.

    >>> tables = [np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.5, 0.5]])]
    >>> found = Propagation(JunctionTree.of([(), (0,)], [2, 2]), tables, {1: np.array([1.0, 0.0])})
    >>> found.marginal(0).round(4), round(float(np.exp(found.log_evidence)), 4)
    (array([0.3103, 0.6897]), 0.58)
    """

    def __init__(
        self,
        tree: JunctionTree,
        tables: Sequence[Floats],
        likelihoods: Mapping[int, Floats] | None = None,
        arithmetic: Arithmetic | None = None,
    ) -> None:
        self.tree = tree
        self._given = (tables, likelihoods or {})
        self._start(arithmetic or PLAIN, final=arithmetic is not None)

    def marginal(self, node: int) -> Floats:
        """The posterior of one node."""
        return self.joint((node,))

    def marginals(self) -> list[Floats]:
        """The posterior of every node, by place."""
        return [self.joint((node,)) for node in range(len(self.tree.cards))]

    def joint(self, nodes: Sequence[int]) -> Floats:
        """The joint posterior of nodes that are in one clique, with axes in their order."""
        cards = self.tree.cards
        free = [node for node in nodes if cards[node] > 1 and node not in self.known]
        table = self._over(free) if free else np.ones(())
        if len(nodes) == len(free):
            return table
        result = np.zeros(tuple(cards[node] for node in nodes))
        result[tuple(_ALL if node in free else self.known.get(node, 0) for node in nodes)] = table
        return result

    def gathered(self, clique: int) -> Floats:
        """A clique's table: given what it shares with the one above, in proportion to its other nodes' posterior."""
        return self._tables[clique]

    def _over(self, free: list[int]) -> Floats:
        try:
            with self._watching():
                return self._summed(free)
        except FloatingPointError:
            self._start(LOGARITHMS, final=True)
            return self._over(free)

    def _watching(self) -> np.errstate:
        """In plain numbers a product that falls below the smallest double is an error; the exponential's is none."""
        return np.errstate(under="raise" if self.arithmetic is PLAIN else "ignore")

    def _summed(self, free: list[int]) -> Floats:
        clique = self._clique_with(free)
        self._complete(clique)
        members = self.tree.cliques[clique]
        wanted = set(free)
        axes = tuple(axis for axis, node in enumerate(members) if node not in wanted)
        table = self._tables[clique]
        if axes:
            table = self.arithmetic.total(table, axes)
        if len(free) > 1:
            kept = [node for node in members if node in wanted]
            table = table.transpose([kept.index(node) for node in free])
        shares = self.arithmetic.shares(table.reshape(-1))
        result: Floats = (shares / np.add.reduce(shares)).reshape(tuple(self.tree.cards[node] for node in free))
        return result

    def _clique_with(self, nodes: list[int]) -> int:
        if len(nodes) == 1:
            return self.tree.homes[nodes[0]]
        wanted = set(nodes)
        for clique, members in enumerate(self.tree.cliques):
            if wanted.issubset(members):
                return clique
        raise NetworkError(f"the nodes {sorted(wanted)} are in no clique together; make the tree with them together")

    def _start(self, arithmetic: Arithmetic, final: bool) -> None:
        self.arithmetic = arithmetic
        try:
            with self._watching():
                self._gather()
        except (FloatingPointError, ImpossibleEvidenceError):
            if final:
                raise
            self._start(LOGARITHMS, final=True)

    def _gather(self) -> None:
        """Multiply the tables into their cliques and send the sums up, from below."""
        tree, arithmetic = self.tree, self.arithmetic
        factors, scale = self._factors()
        n = len(tree.cliques)
        messages: list[Floats | None] = [None] * n
        self._tables: list[Floats] = [_NOTHING] * n
        for clique in range(n - 1, -1, -1):
            table = _product(factors[clique], arithmetic.multiply)
            factors[clique] = []
            link = tree.links[clique]
            if link is None:
                everything = arithmetic.total(table, tuple(range(table.ndim)))
                shrunk = arithmetic.scaled(np.atleast_1d(everything))[1]
            else:
                message, shrunk = arithmetic.scaled(arithmetic.total(table, link.sum_below))
                messages[clique] = message
                factors[tree.above[clique]].append(message[link.fit_above])
            if shrunk == -np.inf:
                raise ImpossibleEvidenceError("the evidence has probability 0; leave some of it out")
            scale += shrunk
            self._tables[clique] = table
        self._messages = messages
        self._sent = [link is None for link in tree.links]
        self.log_evidence = scale

    def _factors(self) -> tuple[list[list[Floats]], float]:
        """Each clique's tables and soft evidence, narrowed to the states that are certain; and a logarithmic scale."""
        tree, enter = self.tree, self.arithmetic.enter
        tables, likelihoods = self._given
        factors: list[list[Floats]] = [[] for _ in tree.cliques]
        scale = 0.0
        self.known: dict[int, int] = {}
        for node, likelihood in likelihoods.items():
            possible = np.flatnonzero(likelihood)
            largest = float(likelihood.max())
            if not len(possible):
                raise ImpossibleEvidenceError("the evidence leaves a node no state at all; one must be possible")
            scale += log(largest)
            if len(possible) == 1:
                self.known[node] = int(possible[0])
            elif node in tree.homes:
                clique = tree.homes[node]
                index = tuple(_ALL if member == node else None for member in tree.cliques[clique])
                factors[clique].append(enter(likelihood / largest)[index])
        for scope, placement, table in zip(tree.scopes, tree.placements, tables, strict=True):
            if not self.known.keys().isdisjoint(scope):
                certain = [self.known.get(node, -1) for node in scope]
                table = table[tuple(_ALL if state < 0 else slice(state, state + 1) for state in certain)]
            factor = enter(table).transpose(placement.axes)[placement.index]
            if placement.clique >= 0:
                factors[placement.clique].append(factor)
            else:
                number = float(factor)
                only = _log(number) if self.arithmetic is PLAIN else number
                if only == -np.inf:
                    raise ImpossibleEvidenceError("the evidence has probability 0; leave some of it out")
                scale += only
        return factors, scale

    def _complete(self, clique: int) -> None:
        """Bring down to a clique what all others say."""
        path = []
        while not self._sent[clique]:
            path.append(clique)
            clique = self.tree.above[clique]
        for clique in reversed(path):
            link, message = self.tree.links[clique], self._messages[clique]
            assert link is not None
            assert message is not None
            above = self.arithmetic.total(self._tables[self.tree.above[clique]], link.sum_above)
            news = self.arithmetic.scaled(self.arithmetic.divide(above, message))[0]
            self._tables[clique] = self.arithmetic.multiply(self._tables[clique], news[link.fit_below])
            self._sent[clique] = True


_ALL = slice(None)
_NOTHING = np.zeros(0)


def _log(number: float) -> float:
    return log(number) if number > 0 else -np.inf


def _product(factors: list[Floats], multiply: Callable[..., Any]) -> Floats:
    """The product of tables that broadcast; the small ones first, and in place once it has its full size."""
    factors.sort(key=lambda factor: factor.size)
    result = factors[0]
    owned = False
    for factor in factors[1:]:
        if owned and factor.size <= result.size and all(f in (1, r) for f, r in zip(factor.shape, result.shape)):
            multiply(result, factor, out=result)
        else:
            result = multiply(result, factor)
            owned = True
    return result
