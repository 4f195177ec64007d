"""Judging answers that are numbers: how far off they are, and how often the truth lies within their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.evaluation.intervals import Interval, Judged, exact, normal_ends
from ingenuo.evaluation.measures import Key, title
from ingenuo.rows import checks
from ingenuo.rows.rows import Rows
from ingenuo.show.table import Block, PrintedTable

Floats = NDArray[np.float64]

COVERAGE = 0.9  # of the intervals that are judged
_SHARE = "within_interval"


@dataclass(frozen=True, eq=False, repr=False)
class NumbersEvaluation(Judged):
    """What `evaluate` measured of a regressor on some rows; prints as a table.

    >>> found = NumbersEvaluation(np.array([1.0, 2.0, 4.0, 5.0]), np.array([1.0, 3.0, 4.0, 4.0]))
    >>> found["r2"].value, found["mean_absolute_error"].value, found["always_the_mean_absolute"].value
    (0.8, 0.5, 1.5)
    """

    truth: Floats
    answers: Floats
    ends: Floats | None = None  # rows × 2: from where to where the truth was expected; None without intervals
    weights: Floats | None = None  # None where each row counts once
    confidence: float = 0.95
    remarks: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return len(self.truth)

    def take(self, rows: NDArray[Any]) -> NumbersEvaluation:
        """What was measured on some of the rows."""
        ends, weights = (None if each is None else each[rows] for each in (self.ends, self.weights))
        return NumbersEvaluation(self.truth[rows], self.answers[rows], ends, weights, self.confidence, self.remarks)

    @cached_property
    def _found(self) -> dict[str, tuple[float, Floats]]:
        """Every measure, and how much each row moves it: the intervals are those of a mean of these."""
        w = np.ones(self.n_rows) if self.weights is None else self.weights
        shares = w / w.sum()
        off = self.answers - self.truth
        around = self.truth - (shares @ self.truth if np.ptp(self.truth) else self.truth[0])
        error, squares, plain, variance = (float(shares @ each) for each in (abs(off), off**2, abs(around), around**2))
        r2 = 1 - squares / variance if variance else math.nan
        moved = (around**2 * (squares / variance) - off**2) / variance if variance else np.zeros(len(w))
        found = {
            "r2": (r2, moved),
            "mean_absolute_error": (error, abs(off) - error),
            "always_the_mean_absolute": (plain, abs(around) - plain),
            "root_mean_squared_error": (math.sqrt(squares), (off**2 - squares) / (2 * math.sqrt(squares) or 1)),
            "always_the_mean": (math.sqrt(variance), (around**2 - variance) / (2 * math.sqrt(variance) or 1)),
        }
        if self.ends is not None:
            within = ((self.ends[:, 0] <= self.truth) & (self.truth <= self.ends[:, 1])).astype(np.float64)
            widths = self.ends[:, 1] - self.ends[:, 0]
            for name, each in ((_SHARE, within), ("interval_width", widths)):
                found[name] = (float(shares @ each), each - shares @ each)
        return found

    @cached_property
    def _values(self) -> Mapping[Key, float | None]:
        return {(name, None): value for name, (value, _) in self._found.items()}

    def _interval(self, key: Key) -> Interval:
        value, moved = self._found[key[0]]
        if math.isnan(value):
            return Interval.refused("it is undefined, for all targets are the same")
        if self.n_rows < 2:
            return Interval.refused("one row does not say how much others would differ")
        if key[0] == _SHARE and self.weights is None:
            return exact(round(value * self.n_rows), self.n_rows, self.confidence)
        w = np.ones(self.n_rows) if self.weights is None else self.weights
        error = math.sqrt(float(w**2 @ moved**2) * self.n_rows / (self.n_rows - 1)) / float(w.sum())
        low, high = normal_ends(value, error, self.confidence)
        most = 1.0 if key[0] in ("r2", _SHARE) else math.inf
        return Interval(low if key[0] == "r2" else max(low, 0.0), min(high, most), "normal approximation")

    def _blocks(self) -> Sequence[str | Block]:
        rows = []
        for m in self.measures.values():
            ends = "" if m.low is None or m.high is None else f"[{_figure(m.low)}, {_figure(m.high)}]"
            rows.append([title(m.name), _figure(m.value), ends])
        table = PrintedTable(["measure", "value", f"{100 * self.confidence:g}% interval"], rows, rule=True)
        weighted = "" if self.weights is None else ", weighted"
        judged = f"{self.n_rows:,} row{'s' if self.n_rows != 1 else ''}{weighted}, answered with numbers."
        return [judged, *self.remarks, "", table]


def _figure(value: float | None) -> str:
    """Four digits; of a large number all before the point, as no power of ten is."""
    return "–" if value is None else f"{value:.3f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def ask(model: Any, X: Any) -> tuple[Floats, Floats | None]:
    """What a regressor answers, and its intervals where it has such."""
    ends = np.asarray(model.predict_interval(X, COVERAGE)) if hasattr(model, "predict_interval") else None
    return np.asarray(model.predict(X), np.float64), ends


def evaluate_numbers(model: Any, rows: Rows, confidence: float) -> NumbersEvaluation:
    """Judge a fitted regressor by rows whose numbers are known and that it has not learned."""
    found = []
    for part in rows.parts():
        truth = checks.targets(model, part.y)
        answers, ends = ask(model, part.X)
        weights = checks.weights(part.weights, len(truth))
        if weights is not None:
            kept = weights > 0
            truth, answers, weights, ends = (
                truth[kept],
                answers[kept],
                weights[kept],
                None if ends is None else ends[kept],
            )
        found.append((truth, answers, ends, weights))
    if not sum(len(each[0]) for each in found):
        raise InputError(f"{rows.name}: there are no rows to judge by")
    columns: list[Any] = [None if each[0] is None else np.concatenate(each) for each in zip(*found)]
    return NumbersEvaluation(columns[0], columns[1], columns[2], columns[3], confidence)
