"""Documents against a known vocabulary: the node of every word and n-gram, and what they add to the log joint.

What a node says of the classes is a short list: the classes that have it, with what each adds to the joint beyond
what a class without it adds. That part is the same for all words of one weight, so it is added once for a document.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import BYTES, F64, I32, I64, INT, POINTER, U8, U64, function
from ingenuo.kernels.text import STYLE, Style, checked, cuts_by_bytes, owned
from ingenuo.kernels.threads import run

Array = NDArray[Any]
Floats = NDArray[np.float64]

_MOST = 1 << 20  # classes a node can have
_NONE: Floats = np.zeros(0)


class _Weights(ctypes.Structure):
    """A `Table` as the loops read it."""

    _fields_ = [
        *((name, POINTER) for name in ("info", "cells", "lines", "weights", "base", "constant")),
        ("classes", INT),
    ]


_new = function("lookup_new", INT, INT, INT, U64, INT, U8, I64, POINTER, POINTER, POINTER, returns=POINTER)
_free = function("lookup_free", POINTER)
_level = function("lookup_level", POINTER, INT, INT, U64, I32, I32, INT, returns=INT)
_rows = POINTER, STYLE, U8, I64, POINTER, INT, INT  # which rows to look up, and how
_score = function("lookup_score", *_rows, ctypes.POINTER(_Weights), INT, POINTER, F64, returns=INT)
_entries = function("lookup_entries", *_rows, BYTES, I32, I32, I32, I64, returns=INT)
_nodes = function("lookup_nodes", *_rows, I64, I64, I64, returns=INT)
_lay_out = function("lay_out_weights", I64, I32, F64, BYTES, INT, INT, I64, I64, POINTER, POINTER)


class Table(NamedTuple):
    """What each node adds to the log joint, laid out so that a rare node takes one load.

    A node of one class has its value beside its number; one of several has cells (class, value), one of many a full
    line, a value for every class. The number says which, and where: (place · 2 + 1 for a line) · 2^20 + how many
    classes, the place of a single one being the class; -1 for a node that is not used.

    To a row's log joint are added, in this order: for each different node, in the order of first occurrence (words,
    then pairs of words, …), its count in the row times its value for the class; and last Σ count · weight times the
    constant of the class, plus Σ count · base.
    """

    info: NDArray[np.int64]  # (nodes, 2): numbers, and the values of single classes in the same memory as doubles
    single: Floats  # the same memory as doubles
    cells: Floats  # (cells, 2)
    lines: Floats  # (lines, classes)
    weights: Floats  # what one occurrence of a node counts; empty: 1
    base: Floats  # what it adds for every class; empty: nothing
    constant: Floats  # (classes,): what a class adds for an occurrence, times its weight

    def values(self, node: int) -> Floats:
        """What an occurrence of a node adds for each class, beyond the constant and the base."""
        info = int(self.info[node, 0])
        result = np.zeros(len(self.constant))
        if info >= 0:
            place, n = info >> 21, info & (_MOST - 1)
            if n == 1:
                result[place] = self.single[node, 1]
                return result
            if info >> 20 & 1:
                return np.asarray(self.lines[place].copy())
            result[self.cells[place : place + n, 0].astype(np.intp)] = self.cells[place : place + n, 1]
        return result


def pack(
    starts: Array, codes: Array, values: Floats, used: Array, constant: Floats, weights: Floats = _NONE,
    base: Floats = _NONE,
) -> Table:  # fmt: skip
    """A table from the cells of each node: their classes and values."""
    n, classes = len(starts) - 1, len(constant)
    info, sizes = np.empty((n, 2), np.int64), np.empty(2, np.int64)
    given = starts, codes, values, used, n, classes, info, sizes
    _lay_out(*given, None, None)
    cells, lines = np.empty((int(sizes[0]), 2)), np.zeros((int(sizes[1]), classes))
    _lay_out(*given, cells.ctypes.data, lines.ctypes.data)
    return Table(info, info.view(np.float64), cells, lines, weights, base, constant)


class Raw(NamedTuple):
    """Words as they stand in texts, and what they are taken for."""

    vocabulary: Any
    into: NDArray[np.int32]  # the word each is taken for, in this same vocabulary; -1: it is dropped
    besides: NDArray[np.int32]  # what it counts for as well; -1: nothing
    nodes: NDArray[np.int64]  # the node of each in the vocabulary of the model; -1: it has none


class Lookup:
    """The tables of a vocabulary, for any number of threads to read.

    `words` is a vocabulary; `raw` are words that stand for others there: their table (a vocabulary too), and for each
    of its words the place of the word it is taken for (-1: it is dropped) and of what it counts for besides (-1:
    nothing), both in the same table.
    """

    def __init__(self, words: Any, how: Style, ngrams: tuple[int, int], raw: Raw | None = None) -> None:
        self.words, self.how, self.ngrams, self.raw = words, how, ngrams, raw
        known = words if raw is None else raw.vocabulary
        # The tables point into these arrays.
        hashes = known.hashes[0] if known.hashes else np.zeros(0, np.uint64)
        changes: list[Array | None] = [None] * 3 if raw is None else [*raw[1:]]
        self._kept = hashes, known.data, known.ends, changes
        handle = _new(*ngrams, words.buckets, hashes, len(known.ends), known.data, known.ends, *map(_address, changes))
        self._handle = owned(handle, self, _free)
        for n in range(2, 2 if words.buckets else ngrams[1] + 1):
            level = words.hashes[n - 1], words.parents[n - 2], words.lasts[n - 2]
            checked(_level(self._handle, n, words.levels[n - 1], *level, len(level[0])))

    def __reduce__(self) -> tuple[Any, ...]:
        return Lookup, (self.words, self.how, self.ngrams, self.raw)

    def score(
        self, batches: Iterable[Any], table: Table, out: Floats, *, once: bool = False, squares: Floats = _NONE
    ) -> None:
        """Add what the words of each row say to its line; squares of weight × count are gathered, if asked for."""
        used = [table.info, table.cells, table.lines, table.weights, table.base, table.constant]
        used = [np.ascontiguousarray(each) for each in used]
        weights = _Weights(*(_address(each) for each in used), out.shape[1])
        for shares in batches:
            run([partial(self._score, share, weights, out, once, squares) for share in shares])

    def _score(self, make: Callable[[], Any], weights: _Weights, out: Floats, once: bool, squares: Floats) -> None:
        piece, rows, places = make()
        more = once, _address(squares[places]), out[places]
        self._read(_score, piece, rows.start, rows.stop, weights, *more)

    def _read(self, loop: Callable[..., int], piece: Any, lo: int, hi: int, *arguments: Any) -> None:
        """Have a loop look some rows of a piece up."""
        given = piece.data, piece.offsets, _address(piece.missing)
        self.how.read(
            piece.data, piece.offsets, range(lo, hi),
            lambda how, done: loop(self._handle, how, *given, lo + done, hi, *arguments),
        )  # fmt: skip

    def entries(self, pieces: Iterable[Any], used: Array) -> tuple[Array, Array, Array]:
        """Rows, nodes and counts: each node of a row that is used once; for any one node, rows in their order."""
        parts: list[tuple[Array, Array, Array]] = [(np.zeros(0, np.int32),) * 3]
        for piece in pieces:
            cuts = cuts_by_bytes(np.diff(piece.offsets))
            parts += run([partial(self._entries, piece, lo, hi, used) for lo, hi in pairwise(cuts)])
        rows, nodes, counts = (np.concatenate(each) for each in zip(*parts))
        return rows, nodes, counts

    def _entries(self, piece: Any, lo: int, hi: int, used: Array) -> tuple[Array, Array, Array]:
        n = np.zeros(1, np.int64)
        rows, nodes, counts = (np.empty(self._most(piece, lo, hi), np.int32) for _ in range(3))
        self._read(_entries, piece, lo, hi, used, rows, nodes, counts, n)
        size = int(n[0])
        return rows[:size] + piece.first, nodes[:size].copy(), counts[:size].copy()

    def _most(self, piece: Any, lo: int, hi: int) -> int:
        """How many nodes these rows can have; of an array that is not written to no memory is taken."""
        # A word takes a byte, and another byte parts it from the next.
        words = int(piece.offsets[hi] - piece.offsets[lo] + hi - lo) // 2 + 1
        return words * (self.ngrams[1] - self.ngrams[0] + 2)

    def nodes(self, pieces: Iterable[Any], n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The node of every word and n-gram (-1: not known), row by row, and where each row's end.

        A row's words come first, then its pairs of words, and so on.
        """
        found, ends = [np.zeros(0, np.int64)], np.zeros(n_rows, np.int64)
        for piece in pieces:
            n = np.zeros(1, np.int64)
            nodes, own = np.empty(self._most(piece, 0, piece.n_rows), np.int64), np.zeros(piece.n_rows, np.int64)
            self._read(_nodes, piece, 0, piece.n_rows, nodes, own, n)
            before = sum(map(len, found))
            ends[piece.first : piece.first + piece.n_rows] = np.maximum.accumulate(own) + before
            found.append(nodes[: int(n[0])].copy())
        return np.concatenate(found), ends


def _address(array: Array | None) -> int | None:
    """Where an array begins; nowhere, if it has nothing."""
    return None if array is None or not array.size else int(array.ctypes.data)
