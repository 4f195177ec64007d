"""Rows that lie in parts on an engine, as everyone above sees them: their columns, and one way to reduce them.

A part becomes bytes where it lies, and bytes are merged in the order of the parts. What the bytes mean is none of an
engine's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import pyarrow as pa

from ingenuo.errors import EngineError, InputError, did_you_mean

Part = Callable[[int, Iterable[pa.Table]], bytes]  # the number of a part, and its rows
Merge = Callable[[Sequence[bytes]], bytes]

TOGETHER = 8  # parts that are merged at a time


class Spread(Protocol):
    """Rows that lie in parts on an engine."""

    lies_in_parts: bool
    names: list[str]

    @property
    def called(self) -> str:
        """What messages call it."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """The type of each column; null where it is not known before the rows are looked at."""
        ...

    def place(self, part: int) -> str:
        """What a part is called in messages; "" where messages name its files anyway."""
        ...

    def head(self, columns: Sequence[str], n: int) -> pa.Table:
        """The first rows of some columns."""
        ...

    def reduce(self, columns: Sequence[str], part: Part, merge: Merge) -> bytes:
        """What the merged parts come to."""
        ...


class Frame(Spread, Protocol):
    """A frame of an engine, to which columns can be added."""

    def column(self, given: Any, what: str) -> tuple[Frame, str]:
        """The frame that has a column, which may be given as one of the engine's, and the column's name."""
        ...

    def answered(self, answer: Callable[[pa.Table], pa.Table], fields: pa.Schema) -> Any:
        """A frame of the engine with what a function answers to its rows in further columns, not yet computed."""
        ...


def known(frame: Spread, name: str) -> str:
    """The name of a column that a frame must have."""
    if name not in frame.names:
        raise InputError(f"{frame.called} has no column {name!r}{did_you_mean(name, frame.names)}")
    return name


def refuse_doubled(frame: Spread) -> None:
    """Raise where two columns have one name."""
    doubled = next((name for name, count in Counter(frame.names).items() if count > 1), None)
    if doubled is not None:
        raise InputError(f"two columns of {frame.called} are called {doubled!r}; rename one")


def lacks_package(message: str) -> bool:
    """Whether an error of a worker says that it cannot import this package."""
    return "No module named 'ingenuo'" in message


def without_package(engine: str, remedy: str = "pip install ingenuo") -> EngineError:
    """The error for a worker that lacks this package."""
    return EngineError(
        f"a worker of {engine} cannot import ingenuo; install the same version of it on every worker ({remedy})"
    )


def not_installed(engine: str, what: str) -> EngineError:
    """The error for an engine that is not installed."""
    return EngineError(f"{what} is not installed, which the engine {engine!r} needs; pip install 'ingenuo[{engine}]'")
