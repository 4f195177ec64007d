"""exp, log and log1p of arrays, with the same bits on every machine.

NumPy's and the C library's differ in the last bit from one processor or version to the next. What a model answers is
made of these, so that it is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ingenuo.kernels.native import F64, INT, function

Floats = NDArray[np.float64]


_elementary = function("elementary", INT, F64, F64, INT)


def _over_array(which: int, name: str) -> Callable[[ArrayLike], Any]:
    def of(x: ArrayLike) -> Any:
        values = np.ascontiguousarray(x, np.float64)
        out = np.empty_like(values)
        _elementary(which, values, out, values.size)
        return out if out.ndim and np.ndim(x) else float(out.reshape(()))

    of.__name__ = name
    of.__doc__ = f"{name}(x) of a number, or of each number of an array."
    return of


exp, log, log1p = (_over_array(which, name) for which, name in enumerate(("exp", "log", "log1p")))


def log_sum(a: ArrayLike, b: ArrayLike) -> Any:
    """log(exp(a) + exp(b)).

    >>> float(log_sum(-np.inf, 0.0))
    0.0
    """
    largest, least = np.maximum(a, b), np.minimum(a, b)
    apart = np.where(np.isneginf(least), -np.inf, least - np.where(np.isneginf(largest), 0.0, largest))
    return largest + log1p(exp(apart))


def log_total(logs: Floats, axis: int | tuple[int, ...]) -> Floats:
    """log Σ exp along some axes; of nothing but -inf, -inf.

    >>> log_total(np.log([[1.0, 2.0, 3.0]]), 1).round(6).tolist()
    [1.791759]
    """
    largest = logs.max(axis=axis, keepdims=True)
    largest = np.where(np.isneginf(largest), 0.0, largest)
    return np.asarray(log(exp(logs - largest).sum(axis=axis)) + largest.squeeze(axis))
