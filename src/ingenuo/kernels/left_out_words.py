"""What is left of each word's count in a document's class when the document is taken out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import F64, I32, I64, INT, REAL, function
from ingenuo.kernels.portable import log

Array = NDArray[Any]

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
