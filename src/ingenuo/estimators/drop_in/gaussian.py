"""GaussianNB."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ingenuo.errors import InputError
from ingenuo.estimators.base import Parameters
from ingenuo.estimators.drop_in.shell import ARRAY_LIKE, NONE, NOT_NEGATIVE, Allowed, DropIn, Floats, numbers_in
from ingenuo.families.family import fraction
from ingenuo.families.gaussian import NORMAL, GaussianParameters, spread


class GaussianNB(DropIn):
    """Gaussian naive Bayes with scikit-learn's signature.

    Parameters
    ----------
    priors : array-like, optional
        The probability of each class; by default its share of the rows.
    var_smoothing : float
        This fraction of the largest column variance is added to every variance. It is taken from the tally,
        so it does not depend on the batches. (`NaiveBayes` has a floor for each column instead.)

    Examples
    --------
    >>> X = [[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]]
    >>> GaussianNB().fit(X, [1, 1, 2, 2]).predict([[-0.8, -1]]).tolist()
    [1]
    """

    _family = "gaussian"
    _sparse = False
    _allowed: ClassVar[dict[str, list[Allowed]]] = {"priors": [ARRAY_LIKE, NONE], "var_smoothing": [NOT_NEGATIVE]}

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _check_against_data(self) -> None:
        if self.priors is not None:
            priors = numbers_in(self.priors, "priors")
            if len(priors) != len(self.classes_):
                raise InputError("Number of priors must match number of classes.")
            if not np.isclose(priors.sum(), 1.0):
                raise InputError("The sum of the priors should be 1.")
            if (priors < 0).any():
                raise InputError("Priors must be non-negative.")

    def _settings(self) -> Any:
        return self.priors, self.var_smoothing

    def _estimate(self) -> Parameters:
        columns = self.schema_.names
        counts, means, variances, overall, exponents = spread(self.tally_, columns, self._labels)
        # All in units of 2^(2·exponent), an exponent per column: at no scale does a variance over- or underflow.
        size = np.where(overall > 0, np.log2(np.where(overall > 0, overall, 1)) + 2.0 * exponents, -np.inf)
        most = int(np.argmax(size))
        with np.errstate(over="ignore", under="ignore"):
            epsilon = np.ldexp(self.var_smoothing * overall[most], 2 * (exponents[most] - exponents))
            variances = np.minimum(np.where(counts == 0, overall, variances) + epsilon, np.finfo(float).max)
            variances = np.where(variances > 0, variances, np.finfo(float).tiny)
            deviations = np.ldexp(np.sqrt(variances), exponents)
            own = GaussianParameters(columns, counts, means, deviations.clip(*NORMAL))
            self._estimates.epsilon = float(np.ldexp(self.var_smoothing * overall[most], 2 * exponents[most]))
        if self.priors is not None:
            shares = np.asarray(self.priors, np.float64)
            return self._parameters_of(shares, own, ["given"] * len(shares))
        rows = self.class_count_
        return self._parameters_of(rows / rows.sum(), own, [fraction(n, 0, rows.sum(), 0) for n in rows])

    @property
    def theta_(self) -> Floats:
        """The mean of each class and column."""
        return np.asarray(self._own.means)

    @property
    def var_(self) -> Floats:
        """The variance of each class and column, with epsilon_ added."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self._own.deviations**2)

    @property
    def epsilon_(self) -> float:
        """What was added to every variance."""
        self._parameters()
        return float(self._estimates.epsilon)

    @property
    def class_prior_(self) -> Floats:
        """The probability of each class."""
        return np.exp(self._parameters().log_prior)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
