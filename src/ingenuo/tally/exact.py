"""Arrays of exact sums: fixed-point integers in 40-bit limbs, in one canonical form.

The value of a cell is Σ limbs[l] · 2^(40·(low + l)). Every limb lies in -2^39 .. 2^39 - 1, so a value has one
form only; limbs that are zero in every cell are trimmed away at both ends. Equality of sums is then equality
of arrays. Counts below 2^39 are simply one limb at position 0: an ordinary array of integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError

LIMB = 40
_HALF = 1 << (LIMB - 1)

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Exact:
    """An array of exact sums."""

    limbs: Integers  # (limbs, *shape), canonical
    low: int  # position of the first limb

    @staticmethod
    def canonical(limbs: Integers, low: int) -> Exact:
        """Carry and trim any limbs; the array is taken over and may be changed."""
        if limbs.shape[0] == 1 and limbs.size:
            least, most = limbs.min(), limbs.max()
            if least >= -_HALF and most < _HALF:
                return _frozen(limbs, low) if least or most else Exact.zeros(limbs.shape[1:])
        rows = list(limbs)
        position = 0
        while position < len(rows):
            carry = (rows[position] >> LIMB) + ((rows[position] >> LIMB - 1) & 1)  # rounds; cannot overflow
            if carry.any():
                rows[position] = rows[position] - (carry << LIMB)
                if position + 1 == len(rows):
                    rows.append(carry)
                else:
                    rows[position + 1] = rows[position + 1] + carry
            position += 1
        return _trimmed(np.array(rows, np.int64).reshape(len(rows), *limbs.shape[1:]), low)

    @staticmethod
    def counts(values: NDArray[Any]) -> Exact:
        """Whole numbers of any integer type."""
        return Exact.canonical(np.asarray(values, np.int64)[np.newaxis], 0)

    @staticmethod
    def of(values: Any) -> Exact:
        """The exact values of finite doubles, integers or fractions of a power of two."""
        cells = np.asarray(values, object)
        return Exact.of_fractions(np.array([Fraction(v) for v in cells.flat], object).reshape(cells.shape))

    @staticmethod
    def of_fractions(cells: NDArray[Any]) -> Exact:
        """Dyadic rationals, as an array of `Fraction`."""
        depth = max((f.denominator.bit_length() - 1 for f in cells.flat), default=0)
        low = -(-depth // LIMB)
        flat = [f.numerator << (LIMB * low - f.denominator.bit_length() + 1) for f in cells.flat]
        count = max((abs(n).bit_length() for n in flat), default=0) // LIMB + 1
        digits = [[n >> LIMB * place & (1 << LIMB) - 1 for n in flat] for place in range(count)]
        limbs = np.array([*digits, [n >> LIMB * count for n in flat]], np.int64)
        return Exact.canonical(limbs.reshape(count + 1, *cells.shape), -low)

    @staticmethod
    def zeros(shape: tuple[int, ...]) -> Exact:
        """Nothing added yet."""
        return Exact(np.zeros((0, *shape), np.int64), 0)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of sums."""
        return self.limbs.shape[1:]

    @property
    def whole(self) -> bool:
        """Whether every cell is a whole number that one limb holds: an ordinary count."""
        return self.limbs.shape[0] == 0 or (self.limbs.shape[0] == 1 and self.low == 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exact) and self.low == other.low and np.array_equal(self.limbs, other.limbs)

    __hash__ = None  # type: ignore[assignment]

    def _combined(self, other: Exact, sign: int) -> Exact:
        if self.low == other.low and self.limbs.shape == other.limbs.shape:
            return Exact.canonical(self.limbs + other.limbs if sign > 0 else self.limbs - other.limbs, self.low)
        low = min(self.low, other.low)
        high = max(each.low + len(each.limbs) for each in (self, other))
        total = np.zeros((high - low, *self.shape), np.int64)
        total[self.low - low :][: len(self.limbs)] = self.limbs
        window = total[other.low - low :][: len(other.limbs)]
        (np.add if sign > 0 else np.subtract)(window, other.limbs, out=window)
        return Exact.canonical(total, low)

    def __add__(self, other: Exact) -> Exact:
        return self._combined(other, 1)

    def __sub__(self, other: Exact) -> Exact:
        return self._combined(other, -1)

    def where(self, kept: NDArray[np.bool_]) -> Exact:
        """The cells that are kept; the others are zero."""
        return Exact.canonical(np.where(kept, self.limbs, 0), self.low)

    def scale(self, factor: float | int | Fraction) -> Exact:
        """Every cell times the factor, exactly (a factor that is a dyadic rational, as every double is)."""
        factor = Fraction(factor)
        if factor.denominator & (factor.denominator - 1):
            raise InputError(f"exact sums cannot be scaled by {factor}; its denominator must be a power of two")
        if self.whole and factor.denominator == 1 and abs(factor.numerator) < 1 << 20:
            return Exact.canonical(self.limbs * factor.numerator, self.low)
        return Exact.of_fractions(self.fractions() * factor)

    def pick(self, axis: int, indices: NDArray[np.intp]) -> Exact:
        """The cells at the indices along one axis; -1 gives zeros."""
        return _trimmed(_pick(self.limbs, axis + 1, indices), self.low)

    def signs(self) -> NDArray[np.int64]:
        """-1, 0 or 1 for each cell: the sign of its highest limb that is not zero."""
        result = np.zeros(self.shape, np.int64)
        for limb in self.limbs:
            np.copyto(result, np.sign(limb), where=limb != 0)
        return result

    def used(self, axis: int) -> NDArray[np.bool_]:
        """Which slices along the axis have a cell that is not zero."""
        others = tuple(a for a in range(self.limbs.ndim) if a != axis + 1)
        return np.asarray(self.limbs.any(axis=others))

    def integers(self) -> tuple[NDArray[Any], int]:
        """Python integers N and an exponent e with value = N · 2^e for every cell."""
        total = np.zeros(self.shape, object)
        for position, limb in enumerate(self.limbs):
            total = total + limb.astype(object) * (1 << (LIMB * position))
        return np.asarray(total, object).reshape(self.shape), LIMB * self.low

    def decimals(self) -> dict[str, Any]:
        """The integers for a reader of JSON, those beyond 2^53 as text, and their exponent of two.

        >>> Exact.of([0.5, 3]).decimals() == {"exponent": -40, "cells": [1 << 39, 3 << 40]}
        True
        """
        numbers, exponent = self.integers()
        return {"exponent": exponent, "cells": [n if abs(n) <= 1 << 53 else str(n) for n in map(int, numbers.flat)]}

    def fractions(self) -> NDArray[Any]:
        """Each cell as a `Fraction`."""
        numbers, exponent = self.integers()
        unit = Fraction(2) ** exponent
        return np.array([n * unit for n in numbers.flat], object).reshape(self.shape)

    def floats(self) -> NDArray[np.float64]:
        """Each cell as the nearest double."""
        if self.whole:
            return np.asarray(self.limbs.sum(axis=0), np.float64)
        numbers, exponent = self.integers()
        return np.array([ratio(n, 1, exponent) for n in numbers.flat], np.float64).reshape(self.shape)


def ratio(top: int, bottom: int, shift: int) -> float:
    """top · 2^shift / bottom as the nearest double; 0 where the bottom is 0."""
    if bottom == 0:
        return 0.0
    try:
        return (top << shift) / bottom if shift >= 0 else top / (bottom << -shift)
    except OverflowError:
        return math.inf if top > 0 else -math.inf


def _pick(array: NDArray[Any], axis: int, indices: NDArray[np.intp]) -> NDArray[Any]:
    """What stands at the indices along an axis; zeros where they are negative."""
    shape = (*array.shape[:axis], len(indices), *array.shape[axis + 1 :])
    if array.size == 0:
        return np.zeros(shape, array.dtype)
    found = array.take(indices, axis=axis)
    if (indices < 0).any():
        np.moveaxis(found, axis, 0)[indices < 0] = 0
    return found


def _trimmed(limbs: Integers, low: int) -> Exact:
    used = [position for position, limb in enumerate(limbs) if limb.any()]
    return _frozen(limbs[used[0] : used[-1] + 1], low + used[0]) if used else Exact.zeros(limbs.shape[1:])


def _frozen(limbs: Integers, low: int) -> Exact:
    limbs.flags.writeable = False
    return Exact(limbs, low)


TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Real:
    """An array of sums in doubles: for real-valued "counts" that come from outside, such as TF-IDF."""

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
        return Real(_pick(self.values, axis, indices))

    def where(self, kept: NDArray[np.bool_]) -> Real:
        """The cells that are kept; the others are zero."""
        return Real(np.where(kept, self.values, 0.0))

    def signs(self) -> NDArray[np.int64]:
        """-1, 0 or 1 for each cell."""
        return np.sign(self.values).astype(np.int64)

    def used(self, axis: int) -> NDArray[np.bool_]:
        """Which slices along the axis have a cell that is not zero."""
        return np.asarray(self.values.any(axis=tuple(a for a in range(self.values.ndim) if a != axis)))

    def decimals(self) -> dict[str, Any]:
        """There are none: such sums are rounded."""
        raise KindError(
            "counts that are no whole numbers have rounded sums, from which a page cannot take a row away; forget with "
            "ingenuo open instead"
        )

    def floats(self) -> NDArray[np.float64]:
        """The cells."""
        return self.values
