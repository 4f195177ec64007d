"""exp, log and log1p: right to the last digit but one, and the same bits everywhere."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from ingenuo.kernels import portable

#: Numbers of every size, made without a random generator: the digests below are for all machines.
GRID = np.arange(-40_000, 40_000) * 0.0187
SIZES = np.ldexp(1 + (np.arange(64_000) % 997) / 997, np.arange(64_000) % 2098 - 1074)


def ulps(found, exact):
    """How far the figures are from the exact ones, in units of the last place."""
    with np.errstate(over="ignore", invalid="ignore"):
        last = np.spacing(np.abs(exact.astype(np.float64)))
        return np.where(found == exact, 0, np.abs(found - exact) / last).max()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no wider floats to compare with on this machine")
def test_they_are_right_to_less_than_a_unit_in_the_last_place():
    wide = np.longdouble
    x = GRID[(GRID < 709) & (GRID > -708)]
    assert ulps(portable.exp(x), np.exp(x.astype(wide))) < 1
    assert ulps(portable.log(SIZES), np.log(SIZES.astype(wide))) < 1
    near = np.concatenate([SIZES[SIZES < 1e300], -SIZES[SIZES < 0.99], GRID[GRID > -1]])
    assert ulps(portable.log1p(near), np.log1p(near.astype(wide))) < 1


def test_their_bits_are_the_same_everywhere():
    found = {name: _digest(getattr(portable, name)(x)) for name, x in (("exp", GRID), ("log", SIZES), ("log1p", SIZES))}
    assert found == {"exp": "a6b368ae4dc7c03e", "log": "e6518db84ad406fc", "log1p": "94b52cbc28cf2906"}


def _digest(values):
    return hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()[:16]


def test_the_edges():
    inf, nan = np.inf, np.nan
    with np.errstate(all="raise"):
        assert portable.exp(np.array([0.0, -0.0, inf, -inf, 710.0, -746.0])).tolist() == [1, 1, inf, 0, inf, 0]
        assert portable.exp(-745.1) == 5e-324
        assert portable.log(np.array([1.0, 0.0, -0.0, inf])).tolist() == [0, -inf, -inf, inf]
        assert portable.log(5e-324) == pytest.approx(-744.4400719213812, abs=0)
        assert portable.log1p(np.array([0.0, -1.0, inf, 1e-300])).tolist() == [0, -inf, inf, 1e-300]
        for function, x in ((portable.exp, nan), (portable.log, nan), (portable.log, -1.0), (portable.log1p, -1.5)):
            assert np.isnan(function(x))


def test_the_shape_stays():
    assert portable.exp(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert portable.log(np.ones((3, 4)).T).shape == (4, 3)
    assert type(portable.log(2)) is float
    strided = np.arange(1.0, 21.0)[::2]
    assert portable.log(strided).tolist() == [portable.log(x) for x in strided.tolist()]
