"""Boosted decision trees on cut columns: each tree corrects what the trees before it leave unexplained.

    P(k | x) ∝ exp(F_k(x))        F(x) = log prior + Σ trees        a leaf's value is -η G / (H + l2)

G and H are the sums of the first and second derivatives of the log loss over the rows of a leaf: tallies, by column and
code, from which the splits are chosen too. Trees are grown on the rows without each fold, as many as answer the folds
best, and the answer is the mean of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.categorical import column_codes
from ingenuo.families.discretise import Cuts
from ingenuo.kernels import densities, portable, threads
from ingenuo.kernels.codes import count_codes
from ingenuo.kernels.trees import DEEPEST, MOST_COLUMNS, UNSEEN, Growth, Trees, boost
from ingenuo.language import say
from ingenuo.models.classifier import JointAnswers, warn_of_ignored
from ingenuo.models.design import read_blocks
from ingenuo.models.folds import Folds, n_folds_for, stratified_folds
from ingenuo.models.model import Packed, Refusals, check_is_fitted
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Chunk, Codes, Numbers
from ingenuo.rows.rows import rows_of
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats, Term, exponential, powers_of_e
from ingenuo.show.format import Line
from ingenuo.tally.labels import Labels, find, labels_of, meet, public, same, unite
from ingenuo.tally.tally import Tally

_MOST_VALUES = 1000  # of a category that can be asked for
_BATCH = 10  # trees that are grown before the folds are compared
_PATIENCE = 15  # trees without a gain, after which no more are grown


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """How a column becomes codes: the intervals of a number or the values of a category from 1 on; 0 is missing.

    What no row had, a missing value among them, is `UNSEEN`.
    """

    name: Any
    owner: int  # its place in the schema
    points: Floats | None  # of a number, where it is cut
    values: Labels  # of a category
    missing: bool  # whether it was, in some row

    @property
    def card(self) -> int:
        """How many codes there are."""
        return 1 + (len(self.values) if self.points is None else len(self.points) + 1)

    def encode(self, block: Codes | Numbers, j: int, out: NDArray[np.uint16]) -> None:
        """The codes of column j of a block."""
        if isinstance(block, Numbers):
            assert self.points is not None
            values = block.column(j)
            out[:] = np.searchsorted(self.points, values, side="left") + 1
            out[np.isnan(values)] = 0 if self.missing else UNSEEN
            return
        assert block.labels is not None
        labels, codes = block.labels[j], np.asarray(column_codes(block, j))
        own = labels if same(labels, self.values) else meet(labels, self.values)
        places = find(self.values, own)
        rest = 0 if len(self.values) == _MOST_VALUES else UNSEEN  # rare values count as missing
        table = np.append(np.where(places < 0, rest, places + 1), 0 if self.missing else UNSEEN)  # last: code -1
        out[:] = table[codes]


def _cut_points(values: Floats, bins: int) -> Floats:
    """Where values are cut into bins of as nearly the same number of rows as they allow."""
    known = np.sort(values[~np.isnan(values)])
    distinct = known[np.flatnonzero(np.diff(known, prepend=np.nan) != 0)] if len(known) else known
    if len(distinct) <= bins:
        at = np.arange(len(distinct) - 1)
    else:
        wanted = known[len(known) * np.arange(1, bins) // bins - 1]
        at = np.unique(np.minimum(np.searchsorted(distinct, wanted), len(distinct) - 2))
    low, high = distinct[at], distinct[at + 1]
    middle = low / 2 + high / 2
    return np.where((middle >= low) & (middle < high), middle, low)


@dataclass(frozen=True, eq=False)
class Coding:
    """The columns of a schema as codes; learned from some rows, and then fixed."""

    schema: Schema
    columns: tuple[ColumnCodes, ...]

    @staticmethod
    def of(schema: Schema, chunk: Chunk, bins: int) -> Coding:
        """The cuts and values of some rows."""
        found: list[ColumnCodes] = []
        none: Any = np.zeros(0)
        for owners, block in read_blocks(schema, chunk.blocks):
            for j, (name, owner) in enumerate(zip(block.names.tolist(), owners)):
                if isinstance(block, Numbers):
                    values = block.column(j)
                    missing = bool(np.isnan(values).any())
                    found.append(ColumnCodes(name, owner, _cut_points(values, bins), none, missing))
                    continue
                assert block.labels is not None
                labels = block.labels[j]
                missing, *counts = count_codes(np.asarray(column_codes(block, j)) + 1, len(labels) + 1).tolist()
                kept = np.argsort([-n for n in counts], kind="stable")[: min(_MOST_VALUES, np.count_nonzero(counts))]
                found.append(ColumnCodes(name, owner, None, labels_of(labels[kept]), bool(missing)))
        return Coding(schema, tuple(sorted(found, key=lambda column: column.owner)))

    @property
    def cards(self) -> NDArray[np.int64]:
        """How many codes each column has."""
        return np.array([column.card for column in self.columns], np.int64)

    @property
    def categories(self) -> NDArray[np.uint8]:
        """Which columns' codes have no order."""
        return np.array([column.points is None for column in self.columns], np.uint8)

    def encode(self, blocks: Mapping[str, Block], n_rows: int) -> NDArray[np.uint16]:
        """The codes of rows: columns × rows."""
        out = np.empty((len(self.columns), n_rows), np.uint16)
        places = {column.owner: place for place, column in enumerate(self.columns)}
        for owners, block in read_blocks(self.schema, blocks):
            for j, owner in enumerate(owners):
                self.columns[places[owner]].encode(block, j, out[places[owner]])
        return out

    def sheet_nodes(self) -> list[dict[str, Any]]:
        """What a value of each column is coded as, as a sheet has it: the places of what is missing and of what is rare
        or never seen, -1 where that ends the way through a tree.
        """
        return [
            {
                "op": "codes", "column": c.name, "points": c.points, "values": c.values.tolist(),
                "missing": 0 if c.missing else -1, "rest": 0 if len(c.values) == _MOST_VALUES else -1,
            }
            for c in self.columns
        ]  # fmt: skip

    @staticmethod
    def union(codings: Sequence[Coding]) -> Coding:
        """All the cuts and values of several codings of one schema."""
        found = []
        for each in zip(*(coding.columns for coding in codings)):
            first, missing = each[0], any(column.missing for column in each)
            if first.points is not None:
                points = np.unique(np.concatenate([column.points for column in each]))
                found.append(ColumnCodes(first.name, first.owner, points, first.values, missing))
            else:
                values = reduce(unite, [column.values for column in each])
                found.append(ColumnCodes(first.name, first.owner, None, values, missing))
        return Coding(codings[0].schema, tuple(found))

    def recode(self, trees: Trees, within: Coding) -> Trees:
        """Trees of this coding as trees of one that has all its cuts and values."""
        table = np.zeros((len(self.columns), int(self.cards.max(initial=1))), np.int32)
        for own, other, codes in zip(self.columns, within.columns, table):
            if own.points is not None and other.points is not None:
                codes[1 : len(own.points) + 1] = np.searchsorted(other.points, own.points) + 1
            else:
                codes[1 : len(own.values) + 1] = find(other.values, own.values) + 1
        splits = trees.splits
        changed = splits & ~UNSEEN | table[np.maximum(splits, 0) >> 17, np.where(splits < 0, 0, splits & UNSEEN)]
        return Trees(trees.depth, np.where(splits < 0, splits, changed).astype(np.int32), trees.values)

    def to_plain(self) -> list[dict[str, Any]]:
        """The coding as plain values, for a model file."""
        return [
            {"at": c.owner, "cuts": None if c.points is None else c.points.tolist(), "values": c.values.tolist(),
             "missing": c.missing}
            for c in self.columns
        ]  # fmt: skip

    @staticmethod
    def from_plain(schema: Schema, plain: list[Mapping[str, Any]]) -> Coding:
        """What `to_plain` gave; an error where that is no coding of this schema."""
        names, found = schema.names.tolist(), []
        used = [place for place, name in enumerate(names) if schema.family(name) != "ignore"]
        for owner, each in zip(used, plain, strict=True):
            number = FAMILIES[schema.family(names[owner])] in ("number", "count")
            points = np.array(Cuts(tuple(map(float, each["cuts"]))).points) if number else None
            column = ColumnCodes(names[owner], owner, points, labels_of(each["values"]), bool(each["missing"]))
            if each["at"] != owner or column.card > UNSEEN or (number and len(column.values)):
                raise InputError("the codes of the model are none of its columns")
            found.append(column)
        return Coding(schema, tuple(found))


@dataclass
class _Growing:
    """Trees that grow on some rows, judged by others."""

    coding: Coding
    codes: NDArray[np.uint16]
    labels: NDArray[np.int32]
    weights: Floats | None
    start: Floats
    trees: list[Trees]
    scores: Floats

    @classmethod
    def on(cls, schema: Schema, chunk: Chunk, bins: int) -> Self:
        """Begin with the shares of the classes."""
        coding = Coding.of(schema, chunk, bins)
        K = len(chunk.classes)
        shares = np.bincount(chunk.coded, chunk.weights, K) + 0.5
        logs = portable.log(shares / shares.sum())
        start = logs[1:] - logs[:1] if K == 2 else logs
        codes = coding.encode(chunk.blocks, chunk.n_rows)
        scores = np.repeat(start[np.newaxis], chunk.n_rows, axis=0)
        return cls(coding, codes, chunk.coded, chunk.weights, start, [], scores)

    def grow(self, growth: Growth, rounds: int) -> Trees:
        """So many trees more."""
        d, done = len(self.codes), sum(map(len, self.trees))
        share = max(growth.column_share, min(1.0, 3 / max(d, 1)))
        given = self.codes, self.coding.cards, self.coding.categories, self.labels, self.weights
        self.trees.append(boost(*given, growth._replace(column_share=share), done, rounds, self.scores))
        return self.trees[-1]

    def all_trees(self) -> Trees:
        """The trees, in one."""
        splits = np.concatenate([each.splits for each in self.trees])
        return Trees(self.trees[0].depth, splits, np.concatenate([each.values for each in self.trees]))


@dataclass(eq=False, repr=False)
class BoostedTrees(Refusals, Packed, JointAnswers):
    """Boosted decision trees for numbers and categories together, missing values as a value of their own.

    How many trees there are is chosen by left-out rows. A number is cut into intervals of as many rows each; a split
    asks whether it is at most a cut point, or missing; of a category, whether it has a certain value. At a value that
    was never seen the way through a tree ends, and what all rows there have in common counts.

    Parameters
    ----------
    columns : mapping, optional
        Column to kind, as in `NaiveBayes`; text columns must be "ignore".
    depth : int
        Tests on the way to a leaf, at most.
    learning_rate : float
        η: what a tree says is multiplied by it.
    max_trees : int
        How many trees there can be without each fold.
    bins : int
        Intervals of a number.
    l2 : float
        The penalty of a leaf's value.
    rows, features : float
        The share of the rows that a tree sees, and of the columns that each of its levels chooses from.
    min_rows : float
        Rows on each side of a split.
    random_state : int
        Which rows and columns these are.
    verbose : bool, optional
        Whether progress is shown; by default in a terminal, once it takes long.

    Attributes
    ----------
    n_trees_ : int
        How many trees there are, those without each fold together.
    losses_ : array
        The mean log loss of left-out rows after each tree.

    Examples
    --------
    >>> from ingenuo.datasets import diabetes
    >>> model = BoostedTrees().fit(diabetes(), "progression")
    >>> model.predict(diabetes().slice(0, 3)).tolist()
    ['fast', 'slow', 'fast']
    """

    _refusals: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("partial_fit", "forget", "merge"),
            "each tree depends on all the trees before it; fit it again on all the rows",
        ),
        "sample": "it models classes given rows, not rows; take a NaiveBayes, which can",
    }

    columns: Mapping[Any, Any] | None = None
    depth: int = 4
    learning_rate: float = 0.2
    max_trees: int = 100
    bins: int = 255
    l2: float = 1.0
    rows: float = 0.7
    features: float = 0.5
    min_rows: float = 3.0
    random_state: int = 0
    verbose: bool | None = None

    def _check_settings(self) -> None:
        for name, most in (("depth", DEEPEST), ("max_trees", 10**6), ("bins", 4096)):
            checks.check_whole(name, getattr(self, name), 1 + (name == "bins"))
            checks.check_number(name, getattr(self, name), most=most)
        for name in ("learning_rate", "rows", "features"):
            checks.check_number(name, getattr(self, name), most=1, above=True)
        checks.check_number("l2", self.l2, above=True)
        checks.check_number("min_rows", self.min_rows)
        checks.check_whole("random_state", self.random_state)
        if self.verbose is not None:
            checks.check_flag("verbose", self.verbose)

    @property
    def _growth(self) -> Growth:
        shares = float(self.rows), float(self.features), float(self.min_rows)
        return Growth(int(self.depth), float(self.learning_rate), float(self.l2), *shares, int(self.random_state))

    # Learning.

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and their labels, forgetting what was learned before.

        Parameters
        ----------
        X : array, sparse matrix, or pandas, polars or Arrow table
            The rows; missing values are NaN or null.
        y : array-like, or the name of a column of X
            The class of each row.
        sample_weight : array-like, optional
            How much each row counts.
        """
        self._check_settings()
        rows = rows_of(X, y, sample_weight).in_memory()
        codes, _ = checks.labels(self, rows.y, checks.count_rows(rows.X))
        folds = stratified_folds(codes, n_folds_for(len(codes)))
        self._learn(rows.X, rows.y, rows.weights, folds, rows.target)
        return self

    def _fit_with_folds(self, X: Any, y: NDArray[Any], sample_weight: Floats | None, folds: Folds) -> Floats:
        self._check_settings()
        return self._learn(X, y, sample_weight, folds, None)

    def _learn(self, X: Any, y: Any, sample_weight: Any, folds: Folds, target: str | None) -> Floats:
        """Choose the number of trees by the folds, and grow them on all rows; the left-out log posteriors."""
        model = type(self)(**self.get_params(deep=False))
        if target is not None:
            model._target = target
        source = checks.table(model, X, reset=True)
        source.is_whole = True
        codes, classes = checks.labels(self, y, source.n_rows)
        weights = checks.weights(sample_weight, source.n_rows)
        checks.refuse_one_class(classes, type(self).__name__)
        schema = NaiveBayes(self.columns)._schema_of(source)
        warn_of_ignored(schema)
        if len(schema) > MOST_COLUMNS:
            raise InputError(f"the table has {len(schema):,} columns; trees read {MOST_COLUMNS:,} at most")
        chunk = Chunk(source.n_rows, model._blocks(source, schema), codes, classes, weights)
        line = Line(self.verbose)
        grown, losses, left_out = self._grow(schema, chunk, folds, line)
        line.close()
        coding = Coding.union([each.coding for each in grown])
        every = [each.coding.recode(each.all_trees(), coding) for each in grown]
        splits = np.concatenate([each.splits for each in every])
        trees = Trees(int(self.depth), splits, np.concatenate([each.values for each in every]) / len(every))
        start = np.mean([each.start for each in grown], axis=0)
        model._set(schema, chunk.count_classes(), classes, coding, start, trees, losses)
        for name in ("_target", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.__dict__.update(model.__dict__)
        return left_out

    def _grow(self, schema: Schema, chunk: Chunk, folds: Folds, line: Line) -> tuple[list[_Growing], Floats, Floats]:
        """Trees without each fold, as many as answer the folds best; the left-out losses after each tree, and the
        left-out log posteriors.
        """
        held = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        held = [rows for rows in held if len(rows) < chunk.n_rows]
        bins = min(int(self.bins), (UNSEEN - 2) // max(len(held), 1))  # all folds' cuts are codes of two bytes
        asked, kept = [chunk.take(rows) for rows in held], [np.flatnonzero(folds != folds[rows[0]]) for rows in held]
        grown = threads.run([partial(_Growing.on, schema, chunk.take(rows), bins) for rows in kept])
        codes = [each.coding.encode(part.blocks, part.n_rows) for each, part in zip(grown, asked)]
        scores = [np.repeat(each.start[np.newaxis], part.n_rows, axis=0) for each, part in zip(grown, asked)]

        def step(fold: int, rounds: int) -> Floats:
            part, trees = asked[fold], grown[fold].grow(self._growth, rounds)
            return trees.losses(codes[fold], part.coded, part.weights, scores[fold])

        total = float(chunk.n_rows if chunk.weights is None else chunk.weights.sum()) or 1.0
        losses, best = np.zeros(0), 0
        while len(losses) < self.max_trees and len(losses) - best < _PATIENCE:
            rounds = min(_BATCH, int(self.max_trees) - len(losses))
            found = threads.run([partial(step, fold, rounds) for fold in range(len(held))])
            losses = np.append(losses, np.sum(found, axis=0) / total)
            best = 1 + int(np.argmin(losses))
            line.say(f"{len(losses)} trees: left-out log loss {losses[-1]:.6g}, the least {losses.min():.6g}")
        left_out = np.zeros((chunk.n_rows, len(chunk.classes)))
        for rows, each, own in zip(held, grown, codes):
            each.trees = [each.all_trees().first(best)]
            left_out[rows] = _over_classes(_scores(each.start, each.trees[0], own))
        densities.posterior(left_out, log=True)
        return grown, losses, left_out

    def _set(
        self, schema: Schema, tally: Tally, classes: Labels, coding: Coding, start: Floats, trees: Trees, losses: Floats
    ) -> None:
        self.schema_, self.tally_, self.classes_ = schema, tally, public(classes)
        self._coding, self._start, self._trees = coding, start, trees
        self.n_features_in_, self.n_trees_, self.losses_ = len(schema), len(trees), losses

    def _extra(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        plain = {"classes": self.classes_.tolist(), "coding": self._coding.to_plain()}
        of_trees: dict[str, NDArray[Any]] = {"splits": self._trees.splits, "values": self._trees.values}
        return plain, {"start": self._start, "losses": self.losses_, **of_trees}

    def _restore(self, schema: Schema, tally: Tally, plain: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        classes = labels_of(plain["classes"])
        if len(classes) < 2 or len(classes) != len(plain["classes"]):
            raise InputError("boosted trees have two classes at least, all different")
        coding = Coding.from_plain(schema, plain["coding"])
        splits, values, start, losses = (arrays[name] for name in ("splits", "values", "start", "losses"))
        width = 1 if len(classes) == 2 else len(classes)
        floats = all(each.dtype == np.float64 and np.isfinite(each).all() for each in (values, start, losses))
        nodes = (2 << int(self.depth)) - 1
        fit = splits.shape == (len(splits), nodes) and values.shape == (len(splits), nodes, width)
        if not floats or splits.dtype != np.int32 or not fit or start.shape != (width,):
            raise InputError("the trees of the model are none of its depth and classes")
        trees = Trees(int(self.depth), np.ascontiguousarray(splits), np.ascontiguousarray(values))
        trees.check(len(coding.columns))
        self._set(schema, tally, classes, coding, start, trees, losses.reshape(-1))

    def __sklearn_is_fitted__(self) -> bool:
        return "_trees" in self.__dict__

    # Answering.

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        """The log posteriors but for a term that the classes of a row have in common."""
        return _over_classes(_scores(self._start, self._trees, self._coding.encode(found, n_rows)))

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: the start, and then the trees one after another."""
        coding = self._coding.sheet_nodes()
        term = {"op": "trees", "columns": [each["column"] for each in coding], "coding": coding}
        start = _over_classes(self._start[np.newaxis])[0]
        terms = [{**term, **self._trees.compact()}]
        return {"op": "sum", "start": start, "terms": terms, "calibrate": None, "first": "start"}

    def sheet_columns(self) -> dict[Any, dict[str, Any]]:
        """Between what numbers are cut, and the values that can be asked for."""
        found = dict[Any, dict[str, Any]]()
        for column in self._coding.columns:
            if column.points is None:
                found[column.name] = {"values": column.values.tolist()}
            elif len(column.points) > 1:
                found[column.name] = {"low": float(column.points[0]), "high": float(column.points[-1])}
        return found

    def _factors(self, found: dict[str, Block]) -> list[Factor]:
        """What the tests of each column move the odds of each class by, from the root of each tree to its leaf."""
        codes = self._coding.encode(found, 1)
        base, moves = self._trees.trace(codes)
        terms = _over_classes(np.vstack([self._start + base, moves[0]]))
        first, *others = [tuple(Term(powers_of_e(w, 1), exponential(w), w) for w in row) for row in terms.tolist()]
        shown: dict[int, str] = {}
        for owners, block in read_blocks(self.schema_, found):
            shown |= {owner: _shown(block, j) for j, owner in enumerate(owners)}
        pairs = zip(self._coding.columns, others)
        return [
            Factor(say("start"), "", first),
            *(Factor(column_name(c.name), shown[c.owner], own) for c, own in pairs),
        ]

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated: the leaves of all trees, for each class but one, and where to split."""
        check_is_fitted(self)
        splits = int((self._trees.splits >= 0).sum())
        return (splits + self.n_trees_) * (len(self.classes_) - 1) + splits


def _scores(start: Floats, trees: Trees, codes: NDArray[np.uint16]) -> Floats:
    scores = np.repeat(start[np.newaxis], codes.shape[1], axis=0)
    trees.add(codes, scores)
    return scores


def _over_classes(scores: Floats) -> Floats:
    """A score for each class: of two the first has none."""
    return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores


def _shown(block: Codes | Numbers, j: int) -> str:
    """The value of a column in the first row."""
    if isinstance(block, Numbers):
        x = float(block.column(j)[0])
        return say("missing") if np.isnan(x) else f"{x:.6g}"
    assert block.labels is not None
    code = int(column_codes(block, j)[0])
    return say("missing") if code < 0 else str(block.labels[j][code])
