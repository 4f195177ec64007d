"""What an audit of groups counts: exact sums over rows, for each group; two audits of one model add to the last bit.

Of each group there is the confusion matrix and, for each class that is asked about, the rows by ten bins of the class's
probability p (`forecast_sums`). From these come Σd and Σd² of d = p - e, where e is 1 for the rows of the class: the
mean of d is how much too high the probabilities are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import MergeError
from ingenuo.evaluation.counted_sums import known_of
from ingenuo.evaluation.forecast_sums import SUMS, column, forecast_sums, joined, summed
from ingenuo.evaluation.measures import BINS
from ingenuo.evaluation.predictions import Predictions
from ingenuo.exact import Exact
from ingenuo.labels import Labels, find, same, unite
from ingenuo.tally import Table, Tally

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

GROUPS, KNOWN, FORECASTS = "groups", "known", "forecasts"
_ANY = np.zeros(1, np.int64)  # what stands for the true class where that is not known


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums by group.

    Attributes
    ----------
    tally : Tally
        All that is kept: `groups`, group × true × answered (without truths group × 1 × answered); `known`, the classes
        that the model knows; and, where there are probabilities, `forecasts`, group × class × bin × sum.
    groups, judged : arrays
        The groups in their order, and the classes that are asked about.
    truths : bool
        Whether it is known what is true of the rows.
    """

    tally: Tally
    groups: Labels
    judged: Labels
    truths: bool

    @cached_property
    def classes(self) -> Labels:
        """The classes: those the model knows, those that are true of a row, those that were answered."""
        axes = (1, 2) if self.truths else (2,)
        return reduce(unite, [self.tally.labels(KNOWN, 0), *(self.tally.labels(GROUPS, axis) for axis in axes)])

    @cached_property
    def confusion(self) -> Counts:
        """Groups × true × answered; without truths groups × 1 × answered."""
        true = self.classes if self.truths else _ANY
        return self.tally.over(GROUPS, self.groups, true, self.classes).floats().astype(np.int64)

    @cached_property
    def _forecasts(self) -> NDArray[Any] | None:
        """Groups × judged × bins × sums, as fractions; None where there are no probabilities."""
        if FORECASTS not in self.tally:
            return None
        sums = self.tally.over(FORECASTS, self.groups, self.judged, np.arange(BINS), SUMS)
        assert isinstance(sums, Exact)
        return sums.fractions()

    @cached_property
    def binned(self) -> Floats | None:
        """Groups × judged × bins × (rows, Σe, Σp); None where there are no probabilities."""
        if self._forecasts is None:
            return None
        return np.stack([column(self._forecasts, name).astype(np.float64) for name in ("rows", "true", "p")], axis=-1)

    @cached_property
    def gaps(self) -> Floats | None:
        """Groups × judged × (Σd, Σd²); None where there are no probabilities."""
        if self._forecasts is None:
            return None
        p, product, square, true = (
            column(self._forecasts, name).sum(axis=-1) for name in ("p", "product", "square", "true")
        )
        return np.stack([p - true, square - 2 * product + true], axis=-1).astype(np.float64)

    def __add__(self, other: GroupSums) -> GroupSums:
        """The sums of the rows of both."""
        if not same(self.judged, other.judged):
            raise MergeError(
                f"one audit asks about {self.judged.tolist()!r} and the other about {other.judged.tolist()!r}; give "
                "both the same class_"
            )
        for name, mine, its in (
            ("true labels", self.truths, other.truths),
            ("probabilities", FORECASTS in self.tally, FORECASTS in other.tally),
        ):
            if mine != its:
                raise MergeError(f"one audit has {name} and the other has none; audit both alike")
        groups = unite(self.groups, other.groups)
        return GroupSums(self.tally + other.tally, groups, self.judged, self.truths)


def sums_of(
    rows: Predictions, groups: NDArray[Any], names: Labels, judged: Labels, truths: bool, known: Labels | None = None
) -> GroupSums:
    """Count the rows of each group: groups are codes into the names, and known the classes that labels do not show."""
    known, _ = known_of(rows, known)
    rows = rows.on(unite(rows.classes, judged))
    g, k = len(names), len(rows.classes)
    true = rows.classes if truths else _ANY
    codes = rows.codes.astype(np.int64) if truths else np.zeros(len(rows), np.int64)
    place = (groups.astype(np.int64) * len(true) + codes) * k + rows.predicted
    axes = {"group": names, "true": true, "answered": rows.classes}
    tables = {GROUPS: Table.of(axes, summed(None, place, (g, len(true), k)))}
    if known is not None:
        tables[KNOWN] = Table.of({"class": known}, Exact.counts(np.full(len(known), len(rows))))
    if rows.probabilities is not None:
        found = []
        for at in find(rows.classes, judged).tolist():
            event = rows.codes == at if truths else np.zeros(len(rows), np.bool_)
            p = np.ascontiguousarray(rows.probabilities[:, at])
            found.append(forecast_sums(p, event, None, groups.astype(np.int64), g))
        axes = {"group": names, "class": judged, "bin": np.arange(BINS), "sum": SUMS}
        tables[FORECASTS] = Table.of(axes, joined(found, 1))
    return GroupSums(Tally(tables), names, judged, truths)
