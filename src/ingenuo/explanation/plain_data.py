"""What an explanation holds as data that JSON can say: labels of any kind, and numbers beyond the finite ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Dictionaries, lists, texts, numbers, booleans and None; all else as text, and so is what is infinite.

    >>> import datetime
    >>> plain({np.int64(3): [np.float64(0.5), -math.inf, math.nan], datetime.date(2020, 1, 2): True})
    {3: [0.5, '-inf', None], '2020-01-02': True}
    """
    if isinstance(value, Mapping):
        return {_key(plain(name)): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    return str(value)


def _key(name: Any) -> Any:
    """A label as the name of an entry: one of several parts as text."""
    return str(tuple(name)) if isinstance(name, list) else name
