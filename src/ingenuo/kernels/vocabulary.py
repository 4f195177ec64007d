"""Vocabularies as arrays: words and n-grams in canonical order, hashed, united, and their cells added.

The order of words is that of their hashes, and of equal hashes that of their bytes; the order of n-grams is that of
their hashes, and of equal ones that of their parts. It depends on nothing but what the words are, so two sets of
them are united in one pass over both, and it is nearly the order in which a hash table holds them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import ANY, I32, I64, INT, POINTER, U8, U64, function

Array = NDArray[Any]
Hashes = NDArray[np.uint64]
Places = NDArray[np.int32]
Level = tuple[Hashes, Places, Places]  # hashes, parents and last words
WordArrays = tuple[Hashes, NDArray[np.uint8], NDArray[np.int64]]  # hashes, bytes, and where each word ends

_hash_words = function("hash_words", U8, I64, INT, U64)
_hash_grams = function("hash_grams", U64, U64, I32, I32, INT, U64)
_write_words = function("write_words", U8, I64, I64, INT, U8, I64)
_unite_words = function("unite_words", *(U64, U8, I64, INT) * 2, I32, I32, U64, U8, I64, returns=INT)
_unite_grams = function("unite_grams", *(U64, I32, I32, INT) * 2, *(I32,) * 6, U64, I32, I32, returns=INT)
_join_cells = function("join_cells", *(I64, I64, I32, POINTER, INT) * 2, INT, I64, I32, I64, I64, returns=INT)
_add_cells = function("add_cells", *(I64, I64, I32, ANY, INT) * 2, INT, INT, INT, I64, I32, ANY, returns=INT)


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


def unite_words(one: WordArrays, two: WordArrays) -> tuple[WordArrays, Places, Places]:
    """All the words of both, and where those of either are among them."""
    a, b = np.empty(len(one[0]), np.int32), np.empty(len(two[0]), np.int32)
    most = len(a) + len(b)
    hashes, ends = np.empty(most, np.uint64), np.empty(most, np.int64)
    data = np.empty(len(one[1]) + len(two[1]), np.uint8)
    n = _unite_words(*one, len(a), *two, len(b), a, b, hashes, data, ends)
    size = int(ends[n - 1]) if n else 0
    return (hashes[:n].copy(), data[:size].copy(), ends[:n].copy()), a, b


def unite_level(
    one: Level, two: Level, above: tuple[Places, Places], words: tuple[Places, Places]
) -> tuple[Level, Places, Places]:
    """The same for n-grams, given where the parts of either went."""
    a, b = np.empty(len(one[0]), np.int32), np.empty(len(two[0]), np.int32)
    most = len(a) + len(b)
    hashes, parents, lasts = np.empty(most, np.uint64), np.empty(most, np.int32), np.empty(most, np.int32)
    n = _unite_grams(*one, len(a), *two, len(b), *above, *words, a, b, hashes, parents, lasts)
    return (hashes[:n].copy(), parents[:n].copy(), lasts[:n].copy()), a, b


Cells = tuple[Array, Array, Array, Any]  # where each node went (ascending), starts, codes, and


def join_cells(one: Cells, two: Cells, nodes: int) -> tuple[Array, Array, Array, Array]:
    """The cells of two bags over united nodes and classes: starts, codes, and the cell of either each comes from (-1:
    none). A bag is where its nodes went (ascending), its starts, its codes, and the new code of each class (None: as
    it was).
    """
    most = len(one[2]) + len(two[2])
    starts, codes = np.empty(nodes + 1, np.int64), np.empty(most, np.int32)
    from_a, from_b = np.empty(most, np.int64), np.empty(most, np.int64)
    classes = [None if side[3] is None else np.ascontiguousarray(side[3], np.int64) for side in (one, two)]
    sides = [
        (*side[:3], None if own is None else own.ctypes.data, len(side[0])) for side, own in zip((one, two), classes)
    ]
    n = _join_cells(*sides[0], *sides[1], nodes, starts, codes, from_a, from_b)
    return starts, codes[:n].copy(), from_a[:n], from_b[:n]


def add_cells(one: Cells, two: Cells, nodes: int) -> tuple[Array, Array, Array]:
    """The same for what two threads have counted, over the same classes: a bag's values come last, and are added."""
    most, columns, dtype = len(one[2]) + len(two[2]), one[3].shape[1], one[3].dtype
    starts, codes, values = np.empty(nodes + 1, np.int64), np.empty(most, np.int32), np.empty((most, columns), dtype)
    sides = *one, len(one[0]), *two, len(two[0])
    n = _add_cells(*sides, nodes, columns, dtype.kind == "f", starts, codes, values)
    return starts, codes[:n], values[:n]


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
