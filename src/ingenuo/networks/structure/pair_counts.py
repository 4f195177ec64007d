"""The tables of every two columns as a tally, for rows that lie in parts: what trees are made from adds.

All tables that are counted in a pass stand one after the other in a single one, whose labels are the numbers of the
cells that are not zero. Node 0 is the class. A *job* is [given, lo, hi]: the pairs whose first column is one of lo, …,
hi - 1; where `given` is 1 within each class, of the columns without it, else of all columns with the class among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import TooWideError
from ingenuo.exact import Exact
from ingenuo.kernels import moments
from ingenuo.kernels.contingency import codes_matrix, each_pair, too_wide
from ingenuo.networks.learning import CELLS, configurations
from ingenuo.networks.structure.sample import Measure
from ingenuo.tally import Table, Tally

Floats = NDArray[np.float64]
Job = list[int]
Cells = tuple[NDArray[np.int64], Exact]  # those that are not zero, and their sums

AT_A_TIME = 4 * CELLS  # cells of the tables that are counted in a pass
_WHOLE = 2.0**53  # up to which doubles count whole numbers exactly


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
    """The pairs of columns of rows that lie elsewhere, for `tan`, `kdb` and `chow_liu`; the class is node 0.

    Parameters
    ----------
    names, cards
        Of each node its name, and the number of its states.
    count
        Gives the tally of all rows for some jobs.
    """

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
