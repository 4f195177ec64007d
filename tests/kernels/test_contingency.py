"""Contingency tables: the kernels count what plain numpy would, and their scores are those of the tables."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from ingenuo.errors import InputError
from ingenuo.kernels import codes as networks
from ingenuo.kernels.codes import codes_matrix, configurations, data_terms, each_pair
from ingenuo.kernels.threads import limited


def pairs_by_class(columns, cards, labels, n_classes, weights=None):
    return each_pair(codes_matrix(columns, cards), cards, labels, n_classes, weights, np.ascontiguousarray)


def draw(n, cards, seed=0, lowest=-1):
    rng = np.random.default_rng(seed)
    return [rng.integers(lowest, card, n) for card in cards]


def pair(a, b, labels, shape, weights=None):
    known = (a >= 0) & (b >= 0) & (labels >= 0)
    table = np.zeros(shape, np.int64 if weights is None else float)
    np.add.at(table, (labels[known], a[known], b[known]), 1 if weights is None else weights[known])
    return table


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [0, 1, 7, 4095, 4096, 4097, 40_000])
def test_pairs_are_counted_within_each_class(n, threads):
    cards = [2, 5, 3, 1, 4, 7, 2]
    columns, labels = draw(n, cards), np.random.default_rng(1).integers(-1, 3, n)
    with limited(threads):
        found = pairs_by_class(columns, cards, labels, 3)
    assert sorted(found) == [(i, j) for i in range(7) for j in range(i + 1, 7)]
    for (i, j), table in found.items():
        assert table.dtype == np.int64
        np.testing.assert_array_equal(table, pair(columns[i], columns[j], labels, (3, cards[i], cards[j])))


def test_weighted_pairs_add_the_weights():
    cards = [2, 3, 4]
    columns, labels = draw(500, cards), np.zeros(500, int)
    weights = np.random.default_rng(2).random(500)
    for (i, j), table in pairs_by_class(columns, cards, labels, 1, weights).items():
        np.testing.assert_allclose(table, pair(columns[i], columns[j], labels, (1, cards[i], cards[j]), weights))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, ">i4"])
def test_columns_of_any_type_and_layout_are_counted(dtype):
    cards = [2, 3, 4]
    columns = draw(500, cards, lowest=0)
    labels = np.random.default_rng(1).integers(0, 2, 500)
    expected = pairs_by_class(columns, cards, labels, 2)
    matrix = np.array(columns).astype(dtype)
    for given in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2], list(matrix)):
        for key, table in pairs_by_class(given, cards, labels.astype(dtype)[::1], 2).items():
            np.testing.assert_array_equal(table, expected[key])


def test_tables_too_large_to_be_counted_together_are_counted_one_by_one(monkeypatch):
    cards = [3, 4, 2, 5, 3]
    columns, labels = draw(300, cards), np.zeros(300, int)
    whole = pairs_by_class(columns, cards, labels, 1)
    monkeypatch.setattr(networks, "_CELLS_AT_ONCE", 1)
    for key, table in pairs_by_class(columns, cards, labels, 1).items():
        np.testing.assert_array_equal(table, whole[key])


def test_pairs_that_no_memory_holds_are_refused():
    column = np.zeros(3, np.int32)
    with pytest.raises(InputError, match="too many for a table"):
        pairs_by_class([column, column], [1 << 20, 1 << 20], np.zeros(3, int), 2)


def test_a_matrix_of_codes_is_not_copied_nor_changed():
    matrix = np.array([[0, -3], [1, 1]], np.int32)
    assert codes_matrix(matrix, [2, 2]).tolist() == [[0, -1], [1, 1]]
    assert matrix[0, 1] == -3
    good = np.array([[0, -1]], np.int32)
    assert codes_matrix(good, [1]) is good


@pytest.mark.parametrize("map_up_to", [1 << 22, 1])
def test_configurations_are_numbered_without_gaps(monkeypatch, map_up_to):
    monkeypatch.setattr(networks, "_MAP_UP_TO", map_up_to)
    cards = [3, 50, 4]
    columns = codes_matrix(draw(400, cards), cards)
    found, n = np.zeros(400, np.int64), 1
    for column, card in zip(columns, cards):
        found, n = configurations(found, n, column, card)
    complete = (columns >= 0).all(axis=0)
    assert ((found >= 0) == complete).all()
    assert sorted(set(found[complete])) == list(range(n))
    # Two rows have the same number exactly when they have the same values.
    rows = {tuple(values): number for values, number in zip(columns.T[complete], found[complete])}
    assert len(rows) == n
    assert all(rows[tuple(values)] == number for values, number in zip(columns.T[complete], found[complete]))


@pytest.mark.parametrize("prior", [0.0, 1.0, 1e-4, 7.5])
def test_data_terms_are_those_of_the_counts(prior):
    cards = [3, 4, 2, 5, 3, 2]
    columns = codes_matrix(draw(2000, cards), cards)
    weights = np.random.default_rng(3).random(2000) * 4
    above, n_above = configurations(np.zeros(2000, np.int64), 1, columns[5], 2)
    extra = [1, 2, 3, 4]
    terms, counted = data_terms(above, n_above, columns, 0, 3, extra, [cards[k] for k in extra], [prior] * 4, weights)
    for k, term, weight in zip(extra, terms, counted):
        known = (columns[[0, 5, k]] >= 0).all(axis=0)
        table = np.zeros((2, cards[k], 3))
        np.add.at(table, (columns[5][known], columns[k][known], columns[0][known]), weights[known])
        if prior:
            cells = gammaln(prior + table) - gammaln(prior)
            groups = gammaln(3 * prior + table.sum(axis=2)) - gammaln(3 * prior)
        else:
            cells = table * np.log(np.where(table > 0, table, 1))
            groups = table.sum(axis=2) * np.log(np.where(table.sum(axis=2) > 0, table.sum(axis=2), 1))
        assert term == pytest.approx(cells.sum() - groups.sum(), rel=1e-12)
        assert weight == pytest.approx(weights[known].sum())


def test_the_logarithm_of_gamma_is_right_to_the_last_places():
    codes = np.zeros((2, 1), np.int32)
    for alpha in [1e-8, 1e-3, 0.3, 0.999, 1.5, 2.5, 9.99, 10.0, 123.4, 1e5, 1e12]:
        for count in [1e-8, 0.7, 3.0, 1e6]:
            # Two states, all the weight in the first: log Γ(α + N) - log Γ(α) - log Γ(2α + N) + log Γ(2α).
            parts = [math.lgamma(x) for x in (alpha + count, alpha, 2 * alpha + count, 2 * alpha)]
            weights = np.array([count])
            (term,), _ = data_terms(np.zeros(1, np.int64), 1, codes, 0, 2, [1], [1], [alpha], weights)
            expected, size = parts[0] - parts[1] - parts[2] + parts[3], 1 + sum(map(abs, parts))
            assert term == pytest.approx(expected, abs=2e-15 * size)
