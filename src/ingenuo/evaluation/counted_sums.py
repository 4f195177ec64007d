"""What is counted of answers, part by part, so that sums travel and not rows: the round `counted`.

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
and what the confusion matrix has more is put back when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ingenuo.estimators import streams
from ingenuo.evaluation.forecast_sums import SUMS, forecast_sums, joined, summed
from ingenuo.evaluation.grid import bits_of, cells, cells_of
from ingenuo.evaluation.measures import BINS, row_measures
from ingenuo.evaluation.predictions import Predictions, predictions_of
from ingenuo.exact import Exact
from ingenuo.labels import Labels, encode, objects
from ingenuo.tally import Table, Tally

Floats = NDArray[np.float64]

CURVES = "curves/"
LOSSES = objects(["brier", "log_loss"])
OF_IT, OTHER = "of it", "other"


def counted(model: Any, rows: pa.Table, options: Mapping[str, Any]) -> Tally:
    """The sums of a classifier's answers to some rows, of which `options` name the target and the weight."""
    weight = options["weight"]
    if weight is not None:  # a part whose every weight is 0 has nothing to say, and nothing wrong
        weights = rows.column(weight).to_numpy(zero_copy_only=False)
        if weights.dtype.kind in "fiub" and not weights.any():
            return Tally()
    rows, given = streams.weighed(rows, weight)
    answers = predictions_of(model, rows, options["target"], options.get("classes"), given)
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


def sums_of(rows: Predictions, known: Labels | None = None) -> Tally:
    """The sums of some answers; rows of weight 0 are not judged."""
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
    tables = {
        "rows": Table.of({"what": list(heads)}, list(heads.values())),
        "weights": Table.of({"power": [1, 2]}, _flat(joined(weights, 0))),
        "confusion": Table.of({"true": rows.classes, "answered": rows.classes}, summed(w, places, (k, k))),
        "squares": Table.of(
            {"true": rows.classes, "answered": rows.classes}, summed(None if w is None else w * w, places, (k, k))
        ),
        "unseen": Table.of({"class": rows.classes}, Exact.counts(np.where(foreign, per_class, 0))),
    }
    if known is not None:
        tables["known"] = Table.of({"class": known}, Exact.counts(np.full(len(known), n)))
    if rows.probabilities is not None:
        tables |= _of_probabilities(rows, ~foreign)
    return Tally(tables)


def _flat(sums: Exact) -> Exact:
    """Without the last axis, which has one place."""
    return Exact(sums.limbs[..., 0], sums.low)


def _of_probabilities(rows: Predictions, known: NDArray[np.bool_]) -> dict[str, Table]:
    p, w, n = rows.probabilities, rows.weights, len(rows)
    assert p is not None
    numbers = row_measures(rows).numbers
    one, powers = np.zeros(n, np.int64), []
    for loss in (numbers[:, 1], numbers[:, 0]):  # in the order of `LOSSES`
        weighed = loss if w is None else w * loss
        first, square = (summed(each, one, (1,)) for each in (weighed, weighed * weighed))
        powers.append(joined([first, first if w is None else summed(w * weighed, one, (1,)), square], 0))
    right = rows.codes == rows.predicted
    sure = forecast_sums(p[np.arange(n), rows.predicted], right, w)
    forecasts, curves = [], []
    places = np.flatnonzero(known)
    bits = bits_of(len(places))
    grid = cells(bits)
    middle = int(np.searchsorted(grid, 0))  # there is no cell 0
    for k in places.tolist():
        own, event, weights = np.ascontiguousarray(p[:, k]), rows.codes == k, w
        if not own.all():
            there = np.flatnonzero(own)
            own, event, weights = own[there], event[there], None if w is None else w[there]
        forecasts.append(forecast_sums(own, event, weights))
        at = cells_of(own, bits)
        at += middle - (at > 0)
        curves.append(summed(weights, 2 * at + ~event, (len(grid), 2)))
    forecast = joined(forecasts, 0)
    forecast = Exact(forecast.limbs[:, :, 0], forecast.low)
    bins = np.arange(BINS)
    return {
        "losses": Table.of({"loss": LOSSES, "sum": [0, 1, 2]}, _flat(joined(powers, 0))),
        "answers": Table.of({"bin": bins, "sum": SUMS}, Exact(sure.limbs[:, 0], sure.low)),
        "forecasts": Table.of({"class": rows.classes[places], "bin": bins, "sum": SUMS}, forecast),
        f"{CURVES}{bits}": Table.of(
            {"class": rows.classes[places], "cell": grid, "row": [OF_IT, OTHER]}, joined(curves, 0)
        ),
    }
