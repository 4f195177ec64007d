"""Sequences of words: each word is drawn given the few words before it.

p(w_1 … w_m) = Π p(w_i | w_(i-n+1) … w_(i-1))        n is the order
a prior        (c + a_w) / (N + Σ a)                 c: the count of context and word, N: of the context
Kneser-Ney     max(v - d, 0) / Σ v  +  (d · T / Σ v) · lower        T: different words after it, v: c; for shorter
n-grams, the number of different words before them; lower: the estimate one word shorter
"""

# The vocabulary V is every word that was seen, "</s>" (the end of a text) where texts have boundaries, and "<unk>" (all
# words that were never seen); a closed one lacks "<unk>", and words that are not in it are left out of a text, as naive
# Bayes leaves them out. "<s>" only ever stands in a context. A context that was never seen, and for which a prior
# imagines nothing, stands aside for its longest suffix that was seen, so that probabilities sum to 1 in every context.
# Below the single words, Kneser-Ney has either nothing (base "observed": an unknown word has probability 0) or equal
# shares for all of V (base "uniform").

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import EmptyModelError, ForgetError, InputError, KindError, check_choice
from ingenuo.families import word_features
from ingenuo.kernels import ngrams as loops
from ingenuo.rows.checks import check_number
from ingenuo.rows.part import ListText, Text
from ingenuo.show.arithmetic import Floats, Term, fraction, term
from ingenuo.tally.bag import Bag, Vocabulary
from ingenuo.tally.labels import Labels, labels_of, objects
from ingenuo.tally.prior import Laplace, MaximumLikelihood, Prior
from ingenuo.tally.tally import Tally
from ingenuo.text.tokens import SEPARATOR
from ingenuo.text.words import Words

Nodes = NDArray[np.int64]

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
SMOOTHINGS = ("ml", "kneser-ney")
BASES = ("observed", "uniform")
VOCABULARIES = ("open", "closed")


@dataclass(frozen=True)
class Smoothing:
    """How counts become probabilities: by a prior, or by a mixture with shorter contexts."""

    method: str  # "prior" or "kneser-ney"
    prior: Prior = MaximumLikelihood()  # noqa: RUF009 (immutable)
    discount: float = 0.75
    uniform: bool = False

    @staticmethod
    def of(given: Any, order: int, discount: Any, base: Any) -> Smoothing:
        """The smoothing that a user names: None, one of SMOOTHINGS, or a prior."""
        check_number("discount", discount, 0, 1)
        check_choice("base", base, BASES)
        if given is None:
            given = "kneser-ney" if order > 1 else Laplace()
        if isinstance(given, Prior):
            if given.columns():
                raise InputError(
                    f"the prior names a column {given.columns()[0]!r}, and a text has none; give it by word"
                )
            return Smoothing("prior", given)
        if not isinstance(given, str):
            raise KindError(
                f"smoothing must be a Prior such as Laplace(), or one of {', '.join(SMOOTHINGS)}, "
                f"got {type(given).__name__} {given!r}"
            )
        if check_choice("smoothing", given, SMOOTHINGS) == "ml":
            return Smoothing("prior")
        return Smoothing(given, discount=float(discount), uniform=base == "uniform")


@dataclass(frozen=True)
class Counted:
    """How often every n-gram was seen in each class; n-grams as in a vocabulary's tree, numbered level by level."""

    n_words: int
    parents: Sequence[NDArray[Any]]
    lasts: Sequence[NDArray[Any]]
    cells: Sequence[tuple[NDArray[Any], NDArray[Any]]]  # for each class: n-grams, and counts to be added up

    def column(self, k: int) -> NDArray[Any]:
        """The counts of one class, for every n-gram."""
        nodes, counts = self.cells[k]
        size = self.n_words + sum(map(len, self.parents))
        return np.bincount(nodes, counts, size).astype(counts.dtype)  # doubles hold the integers that are counted

    def seen(self) -> NDArray[Any]:
        """How often each word was seen in all classes."""
        nodes, counts = (np.concatenate(each) for each in zip(*self.cells))
        single = nodes < self.n_words
        return np.bincount(nodes[single], counts[single], self.n_words)

    def fold_rare(self, min_count: float, end: int, unknown: int = -1) -> tuple[Counted, NDArray[np.int64]]:
        """The counts as if every word (but the end) that was seen less often had been the same unknown one.

        And for each word its new number, that of the unknown one (also of those called so in texts) being last.
        """
        seen = self.seen()
        rare = (seen > 0) & (seen < min_count)
        if end >= 0:
            rare[end] = False
        if unknown >= 0:
            rare[unknown] = True
        if not rare.any():
            return self, np.arange(self.n_words)
        new = np.cumsum(~rare) - 1
        n_words = int(new[-1]) + 2
        new[rare] = n_words - 1
        places, size = [new], n_words
        parents, lasts, place = [], [], new
        for parent, last in zip(self.parents, self.lasts):
            pairs, place = np.unique(place[parent] * n_words + new[last], return_inverse=True)
            parents.append(pairs // n_words)
            lasts.append(pairs % n_words)
            places.append(place + size)
            size += len(pairs)
        moved = np.concatenate(places)
        return Counted(n_words, parents, lasts, [(moved[nodes], counts) for nodes, counts in self.cells]), new


@dataclass(frozen=True)
class SequenceParameters:
    """The tree of n-grams, and how probability is shared out in it."""

    trie: loops.Trie
    chances: loops.Chances
    counted: Counted
    pseudo: Floats  # (words + 1,): what the prior imagines of each; the unknown word is last
    known: NDArray[np.bool_]  # (words + 1,): what belongs to the vocabulary
    smoothing: Smoothing
    unknown: int  # the word that unknown ones are taken for, or -1
    start: NDArray[np.int64]  # the contexts a text starts in
    end: int  # the word that ends a text, or -1

    def distribution(self, context: Sequence[int], k: int = 0) -> Floats:
        """p(w | context) of every word, and in the last place of the unknown one."""
        trie, chances = self.trie, self.chances
        nodes = loops.find_contexts(trie, context)
        result = chances.base.copy()
        for node in nodes[-1:] if chances.direct else nodes:
            if node < 0:
                break
            result *= chances.rest[node, k]
            children = slice(trie.first[node], trie.first[node + 1])
            result[trie.last[children]] += chances.own[children, k]
        return result

    def terms(self, words: NDArray[np.int32]) -> list[tuple[Term, ...]]:
        """The probability of each word of a text in every class, written as the fractions it comes from."""
        values, found = loops.probabilities(self.trie, self.chances, self.start, words)
        seen = [self._seen(k) for k in range(len(self.counted.cells))]
        lines = []
        for place, word in enumerate(words.tolist()):
            upto = min(len(self.start) - 1 + place, self.trie.order - 1) + 1
            contexts, nodes = found[place, 0, :upto], found[place, 1, :upto]
            written = [self._write(counts, word, contexts, nodes, k) for k, counts in enumerate(seen)]
            lines.append(tuple(term(how, value) for how, value in zip(written, values[place])))
        return lines

    def _seen(self, k: int) -> NDArray[Any]:
        """What is counted at every node: for Kneser-Ney, of the shorter n-grams, the different words before them."""
        trie = self.trie
        counts = loops.order_counts(trie, self.counted.column(k))
        if self.smoothing.method != "kneser-ney":
            return counts
        values, longest, single = (
            loops.count_preceding(trie, counts),
            int(trie.levels[trie.order]),
            slice(1, trie.first[1]),
        )
        values[longest:] = counts[longest:]
        if not values[single].any():
            values[single] = counts[single]
        return values

    def _write(self, seen: NDArray[Any], word: int, contexts: Nodes, nodes: Nodes, k: int) -> str:
        """The estimate of one word as a person writes it; what a shorter context gives stands in it as a number."""
        chances, length = self.chances, len(contexts) - 1
        counts = [float(seen[node]) if node >= 0 else 0.0 for node in nodes]
        ends = self.trie.first
        totals = [float(seen[ends[at] : ends[at + 1]].sum()) if at >= 0 else 0.0 for at in contexts]
        if chances.direct:
            return fraction(counts[length], self.pseudo[word], totals[length], self.pseudo.sum())
        while length > 0 and totals[length] == 0:
            length -= 1
        c, N, rest = counts[length], totals[length], float(chances.rest[int(contexts[length]), k])
        if N == 0:
            return f"{chances.base[word]:.6g}"
        if rest == 0:
            return fraction(c, 0, N, 0)
        lower, discount = float(chances.base[word]), self.smoothing.discount
        for n in range(length):
            lower = chances.rest[contexts[n], k] * lower + (chances.own[nodes[n], k] if nodes[n] >= 0 else 0.0)
        kept = f"({c:.12g} - {discount:g})/{N:.12g}" if c > discount else f"0/{N:.12g}"
        return f"{kept} + {rest:.6g}·{lower:.6g}"


def estimate(
    counted: Counted, order: int, smoothing: Smoothing, words: Callable[[], Sequence[str]], start: int, end: int,
    unknown: int = -1, closed: bool = False,
) -> SequenceParameters:  # fmt: skip
    """Probabilities from the counts of n-grams; `words` gives their texts, start, end and unknown places of some."""
    n_words, classes, seen = counted.n_words, len(counted.cells), counted.seen()
    if not seen.any():
        raise EmptyModelError("the model has seen no word, so there is nothing to estimate; fit it on some texts")
    known = np.append(seen > 0, unknown < 0 and not closed)
    pseudo = np.zeros(n_words + 1)
    if smoothing.method == "prior":
        brought = smoothing.prior.known(np.zeros(0, np.int64)).tolist()
        if brought:  # words that were not seen, and yet belong to the vocabulary
            named = {*brought} - {START, END}
            known[:-1] |= np.fromiter((text in named for text in words()), np.bool_, n_words)
        pseudo[known] = _imagined(smoothing.prior, known, words)
    imagined = float(pseudo.sum())
    if imagined > 0:
        base = pseudo / imagined
    elif smoothing.uniform:
        base = known / known.sum()
    else:  # only where a class has seen nothing is anything left to this
        base = np.append(seen / seen.sum(), 0.0)
    trie = loops.build_trie(counted.parents, counted.lasts, n_words, order)
    own, rest = np.zeros((len(trie.last), classes)), np.empty((int(trie.levels[order]), classes))
    for k in range(classes):
        own_counts = loops.order_counts(trie, counted.column(k))
        if smoothing.method == "prior":
            loops.share_additive(trie, own_counts, imagined, own, rest, k)
        else:
            loops.share_kneser_ney(trie, own_counts, smoothing.discount, smoothing.uniform, own, rest, k)
    begin = loops.find_contexts(trie, [start] * (trie.order - 1) if start >= 0 else [])
    chances = loops.Chances(own, rest, np.asarray(base, np.float64), imagined > 0)
    return SequenceParameters(trie, chances, counted, pseudo, known, smoothing, unknown, begin, end)


def _imagined(prior: Prior, known: NDArray[np.bool_], words: Callable[[], Sequence[str]]) -> Floats:
    """The pseudo-counts of the vocabulary's words, in its order."""
    if prior.given is None:
        return prior.pseudo_counts(np.arange(int(known.sum())))  # the same for every word, whatever it is
    texts = objects([text for text, here in zip([*words(), UNKNOWN], known) if here])
    labels = labels_of(texts)
    place = {text: i for i, text in enumerate(labels.tolist())}
    return prior.pseudo_counts(labels)[[place[text] for text in texts.tolist()]]


Context = str | Sequence[str] | None
Sequences = tuple[NDArray[np.int32], NDArray[np.int64]]  # the words' numbers, and where each text ends

NGRAMS = "ngrams"
_NONE: Labels = np.zeros(0, np.int64)
_ALL: Labels = np.zeros(1, np.int64)


class Given(NamedTuple):
    """Texts as they were given: to be cut into words, or with their words separated."""

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
        self.closed = settings["vocabulary"] == "closed"
        start, end, named = self._places([START, END, UNKNOWN]).tolist()
        if self.closed:  # then it is a word like any other
            named = -1
        v = self.vocabulary
        given = Counted(len(v.ends), v.parents, v.lasts, [(moved[at], c) for at, c in _cells(bag.over(classes))])
        counted, new = given.fold_rare(settings["min_count"], end, named)
        unknown = counted.n_words - 1 if counted is not given else -1
        self.new = np.append(new, unknown).astype(np.int32)  # the last place serves words that are not there
        self.n_words = counted.n_words
        start, end = (int(self.new[place]) if place >= 0 else -1 for place in (start, end))
        self.parameters = estimate(
            counted, self.order, self.smoothing, lambda: self.names[:-1], start, end, unknown, self.closed
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
        found = {True: word_features.lookup(self.vocabulary, Words(token=r"\w+"), separated=True)}
        if self.words.stem is None:
            found[False] = word_features.lookup(self.vocabulary, self.words)
        return found

    def _numbers(self, given: Given) -> tuple[Nodes, Nodes]:
        """The places of the texts' words in the vocabulary, and where each text ends."""
        _refuse_marks(given, self.words)
        words, text = given.words(self.words), given.text
        # Stems are found for each text again.
        table = self._tables.get(given.separated) or word_features.lookup(self.vocabulary, words, text)
        found: tuple[Nodes, Nodes] = table.nodes(text.cut(words), text.n_rows)
        return found

    def _places(self, words: list[str]) -> NDArray[np.int64]:
        """The place of each word in the vocabulary, as it is; -1 where there is none."""
        return self.vocabulary.find((word,) for word in words)

    def sequences(self, given: Given, *, whole: bool = False) -> Sequences:
        """The numbers of the texts' words: of those in a closed vocabulary, unless the `whole` texts are asked for."""
        places, ends = self._numbers(given)
        words = self.new[places]
        if whole or not self.closed:
            return words, ends
        kept = words >= 0
        return words[kept], np.append(0, np.cumsum(kept))[ends]

    def cut(self, text: str) -> list[str]:
        """The words of a text, in their order."""
        given = ListText("text", [text])
        bag = word_features.count(given, self.words, np.zeros(1, np.int32), _ALL)[0]
        table = word_features.lookup(bag.vocabulary, self.words, given)
        names = bag.vocabulary.words()
        return [names[place] for place in table.nodes(given.cut(self.words), 1)[0].tolist()]

    def find(self, word: str) -> int:
        """The number of a word: as it is or, if there is none such, as a text of that word would be cut."""
        if (word == UNKNOWN and not self.closed) or not word or SEPARATOR in word:
            return int(self.new[-1])
        place = int(self._places([word])[0])
        if place < 0:
            cut = self.cut(word)
            place = int(self._places(cut)[0]) if len(cut) == 1 else -1
        return int(self.new[place])

    def context(self, given: Context) -> list[int]:
        """The numbers of the words before, as many as the order looks at."""
        if given is None:
            words: list[str] = []
        elif isinstance(given, str):
            first, *others = map(self.cut, given.split(START))
            words = first + [word for piece in others for word in (START, *piece)]
        elif isinstance(given, Sequence | np.ndarray) and all(isinstance(word, str) for word in given):
            words = list(given)
        else:
            raise KindError(f"a context is a list of words, or a string of them, got {type(given).__name__} {given!r}")
        found = [self.find(word) for word in words]
        if self.closed:
            found = [place for place in found if place >= 0]
        return found[max(len(found) - self.order + 1, 0) :]

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
            self._sums[k] = loops.sum_shares(p.trie, p.chances, k)
        begin = p.start if before is None else loops.find_contexts(p.trie, before)
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
    given: Given, words: Words, order: int, boundaries: bool, codes: NDArray[np.int32], classes: Labels,
    weights: Floats | None = None,
) -> Tally:  # fmt: skip
    """How often each class has each n-gram, up to the order, as a tally."""
    _refuse_marks(given, words)
    settings = replace(given.words(words), ngrams=(1, order))
    how = {"separated": given.separated, "bounded": boundaries}
    return Tally({NGRAMS: word_features.count(given.text, settings, codes, classes, weights, **how)[0]})


def _refuse_marks(given: Given, words: Words) -> None:
    """Raise where a word that Python cut is one that marks the bounds of a text; the loops cut none that has a "<"."""
    for piece in given.text.cut(words) if not given.separated and not words.shortest else ():
        data = bytes(piece.data).decode()
        if START not in data and END not in data:
            continue
        for row, (a, b) in enumerate(pairwise(piece.offsets.tolist()), piece.first):
            own = bytes(piece.data[a:b]).decode().split(SEPARATOR)
            for word in (word for word in (START, END) if word in own):
                raise InputError(
                    f"text {row} has the word {word!r}, which marks where texts begin and end; let token leave it out"
                )


def check(tally: Tally, order: int) -> None:
    """Raise ForgetError unless every n-gram is counted as often as its last words are with something before them."""
    bag = tally.bag(NGRAMS)
    if bag is None:
        return
    v = bag.vocabulary
    try:
        trie = loops.build_trie(v.parents, v.lasts, len(v.ends), order)
        sound = all(loops.is_consistent(trie, loops.order_counts(trie, bag.column(k))) for k in range(len(bag.classes)))
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
