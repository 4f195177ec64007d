"""One thing that speaks for a class, and how such things are ordered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingenuo.families.family import Floats


@dataclass(frozen=True)
class Sign:
    """One thing that speaks for a class."""

    column: str
    value: str
    kind: str  # "category", "number", "count", "text"
    information: float  # nats that a row of the class can be expected to bring; of a line, its effect per deviation
    ratio: float  # how many times as likely as in the other classes; of a line, what the odds are multiplied by
    in_class: float | None = None  # how often it was seen in the class, and in all
    in_all: float | None = None
    share: float | None = None  # P(v | class) and P(v | the other classes)
    rest: float | None = None
    note: str = ""
    per: str = ""  # of a line: what the ratio is for

    @property
    def times(self) -> str:
        """The ratio in words."""
        if self.per:
            return f"×{self.ratio:.3g} {self.per}" if self.per != "added" else f"{self.information:+.3g}"
        return "only here" if math.isinf(self.ratio) else f"×{self.ratio:.3g} as likely"

    @staticmethod
    def seen(count: float | None) -> str:
        """A count for the table."""
        return "" if count is None else f"{count:,.10g}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        known = {"in_class": self.in_class, "in_all": self.in_all, "share": self.share, "share_in_rest": self.rest}
        return {
            "column": self.column,
            "value": self.value,
            "kind": self.kind,
            "information": self.information,
            "ratio": self.ratio,
            **{name: value for name, value in known.items() if value is not None},
            **({"per": self.per} if self.per else {}),
            **({"note": self.note} if self.note else {}),
        }


def power(log: float) -> float:
    """e to the power of a log ratio; infinite beyond the doubles."""
    return math.exp(log) if log < 700 else math.inf


def largest(values: Floats, n: int) -> list[int]:
    """The places of the n largest that are positive, the largest first."""
    places = np.argpartition(-values, n - 1)[:n] if len(values) > n else np.arange(len(values))
    places = places[np.argsort(-values[places], kind="stable")]
    return places[values[places] > 0].tolist()  # type: ignore[no-any-return]


def strength(sign: Sign) -> tuple[float, float]:
    """By which signs are sorted: those that bring most come first."""
    return -sign.information, -(sign.share or 0.0)
