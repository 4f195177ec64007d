"""Networks that an expert writes by hand, in YAML or JSON, which have the same shape.

::

    network: weather
    nodes:
      play:
        states: [no, yes]
        table: [0.37, 0.63]
      outlook:
        states: [overcast, rainy, sunny]
        parents: [play]
        table:
          no: [0.08, 0.38, 0.54]
          yes: {overcast: 0.43, rainy: 0.33, sunny: 0.24}
      windy:
        states: [calm, windy]
        parents: [play, outlook]
        table:
          no, sunny: [0.5, 0.5]            # the parents' states in their order, or
          yes: {sunny: [0.4, 0.6]}         # one below the other
        default: [0.7, 0.3]                # all rows that are not given

Where states are intervals of numbers, `cuts: [15.5, 22]` says where: up to the first, up to the second, above.
Without names, a table is lists in lists, in the order of the states. In YAML every state is text: `no` is "no" and 3 is
"3". JSON keeps numbers, true and false as states, and calls them "3", "True" and "False" (or "true", "false") in rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import NetworkFileError, did_you_mean
from ingenuo.networks.definition import Definition
from ingenuo.networks.files.checks import Builder, Family, text_of

MAX_KEY = 200  # characters of a row's name on one line

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def definition_of(document: Any, name: str, size: int) -> Definition:
    """The network that mappings, lists and scalars describe; the file is called `name` and has `size` characters.

    >>> definition_of({"nodes": {"a": {"states": ["x", "y"], "table": [0.4, 0.6]}}}, "n", 100).nodes
    ['a']
    """
    return _Reader(name, size).read(document)


class _Reader:
    """Makes a Definition of mappings, lists and scalars."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.size = name, size
        self.builder = Builder(lambda mark: name)

    def fault(self, message: str) -> NetworkFileError:
        return self.builder.fault(None, message)

    def read(self, document: Any) -> Definition:
        whole = self._mapping(document, "the file", ("network", "nodes"))
        name = whole.get("network", "network")
        if not isinstance(name, str):
            raise self.fault(f"found {_shown(name)} as the network's name, expected text")
        self.builder.name = name
        nodes = {
            node: self._mapping(said, f"the node {node!r}", ("states", "cuts", "parents", "table", "default"))
            for node, said in self._mapping(whole.get("nodes"), "'nodes'").items()
        }
        for node, said in nodes.items():
            states = said.get("states")
            if not isinstance(states, list) or not all(isinstance(state, str | int | float) for state in states):
                raise self.fault(
                    f"found {_shown(states)} as the states of {node!r}, expected a list of names, as [low, high]"
                )
            self.builder.add_node(node, states, None)
        for node, said in nodes.items():
            parents = said.get("parents", [])
            if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
                raise self.fault(
                    f"found {_shown(parents)} as the parents of {node!r}, expected a list of nodes, as [a, b]"
                )
            self._table(self.builder.family(node, parents, None), said)
        cuts = {node: self._cuts(node, said) for node, said in nodes.items() if "cuts" in said}
        return replace(self.builder.definition(self.name), cuts=cuts)

    def _cuts(self, node: str, said: dict[str, Any]) -> tuple[float, ...]:
        """Where the numbers are cut that a node's states are intervals of: one point fewer than states, ascending."""
        given = said["cuts"]
        called = f"the cuts of {node!r}"
        if not isinstance(given, list):
            raise self.fault(f"found {_shown(given)} as {called}, expected a list of numbers")
        points = tuple(self._number(point, called) for point in given)
        if len(points) != len(said["states"]) - 1 or any(a >= b for a, b in pairwise(points)):
            raise self.fault(f"{called} must ascend, and be one fewer than its {len(said['states'])} states; mend them")
        return points

    def _mapping(self, value: Any, what: str, known: Sequence[str] = ()) -> dict[str, Any]:
        if not isinstance(value, dict):
            expected = f"a mapping with {', '.join(map(repr, known))}" if known else "a mapping from names to nodes"
            raise self.fault(f"found {_shown(value)} in {what}, expected {expected}")
        for key in value if known else ():
            if key not in known:
                raise self.fault(f"{what} has {key!r}, which has no meaning here{did_you_mean(key, known)}")
        return value

    def _table(self, family: Family, said: dict[str, Any]) -> None:
        keys: list[tuple[int, ...]] = []
        rows: list[list[float]] = []
        if "table" in said:
            self._collect(family, said["table"], (), keys, rows)
        elif "default" not in said:
            raise self.fault(f"the node {self.builder.nodes[family.node]!r} has no table; add one")
        default = self._row(family, said["default"], None) if "default" in said else None
        self.builder.add_rows(family, keys, rows, [None] * len(keys), default)

    def _collect(
        self, family: Family, value: Any, key: tuple[int, ...], keys: list[tuple[int, ...]], rows: list[list[float]]
    ) -> None:
        """The rows below a place in the table, where the states of the first len(key) parents are known."""
        if len(key) == len(family.parents):
            if len(keys) > self.size:  # aliases of aliases: a row takes a character at least
                raise self.fault("the file stands for more rows than it has characters; write them out")
            keys.append(key)
            rows.append(self._row(family, value, key))
            return
        parent = family.parents[len(key)]
        if isinstance(value, dict):
            for label, below in value.items():
                self._collect(family, below, key + self._places(family, len(key), label), keys, rows)
        elif isinstance(value, list) and len(value) == family.shape[len(key)]:
            for state, below in enumerate(value):
                self._collect(family, below, (*key, state), keys, rows)
        else:
            what = f"a row for each of the {family.shape[len(key)]} states of {self.builder.nodes[parent]!r}"
            raise self.fault(
                f"found {_shown(value)} in the table of {self.builder.nodes[family.node]!r}, expected {what}"
            )

    def _places(self, family: Family, depth: int, label: str) -> tuple[int, ...]:
        """The places of the states that a label names: one, or several parted by commas."""
        states = [label]
        if (
            "," in label
            and self._spelled(family.parents[depth], label) not in self.builder.of_state[family.parents[depth]]
        ):
            states = [state.strip() for state in label.split(",")]
        left = family.parents[depth:]
        of = self.builder.nodes[family.node]
        if len(states) > len(left):
            raise self.fault(
                f"the row {label!r} of {of!r} names {len(states)} states where {len(left)} are to be named"
            )
        return tuple(
            self.builder.state_of(parent, self._spelled(parent, state), None, f"in the row {label!r} of {of!r}, ")
            for parent, state in zip(left, states)
        )

    def _spelled(self, node: int, state: str) -> str:
        """The text of a state; true and false may be called as JSON spells them."""
        known = self.builder.of_state[node]
        if state in ("true", "false") and state not in known:
            place = known.get(state.capitalize())
            if place is not None and isinstance(self.builder.states[node][place], bool):
                return state.capitalize()
        return state

    def _row(self, family: Family, value: Any, key: tuple[int, ...] | None) -> list[float]:
        node = family.node
        called = f"the default row of {self.builder.nodes[node]!r}" if key is None else self.builder.row(family, key)
        if isinstance(value, dict):
            given = {self.builder.state_of(node, self._spelled(node, state), None): p for state, p in value.items()}
            for place, state in enumerate(self.builder.states[node]):
                if place not in given:
                    raise self.fault(f"{called} leaves out the state {text_of(state)!r}; give its probability")
            if len(given) < len(value):
                raise self.fault(f"{called} gives the probability of a state twice; give it once")
            value = [given[place] for place in range(len(given))]
        if not isinstance(value, list):
            raise self.fault(f"found {_shown(value)} as {called}, expected a list of numbers")
        return [self._number(number, called) for number in value]

    def _number(self, value: Any, called: str) -> float:
        if type(value) is float:
            return value
        if type(value) is int:
            return float(value) if abs(value) < 2**53 else math.inf
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            return float(value)
        raise self.fault(f"found {_shown(value)} in {called}, expected a number")


def _shown(value: Any) -> str:
    """A value for an error message, short."""
    if value is None or value == "":
        return "nothing"
    if isinstance(value, dict | list):
        kind = "mapping" if isinstance(value, dict) else "list"
        return f"a {kind} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def document_of(definition: Definition, states: list[list[Any]]) -> dict[str, Any]:
    """A network as mappings, lists and scalars, with its states as the file is to have them."""
    labels = [list(map(text_of, own)) for own in definition.states]
    nodes: dict[str, Any] = {}
    for place, (node, parents, table) in enumerate(zip(definition.nodes, definition.parents, definition.tables)):
        nodes[node] = said = {"states": states[place]}
        if node in definition.cuts:
            said["cuts"] = list(definition.cuts[node])
        if parents:
            said["parents"] = [definition.nodes[parent] for parent in parents]
        said["table"] = _rows(table, [labels[parent] for parent in parents])
    return {"network": definition.name, "nodes": nodes}


def _rows(table: NDArray[np.float64], labels: list[list[str]]) -> Any:
    """Rows by the parents' states in one line, or one below the other where that could be misread."""
    if not labels:
        return table.tolist()
    width = sum(max(map(len, own)) + 2 for own in labels)
    if width <= MAX_KEY and not any("," in label or label != label.strip() for own in labels for label in own):
        keys = np.ndindex(table.shape[:-1])
        return {", ".join(own[state] for own, state in zip(labels, key)): table[key].tolist() for key in keys}
    return {label: _rows(table[state], labels[1:]) for state, label in enumerate(labels[0])}
