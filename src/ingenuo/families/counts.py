"""Counts: all the count columns of a row are one bag of things, drawn from a distribution per class.

    multinomial   log p(x | k) = Σ_j x_j log θ_jk,   θ_jk = (count_jk + a_j) / (Σ_j count_jk + Σ a)
    complement    the same sum with weights from all the *other* classes (Rennie and others, 2003): w_jk is the
                  negative log frequency of j outside class k, so rare classes borrow the counts of the rest

The factor of order (how many ways the same bag can be drawn) is the same for every class and left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.family import IMPOSSIBLE, Family, refuse_more_than_rows
from ingenuo.families.left_out import LearnedRows
from ingenuo.kernels import counts as loops
from ingenuo.kernels import portable
from ingenuo.rows.part import Chunk, Counts
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Term, exponential, fraction, logs
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.labels import Labels
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Sums, Table, Tally

SUM = "count:sum"


def wrap(values: NDArray[Any]) -> Sums:
    """Sums as the loops give them: whole numbers are exact, others stay doubles."""
    if values.dtype.kind in "iu":
        return Exact.counts(values)
    if not np.isfinite(values.sum()):
        raise InputError("the counts sum beyond what a double holds; scale them down")
    return Real(values)


def single(matrix: Any) -> Any:
    """The sparse matrix with every entry stored once, so that what is there can be counted."""
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def summed(chunk: Chunk, block: Counts, *, presence: bool) -> Sums:
    """Sums (or numbers of rows with one at all) per class and column."""
    K = len(chunk.classes)
    try:
        if block.sparse:
            m = single(block.matrix) if presence else block.matrix
            values = loops.tally_csr(m.data, m.indices, m.indptr, chunk.coded, K, m.shape[1], presence, chunk.weights)
        else:
            values = loops.tally_dense(block.matrix, chunk.coded, K, chunk.weights, presence)
    except loops.NotACount as refused:
        raise refused.named(column_name(block.names[refused.column])) from None
    return wrap(values)


def refuse_not_finite(block: Counts) -> None:
    """Raise for the first entry that is NaN or infinite, by the name of its column."""
    m = block.matrix
    try:
        if block.sparse:
            loops.refuse_not_finite(m.data, m.indices, m.indptr)
        else:
            loops.refuse_not_finite(m)
    except loops.NotACount as refused:
        raise refused.named(column_name(block.names[refused.column])) from None


def add_products(block: Counts, table: Floats, out: Floats, *, presence: bool = False) -> None:
    """out += X · table, for sparse and dense X; with presence, every entry that is not zero is a one."""
    refuse_not_finite(block)
    m = single(block.matrix) if presence and block.sparse else block.matrix
    with np.errstate(over="ignore"):  # a joint beyond the doubles is dealt with where all its terms are together
        if block.sparse:
            loops.add_log_likelihood_csr(m.data, m.indices, m.indptr, table, out, presence)
        else:
            loops.add_log_likelihood_dense(m, table, out, presence)


def only_row(block: Counts) -> Floats:
    """The counts of a block of one row."""
    row: Floats = np.asarray(block.matrix.toarray() if block.sparse else block.matrix, np.float64)[0]
    return row


def row_sums(block: Counts) -> Floats:
    """How many things each row has."""
    return np.asarray(block.matrix.sum(axis=1), np.float64).ravel()


@dataclass(frozen=True)
class BagParameters:
    """The log weights of every column, and the counts they come from."""

    columns: Labels
    counts: Sums  # (classes, columns)
    pseudo: Floats  # (columns,)
    table: Floats  # (columns, classes): what a count of one adds to the log joint
    lengths: Floats  # (classes,): the mean size of a row's bag
    normalised: bool = False  # complement weights that were made to sum to 1: no fraction's logarithm


class Multinomial(Family):
    """One distribution over the count columns for each class."""

    together = True

    def tally(self, chunk: Chunk, block: Counts) -> Tally:
        """The sum of each column."""
        axes = {"class": chunk.classes, "column": block.names}
        return Tally({SUM: Table.of(axes, summed(chunk, block, presence=False))})

    def estimate(self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels) -> BagParameters:
        """Log frequencies after smoothing."""
        return bag(tally, prior.pseudo_counts(columns), columns, classes)

    def log_likelihood(self, parameters: BagParameters, block: Counts, out: Floats, floor: float | None = None) -> None:
        """Add each count times its log weight."""
        table = parameters.table if floor is None else np.maximum(parameters.table, floor)
        add_products(block, table, out)

    def factors(self, parameters: BagParameters, block: Counts) -> list[Factor]:
        """The fraction of each class, to the power of the count."""
        return _powers(parameters, parameters.counts.floats(), block, "[{}]")

    def sample(
        self, parameters: BagParameters, drawn: NDArray[np.intp], rng: np.random.Generator
    ) -> dict[Any, NDArray[Any]]:
        """Bags whose sizes are Poisson around the class's mean size."""
        sizes = rng.poisson(parameters.lengths[drawn])
        shares = portable.exp(parameters.table)
        shares /= shares.sum(axis=0)
        bags = np.array([rng.multinomial(size, shares[:, k]) for size, k in zip(sizes, drawn)], np.int64)
        bags = bags.reshape(len(drawn), len(parameters.columns))
        return {name: bags[:, j] for j, name in enumerate(parameters.columns.tolist())}

    def lengths(self, parameters: BagParameters, block: Counts) -> Floats:
        """How many things each row has."""
        return row_sums(block)

    def left_out_lengths(self, rows: LearnedRows, prior: Prior, block: Counts) -> Floats:
        """The same: which columns there are does not depend on rows."""
        return row_sums(block)

    def left_out(self, rows: LearnedRows, prior: Prior, block: Counts) -> Floats:
        """What a row counts is taken from its own class, which is left without any only where nothing is imagined."""
        if not (prior.pseudo_counts(block.names) > 0).all():
            return super().left_out(rows, prior, block)
        from scipy import sparse

        p = self.estimate(rows.tally, prior, rows.schema, block.names, rows.classes)
        out = np.zeros((block.n_rows, len(rows.classes)))
        self.log_likelihood(p, block, out)
        matrix = sparse.coo_matrix(block.matrix)
        y, w = rows.chunk.coded, rows.weights
        counts = p.counts.floats()
        x = matrix.data.astype(np.float64)
        at, columns = matrix.row, matrix.col
        rest = np.maximum(counts[y[at], columns] - w[at] * x, 0) + p.pseudo[columns]
        sizes = np.bincount(at, x, block.n_rows)
        below = np.maximum(counts.sum(axis=1)[y] - w * sizes, 0) + p.pseudo.sum()
        out[np.arange(len(y)), y] = np.bincount(at, x * logs(rest), block.n_rows) - sizes * np.log(below)
        return out


class Complement(Multinomial):
    """Weights from the counts outside each class."""

    left_out = Family.left_out  # a row's counts are in the weights of every other class

    def sample(
        self, parameters: BagParameters, drawn: NDArray[np.intp], rng: np.random.Generator
    ) -> dict[Any, NDArray[Any]]:
        """There is nothing to draw from."""
        raise InputError(
            "complement weights are no distribution of rows, so none can be drawn; use counts='multinomial' to sample"
        )

    def estimate(self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels) -> BagParameters:
        """Negative log frequencies outside the class."""
        return complement(tally, prior.pseudo_counts(columns), columns, classes)

    def factors(self, parameters: BagParameters, block: Counts) -> list[Factor]:
        """One over the fraction outside the class, to the power of the count."""
        counts = parameters.counts.floats()
        written = "[e^{weight:.12g}]" if parameters.normalised else "1/[{}]"
        return _powers(parameters, counts.sum(axis=0) - counts, block, written)


def _powers(parameters: BagParameters, counts: Floats, block: Counts, written: str) -> list[Factor]:
    """A fraction of the counts for each thing that is there, to the power of how often it is."""
    found = []
    imagined = parameters.pseudo.sum()
    for j, x in enumerate(only_row(block)):
        if x == 0:
            continue
        terms = []
        for k in range(len(counts)):
            how = fraction(counts[k, j], parameters.pseudo[j], counts[k].sum(), imagined)
            power = "" if x == 1 else f"^{x:g}"
            log = x * parameters.table[j, k]
            plain = written == "[{}]" and not power
            shown = how if plain else written.format(how, weight=parameters.table[j, k]) + power
            terms.append(Term(shown, exponential(log), float(log)))
        found.append(Factor(column_name(parameters.columns[j]), f"{x:g}", tuple(terms)))
    return found


def numbers_of(sums: Sums) -> NDArray[Any]:
    """Sums as an ordinary array: of integers where they are whole, else of doubles."""
    return sums.limbs[0] if isinstance(sums, Exact) and sums.whole and len(sums.limbs) else sums.floats()


def log_shares(counts: NDArray[Any], pseudo: Floats, totals: Floats, *, others: bool = False) -> Floats:
    """log((count + pseudo) / total), columns × classes; with others, of the counts outside each class."""
    shared: Any = float(pseudo[0]) if len(pseudo) and (pseudo == pseudo[0]).all() else pseudo
    return loops.log_counts(counts, shared, np.where(totals > 0, totals, 1), others=others)


def bag(tally: Tally, pseudo: Floats, columns: Labels, classes: Labels) -> BagParameters:
    """Log frequencies of each column within each class; the whole table's where a class has none."""
    sums = tally.over(SUM, classes, columns)
    counts = numbers_of(sums)
    totals = counts.sum(axis=1) + pseudo.sum()
    table = log_shares(counts, pseudo, totals)
    for k in np.flatnonzero(totals <= 0):
        whole = counts.sum(axis=0)
        table[:, k] = logs(whole / whole.sum()) if whole.sum() > 0 else -portable.log(max(len(columns), 1))
    return BagParameters(columns, sums, pseudo, table, _lengths(tally, counts, classes))


def complement(
    tally: Tally, pseudo: Floats, columns: Labels, classes: Labels, *, normalise: bool = False
) -> BagParameters:
    """Negative log frequencies of each column outside each class; normalised, they sum to 1 within a class."""
    sums = tally.over(SUM, classes, columns)
    counts = numbers_of(sums)
    inside = counts.sum(axis=1)
    outside = log_shares(counts, pseudo, inside.sum() - inside + pseudo.sum(), others=True)
    if normalise:
        with np.errstate(invalid="ignore"):
            table = outside / outside.sum(axis=0)
    else:
        if (pseudo == 0).any():  # a thing seen in this class alone: as good as certain, and finite
            np.maximum(outside, IMPOSSIBLE, out=outside)
        table = np.negative(outside, out=outside)
    return BagParameters(columns, sums, pseudo, table, _lengths(tally, counts, classes), normalise)


def _lengths(tally: Tally, counts: NDArray[Any], classes: Labels) -> Floats:
    rows = tally.over("class", classes).floats()
    return np.asarray(counts.sum(axis=1) / np.maximum(rows, np.finfo(float).tiny))


# Presence: each column is a thing that is there (not zero) or not, and absence is evidence too.


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
            return loops.log_odds(counts, float(a), self.rows.astype(np.int64))
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

    def left_out_lengths(self, rows: LearnedRows, prior: Prior, block: Counts) -> Floats:
        """The same: which columns there are does not depend on rows."""
        return row_sums(block)

    def check(self, tally: Tally) -> None:
        """Nothing is in more rows of a class than the class has."""
        refuse_more_than_rows(tally, PRESENT)


def presence(tally: Tally, pseudo: Floats, columns: Labels, classes: Labels) -> PresenceParameters:
    """The parameters from the tally and the imagined rows without and with each thing."""
    rows = tally.over("class", classes).floats()
    return PresenceParameters(columns, rows, tally.over(PRESENT, classes, columns), pseudo)
