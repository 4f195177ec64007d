"""One prediction as the table a person would write by hand.

The prior, one line per column (or word), the product, and the division by the sum: the numbers shown multiply to
the product shown, and the products normalise to the posterior shown. A text is shown as well, its words coloured by
what they say.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import portable
from ingenuo.show.format import plain
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.show.table import plain as markdown_text
from ingenuo.tally.labels import Labels

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Term:
    """One factor of one class: how a person would write it, its value and its logarithm."""

    how: str
    value: float
    log: float


@dataclass(frozen=True)
class Factor:
    """What one column says of every class; no terms where it was left out, with the reason."""

    column: str
    value: str
    terms: tuple[Term, ...] = ()
    note: str = ""
    part_of: str = ""  # of a word: its column


# So many words of a text, and so many classes, are shown one by one; `to_dict` has them all.
WORDS = 20
CLASSES = 6
_FULL = 2.0  # log odds from which a colour is full: e^2 is about 7 to 1
_WEAK = 0.05  # and below which there is none


@dataclass(frozen=True)
class Passage:
    """A text in pieces, each with how much it speaks for the answer and against the next best (None: not at all).

    It is shown with its words coloured: green for the answer, red for the next best class.
    """

    column: str
    pieces: tuple[tuple[str, float | None], ...]

    def _strengths(self) -> list[tuple[str, float]]:
        """The pieces with a strength from -1 to 1; 0 where one says next to nothing."""
        found = []
        for text, weight in self.pieces:
            silent = weight is None or abs(weight) < _WEAK
            found.append((text, 0.0 if silent or weight is None else max(-1.0, min(1.0, weight / _FULL))))
        return found

    def text(self, *, colour: bool = False) -> str:
        """In 256 colours of a terminal, strong words bold; or with signs after the words, two where they say much."""
        parts = []
        for text, strength in self._strengths():
            # Without what a terminal would obey: control characters are shown as �.
            harmless = "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
            size = abs(strength)
            if colour and strength:
                shade = ((71, 34, 28) if strength > 0 else (174, 167, 160))[min(2, int(3 * size))]
                harmless = f"\x1b[{'1;' if size >= 0.5 else ''}38;5;{shade}m{harmless}\x1b[0m"
            elif not colour:
                harmless += ("⁺" if strength > 0 else "⁻") * (2 if size >= 0.5 else 1 if size >= 0.1 else 0)
            parts.append(harmless)
        return "".join(parts)

    def html(self) -> str:
        """Spans whose background says how much; the log odds appear when a word is pointed at."""
        parts = []
        for (text, strength), (_, weight) in zip(self._strengths(), self.pieces):
            shown = html.escape(text)
            if strength:
                colour = "46,160,67" if strength > 0 else "218,54,51"
                style = f"background:rgba({colour},{0.15 + 0.6 * abs(strength):.2f});border-radius:.2em"
                shown = f"<span style='{style}' title='{weight:+.3f}'>{shown}</span>"
            parts.append(shown)
        return f"<p><span style='white-space:pre-wrap'>{''.join(parts)}</span></p>"

    def markdown(self) -> str:
        """With signs after the words."""
        return markdown_text(self.text())

    def to_dict(self) -> dict[str, Any]:
        """The pieces with their weights."""
        return {self.column: [{"text": text, "weight": weight} for text, weight in self.pieces]}


def fraction(count: float, pseudo: float, total: float, all_pseudo: float, digits: int = 12) -> str:
    """(count + pseudo) / (total + all pseudo), as a person writes it.

    >>> fraction(2, 1, 9, 3), fraction(2, 0, 9, 0)
    ('(2 + 1)/(9 + 3)', '2/9')
    """
    if all_pseudo == 0:
        return f"{count:.{digits}g}/{total:.{digits}g}"
    return f"({count:.{digits}g} + {pseudo:.6g})/({total:.{digits}g} + {all_pseudo:.6g})"


def powers_of_e(weight: float, value: float) -> str:
    """What a feature of a linear model multiplies the odds by, as a person writes it.

    >>> powers_of_e(-0.25, 1), powers_of_e(0.5, 3), powers_of_e(0.0, 3)
    ('e^-0.25', 'e^(0.5·3)', '1')
    """
    if weight == 0:
        return "1"
    return f"e^{weight:.6g}" if value == 1 else f"e^({weight:.6g}·{value:.6g})"


def difference(x: float, mean: float) -> str:
    """x less the mean, as a person writes it.

    >>> difference(3, 2.5), difference(3, -2.5)
    ('3 - 2.5', '3 + 2.5')
    """
    return f"{x:.6g} {'+' if mean < 0 else '-'} {abs(mean):.6g}"


def logs(values: Floats) -> Floats:
    """Logarithms with log 0 = -inf, quietly, and with the same bits on every machine."""
    return np.asarray(portable.log(values))


def exponential(log: float) -> float:
    """e to the power of a logarithm; infinite beyond the doubles."""
    return float(portable.exp(log))


def term(how: str, value: float) -> Term:
    """A term from its value."""
    return Term(how, float(value), float(logs(np.array(value))))


# One answer of a linear model as the sum a person would write by hand: a constant, and a term for each column.


@dataclass(frozen=True)
class Addend:
    """What one column adds to each class; nothing where it was left out, with the reason."""

    column: str
    value: str
    how: tuple[str, ...] = ()
    amounts: tuple[float, ...] = ()
    note: str = ""


@dataclass(frozen=True, repr=False)
class SumExplanation(Shown):
    """The arithmetic of one answer; prints as a table, and `to_dict` gives the same as data."""

    classes: Labels
    constant: Addend
    addends: tuple[Addend, ...]
    sums: NDArray[np.float64]  # for each class: the constant and all addends
    probabilities: NDArray[np.float64]

    @property
    def prediction(self) -> Any:
        """The class of the largest sum."""
        return self.classes[int(np.argmax(self.sums))]

    def _title(self) -> str:
        return f"Why {self.prediction}?"

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        names = self.classes.tolist()

        def cells(each: Addend) -> dict[str, Any]:
            terms = [{"class": n, "how": h, "amount": a} for n, h, a in zip(names, each.how, each.amounts)]
            return {
                "column": each.column,
                "value": each.value,
                **({"note": each.note} if each.note else {}),
                "terms": terms,
            }

        found = {
            "prediction": self.classes[[int(np.argmax(self.sums))]].tolist()[0],
            "constant": cells(self.constant),
            "addends": [cells(each) for each in self.addends],
            "sum": dict(zip(names, self.sums.tolist())),
            "probability": dict(zip(names, self.probabilities.tolist())),
        }
        return plain(found)  # type: ignore[no-any-return]

    def _blocks(self) -> list[str | Block]:
        chosen = np.sort(np.argsort(-self.sums, kind="stable")[:CLASSES]).tolist()
        rows = []
        for each in (self.constant, *self.addends):
            terms = [(each.how[k], f"= {each.amounts[k]:.6f}") for k in chosen] if each.amounts else [(each.note,)]
            rows.append([each.column, each.value, *chain(*terms)])
        for name, numbers in (("sum", self.sums), ("not below 0", self.probabilities)):
            rows.append([name, "", *chain(*(("", f"= {numbers[k]:.6f}") for k in chosen))])
        hidden = len(self.classes) - len(chosen)
        return [
            PrintedTable(_heads(self.classes, chosen), rows, rule=True, totals=2),
            *([f"({hidden} classes with smaller sums are not shown)"] if hidden else []),
            f"→ {self.prediction}",
        ]


def _heads(classes: Labels, chosen: list[int]) -> list[str]:
    """Above the terms of each class how they are written, and their values."""
    return ["", "", *chain(*((str(classes[k]), "") for k in chosen))]


# The few columns or words that decided an answer, in one short line.


def reasons(explanation: Any, n: int) -> list[tuple[str, float]]:
    """What spoke most for the answer, or against it, with its log odds against the next best class.

    Parameters
    ----------
    explanation : Explanation or SumExplanation
        The arithmetic of one answer.
    n : int
        How many to name.

    >>> from ingenuo import NaiveBayes
    >>> from ingenuo.datasets import play_tennis
    >>> model = NaiveBayes().fit(play_tennis(), "Play")
    >>> [(what, round(odds, 2)) for what, odds in reasons(model.explain({"Outlook": "Sunny", "Wind": "Weak"}), 1)]
    [('Outlook = Sunny', -0.69)]
    """
    scores = explanation.posterior if hasattr(explanation, "posterior") else explanation.sums
    best, *others = np.argsort(-np.asarray(scores), kind="stable").tolist()
    second = others[0] if others else best
    found = []
    for name, value, amounts in _parts(explanation):
        odds = amounts[best] - amounts[second] if amounts[best] != amounts[second] else 0.0
        found.append((f"{name} = {value}" if value and not value.startswith("×") else name, float(odds)))
    found.sort(key=lambda each: -abs(each[1]))
    return found[:n]


def _parts(explanation: Any) -> list[tuple[str, str, list[float]]]:
    """Column or word, value, and what it adds to the logarithm of each class."""
    if hasattr(explanation, "factors"):
        return [(f.column, f.value, [term.log for term in f.terms]) for f in explanation.factors if f.terms]
    return [(a.column, a.value, list(a.amounts)) for a in explanation.addends if a.amounts]


def in_words(found: list[tuple[str, float]]) -> str:
    """The reasons in one line, each with its sign."""
    return "; ".join(f"{what} {odds:+.2f}".replace("-", "−") for what, odds in found)


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """The arithmetic of one prediction; prints as a table, and `to_dict` gives the same as data."""

    classes: Labels
    prior: Factor
    factors: tuple[Factor, ...]
    joint: NDArray[np.float64]  # log of the product, for each class
    posterior: NDArray[np.float64]
    passages: tuple[Passage, ...] = ()  # texts, with what their words say for the first class against the second
    uncalibrated: NDArray[np.float64] | None = None  # the products over their sum, where the posterior was repaired
    calibration: str = ""  # and how

    @property
    def prediction(self) -> Any:
        """The most probable class."""
        return self.classes[int(np.argmax(self.posterior))]

    def _title(self) -> str:
        return f"Why {self.prediction}?"

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data, as JSON can say it: what is impossible has the log "-inf"."""
        names = self.classes.tolist()

        def terms(factor: Factor) -> dict[str, Any]:
            return {
                "column": factor.column,
                "value": factor.value,
                **({"note": factor.note} if factor.note else {}),
                "terms": [
                    {"class": name, "how": t.how, "value": t.value, "log": t.log}
                    for name, t in zip(names, factor.terms)
                ],
            }

        found = {
            "prediction": self.classes[[int(np.argmax(self.posterior))]].tolist()[0],
            "prior": terms(self.prior),
            "factors": [terms(factor) for factor in self.factors],
            "log_joint": dict(zip(names, self.joint.tolist())),
            "product": {name: exponential(log) for name, log in zip(names, self.joint.tolist())},
            "posterior": dict(zip(names, self.posterior.tolist())),
            **(
                {}
                if self.uncalibrated is None
                else {"uncalibrated": dict(zip(names, self.uncalibrated.tolist())), "calibration": self.calibration}
            ),
            **(
                {"texts": {p.column: [{"text": t, "weight": w} for t, w in p.pieces] for p in self.passages}}
                if self.passages
                else {}
            ),
        }
        return plain(found)  # type: ignore[no-any-return]

    @property
    def order(self) -> list[int]:
        """The classes' places, the most probable first."""
        return np.argsort(-self.posterior, kind="stable").tolist()  # type: ignore[no-any-return]

    def _shown(self) -> list[Factor]:
        """The factors, with all but the strongest words of a column in one line together."""
        shown: list[Factor] = []
        for _, group in groupby(self.factors, key=lambda factor: factor.part_of):
            words = list(group)
            if not words[0].part_of or len(words) <= WORDS:
                shown += words
                continue
            rest = words[WORDS - 1 :]
            logs = [sum(factor.terms[k].log for factor in rest) for k in range(len(self.classes))]
            terms = tuple(Term(f"{len(rest)} factors", exponential(log), log) for log in logs)
            shown += [*words[: WORDS - 1], Factor(f"… {len(rest)} more words", "", terms)]
        return shown

    def _table(self) -> PrintedTable:
        """Column, value, then how and value for each class (of many classes, the most probable)."""
        chosen = self.order[:CLASSES] if len(self.classes) > CLASSES else list(range(len(self.classes)))
        rows = []
        for factor in (self.prior, *self._shown()):
            terms = (
                [(factor.terms[k].how, _figure(factor.terms[k])) for k in chosen] if factor.terms else [(factor.note,)]
            )
            rows.append([factor.column, factor.value, *chain(*terms)])
        joint = [Term("", exponential(log), log) for log in self.joint[chosen].tolist()]
        rows.append(["product", "", *chain(*(("", _figure(product)) for product in joint))])
        shares = {"÷ their sum": self.posterior}
        if self.uncalibrated is not None:
            shares = {"÷ their sum": self.uncalibrated, "calibrated": self.posterior}
        rows += [[name, "", *chain(*(("", f"= {share[k]:.6f}") for k in chosen))] for name, share in shares.items()]
        return PrintedTable(_heads(self.classes, chosen), rows, rule=True, totals=1 + len(shares))

    def _blocks(self) -> list[str | Block]:
        order = self.order
        blocks: list[str | Block] = [
            self._table(),
            f"→ {self.classes[order[0]]}, with probability {self.posterior[order[0]]:.6f}",
        ]
        if self.calibration:
            blocks.append(f"(calibrated: {self.calibration})")
        if hidden := order[CLASSES:]:
            together = self.posterior[hidden].sum()
            blocks.append(f"({len(hidden)} less probable classes are not shown; together {together:.2g})")
        names = [f"“{self.classes[k]}”" for k in order[:2]]
        against = f", − for {names[1]}" if len(names) > 1 else ""
        for passage in self.passages:
            if passage.pieces:
                blocks += ["", f"{passage.column}: + speaks for {names[0]}{against}", passage]
        return blocks


def _figure(term: Term) -> str:
    """A value with seven digits; where a double cannot hold it, e to the power of its logarithm."""
    if (term.value == 0 and term.log > -math.inf) or math.isinf(term.value):
        return f"= e^{term.log:.7g}"
    return f"= {term.value:.7g}"
