"""The nomogram of a model: a scale of points for each column, and from the total of the points to a probability.

    log odds = constant + Σ_j effect_j        points_j = (effect_j - least_j) · unit

The unit is such that the widest column spans 100 points; least_j is the least effect of a column, so that it has 0
points. The total of the points is then a line of the log odds, and of two classes nothing is lost. Of more classes the
nomogram is of one against one other, exact for the probability of the one where it is known to be one of the two.
A word, which may come several times, has points per occurrence, from 0; so have columns that are not drawn, for which
nothing need be added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.explanation.evidence import Evidence, evidence
from ingenuo.explanation.nomogram_picture import round_values, svg
from ingenuo.families.family import Bags, Measure, WordTable
from ingenuo.families.family import Evidence as Part
from ingenuo.rows.schema import column_name
from ingenuo.show.arithmetic import Floats
from ingenuo.show.format import plain
from ingenuo.show.svg import Picture
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import is_missing, labels_of

PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
KEPT = 1000  # columns of counts have scales of their own
_WORDS = 10  # that speak most for either class
_POINTS = 201  # of the curve of a number
_ALONE = 6.0  # nats, odds of 400 to 1: a value of such an effect leaves the others little to say
_TICKS = 12  # of a number, at most


class Reading(NamedTuple):
    """What a row comes to: the points of each column, their total, and the probability."""

    points: dict[str, float]
    total: float
    probability: float


@dataclass(frozen=True)
class Tick:
    """A value of a column, what it adds to the log odds, and its points."""

    label: str
    value: Any
    effect: float
    points: float = 0.0


@dataclass(frozen=True)
class Scale:
    """One column: its values, each with its points."""

    column: str
    kind: str  # "category", "number", "count" or "text"
    ticks: tuple[Tick, ...]
    least: float  # the effect that has 0 points
    width: float  # in points, from the least to the most
    missing: float = 0.0  # the points of a missing value, which has no effect
    curve: tuple[tuple[float, float], ...] = ()  # of a number: values and their points
    note: str = ""

    def in_points(self, unit: float) -> Scale:
        """The scale with its points, so many for a nat."""
        ticks = tuple(replace(t, points=(t.effect - self.least) * unit) for t in self.ticks)
        curve = tuple((x, (effect - self.least) * unit) for x, effect in self.curve)
        return replace(self, ticks=ticks, curve=curve, width=self.width * unit, missing=0.0 - self.least * unit)


@dataclass(frozen=True, eq=False, repr=False)
class Nomogram(Shown):
    """Scales of points, and from their total to the probability; prints as a table, and draws itself."""

    model: Any = field(repr=False)
    positive: Any
    against: Any
    scales: tuple[Scale, ...]  # the widest first
    drawn: int  # so many of them are drawn
    unit: float  # points for one nat of log odds
    base: float  # the log odds of 0 points in all
    several: bool = False  # whether there are classes besides these two
    calibrated: Callable[[Floats], Floats] | None = field(default=None, repr=False)  # from log odds to probability
    remarks: tuple[str, ...] = ()
    together: tuple[Measure, ...] = field(default=(), repr=False)  # columns that all must be there

    @property
    def title(self) -> str:
        """What it is of."""
        if self.several:
            return f"P({self.positive}) where it is {self.positive} or {self.against}"
        return f"P({self.positive}), against {self.against}"

    def log_odds(self, total: float) -> float:
        """The log odds, before any calibration, of a total of points."""
        return self.base + total / self.unit

    def probability(self, total: float) -> float:
        """The probability of the positive class for a total of points."""
        from scipy.special import expit

        odds = self.log_odds(total)
        if self.calibrated is None or not math.isfinite(odds):
            return float(expit(odds))
        return float(self.calibrated(np.array([odds]))[0])

    def total(self, probability: float) -> float | None:
        """The total of points with this probability; None where no total has it."""
        from scipy.special import logit

        if self.calibrated is None:
            return (float(logit(probability)) - self.base) * self.unit
        low, high = -500.0, 500.0
        ends = self.calibrated(np.array([low, high]))
        if not ends[0] < probability < ends[1]:
            return None
        for _ in range(80):  # it never falls
            middle = (low + high) / 2
            low, high = (middle, high) if self.calibrated(np.array([middle]))[0] < probability else (low, middle)
        return (high - self.base) * self.unit

    def points(self, row: Any) -> Reading:
        """The points of a row, column by column, their total and the probability.

        Parameters
        ----------
        row : mapping, sequence, or table of one row
            As `explain` takes it; what a mapping leaves out is missing.

        Examples
        --------
        >>> import ingenuo as ing, ingenuo.datasets
        >>> shown = nomogram(ing.NaiveBayes().fit(ingenuo.datasets.play_tennis(), "Play"), positive="Yes")
        >>> read = shown.points({"Outlook": "Sunny", "Wind": "Strong"})
        >>> round(read.total, 1), round(read.probability, 4)
        (57.0, 0.3642)
        """
        effects = self._effects(row)
        found = {each.column: (effects.pop(each.column, 0.0) - each.least) * self.unit for each in self.scales}
        found |= {column: effect * self.unit for column, effect in effects.items()}  # which have no scale of their own
        with np.errstate(invalid="ignore"):
            total = float(np.sum(list(found.values())))
        if math.isnan(total):  # each class has something that it holds impossible
            explained = self.model.explain(row)
            posterior = dict(zip(explained.classes.tolist(), explained.posterior.tolist()))
            share = posterior[self.positive] / (posterior[self.positive] + posterior[self.against])
            return Reading(found, total, float(share))
        return Reading(found, total, self.probability(total))

    def _effects(self, row: Any) -> dict[str, float]:
        """What each column of a row adds to the log odds."""
        shown = self.model.explain(row)
        names = shown.classes.tolist()
        yes, no = names.index(self.positive), names.index(self.against)
        lines = {part.column: part for part in self.together}
        effects: dict[str, float] = {}
        skipped = {column_name(name) for name in lines}
        for factor in shown.factors:
            name = factor.part_of or factor.column
            if factor.terms and name not in skipped and (factor.column, factor.value) != ("shift", "tuned"):
                effects[name] = effects.get(name, 0.0) + factor.terms[yes].log - factor.terms[no].log
        for column, x in _numbers(self.model, row, list(lines)).items():
            amounts = lines[column].at(np.array([x]))[0]
            effects[column_name(column)] = float(amounts[yes] - amounts[no])
        return effects

    def to_dict(self) -> dict[str, Any]:
        """All the scales, and the constants that lead from points to the probability, as plain data."""
        columns = []
        for scale in self.scales:
            ticks = [{"value": t.value, "points": t.points, "effect": t.effect} for t in scale.ticks]
            about = {name: getattr(scale, name) for name in ("column", "kind", "width", "missing", "note")}
            columns.append({**about, "least_effect": scale.least, "ticks": ticks})
        found = {
            "title": self.title,
            "positive": self.positive,
            "against": self.against,
            "points_per_nat": self.unit,
            "log_odds_at_0_points": self.base,
            "drawn": self.drawn,
            "remarks": list(self.remarks),
            "columns": columns,
            "probability": [{"probability": p, "total_points": total} for p, total in self.levels()],
        }
        return plain(found)  # type: ignore[no-any-return]

    def levels(self) -> list[tuple[float, float]]:
        """Probabilities, and the total of points that each has, as far as any has it."""
        return [(p, total) for p in PROBABILITIES if (total := self.total(p)) is not None]

    def _blocks(self) -> list[str | Block]:
        columns = []
        for scale in self.scales[: self.drawn]:
            ticks = sorted(scale.ticks, key=lambda tick: tick.points) if scale.kind != "number" else scale.ticks
            shown = [f"{tick.label} {_figure(tick.points)}" for tick in ticks]
            shown = shown if len(shown) <= 20 else [*shown[:10], "…", *shown[-10:]]
            columns.append([scale.column, " · ".join([*shown, f"(missing {_figure(scale.missing)})"])])
        totals = ["total points", *(f"{total:.0f}" for _, total in self.levels())]
        levels = PrintedTable((), [totals, ["probability", *(f"{p:g}" for p, _ in self.levels())]])
        return [self.title, self.svg(), PrintedTable(["column", "points"], columns), "", levels, *self.remarks]

    def _title(self) -> str:
        return f"Nomogram: {self.title}"

    def svg(self) -> Picture:
        """The picture as SVG: selectable text, in the colours of the page around it."""
        return svg(self)


def nomogram(model: Any, positive: Any = None, against: Any = None, rows: int = 15) -> Nomogram:
    """The nomogram of a naive Bayes or linear model: points for each value, and from their total to the probability.

    Parameters
    ----------
    model : fitted classifier
        `NaiveBayes` of any mix of columns, tuned and calibrated as it may be; the five drop-ins; `SoftmaxRegression`;
        `GaussianDiscriminant` with one covariance for all classes or with variances only.
    positive : optional
        The class whose probability is shown; by default the second of two classes, of more the largest.
    against : optional
        Of more than two classes, the other one; by default the largest of the others.
    rows : int
        How many columns are drawn, those of the widest effect.

    Examples
    --------
    >>> import ingenuo as ing, ingenuo.datasets
    >>> print(nomogram(ing.NaiveBayes().fit(ingenuo.datasets.play_tennis(), "Play")))
    P(Yes), against No
    column       points
    Outlook      Sunny 0 · Rain 30 · Overcast 100 · (missing 37)
    Humidity     High 0 · Normal 78 · (missing 36)
    Wind         Strong 0 · Weak 45 · (missing 24)
    Temperature  Hot 0 · Mild 27 · Cool 37 · (missing 21)
    <BLANKLINE>
    total points  -278   -156  -69   -29  28    86   144   202  242   329   450
    probability   0.001  0.01  0.05  0.1  0.25  0.5  0.75  0.9  0.95  0.99  0.999
    """
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer):
        raise KindError(f"rows must be a whole number, got {type(rows).__name__} {rows!r}")
    if rows < 1:
        raise InputError(f"rows={rows!r} leaves nothing to draw; take 1 at least")
    found = evidence(model)
    yes, no = _pair(found, positive, against)
    scales = [scale for part in found.parts for scale in _scales_of(part, yes, no)]
    widest = max((scale.width for scale in scales), default=0.0)
    unit = 100 / widest if widest > 0 else 1.0
    scales.sort(key=lambda scale: -scale.width)
    scales = [scale if place < rows else replace(scale, least=0.0) for place, scale in enumerate(scales)]
    scales = [scale.in_points(unit) for scale in scales]
    names = found.classes.tolist()
    with np.errstate(invalid="ignore"):
        base = float(found.constant[yes] - found.constant[no]) + sum(scale.least for scale in scales)
    curve, remark = _calibration(model, yes, no, len(names))
    remarks = [remark] if remark else []
    if len(names) > 2:
        others = "one other class is" if len(names) == 3 else f"{len(names) - 2} other classes are"
        remarks.append(f"Exact for {names[yes]} against {names[no]}; {others} left out.")
    hidden = sum(len(part.columns) if part.kind == "count" else 1 for part in found.parts) - rows
    if hidden > 0:
        what, are = ("columns", "are") if hidden > 1 else ("column", "is")
        most = scales[rows].width if rows < len(scales) else 0.0
        remarks.append(
            f"{hidden:,} more {what} with at most {most:.3g} points between their values {are} not drawn: for what is "
            "left out add nothing."
        )
    return Nomogram(
        model, names[yes], names[no], tuple(scales), min(int(rows), len(scales)), unit, base, len(names) > 2, curve,
        tuple(remarks), tuple(part for part in found.parts if part.kind == "number" and part.together),
    )  # fmt: skip


def _pair(found: Evidence, positive: Any, against: Any) -> tuple[int, int]:
    """The places of the two classes."""
    names = found.classes.tolist()
    if len(names) < 2:
        raise InputError(f"the model knows one class only, {names[0]!r}, so there are no odds to draw")
    by_size = np.argsort(-found.priors, kind="stable").tolist()
    if positive is None:
        yes = 1 if len(names) == 2 else by_size[0]
        if against is not None and len(names) == 2:
            yes = 1 - _place(names, against, "against")
        elif against is not None and _place(names, against, "against") == yes:
            yes = by_size[1]
    else:
        yes = _place(names, positive, "positive")
    no = next(k for k in by_size if k != yes) if against is None else _place(names, against, "against")
    if no == yes:
        raise InputError(f"positive and against are both {names[yes]!r}; name two classes")
    return yes, no


def _place(names: list[Any], wanted: Any, parameter: str) -> int:
    plain = labels_of([wanted]).tolist()[0]
    if plain in names:
        return names.index(plain)
    by_text = [place for place, name in enumerate(names) if str(name) == str(wanted)]
    if len(by_text) == 1:
        return by_text[0]
    raise InputError(f"{parameter}={wanted!r} is no class of the model{did_you_mean(wanted, names)}")


def _calibration(model: Any, yes: int, no: int, n_classes: int) -> tuple[Callable[[Floats], Floats] | None, str]:
    """From log odds to the repaired probability, where that is a function of the log odds alone; else why not."""
    if getattr(model, "calibration", None) is None:
        return None, ""
    from scipy.special import expit

    calibrator = model._calibrator()
    scale = calibrator.scale
    before = "The probability is that before calibration"
    if scale is not None and scale.exponent:
        return None, f"{before}, which goes by the length of the text as well."
    if n_classes > 2 and calibrator.curves:
        return None, f"{before}, which looks at each class against all the others."
    lengths = None if scale is None else np.zeros(1)

    def repaired(odds: Floats) -> Floats:
        scores = np.full((len(odds), n_classes), -np.inf)
        scores[:, yes], scores[:, no] = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)
        logs = calibrator.apply(scores, None if lengths is None else np.zeros(len(odds)))
        return np.asarray(expit(logs[:, yes] - logs[:, no]))

    return repaired, f"Calibrated: {calibrator.describe()}."


def _numbers(model: Any, row: Any, columns: list[Any]) -> dict[Any, float]:
    """The numbers that a row has in some columns, all of which must be there."""
    if not columns:
        return {}
    if hasattr(row, "to_dict") and not hasattr(row, "columns"):
        row = row.to_dict()
    if isinstance(row, Mapping):
        called = {column_name(name): value for name, value in row.items()}
        found = {name: called.get(column_name(name)) for name in columns}
    else:
        table = row if getattr(row, "ndim", 1) == 2 or hasattr(row, "columns") else [list(row)]
        blocks, _ = model._rows(table)
        block = next(each for each in blocks.values() if columns[0] in each.names.tolist())
        found = dict(zip(block.names.tolist(), block.rows(0, 1)[0].tolist()))
    lacking = [name for name in columns if is_missing(found[name])]
    if lacking:
        raise InputError(
            f"column {column_name(lacking[0])!r} is missing, and of columns with one covariance the points of the "
            "others change with it; give a value, or ask predict_proba, which integrates it out"
        )
    return {name: float(value) for name, value in found.items() if value is not None and name in columns}


def _figure(points: float) -> str:
    return f"{points:.0f}" if math.isfinite(points) else {True: "∞", False: "−∞"}.get(points > 0, "?")


# The scales of columns: each value's effect on the log odds; points are worked out when the unit is known.


def _scales_of(part: Part, yes: int, no: int) -> list[Scale]:
    """The values of each column and their effects; points are worked out when the unit is known."""
    if part.kind == "count":
        return _bag_scales(part, yes, no)
    name = column_name(part.column)
    if part.kind == "category":
        with np.errstate(invalid="ignore"):
            effects = part.logs[:, yes] - part.logs[:, no]
        ticks = [Tick(str(value), value, effect) for value, effect in zip(part.values.tolist(), effects.tolist())]
        return [_spanned(name, "category", ticks)]
    return [_number_scale(part, name, yes, no) if part.kind == "number" else _word_scale(part, name, yes, no)]


def _bag_scales(part: Bags, yes: int, no: int) -> list[Scale]:
    """Of counts, and of things that are there or not; of very many columns, those of the widest effect."""
    with np.errstate(invalid="ignore"):
        each = part.each[:, yes] - part.each[:, no]
        absent = np.zeros_like(each) if part.absent is None else part.absent[:, yes] - part.absent[:, no]
    width = np.maximum.reduce([each * part.most, absent, 0 * absent]) - np.minimum.reduce(
        [each * part.most, absent, 0 * absent]
    )
    chosen = np.sort(np.argsort(-np.nan_to_num(width), kind="stable")[:KEPT]).tolist()
    found = []
    for j in chosen:
        effect = float(each[j])
        if part.absent is not None:
            ticks = [Tick("absent", "absent", float(absent[j])), Tick("there", "there", effect)]
        else:
            whole = round_values(0.0, float(part.most[j]), _TICKS, whole=True)
            ticks = [Tick(f"{x:g}", x, effect * x if x else 0.0) for x in whole]
        found.append(_spanned(column_name(part.columns[j]), "category" if part.absent is not None else "count", ticks))
    return found


def _spanned(name: str, kind: str, ticks: list[Tick], curve: tuple[tuple[float, float], ...] = ()) -> Scale:
    """From the least effect to the most, that of a missing value, which is 0, among them."""
    finite = [0.0, *(t.effect for t in ticks if math.isfinite(t.effect)), *(e for _, e in curve)]
    certain = [t.label for t in ticks if math.isinf(t.effect)]
    impossible = [t.label for t in ticks if math.isnan(t.effect)]
    note = f"decides alone: {', '.join(certain[:5])}" if certain else ""
    note += f"{'; ' if note else ''}held impossible by both classes: {', '.join(impossible[:5])}" if impossible else ""
    return Scale(name, kind, tuple(ticks), min(finite), max(finite) - min(finite), curve=curve, note=note)


def _number_scale(part: Measure, name: str, yes: int, no: int) -> Scale:
    def effects(x: Floats) -> list[float]:
        with np.errstate(invalid="ignore"):
            logs = part.at(x)
            return (logs[:, yes] - logs[:, no]).tolist()  # type: ignore[no-any-return]

    if part.silent or not part.low < part.high:
        return Scale(name, "number", (), 0.0, 0.0, note="one value only: it says nothing")
    low, high = _readable(np.linspace(part.low, part.high, _POINTS), effects)
    x = np.linspace(low, high, _POINTS)
    curve = tuple((a, b) for a, b in zip(x.tolist(), effects(x)) if math.isfinite(b))
    values = round_values(low, high, _TICKS)
    ticks = [Tick(f"{v:.6g}", v, e) for v, e in zip(values, effects(np.array(values)))]
    scale = _spanned(name, "number", ticks, curve)
    ends = (("below", low, low > part.low), ("above", high, high < part.high))
    beyond = [f"{what} {end:.4g}" for what, end, cut in ends if cut]
    return replace(scale, note=f"{' and '.join(beyond)} it decides nearly alone") if beyond else scale


def _readable(x: Floats, effects: Callable[[Floats], list[float]]) -> tuple[float, float]:
    """The stretch of a number's range in which other columns still have a say; beyond it, no other could be read."""
    fine = np.abs(np.asarray(effects(x))) <= _ALONE
    if fine.all() or not fine.any():
        return float(x[0]), float(x[-1])
    middle = int(np.flatnonzero(fine)[np.argmin(np.abs(np.flatnonzero(fine) - len(x) // 2))])
    low = high = middle
    while low > 0 and fine[low - 1]:
        low -= 1
    while high < len(x) - 1 and fine[high + 1]:
        high += 1
    return (float(x[low]), float(x[high])) if low < high else (float(x[0]), float(x[-1]))


def _word_scale(part: WordTable, name: str, yes: int, no: int) -> Scale:
    with np.errstate(invalid="ignore"):
        effects = np.where(part.used, part.each(yes) - part.each(no), np.nan)
    strength = _said_by(part, effects, yes, no)
    order = np.argsort(strength, kind="stable")
    order = order[np.isfinite(strength[order])]
    chosen = [*order[:_WORDS].tolist(), *order[max(_WORDS, len(order) - _WORDS) :].tolist()]
    ticks = [Tick(text, text, float(effects[node])) for text, node in zip(part.bag.vocabulary.texts(chosen), chosen)]
    least = sorted(tick.effect for tick in ticks if math.isfinite(tick.effect))
    width = max([0.0, *least]) - min([0.0, *least])
    used = int(np.count_nonzero(part.used))
    each = "points of a word that is there" if part.parameters.once else "points per occurrence"
    note = f"{each}{', ' + part.typical if part.typical else ''}; {used:,} words"
    if part.empty is not None:
        empty = float(part.empty[yes] - part.empty[no])
        ticks.append(Tick("(no word)", "", empty))
        note += "; and those of no word besides"
    return Scale(name, "text", tuple(ticks), 0.0, width, note=note)


def _said_by(part: WordTable, effects: Floats, yes: int, no: int) -> Floats:
    """The effect of each word times how often it can be expected: a rare word's large effect is hardly ever met."""
    seen = sum(np.asarray(part.bag.column(k), np.float64) for k in (yes, no))
    return np.asarray(effects * seen)
