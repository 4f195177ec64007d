"""Numbers: one Gaussian over all columns for each class, with one covariance for all classes or one for each.

A row with a missing value is left out of the sums; in a prediction a missing value is integrated out, which for a
Gaussian means: its row and column of Σ are left out. With one Σ for all classes the log odds are linear in x, and
answers need a product by a few weights only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.family import Family, Measure, Parameters, Values, cannot_forget
from ingenuo.families.gaussian import NORMAL, GaussianParameters
from ingenuo.kernels import densities as loops
from ingenuo.kernels import moments
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Numbers, Places
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Term, exponential
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, find
from ingenuo.tally.moments import Moments, quotients
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Tally

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SHARED, FULL = "gaussian-shared", "gaussian-full"  # the families
POOLED, EACH = "number:scatter", "number:scatters"  # their tables in the tally
SINGULAR = 1e-11  # rounding leaves about 1e-14 of a column that is a combination of others
_PIECE = 1 << 14  # incomplete rows that are looked at together


def oracle_approximating(covariance: Floats, n: float) -> float:
    """How far to shrink a covariance of n rows: (tr S² + tr² S) / ((n + 1)(tr S² - tr² S / d)) (Chen et al. 2010)."""
    square, trace = float((covariance * covariance).sum()), float(np.trace(covariance))
    below = (n + 1) * (square - trace * trace / len(covariance))
    return 1.0 if below <= 0 else min(1.0, (square + trace * trace) / below)


def variances_towards_their_mean(variances: Floats, n: float) -> float:
    """How far to shrink variances towards their mean: (1 - 1/d) Σ var(s_j) / Σ (s_j - mean)², with var(s) = 2 s²/n."""
    below = float(((variances - variances.mean()) ** 2).sum())
    above = (1 - 1 / len(variances)) * 2 / n * float((variances**2).sum())
    return 1.0 if below <= 0 else min(1.0, above / below)


@dataclass(frozen=True)
class Triangle:
    """S = L Lᵀ, column by column, the columns that are combinations of those before them left out."""

    lower: Floats  # the columns of L that are left out are zero
    fixed: Flags  # columns of no variance
    dependent: Flags  # columns that the ones before them determine

    @staticmethod
    def of(covariance: Floats) -> Triangle:
        """The Cholesky factor of a covariance, singular or not."""
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

    @property
    def free(self) -> Flags:
        """The columns that say something of their own."""
        return ~(self.fixed | self.dependent)

    @property
    def log_determinant(self) -> float:
        """Of the free columns' covariance."""
        return 2 * float(np.log(np.diag(self.lower)[self.free]).sum())

    def solve(self, right: Floats) -> Floats:
        """z with L z = right, on the free columns; 0 on the others."""
        free = np.flatnonzero(self.free)
        lower, found = self.lower[np.ix_(free, free)], right[free]
        for i in range(len(free)):  # from the top, without an import of SciPy
            found[i] = (found[i] - lower[i, :i] @ found[:i]) / lower[i, i]
        result = np.zeros(right.shape)
        result[free] = found
        return result

    def root_of_inverse(self, covariance: Floats) -> Floats:
        """A (d × r) with A Aᵀ the inverse of the covariance, or its pseudo-inverse where it is singular."""
        free = np.flatnonzero(self.free)
        if not self.dependent.any():
            return self.solve(np.eye(len(covariance)))[free].T
        live = np.flatnonzero(~self.fixed)
        scale = np.sqrt(np.diag(covariance))[live]
        values, vectors = np.linalg.eigh(covariance[np.ix_(live, live)] / scale[:, np.newaxis] / scale)
        vectors = vectors / scale[:, np.newaxis]
        kept = vectors[:, -len(free) :] / np.sqrt(values[-len(free) :])
        # Of all inverses on the range, the pseudo-inverse is the one that is zero on what the covariance sends to 0.
        nothing, _ = np.linalg.qr(vectors[:, : -len(free)])
        root = np.zeros((len(covariance), len(free)))
        root[live] = kept - nothing @ (nothing.T @ kept)
        return root


def fill_in(covariance: Floats, stand_in: Floats, variances: Floats) -> Floats:
    """A covariance that is regular: in the directions in which it is zero, another one stands in.

    Where the other is zero as well, a deviation of the whole table (or of the column, if that is more) does.
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


@dataclass(frozen=True)
class EstimatedMoments:
    """Counts, means and scatter, the columns in the table's order."""

    columns: Labels
    counts: Floats  # complete rows (or their weight) of each class
    means: Floats  # (classes, columns); of a class without rows, that of all
    offsets: Floats  # the means less the centre, to the last digit
    centre: Floats  # the mean of all rows
    within: Floats  # S of all classes together
    each: Floats | None  # S of each class
    between: Floats  # Σ N_k (μ_k - centre)(μ_k - centre)ᵀ

    @cached_property
    def rows(self) -> float:
        """The complete rows of all classes."""
        return float(self.counts.sum())

    @cached_property
    def variances(self) -> Floats:
        """The variance of each whole column."""
        return np.asarray(np.diag(self.within + self.between) / self.rows)


def _table_of(tally: Tally, columns: Labels, name: str) -> Moments:
    """The table of the complete rows; an error where there is none."""
    table = tally.scatter(name)
    if table is None:
        raise InputError(
            f"no row has a value in every column of {len(columns)}, so there is no covariance to estimate; fill in the "
            "missing values, or drop the columns that have most of them"
        )
    return table


def refuse_incomplete(tally: Tally, schema: Schema, family: str) -> None:
    """Raise where no row is complete, as where a column has no value at all."""
    _table_of(tally, schema.columns(family), POOLED if family == SHARED else EACH)


def moments_of(tally: Tally, columns: Labels, classes: Labels, name: str = POOLED) -> EstimatedMoments:
    """The sums of a tally as means and scatter."""
    table = _table_of(tally, columns, name).over(classes)
    order = find(table.columns, columns)
    counts = table.counts.floats()
    seen = counts[:, np.newaxis] > 0
    total, everyone = (
        Exact.canonical(sums.limbs.sum(axis=1, keepdims=True), sums.low) for sums in (table.sums, table.counts)
    )
    middle = quotients(total, everyone)[0]
    means = np.where(seen, table.means()[:, order], middle[order])
    offsets = np.where(seen, table.means_from(middle)[:, order], 0.0)
    scatter = table.scatter()[..., order[:, np.newaxis], order]
    within, each = (scatter, None) if table.pooled else (scatter.sum(axis=0), scatter)
    between = (counts[:, np.newaxis] * offsets).T @ offsets
    return EstimatedMoments(columns, counts, means, offsets, middle[order], within, each, between)


@dataclass(frozen=True)
class Gaussians(Parameters):
    """A Gaussian for each class, with one covariance for all or one for each."""

    columns: Labels
    counts: Floats
    means: Floats  # (classes, columns)
    offsets: Floats  # the means less the centre
    centre: Floats
    covariances: Floats  # (1, columns, columns), or (classes, columns, columns)
    shrinkage: Floats
    shared: bool
    remarks: tuple[str, ...] = ()

    @property
    def additive(self) -> bool:  # type: ignore[override]
        """With a covariance for each class, what one column says depends on the others."""
        return self.shared

    @property
    def covariance(self) -> Floats:
        """The one covariance, or that of each class."""
        return np.asarray(self.covariances[0] if self.shared else self.covariances)

    @property
    def class_covariances(self) -> Floats:
        """A covariance for each class."""
        return np.resize(self.covariances, (len(self.means), *self.covariances.shape[1:]))

    @cached_property
    def triangles(self) -> list[Triangle]:
        """Of each covariance."""
        return [Triangle.of(each) for each in self.covariances]

    @cached_property
    def roots(self) -> Floats:
        """Of the inverses: (1, columns, rank), or (classes, columns, rank)."""
        found = [factor.root_of_inverse(each) for each, factor in zip(self.covariances, self.triangles)]
        roots = np.zeros((len(found), len(self.columns), max((root.shape[1] for root in found), default=0)))
        for root, own in zip(roots, found):
            root[:, : own.shape[1]] = own
        return roots

    @cached_property
    def log_peaks(self) -> Floats:
        """The log density of each class at its mean."""
        log = math.log(2 * math.pi)
        found = [-0.5 * (int(each.free.sum()) * log + each.log_determinant) for each in self.triangles]
        return np.resize(np.array(found), len(self.means))

    @cached_property
    def lines(self) -> tuple[Floats, Floats]:
        """w_k = Σ⁻¹μ_k and b_k = -½ μ_kᵀΣ⁻¹μ_k, about the centre: for x - centre, and μ_k - centre in place of μ_k."""
        placed = self.offsets @ self.roots[0]
        return placed @ self.roots[0].T, -0.5 * (placed**2).sum(axis=1)

    @cached_property
    def placed(self) -> Floats:
        """(μ_k - centre) A_k, with A_k the root of the inverse."""
        return loops.place(self.offsets, self.roots[0] if self.shared else self.roots)

    @property
    def constant(self) -> Any:  # type: ignore[override]
        """What the lines add at the centre."""
        return self.lines[1] if self.shared else 0.0

    def marginal(self, kept: Flags) -> Gaussians:
        """Of some columns only, the others integrated out."""
        return replace(
            self, columns=self.columns[kept], means=self.means[:, kept], offsets=self.offsets[:, kept],
            centre=self.centre[kept], covariances=self.covariances[:, kept][:, :, kept], remarks=(),
        )  # fmt: skip

    def add_log_likelihood(self, block: Numbers, out: Floats, floor: float | None = None) -> None:
        """Add the log densities; missing values are integrated out."""
        roots = self.roots[0] if self.shared else self.roots
        given = block, self.centre, roots, self.offsets, self.log_peaks, out, self.placed
        self._add_incomplete(block, loops.add_distances(*given), out, loops.DENSITY)

    def _add_incomplete(self, block: Numbers, rows: Places, out: Floats, what: int) -> None:
        """Add for rows that lack columns what those that they have say."""
        given = self.centre, self.offsets, self.covariances
        loops.add_incomplete(block, rows, *given, out, what=what)

    def add_scores(self, block: Numbers, out: Floats) -> None:
        """Add the log densities less what all classes have in common; of one covariance for all, lines."""
        if not self.shared:
            self.add_log_likelihood(block, out)
            return
        incomplete = loops.add_lines(block, self.centre, *self.lines, out)
        self._add_incomplete(block, incomplete, out, loops.LINE)

    def factors(self, block: Numbers) -> list[Factor]:
        """f(x_j | the columns above) of each class: by the chain rule their product is the joint density."""
        row = block.rows(0, 1)[0]
        there = ~np.isnan(row)
        if not there.any():
            return [
                Factor(column_name(name), say("missing"), note=say("integrated out")) for name in self.columns.tolist()
            ]
        p = self.marginal(there)
        triangles = p.triangles * (len(p.means) if p.shared else 1)
        scaled = [factor.solve(row[there] - p.centre - own) for factor, own in zip(triangles, p.offsets)]
        found, position = [], 0
        for name, x in zip(self.columns.tolist(), row):
            if math.isnan(x):
                found.append(Factor(column_name(name), say("missing"), note=say("integrated out")))
                continue
            j, position = position, position + 1
            if not triangles[0].free[j]:
                fixed = triangles[0].fixed[j]
                why = say("has one value only" if fixed else "follows from the columns above")
                found.append(Factor(column_name(name), f"{x:.6g}", note=why))
                continue
            terms = []
            for factor, z in zip(triangles, scaled):
                deviation = float(factor.lower[j, j])
                log = -math.log(max(deviation, NORMAL[0])) - 0.5 * math.log(2 * math.pi) - 0.5 * min(z[j] ** 2, 1e300)
                mean = float(x) - deviation * float(z[j])
                given = {"x": f"{x:.6g}", "mean": f"{mean:.6g}", "deviation": f"{deviation:.6g}"}
                after = say("f({x} | above: μ {mean}, σ {deviation})", **given)
                how = after if j else f"f({x:.6g} | μ {mean:.6g}, σ {deviation:.6g})"
                terms.append(Term(how, exponential(log), log))
            found.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        if not triangles[0].dependent.any():
            return found
        joint = np.zeros((1, len(p.means)))  # where Σ is singular, a row that is off its range adds something
        p.add_log_likelihood(Numbers(p.columns, 1, row[there][np.newaxis]), joint)
        rest = joint[0] - [sum(f.terms[k].log for f in found if f.terms) for k in range(len(p.means))]
        if np.abs(rest).max() > 1e-9 * max(1.0, float(np.abs(joint).max())):
            off = tuple(Term("", exponential(log), log) for log in rest.tolist())
            found.append(Factor(say("off the range of Σ"), "", off))
        return found

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Normal deviates, correlated."""
        deviates = rng.standard_normal((len(drawn), len(self.columns)))
        rows = self.means[drawn]
        for k, factor in enumerate(self.triangles):
            mine = slice(None) if self.shared else drawn == k
            rows[mine] += deviates[mine] @ factor.lower.T
        return {name: rows[:, j] for j, name in enumerate(self.columns.tolist())}

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """Distances from the means, of all columns together."""
        yield {**self.sheet_distances(), "columns": self.columns.tolist(), "covariances": self._lower}

    def sheet_distances(self) -> dict[str, Any]:
        """What whole rows are answered by."""
        own = {"centre": self.centre, "offsets": self.offsets, "roots": self.roots, "placed": self.placed}
        return {"op": "distances", **own, "peaks": self.log_peaks}

    @property
    def _lower(self) -> Floats:
        """The covariances without what is above the diagonal, row by row."""
        return np.asarray(self.covariances[:, *np.tril_indices(len(self.columns))])

    @property
    def n_parameters(self) -> int:
        """The means of each class, and the lower triangle of each covariance."""
        d = len(self.columns)
        return self.means.size + len(self.covariances) * d * (d + 1) // 2

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Measure]:
        """Lines of one covariance for all; else each column by itself, the others integrated out."""
        deviations = np.sqrt(np.maximum(np.diagonal(self.covariances, axis1=1, axis2=2), np.finfo(float).tiny))
        if not self.shared:
            yield from GaussianParameters(self.columns, self.counts, self.means, deviations).evidence(1.0, priors, "")
            return
        shares = self.counts / max(float(self.counts.sum()), 1e-300)
        for j, column in enumerate(self.columns.tolist()):
            slopes, centre, deviation = self.lines[0][:, j], float(self.centre[j]), math.sqrt(self.covariances[0, j, j])
            yield Measure.line(column, slopes, centre, self.means[:, j], deviation, shares, together=True)


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
        if weights is not None and (kept := loops.find_complete(block)) is not None:
            if len(kept) == 0:
                return Tally()
            block, labels, weights = block.take(kept), labels[kept], weights[kept]
        counts, sums, squares = moments.products(block, labels, K, weights, pooled=self.pooled)
        return Tally({self.name: Moments.of(chunk.classes, block.names, counts, sums, squares)})

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels,
        shrinkage: float | str | None = None, unbiased: bool = False,
    ) -> Gaussians:  # fmt: skip
        """Means and covariances: shrunk as asked, and regular (or, where one serves all, with a pseudo-inverse)."""
        found = moments_of(tally, columns, classes, self.name)
        least = prior.floor * found.variances
        if found.each is None:
            less = int((found.counts > 0).sum())
            scatters, rows = found.within[np.newaxis], np.array([found.rows])
        else:
            scatters, rows, less = found.each, found.counts, 1
        below = np.where((rows > less) & unbiased, rows - less, rows)
        covariances = scatters / np.where(below > 0, below, 1)[:, np.newaxis, np.newaxis]
        amounts = np.zeros(len(scatters))
        for k, n in enumerate(rows.tolist()) if shrinkage is not None else ():
            own = covariances[k]
            amounts[k] = oracle_approximating(own, n) if shrinkage == "auto" else float(shrinkage or 0)
            spherical = np.trace(own) / len(columns) * np.eye(len(columns))
            covariances[k] = (1 - amounts[k]) * own + amounts[k] * spherical
        remarks = list(_remark_on_columns(found, covariances, least))
        at = np.diag_indices(len(columns))
        if found.each is None:
            covariances[0][at] = np.maximum(covariances[0][at], least)
        else:
            stand_in = found.within / found.rows
            stand_in[at] = np.maximum(stand_in[at], least)
            mended = []
            for k in range(len(covariances)):
                factor = Triangle.of(covariances[k])
                if (factor.dependent | factor.fixed)[least > 0].any():
                    covariances[k] = fill_in(covariances[k], stand_in, found.variances)
                    if found.counts[k] > 0:
                        mended.append((classes.tolist()[k], float(found.counts[k]), factor))
            remarks += _remark_on_classes(mended, columns)
        result = Gaussians(
            columns, found.counts, found.means, found.offsets, found.centre, covariances, amounts, self.pooled
        )
        remarks += _remark_on_shared(found, result)
        return replace(result, remarks=tuple(remarks))

    def check(self, tally: Tally) -> None:
        """No class has more complete rows than rows."""
        table = tally.scatter(self.name)
        if table is None:
            return
        rows = tally.over("class", table.classes)
        assert isinstance(rows, Exact)
        for k in np.flatnonzero((rows - table.counts).signs() < 0)[:1].tolist():
            left = f"{rows.floats()[k]:g} rows left, {table.counts.floats()[k]:g} of them complete"
            raise cannot_forget(table.classes, k, left)


def _name_columns(columns: Labels, chosen: Flags) -> str:
    """Some columns, as a message names them."""
    names = [column_name(name) for name in columns[chosen].tolist()]
    shown = ", ".join(repr(name) for name in names[:5])
    return f"column{'s' if len(names) > 1 else ''} {shown}" + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _remark_on_columns(found: EstimatedMoments, covariances: Floats, floor: Floats) -> Iterator[str]:
    variances = np.diagonal(covariances, axis1=-2, axis2=-1).max(axis=0)
    constant, decisive = (variances == 0) & (floor == 0), (variances < floor) & (floor > 0)
    if constant.any():
        yield f"{_name_columns(found.columns, constant)}: the same value in every row, left out"
    if decisive.any():
        yield (
            f"{_name_columns(found.columns, decisive)}: no variance within the classes, only between them; a variance "
            "of 1e-9 of the whole column's stands in, so the column decides alone"
        )


def _remark_on_shared(found: EstimatedMoments, result: Gaussians) -> Iterator[str]:
    if not result.shared or not (factor := result.triangles[0]).dependent.any():
        return
    few = found.rows - (found.counts > 0).sum() < (~factor.fixed).sum()
    d = len(found.columns)
    why = f"there are {found.rows:g} complete rows for {d} columns" if few else "some columns are collinear"
    follow = "follows" if factor.dependent.sum() == 1 else "follow"
    yield (
        f"the covariance is singular, for {why}: {_name_columns(found.columns, factor.dependent)} {follow} from the "
        "columns before; the discriminant is the one of least norm (by the pseudo-inverse); shrinkage='auto' makes the "
        "covariance regular"
    )


def _remark_on_classes(mended: list[tuple[Any, float, Triangle]], columns: Labels) -> Iterator[str]:
    if not mended:
        return
    label, rows, factor = mended[0]
    why = f"has {rows:g} complete rows, too few for the covariance of {len(columns)} columns"
    if rows > len(columns):
        why = f"has a singular covariance ({_name_columns(columns, factor.dependent | factor.fixed)})"
    likewise = f" (and {len(mended) - 1} more likewise)" if len(mended) > 1 else ""
    yield (
        f"class {label!r} {why}{likewise}; where it does not vary, the covariance of all classes together stands in; "
        "shrinkage='auto' or covariance='shared' need no such thing"
    )


# Regularised: the scatter of each class between its own, that of all classes together, and that of no correlation.


@dataclass(frozen=True)
class Shrinkage:
    """How far the covariance of each class is shrunk, first to that of all classes, then to its diagonal."""

    pooled: float  # λ: from 0 (almost its own) to 1 (that of all classes together)
    diagonal: float  # γ: the share of the variances alone


@dataclass(frozen=True)
class Scatters:
    """Rows, means and scatter of each class, of features of about the same size: doubles suffice.

    λ counts as imaginary rows that scatter as those of all classes do, ν = (d + 1) λ/(1 - λ), at least (d + 1)/50:

        Σ_k = (1 - γ) [w_k S_k/n_k + (1 - w_k) P] + γ diag(P)        w_k = n_k/(n_k + ν)        P = Σ S_k/N
    """

    counts: Floats  # (classes,)
    means: Floats  # (classes, features); 0 of a class without rows
    each: Floats  # S of each class: (classes, features, features)
    unbiased: bool = False  # divide by a row less for each mean

    @staticmethod
    def of(counts: Floats, sums: Floats, products: Floats, *, unbiased: bool) -> Scatters:
        """From N, Σx and Σxxᵀ of each class; of the products the lower triangle, row by row."""
        d = sums.shape[1]
        means = sums / np.where(counts > 0, counts, 1)[:, np.newaxis]
        i, j = np.tril_indices(d)
        each = np.empty((len(counts), d, d))
        each[:, i, j] = each[:, j, i] = products - sums[:, i] * means[:, j]
        return Scatters(counts, means, each, unbiased)

    @cached_property
    def pooled(self) -> Floats:
        """P."""
        less = len(self.counts) if self.unbiased else 0
        return np.asarray(self.each.sum(axis=0) / max(float(self.counts.sum()) - less, 1.0))

    @cached_property
    def diagonal(self) -> Floats:
        """The variances of P; one that is 0 is a thousandth of their mean."""
        found = np.diag(self.pooled)
        return np.maximum(found, max(1e-3 * float(found.mean()), 1e-9)) if len(found) else found

    def towards_pooled(self, amount: float) -> Floats:
        """Between S_k/n_k and P: (classes, features, features), or (1, …) where all have the same."""
        if amount >= 1:
            return self.pooled[np.newaxis]
        imagined = (self.means.shape[1] + 1) * max(amount / (1 - amount), 0.02)
        own = self.counts / (self.counts + imagined)
        below = np.maximum(self.counts - self.unbiased, 1.0)
        return np.asarray(
            (own / below)[:, np.newaxis, np.newaxis] * self.each + np.multiply.outer(1 - own, self.pooled)
        )

    def covariances(self, amounts: Shrinkage) -> Floats:
        """Σ_k."""
        found = (1 - amounts.diagonal) * self.towards_pooled(amounts.pooled)
        at = np.diag_indices(len(self.diagonal))
        found[:, at[0], at[1]] += amounts.diagonal * self.diagonal
        return found

    def scores(self, X: Floats, pooled: float, diagonals: Sequence[float]) -> Floats:
        """The log densities of rows, but for what all classes share, for some γ: (γ, rows, classes).

        In the units of the diagonal, Σ_k has the same axes for every γ: they are found once.
        """
        root = 1 / np.sqrt(self.diagonal)
        found = self.towards_pooled(pooled)
        values, vectors = np.linalg.eigh(found * root[:, np.newaxis] * root)
        axes = vectors * root[:, np.newaxis]
        share = np.array(diagonals)
        out = np.empty((len(share), len(X), len(self.counts)))
        for k, mean in enumerate(self.means):
            at = min(k, len(axes) - 1)
            spread = (1 - share) * np.maximum(values[at], 0.0)[:, np.newaxis] + share
            placed = X @ axes[at]
            placed -= mean @ axes[at]
            placed *= placed
            out[:, :, k] = (placed @ (-0.5 / spread) - 0.5 * np.log(spread).sum(axis=0)).T
        return out


class Fold(NamedTuple):
    """What the rows of all other folds give, and the rows of one."""

    held: Places
    features: Floats  # of the rows held
    scatters: Scatters
    log_shares: Floats


def left_out_scores(
    folds: list[Fold], wanted: Places, n: int, K: int, pooled: float, diagonals: Sequence[float]
) -> Floats:
    """The log joints of the wanted rows by what the other folds give: (γ, rows, classes)."""
    out = np.empty((len(diagonals), len(wanted), K))
    place = np.full(n, -1)
    place[wanted] = np.arange(len(wanted))
    for fold in folds:
        at = place[fold.held]
        out[:, at[at >= 0]] = fold.scatters.scores(fold.features[at >= 0], pooled, diagonals)
    return out


class FeatureGaussians(Gaussians):
    """Gaussians of features, of which none says anything by itself."""

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Measure]:
        """None."""
        raise InputError(
            "a regularised discriminant multiplies features that are made of the columns, so a column says nothing by "
            "itself; take explain, which shows what it says in a row, or covariance='shared'"
        )


@dataclass(frozen=True)
class Lines:
    """f_k(x) = shares_k + weights_k · (x - centre), by the weights of least norm that solve the normal equations."""

    columns: Labels
    shares: Floats  # π_k, of the complete rows
    centre: Floats
    scatter: Floats  # T / N
    pulls: Floats  # N_k (μ_k - m) / N
    l2: float  # λ / N

    @staticmethod
    def of(found: EstimatedMoments, l2: float) -> Lines:
        """The lines for the sums of some rows."""
        n = found.rows
        pulls = found.counts[:, np.newaxis] * found.offsets / n
        return Lines(found.columns, found.counts / n, found.centre, (found.within + found.between) / n, pulls, l2 / n)

    @cached_property
    def _system(self) -> tuple[Floats, Triangle]:
        system = self.scatter + self.l2 * np.eye(len(self.columns))
        return system, Triangle.of(system)

    @cached_property
    def weights(self) -> Floats:
        """(classes, columns)"""
        system, factor = self._system
        root = factor.root_of_inverse(system)
        return np.asarray((self.pulls @ root) @ root.T)

    @property
    def remark(self) -> str:
        """What to warn of."""
        lost = ~self._system[1].free
        if not lost.any():
            return ""
        one = lost.sum() == 1
        return (
            f"the normal equations are singular: {_name_columns(self.columns, lost)} {'is' if one else 'are'} constant "
            f"or follow{'s' if one else ''} from the columns before; the weights are those of least norm; l2 above 0 "
            "makes them regular"
        )

    def without(self, kept: Flags) -> Lines:
        """Least squares on some of the columns only, as if the others had never been there."""
        square, pulls = np.ix_(kept, kept), self.pulls[:, kept]
        return Lines(self.columns[kept], self.shares, self.centre[kept], self.scatter[square], pulls, self.l2)

    def add_to(self, block: Numbers, out: Floats) -> None:
        """Add f_k to out (rows × classes); a row with missing values is answered from the columns it has."""
        rows = loops.add_lines(block, self.centre, self.weights, self.shares, out)
        given = self.centre, self.pulls, self._system[0][np.newaxis]
        loops.add_incomplete(block, rows, *given, out, self.shares, what=loops.SHARE)

    def sheet_node(self) -> dict[str, Any]:
        """The lines, and the system of which rows that lack columns solve their part."""
        lower = np.tril_indices(len(self.columns))
        own = {"columns": self.columns.tolist(), "centre": self.centre, "weights": self.weights, "shares": self.shares}
        return {"op": "least squares", **own, "pulls": self.pulls, "covariances": self._system[0][lower][np.newaxis]}

    @property
    def brier(self) -> float:
        """The mean over the rows of Σ_k (f_k - y_k)², from the sums alone: what least squares makes least."""
        w, spread = self.weights, self.shares * (1 - self.shares)
        bent = np.einsum("ki,ij,kj->k", w, self.scatter, w)
        return float((spread - 2 * (w * self.pulls).sum(axis=1) + bent).sum())
