"""CategoricalNB."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Block, Codes
from ingenuo.errors import InputError
from ingenuo.estimators import inputs
from ingenuo.estimators.contract import check_is_fitted
from ingenuo.estimators.drop_in.discrete import Discrete
from ingenuo.estimators.drop_in.shell import ARRAY_LIKE, COUNT, NONE, NOT_NEGATIVE, Allowed, Floats, naming
from ingenuo.families.categorical import CategoricalParameters, ColumnParameters, frequencies, table_name
from ingenuo.families.family import logs
from ingenuo.labels import Labels
from ingenuo.schema import Schema
from ingenuo.sources import Source


class CategoricalNB(Discrete):
    """Categorical naive Bayes with scikit-learn's signature; strings and unseen categories are welcome.

    Examples
    --------
    >>> CategoricalNB().fit([["red"], ["blue"]], [0, 1]).predict([["red"]]).tolist()
    [0]
    """

    _family = "categorical"
    _allowed: ClassVar[dict[str, list[Allowed]]] = {
        **Discrete._allowed,
        "min_categories": [NONE, ARRAY_LIKE, COUNT],
        "alpha": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _settings(self) -> Any:
        return *super()._settings(), self.min_categories

    def _check_against_data(self) -> None:
        super()._check_against_data()
        self._least()

    def _least(self) -> NDArray[np.int64]:
        """The least number of categories of each column."""
        if self.min_categories is None:
            return np.zeros(self.n_features_in_, np.int64)
        least = np.asarray(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise InputError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != (self.n_features_in_,):
            raise InputError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.broadcast_to(least, (self.n_features_in_,))

    def _source(self, X: Any, *, reset: bool) -> Source:
        return inputs.table(self, X, reset=reset, sparse=False)

    def _blocks(self, source: Source, schema: Schema) -> dict[str, Block]:
        array = getattr(source, "array", None)
        if array is None or array.dtype.kind not in "iuf":
            return super()._blocks(source, schema)
        codes, holes = _whole(array)
        if len(schema) != codes.shape[1]:
            raise InputError(f"the model was trained on {len(schema)} columns and this table has {codes.shape[1]}")
        return {self._family: Codes(source.names, source.n_rows, codes, None, holes)}

    def _joint(self, found: dict[str, Block], n_rows: int, floor: float | None = None) -> Floats:
        with naming(self):
            return super()._joint(found, n_rows, floor)

    def _known(self, column: Any, least: int) -> Labels:
        """The categories of a column: those seen, or, of whole numbers, all from 0 to the largest seen."""
        seen = self.tally_.labels(table_name(column), 1)
        if seen.dtype.kind not in "if":
            return seen
        return np.arange(max(int(seen.max(initial=-1)) + 1, least))

    def _family_estimate(self, alphas: Floats) -> CategoricalParameters:
        tables = []
        for column, least, alpha in zip(self.schema_.names.tolist(), self._least(), alphas):
            labels = self._known(column, int(least))
            counts = self.tally_.over(table_name(column), self._labels, labels).floats()
            pseudo = np.full(len(labels), alpha)
            tables.append(ColumnParameters(labels, counts, pseudo, frequencies(counts, pseudo)))
        return CategoricalParameters(self.schema_.names, tuple(tables), len(self.classes_))

    @property
    def category_count_(self) -> list[Floats]:
        """For each column, how often each category was in each class."""
        return [table.counts for table in self._own.tables]

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """For each column, the log probability of each category in each class."""
        return [logs(table.thetas) for table in self._own.tables]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """The number of categories of each column."""
        check_is_fitted(self)
        return np.array([len(table.labels) for table in self._own.tables])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = True
        return tags


def _whole(array: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Codes from a matrix of numbers, and whether some are missing (NaN, as -1)."""
    if array.dtype.kind != "f":
        return array, False
    missing = np.isnan(array)
    if not np.isfinite(np.where(missing, 0, array)).all():
        raise InputError("Input X contains infinity; a category is a whole number that is not negative, or a string")
    if (array < 0).any():
        raise InputError("Negative values in data: categories that are numbers count from 0")
    return np.where(missing, -1, array).astype(np.int64), bool(missing.any())
