"""Which way a family's rows are left out one by one: the quick one where there is one, else the long one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ingenuo.chunk import Block, Chunk, Codes, Counts, Numbers, Texts
from ingenuo.families import FAMILY
from ingenuo.families.categorical import Categorical
from ingenuo.families.density import Density
from ingenuo.families.family import Floats
from ingenuo.families.gaussian import Gaussian
from ingenuo.families.left_out import categorical, counts, density, gaussian
from ingenuo.families.left_out.by_row import one_by_one
from ingenuo.families.left_out.words import LeftOutText, quick
from ingenuo.families.multinomial import Multinomial
from ingenuo.families.words import TextFamily
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Tally


def is_quick(name: str, prior: Prior, schema: Schema, columns: Labels) -> bool:
    """Whether leaving out each row of such columns costs about as much as one answer."""
    family = FAMILY[name]
    if isinstance(family, TextFamily):
        return all(quick(family, schema.texts[column], prior) for column in columns.tolist())
    if type(family) is Multinomial:
        return counts.quick(prior, columns)
    return isinstance(family, Gaussian | Categorical)


def left_out(
    name: str, tally: Tally, prior: Prior, schema: Schema, classes: Labels, chunk: Chunk, block: Block
) -> Iterator[Floats]:
    """The log likelihood of every row by the tally without it; parts of it (rows × classes), to be added up."""
    family = FAMILY[name]
    if isinstance(family, Gaussian) and isinstance(block, Numbers):
        yield from gaussian.scores(family, tally, prior, schema, classes, chunk, block, apart=False)
    elif isinstance(family, Categorical) and isinstance(block, Codes):
        yield from categorical.scores(family, tally, prior, schema, classes, chunk, block, apart=False)
    elif isinstance(family, Density) and isinstance(block, Numbers):
        yield from density.scores(family, tally, prior, schema, classes, chunk, block, apart=False)
    elif is_quick(name, prior, schema, block.names) and isinstance(block, Texts):
        for text in block.columns:
            yield LeftOutText(tally, prior, schema, classes, chunk, text).scores(prior)
    elif is_quick(name, prior, schema, block.names) and isinstance(family, Multinomial) and isinstance(block, Counts):
        yield from counts.scores(family, tally, prior, schema, classes, chunk, block)
    else:
        yield one_by_one(family, tally, prior, schema, block, classes, chunk, np.arange(chunk.n_rows))
