"""What a sheet says of a network: the tables by which rows are answered, and the picture that a page asks.

Rows are answered as `kernels.codes.joint_by_class` does it, and JavaScript repeats it step by step (page/networks.mjs).
In the order of the nodes, each table is read where the row's known cells point: what has neither the target nor a
missing node in it is added to the sum that all classes share, and what has the target alone to that of each class. Then
missing nodes are summed out one by one, next the one that makes the smallest table; each cell of it is
m + log Σ exp(t - m), with t the sum of its tables' cells in the order in which they were made, m the largest t, and the
sum over the states of the node from left to right. In the end the shared sum is added to that of each class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import TooWideError
from ingenuo.families.discretise import Cuts
from ingenuo.kernels import densities
from ingenuo.kernels.codes import SCRATCH, Flat
from ingenuo.networks import drawing, inference
from ingenuo.networks.columns import encode_states
from ingenuo.networks.graph import Parents, junction_tree
from ingenuo.rows import checks
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.page import OnAPage
from ingenuo.show.svg import clean, text_width

Floats = NDArray[np.float64]

TINY = 1e-300  # stands for an entry of 0 where a row is impossible for every class

# Of the boxes on a page, in pixels; views/network.mjs has the same figures for its rows and columns.
NAME_SIZE, STATE_SIZE = 13.0, 12.0
NAME_LIMIT, STATE_LIMIT = 190.0, 136.0
PADDING, GAP, BAR, FIGURES = 9.0, 7.0, 62.0, 46.0
SLACK = 6.0  # for borders, and fonts that are wider than they are thought to be
HEADER, LINE, BELOW = 27.0, 20.0, 7.0
MOST_STATES = 10.5  # of more the box scrolls, and the half of one says so
LARGEST = 400  # nodes that are laid out


def describe_node(
    name: str,
    states: Sequence[Any],
    names: Sequence[str] | None = None,
    cuts: Cuts | None = None,
    column: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A node of a sheet: its states, what they are called, the cut points of numbers, and the column that it is."""
    points = None if cuts is None else list(cuts.points)
    called = list(map(str, states) if names is None else names)
    return {"op": "node", "name": name, "states": list(states), "names": called, "cuts": points, **(column or {})}


def describe_scorer(
    nodes: Sequence[Mapping[str, Any]], parents: Parents, tables: Sequence[Floats], target: int, match: str
) -> dict[str, Any]:
    """How a network answers rows. Values are matched to states as labels ("labels") or by their text ("text")."""
    return {
        "op": "network",
        "nodes": list(nodes),
        "parents": [list(above) for above in parents],
        "tables": [np.ravel(table) for table in tables],
        "target": target,
        "match": match,
        "most": SCRATCH,
        "exact": is_exact(parents, [table.shape[-1] for table in tables]),
    }


def is_exact(parents: Parents, cards: Sequence[int]) -> bool:
    """Whether every row is summed out by the steps above, and none by messages along a junction tree.

    Those of a page and of Python agree in all but the last bits. The tables of a row's own order are rarely larger than
    the tree's, so where these are far below the limit there is no such row.
    """
    try:
        return measure(parents, cards) <= SCRATCH // 16
    except TooWideError:
        return False


def measure(parents: Parents, cards: Sequence[int]) -> int:
    """The cells of the cliques of a junction tree for the whole network."""
    return junction_tree(tuple((*above, node) for node, above in enumerate(parents)), tuple(cards)).cells


def describe_picture(
    nodes: Sequence[Mapping[str, Any]],
    parents: Parents,
    tables: Sequence[Floats],
    target: int | None,
    *,
    name: str,
    match: str,
    note: str | None = None,
) -> dict[str, Any]:
    """The network as a page asks and draws it: boxes by their centres, arcs by their curves and how strong they are."""
    # A page asks by the names of columns, and not by their places.
    named = [{key: own for key, own in node.items() if key not in ("op", "column")} for node in nodes]
    columns = [column_name(node["column"]) if "column" in node else None for node in nodes]
    found: dict[str, Any] = {
        "name": name,
        "nodes": [{**node, "column": column} for node, column in zip(named, columns)],
        "parents": [list(above) for above in parents],
        "tables": [np.ravel(table) for table in tables],
        "target": target,
        "match": match,
        "note": note,
        "layout": None,
    }
    if len(nodes) > LARGEST:
        return found
    sizes = [box_size(node["name"], node["names"]) for node in nodes]
    placed = drawing.layout(parents, sizes)
    try:
        strengths: Mapping[tuple[int, int], float] = inference.arc_strengths(parents, tables)
    except TooWideError:
        strengths = {}
    found["layout"] = {
        "width": _rounded(placed.width),
        "height": _rounded(placed.height),
        "centres": [[*map(_rounded, centre)] for centre in placed.centres],
        "sizes": [[*map(_rounded, size)] for size in sizes],
        "arcs": [
            {
                "ends": [up, down],
                "bits": _rounded(strengths[up, down], 6) if strengths else None,
                "route": [_rounded(each) for point in route for each in point],
            }
            for (up, down), route in placed.routes.items()
        ],
    }
    return found


def box_size(name: str, names: Sequence[str]) -> tuple[float, float]:
    """How large the box of a node is on a page."""
    title = min(text_width(clean(name), NAME_SIZE, bold=True), NAME_LIMIT) + 2 * PADDING
    label = max((min(text_width(clean(text), STATE_SIZE), STATE_LIMIT) for text in names), default=0.0)
    wide = label + BAR + FIGURES + 2 * GAP + 2 * PADDING
    return max(title, wide) + SLACK, HEADER + LINE * min(len(names), MOST_STATES) + BELOW


def _rounded(value: float, digits: int = 1) -> float:
    return round(float(value), digits)


class NetworkSheet(OnAPage):
    """Mix-in: what a sheet has of a network, of which every node can be asked. Its classes are the target's states."""

    nodes: tuple[str, ...]
    name: str
    target: str | None
    cuts: dict[str, Cuts]
    _parents: Parents
    _known_states: Callable[[], tuple[tuple[Any, ...], ...]]
    _known_tables: Callable[[], tuple[Floats, ...]]
    _flat: Callable[[], Flat]

    @property
    def _asked(self) -> int:
        return 0 if self.target is None else self.nodes.index(self.target)

    @property
    def _target(self) -> str:
        """What a row is asked for, as of a classifier."""
        return self.nodes[self._asked]

    def sheet_schema(self) -> tuple[Schema, list[Any], Floats]:
        """What a sheet says of the columns, the classes, and the shares of these."""
        asked, states = self._asked, self._known_states()
        kinds = {node: "number" if node in self.cuts else "category" for node in self.nodes}
        kinds.pop(self.nodes[asked])
        known = {node: own for node, own in zip(self.nodes, states) if kinds.get(node) == "category"}
        (shares,), _ = inference.posteriors(self._parents, self._known_tables(), {}, [asked])
        return Schema.of(kinds, known), list(states[asked]), shares

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it."""
        self._flat()  # which refuses a network in which something is known
        return describe_scorer(self._sheet_nodes(), self._parents, self._known_tables(), self._asked, "text")

    def sheet_network(self) -> dict[str, Any]:
        """The network that a page draws and asks."""
        target = None if self.target is None else self._asked
        nodes, tables = self._sheet_nodes(), self._known_tables()
        return describe_picture(nodes, self._parents, tables, target, name=self.name, match="text")

    def _sheet_nodes(self) -> list[dict[str, Any]]:
        found = []
        for place, (node, own) in enumerate(zip(self.nodes, self._known_states())):
            column = {} if place == self._asked else {"column": node}
            found.append(describe_node(node, own, None, self.cuts.get(node), column))
        return found

    def answer_row(self, row: Any) -> tuple[Floats, Floats]:
        """The log joint of one row with each state of the target, and their posterior.

        Where the tables rule the row out, that of tables in which nothing is impossible, as of a classifier.
        """
        source, asked = checks.row(row, self.sheet_schema()[0]), self._asked
        codes = encode_states(self.nodes, self._known_states(), source, self.cuts, asked)
        joint = inference.log_joint(self._flat(), codes, asked)
        posterior = joint.copy()
        if len(densities.posterior(posterior)):
            lifted = Flat.of(self._parents, [np.maximum(table, TINY) for table in self._known_tables()])
            posterior = inference.log_joint(lifted, codes, asked)
            densities.posterior(posterior)
        return joint[0], posterior[0]
