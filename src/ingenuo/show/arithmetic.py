"""One prediction as the table a person would write by hand.

The prior, one line per column (or word), the product, and the division by the sum: the numbers shown multiply to
the product shown, and the products normalise to the posterior shown. A text is shown too, its words coloured by
what they say.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, check_choice, visible
from ingenuo.kernels import portable
from ingenuo.language import check_language, say, speaking, spoken
from ingenuo.rows import checks
from ingenuo.rows.rows import take_rows
from ingenuo.show.format import latex, markdown, plain, shortened
from ingenuo.show.page import Frame, page
from ingenuo.show.table import Block, Heading, PrintedTable, Translated, csv_of, json_text
from ingenuo.tally.labels import Labels

Floats = NDArray[np.float64]

# So many words of a text, and so many classes, are shown one by one; `to_dict` has them all.
WORDS = 20
PRODUCTS = 4  # lines of products of columns in the table of a vote
CLASSES = 6
_FULL = 2.0  # log odds from which a colour is full: e^2 is about 7 to 1
_WEAK = 0.05  # and below which there is none
_BARS, _BAR = 10, 30  # of more factors the strongest are drawn as bars first; letters of the longest
_ROWS = 10  # of many explanations are shown in a notebook
_FACTORS, _CELL, _LETTERS = 24, 48, 900  # of an abridged explanation: factors, letters of a cell and of a text


@dataclass(frozen=True)
class Term:
    """One factor of one class: how a person would write it, its value and its logarithm (of a sum, its amount)."""

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

    def _strengths(self) -> list[tuple[str, float]]:
        """The pieces with a strength from -1 to 1; 0 where one says next to nothing."""
        weights = [(text, 0.0 if weight is None else weight) for text, weight in self.pieces]
        return [(text, max(-1.0, min(1.0, w / _FULL)) if abs(w) >= _WEAK else 0.0) for text, w in weights]

    def text(self, *, colour: bool = False) -> str:
        """In 256 colours of a terminal, strong words bold; or with signs after the words, two where they say much."""
        parts = []
        for text, strength in self._strengths():
            shown, size = visible(text), abs(strength)
            if colour and strength:
                shade = ((71, 34, 28) if strength > 0 else (174, 167, 160))[min(2, int(3 * size))]
                shown = f"\x1b[{'1;' if size >= 0.5 else ''}38;5;{shade}m{shown}\x1b[0m"
            elif not colour:
                shown += ("⁺" if strength > 0 else "⁻") * (2 if size >= 0.5 else 1 if size >= 0.1 else 0)
            parts.append(shown)
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
        return markdown(self.text())

    def latex(self) -> str:
        """With signs after the words."""
        return latex(self.text())

    def records(self) -> list[dict[str, Any]]:
        """It is no table."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """The pieces with their weights."""
        return {self.column: [{"text": text, "weight": weight} for text, weight in self.pieces]}

    def scaled(self, by: float) -> Passage:
        """The same text, in which every piece says so many times as much."""
        return replace(self, pieces=tuple((text, None if w is None else by * w) for text, w in self.pieces))

    def window(self, letters: int = _LETTERS) -> Passage:
        """The part of a text that says most, with "…" where something was left out."""
        pieces = [(text[:letters], weight) for text, weight in self.pieces]
        ends = np.cumsum([0, *(len(text) for text, _ in pieces)])
        if ends[-1] <= letters:
            return replace(self, pieces=tuple(pieces))
        strength = np.cumsum([0.0, *(abs(weight or 0.0) for _, weight in pieces)])
        last = np.searchsorted(ends, ends[:-1] + letters, side="right") - 1  # of each beginning, what still fits
        first = int(np.argmax(strength[last] - strength[:-1]))
        after = [("…", None)] if last[first] < len(pieces) else []
        return replace(self, pieces=(*([("… ", None)] if first else []), *pieces[first : int(last[first])], *after))


def fraction(count: float, pseudo: float, total: float, all_pseudo: float, digits: int = 12) -> str:
    """(count + pseudo) / (total + all pseudo), as a person writes it."""
    if all_pseudo == 0:
        return f"{count:.{digits}g}/{total:.{digits}g}"
    return f"({count:.{digits}g} + {pseudo:.6g})/({total:.{digits}g} + {all_pseudo:.6g})"


def powers_of_e(weight: float, value: float) -> str:
    """What a feature of a linear model multiplies the odds by, as a person writes it: e^-0.25, e^(0.5·3)."""
    if weight == 0:
        return "1"
    return f"e^{weight:.6g}" if value == 1 else f"e^({weight:.6g}·{value:.6g})"


def difference(x: float, mean: float) -> str:
    """x less the mean, as a person writes it: 3 - 2.5, 3 + 2.5."""
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


@dataclass(frozen=True, repr=False)
class Explanation(Translated):
    """The arithmetic of one prediction; prints as a table, and `to_dict` gives the same as data."""

    classes: Labels
    prior: Factor
    factors: tuple[Factor, ...]
    joint: NDArray[np.float64]  # log of the product, for each class
    posterior: NDArray[np.float64]
    passages: tuple[Passage, ...] = ()  # texts, with what their words say for the first class against the second
    uncalibrated: NDArray[np.float64] | None = None  # the products over their sum, where the posterior was repaired
    calibration: str = ""  # and how
    form: str = "product"  # or "log": the sum of the logarithms is shown in its place

    @property
    def log_evidence(self) -> float:
        """log P(x): the logarithm of the sum of the products."""
        return float(np.logaddexp.reduce(self.joint))

    @property
    def evidence(self) -> float:
        """P(x): the sum of the products, by which each is divided."""
        return exponential(self.log_evidence)

    def as_logs(self) -> Explanation:
        """The same as a sum of logarithms."""
        return replace(self, form="log").translate(self._language)

    @property
    def _scores(self) -> Floats:
        """What the answer is the largest of."""
        return self.posterior

    @property
    def order(self) -> list[int]:
        """The classes' places, the most probable first."""
        return np.argsort(-self._scores, kind="stable").tolist()  # type: ignore[no-any-return]

    @property
    def prediction(self) -> Any:
        """The most probable class."""
        return self.classes[self.order[0]]

    def _title(self) -> str:
        return say("Why {answer}?", answer=self.prediction)

    def page(self, height: int = 480) -> Frame:
        """The answer and its arithmetic as a page within a notebook's cell; it needs no network.

        Parameters
        ----------
        height : int
            Of the frame, in pixels.
        """
        return Frame(self.to_html(), height)

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data, as JSON can hold it: what is impossible has the log "-inf"."""
        found = {
            "prediction": self.prediction,
            "prior": self._line(self.prior),
            "factors": [self._line(factor) for factor in self.factors],
            "log_joint": self._by_class(self.joint),
            "product": self._by_class([exponential(log) for log in self.joint.tolist()]),
            **({"evidence": self.evidence, "log_evidence": self.log_evidence} if self._is_generative else {}),
            "posterior": self._by_class(self.posterior),
        }
        if self.uncalibrated is not None:
            found |= {"uncalibrated": self._by_class(self.uncalibrated), "calibration": self.calibration}
        if self.passages:
            found["texts"] = dict(chain(*(passage.to_dict().items() for passage in self.passages)))
        return plain(found)  # type: ignore[no-any-return]

    @property
    def _is_generative(self) -> bool:
        """Whether the products are joint probabilities: those of a discriminative model begin with an intercept."""
        return self.prior.column == "prior"

    def _by_class(self, values: Iterable[float]) -> dict[Any, float]:
        return dict(zip(self.classes.tolist(), values))

    def _line(self, factor: Factor) -> dict[str, Any]:
        terms = [{"class": name, **self._cells(each)} for name, each in zip(self.classes.tolist(), factor.terms)]
        note = {"note": factor.note} if factor.note else {}
        return {"column": factor.column, "value": factor.value, **note, "terms": terms}

    def _cells(self, each: Term) -> dict[str, Any]:
        return {"how": each.how, "value": each.value, "log": each.log}

    def _combine(self, name: str, factors: Sequence[Factor]) -> Factor:
        """Several factors in one line."""
        sums = [sum(factor.terms[k].log for factor in factors) for k in range(len(self.classes))]
        return Factor(name, "", tuple(self._several(len(factors), total) for total in sums))

    def _several(self, n: int, log: float) -> Term:
        return Term(say("{n} factors", n=f"{n:,}"), exponential(log), log)

    def abridge(self) -> Explanation:
        """The strongest factors one by one, the others together, and a window of every long text."""
        factors = [replace(f, column=_cut(f.column), value=_cut(f.value)) for f in self.factors]
        if len(factors) > _FACTORS and not any(factor.part_of for factor in factors):
            spoken = [factor for factor in factors if factor.terms]
            amounts = ([np.clip(each.log, -1e300, 1e300) for each in factor.terms] for factor in spoken)
            spread = np.array([np.nan_to_num(np.ptp(each), nan=np.inf) for each in amounts])
            room = _FACTORS + (len(spoken) == _FACTORS + 1)  # a line that stands for one other saves nothing
            kept = set(np.argsort(-spread, kind="stable")[:room].tolist())
            rest = [factor for k, factor in enumerate(spoken) if k not in kept]
            silent = len(factors) - len(spoken)
            factors = [factor for k, factor in enumerate(spoken) if k in kept]
            factors += [self._combine(say("… {n} more", n=f"{len(rest):,}"), rest)] if rest else []
            if silent:
                note = say("{n} columns say nothing, for their values are missing", n=f"{silent:,}")
                factors.append(Factor("…", "", (), note))
        found = replace(self, factors=tuple(factors), passages=tuple(each.window() for each in self.passages))
        return found.translate(self._language)

    def _join_words(self) -> list[Factor]:
        """The factors, with all but the strongest words of a column in one line together."""
        shown: list[Factor] = []
        for _, group in groupby(self.factors, key=lambda factor: factor.part_of):
            words = list(group)
            if words[0].part_of and len(words) > WORDS:
                rest = words[WORDS - 1 :]
                words = [*words[: WORDS - 1], self._combine(say("… {n} more words", n=len(rest)), rest)]
            shown += words
        return shown

    def _table(self) -> PrintedTable:
        """Column, value, then how and value for each class (of many classes, the most probable)."""
        chosen = self.order[:CLASSES] if len(self.classes) > CLASSES else list(range(len(self.classes)))
        rows = []
        for each in (self.prior, *self._join_words()):
            terms = [(self._how(each.terms[k]), self._figure(each.terms[k])) for k in chosen] if each.terms else []
            rows.append([each.column, each.value, *(chain(*terms) if terms else [each.note])])
        totals = self._totals()
        for name, figures in totals.items():
            cells = [figures] if isinstance(figures, str) else ["", *chain(*(("", figures[k]) for k in chosen))]
            rows.append([name, *cells])
        heads = ["", "", *chain(*((str(self.classes[k]), "") for k in chosen))]
        return PrintedTable(heads, rows, rule=True, totals=len(totals), divided=(2, 2))

    def _how(self, each: Term) -> str:
        return each.how if self.form == "product" or not each.how else say("log({how})", how=each.how)

    def _figure(self, each: Term) -> str:
        """A value with seven digits; where a double cannot hold it, e to the power of its logarithm."""
        if self.form == "log":
            return f"= {each.log:.7g}"
        if (each.value == 0 and each.log > -math.inf) or math.isinf(each.value):
            return f"= e^{each.log:.7g}"
        return f"= {each.value:.7g}"

    def _totals(self) -> dict[str, list[str] | str]:
        """The last lines, by their names: a figure for each class, or one for all."""
        product = [self._figure(Term("", exponential(log), log)) for log in self.joint.tolist()]
        whole = self._figure(Term("", self.evidence, self.log_evidence))
        shares = self.posterior if self.uncalibrated is None else self.uncalibrated
        found: dict[str, list[str] | str]
        if self.form == "product":
            found = {say("product"): product, say("their sum"): f"P(x) {whole}" if self._is_generative else whole}
            found[say("÷ their sum")] = [f"= {p:.6f}" for p in shares]
        else:
            name = "log P(x)" if self._is_generative else say("log Σ e^sum")
            rest = [f"= {log:.7g}" for log in logs(shares).tolist()]
            found = {say("sum"): product, name: whole, say("− {what}", what=name): rest}
            found[say("e^ that")] = [f"= {p:.6f}" for p in shares]
        if self.uncalibrated is not None:
            found[say("calibrated")] = [f"= {p:.6f}" for p in self.posterior]
        return found

    def records(self) -> list[dict[str, Any]]:
        """A line for each factor, with all digits; then the products, their sum and the posterior."""
        names = [str(name) for name in self.classes.tolist()]
        what = "factor" if self.form == "product" else "log"

        def line(column: str, value: str, cells: Sequence[tuple[str, float | None]], note: str = "") -> dict[str, Any]:
            each = cells or [("", None)] * len(names)
            terms = chain(*(((f"{k}: how", how), (f"{k}: {what}", x)) for k, (how, x) in zip(names, each)))
            return {"column": column, "value": value, **dict(terms), "note": note}

        lines = [
            line(f.column, f.value, [(t.how, t.value if self.form == "product" else t.log) for t in f.terms], f.note)
            for f in (self.prior, *self.factors)
        ]
        for name, each in (("product", self.joint), ("posterior", logs(self.posterior))):
            lines.append(line(name, "", [("", exponential(x) if self.form == "product" else x) for x in each.tolist()]))
        return lines

    def _blocks(self) -> list[str | Block]:
        order = self.order
        blocks: list[str | Block] = [
            *self._bars(),
            self._table(),
            say_answer(self.prediction, self.posterior[order[0]]),
        ]
        if self.calibration:
            blocks.append(say("(calibrated: {how})", how=self.calibration))
        if hidden := order[CLASSES:]:
            together = f"{self.posterior[hidden].sum():.2g}"
            blocks.append(say("({n} less probable ones are not shown; together {p})", n=len(hidden), p=together))
        names: dict[str, Any] = dict(zip(("best", "next"), (str(self.classes[k]) for k in order[:2])))
        for passage in self.passages:
            names["column"] = passage.column
            if passage.pieces and len(order) > 1:
                blocks += ["", say("{column}: + speaks for “{best}”, − for “{next}”", **names), passage]
            elif passage.pieces:
                blocks += ["", say("{column}: + speaks for “{best}”", **names), passage]
        return blocks

    def _bars(self) -> list[str | Block]:
        """Of many factors, what speaks most for the answer against the next best class, as bars."""
        found = self.reasons(len(self.factors))
        if len(found) <= _BARS or len(self.classes) < 2:
            return []
        best, second = self.order[:2]
        prior = self.prior.terms[best].log - self.prior.terms[second].log if self.prior.terms else 0.0
        rest = sum(odds for _, odds in found[_BARS:])
        more = say("… {n} more", n=f"{len(found) - _BARS:,}")
        shown = [*found[:_BARS], (more, rest), (self.prior.column, prior)]
        longest = max((abs(odds) for _, odds in shown if math.isfinite(odds)), default=0.0) or 1.0
        rows = []
        for name, odds in shown:
            size = _BAR if math.isinf(odds) else round(_BAR * abs(odds) / longest) if odds == odds else 0
            rows.append([shortened(spoken(name)), f"{odds:+.2f}", ("█" if odds > 0 else "░") * size])
        names = {"best": self.classes[best], "next": self.classes[second]}
        title = say("{what} for {best} (█), or for {next} (░)", what=self._compared, **names)
        return [PrintedTable((), rows, ["", ".2f", ""], title=title), ""]

    _compared = say("log odds")

    def reasons(self, n: int) -> list[tuple[str, float]]:
        """What speaks most for the answer, or against it, with its log odds against the next best class."""
        best, *others = self.order
        second = others[0] if others else best
        found = []
        for each in (factor for factor in self.factors if factor.terms):
            first, other = each.terms[best].log, each.terms[second].log
            named = name_reason(each.column, each.value)
            found.append((named, float(first - other) if first != other else 0.0))
        return sorted(found, key=lambda each: -abs(each[1]))[:n]


def name_reason(column: str, value: str) -> str:
    """What speaks for a class: a column's value, or a word."""
    return say("{column} = {value}", column=column, value=value) if value and not value.startswith("×") else column


def say_answer(answer: Any, probability: float) -> str:
    """The line of the answer."""
    return say("→ {answer}, with probability {p}", answer=answer, p=f"{probability:.6f}")


def _cut(text: str) -> str:
    return text if len(text) <= _CELL else shortened(text, _CELL)


class SumExplanation(Explanation):
    """One answer of a linear model as a sum: the prior is its constant, and each term an amount that is added."""

    @property
    def _scores(self) -> Floats:
        return self.joint

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        found = {
            "prediction": self.prediction,
            "constant": self._line(self.prior),
            "addends": [self._line(factor) for factor in self.factors],
            "sum": self._by_class(self.joint),
            "probability": self._by_class(self.posterior),
        }
        return plain(found)  # type: ignore[no-any-return]

    def _cells(self, each: Term) -> dict[str, Any]:
        return {"how": each.how, "amount": each.value}

    _compared = say("difference of the sums")

    def as_logs(self) -> Explanation:
        """It has no products."""
        raise InputError("the answer of a linear model is a sum already, and has no product; leave out form='log'")

    def _several(self, n: int, log: float) -> Term:
        return Term(say("{n} terms", n=f"{n:,}"), log, log)

    def _figure(self, each: Term) -> str:
        return f"= {each.value:.6f}"

    def _totals(self) -> dict[str, list[str] | str]:
        totals = {say("sum"): self.joint, say("not below 0"): self.posterior}
        return {name: [f"= {number:.6f}" for number in numbers] for name, numbers in totals.items()}

    def _blocks(self) -> list[str | Block]:
        hidden = len(self.classes) - CLASSES
        remark = [say("({n} classes with smaller sums are not shown)", n=hidden)] if hidden > 0 else []
        return [*self._bars(), self._table(), *remark, f"→ {self.prediction}"]


@dataclass(frozen=True)
class PooledFactor(Factor):
    """What one column says of every class to a vote: the terms are the sums over its members, weighted."""

    shares: tuple[tuple[float, ...], ...] = ()  # of each member, its part of the log of each class

    @staticmethod
    def of(column: str, value: str, shares: Floats, part_of: str = "", shift: Floats | None = None) -> PooledFactor:
        """The sum of the members' parts, members × classes, and of a shift that is nobody's."""
        total = shares.sum(axis=0) + (0.0 if shift is None else shift)
        terms = tuple(Term("", exponential(log), log) for log in total.tolist())
        return PooledFactor(column, value, terms, "", part_of, tuple(map(tuple, shares.tolist())))


@dataclass(frozen=True, repr=False)
class PooledExplanation(Explanation):
    """One answer of a weighted vote: what each column says to each member, in log odds that add up to the answer's."""

    members: Mapping[str, float] = field(default_factory=dict)  # the weight of each

    @property
    def _is_generative(self) -> bool:
        return False

    def _pair(self) -> tuple[int, int]:
        """The best class and the next best."""
        order = self.order
        return order[0], order[min(1, len(order) - 1)]

    def member_odds(self, best: int, second: int) -> dict[str, float]:
        """What each member adds to the log odds of one class against another."""
        lines = [line.shares for line in (self.prior, *self.factors) if isinstance(line, PooledFactor)]
        return {name: sum(each[m][best] - each[m][second] for each in lines) for m, name in enumerate(self.members)}

    def _join_words(self) -> list[Factor]:
        """The factors, with all but the strongest words and the strongest products in one line together."""
        best, second = self._pair()
        lines = super()._join_words()
        products = [each for each in lines if " × " in each.column or each.column.endswith("²")]
        products.sort(key=lambda each: -abs(each.terms[best].log - each.terms[second].log))
        if len(rest := products[PRODUCTS - 1 :]) < 2:
            return lines
        hidden = {id(each) for each in rest}
        kept = [each for each in lines if id(each) not in hidden]
        return [*kept, self._combine(say("… {n} more products", n=len(rest)), rest)]

    def _combine(self, name: str, factors: Sequence[Factor]) -> Factor:
        shares = np.array([each.shares for each in factors])  # type: ignore[attr-defined]
        return PooledFactor.of(name, "", shares.sum(axis=0))

    def _table(self) -> PrintedTable:
        """Column, value, the log odds of each member, and their sum."""
        best, second = self._pair()
        rows = []
        for line in (self.prior, *self._join_words()):
            odds = [each[best] - each[second] for each in line.shares]  # type: ignore[attr-defined]
            total = line.terms[best].log - line.terms[second].log
            rows.append([line.column, line.value, *(f"{each:+.4f}" if each else "" for each in odds), f"{total:+.4f}"])
        sums = [*self.member_odds(best, second).values(), self.joint[best] - self.joint[second]]
        rows.append([say("log odds"), "", *(f"{each:+.4f}" for each in sums)])
        heads = ["", "", *(f"{weight:.2f} × {name}" for name, weight in self.members.items()), say("sum")]
        title = say("log odds for {best}, not {next}", best=self.classes[best], next=self.classes[second])
        return PrintedTable(heads, rows, title=title, rule=True, totals=1, divided=(2, 1))

    def records(self) -> list[dict[str, Any]]:
        """A line for each column: the log odds of each member, and their sum; then the sum of all."""
        best, second = self._pair()
        lines = []
        for line in (self.prior, *self.factors):
            odds = [each[best] - each[second] for each in line.shares]  # type: ignore[attr-defined]
            total = line.terms[best].log - line.terms[second].log
            lines.append({"column": line.column, "value": line.value, **dict(zip(self.members, odds)), "sum": total})
        total = float(self.joint[best] - self.joint[second])
        return [*lines, {"column": "log odds", "value": "", **self.member_odds(best, second), "sum": total}]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data, with the logarithms of every class."""
        lines = [
            {
                "column": line.column,
                "value": line.value,
                "members": {n: self._by_class(own) for n, own in zip(self.members, line.shares)},  # type: ignore[attr-defined]
                "sum": self._by_class([each.log for each in line.terms]),
            }
            for line in (self.prior, *self.factors)
        ]
        found = {
            "prediction": self.prediction,
            "weights": dict(self.members),
            "lines": lines,
            "log_score": self._by_class(self.joint),
            "posterior": self._by_class(self.posterior),
        }
        if self.passages:
            found["texts"] = dict(chain(*(passage.to_dict().items() for passage in self.passages)))
        return plain(found)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Opinion:
    """What a member of a vote says of a row."""

    name: str
    weight: float
    factors: Sequence[Factor]  # the prior first; none where it says nothing by column
    places: NDArray[np.intp]  # of each class of the vote, its place among the member's; -1 where it does not know it
    own: Floats  # its log posterior of each class of the vote
    heard: Floats  # the same, as the vote hears it: no probability is less than the least


def pool_factors(
    classes: Labels,
    opinions: Sequence[Opinion],
    shifts: Floats,
    value: Callable[[str], str | None],
    order: Mapping[str, int],
) -> PooledExplanation:
    """The explanation of a vote; a function says what the row has in a column, `order` where each stands in the table.

    What a member says that is no sum over columns (of a class that it does not know, of a calibration) is a line "as a
    whole"; what the vote does not hear of it, as a probability is below the least, one too.
    """
    size, lines = (len(opinions), len(classes)), dict[tuple[str, str], list[Any]]()

    def add(m: int, key: tuple[str, str], shown: str, logs: Floats) -> None:
        line = lines.setdefault(key, [shown, np.zeros(size)])
        line[1][m] += opinions[m].weight * (logs - logs.mean())

    for m, each in enumerate(opinions):
        rest = each.own.copy()
        for number, factor in enumerate(each.factors):
            if factor.terms:
                own = np.append([term.log for term in factor.terms], 0.0)[each.places]
                own = np.maximum(own, -1e3)  # of what is impossible
                key = _PRIOR if number == 0 else (factor.part_of, factor.column)
                cell = value(factor.column)
                add(m, key, factor.value if cell is None else cell, own)
                rest -= own
        if np.ptp(rest) > 1e-9 * (1 + np.abs(each.own).max()):
            add(m, ("", say("as a whole")), "", rest)
        if (each.heard != each.own).any():
            least = say("no probability below {p}", p=f"{exponential(each.heard.min()):.2g}")
            add(m, ("", least), "", each.heard - each.own)
    _, prior = lines.pop(_PRIOR, ("", np.zeros(size)))
    shift = [PooledFactor.of(say("shift"), "", np.zeros(size), shift=shifts - shifts.mean())] if shifts.any() else []
    said = {key: line for key, line in lines.items() if line[0] or np.abs(line[1]).max() > 1e-9}
    factors = [PooledFactor.of(name, shown, own, part_of) for (part_of, name), (shown, own) in said.items()]
    factors.sort(key=lambda factor: order.get(factor.part_of or factor.column, len(order)))
    joint = shifts + sum((each.weight * each.heard for each in opinions), np.zeros(len(classes)))
    posterior = np.exp(joint - joint.max())
    posterior /= posterior.sum()
    members = {each.name: each.weight for each in opinions}
    return PooledExplanation(
        classes, PooledFactor.of(_PRIOR[1], "", prior), (*shift, *factors), joint, posterior, members=members
    )


_PRIOR = "", say("prior")


class Explanations(Translated, Sequence[Any]):
    """The explanations of many rows, each worked out when it is asked for; a list that shows itself.

    Examples
    --------
    >>> import ingenuo as ing, ingenuo.datasets
    >>> days = ingenuo.datasets.play_tennis()
    >>> found = ing.explain(ing.NaiveBayes().fit(days, "Play"), days)
    >>> len(found), found[0].prediction, [each.prediction for each in found[2:4]]
    (14, 'No', ['Yes', 'Yes'])
    """

    def __init__(
        self, explain: Callable[[Any], Any], rows: Sequence[Any], numbers: Sequence[int] | None = None
    ) -> None:
        self._explain, self._rows = explain, rows
        self.numbers = range(len(rows)) if numbers is None else numbers  # what each row is called

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Explanations: ...
    def __getitem__(self, place: int | slice) -> Any:
        """One of them, or some."""
        if isinstance(place, slice):
            return Explanations(self._explain, self._rows[place], self.numbers[place]).translate(self._language)
        return self._explain(self._rows[place]).translate(self._language)

    def _title(self) -> str:
        return say("Why?")

    def _parts(self) -> Iterator[tuple[int, Any]]:
        return zip(self.numbers, self)

    def _blocks(self) -> list[str | Block]:
        parts = ([Heading(say("row {n}", n=number)), *each._blocks(), ""] for number, each in self._parts())
        return [*chain(*parts)][:-1]

    def __str__(self) -> str:
        more = len(self) - _ROWS
        return self[:_ROWS].to_text() + (f"\n\n{self._more(more)}" if more > 0 else "")

    def _repr_html_(self) -> str:
        more = len(self) - _ROWS
        return self[:_ROWS]._whole_html() + (f"<p>{self._more(more)}</p>" if more > 0 else "")

    def _page(self) -> str:
        with speaking(self._language):
            return page(spoken(self._title()), "\0")

    def _more(self, n: int) -> str:
        return say("… and {n} more rows", n=f"{n:,}").into(self._language)

    def records(self) -> list[dict[str, Any]]:
        """The lines of all, each with the number of its row."""
        return [{"row": number, **line} for number, each in self._parts() for line in each.records()]

    def to_dict(self) -> dict[str, Any]:
        """All of them as plain data."""
        return {"rows": [{"row": number, **each.to_dict()} for number, each in self._parts()]}

    def pieces(self, form: str, *, colour: bool = False) -> Iterator[str]:
        """What a file of a form holds, a row at a time."""
        before, after = self._page().split("\0") if form == "html" else ("[", "]") if form == "json" else ("", "")
        yield before
        for place, (number, each) in enumerate(self._parts()):
            first = place == 0
            if form == "csv":
                yield csv_of(({"row": number, **line} for line in each.records()), heads=first)
            elif form == "json":
                last = place + 1 == len(self)
                yield json_text({"row": number, **each.to_dict()}) + ("" if last else ",")
            else:
                one = Explanations(lambda row: row, [each], [number]).translate(self._language)
                text = one.to_text(colour=colour) if form == "text" else one._whole_html() if form == "html" else ""
                yield ("" if first else "\n") + (text or getattr(one, f"to_{form}")())
        yield after


class RowsOf(Sequence[Any]):
    """Some rows of a table or a list, each as a model takes one."""

    def __init__(self, table: Any, places: Sequence[int]) -> None:
        self.table, self.places = table, places

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, place: Any) -> Any:
        """One of them, or some."""
        if isinstance(place, slice):
            return RowsOf(self.table, self.places[place])
        at = int(self.places[place])
        if checks.is_frame(self.table):
            return take_rows(self.table, np.array([at], np.intp))
        table = self.table.tocsr() if hasattr(self.table, "tocsr") else getattr(self.table, "iloc", self.table)
        value = table[at]
        return value.as_py() if hasattr(value, "as_py") else value


def explain_rows(explain: Callable[[Any], Any], row: Any, form: str, language: str, *, texts: bool) -> Any:
    """The explanation of one row, or of the rows of a table or a list; with `texts`, strings in a list are rows."""
    check_language(language)
    explain_one = explain
    if form != "product":
        check_choice("form", form, ("product", "log"))

        def explain_one(each: Any) -> Any:
            return explain(each).as_logs()

    row = checks.read_row(row)
    if (
        texts
        and not isinstance(row, str | Mapping | list | tuple)
        and not checks.is_frame(row)
        and hasattr(row, "__len__")
    ):
        row = np.asarray(row).ravel().tolist()
    kinds = (list, tuple, Mapping, np.ndarray, *((str,) if texts else ()))
    if isinstance(row, list | tuple):
        several = len(row) > 1 and all(isinstance(each, kinds) for each in row)
    else:
        several = (checks.is_frame(row) or getattr(row, "ndim", 1) == 2) and checks.count_rows(row) != 1
    found = Explanations(explain_one, RowsOf(row, range(checks.count_rows(row)))) if several else explain_one(row)
    return found.translate(language)
