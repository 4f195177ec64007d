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
from ingenuo.kernels.codes import codes_matrix, each_pair, left_out_information, too_wide
from ingenuo.kernels.portable import log
from ingenuo.networks.learn import CELLS, configurations
from ingenuo.networks.search import Search, Step, parents_of
from ingenuo.tally.exact import Exact
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Measure = Callable[[Floats, NDArray[np.int64]], Floats]  # of tables class × first × second, one after the other
Steps = list[tuple[tuple[int, int], float]]  # the arcs in their order, and what each gains
# [given, lo, hi]: the pairs whose first column is one of lo, …, hi - 1; where `given` is 1 within each class, of the
# columns without it, else of all columns with the class.
Job = list[int]

INFORMATION, LEFT_OUT = "mutual information", "information from the other rows"
AT_A_TIME = CELLS  # cells of the tables that are counted in a pass
_ROUNDING = 1e-12  # nats per row
_WHOLE = 2.0**53  # up to which doubles count whole numbers exactly


def information(counts: Floats) -> float:
    """I(a; b | c) = Σ p(a, b, c) log(p(a, b, c) p(c) / (p(a, c) p(b, c))), in nats, from counts c × a × b."""
    firsts, seconds, total = counts.sum(axis=2), counts.sum(axis=1), float(counts.sum())
    if total <= 0:
        return 0.0
    parts = [
        float((each[each > 0] * log(each[each > 0])).sum()) for each in (counts, firsts.sum(axis=1), firsts, seconds)
    ]
    return max(0.0, (parts[0] + parts[1] - parts[2] - parts[3]) / total)  # rounding may leave a little less than 0


def information_of_each(cells: Floats, shapes: NDArray[np.int64]) -> Floats:
    """The information of each of several tables."""
    ends = np.cumsum(shapes.prod(axis=1))
    return np.array([information(cells[end - s.prod() : end].reshape(s)) for end, s in zip(ends, shapes)])


def information_left_out(cells: Floats, shapes: NDArray[np.int64]) -> Floats:
    """The information of two columns given a third, each row by the counts of the others; whichever way is less.

    Of b by a within class c that is the mean over rows of log p(b | a, c) / p(b | c), the row itself taken off all
    counts: with B values of b, q = (n_bc - 1 + 1/2) / (n_c - 1 + B/2), and the others of the same a added to B/2 of q,

        1/N Σ n_abc log (n_abc - 1 + q B/2) / ((n_ac - 1 + B/2) q)

    It is nothing where every row has an a of its own, and less than nothing where a and b are free of one another.
    """
    least = left_out_information(cells, shapes)
    return np.where(np.abs(least) > _ROUNDING, least, 0.0)


def naive(n: int) -> Search:
    """Naive Bayes as a network: the class is every other node's only parent."""
    return _result(n, [((0, node), math.nan) for node in range(1, n)], INFORMATION)


def chow_liu(pairs: PairCounts, root: int = 0) -> Search:
    """The tree of the greatest likelihood: a maximum spanning tree of mutual information, directed from the root."""
    return _result(len(pairs.cards), _spanning_tree(pairs.shared(0, information_of_each), root), INFORMATION)


def tan(pairs: PairCounts, root: int | None = None) -> Search:
    """Tree-augmented naive Bayes (Friedman, Geiger, Goldszmidt 1997).

    The class is a parent of all; the others form a maximum spanning tree of their mutual information given the class,
    directed from the root. Arcs that tell nothing are left out, so that the tree may fall apart.
    """
    n = len(pairs.cards)
    of_class = pairs.with_class(information_left_out)
    steps = [((0, node), float(of_class[node - 1])) for node in range(1, n)]
    if n > 1:
        first = int(np.argmax(of_class)) if root is None else root - 1
        tree = _spanning_tree(pairs.shared(1, information_left_out), first)
        steps += [((up + 1, down + 1), gain) for (up, down), gain in tree if gain > 0]
    return _result(n, steps, LEFT_OUT)


def kdb(pairs: PairCounts, k: int, least: float = 0.0) -> Search:
    """The k-dependence classifier (Sahami 1996).

    The nodes come in the order of what they tell of the class; each has the class as a parent and, of those before
    it, the k (or all, where they are fewer) with which it shares most information given the class, if that is more
    than the `least`: 0 is what chance would give.
    """
    n = len(pairs.cards)
    of_class = pairs.with_class(information_left_out)
    shared = pairs.shared(1, information_left_out) if k else np.zeros((n, n))
    steps, earlier = Steps(), list[int]()
    several = [card > 1 for card in pairs.cards[1:]]
    for node in sorted(range(n - 1), key=lambda node: -of_class[node]):
        steps.append(((0, node + 1), float(of_class[node])))
        telling = [each for each in earlier if shared[node, each] > least and several[node] and several[each]]
        nearest = sorted(telling, key=lambda other: (-shared[node, other], other))[:k]
        steps += [((other + 1, node + 1), float(shared[node, other])) for other in nearest]
        earlier.append(node)
    return _result(n, steps, LEFT_OUT)


def _spanning_tree(shared: Floats, root: int) -> Steps:
    """The arcs of a maximum spanning tree from the root outwards, by Prim's algorithm."""
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
    return Search(parents_of(n, (arc for arc, _ in steps)), score, measure, tuple(path))


# How often the values of two columns meet, for every two: a tally, so that rows may lie in parts. All tables that are
# counted in a pass stand one after the other in a single one, whose labels are the numbers of the cells that are not 0.


def sum_pairs(
    codes: NDArray[np.int32],
    cards: Sequence[int],
    labels: NDArray[Any],
    n_classes: int,
    weights: Floats | None,
    firsts: range,
) -> Exact:
    """The tables (class × first × second) of all pairs that begin with one of `firsts`, one after the other."""
    pairs = [(i, j) for i, j, _, _ in spans(cards, n_classes, firsts)]
    if not pairs:
        return Exact.counts(np.zeros(0, np.int64))
    if weights is None or (bool((weights == np.rint(weights)).all()) and float(weights.sum()) < _WHOLE):
        found = each_pair(codes, cards, labels, n_classes, weights, np.ravel, firsts)
        return Exact.counts(np.concatenate([found[pair] for pair in pairs]).astype(np.int64))
    sums = []
    for i, j in pairs:
        sizes = [n_classes, cards[i], cards[j]]
        cells = configurations([labels, codes[i], codes[j]], sizes, len(weights))
        sums.append(moments.weights_by_cell(weights, cells, math.prod(sizes)))
    low, high = min(each.low for each in sums), max(each.low + len(each.limbs) for each in sums)
    padded = [np.pad(s.limbs, ((s.low - low, high - s.low - len(s.limbs)), (0, 0))) for s in sums]
    return Exact(np.concatenate(padded, axis=1), low)


def spans(cards: Sequence[int], n_classes: int, firsts: range) -> Iterator[tuple[int, int, int, int]]:
    """The pairs of columns that begin with one of `firsts`, and where the cells of each begin and end."""
    start = 0
    for i in firsts:
        for j in range(i + 1, len(cards)):
            end = start + n_classes * cards[i] * cards[j]
            yield i, j, start, end
            start = end


def count_pairs(
    columns: Sequence[NDArray[Any]], cards: Sequence[int], jobs: Sequence[Job], weights: Floats | None = None
) -> Tally:
    """The tables of some rows; the class is the first column."""
    codes, tables = codes_matrix(columns, cards), {}
    for given, lo, hi in jobs:
        labels, n_classes = (codes[0], cards[0]) if given else (np.zeros(codes.shape[1], np.int64), 1)
        sums = sum_pairs(codes[given:], cards[given:], labels, n_classes, weights, range(lo, hi))
        at = np.flatnonzero(sums.limbs.any(axis=0))
        tables[f"pairs:{given}:{lo}:{hi}"] = Table.of({"cell": at}, Exact.canonical(sums.limbs[:, at], sums.low))
    return Tally(tables)


class PairCounts:
    """The tables of every two columns, counted by `count` for some jobs wherever the rows lie; node 0 is the class."""

    def __init__(self, names: Sequence[str], cards: Sequence[int], count: Callable[[list[Job]], Tally]) -> None:
        self.names, self.cards, self._count = names, cards, count
        self._ahead = Tally()  # what was counted in a pass that was for something else

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

    def with_class(self, measure: Measure) -> Floats:
        """What each of the other nodes shares with the class, by the rows in which both are known."""
        job = [0, 0, min(1, len(self.cards) - 1)]
        self._ahead = self._count([job, *self._jobs(1)[:1]])  # the pairs within the classes come next
        return measure(*self._read(job)[2:])

    def shared(self, given: int, measure: Measure) -> Floats:
        """What each two nodes share: 0, of all, or 1, of all but the class and within it; a symmetric matrix."""
        n = len(self.cards) - given
        found = np.zeros((n, n))
        for job in self._jobs(given):
            i, j, cells, shapes = self._read(job)
            found[i, j] = found[j, i] = measure(cells, shapes)
        return found

    def _jobs(self, given: int) -> list[Job]:
        """All pairs, in as many passes as their cells need."""
        cards, names = self.cards[given:], self.names[given:]
        n_classes = self.cards[0] if given else 1
        if (two := too_wide(cards, n_classes)) is not None:
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

    def _read(self, job: Job) -> tuple[list[int], list[int], Floats, NDArray[np.int64]]:
        """The pairs of a job, and their tables, one after the other, with their shapes."""
        given, lo, hi = job
        name, cards, n_classes = f"pairs:{given}:{lo}:{hi}", self.cards[given:], self.cards[0] if given else 1
        tally = self._ahead if name in self._ahead else self._count([job])
        pairs = [(i, j) for i in range(lo, hi) for j in range(i + 1, len(cards))]
        shapes = np.array([(n_classes, cards[i], cards[j]) for i, j in pairs], np.int64).reshape(-1, 3)
        cells = np.zeros(int(shapes.prod(axis=1).sum()))
        at = tally.labels(name, 0)
        cells[at] = tally.over(name, at).floats()
        return [i for i, _ in pairs], [j for _, j in pairs], cells, shapes
