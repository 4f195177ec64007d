"""Histograms counted in one pass: the same as by rational arithmetic, whatever the values, the cuts and the threads."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import harsh

from ingenuo.errors import InputError
from ingenuo.kernels import threads
from ingenuo.kernels.moments import BINS, LEAST_EXPONENT, histograms, weighted_histograms
from ingenuo.rows.part import Numbers
from ingenuo.tally.exact import Exact

ordinary = settings(deadline=None, max_examples=25)


def place(x: float, exponent: int) -> int:
    """floor(x / 2^exponent), by Python's integers."""
    return math.floor(Fraction(x) / Fraction(2) ** exponent)


def finest(values: list[float]) -> int:
    """The exponent by its definition, tried one after the other."""
    least, most = min(values), max(values)
    exponent = LEAST_EXPONENT
    if top := max(abs(least), abs(most)):
        exponent = max(exponent, math.frexp(top)[1] - 50)
    while place(most, exponent) - place(least, exponent) >= BINS:
        exponent += 1
    return exponent


def table(X: np.ndarray) -> Numbers:
    return Numbers(np.arange(X.shape[1]), len(X), X)


def cells(found) -> dict[tuple[int, int], Fraction]:
    """(class, bin) to count, for the bins in use."""
    limbs = found.counts.limbs if isinstance(found.counts, Exact) else found.counts.values[np.newaxis]
    used = limbs.any(axis=0)
    values = Exact(limbs[:, used], found.counts.low).fractions() if isinstance(found.counts, Exact) else limbs[0][used]
    return {(int(k), int(i) + found.first): Fraction(value) for (k, i), value in zip(np.argwhere(used), values)}


def wanted(x, labels, weights, exponent):
    result: dict[tuple[int, int], Fraction] = {}
    for value, k, w in zip(x, labels, weights):
        if value == value and w:
            at = (int(k), place(value, exponent))
            result[at] = result.get(at, Fraction(0)) + Fraction(w)
    return result


@ordinary
@given(harsh.column_kinds, st.integers(1, 1200), harsh.seeds, st.integers(1, 3))
def test_one_pass_counts_what_the_definition_says(kinds, n, seed, width):
    X = harsh.matrix(kinds, n, seed)
    labels = np.random.default_rng(seed).integers(0, 3, n).astype(np.int32)
    with threads.limited(width):
        (columns,) = histograms(table(X), labels, 3)  # too few rows to be cut
    for found, x in zip(columns, X.T):
        there = x[~np.isnan(x)].tolist()
        if not there:
            assert found is None
            continue
        assert found.exponent == finest(there)
        assert cells(found) == wanted(x, labels, np.ones(n), found.exponent)


@ordinary
@given(harsh.column_kinds, st.integers(1, 200), harsh.seeds)
def test_weights_are_added_exactly(kinds, n, seed):
    X = harsh.matrix(kinds, n, seed)
    rng = np.random.default_rng(seed)
    labels, weights = rng.integers(0, 3, n).astype(np.int32), rng.choice([0.0, 1.0, 0.1, 1e-300, 1e300], n)
    for found, x in zip(weighted_histograms(table(X), labels, weights, 3), X.T):
        there = x[~np.isnan(x) & (weights > 0)].tolist()
        if not there:
            assert found is None
            continue
        assert found.exponent == finest(there)
        assert cells(found) == wanted(x, labels, weights, found.exponent)


def test_the_range_may_grow_from_block_to_block():
    """Ever larger values: the grid coarsens while earlier counts are in it."""
    x = np.concatenate([np.full(600, 1.0), -(2.0 ** np.arange(0, 1020)), np.full(600, 3.0), 2.0 ** np.arange(0, 1020)])
    (found,) = histograms(table(x[:, np.newaxis]), np.zeros(len(x), np.int32), 1)[0]
    assert found.exponent == finest(x.tolist())
    assert cells(found) == wanted(x, np.zeros(len(x)), np.ones(len(x)), found.exponent)


def test_a_tiny_negative_number_is_below_zero_even_where_it_underflows():
    x = np.array([[-5e-324], [1e300], [0.0], [-0.0], [5e-324]])
    (found,) = histograms(table(x), np.zeros(5, np.int32), 1)[0]
    assert cells(found)[0, -1] == 1
    assert cells(found)[0, 0] == 3


def test_many_classes_and_columns_are_counted_group_by_group():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(3000, 7)), rng.integers(0, 2500, 3000).astype(np.int32)
    (columns,) = histograms(table(X), labels, 2500)
    for found, x in zip(columns, X.T):
        assert cells(found) == wanted(x, labels, np.ones(len(x)), found.exponent)


def test_rows_that_need_a_copy_count_the_same():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(5000, 40)).astype(np.float32))
    labels = np.zeros(5000, np.int32)
    for a, b in zip(histograms(table(X), labels, 1)[0], histograms(table(X.astype(float, "C")), labels, 1)[0]):
        assert (a.exponent, a.first) == (b.exponent, b.first)
        assert a.counts == b.counts
        assert isinstance(a.counts, Exact)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinite_value_is_refused_with_its_place(value, weighted):
    X = np.zeros((2000, 3))
    X[1234, 2] = value
    labels = np.zeros(2000, np.int32)
    count = partial(weighted_histograms, weights=np.ones(2000)) if weighted else histograms
    with pytest.raises(InputError, match=r"column 'x2', row 1234: -?inf is infinite; replace it"):
        count(table(X), labels, n_classes=1)
