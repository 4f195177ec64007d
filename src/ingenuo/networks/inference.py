"""Messages along a junction tree: what each clique's tables say, summed down to what it shares with the next.

Gathered once towards the top, they give the probability of the evidence; sent back, the posterior of any clique. The
way back is walked only as far as is asked. Products are of plain probabilities, each message divided by its largest
cell; where one falls below the smallest double (evidence that pulls in opposite ways by hundreds of magnitudes), all is
done again with logarithms, which is slower and cannot fail so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ImpossibleEvidenceError, NetworkError, TooWideError
from ingenuo.kernels import networks
from ingenuo.kernels.networks import Flat
from ingenuo.kernels.portable import exp, log
from ingenuo.networks.graph import LIMIT, JunctionTree, Parents, ancestors, order

Floats = NDArray[np.float64]
Axes = tuple[int, ...]
States = NDArray[np.int64]
Likelihoods = Mapping[int, Floats]

# With more cells than this in the whole network's tree, one for the question alone is sooner made and walked: barley
# (25 million) with a fifth of its nodes observed takes 0.02 s instead of 0.9.
_LARGE = 1 << 20
LN_2 = 0.6931471805599453
_UNKNOWN = np.ones(2)


@dataclass(frozen=True)
class Arithmetic:
    """What stands for product, quotient and sum, and how numbers come in and go out."""

    multiply: Callable[..., Any]
    divide: Callable[[Floats, Floats], Floats]
    total: Callable[[Floats, Axes], Floats]
    enter: Callable[[Floats], Floats]
    shares: Callable[[Floats], Floats]  # plain numbers, in proportion along the last axis
    scaled: Callable[[Floats], tuple[Floats, float]]  # so that the largest is 1, and what it was
    logarithms: Callable[[Floats], Floats]  # of what `scaled` gave


def _quotient(above: Floats, below: Floats) -> Floats:
    """0/0 is 0: what was impossible stays so."""
    return above / np.where(below == 0.0, 1.0, below)


def _scaled(table: Floats) -> tuple[Floats, float]:
    largest = float(table.max())
    return (table if largest == 0.0 else table / largest), largest


def _difference(above: Floats, below: Floats) -> Floats:
    return above - np.where(below == -np.inf, 0.0, below)


def _log(table: Floats) -> Floats:
    return np.asarray(log(table))


def _log_total(table: Floats, axes: Axes) -> Floats:
    if not axes:
        return table
    largest = np.maximum.reduce(table, axis=axes, keepdims=True)
    largest[largest == -np.inf] = 0.0
    result = _log(np.add.reduce(exp(table - largest), axis=axes))
    return np.asarray(result + largest.reshape(result.shape))


def _log_shares(table: Floats) -> Floats:
    largest = table.max(axis=-1, keepdims=True)
    largest[largest == -np.inf] = 0.0
    return np.asarray(exp(table - largest))


def _log_scaled(table: Floats) -> tuple[Floats, float]:
    largest = float(table.max())
    return (table if largest == -np.inf else table - largest), largest


def _largest(table: Floats, axes: Axes) -> Floats:
    return np.asarray(np.maximum.reduce(table, axis=axes))


def _total(table: Floats, axes: Axes) -> Floats:
    return np.asarray(np.add.reduce(table, axis=axes))


def _same(table: Any) -> Any:
    return table


# In place of a sum, LARGEST takes the largest term: for the most probable explanation.
PLAIN = Arithmetic(np.multiply, _quotient, _total, _same, _same, _scaled, log)
LOGARITHMS = Arithmetic(np.add, _difference, _log_total, _log, _log_shares, _log_scaled, _same)
LARGEST = Arithmetic(np.add, _difference, _largest, _log, _log_shares, _log_scaled, _same)


class Propagation:
    """The tables of a network and what is known of its nodes, gathered along a junction tree.

    A likelihood says of each state of a node how likely what was seen is in it; one that is positive for one state only
    narrows every table that the node is in. The sum is plain by default, and by logarithms where that falls short.

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
        factors, scale, scales = self._factors()
        n = len(tree.cliques)
        messages: list[Floats | None] = [None] * n
        self._tables: list[Floats] = [_NOTHING] * n
        for clique in range(n - 1, -1, -1):
            table = _product(factors[clique], arithmetic.multiply)
            factors[clique] = []
            link = tree.links[clique]
            if link is None:
                shrunk = float(arithmetic.total(table, tuple(range(table.ndim))))
            else:
                message, shrunk = arithmetic.scaled(arithmetic.total(table, link.sum_below))
                messages[clique] = message
                factors[tree.above[clique]].append(message[link.fit_above])
            scales.append(shrunk)
            self._tables[clique] = table
        self._messages = messages
        self._sent = [link is None for link in tree.links]
        for each in arithmetic.logarithms(np.array(scales)).tolist():
            scale += each
        if scale == -np.inf:
            raise ImpossibleEvidenceError("the evidence has probability 0; leave some of it out")
        self.log_evidence = scale

    def _factors(self) -> tuple[list[list[Floats]], float, list[float]]:
        """Each clique's tables and soft evidence, narrowed to what is certain; a logarithmic scale; further scales."""
        tree, enter = self.tree, self.arithmetic.enter
        tables, likelihoods = self._given
        factors: list[list[Floats]] = [[] for _ in tree.cliques]
        scale, scales = 0.0, list[float]()
        self.known: dict[int, int] = {}
        for node, likelihood in likelihoods.items():
            possible = np.flatnonzero(likelihood)
            largest = float(likelihood.max())
            if not len(possible):
                raise ImpossibleEvidenceError("the evidence leaves a node no state at all; one must be possible")
            if largest != 1.0:
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
                scales.append(float(factor))
        return factors, scale, scales

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


# Every question is answered on as little of the network as it needs: nodes that are neither asked for nor above what is
# asked or observed are left out, and those observed are in no table.


def posteriors(
    parents: Parents,
    tables: Sequence[Floats],
    likelihoods: Likelihoods,
    nodes: Sequence[int] | None = None,
    tree: JunctionTree | None = None,
    limit: int = LIMIT,
) -> tuple[list[Floats], float]:
    """The posterior of each of the nodes (of all by default), and the logarithm of the evidence's probability.

    A caller that keeps the junction tree of the whole network gives it: that saves making one for this question,
    unless it is so large that a narrower one is worth it.

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
    entries = [tables[node][(*(explanation[a] for a in parents[node]), explanation[node])] for node in everything]
    entries += [likelihood[explanation[node]] for node, likelihood in likelihoods.items()]
    return explanation, sum(log(np.array(entries)).tolist())


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


# Many rows with missing values: by the kernel; rows too wide for it by a junction tree.


def log_joint(flat: Flat, codes: NDArray[np.integer], target: int) -> Floats:
    """The logarithm of P(target = k, the known cells of row i), rows × states of the target.

    >>> flat = Flat.of([(), (0,)], [np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])])
    >>> np.exp(log_joint(flat, np.array([[-1, 1]]), target=0))
    array([[0.05, 0.4 ]])
    """
    out = np.empty((len(codes), int(flat.cards[target])))
    wide = networks.joint_by_class(flat, codes, target, out)
    if len(wide):
        parents, tables = _whole(flat)
        for row in wide:
            known = _known(flat, codes[row])
            known.pop(target, None)
            try:
                (posterior,), log_evidence = posteriors(parents, tables, known, nodes=[target])
            except ImpossibleEvidenceError:
                out[row] = -np.inf
                continue
            out[row] = log(posterior) + log_evidence
    return out


def expected_counts(
    flat: Flat, codes: NDArray[np.integer], weights: Floats | None = None
) -> tuple[list[Floats], float]:
    """How often each cell of each table is expected, given the rows' known cells, and these cells' log likelihood.

    >>> flat = Flat.of([()], [np.array([0.25, 0.75])])
    >>> counts, log_likelihood = expected_counts(flat, np.array([[0], [-1]]))
    >>> counts, round(log_likelihood, 4)
    ([array([1.25, 0.75])], -1.3863)
    """
    cells, logs, wide = networks.expected_counts(flat, codes, weights)
    counts = flat.shaped(cells)
    weighing = np.ones(len(codes)) if weights is None else np.asarray(weights, np.float64)
    if len(wide):
        parents, tables = _whole(flat)
        for row in wide:
            known = _known(flat, codes[row])
            logs[row] = log_probability(parents, tables, known)
            if logs[row] > -np.inf:
                for node, above in enumerate(parents):
                    counts[node] += weighing[row] * joint(parents, tables, known, (*above, node))
    impossible = (logs == -np.inf) & (weighing > 0)
    if impossible.any():
        raise ImpossibleEvidenceError(
            f"row {int(impossible.argmax())} has probability 0 under the network; "
            "give its tables a prior, such as Laplace(), or leave the row out"
        )
    return counts, float(weighing @ np.where(weighing > 0, logs, 0.0))


def _whole(flat: Flat) -> tuple[list[tuple[int, ...]], list[Floats]]:
    """The network as the junction tree reads it."""
    families: Sequence[NDArray[np.int64]] = np.split(flat.family, flat.starts[1:-1])
    return [tuple(family[:-1].tolist()) for family in families], flat.shaped(exp(flat.tables))


def _known(flat: Flat, row: NDArray[np.integer]) -> dict[int, Floats]:
    return {node: np.eye(1, int(flat.cards[node]), int(code))[0] for node, code in enumerate(row) if code >= 0}


def arc_strengths(parents: Parents, propagation: Propagation) -> dict[tuple[int, int], float]:
    """Of each arc the mutual information, in bits, of its ends given the child's other parents.

    I(X; Y | Z) = Σ P(x, y, z) log₂( P(x, y, z) P(z) / (P(x, z) P(y, z)) )
    """
    found = {}
    for child, above in enumerate(parents):
        family = propagation.joint([*above, child]) if above else np.ones(1)  # parents in order, the child last
        for axis, parent in enumerate(above):
            without_child = family.sum(axis=-1, keepdims=True)
            without_parent = family.sum(axis=axis, keepdims=True)
            without_both = without_child.sum(axis=axis, keepdims=True)
            above_line, below_line = family * without_both, without_child * without_parent
            ratio = np.divide(above_line, below_line, out=np.ones_like(family), where=family > 0)
            found[parent, child] = max(0.0, float((family * log(ratio)).sum()) / LN_2)
    return found
