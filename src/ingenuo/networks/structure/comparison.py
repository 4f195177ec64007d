"""How two structures differ, up to the directions that no data could tell apart.

Networks with the same edges and the same colliders (a → c ← b without an edge between a and b) say the same of any
data. The *pattern* of a structure shows what they have in common: arcs where all of them agree, edges where not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ingenuo.errors import NetworkError
from ingenuo.networks.graph import refuse_cycle
from ingenuo.networks.structure.search import Arc

Structure = Sequence[Collection[int]]


@dataclass(frozen=True)
class Pattern:
    """The essential graph of a structure: compelled arcs (parent, child), and edges with the lower node first."""

    arcs: frozenset[Arc]
    edges: frozenset[Arc]


def pattern(parents: Structure) -> Pattern:
    """The essential graph: colliders keep their directions, and so do the arcs that follow from them (Meek's rules).

    >>> pattern([(), (0,), (1,)])
    Pattern(arcs=frozenset(), edges=frozenset({(0, 1), (1, 2)}))
    >>> sorted(pattern([(), (), (0, 1), (2,)]).arcs)
    [(0, 2), (1, 2), (2, 3)]
    """
    above = [frozenset(nodes) for nodes in parents]
    refuse_cycle([f"node {node}" for node in range(len(above))], [tuple(sorted(nodes)) for nodes in above])
    beside: list[set[int]] = [set() for _ in above]
    for child, nodes in enumerate(above):
        for parent in nodes:
            beside[child].add(parent)
            beside[parent].add(child)
    compelled = {
        (parent, child)
        for child, nodes in enumerate(above)
        for parent in nodes
        if any(other != parent and other not in beside[parent] for other in nodes)
    }
    # Every direction that the rules give is the structure's own, so only arcs of the structure are tried.
    free = {(parent, child) for child, nodes in enumerate(above) for parent in nodes} - compelled
    while True:
        follows = {arc for arc in free if _follows(arc, beside, compelled, free)}
        if not follows:
            return Pattern(frozenset(compelled), frozenset((min(arc), max(arc)) for arc in free))
        compelled |= follows
        free -= follows


def _follows(arc: Arc, beside: Sequence[set[int]], compelled: set[Arc], free: set[Arc]) -> bool:
    """Whether one of Meek's rules directs a → b; from a structure without free colliders, the first three suffice."""
    a, b = arc
    if any((c, a) in compelled and c not in beside[b] for c in beside[a]):
        return True  # c → a, and b → a would make a new collider
    shared = beside[a] & beside[b]
    if any((a, c) in compelled and (c, b) in compelled for c in shared):
        return True  # a → c → b, and b → a would close a circle
    into = [c for c in shared if (c, b) in compelled and ((a, c) in free or (c, a) in free)]
    return any(d not in beside[c] for place, c in enumerate(into) for d in into[place + 1 :])


def hamming(parents: Structure, others: Structure) -> dict[str, int]:
    """How many changes lead from one structure to another: an edge added, taken away or turned counts 1.

    Parameters
    ----------
    parents
        The structure that is judged.
    others
        The one it is compared with, such as the true one.

    Returns
    -------
    dict
        "pattern": the structural Hamming distance of the patterns, the sum of "missing" (edges of the others that
        are not there), "extra" (edges the others do not have) and "reoriented" (edges of both, with a different
        direction or with one in only one of the patterns); "skeleton": missing and extra; "arcs": the same distance
        between the structures themselves, where every direction counts.

    >>> hamming([(), (0,), (1,)], [(), (), (0, 1)])
    {'pattern': 3, 'missing': 1, 'extra': 1, 'reoriented': 1, 'skeleton': 2, 'arcs': 2}
    """
    if len(parents) != len(others):
        raise NetworkError(f"the structures have {len(parents)} and {len(others)} nodes; they must be of the same")
    mine, theirs = pattern(parents), pattern(others)
    my_marks, their_marks = _marks(mine), _marks(theirs)
    missing, extra = len(their_marks.keys() - my_marks.keys()), len(my_marks.keys() - their_marks.keys())
    reoriented = sum(my_marks[edge] != their_marks[edge] for edge in my_marks.keys() & their_marks.keys())
    turned = _directions(parents), _directions(others)
    both = turned[0].keys() & turned[1].keys()
    return {
        "pattern": missing + extra + reoriented,
        "missing": missing,
        "extra": extra,
        "reoriented": reoriented,
        "skeleton": missing + extra,
        "arcs": missing + extra + sum(turned[0][edge] != turned[1][edge] for edge in both),
    }


def _marks(of: Pattern) -> dict[Arc, Arc | None]:
    """Each edge, lower node first, with its direction or None."""
    marks: dict[Arc, Arc | None] = dict.fromkeys(of.edges)
    marks.update(((min(arc), max(arc)), arc) for arc in of.arcs)
    return marks


def _directions(parents: Structure) -> dict[Arc, Arc]:
    arcs = [(parent, child) for child, above in enumerate(parents) for parent in above]
    return {(min(arc), max(arc)): arc for arc in arcs}
