"""The audit of a table: what a model answers to the rows of each group, and how the groups differ.

Of each group exact sums are kept and no rows: the confusion matrix and, for each class, the rows by ten bins of its
probability. So two audits of one model add to that of all rows, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError, did_you_mean
from ingenuo.evaluation import intervals
from ingenuo.evaluation.measures import BINS
from ingenuo.evaluation.predictions import Predictions, list_names
from ingenuo.evaluation.significance import holm, level, p_text, percent
from ingenuo.evaluation.sums import SUMS, column, forecast_sums, join_sums, known_of, sum_by_cell, with_certain_rows
from ingenuo.show.format import cell, plain, shortened, span
from ingenuo.show.page import template
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find, objects, unite
from ingenuo.tally.tally import Table, Tally

MEASURES = {
    "selection": "answered",
    "base": "true",
    "false_positive": "false positives",
    "false_negative": "false negatives",
    "accuracy": "accuracy",
}
MISSING = "(missing)"  # the group of rows that have none
_CLASSES = 5  # that are judged where none is named
_EXPECTED = 5  # rows in every cell: with fewer χ² is not to be trusted
_FEWEST_ROWS, _FEWEST_OF_A_CLASS = 30, 10  # of a group: with fewer its intervals are too wide to say anything
_NAME = 40  # letters of a group in a table
_CARE = "Take care: "
_GROUPS, _DIFFERENCES = 20, 15  # lines of a table


# What both audits share.


class Audit(Shown):
    """What an audit found: it prints as notes, tables, reasons for care, and sentences."""

    classes: Any  # that are judged, each against the rest
    confidence: Any
    tables: Any  # a method: the tables by their titles
    _notes: Any  # a method: what was done, before the tables
    _facts: Any  # a method: what the sentences of `show/templates/audit.txt` are filled with

    @cached_property
    def _sentences(self) -> list[str]:
        def names(every: Iterable[str], most: int = 6) -> str:
            return list_names(list(dict.fromkeys(every)), str, most)

        facts = {"audit": self, "level": percent(1 - self.confidence), "names": names, "p": p_text} | self._facts()
        return [line for line in template("audit.txt").render(facts).splitlines() if line]

    @property
    def warnings(self) -> list[str]:
        """Reasons for care: groups that are too small, terms that the model does not use, and the like."""
        return [line.removeprefix(_CARE) for line in self._sentences if line.startswith(_CARE)]

    @property
    def plain(self) -> list[str]:
        """What was found, where it may come from and what was not shown, in plain words."""
        return [line for line in self._sentences if not line.startswith(_CARE)]

    def _blocks(self) -> Sequence[str | Block]:
        tables = [block for table in self.tables().values() for block in ("", table)]
        return [*self._notes(), *tables, "", *(f"– {line}" for line in self._sentences)]

    def _table(
        self, found: Sequence[Any], heads: list[str], write: Callable[[Any], list[str]], most: int, what: str = ""
    ) -> PrintedTable:
        """A line for each thing found; the column of classes is left out where there is one class."""
        shown = [k for k, head in enumerate(heads) if head != "class" or len(self.classes) > 1]
        lines = [[cells[k] for k in shown] for cells in map(write, found[:most])]
        if len(found) > most:
            lines.append([f"({len(found) - most:,} more {what} are not shown; see to_dict().)"])
        return PrintedTable([heads[k] for k in shown], lines, rule=True)


def correct(found: Sequence[Any], confidence: float) -> list[Any]:
    """What was tested, with p-values by Holm's correction for all of them, and whether each is significant."""
    alpha = level(confidence)
    adjusted = holm([each.p_value for each in found]).tolist()
    return [replace(each, adjusted=p, significant=p <= alpha and each.is_finding) for each, p in zip(found, adjusted)]


def can_be_seen(difference: float) -> bool:
    """Whether a difference is more than a zero in a table: many rows make the smallest one significant."""
    return float(f"{difference:.3f}") != 0


def write_p(value: float | None) -> str:
    """A p-value in a table."""
    return "–" if value is None else "<0.0001" if value < 1e-4 else f"{value:.4f}"


def write_span(low: float | None, high: float | None) -> str:
    """The interval of a difference."""
    return "–" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"


def write_difference(found: Any) -> str:
    """A difference, with a star where it is significant."""
    return f"{found.difference:+.3f}{'*' if found.significant else ''}"


def choose_classes(
    known: Labels, class_: Any, ranks: Callable[[], NDArray[Any]], most: str
) -> tuple[Labels, list[str]]:
    """The class that is named; else the second of two, or each; of many the five of the highest rank, with a note."""
    if class_ is not None:
        at = find(known, objects([class_]))
        if at[0] < 0:
            alike = [
                f"{label!r}, of type {type(label).__name__}" for label in known.tolist() if str(label) == str(class_)
            ]
            hint = f"; did you mean {alike[0]}?" if alike else did_you_mean(class_, known.tolist())
            raise InputError(f"class_={class_!r} is no class{hint}")
        return known[at], []
    if len(known) <= _CLASSES:
        return known[-1:] if len(known) <= 2 else known, []
    chosen = np.sort(np.argsort(-ranks(), kind="stable")[:_CLASSES])
    return known[chosen], [f"Of {len(known)} classes the {_CLASSES} {most} were asked about; name one by class_."]


# Shares, and how two of them differ.


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return cell(self.value, self.low, self.high)


@dataclass(frozen=True)
class Share(Estimate):
    """A share of n rows with its interval."""

    count: int = 0
    n: int = 0


def share(count: float, n: float, confidence: float) -> Share:
    """A share with Clopper and Pearson's interval; without a value where there are no rows."""
    if n == 0:
        return Share()
    found = intervals.exact(count, n, confidence)
    return Share(float(count / n), found.low, found.high, int(count), int(n))


@dataclass(frozen=True)
class Contrast:
    """One share less another, and their ratio, with intervals; and the test of their being the same."""

    difference: float
    low: float
    high: float
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p_value: float
    test: str


def contrast(one: Share, other: Share, confidence: float) -> Contrast | None:
    """The first share against the second; None where one of them has no rows.

    The interval of the difference is Newcombe's (1998), from Wilson's of both shares; that of the ratio is Katz's.
    """
    from scipy.special import ndtri

    if one.value is None or other.value is None:
        return None
    z = float(ndtri(0.5 + confidence / 2))
    p, q = one.value, other.value
    (l1, u1), (l2, u2) = _wilson(p, one.n, z), _wilson(q, other.n, z)
    low, high = p - q - math.hypot(p - l1, u2 - q), p - q + math.hypot(u1 - p, q - l2)
    ratio = Estimate()
    if one.count and other.count:
        reach = z * math.sqrt(max(0.0, 1 / one.count - 1 / one.n + 1 / other.count - 1 / other.n))
        ratio = Estimate(p / q, p / q * math.exp(-reach), p / q * math.exp(reach))
    return Contrast(p - q, low, high, ratio.value, ratio.low, ratio.high, *_test(one, other))


def _wilson(p: float, n: int, z: float) -> tuple[float, float]:
    """Wilson's interval of a share p of n."""
    middle, reach = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, (middle - reach) / (1 + z * z / n)), min(1.0, (middle + reach) / (1 + z * z / n))


def _test(one: Share, other: Share) -> tuple[float, str]:
    """χ² where at least 5 rows are expected in every cell of the table of two by two; else Fisher's exact test."""
    from scipy.special import chdtrc

    table = np.array([[one.count, one.n - one.count], [other.count, other.n - other.count]])
    if not table.sum(axis=0).all():
        return 1.0, "no row differs"
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if expected.min() >= _EXPECTED:
        return float(chdtrc(1, ((table - expected) ** 2 / expected).sum())), "χ²"
    from scipy.stats import fisher_exact  # a second to import

    return min(1.0, float(fisher_exact(table).pvalue)), "Fisher's exact"


@dataclass(frozen=True)
class GroupDifference(Contrast):
    """How a group's rate differs from the reference group's; `adjusted` is the p-value by Holm's correction."""

    class_: Any
    group: Any
    reference: Any
    measure: str
    adjusted: float = 1.0
    significant: bool = False

    @property
    def is_finding(self) -> bool:
        """Whether the difference is one that can be seen."""
        return can_be_seen(self.difference)


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


# The audit.


def group_sums(rows: Predictions, groups: NDArray[Any], names: Labels, known: Labels | None) -> Tally:
    """Count the rows of each group: groups are codes into the names, and known the classes that labels do not show."""
    known, foreign = known_of(rows, known)
    g, k = len(names), len(rows.classes)
    place = (groups.astype(np.int64) * k + rows.codes) * k + rows.predicted
    axes = {"group": names, "true": rows.classes, "answered": rows.classes}
    tables = {"groups": Table.of(axes, sum_by_cell(None, place, (g, k, k)))}
    if known is not None:
        tables["known"] = Table.of({"class": known}, Exact.counts(np.full(len(known), len(rows))))
    if rows.probabilities is not None:
        found = [
            forecast_sums(np.ascontiguousarray(rows.probabilities[:, at]), rows.codes == at, None, groups, g)
            for at in np.flatnonzero(~foreign).tolist()
        ]
        axes = {"group": names, "class": rows.classes[~foreign], "bin": np.arange(BINS), "sum": SUMS}
        tables["forecasts"] = Table.of(axes, join_sums(found, 1))
    return Tally(tables)


@dataclass(frozen=True, eq=False, repr=False)
class GroupAudit(Audit):
    """What an audit of a table found; prints as tables and sentences, and adds."""

    protected: str  # what the groups are of
    tally: Tally  # all that is kept: `groups`, group × true × answered; `known`, the classes of the model; `forecasts`
    truths: bool  # whether it is known what is true of the rows; else what was answered stands for it
    classes: list[Any]  # that are judged, each against the rest
    confidence: float = 0.95
    random_state: int = 0
    used: bool | None = None  # whether the model uses the protected column; None where that is not known
    notes: tuple[str, ...] = ()  # what was done on the way, such as columns that were left out
    named: Any = None  # the reference group, if one was named

    @cached_property
    def groups(self) -> list[Any]:
        """The groups, sorted; rows that have none come last."""
        return sorted(
            self.tally.labels("groups", 0).tolist(), key=lambda name: isinstance(name, str) and name == MISSING
        )

    @cached_property
    def known(self) -> Labels:
        """All classes: those the model knows, those that are true of a row, those that were answered."""
        axes = (("known", 0), ("groups", 1), ("groups", 2))
        return reduce(unite, [self.tally.labels(*axis) for axis in axes])

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """Groups × true × answered."""
        return self.tally.over("groups", objects(self.groups), self.known, self.known).floats().astype(np.int64)

    @property
    def probable(self) -> bool:
        """Whether there are probabilities."""
        return "forecasts" in self.tally

    @property
    def rows(self) -> dict[Any, int]:
        """How many rows each group has."""
        return dict(zip(self.groups, self.confusion.sum(axis=(1, 2)).tolist()))

    @property
    def n_rows(self) -> int:
        """How many rows were audited."""
        return int(self.confusion.sum())

    @property
    def reference(self) -> Any:
        """The group that the others are compared with: the one that was named, or the largest."""
        return max(self.groups, key=self.rows.__getitem__) if self.named is None else self.named

    @cached_property
    def rates(self) -> list[GroupRates]:
        """What is measured of each class and group."""
        return [self._rates(at, g) for at in range(len(self.classes)) for g in range(len(self.groups))]

    def _rates(self, at: int, g: int) -> GroupRates:
        cells, k = self.confusion[g], int(find(self.known, objects([self.classes[at]]))[0])
        n, answered, true, hit = (int(each) for each in (cells.sum(), cells[:, k].sum(), cells[k].sum(), cells[k, k]))
        counts = {
            "base": (true, n),
            "false_positive": (answered - hit, n - true),
            "false_negative": (true - hit, true),
            "accuracy": (int(np.trace(cells)), n),
        }
        counts = {name: pair if self.truths else (0, 0) for name, pair in counts.items()} | {"selection": (answered, n)}
        shares = {name: share(*pair, self.confidence) for name, pair in counts.items()}
        probability, gap, ece = self._calibration(at, g, k)
        return GroupRates(self.classes[at], self.groups[g], n, **shares, probability=probability, gap=gap, ece=ece)

    def _calibration(self, at: int, g: int, k: int) -> tuple[float | None, Estimate, Estimate]:
        """The mean probability; how much it is too high, with Student's interval; and the ECE, by the bootstrap."""
        from scipy.special import stdtrit

        if not self.probable:
            return None, Estimate(), Estimate()
        found = self.tally.over("forecasts", objects(self.groups[g : g + 1]), self.known[[k]], np.arange(BINS), SUMS)
        n, true = int(self.confusion[g].sum()), int(self.confusion[g, k].sum())
        sums = with_certain_rows(found.fractions()[0, 0], n, n, true)  # type: ignore[union-attr]
        rows, hits, p = (column(sums, name).astype(np.float64) for name in ("rows", "true", "p"))
        if not self.truths:
            return float(p.sum() / n), Estimate(), Estimate()
        # Σd and Σd² of d = p - e, where e is 1 for the rows of the class: how much too high the probabilities are.
        whole = {name: column(sums, name).sum() for name in ("p", "product", "square", "true")}
        total = float(whole["p"] - whole["true"])
        squares = float(whole["square"] - 2 * whole["product"] + whole["true"])
        gap = Estimate(total / n)
        if n > 1:
            spread = math.sqrt(max(0.0, (squares - total * total / n) / (n - 1)))
            reach = float(stdtrit(n - 1, 0.5 + self.confidence / 2)) * spread / math.sqrt(n)
            gap = Estimate(total / n, total / n - reach, total / n + reach)
        ece = intervals.of_bins(rows, hits, p, self.confidence, [self.random_state, at, g])
        return float(p.sum() / n), gap, Estimate(float(np.abs(hits - p).sum() / n), ece.low, ece.high)

    def rate(self, group: Any, class_: Any = None) -> GroupRates:
        """What is measured of one group; of several classes, of the class that is named, or the last."""
        chosen = self.classes[-1] if class_ is None else class_
        for name, value, known in (("group", group, self.groups), ("class_", chosen, self.classes)):
            if value not in known:
                raise InputError(f"{name}={value!r} was not audited{did_you_mean(value, known)}")
        return next(found for found in self.rates if found.group == group and found.class_ == chosen)

    @cached_property
    def differences(self) -> list[GroupDifference]:
        """How each group differs from the reference group, measure by measure; Holm's correction is over all."""
        found = []
        for rates in self.rates:
            standard = self.rate(self.reference, rates.class_)
            for measure in MEASURES if rates.group != self.reference else ():
                one = contrast(getattr(rates, measure), getattr(standard, measure), self.confidence)
                if one is not None:
                    names = {"class_": rates.class_, "group": rates.group, "measure": measure}
                    found.append(GroupDifference(**asdict(one), **names, reference=self.reference))
        return correct(found, self.confidence)

    def __add__(self, other: Any) -> GroupAudit:
        """The audit of the rows of both."""
        if not isinstance(other, GroupAudit):
            return NotImplemented
        for name in ("protected", "confidence", "random_state", "named", "used", "truths", "probable", "classes"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise MergeError(f"one audit has {name}={mine!r} and the other {theirs!r}; audit both alike")
        notes = tuple(dict.fromkeys(self.notes + other.notes))
        return replace(self, tally=self.tally + other.tally, notes=notes)

    def __radd__(self, other: Any) -> GroupAudit:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def _facts(self) -> dict[str, Any]:
        significant = sorted((d for d in self.differences if d.significant), key=lambda d: -abs(d.difference))
        worst = {d.measure: d for d in reversed(significant)}
        off = [r for r in self.rates if r.gap.low is not None and r.gap.low * (r.gap.high or 0.0) > 0]
        of = " of {}" if len(self.classes) > 1 else ""
        return {
            "few": [f"{group} ({n:,})" for group, n in self.rows.items() if n < _FEWEST_ROWS],
            "rare": [
                f"{r.group} ({n:,} {what})"
                for r in self.rates
                for n, what in ((r.base.count, f"{r.class_}"), (r.rows - r.base.count, f"not {r.class_}"))
                if n < _FEWEST_OF_A_CLASS and r.rows >= _FEWEST_ROWS
            ],
            "worst": [
                (worst[m], *(getattr(self.rate(g, worst[m].class_), m) for g in (worst[m].group, self.reference)))
                for m in MEASURES
                if m in worst
            ],
            "small": [f"{group} ({n / self.n_rows:.1%})" for group, n in self.rows.items() if n < 0.05 * self.n_rows],
            "off": [
                f"{r.group} {r.gap.value:+.3f}{of.format(r.class_)}"
                for r in sorted(off, key=lambda r: -abs(r.gap.value or 0.0))
            ],
        }

    def tables(self) -> dict[str, PrintedTable]:
        """The rates, the differences and the calibration of the groups, by their titles."""
        largest = sorted(self.rates, key=lambda r: -r.rows)
        off = [r for r in largest if r.gap.value is not None]
        surest = sorted(self.differences, key=lambda d: (d.adjusted, -abs(d.difference)))
        measures = {name: title for name, title in MEASURES.items() if self.truths or name == "selection"}
        sure = f"{100 * self.confidence:g}% interval"

        def who(each: Any) -> list[str]:
            return [shortened(each.group, _NAME), shortened(each.class_, _NAME)]

        def rates(r: GroupRates) -> list[str]:
            return [*who(r), f"{r.rows:,}", *(str(getattr(r, name)) for name in measures)]

        def difference(d: GroupDifference) -> list[str]:
            ratio = ["–" if d.ratio is None else f"{d.ratio:.2f}", span(d.ratio_low, d.ratio_high)]
            first = [*who(d), MEASURES[d.measure], write_difference(d), write_span(d.low, d.high)]
            return [*first, *ratio, write_p(d.adjusted), d.test]

        def calibration(r: GroupRates) -> list[str]:
            gap = f"{r.gap.value:+.3f} {write_span(r.gap.low, r.gap.high)}"
            return [*who(r), f"{r.probability:.3f}", f"{r.base.value:.3f}", gap, str(r.ece)]

        first = [self.protected, "class"]
        against = [f"against {self.reference}", "class", "rate", "difference", sure, "ratio", sure, "p (Holm)", "test"]
        true = ["mean P", "true", "mean P - true", "ECE"]
        found = {
            "Rates of each group": self._table(largest, [*first, "rows", *measures.values()], rates, _GROUPS, "groups"),
            "Differences between groups": self._table(surest, against, difference, _DIFFERENCES, "differences"),
        }
        return found | (
            {"Calibration of each group": self._table(off, first + true, calibration, _GROUPS)} if off else {}
        )

    def _notes(self) -> list[str]:
        asked = ", ".join(map(str, self.classes))
        first = f"{self.n_rows:,} rows in {len(self.groups)} groups of {self.protected}; asked about: {asked}."
        return [f"{first} * is significant by Holm's correction.", *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """All that was found, as plain data that JSON can hold."""
        names = ("protected", "used", "groups", "reference", "classes", "confidence", "notes", "warnings", "plain")
        found = {"audit": "groups", "rows": self.n_rows} | {name: getattr(self, name) for name in names}
        found |= {name: [asdict(each) for each in getattr(self, name)] for name in ("rates", "differences")}
        return dict(plain(found))

    def plot(self, axes: Any = None) -> Any:
        """Draw the rates of each group with their intervals, a panel for each measure; the axes are returned."""
        from ingenuo.show import plots

        return plots.groups(self, axes)
