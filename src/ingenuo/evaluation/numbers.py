"""Judging answers that are numbers: how far off they are, and how often the truth lies within their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.evaluation.intervals import exact
from ingenuo.rows import checks
from ingenuo.rows.rows import rows_of
from ingenuo.show.table import aligned

Floats = NDArray[np.float64]

_COVERAGE = 0.9  # of the intervals that are judged


@dataclass(frozen=True)
class NumbersEvaluation:
    """What was true, what was answered, and between which ends the truth was said to lie; prints as a table."""

    truth: Floats
    answers: Floats
    ends: Floats  # rows × 2
    coverage: float = _COVERAGE

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return len(self.truth)

    def to_dict(self) -> dict[str, Any]:
        """The measures as plain data; those with an interval have it beside them."""
        off = self.answers - self.truth
        squares, around = float((off**2).mean()), float(((self.truth - self.truth.mean()) ** 2).mean())
        within = (self.ends[:, 0] <= self.truth) & (self.truth <= self.ends[:, 1])
        share = exact(float(within.sum()), float(self.n_rows), 0.95)
        half = 1.96 * float(np.abs(off).std(ddof=1)) / math.sqrt(self.n_rows) if self.n_rows > 1 else math.nan
        mean = float(np.abs(off).mean())
        return {
            "rows": self.n_rows,
            "mean_absolute_error": {"value": mean, "low": mean - half, "high": mean + half},
            "root_mean_squared_error": {"value": math.sqrt(squares)},
            "always_the_mean": {"value": math.sqrt(around)},
            "r2": {"value": 1 - squares / around if around else math.nan},
            "within_interval": {
                "value": float(within.mean()),
                "low": share.low,
                "high": share.high,
                "wanted": self.coverage,
            },
        }

    def __str__(self) -> str:
        found = self.to_dict()
        titles = {
            "mean_absolute_error": "mean absolute error",
            "root_mean_squared_error": "root mean squared error",
            "always_the_mean": "the same, always answering the mean",
            "r2": "R²",
            "within_interval": f"truth within the {self.coverage:.0%} intervals",
        }
        lines = [["measure", "value", "95% interval"]]
        for name, title in titles.items():
            each = found[name]
            ends = f"[{each['low']:.4g}, {each['high']:.4g}]" if "low" in each else ""
            lines.append([title, f"{each['value']:.4g}", ends])
        shown = aligned(lines)
        rule = "─" * max(map(len, shown))
        return "\n".join([f"{self.n_rows:,} rows, answered with numbers.", "", shown[0], rule, *shown[1:]])


def evaluate_numbers(model: Any, X: Any, y: Any) -> NumbersEvaluation:
    """Judge a fitted regressor by rows whose numbers are known.

    Parameters
    ----------
    model : NaiveBayesRegressor
        Fitted.
    X : table, or what `scan` gives
        The rows, which it should not have learned.
    y : array-like, or the name of a column of X
        The number of each row.

    >>> from ingenuo import NaiveBayesRegressor
    >>> X = [["flat", 40], ["flat", 55], ["flat", 70], ["house", 90], ["house", 120], ["house", 150]]
    >>> model = NaiveBayesRegressor(bins=3).fit(X, [110, 140, 185, 240, 330, 390])
    >>> found = evaluate_numbers(model, [["flat", 50], ["house", 100]], [130, 260]).to_dict()
    >>> round(found["mean_absolute_error"]["value"], 1)
    2.6
    """
    rows, found = rows_of(X, y), []
    for part in rows.parts():
        truth = checks.targets(model, part.y)
        found.append((truth, model.predict(part.X), model.predict_interval(part.X, _COVERAGE)))
    if not found:
        raise InputError(f"{rows.name}: there are no rows to judge by")
    truth, answers, ends = (np.concatenate(each) for each in zip(*found))
    return NumbersEvaluation(truth, answers, ends)
