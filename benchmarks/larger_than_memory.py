"""A file larger than memory is learned in bounded memory: the real command, on a CSV file of any size.

A block of random rows is written once, then again and again until the file has its size; so what must be learned is
known: the sums of the block, times the blocks. The command runs in a new process, whose peak of resident memory is
printed beside that of learning the block alone; the file is deleted at the end.

    python -m benchmarks.larger_than_memory --gigabytes 5
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from benchmarks import cli, processes
from ingenuo import store

LIMIT = 1.0  # gigabytes of resident memory
BLOCK_ROWS = {"mixed": 200_000, "texts": 100_000}  # of some tens of megabytes
SPARE = 0.2  # gigabytes of the disk that are left to others

# A new process inherits the peak of the one that starts it, and this one has held a block. So a small process stands
# between: the peak of its children is that of the command.
_LAUNCHER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
status = subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode
seconds = time.perf_counter() - start
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
peak = spent.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({"status": status, "seconds": seconds, "peak": peak, "cpu": spent.ru_utime + spent.ru_stime}))
"""


@dataclass(frozen=True)
class Learning:
    """What the command took to learn a file."""

    seconds: float
    peak: int  # bytes
    size: int  # bytes of the file
    cpu: float = math.nan  # seconds of all threads

    def __str__(self) -> str:
        rate = self.size / 1e6 / self.seconds
        return f"{self.size / 1e9:.3f} GB in {self.seconds:.1f} s, {rate:.0f} MB/s, peak {self.peak / 1e6:.0f} MB"


def block_of(kind: str, rows: int) -> tuple[pa.Table, str]:
    """Random rows, and the name of their class."""
    return (cli.texts_of(rows), cli.LABEL) if kind == "texts" else (cli.with_class(cli.table_of(rows)), cli.CLASS)


def repeat(block: Path, path: Path, size: int) -> int:
    """Write the rows of a file over and over, under one header, up to a size; how often they are there."""
    header, _, rows = block.read_bytes().partition(b"\n")
    times = max(1, round((size - len(header)) / len(rows)))
    with path.open("wb") as file:
        file.write(header + b"\n")
        for _ in range(times):
            file.write(rows)
    return times


def call_of(path: Path, target: str, output: Path) -> list[str]:
    """The command that learns a file; texts are declared, because such as come again and again may be categories."""
    declared = ["--column", "text=text"] if target == cli.LABEL else []
    return [*processes.command(), "train", str(path), "--target", target, *declared, "--quiet", "-o", str(output)]


def learn(path: Path, target: str, output: Path) -> Learning:
    """Call the command in a new process."""
    call = call_of(path, target, output)
    run = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *call],
        capture_output=True,
        text=True,
        check=False,
        env=processes.as_installed(),
    )
    if run.returncode or (found := json.loads(run.stdout.splitlines()[-1]))["status"]:
        raise RuntimeError(f"{' '.join(call)} failed:\n{run.stderr}")
    return Learning(found["seconds"], found["peak"], path.stat().st_size, found["cpu"])


def show(kind: str, size: int, folder: Path, rows: int) -> Iterator[tuple[str, bool]]:
    """Learn a block and then the file: lines to print, and whether what they say is as it must be."""
    table, target = block_of(kind, rows)
    block, whole = folder / "block.csv", folder / "whole.csv"
    cli.write(iter([table]), block, quotes=kind == "texts")
    del table
    alone = learn(block, target, folder / "block.ingenuo")
    yield f"a block of {rows:,} rows: {alone}", True
    times = repeat(block, whole, size)
    found = learn(whole, target, folder / "whole.ingenuo")
    yield f"{times} such blocks, {times * rows:,} rows: {found}", True
    one, all_of_them = (store.load(folder / f"{name}.ingenuo") for name in ("block", "whole"))
    same = bool(all_of_them.tally_ == one.tally_.scale(times))
    yield f"the sums are {'' if same else 'NOT '}those of the block, times {times}", same
    bounded = found.peak <= LIMIT * 1e9
    yield f"the peak is {'within' if bounded else 'ABOVE'} {LIMIT:g} GB", bounded


def main(arguments: Sequence[str] | None = None) -> int:
    """Show it; the status is 1 where the memory is above the limit or the sums are wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.larger_than_memory", description=__doc__.split("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=5.0, help="the size of the file (default: 5)")
    parser.add_argument("--kind", choices=BLOCK_ROWS, default="mixed", help="what the columns are (default: mixed)")
    parser.add_argument("--rows", type=int, help="rows of a block (default: some tens of megabytes)")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where to write it (default: %(default)s)")
    given = parser.parse_args(arguments)
    rows = BLOCK_ROWS[given.kind] if given.rows is None else given.rows
    if not given.gigabytes > 0 or rows < 1000:
        parser.error("--gigabytes must be above 0, and --rows at least 1000")
    if not Path(given.folder).is_dir():
        parser.error(f"there is no folder {given.folder!r}; make it, or name another with --folder")
    free = shutil.disk_usage(given.folder).free / 1e9
    if free < given.gigabytes + SPARE:
        parser.error(
            f"{given.gigabytes:g} GB are to be written to {given.folder}, where {free:.1f} GB are free; "
            "name another place with --folder, or less with --gigabytes"
        )
    right = True
    with tempfile.TemporaryDirectory(prefix="larger-than-memory-", dir=given.folder) as folder:
        for line, as_it_must_be in show(given.kind, int(given.gigabytes * 1e9), Path(folder), rows):
            print(line, flush=True)
            right &= as_it_must_be
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
