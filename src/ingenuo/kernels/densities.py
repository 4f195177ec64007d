"""Log densities of rows (Gaussians, tabulated curves, lines, distances), posteriors, mixtures, and the bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import call, check_codes, check_shape, portable, threads
from ingenuo.kernels.moments import Rows, blocks, refuse_infinite
from ingenuo.kernels.threads import over

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

FARTHEST = 1e300  # no row is farther away than this: joints stay finite, and so do their differences
HALF_LOG_2PI = 0.9189385332046727
_FEW = 1 << 10  # rows that a thread has at least


def repeat_row(row: Floats, n_rows: int) -> Floats:
    """A matrix of so many equal rows, filled by all the threads."""
    matrix = np.empty((n_rows, len(row)))
    over(n_rows, lambda lo, hi: np.copyto(matrix[lo:hi], row), _FEW)
    return matrix


def constants(deviations: Floats) -> Floats:
    """-log σ - ½ log 2π: what a number at the mean adds to the log joint."""
    return np.ascontiguousarray(-portable.log(deviations) - HALF_LOG_2PI)


def add_gaussian(table: Rows, means: Floats, deviations: Floats, out: Floats, peaks: Floats | None = None) -> None:
    """Add the log density of each row under each class to out (rows × classes), column by column from left to right.

    The peaks are the `constants` of the deviations, where they are known already.
    """
    n_classes, d = means.shape
    check_shape((len(out), d), table)
    check_shape((len(out), n_classes), out)
    check_shape((n_classes, d), deviations, peaks)
    given = np.ascontiguousarray(means), np.ascontiguousarray(1.0 / deviations)
    peaks = constants(deviations) if peaks is None else np.ascontiguousarray(peaks)

    def work(lo: int, hi: int) -> None:
        for start, X in blocks(table, lo, hi):
            place = call.add_gaussian(X, len(X), d, n_classes, *given, peaks, out[start : start + len(X)])
            refuse_infinite(table, start, X, place)

    over(len(out), work, _FEW)


def _width(n_classes: int) -> int:
    """How many numbers stand side by side for the classes, so that whole vectors are read."""
    return 2 if n_classes <= 2 else -(-n_classes // 4) * 4


def _widened(each: Floats, width: int) -> Floats:
    return np.pad(each, ((0, 0), (0, width - each.shape[1])))


class Masses(NamedTuple):
    """Of d columns: the log probabilities of whole numbers from `low` on, and the Gaussians of all other numbers."""

    low: Floats  # (d,)
    starts: NDArray[np.int64]  # (d + 1,) where the points of each column begin
    points: Floats  # (all the points, classes)
    means: Floats  # (d, classes)
    inverse: Floats  # 1 / the deviations
    constants: Floats  # what a number at the mean adds


def add_states(table: Rows, masses: Masses, out: Floats) -> None:
    """Add the log probability of each row under each class to out, column by column from left to right."""
    n_classes, d = out.shape[1], table.shape[1]
    check_shape((len(out), d), table)
    check_shape((d,), masses.low, masses.starts[1:])
    check_shape((int(masses.starts[-1]), n_classes), masses.points)
    check_shape((d, n_classes), *masses[3:])
    width = _width(n_classes)
    sizes, wide = np.diff(masses.starts).astype(np.float64), (_widened(each, width) for each in masses[2:])
    given = width, masses.low, sizes, masses.starts[:-1] * float(width), *wide

    def work(lo: int, hi: int) -> None:
        room = np.empty(d, np.int32)
        for start, X in blocks(table, lo, hi):
            place = call.add_states(X, len(X), d, n_classes, *given, out[start : start + len(X)], room)
            refuse_infinite(table, start, X, place)

    over(len(out), work, _FEW)


def posterior(joint: Floats, *, log: bool = False) -> NDArray[np.intp]:
    """Write the posterior of each row's classes over the log joints, by log-sum-exp.

    Returns the rows that were left as they are, for they have no finite maximum.
    """
    rows, odd, K = np.ascontiguousarray(joint), np.empty(len(joint), np.bool_), joint.shape[1]
    over(len(rows), lambda lo, hi: call.posterior(rows[lo:hi], hi - lo, K, log, None, odd[lo:hi]), _FEW)
    if rows is not joint:
        joint[:] = rows
    return np.flatnonzero(odd)


def best(joint: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The most probable class of each row, and the rows that have no finite maximum."""
    joint, found, odd = np.ascontiguousarray(joint), np.empty(len(joint), np.intp), np.empty(len(joint), np.bool_)
    K = joint.shape[1]
    over(len(joint), lambda lo, hi: call.posterior(joint[lo:hi], hi - lo, K, 0, found[lo:hi], odd[lo:hi]), _FEW)
    return found, np.flatnonzero(odd)


# Tabulated curves: the values of all the classes at a point lie side by side, so that the place is found once for them
# all.

GAUSSIAN, LEVEL, STRAIGHT = 0, 1, 2
NOTHING = -1e300  # in a table this stands for log 0, for 0 · -inf is no number; what is less than -1e299 is log 0
_PIECE = 1 << 12  # rows at a time: what falls outside the tables is then looked for near by


class Tables(NamedTuple):
    """The curves of d columns; Gaussians are by mean and deviation, the others by the points of their tables."""

    ways: NDArray[np.int64]  # (d,)
    exponents: NDArray[np.int64]  # the position of x is x · 2^-exponent - origin
    origins: Floats
    inverses: Floats  # 1 / the distance of two points
    starts: NDArray[np.int64]  # (d + 1,) where the points of each column begin
    points: Floats  # (all the points, classes), none below NOTHING
    means: Floats  # (d, classes)
    over: Floats  # 1 / the deviations
    constants: Floats  # -log the deviations - ½ log 2π


def add_curves(table: Rows, tables: Tables, out: Floats, beyond: Callable[[int, Floats], Floats]) -> None:
    """Add the log density of each row under each class to out (rows × classes), column by column from left to right.

    `beyond(j, x)` gives the log densities of values outside column j's table.
    """
    n_classes, d = out.shape[1], table.shape[1]
    check_shape((len(out), d), table)
    check_shape((d,), *tables[:4], tables.starts[1:])
    check_shape((int(tables.starts[-1]), n_classes), tables.points)
    check_shape((d, n_classes), *tables[6:])
    width = _width(n_classes)
    up = np.minimum(-tables.exponents, 1000)  # 2^-e as two factors, for 2^1074 is no double
    wide = (_widened(each, width) for each in tables[5:])
    given = (
        tables.ways, np.ldexp(1.0, up), np.ldexp(1.0, -tables.exponents - up), tables.origins, tables.inverses,
        tables.starts[:-1] * width, np.diff(tables.starts) - 1.0, (tables.ways == STRAIGHT).astype(np.float64), *wide,
    )  # fmt: skip

    def work(lo: int, hi: int) -> None:
        left, n_left, outside = np.empty(_PIECE, np.int64), np.zeros(1, np.int64), np.empty((_PIECE, d), np.bool_)
        room = left, n_left, outside, np.empty(d, np.int64), np.empty(d)
        for start, block in blocks(table, lo, hi, _PIECE):
            own = out[start : start + len(block)]
            place = call.add_curves(block, len(block), d, n_classes, width, *given, None, own, *room)
            refuse_infinite(table, start, block, place)
            if n_left[0]:
                rows, marked = left[: n_left[0]], outside[: n_left[0]]
                index = np.cumsum(marked).reshape(marked.shape) - 1
                values = np.zeros((index[-1, -1] + 1, width))
                for j in np.flatnonzero(marked.any(axis=0)).tolist():
                    mine = np.flatnonzero(marked[:, j])
                    values[index[mine, j], :n_classes] = beyond(j, block[rows[mine], j])
                call.add_curves(block, len(rows), d, n_classes, width, *given, values, own, *room)

    over(len(out), work, _FEW)


def maximise(
    points: Floats, weights: Floats, shares: Floats, means: Floats, variances: Floats, least: float, rounds: int,
    tolerance: float,
) -> float:  # fmt: skip
    """Improve a mixture of Gaussians on weighted points (the bins of a histogram), in place, by EM rounds.

    It goes on until a round gains less than the tolerance for each weight, and returns the log likelihood before the
    last round. No variance falls below `least`.
    """
    n, m = len(points), len(means)
    room = np.empty((n + 1) * m + 3 * n)
    return float(call.maximise(points, weights, n, m, shares, means, variances, least, rounds, tolerance, room))


# Gaussians that have not learned the row. Sums are pairs of doubles (hi + lo, about 32 digits) about a centre c near
# the mean, so that what leaving a value out takes from a sum leaves as many digits as a second count of the other rows
# would:
#
#     S' = S - w d,   Q' = Q - w d²,   d = x - c;        μ' = c + S'/n',   n' σ'² = Q' - S'²/n'

OWN, SHARED, COLUMN, NEITHER = 0, 1, 2, 3  # how a class's variance comes about


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
    state: NDArray[np.int64]  # OWN, SHARED, COLUMN or NEITHER


def add_left_out(
    table: Rows, codes: Codes, weights: Floats | None, sums: Sums, others: Others, floor: float, imagined: float,
    unbiased: bool, out: Floats,
) -> NDArray[np.bool_]:  # fmt: skip
    """Add the log density of each row, by Gaussians that have not learned it, to out (1 or columns × rows × classes).

    In `sums` and `others.variances`, a row more than there are classes is of the whole columns. Returns the cells
    (rows × columns) whose log densities cannot be trusted.
    """
    (n, d), K = table.shape, len(others.means)
    check_shape((n,), codes, weights)
    check_codes(K, codes, 0)
    check_shape((K, d), others.means, others.inverse, others.constants, others.state)
    check_shape((len(out), n, K), out)
    doubtful = np.zeros((n, d), np.bool_)
    given = n, K, codes, weights, *sums, *others, floor, imagined, unbiased, out.shape[0] == d, out, doubtful

    def work(lo: int, hi: int) -> None:
        for start, X in blocks(table, lo, hi):
            call.left_out(X, len(X), d, start, *given)

    over(n, work, _FEW)
    return doubtful


# Scores of rows of numbers: x - c times a few weights (lines), or times the inverse root of a covariance (distances).
# Each row has sums of its own, from left to right, so it has the same scores alone and among others.

_GROUP = 8  # rows that the loops turn at a time, as in scores.hpp
_ROWS_OF_SCORES = 1 << 12  # that a thread has at least
_FEW_PATTERNS = 64  # incomplete rows that a thread has at least


def _score_step(d: int) -> int:
    """Rows in a block of at most 2 MiB."""
    return max(256, min(4096, (1 << 18) // max(d, 1)))


def find_complete(table: Rows) -> NDArray[np.intp] | None:
    """The places of the rows without a missing value; None where no row has one."""
    n, d = table.shape
    missing = np.zeros(n, np.bool_)

    def work(lo: int, hi: int) -> None:
        for start, X in blocks(table, lo, hi, _score_step(d)):
            missing[start : start + len(X)] = np.isnan(X).any(axis=1)

    over(n, work, _ROWS_OF_SCORES)
    return np.flatnonzero(~missing) if missing.any() else None


def add_lines(table: Rows, centre: Floats, weights: Floats, shares: Floats, out: Floats) -> NDArray[np.intp]:
    """Add share_k + weights_k · (x - centre) to out, but for rows with a missing value, which it returns.

    A score begins with the share, and has one term for each column, from left to right.
    """
    check_shape((len(shares), len(centre)), weights)
    given = [np.ascontiguousarray(each) for each in (centre, weights, shares)]
    return _add_scores(call.add_lines, table, (*given, len(shares)), 0, out)


def place(means: Floats, roots: Floats) -> Floats:
    """mean_k A_k, each sum from left to right: (classes, rank)."""
    return portable.total(means[:, :, np.newaxis] * roots, 1)


def add_distances(
    table: Rows, centre: Floats, roots: Floats, means: Floats, shares: Floats, out: Floats, placed: Floats | None = None
) -> NDArray[np.intp]:
    """Add share_k - ½ |(x - mean_k) A_k|² to out; returns as `add_lines` does.

    One root A (d × r) serves all classes, or each has its own (classes × d × r); means are given less the centre. What
    `place` gives may be known already.
    """
    placed = place(means, roots) if placed is None else placed
    every = np.ascontiguousarray(roots[np.newaxis] if roots.ndim == 2 else roots)
    n_roots, d, rank = every.shape
    check_shape((len(shares), len(centre)), means)
    check_shape((1 if roots.ndim == 2 else len(means), len(centre), rank), every)
    check_shape((len(means), rank), placed)
    # Most roots are triangles: each column has zeros from some row on.
    ends = np.where(every != 0, np.arange(1, d + 1)[:, np.newaxis], 0).max(axis=1, initial=0)
    arrays = [np.ascontiguousarray(each) for each in (centre, ends, placed, shares)]
    given = arrays[0], every, n_roots, rank, *arrays[1:], len(means)
    return _add_scores(call.add_distances, table, given, len(means), out)


DENSITY, LINE, SHARE = 0, 1, 2  # what incomplete rows add


def add_incomplete(
    table: Rows, places: NDArray[np.intp], centre: Floats, placed: Floats, covariances: Floats, out: Floats,
    shares: Floats | None = None, *, what: int = DENSITY,
) -> None:  # fmt: skip
    """Add to out what some rows of a table, by their places, say by the columns that they have.

    With z = L⁻¹(x - centre) and z_k = L⁻¹ placed_k of the part S = L Lᵀ of a covariance that is of these columns:
    the log density -½ |z - z_k|² - ½ log |2πS|, the line -½ |z_k|² + z_k·z, or share_k + z_k·z. One covariance serves
    all classes, or each has its own. Where S is singular, its pseudo-inverse stands in.
    """
    (n_classes, d), n_own = placed.shape, len(covariances)
    check_shape((d,), centre)
    check_shape((n_classes,), shares)
    check_shape((1 if n_own == 1 else n_classes, d, d), covariances)
    check_shape((len(out), d), table)
    check_shape((len(out), n_classes), out)
    given = [np.ascontiguousarray(each) for each in (centre, placed)]
    rest = n_classes, np.ascontiguousarray(covariances), n_own, what, shares
    taken = table.take(places) if len(places) else table
    for start in range(0, len(places), _PIECE):
        own = places[start : start + _PIECE]
        X = taken.rows(start, start + len(own))
        order = np.lexsort(np.packbits(np.isnan(X), axis=1).T)  # those that lack the same columns, one after another
        X, found = np.ascontiguousarray(X[order]), np.zeros((len(X), n_classes))

        def work(lo: int, hi: int, X: Floats = X, found: Floats = found) -> None:
            room = np.empty(d * (2 * d + n_classes + 3) + n_classes), np.empty(2 * d + 1, np.int64)
            call.add_incomplete(X[lo:hi], hi - lo, d, *given, *rest, found[lo:hi], *room)

        over(len(X), work, _FEW_PATTERNS)
        out[own[order]] += found


def _add_scores(
    loop: Callable[..., int], table: Rows, given: tuple[object, ...], distances: int, out: Floats
) -> NDArray[np.intp]:
    n, d = table.shape
    check_shape((d,), given[0])
    check_shape((n, given[-1]), out)  # type: ignore[arg-type]
    missing, sums = np.zeros(n, np.uint8), np.ascontiguousarray(out)

    def work(lo: int, hi: int) -> None:
        room = [np.empty(size * _GROUP) for size in (d, distances)[: 2 if distances else 1]]
        for start, X in blocks(table, lo, hi, _score_step(d)):
            own = slice(start, start + len(X))
            refuse_infinite(table, start, X, loop(X, *X.shape, *given, sums[own], missing[own], *room))

    over(n, work, _ROWS_OF_SCORES)
    if sums is not out:
        out[...] = sums
    return np.flatnonzero(missing)


class Polylines(NamedTuple):
    """Straight lines between knots, level beyond them, of some columns; a slope is that of the line behind a knot."""

    starts: NDArray[np.int64]  # where the knots of each column begin, and where the last ones end
    knots: Floats
    heights: Floats
    slopes: Floats

    @staticmethod
    def of(each: Sequence[tuple[Floats, Floats, Floats]]) -> Polylines:
        """Of columns one after another, by knots, heights and slopes."""
        starts = np.cumsum([0, *(len(knots) for knots, _, _ in each)])
        return Polylines(starts, *(np.concatenate(own) for own in zip(*each)))


def interpolate(X: Floats, columns: NDArray[np.int64], lines: Polylines, out: Floats, to: NDArray[np.int64]) -> None:
    """Write the heights of lines at the numbers of some columns to columns of out; what is missing is 0."""
    (n, d), width, size = X.shape, out.shape[1], len(columns)
    check_shape((n, width), out)
    check_shape((size,), to, lines.starts[1:])
    check_shape((int(lines.starts[-1]),), lines.knots, lines.heights, lines.slopes)
    check_codes(d, columns, 0)
    check_codes(width, to, 0)
    if (lines.starts[1:] <= lines.starts[:-1]).any():
        raise InputError("a column without knots has no lines")
    call.interpolate(X, n, d, columns, to, lines.starts, size, *lines[1:], out, width)


# The bootstrap over rows: a replicate draws as many rows as there are, with replacement, and measures all at once. It
# has a seed of its own, so what it draws depends neither on the threads nor on the replicates beside it. Rows are not
# copied: a replicate is how often each row was drawn, and scores are sorted once for all replicates.

_TOGETHER = 8  # replicates that are measured together


class Draws(NamedTuple):
    """What each replicate measured: sums over the rows that it drew."""

    sums: Floats  # (replicates, columns): Σ w·x of each column of numbers
    bins: Floats  # (replicates, bins): Σ w·gap of the rows in each bin
    classes: Floats  # (3, replicates, classes): Σ w of the rows answered correctly, of the class, and answered so
    roc: Floats  # (replicates, scores): the area under each score's ROC curve, or NaN
    pr: Floats  # its average precision


def draw_replicates(
    n_replicates: int, seed: int, numbers: Floats, gaps: Floats, bins: NDArray[np.int8], n_bins: int, codes: Codes,
    predicted: Codes, n_classes: int, weights: Floats | None, scores: Floats, positives: Codes,
) -> Draws:  # fmt: skip
    """Draw the rows again and again, and measure each time.

    Summed are numbers (rows × columns), and gaps by each row's bin, if there are any. Each row has a true class, and
    the one that was predicted. Scores (scores × rows) rank the rows for the areas, each for its positive class.
    """
    n, n_scores = len(codes), len(scores)
    check_shape((n,), predicted, weights, *((gaps, bins) if len(gaps) else ()))
    check_shape((n, numbers.shape[1]), numbers)
    check_shape((n_scores, n), scores)
    for each, size in ((codes, n_classes), (predicted, n_classes), (positives, n_classes), (bins, n_bins)):
        check_codes(size, each, 0)
    orders = np.argsort(scores, axis=1, kind="stable").astype(np.int32).reshape(n_scores, n)
    marks = np.empty((n_scores, n), np.uint8)
    for s, order in enumerate(orders):
        ranked = scores[s][order]
        last = np.append(ranked[1:] != ranked[:-1], True)[:n]
        marks[s] = last + 2 * (codes[order] == positives[s])  # the last of its score; of the class
    shapes = [(numbers.shape[1],), (n_bins,), (3, n_classes), (n_scores,), (n_scores,)]
    found = Draws(*(np.zeros((*shape[:-1], n_replicates, shape[-1])) for shape in shapes))
    given = (
        n_replicates, n, numbers, numbers.shape[1], gaps if len(gaps) else None, bins, n_bins, codes, predicted,
        n_classes, weights, orders, marks, n_scores, positives,
    )  # fmt: skip

    def work(first: int, last: int) -> None:
        drawn = np.empty((2, n, _TOGETHER), np.int32)
        sums = np.empty((numbers.shape[1] + n_bins + 3 * n_classes + 3, _TOGETHER))
        call.bootstrap(seed, _TOGETHER * first, min(_TOGETHER * last, n_replicates), *given, *found, drawn, sums)

    # A few ranges for each thread, for other work may slow one of them down.
    over(-(-n_replicates // _TOGETHER), work, 1, 4 * threads.width())
    return found
