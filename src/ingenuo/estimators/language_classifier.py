"""Bayes' rule on a language model for each class: argmax_k  log π_k + Σ_i log p(w_i | the words before it, k)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.estimators import class_prior, inputs
from ingenuo.estimators.base import CLASS, Parameters, TallyClassifier
from ingenuo.estimators.contract import check_is_fitted
from ingenuo.estimators.rows import EVERYTHING, Part, Rows
from ingenuo.estimators.sequence_model import SCHEMA, WORDS, SequenceModel, seeded, texts_of, whole
from ingenuo.explanation.arithmetic import Explanation
from ingenuo.families import ngrams, sequences
from ingenuo.families.family import Factor, logs
from ingenuo.families.ngrams import END, START
from ingenuo.families.sequences import NGRAMS, Reading
from ingenuo.labels import Labels, labels_of
from ingenuo.prior import MaximumLikelihood, Prior
from ingenuo.schema import Schema
from ingenuo.tally import Tally
from ingenuo.text import Words

Floats = NDArray[np.float64]


class LanguageModelClassifier(SequenceModel, TallyClassifier):
    """Bayes' rule on a language model for each class.

    Parameters
    ----------
    order, smoothing, discount, text, boundaries, min_count
        As for `LanguageModel`. All classes have one vocabulary.
    class_prior : Prior or mapping
        Imaginary texts of each class; or, as a mapping, the probability of each class.
    base : {"observed", "uniform"}
        As for `LanguageModel`; "uniform", so that no class is ruled out by a word that it never had.

    Attributes
    ----------
    tally_ : Tally
        All that was learned.
    classes_ : array
        The classes, sorted.

    Examples
    --------
    >>> texts = ["good film", "a good story", "not bad at all", "bad film", "a bad story", "not good at all"]
    >>> model = LanguageModelClassifier(2).fit(texts, ["+", "+", "+", "-", "-", "-"])
    >>> model.predict(["not bad", "not good"]).tolist()
    ['+', '-']
    """

    def __init__(
        self,
        order: int = 2,
        smoothing: Prior | str | None = None,
        class_prior: Prior | Mapping[Any, float] = MaximumLikelihood(),  # noqa: B008 (immutable)
        *,
        discount: float = 0.75,
        base: str = "uniform",
        text: Words = WORDS,
        boundaries: bool = True,
        min_count: int = 1,
    ) -> None:
        self.order = order
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.discount = discount
        self.base = base
        self.text = text
        self.boundaries = boundaries
        self.min_count = min_count

    def _check_settings(self) -> None:
        super()._check_settings()
        class_prior.check(self.class_prior)

    def _settings(self) -> Any:
        return self.class_prior, super()._settings()

    def _tally_of(self, part: Part) -> Tally:
        given = texts_of(part.X)
        codes, classes = inputs.labels(self, part.y, given.text.n_rows)
        return self._count(given, codes, classes, inputs.weights(part.weights, given.text.n_rows))

    def _declared(self) -> Any:
        return EVERYTHING

    def _plan(self, rows: Rows) -> Schema:
        return SCHEMA

    def _check_whole(self, schema: Schema, classes: Labels, tally: Tally) -> None:
        if NGRAMS not in tally:
            raise InputError("the texts have no word; give one that has")

    def _check_tally(self, schema: Schema, tally: Tally) -> None:
        sequences.check(tally, int(self.order))

    def _set(self, schema: Schema, tally: Tally) -> None:
        super()._set(schema, tally)
        for name in ("n_features_in_", "feature_names_in_"):  # texts have no columns
            self.__dict__.pop(name, None)

    def _merged(self, other: Any) -> tuple[Schema, Tally]:
        if type(other) is type(self):
            self._same_form(other)
        return super()._merged(other)

    def _estimate(self) -> Parameters:
        classes = labels_of(self.classes_)
        shares, prior = class_prior.shares(self.class_prior, self.tally_.over(CLASS, classes).floats(), classes)
        return Parameters(classes, logs(shares), {"ngrams": self._read(classes)}, prior)

    @property
    def vocabulary_(self) -> list[str]:
        """The words that share the probability of every class, sorted; with "</s>" and "<unk>"."""
        check_is_fitted(self)
        return self._vocabulary(self._parameters().families["ngrams"])

    def _rows(self, X: Any) -> tuple[Any, int]:
        check_is_fitted(self)
        found = self._parameters().families["ngrams"].sequences(texts_of(self._without_target(X)))
        return found, len(found[1])

    def _joint(self, found: Any, n_rows: int, floor: float | None = None) -> Floats:
        parameters = self._parameters()
        least = -np.inf if floor is None else floor
        joint: Floats = parameters.families["ngrams"].score(found, least)
        joint += np.maximum(parameters.log_prior, least)
        return joint

    def explain(self, row: Any) -> Explanation:
        """The arithmetic of one text's prediction: a line for each word, given the words before it.

        Parameters
        ----------
        row : str, or list of str
            A text, or its words.
        """
        found, _ = self._rows([row])
        parameters = self._parameters()
        reading: Reading = parameters.families["ngrams"]
        p = reading.parameters
        ids = np.append(found[0], p.end) if p.end >= 0 else found[0]
        shown = [*[START] * (len(p.start) - 1), *(reading.cut(row) if isinstance(row, str) else row), END]
        factors = []
        for place, terms in enumerate(ngrams.terms(p, ids.astype(np.int32))):
            at = place + len(p.start) - 1
            factors.append(Factor(" ".join(shown[max(at - self.order + 1, 0) : at]), shown[at], terms))
        joint = self._joint(found, 1)[0]
        posterior = self._posterior(found, 1)[0]
        return Explanation(parameters.classes, Factor("prior", "", parameters.prior), tuple(factors), joint, posterior)

    def sample(self, n: int = 1, class_: Any = None, random_state: Any = None) -> tuple[list[str], NDArray[Any]]:
        """Draw texts from the model.

        Parameters
        ----------
        n : int
            How many texts.
        class_ : optional
            The class to draw from; by default classes are drawn too, by their prior.
        random_state : optional
            Seed for NumPy's generator.

        Returns
        -------
        texts : list of str
        labels : array
            The class of each text.
        """
        check_is_fitted(self)
        whole("n", n, 0)
        generator = seeded("random_state", random_state)
        parameters = self._parameters()
        drawn = class_prior.draw(parameters.log_prior, parameters.classes, n, class_, generator)
        texts = np.empty(n, object)
        for k in np.unique(drawn).tolist():
            places = np.flatnonzero(drawn == k)
            texts[places] = parameters.families["ngrams"].draw(0, len(places), generator, k=k)
        return texts.tolist(), np.asarray(self.classes_[drawn])

    @property
    def class_log_prior_(self) -> Floats:
        """The log prior of each class."""
        return self._parameters().log_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = tags.input_tags.sparse = tags.input_tags.allow_nan = False
        return tags
