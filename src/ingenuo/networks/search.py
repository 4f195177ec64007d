"""Searches for a structure by score: hill climbing with tabu and restarts, and K2.

The score of a structure is a sum over the nodes of a local score, a function of the counts of a node and its parents.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, NetworkError, check_choice
from ingenuo.kernels.codes import codes_matrix, configurations, data_terms
from ingenuo.kernels.threads import run, split, width
from ingenuo.networks.graph import order, refuse_cycle
from ingenuo.rows.checks import check_number

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

Progress = Callable[[int, float], None]
_CHANGES: tuple[Change, ...] = ("add", "delete", "reverse")
_TIES_FORESEEN = 8  # changes of the same gain that are looked at more closely
TABU, RESTARTS = 10, 8  # on 45 samples of five networks so many come nearest to the best score, for the time they take


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
    check_choice("score", score, known)
    check_number("ess", ess, above=True)


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


def hill_climb(
    scorer: Scorer,
    bounds: Constraints,
    *,
    tabu: int = TABU,
    restarts: int = RESTARTS,
    start: Parents | None = None,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> Search:
    """Search for the structure of the highest score; of the best one seen, no single change improves it.

    At a top it goes on to the best neighbour that is none of the last `tabu` structures, and gives up after so many
    steps without a new best. Then, as often as `restarts` says, the best structure is changed at random, and it climbs
    again from there.
    """
    climb = _Climb(scorer, bounds, bounds.start if start is None else start, random_state, progress)
    climb.to_the_top(tabu)
    for _ in range(restarts):
        climb.shake()
        climb.to_the_top(tabu)
    return Search(climb.best, climb.best_score, scorer.score, tuple(climb.best_path))


class _Climb:
    """The state of a search: the structure, what each change of it would gain, and the best structure so far."""

    def __init__(
        self, scorer: Scorer, bounds: Constraints, start: Parents, random_state: Any, progress: Progress | None
    ) -> None:
        self.scorer, self.bounds, self.progress = scorer, bounds, progress
        self.rng = np.random.default_rng(random_state)
        self.n, self.steps = len(start), 0
        # A structure is known by the exclusive or of its arcs' numbers: a change of it is one operation.
        self.numbers = np.random.default_rng(self.n).integers(1, 1 << 62, (self.n, self.n))
        changes = np.stack([self.numbers, self.numbers, self.numbers ^ self.numbers.T]).reshape(-1)
        self.change_places = np.argsort(changes)
        self.change_numbers = changes[self.change_places]
        self.path: list[Step] = []
        self._stand_at(start)
        self.best = start
        self.best_score, self.best_path = self.score(), list[Step]()

    def score(self) -> float:
        """The score of the structure: the sum of its local scores."""
        return math.fsum(self.own)

    def _stand_at(self, parents: Parents) -> None:
        """Begin again from a structure."""
        n = self.n
        self.parents = [set(above) for above in parents]
        self.arcs = np.zeros((n, n), np.bool_)
        for child, above in enumerate(parents):
            self.arcs[list(above), child] = True
        self.identity = int(np.bitwise_xor.reduce(self.numbers[self.arcs], initial=0))
        self.above = np.zeros((n, n), np.bool_)  # above[a, b]: a is an ancestor of b
        self._trace(order(parents))
        self.own = [0.0] * n
        self.add, self.drop = np.full((2, n, n), -np.inf)
        self._rescore(range(n))

    def _trace(self, nodes: Iterable[int]) -> None:
        """Find the ancestors of nodes again; parents must come before their children."""
        for node in nodes:
            above = list(self.parents[node])
            self.above[:, node] = self.above[:, above].any(axis=1)
            self.above[above, node] = True

    def _rescore(self, nodes: Iterable[int]) -> None:
        """What each node would gain from a parent more or less, once its parents have changed."""
        nothing = self.scorer.nothing
        families = []
        for node in nodes:
            above = self.parents[node]
            more = np.flatnonzero(self.bounds.candidates(node, above)).tolist()
            families.append((node, above, [nothing, *more]))
        for (node, above, (_, *more)), (own, *scores) in zip(families, self.scorer.extend(families)):
            self.own[node] = own
            self.add[:, node] = self.drop[:, node] = -np.inf
            self.add[more, node] = [_gain(own, score) for score in scores]
            for parent in above:
                if not self.bounds.required[parent, node]:
                    self.drop[parent, node] = _gain(own, self.scorer.local(node, sorted(above - {parent})))

    def _gains(self, recent: Iterable[int] = ()) -> NDArray[np.float64]:
        """What every change gains, 3 × from × to; -inf where it is not allowed, or leads to one of these structures."""
        gains = np.full((3, self.n, self.n), -np.inf)
        gains[0] = np.where(self.above.T, -np.inf, self.add)
        gains[1] = self.drop
        tails, heads = np.nonzero(self.arcs & np.isfinite(self.drop))
        # Turned, an arc closes a circle where another way leads from its tail to its head.
        other_way = (self.arcs[tails] & self.above[:, heads].T).any(axis=1)
        turned = self.drop[tails, heads] + self.add[heads, tails]
        gains[2, tails, heads] = np.where(other_way, -np.inf, turned)
        wanted = np.array([self.identity ^ other for other in recent], np.int64)
        ends = (np.searchsorted(self.change_numbers, wanted, side).tolist() for side in ("left", "right"))
        for low, high in zip(*ends):
            gains.reshape(-1)[self.change_places[low:high]] = -np.inf
        return gains

    def _first_of(self, ties: Sequence[int], gains: NDArray[np.float64]) -> int:
        """Of changes that gain the same, the one that promises most; the first where none does.

        As a rule they are a → b and b → a, equal for all that these two columns can tell. It is the third that tells:
        where c says more of b once a is known than it did alone, and so much more, a → b ← c is likely.
        On 20,000 rows of insurance this is worth 450 nats (BDeu) at the first top.
        """
        added = [place for place in ties if place < self.n * self.n][:_TIES_FORESEEN]
        if len(added) < 2:
            return ties[0]
        families = []
        for place in added:
            tail, head = divmod(place, self.n)
            above = self.parents[head] | {tail}
            free = np.isfinite(gains[0, :, head]) & self.bounds.candidates(head, above)
            families.append((head, above, np.flatnonzero(free).tolist()))
        first, most = ties[0], 0.0
        for place, (head, _, more), scores in zip(added, families, self.scorer.extend(families)):
            after = self.own[head] + float(gains.flat[place])
            for other, score in zip(more, scores):
                if score - after > max(most + _rounding(after), gains[0, other, head]):
                    first, most = place, score - after
        return first

    def _change(self, change: Change, tail: int, head: int, gain: float) -> None:
        """Make a change and note it."""
        if change != "add":
            self.arcs[tail, head] = False
            self.parents[head].remove(tail)
            self.identity ^= int(self.numbers[tail, head])
            below = np.append(np.flatnonzero(self.above[head]), head)
            # A node has more ancestors than any of them; those that it had will do, for an arc less upsets no order.
            self._trace(below[np.argsort(self.above[:, below].sum(axis=0))].tolist())
        if change != "delete":
            parent, child = (head, tail) if change == "reverse" else (tail, head)
            self.arcs[parent, child] = True
            self.parents[child].add(parent)
            self.identity ^= int(self.numbers[parent, child])
            over, under = self.above[:, parent].copy(), self.above[child].copy()
            over[parent] = under[child] = True
            self.above |= over[:, None] & under
        self._rescore([head, tail] if change == "reverse" else [head])
        self.steps += 1
        score = self.score()
        self.path.append(Step(change, (tail, head), gain, score))
        if self.progress is not None:
            self.progress(self.steps, score)

    def _note_best(self) -> None:
        """Keep the structure where it is the best so far, by more than rounding could make it."""
        score = self.score()
        if score > self.best_score + _rounding(score):
            self.best = tuple(tuple(sorted(above)) for above in self.parents)
            self.best_score, self.best_path = score, list(self.path)

    def to_the_top(self, tabu: int) -> None:
        """Climb, and past each top go on as long as the tabu list lets it."""
        self._note_best()  # random changes, too, may have found a better one
        recent: deque[int] = deque([self.identity], maxlen=max(1, tabu))
        top, idle = self.score(), 0
        while self.n:
            gains = self._gains(recent if tabu else ())
            most = float(gains.max())
            # What differs by rounding only is equal: the way must not hang on the last place of a logarithm.
            ties = np.flatnonzero(gains >= most - _rounding(top)).tolist()
            # Up, the promising one; else at random, for the first ones would try the directions of a few arcs only.
            upwards = most > _rounding(top)
            place = self._first_of(ties, gains) if upwards else int(self.rng.choice(ties))
            gain = float(gains.flat[place])
            if gain == -math.inf or (idle >= tabu and (tabu or gain <= _rounding(top))):
                break
            kind, arc = divmod(place, self.n * self.n)
            self._change(_CHANGES[kind], *divmod(arc, self.n), gain)
            recent.append(self.identity)
            self._note_best()
            score = self.score()
            top, idle = (score, 0) if score > top + _rounding(top) else (top, idle + 1)

    def shake(self) -> None:
        """Go back to the best structure and make some changes at random, of those that are allowed."""
        self.path = [*self.best_path, Step("restart", None, 0.0, self.best_score)]
        self._stand_at(self.best)
        for _ in range(2 + self.n // 6):
            gains = self._gains()
            # The kind first: most changes that are allowed are additions, and the climb would only take them back.
            kinds = [kind for kind in range(3) if np.isfinite(gains[kind]).any()]
            if not kinds:
                return
            kind = int(self.rng.choice(kinds))
            tail, head = self.rng.choice(np.argwhere(np.isfinite(gains[kind]))).tolist()
            self._change(_CHANGES[kind], tail, head, float(gains[kind, tail, head]))


def _gain(own: float, other: float) -> float:
    """What a node gains; its score is -inf where no row is complete, and then any other is a gain beyond measure."""
    if own == -math.inf:
        return math.inf if other > -math.inf else -math.inf
    return other - own


def _rounding(score: float) -> float:
    """How far two equal sums of logarithms may differ."""
    return 1e-9 + 1e-13 * abs(score) if math.isfinite(score) else 0.0


def k2(scorer: Scorer, bounds: Constraints, ordered: Sequence[int], progress: Progress | None = None) -> Search:
    """Choose the parents of each node among those that come before it, the best first (Cooper and Herskovits 1992)."""
    place = {node: position for position, node in enumerate(ordered)}
    for child, above in enumerate(bounds.start):
        for parent in above:
            if place[parent] > place[child]:
                arc = f"{bounds.names[parent]} → {bounds.names[child]}"
                raise NetworkError(f"the required arc {arc} goes against the order; turn one of them")
    parents = [set(above) for above in bounds.start]
    own = [scorer.local(node, above) for node, above in enumerate(parents)]
    path: list[Step] = []
    for position, node in enumerate(ordered):
        while True:
            allowed = bounds.candidates(node, parents[node])
            candidates = [other for other in sorted(ordered[:position]) if allowed[other]]
            scores = scorer.extend([(node, parents[node], candidates)])[0]
            best = max(range(len(candidates)), key=scores.__getitem__, default=-1)
            if best < 0 or not scores[best] > own[node]:
                break
            gain, own[node] = scores[best] - own[node], scores[best]
            parents[node].add(candidates[best])
            path.append(Step("add", (candidates[best], node), gain, sum(own)))
            if progress is not None:
                progress(len(path), path[-1].score)
    return Search(tuple(tuple(sorted(above)) for above in parents), sum(own), scorer.score, tuple(path))
