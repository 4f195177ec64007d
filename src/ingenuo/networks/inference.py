"""Messages along a junction tree: what each clique's tables say, summed down to what it shares with the next.

Gathered once towards the top, they give the probability of the evidence; sent back, as far as needed, the posterior of
any clique. Products are of plain probabilities, each message divided by its largest cell; where one falls below the
smallest double (evidence that pulls in opposite ways by hundreds of magnitudes), all is done again with logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ImpossibleEvidenceError, TooWideError
from ingenuo.kernels import codes as loops
from ingenuo.kernels.codes import Flat
from ingenuo.kernels.portable import exp, log, log_total
from ingenuo.networks import graph
from ingenuo.networks.graph import JunctionTree, Parents, ancestors, junction_tree, order

Floats = NDArray[np.float64]
States = NDArray[np.int64]
Tables = Sequence[Floats]
Likelihoods = Mapping[int, Floats]

# With more cells than this in the whole network's tree, one for the question alone is sooner made and walked: barley
# (25 million) with a fifth of its nodes observed takes 0.02 s instead of 0.9.
_LARGE = 1 << 20
LN_2 = 0.6931471805599453
_ALL = slice(None)


class Arithmetic(NamedTuple):
    """Plain numbers or logarithms: what stands for a product, a quotient, 0 and 1, and how axes are summed out."""

    multiply: Callable[..., Any]
    divide: Callable[..., Any]
    zero: float
    one: float
    total: Callable[..., Any]


PLAIN = Arithmetic(np.multiply, np.divide, 0.0, 1.0, np.add.reduce)
LOGARITHMS = Arithmetic(np.add, np.subtract, -inf, 0.0, log_total)
LARGEST = LOGARITHMS._replace(total=np.maximum.reduce)  # the largest term instead of a sum


class Propagation:
    """The tables of a network and what is known of its nodes, gathered along a junction tree.

    A likelihood says of each state of a node how likely what was seen is in it. The tables are narrowed to the nodes
    whose state is `known`.
    """

    def __init__(
        self,
        tree: JunctionTree,
        tables: Tables,
        likelihoods: Likelihoods,
        known: Mapping[int, int],
        arithmetic: Arithmetic | None = None,
    ) -> None:
        self.tree, self.known, self._given = tree, known, (tables, likelihoods)
        self._start(arithmetic or PLAIN, final=arithmetic is not None)

    def _start(self, arithmetic: Arithmetic, final: bool) -> None:
        self.arithmetic = arithmetic
        try:
            with self._watching():
                self._gather()
        except (FloatingPointError, ImpossibleEvidenceError):
            if final:
                raise
            self._start(LOGARITHMS, final=True)

    def _watching(self) -> np.errstate:
        """In plain numbers a product that falls below the smallest double is an error; the exponential's is none."""
        return np.errstate(under="raise" if self.arithmetic is PLAIN else "ignore")

    def _gather(self) -> None:
        """Multiply the tables into their cliques and send the sums up, from below."""
        tree, (multiply, divide, zero, _, total) = self.tree, self.arithmetic
        factors, self.log_evidence, scales = self._factors()
        self.tables, self._messages = [np.zeros(0)] * len(tree.cliques), [np.zeros(0)] * len(tree.cliques)
        for clique in range(len(tree.cliques) - 1, -1, -1):
            self.tables[clique] = table = _product(factors[clique], multiply)
            factors[clique] = []
            message = total(table, tree.links[clique][0])
            scales.append(float(message.max()))
            if tree.above[clique] >= 0:
                self._messages[clique] = message if scales[-1] == zero else divide(message, scales[-1])
                factors[tree.above[clique]].append(self._messages[clique][tree.links[clique][3]])
        self._complete = [above < 0 for above in tree.above]
        self.log_evidence += sum((log(np.array(scales)) if self.arithmetic is PLAIN else np.array(scales)).tolist())
        if self.log_evidence == -inf:
            raise ImpossibleEvidenceError("the evidence has probability 0; leave some of it out")

    def _factors(self) -> tuple[list[list[Floats]], float, list[float]]:
        """Each clique's tables and soft evidence; a logarithmic scale; and further scales."""
        tree, (tables, likelihoods) = self.tree, self._given
        enter: Callable[[Any], Any] = np.asarray if self.arithmetic is PLAIN else log
        factors: list[list[Floats]] = [[] for _ in tree.cliques]
        log_scale, scales = 0.0, list[float]()
        for node, likelihood in likelihoods.items():
            largest = float(likelihood.max())
            if largest <= 0.0:
                raise ImpossibleEvidenceError("the evidence leaves a node no state at all; one must be possible")
            if largest != 1.0:
                log_scale += log(largest)
            if node not in self.known:
                home = tree.homes[node]
                index = tuple(_ALL if member == node else None for member in tree.cliques[home])
                factors[home].append(enter(likelihood / largest)[index])
        for (clique, axes, index), table in zip(tree.placements, tables, strict=True):
            factor = enter(table)
            if clique >= 0:
                factors[clique].append(factor.transpose(axes)[index])
            else:
                scales.append(float(factor))
        return factors, log_scale, scales

    def _descend(self, clique: int) -> None:
        """Bring down to a clique what all others say."""
        path, (multiply, divide, zero, one, total) = list[int](), self.arithmetic
        while not self._complete[clique]:
            path.append(clique)
            clique = self.tree.above[clique]
        for clique in reversed(path):
            _, sum_above, fit_below, _ = self.tree.links[clique]
            message = self._messages[clique]
            news = total(self.tables[self.tree.above[clique]], sum_above)
            news = divide(news, np.where(message == zero, one, message))  # what was impossible stays so
            largest = news.max()
            news = news if largest == zero else divide(news, largest)
            self.tables[clique] = multiply(self.tables[clique], news[fit_below])
            self._complete[clique] = True

    def joint(self, nodes: Sequence[int]) -> Floats:
        """The joint posterior of nodes that are in one clique, with axes in their order."""
        free = [node for node in nodes if node not in self.known]
        result = np.zeros(tuple(self.tree.cards[node] for node in nodes))
        result[tuple(self.known.get(node, _ALL) for node in nodes)] = self._over(free) if free else 1.0
        return result

    def _over(self, free: list[int]) -> Floats:
        tree = self.tree
        try:
            with self._watching():
                clique = tree.homes[free[0]]
                if len(free) > 1:
                    clique = next(c for c, members in enumerate(tree.cliques) if set(free).issubset(members))
                self._descend(clique)
                kept = [node for node in tree.cliques[clique] if node in free]
                axes = tuple(axis for axis, node in enumerate(tree.cliques[clique]) if node not in free)
                table = np.asarray(self.arithmetic.total(self.tables[clique], axes))
                shares = self.shares(table.transpose([kept.index(node) for node in free]).reshape(-1))
                result: Floats = shares / np.add.reduce(shares)
                return result.reshape([tree.cards[node] for node in free])
        except FloatingPointError:
            self._start(LOGARITHMS, final=True)
            return self._over(free)

    def shares(self, table: Floats) -> Floats:
        """Plain numbers, in proportion along the last axis."""
        if self.arithmetic is PLAIN:
            return table
        largest = table.max(axis=-1, keepdims=True)
        return np.asarray(exp(table - np.where(largest == -inf, 0.0, largest)))

    def choose(self, states: States, pick: Callable[[Floats, States], Any]) -> None:
        """Set the states of all nodes, clique by clique from above; `pick` takes a column of some rows of cells."""
        for node, state in self.known.items():
            states[:, node] = state
        for members, table, (own, *_) in zip(self.tree.cliques, self.tables, self.tree.links):
            shared = [axis for axis in range(len(members)) if axis not in own]
            shape = tuple(table.shape[axis] for axis in shared)
            # A shared node that none of the tables here or below is about has an axis of length 1.
            places = [states[:, members[axis]] if table.shape[axis] > 1 else 0 for axis in shared]
            cells = table.transpose([*shared, *own]).reshape(prod(shape), -1)
            picked = np.unravel_index(pick(cells, _cell(places, shape, len(states))), [table.shape[a] for a in own])
            for axis, column in zip(own, picked):
                states[:, members[axis]] = column


def _product(factors: list[Floats], multiply: Callable[..., Any]) -> Floats:
    """The product of tables that broadcast; the small ones first, and in place once it has its full size."""
    factors.sort(key=lambda factor: factor.size)
    result, owned = factors[0], False
    for factor in factors[1:]:
        if owned and all(f in (1, r) for f, r in zip(factor.shape, result.shape)):
            multiply(result, factor, out=result)
        else:
            result, owned = multiply(result, factor), True
    return result


def _cell(states: Sequence[Any], shape: Sequence[int], n: int) -> States:
    """The place of each row's states in a table that is laid out flat."""
    cell = np.zeros(n, np.int64)
    for column, card in zip(states, shape, strict=True):
        cell = cell * card + column
    return cell


def propagate(
    parents: Parents,
    tables: Tables,
    likelihoods: Likelihoods,
    asked: Collection[int],
    together: Sequence[int] = (),
    arithmetic: Arithmetic | None = None,
    whole: bool = False,
) -> Propagation:
    """Gather the tables that matter to the question: of the nodes in it, and of those above them.

    Nodes whose state is known are in no clique. Or the tree may be the whole network's, which serves any evidence.
    """
    cards = tuple(table.shape[-1] for table in tables)
    single = {node: 0 for node, card in enumerate(cards) if card == 1}
    certain = {node: int(each.argmax()) for node, each in likelihoods.items() if np.count_nonzero(each) == 1}
    known = {**single, **certain}
    relevant = sorted(ancestors(parents, {*asked, *likelihoods}))
    families = [(*parents[node], node) for node in relevant]

    def tree_without(fixed: Mapping[int, int]) -> JunctionTree:
        scopes = tuple(tuple(node for node in family if node not in fixed) for family in families)
        return junction_tree(scopes, cards, tuple(node for node in together if node not in fixed))

    if whole and certain:
        try:
            whole = tree_without(single).cells <= _LARGE
        except TooWideError:
            whole = False
    fixed = single if whole else known
    at = {node: state if node in fixed else slice(state, state + 1) for node, state in known.items()}
    narrowed = [
        tables[node] if known.keys().isdisjoint(family) else tables[node][tuple(at.get(each, _ALL) for each in family)]
        for node, family in zip(relevant, families)
    ]
    return Propagation(tree_without(fixed), narrowed, likelihoods, known, arithmetic)


def posteriors(
    parents: Parents, tables: Tables, likelihoods: Likelihoods, nodes: Sequence[int] | None = None
) -> tuple[list[Floats], float]:
    """The posterior of each of the nodes (of all by default), and the logarithm of the evidence's probability."""
    asked = range(len(parents)) if nodes is None else nodes
    first = [] if nodes is None else asked[:1]
    found = propagate(parents, tables, likelihoods, asked, first, whole=nodes is None)
    return [found.joint((node,)) for node in asked], found.log_evidence


def joint(parents: Parents, tables: Tables, likelihoods: Likelihoods, nodes: Sequence[int]) -> Floats:
    """The joint posterior of several nodes, with axes in their order."""
    cells = prod(tables[node].shape[-1] for node in nodes)
    if cells > graph.LIMIT:
        raise TooWideError(
            f"a joint table of {len(nodes)} nodes has {cells:,} cells, where at most {graph.LIMIT:,} are allowed; "
            "ask for fewer nodes together, or count among samples"
        )
    return propagate(parents, tables, likelihoods, nodes, nodes).joint(nodes)


def log_probability(parents: Parents, tables: Tables, likelihoods: Likelihoods) -> float:
    """The logarithm of the evidence's probability; -inf where it is impossible."""
    try:
        return propagate(parents, tables, likelihoods, ()).log_evidence
    except ImpossibleEvidenceError:
        return -inf


def most_probable(parents: Parents, tables: Tables, likelihoods: Likelihoods) -> tuple[list[int], float]:
    """The states of all nodes that explain the evidence best, and the logarithm of their probability with it."""
    everything = range(len(parents))
    states = np.zeros((1, len(parents)), np.int64)
    found = propagate(parents, tables, likelihoods, everything, arithmetic=LARGEST)
    found.choose(states, lambda cells, rows: cells[rows].argmax(axis=1))
    best = states[0].tolist()
    entries = [tables[node][(*(best[a] for a in parents[node]), best[node])] for node in everything]
    entries += [likelihood[best[node]] for node, likelihood in likelihoods.items()]
    return best, sum(log(np.array(entries)).tolist())


def sample(parents: Parents, tables: Tables, likelihoods: Likelihoods, n: int, rng: np.random.Generator) -> States:
    """Rows × nodes, drawn from the posterior itself: none is rejected and none weighted.

    What is above evidence is drawn clique by clique along the junction tree, the rest from parents to children.
    """
    states = np.zeros((n, len(parents)), np.int64)
    settled = ancestors(parents, likelihoods)
    if settled:
        found = propagate(parents, tables, likelihoods, ())
        found.choose(states, lambda cells, rows: _draw(found.shares(cells), rows, rng))
    for node in order(parents):
        if node not in settled:
            rows = _cell([states[:, above] for above in parents[node]], tables[node].shape[:-1], n)
            states[:, node] = _draw(tables[node].reshape(-1, tables[node].shape[-1]), rows, rng)
    return states


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
    """The logarithm of P(target = k, the known cells of row i), rows × states of the target."""
    out, wide = loops.joint_by_class(flat, codes, target)
    network = _whole(flat) if len(wide) else ([], [])
    for row in wide:
        known = _known(flat, codes[row])
        known.pop(target, None)
        try:
            (posterior,), log_evidence = posteriors(*network, known, [target])
            out[row] = log(posterior) + log_evidence
        except ImpossibleEvidenceError:
            out[row] = -inf
    return out


def expected_counts(
    flat: Flat, codes: NDArray[np.integer], weights: Floats | None = None
) -> tuple[list[Floats], float]:
    """How often each cell of each table is expected, given the rows' known cells, and these cells' log likelihood."""
    cells, logs, wide = loops.expected_counts(flat, codes, weights)
    counts = flat.shaped(cells)
    weighting = np.ones(len(codes)) if weights is None else np.asarray(weights, np.float64)
    parents, tables = _whole(flat) if len(wide) else ([], [])
    for row in wide:
        known = _known(flat, codes[row])
        logs[row] = log_probability(parents, tables, known)
        for node, above in enumerate(parents if logs[row] > -inf else ()):
            counts[node] += weighting[row] * joint(parents, tables, known, (*above, node))
    impossible = (logs == -inf) & (weighting > 0)
    if impossible.any():
        raise ImpossibleEvidenceError(
            f"row {int(impossible.argmax())} has probability 0 under the network; "
            "give its tables a prior, such as Laplace(), or leave the row out"
        )
    return counts, float(weighting @ np.where(weighting > 0, logs, 0.0))


def _whole(flat: Flat) -> tuple[list[tuple[int, ...]], list[Floats]]:
    """The network as the junction tree reads it."""
    families: Sequence[NDArray[np.int64]] = np.split(flat.family, flat.starts[1:-1])
    return [tuple(family[:-1].tolist()) for family in families], flat.shaped(exp(flat.tables))


def _known(flat: Flat, row: NDArray[np.integer]) -> dict[int, Floats]:
    return {node: np.eye(1, int(flat.cards[node]), int(code))[0] for node, code in enumerate(row) if code >= 0}


def arc_strengths(parents: Parents, tables: Tables) -> dict[tuple[int, int], float]:
    """Of each arc the mutual information, in bits, of its ends given the child's other parents.

    I(X; Y | Z) = Σ P(x, y, z) log₂( P(x, y, z) P(z) / (P(x, z) P(y, z)) )
    """
    found, joints = {}, propagate(parents, tables, {}, range(len(parents)))
    for child, above in enumerate(parents):
        family = joints.joint([*above, child]) if above else np.ones(1)  # parents in order, the child last
        for axis, parent in enumerate(above):
            without_child = family.sum(axis=-1, keepdims=True)
            without_parent = family.sum(axis=axis, keepdims=True)
            without_both = without_child.sum(axis=axis, keepdims=True)
            # By logarithms: a product of two rare shares may be 0.
            possible = family > 0
            ratio = log(np.where(possible, family, 1.0))
            for sign, part in ((1, without_both), (-1, without_child), (-1, without_parent)):
                ratio += sign * log(np.where(possible, part, 1.0))
            found[parent, child] = max(0.0, float((family * ratio).sum()) / LN_2)
    return found
