"""Limbs of exact sums: passing carries on, and sorting rows by class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import I32, I64, INT, function

_carry_cells = function("carry", I64, INT, INT)
_sort_by_class = function("sort_by_class", I32, INT, INT, INT, I64, I64)


def _carry(limbs: NDArray[np.int64]) -> None:
    """Bring every limb of (classes, columns, limbs) into -2^39 .. 2^39 - 1, the last one excepted."""
    if limbs.size:
        _carry_cells(limbs, limbs.size // limbs.shape[-1], limbs.shape[-1])


def _by_class(labels: NDArray[Any], lo: int, hi: int, rows: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
    """Rows lo..hi in the order of their class: class k has rows[ends[k-1]:ends[k]]."""
    _sort_by_class(labels, lo, hi, len(ends) - 1, rows, ends)
