"""The words and n-grams of text columns as features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ingenuo.chunk import Texts
from ingenuo.estimators.linear.features import ONES, Entries, imagined, joined
from ingenuo.families.family import Factor, Floats, Passage
from ingenuo.families.word_explanations import factors as word_factors
from ingenuo.families.word_explanations import passage, with_columns
from ingenuo.families.word_features import node_weights, table_name
from ingenuo.families.word_parameters import ColumnParameters
from ingenuo.families.words import only_text
from ingenuo.kernels import lookup as loops
from ingenuo.kernels import portable
from ingenuo.labels import Labels
from ingenuo.schema import Schema, column_name
from ingenuo.tally import Tally


@dataclass
class TextFeatures:
    """The words and n-grams of text columns."""

    schema: Schema
    tally: Tally
    classes: Labels
    columns: Labels

    def __post_init__(self) -> None:
        self.parts = [_Words(self.schema, self.tally, self.classes, name) for name in self.columns.tolist()]
        self.first = np.cumsum([0, *(len(part.weights) for part in self.parts)])
        self.size = int(self.first[-1])

    def entries(self, block: Texts) -> Entries:
        """What each document has of each word."""
        found = [part.entries(text) for part, text in zip(self.parts, block.columns)]
        return joined(found, [len(part.weights) for part in self.parts])

    def start(self, alpha: float) -> tuple[Floats, Floats]:
        """Log ratios of the words' shares."""
        found = [part.ratios(alpha) for part in self.parts]
        return found[0] if len(found) == 1 else np.concatenate(found), np.zeros(found[0].shape[1])

    def stretch(self, start: Floats) -> Floats:
        """The log ratios."""
        return start

    def _of(self, weights: Floats, j: int) -> Floats:
        return weights[int(self.first[j]) : int(self.first[j + 1])]

    def add(self, weights: Floats, block: Texts, out: Floats) -> None:
        """The words times their weights."""
        for j, (part, text) in enumerate(zip(self.parts, block.columns)):
            part.add(self._of(weights, j), text, out)

    def names(self) -> list[str]:
        """The words; of several columns, column: word."""
        several = len(self.parts) > 1
        return [
            f"{column_name(part.name)}: {text}" if several else text
            for part in self.parts
            for text in part.bag.vocabulary.texts()
        ]

    def factors(self, weights: Floats, block: Texts) -> list[Factor]:
        """e to the weight times the count of each word."""
        found = [
            factor
            for j, (part, text) in enumerate(zip(self.parts, block.columns))
            for factor in part.factors(self._of(weights, j), text)
        ]
        return with_columns(found, len(self.parts))

    def passages(self, weights: Floats, block: Texts, best: int, second: int) -> list[Passage]:
        """The texts, each word with how much it speaks for the one class and against the other."""
        return [
            passage(
                part.parameters(self._of(weights, j)),
                only_text(text, part.parameters(self._of(weights, j))),
                best,
                second,
            )
            for j, (part, text) in enumerate(zip(self.parts, block.columns))
        ]


class _Words:
    """One column of text."""

    def __init__(self, schema: Schema, tally: Tally, classes: Labels, name: object) -> None:
        self.name, self.words, self.classes = name, schema.texts[name], classes
        # Whatever the twin was to do with them, words have one kind of ratio here.
        kind = "normalised" if self.words.norm is not None else "documents" if self.words.binary else "count"
        bag = tally.bag(table_name(name, kind))
        assert bag is not None, "a column without words was refused"
        self.bag = bag.over(classes)
        self.rows = tally.over(table_name(name, "rows"), classes).floats()
        self.weights = node_weights(self.words, self.bag, tally, schema, name, float(self.rows.sum()))
        self._prepared: tuple[Floats, ColumnParameters] | None = None

    @cached_property
    def _plain(self) -> bool:
        return bool((self.weights[self.weights != 0] == 1).all())

    def entries(self, text: Any) -> Entries:
        look = self._lookup(text)
        rows, nodes, counts = look.entries(text.pieces(self.words.errors), self.weights != 0)
        if self.words.binary and self._plain and self.words.norm is None:
            return rows, nodes, ONES
        values = (np.ones(len(counts)) if self.words.binary else counts) * self.weights[nodes]
        if self.words.norm is not None:
            squares = np.bincount(rows, values * values, text.n_rows)
            values /= np.sqrt(np.where(squares > 0, squares, 1))[rows]
        return rows, nodes, values

    def _lookup(self, text: Any) -> loops.Lookup:
        return self.parameters(np.zeros((0, 1))).lookup(text)

    def ratios(self, alpha: float) -> Floats:
        """log_ratios, from the few classes that each word has."""
        K, P = len(self.classes), len(self.weights)
        owners, codes = self.bag.owners(), self.bag.codes
        counts = self.bag.numbers() * self.weights[owners]
        used = self.weights != 0
        totals = np.bincount(codes, counts, K).astype(np.float64)
        size = int(used.sum())
        if K == 2:
            below, more = totals + alpha * size, portable.log1p(counts / alpha)
            sign = np.where(codes == 1, more, -more)
            return np.where(used, np.bincount(owners, sign, P) + portable.log(below[0] / below[1]), 0.0)[:, np.newaxis]
        a, b = imagined(totals, alpha)
        below, rest = totals + a * size, totals.sum() - totals + b * size
        whole = np.bincount(owners, counts, P)
        result = portable.log(a) - portable.log(below) + portable.log(rest) - portable.log(whole[:, np.newaxis] + b)
        outside = -counts / (whole[owners] + b[codes])
        result[owners, codes] += portable.log1p(counts / a[codes]) - portable.log1p(outside)
        result[~used] = 0.0
        return np.asarray(result)

    def parameters(self, weights: Floats) -> ColumnParameters:
        """The weights as a table to look words up in, made once."""
        # The array itself is kept: the id of one that is gone may be that of the next.
        if self._prepared is None or self._prepared[0] is not weights:
            look = None if self._prepared is None else self._prepared[1].look
            p = ColumnParameters(
                self.name,
                self.words,
                self.bag,
                self.weights,
                1.0,
                self._table(weights),
                self.rows,
                self.rows,
                look=look,
            )
            self._prepared = (weights, p)
        return self._prepared[1]

    def _table(self, weights: Floats) -> loops.Table:
        K = len(self.classes)
        P = len(self.weights)
        info = np.full((P, 2), -1, np.int64)
        single = info.view(np.float64)
        used = self.weights != 0
        lines = np.zeros((0, K))
        if len(weights) and weights.shape[1] == 1:
            info[used, 0] = (1 << 21) | 1
            single[:, 1] = weights[:, 0] * self.weights
        elif len(weights):
            info[used, 0] = (((np.flatnonzero(used) << 1) | 1) << 20) | K
            lines = weights if self._plain else weights * self.weights[:, np.newaxis]
        each = ONES if self._plain and self.words.norm is None else self.weights
        return loops.Table(info, single, np.zeros((0, 2)), lines, each, ONES, np.zeros(K))

    def add(self, weights: Floats, text: Any, out: Floats) -> None:
        p = self.parameters(weights)
        shares = text.shares(self.words.errors)
        if self.words.norm is None:
            p.lookup(text).score(shares, p.table, out, once=self.words.binary)
            return
        squares, own = np.zeros(len(out)), np.zeros_like(out)
        p.lookup(text).score(shares, p.table, own, once=self.words.binary, squares=squares)
        out += own / np.sqrt(np.where(squares > 0, squares, 1))[:, np.newaxis]

    def factors(self, weights: Floats, text: Any) -> list[Factor]:
        p = self.parameters(weights)
        return word_factors(p, only_text(text, p), "linear")
