"""Words and n-grams: cut from documents and counted by class, looked up, united, and as trees that give probabilities.

A thread counts into tables of its own (`Counter`), which grow as they must; what it has counted comes out in canonical
order (`Counted`), so that what several threads have counted is added like any two tallies.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import call, check_codes, check_shape, record
from ingenuo.kernels.portable import log
from ingenuo.kernels.threads import run, width

Array = NDArray[Any]
Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]
Places = NDArray[np.int32]

# The words that stand before and after a document; no word of a text has a "<".
BEGIN, END = "<s>", "</s>"

# Bytes that a thread reads at a time: to begin costs some microseconds; and a copy of few is made in the cache.
_SMALL, _LARGE = 1 << 18, 1 << 20

_STYLE = record("letters beyond cases cues", "n_cues contractions lowercase shortest separated fewest most")


@dataclass(frozen=True)
class Style:
    """How documents are cut into words."""

    lowercase: bool = True
    shortest: int = 2  # characters
    cues: tuple[int, ...] = ()  # the words that open a negation's scope, their bytes as numbers
    contractions: bool = False  # n't opens one too
    separated: bool = False  # the words are given, with 0x1F between them
    characters: tuple[int, int] = (0, 0)  # n-grams of so many characters are read in place of words

    @staticmethod
    def of(
        lowercase: bool = True, shortest: int = 2, cues: tuple[str, ...] = (), contractions: bool = False,
        separated: bool = False, characters: tuple[int, int] | None = None,
    ) -> Style:  # fmt: skip
        """A style by the words of its cues, which are known with any capitals where these count."""
        spelled = {""} if not cues else set(cues)
        for place in range(0 if lowercase else max(map(len, cues), default=0)):
            spelled |= {word[:place] + word[place : place + 1].upper() + word[place + 1 :] for word in spelled}
        packed = sorted(int.from_bytes(word.encode()) for word in spelled - {""})
        return Style(lowercase, shortest, tuple(packed), contractions, separated, characters or (0, 0))

    def read(self, data: Array, offsets: Array, rows: Array | range, loop: Callable[[Any, int], int]) -> None:
        """Have a loop read these rows: from the given one on, to the first that needs tables that are not made yet.

        It returns how many it has read.
        """
        cues, done = np.array(self.cues, np.uint64), 0
        while done < len(rows):
            tables = [_made.get(key) for key in (self._letters, (_BEYOND, False), (_CASES, False))]
            settings = len(cues), self.contractions, self.lowercase, self.shortest, self.separated
            done += _check(loop(_STYLE(*tables, cues, *settings, *self.characters), done))
            if done < len(rows):
                row = rows[done]
                _make_tables(self._letters, data[offsets[row] : offsets[row + 1]], data.size)

    @property
    def _letters(self) -> tuple[int, bool]:
        """The table of what a word may consist of."""
        return _CHARACTERS if self.characters[1] else _LETTERS, self.lowercase


def _own(handle: int | None, owner: object, free: Callable[[int], None]) -> int:
    """A handle that goes with its owner."""
    if not handle:
        raise MemoryError("there is no memory for the tables of words")
    weakref.finalize(owner, free, handle)
    return handle


def _check(result: int) -> int:
    """What a loop returns, unless it lacked memory."""
    if result < 0:
        raise MemoryError("there is no memory for the words and n-grams of these texts")
    return result


class Counted(NamedTuple):
    """Words and n-grams in canonical order, and what each class has of each."""

    data: NDArray[np.uint8]
    ends: Integers
    hashes: tuple[Hashes, ...]
    parents: tuple[Places, ...]
    lasts: tuple[Places, ...]
    starts: Integers  # where the cells of each word, n-gram or bucket begin
    codes: Places  # the cells' classes
    values: Array  # (cells, 1 or 2): occurrences, and documents


class Counter:
    """The tables of one thread."""

    def __init__(
        self, how: Style, ngrams: tuple[int, int] = (1, 1), *, counts: bool = True, documents: bool = False,
        bounded: bool = False, buckets: int = 0, real: bool = False, room: int = 1 << 14,
    ) -> None:  # fmt: skip
        self.how, self.highest, self.buckets = how, ngrams[1], buckets
        self.columns, self.real = int(counts) + int(documents), real
        size = 1 << max(10, min(20, room.bit_length()))
        handle = call.counter_new(*ngrams, counts, documents, bounded, buckets, real, size)
        self._handle = _own(handle, self, call.counter_free)

    def find_words(self, words: Sequence[str]) -> Integers:
        """The numbers of these words in the table, which they are put into if they are not there."""
        result = np.empty(len(words), np.int64)
        data = np.frombuffer("\x1f".join(words).encode(), np.uint8)
        _check(call.counter_numbers(self._handle, data, data.size, result))
        return result

    def translate(self, words: Sequence[str], into: Sequence[str | None], also: Sequence[str | None] = ()) -> None:
        """From now on count `into` for each of the words (None: nothing), and `also` as well."""
        numbers = self.find_words(words)
        named = sorted({word for word in (*into, *also) if word is not None})
        places: dict[str | None, int] = {None: -1, **dict(zip(named, self.find_words(named).tolist()))}
        own, more = (
            np.array([places[word] for word in each], np.int64) for each in (into, also or [None] * len(words))
        )
        _check(call.counter_translate(self._handle, numbers, own, more, len(numbers)))

    def count(self, data: Array, offsets: Array, rows: Array, labels: Array, weights: Array | None = None) -> None:
        """Count these rows, which should come in the order of their labels; the weights are doubles if real."""
        check_shape((len(offsets) - 1,), labels, weights)
        check_codes(len(labels), rows, 0)
        given = data, np.ascontiguousarray(offsets, np.int64)
        labels = np.ascontiguousarray(labels, np.int32)

        def loop(how: Any, done: int) -> int:
            rest = np.ascontiguousarray(rows[done:], np.int64)
            return int(call.counter_count(self._handle, how, *given, rest, len(rest), labels, weights))

        self.how.read(data, offsets, rows, loop)

    def finish(self) -> Counted:
        """What was counted, in canonical order; the counter cannot be used any more."""
        deep = 1 if self.buckets else self.highest
        sizes = np.zeros(deep + 2, np.int64)
        _check(call.counter_sizes(self._handle, sizes))
        n_bytes, n_cells, *levels = sizes.tolist()
        nodes, grams = sum(levels), sum(levels[1:])
        data, ends, hashes = np.empty(n_bytes, np.uint8), np.empty(levels[0], np.int64), np.empty(nodes, np.uint64)
        parents, lasts = np.empty(grams, np.int32), np.empty(grams, np.int32)
        starts = np.empty((1 << self.buckets if self.buckets else nodes) + 1, np.int64)
        codes = np.empty(n_cells, np.int32)
        values = np.empty((n_cells, self.columns), np.float64 if self.real else np.int64)
        _check(call.counter_finish(self._handle, data, ends, hashes, parents, lasts, starts, codes, values))
        if self.buckets:
            return Counted(data, ends, (), (), (), starts, codes, values)
        cuts = np.cumsum(levels[1:])[:-1]
        above, last = (tuple(np.split(each, cuts)) if deep > 1 else () for each in (parents, lasts))
        by_level = tuple(np.split(hashes, np.cumsum(levels)[:-1]))
        return Counted(data, ends, by_level, above, last, starts, codes, values)


def cut_by_bytes(lengths: Array) -> list[int]:
    """Where to cut rows of these lengths into parts of about as many bytes: some for each thread, none too small."""
    total = np.cumsum(lengths)
    size = int(total[-1]) if len(total) else 0
    parts = max(1, min(max(8 * width(), size // _LARGE), size // _SMALL))
    inner = np.searchsorted(total, [size * part // parts for part in range(1, parts)]).tolist()
    return [0, *inner, len(lengths)]


def gather_rows(pieces: Sequence[tuple[Array, Array]], firsts: Array, rows: Array) -> tuple[Array, Array]:
    """The bytes of these rows of some pieces (bytes and offsets), in the rows' order, and their offsets."""
    owner = np.searchsorted(firsts, rows, "right") - 1
    lengths, starts = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    by_piece = [np.flatnonzero(owner == p) for p in range(len(pieces))]
    for (_, bounds), first, mine in zip(pieces, firsts.tolist(), by_piece):
        own = rows[mine] - first
        starts[mine], lengths[mine] = bounds[own], bounds[own + 1] - bounds[own]
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    into = np.zeros(max(int(offsets[-1]), 1), np.uint8)
    for (data, _), mine in zip(pieces, by_piece):
        call.copy_rows(data, starts[mine], lengths[mine], len(mine), mine, offsets, into)
    return into, offsets


# Which characters make words, and their lower case, as tables that the loops over UTF-8 bytes read. They come from the
# running Python, so that a word here is what ``re`` calls ``\w+`` in ``text.lower()``: the same Unicode version, the
# same two odd cases: the capital sigma, whose lower case depends on what stands around it, and the capital I with a
# dot, which becomes an i and a mark that is no letter. English needs no tables: they are made when a text first needs
# them, in some 6 ms for the letters, 20 ms for those beyond the second plane, and 30 ms for the characters around a
# sigma.

# What the table says of the two odd characters; no UTF-8 sequence is so small.
SIGMA, DOTTED_I = 1, 2
_ALL, _CASES_END = 0x110000, 0xE0200
CASED = 0x20000  # beyond this plane no letter has a case
_LETTERS, _BEYOND, _CASES = 1, 2, 4  # what a text needs
_CHARACTERS = 8  # in place of the letters: all but white space
_LARGE_TEXT = 1 << 22  # of so many bytes, the time to make all the tables is nothing

_made: dict[tuple[int, bool], Array] = {}


def _make_tables(letters: tuple[int, bool], document: Array, size: int) -> None:
    """Make the tables that a document needs, among so many bytes of text."""
    needed = call.text_needs(document, document.size) if size < _LARGE_TEXT else _LETTERS | _BEYOND | _CASES
    if needed & _LETTERS:
        _made[letters] = find_letters(letters[1], characters=letters[0] == _CHARACTERS)
    if needed & _BEYOND:
        _made[_BEYOND, False] = _write_letters(np.arange(CASED, _ALL, dtype=np.uint32))
    if needed & _CASES:
        _made[_CASES, False] = find_cases()


def find_letters(lowercase: bool, *, characters: bool = False) -> NDArray[np.uint32]:
    """For each character of the first two planes the UTF-8 of its lower case, as a number (0: it is no letter).

    Of `characters`, all but white space are letters.
    """
    codes = np.arange(CASED, dtype=np.uint32)
    if not lowercase:
        return _write_letters(codes, characters)
    codes[0x130] = ord("i")
    codes = _lower(codes)
    codes[0x3A3] = 0x3C3  # here it stands within a word
    table = _write_letters(codes, characters)
    table[0x3A3], table[0x130] = SIGMA, DOTTED_I
    return table


def find_cases() -> NDArray[np.uint8]:
    """For each character: 1 if it has a case, 2 if the rule of the final sigma looks through it, else 0.

    Python shows them: a sigma is final after a cased character, whatever is looked through between them.
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
    return result


def _lower(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The lower case of a text, given by its characters' codes."""
    text = codes.tobytes().decode("utf-32", "surrogatepass")
    return np.frombuffer(text.lower().encode("utf-32", "surrogatepass")[4:], np.uint32).copy()


def _write_letters(codes: NDArray[np.uint32], characters: bool = False) -> NDArray[np.uint32]:
    r"""The UTF-8 bytes of each character that ``\w`` (or ``\S``) matches, the first in the highest place; else 0."""
    c = codes.astype(np.uint64)
    tail = [0x80 | (c >> shift & 0x3F) for shift in (0, 6, 12)]
    two = (0xC0 | c >> 6) << 8 | tail[0]
    three = (0xE0 | c >> 12) << 16 | tail[1] << 8 | tail[0]
    four = (0xF0 | c >> 18) << 24 | tail[2] << 16 | tail[1] << 8 | tail[0]
    bytes_of = np.select([c < 0x80, c < 0x800, c < 0x10000], [c, two, three], four)
    letter = np.strings.isalnum(codes.view("U1")) | (codes == ord("_"))
    if characters:
        letter = ~np.strings.isspace(codes.view("U1"))
    return np.where(letter, bytes_of, 0).astype(np.uint32)


# Vocabularies as arrays. The order of words is that of their hashes, and of equal hashes that of their bytes; the order
# of n-grams is that of their hashes, and of equal ones that of their parts. So two sets of them are united in one pass
# over both, and it is nearly the order in which a hash table holds them.

_ENTRIES = record("hashes data ends parents lasts above words")
_CELLS = record("nodes starts codes classes sums", "node end")
Nodes = tuple[Integers, Integers]  # where the nodes of either vocabulary are among all
Cells = tuple[Array, Array, Array, Any]  # where each node went (ascending), starts, codes, and


def hash_words(data: Array, ends: Array) -> Hashes:
    """The hashes of words given by their bytes."""
    hashes = np.empty(len(ends), np.uint64)
    call.hash_words(data, ends, len(ends), hashes)
    return hashes


def hash_level(above: Hashes, words: Hashes, parents: Places, lasts: Places) -> Hashes:
    """The hashes of n-grams given by their parts."""
    hashes = np.empty(len(parents), np.uint64)
    call.hash_grams(above, words, parents, lasts, len(parents), hashes)
    return hashes


def pick_words(data: Array, ends: Array, order: Array) -> tuple[Array, Array]:
    """The bytes of some words in a new order, and where each ends."""
    picked, offsets = gather_rows([(data, np.append(0, ends))], np.zeros(1, np.int64), order)
    return picked[: offsets[-1]], offsets[1:]


def unite(one: tuple[Any, ...], two: tuple[Any, ...], first: int, nodes: Nodes) -> tuple[list[Array], Places, Places]:
    """All the words, or n-grams of a level, of both, and where those of either are among them; also written to `nodes`.

    Given are hashes, bytes and ends; or hashes, None, None, parents, lasts, and where the parents and the words went.
    So is the result: hashes, bytes and ends; or hashes, parents and last words.
    """
    sides, places = [_ENTRIES(*each) for each in (one, two)], [np.empty(len(each[0]), np.int32) for each in (one, two)]
    n = max(1, min(4 * width(), (len(one[0]) + len(two[0])) >> 13))
    bounds = np.array([(part << 64) // n for part in range(1, n)], np.uint64)
    cuts = [pairwise([0, *np.searchsorted(side[0], bounds).tolist(), len(side[0])]) for side in (one, two)]
    parts = list(zip(*cuts))
    found = run([partial(call.place_entries, sides[0], *a, sides[1], *b, *places) for a, b in parts])
    firsts = [0, *np.cumsum(found).tolist()]
    total, words = firsts[-1], one[1] is not None
    hashes, sizes = np.empty(total, np.uint64), np.empty(total, np.int64) if words else None
    parents, lasts = (None, None) if words else (np.empty(total, np.int32), np.empty(total, np.int32))

    def write(part: int) -> None:
        for side, rows, own, at in zip(sides, parts[part], places, nodes):
            call.write_entries(side, *rows, firsts[part], first, own, at, hashes, sizes, parents, lasts)

    def copy(part: int) -> None:
        for side, (lo, hi), at in zip((one, two), parts[part], nodes):
            begins = np.append(0, side[2])[lo : hi + 1]
            call.copy_rows(side[1], begins[:-1], np.diff(begins), hi - lo, at[lo:hi], offsets, data)

    run([partial(write, part) for part in range(n)])
    if sizes is None:
        return [hashes, parents, lasts], places[0], places[1]  # type: ignore[list-item]
    offsets = np.append(0, np.cumsum(sizes))
    data = np.empty(int(offsets[-1]), np.uint8)
    run([partial(copy, part) for part in range(n)])
    return [hashes, data, offsets[1:]], places[0], places[1]


def _join(
    one: tuple[Any, ...], two: tuple[Any, ...], nodes: int, columns: Sequence[Array | None], *sums: int
) -> tuple[Array, Array]:
    """The cells of two bags, part by part, on all threads: starts and codes; other columns are written to."""
    n = max(1, min(4 * width(), nodes >> 13))
    cuts = [nodes * part // n for part in range(n + 1)]
    a, b = (np.searchsorted(side[0], cuts).tolist() for side in (one, two))
    # Each part is written as if no cell were in both bags, and then moved to where the one before it ended.
    firsts = (one[1][a] + two[1][b]).tolist()
    starts, codes = np.empty(nodes + 1, np.int64), np.empty(firsts[-1], np.int32)

    def write(part: int) -> int:
        sides = [_CELLS(*each, *at[part : part + 2]) for each, at in zip((one, two), (a, b))]
        return int(call.join_cells(*sides, *cuts[part : part + 2], firsts[part], starts, codes, *columns, *sums))

    at = 0
    for part, size in enumerate(run([partial(write, part) for part in range(n)])):
        gap = firsts[part] - at
        starts[cuts[part] : cuts[part + 1]] -= gap
        for column in (codes, *columns) if gap else ():
            if column is not None:
                line = column.strides[0]
                ctypes.memmove(column.ctypes.data + at * line, column.ctypes.data + firsts[part] * line, size * line)
        at += size
    starts[-1] = at
    return starts, codes[:at]


def join_cells(one: Cells, two: Cells, nodes: int) -> tuple[Array, Array, Array, Array]:
    """The cells of two bags over united nodes and classes: starts, codes, and each one's cell in either (or -1).

    A bag is where its nodes went (ascending), its starts, its codes, and the new code of each class.
    """
    most = len(one[2]) + len(two[2])
    origins = np.empty(most, np.int64), np.empty(most, np.int64)
    a, b = ((*each[:3], each[3].astype(np.int64), None) for each in (one, two))
    starts, codes = _join(a, b, nodes, (*origins, None), 0, 0)
    return starts, codes.copy(), origins[0][: len(codes)], origins[1][: len(codes)]


def add_cells(one: Cells, two: Cells, nodes: int) -> tuple[Array, Array, Array]:
    """The same for what two threads have counted, over the same classes: a bag's values come last, and are added."""
    columns, dtype = one[3].shape[1], one[3].dtype
    sums = np.empty((len(one[3]) + len(two[3]), columns), dtype)
    a, b = ((*each[:3], None, each[3]) for each in (one, two))
    starts, codes = _join(a, b, nodes, (None, None, sums), columns, int(dtype.kind == "f"))
    return starts, codes, sums[: len(codes)]


# Documents against a known vocabulary. What a node says of the classes is a short list: the classes that have it, with
# what each adds to the joint beyond what a class without it adds. That part is the same for all words of one weight, so
# it is added once for a document.

_MOST = 1 << 20  # classes a node can have
_NONE: Floats = np.zeros(0)
_WEIGHTS = record("info cells lines weights base constant", "classes")


class Table(NamedTuple):
    """What each node adds to the log joint, laid out so that a rare node takes one load.

    A node of one class has its value beside its number; one of several has cells (class, value), one of many a full
    line, a value for every class. The number says which, and where: (place · 2 + 1 for a line) · 2^20 + how many
    classes, the place of a single one being the class; -1 for a node that is not used.

    To a row's log joint are added, in this order: for each different node, in the order of first occurrence (words,
    then pairs of words, …), its count in the row times its value for the class; and last Σ count · weight times the
    constant of the class, plus Σ count · base.
    """

    info: Integers  # (nodes, 2): numbers, and the values of single classes, as doubles in the same memory
    cells: Floats  # (cells, 2)
    lines: Floats  # (lines, classes)
    weights: Floats  # what one occurrence of a node counts; empty: 1
    base: Floats  # what it adds for every class; empty: nothing
    constant: Floats  # (classes,): what a class adds for an occurrence, times its weight

    def values(self, node: int) -> Floats:
        """What an occurrence of a node adds for each class, beyond the constant and the base."""
        info = int(self.info[node, 0])
        result = np.zeros(len(self.constant))
        place, n = info >> 21, info & (_MOST - 1)
        if info < 0:
            return result
        if n == 1:
            result[place] = self.info.view(np.float64)[node, 1]
        elif info >> 20 & 1:
            result[:] = self.lines[place]
        else:
            result[self.cells[place : place + n, 0].astype(np.intp)] = self.cells[place : place + n, 1]
        return result

    def cells_of(self, starts: Array, codes: Array) -> Floats:
        """The values of all nodes one after the other, given where those of each begin and their classes."""
        info, owners = self.info[:, 0], np.repeat(np.arange(len(self.info)), np.diff(starts))
        place, n = (info >> 21)[owners], (info & (_MOST - 1))[owners]
        is_line, is_used = (info >> 20 & 1)[owners] != 0, info[owners] >= 0
        result = np.zeros(len(owners))
        single, line, few = (np.flatnonzero(is_used & each) for each in (n == 1, is_line, (n != 1) & ~is_line))
        result[single] = self.info.view(np.float64)[owners[single], 1]
        result[line] = self.lines[place[line], codes[line]]
        result[few] = self.cells[place[few] + few - starts[owners[few]], 1]
        return result


def pack_table(
    starts: Array, codes: Array, values: Floats, used: Array, constant: Floats, weights: Floats = _NONE,
    base: Floats = _NONE,
) -> Table:  # fmt: skip
    """A table from the cells of each node: their classes and values."""
    n, classes = len(starts) - 1, len(constant)
    check_shape((n,), used)
    check_shape((int(starts[-1]),), codes, values)
    check_codes(classes, codes, 0)
    info, sizes = np.empty((n, 2), np.int64), np.empty(2, np.int64)
    given = starts, codes, values, used, n, classes, info, sizes
    call.lay_out_weights(*given, None, None)
    cells, lines = np.empty((int(sizes[0]), 2)), np.zeros((int(sizes[1]), classes))
    call.lay_out_weights(*given, cells, lines)
    return Table(info, cells, lines, weights, base, constant)


class Raw(NamedTuple):
    """Words as they stand in texts, and what they are taken for."""

    vocabulary: Any
    into: Places  # the word each is taken for, in this same vocabulary; -1: it is dropped
    also: Places  # what it counts for as well; -1: nothing
    nodes: Integers  # the node of each in the vocabulary of the model; -1: it has none


class Lookup:
    """The tables of a vocabulary, for any number of threads to read; `raw` are words that stand for others in it."""

    def __init__(self, words: Any, how: Style, ngrams: tuple[int, int], raw: Raw | None = None) -> None:
        self.words, self.how, self.ngrams, self.raw = words, how, ngrams, raw
        known = words if raw is None else raw.vocabulary
        # The tables point into these arrays.
        hashes = known.hashes[0] if known.hashes else np.zeros(0, np.uint64)
        changes = (None,) * 3 if raw is None else raw[1:]
        self._kept = hashes, known.data, known.ends, changes
        handle = call.lookup_new(*ngrams, words.buckets, hashes, len(known.ends), known.data, known.ends, *changes)
        self._handle = _own(handle, self, call.lookup_free)
        for n in range(2, 2 if words.buckets else ngrams[1] + 1):
            level = words.hashes[n - 1], words.parents[n - 2], words.lasts[n - 2]
            _check(call.lookup_level(self._handle, n, words.levels[n - 1], *level, len(level[0])))

    def __reduce__(self) -> tuple[Any, ...]:
        return Lookup, (self.words, self.how, self.ngrams, self.raw)

    def score(
        self, batches: Iterable[Any], table: Table, out: Floats, *, once: bool = False, squares: Floats = _NONE
    ) -> None:
        """Add what the words of each row say to its line; also gather squares of weight × count, if there is room."""
        check_shape((len(self.words), 2), table.info)
        check_shape((len(self.words),), *(each for each in (table.weights, table.base) if each.size))
        check_shape(out.shape[1:], table.constant if table.constant.size else None)
        weights = _WEIGHTS(*map(np.ascontiguousarray, table), out.shape[1])

        def score(make: Callable[[], Any]) -> None:
            piece, rows, places = make()
            own = squares[places] if squares.size else None
            check_shape((piece.n_rows, out.shape[1]), out[places])
            check_shape((piece.n_rows,), own)
            self._read(call.lookup_score, piece, rows.start, rows.stop, weights, once, own, out[places])

        for shares in batches:
            run([partial(score, share) for share in shares])

    def _read(self, loop: Callable[..., int], piece: Any, lo: int, hi: int, *arguments: Any) -> None:
        """Have a loop look some rows of a piece up."""
        missing = None if piece.missing is None or not piece.missing.size else piece.missing
        given = piece.data, np.ascontiguousarray(piece.offsets, np.int64), missing
        self.how.read(
            piece.data, piece.offsets, range(lo, hi),
            lambda how, done: loop(self._handle, how, *given, lo + done, hi, *arguments),
        )  # fmt: skip

    def entries(self, pieces: Iterable[Any], used: Array) -> tuple[Array, Array, Array]:
        """Rows, nodes and counts: each node of a row that is used once; for any one node, rows in their order."""
        check_shape((len(self.words),), used)

        def find(piece: Any, lo: int, hi: int) -> list[Array]:
            n, found = np.zeros(1, np.int64), [np.empty(self._most(piece, lo, hi), np.int32) for _ in range(3)]
            self._read(call.lookup_entries, piece, lo, hi, used, *found, n)
            rows, *others = (each[: int(n[0])] for each in found)
            return [rows + piece.first, *(each.copy() for each in others)]

        parts: list[Any] = [(np.zeros(0, np.int32),) * 3]
        for piece in pieces:
            parts += run([partial(find, piece, lo, hi) for lo, hi in pairwise(cut_by_bytes(np.diff(piece.offsets)))])
        rows, nodes, counts = (np.concatenate(each) for each in zip(*parts))
        return rows, nodes, counts

    def _most(self, piece: Any, lo: int, hi: int) -> int:
        """How many nodes these rows can have; of an array that is not written to no memory is taken."""
        # A word takes a byte, and another byte parts it from the next; as characters, each has two spaces besides.
        words, (fewest, most) = int(piece.offsets[hi] - piece.offsets[lo] + hi - lo) // 2 + 1, self.how.characters
        return words * (self.ngrams[1] - self.ngrams[0] + 2) if not most else 4 * words * (most - fewest + 1)

    def nodes(self, pieces: Iterable[Any], n_rows: int) -> tuple[Integers, Integers]:
        """The node of every word and n-gram (-1: not known), row by row, and where each row's end.

        A row's words come first, then its pairs of words, and so on.
        """
        found, ends = [np.zeros(0, np.int64)], np.zeros(n_rows, np.int64)
        for piece in pieces:
            n = np.zeros(1, np.int64)
            nodes, own = np.empty(self._most(piece, 0, piece.n_rows), np.int64), np.zeros(piece.n_rows, np.int64)
            self._read(call.lookup_nodes, piece, 0, piece.n_rows, nodes, own, n)
            before = sum(map(len, found))
            ends[piece.first : piece.first + piece.n_rows] = np.maximum.accumulate(own) + before
            found.append(nodes[: int(n[0])].copy())
        return np.concatenate(found), ends


class Entries(NamedTuple):
    """The words of each document, once each, and what is left of them when it is taken out."""

    rows: Array
    counts: Array  # how often the document has the word; 0 where no other document has it
    rest: Array  # what is left of it in the document's class
    tokens: Array  # of each document: how many words,
    gone: Array  # how many of them are its own,
    gone_words: Array  # and how many different ones those are

    def own_score(self, alpha: float) -> Floats:
        """Σ x_j log(rest_j + α) of each document, over the words that others have too."""
        return np.asarray(np.bincount(self.rows, self.counts * log(self.rest + alpha), len(self.tokens)))


def leave_out(
    rows: Array, nodes: Array, counts: Array, labels: Array, weights: Array, starts: Array, codes: Array, values: Array,
    totals: Array, slack: float, fixed: bool,
) -> Entries:  # fmt: skip
    """What leaving each document out leaves of its words; with `fixed`, no word is ever gone."""
    check_shape(labels.shape, weights)
    check_shape((len(starts) - 1,), totals)
    check_codes(len(labels), rows, 0)
    check_codes(len(totals), nodes, 0)
    found = *(np.empty(len(rows)) for _ in range(2)), *(np.zeros(len(labels)) for _ in range(3))
    given = rows, nodes, counts, len(rows), labels, weights, starts, codes, values, totals
    call.leave_words_out(*given, slack, fixed, *found)
    return Entries(rows, *found)
