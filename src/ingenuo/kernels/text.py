"""The words and n-grams of documents: how they are cut, and counted by class.

A thread counts into tables of its own (`Counter`), which grow as they must; what it has counted comes out in
canonical order (`Counted`), so that what several threads have counted is added like any two tallies.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import letters
from ingenuo.kernels.native import ANY, I32, I64, INT, POINTER, U8, U64, function
from ingenuo.kernels.threads import width

Array = NDArray[Any]

# The words that stand before and after a document; no word of a text has a "<".
BEGIN, END = "<s>", "</s>"

# Bytes that a thread reads at a time: to begin costs some microseconds; and a copy of few is made in the cache.
_SMALL, _LARGE = 1 << 18, 1 << 20


class StyleTables(ctypes.Structure):
    """A style as the loops read it; the arrays must be kept elsewhere."""

    _fields_ = [
        *((name, POINTER) for name in ("letters", "beyond", "cases", "cues")),
        *((name, INT) for name in ("n_cues", "contractions", "lowercase", "shortest", "separated")),
    ]


STYLE = ctypes.POINTER(StyleTables)

_new = function("counter_new", *(INT,) * 8, returns=POINTER)
_free = function("counter_free", POINTER)
_numbers = function("counter_numbers", POINTER, U8, INT, I64, returns=INT)
_translate = function("counter_translate", POINTER, I64, I64, I64, INT, returns=INT)
_count = function("counter_count", POINTER, STYLE, U8, I64, I64, INT, I32, POINTER, returns=INT)
_sizes = function("counter_sizes", POINTER, I64, returns=INT)
_finish = function("counter_finish", POINTER, U8, I64, U64, I32, I32, I64, I32, ANY, returns=INT)


@dataclass(frozen=True)
class Style:
    """How documents are cut into words."""

    lowercase: bool = True
    shortest: int = 2  # characters
    cues: tuple[int, ...] = ()  # the words that open a negation's scope, their bytes as numbers
    contractions: bool = False  # n't opens one too
    separated: bool = False  # the words are given, apart by 0x1F

    def read(self, data: Array, offsets: Array, rows: Array | range, loop: Callable[[Any, int], int]) -> None:
        """Have a loop read these rows: from the given one on, to the first that needs tables that are not made yet.

        It returns how many it has read.
        """
        cues, done = np.array(self.cues, np.uint64), 0
        while done < len(rows):
            tables = [*letters.made(self.lowercase), cues]
            addresses = [None if each is None else each.ctypes.data for each in tables]
            settings = len(cues), self.contractions, self.lowercase, self.shortest, self.separated
            done += checked(loop(StyleTables(*addresses, *settings), done))
            if done < len(rows):
                row = rows[done]
                letters.make(self.lowercase, data[offsets[row] : offsets[row + 1]], data.size)


def style(
    lowercase: bool = True,
    shortest: int = 2,
    cues: tuple[str, ...] = (),
    contractions: bool = False,
    separated: bool = False,
) -> Style:
    """One way of cutting."""
    spelled = {cue for given in cues for cue in (_spellings(given) if not lowercase else [given])}
    packed = sorted(int.from_bytes(cue.encode()) for cue in spelled)
    return Style(lowercase, shortest, tuple(packed), contractions, separated)


def _spellings(word: str) -> list[str]:
    """A word with every choice of capitals."""
    result = [""]
    for letter in word:
        result = [start + each for start in result for each in {letter, letter.upper()}]
    return result


def owned(handle: int | None, owner: object, free: Callable[[int], None]) -> int:
    """A handle that goes with its owner."""
    if not handle:
        raise MemoryError("there is no memory for the tables of words")
    weakref.finalize(owner, free, handle)
    return handle


def checked(result: int) -> int:
    """What a loop returns, unless it lacked memory."""
    if result < 0:
        raise MemoryError("there is no memory for the words and n-grams of these texts")
    return result


class Counted(NamedTuple):
    """Words and n-grams in canonical order, and what each class has of each."""

    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    hashes: tuple[NDArray[np.uint64], ...]
    parents: tuple[NDArray[np.int32], ...]
    lasts: tuple[NDArray[np.int32], ...]
    starts: NDArray[np.int64]  # where the cells of each word, n-gram or bucket begin
    codes: NDArray[np.int32]  # the cells' classes
    values: Array  # (cells, 1 or 2): occurrences, and documents


class Counter:
    """The tables of one thread."""

    def __init__(
        self,
        how: Style,
        ngrams: tuple[int, int] = (1, 1),
        *,
        counts: bool = True,
        documents: bool = False,
        bounded: bool = False,
        buckets: int = 0,
        real: bool = False,
        room: int = 1 << 14,
    ) -> None:
        self.how, self.highest, self.buckets = how, ngrams[1], buckets
        self.columns, self.real = int(counts) + int(documents), real
        size = 1 << max(10, min(20, room.bit_length()))
        self._handle = owned(_new(*ngrams, counts, documents, bounded, buckets, real, size), self, _free)

    def numbers(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of these words in the table, which they are put into if they are not there."""
        result = np.empty(len(words), np.int64)
        data = np.frombuffer("\x1f".join(words).encode(), np.uint8)
        checked(_numbers(self._handle, data, data.size, result))
        return result

    def translate(self, words: Sequence[str], into: Sequence[str | None], besides: Sequence[str | None] = ()) -> None:
        """From now on count `into` for each of the words (None: nothing), and `besides` as well."""
        numbers = self.numbers(words)
        named = sorted({word for word in (*into, *besides) if word is not None})
        places: dict[str | None, int] = {None: -1, **dict(zip(named, self.numbers(named).tolist()))}
        own = np.array([places[word] for word in into], np.int64)
        more = np.array([places[word] for word in besides or [None] * len(words)], np.int64)
        checked(_translate(self._handle, numbers, own, more, len(numbers)))

    def count(self, data: Array, offsets: Array, rows: Array, labels: Array, weights: Array | None = None) -> None:
        """Count these rows, which should come in the order of their labels; the weights are doubles if real."""
        address = None if weights is None else weights.ctypes.data
        self.how.read(
            data, offsets, rows,
            lambda how, done: _count(
                self._handle, how, data, offsets, rows[done:], len(rows) - done, labels, address
            ),
        )  # fmt: skip

    def finish(self) -> Counted:
        """What was counted, in canonical order; the counter cannot be used any more."""
        deep = 1 if self.buckets else self.highest
        sizes = np.zeros(deep + 2, np.int64)
        checked(_sizes(self._handle, sizes))
        n_bytes, n_cells, *levels = sizes.tolist()
        nodes, grams = sum(levels), sum(levels[1:])
        data, ends, hashes = np.empty(n_bytes, np.uint8), np.empty(levels[0], np.int64), np.empty(nodes, np.uint64)
        parents, lasts = np.empty(grams, np.int32), np.empty(grams, np.int32)
        starts = np.empty((1 << self.buckets if self.buckets else nodes) + 1, np.int64)
        codes = np.empty(n_cells, np.int32)
        values = np.empty((n_cells, self.columns), np.float64 if self.real else np.int64)
        checked(_finish(self._handle, data, ends, hashes, parents, lasts, starts, codes, values))
        if self.buckets:
            return Counted(data, ends, (), (), (), starts, codes, values)
        cuts = np.cumsum(levels[1:])[:-1]
        above, last = (tuple(np.split(each, cuts)) if deep > 1 else () for each in (parents, lasts))
        by_level = tuple(np.split(hashes, np.cumsum(levels)[:-1]))
        return Counted(data, ends, by_level, above, last, starts, codes, values)


def cuts_by_bytes(lengths: Array) -> list[int]:
    """Where to cut rows of these lengths into parts of about as many bytes: some for each thread, none too small."""
    total = np.cumsum(lengths)
    size = int(total[-1]) if len(total) else 0
    parts = max(1, min(max(8 * width(), size // _LARGE), size // _SMALL))
    inner = np.searchsorted(total, [size * part // parts for part in range(1, parts)]).tolist()
    return [0, *inner, len(lengths)]
