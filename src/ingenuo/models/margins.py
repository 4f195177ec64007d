"""Conformal intervals: around a mean, as wide as the distances of rows that were left out ask for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.moments import weights_by_cell
from ingenuo.tally.exact import Exact
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]

LARGEST, TINY = np.finfo(float).max, np.finfo(float).tiny
RESIDUALS = "residuals"
RESIDUAL_BITS, DEVIATION_BITS = 6, 4  # of the numbers that are counted: 3 % and 12 % apart at most
ROUNDING = 1e-9  # of a share of the rows


@dataclass(frozen=True, eq=False)
class Margins:
    """How far targets were from their means, each by a model that had not learned it; makes conformal intervals.

    A distance counts in units of √(d² + e²): d is the deviation that the model gave the row, e the mean distance of
    all. So rows that the model is less sure of have wider intervals, and none has one of no width.

    >>> own = Margins(np.array([[-2.0, 0.0, 1.0], [1.0, 0.0, 2.0]]))  # one was 2 below its mean, two 1 above
    >>> own.interval(np.array([10.0]), np.zeros(1), 0.5).round(3).tolist()
    [[8.0, 11.0]]
    """

    rows: Floats  # for each kind of row: its distance and its deviation, both rounded, and how many there are

    @staticmethod
    def of(tally: Tally) -> Margins:
        """From the counts of `count_numbers`: of residuals by deviations."""
        if RESIDUALS not in tally:
            return Margins(np.zeros((0, 3)))
        axes = [tally.labels(RESIDUALS, axis) for axis in (0, 1)]
        counts = tally.over(RESIDUALS, *axes).floats()
        places = np.nonzero(counts)
        return Margins(np.column_stack([*(axis[at] for axis, at in zip(axes, places)), counts[places]]))

    def __add__(self, other: Margins) -> Margins:
        """Of the rows of both."""
        distances, deviations, counts = np.concatenate([self.rows, other.rows]).T
        if not len(counts):
            return self
        return Margins.of(count_numbers(RESIDUALS, counts, residual=distances, deviation=deviations))

    @cached_property
    def _unit(self) -> float:
        """In which distances are measured, so that neither squares nor sums are beyond the doubles."""
        return max(float(np.abs(self.rows[:, :2]).max()), TINY)

    def _scale(self, deviations: Floats) -> Floats:
        """√(d² + e²), in units."""
        distances, _, counts = self.rows.T
        error = float(np.abs(distances / self._unit) @ (counts / counts.sum()))
        with np.errstate(over="ignore"):
            return np.asarray(np.hypot(deviations / self._unit, error).clip(0, LARGEST))

    def interval(self, means: Floats, deviations: Floats, coverage: float) -> Floats:
        """Around each mean, what holds this share of the distances of the rows that were left out."""
        distances, given, counts = self.rows.T
        scale = self._scale(given)
        scores = np.divide(distances / self._unit, scale, out=np.zeros(len(scale)), where=scale > 0)
        order = np.argsort(scores, kind="stable")
        below = np.cumsum(counts[order])
        # Of n rows and the one that is asked about each is as likely to be the k-th: n + 1 places.
        n, tail = below[-1], (1 - coverage) / 2
        ranks = np.clip([np.floor((n + 1) * tail + ROUNDING), np.ceil((n + 1) * (1 - tail) - ROUNDING)], 0, n)
        ends = scores[order[np.searchsorted(below, ranks).clip(0, len(below) - 1)]]
        with np.errstate(over="ignore"):
            reach = self._scale(rounded(deviations, DEVIATION_BITS))[:, np.newaxis] * ends * self._unit
            return np.asarray(means[:, np.newaxis] + reach)


def rounded(values: Floats, bits: int) -> Floats:
    """Numbers with so many bits, away from 0."""
    parts, exponents = np.frexp(values)
    with np.errstate(over="ignore"):
        found = np.ldexp(np.copysign(np.ceil(np.abs(parts) * (1 << bits)), parts), exponents - bits)
    return np.asarray(found.clip(-LARGEST, LARGEST) + 0.0)  # no zero has a sign


def count_numbers(name: str, weights: Floats | None, **columns: Floats) -> Tally:
    """How often each combination of numbers is there, as a table."""
    if weights is not None:
        columns, weights = {axis: each[weights > 0] for axis, each in columns.items()}, weights[weights > 0]
    labels, places = zip(*(np.unique(each, return_inverse=True) for each in columns.values()))
    shape = tuple(map(len, labels))
    cells = np.ravel_multi_index(places, shape)
    found = weights_by_cell(np.ones(len(cells)) if weights is None else weights, cells, math.prod(shape))
    return Tally({name: Table.of(dict(zip(columns, labels)), Exact(found.limbs.reshape(-1, *shape), found.low))})
