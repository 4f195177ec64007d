"""A layered graph, and a layout: the words that the steps of drawing share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]
Route = list[Point]  # a start and then, for each cubic curve, two control points and its end
Parents = Sequence[Sequence[int]]
Size = tuple[float, float]  # width and height
HEAD = 9.0  # room above a box for the head of an arrow: routes end there


@dataclass(frozen=True)
class Layout:
    """Boxes by their centres, arcs by their curves, from (0, 0) at the top left to (width, height)."""

    width: float
    height: float
    centres: list[Point]
    layers: list[int]  # counted from the top of the node's own part
    routes: dict[tuple[int, int], Route]  # (parent, child) to the curves from box to box, HEAD short of the child's


@dataclass(frozen=True)
class Rows:
    """A layered graph: nodes first, then the stops of long arcs; every edge leads from one row to the next."""

    rows: list[list[int]]
    above: list[list[int]]  # of each vertex, its neighbours one row up
    below: list[list[int]]
    chains: dict[tuple[int, int], list[int]]  # of each arc, its stops from top to bottom
    n_nodes: int
