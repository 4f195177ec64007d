"""What is measured of predictions, each as its formula says.

Three sums for each class k are all that the confusion matrix has to say here: the rows of k that are correct
(tp), those that k is true of, and those that k was answered for. The functions of these take a leading axis as well, so
that a thousand resampled matrices are measured as one is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.evaluation.predictions import Predictions

Floats = NDArray[np.float64]
Key = tuple[str, Hashable]  # a measure, and the class that it is of: None where it is of all

BINS = 10
EDGES = np.arange(1, BINS) / BINS
# No probability counts as smaller in the log loss, as in scikit-learn: one row thought impossible says no more.
LEAST = float(np.finfo(np.float64).eps)

SUMMED = ("precision", "recall", "f1")
OF_ROWS = ("log_loss", "brier", "ece")
AREAS = ("roc_area", "pr_area")


_TITLES = {
    "accuracy": "accuracy",
    "majority_rate": "majority-class rate",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "log_loss": "log loss (nats)",
    "brier": "Brier score",
    "ece": "ECE",
    "roc_area": "ROC area",
    "pr_area": "PR area",
}


def title(name: str) -> str:
    """What a measure is called in a table; one of somebody else's has its name.

    >>> title("f1_macro"), title("log_loss"), title("kappa")
    ('macro F1', 'log loss (nats)', 'kappa')
    """
    stem, _, mean = name.rpartition("_")
    return _TITLES.get(name) or (f"{mean} {_TITLES[stem]}" if stem in _TITLES else name)


class Matrix(NamedTuple):
    """Of each class: rows predicted correctly, rows that it is true of, rows that it was answered for (…, classes)."""

    tp: Floats
    true: Floats
    answered: Floats


def _ratio(top: Any, bottom: Any) -> Floats:
    """top / bottom, NaN where that is 0 / 0."""
    out = np.full(np.broadcast_shapes(np.shape(top), np.shape(bottom)), np.nan)
    np.divide(top, bottom, out=out, where=np.asarray(bottom) > 0)
    return out


def by_class(matrix: Matrix) -> dict[str, Floats]:
    """Precision tp/answered, recall tp/true and F1 = 2tp/(true + answered) of each class; NaN where undefined."""
    tp, true, answered = matrix
    return {"precision": _ratio(tp, answered), "recall": _ratio(tp, true), "f1": _ratio(2 * tp, true + answered)}


def of_confusion(matrix: Matrix) -> dict[str, Floats]:
    """What the whole confusion matrix measures.

    As in scikit-learn's defaults, means over the classes are over those that are true of a row or were answered, and
    what is undefined of one of them counts as 0 there.
    """
    tp, true, answered = matrix
    n = true.sum(axis=-1)
    accuracy = tp.sum(axis=-1) / n
    found = {"accuracy": accuracy, "majority_rate": true.max(axis=-1) / n}
    there = true + answered > 0
    classes = by_class(matrix)
    found["balanced_accuracy"] = _mean(classes["recall"], true > 0)
    found["mcc"] = _mcc(matrix)
    for name, values in classes.items():
        defined = np.where(np.isnan(values), 0.0, values)
        found[f"{name}_macro"] = _mean(defined, there)
        # With one label for each row, what is wrong for one class is wrong for another: all three are the accuracy.
        found[f"{name}_micro"] = accuracy
        found[f"{name}_weighted"] = (defined * true).sum(axis=-1) / n
    return found


def _mean(values: Floats, counted: NDArray[np.bool_]) -> Floats:
    return _ratio(np.where(counted, values, 0.0).sum(axis=-1), counted.sum(axis=-1))


def _mcc(matrix: Matrix) -> Floats:
    """(c·n - Σ true·answered) / √((n² - Σ true²)(n² - Σ answered²)), all over n²; NaN where that is 0 / 0."""
    n = matrix.true.sum(axis=-1, keepdims=True)
    tp, true, answered = (part / n for part in matrix)
    top = tp.sum(axis=-1) - (true * answered).sum(axis=-1)
    # 1 - Σ q² = Σ q(1 - q), which is exactly 0 where one q is 1.
    spread = (true * (1 - true)).sum(axis=-1) * (answered * (1 - answered)).sum(axis=-1)
    return np.clip(_ratio(top, np.sqrt(np.maximum(spread, 0.0))), -1.0, 1.0)


class RowMeasures(NamedTuple):
    """What is summed over the rows: log loss and Brier score of each, its bin, and how far its confidence was off."""

    numbers: Floats
    gaps: Floats
    bins: NDArray[np.int8]


def bins_of(forecast: Floats) -> NDArray[np.int8]:
    """The bin of each probability: bin m has those above m/10 up to (m + 1)/10; 0 is in the first.

    >>> bins_of(np.array([0.0, 0.1, 0.3, 0.30000000000000004, 1.0])).tolist()
    [0, 0, 2, 3, 9]
    """
    bins = np.zeros(len(forecast), np.int8)
    for edge in EDGES.tolist():  # nine comparisons are faster than a search in each row
        bins += forecast > edge
    return bins


def row_measures(rows: Predictions) -> RowMeasures:
    """The loss of each row: -log p of its class; Σ_k (p_k - y_k)²; and right - confidence, in its bin of confidence."""
    p = rows.probabilities
    assert p is not None
    every = np.arange(len(rows))
    true = p[every, rows.codes]
    loss = -np.log(np.clip(true, LEAST, 1.0))
    # Σ (p_k - y_k)² = Σ_{k ≠ y} p_k² + (p_y - 1)²
    brier = np.maximum(np.einsum("ij,ij->i", p, p) - true * true, 0.0) + (true - 1.0) ** 2
    confidence = p[every, rows.predicted]
    bins = bins_of(confidence)
    return RowMeasures(np.column_stack([loss, brier]), (rows.codes == rows.predicted) - confidence, bins)


def total(values: Floats) -> float:
    """The sum, rounded once, whatever the order."""
    return math.fsum(values.tolist())


class Steps(NamedTuple):
    """Rows of a class, and other rows, with each distinct score: the scores descend."""

    scores: Floats
    positive: Floats
    negative: Floats


def steps(scores: Floats, is_class: NDArray[np.bool_], weights: Floats | None) -> Steps:
    """The rows grouped by their scores."""
    order = np.argsort(scores, kind="stable")[::-1]
    ranked = scores[order]
    starts = np.append(0, np.flatnonzero(ranked[1:] != ranked[:-1]) + 1)
    w = np.ones(len(scores)) if weights is None else weights[order]
    of_class = is_class[order]
    return Steps(
        ranked[starts],
        np.add.reduceat(np.where(of_class, w, 0.0), starts),
        np.add.reduceat(np.where(of_class, 0.0, w), starts),
    )


def areas(found: Steps) -> tuple[float, float]:
    """The area under the ROC curve, and the average precision Σ ΔR·P; NaN where there are no rows to tell apart."""
    tp, fp = np.cumsum(found.positive), np.cumsum(found.negative)
    P, N = float(tp[-1]), float(fp[-1])
    if P <= 0:
        return math.nan, math.nan
    precise = total(found.positive * (tp / np.where(tp + fp > 0, tp + fp, 1.0))) / P
    if N <= 0:
        return math.nan, precise
    # A row of the class wins against those of lower scores, and half against those of the same.
    won = total(found.positive * (N - fp + found.negative / 2))
    return won / P / N, precise


def judged_classes(n_classes: int) -> list[int]:
    """The classes that have areas: of two the second, the positive one; of more each, against the rest."""
    return [n_classes - 1] if n_classes <= 2 else list(range(n_classes))


def mean_area(areas: Floats, true: Floats, weights: Floats | None = None) -> Floats:
    """The mean of areas (…, classes) over the classes that have rows, and others beside them; weighted if asked."""
    defined = (true > 0) & (true < true.sum())
    if not defined.any():
        return np.full(len(areas), np.nan)
    areas = areas[:, defined]
    w = np.ones_like(areas) if weights is None else weights[:, defined]
    return np.asarray((areas * w).sum(axis=1) / w.sum(axis=1))


def listed(
    labels: list[Any], matrix: Matrix, losses: dict[str, float], pairs: list[tuple[float, float]]
) -> dict[Key, float | None]:
    """Every measure by its name and class.

    Parameters
    ----------
    labels, matrix
        The classes, and what the confusion matrix says of each.
    losses : dict
        What is summed over the rows; empty where there are no probabilities.
    pairs : list
        ROC and PR area of each class that is judged; empty where there are no probabilities.
    """
    found: dict[Key, float | None] = {(name, None): float(value) for name, value in of_confusion(matrix).items()}
    if math.isnan(found["mcc", None] or 0.0):  # 0 / 0: only one class is true, or only one was answered
        found["mcc", None] = 0.0
    found.update({(name, None): losses.get(name) for name in OF_ROWS})
    columns = {name: np.array([[pair[place] for pair in pairs]]) for place, name in enumerate(AREAS)}
    for name, column in columns.items():
        if len(labels) <= 2:
            found[name, None] = float(column[0, 0]) if pairs else None
            continue
        for mean, weights in (("macro", None), ("weighted", matrix.true[np.newaxis])):
            found[f"{name}_{mean}", None] = float(mean_area(column, matrix.true, weights)[0]) if pairs else None
    for name, values in by_class(matrix).items():
        found.update({(name, label): float(value) for label, value in zip(labels, values)})
    if len(labels) > 2:
        for name, column in columns.items():
            found.update({(name, label): float(column[0, k]) if pairs else None for k, label in enumerate(labels)})
    return found
