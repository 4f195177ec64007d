"""Covariance matrices that can be inverted: shrinkage, and what is done where a matrix is singular.

Whether a matrix is singular is told on its correlations, column by column: column j is a combination of the columns
before it if they leave it less than 1e-11 of its variance. So units do not matter, and the columns can be named.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SINGULAR = 1e-11  # rounding leaves about 1e-14 of a column that is a combination of others


def oracle_approximating(covariance: Floats, n: float) -> float:
    """How far to shrink a covariance of n rows (Chen, Wiesel, Eldar and Hero, 2010), from itself alone.

        (tr S² + tr² S) / ((n + 1)(tr S² - tr² S / d)), at most 1

    which leaves out terms of 2/d, as scikit-learn does.

    >>> oracle_approximating(np.diag([1.0, 3.0]), 25)
    0.5
    """
    square, trace = float((covariance * covariance).sum()), float(np.trace(covariance))
    below = (n + 1) * (square - trace * trace / len(covariance))
    return 1.0 if below <= 0 else min(1.0, (square + trace * trace) / below)


def variances_towards_their_mean(variances: Floats, n: float) -> float:
    """How far to shrink variances of n rows, each on its own, towards their mean.

    The shrinkage of least expected squared error, (1 - 1/d) Σ var(s_j) / Σ (s_j - mean)², with var(s) = 2 s²/n, as it
    is for a Gaussian; at most 1.

    >>> variances_towards_their_mean(np.array([1.0, 3.0]), 20)
    0.25
    """
    d = len(variances)
    below = float(((variances - variances.mean()) ** 2).sum())
    above = (1 - 1 / d) * 2 / n * float((variances**2).sum())
    return 1.0 if below <= 0 else min(1.0, above / below)


def shrunk(covariance: Floats, amount: float) -> Floats:
    """(1 - a) S + a · tr(S)/d · I."""
    d = len(covariance)
    return np.asarray((1 - amount) * covariance + amount * (np.trace(covariance) / d) * np.eye(d))


@dataclass(frozen=True)
class Triangle:
    """S = L Lᵀ, column by column, the columns that are combinations of those before them left out."""

    lower: Floats  # the columns of L that are left out are zero
    fixed: Flags  # columns of no variance
    dependent: Flags  # columns that the ones before them determine

    @property
    def free(self) -> Flags:
        """The columns that say something of their own."""
        return ~(self.fixed | self.dependent)

    @property
    def log_determinant(self) -> float:
        """Of the free columns' covariance."""
        return 2 * float(np.log(np.diag(self.lower)[self.free]).sum())


def triangle(covariance: Floats) -> Triangle:
    """The Cholesky factor of a covariance, singular or not.

    >>> triangle(np.array([[4.0, 2.0], [2.0, 5.0]])).lower.tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    >>> triangle(np.ones((2, 2))).dependent.tolist()
    [False, True]
    """
    d = len(covariance)
    deviations = np.sqrt(np.diag(covariance))
    fixed = deviations == 0
    scale = np.where(fixed, 1.0, deviations)
    correlations = covariance / scale[:, np.newaxis] / scale
    correlations[np.diag_indices(d)] = np.where(fixed, 0.0, 1.0)
    live = np.flatnonzero(~fixed)
    lower, dependent = np.zeros((d, d)), np.zeros(d, np.bool_)
    with suppress(np.linalg.LinAlgError):
        lower[np.ix_(live, live)] = np.linalg.cholesky(correlations[np.ix_(live, live)])
    if not (np.diag(lower)[live] ** 2 > SINGULAR).all():
        lower = np.zeros((d, d))
        for j in live:
            rest = correlations[j:, j] - lower[j:, :j] @ lower[j, :j]
            dependent[j] = rest[0] <= SINGULAR
            if not dependent[j]:
                lower[j:, j] = rest / np.sqrt(rest[0])
        lower[fixed] = 0.0
    return Triangle(lower * scale[:, np.newaxis], fixed, dependent)


def root_of_inverse(covariance: Floats, factor: Triangle) -> Floats:
    """A (d × r) with A Aᵀ the inverse of the covariance, or its pseudo-inverse where it is singular."""
    from scipy.linalg import solve_triangular

    d = len(covariance)
    free = np.flatnonzero(factor.free)
    if not factor.dependent.any():
        root = np.zeros((d, len(free)))
        square = np.ix_(free, free)
        root[free] = solve_triangular(factor.lower[square], np.eye(len(free)), lower=True).T
        return root
    live = np.flatnonzero(~factor.fixed)
    scale = np.sqrt(np.diag(covariance))[live]
    values, vectors = np.linalg.eigh(covariance[np.ix_(live, live)] / scale[:, np.newaxis] / scale)
    vectors = vectors / scale[:, np.newaxis]
    kept = vectors[:, -len(free) :] / np.sqrt(values[-len(free) :])
    # Of all the inverses on the range, the pseudo-inverse is the one that is zero on what the covariance sends to 0.
    nothing, _ = np.linalg.qr(vectors[:, : -len(free)])
    root = np.zeros((d, len(free)))
    root[live] = kept - nothing @ (nothing.T @ kept)
    return root


def filled(covariance: Floats, stand_in: Floats, variances: Floats) -> Floats:
    """A covariance that is regular: in the directions in which it is zero, another one stands in.

    Columns are in units of their deviation in the whole table (or of their own, if that is more). A direction in which
    the other is zero as well has one such unit: rows that keep to what was seen do not differ there, and of others
    nothing is known.

    >>> filled(np.array([[4.0, 0.0], [0.0, 0.0]]), np.eye(2), np.array([4.0, 1.0])).round(9).tolist()
    [[4.0, 0.0], [0.0, 1.0]]
    """
    live = np.flatnonzero(variances > 0)
    scale = np.sqrt(np.maximum(variances, np.diag(covariance))[live])
    own, other = (each[np.ix_(live, live)] / scale[:, np.newaxis] / scale for each in (covariance, stand_in))
    values, vectors = np.linalg.eigh(own)
    empty = values <= SINGULAR * max(float(values[-1]), SINGULAR)
    projector = vectors[:, empty] @ vectors[:, empty].T
    mended = (vectors * np.where(empty, 0.0, values)) @ vectors.T + projector @ other @ projector
    values, vectors = np.linalg.eigh(mended)
    mended = (vectors * np.where(values <= 10 * SINGULAR, 1.0, values)) @ vectors.T
    result = covariance.copy()
    result[np.ix_(live, live)] = (mended + mended.T) / 2 * scale[:, np.newaxis] * scale
    return result
