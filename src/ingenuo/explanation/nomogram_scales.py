"""The scale of one column of a nomogram: its values, what each adds to the log odds, and its points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ingenuo.explanation.evidence import Bags, Measure, Part, Values, WordTable
from ingenuo.explanation.plain_data import plain
from ingenuo.families.family import Floats
from ingenuo.schema import column_name

KEPT = 1000  # columns of counts have scales of their own
_WORDS = 10  # that speak most for either class
_POINTS = 201  # of the curve of a number
_ALONE = 6.0  # nats, odds of 400 to 1: a value of such an effect leaves the others little to say
_TICKS = 12  # of a number, at most


@dataclass(frozen=True)
class Tick:
    """A value of a column and its points."""

    label: str
    value: Any
    effect: float  # what it adds to the log odds
    points: float


@dataclass(frozen=True)
class Scale:
    """One column: its values, each with its points."""

    column: str
    kind: str  # "category", "number", "count" or "text"
    ticks: tuple[Tick, ...]
    least: float  # the effect that has 0 points
    width: float  # in points, from the least to the most
    missing: float  # the points of a missing value, which has no effect
    curve: tuple[tuple[float, float], ...] = ()  # of a number: values and their points
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The scale as plain data; infinite points are written as text."""
        found = {
            "column": self.column,
            "kind": self.kind,
            "width": self.width,
            "missing": self.missing,
            "least_effect": self.least,
            **({"note": self.note} if self.note else {}),
            "ticks": [{"value": t.value, "points": t.points, "effect": t.effect} for t in self.ticks],
        }
        return plain(found)  # type: ignore[no-any-return]


def scales_of(part: Part, yes: int, no: int) -> list[Scale]:
    """The values of each column and their effects; points are worked out when the unit is known."""
    if isinstance(part, Bags):
        return _bag_scales(part, yes, no)
    name = column_name(part.column)
    if isinstance(part, Values):
        with np.errstate(invalid="ignore"):
            effects = part.logs[:, yes] - part.logs[:, no]
        ticks = [_tick(str(value), value, effect) for value, effect in zip(part.values.tolist(), effects.tolist())]
        return [_spanned(name, "category", ticks)]
    return [_number_scale(part, name, yes, no) if isinstance(part, Measure) else _word_scale(part, name, yes, no)]


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
            ticks = [_tick("absent", "absent", float(absent[j])), _tick("there", "there", effect)]
        else:
            whole = round_values(0.0, float(part.most[j]), _TICKS, whole=True)
            ticks = [_tick(f"{x:g}", x, effect * x if x else 0.0) for x in whole]
        found.append(_spanned(column_name(part.columns[j]), "category" if part.absent is not None else "count", ticks))
    return found


def _tick(label: str, value: Any, effect: float) -> Tick:
    return Tick(label, value, effect, 0.0)


def _spanned(name: str, kind: str, ticks: list[Tick], curve: tuple[tuple[float, float], ...] = ()) -> Scale:
    """From the least effect to the most, that of a missing value, which is 0, among them."""
    finite = [0.0, *(t.effect for t in ticks if math.isfinite(t.effect)), *(e for _, e in curve)]
    certain = [t.label for t in ticks if math.isinf(t.effect)]
    impossible = [t.label for t in ticks if math.isnan(t.effect)]
    note = f"decides alone: {', '.join(certain[:5])}" if certain else ""
    note += f"{'; ' if note else ''}held impossible by both classes: {', '.join(impossible[:5])}" if impossible else ""
    return Scale(name, kind, tuple(ticks), min(finite), max(finite) - min(finite), 0.0, curve, note)


def _number_scale(part: Measure, name: str, yes: int, no: int) -> Scale:
    def effects(x: Floats) -> list[float]:
        with np.errstate(invalid="ignore"):
            logs = part.at(x)
            return (logs[:, yes] - logs[:, no]).tolist()  # type: ignore[no-any-return]

    if part.silent or not part.low < part.high:
        return Scale(name, "number", (), 0.0, 0.0, 0.0, note="one value only: it says nothing")
    low, high = _readable(np.linspace(part.low, part.high, _POINTS), effects)
    x = np.linspace(low, high, _POINTS)
    curve = tuple((a, b) for a, b in zip(x.tolist(), effects(x)) if math.isfinite(b))
    values = round_values(low, high, _TICKS)
    ticks = [_tick(f"{v:.6g}", v, e) for v, e in zip(values, effects(np.array(values)))]
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
    ticks = [_tick(text, text, float(effects[node])) for text, node in zip(part.bag.vocabulary.texts(chosen), chosen)]
    least = sorted(tick.effect for tick in ticks if math.isfinite(tick.effect))
    width = max([0.0, *least]) - min([0.0, *least])
    used = int(np.count_nonzero(part.used))
    each = "points of a word that is there" if part.parameters.once else "points per occurrence"
    note = f"{each}{', ' + part.typical if part.typical else ''}; {used:,} words"
    if part.empty is not None:
        empty = float(part.empty[yes] - part.empty[no])
        ticks.append(_tick("(no word)", "", empty))
        note += "; and those of no word besides"
    return Scale(name, "text", tuple(ticks), 0.0, width, 0.0, note=note)


def _said_by(part: WordTable, effects: Floats, yes: int, no: int) -> Floats:
    """The effect of each word times how often it can be expected: a rare word's large effect is hardly ever met."""
    seen = sum(np.asarray(part.bag.column(k), np.float64) for k in (yes, no))
    return np.asarray(effects * seen)


def in_points(scale: Scale, unit: float) -> Scale:
    """The scale with its points, so many for a nat."""
    ticks = tuple(replace(t, points=(t.effect - scale.least) * unit) for t in scale.ticks)
    curve = tuple((x, (effect - scale.least) * unit) for x, effect in scale.curve)
    return replace(scale, ticks=ticks, curve=curve, width=scale.width * unit, missing=0.0 - scale.least * unit)


def round_values(low: float, high: float, about: int, *, whole: bool = False) -> list[float]:
    """Round numbers between two, at most about so many.

    >>> round_values(0.1, 1.9, 4)
    [0.5, 1.0, 1.5]
    """
    step = 10.0 ** math.floor(math.log10((high - low) / about))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (m * step) <= about)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
