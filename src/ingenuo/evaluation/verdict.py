"""The verdict of a test: what it asked, what it found, how large the difference is, and one plain sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.explanation.beliefs import aligned

Floats = NDArray[np.float64]

_LARGEST = 1e300  # sums of larger numbers may be beyond the doubles
_SMALLEST = 1e-4  # a smaller p is said to be below it: its digits rest on the far tail


@dataclass(frozen=True)
class Effect:
    """How large a difference is, with its interval; where there is none, `reason` says why."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a test found."""

    test: str
    h0: str  # the null hypothesis
    statistic: float
    statistic_name: str
    p_value: float | None  # the probability of a statistic at least as extreme if H0 holds
    size: Effect  # how large the difference is
    n: int  # how many rows, differences or sets were judged
    said: str  # what was seen, as the beginning of the sentence
    alpha: float = 0.05  # the level at which it is called significant; intervals hold with 1 - alpha
    others: tuple[Effect, ...] = ()  # further effect sizes
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # what else was counted

    @property
    def effect(self) -> float | None:
        """How large the difference is."""
        return self.size.value

    @property
    def effect_name(self) -> str:
        """What the effect measures."""
        return self.size.name

    @property
    def low(self) -> float | None:
        """The lower end of the effect's interval, or None."""
        return self.size.low

    @property
    def high(self) -> float | None:
        """The upper end of the effect's interval, or None."""
        return self.size.high

    @property
    def significant(self) -> bool:
        """Whether H0 is rejected at the level alpha."""
        return self.p_value is not None and self.p_value <= self.alpha

    @property
    def sentence(self) -> str:
        """What was seen, and whether chance explains it."""
        if self.p_value is None:
            return self.said + "."
        sure, at = "is" if self.significant else "is not", percent(self.alpha)
        return f"{self.said}: the difference {sure} significant at the {at} level ({p_text(self.p_value)})."

    def __str__(self) -> str:
        lines = [["H0", self.h0], ["statistic", f"{self.statistic_name} = {number(self.statistic)}"]]
        if self.p_value is not None:
            lines.append(["p", f"{self.p_value:.4g}"])
        lines.append(["effect", self._line(self.size)])
        lines += [["also", self._line(size)] for size in self.others]
        return "\n".join([self.test, *("  " + line for line in aligned(lines)), self.sentence])

    __repr__ = __str__

    def _line(self, size: Effect) -> str:
        if size.value is None:
            return f"{size.name}: none, {size.reason}"
        if size.low is not None and size.high is not None:
            sure = percent(1 - self.alpha)
            return f"{size.name} {number(size.value)}, {sure} interval {number(size.low)} to {number(size.high)}"
        return f"{size.name} {number(size.value)}" + (f", no interval: {size.reason}" if size.reason else "")


def p_text(p: float) -> str:
    """A p-value in a sentence.

    >>> p_text(0.0412345), p_text(1e-9), p_text(1.0)
    ('p = 0.0412', 'p < 0.0001', 'p = 1')
    """
    return "p < 0.0001" if p < _SMALLEST else f"p = {p:.3g}"


def number(value: float) -> str:
    """A number with four digits (a whole one with all of them), and no sign of nothing.

    >>> number(-0.055), number(250339.0), number(-0.0), number(float("inf"))
    ('-0.055', '250,339', '0', 'infinite')
    """
    if np.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value + 0.0:.4g}"


def percent(share: float) -> str:
    """A share as a percentage.

    >>> percent(0.05), percent(1 - 0.9)
    ('5 %', '10 %')
    """
    return f"{round(100 * share, 6):g} %"


def level(confidence: Any) -> float:
    """1 - confidence, the share of intervals that may miss."""
    return round(1 - share_of("confidence", confidence), 12)


def share_of(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise KindError(f"{name} must be a number between 0 and 1, got {type(value).__name__} {value!r}")
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r} must lie between 0 and 1, as 0.95 does")
    return float(value)


def numbers_of(name: str, values: Any, dimensions: Iterable[int] = (1,)) -> Floats:
    """Finite numbers in an array of so many dimensions."""
    if values is None:
        raise InputError(f"{name} is None; give its numbers")
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"{name} must hold numbers in rows of one length, got {values!r:.60}") from None
    if array.ndim not in dimensions:
        wanted = " or ".join(map(str, dimensions))
        raise InputError(f"{name} has {array.ndim} dimensions, and {wanted} are wanted; reshape it")
    bad = ~(np.abs(array) <= _LARGEST)
    if bad.any():
        place = tuple(int(at) for at in np.argwhere(bad)[0])
        at = place[0] if len(place) == 1 else place
        raise InputError(f"{name} holds {float(array[place])!r} at {at}; each must be a number, up to {_LARGEST:g}")
    return array
