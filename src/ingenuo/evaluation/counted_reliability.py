"""The reliability of forecasts of which only sums were kept: ten bins of equal width, and what is read from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError, RefusedError
from ingenuo.evaluation.calibration_error import Bins, BrierScore, edges_of
from ingenuo.evaluation.counted import CountedEvaluation
from ingenuo.evaluation.forecast_sums import bins_from, brier_of, calibration_error
from ingenuo.evaluation.measures import BINS
from ingenuo.evaluation.reliability import LABELS_ONLY, Reliability, place_of


def counted_reliability(
    found: CountedEvaluation, bins: int, strategy: str, class_: Any, confidence: float
) -> CountedReliability:
    """The reliability of what was counted."""
    if not found.probable:
        raise RefusedError(LABELS_ONLY)
    edges_of(np.zeros(1), bins, strategy)  # refuses what cannot be
    if (bins, strategy) != (BINS, "width"):
        raise InputError(
            f"rows that were not kept are in {BINS} bins of equal width, and cannot be put in {bins} by {strategy}; "
            f"take bins={BINS} and strategy='width', or judge rows in memory"
        )
    if class_ is not None:
        class_ = found.labels[place_of(class_, found._known)]
    return CountedReliability(found, bins, strategy, class_, confidence)


@dataclass(frozen=True, eq=False, repr=False)
class CountedReliability(Reliability):
    """Forecasts in ten bins, and how often they came true, of rows that were not kept.

    Attributes
    ----------
    predictions : CountedEvaluation
        The sums.
    n_bins, strategy, class_, confidence
        As of `Reliability`.
    """

    predictions: Any

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return bool(self.predictions.weighted)

    @cached_property
    def _sums(self) -> NDArray[Any]:
        found: CountedEvaluation = self.predictions
        return found.answers if self.class_ is None else found.forecasts(place_of(self.class_, found._known))

    @cached_property
    def bins(self) -> Bins:
        """What is in each bin."""
        return bins_from(self._sums)

    @cached_property
    def class_wise_ece(self) -> float:
        """The mean over all classes of the ECE of each one's probability."""
        found = [calibration_error(self.predictions.forecasts(k)) for k in range(len(self.predictions.labels))]
        return math.fsum(found) / len(found)

    @cached_property
    def brier(self) -> BrierScore:
        """The Brier score of the forecasts that are judged here, and its parts."""
        return brier_of(self._sums)

    def per_class(self) -> dict[Any, Reliability]:
        """The reliability of each class's own probability."""
        rest = (self.n_bins, self.strategy)
        return {c: CountedReliability(self.predictions, *rest, c, self.confidence) for c in self.predictions.labels}

    def __add__(self, other: Reliability) -> CountedReliability:
        """Of the rows of both."""
        if not isinstance(other, CountedReliability):
            return NotImplemented
        for name, mine, theirs in (
            ("class_", self.class_, other.class_),
            ("confidence", self.confidence, other.confidence),
        ):
            if mine != theirs:
                raise MergeError(
                    f"two reliabilities add when they were asked for alike; {name} is {mine!r} here and {theirs!r} "
                    "there"
                )
        total = self.predictions + other.predictions
        return CountedReliability(total, self.n_bins, self.strategy, self.class_, self.confidence)

    def _said(self) -> tuple[str, ...]:
        """Sentences on labels that the model does not know, and on what was kept."""
        return (*self.predictions.unseen, "The rows were counted and not kept.")
