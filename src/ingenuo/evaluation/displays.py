"""The pictures of an evaluation as scikit-learn's displays give them: from an estimator, or from predictions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ingenuo.errors import InputError
from ingenuo.evaluation.evaluation import evaluate
from ingenuo.evaluation.measured import Measured
from ingenuo.evaluation.measures import AREAS, judged_classes
from ingenuo.explanation import evaluation_pictures as drawing

_POINTS = 1_000  # of a curve: more cannot be seen
_CROWDED = 8  # classes, from which on the panels are larger


class EvaluationDisplay:
    """Four panels: confusion matrix, ROC curves, precision-recall curves, reliability; of labels the first only.

    Parameters
    ----------
    evaluation : Evaluation or CountedEvaluation
        What is drawn.

    Attributes
    ----------
    figure_ : matplotlib figure
        Where it was drawn.
    axes_ : list of matplotlib axes
        The panels.

    Examples
    --------
    >>> probabilities = [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]
    >>> display = EvaluationDisplay.from_predictions(["no", "no", "yes"], probabilities, classes=["no", "yes"])
    >>> len(display.axes_)
    4
    """

    def __init__(self, evaluation: Measured) -> None:
        self.evaluation = evaluation

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, axes: Any = None
    ) -> EvaluationDisplay:
        """Judge a fitted classifier and draw it.

        Parameters
        ----------
        estimator : classifier
            Fitted, on other rows.
        X, y : table, array-like or the name of a column of X
            The rows, and what is true of them.
        sample_weight : array-like, optional
            How much each row counts.
        axes : list of matplotlib axes, optional
            Where to draw: four, or one where there are labels only; by default a figure of its own.
        """
        return cls(evaluate(estimator, X, y, sample_weight=sample_weight)).plot(axes)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, classes: Any = None, sample_weight: Any = None, axes: Any = None
    ) -> EvaluationDisplay:
        """Judge predictions and draw them.

        Parameters
        ----------
        y_true : array-like
            What is true of each row.
        y_pred : array
            Probabilities (rows × classes), or labels.
        classes : list, optional
            The classes of the columns; by default the sorted labels of y_true.
        sample_weight : array-like, optional
            How much each row counts.
        axes : list of matplotlib axes, optional
            Where to draw; by default a figure of its own.
        """
        return cls(evaluate(y_pred, y=y_true, classes=classes, sample_weight=sample_weight)).plot(axes)

    def plot(self, axes: Any = None) -> EvaluationDisplay:
        """Draw the panels.

        Parameters
        ----------
        axes : list of matplotlib axes, optional
            Where to draw: four, or one where there are labels only; by default a figure of its own.
        """
        found = self.evaluation
        names = [drawing.short(label) for label in found.labels]
        panels = 4 if found.probable else 1
        if axes is None:
            given = drawing.grid(panels, len(names) >= _CROWDED)
        else:
            given = list(np.ravel(np.asarray(axes, object)))
            if len(given) != panels:
                raise InputError(f"{panels} axes are needed, one for each panel, got {len(given)}")
        drawing.confusion(found.confusion, names, given[0])
        if found.probable:
            roc, pr, shares = self._curves(names)
            means = [found[name].value if name in found else None for name in ("roc_area_macro", "pr_area_macro")]
            drawing.roc(roc, means[0], given[1])
            drawing.precision_recall(pr, shares, means[1], given[2])
            drawing.reliability(found.drawn_bins(), float(found["ece"]), given[3])
        self.axes_, self.figure_ = given, given[0].figure
        return self

    def _curves(self, names: list[str]) -> tuple[list[drawing.Curve], list[drawing.Curve], list[float]]:
        """ROC and precision-recall curves of each class that has them, and the shares of the latter."""
        found = self.evaluation
        labels, whole = found.labels, float(found.support.sum())
        roc, pr, shares = [], [], []
        for k in judged_classes(len(labels)):
            P = float(found.support[k])
            if P == 0:
                continue
            _, positive, negative = found.steps(k)
            tp, fp = np.append(0.0, np.cumsum(positive)), np.append(0.0, np.cumsum(negative))
            seen = np.unique(np.linspace(0, len(tp) - 1, _POINTS).astype(int))
            tp, fp = tp[seen], fp[seen]
            keys = AREAS if len(labels) <= 2 else tuple((name, labels[k]) for name in AREAS)
            area, precise = (float(found[key]) for key in keys)
            if not math.isnan(area):
                roc.append(drawing.Curve(names[k], fp / fp[-1], tp / P, area))
            precision = tp[1:] / (tp[1:] + fp[1:])
            recall, precision = np.append(0.0, tp[1:] / P), np.append(precision[0], precision)
            pr.append(drawing.Curve(names[k], recall, precision, precise))
            shares.append(P / whole)
        return roc, pr, shares
