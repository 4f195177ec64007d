"""Structures by mutual information, each from one pass over the pairs of columns: naive, TAN, k-DB and Chow–Liu.

The information of two columns is taken from the rows in which both (and the class, where there is one) are known, in
nats per row. Ties go to the column that comes first. For the classifiers, TAN and k-DB, it is what the counts of the
other rows tell of each row: the plain information of a column of very many values, as the names of the rows, would
seem to be the greatest of all, and tells nothing of any row to come. Their class is node 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import TooWideError
from ingenuo.kernels import moments
from ingenuo.kernels.networks import codes_matrix, each_pair, told_by_others, too_wide
from ingenuo.kernels.portable import log
from ingenuo.networks.learn import CELLS, configurations
from ingenuo.networks.structure.search import Search, Step, parents_of
from ingenuo.tally.exact import Exact
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Measure = Callable[[Floats], float]  # of counts: class × first × second
Steps = list[tuple[tuple[int, int], float]]  # the arcs in their order, and what each gains
Job = list[int]

INFORMATION, LEFT_OUT = "mutual information", "information from the other rows"
AT_A_TIME = CELLS  # cells of the tables that are counted in a pass
_ROUNDING = 1e-12  # nats per row
_WHOLE = 2.0**53  # up to which doubles count whole numbers exactly


def information(counts: Floats) -> float:
    """The mutual information of two columns given a third, in nats, from counts: third × first × second.

    I(a; b | c) = Σ p(a, b, c) log(p(a, b, c) p(c) / (p(a, c) p(b, c))).

    >>> round(information(np.array([[[5.0, 0], [0, 5]]])), 4), information(np.array([[[1.0, 1], [1, 1]]]))
    (0.6931, 0.0)
    """
    firsts, seconds = counts.sum(axis=2), counts.sum(axis=1)
    thirds = firsts.sum(axis=1)
    total = float(thirds.sum())
    if total <= 0:
        return 0.0
    # Rounding may leave a little less than nothing.
    return max(0.0, (_n_log_n(counts) + _n_log_n(thirds) - _n_log_n(firsts) - _n_log_n(seconds)) / total)


def information_left_out(counts: Floats) -> float:
    """The information of two columns given a third, each row told by the counts of the others; whichever way is less.

    Of b by a within class c that is the mean over rows of log p(b | a, c) / p(b | c), the row itself taken off all
    counts: with B values of b, q = (n_bc - 1 + 1/2) / (n_c - 1 + B/2), and the others of the same a added to B/2 of q,

        1/N Σ n_abc log (n_abc - 1 + q B/2) / ((n_ac - 1 + B/2) q)

    It is nothing where every row has an a of its own, and less than nothing where a and b are free of one another.

    >>> round(information_left_out(np.array([[[50.0, 0], [0, 50]]])), 4)
    0.693
    >>> information_left_out(np.array([[[1.0, 0], [0, 1]]]))
    0.0
    """
    total = float(counts.sum())
    if total <= 0 or min(int((counts.sum(axis=axes) > 0).sum()) for axes in ((0, 1), (0, 2))) < 2:
        return 0.0  # a column of one value tells nothing, and there is nothing to tell of it
    other_way = np.ascontiguousarray(counts.transpose(0, 2, 1))
    least = min(told_by_others(np.ascontiguousarray(counts)), told_by_others(other_way)) / total
    return least if abs(least) > _ROUNDING else 0.0


def naive(n: int) -> Search:
    """Naive Bayes as a network: the class is every other node's only parent. No data is asked.

    >>> naive(3).parents
    ((), (0,), (0,))
    """
    return _result(n, [((0, node), math.nan) for node in range(1, n)], INFORMATION)


def chow_liu(pairs: PairCounts, root: int = 0) -> Search:
    """The tree of the greatest likelihood: a maximum spanning tree of mutual information, directed from the root.

    >>> a, b, c = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 0, 0]), np.array([0, 1, 1, 1, 0, 0])
    >>> chow_liu(PairCounts.of([a, b, c], [2, 2, 2])).parents
    ((), (0,), (1,))
    """
    n = len(pairs.cards)
    return _result(n, _spanning_tree(pairs.shared(0, information), root), INFORMATION)


def tan(pairs: PairCounts, root: int | None = None) -> Search:
    """Tree-augmented naive Bayes (Friedman, Geiger, Goldszmidt 1997).

    The class is a parent of all; the others form a maximum spanning tree of their mutual information given the class,
    directed from the root. Arcs that tell nothing are left out, so that the tree may fall apart.

    >>> y, a, b = np.array([0, 0, 1, 1] * 9), np.array([0, 1, 1, 0] * 9), np.array([0, 1, 1, 0] * 9)
    >>> tan(PairCounts.of([y, a, b], [2, 2, 2]), root=1).parents
    ((), (0,), (0, 1))
    """
    n = len(pairs.cards)
    of_class = pairs.with_class(information_left_out)
    steps = [((0, node), of_class[node - 1]) for node in range(1, n)]
    if n > 1:
        first = int(np.argmax(of_class)) if root is None else root - 1
        tree = _spanning_tree(pairs.shared(1, information_left_out), first)
        steps += [((up + 1, down + 1), gain) for (up, down), gain in tree if gain > 0]
    return _result(n, steps, LEFT_OUT)


def kdb(pairs: PairCounts, k: int) -> Search:
    """The k-dependence classifier (Sahami 1996).

    The nodes come in the order of what they tell of the class; each has the class as a parent and, of those before
    it, the k (or all, where they are fewer) with which it shares most information given the class, if that is more
    than chance would give.

    >>> y, b, a = np.array([0, 0, 1, 1, 1] * 9), np.array([0, 0, 1, 1, 0] * 9), np.array([0, 0, 1, 0, 0] * 9)
    >>> kdb(PairCounts.of([y, a, b], [2, 2, 2]), k=1).parents
    ((), (0, 2), (0,))
    """
    n = len(pairs.cards)
    of_class = pairs.with_class(information_left_out)
    shared = pairs.shared(1, information_left_out) if k else np.zeros((n, n))
    steps, earlier = Steps(), list[int]()
    for node in sorted(range(n - 1), key=lambda node: -of_class[node]):
        steps.append(((0, node + 1), of_class[node]))
        telling = [other for other in earlier if shared[node, other] > 0]
        nearest = sorted(telling, key=lambda other: (-shared[node, other], other))[:k]
        steps += [((other + 1, node + 1), float(shared[node, other])) for other in nearest]
        earlier.append(node)
    return _result(n, steps, LEFT_OUT)


def _spanning_tree(shared: Floats, root: int) -> Steps:
    """The arcs of a maximum spanning tree from the root on, in the order in which Prim's rule takes them."""
    best, above = shared[root].copy(), np.full(len(shared), root)
    best[root] = -np.inf
    steps = []
    for _ in range(len(shared) - 1):
        node = int(best.argmax())
        steps.append(((int(above[node]), node), float(best[node])))
        best[node] = -np.inf
        nearer = (shared[node] > best) & np.isfinite(best)
        best[nearer], above[nearer] = shared[node][nearer], node
    return steps


def _result(n: int, steps: Steps, measure: str) -> Search:
    path, score = [], 0.0
    for arc, gain in steps:
        score += gain
        path.append(Step("add", arc, gain, score))
    return Search(parents_of(n, (arc for arc, _ in steps)), score, measure, tuple(path), steps=len(path))


def _n_log_n(counts: Floats) -> float:
    positive = counts[counts > 0]
    return float((positive * log(positive)).sum())


# How often the values of two columns meet, for every two: a tally, so that rows may lie in parts.
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
    n_rows = codes.shape[1]
    whole = weights is None or (bool((weights == np.rint(weights)).all()) and float(weights.sum()) < _WHOLE)
    tables = {}
    for job in jobs:
        given, lo, hi = job
        labels, n_classes = (codes[0], cards[0]) if given else (np.zeros(n_rows, np.int64), 1)
        block, own = codes[given:], cards[given:]
        each = [pair for pair, _, _ in _tables(own, n_classes, lo, hi)]
        if whole:
            found = each_pair(block, own, labels, n_classes, weights, np.ravel, range(lo, min(hi, len(own) - 1)))
            cells = np.concatenate([found[pair] for pair in each]) if each else np.zeros(0, np.int64)
            at = np.flatnonzero(cells)
            sums = Exact.counts(cells[at].astype(np.int64))
        else:
            assert weights is not None
            exact = _concatenate([_exact_pair(block, own, labels, n_classes, weights, *pair) for pair in each])
            at = np.flatnonzero(exact.limbs.any(axis=0))
            sums = Exact.canonical(exact.limbs[:, at], exact.low)
        tables[_name(job)] = Table.of({"cell": at}, sums)
    return Tally(tables)


def _name(job: Job) -> str:
    return f"pairs:{job[0]}:{job[1]}"


def _tables(cards: Sequence[int], n_classes: int, lo: int, hi: int) -> Iterator[tuple[tuple[int, int], int, int]]:
    """The pairs of a job, and where the cells of each begin and end."""
    start = 0
    for i in range(lo, min(hi, len(cards) - 1)):
        for j in range(i + 1, len(cards)):
            end = start + n_classes * cards[i] * cards[j]
            yield (i, j), start, end
            start = end


def _exact_pair(
    codes: NDArray[np.int32],
    cards: Sequence[int],
    labels: NDArray[Any],
    n_classes: int,
    weights: Floats,
    i: int,
    j: int,
) -> Exact:
    sizes = [n_classes, cards[i], cards[j]]
    cells = configurations([labels, codes[i], codes[j]], sizes, len(weights))
    return moments.weights_by_cell(weights, cells, math.prod(sizes))


def _concatenate(sums: Sequence[Exact]) -> Exact:
    """Sums one after the other."""
    low, high = min(each.low for each in sums), max(each.low + len(each.limbs) for each in sums)
    padded = [np.pad(s.limbs, ((s.low - low, high - s.low - len(s.limbs)), (0, 0))) for s in sums]
    return Exact(np.concatenate(padded, axis=1), low)


class PairCounts:
    """The tables of every two columns, counted by `count` for some jobs wherever the rows lie; node 0 is the class."""

    def __init__(self, names: Sequence[str], cards: Sequence[int], count: Callable[[list[Job]], Tally]) -> None:
        self.names, self.cards, self._count = names, cards, count
        self._ahead: dict[str, Tally] = {}  # what was counted in a pass that was for something else

    @staticmethod
    def of(
        columns: Sequence[NDArray[Any]],
        cards: Sequence[int],
        weights: Floats | None = None,
        names: Sequence[str] | None = None,
    ) -> PairCounts:
        """The tables of rows in memory."""
        count = partial(count_pairs, columns, cards, weights=weights)
        return PairCounts(names or [str(node) for node in range(len(cards))], cards, count)

    def with_class(self, measure: Measure) -> list[float]:
        """What each of the other nodes shares with the class, by the rows in which both are known."""
        jobs = self._jobs(1)
        tally = self._count([[0, 0, 1], *jobs[:1]])  # the pairs within the classes will be asked for next
        self._ahead = {_name(job): tally for job in jobs[:1]}
        return [measure(table) for _, table in self._read(tally, [0, 0, 1])]

    def shared(self, given: int, measure: Measure) -> Floats:
        """What each two nodes share: 0, of all, or 1, of all but the class and within it; a symmetric matrix."""
        n = len(self.cards) - given
        found = np.zeros((n, n))
        for job in self._jobs(given):
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
        tables = list(_tables(cards, n_classes, lo, hi))
        cells = np.zeros(tables[-1][2] if tables else 0)
        at = tally.labels(_name(job), 0)
        cells[at] = tally.over(_name(job), at).floats()
        for (i, j), start, end in tables:
            yield (i, j), cells[start:end].reshape(n_classes, cards[i], cards[j])
