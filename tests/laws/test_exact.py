"""Exact sums: an array of them is a group under addition, and equals rational arithmetic to the last bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import harsh

from ingenuo.errors import InputError
from ingenuo.kernels import moments, threads
from ingenuo.rows.part import Numbers
from ingenuo.tally.exact import LIMB, Exact, Real

ordinary = settings(deadline=None, max_examples=60)
long = settings(deadline=None, max_examples=30)

cells = st.lists(harsh.finite, min_size=3, max_size=3)


def fractions_of(values):
    return [Fraction(v) for v in values]


def is_canonical(exact):
    """One form for a value: limbs within their range, none of the outer ones all zero."""
    half = 1 << (LIMB - 1)
    inside = exact.limbs.size == 0 or (-half <= exact.limbs.min() and exact.limbs.max() < half)
    trimmed = len(exact.limbs) == 0 or (exact.limbs[0].any() and exact.limbs[-1].any())
    return inside and trimmed and (len(exact.limbs) > 0 or exact.low == 0)


@ordinary
@given(cells)
def test_a_sum_of_one_double_is_that_double(values):
    exact = Exact.of(values)
    assert exact.fractions().tolist() == fractions_of(values)
    assert exact.floats().tolist() == values
    assert is_canonical(exact)


@ordinary
@given(cells, cells)
def test_addition_and_subtraction_are_those_of_rational_numbers(a, b):
    total, rest = Exact.of(a) + Exact.of(b), Exact.of(a) - Exact.of(b)
    assert total.fractions().tolist() == [x + y for x, y in zip(fractions_of(a), fractions_of(b))]
    assert rest.fractions().tolist() == [x - y for x, y in zip(fractions_of(a), fractions_of(b))]
    assert is_canonical(total)
    assert is_canonical(rest)


@ordinary
@given(cells, cells, cells)
def test_exact_arrays_are_a_commutative_group(a, b, c):
    a, b, c = Exact.of(a), Exact.of(b), Exact.of(c)
    nothing = Exact.zeros((3,))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + nothing == a
    assert (a + b) - b == a
    assert a - a == nothing


@ordinary
@given(cells, cells)
def test_equality_is_equality_of_every_value(a, b):
    assert (Exact.of(a) == Exact.of(b)) == (fractions_of(a) == fractions_of(b))


def test_the_smallest_difference_makes_two_sums_unequal():
    a = Exact.of([1e300, 0.0])
    assert a + Exact.of([5e-324, 0.0]) != a
    assert (a + Exact.of([5e-324, 0.0])).floats().tolist() == a.floats().tolist()


@ordinary
@given(cells, st.one_of(harsh.finite.map(abs), st.integers(0, 1 << 70)))
def test_scaling_is_exact_multiplication(values, factor):
    assert Exact.of(values).scale(factor).fractions().tolist() == [Fraction(v) * Fraction(factor) for v in values]


def test_scaling_by_a_third_is_refused_because_the_result_would_not_be_exact():
    with pytest.raises(InputError, match=r"scaled by 1/3.*power of two"):
        Exact.of([3]).scale(Fraction(1, 3))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4))
@ordinary
def test_counts_of_any_size_are_kept_whole(values):
    assert Exact.counts(np.array(values, np.int64)).fractions().tolist() == values


@ordinary
@given(cells)
def test_signs_are_the_signs_of_the_values(values):
    assert Exact.of(values).signs().tolist() == [int(np.sign(v)) for v in values]


def test_a_sum_beyond_the_doubles_is_infinite_as_a_double_and_still_exact():
    double = Exact.of([harsh.LARGEST]) + Exact.of([harsh.LARGEST])
    assert double.floats().tolist() == [math.inf]
    assert (double - Exact.of([harsh.LARGEST])).floats().tolist() == [harsh.LARGEST]


def test_picking_puts_zeros_where_there_is_nothing():
    exact = Exact.of([[1.5, 2.5], [3.5, 4.5]])
    assert exact.pick(1, np.array([1, -1, 0])).floats().tolist() == [[2.5, 0, 1.5], [4.5, 0, 3.5]]
    assert exact.pick(0, np.array([1])).floats().tolist() == [[3.5, 4.5]]
    assert Exact.zeros((0, 2)).pick(0, np.array([-1, -1])) == Exact.zeros((2, 2))
    assert is_canonical(Exact.of([1e300, 1.0]).pick(0, np.array([1])))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 3)])
def test_arrays_without_any_cell_add_like_others(shape):
    nothing = Exact.zeros(shape)
    assert nothing + nothing == nothing
    assert nothing - nothing == nothing
    assert nothing.floats().shape == shape
    assert nothing.fractions().shape == shape


def test_the_limbs_of_a_sum_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        Exact.of([1.0]).limbs[0] = 7


def test_sums_in_doubles_subtract_to_nothing_within_their_tolerance():
    parts = np.array([0.1, 0.2, 0.3])
    total = Real(parts) + Real(parts * 3)
    assert (total - Real(parts) - Real(parts * 3)).floats().tolist() == [0, 0, 0]
    assert (total - Real(parts)).floats() == pytest.approx(parts * 3, rel=1e-15)
    assert total.scale(2).floats() == pytest.approx(parts * 8, rel=1e-15)
    assert Real(np.array([1.0, 0.0])).used(0).tolist() == [True, False]
    assert Real(np.array([1.0, -2.0])).pick(0, np.array([-1, 1])).floats().tolist() == [0.0, -2.0]


# The loops that sum columns: every way of adding must give what rational arithmetic gives.

sizes = st.sampled_from([1, 3, 4, 5, 511, 512, 513, 516, 1025])
class_counts = st.sampled_from([1, 2, 5, 40])


def coded(n, n_classes, seed):
    return np.random.default_rng(seed + 1).integers(0, n_classes, n).astype(np.int32)


@long
@given(harsh.column_kinds, sizes, class_counts, harsh.seeds)
def test_sums_of_columns_equal_rational_arithmetic(kinds, n, n_classes, seed):
    X, labels = harsh.matrix(kinds, n, seed), coded(n, n_classes, seed)
    missing, sums, squares = moments.moments(Numbers(np.arange(len(kinds)), n, matrix=X), labels, n_classes)
    counts, first, second = harsh.rational_sums(X, labels, n_classes)
    there = np.bincount(labels, minlength=n_classes)[:, np.newaxis] - missing
    assert there.tolist() == counts.tolist()
    assert sums.fractions().tolist() == first.tolist()
    assert squares.fractions().tolist() == second.tolist()


@pytest.mark.parametrize("kind", sorted(harsh.COLUMNS))
def test_every_kind_of_column_is_summed_exactly_alone(kind):
    X, labels = harsh.matrix([kind], 1030, 5), coded(1030, 3, 5)
    _, sums, squares = moments.moments(Numbers(np.arange(1), 1030, matrix=X), labels, 3)
    _, first, second = harsh.rational_sums(X, labels, 3)
    assert sums.fractions().tolist() == first.tolist()
    assert squares.fractions().tolist() == second.tolist()


@long
@given(
    harsh.column_kinds,
    st.sampled_from([1, 5, 600]),
    class_counts,
    harsh.seeds,
    st.lists(harsh.weight, min_size=1),
)
def test_weighted_sums_of_columns_equal_rational_arithmetic(kinds, n, n_classes, seed, some):
    X, labels = harsh.matrix(kinds, n, seed), coded(n, n_classes, seed)
    weights = np.resize(np.array(some), n)
    sums = moments.weighted_moments(Numbers(np.arange(len(kinds)), n, matrix=X), labels, weights, n_classes)
    for found, wanted in zip(sums, harsh.rational_sums(X, labels, n_classes, weights)):
        assert found.fractions().tolist() == wanted.tolist()


@long
@given(st.lists(st.tuples(harsh.weight, st.integers(-1, 3)), max_size=30))
def test_weights_are_summed_exactly_on_each_cell(pairs):
    weights = np.array([w for w, _ in pairs], float)
    places = np.array([c for _, c in pairs], np.int64)
    wanted = [sum((Fraction(w) for w, c in pairs if c == cell), Fraction(0)) for cell in range(4)]
    assert moments.weights_by_cell(weights, places, 4).fractions().tolist() == wanted


def test_values_of_every_size_in_blocks_that_widen_the_sums_one_after_another():
    """Each block of 512 reaches beyond the last: up, then down, then both."""
    sizes = [1.0, 1e100, 1e-100, 1e-300, 1e300, harsh.LEAST, harsh.LARGEST]
    X = np.concatenate([np.random.default_rng(i).choice([size, -size], 512) for i, size in enumerate(sizes)])
    X = X[:, np.newaxis]
    labels = coded(len(X), 2, 0)
    _, sums, squares = moments.moments(Numbers(np.arange(1), len(X), matrix=X), labels, 2)
    _, first, second = harsh.rational_sums(X, labels, 2)
    assert sums.fractions().tolist() == first.tolist()
    assert squares.fractions().tolist() == second.tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_change_a_sum(weighted):
    n = 20_000  # more than two ranges of 4,096 rows
    X, labels = harsh.matrix(["everywhere", "doubles", "missing values", "light"], n, 3), coded(n, 5, 3)
    table, weights = Numbers(np.arange(4), n, matrix=X), np.random.default_rng(0).random(n)

    def sums(width):
        with threads.limited(width):
            if weighted:
                return moments.weighted_moments(table, labels, weights, 5)
            missing, *rest = moments.moments(table, labels, 5)
            return [Exact.counts(missing), *rest]

    alone = sums(1)
    for width in (2, 3, 7):
        assert all(a == b for a, b in zip(alone, sums(width)))


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray, lambda X: X[::-1][::-1]])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, np.uint8, np.bool_])
def test_the_layout_and_type_of_the_input_do_not_change_a_sum(make, dtype):
    values = np.random.default_rng(1).integers(0, 2 if dtype is np.bool_ else 100, (1500, 3)).astype(dtype)
    labels = coded(1500, 2, 1)
    _, sums, squares = moments.moments(Numbers(np.arange(3), 1500, matrix=make(values)), labels, 2)
    as_integers = values.astype(np.int64)
    for k in range(2):
        assert sums.floats()[k].tolist() == as_integers[labels == k].sum(axis=0).tolist()
        assert squares.floats()[k].tolist() == (as_integers[labels == k] ** 2).sum(axis=0).tolist()


@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("at", [0, 511, 512, 9000])
def test_an_infinite_value_is_refused_and_its_place_named(value, weighted, at):
    X = np.ones((9001, 2))
    X[at, 1] = value
    X[0, 0] = math.nan
    table = Numbers(np.array(["age", "income"], object), len(X), matrix=X)
    labels = np.zeros(len(X), np.int32)
    weights = (np.ones(len(X)),) if weighted else ()
    sum_up = moments.weighted_moments if weighted else moments.moments
    with pytest.raises(InputError, match=rf"column 'income', row {at}: {value!r} is infinite"):
        sum_up(table, labels, *weights, 1)
