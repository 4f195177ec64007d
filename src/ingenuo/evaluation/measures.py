"""What is measured of predictions, each as its formula says.

Three sums for each class k are all that is taken from the confusion matrix: the rows of k that are correct (tp), those
that k is true of, and those that k was answered for. The functions of these take a leading axis as well, so that a
thousand resampled matrices are measured as one is.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.evaluation.predictions import Predictions

Floats = NDArray[np.float64]
Key = tuple[str, Hashable]  # a measure, and the class that it is of: None where it is of all

BINS = 10
# No probability counts as smaller in the log loss, as in scikit-learn: one row thought impossible counts no more.
LEAST = float(np.finfo(np.float64).eps)

SUMMED = ("precision", "recall", "f1")
OF_ROWS = ("log_loss", "brier", "ece")
AREAS = ("roc_area", "pr_area")
MEANS = ("macro", "micro", "weighted")

_TITLES = {
    "majority_rate": "majority-class rate",
    "mcc": "MCC",
    "f1": "F1",
    "log_loss": "log loss (nats)",
    "brier": "Brier score",
    "ece": "ECE",
    "roc_area": "ROC area",
    "pr_area": "PR area",
    "r2": "R²",
    "always_the_mean_absolute": "the same, always answering the mean",
    "always_the_mean": "the same, always answering the mean",
    "within_interval": "truth within the 90% intervals",
    "interval_width": "mean width of these",
}


def title(name: str) -> str:
    """What a measure is called in a table: "f1_macro" is "macro F1"."""
    stem, _, mean = name.rpartition("_")
    return f"{mean} {title(stem)}" if mean in MEANS else _TITLES.get(name, name.replace("_", " "))


class Matrix(NamedTuple):
    """Of each class: rows predicted correctly, rows that it is true of, rows that it was answered for (…, classes)."""

    tp: Floats
    true: Floats
    answered: Floats


def _divide(top: Any, bottom: Any) -> Floats:
    """top / bottom, NaN where that is 0 / 0."""
    out = np.full(np.broadcast_shapes(np.shape(top), np.shape(bottom)), np.nan)
    np.divide(top, bottom, out=out, where=np.asarray(bottom) > 0)
    return out


def by_class(matrix: Matrix) -> dict[str, Floats]:
    """Precision tp/answered, recall tp/true and F1 = 2tp/(true + answered) of each class; NaN where undefined."""
    tp, true, answered = matrix
    return {"precision": _divide(tp, answered), "recall": _divide(tp, true), "f1": _divide(2 * tp, true + answered)}


def of_confusion(matrix: Matrix) -> dict[str, Floats]:
    """What the whole confusion matrix measures.

    As in scikit-learn, means are over the classes that are true of a row or were answered; undefined counts as 0.
    """
    tp, true, answered = matrix
    n = true.sum(axis=-1)
    classes = by_class(matrix)
    found = {
        "accuracy": tp.sum(axis=-1) / n,
        "majority_rate": true.max(axis=-1) / n,
        "balanced_accuracy": _mean(classes["recall"], true > 0),
        "mcc": _mcc(matrix),
    }
    for name, values in classes.items():
        defined = np.where(np.isnan(values), 0.0, values)
        found[f"{name}_macro"] = _mean(defined, true + answered > 0)
        # With one label for each row, what is wrong for one class is wrong for another: all three are the accuracy.
        found[f"{name}_micro"] = found["accuracy"]
        found[f"{name}_weighted"] = (defined * true).sum(axis=-1) / n
    return found


def _mean(values: Floats, counted: NDArray[np.bool_]) -> Floats:
    return _divide(np.where(counted, values, 0.0).sum(axis=-1), counted.sum(axis=-1))


def _mcc(matrix: Matrix) -> Floats:
    """(c·n - Σ true·answered) / √((n² - Σ true²)(n² - Σ answered²)), all over n²; NaN where that is 0 / 0."""
    n = matrix.true.sum(axis=-1, keepdims=True)
    tp, true, answered = (part / n for part in matrix)
    top = tp.sum(axis=-1) - (true * answered).sum(axis=-1)
    # 1 - Σ q² = Σ q(1 - q), which is exactly 0 where one q is 1.
    spread = (true * (1 - true)).sum(axis=-1) * (answered * (1 - answered)).sum(axis=-1)
    return np.clip(_divide(top, np.sqrt(np.maximum(spread, 0.0))), -1.0, 1.0)


class RowMeasures(NamedTuple):
    """What is summed over the rows: log loss and Brier score of each, its bin, and how far its confidence was off."""

    numbers: Floats
    gaps: Floats
    bins: NDArray[np.int8]


def bins_of(forecast: Floats) -> NDArray[np.int8]:
    """The bin of each probability: bin m has those above m/10 up to (m + 1)/10; 0 is in the first."""
    bins = np.zeros(len(forecast), np.int8)
    for edge in (np.arange(1, BINS) / BINS).tolist():  # nine comparisons are faster than a search in each row
        bins += forecast > edge
    return bins


def row_measures(rows: Predictions) -> RowMeasures:
    """The loss of each row: -log p of its class; Σ_k (p_k - y_k)²; and right - confidence, in its bin of confidence."""
    p = rows.probabilities
    assert p is not None
    every = np.arange(len(rows))
    true, confidence = p[every, rows.codes], p[every, rows.predicted]
    loss = -np.log(np.clip(true, LEAST, 1.0))
    # Σ (p_k - y_k)² = Σ_{k ≠ y} p_k² + (p_y - 1)²
    brier = np.maximum(np.einsum("ij,ij->i", p, p) - true * true, 0.0) + (true - 1.0) ** 2
    gaps = (rows.codes == rows.predicted) - confidence
    return RowMeasures(np.column_stack([loss, brier]), gaps, bins_of(confidence))


class Steps(NamedTuple):
    """Rows of a class, and other rows, with each distinct score: the scores descend."""

    scores: Floats
    positive: Floats
    negative: Floats


def steps(scores: Floats, is_class: NDArray[np.bool_], weights: Floats | None) -> Steps:
    """The rows grouped by their scores."""
    order = np.argsort(scores, kind="stable")[::-1]
    ranked, of_class = scores[order], is_class[order]
    starts = np.append(0, np.flatnonzero(ranked[1:] != ranked[:-1]) + 1)
    w = np.ones(len(scores)) if weights is None else weights[order]
    return Steps(ranked[starts], *(np.add.reduceat(np.where(own, w, 0.0), starts) for own in (of_class, ~of_class)))


def areas(positive: Floats, negative: Floats) -> tuple[Floats, Floats]:
    """The area under the ROC curve, and the average precision Σ ΔR·P, of steps (…, steps); NaN where undefined."""
    tp, fp = np.cumsum(positive, axis=-1), np.cumsum(negative, axis=-1)
    P, N = tp[..., -1:], fp[..., -1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        # A row of the class wins against those of lower scores, and half against those of the same.
        roc = (positive * (N - fp + negative / 2)).sum(axis=-1, keepdims=True) / P / N
        return roc[..., 0], (np.nansum(positive * (tp / (tp + fp)), axis=-1, keepdims=True) / P)[..., 0]


def judged_classes(n_classes: int) -> list[int]:
    """The classes that have areas: of two the second, the positive one; of more each, against the rest."""
    return [n_classes - 1] if n_classes <= 2 else list(range(n_classes))


def mean_area(areas: Floats, true: Floats, weights: Floats | None = None) -> Floats:
    """The mean of areas (…, classes) over the classes that have rows, with others beside them; perhaps weighted."""
    defined = (true > 0) & (true < true.sum())
    if not defined.any():
        return np.full(len(areas), np.nan)
    return np.average(areas[:, defined], axis=1, weights=None if weights is None else weights[:, defined])


def list_measures(
    labels: list[Any], matrix: Matrix, losses: dict[str, float], pairs: list[tuple[Any, Any]]
) -> dict[Key, float | None]:
    """Every measure by its name and class: losses and areas of judged classes are empty without probabilities."""
    found: dict[Key, float | None] = {(name, None): float(value) for name, value in of_confusion(matrix).items()}
    found["mcc", None] = float(np.nan_to_num(found["mcc", None] or 0.0))  # 0 / 0: only one class is true or answered
    found |= {(name, None): losses.get(name) for name in OF_ROWS}
    several = len(labels) > 2
    columns = {name: np.array([[pair[place] for pair in pairs]], np.float64) for place, name in enumerate(AREAS)}
    for name, column in columns.items():
        if several:
            for mean, weights in (("macro", None), ("weighted", matrix.true[np.newaxis])):
                found[f"{name}_{mean}", None] = float(mean_area(column, matrix.true, weights)[0]) if pairs else None
        else:
            found[name, None] = float(column[0, 0]) if pairs else None
    for name, values in by_class(matrix).items():
        found |= {(name, label): float(value) for label, value in zip(labels, values)}
    for name, column in columns.items():
        each = column[0].tolist() if pairs else [None] * len(labels)
        found |= {(name, label): value for label, value in zip(labels, each)} if several else {}
    return found
