"""The cross-entropy of rows under logits: its value, its gradient, its curvature, and how it goes along a line.

Two classes have one logit z, the log odds of the second; more have one each. Logits and gradients are rows × logits.

    loss = Σ_i w_i (log Σ_k exp z_ik - z_i,y)        gradient in z_ik = w_i (p_ik - [y_i = k])
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.native import F64, I32, INT, REAL, function

Floats = NDArray[np.float64]

_residuals = function("residuals", F64, INT, I32, F64, INT, INT, INT, F64, returns=REAL)
_loss_along = function("loss_along", F64, INT, INT, F64, F64, INT, I32, F64, INT, INT, INT, F64, F64, F64, returns=REAL)

_FEW = 1 << 12  # rows that a part has at least
_PARTS = 8  # as many whatever the threads, so that sums are added in one order


def _parts(n_rows: int) -> list[tuple[int, int]]:
    return threads.split(n_rows, _PARTS, _FEW)


def residuals(logits: Floats, labels: NDArray[np.int32], weights: Floats, out: Floats) -> float:
    """The loss; its gradient in the logits is written to out. No weights are ones."""
    given = logits, logits.shape[1], labels, weights, len(weights) > 0
    return float(sum(threads.run([partial(_residuals, *given, lo, hi, out) for lo, hi in _parts(len(logits))])))


def within(
    logits: Floats, directions: Floats, lengths: Floats, labels: NDArray[np.int32], weights: Floats
) -> tuple[float, Floats, Floats]:
    """The loss at logits + Σ_m lengths[m] · directions[m], and its gradient and curvature in the lengths."""
    (n, columns), size = logits.shape, len(lengths)
    given = logits, n, columns, np.ascontiguousarray(directions), lengths, size, labels, weights, len(weights) > 0

    def work(lo: int, hi: int) -> tuple[float, Floats, Floats]:
        slope, bend = np.zeros(size), np.zeros((size, size))
        return _loss_along(*given, lo, hi, slope, bend, np.empty((size + 1) * (columns + 1) + columns)), slope, bend

    found = threads.run([partial(work, lo, hi) for lo, hi in _parts(n)])
    lower = sum((bend for _, _, bend in found), np.zeros((size, size)))
    slope = sum((slope for _, slope, _ in found), np.zeros(size))
    return float(sum(loss for loss, _, _ in found)), slope, lower + np.tril(lower, -1).T
