"""Arrays of sums in ordinary doubles: for real-valued "counts" that come from outside, such as TF-IDF.

They add and subtract to within rounding: what is left after taking away all that was added is at most
1e-9 of what was there, and counts as nothing. `Exact` sums need no such allowance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Real:
    """An array of sums in doubles.

    >>> (Real(np.array([1.5])) + Real(np.array([2.0]))).floats().tolist()
    [3.5]
    """

    values: NDArray[np.float64]

    whole = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of sums."""
        return self.values.shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Real) and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Real) -> Real:
        return Real(self.values + other.values)

    def __sub__(self, other: Real) -> Real:
        rest = self.values - other.values
        rest[np.abs(rest) <= TOLERANCE * np.maximum(np.abs(self.values), np.abs(other.values))] = 0.0
        return Real(rest)

    def scale(self, factor: float | int | Fraction) -> Real:
        """Every cell times the factor."""
        return Real(self.values * float(factor))

    def pick(self, axis: int, indices: NDArray[np.intp]) -> Real:
        """The cells at the indices along one axis; -1 gives zeros."""
        shape = list(self.values.shape)
        shape[axis] = len(indices)
        result = np.zeros(shape)
        where: list[Any] = [slice(None)] * result.ndim
        where[axis] = indices >= 0
        result[tuple(where)] = self.values.take(indices[indices >= 0], axis=axis)
        return Real(result)

    def signs(self) -> NDArray[np.int64]:
        """-1, 0 or 1 for each cell."""
        return np.sign(self.values).astype(np.int64)

    def used(self, axis: int) -> NDArray[np.bool_]:
        """Which slices along the axis have a cell that is not zero."""
        return np.asarray(self.values.any(axis=tuple(a for a in range(self.values.ndim) if a != axis)))

    def floats(self) -> NDArray[np.float64]:
        """The cells."""
        return self.values
