"""The columns of a matrix of counts, or of any numbers that are mostly zero, as features: themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ingenuo.chunk import Counts
from ingenuo.estimators.linear.features import Entries, by_class, factor, log_ratios
from ingenuo.families.family import Factor, Floats
from ingenuo.families.multinomial import SUM, add_products, refuse_not_finite
from ingenuo.labels import Labels
from ingenuo.schema import Schema, column_name
from ingenuo.tally import Tally


@dataclass
class CountFeatures:
    """The columns of a matrix of counts, or of any numbers that are mostly zero."""

    schema: Schema
    tally: Tally
    classes: Labels
    columns: Labels

    def __post_init__(self) -> None:
        self.size = len(self.columns)

    def entries(self, block: Counts) -> Entries:
        """What is not zero."""
        refuse_not_finite(block)
        if block.sparse:
            m = block.matrix
            rows = np.repeat(np.arange(m.shape[0], dtype=np.int32), np.diff(m.indptr))
            return rows, m.indices.astype(np.int32), m.data.astype(np.float64)
        row, column = np.nonzero(block.matrix)
        return row.astype(np.int32), column.astype(np.int32), np.asarray(block.matrix[row, column], np.float64)

    def start(self, alpha: float) -> tuple[Floats, Floats]:
        """Log ratios of the columns' shares; nothing where there are no counts."""
        K = len(self.classes)
        width = 1 if K == 2 else K
        if SUM not in self.tally:
            return np.zeros((self.size, width)), np.zeros(width)
        return log_ratios(self.tally.over(SUM, self.classes, self.columns).floats(), alpha), np.zeros(width)

    def stretch(self, start: Floats) -> Floats:
        """The log ratios."""
        return start

    def add(self, weights: Floats, block: Counts, out: Floats) -> None:
        """The counts times their weights."""
        add_products(block, np.ascontiguousarray(by_class(weights)), out)

    def names(self) -> list[str]:
        """The columns' names."""
        return [column_name(name) for name in self.columns.tolist()]

    def factors(self, weights: Floats, block: Counts) -> list[Factor]:
        """e to the weight times the count."""
        _, features, values = self.entries(block)
        table, names = by_class(weights), self.columns.tolist()
        return [factor(column_name(names[j]), f"{x:g}", table[j], x) for j, x in zip(features.tolist(), values)]
