"""Means and covariances of the classes, from their counts, sums and scatter.

μ_k = s_k / N_k        Σ = S / N (one for all classes)        or        Σ_k = S_k / N_k
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.exact import Exact
from ingenuo.families.covariance import (
    Triangle,
    filled,
    oracle_approximating,
    root_of_inverse,
    shrunk,
    triangle,
)
from ingenuo.families.family import Floats
from ingenuo.labels import Labels, find
from ingenuo.scatter import Scatter, diagonal, quotients
from ingenuo.schema import column_name
from ingenuo.tally import Tally

POOLED, EACH = "number:scatter", "number:scatters"  # the tables in the tally


@dataclass(frozen=True)
class Moments:
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


def table_of(tally: Tally, columns: Labels, name: str) -> Scatter:
    """The table of the complete rows; an error where there is none."""
    table = tally.scatter(name)
    if table is None:
        raise InputError(
            f"no row has a value in every column of {len(columns)}, so there is no covariance to estimate; fill in the "
            "missing values, or drop the columns that have most of them"
        )
    return table


def moments_of(tally: Tally, columns: Labels, classes: Labels, name: str = POOLED) -> Moments:
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
    return Moments(
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


def _remarks_on_columns(found: Moments, covariances: Floats, floor: Floats) -> Iterator[str]:
    variances = diagonal(covariances).max(axis=0)
    constant, decisive = (variances == 0) & (floor == 0), (variances < floor) & (floor > 0)
    if constant.any():
        yield f"{named(found.columns, constant)}: the same value in every row, left out"
    if decisive.any():
        yield (
            f"{named(found.columns, decisive)}: no variance within the classes, only between them; a variance of "
            "1e-9 of the whole column's stands in, so the column decides alone"
        )


def _remark_on_shared(found: Moments, columns: Labels, factor: Triangle) -> str:
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
