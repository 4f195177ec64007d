"""The long way, which is right for every family: the tally less the row, estimated anew for each row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Block, Chunk
from ingenuo.exact import Exact
from ingenuo.families.family import Family, Floats
from ingenuo.labels import Labels, find
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Table, Tally


def one_by_one(
    family: Family, tally: Tally, prior: Prior, schema: Schema, block: Block, classes: Labels, chunk: Chunk,
    rows: NDArray[Any],
) -> Floats:  # fmt: skip
    """The log likelihood of these rows, each by the tally without it (rows × classes)."""
    found = np.zeros((len(rows), len(classes)))
    for at, row in enumerate(np.asarray(rows).tolist()):
        part = replace(chunk, blocks={"": block}).part(row, row + 1)
        single = part.blocks[""]
        rest = tally - _counted(family, part, single)
        left = rest.labels("class", 0)
        parameters = family.estimate(rest, prior, schema, block.names, left)
        out = np.zeros((1, len(left)))
        family.log_likelihood(parameters, single, out)
        places = find(left, classes)
        found[at, places >= 0] = out[0, places[places >= 0]]
    return found


def _counted(family: Family, part: Chunk, block: Block) -> Tally:
    weight = Exact.of(np.ones(1) if part.weights is None else part.weights)
    mine = Table.of({"class": part.classes[part.coded]}, weight)
    return Tally({"class": mine}) + family.tally(part, block)
