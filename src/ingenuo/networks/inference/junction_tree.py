"""The junction tree of a network: its nodes in overlapping groups; what two groups share, all on the way between do.

Exact inference then is a walk over the groups (cliques), each of which holds a table over its own nodes only. The tree
depends on the structure and not on the numbers: it is made once and serves for any evidence. How large the tables
would be is known before any is made, so that a network that no memory holds is refused at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ingenuo.errors import TooWideError
from ingenuo.networks.graph import Parents
from ingenuo.networks.inference.triangulation import Order, bits, least_fill, least_weight

LIMIT = 1 << 27
"""The cells that a tree's cliques may have in all: 1 GiB of doubles."""

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

        Parameters
        ----------
        parents
            Of each node, the places of its parents.
        cards
            The number of states of each node.
        together
            Nodes that shall be in one clique, for their joint posterior.
        limit
            The cells that the cliques may have in all; a tree that needs more is refused with TooWideError.

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
