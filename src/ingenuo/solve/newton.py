"""Newton's method on a dense table that is small across: few iterations, and the scale of the columns cannot matter.

The curvature of F in the weights of logits k and l is Σ_i weight_i p_ik ([k = l] - p_il) x_i x_iᵀ, plus l2 on the
diagonal.
"""

from __future__ import annotations

import numpy as np

from ingenuo.solve.dense import Dense
from ingenuo.solve.problem import SEPARATED, Floats, Problem, shares


def minimise(
    table: Dense, problem: Problem, weights: Floats, intercepts: Floats
) -> tuple[Floats, Floats, float, float, int, bool]:
    """From weights (columns × logits) and intercepts to the minimum: both there, F, the excess, iterations, arrival."""
    l2 = problem.l2
    if weights.shape[1] > 1:  # what the weights of all classes have in common says nothing, and costs
        weights = weights - weights.mean(axis=1, keepdims=True)
    logits = table.times(weights) + intercepts
    iteration, flat = 0, 0
    loss, residuals = problem.residuals(logits)
    total = loss + l2 / 2 * float(np.vdot(weights, weights))
    while True:
        slope, bend = _derivatives(table, problem, residuals, logits)
        slope[:-1] += l2 * weights
        step = _solved(bend, slope, l2)
        # Half of what the quadratic promises: near the minimum, where alone it is believed, that is what is left.
        left = 0.5 * float(np.vdot(slope, -step))
        if problem.report is not None:
            problem.report(iteration, total, left)
        arrived = 0 <= left <= 0.01 * problem.tolerance * total or flat >= 2
        stuck = iteration >= problem.iterations or not np.isfinite(left) or total <= SEPARATED * problem.size
        if arrived or stuck:
            shift = problem.settled(logits)
            loss, residuals = problem.residuals(logits + shift)
            gradient = table.gathered(residuals) + l2 * weights
            excess = problem.excess(float(np.vdot(gradient, gradient)))
            total = loss + l2 / 2 * float(np.vdot(weights, weights))
            return weights, intercepts + shift, total, min(excess, 2 * left) if arrived else excess, iteration, arrived
        steps = table.times(step[:-1]) + step[-1]
        penalty = (
            l2 / 2 * float(np.vdot(weights, weights)),
            l2 * np.array([float(np.vdot(weights, step[:-1]))]),
            l2 * np.array([[float(np.vdot(step[:-1], step[:-1]))]]),
        )
        (length,), reached = problem.best(logits, steps[np.newaxis], penalty)
        flat = flat + 1 if total - reached <= 1e-13 * abs(total) else 0
        weights, intercepts = weights + length * step[:-1], intercepts + length * step[-1]
        logits, total = logits + length * steps, reached
        _, residuals = problem.residuals(logits)
        iteration += 1


def _derivatives(table: Dense, problem: Problem, residuals: Floats, logits: Floats) -> tuple[Floats, Floats]:
    """The gradient (columns + 1, logits) and the curvature (logits, columns + 1, logits, columns + 1) of the loss."""
    d, width = table.n_columns + 1, residuals.shape[1]
    size = width * d

    def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
        rows = np.empty((hi - lo, d))
        rows[:, :-1], rows[:, -1] = block, 1.0
        slope, bend = out[0].reshape(width, d), out[1:].reshape(width, d, width, d)
        slope += residuals[lo:hi].T @ rows
        p = shares(logits[lo:hi])
        weight = problem.weights[lo:hi, np.newaxis] if len(problem.weights) else 1.0
        if width == 1:
            bend[0, :, 0] += rows.T @ (rows * (weight * p * (1 - p)))
            return
        # Few large products instead of one small one for each pair of logits.
        for k in range(width):
            bend[k, :, k] += rows.T @ (rows * (weight * p[:, k : k + 1]))
        mixed = (np.sqrt(weight) * p)[:, :, np.newaxis] * rows[:, np.newaxis, :]
        mixed = mixed.reshape(hi - lo, size)
        bend -= (mixed.T @ mixed).reshape(bend.shape)

    found = table.over(work, (1 + size, size), width)
    return found[0].reshape(width, d).T.copy(), found[1:].reshape(width, d, width, d)


def _solved(bend: Floats, slope: Floats, l2: float) -> Floats:
    """-curvature⁻¹ gradient.

    A number added to the weights of a column for all the classes changes no probability, so in that direction there is
    no curvature but l2; the weights are centred, so the gradient is zero there, and any curvature will do.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    d, width = slope.shape
    matrix = bend.copy()
    diagonal = np.einsum("kiki->ki", matrix)
    diagonal[:, :-1] += l2
    if width > 1:
        own = diagonal.mean(axis=0)
        for j in range(d):
            matrix[:, j, :, j] += own[j]
    flat, right = matrix.reshape(width * d, width * d), -slope.T.ravel()
    size = np.sqrt(np.maximum(np.diag(flat), 1e-300))
    even = flat / np.outer(size, size)
    for ridge in (0.0, 1e-12, 1e-9, 1e-6):
        try:
            factor = cho_factor(even + ridge * np.eye(len(even)), lower=True, check_finite=False)
        except LinAlgError:
            continue
        found = cho_solve(factor, right / size, check_finite=False) / size
        if np.isfinite(found).all():
            return np.asarray(found.reshape(width, d).T)
    return -slope
