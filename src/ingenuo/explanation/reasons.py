"""The few columns or words that decided an answer, in one short line."""

from __future__ import annotations

from typing import Any

import numpy as np


def reasons(explanation: Any, n: int) -> list[tuple[str, float]]:
    """What spoke most for the answer, or against it, with its log odds against the next best class.

    Parameters
    ----------
    explanation : Explanation or SumExplanation
        The arithmetic of one answer.
    n : int
        How many to name.

    >>> from ingenuo import NaiveBayes
    >>> from ingenuo.data import play_tennis
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
