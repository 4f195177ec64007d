"""Categories as features: one for each value of each column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Codes
from ingenuo.estimators.linear.features import ONES, Entries, by_class, factor, log_ratios
from ingenuo.families.categorical import labelled, table_name
from ingenuo.families.family import Factor, Floats
from ingenuo.kernels import codes as loops
from ingenuo.labels import Labels, recode, unite
from ingenuo.schema import Schema, column_name
from ingenuo.tally import Tally


@dataclass
class CategoryFeatures:
    """One feature for each value of each column."""

    schema: Schema
    tally: Tally
    classes: Labels
    columns: Labels
    values: list[Labels] = field(init=False)

    def __post_init__(self) -> None:
        self.values = [
            unite(self.tally.labels(table_name(name), 1), self.schema.known(name)) for name in self.columns.tolist()
        ]
        self.first = np.cumsum([0, *(len(each) for each in self.values)])
        self.size = int(self.first[-1])

    def _codes(self, block: Codes) -> list[NDArray[Any]]:
        block = labelled(block)
        assert block.labels is not None
        columns = block.columns.T if isinstance(block.columns, np.ndarray) else block.columns
        return [recode(np.asarray(c), own, known) for c, own, known in zip(columns, block.labels, self.values)]

    def entries(self, block: Codes) -> Entries:
        """The value of each column."""
        rows, features = [], []
        for first, codes in zip(self.first.tolist(), self._codes(block)):
            known = np.flatnonzero(codes >= 0)
            rows.append(known.astype(np.int32))
            features.append((codes[known] + first).astype(np.int32))
        return np.concatenate(rows), np.concatenate(features), ONES

    def start(self, alpha: float) -> tuple[Floats, Floats]:
        """Log ratios of the values' shares."""
        K = len(self.classes)
        found = [
            log_ratios(self.tally.over(table_name(name), self.classes, values).floats(), alpha)
            for name, values in zip(self.columns.tolist(), self.values)
        ]
        return np.concatenate(found), np.zeros(1 if K == 2 else K)

    def stretch(self, start: Floats) -> Floats:
        """The log ratios."""
        return start

    def add(self, weights: Floats, block: Codes, out: Floats) -> None:
        """The weight of each column's value."""
        table = by_class(weights)
        tables = [table[lo:hi] for lo, hi in zip(self.first, self.first[1:])]
        loops.add_log_likelihood_columns(self._codes(block), tables, out)

    def names(self) -> list[str]:
        """column=value."""
        pairs = zip(self.columns.tolist(), self.values)
        return [f"{column_name(name)}={value}" for name, values in pairs for value in values.tolist()]

    def factors(self, weights: Floats, block: Codes) -> list[Factor]:
        """e to the weight of the value."""
        found = []
        table = by_class(weights)
        raw = labelled(block)
        assert raw.labels is not None
        for j, codes in enumerate(self._codes(block)):
            name = column_name(self.columns[j])
            given = int(raw.columns[:, j][0] if isinstance(raw.columns, np.ndarray) else raw.columns[j][0])
            if given < 0:
                found.append(Factor(name, "missing", note="left out"))
                continue
            value = str(raw.labels[j][given])
            if codes[0] < 0:
                found.append(Factor(name, value, note="never seen: left out"))
            else:
                found.append(factor(name, value, table[int(self.first[j]) + int(codes[0])], 1.0))
        return found
