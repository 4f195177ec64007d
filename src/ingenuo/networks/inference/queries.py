"""What can be asked of a network: posteriors, the probability of evidence, the likeliest explanation, samples.

Every question is answered on as little of the network as it needs: nodes that are neither asked for nor above anything
asked or observed are left out, and those observed are no longer in any table. Nodes are called by their places; what
is known of some is a likelihood for each of their states.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf, log, prod

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ImpossibleEvidenceError, TooWideError
from ingenuo.networks.graph import Parents, ancestors, order
from ingenuo.networks.inference.junction_tree import LIMIT, JunctionTree
from ingenuo.networks.inference.propagation import LARGEST, Arithmetic, Propagation

Floats = NDArray[np.float64]
States = NDArray[np.int64]
Likelihoods = Mapping[int, Floats]

# With more cells than this in the whole network's tree, one for the question alone is sooner made and walked: barley
# (25 million) with a fifth of its nodes observed takes 0.02 s instead of 0.9.
_LARGE = 1 << 20
_UNKNOWN = np.ones(2)


def posteriors(
    parents: Parents,
    tables: Sequence[Floats],
    likelihoods: Likelihoods,
    nodes: Sequence[int] | None = None,
    tree: JunctionTree | None = None,
    limit: int = LIMIT,
) -> tuple[list[Floats], float]:
    """The posterior of each of the nodes (of all by default), and the logarithm of the evidence's probability.

    Parameters
    ----------
    parents
        Of each node, the places of its parents.
    tables
        P(node | parents), the parents' axes in their order and the node's last.
    likelihoods
        What is known: of a node, a number for each state, not all 0. One state alone positive: it is that one.
    nodes
        Those asked for.
    tree
        The junction tree of the whole network, where the caller keeps one: it saves making one for this question,
        unless it is so large that a narrower one is worth it.
    limit
        The cells that tables may have in all.

    >>> tables = [np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.5, 0.5]])]
    >>> posteriors([(), (0,)], tables, {1: np.array([0.0, 1.0])}, nodes=[0])[0]
    [array([0.04761905, 0.95238095])]
    """
    asked = range(len(parents)) if nodes is None else nodes
    if tree is None or (tree.cells > _LARGE and (likelihoods or nodes is not None)):
        limit = limit if tree is None else max(limit, tree.cells)
        first = [node for node in asked if np.count_nonzero(likelihoods.get(node, _UNKNOWN)) > 1][:1]
        found = _propagation(parents, tables, likelihoods, asked, together=first, limit=limit)
    else:
        found = Propagation(tree, tables, likelihoods)
    return [found.marginal(node) for node in asked], found.log_evidence


def joint(
    parents: Parents,
    tables: Sequence[Floats],
    likelihoods: Likelihoods,
    nodes: Sequence[int],
    limit: int = LIMIT,
) -> Floats:
    """The joint posterior of several nodes, with axes in their order.

    >>> tables = [np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.5, 0.5]])]
    >>> joint([(), (0,)], tables, {}, [1, 0])
    array([[0.18, 0.4 ],
           [0.02, 0.4 ]])
    """
    cells = prod(tables[node].shape[-1] for node in nodes)
    if cells > limit:
        raise TooWideError(
            f"a joint table of {len(nodes)} nodes has {cells:,} cells, where at most {limit:,} are allowed; "
            "ask for fewer nodes together, or count among samples"
        )
    return _propagation(parents, tables, likelihoods, nodes, nodes, limit=limit).joint(nodes)


def log_probability(parents: Parents, tables: Sequence[Floats], likelihoods: Likelihoods, limit: int = LIMIT) -> float:
    """The logarithm of the evidence's probability; -inf where it is impossible.

    >>> round(log_probability([()], [np.array([0.25, 0.75])], {0: np.array([1.0, 0.0])}), 4)
    -1.3863
    """
    try:
        return _propagation(parents, tables, likelihoods, (), limit=limit).log_evidence
    except ImpossibleEvidenceError:
        return -inf


def most_probable(
    parents: Parents, tables: Sequence[Floats], likelihoods: Likelihoods, limit: int = LIMIT
) -> tuple[list[int], float]:
    """The states of all nodes that explain the evidence best, and the logarithm of their probability with it.

    Of explanations that are equally probable it is always the same one.

    >>> tables = [np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.5, 0.5]])]
    >>> most_probable([(), (0,)], tables, {0: np.array([1.0, 0.0])})
    ([0, 0], -1.7147984280919266)
    """
    everything = range(len(parents))
    found = _propagation(parents, tables, likelihoods, everything, limit=limit, arithmetic=LARGEST)
    states = np.zeros((1, len(parents)), np.int64)
    for node, state in found.known.items():
        states[:, node] = state
    for clique in range(len(found.tree.cliques)):
        rows, cells, rest, shape = _given_above(found, clique, states)
        best = cells[rows[0]].argmax()
        for node, state in zip(rest, np.unravel_index(best, shape)):
            states[:, node] = state
    explanation = [int(state) for state in states[0]]
    total = sum(log(tables[node][(*(explanation[a] for a in parents[node]), explanation[node])]) for node in everything)
    return explanation, total + sum(log(likelihood[explanation[node]]) for node, likelihood in likelihoods.items())


def sample(
    parents: Parents,
    tables: Sequence[Floats],
    likelihoods: Likelihoods,
    n: int,
    rng: np.random.Generator,
    limit: int = LIMIT,
) -> States:
    """Rows × nodes, drawn from the posterior itself: none is rejected and none weighted.

    What is above evidence is drawn clique by clique along the junction tree, the rest from parents to children.

    >>> tables = [np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.0, 1.0]])]
    >>> sample([(), (0,)], tables, {1: np.array([1.0, 0.0])}, 3, np.random.default_rng(0))
    array([[0, 0],
           [0, 0],
           [0, 0]])
    """
    states = np.zeros((n, len(parents)), np.int64)
    settled = ancestors(parents, likelihoods)
    if settled:
        found = _propagation(parents, tables, likelihoods, (), limit=limit)
        for node, state in found.known.items():
            states[:, node] = state
        for clique in range(len(found.tree.cliques)):
            rows, cells, rest, shape = _given_above(found, clique, states)
            drawn = _draw(found.arithmetic.shares(cells), rows, rng)
            for node, drawn_states in zip(rest, np.unravel_index(drawn, shape)):
                states[:, node] = drawn_states
    for node in order(parents):
        if node not in settled:
            above = parents[node]
            rows = _cell([states[:, a] for a in above], tables[node].shape[:-1], n)
            states[:, node] = _draw(tables[node].reshape(-1, tables[node].shape[-1]), rows, rng)
    return states


def _propagation(
    parents: Parents,
    tables: Sequence[Floats],
    likelihoods: Likelihoods,
    asked: Collection[int],
    together: Sequence[int] = (),
    limit: int = LIMIT,
    arithmetic: Arithmetic | None = None,
) -> Propagation:
    """Gather the tables that matter to the question, with the observed states taken out of them."""
    known = {
        node: int(np.flatnonzero(likelihood)[0])
        for node, likelihood in likelihoods.items()
        if np.count_nonzero(likelihood) == 1
    }
    scopes, narrowed = [], []
    for node in sorted(ancestors(parents, {*asked, *likelihoods})):
        family = (*parents[node], node)
        scopes.append(tuple(member for member in family if member not in known))
        table = tables[node]
        if len(scopes[-1]) < len(family):
            table = table[tuple(known.get(member, slice(None)) for member in family)]
        narrowed.append(np.asarray(table))
    cards = [table.shape[-1] for table in tables]
    tree = JunctionTree.over(scopes, cards, [node for node in together if node not in known], limit)
    return Propagation(tree, narrowed, likelihoods, arithmetic)


def _given_above(found: Propagation, clique: int, states: States) -> tuple[States, Floats, list[int], tuple[int, ...]]:
    """A clique's table as rows of what it shares with the one above, and which of the rows each sample needs.

    Returns also the nodes of the columns, and their cards.
    """
    tree, table = found.tree, found.gathered(clique)
    members, link = tree.cliques[clique], tree.links[clique]
    shared = set(link.nodes) if link else set()
    first = [axis for axis, node in enumerate(members) if node in shared]
    last = [axis for axis, node in enumerate(members) if node not in shared]
    shape = tuple(table.shape[axis] for axis in first)
    cells = table.transpose(first + last).reshape(prod(shape), -1)
    # A shared node that none of the tables here or below is about has an axis of length 1.
    places = [states[:, members[axis]] if table.shape[axis] > 1 else np.zeros(len(states), np.int64) for axis in first]
    rest = [members[axis] for axis in last]
    return _cell(places, shape, len(states)), cells, rest, tuple(tree.cards[node] for node in rest)


def _cell(states: Sequence[States], shape: tuple[int, ...], n: int) -> States:
    """The place of each row's states in a table that is laid out flat."""
    cell = np.zeros(n, np.int64)
    for column, card in zip(states, shape, strict=True):
        cell = cell * card + column
    return cell


def _draw(weights: Floats, rows: States, rng: np.random.Generator) -> States:
    """For each of `rows`, a column of that row of `weights`, by its weight: the first whose running sum is above u."""
    sums = np.cumsum(weights, axis=1)
    target = rng.random(len(rows)) * sums[rows, -1]
    low, high = np.zeros(len(rows), np.int64), np.full(len(rows), weights.shape[1] - 1)
    for _ in range((weights.shape[1] - 1).bit_length()):
        middle = (low + high) // 2
        beyond = sums[rows, middle] > target
        high = np.where(beyond, middle, high)
        low = np.where(beyond, low, np.minimum(middle + 1, high))
    return low
