"""Naive Bayes for tables of any mix: numbers, categories and counts in one model.

argmax_k  log π_k + Σ_i log p(x_i | k)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators.base import CLASS, Parameters, TallyClassifier
from ingenuo.families.family import Term, fraction, logs, term
from ingenuo.labels import find, is_missing, labels_of, objects
from ingenuo.prior import Laplace, MaximumLikelihood, Prior
from ingenuo.schema import FAMILIES, Schema, column_name, family_of
from ingenuo.sources import Source


class NaiveBayes(TallyClassifier):
    """Naive Bayes for numbers, categories and counts together.

    Parameters
    ----------
    columns : mapping, optional
        Column (name, or position) to kind: "number", "category", "count", "ignore", the name of a family, or
        a list of the categories it can take. Columns that are not named are inferred from the data.
    prior : Prior
        Imaginary data for the columns: `MaximumLikelihood()`, `Laplace()`, `Lidstone(alpha)`,
        `MEstimate(m, weights)`, `Dirichlet(alphas)`.
    class_prior : Prior or mapping
        Imaginary rows of each class; or, as a mapping, the probability of each class.
    numbers : {"gaussian", "gaussian-unbiased"} or mapping
        How numbers are distributed within a class: a Gaussian with the variance over n, or over n - 1;
        a mapping chooses by column.
    counts : {"multinomial", "complement", "bernoulli"} or mapping
        How counts are distributed within a class; a mapping chooses by column.

    Attributes
    ----------
    tally_ : Tally
        All that was learned.
    schema_ : Schema
        What each column is, and why.
    classes_ : array
        The classes, sorted.

    Examples
    --------
    >>> X = [["Sunny", 85], ["Sunny", 80], ["Overcast", 83], ["Rain", 70], ["Rain", 68], ["Rain", 65]]
    >>> y = ["no", "no", "yes", "yes", "yes", "no"]
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([["Rain", 75]]).tolist()
    ['yes']
    >>> model.forget(X[:1], y[:1]).tally_ == NaiveBayes().fit(X[1:], y[1:]).tally_
    True
    """

    def __init__(
        self,
        columns: Mapping[Any, Any] | None = None,
        prior: Prior = Laplace(),  # noqa: B008 (immutable)
        class_prior: Prior | Mapping[Any, float] = MaximumLikelihood(),  # noqa: B008 (immutable)
        numbers: str | Mapping[Any, str] = "gaussian",
        counts: str | Mapping[Any, str] = "multinomial",
    ) -> None:
        self.columns = columns
        self.prior = prior
        self.class_prior = class_prior
        self.numbers = numbers
        self.counts = counts

    def _check_settings(self) -> None:
        if not isinstance(self.prior, Prior):
            raise KindError(f"prior must be a Prior such as Laplace(), got {type(self.prior).__name__} {self.prior!r}")
        if not isinstance(self.class_prior, Prior | Mapping):
            raise KindError(
                "class_prior must be a Prior such as MaximumLikelihood(), or a mapping from class to probability, "
                f"got {type(self.class_prior).__name__} {self.class_prior!r}"
            )
        if self.columns is not None and not isinstance(self.columns, Mapping):
            raise KindError(f"columns must be a mapping from column to kind, got {type(self.columns).__name__}")
        _choices("numbers", self.numbers, "number")
        _choices("counts", self.counts, "count")
        if isinstance(self.class_prior, Mapping):
            _check_probabilities(self.class_prior)

    def _schema_of(self, source: Source) -> Schema:
        declared = dict(self.columns or {})
        places = _places(declared, source)
        numbers, counts = (
            choice if isinstance(choice, str) else default
            for choice, default in ((self.numbers, "gaussian"), (self.counts, "multinomial"))
        )
        families = np.zeros(len(source.names), np.int8)
        names = list(FAMILIES)
        why: dict[Any, str] = {}
        uniform = source.uniform()
        if uniform is not None:
            families[:] = names.index(family_of(uniform[0], None, numbers, counts))
            if len(source.names) <= 1000:
                why = dict.fromkeys(source.names.tolist(), uniform[1])
        else:
            for place, name in enumerate(source.names.tolist()):
                if place not in places:
                    kind, why[name] = source.guess(place)
                    families[place] = names.index(family_of(kind, name, numbers, counts))
        categories = {}
        for place, given in places.items():
            name = source.names[place]
            if isinstance(given, list | tuple | set | frozenset | np.ndarray):
                categories[name] = labels_of(value for value in given if not is_missing(value))
                given = "category"
            families[place] = names.index(family_of(given, name, numbers, counts))
            why[name] = "declared"
        for choice in (self.numbers, self.counts):
            if isinstance(choice, Mapping):
                for place, family in _places(choice, source).items():
                    name, kind = source.names[place], FAMILIES[names[families[place]]]
                    if place in places and kind != FAMILIES[family]:
                        raise InputError(
                            f"column {column_name(name)!r} was declared as {kind!r} and cannot be {family!r} as well; "
                            "drop one of the two"
                        )
                    families[place] = names.index(family)
                    why[name] = "declared"
        unknown = [name for name in self.prior.columns() if name not in set(source.names.tolist())]
        if unknown:
            raise InputError(
                f"the prior speaks of a column {unknown[0]!r} that the table has not"
                f"{did_you_mean(unknown[0], source.names)}"
            )
        if (families == names.index("ignore")).all():
            raise InputError("every column is set aside, so there is nothing to learn from; keep one at least")
        return Schema(source.names, families, why, categories)

    def _settings(self) -> Any:
        return self.prior, self.class_prior, self.columns, self.numbers, self.counts

    def _form(self) -> Any:
        return self.columns, self.numbers, self.counts

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        rows = self.tally_.over(CLASS, classes).floats()
        prior: tuple[Term, ...]
        if isinstance(self.class_prior, Prior):
            pseudo = self.class_prior.pseudo_counts(classes)
            shares = (rows + pseudo) / (rows + pseudo).sum()
            total, imagined = rows.sum(), pseudo.sum()
            prior = tuple(term(fraction(n, a, total, imagined), share) for n, a, share in zip(rows, pseudo, shares))
        else:
            shares = _given(self.class_prior, classes)
            prior = tuple(term("given", share) for share in shares)
        return Parameters(classes, logs(shares), self._family_parameters(self.prior), prior)

    @property
    def class_count_(self) -> Any:
        """The rows (or their weight) of each class."""
        return self.tally_.over(CLASS, labels_of(self.classes_)).floats()

    @property
    def class_log_prior_(self) -> Any:
        """The log prior of each class."""
        return self._parameters().log_prior


def _places(given: Mapping[Any, Any], source: Source) -> dict[int, Any]:
    """Where the named columns stand; a column can be named, or counted."""
    result = {}
    names = source.names
    order = {name: place for place, name in enumerate(names.tolist())}
    for name, value in given.items():
        place = order.get(name)
        if place is None and names.dtype != object and isinstance(name, str):
            place = order.get(int(name[1:])) if name[:1] == "x" and name[1:].isdecimal() else None
        if place is None and isinstance(name, int | np.integer) and 0 <= name < len(names):
            place = int(name)
        if place is None:
            known = names if names.dtype == object else objects([column_name(n) for n in names[:12].tolist()])
            raise InputError(
                f"column {name!r} was declared, but the table has none of that name{did_you_mean(name, known)}"
            )
        result[place] = value
    return result


def _choices(parameter: str, given: Any, kind: str) -> None:
    known = [name for name, of in FAMILIES.items() if of == kind]
    chosen = given.values() if isinstance(given, Mapping) else [given]
    for choice in chosen:
        if not isinstance(choice, str):
            raise KindError(f"{parameter} must be one of {', '.join(known)}, got {type(choice).__name__} {choice!r}")
        if choice not in known:
            raise InputError(f"{parameter}={choice!r} is not known{did_you_mean(choice, known)}")


def _check_probabilities(given: Mapping[Any, float]) -> None:
    for name, share in given.items():
        if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
            raise InputError(f"class_prior gives class {name!r} the probability {share!r}; it must lie between 0 and 1")
    total = float(sum(given.values()))
    if abs(total - 1) > 1e-9:
        raise InputError(f"the probabilities of class_prior sum to {total:g}; they must sum to 1")


def _given(shares: Mapping[Any, float], classes: Any) -> Any:
    absent = find(labels_of(shares), classes) < 0
    if absent.any():
        raise InputError(f"class_prior has no probability for class {classes[absent][0]!r}; give one for every class")
    values = np.array([shares[name] for name in classes.tolist()], np.float64)
    if values.sum() == 0:
        raise InputError("class_prior gives probability 0 to every class that was seen; give one of them more")
    return values / values.sum()
