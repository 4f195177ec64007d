"""The command line: how fast files become models and answers; `start` has what its start costs.

Work is timed within the process, through the functions that the commands call; the seconds of the whole command in a
new process, its start included, are noted beside it. The peer of learning is `pyarrow.csv.read_csv`, by its defaults
and on all its threads: it only reads. The peer of answering is pandas and scikit-learn. Files are made in a temporary
folder, which goes when the process ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from scipy.special import logsumexp

from benchmarks import data
from benchmarks.by_hand import JoinedByHand, as_scikit_learn, joint_without_missing
from benchmarks.cases import Case, Duel, Pace
from benchmarks.processes import command, place, spent_by
from benchmarks.report import Bar, farthest
from ingenuo import store
from ingenuo.cli import main as command_line
from ingenuo.cli.work.train import Done, train
from ingenuo.rows.files.scan import scan

ROWS = 1_000_000  # texts; the tables have a share of them
LEARNED = 0.75  # of the rows: 100 MB of a table
ANSWERED = 0.5
VALUES = 200  # of a category, at most
SAMPLE = slice(0, 2000)  # the rows whose answers are compared
CLASS, LABEL = "class", "label"


# The files.


def table_of(rows: int) -> data.Mixed:
    """Ten numbers of four decimals and ten columns of 3 to 200 strings, some cells missing."""
    table = data.mixed(rows)
    codes = np.where(table.codes < 0, -1, table.codes % VALUES)
    labels = [each[:VALUES] for each in table.labels]
    return replace(table, values=table.values.round(4), codes=codes, labels=labels)


def with_class(table: data.Mixed) -> pa.Table:
    """The table as Arrow, its class among the columns."""
    return table.arrow(strings=True).append_column(CLASS, pa.array([f"class {k}" for k in table.y.tolist()]))


@cache
def _forms(words: int = 50_000) -> pa.Array:
    """Made-up words of three to nine letters, and each of them again with a comma."""
    rng = np.random.default_rng(8)
    letters = np.array(list("etaoinshrdlucmfwygpbvk"))
    drawn = ("".join(rng.choice(letters, size)) for size in iter(lambda: int(rng.integers(3, 10)), None))
    found: dict[str, None] = {}
    while len(found) < words:
        found[next(drawn)] = None
    return pa.array([*found, *(f"{word}," for word in found)])


def texts_of(rows: int, seed: int = 9) -> pa.Table:
    """Texts of 12 to 40 words by Zipf's law, with commas, and four labels that each have their own frequent words."""
    rng = np.random.default_rng(seed)
    n_words = len(_forms()) // 2
    lengths = rng.integers(12, 41, rows)
    label = rng.integers(0, 4, rows)
    n = int(lengths.sum())
    # Logarithms of ranks are uniform: by Zipf's law, a rank has the share 1 / rank.
    ranks = np.minimum(np.exp(rng.random(n) * np.log(n_words)).astype(np.int32), n_words - 1)
    own = rng.random(n, np.float32) < 0.2
    ranks[own] = (ranks[own] + 100 * (1 + np.repeat(label, lengths)[own])) % n_words
    ranks += n_words * (rng.random(n, np.float32) < 0.08)
    words = _forms().take(pa.array(ranks))
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    texts = pc.binary_join(pa.ListArray.from_arrays(pa.array(ends), words), " ")
    return pa.table({LABEL: pa.array([f"topic {k}" for k in label.tolist()]), "text": texts})


def write(parts: Iterator[pa.Table], path: Path, *, quotes: bool = False) -> Path:
    """A CSV file of some tables; every string in quotes, or none."""
    options = csv.WriteOptions(quoting_style="needed" if quotes else "none")
    first = next(parts)
    with csv.CSVWriter(path, first.schema, write_options=options) as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(part)
    return path


# The commands.


def whole(*arguments: object) -> str:
    """What is noted of a whole command: its seconds, the second time it is called."""
    call = [*command(), *map(str, arguments)]
    spent_by(call)
    return f"whole command {spent_by(call).clock:.3g} s"


# What is timed.


def learned(path: Path, target: str) -> Done:
    """What `ingenuo train` does, with scikit-learn's Gaussians, but for the writing of the model."""
    return train(as_scikit_learn(), scan([path], target=target), target)


def learning(path: Path, target: str, difference: Callable[[pa.Table, Done], float]) -> Duel:
    """pyarrow reads the file, we read it and learn it."""
    megabytes = path.stat().st_size / 1e6

    def remark(*_: Any) -> str:
        return f"{megabytes:.4g} MB, " + whole("train", path, "--target", target, "-o", place("learned.ingenuo"))

    return Duel(
        lambda: csv.read_csv(path),
        lambda: learned(path, target),
        difference,
        path.stat().st_size,
        (megabytes, megabytes),
        remark,
    )


def learning_tables(rows: int) -> Duel:
    """A table; the answers must be those of scikit-learn's models of one column each."""
    table = table_of(int(rows * LEARNED))
    path = write(iter([with_class(table)]), place("learned.csv"))
    truth, sample = joint_without_missing(table, SAMPLE), table.arrow(strings=True).slice(0, SAMPLE.stop)
    return learning(path, CLASS, lambda _, own: farthest(truth, own.model.predict_joint_log_proba(sample)))


def learning_texts(rows: int) -> Duel:
    """Texts; the sums must be those of the rows that pyarrow has read, learned at once."""
    sizes = [min(100_000, rows - start) for start in range(0, rows, 100_000)]
    path = write((texts_of(size, seed) for seed, size in enumerate(sizes)), place("texts.csv"), quotes=True)
    return learning(path, LABEL, lambda read, own: float(as_scikit_learn().fit(read, LABEL).tally_ != own.model.tally_))


def answer(model: Path, path: Path, output: Path) -> Path:
    """`ingenuo predict` with all digits, called within the process."""
    call = ["predict", str(model), str(path), "-o", str(output), "--digits", "17", "--quiet"]
    command_line(call, standalone_mode=False)
    return output


def answer_by_hand(model: JoinedByHand, path: Path, output: Path) -> Path:
    """The same with pandas and scikit-learn."""
    frame = pd.read_csv(path)
    posterior = model.predict_proba(frame)
    answers = {"predicted": posterior.argmax(axis=1), "probability": posterior.max(axis=1)}
    frame.assign(**answers).to_csv(output, index=False)
    return output


def answering_tables(rows: int) -> Duel:
    """A table with the answers beside it; the sample's classes and probabilities must be the true ones."""
    table = table_of(int(rows * ANSWERED))
    path, kept = write(iter([table.arrow(strings=True)]), place("asked.csv")), place("answering.ingenuo")
    store.save(as_scikit_learn().fit(with_class(table), CLASS), kept)
    by_hand = JoinedByHand(table.values.shape[1], len(table.labels)).fit(pd.read_csv(path), table.y)
    joint = joint_without_missing(table, SAMPLE)
    truth = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def difference(_: Path, output: Path) -> float:
        found = pd.read_csv(output, nrows=SAMPLE.stop)
        right = found["predicted"] == [f"class {k}" for k in truth.argmax(axis=1)]
        return farthest(truth.max(axis=1), found["probability"]) if right.all() else float("nan")

    def remark(*_: Any) -> str:
        return f"{path.stat().st_size / 1e6:.4g} MB, " + whole("predict", kept, path, "-o", place("whole.csv"))

    return Duel(
        lambda: answer_by_hand(by_hand, path, place("by hand.csv")),
        lambda: answer(kept, path, place("answers.csv")),
        difference,
        path.stat().st_size,
        (len(table.y) / 1e3, len(table.y) / 1e3),
        remark,
    )


def cases() -> list[Case]:
    """Every case of this suite."""
    return [
        Pace("train, mixed columns, over reading alone", "MB/s", Bar(0.5), learning_tables),
        Pace("train, texts, over reading alone", "MB/s", Bar(least=50), learning_texts),
        Pace("predict to CSV, 20 mixed columns", "k rows/s", Bar(least=300), answering_tables),
    ]
