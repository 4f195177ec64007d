"""The audit of a table: what a model answers to the rows of each group, and how the groups differ.

An audit keeps sums of each group and nothing else of the rows, so two audits of one model add to that of all rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError, did_you_mean
from ingenuo.evaluation import audit_plain, intervals
from ingenuo.evaluation.audit_proxies import Proxies
from ingenuo.evaluation.audit_rates import Share, contrast, share
from ingenuo.evaluation.audit_sums import GroupSums
from ingenuo.evaluation.significance import holm
from ingenuo.evaluation.verdict import level
from ingenuo.explanation import audit_tables
from ingenuo.labels import find, objects

Floats = NDArray[np.float64]

MEASURES = ("selection", "base", "false_positive", "false_negative", "accuracy")


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GroupRates:
    """What is measured of one group, for one class against the rest.

    Attributes
    ----------
    class_, group
        The class that is asked about, and the group.
    rows : int
        How many rows the group has.
    selection, base : Share
        Rows that were answered with the class, and rows that it is true of.
    false_positive, false_negative : Share
        Of the rows it is not true of, those answered with it; of the rows it is true of, those answered otherwise.
    accuracy : Share
        Rows that were answered rightly, among all classes.
    probability : float or None
        The mean probability of the class.
    gap : Estimate
        That less the share it is true of: above 0, the group's probabilities are too high.
    ece : Estimate
        The expected calibration error of the class's probability, in ten bins.
    """

    class_: Any
    group: Any
    rows: int
    selection: Share
    base: Share
    false_positive: Share
    false_negative: Share
    accuracy: Share
    probability: float | None
    gap: Estimate
    ece: Estimate


@dataclass(frozen=True)
class GroupDifference:
    """How a group's rate differs from the reference group's, with intervals, and the test of their being the same.

    `p_value` is that of this test alone; `adjusted` is Holm's, for as many tests as the audit makes.
    """

    class_: Any
    group: Any
    reference: Any
    measure: str
    difference: float
    low: float
    high: float
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p_value: float
    test: str
    adjusted: float = 1.0
    significant: bool = False


class GroupAudit:
    """What an audit of a table found; prints as tables and sentences, and adds.

    Attributes
    ----------
    protected : str
        What the groups are of.
    sums : GroupSums
        What was counted.
    reference
        The group that the others are compared with.
    confidence, random_state
        As they were given.
    used : dict
        For each protected column, whether the model uses it; empty where that is not known.
    notes : tuple of str
        What was done on the way: numbers that were cut into bands, columns that were left out.
    proxies : Proxies or None
        The columns that tell the group.
    """

    def __init__(
        self,
        protected: str,
        sums: GroupSums,
        *,
        reference: Any = None,
        confidence: float = 0.95,
        random_state: int = 0,
        used: dict[str, bool] | None = None,
        notes: tuple[str, ...] = (),
        proxies: Proxies | None = None,
    ) -> None:
        self.protected, self.sums = protected, sums
        self.confidence, self.random_state = confidence, random_state
        self.used, self.notes, self.proxies = used or {}, notes, proxies
        self._reference = reference
        if reference is not None and reference not in self.groups:
            raise InputError(
                f"reference={reference!r} is no group of {protected!r}{did_you_mean(reference, self.groups)}"
            )

    @property
    def groups(self) -> list[Any]:
        """The groups."""
        return list(self.sums.groups.tolist())

    @property
    def classes(self) -> list[Any]:
        """The classes that are asked about, each against the rest."""
        return list(self.sums.judged.tolist())

    @property
    def rows(self) -> dict[Any, int]:
        """How many rows each group has."""
        return dict(zip(self.groups, self.sums.confusion.sum(axis=(1, 2)).tolist()))

    @property
    def n_rows(self) -> int:
        """How many rows were audited."""
        return int(self.sums.confusion.sum())

    @property
    def truths(self) -> bool:
        """Whether it is known what is true of the rows."""
        return self.sums.truths

    @property
    def reference(self) -> Any:
        """The group that the others are compared with: the one that was named, or the largest."""
        if self._reference is not None:
            return self._reference
        return max(self.groups, key=self.rows.__getitem__)

    @cached_property
    def rates(self) -> list[GroupRates]:
        """What is measured of each class and group."""
        return [self._rates(at, g) for at in range(len(self.classes)) for g in range(len(self.groups))]

    def _rates(self, at: int, g: int) -> GroupRates:
        cells = self.sums.confusion[g]
        k = int(find(self.sums.classes, objects([self.classes[at]]))[0])
        n, answered = int(cells.sum()), int(cells[:, k].sum())
        none = share(0, 0, self.confidence)
        found = {"base": none, "false_positive": none, "false_negative": none, "accuracy": none}
        if self.truths:
            true, hit = int(cells[k].sum()), int(cells[k, k])
            counts = {
                "base": (true, n),
                "false_positive": (answered - hit, n - true),
                "false_negative": (true - hit, true),
                "accuracy": (int(np.trace(cells)), n),
            }
            found = {name: share(*pair, self.confidence) for name, pair in counts.items()}
        probability, gap, ece = self._calibration(at, g, n)
        selection = share(answered, n, self.confidence)
        return GroupRates(
            self.classes[at], self.groups[g], n, selection, **found, probability=probability, gap=gap, ece=ece
        )

    def _calibration(self, at: int, g: int, n: int) -> tuple[float | None, Estimate, Estimate]:
        """The mean probability; how much it is too high, with Student's interval; and the ECE, by the bootstrap."""
        from scipy.special import stdtrit

        if self.sums.binned is None or self.sums.gaps is None or n == 0:
            return None, Estimate(None), Estimate(None)
        rows, true, p = self.sums.binned[g, at].T
        probability = float(p.sum() / n)
        if not self.truths:
            return probability, Estimate(None), Estimate(None)
        total, squares = self.sums.gaps[g, at].tolist()
        gap = Estimate(total / n)
        if n > 1:
            spread = math.sqrt(max(0.0, (squares - total * total / n) / (n - 1)))
            reach = float(stdtrit(n - 1, 0.5 + self.confidence / 2)) * spread / math.sqrt(n)
            gap = Estimate(total / n, total / n - reach, total / n + reach)
        ece = float(np.abs(true - p).sum() / n)
        found = intervals.of_bins(rows, true, p, self.confidence, [self.random_state, at, g])
        return probability, gap, Estimate(ece, found.low, found.high)

    def rate(self, group: Any, class_: Any = None) -> GroupRates:
        """What is measured of one group; of several classes, of the class that is named."""
        for name, value, known in (("group", group, self.groups), ("class_", class_, self.classes)):
            if value not in known and not (name == "class_" and value is None):
                raise InputError(f"{name}={value!r} was not audited{did_you_mean(value, known)}")
        chosen = self.classes[-1] if class_ is None else class_
        return next(found for found in self.rates if found.group == group and found.class_ == chosen)

    @cached_property
    def differences(self) -> list[GroupDifference]:
        """How each group differs from the reference group, measure by measure; Holm's correction is over all."""
        found = []
        for class_ in self.classes:
            standard = self.rate(self.reference, class_)
            for group in self.groups:
                if group == self.reference:
                    continue
                rates = self.rate(group, class_)
                for measure in MEASURES:
                    one = contrast(getattr(rates, measure), getattr(standard, measure), self.confidence)
                    if one is not None:
                        found.append(GroupDifference(class_, group, self.reference, measure, *one))
        adjusted = holm([each.p_value for each in found]) if found else np.zeros(0)
        alpha = level(self.confidence)
        return [replace(each, adjusted=float(p), significant=bool(p <= alpha)) for each, p in zip(found, adjusted)]

    @cached_property
    def warnings(self) -> list[str]:
        """Groups that are too small for their intervals to say anything, and what was not to be had."""
        return audit_plain.group_warnings(self)

    @cached_property
    def plain(self) -> list[str]:
        """What was found, where it may come from and what was not shown, in plain words."""
        return audit_plain.of_groups(self)

    def __add__(self, other: Any) -> GroupAudit:
        """The audit of the rows of both."""
        if not isinstance(other, GroupAudit):
            return NotImplemented
        for name in ("protected", "confidence", "random_state", "_reference", "used"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise MergeError(f"one audit has {name.strip('_')}={mine!r} and the other {theirs!r}; audit both alike")
        if self.bands != other.bands:
            raise MergeError(
                f"the bands of {self.protected!r} are {', '.join(map(str, self.groups))} in one audit and "
                f"{', '.join(map(str, other.groups))} in the other; give both the same cut points, groups=[…]"
            )
        proxies = None if self.proxies is None or other.proxies is None else self.proxies + other.proxies
        return GroupAudit(
            self.protected,
            self.sums + other.sums,
            reference=self._reference,
            confidence=self.confidence,
            random_state=self.random_state,
            used=self.used,
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
            proxies=proxies,
        )

    @property
    def bands(self) -> tuple[str, ...]:
        """What was said of cutting numbers into bands: audits whose bands differ do not add."""
        return tuple(note for note in self.notes if note.startswith("Bands of"))

    def __radd__(self, other: Any) -> GroupAudit:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """All that was found, as plain data that JSON can hold."""
        return audit_tables.groups_dict(self)

    def __str__(self) -> str:
        return audit_tables.groups_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return audit_tables.groups_html(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw the rates of each group with their intervals, a panel for each measure; the axes are returned."""
        from ingenuo.explanation import audit_pictures

        return audit_pictures.groups(self, axes)
