"""One prediction as the table a person would write by hand.

The prior, one line per column (or word), the product, and the division by the sum: the numbers shown multiply to
the product shown, and the products normalise to the posterior shown. A text is shown as well, its words coloured by
what they say.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import portable
from ingenuo.show.format import plain
from ingenuo.show.page import STYLE, Shown
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


@dataclass(frozen=True)
class Passage:
    """A text in pieces, each with how much it speaks for the answer and against the next best (None: not at all)."""

    column: str
    pieces: tuple[tuple[str, float | None], ...]


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


_CLASSES = 6  # so many classes are shown


@dataclass(frozen=True)
class Addend:
    """What one column adds to each class; nothing where it was left out, with the reason."""

    column: str
    value: str
    how: tuple[str, ...] = ()
    amounts: tuple[float, ...] = ()
    note: str = ""


@dataclass(frozen=True)
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

    def _lines(self) -> list[list[str]]:
        chosen = np.sort(np.argsort(-self.sums, kind="stable")[:_CLASSES]).tolist()
        lines = [["", "", *(cell for k in chosen for cell in (str(self.classes[k]), ""))]]
        for each in (self.constant, *self.addends):
            cells = [each.column, each.value]
            for k in chosen if each.amounts else []:
                cells += [each.how[k], f"= {each.amounts[k]:.6f}"]
            lines.append(cells if each.amounts else [*cells, each.note])
        lines.append(["sum", "", *(c for k in chosen for c in ("", f"= {self.sums[k]:.6f}"))])
        lines.append(["not below 0", "", *(c for k in chosen for c in ("", f"= {self.probabilities[k]:.6f}"))])
        return lines

    def __str__(self) -> str:
        lines = self._lines()
        most = len(lines[0])
        full = [cells for cells in lines if len(cells) == most]
        widths = [max(len(cells[i]) for cells in (lines if i < 2 else full)) for i in range(most)]
        text = []
        for cells in lines:
            shown = [cell.ljust(width) for cell, width in zip(cells[:2], widths)]
            shown += [cell.ljust(w) for cell, w in zip(cells[2:], widths[2:])] if len(cells) == most else cells[2:]
            text.append("  ".join(shown).rstrip())
        rule = "─" * max(map(len, text))
        text.insert(1, rule)
        text.insert(-2, rule)
        hidden = len(self.classes) - (most - 2) // 2
        if hidden:
            text.append(f"({hidden} classes with smaller sums are not shown)")
        return "\n".join([*text, f"→ {self.prediction}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = []
        lines = self._lines()
        for number, cells in enumerate(lines):
            tag = "th" if number == 0 else "td"
            spans = [""] * len(cells)
            if len(cells) == 3:
                spans[2] = f" colspan='{len(lines[0]) - 2}'"
            rows.append(
                f"<tr{' class=rule' if number == len(lines) - 2 else ''}>"
                + "".join(f"<{tag}{span}>{html.escape(cell)}</{tag}>" for cell, span in zip(cells, spans))
                + "</tr>"
            )
        return (
            f"<div style='overflow-x:auto'><style>{STYLE}</style><table class='ingenuo'>{''.join(rows)}</table>"
            f"<p>→ <strong>{html.escape(str(self.prediction))}</strong></p></div>"
        )


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


# A text with its words coloured by what they say: green for the answer, red for the next best class.


# Log odds from which a colour is full: e^2 is about 7 to 1.
_FULL = 2.0
_WEAK = 0.05  # and below which there is none


def _strength(weight: float | None) -> float:
    """From -1 to 1; 0 where a word says next to nothing."""
    if weight is None or abs(weight) < _WEAK:
        return 0.0
    return max(-1.0, min(1.0, weight / _FULL))


def in_html(passage: Passage) -> str:
    """Spans whose background says how much; the log odds appear when a word is pointed at."""
    parts = []
    for text, weight in passage.pieces:
        strength = _strength(weight)
        if not strength:
            parts.append(html.escape(text))
            continue
        colour = "46,160,67" if strength > 0 else "218,54,51"
        parts.append(
            f"<span style='background:rgba({colour},{0.15 + 0.6 * abs(strength):.2f});border-radius:.2em' "
            f"title='{weight:+.3f}'>{html.escape(text)}</span>"
        )
    return f"<span style='white-space:pre-wrap'>{''.join(parts)}</span>"


def _harmless(text: str) -> str:
    """A text without what a terminal would obey: its control characters are shown as �."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def in_terminal(passage: Passage) -> str:
    """The same with the escape codes of a terminal of 256 colours; strong words are bold as well."""
    parts = []
    for text, weight in passage.pieces:
        strength = _strength(weight)
        if not strength:
            parts.append(_harmless(text))
            continue
        shades = (71, 34, 28) if strength > 0 else (174, 167, 160)
        shade = shades[min(2, int(3 * abs(strength)))]
        bold = "1;" if abs(strength) >= 0.5 else ""
        parts.append(f"\x1b[{bold}38;5;{shade}m{_harmless(text)}\x1b[0m")
    return "".join(parts)


def in_signs(passage: Passage) -> str:
    """The same without colours: signs after the words that say something, two where they say much."""
    parts = []
    for text, weight in passage.pieces:
        strength = _strength(weight)
        sign = "⁺" if strength > 0 else "⁻"
        parts.append(_harmless(text) + sign * (2 if abs(strength) >= 0.5 else 1 if abs(strength) >= 0.1 else 0))
    return "".join(parts)


# So many words of a text, and so many classes, are shown one by one; `to_dict` has them all.
WORDS = 20
CLASSES = 6


@dataclass(frozen=True)
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

    def _lines(self) -> list[list[str]]:
        """Rows of cells: column, value, then how and value for each class (of many classes, the most probable)."""
        chosen = self.order[:CLASSES] if len(self.classes) > CLASSES else list(range(len(self.classes)))
        lines = [["", "", *(cell for k in chosen for cell in (str(self.classes[k]), ""))]]
        for factor in (self.prior, *self._shown()):
            cells = [factor.column, factor.value]
            for t in [factor.terms[k] for k in chosen] if factor.terms else []:
                cells += [t.how, f"= {_figure(t.value, t.log)}"]
            if factor.note and not factor.terms:
                cells += [factor.note]
            lines.append(cells)
        products = [(exponential(float(self.joint[k])), float(self.joint[k])) for k in chosen]
        lines.append(["product", "", *(c for value, log in products for c in ("", f"= {_figure(value, log)}"))])
        shares = self.posterior if self.uncalibrated is None else self.uncalibrated
        lines.append(["÷ their sum", "", *(c for k in chosen for c in ("", f"= {shares[k]:.6f}"))])
        if self.uncalibrated is not None:
            lines.append(["calibrated", "", *(c for k in chosen for c in ("", f"= {self.posterior[k]:.6f}"))])
        return lines

    def _others(self) -> str:
        """How many classes are not shown, and what they come to."""
        hidden = self.order[CLASSES:]
        if not hidden:
            return ""
        return f"({len(hidden)} less probable classes are not shown; together {self.posterior[hidden].sum():.2g})"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, colour: bool = False) -> str:
        """The table as text; the words of texts in colours for a terminal, else with signs."""
        lines = self._lines()
        most = max(len(cells) for cells in lines)
        wide = [cells + [""] * (most - len(cells)) for cells in lines]
        tables = [cells for cells, full in zip(wide, lines) if len(full) == most or full is lines[0]]
        widths = [max(len(cells[i]) for cells in tables) for i in range(most)]
        widths[0] = max(len(cells[0]) for cells in wide)
        widths[1] = max(len(cells[1]) for cells in wide)
        text = []
        for cells, full in zip(wide, lines):
            shown = [cell.ljust(width) for cell, width in zip(cells, widths)]
            if len(full) == 3:  # a note runs across the columns of the classes
                shown = shown[:2] + [full[2]]
            text.append("  ".join(shown).rstrip())
        rule = "─" * max(len(line) for line in text)
        chosen = int(np.argmax(self.posterior))
        text.insert(1, rule)
        text.insert(-2 if self.uncalibrated is None else -3, rule)
        text.append(f"→ {self.classes[chosen]}, with probability {self.posterior[chosen]:.6f}")
        if self.calibration:
            text.append(f"(calibrated: {self.calibration})")
        if self._others():
            text.append(self._others())
        for passage in self.passages:
            if passage.pieces:
                text += ["", self._legend(passage), in_terminal(passage) if colour else in_signs(passage)]
        return "\n".join(text)

    def _legend(self, shown: Passage) -> str:
        names = [f"“{self.classes[k]}”" for k in self.order[:2]]
        return f"{shown.column}: + speaks for {names[0]}" + (f", − for {names[1]}" if len(names) > 1 else "")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = []
        lines = self._lines()
        for number, cells in enumerate(lines):
            tag = "th" if number == 0 else "td"
            if len(cells) == 3:
                body = "".join(f"<td>{html.escape(c)}</td>" for c in cells[:2])
                body += f'<td colspan="{len(lines[0]) - 2}"><em>{html.escape(cells[2])}</em></td>'
            else:
                body = "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells)
            rule = " class='rule'" if number == len(lines) - (2 if self.uncalibrated is None else 3) else ""
            rows.append(f"<tr{rule}>{body}</tr>")
        chosen = int(np.argmax(self.posterior))
        answer = f"{html.escape(str(self.classes[chosen]))}, with probability {self.posterior[chosen]:.6f}"
        table = f"<table class='ingenuo'>{''.join(rows)}</table>"
        others = f"<p>(calibrated: {html.escape(self.calibration)})</p>" if self.calibration else ""
        others += f"<p>{html.escape(self._others())}</p>" if self._others() else ""
        texts = "".join(
            f"<p><small>{html.escape(self._legend(shown))}</small><br>{in_html(shown)}</p>"
            for shown in self.passages
            if shown.pieces
        )
        return (
            f"<div style='overflow-x:auto'><style>{STYLE}</style>{table}<p>→ <strong>{answer}</strong></p>"
            f"{others}{texts}</div>"
        )


def _figure(value: float, log: float) -> str:
    """A value with seven digits; where a double cannot hold it, e to the power of its logarithm."""
    if (value == 0 and log > -math.inf) or math.isinf(value):
        return f"e^{log:.7g}"
    return f"{value:.7g}"
