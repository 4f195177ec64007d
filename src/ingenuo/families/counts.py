"""Counts: all the count columns of a row are one bag of things, drawn from a distribution per class; or a set of them.

multinomial   log p(x | k) = Σ_j x_j log θ_jk,   θ_jk = (count_jk + a_j) / (Σ_j count_jk + Σ a)
complement    the same sum with the negative log frequencies outside class k (Rennie and others, 2003)
bernoulli     Σ log p_jk over what is there, and log (1 - p_jk) over what is not
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.family import IMPOSSIBLE, Bags, Family, LearnedRows, Parameters, Values, check_rows, most_of
from ingenuo.kernels import counts as loops
from ingenuo.kernels import portable
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Counts, Places
from ingenuo.rows.schema import Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Term, exponential, fraction, logs
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.labels import Labels, find, labels_of, shown
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Sums, Table, Tally

SUM, PRESENT = "count:sum", "presence:count"
_STATES = np.array([False, True])


def _single(matrix: Any) -> Any:
    """The sparse matrix with every entry stored once, so that what is there can be counted."""
    loops.refuse_damaged(matrix)
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def refuse_not_finite(block: Counts) -> None:
    """Raise for the first entry that is NaN or infinite, by the name of its column."""
    try:
        loops.refuse_not_finite(block.matrix)
    except loops.NotACount as refused:
        raise _with_name(refused, block) from None


def _with_name(refused: loops.NotACount, block: Counts) -> loops.NotACount:
    name = column_name(block.names[refused.column])
    return loops.NotACount(refused.row, refused.column, refused.value, name)


def add_products(block: Counts, table: Floats, out: Floats, *, presence: bool = False) -> None:
    """out += X · table, for sparse and dense X; with presence, every entry that is not zero is a one."""
    refuse_not_finite(block)
    m = _single(block.matrix) if presence and block.sparse else block.matrix
    with np.errstate(over="ignore"):  # a joint beyond the doubles is dealt with where all its terms are together
        loops.add_log_likelihood(m, table, out, presence)


def _row_sums(block: Counts) -> Floats:
    return np.asarray(block.matrix.sum(axis=1), np.float64).ravel()


def _only_row(block: Counts) -> Floats:
    row: Floats = np.asarray(block.matrix.toarray() if block.sparse else block.matrix, np.float64)[0]
    return row


def _integers_of(sums: Sums) -> NDArray[Any]:
    """Sums as an ordinary array: of integers where they are whole, else of doubles."""
    return sums.limbs[0] if isinstance(sums, Exact) and sums.whole and len(sums.limbs) else sums.floats()


def _log_shares(counts: NDArray[Any], pseudo: Floats, totals: Floats, *, others: bool = False) -> Floats:
    """log((count + pseudo) / total), columns × classes; with others, of the counts outside each class."""
    shared: Any = float(pseudo[0]) if len(pseudo) and (pseudo == pseudo[0]).all() else pseudo
    return loops.log_counts(counts, shared, np.where(totals > 0, totals, 1), others=others)


class CountFamily(Family):
    """What families of counts share: the sum of each column, or in how many rows it is not zero."""

    together = True
    in_tables = True
    table = SUM

    def tally(self, chunk: Chunk, block: Counts) -> Tally:
        """The sums per class and column: whole numbers are exact, others stay doubles."""
        K, presence = len(chunk.classes), self.table == PRESENT
        try:
            m = _single(block.matrix) if presence and block.sparse else block.matrix
            values = loops.tally(m, chunk.coded, K, chunk.weights, presence)
        except loops.NotACount as refused:
            raise _with_name(refused, block) from None
        if values.dtype.kind not in "iu" and not np.isfinite(values.sum()):
            raise InputError("the counts sum beyond what a double holds; scale them down")
        sums = Exact.counts(values) if values.dtype.kind in "iu" else Real(values)
        return Tally({self.table: Table.of({"class": chunk.classes, "column": block.names}, sums)})

    def left_out_lengths(self, rows: LearnedRows, prior: Prior, block: Counts) -> Floats:
        """How many things each row has: which columns there are does not depend on rows."""
        return _row_sums(block)


@dataclass(frozen=True)
class BagParameters(Parameters):
    """The log weights of every column, and the counts they come from."""

    columns: Labels
    counts: Sums  # (classes, columns)
    pseudo: Floats  # (columns,)
    table: Floats  # (columns, classes): what a count of one adds to the log joint
    sizes: Floats  # (classes,): the mean size of a row's bag
    others: bool = False  # whether the weights are of the counts outside each class
    normalised: bool = False  # and were made to sum to 1: no fraction's logarithm

    def lengths(self, block: Counts) -> Floats:
        """How many things each row has."""
        return _row_sums(block)

    def add_log_likelihood(self, block: Counts, out: Floats, floor: float | None = None) -> None:
        """Add each count times its log weight."""
        add_products(block, self.table if floor is None else np.maximum(self.table, floor), out)

    def factors(self, block: Counts) -> list[Factor]:
        """The fraction of each class (or one over that outside it), to the power of the count."""
        counts = self.counts.floats()
        counts = counts.sum(axis=0) - counts if self.others else counts
        found = []
        row = _only_row(block)
        for j in np.flatnonzero(row).tolist():
            x, power = row[j], "" if row[j] == 1 else f"^{row[j]:g}"
            terms = []
            for weight, own in zip(self.table[j].tolist(), counts):
                how = fraction(own[j], self.pseudo[j], own.sum(), self.pseudo.sum())
                if self.others:
                    how = f"[e^{weight:.12g}]{power}" if self.normalised else f"1/[{how}]{power}"
                elif power:
                    how = f"[{how}]{power}"
                terms.append(Term(how, exponential(x * weight), float(x * weight)))
            found.append(Factor(column_name(self.columns[j]), f"{x:g}", tuple(terms)))
        return found

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Bags whose sizes are Poisson around the class's mean size."""
        if self.others:
            raise InputError("complement weights are no distribution of rows to draw from; use counts='multinomial'")
        sizes = rng.poisson(self.sizes[drawn])
        shares = portable.exp(self.table)
        shares /= shares.sum(axis=0)
        bags = np.array([rng.multinomial(size, shares[:, k]) for size, k in zip(sizes, drawn)], np.int64)
        bags = bags.reshape(len(drawn), len(self.columns))
        return {name: bags[:, j] for j, name in enumerate(self.columns.tolist())}

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """What one more of each thing adds."""
        yield {"op": "counts", "columns": self.columns.tolist(), "table": self.table}

    @property
    def n_parameters(self) -> int:
        """The share of each column in each class, of which one follows from the others."""
        return int(self.table.shape[1] * max(len(self.columns) - 1, 0))

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """Each count times the logarithm of its share; complement weights are no shares."""
        if self.others:
            return super().sum_log_likelihood(tally, classes)
        counts = tally.over(SUM, classes, self.columns).floats()
        return float((counts * np.where(counts > 0, self.table.T, 0.0)).sum())

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Bags]:
        """What one more of each thing adds."""
        counts, tiny = self.counts.floats(), np.finfo(float).tiny
        shares = (counts + self.pseudo) / np.maximum(counts.sum(axis=1, keepdims=True) + self.pseudo.sum(), tiny)
        most = most_of(priors @ (shares * self.sizes[:, np.newaxis]))
        yield Bags(self.columns, weight * self.table, None, most, weight, counts, None, shares, self.sizes)


@dataclass(frozen=True)
class Multinomial(CountFamily):
    """One distribution over the count columns for each class; or the weights of those outside it."""

    others: bool = False

    def sheet_sums(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> Iterator[dict[str, Any]]:
        """The sums of all columns, and what is imagined of each."""
        if self.others:
            yield from super().sheet_sums(tally, prior, schema, columns, classes)
        counts, order = tally.over(SUM, classes, columns), np.argsort(find(labels_of(columns), columns))
        yield {
            "op": "count", "columns": columns.tolist(), "order": order, "shown": shown(columns),
            "counts": counts.decimals(), "pseudo": prior.pseudo_counts(columns),
        }  # fmt: skip

    def estimate(self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels) -> BagParameters:
        """Log frequencies after smoothing."""
        return bag(tally, prior.pseudo_counts(columns), columns, classes, others=self.others)

    def left_out(self, rows: LearnedRows, prior: Prior, block: Counts) -> Floats:
        """What a row counts is taken from its own class, which is left without any only where nothing is imagined."""
        if self.others or not (prior.pseudo_counts(block.names) > 0).all():
            return super().left_out(rows, prior, block)
        from scipy import sparse

        p: BagParameters = rows.estimate(self, prior, block.names)
        out = np.zeros((block.n_rows, len(rows.classes)))
        p.add_log_likelihood(block, out)
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


def bag(
    tally: Tally, pseudo: Floats, columns: Labels, classes: Labels, *, others: bool = False, normalise: bool = False
) -> BagParameters:
    """Log frequencies of each column within each class; or negative ones outside, which may be made to sum to 1."""
    sums = tally.over(SUM, classes, columns)
    counts = _integers_of(sums)
    within, whole = counts.sum(axis=1), counts.sum(axis=0)
    totals = (within.sum() - within if others else within) + pseudo.sum()
    table = _log_shares(counts, pseudo, totals, others=others)
    if normalise:
        with np.errstate(invalid="ignore"):
            table = table / table.sum(axis=0)
    elif others:
        if (pseudo == 0).any():  # a thing seen in this class alone: as good as certain, and finite
            np.maximum(table, IMPOSSIBLE, out=table)
        table = np.negative(table, out=table)
    else:
        for k in np.flatnonzero(totals <= 0):  # a class that has nothing takes what all have
            table[:, k] = logs(whole / whole.sum()) if whole.sum() > 0 else -portable.log(max(len(columns), 1))
    sizes = np.asarray(within / np.maximum(tally.over("class", classes).floats(), np.finfo(float).tiny))
    return BagParameters(columns, sums, pseudo, table, sizes, others, normalise)


@dataclass(frozen=True)
class PresenceParameters(Parameters):
    """How probable each thing is in each class."""

    columns: Labels
    rows: Floats  # (classes,)
    counts: Sums  # (classes, columns): rows in which it was there
    pseudo: Floats  # (2, columns): imagined rows without it, and with it

    def lengths(self, block: Counts) -> Floats:
        """How many things each row has."""
        return _row_sums(block)

    @cached_property
    def odds(self) -> tuple[Floats, Floats] | None:
        """log p - log(1 - p), columns × classes, and Σ log(1 - p) of each class; None where some p is 0 or 1."""
        if np.isneginf(self.present).any() or np.isneginf(self.absent).any():
            return None
        return self.present - self.absent, portable.total(self.absent, 0)

    @cached_property
    def present(self) -> Floats:
        """log p, columns × classes."""
        return self._logs(_integers_of(self.counts), self.pseudo[1])

    @cached_property
    def absent(self) -> Floats:
        """log (1 - p), columns × classes."""
        counts, even = _integers_of(self.counts), (self.pseudo == self.pseudo[:, :1]).all()
        if even and (counts.dtype.kind == "i" or not counts.any()) and counts.max(initial=0) < counts.size:
            # Of every count that may be there: log1p keeps what log(rows - count) - log(rows) would cancel.
            seen, below = np.arange(counts.max(initial=0) + 1), self.rows + self.pseudo[:, 0].sum()
            over = np.where(below > 0, below, 2)[:, np.newaxis]
            share, rest = (
                (seen + self.pseudo[1, 0]) / over,
                (self.rows[:, np.newaxis] - seen + self.pseudo[0, 0]) / over,
            )
            known = np.where(share < 0.5, portable.log1p(-np.minimum(share, 0.5)), logs(np.maximum(rest, 0.0)))
            known[below <= 0] = portable.log(0.5)
            return np.ascontiguousarray(np.take_along_axis(known, counts.astype(np.int64), axis=1).T)
        rows = self.rows.astype(counts.dtype) if bool((self.rows == np.rint(self.rows)).all()) else self.rows
        return self._logs(np.maximum(rows[:, np.newaxis] - counts, 0), self.pseudo[0])

    def _logs(self, counts: NDArray[Any], pseudo: Floats) -> Floats:
        """log((count + pseudo) / (rows + both pseudo)); log 1/2 for a class of no rows, where none are imagined."""
        imagined = self.pseudo.sum(axis=0)
        if (imagined == imagined[:1]).all():
            result = _log_shares(counts, pseudo, self.rows + imagined[:1].sum())
        else:
            below = self.rows[:, np.newaxis] + imagined
            result = np.ascontiguousarray(logs((counts + pseudo) / np.where(below > 0, below, 1)).T)
        result[:, self.rows + imagined.max(initial=0) <= 0] = portable.log(0.5)
        return result

    def add_log_likelihood(self, block: Counts, out: Floats, floor: float | None = None) -> None:
        """Add log p for what is there and log (1 - p) for what is not."""
        if self.odds is not None:
            odds, nothing_there = self.odds
            out += nothing_there
            add_products(block, odds, out, presence=True)
            return
        present, absent = self.present, self.absent
        if floor is not None:
            present, absent = np.maximum(present, floor), np.maximum(absent, floor)
        certain = np.isneginf(absent)  # log(1 - p) = -inf: that it is not there is impossible
        finite = np.where(certain, 0.0, absent)
        seen = np.zeros_like(out)
        add_products(block, certain.astype(np.float64), seen, presence=True)
        out += portable.total(finite, 0)
        add_products(block, present - finite, out, presence=True)
        out[seen < certain.sum(axis=0)] = -np.inf

    def factors(self, block: Counts) -> list[Factor]:
        """The fraction of each class, for what is there and what is not."""
        found, counts = [], self.counts.floats()
        for j, x in enumerate(_only_row(block)):
            a = self.pseudo[int(x != 0), j]
            own, table = (counts[:, j], self.present) if x else (self.rows - counts[:, j], self.absent)
            ways = [fraction(n, a, rows, self.pseudo[:, j].sum()) for n, rows in zip(own, self.rows)]
            terms = tuple(Term(how, exponential(log), float(log)) for how, log in zip(ways, table[j]))
            found.append(Factor(column_name(self.columns[j]), f"{x:g}" if x else say("absent"), terms))
        return found

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Coins tossed for each column."""
        return {
            name: (rng.random(len(drawn)) < portable.exp(self.present[j, drawn])).astype(np.int64)
            for j, name in enumerate(self.columns.tolist())
        }

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """What each thing adds where it is there, and where it is not."""
        odds, start = (None, None) if self.odds is None else self.odds
        own = {"present": self.present, "absent": self.absent, "odds": odds, "start": start}
        yield {"op": "presence", "columns": self.columns.tolist(), **own}

    @property
    def n_parameters(self) -> int:
        """How probable each thing is in each class."""
        return len(self.rows) * len(self.columns)

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """log p for each row that has a thing, log (1 - p) for each that has not."""
        counts = tally.over(PRESENT, classes, self.columns).floats()
        rest = tally.over("class", classes).floats()[:, np.newaxis] - counts
        found = counts * np.where(counts > 0, self.present.T, 0.0) + rest * np.where(rest > 0, self.absent.T, 0.0)
        return float(found.sum())

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Bags]:
        """What each thing adds where it is there, and where it is not."""
        yield Bags(
            self.columns, weight * self.present, weight * self.absent, np.ones(len(self.columns)), weight,
            self.counts.floats(), self.rows, np.exp(self.present).T,
        )  # fmt: skip


class Bernoulli(CountFamily):
    """A probability of being there for each class and column."""

    table = PRESENT

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> PresenceParameters:
        """Log probabilities after smoothing."""
        named = set(prior.columns())
        pseudo = np.repeat(prior.pseudo_counts(_STATES)[:, np.newaxis], len(columns), axis=1)
        for j in [j for j, column in enumerate(columns.tolist()) if column in named]:
            pseudo[:, j] = prior.pseudo_counts(_STATES, columns.tolist()[j])
        return presence(tally, pseudo, columns, classes)

    def check(self, tally: Tally) -> None:
        """Nothing is in more rows of a class than the class has."""
        check_rows(tally, PRESENT)


def presence(tally: Tally, pseudo: Floats, columns: Labels, classes: Labels) -> PresenceParameters:
    """The parameters from the tally and the imagined rows without and with each thing."""
    rows = tally.over("class", classes).floats()
    return PresenceParameters(columns, rows, tally.over(PRESENT, classes, columns), pseudo)
