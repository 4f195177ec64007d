"""Categorical codes: the kernels count and add what plain numpy would."""

import numpy as np
import pytest

from ingenuo.errors import InputError
from ingenuo.kernels.codes import (
    add_log_likelihood_columns,
    add_log_likelihood_matrix,
    tally_columns,
    tally_matrix,
)
from ingenuo.kernels.threads import limited

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda codes: np.repeat(np.repeat(codes, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda codes: np.ascontiguousarray(codes[::-1])[::-1],
}


def draw(n, sizes, n_classes, seed=0):
    """Codes with some missing, labels with some missing."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(-1, size, n) for size in sizes], axis=1) if sizes else np.empty((n, 0), int)
    return codes, rng.integers(-1, n_classes, n)


def counted(codes, labels, n_classes, sizes):
    tables = [np.zeros((n_classes, size), np.int64) for size in sizes]
    for j, table in enumerate(tables):
        known = (codes[:, j] >= 0) & (labels >= 0)
        np.add.at(table, (labels[known], codes[known, j]), 1)
    return tables


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [0, 1, 2, 9001])
def test_a_matrix_is_counted_in_any_layout(layout, n):
    sizes = [3, 1, 12, 40]
    codes, labels = draw(n, sizes, 4)
    same(tally_matrix(LAYOUTS[layout](codes), labels, 4, sizes), counted(codes, labels, 4, sizes))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.uint64, ">i4"])
def test_a_matrix_is_counted_in_any_integer_type(dtype):
    codes, labels = draw(500, [5, 100], 3)
    if np.dtype(dtype).kind == "u":
        codes = np.maximum(codes, 0)
    same(tally_matrix(codes.astype(dtype), labels, 3, [5, 100]), counted(codes, labels, 3, [5, 100]))


def test_booleans_and_read_only_codes_are_counted():
    codes, labels = draw(300, [2], 2)
    flags = codes > 0
    flags.flags.writeable = False
    same(tally_matrix(flags, labels.astype(np.int32), 2, [2]), counted(flags.astype(int), labels, 2, [2]))


def test_columns_of_different_types_are_counted():
    sizes = [3, 100, 1000, 5]
    codes, labels = draw(5000, sizes, 3)
    columns = [codes[:, j].astype(dtype) for j, dtype in enumerate([np.int8, np.int8, np.int64])] + [codes[:, 3]]
    same(tally_columns(columns, labels, 3, sizes), counted(codes, labels, 3, sizes))


@pytest.mark.parametrize("sizes", [[4, 4, 4], [200_000, 3, 200_000], [7], []])
def test_any_number_of_threads_counts_the_same(sizes):
    codes, labels = draw(200_000, sizes, 3)
    expected = counted(codes, labels, 3, sizes)
    for threads in (1, 2, 3):
        with limited(threads):
            same(tally_matrix(codes, labels, 3, sizes), expected)
            same(tally_columns(list(codes.T), labels, 3, sizes), expected)


def test_any_negative_code_is_missing():
    codes = np.array([[-1, -7], [0, np.iinfo(np.int64).min]])
    same(tally_matrix(codes, np.array([0, 0]), 1, [1, 1]), [np.array([[1]]), np.array([[0]])])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_code_beyond_the_categories_is_named(layout):
    codes, labels = draw(1000, [3, 4], 2)
    labels[:] = 0
    codes[700, 1], codes[800, 1] = 4, 9
    with pytest.raises(InputError, match="row 700, column 1 has code 4, but the column has 4 categories"):
        tally_matrix(LAYOUTS[layout](codes), labels, 2, [3, 4])


def test_a_code_beyond_the_categories_is_left_out_with_its_row():
    same(tally_matrix(np.array([[9], [0]]), np.array([-1, 0]), 1, [2]), [np.array([[1, 0]])])


def test_a_label_beyond_the_classes_is_named():
    with pytest.raises(InputError, match="row 1 has class code 2, but there are 2 classes"):
        tally_matrix(np.zeros((2, 1), int), np.array([0, 2]), 2, [1])


def test_lengths_that_do_not_fit_are_refused():
    codes, labels = np.zeros((3, 2), int), np.zeros(3, int)
    with pytest.raises(InputError, match="2 labels for 3 rows"):
        tally_matrix(codes, labels[1:], 1, [1, 1])
    with pytest.raises(InputError, match="1 sizes for 2 columns"):
        tally_matrix(codes, labels, 1, [1])
    with pytest.raises(InputError, match="column 1 has 2 rows where 3 were expected"):
        tally_columns([codes[:, 0], codes[1:, 1]], labels, 1, [1, 1])
    with pytest.raises(InputError, match="column 0 has 3 rows where 4 were expected"):
        add_log_likelihood_matrix(codes, [np.zeros((1, 2))] * 2, np.zeros((4, 2)))
    with pytest.raises(InputError, match="1 tables for 2 columns"):
        add_log_likelihood_matrix(codes, [np.zeros((1, 2))], np.zeros((3, 2)))


def test_codes_that_are_no_integers_are_refused():
    with pytest.raises(InputError, match="float64"):
        tally_matrix(np.zeros((2, 1)), np.array([0, 0]), 1, [1])
    with pytest.raises(InputError, match="below 2"):
        tally_matrix(np.array([[2**63]], np.uint64), np.array([0]), 1, [1])


def added(codes, tables, out):
    out = out.copy()
    for j, table in enumerate(tables):
        known = (codes[:, j] >= 0) & (codes[:, j] < len(table))
        out[known] += table[codes[known, j]]
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 9])
def test_log_likelihoods_are_added_column_by_column(layout, n_classes):
    rng = np.random.default_rng(1)
    sizes = [3, 1, 20]
    codes, _ = draw(5000, [4, 1, 25], 1)
    with np.errstate(divide="ignore"):
        tables = [np.log(rng.integers(0, 5, (size, n_classes)) / 5) for size in sizes]
    start = rng.normal(size=(len(codes), n_classes))
    expected = added(codes, tables, start)
    for threads in (1, 2, 3):
        with limited(threads):
            out = start.copy()
            add_log_likelihood_matrix(LAYOUTS[layout](codes), tables, out)
            np.testing.assert_array_equal(out, expected)
            out = start.copy()
            add_log_likelihood_columns([codes[:, 0].astype(np.int8), codes[:, 1], codes[:, 2]], tables, out)
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("shape", [(0, 2), (3, 0)])
def test_nothing_is_added_where_there_is_nothing(shape):
    out = np.ones((shape[0], 2))
    add_log_likelihood_matrix(np.zeros(shape, int), [np.zeros((1, 2))] * shape[1], out)
    np.testing.assert_array_equal(out, np.ones((shape[0], 2)))
