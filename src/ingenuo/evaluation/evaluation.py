"""`evaluate`: everything that is measured of a classifier on some rows, with intervals; evaluations add.

An evaluation has exact sums of the answers (`sums.py`) and, where they were kept, the rows. Counts, shares and means
are read from the sums. Areas and intervals are of the rows that were kept; else areas are of a grid of probabilities,
with bounds, and intervals come from the sums, or there is a reason why not.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError
from ingenuo.evaluation import intervals, measures, sums
from ingenuo.evaluation.intervals import Interval, Judged, check_share
from ingenuo.evaluation.measures import AREAS, BINS, MEANS, SUMMED, Key, Matrix, Steps, areas, judged_classes, title
from ingenuo.evaluation.numbers import NumbersEvaluation, evaluate_numbers
from ingenuo.evaluation.predictions import Predictions, describe_unseen, list_names, predictions_of
from ingenuo.evaluation.sums import column
from ingenuo.models.model import RegressorBase, is_regressor
from ingenuo.rows.checks import check_flag, check_whole
from ingenuo.rows.rows import EVERYTHING, rows_of
from ingenuo.show import plots as drawing
from ingenuo.show.format import count, shortened, span
from ingenuo.show.table import Block, PrintedTable
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, objects, public, same, unite
from ingenuo.tally.tally import Tally

Floats = NDArray[np.float64]

_EXACT = {"accuracy", "majority_rate", "precision_micro", "recall_micro", "f1_micro", "precision", "recall"}
_OVER_CLASSES = {"balanced_accuracy", *(f"{name}_{mean}" for name in SUMMED for mean in ("macro", "weighted"))}
_REPLICATES, _MERGED = 500, 256  # of the cells of a grid, and the cells that are drawn
_POINTS = 1_000  # of a curve: more cannot be seen
_CROWDED = 8  # classes, from which on the panels of a picture are larger
_SHOWN = 20  # classes that are shown of the class table and of the confusion matrix
_NAME = 40  # letters of a class in a table
_CONFUSIONS = 10  # listed where the matrix is not shown
_NOT_KEPT = "the rows have weights and are not kept, so they cannot be resampled"


@overload
def evaluate(
    model: RegressorBase, X: Any = None, y: Any = None, *, classes: Any = None, sample_weight: Any = None,
    confidence: float = 0.95, random_state: int = 0, keep_rows: bool = True,
) -> NumbersEvaluation: ...  # fmt: skip


@overload
def evaluate(
    model: Any, X: Any = None, y: Any = None, *, classes: Any = None, sample_weight: Any = None,
    confidence: float = 0.95, random_state: int = 0, keep_rows: bool = True,
) -> Evaluation: ...  # fmt: skip


def evaluate(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    random_state: int = 0,
    keep_rows: bool = True,
) -> Evaluation | NumbersEvaluation:
    """Judge a fitted classifier, its predictions, or a fitted regressor by what is true.

    Parameters
    ----------
    model : classifier, array, or regressor
        A fitted classifier; or probabilities (rows × classes); or a list of the labels that were answered. Of a
        regressor the answer is a `NumbersEvaluation`: R², errors beside those of the mean, and what its intervals hold.
    X, y : table, what `scan` gives, or a Dask or Spark DataFrame; array-like, or the name of a column of X
        The rows for the classifier, which it should not have learned from, and what is true of each; beside
        predictions y alone.
    classes : list, optional
        The classes of the columns of probabilities, in their order; by default the sorted labels of y.
    sample_weight : array-like, optional
        How much each row counts.
    confidence, random_state : float, int
        How sure the intervals are, and the seed of the bootstrap.
    keep_rows : bool
        Whether to keep the answers, row by row. Of a scan and of rows on an engine they are not: sums alone are kept,
        which do not grow with the rows, and areas are of a fixed grid of probabilities.

    Examples
    --------
    >>> found = evaluate(["a", "b", "b", "b"], y=["a", "b", "b", "a"])
    >>> found["accuracy"].value, found["recall", "a"].value
    (0.75, 0.5)
    >>> print(found["accuracy"])
    0.750 [0.194, 0.994]
    """
    settings = check_share("confidence", confidence), random_state
    check_whole("random_state", random_state, 0)
    check_flag("keep_rows", keep_rows)
    rows = rows_of(X, y, sample_weight, EVERYTHING, model=model)
    if is_regressor(model):
        if classes is not None or not keep_rows:
            raise InputError("a regressor answers with numbers, row by row; leave classes and keep_rows out")
        return evaluate_numbers(model, rows, settings[0])
    if rows.is_here:
        answers = predictions_of(model, X, y, classes, sample_weight)
        if keep_rows:
            return Evaluation(answers, *settings)
        total = sums.sums_of(answers, sums.known_classes(model, classes))
    elif hasattr(model, "predict"):
        total = rows.reduce(sums.count_answers, model, classes=None if classes is None else list(classes))
    else:
        raise InputError(f"predictions cannot be judged by {rows.name}; give the fitted classifier itself")
    if "rows" not in total:
        raise InputError(f"{rows.name}: there are no rows to judge by")
    return Evaluation(None, *settings, tally=total)


class Evaluation(Judged):
    """What `evaluate` measured on some rows; prints as tables, and adds.

    Examples
    --------
    >>> answers = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.45, 0.55]]
    >>> found = evaluate(answers, y=["no", "yes", "yes", "no"], keep_rows=False)
    >>> found["accuracy"].value, found["roc_area"].value
    (0.5, 0.75)
    >>> print(found["log_loss"])
    0.544 [0.173, 0.916]
    """

    def __init__(
        self, predictions: Predictions | None, confidence: float, random_state: int, *, tally: Tally | None = None
    ) -> None:
        self._predictions, self._given = predictions, tally  # the sums, where the answers were not kept
        self.confidence, self.random_state = confidence, random_state
        self._intervals: dict[Key, Interval] = {}

    # What there is: rows, or sums, and what is read from them.

    @property
    def predictions(self) -> Predictions:
        """The answers in the order of the rows; an error where they were not kept."""
        if self._predictions is None:
            raise InputError("the rows of this evaluation were not kept; evaluate rows in memory, with keep_rows=True")
        return self._predictions

    def take(self, rows: NDArray[Any]) -> Evaluation:
        """The evaluation of some of the rows, which were kept."""
        return Evaluation(self.predictions.take(rows), self.confidence, self.random_state)

    @cached_property
    def rows(self) -> Predictions | None:
        """The rows that were kept, in an order that depends on nothing but them."""
        return None if self._predictions is None else self._predictions.canonical()

    @cached_property
    def tally(self) -> Tally:
        """The sums, whose size depends on the classes and not on the rows."""
        return sums.sums_of(self.predictions) if self._given is None else self._given

    @cached_property
    def _sums(self) -> Tally:
        """The sums that are read: of rows that are kept there are fewer."""
        return sums.sums_of(self.predictions, kept=True) if self._given is None else self._given

    def _over(self, name: str, *axes: Any) -> NDArray[Any]:
        """Sums as fractions."""
        found: NDArray[Any] = self._sums.over(name, *axes).fractions()  # type: ignore[union-attr]
        return found

    def _count(self, what: str) -> int:
        return int(self._sums.over("rows", objects([what])).floats()[0])

    @cached_property
    def n_rows(self) -> int:
        """How many rows were judged; those of weight 0 are not."""
        return self._count("judged")

    @cached_property
    def weighted(self) -> bool:
        """Whether rows count otherwise than once."""
        return self._count("weighted") > 0

    @cached_property
    def probable(self) -> bool:
        """Whether there are probabilities."""
        return self._count("probable") > 0

    @cached_property
    def known(self) -> Labels:
        """The classes as the labels of tables."""
        if self._predictions is not None:
            return self._predictions.classes
        return reduce(unite, [self._sums.labels(*axis) for axis in (("known", 0), ("confusion", 0), ("confusion", 1))])

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted: those the model knows and those that are true of a row."""
        return public(self.known)

    @cached_property
    def labels(self) -> list[Any]:
        """The classes as a list."""
        return list(self.known.tolist())

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(self.labels)}

    @property
    def support(self) -> Floats:
        """How many rows each class is true of; with weights, their sum."""
        return self._matrix.true

    @property
    def majority(self) -> Any:
        """The class of most rows."""
        return self.labels[int(self.support.argmax())]

    @cached_property
    def confusion(self) -> NDArray[Any]:
        """Rows of each class (down) by what was answered (across); with weights, their sums."""
        cells = self._sums.over("confusion", self.known, self.known).floats()
        return cells if self.weighted else cells.astype(np.int64)

    @property
    def confused(self) -> list[tuple[Any, Any, float]]:
        """The largest wrong cells of the confusion matrix: true class, answered class, rows."""
        wrong = self.confusion.astype(np.float64)
        np.fill_diagonal(wrong, 0)
        first = np.argsort(-wrong, axis=None, kind="stable")[:_CONFUSIONS]
        cells = zip(*np.divmod(first, len(wrong)), wrong.ravel()[first].tolist())
        return [(self.labels[true], self.labels[answered], rows) for true, answered, rows in cells if rows]

    @cached_property
    def _matrix(self) -> Matrix:
        cells = self.confusion.astype(np.float64)
        return Matrix(cells.diagonal().copy(), cells.sum(axis=1), cells.sum(axis=0))

    @cached_property
    def _weights(self) -> list[Fraction]:
        """Σw and Σw²."""
        return list(self._over("weights", np.array([1, 2])))

    @cached_property
    def _losses(self) -> dict[str, NDArray[Any]]:
        """Of each loss: Σwl, Σw²l, Σw²l², as fractions."""
        return dict(zip(sums.LOSSES.tolist(), self._over("losses", sums.LOSSES, np.arange(3))))

    def forecasts(self, k: int | None = None) -> NDArray[Any]:
        """The probabilities of the answers, or of class k, in ten bins: bins × the sums of `forecast_sums`."""
        if k is None:
            return self._over("answers", np.arange(BINS), sums.SUMS)
        found = self._over("forecasts", self.known[[k]], np.arange(BINS), sums.SUMS)[0]
        return sums.with_certain_rows(found, self.n_rows, self._weights[0], self._true(k))

    def _true(self, k: int) -> Fraction:
        """How many rows class k is true of; with weights, their sum."""
        return Fraction(sum(self._over("confusion", self.known[[k]], self.known).ravel(), Fraction(0)))

    @cached_property
    def _curves(self) -> str:
        """The name of the table of curves, which says how fine its grid is."""
        return next(name for name in self.tally if name.startswith(sums.CURVES))

    def steps(self, k: int) -> Steps:
        """The rows of class k, and the others, by the probability of the class, or its cell, which descends."""
        rows = self.rows
        if rows is not None:
            assert rows.probabilities is not None
            return measures.steps(rows.probabilities[:, k], rows.codes == k, rows.weights)
        cells = self.tally.labels(self._curves, 1)
        found = self.tally.over(self._curves, self.known[[k]], cells, objects([sums.OF_IT, sums.OTHER]))
        assert isinstance(found, Exact)
        # Rows that are not there gave the class a probability of 0.
        here = Exact.canonical(found.limbs[:, 0].sum(axis=1), found.low).fractions()
        rest = np.array([self._true(k), self._weights[0] - self._true(k)], object) - here
        both = np.concatenate([found.floats()[0, ::-1], rest.astype(np.float64)[np.newaxis]])
        there = both.any(axis=1)
        scores = np.append(cells[::-1].astype(np.float64), -np.inf)
        return Steps(scores[there], *np.ascontiguousarray(both[there].T))

    @cached_property
    def _values(self) -> dict[Key, float | None]:
        """Every measure."""
        if not self.probable:
            return measures.list_measures(self.labels, self._matrix, {}, [])
        n, answers = self._weights[0], self.forecasts()
        means = {name: float(each[0] / n) for name, each in self._losses.items()}
        means["ece"] = float(np.abs(column(answers, "true") - column(answers, "p")).sum() / n)
        pairs = [areas(*self.steps(k)[1:]) for k in judged_classes(len(self.labels))]
        return measures.list_measures(self.labels, self._matrix, means, pairs)

    @cached_property
    def resolution(self) -> dict[Any, tuple[float, float]]:
        """How small and how large each area may be, for all that a grid of probabilities tells; by its key.

        Of rows that were kept areas are exact, and there is nothing to say.
        """
        if not self.probable or self.rows is not None:
            return {}
        last = len(sums.grid(int(self._curves.removeprefix(sums.CURVES)))) - 1  # 0 and 1 alone are ties; 0 is -inf
        every = [self.steps(k) for k in judged_classes(len(self.labels))]
        ends = zip(
            *(sums.bounds(each, (each.scores <= 0) | (each.scores >= last), not self.weighted) for each in every)
        )
        low, high = (measures.list_measures(self.labels, self._matrix, {}, list(pairs)) for pairs in ends)
        defined = [key for key in low if key[0].startswith(AREAS) and not math.isnan(self._values[key] or 0.0)]
        return {key if key[1] is not None else key[0]: (low[key] or 0.0, high[key] or 0.0) for key in defined}

    # Intervals.

    @cached_property
    def _replicates(self) -> int:
        return intervals.how_many(self.n_rows, len(self.labels), self.probable)

    @cached_property
    def _resampled(self) -> intervals.Resampled:
        assert self.rows is not None
        return intervals.of_rows(self.rows, self._replicates, self.random_state)

    @cached_property
    def _matrices(self) -> tuple[Matrix, dict[str, Floats], dict[str, Floats]]:
        """Confusion matrices of resampled rows, and what they measure."""
        if self.weighted and self.rows is not None:
            found = self._resampled.matrix
        else:
            cells, squares = np.flatnonzero(self.confusion), None
            if self.weighted:
                squares = self._sums.over("squares", self.known, self.known).floats().ravel()[cells]
            drawn = (len(self.labels), self._replicates, self.random_state)
            found = intervals.of_cells(cells, self.confusion.ravel()[cells], squares, *drawn)
        return found, measures.of_confusion(found), measures.by_class(found)

    def _interval(self, key: Key) -> Interval:
        if key not in self._intervals:
            self._intervals[key] = self._find_interval(*key)
        return self._intervals[key]

    def _find_interval(self, name: str, label: Hashable) -> Interval:
        value, k = self._values[name, label], self._places.get(label)
        if value is None:
            return Interval.refused("labels were given, and it takes probabilities")
        if math.isnan(value):
            return Interval.refused("it is undefined")
        if self.n_rows < 2:
            return Interval.refused("one row does not say how much others would differ")
        if name in _EXACT and not self.weighted:
            return self._of_share(name, k)
        by = (
            self._of_losses
            if name in measures.OF_ROWS
            else self._of_area
            if name.startswith(AREAS)
            else self._of_matrix
        )
        found = by(name, k)
        what = "bootstrap of cells" if self.weighted and self.rows is None else "bootstrap"
        return (
            found if isinstance(found, Interval) else intervals.percentile(found, self.confidence, what).around(value)
        )

    def _of_share(self, name: str, k: int | None) -> Interval:
        tp, true, answered = self._matrix
        part, whole = (true.max() if name == "majority_rate" else tp.sum()), true.sum()
        if k is not None:
            part, whole = tp[k], (answered if name == "precision" else true)[k]
        return intervals.exact(part, whole, self.confidence)

    def _of_matrix(self, name: str, k: int | None) -> Floats | Interval:
        """What replicates of the confusion matrix measure."""
        found, of_all, of_classes = self._matrices
        values = of_classes[name][:, k] if k is not None else of_all[name]
        true, answered = self._matrix[1:]
        if name == "majority_rate":  # of the class that has the majority here
            values = found.true[:, int(true.argmax())] / found.true.sum(axis=1)
        if name in _OVER_CLASSES:  # where a class is lost, it would be the mean of something else
            lost = ((true > 0) & (found.true == 0)) | ((true == 0) & (answered > 0) & (found.answered == 0))
            values = np.where(lost.any(axis=-1), np.nan, values)
        return values

    def _of_losses(self, name: str, _: int | None) -> Floats | Interval:
        """What replicates of the rows measure, or the interval that the sums give."""
        if self.rows is not None:
            return self._resampled.rows[name]
        if name != "ece":
            return intervals.normal(self._losses[name], self._weights, self.n_rows, self.confidence)
        if self.weighted:
            return Interval.refused(_NOT_KEPT)
        rows, hits, p = (column(self.forecasts(), each).astype(np.float64) for each in ("weight", "true", "p"))
        return intervals.of_bins(rows, hits, p, self.confidence, [self.random_state, 3])

    def _of_area(self, name: str, k: int | None) -> Floats | Interval:
        """The areas of class k, or of all, in replicates."""
        several, rows = len(self.labels) > 2, self.rows
        if rows is None and self.weighted:
            return Interval.refused(_NOT_KEPT)
        if rows is None and k is None and several:
            return Interval.refused("the grids of the classes do not tell how their areas vary together")
        # Of rows, not of their weights.
        counts = self.confusion.sum(axis=1) if rows is None else np.bincount(rows.codes, minlength=len(self.labels))
        for j in judged_classes(len(counts)) if k is None else [k]:
            if 0 < min(counts[j], counts.sum() - counts[j]) < 2:  # of one row nothing can be drawn but itself
                few = f"{counts[j]:,} of {counts.sum():,} rows are of class {self.labels[j]!r}"
                return Interval.refused(f"{few}, and an area needs 2 of a class and 2 others")
        if rows is None:
            return self._of_cells(name, k)
        drawn = self._resampled
        found = drawn.roc if name.startswith("roc") else drawn.pr
        if k is None and several:
            return measures.mean_area(found, self.support, drawn.matrix.true if name.endswith("weighted") else None)
        return np.asarray(found[:, k or 0])

    def _of_cells(self, name: str, k: int | None) -> Interval:
        """The interval of an area, by resampling the cells of the grid; the grid widens it."""
        key, k = (name, len(self.labels) - 1) if k is None else ((name, self.labels[k]), k)
        _, *whole = self.steps(k)
        mass = np.cumsum(whole[0] + whole[1])  # neighbours are drawn together where they are many
        starts = np.unique(np.searchsorted(mass, np.linspace(0, mass[-1], _MERGED + 1)[:-1], side="right"))
        few = [np.add.reduceat(each, starts) for each in whole]
        shares = np.concatenate(few)
        rng = np.random.default_rng([self.random_state, 4, k])
        drawn = rng.multinomial(self.n_rows, shares / shares.sum(), size=_REPLICATES).astype(np.float64)
        replicates, all_cells, few_cells = (
            areas(*each)[AREAS.index(name)] for each in (np.split(drawn, 2, 1), whole, few)
        )
        found = replicates + (all_cells - few_cells)
        interval = intervals.percentile(found, self.confidence, "bootstrap of the grid's cells, widened by the grid")
        if interval.low is None or interval.high is None:
            return interval
        (low, high), value = self.resolution[key], float(self[key])
        low, high = interval.low - (value - low), interval.high + (high - value)
        return interval._replace(low=max(0.0, low), high=min(1.0, high))

    # Adding and showing.

    def __add__(self, other: Any) -> Evaluation:
        """The evaluation of the rows of both; they are kept where both have kept them."""
        if not isinstance(other, Evaluation):
            return NotImplemented
        settings = (self.confidence, self.random_state)
        for name, mine, theirs in zip(("confidence", "random_state"), settings, (other.confidence, other.random_state)):
            if mine != theirs:
                raise MergeError(f"one evaluation has {name}={mine!r} and the other {theirs!r}; evaluate both alike")
        if self._predictions is not None and other._predictions is not None:
            return Evaluation(self._predictions + other._predictions, *settings)
        if self.probable != other.probable:
            raise MergeError("one part has probabilities and the other has labels only; judge both by the same")
        if self.probable and self._curves != other._curves:
            raise MergeError(
                f"one evaluation is of a model of {len(self.tally.labels('known', 0))} classes and the other of "
                f"{len(other.tally.labels('known', 0))}, and their grids of probabilities differ; evaluate one model"
            )
        return Evaluation(None, *settings, tally=self.tally + other.tally)

    def __radd__(self, other: Any) -> Evaluation:
        """Let `sum` begin with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return NotImplemented
        a, b = self.rows, other.rows
        if (self.confidence, self.random_state) != (other.confidence, other.random_state):
            return False
        if a is None or b is None:
            return a is b and self.tally == other.tally
        names = ("codes", "predicted", "probabilities", "weights")
        return same(a.classes, b.classes) and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    @property
    def unseen(self) -> tuple[str, ...]:
        """A sentence on labels that the model does not know, where there are any."""
        return describe_unseen(self.known, self._sums.over("unseen", self.known).floats(), self.probable)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is undefined here and why, labels that the model does not know, and how exact the areas are."""
        _, true, answered = self._matrix
        kinds = {
            "Never answered, so without a precision (0 in the means)": (true > 0) & (answered == 0),
            "Answered but true of no row, so without a recall (0 in the macro means)": (true == 0) & (answered > 0),
            "Neither true of a row nor answered, and left out of the means": (true == 0) & (answered == 0),
            "Without an area, for no row is of it": (true == 0) & (self.probable and len(true) > 1),
        }
        found = [f"{what}: {list_names(self.known[which])}." for what, which in kinds.items() if which.any()]
        if (true > 0).sum() == 1:
            found.append(f"Every row is of class {self.majority!r}: there is nothing to tell apart.")
        if (true > 0).sum() == 1 or (answered > 0).sum() == 1:
            found.append("The MCC of a single class is 0/0, and counts as 0.")
        if not self.probable:
            found.append("Only labels were given: log loss, Brier score, ECE and areas take probabilities.")
        if self.resolution:
            kept = "The rows were counted and not kept"
            found.append(f"{kept}: areas are of a fixed grid of probabilities (see resolution).")
        return (*self.unseen, *found)

    def table(self) -> Any:
        """An Arrow table with a line for each measure: measure, class, value, low, high, method."""
        import pyarrow as pa

        types = {"measure": pa.string(), "class": pa.string()} | dict.fromkeys(("value", "low", "high"), pa.float64())
        lines = [
            {"measure": m.name, "class": None if m.label is None else str(m.label)}
            | {"value": m.value, "low": m.low, "high": m.high}
            | {"method": m.how if m.reason is None else f"{m.how}: {m.reason}"}
            for m in self.measures.values()
        ]
        return pa.Table.from_pylist(lines, pa.schema(types | {"method": pa.string()}))

    def measure_table(self) -> PrintedTable:
        """What is measured of all classes together; means over the classes stand in the table of these."""
        of_all = [m for m in self.measures.values() if m.label is None and m.value is not None]
        rows = [[title(m.name), m.value, span(m.low, m.high)] for m in of_all if not m.name.endswith(MEANS)]
        heads = ["measure", "value", f"{100 * self.confidence:g}% interval"]
        return PrintedTable(heads, rows, ["", ".3f"], rule=True)

    def class_table(self) -> PrintedTable:
        """A line for each class, or of many for those of the lowest F1, and the means over the classes."""
        names = [*SUMMED, *(AREAS if len(self.labels) > 2 and self.probable else ())]
        rows = [
            [shortened(label, _NAME), count(rows), *(str(self[name, label]) for name in names)]
            for label, rows in self._shown_classes.items()
        ]
        every = count(float(self.support.sum()))
        for mean in MEANS:
            cells = [str(self[f"{name}_{mean}"]) if f"{name}_{mean}" in self else "" for name in names]
            rows.append([f"({mean} mean)", every, *cells])
        return PrintedTable(["class", "rows", *map(title, names)], rows, rule=True)

    @property
    def _shown_classes(self) -> dict[Any, float]:
        """The classes that are shown, and their rows."""
        f1 = np.nan_to_num([float(self["f1", label]) for label in self.labels], nan=2.0)
        shown = range(len(f1)) if len(f1) <= _SHOWN else np.argsort(f1, kind="stable")[:_SHOWN].tolist()
        return {self.labels[k]: float(self.support[k]) for k in shown}

    def confusion_table(self) -> PrintedTable:
        """The confusion matrix, or its largest wrong cells where it is too large to be read."""
        if len(self.labels) > _SHOWN:
            confused = [[*(shortened(label, _NAME) for label in pair), count(n)] for *pair, n in self.confused]
            return PrintedTable(["true", "answered", "rows"], confused, rule=True)
        names = [shortened(label, _NAME) for label in self.labels]
        rows = [[name, *map(count, line)] for name, line in zip(names, self.confusion.tolist())]
        return PrintedTable(["true \\ answered", *names], rows, rule=True)

    def _blocks(self) -> Sequence[str | Block]:
        rows, n = self.n_rows, len(self.labels)
        correct, majority = (float(self[name]) for name in ("accuracy", "majority_rate"))
        judged = f"{rows:,} row{'s' if rows != 1 else ''}{', weighted' if self.weighted else ''}"
        always = f"always answering {self.majority!r} would be right for {majority:.1%}"
        headline = f"{judged}, {n} class{'es' if n != 1 else ''}: {correct:.1%} are correct; {always}."
        tables = (self.measure_table(), self.class_table(), self.confusion_table())
        few = f"Of {n} classes the {_SHOWN} with the lowest F1 are shown, and the most frequent confusions."
        remarks = [*self.remarks[len(self.unseen) :], *([few] if n > _SHOWN else []), *self._refusals()]
        return [
            *self.unseen,
            headline,
            *(block for table in tables for block in ("", table)),
            *([""] if remarks else []),
            *remarks,
        ]

    def _refusals(self) -> list[str]:
        """Why intervals are missing; of classes that are not shown nothing is resampled."""
        shown, reasons = {None, *self._shown_classes}, dict[str, list[str]]()
        for m in self.measures.values():
            if m.label in shown and m.value is not None and not math.isnan(m.value) and m.reason is not None:
                of = "" if m.label is None else f" of {m.label!r}"
                reasons.setdefault(m.reason, []).append(title(m.name) + of)
        return [f"No interval for {list_names(names, str)}: {reason}." for reason, names in reasons.items()]

    def plot(self) -> EvaluationDisplay:
        """Draw the confusion matrix, the curves and the reliability: see `EvaluationDisplay`."""
        return EvaluationDisplay(self).plot()


class Display:
    """What scikit-learn's displays share: `_judge` is what a subclass draws, by a name; options are those of it."""

    _judge: Any

    @classmethod
    def from_estimator(
        cls: Any, estimator: Any, X: Any, y: Any, *, name: Any = None, ax: Any = None, axes: Any = None, **options: Any
    ) -> Any:
        """Judge a fitted classifier by other rows, and draw it."""
        return cls(cls._judge(estimator, X, y, **options), name).plot(ax if axes is None else axes)

    @classmethod
    def from_predictions(
        cls: Any, y_true: Any, y_pred: Any, *, name: Any = None, ax: Any = None, axes: Any = None, **options: Any
    ) -> Any:
        """Judge probabilities (rows × classes), or labels, and draw them."""
        return cls(cls._judge(y_pred, y=y_true, **options), name).plot(ax if axes is None else axes)


class EvaluationDisplay(Display):
    """Four panels: confusion matrix, ROC curves, precision-recall curves, reliability; of labels the first only.

    Options are those of `evaluate`, the `axes` of the panels, and a `name`, with which each title begins. `axes_` are
    the panels, and `figure_` is where they were drawn.

    >>> answers, names = [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]], ["no", "yes"]
    >>> display = EvaluationDisplay.from_predictions(["no", "no", "yes"], answers, classes=names, name="Bayes")
    >>> len(display.axes_), display.axes_[1].get_title()
    (4, 'Bayes: ROC')
    """

    _judge = staticmethod(evaluate)

    def __init__(self, evaluation: Evaluation, name: str | None = None) -> None:
        self.evaluation, self.name = evaluation, name

    def plot(self, axes: Any = None) -> EvaluationDisplay:
        """Draw the panels on four axes, or one where there are labels only; by default on a figure of its own."""
        found = self.evaluation
        names = [drawing.short(label) for label in found.labels]
        panels = 4 if found.probable else 1
        given = (
            drawing.grid(panels, len(names) >= _CROWDED) if axes is None else list(np.ravel(np.asarray(axes, object)))
        )
        if len(given) != panels:
            raise InputError(f"{panels} axes are needed, one for each panel, got {len(given)}")
        drawing.confusion(found.confusion, names, given[0])
        if found.probable:
            from ingenuo.evaluation.reliability import Reliability

            roc, pr, shares = self._curves(names)
            means = [found[name].value if name in found else None for name in ("roc_area_macro", "pr_area_macro")]
            drawing.roc(roc, means[0], given[1])
            drawing.precision_recall(pr, shares, means[1], given[2])
            reliability = Reliability(found, BINS, "width", None, found.confidence)
            reliability.plot(given[3]).set_title(f"reliability, ECE {float(found['ece']):.3f}")
        for ax in given if self.name is not None else ():
            ax.set_title(f"{self.name}: {ax.get_title()}")
        self.axes_, self.figure_ = given, given[0].figure
        return self

    def _curves(self, names: list[str]) -> tuple[list[drawing.Curve], list[drawing.Curve], list[float]]:
        """ROC and precision-recall curves of each class that has them, and the shares of the latter."""
        found = self.evaluation
        labels, whole = found.labels, float(found.support.sum())
        roc, pr, shares = [], [], []
        for k in judged_classes(len(labels)):
            P = float(found.support[k])
            if P == 0:
                continue
            _, positive, negative = found.steps(k)
            tp, fp = np.append(0.0, np.cumsum(positive)), np.append(0.0, np.cumsum(negative))
            seen = np.unique(np.linspace(0, len(tp) - 1, _POINTS).astype(int))
            tp, fp = tp[seen], fp[seen]
            area, precise = (float(found[name if len(labels) <= 2 else (name, labels[k])]) for name in AREAS)
            if not math.isnan(area):
                roc.append(drawing.Curve(names[k], fp / fp[-1], tp / P, area))
            precision = tp[1:] / (tp[1:] + fp[1:])
            recall, precision = np.append(0.0, tp[1:] / P), np.append(precision[0], precision)
            pr.append(drawing.Curve(names[k], recall, precision, precise))
            shares.append(P / whole)
        return roc, pr, shares
