"""Which attributes are worth having: ranked one by one, or chosen together, by rows that were left out.

A row's log joint is a sum over attributes, so with each attribute's scores (the row left out) at hand, trying a set of
attributes is adding numbers up: no set of them is ever fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ingenuo.chunk import Chunk, Codes, Numbers
from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators import inputs
from ingenuo.estimators.base import tally_chunk, weighed
from ingenuo.estimators.left_out import log_priors
from ingenuo.estimators.naive_bayes import NaiveBayes
from ingenuo.estimators.rows import rows_of
from ingenuo.estimators.sequence_model import whole
from ingenuo.estimators.tuning import best_of, mean_loss
from ingenuo.explanation.beliefs import aligned
from ingenuo.families.attributes import Attribute, attributes_of
from ingenuo.families.categorical import column_codes, labelled
from ingenuo.families.left_out import LearnedRows
from ingenuo.kernels import selection
from ingenuo.schema import column_name
from ingenuo.sources.table import is_texts

Floats = NDArray[np.float64]

METHODS = ("forward", "backward", "gain", "mutual-information")
_MOST = 1 << 31  # bytes of scores
_BINS = 10
_LEVEL = 0.05


@dataclass(frozen=True)
class Ranked:
    """What one attribute is worth.

    Attributes
    ----------
    columns : tuple
        Its columns: one, or all the counts.
    mutual_information : float or None
        How many nats it tells about the class (numbers in ten bins of equal mass); None for text and counts.
    gain : float
        By how much it lowers the log loss, rows left out, of the class shares alone.
    chosen : bool
        Whether it was kept.
    step : int or None
        When it was added (or taken away, going backward), from 1 on.
    """

    columns: tuple[Any, ...]
    mutual_information: float | None
    gain: float
    chosen: bool
    step: int | None = None


class AttributeSelector(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the columns that naive Bayes is better with, judged by rows that were left out.

    Parameters
    ----------
    method : {"forward", "backward", "gain", "mutual-information"}
        Add one attribute after the other, each time the one that lowers the log loss most (selective naive Bayes); or
        begin with all and take away; or keep the first by what each is worth alone.
    n_attributes : int or "auto"
        How many to keep. "auto": going forward or backward, as long as the log loss comes down; by "gain", those that
        lower it; by "mutual-information", those whose information is more than chance would give (p < 0.05).
    model : NaiveBayes, optional
        What the columns are and how they are modelled; by default `NaiveBayes()`. With `tune=True` each attribute has
        the density and smoothing that suit it best.

    Attributes
    ----------
    ranking_ : list of Ranked
        The attributes, the best first.
    losses_ : array
        The log loss, rows left out: of the class shares alone (or of all attributes, going backward), then after each
        step.
    support_ : array of bool
        Which columns are kept.

    Examples
    --------
    >>> X = [["a", 1.0, "x"], ["a", 1.2, "y"], ["b", 3.0, "y"], ["b", 3.1, "x"], ["a", 0.9, "x"], ["b", 2.9, "y"]]
    >>> selector = AttributeSelector(n_attributes=1).fit(X, ["p", "p", "q", "q", "p", "q"])
    >>> selector.get_feature_names_out().tolist()
    ['x1']
    """

    def __init__(self, method: str = "forward", n_attributes: int | str = "auto", model: Any = None) -> None:
        self.method = method
        self.n_attributes = n_attributes
        self.model = model

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose by these rows.

        Parameters
        ----------
        X : array, sparse matrix, or pandas, polars or Arrow table
            The rows.
        y : array-like, or the name of a column of X
            The class of each row.
        sample_weight : array-like, optional
            How often each row counts.
        """
        model = self._checked()
        rows = rows_of(X, y, sample_weight).in_memory()
        schema, chunk = model._whole(rows)
        tally = tally_chunk(chunk)
        model._check_whole(schema, chunk.classes, tally)
        chunk = weighed(chunk, tally.labels("class", 0))
        inputs.refuse_one_class(chunk.classes, "selector")
        attributes = attributes_of(schema, model.prior, to_tune=model.tune)
        if isinstance(self.n_attributes, int | np.integer) and self.n_attributes > len(attributes):
            raise InputError(
                f"n_attributes={self.n_attributes}, and the table has {len(attributes)}; take {len(attributes)} at most"
            )
        needed = 8 * len(attributes) * chunk.n_rows * len(chunk.classes)
        if needed > _MOST:
            raise InputError(
                f"the scores of {len(attributes):,} attributes, {chunk.n_rows:,} rows and {len(chunk.classes):,} "
                f"classes take {needed / 2**30:.1f} GiB; select by {_MOST * chunk.n_rows // needed:,} rows at most, "
                "drawn at random"
            )
        search = _Search(LearnedRows(schema, tally, chunk), attributes, model)
        order, kept, losses = search.run(self.method, self.n_attributes)
        steps = {j: step + 1 for step, j in enumerate(order)} if self.method in METHODS[:2] else {}
        chosen = set(kept)
        rest = [j for j in np.argsort(-search.gains, kind="stable").tolist() if j not in chosen]
        first = order if self.method != "backward" else sorted(chosen, key=lambda j: -search.gains[j])
        shown = [*[j for j in first if j in chosen], *rest]
        self.ranking_ = [
            Ranked(
                tuple(attributes[j].columns.tolist()),
                search.information[j],
                float(search.gains[j]),
                j in chosen,
                steps.get(j),
            )
            for j in shown
        ]
        self.losses_ = np.array(losses)
        names = {name for j in chosen for name in attributes[j].columns.tolist()}
        self.support_ = np.array([name in names for name in schema.names.tolist()])
        self._names, self.n_features_in_ = schema.names, len(schema)
        if "feature_names_in_" in model.__dict__:
            self.feature_names_in_ = model.feature_names_in_
        else:
            self.__dict__.pop("feature_names_in_", None)
        return self

    def _checked(self) -> NaiveBayes:
        if self.method not in METHODS:
            raise InputError(f"method={self.method!r} is not known{did_you_mean(self.method, METHODS)}")
        if self.n_attributes != "auto":
            if isinstance(self.n_attributes, str):
                raise InputError(f"n_attributes={self.n_attributes!r} is not known; take a whole number, or 'auto'")
            whole("n_attributes", self.n_attributes, 1)
        if self.model is not None and not isinstance(self.model, NaiveBayes):
            raise KindError(f"model must be a NaiveBayes, got {type(self.model).__name__} {self.model!r}")
        model = NaiveBayes() if self.model is None else clone(self.model)
        model._check_settings()
        return model

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Which columns are kept: a mask, or their places."""
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns that are kept."""
        check_is_fitted(self)
        names = self._names if input_features is None else np.asarray(input_features, object)
        if len(names) != len(self.support_):
            raise InputError(f"there are {len(names)} names for {len(self.support_)} columns; give one for each")
        return np.array([column_name(name) for name in names[self.support_].tolist()], object)

    def transform(self, X: Any) -> Any:
        """The columns that are kept, in a table of the same kind."""
        check_is_fitted(self)
        if is_texts(X):
            if len(self.support_) != 1 or not self.support_[0]:
                raise InputError("these rows are texts, and the selector was fitted to a table; give the same table")
            return X
        if inputs.is_frame(X):
            import narwhals as nw

            frame = nw.from_native(X, eager_only=True)
            kept = self._names[self.support_].tolist()
            absent = [name for name in kept if name not in frame.columns]
            if absent:
                raise InputError(f"the table has no column {absent[0]!r}{did_you_mean(absent[0], frame.columns)}")
            return nw.to_native(frame.select(kept))
        X = inputs.array_of(X) if isinstance(X, list | tuple) else X
        if X.ndim != 2 or X.shape[1] != len(self.support_):
            raise InputError(f"X has the shape {X.shape}; the selector was fitted to {len(self.support_)} columns")
        return X[:, np.flatnonzero(self.support_)]

    def __str__(self) -> str:
        if "ranking_" not in self.__dict__:
            return str(super().__repr__())
        lines = [["column", "information", "gain alone", "kept"]]
        for each in self.ranking_[:50]:
            called = column_name(each.columns[0]) if len(each.columns) == 1 else f"{len(each.columns)} columns"
            told = "" if each.mutual_information is None else f"{each.mutual_information:.4f}"
            kept = "yes" if each.chosen else ""
            lines.append([called, told, f"{each.gain:.4f}", kept + (f" (step {each.step})" if each.step else "")])
        text = aligned(lines)
        more = [f"… and {len(self.ranking_) - 50} more"] if len(self.ranking_) > 50 else []
        said = (
            f"{int(self.support_.sum())} of {len(self.support_)} columns are kept; log loss of rows left out "
            f"{self.losses_[0]:.4f} → {self.losses_[-1]:.4f}."
        )
        return "\n".join([text[0], "─" * max(map(len, text)), *text[1:], *more, said])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.target_tags.required = True
        return tags


class _Search:
    """The attributes' scores, rows left out, and what sets of them lose."""

    def __init__(self, learned: LearnedRows, attributes: list[Attribute], model: NaiveBayes) -> None:
        self.learned, chunk = learned, learned.chunk
        self.base = np.maximum(log_priors(model.class_prior, learned.tally, learned.classes, chunk), -50.0)
        self.codes, self.rows = chunk.coded, learned.weights
        self.scores = np.empty((len(attributes), chunk.n_rows, len(learned.classes)))
        for j, attribute in enumerate(attributes):
            found = best_of(learned, attribute, self.base)[2] if model.tune else attribute.left_out(learned)
            self.scores[j] = np.maximum(found, found.max(axis=1, keepdims=True) - 700.0)
        self.start = mean_loss(self.base, self.learned)
        every = list(range(len(attributes)))
        tables = [_table(each, chunk) for each in attributes]
        self.information = [None if table is None else mutual_information(table) for table in tables]
        self.chance = [None if table is None else _chance(table) for table in tables]
        self.gains = self.start - self._losses(self.base, every, 1.0)

    def _losses(self, joint: Floats, among: list[int], sign: float) -> Floats:
        return selection.losses(joint, self.scores, among, sign, self.codes, self.rows)

    def run(self, method: str, wanted: int | str) -> tuple[list[int], list[int], list[float]]:
        """The attributes in the order of the steps, those that are kept, and the loss before and after each step."""
        if method == "forward":
            return self._forward(wanted)
        if method == "backward":
            return self._backward(wanted)
        if method == "gain":
            worth, enough = self.gains, int((self.gains > 0).sum())
        else:
            worth = np.array([gain if told is None else told for gain, told in zip(self.gains, self.information)])
            enough = sum(gain > 0 if p is None else p < _LEVEL for gain, p in zip(self.gains, self.chance))
        order = np.argsort(-worth, kind="stable").tolist()
        kept = order[: enough if wanted == "auto" else int(wanted)]
        joint, losses = self.base.copy(), [self.start]
        for j in kept:
            joint += self.scores[j]
        losses.append(mean_loss(joint, self.learned))
        return order, kept, losses

    def _forward(self, wanted: int | str) -> tuple[list[int], list[int], list[float]]:
        joint, losses = self.base.copy(), [self.start]
        order: list[int] = []
        left = list(range(len(self.scores)))
        while left and (wanted == "auto" or len(order) < int(wanted)):
            found = self._losses(joint, left, 1.0)
            at = int(found.argmin())
            if wanted == "auto" and order and not found[at] < losses[-1]:
                break
            losses.append(float(found[at]))
            order.append(left.pop(at))
            joint += self.scores[order[-1]]
        return order, list(order), losses

    def _backward(self, wanted: int | str) -> tuple[list[int], list[int], list[float]]:
        joint = self.base + self.scores.sum(axis=0)
        losses = [mean_loss(joint, self.learned)]
        order: list[int] = []
        left = list(range(len(self.scores)))
        while len(left) > 1 and (wanted == "auto" or len(left) > int(wanted)):
            found = self._losses(joint, left, -1.0)
            at = int(found.argmin())
            if wanted == "auto" and not found[at] <= losses[-1]:
                break
            losses.append(float(found[at]))
            order.append(left.pop(at))
            joint -= self.scores[order[-1]]
        return order, left, losses


def _table(attribute: Attribute, chunk: Chunk) -> Floats | None:
    """How often (by weight) each class has each value; numbers in ten bins of equal mass. None for text and counts."""
    block = attribute.block(chunk.blocks)
    if len(attribute.columns) != 1:
        return None
    if isinstance(block, Codes):
        codes = column_codes(labelled(block), 0).astype(np.int64)
    elif isinstance(block, Numbers):
        x = block.column(0)
        edges = np.unique(np.nanquantile(x, np.arange(1, _BINS) / _BINS, method="higher"))
        codes = np.where(np.isnan(x), -1, np.searchsorted(edges, x, "right"))
    else:
        return None
    there = codes >= 0
    size = int(codes.max(initial=0)) + 1
    cells = chunk.coded[there].astype(np.int64) * size + codes[there]
    weights = None if chunk.weights is None else chunk.weights[there]
    table = np.bincount(cells, weights, len(chunk.classes) * size).reshape(len(chunk.classes), size).astype(np.float64)
    return np.asarray(table[:, table.any(axis=0)])


def mutual_information(table: Floats) -> float:
    """How many nats the columns of a table of counts tell about its rows.

    >>> round(mutual_information(np.array([[5.0, 0.0], [0.0, 5.0]])), 4)
    0.6931
    """
    total = table.sum()
    if total == 0:
        return 0.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / total
    there = table > 0
    return max(float((table[there] * np.log(table[there] / expected[there])).sum() / total), 0.0)


def _chance(table: Floats) -> float:
    """How often a table without any information would show as much: the likelihood-ratio test of independence."""
    from scipy.special import chdtrc

    used = table[table.any(axis=1)]
    freedom = (used.shape[0] - 1) * (used.shape[1] - 1)
    return float(chdtrc(freedom, 2 * table.sum() * mutual_information(table))) if freedom > 0 else 1.0
