"""What is counted of answers, part by part, so that sums travel and not rows: the statistic `count_answers`.

Every sum is exact, and of each row a fixed function of it is added. So the total is the same to the last bit however
the rows are cut, and its size depends on the classes alone. Its tables:

    rows            how many were judged, have a weight other than 1, have probabilities
    weights         Σw and Σw²
    confusion       Σw by what is true and what was answered; squares: Σw²
    known, unseen   rows by the classes that the model knows; rows of classes that it does not know
    losses          of log loss and Brier score l: Σwl, Σw²l, Σw²l²
    answers         the answer's probability in ten bins (`forecast_sums`), and whether it was right
    forecasts       each class's probability in ten bins
    curves/bits     Σw by class, by the cell of its probability (`grid`), and by whether the row is of it

Of forecasts and curves a row is left out whose probability is 0. So a class that the model does not know is not there,
and what the confusion matrix has more is put back when they are read. Where the rows themselves are kept, forecasts and
curves are not counted: what is read from them is read from the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.evaluation.measures import BINS, Steps, bins_of, row_measures
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.kernels.moments import weights_by_cell
from ingenuo.rows.rows import Part
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, encode, find, objects
from ingenuo.tally.tally import Table, Tally

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CURVES = "curves/"
LOSSES = objects(["brier", "log_loss"])
OF_IT, OTHER = "of it", "other"
SUMS = objects(["p", "product", "rows", "square", "true", "weight"])  # sorted, as the labels of a table are
_GRAIN = 2.0**80  # forecasts below 2^-27 are rounded to multiples of 2^-80: sums need fewer limbs, and lose 1e-24


def count_answers(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """The sums of a classifier's answers to some rows."""
    answers = predictions_of(model, part.X, part.y, options.get("classes"), part.weights)
    return sums_of(answers, known_classes(model, options.get("classes")))


def known_classes(model: Any, classes: Any) -> Labels | None:
    """The classes that labels alone do not show: those of the model, or those that were given."""
    known = getattr(model, "classes_", None)
    known = classes if known is None else known
    return None if known is None else encode(known if isinstance(known, np.ndarray) else objects(list(known)))[1]


def known_of(rows: Predictions, given: Labels | None) -> tuple[Labels | None, NDArray[np.bool_]]:
    """The classes that the model knows, as far as that is known, and which of the classes it does not."""
    foreign = np.zeros(len(rows.classes), np.bool_) if rows.unseen is None else rows.unseen > 0
    return (given if rows.probabilities is None else rows.classes[~foreign]), foreign


def sums_of(rows: Predictions, known: Labels | None = None, kept: bool = False) -> Tally:
    """The sums of some answers; rows of weight 0 are not judged. Of rows that are kept there are fewer."""
    if rows.weights is not None:
        rows = rows.take(np.flatnonzero(rows.weights > 0))
    n, k, w = len(rows), len(rows.classes), rows.weights
    if n == 0:
        return Tally()
    known, foreign = known_of(rows, known)
    per_class = np.bincount(rows.codes, minlength=k)
    heads = {"judged": n, "probable": n if rows.probabilities is not None else 0}
    heads["weighted"] = 0 if w is None else int((w != 1).sum())
    places = rows.codes.astype(np.int64) * k + rows.predicted
    one = np.zeros(n, np.int64)
    weights = [summed(each, one, (1,)) for each in ((None, None) if w is None else (w, w * w))]
    both = {"true": rows.classes, "answered": rows.classes}
    tables = {
        "rows": Table.of({"what": list(heads)}, list(heads.values())),
        "weights": Table.of({"power": [1, 2]}, _flat(joined(weights, 0))),
        "confusion": Table.of(both, summed(w, places, (k, k))),
        "unseen": Table.of({"class": rows.classes}, Exact.counts(np.where(foreign, per_class, 0))),
    }
    if known is not None:
        tables["known"] = Table.of({"class": known}, Exact.counts(np.full(len(known), n)))
    if not kept:
        tables["squares"] = Table.of(both, summed(None if w is None else w * w, places, (k, k)))
    if rows.probabilities is not None:
        tables |= _of_answers(rows, rows.probabilities)
        tables |= {} if kept else _of_classes(rows, rows.probabilities, ~foreign)
    return Tally(tables)


def _flat(sums: Exact) -> Exact:
    """Without the last axis, which has one place."""
    return Exact(sums.limbs[..., 0], sums.low)


def _of_answers(rows: Predictions, p: Floats) -> dict[str, Table]:
    w, n = rows.weights, len(rows)
    numbers = row_measures(rows).numbers
    one, powers = np.zeros(n, np.int64), []
    for loss in (numbers[:, 1], numbers[:, 0]):  # in the order of `LOSSES`
        weighed = loss if w is None else w * loss
        first, square = (summed(each, one, (1,)) for each in (weighed, weighed * weighed))
        powers.append(joined([first, first if w is None else summed(w * weighed, one, (1,)), square], 0))
    sure = forecast_sums(p[np.arange(n), rows.predicted], rows.codes == rows.predicted, w)
    return {
        "losses": Table.of({"loss": LOSSES, "sum": [0, 1, 2]}, _flat(joined(powers, 0))),
        "answers": Table.of({"bin": np.arange(BINS), "sum": SUMS}, Exact(sure.limbs[:, 0], sure.low)),
    }


def _of_classes(rows: Predictions, p: Floats, known: NDArray[np.bool_]) -> dict[str, Table]:
    w, forecasts, curves = rows.weights, [], []
    places = np.flatnonzero(known)
    bits = bits_of(len(places))
    cells = np.arange(len(grid(bits)))
    for k in places.tolist():
        own, event, weights = np.ascontiguousarray(p[:, k]), rows.codes == k, w
        if not own.all():
            there = np.flatnonzero(own)
            own, event, weights = own[there], event[there], None if w is None else w[there]
        forecasts.append(forecast_sums(own, event, weights))
        curves.append(summed(weights, 2 * cells_of(own, bits) + ~event, (len(cells), 2)))
    forecast = joined(forecasts, 0)
    classes = rows.classes[places]
    axes: dict[str, Any] = {"class": classes, "cell": cells, "row": [OF_IT, OTHER]}
    return {
        "forecasts": Table.of(
            {"class": classes, "bin": np.arange(BINS), "sum": SUMS}, Exact(forecast.limbs[:, :, 0], forecast.low)
        ),
        f"{CURVES}{bits}": Table.of(axes, joined(curves, 0)),
    }


# Forecasts of an event in bins of their probability.


def summed(values: Floats | None, cells: Integers, shape: tuple[int, ...]) -> Exact:
    """The exact sum of the values that fall on each cell; without values, how many do."""
    if values is None:
        return Exact.counts(np.bincount(cells, minlength=math.prod(shape)).reshape(shape))
    found = weights_by_cell(np.ascontiguousarray(values), cells, math.prod(shape))
    return Exact(found.limbs.reshape(found.limbs.shape[0], *shape), found.low)


def joined(parts: list[Exact], axis: int) -> Exact:
    """Exact sums side by side on a new axis."""
    there = [part for part in parts if part.limbs.shape[0]]
    if not there:
        shape = parts[0].shape
        return Exact.zeros((*shape[:axis], len(parts), *shape[axis:]))
    low = min(part.low for part in there)
    high = max(part.low + part.limbs.shape[0] for part in there)
    limbs = np.zeros((high - low, len(parts), *parts[0].shape), np.int64)
    for place, part in enumerate(parts):
        at = part.low - low
        limbs[at : at + part.limbs.shape[0], place] = part.limbs
    return Exact.canonical(np.ascontiguousarray(np.moveaxis(limbs, 1, axis + 1)), low)


def forecast_sums(
    forecast: Floats,
    event: NDArray[np.bool_],
    weights: Floats | None,
    groups: Integers | None = None,
    n_groups: int = 1,
    edges: Floats | None = None,
) -> Exact:
    """The sums of forecasts p of events e by group, bin and `SUMS`: Σwp, Σwpe, rows, Σwp², Σwe and Σw.

    They are enough for shares and means, for the calibration error and for the Brier score and its parts. Bins are ten
    of equal width, or those that the edges make.

    >>> found = forecast_sums(np.array([0.25, 0.75, 0.75]), np.array([False, True, False]), None)
    >>> found.floats()[0, 7].tolist()
    [1.5, 0.75, 2.0, 1.125, 1.0, 2.0]
    """
    bins = bins_of(forecast) if edges is None else np.searchsorted(edges[1:-1], forecast, side="left")
    many = BINS if edges is None else len(edges) - 1
    cells = bins.astype(np.int64) if groups is None else groups.astype(np.int64) * many + bins
    shape = (n_groups, many)
    p = np.rint(forecast * _GRAIN) / _GRAIN
    weighed = p if weights is None else weights * p
    rows, hit = summed(None, cells, shape), cells[event]
    found = {"rows": rows, "p": summed(weighed, cells, shape), "square": summed(weighed * p, cells, shape)}
    if weights is None:
        found |= {"weight": rows, "true": summed(None, hit, shape)}
    else:
        found |= {"weight": summed(weights, cells, shape), "true": summed(weights[event], hit, shape)}
    found["product"] = summed(weighed[event], hit, shape)
    return joined([found[name] for name in SUMS], 2)


def column(sums: NDArray[Any], name: str) -> NDArray[Any]:
    """One of the sums, which stand on the last axis."""
    return np.asarray(sums[..., int(find(SUMS, objects([name]))[0])])


def with_certain_rows(sums: NDArray[Any], rows: Any, weight: Any, true: Any) -> NDArray[Any]:
    """Sums (…, bins, sums) with the rows that are not there, for they gave the class a probability of 0."""
    for name, whole in {"rows": rows, "weight": weight, "true": true}.items():
        place = int(find(SUMS, objects([name]))[0])
        sums[..., 0, place] += whole - sums[..., place].sum(axis=-1)
    return sums


# A fixed grid of probabilities, so that rows can be ranked by counts: of each class and cell, how many rows.


def bits_of(n_classes: int) -> int:
    """How fine the grid of a model with so many classes is: classes × cells are kept.

    >>> bits_of(2), bits_of(20), bits_of(1_000)
    (9, 8, 3)
    """
    return max(3, 9 - max(0, math.ceil(math.log2(max(n_classes, 1) / 16))))


@lru_cache(maxsize=16)
def grid(bits: int) -> Floats:
    """Where the cells begin, ascending from 0 to 1; the first holds 0 and the last 1 alone.

    They are narrow where ranks are decided: each octave of p below ½, and of 1 - p, where naive Bayes puts many rows,
    has its own cells, down to 2^-53; below, where p alone goes on, an octave is a cell.

    >>> len(grid(9)), len(grid(8)), len(grid(3))
    (4226, 2119, 147)
    """
    depths = np.arange(1, 54)
    cells = 1 << np.maximum(bits + 1 - depths, np.where(depths <= 16, max(bits - 4, 0), max(bits - 6, 0)))
    near = np.concatenate([2.0 ** -(d + 1.0) * (1 + np.arange(m) / m) for d, m in zip(depths, cells)])
    far = 2.0 ** -np.arange(55.0, 1022, 1 << (9 - bits))
    return np.unique(np.concatenate([[0.0, 5e-324], far, near, [0.5], 1 - near, [1.0]]))


def cells_of(p: Floats, bits: int) -> Integers:
    """The cell of each probability; a higher one is in a higher cell, or in the same."""
    return np.searchsorted(grid(bits), p, side="right") - 1


def bounds(found: Steps, ties: NDArray[np.bool_], counts: bool) -> tuple[tuple[float, float], tuple[float, float]]:
    """How small and how large the ROC and the PR area may be, whatever the order of the rows in cells that are no ties.

    The ROC area of ties is a half of them; it may be none or all. Of precision the most is had where a cell's rows of
    the class come first and together; the least where they come after the others one by one: Σ (tp + i) / (tp + i + fp)
    over the cell of counts; of weights it is at least ∫ (tp + x) / (tp + x + fp) dx.

    >>> found = Steps(np.array([2.0, 1.0]), np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    >>> bounds(found, np.array([False, False]), True)[0], bounds(found, np.array([True, True]), True)[0]
    ((0.5, 1.0), (0.75, 0.75))
    """
    from scipy.special import digamma

    own, other = found.positive, found.negative
    tp, fp = np.cumsum(own), np.cumsum(other)
    P, N, nothing = float(tp[-1]), float(fp[-1]), (math.nan, math.nan)
    if P <= 0:
        return nothing, nothing
    with np.errstate(divide="ignore", invalid="ignore"):
        precise, first = own * tp / (tp + fp), own * tp / (tp + fp - other)
        steps = digamma(tp + fp + 1.0) - digamma(tp - own + fp + 1.0) if counts else np.log1p(own / (tp - own + fp))
        after = own - np.where(fp > 0, fp * steps, 0.0)
    least, most = (np.where(ties, precise, each) for each in (after, first))
    precision = tuple(math.fsum(np.where(own > 0, each, 0.0).tolist()) / P for each in (least, most))
    if N <= 0:
        return nothing, (precision[0], precision[1])
    won, open_ = own * (N - fp + np.where(ties, other / 2, 0.0)), np.where(ties, 0.0, own * other)
    low = math.fsum(won.tolist()) / P / N
    return (low, low + math.fsum(open_.tolist()) / P / N), (precision[0], precision[1])


def merge_cells(found: Steps, most: int) -> Steps:
    """The same rows in at most so many neighbouring cells of about equal mass."""
    if len(found.positive) <= most:
        return found
    mass = np.cumsum(found.positive + found.negative)
    part = np.minimum((mass / mass[-1] * most).astype(np.int64), most - 1)
    starts = np.append(0, np.flatnonzero(np.diff(part)) + 1)
    return Steps(found.scores[starts], np.add.reduceat(found.positive, starts), np.add.reduceat(found.negative, starts))
