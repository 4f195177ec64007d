"""The scikit-learn way with a mixed table: two models on transformed columns, joined by hand.

log p(x, k) = [log π_k + Σ_numbers] + [log π_k + Σ_categories] - log π_k
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.data import Mixed
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.tally.prior import Laplace

Floats = NDArray[np.float64]


def as_scikit_learn() -> NaiveBayes:
    """Ours with scikit-learn's model: only Gaussians for numbers, and no imaginary rows in their variances."""
    return NaiveBayes(prior=Laplace(variance_rows=0), numbers="gaussian")


class JoinedByHand:
    """GaussianNB of the imputed numbers and CategoricalNB of the encoded, imputed categories."""

    def __init__(self, n_numbers: int, n_categories: int) -> None:
        # Codes are imputed rather than strings: scikit-learn is many times faster at it.
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        self.columns = ColumnTransformer(
            [
                ("numbers", SimpleImputer(), [f"n{j}" for j in range(n_numbers)]),
                (
                    "categories",
                    make_pipeline(encoder, SimpleImputer(strategy="most_frequent")),
                    [f"c{j}" for j in range(n_categories)],
                ),
            ]
        )
        kinds = (GaussianNB, slice(0, n_numbers)), (CategoricalNB, slice(n_numbers, n_numbers + n_categories))
        self.parts = [(kind(), of) for kind, of in kinds if of.stop > of.start]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the transformers and the models, of numbers and of categories, as far as there are any."""
        table = self.columns.fit_transform(X)
        for model, of in self.parts:
            model.fit(table[:, of], y, sample_weight)
        return self

    def _joint(self, X: Any) -> Floats:
        table = self.columns.transform(X)
        (first, of), *others = self.parts
        joint: Floats = first.predict_joint_log_proba(table[:, of])
        for model, of in others:
            joint += model.predict_joint_log_proba(table[:, of])
            joint -= model.class_log_prior_
        return joint

    def predict_proba(self, X: Any) -> Floats:
        """The posterior, by log-sum-exp."""
        joint = self._joint(X)
        posterior: Floats = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        return posterior

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest joint."""
        return np.asarray(self.parts[0][0].classes_[self._joint(X).argmax(axis=1)])


def joint_without_missing(table: Mixed, sample: slice, weights: Any = None) -> Floats:
    """Log joints of a sample of rows, with missing cells left out: what imputing only stands in for.

    The truth for our answers: scikit-learn's models of one column each, fitted on the rows that have it.
    """
    every = np.bincount(table.y, weights)
    joint = np.tile(np.log(every / every.sum()), (len(table.y[sample]), 1))
    for column in (*table.values.T, *table.codes.T):
        whole = column.dtype.kind == "i"
        there = column >= 0 if whole else ~np.isnan(column)
        model = CategoricalNB() if whole else GaussianNB(var_smoothing=0.0)
        model.fit(column[there, np.newaxis], table.y[there], None if weights is None else weights[there])
        log_prior = model.class_log_prior_ if whole else np.log(model.class_prior_)
        seen = there[sample]
        joint[seen] += model.predict_joint_log_proba(column[sample][seen][:, np.newaxis]) - log_prior
    return joint
