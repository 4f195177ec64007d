"""The bootstrap over rows: a replicate draws as many rows as there are, with replacement, and measures all at once.

A replicate has a seed of its own, so what it draws depends neither on the threads nor on the replicates beside it.
Rows are not copied: a replicate is how often each row was drawn, and scores are sorted once for all replicates.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import BYTES, F64, I32, INT, function
from ingenuo.kernels.threads import run, split, width

Floats = NDArray[np.float64]

_bootstrap = function(
    "bootstrap", *[INT] * 5, F64, INT, F64, BYTES, INT, INT, I32, I32, INT, F64, INT, I32, BYTES, INT, I32,
    *[F64] * 5, I32, F64,
)  # fmt: skip
_TOGETHER = 8  # replicates that are measured together


class Draws(NamedTuple):
    """What each replicate measured: sums over the rows that it drew.

    Attributes
    ----------
    sums : array (replicates, columns)
        Σ w·x of each column of numbers.
    bins : array (replicates, bins)
        Σ w·gap of the rows in each bin.
    classes : array (3, replicates, classes)
        Σ w of the rows of each class that were predicted correctly, that it is true of, and that it was answered for.
    roc, pr : array (replicates, scores)
        The area under each score's ROC curve, and its average precision; NaN where there is nothing to tell apart.
    """

    sums: Floats
    bins: Floats
    classes: Floats
    roc: Floats
    pr: Floats


def replicates(
    n_replicates: int,
    seed: int,
    numbers: Floats,
    gaps: Floats,
    bins: NDArray[np.int8],
    n_bins: int,
    codes: NDArray[np.int32],
    predicted: NDArray[np.int32],
    n_classes: int,
    weights: Floats | None,
    scores: Floats,
    positives: NDArray[np.int32],
) -> Draws:
    """Draw the rows again and again, and measure each time.

    Parameters
    ----------
    n_replicates, seed : int
        How often, and where the random numbers begin (64 bits).
    numbers : array (rows, columns)
        What is summed, such as each row's loss.
    gaps, bins, n_bins : arrays, int
        What is summed by bins, each row's bin, and how many there are; empty arrays: nothing.
    codes, predicted, n_classes : int32 arrays, int
        The class that is true of each row, the one that was answered, and how many there are.
    weights : array, optional
        How much each row counts.
    scores : array (scores, rows)
        By which rows are ranked, for the areas.
    positives : int32 array
        The class that each score is of.
    """
    n, n_scores = len(codes), len(scores)
    orders, marks = np.empty((n_scores, n), np.int32), np.empty((n_scores, n), np.uint8)
    for s in range(n_scores):
        orders[s] = np.argsort(scores[s], kind="stable")
        ranked = scores[s][orders[s]]
        last = np.append(ranked[1:] != ranked[:-1], True)[:n]
        marks[s] = last + 2 * (codes[orders[s]] == positives[s])  # the last of its score; of the class
    found = Draws(
        np.zeros((n_replicates, numbers.shape[1])),
        np.zeros((n_replicates, n_bins)),
        np.zeros((3, n_replicates, n_classes)),
        np.empty((n_replicates, n_scores)),
        np.empty((n_replicates, n_scores)),
    )
    own = np.zeros(0) if weights is None else weights
    given: tuple[Any, ...] = (
        n_replicates, n, np.ascontiguousarray(numbers), numbers.shape[1], gaps, bins, len(gaps), n_bins, codes,
        predicted, n_classes, own, weights is not None, orders, marks, n_scores, positives,
    )  # fmt: skip

    def work(first: int, last: int) -> None:
        drawn = np.empty((2, n, _TOGETHER), np.int32)
        sums = np.empty((numbers.shape[1] + n_bins + 3 * n_classes + 3, _TOGETHER))
        _bootstrap(seed, first, last, *given, *found, drawn, sums)

    # A few ranges for each thread, for other work may slow one of them down.
    groups = split(-(-n_replicates // _TOGETHER), 4 * width())
    run([partial(work, _TOGETHER * a, min(_TOGETHER * b, n_replicates)) for a, b in groups])
    return found
