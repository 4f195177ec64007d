"""What searches for a structure share: scores, constraints, and the result with the way to it."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, NetworkError, did_you_mean
from ingenuo.kernels.networks import codes_matrix, configurations, data_terms
from ingenuo.kernels.threads import run, split, width
from ingenuo.networks.graph import refuse_cycle

Arc = tuple[int, int]  # (parent, child)
Change = Literal["add", "delete", "reverse", "restart", "fill"]
Flags = NDArray[np.bool_]

# Cells of a node's table (32 MB in doubles): a search proposes no family with more, and none can be required.
MOST_CELLS = 1 << 22


@dataclass(frozen=True)
class Step:
    """One change of the structure.

    `arc` is (parent, child) as it was before the change, or as it is added; None for a restart, which goes on from
    where the path stands with some changes at random, and where missing values were filled again. `score` is that
    after the step.
    """

    change: Change
    arc: Any  # by place, or by name
    gain: float
    score: float


@dataclass(frozen=True)
class Search:
    """A structure and how it was found.

    The path leads from the start (with the required arcs in it) to the structure: what a search tried and gave up
    is not on it, but is among the steps.

    >>> Search(((), (0,)), -3.5, "bic", (Step("add", (0, 1), 1.5, -3.5),)).arcs
    [(0, 1)]
    """

    parents: tuple[tuple[int, ...], ...]  # of each node, in ascending order
    score: float
    measure: str  # what the score and the gains are
    path: tuple[Step, ...] = ()
    evaluations: int = 0  # families counted and scored
    hits: int = 0  # families whose score was known
    steps: int = field(default=0, compare=False)  # changes made, those given up included

    @property
    def arcs(self) -> list[Arc]:
        """(parent, child), by child."""
        return [(parent, child) for child, above in enumerate(self.parents) for parent in above]

    def named(self, nodes: Sequence[Any]) -> Search:
        """The same with the arcs of its path by the names of their ends."""
        path = (s if s.arc is None else replace(s, arc=(nodes[s.arc[0]], nodes[s.arc[1]])) for s in self.path)
        return replace(self, path=tuple(path))

    def placed(self, places: Sequence[int]) -> Search:
        """The same with each node at another place."""
        arcs = ((places[up], places[down]) for up, down in self.arcs)
        return replace(self.named(places), parents=parents_of(len(places), arcs))

    def __str__(self) -> str:
        steps = sum(step.arc is not None for step in self.path)
        lines = [f"{self.measure}: {self.score:.6g} after {steps} step{'' if steps == 1 else 's'}"]
        for number, step in enumerate(self.path, 1):
            what = step.change if step.arc is None else f"{step.change} {step.arc[0]} → {step.arc[1]}"
            lines.append(f"{number:4}  {what}  {step.gain:+.6g}  {step.score:.8g}")
        return "\n".join(lines)


def parents_of(n: int, arcs: Iterable[Arc]) -> tuple[tuple[int, ...], ...]:
    """Each node's parents, in ascending order.

    >>> parents_of(3, [(2, 0), (1, 0)])
    ((1, 2), (), ())
    """
    above: list[set[int]] = [set() for _ in range(n)]
    for parent, child in arcs:
        above[child].add(parent)
    return tuple(tuple(sorted(parents)) for parents in above)


def replay(start: Sequence[Iterable[int]], path: Iterable[Step]) -> tuple[tuple[int, ...], ...]:
    """The structure to which the path leads.

    >>> replay([(), ()], [Step("add", (0, 1), 1.0, 1.0), Step("reverse", (0, 1), 0.0, 1.0)])
    ((1,), ())
    """
    arcs = {(parent, child) for child, above in enumerate(start) for parent in above}
    for step in path:
        if step.arc is None:
            continue
        if step.change == "add":
            arcs.add(step.arc)
        else:
            arcs.remove(step.arc)
        if step.change == "reverse":
            arcs.add((step.arc[1], step.arc[0]))
    return parents_of(len(start), arcs)


class Constraints:
    """Required and forbidden arcs and the most parents a node may have, checked against one another.

    >>> Constraints([2, 2], [(0, 1)], [(0, 1)])
    Traceback (most recent call last):
    ...
    ingenuo.errors.NetworkError: the arc 0 → 1 is both required and forbidden; take it from one of the two lists
    """

    def __init__(
        self,
        cards: Sequence[int],
        required: Iterable[Arc] = (),
        forbidden: Iterable[Arc] = (),
        max_parents: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        n = len(cards)
        self.cards, self.names = tuple(cards), [str(name) for name in names] if names is not None else None
        if max_parents is not None and max_parents < 0:
            raise NetworkError(f"the most parents of a node are {max_parents}; they must be at least 0")
        self.most = n if max_parents is None else int(max_parents)
        self.required, self.forbidden = self._flags(required, "required"), self._flags(forbidden, "forbidden")
        both = np.argwhere(self.required & self.forbidden)
        if len(both):
            raise NetworkError(
                f"the arc {self.shown(*both[0])} is both required and forbidden; take it from one of the two lists"
            )
        np.fill_diagonal(self.forbidden, True)
        self.start = parents_of(n, ((int(parent), int(child)) for parent, child in np.argwhere(self.required)))
        refuse_cycle([self.name(node) for node in range(n)], self.start)
        self.check(self.start, "required")

    def name(self, node: int) -> str:
        """What messages call a node."""
        return str(node) if self.names is None else self.names[node]

    def shown(self, parent: int, child: int) -> str:
        """An arc as messages show it."""
        return f"{self.name(parent)} → {self.name(child)}"

    def check(self, parents: Sequence[Collection[int]], what: str) -> None:
        """Raise where a node has more parents than it may, or a table too large."""
        for node, above in enumerate(parents):
            if len(above) > self.most:
                raise NetworkError(
                    f"{self.name(node)} has {len(above)} {what} parents, but at most {self.most} are allowed; raise "
                    f"max_parents or take arcs away"
                )
            cells = math.prod((self.cards[node], *(self.cards[parent] for parent in above)))
            if cells > MOST_CELLS:
                raise NetworkError(
                    f"with its {what} parents the table of {self.name(node)} has {cells:,} cells, more than "
                    f"{MOST_CELLS:,}; take arcs away or join rare states"
                )

    def with_required(self, start: Sequence[Collection[int]]) -> tuple[tuple[int, ...], ...]:
        """A start that has the required arcs too; raises where it cannot be one.

        >>> Constraints([2, 2, 2], [(0, 1)]).with_required([(), (), (0,)])
        ((), (0,), (0,))
        """
        n = len(self.cards)
        if len(start) != n:
            raise NetworkError(f"the start has {len(start)} nodes, but there are {n}")
        flags = self._flags(((parent, child) for child, above in enumerate(start) for parent in above), "start's")
        wrong = np.argwhere(flags & self.forbidden)
        if len(wrong):
            raise NetworkError(f"the start has the arc {self.shown(*wrong[0])}, which is forbidden; take it away")
        parents = parents_of(n, ((int(parent), int(child)) for parent, child in np.argwhere(flags | self.required)))
        refuse_cycle([self.name(node) for node in range(n)], parents)
        self.check(parents, "starting")
        return parents

    def _flags(self, arcs: Iterable[Arc], what: str) -> Flags:
        n = len(self.cards)
        flags = np.zeros((n, n), np.bool_)
        for parent, child in arcs:
            for node in (parent, child):
                if not 0 <= node < n:
                    raise NetworkError(
                        f"the {what} arc {parent} → {child} names node {node}, but the nodes are 0 to {n - 1}"
                    )
            if parent == child and what != "forbidden":
                raise NetworkError(
                    f"the {what} arc {self.shown(parent, child)} leads from a node to itself; take it away"
                )
            flags[parent, child] = True
        return flags


# Scores of a structure: sums over the nodes of a local score, a function of the counts of a node and its parents.


SCORES = ("bic", "aic", "bdeu", "k2", "log-likelihood")

# Configurations of parents that are kept, in all; 64 MB.
_KEPT_UP_TO = 1 << 23
# A thread is worth its start from about this many rows × columns.
_CODES_PER_THREAD = 1 << 16

# Joining equal rows is worth its while when it leaves at most this part of them.
_WORTH_JOINING = 0.75

Floats = NDArray[np.float64]
Configurations = tuple[NDArray[np.int64], int]


class Sample:
    """Rows of categorical codes: of each node its code in each row, from 0, and below 0 where it is missing.

    >>> sample = Sample([np.array([0, 1, 1]), np.array([2, -1, 0])], [2, 3])
    >>> sample.n_rows, sample.n_columns, sample.holes, sample.total
    (3, 2, (False, True), 3.0)
    """

    def __init__(
        self, columns: Sequence[NDArray[Any]] | NDArray[Any], cards: Sequence[int], weights: NDArray[Any] | None = None
    ) -> None:
        self.cards = tuple(int(card) for card in cards)
        for j, card in enumerate(self.cards):
            if card < 1:
                raise InputError(f"column {j} has {card} states; a node needs at least one")
        self.codes = codes_matrix(columns, self.cards)
        self.n_columns, self.n_rows = self.codes.shape
        self.weights = None if weights is None else _checked(weights, self.n_rows)
        self.total = float(self.n_rows if self.weights is None else self.weights.sum())
        if not self.total > 0:
            raise InputError("there are no rows with a weight above 0 to learn a structure from; give at least one")

    @cached_property
    def holes(self) -> tuple[bool, ...]:
        """Whether a value is missing, for each column."""
        return tuple(bool(self.n_rows and column.min() < 0) for column in self.codes)

    def distinct(self) -> Sample:
        """The same sample with equal rows joined to one of their common weight; itself where that would save little.

        >>> joined = Sample([np.array([0, 1, 0, 0, 0])], [2]).distinct()
        >>> joined.codes.tolist(), joined.weights.tolist()
        ([[0, 1]], [4.0, 1.0])
        """
        if self.n_rows < 2 or not self.n_columns:
            return self
        keys = np.zeros(self.n_rows, np.uint64)
        for column, card in zip(self.codes, self.cards):
            # The number of the row in a mixed base where that fits 64 bits; beyond them it wraps round, as a hash.
            keys *= np.uint64(2 * card + 1)
            keys += (column + 1).astype(np.uint64)
        # A glance at some of the rows spares most large samples without equal rows the sorting of all.
        glance = keys[:: max(1, self.n_rows // 4096)]
        if self.n_rows > len(glance) * 16 and len(np.unique(glance)) > 0.99 * len(glance):
            return self
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) > _WORTH_JOINING * self.n_rows:
            return self
        codes = np.ascontiguousarray(self.codes[:, first])
        if any((row[place] != column).any() for row, column in zip(codes, self.codes)):
            return self  # two rows of one hash: as good as never, and then nothing is joined
        return Sample(codes, self.cards, np.bincount(place, self.weights, len(first)))


def _checked(weights: NDArray[Any], n_rows: int) -> Floats:
    found = np.ascontiguousarray(weights, np.float64)
    if found.shape != (n_rows,):
        raise InputError(f"there are {found.size} weights for {n_rows} rows; each row needs one")
    bad = ~np.isfinite(found) | (found < 0)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"row {row} has weight {found[row]}; a weight must be a number of at least 0")
    return found


class Scorer:
    """The local scores of a sample, each computed once.

    `nothing` is a column of one value, beyond the nodes: the score of a family is not changed by it as a parent.

    >>> scorer = Scorer(Sample([np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])], [2, 2]), "log-likelihood")
    >>> round(scorer.local(0, []), 4), round(scorer.local(0, [1]), 4)
    (-2.7726, 0.0)
    >>> scorer.evaluations, scorer.hits
    (2, 0)
    """

    def __init__(self, sample: Sample, score: str = "bic", *, ess: float = 1.0) -> None:
        if score not in SCORES:
            raise InputError(f"there is no score {score!r}{did_you_mean(score, SCORES)}")
        if not (math.isfinite(ess) and ess > 0):
            raise InputError(f"the equivalent sample size is {ess}; it must be a number above 0")
        self.sample, self.score, self.ess = sample, score, float(ess)
        self.evaluations, self.hits = 0, 0
        self._rows = sample.distinct()
        # One more column, all of one value: to add it as a parent changes nothing, so all families are one plus one.
        self._codes = np.vstack([self._rows.codes, np.zeros((1, self._rows.n_rows), np.int32)])
        self._cards = (*sample.cards, 1)
        self.nothing = sample.n_columns
        self._known: dict[tuple[int, int], float] = {}
        self._kept: OrderedDict[int, Configurations] = OrderedDict()

    def local(self, node: int, parents: Iterable[int]) -> float:
        """The score of one node with these parents."""
        parents = list(parents)
        if not parents:
            return self.extended(node, [], [self.nothing])[0]
        return self.extended(node, parents[:-1], parents[-1:])[0]

    def total(self, parents: Sequence[Iterable[int]]) -> float:
        """The score of a structure: the sum of the local scores.

        >>> scorer = Scorer(Sample([np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])], [2, 2]), "log-likelihood")
        >>> round(scorer.total([(), (0,)]), 4)
        -2.7726
        """
        return math.fsum(self.local(node, above) for node, above in enumerate(parents))

    def extended(self, node: int, parents: Iterable[int], extra: Sequence[int]) -> list[float]:
        """The scores of one node with these parents and, in turn, each of the extra ones.

        >>> scorer = Scorer(Sample([np.array([0, 0, 1]), np.array([0, 0, 1]), np.array([0, 1, 1])], [2, 2, 2]))
        >>> scorer.extended(0, [], [1, 2]) == [scorer.local(0, [1]), scorer.local(0, [2])]
        True
        """
        return self.extended_each([(node, parents, extra)])[0]

    def extended_each(self, asked: Sequence[tuple[int, Iterable[int], Sequence[int]]]) -> list[list[float]]:
        """Several of :meth:`extended` at once, shared among the threads."""
        answers: list[list[float]] = []
        tasks: list[tuple[int, int, list[int]]] = []
        for node, parents, extra in asked:
            above = sum(1 << parent for parent in set(parents))
            if above >> node & 1 or node in extra:
                raise InputError(f"node {node} is among its own parents; leave it out")
            missing = [column for column in extra if (node, self._with(above, column)) not in self._known]
            self.hits += len(extra) - len(missing)
            missing = list(dict.fromkeys(missing))
            tasks += [(node, above, missing[lo:hi]) for lo, hi in self._parts(len(missing))]
        # Configurations are made here, one after another: tasks of the same parents then share them.
        work = [
            partial(self._evaluate, node, above, self._configurations(above), extra) for node, above, extra in tasks
        ]
        for (node, above, extra), scores in zip(tasks, run(work)):
            self.evaluations += len(extra)
            self._known.update(((node, self._with(above, column)), score) for column, score in zip(extra, scores))
        for node, parents, extra in asked:
            above = sum(1 << parent for parent in set(parents))
            answers.append([self._known[node, self._with(above, column)] for column in extra])
        return answers

    def result(self, parents: Sequence[Iterable[int]], score: float, path: Sequence[Step], steps: int) -> Search:
        """What a search by these scores has found."""
        found = tuple(tuple(above) for above in parents)
        return Search(found, score, self.score, tuple(path), self.evaluations, self.hits, steps)

    def cells(self, node: int, parents: Iterable[int]) -> int:
        """How many cells the full table of a family has.

        >>> Scorer(Sample([np.array([0]), np.array([0])], [2, 3])).cells(0, [1])
        6
        """
        return math.prod((self._cards[node], *(self._cards[parent] for parent in set(parents))))

    def _with(self, above: int, column: int) -> int:
        return above if column == self.nothing else above | 1 << column

    def _parts(self, n: int) -> list[tuple[int, int]]:
        return split(n, width(), max(1, _CODES_PER_THREAD // max(1, self._rows.n_rows)))

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

    def _evaluate(self, node: int, above: int, known: Configurations, extra: Sequence[int]) -> list[float]:
        """The local scores of families that differ in one parent; called in threads."""
        q = math.prod(card for parent, card in enumerate(self._cards) if above >> parent & 1)
        sizes = [q * (1 if above >> column & 1 else self._cards[column]) for column in extra]
        scores = [0.0] * len(extra)
        small: list[int] = []
        for place, column in enumerate(extra):
            if known[1] * self._cards[column] > 1024 + 4 * self._rows.n_rows:
                # Most combinations cannot occur: numbered without gaps, the table is at most rows × states.
                joined = configurations(*known, self._codes[column], self._cards[column])
                scores[place] = self._scores(node, *joined, [self.nothing], [sizes[place]])[0]
            else:
                small.append(place)
        if small:
            found = self._scores(node, *known, [extra[place] for place in small], [sizes[place] for place in small])
            for place, score in zip(small, found):
                scores[place] = score
        if not above and self.nothing in extra and not (self._codes[node] >= 0).any():
            # Nothing is known of the node: alone it says nothing, and that is no reason against it.
            scores[extra.index(self.nothing)] = -self._penalty(node, 1)
        return scores

    def _scores(
        self, node: int, above: NDArray[np.int64], n_above: int, extra: Sequence[int], sizes: Sequence[int]
    ) -> list[float]:
        """The scores where q, the number of the parents' configurations, is given in `sizes`."""
        states = self._cards[node]
        if self.score == "bdeu":
            priors = [self.ess / (q * states) for q in sizes]
        else:
            priors = [1.0 if self.score == "k2" else 0.0] * len(sizes)
        cards = [self._cards[column] for column in extra]
        terms, weights = data_terms(above, n_above, self._codes, node, states, extra, cards, priors, self._rows.weights)
        return [
            self._scaled(term, weight) - self._penalty(node, q)
            for term, weight, q in zip(terms.tolist(), weights.tolist(), sizes)
        ]

    def _penalty(self, node: int, q: int) -> float:
        """What the free parameters of a family cost."""
        each = {"bic": 0.5 * math.log(self.sample.total), "aic": 1.0}.get(self.score, 0.0)
        return each * q * (self._cards[node] - 1)

    def _scaled(self, term: float, weight: float) -> float:
        if weight <= 0:
            return -math.inf
        # Without missing values the two weights are sums of the same numbers in another order: their ratio is 1.
        ratio = self.sample.total / weight
        return term if abs(ratio - 1) < 1e-12 else term * ratio
