"""The audit of a table: what a model answers to the rows of each group, and how the groups differ.

Of each group exact sums are kept, and nothing else of the rows: the confusion matrix and, for each class, the rows by
ten bins of its probability p (`forecast_sums`). So two audits of one model add to that of all rows, to the last bit.

A share's interval is Clopper and Pearson's. The interval of a difference is Newcombe's (1998), from Wilson's of both
shares; that of a ratio is Katz's, on the scale of logarithms. The test is χ² where at least 5 rows are expected in
every cell of the table of two by two, and Fisher's exact test elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError, did_you_mean
from ingenuo.evaluation import intervals
from ingenuo.evaluation.audit import findings
from ingenuo.evaluation.measures import BINS
from ingenuo.evaluation.paired import level
from ingenuo.evaluation.predictions import Predictions
from ingenuo.evaluation.significance import holm
from ingenuo.evaluation.sums import SUMS, column, forecast_sums, joined, known_of, summed, with_certain_rows
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, objects, same, unite
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

MEASURES = ("selection", "base", "false_positive", "false_negative", "accuracy")
MISSING = "(missing)"  # the group of rows that have none
CLASSES = 5  # that are asked about where none is named
_ANY = np.zeros(1, np.int64)  # what stands for the true class where that is not known
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
    found = intervals.exact(count, n, confidence)
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


def judged(known: Labels, class_: Any, ranks: Callable[[], NDArray[Any]], most: str) -> tuple[Labels, list[str]]:
    """The class that is named; else the second of two, or each; of many the five of the highest rank, and that is said.

    >>> judged(np.array([0, 1]), None, lambda: np.zeros(2), "most frequent")
    (array([1]), [])
    """
    if class_ is not None:
        at = int(find(known, objects([class_]))[0])
        if at < 0:
            alike = [label for label in known.tolist() if str(label) == str(class_)]
            if alike:
                raise InputError(
                    f"class_={class_!r} is no class; did you mean {alike[0]!r}, of type {type(alike[0]).__name__}?"
                )
            raise InputError(f"class_={class_!r} is no class{did_you_mean(class_, known.tolist())}")
        return known[[at]], []
    if len(known) <= CLASSES:
        return known[-1:] if len(known) <= 2 else known, []
    chosen = np.sort(np.argsort(-ranks(), kind="stable")[:CLASSES])
    return known[chosen], [f"Of {len(known)} classes the {CLASSES} {most} were asked about; name one by class_."]


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums by group.

    Attributes
    ----------
    tally : Tally
        All that is kept: `groups`, group × true × answered (without truths group × 1 × answered); `known`, the classes
        that the model knows; and, where there are probabilities, `forecasts`, group × class × bin × sum.
    truths : bool
        Whether it is known what is true of the rows.
    """

    tally: Tally
    truths: bool

    @cached_property
    def groups(self) -> Labels:
        """The groups, sorted; rows that have none come last."""
        found = self.tally.labels("groups", 0)
        there = [name for name in found.tolist() if not (isinstance(name, str) and name == MISSING)]
        return found if len(there) == len(found) else objects([*there, MISSING])

    @cached_property
    def classes(self) -> Labels:
        """The classes: those the model knows, those that are true of a row, those that were answered."""
        axes = (1, 2) if self.truths else (2,)
        return reduce(unite, [self.tally.labels("known", 0), *(self.tally.labels("groups", axis) for axis in axes)])

    @cached_property
    def confusion(self) -> Counts:
        """Groups × true × answered; without truths groups × 1 × answered."""
        true = self.classes if self.truths else _ANY
        return self.tally.over("groups", self.groups, true, self.classes).floats().astype(np.int64)

    def forecasts(self, k: int) -> NDArray[Any] | None:
        """Groups × bins × sums of class k, as fractions; None where there are no probabilities."""
        if "forecasts" not in self.tally:
            return None
        sums = self.tally.over("forecasts", self.groups, self.classes[[k]], np.arange(BINS), SUMS)
        assert isinstance(sums, Exact)
        found: NDArray[Any] = sums.fractions()[:, 0]
        rows = self.confusion.sum(axis=(1, 2))
        true = self.confusion[:, k].sum(axis=1) if self.truths else 0 * rows
        return with_certain_rows(found, rows, rows, true)

    def __add__(self, other: GroupSums) -> GroupSums:
        """The sums of the rows of both."""
        for name, mine, its in (
            ("true labels", self.truths, other.truths),
            ("probabilities", "forecasts" in self.tally, "forecasts" in other.tally),
        ):
            if mine != its:
                raise MergeError(f"one audit has {name} and the other has none; audit both alike")
        return GroupSums(self.tally + other.tally, self.truths)


def group_sums(rows: Predictions, groups: NDArray[Any], names: Labels, truths: bool, known: Labels | None) -> Tally:
    """Count the rows of each group: groups are codes into the names, and known the classes that labels do not show."""
    known, foreign = known_of(rows, known)
    g, k = len(names), len(rows.classes)
    true = rows.classes if truths else _ANY
    codes = rows.codes.astype(np.int64) if truths else np.zeros(len(rows), np.int64)
    place = (groups.astype(np.int64) * len(true) + codes) * k + rows.predicted
    axes = {"group": names, "true": true, "answered": rows.classes}
    tables = {"groups": Table.of(axes, summed(None, place, (g, len(true), k)))}
    if known is not None:
        tables["known"] = Table.of({"class": known}, Exact.counts(np.full(len(known), len(rows))))
    if rows.probabilities is not None:
        found = []
        for at in np.flatnonzero(~foreign).tolist():
            event = rows.codes == at if truths else np.zeros(len(rows), np.bool_)
            p = np.ascontiguousarray(rows.probabilities[:, at])
            found.append(forecast_sums(p, event, None, groups.astype(np.int64), g))
        axes = {"group": names, "class": rows.classes[~foreign], "bin": np.arange(BINS), "sum": SUMS}
        tables["forecasts"] = Table.of(axes, joined(found, 1))
    return Tally(tables)


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GroupRates:
    """What is measured of one group, for one class against the rest."""

    class_: Any
    group: Any
    rows: int
    selection: Share  # rows that were answered with the class
    base: Share  # rows that it is true of
    false_positive: Share  # of the rows it is not true of, those answered with it
    false_negative: Share  # of the rows it is true of, those answered otherwise
    accuracy: Share  # rows that were predicted correctly, among all classes
    probability: float | None  # the mean of the class's
    gap: Estimate  # that less the share it is true of: above 0, the group's probabilities are too high
    ece: Estimate  # the expected calibration error of the class's probability, in ten bins


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
    used : bool or None
        Whether the model uses the protected column; None where that is not known.
    notes : tuple of str
        What was done on the way, such as columns that were left out.
    """

    def __init__(
        self,
        protected: str,
        sums: GroupSums,
        judged: Labels,
        *,
        reference: Any = None,
        confidence: float = 0.95,
        random_state: int = 0,
        used: bool | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.protected, self.sums, self._judged = protected, sums, judged
        self.confidence, self.random_state = confidence, random_state
        self.used, self.notes = used, notes
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
        return list(self._judged.tolist())

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
    def _forecasts(self) -> list[Any]:
        return [self.sums.forecasts(k) for k in find(self.sums.classes, self._judged).tolist()]

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

        if self._forecasts[at] is None or n == 0:
            return None, Estimate(None), Estimate(None)
        sums = self._forecasts[at][g]
        rows, true, p = (column(sums, name).astype(np.float64) for name in ("rows", "true", "p"))
        probability = float(p.sum() / n)
        if not self.truths:
            return probability, Estimate(None), Estimate(None)
        # Σd and Σd² of d = p - e, where e is 1 for the rows of the class: how much too high the probabilities are.
        whole = {name: column(sums, name).sum() for name in ("p", "product", "square", "true")}
        total = float(whole["p"] - whole["true"])
        squares = float(whole["square"] - 2 * whole["product"] + whole["true"])
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
        return findings.group_warnings(self)

    @cached_property
    def plain(self) -> list[str]:
        """What was found, where it may come from and what was not shown, in plain words."""
        return findings.of_groups(self)

    def __add__(self, other: Any) -> GroupAudit:
        """The audit of the rows of both."""
        if not isinstance(other, GroupAudit):
            return NotImplemented
        for name in ("protected", "confidence", "random_state", "_reference", "used"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise MergeError(f"one audit has {name.strip('_')}={mine!r} and the other {theirs!r}; audit both alike")
        if not same(self._judged, other._judged):
            raise MergeError(
                f"one audit asks about {self.classes!r} and the other about {other.classes!r}; give both the same "
                "class_"
            )
        return GroupAudit(
            self.protected,
            self.sums + other.sums,
            self._judged,
            reference=self._reference,
            confidence=self.confidence,
            random_state=self.random_state,
            used=self.used,
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
        )

    def __radd__(self, other: Any) -> GroupAudit:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """All that was found, as plain data that JSON can hold."""
        return findings.groups_dict(self)

    def __str__(self) -> str:
        return findings.groups_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return findings.groups_html(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw the rates of each group with their intervals, a panel for each measure; the axes are returned."""
        from ingenuo.show import plots

        return plots.groups(self, axes)
