"""The columns of a table as a matrix of numbers: the design of models that multiply columns.

A number is one feature: its distance from the mean in standard deviations (at most 8), or its normal score, the
quantile of a Gaussian at its rank. A category is a feature for each of its values, 0 or 1; of two values the rarer one
has it. Where values were missing, a feature says so, and the number counts as the mean. What has no feature (the
commoner of two values, rare values beyond the first 64, values never seen) is 0 everywhere; features that never change
are left out.

The design is learned from some rows and then fixed, so what it makes of a row depends on that row alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.categorical import column_codes, labelled
from ingenuo.families.counts import refuse_not_finite
from ingenuo.families.gaussian import NORMAL, Gaussian, spread
from ingenuo.kernels import densities
from ingenuo.kernels.codes import count_codes
from ingenuo.kernels.moments import refuse_infinite, weights_by_cell
from ingenuo.rows.part import Block, Chunk, Codes, Counts, Numbers, Places
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.tally.labels import Labels, encode, find, labels_of, meet, same

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

    @cached_property
    def slopes(self) -> Floats:
        """Those of the lines from each knot to the next; 0 from the last."""
        with np.errstate(over="ignore"):
            found: Floats = np.diff(self.scores) / np.diff(self.knots)
        return np.append(found, np.zeros(min(len(self.knots), 1)))

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

    def sheet_columns(self) -> dict[Any, dict[str, Any]]:
        """Between what nearly all numbers lie, three deviations from the mean; and the values that have a feature."""
        return {
            c.name: {"low": c.centre - 3 * c.scale, "high": c.centre + 3 * c.scale}
            if c.number
            else {"values": c.values.tolist()}
            for c in self.columns
            if c.number or len(c.values)
        }

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

    def sheet_nodes(self) -> list[dict[str, Any]]:
        """The features of each column, as a sheet has them."""
        return [
            {
                "op": "features", "column": c.name, "number": c.number, "centre": c.centre, "scale": c.scale,
                "knots": c.knots, "scores": c.scores, "slopes": c.slopes, "values": c.values.tolist(),
                "missing": c.missing,
            }
            for c in self.columns
        ]  # fmt: skip

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
    if scored:
        to, among = (np.array([each[i] for each in scored], np.int64) for i in (0, 1))
        lines = densities.Polylines.of([(c.knots, c.scores, c.slopes) for _, _, c in scored])
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
        if scored:
            densities.interpolate(X, among, lines, part, to)
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
