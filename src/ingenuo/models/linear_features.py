"""The columns of any table as the features of a linear model, and what the generative twin would weigh each of them.

Numbers are themselves (less their mean, which the intercepts take up), a category is one feature for each of its
values, counts are themselves, a text has a feature for each of its words and n-grams. A missing number counts as the
mean; a missing or unknown category, and unknown words, as nothing.

Two classes have one logit, the log odds of the second; more have one each. The twin's weight of a feature j for class k
is the log ratio of its share within the class to its share outside,

    r_jk = log (n_jk + α_k)/(N_k + α_k J) - log (n_j,rest + α_rest)/(N_rest + α_rest J)

with what is imagined, 2α, divided between a class and the rest as the real is, α_k = 2α N_k/N, so that a feature hardly
seen says nothing; for two classes, of the second to the first with α for either (Wang and Manning). Measured on 20
classes of newsgroups: 86.5 % right, with α for either 83.0 %. The weight of a number is the distance of the class's
mean from that of all rows, in units of the variance within classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.categorical import labelled
from ingenuo.families.counts import SUM, add_products, refuse_not_finite
from ingenuo.families.gaussian import spread
from ingenuo.families.word_features import node_weights, table_name
from ingenuo.families.words import ColumnParameters, with_columns
from ingenuo.kernels import codes as loops
from ingenuo.kernels import lookup, portable
from ingenuo.kernels.counts import add_log_likelihood_dense
from ingenuo.kernels.softmax import Columns
from ingenuo.models.solver import Dense, Few, OverFeatures, OverRows, Problem, Solution, minimise
from ingenuo.rows.part import Block, Codes, Counts, Numbers, Texts
from ingenuo.rows.schema import FAMILIES, Schema, category_table, column_name
from ingenuo.show.arithmetic import Factor, Floats, Passage, Term, difference, exponential, powers_of_e
from ingenuo.tally.labels import Labels, recode, unite
from ingenuo.tally.tally import Tally

Entries = tuple[NDArray[np.int32], NDArray[np.int32], Floats]  # rows, features, values (none: ones)
ONES: Floats = np.zeros(0)


@dataclass
class Group:
    """The features that the columns of one family give."""

    schema: Schema
    tally: Tally
    classes: Labels
    columns: Labels

    def __post_init__(self) -> None:
        self.size = len(self.columns)

    def entries(self, block: Any) -> Entries:
        """Where the features are not zero."""
        raise NotImplementedError

    def start(self, alpha: float) -> Floats:
        """The twin's weights (features × logits)."""
        raise NotImplementedError

    def stretch(self, start: Floats) -> Floats:
        """What the features are multiplied by where they are weighted by naive Bayes: the log ratios."""
        return start

    def add(self, weights: Floats, block: Any, out: Floats) -> None:
        """Add the features' part of the logits to out (rows × classes)."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """What each feature is called."""
        return [column_name(name) for name in self.columns.tolist()]

    def factors(self, weights: Floats, block: Any) -> list[Factor]:
        """What each feature of a block of one row multiplies the odds by."""
        raise NotImplementedError

    def passages(self, weights: Floats, block: Any, best: int, second: int) -> list[Passage]:
        """The texts, each word with how much it speaks for the one class and against the other."""
        return []


def imagined(totals: Floats, alpha: float) -> tuple[Floats, Floats]:
    """What is imagined of each feature in each class, and in all the others: 2α, divided as the real is."""
    share = totals / max(float(totals.sum()), 1e-300)
    return 2 * alpha * np.maximum(share, 1e-12), 2 * alpha * np.maximum(1 - share, 1e-12)


def log_ratios(counts: Floats, alpha: float) -> Floats:
    """r_jk, features × logits, from counts (classes × features).

    >>> log_ratios(np.array([[1.0, 0.0], [0.0, 1.0]]), 1.0).round(4).tolist()
    [[-0.6931], [0.6931]]
    """
    size = counts.shape[1]
    totals = counts.sum(axis=1, keepdims=True)
    if len(counts) == 2:
        inside = portable.log(counts + alpha) - portable.log(totals + alpha * size)
        return np.ascontiguousarray((inside[1:] - inside[:1]).T)
    a, b = imagined(totals, alpha)
    inside = portable.log(counts + a) - portable.log(totals + a * size)
    outside = portable.log(counts.sum(axis=0) - counts + b) - portable.log(totals.sum() - totals + b * size)
    return np.ascontiguousarray((inside - outside).T)


def joined(parts: Sequence[Entries], sizes: Sequence[int]) -> Entries:
    """The entries of several parts, each with its features behind those of the parts before."""
    if len(parts) == 1:
        return parts[0]
    firsts = np.cumsum([0, *sizes])
    plain = all(len(values) == 0 for _, _, values in parts)
    return (
        np.concatenate([rows for rows, _, _ in parts]),
        np.concatenate([features + np.int32(first) for (_, features, _), first in zip(parts, firsts.tolist())]),
        ONES if plain else np.concatenate([v if len(v) else np.ones(len(rows)) for rows, _, v in parts]),
    )


def by_class(weights: Floats) -> Floats:
    """Weights by class: of one logit, the first class has none."""
    return weights if weights.shape[1] > 1 else np.hstack([np.zeros_like(weights), weights])


def factor(name: str, value: str, weights: Floats, x: float) -> Factor:
    """What a feature multiplies the odds of each class by."""
    terms = tuple(Term(powers_of_e(float(w), x), exponential(float(w) * x), float(w) * x) for w in weights)
    return Factor(name, value, terms)


# Categories as features: one for each value of each column.


class CategoryFeatures(Group):
    """One feature for each value of each column."""

    def __post_init__(self) -> None:
        self.values = [
            unite(self.tally.labels(category_table(name), 1), self.schema.known(name)) for name in self.columns.tolist()
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

    def start(self, alpha: float) -> Floats:
        """Log ratios of the values' shares."""
        tables = zip(map(category_table, self.columns.tolist()), self.values)
        return np.concatenate(
            [log_ratios(self.tally.over(table, self.classes, values).floats(), alpha) for table, values in tables]
        )

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


# The columns of a matrix of counts, or of any numbers that are mostly zero, as features: themselves.


class CountFeatures(Group):
    """The columns of a matrix of counts, or of any numbers that are mostly zero."""

    def entries(self, block: Counts) -> Entries:
        """What is not zero."""
        refuse_not_finite(block)
        if block.sparse:
            m = block.matrix
            rows = np.repeat(np.arange(m.shape[0], dtype=np.int32), np.diff(m.indptr))
            return rows, m.indices.astype(np.int32), m.data.astype(np.float64)
        row, column = np.nonzero(block.matrix)
        return row.astype(np.int32), column.astype(np.int32), np.asarray(block.matrix[row, column], np.float64)

    def start(self, alpha: float) -> Floats:
        """Log ratios of the columns' shares; nothing where there are no counts."""
        if SUM not in self.tally:
            return np.zeros((self.size, 1 if len(self.classes) == 2 else len(self.classes)))
        return log_ratios(self.tally.over(SUM, self.classes, self.columns).floats(), alpha)

    def add(self, weights: Floats, block: Counts, out: Floats) -> None:
        """The counts times their weights."""
        add_products(block, np.ascontiguousarray(by_class(weights)), out)

    def factors(self, weights: Floats, block: Counts) -> list[Factor]:
        """e to the weight times the count."""
        _, features, values = self.entries(block)
        table, names = by_class(weights), self.columns.tolist()
        return [factor(column_name(names[j]), f"{x:g}", table[j], x) for j, x in zip(features.tolist(), values)]


# Numbers as features: themselves, less their means.


_LARGE = 1e100


def _less_mean(name: str, weights: Floats, x: float, mean: float) -> Factor:
    """A number, of which the mean is taken away."""
    written = ["1" if w == 0 else f"e^({w:.6g}·({difference(x, mean)}))" for w in weights.tolist()]
    logs = (weights * (x - mean)).tolist()
    return Factor(name, f"{x:.6g}", tuple(Term(how, exponential(log), log) for how, log in zip(written, logs)))


class NumberFeatures(Group):
    """Numbers, less their means."""

    def __post_init__(self) -> None:
        super().__post_init__()
        counts, means, variances, overall, exponents = spread(self.tally, self.columns, self.classes)
        with np.errstate(over="ignore", under="ignore"):
            scale = np.ldexp(1.0, 2 * exponents)
            share = counts / np.maximum(counts.sum(axis=0), 1e-300)
            self.means = np.asarray((share * means).sum(axis=0))
            self.by_class = means
            within = (share * variances).sum(axis=0)
            self.variances = np.where(within > 1e-9 * overall, within, overall) * scale
        deviations = np.sqrt(self.variances)
        odd = (np.abs(means).max(axis=0) + deviations > _LARGE) | ((deviations > 0) & (deviations < 1 / _LARGE))
        odd |= (self.variances == 0) & (overall > 0)
        if odd.any():
            raise InputError(
                f"column {column_name(self.columns[odd][0])!r} has numbers beyond {_LARGE:g}, or all within "
                f"{1 / _LARGE:g} of each other, whose products leave the doubles; correct them, or measure the column "
                "in another unit"
            )
        self.variances = np.where(self.variances > 0, self.variances, 1.0)
        self.shares = share

    def entries(self, block: Numbers) -> Entries:
        """Every number that is not missing."""
        rows, features, values = [], [], []
        for lo in range(0, block.n_rows, block.step):
            X = block.rows(lo, min(lo + block.step, block.n_rows))
            self.refuse_infinite(block, lo, X)
            there = ~np.isnan(X)
            row, feature = np.nonzero(there)
            rows.append((row + lo).astype(np.int32))
            features.append(feature.astype(np.int32))
            values.append((X - self.means)[there])
        return np.concatenate(rows), np.concatenate(features), np.concatenate(values)

    @staticmethod
    def refuse_infinite(block: Numbers, lo: int, X: Floats) -> None:
        """Raise for the first number that is infinite."""
        if np.isinf(X).any():
            row, column = np.argwhere(np.isinf(X))[0].tolist()
            raise InputError(
                f"Input X contains infinity: {block.place(lo + row, column)} is infinite; replace it by a finite "
                "number, or by NaN if it is missing"
            )

    def start(self, alpha: float) -> Floats:
        """The linear discriminant of Gaussians with one variance for all classes."""
        weights = ((self.by_class - self.means) / self.variances).T
        if len(self.classes) == 2:
            return np.asarray(weights[:, 1:] - weights[:, :1])
        return np.asarray(weights - weights.mean(axis=1, keepdims=True))  # what all have in common says nothing

    def stretch(self, start: Floats) -> Floats:
        """Numbers have no ratio of counts: each is measured in its standard deviations."""
        return np.repeat(1 / np.sqrt(self.variances)[:, np.newaxis], start.shape[1], axis=1)

    def add(self, weights: Floats, block: Numbers, out: Floats) -> None:
        """The numbers times their weights."""
        table = by_class(weights)
        for lo in range(0, block.n_rows, block.step):
            hi = min(lo + block.step, block.n_rows)
            X = block.rows(lo, hi)
            self.refuse_infinite(block, lo, X)
            X = X - self.means
            missing = np.isnan(X)
            if missing.any():
                X[missing] = 0.0
            add_log_likelihood_dense(X, table, out[lo:hi])

    def factors(self, weights: Floats, block: Numbers) -> list[Factor]:
        """e to the weight times the number."""
        found = []
        table = by_class(weights)
        for j, x in enumerate(block.rows(0, 1)[0].tolist()):
            name = column_name(self.columns[j])
            if np.isnan(x):
                found.append(Factor(name, "missing", note="counts as the mean"))
            else:
                found.append(_less_mean(name, table[j], x, float(self.means[j])))
        return found


# The words and n-grams of text columns as features.


class TextFeatures(Group):
    """The words and n-grams of text columns."""

    def __post_init__(self) -> None:
        self.parts = [_Words(self.schema, self.tally, self.classes, name) for name in self.columns.tolist()]
        self.first = np.cumsum([0, *(len(part.weights) for part in self.parts)])
        self.size = int(self.first[-1])

    def entries(self, block: Texts) -> Entries:
        """What each document has of each word."""
        found = [part.entries(text) for part, text in zip(self.parts, block.columns)]
        return joined(found, [len(part.weights) for part in self.parts])

    def start(self, alpha: float) -> Floats:
        """Log ratios of the words' shares."""
        found = [part.ratios(alpha) for part in self.parts]
        return found[0] if len(found) == 1 else np.concatenate(found)

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
            part.parameters(self._of(weights, j)).passage(text, best, second)
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

    def _lookup(self, text: Any) -> lookup.Lookup:
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
                self.name, self.words, self.bag, self.weights, 1.0, self._table(weights), self.rows, self.rows,
                "linear", look=look,
            )  # fmt: skip
            self._prepared = (weights, p)
        return self._prepared[1]

    def _table(self, weights: Floats) -> lookup.Table:
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
        return lookup.Table(info, single, np.zeros((0, 2)), lines, each, ONES, np.zeros(K))

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
        return self.parameters(weights).factors(text)


# From a table's features to the weights of its classes: which solver, where it starts, and in what order.


_FEATURES: dict[str, type[Group]] = {
    "number": NumberFeatures,
    "category": CategoryFeatures,
    "count": CountFeatures,
    "text": TextFeatures,
}


def groups_of(schema: Schema, tally: Tally, classes: Labels) -> dict[str, Group]:
    """The features of each family, by its name."""
    return {
        name: _FEATURES[FAMILIES[name]](schema, tally, classes, schema.columns(name)) for name in schema.families_used()
    }


def solve(
    groups: dict[str, Group],
    found: dict[str, Block],
    problem: Problem,
    shares: Floats,
    weighted: bool,
    alpha: float,
    start: str,
) -> Solution:
    """The weights of all groups, one after the other, and the intercepts."""
    n_rows = len(problem.labels)
    logs = portable.log(shares / shares.sum())
    intercepts = logs[1:] - logs[:1] if len(logs) == 2 else logs
    starts = [group.start(alpha) for group in groups.values()]
    V0 = starts[0] if len(starts) == 1 else np.concatenate(starts)
    stretch = None
    if weighted:
        stretches = [group.stretch(each) for group, each in zip(groups.values(), starts)]
        stretch = stretches[0] if len(stretches) == 1 else np.concatenate(stretches)
    space: OverFeatures | OverRows
    table = _dense(groups, found)
    if table is not None:
        few = (V0.shape[0] + 1) * V0.shape[1] <= Few.MOST
        space = (Few if few else OverFeatures)(table, stretch, problem)
    else:
        parts = [group.entries(found[name]) for name, group in groups.items()]
        rows, features, values = joined(parts, [group.size for group in groups.values()])
        # Rows of a class have features in common: side by side, they are in the cache together.
        order = np.argsort(problem.labels, kind="stable")
        place = np.empty(n_rows, np.int32)
        place[order] = np.arange(n_rows, dtype=np.int32)
        weights = problem.weights[order] if len(problem.weights) else problem.weights
        problem = replace(problem, labels=problem.labels[order], weights=weights)
        columns = Columns.of(n_rows, len(V0), place[rows], features, values)
        if n_rows < len(V0) and problem.l2 > 0:
            space = OverRows(columns, stretch, problem, V0.shape[1])
        else:
            space = OverFeatures(columns, stretch, problem)
    return minimise(space, problem, intercepts, V0 if start == "twin" else None)


def _dense(groups: dict[str, Group], found: dict[str, Block]) -> Dense | None:
    """The one table of numbers, where there is nothing else."""
    if len(groups) != 1:
        return None
    ((name, group),) = groups.items()
    block = found[name]
    if not isinstance(group, NumberFeatures) or not isinstance(block, Numbers):
        return None
    return Dense(block, group.means)
