"""What speaks most for a class in a linear model: what one standard deviation multiplies its odds by."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ingenuo.explanation.evidence import Bags, Measure, Values, WordTable
from ingenuo.explanation.strongest_sign import Sign, largest, power
from ingenuo.families.family import Floats
from ingenuo.families.word_features import totals
from ingenuo.schema import column_name


def against_others(weights: Floats, priors: Floats) -> Floats:
    """Weights (…, classes) less the mean of the other classes' by their priors: what is common says nothing."""
    rest = np.maximum(1 - priors, 1e-300)
    mixed = (weights * priors).sum(axis=-1, keepdims=True)
    return np.asarray(weights - (mixed - weights * priors) / rest)


def of_line(part: Measure, priors: Floats) -> Iterator[tuple[int, Sign]]:
    """A number: more of it, or less."""
    assert part.slopes is not None
    mean = float(priors @ part.means)
    deviation = math.sqrt(float(priors @ (part.deviations**2 + (part.means - mean) ** 2)))
    for k, w in enumerate((against_others(part.slopes, priors) * deviation).tolist()):
        if abs(w) > 1e-9:
            note = f"mean {part.means[k]:.4g}, in all {mean:.4g}; a deviation is {deviation:.3g}"
            yield (
                k,
                Sign(
                    column_name(part.column), "more" if w > 0 else "less", "number", abs(w), power(abs(w)),
                    note=note, per="a deviation",
                ),
            )  # fmt: skip


def of_values(part: Values, priors: Floats, n: int) -> Iterator[tuple[int, Sign]]:
    """The values of a category, each a feature that is there or not."""
    weights = against_others(part.logs, priors)
    counts = np.zeros((len(priors), len(part.values))) if part.counts is None else part.counts
    share = counts.sum(axis=0) / max(float(counts.sum()), 1e-300)
    deviations = np.sqrt(share * (1 - share))
    names = part.values.tolist()
    for k in range(len(priors)):
        own = weights[:, k] * deviations
        for j in largest(own, n):
            seen, ratio = (float(counts[k, j]), float(counts[:, j].sum())), power(float(weights[j, k]))
            yield k, Sign(column_name(part.column), str(names[j]), "category", float(own[j]), ratio, *seen, per="there")


def of_bags(part: Bags, priors: Floats, n: int) -> Iterator[tuple[int, Sign]]:
    """Columns of counts: each one more."""
    counts = np.zeros((len(priors), len(part.columns))) if part.counts is None else part.counts
    weights = against_others(part.each, priors)
    deviations = np.sqrt(part.most / 4)  # about that of a count
    for k in range(len(priors)):
        own = weights[:, k] * deviations
        for j in largest(own, n):
            seen = float(counts[k, j]), float(counts[:, j].sum())
            ratio = power(float(weights[j, k]))
            yield k, Sign(column_name(part.columns[j]), "each", "count", float(own[j]), ratio, *seen, per="each")


def of_words(part: WordTable, priors: Floats, n: int) -> Iterator[tuple[int, Sign]]:
    """The words of the largest weights, each times the deviation of its count (about √mean, as of rare things)."""
    assert part.weights is not None
    whole = np.asarray(totals(part.bag), np.float64)
    rows = max(float(part.parameters.rows.sum()), 1e-300)
    deviations = np.sqrt(whole / rows)
    weights = against_others(part.weights, priors)
    strength = weights * deviations[:, np.newaxis]
    for k in range(strength.shape[1]):
        own = np.where(part.used, strength[:, k], -1.0)
        nodes = largest(own, n)
        counts = part.bag.column(k)
        for node, text in zip(nodes, part.bag.vocabulary.texts(nodes)):
            seen = float(counts[node]), float(whole[node])
            w = float(weights[node, k])
            yield k, Sign(column_name(part.column), text, "text", float(own[node]), power(w), *seen, per="each")


def by_lines(model: Any, n: int) -> tuple[tuple[Sign, ...], ...]:
    """Of least squares: what a deviation of a column adds to the share of each class."""
    found = model._found()
    deviations = np.sqrt(np.maximum(np.diag(np.asarray(found.scatter)), 0.0))
    names = [column_name(name) for name in model.schema_.names.tolist()]
    result = []
    for own in found.weights * deviations:
        order = np.argsort(-np.abs(own), kind="stable")[:n].tolist()
        result.append(
            tuple(
                Sign(names[j], "more" if own[j] > 0 else "less", "number", float(abs(own[j])), 1.0, per="added",
                     note=f"a deviation is {deviations[j]:.3g}")
                for j in order if abs(own[j]) > 1e-12
            )
        )  # fmt: skip
    return tuple(result)
