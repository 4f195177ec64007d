"""The columns of a table as a matrix of numbers: the design of models that multiply columns.

A number is one feature: its distance from the mean in standard deviations (at most 8), or its normal score, the
quantile of a Gaussian at its rank. A category is a feature for each of its values, 0 or 1; of two values the rarer one
has it. Where values were missing, a feature says so, and the number counts as the mean. What has no feature (the
commoner of two values, rare values beyond the first 64, values never seen) is 0 everywhere; features that never change
are left out.

The design is learned from some rows and then fixed, so what it makes of a row depends on that row alone. A discriminant
of such features, `FeatureClassifier`, is a function of their sums: rows come and go as in any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from statistics import NormalDist
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError, RefusedError
from ingenuo.families import FAMILY
from ingenuo.families.categorical import column_codes, labelled
from ingenuo.families.counts import refuse_not_finite
from ingenuo.families.covariance import EACH, FULL, FeatureGaussians, Fold, Scatters, Shrinkage, left_out_scores
from ingenuo.families.gaussian import NORMAL, Gaussian, spread
from ingenuo.kernels import densities
from ingenuo.kernels.codes import count_codes
from ingenuo.kernels.moments import products, refuse_infinite, weights_by_cell
from ingenuo.models import model
from ingenuo.models.classifier import Classifier
from ingenuo.models.folds import Folds, n_folds_for, stratified_folds
from ingenuo.models.log_linear import fit_temperature
from ingenuo.models.model import CLASS, Plan, check_is_fitted
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Chunk, Codes, Counts, Numbers, Places
from ingenuo.rows.rows import Part, Rows, rows_of
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import Source, blocks, match
from ingenuo.show.arithmetic import Factor, Term, exponential, name_reason, powers_of_e
from ingenuo.tally.labels import Labels, encode, find, labels_of, meet, objects, same
from ingenuo.tally.tally import Tally

Floats = NDArray[np.float64]

FARTHEST = 8.0  # deviations from the mean, beyond which numbers count as if they lay there
MOST_VALUES = 64  # of a category that have a feature of their own
LEAST_ROWS = 2  # that a value needs for that, where there are more than two values
_MOST_COUNTS = 4096  # columns of counts: each is as long as all the rows
_PIECE = 1 << 15  # numbers that are made at a time: what stays in the cache


def _nothing() -> Any:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class ColumnFeatures:
    """The features of one column: the number or the values, and then whether it is missing."""

    name: Any
    owner: int  # its place in the schema
    number: bool = False
    centre: float = 0.0
    scale: float = 1.0
    knots: Floats = field(default_factory=_nothing)  # where normal scores are known; between them they lie on lines
    scores: Floats = field(default_factory=_nothing)
    values: Labels = field(default_factory=_nothing)  # those of a category that have a feature
    missing: bool = False

    @property
    def size(self) -> int:
        """How many features."""
        return int(self.number) + len(self.values) + int(self.missing)

    @property
    def names(self) -> list[str]:
        """What they are called."""
        name = column_name(self.name)
        own = [name] if self.number else [f"{name}={value}" for value in self.values.tolist()]
        return [*own, f"{name} missing"] if self.missing else own

    def keep(self, kept: NDArray[np.bool_]) -> ColumnFeatures:
        """Some of them."""
        last = len(kept) - int(self.missing)
        values = self.values[kept[:last]] if len(self.values) else self.values
        return replace(
            self,
            number=self.number and bool(kept[0]),
            values=values,
            missing=self.missing and bool(kept[-1]),
        )


@dataclass(frozen=True, eq=False)
class Design:
    """The features of all columns, in the schema's order.

    >>> schema = Schema.of({"age": "number", "sex": "category"})
    >>> ages = Numbers(schema.names[:1], 4, np.array([[20.0], [30.0], [np.nan], [40.0]]))
    >>> sexes = Codes(schema.names[1:], 4, [np.array([0, 1, 0, 0])], [np.array(["female", "male"], object)])
    >>> chunk = Chunk(4, {"gaussian": ages, "categorical": sexes})
    >>> design = Design.of(schema, chunk)
    >>> design.names
    ['age', 'age missing', 'sex=male']
    >>> design.matrix(chunk.blocks, 4).round(4).tolist()
    [[-1.2247, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.2247, 0.0, 0.0]]
    """

    schema: Schema
    columns: tuple[ColumnFeatures, ...]
    _first: Places = field(init=False, repr=False)  # the first feature of each column, and how many there are

    def __post_init__(self) -> None:
        object.__setattr__(self, "_first", np.cumsum([0, *(each.size for each in self.columns)]))

    @staticmethod
    def of(schema: Schema, chunk: Chunk, *, scores: bool = False) -> Design:
        """The design that some rows give: their means, deviations, values and, if asked for, normal scores."""
        if chunk.weights is not None and not chunk.weights.all():
            chunk = chunk.take(np.flatnonzero(chunk.weights))
        found: list[ColumnFeatures] = []
        for owners, block in read_blocks(schema, chunk.blocks):
            if isinstance(block, Codes):
                found += _categories(block, owners, chunk.weights)
            else:
                found += _numbers(block, owners, chunk.weights, scores)
        found.sort(key=lambda column: column.owner)
        return Design(schema, tuple(column for column in found if column.size))

    def __len__(self) -> int:
        return int(self._first[-1])

    @cached_property
    def names(self) -> list[str]:
        """What each feature is called: "age", "sex=male", "age missing"."""
        return [name for column in self.columns for name in column.names]

    @cached_property
    def owner(self) -> Places:
        """The place in the schema of the column of each feature."""
        return np.repeat(np.array([c.owner for c in self.columns], np.intp), [c.size for c in self.columns])

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Which features are numbers; the others are 0 or 1."""
        found = np.zeros(len(self), np.bool_)
        found[[first for first, column in zip(self._first.tolist(), self.columns) if column.number]] = True
        return found

    @property
    def has_scores(self) -> bool:
        """Whether numbers are normal scores."""
        return any(len(column.knots) for column in self.columns)

    def keep(self, features: NDArray[np.bool_]) -> Design:
        """Only those features that are marked."""
        cut = np.split(features, self._first[1:-1]) if self.columns else []
        kept = (column.keep(own) for column, own in zip(self.columns, cut))
        return Design(self.schema, tuple(column for column in kept if column.size))

    def matrix(self, blocks: Mapping[str, Block], n_rows: int, before: int = 0) -> Floats:
        """The features of some rows, rows × features; `before` are the rows that a message counts before them."""
        out = np.zeros((n_rows, len(self)))
        for family, kind, names, _ in self.schema.by_family:
            at = {name: place for place, name in enumerate(names.tolist())}
            mine = [(first, at[c.name], c) for first, c in zip(self._first.tolist(), self.columns) if c.name in at]
            block = blocks[family]
            if not mine:
                continue
            if kind == "category":
                assert isinstance(block, Codes)
                block = labelled(block)
                for first, j, column in mine:
                    _mark_values(block, j, column, first, out)
            else:
                assert isinstance(block, Numbers | Counts)
                _fill_numbers(_as_numbers(block), mine, out, before)
        return out

    def rows(self, blocks: Mapping[str, Block], n_rows: int) -> Numbers:
        """The features of some rows as columns of numbers, made where they are asked for."""
        ready = {name: labelled(block) if isinstance(block, Codes) else block for name, block in blocks.items()}
        return FeatureRows(np.arange(len(self)), n_rows, design=self, blocks=ready)

    def to_plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The design as plain values and arrays, for a model file."""
        columns = [
            {"at": c.owner, "centre": c.centre, "scale": c.scale, "knots": len(c.knots), "missing": c.missing,
             "number": c.number, "values": c.values.tolist()}
            for c in self.columns
        ]  # fmt: skip
        both = [np.concatenate([_nothing(), *(getattr(c, name) for c in self.columns)]) for name in ("knots", "scores")]
        return {"columns": columns}, {"knots": both[0], "scores": both[1]}

    @staticmethod
    def from_plain(schema: Schema, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Design:
        """What `to_plain` gave; an error where that is no design of this schema."""
        knots, scores = arrays["knots"], arrays["scores"]
        for each in (knots, scores):
            _check(each.dtype == np.float64 and each.shape == knots.shape[:1] and np.isfinite(each).all(), "its knots")
        names, columns, done = schema.names.tolist(), list[ColumnFeatures](), 0
        for each in plain["columns"]:
            owner, size = each["at"], each["knots"]
            _check(type(owner) is int and 0 <= owner < len(names) and type(size) is int and size >= 0, "its columns")
            own = slice(done, done + size)
            done += size
            centre, scale, values = float(each["centre"]), float(each["scale"]), labels_of(each["values"])
            column = ColumnFeatures(
                names[owner], owner, bool(each["number"]), centre, scale, knots[own], scores[own], values,
                bool(each["missing"]),
            )  # fmt: skip
            kind = FAMILIES[schema.family(names[owner])]
            _check(
                kind in (("category",) if not column.number and len(values) else ("number", "count", "category")), kind
            )
            _check(not column.number or (kind != "category" and not len(values)), kind)
            _check(np.isfinite(centre) and 0 < scale < np.inf and column.size, "its scales")
            _check(len(values) == len(each["values"]) <= MOST_VALUES and (np.diff(knots[own]) > 0).all(), "its values")
            columns.append(column)
        owners = [column.owner for column in columns]
        _check(done == len(knots) and owners == sorted({*owners}), "its columns")
        return Design(schema, tuple(columns))

    def same(self, other: Design) -> bool:
        """Whether both make the same of every row."""
        (mine, own), (its, arrays) = self.to_plain(), other.to_plain()
        return mine == its and all(np.array_equal(own[name], arrays[name]) for name in own)


def refuse_text(name: Any) -> InputError:
    """The error for a column of text."""
    called = column_name(name)
    error = InputError(
        f"column {called!r} is text, which is no number and no category; leave it out with "
        f"columns={{{called!r}: 'ignore'}}, or take a model that reads text, such as NaiveBayes"
    )
    return error.declaring(called, "ignore").typed_as("NaiveBayes", "--model naive-bayes")


@dataclass(frozen=True)
class FeatureRows(Numbers):
    """The features of rows, which are made a piece at a time: there may be many more of them than columns."""

    design: Design = field(kw_only=True)
    blocks: Mapping[str, Block] = field(kw_only=True)
    first: int = 0  # rows before these, where they are a part of others

    @property
    def step(self) -> int:
        """How many rows to ask for at a time."""
        return max(512, _PIECE // max(len(self.names), 1) & ~511)

    def rows(self, lo: int, hi: int) -> Floats:
        """The features of rows lo..hi."""
        blocks = {name: block.part(lo, hi) for name, block in self.blocks.items()}
        return self.design.matrix(blocks, hi - lo, self.first + lo)

    def _at(self, rows: Any, n_rows: int) -> FeatureRows:
        blocks = {name: block._at(rows, n_rows) for name, block in self.blocks.items()}
        first = self.first + rows.start if isinstance(rows, slice) else 0
        return replace(self, n_rows=n_rows, blocks=blocks, first=first)


def _check(holds: Any, what: str) -> None:
    if not holds:
        raise InputError(f"the features of the model are no design of its columns ({what})")


# Blocks.


def read_blocks(schema: Schema, blocks: Mapping[str, Block]) -> Iterator[tuple[list[int], Codes | Numbers]]:
    """The categories, with their labels, and the numbers of rows, counts among them, and the columns' places in the
    schema; text is refused.
    """
    places = {name: place for place, name in enumerate(schema.names.tolist())}
    for family, block in blocks.items():
        if FAMILIES[family] == "text":
            raise refuse_text(block.names[0])
        owners = [places[name] for name in block.names.tolist()]
        yield owners, labelled(block) if isinstance(block, Codes) else _as_numbers(block)


def _as_numbers(block: Any) -> Numbers:
    """Numbers as they are, counts as numbers."""
    if isinstance(block, Numbers):
        return block
    if len(block.names) > _MOST_COUNTS:
        raise InputError(
            f"the table has {len(block.names):,} columns of counts, more than the {_MOST_COUNTS:,} that this model "
            "makes features of; take NaiveBayes or SoftmaxRegression, which read sparse tables as they are"
        )
    refuse_not_finite(block)
    matrix = block.matrix.toarray() if block.sparse else block.matrix
    return Numbers(block.names, block.n_rows, np.asarray(matrix, np.float64))


# Numbers.


def _numbers(block: Numbers, owners: list[int], weights: Floats | None, scores: bool) -> list[ColumnFeatures]:
    one: Any = np.zeros(1, np.int64)
    labels = np.zeros(block.n_rows, np.int32)
    tally = Gaussian().tally(Chunk(block.n_rows, {}, labels, one, weights), block)
    counts, means, _, overall, exponents = spread(tally, block.names, one)
    with np.errstate(over="ignore", under="ignore"):
        deviations = np.ldexp(np.sqrt(overall), exponents)
    values = block.rows(0, block.n_rows)
    absent: NDArray[np.bool_] = np.asarray(np.isnan(values).any(axis=0))
    found = []
    for j, (name, owner) in enumerate(zip(block.names.tolist(), owners)):
        column = ColumnFeatures(name, owner, missing=bool(absent[j] and counts[0, j] > 0))
        if overall[j] > 0:
            scale = float(np.clip(deviations[j], *NORMAL))
            column = replace(column, number=True, centre=float(means[0, j]), scale=scale)
            column = _with_scores(column, values[:, j], weights) if scores else column
        found.append(column)
    return found


@cache
def _levels() -> Floats:
    """Probabilities between which normal scores differ: 512 steps from -5 to 5 deviations."""
    return np.array([NormalDist().cdf(z) for z in np.linspace(-5, 5, 513)])


def _with_scores(column: ColumnFeatures, values: Floats, weights: Floats | None) -> ColumnFeatures:
    """The score of a value is that of the share of rows below it and half of those at it; mean 0, variance 1."""
    codes, distinct = encode(values)
    if weights is None:
        counts = count_codes(codes, len(distinct)).astype(np.float64)
    else:
        counts = weights_by_cell(weights, codes.astype(np.int64), len(distinct)).floats()  # in any order of the rows
    shares = (np.cumsum(counts) - counts / 2) / counts.sum()
    chosen = np.arange(len(distinct))
    if len(distinct) > len(_levels()):
        chosen = np.unique([0, len(distinct) - 1, *np.searchsorted(shares, _levels()).clip(0, len(distinct) - 1)])
    # Rounded, as the C library's logarithm has other last bits on other machines.
    knots = np.asarray(distinct[chosen], np.float64)
    least = 2.0**-53
    scores = np.array([round(NormalDist().inv_cdf(min(max(p, least), 1 - least)), 12) for p in shares[chosen].tolist()])
    every = np.interp(distinct, knots, scores)
    mean = float((every * counts).sum() / counts.sum())
    deviation = float(np.sqrt((every * every * counts).sum() / counts.sum() - mean * mean))
    return replace(column, knots=knots, scores=(scores - mean) / max(deviation, 1e-9))


def _fill_numbers(block: Numbers, columns: list[tuple[int, int, ColumnFeatures]], out: Floats, before: int) -> None:
    """The features of columns of numbers: first feature, place in the block, column."""
    plain = [each for each in columns if each[2].number and not len(each[2].knots)]
    scored = [each for each in columns if each[2].number and len(each[2].knots)]
    absent = [(first + int(c.number), j) for first, j, c in columns if c.missing]
    at, places = (np.array([each[i] for each in plain], np.intp) for i in (0, 1))
    centres, scales = (np.array([getattr(c, name) for _, _, c in plain]) for name in ("centre", "scale"))
    everything = len(places) == len(block.names)
    step = max(64, _PIECE // max(len(block.names), 1))
    for lo in range(0, block.n_rows, step):
        hi = min(lo + step, block.n_rows)
        X, part = block.rows(lo, hi), out[lo:hi]
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(X.sum()) and np.isinf(X).any():
                refuse_infinite(block, before + lo, X, int(np.isinf(X).argmax()))
            Z = ((X if everything else X[:, places]) - centres) / scales
        np.clip(Z, -FARTHEST, FARTHEST, out=Z)
        np.copyto(Z, 0.0, where=np.isnan(Z))
        part[:, at] = Z
        for first, j, column in scored:
            z = np.interp(X[:, j], column.knots, column.scores)
            part[:, first] = np.where(np.isnan(z), 0.0, z)
        for first, j in absent:
            part[:, first] = np.isnan(X[:, j])


# Categories.


def _categories(block: Codes, owners: list[int], weights: Floats | None) -> list[ColumnFeatures]:
    block, found = labelled(block), []
    assert block.labels is not None
    for j, (name, owner) in enumerate(zip(block.names.tolist(), owners)):
        codes, labels = np.asarray(column_codes(block, j)), block.labels[j]
        if weights is None:
            counts = count_codes(codes + 1, len(labels) + 1).astype(np.float64)
        else:
            counts = weights_by_cell(weights, codes.astype(np.int64) + 1, len(labels) + 1).floats()
        seen, missing = counts[1:] > 0, bool(counts[0] > 0)
        values, shares = labels[seen], counts[1:][seen]
        order = np.argsort(find(labels_of(values), values)) if len(values) else np.zeros(0, np.intp)
        values, shares = labels_of(values), shares[order]
        if len(values) + missing == 1:
            values, missing = values[:0], False
        elif len(values) + missing == 2:
            values = values[:0] if missing else values[[int(shares[0] >= shares[1])]]
        else:
            common = np.argsort(-shares, kind="stable")[:MOST_VALUES]
            values = values[np.sort(common[shares[common] >= LEAST_ROWS])]
        found.append(ColumnFeatures(name, owner, values=values, missing=missing))
    return found


def _mark_values(block: Codes, j: int, column: ColumnFeatures, first: int, out: Floats) -> None:
    assert block.labels is not None
    labels, codes = block.labels[j], np.asarray(column_codes(block, j))
    own = labels if same(labels, column.values) else meet(labels, column.values)
    table = np.append(find(column.values, own), len(column.values) if column.missing else -1)  # last: code -1
    features = table[codes]
    rows = np.flatnonzero(features >= 0)
    out.ravel()[rows * out.shape[1] + (first + features[rows])] = 1.0


# The classifier of such features: what is tried, and how much work that may be.
POOLED, DIAGONALS = (0.0, 0.15, 0.4, 0.7, 1.0), (0.003, 0.03, 0.1, 0.3, 0.6, 0.9)
_CELLS = 400_000  # classes × features²
_CHOOSERS = 50_000  # rows that the features and the shrinkage are found by
_JUDGED = 10_000  # left-out rows by which the shrinkage is chosen


@dataclass(frozen=True, eq=False)
class Chosen:
    """What the first rows of a regularised discriminant decide, and is then kept."""

    design: Design
    shrinkage: Shrinkage
    temperature: float

    def same(self, other: Chosen | None) -> bool:
        """Whether both are the same choice."""
        if other is None or (self.shrinkage, self.temperature) != (other.shrinkage, other.temperature):
            return False
        return self.design.same(other.design)

    def estimate(self, tally: Tally, classes: Labels, *, unbiased: bool) -> FeatureGaussians:
        """A Gaussian of the features for each class."""
        table, K = tally.scatter(EACH), len(classes)
        sums = [tally.over(CLASS, classes).floats(), np.zeros((K, 0)), np.zeros((K, 0))]  # where no column varies
        if table is not None:
            table = table.over(classes)
            sums = [each.floats() for each in (table.counts, table.sums, table.products)]
        found, amounts = Scatters.of(*sums, unbiased=unbiased), self.shrinkage
        return FeatureGaussians(
            objects(self.design.names), found.counts, found.means, found.means, np.zeros(len(self.design)),
            found.covariances(amounts), np.array([amounts.pooled, amounts.diagonal]), amounts.pooled >= 1,
        )  # fmt: skip


def make_design(schema: Schema, chunk: Chunk, *, scores: bool) -> Design:
    """The features of a regularised discriminant: those that vary most, so that classes × features² ≤ 400,000."""
    design = Design.of(schema, chunk, scores=scores)
    most = int(np.clip(math.sqrt(_CELLS / max(len(chunk.classes), 1)), 30, 150))
    if len(design) <= most:
        return design
    X, weights = design.matrix(chunk.blocks, chunk.n_rows), chunk.weights
    means = np.average(X, axis=0, weights=weights)
    # Rounded: in another order of the rows, features that vary alike would come in another order.
    variances = (np.average(X * X, axis=0, weights=weights) - means**2).round(9)
    kept = np.zeros(len(design), np.bool_)
    kept[np.argsort(-variances, kind="stable")[:most]] = True
    return design.keep(kept)


def choose(
    schema: Schema, chunk: Chunk, folds: Folds, log_shares: Callable[[Floats, Labels], Floats], *, unbiased: bool
) -> tuple[Chosen, Floats]:
    """The features, the shrinkage and the temperature with the least log loss of left-out rows, and their answers.

    Everything that a row is answered by is found from the other folds; only the choice itself is made by all.
    """
    n, K = chunk.n_rows, len(chunk.classes)
    codes, weights = chunk.coded, chunk.weights
    n_folds = int(folds.max(initial=0)) + 1
    if K < 2 or n_folds < 2:
        return Chosen(make_design(schema, chunk, scores=False), Shrinkage(0.5, 0.05), 1.0), np.zeros((n, K))
    judged = np.flatnonzero(stratified_folds(codes, -(-n // _JUDGED), 1) == 0) if n > _JUDGED else np.arange(n)
    best, chosen, cuts = math.inf, None, list[Fold]()
    for scores in (False, True):
        fitted = list[Fold]()
        for fold in range(n_folds):
            held, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            own = chunk.take(rest)
            design = make_design(schema, own, scores=scores)
            sums = products(design.rows(own.blocks, len(rest)), own.coded, K, own.weights, pooled=False)
            found = Scatters.of(*(each.floats() for each in sums), unbiased=unbiased)
            X = design.matrix(chunk.take(held).blocks, len(held))
            fitted.append(Fold(held, X, found, log_shares(found.counts, chunk.classes)))
        base = np.empty((n, K))
        for each in fitted:
            base[each.held] = each.log_shares
        for pooled in POOLED:
            for diagonal, joint in zip(DIAGONALS, left_out_scores(fitted, judged, n, K, pooled, DIAGONALS)):
                temperature, loss = fit_temperature(
                    joint, base[judged], codes[judged], None if weights is None else weights[judged]
                )
                if loss < best - 1e-9:
                    best, chosen, cuts = loss, (scores, Shrinkage(pooled, diagonal), temperature), fitted
        if not any(column.number for column in Design.of(schema, chunk).columns):
            break  # there are no numbers to have scores
    assert chosen is not None
    amounts = chosen[1]
    joint = base + chosen[2] * left_out_scores(cuts, np.arange(n), n, K, amounts.pooled, [amounts.diagonal])[0]
    densities.posterior(joint, log=True)
    return Chosen(make_design(schema, chunk, scores=chosen[0]), *chosen[1:]), joint


Pair = tuple[Places, Places]  # of each row, two classes


class FeatureClassifier(Classifier):
    """A discriminant that may read features of its columns: which, and how far it shrinks, the first rows choose."""

    columns: Any
    class_prior: Any
    unbiased: bool
    _chosen: ClassVar[Chosen | None] = None  # of one that makes features, and has learned

    @property
    def _makes_features(self) -> bool:
        """Whether it does; else it reads numbers as they are."""
        raise NotImplementedError

    # Learning.

    def _schema_of(self, source: Source) -> Schema:
        if not self._makes_features:
            return super()._schema_of(source)
        schema = NaiveBayes(self.columns, numbers="gaussian")._schema_of(source)
        for name in schema.texts:
            raise refuse_text(name)
        return schema

    def _plan(self, rows: Rows, *, whole: bool = False) -> Plan:
        if not self._makes_features:
            return super()._plan(rows, whole=whole)
        return self._plan_features(rows, None, whole=whole)[0]

    def _plan_features(self, rows: Rows, folds: Folds | None, *, whole: bool) -> tuple[Plan, Floats]:
        """The columns, the features and the shrinkage; and what left-out rows are answered, by these folds or ours."""
        some = rows.sample(_CHOOSERS, _CHOOSERS, 0)[0] if folds is None else rows.in_memory()
        schema = super()._plan(rows, whole=whole).schema
        source, codes, classes, weights = self._open_part(Part(some.X, some.y, some.weights))
        found = blocks(source, schema, match(schema, source))
        chunk = Chunk(source.n_rows, found, codes, classes, weights)
        if folds is None:
            folds = stratified_folds(codes, n_folds_for(len(codes)))
        chosen, logs = choose(schema, chunk, folds, self._log_shares, unbiased=bool(self.unbiased))
        return Plan(schema, {"_chosen": chosen}), logs

    def _fit_with_folds(self, X: Any, y: NDArray[Any], sample_weight: Floats | None, folds: Folds) -> Floats:
        if not self._makes_features:
            return super()._fit_with_folds(X, y, sample_weight, folds)
        self._check_settings()
        with self._undo_on_error():
            rows = rows_of(X, y, sample_weight)
            self._forget_all()
            plan, logs = self._plan_features(rows, folds, whole=True)
            self._learn_by(plan, rows, whole=True)
        return logs

    @property
    def _is_additive(self) -> bool:
        return not self._makes_features  # which, with the shrinkage, were chosen by the rows

    def _check_whole(self, schema: Schema, classes: Labels, tally: Tally) -> None:
        if self._chosen is None:
            super()._check_whole(schema, classes, tally)
            return
        self._check_classes(classes)
        checks.warn_of_numbers(classes, tally.over(CLASS, classes).floats())

    def _check_tally(self, schema: Schema, tally: Tally) -> None:
        super()._check_tally(schema, tally)
        if self._chosen is not None:
            FAMILY[FULL].check(tally)

    def _log_shares(self, counts: Floats, classes: Labels) -> Floats:
        """The log prior of each class by the rows of some folds, which may have none of a class."""
        shares = model.share_classes(self.class_prior, counts, classes)[0]
        return np.asarray(np.log(np.maximum(shares, 0.5 / (counts.sum() + 0.5 * len(counts)))))

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        found = super()._blocks(source, schema)
        if self._chosen is not None:
            found[FULL] = self._chosen.design.rows(found, source.n_rows)
        return found

    def _chunk_of(self, part: Part) -> Chunk:
        chunk = super()._chunk_of(part)
        return chunk if self._chosen is None else replace(chunk, blocks={FULL: chunk.blocks[FULL]})

    def _forget_all(self) -> None:
        super()._forget_all()
        self.__dict__.pop("_chosen", None)

    def _check_other(self, other: Self) -> None:
        if self._chosen is not None and not self._chosen.same(other._chosen):
            raise MergeError(
                "the features and the shrinkage of regularised discriminants are those of their first rows, and these "
                "began with other rows; let both begin with the same (copy the first, forget its rows, and go on)"
            )

    def _extra(self) -> model.State:
        if self._chosen is None:
            return super()._extra()
        plain, arrays = self._chosen.design.to_plain()
        amounts = self._chosen.shrinkage
        chosen = {"pooled": amounts.pooled, "diagonal": amounts.diagonal, "temperature": self._chosen.temperature}
        return {**plain, **chosen}, arrays

    def _restore(self, schema: Schema, tally: Tally, values: Mapping[str, Any], arrays: model.Tensors) -> None:
        if self._makes_features:
            design = Design.from_plain(schema, values, arrays)
            amounts = [float(values[name]) for name in ("pooled", "diagonal", "temperature")]
            if not (0 <= amounts[0] <= 1 and 0 < amounts[1] <= 1 and 0 < amounts[2] < np.inf):
                raise InputError(f"the shrinkage and the temperature of the model make no sense: {amounts}")
            self.__dict__["_chosen"] = Chosen(design, Shrinkage(*amounts[:2]), amounts[2])
            table = tally.scatter(EACH)
            if not same(np.arange(0) if table is None else table.columns, np.arange(len(design))) and CLASS in tally:
                raise InputError("the sums of the model are of other features than it has")
        super()._restore(schema, tally, values, arrays)

    # Answering.

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        if self._chosen is None:
            return super()._joint(found, n_rows, floor)
        return self._tempered(self._parameters().own.add_log_likelihood, found, n_rows, floor)

    def _tempered(
        self, add: Callable[..., None], found: dict[str, Block], n_rows: int, floor: float | None = None
    ) -> Floats:
        """log π + t · log density: the prior is what it is, however little the features say."""
        assert self._chosen is not None
        prior, joint = self._parameters().log_prior, np.zeros((n_rows, len(self.classes_)))
        add(found[FULL], joint)
        joint *= self._chosen.temperature
        joint += prior if floor is None else np.maximum(prior, floor)
        return joint

    def _by_column(self, X: Floats) -> Floats:
        """-½ t z_i (Σ⁻¹z)_i of the features of each column that has some: (columns, rows, classes)."""
        assert self._chosen is not None
        own, design = self._parameters().own, self._chosen.design
        first = np.flatnonzero(np.diff(design.owner, prepend=-1))
        found = np.empty((len(first), len(X), len(own.means)))
        for k, mean in enumerate(own.means):
            root, z = own.roots[min(k, len(own.roots) - 1)], X - mean
            found[:, :, k] = np.add.reduceat(z * ((z @ root) @ root.T), first, axis=1).T if len(first) else 0.0
        return np.asarray(-0.5 * self._chosen.temperature * found)

    def _factors(self, found: dict[str, Block]) -> list[Factor]:
        """The prior, the density at the mean, and what the features of each column say: they add up."""
        if self._chosen is None:
            return super()._factors(found)
        parameters, block = self._parameters(), found[FULL]
        assert isinstance(block, Numbers)
        logs = dict(
            zip(np.unique(self._chosen.design.owner).tolist(), self._by_column(block.rows(0, 1))[:, 0].tolist())
        )
        peaks = self._chosen.temperature * parameters.own.log_peaks
        factors = [Factor("prior", "", parameters.prior), Factor("at the mean", "", tuple(map(_power, peaks.tolist())))]
        for place, value in _values(self.schema_, found).items():
            name, terms = column_name(self.schema_.names[place]), tuple(map(_power, logs.get(place, [])))
            factors.append(Factor(name, value, terms, "" if terms else "left out: it hardly varies"))
        return factors

    @property
    def _entries_of(self) -> Callable[[Any, Pair], tuple[Places, list[tuple[Floats, Callable[[int], str]]]]]:
        """Of many rows what each column says for one class and against another, and how it is called."""
        if self._chosen is None:
            raise AttributeError("the columns of this discriminant are no features")
        return self._say

    def _say(self, rows: Any, pair: Pair) -> tuple[Places, list[tuple[Floats, Callable[[int], str]]]]:
        found, n_rows = self._rows(rows)
        block, every = found[FULL], np.arange(n_rows)
        assert self._chosen is not None
        assert isinstance(block, Numbers)

        @lru_cache(maxsize=8)
        def cells(row: int) -> dict[int, str]:
            return _values(self.schema_, {name: each.part(row, row + 1) for name, each in found.items()})

        def name(place: int, row: int) -> str:
            return name_reason(column_name(self.schema_.names[place]), cells(row)[place])

        said, X = [], block.rows(0, n_rows)
        for place, logs in zip(np.unique(self._chosen.design.owner).tolist(), self._by_column(X)):
            said.append((logs[every, pair[0]] - logs[every, pair[1]], partial(name, place)))
        peaks = self._chosen.temperature * self._parameters().own.log_peaks
        return every, [*said, (peaks[pair[0]] - peaks[pair[1]], lambda row: "at the mean")]

    def sample(self, n: int = 1, class_: Any = None, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw rows from the model, as of any classifier; of features that are made of columns it cannot."""
        if self._chosen is not None:
            raise _refusal("cannot sample")
        return super().sample(n, class_, random_state)

    def _predict_joint_log_proba(self, X: Any) -> Floats:
        if self._chosen is not None:
            raise _refusal("has no joint probabilities")
        return super()._predict_joint_log_proba(X)

    def _features(self) -> Chosen:
        check_is_fitted(self)
        if self._chosen is None:
            raise RefusedError(f"with covariance={self.covariance!r} nothing is chosen; take covariance='regularised'")
        return self._chosen


def _refusal(what: str) -> RefusedError:
    return RefusedError(
        f"a regularised discriminant {what}: its Gaussians are of features, not of rows; take covariance='full', or "
        "NaiveBayes"
    )


def _power(log: float) -> Term:
    return Term(powers_of_e(log, 1.0), exponential(log), log)


def _values(schema: Schema, found: Mapping[str, Block]) -> dict[int, str]:
    """The cells of one row as text, by the place of their columns."""
    shown: dict[int, str] = {}
    for family, _, _, chosen in schema.by_family:
        block = found[family]
        if isinstance(block, Codes):
            block = labelled(block)
            assert block.labels is not None
            codes = [int(column_codes(block, j)[0]) for j in range(len(block.names))]
            cells = ["missing" if code < 0 else str(own[code]) for code, own in zip(codes, block.labels)]
        else:
            cells = ["missing" if np.isnan(x) else f"{x:.6g}" for x in _as_numbers(block).rows(0, 1)[0].tolist()]
        shown.update(zip(np.flatnonzero(chosen).tolist(), cells))
    return dict(sorted(shown.items()))
