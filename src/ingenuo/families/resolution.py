"""Whether a column's bins are too wide for most of its values, because a few lie, or lay, very far out.

2,048 bins cover all the values of a column, so one of 10,000 among values from -3 to 3 makes them 8 wide, and little is
left to tell the others apart by. From the bins alone this is told by

- the middle half of the values, which lies in fewer than `FEW` bins, and
- either more than one of those bins, so that the values do differ,
- or next to nothing outside of one short run of bins: a value or two that stand for "not known", or such as were
  forgotten. A run of one bin may be one value, as in a column that is mostly zero; then what is outside must be one or
  two values, and in "auto", whose sums are exact, the values of a class within the bin have to differ.

Whole numbers that the bins still tell apart are not at issue, nor bins as narrow as doubles of that size allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import Column
from ingenuo.families.family import Floats
from ingenuo.kernels.histograms import LEAST_EXPONENT
from ingenuo.schema import column_name

FEW = 4
FEWEST_VALUES = 20  # fewer have no bulk to speak of
_RUN = 16
_OUTSIDE = 0.01  # of the values, at most, and at most so many different ones:
_CODES = 3


@dataclass(frozen=True)
class Crowd:
    """Most of a column's values in few bins."""

    name: object
    width: float
    bins: int
    share: float


def crowd(column: Column, deviations: Floats | None = None) -> Crowd | None:
    """What to say of a column whose bins are too wide for most of its values; of any other, nothing.

    `deviations` are those of the classes by exact sums, where they are known.
    """
    pooled = column.pooled
    total = float(pooled.sum())
    if total < FEWEST_VALUES or not widened(column) or _whole_numbers(column):
        return None
    upto = np.cumsum(pooled)
    low, middle, high = np.searchsorted(upto, np.array([0.25, 0.5, 0.75]) * total).tolist()
    if high - low + 1 >= FEW:
        return None
    first, last = _run(pooled > 0, middle)
    within = float(pooled[first : last + 1].sum())
    codes = int((pooled > 0).sum()) - (last - first + 1)
    if last - first < _RUN and total - within <= _OUTSIDE * total and codes <= _CODES:
        if first == last and _one_value(column, first, deviations):
            return None
        low, high = first, last
    elif high == low:
        return None
    share = float(pooled[low : high + 1].sum()) / total
    return Crowd(column.name, float(np.ldexp(1.0, column.exponent)), int((pooled[low : high + 1] > 0).sum()), share)


def widened(column: Column) -> bool:
    """Whether the bins are wider than the size of the values alone demands: for that, places are at least 2^49."""
    farthest = max(abs(column.first), abs(column.first + column.size - 1))
    return column.exponent > LEAST_EXPONENT and farthest < 1 << 49


def _whole_numbers(column: Column) -> bool:
    """Whether all the bins in use begin at whole numbers, none of which share a bin."""
    if column.exponent > 0:
        return False
    places = np.flatnonzero(column.pooled) + column.first
    return bool((places & ((1 << min(-column.exponent, 62)) - 1) == 0).all())


def _run(used: NDArray[np.bool_], at: int) -> tuple[int, int]:
    """The first and the last of the bins in use around one of them, without a gap."""
    empty = np.flatnonzero(~used)
    place = int(np.searchsorted(empty, at))
    first = int(empty[place - 1]) + 1 if place else 0
    last = int(empty[place]) - 1 if place < len(empty) else len(used) - 1
    return first, last


def _one_value(column: Column, at: int, deviations: Floats | None) -> bool:
    """Whether the values in a bin are known to be all the same: by the classes that have no others."""
    if deviations is None:
        return False
    inside = (column.seen > 0) & (column.counts[:, at] == column.totals)
    return bool(inside.any() and not (deviations[inside] > 0).any())


def remark(found: list[Crowd]) -> str:
    """The one sentence to say of such columns.

    >>> remark([Crowd("age", 8.0, 2, 0.9995)])[:95]
    "the bins of column 'age' (8 wide, 99.95 % of the values in 2 of them) are too wide to tell thes"
    """
    shown = [
        f"{column_name(each.name)!r} ({each.width:.6g} wide, {100 * each.share:.4g} % of the values in {each.bins} of "
        "them)"
        for each in found[:5]
    ]
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return (
        f"the bins of column{'s' if len(found) > 1 else ''} {', '.join(shown)}{more} are too wide to tell these values "
        "apart, because of a value very far from the others; make it missing (NaN), or fit again without it"
    )
