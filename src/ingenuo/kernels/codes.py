"""Categorical codes: how often each category meets each class, and what the categories say of a row.

A code is a small integer, its category's place; below zero means missing. Codes come as a matrix
(rows × columns) or as separate columns, whose integer types may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.native import ANY, F64, I64, INT, TYPES, U32, U64, function
from ingenuo.kernels.threads import run, split, width

Codes = NDArray[Any]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

# A thread is worth its start (some 30 µs) from about this many codes.
_CODES_PER_THREAD = 1 << 16
# Tables are counted in 32 bits, in so many rows at a time at most.
_ROWS_AT_ONCE = 1 << 31
# Small tables are kept in this many copies, used in turn, while they fit the first-level cache: else a frequent cell
# waits for its own last store (4 to 5 cycles) at almost every row.
_LANES = 4
_LANES_UP_TO = 512
_WIDTH = 8  # numbers that the loop may read from the start of any row of a table

NUMBERED_UP_TO = 1 << 16  # codes up to here serve as their own labels, without a dictionary

_tally_codes = function("tally_codes", U64, I64, I64, U32, U32, INT, INT, INT, ANY, INT, INT, INT, INT, U32)
_add_codes = function("add_codes", U64, I64, I64, U32, U32, INT, INT, INT, F64, INT, F64, returns=INT)


class CodeBeyond(InputError):
    """A code that is larger than its column's categories are many."""


class _Columns(NamedTuple):
    """Columns as the loops read them, where they lie; whoever holds this holds the arrays too."""

    addresses: NDArray[np.uint64]
    types: Counts
    strides: Counts
    n_rows: int
    rowwise: bool  # of a matrix whose rows lie in one piece each

    @classmethod
    def of_matrix(cls, codes: Codes) -> _Columns:
        n, m = codes.shape
        start, (down, along) = codes.__array_interface__["data"][0], codes.strides
        addresses = (start + along * np.arange(m)).astype(np.uint64)
        each = np.ones(m, np.int64)
        return cls(addresses, TYPES[codes.dtype] * each, down * each, n, along == codes.itemsize and m > 1)

    @classmethod
    def of_list(cls, columns: Sequence[Codes], n: int) -> _Columns:
        addresses = [column.__array_interface__["data"][0] for column in columns]
        types, strides = [TYPES[column.dtype] for column in columns], [column.strides[0] for column in columns]
        return cls(np.array(addresses, np.uint64), np.array(types, np.int64), np.array(strides, np.int64), n, False)

    def part(self, rows: tuple[int, int], columns: tuple[int, int]) -> _Columns:
        """Some of the rows and columns."""
        (lo, hi), cut = rows, slice(*columns)
        addresses = (self.addresses[cut].view(np.int64) + lo * self.strides[cut]).view(np.uint64)
        return _Columns(addresses, self.types[cut], self.strides[cut], hi - lo, self.rowwise)


def _slots(sizes: Sequence[int]) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
    """Each column's first slot and its last from there, one slot more at either end than categories; and the sum."""
    tops = np.array(sizes, np.int64) + 1
    ends = np.cumsum(tops + 1)
    total = int(ends[-1]) if len(ends) else 0
    if total >= 1 << 32:
        raise MemoryError(f"{total:,} categories in all are too many to be counted together")
    return (ends - tops - 1).astype(np.uint32), tops.astype(np.uint32), total


def tally_matrix(codes: Codes, labels: Codes, n_classes: int, sizes: Sequence[int]) -> list[Counts]:
    """Count, for each column, the rows of each class and category.

    Parameters
    ----------
    codes
        Rows × columns, any integer type and layout; below zero is missing and not counted.
    labels
        The class of each row, 0..n_classes - 1; a row with a label below zero is left out.
    n_classes
        The number of classes.
    sizes
        The number of categories of each column.

    Returns
    -------
    list of arrays
        One per column, n_classes × size.

    >>> tally_matrix(np.array([[0, 1], [0, -1], [1, 1]]), np.array([0, 0, 1]), 2, [2, 2])[1]
    array([[0, 1],
           [0, 1]])
    """
    codes = _integers(codes)
    return _tally(_Columns.of_matrix(codes), codes.T, labels, n_classes, sizes)


def tally_numbered(codes: Codes, labels: Codes, n_classes: int) -> tuple[list[Counts], bool] | None:
    """Count a matrix whose codes are their own labels, 0 to whatever they go, in one pass.

    The sizes are guessed from some of the rows and, if a code lies beyond, found by looking at all. Returns the
    counts and whether there are codes below zero; None where the codes go too far to be their own labels.

    >>> counts, negative = tally_numbered(np.array([[0], [2]]), np.array([0, 0]), 1)
    >>> counts[0], negative
    (array([[1, 0, 1]]), False)
    """
    codes = _integers(codes)
    n, m = codes.shape
    tops = codes[:: max(1, n // 2048)].max(axis=0, initial=0)
    for tops_known in (False, True):
        if tops_known:
            tops = codes.max(axis=0, initial=0)
        if int(tops.max(initial=0)) >= NUMBERED_UP_TO:
            return None
        try:
            counts = tally_matrix(codes, labels, n_classes, [int(top) + 1 for top in tops])
        except CodeBeyond:
            continue
        counted = sum(int(table.sum()) for table in counts)
        return counts, counted < n * m
    return None


def tally_columns(columns: Sequence[Codes], labels: Codes, n_classes: int, sizes: Sequence[int]) -> list[Counts]:
    """Count as :func:`tally_matrix` does, for separate columns of any integer types.

    >>> tally_columns([np.array([0, 2, -1], np.int8)], np.array([0, 1, 1]), 2, [3])
    [array([[1, 0, 0],
           [0, 0, 1]])]
    """
    columns = [_integers(column) for column in columns]
    _check_lengths(columns, len(labels))
    return _tally(_Columns.of_list(columns, len(labels)), columns, labels, n_classes, sizes)


def count_codes(codes: Codes, size: int) -> Counts:
    """Count each of the codes 0..size - 1; what is below zero is left out.

    >>> count_codes(np.array([0, 2, 2]), 4)
    array([1, 0, 2, 0])
    """
    counts: Counts = tally_columns([codes], np.zeros(len(codes), np.int8), 1, [size])[0][0]
    return counts


def add_log_likelihood_matrix(codes: Codes, tables: Sequence[Floats], out: Floats) -> bool:
    """Add to each row of `out` what its codes say: out[i, :] += tables[j][codes[i, j], :] for every column j.

    A code below zero (missing) or without a row in its table (never seen) adds nothing. Returns whether there was
    one below zero.

    >>> out = np.zeros((3, 2))
    >>> add_log_likelihood_matrix(np.array([[0], [1], [-1]]), [np.array([[-1.0, -2.0], [-3.0, -4.0]])], out)
    True
    >>> out
    array([[-1., -2.],
           [-3., -4.],
           [ 0.,  0.]])
    """
    codes = _integers(codes)
    _check_lengths([codes], len(out))
    return _add(_Columns.of_matrix(codes), tables, out)


def add_log_likelihood_columns(columns: Sequence[Codes], tables: Sequence[Floats], out: Floats) -> bool:
    """Add as :func:`add_log_likelihood_matrix` does, for separate columns of any integer types."""
    columns = [_integers(column) for column in columns]
    _check_lengths(columns, len(out))
    return _add(_Columns.of_list(columns, len(out)), tables, out)


def _add(columns: _Columns, tables: Sequence[Floats], out: Floats) -> bool:
    """Add the tables' rows in ranges of rows, one for each thread; `out` is added to in place, however it lies."""
    (n, n_classes), m = out.shape, len(columns.types)
    _check_columns(m, len(tables), "tables")
    if not n or not m or not n_classes:
        return False
    offsets, tops, total = _slots([len(table) for table in tables])
    # The slots of what is missing or unknown stay zeros.
    joined = np.zeros(total * n_classes + _WIDTH)
    rows = joined[: total * n_classes].reshape(total, n_classes)
    for offset, table in zip(offsets.tolist(), tables):
        rows[offset + 1 : offset + 1 + len(table)] = table
    own = np.ascontiguousarray(out, np.float64)

    def add(lo: int, hi: int) -> bool:
        part = columns.part((lo, hi), (0, m))
        return bool(_add_codes(*part[:3], offsets, tops, hi - lo, m, part.rowwise, joined, n_classes, own[lo:hi]))

    parts = split(n, width(), max(1, _CODES_PER_THREAD // (m * n_classes)))
    negative = any(run([partial(add, lo, hi) for lo, hi in parts]))
    if own is not out:
        out[:] = own
    return negative


def _tally(
    columns: _Columns, arrays: Sequence[Codes] | Codes, labels: Codes, n_classes: int, sizes: Sequence[int]
) -> list[Counts]:
    """Count ranges of rows or of columns, one for each thread; sum their tables and check the slots of what is beyond.

    `arrays` are the columns again, as arrays, for messages.
    """
    n, m = columns.n_rows, len(columns.types)
    labels = np.require(labels, None if labels.dtype in TYPES and labels.dtype.kind in "iu" else np.int64, ["C", "A"])
    if labels.shape != (n,):
        raise InputError(f"there are {labels.size} labels for {n} rows; each row needs one")
    _check_columns(m, len(sizes), "sizes")
    if not m:
        class_codes(labels, n_classes, n)
    threads = max(1, min(width(), n * m // _CODES_PER_THREAD))
    cuts = -(-n // _ROWS_AT_ONCE)
    if threads * (n_classes + 1) * (sum(sizes) + 2 * m) * 4 <= n * m:
        tasks = [(rows, (0, m)) for rows in split(n, max(threads, cuts))]
    else:
        # Tables this large are not worth one copy per thread: each thread counts columns of its own.
        tasks = list(product(split(n, cuts), split(m, threads)))

    def count(rows: tuple[int, int], own: tuple[int, int]) -> Counts:
        offsets, tops, total = _slots(sizes[slice(*own)])
        part = columns.part(rows, own)
        # Columns are counted one after another, a matrix's side by side.
        together = total if part.rowwise else int(tops.max(initial=0)) + 1
        lanes = _LANES if (n_classes + 2) * together <= _LANES_UP_TO else 1
        if lanes * (n_classes + 2) * total >= 1 << 32:
            raise MemoryError(f"{n_classes:,} classes by {total:,} categories are too many to be counted together")
        table = np.zeros((lanes, n_classes + 2, total), np.uint32)
        _tally_codes(
            *part[:3], offsets, tops, part.n_rows, len(tops), part.rowwise, labels[slice(*rows)], TYPES[labels.dtype],
            lanes, n_classes + 2, total, table,
        )  # fmt: skip
        total_counts: Counts = table.sum(axis=0, dtype=np.int64)
        return total_counts

    tables = run([partial(count, *task) for task in tasks])
    if any(table[-1].any() for table in tables):
        class_codes(labels, n_classes, n)
    found = [np.zeros((n_classes, size), np.int64) for size in sizes]
    for table, (_, (first, last)) in zip(tables, tasks):
        offset = 0
        for j in range(first, last):
            found[j] += table[1:-1, offset + 1 : offset + 1 + sizes[j]]
            offset += sizes[j] + 2
            if table[1:-1, offset - 1].any():
                _refuse_beyond(arrays[j], labels, j, sizes[j])
    return found


def _refuse_beyond(column: Codes, labels: Codes, j: int, size: int) -> None:
    """Raise for the first code without a category; codes below -1 share its slot and are only missing."""
    beyond = (column >= size) & (labels >= 0)
    if beyond.any():
        row = int(beyond.argmax())
        raise CodeBeyond(
            f"row {row}, column {j} has code {column[row]}, but the column has {size} categories; "
            f"its codes must be below {size}, or below 0 where missing"
        )


def class_codes(labels: Codes, n_classes: int, n_rows: int) -> NDArray[np.int64]:
    """The labels as the kernels read them, checked: one per row, below n_classes (below zero: no class)."""
    labels = np.require(labels, np.int64, ["C", "A"])
    if labels.shape != (n_rows,):
        raise InputError(f"there are {labels.size} labels for {n_rows} rows; each row needs one")
    if labels.size and labels.max() >= n_classes:
        row = int((labels >= n_classes).argmax())
        raise InputError(f"row {row} has class code {labels[row]}, but there are {n_classes} classes")
    return labels


def _check_columns(n_columns: int, given: int, what: str) -> None:
    if n_columns != given:
        raise InputError(f"there are {given} {what} for {n_columns} columns; each column needs one")


def _check_lengths(columns: Sequence[Codes], n: int) -> None:
    """A kernel would read beyond the end of a column that is too short."""
    for j, column in enumerate(columns):
        if len(column) != n:
            raise InputError(f"column {j} has {len(column)} rows where {n} were expected")


def _integers(codes: Codes) -> Codes:
    """The codes with a type that every kernel knows: booleans as bytes, native byte order."""
    if codes.dtype == np.bool_:
        return codes.view(np.uint8)
    if codes.dtype.kind not in "iu":
        raise InputError(f"codes are of type {codes.dtype}; they must be integers")
    if codes.dtype == np.uint64 and codes.size and codes.max() > np.iinfo(np.int64).max:
        raise InputError(f"a code is {codes.max()}; codes must be below 2**63")
    return codes if codes.dtype.isnative else codes.astype(codes.dtype.newbyteorder("="))
