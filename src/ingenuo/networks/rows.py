"""The rows of a table as codes of a network's states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes
from ingenuo.errors import InputError, NetworkError, did_you_mean
from ingenuo.labels import Labels, find, labels_of, objects
from ingenuo.networks.columns import cut, encoded, inspect
from ingenuo.networks.cuts import Cuts
from ingenuo.networks.evidence import written_alike
from ingenuo.schema import Schema, column_name
from ingenuo.sources import Source, open_source
from ingenuo.sources.weights import weights as row_weights

if TYPE_CHECKING:
    from ingenuo.networks.bare import Bare

Floats = NDArray[np.float64]


def source_of(table: Any) -> Source:
    """The rows of a table; there must be some."""
    if isinstance(table, list | tuple):
        table = np.array(table, object)
    source = open_source(table)
    if source.n_rows == 0 or len(source.names) == 0:
        raise InputError(f"the table is empty: {source.n_rows} rows and {len(source.names)} columns")
    return source


def node_names(source: Source, places: Sequence[int]) -> list[str]:
    """What the nodes of a table's columns are called."""
    return [column_name(source.names.tolist()[place]) for place in places]


def columns_of(
    network: Bare,
    table: Any,
    sample_weight: Any = None,
    *,
    hidden: bool = False,
    columns: Mapping[str, str] | None = None,
) -> tuple[Codes, Floats | None, dict[str, Cuts]]:
    """The rows for learning: codes of each node, weights, and the cut points of numbers.

    A node without a column is hidden where that is allowed, and an error else. Values that are none of a node's
    declared states are an error.
    """
    source = source_of(table)
    weights = row_weights(sample_weight, source.n_rows)
    at = places(network.nodes, source)
    absent = [node for node, place in zip(network.nodes, at) if place < 0]
    if absent and not hidden:
        names = node_names(source, range(len(source.names)))
        raise NetworkError(
            f"the table has no column for node {absent[0]!r}{did_you_mean(absent[0], names)}"
            " (a node that is never seen can be learned with missing='em', if its states are declared)"
        )
    cuts = dict(network.cuts)
    declared = network._declared
    for node, place in zip(network.nodes, at):
        if place >= 0 and node not in cuts and node not in declared and node not in network._categories:
            cuts.update(_cuts(source, place, node, weights, (columns or {}).get(node)))
    found, labels = [], []
    for node, place in zip(network.nodes, at):
        codes, own = column_of(source, place, node, cuts)
        if node in declared and node not in cuts:
            codes, own = _declared_codes(node, declared[node], codes, own)
        found.append(codes)
        labels.append(own)
    return Codes(objects(list(network.nodes)), source.n_rows, found, labels), weights, cuts


def places(nodes: Sequence[str], source: Source) -> list[int]:
    """Where the column of each node stands in a table; -1 where there is none."""
    known = {column_name(name): place for place, name in enumerate(source.names.tolist())}
    return [known.get(node, -1) for node in nodes]


def _cuts(source: Source, place: int, node: str, weights: Floats | None, kind: str | None) -> dict[str, Cuts]:
    """The cuts of a column, if it is one of numbers."""
    name = source.names.tolist()[place]
    declared = {other: "ignore" for other in source.names.tolist() if other != name}
    if kind is not None:
        declared[name] = kind
    found = cut(source, inspect(source, declared), weights=weights)
    return {node: found[name]} if name in found else {}


def column_of(source: Source, place: int, node: str, cuts: Mapping[str, Cuts]) -> tuple[NDArray[Any], Labels]:
    """The codes of a node's column, and what they stand for."""
    if place < 0:
        return np.full(source.n_rows, -1, np.int32), labels_of([])
    name = source.names.tolist()[place]
    own = {name: cuts[node]} if node in cuts else {}
    block = encoded(source, Schema.of({name: "category"}), own, np.array([place]))
    assert block.labels is not None
    return block.columns[0], block.labels[0]


def _declared_codes(
    node: str, states: Sequence[Any], codes: NDArray[Any], labels: Labels
) -> tuple[NDArray[Any], Labels]:
    """Codes of the declared states; a value that is none of them is an error."""
    same = written_alike(states, labels.tolist())
    table = np.full(len(labels) + 1, -1, np.int32)
    for at, place in same.items():
        table[at] = place
    found = table[codes]
    strange = (found < 0) & (codes >= 0)
    if strange.any():
        row = int(strange.argmax())
        value = labels.tolist()[int(codes[row])]
        raise NetworkError(
            f"column {node!r}, row {row}: {value!r} is none of the declared states{did_you_mean(value, states)}; "
            "declare it, or make it missing"
        )
    return found, objects(list(states))


def listed(values: Sequence[Any], most: int = 6) -> str:
    """The first of some values, as text."""
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")


def _numbers(values: Sequence[Any]) -> bool:
    """Whether all of these are numbers, or some of them are written as numbers."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return True
    return any(str(value).replace(".", "", 1).lstrip("+-").isdecimal() for value in values)


def matrix(network: Bare, table: Any, *, without: int = -1) -> NDArray[np.int32]:
    """Rows × nodes codes of the states, for questions: -1 where a value is missing, or no state that is known.

    The column of one node may be left out: it is what is asked for.
    """
    source = source_of(table)
    states = network._known_states()
    result = np.full((source.n_rows, len(network.nodes)), -1, np.int32)
    at = places(network.nodes, source)
    if all(place < 0 for i, place in enumerate(at) if i != without) and len(at) > 1:
        names = node_names(source, range(len(source.names)))
        raise NetworkError(
            f"the table has no column that is a node of the network; its columns are {listed(names)}, and the nodes "
            f"{listed(network.nodes)}"
        )
    for i, (node, place) in enumerate(zip(network.nodes, at)):
        if place < 0 or i == without:
            continue
        codes, labels = column_of(source, place, node, network.cuts)
        if node in network.cuts:
            result[:, i] = codes
            continue
        own = np.full(len(labels) + 1, -1, np.int32)
        if node not in network._declared:
            own[:-1] = find(labels_of(states[i]), labels)
        strange = np.flatnonzero(own[:-1] < 0)
        for here, there in written_alike(states[i], labels[strange].tolist()).items():
            own[strange[here]] = there
        if len(labels) and (own < 0).all() and _numbers(labels.tolist()) and not _numbers(states[i]):
            raise NetworkError(
                f"column {node!r} holds numbers, as {labels.tolist()[0]!r}, and the node has the states "
                f"{listed(states[i], 3)}; give states, or read the network from a file that has the "
                "cut points (.json, .yaml, .ingenuo; .bif and .xml have none)"
            )
        result[:, i] = own[codes]
    return result
