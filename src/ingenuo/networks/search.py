"""What searches for a structure share: the rows, their scores, constraints, and the result with the way to it.

The score of a structure is a sum over the nodes of a local score, a function of the counts of a node and its parents.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, NetworkError, did_you_mean
from ingenuo.kernels.networks import codes_matrix, configurations, data_terms
from ingenuo.kernels.threads import run, split, width
from ingenuo.networks.graph import refuse_cycle

Arc = tuple[int, int]  # (parent, child)
Parents = tuple[tuple[int, ...], ...]
Change = Literal["add", "delete", "reverse", "restart", "fill"]
Configurations = tuple[NDArray[np.int64], int]
Families = Sequence[tuple[int, Collection[int], Sequence[int]]]  # nodes, parents, and parents to add in turn

SCORES = ("bic", "aic", "bdeu", "k2", "log-likelihood")
# Cells of a node's table (32 MB in doubles): a search proposes no family with more, and none can be required.
MOST_CELLS = 1 << 22
_KEPT_UP_TO = 1 << 23  # configurations of parents that are kept, in all; 64 MB
_CODES_PER_THREAD = 1 << 16  # rows × columns from which a thread is worth its start
_WORTH_JOINING = 0.75  # joining equal rows is worth its while when it leaves at most this part of them


@dataclass(frozen=True)
class Step:
    """One change of the structure; its arc is None for a restart, and where missing values were filled again."""

    change: Change
    arc: Any  # (parent, child) as it was before the change, or as it is added; by place, or by name
    gain: float
    score: float  # after the step


@dataclass(frozen=True)
class Search:
    """A structure and how it was found; what a search tried and gave up is not on the path to it."""

    parents: Parents  # of each node, in ascending order
    score: float
    measure: str  # what the score and the gains are
    path: tuple[Step, ...] = ()
    steps: int = field(default=0, compare=False)  # changes made, those given up included

    @property
    def arcs(self) -> list[Arc]:
        """(parent, child), by child."""
        return [(parent, child) for child, above in enumerate(self.parents) for parent in above]

    def rename(self, nodes: Sequence[Any]) -> Search:
        """The same with the arcs of its path by the names of their ends."""
        path = (s if s.arc is None else replace(s, arc=(nodes[s.arc[0]], nodes[s.arc[1]])) for s in self.path)
        return replace(self, path=tuple(path))

    def move(self, places: Sequence[int]) -> Search:
        """The same with each node at another place."""
        arcs = ((places[up], places[down]) for up, down in self.arcs)
        return replace(self.rename(places), parents=parents_of(len(places), arcs))

    def __str__(self) -> str:
        steps = sum(step.arc is not None for step in self.path)
        lines = [f"{self.measure}: {self.score:.6g} after {steps} step{'' if steps == 1 else 's'}"]
        for number, step in enumerate(self.path, 1):
            what = step.change if step.arc is None else f"{step.change} {step.arc[0]} → {step.arc[1]}"
            lines.append(f"{number:4}  {what}  {step.gain:+.6g}  {step.score:.8g}")
        return "\n".join(lines)


def parents_of(n: int, arcs: Iterable[Iterable[int]]) -> Parents:
    """Each node's parents, in ascending order."""
    above: list[set[int]] = [set() for _ in range(n)]
    for parent, child in arcs:
        above[child].add(parent)
    return tuple(tuple(sorted(parents)) for parents in above)


class Constraints:
    """Required and forbidden arcs and the most parents a node may have, checked against one another."""

    def __init__(
        self,
        cards: Sequence[int],
        required: Iterable[Arc] = (),
        forbidden: Iterable[Arc] = (),
        max_parents: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        n = len(cards)
        self.names = [str(name) for name in (range(n) if names is None else names)]
        self.most = n if max_parents is None else int(max_parents)
        self.log_cards = np.log2(np.array(cards, np.float64))
        self.required, self.forbidden = np.zeros((2, n, n), np.bool_)
        for flags, arcs in ((self.required, required), (self.forbidden, forbidden)):
            for arc in arcs:
                flags[arc] = True
        for up, down in np.argwhere(self.required & self.forbidden):
            raise NetworkError(
                f"the arc {self.names[up]} → {self.names[down]} is both required and forbidden; take it from one of "
                "the two lists"
            )
        np.fill_diagonal(self.forbidden, True)
        self.start = parents_of(n, np.argwhere(self.required).tolist())
        refuse_cycle(self.names, self.start)
        for node, above in enumerate(self.start):
            if len(above) > self.most:
                raise NetworkError(
                    f"{self.names[node]} has {len(above)} required parents, but at most {self.most} are allowed; raise "
                    f"max_parents or take arcs away"
                )
            cells = math.prod(cards[each] for each in (node, *above))
            if cells > MOST_CELLS:
                raise NetworkError(
                    f"with its required parents the table of {self.names[node]} has {cells:,} cells, more than "
                    f"{MOST_CELLS:,}; take arcs away or join rare states"
                )

    def candidates(self, node: int, above: Collection[int]) -> NDArray[np.bool_]:
        """Which nodes may be one parent more: not forbidden, and without too many parents or too large a table."""
        cells = self.log_cards[[node, *above]].sum()
        allowed = ~self.forbidden[:, node] & (self.log_cards + cells <= math.log2(MOST_CELLS) + 1e-9)
        allowed[list(above)] = False
        return np.asarray(allowed & (len(above) < self.most))


class Sample:
    """Rows of categorical codes: of each node its code in each row, from 0, and below 0 where it is missing."""

    def __init__(
        self, columns: Sequence[NDArray[Any]] | NDArray[Any], cards: Sequence[int], weights: NDArray[Any] | None = None
    ) -> None:
        self.cards = tuple(int(card) for card in cards)
        self.codes = codes_matrix(columns, self.cards)
        self.n_columns, self.n_rows = self.codes.shape
        self.weights = None if weights is None else np.ascontiguousarray(weights, np.float64)
        self.total = float(self.n_rows if self.weights is None else self.weights.sum())
        if not self.total > 0:
            raise InputError("there are no rows with a weight above 0 to learn a structure from; give at least one")

    def distinct(self) -> Sample:
        """The same sample with equal rows joined to one of their common weight; itself where that would save little."""
        keys = np.zeros(self.n_rows, np.uint64)
        for column, card in zip(self.codes, self.cards):
            # The number of the row in a mixed base where that fits 64 bits; beyond them it wraps round, as a hash.
            keys *= np.uint64(2 * card + 1)
            keys += (column + 1).astype(np.uint64)
        # Some of the rows spare most large samples without equal rows the sorting of all.
        some = keys[:: max(1, self.n_rows // 4096)]
        if self.n_rows > len(some) * 16 and len(np.unique(some)) > 0.99 * len(some):
            return self
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) > _WORTH_JOINING * self.n_rows:
            return self
        codes = np.ascontiguousarray(self.codes[:, first])
        if any((row[place] != column).any() for row, column in zip(codes, self.codes)):
            return self  # two rows of one hash: as good as never, and then nothing is joined
        return Sample(codes, self.cards, np.bincount(place, self.weights, len(first)))


def check_score(score: str, ess: Any, known: Sequence[str] = SCORES) -> None:
    """Raise for a score that is not known, or an equivalent sample size that cannot be."""
    if score not in known:
        raise InputError(f"score={score!r} is not known{did_you_mean(score, known)}")
    if isinstance(ess, bool) or not isinstance(ess, int | float | np.number):
        raise KindError(f"ess must be a number, got {type(ess).__name__} {ess!r}")
    if not 0 < ess < np.inf:
        raise InputError(f"ess, the imaginary rows of the BDeu score, must be finite and above 0, got {ess!r}")


class Scorer:
    """The local scores of a sample, each computed once.

    `nothing` is a column of one value, beyond the nodes: the score of a family is not changed by it as a parent, so
    that all families are one plus one.
    """

    def __init__(self, sample: Sample, score: str = "bic", *, ess: float = 1.0) -> None:
        self.sample, self.score, self.ess = sample, score, float(ess)
        self._rows = sample.distinct()
        self._codes = np.vstack([self._rows.codes, np.zeros((1, self._rows.n_rows), np.int32)])
        self._cards = (*sample.cards, 1)
        self.nothing = sample.n_columns
        self._known: dict[tuple[int, int], float] = {}
        self._kept: OrderedDict[int, Configurations] = OrderedDict()

    def local(self, node: int, parents: Iterable[int]) -> float:
        """The score of one node with these parents."""
        *above, last = [*parents] or [self.nothing]
        return self.extend([(node, above, [last])])[0][0]

    def total(self, parents: Sequence[Iterable[int]]) -> float:
        """The score of a structure: the sum of the local scores."""
        return math.fsum(self.local(node, above) for node, above in enumerate(parents))

    def extend(self, families: Families) -> list[list[float]]:
        """Of each family the scores with, in turn, each of the extra parents; shared among the threads."""
        tasks, keys = list[tuple[int, int, list[int]]](), list[list[tuple[int, int]]]()
        for node, parents, extra in families:
            above = sum(1 << parent for parent in parents)
            keys.append([(node, above if column == self.nothing else above | 1 << column) for column in extra])
            missing = [column for column, key in zip(extra, keys[-1]) if key not in self._known]
            at_least = max(1, _CODES_PER_THREAD // max(1, self._rows.n_rows))
            tasks += [(node, above, missing[lo:hi]) for lo, hi in split(len(missing), width(), at_least)]
        # Configurations are made here, one after another: tasks of the same parents then share them.
        work = [partial(self._evaluate, *task, self._configurations(task[1])) for task in tasks]
        for scores in run(work):
            self._known.update(scores)
        return [[self._known[key] for key in each] for each in keys]

    def _configurations(self, above: int) -> Configurations:
        """The configuration of each row of the parents whose bits are set, numbered without gaps."""
        if above in self._kept:
            self._kept.move_to_end(above)
            return self._kept[above]
        if not above:
            found = np.zeros(self._rows.n_rows, np.int64), 1
        else:
            last = above.bit_length() - 1
            found = configurations(*self._configurations(above & ~(1 << last)), self._codes[last], self._cards[last])
        self._kept[above] = found
        while len(self._kept) > 2 and len(self._kept) * self._rows.n_rows > _KEPT_UP_TO:
            self._kept.popitem(last=False)
        return found

    def _evaluate(
        self, node: int, above: int, extra: Sequence[int], known: Configurations
    ) -> dict[tuple[int, int], float]:
        """The local scores of families that differ in one parent; called in threads."""
        q = math.prod(card for parent, card in enumerate(self._cards) if above >> parent & 1)
        scores, small = {}, list[int]()
        for column in extra:
            if known[1] * self._cards[column] > 1024 + 4 * self._rows.n_rows:
                # Most combinations cannot occur: numbered without gaps, the table is at most rows × states.
                joined = configurations(*known, self._codes[column], self._cards[column])
                scores[column] = self._scores(node, joined, [self.nothing], [q * self._cards[column]])[0]
            else:
                small.append(column)
        if small:
            scores |= zip(small, self._scores(node, known, small, [q * self._cards[column] for column in small]))
        if not above and self.nothing in extra and not (self._codes[node] >= 0).any():
            # Nothing is known of the node: alone it says nothing, and that is no reason against it.
            scores[self.nothing] = -self._penalty(node, 1)
        return {(node, above if column == self.nothing else above | 1 << column): s for column, s in scores.items()}

    def _scores(self, node: int, known: Configurations, extra: Sequence[int], sizes: Sequence[int]) -> list[float]:
        """The scores where q, the number of the parents' configurations, is given in `sizes`."""
        states, cards = self._cards[node], [self._cards[column] for column in extra]
        priors = [self.ess / (q * states) if self.score == "bdeu" else float(self.score == "k2") for q in sizes]
        terms, weights = data_terms(*known, self._codes, node, states, extra, cards, priors, self._rows.weights)
        found = []
        for term, weight, q in zip(terms.tolist(), weights.tolist(), sizes):
            # Without missing values the two weights are sums of the same numbers in another order: their ratio is 1.
            ratio = self.sample.total / weight if weight > 0 else math.nan
            term = -math.inf if weight <= 0 else term if abs(ratio - 1) < 1e-12 else term * ratio
            found.append(term - self._penalty(node, q))
        return found

    def _penalty(self, node: int, q: int) -> float:
        """What the free parameters of a family cost."""
        each = {"bic": 0.5 * math.log(self.sample.total), "aic": 1.0}.get(self.score, 0.0)
        return each * q * (self._cards[node] - 1)
