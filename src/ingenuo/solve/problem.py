"""What is minimised, and what a solver returns.

    F(w, b) = Σ_i weight_i · cross-entropy(y_i, logits_i) + l2/2 ‖w‖²        (intercepts b are not penalised)

F is strongly convex in w, so the gradient bounds how far a point is from the minimum: F - F* ≤ ‖∂F/∂w‖² / (2 l2). That
is what the solvers go by: they stop when the bound is below `tolerance` times F.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import softmax

Floats = NDArray[np.float64]

# A loss of less than this a row is none: without a penalty the weights of classes that do not overlap grow for ever.
SEPARATED = 1e-9

# Called after every iteration with its number, F and the bound on F - F*.
Report = Callable[[int, float, float], None]


@dataclass(frozen=True)
class Problem:
    """The labels, their weights, the penalty, and when it is enough."""

    labels: NDArray[np.int32]
    weights: Floats  # none are ones
    l2: float
    tolerance: float
    iterations: int
    report: Report | None = None

    @property
    def size(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum()) if len(self.weights) else float(len(self.labels))

    def residuals(self, logits: Floats) -> tuple[float, Floats]:
        """The loss, and its gradient in the logits."""
        out = np.empty_like(logits)
        return softmax.residuals(logits, self.labels, self.weights, out), out

    def settled(self, logits: Floats) -> Floats:
        """What to add to the intercepts so that they are the best for their weights."""
        shift = np.zeros(logits.shape[1])
        for _ in range(20):
            _, residuals = self.residuals(logits + shift)
            slope, bend = residuals.sum(axis=0), of_intercepts(shares(logits + shift), self.weights)
            step = -np.linalg.pinv(bend, rcond=1e-12, hermitian=True) @ slope
            if not np.isfinite(step).all():
                break
            step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))  # no leap where there is no curvature
            shift += step
            if float(np.abs(slope).max()) <= 1e-12 * len(logits):
                break
        return shift

    def excess(self, square: float) -> float:
        """The bound on F - F* from the square of the gradient in w, where intercepts are the best for their weights.

        What is left of F when the intercepts follow the weights is strongly convex in them, and has that gradient.
        """
        return square / (2 * self.l2) if self.l2 > 0 else np.inf

    def best(self, logits: Floats, directions: Floats, penalty: tuple[float, Floats, Floats]) -> tuple[Floats, float]:
        """How far to go in each of a few directions (directions × rows × logits) to the least F, and that.

        `penalty` is (c, d, E) with l2/2 ‖w‖² = c + d·t + t·E t/2 at lengths t. Logits are linear in the weights, so no
        data is looked at: Newton's steps in a few dimensions, halved until they gain.
        """
        level, slopes, bends = penalty
        lengths, first = np.zeros(len(directions)), 0.0

        def at(where: Floats) -> tuple[float, Floats, Floats]:
            loss, slope, bend = softmax.within(logits, directions, where, self.labels, self.weights)
            total = loss + level + float(slopes @ where) + float(where @ bends @ where) / 2
            return total, slope + slopes + bends @ where, bend + bends

        total, slope, bend = at(lengths)
        for _ in range(30):
            step = -_solved(bend, slope)
            promised = -float(slope @ step)
            first = first or promised
            if not promised > 1e-3 * first or promised <= 1e-15 * abs(total):
                break
            share = 1.0
            for _ in range(60):
                reached, slope_there, bend_there = at(lengths + share * step)
                if reached <= total - 1e-4 * share * promised:
                    break
                share /= 2
            else:
                break
            lengths, total, slope, bend = lengths + share * step, reached, slope_there, bend_there
        return lengths, total


def shares(logits: Floats) -> Floats:
    """The probabilities that belong to the logits; of one logit, that of the second class."""
    if logits.shape[1] == 1:
        return np.asarray(0.5 * (1 + np.tanh(logits / 2)))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def of_intercepts(p: Floats, weights: Floats) -> Floats:
    """1ᵀH1: the curvature of the loss in the intercepts, at these probabilities."""
    w = weights[:, np.newaxis] if len(weights) else 1.0
    if p.shape[1] == 1:
        return np.array([[float((w * p * (1 - p)).sum())]])
    weighted = w * p
    return np.asarray(np.diag(weighted.sum(axis=0)) - weighted.T @ p)


def _solved(matrix: Floats, right: Floats) -> Floats:
    """The least solution of a small symmetric system, whatever the lengths of its directions; they may depend."""
    size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    kept = values > 1e-13 * max(float(values[-1]), 1e-300)
    inside = vectors[:, kept].T @ (right / size)
    return np.asarray(vectors[:, kept] @ (inside / values[kept]) / size)


@dataclass(frozen=True)
class Solution:
    """Weights (features × logits), intercepts, and how they were found."""

    weights: Floats
    intercepts: Floats
    loss: float  # F
    excess: float  # a bound on F - F*; without a penalty an estimate, or infinite
    iterations: int
    converged: bool
