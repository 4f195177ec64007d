"""A network to look at: its summary, its tables, its picture."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.container import replace_file
from ingenuo.errors import InputError, KindError
from ingenuo.networks.definition import Definition
from ingenuo.networks.graph import Parents
from ingenuo.networks.inference import Propagation

if TYPE_CHECKING:
    from ingenuo.networks.network import Network

Floats = NDArray[np.float64]

NODES = 100  # more are not listed one by one
BARS = 60  # and with more nodes than this a notebook's picture has names only


class Picture(str):
    """SVG as text, which a notebook shows as the picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def rows(nodes: Sequence[str], states: Sequence[Sequence[Any]], drawn: NDArray[np.int64]) -> Any:
    """Places of states as an Arrow table of the states themselves."""
    import pyarrow as pa

    columns = {}
    for j, (node, own) in enumerate(zip(nodes, states)):
        try:
            values = pa.array(list(own))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            values = pa.array([str(state) for state in own])
        columns[node] = values.take(pa.array(drawn[:, j]))
    return pa.table(columns)


def table_of(definition: Definition, node: int) -> Any:
    """The table of a node: a column for each parent, and one for each state."""
    import pyarrow as pa

    above = definition.parents[node]
    table = definition.tables[node]
    shape = table.shape[:-1]
    places = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), np.int64)
    columns: dict[str, Any] = {}
    for parent, at in zip(above, places):
        own = definition.states[parent]
        columns[definition.nodes[parent]] = pa.array([str(own[i]) for i in at])
    flat = table.reshape(-1, table.shape[-1])
    for k, state in enumerate(definition.states[node]):
        columns[f"P({definition.nodes[node]} = {state})"] = pa.array(flat[:, k])
    return pa.table(columns)


def counted(network: Network) -> str:
    """Its name, and how much of it there is."""
    nodes, arcs = len(network.nodes), len(network.arcs)
    return f"{network.name}: {nodes} node{'' if nodes == 1 else 's'}, {arcs} arc{'' if arcs == 1 else 's'}"


def summary(network: Network) -> str:
    """What there is, node by node."""
    head = counted(network)
    if network._tables is None:
        return f"{head}, no tables yet\n" + _arcs(network)
    free = sum(table.size // table.shape[-1] * (table.shape[-1] - 1) for table in network._known_tables())
    cells = sum(table.size for table in network._known_tables())
    lines = [("node", "states", "parents", "cells")]
    for node, own, table in zip(network.nodes, network._known_states(), network._known_tables()):
        shown = ", ".join(map(str, own[:6])) + (f", … {len(own) - 6} more" if len(own) > 6 else "")
        lines.append((node, shown, ", ".join(network.parents[node]), f"{table.size:,}"))
    more = len(lines) - 1 - NODES
    lines = lines[: NODES + 1]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    if more > 0:
        text.append(f"… and {more:,} more")
    if network.evidence:
        text.append(f"given: {network.evidence}")
    parameters = f"{free:,} free parameter{'' if free == 1 else 's'}"
    return f"{head}, {cells:,} cells ({parameters})\n" + "\n".join(text)


def _arcs(network: Network) -> str:
    return "\n".join(f"{up} → {down}" for up, down in network.arcs)


def strengths(parents: Parents, propagation: Propagation) -> dict[tuple[int, int], float]:
    """Of each arc the mutual information, in bits, of its ends given the child's other parents.

    I(X; Y | Z) = Σ P(x, y, z) log₂( P(x, y, z) P(z) / (P(x, z) P(y, z)) )
    """
    found = {}
    for child, above in enumerate(parents):
        if not above:
            continue
        family = propagation.joint([*above, child])  # parents in order, the child last
        last = family.ndim - 1
        for axis, parent in enumerate(above):
            without_child = family.sum(axis=last, keepdims=True)
            without_parent = family.sum(axis=axis, keepdims=True)
            without_both = without_child.sum(axis=axis, keepdims=True)
            above_line, below_line = family * without_both, without_child * without_parent
            some = family > 0
            ratio = np.divide(above_line, below_line, out=np.ones_like(family), where=some)
            found[parent, child] = max(0.0, float((family * np.log2(ratio)).sum()))
    return found


def drawing(network: Network, evidence: Any, beliefs: bool, with_strengths: bool, title: str | None) -> Any:
    """The picture's geometry."""
    from ingenuo.networks.drawing import geometry

    known = network._tables is not None
    likelihoods = network._evidence(evidence) if known else {}
    target = None if network.target is None else network.nodes.index(network.target)
    return geometry.drawing(
        network.nodes,
        network._known_states() if known else [()] * len(network.nodes),
        network._parents,
        beliefs=network._beliefs(evidence) if known and beliefs else None,
        strengths=_by_place(network, network.strengths()) if known and with_strengths else None,
        evidence=tuple(place for place in likelihoods if place not in network._set),
        interventions=tuple(network._set),
        target=target,
        title=title,
        measure="mutual information given the other parents",
    )


def _by_place(network: Network, found: Mapping[tuple[str, str], float]) -> dict[tuple[int, int], float]:
    at = {node: place for place, node in enumerate(network.nodes)}
    return {(at[up], at[down]): bits for (up, down), bits in found.items()}


def draw(
    network: Network,
    path: str | os.PathLike[str] | None = None,
    evidence: Any = None,
    *,
    beliefs: bool = True,
    strengths: bool = True,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """The picture, written to a file if there is a path."""
    from ingenuo.networks.drawing import picture, svg

    if path is not None and not isinstance(path, str | os.PathLike):
        raise KindError(f"path must be the path of a file, got {type(path).__name__} {path!r}")
    suffix = "" if path is None else Path(path).suffix.lower()
    if path is not None and suffix not in (".svg", ".png", ".pdf", ".jpg", ".jpeg"):
        raise InputError(
            f"{os.fspath(path)}: a picture is .svg, .png, .pdf or .jpg, not {suffix or 'without an ending'!r}"
        )
    made = drawing(network, evidence, beliefs, strengths, title)
    if ax is not None:
        return picture.picture(made, ax)
    text = Picture(svg.svg(made))
    if path is not None and not Path(path).resolve().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder for the picture", os.fspath(path))
    if suffix == ".svg":
        replace_file(os.path.realpath(os.fspath(path)), [text.encode()])  # type: ignore[arg-type]
    elif path is not None:
        picture.save(made, path)
    return text


def html(network: Network) -> str:
    """The picture and the summary, for a notebook."""
    from ingenuo.networks.drawing import page

    bars = len(network.nodes) <= BARS
    try:
        made = drawing(network, None, bars, bars, network.evidence if network._tables is not None else None)
    except InputError:  # too wide to ask
        made = drawing(network, None, False, False, None)
    known = network._tables is not None
    states = network._known_states() if known else [()] * len(network.nodes)
    return page.html(made, network.nodes, states, network._parents)
