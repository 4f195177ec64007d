"""Learning curves: what models measure on held-out rows over growing numbers of rows learned from, and who is ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.evaluation.measures import LEAST
from ingenuo.models.bayes_optimal import log_probabilities
from ingenuo.models.model import clone
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.rows import checks
from ingenuo.rows.checks import check_whole, seeded_generator
from ingenuo.rows.rows import take_rows
from ingenuo.rows.schema import FAMILIES
from ingenuo.rows.source import is_texts, open_source
from ingenuo.show import plots
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, public

Floats = NDArray[np.float64]

MEASURES = {"accuracy": "accuracy", "log_loss": "log loss"}


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves(Shown):
    """What models measured (accuracy, log_loss: repeats × sizes × models); prints as a table and a sentence."""

    names: tuple[str, ...]
    sizes: NDArray[np.int64]
    accuracy: Floats
    log_loss: Floats
    test_rows: int

    def values(self, measure: str = "accuracy") -> Floats:
        """What each model measured on the held-out rows: repeats × sizes × models; NaN without probabilities."""
        if measure not in MEASURES:
            raise InputError(f"measure={measure!r} is not measured{did_you_mean(measure, MEASURES)}")
        return self.accuracy if measure == "accuracy" else self.log_loss

    def leaders(self, measure: str = "accuracy") -> list[str | None]:
        """Who is ahead at each size: by more than two standard errors of the lead over the next best, else None.

        A few repeats may agree by chance, so in each of them a lead is uncertain by one held-out row at least.
        """
        found = self.values(measure) if measure == "accuracy" else -self.values(measure)
        repeats, ahead = len(found), list[str | None]()
        for at, means in enumerate(found.mean(axis=0)):
            second, best = np.argsort(means)[-2:].tolist()
            lead = found[:, at, best] - found[:, at, second]
            row = (1.0 if measure == "accuracy" else float(-means.min())) / self.test_rows
            error = max(float(lead.std(ddof=1)), row) / np.sqrt(repeats) if repeats > 2 else np.inf
            ahead.append(self.names[best] if lead.mean() > 2 * error else None)
        return ahead

    def crossings(self, measure: str = "accuracy") -> tuple[float, ...]:
        """Where the mean curves of two models cross, in rows, on a logarithmic scale."""
        means, logs = self.values(measure).mean(axis=0), np.log(self.sizes)
        lead = means[:, 0] - means[:, 1]
        turns = np.flatnonzero(lead[:-1] * lead[1:] < 0) if len(self.names) == 2 else np.zeros(0, np.intp)
        share = lead[turns] / (lead[turns] - lead[turns + 1])
        return tuple(np.exp(logs[turns] + share * (logs[turns + 1] - logs[turns])).tolist())

    def conclude(self, measure: str = "accuracy") -> str:
        """Who is ahead with how many rows, in one sentence."""
        pairs = zip(self.leaders(measure), self.sizes.tolist())
        runs = [(who, [f"{size:,}" for _, size in run]) for who, run in groupby(pairs, lambda pair: pair[0])]
        spans = [(who, " to ".join(dict.fromkeys((run[0], run[-1])))) for who, run in runs if who]
        told = [f"{who} is ahead with {span} rows" for who, span in spans]
        crossed = " and ".join(f"{rows:,.0f}" for rows in self.crossings(measure))
        said = "; ".join(told) or f"nobody is clearly ahead in {len(self.accuracy)} repeats"
        return f"By {MEASURES[measure]}, {said}{f'; the curves cross near {crossed} rows' if crossed and told else ''}."

    def table(self) -> Any:
        """An Arrow table with a line for each size and model: means, and standard deviations over the repeats."""
        import pyarrow as pa

        n = len(self.names)
        columns: dict[str, Any] = {"rows": np.repeat(self.sizes, n), "model": list(self.names) * len(self.sizes)}
        for measure in MEASURES:
            means, spreads = self._means(measure)
            columns |= {measure: means.ravel(), f"{measure}_spread": spreads.ravel()}
        return pa.table(columns)

    def _means(self, measure: str) -> tuple[Floats, Floats]:
        found = self.values(measure)
        return found.mean(axis=0), found.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(found.shape[1:])

    def _blocks(self) -> Sequence[str | Block]:
        heads = [f"{name}, {what}" for name in self.names for what in MEASURES.values()]
        lines = []
        for at, (leader, size) in enumerate(zip(self.leaders(), self.sizes.tolist())):
            both = [(mean[at], spread[at]) for mean, spread in map(self._means, MEASURES)]
            cells = [f"{mean[k]:.3f} ± {spread[k]:.3f}" for k in range(len(self.names)) for mean, spread in both]
            lines.append([f"{size:,}", *cells, leader or "–"])
        held = f"{self.test_rows:,} rows were held out, the same for all"
        means = f"Means over {len(self.accuracy)} repeats ± their standard deviation; {held}."
        table = PrintedTable(["rows", *heads, "ahead in accuracy"], lines, rule=True)
        return [table, *(self.conclude(m) for m in MEASURES if not np.isnan(self.values(m)).any()), means]

    def plot(self, measure: str = "accuracy", ax: Any = None) -> Any:
        """Draw a curve for each model over the rows, with bands of one standard deviation; the axes are returned."""
        name = f"{MEASURES.get(measure)} on held-out rows"
        return plots.draw_learning_curves(
            self.sizes, *self._means(measure), self.names, name, self.crossings(measure), ax
        )


def curves_of(
    models: Mapping[str, Any], X: Any, y: Any, sizes: Any, repeats: int, test_size: Any, random_state: Any
) -> LearningCurves:
    """Fit models on nested, stratified samples of growing size, the same for all, and measure them on held-out rows."""
    check_whole("repeats", repeats, 1)
    rng, n_rows = seeded_generator("random_state", random_state), checks.count_rows(X)
    codes, classes = checks.labels(next(iter(models.values())), y, n_rows)
    if isinstance(test_size, bool) or not isinstance(test_size, float | int) or not 0 < test_size < n_rows:
        raise InputError(f"test_size={test_size!r} must be a share of the rows, or a number below {n_rows}")
    n_test = int(test_size) if test_size >= 1 else min(max(round(test_size * n_rows), 1), n_rows - 1)
    wanted = _sizes(sizes, np.bincount(codes, minlength=len(classes)), classes, n_rows - n_test)
    truth, declared = public(classes)[codes], {name: _declared(model, X) for name, model in models.items()}
    found = np.full((2, repeats, len(wanted), len(models)), np.nan)
    for repeat in range(repeats):
        rows = order(codes, rng)
        test = rows[n_rows - n_test :]
        asked = take_rows(X, test)
        for (at, size), (k, (name, model)) in ((s, m) for s in enumerate(wanted) for m in enumerate(declared.items())):
            try:
                fitted = clone(model).fit(take_rows(X, rows[:size]), truth[rows[:size]])
                found[0, repeat, at, k] = np.mean(np.asarray(fitted.predict(asked)) == truth[test])
                if hasattr(fitted, "predict_proba"):
                    logs = log_probabilities(fitted, asked, classes, codes[test], name)
                    found[1, repeat, at, k] = -np.maximum(logs, np.log(LEAST)).mean()
            except ValueError as error:
                raise InputError(f"with {size} rows {name} cannot be fitted: {error}; try larger sizes") from error
    return LearningCurves(tuple(models), np.array(wanted), found[0], found[1], n_test)


def order(codes: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """The rows in a random order, each beginning of which has its share of every class, up to rounding.

    The i-th of the n_k rows of class k, in a random order of its own, stands at (i + ½)/n_k of the way.

    >>> codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1])
    >>> codes[order(codes, np.random.default_rng(0))].tolist()
    [0, 1, 0, 0, 1, 0, 0, 1, 0]
    """
    shuffled, counts = rng.permutation(len(codes)), np.bincount(codes)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    at = np.empty(len(codes))
    nth = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    at[by_class] = (nth + 0.5) / np.repeat(counts, counts)
    return np.asarray(shuffled[np.argsort(at[shuffled], kind="stable")])


def _sizes(sizes: Any, counts: NDArray[Any], classes: Labels, most: int) -> list[int]:
    """Sizes that were asked for, or so many geometric ones; each sample surely has a row of every class."""
    if len(counts) < 2 or counts.min() < 2:
        raise InputError(f"class {classes[counts.argmin()]!r} has too few rows, or is the only one; give more rows")
    # All rows that stand no farther than the few-th of the rarest class: (2i + 1)/2n_k ≤ (2 few - 1)/2n_min.
    least, first = (int((((2 * few - 1) * counts // counts.min() + 1) // 2).sum()) for few in (1, 3))
    if isinstance(sizes, int) and sizes > 0:
        return list(np.unique(np.rint(np.geomspace(min(first, most), most, sizes)).astype(int)).tolist())
    if not isinstance(sizes, list | tuple | np.ndarray) or not len(sizes):
        raise KindError(f"sizes must be a list of numbers of rows, or how many sizes to take, got {sizes!r}")
    for size in sizes:
        check_whole("a size", size, 1)
        if not least <= size <= most:
            raise InputError(f"a size is {size}; with these classes and held-out rows take from {least} to {most} rows")
    return sorted({int(size) for size in sizes})


def _declared(model: Any, X: Any) -> Any:
    """The model with the kind of every column declared as it is inferred from all rows: a few might look different."""
    if not isinstance(model, NaiveBayes | SoftmaxRegression) or is_texts(X) or open_source(X).uniform() is not None:
        return model
    settings = {k: v for k, v in model.get_params(deep=False).items() if k in ("columns", "numbers", "counts", "text")}
    schema = NaiveBayes(**settings)._schema_of(open_source(X))
    kinds = zip(schema.names.tolist(), (FAMILIES[list(FAMILIES)[code]] for code in schema.families.tolist()))
    return clone(model).set_params(columns={**dict(kinds), **(model.columns or {})})
