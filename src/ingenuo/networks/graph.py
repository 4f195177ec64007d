"""Directed graphs without cycles, and their junction trees; nodes are called by their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log, prod

from ingenuo.errors import CycleError, NetworkError, TooWideError

Parents = Sequence[tuple[int, ...]]


def children(parents: Parents) -> list[list[int]]:
    """The children of each node, in ascending order.

    >>> children([(), (0,), (0, 1)])
    [[1, 2], [2], []]
    """
    below: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for parent in above:
            below[parent].append(child)
    return below


def order(parents: Parents) -> list[int]:
    """A topological order: every node after its parents, and otherwise by place; it is shorter where there is a cycle.

    >>> order([(2,), (), (1,)])
    [1, 2, 0]
    """
    below, waiting = children(parents), [len(above) for above in parents]
    ready, found = sorted((node for node, n in enumerate(waiting) if n == 0), reverse=True), []
    while ready:
        node = ready.pop()
        found.append(node)
        freed = []
        for child in below[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                freed.append(child)
        ready += reversed(freed)
    return found


def find_cycle(parents: Parents) -> list[int] | None:
    """The nodes of a cycle, each a parent of the next and the last of the first; None where there is no cycle.

    >>> find_cycle([(2,), (0,), (1,), (0,)])
    [0, 1, 2]
    >>> find_cycle([(), (0,)]) is None
    True
    """
    left = set(range(len(parents))) - set(order(parents))
    if not left:
        return None
    # Every node that is left has a parent that is: going up, one must come twice.
    path, seen = [min(left)], {min(left): 0}
    while True:
        above = min(parent for parent in parents[path[-1]] if parent in left)
        if above in seen:
            cycle = path[seen[above] :][::-1]
            first = cycle.index(min(cycle))
            return cycle[first:] + cycle[:first]
        seen[above] = len(path)
        path.append(above)


def refuse_cycle(nodes: Sequence[str], parents: Parents) -> None:
    """Raise where arcs lead back to where they began, and print them.

    >>> refuse_cycle(["a", "b"], [(1,), (0,)])
    Traceback (most recent call last):
    ...
    ingenuo.errors.CycleError: the arcs go round in a circle: a → b → a; a network must have none, so take one away
    """
    cycle = find_cycle(parents)
    if cycle is not None:
        shown = " → ".join(str(nodes[place]) for place in [*cycle, cycle[0]])
        raise CycleError(f"the arcs go round in a circle: {shown}; a network must have none, so take one away")


def check(nodes: Sequence[str], parents: Parents) -> None:
    """Raise where these are no graph at all, as what a file holds may be, or have a cycle.

    >>> check(["a", "b"], [(), (0, 0)])
    Traceback (most recent call last):
    ...
    ingenuo.errors.NetworkError: a node of the network has a parent twice
    """
    if len(nodes) != len(parents) or len(set(nodes)) != len(nodes):
        raise NetworkError("every node of the network has its parents, once")
    if any(not 0 <= up < len(nodes) for above in parents for up in above):
        raise NetworkError("the network has an arc from nowhere")
    if any(len(set(above)) != len(above) for above in parents):
        raise NetworkError("a node of the network has a parent twice")
    refuse_cycle(nodes, parents)


def ancestors(parents: Parents, of: Iterable[int]) -> set[int]:
    """The nodes themselves and all that are above them.

    >>> sorted(ancestors([(), (0,), (1,), ()], [1]))
    [0, 1]
    """
    found: set[int] = set()
    waiting = list(of)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += parents[node]
    return found


def distance(parents: Parents, others: Parents) -> dict[str, int]:
    """How many changes lead from one structure to another; up to directions no data could tell, in "pattern".

    >>> distance([(), (0,), (1,)], [(), (), (0, 1)])
    {'pattern': 3, 'missing': 1, 'extra': 1, 'reoriented': 1, 'skeleton': 2, 'arcs': 2}
    """
    mine, theirs = ({(min(arc), max(arc)): arc for arc in _arcs(each)} for each in (parents, others))
    missing, extra = len(theirs.keys() - mine.keys()), len(mine.keys() - theirs.keys())
    both, marks = mine.keys() & theirs.keys(), (compelled(parents), compelled(others))
    directions = [
        tuple(arcs[edge] if arcs[edge] in own else None for arcs, own in zip((mine, theirs), marks)) for edge in both
    ]
    reoriented = sum(one != other for one, other in directions)
    return {
        "pattern": missing + extra + reoriented,
        "missing": missing,
        "extra": extra,
        "reoriented": reoriented,
        "skeleton": missing + extra,
        "arcs": missing + extra + sum(mine[edge] != theirs[edge] for edge in both),
    }


def _arcs(parents: Parents) -> set[tuple[int, int]]:
    return {(parent, child) for child, above in enumerate(parents) for parent in above}


def compelled(parents: Parents) -> set[tuple[int, int]]:
    """The arcs of the essential graph: those of colliders, and those that follow from them by Meek's rules."""
    arcs, beside = _arcs(parents), [set(above) | set(below) for above, below in zip(parents, children(parents))]
    found = {(a, b) for a, b in arcs if any(c != a and c not in beside[a] for c in parents[b])}

    def follows(a: int, b: int) -> bool:
        shared = beside[a] & beside[b]
        into = [c for c in shared if (c, b) in found and (c, a) not in found and (a, c) not in found]
        return (
            any((c, a) in found and c not in beside[b] for c in beside[a])  # b → a would make a new collider
            or any((a, c) in found and (c, b) in found for c in shared)  # b → a would close a circle
            or any(d not in beside[c] for c in into for d in into if d != c)
        )

    while more := {arc for arc in arcs - found if follows(*arc)}:
        found |= more
    return found


# The junction tree of a network: its nodes in overlapping groups; what two groups share, all on the way between do.


LIMIT = 1 << 27

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
