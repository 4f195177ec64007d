"""Naive Bayes for tables of any mix: numbers, categories, counts and text in one model.

argmax_k  log π_k + Σ_i log p(x_i | k)
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.bins import bins_name
from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.estimators import class_prior
from ingenuo.estimators.base import CLASS, Parameters
from ingenuo.estimators.believable import Believable
from ingenuo.estimators.contract import check_is_fitted
from ingenuo.estimators.tuning import TUNED
from ingenuo.explanation import density_curves
from ingenuo.families.density import Chosen, chosen
from ingenuo.families.family import logs
from ingenuo.families.scatter import FULL, SHARED
from ingenuo.labels import Labels, is_missing, labels_of, objects
from ingenuo.prior import Laplace, MaximumLikelihood, Prior
from ingenuo.schema import FAMILIES, TEXT_FAMILIES, Schema, column_name, family_of
from ingenuo.sources import Source
from ingenuo.text.words import Words


class NaiveBayes(Believable):
    """Naive Bayes for numbers, categories, counts and text together.

    Parameters
    ----------
    columns : mapping, optional
        Column (name, or position) to kind: "number", "category", "count", "text", "ignore", the name of a family,
        or a list of the categories it can take. Columns that are not named are inferred from the data.
    prior : Prior
        Imaginary data for the columns: `MaximumLikelihood()`, `Laplace()`, `Lidstone(alpha)`,
        `MEstimate(m, weights)`, `Dirichlet(alphas)`.
    class_prior : Prior or mapping
        Imaginary rows of each class; or, as a mapping, the probability of each class.
    numbers : {"gaussian", "gaussian-unbiased", "histogram", "kernel", "mixture", "equal-mass-10", "auto"} or mapping
        How numbers are distributed within a class: a Gaussian with the variance over n, or over n - 1; a histogram;
        a kernel estimate; a mixture of Gaussians; 5, 10 or 20 bins of equal mass ("equal-mass-5", …); or for each
        column the likeliest of Gaussian, histogram, kernel and mixture. A mapping chooses by column. "gaussian-shared"
        and "gaussian-full" take the columns together, as `GaussianDiscriminant` does.
    counts : {"multinomial", "complement", "bernoulli"} or mapping
        How counts, and the words of texts, are distributed within a class; a mapping chooses by column.
    text : Words or mapping, optional
        Which words of text columns count, and how; a mapping chooses by column. By default `Words()`.
    calibration : {"auto", "temperature", "platt", "isotonic", "venn-abers", "none"}, optional
        Repair the probabilities by what the model says of its own rows, each left out; "auto" takes what is worth it.
    tune : bool
        Choose the density and the smoothing of each column, and how much it counts, by the log loss of the rows, each
        left out. Numbers that `numbers` does not name are then of any density.

    Attributes
    ----------
    tally_ : Tally
        All that was learned.
    schema_ : Schema
        What each column is, and why.
    classes_ : array
        The classes, sorted.
    densities_ : dict
        Of each column of numbers, the density it was given, with the scores of those that were tried; not of columns
        that are taken together.
    tuning_ : Tuning
        What `tune` chose, and what it gained.
    calibrator_, calibration_
        What `calibration` learned; and, of "auto", what was tried.
    resolution_ : dict
        Of each column whose density is estimated from a histogram, the width of its bins.

    Examples
    --------
    >>> X = [["Sunny", 85], ["Sunny", 80], ["Overcast", 83], ["Rain", 70], ["Rain", 68], ["Rain", 65]]
    >>> y = ["no", "no", "yes", "yes", "yes", "no"]
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([["Rain", 75]]).tolist()
    ['yes']
    >>> model.forget(X[:1], y[:1]).tally_ == NaiveBayes().fit(X[1:], y[1:]).tally_
    True

    A list of strings is a column of text:

    >>> reviews = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull"]
    >>> NaiveBayes().fit(reviews, ["good", "good", "bad", "bad"]).predict(["such a fine cast"]).tolist()
    ['good']
    """

    def __init__(
        self,
        columns: Mapping[Any, Any] | None = None,
        prior: Prior = Laplace(),  # noqa: B008 (immutable)
        class_prior: Prior | Mapping[Any, float] = MaximumLikelihood(),  # noqa: B008 (immutable)
        numbers: str | Mapping[Any, str] = "gaussian",
        counts: str | Mapping[Any, str] = "multinomial",
        text: Words | Mapping[Any, Words] | None = None,
        calibration: str | None = None,
        tune: bool = False,
    ) -> None:
        self.columns = columns
        self.prior = prior
        self.class_prior = class_prior
        self.numbers = numbers
        self.counts = counts
        self.text = text
        self.calibration = calibration
        self.tune = tune

    def _check_settings(self) -> None:
        super()._check_settings()
        if not isinstance(self.prior, Prior):
            raise KindError(f"prior must be a Prior such as Laplace(), got {type(self.prior).__name__} {self.prior!r}")
        class_prior.check(self.class_prior)
        if self.columns is not None and not isinstance(self.columns, Mapping):
            raise KindError(f"columns must be a mapping from column to kind, got {type(self.columns).__name__}")
        _choices("numbers", self.numbers, "number")
        _choices("counts", self.counts, "count")
        given = self.text.values() if isinstance(self.text, Mapping) else [self.text]
        for words in given:
            if not isinstance(words, Words) and (words is not None or isinstance(self.text, Mapping)):
                raise KindError(
                    "text must be Words(...), or a mapping from column to Words(...), "
                    f"got {type(words).__name__} {words!r}"
                )

    def _schema_of(self, source: Source) -> Schema:
        declared = dict(self.columns or {})
        places = _places(declared, source)
        numbers, counts = (
            choice if isinstance(choice, str) else default
            for choice, default in ((self.numbers, "gaussian"), (self.counts, "multinomial"))
        )
        if self.tune and numbers == "gaussian":
            numbers = TUNED  # of which any density can be made
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
                    if kind == "text" and family in TEXT_FAMILIES:
                        families[place] = names.index(TEXT_FAMILIES[family])
                        continue
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
        texts = self._texts(source, families, places)
        return Schema(source.names, families, why, categories, texts)

    def _declared(self) -> Collection[Any]:
        return {**(self.columns or {}), **(self.text if isinstance(self.text, Mapping) else {})}

    def _texts(self, source: Source, families: NDArray[np.int8], declared: Mapping[int, Any]) -> dict[Any, Words]:
        """How the words of each text column are counted; the family of each, where its Words say it, is set."""
        names = list(FAMILIES)
        chosen = _places(self.text, source) if isinstance(self.text, Mapping) else {}
        texts = {}
        for place in chosen:
            kind = FAMILIES[names[families[place]]]
            if kind != "text" and place in declared:
                raise InputError(
                    f"column {column_name(source.names[place])!r} was declared as {kind!r} and has Words as well; "
                    "declare it as 'text', or drop its Words"
                )
            if kind != "text":
                families[place] = names.index(
                    TEXT_FAMILIES[self.counts if isinstance(self.counts, str) else "multinomial"]
                )
        for place, name in enumerate(source.names.tolist()):
            family = names[families[place]]
            if FAMILIES[family] != "text":
                continue
            words = chosen.get(place, self.text if isinstance(self.text, Words) else Words())
            if words.model is not None and declared.get(place) not in TEXT_FAMILIES.values():
                families[place] = names.index(TEXT_FAMILIES[words.model])
            if words.weighting == "tfidf" and names[families[place]] == "words-bernoulli":
                raise InputError(
                    f"column {column_name(name)!r}: whether a word is there has no weight, so weighting='tfidf' does "
                    "not go with 'bernoulli'; take weighting='count', or another model"
                )
            texts[name] = words
        if isinstance(self.text, Words) and not texts:
            first = column_name(source.names[0])
            raise InputError(
                "text=Words(...) was given, but no column reads as text; declare which is: "
                f"columns={{{first!r}: 'text'}}"
            )
        return texts

    def _settings(self) -> Any:
        return self.prior, self.class_prior, *self._form()

    def _form(self) -> Any:
        return self.columns, self.numbers, self.counts, self.text, bool(self.tune)

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        rows = self.tally_.over(CLASS, classes).floats()
        shares, prior = class_prior.shares(self.class_prior, rows, classes)
        families = {} if "tuning_" in self.__dict__ else self._family_parameters(self.prior)
        return self._tuned(Parameters(classes, logs(shares), families, prior))

    @property
    def densities_(self) -> dict[Any, Chosen]:
        """The density of each column of numbers."""
        return {name: chosen(self._density(name, family), name) for name, family in self._numbers().items()}

    @property
    def resolution_(self) -> dict[Any, float]:
        """The bin width of each column that has a histogram: counts add and subtract exactly at it."""
        found = {name: self.tally_.bins(bins_name(name)) for name in self._numbers()}
        return {name: bins.width for name, bins in found.items() if bins is not None}

    def _density(self, name: object, family: str) -> Any:
        """The parameters of the family that has a column of numbers."""
        return self._parameters_with(name) if "tuning_" in self.__dict__ else self._parameters().families[family]

    def _numbers(self) -> dict[Any, str]:
        names = list(FAMILIES)
        return {
            name: names[code]
            for name, code in zip(self.schema_.names.tolist(), self.schema_.families.tolist())
            if FAMILIES[names[code]] == "number" and names[code] not in (SHARED, FULL)  # which have none of their own
        }

    def plot(self, column: Any = None, ax: Any = None) -> Any:
        """Draw the density of a column of numbers within each class, over the histogram of its values.

        Parameters
        ----------
        column : str or int, optional
            Its name, or its position; needed where there are several columns of numbers. Columns without names are
            also called 'x0', 'x1', …, as in messages.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
            `ax.figure.savefig(path)` writes the picture.
        """
        check_is_fitted(self)
        numbers = self._numbers()
        name = self._column_to_draw(column, numbers)
        parameters = self._density(name, numbers[name])
        return density_curves.draw(parameters, name, labels_of(self.classes_), self.tally_.bins(bins_name(name)), ax)

    def _column_to_draw(self, column: Any, numbers: Mapping[Any, str]) -> Any:
        """The name of the column of numbers that is meant."""
        known = [column_name(name) for name in numbers]
        if column is None:
            if len(numbers) == 1:
                return next(iter(numbers))
            shown = ", ".join(repr(name) for name in known[:12]) + (", …" if len(known) > 12 else "")
            raise InputError(
                f"there are {len(known)} columns of numbers; say which to draw: {shown}"
                if numbers
                else "there is no column of numbers, and only those have a density to draw"
            )
        place = _place(column, self.schema_.names)
        if place is None:
            raise InputError(
                f"column {column!r} is not there: only columns of numbers have a density to draw"
                f"{did_you_mean(column, known)}"
            )
        name = self.schema_.names.tolist()[place]
        if name not in numbers:
            family = list(FAMILIES)[int(self.schema_.families[place])]
            why = (
                "together with others, and has no density of its own to draw"
                if family in (SHARED, FULL)
                else "and only columns of numbers have a density to draw"
            )
            raise InputError(f"column {column_name(name)!r} is {family}, {why}{did_you_mean(column, known)}")
        return name

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
        place = _place(name, names, order)
        if place is None:
            known = names if names.dtype == object else objects([column_name(n) for n in names[:12].tolist()])
            raise InputError(
                f"column {name!r} was declared, but the table has none of that name{did_you_mean(name, known)}"
            )
        result[place] = value
    return result


def _place(name: Any, names: Labels, order: Mapping[Any, int] | None = None) -> int | None:
    """Where a column stands: by its name, by the name it has in messages, or counted."""
    order = {each: place for place, each in enumerate(names.tolist())} if order is None else order
    place = order.get(name) if isinstance(name, Hashable) else None
    if place is None and names.dtype != object and isinstance(name, str):
        place = order.get(int(name[1:])) if name[:1] == "x" and name[1:].isdecimal() else None
    if place is None and isinstance(name, int | np.integer) and 0 <= name < len(names):
        place = int(name)
    return place


def _choices(parameter: str, given: Any, kind: str) -> None:
    known = [name for name, of in FAMILIES.items() if of == kind]
    chosen = given.values() if isinstance(given, Mapping) else [given]
    for choice in chosen:
        if not isinstance(choice, str):
            raise KindError(f"{parameter} must be one of {', '.join(known)}, got {type(choice).__name__} {choice!r}")
        if choice not in known:
            raise InputError(f"{parameter}={choice!r} is not known{did_you_mean(choice, known)}")
