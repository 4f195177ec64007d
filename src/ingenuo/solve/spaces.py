"""Two ways to store weights of a sparse problem: over its features, or over its rows.

Logits are X V + b with V = S ∘ W: the penalty is on W, and the stretch S (features × logits) is 1, or with
naive-Bayes-weighted features the log ratio of the classes. Steps begin at c V₀, the weights of the generative twin.

*Over the rows*: every gradient is S ∘ Xᵀ R plus a multiple of W, so all that descent can reach from W₀ = V₀ / S is
W = c W₀ + S ∘ Xᵀ A with A of the size of the logits. Then

    logits = c X V₀ + X S² Xᵀ A + b        ⟨W, W'⟩ = ⟨A, X V'⟩ + c (c' ‖W₀‖² + ⟨X V₀, A'⟩)

and no vector over the features is needed until the end: with 1.2 million word pairs and 20 classes that is what makes
it fit. The logits of a vector are stored beside it, for inner products need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ingenuo.kernels.columns import Columns
from ingenuo.solve.curvature import Curvature
from ingenuo.solve.dense import Dense
from ingenuo.solve.problem import Floats, Problem


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
