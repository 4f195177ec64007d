"""p(observation | hypothesis) from a function, or from a fitted model, for every hypothesis of a finite set.

What was seen is a sum again: of the logarithms that each hypothesis gave. A density may be larger than 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from numbers import Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError
from ingenuo.estimators.contract import Estimator
from ingenuo.estimators.inputs import is_frame
from ingenuo.estimators.likelihoods import Exactly, Floats, Number, Steps, items_of, log, multiply, number, times_of
from ingenuo.labels import objects

# Methods that give log p of each observation, in the order in which they are looked for; then what a model must have
# that is known by its `score`: only of a language model is that the logarithm of each text's probability.
_METHODS = ("logpdf", "logpmf", "score_samples", "predict_joint_log_proba")
_OF_TEXTS = ("score", "perplexity", "generate")


def method_of(way: Any, name: Any) -> str | None:
    """The method of a model that gives log p(observation); None for a function."""
    if hasattr(way, "__sklearn_tags__") and _is_outlier_detector(way):
        raise KindError(
            f"{type(way).__name__}, given for {name!r}, scores outliers, which is no density; give a density such as "
            "KernelDensity or GaussianMixture"
        )
    for method in _METHODS:
        if hasattr(way, method):
            return method
    if all(hasattr(way, method) for method in _OF_TEXTS):
        return "score"
    if hasattr(way, "predict_proba") or hasattr(way, "decision_function"):
        raise KindError(
            f"{type(way).__name__}, given for {name!r}, gives the probability of a label and not of an observation; "
            "weigh classifiers with BayesOptimalClassifier"
        )
    if not callable(way):
        raise KindError(
            f"the likelihood of {name!r} is {type(way).__name__} {way!r}; give a table (a mapping from observation to "
            "probability), a function of the observation, or a fitted model that has one of "
            f"{', '.join(_METHODS)}, or a LanguageModel"
        )
    return None


def _is_outlier_detector(model: Any) -> bool:
    if isinstance(model, Estimator):
        return False
    from sklearn.base import is_outlier_detector

    return bool(is_outlier_detector(model))


class Densities:
    """A function of the observation, or a fitted model, for each hypothesis; or one function of both."""

    values = columns = None  # which observations there can be is not known

    def __init__(self, names: Sequence[Any], given: Any) -> None:
        self.names = list(names)
        one = not isinstance(given, Mapping)
        self.ways = [partial(given, name) if one else given[name] for name in names]
        self.methods = [None if one else method_of(way, name) for way, name in zip(self.ways, names)]

    def nothing(self) -> tuple[Floats, Exactly]:
        """No observation, so log 1 for all."""
        return np.zeros(len(self.names)), ((1,) * len(self.names), 1)

    def read(self, observation: Any) -> Steps:
        """One observation, a sequence (or a table) of them, or a mapping from observation to how often."""
        if isinstance(observation, Mapping):
            items, times = times_of(observation)
        else:
            found = items_of(observation)
            items = [observation] if found is None else found
            times = np.ones(len(items), np.int64)
        if not len(times):
            return Steps(np.empty(0, object), times, np.empty((0, len(self.names))))
        single, labels = _one_by_one(items)
        logs = np.empty((len(times), len(self.names)))
        values: list[list[Number]] | None = []
        for k, (way, method, name) in enumerate(zip(self.ways, self.methods, self.names)):
            if method is not None:
                logs[:, k] = _of_model(way, method, items, len(times), name)
                values = None
                continue
            logs[:, k], exact = _of_function(way, single, name)
            values = None if values is None or exact is None else [*values, exact]
        return Steps(labels, times, logs, values)

    def first_impossible(self, steps: Steps) -> NDArray[np.intp]:
        """For each hypothesis, the first step that it makes impossible; the number of steps where there is none."""
        impossible = np.isneginf(steps.logs)
        return np.where(impossible.any(axis=0), impossible.argmax(axis=0), len(steps))

    def add(self, seen: tuple[Floats, Exactly], steps: Steps) -> tuple[Floats, Exactly]:
        """The sums of the logarithms, and the products where they are exact, with these."""
        logs, exact = seen
        if steps.values is None:
            exact = None
        else:
            for times, *values in zip(steps.times.tolist(), *steps.values):
                exact = multiply(exact, values, times)
                if exact is None:
                    break
        return logs + (steps.logs * steps.times[:, np.newaxis]).sum(axis=0), exact

    def log_likelihoods(self, seen: tuple[Floats, Exactly]) -> Floats:
        """Σ_i log p(x_i | h)."""
        return seen[0]

    def exactly(self, seen: tuple[Floats, Exactly]) -> Exactly:
        """Π_i p(x_i | h), where every factor is rational."""
        return seen[1]

    def probabilities(self, value: Any) -> list[Number]:
        """p(value | h) of each hypothesis."""
        steps = self.read([value])
        if steps.values is not None:
            return [given[0] for given in steps.values]
        return list(np.exp(steps.logs[0]).tolist())

    def trace(self, steps: Steps) -> tuple[Sequence[Any], NDArray[Any], Floats]:
        """Labels, the label of each step, and the logarithms of each label."""
        return list(steps.observed), np.arange(len(steps)), steps.logs


def _one_by_one(items: Any) -> tuple[Sequence[Any], NDArray[Any]]:
    """Observations one at a time, and what each is called in the trace: the rows of a table by their number."""
    rows: Sequence[Any]
    if is_frame(items):
        import narwhals as nw

        rows = list(nw.from_native(items, eager_only=True).iter_rows(named=True))
    else:
        rows = items.tolist() if isinstance(items, np.ndarray) and items.ndim == 1 else list(items)
    if is_frame(items) or getattr(items, "ndim", 1) > 1:
        return rows, objects([f"row {i}" for i in range(len(rows))])
    labels = np.empty(len(rows), object)
    for i, row in enumerate(rows):  # one by one: an array takes lists of one length for its own rows
        labels[i] = row
    return rows, labels


def _of_function(function: Any, rows: Sequence[Any], name: Any) -> tuple[Floats, list[Number] | None]:
    """The logarithms of what a function gives, and what it gives where that is rational throughout."""
    given = [function(row) for row in rows]
    kinds = set(map(type, given))
    odd = [kind for kind in kinds if issubclass(kind, bool | np.bool_) or not issubclass(kind, Real | Decimal)]
    floats = np.array(given, np.float64) if not odd else np.full(len(given), np.nan)
    with np.errstate(invalid="ignore"):
        bad = ~((floats >= 0) & (floats < np.inf))
    if bad.any():
        at = next(i for i, value in enumerate(given) if (type(value) in odd if odd else bad[i]))
        number(given[at], f"the likelihood of observation {at + 1}, {rows[at]!r}, under {name!r}")  # which refuses it
    if all(issubclass(kind, Rational | Decimal) for kind in kinds):
        exact = [number(value, "") for value in given]
        return np.array([log(value) for value in exact]), exact
    with np.errstate(divide="ignore"):
        return np.log(floats), None


def _of_model(model: Any, method: str, items: Any, n: int, name: Any) -> Floats:
    """log p of each observation by a fitted model."""
    if method == "score_samples" and not is_frame(items) and np.asarray(items).dtype.kind in "iufb":
        items = np.asarray(items).reshape(n, -1)  # numbers are a column to scikit-learn
    found = np.asarray(getattr(model, method)(items), np.float64)
    if method == "predict_joint_log_proba":  # p(x) = Σ_k P(k) p(x | k)
        from scipy.special import logsumexp

        found = logsumexp(found, axis=1)
    found = found.reshape(-1) if found.size == n else found
    if found.shape != (n,):
        raise InputError(
            f"{type(model).__name__}.{method}, for {name!r}, gave an array of shape {found.shape} for {n} "
            "observations; it must give one logarithm for each"
        )
    bad = np.isnan(found) | (found == np.inf)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"{type(model).__name__}.{method}, for {name!r}, gave {found[at]} for observation {at + 1}; a logarithm "
            "of a density is a number, or -inf"
        )
    return found
