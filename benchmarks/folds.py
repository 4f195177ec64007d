"""Accuracy of ten folds, mean over public tables: naive Bayes with densities that are chosen for each column.

Every ARFF file counts that has ten rows of two classes; smaller classes are set aside. Folds are stratified and
shuffled with a fixed seed. scikit-learn's GaussianNB takes the numbers, and its CategoricalNB, joined by hand, the
categories; missing values are imputed for both. Columns without a value in nine folds are left out for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.arff import Table, foldable_tables
from benchmarks.peers import Joined
from benchmarks.published import FOLDS
from benchmarks.report import Bar, Result
from ingenuo.models.naive_bayes import NaiveBayes


def ours(numbers: str, table: Table) -> NaiveBayes:
    """Naive Bayes with this density for numbers."""
    return NaiveBayes(dict(table.kinds), numbers=numbers)


MODELS: dict[str, Callable[[Table], Any]] = {
    "auto": lambda table: ours("auto", table),
    "gaussian": lambda table: ours("gaussian", table),
    "scikit-learn": Joined,
}


@cache
def accuracies(model: str, rows: int) -> dict[str, tuple[float, bool]]:
    """For each table of at most so many rows, the percentage of right answers, and whether it has numbers."""
    found = {}
    for table in (each.at_most(rows) for each in foldable_tables()):
        right = 0
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(table.frame, table.y):
            known = table.only([name for name in table.kinds if table.frame[name].iloc[train].notna().any()])
            made = MODELS[model](known).fit(known.frame.iloc[train], table.y[train])
            right += int(np.sum(made.predict(known.frame.iloc[test]) == table.y[test]))
        found[table.name] = 100 * right / len(table.y), bool(table.numbers)
    return found


@dataclass(frozen=True)
class MeanAccuracy:
    """The mean of all tables, ours with densities chosen by column; the bar is to be above the peer."""

    name: str
    peer: str

    def measure(self, rows: int, repeat: int) -> Result:
        """All folds of all tables, once."""
        theirs, own = accuracies(self.peer, rows), accuracies("auto", rows)
        peer, mine = (float(np.mean([each for each, _ in found.values()])) for found in (theirs, own))
        better, worse = (sum(sign * (own[name][0] - theirs[name][0]) > 0 for name in own) for sign in (1, -1))
        of_numbers = [
            float(np.mean([each for each, has_numbers in found.values() if has_numbers])) for found in (theirs, own)
        ]
        note = (
            f"{len(own)} tables, better on {better} and worse on {worse}; "
            f"those with numbers {of_numbers[0]:.2f} / {of_numbers[1]:.2f} %"
        )
        return Result(self.name, "%", peer, mine, Bar(least=math.nextafter(peer, math.inf)), note=note)


def cases() -> list[MeanAccuracy]:
    """Against Gaussians only, ours and scikit-learn's."""
    return [
        MeanAccuracy("tables: auto against Gaussians", "gaussian"),
        MeanAccuracy("tables: auto against scikit-learn", "scikit-learn"),
    ]
