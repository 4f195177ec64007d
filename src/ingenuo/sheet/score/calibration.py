"""What log posteriors of one row are worth, as models/calibration.py has it of many."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ingenuo.kernels.portable import exp_each, log_each

Numbers = list[float]


def calibrator(node: Mapping[str, Any]) -> Callable[[Numbers, float], Numbers]:
    """A function from log posteriors, and how many words the row has, to calibrated ones."""
    slope, shifts, scale, curves = node["slope"], list(node["shifts"]), node["scale"], node["curves"]
    groups = [int(each) for each in node["groups"]]

    def one(z: Numbers, length: float) -> Numbers:
        d = _below_top(z)
        if scale:
            by = _power((1 + length) / scale["typical"], scale["exponent"])
            prior = scale["prior"] or [0.0] * len(d)
            d = _below_top([(each - own) / by + own for each, own in zip(d, prior)])
        d = [_times(each, slope) for each in d]
        d = _below_top([each + shift for each, shift in zip(d, shifts)])
        below = _log(_total(exp_each(d)))
        d = [each - below for each in d]
        if not curves:
            return d
        odds = _log_odds(d)
        if len(d) == 2:
            second = _interpolate(odds[1], curves[0])
            p = [1 - second, second]
        else:
            p = [_interpolate(each, curve) for each, curve in zip(odds, curves)]
        total = _log(_total(p))
        return [each - total for each in log_each(p)]

    if not groups:
        return one
    n = max(groups) + 1
    sizes = log_each([float(groups.count(group)) for group in range(n)])

    def pooled(z: Numbers, length: float) -> Numbers:
        together = [_log_total([each for each, own in zip(z, groups) if own == group]) for group in range(n)]
        found = one(together, length)
        own = [
            -sizes[group] if together[group] == -float("inf") else each - together[group]
            for each, group in zip(z, groups)
        ]
        return [found[group] + each for group, each in zip(groups, own)]

    return pooled


def _times(x: float, slope: float) -> float:
    if slope == 0:
        return 0.0 if x - x == 0 else x
    return x * slope


def _below_top(z: Sequence[float]) -> Numbers:
    top = max(z)
    return [each - top for each in z]


def _total(z: Sequence[float]) -> float:
    found = 0.0
    for each in z:
        found += each
    return found


def _log(x: float) -> float:
    return log_each([x])[0]


def _power(x: float, exponent: float) -> float:
    return exp_each([exponent * _log(x)])[0]


def _log_total(z: Numbers) -> float:
    if len(z) == 1:
        return z[0]
    largest = max(z)
    largest = 0.0 if largest == -float("inf") else largest
    return _log(_total(exp_each([each - largest for each in z]))) + largest


def _interpolate(x: float, curve: Sequence[Sequence[float]]) -> float:
    """Straight lines between rising knots, level beyond them."""
    knots, values = curve
    last = len(knots) - 1
    if not x >= knots[0]:
        return values[0]
    if x >= knots[last]:
        return values[last]
    low = bisect_right(knots, x, 0, last) - 1
    return ((values[low + 1] - values[low]) / (knots[low + 1] - knots[low])) * (x - knots[low]) + values[low]


def _log_odds(z: Numbers) -> Numbers:
    """log p_k less the log of the sum of all others, for each class."""
    if len(z) == 2:
        return [-(z[1] - z[0]), z[1] - z[0]]
    d = _below_top(z)
    top = z.index(max(z))
    powers = exp_each(d)
    total = _total(powers)
    rest = log_each([total - each for each in powers])
    odds = [each - log for each, log in zip(d, rest)]
    runner = max(each for k, each in enumerate(d) if k != top)
    safe = runner if runner > -float("inf") else 0.0
    others = exp_each([each - safe for each in d])
    odds[top] = -(safe + _log(_total([0.0 if k == top else each for k, each in enumerate(others)])))
    return odds
