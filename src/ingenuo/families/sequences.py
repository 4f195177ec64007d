"""Texts as sequences of numbered words, their n-grams counted, and a tally of those read as a model.

Learning needs `count` alone. A `Reading` is made of a tally when the first probability is asked for: the tree of the
n-grams, the shares of probability that a smoothing gives them, and the tables to look words up in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.bag import Bag
from ingenuo.chunk import Text
from ingenuo.errors import ForgetError, InputError, KindError
from ingenuo.families import bags, ngrams
from ingenuo.families.family import Floats
from ingenuo.families.ngrams import END, START, UNKNOWN, Counted, SequenceParameters, Smoothing
from ingenuo.kernels import ngrams as loops
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.sources.texts import ListText
from ingenuo.tally import Tally
from ingenuo.text import Words
from ingenuo.vocabulary import Vocabulary

Context = str | Sequence[str] | None
Sequences = tuple[NDArray[np.int32], NDArray[np.int64]]  # the words' numbers, and where each text ends

NGRAMS = "ngrams"
SEPARATOR = "\x1f"  # between words that are given
_NONE: Labels = np.zeros(0, np.int64)
_ALL: Labels = np.zeros(1, np.int64)


class Given(NamedTuple):
    """Texts as they were given: to be cut into words, or with their words apart."""

    text: Text
    separated: bool

    def words(self, settings: Words) -> Words:
        """The settings that hold for it: words that are given stay as they are."""
        return settings if not self.separated else Words(token=r"\w+", errors=settings.errors)


class Reading:
    """A tally read as a tree of n-grams, and the probabilities that a smoothing makes of it."""

    def __init__(self, bag: Bag, classes: Labels, settings: Mapping[str, Any]) -> None:
        self.order, self.words = int(settings["order"]), settings["text"]
        self.smoothing = Smoothing.of(settings["smoothing"], self.order, settings["discount"], settings["base"])
        self.vocabulary, moved = _with_known(bag.vocabulary, self.smoothing.prior)
        start, end, named = self._places([START, END, UNKNOWN]).tolist()
        v = self.vocabulary
        given = Counted(len(v.ends), v.parents, v.lasts, [(moved[at], c) for at, c in _cells(bag.over(classes))])
        counted, new = given.folded(settings["min_count"], end, named)
        unknown = counted.n_words - 1 if counted is not given else -1
        self.new = np.append(new, unknown).astype(np.int32)  # the last place serves words that are not there
        self.n_words = counted.n_words
        self.parameters: SequenceParameters = ngrams.estimate(
            counted,
            self.order,
            self.smoothing,
            lambda: self.names[:-1],
            int(self.new[start]) if start >= 0 else -1,
            int(self.new[end]) if end >= 0 else -1,
            unknown,
        )
        self._sums: dict[int, tuple[Floats, Floats]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but what is found again quickly, and takes much room."""
        return {**{k: v for k, v in self.__dict__.items() if k not in ("_tables", "names")}, "_sums": {}}

    @cached_property
    def names(self) -> list[str]:
        """The text of every word; in the last place, of the unknown one."""
        found = [UNKNOWN] * (self.n_words + 1)
        for place, text in zip(self.new[:-1].tolist(), self.vocabulary.words()):
            if place != self.new[-1]:
                found[place] = text
        return found

    @cached_property
    def _tables(self) -> dict[bool, Any]:
        """What looks words up, as they are cut from texts and as they are given."""
        plain = Words(token=r"\w+")
        found = {True: bags.lookup(self.vocabulary, plain, separated=True)}
        if self.words.stem is None:
            found[False] = bags.lookup(self.vocabulary, self.words)
        return found

    def _numbers(self, given: Given) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the texts' words in the vocabulary, and where each text ends."""
        words = given.words(self.words)
        table = self._tables.get(given.separated)
        if table is None:  # stems are found for each text anew
            table = bags.lookup(self.vocabulary, words, given.text)
        found: tuple[NDArray[np.int64], NDArray[np.int64]] = table.nodes(
            given.text.pieces(words.errors), given.text.n_rows
        )
        return found

    def _places(self, words: list[str]) -> NDArray[np.int64]:
        """The place of each word in the vocabulary, as it is; -1 where there is none."""
        if not any(" " in word for word in words):  # which the vocabulary takes for an n-gram
            return self.vocabulary.find(words)
        return self._numbers(Given(ListText("words", [SEPARATOR.join(words)]), True))[0]

    def sequences(self, given: Given) -> Sequences:
        """The numbers of the texts' words."""
        places, ends = self._numbers(given)
        return self.new[places], ends

    def cut(self, text: str) -> list[str]:
        """The words of a text, in their order."""
        given = ListText("text", [text])
        bag = bags.count(given, self.words, np.zeros(1, np.int32), _ALL)[0]
        table = bags.lookup(bag.vocabulary, self.words, given)
        names = bag.vocabulary.words()
        return [names[place] for place in table.nodes(given.pieces(self.words.errors), 1)[0].tolist()]

    def find(self, word: str) -> int:
        """The number of a word: as it is or, if there is none such, as a text of that word would be cut."""
        if word == UNKNOWN or not word or SEPARATOR in word:
            return int(self.new[-1])
        place = int(self._places([word])[0])
        if place < 0:
            cut = self.cut(word)
            place = int(self._places(cut)[0]) if len(cut) == 1 else -1
        return int(self.new[place])

    def context(self, given: Context) -> list[int]:
        """The numbers of the words before."""
        if given is None:
            words: list[str] = []
        elif isinstance(given, str):
            pieces = [[each] if each == START else self.cut(each) for each in given.split()]
            words = [word for piece in pieces for word in piece]
        elif isinstance(given, Sequence | np.ndarray) and all(isinstance(word, str) for word in given):
            words = list(given)
        else:
            raise KindError(f"a context is a list of words, or a string of them, got {type(given).__name__} {given!r}")
        if len(words) > self.order - 1:
            raise InputError(
                f"the context has {len(words)} words, and a model of order {self.order} looks at {self.order - 1}; "
                "give no more than that"
            )
        return [self.find(word) for word in words]

    def score(self, sequences: Sequences, floor: float = -np.inf) -> Floats:
        """log p of each sequence in every class."""
        p = self.parameters
        return loops.log_probabilities(p.trie, p.chances, p.start, p.end, *sequences, floor)

    def draw(
        self, n_words: int, n_documents: int, generator: np.random.Generator, *, k: int = 0, before: Any = None
    ) -> list[str]:
        """So many documents of a class or, if there are to be none, one text of so many words."""
        p = self.parameters
        if n_documents and p.end < 0:
            raise InputError("without boundaries texts never end; ask for n_words, or fit with boundaries=True")
        if k not in self._sums:
            self._sums[k] = loops.running(p.trie, p.chances, k)
        begin = p.start if before is None else loops.contexts(p.trie, before)
        words, ends = loops.draw(
            p.trie, self._sums[k], p.chances.direct, p.unknown, begin, p.start, p.end, n_words, n_documents, generator
        )
        if len(ends) < n_documents:
            raise InputError(f"a document did not end within {loops.LONGEST:,} words; ask for n_words, or smooth less")
        if len(words) < n_words:
            raise InputError("the model knows only empty texts, so no words can be drawn; fit it on texts with words")
        texts = list(map(self.names.__getitem__, words.tolist()))
        cuts = [0, *ends.tolist()] if n_documents else [0, len(texts)]
        return [" ".join(texts[low:high]) for low, high in pairwise(cuts)]


def count(
    given: Given,
    words: Words,
    order: int,
    boundaries: bool,
    codes: NDArray[np.int32],
    classes: Labels,
    weights: Floats | None = None,
) -> Tally:
    """How often each class has each n-gram, up to the order, as a tally."""
    settings = replace(given.words(words), ngrams=(1, order))
    bag = bags.count(given.text, settings, codes, classes, weights, bounded=boundaries, separated=given.separated)[0]
    return Tally({NGRAMS: bag})


def check(tally: Tally, order: int) -> None:
    """Raise ForgetError if the counts are not those of any texts.

    With boundaries, every n-gram is counted as often as its last words are with something before them, so that what
    was never added would have left a negative count.
    """
    bag = tally.bag(NGRAMS)
    if bag is None:
        return
    v = bag.vocabulary
    try:
        trie = loops.build(v.parents, v.lasts, len(v.ends), order)
        sound = all(loops.consistent(trie, loops.ordered(trie, bag.column(k))) for k in range(len(bag.classes)))
    except InputError:
        sound = False
    if not sound:
        raise ForgetError(
            "cannot take these texts away: some n-gram would be left more often than its last words are; only texts "
            "that were learned can be forgotten"
        )


def _cells(bag: Bag) -> list[tuple[NDArray[np.int64], NDArray[Any]]]:
    """The nodes that each class has, and how often."""
    order = np.argsort(bag.codes, kind="stable")
    owners, counts = bag.owners()[order], bag.numbers()[order]
    cuts = np.searchsorted(bag.codes[order], np.arange(len(bag.classes) + 1)).tolist()
    return [(owners[low:high], counts[low:high]) for low, high in pairwise(cuts)]


def _with_known(vocabulary: Vocabulary, prior: Prior) -> tuple[Vocabulary, NDArray[np.int64]]:
    """The vocabulary with the words that the prior brings to it, and where its nodes went."""
    special = (START, END, UNKNOWN)
    brought = [word for word in prior.known(_NONE).tolist() if isinstance(word, str) and word and word not in special]
    if not brought:
        return vocabulary, np.arange(len(vocabulary))
    words, levels = Vocabulary.of(brought), vocabulary.order - 1
    nothing = (np.zeros(0, np.int32),) * levels
    alone = Vocabulary(words.data, words.ends, (*words.hashes, *[np.zeros(0, np.uint64)] * levels), nothing, nothing)
    united, moved, _ = vocabulary.unite(alone)
    return united, moved
