"""How right naive Bayes is that tunes and calibrates itself, over public tables: accuracy and log loss.

Every ARFF file counts that has ten rows of two classes; smaller classes are set aside. Ten folds, stratified and
shuffled, three times with other seeds; columns without a value in nine folds are left out for all. Peers are
scikit-learn's naive Bayes with the usual encoders, missing values imputed, and logistic regression. Of the sets' means
the best naive Bayes of scikit-learn is the one to beat. `python -m benchmarks.trust_tables` prints every set.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed  # type: ignore[import-untyped]
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.arff import Table, foldable_tables
from benchmarks.peers import BINNED, JOINED, LOGISTIC, PEERS
from benchmarks.published import FOLDS
from benchmarks.report import Absent, Bar, Result
from ingenuo.evaluation.significance import Verdict, wilcoxon
from ingenuo.kernels.threads import limited
from ingenuo.models.naive_bayes import NaiveBayes

Floats = NDArray[np.float64]

SEEDS = (0, 1, 2)
LEVEL = 0.05  # p of a difference that is called significant
LOSS = 0.318  # the mean log loss of logistic regression over the shared tables


# The models.


TUNED, PLAIN = "NaiveBayes, tuned and calibrated", "NaiveBayes"

MODELS: dict[str, Callable[[Table], Any]] = {
    TUNED: lambda table: NaiveBayes(dict(table.kinds), tune=True, calibration="auto"),
    PLAIN: lambda table: NaiveBayes(dict(table.kinds)),
    **{name: PEERS[name].make for name in (JOINED, BINNED, LOGISTIC)},
}


# Their answers.


@dataclass(frozen=True)
class Score:
    """Of one model on one table: percent of right answers, nats, and seconds of a fit."""

    accuracy: float
    log_loss: float
    seconds: float


def score(model: str, table: Table, seed: int) -> Score:
    """Every row answered for by a model of the other nine folds."""
    return score_of(MODELS[model], table, seed)


def score_of(make: Callable[[Table], Any], table: Table, seed: int) -> Score:
    """Every row answered for by a model of the other nine folds, made for the table's columns."""
    classes, codes = np.unique(table.y, return_inverse=True)
    probabilities = np.empty((len(codes), len(classes)))
    spent = 0.0
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(table.frame, table.y):
        known = table.only([name for name in table.kinds if table.frame[name].iloc[train].notna().any()])
        with limited(1):  # each processor has a process of its own
            began = time.perf_counter()
            fitted = make(known).fit(known.frame.iloc[train], table.y[train])
            spent += time.perf_counter() - began
            probabilities[test] = fitted.predict_proba(known.frame.iloc[test])
    right = 100 * float(np.mean(probabilities.argmax(axis=1) == codes))
    # scikit-learn's log loss takes a probability of 0 for 2.2e-16, the smallest step from 1.
    return Score(right, float(log_loss(codes, probabilities, labels=range(len(classes)))), spent / FOLDS)


@cache
def scores(rows: int) -> dict[str, dict[str, Score]]:
    """Of each table of at most so many rows, the scores of each model: means over the seeds."""
    tables = [table.at_most(rows) for table in foldable_tables()]
    asked = [(model, table, seed) for table in tables for model in MODELS for seed in SEEDS]
    # The largest first, so that no process waits for another at the end.
    order = sorted(range(len(asked)), key=lambda place: -len(asked[place][1].y) * len(asked[place][1].kinds))
    found = Parallel(n_jobs=cpu_count())(delayed(score)(*asked[place]) for place in order)
    by_place = dict(zip(order, found))
    means: dict[str, dict[str, Score]] = {}
    for start in range(0, len(asked), len(SEEDS)):
        model, table, _ = asked[start]
        several = [by_place[start + each] for each in range(len(SEEDS))]
        means.setdefault(table.name, {})[model] = Score(
            *(float(np.mean([getattr(one, what) for one in several])) for what in ("accuracy", "log_loss", "seconds"))
        )
    return means


# What is said of them.


@dataclass(frozen=True)
class Significant(Bar):
    """A bar that is met by a difference that is significant over the sets."""

    p_value: float = 1.0

    def met(self, ratio: float, ours: float) -> bool | None:
        """Whether it is reached, and not by chance."""
        return bool(super().met(ratio, ours)) and self.p_value < LEVEL


def of_sets(found: dict[str, dict[str, Score]], model: str, measure: str) -> Floats:
    """The scores of a model, a set each."""
    return np.array([getattr(models[model], measure.replace(" ", "_")) for models in found.values()])


def best_peer(found: dict[str, dict[str, Score]], measure: str) -> str:
    """The naive Bayes of scikit-learn with the best mean."""
    sign = 1 if measure == "accuracy" else -1
    return max((JOINED, BINNED), key=lambda model: sign * of_sets(found, model, measure).mean())


def verdict(found: dict[str, dict[str, Score]], measure: str, peer: str) -> Verdict:
    """Wilcoxon's test of ours against a peer."""
    return wilcoxon(*(of_sets(found, model, measure) for model in (TUNED, peer)))


@dataclass(frozen=True)
class OverSets:
    """The mean of a measure over all tables, tuned and calibrated, beside the best naive Bayes of scikit-learn."""

    measure_of: str

    @property
    def name(self) -> str:
        return f"tables: {self.measure_of}, tuned and calibrated"

    def measure(self, rows: int, repeat: int) -> Result:
        """All folds of all tables, once."""
        found = scores(rows)
        peer = best_peer(found, self.measure_of)
        theirs, own, plain = (float(of_sets(found, each, self.measure_of).mean()) for each in (peer, TUNED, PLAIN))
        test = verdict(found, self.measure_of, peer)
        assert test.p_value is not None
        note = f"{len(found)} tables, against {peer}; p {test.p_value:.2g} by Wilcoxon; not tuned {plain:.4g}"
        why = f"(p < {LEVEL})"
        if self.measure_of == "accuracy":
            return Result(self.name, "%", theirs, own, Significant(None, None, why, theirs, test.p_value), note=note)
        return Result(self.name, "nats", theirs, own, Significant(None, theirs, why, None, test.p_value), note=note)


@dataclass(frozen=True)
class AgainstLogistic:
    """Our mean log loss in the place of logistic regression's."""

    name: str = "tables: log loss, logistic regression"

    def measure(self, rows: int, repeat: int) -> Result:
        """The same answers, another peer."""
        found = scores(rows)
        theirs, own = (of_sets(found, model, "log loss") for model in (LOGISTIC, TUNED))
        test = verdict(found, "log loss", LOGISTIC)
        note = f"lower on {int((own < theirs).sum())} of {len(own)} tables; p {test.p_value:.2g} by Wilcoxon"
        return Result(self.name, "nats", float(theirs.mean()), float(own.mean()), Bar(limit=LOSS), note=note)


def cases() -> list[OverSets | AgainstLogistic]:
    """Of tables."""
    return [OverSets("accuracy"), OverSets("log loss"), AgainstLogistic()]


def markdown(found: dict[str, dict[str, Score]]) -> list[str]:
    """A table of every set for each measure, with the means, and what the tests say."""
    lines = []
    for measure, form in (("accuracy", ".2f"), ("log loss", ".3f")):
        lines += ["", f"| {measure} | {' | '.join(MODELS)} |", "|---|" + "---:|" * len(MODELS)]
        columns = [of_sets(found, model, measure) for model in MODELS]
        for name, *row in zip([*found, "**mean**"], *([*each, each.mean()] for each in columns)):
            lines.append(f"| {name} | " + " | ".join(format(each, form) for each in row) + " |")
        for peer in (best_peer(found, measure), LOGISTIC):
            lines += ["", f"Tuned and calibrated against {peer}, {measure}: {verdict(found, measure, peer).sentence}"]
    seconds = [float(of_sets(found, model, "seconds").mean()) for model in MODELS]
    spent = ", ".join(f"{model} {each:.3f}" for model, each in zip(MODELS, seconds))
    return [*lines, "", f"Seconds of a fit on one processor, mean over the sets: {spent}."]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust_tables", description="Accuracy and log loss.")
    parser.add_argument("--rows", type=int, default=sys.maxsize, help="rows of a table at most (default: all)")
    try:
        found = scores(parser.parse_args(arguments).rows)
    except Absent as missing:
        parser.error(str(missing))
    print(f"Ten folds, {len(SEEDS)} times, over {len(found)} tables: `python -m benchmarks.trust_tables`.")
    print("\n".join(markdown(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
