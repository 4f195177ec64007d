"""Structures by mutual information, each from one pass over the pairs of columns: naive, TAN, k-DB and Chow–Liu.

The information of two columns is taken from the rows in which both (and the class, where there is one) are known, in
nats per row. Ties go to the column that comes first. For the classifiers, TAN and k-DB, it is what the counts of the
other rows tell of each row (`told`): the plain information of a column of very many values, as the names of the rows,
would seem to be the greatest of all, and tells nothing of any row to come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import NetworkError, TooWideError
from ingenuo.kernels import moments
from ingenuo.kernels.contingency import codes_matrix, each_pair, too_wide
from ingenuo.kernels.information import told_by_others
from ingenuo.kernels.portable import log
from ingenuo.networks.learn import CELLS, configurations
from ingenuo.networks.structure.search import Measure, Search, Step, parents_of
from ingenuo.tally.exact import Exact
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]

MEASURE = "mutual information"
TOLD = "information from the other rows"

_ROUNDING = 1e-12  # nats per row

Job = list[int]
Cells = tuple[NDArray[np.int64], Exact]  # those that are not zero, and their sums

AT_A_TIME = 4 * CELLS  # cells of the tables that are counted in a pass
_WHOLE = 2.0**53  # up to which doubles count whole numbers exactly


class Pairs(Protocol):
    """What trees are made from: every two columns, measured by how often their values meet."""

    @property
    def n_columns(self) -> int:
        """How many nodes there are."""
        ...

    def about(self, target: int, nodes: Sequence[int], measure: Measure) -> dict[int, float]:
        """What each of the nodes tells of the target, from the rows in which both are known."""
        ...

    def shared(self, nodes: Sequence[int], target: int | None, measure: Measure) -> Floats:
        """What each two of the nodes share, given the target where there is one: a symmetric matrix.

        It is measured by the rows in which both, and the target, are known.
        """
        ...


def information(table: NDArray[Any]) -> float:
    """The mutual information of two columns given a third, in nats, from counts: third × first × second.

    I(a; b | c) = Σ p(a, b, c) log(p(a, b, c) p(c) / (p(a, c) p(b, c))).

    >>> round(information(np.array([[[5, 0], [0, 5]]])), 4), information(np.array([[[1, 1], [1, 1]]]))
    (0.6931, 0.0)
    """
    counts = np.asarray(table, np.float64)
    firsts, seconds = counts.sum(axis=2), counts.sum(axis=1)
    thirds = firsts.sum(axis=1)
    total = float(thirds.sum())
    if total <= 0:
        return 0.0
    # Rounding may leave a little less than nothing.
    return max(0.0, (_n_log_n(counts) + _n_log_n(thirds) - _n_log_n(firsts) - _n_log_n(seconds)) / total)


def told(table: NDArray[Any]) -> float:
    """The information of two columns given a third, each row told by the counts of the others; whichever way is less.

    Of b by a within class c that is the mean over rows of log p(b | a, c) / p(b | c), the row itself taken off all
    counts: with B values of b, q = (n_bc - 1 + 1/2) / (n_c - 1 + B/2), and the others of the same a added to B/2 of q,

        1/N Σ n_abc log (n_abc - 1 + q B/2) / ((n_ac - 1 + B/2) q)

    It is nothing where every row has an a of its own, and less than nothing where a and b are free of one another.

    >>> round(told(np.array([[[50, 0], [0, 50]]])), 4), told(np.array([[[1, 0], [0, 1]]]))
    (0.693, 0.0)
    """
    counts = np.asarray(table, np.float64)
    total = float(counts.sum())
    if total <= 0 or min(int((counts.sum(axis=axes) > 0).sum()) for axes in ((0, 1), (0, 2))) < 2:
        return 0.0  # a column of one value tells nothing, and there is nothing to tell of it
    other_way = np.ascontiguousarray(counts.transpose(0, 2, 1))
    least = min(told_by_others(np.ascontiguousarray(counts)), told_by_others(other_way)) / total
    return least if abs(least) > _ROUNDING else 0.0


def naive(n: int, target: int) -> Search:
    """Naive Bayes as a network: the target is every other node's only parent. No data is asked.

    >>> naive(3, 1).parents
    ((1,), (), (1,))
    """
    _check_node(target, n, "the target")
    steps = [("add", (target, node), math.nan) for node in range(n) if node != target]
    return _result(n, steps, math.nan)


def chow_liu(sample: Pairs, root: int = 0) -> Search:
    """The tree of the greatest likelihood: a maximum spanning tree of mutual information, directed from the root.

    >>> from ingenuo.networks.structure.search import Sample
    >>> a, b, c = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 0, 0]), np.array([0, 1, 1, 1, 0, 0])
    >>> chow_liu(Sample([a, b, c], [2, 2, 2])).parents
    ((), (0,), (1,))
    """
    n = sample.n_columns
    _check_node(root, n, "the root")
    shared = sample.shared(list(range(n)), None, information)
    return _result(n, _spanning_tree(shared, root, list(range(n))))


def tan(sample: Pairs, target: int, root: int | None = None) -> Search:
    """Tree-augmented naive Bayes (Friedman, Geiger, Goldszmidt 1997).

    The target is a parent of all; the others form a maximum spanning tree of their mutual information given the
    target (as `told` has it), directed from the root. Arcs that tell nothing are left out, so that the tree may fall
    apart.

    >>> from ingenuo.networks.structure.search import Sample
    >>> y, a, b = np.array([0, 0, 1, 1] * 9), np.array([0, 1, 1, 0] * 9), np.array([0, 1, 1, 0] * 9)
    >>> tan(Sample([y, a, b], [2, 2, 2]), target=0, root=1).parents
    ((), (0,), (0, 1))
    """
    n = sample.n_columns
    _check_node(target, n, "the target")
    nodes = [node for node in range(n) if node != target]
    said = sample.about(target, nodes, told)
    steps = [("add", (target, node), said[node]) for node in nodes]
    if root is None:
        root = max(nodes, key=lambda node: said[node], default=None)
    else:
        _check_node(root, n, "the root")
        if root == target:
            raise NetworkError(f"node {root} is both the target and the root; the root must be another node")
    if root is not None:
        shared = sample.shared(nodes, target, told)
        steps += [step for step in _spanning_tree(shared, nodes.index(root), nodes) if step[2] > 0]
    return _result(n, steps, measure=TOLD)


def kdb(sample: Pairs, target: int, k: int) -> Search:
    """The k-dependence classifier (Sahami 1996).

    The nodes come in the order of what they say of the target; each has the target as a parent and, of those before
    it, the k (or all, where they are fewer) with which it shares most information given the target, if that is more
    than chance would give.

    >>> from ingenuo.networks.structure.search import Sample
    >>> y, b, a = np.array([0, 0, 1, 1, 1] * 9), np.array([0, 0, 1, 1, 0] * 9), np.array([0, 0, 1, 0, 0] * 9)
    >>> kdb(Sample([y, a, b], [2, 2, 2]), target=0, k=1).parents
    ((), (0, 2), (0,))
    """
    n = sample.n_columns
    _check_node(target, n, "the target")
    if k < 0:
        raise NetworkError(f"k is {k}; a node cannot have fewer than 0 parents beside the target")
    nodes = [node for node in range(n) if node != target]
    said = sample.about(target, nodes, told)
    shared = sample.shared(nodes, target, told) if k else np.zeros((n, n))
    steps, earlier = [], list[int]()
    for place in sorted(range(len(nodes)), key=lambda place: -said[nodes[place]]):
        steps.append(("add", (target, nodes[place]), said[nodes[place]]))
        telling = [other for other in earlier if shared[place, other] > 0]
        nearest = sorted(telling, key=lambda other: (-shared[place, other], other))[:k]
        steps += [("add", (nodes[other], nodes[place]), float(shared[place, other])) for other in nearest]
        earlier.append(place)
    return _result(n, steps, measure=TOLD)


def _spanning_tree(shared: Floats, root: int, nodes: Sequence[int]) -> list[tuple[Any, tuple[int, int], float]]:
    """The arcs of a maximum spanning tree from the root on, in the order in which Prim's rule takes them."""
    best, above = shared[root].copy(), np.full(len(nodes), root)
    best[root] = -np.inf
    steps = []
    for _ in range(len(nodes) - 1):
        node = int(best.argmax())
        steps.append(("add", (nodes[above[node]], nodes[node]), float(best[node])))
        best[node] = -np.inf
        nearer = (shared[node] > best) & np.isfinite(best)
        best[nearer], above[nearer] = shared[node][nearer], node
    return steps


def _result(
    n: int, steps: Sequence[tuple[Any, tuple[int, int], float]], score: float = 0.0, measure: str = MEASURE
) -> Search:
    path = []
    for change, arc, gain in steps:
        score += gain
        path.append(Step(change, arc, gain, score))
    return Search(parents_of(n, (arc for _, arc, _ in steps)), score, measure, tuple(path), steps=len(path))


def _n_log_n(counts: Floats) -> float:
    positive = counts[counts > 0]
    return float((positive * log(positive)).sum())


def _check_node(node: int, n: int, what: str) -> None:
    if not 0 <= node < n:
        raise NetworkError(f"{what} is node {node}, but the nodes are 0 to {n - 1}")


# Rows that lie in parts: the tables of every two columns as a tally.
#
# All tables that are counted in a pass stand one after the other in a single one, whose labels are the numbers of the
# cells that are not zero. Node 0 is the class. A *job* is [given, lo, hi]: the pairs whose first column is one of lo,
# …, hi - 1; where `given` is 1 within each class, of the columns without it, else of all columns with the class.


def count_pairs(
    columns: Sequence[NDArray[Any]], cards: Sequence[int], jobs: Sequence[Job], weights: Floats | None = None
) -> Tally:
    """The tables of some rows; the class is the first column.

    >>> columns = [np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1, 1, -1])]
    >>> print(count_pairs(columns, [2, 2, 2], [[1, 0, 1]]))
    pairs:1:0: 1 1, 3 1
    """
    codes = codes_matrix(columns, cards)
    whole = weights is not None and bool((weights == np.rint(weights)).all()) and float(weights.sum()) < _WHOLE
    tables = {}
    for job in jobs:
        given, lo, hi = job
        labels, n_classes, own = _within(codes, cards, given)
        if weights is None or whole:
            see = _sparse_counts
            found = each_pair(codes[given:], own, labels, n_classes, weights, see, range(lo, min(hi, len(own) - 1)))
        else:
            one = partial(_sparse_weights, codes[given:], own, labels, n_classes, weights)
            found = {pair: one(*pair) for pair, _, _ in _tables(own, n_classes, lo, hi)}
        parts = [(start + found[pair][0], found[pair][1]) for pair, start, _ in _tables(own, n_classes, lo, hi)]
        cells = np.concatenate([at for at, _ in parts]) if parts else np.zeros(0, np.int64)
        tables[_name(job)] = Table.of({"cell": cells}, _together([sums for _, sums in parts]))
    return Tally(tables)


def _name(job: Job) -> str:
    return f"pairs:{job[0]}:{job[1]}"


def _within(codes: NDArray[np.int32], cards: Sequence[int], given: int) -> tuple[NDArray[Any], int, Sequence[int]]:
    return (codes[0], cards[0], cards[1:]) if given else (np.zeros(codes.shape[1], np.int64), 1, cards)


def _tables(cards: Sequence[int], n_classes: int, lo: int, hi: int) -> Iterator[tuple[tuple[int, int], int, int]]:
    """The pairs of a job, and where the cells of each begin and end."""
    start = 0
    for i in range(lo, min(hi, len(cards) - 1)):
        for j in range(i + 1, len(cards)):
            end = start + n_classes * cards[i] * cards[j]
            yield (i, j), start, end
            start = end


def _sparse_counts(table: NDArray[Any]) -> Cells:
    flat = np.ascontiguousarray(table).reshape(-1)
    at = np.flatnonzero(flat)
    return at, Exact.counts(flat[at].astype(np.int64))


def _sparse_weights(
    codes: NDArray[np.int32],
    cards: Sequence[int],
    labels: NDArray[Any],
    n_classes: int,
    weights: Floats,
    i: int,
    j: int,
) -> Cells:
    cells = configurations([labels, codes[i], codes[j]], [n_classes, cards[i], cards[j]], codes.shape[1])
    there = cells >= 0
    at, place = np.unique(cells[there], return_inverse=True)
    return at, moments.weights_by_cell(weights[there], place.astype(np.int64), len(at))


def _together(sums: Sequence[Exact]) -> Exact:
    """Sums one after the other."""
    ends = np.cumsum([0, *(each.shape[0] for each in sums)]).tolist()
    some = [each for each in sums if len(each.limbs)]
    low, high = (min(each.low for each in some), max(each.low + len(each.limbs) for each in some)) if some else (0, 0)
    limbs = np.zeros((high - low, ends[-1]), np.int64)
    for each, start, end in zip(sums, ends, ends[1:]):
        limbs[each.low - low : each.low - low + len(each.limbs), start:end] = each.limbs
    return Exact(limbs, low)


class PairCounts:
    """The pairs of columns of rows that lie elsewhere, counted by `count` for some jobs; the class is node 0."""

    def __init__(self, names: Sequence[str], cards: Sequence[int], count: Callable[[list[Job]], Tally]) -> None:
        self.names, self.cards, self._count = names, cards, count
        self._ahead: dict[str, Tally] = {}  # what was counted in a pass that was for something else

    @property
    def n_columns(self) -> int:
        """How many nodes there are."""
        return len(self.cards)

    def about(self, target: int, nodes: Sequence[int], measure: Measure) -> dict[int, float]:
        """What each of the nodes tells of the class."""
        assert target == 0
        jobs = self._jobs(1)
        tally = self._count([[0, 0, 1], *jobs[:1]])  # the pairs within the classes will be asked for next
        self._ahead = {_name(job): tally for job in jobs[:1]}
        tables = dict(self._read(tally, [0, 0, 1]))
        return {node: measure(tables[0, node]) for node in nodes}

    def shared(self, nodes: Sequence[int], target: int | None, measure: Measure) -> Floats:
        """What each two of the nodes share, within the classes if those are the target."""
        assert target in (None, 0)
        assert len(nodes) == self.n_columns - (target is not None)
        found = np.zeros((len(nodes), len(nodes)))
        for job in self._jobs(0 if target is None else 1):
            tally = self._ahead.pop(_name(job)) if _name(job) in self._ahead else self._count([job])
            for (i, j), table in self._read(tally, job):
                found[i, j] = found[j, i] = measure(table)
        return found

    def _jobs(self, given: int) -> list[Job]:
        """All pairs, in as many passes as their cells need."""
        cards, names = self.cards[given:], self.names[given:]
        n_classes = self.cards[0] if given else 1
        two = too_wide(cards, n_classes)
        if two is not None:
            a, b = two
            raise TooWideError(
                f"columns {names[a]!r} and {names[b]!r} have {cards[a]:,} and {cards[b]:,} values, and their table "
                f"within {n_classes} classes would be too large; leave one of them out, or join its rare values"
            )
        jobs: list[Job] = []
        cells = 0
        for i in range(len(cards) - 1):
            more = n_classes * cards[i] * sum(cards[i + 1 :])
            if more > AT_A_TIME:
                raise TooWideError(
                    f"the tables of {names[i]!r}, which has {cards[i]:,} values, with the columns after it would have "
                    f"{more:,} cells, and {AT_A_TIME:,} are the most; leave it out, or join its rare values"
                )
            if jobs and cells + more <= AT_A_TIME:
                jobs[-1][2], cells = i + 1, cells + more
            else:
                jobs.append([given, i, i + 1])
                cells = more
        return jobs

    def _read(self, tally: Tally, job: Job) -> Iterator[tuple[tuple[int, int], Floats]]:
        """The tables of a job's pairs."""
        given, lo, hi = job
        cards, n_classes = self.cards[given:], self.cards[0] if given else 1
        at = tally.labels(_name(job), 0)
        sums = tally.over(_name(job), at).floats()
        for (i, j), start, end in _tables(cards, n_classes, lo, hi):
            first, last = np.searchsorted(at, (start, end)).tolist()
            table = np.zeros(end - start)
            table[at[first:last] - start] = sums[first:last]
            yield (i, j), table.reshape(n_classes, cards[i], cards[j])
