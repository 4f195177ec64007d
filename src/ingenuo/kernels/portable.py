"""exp, log and log1p of arrays, with the same bits on every machine, as NumPy's and the C library's have not."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ingenuo.kernels import call

Floats = NDArray[np.float64]


def _elementary(which: int, x: ArrayLike) -> Any:
    values = np.ascontiguousarray(x, np.float64)
    out = np.empty_like(values)
    call.elementary(which, values, out, values.size)
    return out if out.ndim and np.ndim(x) else float(out.reshape(()))


def exp(x: ArrayLike) -> Any:
    """The exponential of a number, or of each number of an array."""
    return _elementary(0, x)


def log(x: ArrayLike) -> Any:
    """The logarithm of a number, or of each number of an array."""
    return _elementary(1, x)


def log1p(x: ArrayLike) -> Any:
    """log(1 + x) of a number, or of each number of an array."""
    return _elementary(2, x)


def exp_each(x: Sequence[float]) -> list[float]:
    """The exponentials of a few numbers: of two it takes 2 µs, where an array takes 6."""
    return _each(0, x)


def log_each(x: Sequence[float]) -> list[float]:
    """The logarithms of a few numbers."""
    return _each(1, x)


def log1p_each(x: Sequence[float]) -> list[float]:
    """log(1 + x) of a few numbers."""
    return _each(2, x)


def _each(which: int, x: Sequence[float]) -> list[float]:
    values = array("d", x)
    place, n = values.buffer_info()
    call.elementary(which, place, place, n)
    return values.tolist()


def power(x: ArrayLike, exponent: float) -> Any:
    """x^exponent of numbers above 0."""
    return exp(exponent * log(x))


def total(x: Floats, axis: int = -1) -> Floats:
    """The sums along an axis, added one after another from left to right, as a plain loop in any language would."""
    if x.shape[axis] == 0:
        return np.zeros(np.delete(x.shape, axis).tolist())
    return np.asarray(np.add.accumulate(x, axis=axis).take(-1, axis))


def log_sum(a: ArrayLike, b: ArrayLike) -> Any:
    """log(exp(a) + exp(b))."""
    largest, least = np.maximum(a, b), np.minimum(a, b)
    apart = np.where(np.isneginf(least), -np.inf, least - np.where(np.isneginf(largest), 0.0, largest))
    return largest + log1p(exp(apart))


def log_total(logs: Floats, axis: int | tuple[int, ...]) -> Floats:
    """log Σ exp along some axes; of nothing but -inf, -inf."""
    largest = logs.max(axis=axis, keepdims=True)
    largest = np.where(np.isneginf(largest), 0.0, largest)
    powers = exp(logs - largest)
    sums = total(powers, axis) if isinstance(axis, int) else powers.sum(axis=axis)
    return np.asarray(log(sums) + largest.squeeze(axis))
