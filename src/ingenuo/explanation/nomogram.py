"""The nomogram of a model: a scale of points for each column, and from the total of the points to a probability.

    log odds = constant + Σ_j effect_j        points_j = (effect_j - least_j) · unit

The widest column spans 100 points, and the least effect of each has 0. A word, which may come several times, has points
per occurrence, from 0; so have columns that are not drawn, for which nothing need be added.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ingenuo.errors import InputError, did_you_mean
from ingenuo.explanation.evidence import Evidence, evidence
from ingenuo.families.family import Bags, Categories, Measure, WordTable
from ingenuo.families.family import Evidence as Part
from ingenuo.language import say, speaking, spoken
from ingenuo.rows import checks
from ingenuo.rows.schema import column_name
from ingenuo.show.arithmetic import Floats
from ingenuo.show.format import plain
from ingenuo.show.page import template
from ingenuo.show.svg import Picture, clean, number, shorten, tag, text_width, words
from ingenuo.show.table import Block, PrintedTable, Translated
from ingenuo.tally.labels import labels_of

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
class Nomogram(Translated):
    """Scales of points, and from their total to the probability; prints as a table, and draws itself."""

    model: Any
    positive: Any
    against: Any
    scales: tuple[Scale, ...]  # the widest first
    drawn: int  # so many of them are drawn
    unit: float  # points for one nat of log odds
    base: float  # the log odds of 0 points in all
    several: bool = False  # whether there are more classes than these two
    calibrated: Callable[[Floats], Floats] | None = None  # from log odds to probability
    remarks: tuple[str, ...] = ()
    together: tuple[Measure, ...] = field(default=())  # columns that all must be there

    @property
    def title(self) -> str:
        """What it is of."""
        words = {"a": self.positive, "b": self.against}
        if self.several:
            return say("P({a}) where it is {a} or {b}", **words)
        return say("P({a}), against {b}", **words)

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
        for _ in range(80):  # it never falls
            middle = (low + high) / 2
            low, high = (middle, high) if self.calibrated(np.array([middle]))[0] < probability else (low, middle)
        return (high - self.base) * self.unit if ends[0] < probability < ends[1] else None

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
        explained = self.model._explain_row(row)
        names = explained.classes.tolist()
        yes, no = names.index(self.positive), names.index(self.against)
        effects = self._joint_effects(row, yes, no)
        joint = set(effects)
        for factor in explained.factors:
            name = factor.part_of or factor.column
            if factor.terms and name not in joint and (factor.column, factor.value) != ("shift", "tuned"):
                effects[name] = effects.get(name, 0.0) + factor.terms[yes].log - factor.terms[no].log
        found = {each.column: (effects.pop(each.column, 0.0) - each.least) * self.unit for each in self.scales}
        found |= {column: effect * self.unit for column, effect in effects.items()}  # which have no scale of their own
        with np.errstate(invalid="ignore"):
            total = float(np.sum(list(found.values())))
        if not math.isnan(total):
            return Reading(found, total, self.probability(total))
        p = explained.posterior[[yes, no]]  # each class has something that it holds impossible
        return Reading(found, total, float(p[0] / p.sum()))

    def _joint_effects(self, row: Any, yes: int, no: int) -> dict[str, float]:
        """What the columns with one covariance add, all of which must be there."""
        if not self.together:
            return {}
        source = checks.row(self.model._without_target(row), self.model.schema_)
        blocks: Any = self.model._blocks(source, self.model.schema_)
        block = next(each for each in blocks.values() if self.together[0].column in each.names.tolist())
        numbers = dict(zip(block.names.tolist(), block.rows(0, 1)[0].tolist()))
        effects = {}
        for part in self.together:
            name, x = column_name(part.column), numbers[part.column]
            if math.isnan(x):
                raise InputError(
                    f"column {name!r} is missing, and of columns with one covariance the points of the others change "
                    "with it; give a value, or ask predict_proba, which integrates it out"
                )
            amounts = part.at(np.array([x]))[0]
            effects[name] = float(amounts[yes] - amounts[no])
        return effects

    def to_dict(self) -> dict[str, Any]:
        """All the scales, and the constants that lead from points to the probability, as plain data."""
        columns = []
        for scale in self.scales:
            ticks = [{"value": t.value, "points": t.points, "effect": t.effect} for t in scale.ticks]
            about = {name: getattr(scale, name) for name in ("column", "kind", "width", "missing", "note")}
            columns.append({**about, "least_effect": scale.least, "ticks": ticks})
        found = {name: getattr(self, name) for name in ("title", "positive", "against", "drawn")}
        found |= {"points_per_nat": self.unit, "log_odds_at_0_points": self.base, "remarks": list(self.remarks)}
        levels = [{"probability": p, "total_points": total} for p, total in self.levels()]
        return plain({**found, "columns": columns, "probability": levels})  # type: ignore[no-any-return]

    def levels(self) -> list[tuple[float, float]]:
        """Probabilities, and the total of points that each has, as far as any has it."""
        return [(p, total) for p in PROBABILITIES if (total := self.total(p)) is not None]

    def _blocks(self) -> list[str | Block]:
        columns = []
        for scale in self.scales[: self.drawn]:
            ticks = sorted(scale.ticks, key=lambda tick: tick.points) if scale.kind != "number" else scale.ticks
            shown = [f"{spoken(tick.label)} {_figure(tick.points)}" for tick in ticks]
            shown = shown if len(shown) <= 20 else [*shown[:10], "…", *shown[-10:]]
            missing = spoken(say("(missing {points})", points=_figure(scale.missing)))
            columns.append([scale.column, " · ".join([*shown, missing])])
        totals = [say("total points"), *(f"{total:.0f}" for _, total in self.levels())]
        levels = PrintedTable((), [totals, [say("probability"), *(f"{p:g}" for p, _ in self.levels())]])
        table = PrintedTable([say("column"), say("points")], columns)
        return [self.title, self.svg(), table, "", levels, *self.remarks]

    def _title(self) -> str:
        return say("Nomogram: {title}", title=self.title)

    def svg(self) -> Picture:
        """The picture as SVG: selectable text, in the colours of the page around it."""
        with speaking(self._language):
            return _paint(self)


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
    checks.check_whole("rows", rows, 1)
    found = evidence(model)
    yes, no = _pair(found, positive, against)
    scales = [scale for part in found.parts for scale in _scales_of(part, yes, no)]
    scales.sort(key=lambda scale: -scale.width)
    unit = 100 / scales[0].width if scales and scales[0].width > 0 else 1.0
    scales = [(s if place < rows else replace(s, least=0.0)).in_points(unit) for place, s in enumerate(scales)]
    names = found.classes.tolist()
    with np.errstate(invalid="ignore"):
        base = float(found.constant[yes] - found.constant[no]) + sum(scale.least for scale in scales)
    curve, remark = _calibration(model, yes, no, len(names))
    remarks = [remark] if remark else []
    if len(names) > 2:
        pair = {"a": names[yes], "b": names[no], "n": len(names) - 2}
        one = say("Exact for {a} against {b}; one other class is left out.", **pair)
        several = say("Exact for {a} against {b}; {n} other classes are left out.", **pair)
        remarks.append(one if len(names) == 3 else several)
    hidden = sum(len(part.columns) if part.kind == "count" else 1 for part in found.parts) - rows
    if hidden > 0:
        most = f"{scales[rows].width if rows < len(scales) else 0.0:.3g}"
        one = say(
            "One more column with at most {points} points between its values is not drawn: for what is left out add "
            "nothing.",
            points=most,
        )
        several = say(
            "{n} more columns with at most {points} points between their values are not drawn: for what is left out "
            "add nothing.",
            n=f"{hidden:,}",
            points=most,
        )
        remarks.append(several if hidden > 1 else one)
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
    no = None if against is None else _place(names, against, "against")
    if positive is not None:
        yes = _place(names, positive, "positive")
    else:
        yes = next(k for k in ([1, 0] if len(names) == 2 else by_size) if k != no)
    if no == yes:
        raise InputError(f"positive and against are both {names[yes]!r}; name two classes")
    return yes, next(k for k in by_size if k != yes) if no is None else no


def _place(names: list[Any], wanted: Any, parameter: str) -> int:
    label = labels_of([wanted]).tolist()[0]
    by_text = [place for place, name in enumerate(names) if str(name) == str(wanted)]
    if label in names:
        return names.index(label)
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
    if scale is not None and scale.exponent:
        return None, say("The probability is that before calibration, which goes by the length of the text as well.")
    if n_classes > 2 and calibrator.curves:
        return None, say(
            "The probability is that before calibration, which looks at each class against all the others."
        )

    def repaired(odds: Floats) -> Floats:
        scores = np.full((len(odds), n_classes), -np.inf)
        scores[:, yes], scores[:, no] = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)
        logs = calibrator.apply(scores, None if scale is None else np.zeros(len(odds)))
        return np.asarray(expit(logs[:, yes] - logs[:, no]))

    return repaired, say("Calibrated: {how}.", how=model._describe_calibration())


def _figure(points: float) -> str:
    return f"{points:.0f}" if math.isfinite(points) else {True: "∞", False: "−∞"}.get(points > 0, "?")


# The scales of columns: each value's effect on the log odds; points are worked out when the unit is known.


def _scales_of(part: Part, yes: int, no: int) -> list[Scale]:
    with np.errstate(invalid="ignore"):
        if part.kind == "category":
            return [_category_scale(part, yes, no)]
        if part.kind == "number":
            return [_number_scale(part, yes, no)]
        return _count_scales(part, yes, no) if part.kind == "count" else [_word_scale(part, yes, no)]


def _category_scale(part: Categories, yes: int, no: int) -> Scale:
    effects = (part.logs[:, yes] - part.logs[:, no]).tolist()
    ticks = [Tick(str(value), value, effect) for value, effect in zip(part.values.tolist(), effects)]
    return _span(part.column, "category", ticks)


def _count_scales(part: Bags, yes: int, no: int) -> list[Scale]:
    """Of counts, and of things that are there or not; of very many columns, those of the widest effect."""
    each = part.each[:, yes] - part.each[:, no]
    absent = np.zeros_like(each) if part.absent is None else part.absent[:, yes] - part.absent[:, no]
    width = np.ptp(np.nan_to_num([each * part.most, absent, np.zeros_like(each)]), axis=0)
    found = []
    for j in np.sort(np.argsort(-width, kind="stable")[:KEPT]).tolist():
        effect = float(each[j])
        if part.absent is not None:
            ticks = [Tick(say("absent"), "absent", float(absent[j])), Tick(say("there"), "there", effect)]
        else:
            whole = round_values(0.0, float(part.most[j]), _TICKS, whole=True)
            ticks = [Tick(f"{x:g}", x, effect * x if x else 0.0) for x in whole]
        found.append(_span(part.columns[j], "category" if part.absent is not None else "count", ticks))
    return found


def _span(column: object, kind: str, ticks: list[Tick], curve: tuple[tuple[float, float], ...] = ()) -> Scale:
    """From the least effect to the most, that of a missing value, which is 0, among them."""
    finite = [0.0, *(t.effect for t in ticks if math.isfinite(t.effect)), *(e for _, e in curve)]
    alone = ", ".join([t.label for t in ticks if math.isinf(t.effect)][:5])
    never = ", ".join([t.label for t in ticks if math.isnan(t.effect)][:5])
    note: str = say("decides alone: {values}", values=alone) if alone else ""
    if never:
        impossible = say("held impossible by both classes: {values}", values=never)
        note = say("{one}; {two}", one=note, two=impossible) if alone else impossible
    name = column_name(column)
    return Scale(name, kind, tuple(ticks), min(finite), max(finite) - min(finite), curve=curve, note=note)


def _number_scale(part: Measure, yes: int, no: int) -> Scale:
    def effects(x: Floats) -> Floats:
        logs = part.at(x)
        return logs[:, yes] - logs[:, no]

    if part.silent or not part.low < part.high:
        return Scale(column_name(part.column), "number", (), 0.0, 0.0, note=say("one value only: it says nothing"))
    # The stretch around the middle in which other columns still have a say; beyond it, no other could be read.
    x, low, high = np.linspace(part.low, part.high, _POINTS), part.low, part.high
    fine = np.abs(effects(x)) <= _ALONE
    if fine.any() and not fine.all():
        bad, inside = np.flatnonzero(~fine), np.flatnonzero(fine)
        middle = inside[np.argmin(np.abs(inside - len(x) // 2))]
        first, last = bad[bad < middle].max(initial=-1) + 1, bad[bad > middle].min(initial=len(x)) - 1
        low, high = (float(x[first]), float(x[last])) if first < last else (low, high)
    x = np.linspace(low, high, _POINTS)
    curve = tuple((a, b) for a, b in zip(x.tolist(), effects(x).tolist()) if math.isfinite(b))
    values = round_values(low, high, _TICKS)
    ticks = [Tick(f"{v:.6g}", v, e) for v, e in zip(values, effects(np.array(values)).tolist())]
    scale = _span(part.column, "number", ticks, curve)
    ends = {"low": f"{low:.4g}", "high": f"{high:.4g}"}
    if low > part.low and high < part.high:
        return replace(scale, note=say("below {low} and above {high} it decides nearly alone", **ends))
    if low > part.low:
        return replace(scale, note=say("below {low} it decides nearly alone", **ends))
    return replace(scale, note=say("above {high} it decides nearly alone", **ends)) if high < part.high else scale


def _word_scale(part: WordTable, yes: int, no: int) -> Scale:
    effects = np.where(part.used, part.each(yes) - part.each(no), np.nan)
    # The effect of each word times how often it can be expected: a rare word's large effect is hardly ever met.
    strength = effects * sum(np.asarray(part.bag.column(k), np.float64) for k in (yes, no))
    order = np.argsort(strength, kind="stable")
    order = order[np.isfinite(strength[order])]
    chosen = [*order[:_WORDS].tolist(), *order[max(_WORDS, len(order) - _WORDS) :].tolist()]
    ticks = [Tick(text, text, float(effects[node])) for text, node in zip(part.bag.vocabulary.shown(chosen), chosen)]
    finite = [0.0, *(tick.effect for tick in ticks if math.isfinite(tick.effect))]
    each = say("points of a word that is there" if part.parameters.once else "points per occurrence")
    each = say("{one}, {two}", one=each, two=part.typical) if part.typical else each
    note = say("{each}; {n} words", each=each, n=f"{int(np.count_nonzero(part.used)):,}")
    if part.empty is not None:
        ticks.append(Tick(say("(no word)"), "", float(part.empty[yes] - part.empty[no])))
        note = say("{each}; {n} words; and always those of no word", **note.values)
    return Scale(column_name(part.column), "text", tuple(ticks), 0.0, max(finite) - min(finite), note=note)


def round_values(low: float, high: float, about: int, *, whole: bool = False) -> list[float]:
    """Round numbers between two, at most about so many."""
    step = 10.0 ** math.floor(math.log10((high - low) / about))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (m * step) <= about)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


# The picture as SVG: text that can be selected, in the colours of the page around it, without scripts. Columns stand
# below one another, the widest first, under a scale of points. Values are marks on a line; where the points of a number
# turn, the line is a curve. Labels never overlap: those for which there is no room are left out.

WIDTH, LEFT, RIGHT = 960.0, 176.0, 930.0  # of the picture; between which the scales are
SIZE, SMALL, LINE = 12.0, 10.5, 14.0  # of letters; from one line of labels to the next
LEVELS = {"category": [1, -1, 2, -2, 3, -3], "text": [1, -1, 2, -2, 3, -3], "number": [1, -1]}  # of labels, for kinds
_TURN = 2.0  # points by which a number's points may turn and still be drawn on a line


def _paint(shown: Nomogram) -> Picture:
    scales = shown.scales[: shown.drawn]
    ends = [0.0, *(scale.width for scale in scales if scale.kind != "text")]
    ends += [t.points for scale in scales if scale.kind == "text" for t in scale.ticks if math.isfinite(t.points)]
    painter = _Painter(min(ends), max(ends))
    painter.write(10, 22, shorten(clean(spoken(shown.title)), WIDTH - 20, 15), 15, "start", font_weight="600")
    ticks = round_values(painter.low, painter.high, 10)
    painter.rule(spoken(say("points")), 58.0, [(t, f"{t:g}") for t in ticks])
    y = 70.0
    for scale in scales:
        y = painter.row(scale, y)
    painter.shapes[:0] = [_line(painter.x(t), 58.0, painter.x(t), y, strength=0.13) for t in ticks]
    y = _paint_totals(painter, shown, y + 30)
    remarks = [say("○ where nothing is known of a column"), *shown.remarks] if scales else shown.remarks
    lines = [textwrap.wrap(clean(spoken(each)), int((WIDTH - 20) / (SMALL * 0.52))) for each in remarks]
    for part in (part for each in lines for part in each):
        y += LINE
        painter.write(10, y, part, SMALL, "start", fill_opacity=0.8)
    size, title = f"{number(WIDTH)} {number(y + 14)}", clean(spoken(shown._title()))
    about = {"title": title, "description": clean(_description(shown)), "shapes": painter.shapes}
    return Picture(template("nomogram.svg").render(size=size, **about))


def _description(shown: Nomogram) -> str:
    """What can be read off, for those who do not see the picture."""
    parts = []
    for scale in shown.scales[: shown.drawn]:
        known = sorted((t for t in scale.ticks if t.points == t.points), key=lambda t: t.points)
        ends = [f"{spoken(tick.label)}, {tick.points:.0f}" for tick in (known[:1] + known[-1:])]
        if len(ends) > 1:
            parts.append(spoken(say("{column}: from {low}, to {high}", column=scale.column, low=ends[0], high=ends[1])))
        elif ends:
            parts.append(spoken(say("{column}: from {low}", column=scale.column, low=ends[0])))
    even = shown.total(0.5)
    points = spoken(say("Points of each column. {columns}.", columns="; ".join(parts)))
    if even is None:
        return str(points)
    return f"{points} {spoken(say('A total of {n} points is a probability of 0.5.', n=f'{even:.0f}'))}"


def _line(x1: float, y1: float, x2: float, y2: float, strength: float | None = None, width: float = 1.0) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke_width=width, stroke_opacity=strength)


class _Painter:
    """Shapes on a scale from one number of points to another."""

    def __init__(self, low: float, high: float, shapes: list[str] | None = None) -> None:
        self.low, self.high = low, high if high > low else low + 1.0
        self.shapes: list[str] = [] if shapes is None else shapes

    def x(self, points: float) -> float:
        """The place of points across the picture."""
        return LEFT + min(max((points - self.low) / (self.high - self.low), 0.0), 1.0) * (RIGHT - LEFT)

    def write(self, x: float, y: float, text: str, size: float = SMALL, anchor: str = "middle", **more: Any) -> None:
        """A text."""
        self.shapes.append(words(x, y, text, size, anchor=anchor, **more))

    def mark(self, x: float, y: float, missing: bool = False) -> None:
        """A dot on a line, or a ring where a value is missing."""
        kind = {"class": "missing"} if missing else {}
        self.shapes.append(tag("circle", cx=x, cy=y, r=4.5 if missing else 3, **kind))

    def rule(self, name: str, y: float, ticks: Sequence[tuple[float, str]], below: bool = False) -> None:
        """A scale from one side to the other."""
        self.write(10, y + 4, name, SIZE, "start", font_weight="600")
        self.shapes.append(_line(self.x(self.low), y, self.x(self.high), y, width=1.2))
        taken: list[tuple[float, float]] = []
        for at, text in ticks:
            self.shapes.append(_line(self.x(at), y, self.x(at), y + (5 if below else -5)))
            if _fits(taken, self.x(at), text_width(text, SMALL)):
                self.write(self.x(at), y + (16 if below else -9), text)

    def row(self, scale: Scale, y: float) -> float:
        """One column from y on; where the next may begin."""
        line, bottom = self._curve(scale, y) if _turns(scale) else self._marks(scale, y)
        self.write(10, line + 4, shorten(clean(scale.column), LEFT - 26, SIZE, True), SIZE, "start", font_weight="600")
        for count, part in enumerate(
            textwrap.wrap(clean(spoken(scale.note)), int((LEFT - 20) / (SMALL * 0.54)))[:3], 1
        ):
            self.write(10, line + 4 + count * 13, part, SMALL, "start", fill_opacity=0.75)
            bottom = max(bottom, line + 8 + count * 13)
        return bottom

    def _marks(self, scale: Scale, y: float) -> tuple[float, float]:
        """Values as marks on a line, the outermost of which choose first where their labels stand."""
        taken: dict[int, list[tuple[float, float]]] = {}
        placed: list[tuple[float, int, str]] = []
        ticks = [tick for tick in scale.ticks if not math.isnan(tick.points)]
        for tick in sorted(ticks, key=lambda tick: -abs(self.x(tick.points) - (LEFT + RIGHT) / 2)):
            text = shorten(clean(spoken(tick.label)) or "“”", 150, SMALL)
            text += {math.inf: " ∞", -math.inf: " −∞"}.get(tick.points, "")
            x, wide = self.x(tick.points), text_width(text, SMALL)
            levels = LEVELS.get(scale.kind, [1])
            placed.append((x, next((k for k in levels if _fits(taken.setdefault(k, []), x, wide)), 0), text))
        above, below = max([0, *(-k for _, k, _ in placed)]), max([1, *(k for _, k, _ in placed)])
        line = y + 18 + above * LINE
        points = (*(t.points for t in ticks), scale.missing, *(p for _, p in scale.curve))
        xs = [self.x(p) for p in points if math.isfinite(p)]
        self.shapes.append(_line(min(xs), line, max(xs), line, width=1.2))
        for x, level, text in placed:
            base = line + (4 if level > 0 else 6) + LINE * level
            self.mark(x, line)
            if abs(level) > 1:  # a thread from the mark to its label
                self.shapes.append(_line(x, line, x, base - 9 if level > 0 else base + 2, strength=0.25))
            if level:
                self.write(x, base, text)
        self.mark(self.x(scale.missing), line, missing=True)
        return line, line + 6 + below * LINE

    def _curve(self, scale: Scale, y: float) -> tuple[float, float]:
        """Numbers from below upwards, each above its points."""
        top = y + 16
        bottom = top + max(84.0, 1.1 * SMALL * len(scale.ticks))
        (low, _), (high, _) = scale.curve[0], scale.curve[-1]

        def height(value: float) -> float:
            return bottom - (value - low) / (high - low) * (bottom - top)

        points = " ".join(f"{number(self.x(p))},{number(height(v))}" for v, p in scale.curve)
        self.shapes.append(tag("polyline", points=points))
        bases: list[float] = []
        for tick in (tick for tick in scale.ticks if math.isfinite(tick.points)):
            x, at = self.x(tick.points), height(tick.value)
            self.mark(x, at)
            right = x + text_width(tick.label, SMALL) + 8 < RIGHT
            ahead = next((p for v, p in scale.curve if v > tick.value), tick.points)
            base = at + (12 if (ahead >= tick.points) == right else -4)  # on the side that the curve leaves free
            if all(abs(base - other) >= SMALL for other in bases):
                self.write(x + 4 if right else x - 4, base, tick.label, SMALL, "start" if right else "end")
                bases.append(base)
        self.mark(self.x(scale.missing), bottom + 6, missing=True)
        return (top + bottom) / 2, bottom + 14


def _fits(taken: list[tuple[float, float]], x: float, width: float) -> bool:
    """Whether a label fits in a line; if so, its place is taken."""
    low, high = x - width / 2 - 3, x + width / 2 + 3
    free = not any(low < b and a < high for a, b in taken)
    taken += [(low, high)] if free else []
    return free


def _turns(scale: Scale) -> bool:
    """Whether the points of a number rise and fall again, or fall and rise, by more than a little."""
    points = np.array([p for _, p in scale.curve] or [0.0])
    rises, falls = points - np.minimum.accumulate(points), np.maximum.accumulate(points) - points
    return bool(min(rises.max(), falls.max()) > _TURN)


def _paint_totals(painter: _Painter, shown: Nomogram, y: float) -> float:
    """The scale of totals and beneath it that of probabilities."""
    levels = shown.levels()
    scales = shown.scales[: shown.drawn]
    low, high = (levels[0][1], levels[-1][1]) if len(levels) > 1 else (0.0, 100.0)
    if not any(scale.kind in ("text", "count") for scale in scales):  # which have no most points
        least, most = max(0.0, low), min(sum(scale.width for scale in scales), high)
        low, high = (least, most) if least < most else (low, high)
    total = _Painter(low, high, painter.shapes)
    total.rule(spoken(say("total points")), y, [(t, f"{t:g}") for t in round_values(low, high, 12)])
    shares = [(points, f"{p:g}") for p, points in levels if low - 1e-9 <= points <= high + 1e-9]
    total.rule(shorten(clean(f"P({shown.positive})"), LEFT - 26, SIZE, True), y + 34, shares, below=True)
    return y + 60
