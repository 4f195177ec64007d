"""Which attributes are worth having: ranked one by one, or added one after the other, by rows that were left out.

Scores of attributes are in bits a row.

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

from ingenuo.errors import InputError, KindError, check_choice, did_you_mean
from ingenuo.families import attributes_of
from ingenuo.families.discretise import mdl_cuts
from ingenuo.families.family import LearnedRows
from ingenuo.kernels import counts
from ingenuo.models.classifier import keep_weighted, tally_chunk
from ingenuo.models.left_out import log_priors
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.tuning import best_of, mean_loss
from ingenuo.networks.columns import Labelled, read_column
from ingenuo.networks.inference import LN_2
from ingenuo.networks.trees import information
from ingenuo.rows import checks
from ingenuo.rows.rows import rows_of
from ingenuo.rows.schema import FAMILIES, Schema, column_name
from ingenuo.rows.source import is_texts, open_source
from ingenuo.show.format import plain
from ingenuo.show.table import PrintedTable
from ingenuo.tally.prior import prior_of

METHODS = ("forward", "gain")
_MOST = 1 << 31  # bytes of scores


@dataclass(frozen=True)
class Ranked:
    """An attribute: its columns, by how much it alone lowers the log loss, and when it was added.

    >>> Ranked(("Outlook",), 0.05, True, 1, 0.247).information  # that the counts tell of the class, in bits
    0.247
    """

    columns: tuple[Any, ...]
    gain: float  # in bits a row, rows left out
    chosen: bool
    step: int | None = None
    information: float | None = (
        None  # the gain by the counts of all rows, numbers in intervals; None of several columns
    )


class AttributeSelector(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the columns that naive Bayes is better with, judged by rows that were left out.

    Parameters
    ----------
    method : {"forward", "gain"}
        Add one attribute after the other, each time the one that lowers the log loss most (selective naive Bayes); or
        keep the first by how much each lowers it alone.
    n_attributes : int or "auto"
        How many to keep. "auto": as many as lower the log loss.
    model : NaiveBayes, optional
        What the columns are and how they are modelled; by default `NaiveBayes()`. With `tune=True` each attribute has
        the density and smoothing that suit it best.

    Attributes
    ----------
    ranking_, losses_, support_
        The attributes, the best first, each with its `information` on the class (in bits, by the counts; numbers are
        cut where that tells the classes apart) and its `gain` (in bits, rows left out); the log loss in nats, rows left
        out, of the class shares alone, then with each attribute that is kept; which columns are kept.

    Examples
    --------
    >>> X = [["a", 1.0, "x"], ["a", 1.2, "y"], ["b", 3.0, "y"], ["b", 3.1, "x"], ["a", 0.9, "x"], ["b", 2.9, "y"]]
    >>> selector = AttributeSelector(n_attributes=1).fit(X, ["p", "p", "q", "q", "p", "q"])
    >>> selector.get_feature_names_out().tolist()
    ['x1']
    """

    def __init__(self, method: str = "forward", n_attributes: int | str = "auto", model: Any = None) -> None:
        self.method, self.n_attributes, self.model = method, n_attributes, model

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose by the rows of a table, their classes (or the name of the column of X), and how often each counts."""
        check_choice("method", self.method, METHODS)
        auto, forward = self.n_attributes == "auto", self.method == "forward"
        if isinstance(self.n_attributes, str) and not auto:
            raise InputError(f"n_attributes={self.n_attributes!r} is not known; take a whole number, or 'auto'")
        if not auto:
            checks.check_whole("n_attributes", self.n_attributes, 1)
        if self.model is not None and not isinstance(self.model, NaiveBayes):
            raise KindError(f"model must be a NaiveBayes, got {type(self.model).__name__} {self.model!r}")
        model = NaiveBayes() if self.model is None else clone(self.model)
        model._check_settings()
        given = rows_of(X, y, sample_weight).in_memory()
        schema, chunk = model._encode_all(given)
        tally = tally_chunk(chunk)
        model._check_whole(schema, chunk.classes, tally)
        classes = tally.labels("class", 0)
        model._set_tally(schema, tally)
        tally, chunk = model._weigh(keep_weighted(chunk, classes))
        checks.refuse_one_class(chunk.classes, "selector")
        attributes = attributes_of(schema, prior_of(model.prior), to_tune=model.tune)
        learned = LearnedRows(schema, tally, chunk)
        wanted = len(attributes) if auto else int(self.n_attributes)
        if wanted > len(attributes):
            raise InputError(f"n_attributes={wanted}, and the table has {len(attributes)}; take fewer")
        joint = np.maximum(log_priors(model.class_prior, tally, classes, chunk), -50.0)
        needed = 8 * len(attributes) * joint.size
        if needed > _MOST:
            most = f"{_MOST * chunk.n_rows // needed:,} rows"
            raise InputError(f"the scores take {needed / 2**30:.1f} GiB; select by {most} at most, drawn at random")
        rows, scores = learned.weights, np.empty((len(attributes), *joint.shape))
        for j, each in enumerate(attributes):  # each row left out
            own = best_of(learned, each, joint)[2] if model.tune else each.left_out(learned)
            scores[j] = np.maximum(own, own.max(axis=1, keepdims=True) - 700.0)
        losses = [mean_loss(joint, learned)]
        gains = losses[0] - counts.losses(joint, scores, list(range(len(scores))), chunk.coded, rows)
        left: list[int] = np.argsort(-gains, kind="stable").tolist()
        kept: list[int] = []
        while left and len(kept) < wanted:
            found = counts.losses(joint, scores, left if forward else left[:1], chunk.coded, rows)
            at = int(found.argmin())
            if auto and (kept and not found[at] < losses[-1] if forward else gains[left[at]] <= 0):
                break
            losses.append(float(found[at]))
            kept.append(left.pop(at))
            joint = joint + scores[kept[-1]]
        called = [tuple(each.columns.tolist()) for each in attributes]
        labelled = Labelled(
            given.X, *checks.labels(model, given.y, given.X.n_rows), checks.weights(given.weights, given.X.n_rows)
        )
        single = [own[0] if len(own) == 1 and own[0] not in schema.texts else None for own in called]
        bits = [None if name is None else information_of(labelled, name, schema) for name in single]
        steps = {j: step for step, j in enumerate(kept, 1)}
        self.ranking_ = [
            Ranked(called[j], float(gains[j]) / LN_2, j in steps, steps.get(j), bits[j]) for j in (*kept, *left)
        ]
        self.losses_ = np.array(losses)
        names = {name for j in kept for name in called[j]}
        self.support_ = np.array([name in names for name in schema.names.tolist()])
        self._names, self.n_features_in_ = schema.names, len(schema)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update({name: value for name, value in vars(model).items() if name == "feature_names_in_"})
        return self

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Which columns are kept: a mask, or their places."""
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns that are kept."""
        check_is_fitted(self)
        names = self._names if input_features is None else np.asarray(input_features, object)
        return np.array([column_name(name) for name in names[self.support_].tolist()], object)

    def transform(self, X: Any) -> Any:
        """The columns that are kept, in a table of the same kind."""
        check_is_fitted(self)
        if is_texts(X) and len(self.support_) == 1:
            return X
        if checks.is_frame(X):
            names, kept = open_source(X).names.tolist(), self._names[self.support_].tolist()
            for name in kept:
                if name not in names:
                    raise InputError(f"the table has no column {name!r}{did_you_mean(name, names)}")
            return X[kept] if hasattr(X, "iloc") else X.select(kept)
        X = checks.array_of(X) if isinstance(X, list | tuple) else X
        if X.ndim != 2 or X.shape[1] != len(self.support_):
            raise InputError(f"X has the shape {X.shape}; the selector was fitted to {len(self.support_)} columns")
        return X[:, np.flatnonzero(self.support_)]

    def __str__(self) -> str:
        if "ranking_" not in self.__dict__:
            return str(super().__repr__())
        heads = ["column", "information, bits", "gain alone, bits", "kept"]
        rows = [[_name(e.columns), e.information, e.gain, f"step {e.step}" if e.step else ""] for e in self.ranking_]
        looked_at = sum(len(each.columns) for each in self.ranking_)  # columns that are ignored are not
        kept, loss = f"{int(self.support_.sum())} of {looked_at}", self.losses_ / LN_2
        text = PrintedTable(heads, rows, ["", ".3f", ".3f"], rule=True).text()
        return f"{text}\n{kept} columns are kept; log loss of rows left out {loss[0]:.3f} → {loss[-1]:.3f} bits."

    def to_dict(self) -> dict[str, Any]:
        """The ranking as plain data; scores are in bits."""
        check_is_fitted(self)
        ranking = [{**vars(each), "columns": list(map(column_name, each.columns))} for each in self.ranking_]
        kept = self.get_feature_names_out().tolist()
        return plain({"kept": kept, "ranking": ranking, "losses": self.losses_ / LN_2, "unit": "bits"})  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.target_tags.required = True
        return tags


def information_of(rows: Labelled, name: Any, schema: Schema) -> float:
    """I(column; class) in bits, by the counts of the rows that have a value; numbers are cut by the classes first."""
    place, cuts = rows.source.names.tolist().index(name), None
    if FAMILIES[schema.family(name)] in ("number", "count"):
        cuts = mdl_cuts(rows.values_by_class([name])[name])
    codes, values = read_column(rows.source, place, cuts)
    known = (codes >= 0) & (rows.labels >= 0)
    cells, weights = codes[known].astype(np.int64) * len(rows.classes) + rows.labels[known], rows.weights
    size = len(values) * len(rows.classes)
    counted = np.bincount(cells, None if weights is None else weights[known], size)
    return information(counted.astype(np.float64).reshape(1, len(values), -1)) / LN_2


def _name(columns: tuple[Any, ...]) -> str:
    return column_name(columns[0]) if len(columns) == 1 else f"{len(columns)} columns"
