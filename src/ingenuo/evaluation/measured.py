"""What was measured of a classifier, whether the rows were kept or only their sums: measures by name, with intervals.

`Measured` asks for a few things (the classes, the confusion matrix, the losses, the areas) and makes of them every
measure, its interval where one can be had, the tables and the pictures.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError, did_you_mean
from ingenuo.estimators.base import public
from ingenuo.evaluation import intervals
from ingenuo.evaluation.intervals import Interval
from ingenuo.evaluation.measures import AREAS, OF_ROWS, SUMMED, Key, Matrix, Steps, by_class, of_confusion
from ingenuo.explanation import evaluation_tables
from ingenuo.explanation.evaluation_pictures import Bins
from ingenuo.labels import Labels

Floats = NDArray[np.float64]

_EXACT = {
    "accuracy", "majority_rate", "precision_micro", "recall_micro", "f1_micro", "precision", "recall"
}  # fmt: skip
_OVER_CLASSES = {"balanced_accuracy", *(f"{name}_{mean}" for name in SUMMED for mean in ("macro", "weighted"))}


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
    _evaluation: Measured

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


class Measured(ABC):
    """Measures by their names, with intervals; prints as tables.

    Attributes
    ----------
    confidence, random_state
        How sure the intervals are, and the seed of the bootstrap.
    weighted, probable : bool
        Whether the rows have weights; whether there are probabilities.
    n_rows : int
        How many rows were judged.
    """

    confidence: float
    random_state: int

    @property
    @abstractmethod
    def weighted(self) -> bool:
        """Whether rows count otherwise than once."""

    @property
    @abstractmethod
    def probable(self) -> bool:
        """Whether there are probabilities."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows were judged."""

    @property
    @abstractmethod
    def confusion(self) -> NDArray[Any]:
        """Rows of each class (down) by what was answered (across); with weights, their sums."""

    @property
    @abstractmethod
    def confused(self) -> tuple[list[int], list[int], list[float]]:
        """The largest wrong cells of the confusion matrix: true class, answered class, rows."""

    @property
    @abstractmethod
    def remarks(self) -> tuple[str, ...]:
        """What is undefined here and why, and labels that the model does not know."""

    @abstractmethod
    def steps(self, k: int) -> Steps:
        """The rows of class k, and the others, by the probability of the class, which descends."""

    @abstractmethod
    def answer_bins(self) -> tuple[Floats, Floats, Floats]:
        """Rows by bins of the answer's confidence: how many (with weights, their sum), Σ confidence, how many right."""

    @property
    @abstractmethod
    def _known(self) -> Labels:
        """The classes, sorted."""

    @property
    @abstractmethod
    def _matrix(self) -> Matrix:
        """The confusion matrix, as three sums for each class."""

    @property
    @abstractmethod
    def _values(self) -> dict[Key, float | None]:
        """Every measure."""

    @abstractmethod
    def _redrawn(self) -> Matrix:
        """Confusion matrices of rows drawn anew."""

    @abstractmethod
    def _of_losses(self, name: str, value: float) -> Interval:
        """The interval of what is summed over the rows."""

    @abstractmethod
    def _of_area(self, name: str, k: int | None, value: float) -> Interval:
        """The interval of an area: of class k, or of all."""

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted: those the model knows and those that are true of a row."""
        return public(self._known)

    @property
    def support(self) -> Floats:
        """How many rows each class is true of; with weights, their sum."""
        return self._matrix.true

    @property
    def majority(self) -> Any:
        """The class of most rows."""
        return self.labels[int(self._matrix.true.argmax())]

    @cached_property
    def labels(self) -> list[Any]:
        """The classes as a list."""
        return list(self._known.tolist())

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(self.labels)}

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
                one = repr(self.labels[0])
                raise InputError(
                    f"{key!r} is of a class, or a mean over classes: ask for [{key!r}, {one}], [{key + '_macro'!r}], "
                    f"[{key + '_weighted'!r}]"
                ) from None
            known = [name if label is None else f"{name}, {label}" for name, label in self._values]
            said = ", ".join(map(str, key)) if isinstance(key, tuple) else key
            raise InputError(f"{key!r} is not measured here{did_you_mean(said, known)}") from None

    def __contains__(self, key: Any) -> bool:
        return (key if isinstance(key, tuple) else (key, None)) in self._values

    def __iter__(self) -> Iterator[Any]:
        return iter(self.measures)

    @cached_property
    def _replicates(self) -> int:
        return intervals.how_many(self.n_rows, len(self.labels), self.probable)

    @cached_property
    def _matrices(self) -> tuple[Matrix, dict[str, Floats], dict[str, Floats]]:
        """Confusion matrices of rows drawn anew, and what they measure."""
        found = self._redrawn()
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
        if name in _EXACT and not self.weighted:
            return self._share(name, k)
        if name in OF_ROWS:
            return self._of_losses(name, value)
        if name.startswith(AREAS):
            return self._of_area(name, k, value)
        return self._of_matrix(name, k, value)

    def _of_matrix(self, name: str, k: int | None, value: float) -> Interval:
        """The interval of what the confusion matrix measures, by rows drawn anew."""
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

    def _refuse_other(self, other: Measured, *alike: str) -> None:
        """Raise where two evaluations were made in two ways."""
        for name in alike:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise MergeError(f"one evaluation has {name}={mine!r} and the other {theirs!r}; evaluate both alike")

    def __radd__(self, other: Any) -> Self:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __str__(self) -> str:
        return evaluation_tables.text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return evaluation_tables.html_of(self)

    def drawn_bins(self) -> Bins:
        """The rows by the confidence of their answers, for a picture."""
        n, sure, hits = self.answer_bins()
        low, high = np.full(len(n), np.nan), np.full(len(n), np.nan)
        if not self.weighted:  # a binomial share; with weights it is none
            for m in np.flatnonzero(n):
                ends = intervals.exact(hits[m], n[m], self.confidence)[:2]
                low[m], high[m] = (end if end is not None else np.nan for end in ends)
        there = np.maximum(n, np.finfo(np.float64).tiny)
        return Bins(np.arange(len(n) + 1) / len(n), n, sure / there, hits / there, low, high)

    def plot(self) -> Any:
        """Draw the confusion matrix, the curves and the reliability: see `EvaluationDisplay`."""
        from ingenuo.evaluation.displays import EvaluationDisplay

        return EvaluationDisplay(self).plot()
