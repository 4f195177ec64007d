"""The log density of each row under Gaussians that have not learned it.

Sums are pairs of doubles (hi + lo, about 32 digits) about a centre c near the mean, so that what leaving a value out
takes from a sum leaves as many digits as a second count of the other rows would:

    S' = S - w d,   Q' = Q - w d²,   d = x - c;        μ' = c + S'/n',   n' σ'² = Q' - S'²/n'
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.kernels.densities import over_rows
from ingenuo.kernels.moments import Rows

Floats = NDArray[np.float64]

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
# Where less than this share of a sum of squares is left, the pairs of doubles may have lost too much of it.
LEAST_SHARE = 1e-13
# How a class's variance comes about.
OWN, FLOOR, COLUMN, NOTHING = 0, 1, 2, 3


class Sums(NamedTuple):
    """Of each class and column: the centre, the weight, Σ w(x - c) and Σ w(x - c)² as pairs (classes × columns × 2)."""

    centres: Floats
    counts: Floats
    first: Floats
    second: Floats


class Others(NamedTuple):
    """The Gaussians of all rows, and whether they would change with another row left out."""

    means: Floats  # (classes, columns)
    inverse: Floats  # 1/σ
    constants: Floats  # -log σ - ½ log 2π
    variances: Floats  # before a floor was set
    state: NDArray[np.int64]  # OWN, FLOOR, COLUMN or NOTHING


@njit(cache=True, nogil=True, inline="always")
def _two_sum(a, b):  # type: ignore[no-untyped-def]
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@njit(cache=True, nogil=True, inline="always")
def _split(a):  # type: ignore[no-untyped-def]
    t = 134217729.0 * a
    hi = t - (t - a)
    return hi, a - hi


@njit(cache=True, nogil=True, inline="always")
def _two_product(a, b):  # type: ignore[no-untyped-def]
    p = a * b
    ah, al = _split(a)
    bh, bl = _split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@njit(cache=True, nogil=True, inline="always")
def _add(ah, al, bh, bl):  # type: ignore[no-untyped-def]
    s, e = _two_sum(ah, bh)
    t, f = _two_sum(al, bl)
    e += t
    s, e = s + e, e - ((s + e) - s)
    e += f
    r = s + e
    return r, e - (r - s)


@njit(cache=True, nogil=True, inline="always")
def _times(ah, al, bh, bl):  # type: ignore[no-untyped-def]
    p, e = _two_product(ah, bh)
    e += ah * bl + al * bh
    r = p + e
    return r, e - (r - p)


@njit(cache=True, nogil=True, inline="always")
def _over(ah, al, b):  # type: ignore[no-untyped-def]
    """(ah + al) / b."""
    q = ah / b
    p, e = _two_product(q, b)
    r = ((ah - p) - e + al) / b
    s = q + r
    return s, r - (s - q)


@njit(cache=True, nogil=True, inline="always")
def _without(x, w, centre, n, first, second, unbiased):  # type: ignore[no-untyped-def]
    """Mean and variance of n - w values without this one, and whether they can be trusted."""
    rest = n - w
    if not rest > 0:
        return 0.0, 0.0, False
    dh, dl = _two_sum(x, -centre)
    wh, wl = (dh, dl) if w == 1.0 else _times(dh, dl, w, 0.0)
    sh, sl = _add(first[0], first[1], -wh, -wl)
    ph, pl = _times(wh, wl, dh, dl)
    qh, ql = _add(second[0], second[1], -ph, -pl)
    mh, ml = _over(sh, sl, rest)
    mean, _ = _add(centre, 0.0, mh, ml)
    ph, pl = _times(sh, sl, mh, ml)
    vh, _ = _add(qh, ql, -ph, -pl)
    sure = math.isfinite(vh) and math.isfinite(mean) and (vh >= LEAST_SHARE * second[0] if second[0] > 0 else vh == 0)
    below = rest - 1.0 if unbiased else rest
    return mean, (vh / below if below > 0 else 0.0), sure


@njit(cache=True, nogil=True)
def _left_out(  # type: ignore[no-untyped-def]
    X, start, codes, weights, centres, counts, first, second, means, inverse, constants, variances, state, floor,
    unbiased, apart, out, doubtful,
):  # fmt: skip
    """Add the log densities of rows start.. to out (1 or columns × rows × classes); mark cells not to be trusted."""
    K = means.shape[0]
    for i in range(X.shape[0]):
        row = start + i
        y = codes[row]
        w = weights[row] if len(weights) else 1.0
        for j in range(X.shape[1]):
            x = X[i, j]
            if x != x:
                continue
            at = j if apart else 0
            whole_mean, whole, sure = 0.0, 0.0, True
            known = False
            for k in range(K):
                n = counts[k, j] - w if k == y else counts[k, j]
                mean, variance, how = means[k, j], variances[k, j], state[k, j]
                if k == y:
                    how = OWN
                    if n > 0:
                        mean, variance, fine = _without(
                            x, w, centres[k, j], counts[k, j], first[k, j], second[k, j], unbiased
                        )
                        sure = sure and fine
                        if variance == 0.0 and n <= 1.0:
                            how = COLUMN
                        elif variance < 2 * floor * variances[K, j] or variance == 0.0:
                            how = FLOOR
                    else:
                        how = NOTHING
                if how == OWN and k != y:
                    z = (x - mean) * inverse[k, j]
                    out[at, row, k] += constants[k, j] - 0.5 * min(z * z, 1e300)
                    continue
                if how != OWN:
                    if not known:
                        whole_mean, whole, fine = _without(
                            x, w, centres[K, j], counts[K, j], first[K, j], second[K, j], False
                        )
                        sure = sure and fine and counts[K, j] > w
                        known = True
                    if how == NOTHING:
                        mean = whole_mean
                    variance = max(variance, floor * whole) if how == FLOOR else whole
                    sure = sure and variance > 0
                if variance > 0:
                    z = (x - mean) / math.sqrt(variance)
                    out[at, row, k] += -0.5 * math.log(variance) - HALF_LOG_2PI - 0.5 * min(z * z, 1e300)
            if not sure:
                doubtful[row, j] = True


def left_out(
    table: Rows, codes: NDArray[np.int32], weights: Floats | None, sums: Sums, others: Others, floor: float,
    unbiased: bool, out: Floats,
) -> NDArray[np.bool_]:  # fmt: skip
    """Add the log density of each row, by Gaussians that have not learned it, to out (1 or columns × rows × classes).

    In `sums` and `others.variances`, a row more than there are classes is of the whole columns. Returns the cells
    (rows × columns) whose log densities cannot be trusted.
    """
    n, d = table.shape
    assert out.shape[0] in (1, d)
    assert out.shape[1:] == (n, len(others.means))
    doubtful = np.zeros((n, d), np.bool_)
    given = np.zeros(0) if weights is None else weights

    def work(lo: int, hi: int) -> None:
        for start in range(lo, hi, table.step):
            stop = min(start + table.step, hi)
            _left_out(
                table.rows(start, stop), start, codes, given, *sums, *others, floor, unbiased, out.shape[0] == d, out,
                doubtful,
            )  # fmt: skip

    over_rows(work, n)
    return doubtful
