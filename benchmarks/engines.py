"""The same training on this machine, on Dask and on Spark, and Spark MLlib's and dask-ml's naive Bayes beside it.

A folder of Parquet files of 1M rows and 20 mixed columns each is made once and deleted when the process ends. Every
training runs in a process of its own, in a session that a small folder has warmed; the seconds until then are noted.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.cases import Case
from benchmarks.engine_runs import CATEGORIES, CLASS, NUMBERS
from benchmarks.report import Absent, Bar, Result

ROWS = 50_000_000
FILE_ROWS = 1_000_000
ROW_BYTES = 100  # on the disk, about
MEMORY = 1000  # MB, of the local engine
LONGEST = 900  # seconds of one training
SPARE = 2e9  # bytes of the disk that are left to others
PEERS = 5  # the peers get one row in so many

_SIZES = (3, 5, 8, 12, 20, 40, 80, 120, 160, 200)


def block(rows: int, seed: int = 8) -> dict[str, Any]:
    """Ten numbers and ten columns of 3 to 200 strings, of which one in twenty is missing, in five classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, rows)
    found: dict[str, Any] = {
        name: rng.lognormal(size=rows) + 0.1 * y if j % 2 else rng.normal(0.1 * y).round(3)
        for j, name in enumerate(NUMBERS)
    }
    for j, (name, size) in enumerate(zip(CATEGORIES, _SIZES)):
        codes = (rng.random(rows) ** (1.2 - 0.05 * y) * size).astype(np.int32)
        values = pa.array([f"{'abcdefghij'[j]}-{value:04d}" for value in range(size)])
        found[name] = pa.DictionaryArray.from_arrays(pa.array(codes, mask=rng.random(rows) < 0.05), values)
    found[CLASS] = pa.DictionaryArray.from_arrays(
        pa.array(y.astype(np.int32)), pa.array([f"class {k}" for k in range(5)])
    )
    return found


def write(folder: Path, rows: int, file_rows: int = FILE_ROWS) -> None:
    """Files of so many rows in all; each is another turn of one block, so that no two are alike."""
    folder.mkdir(parents=True)
    table = pa.table(block(min(rows, file_rows)))
    table = pa.table({name: table.column(name).combine_chunks() for name in table.column_names})
    done = 0
    while done < rows:
        turn = 7919 * (done // file_rows) % table.num_rows
        turned = pa.concat_tables([table.slice(turn), table.slice(0, turn)]).slice(0, rows - done)
        strings = turned.cast(
            pa.schema([(f.name, pa.string() if f.name not in NUMBERS else f.type) for f in turned.schema])
        )
        parquet.write_table(
            strings, folder / f"part-{done // file_rows:05d}.parquet", row_group_size=max(file_rows // 4, 1)
        )
        done += file_rows


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="engines-", ignore_cleanup_errors=True)  # goes with the process


@cache
def folder(rows: int) -> str:
    """A folder of so many rows: links to the first files of the largest, where that is there already."""
    place = Path(_home().name) / str(rows)
    if not place.exists():
        free = shutil.disk_usage(_home().name).free
        if free < rows * ROW_BYTES + SPARE:
            raise Absent(f"{rows:,} rows need {rows * ROW_BYTES / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free")
        write(place, rows)
    return str(place)


@cache
def warm(rows: int) -> str:
    """A small folder of four files, so that every worker gets something to do."""
    place = Path(_home().name) / f"warm-{rows}"
    write(place, rows, max(rows // 4, 1))
    return str(place)


@cache
def part(rows: int, of: int) -> str:
    """The first files of a folder, as a folder of its own."""
    if rows >= of or rows % FILE_ROWS:
        return folder(rows)
    place = Path(_home().name) / f"{rows}-of-{of}"
    place.mkdir()
    for file in sorted(Path(folder(of)).iterdir())[: rows // FILE_ROWS]:
        os.link(file, place / file.name)
    return str(place)


@cache
def run(what: str, rows: int, of: int, repeat: int = 1) -> dict[str, Any]:
    """The best of some trainings, each in a process of its own."""
    needs = {"dask": "distributed", "spark": "pyspark", "mllib": "pyspark"}
    for prefix, module in {**needs, "dask_ml": "dask_ml"}.items():
        if what.startswith(prefix) and importlib.util.find_spec(module) is None:
            raise Absent(f"{module} is not installed")
    if what.startswith(("spark", "mllib")) and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise Absent("there is no Java")
    found = [_once(what, part(rows, of), warm(min(rows // 2, 400_000))) for _ in range(repeat)]
    return min(found, key=lambda each: float(each["seconds"]))


def _once(what: str, data: str, warm: str) -> dict[str, Any]:
    call = [sys.executable, "-m", "benchmarks.engine_runs", what, data, warm]
    try:
        done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise Absent(f"{what} did not end within {LONGEST} s") from None
    if done.returncode:
        raise Absent(f"{what} failed: {(done.stderr.strip().splitlines() or ['?'])[-1][:200]}")
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def _said(what: dict[str, Any], rows: int) -> str:
    return (
        f"{rows / what['seconds'] / 1e6:.2f} M rows/s, start {what['start']:.1f} s, peak {what['peak'] / 1e6:.0f} MB "
        "of this process"
    )


@dataclass(frozen=True)
class Engine:
    """Seconds of an engine; in the place of the peer, those of the local one. The sums must be the same."""

    name: str
    what: str
    bar: Bar

    def measure(self, rows: int, repeat: int) -> Result:
        here, there = run("local", rows, rows, repeat), run(self.what, rows, rows, repeat)
        differs = float(here["digest"] != there["digest"])
        note = f"{there['seconds'] / here['seconds']:.2f} times local's; {_said(there, rows)}"
        return Result(self.name, "s", here["seconds"], there["seconds"], self.bar, differs, 0.0, note)


@dataclass(frozen=True)
class Memory:
    """The peak of resident memory of the local engine; in the place of the peer, of a fifth of the rows."""

    name: str = "local: peak memory"

    def measure(self, rows: int, repeat: int) -> Result:
        few = run("local", max(rows // 5 // FILE_ROWS * FILE_ROWS, rows // 5 if rows < FILE_ROWS else 0), rows, repeat)
        all_of_them = run("local", rows, rows, repeat)
        bar = Bar(limit=MEMORY)
        note = _said(all_of_them, rows)
        return Result(self.name, "MB", few["peak"] / 1e6, all_of_them["peak"] / 1e6, bar, note=note)


@dataclass(frozen=True)
class Peer:
    """Seconds against another library on the same engine, on a part of the rows."""

    name: str
    peer: str
    ours: str
    bar: Bar
    remark: str = ""

    def measure(self, rows: int, repeat: int) -> Result:
        few = max(rows // PEERS // FILE_ROWS * FILE_ROWS, min(rows, 1000))
        theirs, own = run(self.peer, few, rows, repeat), run(self.ours, few, rows, repeat)
        note = f"{few:,} rows; {_said(own, few)}" + (f"; {self.remark}" if self.remark else "")
        return Result(self.name, "s", theirs["seconds"], own["seconds"], self.bar, note=note)


@dataclass(frozen=True)
class Growth:
    """Seconds for a million rows, or bytes of the tally, of all rows; in the place of the peer, of a fiftieth."""

    name: str
    what: str
    unit: str
    value: Callable[[dict[str, Any], int], float]
    bar: Bar

    def measure(self, rows: int, repeat: int) -> Result:
        sizes = [rows // 50, rows // 5, rows] if rows >= 50 * FILE_ROWS else [rows // 4, rows // 2, rows]
        costs = [self.value(run(self.what, size, rows, repeat), size) for size in sizes]
        note = ", ".join(f"{size:,} rows: {cost:.4g} {self.unit}" for size, cost in zip(sizes, costs))
        return Result(self.name, self.unit, costs[0], costs[-1], self.bar, note=note)


def _per_million(found: dict[str, Any], rows: int) -> float:
    return float(found["seconds"]) / rows * 1e6


def _tally(found: dict[str, Any], rows: int) -> float:
    return float(found["bytes"]) / 1e3


def cases() -> list[Case]:
    """The suite."""
    within, linear = Bar(ratio=1 / 1.5, why="(1.5 × local)"), Bar(ratio=1 / 1.25, why="(linear)")
    four = Bar(ratio=0.25, why="(4 × local)")
    nearest = "the nearest that MLlib has: categories as 0 and 1, all Gaussian"
    return [
        Memory(),
        Engine("Dask, 2 worker processes: files", "dask", within),
        Engine("Dask, 2 worker processes: a Dask frame", "dask_frame", Bar()),
        Engine("Spark local[2]: files", "spark", four),
        Engine("Spark local[2]: a Spark frame", "spark_frame", four),
        Growth("seconds a million rows, local", "local", "s", _per_million, linear),
        Growth("seconds a million rows, Dask", "dask", "s", _per_million, linear),
        Growth("seconds a million rows, Spark", "spark", "s", _per_million, linear),
        Growth("size of the tally", "local", "KB", _tally, Bar(ratio=1 / 1.05, why="(no growth)")),
        Peer("MLlib NaiveBayes, 10 numbers: files", "mllib", "spark_numbers_of_files", Bar(5)),
        Peer("MLlib NaiveBayes, 10 numbers: a frame", "mllib", "spark_numbers", Bar(5)),
        Peer("MLlib NaiveBayes, 20 mixed columns: files", "mllib_mixed", "spark", Bar(5), nearest),
        Peer("MLlib NaiveBayes, 20 mixed columns: a frame", "mllib_mixed", "spark_frame", Bar(5), nearest),
        Peer("dask-ml GaussianNB, 10 numbers: files", "dask_ml", "dask_numbers_of_files", Bar(5)),
        Peer("dask-ml GaussianNB, 10 numbers: a frame", "dask_ml", "dask_numbers", Bar(5)),
    ]
