"""The penalised cross-entropy of linear models, and its solvers for dense and sparse tables.

The curvature of F in the weights of logits k and l is Σ_i weight_i p_ik ([k = l] - p_il) x_i x_iᵀ, plus l2 on the
diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import softmax, threads
from ingenuo.kernels.columns import Columns
from ingenuo.kernels.moments import Rows

# What is minimised, and what a solver returns.


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
            step = -_solved_problem(bend, slope)
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


def _solved_problem(matrix: Floats, right: Floats) -> Floats:
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


# The curvature of the loss in the logits, row by row, as a square: H_i = B_i B_iᵀ, B_i = √(w_i p_i) (I − √p_i √p_iᵀ).


class Curvature:
    """B, and the projection that leaves the intercepts out; probabilities below `least` count as that."""

    def __init__(self, logits: Floats, weights: Floats, least: float) -> None:
        w = weights[:, np.newaxis] if len(weights) else 1.0
        self.single = logits.shape[1] == 1
        if self.single:
            p = np.maximum(0.5 * (1 - np.tanh(np.abs(logits) / 2)), least)  # of the less probable class
            self.root = np.sqrt(w * p * (1 - p))
        else:
            p = np.maximum(shares(logits), least)
            p /= p.sum(axis=1, keepdims=True)
            self.q = np.sqrt(p)
            self.scale = np.sqrt(w) * np.ones((len(p), 1))
            self.root = self.q * self.scale
        self.of_intercepts = np.linalg.pinv(of_intercepts(p, weights), rcond=1e-10, hermitian=True)  # (1ᵀH1)⁻¹
        with np.errstate(divide="ignore"):
            self.inverse = np.where(self.root > 0, 1 / self.root, 0.0)  # B⁻¹ of what sums to 0 over a row's logits

    def forth(self, v: Floats) -> Floats:
        """B v."""
        if self.single:
            return np.asarray(self.root * v)
        return np.asarray(self.root * (v - self.q * np.einsum("ik,ik->i", self.q, v)[:, np.newaxis]))

    def back(self, z: Floats) -> Floats:
        """Bᵀ z."""
        found = self.root * z
        if self.single:
            return np.asarray(found)
        return np.asarray(found - self.q * np.einsum("ik,ik->i", self.q, found)[:, np.newaxis])

    def without_intercepts(self, v: Floats) -> Floats:
        """(I − Q) v."""
        common = self.of_intercepts @ self.forth(v).sum(axis=0)
        return v - self.back(np.broadcast_to(common, v.shape))

    def diagonal(self, of_gram: Floats) -> Floats:
        """The diagonal of Bᵀ K B, from that of K."""
        if self.single:
            return np.asarray(self.root**2 * of_gram)
        # Entry l of column k of B_i is √(w p_l) ([k = l] − √(p_k p_l)).
        p = self.q * self.q
        mean = np.einsum("ik,ik->i", p * p, of_gram)[:, np.newaxis]
        return np.asarray(self.scale**2 * (p * of_gram * (1 - 2 * p) + p * mean))

    def of_rows(self) -> Floats:
        """The diagonal of H."""
        if self.single:
            return np.asarray(self.root**2)
        p = self.q * self.q
        return np.asarray(self.scale**2 * p * (1 - p))


# A dense table of numbers as the solvers see it: centred, missing values at the mean, a block of rows at a time.


_CELLS = 1 << 18  # of a block: 2 MiB


class Dense:
    """Rows of numbers minus their means; the intercepts take up what that changes.

    Blocks go to our own threads, and BLAS is expected to work in the one that calls it (`threads.single_blas`): its own
    threads wait for one another at every small product, which on a busy machine takes many times the product.
    """

    def __init__(self, rows: Rows, means: Floats) -> None:
        self.table, self.means = rows, means
        self.n_rows, self.n_columns = rows.shape

    def over(self, work: Callable[[int, int, Floats, Floats], None], shape: tuple[int, ...], wide: int = 1) -> Floats:
        """The sum of what work(first, last, block, out) adds to arrays of this shape, one for each thread.

        The wider what it makes of a block, the fewer rows a block should have.
        """
        step = max(256, _CELLS // max(self.n_columns * wide, 1))

        def part(lo: int, hi: int) -> Floats:
            out = np.zeros(shape)
            for first in range(lo, hi, step):
                last = min(first + step, hi)
                block = self.table.rows(first, last) - self.means
                np.copyto(block, 0.0, where=np.isnan(block))
                work(first, last, block, out)
            return out

        total, *others = threads.run(
            [partial(part, lo, hi) for lo, hi in threads.split(self.n_rows, threads.width(), 1 << 10)]
        )
        for other in others:
            total += other
        return total

    def times(self, V: Floats) -> Floats:
        """X V."""
        result = np.empty((self.n_rows, V.shape[1]))

        def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
            np.matmul(block, V, out=result[lo:hi])

        self.over(work, (0,))
        return result

    def gathered(self, G: Floats) -> Floats:
        """Xᵀ G."""

        def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
            out += block.T @ G[lo:hi]

        return self.over(work, (self.n_columns, G.shape[1]))

    def squares_gathered(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""

        def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
            out += (block * block).T @ G[lo:hi]

        return self.over(work, (self.n_columns, G.shape[1]))

    def gram(self, G: Floats, squares: Floats) -> Floats:
        """X S Xᵀ G with S diagonal for each vector of G: squares (columns × vectors); none are ones."""
        V = self.gathered(G)
        return self.times(V * squares if len(squares) else V)

    def squared_times(self, squares: Floats, width: int) -> Floats:
        """The diagonal of X S Xᵀ for each of `width` vectors: X² S."""
        result = np.empty((self.n_rows, width))

        def work(lo: int, hi: int, block: Floats, out: Floats) -> None:
            result[lo:hi] = (block * block) @ squares if len(squares) else (block * block).sum(axis=1, keepdims=True)

        self.over(work, (0,))
        return result


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


# Two ways to store weights of a sparse problem: over its features, or over its rows.


@dataclass(frozen=True)
class Design:
    """A sparse table of features, the weights of the twin, and the stretch of each feature (None: 1)."""

    columns: Columns | Dense
    start: Floats  # (features, logits): V₀
    stretch: Floats | None  # (features, logits): S

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, features and logits."""
        return self.columns.n_rows, *self.start.shape  # type: ignore[return-value]

    def square_of_start(self) -> float:
        """‖V₀ / S‖²."""
        if self.stretch is self.start:
            return float(np.count_nonzero(self.start))
        if self.stretch is None:
            return float(np.vdot(self.start, self.start))
        W = np.divide(self.start, self.stretch, out=np.zeros_like(self.start), where=self.stretch != 0)
        return float(np.vdot(W, W))


class OverRows:
    """Vectors are [A, logits without intercepts, c, b]."""

    def __init__(self, design: Design, l2: float) -> None:
        self.design, self.l2 = design, l2
        n, _, self.width = design.shape
        self.size = n * self.width
        self.of_start = design.columns.times(design.start)
        self.square = design.square_of_start()
        self.table: Columns | Dense = design.columns
        self.alone = np.zeros((1, 1))
        S = design.stretch
        if isinstance(self.table, Columns):
            # A feature of one row only (two thirds of all pairs of words) is that row's own: its part of X S² Xᵀ lies
            # on the diagonal, and is summed up once for all.
            several = np.diff(self.table.starts) > 1
            alone = self.table.only(np.flatnonzero(~several))
            self.alone = alone.squared_times(self._squared(S, ~several), self.width)
            # In the order of the rows they are in, features that follow each other touch the same few rows.
            order = self.table.by_place(np.flatnonzero(several))
            self.table = self.table.only(order)
            self.squares = self._squared(S, order)
        else:
            self.squares = self._squared(S, slice(None))
        self.diagonal = self.table.squared_times(self.squares, self.width) + self.alone
        self.of_ones = self.gram(np.ones((n, self.width)))
        # Smaller probabilities add nothing to l2; what is divided by them is kept from growing for nothing.
        self.least = float(np.clip(0.01 * l2 / max(float(self.diagonal.max(initial=0)), 1e-300), 1e-12, 1e-4))

    def _squared(self, S: Floats | None, which: Any) -> Floats:
        if S is None:
            return np.zeros((0, self.width))
        chosen = S[which]
        return np.asarray(chosen * chosen)

    def vector(self, A: Floats, Z: Floats, c: float, b: Floats) -> Floats:
        """From its parts."""
        return np.concatenate([A.ravel(), Z.ravel(), [c], b])

    def parts(self, vector: Floats) -> tuple[Floats, Floats, float, Floats]:
        """A, the logits without intercepts, c and b."""
        n, shape = self.size, (-1, self.width)
        return vector[:n].reshape(shape), vector[n : 2 * n].reshape(shape), float(vector[2 * n]), vector[2 * n + 1 :]

    def point(self, share: float, intercepts: Floats) -> Floats:
        """The vector of a multiple of the twin's weights."""
        return self.vector(np.zeros(self.size), share * self.of_start, share, intercepts)

    def logits(self, vector: Floats) -> Floats:
        """As they were stored."""
        _, Z, _, b = self.parts(vector)
        return Z + b

    def gram(self, R: Floats) -> Floats:
        """X S² Xᵀ R: the one pass over the data."""
        return np.asarray(self.table.gram(R, self.squares) + self.alone * R)

    def directions(
        self, problem: Problem, vector: Floats, logits: Floats, residuals: Floats, *, passes: int, check: bool,
        enough: float,
    ) -> tuple[list[Floats], float, int]:  # fmt: skip
        """Newton's step, as far as so many passes find it; with check, the gradient too, which bounds F - F*.

        The step (a, d, −c) solves l2 a + H̃ K a = −(R + l2 A) + H1 (1ᵀH1)⁻¹ 1ᵀR + c H̃ X V₀ with K = X S² Xᵀ. With
        a = B v that is (l2 + Bᵀ K B) v = B⁻¹ (right-hand side), for conjugate gradients. Documents have few words in
        common, so the diagonal is most of K: divided by it, one pass is often enough.
        """
        A, Z, c, _ = self.parts(vector)
        R, l2, excess, gradient = residuals, self.l2, np.inf, []
        if check:
            upwards = self.vector(R + l2 * A, self.gram(R) + l2 * Z, l2 * c, R.sum(axis=0))
            excess = problem.excess(float(self.products(upwards[np.newaxis])[0, 0]))
            if excess <= enough or passes == 0:
                return [], excess, 1
            gradient = [-upwards]
        bend = Curvature(logits, problem.weights, self.least)
        of_intercepts = bend.of_intercepts @ R.sum(axis=0)
        right = bend.inverse * -(R + l2 * A) + bend.back(np.broadcast_to(of_intercepts, R.shape) + c * self.of_start)
        v, image, used = self._solved(bend, bend.without_intercepts(right), passes)
        # At the minimum 1ᵀA = 0. Steps keep it, but for rounding, which the projection would never see again.
        drift = -A.mean(axis=0)
        image = image - c * self.of_start + drift * self.of_ones
        shift = -bend.of_intercepts @ (bend.forth(bend.back(image)).sum(axis=0) + R.sum(axis=0))
        nothing = np.zeros_like(A)
        found = [
            self.vector(bend.forth(v) + drift, image, -c, shift),
            self.vector(nothing, nothing, 0.0, -of_intercepts),
        ]
        if c != 0:
            found.append(self.vector(nothing, self.of_start, 1.0, np.zeros(self.width)))
        return [*found, *gradient], excess, used + int(check)

    def _solved(self, bend: Curvature, right: Floats, passes: int) -> tuple[Floats, Floats, int]:
        """v with (l2 + Bᵀ K B) v = right, roughly, K B v, and the passes that took."""
        even = 1 / (self.l2 + bend.diagonal(self.diagonal))
        v, image, rest = np.zeros_like(right), np.zeros_like(right), right
        step = towards = bend.without_intercepts(even * rest)
        first = size = float(np.vdot(rest, towards))
        used = 0
        while used < passes and size > 1e-4 * first:
            of_step = self.gram(bend.forth(step))
            used += 1
            product = self.l2 * step + bend.without_intercepts(bend.back(of_step))
            curve = float(np.vdot(step, product))
            if not curve > 0:
                break
            length = size / curve
            v, image, rest = v + length * step, image + length * of_step, rest - length * product
            towards = bend.without_intercepts(even * rest)
            before, size = size, float(np.vdot(rest, towards))
            step = towards + (size / before) * step
        return v, image, used

    def products(self, ways: Floats) -> Floats:
        """⟨W, W'⟩ of every two."""
        n = self.size
        A, Z, c = ways[:, :n], ways[:, n : 2 * n], ways[:, 2 * n]
        found = A @ Z.T + np.outer(c, c * self.square + A @ self.of_start.ravel())
        return np.asarray((found + found.T) / 2)

    def stacked(self, ways: Floats) -> Floats:
        """The logits of each."""
        n = self.size
        Z = ways[:, n : 2 * n].reshape(len(ways), -1, self.width)
        return np.asarray(Z + ways[:, np.newaxis, 2 * n + 1 :])

    def weights(self, vector: Floats) -> tuple[Floats, Floats]:
        """V and b."""
        A, _, c, b = self.parts(vector)
        V = self.design.columns.gathered(A)
        if self.design.stretch is not None:
            V *= self.design.stretch
            V *= self.design.stretch
        if c != 0:
            V += c * self.design.start
        return V, b


class OverFeatures:
    """Vectors are [V, logits without intercepts, b]."""

    def __init__(self, design: Design, l2: float) -> None:
        self.design, self.l2 = design, l2
        n, features, self.width = design.shape
        self.cells, self.size = features * self.width, n * self.width
        S = design.stretch
        self.inverse = None if S is None else np.divide(1.0, S, out=np.zeros_like(S), where=S != 0)  # W = V / S
        self.of_start = design.columns.times(design.start)

    def vector(self, V: Floats, Z: Floats, b: Floats) -> Floats:
        """From its parts."""
        return np.concatenate([V.ravel(), Z.ravel(), b])

    def parts(self, vector: Floats) -> tuple[Floats, Floats, Floats]:
        """V, the logits without intercepts, and b."""
        n, m, shape = self.cells, self.cells + self.size, (-1, self.width)
        return vector[:n].reshape(shape), vector[n:m].reshape(shape), vector[m:]

    def point(self, share: float, intercepts: Floats) -> Floats:
        """The vector of a multiple of the twin's weights."""
        return self.vector(share * self.design.start, share * self.of_start, intercepts)

    def logits(self, vector: Floats) -> Floats:
        """As they were stored."""
        _, Z, b = self.parts(vector)
        return Z + b

    def products(self, ways: Floats) -> Floats:
        """⟨W, W'⟩ of every two."""
        W = ways[:, : self.cells] if self.inverse is None else ways[:, : self.cells] * self.inverse.ravel()
        return np.asarray(W @ W.T)

    def stacked(self, ways: Floats) -> Floats:
        """The logits of each."""
        Z = ways[:, self.cells : -self.width].reshape(len(ways), -1, self.width)
        return np.asarray(Z + ways[:, np.newaxis, -self.width :])

    def directions(
        self, problem: Problem, vector: Floats, logits: Floats, residuals: Floats, *, passes: int, check: bool,
        enough: float,
    ) -> tuple[list[Floats], float, int]:  # fmt: skip
        """What Newton's step would be if the curvature were its diagonal; the bound on F - F* costs nothing here."""
        R, S = residuals, self.design.stretch
        V, _, _ = self.parts(vector)
        W = V if self.inverse is None else V * self.inverse
        slope = self.design.columns.gathered(R)
        if S is not None:
            slope *= S
        slope += self.l2 * W
        excess = problem.excess(float(np.vdot(slope, slope)))
        if (check and excess <= enough) or passes == 0:
            return [], excess, 1
        bend = Curvature(logits, problem.weights, 1e-12)
        of_intercepts = bend.of_intercepts @ R.sum(axis=0)
        curve = self.design.columns.squares_gathered(bend.of_rows())
        if S is not None:
            curve *= S * S
        step = -slope / np.maximum(self.l2 + curve, 1e-300)
        step[curve + self.l2 == 0] = 0.0
        if S is not None:
            step *= S
        image = self.design.columns.times(step)
        shift = -bend.of_intercepts @ (bend.forth(bend.back(image)).sum(axis=0) + R.sum(axis=0))
        nothing = self.vector(np.zeros_like(V), np.zeros_like(R), -of_intercepts)
        return [self.vector(step, image, shift), nothing], excess, 1

    def weights(self, vector: Floats) -> tuple[Floats, Floats]:
        """V and b."""
        V, _, b = self.parts(vector)
        return V, b


def along_twin(space: OverRows | OverFeatures, problem: Problem, intercepts: Floats, shift: Floats) -> Floats:
    """The best point on the line from no weights at all to those of the twin, and beyond."""
    nothing = space.point(0.0, intercepts)
    way = space.point(1.0, intercepts + shift) - nothing
    bends = problem.l2 * space.products(way[np.newaxis])
    (length,), _ = problem.best(space.logits(nothing), space.stacked(way[np.newaxis]), (0.0, np.zeros(1), bends))
    return nothing + max(float(length), 0.0) * way


# Descent in a small space at a time: the new direction together with the steps taken before.


class Space(Protocol):
    """Weights and intercepts as vectors that know their logits."""

    def logits(self, vector: Floats) -> Floats:
        """The logits of a vector, as they were stored."""
        ...

    def products(self, ways: Floats) -> Floats:
        """The inner products of the weights of vectors (one a line), as the penalty measures them."""
        ...

    def stacked(self, ways: Floats) -> Floats:
        """The logits of vectors, one after the other."""
        ...

    def directions(
        self, problem: Problem, vector: Floats, logits: Floats, residuals: Floats, *, passes: int, check: bool,
        enough: float,
    ) -> tuple[list[Floats], float, int]:  # fmt: skip
        """Ways down from a vector, for about so many passes over the data; a bound on F - F*, and the passes.

        The bound is infinite unless it costs nothing or is asked for, and holds where the intercepts are the best. If
        it is as small as what is enough, or no passes are allowed, the ways may be left out.
        """
        ...


_SUBSPACE_CELLS = 1 << 24  # of all that is remembered
_STEPS = 6  # that are remembered, where there is room
_WAYS = 4  # that a space gives, at most
_LONG = 40  # passes after which a step is found in earnest
_EARNEST = 30  # passes for it, at most


def minimise_in_subspace(space: Space, problem: Problem, vector: Floats) -> tuple[Floats, float, float, int, bool]:
    """From a vector to the minimum: the vector there, F, the bound on F - F*, the passes, and whether it got there."""
    logits = space.logits(vector)
    width = logits.shape[1]
    remembered = int(np.clip(_SUBSPACE_CELLS // max(logits.size, 1), 1, _STEPS))
    memory = np.empty((1 + remembered + _WAYS, len(vector)))  # the vector, the last steps, and the new directions
    kept = turn = 0
    passes, since, flat, gain, least = 0, 0, 0, np.inf, np.inf
    total = np.nan  # not known yet
    while True:
        # Near the end what is left is a few times what a step gains: only then is a bound worth a pass of its own.
        last = passes >= problem.iterations or flat >= 3 or total <= SEPARATED * problem.size
        check = last or gain <= 0.5 * problem.tolerance * total
        if check:
            shift = problem.settled(logits)
            vector[-width:] += shift
            logits = logits + shift
        loss, residuals = problem.residuals(logits)
        total = loss + problem.l2 / 2 * float(space.products(vector[np.newaxis])[0, 0])
        # Steps that gain little, or go on for long, want a look further: Newton's step in earnest.
        earnest = not last and (check or since >= _LONG)
        allowed = min(_EARNEST if earnest else 1, max(problem.iterations - passes, 0)) if not last else 0
        found, excess, used = space.directions(
            problem, vector, logits, residuals, passes=allowed, check=check,
            enough=problem.tolerance * total,
        )  # fmt: skip
        passes, since = passes + used, 0 if earnest else since + used
        least = min(least, excess)
        if problem.report is not None:
            problem.report(passes, total, least)
        small = 1e-3 * problem.tolerance if problem.l2 == 0 else 0.0  # without a penalty there is no bound
        if check and (excess <= problem.tolerance * total or gain <= small * total):
            return vector, total, excess, passes, True
        if last:
            return vector, total, excess, passes, excess <= 1e-9 * total
        n = 1 + kept
        for way in found:
            if (size := float(np.linalg.norm(way))) > 0:
                np.divide(way, size, out=memory[n])
                n += 1
        memory[0] = vector
        products = problem.l2 * space.products(memory[:n])
        penalty = (float(products[0, 0]) / 2, products[0, 1:], products[1:, 1:])
        lengths, reached = problem.best(logits, space.stacked(memory[1:n]), penalty)
        step = lengths @ memory[1:n]
        gain = total - reached
        flat = flat + 1 if gain <= 1e-14 * abs(total) else 0
        vector, logits = vector + step, logits + space.logits(step)
        if (size := float(np.linalg.norm(step))) > 0:
            np.divide(step, size, out=memory[1 + turn])
            kept, turn = max(kept, turn + 1), (turn + 1) % remembered
