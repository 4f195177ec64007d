"""The log loss of rows with each of many attributes added to, or taken from, what is said of them already."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.native import F64, I32, INT, REAL, function

Floats = NDArray[np.float64]

_LOSSES = 256  # numbers that the loop works on at a time

_log_loss = function("log_loss", F64, F64, REAL, I32, INT, F64, INT, INT, F64, returns=REAL)


def losses(
    joint: Floats, scores: Floats, among: list[int], sign: float, codes: NDArray[np.int32], rows: Floats
) -> Floats:
    """The mean log loss with each of these attributes (of attributes × rows × classes) added, or taken away.

    >>> joint, scores = np.zeros((2, 2)), np.array([[[0.0, 1.0], [1.0, 0.0]]])
    >>> losses(joint, scores, [0], 1.0, np.array([1, 0], np.int32), np.ones(2)).round(4).tolist()
    [0.3133]
    """
    n, n_classes = joint.shape
    joint, codes = np.require(joint, np.float64, ["C", "A"]), np.require(codes, np.int32, ["C", "A"])
    rows = np.require(rows, np.float64, ["C", "A"])
    weighted = not (rows == 1).all()

    def loss(j: int) -> float:
        own, room = np.require(scores[j], np.float64, ["C", "A"]), np.empty(_LOSSES + n_classes)
        found: float = _log_loss(joint, own, sign, codes, weighted, rows, n, n_classes, room)
        return found

    return np.asarray(np.array(threads.run([partial(loss, j) for j in among])) / rows.sum())
