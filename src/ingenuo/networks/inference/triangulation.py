"""In which order to sum nodes out: every order gives the right answer, and the tables on the way differ by magnitudes.

Finding the best order is as hard as inference itself; two greedy rules, each good where the other is poor, come near
it. Sets of nodes are bits of an integer: joining and counting neighbours are then single operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, log

Order = list[tuple[int, int]]  # each node with the set of those that its sum runs over: itself and its neighbours then


def bits(mask: int) -> list[int]:
    """The members of a set, ascending.

    >>> bits(0b1101)
    [0, 2, 3]
    """
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def least_weight(beside: Sequence[int], cards: Sequence[int]) -> Order:
    """The order that sums out, each time, the node whose table is the smallest.

    Parameters
    ----------
    beside
        The neighbours of each node, as a set of bits.
    cards
        The number of states of each node.

    >>> [node for node, _ in least_weight([0b010, 0b101, 0b010], [2, 2, 2])]
    [0, 1, 2]
    """
    beside, weights = list(beside), [log(card) for card in cards]

    def weight(node: int) -> float:
        return weights[node] + sum(weights[other] for other in bits(beside[node]))

    order = _greedy(beside, weight, lambda node: beside[node], inf, weights)
    assert order is not None
    return order


def least_fill(beside: Sequence[int], cards: Sequence[int], limit: float) -> Order | None:
    """The order that sums out, each time, the node whose neighbours need the fewest new links among them.

    Of two alike, the one with the smaller table. None as soon as a table has more than `limit` cells.

    >>> order = least_fill([0b1010, 0b0101, 0b1010, 0b0101], [9, 2, 2, 2], limit=100)
    >>> [node for node, _ in order]
    [2, 0, 1, 3]
    """
    beside, weights = list(beside), [log(card) for card in cards]

    def fill(node: int) -> tuple[int, float]:
        around, missing, weight = beside[node], 0, weights[node]
        for other in bits(around):
            missing += (around & ~beside[other]).bit_count() - 1  # it is no neighbour of itself
            weight += weights[other]
        return missing, weight

    def touched(node: int) -> int:
        around = beside[node]
        for other in bits(beside[node]):
            around |= beside[other]
        return around

    return _greedy(beside, fill, touched, log(limit) + 1e-9, weights)


def _greedy(
    beside: list[int],
    cost: Callable[[int], object],
    touched: Callable[[int], int],
    most: float,
    weights: Sequence[float],
) -> Order | None:
    """Sum out the cheapest node until none is left; `touched` says whose costs change with one that goes."""
    costs: dict[int, object] = {node: cost(node) for node in range(len(beside))}
    order: Order = []
    while costs:
        node = min(costs, key=costs.__getitem__)  # type: ignore[arg-type]
        around = beside[node]
        members = bits(around)
        if weights[node] + sum(weights[other] for other in members) > most:
            return None
        order.append((node, around | 1 << node))
        changed = touched(node)
        for other in members:
            beside[other] = (beside[other] | around) & ~(1 << other | 1 << node)
        del costs[node]
        for other in bits(changed & ~(1 << node)):
            costs[other] = cost(other)
    return order
