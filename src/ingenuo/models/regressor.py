"""Regression by naive Bayes: the target is cut into bins, and the answer is the mean of their posterior.

E[y | x] = Σ_b P(b | x) · mean_b
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import ForgetError, InputError, KindError, MergeError, check_choice
from ingenuo.families.discretise import RULES, TargetBins, cut, edges_of
from ingenuo.families.gaussian import COUNT, SQUARE, SUM, Gaussian, spread
from ingenuo.kernels.moments import weights_by_cell
from ingenuo.language import say
from ingenuo.models.classifier import Explains, TableModel, answer
from ingenuo.models.left_out import leave_one_out
from ingenuo.models.margins import (
    DEVIATION_BITS,
    LARGEST,
    RESIDUAL_BITS,
    RESIDUALS,
    ROUNDING,
    TINY,
    Margins,
    count_numbers,
    rounded,
)
from ingenuo.models.model import CLASS, Learner, Plan, RegressorBase, State, Tensors, check_is_fitted, clone
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows import checks
from ingenuo.rows.checks import check_number, check_whole
from ingenuo.rows.part import Chunk, Numbers
from ingenuo.rows.rows import EVERYTHING, Part, Rows, rows_of
from ingenuo.rows.schema import Schema
from ingenuo.show.arithmetic import CLASSES, Explanation
from ingenuo.show.format import plain
from ingenuo.show.plots import new_axes
from ingenuo.show.table import Block, PrintedTable, Translated
from ingenuo.tally.labels import Labels, find, objects
from ingenuo.tally.prior import Laplace, MaximumLikelihood, Prior
from ingenuo.tally.tally import Table, Tally
from ingenuo.text.words import Words

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Distribution:
    """The predicted distribution of the target for each of some rows: bins, and a density e^(κt) within each.

    >>> one = Distribution(np.array([[0.25, 0.75]]), np.array([0.0, 10.0, 30.0]), np.array([5.0, 20.0]), np.ones(2))
    >>> one.mean().tolist(), one.quantiles([0.25, 0.5]).round(6).tolist()
    ([16.25], [[10.0, 16.666667]])
    """

    probabilities: Floats  # (rows, bins); each row sums to 1
    edges: Floats  # one more than bins
    means: Floats  # of the targets in each bin
    deviations: Floats  # and their standard deviation

    def __len__(self) -> int:
        return len(self.probabilities)

    def __getitem__(self, rows: int | slice) -> Distribution:
        """Some of the rows."""
        return replace(self, probabilities=self.probabilities[rows if isinstance(rows, slice) else [rows]])

    def mean(self) -> Floats:
        """Σ_b P(b) · mean_b, for each row."""
        return np.asarray(self.probabilities @ self.means)

    def deviation(self) -> Floats:
        """The standard deviation: √ Σ_b P(b) · (deviation_b² + (mean_b - mean)²), for each row."""
        unit = max(float(np.abs(self.edges).max()), TINY)  # so that no square is beyond the doubles
        far = self.means / unit - self.mean()[:, np.newaxis] / unit
        variances = (self.probabilities * ((self.deviations / unit) ** 2 + far**2)).sum(axis=1)
        return np.asarray(np.sqrt(variances) * unit)

    def quantiles(self, levels: Sequence[float] | Floats) -> Floats:
        """The values below which the target lies with these probabilities (rows × levels)."""
        chosen = _check_levels(levels)
        shares, below = self.probabilities, np.cumsum(self.probabilities, axis=1)
        first, last = (shares > 0).argmax(axis=1), shares.shape[1] - 1 - (shares[:, ::-1] > 0).argmax(axis=1)
        rows, found = np.arange(len(self)), np.empty((len(self), len(chosen)))
        for j, level in enumerate(chosen):
            wanted = level * below[:, -1]
            place = (below < wanted[:, np.newaxis]).sum(axis=1).clip(first, last)
            share = shares[rows, place]
            at = _inverse(((wanted - below[rows, place] + share) / share).clip(0, 1), self._tilts[place])
            low, high = self.edges[place], self.edges[place + 1]
            inside = (low * (1 - at) + high * at).clip(low, high)
            found[:, j] = np.where(self._single[place], self.means[place], inside)
        return found

    def interval(self, coverage: float = 0.9) -> Floats:
        """The interval that leaves as much probability below it as above it (rows × 2)."""
        (share,) = _check_levels([coverage], "coverage")
        return self.quantiles([(1 - share) / 2, (1 + share) / 2])

    def density(self, values: Any) -> Floats:
        """The density at these values (rows × values); a bin whose targets are all the same has none."""
        values = np.asarray(values, np.float64)
        bins = np.searchsorted(self.edges[1:-1], values, side="right")
        with np.errstate(over="ignore"):  # a bin wider than the largest double has no density to speak of
            widths = np.diff(self.edges)[bins]
        inside = (values >= self.edges[0]) & (values <= self.edges[-1]) & ~self._single[bins] & (widths > 0)
        widths = np.where(inside, widths, 1)
        t, tilt = np.where(inside, (values - self.edges[bins]) / widths, 0), self._tilts[bins]
        # κ e^(κt) / (e^κ - 1), written from the side on which the exponents are not positive
        steep, from_end = np.abs(tilt), np.where(tilt > 0, 1 - t, t)
        height = np.where(steep < 1e-6, 1.0, steep / -np.expm1(-np.maximum(steep, 1e-6)))
        within = height * np.exp(-steep * np.where(inside, from_end, 0)) / widths
        return np.asarray(self.probabilities[:, bins] * np.where(inside, within, 0))

    @property
    def _single(self) -> NDArray[np.bool_]:
        """Which bins have one target only, or none."""
        return np.asarray(self.deviations == 0)

    @cached_property
    def _tilts(self) -> Floats:
        low, high = self.edges[:-1] / 2, self.edges[1:] / 2  # halved, for a width may be beyond the doubles
        wide = high > low
        return _tilt(np.where(wide, (self.means / 2 - low) / np.where(wide, high - low, 1), 0.5))

    def plot(self, row: int = 0, ax: Any = None, coverage: float = 0.9, unit: str = "target") -> Any:
        """Draw the density of one row, its mean and the interval of this coverage; the axes are returned.

        `unit` says what the target is and in what unit, for the axis; the density is per one of it.
        """
        check_whole("row", row, -len(self))
        if row >= len(self):
            raise InputError(f"row is {row}; it must be below {len(self)}, the number of rows: count them from 0")
        one = self[row]
        (low, high), ends = one.interval(coverage)[0], one.quantiles([0.001, 0.999])[0]
        ax = new_axes(ax)
        points, heights = one._outline(low, high)
        ax.fill_between(points, heights, color="#9ecae1", linewidth=0)
        ax.fill_between(points, heights, where=(points >= low) & (points <= high), color="#4292c6", linewidth=0)
        shares = one.probabilities[0]
        single, dense = self._single & (shares >= 0.001), bool((shares[~self._single] > 0).any())
        if single.any():  # where a density stands beside them, the height of a probability means nothing
            tops = ax.get_ylim()[1] if dense else shares[single]
            label = f"single values: {shares[single].sum():.1%}" if dense else None
            ax.vlines(self.means[single], 0, tops, color="#4292c6", linestyle=":" if dense else "-", label=label)
        ax.axvline(one.mean()[0], color="#d94801", label=f"mean {one.mean()[0]:.4g}")
        ax.plot([], [], color="#4292c6", linewidth=6, label=f"{coverage:.0%} from {low:.4g} to {high:.4g}")
        margin = (ends[1] - ends[0]) * 0.04
        if margin > 0:
            ax.set_xlim(ends[0] - margin, ends[1] + margin)
        ax.set_ylim(bottom=0)
        ax.set(xlabel=unit, ylabel="density" if dense else "probability")
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def _outline(self, *marks: float) -> tuple[Floats, Floats]:
        """Points and the first row's density there; twice at an edge, where it leaps, and once at each mark."""
        bins = [(a, b) for a, b in pairwise(self.edges) if b > a]
        points = [
            np.unique([*np.linspace(a, b, 60)[:-1], *(mark for mark in marks if a < mark < b), np.nextafter(b, a)])
            for a, b in bins
        ]
        heights = [np.zeros(1), *(self.density(inner)[0] for inner in points)]
        return np.concatenate([self.edges[:1], *points]), np.concatenate(heights)

    def __repr__(self) -> str:
        rows, bins = len(self), len(self.means)
        what = f"{rows} row{'' if rows == 1 else 's'} over {bins} bin{'' if bins == 1 else 's'}"
        return f"<Distribution of {what} from {self.edges[0]:g} to {self.edges[-1]:g}>"


def _check_levels(levels: Any, name: str = "quantiles") -> Floats:
    try:
        found = np.asarray(levels, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"{name} must be numbers between 0 and 1, got {levels!r}") from None
    if found.ndim != 1:
        raise InputError(f"{name} must be a list of numbers between 0 and 1, got {levels!r}")
    for level in found.tolist():
        check_number(name, level, most=1.0)
    return found


def _mean(tilt: Floats) -> Floats:
    """The mean of f(t) ∝ e^(κt) on 0..1, κ ≥ 0: 1/(1 - e^-κ) - 1/κ; near κ = 0 its series 1/2 + κ/12 - κ³/720."""
    small = tilt < 1e-2
    safe = np.where(small, 1.0, tilt)
    return np.where(small, 0.5 + tilt / 12 - tilt**3 / 720, -1 / np.expm1(-safe) - 1 / safe)


def _tilt(mean: Floats) -> Floats:
    """The κ that gives this mean, by halving: the mean rises with κ, and that for -κ is 1 less that for κ."""
    farther = np.maximum(mean, 1 - mean)
    low, high = np.zeros(len(mean)), np.full(len(mean), 1e9)  # the mean is then a billionth of the bin from its end
    for _ in range(90):
        middle = (low + high) / 2
        above = _mean(middle) > farther
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(mean < 0.5, -high, high)


def _inverse(share: Floats, tilt: Floats) -> Floats:
    """The t below which the share s of f(t) ∝ e^(κt) lies: log(1 - s + s e^κ) / κ."""
    steep = np.abs(tilt)
    from_end = np.where(tilt > 0, 1 - share, share)  # measured from the end where the density is highest
    flat = steep < 1e-6
    safe = np.where(flat, 1.0, steep)
    with np.errstate(divide="ignore"):  # log 0 at either end
        at = np.where(flat, from_end, -np.logaddexp(np.log1p(-from_end), np.log(from_end) - safe) / safe)
    return np.where(tilt > 0, 1 - at, at)


@dataclass(frozen=True, repr=False)
class Expectation(Translated):
    """The arithmetic of one predicted number: the posterior of the bins, then Σ P · mean; prints as a table."""

    bins: Explanation  # which bin, and why
    means: Floats  # of the targets in each bin

    @property
    def prediction(self) -> float:
        """Σ_b P(b) · mean_b."""
        return float(self.bins.posterior @ self.means)

    def as_logs(self) -> Expectation:
        """The same with sums of logarithms."""
        return replace(self, bins=self.bins.as_logs()).translate(self._language)

    def to_dict(self) -> dict[str, Any]:
        """The arithmetic as plain data."""
        means = dict(zip(self.bins.classes.tolist(), self.means.tolist()))
        found = {**self.bins.to_dict(), "means": means, "bin": self.bins.prediction, "prediction": self.prediction}
        return plain(found)  # type: ignore[no-any-return]

    def records(self) -> list[dict[str, Any]]:
        """Those of the bins, then the mean of each, and the expected value."""
        lines = self.bins.records()
        figures = [name for name in lines[0] if name.endswith((": factor", ": log"))]
        blank = dict.fromkeys(lines[0], "")
        means = {**blank, "column": "mean", **dict(zip(figures, self.means.tolist()))}
        return [*lines, means, {**blank, "column": "expected value", "value": self.prediction}]

    def _title(self) -> str:
        return say("Why {answer}?", answer=f"{self.prediction:.6g}")

    def _blocks(self) -> list[str | Block]:
        """The bins, then P × mean for each; of many bins the most probable, and the others together."""
        shown, rest = self.bins.order[:CLASSES], self.bins.order[CLASSES:]
        P, means = self.bins.posterior, self.means
        rows = [[str(self.bins.classes[k]), f"{P[k]:.6f} × {means[k]:.6g}", f"= {P[k] * means[k]:.6g}"] for k in shown]
        if rest:
            total = f"= {P[rest] @ means[rest]:.6g}"
            both = say("{p} together", p=f"{P[rest].sum():.6f}")
            rows.append([say("{n} other bins", n=len(rest)), both, total])
        rows.append([say("sum"), "", f"= {self.prediction:.6g}"])
        table = PrintedTable([say("bin"), say("P × mean"), ""], rows, rule=True, totals=1)
        answer = say("→ {answer}, the expected value", answer=f"{self.prediction:.6g}")
        return [*self.bins._blocks(), "", table, answer]


# The sums of the target within each bin are those of a column of numbers, under names of their own.
_TARGET = {COUNT: "target:count", SUM: "target:sum", SQUARE: "target:square"}
_COLUMN = objects(["target"])
_SHARED = ("columns", "prior", "class_prior", "numbers", "counts", "text")  # the parameters of its classifier


@dataclass(eq=False, repr=False)
class NaiveBayesRegressor(Learner, TableModel, Explains, RegressorBase):
    """Naive Bayes that answers with a number, its whole distribution, its quantiles.

    Parameters
    ----------
    bins : int, or sequence of numbers
        How many bins the target is cut into (with "mdl", at most); or their edges, ascending. Targets below the first
        edge or above the last fall into the outer bins. A bin with no rows has probability 0 until a row falls into it.
    binning : {"equal-frequency", "equal-width", "mdl"}
        How they are cut: as many rows in each, as wide each, or the histogram that describes the targets in the fewest
        bits. Edges that are given are taken as they are.
    columns, numbers, counts, text
        As for `NaiveBayes`.
    prior : Prior
        As for `NaiveBayes`, but with a higher floor of the variances: bins have few rows each, and one whose rows
        happen to agree in a column would else draw every row to itself that agrees too.
    class_prior : Prior, mapping or "uniform"
        Imaginary rows of each bin that has any; or, as a mapping, the probability of each bin by its (low, high).

    Attributes
    ----------
    edges_ : array
        The edges of the bins.
    classifier_ : NaiveBayes
        The classifier whose classes are the bins.
    tally_, schema_
        As of `NaiveBayes`.
    margins_ : Margins
        How far the first rows' targets were from their means, each by the model without that row. Like the edges they
        are a setting that the first rows fix: `partial_fit` and `forget` leave them, and `merge` adds them up.

    Examples
    --------
    >>> X = [["flat", 40], ["flat", 55], ["flat", 70], ["house", 90], ["house", 120], ["house", 150]]
    >>> price = [110, 140, 185, 240, 330, 390]
    >>> model = NaiveBayesRegressor(bins=3).fit(X, price)
    >>> model.predict([["flat", 50]]).round(1).tolist()
    [125.5]
    >>> model.predict_quantiles([["flat", 50]], [0.05, 0.5, 0.95]).round().tolist()
    [[111.0, 121.0, 156.0]]
    """

    _fixed = ("bins", "binning")

    bins: int | Sequence[float] = 20
    binning: str = "equal-frequency"
    columns: Mapping[Any, Any] | None = None
    prior: Prior | str | float = Laplace(variance_floor=0.01, variance_rows=0.0)  # noqa: RUF009 (immutable)
    class_prior: Prior | Mapping[Any, float] | str = MaximumLikelihood()  # noqa: RUF009 (immutable)
    numbers: str | Mapping[Any, str] = "gaussian"
    counts: str | Mapping[Any, str] = "multinomial"
    text: Words | Mapping[Any, Words] | None = None

    # Learning.

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, as `fit` takes them. The first rows fix the bins, and the margins of the intervals;
        later targets beyond the bins fall into the outer ones.
        """
        return self._learn_more(X, y, sample_weight)

    def merge(self, other: Any) -> Self:
        """Add what another regressor of the same bins has learned, and the margins of its intervals."""
        super().merge(other)
        self.margins_: Margins = self.__dict__["margins_"] + other.margins_
        return self

    def _learn_first(self, rows: Rows, *, whole: bool = False) -> None:
        super()._learn_first(rows, whole=whole)
        self.margins_ = Margins.of(rows.reduce(count_residuals, self))

    def _forget_all(self) -> None:
        super()._forget_all()
        self.margins_ = Margins.of(Tally())

    def _extra(self) -> State:
        return {}, {RESIDUALS: self.margins_.rows} if len(self.margins_.rows) else {}

    def _restore(self, schema: Schema, tally: Tally, values: Mapping[str, Any], arrays: Tensors) -> None:
        super()._restore(schema, tally, values, arrays)
        rows = np.asarray(arrays.get(RESIDUALS, np.zeros((0, 3))), np.float64)
        if rows.ndim != 2 or rows.shape[1] != 3 or not np.isfinite(rows).all() or (rows[:, 1:] < 0).any():
            raise InputError("the margins of the intervals are not distances, deviations and counts")
        if len(rows) and not (rows[:, 2] > 0).all():
            raise InputError("the margins of the intervals are of no rows")
        self.margins_ = Margins(rows)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is then, to the last bit, what it would be had it never seen them in these bins and
        with these margins.

        Rows that were never learned raise `ForgetError` wherever the sums show it, and leave the model as it was.
        """
        return super().forget(X, y, sample_weight)

    def name_unlearned(self, error: ForgetError, X: Any, y: Any = None, sample_weight: Any = None) -> ForgetError:
        """What is wrong with rows of which the sums cannot be taken away: the bins of their targets."""
        gone = self.sums_of(X, y, sample_weight)
        places = find(self._bins.labels, gone.labels(CLASS, 0))[:3]
        return ForgetError(
            f"cannot forget rows with targets in {', '.join(self._bins.names[place] for place in places)}: such "
            "rows were never learned, or not so often; only rows that were learned can be forgotten"
        )

    def _check_tally(self, schema: Schema, tally: Tally) -> None:
        Gaussian().check(_target_sums(tally))
        super()._check_tally(schema, tally)

    def _check_other(self, other: Self) -> None:
        if not np.array_equal(self.edges_, other.edges_):
            raise MergeError(
                f"the target is cut into {self._bins} in one model and into {other._bins} in the "
                "other; give both models the same edges: bins=[…]"
            )

    def _declared_columns(self) -> set[Any]:
        return {*(self.columns or {})}

    def _plan(self, rows: Rows, *, whole: bool = False) -> Plan:
        bins = self._cut(rows, whole)  # the classes, seen or not, as a model file keeps them
        return Plan(self._make_bayes()._plan(rows, whole=whole).schema, {"_declared_classes": bins.labels})

    def _check_whole(self, schema: Schema, classes: Labels, tally: Tally) -> None:
        bayes = self._make_bayes()
        bayes._set_tally(schema, tally)
        bayes._check_whole(schema, classes, tally)

    def _cut(self, rows: Rows, whole: bool) -> TargetBins:
        """The bins of the target: as given, or cut by all the targets."""
        if not isinstance(self.bins, int | np.integer):
            return TargetBins(edges_of(self.bins))
        counted = rows.reduce(count_targets, clone(self))
        values = counted.labels("targets", 0)
        if not len(values):
            raise InputError(f"{rows.name}: there are no rows to learn from")
        bins = cut(values, counted.over("targets", values).floats(), int(self.bins), self.binning)
        if not whole and len(bins) == 1 < self.bins:
            raise InputError(
                f"the first rows that partial_fit sees fix the bins, and these have one bin only, {bins.names[0]}; "
                "begin with more rows, or give the edges: bins=[…]"
            )
        if self.binning == "mdl" and len(bins) == 1 < self.bins and bins.edges[0] < bins.edges[1]:
            warnings.warn(
                f"the shortest description of these targets, few or evenly spread as they are, is one bin, "
                f"{bins.names[0]}, so every row will get their mean as its answer; take binning='equal-frequency'",
                stacklevel=5,
            )
        return bins

    def sums_of(self, X: Any, y: Any = None, sample_weight: Any = None) -> Tally:
        """The sums of rows: what `partial_fit` adds, and `forget` takes away. The model stays as it is."""
        with _own_name(self):
            return super().sums_of(X, y, sample_weight)

    def _tally_of(self, part: Part) -> Tally:
        target = checks.targets(self, part.y)
        weights = checks.weights(part.weights, len(target))
        codes = checks.Coded(self._bins.codes(target), self._bins.labels)
        chunk = Chunk(len(target), {}, *codes, weights)
        found = Gaussian().tally(chunk, Numbers(_COLUMN, len(target), target[:, np.newaxis]))
        own = Tally({_TARGET[name]: table for name, table in found.items()})
        return self._bayes._tally_of(Part(part.X, codes, weights)) + own

    def _set_tally(self, schema: Schema, tally: Tally) -> None:
        if not self._fitted:  # at the first rows, or when a model file is read
            self._bins = TargetBins.of_labels(self._declared_classes)
        if (find(self._bins.labels, tally.labels(CLASS, 0)) < 0).any():
            raise InputError("the tally has bins that the model has not")
        super()._set_tally(schema, tally)
        self.edges_, self.classifier_ = self._bins.edges, self._make_bayes()
        self.classifier_._set_tally(schema, tally)
        if "_target" in self.__dict__:
            self.classifier_._target = self._target

    def _make_bayes(self) -> NaiveBayes:
        """The classifier over the bins, with nothing learned."""
        return NaiveBayes(**{name: getattr(self, name) for name in _SHARED})

    @property
    def _bayes(self) -> NaiveBayes:
        """The classifier over the bins, with the parameters as they are now."""
        return self.classifier_.set_params(**{name: getattr(self, name) for name in _SHARED})

    def _check_settings(self) -> None:
        if self.bins is None or isinstance(self.bins, bool | float | str | bytes | Mapping):
            raise KindError(
                f"bins must be a whole number, or the edges of the bins, got {type(self.bins).__name__} {self.bins!r}"
            )
        if isinstance(self.bins, int | np.integer):
            check_whole("bins", self.bins, 1)
        else:
            edges_of(self.bins)
        check_choice("binning", self.binning, RULES)
        self._make_bayes()._check_settings()

    def _check_fixed(self) -> None:
        super()._check_fixed()
        self._bayes._check_fixed()

    def _check_against_data(self) -> None:
        Gaussian().check(_target_sums(self.tally_))
        self._bayes._check_against_data()

    # Answering.

    def _parameters(self) -> Any:
        return self._bayes._parameters()

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated, as those of a `NaiveBayes` whose classes are the bins of the target."""
        check_is_fitted(self)
        return self._bayes.n_parameters_

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The expected target of each row.

        Parameters
        ----------
        X : as for `fit`
            The rows.
        return_std : bool
            Whether to give the standard deviation of each row's target as well, as a second array.

        Of a Dask or Spark frame the answer is such a frame, not yet computed, with a column `predicted`.
        """
        if not return_std:
            return answer(self, X, "predict")
        found = self.predict_distribution(X)
        return found.mean(), found.deviation()

    def _predict(self, X: Any) -> Floats:
        return self.predict_distribution(X).mean()

    def predict_distribution(self, X: Any) -> Distribution:
        """The whole distribution of each row's target: `probabilities` (rows × bins), `edges`, and what follows."""
        check_is_fitted(self)
        bayes = self._bayes
        with _own_name(self):
            seen = bayes.predict_proba(X)
        edges, means, deviations = self._shape()
        if seen.shape[1] < len(self._bins):  # a bin with no rows has no class
            every = np.zeros((len(seen), len(self._bins)))
            every[:, find(self._bins.labels, bayes._parameters().classes)] = seen
            seen = every
        return Distribution(seen, edges, means, deviations)

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Floats:
        """The values below which each row's target lies with these probabilities (rows × quantiles).

        Notes
        -----
        Quantiles lie between the edges of the bins. An outer bin that took targets from beyond its edge is longer than
        it was: it ends where it must at least, given the mean m and the variance v of its targets. The lowest bin,
        whose other edge is `high`, begins at m - v/(high - m) at the latest, and a single bin at m - √v.

        Examples
        --------
        >>> model = NaiveBayesRegressor(bins=[10, 20, 30]).fit([[0], [0], [1], [1]], [0, 12, 24, 28])
        >>> model.predict_quantiles([[0]], [0]).round(2).tolist()  # 6 - 36/(20 - 6)
        [[3.43]]
        >>> model.predict_distribution([[0]])
        <Distribution of 1 row over 2 bins from 3.42857 to 30>
        """
        return self.predict_distribution(X).quantiles(quantiles)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """The interval that holds each row's target with this probability, as much left out on either side.

        Naive Bayes is too sure of itself where columns say the same thing twice, so the interval is not that of its
        distribution. It is conformal: around the mean, as wide as to hold this share of the first rows, each by the
        model without it. A model of one row has no such rows, and neither has a file from before there were margins:
        theirs is the interval of the distribution.

        Examples
        --------
        >>> X, price = [[40], [55], [70], [90], [120], [150]], [110, 140, 185, 240, 330, 390]
        >>> NaiveBayesRegressor(bins=3).fit(X, price).predict_interval([[80]], 0.5).round().tolist()
        [[142.0, 287.0]]
        """
        found = self.predict_distribution(X)
        if not len(self.margins_.rows):
            return found.interval(coverage)
        (share,) = _check_levels([coverage], "coverage")
        ends = self.margins_.interval(found.mean(), found.deviation(), share)
        return np.asarray(ends.clip(found.edges[0], found.edges[-1]))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², the share of the target's variance that is explained; y and weights as for `fit`."""
        check_is_fitted(self)
        rows = rows_of(X, y, sample_weight, EVERYTHING, model=self)
        n, total, square, rest = rows.reduce(squared_errors, self).over("errors", np.arange(4)).fractions()  # type: ignore[misc, union-attr]
        spread_of_targets = square - total * total / n if n else 0
        if spread_of_targets == 0:  # as scikit-learn has it
            return 1.0 if rest == 0 else 0.0
        return float(1 - rest / spread_of_targets)

    def _explain_row(self, row: Any) -> Expectation:
        """Which bin, by Bayes' rule, and the mean over the bins."""
        with _own_name(self):
            found = self._bayes._explain_row(row)
        places = find(self._bins.labels, found.classes)
        names = objects([self._bins.names[place] for place in places])
        return Expectation(replace(found, classes=names), self._shape()[1][places])

    def _shape(self) -> tuple[Floats, Floats, Floats]:
        """Edges, means and standard deviations of the bins, from the exact sums of the targets.

        The ends of the outer bins are those of the first rows. Where later targets lay beyond, they move as far as the
        bin's mean m and variance v ask for: v ≤ (m - low)(high - m) holds for numbers between low and high.
        """
        edges, (_, centres, deviations) = self._bins.edges.copy(), self._moments()
        edges[0] = min(edges[0], _end(centres[0], deviations[0], edges[0], edges[1], len(centres)))
        edges[-1] = max(edges[-1], _end(centres[-1], deviations[-1], edges[-1], edges[-2], len(centres)))
        return edges, centres, deviations

    def _moments(self) -> tuple[Floats, Floats, Floats]:
        """How many rows each bin has, and the mean and the standard deviation of their targets."""
        counts, means, variances, _, exponents = spread(_target_sums(self.tally_), _COLUMN, self._bins.labels)
        edges, empty = self._bins.edges, counts[:, 0] == 0
        centres = np.where(empty, edges[:-1] / 2 + edges[1:] / 2, means[:, 0])
        return counts[:, 0], centres, np.where(empty, 0.0, np.ldexp(np.sqrt(variances[:, 0]), exponents[0]))

    @property
    def _unit(self) -> float:
        """In which targets are measured, so that no square is beyond the doubles."""
        return float(np.clip(np.abs(self._shape()[0]).max(), TINY, LARGEST))

    def _leave_out(self, part: Part, targets: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
        """The mean and the deviation of each row by the tally without it, in units."""
        bayes, codes = self._bayes, self._bins.codes(targets)
        chunk = bayes._chunk_of(Part(part.X, checks.Coded(codes, self._bins.labels), weights))
        P = np.exp(leave_one_out(bayes, self.schema_, chunk, bayes.tally_, exact=False))
        counts, means, deviations = self._moments()
        unit = self._unit
        y, m = targets / unit, means[codes] / unit
        share = (1.0 if weights is None else weights) / counts[codes]  # of the row's own bin
        rest = np.where(1 - share > ROUNDING, 1 - share, np.inf)  # where no other row is left, its bin stays as it is
        M, V = (np.repeat(each[np.newaxis], len(y), axis=0) for each in (means / unit, (deviations / unit) ** 2))
        at, moved = (np.arange(len(y)), codes), share / rest * (m - y)
        M[at] += moved
        V[at] = np.maximum((V[at] + (y - m) * moved) / np.minimum(rest, 1), 0)
        mean = (P * M).sum(axis=1)
        return mean, np.sqrt((P * (V + (M - mean[:, np.newaxis]) ** 2)).sum(axis=1))


@contextmanager
def _own_name(regressor: NaiveBayesRegressor) -> Iterator[None]:
    """Errors of the classifier over the bins name the regressor, which the user knows."""
    try:
        yield
    except InputError as error:
        message = str(error).replace("NaiveBayes is expecting", f"{type(regressor).__name__} is expecting")
        raise type(error)(message) from error


def count_targets(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """How often each target is there."""
    targets = checks.targets(model, part.y)
    return count_numbers("targets", checks.weights(part.weights, len(targets)), target=targets)


def count_residuals(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """How far each target is from its mean by the model without the row, and the deviation it gives there; rounded."""
    targets = checks.targets(model, part.y)
    weights = checks.weights(part.weights, len(targets))
    own = np.ones(len(targets)) if weights is None else weights
    if model._moments()[0].sum() <= own.max():  # one row is all that there is
        return Tally()
    mean, deviation = model._leave_out(part, targets, weights)
    unit = model._unit
    with np.errstate(over="ignore"):
        residuals = ((targets / unit - mean) * unit).clip(-LARGEST, LARGEST)
    numbers = {"residual": rounded(residuals, RESIDUAL_BITS), "deviation": rounded(deviation * unit, DEVIATION_BITS)}
    return count_numbers(RESIDUALS, weights, **numbers)


def squared_errors(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """Σw, Σwy, Σwy² and Σw(y - ŷ)²."""
    targets = checks.targets(model, part.y)
    weights = checks.weights(part.weights, len(targets))
    ones = np.ones(len(targets)) if weights is None else weights
    columns = [ones, ones * targets, ones * targets**2, ones * (targets - model._predict(part.X)) ** 2]
    cells = np.repeat(np.arange(4), len(targets))
    return Tally({"errors": Table.of({"of": np.arange(4)}, weights_by_cell(np.concatenate(columns), cells, 4))})


def _target_sums(tally: Tally) -> Tally:
    """The sums of the target as those of a column of numbers."""
    named = {name: tally[own] for name, own in _TARGET.items() if own in tally}
    return Tally({**named, CLASS: tally[CLASS]} if CLASS in tally else named)


def _end(mean: float, deviation: float, end: float, inner: float, bins: int) -> float:
    """Where an outer bin ends, on the side of `end`, for its mean and deviation to be possible."""
    mean, deviation, end, inner = float(mean), float(deviation), float(end), float(inner)  # beyond the doubles: inf
    # Rounding may make two targets, one at either end, look a trifle too far apart.
    if abs(mean - end) * abs(mean - inner) >= deviation * deviation * (1 - 1e-9) and (mean - end) * (inner - end) >= 0:
        return end
    outwards = 1.0 if end > inner else -1.0
    if bins == 1 or mean == inner:
        return float(mean + outwards * deviation)
    return float(mean + outwards * deviation * (deviation / abs(mean - inner)))
