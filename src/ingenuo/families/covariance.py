"""Numbers: one Gaussian over all columns for each class, with one covariance for all classes or one for each.

A row with a missing value is left out of the sums; in a prediction a missing value is integrated out, which for a
Gaussian means: its row and column of Σ are left out. With one Σ for all classes the log odds are linear in x, and
answers need a product by a few weights only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError
from ingenuo.families.family import Family
from ingenuo.kernels import moments, products
from ingenuo.kernels import scatter as loops
from ingenuo.rows.part import Chunk, Numbers
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Term, exponential
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find
from ingenuo.tally.moments import Moments, diagonal, quotients
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Tally

# Covariance matrices that can be inverted: shrinkage, and what is done where a matrix is singular.


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


# Means and covariances of the classes, from their counts, sums and scatter.


POOLED, EACH = "number:scatter", "number:scatters"  # the tables in the tally


@dataclass(frozen=True)
class EstimatedMoments:
    """Counts, means and scatter, the columns in the table's order."""

    columns: Labels
    counts: Floats  # complete rows (or their weight) of each class
    means: Floats  # (classes, columns); of a class without rows, that of all
    apart: Floats  # the means less the centre, to the last digit
    centre: Floats  # the mean of all rows
    within: Floats  # S of all classes together
    each: Floats | None  # S of each class
    between: Floats  # Σ N_k (μ_k - centre)(μ_k - centre)ᵀ

    @property
    def rows(self) -> float:
        """The complete rows of all classes."""
        return float(self.counts.sum())

    @property
    def variances(self) -> Floats:
        """The variance of each whole column."""
        return np.asarray(np.diag(self.within + self.between) / self.rows)


def table_of(tally: Tally, columns: Labels, name: str) -> Moments:
    """The table of the complete rows; an error where there is none."""
    table = tally.scatter(name)
    if table is None:
        raise InputError(
            f"no row has a value in every column of {len(columns)}, so there is no covariance to estimate; fill in the "
            "missing values, or drop the columns that have most of them"
        )
    return table


def moments_of(tally: Tally, columns: Labels, classes: Labels, name: str = POOLED) -> EstimatedMoments:
    """The sums of a tally as means and scatter."""
    table = table_of(tally, columns, name).over(classes)
    order = find(table.columns, columns)
    square = np.ix_(order, order)
    counts, means = table.counts.floats(), table.means()[:, order]
    total = Exact.canonical(table.sums.limbs.sum(axis=1, keepdims=True), table.sums.low)
    everyone = Exact.canonical(table.counts.limbs.sum(axis=1, keepdims=True), table.counts.low)
    middle = quotients(total, everyone)[0]
    centre = middle[order]
    means = np.where(counts[:, np.newaxis] > 0, means, centre)
    apart = np.where(counts[:, np.newaxis] > 0, table.means_from(middle)[:, order], 0.0)
    products = table.scatter()
    within = products if table.pooled else products.sum(axis=0)
    return EstimatedMoments(
        columns,
        counts,
        means,
        apart,
        centre,
        within[square],
        None if table.pooled else products[:, order[:, np.newaxis], order],
        (counts[:, np.newaxis] * apart).T @ apart,
    )


@dataclass(frozen=True)
class Gaussians:
    """A Gaussian for each class, with one covariance for all or one for each."""

    columns: Labels
    counts: Floats
    means: Floats  # (classes, columns)
    apart: Floats  # the means less the centre
    centre: Floats
    covariances: Floats  # (1, columns, columns), or (classes, columns, columns)
    triangles: tuple[Triangle, ...]
    roots: Floats  # of the inverses: (1, columns, rank), or (classes, columns, rank)
    shrinkage: Floats
    remarks: tuple[str, ...] = ()

    @property
    def shared(self) -> bool:
        """Whether one covariance serves all."""
        return len(self.covariances) == 1

    @property
    def constants(self) -> Floats:
        """The log density of each class at its mean."""
        log = math.log(2 * math.pi)
        found = [-0.5 * (int(each.free.sum()) * log + each.log_determinant) for each in self.triangles]
        return np.resize(np.array(found), len(self.means))

    def marginal(self, kept: NDArray[np.bool_]) -> Gaussians:
        """Of some columns only, the others integrated out."""
        return gaussians(
            self.columns[kept],
            self.counts,
            self.means[:, kept],
            self.apart[:, kept],
            self.centre[kept],
            self.covariances[:, kept][:, :, kept],
            self.shrinkage,
        )

    def lines(self) -> tuple[Floats, Floats]:
        """w_k = Σ⁻¹μ_k and b_k = -½ μ_kᵀΣ⁻¹μ_k, about the centre: for x - centre, and μ_k - centre in place of μ_k."""
        placed = self.apart @ self.roots[0]
        return placed @ self.roots[0].T, -0.5 * (placed**2).sum(axis=1)


def gaussians(
    columns: Labels,
    counts: Floats,
    means: Floats,
    apart: Floats,
    centre: Floats,
    covariances: Floats,
    shrinkage: Floats,
    remarks: tuple[str, ...] = (),
) -> Gaussians:
    """With the triangles and inverses worked out."""
    triangles = tuple(triangle(each) for each in covariances)
    found = [root_of_inverse(each, factor) for each, factor in zip(covariances, triangles)]
    roots = np.zeros((len(found), len(columns), max((root.shape[1] for root in found), default=0)))
    for root, own in zip(roots, found):
        root[:, : own.shape[1]] = own
    return Gaussians(columns, counts, means, apart, centre, covariances, triangles, roots, shrinkage, remarks)


def estimated(
    tally: Tally,
    columns: Labels,
    classes: Labels,
    floor: float,
    shrinkage: float | str | None = None,
    *,
    pooled: bool = True,
    unbiased: bool = False,
) -> Gaussians:
    """Means and covariances: shrunk as asked, and regular (or, where one serves all, with a pseudo-inverse).

    No variance within the classes falls below the floor, a fraction of the whole column's.
    """
    found = moments_of(tally, columns, classes, POOLED if pooled else EACH)
    least = floor * found.variances
    if found.each is None:
        seen = int((found.counts > 0).sum())
        scatters, rows, less = found.within[np.newaxis], np.array([found.rows]), seen
    else:
        scatters, rows, less = found.each, found.counts, 1
    covariances, amounts = np.empty(scatters.shape), np.zeros(len(scatters))
    for k, (scatter, n) in enumerate(zip(scatters, rows)):
        below = n - less if unbiased and n > less else n
        covariance = scatter / below if below > 0 else scatter
        if shrinkage is not None:
            amounts[k] = oracle_approximating(covariance, n) if shrinkage == "auto" else float(shrinkage)
            covariance = shrunk(covariance, float(amounts[k]))
        covariances[k] = covariance
    remarks = list(_remarks_on_columns(found, covariances, least))
    at = np.diag_indices(len(columns))
    if found.each is None:
        covariances[0][at] = np.maximum(covariances[0][at], least)
    else:
        stand_in = found.within / found.rows
        stand_in[at] = np.maximum(stand_in[at], least)
        mended = []
        for k in range(len(covariances)):
            factor = triangle(covariances[k])
            if (factor.dependent | factor.fixed)[least > 0].any():
                covariances[k] = filled(covariances[k], stand_in, found.variances)
                if found.counts[k] > 0:
                    mended.append((classes.tolist()[k], float(found.counts[k]), factor))
        if mended:
            remarks.append(_remark_on_classes(mended, columns))
    result = gaussians(columns, found.counts, found.means, found.apart, found.centre, covariances, amounts)
    if found.each is None and result.triangles[0].dependent.any():
        remarks.append(_remark_on_shared(found, columns, result.triangles[0]))
    return replace(result, remarks=tuple(remarks))


def named(columns: Labels, chosen: NDArray[np.bool_]) -> str:
    """Some columns, as a message names them."""
    names = [column_name(name) for name in columns[chosen].tolist()]
    shown = ", ".join(repr(name) for name in names[:5])
    return f"column{'s' if len(names) > 1 else ''} {shown}" + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _remarks_on_columns(found: EstimatedMoments, covariances: Floats, floor: Floats) -> Iterator[str]:
    variances = diagonal(covariances).max(axis=0)
    constant, decisive = (variances == 0) & (floor == 0), (variances < floor) & (floor > 0)
    if constant.any():
        yield f"{named(found.columns, constant)}: the same value in every row, left out"
    if decisive.any():
        yield (
            f"{named(found.columns, decisive)}: no variance within the classes, only between them; a variance of "
            "1e-9 of the whole column's stands in, so the column decides alone"
        )


def _remark_on_shared(found: EstimatedMoments, columns: Labels, factor: Triangle) -> str:
    few = found.rows - (found.counts > 0).sum() < (~factor.fixed).sum()
    why = f"there are {found.rows:g} complete rows for {len(columns)} columns" if few else "some columns are collinear"
    follow = "follows" if factor.dependent.sum() == 1 else "follow"
    return (
        f"the covariance is singular, for {why}: {named(columns, factor.dependent)} {follow} from the "
        "columns before; the discriminant is the one of least norm (by the pseudo-inverse); shrinkage='auto' makes the "
        "covariance regular"
    )


def _remark_on_classes(mended: list[tuple[Any, float, Triangle]], columns: Labels) -> str:
    label, rows, factor = mended[0]
    few = rows <= len(columns)
    why = (
        f"has {rows:g} complete rows, too few for the covariance of {len(columns)} columns"
        if few
        else f"has a singular covariance ({named(columns, factor.dependent | factor.fixed)})"
    )
    likewise = f" (and {len(mended) - 1} more likewise)" if len(mended) > 1 else ""
    return (
        f"class {label!r} {why}{likewise}; where it does not vary, the covariance of all classes together stands in; "
        "shrinkage='auto' or covariance='shared' need no such thing"
    )


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
            return Tally({self.name: Moments.of(chunk.classes, block.names, counts, sums, squares)})
        rows: moments.Rows = block
        kept = loops.complete(block)
        if kept is not None:
            if len(kept) == 0:
                return Tally()
            rows, labels, weights = loops.Kept(block, kept), labels[kept], weights[kept]
        by_column, sums, _ = moments.weighted_moments(rows, labels, weights, K)
        counts = Exact.canonical(by_column.limbs[..., 0].copy(), by_column.low)  # complete rows: as many in any column
        squares = products.weighted_products(rows, labels, weights, K, pooled=self.pooled)
        return Tally({self.name: Moments.of(chunk.classes, block.names, counts, sums, squares)})

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
        block.refuse_infinite(infinite)
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
        block.refuse_infinite(infinite)
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


# Least squares on one-hot targets, from the counts, sums and scatter of the classes.


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
        """Add f_k to out (rows × classes); a row with missing values is answered from the columns it has."""
        holes, infinite = loops.add_lines(block, self.centre, self.weights, self.shares, out)
        block.refuse_infinite(infinite)
        for places, kept, rows in by_pattern(block, holes):
            part = self.without(kept)
            out[places] += self.shares + (rows - part.centre) @ part.weights.T

    @property
    def brier(self) -> float:
        """The mean over the rows of Σ_k (f_k - y_k)², from the sums alone: what least squares makes least."""
        w, g = self.weights, self.pulls
        spread = self.shares * (1 - self.shares)
        return float((spread - 2 * (w * g).sum(axis=1) + np.einsum("ki,ij,kj->k", w, self.scatter, w)).sum())


def lines_of(found: EstimatedMoments, l2: float) -> Lines:
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
