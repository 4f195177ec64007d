"""Numbers: the mean and the variance of a class without one of its values, from exact sums about a centre."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.chunk import Chunk, Numbers
from ingenuo.exact import Exact
from ingenuo.families.family import Floats
from ingenuo.families.gaussian import COUNT, SQUARE, SUM, Gaussian, spread
from ingenuo.families.left_out.by_row import one_by_one
from ingenuo.kernels import left_out as loops
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Table, Tally

# Squares of numbers beyond these, and what is left of them, would leave the doubles.
_SMALL, _LARGE = 1e-100, 1e100


def scores(
    family: Gaussian, tally: Tally, prior: Prior, schema: Schema, classes: Labels, chunk: Chunk, block: Numbers, *,
    apart: bool,
) -> Floats:  # fmt: skip
    """Log densities without the row itself: of all columns together, or apart (1 or columns × rows × classes)."""
    columns = block.names
    sums = _sums(tally, columns, classes)
    parameters = family.estimate(tally, prior, schema, columns, classes)
    _, _, own, overall, exponents = spread(tally, columns, classes, unbiased=family.unbiased)
    with np.errstate(over="ignore", under="ignore"):
        variances = np.ldexp(np.vstack([own, overall]), 2 * exponents)
    state = np.select(
        [parameters.counts == 0, (own == 0) & (parameters.counts <= 1), own < 2 * prior.floor * overall, own == 0],
        [loops.NOTHING, loops.COLUMN, loops.FLOOR, loops.FLOOR],
        loops.OWN,
    ).astype(np.int64)
    inverse = 1 / parameters.deviations
    constants = np.log(inverse) - loops.HALF_LOG_2PI
    others = loops.Others(parameters.means, inverse, constants, variances, state)
    far = ~((np.abs(sums.centres).max(axis=0) < _LARGE) & (variances.max(axis=0) < _LARGE))
    far |= (overall > 0) & ~(variances[-1] > _SMALL)
    out = np.zeros((len(columns) if apart else 1, block.n_rows, len(classes)))
    doubtful = loops.left_out(block, chunk.coded, chunk.weights, sums, others, prior.floor, family.unbiased, out)
    anew = np.zeros(block.n_rows, np.bool_)
    for j in np.flatnonzero(doubtful.any(axis=0) | far).tolist():
        x = block.column(j)
        rows = np.flatnonzero(~np.isnan(x)) if far[j] else np.flatnonzero(doubtful[:, j])
        if not apart:  # what was added for this column cannot be told from the others'
            anew[rows] = True
            continue
        single = Numbers(columns[j : j + 1], block.n_rows, x[:, np.newaxis])
        column = restricted(tally, single.names, classes)
        out[j, rows] = one_by_one(family, column, prior, schema, single, classes, chunk, rows)
    if anew.any():
        rows = np.flatnonzero(anew)
        out[0, rows] = one_by_one(
            family, restricted(tally, columns, classes), prior, schema, block, classes, chunk, rows
        )
    return out


def _sums(tally: Tally, columns: Labels, classes: Labels) -> loops.Sums:
    """The sums about centres near the means, of each class and of all of them."""
    n, s, q = (_whole(tally, name, columns, classes) for name in (COUNT, SUM, SQUARE))
    shape = n.shape
    centres, counts = np.zeros(shape), np.zeros(shape)
    first, second = np.zeros((*shape, 2)), np.zeros((*shape, 2))
    for cell in np.ndindex(shape):
        if n[cell] == 0:
            continue
        c = _float(s[cell] / n[cell])
        centre = Fraction(c) if np.isfinite(c) else Fraction(0)
        centres[cell], counts[cell] = float(centre), _float(n[cell])
        first[cell] = _pair(s[cell] - n[cell] * centre)
        second[cell] = _pair(q[cell] - 2 * centre * s[cell] + n[cell] * centre * centre)
    return loops.Sums(centres, counts, first, second)


def _whole(tally: Tally, name: str, columns: Labels, classes: Labels) -> NDArray[Any]:
    """The sums of each class, and in a last row of all of them, as fractions."""
    sums = tally.over(name, classes, columns)
    assert isinstance(sums, Exact)
    found = sums.fractions()
    return np.vstack([found, found.sum(axis=0)[np.newaxis]])


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _pair(value: Any) -> tuple[float, float]:
    high = _float(value)
    return (high, float(value - Fraction(high))) if np.isfinite(high) else (high, 0.0)


def restricted(tally: Tally, columns: Labels, classes: Labels) -> Tally:
    """The sums of some columns only, with the classes' rows."""
    axes = {"class": classes, "column": columns}
    found = {
        name: Table.of(axes, tally.over(name, classes, columns), signed=name == SUM) for name in (COUNT, SUM, SQUARE)
    }
    return Tally({"class": tally["class"], **found})
