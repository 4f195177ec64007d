"""What the vote costs: answers a second, and a file of five million rows beside one plain pass over it.

The table has ten numbers, ten columns of 3 to 200 strings, missing cells and two classes. The file is a block of rows
again and again; pyarrow reads it whole, on all its threads, and that is the plain pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyarrow import csv

import ingenuo as ing
from benchmarks import cli, larger_than_memory, peers
from benchmarks.arff import Table
from benchmarks.cases import Case, Duel, Pace
from benchmarks.data import Mixed
from benchmarks.processes import place
from benchmarks.report import Bar, Result
from benchmarks.timing import seconds

ROWS = 5_000_000
LEARNED, ASKED = 20_000, 200_000  # rows of a model, and those that it answers for
BLOCK = 250_000  # rows that are written again and again


def two_classes(rows: int) -> Mixed:
    """The table of the command's cases, with two of its classes for five."""
    table = cli.table_of(rows)
    return replace(table, y=table.y // 3)


def answering(rows: int) -> Duel:
    """Answers of both for as many rows as are asked, or fewer where fewer are there."""
    asked, learned = min(rows, ASKED), min(rows, LEARNED)
    table = two_classes(asked)
    frame = table.pandas()
    kinds = {name: "number" if name.startswith("n") else "category" for name in frame}
    ours = ing.BayesClassifier().fit(frame.iloc[:learned], table.y[:learned])
    theirs = peers.histograms(Table("made up", frame, kinds, table.y.astype(object))).fit(
        frame.iloc[:learned], table.y[:learned]
    )
    amount = asked / 1e3
    return Duel(
        lambda: theirs.predict_proba(frame),
        lambda: ours.predict_proba(frame),
        None,
        asked * frame.shape[1] * 8,
        (amount, amount),
    )


@dataclass(frozen=True)
class Whole:
    """The command learns a file; the peer only reads it."""

    name: str
    times: float  # of the pass, at most

    def measure(self, rows: int, repeat: int) -> Result:
        """Seconds by the clock; those of all threads and the peak of memory are noted."""
        block, whole = place("block.csv"), place("whole.csv")
        size = min(rows, BLOCK)
        cli.write(iter([cli.with_class(two_classes(size))]), block)
        times = larger_than_memory.repeat(block, whole, block.stat().st_size * rows // size)
        passed, passed_cpu, read = seconds(lambda: csv.read_csv(whole).num_rows)
        own = larger_than_memory.learn(whole, cli.CLASS, place("whole.ingenuo"))
        whole.unlink()
        note = f"{times * size:,} rows; of all threads {passed_cpu:.3g} / {own.cpu:.3g} s; peak {own.peak / 1e6:.0f} MB"
        difference = float(read != times * size)
        return Result(self.name, "s", passed, own.seconds, Bar(1 / self.times), difference, note=note)


def cases() -> list[Case]:
    """Of the vote."""
    return [
        Pace("answers, 20 columns, 2 classes", "k rows/s", Bar(least=200), answering),
        Whole("a file of 20 columns, over one plain pass", 6.0),
    ]
