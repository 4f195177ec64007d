"""Weights of log-linear pools: how much each of several opinions counts, found on rows that they did not learn.

    P(c | row) ∝ exp(base_c + Σ_f w_f log_fc + b_c),   w ≥ 0

The weights are the minimum of the cross-entropy and of a ridge, a convex function. Newton's method finds it: each
step goes to the minimum, with w ≥ 0, of the parabola at hand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_TEMPERATURES = 0.02, 10.0  # the least and the largest
_SURE = 1e-3  # rows whose class is surer than this bend next to nothing, and steps may be a little off
_CELLS = 1 << 18  # of a piece of the rows, whose products stay in the cache


def fit_weights(
    logs: Floats,
    codes: NDArray[np.integer],
    base: Floats,
    ridge: float,
    towards: Floats,
    sample_weight: Floats | None = None,
    *,
    shifts: bool = True,
) -> tuple[Floats, Floats]:
    """The weights of features and the shifts of classes with the least cross-entropy

        Σ_rows -log P(class | row) + ridge/2 ‖w - towards‖² + ridge/20 ‖b‖²,   w ≥ 0

    Parameters
    ----------
    logs : features × rows × classes
        What each feature says of each class; what it says of all of them alike does not matter.
    codes : rows
        The class of each row.
    base : rows × classes
        What is added whatever the weights.
    ridge : float
        How strongly weights are drawn `towards` others, and shifts to 0; more than 0.
    towards : features
        The weights where the rows speak for none.
    sample_weight : rows, optional
        How often each row counts.
    shifts : bool
        Whether classes have shifts; without them they are 0.

    Examples
    --------
    >>> sure, guess = [[0.0, 2.0], [2.0, 0.0], [0.0, 2.0]], [[0.0, 2.0], [0.0, 2.0], [2.0, 0.0]]
    >>> weights, _ = fit_weights(np.array([sure, guess]), np.array([1, 0, 1]), np.zeros((3, 2)), 0.1, np.full(2, 0.5))
    >>> weights.round(2).tolist()
    [1.85, 0.0]
    """
    n_features, n_classes = len(logs), logs.shape[2]
    pool = _Pool(logs, codes, sample_weight, shifts)
    penalty = np.repeat([ridge, ridge / 10], [n_features, n_classes if shifts else 0])
    centre = np.concatenate([towards, np.zeros(n_classes if shifts else 0)])
    found = np.maximum(centre, 0.0)
    scores = base.T + pool.scores(found)
    loss, shares = pool.loss(scores)
    for _ in range(_STEPS):
        slope = pool.slope(shares) + penalty * (found - centre)
        # Weights that are 0 and would be less stay: most of the curvature need not be known.
        free = np.flatnonzero((found > 0.0) | (slope < 0.0) | (np.arange(len(found)) >= n_features))
        bounded = free[free < n_features]
        bend = pool.bend(shares, bounded) + np.diag(penalty[free])
        step = np.zeros(len(found))
        step[free] = _least(bend, slope[free], found[free], len(bounded))
        gain = -float(slope @ step)
        if gain <= 1e-9 * pool.size:
            break
        # The scores are linear in the weights, so a shorter step needs no pass over the features.
        along, length, before = pool.scores(step), 1.0, loss + _ridge(found - centre, penalty)
        while length > 1e-9:
            loss, shares = pool.loss(scores + length * along)
            if loss + _ridge(found + length * step - centre, penalty) <= before - 1e-4 * length * gain:
                break
            length /= 2
        else:
            break  # no digit is left to be gained
        found, scores = found + length * step, scores + length * along
        found[:n_features] = np.maximum(found[:n_features], 0.0)
    return found[:n_features], found[n_features:] if shifts else np.zeros(n_classes)


def _ridge(off: Floats, penalty: Floats) -> float:
    return float(penalty @ (off * off)) / 2


class _Pool:
    """The cross-entropy and its derivatives; each class is compared with the last, so that there is one less."""

    def __init__(self, logs: Floats, codes: NDArray[np.integer], weights: Floats | None, shifts: bool) -> None:
        n_features, n_rows, n_classes = logs.shape
        self.logs = np.empty((n_features, n_classes - 1, n_rows))
        np.subtract(logs[:, :, :-1], logs[:, :, -1:], out=self.logs.transpose(0, 2, 1))
        self.codes, self.shifts = codes, n_classes if shifts else 0
        self.weights = np.ones(n_rows) if weights is None else np.asarray(weights, np.float64)
        self.size = max(float(self.weights.sum()), 1e-300)

    def scores(self, found: Floats) -> Floats:
        """What weights and shifts add to the score of each class and row."""
        n_features, n_compared, n_rows = self.logs.shape
        result = np.zeros((n_compared + 1, n_rows))
        result[:-1] = (found[:n_features] @ self.logs.reshape(n_features, -1)).reshape(n_compared, n_rows)
        return result + found[n_features:, np.newaxis] if self.shifts else result

    def loss(self, scores: Floats) -> tuple[float, Floats]:
        """The cross-entropy, and the probability of each class."""
        most = scores.max(axis=0)
        shares = np.exp(scores - most)
        total = shares.sum(axis=0)
        each = most + np.log(total) - scores[self.codes, np.arange(len(most))]
        return float(self.weights @ each), shares / total

    def slope(self, shares: Floats) -> Floats:
        """The gradient of the cross-entropy."""
        off = shares * self.weights
        off[self.codes, np.arange(len(self.weights))] -= self.weights
        of_weights = self.logs.reshape(len(self.logs), -1) @ off[:-1].ravel()
        return np.concatenate([of_weights, off.sum(axis=1)]) if self.shifts else of_weights

    def bend(self, shares: Floats, which: NDArray[np.intp]) -> Floats:
        """The curvature in some weights and the shifts: the covariance under each row's probabilities, added up."""
        n_compared, size = self.logs.shape[1], len(which)
        result = np.zeros((size + self.shifts, size + self.shifts))
        piece = max(_CELLS // max(size * n_compared, 1), 1)
        unsure = np.flatnonzero(shares.max(axis=0) < 1 - _SURE)
        logs = self.logs if size == len(self.logs) else self.logs[which]
        for start in range(0, len(unsure), piece):
            rows = unsure[start : start + piece]
            own = shares[:, rows]
            each = logs.take(rows, axis=2)
            counted = own * self.weights[rows]
            if n_compared == 1:  # p (1 - p) at once
                spread = each[:, 0] * np.sqrt(counted[0] * own[1])
                result[:size, :size] += spread @ spread.T
                across = (each[:, 0] * own[1]) @ counted[0]
                across = np.stack([across, -across], axis=1)
            else:
                roots = (each * np.sqrt(counted[:-1])).reshape(size, -1)
                means = np.einsum("fcr,cr->fr", each, own[:-1])
                centres = means * np.sqrt(self.weights[rows])
                result[:size, :size] += roots @ roots.T - centres @ centres.T
                across = -means @ counted.T
                across[:, :-1] += np.einsum("fcr,cr->fc", each, counted[:-1])
            if self.shifts:
                result[:size, size:] += across
                result[size:, :size] += across.T
                result[size:, size:] += np.diag(counted.sum(axis=1)) - own @ counted.T
        return result


def _least(bend: Floats, slope: Floats, found: Floats, n_bounded: int) -> Floats:
    """The step to the minimum of slope·d + ½ d·bend·d where the first variables stay ≥ 0.

    The variables that are held at 0 and those that are free change places, all at once that should, until none should;
    if that does not bring down their number, only the last one does, which always ends.
    """
    held = np.zeros(len(found), bool)
    held[:n_bounded] = (found[:n_bounded] <= 0.0) & (slope[:n_bounded] > 0.0)
    step = np.empty(len(found))
    least, patience = len(found) + 1, 3
    for _ in range(10 * len(found) + 10):
        step[held] = -found[held]
        free = ~held
        step[free] = np.linalg.solve(bend[np.ix_(free, free)], -(slope[free] + bend[np.ix_(free, held)] @ step[held]))
        pull = slope + bend @ step
        wrong = np.where(held, pull < 0.0, found + step < 0.0)
        wrong[n_bounded:] = False
        count = int(wrong.sum())
        if count == 0:
            break
        if count < least:
            least, patience = count, 3
        elif patience:
            patience -= 1
        else:
            last = int(np.flatnonzero(wrong)[-1])
            wrong[:] = False
            wrong[last] = True
        held ^= wrong
    step[:n_bounded] = np.maximum(step[:n_bounded], -found[:n_bounded])
    return step


def fit_temperature(scores: Floats, base: Floats, codes: NDArray[Any], weights: Floats | None) -> tuple[float, float]:
    """The t of the least mean log loss of softmax(base + t · scores), and that loss: Newton's method.

    >>> ones, none = np.tile([0.0, 3.0], (3, 1)), np.zeros((3, 2))
    >>> temperature, loss = fit_temperature(ones, none, np.array([1, 1, 0]), None)
    >>> round(temperature, 4), round(loss, 4)
    (0.231, 0.6365)
    """
    own, base = (np.ascontiguousarray(each.T) for each in (scores, base))  # sums over classes run along the rows
    own = own - own.mean(axis=0)
    share = np.full(len(codes), 1 / len(codes)) if weights is None else weights / weights.sum()
    rows = np.arange(len(codes))
    right = own[codes, rows]
    temperature, loss = 0.5, math.inf
    for _ in range(20):
        joint = base + temperature * own
        largest = joint.max(axis=0)
        powers = np.exp(joint - largest)
        total = powers.sum(axis=0)
        loss = float(share @ (np.log(total) + largest - joint[codes, rows]))
        powers *= own
        mean = powers.sum(axis=0) / total
        powers *= own
        slope = float(share @ (mean - right))
        bend = float(share @ (powers.sum(axis=0) / total - mean * mean))
        step = np.clip(temperature - slope / max(bend, 1e-12), temperature / 4, temperature * 4).clip(*_TEMPERATURES)
        if abs(step - temperature) < 1e-3 * temperature:
            break
        temperature = float(step)
    return temperature, loss
