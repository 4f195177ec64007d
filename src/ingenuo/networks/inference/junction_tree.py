"""The junction tree of a network: its nodes in overlapping groups; what two groups share, all on the way between do.

Exact inference then is a walk over the groups (cliques), each of which holds a table over its own nodes only. The tree
depends on the structure and not on the numbers: it is made once and serves for any evidence. How large the tables
would be is known before any is made, so that a network that no memory holds is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log, prod

from ingenuo.errors import TooWideError
from ingenuo.networks.graph import Parents

LIMIT = 1 << 27
"""The cells that a tree's cliques may have in all: 1 GiB of doubles."""

Order = list[tuple[int, int]]  # each node with the set of those that its sum runs over: itself and its neighbours then
Index = tuple[slice | int | None, ...]
_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Placement:
    """How a table becomes a factor of a clique: its axes in the clique's order, then one of length 1 for each other."""

    clique: int
    axes: tuple[int, ...]
    index: Index


@dataclass(frozen=True, eq=False)
class Link:
    """What a clique and the one above it share, and how a table over that is got from either and fits in either."""

    nodes: tuple[int, ...]
    sum_below: tuple[int, ...]  # the clique's axes that are not shared
    sum_above: tuple[int, ...]
    fit_below: Index
    fit_above: Index


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Cliques, those above first; one tree for each part of the network that hangs together.

    A node with a single state is in no clique: nothing about it is unknown.
    """

    cards: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]  # of each table, the nodes of its axes
    cliques: tuple[tuple[int, ...], ...]  # the nodes of each, ascending
    above: tuple[int, ...]  # -1 at the top
    below: tuple[tuple[int, ...], ...]
    links: tuple[Link | None, ...]  # to the clique above
    placements: tuple[Placement, ...]  # of each table
    homes: dict[int, int]  # of each node, the smallest clique that has it

    @property
    def width(self) -> int:
        """The number of nodes of the largest clique, less one."""
        return max((len(clique) for clique in self.cliques), default=1) - 1

    @cached_property
    def cells(self) -> int:
        """The cells of all cliques together."""
        return sum(prod(self.cards[node] for node in clique) for clique in self.cliques)

    @classmethod
    def of(
        cls, parents: Parents, cards: Sequence[int], together: Sequence[int] = (), limit: int = LIMIT
    ) -> JunctionTree:
        """The tree of a network.

        >>> tree = JunctionTree.of([(), (0,), (0,), (1, 2)], [2, 2, 2, 2])
        >>> tree.cliques, tree.width
        (((1, 2, 3), (0, 1, 2)), 2)
        """
        return cls.over([(*above, node) for node, above in enumerate(parents)], cards, together, limit)

    @classmethod
    def over(
        cls,
        scopes: Sequence[tuple[int, ...]],
        cards: Sequence[int],
        together: Sequence[int] = (),
        limit: int = LIMIT,
    ) -> JunctionTree:
        """The tree for any tables, given the nodes of each; the nodes wanted together are at the top.

        >>> JunctionTree.over([(0, 1), (1, 5)], [2, 2, 0, 0, 0, 3]).cliques
        ((1, 5), (0, 1))
        """
        wanted = tuple(node for node in together if cards[node] > 1)
        open_scopes = [tuple(node for node in scope if cards[node] > 1) for scope in (*scopes, wanted)]
        nodes = sorted({node for scope in open_scopes for node in scope})
        place = {node: at for at, node in enumerate(nodes)}
        beside = [0] * len(nodes)
        for scope in open_scopes:
            family = sum(1 << place[node] for node in set(scope))
            for node in scope:
                beside[place[node]] |= family & ~(1 << place[node])
        masks, above, bag_of, turn = _smallest(beside, [cards[node] for node in nodes], limit)
        top = bag_of[min((place[node] for node in wanted), key=turn.__getitem__)] if wanted else -1
        masks, above, moved = _from_the_top(masks, above, top)
        cliques = tuple(tuple(nodes[at] for at in bits(mask)) for mask in masks)
        placements = []
        for scope, free in zip(scopes, open_scopes):
            # The member that is summed out first has all the others beside it then.
            home = moved[bag_of[min((place[node] for node in free), key=turn.__getitem__)]] if free else -1
            placements.append(_placement(scope, cards, home, cliques[home] if free else ()))
        below: list[list[int]] = [[] for _ in cliques]
        for clique, parent in enumerate(above):
            if parent >= 0:
                below[parent].append(clique)
        sizes = [prod(cards[node] for node in clique) for clique in cliques]
        homes: dict[int, int] = {}
        for clique in sorted(range(len(cliques)), key=lambda c: (sizes[c], c), reverse=True):
            homes.update(dict.fromkeys(cliques[clique], clique))
        return cls(
            cards=tuple(cards),
            scopes=tuple(scopes),
            cliques=cliques,
            above=tuple(above),
            below=tuple(tuple(cliques_) for cliques_ in below),
            links=tuple(_link(c, cliques[p]) if p >= 0 else None for c, p in zip(cliques, above)),
            placements=tuple(placements),
            homes=homes,
        )


def _smallest(
    beside: list[int], cards: list[int], limit: int
) -> tuple[list[int], list[int], dict[int, int], dict[int, int]]:
    """The cliques of the better of two orders, as sets of bits, each after the one above it; see :func:`_bags`."""

    def cells(mask: int) -> int:
        return prod(cards[at] for at in bits(mask))

    best = _bags(least_weight(beside, cards))
    least = sum(map(cells, best[0]))
    order = least_fill(beside, cards, max(1, min(limit, least)))
    if order is not None:
        other = _bags(order)
        total = sum(map(cells, other[0]))
        if total < least:
            best, least = other, total
    if least > limit:
        widest = max(best[0], key=cells)
        raise TooWideError(
            f"the network is too wide for exact inference: its width is {widest.bit_count() - 1} (a table over "
            f"{widest.bit_count()} nodes at once) in the best order found, and its tables would have "
            f"{_readable(least)} cells in all, {_memory(least)}, the largest {_readable(cells(widest))}, "
            f"where at most {limit:,} are allowed; "
            "observe more nodes, ask for fewer nodes together, count among samples drawn without evidence, "
            "or learn it with fewer parents for each node"
        )
    return best


def _bags(order: Order) -> tuple[list[int], list[int], dict[int, int], dict[int, int]]:
    """The cliques that no other contains, from the sets that an order sums over.

    What is left of a node's set without it lies within the set of the next of them to go: that one's clique is the
    one above. Where it is the whole of that clique, the clique grows by the node instead of getting one below it.
    Returns the cliques, those above, the clique of each node's set, and the node's turn in the order.
    """
    turn = {node: at for at, (node, _) in enumerate(order)}
    masks: list[int] = []
    above: list[int] = []
    bag_of: dict[int, int] = {}
    for node, mask in reversed(order):
        rest = bits(mask & ~(1 << node))
        bag = bag_of[min(rest, key=turn.__getitem__)] if rest else -1
        if rest and masks[bag] & ~mask == 0:
            masks[bag] = mask
            bag_of[node] = bag
        else:
            bag_of[node] = len(masks)
            masks.append(mask)
            above.append(bag)
    return masks, above, bag_of, turn


def _from_the_top(masks: list[int], above: list[int], top: int) -> tuple[list[int], list[int], list[int]]:
    """The same tree hung from another clique (none: -1), in an order from above to below, and each one's new place."""
    hung = list(above)
    previous, clique = -1, top
    while clique >= 0:
        hung[clique], previous, clique = previous, clique, hung[clique]
    below: list[list[int]] = [[] for _ in masks]
    for clique, parent in enumerate(hung):
        if parent >= 0:
            below[parent].append(clique)
    order = [clique for clique, parent in enumerate(hung) if parent < 0]
    for clique in order:
        order += below[clique]
    moved = [0] * len(order)
    for at, clique in enumerate(order):
        moved[clique] = at
    return [masks[c] for c in order], [moved[hung[c]] if hung[c] >= 0 else -1 for c in order], moved


def _placement(scope: tuple[int, ...], cards: Sequence[int], home: int, clique: tuple[int, ...]) -> Placement:
    """The axes of one state go first and are dropped by the index."""
    single = [axis for axis, node in enumerate(scope) if cards[node] <= 1]
    others = sorted((axis for axis, node in enumerate(scope) if cards[node] > 1), key=scope.__getitem__)
    own = set(scope)
    index: Index = (*[0 for _ in single], *[_ALL if node in own else None for node in clique])
    return Placement(home, (*single, *others), index)


def _link(clique: tuple[int, ...], above: tuple[int, ...]) -> Link:
    shared = set(clique) & set(above)
    return Link(
        nodes=tuple(sorted(shared)),
        sum_below=tuple(axis for axis, node in enumerate(clique) if node not in shared),
        sum_above=tuple(axis for axis, node in enumerate(above) if node not in shared),
        fit_below=tuple(_ALL if node in shared else None for node in clique),
        fit_above=tuple(_ALL if node in shared else None for node in above),
    )


def _readable(cells: int) -> str:
    return f"{cells:,}" if cells < 10**15 else f"about 10^{len(str(cells)) - 1}"


def _memory(cells: int) -> str:
    size, units = cells * 8, ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    at = min(len(units) - 1, max(0, (size.bit_length() - 1) // 10))
    whole = size // 1024**at
    return f"{_readable(whole)} {units[at]}"


# In which order to sum nodes out: every order gives the right answer, and the tables on the way differ by magnitudes.
# Finding the best order is as hard as inference itself; two greedy rules, each good where the other is poor, come near
# it. Sets of nodes are bits of an integer: joining and counting neighbours are then single operations.


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
