"""Networks in a file: the structure, and the counts or the tables; tables that follow from counts are not saved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.labels import objects
from ingenuo.networks import graph, learn
from ingenuo.networks.cuts import Cuts
from ingenuo.networks.network import Network
from ingenuo.packed.tallies import pack_tally, unpack_tally
from ingenuo.packed.values import pack, unpack
from ingenuo.prior import Prior

Tensors = dict[str, NDArray[Any]]


def pack_network(network: Network, tensors: Tensors) -> dict[str, Any]:
    """The manifest of a network; its tables are put among the tensors."""
    if network.evidence:
        raise KindError(f"a network is saved as it is, not with what was observed or set ({network.evidence})")
    packed = {
        "nodes": list(network.nodes),
        "parents": [list(above) for above in network._parents],
        "name": network.name,
        "target": network.target,
        "cuts": [[node, list(each.points)] for node, each in network.cuts.items()],
        "categories": sorted(network._categories),
        "declared": [[node, pack(list(states))] for node, states in network._declared.items()],
        "tally": None if network.tally is None else pack_tally(network.tally, tensors),
        "prior": pack(network.prior),
        "tables": False,
    }
    if network.tally is None and network._tables is not None:
        packed["tables"] = True
        packed["states"] = [pack(list(states)) for states in network._known_states()]
        for place, table in enumerate(network._tables):
            tensors[f"network/{place}"] = np.array(table)
    return packed


def unpack_network(packed: Any, tensors: Tensors) -> Network:
    """The network that a manifest describes; raises for what is none."""
    nodes = [str(node) for node in packed["nodes"]]
    parents = [tuple(int(up) for up in above) for above in packed["parents"]]
    graph.check(nodes, parents)
    cuts = {str(node): Cuts(tuple(float(point) for point in points)) for node, points in packed["cuts"]}
    declared = {str(node): unpack(states) for node, states in packed["declared"]}
    target = None if packed["target"] is None else str(packed["target"])
    if target is not None and target not in nodes:
        raise InputError("the class of the network is none of its nodes")
    network = Network(nodes, parents, declared, name=str(packed["name"]), cuts=cuts, target=target)
    prior = unpack(packed["prior"])
    if prior is not None and not isinstance(prior, Prior):
        raise InputError("the prior of the network is none")
    network.prior = prior
    network._categories = frozenset(map(str, packed["categories"]))
    if packed["tally"] is not None and prior is not None:
        tally = unpack_tally(packed["tally"], tensors)
        learn.check(tally)
        learn.check_axes(tally, nodes, parents)
        network._learned(tally, prior, cuts)
    elif packed["tables"]:
        states = [unpack(each) for each in packed["states"]]
        if any(not isinstance(state, str | int | float | bool) for own in states for state in own):
            raise InputError("a state of the network is no plain value")
        if any(len({str(state) for state in own}) != len(own) for own in states):
            raise InputError("a node of the network has a state twice")
        tables = [tensors[f"network/{place}"] for place in range(len(nodes))]
        for node, (above, table) in enumerate(zip(parents, tables)):
            shape = tuple(len(states[each]) for each in (*above, node))
            if table.dtype != np.float64 or table.shape != shape or not (table >= 0).all():
                raise InputError(f"the table of {nodes[node]!r} is no table of its states")
            if (np.abs(table.sum(axis=-1) - 1) > 1e-9).any():
                raise InputError(f"the table of {nodes[node]!r} does not sum to 1")
        network._take(tables, [objects(list(each)) for each in states], {})
        network.cuts = cuts
    return network
