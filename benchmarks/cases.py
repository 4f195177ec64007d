"""The kinds of case: a race in time, the memory a call adds, and what a new process pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks import memory, start
from benchmarks.report import Bar, Result
from benchmarks.timing import alternate


class Case(Protocol):
    """Something to measure."""

    @property
    def name(self) -> str: ...

    def measure(self, rows: int, repeat: int) -> Result:
        """Measure it on about so many rows, best of so many."""
        ...


@dataclass(frozen=True)
class Duel:
    """The same work for both, on the same data; and how far their answers are apart."""

    peer: Callable[[], Any]
    ours: Callable[[], Any]
    difference: Callable[[Any, Any], float]
    input_bytes: int


@dataclass(frozen=True)
class Race:
    """Seconds against seconds."""

    name: str
    bar: Bar
    prepare: Callable[[int], Duel]
    tolerance: float = 1e-9

    def measure(self, rows: int, repeat: int) -> Result:
        duel = self.prepare(rows)
        theirs, own, their_result, our_result = alternate(duel.peer, duel.ours, repeat)
        difference = duel.difference(their_result, our_result)
        note = ", ".join(
            f"{what} {getattr(theirs, what):.3g} / {getattr(own, what):.3g} s" for what in ("cold", "median", "cpu")
        )
        return Result(self.name, "s", theirs.best, own.best, self.bar, difference, self.tolerance, note)


@dataclass(frozen=True)
class ExtraMemory:
    """The peak memory a race's call adds to its input, each side in a process of its own."""

    suite: str
    race: str
    share: float | None

    @property
    def name(self) -> str:
        return f"memory of {self.race}"

    def measure(self, rows: int, repeat: int) -> Result:
        peer, ours = (memory.extra(self.suite, self.race, side, rows) for side in ("peer", "ours"))
        size = ours["input"] / 1e6
        bar = Bar() if self.share is None else Bar(limit=self.share * size, why=f"({self.share:.0%} of input)")
        note = f"{ours['extra'] / ours['input']:.1%} of the input's {size:.4g} MB, by {ours['how']}"
        return Result(self.name, "MB", peer["extra"] / 1e6, ours["extra"] / 1e6, bar, note=note)


@dataclass(frozen=True)
class NewProcess:
    """Seconds of a first call in a new process; its imports and the call itself are noted apart."""

    name: str
    bar: Bar
    peer: start.Script
    ours: start.Script

    def measure(self, rows: int, repeat: int) -> Result:
        peer, ours = start.alternate(self.peer, self.ours, repeat)
        parts = ", ".join(
            f"{part} {peer[part]:.3g} / {ours[part]:.3g} s" for part in ("numpy", "imports", "call") if part in ours
        )
        return Result(self.name, "s", peer["counted"], ours["counted"], self.bar, note=parts)


def run(cases: list[Case], rows: int, repeat: int) -> Iterator[Result]:
    """Measure one after the other."""
    for case in cases:
        yield case.measure(rows, repeat)
