"""A sheet as JSON: in arrays of numbers each different one is written once; what is not finite is a string."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

_FEW = 16  # numbers that are written as they are


def plain(value: Any) -> Any:
    """A value of dictionaries, lists, arrays and plain values as JSON has it; sheet.mjs undoes it.

    >>> plain(np.array([0.5, -np.inf]))
    {'$array': [2], 'values': [0.5, '-inf']}
    >>> plain(np.arange(20) % 2)["at"]
    'AAEAAQABAAEAAQABAAEAAQABAAE='
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return _pack(np.ascontiguousarray(value, np.float64))
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": _name(value)}
    return value


def _name(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


def _pack(array: Any) -> dict[str, Any]:
    flat = array.ravel()
    if flat.size <= _FEW:
        return {"$array": list(array.shape), "values": [_name(each) for each in flat.tolist()]}
    bits, at = np.unique(flat.view(np.int64), return_inverse=True)  # by their bits, so that -0.0 is not 0.0
    width = next(each for each in (np.uint8, np.uint16, np.uint32) if len(bits) <= np.iinfo(each).max + 1)
    if len(bits) > flat.size / 2:
        return {"$array": list(array.shape), "values": [_name(each) for each in flat.tolist()]}
    return {
        "$array": list(array.shape),
        "values": [_name(each) for each in bits.view(np.float64).tolist()],
        "at": base64.b64encode(at.astype(width).astype(np.dtype(width).newbyteorder("<")).tobytes()).decode(),
    }
