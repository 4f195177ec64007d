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

_cross_entropy = function("cross_entropy", F64, INT, INT, F64, F64, INT, I32, F64, *[INT] * 3, *[F64] * 4, returns=REAL)
_NONE = np.zeros(0)

_FEW = 1 << 12  # rows that a part has at least
_PARTS = 8  # as many whatever the threads, so that sums are added in one order


def _parts(n_rows: int) -> list[tuple[int, int]]:
    return threads.split(n_rows, _PARTS, _FEW)


def residuals(logits: Floats, labels: NDArray[np.int32], weights: Floats, out: Floats) -> float:
    """The loss; its gradient in the logits is written to out. No weights are ones."""
    given = logits, *logits.shape, _NONE, _NONE, 0, labels, weights, len(weights) > 0
    tasks = [partial(_cross_entropy, *given, lo, hi, _NONE, _NONE, _NONE, out) for lo, hi in _parts(len(logits))]
    return float(sum(threads.run(tasks)))


def within(
    logits: Floats, directions: Floats, lengths: Floats, labels: NDArray[np.int32], weights: Floats
) -> tuple[float, Floats, Floats]:
    """The loss at logits + Σ_m lengths[m] · directions[m], and its gradient and curvature in the lengths."""
    (n, columns), size = logits.shape, len(lengths)
    assert size, "without directions the loop would write a gradient in the logits"
    given = logits, n, columns, np.ascontiguousarray(directions), lengths, size, labels, weights, len(weights) > 0

    def loss(lo: int, hi: int) -> tuple[float, Floats, Floats]:
        slope, bend = np.zeros(size), np.zeros((size, size))
        work = np.empty((size + 1) * (columns + 1))
        return _cross_entropy(*given, lo, hi, slope, bend, work, _NONE), slope, bend

    found = threads.run([partial(loss, lo, hi) for lo, hi in _parts(n)])
    lower = sum((bend for _, _, bend in found), np.zeros((size, size)))
    slope = sum((slope for _, slope, _ in found), np.zeros(size))
    return float(sum(value for value, _, _ in found)), slope, lower + np.tril(lower, -1).T
