"""Shares of groups and how two of them differ: an exact interval of each, an interval and a test of the difference.

A share is a count of n rows. Its own interval is Clopper and Pearson's. The interval of a difference is Newcombe's
(1998), from Wilson's of both shares; that of a ratio is Katz's, on the scale of logarithms. The test is χ² where at
least 5 rows are expected in every cell of the table of two by two, and Fisher's exact test elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ingenuo.evaluation.intervals import exact

_EXPECTED = 5  # rows in every cell: with fewer χ² is not to be trusted


@dataclass(frozen=True)
class Share:
    """A count of n rows, as a share with its interval; None where there are no rows."""

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None


class Contrast(NamedTuple):
    """One share less another, and their ratio, with intervals; and the test of their being the same."""

    difference: float
    low: float
    high: float
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p_value: float
    test: str


def share(count: float, n: float, confidence: float) -> Share:
    """A share with Clopper and Pearson's interval.

    >>> share(9, 10, 0.95)
    Share(count=9, n=10, value=0.9, low=0.55498..., high=0.99747...)
    >>> share(0, 0, 0.95).value is None
    True
    """
    if n == 0:
        return Share(0, 0, None, None, None)
    found = exact(count, n, confidence)
    return Share(int(count), int(n), float(count / n), found.low, found.high)


def contrast(one: Share, other: Share, confidence: float) -> Contrast | None:
    """The first share against the second; None where one of them has no rows.

    >>> found = contrast(share(30, 100, 0.95), share(60, 100, 0.95), 0.95)
    >>> print(f"{found.difference:.2f} [{found.low:.3f}, {found.high:.3f}], ratio {found.ratio:.2f}, {found.test}")
    -0.30 [-0.422, -0.163], ratio 0.50, χ²
    """
    from scipy.special import ndtri

    if one.value is None or other.value is None:
        return None
    z = float(ndtri(0.5 + confidence / 2))
    (l1, u1), (l2, u2) = wilson(one.count, one.n, z), wilson(other.count, other.n, z)
    p1, p2 = one.value, other.value
    low = p1 - p2 - math.hypot(p1 - l1, u2 - p2)
    high = p1 - p2 + math.hypot(u1 - p1, p2 - l2)
    ratio = ratio_low = ratio_high = None
    if one.count and other.count:
        ratio = p1 / p2
        reach = z * math.sqrt(max(0.0, 1 / one.count - 1 / one.n + 1 / other.count - 1 / other.n))
        ratio_low, ratio_high = ratio * math.exp(-reach), ratio * math.exp(reach)
    p, test = _test(one, other)
    return Contrast(p1 - p2, low, high, ratio, ratio_low, ratio_high, p, test)


def wilson(count: int, n: int, z: float) -> tuple[float, float]:
    """Wilson's interval of a share.

    >>> [round(end, 4) for end in wilson(9, 10, 1.959964)]
    [0.5958, 0.9821]
    """
    p, z2 = count / n, z * z
    middle, reach = p + z2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, (middle - reach) / (1 + z2 / n)), min(1.0, (middle + reach) / (1 + z2 / n))


def _test(one: Share, other: Share) -> tuple[float, str]:
    """The probability of a table that is as far from equal shares, if they are equal."""
    from scipy.special import chdtrc

    table = np.array([[one.count, one.n - one.count], [other.count, other.n - other.count]], np.int64)
    columns, rows, n = table.sum(axis=0), table.sum(axis=1), int(table.sum())
    if not columns.all():
        return 1.0, "no row differs"
    expected = np.outer(rows, columns) / n
    if expected.min() >= _EXPECTED:
        return float(chdtrc(1, float(((table - expected) ** 2 / expected).sum()))), "χ²"
    from scipy.stats import fisher_exact

    return min(1.0, float(fisher_exact(table).pvalue)), "Fisher's exact"
