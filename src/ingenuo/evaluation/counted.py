"""An evaluation of which only sums are kept: for rows that lie in parts, or that no memory holds.

What is counted is in `counted_sums`. Counts, shares and means are those of the rows themselves; areas are of a grid of
probabilities (`grid`), with bounds; intervals are had from the sums, or there is a reason why not.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.engines import is_spread
from ingenuo.engines.local import Total
from ingenuo.errors import InputError, KindError, MergeError
from ingenuo.estimators import streams
from ingenuo.estimators.packed_models import name_of
from ingenuo.estimators.parts import in_parts
from ingenuo.evaluation import intervals
from ingenuo.evaluation.counted_sums import CURVES, LOSSES, OF_IT, OTHER, counted, known_classes, sums_of
from ingenuo.evaluation.forecast_sums import SUMS, calibration_error, column
from ingenuo.evaluation.grid import bounds, merged, tied
from ingenuo.evaluation.intervals import Interval
from ingenuo.evaluation.measured import Measured
from ingenuo.evaluation.measures import AREAS, BINS, Key, Matrix, Steps, areas, judged_classes, listed
from ingenuo.evaluation.predictions import predictions_of, unseen_remarks
from ingenuo.exact import Exact
from ingenuo.explanation import evaluation_tables
from ingenuo.labels import Labels, find, objects, unite
from ingenuo.tally import Tally

Floats = NDArray[np.float64]

_MERGED = 256  # cells of the grid that are drawn anew: more would not change an interval that can be seen
_REPLICATES = 500


def count(
    model: Any, X: Any, y: Any, classes: Any, sample_weight: Any, confidence: float, random_state: int
) -> CountedEvaluation:
    """Judge a classifier by sums: of rows in parts where they lie, of a scan batch by batch, of others at once."""
    if is_spread(X):
        if not hasattr(model, "predict"):
            raise InputError(
                "predictions cannot be judged by rows that lie in parts elsewhere; give the fitted classifier itself"
            )
        check_travels(model)
        schema = getattr(model, "schema_", None)
        rows = in_parts(X, y, sample_weight, () if schema is None else schema.names.tolist())
        total = rows.reduce(counted, model, classes=None if classes is None else list(classes))
        nothing = rows.rows.called
    elif streams.is_stream(X):
        target, weight = streams.named(X, y, sample_weight)
        whole, options = Total(), {"target": target, "weight": weight, "classes": classes}
        for batch in X.batches():
            if batch.num_rows:
                whole.add(counted(model, batch, options))
        total, nothing = whole.sum(), streams.files(X)
    else:
        answers = predictions_of(model, X, y, classes, sample_weight)
        total, nothing = sums_of(answers, known_classes(model, classes)), "X"
    if "rows" not in total:
        raise InputError(f"{nothing}: there are no rows to judge by")
    return CountedEvaluation(total, confidence, random_state)


def check_travels(model: Any) -> None:
    """Raise where a classifier cannot be sent to where the rows are."""
    try:
        name_of(model)
    except KindError:
        raise KindError(
            f"{type(model).__name__} cannot be sent to rows that lie in parts elsewhere, for only ingenuo's own models "
            "can; judge it by rows in memory, or by its predictions"
        ) from None


class CountedEvaluation(Measured):
    """What was measured of rows that were not kept; prints as tables, and adds.

    Attributes
    ----------
    tally : Tally
        The sums: all that is kept. Its size depends on the classes, and not on the rows.
    classes : array
        The classes, sorted.
    n_rows : int
        How many rows were judged; those of weight 0 are not.
    confidence, random_state
        As they were given.

    Examples
    --------
    >>> from ingenuo import evaluate
    >>> answers = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.45, 0.55]]
    >>> found = evaluate(answers, y=["no", "yes", "yes", "no"], counted=True)
    >>> found["accuracy"].value, found["roc_area"].value
    (0.5, 0.75)
    >>> print(found["log_loss"])
    0.544 [0.173, 0.916]
    """

    def __init__(self, tally: Tally, confidence: float = 0.95, random_state: int = 0) -> None:
        self.tally, self.confidence, self.random_state = tally, confidence, random_state

    @cached_property
    def _heads(self) -> dict[str, int]:
        labels = self.tally.labels("rows", 0)
        counts = self.tally.over("rows", labels).floats().astype(np.int64).tolist()
        return dict(zip(labels.tolist(), counts))

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return self._heads["judged"]

    @property
    def weighted(self) -> bool:
        """Whether rows count otherwise than once."""
        return self._heads.get("weighted", 0) > 0

    @property
    def probable(self) -> bool:
        """Whether there are probabilities."""
        return self._heads.get("probable", 0) > 0

    @cached_property
    def _known(self) -> Labels:
        of_rows = [self.tally.labels("confusion", axis) for axis in (0, 1)]
        return reduce(unite, [self.tally.labels("known", 0), *of_rows])

    @cached_property
    def confusion(self) -> NDArray[Any]:
        """Rows of each class (down) by what was answered (across); with weights, their sums."""
        cells = self.tally.over("confusion", self._known, self._known).floats()
        return cells if self.weighted else cells.astype(np.int64)

    @property
    def confused(self) -> tuple[list[int], list[int], list[float]]:
        """The largest wrong cells of the confusion matrix: true class, answered class, rows."""
        wrong = self.confusion.copy()
        np.fill_diagonal(wrong, 0)
        cells = np.flatnonzero(wrong)
        return evaluation_tables.largest(cells, wrong.ravel()[cells].astype(np.float64), len(wrong))

    @cached_property
    def _matrix(self) -> Matrix:
        cells = self.confusion.astype(np.float64)
        return Matrix(cells.diagonal().copy(), cells.sum(axis=1), cells.sum(axis=0))

    @cached_property
    def _weights(self) -> list[Fraction]:
        """Σw and Σw²."""
        return list(self.tally.over("weights", np.array([1, 2])).fractions())  # type: ignore[union-attr]

    @cached_property
    def _losses(self) -> NDArray[Any]:
        """Of each loss: Σwl, Σw²l, Σw²l², as fractions."""
        found: NDArray[Any] = self.tally.over("losses", LOSSES, np.arange(3)).fractions()  # type: ignore[union-attr]
        return found

    @cached_property
    def answers(self) -> NDArray[Any]:
        """The answers in ten bins of their probability: bins × the sums of `forecast_sums`, as fractions."""
        found: NDArray[Any] = self.tally.over("answers", np.arange(BINS), SUMS).fractions()  # type: ignore[union-attr]
        return found

    def forecasts(self, k: int) -> NDArray[Any]:
        """The probabilities of class k in ten bins: bins × the sums of `forecast_sums`, as fractions."""
        sums = self.tally.over("forecasts", self._known[[k]], np.arange(BINS), SUMS)
        found: NDArray[Any] = sums.fractions()[0]  # type: ignore[union-attr]
        # Rows that are not there gave the class a probability of 0.
        whole = {"rows": Fraction(self.n_rows), "weight": self._weights[0]}
        whole["true"] = self._true(k)
        for name, value in whole.items():
            place = int(find(SUMS, objects([name]))[0])
            found[0, place] += value - sum(found[:, place], Fraction(0))
        return found

    def _true(self, k: int) -> Fraction:
        """How many rows class k is true of; with weights, their sum."""
        cells = self.tally.over("confusion", self._known[[k]], self._known)
        return Fraction(sum(cells.fractions().ravel(), Fraction(0)))  # type: ignore[union-attr]

    @cached_property
    def _curves(self) -> str:
        """The name of the table of curves, which says how fine its grid is."""
        return next(name for name in self.tally if name.startswith(CURVES))

    def steps(self, k: int) -> Steps:
        """The rows of class k, and the others, by cells of the probability of the class, which descends."""
        cells = self.tally.labels(self._curves, 1)
        found = self.tally.over(self._curves, self._known[[k]], cells, objects([OF_IT, OTHER]))
        assert isinstance(found, Exact)
        sums = found.floats()[0, ::-1]
        there = sums.any(axis=1)
        # Rows that are not there gave the class a probability of 0.
        here = Exact.canonical(found.limbs[:, 0].sum(axis=1), found.low).fractions()
        true = self._true(k)
        rest = np.array([true, self._weights[0] - true], object) - here
        scores, sums = cells[::-1][there].astype(np.float64), sums[there]
        if rest.any():
            scores = np.append(scores, -np.inf)
            sums = np.concatenate([sums, rest.astype(np.float64)[np.newaxis]])
        return Steps(scores, np.ascontiguousarray(sums[:, 0]), np.ascontiguousarray(sums[:, 1]))

    @cached_property
    def _areas(self) -> list[tuple[float, float]]:
        return [areas(self.steps(k)) for k in judged_classes(len(self.labels))]

    @cached_property
    def _values(self) -> dict[Key, float | None]:
        if not self.probable:
            return listed(self.labels, self._matrix, {}, [])
        n = self._weights[0]
        means = {name: float(sums[0]) / float(n) for name, sums in zip(LOSSES.tolist(), self._losses)}
        return listed(self.labels, self._matrix, means | {"ece": calibration_error(self.answers)}, self._areas)

    @cached_property
    def resolution(self) -> dict[Any, tuple[float, float]]:
        """How small and how large each area may be, for all that the grid of probabilities tells; by its key."""
        if not self.probable:
            return {}
        bits = int(self._curves.removeprefix(CURVES))
        every = [self.steps(k) for k in judged_classes(len(self.labels))]
        found = [bounds(each, tied(each.scores, bits), not self.weighted) for each in every]
        sides = [listed(self.labels, self._matrix, {}, [(roc[at], pr[at]) for roc, pr in found]) for at in (0, 1)]
        keys = [key for key in sides[0] if key[0].startswith(AREAS)]
        return {
            (key[0] if key[1] is None else key): (sides[0][key] or 0.0, sides[1][key] or 0.0)
            for key in keys
            if not math.isnan(self._values[key] or 0.0)
        }

    def answer_bins(self) -> tuple[Floats, Floats, Floats]:
        """Rows by bins of the answer's confidence: how many (with weights, their sum), Σ confidence, how many right."""
        n, sure, hits = (column(self.answers, name).astype(np.float64) for name in ("weight", "p", "true"))
        return n, sure, hits

    def _redrawn(self) -> Matrix:
        cells = np.flatnonzero(self.confusion)
        counts = self.confusion.ravel()[cells]
        if self.weighted:
            squares = self.tally.over("squares", self._known, self._known).floats().ravel()[cells]
            drawn = (len(self.labels), self._replicates, self.random_state)
            return intervals.of_weighted_cells(cells, counts, squares, *drawn)
        return intervals.of_cells(cells, counts, len(self.labels), self._replicates, self.random_state)

    def _of_matrix(self, name: str, k: int | None, value: float) -> Interval:
        found = super()._of_matrix(name, k, value)
        return found._replace(how=found.how.replace("bootstrap", "bootstrap of cells")) if self.weighted else found

    def _of_losses(self, name: str, value: float) -> Interval:
        if name == "ece":
            if self.weighted:
                return Interval.refused("the rows have weights and are not kept, so they cannot be drawn anew")
            rows, sure, hits = self.answer_bins()
            found = intervals.of_bins(rows, hits, sure, self.confidence, [self.random_state, 3])
            return found._replace(how=found.how.replace("bootstrap", "bootstrap of bins"))
        sums = self._losses[LOSSES.tolist().index(name)]
        return intervals.normal(sums, self._weights, self.n_rows, self.confidence)

    def _of_area(self, name: str, k: int | None, value: float) -> Interval:
        if self.weighted:
            return Interval.refused("the rows have weights and are not kept, so they cannot be drawn anew")
        if k is None and len(self.labels) > 2:
            return Interval.refused("the grids of the classes do not tell how their areas vary together")
        refusal = intervals.too_few(self.confusion.sum(axis=1), self.labels, k)
        if refusal is not None:
            return refusal
        k = judged_classes(len(self.labels))[0] if k is None else k
        found = intervals.percentile(self._drawn_areas(k)[:, AREAS.index(name)], self.confidence)
        if found.low is None or found.high is None:
            return found
        low, high = self.resolution[name if len(self.labels) <= 2 else (name, self.labels[k])]
        ends = max(0.0, found.low - (value - low)), min(1.0, found.high + (high - value))
        return Interval(*ends, found.how.replace("bootstrap", "bootstrap of the grid's cells, widened by the grid"))

    def _drawn_areas(self, k: int) -> Floats:
        """The areas of class k in replicates: cells of the grid drawn anew, neighbours together where they are many."""
        if k not in self._drawn:
            whole = self.steps(k)
            few = merged(whole, _MERGED)
            shares = np.concatenate([few.positive, few.negative])
            rng = np.random.default_rng([self.random_state, 4, k])
            drawn = rng.multinomial(self.n_rows, shares / shares.sum(), size=_REPLICATES).astype(np.float64)
            found = [areas(_there(Steps(few.scores, *np.split(cells, 2)))) for cells in drawn]
            self._drawn[k] = np.array(found) + (np.array(areas(whole)) - areas(few))
        return self._drawn[k]

    @cached_property
    def _drawn(self) -> dict[int, Floats]:
        return {}

    def __add__(self, other: Any) -> CountedEvaluation:
        """The evaluation of the rows of both."""
        if not isinstance(other, CountedEvaluation):
            return NotImplemented
        self._refuse_other(other, "confidence", "random_state", "probable")
        if self.probable and self._curves != other._curves:
            raise MergeError(
                f"one evaluation is of a model of {len(self.tally.labels('known', 0))} classes and the other of "
                f"{len(other.tally.labels('known', 0))}, and their grids of probabilities differ; evaluate one model"
            )
        return CountedEvaluation(self.tally + other.tally, self.confidence, self.random_state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountedEvaluation):
            return NotImplemented
        asked = (self.confidence, self.random_state) == (other.confidence, other.random_state)
        return asked and self.tally == other.tally

    __hash__ = None  # type: ignore[assignment]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is undefined here and why, labels that the model does not know, and how exact the areas are."""
        return (
            *self.unseen,
            *evaluation_tables.remarks(self.labels, self._matrix, self.probable),
            *self._exactness(),
        )

    @property
    def unseen(self) -> tuple[str, ...]:
        """A sentence on labels that the model does not know, where there are any."""
        return unseen_remarks(self._known, self.tally.over("unseen", self._known).floats(), self.probable)

    def _exactness(self) -> list[str]:
        off = dict.fromkeys(AREAS, 0.0)
        for key, ends in self.resolution.items():
            name, label = key if isinstance(key, tuple) else (key, None)
            value = self._values[name, label] or 0.0
            stem = next(stem for stem in AREAS if name.startswith(stem))
            off[stem] = max(off[stem], value - ends[0], ends[1] - value)
        if not self.resolution:
            return []
        said = " and ".join(
            f"{evaluation_tables.title(name)}s to ±{evaluation_tables.error(off[name])}" for name in AREAS
        )
        return [f"The rows were counted and not kept: areas are of a fixed grid of probabilities, {said}."]


def _there(found: Steps) -> Steps:
    """Without the cells that have no rows."""
    return Steps(*(each[found.positive + found.negative > 0] for each in found))
