"""A fixed grid of probabilities, so that rows can be ranked by counts: of each class and cell, how many rows.

A ROC or PR area asks how the rows of a class rank among the others. Ranks take every row; counts by cells do not, and
add. Cells are narrow where ranks are decided: the middle is cut into widths of 2^-11, and every octave of p towards 0
and of 1 - p towards 1, where naive Bayes puts many rows, into 32 cells, from 2^-16 on into 8, and from 2^-53 on, where
p alone goes on, into one. That is some 4,300 cells. Of many classes each has fewer, for classes × cells are kept.

How rows rank within a cell is not known, so an area is known up to what their order there could change: `bounds`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.evaluation.measures import Steps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FINEST, COARSEST = 9, 3  # bits of the octave from 1/4 to 1/2
_CLASSES = 16  # that have the finest grid
_NEAR = 16  # octaves that are cut finer than those farther from the middle
_DEPTH = 53  # octaves on either side of the middle; below, only p goes on
_HALF = 1_022  # the exponent of 1/2 in a double


def bits_of(n_classes: int) -> int:
    """How fine the grid of a model with so many classes is.

    >>> bits_of(2), bits_of(20), bits_of(1_000)
    (9, 8, 3)
    """
    return max(COARSEST, FINEST - max(0, math.ceil(math.log2(max(n_classes, 1) / _CLASSES))))


class _Layout(NamedTuple):
    """Of each binary exponent, as a double has it: by how much its bits are shifted, and what the cell is less that."""

    shift: Integers
    start: Integers
    certain: int  # the place of p = 1, from the middle
    nothing: int  # and of p = 0


@lru_cache(maxsize=16)
def _layout(bits: int) -> _Layout:
    exponents = np.arange(_HALF + 1)  # of doubles from 0, which is there with the subnormal ones, to 1/2
    depth = _HALF - exponents  # 1 from 1/4 to 1/2
    own = np.maximum(bits + 1 - depth, np.where(depth <= _NEAR, max(bits - 4, 0), max(bits - 6, 0)))
    own[depth == 0] = own[depth > _DEPTH] = 0
    many = 1 << own
    first = np.cumsum(many[::-1])[::-1] - many  # cells nearer to the middle
    certain = int(first[depth == _DEPTH + 1][0])
    far = depth > _DEPTH
    first[far] = certain + ((depth[far] - _DEPTH - 1) >> (FINEST - bits))
    start = first + many - 1 + (exponents << own)
    return _Layout((52 - own).astype(np.int64), start.astype(np.int64), certain, int(first[0]) + 1)


def cells_of(p: Floats, bits: int = FINEST) -> Integers:
    """The cell of each probability: above 0 from 1/2 on, below 0 beneath; a higher one is in a higher cell.

    >>> cells_of(np.array([0.0, 1e-300, 0.25, 0.4999, 0.5, 0.75, 1.0])).tolist()
    [-2611, -2584, -513, -2, 1, 513, 1642]
    """
    layout = _layout(bits)
    upper = p >= 0.5
    q = np.where(upper, 1.0 - p, p)  # exact: 1 - p is a double where p is 1/2 or more
    np.maximum(q, 0.0, out=q)
    patterns = q.view(np.int64)
    exponents = patterns >> 52
    # An exponent and the digits that follow count up; cells count down from the middle.
    place = layout.start[exponents] - (patterns >> layout.shift[exponents])
    place[q == 0] = np.where(upper[q == 0], layout.certain, layout.nothing)
    return np.asarray(np.where(upper, place + 1, -place - 1))


def cells(bits: int) -> Integers:
    """All the cells, ascending.

    >>> len(cells(9)), len(cells(8)), len(cells(3))
    (4253, 2129, 148)
    """
    layout = _layout(bits)
    every = np.arange(-layout.nothing - 1, layout.certain + 2)
    return np.asarray(every[every != 0])


def tied(cells: Floats, bits: int = FINEST) -> NDArray[np.bool_]:
    """Which cells hold a single probability, 0 or 1, so that their rows are ties; 0 is also -inf."""
    layout = _layout(bits)
    return np.asarray((cells < -layout.nothing) | (cells > layout.certain))


def bounds(
    found: Steps, ties: NDArray[np.bool_], counts: bool = True
) -> tuple[tuple[float, float], tuple[float, float]]:
    """How small and how large the ROC and the PR area may be, whatever the order of the rows in cells that are no ties.

    The ROC area of ties is a half of them; it may be none or all. Of precision the most is had where a cell's rows of
    the class come first and together; the least where they come after the others one by one: Σ (tp + i) / (tp + i + fp)
    over the cell of counts; of weights it is at least ∫ (tp + x) / (tp + x + fp) dx.

    >>> found = Steps(np.array([2.0, 1.0]), np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    >>> bounds(found, np.array([False, False]))[0], bounds(found, np.array([True, True]))[0]
    ((0.5, 1.0), (0.75, 0.75))
    """
    from scipy.special import digamma

    tp, fp = np.cumsum(found.positive), np.cumsum(found.negative)
    P, N = float(tp[-1]), float(fp[-1])
    nothing = (math.nan, math.nan)
    if P <= 0:
        return nothing, nothing
    before = tp - found.positive
    precise = _share(found.positive * tp, tp + fp)  # of ties
    most = np.where(ties, precise, _share(found.positive * tp, tp + (fp - found.negative)))
    with np.errstate(divide="ignore", invalid="ignore"):
        if counts:
            harmonic = digamma(tp + fp + 1.0) - digamma(before + fp + 1.0)
        else:
            harmonic = np.log1p(found.positive / (before + fp))
        lost = np.where(fp > 0, fp * harmonic, 0.0)
    least = np.where(ties, precise, found.positive - lost)
    of_precision = (math.fsum(least.tolist()) / P, math.fsum(most.tolist()) / P)
    if N <= 0:
        return nothing, of_precision
    won = math.fsum((found.positive * (N - fp + np.where(ties, found.negative / 2, 0.0))).tolist()) / P / N
    open_ = math.fsum(np.where(ties, 0.0, found.positive * found.negative).tolist()) / P / N
    return (won, won + open_), of_precision


def _share(top: Floats, bottom: Floats) -> Floats:
    return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0)


def merged(found: Steps, most: int) -> Steps:
    """The same rows in at most so many neighbouring cells of about equal mass."""
    if len(found.positive) <= most:
        return found
    mass = np.cumsum(found.positive + found.negative)
    part = np.minimum((mass / mass[-1] * most).astype(np.int64), most - 1)
    starts = np.append(0, np.flatnonzero(np.diff(part)) + 1)
    return Steps(found.scores[starts], np.add.reduceat(found.positive, starts), np.add.reduceat(found.negative, starts))
