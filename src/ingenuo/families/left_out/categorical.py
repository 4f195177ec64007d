"""Categories: a value's own count goes down by one; a value that only this row had was never seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk, Codes
from ingenuo.families.categorical import Categorical, ColumnParameters, column_codes, labelled
from ingenuo.families.family import Floats, logs
from ingenuo.kernels import codes as loops
from ingenuo.labels import Labels, find, unite
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Tally

Places = NDArray[np.intp]


def scores(
    family: Categorical, tally: Tally, prior: Prior, schema: Schema, classes: Labels, chunk: Chunk, block: Codes, *,
    apart: bool,
) -> Floats:  # fmt: skip
    """Log frequencies without the row itself: of all columns together, or apart (1 or columns × rows × classes)."""
    parameters = family.estimate(tally, prior, schema, block.names, classes)
    block = labelled(block)
    assert block.labels is not None
    out = np.zeros((len(block.names) if apart else 1, block.n_rows, len(classes)))
    y, K = chunk.coded.astype(np.int64), len(classes)
    for j, (name, table) in enumerate(zip(block.names.tolist(), parameters.tables)):
        declared = find(unite(schema.known(name), prior.known(table.labels, name)), table.labels) >= 0
        codes = column_codes(block, j)
        places = np.append(find(table.labels, block.labels[j]), -1)[codes]  # a code of -1 is the last: missing
        into = out[j if apart else 0]
        if chunk.weights is None:  # then all rows of one class and value are given the same
            cells = np.arange(len(table.labels) * K)
            found = _left_out(table, declared, cells // K, cells % K, np.ones(len(cells)))
            loops.add_log_likelihood_columns([np.where(places >= 0, places * K + y, -1)], [found], into)
        else:
            there = np.flatnonzero(places >= 0)
            into[there] += _left_out(table, declared, places[there], y[there], chunk.weights[there])
    return out


def _left_out(table: ColumnParameters, declared: NDArray[np.bool_], at: Places, y: Places, w: Floats) -> Floats:
    """log (count - w + a) / (N - w + Σ a) of value `at` in class y, and in the other classes without w."""
    counts, a = table.counts, table.pseudo
    every, totals = counts.sum(axis=0), counts.sum(axis=1)
    found = logs(table.thetas).T[at]
    above = np.maximum(counts[y, at] - w, 0) + a[at]
    below = totals[y] - w + a.sum()
    alone = ~(below > 0)
    rows = np.arange(len(y))
    found[rows, y] = logs(above) - np.log(np.where(alone, 1, below))
    empty = totals + a.sum() == 0  # such classes have the frequencies of the whole column
    if empty.any() or alone.any():
        left = np.maximum(every.sum() - w, np.finfo(float).tiny)
        whole = logs(np.maximum(every[at] - w, 0) / left)
        found = np.where(empty, whole[:, np.newaxis], found)
        found[rows[alone], y[alone]] = whole[alone]
    found[(every[at] <= w) & ~declared[at]] = 0  # a value that no other row has was never seen
    return found
