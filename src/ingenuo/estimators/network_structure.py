"""The structure of a network classifier: its nodes, the class first, its arcs, and where numbers are cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes
from ingenuo.errors import InputError, MergeError, NetworkError, did_you_mean
from ingenuo.families.categorical import column_codes
from ingenuo.labels import Labels, objects
from ingenuo.networks import graph
from ingenuo.networks.columns import without_value
from ingenuo.networks.cuts import Cuts
from ingenuo.networks.learn import listed
from ingenuo.networks.network import Network
from ingenuo.networks.structure import Search, Step
from ingenuo.schema import column_name


@dataclass(frozen=True)
class Structure:
    """The nodes, the class first, the arcs between them, and where numbers are cut."""

    nodes: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]
    cuts: Mapping[Any, Cuts]  # by column
    search: Search | None

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """(parent, child) for every arc."""
        return [(self.nodes[up], self.nodes[down]) for down, above in enumerate(self.parents) for up in above]

    def refuse_other(self, theirs: Structure) -> None:
        """Raise where the tables of another structure do not add to those of this one."""
        if self.nodes != theirs.nodes or self.parents != theirs.parents:
            odd = sorted(set(self.arcs) ^ set(theirs.arcs))
            what = f"{odd[0][0]} → {odd[0][1]} is in one of them only" if odd else "their columns differ"
            raise MergeError(
                f"networks merge where their structure is the same: {what}; learn both with the structure of one: "
                "structure=model.network_"
            )
        for name, each in self.cuts.items():
            if theirs.cuts.get(name) != each:
                raise MergeError(
                    f"networks merge where numbers are cut alike, and column {column_name(name)!r} is not; learn both "
                    "with the structure of one: structure=model.network_"
                )

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
            Step(change, (str(arc[0]), str(arc[1])) if arc else None, float(gain), float(total))
            for change, arc, gain, total in steps
        )
        found = Search(parents, float(score), str(measure), path, int(evaluations), int(hits))
        return Structure(nodes, parents, cuts, found)


def with_class(block: Codes, labels: NDArray[np.int32], classes: Labels) -> Codes:
    """The columns with the class before them."""
    assert block.labels is not None
    columns = [labels, *(column_codes(block, j) for j in range(len(block.labels)))]
    return Codes(objects(["", *block.names.tolist()]), block.n_rows, columns, [classes, *block.labels])


def refuse_empty(block: Codes, weights: NDArray[np.float64] | None = None) -> None:
    """Raise for a column without a single value in the rows that have a weight."""
    for j, name in enumerate(block.names.tolist()):
        known = np.asarray(column_codes(block, j)) >= 0
        if not (known if weights is None else known & (weights > 0)).any():
            raise without_value(name)


def declared_by(network: Network, declared: dict[Any, Any], names: list[Any]) -> dict[Any, Any]:
    """What the columns are, as it was declared and as a given network says: those that are no node are set aside."""
    nodes, columns = set(network.nodes), [column_name(name) for name in names]
    if not nodes.intersection(columns):
        raise InputError(
            f"the table has no column that is a node of the network; its columns are {listed(columns)}, and the nodes "
            f"{listed(network.nodes)}"
        )
    found = dict(declared)
    for name, called in zip(names, columns):
        if called not in nodes:
            if found.get(name, "ignore") != "ignore":
                raise InputError(f"columns speaks of {called!r}, which is no node of the network; leave it out")
            found[name] = "ignore"
        elif called in network.cuts:
            found.setdefault(name, "number")
    return found


def class_of(network: Network, columns: list[str], target: str | None) -> str:
    """The node of a given network that is the class; the others must be columns."""
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
    return name


def given_structure(network: Network, nodes: tuple[str, ...], cuts: Mapping[Any, Cuts]) -> Structure:
    """The arcs of a given network between these nodes."""
    parents = tuple(tuple(nodes.index(up) for up in network.parents[node]) for node in nodes)
    return Structure(nodes, parents, cuts, None)
