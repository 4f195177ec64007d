"""Some rows of whatever has rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.estimators import inputs


def take_rows(X: Any, places: NDArray[np.intp]) -> Any:
    """Some rows of anything that has rows."""
    if inputs.is_frame(X):
        import narwhals as nw

        return nw.to_native(nw.from_native(X, eager_only=True)[places])
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return X[places]
    if isinstance(X, list):
        return [X[place] for place in places.tolist()]
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, places)
