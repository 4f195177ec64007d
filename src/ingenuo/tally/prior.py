"""Priors as imaginary data: what is added to a tally before it is turned into probabilities.

Each prior is a pseudo-tally: so many imaginary observations of each value. The estimate of a value's
probability within a class is then always the same fraction,

    θ_j = (count_j + a_j) / (Σ counts + Σ a)

with a_j = 0 (maximum likelihood), 1 (Laplace), α (Lidstone), m·p_j (the m-estimate) or α_j - 1 (the mode under
a Dirichlet prior). For numbers a prior holds imaginary rows of each class whose variance is that of the whole column,
`variance_rows`, and a floor below which no variance falls, as a fraction of that, `variance_floor`:

    σ² = (n s² + variance_rows · S²) / (n + variance_rows), and not less than variance_floor · S²

Both are given by name. Maximum likelihood imagines no row, the others one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.tally.labels import Labels, find, labels_of, meet, objects, recognise

Floats = NDArray[np.float64]
Given = float | Sequence[float] | Mapping[Any, Any] | None


class Settings:
    """Mix-in of frozen dataclasses whose parameters scikit-learn reaches, as `prior__alpha`; they are replaced."""

    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn asks for them."""
        return self.parameters()

    def with_params(self, **params: Any) -> Any:
        """The same with other parameters."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}{did_you_mean(name, known)}")
        return replace(self, **params)  # type: ignore[type-var]

    def __sklearn_clone__(self) -> Self:
        """Itself: nobody can change it."""
        return self


@dataclass(frozen=True)
class Prior(Settings, ABC):
    """Imaginary observations of each value, imaginary rows of the variance of a number, and its least variance."""

    shared: ClassVar[bool] = False  # whether labels without a number of their own share what is imagined
    by_name: ClassVar[bool] = False  # whether values and columns may be given by their names

    def __post_init__(self) -> None:
        _check_number("variance_floor", self.floor)
        _check_number("variance_rows", self.rows)

    @property
    def floor(self) -> float:
        """The least variance, as a fraction of the column's variance."""
        return getattr(self, "variance_floor", 1e-9)  # type: ignore[no-any-return]

    @property
    def rows(self) -> float:
        """How many rows of the column's variance each class is imagined to have."""
        return getattr(self, "variance_rows", 1.0)  # type: ignore[no-any-return]

    @abstractmethod
    def pseudo_counts(self, labels: Labels, column: object = None) -> Floats:
        """So many imaginary observations of each label of a column."""

    @property
    def given(self) -> Any:
        """What the prior says of values by their names, or of columns: a mapping or a list; None where it does not."""
        return None

    def known(self, labels: Labels, column: object = None) -> Labels:
        """Labels that the prior itself brings to a column of these labels, seen or not."""
        given = _for_column(self.given, column, labels)
        return labels_of(meet(objects(list(given)), labels)) if isinstance(given, Mapping) else np.zeros(0, np.int64)

    def sheet_pseudo(self, labels: Labels, column: object = None) -> dict[str, Any]:
        """What is imagined of each label, for a page on which some of them may go.

        "unnamed" is of labels that the prior does not name, which share it out if "shared". Where it names some, "each"
        has what is of all, and "named" which these are; unless "always", that holds while one of these is there.
        """
        own = _for_column(self.given, column, labels)
        if own is not None and not isinstance(own, Mapping):
            where = "of the classes" if column is None else f"of column {column!r}"
            raise KindError(
                f"the prior {where} is a list, one number for each of the values that there are, of which a page may "
                "forget some; give a mapping from value to number, or forget with ingenuo open"
            )
        found = {"unnamed": float(self.pseudo_counts(objects([("none",)]), column)[0]), "shared": self.shared}
        if own is None:
            return {**found, "each": None, "named": None, "always": False}
        named = find(self.known(labels, column), labels) >= 0
        each = self.pseudo_counts(labels, column)
        return {**found, "each": each, "named": named, "always": _is_nested(self.given)}

    def columns(self) -> list[object]:
        """The columns that the prior names."""
        return [name for name, _ in _by_column(self.given) if name is not None]


@dataclass(frozen=True)
class MaximumLikelihood(Prior):
    """Nothing is imagined: relative frequencies.

    >>> MaximumLikelihood().pseudo_counts(labels_of(["a", "b"])).tolist()
    [0.0, 0.0]
    """

    variance_floor: float = field(default=1e-9, kw_only=True)
    variance_rows: float = field(default=0.0, kw_only=True)

    def pseudo_counts(self, labels: Labels, column: object = None) -> Floats:
        """None of any."""
        return np.zeros(len(labels))


@dataclass(frozen=True)
class Laplace(Prior):
    """Every value was seen once more: (count + 1) / (N + J).

    >>> Laplace().pseudo_counts(labels_of(["a", "b"])).tolist()
    [1.0, 1.0]
    """

    variance_floor: float = field(default=1e-9, kw_only=True)
    variance_rows: float = field(default=1.0, kw_only=True)

    def pseudo_counts(self, labels: Labels, column: object = None) -> Floats:
        """One of each."""
        return np.ones(len(labels))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name: alpha is 1, and with another this is a `Lidstone`."""
        return {"alpha": 1.0, **self.parameters()}

    def with_params(self, **params: Any) -> Prior:
        """The same with other parameters."""
        if "alpha" not in params:
            return super().with_params(**params)  # type: ignore[no-any-return]
        return Lidstone(**self.parameters()).with_params(**params)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Lidstone(Prior):
    """Every value was seen alpha times more: (count + α) / (N + αJ).

    >>> Lidstone(0.5).pseudo_counts(labels_of(["a", "b"])).tolist()
    [0.5, 0.5]
    """

    alpha: float = 1.0
    variance_floor: float = field(default=1e-9, kw_only=True)
    variance_rows: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_number("alpha", self.alpha)

    def pseudo_counts(self, labels: Labels, column: object = None) -> Floats:
        """Alpha of each."""
        return np.full(len(labels), float(self.alpha))


@dataclass(frozen=True)
class MEstimate(Prior):
    """m imaginary observations, shared out by weights that sum to 1: (count + m·p_j) / (N + m).

    Without weights they are shared equally. Weights are a mapping from value to weight (for the columns that have one
    of those values), a mapping from column to such a mapping or list, or a list in the order of the sorted values.

    >>> MEstimate(3).pseudo_counts(labels_of(["a", "b", "c"])).tolist()
    [1.0, 1.0, 1.0]
    >>> MEstimate(2, {"a": 0.75, "b": 0.25}).pseudo_counts(labels_of(["a", "b"])).tolist()
    [1.5, 0.5]
    """

    by_name = shared = True
    m: float = 1.0
    weights: Given = None
    variance_floor: float = field(default=1e-9, kw_only=True)
    variance_rows: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_number("m", self.m)
        object.__setattr__(self, "weights", _check_given("weights", self.weights, _check_number))
        for column, given in _by_column(self.weights):
            total = sum(given.values() if isinstance(given, Mapping) else given)
            if abs(total - 1) > 1e-9:
                of = "" if column is None else f" of column {column!r}"
                raise InputError(f"the weights{of} of an MEstimate sum to {total:g}; they must sum to 1")

    @property
    def given(self) -> Any:
        """The weights."""
        return self.weights

    def pseudo_counts(self, labels: Labels, column: object = None) -> Floats:
        """The share of m of each."""
        given = _for_column(self.weights, column, labels)
        if given is None:
            return np.full(len(labels), float(self.m) / max(len(labels), 1))
        return float(self.m) * _spread(given, labels, "weights", 0.0)


@dataclass(frozen=True)
class Dirichlet(Prior):
    """The mode under a Dirichlet prior: (count + α_j - 1) / (N + Σ(α - 1)); each α_j at least 1.

    One number serves for every value (2 is Laplace); else a mapping or list as in `MEstimate`; a value
    without an α of its own has 1, that is, nothing imagined.

    >>> Dirichlet(2).pseudo_counts(labels_of(["a", "b"])).tolist()
    [1.0, 1.0]
    """

    by_name = True
    alphas: Given = 2.0
    variance_floor: float = field(default=1e-9, kw_only=True)
    variance_rows: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alphas is None:
            raise InputError("a Dirichlet prior needs alphas: a number, or a mapping from value to number")
        if isinstance(self.alphas, int | float):
            _check_alpha("alphas", self.alphas)
        else:
            object.__setattr__(self, "alphas", _check_given("alphas", self.alphas, _check_alpha))

    @property
    def given(self) -> Any:
        """The alphas, unless one number serves for all."""
        return None if isinstance(self.alphas, int | float) else self.alphas

    def pseudo_counts(self, labels: Labels, column: object = None) -> Floats:
        """α - 1 of each."""
        if isinstance(self.alphas, int | float):
            return np.full(len(labels), float(self.alphas) - 1)
        given = _for_column(self.alphas, column, labels)
        return np.zeros(len(labels)) if given is None else _spread(given, labels, "alphas", 1.0) - 1


PRIORS: dict[str, type[Prior]] = {
    kind.__name__: kind for kind in (MaximumLikelihood, Laplace, Lidstone, MEstimate, Dirichlet)
}
_TYPED = {
    "laplace": Laplace,
    "maximum-likelihood": MaximumLikelihood,
    "lidstone": Lidstone,
    "m-estimate": MEstimate,
    "dirichlet": Dirichlet,
}
FORMS = "laplace, maximum-likelihood, lidstone:ALPHA, m-estimate:M[,VALUE=SHARE,...], dirichlet:ALPHA|VALUE=ALPHA,..."


def prior_of(given: Any) -> Prior:
    """The prior that is meant: as it is, by its name, or by a number, the alpha of `Lidstone`.

    >>> prior_of("m-estimate:3,Sunny=1/2,Rain=1/2,variance_floor=.01")
    MEstimate(m=3.0, weights={'Sunny': 0.5, 'Rain': 0.5}, variance_floor=0.01, variance_rows=1.0)
    >>> prior_of(0.5) == Lidstone(0.5)
    True
    """
    if isinstance(given, Prior):
        return given
    if isinstance(given, int | float | np.number) and not isinstance(given, bool):
        return Lidstone(float(given))
    if isinstance(given, Mapping):
        return _from_mapping(given)
    if not isinstance(given, str):
        raise KindError(
            f"prior must be a Prior such as Laplace(), its name, or a number, got {type(given).__name__} {given!r}"
        )
    name, _, rest = given.replace(",", ":", 1).partition(":") if ":" not in given else given.partition(":")
    if name not in _TYPED:
        raise InputError(f"{given!r} is no prior{did_you_mean(name, _TYPED)}; take one of {FORMS}")
    class_, numbers, named = _TYPED[name], list[Any](), dict[str, Any]()
    by_value: dict[str, float] = {}
    settings = {each.name for each in fields(class_) if each.kw_only}
    for part in rest.split(",") if rest else []:
        key, equals, number = part.rpartition("=")
        value = number_of(number, given)
        if not equals:
            numbers.append(value)
        else:
            own = key.replace("-", "_") in settings
            (named if own else by_value)[key.replace("-", "_") if own else key.strip()] = value
    arguments = [*numbers, *([by_value] if by_value else [])]
    wanted = len(fields(class_)) - len(settings)
    if not min(wanted, 1) <= len(arguments) <= wanted or len(numbers) > 1 or (by_value and not class_.by_name):
        raise InputError(f"{given!r} is no prior; take one of {FORMS}")
    return class_(*arguments, **named)


def _from_mapping(given: Mapping[Any, Any]) -> Prior:
    """The prior of a file: its name and its parameters."""
    name = given.get("name")
    if name not in _TYPED:
        raise InputError(f"a prior has a name{did_you_mean(name, _TYPED)}; got {name!r}")
    class_, known = _TYPED[name], {each.name for each in fields(_TYPED[name])}
    for key in given:
        if key not in known and key != "name":
            raise InputError(f"the prior {name} has no {key!r}{did_you_mean(key, sorted(known))}")
    return class_(**{key: _numbers(value, key) for key, value in given.items() if key != "name"})


def _numbers(given: Any, where: str) -> Any:
    """Numbers that were written as text, in mappings and lists too."""
    if isinstance(given, Mapping):
        return {key: _numbers(value, f"{where}: {key}") for key, value in given.items()}
    if isinstance(given, list):
        return [_numbers(value, where) for value in given]
    return number_of(given, where) if isinstance(given, str) else given


def number_of(text: str, where: str) -> float:
    """A number as it is written: 3, .5, 1e-9, 1/3."""
    try:
        return float(Fraction(text.strip()))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f"{text!r} in {where!r} is no number") from None


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise KindError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    if not 0 <= float(value) < float("inf"):
        raise InputError(f"{name} must be finite and not negative, got {value!r}")


def _check_alpha(name: str, alpha: Any) -> None:
    _check_number(name, alpha)
    if float(alpha) < 1:
        raise InputError(f"alphas must be at least 1 for the mode to exist, got {alpha!r}; Lidstone takes any")


def _check_given(name: str, given: Any, check: Callable[[str, object], None]) -> Any:
    """Numbers by value, or a list of them, or either by column: checked, and copied with arrays as lists."""
    given = _plain(given)
    for _, numbers in _by_column(given):
        if not isinstance(numbers, Mapping | list):
            kind = type(numbers).__name__
            raise KindError(f"{name} must be a mapping from value to number, or a list, got {kind} {numbers!r}")
        for number in numbers.values() if isinstance(numbers, Mapping) else numbers:
            check(name, number)
    return given


def _plain(given: Any) -> Any:
    """A copy with arrays as lists: priors are compared, and nobody else may change them."""
    if isinstance(given, Mapping):
        return {name: _plain(value) for name, value in given.items()}
    if isinstance(given, np.ndarray):
        return given.tolist()
    return list(given) if isinstance(given, list | tuple) else given


def _is_nested(given: Any) -> bool:
    return isinstance(given, Mapping) and any(isinstance(v, Mapping | Sequence) for v in given.values())


def _by_column(given: Any) -> list[tuple[object, Any]]:
    if given is None:
        return []
    return list(given.items()) if _is_nested(given) else [(None, given)]


def _for_column(given: Any, column: object, labels: Labels) -> Any:
    """What is given for a column; a mapping by value serves every column that has one of those values."""
    if _is_nested(given):
        return given.get(column)
    if isinstance(given, Mapping) and len(labels) and (recognise(labels, objects(list(given))) < 0).all():
        return None
    return given


def _spread(given: Mapping[Any, float] | Sequence[float], labels: Labels, name: str, default: float) -> Floats:
    if isinstance(given, Mapping):
        result = np.full(len(labels), default)
        for place, value in zip(recognise(labels, objects(list(given))), given.values()):
            if place >= 0:
                result[place] = value
        return result
    if len(given) != len(labels):
        raise InputError(f"{len(given)} {name} were given for {len(labels)} values: {labels.tolist()[:10]}")
    return np.asarray(given, np.float64)
