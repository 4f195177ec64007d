"""scikit-learn's five naive Bayes classifiers by their own names, signatures and attributes, over our tallies.

What they do better than the originals: missing values (GaussianNB, CategoricalNB) and unseen categories are left
out of the product, CategoricalNB takes strings, the floor of the variances does not depend on the batches, and
each can `forget`, `merge` and `explain`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, MergeError
from ingenuo.families.categorical import CategoricalParameters, ColumnParameters, frequencies
from ingenuo.families.counts import PRESENT, SUM, bag, presence, refuse_not_finite
from ingenuo.families.gaussian import NORMAL, GaussianParameters, spread
from ingenuo.language import say
from ingenuo.models.classifier import Classifier, Parameters
from ingenuo.models.model import CLASS
from ingenuo.rows import checks
from ingenuo.rows.part import Block, Codes, Counts
from ingenuo.rows.rows import Part, Rows
from ingenuo.rows.schema import FAMILIES, Schema, category_table, column_name
from ingenuo.rows.source import Source, open_source
from ingenuo.show.arithmetic import fraction, logs, term
from ingenuo.tally.labels import Labels, find, labels_of, same
from ingenuo.tally.tally import Tally

Floats = NDArray[np.float64]

# Values that a parameter may have, as scikit-learn calls them.
NONE = "None"
BOOLEAN = "an instance of 'bool' or an instance of 'numpy.bool'"
ARRAY_LIKE = "an array-like"
NOT_NEGATIVE = "a float in the range [0.0, inf)"
COUNT = "an int in the range [1, inf)"
_HOLDS: dict[str, Any] = {
    NONE: lambda value: value is None,
    BOOLEAN: lambda value: isinstance(value, bool | np.bool_),
    ARRAY_LIKE: lambda value: (
        not np.isscalar(value) and any(hasattr(value, name) for name in ("__len__", "shape", "__array__"))
    ),
    NOT_NEGATIVE: lambda value: isinstance(value, Real) and float(value) >= 0,
    COUNT: lambda value: isinstance(value, Integral) and int(value) >= 1,
}


class DropIn(Classifier):
    """What the five share: one family for all columns, and scikit-learn's rules for classes."""

    _family: ClassVar[str]
    _allowed: ClassVar[Mapping[str, tuple[str, ...]]]  # the values that each parameter may have
    _dtype: ClassVar[Any] = "numeric"
    _sparse: ClassVar[bool] = True
    _input_tags: ClassVar[Mapping[str, bool]] = {}

    class_count_ = property(
        lambda self: self.tally_.over(CLASS, self._labels).floats(), doc="The rows (or their weight) of each class."
    )

    @property
    def _estimates_shares(self) -> bool:
        given = getattr(self, "class_prior", None), getattr(self, "priors", None)
        return given == (None, None) and bool(getattr(self, "fit_prior", True))

    def _class_shares(self) -> tuple[Floats, list[str]]:
        """The probability of each class, and how it is written."""
        raise NotImplementedError

    def _estimate_family(self) -> Any:
        raise NotImplementedError

    def _estimate(self) -> Parameters:
        shares, how = self._class_shares()
        terms = tuple(term(text, share) for text, share in zip(how, shares))
        own = self._estimate_family()
        return Parameters.of_one(self._labels, logs(shares), terms, self.schema_.names, self._family, own)

    def _share_classes(self, given: Any, by_rows: bool = True) -> tuple[Floats, list[str]]:
        n = len(self.classes_)
        if given is not None:
            return np.asarray(given, np.float64), [say("given")] * n
        if not by_rows:
            return np.full(n, 1 / n), [f"1/{n}"] * n
        rows = self.class_count_
        return rows / rows.sum(), [fraction(count, 0, rows.sum(), 0) for count in rows]

    def _read_priors(self, given: Any, name: str) -> Floats:
        priors = _read_numbers(given, name)
        if len(priors) != len(self.classes_):
            raise InputError("Number of priors must match number of classes.")
        return priors

    def _learn_first(self, rows: Rows, *, whole: bool = False) -> None:
        super()._learn_first(rows, whole=whole)
        if whole:
            self._declared_classes = self.tally_.labels(CLASS, 0)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; as in scikit-learn, the first call announces all the classes."""
        if not self._fitted:
            self._check_settings()
            if classes is None:
                raise InputError("classes must be passed on the first call to partial_fit.")
        declared = checks.sort_classes(classes) if classes is not None else self._declared_classes
        if self._fitted and not same(declared, self._declared_classes):
            raise InputError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        with self._undo_on_error():
            super().partial_fit(X, y, declared, sample_weight)
            self._refuse_new(self._labels, declared)
            self._check_against_data()
        return self

    def _refuse_new(self, found: Labels, declared: Labels) -> None:
        """Raise for classes that were not announced."""
        new = found[find(declared, found) < 0]
        if len(new):
            raise InputError(
                f"The target label(s) {new} in y do not exist in the initial classes {declared}; NaiveBayes takes "
                "classes as they come"
            )

    def add_sums(self, sums: Tally) -> Self:
        """Add what `sums_of` has counted, as `partial_fit` of those rows does."""
        self._refuse_new(sums.labels(CLASS, 0), self._declared_classes)
        return super().add_sums(sums)

    def merge(self, other: Any) -> Self:
        """Add what another model of the same kind has learned; classes, categories and named columns unite."""
        with self._undo_on_error():
            super().merge(other)
            self._check_against_data()
        return self

    def _tally_of(self, part: Part) -> Tally:
        with _name_estimator(self):
            return super()._tally_of(part)

    def _check_settings(self) -> None:
        for name, allowed in self._allowed.items():
            value = getattr(self, name)
            if not any(_HOLDS[each](value) for each in allowed):
                from sklearn.utils._param_validation import InvalidParameterError

                *others, last = allowed
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be "
                    f"{', '.join(others)}{' or ' if others else ''}{last}. Got {value!r} instead."
                )

    def _source(self, X: Any, *, reset: bool) -> Source:
        return open_source(checks.validate_array(self, X, reset=reset, sparse=self._sparse, dtype=self._dtype))

    def _schema_of(self, source: Source) -> Schema:
        names = self.__dict__.get("feature_names_in_", source.names)
        return Schema(names, np.full(len(names), list(FAMILIES).index(self._family), np.int8))

    @property
    def _labels(self) -> Labels:
        return labels_of(self.classes_)

    @property
    def _own(self) -> Any:
        """The family's parameters."""
        return self._parameters().own

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = isinstance(self, Discrete)
        for name, value in self._input_tags.items():
            setattr(tags.input_tags, name, value)
        return tags


def _read_numbers(given: Any, name: str) -> Floats:
    """A parameter that is a list of numbers."""
    try:
        numbers = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"{name} must be a list of numbers, got {given!r}") from None
    if numbers.ndim != 1:
        raise InputError(f"{name} must be a list of numbers, got {numbers.ndim} dimensions")
    return numbers


@contextmanager
def _name_estimator(estimator: Any) -> Iterator[None]:
    """Errors about negative values name the estimator, as scikit-learn's do."""
    try:
        yield
    except InputError as error:
        start = "Negative values in data"
        if not str(error).startswith(start + ":"):
            raise
        name = f"{start} passed to {type(estimator).__name__} (input X)"
        raise InputError(name + str(error).removeprefix(start)) from None


class Discrete(DropIn):
    """What the four models of counts share: alpha and the class priors."""

    _free: ClassVar[tuple[str, ...]] = ("alpha", "force_alpha", "fit_prior", "class_prior")
    _allowed: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "alpha": (NOT_NEGATIVE, ARRAY_LIKE),
        "fit_prior": (BOOLEAN,),
        "class_prior": (ARRAY_LIKE, NONE),
        "force_alpha": (BOOLEAN,),
    }
    _input_tags: ClassVar[Mapping[str, bool]] = {"allow_nan": False}

    class_log_prior_ = property(lambda self: self._parameters().log_prior, doc="The log probability of each class.")

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _check_against_data(self) -> None:
        if self.class_prior is not None:
            priors = self._read_priors(self.class_prior, "class_prior")
            if not (np.isfinite(priors) & (priors >= 0)).all() or not priors.any():
                raise InputError(f"class_prior must hold probabilities, got {priors.tolist()}")
        self._check_alpha()

    def _check_alpha(self) -> Any:
        """Alpha, or the least that is allowed unless it is forced."""
        alpha: Any = self.alpha if isinstance(self.alpha, Real) else _read_numbers(self.alpha, "alpha")
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise InputError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if not (np.isfinite(alpha) & (alpha >= 0)).all():
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
            warnings.simplefilter("ignore", UserWarning)  # given once already, when the rows were learned
            return np.broadcast_to(np.asarray(self._check_alpha(), np.float64), (self.n_features_in_,))

    def _class_shares(self) -> tuple[Floats, list[str]]:
        return self._share_classes(self.class_prior, self.fit_prior)


class MultinomialNB(Discrete):
    """Multinomial naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> MultinomialNB().fit([[2, 0], [0, 3]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "multinomial"
    _input_tags: ClassVar[Mapping[str, bool]] = {"allow_nan": False, "positive_only": True}

    feature_count_ = property(
        lambda self: self.tally_.over(SUM, self._labels, self.schema_.names).floats(),
        doc="The sum of each column in each class.",
    )
    feature_log_prob_ = property(
        lambda self: np.asarray(self._own.table.T), doc="The log weight of each column in each class."
    )

    def _estimate_family(self) -> Any:
        return bag(self.tally_, self._alphas(), self.schema_.names, self._labels)


class ComplementNB(MultinomialNB):
    """Complement naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> ComplementNB().fit([[2, 0], [0, 3]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "complement"
    _free = (*Discrete._free, "norm")
    _allowed: ClassVar[Mapping[str, tuple[str, ...]]] = {**Discrete._allowed, "norm": (BOOLEAN,)}

    class_log_prior_ = property(
        lambda self: logs(self._class_shares()[0]),
        doc="The log probability of each class; it is used only where there is one class.",
    )
    feature_all_ = property(
        lambda self: np.asarray(self.feature_count_.sum(axis=0)), doc="The sum of each column over all classes."
    )

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

    def _estimate_family(self) -> Any:
        return bag(self.tally_, self._alphas(), self.schema_.names, self._labels, others=True, normalise=self.norm)

    def _estimate(self) -> Parameters:
        parameters = super()._estimate()
        if len(self.classes_) > 1:  # as in scikit-learn, the weights alone decide
            parameters.log_prior = np.zeros(len(self.classes_))
            parameters.prior = tuple(term(say("not used"), 1.0) for _ in self.classes_)
        return parameters


class BernoulliNB(Discrete):
    """Bernoulli naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "bernoulli"
    _fixed = ("binarize",)
    _allowed: ClassVar[Mapping[str, tuple[str, ...]]] = {**Discrete._allowed, "binarize": (NONE, NOT_NEGATIVE)}

    feature_count_ = property(
        lambda self: self.tally_.over(PRESENT, self._labels, self.schema_.names).floats(),
        doc="In how many rows of each class each thing was.",
    )
    feature_log_prob_ = property(
        lambda self: np.asarray(self._own.present.T), doc="The log probability of each thing in each class."
    )

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.binarize = binarize

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        found = super()._blocks(source, schema)
        block = found[self._family]
        assert isinstance(block, Counts)
        if self.binarize is None:
            return found
        refuse_not_finite(block)
        m, least = block.matrix, self.binarize
        there = type(m)((m.data > least, m.indices, m.indptr), shape=m.shape) if block.sparse else m > least
        return {self._family: Counts(block.names, block.n_rows, there)}

    def sheet_scorer(self) -> dict[str, Any]:
        """How rows are answered, as a sheet has it: things are there where their number is above `binarize`."""
        found = super().sheet_scorer()
        (term,) = found["terms"]
        own = {} if self.binarize is None else {"op": "presence above", "above": float(self.binarize)}
        return {**found, "terms": [{**term, **own}]}

    def _check_other(self, other: Self) -> None:
        if other.binarize != self.binarize:
            raise MergeError(
                f"one model was binarized at {self.binarize} and the other at {other.binarize}; their counts do not add"
            )

    def _estimate_family(self) -> Any:
        return presence(self.tally_, np.stack([self._alphas()] * 2), self.schema_.names, self._labels)


MOST_CATEGORIES = 1 << 20  # of a column of whole numbers, which are all from 0 to the largest


def _count_codes(column: Any, labels: Labels) -> int:
    """How many categories a column of whole numbers has, from 0 to the largest that was seen."""
    n = int(labels.max(initial=-1)) + 1 if labels.dtype.kind in "if" else 0
    if n > MOST_CATEGORIES:
        raise InputError(
            f"column {column_name(column)!r} has the category {n - 1:,}, and its table would hold all from 0 to there; "
            f"{MOST_CATEGORIES:,} are the most: number them from 0, or take NaiveBayes, which counts those that occur"
        )
    return n


class CategoricalNB(Discrete):
    """Categorical naive Bayes with scikit-learn's signature; strings and unseen categories are welcome.

    Examples
    --------
    >>> CategoricalNB().fit([["red"], ["blue"]], [0, 1]).predict([["red"]]).tolist()
    [0]
    """

    _family = "categorical"
    _free = (*Discrete._free, "min_categories")
    _allowed: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **Discrete._allowed,
        "min_categories": (NONE, ARRAY_LIKE, COUNT),
        "alpha": (NOT_NEGATIVE,),
    }
    _input_tags: ClassVar[Mapping[str, bool]] = {"categorical": True, "sparse": False, "positive_only": True}

    category_count_ = property(
        lambda self: [table.counts for table in self._own.tables],
        doc="For each column, how often each category was in each class.",
    )
    feature_log_prob_ = property(
        lambda self: [logs(table.thetas) for table in self._own.tables],
        doc="For each column, the log probability of each category in each class.",
    )
    n_categories_ = property(
        lambda self: np.array([len(table.labels) for table in self._own.tables]),
        doc="The number of categories of each column.",
    )

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.min_categories = min_categories

    def _check_against_data(self) -> None:
        super()._check_against_data()
        self._least_categories()

    def _least_categories(self) -> NDArray[np.int64]:
        """The least number of categories of each column."""
        least = np.asarray(0 if self.min_categories is None else self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise InputError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (self.n_features_in_,):
            raise InputError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        if least.max(initial=0) > MOST_CATEGORIES:
            raise InputError(f"'min_categories' is {least.max():,}, and {MOST_CATEGORIES:,} categories are the most")
        return np.broadcast_to(least, (self.n_features_in_,))

    def _source(self, X: Any, *, reset: bool) -> Source:
        return checks.table(self, X, reset=reset, sparse=False)

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        array = getattr(source, "array", None)
        if array is None and len(source.names) > len(schema):  # NaiveBayes warns; scikit-learn's models refuse
            other = source.names[find(labels_of(schema.names), source.names) < 0][0]
            raise InputError(f"the table has a column {other!r} that the model does not know; leave it out")
        if array is None or array.dtype.kind not in "iuf":
            return super()._blocks(source, schema)
        if len(schema) != array.shape[1]:
            raise InputError(f"the model was trained on {len(schema)} columns and this table has {array.shape[1]}")
        missing: Any = False
        if array.dtype.kind == "f":
            missing = np.isnan(array)
            if np.isinf(array).any():
                raise InputError(
                    "Input X contains infinity; a category is a whole number that is not negative, or a string"
                )
            if (array < 0).any():
                raise InputError("Negative values in data: categories that are numbers count from 0")
            array = np.where(missing, -1, array).astype(np.int64)
        return {self._family: Codes(source.names, source.n_rows, array, None, bool(np.any(missing)))}

    def _tally_of(self, part: Part) -> Tally:
        found = super()._tally_of(part)
        for column in self.schema_.names.tolist():
            _count_codes(column, found.labels(category_table(column), 1))
        return found

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        with _name_estimator(self):
            return super()._joint(found, n_rows, floor)

    def _estimate_family(self) -> CategoricalParameters:
        tables = []
        for column, least, alpha in zip(self.schema_.names.tolist(), self._least_categories(), self._alphas()):
            labels = self.tally_.labels(category_table(column), 1)
            if labels.dtype.kind in "if":  # of whole numbers, all from 0 to the largest seen
                labels = np.arange(max(_count_codes(column, labels), int(least)))
            counts = self.tally_.over(category_table(column), self._labels, labels).floats()
            pseudo = np.full(len(labels), alpha)
            tables.append(ColumnParameters(labels, counts, pseudo, frequencies(counts, pseudo)))
        return CategoricalParameters(self.schema_.names, tuple(tables), len(self.classes_))


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
    _free = ("priors", "var_smoothing")
    _sparse = False
    _allowed: ClassVar[Mapping[str, tuple[str, ...]]] = {"priors": (ARRAY_LIKE, NONE), "var_smoothing": (NOT_NEGATIVE,)}
    _input_tags: ClassVar[Mapping[str, bool]] = {"sparse": False}

    theta_ = property(lambda self: np.asarray(self._own.means), doc="The mean of each class and column.")
    class_prior_ = property(lambda self: np.exp(self._parameters().log_prior), doc="The probability of each class.")

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _check_against_data(self) -> None:
        if self.priors is not None:
            priors = self._read_priors(self.priors, "priors")
            if not np.isclose(priors.sum(), 1.0):
                raise InputError("The sum of the priors should be 1.")
            if (priors < 0).any():
                raise InputError("Priors must be non-negative.")

    def _class_shares(self) -> tuple[Floats, list[str]]:
        return self._share_classes(self.priors)

    def _estimate_family(self) -> GaussianParameters:
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
            return GaussianParameters(columns, counts, means, deviations.clip(*NORMAL))

    @property
    def var_(self) -> Floats:
        """The variance of each class and column, with epsilon_ added."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(self._own.deviations**2)

    @property
    def epsilon_(self) -> float:
        """What was added to every variance."""
        _, _, _, overall, exponents = spread(self.tally_, self.schema_.names, self._labels)
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(self.var_smoothing * overall, 2 * exponents).max())
