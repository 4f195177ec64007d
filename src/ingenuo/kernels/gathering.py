"""Rows of text put one after the other in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import I64, INT, U8, function

Array = NDArray[Any]


_copy_rows = function("copy_rows", U8, I64, I64, INT, I64, I64, U8)


def gathered(pieces: Sequence[tuple[Array, Array]], firsts: Array, rows: Array) -> tuple[Array, Array]:
    """The bytes of these rows of some pieces (bytes and offsets), in the rows' order, and their offsets.

    >>> piece = np.frombuffer(b"onetwo", np.uint8), np.array([0, 3, 6])
    >>> data, offsets = gathered([piece], np.array([0]), np.array([1, 0]))
    >>> bytes(data), offsets.tolist()
    (b'twoone', [0, 3, 6])
    """
    owner = np.searchsorted(firsts, rows, "right") - 1
    lengths, starts = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    by_piece = [np.flatnonzero(owner == p) for p in range(len(pieces))]
    for (_, bounds), first, mine in zip(pieces, firsts.tolist(), by_piece):
        own = rows[mine] - first
        starts[mine] = bounds[own]
        lengths[mine] = bounds[own + 1] - bounds[own]
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    into = np.zeros(max(int(offsets[-1]), 1), np.uint8)
    for (data, _), mine in zip(pieces, by_piece):
        _copy_rows(np.ascontiguousarray(data), starts[mine], lengths[mine], len(mine), mine, offsets, into)
    return into, offsets
