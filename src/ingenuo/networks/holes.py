"""Holes filled for a search: scores of structures are compared on the same rows, so every row must be whole.

First each hole is filled by chance, as often as the column has each state: that adds no dependence. Once there is a
structure, holes are filled again, by what that network says of them given the rest of their rows, and the search goes
on (the sampled form of Friedman's structural EM).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ingenuo.families.categorical import frequencies
from ingenuo.kernels import densities
from ingenuo.kernels.elimination import Flat
from ingenuo.networks.graph import Parents
from ingenuo.networks.inference.rows import log_joint
from ingenuo.networks.learning import configurations
from ingenuo.networks.structure import Sample

Floats = NDArray[np.float64]


def filled(sample: Sample, rng: np.random.Generator, parents: Parents | None = None) -> Sample:
    """The sample with every hole filled: by the column's own frequencies, or by a network of these arcs."""
    codes = sample.codes.copy()
    flat = None if parents is None else Flat.of(parents, _tables(sample, parents))
    for node, column in enumerate(sample.codes):
        holes = np.flatnonzero(column < 0)
        if not len(holes):
            continue
        if flat is None:
            shares = np.bincount(column[column >= 0], minlength=sample.cards[node]) + 1e-12
            codes[node, holes] = rng.choice(sample.cards[node], len(holes), p=shares / shares.sum())
        else:
            beliefs = log_joint(flat, np.ascontiguousarray(sample.codes[:, holes].T), node)
            densities.posterior(beliefs)
            steps = np.cumsum(beliefs, axis=1)
            drawn = (steps < rng.random((len(holes), 1)) * steps[:, -1:]).sum(axis=1)
            codes[node, holes] = np.minimum(drawn, sample.cards[node] - 1)
    return Sample(codes, sample.cards, sample.weights)


def _tables(sample: Sample, parents: Parents) -> list[Floats]:
    """Tables from the rows that are whole where it matters, smoothed so that nothing is impossible."""
    tables = []
    for node, above in enumerate(parents):
        shape = [sample.cards[up] for up in above]
        size = sample.cards[node]
        where = configurations([sample.codes[up] for up in above], shape, sample.n_rows)
        cells = where * size + sample.codes[node]
        known = (where >= 0) & (sample.codes[node] >= 0)
        weights = None if sample.weights is None else sample.weights[known]
        counts = np.bincount(cells[known], weights, int(np.prod(shape, dtype=np.int64)) * size).reshape(-1, size)
        tables.append(frequencies(counts.astype(np.float64), np.full(size, 0.5)).reshape(*shape, size))
    return tables
