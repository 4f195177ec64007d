"""The kinds of case: a race in time or pace, the memory a call adds, how both grow, and what a new process pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks import memory, processes
from benchmarks.report import Absent, Bar, Result, Skipped
from benchmarks.timing import Timing, alternate, seconds


class Case(Protocol):
    """Something to measure."""

    @property
    def name(self) -> str: ...

    def measure(self, rows: int, repeat: int) -> Result:
        """Measure it on about so many rows, best of so many."""
        ...


@dataclass(frozen=True)
class Duel:
    """The same work for both, on the same data; and how far their answers are apart.

    Answers that cannot be compared have no difference; `remark` says something else about them.
    """

    peer: Callable[[], Any]
    ours: Callable[[], Any]
    difference: Callable[[Any, Any], float] | None
    input_bytes: int
    amounts: tuple[float, float] = (1.0, 1.0)  # what a call of each side gets through, in the unit of a pace
    remark: Callable[[Any, Any], str] | None = None

    def outcome(self, theirs: Any, own: Any) -> tuple[float | None, str]:
        """The difference of what the calls returned, and the remark on it."""
        difference = None if self.difference is None else self.difference(theirs, own)
        return difference, "" if self.remark is None else "; " + self.remark(theirs, own)


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
        difference, remark = duel.outcome(their_result, our_result)
        note = _timings(theirs, own) + remark
        return Result(
            self.name, "s", theirs.best, own.best, self.bar, difference, self.tolerance, note, (theirs.cpu, own.cpu)
        )


@dataclass(frozen=True)
class Pace:
    """So much a second, of the two sides' own amounts: megabytes of text, words."""

    name: str
    unit: str
    bar: Bar
    prepare: Callable[[int], Duel]
    tolerance: float = 1e-9

    def measure(self, rows: int, repeat: int) -> Result:
        duel = self.prepare(rows)
        theirs, own, their_result, our_result = alternate(duel.peer, duel.ours, repeat)
        difference, remark = duel.outcome(their_result, our_result)
        peer, ours = (amount / max(side.best, 1e-9) for amount, side in zip(duel.amounts, (theirs, own)))
        note = _timings(theirs, own) + remark
        return Result(
            self.name, self.unit, peer, ours, self.bar, difference, self.tolerance, note, (theirs.cpu, own.cpu)
        )


def _timings(theirs: Timing, own: Timing) -> str:
    return ", ".join(
        f"{what} {getattr(theirs, what):.3g} / {getattr(own, what):.3g} s" for what in ("cold", "median", "cpu")
    )


@dataclass(frozen=True)
class ExtraMemory:
    """The peak memory a race's call adds to its input, each side in a process of its own."""

    suite: str
    race: str
    share: float | None
    ratio: float | None = None

    @property
    def name(self) -> str:
        return f"memory of {self.race}"

    def measure(self, rows: int, repeat: int) -> Result:
        peer, ours = (memory.extra(self.suite, self.race, side, rows) for side in ("peer", "ours"))
        size = ours["input"] / 1e6
        limit, why = (None, "") if self.share is None else (self.share * size, f"({self.share:.0%} of input)")
        bar = Bar(self.ratio, limit, why)
        note = f"{ours['extra'] / ours['input']:.1%} of the input's {size:.4g} MB, by {ours['how']}"
        return Result(self.name, "MB", peer["extra"] / 1e6, ours["extra"] / 1e6, bar, note=note)


SIZES = (1, 2, 4)  # how often the input is taken


@dataclass(frozen=True)
class Growth:
    """Our milliseconds for a megabyte, of four times the input; in the place of the peer, of the input once."""

    name: str
    bar: Bar
    prepare: Callable[[int], Duel]

    def measure(self, rows: int, repeat: int) -> Result:
        duels = [self.prepare(rows * times) for times in SIZES]
        for duel in duels:
            duel.ours()
        rounds = [[seconds(duel.ours)[0] for duel in duels] for _ in range(repeat)]
        costs = [min(each) * 1e9 / duel.input_bytes for each, duel in zip(zip(*rounds), duels)]
        return _grown(self.name, "ms/MB", costs, self.bar)


@dataclass(frozen=True)
class MemoryGrowth:
    """The same for the megabytes that our call adds."""

    suite: str
    growth: str
    bar: Bar

    @property
    def name(self) -> str:
        return f"memory of {self.growth}"

    def measure(self, rows: int, repeat: int) -> Result:
        found = [memory.extra(self.suite, self.growth, "ours", rows * times) for times in SIZES]
        return _grown(self.name, "MB/MB", [each["extra"] / each["input"] for each in found], self.bar)


def _grown(name: str, unit: str, costs: list[float], bar: Bar) -> Result:
    note = ", ".join(f"×{times} {cost:.3g}" for times, cost in zip(SIZES, costs)) + f" {unit}"
    return Result(name, unit, costs[0], costs[-1], bar, note=note)


@dataclass(frozen=True)
class NewProcess:
    """Seconds of the processor that a program takes in a new process, beside those of the peer's."""

    name: str
    bar: Bar
    peer: list[str]
    ours: list[str]
    status: int = 0  # with which ours must end
    before: list[str] | None = None  # a program that must have run, and is not timed

    def measure(self, rows: int, repeat: int) -> Result:
        if self.before is not None:
            processes.spent_by(self.before)
        peer, ours = processes.alternate(self.peer, self.ours, repeat, self.status)
        note = f"by the clock {peer.clock:.3g} / {ours.clock:.3g} s"
        return Result(self.name, "s", peer.cpu, ours.cpu, self.bar, note=note)


def run(cases: list[Case], rows: int, repeat: int) -> Iterator[Result | Skipped]:
    """Measure one after the other; a case that lacks something on this machine is skipped."""
    for case in cases:
        try:
            yield case.measure(rows, repeat)
        except Absent as missing:
            yield Skipped(case.name, str(missing))
