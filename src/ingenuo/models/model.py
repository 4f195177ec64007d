"""What every model has: scikit-learn's contract (without its import), the verbs of learning, the class prior.

`import sklearn` costs more time than the fit of a small table, so `Estimator` brings parameters, copies and a `repr`
itself. As soon as scikit-learn is in the process, its own base classes become those of ours (`join_scikit_learn`), when
an estimator is made or when something is used that only scikit-learn's classes have.
"""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import EmptyModelError, ForgetError, InputError, KindError, MergeError, RefusedError
from ingenuo.families import check_tally
from ingenuo.models import packing
from ingenuo.models.sums import CLASS as CLASS
from ingenuo.models.sums import LearnsSums
from ingenuo.rows import checks
from ingenuo.rows.rows import Part, Rows, rows_of
from ingenuo.rows.schema import Schema
from ingenuo.tally.labels import Labels, find, unite
from ingenuo.tally.prior import Prior, Settings, prior_of
from ingenuo.tally.tally import Tally

Floats = NDArray[np.float64]
Tensors = dict[str, NDArray[Any]]
State = tuple[dict[str, Any], Tensors]
NO_LABELS: Labels = np.zeros(0, np.int64)

_WIDTH = 80  # of a line of a `repr`
_LONGEST = 700  # characters of a `repr`, from which on its middle is left out, as scikit-learn does

_lock = threading.Lock()


def is_loaded() -> bool:
    """Whether scikit-learn's base classes have been imported, by anyone."""
    return "sklearn.base" in sys.modules


class _WithoutScikitLearn:
    """The base of `Estimator` until `BaseEstimator` takes its place."""

    def __getattr__(self, name: str) -> Any:
        # scikit-learn looks for a method of its base class, or a notebook wants to show the estimator.
        if is_loaded() or name in ("_repr_html_", "_repr_mimebundle_"):
            join_scikit_learn()
            return getattr(self, name)
        return object.__getattribute__(self, name)  # raises as it did before, with the reason of a property

    @classmethod
    def _get_param_names(cls) -> list[str]:
        given = inspect.signature(cls.__init__).parameters.values()
        return sorted(each.name for each in given if each.name != "self" and each.kind != each.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor; if deep, those of estimators among them too, as `name__parameter`."""
        params: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params.update({f"{name}__{inner}": its for inner, its in value.get_params().items()})
            params[name] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor by their names, or `name__parameter` of an estimator among them."""
        known = self._get_param_names()
        for given in sorted(params, key=lambda name: "__" in name):  # estimators before what is in them
            (name, _, inner), value = given.partition("__"), params[given]
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        name, defaults = type(self).__name__, inspect.signature(type(self).__init__).parameters
        shown = [
            f"{key}={value!r}"
            for key, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[key].default)
        ]
        lines = [f"{name}("]
        for place, each in enumerate(shown):
            each += "," if place + 1 < len(shown) else ""
            if place and len(lines[-1]) + 1 + len(each) + (place + 1 == len(shown)) > _WIDTH:
                lines.append(" " * (len(name) + 1) + each)
            else:
                lines[-1] += f" {each}" if place else each
        text = "\n".join(lines) + ")"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"

    def _repr_html_inner(self) -> str:
        join_scikit_learn()
        return str(self._repr_html_inner())

    def __sklearn_tags__(self) -> Any:
        join_scikit_learn()
        return self.__sklearn_tags__()


class Estimator(_WithoutScikitLearn):
    """The base of every estimator: its parameters are those of its constructor."""

    def __new__(cls, *_args: Any, **_parameters: Any) -> Self:
        """An estimator, which is one of scikit-learn's where that has been imported."""
        if is_loaded():
            join_scikit_learn()
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by their names: `prior`, or `prior__alpha` of the prior, `text__binary` of the `Words`.

        Priors and `Words` are never changed: another one takes their place.
        """
        for given in [name for name in params if "__" in name]:
            name, _, inner = given.partition("__")
            held = self._settings_of(name, params.get(name, getattr(self, name))) if hasattr(self, name) else None
            if isinstance(held, Settings):
                params[name] = held.with_params(**{inner: params.pop(given)})
        return super().set_params(**params)

    def _settings_of(self, name: str, held: Any) -> Any:
        """The priors or words that the value of a parameter stands for."""
        return prior_of(held) if name == "prior" else held


class ClassifierBase(Estimator):
    """The base of every classifier."""


class RegressorBase(Estimator):
    """The base of every regressor."""


def join_scikit_learn() -> None:
    """Make scikit-learn's classes the bases of ours, instead of what stands in for them."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    with _lock:
        if issubclass(Estimator, BaseEstimator):
            return
        Estimator.__bases__ = (BaseEstimator,)  # type: ignore[misc]
        ClassifierBase.__bases__ = (ClassifierMixin, Estimator)  # type: ignore[misc]
        RegressorBase.__bases__ = (RegressorMixin, Estimator)  # type: ignore[misc]
        waiting: list[type[Estimator]] = [Estimator]
        for cls in waiting:
            waiting += cls.__subclasses__()
            super(Estimator, cls).__init_subclass__()  # the base writes set_fit_request and its like into each


def clone(estimator: Any) -> Any:
    """A new estimator with the same parameters, that has learned nothing; as `sklearn.base.clone`."""
    if is_loaded() or not isinstance(estimator, Estimator):
        from sklearn.base import clone as sklearn_clone

        return sklearn_clone(estimator)
    params = {
        name: clone(value) if isinstance(value, Estimator) else copy.deepcopy(value)
        for name, value in estimator.get_params(deep=False).items()
    }
    return type(estimator)(**params)


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's `NotFittedError` if the estimator has not learned yet."""
    if isinstance(estimator, Estimator) and estimator.__sklearn_is_fitted__():
        return
    from sklearn.utils.validation import check_is_fitted as sklearn_check

    sklearn_check(estimator)


def is_classifier(model: Any) -> bool:
    """Whether a model is a classifier, by what it says of itself."""
    if isinstance(model, ClassifierBase):
        return True
    from sklearn.base import is_classifier as is_sklearn_classifier

    return bool(is_sklearn_classifier(model))


def is_regressor(model: Any) -> bool:
    """Whether a model is a regressor, by what it says of itself."""
    if isinstance(model, Estimator | type) or not hasattr(model, "__sklearn_tags__"):
        return isinstance(model, RegressorBase)
    from sklearn.base import is_regressor as is_sklearn_regressor

    return bool(is_sklearn_regressor(model))


if is_loaded():
    join_scikit_learn()


class Refusals:
    """Mix-in: `_refusals` has the methods that a model cannot have, and why; to `hasattr` they are not there."""

    _refusals: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        why = None if name == "_refusals" else self._refusals.get(name)
        if why is not None:
            error = RefusedError(f"a {type(self).__name__} cannot {name}: {why}")
            error.typed_as("cannot partial_fit:", "cannot learn further rows:").typed_as(
                "cannot sample:", "draws no rows:"
            )
            error.typed_as('take BayesClassifier(members="additive")', "train --model bayes:members=additive")
            raise error.typed_as(" fit it ", " train it ").typed_as("take its twin_", "train a --model naive-bayes")
        further = getattr(super(), "__getattr__", None)
        if further is not None:
            return further(name)
        return object.__getattribute__(self, name)  # raises as it did before, with the reason of a property


class unless_refused:
    """A method that is there unless `_refusals` of the model has it."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        functools.update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: type) -> Any:
        """The method of a model, or of the class."""
        if model is None:
            return self._method
        if self._method.__name__ in model._refusals:
            raise AttributeError(self._method.__name__)  # `Refusals` says why
        return self._method.__get__(model, owner)


# Learning, written once.


class Plan(NamedTuple):
    """What a model knows before it counts any row."""

    schema: Schema  # what the columns are
    fixed: Mapping[str, Any] = MappingProxyType({})  # what else the rows decide, by attribute: cut points, bins, arcs


class Packed:
    """Mix-in: a model that packs itself, for files and for other machines."""

    _dropped: ClassVar[tuple[str, ...]] = ()  # parameters that files of before have, and no model any more

    def state(self) -> State:
        """The model as plain values and tensors."""
        model: Any = self
        check_is_fitted(self)
        values, arrays = self._extra()
        tensors = {f"besides/{name}": array for name, array in arrays.items()}
        manifest = {
            "kind": "model",
            "model": type(self).__name__,
            "parameters": packing.pack(self._given()),
            "schema": packing.pack_schema(model.schema_, tensors),
            "tally": packing.pack_tally(model.tally_, tensors),
        }
        if values or arrays:
            manifest["besides"] = packing.pack(values)
        if "_target" in self.__dict__:
            manifest["target"] = model._target
        if "_behind" in self.__dict__:
            manifest["behind"] = model._behind
        for key, name in _LABELS.items():
            if name in self.__dict__:
                manifest[key] = packing.pack_labels(np.asarray(getattr(self, name)), key, tensors)
        return manifest, tensors

    @classmethod
    def from_state(cls, manifest: Mapping[str, Any], tensors: Tensors) -> Self:
        """The model that `state` gave; raises for what is no model."""
        given = packing.unpack(manifest["parameters"])
        model: Any = cls(**{name: value for name, value in given.items() if name not in cls._dropped})
        model._check_settings()
        every = dict(tensors)
        schema = packing.unpack_schema(manifest["schema"], every)
        tally = packing.unpack_tally(manifest["tally"], every)
        check_tally(schema, tally)
        if "target" in manifest:
            model._target = str(manifest["target"])
        for key, name in _LABELS.items():
            if key in manifest:
                setattr(model, name, packing.unpack_labels(manifest[key], every))
        classes = len(unite(model.__dict__.get("_declared_classes", NO_LABELS), tally.labels(CLASS, 0)))
        values = len(schema) + sum(map(len, schema.categories.values()))
        values += sum(table.cells_per_class for table in tally.values())
        packing.check_size(classes * values, tensors, "the tables of the model")
        arrays = {key.removeprefix("besides/"): value for key, value in tensors.items() if key.startswith("besides/")}
        model._restore(schema, tally, packing.unpack(manifest["besides"]) if "besides" in manifest else {}, arrays)
        if "behind" in manifest:
            checks.check_whole("the rows that the calibration is behind", manifest["behind"])
            model._behind = manifest["behind"]
        return model  # type: ignore[no-any-return]

    def _given(self) -> dict[str, Any]:
        """The parameters, as a file has them."""
        model: Any = self
        found: dict[str, Any] = model.get_params(deep=False)
        return found

    def _extra(self) -> State:
        """What is not in the tally: plain values and arrays."""
        return {}, {}

    def answer_nothing(self) -> None:
        """Answer one row of which nothing is known: whatever an answer relies on must be there."""
        model: Any = self
        model.explain({})

    def _restore(self, schema: Schema, tally: Tally, values: Mapping[str, Any], arrays: Tensors) -> None:
        """Set what a file has; raise where it is no model."""
        model: Any = self
        model._set_tally(schema, tally)
        if CLASS in tally:
            model._check_against_data()

    @contextmanager
    def _undo_on_error(self) -> Iterator[None]:
        """Whatever goes wrong within, the model is as it was before."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise


_LABELS = {"classes": "_declared_classes", "names": "feature_names_in_"}  # in the manifest, and of the model


class Learner(LearnsSums, Packed):
    """What every model that is a function of a tally has: the verbs of learning.

    A subclass says what it counts (`_plan`, `_tally_of`) and what it makes of that (`_estimate`).
    """

    schema_: Schema
    tally_: Tally

    _fixed: ClassVar[tuple[str, ...]] = ()  # the parameters that say what is learned
    _free: ClassVar[tuple[str, ...]] = ()  # those that say what is made of it, and may be changed later
    _labelled: ClassVar[bool] = True  # whether rows have a class, or a target
    _is_tally = True  # whether what was found beside the sums is kept by `partial_fit`, `forget` and `merge`

    # What a subclass says of itself.

    @property
    def _is_additive(self) -> bool:
        """Whether all that it answers derives from the tally and the parameters of the constructor."""
        return True

    def _check_settings(self) -> None:
        """Raise a clear error if a parameter of the constructor makes no sense."""

    def _plan(self, rows: Rows, *, whole: bool = False) -> Plan:
        """What must be known of the rows, which may be all that there will be, before they are counted."""
        raise NotImplementedError

    def _tally_of(self, part: Part) -> Tally:
        """The sums over some rows."""
        raise NotImplementedError

    def _estimate(self) -> Any:
        """Parameters from the tally."""
        raise NotImplementedError

    def _check_whole(self, schema: Schema, classes: Labels, tally: Tally) -> None:
        """Raise where these rows cannot be all that a model learns from."""

    def _check_tally(self, schema: Schema, tally: Tally) -> None:
        """Raise where these can be the sums of no rows."""
        check_tally(schema, tally)

    def _check_other(self, other: Self) -> None:
        """Raise where the sums of another model are of something else."""

    def _check_against_data(self) -> None:
        """Raise if a parameter of the constructor does not fit what was learned."""

    def _declared_columns(self) -> Collection[Any]:
        """The columns of which it is declared what they are, so that they need not be looked at."""
        return ()

    def _known_columns(self) -> Collection[Any]:
        """The columns that a model which has learned need not look at again."""
        return set(self.schema_.names.tolist())

    # Learning.

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and their labels, forgetting what was learned before.

        Parameters
        ----------
        X : array, sparse matrix, list of texts, table, path, what `scan` gives, Arrow stream, Dask or Spark DataFrame
            The rows; missing values are NaN or null. Files and streams are read a batch at a time; the rows of a Dask
            or Spark frame stay where they are.
        y : array-like, or the name of a column of X
            The class of each row; of a file, a stream or a frame of an engine, the name of a column.
        sample_weight : array-like, optional
            How often each row counts; of a file, a stream or a frame of an engine, the name of a column.
        """
        self._check_settings()
        with self._undo_on_error():
            rows = rows_of(X, y, sample_weight, self._declared_columns(), labelled=self._labelled)
            self._learn_first(rows, whole=True)
        return self

    def _learn_more(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from more rows, or from the first."""
        with self._undo_on_error():
            if self._fitted:
                self.add_sums(self.sums_of(X, y, sample_weight))
            else:
                self._check_settings()
                self._learn_first(rows_of(X, y, sample_weight, self._declared_columns(), labelled=self._labelled))
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is then, to the last bit, what it would be had it never seen them.

        Parameters
        ----------
        X, y, sample_weight
            The rows to forget, as they were learned. Rows that were never learned raise `ForgetError`, and leave the
            model as it was: with `fingerprints` always, and the row is named; without, wherever the sums show it.

        Examples
        --------
        >>> from ingenuo import NaiveBayes
        >>> model = NaiveBayes(fingerprints=True).fit([["Rain", 75], ["Sun", 81]], ["yes", "no"])
        >>> model.forget([["Rain", 81]], ["yes"])
        Traceback (most recent call last):
        ...
        ingenuo.errors.ForgetError: row 1 (x0 'Rain', x1 81; class 'yes') was never learned; ...
        """
        check_is_fitted(self)
        try:
            with self._warn_behind():
                self.subtract_sums(self.sums_of(X, y, sample_weight))
        except ForgetError as error:
            raise self.name_unlearned(error, X, y, sample_weight) from error
        return self

    # The same by sums, which know no rows: they can be counted here, kept, and added there.

    def sums_of(self, X: Any, y: Any = None, sample_weight: Any = None) -> Tally:
        """The sums of rows: what `partial_fit` adds, and `forget` takes away. The model stays as it is."""
        self._check_fixed()
        rows = rows_of(X, y, sample_weight, self._known_columns(), labelled=self._labelled, model=self)
        return rows.reduce(tally_rows, self._make_empty(self.schema_)).named_as(self.tally_.all_labels())

    def add_sums(self, sums: Tally) -> Self:
        """Add what `sums_of` has counted, as `partial_fit` of those rows does."""
        with self._undo_on_error():
            self._set_tally(self.schema_, self.tally_ + sums)
            self._fall_behind(sums)
        return self

    def subtract_sums(self, sums: Tally) -> Self:
        """Take away what `sums_of` has counted, as `forget` of those rows does."""
        rest = self.tally_ - sums
        self._check_tally(self.schema_, rest)
        with self._undo_on_error():
            self._set_tally(self.schema_, rest)
            self._fall_behind(sums)
        return self

    def merge(self, other: Any) -> Self:
        """Add what another model of the same kind has learned; classes, categories and columns unite."""
        check_is_fitted(self)
        own, its = type(self).__name__, type(other).__name__
        if type(other) is not type(self):
            raise MergeError(f"a {own} can be merged with another {own}, not with {its}")
        check_is_fitted(other)
        self._check_fixed()
        other._check_fixed()
        self._check_other(other)
        with self._undo_on_error(), self._warn_behind():
            self._set_tally(
                self.schema_.unite(other.schema_), self.tally_ + other.tally_.named_as(self.tally_.all_labels())
            )
            self._declare_classes(other.__dict__.get("_declared_classes", NO_LABELS))
            self._fall_behind(other.tally_)
        return self

    def __add__(self, other: Any) -> Self:
        """A copy that the other is merged into; neither changes."""
        if not isinstance(other, Learner):
            return NotImplemented
        check_is_fitted(self)
        result = clone(self)
        result.__dict__.update({k: v for k, v in self.__dict__.items() if k not in result.__dict__})
        return result.merge(other)  # type: ignore[no-any-return]

    def _learn_first(self, rows: Rows, *, whole: bool = False) -> None:
        """Learn from the first rows, which may be all."""
        self._forget_all()
        self._learn_by(self._plan(rows, whole=whole), rows, whole=whole)

    def _learn_by(self, plan: Plan, rows: Rows, *, whole: bool) -> None:
        """Count rows, with what was found from them beforehand."""
        self.__dict__.update(plan.fixed)
        tally = rows.reduce(tally_rows, self._make_empty(plan.schema)).named_as(plan.schema.declared_labels())
        if CLASS not in tally:
            raise InputError(f"{rows.name}: there are no rows to learn from")
        if whole:
            self._check_whole(plan.schema, tally.labels(CLASS, 0), tally)
        if rows.target is not None:
            self._target = rows.target  # which may stand among the columns of rows to answer
        self._set_tally(plan.schema, tally)
        if whole:
            self._check_against_data()

    def _forget_all(self) -> None:
        for name in ("tally_", "schema_", "_declared_classes", "_target", "_behind"):
            self.__dict__.pop(name, None)

    def _count_again(self, rows: Rows) -> None:
        """Learn all of these rows, with everything that was found from others kept: cuts, arcs, settings."""
        tally = rows.reduce(tally_rows, self._make_empty(self.schema_))
        self._set_tally(self.schema_, tally.named_as(self.tally_.all_labels()))

    def _make_empty(self, schema: Schema) -> Self:
        """A model that knows what the columns are, and has learned nothing yet."""
        empty = copy.copy(self)
        empty._set_tally(schema, Tally())
        return empty

    def _declare_classes(self, classes: Labels) -> None:
        """Know of classes that may have no row yet."""
        known = self.__dict__.get("_declared_classes", NO_LABELS)
        both = unite(known, classes)
        if len(both) > len(known):
            self._declared_classes = both
            self._set_tally(self.schema_, self.tally_)

    def _set_tally(self, schema: Schema, tally: Tally) -> None:
        """Take what was learned; what was estimated from something else is dropped."""
        if not self._fitted or schema is not self.schema_:
            self._learned_as = freeze(self._fixed_settings())
        self.schema_, self.tally_ = schema, tally
        # The last parameters, the settings that they were estimated with, and those as given, where they cannot change.
        self._estimates = SimpleNamespace(settings=None, parameters=None, given=None)
        if not len(schema):  # texts that are no column of any table
            return
        self.n_features_in_ = len(schema)
        if schema.named and all(isinstance(name, str) for name in schema.names):
            self.feature_names_in_ = schema.names

    @property
    def _fitted(self) -> bool:
        return "tally_" in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted

    # Settings, and what is estimated with them.

    def _fixed_settings(self) -> Any:
        """The parameters that say what is learned."""
        return tuple(getattr(self, name) for name in self._fixed)

    def _check_fixed(self) -> None:
        (_, before), (_, now) = self._learned_as, freeze(self._fixed_settings())
        for name, one, two in zip(self._fixed, before, now):
            if one != two:
                raise InputError(
                    f"{name} was changed after the model had learned, and it says what is learned; fit it again, or "
                    "set it back"
                )

    def _parameters(self) -> Any:
        """What is estimated from the tally: again when that, or a setting, has changed."""
        given = (*(getattr(self, name) for name in self._free), *self._fixed_settings())
        last = self._estimates
        if last.given is not None and all(map(operator.is_, given, last.given)):
            return last.parameters
        settings = freeze(given)
        if last.parameters is None or last.settings != settings:
            if CLASS not in self.tally_:
                raise EmptyModelError("the model has forgotten every row it knew; fit it again first")
            self._check_settings()
            self._check_fixed()
            self._check_against_data()
            last.parameters = self._estimate()
            last.settings = settings
        last.given = given if all(isinstance(each, _UNCHANGING) for each in given) else None
        return last.parameters

    def drop_rare(self, minimum: int) -> Self:
        """Drop what is known of fewer rows than a minimum count, so that the model may be shown to others.

        Parameters
        ----------
        minimum : int
            As for `Tally.without_rare`, whose notes say what this does not promise. Names of columns stay, and so do
            values and classes that were declared, and the cut points and level weights of a network.

        Notes
        -----
        The model answers, learns, merges and is saved as before. Of the rows whose values were dropped not all is
        there any more, so forgetting them raises `ForgetError`. Where no class or no word would be left, where
        `tune` or `calibration` has learned from single rows, and where the ends of a regressor's bins are
        targets of rows, this raises; the model stays as it was.

        Examples
        --------
        >>> from ingenuo import NaiveBayes
        >>> towns = [["Rome"]] * 6 + [["Oslo"]] * 5 + [["Ur"]]
        >>> model = NaiveBayes().fit(towns, ["ill", "well"] * 6).drop_rare(2)
        >>> print(model.tally_)
        category:0: ill Oslo 3, ill Rome 3, well Oslo 2, well Rome 3
        class: ill 6, well 6
        """
        check_is_fitted(self)
        refuse_more_than_sums(self)
        self._check_fixed()
        for column in self.schema_.references:
            raise RefusedError(
                f"the texts of column {column!r} are of unit length, measured by the words of the first rows: their "
                "rare words would stay; take norm=None"
            )
        rest = self.tally_.without_rare(minimum)
        before, left = self.tally_.labels(CLASS, 0), rest.labels(CLASS, 0)
        gone = before[find(left, before) < 0]
        if len(gone):
            self._check_classes(left)
        with self._undo_on_error():
            if "_declared_classes" in self.__dict__ and hasattr(self, "classes_"):  # those of a regressor are its bins
                self._declared_classes = self._declared_classes[find(gone, self._declared_classes) < 0]
            self._set_tally(self.schema_, rest)
            self._parameters()  # which raises where it cannot answer
        return self

    def _check_classes(self, classes: Labels) -> None:
        """Raise if these cannot be all the classes of a model."""


def refuse_more_than_sums(model: Any) -> None:
    """Raise where a model, fitted or not, keeps something of single rows beside its sums."""
    name = type(model).__name__
    if not isinstance(model, Learner):
        raise KindError(
            f"a {name} is not made of sums by class alone, so a minimum count cannot be kept; of what `ingenuo train` "
            "learns, naive-bayes, network, discriminant, language, language-model and least-squares are"
        )
    if getattr(model, "tune", False) or getattr(model, "calibration", None) is not None:
        raise RefusedError(
            f"what tune and calibration have learned of single rows is not among the sums of a {name}, and would stay; "
            "learn without them, and calibrate afterwards by rows of their own: recalibrate(X, y, learned=False)"
        )
    if isinstance(getattr(model, "bins", None), int | np.integer):
        raise RefusedError(
            f"the bins of this {name} end at targets of single rows, and would stay; give edges of your own: bins=[…]"
        )


_UNCHANGING = (type(None), bool, int, float, str, Prior)  # of Python's values those that nobody can change


def freeze(value: Any) -> Any:
    """A value that compares by its contents and that nobody can change."""
    if isinstance(value, Prior):
        return type(value).__name__, freeze(vars(value))
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes() if value.dtype != object else freeze(value.tolist())
    if isinstance(value, Mapping):
        return tuple((name, freeze(item)) for name, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return type(value).__name__, tuple(freeze(item) for item in value)
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return freeze(np.asarray(value))
    return value


def tally_rows(model: Any, part: Part, options: Mapping[str, Any]) -> Tally:
    """The statistic of learning: what a model that knows its columns counts of some rows."""
    found: Tally = model._tally_of(part)
    return found
