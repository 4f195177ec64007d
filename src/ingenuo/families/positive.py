"""Numbers that are not negative: log-normal, gamma, exponential, Poisson and negative binomial, from exact sums.

Of each class and column the tally has n, Σx and Σx², and for the first two Σ log x and Σ (log x)²; from these follow

    log-normal         μ, σ² = mean and variance of log x
    gamma              log k - ψ(k) = log mean(x) - mean(log x), by Newton's steps; θ = mean(x) / k
    exponential        θ = mean(x)
    Poisson            λ = mean(x)
    negative binomial  μ = mean(x), r = μ² / (variance - μ): by moments, for the likelihood would need every value

The prior's imaginary rows are like all rows together: of each class, a rows more with the means of the whole column. As
`…-or-zero`, zero is a state of its own (see `States`), and the others have the density; counts then begin with 1, and
x - 1 has the distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.family import Family, LearnedRows, Values, cannot_forget, check_rows, count_cells
from ingenuo.families.gaussian import FARTHEST, NORMAL, SUMS, Chosen, Gaussian, NumberParameters, check_sums, spread
from ingenuo.families.states import StateParameters, States, add_by_column, imaginary
from ingenuo.kernels import portable
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Numbers, Places
from ingenuo.rows.schema import OR_ZERO, Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Term, exponential, logs
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally

LOGS = "log:count", "log:sum", "log:square"
ZEROS = "zero:count"
LARGEST = 2.0**53  # of whole numbers
_PLAIN = 1e6  # a negative binomial of a larger r is a Poisson distribution
_FINE = 1e-5  # below this log mean(x) - mean(log x) has too few digits for Newton's steps, and its series has enough
_STEPS = 5
_LEAST = -700.0  # no value that is left out counts as less likely
_PIECE = 1 << 14  # values that are left out at a time

# log Γ, ψ and ψ' by their asymptotic series, from 8 on; below, by Γ(x + 8) = x (x + 1) … (x + 7) Γ(x).


def log_gamma(x: Floats) -> Floats:
    """log Γ(x) of numbers above 0, with the same bits on every machine."""
    x = np.asarray(x, np.float64)
    small = x < 8
    product = np.where(small, x, 1.0)
    for step in range(1, 8):
        product = np.where(small, product * (x + step), product)
    y = np.where(small, x + 8, x)
    z = 1 / (y * y)
    series = 1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360)))))
    return np.asarray(
        (y - 0.5) * portable.log(y) - y + 0.5 * math.log(2 * math.pi) + series / y - portable.log(product)
    )


def _digamma(x: Floats) -> tuple[Floats, Floats]:
    """ψ(x) and ψ'(x)."""
    below, square = np.zeros(np.shape(x)), np.zeros(np.shape(x))
    for step in range(8):
        below, square = below + 1 / (x + step), square + 1 / (x + step) ** 2
    y = x + 8
    z = 1 / (y * y)
    first = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z / 132))))
    second = 1 / y + z / 2 + z / y * (1 / 6 - z * (1 / 30 - z * (1 / 42 - z * (1 / 30 - z * (5 / 66)))))
    return portable.log(y) - 0.5 / y - first - below, second + square


def shape_of(gap: Floats) -> Floats:
    """The k of which log k - ψ(k) is the gap: a good start, and Newton's steps in 1/k (Minka 2002)."""
    k = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    start = k
    for _ in range(_STEPS):
        first, second = _digamma(k)
        k = 1 / (1 / k + (portable.log(k) - first - gap) / (k * k * (1 / k - second)))
    return np.where(gap < _FINE, start, k)


class Means(NamedTuple):
    """What the sums come to: how many, and mean and variance of the values and of their logarithms."""

    n: Floats
    mean: Floats
    variance: Floats
    log_mean: Floats
    log_variance: Floats

    def smooth(self, every: Means, rows: float) -> Means:
        """With so many more rows that are like all rows together."""
        total = self.n + rows
        share = np.divide(self.n, total, out=np.zeros(np.shape(total)), where=total > 0)

        def both(mean: Floats, variance: Floats, whole: Floats, spread: Floats) -> tuple[Floats, Floats]:
            apart = mean - whole
            mixed = spread + share * (variance - spread) + share * (1 - share) * apart * apart
            return whole + share * apart, np.where(share == 1, variance, mixed)

        with np.errstate(over="ignore", invalid="ignore"):
            values, logarithms = both(*self[1:3], *every[1:3]), both(*self[3:], *every[3:])
        return Means(total, *values, *logarithms)

    def without(self, x: Floats, log_x: Floats, w: Floats) -> Means:
        """When a value of such a weight is left out; where none is left, nothing."""
        rest = np.maximum(self.n - w, 0.0)
        below = np.where(rest > 0, rest, 1.0)

        def both(value: Floats, mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
            apart = value - mean
            left = self.n / below * (variance - w / below * apart * apart)
            return np.where(rest > 0, mean - w / below * apart, mean), np.where(rest > 0, np.maximum(left, 0), 0.0)

        return Means(rest, *both(x, *self[1:3]), *both(log_x, *self[3:]))

    def at(self, own: NDArray[np.bool_], other: Means) -> Means:
        """These, and the others where `own` says so."""
        return Means(*(np.where(own, b, a) for a, b in zip(self, other)))


Fitted = tuple[Floats, ...]


def _fit_log_normal(own: Means, every: Means, alone: NDArray[np.bool_], floor: float) -> Fitted:
    spread = np.where(alone, every.log_variance, own.log_variance)
    spread = np.maximum(spread, np.where(every.log_variance > 0, floor * every.log_variance, 1.0))
    return own.log_mean, np.sqrt(np.maximum(spread, NORMAL[0]))


def _fit_gamma(own: Means, every: Means, alone: NDArray[np.bool_], floor: float) -> Fitted:
    gap, whole = (np.maximum(logs(each.mean) - each.log_mean, 0.0) for each in (own, every))
    k = shape_of(np.maximum(np.where(alone, whole, gap), np.maximum(floor * whole, 1e-12)))
    return k, own.mean / k


def _fit_mean(own: Means, every: Means, alone: NDArray[np.bool_], floor: float) -> Fitted:
    return (np.maximum(own.mean, NORMAL[0]),)


def _fit_negative_binomial(own: Means, every: Means, alone: NDArray[np.bool_], floor: float) -> Fitted:
    mean = np.maximum(own.mean, NORMAL[0])
    beyond = own.variance - mean
    r = mean * (mean / np.where(beyond > 0, beyond, mean)).clip(0, FARTHEST)
    return mean, np.where((beyond > 0) & (r <= _PLAIN), np.maximum(r, 1 / _PLAIN), np.inf)


def _log_normal(x: Floats, log_x: Floats, mean: Floats, deviation: Floats) -> Floats:
    z = ((log_x - mean) / deviation).clip(-FARTHEST, FARTHEST)
    return np.asarray(-log_x - portable.log(deviation) - 0.5 * math.log(2 * math.pi) - 0.5 * z * z)


def _gamma(x: Floats, log_x: Floats, k: Floats, scale: Floats) -> Floats:
    return np.asarray((k - 1) * log_x - np.minimum(x / scale, FARTHEST) - (log_gamma(k) + k * portable.log(scale)))


def _exponential(x: Floats, log_x: Floats, scale: Floats) -> Floats:
    return np.asarray(-np.minimum(x / scale, FARTHEST) - portable.log(scale))


def _poisson(x: Floats, log_x: Floats, mean: Floats) -> Floats:
    return np.asarray(x * portable.log(mean) - mean - log_gamma(x + 1))


def _negative_binomial(x: Floats, log_x: Floats, mean: Floats, r: Floats) -> Floats:
    finite = np.where(np.isinf(r), 1.0, r)
    grown = log_gamma(x + finite) - log_gamma(finite) - log_gamma(x + 1)
    spread = grown - finite * portable.log1p(mean / finite) + x * (portable.log(mean) - portable.log(mean + finite))
    return np.where(np.isinf(r), _poisson(x, log_x, mean), spread)


def _draw_counts(rng: np.random.Generator, mean: Floats, r: Floats) -> Floats:
    finite = np.where(np.isinf(r), 1.0, r)
    return rng.poisson(np.where(np.isinf(r), mean, rng.gamma(finite, mean / finite))).astype(np.float64)


@dataclass(frozen=True)
class Distribution:
    """How numbers that are not negative may be distributed."""

    name: str
    letters: tuple[str, ...]
    words: tuple[str, ...]
    fit: Callable[[Means, Means, NDArray[np.bool_], float], Fitted]
    log_density: Callable[..., Floats]
    moments: Callable[..., tuple[Floats, Floats]]  # of the parameters, mean and variance
    draw: Callable[..., Floats]
    above: bool = False  # whether 0 is impossible; then Σ log x is needed too
    whole: bool = False

    @property
    def support(self) -> str:
        """The numbers that are possible."""
        return "whole numbers from 0 on" if self.whole else "numbers above 0" if self.above else "numbers from 0 on"


DISTRIBUTIONS = (
    Distribution(
        "log-normal", ("μ", "σ"), ("mean of the logarithm", "deviation of the logarithm"), _fit_log_normal, _log_normal,
        lambda m, s: (np.exp(m + s * s / 2), np.expm1(s * s) * np.exp(2 * m + s * s)),
        lambda rng, m, s: rng.lognormal(m, s), above=True,
    ),
    Distribution(
        "gamma", ("k", "θ"), ("shape", "scale"), _fit_gamma, _gamma, lambda k, t: (k * t, k * t * t),
        lambda rng, k, t: rng.gamma(k, t), above=True,
    ),
    Distribution(
        "exponential", ("θ",), ("scale",), _fit_mean, _exponential, lambda t: (t, t * t),
        lambda rng, t: rng.exponential(t),
    ),
    Distribution(
        "poisson", ("λ",), ("mean",), _fit_mean, _poisson, lambda m: (m, m),
        lambda rng, m: rng.poisson(m).astype(np.float64), whole=True,
    ),
    Distribution(
        "negative-binomial", ("μ", "r"), ("mean", "size"), _fit_negative_binomial, _negative_binomial,
        lambda m, r: (m, m + m * m / r), _draw_counts, whole=True,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class PositiveParameters(NumberParameters):
    """The parameters of each class and column."""

    columns: Labels
    of: Distribution
    first: float  # the least number: 1 of counts that are not 0, for x - 1 has the distribution
    values: tuple[Floats, ...]  # each (classes, columns)

    @property
    def letters(self) -> tuple[str, ...]:  # type: ignore[override]
        """How the parameters are written."""
        return self.of.letters

    @property
    def words(self) -> tuple[str, ...]:  # type: ignore[override]
        """And called."""
        return self.of.words

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Whether only whole numbers are possible."""
        return self.of.whole

    @property
    def n_parameters(self) -> int:
        """Those of each class and column."""
        return sum(each.size for each in self.values)

    def only(self, lo: int, hi: int) -> PositiveParameters:
        """The same of columns lo..hi."""
        return replace(self, columns=self.columns[lo:hi], values=tuple(each[:, lo:hi] for each in self.values))

    def figures(self, j: int) -> tuple[Floats, ...]:
        """The parameters of one column."""
        return tuple(each[:, j] for each in self.values)

    def moments(self, j: int) -> tuple[Floats, Floats]:
        """Mean and deviation."""
        with np.errstate(over="ignore"):
            mean, variance = self.of.moments(*self.figures(j))
            return np.minimum(mean + self.first, NORMAL[1]), np.minimum(np.sqrt(variance), NORMAL[1])

    def log_density(self, column: object, x: Floats) -> Floats:
        """log p(x | class) of one column, for each value and class; -inf of what is impossible."""
        return self._logs(self.columns.tolist().index(column), np.asarray(x, np.float64))

    def _logs(self, j: int, x: Floats) -> Floats:
        return log_density(self.of, self.first, x, [own[np.newaxis] for own in self.figures(j)])

    def add_log_likelihood(self, block: Numbers, out: Floats, floor: float | None = None) -> None:
        """Add the log densities, from left to right; a missing value adds nothing."""
        add_by_column(block, [partial(self._logs, j) for j in range(len(self.columns))], out, floor)

    def factors(self, block: Numbers) -> list[Factor]:
        """The density of each class, with its parameters."""
        found = []
        for j, (name, x) in enumerate(zip(self.columns.tolist(), np.asarray(block.rows(0, 1)[0], np.float64).tolist())):
            if math.isnan(x):
                found.append(Factor(column_name(name), say("missing"), note=say("left out")))
                continue
            terms = enumerate(self._logs(j, np.array([x]))[0].tolist())
            shown = tuple(Term(self.how(j, x, k), exponential(log), log) for k, log in terms)
            found.append(Factor(column_name(name), f"{x:.6g}", shown))
        return found

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """The formula of each column, and its parameters."""
        for j, column in enumerate(self.columns.tolist()):
            own = {"name": self.of.name, "first": self.first, "values": [each[:, j] for each in self.values]}
            yield {"op": "formula", "column": column, **own}

    def how(self, j: int, x: float, k: int) -> str:
        """The name of the distribution, and its parameters."""
        said = super().how(j, x, k).removeprefix("f").replace("inf", "∞")
        less = f"({x:.6g} - 1 |" if self.first else f"({x:.6g} |"
        return f"{self.of.name}{said.replace(f'({x:.6g} |', less, 1)}"

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Values by the distribution."""
        return {
            name: self.of.draw(rng, *(each[drawn] for each in self.figures(j))) + self.first
            for j, name in enumerate(self.columns.tolist())
        }

    def reach(self, column: object) -> tuple[float, float] | None:
        """From the least number to four deviations above the means."""
        mean, deviation = self.moments(self.columns.tolist().index(column))
        return 0.0, float((mean + 4 * deviation).max())

    def chosen(self, column: object) -> Chosen:
        """The only density there is."""
        return Chosen(self.of.name, " and ".join(self.of.words), {})

    def least(self, j: int) -> float:
        """A number that is small, and possible."""
        return self.first if not self.of.above else 0.01 * float(self.moments(j)[0].min())

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """By the means of the values and of their logarithms; of counts, log x! does not follow from the sums."""
        if self.of.whole:
            return super().sum_log_likelihood(tally, classes)
        own, _ = means_of(tally, self.of, self.columns, classes)
        # Log densities are straight in x, log x and its square, so the rows may all stand at the means.
        found = self.of.log_density(own.mean, own.log_mean, *self.values)
        if self.of.name == "log-normal":
            found = found - 0.5 * own.log_variance / self.values[1] ** 2
        return float(np.where(own.n > 0, own.n * found, 0.0).sum())


def log_density(of: Distribution, first: float, x: Floats, values: Any) -> Floats:
    """The log density of numbers (rows) under parameters (rows or 1 × classes); -inf of what is impossible."""
    possible = (x >= first) if not of.above else x > 0
    if of.whole:
        possible &= (x == np.rint(x)) & (x <= LARGEST)
    at = np.where(possible, x, 1.0 + first)[:, np.newaxis] - first
    with np.errstate(over="ignore"):
        found = of.log_density(at, portable.log(at) if of.above else at, *values)
    found[~possible] = -np.inf
    return found


def means_of(tally: Tally, of: Distribution, columns: Labels, classes: Labels) -> tuple[Means, Means]:
    """Of each class and column, and of the whole columns, what the sums come to; of nothing, as if 1 were all."""

    def both(names: tuple[str, str, str]) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        n, means, variances, overall, exponents = spread(tally, columns, classes, names=names)
        total = n.sum(axis=0)
        share = np.divide(n, total, out=np.zeros(n.shape), where=total > 0)
        with np.errstate(over="ignore"):
            return (
                n,
                means,
                np.ldexp(variances, 2 * exponents),
                (share * means).sum(axis=0),
                np.ldexp(overall, 2 * exponents),
            )

    n, mean, variance, whole, overall = both(SUMS)
    log_mean, log_variance, log_whole, log_overall = both(LOGS)[1:] if of.above else (mean, variance, whole, overall)
    total = n.sum(axis=0)
    mean, whole = np.where(total > 0, mean, 1.0), np.where(total > 0, whole, 1.0)
    return Means(n, mean, variance, log_mean, log_variance), Means(total, whole, overall, log_whole, log_overall)


class Positives:
    """Rows of numbers of which the positive ones are looked at, or their logarithms; the others are missing."""

    def __init__(self, table: Numbers, change: Callable[[Floats], Floats], check: Any = None) -> None:
        self.table, self.names, self.change, self.check = table, table.names, change, check

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.table.shape

    @property
    def step(self) -> int:
        """How many rows to read at a time."""
        return min(self.table.step, max(512, _PIECE // max(len(self.names), 1)))

    def rows(self, lo: int, hi: int) -> Floats:
        """Rows lo..hi."""
        found = self.table.rows(lo, hi)
        if self.check is not None:
            self.check(self.table, lo, found)
        return self.change(found)

    def place(self, row: int, column: int) -> str:
        """How a cell is called in a message."""
        return self.table.place(row, column)


def logs_of(block: Numbers) -> Positives:
    """The logarithms of the positive numbers."""
    return Positives(block, lambda x: portable.log(np.where(x > 0, x, np.nan)))


@dataclass(frozen=True)
class Positive(Family):
    """One distribution for each class and column; if asked for, beside a share of zeros."""

    of: Distribution
    zero: bool = False
    in_tables = True

    @property
    def _first(self) -> float:
        return 1.0 if self.zero and self.of.whole else 0.0

    def tally(self, chunk: Chunk, block: Numbers) -> Tally:
        """Counts, sums and sums of squares; of logarithms too where they are needed; and how many zeros there are."""
        change = (lambda x: np.where(x == 0, np.nan, x)) if self.zero else np.asarray
        total = Gaussian().tally(chunk, Positives(block, change, self._refuse))
        if self.of.above:
            total = total + Gaussian().tally(chunk, logs_of(block), names=LOGS)
        if not self.zero:
            return total
        K = len(chunk.classes)
        cells = [np.where(block.column(j) == 0, chunk.coded, -1) for j in range(len(block.names))]
        counts = [count_cells(each, K, chunk.weights) for each in cells]
        low, high = min(each.low for each in counts), max(each.low + len(each.limbs) for each in counts)
        limbs = np.zeros((high - low, K, len(counts)), np.int64)
        for j, each in enumerate(counts):
            limbs[each.low - low : each.low - low + len(each.limbs), :, j] = each.limbs
        axes = {"class": chunk.classes, "column": block.names}
        return total + Tally({ZEROS: Table.of(axes, Exact.canonical(limbs, low))})

    def _refuse(self, table: Numbers, start: int, X: Floats) -> None:
        """Raise for a number that the distribution cannot have."""
        wrong = (X < 0) | ((X == 0) if self.of.above and not self.zero else False)
        if self.of.whole:
            wrong |= ((np.rint(X) != X) | (X > LARGEST)) & np.isfinite(X)
        if not wrong.any():
            return
        row, j = divmod(int(wrong.argmax()), X.shape[1])
        x, column = float(X[row, j]), column_name(table.names[j])
        other = f"{self.of.name}{OR_ZERO}" if x == 0 else "gamma" if x > 0 else "gaussian"
        error = InputError(
            f"{table.place(start + row, j)}: {x!r} is no value of the {self.of.name} distribution, which has "
            f"{self.of.support}; take another, columns={{{column!r}: {other!r}}}, or make it missing (NaN)"
        )
        raise error.declaring(column, other)

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> PositiveParameters | StateParameters:
        """The parameters from the sums, and the shares of zeros where there are any."""
        own, every = means_of(tally, self.of, columns, classes)
        found = PositiveParameters(columns, self.of, self._first, self._fit(own, every, prior))
        if not self.zero:
            return found
        zeros = tally.over(ZEROS, classes, columns).floats()
        states = {}
        for j in np.flatnonzero(zeros.any(axis=0)).tolist():
            column, counts = columns[j : j + 1], np.column_stack([zeros[:, j], own.n[:, j]])
            rest = Tally(
                {
                    name: Table.of(
                        {"class": classes, "column": column}, tally.over(name, classes, column), signed=signed
                    )
                    for names in ((SUMS, LOGS) if self.of.above else (SUMS,))
                    for name, signed in zip(names, (False, True, False))
                }
            )
            pseudo = imaginary(prior, columns.tolist()[j], 2)
            states[j] = States(np.zeros(1), counts, pseudo, found.only(j, j + 1), rest)
        return StateParameters(found, states)

    def _fit(self, own: Means, every: Means, prior: Prior) -> Fitted:
        shift = self._first
        mine, whole = (each._replace(mean=np.maximum(each.mean - shift, 0.0)) for each in (own, every))
        return self.of.fit(mine.smooth(whole, prior.rows), whole, own.n <= 1, prior.floor)

    def left_out(self, rows: LearnedRows, prior: Prior, block: Numbers) -> Floats:
        """By the means of the other rows: of the class, and of the whole column, which the imaginary rows are like."""
        y, w, K = rows.chunk.coded, rows.weights, len(rows.classes)
        own, every = means_of(rows.tally, self.of, block.names, rows.classes)
        zeros = rows.tally.over(ZEROS, rows.classes, block.names).floats()
        out = np.zeros((block.n_rows, K))
        for j, name in enumerate(block.names.tolist()):
            x = block.column(j)
            there = np.flatnonzero(~np.isnan(x))
            keys = np.column_stack([y[there], x[there], w[there]])
            _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
            some, found = there[first], np.empty((len(first), K))
            given = Means(*(each[:, j] for each in own)), Means(*(each[j] for each in every)), zeros[:, j]
            for lo in range(0, len(some), _PIECE):
                at = some[lo : lo + _PIECE]
                found[lo : lo + _PIECE] = self._without(*given, x[at], y[at], w[at], prior, name)
            out[there] += found[same.ravel()] if rows.exact else np.maximum(found[same.ravel()], _LEAST)
        return out

    def _without(
        self, own: Means, every: Means, zeros: Floats, x: Floats, y: Any, w: Floats, prior: Prior, name: object
    ) -> Floats:
        """The log densities of values of one column, each left out."""
        mine = y[:, np.newaxis] == np.arange(len(own.n))
        a, weight = x[:, np.newaxis], w[:, np.newaxis]
        zero = self.zero & (a == 0)
        weight = np.where(zero, 0.0, weight)  # a zero is none of the others
        value = np.where(zero, 1.0, a)
        log_value = portable.log(value) if self.of.above else value
        mine_left = own.at(mine, own.without(value, log_value, weight))
        whole = every.without(value, log_value, weight)
        mine_left = mine_left.at(mine_left.n <= 0, whole._replace(n=np.zeros_like(whole.n)))
        found = log_density(self.of, self._first, np.where(zero, 1.0, a)[:, 0], self._fit(mine_left, whole, prior))
        if not self.zero:
            return found
        left = np.maximum(zeros - np.where(mine & zero, w[:, np.newaxis], 0.0), 0.0)
        pseudo = imaginary(prior, name, 2)
        below = left + mine_left.n + 2 * pseudo
        some = left.sum(axis=1, keepdims=True) > 0
        shares = [
            logs(np.divide(each + pseudo, below, out=np.full(below.shape, 0.5), where=below > 0))
            for each in (left, mine_left.n)
        ]
        return np.where(zero, np.where(some, shares[0], -np.inf), found + np.where(some, shares[1], 0.0))

    def check(self, tally: Tally) -> None:
        """No negative variance or sum, no more values than rows, and no mean logarithm above that of the mean."""
        for names in (SUMS, LOGS) if self.of.above else (SUMS,):
            check_sums(tally, names)
        check_rows(tally, ZEROS)
        classes, columns = tally.labels(SUMS[0], 0), tally.labels(SUMS[0], 1)
        n, total, square = (tally.over(name, classes, columns).floats() for name in SUMS)
        bad = (total < 0) | (self.of.whole & (square < total * (1 - 1e-12)))
        if self.zero:
            rows = tally.over("class", classes).floats()[:, np.newaxis]
            bad |= n + tally.over(ZEROS, classes, columns).floats() > rows * (1 + 1e-12)
        if self.of.above:
            counted, log_sum = (tally.over(name, classes, columns).floats() for name in LOGS[:2])
            with np.errstate(divide="ignore", invalid="ignore"):
                bad |= (counted != n) | ((n > 0) & (log_sum / n > logs(total / n) + 1e-9 * (1 + np.abs(log_sum / n))))
        if bad.any():
            k, j = np.argwhere(bad)[0]
            raise cannot_forget(
                classes, k, f"sums in column {column_name(columns[j])!r} that no {self.of.name} values have"
            )


FAMILIES = {f"{of.name}{OR_ZERO if zero else ''}": Positive(of, zero) for of in DISTRIBUTIONS for zero in (False, True)}
