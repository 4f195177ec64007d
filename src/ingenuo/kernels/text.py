"""The words and n-grams of documents: how they are cut, and counted by class.

A thread counts into tables of its own (`Counter`), which grow as they must; what it has counted comes out in
canonical order (`Counted`), so that what several threads have counted is added like any two tallies.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
            tables = [*find_tables(self.lowercase), cues]
            addresses = [None if each is None else each.ctypes.data for each in tables]
            settings = len(cues), self.contractions, self.lowercase, self.shortest, self.separated
            done += checked(loop(StyleTables(*addresses, *settings), done))
            if done < len(rows):
                row = rows[done]
                make_tables(self.lowercase, data[offsets[row] : offsets[row + 1]], data.size)


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


# Which characters make words, and their lower case, as tables that the loops over UTF-8 bytes read.
#
# The tables come from the running Python, so that a word here is what ``re`` calls ``\w+`` in ``text.lower()``: the
# same Unicode version, the same few odd cases. Those are two: the capital sigma, whose lower case depends on what
# stands around it, and the capital I with a dot, which becomes an i and a mark that is no letter.
#
# English needs none of them. They are made when a text first needs them, in some 6 ms for the letters, 20 ms for those
# beyond the second plane, and 30 ms for the characters around a sigma.


# What the table says of the two odd characters; no UTF-8 sequence is so small.
SIGMA, DOTTED_I = 1, 2

_ALL = 0x110000
#: Beyond this plane no letter has a case.
CASED = 0x20000
_CASES_END = 0xE0200
# What a text needs.
_LETTERS, _BEYOND, _CASES = 1, 2, 4
# For so many bytes, the time to make all the tables is nothing.
_LARGE_TABLE = 1 << 22

_text_needs = function("text_needs", U8, INT, returns=INT)
_made: dict[tuple[int, bool], NDArray[Any]] = {}


def find_tables(lowercase: bool) -> list[NDArray[Any] | None]:
    """The tables that there are by now: letters, those beyond the second plane, and cases."""
    return [_made.get(key) for key in ((_LETTERS, lowercase), (_BEYOND, False), (_CASES, False))]


def make_tables(lowercase: bool, document: NDArray[np.uint8], size: int) -> None:
    """Make the tables that a document needs, among so many bytes of text."""
    needed = _text_needs(document, document.size) if size < _LARGE_TABLE else _LETTERS | _BEYOND | _CASES
    if needed & _LETTERS:
        _made[_LETTERS, lowercase] = letters(lowercase)
    if needed & _BEYOND:
        _made[_BEYOND, False] = letters_beyond()
    if needed & _CASES:
        _made[_CASES, False] = cases()


@cache
def letters(lowercase: bool) -> NDArray[np.uint32]:
    """For each character of the first two planes the UTF-8 of its lower case, as a number (0: it is no letter).

    >>> letters(True)[ord("É")].item().to_bytes(2).decode()
    'é'
    """
    codes = np.arange(CASED, dtype=np.uint32)
    if lowercase:
        codes[0x130] = ord("i")
        codes = _lower(codes)
        codes[0x3A3] = 0x3C3  # here it stands within a word
    table = np.where(_make_words(codes), _as_utf8(codes), 0).astype(np.uint32)
    if lowercase:
        table[0x3A3], table[0x130] = SIGMA, DOTTED_I
    table.flags.writeable = False
    return table


@cache
def letters_beyond() -> NDArray[np.uint32]:
    """The same for the other planes, where no character has another lower case."""
    codes = np.arange(CASED, _ALL, dtype=np.uint32)
    table = np.where(_make_words(codes), _as_utf8(codes), 0).astype(np.uint32)
    table.flags.writeable = False
    return table


@cache
def cases() -> NDArray[np.uint8]:
    """For each character: 1 if it has a case, 2 if the rule of the final sigma looks through it, else 0.

    Python does not tell these two properties, but shows them: a sigma is final after a cased character, whatever
    is looked through between them.

    >>> [int(cases()[ord(c)]) for c in "a'1"]
    [1, 2, 0]
    """
    places = np.array([c for c in (*range(CASED), *range(0xE0000, _CASES_END)) if c not in (0x130, 10)], np.uint32)
    found = []
    for before in ([ord("a")], []):
        rows = np.empty((len(places), len(before) + 3), np.uint32)
        rows[:, : len(before)], rows[:, -3], rows[:, -2], rows[:, -1] = before, places, ord("Σ"), ord("\n")
        found.append(_lower(rows.reshape(-1)).reshape(rows.shape)[:, -2] == ord("ς"))
    either, cased = found
    result = np.zeros(_CASES_END, np.uint8)
    result[places] = np.where(cased, 1, np.where(either, 2, 0))
    result[0x130] = 1
    result.flags.writeable = False
    return result


def _lower(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The lower case of a text, given by its characters' codes."""
    text = codes.tobytes().decode("utf-32", "surrogatepass")
    return np.frombuffer(text.lower().encode("utf-32", "surrogatepass")[4:], np.uint32).copy()


def _make_words(codes: NDArray[np.uint32]) -> Any:
    r"""Whether ``\w`` matches each character: it is a letter, a digit or an underscore."""
    return np.strings.isalnum(codes.view("U1")) | (codes == ord("_"))


def _as_utf8(codes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """The UTF-8 bytes of each character, the first in the highest place."""
    c = codes.astype(np.uint64)
    tail = [0x80 | (c >> shift & 0x3F) for shift in (0, 6, 12)]
    two = (0xC0 | c >> 6) << 8 | tail[0]
    three = (0xE0 | c >> 12) << 16 | tail[1] << 8 | tail[0]
    four = (0xF0 | c >> 18) << 24 | tail[2] << 16 | tail[1] << 8 | tail[0]
    return np.select([c < 0x80, c < 0x800, c < 0x10000], [c, two, three], four)


# Rows of text put one after the other in another order.


_copy_rows = function("copy_rows", U8, I64, I64, INT, I64, I64, U8)


def gathered(pieces: Sequence[tuple[Array, Array]], firsts: Array, rows: Array) -> tuple[Array, Array]:
    """The bytes of these rows of some pieces (bytes and offsets), in the rows' order, and their offsets.

    >>> piece = np.frombuffer(b"onetwo", np.uint8), np.array([0, 3, 6])
    >>> data, offsets = gathered([piece], np.array([0]), np.array([1, 0]))
    >>> bytes(data), offsets.tolist()
    (b'twoone', [0, 3, 6])
    """
    owner = np.searchsorted(firsts, rows, "right") - 1
    lengths, starts = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    by_piece = [np.flatnonzero(owner == p) for p in range(len(pieces))]
    for (_, bounds), first, mine in zip(pieces, firsts.tolist(), by_piece):
        own = rows[mine] - first
        starts[mine] = bounds[own]
        lengths[mine] = bounds[own + 1] - bounds[own]
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    into = np.zeros(max(int(offsets[-1]), 1), np.uint8)
    for (data, _), mine in zip(pieces, by_piece):
        _copy_rows(np.ascontiguousarray(data), starts[mine], lengths[mine], len(mine), mine, offsets, into)
    return into, offsets
