"""What every network file has to hold, whatever its kind: nodes and states that exist, and tables that sum to 1.

A reader finds the pieces and marks where each one is; the `Builder` puts them together and refuses what does not fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import CycleError, NetworkError, NetworkFileError, did_you_mean
from ingenuo.networks.definition import Definition
from ingenuo.networks.graph import refuse_cycle

Floats = NDArray[np.float64]
Locate = Callable[[Any], str]

# Rounding is forgiven, slips are not: ten numbers rounded to four decimals miss 1 by up to 5e-4 together, and one wrong
# digit among the first three by 1e-3 or more. (The networks of the public repositories stay within 3e-7.)
TOLERANCE = 5e-4
MAX_PARENTS = 63  # numpy's arrays have 64 axes at most, and the node's own is one
# A table that is mostly a default row is small in the file and need not be so in memory: 2^27 numbers are 1 GB.
MAX_CELLS = 2**27

_HALF = re.compile("[\ud800-\udfff]")


class Family(NamedTuple):
    """A node and its parents by their places, with the shape of its table; `mark` is where the file defines it."""

    node: int
    parents: tuple[int, ...]
    shape: tuple[int, ...]
    mark: Any


class Builder:
    """Collects nodes, then their tables, and gives the Definition; `locate` says where a mark is, for errors."""

    def __init__(self, locate: Locate) -> None:
        self.locate = locate
        self.name = "network"
        self.nodes: list[str] = []
        self.states: list[list[Any]] = []
        self.places: dict[str, int] = {}
        self.of_state: list[dict[str, int]] = []  # of each node, the places of its states' texts
        self._marks: list[Any] = []
        self._families: dict[int, Family] = {}
        self._tables: dict[int, Floats] = {}

    def fault(self, mark: Any, message: str) -> NetworkFileError:
        """The error to raise: where, and what is wrong."""
        return NetworkFileError(f"{self.locate(mark)}: {message}")

    def add_node(self, name: str, states: Sequence[Any], mark: Any) -> None:
        """Another node; its name and states have to be new, and to be something."""
        self._refuse_bad_name(name, "a node", mark)
        if name in self.places:
            raise self.fault(mark, f"the node {name!r} is given twice; give each node once")
        if not states:
            raise self.fault(mark, f"the node {name!r} has no states; list them")
        texts: dict[str, int] = {}
        seen: set[Any] = set()  # 1 and True have different texts, and are the same to Python
        for place, state in enumerate(states):
            text = text_of(state)
            self._refuse_bad_name(text, f"a state of {name!r}", mark)
            if text in texts or state in seen:
                raise self.fault(mark, f"the node {name!r} has the state {text!r} twice; states have to differ")
            texts[text] = place
            seen.add(state)
        self.places[name] = len(self.nodes)
        self.nodes.append(name)
        self.states.append(list(states))
        self.of_state.append(texts)
        self._marks.append(mark)

    def _refuse_bad_name(self, name: str, what: str, mark: Any) -> None:
        if not name:
            raise self.fault(mark, f"{what} has an empty name; give it one")
        if _HALF.search(name):
            raise self.fault(mark, f"{what} is called {name!r}, with half a character in it; write whole ones")

    def place_of(self, name: str, mark: Any, why: str = "") -> int:
        """The place of a node that has to exist; `why` says what it is named for."""
        if name not in self.places:
            raise self.fault(mark, f"there is no node {name!r}{why}{did_you_mean(name, self.nodes)}")
        return self.places[name]

    def state_of(self, node: int, text: str, mark: Any, where: str = "") -> int:
        """The place of a state that has to exist; `where` is what the message begins with."""
        if text not in self.of_state[node]:
            known = did_you_mean(text, self.of_state[node])
            raise self.fault(mark, f"{where}the node {self.nodes[node]!r} has no state {text!r}{known}")
        return self.of_state[node][text]

    def family(self, name: str, parents: Sequence[str], mark: Any) -> Family:
        """A node and its parents, of which all have to exist and none may come twice."""
        node = self.place_of(name, mark)
        if node in self._families:
            raise self.fault(mark, f"the probabilities of {name!r} are given twice; give them once")
        places = tuple(self.place_of(parent, mark, f", which {name!r} names as a parent") for parent in parents)
        for place, parent in enumerate(parents):
            if parent in parents[:place]:
                raise self.fault(mark, f"{name!r} has the parent {parent!r} twice; name each parent once")
        if len(places) > MAX_PARENTS:
            raise self.fault(mark, f"{name!r} has {len(places)} parents, and a table has at most {MAX_PARENTS}")
        shape = tuple(len(self.states[place]) for place in (*places, node))
        family = self._families[node] = Family(node, places, shape, mark)
        return family

    def add_table(self, family: Family, values: Floats) -> None:
        """The whole table, as numbers in the order of the parents' states, the node's own state changing fastest."""
        needed = math.prod(family.shape)
        if values.size != needed:
            sizes = " × ".join(map(str, family.shape))
            product = f" ({sizes})" if family.parents else ""
            raise self.fault(
                family.mark,
                f"the table of {self.nodes[family.node]!r} needs {needed} numbers{product}, and has {values.size}",
            )
        self._check(family, values.reshape(-1, family.shape[-1]), None)

    def add_rows(
        self,
        family: Family,
        keys: Sequence[tuple[int, ...]],
        rows: Sequence[Sequence[float]],
        marks: Sequence[Any],
        default: Sequence[float] | None = None,
    ) -> None:
        """The table row by row: the parents' states and the numbers, in any order; `default` stands for the others."""
        states = family.shape[-1]
        needed = math.prod(family.shape[:-1])
        given = dict(zip(keys, marks))
        for key, row, mark in zip(keys, rows, marks):
            if len(row) != states:
                raise self._row_fault(family, key, mark, f"needs {states} numbers, and has {len(row)}")
        if len(given) < len(keys):
            seen: set[tuple[int, ...]] = set()
            for key, mark in zip(keys, marks):
                if key in seen:
                    raise self._row_fault(family, key, mark, "is given twice; give it once")
                seen.add(key)
        if default is None and len(given) < needed:
            missing = next(key for key in product(*map(range, family.shape[:-1])) if key not in given)
            others = f", nor are {needed - len(given) - 1} others" if needed - len(given) > 1 else ""
            raise self._row_fault(family, missing, family.mark, f"is not given{others}; add what is missing")
        if default is not None and len(default) != states:
            wrong = f"the default row of {self.nodes[family.node]!r} needs {states} numbers, and has {len(default)}"
            raise self.fault(family.mark, wrong)
        if default is not None and not abs(sum(default) - 1) <= TOLERANCE:
            wrong = f"the default row of {self.nodes[family.node]!r} sums to {sum(default):.10g} instead of 1"
            raise self.fault(family.mark, f"{wrong}; mend its numbers")
        if needed * states > MAX_CELLS:
            raise self.fault(
                family.mark,
                f"the table of {self.nodes[family.node]!r} would have {needed * states:,} numbers, "
                f"and at most {MAX_CELLS:,} are read; give it fewer parents",
            )
        places = _flat(keys, family.shape[:-1])
        table = np.empty((needed, states))
        if default is not None:
            table[:] = default
        if len(keys):
            table[places] = rows
        self._check(family, table, dict(zip(places.tolist(), marks)))

    def _row_fault(self, family: Family, key: Sequence[int], mark: Any, what: str) -> NetworkFileError:
        return self.fault(mark, f"{self.row(family, key)} {what}")

    def row(self, family: Family, key: Sequence[int]) -> str:
        """What a row is called: P(node | parent = state, …)."""
        return row_name(self.nodes, self.states, family.node, family.parents, key)

    def _check(self, family: Family, table: Floats, marks: dict[int, Any] | None) -> None:
        """Keep a table (rows × states) of numbers from 0 on whose rows sum to 1 but for rounding; bring them to 1."""
        sums = table.sum(axis=1)
        bad = (table < 0).any(axis=1) | ~(np.abs(sums - 1) <= TOLERANCE)
        if bad.any():
            row = int(np.argmax(bad))
            key = [int(place) for place in np.unravel_index(row, family.shape[:-1])] if family.parents else []
            mark = family.mark if marks is None else marks.get(row, family.mark)
            odd = [value for value in table[row].tolist() if not 0 <= value < math.inf]
            if odd:
                raise self._row_fault(family, key, mark, f"has {odd[0]!r}, which is no probability; mend it")
            raise self._row_fault(family, key, mark, f"sums to {sums[row]:.10g} instead of 1; mend its numbers")
        self._tables[family.node] = to_one(table).reshape(family.shape)

    def definition(self, whole: str) -> Definition:
        """All together, once every node has its table; `whole` is what errors call the file."""
        if not self.nodes:
            raise NetworkFileError(f"{whole}: there are no nodes; a network has at least one")
        for node, name in enumerate(self.nodes):
            if node not in self._families:
                raise self.fault(self._marks[node], f"the node {name!r} has no probabilities; add its table")
        parents = [self._families[node].parents for node in range(len(self.nodes))]
        try:
            refuse_cycle(self.nodes, parents)
        except CycleError as error:
            raise CycleError(f"{whole}: {error}") from None
        tables = [self._tables[node] for node in range(len(self.nodes))]
        return Definition(self.nodes, self.states, parents, tables, self.name)


def _flat(keys: Sequence[tuple[int, ...]], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The places of rows in the table as one column of rows, the last parent changing fastest."""
    matrix = np.array(keys, np.int64).reshape(len(keys), len(shape))
    weights = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return matrix @ np.array(weights, np.int64)


def to_one(table: Floats) -> Floats:
    """Rows divided by their sums; one that sums to 1 as nearly as doubles can is left as it is.

    So a table that was brought to 1, written and read again is the same to the last bit: the quotients sum to 1
    within n·2⁻⁵², n numbers a row.

    >>> to_one(np.array([[0.3333, 0.6666]])).sum()
    np.float64(1.0)
    """
    sums = table.sum(axis=-1, keepdims=True)
    as_is = np.abs(sums - 1) <= table.shape[-1] * 2.0**-52
    return table if as_is.all() else np.where(as_is, table, table / sums)


def row_name(
    nodes: Sequence[str], states: Sequence[Sequence[Any]], node: int, parents: Iterable[int], key: Sequence[int]
) -> str:
    """A row of a table, for a reader: P(node | parent = state, …).

    >>> row_name(["smoke", "lung"], [["yes", "no"], ["yes", "no"]], 1, [0], [1])
    'P(lung | smoke = no)'
    """
    given = ", ".join(f"{nodes[parent]} = {text_of(states[parent][state])}" for parent, state in zip(parents, key))
    return f"P({nodes[node]} | {given})" if given else f"P({nodes[node]})"


def text_of(state: Any) -> str:
    """A state as the text that stands for it in a file.

    >>> text_of("low"), text_of(3), text_of(np.True_)
    ('low', '3', 'True')
    """
    return state if type(state) is str else str(state)


def refuse_unwritable(definition: Definition) -> None:
    """Raise where a network cannot be written so that reading gives it back: names that are empty or not different."""
    builder = Builder(lambda mark: "the network cannot be written")
    try:
        for node, states in zip(definition.nodes, definition.states):
            builder.add_node(node, list(states), None)
    except NetworkFileError as error:
        raise NetworkError(str(error)) from None
    if _HALF.search(definition.name):
        raise NetworkError(f"the network cannot be written: its name {definition.name!r} has half a character in it")
