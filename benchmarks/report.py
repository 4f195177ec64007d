"""What a measurement reports, and how a list of them is printed."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

WIDTHS = (46, 11, 11, 9, 22, 6, 9)
TITLES = ("case", "peer", "ours", "ratio", "bar", "met", "differs")


@dataclass(frozen=True)
class Bar:
    """What a case must reach: a ratio to the peer of at least `ratio`, or at most `limit` of its unit."""

    ratio: float | None = None
    limit: float | None = None
    why: str = ""

    def text(self, unit: str) -> str:
        """The bar as it is printed, e.g. "≥ 8×"."""
        parts = [f"≥ {self.ratio:g}×"] if self.ratio is not None else []
        parts += [f"≤ {self.limit:.3g} {unit}"] if self.limit is not None else []
        return " ".join([*parts, self.why]).strip() or "none"

    def met(self, ratio: float, ours: float) -> bool | None:
        """Whether it is reached; None where there is no bar."""
        if self.ratio is None and self.limit is None:
            return None
        fast = self.ratio is None or ratio >= self.ratio
        return fast and (self.limit is None or ours <= self.limit)


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

    @property
    def ratio(self) -> float:
        """How many times as much the peer takes."""
        return self.peer / max(self.ours, 1e-9)

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


def environment() -> dict[str, Any]:
    """The machine and the versions a run belongs to."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "pandas", "ingenuo")
    return {
        "python": platform.python_version(),
        "machine": _processor(),
        "cores": cores,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": {name: version(name) for name in packages},
    }


def lines(results: Iterable[Result]) -> Iterator[str]:
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
    for result in results:
        yield _columns(_cells(result)) + result.note
        wrong += result.agrees is False
        if result.met is not None:
            bars.append(result.met)
    yield ""
    yield f"{sum(bars)} of {len(bars)} bars met" + (f"; {wrong} answers WRONG" if wrong else "; all answers agree")


def to_json(results: Iterable[Result]) -> str:
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
        f"{result.ratio:.3g}×",
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
