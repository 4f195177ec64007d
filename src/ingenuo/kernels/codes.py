"""Categorical codes: how often each category meets each class, and what the categories say of a row.

A code is a small integer, its category's place; below zero means missing. Codes come as a matrix
(rows × columns) or as separate columns, whose integer types may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numba import int64, njit, uint64
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.threads import run, split, width

Codes = NDArray[Any]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

# A thread is worth its start (some 30 µs) from about this many codes.
_CODES_PER_THREAD = 1 << 16
# Rows copied at a time where the codes are not laid out as a kernel reads them; 30 columns fill 1 MB.
_BLOCK = 1 << 12
# One column's table is kept in this many copies, used in turn, while they fit the first-level cache:
# else a frequent cell waits for its own last store (4 to 5 cycles) at almost every row.
_LANES = 4
_LANES_UP_TO = 512


_LANES_OUT = 8  # classes whose sums are kept in registers together
NUMBERED_UP_TO = 1 << 16  # codes up to here serve as their own labels, without a dictionary


class CodeBeyond(InputError):
    """A code that is larger than its column's categories are many."""


@njit(cache=True, nogil=True)
def _tally_rows(codes, labels, first, last, offsets, tops, table):  # type: ignore[no-untyped-def]
    """Count the columns first..last of C-ordered codes in `table`, (classes + 1) × slots.

    Column j's slots, from offsets[j]: one for -1, one per category, and one (tops[j] = size + 1) for all
    else. The last row is for rows without a class. Two rows at a time share the loads of offset and top.
    """
    n = codes.shape[0]
    counts = table.reshape(-1)
    slots, one, nowhere = uint64(table.shape[1]), uint64(1), uint64(table.shape[0] - 1)
    for i in range(0, n, 2):
        k = min(i + 1, n - 1)
        here = min(uint64(labels[i]), nowhere) * slots
        there = (min(uint64(labels[k]), nowhere) if k > i else nowhere) * slots
        for j in range(first, last):
            offset, top = offsets[j - first], tops[j - first]
            counts[here + offset + min(uint64(int64(codes[i, j])) + one, top)] += 1
            counts[there + offset + min(uint64(int64(codes[k, j])) + one, top)] += 1


@njit(cache=True, nogil=True)
def _tally_column(codes, labels, table):  # type: ignore[no-untyped-def]
    """Count one column in `table`, lanes × (classes + 1) × slots; lanes is a power of two."""
    lanes, classes, slots = table.shape
    counts = table.reshape(-1)
    mask, lane, one = uint64(lanes - 1), uint64(classes * slots), uint64(1)
    nowhere, width, top = uint64(classes - 1), uint64(slots), uint64(slots - 1)
    for i in range(codes.shape[0]):
        place = (uint64(i) & mask) * lane + min(uint64(labels[i]), nowhere) * width
        counts[place + min(uint64(int64(codes[i])) + one, top)] += 1


@njit(cache=True, nogil=True)
def _add_rows(codes, offsets, sizes, table, out):  # type: ignore[no-untyped-def]
    """Add each row's table rows to its row of `out`; row offsets[j] + sizes[j] of the table is zeros.

    The table's width is a multiple of eight, so that eight sums at a time stay in registers, and the codes are read
    once for every eight classes. Returns all the codes' bits together: it is negative where one of them is.
    """
    n, m = codes.shape
    classes = out.shape[1]
    terms, stride = table.reshape(-1), uint64(table.shape[1])
    together = int64(0)
    for i in range(n):
        for k in range(0, classes, _LANES_OUT):
            left = classes - k
            a = out[i, k]
            b = out[i, k + 1] if left > 1 else 0.0
            c = out[i, k + 2] if left > 2 else 0.0
            d = out[i, k + 3] if left > 3 else 0.0
            e = out[i, k + 4] if left > 4 else 0.0
            f = out[i, k + 5] if left > 5 else 0.0
            g = out[i, k + 6] if left > 6 else 0.0
            h = out[i, k + 7] if left > 7 else 0.0
            for j in range(m):
                code = int64(codes[i, j])
                together |= code
                row = offsets[j] + min(uint64(code), sizes[j])
                at = row * stride + uint64(k)
                a += terms[at]
                b += terms[at + uint64(1)]
                c += terms[at + uint64(2)]
                d += terms[at + uint64(3)]
                e += terms[at + uint64(4)]
                f += terms[at + uint64(5)]
                g += terms[at + uint64(6)]
                h += terms[at + uint64(7)]
            out[i, k] = a
            if left > 1:
                out[i, k + 1] = b
            if left > 2:
                out[i, k + 2] = c
            if left > 3:
                out[i, k + 3] = d
            if left > 4:
                out[i, k + 4] = e
            if left > 5:
                out[i, k + 5] = f
            if left > 6:
                out[i, k + 6] = g
            if left > 7:
                out[i, k + 7] = h
    return together


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
    labels = class_codes(labels, n_classes, len(codes))
    _check_columns(codes.shape[1], len(sizes), "sizes")
    if not codes.flags.c_contiguous and codes.flags.f_contiguous:
        return tally_columns(list(codes.T), labels, n_classes, sizes)
    n, m = codes.shape
    slots = sum(sizes) + 2 * m
    threads = max(1, min(width(), n * m // _CODES_PER_THREAD))
    if threads * (n_classes + 1) * slots * 4 <= n * m:
        tasks = [(rows, (0, m)) for rows in split(n, threads)]
    else:
        # Tables this large are not worth one copy per thread: each thread counts columns of its own.
        tasks = [((0, n), columns) for columns in split(m, threads)]
    tables = run([partial(_tally_part, codes, labels, n_classes, sizes, *task) for task in tasks])
    return _gather(tables, [task[1] for task in tasks], codes.T, labels, n_classes, sizes)


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
    n, m = len(labels), len(columns)
    labels = class_codes(labels, n_classes, len(columns[0]) if columns else n)
    _check_columns(m, len(sizes), "sizes")
    _check_lengths(columns, n)
    threads = max(1, min(width(), n * m // _CODES_PER_THREAD))
    tasks = []
    for j in range(m):
        cells = (n_classes + 1) * (sizes[j] + 2)
        shared = m >= 2 * threads or threads * cells * 4 > n
        tasks += [(rows, (j, j + 1)) for rows in ([(0, n)] if shared else split(n, threads))]

    def count(rows: tuple[int, int], columns_: tuple[int, int]) -> Counts:
        size, (lo, hi) = sizes[columns_[0]], rows
        lanes = _LANES if (n_classes + 1) * (size + 2) <= _LANES_UP_TO else 1
        table = np.zeros((lanes, n_classes + 1, size + 2), np.int64)
        column = np.ascontiguousarray(columns[columns_[0]][lo:hi])
        _tally_column(readable(column), labels[lo:hi], table)
        total: Counts = table.sum(axis=0) if lanes > 1 else table[0]
        return total

    tables = run([partial(count, *task) for task in tasks])
    return _gather(tables, [task[1] for task in tasks], columns, labels, n_classes, sizes)


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
    copied = not codes.flags.c_contiguous

    def block(lo: int, hi: int) -> Codes:
        return np.array(codes[lo:hi], np.int64, order="C") if copied else codes[lo:hi]

    return _add(block, codes.shape[1], tables, out, _BLOCK if copied else max(len(out), 1))


def add_log_likelihood_columns(columns: Sequence[Codes], tables: Sequence[Floats], out: Floats) -> bool:
    """Add as :func:`add_log_likelihood_matrix` does, for separate columns of any integer types."""
    columns = [_integers(column) for column in columns]
    _check_lengths(columns, len(out))

    def block(lo: int, hi: int) -> Codes:
        codes = np.empty((hi - lo, len(columns)), np.int64)
        for j, column in enumerate(columns):
            codes[:, j] = column[lo:hi]
        return codes

    return _add(block, len(columns), tables, out, _BLOCK)


def _add(block: Any, n_columns: int, tables: Sequence[Floats], out: Floats, step: int) -> bool:
    """Run the kernel over row ranges; `block` gives the codes of a range as a C-ordered matrix."""
    n, n_classes = out.shape
    _check_columns(n_columns, len(tables), "tables")
    if not n_columns or not n_classes:
        return False
    sizes = np.array([len(table) for table in tables], np.uint64)
    offsets = np.cumsum(sizes + np.uint64(1)) - (sizes + np.uint64(1))
    joined = np.zeros((int(sizes.sum()) + n_columns, -(-n_classes // _LANES_OUT) * _LANES_OUT))
    for offset, table in zip(offsets.tolist(), tables):
        joined[offset : offset + len(table), :n_classes] = table

    def add(lo: int, hi: int) -> bool:
        negative = False
        for start in range(lo, hi, step):
            stop = min(start + step, hi)
            together = _add_rows(readable(block(start, stop)), offsets, sizes, joined, out[start:stop])
            negative = negative or together < 0
        return negative

    parts = split(n, width(), max(1, _CODES_PER_THREAD // (n_columns * n_classes)))
    return any(run([partial(add, lo, hi) for lo, hi in parts]))


def _tally_part(
    codes: Codes,
    labels: Codes,
    n_classes: int,
    sizes: Sequence[int],
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> Counts:
    first, last = columns
    slots = np.array(sizes[first:last], np.uint64) + np.uint64(2)
    offsets, tops = np.cumsum(slots) - slots, slots - np.uint64(1)
    table = np.zeros((n_classes + 1, int(slots.sum())), np.int64)
    lo, hi = rows
    if codes.flags.c_contiguous:
        _tally_rows(readable(codes[lo:hi]), labels[lo:hi], first, last, offsets, tops, table)
        return table
    for start in range(lo, hi, _BLOCK):
        stop = min(start + _BLOCK, hi)
        block = readable(np.array(codes[start:stop, first:last], np.int64, order="C"))
        _tally_rows(block, labels[start:stop], 0, last - first, offsets, tops, table)
    return table


def _gather(
    tables: list[Counts],
    ranges: list[tuple[int, int]],
    columns: Sequence[Codes] | Codes,
    labels: Codes,
    n_classes: int,
    sizes: Sequence[int],
) -> list[Counts]:
    """Sum the tasks' tables, cut them into columns, and look at the slots of codes beyond the categories."""
    found = [np.zeros((n_classes, size), np.int64) for size in sizes]
    for table, (first, last) in zip(tables, ranges):
        offset = 0
        for j in range(first, last):
            found[j] += table[:n_classes, offset + 1 : offset + 1 + sizes[j]]
            offset += sizes[j] + 2
            if table[:n_classes, offset - 1].any():
                _refuse_beyond(columns[j], labels, j, sizes[j])
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
    labels = readable(np.ascontiguousarray(labels, np.int64))
    if labels.shape != (n_rows,):
        raise InputError(f"there are {labels.size} labels for {n_rows} rows; each row needs one")
    if labels.size and labels.max() >= n_classes:
        row = int((labels >= n_classes).argmax())
        raise InputError(f"row {row} has class code {labels[row]}, but there are {n_classes} classes")
    return labels


def readable(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: numba compiles a kernel once for these, else again for arrays from Arrow."""
    view = array.view()
    view.flags.writeable = False
    return view


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
