"""From the counts of words to what each adds to the log joint of each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingenuo.bag import Bag
from ingenuo.chunk import Text
from ingenuo.families import bags
from ingenuo.families.family import IMPOSSIBLE, Floats, logs
from ingenuo.families.word_features import totals
from ingenuo.kernels import lookup as loops
from ingenuo.kernels import portable
from ingenuo.prior import Prior
from ingenuo.real import Real
from ingenuo.text.words import Words

_NO_FLOATS = np.zeros(0)


@dataclass
class ColumnParameters:
    """The log weights of one column's words."""

    name: object
    words: Words
    bag: Bag  # over all the classes
    weights: Floats  # what an occurrence of each node counts; 0: it is left out
    pseudo: Floats | float
    table: loops.Table
    normaliser: Floats  # (classes,): what the counts are divided by
    rows: Floats  # (classes,): the documents of each
    absent: Floats | None = None  # (classes,): what a document without any word adds, where absence is evidence
    strict: loops.Table | None = None  # ones where a class has a word that is impossible in the other classes
    certain: loops.Table | None = None  # ones where every document of a class has the word
    n_certain: Floats | None = None
    look: loops.Lookup | None = None

    def lookup(self, text: Text) -> loops.Lookup:
        """The tables to look words up in, made once unless the words to come must be stemmed."""
        if self.words.stem is not None:
            return bags.lookup(self.bag.vocabulary, self.words, text)
        if self.look is None:
            self.look = bags.lookup(self.bag.vocabulary, self.words)
        return self.look

    @property
    def once(self) -> bool:
        """Whether a word counts once in a document."""
        return self.words.binary or self.absent is not None


def known_words(p: ColumnParameters, text: Text, n_rows: int) -> Floats:
    """How many words of each document are among those that are used."""
    out = np.zeros((n_rows, 1))
    starts = np.zeros(len(p.weights) + 1, np.int64)
    table = loops.pack(starts, np.zeros(0, np.int32), _NO_FLOATS, p.weights != 0, np.ones(1))
    p.lookup(text).score(text.shares(p.words.errors), table, out, once=p.once)
    return np.asarray(out[:, 0])


def _cells(bag: Bag, weights: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The node of each cell, and its count times the node's weight."""
    owners = bag.owners()
    return owners, bag.numbers() * weights[owners]


def _with_whole(bag: Bag, weights: Floats, classes: int) -> Bag:
    """The bag with the counts of the whole column for the classes that have none of the words that are used."""
    owners, counts = _cells(bag, weights)
    empty = np.flatnonzero(np.bincount(bag.codes, counts, classes) <= 0)
    if not len(empty) or not counts.any():
        return bag
    whole = totals(bag)
    nodes = np.flatnonzero(whole)
    values = np.concatenate([bag.numbers(), np.tile(whole[nodes], len(empty))])
    codes = np.concatenate([bag.codes, np.repeat(empty, len(nodes)).astype(np.int32)])
    owners = np.concatenate([owners, np.tile(nodes, len(empty))])
    kept = values != 0
    order = np.lexsort((codes[kept], owners[kept]))
    starts = np.append(0, np.cumsum(np.bincount(owners[kept], minlength=len(bag.vocabulary))))
    sums = Real(values[kept][order].astype(np.float64))
    return Bag(bag.vocabulary, bag.classes, starts, codes[kept][order], sums)


def inside(
    column: object, words: Words, bag: Bag, weights: Floats, pseudo: Floats | float, rows: Floats
) -> ColumnParameters:
    """Log frequencies within each class."""
    if not np.any(pseudo):
        bag = _with_whole(bag, weights, len(rows))
    owners, counts = _cells(bag, weights)
    classes = len(rows)
    a = np.where(weights != 0, pseudo, 0.0)
    below = np.bincount(bag.codes, counts, classes) + a.sum()
    log_below = logs(np.where(below > 0, below, 1))
    each = weights[owners]
    if isinstance(pseudo, float) and pseudo > 0:
        values = each * (portable.log(counts + pseudo) - portable.log(pseudo))
        table = _table(bag, values, weights, portable.log(pseudo) - log_below)
        return ColumnParameters(column, words, bag, weights, pseudo, table, below, rows)
    log_a = logs(np.where(a > 0, a, 1))
    values = each * (portable.log(np.where(each != 0, counts, 1) + a[owners]) - log_a[owners])
    table = _table(bag, values, weights, -log_below, weights * log_a)
    strict = _ones(bag, (weights != 0) & (a == 0), None, classes)
    return ColumnParameters(column, words, bag, weights, pseudo, table, below, rows, strict=strict)


def outside(
    column: object, words: Words, bag: Bag, weights: Floats, pseudo: Floats | float, rows: Floats
) -> ColumnParameters:
    """Negative log frequencies outside each class."""
    owners, counts = _cells(bag, weights)
    classes = len(rows)
    a = np.where(weights != 0, pseudo, 0.0)
    within = np.bincount(bag.codes, counts, classes)
    below = within.sum() - within + a.sum()
    whole = np.bincount(owners, counts, len(weights))
    each = weights[owners]
    log_whole = logs(np.where(weights != 0, whole + a, 1))
    rest = np.maximum(logs(np.maximum(np.where(each != 0, whole[owners] - counts + a[owners], 1), 0)), IMPOSSIBLE)
    values = -each * (rest - log_whole[owners])
    constant = logs(np.where(below > 0, below, 1))
    table = _table(bag, values, weights, constant, -weights * log_whole)
    return ColumnParameters(column, words, bag, weights, pseudo, table, below, rows)


def presence(column: object, words: Words, bag: Bag, weights: Floats, prior: Prior, rows: Floats) -> ColumnParameters:
    """Log odds of being there, and the log probability that nothing is."""
    a0, a1 = (float(a) for a in prior.pseudo_counts(np.array([False, True])))
    owners, counts = _cells(bag, weights)
    used, n = weights[owners] != 0, rows[bag.codes]
    with np.errstate(divide="ignore", invalid="ignore"):
        missing = np.maximum(n - counts, 0) + a0
        certain = used & (missing <= 0)
        log_absent = np.where(certain, 0.0, portable.log(np.where(missing > 0, missing, 1)))
        none = portable.log(np.where(rows + a0 > 0, rows + a0, 1))  # of a word that the class never has
        below = portable.log(np.where(rows + a0 + a1 > 0, rows + a0 + a1, 1))
        first = portable.log(a1) if a1 > 0 else 0.0
        log_present = portable.log(np.where(used, counts + a1, 1))
    below_cell = below[bag.codes]
    values = np.where(used, log_present - np.where(certain, below_cell, log_absent) - (first - none[bag.codes]), 0.0)
    table = _table(bag, values, weights, first - none)
    size = np.bincount(bag.codes[used], minlength=len(rows))
    features_used = int(np.count_nonzero(weights))
    absent = (features_used - size) * (none - below)
    absent += np.bincount(bag.codes, np.where(used & ~certain, log_absent - below_cell, 0.0), len(rows))
    strict = None if a1 > 0 else _ones(bag, weights != 0, None, len(rows))
    sure = _ones(bag, weights != 0, certain, len(rows)) if certain.any() else None
    n_certain = np.bincount(bag.codes[certain], minlength=len(rows)).astype(np.float64)
    return ColumnParameters(
        column, words, bag, weights, a1, table, rows + a0 + a1, rows, absent, strict, sure, n_certain
    )


def _ones(bag: Bag, nodes: NDArray[np.bool_], cells: NDArray[np.bool_] | None, classes: int) -> loops.Table:
    """A table that counts, for each class, the nodes of these that it has; one column more counts them all."""
    values = np.where(nodes[bag.owners()], 1.0, 0.0)
    if cells is not None:
        values = np.where(cells, values, 0.0)
    constant = np.zeros(classes + 1)
    constant[-1] = 1.0
    return loops.pack(bag.starts, bag.codes, values, nodes, constant)


def _table(bag: Bag, values: Floats, weights: Floats, constant: Floats, base: Floats = _NO_FLOATS) -> loops.Table:
    """The table of these cells; weights that are all 0 or 1 need not be looked up."""
    used = weights != 0
    plain = bool((weights[used] == 1).all())
    return loops.pack(bag.starts, bag.codes, values, used, constant, _NO_FLOATS if plain else weights, base)
