"""Confidence intervals of what is measured: exact where a share of rows is counted, by the bootstrap elsewhere.

Shares are binomial, and Clopper and Pearson's interval covers them with at least that confidence. For the
rest the rows are resampled, with replacement, and the interval is that between two percentiles of what these
replicates measure. Where the data cannot give one, there is no interval but a reason.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.evaluation.measures import BINS, Key, Matrix, judged_classes, row_measures
from ingenuo.evaluation.predictions import Predictions
from ingenuo.kernels.densities import draw_replicates
from ingenuo.show.format import cell
from ingenuo.show.table import Shown

Floats = NDArray[np.float64]

MOST, FEWEST = 2_000, 200  # replicates
_WORK = 400_000_000  # how much is drawn in all: rows × replicates of a measure and one area
_NUMBERS = 20_000_000  # replicates × classes that are kept
_DRAWN = 4_000_000  # cells × replicates that are drawn at a time
_SCORES = 32  # classes whose ranks are kept at a time
_UNDEFINED = 0.05  # of the replicates: with more there is no interval
_ROUNDING = 1e-12


def check_share(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise KindError(f"{name} must be a number between 0 and 1, got {type(value).__name__} {value!r}")
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r} must lie between 0 and 1, as 0.95 does")
    return float(value)


class Interval(NamedTuple):
    """From where to where, how that was found, and, where there is none, why."""

    low: float | None
    high: float | None
    how: str
    reason: str | None = None

    @staticmethod
    def refused(reason: str) -> Interval:
        """No interval."""
        return Interval(None, None, "none", reason)

    def around(self, value: float) -> Interval:
        """Widened, where it must be, to hold the value itself: replicates of what cannot be negative lie above it."""
        if self.low is None or self.high is None:
            return self
        return self._replace(low=min(self.low, value), high=max(self.high, value))


@dataclass(frozen=True, eq=False, repr=False)
class Measure:
    """A measured value and its interval, which is computed on first use."""

    name: str  # what is measured
    label: Hashable  # the class that it is of; None where it is of all
    value: float | None  # NaN where it is undefined, None where it takes probabilities and there are labels only
    _evaluation: Judged

    @property
    def interval(self) -> Interval:
        """From where to where, and how that was found."""
        return self._evaluation._interval((self.name, self.label))

    @property
    def low(self) -> float | None:
        """The lower end of the interval; None where there is none."""
        return self.interval.low

    @property
    def high(self) -> float | None:
        """The upper end of the interval; None where there is none."""
        return self.interval.high

    @property
    def how(self) -> str:
        """How the interval was found."""
        return self.interval.how

    @property
    def reason(self) -> str | None:
        """Why there is no interval; None where there is one."""
        return self.interval.reason

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value

    def __str__(self) -> str:
        return cell(self.value, self.low, self.high)

    def __repr__(self) -> str:
        return f"Measure({self})"


class Judged(Shown):
    """What was measured of answers, by name: of all rows, or of a class."""

    confidence: float  # how sure the intervals are

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        raise NotImplementedError

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of what was measured."""
        raise NotImplementedError

    @property
    def _values(self) -> Mapping[Key, float | None]:
        """Every measure by its name and its class, which is None where it is of all rows."""
        raise NotImplementedError

    def _interval(self, key: Key) -> Interval:
        """The interval of a measure."""
        raise NotImplementedError

    @property
    def measures(self) -> Mapping[Any, Measure]:
        """Every measure by its name, or by its name and its class."""
        found = {
            key if key[1] is not None else key[0]: Measure(*key, value, self) for key, value in self._values.items()
        }
        return MappingProxyType(found)

    def __getitem__(self, key: Any) -> Measure:
        wanted = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        try:
            return Measure(wanted[0], wanted[1], self._values[wanted], self)
        except (KeyError, TypeError):
            if isinstance(key, str) and f"{key}_macro" in self:
                first = next(label for name, label in self._values if name == key)
                raise InputError(
                    f"{key!r} is of a class, or a mean over classes: ask for [{key!r}, {first!r}], "
                    f"[{key + '_macro'!r}], [{key + '_weighted'!r}]"
                ) from None
            known = [name if label is None else f"{name}, {label}" for name, label in self._values]
            asked = ", ".join(map(str, key)) if isinstance(key, tuple) else key
            raise InputError(f"{key!r} is not measured here{did_you_mean(asked, known)}") from None

    def __contains__(self, key: Any) -> bool:
        return (key if isinstance(key, tuple) else (key, None)) in self._values

    def __iter__(self) -> Iterator[Any]:
        return iter(self.measures)


def exact(count: float, n: float, confidence: float) -> Interval:
    """Clopper and Pearson's interval of a share: count of n rows."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if count <= 0 else float(betaincinv(count, n - count + 1, tail))
    high = 1.0 if count >= n else float(betaincinv(count + 1, n - count, 1 - tail))
    return Interval(low, high, "exact (Clopper-Pearson)")


def percentile(values: Floats, confidence: float, what: str = "bootstrap") -> Interval:
    """The interval between two percentiles of what the replicates measured."""
    defined = values[~np.isnan(values)]
    if len(values) - len(defined) > _UNDEFINED * len(values):
        return Interval.refused(
            f"it is undefined in more than {_UNDEFINED:.0%} of the replicates, for the rows of a class are too few"
        )
    if np.ptp(defined) <= _ROUNDING * max(1.0, float(np.abs(defined).max())):
        return Interval.refused("all replicates measure the same, so resampled rows do not say how much it would vary")
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
    return Interval(low, high, f"{what} ({len(values):,} replicates, percentile)")


def how_many(n_rows: int, n_classes: int, areas: bool) -> int:
    """How many replicates: 2,000, and fewer of many rows, but 200 at least."""
    scores = len(judged_classes(n_classes)) if areas else 1
    return int(np.clip(min(_WORK // (n_rows * (1 + scores)), _NUMBERS // n_classes), FEWEST, MOST))


def of_cells(
    cells: NDArray[np.int64],
    sums: NDArray[Any],
    squares: Floats | None,
    n_classes: int,
    replicates: int,
    random_state: int,
) -> Matrix:
    """The confusion matrices of resampled rows, by Σw of each cell (true · n_classes + answered) and Σw² of weights.

    Cells of rows are multinomial, so the rows need not be drawn. A row with a weight that is drawn a Poisson number of
    times gives its cell Σw with the variance Σw²; as much as that do (Σw)²/Σw² rows of one weight, Σw²/Σw.
    """
    from scipy.sparse import csr_array

    rng = np.random.default_rng([random_state, 1])
    codes, predicted = np.divmod(cells, n_classes)
    every, right = np.arange(len(cells)), codes == predicted
    at = np.concatenate([every[right], every, every])
    to = np.concatenate([codes[right], n_classes + codes, 2 * n_classes + predicted])
    columns = csr_array((np.ones(len(at)), (at, to)), shape=(len(cells), 3 * n_classes))
    step, found = max(1, _DRAWN // len(cells)), []
    for first in range(0, replicates, step):
        many = min(step, replicates - first)
        if squares is None:
            drawn = rng.multinomial(int(sums.sum()), sums / sums.sum(), size=many)
        else:
            drawn = rng.poisson(sums * (sums / squares), size=(many, len(sums))) * (squares / sums)
        found.append(np.asarray(drawn @ columns, np.float64))
    return Matrix(*np.split(np.concatenate(found), 3, axis=1))


class Resampled(NamedTuple):
    """What replicates of the rows measured: of the classes, of the rows, and each score's areas."""

    matrix: Matrix
    rows: dict[str, Floats]
    roc: Floats
    pr: Floats


def of_rows(rows: Predictions, replicates: int, random_state: int) -> Resampled:
    """Measure rows that are resampled."""
    seed = int(np.random.default_rng([random_state, 2]).integers(0, 1 << 64, dtype=np.uint64))
    n_classes, n = len(rows.classes), len(rows)
    numbers, gaps, bins = np.zeros((n, 0)), np.zeros(0), np.zeros(0, np.int8)
    judged: list[int] = []
    scores = np.zeros((0, n))
    if rows.probabilities is not None:
        numbers, gaps, bins = row_measures(rows)
        judged, scores = judged_classes(n_classes), rows.probabilities.T
    found = []
    # Every block of classes draws the same rows, for the seeds are the same.
    for first in range(0, max(len(judged), 1), _SCORES):
        block = judged[first : first + _SCORES]
        ranked = np.ascontiguousarray(scores[block]) if block else scores
        found.append(
            draw_replicates(
                replicates, seed, numbers, gaps, bins, BINS, rows.codes, rows.predicted, n_classes, rows.weights,
                ranked, np.array(block, np.int32),
            )
        )  # fmt: skip
    last = found[-1]
    matrix = Matrix(*last.classes)
    n_drawn = matrix.true.sum(axis=1)
    sums: dict[str, Floats] = {}
    if rows.probabilities is not None:
        means = (last.sums[:, 0], last.sums[:, 1], np.abs(last.bins).sum(axis=1))
        sums = {name: each / n_drawn for name, each in zip(("log_loss", "brier", "ece"), means)}
    roc, pr = (np.concatenate([getattr(each, name) for each in found], axis=1) for name in ("roc", "pr"))
    return Resampled(matrix, sums, roc, pr)


def normal(sums: Any, weights: Any, n: int, confidence: float) -> Interval:
    """The interval of a mean that cannot be negative, by Σwl, Σw²l, Σw²l² and Σw, Σw², all as fractions."""
    mean = sums[0] / weights[0]
    # Σ w²(l - m)² = Σ w²l² - 2m Σ w²l + m² Σ w², in fractions, for the terms may cancel.
    squares = sums[2] - 2 * mean * sums[1] + mean * mean * weights[1]
    error = math.sqrt(max(0.0, float(squares / weights[0] ** 2 * n / (n - 1))))
    if error <= _ROUNDING * max(1.0, float(mean)):
        return Interval.refused("all rows measure the same, so they do not say how much it would vary")
    low, high = normal_ends(float(mean), error, confidence)
    return Interval(max(0.0, low), high, "normal approximation (sums of squares)")


def normal_ends(value: float, error: float, confidence: float) -> tuple[float, float]:
    """The ends of an interval around a value with this standard error."""
    from scipy.special import ndtri

    reach = float(ndtri(0.5 + confidence / 2)) * error
    return value - reach, value + reach


def of_bins(rows: Floats, true: Floats, forecast: Floats, confidence: float, seed: list[int]) -> Interval:
    """The interval of an ECE from its bins: rows, of how many it came true, and the sum of their forecasts.

    Resampled rows are resampled cells: bin by truth, each row with the mean forecast of its bin.
    """
    n = int(rows.sum())
    mean = np.divide(forecast, rows, out=np.zeros(len(rows)), where=rows > 0)
    shares = np.concatenate([true, rows - true]) / n
    drawn = np.random.default_rng(seed).multinomial(n, shares / shares.sum(), size=MOST)
    hits, misses = np.split(drawn, 2, axis=1)
    found = percentile(np.abs(hits - (hits + misses) * mean).sum(axis=1) / n, confidence, "bootstrap of bins")
    return found.around(float(np.abs(true - forecast).sum() / n))
