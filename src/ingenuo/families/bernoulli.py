"""Presence: each column is a thing that is there (not zero) or not, and absence is evidence too.

    p_jk = (rows of class k with j + a_1) / (rows of class k + a_0 + a_1)
    log p(x | k) = Σ_j [x_j ≠ 0] log p_jk + [x_j = 0] log(1 - p_jk)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk, Counts
from ingenuo.families.family import Factor, Floats, Term, fraction, logs
from ingenuo.families.multinomial import add_products, log_shares, numbers_of, only_row, summed
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.schema import Schema, column_name
from ingenuo.tally import Sums, Table, Tally

PRESENT = "presence:count"
_STATES = np.array([False, True])


@dataclass(frozen=True)
class PresenceParameters:
    """How probable each thing is in each class."""

    columns: Labels
    rows: Floats  # (classes,)
    counts: Sums  # (classes, columns): rows in which it was there
    pseudo: Floats  # (2, columns): imagined rows without it, and with it
    present: Floats  # (columns, classes): log p
    absent: Floats  # (columns, classes): log (1 - p)


class Bernoulli:
    """A probability of being there for each class and column."""

    def tally(self, chunk: Chunk, block: Counts) -> Tally:
        """In how many rows each thing was."""
        axes = {"class": chunk.classes, "column": block.names}
        return Tally({PRESENT: Table.of(axes, summed(chunk, block, presence=True))})

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> PresenceParameters:
        """Log probabilities after smoothing."""
        return presence(tally, np.repeat(prior.pseudo_counts(_STATES)[:, np.newaxis], len(columns), 1), columns, classes)

    def log_likelihood(
        self, parameters: PresenceParameters, block: Counts, out: Floats, floor: float | None = None
    ) -> None:
        """Add log p for what is there and log (1 - p) for what is not."""
        present, absent = parameters.present, parameters.absent
        if floor is not None:
            present, absent = np.maximum(present, floor), np.maximum(absent, floor)
        matrix = (block.matrix != 0) if not block.sparse else block.matrix.astype(bool)
        there = Counts(block.names, block.n_rows, matrix)
        certain = np.isneginf(absent)
        if certain.any():  # log(1 - p) = -inf: "not there" is impossible, so its absence must be looked for
            finite = np.where(certain, 0.0, absent)
            seen = np.zeros_like(out)
            add_products(there, certain.astype(np.float64), seen)
            out[seen < certain.sum(axis=0)] = -np.inf
        else:
            finite = absent
        out += finite.sum(axis=0)
        add_products(there, present - finite, out)

    def factors(self, parameters: PresenceParameters, block: Counts) -> list[Factor]:
        """The fraction of each class, for what is there and what is not."""
        found = []
        counts = parameters.counts.floats()
        for j, x in enumerate(only_row(block)):
            terms = []
            a0, a1 = parameters.pseudo[:, j]
            for k, rows in enumerate(parameters.rows):
                if x != 0:
                    how, log = fraction(counts[k, j], a1, rows, a0 + a1), parameters.present[j, k]
                else:
                    how, log = fraction(rows - counts[k, j], a0, rows, a0 + a1), parameters.absent[j, k]
                terms.append(Term(how, float(np.exp(log)), float(log)))
            state = f"{x:g}" if x else "absent"
            found.append(Factor(column_name(parameters.columns[j]), state, tuple(terms)))
        return found

    def sample(
        self, parameters: PresenceParameters, drawn: NDArray[np.intp], rng: np.random.Generator
    ) -> dict[Any, NDArray[Any]]:
        """Coins tossed for each column."""
        return {
            name: (rng.random(len(drawn)) < np.exp(parameters.present[j, drawn])).astype(np.int64)
            for j, name in enumerate(parameters.columns.tolist())
        }

    def check(self, tally: Tally) -> None:
        """Counts that are not negative are always those of some rows."""


def presence(tally: Tally, pseudo: Floats, columns: Labels, classes: Labels) -> PresenceParameters:
    """Log probabilities of being there and of not; even ones where a class has no rows."""
    sums = tally.over(PRESENT, classes, columns)
    rows = tally.over("class", classes).floats()
    counts = numbers_of(sums)
    whole = counts.dtype.kind == "i" and bool((rows == np.rint(rows)).all())
    absences = rows.astype(np.int64)[:, np.newaxis] - counts if whole else np.maximum(rows[:, np.newaxis] - counts, 0)
    if (pseudo == pseudo[:, :1]).all():
        totals = rows + pseudo[:, 0].sum()
        present, absent = log_shares(counts, pseudo[1], totals), log_shares(absences, pseudo[0], totals)
    else:
        below = np.maximum(rows[:, np.newaxis] + pseudo.sum(axis=0), np.finfo(float).tiny)
        present, absent = logs((counts + pseudo[1]) / below).T, logs((absences + pseudo[0]) / below).T
    nothing = rows + pseudo.sum(axis=0).max(initial=0) <= 0
    present[:, nothing] = absent[:, nothing] = np.log(0.5)
    return PresenceParameters(columns, rows, sums, pseudo, present, absent)
