"""scikit-learn's five naive Bayes classifiers by their own names, signatures and attributes, over our tallies.

What they do better than the originals: missing values (GaussianNB, CategoricalNB) and unseen categories are left
out of the product, CategoricalNB takes strings, the floor of the variances does not depend on the batches, and
each can `forget`, `merge` and `explain`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from ingenuo.chunk import Block, Codes, Counts
from ingenuo.errors import InputError
from ingenuo.estimators import inputs
from ingenuo.estimators.base import CLASS, Parameters, TallyClassifier
from ingenuo.families.bernoulli import PRESENT, PresenceParameters, presence
from ingenuo.families.categorical import (
    CategoricalParameters,
    ColumnParameters,
    frequencies,
    table_name,
)
from ingenuo.families.family import fraction, logs, term
from ingenuo.families.gaussian import GaussianParameters, spread
from ingenuo.families.multinomial import SUM, BagParameters, bag, complement
from ingenuo.labels import Labels, find, labels_of
from ingenuo.schema import FAMILIES, Schema
from ingenuo.sources import Source, open_source

Floats = NDArray[np.float64]


class _DropIn(TallyClassifier):
    """What the five share: one family for all columns, and scikit-learn's rules for classes."""

    _family: ClassVar[str]
    _dtype: ClassVar[Any] = "numeric"
    _sparse: ClassVar[bool] = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their labels; see `NaiveBayes.fit`."""
        self._check_settings()
        schema, tally = self._tally_of(X, y, sample_weight, reset=True)
        declared = inputs.labels(self, y, inputs._num_samples(y))[1]
        return self._settle(schema, tally, declared)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; as in scikit-learn, the first call announces all the classes."""
        first = not self._fitted
        if first:
            self._check_settings()
            if classes is None:
                raise InputError("classes must be passed on the first call to partial_fit.")
        declared = self._declared_classes if not first else labels_of(np.asarray(classes).ravel())
        if classes is not None and not np.array_equal(labels_of(np.asarray(classes).ravel()), declared):
            raise InputError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        found = inputs.labels(self, y, inputs._num_samples(y))[1]
        new = found[find(declared, found) < 0]
        if len(new):
            raise InputError(
                f"The target label(s) {new} in y do not exist in the initial classes {declared}; NaiveBayes "
                "takes classes as they come"
            )
        schema, tally = self._tally_of(X, y, sample_weight, reset=first)
        return self._settle(schema if first else self.schema_, tally if first else self.tally_ + tally, declared)

    def _tally_of(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        with _named(self):
            return super()._tally_of(X, y, sample_weight, reset=reset)

    def _settle(self, schema: Schema, tally: Any, declared: Labels) -> Self:
        """Take the new state, unless the parameters of the constructor do not fit it."""
        before = dict(self.__dict__)
        self._declared_classes = declared
        self._set(schema, tally)
        try:
            self._check_against_data()
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _check_settings(self) -> None:
        self._validate_params()

    def _check_against_data(self) -> None:
        """Raise if priors or alphas do not fit the classes or the columns."""

    def _source(self, X: Any, *, reset: bool) -> Source:
        X = validate_data(
            self,
            X,
            accept_sparse="csr" if self._sparse else False,
            dtype=self._dtype,
            ensure_all_finite=False,
            reset=reset,
        )
        return open_source(X)

    def _schema_of(self, source: Source) -> Schema:
        code = list(FAMILIES).index(self._family)
        return Schema(source.names, np.full(len(source.names), code, np.int8))

    def _set(self, schema: Schema, tally: Any) -> None:
        names = self.__dict__.get("feature_names_in_")
        super()._set(schema, tally)
        if names is not None:
            self.feature_names_in_ = names

    @property
    def _labels(self) -> Labels:
        return labels_of(self.classes_)

    @property
    def class_count_(self) -> Floats:
        """The rows (or their weight) of each class."""
        return self.tally_.over(CLASS, self._labels).floats()

    @property
    def _own(self) -> Any:
        """The family's parameters."""
        return self._parameters().families[self._family]

    def _parameters_of(self, shares: Floats, own: Any, how: list[str]) -> Parameters:
        terms = tuple(term(text, share) for text, share in zip(how, shares))
        return Parameters(self._labels, logs(shares), {self._family: own}, terms)


class GaussianNB(_DropIn):
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
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _check_against_data(self) -> None:
        if self.priors is not None:
            priors = np.asarray(self.priors, np.float64)
            if len(priors) != len(self.classes_):
                raise InputError("Number of priors must match number of classes.")
            if not np.isclose(priors.sum(), 1.0):
                raise InputError("The sum of the priors should be 1.")
            if (priors < 0).any():
                raise InputError("Priors must be non-negative.")

    def _settings(self) -> Any:
        return repr(self.priors), self.var_smoothing

    def _estimate(self) -> Parameters:
        columns = self.schema_.names
        counts, means, variances, overall, exponents = spread(self.tally_, columns, self._labels)
        variances, overall = np.ldexp(variances, 2 * exponents), np.ldexp(overall, 2 * exponents)
        self._estimates.epsilon = self.var_smoothing * float(overall.max(initial=0))
        variances = np.where(counts == 0, overall, variances) + self._estimates.epsilon
        variances = np.where(variances > 0, variances, np.finfo(float).tiny)
        own = GaussianParameters(columns, counts, means, np.sqrt(variances))
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


class _Discrete(_DropIn):
    """What the four models of counts share: alpha and the class priors."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
    }

    def _settings(self) -> Any:
        return repr(self.alpha), self.force_alpha, self.fit_prior, repr(self.class_prior)

    def _check_against_data(self) -> None:
        if self.class_prior is not None and len(self.class_prior) != len(self.classes_):
            raise InputError("Number of priors must match number of classes.")
        self._check_alpha()

    def _check_alpha(self) -> Any:
        """Alpha, or the least that is allowed unless it is forced."""
        alpha = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise InputError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if alpha.min() < 0:
                raise InputError("All values in alpha must be greater than 0.")
        if np.min(alpha) < 1e-10 and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = 1.0e-10. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            return np.maximum(alpha, 1e-10)
        return alpha

    def _alphas(self) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # said once already, when the rows were learned
            return np.broadcast_to(np.asarray(self._check_alpha(), np.float64), (self.n_features_in_,))

    def _shares(self) -> tuple[Floats, list[str]]:
        if self.class_prior is not None:
            return np.asarray(self.class_prior, np.float64), ["given"] * len(self.classes_)
        if not self.fit_prior:
            return np.full(len(self.classes_), 1 / len(self.classes_)), [f"1/{len(self.classes_)}"] * len(self.classes_)
        rows = self.class_count_
        return rows / rows.sum(), [fraction(n, 0, rows.sum(), 0) for n in rows]

    def _family_estimate(self, alphas: Floats) -> Any:
        raise NotImplementedError

    def _estimate(self) -> Parameters:
        shares, how = self._shares()
        return self._parameters_of(shares, self._family_estimate(self._alphas()), how)

    @property
    def class_log_prior_(self) -> Floats:
        """The log probability of each class."""
        return self._parameters().log_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.classifier_tags.poor_score = True
        return tags


class MultinomialNB(_Discrete):
    """Multinomial naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> MultinomialNB().fit([[2, 0], [0, 3]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "multinomial"

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family_estimate(self, alphas: Floats) -> BagParameters:
        return bag(self.tally_, alphas, self.schema_.names, self._labels)

    @property
    def feature_count_(self) -> Floats:
        """The sum of each column in each class."""
        return self.tally_.over(SUM, self._labels, self.schema_.names).floats()

    @property
    def feature_log_prob_(self) -> Floats:
        """The log weight of each column in each class."""
        return np.asarray(self._own.table.T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class ComplementNB(MultinomialNB):
    """Complement naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> ComplementNB().fit([[2, 0], [0, 3]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "complement"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Discrete._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.norm = norm

    def _settings(self) -> Any:
        return *super()._settings(), self.norm

    def _family_estimate(self, alphas: Floats) -> BagParameters:
        return complement(self.tally_, alphas, self.schema_.names, self._labels, normalise=self.norm)

    def _estimate(self) -> Parameters:
        parameters = super()._estimate()
        if len(self.classes_) > 1:  # as in scikit-learn, the weights alone decide
            parameters.log_prior = np.zeros(len(self.classes_))
            parameters.prior = tuple(term("not used", 1.0) for _ in self.classes_)
        return parameters

    @property
    def class_log_prior_(self) -> Floats:
        """The log probability of each class; it is used only where there is one class."""
        return logs(self._shares()[0])

    @property
    def feature_all_(self) -> Floats:
        """The sum of each column over all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))


class BernoulliNB(_Discrete):
    """Bernoulli naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "bernoulli"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Discrete._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        found = super()._blocks(source, schema)
        block = found[self._family]
        assert isinstance(block, Counts)
        if self.binarize is None:
            return found
        m = block.matrix
        if not block.sparse:
            _refuse_not_finite(m)
            return {self._family: Counts(block.names, block.n_rows, m > self.binarize)}
        _refuse_not_finite(m.data)
        there = csr_matrix((m.data > self.binarize, m.indices, m.indptr), shape=m.shape)
        return {self._family: Counts(block.names, block.n_rows, there)}

    def _family_estimate(self, alphas: Floats) -> PresenceParameters:
        return presence(self.tally_, np.stack([alphas, alphas]), self.schema_.names, self._labels)

    @property
    def feature_count_(self) -> Floats:
        """In how many rows of each class each thing was."""
        return self.tally_.over(PRESENT, self._labels, self.schema_.names).floats()

    @property
    def feature_log_prob_(self) -> Floats:
        """The log probability of each thing in each class."""
        return np.asarray(self._own.present.T)


class CategoricalNB(_Discrete):
    """Categorical naive Bayes with scikit-learn's signature; strings and unseen categories are welcome.

    Examples
    --------
    >>> CategoricalNB().fit([["red"], ["blue"]], [0, 1]).predict([["red"]]).tolist()
    [0]
    """

    _family = "categorical"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Discrete._parameter_constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _settings(self) -> Any:
        return *super()._settings(), repr(self.min_categories)

    def _check_against_data(self) -> None:
        super()._check_against_data()
        self._least()

    def _least(self) -> NDArray[np.int64]:
        """The least number of categories of each column."""
        if self.min_categories is None:
            return np.zeros(self.n_features_in_, np.int64)
        least = np.asarray(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise InputError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (self.n_features_in_,):
            raise InputError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.broadcast_to(least, (self.n_features_in_,))

    def _source(self, X: Any, *, reset: bool) -> Source:
        return inputs.table(self, X, reset=reset, sparse=False)

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        array = getattr(source, "array", None)
        if array is None or array.dtype.kind not in "iuf":
            return super()._blocks(source, schema)
        codes, holes = _whole(array)
        if len(schema) != codes.shape[1]:
            raise InputError(f"the model was trained on {len(schema)} columns and this table has {codes.shape[1]}")
        return {self._family: Codes(source.names, source.n_rows, codes, None, holes)}

    def _joint(self, X: Any, *, possible: bool) -> Floats:
        with _named(self):
            return super()._joint(X, possible=possible)

    def _known(self, column: Any, least: int) -> Labels:
        """The categories of a column: those seen, or, of whole numbers, all from 0 to the largest seen."""
        seen = self.tally_.labels(table_name(column), 1)
        if seen.dtype.kind not in "if":
            return seen
        return np.arange(max(int(seen.max(initial=-1)) + 1, least))

    def _family_estimate(self, alphas: Floats) -> CategoricalParameters:
        tables = []
        for column, least, alpha in zip(self.schema_.names.tolist(), self._least(), alphas):
            labels = self._known(column, int(least))
            counts = self.tally_.over(table_name(column), self._labels, labels).floats()
            pseudo = np.full(len(labels), alpha)
            tables.append(ColumnParameters(labels, counts, pseudo, frequencies(counts, pseudo)))
        return CategoricalParameters(self.schema_.names, tuple(tables), len(self.classes_))

    @property
    def category_count_(self) -> list[Floats]:
        """For each column, how often each category was in each class."""
        return [table.counts for table in self._own.tables]

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """For each column, the log probability of each category in each class."""
        return [logs(table.thetas) for table in self._own.tables]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """The number of categories of each column."""
        check_is_fitted(self)
        return np.array([len(table.labels) for table in self._own.tables])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = True
        return tags


def _whole(array: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Codes from a matrix of numbers, and whether some are missing (NaN, as -1)."""
    if array.dtype.kind != "f":
        return array, False
    missing = np.isnan(array)
    if not np.isfinite(np.where(missing, 0, array)).all():
        raise InputError("Input X contains infinity; a category is a whole number that is not negative, or a string")
    if (array < 0).any():
        raise InputError("Negative values in data: categories that are numbers count from 0")
    return np.where(missing, -1, array).astype(np.int64), bool(missing.any())


def _refuse_not_finite(values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError("Input X contains NaN or infinity; a thing is there or not: replace it by 0 or 1")


@contextmanager
def _named(estimator: Any) -> Iterator[None]:
    """Errors about negative values name the estimator, as scikit-learn's do."""
    try:
        yield
    except InputError as error:
        start = "Negative values in data"
        if not str(error).startswith(start + ":"):
            raise
        name = f"{start} passed to {type(estimator).__name__} (input X)"
        raise InputError(name + str(error).removeprefix(start)) from None
