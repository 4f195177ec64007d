"""The log density of each row under Gaussians that have not learned it.

Sums are pairs of doubles (hi + lo, about 32 digits) about a centre c near the mean, so that what leaving a value out
takes from a sum leaves as many digits as a second count of the other rows would:

    S' = S - w d,   Q' = Q - w d²,   d = x - c;        μ' = c + S'/n',   n' σ'² = Q' - S'²/n'
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.densities import over_rows
from ingenuo.kernels.moments import Rows
from ingenuo.kernels.native import BYTES, F64, I32, I64, INT, REAL, function
from ingenuo.kernels.portable import log

Floats = NDArray[np.float64]

_left_out = function("left_out", F64, *[INT] * 5, I32, F64, INT, *[F64] * 8, I64, REAL, INT, INT, F64, BYTES)

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
# How a class's variance comes about.
OWN, FLOOR, COLUMN, NOTHING = 0, 1, 2, 3


class Sums(NamedTuple):
    """Of each class and column: the centre, the weight, Σ w(x - c) and Σ w(x - c)² as pairs (classes × columns × 2)."""

    centres: Floats
    counts: Floats
    first: Floats
    second: Floats


class Others(NamedTuple):
    """The Gaussians of all rows, and whether they would change with another row left out."""

    means: Floats  # (classes, columns)
    inverse: Floats  # 1/σ
    constants: Floats  # -log σ - ½ log 2π
    variances: Floats  # before a floor was set
    state: NDArray[np.int64]  # OWN, FLOOR, COLUMN or NOTHING


def left_out(
    table: Rows, codes: NDArray[np.int32], weights: Floats | None, sums: Sums, others: Others, floor: float,
    unbiased: bool, out: Floats,
) -> NDArray[np.bool_]:  # fmt: skip
    """Add the log density of each row, by Gaussians that have not learned it, to out (1 or columns × rows × classes).

    In `sums` and `others.variances`, a row more than there are classes is of the whole columns. Returns the cells
    (rows × columns) whose log densities cannot be trusted.
    """
    n, d = table.shape
    assert out.shape[0] in (1, d)
    assert out.shape[1:] == (n, len(others.means))
    doubtful = np.zeros((n, d), np.bool_)
    given = np.zeros(0) if weights is None else weights
    n_classes = len(others.means)

    def work(lo: int, hi: int) -> None:
        for start in range(lo, hi, table.step):
            stop = min(start + table.step, hi)
            _left_out(
                table.rows(start, stop), stop - start, d, start, n, n_classes, codes, given, weights is not None, *sums,
                *others, floor, unbiased, out.shape[0] == d, out, doubtful,
            )  # fmt: skip

    over_rows(work, n)
    return doubtful


Array = NDArray[Any]


# What is left of each word's count in a document's class when the document is taken out.


_leave_out = function("leave_words_out", *(I32,) * 3, INT, I32, F64, I64, I32, F64, F64, REAL, INT, *(F64,) * 5)


class Entries(NamedTuple):
    """The words of each document, once each."""

    rows: Array
    counts: Array  # how often the document has the word; 0 where no other document has it
    rest: Array  # what is left of it in the document's class
    tokens: Array  # of each document: how many words,
    gone: Array  # how many of them are its own,
    gone_words: Array  # and how many different ones those are


def left(
    rows: Array, nodes: Array, counts: Array, labels: Array, weights: Array, starts: Array, codes: Array, values: Array,
    totals: Array, slack: float, fixed: bool,
) -> Entries:  # fmt: skip
    """What leaving each document out leaves of its words; with `fixed`, no word is ever gone."""
    n = len(labels)
    kept, rest = np.empty(len(rows)), np.empty(len(rows))
    tokens, gone, words = np.zeros(n), np.zeros(n), np.zeros(n)
    entries = [np.ascontiguousarray(each, np.int32) for each in (rows, nodes, counts)]
    sums = [np.ascontiguousarray(each, np.float64) for each in (values, totals)]
    _leave_out(
        *entries, len(rows), labels, weights, starts, codes, *sums, slack, fixed, kept, rest, tokens, gone, words
    )
    return Entries(rows, kept, rest, tokens, gone, words)


def own(entries: Entries, alpha: float, n_rows: int) -> Array:
    """Σ x_j log(rest_j + α) of each document, over the words that others have too."""
    return np.bincount(entries.rows, entries.counts * log(entries.rest + alpha), n_rows)
