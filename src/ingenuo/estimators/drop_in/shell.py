"""What the five drop-ins share: one family for all columns, and scikit-learn's rules for classes and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.estimators import inputs
from ingenuo.estimators.base import CLASS, Parameters, TallyClassifier
from ingenuo.estimators.rows import Part, Rows, rows_of
from ingenuo.families.family import logs, term
from ingenuo.labels import Labels, find, labels_of, same
from ingenuo.schema import FAMILIES, Schema
from ingenuo.sources import Source, open_source
from ingenuo.tally import Tally

Floats = NDArray[np.float64]


class Allowed(NamedTuple):
    """Values that a parameter may have, and what scikit-learn calls them."""

    called: str
    holds: Callable[[Any], bool]


NONE = Allowed("None", lambda value: value is None)
BOOLEAN = Allowed(
    "an instance of 'bool' or an instance of 'numpy.bool'", lambda value: isinstance(value, bool | np.bool_)
)
ARRAY_LIKE = Allowed(
    "an array-like",
    lambda value: not np.isscalar(value) and any(hasattr(value, name) for name in ("__len__", "shape", "__array__")),
)
NOT_NEGATIVE = Allowed("a float in the range [0.0, inf)", lambda value: isinstance(value, Real) and float(value) >= 0)
COUNT = Allowed("an int in the range [1, inf)", lambda value: isinstance(value, Integral) and int(value) >= 1)


class DropIn(TallyClassifier):
    """What the five share: one family for all columns, and scikit-learn's rules for classes."""

    _family: ClassVar[str]
    _allowed: ClassVar[dict[str, list[Allowed]]]  # the values that each parameter may have
    _dtype: ClassVar[Any] = "numeric"
    _sparse: ClassVar[bool] = True

    def _learn(self, rows: Rows) -> None:
        schema, tally = self._first(rows)
        self._settle(schema, tally, tally.labels(CLASS, 0))

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; as in scikit-learn, the first call announces all the classes."""
        first = not self._fitted
        if first:
            self._check_settings()
            if classes is None:
                raise InputError("classes must be passed on the first call to partial_fit.")
        declared = self._declared_classes if not first else inputs.announced(classes)
        if classes is not None and not same(inputs.announced(classes), declared):
            raise InputError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        with self._restored():
            if first:
                schema, tally = self._first(rows_of(X, y, sample_weight))
            else:
                schema, tally = self.schema_, self._more(X, y, sample_weight)
            found = tally.labels(CLASS, 0)
            new = found[find(declared, found) < 0]
            if len(new):
                raise InputError(
                    f"The target label(s) {new} in y do not exist in the initial classes {declared}; NaiveBayes "
                    "takes classes as they come"
                )
            return self._settle(schema, tally if first else self.tally_ + tally, declared)

    def _tally_of(self, part: Part) -> Tally:
        with naming(self):
            return super()._tally_of(part)

    def _settle(self, schema: Schema, tally: Tally, declared: Labels) -> Self:
        """Take the new state, and see whether the parameters of the constructor fit it."""
        self._declared_classes = declared
        self._set(schema, tally)
        self._check_against_data()
        return self

    def _check_settings(self) -> None:
        for name, allowed in self._allowed.items():
            value = getattr(self, name)
            if not any(each.holds(value) for each in allowed):
                from sklearn.utils._param_validation import InvalidParameterError

                said = [each.called for each in allowed]
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be "
                    f"{' or '.join([', '.join(said[:-1]), said[-1]] if said[1:] else said)}. Got {value!r} instead."
                )

    def _source(self, X: Any, *, reset: bool) -> Source:
        return open_source(inputs.validate_array(self, X, reset=reset, sparse=self._sparse, dtype=self._dtype))

    def _schema_of(self, source: Source) -> Schema:
        code = list(FAMILIES).index(self._family)
        names = self.__dict__.get("feature_names_in_", source.names)
        return Schema(names, np.full(len(names), code, np.int8))

    def merge(self, other: Any) -> Self:
        """Add what another model of the same kind has learned; classes, categories and named columns unite."""
        with self._restored():
            super().merge(other)
            self._check_against_data()
        return self

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
        return self._parameters().own

    def _parameters_of(self, shares: Floats, own: Any, how: list[str]) -> Parameters:
        terms = tuple(term(text, share) for text, share in zip(how, shares))
        return Parameters.of_one(self._labels, logs(shares), terms, self.schema_.names, self._family, own)


def numbers_in(given: Any, name: str) -> Floats:
    """A parameter that is a list of numbers, none of them negative, infinite or NaN."""
    try:
        numbers = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise KindError(f"{name} must be a list of numbers, got {given!r}") from None
    if numbers.ndim != 1:
        raise InputError(f"{name} must be a list of numbers, got {numbers.ndim} dimensions")
    return numbers


@contextmanager
def naming(estimator: Any) -> Iterator[None]:
    """Errors about negative values name the estimator, as scikit-learn's do."""
    try:
        yield
    except InputError as error:
        start = "Negative values in data"
        if not str(error).startswith(start + ":"):
            raise
        name = f"{start} passed to {type(estimator).__name__} (input X)"
        raise InputError(name + str(error).removeprefix(start)) from None
