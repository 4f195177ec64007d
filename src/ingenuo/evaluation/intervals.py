"""Confidence intervals of what is measured: exact where a share of rows is counted, by the bootstrap elsewhere.

Shares are binomial, and Clopper and Pearson's interval covers them with at least the confidence that is asked for. For
the rest the rows are drawn anew, with replacement, and the interval is that between two percentiles of what these
replicates measure. Where the data cannot say, there is no interval but a reason.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import betaincinv

from ingenuo.evaluation.measures import BINS, Matrix, judged_classes, row_measures
from ingenuo.evaluation.predictions import Predictions
from ingenuo.kernels import bootstrap

Floats = NDArray[np.float64]

MOST, FEWEST = 2_000, 200  # replicates
# How much is drawn in all: rows × replicates of a measure and one area.
_WORK = 400_000_000
_NUMBERS = 20_000_000  # replicates × classes that are kept
_DRAWN = 4_000_000  # cells × replicates that are drawn at a time
_SCORES = 32  # classes whose ranks are kept at a time
_UNDEFINED = 0.05  # of the replicates: with more there is no interval
_ROUNDING = 1e-12


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


def exact(count: float, n: float, confidence: float) -> Interval:
    """Clopper and Pearson's interval of a share: count of n rows.

    >>> low, high, *_ = exact(9, 10, 0.95)
    >>> f"{low:.4f} {high:.4f}"
    '0.5550 0.9975'
    """
    tail = (1 - confidence) / 2
    low = 0.0 if count <= 0 else float(betaincinv(count, n - count + 1, tail))
    high = 1.0 if count >= n else float(betaincinv(count + 1, n - count, 1 - tail))
    return Interval(low, high, "exact (Clopper-Pearson)")


def percentile(values: Floats, confidence: float) -> Interval:
    """The interval between two percentiles of what the replicates measured."""
    defined = values[~np.isnan(values)]
    if len(values) - len(defined) > _UNDEFINED * len(values):
        return Interval.refused(
            f"it is undefined in more than {_UNDEFINED:.0%} of the replicates, for the rows of a class are too few"
        )
    spread = float(defined.max() - defined.min())
    if spread <= _ROUNDING * max(1.0, float(np.abs(defined).max())):
        return Interval.refused("all replicates measure the same, so rows drawn anew do not say how much it would vary")
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
    return Interval(low, high, f"bootstrap ({len(values):,} replicates, percentile)")


def how_many(n_rows: int, n_classes: int, areas: bool) -> int:
    """How many replicates: 2,000, and fewer of many rows, but 200 at least.

    >>> how_many(1_000, 2, True), how_many(1_000_000, 2, True)
    (2000, 200)
    """
    scores = len(judged_classes(n_classes)) if areas else 1
    affordable = min(_WORK // (n_rows * (1 + scores)), _NUMBERS // n_classes)
    return int(np.clip(affordable, FEWEST, MOST))


def of_cells(rows: Predictions, replicates: int, random_state: int) -> Matrix:
    """The confusion matrices of rows drawn anew: their cells are multinomial, so the rows need not be drawn."""
    n_classes = len(rows.classes)
    cells, counts = np.unique(rows.codes.astype(np.int64) * n_classes + rows.predicted, return_counts=True)
    codes, predicted = np.divmod(cells, n_classes)
    every, right = np.arange(len(cells)), codes == predicted
    shape = (len(cells), n_classes)
    columns = [
        csr_array((np.ones(len(at)), (at, classes)), shape=shape)
        for at, classes in ((every[right], codes[right]), (every, codes), (every, predicted))
    ]
    rng = np.random.default_rng([random_state, 1])
    shares = counts / counts.sum()
    step = max(1, _DRAWN // len(cells))
    found: list[list[Floats]] = [[], [], []]
    for first in range(0, replicates, step):
        drawn = rng.multinomial(len(rows), shares, size=min(step, replicates - first))
        for parts, column in zip(found, columns):
            parts.append(np.asarray(drawn @ column, np.float64))
    return Matrix(*(np.concatenate(parts) for parts in found))


class Resampled(NamedTuple):
    """What replicates of the rows measured: of the classes, of the rows, and each score's areas."""

    matrix: Matrix
    rows: dict[str, Floats]
    roc: Floats
    pr: Floats


def of_rows(rows: Predictions, replicates: int, random_state: int) -> Resampled:
    """Measure rows that are drawn anew."""
    seed = int(np.random.default_rng([random_state, 2]).integers(0, 1 << 64, dtype=np.uint64))
    n_classes, n = len(rows.classes), len(rows)
    numbers, gaps, bins = np.zeros((n, 0)), np.zeros(0), np.zeros(0, np.int8)
    judged: list[int] = []
    scores = np.zeros((0, n))
    if rows.probabilities is not None:
        numbers, gaps, bins = row_measures(rows)
        judged = judged_classes(n_classes)
        scores = rows.probabilities.T
    roc, pr = np.empty((replicates, len(judged))), np.empty((replicates, len(judged)))
    # Every block of classes draws the same rows, for the seeds are the same.
    for first in range(0, max(len(judged), 1), _SCORES):
        block = judged[first : first + _SCORES]
        ranked = np.ascontiguousarray(scores[block]) if block else scores[:0]
        found = bootstrap.replicates(
            replicates, seed, numbers, gaps, bins, BINS, rows.codes, rows.predicted, n_classes, rows.weights, ranked,
            np.array(block, np.int32),
        )  # fmt: skip
        roc[:, first : first + len(block)], pr[:, first : first + len(block)] = found.roc, found.pr
    matrix = Matrix(*found.classes)
    n_drawn = matrix.true.sum(axis=1)
    sums: dict[str, Floats] = {}
    if rows.probabilities is not None:
        sums = {
            "log_loss": found.sums[:, 0] / n_drawn,
            "brier": found.sums[:, 1] / n_drawn,
            "ece": np.abs(found.bins).sum(axis=1) / n_drawn,
        }
    return Resampled(matrix, sums, roc, pr)


def where_all_are_there(values: Floats, found: Matrix, whole: Matrix) -> Floats:
    """A mean over classes, NaN in the replicates that have lost one: there it would be the mean of something else."""
    lost = ((whole.true > 0) & (found.true == 0)) | ((whole.true == 0) & (whole.answered > 0) & (found.answered == 0))
    return np.where(lost.any(axis=-1), np.nan, values)
