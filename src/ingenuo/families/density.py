"""Numbers of any distribution: a histogram, a kernel estimate or a mixture of Gaussians for each class and column.

All of them are functions of one tally, a `Histogram`. "auto" keeps the sums of the Gaussian beside it, and takes for
each column what has the highest likelihood when each value is left out of the estimate that judges it; where the bins
are too wide for the others, the Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.curves import Column, Curve, GaussianCurve, SilentCurve, Spread, log_normal, normal
from ingenuo.families.family import Family, refuse_more_than_rows
from ingenuo.families.gaussian import Gaussian, GaussianParameters
from ingenuo.families.histogram import equal_mass, histogram
from ingenuo.families.left_out import LearnedRows
from ingenuo.families.smooth import kernel, mixture
from ingenuo.kernels import densities as loops
from ingenuo.kernels import histograms as counting
from ingenuo.kernels import portable, threads
from ingenuo.kernels.histograms import LEAST_EXPONENT
from ingenuo.rows.part import Chunk, Numbers
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show import plots
from ingenuo.show.arithmetic import Factor, Floats, Term, exponential
from ingenuo.tally.histogram import PREFIX, Histogram, bins_name
from ingenuo.tally.labels import Labels, find
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Tally

# Whether a column's bins are too wide for most of its values, because a few lie, or lay, very far out.


FEW = 4
FEWEST_VALUES = 20  # fewer have no bulk to speak of
_OUTSIDE = 0.01  # of the values, at most, and at most so many different ones:
_CODES = 3


def crowd(column: Column, deviations: Floats | None = None) -> str:
    """What to say of a column whose bins are too wide for most of its values; of any other, nothing.

    `deviations` are those of the classes by exact sums, where they are known.
    """
    pooled = column.pooled
    total, used = float(pooled.sum()), np.flatnonzero(pooled)
    whole = column.exponent <= 0 and not ((used + column.first) & ((1 << min(-column.exponent, 62)) - 1)).any()
    if total < FEWEST_VALUES or not widened(column) or whole:
        return ""
    low, high = np.searchsorted(np.cumsum(pooled), np.array([0.25, 0.75]) * total).tolist()
    if high - low + 1 >= FEW:
        return ""
    near = used[(used >= low - FEW) & (used <= high + FEW)]
    if len(used) - len(near) <= _CODES and total - pooled[near].sum() <= _OUTSIDE * total:
        low, high = int(near[0]), int(near[-1])
        inside = (column.seen > 0) & (column.counts[:, low] == column.totals)
        if low == high and deviations is not None and inside.any() and not (deviations[inside] > 0).any():
            return ""  # one value, by the classes that have no others
    elif high == low:
        return ""
    share, bins = pooled[low : high + 1].sum() / total, int((pooled[low : high + 1] > 0).sum())
    width = float(np.ldexp(1.0, column.exponent))
    return f"{column_name(column.name)!r} ({width:.6g} wide, {100 * share:.4g} % of the values in {bins} of them)"


def widened(column: Column) -> bool:
    """Whether the bins are wider than the size of the values alone demands: for that, places are at least 2^49."""
    farthest = max(abs(column.first), abs(column.first + column.size - 1))
    return column.exponent > LEAST_EXPONENT and farthest < 1 << 49


def remark(crowds: list[str]) -> str:
    """The one sentence to say of such columns."""
    more = f" and {len(crowds) - 5} more" if len(crowds) > 5 else ""
    return (
        f"the bins of column{'s' if len(crowds) > 1 else ''} {', '.join(crowds[:5])}{more} are too wide to tell these "
        "values apart, because of a value very far from the others; make it missing (NaN), or fit again without it"
    )


ESTIMATES: dict[str, Callable[[Column], Curve]] = {
    "histogram": histogram,
    "kernel": kernel,
    "mixture": mixture,
}
HELD = ("histogram", "kernel", "equal-mass")  # densities whose shape can be held
AUTOMATIC = ("histogram", "kernel", "mixture")  # what "auto" tries beside the Gaussian


@dataclass(frozen=True)
class DensityParameters:
    """The curves of each column, and the scores of all that were tried."""

    columns: Labels
    curves: tuple[Curve, ...]
    scores: tuple[Mapping[str, float], ...]
    tables: loops.Tables
    remarks: tuple[str, ...] = ()  # on columns whose bins are too wide


@dataclass(frozen=True)
class Density(Family):
    """A density per class and column, estimated from histograms: of one kind, or of the likeliest."""

    kind: str  # one of ESTIMATES, "equal-mass", or "auto"
    bins: int = 10  # of equal mass

    def tally(self, chunk: Chunk, block: Numbers) -> Tally:
        """The histogram of each column; for "auto" the Gaussian's sums as well."""
        K = len(chunk.classes)
        if chunk.weights is None:
            parts = counting.histograms(block, chunk.coded, K)
        else:
            parts = [counting.weighted_histograms(block, chunk.coded, chunk.weights, K)]
        total = Gaussian().tally(chunk, block) if self.kind == "auto" else Tally()
        for part in parts:
            total = total + Tally(
                {
                    bins_name(name): Histogram.counted(chunk.classes, found)
                    for name, found in zip(block.names.tolist(), part)
                    if found is not None
                }
            )
        return total

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> DensityParameters:
        """The curves of every column."""
        gaussians = None
        if self.kind == "auto":
            gaussians = Gaussian().estimate(tally, prior, schema, columns, classes)

        def one(j: int, name: object) -> tuple[list[Curve], str]:
            bins = tally.bins(bins_name(name))
            if bins is None or not len(bins.places):
                return [_single(name, bins, classes, prior)], ""
            column = Column.of(name, bins, classes, prior)
            if not column.seen.any():
                return [_single(name, None, classes, prior)], ""
            sums = None if gaussians is None else Spread.of(gaussians, j)
            crowded = crowd(column, None if sums is None else sums.seen)
            gaussian = None
            if sums is not None and (column.size > 1 or (sums.whole > 0 and widened(column))):
                gaussian = normal(column, sums)
                if gaussian.alone or column.size == 1:
                    return [gaussian], crowded
            if column.size == 1:
                return [_single(name, bins, classes, prior)], crowded
            if self.kind == "equal-mass":
                return [equal_mass(column, self.bins)], crowded
            tried = [ESTIMATES[kind](column) for kind in (AUTOMATIC if self.kind == "auto" else [self.kind])]
            return [gaussian, *tried] if gaussian is not None else tried, crowded

        found = threads.run([partial(one, j, name) for j, name in enumerate(columns.tolist())])
        curves = tuple(max(tried, key=lambda curve: curve.score) for tried, _ in found)
        scores = tuple({curve.kind: curve.score - curve.offset for curve in tried} for tried, _ in found)
        crowds = [crowded for _, crowded in found if crowded]
        remarks = (remark(crowds),) if crowds else ()
        return DensityParameters(columns, curves, scores, _tables(curves, len(classes)), remarks)

    def log_likelihood(
        self, parameters: DensityParameters, block: Numbers, out: Floats, floor: float | None = None
    ) -> None:
        """Add the log densities; a missing value adds nothing."""
        tables = parameters.tables
        if floor is not None:
            tables = tables._replace(points=np.maximum(tables.points, floor))

        def beyond(j: int, x: Floats) -> Floats:
            values = parameters.curves[j].log_density(x)
            return values if floor is None else np.maximum(values, floor)

        block.refuse_infinite(loops.add_curves(block, tables, out, beyond))

    def factors(self, parameters: DensityParameters, block: Numbers) -> list[Factor]:
        """The density of each class, and how it comes about."""
        found = []
        for j, (name, curve, x) in enumerate(zip(parameters.columns, parameters.curves, block.rows(0, 1)[0])):
            if math.isnan(x):
                found.append(Factor(column_name(name), "missing", note="left out"))
                continue
            if isinstance(curve, SilentCurve):
                found.append(Factor(column_name(name), f"{x:.6g}", note="left out: no two values were seen"))
                continue
            logs = np.zeros((1, parameters.tables.points.shape[1]))
            alone = replace(parameters, curves=(curve,), tables=_tables((curve,), logs.shape[1]))
            self.log_likelihood(alone, block.only(j, j + 1), logs)
            terms = [Term(curve.how(float(x), k), exponential(log), log) for k, log in enumerate(logs[0].tolist())]
            found.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        return found

    def sample(
        self, parameters: DensityParameters, drawn: NDArray[np.intp], rng: np.random.Generator
    ) -> dict[Any, NDArray[Any]]:
        """Values drawn from the curves."""
        result = {}
        for name, curve in zip(parameters.columns.tolist(), parameters.curves):
            values = np.empty(len(drawn))
            for k in np.unique(drawn).tolist():
                values[drawn == k] = curve.sample(k, int((drawn == k).sum()), rng)
            result[name] = values
        return result

    def left_out(self, rows: LearnedRows, prior: Prior, block: Numbers) -> Floats:
        """With the shape held, where it can be, unless exact answers are asked for."""
        if rows.exact or self.kind not in HELD:
            return super().left_out(rows, prior, block)
        parameters = self.estimate(rows.tally, prior, rows.schema, block.names, rows.classes)
        y, w = rows.chunk.coded, rows.weights
        found = (curve.left_out(block.column(j), y, w) for j, curve in enumerate(parameters.curves))
        return np.asarray(sum(found, np.zeros((block.n_rows, len(rows.classes)))))

    def check(self, tally: Tally) -> None:
        """No class has more values in a column than it has rows."""
        if self.kind == "auto":
            Gaussian().check(tally)
        for name in tally:
            if name.startswith(PREFIX):
                refuse_more_than_rows(tally, name)


def _single(name: object, bins: Histogram | None, classes: Labels, prior: Prior) -> Curve:
    """A column of one value, or of none, says nothing of the class."""
    K = len(classes)
    bins = bins if bins is not None else Histogram.of(classes, [0], np.ones((K, 1), np.int64), 0)
    column = Column(name, bins.exponent, int(bins.places[0]), np.zeros(K), np.ones((K, 1)), prior)
    return SilentCurve(column, 0.0, 0.0, 1.0, np.zeros((0, K)))


def _tables(curves: tuple[Curve, ...], K: int) -> loops.Tables:
    d = len(curves)
    sizes = [len(curve.table) for curve in curves]
    means, over, constants = np.zeros((d, K)), np.zeros((d, K)), np.zeros((d, K))  # so that a silent column adds 0
    for j, curve in enumerate(curves):
        if isinstance(curve, GaussianCurve):
            means[j], over[j] = curve.means, 1 / curve.deviations
            constants[j] = -portable.log(curve.deviations) - 0.5 * math.log(2 * math.pi)
    return loops.Tables(
        np.array([curve.way for curve in curves], np.int64),
        np.array([curve.column.exponent for curve in curves], np.int64),
        np.array([curve.column.first + curve.origin for curve in curves]),
        np.array([1 / curve.step for curve in curves]),
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        np.maximum(np.concatenate([np.zeros((0, K)), *(c.table - c.column.unit for c in curves)]), loops.NOTHING),
        means,
        over,
        constants,
    )


@dataclass(frozen=True)
class Chosen:
    """The density that a column was given, and the scores of those that were tried.

    A score is the log likelihood of the column's values, each left out of the estimate that judges it.
    """

    density: str
    detail: str
    scores: Mapping[str, float]


def chosen(parameters: DensityParameters | GaussianParameters, column: object) -> Chosen:
    """What one column was given."""
    if isinstance(parameters, GaussianParameters):
        return Chosen("gaussian", "mean and deviation", {})
    at = parameters.columns.tolist().index(column)
    curve = parameters.curves[at]
    return Chosen(curve.kind, curve.detail, parameters.scores[at])


def log_density(parameters: DensityParameters | GaussianParameters, column: object, x: Floats) -> Floats:
    """log p(x | class) of one column, for each value and class."""
    at = parameters.columns.tolist().index(column)
    if isinstance(parameters, GaussianParameters):
        return log_normal(x, parameters.means[:, at], parameters.deviations[:, at])
    return np.asarray(parameters.curves[at].log_density(x))


# The densities of one column within each class, drawn over the histogram of its values.


POINTS = 801
_BARS = 40  # of the histogram behind the curves, about


def draw_densities(
    parameters: DensityParameters | GaussianParameters, column: object, classes: Labels, bins: Histogram | None, ax: Any
) -> Any:
    """A curve for each class, and the histogram of its values where the model keeps one."""
    ax = plots.new_axes(ax)
    gaussian = _gaussian(parameters, column)
    bins = None if gaussian is not None else bins
    low, high = _range(bins) if bins is not None else _reach(gaussian)
    x = np.linspace(low, high, POINTS)
    densities = np.exp(log_density(parameters, column, x))
    bars = _bars(bins, classes, low, high) if bins is not None else None
    for k, label in enumerate(classes.tolist()):
        colour = f"C{k % 10}"
        if bars is not None:
            edges, heights = bars
            ax.stairs(heights[k], edges, fill=True, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, densities[:, k], color=colour, label=str(label), linestyle="-" if k < 10 else "--")
    ax.set_xlim(low, high)
    ax.set_ylim(0, 1.05 * _highest(densities, bars))
    ax.set_xlabel(column_name(column))
    ax.set_ylabel(f"density (per unit of {column_name(column)})")
    ax.set_title(chosen(parameters, column).density, fontsize="medium")
    ax.legend(title="class", fontsize="small", ncols=1 + len(classes) // 10)
    return ax


def _range(bins: Histogram) -> tuple[float, float]:
    """All the values; where a few lie very far out, the middle 99 % with as much on either side."""
    counts = bins.sums.floats().sum(axis=0)
    upto = np.cumsum(counts) / counts.sum()
    ends = np.ldexp(np.array([bins.places[0], bins.places[-1] + 1], np.float64), bins.exponent)
    middle = np.ldexp(bins.places[np.searchsorted(upto, [0.005, 0.995]).clip(0, len(upto) - 1)] + 0.5, bins.exponent)
    reach = max(float(middle[1] - middle[0]), bins.width)
    low, high = max(ends[0], middle[0] - reach), min(ends[1], middle[1] + reach)
    margin = 0.05 * (high - low)
    return float(low - margin), float(high + margin)


def _gaussian(parameters: DensityParameters | GaussianParameters, column: object) -> tuple[Floats, Floats] | None:
    """Means and deviations, where there is no histogram, or one whose bins are wider than the Gaussians."""
    at = parameters.columns.tolist().index(column)
    if isinstance(parameters, GaussianParameters):
        return parameters.means[:, at], parameters.deviations[:, at]
    curve = parameters.curves[at]
    return (curve.means, curve.deviations) if isinstance(curve, GaussianCurve) and curve.alone else None


def _reach(gaussian: tuple[Floats, Floats] | None) -> tuple[float, float]:
    """Four deviations around the means."""
    assert gaussian is not None, "every other density has a histogram"
    means, deviations = gaussian
    return float((means - 4 * deviations).min()), float((means + 4 * deviations).max())


def _bars(bins: Histogram, classes: Labels, low: float, high: float) -> tuple[Floats, Floats]:
    """Edges and heights (classes × bars) of a histogram of about so many bars between low and high."""
    coarse = max(bins.exponent, int(np.ceil(np.log2((high - low) / _BARS))))
    wide = bins.coarsened(coarse)
    places = np.arange(wide.places[0], wide.places[-1] + 1)
    counts = wide.over(classes).pick(1, find(wide.places, places)).floats()
    totals = np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.ldexp(np.append(places, places[-1] + 1).astype(np.float64), coarse), counts / totals / wide.width


def _highest(densities: Floats, bars: tuple[Floats, Floats] | None) -> float:
    """The top of the picture: of the curves, and of bars up to twice as high."""
    top = float(densities.max())
    return top if bars is None else max(top, min(float(bars[1].max()), 2 * top))
