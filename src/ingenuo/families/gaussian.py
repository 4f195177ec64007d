"""Numbers: one Gaussian for each class and column, from exact sums.

    μ = Σx / n        σ² = Σ(x - μ)² / n = (n Σx² - (Σx)²) / n²        (or n - 1 below, on request)

The prior's imaginary rows have the variance S² of the whole column: σ² becomes (n σ² + a S²) / (n + a), and does not
fall below the prior's floor, a fraction of S². A class of one value has no spread and takes S².
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError
from ingenuo.families.family import (
    Family,
    LearnedRows,
    Measure,
    Parameters,
    Values,
    check_rows,
    estimate_again,
)
from ingenuo.kernels import densities, moments, portable
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Numbers, Places
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Term
from ingenuo.tally.exact import Exact, ratio
from ingenuo.tally.labels import Labels, find, labels_of, unite
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Sums, Table, Tally

# The least and the largest normal double: between them 1/σ is finite and not zero.
NORMAL = (np.finfo(float).tiny, np.finfo(float).max)
# Squares of numbers beyond these, and what is left of them when one is left out, would leave the doubles.
_SMALL, _LARGE = 1e-100, 1e100
FARTHEST = 1e150  # deviations; positions beyond are taken as this far: their squares are finite
SUMS = COUNT, SUM, SQUARE = "number:count", "number:sum", "number:square"


def log_normal(x: Floats, means: Floats, deviations: Floats) -> Floats:
    """The logarithm of the normal density of each value (rows) under each Gaussian."""
    with np.errstate(over="ignore"):
        z = ((x[:, np.newaxis] - means) / deviations).clip(-FARTHEST, FARTHEST)
    return np.asarray(-portable.log(deviations) - 0.5 * math.log(2 * math.pi) - 0.5 * z * z)


@dataclass(frozen=True)
class Chosen:
    """The density that a column was given, and the scores of those that were tried.

    A score is the log likelihood of the column's values, each left out of the estimate that judges it.
    """

    density: str
    detail: str
    scores: Mapping[str, float]


class NumberParameters(Parameters):
    """Of each column of numbers, the densities of the classes by a formula."""

    letters: tuple[str, ...]  # how a person writes the parameters
    words: tuple[str, ...]  # and calls them
    discrete = False  # whether only whole numbers are possible

    @abstractmethod
    def only(self, lo: int, hi: int) -> NumberParameters:
        """The same of columns lo..hi."""

    @abstractmethod
    def figures(self, j: int) -> tuple[Floats, ...]:
        """The parameters of one column, each (classes,)."""

    @abstractmethod
    def moments(self, j: int) -> tuple[Floats, Floats]:
        """Mean and deviation of each class of one column."""

    @abstractmethod
    def log_density(self, column: object, x: Floats) -> Floats:
        """log p(x | class) of one column, for each value and class."""

    @abstractmethod
    def reach(self, column: object) -> tuple[float, float] | None:
        """Where to draw a column; None where its histogram tells."""

    @abstractmethod
    def chosen(self, column: object) -> Chosen:
        """What one column was given."""

    def how(self, j: int, x: float, k: int) -> str:
        """What a person would write for the density of class k at x."""
        given = ", ".join(f"{letter} {own[k]:.6g}" for letter, own in zip(self.letters, self.figures(j)))
        return f"f({x:.6g} | {given})"

    def normal(self, j: int) -> tuple[Floats, Floats, Floats] | None:
        """Of a Gaussian, the means, the deviations and the log density there; None of others."""
        return None

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Measure]:
        """What numbers add."""
        for j, column in enumerate(self.columns.tolist()):

            def at(x: Floats, column: object = column) -> Floats:
                return weight * self.log_density(column, np.rint(x) if self.discrete else x)

            found = Measure.of(column, at, *self.moments(j), priors, weight=weight)
            yield replace(found, low=max(found.low, self.least(j)))

    def least(self, j: int) -> float:
        """What a column is not looked at below."""
        return -math.inf


@dataclass(frozen=True)
class GaussianParameters(NumberParameters):
    """Mean and standard deviation of each class and column."""

    columns: Labels
    counts: Floats  # (classes, columns)
    means: Floats
    deviations: Floats
    seen: Floats | None = None  # the deviations without a floor
    whole: Floats | None = None  # (columns,) and those of the whole columns
    letters = ("μ", "σ")
    words = ("mean", "standard deviation")

    def only(self, lo: int, hi: int) -> GaussianParameters:
        """The same of columns lo..hi."""
        own = (each[:, lo:hi] for each in (self.counts, self.means, self.deviations))
        return GaussianParameters(self.columns[lo:hi], *own)

    def figures(self, j: int) -> tuple[Floats, ...]:
        """Mean and deviation."""
        return self.moments(j)

    def moments(self, j: int) -> tuple[Floats, Floats]:
        """Mean and deviation."""
        return self.means[:, j], self.deviations[:, j]

    def normal(self, j: int) -> tuple[Floats, Floats, Floats] | None:
        """The means, the deviations, and the log densities at the means."""
        return self.means[:, j], self.deviations[:, j], self.peaks[:, j]

    @cached_property
    def peaks(self) -> Floats:
        """The log density of each class and column at its mean."""
        return densities.constants(self.deviations)

    @property
    def covariance(self) -> Floats:
        """The variances."""
        return np.asarray(self.deviations**2)

    @property
    def class_covariances(self) -> Floats:
        """A diagonal matrix for each class."""
        return np.asarray(self.deviations[:, np.newaxis] ** 2 * np.eye(len(self.columns)))

    def add_log_likelihood(self, block: Numbers, out: Floats, floor: float | None = None) -> None:
        """Add the log densities; a missing value adds nothing."""
        densities.add_gaussian(block, self.means, self.deviations, out, self.peaks)

    def factors(self, block: Numbers) -> list[Factor]:
        """f(x | μ, σ) of each class."""
        row = np.asarray(block.rows(0, 1)[0], np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            z = (row - self.means) * (1.0 / self.deviations)
            logs = self.peaks - 0.5 * np.minimum(z * z, densities.FARTHEST)
        chances = portable.exp(logs)
        found = []
        for j, (name, x) in enumerate(zip(self.columns.tolist(), row.tolist())):
            if math.isnan(x):
                found.append(Factor(column_name(name), say("missing"), note=say("left out")))
                continue
            columns = zip(chances[:, j].tolist(), logs[:, j].tolist())
            terms = (Term(self.how(j, x, k), p, log) for k, (p, log) in enumerate(columns))
            found.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        return found

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Normal deviates."""
        return {
            name: rng.normal(self.means[drawn, j], self.deviations[drawn, j])
            for j, name in enumerate(self.columns.tolist())
        }

    def log_density(self, column: object, x: Floats) -> Floats:
        """log p(x | class) of one column, for each value and class."""
        at = self.columns.tolist().index(column)
        return log_normal(np.asarray(x, np.float64), self.means[:, at], self.deviations[:, at])

    def chosen(self, column: object) -> Chosen:
        """The only density there is."""
        return Chosen("gaussian", "mean and deviation", {})

    def reach(self, column: object) -> tuple[float, float] | None:
        """Where to draw a column without a histogram: four deviations around the means."""
        at = self.columns.tolist().index(column)
        means, deviations = self.means[:, at], self.deviations[:, at]
        return float((means - 4 * deviations).min()), float((means + 4 * deviations).max())

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """Means, and what z² and a number at the mean add."""
        over = 1.0 / self.deviations
        for j, column in enumerate(self.columns.tolist()):
            own = {"means": self.means[:, j], "inverse": over[:, j], "constants": self.peaks[:, j]}
            yield {"op": "gaussian", "column": column, **own}

    @property
    def n_parameters(self) -> int:
        """A mean and a variance for each class and column."""
        return 2 * self.means.size

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """-n (log σ√2π + s²/2σ²) of each class and column, by the exact variance s² of its values."""
        n, _, variances, _, exponents = spread(tally, self.columns, classes)
        with np.errstate(over="ignore", under="ignore"):
            ratios = variances / np.ldexp(self.deviations, -exponents) ** 2
        terms = n * (portable.log(self.deviations) + 0.5 * math.log(2 * math.pi) + 0.5 * ratios)
        return -float(np.where(n > 0, terms, 0.0).sum())


@dataclass(frozen=True)
class Gaussian(Family):
    """A Gaussian per class and column; the variance over n, or n - 1 if unbiased."""

    unbiased: bool = False
    in_tables = True

    def tally(
        self, chunk: Chunk, block: Any, whole: NDArray[np.bool_] | None = None, names: tuple[str, str, str] = SUMS
    ) -> Tally:
        """Values seen, their sum and the sum of their squares; `whole` marks the columns that have a whole number."""
        K = len(chunk.classes)
        if chunk.weights is None:
            missing, sums, squares = moments.moments(block, chunk.coded, K, whole)
            counts = Exact.counts(chunk.rows_by_class[:, np.newaxis] - missing)
        else:
            counts, sums, squares = moments.weighted_moments(block, chunk.coded, chunk.weights, K, whole)
        return tables_of(chunk.classes, block.names, (counts, sums, squares), names)

    def sheet_sums(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> Iterator[dict[str, Any]]:
        """Values seen, their sums and the sums of their squares, and what a variance is held up by."""
        every = labels_of(schema.names)
        for j, column in enumerate(columns.tolist()):
            sums = [tally.over(name, classes, columns[j : j + 1]).decimals() for name in SUMS]
            yield {
                "op": "number", "column": column, "place": int(find(every, columns[j : j + 1])[0]),
                "shown": repr(column), "called": repr(column_name(column)), "sums": sums, "whole": None,
                "floor": prior.floor, "rows": prior.rows, "unbiased": self.unbiased,
            }  # fmt: skip

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> GaussianParameters:
        """Means and deviations, rounded once from the exact sums."""
        counts, means, own, overall, exponents = spread(tally, columns, classes, unbiased=self.unbiased)
        alone = (own == 0) & (counts <= 1)
        variances = np.where(alone, overall, np.maximum(_with_rows(own, counts, prior, overall), prior.floor * overall))
        variances = np.where(variances == 0, np.where(overall == 0, 1.0, np.finfo(float).tiny), variances)
        with np.errstate(over="ignore", under="ignore"):
            deviations, seen, whole = (np.ldexp(np.sqrt(each), exponents) for each in (variances, own, overall))
        return GaussianParameters(columns, counts, means, deviations.clip(*NORMAL), seen, whole)

    def left_out(self, rows: LearnedRows, prior: Prior, block: Numbers) -> Floats:
        """The mean and the variance of a class without one of its values, from exact sums about a centre."""
        tally, columns, classes = rows.tally, block.names, rows.classes
        sums = _centred(tally, columns, classes)
        p = self.estimate(tally, prior, rows.schema, columns, classes)
        _, _, own, overall, exponents = spread(tally, columns, classes, unbiased=self.unbiased)
        with np.errstate(over="ignore", under="ignore"):
            variances = np.ldexp(np.vstack([own, overall]), 2 * exponents)
        state = np.select(
            [p.counts == 0, (own == 0) & (p.counts <= 1), (own < 2 * prior.floor * overall) | (own == 0)],
            [densities.NEITHER, densities.COLUMN, densities.SHARED],
            densities.SHARED if prior.rows > 0 else densities.OWN,
        ).astype(np.int64)
        inverse = 1 / p.deviations
        others = densities.Others(p.means, inverse, np.log(inverse) - densities.HALF_LOG_2PI, variances, state)
        far = ~((np.abs(sums.centres).max(axis=0) < _LARGE) & (variances.max(axis=0) < _LARGE))
        far |= (overall > 0) & ~(variances[-1] > _SMALL)
        out = np.zeros((block.n_rows, len(classes)))
        given = sums, others, prior.floor, prior.rows, self.unbiased
        doubtful = densities.add_left_out(block, rows.chunk.coded, rows.chunk.weights, *given, out[np.newaxis])
        again = doubtful.any(axis=1)
        for j in np.flatnonzero(far).tolist():
            again |= ~np.isnan(block.column(j))
        if again.any():
            out[again] = estimate_again(self, rows, prior, block, np.flatnonzero(again))
        return out

    def check(self, tally: Tally) -> None:
        """No numbers have n Σx² < (Σx)², no sum is left where none is counted, no class has more than its rows."""
        check_sums(tally, SUMS)


def tables_of(classes: Labels, columns: Labels, sums: Iterable[Exact], names: tuple[str, str, str] = SUMS) -> Tally:
    """Counts, sums and sums of squares as tables."""
    axes = {"class": classes, "column": columns}
    return Tally({name: Table.of(axes, each, signed=name == names[1]) for name, each in zip(names, sums)})


def check_sums(tally: Tally, names: tuple[str, str, str]) -> None:
    """Raise ForgetError where no numbers have such a count, sum and sum of squares."""
    check_rows(tally, names[0])
    if not any(name in tally for name in names):
        return
    classes, columns = (reduce(unite, [tally.labels(name, axis) for name in names]) for axis in (0, 1))
    n, s, q = (_integers(tally.over(name, classes, columns)) for name in names)
    impossible = np.argwhere(np.asarray(_scatter(n, s, q)[0] < 0, bool))
    if len(impossible):
        k, j = impossible[0]
        raise ForgetError(
            f"cannot take these rows away: the numbers left in column {column_name(columns[j])!r} of class "
            f"{classes.tolist()[k]!r} would have a negative variance; only rows that were learned can be forgotten"
        )


def _with_rows(own: Floats, counts: Floats, prior: Prior, overall: Floats) -> Floats:
    """Variances with the imaginary rows, whose variance is that of all values."""
    if not prior.rows:
        return own
    rows = np.maximum(counts + prior.rows, NORMAL[0])
    finite = np.minimum(own, NORMAL[1])  # a variance far beyond that of all values overflows in the column's scale
    mixed = finite + prior.rows / rows * (overall - finite)
    return np.where(finite < own, counts / rows * finite + prior.rows / rows * overall, mixed)


def _centred(tally: Tally, columns: Labels, classes: Labels) -> densities.Sums:
    """The sums about centres near the means, of each class and of all of them, to twice the digits of a double."""
    each = [tally.over(name, classes, columns) for name in SUMS]
    fractions = [sums.fractions() for sums in each if isinstance(sums, Exact)]
    n, s, q = (np.vstack([found, found.sum(axis=0)[np.newaxis]]) for found in fractions)
    centres, counts = np.zeros(n.shape), np.zeros(n.shape)
    first, second = np.zeros((*n.shape, 2)), np.zeros((*n.shape, 2))
    for cell in np.ndindex(n.shape):
        if n[cell] == 0:
            continue
        c = _float(s[cell] / n[cell])
        centre = Fraction(c) if np.isfinite(c) else Fraction(0)
        centres[cell], counts[cell] = float(centre), _float(n[cell])
        about = s[cell] - n[cell] * centre, q[cell] - 2 * centre * s[cell] + n[cell] * centre * centre
        for pair, value in zip((first[cell], second[cell]), about):
            pair[0] = _float(value)
            pair[1] = float(value - Fraction(pair[0])) if np.isfinite(pair[0]) else 0.0
    return densities.Sums(centres, counts, first, second)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def spread(
    tally: Tally, columns: Labels, classes: Labels, *, unbiased: bool = False, names: tuple[str, str, str] = SUMS
) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.int64]]:
    """Counts, means, variances (classes × columns) and the whole columns', in units of 2^(2·exponent); exponents."""
    n, s, q = (_integers(tally.over(name, classes, columns)) for name in names)
    every = [(number.sum(axis=0, keepdims=True) if len(classes) else number, e) for number, e in (n, s, q)]
    column_means = _ratios(every[1], every[0])[0]
    scatter = _scatter(*every)
    exponents = np.zeros(len(columns), np.int64)  # with which a standard deviation is near 1
    for j, (top, below) in enumerate(zip(scatter[0][0], every[0][0][0])):
        if top and below:
            exponents[j] = (top.bit_length() + scatter[1] - 2 * (below.bit_length() + every[0][1])) // 2
    overall = _variances(scatter, every[0], exponents, unbiased=False)[0]
    variances = _variances(_scatter(n, s, q), n, exponents, unbiased=unbiased)
    means = np.where(np.asarray(n[0] == 0, bool), column_means, _ratios(s, n))
    return tally.over(names[0], classes, columns).floats(), means, variances, overall, exponents


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
