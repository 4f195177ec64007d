"""A network put together from its nodes, states and tables, whoever gives them: a file, or an expert in Python.

A reader finds the pieces and marks where each one is; the `Builder` puts them together and refuses what does not fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import CycleError, KindError, NetworkError, NetworkFileError, did_you_mean
from ingenuo.networks.graph import refuse_cycle

Floats = NDArray[np.float64]
Key = tuple[int, ...]  # the places of the parents' states

# Rounding is forgiven, slips are not: ten numbers rounded to four decimals miss 1 by up to 5e-4 together, and one wrong
# digit among the first three by 1e-3 or more. (The networks of the public repositories stay within 3e-7.)
TOLERANCE = 5e-4
MAX_PARENTS = 63  # numpy's arrays have 64 axes at most, and the node's own is one
# A table that is mostly a default row is small in the file and need not be so in memory: 2^27 numbers are 1 GB.
MAX_CELLS = 2**27

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9eE+\-.,\s]*")
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class Definition:
    """A network as plain data; nodes are called by their places.

    A node's table has an axis for each of its parents, in their order, and its own last, along which it sums to 1.
    Without tables it is a structure, and a node may have no states yet.
    """

    nodes: Sequence[str]
    states: Sequence[Sequence[Any]]  # of each node, its states in order
    parents: Sequence[tuple[int, ...]]  # of each node, the places of its parents
    tables: Sequence[Floats]
    name: str = "network"
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # of nodes whose states are intervals
    target: str | None = None  # the node that is the class


class Family(NamedTuple):
    """A node and its parents by their places, with the shape of its table; `mark` is where the file defines it."""

    node: int
    parents: tuple[int, ...]
    shape: tuple[int, ...]
    mark: Any


class Builder:
    """Collects nodes, then their tables, and gives the Definition; `locate` says where a mark is, for errors."""

    def __init__(
        self,
        locate: Callable[[Any], str] = lambda mark: "",
        error: type[NetworkError] = NetworkFileError,
        most_rows: float = math.inf,
    ) -> None:
        self.locate, self.error, self.most_rows = locate, error, most_rows
        self.name = "network"
        self.nodes: list[str] = []
        self.states: list[list[Any]] = []
        self.places: dict[str, int] = {}
        self.of_state: list[dict[str, int]] = []  # of each node, the places of its states' texts
        self._marks: list[Any] = []
        self._families: dict[int, Family] = {}
        self._tables: dict[int, Floats] = {}

    def fault(self, mark: Any, message: str) -> NetworkError:
        """The error to raise: where, and what is wrong."""
        where = self.locate(mark)
        return self.error(f"{where}: {message}" if where else message)

    def add_node(self, name: str, states: Sequence[Any], mark: Any = None) -> None:
        """Another node; its name and states have to be new, and to be something."""
        self.check_name(name, "a node", mark)
        if name in self.places:
            raise self.fault(mark, f"the node {name!r} is given twice; give each node once")
        if not len(states):
            raise self.fault(mark, f"the node {name!r} has no states; list them")
        texts: dict[str, int] = {}
        seen: set[Any] = set()  # 1 and True have different texts, and are the same to Python
        for place, state in enumerate(states):
            text = str(state)
            self.check_name(text, f"a state of {name!r}", mark)
            if text in texts or state in seen:
                raise self.fault(mark, f"the node {name!r} has the state {text!r} twice; states have to differ")
            texts[text] = place
            seen.add(state)
        self.places[name] = len(self.nodes)
        self.nodes.append(name)
        self.states.append(list(states))
        self.of_state.append(texts)
        self._marks.append(mark)

    def check_name(self, name: str, what: str, mark: Any = None) -> None:
        """Raise for a name that no file can hold."""
        if not name:
            raise self.fault(mark, f"{what} has an empty name; give it one")
        if _HALF.search(name):
            raise self.fault(mark, f"{what} is called {name!r}, with half a character in it; write whole ones")

    def find_state(self, node: int, text: str, mark: Any, where: str = "") -> int:
        """The place of a state that has to exist; `where` is what the message begins with."""
        if text not in self.of_state[node]:
            known = did_you_mean(text, self.of_state[node])
            raise self.fault(mark, f"{where}the node {self.nodes[node]!r} has no state {text!r}{known}")
        return self.of_state[node][text]

    def family(self, name: str, parents: Sequence[str], mark: Any = None) -> Family:
        """A node and its parents, of which all have to exist and none may come twice."""
        for each in (name, *parents):
            if each not in self.places:
                why = "" if each == name else f", which {name!r} names as a parent"
                raise self.fault(mark, f"there is no node {each!r}{why}{did_you_mean(each, self.nodes)}")
        node, places = self.places[name], tuple(self.places[parent] for parent in parents)
        if node in self._families:
            raise self.fault(mark, f"the probabilities of {name!r} are given twice; give them once")
        for parent in parents:
            if parents.count(parent) > 1:
                raise self.fault(mark, f"{name!r} has the parent {parent!r} twice; name each parent once")
        if len(places) > MAX_PARENTS:
            raise self.fault(mark, f"{name!r} has {len(places)} parents, and a table has at most {MAX_PARENTS}")
        shape = tuple(len(self.states[place]) for place in (*places, node))
        self._families[node] = Family(node, places, shape, mark)
        return self._families[node]

    def add_table(self, family: Family, values: Floats) -> None:
        """The whole table, as numbers in the order of the parents' states, the node's own state changing fastest."""
        needed = math.prod(family.shape)
        if values.size != needed:
            sizes = f" ({' × '.join(map(str, family.shape))})" if family.parents else ""
            what = f"the table of {self.nodes[family.node]!r} needs {needed} numbers{sizes}, and has {values.size}"
            raise self.fault(family.mark, what)
        self._keep(family, values.reshape(-1, family.shape[-1]), {})

    def add_rows(
        self,
        family: Family,
        keys: Sequence[Key],
        rows: Sequence[Sequence[float]],
        marks: Sequence[Any],
        default: Sequence[float] | None = None,
    ) -> None:
        """The table row by row: the parents' states and the numbers, in any order; `default` stands for the others."""
        states, needed, given = family.shape[-1], math.prod(family.shape[:-1]), set[Key]()
        for key, row, mark in zip(keys, rows, marks):
            if len(row) != states:
                raise self.fault(mark, f"{self.describe_row(family, key)} needs {states} numbers, and has {len(row)}")
            if key in given:
                raise self.fault(mark, f"{self.describe_row(family, key)} is given twice; give it once")
            given.add(key)
        if default is None and len(given) < needed:
            missing = next(key for key in product(*map(range, family.shape[:-1])) if key not in given)
            others = f", nor are {needed - len(given) - 1} others" if needed - len(given) > 1 else ""
            what = f"{self.describe_row(family, missing)} is not given{others}; add what is missing"
            raise self.fault(family.mark, what)
        if default is not None:
            called = self.describe_row(family, None)
            if len(default) != states:
                raise self.fault(family.mark, f"{called} needs {states} numbers, and has {len(default)}")
            if not abs(sum(default) - 1) <= TOLERANCE:
                raise self.fault(family.mark, f"{called} sums to {sum(default):.10g} instead of 1; mend its numbers")
        if needed * states > MAX_CELLS:
            what = f"the table of {self.nodes[family.node]!r} would have {needed * states:,} numbers"
            raise self.fault(family.mark, f"{what}, and at most {MAX_CELLS:,} are read; give it fewer parents")
        # The places of rows in the table as one column of rows, the last parent changing fastest.
        steps = [math.prod(family.shape[axis + 1 : -1]) for axis in range(len(family.parents))]
        places = np.array(keys, np.int64).reshape(len(keys), len(steps)) @ np.array(steps, np.int64)
        table = np.empty((needed, states))
        if default is not None:
            table[:] = default
        if len(keys):
            table[places] = rows
        self._keep(family, table, dict(zip(places.tolist(), marks)))

    def add_nested(self, family: Family, given: Any, default: Any = None) -> None:
        """The table as mappings and lists: from states of parents to the next parent's states, or to a row."""
        keys: list[Key] = []
        rows: list[list[float]] = []

        def collect(value: Any, key: Key) -> None:
            """The rows below a place in the table, where the states of the first len(key) parents are known."""
            if len(key) == len(family.parents):
                if len(keys) > self.most_rows:  # aliases of aliases: a row takes a character at least
                    what = "the file stands for more rows than it has characters; write them out"
                    raise self.fault(family.mark, what)
                keys.append(key)
                rows.append(self._row(family, value, key))
            elif isinstance(value, Mapping):
                for label, below in value.items():
                    collect(below, key + self._key(family, len(key), label))
            elif isinstance(value, list | tuple) and len(value) == family.shape[len(key)]:
                for state, below in enumerate(value):
                    collect(below, (*key, state))
            else:
                parent, n = self.nodes[family.parents[len(key)]], family.shape[len(key)]
                what = f"found {describe(value)} in the table of {self.nodes[family.node]!r}"
                raise self.fault(family.mark, f"{what}, expected a row for each of the {n} states of {parent!r}")

        if given is not None:
            collect(given, ())
        last = None if default is None else self._row(family, default, None)
        self.add_rows(family, keys, rows, [family.mark] * len(keys), last)

    def _key(self, family: Family, depth: int, label: Any) -> Key:
        """The places of the states that a label names: one, or several in a tuple or parted by commas."""
        left, node = family.parents[depth:], self.nodes[family.node]
        states = [str(state) for state in label] if isinstance(label, tuple) else [str(label)]
        if len(states) == 1 and "," in states[0] and states[0] not in self.of_state[left[0]]:
            states = [state.strip() for state in states[0].split(",")]
        if len(states) > len(left) or (isinstance(label, tuple) and len(states) < len(left)):
            what = f"the row {label!r} of {node!r} names {len(states)} states where {len(left)} are to be named"
            raise self.fault(family.mark, f"{what} ({', '.join(self.nodes[parent] for parent in left)})")
        where = f"in the row {label!r} of {node!r}, "
        return tuple(self.find_state(parent, state, family.mark, where) for parent, state in zip(left, states))

    def _row(self, family: Family, value: Any, key: Key | None) -> list[float]:
        """A row as numbers; of a mapping, a state that is left out has 0."""
        called = self.describe_row(family, key)
        if isinstance(value, Mapping):
            named = {self.find_state(family.node, str(state), family.mark): p for state, p in value.items()}
            value = [named.get(place, 0.0) for place in range(family.shape[-1])]
        elif isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, list | tuple):
            raise self.fault(family.mark, f"found {describe(value)} as {called}, expected a list of numbers")
        return [self.number(each, called, family.mark) for each in value]

    def number(self, value: Any, called: str, mark: Any = None) -> float:
        """A number, as such or as it is written; `called` is what it is in."""
        if isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool):
            return math.inf if isinstance(value, int) and abs(value) >= 2**53 else float(value)
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            return float(value)
        raise self.fault(mark, f"found {describe(value)} in {called}, expected a number")

    def numbers(self, text: str, mark_of: Callable[[str], Any], where: str = "") -> list[float]:
        """All the numbers in a text; `mark_of` says where a word is that is none."""
        words = text.replace(",", " ").split()
        with suppress(ValueError):
            if _DIGITS.fullmatch(text):
                return [float(word) for word in words]
        odd = next(word for word in words if not _NUMBER.fullmatch(word))
        raise self.fault(mark_of(odd), f"found {odd[:40]!r}{where}, expected a number")

    def describe_row(self, family: Family, key: Iterable[int] | None) -> str:
        """What a row is called: P(node | parent = state, …); without a key, the default row."""
        node = self.nodes[family.node]
        if key is None:
            return f"the default row of {node!r}"
        places = zip(family.parents, key)
        given = ", ".join(f"{self.nodes[parent]} = {self.states[parent][state]}" for parent, state in places)
        return f"P({node} | {given})" if given else f"P({node})"

    def _keep(self, family: Family, table: Floats, marks: Mapping[int, Any]) -> None:
        """Keep a table (rows × states) of numbers from 0 on whose rows sum to 1 but for rounding; bring them to 1.

        A row that sums to 1 as nearly as doubles can, within n·2⁻⁵², is left as it is: written and read again, a table
        is the same to the last bit.
        """
        sums = table.sum(axis=1, keepdims=True)
        bad = (table < 0).any(axis=1) | ~(np.abs(sums[:, 0] - 1) <= TOLERANCE)
        if bad.any():
            at = int(np.argmax(bad))
            key = [int(place) for place in np.unravel_index(at, family.shape[:-1])] if family.parents else []
            odd = [value for value in table[at].tolist() if not 0 <= value < math.inf]
            what = f"sums to {sums[at, 0]:.10g} instead of 1; mend its numbers"
            what = f"has {odd[0]!r}, which is no probability; mend it" if odd else what
            raise self.fault(marks.get(at, family.mark), f"{self.describe_row(family, key)} {what}")
        as_is = np.abs(sums - 1) <= table.shape[-1] * 2.0**-52
        self._tables[family.node] = np.where(as_is, table, table / sums).reshape(family.shape)

    def definition(self, *, bare: bool = False) -> Definition:
        """All together, once every node has its table; or, if they are bare, the arcs alone."""
        if not self.nodes:
            raise self.fault(None, "there are no nodes; a network has at least one")
        for node, name in enumerate(self.nodes):
            if node not in self._families:
                raise self.fault(self._marks[node], f"the node {name!r} has no probabilities; add its table")
        parents = [self._families[node].parents for node in range(len(self.nodes))]
        try:
            refuse_cycle(self.nodes, parents)
        except CycleError as error:
            raise CycleError(f"{self.locate(None)}: {error}") from None
        tables = [] if bare else [self._tables[v] for v in range(len(parents))]
        return Definition(self.nodes, self.states, parents, tables, self.name)


def describe(value: Any) -> str:
    """A value for an error message, short."""
    if value is None or (isinstance(value, str) and not value):
        return "nothing"
    if isinstance(value, Mapping | list | tuple):
        return f"a {'mapping' if isinstance(value, Mapping) else 'list'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


# What an expert gives in Python.


def define(
    arcs: Iterable[tuple[str, str]],
    nodes: Iterable[str],
    states: Mapping[str, Sequence[Any]],
    tables: Mapping[str, Any] | None,
    name: str,
) -> tuple[list[str], list[tuple[int, ...]], Definition | None]:
    """The nodes in the order they are named, the parents of each, and the network where there are tables; checked."""
    pairs, builder = list(arcs), Builder(error=NetworkError)
    builder.name = name
    for arc in pairs:
        if not isinstance(arc, list | tuple) or len(arc) != 2 or not all(isinstance(end, str) for end in arc):
            raise KindError(f"an arc is a pair (from, to) of names of nodes, got {arc!r}")
    names = list(dict.fromkeys([*nodes, *(tables or ()), *(up for up, _ in pairs), *(down for _, down in pairs)]))
    for node in names:
        if not isinstance(node, str) or not node:
            raise KindError(f"a node has a name, got {type(node).__name__} {node!r}")
    if not names:
        raise NetworkError("a network has one node at least; give arcs, or nodes")
    for node, own in states.items():
        if node not in names:
            near = did_you_mean(node, names)
            raise NetworkError(f"states has {node!r}, which no arc names (name a node by itself in nodes=[…]){near}")
        if isinstance(own, str | bytes) or not isinstance(own, Sequence | np.ndarray):
            raise KindError(f"the states of {node!r} must be a list, got {type(own).__name__} {own!r}")
    above: dict[str, list[int]] = {node: [] for node in names}
    for up, down in pairs:
        if names.index(up) in above[down]:
            raise NetworkError(f"the arc {up} → {down} is given twice; give it once")
        above[down].append(names.index(up))
    parents = [tuple(each) for each in above.values()]
    refuse_cycle(names, parents)
    for node in states if tables is None else names:
        if tables is not None and node not in tables:
            near = did_you_mean(node, tables) if tables else ""
            near = near if near.startswith("; did") else ""
            raise NetworkError(f"node {node!r} has no table; give one for every node, or none to learn them all{near}")
        builder.add_node(node, states[node] if node in states else _states_in(node, (tables or {})[node]))
    if tables is None:
        return names, parents, None
    for node, places in zip(names, parents):
        family, table = builder.family(node, [names[up] for up in places]), tables[node]
        if not isinstance(table, np.ndarray):
            builder.add_nested(family, table)
        elif table.shape == family.shape:
            builder.add_table(family, table.astype(np.float64).reshape(-1))
        else:
            raise NetworkError(
                f"the table of {node!r} has shape {table.shape}, and needs {family.shape}: an axis for each parent, "
                "the node's own last"
            )
    return names, parents, builder.definition()


def _states_in(node: str, table: Any) -> list[Any]:
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
