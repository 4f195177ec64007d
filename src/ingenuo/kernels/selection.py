"""The log loss of rows with each of many attributes added to, or taken from, what is said of them already."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels import threads

Floats = NDArray[np.float64]

_LEAST = 700.0  # no row's loss counts for more


# So many factors, none more than 2, are multiplied before a logarithm is taken.
_FACTORS = 16


@njit(cache=True, nogil=True)
def _of_two(joint, scores, sign, codes, rows):  # type: ignore[no-untyped-def]
    """Σ u log(1 + e^-d), d the log odds of the true class; without weights, a logarithm for sixteen rows at a time."""
    total, product, waiting = 0.0, 1.0, 0
    weighted = len(rows) > 0
    for i in range(len(codes)):
        d = joint[i, 1] - joint[i, 0] + sign * (scores[i, 1] - scores[i, 0])
        d = d if codes[i] == 1 else -d
        if weighted:
            loss = math.log1p(math.exp(-abs(d))) + max(-d, 0.0)
            total += rows[i] * min(loss, _LEAST)
            continue
        total += min(max(-d, 0.0), _LEAST)
        product *= 1.0 + math.exp(-abs(d))
        waiting += 1
        if waiting == _FACTORS:
            total += math.log(product)
            product, waiting = 1.0, 0
    return total + math.log(product)


@njit(cache=True, nogil=True)
def _of_many(joint, scores, sign, codes, rows):  # type: ignore[no-untyped-def]
    total = 0.0
    K = joint.shape[1]
    for i in range(len(codes)):
        top = -math.inf
        for k in range(K):
            top = max(top, joint[i, k] + sign * scores[i, k])
        below = 0.0
        for k in range(K):
            below += math.exp(joint[i, k] + sign * scores[i, k] - top)
        loss = math.log(below) + top - joint[i, codes[i]] - sign * scores[i, codes[i]]
        total += (rows[i] if len(rows) else 1.0) * min(loss, _LEAST)
    return total


def losses(
    joint: Floats, scores: Floats, among: list[int], sign: float, codes: NDArray[np.int32], rows: Floats
) -> Floats:
    """The mean log loss with each of these attributes (of attributes × rows × classes) added, or taken away.

    >>> joint, scores = np.zeros((2, 2)), np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> losses(joint, scores, [0], 1.0, np.array([1, 0], np.int32), np.ones(2)).round(4).tolist()
    [0.3133]
    """
    work = _of_two if joint.shape[1] == 2 else _of_many
    weights = np.zeros(0) if (rows == 1).all() else rows
    found = threads.run([partial(work, joint, scores[j], sign, codes, weights) for j in among])
    return np.asarray(np.array(found) / rows.sum())
