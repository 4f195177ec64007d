"""Softmax regression with a penalty that rows choose which were not learned, and with products of features.

Numbers are measured in standard deviations, so that one penalty is as fair to each of them. It is the one of a path of
penalties with the least cross-entropy of left-out rows: each fold's rows are answered by weights that were found
without them, and everything else (means, values, products, ratios) is found without them too.

Products are screened by a score test. With r_c = [class is c] - p_c, what the linear model left unexplained of class c,

    score(a b) = Σ_c cov(a b, r_c)² / var(a b)

is, but for a constant, what the log-likelihood would gain if the product were added with weights of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.families.categorical import column_codes, labelled
from ingenuo.kernels import portable
from ingenuo.kernels.counts import Columns, add_pairs
from ingenuo.language import say
from ingenuo.models.design import Design
from ingenuo.models.folds import FLOOR, Folds
from ingenuo.models.linear_features import (
    Entries,
    Features,
    Group,
    by_class,
    factor,
    groups_of,
    join_entries,
    log_ratios,
)
from ingenuo.models.solver import (
    Beside,
    DenseFold,
    Fold,
    Matrix,
    Point,
    Problem,
    RidgePath,
    Solution,
    Table,
    ridge_path,
)
from ingenuo.rows.part import Block, Chunk, Codes, Places
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.show.arithmetic import Factor, Floats
from ingenuo.tally.labels import Labels
from ingenuo.tally.tally import Tally

TABLE = "table"  # the name of the group that has the numbers, the categories and the counts
FARTHEST = 4.0  # deviations from the mean, beyond which numbers count as if they lay there
PATH = (50.0, 10.0, 2.0, 0.3, 0.04)  # penalties, from the heaviest; of a single logit half of each does the same
TEXT_PATH = (2.0, 0.6, 0.2, 0.07, 0.02, 0.006, 0.002)  # where most features are words
MOST, MOST_WEIGHTS = 300, 6_000  # products, and their weights for all classes together
_MOST_FACTORS = 256  # features whose products are looked at
_SPARSE = 500  # columns of counts, beyond which they are no part of the table
_LEAST = -30.0  # log probability: a class that is not among the rows that were learned is not quite impossible
_RIDGE = 3.0  # how strongly the temperature is drawn to 1
_SINGLE = 1e-4  # a tolerance for which single precision is enough
_ROUGH = 1e-2  # how near the least possible sum the weights of a fold come
_JUDGES, _MANY = 1, 2_000  # folds that choose the penalty, from so many rows on
_ROWS = 1 << 12  # that are answered at a time
_NONE: NDArray[np.int32] = np.zeros(0, np.int32)


def in_table(family: str, names: Labels) -> bool:
    """Whether the columns of a family are part of the table; texts, and thousands of counts, stay sparse."""
    kind = FAMILIES[family]
    return kind in ("number", "category") or (kind == "count" and len(names) <= _SPARSE)


@dataclass(eq=False)
class TableFeatures(Features):
    """The features of a design, at most four deviations from their means, and products of two of them."""

    design: Design
    left: NDArray[np.int32] = field(default_factory=lambda: _NONE)
    right: NDArray[np.int32] = field(default_factory=lambda: _NONE)

    def __post_init__(self) -> None:
        self.size = len(self.design) + len(self.left)

    def take(self, found: Mapping[str, Block]) -> Any:
        """All blocks."""
        return found

    def matrix(self, found: Mapping[str, Block], n_rows: int) -> Floats:
        """The features, without the products."""
        return np.clip(self.design.matrix(found, n_rows), -FARTHEST, FARTHEST)

    def add(self, weights: Floats, block: Mapping[str, Block], out: Floats) -> None:
        """The features and products times their weights, a row after the other."""
        lefts = np.concatenate([np.arange(len(self.design), dtype=np.int32), self.left])
        rights = np.concatenate([np.full(len(self.design), -1, np.int32), self.right])
        for lo in range(0, len(out), _ROWS):
            hi = min(lo + _ROWS, len(out))
            part = block if hi - lo == len(out) else {name: each.part(lo, hi) for name, each in block.items()}
            logits = np.zeros((hi - lo, weights.shape[1]))
            add_pairs(self.matrix(part, hi - lo), lefts, rights, weights, logits)
            out[lo:hi, out.shape[1] - weights.shape[1] :] += logits  # of two classes, the second has it

    def names(self) -> list[str]:
        """Those of the features, "a × b" and "a²"."""
        own = self.design.names
        pairs = zip(self.left.tolist(), self.right.tolist())
        return [*own, *(f"{own[i]}²" if i == j else f"{own[i]} × {own[j]}" for i, j in pairs)]

    def factors(self, weights: Floats, block: Mapping[str, Block]) -> list[Factor]:
        """A factor for each column, by the one feature that it has in this row; then the products that are not zero."""
        row, table, values = self.matrix(block, 1)[0], by_class(weights), _values(block)
        found, at, owner = list[Factor](), np.flatnonzero(row).tolist(), self.design.owner
        active = {int(owner[j]): j for j in at}
        names = self.design.schema.names.tolist()
        for column in self.design.columns:
            name, value, j = column_name(column.name), values[column.name], active.get(column.owner)
            if j is not None:
                found.append(factor(name, value, table[j], float(row[j])))
            else:
                note = say("counts as the mean" if column.number else "adds nothing")
                if value is MISSING and not column.number:
                    note = say("left out")
                found.append(Factor(name, value, note=note))
        for t, (i, j) in enumerate(zip(self.left.tolist(), self.right.tolist()), len(self.design)):
            x = float(row[i] * row[j])
            if x:
                one, two = (names[owner[each]] for each in (i, j))
                both = {"one": values[one], "two": values[two]}
                shown = f"{values[one]}²" if i == j else say("{one} × {two}", **both)
                called = column_name(one) + ("²" if i == j else f" × {column_name(two)}")
                found.append(factor(called, shown, table[t], x))
        return found

    def sheet_terms(self, weights: Floats) -> Iterator[dict[str, Any]]:
        """The features, and the products of two of them, that weights multiply."""
        yield {
            "op": "products", "columns": [column.name for column in self.design.columns],
            "design": self.design.sheet_nodes(), "farthest": FARTHEST, "left": self.left, "right": self.right,
            "weights": weights,
        }  # fmt: skip

    def to_plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """As plain values and arrays, for a model file."""
        plain, arrays = self.design.to_plain()
        return plain, {**arrays, "left": self.left, "right": self.right}

    @staticmethod
    def from_plain(schema: Schema, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TableFeatures:
        """What `to_plain` gave; an error where that are no features of this schema."""
        design = Design.from_plain(schema, plain, arrays)
        left, right = arrays["left"], arrays["right"]
        for each in (left, right):
            within = each.size == 0 or (each.min() >= 0 and each.max() < len(design))
            if each.dtype != np.int32 or each.shape != left.shape[:1] or not within:
                raise InputError("the products of the model are none of its features")
        return TableFeatures(design, left, right)


MISSING = say("missing")


def _values(block: Mapping[str, Block]) -> dict[Any, str]:
    """What each column of one row has, as it is shown."""
    found: dict[Any, str] = {}
    for each in block.values():
        for j, name in enumerate(each.names.tolist()):
            if isinstance(each, Codes):
                own = labelled(each)
                code = int(column_codes(own, j)[0])
                found[name] = MISSING if code < 0 or own.labels is None else str(own.labels[j][code])
            elif hasattr(each, "rows"):
                x = float(each.rows(0, 1)[0, j])
                found[name] = MISSING if np.isnan(x) else f"{x:.6g}"
            elif hasattr(each, "matrix"):
                found[name] = f"{each.matrix[0, j]:.6g}"
    return found


# Learning.


@dataclass(eq=False)
class Learning:
    """The rows that are learned, and how."""

    schema: Schema
    chunk: Chunk
    tally: Tally
    problem: Problem  # of all rows, with the tolerance that the last fit has
    exponents: tuple[float, ...]  # of the ratios that words and sparse counts are multiplied by; none: by nothing
    alpha: float

    def __post_init__(self) -> None:
        chunk = self.chunk
        inside = {name: each for name, each in chunk.blocks.items() if in_table(name, each.names)}
        self.table, self.classes = replace(chunk, blocks=inside), chunk.classes
        self.width = 1 if len(self.classes) == 2 else len(self.classes)
        groups: dict[str, Any] = groups_of(self.schema, self.tally, self.classes, set(inside))
        self.groups: dict[str, Group] = groups
        self.entries: Entries | None = None
        if groups:
            parts = [group.entries(chunk.blocks[name]) for name, group in groups.items()]
            self.entries = join_entries(parts, [group.size for group in groups.values()])

    def reweigh(self, rows: Places) -> Floats:
        """What the sparse features are multiplied by for one who has seen only some rows; 0: not known."""
        assert self.entries is not None
        counts, first = np.zeros(self.chunk.n_rows), 0
        counts[rows] = 1.0 if self.chunk.weights is None else self.chunk.weights[rows]
        seen: Floats = np.bincount(self.entries[1], counts[self.entries[0]], self._n_sparse).astype(np.float64)
        found = list[Floats]()
        for name, group in self.groups.items():
            own, first = seen[first : first + group.size], first + group.size
            found.append(group.reweigh(self.chunk.blocks[name], counts, own))
        return np.concatenate(found)

    @property
    def _n_sparse(self) -> int:
        return sum(group.size for group in self.groups.values())

    def columns(self, rows: Places, factors: Floats) -> Columns:
        """The sparse features of some rows, multiplied."""
        assert self.entries is not None
        place = np.full(self.chunk.n_rows, -1, np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        at, features, values = self.entries
        kept = (place[at] >= 0) & (factors[features] != 0)
        at, features, values = place[at[kept]], features[kept], values[kept] if len(values) else values
        if len(values):
            values = values * factors[features]
        last, groups = 0, self.groups.values()
        for size, unit in ((size, unit) for group in groups for size, unit in zip(group.bags(), group.units())):
            first, last = last, last + size
            if unit:  # of which what is not known is no part
                own = (features >= first) & (features < last)
                length = np.sqrt(np.bincount(at[own], values[own] ** 2, len(rows)))
                values[own] /= length[at[own]]
        return Columns.of(len(rows), self._n_sparse, at, features, values)

    def ratios(self, columns: Columns, problem: Problem, exponent: float) -> Floats:
        """The log ratios of the sparse features in some rows; a word that is in none of them has none."""
        one_hot = np.zeros((columns.n_rows, len(self.classes)))
        one_hot[np.arange(columns.n_rows), problem.labels] = problem.weights if len(problem.weights) else 1.0
        sums = columns.gather(one_hot).T
        found, first = np.zeros((sums.shape[1], self.width)), 0
        for size in (size for group in self.groups.values() for size in group.bags()):
            used = first + np.flatnonzero(sums[:, first : first + size].any(axis=0))
            found[used] = log_ratios(sums[:, used], self.alpha, exponent)
            first += size
        return found

    def lose(self, held: Places, logits: Floats) -> float:
        """The cross-entropy of rows, of which none is quite impossible."""
        own = -log_posterior(logits)[np.arange(len(held)), self.chunk.coded[held]]
        return float(own.sum() if self.chunk.weights is None else own @ self.chunk.weights[held])


class Part:
    """Some rows to learn from and others to answer: their features, found from the first ones alone."""

    def __init__(self, data: Learning, rows: Places, held: Places, *, rough: bool) -> None:
        self.data, self.rows, self.held = data, rows, held
        self.features = TableFeatures(Design.of(data.schema, data.table.take(rows) if rough else data.table))
        matrix = self.features.matrix(data.chunk.blocks, data.chunk.n_rows)
        single = np.float32 if rough or data.problem.tolerance >= _SINGLE else np.float64
        self.own: NDArray[np.floating[Any]] = matrix[rows].astype(single)
        self.others: NDArray[np.floating[Any]] = matrix[held].astype(single)
        weights = data.problem.weights
        self.problem = replace(
            data.problem,
            labels=data.problem.labels[rows],
            weights=weights[rows] if len(weights) else weights,
            tolerance=_ROUGH if rough else data.problem.tolerance,
        )
        self.scales = np.ones(len(self.features.design))
        self.sparse, self.exponent = list[Columns](), 1.0
        if data.groups:
            factors = data.reweigh(rows) if rough else np.ones(sum(group.size for group in data.groups.values()))
            self.sparse = [data.columns(which, factors) for which in (rows, held)]

    def fold(self, start: Point | None = None) -> Fold | DenseFold:
        """What the solver is given."""
        if not self.sparse:
            return DenseFold(Matrix(self.own), Matrix(self.others), self.problem, self.data.width, start)
        return Fold(*self._given(), start)

    def _given(self) -> tuple[Table, Table, Problem, int, Floats | None]:
        table, held = self._table(self.own, 0), self._table(self.others, 1)
        stretch = None
        if self.data.exponents and self.sparse:
            stretch = np.ones((table.shape[1], self.data.width))
            stretch[self.own.shape[1] :] = self.data.ratios(self.sparse[0], self.problem, self.exponent)
        return table, held, self.problem, self.data.width, stretch

    def solve(self, l2: float, start: Point | None = None) -> Solution:
        """The weights of a penalty, as exact as was asked for: beginning with rough ones, where these can be had."""
        if self.sparse:
            return Fold(*self._given(), start).solve(l2)
        none, given = Matrix(self.own[:0]), (self.problem, self.data.width)
        near = DenseFold(Matrix(self.own.astype(np.float32, copy=False)), none, *given, start)
        if self.own.dtype == np.float32:
            return near.solve(l2)
        near.answer(l2)
        return DenseFold(Matrix(self.own), none, *given, near.point).solve(l2)

    def _table(self, dense: NDArray[np.floating[Any]], which: int) -> Table:
        if not self.sparse:
            return Matrix(dense)
        return Beside(Matrix(dense), self.sparse[which]) if dense.shape[1] else self.sparse[which]

    def multiply(self, point: Point) -> Point:
        """Put the products that the weights at a point leave most to beside the features; the point, so widened."""
        design, data = self.features.design, self.data
        most = min(MOST, MOST_WEIGHTS // data.width)
        _, residuals = self.problem.residuals(point.logits + point.intercepts)
        linear = point.own[: len(design)]
        left, right = screen(self.own, linear, residuals, design.owner, design.is_number, self.problem.weights, most)
        both = np.flatnonzero(design.is_number[left] & design.is_number[right])
        self.own, self.others = (_with_products(each, left, right) for each in (self.own, self.others))
        scales = np.ones(len(left))
        at = len(design) + both
        scales[both] = np.maximum(_deviations(self.own[:, at], self.problem.weights), 1e-6)
        for each in (self.own, self.others):
            each[:, at] *= (1 / scales[both]).astype(each.dtype)
        self.scales = np.concatenate([self.scales, scales])
        self.features = TableFeatures(design, left.astype(np.int32), right.astype(np.int32))
        wider = np.concatenate([linear, np.zeros((len(left), data.width)), point.own[len(design) :]])
        return Point(wider, point.logits, point.intercepts)


def _with_products(features: NDArray[np.floating[Any]], left: Places, right: Places) -> NDArray[np.floating[Any]]:
    n, f = features.shape
    found = np.empty((n, f + len(left)), features.dtype)
    found[:, :f] = features
    step = max(1, (1 << 16) // max(f + len(left), 1))  # rows that stay in the cache
    for lo in range(0, n, step):
        own = features[lo : lo + step]
        np.multiply(own[:, left], own[:, right], out=found[lo : lo + step, f:])
    return found


def _deviations(values: NDArray[Any], weights: Floats) -> Floats:
    if not len(weights):
        return np.asarray(values.std(axis=0, dtype=np.float64))
    share = weights / weights.sum()
    return np.asarray(np.sqrt(share @ (values.astype(np.float64) - share @ values) ** 2))


def screen(
    features: NDArray[Any],
    linear: Floats,
    residuals: Floats,
    owner: Places,
    is_number: NDArray[np.bool_],
    weights: Floats,
    most: int,
) -> tuple[Places, Places]:
    """The products of two features of different columns, and squares of numbers, that the score test puts first.

    Where there are many features, those count that move the linear model most.
    """
    looked: Places = np.arange(features.shape[1])
    if len(looked) > _MOST_FACTORS:
        moved = np.sqrt((linear**2).sum(axis=1)) * features.std(axis=0)
        looked = np.sort(np.argsort(-moved, kind="stable")[:_MOST_FACTORS])
    A, R = np.ascontiguousarray(features[:, looked]), residuals.astype(features.dtype)
    w = weights.astype(A.dtype)[:, np.newaxis] if len(weights) else A.dtype.type(1)
    n = float(weights.sum()) if len(weights) else float(len(A))
    means, squares = A.T @ (A * w) / n, (A * A).T @ (A * A * w) / n
    variances = squares - means * means
    scores = np.zeros_like(means)
    for k in range(R.shape[1]):
        scores += (A.T @ (A * R[:, k : k + 1]) / n - means * (R[:, k].sum() / n)) ** 2
    own, number = owner[looked], is_number[looked]
    allowed = (own[:, np.newaxis] != own) | (np.eye(len(looked), dtype=np.bool_) & number)
    i, j = np.nonzero(np.triu(allowed & (variances > 1e-6)))
    first = np.argsort(-(scores[i, j] / variances[i, j]), kind="stable")[:most]
    return looked[i[first]], looked[j[first]]


def log_posterior(logits: Floats, least: float = _LEAST) -> Floats:
    """The logarithms of the classes' probabilities, none below the least."""
    z = np.hstack([np.zeros_like(logits), logits]) if logits.shape[1] == 1 else logits
    z = z - z.max(axis=1, keepdims=True)
    return np.asarray(np.maximum(z - portable.log(portable.exp(z).sum(axis=1, keepdims=True)), least))


@dataclass(frozen=True)
class Fitted:
    """A fit on all rows, and the log probabilities of left-out rows."""

    groups: dict[str, Features]
    solution: Solution  # whose weights are of the features as they are
    l2: float
    exponent: float
    temperature: float
    left_out: Floats


def fit_folds(data: Learning, l2: float | None, folds: Folds, *, products: bool, linear: bool) -> list[Fitted]:
    """The linear fit, if it is asked for, and the one with products; without a penalty the folds choose it."""
    helds = [np.flatnonzero(folds == k) for k in range(int(folds.max()) + 1)]
    parts = [Part(data, np.flatnonzero(folds != k), held, rough=True) for k, held in enumerate(helds)]
    whole = Part(data, np.arange(len(folds)), np.zeros(0, np.intp), rough=False)
    usual = TEXT_PATH if data.groups else PATH
    penalties = [each / (2 if data.width == 1 else 1) for each in usual] if l2 is None else [l2]
    judges = _JUDGES if len(folds) >= _MANY else None

    def choose(
        starts: list[Point | None], penalties: list[float] = penalties, judges: int | None = judges
    ) -> RidgePath:
        made = [part.fold(start) for part, start in zip(parts[: len(starts)], starts)]
        return ridge_path(made, penalties, lambda k, logits: data.lose(helds[k], logits), judges)

    exponents, tried = data.exponents if data.groups else (), dict[float, RidgePath]()
    for exponent in exponents if len(exponents) > 1 else ():  # by the folds that choose the penalty
        for part in parts:
            part.exponent = exponent
        tried[exponent] = choose([None] * len(parts[:judges]))
    best = min(tried, key=lambda each: tried[each].loss) if tried else [*exponents, 1.0][0]
    for part in (*parts, whole):
        part.exponent = best
    path = choose([None] * len(parts), [tried[best].l2] if tried else penalties)
    found = whole.solve(path.l2)
    result = [_finish(data, whole, helds, path, found)] if linear or not products else []
    if products and not len(whole.features.design):  # texts only: there is nothing to multiply
        return [_finish(data, whole, helds, path, found)] * (2 if linear else 1)
    if products and found.point is not None:
        path = choose([part.multiply(point) for part, point in zip(parts, path.points) if point is not None])
        start = whole.multiply(found.point)
        result.append(_finish(data, whole, helds, path, whole.solve(path.l2, start)))
    return result


def _finish(data: Learning, whole: Part, helds: list[Places], path: RidgePath, found: Solution) -> Fitted:
    """With the temperature that the left-out rows want, and the weights of the features as they are."""
    logs = np.empty((data.chunk.n_rows, len(data.classes)))
    for held, logits in zip(helds, path.logits):
        logs[held] = log_posterior(logits)
    towards_one = np.array([-_RIDGE]), np.array([[_RIDGE]])
    length = data.problem.best_lengths(np.zeros_like(logs), logs[np.newaxis], towards_one)
    temperature = float(np.clip(length[0], 0.05, 6.0))
    weights = found.weights.copy()
    weights[: len(whole.scales)] /= whole.scales[:, np.newaxis]
    found = replace(found, weights=weights * temperature, intercepts=found.intercepts * temperature, point=None)
    groups: dict[str, Features] = {TABLE: whole.features} if whole.features.size else {}
    return Fitted(
        {**groups, **data.groups},
        found,
        path.l2,
        whole.exponent,
        temperature,
        log_posterior(logs * temperature, np.log(FLOOR)),
    )
