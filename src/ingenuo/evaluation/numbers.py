"""Judging answers that are numbers: how far off they are, and how often the truth lies within their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.evaluation.intervals import exact
from ingenuo.rows import checks
from ingenuo.rows.rows import rows_of
from ingenuo.show.table import Block, PrintedTable, Shown

_COVERAGE = 0.9  # of the intervals that are judged
_TITLES = {
    "mean_absolute_error": "mean absolute error",
    "root_mean_squared_error": "root mean squared error",
    "always_the_mean": "the same, always answering the mean",
    "r2": "R²",
    "within_interval": f"truth within the {_COVERAGE:.0%} intervals",
}


@dataclass(frozen=True, repr=False)
class NumbersEvaluation(Shown):
    """What was true, what was answered, and between which ends the truth was expected; prints as a table."""

    truth: NDArray[np.float64]
    answers: NDArray[np.float64]
    ends: NDArray[np.float64]  # rows × 2

    def to_dict(self) -> dict[str, Any]:
        """The measures as plain data; those with an interval have it beside them."""
        n, off = len(self.truth), np.abs(self.answers - self.truth)
        mean, squares, around = float(off.mean()), float((off**2).mean()), float(self.truth.var())
        within = (self.ends[:, 0] <= self.truth) & (self.truth <= self.ends[:, 1])
        share = exact(float(within.sum()), n, 0.95)
        half = 1.96 * float(off.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        ends = {"low": share.low, "high": share.high, "wanted": _COVERAGE}
        return {
            "rows": n,
            "mean_absolute_error": {"value": mean, "low": mean - half, "high": mean + half},
            "root_mean_squared_error": {"value": math.sqrt(squares)},
            "always_the_mean": {"value": math.sqrt(around)},
            "r2": {"value": 1 - squares / around if around else math.nan},
            "within_interval": {"value": float(within.mean()), **ends},
        }

    def _blocks(self) -> Sequence[str | Block]:
        rows = []
        for name, each in ((name, self.to_dict()[name]) for name in _TITLES):
            ends = f"[{each['low']:.4g}, {each['high']:.4g}]" if "low" in each else ""
            rows.append([_TITLES[name], f"{each['value']:.4g}", ends])
        table = PrintedTable(["measure", "value", "95% interval"], rows, rule=True)
        return [f"{len(self.truth):,} rows, answered with numbers.", "", table]


def evaluate_numbers(model: Any, X: Any, y: Any) -> NumbersEvaluation:
    """Judge a fitted regressor by rows, or files, whose numbers y are known and that it has not learned."""
    rows = rows_of(X, y)
    found = [
        (checks.targets(model, part.y), model.predict(part.X), model.predict_interval(part.X, _COVERAGE))
        for part in rows.parts()
    ]
    if not found:
        raise InputError(f"{rows.name}: there are no rows to judge by")
    return NumbersEvaluation(*(np.concatenate(each) for each in zip(*found)))
