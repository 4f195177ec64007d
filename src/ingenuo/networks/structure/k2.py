"""K2 (Cooper and Herskovits 1992): in a given order, each node takes the earlier ones that help it, the best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ingenuo.errors import NetworkError
from ingenuo.networks.structure.constraints import MOST_CELLS, Constraints
from ingenuo.networks.structure.sample import Sample
from ingenuo.networks.structure.scores import Scorer
from ingenuo.networks.structure.search import Arc, Search, Step


def k2(
    sample: Sample,
    order: Sequence[int],
    score: str = "k2",
    *,
    ess: float = 1.0,
    max_parents: int | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    progress: Callable[[int, float], None] | None = None,
    names: Sequence[str] | None = None,
) -> Search:
    """Choose the parents of each node among those that come before it.

    Parameters
    ----------
    sample
        The rows.
    order
        All nodes, causes before effects.
    score, ess
        See :class:`~ingenuo.networks.structure.Scorer`.
    max_parents
        The most parents of a node; None for no limit but that of the table's size (4,194,304 cells).
    required, forbidden
        Arcs (parent, child) that must, or must not, be there; a required one goes along the order.
    progress
        Called after each step with its number and the score.
    names
        What messages call the nodes.

    >>> import numpy as np
    >>> a = np.array([0, 1] * 20)
    >>> k2(Sample([a, a, 1 - a], [2, 2, 2]), [2, 1, 0]).parents
    ((1,), (2,), ())
    """
    n = sample.n_columns
    bounds = Constraints(sample.cards, required, forbidden, max_parents, names)
    if sorted(order) != list(range(n)):
        raise NetworkError(f"the order has {len(order)} places for {n} nodes; it must name each node once")
    place = {node: position for position, node in enumerate(order)}
    for child, above in enumerate(bounds.start):
        for parent in above:
            if place[parent] > place[child]:
                raise NetworkError(
                    f"the required arc {bounds.shown(parent, child)} goes against the order; turn one of them"
                )
    scorer = Scorer(sample, score, ess=ess)
    parents = [set(above) for above in bounds.start]
    own = [scorer.local(node, above) for node, above in enumerate(parents)]
    total = sum(own)
    path: list[Step] = []
    for position, node in enumerate(order):
        while len(parents[node]) < bounds.most:
            candidates = [
                other
                for other in sorted(order[:position])
                if other not in parents[node]
                and not bounds.forbidden[other, node]
                and scorer.cells(node, parents[node] | {other}) <= MOST_CELLS
            ]
            if not candidates:
                break
            scores = scorer.extended(node, parents[node], candidates)
            best = max(range(len(candidates)), key=lambda k: scores[k])
            if not scores[best] > own[node]:
                break
            gain, own[node] = scores[best] - own[node], scores[best]
            total = sum(own)
            parents[node].add(candidates[best])
            path.append(Step("add", (candidates[best], node), gain, total))
            if progress is not None:
                progress(len(path), total)
    return Search(
        tuple(tuple(sorted(above)) for above in parents),
        total,
        score,
        tuple(path),
        scorer.evaluations,
        scorer.hits,
        len(path),
    )
