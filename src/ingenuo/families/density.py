"""Numbers of any distribution: a histogram, a kernel estimate or a mixture of Gaussians for each class and column.

All of them are functions of one tally, a `Histogram`. "auto" keeps the sums of the Gaussian as well, and takes for
each column what has the highest likelihood when each value is left out of the estimate that judges it; where the bins
are too wide for the others, the Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ingenuo.families.curves import Column, Curve, GaussianCurve, equal_mass, gaussian, histogram, silent
from ingenuo.families.family import Family, LearnedRows, Measure, Parameters, Values, check_rows
from ingenuo.families.gaussian import Chosen, Gaussian, GaussianParameters
from ingenuo.families.smooth import kernel, mixture
from ingenuo.kernels import densities as loops
from ingenuo.kernels import moments as counting
from ingenuo.kernels import threads
from ingenuo.rows.part import Chunk, Numbers, Places
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show import plots
from ingenuo.show.arithmetic import Factor, Floats, Term, exponential
from ingenuo.tally.histogram import PREFIX, Histogram, bins_name
from ingenuo.tally.labels import Labels, find
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Tally

ESTIMATES: dict[str, Callable[[Column], Curve]] = {"histogram": histogram, "kernel": kernel, "mixture": mixture}
HELD = ("histogram", "kernel", "equal-mass")  # densities whose shape can be held

# Whether a column's bins are too wide for most of its values, because a few lie, or lay, very far out.
_FEW = 4  # bins between the quartiles
_FEWEST = 20  # values: fewer have no bulk to speak of
_OUTSIDE, _CODES = 0.01, 3  # of the values, at most, lie outside, and at most so many different ones


def describe_crowd(column: Column, deviations: Floats | None) -> str:
    """What to say of a column whose bins are too wide for most of its values, by exact deviations where known."""
    pooled = column.pooled
    total, used = float(pooled.sum()), np.flatnonzero(pooled)
    whole = column.exponent <= 0 and not ((used + column.first) & ((1 << min(-column.exponent, 62)) - 1)).any()
    if total < _FEWEST or not column.widened or whole:
        return ""
    low, high = np.searchsorted(np.cumsum(pooled), np.array([0.25, 0.75]) * total).tolist()
    if high - low + 1 >= _FEW:
        return ""
    near = used[(used >= low - _FEW) & (used <= high + _FEW)]
    if len(used) - len(near) <= _CODES and total - pooled[near].sum() <= _OUTSIDE * total:
        low, high = int(near[0]), int(near[-1])
        inside = (column.seen > 0) & (column.counts[:, low] == column.totals)
        if low == high and deviations is not None and inside.any() and not (deviations[inside] > 0).any():
            return ""  # one value, by the classes that have no others
    elif high == low:
        return ""
    share, bins = pooled[low : high + 1].sum() / total, int((pooled[low : high + 1] > 0).sum())
    wide = f"{float(column.widths(1.0)):.6g} wide"
    return f"{column_name(column.name)!r} ({wide}, {100 * share:.4g} % of the values in {bins} of them)"


@dataclass(frozen=True)
class DensityParameters(Parameters):
    """The curves of each column, and the scores of all that were tried."""

    columns: Labels
    curves: tuple[Curve, ...]
    scores: tuple[Mapping[str, float], ...]
    tables: loops.Tables
    remarks: tuple[str, ...] = ()  # on columns whose bins are too wide

    def add_log_likelihood(self, block: Numbers, out: Floats, floor: float | None = None) -> None:
        """Add the log densities; a missing value adds nothing."""
        least = -np.inf if floor is None else floor
        tables = self.tables if floor is None else self.tables._replace(points=np.maximum(self.tables.points, floor))
        loops.add_curves(block, tables, out, lambda j, x: np.maximum(self.curves[j].log_density(x), least))

    def factors(self, block: Numbers) -> list[Factor]:
        """The density of each class, and how it comes about."""
        found = []
        for j, (name, curve, x) in enumerate(zip(self.columns, self.curves, block.rows(0, 1)[0])):
            if math.isnan(x):
                found.append(Factor(column_name(name), "missing", note="left out"))
                continue
            if curve.kind == "constant":
                found.append(Factor(column_name(name), f"{x:.6g}", note="left out: no two values were seen"))
                continue
            logs = np.zeros((1, self.tables.points.shape[1]))
            alone = replace(self, curves=(curve,), tables=_tables((curve,), logs.shape[1]))
            alone.add_log_likelihood(block.only(j, j + 1), logs)
            terms = [Term(curve.how(float(x), k), exponential(log), log) for k, log in enumerate(logs[0].tolist())]
            found.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        return found

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Values drawn from the curves."""
        result = {}
        for name, curve in zip(self.columns.tolist(), self.curves):
            values = result[name] = np.empty(len(drawn))
            for k in np.unique(drawn).tolist():
                values[drawn == k] = curve.sample(k, int((drawn == k).sum()), rng)
        return result

    def log_density(self, column: object, x: Floats) -> Floats:
        """log p(x | class) of one column, for each value and class."""
        at = self.columns.tolist().index(column)
        return np.asarray(self.curves[at].log_density(np.asarray(x, np.float64)))

    def chosen(self, column: object) -> Chosen:
        """What one column was given."""
        at = self.columns.tolist().index(column)
        return Chosen(self.curves[at].kind, self.curves[at].detail, self.scores[at])

    def reach(self, column: object) -> tuple[float, float] | None:
        """Where to draw a column whose bins are wider than its Gaussians; of others, the histogram tells."""
        curve = self.curves[self.columns.tolist().index(column)]
        if not isinstance(curve, GaussianCurve) or not curve.alone:
            return None
        none = np.zeros((1, 1))
        own = curve.means[:, np.newaxis], curve.deviations[:, np.newaxis]
        return GaussianParameters(np.array([column]), none, *own).reach(column)

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Measure]:
        """What numbers add."""
        for column, curve in zip(self.columns.tolist(), self.curves):

            def at(x: Floats, column: object = column) -> Floats:
                return weight * self.log_density(column, x)

            first, last = curve.column.values(np.array([0.0, float(curve.column.size)])).tolist()
            if curve.kind == "constant":
                nothing = np.zeros(len(priors))
                yield Measure(column, at, first, last, nothing, nothing, weight, silent=True)
            else:
                found = Measure.of(column, at, *curve.moments(), priors, weight=weight)
                yield replace(found, low=max(found.low, first), high=min(found.high, last))


@dataclass(frozen=True)
class Density(Family):
    """A density per class and column, estimated from histograms: of one kind, or of the likeliest."""

    kind: str  # one of ESTIMATES, "equal-mass", or "auto"
    bins: int = 10  # of equal mass
    in_bins = True

    def tally(self, chunk: Chunk, block: Numbers) -> Tally:
        """The histogram of each column; for "auto" the Gaussian's sums as well."""
        K = len(chunk.classes)
        if chunk.weights is None:
            parts = counting.histograms(block, chunk.coded, K)
        else:
            parts = [counting.weighted_histograms(block, chunk.coded, chunk.weights, K)]
        total = Gaussian().tally(chunk, block) if self.kind == "auto" else Tally()
        for part in parts:
            found = zip(map(bins_name, block.names.tolist()), part)
            total = total + Tally(
                {name: Histogram.counted(chunk.classes, own) for name, own in found if own is not None}
            )
        return total

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> DensityParameters:
        """The curves of every column."""
        sums = Gaussian().estimate(tally, prior, schema, columns, classes) if self.kind == "auto" else None
        each = [partial(self._try, tally, prior, classes, sums, j, name) for j, name in enumerate(columns.tolist())]
        found = threads.run(each)
        curves = tuple(max(tried, key=lambda curve: curve.score) for tried, _ in found)
        scores = tuple({curve.kind: curve.score - curve.offset for curve in tried} for tried, _ in found)
        crowds = [crowd for _, crowd in found if crowd]
        more = f" and {len(crowds) - 5} more" if len(crowds) > 5 else ""
        remark = (
            f"the bins of column{'s' if len(crowds) > 1 else ''} {', '.join(crowds[:5])}{more} are too wide to tell "
            "these values apart, because of a value very far from the others; make it missing (NaN), or fit again "
            "without it"
        )
        return DensityParameters(columns, curves, scores, _tables(curves, len(classes)), (remark,) if crowds else ())

    def _try(
        self, tally: Tally, prior: Prior, classes: Labels, sums: GaussianParameters | None, j: int, name: object
    ) -> tuple[list[Curve], str]:
        """The curves that one column may have, and what to say where its bins are too wide."""
        bins = tally.bins(bins_name(name))
        if bins is None or not len(bins.places):
            return [silent(name, bins, classes, prior)], ""
        column = Column.of(name, bins, classes, prior)
        if not column.seen.any():
            return [silent(name, None, classes, prior)], ""
        tried: list[Curve] = []
        seen = None if sums is None or sums.seen is None else sums.seen[:, j]
        crowd = describe_crowd(column, seen)
        if sums is not None and sums.whole is not None and (column.size > 1 or (sums.whole[j] > 0 and column.widened)):
            normal = gaussian(column, sums, j)
            tried.append(normal)
            if normal.alone or column.size == 1:
                return tried, crowd
        if column.size == 1:
            return [silent(name, bins, classes, prior)], crowd
        if self.kind == "equal-mass":
            return [equal_mass(column, self.bins)], crowd
        return tried + [ESTIMATES[kind](column) for kind in ESTIMATES if self.kind in ("auto", kind)], crowd

    def left_out(self, rows: LearnedRows, prior: Prior, block: Numbers) -> Floats:
        """With the shape held, where it can be, unless exact answers are asked for."""
        if rows.exact or self.kind not in HELD:
            return super().left_out(rows, prior, block)
        parameters: DensityParameters = rows.estimate(self, prior, block.names)
        y, w = rows.chunk.coded, rows.weights
        found = (curve.left_out(block.column(j), y, w) for j, curve in enumerate(parameters.curves))
        return np.asarray(sum(found, np.zeros((block.n_rows, len(rows.classes)))))

    def check(self, tally: Tally) -> None:
        """No class has more values in a column than it has rows."""
        if self.kind == "auto":
            Gaussian().check(tally)
        for name in tally:
            if name.startswith(PREFIX):
                check_rows(tally, name)


def _tables(curves: tuple[Curve, ...], K: int) -> loops.Tables:
    d = len(curves)
    sizes = [len(curve.table) for curve in curves]
    means, over, constants = np.zeros((3, d, K))  # so that a silent column adds 0
    for j, curve in enumerate(curves):
        if isinstance(curve, GaussianCurve):
            means[j], over[j], constants[j] = curve.means, 1 / curve.deviations, loops.constants(curve.deviations)
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


_POINTS = 801
_BARS = 40  # of the histogram behind the curves, about


def draw_densities(
    parameters: DensityParameters | GaussianParameters, column: object, classes: Labels, bins: Histogram | None, ax: Any
) -> Any:
    """A curve for each class, and the histogram of its values where the model keeps one."""
    ax = plots.new_axes(ax)
    reach = parameters.reach(column)
    bins = bins if reach is None else None
    low, high = reach or _range(bins)
    x = np.linspace(low, high, _POINTS)
    densities = np.exp(parameters.log_density(column, x))
    top = float(densities.max())
    bars = None if bins is None else _bars(bins, classes, low, high)
    for k, label in enumerate(classes.tolist()):
        colour = f"C{k % 10}"
        if bars is not None:
            ax.stairs(bars[1][k], bars[0], fill=True, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, densities[:, k], color=colour, label=str(label), linestyle="-" if k < 10 else "--")
    ax.set_xlim(low, high)
    # Up to the top of the curves, and of bars up to twice as high.
    ax.set_ylim(0, 1.05 * (top if bars is None else max(top, min(float(bars[1].max()), 2 * top))))
    ax.set_xlabel(column_name(column))
    ax.set_ylabel(f"density (per unit of {column_name(column)})")
    ax.set_title(parameters.chosen(column).density, fontsize="medium")
    ax.legend(title="class", fontsize="small", ncols=1 + len(classes) // 10)
    return ax


def _range(bins: Histogram | None) -> tuple[float, float]:
    """All the values; where a few lie very far out, the middle 99 % with as much on either side."""
    assert bins is not None, "every density but the Gaussian has a histogram"
    upto = np.cumsum(bins.sums.floats().sum(axis=0))
    ends = np.ldexp(np.array([bins.places[0], bins.places[-1] + 1], np.float64), bins.exponent)
    middle = bins.places[np.searchsorted(upto / upto[-1], [0.005, 0.995]).clip(0, len(upto) - 1)]
    near = np.ldexp(middle + 0.5, bins.exponent)
    reach = max(float(near[1] - near[0]), bins.width)
    low, high = max(ends[0], near[0] - reach), min(ends[1], near[1] + reach)
    margin = 0.05 * (high - low)
    return float(low - margin), float(high + margin)


def _bars(bins: Histogram, classes: Labels, low: float, high: float) -> tuple[Floats, Floats]:
    """Edges and heights (classes × bars) of a histogram of about so many bars between low and high."""
    coarse = max(bins.exponent, int(np.ceil(np.log2((high - low) / _BARS))))
    wide = bins.coarsened(coarse)
    places = np.arange(wide.places[0], wide.places[-1] + 1)
    counts = wide.over(classes).pick(1, find(wide.places, places)).floats()
    totals = np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.ldexp(np.append(places, places[-1] + 1).astype(np.float64), coarse), counts / totals / wide.width
