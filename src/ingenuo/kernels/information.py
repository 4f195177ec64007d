"""What the other rows tell of each row: information of two columns from counts, the row itself taken off."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def told_by_others(counts):  # type: ignore[no-untyped-def]
    """Σ n_abc log (n_abc - 1 + q B/2) / ((n_ac - 1 + B/2) q) over the cells of counts (class × a × b).

    q = (n_bc - 1/2) / (n_c - 1 + B/2), where B values of b occur.
    """
    classes, firsts, seconds = counts.shape
    by_class = np.zeros((classes, seconds))
    seen = np.zeros(seconds, np.bool_)
    for c in range(classes):
        for a in range(firsts):
            for b in range(seconds):
                by_class[c, b] += counts[c, a, b]
                if counts[c, a, b] > 0:
                    seen[b] = True
    half = 0.5 * seen.sum()
    total = 0.0
    for c in range(classes):
        of_class = by_class[c].sum()
        below = max(of_class - 1.0, 0.0) + half
        for a in range(firsts):
            alike = counts[c, a].sum()
            if alike <= 0:
                continue
            alike = max(alike - 1.0, 0.0) + half
            for b in range(seconds):
                n = counts[c, a, b]
                if n > 0:
                    q = (max(by_class[c, b] - 1.0, 0.0) + 0.5) / below
                    total += n * math.log((max(n - 1.0, 0.0) + half * q) / (alike * q))
    return total
