"""The words and n-grams of documents: how they are cut, counted by class, and looked up again.

A thread counts into tables of its own (`Counter`), which grow as they must; what it has counted comes out in
canonical order (`Counted`), so that what several threads have counted is added like any two tallies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels import grams as loops
from ingenuo.kernels import letters, vocabulary
from ingenuo.kernels.codes import readable
from ingenuo.kernels.tokens import add_new, cut, find_known, follow, home_shift

Array = NDArray[Any]

# The words that stand before and after a document; no word of a text has a "<".
BEGIN, END = "<s>", "</s>"
# Words that are read, and then looked up and added, at a time: a step has a few microseconds of its own, and what
# it leaves for the next should still be near. And bytes of long words among them.
_TOKENS = 1 << 15
_LONG = 1 << 18


class Style(NamedTuple):
    """How documents are cut into words."""

    kinds: NDArray[np.uint8]
    letters: NDArray[np.uint32]
    cases: NDArray[np.uint8]
    shortest: int
    cues: NDArray[np.uint64]
    separated: bool  # the words are given, apart by 0x1F


def style(
    lowercase: bool = True,
    shortest: int = 2,
    cues: tuple[str, ...] = (),
    contractions: bool = False,
    separated: bool = False,
) -> Style:
    """The tables for one way of cutting."""
    kinds, table = letters.tables(lowercase)
    spelled = {cue for given in cues for cue in (_spellings(given) if not lowercase else [given])}
    packed = sorted(int.from_bytes(cue.encode()) for cue in spelled)
    opening = [int(contractions), *packed] if packed or contractions else []
    return Style(kinds, table, letters.cases(), shortest, np.array(opening, np.uint64), separated)


def _spellings(word: str) -> list[str]:
    """A word with every choice of capitals."""
    result = [""]
    for letter in word:
        result = [start + each for start in result for each in {letter, letter.upper()}]
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


class Cells:
    """What each class has of each node of a level: a pool of cells, in rings by node."""

    def __init__(self, size: int, columns: int, stamped: bool, dtype: Any) -> None:
        self.links = np.zeros(size, np.int64)  # the next cell of the node, and this one's class
        self.sums = np.zeros((size, columns), dtype)
        self.stamps = np.zeros(size if stamped else 1, np.int32)  # the last document that was added
        self.state = np.array([0, 0, -1])  # how many there are; the first of this run of a class, and that class

    def ensure(self, more: int) -> None:
        """Have room for so many more."""
        while int(self.state[0]) + more > len(self.links):
            self.links, self.sums = _longer(self.links), _longer(self.sums)
            if len(self.stamps) > 1:
                self.stamps = _longer(self.stamps)

    def gather(self, heads: Array) -> tuple[Array, Array, Array]:
        """Starts, classes and values of the nodes whose last cells these are."""
        cells = int(self.state[0])
        starts, codes = np.zeros(len(heads) + 1, np.int64), np.empty(cells, np.int32)
        values = np.empty((cells, self.sums.shape[1]), self.sums.dtype)
        vocabulary.gather(heads, self.links, self.sums, starts, codes, values)
        return starts, codes, values


class Level:
    """The n-grams of one length: a hash table of pairs."""

    def __init__(self, size: int, cells: Cells) -> None:
        self.slots = np.zeros((size, 3), np.uint64)
        self.n = 0
        self.cells = cells

    def ensure(self, more: int) -> None:
        """Have room for so many more; the table is never fuller than five eighths."""
        while (self.n + more) * 8 > len(self.slots) * 5:
            slots = np.zeros((2 * len(self.slots), 3), np.uint64)
            loops.refill(self.slots, slots)
            self.slots = slots


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
        self.how, self.lowest, self.highest = how, *ngrams
        self.counts, self.documents, self.bounded, self.buckets = counts, documents, bounded, buckets
        self.mapped = False
        self.real = real
        size = 1 << max(10, min(20, room.bit_length()))
        columns, kind = int(counts) + int(documents), np.float64 if real else np.int64
        self.words = 0
        self.slots = np.zeros((2 * size, 2), np.uint64)
        self.text = np.zeros(8 * size, np.uint8)
        self.ends = np.zeros(size + 1, np.int64)
        self.own = np.zeros(size, np.uint64)
        self.heads = np.full(1 << buckets if buckets else size, -1, np.int32)
        self.act, self.extra = np.zeros(size, np.int32), np.zeros(size, np.int32)
        self.cells = Cells(2 * size, columns, documents, kind)
        deep = self.highest > 1 and not buckets
        self.levels = [
            Level(4 * size if deep else 2, Cells(2 * size if deep else 2, columns, documents, kind))
            for _ in range(max(self.highest - 1, 1))  # one at least, for the loops to be of one type
        ]
        self.waiting: list[tuple[Array, Array]] = []  # places, and the ends of the parts among them
        self.completed = 0
        tokens = min(_TOKENS, max(1 << 10, room))
        self.hashes, self.packs, self.sizes = (np.zeros(tokens, np.uint64) for _ in range(3))
        self.ids, self.extras = np.zeros(tokens, np.int64), np.zeros(tokens, np.int64)
        self.part_row, self.part_end, self.extra_end, self.firsts = (np.zeros(tokens, np.int64) for _ in range(4))
        self.level_hash = np.zeros((self.highest + 1, tokens if self.highest > 1 else 0), np.uint64)
        self.level_node = np.zeros((self.highest + 1, tokens if self.highest > 1 else 0), np.int64)
        self.scratch, self.spare = np.zeros(0, np.uint8), 0
        # What precedes a document, level by level: nodes and their hashes.
        self.start_hash, self.start_node = np.zeros(self.highest + 1, np.uint64), np.zeros(self.highest + 1, np.int64)
        if bounded:
            self.numbers([BEGIN, END])
            self._begin()

    def numbers(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of these words in the table, which they are put into if they are not there."""
        data = readable(np.frombuffer("\x1f".join(words).encode(), np.uint8))
        self._reserve(len(data))
        result, at, none = [], np.uint64(0), np.uint64(0)
        while at < len(data):
            room = np.uint64(len(self.hashes) - 8)
            found, used, at = cut(
                data, at, np.uint64(len(data)), room, self.scratch, none, self.hashes, self.packs, self.sizes, none
            )
            at = np.uint64(at)
            self._add_new(int(found), int(used))
            result.append(self.ids[: int(found)].copy())
        return np.concatenate(result) if result else np.zeros(0, np.int64)

    def translate(self, words: Sequence[str], into: Sequence[str | None], besides: Sequence[str | None] = ()) -> None:
        """From now on count `into` for each of the words (None: nothing), and `besides` as well."""
        numbers = self.numbers(words)
        named = sorted({word for word in (*into, *besides) if word is not None})
        places = dict(zip(named, self.numbers(named).tolist()))
        self.act[numbers] = [-1 if word is None else places[word] for word in into]
        if besides:
            self.extra[numbers] = [-1 if word is None else places[word] for word in besides]
        self.mapped = True

    def _begin(self) -> None:
        """Make the n-grams that precede a document: <s>, <s> <s>, …"""
        hashes, nodes = self.start_hash, self.start_node
        hashes[1], nodes[1] = self.own[0], 0
        for number, level in zip(range(2, self.highest), self.levels):
            hashes[number] = follow(hashes[number - 1], hashes[1])
            level.slots[hashes[number] >> home_shift(level.slots)] = hashes[number], 0, np.uint64(1 << 32)
            level.n = 1  # whose number is 0, as is that of what precedes it, and that of its last word

    def _reserve(self, longest: int) -> None:
        """Room for the longest word there can be in a row of so many bytes: its lower case may be longer."""
        if len(self.scratch) - self.spare < _LONG or self.spare < 2 * longest + 64:
            self.scratch, self.spare = scratch_for(longest)

    def _ensure_words(self, found: int, used: int) -> None:
        """Have room for so many more words, and bytes of long ones."""
        while self.words + found > min(len(self.own), len(self.slots) // 2):
            slots = np.zeros((2 * len(self.slots), 2), np.uint64)
            loops.refill(self.slots, slots)
            self.slots = slots
            self.ends, self.own = _longer(self.ends), _longer(self.own)
            self.act, self.extra = _longer(self.act), _longer(self.extra)
            if not self.buckets:
                self.heads = _longer(self.heads)
        while int(self.ends[self.words]) + 8 * found + used > len(self.text):
            self.text = _longer(self.text)

    def _add_new(self, found: int, used: int) -> None:
        """Number the words that were read."""
        self._ensure_words(found, used)
        before = self.words
        after, _ = add_new(
            np.uint64(found), self.hashes, self.packs, self.sizes, self.scratch, self.slots, self.text, self.ends,
            self.own, np.uint64(before), self.ids,
        )  # fmt: skip
        self.words = int(after)
        if not self.buckets:
            self.heads[before : self.words] = -1
        self.act[before : self.words] = np.arange(before, self.words)
        self.extra[before : self.words] = -1

    def count(self, data: Array, offsets: Array, rows: Array, labels: Array, weights: Array, longest: int) -> None:
        """Count these rows, the longest of which has so many bytes; they should come in the order of their labels."""
        self._reserve(longest)
        data, offsets, rows, labels, weights = (readable(each) for each in (data, offsets, rows, labels, weights))
        if self.buckets:
            self._count_buckets(data, offsets, rows, labels, weights)
            return
        how, state = self.how, np.array([0, -1, 0, 0, 0, 0])
        closing = np.uint64(int.from_bytes(END.encode()) if self.bounded else 0)
        lead_hash, lead_node = self.start_hash.copy(), self.start_node.copy()
        progress = np.array([self.words, self.completed, self.highest - 1 if self.bounded else 0, 0])
        level_n = np.array([level.n for level in self.levels])
        lacking = -1
        while lacking != loops.DONE:
            c, levels = self.cells, (self.levels * loops.DEEPEST)[: loops.DEEPEST - 1]  # some twice, and not used
            if self.highest > loops.DEEPEST:
                levels = self.levels[: loops.DEEPEST - 1]
            pools = [level.cells for level in levels]
            lacking = loops.count_rows(
                data, offsets, rows, labels, weights, how.kinds, how.letters, how.cases, np.uint64(how.shortest),
                how.cues, how.separated, closing, self.lowest, self.highest, self.counts, self.documents, self.mapped,
                self.scratch, self.spare, self.hashes, self.packs, self.sizes, self.ids, self.extras, self.part_row,
                self.part_end, self.extra_end, self.firsts, self.level_hash, self.level_node,
                self.slots, self.text, self.ends, self.own, self.heads, self.act, self.extra,
                c.links, c.sums, c.stamps, c.state, tuple(level.slots for level in levels),
                tuple(p.links for p in pools), tuple(p.sums for p in pools), tuple(p.stamps for p in pools),
                tuple(p.state for p in pools), level_n,
                self.start_hash, self.start_node, lead_hash, lead_node, state, progress,
            )  # fmt: skip
            self.words, self.completed = int(progress[0]), int(progress[1])
            for level, n in zip(self.levels, level_n.tolist()):
                level.n = n
            if lacking == loops.LONGER:
                self._add_longer(int(state[loops.PARTS]), labels, weights, int(progress[2]), lead_hash, lead_node)
                level_n = np.array([level.n for level in self.levels])
            self._grow(int(state[loops.FOUND]), int(state[loops.USED]))

    def _add_longer(
        self, parts: int, labels: Array, weights: Array, have: int, lead_hash: Array, lead_node: Array
    ) -> None:
        """Add the n-grams that are longer than those of the loop over batches."""
        known, n = self.highest - 1 if self.bounded else 0, int(self.part_end[parts - 1])
        for number in range(loops.DEEPEST + 1, self.highest + 1):
            level = self.levels[number - 2]
            level.ensure(n)
            level.cells.ensure(n)
            c = level.cells
            loops.hash_level(
                number, self.part_end, parts, have, known, lead_hash, self.start_hash, self.level_hash, self.firsts
            )
            level.n, _ = loops.add_grams(
                number, number >= self.lowest, self.part_row, self.part_end, parts, self.completed, self.firsts,
                lead_node, self.start_node, self.level_hash, self.level_node, level.slots, level.n, labels, weights,
                self.counts, self.documents, c.links, c.sums, c.stamps, c.state,
            )  # fmt: skip

    def _grow(self, found: int, used: int) -> None:
        """Have room for so many more words, all of them new, and n-grams."""
        self._ensure_words(found, used)
        self.cells.ensure(2 * found)
        for level in self.levels[: self.highest - 1]:
            level.ensure(found)
            level.cells.ensure(found)

    def _count_buckets(self, data: Array, offsets: Array, rows: Array, labels: Array, weights: Array) -> None:
        """The same for hashed words."""
        how, state = self.how, np.array([0, -1, 0, 0, 0, 0])
        have, lead_hash, lead_node = 0, self.start_hash.copy(), self.start_node.copy()
        while True:
            loops.read(
                data, offsets, rows, how.kinds, how.letters, how.cases, np.uint64(how.shortest), how.cues,
                how.separated, np.uint64(0), self.scratch, self.spare, self.hashes, self.packs, self.sizes,
                self.part_row, self.part_end, state,
            )  # fmt: skip
            found, _, parts = state[loops.FOUND :].tolist()
            if parts == 0:
                return
            if self.mapped:
                find_known(
                    np.uint64(found), self.hashes, self.packs, self.sizes, self.scratch, readable(self.slots),
                    readable(self.text), readable(self.ends), self.ids,
                )  # fmt: skip
            self._add(parts, labels, weights, have, lead_hash)
            inside = bool(state[loops.BYTE] >= 0)
            self.completed += parts - inside
            if self.highest > 1:
                have = loops.carry(
                    parts, inside, have, 0, self.part_end, self.level_hash, self.level_node, self.start_hash,
                    self.start_node, lead_hash, lead_node,
                )  # fmt: skip

    def _add(self, parts: int, labels: Array, weights: Array, have: int, hashes: Array) -> None:
        """Add the buckets of what was read to the cells."""
        shift = np.uint64(64 - self.buckets)
        if self.mapped:
            loops.translate(
                self.ids, self.hashes, self.own, self.act, self.extra, self.part_end, parts, self.extras,
                self.extra_end,
            )  # fmt: skip
            more = int(self.extra_end[parts - 1])
            self.extras[:more] = self.own[self.extras[:more]] >> shift
            self._add_words(self.extras, self.extra_end, parts, labels, weights)
        n = int(self.part_end[parts - 1])
        if self.highest > 1:
            self.level_hash[1, :n] = self.hashes[:n]
        if self.lowest == 1:
            self.ids[:n] = self.hashes[:n] >> shift
            self._add_words(self.ids, self.part_end, parts, labels, weights)
        for number in range(2, self.highest + 1):
            loops.hash_level(
                number, self.part_end, parts, have, 0, hashes, self.start_hash, self.level_hash, self.firsts
            )
            if number >= self.lowest:
                loops.bucket_level(
                    number, self.part_end, parts, self.firsts, self.level_hash, self.buckets, self.ids, self.extra_end
                )
                self._add_words(self.ids, self.extra_end, parts, labels, weights)
        if self.waiting:
            self._add_places(*by_part(self.waiting, parts), parts, labels, weights)
            self.waiting.clear()

    def _add_words(self, places: Array, ends: Array, parts: int, labels: Array, weights: Array) -> None:
        if self.buckets and self.documents and parts > 1:  # a word and a pair of one document may share a bucket
            self.waiting.append((places[: int(ends[parts - 1])].copy(), ends[:parts].copy()))
        else:
            self._add_places(places, ends, parts, labels, weights)

    def _add_places(self, places: Array, ends: Array, parts: int, labels: Array, weights: Array) -> None:
        c = self.cells
        c.ensure(int(ends[parts - 1]))
        loops.add_words(
            places, self.part_row, ends, parts, self.completed, labels, weights, self.counts, self.documents,
            self.heads, c.links, c.sums, c.stamps, c.state,
        )  # fmt: skip

    def finish(self) -> Counted:
        """What was counted, in canonical order."""
        if self.buckets:
            return Counted(np.zeros(0, np.uint8), np.zeros(0, np.int64), (), (), (), *self.cells.gather(self.heads))
        order, hashes = np.empty(self.words, np.int64), np.empty(self.words, np.uint64)
        places = [np.empty(self.words, np.int32)]
        vocabulary.order_words(self.slots, self.text, self.ends, order, hashes, places[0])
        data, ends = np.empty(int(self.ends[self.words]), np.uint8), np.empty(self.words, np.int64)
        vocabulary.write_words(readable(self.text), readable(self.ends), readable(order), data, ends)
        cells = [self.cells.gather(self.heads[order])]
        all_hashes, all_parents, all_lasts = [hashes], [], []
        for level in self.levels[: self.highest - 1]:
            hashes, order = np.empty(level.n, np.uint64), np.empty(level.n, np.int32)
            parents, lasts, heads, place = (np.empty(level.n, np.int32) for _ in range(4))
            vocabulary.order_grams(level.slots, places[-1], places[0], hashes, parents, lasts, order, heads, place)
            all_hashes.append(hashes)
            all_parents.append(parents)
            all_lasts.append(lasts)
            places.append(place)
            cells.append(level.cells.gather(heads))
        starts, codes, values = cells[0]
        if len(cells) > 1:
            shifts = np.cumsum([len(each[1]) for each in cells])
            starts = np.concatenate([starts, *(each[0][1:] + shift for each, shift in zip(cells[1:], shifts))])
            codes, values = (np.concatenate([each[part] for each in cells]) for part in (1, 2))
        return Counted(data, ends, tuple(all_hashes), tuple(all_parents), tuple(all_lasts), starts, codes, values)


def scratch_for(longest: int) -> tuple[NDArray[np.uint8], int]:
    """Room for the long words of a batch, and how much of it is for the longest word of a row of so many bytes."""
    spare = 2 * longest + 64
    return np.zeros(min(_LONG, 64 * longest + 64) + spare, np.uint8), spare


def by_part(streams: Sequence[tuple[Array, Array]], parts: int) -> tuple[Array, Array]:
    """Places that came level by level, each with the ends of the parts among them, part by part.

    >>> places, ends = by_part([(np.array([1, 2, 3]), np.array([2, 3])), (np.array([4]), np.array([1, 1]))], 2)
    >>> places.tolist(), ends.tolist()
    ([1, 2, 4, 3], [3, 4])
    """
    part = np.concatenate([np.repeat(np.arange(parts), np.diff(ends[:parts], prepend=0)) for _, ends in streams])
    places = np.concatenate([each for each, _ in streams])
    return places[np.argsort(part, kind="stable")], np.cumsum(np.bincount(part, minlength=parts))


def cuts_by_bytes(lengths: Array, parts: int, minimum: int = 1 << 18) -> list[int]:
    """Where to cut rows of these lengths into parts of about as many bytes, and at least so many."""
    total = np.cumsum(lengths)
    size = int(total[-1]) if len(total) else 0
    parts = max(1, min(parts, size // minimum))
    inner = np.searchsorted(total, [size * part // parts for part in range(1, parts)]).tolist()
    return [0, *inner, len(lengths)]


def _longer(array: Array) -> Array:
    """Twice as long, the new half unset."""
    result = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    result[: len(array)] = array
    return result
