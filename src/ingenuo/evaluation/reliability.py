"""Whether probabilities can be believed: of the rows that were given 80 %, were 80 % right?

Rows are in bins by their forecast p, and the mean p of a bin is held against its share:

    ECE = Σ_m (n_m / n) |ē_m - p̄_m|        MCE = max_m |ē_m - p̄_m|

where e is 1 for rows of which the forecast came true. Of equal width, bin m has the forecasts above m/M up to
(m + 1)/M; 0 is in the first. All is read from exact sums of each bin, so the order of the rows does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError, RefusedError, did_you_mean
from ingenuo.evaluation.evaluation import Display, Evaluation, evaluate
from ingenuo.evaluation.intervals import check_share, exact
from ingenuo.evaluation.measures import BINS
from ingenuo.evaluation.sums import SUMS, forecast_sums
from ingenuo.rows.checks import check_whole
from ingenuo.show.format import span
from ingenuo.show.plots import reliability as draw_reliability
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, find, objects

Floats = NDArray[np.float64]

STRATEGIES = ("width", "mass")


def edges_of(forecast: Floats, bins: int, strategy: str, weights: Floats | None = None) -> Floats:
    """Where the bins end, from 0 to 1; of equal mass equal forecasts stay together, so there may be fewer bins."""
    if strategy == "width":
        return np.arange(bins + 1) / bins
    order = np.argsort(forecast, kind="stable")
    mass = np.arange(1.0, len(order) + 1) if weights is None else np.cumsum(weights[order])
    cuts = np.searchsorted(mass, np.arange(1, bins) / bins * mass[-1] * (1 - 1e-12))
    inner = np.unique(forecast[order][cuts])
    return np.concatenate([[0.0], inner[(inner > 0) & (inner < 1)], [1.0]])


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


def place_of(class_: Any, classes: Labels) -> int:
    """Where a class stands among the classes; an error where it is none of them."""
    found = int(find(classes, objects([class_]))[0])
    if found < 0:
        raise InputError(f"class_={class_!r} is not known{did_you_mean(class_, classes.tolist())}")
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Shown):
    """Forecasts in bins, and how often they came true; prints as a table. Those of two halves add to the whole's.

    >>> import ingenuo as ing
    >>> half = ing.reliability([[0.9, 0.1], [0.4, 0.6]], y=["no", "yes"])
    >>> (half + half).evaluation.n_rows
    4
    """

    evaluation: Evaluation  # the rows, or their sums: of rows that were not kept there are ten bins of equal width
    n_bins: int
    strategy: str
    class_: Any  # None where the class that was answered is judged
    confidence: float

    def __post_init__(self) -> None:
        if not self.evaluation.probable:
            raise RefusedError(
                "reliability is of probabilities, and there are labels only; give predict_proba's output"
            )
        check_whole("bins", self.n_bins, 1)
        if self.n_bins > 10_000:
            raise InputError(f"bins={self.n_bins} cannot be drawn; take 1 to 10,000")
        if self.strategy not in STRATEGIES:
            raise InputError(f"strategy={self.strategy!r} is not known{did_you_mean(self.strategy, STRATEGIES)}")
        if self.evaluation.rows is None and (self.n_bins, self.strategy) != (BINS, "width"):
            raise InputError(
                f"rows that were not kept are in {BINS} bins of equal width, and cannot be put in {self.n_bins} by "
                f"{self.strategy}; take bins={BINS} and strategy='width', or judge rows in memory"
            )

    @cached_property
    def _bins(self) -> tuple[Floats, dict[str, NDArray[Any]]]:
        """Where the bins end, and what is in each: the sums of `forecast_sums` by name, as fractions."""
        found, rows = self.evaluation, self.evaluation.rows
        k = None if self.class_ is None else place_of(self.class_, found.known)
        if rows is None:
            edges, sums = np.arange(BINS + 1) / BINS, found.forecasts(k)
        else:
            assert rows.probabilities is not None
            at = rows.predicted if k is None else np.full(len(rows), k)
            p = rows.probabilities[np.arange(len(rows)), at].clip(0, 1)
            edges = edges_of(p, self.n_bins, self.strategy, rows.weights)
            sums = forecast_sums(p, rows.codes == at, rows.weights, edges=edges).fractions()
        return edges, dict(zip(SUMS.tolist(), sums.T))

    @property
    def edges(self) -> Floats:
        """Where the bins end."""
        return self._bins[0]

    @property
    def rows(self) -> NDArray[np.int64]:
        """How many rows each bin has."""
        return self._bins[1]["rows"].astype(np.int64)

    @property
    def weight(self) -> Floats:
        """How much the rows of each bin count."""
        return self._bins[1]["weight"].astype(np.float64)

    def _mean(self, name: str) -> Floats:
        pairs = zip(self._bins[1][name], self._bins[1]["weight"])
        return np.array([float(value / weight) if weight > 0 else np.nan for value, weight in pairs])

    @cached_property
    def forecast(self) -> Floats:
        """Mean probability in each bin; NaN where it is empty."""
        return self._mean("p")

    @cached_property
    def share(self) -> Floats:
        """How often it came true, in each bin: of the class that was answered, accuracy."""
        return self._mean("true")

    @cached_property
    def intervals(self) -> Floats:
        """Clopper and Pearson's interval of each share (bins × 2); NaN without rows, and of rows with weights."""
        found = np.full((len(self.rows), 2), np.nan)
        if not self.evaluation.weighted:
            for k in np.flatnonzero(self.rows):
                n = int(self.rows[k])
                found[k] = exact(round(float(self.share[k]) * n), n, self.confidence)[:2]
        return found

    @property
    def _gaps(self) -> Floats:
        """|ē - p̄|, 0 where there is no row."""
        return np.nan_to_num(np.abs(self.share - self.forecast))

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean distance of share and forecast, over rows."""
        return math.fsum((self.weight * self._gaps).tolist()) / math.fsum(self.weight.tolist())

    @property
    def mce(self) -> float:
        """Maximum calibration error: the widest distance in a bin."""
        return float(self._gaps.max())

    @cached_property
    def class_wise_ece(self) -> float:
        """The mean over all classes of the ECE of each one's probability."""
        found = [each.ece for each in self.per_class().values()]
        return math.fsum(found) / len(found)

    @cached_property
    def brier(self) -> BrierScore:
        """The Brier score of the forecasts that are judged here, Σ w(p - e)² / Σw, and its parts."""
        sums = self._bins[1]
        p, product, square, true, weight = (
            sums[name][sums["weight"] > 0] for name in ("p", "product", "square", "true", "weight")
        )
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

    def per_class(self) -> dict[Any, Reliability]:
        """The reliability of each class's own probability."""
        return {label: replace(self, class_=label) for label in self.evaluation.labels}

    def __add__(self, other: Reliability) -> Reliability:
        """Of the rows of both; bins of equal mass are cut again."""
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = ((r.n_bins, r.strategy, r.class_, r.confidence) for r in (self, other))
        if mine != theirs:
            names = ("bins", "strategy", "class_", "confidence")
            name, a, b = next((n, a, b) for n, a, b in zip(names, mine, theirs) if a != b)
            raise MergeError(f"two reliabilities add when they were made alike; {name} is {a!r} here and {b!r} there")
        return Reliability(self.evaluation + other.evaluation, *mine)

    def _blocks(self) -> Sequence[str | Block]:
        of_answers, brier = self.class_ is None, self.brier
        percent = f"{self.confidence:.4g}".removeprefix("0.")
        heads = ["probability", "rows", "mean", "right" if of_answers else "true", f"{percent} % interval"]
        rows = [
            [f"{self.edges[k]:.3g} to {self.edges[k + 1]:.3g}", self.rows[k], self.forecast[k], self.share[k]]
            + ["–" if np.isnan(low) else span(low, high)]
            for k, (low, high) in enumerate(self.intervals.tolist())
            if self.rows[k]
        ]
        what = "the class that was answered" if of_answers else f"class {self.class_!r}"
        gap = float(np.nansum(self.weight * (self.forecast - self.share)) / self.weight.sum())
        side = "too sure" if gap > 0 else "not sure enough"
        return [
            PrintedTable(heads, rows, ["", ",", ".3f", ".3f"]),
            f"Of {what}: ECE {self.ece:.4f}, MCE {self.mce:.4f}; on average {abs(gap):.4f} {side}.",
            f"Brier score of that forecast: {brier.score:.4f} = reliability {brier.reliability:.4f} "
            f"- resolution {brier.resolution:.4f} "
            f"+ uncertainty {brier.uncertainty:.4f} + within bins {brier.variance - brier.covariance:.4f}.",
            *(["Rows have weights, so there are no intervals."] if self.evaluation.weighted else []),
            *self.evaluation.unseen,
            *([] if self.evaluation.rows is not None else ["The rows were counted and not kept."]),
        ]

    def table(self) -> Any:
        """An Arrow table with a row for each bin; an empty bin has no mean, no share and no interval."""
        import pyarrow as pa

        columns = {"from": pa.array(self.edges[:-1]), "to": pa.array(self.edges[1:]), "rows": pa.array(self.rows)}
        low, high = self.intervals.T
        numbers = {"forecast": self.forecast, "share": self.share, "low": low, "high": high}
        return pa.table(columns | {name: pa.array(values, from_pandas=True) for name, values in numbers.items()})

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability diagram; the axes are returned."""
        of_answers = self.class_ is None
        labels = (
            "confidence of the answer" if of_answers else f"P({self.class_})",
            "share that is right" if of_answers else f"share that is {self.class_}",
        )
        points = (self.forecast, self.share, self.intervals[:, 0], self.intervals[:, 1])
        return draw_reliability(self.edges, self.weight, points, labels, f"reliability, ECE {self.ece:.3f}", ax)


def reliability(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    classes: Any = None,
    bins: int = 10,
    strategy: str = "width",
    class_: Any = None,
    confidence: float = 0.95,
    sample_weight: Any = None,
) -> Reliability:
    """Compare probabilities with shares: rows in bins by how sure the answer was, and how often it was right.

    Parameters
    ----------
    model : classifier, array or Evaluation
        A fitted classifier with `predict_proba`, judged on rows it has not learned from; probabilities (rows ×
        classes); or what `evaluate` found, which has all it takes.
    X, y, classes, sample_weight
        As in `evaluate`. Rows of a scan or on an engine are counted where they are, in ten bins of equal width.
    bins, strategy : int, {"width", "mass"}
        How many bins, of equal width or with equally many rows.
    class_ : label, optional
        Judge the probability of this class; by default that of the class that was answered.
    confidence : float
        Of the intervals.

    Examples
    --------
    >>> probabilities = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.05, 0.95]]
    >>> found = reliability(probabilities, y=["no", "no", "yes", "yes"], bins=2)
    >>> round(found.ece, 4), found.rows.tolist()
    (0.0875, [0, 4])
    """
    sure = check_share("confidence", confidence)
    found = model
    if not isinstance(model, Evaluation):
        found = evaluate(model, X, y, classes=classes, sample_weight=sample_weight)
    named = None if class_ is None else found.labels[place_of(class_, found.known)]
    return Reliability(found, bins, strategy, named, sure)


class ReliabilityDisplay(Display):
    """The reliability diagram as scikit-learn's displays give it: options as of `reliability`, and axes `ax`.

    With a `name` there is a legend, so that several can be drawn on the same axes.

    Examples
    --------
    >>> display = ReliabilityDisplay.from_predictions(["no", "yes"], [[0.9, 0.1], [0.4, 0.6]])
    >>> display.ax_.get_ylabel()
    'share that is right'
    >>> one = ReliabilityDisplay.from_predictions(["no", "yes"], [[0.9, 0.1], [0.4, 0.6]], name="Bayes")
    >>> two = ReliabilityDisplay.from_predictions(["no", "yes"], [[0.6, 0.4], [0.1, 0.9]], name="softmax", ax=one.ax_)
    >>> [text.get_text() for text in two.ax_.get_legend().get_texts()]
    ['Bayes', 'softmax']
    """

    _judge = staticmethod(reliability)

    def __init__(self, reliability: Reliability, name: str | None = None) -> None:
        self.reliability, self.name = reliability, name

    def plot(self, ax: Any = None) -> ReliabilityDisplay:
        """Draw it, on the caller's axes or on a figure of its own."""
        self.ax_ = self.reliability.plot(ax)
        if self.name is not None:
            self.ax_.containers[-1].set_label(self.name)
            self.ax_.legend(frameon=False)
        self.figure_ = self.ax_.figure
        return self
