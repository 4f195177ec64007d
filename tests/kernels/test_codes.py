"""Categorical codes: the kernels count and add what plain numpy would."""

import numpy as np
import pytest

from ingenuo.kernels.codes import (
    add_log_likelihood,
    count_codes,
    tally,
)
from ingenuo.kernels.threads import limited

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i2", ">u8"]


def unaligned(array):
    """The same numbers, one byte off where their type would have them."""
    room = np.zeros(array.nbytes + 1, np.uint8)
    view = room[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda codes: np.repeat(np.repeat(codes, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda codes: np.ascontiguousarray(codes[::-1])[::-1],
    "columns backwards": lambda codes: np.ascontiguousarray(codes[:, ::-1])[:, ::-1],
    "part of wider rows": lambda codes: np.hstack([codes, codes])[:, : codes.shape[1]],
    "unaligned": unaligned,
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
    same(tally(LAYOUTS[layout](codes), labels, 4, sizes), counted(codes, labels, 4, sizes))


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_codes_of_any_integer_type_are_counted_and_added(dtype, layout):
    sizes = [5, 100, 7]
    codes, labels = draw(700, sizes, 3)
    codes[3:6, 1] = 120  # beyond its table; for adding only
    if np.dtype(dtype).kind == "u":
        codes = np.maximum(codes, 0)
    given, known = LAYOUTS[layout](codes.astype(dtype)), np.arange(len(codes)) > 5
    expected = counted(codes[known], labels[known], 3, sizes)
    same(tally(given[6:], labels[6:], 3, sizes), expected)
    same(tally(list(given[6:].T), labels[6:], 3, sizes), expected)
    tables = [np.random.default_rng(j).normal(size=(size, 3)) for j, size in enumerate(sizes)]
    for add, codes_ in ((add_log_likelihood, given), (add_log_likelihood, list(given.T))):
        out = np.zeros((len(codes), 3))
        assert add(codes_, tables, out) == (codes < 0).any()
        np.testing.assert_array_equal(out, added(codes, tables, np.zeros((len(codes), 3))))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_labels_of_any_integer_type_are_counted(dtype):
    codes, labels = draw(300, [4], 3)
    if np.dtype(dtype).kind == "u":
        labels = np.maximum(labels, 0)
    same(tally(codes, unaligned(labels.astype(dtype)), 3, [4]), counted(codes, labels, 3, [4]))
    np.testing.assert_array_equal(count_codes(labels.astype(dtype), 5), np.bincount(labels[labels >= 0], minlength=5))


@pytest.mark.parametrize("m", [1, 2, 15, 16, 17, 33, 511, 512, 513, 1025])
def test_blocks_of_any_shape_are_counted_and_added(m):
    sizes = [1 + j % 4 for j in range(m)]
    edges = {512 // m, 4096 // min(m, 16), 1024}
    for n in sorted({0, 1, 2, 3, *(edge + d for edge in edges if edge for d in (-1, 0, 1))}):
        if n * m > 300_000:
            continue
        codes, labels = draw(n, sizes, 2)
        expected = counted(codes, labels, 2, sizes)
        tables = [np.random.default_rng(j).normal(size=(size, 3)) for j, size in enumerate(sizes)]
        sums = added(codes, tables, np.ones((n, 3)))
        for layout in ("C", "F", "part of wider rows"):
            given = LAYOUTS[layout](codes)
            same(tally(given, labels, 2, sizes), expected)
            out = np.ones((n, 3))
            add_log_likelihood(given, tables, out)
            np.testing.assert_array_equal(out, sums)


def test_booleans_and_read_only_codes_are_counted():
    codes, labels = draw(300, [2], 2)
    flags = codes > 0
    flags.flags.writeable = False
    same(tally(flags, labels.astype(np.int32), 2, [2]), counted(flags.astype(int), labels, 2, [2]))


def test_columns_of_different_types_are_counted():
    sizes = [3, 100, 1000, 5]
    codes, labels = draw(5000, sizes, 3)
    columns = [codes[:, j].astype(dtype) for j, dtype in enumerate([np.int8, np.int8, np.int64])] + [codes[:, 3]]
    same(tally(columns, labels, 3, sizes), counted(codes, labels, 3, sizes))


@pytest.mark.parametrize("sizes", [[4, 4, 4], [200_000, 3, 200_000], [7], []])
def test_any_number_of_threads_counts_the_same(sizes):
    codes, labels = draw(200_000, sizes, 3)
    expected = counted(codes, labels, 3, sizes)
    for threads in (1, 2, 3):
        with limited(threads):
            same(tally(codes, labels, 3, sizes), expected)
            same(tally(list(codes.T), labels, 3, sizes), expected)


def test_any_negative_code_is_missing():
    codes = np.array([[-1, -7], [0, np.iinfo(np.int64).min]])
    same(tally(codes, np.array([0, 0]), 1, [1, 1]), [np.array([[1]]), np.array([[0]])])


def test_a_code_beyond_the_categories_is_left_out_with_its_row():
    same(tally(np.array([[9], [0]]), np.array([-1, 0]), 1, [2]), [np.array([[1, 0]])])


def added(codes, tables, out):
    out = out.copy()
    for j, table in enumerate(tables):
        known = (codes[:, j] >= 0) & (codes[:, j] < len(table))
        out[known] += table[codes[known, j]]
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 6, 7, 8, 9, 17])
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
            add_log_likelihood(LAYOUTS[layout](codes), tables, out)
            np.testing.assert_array_equal(out, expected)
            out = start.copy()
            add_log_likelihood([codes[:, 0].astype(np.int8), codes[:, 1], codes[:, 2]], tables, out)
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("shape", [(0, 2), (3, 0)])
def test_nothing_is_added_where_there_is_nothing(shape):
    out = np.ones((shape[0], 2))
    add_log_likelihood(np.zeros(shape, int), [np.zeros((1, 2))] * shape[1], out)
    np.testing.assert_array_equal(out, np.ones((shape[0], 2)))


@pytest.mark.parametrize("n_classes", [1, 2, 5, 8, 11])
def test_columns_are_added_from_left_to_right_to_what_is_there(n_classes):
    rng = np.random.default_rng(4)
    sizes = [1 + j % 9 for j in range(40)]
    codes, _ = draw(301, [size + 1 for size in sizes], 1)
    tables = [rng.normal(size=(size, n_classes)) * 10.0 ** rng.integers(-8, 8) for size in sizes]
    start = rng.normal(size=(len(codes), n_classes))
    plain = start.copy()
    for i, row in enumerate(codes.tolist()):
        for code, table in zip(row, tables):
            if 0 <= code < len(table):
                for k in range(n_classes):
                    plain[i, k] += table[code, k]
    together, apart, alone = start.copy(), start.copy(), start.copy()
    add_log_likelihood(codes, tables, together)
    for j, table in enumerate(tables):
        add_log_likelihood([codes[:, j]], [table], apart)
    for i in range(len(codes)):
        add_log_likelihood(codes[i : i + 1], tables, alone[i : i + 1])
    for found in (together, apart, alone):
        assert found.tobytes() == plain.tobytes()


@pytest.mark.parametrize("order", ["F", "every other"])
def test_sums_are_added_in_place_however_they_lie(order):
    codes, _ = draw(50, [3, 4], 1)
    tables = [np.random.default_rng(j).normal(size=(size, 2)) for j, size in enumerate([3, 4])]
    out = np.ones((50, 2), order="F") if order == "F" else np.ones((100, 4))[::2, ::2]
    add_log_likelihood(codes, tables, out)
    np.testing.assert_array_equal(out, added(codes, tables, np.ones((50, 2))))
