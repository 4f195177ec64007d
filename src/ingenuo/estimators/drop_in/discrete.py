"""MultinomialNB, ComplementNB and BernoulliNB, and what the models of counts share: alpha and the class priors."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ingenuo.chunk import Block, Counts
from ingenuo.errors import InputError, MergeError
from ingenuo.estimators.base import Parameters
from ingenuo.estimators.drop_in.shell import (
    ARRAY_LIKE,
    BOOLEAN,
    NONE,
    NOT_NEGATIVE,
    Allowed,
    DropIn,
    Floats,
    numbers_in,
)
from ingenuo.families.bernoulli import PRESENT, PresenceParameters, presence
from ingenuo.families.family import fraction, logs, term
from ingenuo.families.multinomial import SUM, BagParameters, bag, complement, refuse_not_finite
from ingenuo.schema import Schema
from ingenuo.sources import Source
from ingenuo.tally import Tally


class Discrete(DropIn):
    """What the four models of counts share: alpha and the class priors."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    _allowed: ClassVar[dict[str, list[Allowed]]] = {
        "alpha": [NOT_NEGATIVE, ARRAY_LIKE],
        "fit_prior": [BOOLEAN],
        "class_prior": [ARRAY_LIKE, NONE],
        "force_alpha": [BOOLEAN],
    }

    def _settings(self) -> Any:
        return self.alpha, self.force_alpha, self.fit_prior, self.class_prior

    def _check_against_data(self) -> None:
        if self.class_prior is not None:
            priors = numbers_in(self.class_prior, "class_prior")
            if len(priors) != len(self.classes_):
                raise InputError("Number of priors must match number of classes.")
            if not (np.isfinite(priors) & (priors >= 0)).all() or not priors.any():
                raise InputError(f"class_prior must hold probabilities, got {priors.tolist()}")
        self._check_alpha()

    def _check_alpha(self) -> Any:
        """Alpha, or the least that is allowed unless it is forced."""
        alpha: Any = self.alpha if isinstance(self.alpha, Real) else numbers_in(self.alpha, "alpha")
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise InputError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if not (np.isfinite(alpha) & (alpha >= 0)).all():
                raise InputError("All values in alpha must be greater than 0.")
        if np.min(alpha) < 1e-10 and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = 1.0e-10. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            return np.maximum(alpha, 1e-10)
        return alpha

    def _alphas(self) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # said once already, when the rows were learned
            return np.broadcast_to(np.asarray(self._check_alpha(), np.float64), (self.n_features_in_,))

    def _shares(self) -> tuple[Floats, list[str]]:
        if self.class_prior is not None:
            return np.asarray(self.class_prior, np.float64), ["given"] * len(self.classes_)
        if not self.fit_prior:
            return np.full(len(self.classes_), 1 / len(self.classes_)), [f"1/{len(self.classes_)}"] * len(self.classes_)
        rows = self.class_count_
        return rows / rows.sum(), [fraction(n, 0, rows.sum(), 0) for n in rows]

    def _family_estimate(self, alphas: Floats) -> Any:
        raise NotImplementedError

    def _estimate(self) -> Parameters:
        shares, how = self._shares()
        return self._parameters_of(shares, self._family_estimate(self._alphas()), how)

    @property
    def class_log_prior_(self) -> Floats:
        """The log probability of each class."""
        return self._parameters().log_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.classifier_tags.poor_score = True
        return tags


class MultinomialNB(Discrete):
    """Multinomial naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> MultinomialNB().fit([[2, 0], [0, 3]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "multinomial"

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family_estimate(self, alphas: Floats) -> BagParameters:
        return bag(self.tally_, alphas, self.schema_.names, self._labels)

    @property
    def feature_count_(self) -> Floats:
        """The sum of each column in each class."""
        return self.tally_.over(SUM, self._labels, self.schema_.names).floats()

    @property
    def feature_log_prob_(self) -> Floats:
        """The log weight of each column in each class."""
        return np.asarray(self._own.table.T)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class ComplementNB(MultinomialNB):
    """Complement naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> ComplementNB().fit([[2, 0], [0, 3]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "complement"
    _allowed: ClassVar[dict[str, list[Allowed]]] = {**Discrete._allowed, "norm": [BOOLEAN]}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        super().__init__(alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior)
        self.norm = norm

    def _settings(self) -> Any:
        return *super()._settings(), self.norm

    def _family_estimate(self, alphas: Floats) -> BagParameters:
        return complement(self.tally_, alphas, self.schema_.names, self._labels, normalise=self.norm)

    def _estimate(self) -> Parameters:
        parameters = super()._estimate()
        if len(self.classes_) > 1:  # as in scikit-learn, the weights alone decide
            parameters.log_prior = np.zeros(len(self.classes_))
            parameters.prior = tuple(term("not used", 1.0) for _ in self.classes_)
        return parameters

    @property
    def class_log_prior_(self) -> Floats:
        """The log probability of each class; it is used only where there is one class."""
        return logs(self._shares()[0])

    @property
    def feature_all_(self) -> Floats:
        """The sum of each column over all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))


class BernoulliNB(Discrete):
    """Bernoulli naive Bayes with scikit-learn's signature.

    Examples
    --------
    >>> BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _family = "bernoulli"
    _allowed: ClassVar[dict[str, list[Allowed]]] = {**Discrete._allowed, "binarize": [NONE, NOT_NEGATIVE]}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _settings(self) -> Any:
        return *super()._settings(), self.binarize

    def _form(self) -> Any:
        return self.binarize

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        found = super()._blocks(source, schema)
        block = found[self._family]
        assert isinstance(block, Counts)
        if self.binarize is None:
            return found
        refuse_not_finite(block)
        m = block.matrix
        if not block.sparse:
            return {self._family: Counts(block.names, block.n_rows, m > self.binarize)}
        there = type(m)((m.data > self.binarize, m.indices, m.indptr), shape=m.shape)
        return {self._family: Counts(block.names, block.n_rows, there)}

    def _merged(self, other: Any) -> tuple[Schema, Tally]:
        schema, tally = super()._merged(other)
        if other.binarize != self.binarize:
            raise MergeError(
                f"one model was binarized at {self.binarize} and the other at {other.binarize}; their counts do not add"
            )
        return schema, tally

    def _family_estimate(self, alphas: Floats) -> PresenceParameters:
        return presence(self.tally_, np.stack([alphas, alphas]), self.schema_.names, self._labels)

    @property
    def feature_count_(self) -> Floats:
        """In how many rows of each class each thing was."""
        return self.tally_.over(PRESENT, self._labels, self.schema_.names).floats()

    @property
    def feature_log_prob_(self) -> Floats:
        """The log probability of each thing in each class."""
        return np.asarray(self._own.present.T)
