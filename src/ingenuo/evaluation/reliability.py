"""Whether probabilities can be believed: of the rows that were given 80 %, were 80 % right?"""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.engines import is_spread
from ingenuo.errors import InputError, KindError, MergeError, RefusedError, did_you_mean
from ingenuo.evaluation.calibration_error import (
    Bins,
    BrierScore,
    binned,
    brier_score,
    class_wise_calibration_error,
    edges_of,
)
from ingenuo.evaluation.counted import CountedEvaluation, count
from ingenuo.evaluation.evaluation import Evaluation
from ingenuo.evaluation.intervals import exact
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.explanation import STYLE, reliability_diagram
from ingenuo.explanation.beliefs import aligned, html_table
from ingenuo.labels import Labels, find, labels_of

Floats = NDArray[np.float64]

LABELS_ONLY = "reliability is of probabilities, and there are labels only; give predict_proba's output"


def reliability(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    classes: Any = None,
    bins: int = 10,
    strategy: str = "width",
    class_: Any = None,
    confidence: float = 0.95,
    sample_weight: Any = None,
) -> Reliability:
    """Compare probabilities with shares: rows in bins by how sure the answer was, and how often it was right.

    Parameters
    ----------
    model : classifier, array, Evaluation or CountedEvaluation
        A fitted classifier with `predict_proba`, judged on rows it has not learned from; probabilities (rows ×
        classes); or what `evaluate` found, which has all it takes.
    X : table, or a Dask or Spark DataFrame
        The rows for the classifier; None beside probabilities. Rows on an engine are counted where they are, in ten
        bins of equal width.
    y : array-like, or the name of a column of X
        What is true of each row.
    classes : list, optional
        The classes of the columns of probabilities, in their order.
    bins : int
        How many bins.
    strategy : {"width", "mass"}
        Bins of equal width, or with equally many rows.
    class_ : label, optional
        Judge the probability of this class; by default that of the class that was answered.
    confidence : float
        Of the intervals.
    sample_weight : array-like, optional
        How much each row counts.

    Examples
    --------
    >>> probabilities = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.05, 0.95]]
    >>> found = reliability(probabilities, y=["no", "no", "yes", "yes"], bins=2)
    >>> round(found.ece, 4), found.rows.tolist()
    (0.0875, [0, 4])
    """
    counted: CountedEvaluation | None = model if isinstance(model, CountedEvaluation) else None
    if counted is None and is_spread(X):
        counted = count(model, X, y, classes, sample_weight, 0.95, 0)
    if counted is not None:
        from ingenuo.evaluation.counted_reliability import counted_reliability

        _check_confidence(confidence)
        return counted_reliability(counted, bins, strategy, class_, float(confidence))
    rows = model.rows if isinstance(model, Evaluation) else predictions_of(model, X, y, classes, sample_weight)
    if rows.probabilities is None:
        raise RefusedError(LABELS_ONLY)
    _check_confidence(confidence)
    edges_of(np.zeros(1), bins, strategy)  # refuses what cannot be
    place = None if class_ is None else place_of(class_, rows.classes)
    return Reliability(rows, bins, strategy, None if place is None else rows.classes[place], float(confidence))


def _check_confidence(confidence: Any) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.floating):
        raise KindError(f"confidence must be a number between 0 and 1, got {confidence!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence!r}")


def place_of(class_: Any, classes: Labels) -> int:
    """Where a class stands among the classes; an error where it is none of them."""
    try:
        found = int(find(classes, labels_of([class_]))[0])
    except (TypeError, ValueError):
        found = -1
    if found < 0:
        raise InputError(f"class_={class_!r} is not known{did_you_mean(class_, classes.tolist())}")
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Reliability:
    """Forecasts in bins, and how often they came true; prints as a table. Those of two halves add to that of the whole.

    Attributes
    ----------
    predictions : Predictions
        The rows.
    n_bins, strategy, class_, confidence
        What was asked for; `class_` is None where the class that was answered is judged.
    """

    predictions: Predictions
    n_bins: int
    strategy: str
    class_: Any
    confidence: float

    @cached_property
    def _questions(self) -> tuple[Floats, NDArray[np.bool_]]:
        """The forecast for each row, and whether it came true."""
        rows = self.predictions
        assert rows.probabilities is not None
        if self.class_ is None:
            p = rows.probabilities[np.arange(len(rows)), rows.predicted]
            return p.clip(0, 1), rows.codes == rows.predicted
        place = place_of(self.class_, rows.classes)
        return rows.probabilities[:, place].clip(0, 1), rows.codes == place

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return self.predictions.weights is not None

    @cached_property
    def bins(self) -> Bins:
        """What is in each bin."""
        p, event = self._questions
        weights = self.predictions.weights
        return binned(p, event, edges_of(p, self.n_bins, self.strategy, weights), weights)

    @property
    def edges(self) -> Floats:
        """Where the bins end."""
        return self.bins.edges

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many rows each bin has."""
        return self.bins.rows

    @property
    def forecast(self) -> Floats:
        """Mean probability in each bin; NaN where it is empty."""
        return self.bins.forecast

    @property
    def share(self) -> Floats:
        """How often it came true, in each bin: of the class that was answered, accuracy."""
        return self.bins.share

    @cached_property
    def intervals(self) -> Floats:
        """Clopper and Pearson's interval of each share (bins × 2); NaN without rows, and of rows with weights."""
        found = np.full((len(self.rows), 2), np.nan)
        if not self.weighted:
            for k in np.flatnonzero(self.rows):
                n = int(self.rows[k])
                low, high, *_ = exact(round(float(self.share[k]) * n), n, self.confidence)
                found[k] = low, high
        return found

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean distance of share and forecast, over rows."""
        return self.bins.ece

    @property
    def mce(self) -> float:
        """Maximum calibration error: the widest distance in a bin."""
        return self.bins.mce

    @cached_property
    def class_wise_ece(self) -> float:
        """The mean over all classes of the ECE of each one's probability."""
        rows = self.predictions
        assert rows.probabilities is not None
        p = rows.probabilities.clip(0, 1)
        return class_wise_calibration_error(p, rows.codes, self.n_bins, self.strategy, rows.weights)

    @cached_property
    def brier(self) -> BrierScore:
        """The Brier score of the forecasts that are judged here, and its parts."""
        p, event = self._questions
        return brier_score(p, event, self.bins, self.predictions.weights)

    def per_class(self) -> dict[Any, Reliability]:
        """The reliability of each class's own probability."""
        classes = self.predictions.classes.tolist()
        return {c: Reliability(self.predictions, self.n_bins, self.strategy, c, self.confidence) for c in classes}

    def __add__(self, other: Reliability) -> Reliability:
        """Of the rows of both; bins of equal mass are cut anew."""
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = ((r.n_bins, r.strategy, r.class_, r.confidence) for r in (self, other))
        if mine != theirs:
            names = ("bins", "strategy", "class_", "confidence")
            name, a, b = next((n, a, b) for n, a, b in zip(names, mine, theirs) if a != b)
            raise MergeError(
                f"two reliabilities add when they were asked for alike; {name} is {a!r} here and {b!r} there"
            )
        return Reliability(self.predictions + other.predictions, *mine)

    def _lines(self) -> list[list[str]]:
        span = f"{self.confidence:.4g}".removeprefix("0.")
        lines = [["probability", "rows", "mean", "right" if self.class_ is None else "true", f"{span} % interval"]]
        for k in np.flatnonzero(self.rows):
            low, high = self.intervals[k]
            sides = "–" if np.isnan(low) else f"[{low:.3f}, {high:.3f}]"
            where = f"{self.edges[k]:.3g} to {self.edges[k + 1]:.3g}"
            lines.append([where, f"{self.rows[k]:,}", f"{self.forecast[k]:.3f}", f"{self.share[k]:.3f}", sides])
        return lines

    def _remarks(self) -> list[str]:
        brier = self.brier
        what = "the class that was answered" if self.class_ is None else f"class {self.class_!r}"
        gap = float(np.nansum(self.bins.weight * (self.forecast - self.share)) / self.bins.weight.sum())
        side = "too sure" if gap > 0 else "not sure enough"
        return [
            f"Of {what}: ECE {self.ece:.4f}, MCE {self.mce:.4f}; on average {abs(gap):.4f} {side}.",
            f"Brier score of that forecast: {brier.score:.4f} = reliability {brier.reliability:.4f} "
            f"- resolution {brier.resolution:.4f} "
            f"+ uncertainty {brier.uncertainty:.4f} + within bins {brier.variance - brier.covariance:.4f}.",
            *(["Rows have weights, so there are no intervals."] if self.weighted else []),
            *self._said(),
        ]

    def _said(self) -> tuple[str, ...]:
        """A sentence on labels that the model does not know, where there are any."""
        return self.predictions.remarks

    def __str__(self) -> str:
        return "\n".join([*aligned(self._lines()), *self._remarks()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(line)}</p>" for line in self._remarks())
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{html_table(self._lines())}{said}</div>"

    def table(self) -> Any:
        """An Arrow table with a row for each bin; an empty bin has no mean, no share and no interval."""
        import pyarrow as pa

        def column(values: Iterable[float]) -> Any:
            return pa.array([None if np.isnan(value) else float(value) for value in values], pa.float64())

        columns = {"from": pa.array(self.edges[:-1]), "to": pa.array(self.edges[1:]), "rows": pa.array(self.rows)}
        numbers = {"forecast": self.forecast, "share": self.share}
        numbers |= {"low": self.intervals[:, 0], "high": self.intervals[:, 1]}
        return pa.table(columns | {name: column(values) for name, values in numbers.items()})

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability diagram; the axes are returned."""
        of_answers = self.class_ is None
        labels = (
            "confidence of the answer" if of_answers else f"P({self.class_})",
            "share that is right" if of_answers else f"share that is {self.class_}",
        )
        points = (self.forecast, self.share, self.intervals[:, 0], self.intervals[:, 1])
        return reliability_diagram.draw(self.edges, self.rows, points, labels, f"ECE {self.ece:.3f}", ax)


class ReliabilityDisplay:
    """The reliability diagram as scikit-learn's displays give it.

    Parameters
    ----------
    reliability : Reliability
        What is drawn.

    Examples
    --------
    >>> display = ReliabilityDisplay.from_predictions(["no", "yes"], [[0.9, 0.1], [0.4, 0.6]])
    >>> display.ax_.get_ylabel()
    'share that is right'
    """

    def __init__(self, reliability: Reliability) -> None:
        self.reliability = reliability

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> ReliabilityDisplay:
        """Judge a fitted classifier on rows and draw it; options as of `reliability`."""
        return cls(reliability(estimator, X, y, **options)).plot(ax)

    @classmethod
    def from_predictions(cls, y_true: Any, y_prob: Any, *, ax: Any = None, **options: Any) -> ReliabilityDisplay:
        """Judge probabilities (rows × classes) and draw them; options as of `reliability`."""
        return cls(reliability(y_prob, y=y_true, **options)).plot(ax)

    def plot(self, ax: Any = None) -> ReliabilityDisplay:
        """Draw it, on the caller's axes or on a figure of its own."""
        self.ax_ = self.reliability.plot(ax)
        self.figure_ = self.ax_.figure
        return self
