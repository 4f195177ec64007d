"""Matrices of counts: the kernels sum, take logarithms and add what plain numpy would."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from ingenuo.errors import InputError
from ingenuo.families.counts import PresenceParameters
from ingenuo.kernels.counts import add_log_likelihood as add_log_likelihood_dense
from ingenuo.kernels.counts import log_counts
from ingenuo.kernels.counts import tally as tally_dense
from ingenuo.kernels.threads import limited
from ingenuo.tally.exact import Exact

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda matrix: np.repeat(np.repeat(matrix, 2, axis=0), 3, axis=1)[::2, ::3],
}


def draw(n=300, m=40, n_classes=4, density=0.3, seed=0):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 9, (n, m)) * (rng.random((n, m)) < density)
    return matrix.astype(float), rng.integers(-1, n_classes, n)


def summed(matrix, labels, n_classes, weights=None, presence=False):
    """Row by row, in doubles or integers as the result is to be."""
    entries = (matrix != 0).astype(float) if presence else matrix
    products = entries if weights is None else weights[:, None] * entries
    table = np.zeros((n_classes, matrix.shape[1]))
    for label, row in zip(labels, products):
        if label >= 0:
            table[label] += row
    whole = (entries == np.floor(entries)).all() and (weights is None or (weights == np.floor(weights)).all())
    return table.astype(np.int64) if whole else table


def csr(matrix, dtype=None, index=np.int32):
    found = sparse.csr_array(matrix)
    data = found.data if dtype is None else found.data.astype(dtype)
    return data, found.indices.astype(index), found.indptr.astype(index)


def tally_csr(data, indices, indptr, labels, n_classes, n_columns, presence=False, weights=None):
    shape = len(indptr) - 1, n_columns
    matrix = SimpleNamespace(data=data, indices=indices, indptr=indptr, shape=shape)
    return tally_dense(matrix, labels, n_classes, weights, presence)


def add_log_likelihood_csr(data, indices, indptr, table, out, presence=False):
    shape = len(indptr) - 1, len(table)
    matrix = SimpleNamespace(data=data, indices=indices, indptr=indptr, shape=shape)
    add_log_likelihood_dense(matrix, table, out, presence)


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("weighting", ["none", "whole", "negative", "fractional"])
@pytest.mark.parametrize("fractional", [False, True])
def test_csr_and_dense_sum_per_class(presence, weighting, fractional):
    matrix, labels = draw()
    matrix *= 0.1 if fractional else 1
    rng = np.random.default_rng(5)
    weights = {
        "none": None,
        "whole": rng.integers(0, 5, len(matrix)).astype(float),
        "negative": rng.integers(-5, 5, len(matrix)).astype(float),
        "fractional": rng.random(len(matrix)),
    }[weighting]
    expected = summed(matrix, labels, 4, weights, presence)
    same(tally_csr(*csr(matrix), labels, 4, matrix.shape[1], presence, weights), expected)
    found = tally_dense(matrix, labels, 4, weights, presence)
    # A dense matrix of doubles with negative weights is summed in doubles throughout.
    same(found, expected.astype(float) if weighting == "negative" else expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.bool_])
def test_csr_and_dense_sum_any_type(dtype):
    matrix, labels = draw()
    matrix = matrix.astype(dtype)
    expected = summed(matrix.astype(float), labels, 4)
    same(tally_csr(*csr(matrix), labels, 4, matrix.shape[1]), expected)
    same(tally_dense(matrix, labels, 4), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, ">f8", ">i2"])
def test_dense_sums_types_that_no_kernel_knows(dtype):
    matrix, labels = draw()
    same(tally_dense(matrix.astype(dtype), labels, 4), summed(matrix, labels, 4))


def test_csr_indices_may_be_wide_and_read_only():
    matrix, labels = draw()
    arrays = csr(matrix, np.int64, np.int64)
    for array in arrays:
        array.flags.writeable = False
    same(tally_csr(*arrays, labels, 4, matrix.shape[1]), summed(matrix, labels, 4))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 0), (700, 300)])
def test_dense_sums_any_layout_and_shape(layout, shape):
    matrix, labels = draw(*shape)
    for scale in (1, 0.1):
        same(tally_dense(LAYOUTS[layout](matrix * scale), labels, 4), summed(matrix * scale, labels, 4))


def test_whole_numbers_too_large_for_integers_are_summed_in_doubles():
    labels = np.zeros(4, int)
    for matrix in (np.full((4, 2), 2.0**61), np.full((4, 2), 2**61)):
        expected = np.full((1, 2), 2.0**63)
        same(tally_dense(matrix, labels, 1), expected)
        same(tally_csr(*csr(matrix), labels, 1, 2), expected)


def test_a_fraction_after_many_whole_rows_is_noticed():
    matrix, labels = draw(40_000, 10)
    matrix[30_000, 5] = 0.3
    with limited(3):
        same(tally_dense(matrix, labels, 4), summed(matrix, labels, 4))


@pytest.mark.parametrize("n_classes", [1, 2, 6])
@pytest.mark.parametrize("fractional", [False, True])
def test_any_number_of_threads_sums_to_the_same_bits(n_classes, fractional):
    # Most rows are of one class, so that whole numbers have it divided among the threads.
    matrix, labels = draw(9000, 100, n_classes, density=0.5)
    labels = np.where(np.arange(len(labels)) % 5 > 0, 0, labels)
    matrix *= 0.1 if fractional else 1
    expected = summed(matrix, labels, n_classes)
    for threads in (1, 2, 3):
        with limited(threads):
            same(tally_csr(*csr(matrix), labels, n_classes, 100), expected)
            same(tally_dense(matrix, labels, n_classes), expected)
            same(tally_dense(np.asfortranarray(matrix), labels, n_classes), expected)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (-1.0, "Negative"),
        (np.nan, "NaN or infinity"),
        (np.inf, "NaN or infinity"),
        (-np.inf, "NaN or infinity"),
    ],
)
def test_an_entry_that_is_no_count_is_named(value, fault):
    matrix, labels = draw()
    matrix[100, 7], matrix[200, 3] = value, value
    message = f"{fault}.*row 100, column 7 is {value};"
    with pytest.raises(InputError, match=message):
        tally_csr(*csr(matrix), labels, 4, matrix.shape[1])
    for layout in LAYOUTS.values():
        with pytest.raises(InputError, match=message):
            tally_dense(layout(matrix), labels, 4)


def test_a_negative_integer_is_named():
    matrix, labels = draw()
    matrix = matrix.astype(np.int64)
    matrix[100, 7] = -3
    with pytest.raises(InputError, match=r"Negative.*row 100, column 7 is -3"):
        tally_csr(*csr(matrix), labels, 4, matrix.shape[1])
    with pytest.raises(InputError, match=r"Negative.*row 100, column 7 is -3"):
        tally_dense(matrix, labels, 4)


def test_presence_admits_negative_entries_and_nothing_else():
    matrix, labels = draw()
    same(tally_dense(-matrix, labels, 4, presence=True), summed(matrix, labels, 4, presence=True))
    same(tally_csr(*csr(-matrix), labels, 4, matrix.shape[1], True), summed(matrix, labels, 4, presence=True))
    matrix[3, 2] = np.nan
    with pytest.raises(InputError, match="row 3, column 2 is nan"):
        tally_dense(matrix, labels, 4, presence=True)
    with pytest.raises(InputError, match="row 3, column 2 is nan"):
        tally_csr(*csr(matrix), labels, 4, matrix.shape[1], True)


def test_stored_zeros_are_not_present():
    found = tally_csr(np.array([0.0, 2.0]), np.array([0, 1]), np.array([0, 2]), np.array([0]), 1, 2, True)
    same(found, np.array([[0, 1]]))


def test_an_empty_sparse_matrix_has_an_empty_tally():
    for shape in [(0, 3), (4, 3), (4, 0)]:
        same(
            tally_csr(*csr(np.zeros(shape)), np.zeros(shape[0], int), 2, shape[1]),
            np.zeros((2, shape[1]), int),
        )


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 9], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 2, 1]), ([0, 1], [0, 1, 3])],
)
def test_a_damaged_sparse_matrix_is_refused(indices, indptr):
    with pytest.raises(InputError, match="damaged"):
        tally_csr(np.ones(2), np.array(indices), np.array(indptr), np.zeros(2, int), 1, 3)


@pytest.mark.parametrize("n_classes", [1, 2, 4, 7, 13])
def test_log_likelihoods_are_the_product_with_the_table(n_classes):
    matrix, _ = draw(8000, 60)
    table = np.log(np.random.default_rng(2).random((60, n_classes)))
    start = np.ones((len(matrix), n_classes))
    sparse_sums, dense_sums = [], []
    for threads in (1, 2, 3):
        with limited(threads):
            sparse_sums.append(start.copy())
            add_log_likelihood_csr(*csr(matrix), table, sparse_sums[-1])
            dense_sums.append(start.copy())
            add_log_likelihood_dense(matrix, table, dense_sums[-1])
    for found in (sparse_sums, dense_sums):
        np.testing.assert_allclose(found[0], 1 + matrix @ table, rtol=1e-12)
        np.testing.assert_array_equal(found[1], found[0])
        np.testing.assert_array_equal(found[2], found[0])


def test_a_table_beyond_the_caches_gives_the_same():
    rng = np.random.default_rng(3)
    matrix = sparse.random_array((50, 30_000), density=0.01, format="csr", rng=rng)
    table = np.log(rng.random((30_000, 10)))
    out = np.zeros((50, 10))
    add_log_likelihood_csr(matrix.data, matrix.indices, matrix.indptr, table, out)
    np.testing.assert_allclose(out, matrix @ table, rtol=1e-12)


def test_what_is_impossible_matters_only_where_it_happened():
    table = np.array([[-1.0, -2.0], [-np.inf, -3.0], [-1.0, -np.inf]])
    matrix = np.array([[1, 0, 0], [0, 2, 0], [0, 1, 3], [0, 0, 0]])
    expected = np.array([[-1.0, -2.0], [-np.inf, -6.0], [-np.inf, -np.inf], [0.0, 0.0]])
    out = np.zeros((4, 2))
    add_log_likelihood_dense(matrix, table, out)
    np.testing.assert_array_equal(out, expected)
    out = np.zeros((4, 2))
    full = (matrix.ravel(), np.tile(np.arange(3), 4), np.arange(0, 13, 3))
    add_log_likelihood_csr(*full, table, out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("columns", [0, 1, 5, 9000])
def test_logarithms_of_smoothed_counts(dtype, each, columns):
    rng = np.random.default_rng(4)
    counts = (rng.integers(0, 4, (9, columns)) ** rng.integers(0, 8, (9, columns))).astype(dtype)
    if dtype == np.float64:
        counts[::2] *= 0.37
    pseudo = rng.random(columns) if each else 0.5
    totals = rng.random(9) + counts.sum(axis=1)
    expected = np.log(counts + pseudo) - np.log(totals)[:, None]
    for threads in (1, 2, 3):
        with limited(threads):
            found = log_counts(counts, pseudo, totals)
            assert found.flags.c_contiguous
            np.testing.assert_allclose(found, expected.T, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("pseudo", [0, np.zeros(2)])
def test_the_logarithm_of_nothing_is_minus_infinity(pseudo):
    np.testing.assert_array_equal(log_counts(np.array([[0, 1]]), pseudo, [1]), [[-np.inf], [0.0]])


def test_many_rare_columns_lose_no_digits_by_being_absent():
    totals, columns = 10**6, 100_000
    rows, pseudo = np.array([float(totals)]), np.full((2, columns), 0.01)
    p = PresenceParameters(np.arange(columns), rows, Exact.counts(np.zeros((1, columns), np.int64)), pseudo)
    # log(rows - count) - log(rows) keeps 8 digits here; adding so many in a fixed order rounds in the 13th.
    np.testing.assert_allclose(p.odds[1][0], columns * np.log1p(-0.01 / (totals + 0.02)), rtol=1e-12)


def test_presence_adds_each_term_once():
    matrix, _ = draw()
    table = np.log(np.random.default_rng(7).random((40, 3)))
    for add in (
        lambda out: add_log_likelihood_csr(*csr(matrix), table, out, presence=True),
        lambda out: add_log_likelihood_dense(matrix, table, out, presence=True),
    ):
        out = np.zeros((300, 3))
        add(out)
        np.testing.assert_allclose(out, (matrix != 0) @ table, rtol=1e-12)


DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"]


def added_by_hand(matrix, table, start, presence=False):
    """Log likelihoods in plain Python: column by column, to what is there."""
    out = start.copy()
    for i in range(len(matrix)):
        for j in range(matrix.shape[1]):
            x = float(matrix[i, j])
            for k in range(table.shape[1]):
                if x != 0:
                    out[i, k] += (1.0 if presence else x) * float(table[j, k])
    return out


@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 8, 15, 16, 17, 18, 19, 21, 37])
def test_dense_and_sparse_add_up_to_the_last_bit_of_a_plain_loop(n_classes, dtype, presence):
    matrix, _ = draw(31, 23, seed=n_classes)
    if dtype.startswith("f"):
        matrix *= 0.3
    matrix = matrix.astype(dtype)
    rng = np.random.default_rng(n_classes)
    table, start = np.log(rng.random((23, n_classes))), rng.normal(size=(31, n_classes))
    table[7, 0] = -np.inf
    expected = added_by_hand(matrix, table, start, presence)
    for index in (np.int32, np.int64):
        found = start.copy()
        add_log_likelihood_csr(
            *csr(matrix.astype("f8"), None if dtype == "f2" else dtype, index), table, found, presence
        )
        np.testing.assert_array_equal(found, expected)
    for layout in LAYOUTS.values():
        found = start.copy()
        add_log_likelihood_dense(layout(matrix), table, found, presence)
        np.testing.assert_array_equal(found, expected)
    one_by_one = start.copy()
    for i in range(len(matrix)):
        add_log_likelihood_dense(matrix[i : i + 1], table, one_by_one[i : i + 1], presence)
    np.testing.assert_array_equal(one_by_one, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_of_every_type_and_layout(dtype, layout):
    matrix, labels = draw(150, 17)
    matrix = matrix.astype(dtype)
    expected = summed(matrix.astype(float), labels, 4)
    same(tally_dense(LAYOUTS[layout](matrix), labels, 4), expected)
    if dtype != "f2":
        same(tally_csr(*csr(matrix.astype("f8"), dtype), labels, 4, 17), expected)


@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (3, 0), (1, 1)])
def test_matrices_without_rows_or_columns(shape):
    matrix, table = np.ones(shape), np.ones((shape[1], 5))
    for add in (
        lambda out: add_log_likelihood_dense(matrix, table, out),
        lambda out: add_log_likelihood_csr(*csr(matrix), table, out),
    ):
        out = np.zeros((shape[0], 5))
        add(out)
        np.testing.assert_array_equal(out, np.full((shape[0], 5), shape[1]))
    same(tally_dense(matrix, np.zeros(shape[0], int), 2), np.array([[shape[0]], [0]]) * np.ones(shape[1], np.int64))


def test_arrays_may_begin_anywhere():
    """Eight bytes beyond a multiple of 16, and of 32."""
    matrix, labels = draw(50, 9)
    moved = np.frombuffer(b"12345678" + matrix.tobytes(), offset=8).reshape(matrix.shape)
    same(tally_dense(moved, labels, 4), summed(matrix, labels, 4))
    table, found, expected = np.log(np.random.default_rng(1).random((9, 6))), np.zeros((50, 6)), np.zeros((50, 6))
    add_log_likelihood_dense(moved, np.frombuffer(b"12345678" + table.tobytes(), offset=8).reshape(9, 6), found)
    np.testing.assert_array_equal(found, added_by_hand(matrix, table, expected))
