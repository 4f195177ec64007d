"""A network from arcs, states and tables as an expert gives them in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ingenuo.errors import KindError, NetworkError, NetworkFileError, did_you_mean
from ingenuo.networks.definition import Definition
from ingenuo.networks.evidence import place_of
from ingenuo.networks.files.checks import Builder, Family
from ingenuo.networks.graph import Parents, refuse_cycle


def structure(
    arcs: Iterable[tuple[str, str]],
    nodes: Iterable[str],
    states: Mapping[str, Any] | None,
    tables: Mapping[str, Any] | None,
) -> tuple[list[str], list[tuple[int, ...]]]:
    """The nodes in the order they are named, and the parents of each."""
    pairs = []
    for arc in arcs:
        if not isinstance(arc, list | tuple) or len(arc) != 2 or not all(isinstance(end, str) for end in arc):
            raise KindError(f"an arc is a pair (from, to) of names of nodes, got {arc!r}")
        pairs.append((arc[0], arc[1]))
    names = dict.fromkeys(nodes)
    for given in (tables, dict(pairs), {down: up for up, down in pairs}):
        names.update(dict.fromkeys(given or ()))
    for node in states or ():
        if node not in names:
            raise NetworkError(
                f"states speaks of {node!r}, which no arc names (a node by itself is named in nodes=[…])"
                f"{did_you_mean(node, names)}"
            )
    for name in names:
        if not isinstance(name, str) or not name:
            raise KindError(f"a node has a name, got {type(name).__name__} {name!r}")
    if not names:
        raise NetworkError("a network has one node at least; give arcs, or nodes")
    place = {name: at for at, name in enumerate(names)}
    parents: list[list[int]] = [[] for _ in names]
    for up, down in pairs:
        if place[up] in parents[place[down]]:
            raise NetworkError(f"the arc {up} → {down} is given twice; give it once")
        parents[place[down]].append(place[up])
    found = [tuple(above) for above in parents]
    refuse_cycle(list(names), found)
    return list(names), found


def check_states(states: Mapping[str, Sequence[Any]] | None) -> None:
    """Raise where a node's states are no list of different values."""
    for node, own in (states or {}).items():
        if isinstance(own, str | bytes) or not isinstance(own, Sequence | np.ndarray):
            raise KindError(f"the states of {node!r} must be a list, got {type(own).__name__} {own!r}")
        if not len(own):
            raise NetworkError(f"node {node!r} has no states; give one at least")
        texts = [str(state) for state in own]
        twice = next((text for text in texts if texts.count(text) > 1), None)
        if twice is not None:
            raise NetworkError(f"node {node!r} has the state {twice!r} twice; states must differ")


def definition(
    nodes: Sequence[str],
    parents: Parents,
    states: Mapping[str, Sequence[Any]],
    tables: Mapping[str, Any],
    name: str,
) -> Definition:
    """The network with its tables, checked."""
    for node in (*states, *tables):
        place_of(nodes, node)
    builder = Builder(lambda mark: "")
    builder.name = name
    with _in_python():
        for node in nodes:
            if node not in tables:
                near = did_you_mean(node, [name for name in nodes if name in tables]) if len(nodes) > 1 else ""
                near = near if near.startswith("; did") else ""
                raise NetworkError(
                    f"node {node!r} has no table; give one for every node, or none to learn them all{near}"
                )
            builder.add_node(node, list(states[node]) if node in states else _states(node, tables[node]), None)
        for node, above in zip(nodes, parents):
            _add(builder, builder.family(node, [nodes[up] for up in above], None), tables[node])
        return builder.definition("the network")


@contextmanager
def _in_python() -> Iterator[None]:
    """What the checks of files refuse, without the place in a file."""
    try:
        yield
    except NetworkFileError as error:
        raise NetworkError(str(error).removeprefix(": ")) from None


def _states(node: str, table: Any) -> list[Any]:
    """The states that the mappings within a table name."""
    while isinstance(table, Mapping):
        values = list(table.values())
        odd = next((value for value in values if isinstance(value, str)), None)
        if odd is not None:
            raise KindError(f"the table of {node!r} has {odd!r}, which is no number; give it without quotes")
        if values and all(isinstance(value, int | float | np.number) for value in values):
            return list(table)
        table = values[0] if values else None
    raise NetworkError(
        f"the states of {node!r} are not given; say states={{{node!r}: [...]}}, or name them in its table"
    )


def _add(builder: Builder, family: Family, given: Any) -> None:
    depth = len(family.parents)
    if not isinstance(given, Mapping) and not _is_row(builder, family, given):
        try:
            table = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            raise KindError(f"the table of {builder.nodes[family.node]!r} is no array of numbers") from None
        if table.shape != family.shape:
            raise NetworkError(
                f"the table of {builder.nodes[family.node]!r} has shape {table.shape}, and needs {family.shape}: "
                "an axis for each parent, the node's own last"
            )
        builder.add_table(family, table.reshape(-1))
        return
    keys, rows = [], []
    for key, row in _rows(builder, family, given, depth):
        keys.append(key)
        rows.append(row)
    builder.add_rows(family, keys, rows, [None] * len(keys))


def _is_row(builder: Builder, family: Family, given: Any) -> bool:
    return not family.parents and isinstance(given, list | tuple)


def _rows(builder: Builder, family: Family, given: Any, depth: int) -> Iterator[tuple[tuple[int, ...], list[float]]]:
    """(the parents' states, the numbers) for each row; a key is a state, a tuple of them, or leads to more mappings."""
    node = builder.nodes[family.node]

    def walk(inner: Any, key: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], list[float]]]:
        if len(key) == depth:
            yield key, _row(builder, family, inner)
            return
        if not isinstance(inner, Mapping):
            raise NetworkError(
                f"the table of {node!r} needs a row for each state of {builder.nodes[family.parents[len(key)]]!r}; "
                f"give a mapping, not {type(inner).__name__}"
            )
        for state, below in inner.items():
            parts = state if isinstance(state, tuple) else (state,)
            if isinstance(state, tuple) and len(parts) != depth - len(key):
                above = ", ".join(builder.nodes[parent] for parent in family.parents)
                raise NetworkError(
                    f"the table of {node!r} has a row {state!r} of {len(parts)} states, and its parents are {above}; "
                    "name a state of each, in this order"
                )
            where = f"in the row {state!r} of {node!r}, "
            left = family.parents[len(key) :]
            places = tuple(builder.state_of(parent, str(part), None, where) for parent, part in zip(left, parts))
            yield from walk(below, key + places)

    yield from walk(given, ())


def _row(builder: Builder, family: Family, given: Any) -> list[float]:
    node = builder.nodes[family.node]
    if isinstance(given, Mapping):
        found = dict.fromkeys(range(family.shape[-1]), 0.0)
        if not family.parents and any(isinstance(value, Mapping | list | tuple) for value in given.values()):
            raise NetworkError(
                f"the table of {node!r} has rows, and it has no parents; give a probability for each state"
            )
        where = f"in the table of {node!r}, "
        named = {builder.state_of(family.node, str(state), None, where): value for state, value in given.items()}
        found.update(named)
        given = [found[place] for place in range(family.shape[-1])]
    try:
        return [float(value) for value in given]
    except (TypeError, ValueError):
        above = ", ".join(builder.nodes[parent] for parent in family.parents)
        rows = f"for each state of {above} " if above else ""
        raise KindError(
            f"the table of {node!r} has a row {given!r}; give {rows}a list of {family.shape[-1]} numbers, one for each "
            "state"
        ) from None
