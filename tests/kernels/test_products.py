"""Sums of products are exact: they are those of fractions, for numbers of any kind, any threads and any order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ingenuo.errors import InputError
from ingenuo.kernels import moments, threads
from ingenuo.rows.part import Numbers

RNG = np.random.default_rng(0)


def table(X):
    return Numbers(np.arange(X.shape[1]), len(X), matrix=X)


def cells(X, weights=None):
    """Σ w x_i x_j for i >= j, in fractions."""
    rows = [[Fraction(float(x)) for x in row] for row in X]
    w = [Fraction(1)] * len(X) if weights is None else [Fraction(float(each)) for each in weights]
    d = X.shape[1]
    return [
        sum((each * row[i] * row[j] for each, row in zip(w, rows)), Fraction(0)) for i in range(d) for j in range(i + 1)
    ]


NUMBERS = {
    "doubles": RNG.normal(size=(700, 3)),
    "whole numbers": RNG.integers(-5, 1000, (600, 3)).astype(float),
    "float32": RNG.normal(size=(600, 3)).astype(np.float32).astype(float),
    "a huge offset": 1e9 + 1e-3 * RNG.normal(size=(300, 3)),
    "numbers that grow": RNG.normal(size=(1500, 2)) * np.linspace(1, 6, 1500)[:, np.newaxis],
    "columns of other scales": RNG.normal(size=(300, 3)) * [1e-12, 1.0, 1e12],
    "all magnitudes": RNG.normal(size=(40, 3)) * np.exp2(RNG.integers(-400, 400, (40, 3))),
    "one enormous": np.vstack([RNG.normal(size=(50, 3)), [[1e30, 0.0, 1.0]]]),
    "denormal": 5e-324 * np.arange(12.0).reshape(4, 3),
    "the largest and the smallest": np.array([[1.7e308, 5e-324, 1.0], [3e-310, -1.7e308, -0.0], [1.0, 2.0, 1e-300]]),
    "zeros": np.zeros((5, 3)),
    "one row": RNG.normal(size=(1, 3)),
    "more columns than a tile has": RNG.normal(size=(6, 100)),
}


@pytest.mark.parametrize("kind", list(NUMBERS))
def test_sums_are_those_of_fractions(kind):
    X = NUMBERS[kind]
    labels = (np.arange(len(X)) % 3).astype(np.int32)
    counts, sums, pooled = moments.products(table(X), labels, 3, pooled=True)
    assert pooled.fractions().tolist() == cells(X)
    assert counts.floats().tolist() == np.bincount(labels, minlength=3).tolist()
    assert sums == moments.moments(table(X), labels, 3)[1]
    again, same, each = moments.products(table(X), labels, 3, pooled=False)
    assert (again, same) == (counts, sums)
    assert [row.tolist() for row in each.fractions()] == [cells(X[labels == k]) for k in range(3)]


@pytest.mark.parametrize("kind", list(NUMBERS))
def test_weighted_products_are_those_of_fractions(kind):
    X = NUMBERS[kind][:60]
    labels = (np.arange(len(X)) % 2).astype(np.int32)
    weights = np.where(np.arange(len(X)) % 3, RNG.uniform(0, 3, len(X)), RNG.integers(0, 5, len(X)))
    weights[-1] = 1e-300
    pooled = moments.products(table(X), labels, 2, weights, pooled=True)[2]
    assert pooled.fractions().tolist() == cells(X, weights)
    each = moments.products(table(X), labels, 2, weights, pooled=False)[2]
    assert [row.tolist() for row in each.fractions()] == [cells(X[labels == k], weights[labels == k]) for k in (0, 1)]


@pytest.mark.parametrize("kind", ["doubles", "one enormous", "the largest and the smallest"])
def test_few_different_weights_give_the_same_as_many(kind):
    X = np.vstack([NUMBERS[kind][:80], RNG.normal(size=(80, 3))])
    labels = (np.arange(len(X)) % 2).astype(np.int32)
    few = np.array([0.0, 1.0, 2.0, 0.1])[np.arange(len(X)) % 4]
    nothing, many = np.zeros((70, 3)), np.arange(1.0, 71.0)  # rows of zeros add nothing, with as many weights
    for pooled in (True, False):
        found = moments.products(table(X), labels, 2, few, pooled=pooled)[2]
        given = table(np.vstack([X, nothing])), np.append(labels, np.zeros(70, np.int32)), 2, np.append(few, many)
        assert found == moments.products(*given, pooled=pooled)[2]
        wanted = [cells(X, few)] if pooled else [cells(X[labels == k], few[labels == k]) for k in (0, 1)]
        assert np.atleast_2d(found.fractions()).tolist() == wanted


def test_order_and_threads_do_not_matter():
    n = 20_003  # several blocks, the last one short
    labels = RNG.integers(0, 4, n).astype(np.int32)
    X = RNG.lognormal(size=(n, 6)) * 2.0 ** np.linspace(0, 300, n)[:, np.newaxis]  # every block has other exponents
    X[::50, 2] = np.nan
    order = RNG.permutation(n)
    for pooled in (True, False):
        found = []
        for width, places in ((1, slice(None)), (3, slice(None)), (2, order)):
            with threads.limited(width):
                found.append(moments.products(table(X[places]), labels[places], 4, pooled=pooled))
        assert found[0] == found[1] == found[2]


def test_numbers_that_all_round_one_way_are_added_in_smaller_blocks():
    """Of a constant column every row has the same slices: their values at five points may be too large for 128 rows."""
    X = np.repeat(np.array([[0.1, 1 / 3, 1e-7 / 3, 1.3e5 / 7, 0.7]]), 300, axis=0)
    assert moments.products(table(X), np.zeros(300, np.int32), 1, pooled=True)[2].fractions().tolist() == [
        300 * cell for cell in cells(X[:1])
    ]


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 12, 13, 17])
@pytest.mark.parametrize("n", [0, 1, 2, 127, 128, 129, 256])
def test_any_number_of_rows_and_columns_will_do(n, d):
    X = RNG.normal(size=(n, d)) * 10.0 ** RNG.integers(-3, 4, d)
    labels = (np.arange(n) % 2).astype(np.int32)
    few = X[:, [0, d - 1]]
    counts, _, found = moments.products(table(X), labels, 2, pooled=True)
    assert counts.floats().tolist() == [(n + 1) // 2, n // 2]
    corners = found.pick(0, np.array([0, d * (d - 1) // 2, d * (d + 1) // 2 - 1]))
    assert corners.fractions().tolist() == cells(few)


def test_blocks_that_need_fewer_slices_may_come_in_any_order():
    whole = RNG.integers(0, 50, (128, 3)).astype(float)
    short = RNG.normal(size=(128, 3)).astype(np.float32).astype(float)
    long = RNG.normal(size=(128, 3))
    outlier = np.vstack([long[:100], [[1e200, 1.0, -1e-200]], long[:27]])
    X = np.vstack([whole, short, whole, long, outlier, whole, short, long, outlier, long])
    labels = np.zeros(len(X), np.int32)
    assert moments.products(table(X), labels, 1, pooled=True)[2].fractions().tolist() == cells(X)
    scaled = X * np.repeat(2.0 ** np.array([0, 40, -40, 300, 0, -300, 0, 80, 5, 0]), 128)[:, np.newaxis]
    assert moments.products(table(scaled), labels, 1, pooled=True)[2].fractions().tolist() == cells(scaled)


@pytest.mark.parametrize("layout", ["by rows", "by columns", "every second", "eight bytes on"])
def test_the_layout_of_the_numbers_does_not_matter(layout):
    X, labels = RNG.normal(size=(400, 5)), np.zeros(400, np.int32)
    given = {
        "by rows": X,
        "by columns": np.asfortranarray(X),
        "every second": np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
        "eight bytes on": np.frombuffer(b"12345678" + X.tobytes(), offset=8).reshape(X.shape),
    }[layout]
    assert moments.products(table(given), labels, 1, pooled=True)[2].fractions().tolist() == cells(X)


def test_a_row_with_a_missing_value_is_left_out():
    X, labels = RNG.normal(size=(2000, 3)), np.zeros(2000, np.int32)
    incomplete = X.copy()
    incomplete[[3, 700, 1999], [0, 1, 2]] = np.nan
    whole = np.delete(X, [3, 700, 1999], axis=0)
    assert moments.products(table(incomplete), labels, 1, pooled=True) == moments.products(
        table(whole), labels[:1997], 1, pooled=True
    )


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_numbers_of_any_type_are_read(dtype):
    X = RNG.integers(0, 100, (5000, 3))
    labels = np.zeros(5000, np.int32)
    _, _, found = moments.products(table(np.asfortranarray(X.astype(dtype))), labels, 1, pooled=True)
    assert found.floats().tolist() == [(X[:, i] * X[:, j]).sum() for i in range(3) for j in range(i + 1)]


def test_the_first_infinite_cell_is_named():
    X, labels = RNG.normal(size=(9000, 3)), np.zeros(9000, np.int32)
    X[8000, 1], X[8500, 0] = -np.inf, np.inf
    for width in (1, 2):
        with threads.limited(width), pytest.raises(InputError, match="column 'x1', row 8000"):
            moments.products(table(X), labels, 1, pooled=True)
