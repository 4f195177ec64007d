"""Harsh inputs for the laws, and the same sums in rational arithmetic, by Python's own integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

LARGEST = float(np.finfo(float).max)
LEAST = 5e-324

#: A double of any size: the edges of the format, ordinary figures, large offsets, float32 values, whole numbers.
finite = st.one_of(
    st.sampled_from([0.0, -0.0, LEAST, -LEAST, LARGEST, -LARGEST, 2.0**-1022, 1e-150, 1e150, 1e30, 0.1, -1 / 3]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e3, 1e3),
    st.floats(-1.0, 1.0).map(lambda x: 1e12 + x),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.integers(-1000, 1000).map(float),
)
number = st.one_of(finite, finite, finite, st.just(float("nan")))
weight = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.1, 1e-300, 1e300, LEAST]),
    st.floats(1e-300, 1e300),
    st.floats(0.0, 10.0),
)
#: Labels that overlap in some draws and are disjoint in others.
label = st.sampled_from(["a", "b", "c", "rare", ""])
category = st.one_of(st.none(), st.sampled_from(["x", "y", "z", "été", " "]))


@st.composite
def rows(draw, least=0, most=12, n_numbers=2):
    """(numbers, category, label, weight) for each of some rows."""
    n = draw(st.integers(least, most))
    return [([draw(number) for _ in range(n_numbers)], draw(category), draw(label), draw(weight)) for _ in range(n)]


COLUMNS = {
    # few bits: plain sums of x and x² fit a double
    "light": lambda rng, n: rng.integers(-2000, 2000, n).astype(float),
    # exactly at the number of bits where one way gives over to the next
    "light edge": lambda rng, n: rng.integers(0, 1 << 22, n).astype(float),
    "beyond light": lambda rng, n: rng.integers(0, 1 << 22, n) * 2.0 + 1,
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32).astype(float),
    "26 bits": lambda rng, n: rng.integers(1 << 25, 1 << 26, n).astype(float),
    "27 bits": lambda rng, n: rng.integers(1 << 26, 1 << 27, n).astype(float),
    "doubles": lambda rng, n: rng.lognormal(0, 2, n) * rng.choice([-1, 1], n),
    "ratio 2^18": lambda rng, n: np.ldexp(1 - 2.0**-53, rng.integers(-20, 1, n)),
    "offset": lambda rng, n: 1e12 + rng.normal(size=n),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-150,
    "huge": lambda rng, n: rng.normal(size=n) * 1e150,
    "everywhere": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-150, 151, n),
    "denormal": lambda rng, n: rng.integers(-5, 6, n) * LEAST,
    "exponent -400": lambda rng, n: rng.uniform(0.5, 1, n) * 2.0 ** rng.integers(-402, -398, n),
    "exponent 450": lambda rng, n: rng.uniform(0.5, 1, n) * 2.0 ** rng.integers(448, 453, n),
    "largest": lambda rng, n: rng.choice([LARGEST, -LARGEST, 1.0, LEAST], n),
    "poisoned": lambda rng, n: np.where(rng.random(n) < 3 / n, 1e30, rng.normal(size=n)),
    "constant": lambda rng, n: np.full(n, 0.1),
    "zeros": lambda rng, n: np.zeros(n),
    "nothing": lambda rng, n: np.full(n, np.nan),
    "everywhere with missing values": lambda rng, n: COLUMNS["everywhere"](rng, n) * rng.choice([1, np.nan], n),
    "missing values": lambda rng, n: np.where(rng.random(n) < 0.5, np.nan, rng.normal(size=n)),
}

column_kinds = st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4)
seeds = st.integers(0, 2**32 - 1)


def matrix(kinds, n, seed):
    """Columns of these kinds, n rows of them."""
    rng = np.random.default_rng(seed)
    return np.column_stack([COLUMNS[kind](rng, n) for kind in kinds]).reshape(n, len(kinds))


_UNIT = 1074  # every double is a multiple of 2^-1074


def units(x: float) -> int:
    """x · 2^1074, a whole number."""
    top, bottom = float(x).as_integer_ratio()
    return top * ((1 << _UNIT) // bottom)


def rational_sums(X, labels, n_classes, weights=None):
    """Σw, Σwx and Σwx² over the values that are there, for each class and column, as arrays of `Fraction`."""
    shape = (n_classes, X.shape[1])
    sums = [np.zeros(shape, object) for _ in range(3)]
    ws = [1 << _UNIT] * len(X) if weights is None else [units(w) for w in weights]
    for row, k, w in zip(X.tolist(), np.asarray(labels).tolist(), ws):
        for j, x in enumerate(row):
            if x == x and w:
                n = units(x)
                sums[0][k, j] += w
                sums[1][k, j] += w * n
                sums[2][k, j] += w * n * n
    return [
        np.array([Fraction(int(v), 1 << _UNIT * (power + 1)) for v in part.flat], object).reshape(shape)
        for power, part in enumerate(sums)
    ]
