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
_loss_within = function(
    "loss_within", F64, INT, INT, F64, F64, INT, I32, F64, INT, INT, INT, F64, F64, F64, returns=REAL
)

_ROWS = 64  # whose exponentials are taken together, as in counts.hpp
_FEW = 1 << 12  # rows that a thread takes at least


def residuals(logits: Floats, labels: NDArray[np.int32], weights: Floats, out: Floats) -> float:
    """The loss; its gradient in the logits is written to out. No weights are ones."""
    given = np.ascontiguousarray(logits), logits.shape[1], labels, weights, len(weights) > 0
    parts = threads.split(len(logits), threads.width(), _FEW)
    return float(sum(threads.run([partial(_residuals, *given, lo, hi, out) for lo, hi in parts])))


def within(
    logits: Floats, directions: Floats, lengths: Floats, labels: NDArray[np.int32], weights: Floats
) -> tuple[float, Floats, Floats]:
    """The loss at logits + Σ_m lengths[m] · directions[m], and its gradient and curvature in the lengths."""
    size, columns = len(lengths), logits.shape[1]
    logits, directions = np.ascontiguousarray(logits), np.ascontiguousarray(directions)
    given = logits, len(logits), columns, directions, lengths, size, labels, weights, len(weights) > 0

    def work(lo: int, hi: int) -> tuple[float, Floats, Floats]:
        slope, bend = np.zeros(size), np.zeros((size, size))
        return _loss_within(*given, lo, hi, slope, bend, np.empty((_ROWS + 1) * columns + size)), slope, bend

    parts = threads.split(len(logits), threads.width(), _FEW)
    losses, slopes, bends = zip(*threads.run([partial(work, lo, hi) for lo, hi in parts]))
    lower = np.sum(bends, axis=0)
    return float(sum(losses)), np.sum(slopes, axis=0), lower + np.tril(lower, -1).T
