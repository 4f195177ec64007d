"""The structure of a network classifier: its nodes, the class first, its arcs, and where numbers are cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes
from ingenuo.errors import InputError, NetworkError, did_you_mean
from ingenuo.families.categorical import column_codes
from ingenuo.labels import Labels, objects
from ingenuo.networks import graph
from ingenuo.networks.cuts import Cuts
from ingenuo.networks.named_search import NamedSearch, NamedStep
from ingenuo.networks.network import Network
from ingenuo.schema import column_name


@dataclass(frozen=True)
class Structure:
    """The nodes, the class first, the arcs between them, and where numbers are cut."""

    nodes: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    cuts: Mapping[Any, Cuts]  # by column
    search: NamedSearch | None

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """(parent, child) for every arc."""
        return [(self.nodes[up], self.nodes[down]) for down, above in enumerate(self.parents) for up in above]

    def packed(self) -> dict[str, Any]:
        """The structure as plain values, for a file."""
        found = self.search
        steps = [] if found is None else [[s.change, list(s.arc or ()), s.gain, s.score] for s in found.path]
        return {
            "nodes": list(self.nodes),
            "parents": [list(above) for above in self.parents],
            "cuts": {name: list(each.points) for name, each in self.cuts.items()},
            "search": None if found is None else [found.measure, found.score, steps, found.evaluations, found.hits],
        }

    @staticmethod
    def unpacked(plain: Mapping[str, Any]) -> Structure:
        """What `packed` gave; raises for what is no structure."""
        nodes, parents = tuple(map(str, plain["nodes"])), tuple(tuple(map(int, each)) for each in plain["parents"])
        graph.check(nodes, parents)
        cuts = {name: Cuts(tuple(float(point) for point in points)) for name, points in plain["cuts"].items()}
        if plain["search"] is None:
            return Structure(nodes, parents, cuts, None)
        measure, score, steps, evaluations, hits = plain["search"]
        path = tuple(
            NamedStep(str(change), (str(arc[0]), str(arc[1])) if arc else None, float(gain), float(total))
            for change, arc, gain, total in steps
        )
        return Structure(
            nodes, parents, cuts, NamedSearch(str(measure), float(score), path, int(evaluations), int(hits))
        )


def with_class(block: Codes, labels: NDArray[np.int32], classes: Labels) -> Codes:
    """The columns with the class before them."""
    assert block.labels is not None
    columns = [labels, *(column_codes(block, j) for j in range(len(block.labels)))]
    return Codes(objects(["", *block.names.tolist()]), block.n_rows, columns, [classes, *block.labels])


def refuse_empty(block: Codes) -> None:
    """Raise for a column without a single value."""
    for j, name in enumerate(block.names.tolist()):
        if not (np.asarray(column_codes(block, j)) >= 0).any():
            called = column_name(name)
            raise InputError(
                f"column {called!r} has no value in any row; drop it, or set it aside with "
                f"columns={{{called!r}: 'ignore'}}"
            )


def given_structure(network: Network, columns: list[str], target: str | None, cuts: dict[Any, Cuts]) -> Structure:
    """A structure that was given, with the class first."""
    absent = [node for node in network.nodes if node not in columns]
    name = target if target in network.nodes else network.target if network.target in absent else None
    if name is None:
        if len(absent) != 1:
            what = f"the nodes {', '.join(map(repr, absent))} are no columns" if absent else "every node is a column"
            raise NetworkError(
                f"one node of the network must be the class, and {what}; name it: fit(table, 'column'), or leave it "
                "out of X"
            )
        name = absent[0]
    others = [node for node in absent if node != name]
    if others:
        raise NetworkError(
            f"the table has no column for node {others[0]!r}{did_you_mean(others[0], columns)}; a NetworkClassifier "
            "learns from rows that have all the nodes, so add it, or take it from the network"
        )
    nodes = (name, *columns)
    above = network.parents
    parents = tuple(tuple(nodes.index(up) for up in above[node]) for node in nodes)
    return Structure(nodes, parents, cuts, None)
