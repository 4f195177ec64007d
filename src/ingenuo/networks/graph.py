"""Directed graphs without cycles, as the parents of each node; nodes are called by their places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ingenuo.errors import CycleError, NetworkError

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
