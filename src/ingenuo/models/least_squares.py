"""Least squares on one-hot targets: the oldest linear classifier, with its Brier score and its failure, masking.

argmax_k f_k(x), with f_k the least-squares line through 1 on the rows of class k and 0 on the others. Of three
classes in a row the middle one's line is nearly flat, and never the largest: it is masked by the outer two.
`GaussianDiscriminant` learns from the same sums and does not fail there.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import RefusedError
from ingenuo.families.covariance import SHARED, Lines, moments_of
from ingenuo.models.classifier import Classifier, Parameters
from ingenuo.models.discriminant import RegionPlot, schema_of_numbers
from ingenuo.models.model import CLASS, check_is_fitted
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Numbers
from ingenuo.rows.schema import Schema, column_name
from ingenuo.rows.source import Source
from ingenuo.show.arithmetic import Factor, SumExplanation, Term, difference, logs
from ingenuo.tally.labels import Labels, find, labels_of

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class LeastSquaresClassifier(RegionPlot, Classifier):
    """Linear regression on one-hot targets that learns, forgets and merges: its normal equations are sums.

    Parameters
    ----------
    l2 : float
        The penalty λ of λ Σ w² on the weights, not on the constants.

    Attributes
    ----------
    coef_, intercept_ : arrays (classes, columns) and (classes,)
        The lines f_k. For any x they sum to 1.
    brier_ : float
        The mean of Σ_k (f_k - y_k)² over the rows learned, from the tally alone.
    tally_, schema_, classes_
        As in `NaiveBayes`.

    Notes
    -----
    f_k may be below 0 or above 1. `predict_proba` sets what is below 0 to 0 and divides by the sum; these are no
    posteriors of any model. A row with a missing value is left out in learning, and answered by the least squares on
    the columns it has. Singular normal equations have the solution of least norm. Learning in parts, merging and
    forgetting give the model of one fit, to the last bit.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = LeastSquaresClassifier().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[4], [6]]).tolist()
    ['low', 'high']
    >>> round(model.brier_, 4), round(model.brier_score(X, ["low"] * 3 + ["high"] * 3), 4)
    (0.0345, 0.0345)
    """

    _free = ("l2",)

    l2: float = 0.0

    def _check_classes(self, classes: Labels) -> None:
        checks.refuse_one_class(classes, type(self).__name__)

    def _check_settings(self) -> None:
        checks.check_number("l2", self.l2)

    def _schema_of(self, source: Source) -> Schema:
        return schema_of_numbers(source, SHARED, type(self).__name__)

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        found = Lines.of(moments_of(self.tally_, self.schema_.columns(SHARED), classes), float(self.l2))
        if found.remark:
            warnings.warn(found.remark, stacklevel=5)
        rows = self.tally_.over(CLASS, classes).floats()
        return Parameters(classes, logs(rows / rows.sum()), {SHARED: found}, ())

    def _found(self) -> Lines:
        check_is_fitted(self)
        return self._parameters().families[SHARED]  # type: ignore[no-any-return]

    @property
    def coef_(self) -> Floats:
        """The weights of each class's line."""
        return self._found().weights

    @property
    def intercept_(self) -> Floats:
        """The constant of each class's line."""
        found = self._found()
        return np.asarray(found.shares - found.weights @ found.centre)

    @property
    def brier_(self) -> float:
        """The mean of Σ_k (f_k - y_k)² over the complete rows learned, from the tally alone."""
        return self._found().brier

    def _scores(self, found: dict[str, Block], n_rows: int) -> Floats:
        lines, block = self._found(), found[SHARED]
        assert isinstance(block, Numbers)
        scores = np.zeros((n_rows, len(lines.shares)))
        lines.add_to(block, scores)
        # Beyond the doubles a line is as far as it can be: its sign is what is left of it.
        return np.nan_to_num(scores, nan=0.0, posinf=1e300, neginf=-1e300)

    def _posterior(
        self, found: dict[str, Block], n_rows: int, *, log: bool = False, scores: Floats | None = None
    ) -> Floats:
        shares = np.maximum(self._scores(found, n_rows), 0.0)
        shares /= shares.sum(axis=1, keepdims=True)
        return logs(shares) if log else shares

    def decision_function(self, X: Any) -> Floats:
        """f_k of each row and class; of two classes f_2 - f_1, which is 2 f_2 - 1."""
        scores = self._scores(*self._rows(X))
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def brier_score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean of Σ_k (f_k - y_k)² over some rows: 0 at best; of the lines as they are, not of `predict_proba`."""
        check_is_fitted(self)
        X, y = checks.target_column(X, y)
        scores = self._scores(*self._rows(X))
        codes, classes = checks.labels(self, y, len(scores))
        weights = checks.weights(sample_weight, len(scores))
        places = find(labels_of(self.classes_), classes)[codes]
        # A class that was never learned has no line; the others' targets are all 0 on its rows, and it misses its 1.
        scores[places >= 0, places[places >= 0]] -= 1.0
        return float(np.average((scores**2).sum(axis=1) + (places < 0), weights=weights))

    def explain(self, row: Any) -> SumExplanation:  # type: ignore[override]
        """The sum behind one row's answer: the share of each class, and w·(x - mean) of each column.

        Parameters
        ----------
        row : mapping, sequence, or table of one row
            What a mapping leaves out is missing.
        """
        found = self._open_row(row)
        block = found[SHARED]
        assert isinstance(block, Numbers)
        values = block.rows(0, 1)[0]
        there = ~np.isnan(values)
        lines = self._found() if there.all() else self._found().without(there)
        addends, position = [], 0
        for name, x in zip(self.schema_.names.tolist(), values):
            if np.isnan(x):
                addends.append(Factor(column_name(name), "missing", note="left out, here and in the other weights"))
                continue
            weights, mean = lines.weights[:, position], lines.centre[position]
            position += 1
            amounts = (weights * (x - mean)).tolist()
            terms = (Term(f"{w:.6g}·({difference(x, mean)})", amount, amount) for w, amount in zip(weights, amounts))
            addends.append(Factor(column_name(name), f"{x:.6g}", tuple(terms)))
        constant = Factor("share", "", tuple(Term("", share, share) for share in lines.shares.tolist()))
        scores, probabilities = self._scores(found, 1)[0], self._posterior(found, 1)[0]
        return SumExplanation(labels_of(self.classes_), constant, tuple(addends), scores, probabilities)

    @property
    def sample(self) -> NoReturn:  # type: ignore[override]
        """Least squares knows no distribution of the rows."""
        raise RefusedError(
            "a LeastSquaresClassifier cannot sample, and has no joint probabilities: its lines are no distribution of "
            "the rows; GaussianDiscriminant learns from the same sums and can"
        )

    predict_joint_log_proba = sample  # type: ignore[assignment]

    def _centres(self) -> tuple[Floats, Floats]:
        found = self._found()
        return found.centre[np.newaxis], found.scatter[np.newaxis]
