"""How right network classifiers are over public tables: accuracy and log loss, beside naive Bayes and a forest.

Every ARFF file counts that has ten rows of two classes; smaller classes are set aside. Ten folds, stratified and
shuffled; columns without a value in nine folds are left out for all. Networks cut numbers into intervals, and naive
Bayes takes them as they come; the forest has a column for each category, and what is missing imputed.
`python -m benchmarks.networks_tables` prints every set.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed  # type: ignore[import-untyped]
from numpy.typing import NDArray

from benchmarks.arff import Table, foldable_tables
from benchmarks.peers import FOREST, forest
from benchmarks.report import Absent, Bar, Result
from benchmarks.trust_tables import Score, score_of
from ingenuo.evaluation.significance import wilcoxon
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier

Floats = NDArray[np.float64]

SEED = 0


# The models.


def network(structure: str, **settings: Any) -> Callable[[Table], NetworkClassifier]:
    """A network classifier of that structure."""
    return lambda table: NetworkClassifier(structure, columns=dict(table.kinds), verbose=False, **settings)


PLAIN, TAN, NAIVE = "NaiveBayes", "tan", "naive"

MODELS: dict[str, Callable[[Table], Any]] = {
    PLAIN: lambda table: NaiveBayes(dict(table.kinds)),
    NAIVE: network("naive"),
    TAN: network("tan"),
    "kdb, k = 1": network("kdb", k=1),
    "kdb, k = 2": network("kdb", k=2),
    "aode": network("aode"),
    "hill-climb": network("hill-climb"),
    FOREST: forest,
}


# Their answers.


def score(model: str, table: Table) -> Score:
    """Every row answered for by a model of the other nine folds."""
    return score_of(MODELS[model], table, SEED)


@cache
def tables(rows: int) -> dict[str, Table]:
    """The tables, at most so many rows of each."""
    return {table.name: table.at_most(rows) for table in foldable_tables()}


_scores: dict[tuple[str, str, int], Score] = {}  # of model, table and rows


def scores(models: Iterable[str], names: Iterable[str], rows: int) -> dict[str, dict[str, Score]]:
    """Of each of these tables the scores of each of these models; what is known already is not counted again."""
    models, names = list(models), list(names)
    asked = [(model, name, rows) for name in names for model in models if (model, name, rows) not in _scores]
    given = tables(rows)
    # The largest first, so that no process waits for another at the end.
    asked.sort(key=lambda each: -len(given[each[1]].y) * len(given[each[1]].kinds))
    found = Parallel(n_jobs=cpu_count())(delayed(score)(model, given[name]) for model, name, _ in asked)
    _scores.update(zip(asked, found))
    return {name: {model: _scores[model, name, rows] for model in models} for name in names}


def forget() -> None:
    """Forget all scores and tables."""
    _scores.clear()
    tables.cache_clear()


def of_sets(found: dict[str, dict[str, Score]], model: str, measure: str) -> Floats:
    """The scores of a model, a set each."""
    return np.array([getattr(models[model], measure.replace(" ", "_")) for models in found.values()])


# What is said of them.


@dataclass(frozen=True)
class Published:
    """The accuracy on a table, beside the published one of the same kind of network."""

    table: str
    model: str
    published: float
    least: float

    @property
    def name(self) -> str:
        return f"{self.table}: accuracy of {self.model}"

    def measure(self, rows: int, repeat: int) -> Result:
        """Ten folds."""
        if self.table not in tables(rows):
            raise Absent(f"the file {self.table}.arff is not there; set INGENUO_DATA to the folder that has tables/")
        found = scores([self.model], [self.table], rows)[self.table][self.model]
        note = f"{len(tables(rows)[self.table].y):,} rows, log loss {found.log_loss:.3f}; the peer is bnclassify"
        return Result(self.name, "%", self.published, found.accuracy, Bar(least=self.least), note=note)


@dataclass(frozen=True)
class OverDiscrete:
    """The mean accuracy of TAN over the tables without numbers, above that of naive Bayes."""

    name: str = "discrete tables: accuracy of tan"

    def measure(self, rows: int, repeat: int) -> Result:
        """All folds of these tables, once."""
        discrete = [name for name, table in tables(rows).items() if not table.numbers]
        if not discrete:
            raise Absent("none of the tables is without numbers; set INGENUO_DATA to a folder that has tables/car.arff")
        found = scores((PLAIN, NAIVE, TAN), discrete, rows)
        plain, naive, tan = (of_sets(found, model, "accuracy") for model in (PLAIN, NAIVE, TAN))
        losses = [float(of_sets(found, model, "log loss").mean()) for model in (PLAIN, TAN)]
        note = (
            f"{len(found)} tables, against NaiveBayes, better on {int((tan > plain).sum())} and worse on "
            f"{int((tan < plain).sum())}; the network without arcs between columns {naive.mean():.2f} %; "
            f"log loss {losses[0]:.3f} / {losses[1]:.3f}"
        )
        bar = Bar(least=math.nextafter(float(plain.mean()), math.inf))
        return Result(self.name, "%", float(plain.mean()), float(tan.mean()), bar, note=note)


def cases() -> list[Published | OverDiscrete]:
    """Of tables; what is published of car is whole percents, 86 and 93 to 94."""
    return [Published("car", NAIVE, 86.0, 85.5), Published("car", TAN, 93.5, 93.0), OverDiscrete()]


def markdown(found: dict[str, dict[str, Score]]) -> list[str]:
    """A table of every set for each measure, with the means, and what a test says."""
    models = list(next(iter(found.values())))
    lines = []
    for measure, form in (("accuracy", ".2f"), ("log loss", ".3f"), ("seconds", ".3f")):
        lines += ["", f"| {measure} | {' | '.join(models)} |", "|---|" + "---:|" * len(models)]
        columns = [of_sets(found, model, measure) for model in models]
        for name, *row in zip([*found, "**mean**"], *([*each, each.mean()] for each in columns)):
            lines.append(f"| {name} | " + " | ".join(format(each, form) for each in row) + " |")
        if measure != "seconds" and PLAIN in models:
            lines += ["", f"Against {PLAIN}, {measure}:", ""]
            others = ((model, own) for model, own in zip(models, columns) if model != PLAIN)
            lines += [f"- {model}: {wilcoxon(own, of_sets(found, PLAIN, measure)).sentence}" for model, own in others]
    return [*lines, "", "Seconds are those of a fit on one processor."]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks_tables", description="Accuracy and log loss.")
    parser.add_argument("--rows", type=int, default=sys.maxsize, help="rows of a table at most (default: all)")
    parser.add_argument("--only", action="append", choices=list(MODELS), help="only this model (several times)")
    given = parser.parse_args(arguments)
    try:
        found = scores(given.only or MODELS, tables(given.rows), given.rows)
    except Absent as missing:
        parser.error(str(missing))
    print(f"Ten folds over {len(found)} tables: `python -m benchmarks.networks_tables`.")
    print("\n".join(markdown(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
