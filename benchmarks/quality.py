"""How right every model is by its defaults, over public tables and texts, beside its peers: docs/benchmarks.md.

Ten folds, stratified and shuffled with a fixed seed, the same for all. Of each model: accuracy, log loss with
probabilities of at least 1e-15, the calibration error of all answers together, and the seconds of a fit and of the
answers. Every model works on one thread, but for CatBoost, which has two. What the peers answer is kept in a file, by
table, folds and the peer's version, so that they run once; ours always run.

    python -m benchmarks quality --cache peers.json --write docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import ingenuo as ing
from benchmarks import quality_large, quality_page, report, trust_text
from benchmarks.arff import Table, foldable_tables
from benchmarks.cases import run as measure
from benchmarks.peers import PEERS, TEXT_PEERS, Model
from benchmarks.published import FOLDS
from benchmarks.quality_page import COLLECTIONS, VOTE, Fold, Found, Score
from benchmarks.report import Absent
from benchmarks.timing import seconds
from ingenuo.kernels.threads import limited

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Make = Callable[[Any], Any]  # a model, made for the columns of a table; texts have none

LEAST = 1e-15  # of a probability, before its logarithm is taken
BINS = 10  # of the calibration error, of equal width
# zoo has 84 animals, the name of each in a column, and no errors of anyone; most readers of ARFF refuse its file.
LEFT_OUT = ("zoo",)
BUDGET, FEW = 600.0, 3  # a peer that would spend so many seconds on a table's folds has so many of them, or one


# The models.


def _of_table(name: str, *structure: str, **settings: Any) -> Model:
    """One of our models, with the columns' kinds as the file declares them."""
    return Model(lambda table: getattr(ing, name)(*structure, columns=dict(table.kinds), **settings), None)


def _of_texts(name: str, **settings: Any) -> Model:
    return Model(lambda _: getattr(ing, name)(**settings), None)


def _weighted(_: Any) -> Any:
    words = ing.Words(ngrams=(1, 2), binary=True, token=r"\w+")
    return ing.SoftmaxRegression(text=words, weighting="naive-bayes")


OURS: Mapping[str, Model] = {
    VOTE: _of_table("BayesClassifier"),
    "BayesClassifier, additive": _of_table("BayesClassifier", members="additive"),
    "network": _of_table("NetworkClassifier", "kdb", smoothing="back-off", weighting="levels", verbose=False),
    "discriminant": _of_table("GaussianDiscriminant", covariance="regularised"),
    "softmax": _of_table("SoftmaxRegression", l2="auto"),
    "softmax, interactions": _of_table("SoftmaxRegression", l2="auto", interactions="auto"),
    "boosted trees": _of_table("BoostedTrees"),
    "NaiveBayes, tuned": _of_table("NaiveBayes", tune=True, calibration="auto"),
    "NaiveBayes": _of_table("NaiveBayes"),
}
TEXT_OURS: Mapping[str, Model] = {
    VOTE: _of_texts("BayesClassifier"),
    "softmax, naive-Bayes weights": Model(_weighted, None),
    "NaiveBayes, tuned": _of_texts("NaiveBayes", tune=True, calibration="auto"),
    "NaiveBayes": _of_texts("NaiveBayes"),
}

MODELS: Mapping[str, Mapping[str, Model]] = {"tables": {**OURS, **PEERS}, "texts": {**TEXT_OURS, **TEXT_PEERS}}


# What they are asked.


@dataclass(frozen=True)
class Task:
    """Rows of known classes, and which of them are answered for by a model of which others."""

    name: str
    codes: Places
    parts: list[tuple[Places, Places]]
    # For the places of both parts: what the model is made for, and the rows of each.
    rows: Callable[[Places, Places], tuple[Any, Any, Any]]


def _folds(codes: Places) -> list[tuple[Places, Places]]:
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(codes, codes))


def tables_of_bars() -> list[Table]:
    """The public tables, without the one that is left out."""
    return [table for table in foldable_tables() if table.name not in LEFT_OUT]


def of_table(table: Table) -> Task:
    """Ten folds; columns without a value in nine of them are left out."""

    def rows(train: Places, test: Places) -> tuple[Any, Any, Any]:
        known = table.only([name for name in table.kinds if table.frame[name].iloc[train].notna().any()])
        return known, known.frame.iloc[train], known.frame.iloc[test]

    codes = np.unique(table.y, return_inverse=True)[1]
    return Task(table.name, codes, _folds(codes), rows)


def of_texts(name: str) -> Task:
    """A collection with a test part, or ten folds, the official ones where there are any."""
    if name in trust_text.TESTED:
        both = trust_text.TESTED[name](sys.maxsize)
        texts, labels = both.train.texts + both.test.texts, both.train.labels + both.test.labels
        places, n = np.arange(len(texts)), len(both.train.texts)
        parts = [(places[:n], places[n:])]
    else:
        given = trust_text.FOLDED[name]()
        texts, labels, parts = given.texts, given.labels, list(trust_text.folds_of(given))

    def rows(train: Places, test: Places) -> tuple[Any, Any, Any]:
        return None, [texts[place] for place in train], [texts[place] for place in test]

    return Task(name, np.unique(labels, return_inverse=True)[1], parts, rows)


# Their answers.


def judge(codes: Places, probabilities: Floats, fit: Sequence[float], predict: Sequence[float]) -> Fold:
    """Score the answers for one fold; the seconds are by the clock, and of all threads."""
    clipped = np.clip(probabilities, LEAST, 1.0)
    truth = (clipped / clipped.sum(axis=1, keepdims=True))[np.arange(len(codes)), codes]
    right, sure = probabilities.argmax(axis=1) == codes, probabilities.max(axis=1)
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    gaps = tuple(np.bincount(bins, right - sure, BINS).tolist())
    loss = -float(np.log(truth).mean())
    return Fold(len(codes), 100 * float(right.mean()), loss, gaps, fit[1], fit[0], predict[1], predict[0])


def answer(make: Make, task: Task, places: Iterable[int]) -> list[Fold]:
    """Score these folds, each answered for by a model of the others."""
    found = []
    for train, test in (task.parts[place] for place in places):
        given, known, asked = task.rows(train, test)
        with limited(1), threadpool_limits(1):
            model = make(given)
            *fit, fitted = seconds(lambda: model.fit(known, task.codes[train]))  # noqa: B023
            *predict, probabilities = seconds(lambda: np.asarray(fitted.predict_proba(asked)))  # noqa: B023
        found.append(judge(task.codes[test], probabilities, fit, predict))
    return found


class Cache:
    """The folds of peers, in a JSON file that is written whole after each table."""

    def __init__(self, path: Path | None, budget: float = BUDGET) -> None:
        self.path, self.budget = path, budget
        known = json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else {}
        self.folds = {key: [Fold(**fold) for fold in each] for key, each in known.items()}

    def ask(self, key: str, wanted: int, run: Callable[[Iterable[int]], list[Fold]]) -> list[Fold]:
        """The first so many folds, of which those that are known are not run again."""
        known = self.folds.get(key) or run([0])
        if known[0].fit * wanted > self.budget:
            allowed = FEW if known[0].fit * FEW <= self.budget else 1
            wanted = min(wanted, max(allowed, len(known)))
        known = known + run(range(len(known), wanted))
        if len(self.folds.get(key, [])) < len(known):
            self.folds[key] = known
            self._write()
        return known[:wanted]

    def _write(self) -> None:
        if self.path is not None:
            new = self.path.with_suffix(".new")
            plain = {key: [asdict(fold) for fold in each] for key, each in self.folds.items()}
            new.write_text(json.dumps(plain), encoding="utf-8")
            os.replace(new, self.path)


def run(tasks: Sequence[Task], models: Mapping[str, Model], wanted: int, cache: Cache) -> Found:
    """Let each model answer for each task; one that is not there is named and left out."""
    gc.freeze()  # every timed call begins with a collection of garbage, and what is there now is none
    found: Found = {}
    for name, model in models.items():
        found[name] = {}
        try:
            for task in tasks:
                answers = found[name][task.name] = _asked(name, model, task, min(wanted, len(task.parts)), cache)
                print(f"{name}, {task.name}: {Score.of(answers)}", file=sys.stderr, flush=True)
        except Absent as missing:
            del found[name]
            print(f"{name} is left out: {missing}", file=sys.stderr, flush=True)
    return found


def _asked(name: str, model: Model, task: Task, folds: int, cache: Cache) -> list[Fold]:
    if model.version is None:
        return answer(model.make, task, range(folds))
    key = f"{task.name}, {len(task.codes)} rows | {len(task.parts)} folds, seed 0 | {name}, {model.version}"
    return cache.ask(key, folds, lambda places: answer(model.make, task, places))


# The command.


def _chosen(given: Sequence[str], every: Iterable[str]) -> list[str]:
    """Names that contain one of the texts; all where none is given."""
    return [name for name in every if not given or any(text.lower() in name.lower() for text in given)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the models, and print or write what they reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks quality", description=__doc__.split("\n")[0])
    parser.add_argument("--cache", type=Path, metavar="FILE", help="a JSON file for what the peers answered")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only models with NAME in them")
    parser.add_argument(
        "--tables", action="append", default=[], metavar="NAME", help="only tables and collections with NAME in them"
    )
    parser.add_argument("--folds", type=int, default=FOLDS, metavar="N", help="the first N of the ten folds")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write into this page, between its markers")
    parser.add_argument("--large", action="store_true", help="time answers and a large file instead")
    given = parser.parse_args(arguments)
    if not 1 <= given.folds <= FOLDS:
        parser.error(f"--folds is {given.folds}; give 1 to {FOLDS}")
    if given.write and (given.only or given.tables or given.folds < FOLDS):
        parser.error("--write wants all models, tables and folds; leave out --only, --tables and --folds")
    if given.large:
        for line in report.lines(measure(quality_large.cases(), quality_large.ROWS, 3)):
            print(line, flush=True)
        return 0
    try:
        asked = {
            "tables": _tasks({table.name: partial(of_table, table) for table in tables_of_bars()}, given.tables),
            "texts": _tasks({name: partial(of_texts, name) for name in COLLECTIONS}, given.tables),
        }
    except Absent as missing:
        parser.error(str(missing))
    if not any(asked.values()):
        parser.error(f"no table or collection has {' or '.join(map(repr, given.tables))} in its name")
    cache = Cache(given.cache)
    sections: dict[str, str] = {}
    for section, tasks in asked.items():
        models = {name: MODELS[section][name] for name in _chosen(given.only, MODELS[section])}
        found = run(tasks, models, given.folds, cache)
        if tasks and found:
            sections[section] = quality_page.SECTIONS[section](found)
            if given.write and section == "tables":
                quality_page.draw(found, given.write.parent / "pictures" / quality_page.PICTURE)
    if given.write:
        quality_page.write(given.write, sections)
    else:
        print("\n\n".join(sections.values()))
    return 0


def _tasks(every: Mapping[str, Callable[[], Task]], names: Sequence[str]) -> list[Task]:
    return [every[name]() for name in _chosen(names, every)]


if __name__ == "__main__":
    sys.exit(main())
