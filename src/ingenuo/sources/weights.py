"""How often each row counts, as users give it, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError

Floats = NDArray[np.float64]


def weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """The rows' weights, or None where every row counts once."""
    if sample_weight is None:
        return None
    array = np.asarray(sample_weight)
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise KindError(f"sample_weight must hold numbers, got {array.dtype}") from None
    if array.ndim == 0:
        array = np.full(n_rows, float(array))
    array = np.ascontiguousarray(array, np.float64)
    if array.ndim != 1:
        raise InputError("Sample weights must be 1D array or scalar")
    if array.shape != (n_rows,):
        raise InputError(f"sample_weight.shape == {array.shape}, expected {(n_rows,)}! Give one weight for each row")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"the weight of row {at} is {float(array[at])!r}; weights are finite and not negative")
    if not array.sum() < 1e307:
        raise InputError(f"the weights sum to {array.sum():g}, beyond what a double holds well; scale them down")
    if not array.any():
        raise InputError("every weight is zero, so there is nothing to learn from; give some row a positive weight")
    return array
