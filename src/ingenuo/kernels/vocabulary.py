"""Vocabularies as arrays: words and n-grams in canonical order, hashed, united, and their cells added.

The order of words is that of their hashes, and of equal hashes that of their bytes; the order of n-grams is that of
their hashes, and of equal ones that of their parts. It depends on nothing but what the words are, so two sets of
them are united in one pass over both, and it is nearly the order in which a hash table holds them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import ANY, I32, I64, INT, POINTER, U8, U64, function
from ingenuo.kernels.threads import run, width

Array = NDArray[Any]
Hashes = NDArray[np.uint64]
Places = NDArray[np.int32]
Level = tuple[Hashes, Places, Places]  # hashes, parents and last words
Nodes = tuple[NDArray[np.int64], NDArray[np.int64]]  # where the nodes of either vocabulary are among all
WordArrays = tuple[Hashes, NDArray[np.uint8], NDArray[np.int64]]  # hashes, bytes, and where each word ends

_hash_words = function("hash_words", U8, I64, INT, U64)
_hash_grams = function("hash_grams", U64, U64, I32, I32, INT, U64)
_write_words = function("write_words", U8, I64, I64, INT, U8, I64)
_RANGE = INT, INT  # of rows: from the one to the other
_place_words = function("place_words", *(U64, U8, I64, *_RANGE) * 2, I32, I32, returns=INT)
_place_grams = function("place_grams", *(U64, *(I32,) * 4, *_RANGE) * 2, I32, I32, returns=INT)
_write_sizes = function("write_sizes", U64, I64, *_RANGE, INT, I32, I64, U64, I64)
_write_bytes = function("write_bytes", U8, I64, *_RANGE, I32, U8, I64)
_write_grams = function("write_grams", U64, *(I32,) * 4, *_RANGE, INT, INT, I32, I64, U64, I32, I32)
_sides = (I64, I64, I32, POINTER, *_RANGE) * 2
_join_cells = function("join_cells", *_sides, *_RANGE, INT, I64, I32, I64, I64, returns=INT)
_add_cells = function("add_cells", *_sides, *_RANGE, INT, I64, I32, ANY, INT, INT, returns=INT)


def hash_words(data: Array, ends: Array) -> Hashes:
    """The hashes of words given by their bytes."""
    hashes = np.empty(len(ends), np.uint64)
    _hash_words(data, ends, len(ends), hashes)
    return hashes


def hash_level(above: Hashes, words: Hashes, parents: Places, lasts: Places) -> Hashes:
    """The hashes of n-grams given by their parts."""
    hashes = np.empty(len(parents), np.uint64)
    _hash_grams(above, words, parents, lasts, len(parents), hashes)
    return hashes


def pick_words(data: Array, ends: Array, order: Array) -> tuple[Array, Array]:
    """The bytes of some words in a new order, and where each ends."""
    size = int(np.diff(ends, prepend=0)[order].sum())
    picked, new_ends = np.empty(size, np.uint8), np.empty(len(order), np.int64)
    _write_words(data, ends, order, len(order), picked, new_ends)
    return picked, new_ends


class _Part(NamedTuple):
    """The ranges of two lists of hashes that lie between the same bounds, and where they begin together."""

    a: tuple[int, int]
    b: tuple[int, int]
    first: int


def _parts(one: Hashes, two: Hashes, place: Callable[..., int]) -> tuple[list[_Part], int]:
    """Cut two lists of hashes and place them, on all threads; and how many there are together."""
    n = max(1, min(4 * width(), (len(one) + len(two)) >> 13))
    bounds = np.array([(part << 64) // n for part in range(1, n)], np.uint64)
    ranges = [pairwise([0, *np.searchsorted(side, bounds).tolist(), len(side)]) for side in (one, two)]
    pairs = list(zip(*ranges))
    ends = np.cumsum(run([partial(place, a, b) for a, b in pairs])).tolist()
    return [_Part(a, b, first) for (a, b), first in zip(pairs, [0, *ends])], ends[-1]


def unite_words(one: WordArrays, two: WordArrays, nodes: Nodes) -> tuple[WordArrays, Places, Places]:
    """All the words of both, and where those of either are among them; which is written to `nodes` too."""
    a, b = np.empty(len(one[0]), np.int32), np.empty(len(two[0]), np.int32)
    parts, n = _parts(one[0], two[0], lambda i, j: _place_words(*one, *i, *two, *j, a, b))
    hashes, ends = np.empty(n, np.uint64), np.empty(n, np.int64)

    def write_sizes(part: _Part) -> None:
        for side, rows, places, own in zip((one, two), part[:2], (a, b), nodes):
            _write_sizes(side[0], side[2], *rows, part.first, places, own, hashes, ends)

    def write_bytes(part: _Part) -> None:
        for side, rows, places in zip((one, two), part[:2], (a, b)):
            _write_bytes(side[1], side[2], *rows, places, data, ends)

    run([partial(write_sizes, part) for part in parts])
    np.cumsum(ends, out=ends)
    data = np.empty(int(ends[-1]) if n else 0, np.uint8)
    run([partial(write_bytes, part) for part in parts])
    return (hashes, data, ends), a, b


def unite_level(
    one: Level, two: Level, above: tuple[Places, Places], words: tuple[Places, Places], first: int, nodes: Nodes
) -> tuple[Level, Places, Places]:
    """The same for n-grams, given where the parts of either went, and the first node of the level."""
    a, b = np.empty(len(one[0]), np.int32), np.empty(len(two[0]), np.int32)
    sides = (*one, above[0], words[0]), (*two, above[1], words[1])
    parts, n = _parts(one[0], two[0], lambda i, j: _place_grams(*sides[0], *i, *sides[1], *j, a, b))
    level = np.empty(n, np.uint64), np.empty(n, np.int32), np.empty(n, np.int32)

    def write(part: _Part) -> None:
        for side, rows, places, own in zip(sides, part[:2], (a, b), nodes):
            _write_grams(*side, *rows, part.first, first, places, own, *level)

    run([partial(write, part) for part in parts])
    return level, a, b


Cells = tuple[Array, Array, Array, Any]  # where each node went (ascending), starts, codes, and


def _joined(
    loop: Callable[..., int], one: Cells, two: Cells, nodes: int, columns: Sequence[Array], *more: int
) -> tuple[Array, Array, list[Array]]:
    """The cells of two bags, part by part, on all threads: starts, codes, and other columns, which a loop writes."""
    n = max(1, min(4 * width(), nodes >> 13))
    cuts = [nodes * part // n for part in range(n + 1)]
    a, b = (np.searchsorted(side[0], cuts).tolist() for side in (one, two))
    # Each part is written as if no cell were in both bags, and then moved to where the one before it ended.
    firsts = (one[1][a] + two[1][b]).tolist()
    starts, codes = np.empty(nodes + 1, np.int64), np.empty(firsts[-1], np.int32)

    def write(part: int) -> int:
        here, there = (slice(at[part], at[part + 1]) for at in (a, b))
        sides = *one, here.start, here.stop, *two, there.start, there.stop
        return loop(*sides, cuts[part], cuts[part + 1], firsts[part], starts, codes, *columns, *more)

    sizes = run([partial(write, part) for part in range(n)])
    at = 0
    for part, size in enumerate(sizes):
        gap = firsts[part] - at
        if gap:
            starts[cuts[part] : cuts[part + 1]] -= gap
            for column in (codes, *columns):
                line = column.strides[0]
                ctypes.memmove(column.ctypes.data + at * line, column.ctypes.data + firsts[part] * line, size * line)
        at += size
    starts[-1] = at
    return starts, codes[:at], [column[:at] for column in columns]


def join_cells(one: Cells, two: Cells, nodes: int) -> tuple[Array, Array, Array, Array]:
    """The cells of two bags over united nodes and classes: starts, codes, and the cell of either each comes from (-1:
    none). A bag is where its nodes went (ascending), its starts, its codes, and the new code of each class (None: as
    it was).
    """
    kept = [None if side[3] is None else np.ascontiguousarray(side[3], np.int64) for side in (one, two)]
    sides = [(*side[:3], None if own is None else own.ctypes.data) for side, own in zip((one, two), kept)]
    most = len(one[2]) + len(two[2])
    origins = np.empty(most, np.int64), np.empty(most, np.int64)
    starts, codes, (from_a, from_b) = _joined(_join_cells, sides[0], sides[1], nodes, origins)
    return starts, codes.copy(), from_a, from_b


def add_cells(one: Cells, two: Cells, nodes: int) -> tuple[Array, Array, Array]:
    """The same for what two threads have counted, over the same classes: a bag's values come last, and are added."""
    values = one[3], two[3]
    columns, dtype = values[0].shape[1], values[0].dtype
    sides = [(*side[:3], own.ctypes.data) for side, own in zip((one, two), values)]
    sums = np.empty((len(values[0]) + len(values[1]), columns), dtype)
    starts, codes, (added,) = _joined(_add_cells, sides[0], sides[1], nodes, [sums], columns, int(dtype.kind == "f"))
    return starts, codes, added


def in_order(data: Array, ends: Array, hashes: Hashes) -> bool:
    """Whether words stand in canonical order, each once."""
    equal = np.flatnonzero(hashes[1:] == hashes[:-1])
    bounds = np.append(0, ends)

    def word(i: int) -> bytes:
        return bytes(data[bounds[i] : bounds[i + 1]])

    return bool((hashes[1:] >= hashes[:-1]).all()) and all(word(i) < word(i + 1) for i in equal.tolist())


def level_in_order(hashes: Hashes, parents: Places, lasts: Places) -> bool:
    """Whether n-grams stand in canonical order, each once."""
    above, below = parents[:-1], parents[1:]
    ties = (above < below) | ((above == below) & (lasts[:-1] < lasts[1:]))
    return bool(((hashes[:-1] < hashes[1:]) | ((hashes[:-1] == hashes[1:]) & ties)).all())
