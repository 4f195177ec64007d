"""The penalised cross-entropy of linear models, and its minimum by Newton's method.

    F(W, b) = Σ_i weight_i cross-entropy_i(X (S ∘ W) + b) + l2/2 ‖W‖²

S stretches the features (none: 1), so V = S ∘ W are the weights of the table as it is. Two classes have one logit, more
have one each. Newton's step is found in one of three ways: `Few` weights by Cholesky's decomposition; many by conjugate
gradients `OverFeatures`, or `OverRows`, V = S² ∘ Xᵀ A, where a sparse table has more features than rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import counts, portable, threads
from ingenuo.kernels.counts import Columns
from ingenuo.kernels.moments import Rows

Floats = NDArray[np.float64]

# A loss of less than this a row is none: without a penalty the weights of classes that do not overlap grow for ever.
SEPARATED = 1e-9

# Called before every step with the number of passes over the data, F and the bound on F - F*.
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
        """The rows, by weight."""
        return float(self.weights.sum()) if len(self.weights) else float(len(self.labels))

    def log_shares(self, width: int) -> Floats:
        """The intercepts of no weights: the logarithms of the classes' shares, as so many logits have them."""
        rows = np.bincount(self.labels, self.weights if len(self.weights) else None, max(width, 2))
        logs = portable.log(np.maximum(rows / max(rows.sum(), 1e-300), 1e-12))
        return np.asarray(logs[1:] - logs[:1] if width == 1 else logs)

    def residuals(self, logits: Floats) -> tuple[float, Floats]:
        """The loss, and its gradient in the logits."""
        out = np.empty_like(logits)
        return counts.residuals(logits, self.labels, self.weights, out), out

    def best_shift(self, logits: Floats) -> Floats:
        """What to add to the intercepts so that they are the best for their weights."""
        shift = np.zeros(logits.shape[1])
        for _ in range(20):
            slope = self.residuals(logits + shift)[1].sum(axis=0)
            if float(np.abs(slope).max()) <= 1e-12 * len(logits):
                break
            step = -Curvature(logits + shift, self.weights).of_intercepts @ slope
            if not np.isfinite(step).all():
                break
            shift += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))  # no leap where nothing bends
        return shift

    def best_lengths(self, logits: Floats, steps: Floats, penalty: tuple[Floats, Floats]) -> Floats:
        """How far to go along each of a few steps (steps × rows × logits) to the least F.

        `penalty` has the slopes and the curvature of l2/2 ‖W‖² along them. Logits are linear in the weights, so no data
        is looked at: Newton's method in a few dimensions, each step halved until it gains.
        """
        slopes, bends = penalty

        def at(lengths: Floats) -> tuple[float, Floats, Floats]:
            loss, slope, bend = counts.within(logits, steps, lengths, self.labels, self.weights)
            total = loss + float(slopes @ lengths) + float(lengths @ bends @ lengths) / 2
            return total, slope + slopes + bends @ lengths, bend + bends

        lengths, first = np.zeros(len(steps)), 0.0
        total, slope, bend = at(lengths)
        for _ in range(30):
            step = -_solve_small(bend, slope)
            promised = -float(slope @ step)
            first = first or promised
            if not promised > 1e-3 * first or promised <= 1e-15 * abs(total):
                break
            for share in 0.5 ** np.arange(60):
                reached, *derivatives = at(lengths + share * step)
                if reached <= total - 1e-4 * share * promised:
                    break
            else:
                break
            lengths, total, (slope, bend) = lengths + share * step, reached, derivatives
        return lengths


def _solve_small(matrix: Floats, right: Floats) -> Floats:
    """The least solution of a small symmetric system, whatever the lengths of its directions; they may depend."""
    size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    kept = values > 1e-13 * max(float(values[-1]), 1e-300)
    inside = vectors[:, kept].T @ (right / size)
    return np.asarray(vectors[:, kept] @ (inside / values[kept]) / size)


class Curvature:
    """The curvature of the loss in the logits, row by row: H_i = w_i (diag p_i − p_i p_iᵀ).

    It is a square, H_i = B_i B_iᵀ with B_i = √(w_i p_i) (I − q_i q_iᵀ) and q_i = √p_i; a single logit has q = 0 and
    B_i = √(w_i p_i (1 − p_i)). What steps of the intercepts can do is left out by the projection I − Q. Probabilities
    below `least` count as that.
    """

    def __init__(self, logits: Floats, weights: Floats, least: float = 1e-12) -> None:
        self.q, self.root = counts.curvature(logits, weights, least)

    @cached_property
    def of_intercepts(self) -> Floats:
        """(1ᵀH1)⁻¹."""
        mixed = self.root * self.q
        total = np.diag((self.root**2).sum(axis=0)) - mixed.T @ mixed
        return np.asarray(np.linalg.pinv(total, rcond=1e-12, hermitian=True))

    def _project(self, v: Floats) -> Floats:
        """(I − q qᵀ) v."""
        return np.asarray(v - self.q * np.einsum("ik,ik->i", self.q, v)[:, np.newaxis])

    def forth(self, v: Floats) -> Floats:
        """B v."""
        return np.asarray(self.root * self._project(v))

    def back(self, z: Floats) -> Floats:
        """Bᵀ z."""
        return self._project(self.root * z)

    def apply(self, v: Floats) -> Floats:
        """H v, less what steps of the intercepts can do."""
        _, total = counts.bend(self.q, self.root, v, np.zeros(v.shape[1]))
        return counts.bend(self.q, self.root, v, self.of_intercepts @ total)[0]

    def without_intercepts(self, v: Floats) -> Floats:
        """(I − Q) v."""
        common = self.of_intercepts @ self.forth(v).sum(axis=0)
        return v - self.back(np.broadcast_to(common, v.shape))

    def shift(self, step: Floats, residuals: Floats) -> Floats:
        """How the intercepts go along with a step of the logits."""
        _, total = counts.bend(self.q, self.root, step, np.zeros(step.shape[1]))
        return np.asarray(-self.of_intercepts @ (total + residuals.sum(axis=0)))

    def diagonal(self, of_gram: Floats) -> Floats:
        """The diagonal of Bᵀ K B, from that of K: entry l of column k of B_i is root_l ([k = l] − q_k q_l)."""
        square, p = self.root**2 * of_gram, self.q**2
        return np.asarray(square * (1 - 2 * p) + p * np.einsum("ik,ik->i", p, square)[:, np.newaxis])

    def of_rows(self) -> Floats:
        """The diagonal of H."""
        return np.asarray(self.root**2 * (1 - self.q**2))


class Dense:
    """Rows of numbers minus their means, a block at a time; missing values are at the mean.

    Blocks go to our own threads, and BLAS is expected to work in the one that calls it (`threads.single_blas`): its own
    threads wait for one another at every small product, which on a busy machine takes many times the product.
    """

    _CELLS = 1 << 18  # of a block: 2 MiB
    _PARTS = 4  # as many whatever the threads, so that sums are added in one order

    def __init__(self, rows: Rows, means: Floats) -> None:
        self.table, self.means, self.shape = rows, means, rows.shape

    def over(self, work: Callable[[int, int, Floats, Floats], object], shape: tuple[int, ...], wide: int = 1) -> Floats:
        """The sum of what work(first, last, block, out) adds to arrays of this shape; `wide` work has fewer rows."""
        step = max(256, self._CELLS // max(self.shape[1] * wide, 1))

        def part(lo: int, hi: int) -> Floats:
            out = np.zeros(shape)
            for first in range(lo, hi, step):
                last = min(first + step, hi)
                block = self.table.rows(first, last) - self.means
                np.copyto(block, 0.0, where=np.isnan(block))
                work(first, last, block, out)
            return out

        parts = threads.split(self.shape[0], self._PARTS, 1 << 10)
        total, *others = threads.run([partial(part, lo, hi) for lo, hi in parts])
        for other in others:
            total += other
        return total

    def times(self, V: Floats) -> Floats:
        """X V."""
        result = np.empty((self.shape[0], V.shape[1]))
        self.over(lambda lo, hi, block, _: np.matmul(block, V, out=result[lo:hi]), (0,))
        return result

    def gather(self, G: Floats, power: int = 1) -> Floats:
        """Xᵀ G, perhaps of a power of X."""
        shape = self.shape[1], G.shape[1]
        return self.over(lambda lo, hi, block, out: np.add(out, (block**power).T @ G[lo:hi], out=out), shape)

    def gather_squares(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""
        return self.gather(G, 2)


class Matrix:
    """A table in memory, of doubles or, where the last digits do not matter, of single precision."""

    def __init__(self, values: NDArray[np.floating[Any]]) -> None:
        self.values, self.shape = values, values.shape

    def times(self, V: Floats) -> Floats:
        """X V."""
        return np.asarray(self.values @ V.astype(self.values.dtype), np.float64)

    def gather(self, G: Floats) -> Floats:
        """Xᵀ G."""
        return np.asarray(self.values.T @ G.astype(self.values.dtype), np.float64)

    def gather_squares(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""
        return np.asarray((self.values * self.values).T @ G.astype(self.values.dtype), np.float64)


class Beside:
    """The features of two tables, side by side."""

    def __init__(self, one: Matrix, other: Columns) -> None:
        self.one, self.other, self.width = one, other, one.shape[1]
        self.shape = one.shape[0], self.width + other.shape[1]

    def times(self, V: Floats) -> Floats:
        """X V."""
        return self.one.times(V[: self.width]) + self.other.times(V[self.width :])

    def gather(self, G: Floats) -> Floats:
        """Xᵀ G."""
        return np.concatenate([self.one.gather(G), self.other.gather(G)])

    def gather_squares(self, G: Floats) -> Floats:
        """(X²)ᵀ G."""
        return np.concatenate([self.one.gather_squares(G), self.other.gather_squares(G)])


Table = Columns | Dense | Matrix | Beside


@dataclass(frozen=True)
class Point:
    """Weights as their space keeps them, their logits, and the intercepts; or a step from one point to another."""

    own: Floats
    logits: Floats  # without the intercepts
    intercepts: Floats

    def move(self, steps: Sequence[Point], lengths: Floats) -> Point:
        """The point so far along each of some steps."""
        found = self
        for step, t in zip(steps, lengths):
            pairs = zip((found.own, found.logits, found.intercepts), (step.own, step.logits, step.intercepts))
            found = Point(*(here + t * there for here, there in pairs))
        return found


class OverFeatures:
    """Weights W, feature by feature."""

    def __init__(self, table: Table, stretch: Floats | None, problem: Problem) -> None:
        self.table, self.stretch, self.problem, self.l2 = table, stretch, problem, problem.l2

    def nothing(self, intercepts: Floats) -> Point:
        """No weights."""
        n, d = self.table.shape
        return Point(np.zeros((d, len(intercepts))), np.zeros((n, len(intercepts))), intercepts)

    def times(self, W: Floats) -> Floats:
        """The logits of W."""
        return self.table.times(self.weights(W))

    def gather(self, G: Floats) -> Floats:
        """The gradient in W that belongs to one in the logits."""
        found = self.table.gather(G)
        return found if self.stretch is None else found * self.stretch

    def product(self, one: Point, other: Point) -> float:
        """The inner product of W, as the penalty measures it."""
        return float(np.vdot(one.own, other.own))

    def gradient(self, point: Point, residuals: Floats) -> float:
        """The square of the gradient of F in W, which is kept for the step."""
        self._slope = self.gather(residuals) + self.l2 * point.own
        return float(np.vdot(self._slope, self._slope))

    def descent(self, residuals: Floats, size: float) -> Point:
        """Against the gradient of F at the last point, divided by the number of rows."""
        W = -self._slope / size
        return Point(W, self.times(W), -residuals.sum(axis=0) / size)

    def step(self, point: Point, residuals: Floats, share: float, passes: int) -> tuple[list[Point], int, bool]:
        """Newton's step, the passes over the data that it took, and whether it is as exact as was asked."""
        bend = Curvature(point.logits + point.intercepts, self.problem.weights)
        even = self.table.gather_squares(bend.of_rows())
        if self.stretch is not None:
            even *= self.stretch * self.stretch
        even += self.l2

        def apply(W: Floats) -> tuple[Floats, Floats]:
            image = self.times(W)
            return image, self.l2 * W + self.gather(bend.apply(image))

        even = np.divide(1.0, even, out=np.zeros_like(even), where=even > 1e-300)
        W, image, used, solved = conjugate_gradients(apply, lambda W: even * W, -self._slope, share, passes)
        return [Point(W, image, bend.shift(image, residuals))], used, solved

    def weights(self, own: Floats) -> Floats:
        """V."""
        return own if self.stretch is None else own * self.stretch


class Few(OverFeatures):
    """Weights so few that their curvature is a matrix: Newton's step is exact, and takes one pass."""

    table: Dense
    MOST: ClassVar[int] = 400

    def step(self, point: Point, residuals: Floats, share: float, passes: int) -> tuple[list[Point], int, bool]:
        """Newton's step, the one pass, and that it is exact."""
        d, width = point.own.shape
        matrix = self._curvature(point.logits + point.intercepts)
        used = np.einsum("kiki->ki", matrix).ravel() > 0  # a constant column has no weight
        np.einsum("kiki->ki", matrix)[:, :-1] += self.l2
        right = np.vstack([self._slope, residuals.sum(axis=0)]).T.ravel()
        found = np.zeros_like(right)
        found[used] = -_solve_small(matrix.reshape(len(right), -1)[np.ix_(used, used)], right[used])
        W = np.ascontiguousarray(found.reshape(width, d + 1).T)
        return [Point(W[:-1], self.times(W[:-1]), W[-1])], 1, True

    def _curvature(self, logits: Floats) -> Floats:
        """That of the loss in W and the intercepts: (logits, columns + 1, logits, columns + 1)."""
        d, width, weights = self.table.shape[1] + 1, logits.shape[1], self.problem.weights
        stretch = np.ones((d, width))
        if self.stretch is not None:
            stretch[:-1] = self.stretch

        def work(lo: int, hi: int, block: Floats, bend: Floats) -> None:
            rows = np.ones((hi - lo, d))
            rows[:, :-1] = block
            own = Curvature(logits[lo:hi], weights[lo:hi])
            for k in range(width):
                bend[k, :, k] += rows.T @ (rows * own.root[:, k : k + 1] ** 2)
            if width > 1:  # one large product instead of a small one for each pair of logits
                mixed = ((own.root * own.q)[:, :, np.newaxis] * rows[:, np.newaxis, :]).reshape(hi - lo, width * d)
                bend -= (mixed.T @ mixed).reshape(bend.shape)

        found = self.table.over(work, (width, d, width, d), width)
        return found * stretch.T * stretch.T[:, :, np.newaxis, np.newaxis]


class OverRows:
    """Weights V = S² ∘ Xᵀ A by A, row by row: no vector over the features is needed until the end."""

    def __init__(self, table: Columns, stretch: Floats | None, problem: Problem, width: int) -> None:
        self.whole, self.stretch, self.problem, self.l2 = table, stretch, problem, problem.l2
        # A feature of one row only (two thirds of all pairs of words) is that row's own: its part of X S² Xᵀ lies on
        # the diagonal, and is summed up once for all. In the order of the rows they are in, the other features touch
        # the same few rows one after the other.
        several = np.diff(table.starts) > 1
        own, order = np.flatnonzero(~several), table.by_place(np.flatnonzero(several))
        none = np.zeros((0, width))
        squares = [none if stretch is None else stretch[which] ** 2 for which in (own, order)]
        self.table, self.squares = table.only(order), squares[1]
        self.alone = table.only(own).squared_times(squares[0], width)
        self.diagonal = self.table.squared_times(self.squares, width) + self.alone
        self.of_ones = self.gram(np.ones((table.n_rows, width)))
        # Smaller probabilities add nothing to l2; what is divided by them is kept from growing for nothing.
        self.least = float(np.clip(0.01 * self.l2 / max(float(self.diagonal.max(initial=0)), 1e-300), 1e-12, 1e-4))

    def nothing(self, intercepts: Floats) -> Point:
        """No weights."""
        return Point(np.zeros_like(self.of_ones), np.zeros_like(self.of_ones), intercepts)

    def gram(self, R: Floats) -> Floats:
        """K R = X S² Xᵀ R: the one pass over the data."""
        return np.asarray(self.table.gram(R, self.squares) + self.alone * R)

    def product(self, one: Point, other: Point) -> float:
        """The inner product of W, as the penalty measures it."""
        return float(np.vdot(one.own, other.logits) + np.vdot(other.own, one.logits)) / 2

    def gradient(self, point: Point, residuals: Floats) -> float:
        """The square of the gradient of F in W."""
        own, logits = residuals + self.l2 * point.own, self.gram(residuals) + self.l2 * point.logits
        self._slope = Point(own, logits, np.zeros_like(point.intercepts))
        return self.product(self._slope, self._slope)

    def step(self, point: Point, residuals: Floats, share: float, passes: int) -> tuple[list[Point], int, bool]:
        """Newton's step, the passes over the data that it took, and whether it is as exact as was asked.

        It solves l2 a + H̃ K a = −(R + l2 A). With a = B v that is (l2 + Bᵀ K B) v = −B⁻¹ (R + l2 A). Documents have few
        words in common, so the diagonal is most of K, and few passes are enough.
        """
        bend = Curvature(point.logits + point.intercepts, self.problem.weights, self.least)
        even = 1 / (self.l2 + bend.diagonal(self.diagonal))

        def apply(v: Floats) -> tuple[Floats, Floats]:
            image = self.gram(bend.forth(v))
            return image, self.l2 * v + bend.without_intercepts(bend.back(image))

        right = -(residuals + self.l2 * point.own)
        right = np.divide(right, bend.root, out=np.zeros_like(right), where=bend.root > 0)
        v, image, used, _ = conjugate_gradients(
            apply, lambda v: bend.without_intercepts(even * v), bend.without_intercepts(right), share, passes
        )
        # At the minimum 1ᵀA = 0. Steps keep it, but for rounding, which the projection would never see again.
        drift = -point.own.mean(axis=0)
        image = image + drift * self.of_ones
        return [Point(bend.forth(v) + drift, image, bend.shift(image, residuals)), self._slope], used, False

    def weights(self, own: Floats) -> Floats:
        """V."""
        V = self.whole.gather(own)
        if self.stretch is not None:
            V *= self.stretch
            V *= self.stretch
        return V


def conjugate_gradients(
    apply: Callable[[Floats], tuple[Floats, Floats]],
    precondition: Callable[[Floats], Floats],
    right: Floats,
    share: float,
    passes: int,
) -> tuple[Floats, Floats, int, bool]:
    """The solution of a positive system until a share of the right-hand side is left; its image, and the passes.

    `apply` gives the image of a vector (its logits) and its product with the matrix.
    """
    solution, rest = np.zeros_like(right), right
    step = towards = precondition(rest)
    first = size = float(np.vdot(rest, towards))
    image, used = np.zeros((1, 1)), 0
    while used < passes and size > share * share * first:
        of_step, product = apply(step)
        used += 1
        curve = float(np.vdot(step, product))
        if not curve > 0:
            break
        length = size / curve
        solution, image, rest = solution + length * step, image + length * of_step, rest - length * product
        towards = precondition(rest)
        before, size = size, float(np.vdot(rest, towards))
        step = towards + (size / before) * step
    return solution, image, used, size <= share * share * first


@dataclass(frozen=True)
class Solution:
    """Weights (features × logits), intercepts, and how they were found."""

    weights: Floats
    intercepts: Floats
    loss: float  # F
    excess: float  # a bound on F - F*; without a penalty an estimate, or infinite
    iterations: int  # passes over the data
    converged: bool
    losses: Floats  # F at the beginning, and after each step
    point: Point | None = None  # where the search ended, in its own space


_PASSES = 50  # for one step, at most
_EARLIER = 3  # steps that are gone along again: up to a fifth fewer passes


def minimise(
    space: OverFeatures | OverRows, problem: Problem, intercepts: Floats, start: Point | None = None
) -> Solution:
    """From no weights, or those of a start, to the minimum, by Newton's method."""
    l2, tolerance = problem.l2, problem.tolerance

    def advance(point: Point, steps: list[Point]) -> Point:
        """As far along some steps as F falls, with the intercepts that are then the best."""
        slopes = np.array([space.product(point, step) for step in steps])
        bends = np.array([[space.product(one, other) for other in steps] for one in steps])
        ways = np.stack([step.logits + step.intercepts for step in steps])
        lengths = problem.best_lengths(point.logits + point.intercepts, ways, (l2 * slopes, l2 * bends))
        there = point.move(steps, lengths)
        shift = problem.best_shift(there.logits + there.intercepts)
        return Point(there.own, there.logits, there.intercepts + shift)

    point = space.nothing(intercepts) if start is None else start
    passes, flat, total, left = 0, 0, np.inf, np.inf
    earlier: list[Point] = []
    losses: list[float] = []
    while True:
        loss, residuals = problem.residuals(point.logits + point.intercepts)
        before, total = total, loss + l2 / 2 * space.product(point, point)
        losses.append(total)
        # The intercepts are the best for their weights, so F is a strongly convex function of these alone.
        square = space.gradient(point, residuals)
        excess = square / (2 * l2) if l2 > 0 else np.inf
        flat = flat + 1 if before - total <= 1e-14 * abs(total) else 0
        if problem.report is not None:
            problem.report(passes, total, excess)
        # Near the minimum, half of what an exact step promised is what was left before it.
        there = left <= 0.01 * tolerance * total
        close = excess <= tolerance * total
        if close or there or passes >= problem.iterations or flat >= 3 or total <= SEPARATED * problem.size:
            excess = min(excess, 2 * left) if there and not close else excess
            converged = close or there or excess <= 1e-9 * total
            own = space.weights(point.own)
            return Solution(own, point.intercepts, total, excess, passes, converged, np.array(losses), point)
        share = float(np.clip(np.sqrt(excess / total), 0.05, 0.3)) if l2 > 0 else 1e-2
        steps, used, solved = space.step(point, residuals, share, min(_PASSES, problem.iterations - passes))
        newton = steps[0]
        slope = float(np.vdot(residuals, newton.logits + newton.intercepts)) + l2 * space.product(point, newton)
        left = -slope / 2 if solved and slope <= 0 else np.inf
        before_step, point = point, advance(point, steps + earlier)
        earlier = [point.move([before_step], -np.ones(1)), *earlier][:_EARLIER]
        passes += used


_CHECKED = 10  # steps of a descent after which it is asked how far it is from the minimum


def descend(space: OverFeatures, problem: Problem, intercepts: Floats, rate: float | None) -> Solution:
    """Gradient descent: W ← W - η ∇F/n, and so the intercepts.

    Without a rate η, a step is as long as it gains half of what its slope promises: doubled first, then halved.
    """
    point, length, losses = space.nothing(intercepts), 1.0 if rate is None else rate, list[float]()

    def at(point: Point) -> tuple[float, Floats]:
        loss, residuals = problem.residuals(point.logits + point.intercepts)
        return loss + problem.l2 / 2 * space.product(point, point), residuals

    total, residuals = at(point)
    while True:
        losses.append(total)
        passes = len(losses) - 1
        last = passes >= problem.iterations or not np.isfinite(total) or total > 1e6 * losses[0]
        if last or passes % _CHECKED == 0:
            best = Point(
                point.own, point.logits, point.intercepts + problem.best_shift(point.logits + point.intercepts)
            )
            least, there = at(best)
            excess = total - least + space.gradient(best, there) / (2 * problem.l2) if problem.l2 > 0 else np.inf
            if problem.report is not None:
                problem.report(passes, total, excess)
            converged = excess <= problem.tolerance * total
            if last or converged or total <= SEPARATED * problem.size:
                own = space.weights(point.own)
                return Solution(own, point.intercepts, total, float(excess), passes, bool(converged), np.array(losses))
        square = space.gradient(point, residuals)
        step = space.descent(residuals, problem.size)
        promised = square / problem.size + float(np.vdot(step.intercepts, step.intercepts)) * problem.size
        length = length if rate is not None else 2 * length
        for _ in range(100):
            reached = point.move([step], np.array([length]))
            after, slopes = at(reached)
            if rate is not None or after <= total - length * promised / 2:
                break
            length /= 2
        point, total, residuals = reached, after, slopes


@dataclass
class Fold:
    """Rows to learn from, and the table of rows that are left out of them."""

    table: Table
    held: Table
    problem: Problem
    width: int  # logits
    stretch: Floats | None = None
    point: Point | None = None  # where the last search ended, and the next begins

    def solve(self, l2: float) -> Solution:
        """The weights of a penalty."""
        problem = replace(self.problem, l2=l2)
        n, d = self.table.shape
        space: OverFeatures | OverRows
        if isinstance(self.table, Columns) and n < d and l2 > 0:
            space = OverRows(self.table, self.stretch, problem, self.width)
        else:
            space = OverFeatures(self.table, self.stretch, problem)
        found = minimise(space, problem, problem.log_shares(self.width), self.point)
        self.point = found.point
        return found

    def answer(self, l2: float) -> Floats:
        """The logits of the rows that are left out."""
        found = self.solve(l2)
        return self.held.times(found.weights) + found.intercepts


class DenseFold:
    """A fold whose table is dense: the whole search is compiled."""

    ROUGH = 0.1  # the tolerance that is enough to choose by

    def __init__(self, table: Matrix, held: Matrix, problem: Problem, width: int, start: Point | None = None) -> None:
        self.held, self.problem = held, problem
        self.ridge = counts.Ridge(table.values, problem.labels, problem.weights, width)
        own = np.zeros((0, width)) if start is None else start.own
        self.ridge.begin(own, problem.log_shares(width) if start is None else start.intercepts)

    @property
    def point(self) -> Point:
        """Where the last search ended."""
        intercepts = self.ridge.intercepts.copy()
        return Point(self.ridge.weights, self.ridge.logits - intercepts, intercepts)

    def solve(self, l2: float) -> Solution:
        """The weights of a penalty."""
        passes, losses, excess, converged = self.ridge.search(l2, self.problem.tolerance, self.problem.iterations)
        found, loss = self.point, float(losses[-1])
        return Solution(found.own, found.intercepts, loss, excess, passes, converged, losses, found)

    def answer(self, l2: float) -> Floats:
        """The logits of the rows that are left out, by weights that are near the minimum."""
        self.ridge.search(l2, self.ROUGH, self.problem.iterations)
        return self.held.times(self.ridge.weights) + self.ridge.intercepts


@dataclass(frozen=True)
class RidgePath:
    """A penalty, and for each fold the logits of its left-out rows and where its search ended."""

    l2: float
    logits: list[Floats]
    points: list[Point | None]
    loss: float = np.inf  # of the left-out rows of the folds that chose


def ridge_path(
    folds: Sequence[Fold | DenseFold],
    penalties: Sequence[float],
    lose: Callable[[int, Floats], float],
    judges: int | None = None,
) -> RidgePath:
    """The penalty whose weights lose least on rows that they were not found from.

    Parameters
    ----------
    folds
        Rows to learn from, and rows to answer.
    penalties
        From the heaviest. Each search begins where that of the penalty before ended.
    lose
        The loss of the left-out rows of a fold (by its number), from their logits.
    judges
        How many of the folds choose, the first ones; the others only follow. By default all.
    """
    chosen, others = folds[:judges], folds[len(folds[:judges]) :]
    best, least, worse = RidgePath(penalties[0], [], []), np.inf, 0
    for l2 in penalties:
        logits = threads.run([partial(fold.answer, l2) for fold in chosen])
        loss = sum(lose(k, own) for k, own in enumerate(logits))
        worse = 0 if loss < least else worse + 1
        if not worse:
            best, least = RidgePath(l2, logits, [fold.point for fold in chosen], loss), loss
        elif worse == 2 or loss > 1.05 * least:
            break
    threads.run([partial(_follow, fold, [l2 for l2 in penalties if l2 > best.l2][::-2][::-1]) for fold in others])
    logits = threads.run([partial(fold.answer, best.l2) for fold in others])
    return RidgePath(best.l2, [*best.logits, *logits], [*best.points, *(fold.point for fold in others)], least)


def _follow(fold: Fold | DenseFold, penalties: Sequence[float]) -> None:
    for l2 in penalties:
        fold.answer(l2)
