"""What a measurement reports, and how a list of them is printed."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

WIDTHS = (46, 11, 11, 9, 22, 6, 9)
TITLES = ("case", "peer", "ours", "ratio", "bar", "met", "differs")
MORE_IS_BETTER = ("%", "MB/s", "words/s", "k rows/s")  # units; of seconds and megabytes less is


class Absent(Exception):
    """What a case needs is not on this machine; the message says what."""


@dataclass(frozen=True)
class Bar:
    """What a case must reach: `ratio` to the peer at least, or of its unit at most `limit` or at least `least`."""

    ratio: float | None = None
    limit: float | None = None
    why: str = ""
    least: float | None = None

    def text(self, unit: str) -> str:
        """The bar as it is printed, e.g. "≥ 8×"."""
        parts = [f"≥ {self.ratio:.3g}×"] if self.ratio is not None else []
        parts += [f"≤ {self.limit:.3g} {unit}"] if self.limit is not None else []
        parts += [f"≥ {self.least:.4g} {unit}"] if self.least is not None else []
        return " ".join([*parts, self.why]).strip() or "none"

    def met(self, ratio: float, ours: float) -> bool | None:
        """Whether it is reached; None where there is no bar."""
        if self.ratio is None and self.limit is None and self.least is None:
            return None
        fast = self.ratio is None or ratio >= self.ratio
        return fast and (self.limit is None or ours <= self.limit) and (self.least is None or ours >= self.least)


@dataclass(frozen=True)
class Result:
    """One line of the report; answers that differ by more than the tolerance meet no bar."""

    name: str
    unit: str
    peer: float
    ours: float
    bar: Bar = Bar()
    difference: float | None = None
    tolerance: float = 0.0
    note: str = ""
    cpu: tuple[float, float] | None = None  # seconds of all threads together, the peer's and ours

    @property
    def ratio(self) -> float:
        """How many times as much the peer takes; where more is better, how many times as much we give."""
        return self.ours / max(self.peer, 1e-9) if self.unit in MORE_IS_BETTER else self.peer / max(self.ours, 1e-9)

    @property
    def agrees(self) -> bool | None:
        """Whether the answers are the same; None where a case compares none."""
        # A NaN difference is a disagreement, hence not (d > tolerance).
        return None if self.difference is None else self.difference <= self.tolerance

    @property
    def met(self) -> bool | None:
        """Whether the bar is reached by right answers."""
        met = self.bar.met(self.ratio, self.ours)
        return False if self.agrees is False else met

    def as_dict(self) -> dict[str, Any]:
        """All of it, for --json."""
        bar = self.bar.text(self.unit)
        return asdict(self) | {"bar": bar, "ratio": self.ratio, "agrees": self.agrees, "met": self.met}


@dataclass(frozen=True)
class Skipped:
    """A case that could not be measured here, and why; it meets no bar and misses none."""

    name: str
    why: str
    agrees: None = None
    met: None = None

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {"name": self.name, "skipped": self.why}


def environment() -> dict[str, Any]:
    """The machine and the versions a run belongs to."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "python": platform.python_version(),
        "machine": _processor(),
        "cores": cores,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in ("numpy", "scipy", "scikit-learn", "pyarrow", "pandas", "nltk", "fasttext-wheel", "ingenuo"):
        with contextlib.suppress(PackageNotFoundError):  # some peers are optional
            found[name] = version(name)
    return found


def lines(results: Iterable[Result | Skipped]) -> Iterator[str]:
    """The printed report, line by line, as the results come."""
    about = environment()
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    yield f"{about['machine']}, {about['cores']} cores, Python {about['python']}, {versions}"
    if about["load"] is not None and about["load"] > 0.5:
        yield f"The machine is busy (load {about['load']:.1f}): ratios will be noisy."
    yield ""
    yield _columns(TITLES)
    yield "-" * (sum(WIDTHS) + 2 * len(WIDTHS))
    bars: list[bool] = []
    wrong = 0
    skipped = 0
    for result in results:
        if isinstance(result, Skipped):
            skipped += 1
            yield f"{result.name.ljust(WIDTHS[0])}  skipped: {result.why}"
            continue
        yield _columns(_cells(result)) + result.note
        wrong += result.agrees is False
        if result.met is not None:
            bars.append(result.met)
    yield ""
    answers = f"; {wrong} answers WRONG" if wrong else "; all answers agree"
    yield f"{sum(bars)} of {len(bars)} bars met{answers}" + (f"; {skipped} skipped" if skipped else "")


def to_json(results: Iterable[Result | Skipped]) -> str:
    """The report as JSON."""
    return json.dumps({"environment": environment(), "results": [r.as_dict() for r in results]}, indent=1)


def _cells(result: Result) -> tuple[str, ...]:
    met = {True: "yes", False: "NO", None: ""}[result.met]
    differs = "" if result.difference is None else f"{result.difference:.0e}" if result.difference else "0"
    if result.agrees is False:
        differs += " WRONG"
    return (
        result.name,
        f"{result.peer:.4g} {result.unit}",
        f"{result.ours:.4g} {result.unit}",
        f"{result.ours - result.peer:+.2f}" if result.unit == "%" else f"{result.ratio:.3g}×",
        result.bar.text(result.unit),
        met,
        differs,
    )


def _columns(cells: Iterable[str]) -> str:
    padded = [
        cell.rjust(width) if 1 <= place <= 3 else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, WIDTHS))
    ]
    return "  ".join(padded) + "  "


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def farthest(a: Any, b: Any) -> float:
    """The largest difference of two arrays, relative where they are above 1; NaN if they differ in shape."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return float("nan")
    same = a == b  # infinities of one sign are equal, and their difference is not a number
    with np.errstate(invalid="ignore"):
        distances = np.where(same, 0.0, np.abs(a - b) / np.maximum(1.0, np.abs(a)))
    return float(distances.max(initial=0.0))
