"""What an audit of groups counts: sums over rows, for each group; two audits of one model add.

Of each group there is the confusion matrix and, for each class that is asked about, the rows by bins of the class's
probability p: how many, of how many the class is true, and their Σp. Beside these Σd and Σd² of d = p - e, where e is
1 for the rows of the class: the mean of d is how much too high the probabilities are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import MergeError
from ingenuo.evaluation.measures import BINS, EDGES
from ingenuo.evaluation.predictions import Predictions
from ingenuo.labels import Labels, find, same, unite

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums by group."""

    groups: Labels
    classes: Labels
    judged: Labels  # the classes that are asked about
    confusion: Counts  # groups × true × answered; without truths groups × 1 × answered
    truths: bool
    binned: Floats | None = None  # groups × judged × bins × (rows, Σe, Σp); None where there are no probabilities
    gaps: Floats | None = None  # groups × judged × (Σd, Σd²)

    def __add__(self, other: GroupSums) -> GroupSums:
        """The sums of the rows of both."""
        if not same(self.judged, other.judged):
            raise MergeError(
                f"one audit asks about {self.judged.tolist()!r} and the other about {other.judged.tolist()!r}; give "
                "both the same class_"
            )
        for name, mine, its in (
            ("true labels", self.truths, other.truths),
            ("probabilities", self.binned is not None, other.binned is not None),
        ):
            if mine != its:
                raise MergeError(f"one audit has {name} and the other has none; audit both alike")
        groups, classes = unite(self.groups, other.groups), unite(self.classes, other.classes)
        ours, theirs = self._on(groups, classes), other._on(groups, classes)
        binned = gaps = None
        if ours.binned is not None and theirs.binned is not None and ours.gaps is not None and theirs.gaps is not None:
            binned, gaps = ours.binned + theirs.binned, ours.gaps + theirs.gaps
        return GroupSums(groups, classes, self.judged, ours.confusion + theirs.confusion, self.truths, binned, gaps)

    def _on(self, groups: Labels, classes: Labels) -> GroupSums:
        """The same sums among more groups and classes."""
        at, answered = find(groups, self.groups), find(classes, self.classes)
        true = answered if self.truths else np.zeros(1, np.intp)
        confusion = np.zeros((len(groups), len(classes) if self.truths else 1, len(classes)), np.int64)
        confusion[np.ix_(at, true, answered)] = self.confusion
        spread: list[Floats | None] = []
        for sums in (self.binned, self.gaps):
            if sums is None:
                spread.append(None)
                continue
            wide = np.zeros((len(groups), *sums.shape[1:]))
            wide[at] = sums
            spread.append(wide)
        return GroupSums(groups, classes, self.judged, confusion, self.truths, *spread)


def sums_of(rows: Predictions, groups: NDArray[Any], names: Labels, judged: Labels, truths: bool) -> GroupSums:
    """Count the rows of each group: groups are codes into the names."""
    g, k = len(names), len(rows.classes)
    t = k if truths else 1
    codes = rows.codes.astype(np.int64) if truths else np.zeros(len(rows), np.int64)
    place = (groups.astype(np.int64) * t + codes) * k + rows.predicted
    confusion = np.bincount(place, minlength=g * t * k).reshape(g, t, k)
    if rows.probabilities is None:
        return GroupSums(names, rows.classes, judged, confusion, truths)
    binned, gaps = np.zeros((g, len(judged), BINS, 3)), np.zeros((g, len(judged), 2))
    for at, column in enumerate(find(rows.classes, judged).tolist()):
        p = rows.probabilities[:, column]
        e = (rows.codes == column).astype(np.float64) if truths else np.zeros(len(rows))
        bins = groups.astype(np.int64) * BINS + np.searchsorted(EDGES, p, side="left")
        for part, weights in enumerate((None, e, p)):
            binned[:, at, :, part] = np.bincount(bins, weights, g * BINS).reshape(g, BINS)
        for part, weights in enumerate((p - e, (p - e) ** 2)):
            gaps[:, at, part] = np.bincount(groups, weights, g)
    return GroupSums(names, rows.classes, judged, confusion, truths, binned, gaps)
