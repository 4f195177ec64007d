"""Whether a column's bins are too wide for most of its values, because a few lie, or lay, very far out.

2,048 bins cover all the values of a column, so one of 10,000 among values from -3 to 3 makes them 8 wide, and little is
left to tell the others apart by. Then the middle half of the values lies in fewer than `FEW` bins: in more than one, so
that they do differ, or in one and next to nothing outside of it. Whole numbers that the bins still tell apart are not
at issue, nor bins as narrow as doubles of that size allow.
"""

from __future__ import annotations

import numpy as np

from ingenuo.families.curves import Column
from ingenuo.families.family import Floats
from ingenuo.kernels.histograms import LEAST_EXPONENT
from ingenuo.schema import column_name

FEW = 4
FEWEST_VALUES = 20  # fewer have no bulk to speak of
_OUTSIDE = 0.01  # of the values, at most, and at most so many different ones:
_CODES = 3


def crowd(column: Column, deviations: Floats | None = None) -> str:
    """What to say of a column whose bins are too wide for most of its values; of any other, nothing.

    `deviations` are those of the classes by exact sums, where they are known.
    """
    pooled = column.pooled
    total, used = float(pooled.sum()), np.flatnonzero(pooled)
    whole = column.exponent <= 0 and not ((used + column.first) & ((1 << min(-column.exponent, 62)) - 1)).any()
    if total < FEWEST_VALUES or not widened(column) or whole:
        return ""
    low, high = np.searchsorted(np.cumsum(pooled), np.array([0.25, 0.75]) * total).tolist()
    if high - low + 1 >= FEW:
        return ""
    near = used[(used >= low - FEW) & (used <= high + FEW)]
    if len(used) - len(near) <= _CODES and total - pooled[near].sum() <= _OUTSIDE * total:
        low, high = int(near[0]), int(near[-1])
        inside = (column.seen > 0) & (column.counts[:, low] == column.totals)
        if low == high and deviations is not None and inside.any() and not (deviations[inside] > 0).any():
            return ""  # one value, by the classes that have no others
    elif high == low:
        return ""
    share, bins = pooled[low : high + 1].sum() / total, int((pooled[low : high + 1] > 0).sum())
    width = float(np.ldexp(1.0, column.exponent))
    return f"{column_name(column.name)!r} ({width:.6g} wide, {100 * share:.4g} % of the values in {bins} of them)"


def widened(column: Column) -> bool:
    """Whether the bins are wider than the size of the values alone demands: for that, places are at least 2^49."""
    farthest = max(abs(column.first), abs(column.first + column.size - 1))
    return column.exponent > LEAST_EXPONENT and farthest < 1 << 49


def remark(crowds: list[str]) -> str:
    """The one sentence to say of such columns."""
    more = f" and {len(crowds) - 5} more" if len(crowds) > 5 else ""
    return (
        f"the bins of column{'s' if len(crowds) > 1 else ''} {', '.join(crowds[:5])}{more} are too wide to tell these "
        "values apart, because of a value very far from the others; make it missing (NaN), or fit again without it"
    )
