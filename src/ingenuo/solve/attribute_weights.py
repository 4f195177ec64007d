"""Weights of attributes, none negative, and a shift of each class: the least log loss of rows that were left out.

    Σ_i u_i (log Σ_k exp s_ik - s_iy) + λ/2 (|w - w°|² + |b|²),        s_ik = log P_i(k) + b_k + Σ_j w_j L_ijk

L_ijk is the log likelihood of attribute j of row i under class k, by the rest of the rows. w° = 1/√d lies between d
attributes that are independent (1) and d copies of one (1/d). The loss is convex, so the minimum is the only one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.threads import single_blas

Floats = NDArray[np.float64]

PENALTIES = (1.0, 3.0, 10.0)
_FOLDS = 5
_ENOUGH = 20_000  # rows: with more, no penalty of these makes a difference, and 1 is taken
_PARTED = 1 << 14  # rows at a time
_STEPS = 60
_ENOUGH_GAINED = 1e-13  # of the loss, in a step: then it is the last
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

    def only(self, attributes: NDArray[np.intp]) -> Problem:
        """Some of the attributes."""
        if len(attributes) == self.shape[2]:
            return self
        found = object.__new__(Problem)
        found.scores = np.ascontiguousarray(self.scores[:, :, attributes])
        found.log_prior, found.codes, found.rows = self.log_prior, self.codes, self.rows
        return found

    def losses(self, weights: Floats, shifts: Floats) -> Floats:
        """The log loss of each row."""
        s = self.scores @ weights + self.log_prior + shifts
        top = s.max(axis=1)
        found = np.log(np.exp(s - top[:, np.newaxis]).sum(axis=1)) + top - s[np.arange(len(s)), self.codes]
        return np.asarray(np.minimum(found, _LEAST))

    def derivatives(self, weights: Floats, shifts: Floats) -> tuple[Floats, Floats]:
        """The first and second derivatives of the loss of all rows, by the weights and then by the shifts."""
        n, K, d = self.shape
        first, second = np.zeros(d + K), np.zeros((d + K, d + K))
        for lo in range(0, n, _PARTED):
            part = slice(lo, min(lo + _PARTED, n))
            scores, u, y = self.scores[part], self.rows[part], self.codes[part]
            s = scores @ weights + self.log_prior[part] + shifts
            p = np.exp(s - s.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            up = p * u[:, np.newaxis]
            means = np.einsum("ik,ikj->ij", p, scores)
            flat = scores.reshape(-1, d)
            second[:d, :d] += flat.T @ (flat * up.reshape(-1, 1)) - means.T @ (means * u[:, np.newaxis])
            across = np.einsum("ik,ikj->jk", up, scores) - means.T @ up
            second[:d, d:] += across
            second[d:, :d] += across.T
            second[d:, d:] += np.diag(up.sum(axis=0)) - p.T @ up
            up[np.arange(len(y)), y] -= u
            first[:d] += flat.T @ up.ravel()
            first[d:] += up.sum(axis=0)
        return first, second


def fit(problem: Problem, penalty: float, shifted: bool, start: Floats | None = None) -> tuple[Floats, Floats]:
    """The weights and shifts of the least penalised loss, by Newton's steps that are cut at 0.

    A weight is held at 0, and out of the step, while the loss would fall only below it (Bertsekas 1982).
    """
    _, K, d = problem.shape
    anchor = np.concatenate([np.full(d, 1 / np.sqrt(d)), np.zeros(K)])
    point = anchor.copy() if start is None else start
    bounded = np.arange(d + K) < d
    frozen = ~bounded & (not shifted)

    def loss(at: Floats) -> float:
        away = at - anchor
        return float(problem.rows @ problem.losses(at[:d], at[d:])) + 0.5 * penalty * float(away @ away)

    value = loss(point)
    for _ in range(_STEPS):
        gradient, bend = problem.derivatives(point[:d], point[d:])
        gradient += penalty * (point - anchor)
        held = frozen | (bounded & (point <= 1e-12) & (gradient > 0))
        free = np.flatnonzero(~held)
        step = np.zeros(d + K)
        bend = bend[np.ix_(free, free)] + penalty * np.eye(len(free))
        step[free] = -np.linalg.solve(bend, gradient[free])
        length = 1.0
        while length > 1e-8:
            reached = point + length * step
            reached[:d] = np.maximum(reached[:d], 0)
            after = loss(reached)
            if after <= value + 1e-4 * float(gradient @ (reached - point)):
                break
            length /= 2
        else:
            break
        gained, point, value = value - after, reached, after
        if gained <= _ENOUGH_GAINED * max(value, 1.0):
            break
    return point[:d], point[d:]


def choose(problem: Problem, sets: Sequence[NDArray[np.intp]], shifted: bool, seed: int) -> Weighted:
    """The weights of the set of attributes, and under the penalty, that do best on rows held out; of the others 0.

    Where there are very many rows, all attributes are weighed: the first set.
    """
    d = problem.shape[2]
    with single_blas():
        if problem.shape[0] <= _ENOUGH:
            tried = [(*_penalty(problem.only(kept), shifted, seed), kept) for kept in sets if len(kept)]
            held_out, penalty, kept = min(tried, key=lambda each: each[0])
        else:
            held_out, penalty, kept = None, 1.0, sets[0]
        part = problem.only(kept)
        own, shifts = fit(part, penalty, shifted)
    loss = float(part.rows @ part.losses(own, shifts) / part.rows.sum())
    weights = np.zeros(d)
    weights[kept] = own
    return Weighted(weights, shifts, penalty, loss, held_out)


def _penalty(problem: Problem, shifted: bool, seed: int) -> tuple[float, float]:
    """The least loss of rows held out, and the penalty that gives it."""
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
    return float(found[best] / problem.rows.sum()), PENALTIES[best]
