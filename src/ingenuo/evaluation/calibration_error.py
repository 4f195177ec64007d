"""How far probabilities are from shares: rows in bins by their forecast p, the mean p of a bin against the share.

    ECE = Σ_m (n_m / n) |ē_m - p̄_m|        MCE = max_m |ē_m - p̄_m|

where e is 1 for rows of which the forecast came true. Of equal width, bin m has the forecasts above m/M up to
(m + 1)/M; 0 is in the first. Sums are rounded once, so they do not depend on the order of the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean

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
    """What is in each bin; means and shares are NaN where it is empty."""

    edges: Floats
    rows: NDArray[np.int64]
    weight: Floats
    forecast: Floats  # mean p
    share: Floats  # mean e
    variance: Floats  # Σ w (p - p̄)², within the bin
    covariance: Floats  # Σ w (p - p̄)(e - ē)

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


def binned(forecast: Any, event: Any, edges: Floats, weights: Floats | None = None) -> Bins:
    """Rows in bins: sums of each bin, rounded once."""
    p, e = np.asarray(forecast, np.float64), np.asarray(event, np.float64)
    w = np.ones(len(p)) if weights is None else weights
    m = len(edges) - 1
    place = np.searchsorted(edges[1:-1], p, side="left")
    order = np.argsort(place, kind="stable")
    cuts = np.searchsorted(place[order], np.arange(1, m))
    found = np.full((5, m), np.nan)
    for k, rows in enumerate(np.split(order, cuts)):
        weight = math.fsum(w[rows].tolist())
        found[0, k], found[3:, k] = weight, 0.0
        if weight > 0:
            pm, em = (math.fsum((w[rows] * value[rows]).tolist()) / weight for value in (p, e))
            off = w[rows] * (p[rows] - pm)
            found[1:, k] = (
                pm,
                em,
                math.fsum((off * (p[rows] - pm)).tolist()),
                math.fsum((off * (e[rows] - em)).tolist()),
            )
    return Bins(edges, np.bincount(place, minlength=m).astype(np.int64), *found)


def brier_score(forecast: Floats, event: Any, bins: Bins, weights: Floats | None = None) -> BrierScore:
    """The Brier score of forecasts of one event, Σ w (p - e)² / Σ w, and its parts over these bins."""
    e = np.asarray(event, np.float64)
    w = np.ones(len(e)) if weights is None else weights
    n = math.fsum(bins.weight.tolist())
    base = math.fsum((w * e).tolist()) / n
    there = bins.weight > 0
    weight, p_mean, share = bins.weight[there], bins.forecast[there], bins.share[there]
    return BrierScore(
        score=math.fsum((w * (forecast - e) ** 2).tolist()) / n,
        reliability=math.fsum((weight * (p_mean - share) ** 2).tolist()) / n,
        resolution=math.fsum((weight * (share - base) ** 2).tolist()) / n,
        uncertainty=base * (1 - base),
        variance=math.fsum(bins.variance.tolist()) / n,
        covariance=2 * math.fsum(bins.covariance.tolist()) / n,
    )


def expected_calibration_error(
    forecast: Any, event: Any, *, bins: int = 10, strategy: str = "width", sample_weight: Any = None
) -> float:
    """The mean distance between forecast and share over bins (ECE).

    Parameters
    ----------
    forecast : array (rows,)
        Probabilities of an event: that the answer is right, or that a row is of one class.
    event : array (rows,) of bool
        Whether it came true.
    bins : int
        How many bins.
    strategy : {"width", "mass"}
        Bins of equal width, or with equally many rows.
    sample_weight : array (rows,), optional
        How much each row counts.

    Examples
    --------
    >>> round(expected_calibration_error([0.9, 0.9, 0.9, 0.6], [True, True, False, True]), 4)
    0.275
    """
    p, e, w = _checked(forecast, event, sample_weight)
    return binned(p, e, edges_of(p, bins, strategy, w), w).ece


def maximum_calibration_error(
    forecast: Any, event: Any, *, bins: int = 10, strategy: str = "width", sample_weight: Any = None
) -> float:
    """The widest distance between forecast and share of a bin (MCE); parameters as of the expected error.

    >>> round(maximum_calibration_error([0.9, 0.9, 0.9, 0.6], [True, True, False, True]), 4)
    0.4
    """
    p, e, w = _checked(forecast, event, sample_weight)
    return binned(p, e, edges_of(p, bins, strategy, w), w).mce


def class_wise_calibration_error(
    probabilities: Floats, codes: NDArray[Any], bins: int, strategy: str, weights: Floats | None = None
) -> float:
    """The mean over the classes of the ECE of each class's probability."""
    found = []
    for k in range(probabilities.shape[1]):
        p = probabilities[:, k]
        found.append(binned(p, codes == k, edges_of(p, bins, strategy, weights), weights).ece)
    return math.fsum(found) / len(found)


def _checked(forecast: Any, event: Any, weights: Any) -> tuple[Floats, Floats, Floats | None]:
    p, e = np.asarray(forecast, np.float64), np.asarray(event, np.float64)
    if p.ndim != 1 or p.shape != e.shape:
        raise InputError(f"forecast and event must be one number for each row, got shapes {p.shape} and {e.shape}")
    if len(p) == 0:
        raise InputError("there are no rows to judge; give one at least")
    for name, bad, values in (("forecast", ~((p >= 0) & (p <= 1)), p), ("event", (e != 0) & (e != 1), e)):
        if bad.any():
            row = int(bad.argmax())
            wanted = "a probability from 0 to 1" if name == "forecast" else "true or false"
            raise InputError(f"the {name} of row {row} is {float(values[row])!r}, and must be {wanted}")
    if weights is None:
        return p, e, None
    w = np.asarray(weights, np.float64)
    if w.shape != p.shape or not (np.isfinite(w) & (w >= 0)).all() or not w.sum() > 0:
        raise InputError(f"sample_weight must be {len(p)} finite numbers that are not negative, and not all 0")
    return p, e, w
