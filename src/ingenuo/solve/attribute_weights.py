"""Weights of attributes, none negative, and a shift of each class: the least log loss of rows that were left out.

    Σ_i u_i (log Σ_k exp s_ik - s_iy) + λ/2 (|w - w°|² + |b|²),        s_ik = log P_i(k) + b_k + Σ_j w_j L_ijk

L_ijk is the log likelihood of attribute j of row i under class k, by the rest of the rows. w° = 1/√d lies between d
attributes that are independent (1) and d copies of one (1/d). The loss is convex, so the minimum is the only one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ingenuo.kernels.threads import single_blas

Floats = NDArray[np.float64]

PENALTIES = (1.0, 3.0, 10.0)
_FOLDS = 5
_ENOUGH = 20_000  # rows: with more, no penalty of these makes a difference, and 1 is taken
_PARTED = 1 << 16  # rows at a time
_LEAST = 700.0  # nats below the best class: farther away counts as this


@dataclass(frozen=True)
class Weighted:
    """The weights, the shifts, and what they were chosen by."""

    weights: Floats  # (attributes,)
    shifts: Floats  # (classes,)
    penalty: float
    loss: float  # mean log loss of the rows they were fitted to
    held_out: float | None  # and of rows that they were not fitted to, over folds; None where there were too many rows


class Problem:
    """Scores of rows by attributes: rows × classes × attributes."""

    def __init__(self, scores: Floats, log_prior: Floats, codes: NDArray[Any], rows: Floats) -> None:
        top = scores.max(axis=1, keepdims=True)
        self.scores = np.maximum(scores, top - _LEAST, out=scores)
        self.scores -= self.scores.mean(axis=1, keepdims=True)  # what all classes have in common changes nothing
        self.log_prior, self.codes, self.rows = log_prior, codes, rows

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, classes and attributes."""
        n, K, d = self.scores.shape
        return n, K, d

    def take(self, rows: NDArray[Any]) -> Problem:
        """Some of the rows."""
        found = object.__new__(Problem)
        found.scores, found.log_prior = self.scores[rows], self.log_prior[rows]
        found.codes, found.rows = self.codes[rows], self.rows[rows]
        return found

    def losses(self, weights: Floats, shifts: Floats) -> Floats:
        """The log loss of each row."""
        s = self.scores @ weights + self.log_prior + shifts
        top = s.max(axis=1)
        found = np.log(np.exp(s - top[:, np.newaxis]).sum(axis=1)) + top - s[np.arange(len(s)), self.codes]
        return np.asarray(np.minimum(found, _LEAST))

    def total(self, weights: Floats, shifts: Floats) -> tuple[float, Floats, Floats]:
        """The loss of all rows, and its derivatives by the weights and by the shifts."""
        n, K, d = self.shape
        loss, by_weight, by_shift = 0.0, np.zeros(d), np.zeros(K)
        for lo in range(0, n, _PARTED):
            part = slice(lo, min(lo + _PARTED, n))
            scores, u, y = self.scores[part], self.rows[part], self.codes[part]
            s = scores @ weights + self.log_prior[part] + shifts
            top = s.max(axis=1, keepdims=True)
            p = np.exp(s - top)
            below = p.sum(axis=1, keepdims=True)
            at = np.arange(len(y)), y
            loss += float(u @ ((np.log(below) + top)[:, 0] - s[at]))
            p /= below
            p[at] -= 1
            p *= u[:, np.newaxis]
            by_weight += scores.reshape(-1, d).T @ p.ravel()
            by_shift += p.sum(axis=0)
        return loss, by_weight, by_shift


def fit(problem: Problem, penalty: float, shifted: bool, start: Floats | None = None) -> tuple[Floats, Floats]:
    """The weights and shifts of the least penalised loss."""
    _, K, d = problem.shape
    anchor = np.full(d, 1 / np.sqrt(d))
    # In units of their own spread the attributes are about alike, which is what the search likes best.
    scale = np.sqrt(np.maximum((problem.scores**2).mean(axis=(0, 1)), 1e-6))

    def loss(point: Floats) -> tuple[float, Floats]:
        w, b = point[:d] / scale, point[d:]
        value, by_w, by_b = problem.total(w, b)
        away = w - anchor
        value += 0.5 * penalty * (float(away @ away) + float(b @ b))
        by_b = by_b + penalty * b if shifted else np.zeros(K)
        return value, np.concatenate([(by_w + penalty * away) / scale, by_b])

    begin = np.concatenate([anchor, np.zeros(K)]) if start is None else start
    point = begin * np.concatenate([scale, np.ones(K)])
    bounds = [(0, None)] * d + [(None, None)] * K
    found = minimize(loss, point, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500, "ftol": 1e-10})
    weights = found.x[:d] / scale
    return np.where(weights < 1e-6, 0.0, weights), found.x[d:]


def choose(problem: Problem, shifted: bool, seed: int) -> Weighted:
    """The weights under the penalty that does best on rows held out."""
    with single_blas():
        penalty, held_out = _penalty(problem, shifted, seed) if problem.shape[0] <= _ENOUGH else (1.0, None)
        weights, shifts = fit(problem, penalty, shifted)
    loss = float(problem.rows @ problem.losses(weights, shifts) / problem.rows.sum())
    return Weighted(weights, shifts, penalty, loss, held_out)


def _penalty(problem: Problem, shifted: bool, seed: int) -> tuple[float, float]:
    """The penalty with the least loss of rows held out, and that loss."""
    n = problem.shape[0]
    fold = np.random.default_rng(seed).permutation(n) % _FOLDS
    found = np.zeros(len(PENALTIES))
    for f in range(_FOLDS):
        learned, held = problem.take(np.flatnonzero(fold != f)), problem.take(np.flatnonzero(fold == f))
        start = None
        for at in reversed(range(len(PENALTIES))):
            weights, shifts = fit(learned, PENALTIES[at], shifted, start)
            start = np.concatenate([weights, shifts])
            found[at] += float(held.rows @ held.losses(weights, shifts))
    best = int(found.argmin())
    return PENALTIES[best], float(found[best] / problem.rows.sum())
