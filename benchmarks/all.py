"""``python -m benchmarks all``: every suite, one after the other, as tables of one page; who is faster, by how much.

Each suite runs in a process of its own, which reports each case as soon as it is measured. So one that fails, or is not
done in time, costs its own cases alone, and the page names them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.quality_page import write
from benchmarks.report import MORE_IS_BETTER

# Rows and warm calls of `--quick`, and the share of its minutes; in the order in which they run.
QUICK: Mapping[str, tuple[int, int, float]] = {
    "start": (1000, 3, 2.0),
    "tables": (100_000, 3, 2.0),
    "text": (2000, 2, 2.0),
    "cli": (100_000, 2, 1.0),
    "linear": (50_000, 2, 2.0),
    "trust": (2000, 2, 2.0),
    "networks": (20_000, 2, 1.5),
    "engines": (200_000, 1, 1.5),
}
QUICK_MINUTES = 14.0
COMMANDS = {"page": "the page and the exports", "serve": "the server, beside its peers and when things go wrong"}
PEERS = (
    "scikit-learn", "pandas", "pyarrow", "nltk", "fasttext-wheel", "pyagrum", "pgmpy", "dask", "dask-ml", "pyspark",
    "lightgbm", "catboost",
)  # fmt: skip
SKIPPED = "skipped"  # under which a case that was not measured has the reason
DIFFERENCE = "%"  # the unit of shares, of which the difference is shown, not the ratio


@dataclass
class Run:
    """What a suite reported: its results as `report.Result.as_dict` gives them, and why it has no more."""

    suite: str
    rows: int
    repeat: int
    results: list[dict[str, Any]] = field(default_factory=list)
    ended: str = ""


# Running.


def measure(suite: str, rows: int, repeat: int, minutes: float, only: Sequence[str] = ()) -> Run:
    """Run a suite in a process of its own, for so many minutes at most."""
    call = [sys.executable, "-m", "benchmarks", suite, "--each", "--rows", str(rows), "--repeat", str(repeat)]
    call += [word for name in only for word in ("--only", name)]
    done = Run(suite, rows, repeat)
    process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True, start_new_session=True)
    late = threading.Event()

    def stop() -> None:
        late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with the processes that it has started

    timer = threading.Timer(minutes * 60, stop)
    timer.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                done.results.append(json.loads(line))
                print(f"{suite}: {done.results[-1]['name']}", file=sys.stderr, flush=True)
        status = process.wait()
    finally:
        timer.cancel()
        if process.poll() is None:
            stop()
    if late.is_set():
        done.ended = f"It was stopped after {minutes:.3g} minutes; its other cases are not here."
    elif status not in (0, 1):  # 1 is an answer that is wrong, which its line says
        done.ended = f"It broke off with status {status}; its other cases are not here."
    return done


# The page.


def about() -> str:
    """The day, the machine and the versions of this run."""
    found = report.environment()
    versions, absent = [], []
    for name in (*PEERS, "numpy", "scipy", "ingenuo"):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            absent.append(name)
    lines = [
        f"Run of {date.today():%d %B %Y} on {found['machine']}, {found['cores']} cores, Python {found['python']}: "
        f"{', '.join(versions)}.",
        f"Not installed, so that they raced nobody: {', '.join(absent)}." if absent else "",
        f"The machine did other work (load {found['load']:.1f}), so the ratios are rough."
        if (found["load"] or 0) > found["cores"] / 2
        else "",
    ]
    return " ".join(line for line in lines if line)


def better(result: Mapping[str, Any]) -> bool:
    """Whether our figure is as good as the peer's, or better."""
    more = result["unit"] == DIFFERENCE or result["unit"] in MORE_IS_BETTER
    return bool(result["ours"] >= result["peer"] if more else result["ours"] <= result["peer"])


def ratio(result: Mapping[str, Any]) -> str:
    """How much better ours is: times as fast, or points of a share."""
    if result["unit"] == DIFFERENCE:
        return f"{result['ours'] - result['peer']:+.2f}"
    return f"{result['ratio']:.3g}×" if result["peer"] else "–"


def ratio_of_cpu(result: Mapping[str, Any]) -> str:
    """How many times as many seconds of the processor the peer takes, all threads together."""
    cpu = result.get("cpu")
    return f"{cpu[0] / max(cpu[1], 1e-9):.3g}×" if cpu else ""


def table(run: Run) -> str:
    """A suite as Markdown: its size, a line for each case, who wins, and what is missing."""
    measured = [each for each in run.results if SKIPPED not in each]
    lines = [f"`python -m benchmarks {run.suite} --rows {run.rows} --repeat {run.repeat}`: {about()}", ""]
    if measured:
        lines += ["| case | peer | ours | ratio | of CPU | answers differ by |", "|---|---:|---:|---:|---:|---:|"]
    for each in measured:
        unit, differs = each["unit"], each["difference"]
        shown = "" if differs is None else f"{differs:.0e}" if differs else "0"
        wrong = " WRONG" if each["agrees"] is False else ""
        cells = [each["name"], f"{each['peer']:.4g} {unit}", f"{each['ours']:.4g} {unit}", ratio(each)]
        cells += [ratio_of_cpu(each), shown + wrong]
        lines.append(f"| {' | '.join(cells)} |")
    compared = [each for each in measured if each["peer"]]
    lost = [each["name"] for each in compared if not better(each)]
    if compared:
        lines += ["", f"Ours is as good or better in {len(compared) - len(lost)} of {len(compared)}{speed(compared)}."]
    if lost:
        lines += ["", f"The peer is better in: {'; '.join(lost)}."]
    for why in dict.fromkeys(each[SKIPPED] for each in run.results if SKIPPED in each):
        names = [each["name"] for each in run.results if each.get(SKIPPED) == why]
        lines += ["", f"Not measured ({why}): {'; '.join(names)}."]
    return "\n".join([*lines, *(["", run.ended] if run.ended else [])])


def speed(compared: Sequence[Mapping[str, Any]]) -> str:
    """The typical ratio of what was timed."""
    timed = [each for each in compared if each["unit"] == "s" and each["ratio"] > 0]
    if len(timed) < 2:
        return ""
    said = f"; the geometric mean of the ratios of seconds is {geometric([each['ratio'] for each in timed]):.2g}×"
    spent = [each["cpu"][0] / max(each["cpu"][1], 1e-9) for each in timed if each.get("cpu") and each["cpu"][0]]
    return f"{said}, of those of the processor {geometric(spent):.2g}×" if len(spent) == len(timed) else said


def geometric(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def of_commands(*calls: Sequence[str]) -> str:
    """What suites of their own kind print: the page and the exports, the server."""
    parts = [about()]
    for words in calls:
        done = subprocess.run([sys.executable, "-m", "benchmarks", *words], capture_output=True, text=True, check=False)
        said = done.stdout.rstrip() or (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        shown = " ".join("PYTHON" if before == "--peers" else word for before, word in zip(("", *words), words))
        parts.append(f"`python -m benchmarks {shown}`:\n\n```\n{said}\n```")
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them, and print or write what they reported."""
    from benchmarks.__main__ import SUITES, rows_of

    parser = argparse.ArgumentParser(prog="python -m benchmarks all", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows, and minutes in place of hours; no `quality`")
    parser.add_argument("--only", action="append", default=[], metavar="SUITE", help="only this; may be repeated")
    parser.add_argument("--minutes", type=float, help="of all suites at most (default: 14 if quick, else 60 each)")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="a JSON file for what the peers of `quality` answer")
    parser.add_argument("--peers", metavar="PYTHON", help="the interpreter of the peers of `serve`")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write into this page, between its markers")
    given = parser.parse_args(arguments)
    peers = ("--peers", given.peers) if given.peers else ()
    commands = {  # quick, and as they are meant
        "page": ([("page", "--rows", "100000")], [("page", "--rows", "1000000")]),
        "serve": (
            [("serve", "--seconds", "1", *peers), ("serve", "--faults", "--share", "0.05")],
            [("serve", *peers), ("serve", "--faults"), ("serve", "--soak", "1000000")],
        ),
    }
    names = [*QUICK, *commands, "quality"]
    if unknown := [name for name in given.only if name not in names]:
        parser.error(f"there is no suite {unknown[0]!r}; there are {', '.join(names)}")
    chosen = [name for name in names if (name in given.only if given.only else name != "quality" or not given.quick)]
    if given.minutes is not None and not given.minutes > 0:
        parser.error(f"--minutes is {given.minutes:g}; give more than 0")
    if given.write and not given.write.is_file():
        parser.error(f"there is no page {given.write}")
    shares = sum(share for name, (*_, share) in QUICK.items() if name in chosen)
    status = 0
    for name in chosen:
        if name == "quality":
            call = [sys.executable, "-m", "benchmarks", "quality"]
            call += ["--cache", str(given.cache)] if given.cache else []
            call += ["--write", str(given.write)] if given.write else []
            status |= subprocess.run(call, check=False).returncode
            continue
        if name in commands:
            section = of_commands(*commands[name][not given.quick])
        else:
            rows, repeat, share = QUICK[name]
            total = given.minutes or (QUICK_MINUTES if given.quick else 60.0 * len(chosen))
            run = measure(
                name,
                rows if given.quick else rows_of(name),
                repeat if given.quick else 5,
                total * share / shares,
            )
            status |= any(each.get("agrees") is False for each in run.results)
            section = table(run)
        if given.write:
            write(given.write, {f"suite {name}": section})  # at once, so that what is done is kept
        else:
            print(f"## {name}: {SUITES.get(name, COMMANDS.get(name))}\n\n{section}\n", flush=True)
    return int(status)
