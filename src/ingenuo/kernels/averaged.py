"""Averaged one-dependence: each attribute in turn is the parent of the others, and their products are averaged."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import BYTES, F64, I32, I64, INT, function
from ingenuo.kernels.threads import run, split, width

Floats = NDArray[np.float64]

_ROWS_PER_THREAD = 256

_average_parents = function(
    "average_parents", I32, INT, INT, F64, I64, F64, I64, I64, BYTES, F64, INT, INT, I64, F64, F64
)


def average(
    codes: NDArray[np.int32],
    roots: Floats,
    root_at: NDArray[np.int64],
    pairs: Floats,
    pair_at: NDArray[np.int64],
    sizes: NDArray[np.int64],
    usable: NDArray[np.bool_],
    naive: Floats,
    n_classes: int,
) -> Floats:
    """The log joint of each row and class; codes are rows × attributes, -1 where a value is missing or unknown."""
    codes = np.require(codes, np.int32, ["C", "A"])
    out = np.empty((len(codes), n_classes))

    def fill(lo: int, hi: int) -> None:
        rows, terms = np.empty(codes.shape[1], np.int64), np.empty((codes.shape[1] + 2) * n_classes)
        _average_parents(
            codes[lo:hi], hi - lo, codes.shape[1], roots, root_at, pairs, pair_at, sizes, usable, naive, len(naive),
            n_classes, rows, terms, out[lo:hi],
        )  # fmt: skip

    run([partial(fill, lo, hi) for lo, hi in split(len(codes), width(), _ROWS_PER_THREAD)])
    return out
