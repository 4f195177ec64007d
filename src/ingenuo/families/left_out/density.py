"""Densities from histograms: for each value that differs, the histogram without it, estimated anew.

Exact, and as slow as that sounds: which width, bandwidth or density is best is asked again without each value. Rows of
one class and one value share the answer.
"""

from __future__ import annotations

import numpy as np

from ingenuo.bins import bins_name
from ingenuo.chunk import Chunk, Numbers
from ingenuo.families.density import Density
from ingenuo.families.family import Floats
from ingenuo.families.left_out.gaussian import restricted
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Tally


def scores(
    family: Density, tally: Tally, prior: Prior, schema: Schema, classes: Labels, chunk: Chunk, block: Numbers, *,
    apart: bool,
) -> Floats:  # fmt: skip
    """Log densities without the row itself: of all columns together, or apart (1 or columns × rows × classes)."""
    out = np.zeros((len(block.names) if apart else 1, block.n_rows, len(classes)))
    matrix = np.vstack(
        [block.rows(lo, min(lo + block.step, block.n_rows)) for lo in range(0, block.n_rows, block.step)]
    )
    weights = np.ones(block.n_rows) if chunk.weights is None else chunk.weights
    rows = tally.over("class", classes).floats()
    for j in range(len(block.names)):
        names = block.names[j : j + 1]
        name = bins_name(names[0])
        bins = tally.bins(name)
        if bins is None:
            continue
        whole = Tally({"class": tally["class"], name: bins})
        if family.kind == "auto":
            whole = whole + restricted(tally, names, classes) - Tally({"class": tally["class"]})
        ends = {int(bins.places[0]), int(bins.places[-1])}
        single = Numbers(names, block.n_rows, matrix[:, j : j + 1])
        there = np.flatnonzero(~np.isnan(matrix[:, j]))
        keys = np.column_stack([chunk.coded[there], matrix[there, j], weights[there]])
        _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        for cell, place in enumerate(first.tolist()):
            row = int(there[place])
            part = Chunk(block.n_rows, {"": single}, chunk.labels, chunk.classes, chunk.weights).part(row, row + 1)
            mine = part.blocks[""]
            assert isinstance(mine, Numbers)
            counted = family.tally(part, mine)
            own = counted.bins(name)
            at_end = own is not None and bool(
                ends & set((own.coarsened(max(own.exponent, bins.exponent)).places).tolist())
            )
            if at_end:  # without it the bins may be narrower: count the others again
                others = np.delete(there, place)
                rest = Chunk(
                    len(others),
                    {},
                    chunk.coded[others],
                    chunk.classes,
                    None if chunk.weights is None else weights[others],
                )
                left = Tally({"class": tally["class"]})
                if len(others):
                    left = left + family.tally(rest, single.take(others))
            else:
                left = whole - counted
            y = int(chunk.coded[row])
            known = np.arange(len(classes)) != y if rows[y] <= weights[row] else np.ones(len(classes), np.bool_)
            parameters = family.estimate(left, prior, schema, names, classes[known])
            found = np.zeros((1, int(known.sum())))
            family.log_likelihood(parameters, mine, found)
            out[np.ix_(np.array([j if apart else 0]), there[same.ravel() == cell], known)] += found
    return out
