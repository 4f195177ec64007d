"""`score` for classifiers whose label may be a column of the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ingenuo.estimators import inputs


class Scoring:
    """Mix-in, before scikit-learn's own: the labels may be named instead of given."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are answered right; y may be the name of a column of X, as in `fit`."""
        X, y = inputs.target_column(X, y)
        y = y if isinstance(y, np.ndarray | list | tuple) else np.asarray(y)
        return float(super().score(X, y, sample_weight))  # type: ignore[misc]
