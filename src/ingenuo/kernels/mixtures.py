"""Expectation and maximisation for a mixture of Gaussians on weighted points: the bins of a histogram."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_ROOT = math.log(2 * math.pi) / 2


@njit(cache=True, nogil=True)
def maximise(points, weights, shares, means, variances, least, rounds, tolerance):  # type: ignore[no-untyped-def]
    """Improve shares, means and variances in place until a round gains less than the tolerance for each weight.

    Returns the log likelihood before the last round. No variance falls below `least`.
    """
    n, m = len(points), len(means)
    total = weights.sum()
    r = np.empty(m)
    before = -np.inf
    likelihood = before
    for _ in range(rounds):
        mass, first, second = np.zeros(m), np.zeros(m), np.zeros(m)
        constants = np.empty(m)
        for c in range(m):
            constants[c] = math.log(shares[c]) - 0.5 * math.log(variances[c]) - _ROOT if shares[c] > 0 else -np.inf
        likelihood = 0.0
        for i in range(n):
            top = -np.inf
            for c in range(m):
                z = points[i] - means[c]
                r[c] = constants[c] - 0.5 * z * z / variances[c]
                top = max(top, r[c])
            whole = 0.0
            for c in range(m):
                r[c] = math.exp(r[c] - top)
                whole += r[c]
            likelihood += weights[i] * (top + math.log(whole))
            for c in range(m):
                part = weights[i] * r[c] / whole
                z = points[i] - means[c]  # from the old mean: no cancellation
                mass[c] += part
                first[c] += part * z
                second[c] += part * z * z
        for c in range(m):
            shares[c] = mass[c] / total
            if mass[c] > 0:
                shift = first[c] / mass[c]
                means[c] += shift
                variances[c] = max(second[c] / mass[c] - shift * shift, least)
        if likelihood - before < tolerance * total:
            break
        before = likelihood
    return likelihood
