"""Programs in new processes, with the modules compiled as those of an installed package are."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.memory import ROOT


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="benchmarks-")  # gone when the process ends


def place(name: str) -> Path:
    """A path in the temporary folder."""
    return Path(_folder().name, name)


def command() -> list[str]:
    """How a shell calls `ingenuo`: the script beside the interpreter, else what it would do."""
    installed = shutil.which("ingenuo", path=str(Path(sys.executable).parent))
    return [installed] if installed else [sys.executable, "-c", "from ingenuo.cli import main; main()"]


def as_installed() -> dict[str, str]:
    """The environment of a program whose modules are compiled, as those of an installed package are.

    Where Python is told to write no bytecode, as in a checkout, a start would pay for compiling every module.
    """
    others = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return others | {"PYTHONPYCACHEPREFIX": str(place("bytecode"))}


@dataclass(frozen=True)
class Spent:
    """Seconds of a process: of all its threads, the system's share included, and by the clock."""

    cpu: float
    clock: float


def spent_by(call: list[str], status: int = 0) -> Spent:
    """What a program takes in a new process, which must end with this status."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT, env=as_installed())
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != status:
        raise RuntimeError(f"{' '.join(call)} ended with {done.returncode}:\n{done.stderr}")
    return Spent(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock)


def alternate(peer: list[str], ours: list[str], repeat: int, status: int = 0) -> tuple[Spent, Spent]:
    """The least that each side takes in some runs, in turns; one more of each, before, fills the caches."""
    spent_by(peer)
    spent_by(ours, status)
    runs = [(spent_by(peer), spent_by(ours, status)) for _ in range(repeat)]
    best_peer, best_ours = (min(side, key=lambda spent: spent.cpu) for side in zip(*runs))
    return best_peer, best_ours
