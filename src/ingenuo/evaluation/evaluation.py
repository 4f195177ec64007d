"""`evaluate`: everything that is measured of a classifier on some rows, with intervals; evaluations add.

An evaluation keeps its rows (what was true, what was answered, with what probabilities) and nothing of the model. So
two evaluations add to that of all their rows: the rows are brought to an order of their own before anything is
measured, and every number and interval is the same however they were cut.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError, did_you_mean
from ingenuo.estimators.base import public
from ingenuo.estimators.sequence_model import whole
from ingenuo.evaluation import intervals
from ingenuo.evaluation.intervals import Interval
from ingenuo.evaluation.measures import (
    AREAS,
    OF_ROWS,
    SUMMED,
    Key,
    Matrix,
    by_class,
    judged_classes,
    matrix_of,
    mean_area,
    of_confusion,
    values_of,
)
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.explanation import evaluation_tables
from ingenuo.labels import same

Floats = NDArray[np.float64]

_EXACT = {
    "accuracy", "majority_rate", "precision_micro", "recall_micro", "f1_micro", "precision", "recall"
}  # fmt: skip
_OVER_CLASSES = {"balanced_accuracy", *(f"{name}_{mean}" for name in SUMMED for mean in ("macro", "weighted"))}


def evaluate(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Evaluation:
    """Judge a fitted classifier, or its predictions, by what is true.

    Parameters
    ----------
    model : classifier, or array
        A fitted classifier; or probabilities (rows × classes); or a list of the labels that were answered.
    X : table
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
    return Evaluation(predictions_of(model, X, y, classes, sample_weight), float(confidence), int(random_state))


def check_confidence(confidence: Any) -> None:
    """Raise if this is no share that intervals could hold true in."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.integer | np.floating):
        raise KindError(f"confidence must be a number between 0 and 1, got {type(confidence).__name__} {confidence!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r} is no confidence; take one between 0 and 1, such as 0.95")


@dataclass(frozen=True, eq=False, repr=False)
class Measure:
    """A measured value and its interval, which is found when it is asked for.

    Attributes
    ----------
    name : str
        What is measured.
    label
        The class that it is of; None where it is of all.
    value : float or None
        NaN where it is undefined, None where it takes probabilities and there are labels only.
    """

    name: str
    label: Hashable
    value: float | None
    _evaluation: Evaluation

    @property
    def interval(self) -> Interval:
        """From where to where, and how that was found."""
        return self._evaluation._interval((self.name, self.label))

    @property
    def low(self) -> float | None:
        """The lower end of the interval; None where there is none."""
        return self.interval.low

    @property
    def high(self) -> float | None:
        """The upper end of the interval; None where there is none."""
        return self.interval.high

    @property
    def how(self) -> str:
        """How the interval was found."""
        return self.interval.how

    @property
    def reason(self) -> str | None:
        """Why there is no interval; None where there is one."""
        return self.interval.reason

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value

    def __str__(self) -> str:
        return evaluation_tables.cell(self.value, self.low, self.high)

    def __repr__(self) -> str:
        return f"Measure({self})"


class Evaluation:
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

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted: those the model knows and those that are true of a row."""
        return public(self.predictions.classes)

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return len(self.rows)

    @cached_property
    def rows(self) -> Predictions:
        """The rows, in an order that depends on nothing but them."""
        return self.predictions.canonical()

    @cached_property
    def _matrix(self) -> Matrix:
        return matrix_of(self.rows)

    @property
    def support(self) -> Floats:
        """How many rows each class is true of; with weights, their sum."""
        return self._matrix.true

    @cached_property
    def confusion(self) -> NDArray[Any]:
        """Rows of each class (down) by what was answered (across); with weights, their sums."""
        n = len(self.rows.classes)
        cells = np.bincount(self.rows.codes.astype(np.int64) * n + self.rows.predicted, self.rows.weights, n * n)
        return (cells if self.rows.weights is not None else cells.astype(np.int64)).reshape(n, n)

    @property
    def majority(self) -> Any:
        """The class of most rows."""
        return self._labels[int(self._matrix.true.argmax())]

    @cached_property
    def _labels(self) -> list[Any]:
        return list(self.rows.classes.tolist())

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(self._labels)}

    @cached_property
    def _values(self) -> dict[Key, float | None]:
        return values_of(self.rows, self._matrix)

    @property
    def measures(self) -> Mapping[Any, Measure]:
        """Every measure by its name, or by its name and its class."""
        return MappingProxyType(
            {
                (name if label is None else (name, label)): Measure(name, label, value, self)
                for (name, label), value in self._values.items()
            }
        )

    def __getitem__(self, key: Any) -> Measure:
        wanted = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        try:
            return Measure(wanted[0], wanted[1], self._values[wanted], self)
        except (KeyError, TypeError):
            if isinstance(key, str) and f"{key}_macro" in self:
                one = repr(self._labels[0])
                raise InputError(
                    f"{key!r} is of a class, or a mean over classes: ask for [{key!r}, {one}], [{key + '_macro'!r}], "
                    f"[{key + '_weighted'!r}]"
                ) from None
            known = [name if label is None else f"{name}, {label}" for name, label in self._values]
            said = ", ".join(map(str, key)) if isinstance(key, tuple) else key
            raise InputError(f"{key!r} is not measured here{did_you_mean(said, known)}") from None

    def __contains__(self, key: Any) -> bool:
        return (key if isinstance(key, tuple) else (key, None)) in self._values

    def __iter__(self) -> Any:
        return iter(self.measures)

    @cached_property
    def _replicates(self) -> int:
        return intervals.how_many(len(self.rows), len(self._labels), self.rows.probabilities is not None)

    @cached_property
    def _resampled(self) -> intervals.Resampled:
        return intervals.of_rows(self.rows, self._replicates, self.random_state)

    @cached_property
    def _matrices(self) -> tuple[Matrix, dict[str, Floats], dict[str, Floats]]:
        """Confusion matrices of rows drawn anew, and what they measure."""
        if self.rows.weights is not None:
            found = self._resampled.matrix
        else:
            found = intervals.of_cells(self.rows, self._replicates, self.random_state)
        return found, of_confusion(found), by_class(found)

    @cached_property
    def _intervals(self) -> dict[Key, Interval]:
        return {}

    def _interval(self, key: Key) -> Interval:
        if key not in self._intervals:
            self._intervals[key] = self._found(*key)
        return self._intervals[key]

    def _found(self, name: str, label: Hashable) -> Interval:
        value = self._values[name, label]
        if value is None:
            return Interval.refused("labels were given, and it takes probabilities")
        if math.isnan(value):
            return Interval.refused("it is undefined")
        if self.n_rows < 2:
            return Interval.refused("one row does not say how much others would differ")
        k = None if label is None else self._places[label]
        if name in _EXACT and self.rows.weights is None:
            return self._share(name, k)
        if name in OF_ROWS:
            values = self._resampled.rows[name]
        elif name.startswith(AREAS):
            refusal = self._too_few(k)
            if refusal is not None:
                return refusal
            values = self._area(name, k)
        else:
            found, of_all, of_classes = self._matrices
            if k is not None:
                values = of_classes[name][:, k]
            elif name == "majority_rate":  # of the class that has the majority here
                values = found.true[:, int(self._matrix.true.argmax())] / found.true.sum(axis=1)
            else:
                values = of_all[name]
            if name in _OVER_CLASSES:
                values = intervals.where_all_are_there(values, found, self._matrix)
        return intervals.percentile(values, self.confidence).around(value)

    def _share(self, name: str, k: int | None) -> Interval:
        tp, true, answered = self._matrix
        if name == "majority_rate":
            return intervals.exact(true.max(), true.sum(), self.confidence)
        if k is None:
            return intervals.exact(tp.sum(), true.sum(), self.confidence)
        return intervals.exact(tp[k], (answered if name == "precision" else true)[k], self.confidence)

    def _too_few(self, k: int | None) -> Interval | None:
        """Why an area has no interval: of one row nothing can be drawn but itself."""
        counts = np.bincount(self.rows.codes, minlength=len(self._labels))
        judged = [k] if k is not None else judged_classes(len(counts))
        for j in judged:
            if 0 < min(counts[j], self.n_rows - counts[j]) < 2:
                return Interval.refused(
                    f"{counts[j]:,} of {self.n_rows:,} rows are of class {self._labels[j]!r}, and an area needs 2 of a "
                    "class and 2 others"
                )
        return None

    def _area(self, name: str, k: int | None) -> Floats:
        drawn = self._resampled
        areas = drawn.roc if name.startswith("roc") else drawn.pr
        if k is not None:
            return areas[:, k]
        if len(self._labels) <= 2:
            return areas[:, 0]
        weights = drawn.matrix.true if name.endswith("weighted") else None
        return mean_area(areas, self._matrix.true, weights)

    def __add__(self, other: Any) -> Evaluation:
        """The evaluation of the rows of both."""
        if not isinstance(other, Evaluation):
            return NotImplemented
        for name in ("confidence", "random_state"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise MergeError(f"one evaluation has {name}={mine!r} and the other {theirs!r}; evaluate both alike")
        return Evaluation(self.predictions + other.predictions, self.confidence, self.random_state)

    def __radd__(self, other: Any) -> Evaluation:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

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
        probable = self.rows.probabilities is not None
        return (*self.predictions.remarks, *evaluation_tables.remarks(self._labels, self._matrix, probable))

    def table(self) -> Any:
        """An Arrow table with a line for each measure: measure, class, value, low, high, method."""
        import pyarrow as pa

        every = list(self.measures.values())
        columns: dict[str, Any] = {
            "measure": [m.name for m in every],
            "class": pa.array([None if m.label is None else str(m.label) for m in every], pa.string()),
        }
        for name in ("value", "low", "high"):
            columns[name] = pa.array([getattr(m, name) for m in every], pa.float64())
        columns["method"] = [m.how if m.reason is None else f"{m.how}: {m.reason}" for m in every]
        return pa.table(columns)

    def frame(self) -> Any:
        """The table as a pandas frame."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise InputError("a frame needs pandas, which is not installed; install it, or take .table()") from None
        return self.table().to_pandas()

    def __str__(self) -> str:
        return evaluation_tables.text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return evaluation_tables.html_of(self)

    def plot(self) -> Any:
        """Draw the confusion matrix, the curves and the reliability: see `EvaluationDisplay`."""
        from ingenuo.evaluation.displays import EvaluationDisplay

        return EvaluationDisplay(self).plot()
