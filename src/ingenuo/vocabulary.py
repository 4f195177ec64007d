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
from ingenuo.kernels import vocabulary as loops
from ingenuo.kernels.codes import readable

Integers = NDArray[np.int64]
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words and n-grams, in canonical order.

    >>> words = Vocabulary.of(["to", "be", "or"])
    >>> sorted(words.texts()), words.find(["be", "not"]).tolist() == [words.texts().index("be"), -1]
    (['be', 'or', 'to'], True)
    """

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
        hashes = np.empty(len(encoded), np.uint64)
        loops.hash_words(readable(data), readable(ends), hashes)
        order = np.array(sorted(range(len(encoded)), key=lambda w: (int(hashes[w]), encoded[w])), np.int64)
        sorted_data, sorted_ends = np.empty_like(data), np.empty_like(ends)
        loops.write_words(readable(data), readable(np.append(0, ends)), readable(order), sorted_data, sorted_ends)
        return Vocabulary(sorted_data, sorted_ends, (hashes[order],))

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
        hashes = [np.empty(len(ends), np.uint64)]
        loops.hash_words(readable(data), readable(ends), hashes[0])
        for above, words in zip(parents, lasts):
            if len(above) != len(words) or _outside(above, len(hashes[-1])) or _outside(words, len(ends)):
                raise InputError("an n-gram of a vocabulary has no such parts")
            hashes.append(np.empty(len(above), np.uint64))
            loops.hash_level(*(readable(each) for each in (hashes[-2], hashes[0], above, words)), hashes[-1])
        if not loops.in_order(*(readable(each) for each in (data, ends, hashes[0]))) or not all(
            loops.level_in_order(readable(h), readable(p), readable(w)) for h, p, w in zip(hashes[1:], parents, lasts)
        ):
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
            above = self.hashes[level][node]
            hashed = np.empty(1, np.uint64)
            loops.hash_level(
                readable(np.array([above])),
                self.hashes[0],
                readable(_FIRST),
                readable(np.array([last], np.int32)),
                hashed,
            )
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
        hashes = [_hash(word.encode()) for word in words]
        found, last = hashes[0].copy(), np.zeros(1, np.int32)
        for word in hashes[1:]:
            loops.hash_level(readable(found.copy()), readable(word), readable(last), readable(last), found)
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
        a, b = np.empty(len(self.ends), np.int32), np.empty(len(other.ends), np.int32)
        n = loops.unite_words(self.hashes[0], self.data, self.ends, other.hashes[0], other.data, other.ends, a, b)
        data, ends = np.empty(len(self.data) + len(other.data), np.uint8), np.empty(n, np.int64)
        used = loops.join_words(self.data, self.ends, readable(a), other.data, other.ends, readable(b), data, ends)
        maps = [(a, b)]
        sizes, hashes = [n], [_joined(n, (a, self.hashes[0]), (b, other.hashes[0]))]
        parents, lasts = [], []
        for level in range(self.order - 1):
            one = self.hashes[level + 1], self.parents[level], self.lasts[level]
            two = other.hashes[level + 1], other.parents[level], other.lasts[level]
            above_a, above_b = maps[-1]
            a, b = np.empty(len(one[0]), np.int32), np.empty(len(two[0]), np.int32)
            most = len(one[0]) + len(two[0])
            level_hashes = np.empty(most, np.uint64)
            level_parents, level_lasts = np.empty(most, np.int32), np.empty(most, np.int32)
            n = loops.unite_level(
                *one, *two, *map(readable, (above_a, above_b, *maps[0])), a, b, level_hashes, level_parents, level_lasts
            )
            hashes.append(level_hashes[:n].copy())
            parents.append(level_parents[:n].copy())
            lasts.append(level_lasts[:n].copy())
            maps.append((a, b))
            sizes.append(n)
        united = Vocabulary(data[:used].copy(), ends, tuple(hashes), tuple(parents), tuple(lasts))
        shifts = np.append(0, np.cumsum(sizes))
        return (
            united,
            np.concatenate([one + shift for (one, _), shift in zip(maps, shifts)]).astype(np.int64),
            np.concatenate([two + shift for (_, two), shift in zip(maps, shifts)]).astype(np.int64),
        )

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
        lengths = np.diff(self.ends, prepend=0)[order]
        data, ends = np.empty(int(lengths.sum()), np.uint8), np.empty(len(order), np.int64)
        loops.write_words(self.data, readable(np.append(0, self.ends)), readable(order), data, ends)
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
    hashed = np.empty(1, np.uint64)
    loops.hash_words(readable(np.frombuffer(word, np.uint8)), readable(np.array([len(word)])), hashed)
    return hashed


def _outside(places: Places, size: int) -> bool:
    return bool(len(places)) and (int(places.min()) < 0 or int(places.max()) >= size)


def _joined(n: int, *parts: tuple[Any, Any]) -> Any:
    result = np.empty(n, parts[0][1].dtype)
    for places, values in parts:
        result[places] = values
    return result
