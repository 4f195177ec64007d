"""The section of examples: rows answered rightly and wrongly, each with its arithmetic, cut to what can be read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import IngenuoError
from ingenuo.evaluation.predictions import Predictions
from ingenuo.explanation.arithmetic import Explanation
from ingenuo.explanation.sums import Addend, SumExplanation
from ingenuo.families.family import Factor, Passage, Term, exponential
from ingenuo.report.markup import Section, details, embedded, paragraphs, percent, sentence, shortened
from ingenuo.report.rows import Rows

_EACH = 3  # right, and wrong
_FACTORS = 24  # shown one by one
_LETTERS = 900  # of a text
_VALUE = 48  # letters of a value


def chosen(predictions: Predictions) -> list[tuple[str, int]]:
    """Rows to show, each with what it is an example of: right ones sure, typical and unsure; the surest wrong ones."""
    right = predictions.codes == predictions.predicted
    if predictions.probabilities is None:
        found = [("right", row) for row in np.flatnonzero(right)[:_EACH].tolist()]
        return found + [("wrong", row) for row in np.flatnonzero(~right)[:_EACH].tolist()]
    sure = predictions.probabilities[np.arange(len(predictions)), predictions.predicted]
    good, bad = (rows[np.argsort(-sure[rows], kind="stable")].tolist() for rows in map(np.flatnonzero, (right, ~right)))
    places = {0: "right, and most sure", len(good) // 2: "right, and as sure as usual"}
    places.setdefault(len(good) - 1, "right, but least sure")
    found = [(what, good[place]) for place, what in places.items() if 0 <= place < len(good)]
    names = ("wrong, and most sure", "wrong, and second most sure", "wrong, and third most sure")
    return found + list(zip(names, bad[:_EACH]))


def examples(model: Any, rows: Rows, predictions: Predictions) -> Section:
    """The arithmetic behind some answers."""
    labels, parts = predictions.classes.tolist(), []
    shown = chosen(predictions)
    for what, row in shown:
        true, answered = (shortened(labels[codes[row]]) for codes in (predictions.codes, predictions.predicted))
        said = f"Row {rows.numbers[row] + 1:,}: {what}. Answered {answered!r}"
        if predictions.probabilities is not None:
            said += f" with {percent(float(predictions.probabilities[row, predictions.predicted[row]]))}"
        said += f", and it is {true!r}" if what.startswith("right") else f", but it is {true!r}"
        first = what == shown[0][0] or what.startswith("wrong, and most")
        parts.append(details(said + ".", _arithmetic(model, rows, row), unfolded=first))
    how = (
        "Each answer with its working: the prior, what each column says of each class, the product, and the division "
        "by the sum. Wrong answers that were sure show best what the model does not know. Rows are counted from 1."
    )
    if not any(what.startswith("wrong") for what, _ in shown):
        parts.append(paragraphs(["No row was answered wrongly."]))
    return Section("examples", "Examples, right and wrong", how, "".join(parts))


def _arithmetic(model: Any, rows: Rows, row: int) -> str:
    if not hasattr(model, "explain"):
        return paragraphs([f"A {type(model).__name__} does not show its working."])
    try:
        explanation = abridged(model.explain(rows.row(row)))
    except IngenuoError as error:
        return paragraphs([sentence(error)])
    return embedded(explanation._repr_html_(), f"arithmetic of row {row}")


def abridged(explanation: Any) -> Any:
    """An explanation with the strongest factors one by one, the others together, and a window of every long text."""
    if isinstance(explanation, SumExplanation):
        return _shorter_sum(explanation)
    if not isinstance(explanation, Explanation):
        return explanation
    factors = [replace(f, column=_cut(f.column), value=_cut(f.value)) for f in explanation.factors]
    if len(factors) > _FACTORS and not any(factor.part_of for factor in factors):
        factors = _strongest(factors, len(explanation.classes))
    passages = tuple(window(passage) for passage in explanation.passages)
    return replace(explanation, factors=tuple(factors), passages=passages)


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE else shortened(text, _VALUE)


def _strongest(factors: list[Factor], n_classes: int) -> list[Factor]:
    """The factors that move the answer most, in their order; what the others come to in one line."""
    spoken = [factor for factor in factors if factor.terms]
    kept = _most([[term.log for term in factor.terms] for factor in spoken])
    rest = [factor for k, factor in enumerate(spoken) if k not in kept]
    logs = [sum(factor.terms[k].log for factor in rest) for k in range(n_classes)]
    terms = tuple(Term(f"{len(rest):,} factors", exponential(log), log) for log in logs)
    shown = [factor for k, factor in enumerate(spoken) if k in kept]
    silent = len(factors) - len(spoken)
    left_out = [Factor("…", "", (), f"{silent:,} columns say nothing, for their values are missing")] if silent else []
    return [*shown, *([Factor(f"… {len(rest):,} more", "", terms)] if rest else []), *left_out]


def _most(amounts: list[list[float]]) -> set[int]:
    """The places of the factors that differ most between the classes."""
    spread = np.array([np.nan_to_num(np.ptp(np.clip(each, -1e300, 1e300)), nan=np.inf) for each in amounts])
    return set(np.argsort(-spread, kind="stable")[:_FACTORS].tolist())


def _shorter_sum(explanation: SumExplanation) -> SumExplanation:
    """The same for sums."""
    addends = [replace(each, column=_cut(each.column), value=_cut(each.value)) for each in explanation.addends]
    spoken = [each for each in addends if each.amounts]
    if len(addends) > _FACTORS:
        kept = _most([list(each.amounts) for each in spoken])
        rest = [each for k, each in enumerate(spoken) if k not in kept]
        sums = tuple(float(sum(each.amounts[k] for each in rest)) for k in range(len(explanation.classes)))
        more = Addend(f"… {len(rest):,} more", "", tuple(f"{len(rest):,} terms" for _ in sums), sums)
        addends = [each for k, each in enumerate(spoken) if k in kept] + ([more] if rest else [])
    return replace(explanation, addends=tuple(addends))


def window(passage: Passage, letters: int = _LETTERS) -> Passage:
    """The part of a text that says most, with "…" where something was left out.

    >>> text = Passage("text", (("so ", None),) * 9 + (("good", 2.0),) + ((" so", None),) * 9)
    >>> "".join(piece for piece, _ in window(text, 12).pieces)
    '… so so good…'
    """
    pieces = [(text[:letters], weight) for text, weight in passage.pieces]
    ends = np.cumsum([0, *(len(text) for text, _ in pieces)])
    if ends[-1] <= letters:
        return replace(passage, pieces=tuple(pieces))
    strength = np.cumsum([0.0, *(abs(weight or 0.0) for _, weight in pieces)])
    # Of each beginning the last piece that still fits.
    last: NDArray[Any] = np.searchsorted(ends, ends[:-1] + letters, side="right") - 1
    said = strength[last] - strength[:-1]
    first = int(np.argmax(said))
    kept = pieces[first : int(last[first])]
    before = [("… ", None)] if first else []
    after = [("…", None)] if last[first] < len(pieces) else []
    return replace(passage, pieces=(*before, *kept, *after))
