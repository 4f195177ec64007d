"""Numbers: one Gaussian for each class and column, from exact sums.

    μ = Σx / n        σ² = Σ(x - μ)² / n = (n Σx² - (Σx)²) / n²        (or n - 1 below, on request)

Sums are exact, so the difference n Σx² - (Σx)² is too: no offset, however large, costs a digit. A class with at
most one value in a column has no spread of its own and takes the column's; one with no value at all takes the
column's mean as well. No variance falls below the prior's floor, a fraction of the column's own variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError
from ingenuo.families.family import Family, refuse_more_than_rows
from ingenuo.families.left_out import LearnedRows, estimate_again
from ingenuo.kernels import densities, moments, portable
from ingenuo.kernels import left_out as loops
from ingenuo.rows.part import Chunk, Numbers
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Term
from ingenuo.tally.exact import Exact, ratio
from ingenuo.tally.labels import Labels, unite
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Sums, Table, Tally

# The least and the largest normal double: between them 1/σ is finite and not zero.
NORMAL = (np.finfo(float).tiny, np.finfo(float).max)
# Squares of numbers beyond these, and what is left of them when one is left out, would leave the doubles.
_SMALL, _LARGE = 1e-100, 1e100
COUNT, SUM, SQUARE = "number:count", "number:sum", "number:square"


@dataclass(frozen=True)
class GaussianParameters:
    """Mean and standard deviation of each class and column."""

    columns: Labels
    counts: Floats  # (classes, columns)
    means: Floats
    deviations: Floats
    seen: Floats | None = None  # the deviations without a floor
    whole: Floats | None = None  # (columns,) and those of the whole columns


@dataclass(frozen=True)
class Gaussian(Family):
    """A Gaussian per class and column; the variance over n, or n - 1 if unbiased."""

    unbiased: bool = False

    def tally(self, chunk: Chunk, block: Numbers) -> Tally:
        """Values seen, their sum and the sum of their squares."""
        K = len(chunk.classes)
        if chunk.weights is None:
            missing, sums, squares = moments.moments(block, chunk.coded, K)
            counts = Exact.counts(chunk.rows_by_class[:, np.newaxis] - missing)
        else:
            counts, sums, squares = moments.weighted_moments(block, chunk.coded, chunk.weights, K)
        axes = {"class": chunk.classes, "column": block.names}
        return Tally(
            {
                COUNT: Table.of(axes, counts),
                SUM: Table.of(axes, sums, signed=True),
                SQUARE: Table.of(axes, squares),
            }
        )

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> GaussianParameters:
        """Means and deviations, rounded once from the exact sums."""
        counts, means, own, overall, exponents = spread(tally, columns, classes, unbiased=self.unbiased)
        alone = (own == 0) & (counts <= 1)
        variances = np.where(alone, overall, np.maximum(own, prior.floor * overall))
        variances = np.where(variances == 0, np.where(overall == 0, 1.0, np.finfo(float).tiny), variances)
        with np.errstate(over="ignore", under="ignore"):
            deviations, seen, whole = (np.ldexp(np.sqrt(each), exponents) for each in (variances, own, overall))
        return GaussianParameters(columns, counts, means, deviations.clip(*NORMAL), seen, whole)

    def log_likelihood(
        self, parameters: GaussianParameters, block: Numbers, out: Floats, floor: float | None = None
    ) -> None:
        """Add the log densities; a missing value adds nothing."""
        block.refuse_infinite(densities.add_gaussian(block, parameters.means, parameters.deviations, out))

    def factors(self, parameters: GaussianParameters, block: Numbers) -> list[Factor]:
        """f(x | μ, σ) of each class."""
        row = np.asarray(block.rows(0, 1)[0], np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            z = (row - parameters.means) * (1.0 / parameters.deviations)
            logs = densities.constants(parameters.deviations) - 0.5 * np.minimum(z * z, densities.FARTHEST)
        chances = portable.exp(logs)
        found = []
        for j, (name, x) in enumerate(zip(parameters.columns.tolist(), row.tolist())):
            if math.isnan(x):
                found.append(Factor(column_name(name), "missing", note="left out"))
                continue
            columns = (each[:, j].tolist() for each in (parameters.means, parameters.deviations, chances, logs))
            terms = (Term(f"f({x:.6g} | μ {mean:.6g}, σ {sd:.6g})", p, log) for mean, sd, p, log in zip(*columns))
            found.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        return found

    def sample(
        self, parameters: GaussianParameters, drawn: NDArray[np.intp], rng: np.random.Generator
    ) -> dict[Any, NDArray[Any]]:
        """Normal deviates."""
        return {
            name: rng.normal(parameters.means[drawn, j], parameters.deviations[drawn, j])
            for j, name in enumerate(parameters.columns.tolist())
        }

    def left_out(self, rows: LearnedRows, prior: Prior, block: Numbers) -> Floats:
        """The mean and the variance of a class without one of its values, from exact sums about a centre."""
        tally, columns, classes = rows.tally, block.names, rows.classes
        sums = _centred(tally, columns, classes)
        p = self.estimate(tally, prior, rows.schema, columns, classes)
        _, _, own, overall, exponents = spread(tally, columns, classes, unbiased=self.unbiased)
        with np.errstate(over="ignore", under="ignore"):
            variances = np.ldexp(np.vstack([own, overall]), 2 * exponents)
        state = np.select(
            [p.counts == 0, (own == 0) & (p.counts <= 1), own < 2 * prior.floor * overall, own == 0],
            [loops.NOTHING, loops.COLUMN, loops.FLOOR, loops.FLOOR],
            loops.OWN,
        ).astype(np.int64)
        inverse = 1 / p.deviations
        others = loops.Others(p.means, inverse, np.log(inverse) - loops.HALF_LOG_2PI, variances, state)
        far = ~((np.abs(sums.centres).max(axis=0) < _LARGE) & (variances.max(axis=0) < _LARGE))
        far |= (overall > 0) & ~(variances[-1] > _SMALL)
        out = np.zeros((block.n_rows, len(classes)))
        doubtful = loops.left_out(
            block, rows.chunk.coded, rows.chunk.weights, sums, others, prior.floor, self.unbiased, out[np.newaxis]
        )
        again = doubtful.any(axis=1)
        for j in np.flatnonzero(far).tolist():
            again |= ~np.isnan(block.column(j))
        if again.any():
            out[again] = estimate_again(self, rows, prior, block, np.flatnonzero(again))
        return out

    def check(self, tally: Tally) -> None:
        """No numbers have n Σx² < (Σx)², no sum is left where none is counted, no class has more than its rows."""
        refuse_more_than_rows(tally, COUNT)
        if not any(name in tally for name in (COUNT, SUM, SQUARE)):
            return
        classes, columns = (
            reduce(unite, [tally.labels(name, axis) for name in (COUNT, SUM, SQUARE)]) for axis in (0, 1)
        )
        n, s, q = (_integers(tally.over(name, classes, columns)) for name in (COUNT, SUM, SQUARE))
        impossible = np.argwhere(np.asarray(_scatter(n, s, q)[0] < 0, bool))
        if len(impossible):
            k, j = impossible[0]
            raise ForgetError(
                f"cannot take these rows away: the numbers left in column {column_name(columns[j])!r} of class "
                f"{classes.tolist()[k]!r} would have a negative variance; only rows that were learned can be forgotten"
            )


def _centred(tally: Tally, columns: Labels, classes: Labels) -> loops.Sums:
    """The sums about centres near the means, of each class and of all of them."""
    n, s, q = (_whole(tally, name, columns, classes) for name in (COUNT, SUM, SQUARE))
    shape = n.shape
    centres, counts = np.zeros(shape), np.zeros(shape)
    first, second = np.zeros((*shape, 2)), np.zeros((*shape, 2))
    for cell in np.ndindex(shape):
        if n[cell] == 0:
            continue
        c = _float(s[cell] / n[cell])
        centre = Fraction(c) if np.isfinite(c) else Fraction(0)
        centres[cell], counts[cell] = float(centre), _float(n[cell])
        first[cell] = _pair(s[cell] - n[cell] * centre)
        second[cell] = _pair(q[cell] - 2 * centre * s[cell] + n[cell] * centre * centre)
    return loops.Sums(centres, counts, first, second)


def _whole(tally: Tally, name: str, columns: Labels, classes: Labels) -> NDArray[Any]:
    """The sums of each class, and in a last row of all of them, as fractions."""
    sums = tally.over(name, classes, columns)
    assert isinstance(sums, Exact)
    found = sums.fractions()
    return np.vstack([found, found.sum(axis=0)[np.newaxis]])


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _pair(value: Any) -> tuple[float, float]:
    high = _float(value)
    return (high, float(value - Fraction(high))) if np.isfinite(high) else (high, 0.0)


def spread(
    tally: Tally, columns: Labels, classes: Labels, *, unbiased: bool = False
) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.int64]]:
    """Counts, means and variances (classes × columns), the whole columns' variances, and binary exponents.

    Variances are given in units of 2^(2·exponent), an exponent per column, so that none over- or underflows.
    """
    n, s, q = (_integers(tally.over(name, classes, columns)) for name in (COUNT, SUM, SQUARE))
    every = [(number.sum(axis=0, keepdims=True) if len(classes) else number, e) for number, e in (n, s, q)]
    column_means = _ratios(every[1], every[0])[0]
    scatter = _scatter(*every)
    exponents = np.array(
        [_exponent(top, scatter[1], bottom, every[0][1]) for top, bottom in zip(scatter[0][0], every[0][0][0])],
        np.int64,
    ).reshape(len(columns))
    overall = _variances(scatter, every[0], exponents, unbiased=False)[0]
    variances = _variances(_scatter(n, s, q), n, exponents, unbiased=unbiased)
    means = np.where(np.asarray(n[0] == 0, bool), column_means, _ratios(s, n))
    return tally.over(COUNT, classes, columns).floats(), means, variances, overall, exponents


Whole = tuple[NDArray[Any], int]  # Python integers, and the exponent of two they are to be multiplied by


def _integers(sums: Sums) -> Whole:
    assert isinstance(sums, Exact)
    return sums.integers()


def _scatter(n: Whole, s: Whole, q: Whole) -> Whole:
    """N Σx² - (Σx)², exactly."""
    left, right = n[1] + q[1], 2 * s[1]
    low = min(left, right)
    return n[0] * q[0] * (1 << (left - low)) - s[0] * s[0] * (1 << (right - low)), low


def _ratios(top: Whole, bottom: Whole) -> Floats:
    flat = [ratio(int(a), int(b), top[1] - bottom[1]) for a, b in zip(top[0].flat, bottom[0].flat)]
    return np.array(flat, np.float64).reshape(top[0].shape)


def _variances(scatter: Whole, n: Whole, exponents: NDArray[np.int64], *, unbiased: bool) -> Floats:
    """The scatter over n² (or n(n - 1)), in units of 2^(2·exponent); zero where it is not defined."""
    one = 1 << -n[1] if unbiased and n[1] <= 0 else 0  # in the units of n; nothing beside multiples of 2^40
    result = np.zeros(n[0].shape)
    for (k, j), a in np.ndenumerate(scatter[0]):
        b = int(n[0][k, j])
        below = b * (b - one)
        if below > 0:
            result[k, j] = ratio(a, below, scatter[1] - 2 * n[1] - 2 * int(exponents[j]))
    return result


def _exponent(top: int, top_exponent: int, bottom: int, bottom_exponent: int) -> int:
    """e with a standard deviation near 2^e."""
    if top == 0 or bottom == 0:
        return 0
    size = top.bit_length() + top_exponent - 2 * (bottom.bit_length() + bottom_exponent)
    return size // 2
