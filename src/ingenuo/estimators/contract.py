"""What scikit-learn expects of an estimator, without importing scikit-learn until something needs it.

Learning and answering need parameters, copies and a `repr` of an estimator, and no more; `import sklearn` costs more
time than the fit of a small table. So `Estimator` brings those itself. As soon as scikit-learn is in the process,
because the user imported it or because a part of ours needed it, its own `BaseEstimator`, `ClassifierMixin` and
`RegressorMixin` become the bases of our classes (`join_scikit_learn`): grid searches, pipelines, tags, metadata
routing, the HTML display and `isinstance` are then scikit-learn's own, in whatever version is installed. That happens
when an estimator is made, or when anything is asked of one that only scikit-learn's classes have.
"""

from __future__ import annotations

import copy
import inspect
import sys
import threading
from typing import Any, Self

_WIDTH = 80  # of a line of a `repr`
_LONGEST = 700  # characters of a `repr`, from which on its middle is left out, as scikit-learn does

_lock = threading.Lock()


def is_loaded() -> bool:
    """Whether scikit-learn's base classes have been imported, by anyone."""
    return "sklearn.base" in sys.modules


class _WithoutScikitLearn:
    """The base of `Estimator` until `BaseEstimator` takes its place."""

    def __getattr__(self, name: str) -> Any:
        # scikit-learn asks for a method of its base class, or a notebook wants to show the estimator.
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
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params.update({f"{name}__{inner}": its for inner, its in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor by their names, or `name__parameter` of an estimator among them."""
        known = self._get_param_names()
        estimators_first = sorted(params, key=lambda name: "__" in name)  # before what is in them
        for given in estimators_first:
            (name, _, inner), value = given.partition("__"), params[given]
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {name: each.default for name, each in inspect.signature(type(self).__init__).parameters.items()}
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name])
        ]
        lines, indent = [f"{type(self).__name__}("], " " * (len(type(self).__name__) + 1)
        for place, each in enumerate(given):
            each += "," if place + 1 < len(given) else ")"
            if place and len(lines[-1]) + 1 + len(each) > _WIDTH:
                lines.append(indent + each)
            else:
                lines[-1] += f" {each}" if place else each
        text = "\n".join(lines) + ("" if given else ")")
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


class Classifier(Estimator):
    """The base of every classifier."""


class Regressor(Estimator):
    """The base of every regressor."""


def join_scikit_learn() -> None:
    """Make scikit-learn's classes the bases of ours, instead of what stands in for them."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    with _lock:
        if issubclass(Estimator, BaseEstimator):
            return
        Estimator.__bases__ = (BaseEstimator,)  # type: ignore[misc]
        Classifier.__bases__ = (ClassifierMixin, Estimator)  # type: ignore[misc]
        Regressor.__bases__ = (RegressorMixin, Estimator)  # type: ignore[misc]
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
    if isinstance(model, Classifier):
        return True
    from sklearn.base import is_classifier as sklearn_says

    return bool(sklearn_says(model))


if is_loaded():
    join_scikit_learn()
