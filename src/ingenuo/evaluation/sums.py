"""What is counted of answers, part by part, so that sums travel and not rows: the statistic `count_answers`.

Every sum is exact, and its size depends on the classes alone: rows by kind, Σw and Σw²; confusion and squares (Σw and
Σw² by truth and answer); known and unseen classes; the losses l (Σwl, Σw²l, Σw²l²); the answers' and each class's
probabilities in ten bins (`forecast_sums`); and curves/bits, Σw by class, cell of its probability (`grid`) and truth.
Rows whose probability is 0 are left out of forecasts and curves, and are put back from the confusion matrix when read.
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
    n, k, w, p = len(rows), len(rows.classes), rows.weights, rows.probabilities
    if n == 0:
        return Tally()
    known, foreign = known_of(rows, known)
    per_class = np.bincount(rows.codes, minlength=k)
    heads = {"judged": n, "probable": n * (p is not None), "weighted": 0 if w is None else int((w != 1).sum())}
    places = rows.codes.astype(np.int64) * k + rows.predicted
    both = {"true": rows.classes, "answered": rows.classes}
    tables = {
        "rows": Table.of({"what": list(heads)}, list(heads.values())),
        "weights": Table.of({"power": [1, 2]}, Exact.counts(np.full(2, n)) if w is None else _sum_rows([w, w * w])),
        "confusion": Table.of(both, sum_by_cell(w, places, (k, k))),
        "unseen": Table.of({"class": rows.classes}, Exact.counts(np.where(foreign, per_class, 0))),
    }
    if known is not None:
        tables["known"] = Table.of({"class": known}, Exact.counts(np.full(len(known), n)))
    if not kept:
        tables["squares"] = Table.of(both, sum_by_cell(None if w is None else w * w, places, (k, k)))
    if p is not None:
        one = np.ones(1) if w is None else w
        losses = [one * loss for loss in row_measures(rows).numbers.T[::-1]]  # in the order of `LOSSES`
        powers = _sum_rows([each for loss in losses for each in (loss, one * loss, loss * loss)])
        powers = Exact(powers.limbs.reshape(-1, 2, 3), powers.low)
        answers = forecast_sums(p[np.arange(n), rows.predicted], rows.codes == rows.predicted, w)
        tables["losses"] = Table.of({"loss": LOSSES, "sum": [0, 1, 2]}, powers)
        tables["answers"] = Table.of({"bin": np.arange(BINS), "sum": SUMS}, answers)
        tables |= {} if kept else _sums_of_classes(rows, p, np.flatnonzero(~foreign))
    return Tally(tables)


def _sums_of_classes(rows: Predictions, p: Floats, places: NDArray[np.intp]) -> dict[str, Table]:
    """Forecasts and curves of the classes that the model knows."""
    forecasts, curves, bits = [], [], bits_of(len(places))
    cells = np.arange(len(grid(bits)))
    for k in places.tolist():
        there = np.flatnonzero(p[:, k])
        own, event = p[there, k], rows.codes[there] == k
        weights = None if rows.weights is None else rows.weights[there]
        forecasts.append(forecast_sums(own, event, weights))
        curves.append(sum_by_cell(weights, 2 * cells_of(own, bits) + ~event, (len(cells), 2)))
    classes = rows.classes[places]
    binned: dict[str, Any] = {"class": classes, "bin": np.arange(BINS), "sum": SUMS}
    ranked: dict[str, Any] = {"class": classes, "cell": cells, "row": [OF_IT, OTHER]}
    return {
        "forecasts": Table.of(binned, join_sums(forecasts, 0)),
        f"{CURVES}{bits}": Table.of(ranked, join_sums(curves, 0)),
    }


def sum_by_cell(values: Floats | None, cells: Integers, shape: tuple[int, ...]) -> Exact:
    """The exact sum of the values that fall on each cell; without values, how many do."""
    if values is None:
        return Exact.counts(np.bincount(cells, minlength=math.prod(shape)).reshape(shape))
    found = weights_by_cell(np.ascontiguousarray(values), cells, math.prod(shape))
    return Exact(found.limbs.reshape(found.limbs.shape[0], *shape), found.low)


def _sum_rows(columns: list[Floats]) -> Exact:
    """The exact sum of each column."""
    return sum_by_cell(np.concatenate(columns), np.repeat(np.arange(len(columns)), len(columns[0])), (len(columns),))


def join_sums(parts: list[Exact], axis: int) -> Exact:
    """Exact sums side by side on a new axis."""
    there = [part for part in parts if part.limbs.shape[0]]
    low = min((part.low for part in there), default=0)
    high = max((part.low + part.limbs.shape[0] for part in there), default=0)
    limbs = np.zeros((high - low, len(parts), *parts[0].shape), np.int64)
    for place, part in enumerate(parts):
        limbs[part.low - low : part.low - low + part.limbs.shape[0], place] = part.limbs
    return Exact.canonical(np.ascontiguousarray(np.moveaxis(limbs, 1, axis + 1)), low)


def forecast_sums(
    forecast: Floats,
    event: NDArray[np.bool_],
    weights: Floats | None,
    groups: NDArray[Any] | None = None,
    n_groups: int = 1,
    edges: Floats | None = None,
) -> Exact:
    """The sums of forecasts p of events e by group (if any), bin and `SUMS`: Σwp, Σwpe, rows, Σwp², Σwe and Σw.

    They are enough for shares, the calibration error and the Brier score; bins are ten, or those that the edges make.
    """
    bins = bins_of(forecast) if edges is None else np.searchsorted(edges[1:-1], forecast, side="left")
    many = BINS if edges is None else len(edges) - 1
    cells = bins.astype(np.int64) + (0 if groups is None else groups.astype(np.int64) * many)
    shape = (many,) if groups is None else (n_groups, many)
    p = np.rint(forecast * _GRAIN) / _GRAIN
    weighted = p if weights is None else weights * p
    hit = cells[event]
    found = {
        "p": sum_by_cell(weighted, cells, shape),
        "product": sum_by_cell(weighted[event], hit, shape),
        "rows": sum_by_cell(None, cells, shape),
        "square": sum_by_cell(weighted * p, cells, shape),
        "true": sum_by_cell(None if weights is None else weights[event], hit, shape),
    }
    found["weight"] = found["rows"] if weights is None else sum_by_cell(weights, cells, shape)
    return join_sums(list(found.values()), len(shape))


def column(sums: NDArray[Any], name: str) -> NDArray[Any]:
    """One of the sums, which stand on the last axis."""
    return np.asarray(sums[..., int(find(SUMS, objects([name]))[0])])


def with_certain_rows(sums: NDArray[Any], rows: Any, weight: Any, true: Any) -> NDArray[Any]:
    """Sums (bins, sums) with the rows that are not there, for they gave the class a probability of 0."""
    for name, whole in {"rows": rows, "weight": weight, "true": true}.items():
        place = int(find(SUMS, objects([name]))[0])
        sums[0, place] += whole - sums[:, place].sum()
    return sums


# A fixed grid of probabilities, so that rows can be ranked by counts: of each class and cell, how many rows.


def bits_of(n_classes: int) -> int:
    """How fine the grid of a model with so many classes is: 9 for 2, 3 for 1,000; classes × cells are kept."""
    return max(3, 9 - max(0, math.ceil(math.log2(max(n_classes, 1) / 16))))


@lru_cache(maxsize=16)
def grid(bits: int) -> Floats:
    """Where the cells begin, ascending from 0 to 1; the first holds 0 and the last 1 alone.

    Each octave of p below ½, and of 1 - p, has its own cells, down to 2^-53; below, where p alone goes on, an octave is
    a cell: 4,226 cells of 9 bits.
    """
    depths = np.arange(1, 54)
    cells = 1 << np.maximum(bits + 1 - depths, np.where(depths <= 16, max(bits - 4, 0), max(bits - 6, 0)))
    near = np.concatenate([2.0 ** -(d + 1.0) * (1 + np.arange(m) / m) for d, m in zip(depths, cells)])
    far = 2.0 ** -np.arange(55.0, 1022, 1 << (9 - bits))
    return np.unique(np.concatenate([[0.0, 5e-324], far, near, [0.5], 1 - near, [1.0]]))


def cells_of(p: Floats, bits: int) -> Integers:
    """The cell of each probability; a higher one is in a higher cell, or in the same."""
    return np.searchsorted(grid(bits), p, side="right") - 1


def bounds(found: Steps, ties: NDArray[np.bool_], counts: bool) -> list[tuple[float, float]]:
    """The least and the greatest ROC and PR area, whatever the order of the rows in cells that are no ties.

    The most is where a cell's rows of the class come first; the least where they come after the others, one by one:
    Σ (tp + i) / (tp + i + fp) over the cell of counts; of weights it is at least ∫ (tp + x) / (tp + x + fp) dx.
    """
    from scipy.special import digamma

    own, other = found.positive, found.negative
    tp, fp = np.cumsum(own), np.cumsum(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        tied = own * tp / (tp + fp)
        lost = digamma(tp + fp + 1) - digamma(tp - own + fp + 1) if counts else np.log1p(own / (tp - own + fp))
        least = own - np.where(fp > 0, fp * lost, 0.0)
        precise = (np.where(ties, tied, each) for each in (least, own * tp / (tp + fp - other)))
        won = (own * (fp[-1] - fp + np.where(ties, other / 2, each)) for each in (0.0, other))
        return [(w.sum() / tp[-1] / fp[-1], np.nansum(p) / tp[-1]) for w, p in zip(won, precise)]
