"""Forecasts of an event in ten bins of their probability, as exact sums that add; and what is read from them.

Of a bin there are the rows, their weight Σw, Σwp of the forecasts p, Σwe of the events e (1 where it came true), Σwp²
and Σwpe. These are enough for shares and means, for the calibration error and for the Brier score and its parts.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.evaluation.calibration_error import Bins, BrierScore
from ingenuo.evaluation.measures import BINS, bins_of
from ingenuo.exact import Exact
from ingenuo.kernels.moments import weights_by_cell
from ingenuo.labels import Labels, find, objects

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SUMS = objects(["p", "product", "rows", "square", "true", "weight"])  # sorted, as the labels of a table are
_GRAIN = 2.0**80  # forecasts below 2^-27 are rounded to multiples of 2^-80: sums need fewer limbs, and lose 1e-24


def summed(values: Floats | None, cells: Integers, shape: tuple[int, ...]) -> Exact:
    """The exact sum of the values that fall on each cell; without values, how many do."""
    if values is None:
        return Exact.counts(np.bincount(cells, minlength=math.prod(shape)).reshape(shape))
    found = weights_by_cell(np.ascontiguousarray(values), cells, math.prod(shape))
    return Exact(found.limbs.reshape(found.limbs.shape[0], *shape), found.low)


def joined(parts: list[Exact], axis: int) -> Exact:
    """Exact sums side by side on a new axis."""
    there = [part for part in parts if part.limbs.shape[0]]
    if not there:
        shape = parts[0].shape
        return Exact.zeros((*shape[:axis], len(parts), *shape[axis:]))
    low = min(part.low for part in there)
    high = max(part.low + part.limbs.shape[0] for part in there)
    limbs = np.zeros((high - low, len(parts), *parts[0].shape), np.int64)
    for place, part in enumerate(parts):
        at = part.low - low
        limbs[at : at + part.limbs.shape[0], place] = part.limbs
    return Exact.canonical(np.ascontiguousarray(np.moveaxis(limbs, 1, axis + 1)), low)


def forecast_sums(
    forecast: Floats,
    event: NDArray[np.bool_],
    weights: Floats | None,
    groups: Integers | None = None,
    n_groups: int = 1,
) -> Exact:
    """The sums of forecasts by group, bin and `SUMS`.

    >>> found = forecast_sums(np.array([0.25, 0.75, 0.75]), np.array([False, True, False]), None)
    >>> found.floats()[0, 7].tolist()
    [1.5, 0.75, 2.0, 1.125, 1.0, 2.0]
    """
    bins = bins_of(forecast).astype(np.int64)
    cells = bins if groups is None else groups.astype(np.int64) * BINS + bins
    shape = (n_groups, BINS)
    p = np.rint(forecast * _GRAIN) / _GRAIN
    weighed = p if weights is None else weights * p
    rows, hit = summed(None, cells, shape), cells[event]
    found = {"rows": rows, "p": summed(weighed, cells, shape), "square": summed(weighed * p, cells, shape)}
    if weights is None:
        found |= {"weight": rows, "true": summed(None, hit, shape)}
    else:
        found |= {"weight": summed(weights, cells, shape), "true": summed(weights[event], hit, shape)}
    found["product"] = summed(weighed[event], hit, shape)
    return joined([found[name] for name in SUMS], 2)


def column(sums: NDArray[Any], name: str, labels: Labels = SUMS) -> NDArray[Any]:
    """One of the sums, which stand on the last axis."""
    return np.asarray(sums[..., int(find(labels, objects([name]))[0])])


def bins_from(sums: NDArray[Any]) -> Bins:
    """The bins that the reliability of a forecast is read from; sums are fractions, bins × `SUMS`."""
    found = np.full((5, BINS), np.nan)
    p, product, rows, square, true, weight = sums.T
    for m in range(BINS):
        found[0, m], found[3:, m] = float(weight[m]), 0.0
        if weight[m] > 0:
            found[1:, m] = (
                p[m] / weight[m],
                true[m] / weight[m],
                max(square[m] - p[m] * p[m] / weight[m], Fraction(0)),
                product[m] - p[m] * true[m] / weight[m],
            )
    return Bins(np.arange(BINS + 1) / BINS, rows.astype(np.int64), *found)


def calibration_error(sums: NDArray[Any]) -> float:
    """ECE = Σ_m |Σ w(e - p)| / Σw, of sums as fractions."""
    off = sum((abs(each) for each in column(sums, "true") - column(sums, "p")), Fraction(0))
    return float(off / sum(column(sums, "weight"), Fraction(0)))


def brier_of(sums: NDArray[Any]) -> BrierScore:
    """The Brier score of the forecast, Σ w(p - e)² / Σw, and its parts."""
    p, product, _, square, true, weight = sums.T
    n = sum(weight, Fraction(0))
    base = sum(true, Fraction(0)) / n
    there = [m for m in range(BINS) if weight[m] > 0]
    bins = bins_from(sums)
    reliability = sum(((p[m] - true[m]) ** 2 / weight[m] for m in there), Fraction(0))
    resolution = sum((weight[m] * (true[m] / weight[m] - base) ** 2 for m in there), Fraction(0))
    return BrierScore(
        score=float(max((square - 2 * product + true).sum(), Fraction(0)) / n),
        reliability=float(reliability / n),
        resolution=float(resolution / n),
        uncertainty=float(base * (1 - base)),
        variance=math.fsum(bins.variance.tolist()) / float(n),
        covariance=2 * math.fsum(bins.covariance.tolist()) / float(n),
    )
