"""The cross-entropy of rows under logits: its value, its gradient, its curvature, and how it goes along a line.

Two classes have one logit z, the log odds of the second; more have one each. Logits and gradients are rows × logits.

    loss = Σ_i w_i (log Σ_k exp z_ik - z_i,y)        gradient in z_ik = w_i (p_ik - [y_i = k])
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels import threads
from ingenuo.kernels.codes import readable

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _residuals(logits, labels, weights, first, last, out):  # type: ignore[no-untyped-def]
    """Write the gradient of rows first..last in their logits; return their loss."""
    columns, loss = logits.shape[1], 0.0
    for i in range(first, last):
        weight = weights[i] if weights.size > 0 else 1.0
        y = labels[i]
        if columns == 1:
            z = logits[i, 0]
            e = math.exp(-abs(z))
            p = 1.0 / (1.0 + e) if z >= 0 else e / (1.0 + e)
            loss += weight * (math.log1p(e) + (max(z, 0.0) if y == 0 else max(-z, 0.0)))
            out[i, 0] = weight * (p - y)
            continue
        top = logits[i, 0]
        for k in range(1, columns):
            top = max(top, logits[i, k])
        total = 0.0
        for k in range(columns):
            out[i, k] = math.exp(logits[i, k] - top)
            total += out[i, k]
        loss += weight * (math.log(total) + top - logits[i, y])
        share = weight / total
        for k in range(columns):
            out[i, k] *= share
        out[i, y] -= weight
    return loss


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _within(logits, directions, lengths, labels, weights, first, last, slope, bend):  # type: ignore[no-untyped-def]
    """The loss at logits + Σ_m lengths[m] · directions[m]; its gradient and curvature in the lengths are added."""
    columns, size = logits.shape[1], lengths.size
    powers, mean, loss = np.empty(columns), np.empty(size), 0.0
    weighted = np.empty((size, columns))
    for i in range(first, last):
        weight = weights[i] if weights.size > 0 else 1.0
        y = labels[i]
        for k in range(columns):
            powers[k] = logits[i, k]
        for m in range(size):
            for k in range(columns):
                powers[k] += lengths[m] * directions[m, i, k]
        if columns == 1:
            z = powers[0]
            e = math.exp(-abs(z))
            p = 1.0 / (1.0 + e) if z >= 0 else e / (1.0 + e)
            loss += weight * (math.log1p(e) + (max(z, 0.0) if y == 0 else max(-z, 0.0)))
            curve = weight * e / ((1.0 + e) * (1.0 + e))
            for m in range(size):
                d = directions[m, i, 0]
                slope[m] += weight * (p - y) * d
                for j in range(m + 1):
                    bend[m, j] += curve * d * directions[j, i, 0]
            continue
        top = powers[0]
        for k in range(1, columns):
            top = max(top, powers[k])
        own, total = powers[y], 0.0
        for k in range(columns):
            powers[k] = math.exp(powers[k] - top)
            total += powers[k]
        loss += weight * (math.log(total) + top - own)
        share = weight / total
        for m in range(size):
            whole = 0.0
            for k in range(columns):
                weighted[m, k] = share * powers[k] * directions[m, i, k]
                whole += weighted[m, k]
            mean[m] = whole
            slope[m] += whole - weight * directions[m, i, y]
            for j in range(m + 1):
                product = 0.0
                for k in range(columns):
                    product += weighted[m, k] * directions[j, i, k]
                bend[m, j] += product
        if weight > 0:
            for m in range(size):
                for j in range(m + 1):
                    bend[m, j] -= mean[m] * mean[j] / weight
    return loss


_FEW = 1 << 12  # rows that a thread takes at least


def residuals(logits: Floats, labels: NDArray[np.int32], weights: Floats, out: Floats) -> float:
    """The loss; its gradient in the logits is written to out. No weights are ones."""
    given = readable(logits), readable(labels), readable(weights)
    parts = threads.split(len(logits), threads.width(), _FEW)
    return float(sum(threads.run([partial(_residuals, *given, lo, hi, out) for lo, hi in parts])))


def within(
    logits: Floats, directions: Floats, lengths: Floats, labels: NDArray[np.int32], weights: Floats
) -> tuple[float, Floats, Floats]:
    """The loss at logits + Σ_m lengths[m] · directions[m], and its gradient and curvature in the lengths."""
    given = tuple(readable(each) for each in (logits, directions, lengths, labels, weights))
    size = len(lengths)

    def work(lo: int, hi: int) -> tuple[float, Floats, Floats]:
        slope, bend = np.zeros(size), np.zeros((size, size))
        return _within(*given, lo, hi, slope, bend), slope, bend

    found = threads.run([partial(work, lo, hi) for lo, hi in threads.split(len(logits), threads.width(), _FEW)])
    lower = sum(bend for _, _, bend in found)
    return float(sum(loss for loss, _, _ in found)), sum(s for _, s, _ in found), lower + np.tril(lower, -1).T  # type: ignore[return-value]
