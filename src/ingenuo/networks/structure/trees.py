"""Structures by mutual information, each from one pass over the pairs of columns: naive, TAN, k-DB and Chow–Liu.

The information of two columns is taken from the rows in which both (and the class, where there is one) are known, in
nats per row. Ties go to the column that comes first. For the classifiers, TAN and k-DB, it is what the counts of the
other rows tell of each row (`told`): the plain information of a column of very many values, as the names of the rows,
would seem to be the greatest of all, and tells nothing of any row to come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import NetworkError
from ingenuo.kernels.information import told_by_others
from ingenuo.networks.structure.sample import Pairs
from ingenuo.networks.structure.search import Search, Step, parents_of

Floats = NDArray[np.float64]

MEASURE = "mutual information"
TOLD = "information from the other rows"

_ROUNDING = 1e-12  # nats per row


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

    >>> from ingenuo.networks.structure import Sample
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

    Parameters
    ----------
    sample
        The rows; those without a target are left out.
    target
        The node of the class.
    root
        The node from which the tree is directed; where not given, the one that says most of the target. The choice
        changes the directions and not the likelihood.

    >>> from ingenuo.networks.structure import Sample
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

    >>> from ingenuo.networks.structure import Sample
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
    return float(positive @ np.log(positive))


def _check_node(node: int, n: int, what: str) -> None:
    if not 0 <= node < n:
        raise NetworkError(f"{what} is node {node}, but the nodes are 0 to {n - 1}")
