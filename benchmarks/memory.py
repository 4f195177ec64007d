"""The peak memory that one call adds to what was there before it.

Measured in a process of its own, which makes the input, makes the same call on a small one (imports, compiled
kernels and threads are not the call's), gives freed memory back to the system, and then resets the kernel's
high-water mark. Where that is not possible the largest ever resident size stands in for it.

    python -m benchmarks.memory SUITE RACE peer|ours ROWS
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.report import Absent

ROOT = Path(__file__).parents[1]  # where this package can be imported from


def extra(suite: str, race: str, side: str, rows: int) -> dict[str, Any]:
    """Bytes that the call of one side adds, bytes of its input, and how they were measured."""
    command = [sys.executable, "-m", "benchmarks.memory", suite, race, side, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"the memory of {race!r} ({side}) could not be measured:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if "absent" in found:
        raise Absent(found["absent"])
    return found


def peak_added_by(call: Callable[[], Any]) -> tuple[int, str]:
    """Bytes by which the call raises the peak of this process, and the way they were measured."""
    gc.collect()
    _give_back()
    if _reset_peak():
        before = _status("VmRSS")
        kept = call()
        added, how = _status("VmHWM") - before, "the kernel's high-water mark"
    else:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        kept = call()
        added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - before
        how = "the largest resident size"
    del kept
    return max(added, 0), how


def _give_back() -> None:
    # With another C library than glibc, freed pages hide a little of what the call takes.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _reset_peak() -> bool:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    # Some sandboxes take the write and do nothing: then the mark stays above what is resident.
    return _status("VmHWM") <= _status("VmRSS") + (4 << 20)


def _status(name: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name + ":"))


def main(suite: str, race: str, side: str, rows: str) -> None:
    """Measure one side of one race, and print it as JSON."""
    module = importlib.import_module(f"benchmarks.{suite}")
    prepare = next(case.prepare for case in module.cases() if case.name == race)
    n = int(rows)
    small = min(n, max(n // 50, 1000))
    try:
        getattr(prepare(small), side)()
        duel = prepare(n)
    except Absent as missing:
        print(json.dumps({"absent": str(missing)}))
        return
    added, how = peak_added_by(getattr(duel, side))
    print(json.dumps({"extra": added, "input": duel.input_bytes, "how": how}))


if __name__ == "__main__":
    main(*sys.argv[1:])
