"""P(observation | hypothesis) from tables or fitted models, for every hypothesis of a finite set.

What was seen is a sum, of how often each value was observed, and the likelihood is a function of it:

    log P(D | h) = Σ_v n_v log P(v | h)

Of fitted models it is the sum of the logarithms that each gave; a density may be larger than 1. Tables are exact where
all their numbers are rational.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean

Floats = NDArray[np.float64]
Number = Fraction | float
# Numerators of each hypothesis over one denominator; None where a number is no fraction, or the fraction too long.
Exactly = tuple[tuple[int, ...], int] | None

# Fractions longer than Python prints (4,300 digits, 14,284 bits) help nobody: from there on doubles go on alone. Some
# bits are left for the priors, with which the likelihoods are multiplied in the end.
LONGEST = 13_800
_TOLERANCE = 1e-9  # how far from 1 doubles may sum


@dataclass(frozen=True, eq=False)
class Steps:
    """Observations in their order, each so many times in a row."""

    observed: NDArray[Any]  # of a table the places of the values; else the observations themselves
    times: NDArray[np.int64]
    logs: Floats  # steps × hypotheses; of a table, which has them once for all, steps × 0

    def __len__(self) -> int:
        return len(self.times)

    def then(self, later: Steps) -> Steps:
        """These steps, and the later ones, for the trace."""
        pairs = ((self.observed, later.observed), (self.times, later.times), (self.logs, later.logs))
        observed, times, logs = map(np.concatenate, pairs)
        return Steps(observed, times, logs)


def number(value: Any, what: str) -> Number:
    """A number that can be a probability or a density: whole numbers, fractions and decimals stay exact."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
        raise KindError(f"{what} is {type(value).__name__} {value!r}; it must be a number")
    if (isinstance(value, Decimal) and not value.is_finite()) or not 0 <= value < math.inf:  # type: ignore[operator]
        raise InputError(f"{what} is {value!r}; it must be finite and not negative")
    if isinstance(value, Integral):
        return Fraction(int(value))
    return Fraction(value) if isinstance(value, Rational | Decimal) else float(value)


def shares(given: Mapping[Any, Any], what: str, normalise: bool) -> dict[Any, Number]:
    """Probabilities that sum to 1 (fractions: exactly); with `normalise`, any weights, divided by their sum.

    >>> shares({"apple": 2, "lemon": 6}, "the box", normalise=True)
    {'apple': Fraction(1, 4), 'lemon': Fraction(3, 4)}
    """
    found = {name: number(value, f"{what}: that of {name!r}") for name, value in given.items()}
    exact = all(isinstance(value, Fraction) for value in found.values())
    total: Any = sum(found.values(), Fraction(0)) if exact else math.fsum(found.values())
    said = str(total) if exact else f"{total:.12g}"
    if normalise:
        if not total:
            raise InputError(f"{what} sum to 0, so they cannot be normalised; give one of them more")
        return {name: value / total for name, value in found.items()}
    if total != 1 and (exact or abs(total - 1) > _TOLERANCE):
        raise InputError(f"{what} sum to {said}; they must sum to 1: correct them, or give normalise=True")
    return found


def log(value: Number) -> float:
    """The logarithm of a number, of a fraction beyond the doubles too; log 0 = -inf."""
    if isinstance(value, Fraction) and 0 < value < Fraction(1, 1 << 1000):
        return math.log(value.numerator) - math.log(value.denominator)
    return math.log(value) if value > 0 else -math.inf


def multiply(one: Exactly, values: Sequence[Number], times: int) -> Exactly:
    """What was there, times each hypothesis' value so many times, over one denominator."""
    if one is None or not all(isinstance(value, Fraction) for value in values):
        return None
    fractions = [Fraction(value) for value in values]
    below = math.lcm(*(value.denominator for value in fractions))
    above = [value.numerator * (below // value.denominator) for value in fractions]
    numerators, denominator = one
    size = math.log2(max(below, *above)) * times + max(denominator, *numerators).bit_length()
    if size > LONGEST:
        return None
    return tuple(n * a**times for n, a in zip(numerators, above)), denominator * below**times


def _observations(given: Any, is_value: bool = False) -> tuple[Any, NDArray[np.int64]]:
    """The observations that are given, one, several, or how often each was made; and how often in a row each was."""
    if isinstance(given, Mapping):
        for value, count in given.items():
            if isinstance(count, bool) or not isinstance(count, int | np.integer):
                raise KindError(
                    f"{value!r} was observed {count!r} times; give a whole number, or a list of observations"
                )
            if not 0 <= count < 1 << 53:
                raise InputError(f"{value!r} was observed {count} times; give a number from 0 to 2^53")
        made = {value: int(count) for value, count in given.items() if count}
        return list(made), np.array(list(made.values()), np.int64)
    one = is_value or isinstance(given, str | bytes | frozenset) or getattr(given, "ndim", 1) == 0
    if not one and isinstance(given, Iterator):
        given = list(given)
    several = not one and hasattr(given, "__getitem__") and hasattr(given, "__len__")  # a column or a table, too
    items = given if several else [given]
    return items, np.ones(len(items), np.int64)


def _is_table(items: Any) -> bool:
    return hasattr(items, "columns") or hasattr(items, "column_names")


class Tables:
    """A probability for each value, under each hypothesis; a value that a hypothesis does not name has 0."""

    def __init__(self, names: Sequence[Any], given: Mapping[Any, Any], normalise: bool) -> None:
        rows = [shares(given[name], f"the probabilities under {name!r}", normalise) for name in names]
        self.values = list(dict.fromkeys(value for row in rows for value in row))
        self.place = {value: place for place, value in enumerate(self.values)}
        self.columns = [[row.get(value, Fraction(0)) for row in rows] for value in self.values]
        self.logs: Floats = np.array([[log(p) for p in column] for column in self.columns])

    def nothing(self) -> NDArray[np.int64]:
        """No value was observed yet."""
        return np.zeros(len(self.values), np.int64)

    def read(self, observation: Any) -> Steps:
        """One observation, a sequence of them, or a mapping from observation to how often."""
        items, times = _observations(observation, self._known(observation))  # a tuple can be a value itself
        if _is_table(items):
            raise KindError(f"a {type(items).__name__} has several columns; give the one that holds the observations")
        items = items.tolist() if isinstance(items, np.ndarray) else list(items)
        try:
            places = np.fromiter((self.place.get(item, -1) for item in items), np.int32, len(items))
        except TypeError:
            odd = next(item for item in items if not hashable(item))
            raise KindError(
                f"{type(odd).__name__} {odd!r} can be no value of a table; give a value that it has"
            ) from None
        if (places < 0).any():
            at = int(np.argmax(places < 0))
            raise InputError(
                f"observation {at + 1}, {items[at]!r}, is in no table of the hypotheses"
                f"{did_you_mean(items[at], self.values)}"
            )
        return Steps(places, times, np.empty((len(places), 0)))

    def _known(self, observation: Any) -> bool:
        return hashable(observation) and observation in self.place

    def add(self, seen: NDArray[np.int64], steps: Steps) -> NDArray[np.int64]:
        """How often each value was observed, with these."""
        seen = seen.copy()
        np.add.at(seen, steps.observed, steps.times)
        return seen

    def log_likelihoods(self, seen: NDArray[np.int64]) -> Floats:
        """Σ_v n_v log P(v | h)."""
        made = seen > 0  # 0 · log 0 is 0 here
        return np.asarray(seen[made] @ self.logs[made])

    def exactly(self, seen: NDArray[np.int64]) -> Exactly:
        """Π_v P(v | h)^n_v."""
        found: Exactly = ((1,) * self.logs.shape[1], 1)
        for place in np.flatnonzero(seen).tolist():
            found = multiply(found, self.columns[place], int(seen[place]))
        return found

    def probabilities(self, value: Any) -> list[Number]:
        """P(value | h) of each hypothesis."""
        if not self._known(value):
            raise InputError(f"{value!r} is in no table of the hypotheses{did_you_mean(value, self.values)}")
        return self.columns[self.place[value]]

    def trace(self, steps: Steps) -> tuple[Sequence[Any], NDArray[Any], Floats]:
        """Labels, the label of each step, and the logarithms of each label."""
        return self.values, steps.observed, self.logs


# Methods that give log p of each observation, in the order in which they are looked for; then what a model must have
# that is known by its `score`: only of a language model is that the logarithm of each text's probability.
_METHODS = ("logpdf", "logpmf", "score_samples", "predict_joint_log_proba")
_OF_TEXTS = ("score", "perplexity", "generate")


class Models:
    """A fitted model, or a distribution such as a Gaussian of SciPy, for each hypothesis."""

    values = columns = None  # which observations there can be is not known

    def __init__(self, names: Sequence[Any], given: Mapping[Any, Any]) -> None:
        self.names, self.models = list(names), [given[name] for name in names]
        self.methods = [_method_of(model, name) for model, name in zip(self.models, names)]

    def nothing(self) -> Floats:
        """No observation, so log 1 for all."""
        return np.zeros(len(self.names))

    def read(self, observation: Any) -> Steps:
        """One observation, a sequence (or a table) of them, or a mapping from observation to how often."""
        items, times = _observations(observation)
        logs = np.empty((len(times), len(self.names)))
        for k, (model, method, name) in enumerate(zip(self.models, self.methods, self.names)):
            if len(times):
                logs[:, k] = _logs(model, method, items, len(times), name)
        plain = not _is_table(items) and getattr(items, "ndim", 1) == 1
        labels = np.empty(len(times), object)
        for i, item in enumerate(items if plain else [f"row {i}" for i in range(len(times))]):
            labels[i] = item
        return Steps(labels, times, logs)

    def add(self, seen: Floats, steps: Steps) -> Floats:
        """The sums of the logarithms, with these."""
        return np.asarray(seen + (steps.logs * steps.times[:, np.newaxis]).sum(axis=0))

    def log_likelihoods(self, seen: Floats) -> Floats:
        """Σ_i log p(x_i | h)."""
        return seen

    def exactly(self, seen: Floats) -> Exactly:
        """None: models give doubles; but nothing was seen yet at first."""
        return None if seen.any() else ((1,) * len(self.names), 1)

    def probabilities(self, value: Any) -> list[Number]:
        """p(value | h) of each hypothesis."""
        return list(np.exp(self.read([value]).logs[0]).tolist())

    def trace(self, steps: Steps) -> tuple[Sequence[Any], NDArray[Any], Floats]:
        """Labels, the label of each step, and the logarithms of each label."""
        return list(steps.observed), np.arange(len(steps)), steps.logs


def _method_of(model: Any, name: Any) -> str:
    """The method of a model that gives log p(observation)."""
    called = f"{type(model).__name__}, given for {name!r}"
    tags = model.__sklearn_tags__() if hasattr(model, "__sklearn_tags__") else None
    if getattr(tags, "estimator_type", None) == "outlier_detector":
        raise KindError(f"{called}, scores outliers, which is no density; give one such as KernelDensity")
    for method in _METHODS:
        if hasattr(model, method):
            return method
    if all(hasattr(model, method) for method in _OF_TEXTS):
        return "score"
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        raise KindError(
            f"{called}, gives the probability of a label and not of an observation; weigh classifiers with "
            "BayesOptimalClassifier"
        )
    raise KindError(
        f"the likelihood of {name!r} is {type(model).__name__} {model!r}; give a table (a mapping from observation to "
        f"probability), or a fitted model that has one of {', '.join(_METHODS)}, or a LanguageModel"
    )


def _logs(model: Any, method: str, items: Any, n: int, name: Any) -> Floats:
    """log p of each observation by a fitted model."""
    if method == "score_samples" and not _is_table(items) and np.asarray(items).dtype.kind in "iufb":
        items = np.asarray(items).reshape(n, -1)  # numbers are a column to scikit-learn
    found = np.asarray(getattr(model, method)(items), np.float64)
    if method == "predict_joint_log_proba":  # p(x) = Σ_k P(k) p(x | k)
        from scipy.special import logsumexp

        found = logsumexp(found, axis=1)
    found = found.reshape(-1) if found.size == n else found
    if found.shape != (n,) or (np.isnan(found) | (found == np.inf)).any():
        what = f"an array of shape {found.shape}" if found.shape != (n,) else str(found[~(found < np.inf)][0])
        raise InputError(
            f"{type(model).__name__}.{method}, for {name!r}, gave {what} for {n} observations; it must give one "
            "logarithm for each, a number or -inf"
        )
    return found


def hashable(value: Any) -> bool:
    """Whether a value can name something."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
