"""What every estimator has: scikit-learn's contract (without its import), learning by adding, the class prior.

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
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, RefusedError, did_you_mean
from ingenuo.show.arithmetic import Term, fraction, term
from ingenuo.tally.labels import Labels, find, labels_of
from ingenuo.tally.prior import Prior

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


class Refusals:
    """Mix-in: the class says in `_refusals` which methods it cannot have, and why, with the remedy.

    >>> class Model(Refusals):
    ...     _refusals = {"forget": "it keeps no sums; fit it again without the rows"}
    >>> hasattr(Model(), "forget")
    False
    >>> Model().forget
    Traceback (most recent call last):
    ...
    ingenuo.errors.RefusedError: a Model cannot forget: it keeps no sums; fit it again without the rows
    """

    _refusals: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        why = type(self)._refusals.get(name)
        if why is not None:
            raise RefusedError(f"a {type(self).__name__} cannot {name}: {why}")
        further = getattr(super(), "__getattr__", None)
        if further is not None:
            return further(name)
        return object.__getattribute__(self, name)  # raises as it did before, with the reason of a property


# What models that merge have besides: `+`, and dropping what is rare.


class Adding:
    """Mix-in: a + b is a copy of a that b is merged into; neither changes."""

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Adding):
            return NotImplemented
        check_is_fitted(self)
        result: Any = clone(self)
        result.__dict__.update({k: v for k, v in self.__dict__.items() if k not in result.__dict__})
        return result.merge(other)

    def drop_rare(self, minimum: int) -> Self:
        """Drop what is known of fewer rows than a minimum count, so that the model may be shown to others.

        Parameters
        ----------
        minimum : int
            As for `Tally.without_rare`, whose notes say what this does not promise. Names of columns stay, and so do
            values and classes that were declared, and the cut points of a network.

        Notes
        -----
        The model answers, learns, merges and is saved as before. Of the rows whose values were dropped not all is
        there any more, so forgetting them raises `ForgetError`. Where no class or no word would be left, where
        `tune` or `calibration` has learned from each row besides, and where the ends of a regressor's bins are
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
        model: Any = self
        model._check_form()
        refuse_besides(self)
        for column in model.schema_.references:
            raise RefusedError(
                f"the texts of column {column!r} are of unit length, measured by the words of the first rows: their "
                "rare words would stay; take norm=None"
            )
        rest = model.tally_.without_rare(minimum)
        if "class" not in rest:
            raise InputError(f"no class has {minimum} rows, so nothing would be left; take a lower minimum count")
        before, left = model.tally_.labels("class", 0), rest.labels("class", 0)
        gone = before[find(left, before) < 0]
        other = copy.copy(model)
        if "_declared_classes" in self.__dict__ and hasattr(self, "classes_"):  # those of a regressor are its bins
            other._declared_classes = model._declared_classes[find(gone, model._declared_classes) < 0]
        if len(gone) and hasattr(self, "_check_classes"):
            model._check_classes(left)
        other._set(model.schema_, rest)
        asked = getattr(other, "_bayes", other)  # a regressor answers by the classifier over its bins
        (asked._reading if hasattr(asked, "_reading") else asked._parameters)()  # which raises where it cannot answer
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)
        return self


def refuse_besides(model: Any) -> None:
    """Raise where a model, fitted or not, keeps something of single rows beside its sums."""
    name = type(model).__name__
    if not isinstance(model, Adding):
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


# The prior of the classes: imaginary rows of each, or probabilities that are given.


Floats = NDArray[np.float64]


def check(given: Any) -> None:
    """Raise if this can be no prior of any classes."""
    if not isinstance(given, Prior | Mapping):
        raise KindError(
            "class_prior must be a Prior such as MaximumLikelihood(), or a mapping from class to probability, "
            f"got {type(given).__name__} {given!r}"
        )
    if isinstance(given, Prior):
        return
    for name, share in given.items():
        if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
            raise InputError(f"class_prior gives class {name!r} the probability {share!r}; it must lie between 0 and 1")
    total = float(sum(given.values()))
    if abs(total - 1) > 1e-9:
        raise InputError(f"the probabilities of class_prior sum to {total:g}; they must sum to 1")


def shares(given: Prior | Mapping[Any, float], rows: Floats, classes: Labels) -> tuple[Floats, tuple[Term, ...]]:
    """The probability of each class, and how it comes about.

    >>> from ingenuo.tally.prior import Laplace
    >>> found, written = shares(Laplace(), np.array([2.0, 1.0]), labels_of(["a", "b"]))
    >>> found.tolist(), written[0].how
    ([0.6, 0.4], '(2 + 1)/(3 + 2)')
    """
    if isinstance(given, Prior):
        pseudo = given.pseudo_counts(classes)
        found = (rows + pseudo) / (rows + pseudo).sum()
        total, imagined = rows.sum(), pseudo.sum()
        return found, tuple(term(fraction(n, a, total, imagined), share) for n, a, share in zip(rows, pseudo, found))
    absent = classes[find(labels_of(given), classes) < 0].tolist()
    if absent:
        raise InputError(f"class_prior has no probability for class {absent[0]!r}; give one for every class")
    found = np.array([given[name] for name in classes.tolist()], np.float64)
    if found.sum() == 0:
        raise InputError("class_prior gives probability 0 to every class that was seen; give one of them more")
    found = found / found.sum()
    return found, tuple(term("given", share) for share in found)


def draw(log_prior: Floats, classes: Labels, n: int, class_: Any, rng: np.random.Generator) -> NDArray[np.intp]:
    """The places of n classes, drawn by their prior; or of the one that is given, n times."""
    if class_ is None:
        odds = np.exp(log_prior - log_prior.max())
        return np.asarray(rng.choice(len(classes), size=n, p=odds / odds.sum()), np.intp)
    place = int(find(classes, labels_of([class_]))[0])
    if place < 0:
        raise InputError(f"there is no class {class_!r}{did_you_mean(class_, classes)}")
    return np.full(n, place, np.intp)
