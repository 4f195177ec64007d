"""One attribute of a model: some columns, the family that models them, its prior, and the weight of what it says.

    log P(class | row) = log P(class) + shift + Σ weight · log p(attribute | class) - log of their sum

Plain naive Bayes gives every attribute the weight 1. Copies of a column then count as often as they stand there; their
weights, learned together, share what one of them knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ingenuo.chunk import Block, Counts, Texts
from ingenuo.families import FAMILY
from ingenuo.families.family import Factor, Floats, Term, exponential
from ingenuo.families.word_parameters import known_words
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.schema import Schema, column_name
from ingenuo.tally import Tally


@dataclass(frozen=True, eq=False)
class Attribute:
    """Columns that are modelled together: one, or all the counts."""

    names: Labels
    home: str  # the family that the schema has for the columns: what is counted of them
    family: str  # the family they are given: what is made of the counts
    prior: Prior
    weight: float = 1.0
    typical: float = 1.0  # the length of a text (or bag) whose weight is that
    exponent: float = 0.0  # longer ones weigh (length / typical)^-exponent of it: words repeat one another

    @property
    def called(self) -> str:
        """How it is called in messages."""
        return column_name(self.names[0]) if len(self.names) == 1 else f"{len(self.names)} columns"

    def block(self, found: Block) -> Block:
        """Its columns of the block of their family."""
        if len(self.names) == len(found.names):
            return found
        at = int(np.flatnonzero(found.names == self.names[0])[0])
        return found.only(at, at + 1)

    def estimate(self, tally: Tally, schema: Schema, classes: Labels) -> Any:
        """The parameters of its family."""
        return FAMILY[self.family].estimate(tally, self.prior, schema, self.names, classes)

    def add(self, parameters: Any, block: Block, out: Floats, floor: float | None = None) -> None:
        """Add its weighted log likelihood to out."""
        if self.weight == 0:
            return
        if self.weight == 1 and self.exponent == 0:
            FAMILY[self.family].log_likelihood(parameters, block, out, floor)
            return
        own = np.zeros_like(out)
        FAMILY[self.family].log_likelihood(parameters, block, own, floor)
        out += self.weights_of(self.lengths(parameters, block))[:, np.newaxis] * own

    def lengths(self, parameters: Any, block: Block) -> Floats:
        """How many known words, or things counted, each row has; 1 in other columns."""
        if self.exponent and isinstance(block, Texts):
            return known_words(parameters[0], block.columns[0], block.n_rows)
        if self.exponent and isinstance(block, Counts):
            return np.asarray(block.matrix.sum(axis=1), np.float64).ravel()
        return np.ones(block.n_rows)

    def weights_of(self, lengths: Floats) -> Floats:
        """The weight for rows of these lengths."""
        if not self.exponent:
            return np.full(len(lengths), self.weight)
        return np.asarray(self.weight * ((1 + lengths) / self.typical) ** -self.exponent)

    def factors(self, parameters: Any, block: Block) -> list[Factor]:
        """Its terms, to the power of the weight."""
        if self.weight == 0:
            return [Factor(column_name(name), "", note="left out: weight 0") for name in self.names.tolist()[:1]]
        weight = float(self.weights_of(self.lengths(parameters, block))[0])
        return [_weighted(factor, weight) for factor in FAMILY[self.family].factors(parameters, block)]


def _weighted(factor: Factor, weight: float) -> Factor:
    """The terms to the power of a weight."""
    if weight == 1:
        return factor
    terms = tuple(
        Term(f"[{term.how}]^{weight:.4g}", exponential(weight * term.log), weight * term.log) for term in factor.terms
    )
    return Factor(factor.column, factor.value, terms, factor.note, factor.part_of)
