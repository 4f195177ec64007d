"""Expectation and maximisation for a mixture of Gaussians on weighted points: the bins of a histogram."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import F64, INT, REAL, function

Floats = NDArray[np.float64]

_maximise = function("maximise", F64, F64, INT, INT, F64, F64, F64, REAL, INT, REAL, F64, returns=REAL)


def maximise(
    points: Floats, weights: Floats, shares: Floats, means: Floats, variances: Floats, least: float, rounds: int,
    tolerance: float,
) -> float:  # fmt: skip
    """Improve shares, means and variances in place until a round gains less than the tolerance for each weight.

    Returns the log likelihood before the last round. No variance falls below `least`.
    """
    n, m = len(points), len(means)
    work = np.empty((n + 1) * m + 3 * n)
    return float(_maximise(points, weights, n, m, shares, means, variances, least, rounds, tolerance, work))
