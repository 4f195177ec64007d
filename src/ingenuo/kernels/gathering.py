"""Rows of text put one after the other in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels.codes import readable

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def _copy(data, starts, lengths, into, offsets, rows):  # type: ignore[no-untyped-def]
    """into[offsets[row]:] = data[starts[i]:starts[i] + lengths[i]] for each row i of a piece."""
    for i in range(len(rows)):
        at, start = offsets[rows[i]], starts[i]
        for b in range(lengths[i]):
            into[at + b] = data[start + b]


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
        _copy(readable(data), starts[mine], lengths[mine], into, offsets, mine)
    return into, offsets
