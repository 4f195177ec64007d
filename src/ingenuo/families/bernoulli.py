"""Presence: each column is a thing that is there (not zero) or not, and absence is evidence too.

p_jk = (rows of class k with j + a_1) / (rows of class k + a_0 + a_1)
log p(x | k) = Σ_j [x_j ≠ 0] log p_jk + [x_j = 0] log(1 - p_jk)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk, Counts
from ingenuo.families.family import Factor, Family, Floats, Term, fraction, logs, refuse_more_than_rows
from ingenuo.families.multinomial import add_products, log_shares, numbers_of, only_row, row_sums, summed
from ingenuo.kernels import portable, shares
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

    @cached_property
    def odds(self) -> tuple[Floats, Floats] | None:
        """log p - log(1 - p), columns × classes, and Σ log(1 - p) of each class; None where some p is 0 or 1."""
        counts, a = numbers_of(self.counts), self.pseudo.flat[0]
        even = bool((self.pseudo == a).all())
        if even and a > 0 and counts.dtype.kind == "i" and bool((self.rows == np.rint(self.rows)).all()):
            return shares.log_odds(counts, float(a), self.rows.astype(np.int64))
        if np.isneginf(self.present).any() or np.isneginf(self.absent).any():
            return None
        return self.present - self.absent, self.absent.sum(axis=0)

    @cached_property
    def present(self) -> Floats:
        """log p, columns × classes."""
        return self._logs(numbers_of(self.counts), self.pseudo[1])

    @cached_property
    def absent(self) -> Floats:
        """log (1 - p), columns × classes."""
        counts = numbers_of(self.counts)
        rows = self.rows.astype(counts.dtype) if bool((self.rows == np.rint(self.rows)).all()) else self.rows
        return self._logs(np.maximum(rows[:, np.newaxis] - counts, 0), self.pseudo[0])

    def _logs(self, counts: NDArray[Any], pseudo: Floats) -> Floats:
        """log((count + pseudo) / (rows + both pseudo)); log 1/2 for a class of no rows, where none are imagined."""
        imagined = self.pseudo.sum(axis=0)
        if (imagined == imagined[:1]).all():
            result = log_shares(counts, pseudo, self.rows + imagined[:1].sum())
        else:
            below = self.rows[:, np.newaxis] + imagined
            result = np.ascontiguousarray(logs((counts + pseudo) / np.where(below > 0, below, 1)).T)
        result[:, self.rows + imagined.max(initial=0) <= 0] = portable.log(0.5)
        return result


class Bernoulli(Family):
    """A probability of being there for each class and column."""

    together = True

    def tally(self, chunk: Chunk, block: Counts) -> Tally:
        """In how many rows each thing was."""
        axes = {"class": chunk.classes, "column": block.names}
        return Tally({PRESENT: Table.of(axes, summed(chunk, block, presence=True))})

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> PresenceParameters:
        """Log probabilities after smoothing."""
        named = set(prior.columns())
        pseudo = np.repeat(prior.pseudo_counts(_STATES)[:, np.newaxis], len(columns), axis=1)
        for j in [j for j, column in enumerate(columns.tolist()) if column in named]:
            pseudo[:, j] = prior.pseudo_counts(_STATES, columns.tolist()[j])
        return presence(tally, pseudo, columns, classes)

    def log_likelihood(
        self, parameters: PresenceParameters, block: Counts, out: Floats, floor: float | None = None
    ) -> None:
        """Add log p for what is there and log (1 - p) for what is not."""
        if parameters.odds is not None:
            odds, nothing_there = parameters.odds
            out += nothing_there
            add_products(block, odds, out, presence=True)
            return
        present, absent = parameters.present, parameters.absent
        if floor is not None:
            present, absent = np.maximum(present, floor), np.maximum(absent, floor)
        certain = np.isneginf(absent)  # log(1 - p) = -inf: that it is not there is impossible
        finite = np.where(certain, 0.0, absent)
        seen = np.zeros_like(out)
        add_products(block, certain.astype(np.float64), seen, presence=True)
        out += finite.sum(axis=0)
        add_products(block, present - finite, out, presence=True)
        out[seen < certain.sum(axis=0)] = -np.inf

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
                terms.append(Term(how, float(portable.exp(log)), float(log)))
            state = f"{x:g}" if x else "absent"
            found.append(Factor(column_name(parameters.columns[j]), state, tuple(terms)))
        return found

    def sample(
        self, parameters: PresenceParameters, drawn: NDArray[np.intp], rng: np.random.Generator
    ) -> dict[Any, NDArray[Any]]:
        """Coins tossed for each column."""
        return {
            name: (rng.random(len(drawn)) < portable.exp(parameters.present[j, drawn])).astype(np.int64)
            for j, name in enumerate(parameters.columns.tolist())
        }

    def lengths(self, parameters: PresenceParameters, block: Counts) -> Floats:
        """How many things each row has."""
        return row_sums(block)

    def check(self, tally: Tally) -> None:
        """Nothing is in more rows of a class than the class has."""
        refuse_more_than_rows(tally, PRESENT)


def presence(tally: Tally, pseudo: Floats, columns: Labels, classes: Labels) -> PresenceParameters:
    """The parameters from the tally and the imagined rows without and with each thing."""
    rows = tally.over("class", classes).floats()
    return PresenceParameters(columns, rows, tally.over(PRESENT, classes, columns), pseudo)
