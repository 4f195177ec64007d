"""What the other rows tell of each row: information of two columns from counts, the row itself taken off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import F64, INT, REAL, function

_information_of_others = function("information_of_others", F64, INT, INT, INT, F64, returns=REAL)


def told_by_others(counts: NDArray[np.float64]) -> float:
    """Σ n_abc log (n_abc - 1 + q B/2) / ((n_ac - 1 + B/2) q) over the cells of counts (class × a × b).

    q = (n_bc - 1/2) / (n_c - 1 + B/2), where B values of b occur.

    >>> round(told_by_others(np.array([[[3.0, 0.0], [0.0, 3.0]]])), 4)
    3.9555
    """
    counts = np.ascontiguousarray(counts, np.float64)
    classes, _, seconds = counts.shape
    found: float = _information_of_others(counts, *counts.shape, np.zeros((classes, seconds)))
    return found
