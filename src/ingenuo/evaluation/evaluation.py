"""`evaluate`: everything that is measured of a classifier on some rows, with intervals; evaluations add.

An evaluation keeps its rows (what was true, what was answered, with what probabilities) and nothing of the model. So
two evaluations add to that of all their rows: the rows are brought to an order of their own before anything is
measured, and every number and interval is the same however they were cut.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ingenuo.engines import is_spread
from ingenuo.errors import KindError
from ingenuo.estimators.sequence_model import whole
from ingenuo.evaluation import intervals
from ingenuo.evaluation.counted import CountedEvaluation, count
from ingenuo.evaluation.intervals import Interval
from ingenuo.evaluation.measured import Measure as Measure
from ingenuo.evaluation.measured import Measured
from ingenuo.evaluation.measured import check_confidence as check_confidence
from ingenuo.evaluation.measures import (
    BINS,
    EDGES,
    Key,
    Matrix,
    Steps,
    matrix_of,
    mean_area,
    steps,
    values_of,
)
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.explanation import evaluation_tables
from ingenuo.labels import Labels, same

Floats = NDArray[np.float64]


@overload
def evaluate(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
    counted: Literal[False] = False,
) -> Evaluation: ...


@overload
def evaluate(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
    counted: bool,
) -> Evaluation | CountedEvaluation: ...


def evaluate(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
    counted: bool = False,
) -> Evaluation | CountedEvaluation:
    """Judge a fitted classifier, or its predictions, by what is true.

    Parameters
    ----------
    model : classifier, or array
        A fitted classifier; or probabilities (rows × classes); or a list of the labels that were answered.
    X : table, what `scan` gives, or a Dask or Spark DataFrame
        The rows for the classifier, which it should not have learned from; None beside predictions.
    y : array-like, or the name of a column of X
        What is true of each row.
    classes : list, optional
        The classes of the columns of probabilities, in their order; by default the sorted labels of y.
    sample_weight : array-like, optional
        How much each row counts.
    confidence : float
        How sure the intervals are.
    random_state : int
        Seed of the bootstrap.
    counted : bool
        Whether to keep sums alone and no rows, as is done anyway of rows that lie on an engine. Then memory does not
        grow with the rows of a scan; areas are of a fixed grid of probabilities.

    Examples
    --------
    >>> found = evaluate(["a", "b", "b", "b"], y=["a", "b", "b", "a"])
    >>> found["accuracy"].value, found["recall", "a"].value
    (0.75, 0.5)
    >>> print(found["accuracy"])
    0.750 [0.194, 0.994]
    """
    check_confidence(confidence)
    whole("random_state", random_state, 0)
    if not isinstance(counted, bool | np.bool_):
        raise KindError(f"counted must be True or False, got {type(counted).__name__} {counted!r}")
    if counted or is_spread(X):
        return count(model, X, y, classes, sample_weight, float(confidence), int(random_state))
    return Evaluation(predictions_of(model, X, y, classes, sample_weight), float(confidence), int(random_state))


class Evaluation(Measured):
    """What was measured on some rows; prints as tables, and adds.

    Attributes
    ----------
    classes : array
        The classes, sorted.
    n_rows : int
        How many rows were judged; those of weight 0 are not.
    confidence, random_state
        As they were given.
    """

    def __init__(self, predictions: Predictions, confidence: float = 0.95, random_state: int = 0) -> None:
        self.predictions, self.confidence, self.random_state = predictions, confidence, random_state

    @cached_property
    def rows(self) -> Predictions:
        """The rows, in an order that depends on nothing but them."""
        return self.predictions.canonical()

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return len(self.rows)

    @property
    def weighted(self) -> bool:
        """Whether rows count otherwise than once."""
        return self.rows.weights is not None

    @property
    def probable(self) -> bool:
        """Whether there are probabilities."""
        return self.rows.probabilities is not None

    @property
    def _known(self) -> Labels:
        return self.predictions.classes

    @cached_property
    def _matrix(self) -> Matrix:
        return matrix_of(self.rows)

    @cached_property
    def confusion(self) -> NDArray[Any]:
        """Rows of each class (down) by what was answered (across); with weights, their sums."""
        n = len(self.rows.classes)
        cells = np.bincount(self.rows.codes.astype(np.int64) * n + self.rows.predicted, self.rows.weights, n * n)
        return (cells if self.rows.weights is not None else cells.astype(np.int64)).reshape(n, n)

    @property
    def confused(self) -> tuple[list[int], list[int], list[float]]:
        """The largest wrong cells of the confusion matrix: true class, answered class, rows."""
        return evaluation_tables.worst(self.rows)

    @cached_property
    def _values(self) -> dict[Key, float | None]:
        return values_of(self.rows, self._matrix)

    def steps(self, k: int) -> Steps:
        """The rows of class k, and the others, by the probability of the class, which descends."""
        assert self.rows.probabilities is not None
        return steps(self.rows.probabilities[:, k], self.rows.codes == k, self.rows.weights)

    def answer_bins(self) -> tuple[Floats, Floats, Floats]:
        """Rows by bins of the answer's confidence: how many (with weights, their sum), Σ confidence, how many right."""
        rows = self.rows
        assert rows.probabilities is not None
        sure = rows.probabilities[np.arange(len(rows)), rows.predicted]
        right = (rows.codes == rows.predicted).astype(np.float64)
        bins = np.searchsorted(EDGES, sure, side="left")
        w = np.ones(len(rows)) if rows.weights is None else rows.weights
        n, ours, hits = (np.bincount(bins, values, BINS).astype(np.float64) for values in (w, w * sure, w * right))
        return n, ours, hits

    @cached_property
    def _resampled(self) -> intervals.Resampled:
        return intervals.of_rows(self.rows, self._replicates, self.random_state)

    def _redrawn(self) -> Matrix:
        if self.weighted:
            return self._resampled.matrix
        n = len(self.rows.classes)
        cells, counts = np.unique(self.rows.codes.astype(np.int64) * n + self.rows.predicted, return_counts=True)
        return intervals.of_cells(cells, counts, n, self._replicates, self.random_state)

    def _of_losses(self, name: str, value: float) -> Interval:
        return intervals.percentile(self._resampled.rows[name], self.confidence).around(value)

    def _of_area(self, name: str, k: int | None, value: float) -> Interval:
        counts = np.bincount(self.rows.codes, minlength=len(self.labels))
        refusal = intervals.too_few(counts, self.labels, k)
        if refusal is not None:
            return refusal
        return intervals.percentile(self._area(name, k), self.confidence).around(value)

    def _area(self, name: str, k: int | None) -> Floats:
        drawn = self._resampled
        areas = drawn.roc if name.startswith("roc") else drawn.pr
        if k is not None:
            return areas[:, k]
        if len(self.labels) <= 2:
            return areas[:, 0]
        weights = drawn.matrix.true if name.endswith("weighted") else None
        return mean_area(areas, self._matrix.true, weights)

    def __add__(self, other: Any) -> Evaluation:
        """The evaluation of the rows of both."""
        if not isinstance(other, Evaluation):
            return NotImplemented
        self._refuse_other(other, "confidence", "random_state")
        return Evaluation(self.predictions + other.predictions, self.confidence, self.random_state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return NotImplemented
        if (self.confidence, self.random_state) != (other.confidence, other.random_state):
            return False
        a, b = self.rows, other.rows
        names = ("codes", "predicted", "probabilities", "weights")
        return same(a.classes, b.classes) and all(
            np.array_equal(x, y) if x is not None and y is not None else x is y
            for x, y in ((getattr(a, name), getattr(b, name)) for name in names)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is undefined here and why, and labels that the model does not know."""
        return (*self.predictions.remarks, *evaluation_tables.remarks(self.labels, self._matrix, self.probable))
