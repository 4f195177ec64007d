"""A table of a tally over classes and words, and its axis: the words and n-grams that were seen.

Words are UTF-8 bytes, one after the other; an n-gram is a pair of places: that of the n-gram without its last word, and
that of the word. Nodes are numbered level by level: first the words, then the pairs of words, and so on. With hashed
features there are only so many buckets. The order depends on nothing but the words, so vocabularies unite to add.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, MergeError
from ingenuo.kernels import text as loops
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.labels import Labels, find, same, unite
from ingenuo.tally.tally import AnyTable, Sums

Integers = NDArray[np.int64]
Places = NDArray[np.int32]

_SOME = 1 << 14  # cells


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
        found, first = Vocabulary(data, ends, tuple(hashes), parents, lasts), hashes[0]
        ties = [found._word(i) < found._word(i + 1) for i in np.flatnonzero(first[1:] == first[:-1]).tolist()]
        sorted_words = bool((first[1:] >= first[:-1]).all()) and all(ties)
        if not sorted_words or not all(_level_in_order(*level) for level in zip(hashes[1:], parents, lasts)):
            raise InputError("the words or n-grams of a vocabulary are not in their order, or one is there twice")
        return found

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
        return [f"#{node}" if self.buckets else self._text(int(node)) for node in chosen]

    def shown(self, nodes: Iterable[int]) -> list[str]:
        """The same as a person reads them: the spaces before and after characters can be seen."""
        return list(map(visible, self.texts(nodes)))

    def _text(self, node: int) -> str:
        words: list[str] = []
        level = next(n for n, end in enumerate(self.levels[1:]) if node < end)
        place = node - self.levels[level]
        for parents, lasts in zip(self.parents[:level][::-1], self.lasts[:level][::-1]):
            words.append(self._word(int(lasts[place])).decode())
            place = int(parents[place])
        return " ".join([self._word(place).decode(), *reversed(words)])

    def _word(self, place: int) -> bytes:
        begin = int(self.ends[place - 1]) if place else 0
        return bytes(self.data[begin : int(self.ends[place])])

    def find(self, texts: Iterable[str | tuple[str, ...]]) -> Integers:
        """The nodes of these words or n-grams (spaces between their words, or a tuple of them); -1 where is none."""
        most = 0 if self.order == 1 and not self.buckets else -1  # in a single word a space is its own
        words = (each.split(" ", most) if isinstance(each, str) else each for each in texts)
        return np.array([self._find(each) for each in words], np.int64)

    def _find(self, words: Sequence[str]) -> int:
        hashed = [_hash(word.encode()) for word in words]
        if self.buckets:
            for word in hashed[1:]:
                hashed[0] = loops.hash_level(hashed[0], word, _FIRST, _FIRST)
            return int(hashed[0][0]) >> (64 - self.buckets)
        if len(words) > self.order or any(not word or "\0" in word for word in words):
            return -1
        places = [
            next((at for at in self._with_hash(0, own) if self._word(at) == word.encode()), -1)
            for word, own in zip(words, hashed)
        ]
        node = places[0] if min(places) >= 0 else -1
        for level, last in enumerate(places[1:] if node >= 0 else []):
            above, parents, lasts = self.hashes[level][node : node + 1], self.parents[level], self.lasts[level]
            here = self._with_hash(level + 1, loops.hash_level(above, self.hashes[0], _FIRST, np.array([last])))
            node = next((at for at in here if parents[at] == node and lasts[at] == last), -1)
            if node < 0:
                break
        return -1 if node < 0 else self.levels[len(words) - 1] + node

    def _with_hash(self, level: int, hashed: NDArray[np.uint64]) -> range:
        """The places in a level of what has this hash."""
        return range(*(int(np.searchsorted(self.hashes[level], hashed[0], side)) for side in ("left", "right")))

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
            )
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


def visible(text: str) -> str:
    """A word or a run of characters with its spaces seen, if it begins or ends with one."""
    return text.replace(" ", "␣") if text.startswith(" ") or text.endswith(" ") else text


def _hash(word: bytes) -> NDArray[np.uint64]:
    return loops.hash_words(np.frombuffer(word, np.uint8), np.array([len(word)]))


def _outside(places: Places, size: int) -> bool:
    return bool(len(places)) and (int(places.min()) < 0 or int(places.max()) >= size)


def _level_in_order(hashes: NDArray[np.uint64], parents: Places, lasts: Places) -> bool:
    """Whether n-grams stand in canonical order, each once."""
    above, below = parents[:-1], parents[1:]
    ties = (above < below) | ((above == below) & (lasts[:-1] < lasts[1:]))
    return bool(((hashes[:-1] < hashes[1:]) | ((hashes[:-1] == hashes[1:]) & ties)).all())


@dataclass(frozen=True, eq=False)
class Bag(AnyTable):
    """How often each class has each word or n-gram."""

    vocabulary: Vocabulary
    classes: Labels  # sorted
    starts: Integers  # where the cells of each node begin, and where the last ends
    codes: NDArray[np.int32]  # the cells' classes, ascending within a node
    sums: Sums  # (cells,)

    names = ("class", "word")
    cells_per_class = property(lambda self: len(self.vocabulary))
    signed = False

    @property
    def axes(self) -> tuple[Labels, ...]:
        """The labels of the first axis: the classes."""
        return (self.classes,)

    def column(self, label: int) -> NDArray[Any]:
        """The sums of one class (by its place), one for each node."""
        values = self.numbers()
        result = np.zeros(len(self.vocabulary), values.dtype)
        mine = self.codes == label
        result[self.owners()[mine]] = values[mine]
        return result

    def numbers(self) -> NDArray[Any]:
        """The cells as an ordinary array: of integers where they are whole, else of doubles."""
        if isinstance(self.sums, Exact) and self.sums.whole and len(self.sums.limbs):
            return np.asarray(self.sums.limbs[0])
        return self.sums.floats()

    def owners(self) -> Integers:
        """The node of each cell."""
        return np.repeat(np.arange(len(self.vocabulary)), np.diff(self.starts))

    def over(self, classes: Labels) -> Bag:
        """The same with the codes of other classes, all of which it has among them."""
        if same(self.classes, classes):
            return self
        places = find(classes, self.classes).astype(np.int32)
        return Bag(self.vocabulary, classes, self.starts, places[self.codes], self.sums)

    def trimmed(self) -> Bag:
        """Without the cells that are zero, the classes that have none, and the words that no class has."""
        used = self.sums.used(0)
        if not used.all():
            at = np.flatnonzero(used)
            starts = np.append(0, np.cumsum(used))[self.starts]
            return Bag(self.vocabulary, self.classes, starts, self.codes[at], self.sums.pick(0, at)).trimmed()
        classes, codes = self.classes, self.codes
        some = np.bincount(codes[:_SOME], minlength=len(classes))  # mostly they have all the classes already
        seen = (some if some.all() else np.bincount(codes, minlength=len(classes))) > 0
        if not seen.all():
            codes = (np.cumsum(seen) - 1).astype(np.int32)[codes]
            classes = classes[seen]
        counts = np.diff(self.starts)
        vocabulary, starts = self.vocabulary, self.starts
        if not vocabulary.buckets and not counts.all():
            vocabulary, kept = vocabulary.restrict(counts > 0)
            if vocabulary is not self.vocabulary:
                starts = np.append(0, np.cumsum(counts[kept]))
        if vocabulary is self.vocabulary and classes is self.classes:
            return self
        return Bag(vocabulary, classes, starts, codes, self.sums)

    def weigh(self, factors: NDArray[np.float64]) -> Bag:
        """The sums of each class times its factor; in doubles where a factor is not whole, as with weights of rows."""
        own, whole = factors[self.codes], bool((factors == np.rint(factors)).all())
        if whole and self.sums.whole and isinstance(self.sums, Exact) and len(self.sums.limbs):
            return replace(self, sums=Exact.counts(self.sums.limbs[0] * own.astype(np.int64)))
        return replace(self, sums=Real(self.sums.floats() * own))

    def _is_like(self, other: Bag) -> bool:
        return (
            super()._is_like(other)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.codes, other.codes)
            and self.vocabulary.same(other.vocabulary)
        )

    def align(self, name: str, other: Any) -> tuple[Bag, Bag]:
        """The cells of both bags side by side."""
        if not isinstance(other, Bag):
            raise MergeError(f"'{name}' is a bag of words here and a table there; only tallies of the same kind add")
        classes = unite(self.classes, other.classes)
        try:
            vocabulary, a, b = self.vocabulary.unite(other.vocabulary)
        except MergeError as error:
            raise MergeError(f"'{name}': {error}") from None
        starts, codes, *cells = loops.join_cells(
            (a, self.starts, self.codes, find(classes, self.classes)),
            (b, other.starts, other.codes, find(classes, other.classes)),
            len(vocabulary),
        )
        sums = (each.sums.pick(0, at) for each, at in zip((self, other), cells))
        one, two = (Bag(vocabulary, classes, starts, codes, each) for each in sums)
        return one, two

    def labels_of_cell(self, cell: Any) -> list[Any]:
        """The class and the word of a cell."""
        node = int(np.searchsorted(self.starts, cell[0], "right")) - 1
        return [self.classes.tolist()[self.codes[cell[0]]], self.vocabulary.texts([node])[0]]

    def describe(self, cell: Any, name: str) -> str:
        """What an error says of a cell of a table of that name."""
        label, word = self.labels_of_cell(cell)
        return f"of {word!r} from '{name}' at class {label!r}"

    def without_rare(self, minimum: float, classes: Labels, rows: Any = None) -> Bag:
        """Only the cells of these classes whose sum, or whose documents where they are given, are not below a minimum.

        An n-gram is no more frequent in a class than its words, and than the n-gram without its first or last: so of
        what stays, all parts stay too.
        """
        bag, documents = self.align("words", self if rows is None else rows)
        kept = (documents.sums.floats() >= minimum) & (find(classes, bag.classes) >= 0)[bag.codes]
        return replace(bag, sums=bag.sums.where(kept)).trimmed()
