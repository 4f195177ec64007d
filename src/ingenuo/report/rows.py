"""The rows that a report judges: as they were given, or as many of them as a report can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError, InputError, KindError
from ingenuo.estimators import inputs
from ingenuo.estimators.rows import is_stream, named, take_rows
from ingenuo.schema import Schema
from ingenuo.sources import Source, open_source
from ingenuo.sources.streams import drawn


@dataclass(frozen=True)
class Rows:
    """Rows and what is true of them."""

    X: Any
    y: NDArray[Any]
    codes: NDArray[np.int32]  # of y
    given: int  # rows there were
    numbers: NDArray[np.int64]  # which of them these are, from 0

    def __len__(self) -> int:
        return len(self.y)

    def row(self, place: int) -> Any:
        """One row, as a model explains it."""
        if inputs.is_frame(self.X):
            return take_rows(self.X, np.array([place]))
        value = self.X[place]
        return value.as_py() if hasattr(value, "as_py") else value

    def taken(self, places: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        return Rows(take_rows(self.X, places), self.y[places], self.codes[places], self.given, self.numbers[places])

    def source(self) -> Source | None:
        """The rows column by column; None where they have no columns that could be named."""
        try:
            return open_source(inputs.array_of(self.X) if _nested(self.X) else self.X)
        except IngenuoError:
            return None


def _nested(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], list | tuple | np.ndarray)


def rows_of(model: Any, X: Any, y: Any, max_rows: int, seed: int) -> Rows:
    """The rows to judge a model on; of more than so many, that many drawn at random."""
    for name, value in (("max_rows", max_rows), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise KindError(f"{name} must be a whole number, got {type(value).__name__} {value!r}")
    if max_rows < 1 or seed < 0:
        raise InputError(f"max_rows must be 1 at least and seed 0 at least, got {max_rows} and {seed}")
    if y is None:
        y = getattr(model, "_target", None)
        if y is None:
            raise InputError("y is missing: give the name of the column of classes, or the class of each row")
    if isinstance(y, str) and not inputs.is_frame(X) and not is_stream(X):
        raise InputError(f"y={y!r} names a column, and X is no table with names; give the class of each row")
    numbers, given = None, None
    if is_stream(X):
        y = named(X, y, None)[0]
        X, numbers, given = drawn(X, int(max_rows), int(seed))
    X, y = inputs.target_column(X, y)
    codes, classes = inputs.labels(None, y, len(y))
    labels = np.asarray(classes[codes])
    n = len(labels)
    if hasattr(X, "to_list") and not inputs.is_frame(X):  # a series of texts
        X = X.to_list()
    if n <= max_rows:
        return Rows(X, labels, codes, n if given is None else given, np.arange(n) if numbers is None else numbers)
    some = np.sort(np.random.default_rng(seed).choice(n, int(max_rows), replace=False))
    return Rows(take_rows(X, some), labels[some], codes[some], n, some)


def schema_of(model: Any) -> Schema | None:
    """What the model takes each column for, if it says."""
    found = getattr(model, "schema_", None)
    return found if isinstance(found, Schema) and len(found) else None
