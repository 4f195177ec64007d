"""Numbers cut into slices whose products add without rounding, and the products poured into limbs: the loops.

The rows of a class (or of all) go in blocks of 512. Every column has a unit 2^u, and a number is

    x = 2^u · (h₁ + 2^-23 h₂ + 2^-46 h₃)        h whole numbers

The unit is such that Σh₁² over the block is below 2^53. Σh₂² and Σh₃² are at most that, for their h are at most 2^22.
Then, as (Σ|hg|)² <= Σh² Σg², the products of any two slices add up in doubles without rounding, in whatever order.
Numbers of few digits (whole numbers, prices, values that were float32) need one slice or two. Of any others, as of
products w·x, which have 106 bits, the digits are taken: 22 bits each, at fixed positions.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ingenuo.kernels.numbers import _fma, _pour

NEXT = 23  # bits of the slices below the first
ROWS = 512
DIGIT = 22
FEW = 256  # rows cut into digits together; two digits of w·x may fall on one place, so these go up to 2^23
FIRST, PLACES = -110, 220  # the digits' positions: w·x may be anything from 2^-2254 to 2^2048
_BIG = 1.5 * 2.0**52  # added and subtracted again, it rounds to whole numbers
_FINER = 2.0**NEXT
_AIM = 49  # a unit is chosen for squares of the first slices that add up to less than 2^49 in 512 rows
_MOST, _LEAST = 2.0**53, 2.0**43  # and is kept while they are within these


@njit(cache=True, nogil=True)
def _cut(X, places, scale, H, rest, depth, squares, moved, deep):  # type: ignore[no-untyped-def]
    """The rows at these places as slices: all the first ones, then all the second, then the third.

    Returns how many slices the rows need, how many rows need more, and how many columns want another unit (those are
    in `moved`). The rows that need more, and those with a hole, are put down in `deep` and have zeros for slices. Of
    slices there are 0 where a column's numbers are too large for its unit: nothing is of use then.
    """
    n, d = len(places), X.shape[1]
    bits, lost = H.view(np.int64), rest.view(np.int64)
    squares[:] = 0.0
    # Several short loops: each becomes vector instructions, which one long loop does not (0.11 s for 0.15 s, 1M × 50).
    for i in range(n):
        row = places[i]
        for j in range(d):
            t = X[row, j] * scale[j]
            H[i, j] = (t + _BIG) - _BIG
            rest[j] = t
        for j in range(d):
            r = (rest[j] - H[i, j]) * _FINER
            H[i, d + j] = (r + _BIG) - _BIG
        for j in range(d):
            r = ((rest[j] - H[i, j]) * _FINER - H[i, d + j]) * _FINER
            H[i, 2 * d + j] = (r + _BIG) - _BIG
        for j in range(d):
            t = rest[j]
            left = ((t - H[i, j]) * _FINER - H[i, d + j]) * _FINER - H[i, 2 * d + j]
            rest[j] = left if t != 0.0 else X[row, j] + 0.0  # where x is so small that t is zero, all of x is left
        for j in range(d):
            square = H[i, j] * H[i, j]
            squares[j] += square if square == square else 0.0  # not that of a hole
        second, third, fourth = np.int64(0), np.int64(0), np.int64(0)
        for j in range(d):
            second |= bits[i, d + j]
        for j in range(d):
            third |= bits[i, 2 * d + j]
        for j in range(d):
            fourth |= lost[j]
        depth[i] = 4 if fourth != 0 else 3 if third != 0 else 2 if second != 0 else 1
    above, below = 0, 0
    for j in range(d):
        moved[j] = not squares[j] < _MOST  # at 2^53 a sum may have been rounded
        above += moved[j]
    if above > 0:
        return 0, 0, above
    for j in range(d):
        moved[j] = n == ROWS and 0.0 < squares[j] < _LEAST
        below += moved[j]
    counts = np.zeros(5, np.int64)
    for i in range(n):
        counts[depth[i]] += 1
    slices, more = 1, n - counts[1]
    while slices < 3 and more > n // 16:
        slices += 1
        more -= counts[slices]
    more = 0
    for i in range(n):
        if depth[i] > slices:
            deep[more] = places[i]
            more += 1
            H[i] = 0.0
    return slices, more, below


@njit(cache=True, nogil=True)
def _choose(X, places, units, moved):  # type: ignore[no-untyped-def]
    """The units of the columns that moved, by the squares that these rows have; False where a number is infinite."""
    for j in range(X.shape[1]):
        if moved[j]:
            most = 0.0
            for i in range(len(places)):
                x = abs(X[places[i], j])
                most = x if x > most else most
            if most == np.inf:
                return False
            f, e = math.frexp(most)
            total = 0.0
            for i in range(len(places)):
                x = X[places[i], j]
                square = (f * (x / most)) ** 2 if x == x and most > 0.0 else 0.0
                total += square
            total *= ROWS / len(places)
            # Below 2^-920 a scale would be no double; numbers that are so small have their digits taken.
            units[j] = max(e - (_AIM - math.frexp(total)[1]) // 2, -920)
    return True


@njit(cache=True, nogil=True)
def _add_slices(H, places, labels, totals):  # type: ignore[no-untyped-def]
    """Add the slices of each row to its class: 2^31 rows of them stay below 2^53."""
    for i in range(H.shape[0]):
        k = labels[places[i]]
        for j in range(H.shape[1]):
            totals[k, j] += H[i, j]


@njit(cache=True, nogil=True)
def _pour_totals(totals, at, moved, first, last, limbs, base):  # type: ignore[no-untyped-def]
    """Empty the sums of slices, of classes first to last and the columns that moved."""
    d = len(moved)
    for k in range(first, last):
        for a in range(len(at)):
            if moved[a % d] and totals[k, a] != 0.0:
                _pour(limbs[k, a % d], base, np.int64(totals[k, a]), at[a])
                totals[k, a] = 0.0


@njit(cache=True, nogil=True)
def _hold(M, held):  # type: ignore[no-untyped-def]
    for a in range(M.shape[0]):
        for b in range(a + 1):
            held[a, b] += np.int64(M[a, b])


@njit(cache=True, nogil=True)
def _pour_held(held, at, moved, limbs, base):  # type: ignore[no-untyped-def]
    """Empty the held products of the columns that are marked; at[a] is the position of slice a."""
    d = len(moved)
    for a in range(len(at)):
        i = a % d
        for b in range(a + 1):
            j = b % d
            n = held[a, b]
            if n != 0 and (moved[i] or moved[j]):
                held[a, b] = 0
                i1, j1 = max(i, j), min(i, j)
                position = at[a] + at[b] + (1 if i == j and a != b else 0)
                cell = limbs[i1 * (i1 + 1) // 2 + j1]
                # Two halves, for a limb takes 2^54 at a time and what is held goes up to 2^60.
                _pour(cell, base, n >> 31, position + 31)
                _pour(cell, base, n & ((np.int64(1) << 31) - 1), position)


@njit(cache=True, nogil=True)
def _pour_products(M, left, left_at, right, right_at, tiles, limbs, base):  # type: ignore[no-untyped-def]
    """Pour the products of some slices; `left` and `right` have their columns, `left_at` and `right_at` the positions.

    tiles < 0: w·x by x, of which the pairs of columns i >= j are kept. Else x by x, each two slices once: as they lie
    to either side of the diagonal (0), or on it (1).
    """
    for a in range(M.shape[0]):
        i = left[a]
        for b in range(a + 1 if tiles == 1 else M.shape[1]):
            j = right[b]
            if M[a, b] == 0.0 or (tiles < 0 and i < j):
                continue
            twice = tiles >= 0 and i == j and not (tiles == 1 and a == b)
            i1, j1 = max(i, j), min(i, j)
            _pour(
                limbs[i1 * (i1 + 1) // 2 + j1],
                base,
                np.int64(M[a, b]),
                left_at[a] + right_at[b] + (1 if twice else 0),
            )


@njit(cache=True, nogil=True)
def _digit(n, position, own, i, H, fill):  # type: ignore[no-untyped-def]
    """Mark the places of n·2^position in the column's index, or add its digits there."""
    place = position // DIGIT
    shift = position - DIGIT * place
    sign = -1.0 if n < 0 else 1.0
    a = abs(n)
    digit = (a & ((np.int64(1) << (DIGIT - shift)) - 1)) << shift
    a >>= DIGIT - shift
    place -= FIRST
    while digit != 0 or a != 0:
        if digit != 0:
            if fill:
                H[i, own[place]] += sign * digit
            else:
                own[place] = 1
        digit = a & ((np.int64(1) << DIGIT) - 1)
        a >>= DIGIT
        place += 1


@njit(cache=True, nogil=True)
def _digits(X, weights, index, H, fill):  # type: ignore[no-untyped-def]
    """The digits of x, or of w·x where there are weights: first their places, then, with fill, themselves."""
    for i in range(X.shape[0]):
        f, e = math.frexp(weights[i]) if len(weights) else (1.0, 0)
        for j in range(X.shape[1]):
            if X[i, j] == 0.0 or f == 0.0:
                continue
            g, ex = math.frexp(X[i, j])
            if len(weights) == 0:
                _digit(np.int64(g * 2.0**53), ex - 53, index[j], i, H, fill)
                continue
            # f·g is a rounded product and its remainder; the exponents are kept apart, so neither is too small.
            p = f * g
            _digit(np.int64(p * 2.0**54), e + ex - 54, index[j], i, H, fill)
            _digit(np.int64(_fma(f, g, -p) * 2.0**106), e + ex - 106, index[j], i, H, fill)
