"""The bootstrap over rows: a replicate draws as many rows as there are, with replacement, and measures all at once.

A replicate has a seed of its own, so what it draws depends neither on the threads nor on the replicates beside it.
Rows are not copied: a replicate is how often each row was drawn, and scores are sorted once for all replicates.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from ingenuo.kernels.threads import run, split, width

Floats = NDArray[np.float64]

_GOLDEN = 0x9E3779B97F4A7C15  # the step of SplitMix64: 2^64 over the golden ratio


class Draws(NamedTuple):
    """What each replicate measured: sums over the rows that it drew.

    Attributes
    ----------
    sums : array (replicates, columns)
        Σ w·x of each column of numbers.
    bins : array (replicates, bins)
        Σ w·gap of the rows in each bin.
    classes : array (3, replicates, classes)
        Σ w of the rows of each class that were answered rightly, of those it is true of, of those it was answered for.
    roc, pr : array (replicates, scores)
        The area under each score's ROC curve, and its average precision; NaN where there is nothing to tell apart.
    """

    sums: Floats
    bins: Floats
    classes: Floats
    roc: Floats
    pr: Floats


@njit(cache=True, nogil=True)
def _mixed(state):  # type: ignore[no-untyped-def]
    """SplitMix64's output for a state (Steele, Lea and Flood, 2014)."""
    z = state
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@njit(cache=True, nogil=True)
def _draw(seed, replicate, drawn):  # type: ignore[no-untyped-def]
    """How often each row is drawn in n draws with replacement."""
    n = uint64(drawn.size)
    state = _mixed(seed + uint64(replicate) * uint64(_GOLDEN))
    drawn[:] = 0
    for _ in range(drawn.size):
        state += uint64(_GOLDEN)
        # The upper 32 bits, scaled to 0..n-1: of 2^32 values, n differ by one in how often they come.
        drawn[((_mixed(state) >> uint64(32)) * n) >> uint64(32)] += 1


@njit(cache=True, nogil=True)
def _replicates(  # type: ignore[no-untyped-def]
    seed,
    first,
    last,
    numbers,
    gaps,
    bins,
    codes,
    predicted,
    weights,
    orders,
    ends,
    positives,
    sums,
    binned,
    classes,
    roc,
    pr,
):
    n = codes.size
    drawn = np.empty(n, np.int32)
    for r in range(first, last):
        _draw(seed, r, drawn)
        for i in range(n):
            if drawn[i] == 0:
                continue
            w = drawn[i] * weights[i] if weights.size else float(drawn[i])
            for c in range(numbers.shape[1]):
                sums[r, c] += w * numbers[i, c]
            if gaps.size:
                binned[r, bins[i]] += w * gaps[i]
            k = codes[i]
            classes[1, r, k] += w
            classes[2, r, predicted[i]] += w
            if predicted[i] == k:
                classes[0, r, k] += w
        total = classes[1, r].sum()
        for s in range(orders.shape[0]):
            k = positives[s]
            P = classes[1, r, k]
            N = total - P
            above, below, won, precise = 0.0, 0.0, 0.0, 0.0  # rows of the class, and others, of lower scores
            pos, neg = 0.0, 0.0  # those of this score
            for j in range(n):
                i = orders[s, j]
                if drawn[i]:
                    w = drawn[i] * weights[i] if weights.size else float(drawn[i])
                    if codes[i] == k:
                        pos += w
                    else:
                        neg += w
                if ends[s, j]:
                    if pos > 0:
                        tp = P - above
                        won += pos * (below + neg / 2)
                        precise += pos * tp / (tp + max(N - below, 0.0))
                    above += pos
                    below += neg
                    pos, neg = 0.0, 0.0
            roc[r, s] = won / (P * N) if P > 0 and N > 0 else np.nan
            pr[r, s] = precise / P if P > 0 else np.nan


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
    orders, ends = np.empty((n_scores, n), np.int32), np.empty((n_scores, n), np.bool_)
    for s in range(n_scores):
        orders[s] = np.argsort(scores[s], kind="stable")
        ranked = scores[s][orders[s]]
        ends[s, -1] = True
        ends[s, :-1] = ranked[1:] != ranked[:-1]
    found = Draws(
        np.zeros((n_replicates, numbers.shape[1])),
        np.zeros((n_replicates, n_bins)),
        np.zeros((3, n_replicates, n_classes)),
        np.empty((n_replicates, n_scores)),
        np.empty((n_replicates, n_scores)),
    )
    given: tuple[Any, ...] = (
        np.ascontiguousarray(numbers),
        gaps,
        bins,
        codes,
        predicted,
        np.zeros(0) if weights is None else weights,
        orders,
        ends,
        positives,
    )
    # A few ranges for each thread, for other work may slow one of them down.
    parts = split(n_replicates, 4 * width())
    run([partial(_replicates, np.uint64(seed), first, last, *given, *found) for first, last in parts])
    return found
