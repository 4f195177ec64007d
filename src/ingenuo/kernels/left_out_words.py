"""What is left of each word's count in a document's class when the document is taken out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels.codes import readable

Array = NDArray[Any]


class Entries(NamedTuple):
    """The words of each document, once each."""

    rows: Array
    counts: Array  # how often the document has the word; 0 where no other document has it
    rest: Array  # what is left of it in the document's class
    tokens: Array  # of each document: how many words,
    gone: Array  # how many of them are its own,
    gone_words: Array  # and how many different ones those are


@njit(cache=True, nogil=True)
def _left(  # type: ignore[no-untyped-def]
    rows, nodes, counts, labels, weights, starts, codes, values, totals, slack, fixed, kept, rest, tokens, gone, words
):
    for e in range(len(rows)):
        row, node, x = rows[e], nodes[e], counts[e]
        own = 0.0
        for cell in range(starts[node], starts[node + 1]):
            if codes[cell] == labels[row]:
                own = values[cell]
                break
        taken = weights[row] * x
        tokens[row] += x
        if not fixed and totals[node] - taken <= slack * totals[node]:
            gone[row] += x
            words[row] += 1
            kept[e] = 0.0
        else:
            kept[e] = x
        rest[e] = max(own - taken, 0.0)


@njit(cache=True, nogil=True)
def _own(rows, counts, rest, alpha, out):  # type: ignore[no-untyped-def]
    for e in range(len(rows)):
        if counts[e] > 0:
            out[rows[e]] += counts[e] * math.log(rest[e] + alpha)


def left(
    rows: Array, nodes: Array, counts: Array, labels: Array, weights: Array, starts: Array, codes: Array, values: Array,
    totals: Array, slack: float, fixed: bool,
) -> Entries:  # fmt: skip
    """What leaving each document out leaves of its words; with `fixed`, no word is ever gone."""
    n = len(labels)
    kept, rest = np.empty(len(rows)), np.empty(len(rows))
    tokens, gone, words = np.zeros(n), np.zeros(n), np.zeros(n)
    given = (rows, nodes, counts, labels, weights, starts, codes, values.astype(np.float64), totals.astype(np.float64))
    _left(*(readable(each) for each in given), slack, fixed, kept, rest, tokens, gone, words)
    return Entries(rows, kept, rest, tokens, gone, words)


def own(entries: Entries, alpha: float, n_rows: int) -> Array:
    """Σ x_j log(rest_j + α) of each document, over the words that others have too."""
    out = np.zeros(n_rows)
    _own(readable(entries.rows), entries.counts, entries.rest, alpha, out)
    return out
