"""Rows shared out to folds, every class as evenly as it goes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def stratified(codes: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row, drawn by a seed.

    >>> stratified(np.array([0, 0, 0, 0, 1, 1]), 2, 0).reshape(3, 2).sum(axis=1).tolist()
    [1, 1, 1]
    """
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    found = np.empty(len(codes), np.int64)
    found[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % folds
    return found
