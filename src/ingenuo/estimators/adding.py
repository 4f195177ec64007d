"""`+` for models that merge: a copy of the one, into which the other is merged."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted


class Adding:
    """Mix-in: a + b is a copy of a that b is merged into; neither changes."""

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Adding):
            return NotImplemented
        check_is_fitted(self)
        result: Any = clone(self)
        result.__dict__.update({k: v for k, v in self.__dict__.items() if k not in result.__dict__})
        return result.merge(other)
