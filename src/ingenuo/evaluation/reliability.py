"""Whether probabilities can be believed: of the rows that were given 80 %, were 80 % right?

Rows are in bins by their forecast p, and the mean p of a bin is held against its share:

    ECE = Σ_m (n_m / n) |ē_m - p̄_m|        MCE = max_m |ē_m - p̄_m|

where e is 1 for rows of which the forecast came true. Of equal width, bin m has the forecasts above m/M up to
(m + 1)/M; 0 is in the first. All is read from exact sums of each bin, so the order of the rows does not matter.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError, RefusedError, did_you_mean
from ingenuo.evaluation.intervals import exact
from ingenuo.evaluation.measures import BINS
from ingenuo.evaluation.sums import forecast_sums
from ingenuo.show.page import STYLE
from ingenuo.show.plots import reliability as drawn
from ingenuo.show.table import aligned, html_table
from ingenuo.tally.labels import Labels, find, labels_of

Floats = NDArray[np.float64]

STRATEGIES = ("width", "mass")


def edges_of(forecast: Floats, bins: int, strategy: str, weights: Floats | None = None) -> Floats:
    """Where the bins end, from 0 to 1; of equal mass equal forecasts stay together, so there may be fewer bins.

    >>> edges_of(np.array([0.1, 0.2, 0.2, 0.9]), 2, "mass").tolist()
    [0.0, 0.2, 1.0]
    """
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer):
        raise KindError(f"bins must be a whole number, got {type(bins).__name__} {bins!r}")
    if not 1 <= bins <= 10_000:
        raise InputError(f"bins={bins} cannot be drawn; take 1 to 10,000")
    if strategy not in STRATEGIES:
        raise InputError(f"strategy={strategy!r} is not known{did_you_mean(strategy, STRATEGIES)}")
    if strategy == "width":
        return np.arange(bins + 1) / bins
    order = np.argsort(forecast, kind="stable")
    mass = np.arange(1.0, len(order) + 1) if weights is None else np.cumsum(weights[order])
    cuts = np.searchsorted(mass, np.arange(1, bins) / bins * mass[-1] * (1 - 1e-12))
    inner = np.unique(forecast[order][cuts])
    return np.concatenate([[0.0], inner[(inner > 0) & (inner < 1)], [1.0]])


@dataclass(frozen=True, eq=False)
class Bins:
    """What is in each bin: sums of `forecast_sums` as fractions; means and shares are NaN where it is empty."""

    edges: Floats
    sums: NDArray[Any]

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many rows each has."""
        return self.sums[:, 2].astype(np.int64)

    @cached_property
    def weight(self) -> Floats:
        """How much they count."""
        return self.sums[:, 5].astype(np.float64)

    def _mean(self, place: int) -> Floats:
        return np.array([float(row[place] / row[5]) if row[5] > 0 else np.nan for row in self.sums])

    @cached_property
    def forecast(self) -> Floats:
        """The mean forecast, p̄."""
        return self._mean(0)

    @cached_property
    def share(self) -> Floats:
        """How often it came true, ē."""
        return self._mean(4)

    @property
    def gaps(self) -> Floats:
        """|ē - p̄|, 0 where there is no row."""
        return np.asarray(np.where(self.weight > 0, np.abs(self.share - self.forecast), 0.0))

    @property
    def ece(self) -> float:
        """The mean gap."""
        return math.fsum((self.weight * self.gaps).tolist()) / math.fsum(self.weight.tolist())

    @property
    def mce(self) -> float:
        """The widest gap."""
        return float(self.gaps.max())

    @cached_property
    def brier(self) -> BrierScore:
        """The Brier score of the forecasts, Σ w(p - e)² / Σw, and its parts."""
        p, product, _, square, true, weight = self.sums[self.sums[:, 5] > 0].T
        n, base = weight.sum(), true.sum() / weight.sum()
        within = [max(each, Fraction(0)) for each in square - p * p / weight]
        return BrierScore(
            score=float(max((square - 2 * product + true).sum(), Fraction(0)) / n),
            reliability=float(((p - true) ** 2 / weight).sum() / n),
            resolution=float((weight * (true / weight - base) ** 2).sum() / n),
            uncertainty=float(base * (1 - base)),
            variance=float(sum(within, Fraction(0)) / n),
            covariance=float(2 * (product - p * true / weight).sum() / n),
        )


@dataclass(frozen=True)
class BrierScore:
    """The Brier score and its parts: reliability - resolution + uncertainty + variance - covariance, exactly.

    The first three are Murphy's; the last two are what rows within a bin differ by (Stephenson, Coelho and Jolliffe,
    2008), without which the parts do not add up. `covariance` is twice the mean covariance of p and e within bins.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    variance: float
    covariance: float


def _binned(p: Floats, event: Any, bins: int, strategy: str, weights: Floats | None) -> Bins:
    """Forecasts of events in bins."""
    edges = edges_of(p, bins, strategy, weights)
    return Bins(edges, forecast_sums(p, np.asarray(event, bool), weights, edges=edges).fractions()[0])


def place_of(class_: Any, classes: Labels) -> int:
    """Where a class stands among the classes; an error where it is none of them."""
    try:
        found = int(find(classes, labels_of([class_]))[0])
    except (TypeError, ValueError):
        found = -1
    if found < 0:
        raise InputError(f"class_={class_!r} is not known{did_you_mean(class_, classes.tolist())}")
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Reliability:
    """Forecasts in bins, and how often they came true; prints as a table. Those of two halves add to that of the whole.

    Attributes
    ----------
    evaluation : Evaluation
        The rows, or their sums: of rows that were not kept there are ten bins of equal width.
    n_bins, strategy, class_, confidence
        What was asked for; `class_` is None where the class that was answered is judged.
    """

    evaluation: Any
    n_bins: int
    strategy: str
    class_: Any
    confidence: float

    def __post_init__(self) -> None:
        if not self.evaluation.probable:
            raise RefusedError(
                "reliability is of probabilities, and there are labels only; give predict_proba's output"
            )
        edges_of(np.zeros(1), self.n_bins, self.strategy)  # refuses what cannot be
        if self.evaluation.rows is None and (self.n_bins, self.strategy) != (BINS, "width"):
            raise InputError(
                f"rows that were not kept are in {BINS} bins of equal width, and cannot be put in {self.n_bins} by "
                f"{self.strategy}; take bins={BINS} and strategy='width', or judge rows in memory"
            )

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return bool(self.evaluation.weighted)

    @cached_property
    def bins(self) -> Bins:
        """What is in each bin."""
        return self._bins(None if self.class_ is None else place_of(self.class_, self.evaluation._known))

    def _bins(self, k: int | None) -> Bins:
        """Of the probability of class k, or of the answer's."""
        rows = self.evaluation.rows
        if rows is None:
            sums = self.evaluation.answers if k is None else self.evaluation.forecasts(k)
            return Bins(np.arange(BINS + 1) / BINS, sums)
        at = rows.predicted if k is None else np.full(len(rows), k)
        p = rows.probabilities[np.arange(len(rows)), at].clip(0, 1)
        return _binned(p, rows.codes == at, self.n_bins, self.strategy, rows.weights)

    @property
    def edges(self) -> Floats:
        """Where the bins end."""
        return self.bins.edges

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many rows each bin has."""
        return self.bins.rows

    @property
    def forecast(self) -> Floats:
        """Mean probability in each bin; NaN where it is empty."""
        return self.bins.forecast

    @property
    def share(self) -> Floats:
        """How often it came true, in each bin: of the class that was answered, accuracy."""
        return self.bins.share

    @cached_property
    def intervals(self) -> Floats:
        """Clopper and Pearson's interval of each share (bins × 2); NaN without rows, and of rows with weights."""
        found = np.full((len(self.rows), 2), np.nan)
        if not self.weighted:
            for k in np.flatnonzero(self.rows):
                n = int(self.rows[k])
                low, high, *_ = exact(round(float(self.share[k]) * n), n, self.confidence)
                found[k] = low, high
        return found

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean distance of share and forecast, over rows."""
        return self.bins.ece

    @property
    def mce(self) -> float:
        """Maximum calibration error: the widest distance in a bin."""
        return self.bins.mce

    @cached_property
    def class_wise_ece(self) -> float:
        """The mean over all classes of the ECE of each one's probability."""
        found = [self._bins(k).ece for k in range(len(self.evaluation.labels))]
        return math.fsum(found) / len(found)

    @property
    def brier(self) -> BrierScore:
        """The Brier score of the forecasts that are judged here, and its parts."""
        return self.bins.brier

    def per_class(self) -> dict[Any, Reliability]:
        """The reliability of each class's own probability."""
        asked = (self.evaluation, self.n_bins, self.strategy)
        return {label: Reliability(*asked, label, self.confidence) for label in self.evaluation.labels}

    def __add__(self, other: Reliability) -> Reliability:
        """Of the rows of both; bins of equal mass are cut again."""
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = ((r.n_bins, r.strategy, r.class_, r.confidence) for r in (self, other))
        if mine != theirs:
            names = ("bins", "strategy", "class_", "confidence")
            name, a, b = next((n, a, b) for n, a, b in zip(names, mine, theirs) if a != b)
            raise MergeError(
                f"two reliabilities add when they were asked for alike; {name} is {a!r} here and {b!r} there"
            )
        return Reliability(self.evaluation + other.evaluation, *mine)

    def _lines(self) -> list[list[str]]:
        span = f"{self.confidence:.4g}".removeprefix("0.")
        lines = [["probability", "rows", "mean", "right" if self.class_ is None else "true", f"{span} % interval"]]
        for k in np.flatnonzero(self.rows):
            low, high = self.intervals[k]
            sides = "–" if np.isnan(low) else f"[{low:.3f}, {high:.3f}]"
            where = f"{self.edges[k]:.3g} to {self.edges[k + 1]:.3g}"
            lines.append([where, f"{self.rows[k]:,}", f"{self.forecast[k]:.3f}", f"{self.share[k]:.3f}", sides])
        return lines

    def _remarks(self) -> list[str]:
        brier = self.brier
        what = "the class that was answered" if self.class_ is None else f"class {self.class_!r}"
        gap = float(np.nansum(self.bins.weight * (self.forecast - self.share)) / self.bins.weight.sum())
        side = "too sure" if gap > 0 else "not sure enough"
        return [
            f"Of {what}: ECE {self.ece:.4f}, MCE {self.mce:.4f}; on average {abs(gap):.4f} {side}.",
            f"Brier score of that forecast: {brier.score:.4f} = reliability {brier.reliability:.4f} "
            f"- resolution {brier.resolution:.4f} "
            f"+ uncertainty {brier.uncertainty:.4f} + within bins {brier.variance - brier.covariance:.4f}.",
            *(["Rows have weights, so there are no intervals."] if self.weighted else []),
            *self.evaluation.unseen,
            *([] if self.evaluation.rows is not None else ["The rows were counted and not kept."]),
        ]

    def __str__(self) -> str:
        return "\n".join([*aligned(self._lines()), *self._remarks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(line)}</p>" for line in self._remarks())
        return f"<div style='overflow-x:auto'><style>{STYLE}</style>{html_table(self._lines())}{said}</div>"

    def table(self) -> Any:
        """An Arrow table with a row for each bin; an empty bin has no mean, no share and no interval."""
        import pyarrow as pa

        def column(values: Iterable[float]) -> Any:
            return pa.array([None if np.isnan(value) else float(value) for value in values], pa.float64())

        columns = {"from": pa.array(self.edges[:-1]), "to": pa.array(self.edges[1:]), "rows": pa.array(self.rows)}
        numbers = {"forecast": self.forecast, "share": self.share}
        numbers |= {"low": self.intervals[:, 0], "high": self.intervals[:, 1]}
        return pa.table(columns | {name: column(values) for name, values in numbers.items()})

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability diagram; the axes are returned."""
        of_answers = self.class_ is None
        labels = (
            "confidence of the answer" if of_answers else f"P({self.class_})",
            "share that is right" if of_answers else f"share that is {self.class_}",
        )
        points = (self.forecast, self.share, self.intervals[:, 0], self.intervals[:, 1])
        return drawn(self.edges, self.bins.weight, points, labels, f"reliability, ECE {self.ece:.3f}", ax)
