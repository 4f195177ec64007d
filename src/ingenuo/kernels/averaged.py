"""Averaged one-dependence: each attribute in turn is the parent of the others, and their products are averaged."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels.threads import run, split, width

Floats = NDArray[np.float64]

_ROWS_PER_THREAD = 256


@njit(cache=True, nogil=True)
def _average(codes, roots, root_at, pairs, pair_at, sizes, usable, naive, naive_at, lo, hi, out):  # type: ignore[no-untyped-def]
    """out[i, k] = log of the mean over the parents p that may be one of P(k, x_p) Π_j P(x_j | k, x_p).

    roots[root_at[p] + x_p, k] is log P(k, x_p); pairs[pair_at[p, j] + x_p * sizes[j] + x_j, k] is
    log P(x_j | k, x_p). A row none of whose values may be a parent gets the naive product, whose tables are
    naive[naive_at[j] + x_j, k], the last row being the prior.
    """
    d, K = codes.shape[1], out.shape[1]
    term = np.empty(K)
    for i in range(lo, hi):
        models = 0
        for k in range(K):
            out[i, k] = -math.inf
        for p in range(d):
            x = codes[i, p]
            if x < 0 or not usable[root_at[p] + x]:
                continue
            models += 1
            for k in range(K):
                term[k] = roots[root_at[p] + x, k]
            for j in range(d):
                y = codes[i, j]
                if y < 0 or j == p:
                    continue
                at = pair_at[p, j] + x * sizes[j] + y
                for k in range(K):
                    term[k] += pairs[at, k]
            for k in range(K):
                a, b = out[i, k], term[k]
                if b > a:
                    a, b = b, a
                out[i, k] = a if b == -math.inf else a + math.log1p(math.exp(b - a))
        if models == 0:
            for k in range(K):
                out[i, k] = naive[naive.shape[0] - 1, k]
            for j in range(d):
                if codes[i, j] >= 0:
                    for k in range(K):
                        out[i, k] += naive[naive_at[j] + codes[i, j], k]
        else:
            for k in range(K):
                out[i, k] -= math.log(models)


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
    codes = np.ascontiguousarray(codes, np.int32)
    out = np.empty((len(codes), n_classes))
    parts = split(len(codes), width(), _ROWS_PER_THREAD)
    run(
        [
            partial(_average, codes, roots, root_at, pairs, pair_at, sizes, usable, naive, root_at, lo, hi, out)
            for lo, hi in parts
        ]
    )
    return out
