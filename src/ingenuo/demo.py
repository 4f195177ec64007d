"""What `ingenuo demo` shows, as titles and texts."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from ingenuo.container import replace_file
from ingenuo.data import diabetes, play_tennis
from ingenuo.estimators.naive_bayes import NaiveBayes
from ingenuo.prior import Laplace, MaximumLikelihood
from ingenuo.store import load, save
from ingenuo.training.writing import written


def run(seed: int = 0) -> Iterator[tuple[str, str]]:
    """Learn, answer, explain, forget, merge and save on two small tables."""
    yield "PlayTennis: 14 days, no smoothing", _tennis()
    table = diabetes()
    order = np.random.default_rng(seed).permutation(table.num_rows)
    train, test = table.take(pa.array(order[:300])), table.take(pa.array(order[300:]))
    start = time.perf_counter()
    model = NaiveBayes(prior=Laplace()).fit(train, "progression")
    yield (
        "Diabetes: numbers and categories with 5 % holes",
        _diabetes(model, test, time.perf_counter() - start),
    )
    yield "Forgetting", _forgetting(model, train)
    yield "Merging", _merging(model, train)
    yield "Saving", _saving(model)


def save_tables(folder: str | Path) -> list[Path]:
    """Write the two tables as CSV files to a folder."""
    paths = []
    for name, table in (("play_tennis", play_tennis()), ("diabetes", diabetes())):
        path = Path(folder) / f"{name}.csv"
        replace_file(os.path.realpath(path), written([table], "csv"))
        paths.append(path)
    return paths


def _tennis() -> str:
    table = play_tennis()
    model = NaiveBayes(prior=MaximumLikelihood()).fit(table, "Play")
    right = model.score(table, "Play")
    day = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}
    return (
        f"It answers {right * table.num_rows:.0f} of its {table.num_rows} days right. A new day, worked by hand:\n\n"
        f"{model.explain(day)}"
    )


def _diabetes(model: NaiveBayes, test: pa.Table, seconds: float) -> str:
    y = test["progression"].to_pylist()
    right = model.score(test, "progression")
    majority = max(y.count(name) for name in set(y)) / len(y)
    lines = [
        f"Learned 300 patients in {seconds * 1000:.1f} ms.",
        f"Accuracy on {len(y)} others: {right:.3f} (always the most frequent class: {majority:.3f}).",
        "",
        str(model.schema_),
        "",
        "The first of them, with its arithmetic:",
        "",
        str(model.explain(test.slice(0, 1))),
    ]
    return "\n".join(lines)


def _forgetting(model: NaiveBayes, train: pa.Table) -> str:
    before = model.tally_
    some, rest = train.slice(0, 20), train.slice(20)
    model.forget(some, "progression")
    never = NaiveBayes().fit(rest, "progression")
    same = model.tally_ == never.tally_
    model.partial_fit(some, "progression")
    return (
        f"20 patients forgotten. Equal, bit for bit, to a model that never saw them: {_answer(same)}.\n"
        f"Learned again. Equal, bit for bit, to the model before: {_answer(model.tally_ == before)}."
    )


def _merging(model: NaiveBayes, train: pa.Table) -> str:
    here = NaiveBayes().fit(train.slice(0, 100), "progression")
    there = NaiveBayes().fit(train.slice(100), "progression")
    return (
        "One model learned from 100 patients, another from 200 others; merged they are equal, bit for bit, to the "
        f"one that saw all: {_answer((here + there).tally_ == model.tally_)}."
    )


def _saving(model: NaiveBayes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ingenuo"
        save(model, path)
        size = path.stat().st_size
        same = load(path).tally_ == model.tally_
    return f"The model is one file of {size:,} bytes; loaded again it is the same: {_answer(same)}."


def _answer(same: bool) -> str:
    return "yes" if same else "NO"
