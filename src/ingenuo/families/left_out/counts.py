"""Counts: what a row counts is taken from its own class; which columns there are does not depend on rows."""

from __future__ import annotations

import numpy as np

from ingenuo.chunk import Chunk, Counts
from ingenuo.families.family import Floats, logs
from ingenuo.families.multinomial import Multinomial
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Tally


def quick(prior: Prior, columns: Labels) -> bool:
    """Whether every column has imaginary counts, so that no class can be left without any."""
    return bool((prior.pseudo_counts(columns) > 0).all())


def scores(
    family: Multinomial, tally: Tally, prior: Prior, schema: Schema, classes: Labels, chunk: Chunk, block: Counts
) -> Floats:
    """The log likelihood of every row without itself (1 × rows × classes): all the columns are one bag."""
    from scipy import sparse

    p = family.estimate(tally, prior, schema, block.names, classes)
    out = np.zeros((1, block.n_rows, len(classes)))
    family.log_likelihood(p, block, out[0])
    matrix = sparse.coo_matrix(block.matrix)
    y, w = chunk.coded, np.ones(block.n_rows) if chunk.weights is None else chunk.weights
    counts = p.counts.floats()
    x = matrix.data.astype(np.float64)
    rows, columns = matrix.row, matrix.col
    rest = np.maximum(counts[y[rows], columns] - w[rows] * x, 0) + p.pseudo[columns]
    sizes = np.bincount(rows, x, block.n_rows)
    below = np.maximum(counts.sum(axis=1)[y] - w * sizes, 0) + p.pseudo.sum()
    own = np.bincount(rows, x * logs(rest), block.n_rows) - sizes * np.log(below)
    out[0, np.arange(len(y)), y] = own
    return out
