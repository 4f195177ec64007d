"""Least squares on one-hot targets, from the counts, sums and scatter of the classes.

With T the scatter of all rows about their mean m, and π_k = N_k / N, the lines f_k(x) = π_k + w_k·(x - m) that
come nearest to 1 on the rows of class k and to 0 on the others, in least squares, are

    w_k = (T + λI)⁻¹ N_k (μ_k - m)

so the sums that give the Gaussians give these as well. Because the targets of a row sum to 1, so do the f_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Numbers
from ingenuo.families.covariance import root_of_inverse, triangle
from ingenuo.families.family import Floats
from ingenuo.families.gaussians import Moments, named
from ingenuo.families.scatter import by_pattern, refuse_infinite
from ingenuo.kernels import scatter as loops
from ingenuo.labels import Labels


@dataclass(frozen=True)
class Lines:
    """f_k(x) = shares_k + weights_k · (x - centre)."""

    columns: Labels
    shares: Floats  # π_k, of the complete rows
    centre: Floats
    weights: Floats  # (classes, columns)
    scatter: Floats  # T / N
    pulls: Floats  # N_k (μ_k - m) / N
    l2: float  # λ / N
    remark: str = ""

    def without(self, kept: NDArray[np.bool_]) -> Lines:
        """Least squares on some of the columns only, as if the others had never been there."""
        return lines(
            self.columns[kept],
            self.shares,
            self.centre[kept],
            self.scatter[np.ix_(kept, kept)],
            self.pulls[:, kept],
            self.l2,
        )

    def add_to(self, block: Numbers, out: Floats) -> None:
        """Add f_k to out (rows × classes); a row with holes is answered from the columns it has."""
        holes, infinite = loops.add_lines(block, self.centre, self.weights, self.shares, out)
        refuse_infinite(block, infinite)
        for places, kept, rows in by_pattern(block, holes):
            part = self.without(kept)
            out[places] += self.shares + (rows - part.centre) @ part.weights.T

    @property
    def brier(self) -> float:
        """The mean over the rows of Σ_k (f_k - y_k)², from the sums alone: what least squares makes least."""
        w, g = self.weights, self.pulls
        spread = self.shares * (1 - self.shares)
        return float((spread - 2 * (w * g).sum(axis=1) + np.einsum("ki,ij,kj->k", w, self.scatter, w)).sum())


def lines_of(found: Moments, l2: float) -> Lines:
    """The lines for the sums of some rows."""
    n = found.rows
    pulls = found.counts[:, np.newaxis] * found.apart / n
    return lines(found.columns, found.counts / n, found.centre, (found.within + found.between) / n, pulls, l2 / n)


def lines(columns: Labels, shares: Floats, centre: Floats, scatter: Floats, pulls: Floats, l2: float) -> Lines:
    """The weights of least norm that solve the normal equations."""
    system = scatter + l2 * np.eye(len(columns))
    factor = triangle(system)
    root = root_of_inverse(system, factor)
    remark = ""
    lost = factor.dependent | factor.fixed
    if lost.any():
        remark = (
            f"the normal equations are singular: {named(columns, lost)} "
            f"{'is' if lost.sum() == 1 else 'are'} constant or follow{'s' if lost.sum() == 1 else ''} from the columns "
            "before; the weights are those of least norm; l2 above 0 makes them regular"
        )
    return Lines(columns, shares, centre, (pulls @ root) @ root.T, scatter, pulls, l2, remark)
