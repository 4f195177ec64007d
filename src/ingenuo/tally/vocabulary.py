"""The words and n-grams that were seen: an axis of a tally, in an order that depends on nothing but the words.

Words are UTF-8 bytes, one after the other; an n-gram is a pair of places: that of the n-gram without its last word,
and that of the word. Nodes are numbered level by level: first the words, then the pairs of words, and so on. With
hashed features there are no words at all, only so many buckets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError
from ingenuo.kernels import text as loops

Integers = NDArray[np.int64]
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words and n-grams, in canonical order."""

    data: NDArray[np.uint8]  # the words' bytes
    ends: Integers  # where each word ends
    hashes: tuple[NDArray[np.uint64], ...]  # of each level, ascending
    parents: tuple[Places, ...] = ()  # of each level from the second on: the n-gram without its last word
    lasts: tuple[Places, ...] = ()  # and the last word
    buckets: int = 0  # where features are hashed: 2 to this power buckets, and no words

    def __post_init__(self) -> None:
        arrays: list[NDArray[Any]] = [self.data, self.ends, *self.hashes, *self.parents, *self.lasts]
        for array in arrays:
            array.flags.writeable = False

    @staticmethod
    def of(words: Iterable[str]) -> Vocabulary:
        """A vocabulary of single words."""
        encoded = [word.encode() for word in dict.fromkeys(words)]
        data = np.frombuffer(b"".join(encoded), np.uint8)
        ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
        hashes = loops.hash_words(data, ends)
        order = np.array(sorted(range(len(encoded)), key=lambda w: (int(hashes[w]), encoded[w])), np.int64)
        return Vocabulary(*loops.pick_words(data, ends, order), (hashes[order],))

    @staticmethod
    def parts(
        data: NDArray[np.uint8], ends: Integers, parents: tuple[Places, ...], lasts: tuple[Places, ...]
    ) -> Vocabulary:
        """A vocabulary from what a file holds, checked: its hashes are computed, and its order must be canonical."""
        bounds = np.append(0, ends)
        if (np.diff(bounds) <= 0).any() or int(bounds[-1]) != len(data) or not data.all():
            raise InputError("the words of a vocabulary do not follow one another")
        if (data[bounds[:-1]] & 0xC0 == 0x80).any():
            raise InputError("a word of a vocabulary begins within a character")
        data.tobytes().decode()  # a ValueError where it is no text
        hashes = [loops.hash_words(data, ends)]
        for above, words in zip(parents, lasts):
            if len(above) != len(words) or _outside(above, len(hashes[-1])) or _outside(words, len(ends)):
                raise InputError("an n-gram of a vocabulary has no such parts")
            hashes.append(loops.hash_level(hashes[-1], hashes[0], above, words))
        levels = zip(hashes[1:], parents, lasts)
        if not _words_in_order(data, ends, hashes[0]) or not all(_level_in_order(*level) for level in levels):
            raise InputError("the words or n-grams of a vocabulary are not in their order, or one is there twice")
        return Vocabulary(data, ends, tuple(hashes), parents, lasts)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.hashes)

    @cached_property
    def levels(self) -> list[int]:
        """Where the nodes of each level begin, and where the last ends."""
        if self.buckets:
            return [0, 1 << self.buckets]
        return [0, *np.cumsum([len(level) for level in self.hashes]).tolist()]

    def __len__(self) -> int:
        return self.levels[-1]

    def words(self) -> list[str]:
        """The words, in their order."""
        data, bounds = self.data.tobytes(), [0, *self.ends.tolist()]
        return [data[a:b].decode() for a, b in pairwise(bounds)]

    def texts(self, nodes: Iterable[int] | None = None) -> list[str]:
        """The texts of these nodes (of all): an n-gram's words with spaces between them, a bucket's number."""
        chosen = range(len(self)) if nodes is None else nodes
        return [self._text(int(node)) for node in chosen]

    def _text(self, node: int) -> str:
        if self.buckets:
            return f"#{node}"
        words: list[str] = []
        level = next(n for n, end in enumerate(self.levels[1:]) if node < end)
        place = node - self.levels[level]
        while level:
            words.append(self._word(int(self.lasts[level - 1][place])))
            place = int(self.parents[level - 1][place])
            level -= 1
        return " ".join([self._word(place), *reversed(words)])

    def _word(self, place: int) -> str:
        begin = int(self.ends[place - 1]) if place else 0
        return bytes(self.data[begin : int(self.ends[place])]).decode()

    def find(self, texts: Iterable[str]) -> Integers:
        """The nodes of these words (or n-grams, with spaces between their words); -1 where there is none."""
        return np.array([self._find(text) for text in texts], np.int64)

    def _find(self, text: str) -> int:
        words = text.split(" ")
        if self.buckets:
            return self._bucket(words)
        places = [self._place(word.encode()) for word in words]
        if min(places) < 0 or len(words) > self.order:
            return -1
        node = places[0]
        for level, last in enumerate(places[1:]):
            above = self.hashes[level][node : node + 1]
            hashed = loops.hash_level(above, self.hashes[0], _FIRST, np.array([last], np.int32))
            here = self.hashes[level + 1]
            at = int(np.searchsorted(here, hashed[0]))
            while at < len(here) and here[at] == hashed[0]:
                if self.parents[level][at] == node and self.lasts[level][at] == last:
                    break
                at += 1
            else:
                return -1
            node = at
        return self.levels[len(words) - 1] + node

    def _bucket(self, words: list[str]) -> int:
        found, *others = [_hash(word.encode()) for word in words]
        for word in others:
            found = loops.hash_level(found, word, _FIRST, _FIRST)
        return int(found[0]) >> (64 - self.buckets)

    def _place(self, word: bytes) -> int:
        if not word or 0 in word:
            return -1
        hashed = _hash(word)
        at = int(np.searchsorted(self.hashes[0], hashed[0]))
        while at < len(self.ends) and self.hashes[0][at] == hashed[0]:
            if bytes(self.data[int(self.ends[at - 1]) if at else 0 : int(self.ends[at])]) == word:
                return at
            at += 1
        return -1

    def same(self, other: Vocabulary) -> bool:
        """Whether both hold the same words and n-grams."""
        return self is other or (
            self.buckets == other.buckets
            and np.array_equal(self.ends, other.ends)
            and np.array_equal(self.data, other.data)
            and len(self.parents) == len(other.parents)
            and all(np.array_equal(a, b) for a, b in zip(self.parents + self.lasts, other.parents + other.lasts))
        )

    def unite(self, other: Vocabulary) -> tuple[Vocabulary, Integers, Integers]:
        """All the words and n-grams of both, and where the nodes of either went."""
        if self.buckets != other.buckets or (not self.buckets and self.order != other.order):
            raise MergeError(
                f"one vocabulary has {self._what()} and the other {other._what()}; only those of the same kind unite"
            )
        if self.same(other):
            return self, np.arange(len(self)), np.arange(len(self))
        nodes = np.empty(len(self), np.int64), np.empty(len(other), np.int64)
        mine, theirs = ((each.hashes[0], each.data, each.ends, None, None, None, None) for each in (self, other))
        (hashed, data, ends), *where = loops.unite(mine, theirs, 0, nodes)
        maps, levels = [where], [[hashed]]
        for n in range(1, self.order):
            one, two = (
                (each.hashes[n], None, None, each.parents[n - 1], each.lasts[n - 1], above, words)
                for each, above, words in zip((self, other), maps[-1], maps[0])
            )  # fmt: skip
            here = nodes[0][self.levels[n] :], nodes[1][other.levels[n] :]
            level, *where = loops.unite(one, two, sum(len(each[0]) for each in levels), here)
            levels.append(level)
            maps.append(where)
        hashes, (parents, lasts) = [level[0] for level in levels], ([level[n] for level in levels[1:]] for n in (1, 2))
        return Vocabulary(data, ends, tuple(hashes), tuple(parents), tuple(lasts)), *nodes

    def restrict(self, keep: NDArray[np.bool_]) -> tuple[Vocabulary, Integers]:
        """Only the nodes to keep and those that they are made of, and which nodes those were."""
        if self.buckets:
            return self, np.arange(len(self))
        keep = keep.copy()
        levels = [keep[a:b] for a, b in pairwise(self.levels)]
        for level in range(self.order - 1, 0, -1):
            kept = levels[level]
            levels[level - 1][self.parents[level - 1][kept]] = True
            levels[0][self.lasts[level - 1][kept]] = True
        for level in range(self.order - 1, 0, -1):  # words that the last level alone needed have no parts themselves
            levels[level - 1][self.parents[level - 1][levels[level]]] = True
        if keep.all():
            return self, np.arange(len(self))
        order = np.flatnonzero(levels[0])
        data, ends = loops.pick_words(self.data, self.ends, order)
        places = [(np.cumsum(kept) - 1).astype(np.int32) for kept in levels]
        parents = [places[n][p[levels[n + 1]]] for n, p in enumerate(self.parents)]
        lasts = [places[0][w[levels[n + 1]]] for n, w in enumerate(self.lasts)]
        hashes = [h[kept] for h, kept in zip(self.hashes, levels)]
        return Vocabulary(data, ends, tuple(hashes), tuple(parents), tuple(lasts)), np.flatnonzero(keep)

    def _what(self) -> str:
        return f"2^{self.buckets} buckets" if self.buckets else f"n-grams of up to {self.order} words"

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self.data, self.ends, self.hashes, self.parents, self.lasts, self.buckets)


_FIRST = np.zeros(1, np.int32)


def _hash(word: bytes) -> NDArray[np.uint64]:
    return loops.hash_words(np.frombuffer(word, np.uint8), np.array([len(word)]))


def _outside(places: Places, size: int) -> bool:
    return bool(len(places)) and (int(places.min()) < 0 or int(places.max()) >= size)


def _words_in_order(data: NDArray[np.uint8], ends: Integers, hashes: NDArray[np.uint64]) -> bool:
    """Whether words stand in canonical order, each once."""
    equal, bounds, text = np.flatnonzero(hashes[1:] == hashes[:-1]), np.append(0, ends).tolist(), data.tobytes()
    words = [[text[bounds[j] : bounds[j + 1]] for j in (i, i + 1)] for i in equal.tolist()]
    return bool((hashes[1:] >= hashes[:-1]).all()) and all(a < b for a, b in words)


def _level_in_order(hashes: NDArray[np.uint64], parents: Places, lasts: Places) -> bool:
    """Whether n-grams stand in canonical order, each once."""
    above, below = parents[:-1], parents[1:]
    ties = (above < below) | ((above == below) & (lasts[:-1] < lasts[1:]))
    return bool(((hashes[:-1] < hashes[1:]) | ((hashes[:-1] == hashes[1:]) & ties)).all())
