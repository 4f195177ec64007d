"""Densities whose shape stays: the histogram's width, or the kernel's bandwidth, is held, and one value taken out.

    histogram    (n_b - w + α) / (n - w + α (J + 2)) ÷ width
    equal mass   (n_g - w + α) / (n - w + α G) ÷ width_g
    kernel       ((n + a) p(x) - w φ_h(x - c_b)) / (n - w + a), at least a g(x) / (n - w + a); c_b: centre of its bin

This is how settings are compared: a setting is what is held, and each row is scored by the rest.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import Curve
from ingenuo.families.family import Floats, logs
from ingenuo.families.histogram import EqualMassCurve, HistogramCurve
from ingenuo.families.kernel import WITHIN, KernelCurve

_LEAST = -700.0  # no value counts as less likely: a single one says no more


def scores(curve: Curve, x: Floats, y: NDArray[np.int32], w: Floats) -> Floats:
    """log p(x | class) without the value itself, where the class is its own; a missing value says nothing."""
    out = np.zeros((len(x), curve.table.shape[1]))
    there = np.flatnonzero(~np.isnan(x))
    x, y, w = x[there], y[there], w[there]
    found = curve.log_density(x)
    rows = np.arange(len(x))
    if isinstance(curve, HistogramCurve | EqualMassCurve):
        found[rows, y] = _level(curve, x, y, w)
    elif isinstance(curve, KernelCurve):
        found[rows, y] = _kernel(curve, x, y, w, found[rows, y])
    out[there] = np.maximum(found, _LEAST)
    return out


def _level(curve: HistogramCurve | EqualMassCurve, x: Floats, y: NDArray[np.int32], w: Floats) -> Floats:
    t = curve.column.positions(x)
    if isinstance(curve, HistogramCurve):
        at = ((t - curve.origin) / curve.step).astype(np.intp).clip(0, curve.counts.shape[1] - 1)
        width = np.full(len(x), curve.step)
        imagined = curve.pseudo * (curve.counts.shape[1] + 2)
    else:
        at = curve.bin_of(t)
        width = (np.diff(curve.edges) * curve.parts)[at]
        imagined = curve.pseudo * curve.counts.shape[1]
    n = curve.counts.sum(axis=1)[y] - w
    own = np.maximum(curve.counts[y, at] - w, 0)
    alone = curve.column.seen[y] <= w  # a class without values has those of the whole column
    if alone.any():
        every = curve.counts[curve.column.seen > 0].sum(axis=0)
        n = np.where(alone, every.sum() - w, n)
        own = np.where(alone, np.maximum(every[at] - w, 0), own)
    below = np.maximum(n, 0) + imagined
    return np.asarray(logs(own + curve.pseudo) - logs(below) - np.log(width) - curve.column.unit)


def _kernel(curve: KernelCurve, x: Floats, y: NDArray[np.int32], w: Floats, log_p: Floats) -> Floats:
    column = curve.column
    t = column.positions(x)
    n, a = column.totals[y], column.imagined
    h = np.sqrt(curve.bandwidths[y] ** 2 - WITHIN)
    z = (t - np.floor(t) - 0.5) / h
    own = w * np.exp(-0.5 * z * z) / (h * math.sqrt(2 * math.pi))
    imagined = a * np.exp(column.log_background(t))
    above = np.maximum((n + a) * np.exp(log_p + column.unit) - own, imagined)
    left = np.maximum(n - w, 0) + a
    alone = column.seen[y] <= w
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(above) - np.log(left)
    return np.asarray(np.where(alone | (left <= 0), column.log_background(t), found) - column.unit)
