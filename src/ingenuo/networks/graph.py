"""Directed graphs without cycles, and their junction trees; nodes are called by their places."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, log, prod

from ingenuo.errors import CycleError, NetworkError, TooWideError

Parents = Sequence[tuple[int, ...]]


def children(parents: Parents) -> list[list[int]]:
    """The children of each node, in ascending order."""
    below: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            below[parent].append(child)
    return below


def order(parents: Parents) -> list[int]:
    """A topological order: every node after its parents, and otherwise by place."""
    below, waiting = children(parents), [len(above) for above in parents]
    ready, found = [node for node, n in enumerate(waiting) if n == 0][::-1], []
    while ready:
        node = ready.pop()
        found.append(node)
        for child in below[node]:
            waiting[child] -= 1
        ready += [child for child in reversed(below[node]) if waiting[child] == 0]
    return found


def find_cycle(parents: Parents) -> list[int] | None:
    """The nodes of a cycle, each a parent of the next and the last of the first; None where there is no cycle."""
    try:
        graphlib.TopologicalSorter(dict(enumerate(parents))).prepare()
    except graphlib.CycleError as error:
        cycle: list[int] = error.args[1][1:]
        first = cycle.index(min(cycle))
        return cycle[first:] + cycle[:first]
    return None


def refuse_cycle(nodes: Sequence[str], parents: Parents) -> None:
    """Raise where arcs lead back to where they began, and print them."""
    if (cycle := find_cycle(parents)) is not None:
        shown = " → ".join(str(nodes[place]) for place in [*cycle, cycle[0]])
        raise CycleError(f"the arcs go round in a circle: {shown}; a network must have none, so take one away")


def check(nodes: Sequence[str], parents: Parents) -> None:
    """Raise where these are no graph at all, as what a file holds may be, or have a cycle."""
    if len(nodes) != len(parents) or len(set(nodes)) != len(nodes):
        raise NetworkError("every node of the network has its parents, once")
    if any(not 0 <= up < len(nodes) for above in parents for up in above):
        raise NetworkError("the network has an arc from nowhere")
    if any(len(set(above)) != len(above) for above in parents):
        raise NetworkError("a node of the network has a parent twice")
    refuse_cycle(nodes, parents)


def ancestors(parents: Parents, of: Iterable[int]) -> set[int]:
    """The nodes themselves and all that are above them."""
    found, waiting = set[int](), list(of)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += parents[node]
    return found


# The junction tree of a network: its nodes in overlapping groups; what two groups share, all on the way between do.

LIMIT = 1 << 27  # cells of all cliques together

Scopes = tuple[tuple[int, ...], ...]
Axes = tuple[int, ...]
Index = tuple[slice | None, ...]
_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Cliques, those above first; one tree for each part of the network that hangs together."""

    cards: Sequence[int]
    cliques: list[tuple[int, ...]]  # the nodes of each, ascending
    above: list[int]  # -1 at the top
    # Of each clique but the top: the axes that are not shared, its own and those of the one above, and how a table over
    # what is shared fits into either.
    links: list[tuple[Axes, Axes, Index, Index]]
    # Of each table its clique, its axes in the clique's order, and how it fits in; clique -1 where it has no axis.
    placements: list[tuple[int, Axes, Index]]
    homes: dict[int, int]  # of each node, the smallest clique that has it
    cells: int  # of all cliques together


@lru_cache(maxsize=256)
def junction_tree(scopes: Scopes, cards: tuple[int, ...], together: tuple[int, ...] = ()) -> JunctionTree:
    """The tree for tables of these scopes; the nodes wanted together are at the top."""
    nodes = sorted({node for scope in (*scopes, together) for node in scope})
    place = {node: at for at, node in enumerate(nodes)}
    beside = [0] * len(nodes)
    for scope in (*scopes, together):
        family = sum(1 << place[node] for node in scope)
        for node in scope:
            beside[place[node]] |= family & ~(1 << place[node])
    masks, above, bag_of, turn = _smallest(beside, [cards[node] for node in nodes])

    def home(scope: Iterable[int]) -> int:  # the member that is summed out first has all the others beside it then
        return bag_of[min((place[node] for node in scope), key=turn.__getitem__)]

    # The same tree hung from the clique of those wanted together, in an order from above to below.
    previous, clique = -1, home(together) if together else -1
    while clique >= 0:
        above[clique], previous, clique = previous, clique, above[clique]
    below: dict[int, list[int]] = {}
    for clique, parent in enumerate(above):
        below.setdefault(parent, []).append(clique)
    walk = below.get(-1, [])
    for clique in walk:
        walk += below.get(clique, [])
    moved = {clique: at for at, clique in enumerate(walk)} | {-1: -1}
    cliques = [tuple(nodes[at] for at in bits(masks[clique])) for clique in walk]
    above = [moved[above[clique]] for clique in walk]
    placements = []
    for scope in scopes:
        clique, axes = moved[home(scope)] if scope else -1, sorted(range(len(scope)), key=scope.__getitem__)
        placements.append((clique, tuple(axes), _fit(scope, cliques[clique] if scope else ())))
    sizes = [prod(cards[node] for node in clique) for clique in cliques]
    homes: dict[int, int] = {}
    for clique in sorted(range(len(cliques)), key=lambda c: (sizes[c], c), reverse=True):
        homes.update(dict.fromkeys(cliques[clique], clique))
    links = []
    for own, parent in zip(cliques, above):
        over = cliques[parent] if parent >= 0 else ()
        shared = set(own) & set(over)
        sums = [tuple(axis for axis, node in enumerate(each) if node not in shared) for each in (own, over)]
        links.append((sums[0], sums[1], _fit(shared, own), _fit(shared, over)))
    return JunctionTree(cards, cliques, above, links, placements, homes, sum(sizes))


def _fit(scope: Iterable[int], clique: tuple[int, ...]) -> Index:
    """How a table over some nodes of a clique broadcasts over it."""
    own = set(scope)
    return tuple(_ALL if node in own else None for node in clique)


Bags = tuple[list[int], list[int], dict[int, int], dict[int, int]]


def _smallest(beside: list[int], cards: list[int]) -> Bags:
    """The cliques of the better of two orders, as sets of bits, each after the one above it; see `_bags`."""

    def cells(mask: int) -> int:
        return prod(cards[at] for at in bits(mask))

    weights = [log(card) for card in cards]
    best = _bags(_greedy(beside, weights, by_fill=False) or [])
    least = sum(map(cells, best[0]))
    if (other := _greedy(beside, weights, by_fill=True, most=log(max(1, min(LIMIT, least))) + 1e-9)) is not None:
        bags = _bags(other)
        total = sum(map(cells, bags[0]))
        best, least = (bags, total) if total < least else (best, least)
    if least > LIMIT:
        widest = max(best[0], key=cells)
        raise TooWideError(
            f"the network is too wide for exact inference: its width is {widest.bit_count() - 1} (a table over "
            f"{widest.bit_count()} nodes at once) in the best order found, and its tables would have "
            f"{_readable(least)} cells in all, {_readable(least >> 27)} GiB, the largest {_readable(cells(widest))}, "
            f"where at most {LIMIT:,} are allowed; "
            "observe more nodes, ask for fewer nodes together, count among samples drawn without evidence, "
            "or learn it with fewer parents for each node"
        )
    return best


def _bags(order: list[tuple[int, int]]) -> Bags:
    """The cliques that no other contains, those above them, the clique of each node's set, and its turn in the order.

    What is left of a node's set without it lies within the set of the next of them to go: that one's clique is the
    one above. Where it is the whole of that clique, the clique grows by the node instead of getting one below it.
    """
    turn = {node: at for at, (node, _) in enumerate(order)}
    masks, above, bag_of = list[int](), list[int](), dict[int, int]()
    for node, mask in reversed(order):
        rest = bits(mask & ~(1 << node))
        bag = bag_of[min(rest, key=turn.__getitem__)] if rest else -1
        if rest and masks[bag] & ~mask == 0:
            masks[bag], bag_of[node] = mask, bag
        else:
            bag_of[node] = len(masks)
            masks.append(mask)
            above.append(bag)
    return masks, above, bag_of, turn


def _readable(n: int) -> str:
    return f"{n:,}" if n < 10**15 else f"about 10^{len(str(n)) - 1}"


def bits(mask: int) -> list[int]:
    """The members of a set, ascending."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def _greedy(
    beside: list[int], weights: list[float], *, by_fill: bool, most: float = inf
) -> list[tuple[int, int]] | None:
    """The nodes in the order in which to sum them out, each with the set that its sum runs over.

    Every order gives the right answer, and the tables on the way differ by magnitudes. Next is the node whose table is
    the smallest, or whose neighbours need the fewest new links; each rule is good where the other is poor. None as soon
    as a table has more cells than e^most. Sets are bits of an integer: joining and counting are single operations.
    """
    beside = list(beside)

    def cost(node: int) -> tuple[int, float]:
        around, links, weight = beside[node], 0, weights[node]
        for other in bits(around):
            weight += weights[other]
            if by_fill:
                links += (around & ~beside[other]).bit_count() - 1  # it is no neighbour of itself
        return links, weight

    costs = {node: cost(node) for node in range(len(beside))}
    order = []
    while costs:
        node = min(costs, key=costs.__getitem__)
        if costs.pop(node)[1] > most:
            return None
        around = changed = beside[node]
        order.append((node, around | 1 << node))
        for other in bits(around):
            changed |= beside[other] if by_fill else 0
            beside[other] = (beside[other] | around) & ~(1 << other | 1 << node)
        for other in bits(changed & ~(1 << node)):
            costs[other] = cost(other)
    return order
