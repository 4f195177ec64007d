"""Loops over a tree of n-grams: its index, its shares of probability, scoring a sequence and drawing one.

Nodes are renumbered so that the continuations of a context stand side by side, sorted by their word: 0 is the empty
context, node w + 1 is the word w, then come the pairs, then the triples. Every smoothing is then the same mixture,

    p(w | context) = own(context w) + rest(context) · p(w | below)

where below is the context without its first word (interpolation) or what the prior imagines (additive smoothing), and
after the empty context the base: a distribution over the words and, in the last place, the unknown word.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels import call, check_codes, record
from ingenuo.kernels.counts import sort_by_class
from ingenuo.kernels.threads import run, split, width

Array = NDArray[Any]
Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]
Integers = NDArray[np.int64]

ROOT = 0  # the empty context
ABSENT = -1  # what stands for an n-gram that is not there, and for an unknown word
LONGEST = 1 << 20  # draws after which a document that has not ended, or a text that gets no words, is given up

_MOST_NODES = (1 << 31) - 2
_WORDS_PER_THREAD = 1 << 14
_VALUES = 512  # logarithms taken at a time
_WORDS = 1 << 12  # words drawn at a time
_CHANCES = record("own rest base", "direct unknown classes")


class Trie(NamedTuple):
    """The n-grams as arrays over nodes: 0 is the empty context, w + 1 the word w, then the longer ones by length."""

    first: Nodes  # (nodes + 1,): the continuations of node i are first[i] .. first[i + 1]
    last: Nodes  # the last word of each node; -1 for the empty context
    suffix: Nodes  # the node without its first word
    levels: Integers  # (order + 2,): the n-grams of length L are levels[L] .. levels[L + 1]
    old: Integers  # (nodes - 1,): the number that node i + 1 had among the given n-grams

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self.levels) - 2


class Chances(NamedTuple):
    """How probability is shared out, for each node and class."""

    own: Floats  # (nodes, classes): what an n-gram has of its context's probability
    rest: Floats  # (contexts, classes): what a context (all but the longest n-grams) leaves to the one below
    base: Floats  # (words + 1,): what is below all; the unknown word is last
    direct: bool  # whether what is below every context is the base at once


def build_trie(parents: Sequence[Array], lasts: Sequence[Array], n_words: int, order: int) -> Trie:
    """The tree of the n-grams up to the order.

    For the n-grams of length 2, 3, … there are given the place, among the shorter ones, of each without its last word,
    and the place of that word among the words.
    """
    sizes = [n_words, *(len(places) for places in parents[: order - 1])]
    sizes += [0] * (order - len(sizes))
    levels = np.cumsum([0, 1, *sizes], dtype=np.int64)
    total = int(levels[-1])
    if total > _MOST_NODES:
        raise InputError(f"there are {total:,} n-grams; at most {_MOST_NODES:,} can be modelled: take a lower order")
    first, last, suffix = np.full(total + 1, total, np.int32), np.empty(total, np.int32), np.zeros(total, np.int32)
    old = np.arange(total - 1, dtype=np.int64)
    first[ROOT], last[ROOT] = 1, ABSENT
    first[1] = n_words + 1
    last[1 : n_words + 1] = np.arange(n_words)
    node_of = np.arange(n_words, dtype=np.int64)  # for the given places of a level, the place in the new order
    for length in range(2, order + 1):
        start, size, above = int(levels[length]), sizes[length - 1], sizes[length - 2]
        if size == 0:
            first[levels[length - 1] : total + 1] = start
            break
        parent, words = node_of[parents[length - 2]], lasts[length - 2]
        places = sort_by_class(words, n_words)[0]
        order_of, ends = sort_by_class(parent[places], above)
        places = places[order_of]
        last[start : start + size] = words[places]
        old[start - 1 : start - 1 + size] = start - 1 + places
        first[levels[length - 1]] = start
        first[levels[length - 1] + 1 : levels[length] + 1] = start + ends
        node_of = np.empty(size, np.int64)
        node_of[places] = np.arange(size)
        if call.link_suffixes(first, last, int(levels[length - 1]), start, suffix) >= 0:
            raise InputError(
                f"the n-grams are not those of any text: one of {length} words is there without its last {length - 1}"
            )
    return Trie(first, last, suffix, levels, old)


def order_counts(trie: Trie, counts: Array) -> Array:
    """The counts of the given n-grams, for each node."""
    return np.append(counts.dtype.type(0), counts[trie.old])


def count_preceding(trie: Trie, counts: Array) -> Floats:
    """The number of different words that stand before each n-gram (of the longest: 0)."""
    if trie.order < 2:
        return np.zeros(len(counts))
    start = int(trie.levels[2])
    return np.bincount(trie.suffix[start:][counts[start:] > 0], minlength=len(counts)).astype(np.float64)


def is_consistent(trie: Trie, counts: Array) -> bool:
    """Whether no n-gram is counted more often with a word before it than at all."""
    if trie.order < 2:
        return True
    start, remaining = int(trie.levels[2]), counts.copy()
    np.subtract.at(remaining, trie.suffix[start:], counts[start:])
    return not (remaining[1:] < 0).any()


def _share(
    trie: Trie,
    values: Array,
    start: int,
    stop: int,
    discount: float,
    imagined: float,
    own: Floats,
    rest: Floats,
    k: int,
) -> None:
    """own = max(v - discount, 0) / (Σ v + imagined), rest = (imagined + Σ min(v, discount)) / (Σ v + imagined).

    A context that was never seen, and in which nothing is imagined, leaves all to the one below.
    """
    call.share_contexts(trie.first, values, start, stop, discount, imagined, k, own.shape[1], own, rest)


def share_additive(trie: Trie, counts: Array, imagined: float, own: Floats, rest: Floats, k: int) -> None:
    """(c + a) / (N + Σ a) in every context."""
    _share(trie, counts, 0, len(rest), 0.0, imagined, own, rest, k)


def share_kneser_ney(
    trie: Trie, counts: Array, discount: float, uniform: bool, own: Floats, rest: Floats, k: int
) -> None:
    """max(v - d, 0) / Σ v + …: counts of the longest n-grams, of the shorter ones the different words before them."""
    counts, types = counts.astype(np.float64, copy=False), count_preceding(trie, counts)
    longest = int(trie.levels[trie.order - 1])
    lowest = counts if trie.order == 1 or not types[trie.first[0] : trie.first[1]].any() else types
    _share(trie, lowest, 0, 1, discount if uniform else 0.0, 0.0, own, rest, k)
    _share(trie, types, 1, longest, discount, 0.0, own, rest, k)
    _share(trie, counts, max(longest, 1), len(rest), discount, 0.0, own, rest, k)


def find_contexts(trie: Trie, words: Sequence[int]) -> Integers:
    """The node of the last 0, 1, 2, … of the words; -1 where they were never seen in that order."""

    def child(context: int, word: int) -> int:
        if word < 0 or context < 0:
            return ABSENT
        low, high = int(trie.first[context]), int(trie.first[context + 1])
        place = low + int(np.searchsorted(trie.last[low:high], word))
        return place if place < high and trie.last[place] == word else ABSENT

    nodes = [ROOT]
    for word in words:
        nodes = [ROOT, *(child(node, word) for node in nodes)]
    return np.array(nodes, np.int64)


def log_probabilities(
    trie: Trie, chances: Chances, start: Integers, end: int, words: Nodes, ends: Integers, floor: float = -math.inf
) -> Floats:
    """log p of each sequence, in every class (sequences × classes).

    The sequences stand one after the other in `words` (-1 is an unknown one) and end at `ends`. Each starts in the
    contexts `start` (see `find_contexts`) and is followed by the word `end`, unless that is -1. No word's logarithm is
    taken for less than the floor.
    """
    out = np.zeros((len(ends), chances.own.shape[1]))
    check_codes(len(chances.base), words)
    words, ends = np.ascontiguousarray(words, np.int32), np.ascontiguousarray(ends, np.int64)
    cuts = split(len(words) + len(ends), width(), _WORDS_PER_THREAD)
    rows = np.searchsorted(ends + np.arange(1, len(ends) + 1), [high for _, high in cuts])
    bounds = [0, *rows[:-1].tolist(), len(ends)] if cuts else [0]
    run([partial(_score, trie, chances, start, end, words, ends, *each, floor, out) for each in pairwise(bounds)])
    return out


def probabilities(trie: Trie, chances: Chances, start: Integers, words: Nodes) -> tuple[Floats, Integers]:
    """p of each word of one sequence in every class; and for each word, the nodes of its contexts and with it."""
    out = np.empty((len(words), chances.own.shape[1]))
    check_codes(len(chances.base), words)
    found = np.empty((len(words), 2, trie.order), np.int64)
    _score(trie, chances, start, ABSENT, words, np.array([len(words)]), 0, 1, -math.inf, out, found)
    return out, found


def _score(
    trie: Trie, chances: Chances, start: Integers, end: int, words: Nodes, ends: Integers, low: int, high: int,
    floor: float, out: Floats, found: Integers | None = None,
) -> None:  # fmt: skip
    """Score sequences low..high or, where there is room for the nodes that are `found`, each word of them."""
    start = start[: trie.order]
    n_values, room = max(_VALUES, chances.own.shape[1]), np.empty(2 * trie.order + 1, np.int64)
    shares = _CHANCES(*chances, len(chances.base) - 1, chances.own.shape[1])
    given = start, len(start), end, words, ends, low, high, floor, room, np.empty(n_values), n_values
    call.score_sequences(trie.first, trie.last, shares, trie.order, *given, out, found)


def sum_shares(trie: Trie, chances: Chances, k: int) -> tuple[Floats, Floats]:
    """Running sums to draw from: of the shares of each context, and of the base."""
    sums = np.zeros(len(trie.last))
    call.sum_shares(trie.first, chances.own, chances.rest, len(chances.rest), k, chances.own.shape[1], sums)
    return sums, np.cumsum(chances.base)


def draw(
    trie: Trie, sums: tuple[Floats, Floats], direct: bool, unknown: int, begin: Integers, start: Integers, end: int,
    n_words: int, n_documents: int, generator: np.random.Generator,
) -> tuple[Integers, Integers]:  # fmt: skip
    """Draw so many words, or documents: the words and, of documents, their ends; too few where there is no end.

    `begin` and `start` are contexts: of the first word, and of documents that begin afterwards. The unknown word (a
    word of the tree that stands for such, or -1) is not drawn.
    """

    def state(nodes: Integers) -> tuple[int, int, int]:
        """The longest context that is there, its length, and the length of the history."""
        length = int(np.flatnonzero(nodes >= 0)[-1])
        return int(nodes[length]), length, len(nodes) - 1

    progress = np.array([0, 0, 0, *state(begin)], np.int64)
    after = np.array(state(start if n_words > 0 else begin), np.int64)
    ends = np.empty(n_documents, np.int64)
    # The generator's own C function is called, so that the draws are those of Generator.random().
    random = generator.bit_generator.ctypes
    source = ctypes.cast(random.next_double, ctypes.c_void_p).value, random.state.value
    pieces, done = [], False
    with generator.bit_generator.lock:
        while not done:
            before = int(progress[0])
            words = np.empty(max(_WORDS, n_words - before), np.int64)
            done = call.draw_words(
                trie.first, trie.last, trie.suffix, trie.order, *sums, len(sums[1]), direct,
                unknown if unknown >= 0 else len(sums[1]) - 1, after, end, n_words, n_documents, LONGEST, *source,
                len(words), words, ends, progress,
            )  # fmt: skip
            pieces.append(words[: int(progress[0]) - before])
    return np.concatenate(pieces), ends[: int(progress[1])]
