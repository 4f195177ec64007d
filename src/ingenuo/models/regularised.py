"""Regularised discriminants: Gaussians of the features that a `Design` makes of columns of any kind.

How far the covariances are shrunk, whether numbers are normal scores, and a temperature are those with the least log
loss of left-out rows. The first rows choose; then the classifier is a function of the features' sums: rows come and go
as in any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError, RefusedError
from ingenuo.families import FAMILY
from ingenuo.families.categorical import column_codes
from ingenuo.families.covariance import (
    EACH,
    FULL,
    FeatureGaussians,
    Fold,
    Gaussians,
    Scatters,
    Shrinkage,
    left_out_scores,
)
from ingenuo.kernels import densities
from ingenuo.kernels.moments import products
from ingenuo.language import say
from ingenuo.models import model
from ingenuo.models.class_prior import share_classes
from ingenuo.models.classifier import Classifier
from ingenuo.models.design import Design, read_blocks, refuse_text
from ingenuo.models.folds import Folds, n_folds_for, stratified_folds
from ingenuo.models.log_linear import fit_temperature
from ingenuo.models.model import CLASS, Plan, check_is_fitted
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Chunk, Codes, Numbers, Places
from ingenuo.rows.rows import Part, Rows, rows_of
from ingenuo.rows.schema import Schema, column_name
from ingenuo.rows.source import Source, blocks, match
from ingenuo.show.arithmetic import Factor, Term, exponential, name_reason, powers_of_e
from ingenuo.tally.labels import Labels, objects, same
from ingenuo.tally.tally import Tally

Floats = NDArray[np.float64]

# What is tried, and how much work that may be.
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
    def _how_to_calibrate(self) -> str:
        return "" if self._chosen is None else "its shrinkage and temperature are found by fit alone, on all the rows"

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
        shares = share_classes(self.class_prior, counts, classes)[0]
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

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it."""
        own = self._parameters()
        if self._chosen is None:
            return super().sheet_scorer()
        columns = [name for name in self.schema_.names.tolist() if self.schema_.family(name) != "ignore"]
        lines, design = sheet_lines(own.own) if own.own.additive else None, self._chosen.design.sheet_nodes()
        return {
            "op": "discriminant", "columns": columns, "start": own.log_prior, "term": own.own.sheet_distances(),
            "lines": lines, "design": design, "temperature": self._chosen.temperature,
        }  # fmt: skip

    def sheet_columns(self) -> dict[Any, dict[str, Any]]:
        """What is known of the columns of which features are made."""
        return {} if self._chosen is None else self._chosen.design.sheet_columns()

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
        factors = [
            Factor(say("prior"), "", parameters.prior),
            Factor(say("at the mean"), "", tuple(map(_power, peaks.tolist()))),
        ]
        for place, value in _values(self.schema_, found).items():
            name, terms = column_name(self.schema_.names[place]), tuple(map(_power, logs.get(place, [])))
            factors.append(Factor(name, value, terms, "" if terms else say("left out: it hardly varies")))
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
        return every, [*said, (peaks[pair[0]] - peaks[pair[1]], lambda row: say("at the mean"))]

    def sample(self, n: int = 1, class_: Any = None, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw rows from the model, as of any classifier; of features that are made of columns it cannot."""
        if self._chosen is not None:
            raise _refusal("cannot sample")
        return super().sample(n, class_, random_state)

    @property
    def predict_joint_log_proba(self) -> Any:
        """log P(class) + log p(row | class), for each row and class; to `hasattr` it is not there for features."""
        if self._chosen is not None:
            raise _refusal("has no joint probabilities")
        return super().predict_joint_log_proba

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


def sheet_lines(own: Gaussians) -> dict[str, Any]:
    """The lines that classes of one covariance are compared by, as a sheet has them."""
    weights, constants = own.lines
    return {"weights": weights, "constants": constants}


def _power(log: float) -> Term:
    return Term(powers_of_e(log, 1.0), exponential(log), log)


def _values(schema: Schema, found: Mapping[str, Block]) -> dict[int, str]:
    """The cells of one row as text, by the place of their columns."""
    shown: dict[int, str] = {}
    own = {family: found[family] for family in schema.families_used()}
    for owners, block in read_blocks(schema, own):
        if isinstance(block, Codes):
            assert block.labels is not None
            codes = [int(column_codes(block, j)[0]) for j in range(len(block.names))]
            cells = [say("missing") if code < 0 else str(own[code]) for code, own in zip(codes, block.labels)]
        else:
            cells = [say("missing") if np.isnan(x) else f"{x:.6g}" for x in block.rows(0, 1)[0].tolist()]
        shown.update(zip(owners, cells))
    return dict(sorted(shown.items()))
