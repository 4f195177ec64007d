"""The columns of any table as the features of a linear model, and what the generative twin would weigh each of them.

Numbers are themselves (less their mean, which the intercepts take up), a category is one feature for each of its
values, counts are themselves, a text has a feature for each of its words and n-grams. A missing number counts as the
mean; a missing or unknown category, and unknown words, as nothing.

Two classes have one logit, the log odds of the second; more have one each. The twin's weight of a feature j for class k
is the log ratio of its share within the class to its share outside,

    r_jk = log (n_jk + α_k)/(N_k + α_k J) - log (n_j,rest + α_rest)/(N_rest + α_rest J)

with what is imagined, 2α, divided between a class and the rest as the real is, α_k = 2α N_k/N, so that a feature hardly
seen says nothing; for two classes, of the second to the first with α for either (Wang and Manning). Measured on 20
classes of newsgroups: 86.5 % right, with α for either 83.0 %. The weight of a number is the distance of the class's
mean from that of all rows, in units of the variance within classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.family import Factor, Floats, Term, exponential, powers_of_e
from ingenuo.kernels import portable

Entries = tuple[NDArray[np.int32], NDArray[np.int32], Floats]  # rows, features, values (none: ones)
ONES: Floats = np.zeros(0)


class Group(Protocol):
    """The features that the columns of one family give."""

    size: int

    def entries(self, block: Any) -> Entries:
        """Where the features are not zero."""
        ...

    def start(self, alpha: float) -> tuple[Floats, Floats]:
        """The twin's weights (features × logits), and what it adds to its intercepts besides the classes' shares."""
        ...

    def stretch(self, start: Floats) -> Floats:
        """What the features are multiplied by where they are weighted by naive Bayes."""
        ...

    def add(self, weights: Floats, block: Any, out: Floats) -> None:
        """Add the features' part of the logits to out (rows × classes)."""
        ...

    def names(self) -> list[str]:
        """What each feature is called."""
        ...

    def factors(self, weights: Floats, block: Any) -> list[Factor]:
        """What each feature of a block of one row multiplies the odds by."""
        ...


def imagined(totals: Floats, alpha: float) -> tuple[Floats, Floats]:
    """What is imagined of each feature in each class, and in all the others: 2α, divided as the real is."""
    share = totals / max(float(totals.sum()), 1e-300)
    return 2 * alpha * np.maximum(share, 1e-12), 2 * alpha * np.maximum(1 - share, 1e-12)


def log_ratios(counts: Floats, alpha: float) -> Floats:
    """r_jk, features × logits, from counts (classes × features).

    >>> log_ratios(np.array([[1.0, 0.0], [0.0, 1.0]]), 1.0).round(4).tolist()
    [[-0.6931], [0.6931]]
    """
    size = counts.shape[1]
    totals = counts.sum(axis=1, keepdims=True)
    if len(counts) == 2:
        inside = portable.log(counts + alpha) - portable.log(totals + alpha * size)
        return np.ascontiguousarray((inside[1:] - inside[:1]).T)
    a, b = imagined(totals, alpha)
    inside = portable.log(counts + a) - portable.log(totals + a * size)
    outside = portable.log(counts.sum(axis=0) - counts + b) - portable.log(totals.sum() - totals + b * size)
    return np.ascontiguousarray((inside - outside).T)


def joined(parts: Sequence[Entries], sizes: Sequence[int]) -> Entries:
    """The entries of several parts, each with its features behind those of the parts before."""
    if len(parts) == 1:
        return parts[0]
    firsts = np.cumsum([0, *sizes])
    plain = all(len(values) == 0 for _, _, values in parts)
    return (
        np.concatenate([rows for rows, _, _ in parts]),
        np.concatenate([features + np.int32(first) for (_, features, _), first in zip(parts, firsts.tolist())]),
        ONES if plain else np.concatenate([v if len(v) else np.ones(len(rows)) for rows, _, v in parts]),
    )


def by_class(weights: Floats) -> Floats:
    """Weights by class: of one logit, the first class has none."""
    return weights if weights.shape[1] > 1 else np.hstack([np.zeros_like(weights), weights])


def factor(name: str, value: str, weights: Floats, x: float) -> Factor:
    """What a feature multiplies the odds of each class by."""
    terms = tuple(Term(powers_of_e(float(w), x), exponential(float(w) * x), float(w) * x) for w in weights)
    return Factor(name, value, terms)
