"""Numbers: one Gaussian over all columns for each class, with one covariance for all classes or one for each.

A row with a missing value is left out of the sums; in a prediction a missing value is integrated out, which for a
Gaussian means: its row and column of Σ are left out. With one Σ for all classes the log odds are linear in x, and
answers need a product by a few weights only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk, Numbers
from ingenuo.errors import ForgetError, InputError
from ingenuo.exact import Exact
from ingenuo.families.covariance import Triangle
from ingenuo.families.family import Factor, Family, Floats, Term, exponential
from ingenuo.families.gaussians import EACH, POOLED, Gaussians, estimated, table_of
from ingenuo.kernels import moments, products
from ingenuo.kernels import scatter as loops
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.scatter import Scatter
from ingenuo.schema import Schema, column_name
from ingenuo.tally import Tally

SHARED, FULL = "gaussian-shared", "gaussian-full"  # the families
_PIECE = 1 << 14  # incomplete rows that are looked at together


@dataclass(frozen=True)
class ScatterFamily(Family):
    """A Gaussian over all columns, with one covariance for all classes (pooled) or one for each."""

    pooled: bool = True
    together = True

    @property
    def name(self) -> str:
        """Its table in the tally."""
        return POOLED if self.pooled else EACH

    def tally(self, chunk: Chunk, block: Numbers) -> Tally:
        """Complete rows, their sum and the sum of their products."""
        K, labels, weights = len(chunk.classes), chunk.coded, chunk.weights
        if weights is None:
            counts, sums, squares = products.sums(block, labels, K, pooled=self.pooled)
            return Tally({self.name: Scatter.of(chunk.classes, block.names, counts, sums, squares)})
        rows: moments.Rows = block
        kept = loops.complete(block)
        if kept is not None:
            if len(kept) == 0:
                return Tally()
            rows, labels, weights = loops.Kept(block, kept), labels[kept], weights[kept]
        by_column, sums, _ = moments.weighted_moments(rows, labels, weights, K)
        counts = Exact.canonical(by_column.limbs[..., 0].copy(), by_column.low)  # complete rows: as many in any column
        squares = products.weighted_products(rows, labels, weights, K, pooled=self.pooled)
        return Tally({self.name: Scatter.of(chunk.classes, block.names, counts, sums, squares)})

    def estimate(
        self,
        tally: Tally,
        prior: Prior,
        schema: Schema,
        columns: Labels,
        classes: Labels,
        shrinkage: float | str | None = None,
        unbiased: bool = False,
    ) -> Gaussians:
        """Means and covariances."""
        return estimated(tally, columns, classes, prior.floor, shrinkage, pooled=self.pooled, unbiased=unbiased)

    def log_likelihood(self, parameters: Gaussians, block: Numbers, out: Floats, floor: float | None = None) -> None:
        """Add the log densities; missing values are integrated out."""
        p = parameters
        roots = p.roots[0] if p.shared else p.roots
        holes, infinite = loops.add_distances(block, p.centre, roots, p.apart, p.constants, out)
        refuse_infinite(block, infinite)
        for places, kept, rows in by_pattern(block, holes):
            if kept.any():
                part = p.marginal(kept)
                more = np.zeros((len(places), out.shape[1]))
                self.log_likelihood(part, Numbers(part.columns, len(rows), rows), more)
                out[places] += more

    def scores(self, parameters: Gaussians, block: Numbers, out: Floats) -> None:
        """Add the log densities less what all classes have in common; of one covariance for all, lines."""
        if not parameters.shared:
            self.log_likelihood(parameters, block, out)
            return
        weights, constants = parameters.lines()
        holes, infinite = loops.add_lines(block, parameters.centre, weights, constants, out)
        refuse_infinite(block, infinite)
        for places, kept, rows in by_pattern(block, holes):
            if kept.any():
                more = np.zeros((len(places), out.shape[1]))
                self.scores(parameters.marginal(kept), Numbers(parameters.columns[kept], len(rows), rows), more)
                out[places] += more

    def factors(self, parameters: Gaussians, block: Numbers) -> list[Factor]:
        """f(x_j | the columns above) of each class: by the chain rule their product is the joint density."""
        row = block.rows(0, 1)[0]
        there = ~np.isnan(row)
        p = parameters.marginal(there) if there.any() else parameters
        triangles = p.triangles * (len(p.means) if p.shared else 1)
        scaled = [_solved(factor, row[there] - p.centre - apart) for factor, apart in zip(triangles, p.apart)]
        found, position = [], 0
        for name, x in zip(parameters.columns.tolist(), row):
            if math.isnan(x):
                found.append(Factor(column_name(name), "missing", note="integrated out"))
                continue
            j, position = position, position + 1
            if not triangles[0].free[j]:
                why = "has one value only" if triangles[0].fixed[j] else "follows from the columns above"
                found.append(Factor(column_name(name), f"{x:.6g}", note=why))
                continue
            terms = []
            for factor, z in zip(triangles, scaled):
                deviation = float(factor.lower[j, j])
                log = -math.log(deviation) - 0.5 * math.log(2 * math.pi) - 0.5 * min(z[j] ** 2, 1e300)
                above = "above: " if j else ""
                mean = float(x) - deviation * float(z[j])
                terms.append(Term(f"f({x:.6g} | {above}μ {mean:.6g}, σ {deviation:.6g})", exponential(log), log))
            found.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        return found + self._left_over(p, Numbers(p.columns, 1, row[there][np.newaxis]), found)

    def _left_over(self, parameters: Gaussians, block: Numbers, found: list[Factor]) -> list[Factor]:
        """Where Σ is singular: what a row that is off its range adds."""
        if not parameters.triangles[0].dependent.any():
            return []
        joint = np.zeros((1, len(parameters.means)))
        self.log_likelihood(parameters, block, joint)
        rest = joint[0] - [sum(f.terms[k].log for f in found if f.terms) for k in range(len(parameters.means))]
        if np.abs(rest).max() <= 1e-9 * max(1.0, float(np.abs(joint).max())):
            return []
        terms = tuple(Term("", exponential(float(log)), float(log)) for log in rest)
        return [Factor("off the range of Σ", "", terms)]

    def sample(
        self, parameters: Gaussians, drawn: NDArray[np.intp], rng: np.random.Generator
    ) -> dict[Any, NDArray[Any]]:
        """Normal deviates, correlated."""
        deviates = rng.standard_normal((len(drawn), len(parameters.columns)))
        rows = parameters.means[drawn]
        for k, factor in enumerate(parameters.triangles):
            mine = slice(None) if parameters.shared else drawn == k
            rows[mine] += deviates[mine] @ factor.lower.T
        return {name: rows[:, j] for j, name in enumerate(parameters.columns.tolist())}

    def check(self, tally: Tally) -> None:
        """Raise ForgetError if the sums cannot be those of any rows."""
        table = tally.scatter(self.name)
        if table is None:
            return
        rows = tally.over("class", table.classes)
        assert isinstance(rows, Exact)
        more = np.flatnonzero((rows - table.counts).signs() < 0)
        if len(more):
            k = int(more[0])
            raise ForgetError(
                f"cannot take these rows away: class {table.classes.tolist()[k]!r} would have {rows.floats()[k]:g} "
                f"rows left, {table.counts.floats()[k]:g} of them complete; only rows that were learned can be "
                "forgotten"
            )


def refuse_infinite(block: Numbers, place: tuple[int, int] | None) -> None:
    """Raise where a number is infinite."""
    if place is not None:
        raise InputError(
            f"Input X contains infinity: {block.place(*place)} is infinite; replace it by a finite number, "
            "or by NaN if it is missing"
        )


def refuse_incomplete(tally: Tally, schema: Schema, family: str) -> None:
    """Raise where no row is complete, as where a column has no value at all."""
    table_of(tally, schema.columns(family), POOLED if family == SHARED else EACH)


def by_pattern(block: Numbers, rows: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_], Floats]]:
    """Incomplete rows that lack the same columns: their places, the columns they have, and the numbers there."""
    for start in range(0, len(rows), _PIECE):
        places = rows[start : start + _PIECE]
        found = loops.Kept(block, places).rows(0, len(places))
        patterns, which = np.unique(~np.isnan(found), axis=0, return_inverse=True)
        for number, kept in enumerate(patterns):
            mine = which.ravel() == number
            yield places[mine], kept, np.ascontiguousarray(found[mine][:, kept])


def _solved(factor: Triangle, apart: Floats) -> Floats:
    """z with L z = x - μ, on the free columns."""
    from scipy.linalg import solve_triangular

    free = np.flatnonzero(factor.free)
    result = np.zeros(len(apart))
    if len(free):
        result[free] = solve_triangular(factor.lower[np.ix_(free, free)], apart[free], lower=True)
    return result
