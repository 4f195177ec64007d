"""Categories: a table of the values' frequencies for each class and column.

    θ_jk = (count of value j in class k + a_j) / (values seen in class k + Σ a)

A missing value, or one never seen, is left out. A class without values, and without a prior, has the whole column's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.family import Categories, Family, LearnedRows, Parameters, Values, check_rows, count_cells
from ingenuo.kernels import codes as loops
from ingenuo.language import say
from ingenuo.rows.part import Chunk, Codes, Places
from ingenuo.rows.schema import Schema, category_table, column_name
from ingenuo.show.arithmetic import Factor, Floats, Term, fraction, logs
from ingenuo.tally.exact import Exact
from ingenuo.tally.labels import Labels, encode, find, labels_of, recode, recognise, shown, unite
from ingenuo.tally.prior import Prior
from ingenuo.tally.tally import Table, Tally


@dataclass(frozen=True)
class ColumnParameters:
    """The frequencies of one column."""

    labels: Labels  # sorted
    counts: Floats  # (classes, values)
    pseudo: Floats  # (values,)
    thetas: Floats  # (classes, values)

    @cached_property
    def logs(self) -> Floats:
        """The logarithms of the frequencies, (values, classes)."""
        return logs(self.thetas).T


@dataclass(frozen=True)
class CategoricalParameters(Parameters):
    """The frequencies of every column."""

    columns: Labels
    tables: tuple[ColumnParameters, ...]
    n_classes: int

    def add_log_likelihood(self, block: Codes, out: Floats, floor: float | None = None) -> None:
        """Add the logs of the frequencies; missing and unknown values add nothing."""
        if block.labels is None and not all(_numbered(table.labels) for table in self.tables):
            block = labelled(block)
        tables = []
        for j, table in enumerate(self.tables):
            labels = np.arange(int(table.labels.max(initial=-1)) + 1) if block.labels is None else block.labels[j]
            log_thetas = np.zeros((len(labels), self.n_classes))
            places = recognise(table.labels, labels)
            known = places >= 0
            log_thetas[known] = table.logs[places[known]]
            tables.append(log_thetas if floor is None else np.maximum(log_thetas, floor))
        _refuse_negative(loops.add_log_likelihood(block.columns, tables, out), block)

    def factors(self, block: Codes) -> list[Factor]:
        """The fraction of each class."""
        found = []
        block = labelled(block)
        assert block.labels is not None
        for j, (name, table) in enumerate(zip(self.columns, self.tables)):
            code = int(column_codes(block, j)[0])
            value = block.labels[j][code] if code >= 0 else say("missing")
            place = recognise(table.labels, labels_of([value]))[0] if code >= 0 else -1
            if place < 0:
                note = say("left out" if code < 0 else "never seen: left out")
                found.append(Factor(column_name(name), value if code < 0 else str(value), note=note))
                continue
            imagined, own, terms = table.pseudo.sum(), table.pseudo[place], []
            counts, totals = table.counts[:, place].tolist(), table.counts.sum(axis=1).tolist()
            for n, total, theta, log in zip(
                counts, totals, table.thetas[:, place].tolist(), table.logs[place].tolist()
            ):
                how = fraction(n, own, total, imagined) if total + imagined else say("as in the whole column")
                terms.append(Term(how, theta, log))
            found.append(Factor(column_name(name), str(value), tuple(terms)))
        return found

    def sample(self, drawn: Places, rng: np.random.Generator) -> Values:
        """Values drawn by their frequencies."""
        result = {}
        for name, table in zip(self.columns.tolist(), self.tables):
            steps = np.cumsum(table.thetas, axis=1)
            chosen = np.zeros(len(drawn), np.intp)
            uniform = rng.random(len(drawn))
            for k in range(self.n_classes):
                rows = drawn == k
                chosen[rows] = np.searchsorted(steps[k] / steps[k, -1], uniform[rows], side="right")
            result[name] = table.labels[np.minimum(chosen, len(table.labels) - 1)]
        return result

    @property
    def n_parameters(self) -> int:
        """The share of each value in each class, of which one follows from the others."""
        return sum(self.n_classes * max(len(table.labels) - 1, 0) for table in self.tables)

    def sum_log_likelihood(self, tally: Tally, classes: Labels) -> float:
        """Each count times the logarithm of its share."""
        found = 0.0
        for name, table in zip(self.columns.tolist(), self.tables):
            counts = tally.over(category_table(name), classes, table.labels).floats()
            found += float((counts * logs(np.where(counts > 0, table.thetas, 1.0))).sum())
        return found

    def sheet_terms(self) -> Iterator[dict[str, Any]]:
        """The logarithms of each column's frequencies."""
        for column, table in zip(self.columns.tolist(), self.tables):
            yield {"op": "category", "column": column, "values": table.labels.tolist(), "logs": table.logs}

    def evidence(self, weight: float, priors: Floats, texts: str) -> Iterator[Categories]:
        """What each value adds."""
        for column, t in zip(self.columns.tolist(), self.tables):
            yield Categories(column, t.labels, weight * t.logs, weight, t.counts, t.thetas)


class Categorical(Family):
    """A frequency table per class and column."""

    in_tables = True

    def tally(self, chunk: Chunk, block: Codes) -> Tally:
        """How often each value was seen."""
        K, y = len(chunk.classes), chunk.coded
        numbered = None
        if block.labels is None and chunk.weights is None:
            assert isinstance(block.columns, np.ndarray)
            numbered = loops.tally_numbered(block.columns, y, K)
        if numbered is not None:
            _refuse_negative(numbered[1], block)
            labels: Any = [np.arange(c.shape[1]) for c in numbered[0]]
            counted = [Exact.counts(c) for c in numbered[0]]
        else:
            block = labelled(block)
            assert block.labels is not None
            labels = block.labels
            sizes = [len(found) for found in labels]
            if chunk.weights is not None:
                counted = [_weigh(column_codes(block, j), y, chunk.weights, K, n) for j, n in enumerate(sizes)]
            else:
                counted = [Exact.counts(c) for c in loops.tally(block.columns, y, K, sizes)]
        return Tally(
            {
                category_table(name): Table.of({"class": chunk.classes, "value": found}, counts)
                for name, found, counts in zip(block.names.tolist(), labels, counted)
            }
        )

    def sheet_sums(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> Iterator[dict[str, Any]]:
        """How often each value was seen, which values stay though no row has them, and what is imagined of each."""
        found = self.estimate(tally, prior, schema, columns, classes)
        for column, labels in zip(columns.tolist(), (each.labels for each in found.tables)):
            table = category_table(column)
            yield {
                "op": "category", "column": column, "table": table, "values": labels.tolist(), "shown": shown(labels),
                "counts": tally.over(table, classes, labels).decimals(),
                "declared": find(schema.known(column), labels) >= 0, "pseudo": prior.sheet_pseudo(labels, column),
            }  # fmt: skip

    def estimate(
        self, tally: Tally, prior: Prior, schema: Schema, columns: Labels, classes: Labels
    ) -> CategoricalParameters:
        """Frequencies after smoothing."""
        tables = []
        for column in columns.tolist():
            name = category_table(column)
            labels = unite(tally.labels(name, 1), schema.known(column))
            labels = unite(labels, prior.known(labels, column))
            pseudo = prior.pseudo_counts(labels, column)
            counts = tally.over(name, classes, labels).floats()
            tables.append(ColumnParameters(labels, counts, pseudo, frequencies(counts, pseudo)))
        return CategoricalParameters(columns, tuple(tables), len(classes))

    def left_out(self, rows: LearnedRows, prior: Prior, block: Codes) -> Floats:
        """A value's own count goes down by one; a value that only this row had was never seen."""
        chunk, K = rows.chunk, len(rows.classes)
        parameters: CategoricalParameters = rows.estimate(self, prior, block.names)
        block = labelled(block)
        assert block.labels is not None
        out = np.zeros((block.n_rows, K))
        y = chunk.coded.astype(np.int64)
        for j, (name, table) in enumerate(zip(block.names.tolist(), parameters.tables)):
            declared = find(unite(rows.schema.known(name), prior.known(table.labels, name)), table.labels) >= 0
            codes = column_codes(block, j)
            places = np.append(recognise(table.labels, block.labels[j]), -1)[codes]  # a code of -1 is the last: missing
            if chunk.weights is None:  # then all rows of one class and value are given the same
                cells = np.arange(len(table.labels) * K)
                found = _leave_out(table, declared, cells // K, cells % K, np.ones(len(cells)))
                loops.add_log_likelihood([np.where(places >= 0, places * K + y, -1)], [found], out)
            else:
                there = np.flatnonzero(places >= 0)
                out[there] += _leave_out(table, declared, places[there], y[there], chunk.weights[there])
        return out

    def check(self, tally: Tally) -> None:
        """No class has more values in a column than it has rows."""
        for name in tally:
            if name.startswith(category_table("")):
                check_rows(tally, name)


def frequencies(counts: Floats, pseudo: Floats) -> Floats:
    """(count + a) / (N + Σ a) for each class; the whole column's frequencies where that is 0/0."""
    above = counts + pseudo
    below = above.sum(axis=1, keepdims=True)
    whole = counts.sum(axis=0) / max(counts.sum(), np.finfo(float).tiny)
    if not counts.any():
        whole = np.full(counts.shape[1], 1 / max(counts.shape[1], 1))
    return np.where(below > 0, above / np.where(below > 0, below, 1), whole)


def _leave_out(
    table: ColumnParameters, declared: NDArray[np.bool_], at: NDArray[Any], y: NDArray[Any], w: Floats
) -> Floats:
    """log (count - w + a) / (N - w + Σ a) of value `at` in class y, and in the other classes without w."""
    counts, a = table.counts, table.pseudo
    every, totals = counts.sum(axis=0), counts.sum(axis=1)
    found = logs(table.thetas).T[at]
    above = np.maximum(counts[y, at] - w, 0) + a[at]
    below = totals[y] - w + a.sum()
    alone = ~(below > 0)
    rows = np.arange(len(y))
    found[rows, y] = logs(above) - np.log(np.where(alone, 1, below))
    empty = totals + a.sum() == 0  # such classes have the frequencies of the whole column
    if empty.any() or alone.any():
        left = np.maximum(every.sum() - w, np.finfo(float).tiny)
        whole = logs(np.maximum(every[at] - w, 0) / left)
        found = np.where(empty, whole[:, np.newaxis], found)
        found[rows[alone], y[alone]] = whole[alone]
    found[(every[at] <= w) & ~declared[at]] = 0  # a value that no other row has was never seen
    return np.asarray(found)


def _numbered(labels: Labels) -> bool:
    return labels.dtype == np.int64 and int(labels.max(initial=0)) < loops.NUMBERED_UP_TO


def labelled(block: Codes) -> Codes:
    """The block with labels, where its codes were their own."""
    if block.labels is not None:
        return block
    assert isinstance(block.columns, np.ndarray)
    columns, labels = [], []
    for column in block.columns.T:
        codes, found = encode(np.ascontiguousarray(column))
        if len(found) and found[0] < 0:
            _refuse_negative(True, block)
            codes, found = recode(codes, found, found[found >= 0]), found[found >= 0]
        columns.append(codes)
        labels.append(found)
    return Codes(block.names, block.n_rows, columns, labels)


def _refuse_negative(negative: bool, block: Codes) -> None:
    if negative and not block.may_be_missing:
        raise InputError(
            "Negative values in data: categories that are numbers count from 0; use NaN where one is missing"
        )


def column_codes(block: Codes, j: int) -> NDArray[Any]:
    """The codes of one column."""
    return block.columns[:, j] if isinstance(block.columns, np.ndarray) else block.columns[j]


def _weigh(codes: NDArray[Any], labels: NDArray[np.int32], weights: Floats, K: int, size: int) -> Exact:
    exact = count_cells(np.where(codes >= 0, labels.astype(np.int64) * size + codes, -1), K * size, weights)
    return Exact(exact.limbs.reshape(exact.limbs.shape[0], K, size), exact.low)
