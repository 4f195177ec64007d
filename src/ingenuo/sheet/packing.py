"""A sheet as JSON: in arrays of numbers each different one is written once; what is not finite is a string.

A checksum says whether a sheet is the one that Python wrote; page/seal.mjs has the same.
"""

from __future__ import annotations

import base64
import math
import sys
import zlib
from array import array
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


def seal(document: Any) -> int:
    """The CRC-32 of a document of JSON: of each value its kind and its bits, in whatever order the names stand.

    >>> seal({"a": [1, 0.5], "b": None}) == seal({"b": None, "a": [1.0, 0.5]}) != seal({"a": [1, 0.25], "b": None})
    True
    """
    pieces: list[bytes] = []
    _add(document, pieces)
    return zlib.crc32(b"".join(pieces))


def _add(value: Any, pieces: list[bytes]) -> None:
    if value is None or isinstance(value, bool):
        pieces.append(b"\0" if value is None else b"\2" if value else b"\1")
    elif isinstance(value, str):
        units = value.encode("utf-16-le", "surrogatepass")
        pieces += [_doubles([len(units) // 2]), units]
    elif isinstance(value, int | float):
        pieces.append(_doubles([value]))
    elif isinstance(value, list):
        pieces += [b"\3", _doubles([len(value)])]
        if {*map(type, value)} <= {int, float}:
            pieces.append(_doubles(value))
        else:
            for each in value:
                _add(each, pieces)
    else:
        pieces += [b"\4", _doubles([len(value)])]
        for name in sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass")):
            _add(name, pieces)
            _add(value[name], pieces)


def _doubles(numbers: list[Any]) -> bytes:
    try:
        found = array("d", numbers)
    except OverflowError:  # a whole number that JavaScript reads as infinite
        found = array("d", [float(str(each)) for each in numbers])
    if sys.byteorder == "big":
        found.byteswap()
    return found.tobytes()
