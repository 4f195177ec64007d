"""Loops over a tree of n-grams: its index, its shares of probability, scoring a sequence and drawing one.

Nodes are numbered anew so that the continuations of a context stand side by side, sorted by their word: 0 is the
empty context, node w + 1 is the word w, then come the pairs, then the triples. An n-gram without its first word
(its suffix) is the context to fall back to. Every smoothing is then the same mixture,

    p(w | context) = own(context w) + rest(context) · p(w | below)

where below is the context's suffix (interpolation) or what the prior imagines (additive smoothing), and after the
empty context the base: a distribution over the words and, in the last place, the unknown word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.threads import run, split, width

Array = NDArray[Any]
Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]

#: The empty context.
ROOT = 0
#: What stands for an n-gram that is not there, and for an unknown word.
ABSENT = -1

_MOST_NODES = (1 << 31) - 2
_WORDS_PER_THREAD = 1 << 14
# So often an unknown word is drawn again before the context is given up for its suffix.
_REFUSALS = 64
#: Draws after which a document that has not ended, or a text that gets no words, is given up.
LONGEST = 1 << 20


class Trie(NamedTuple):
    """The n-grams as arrays over nodes: 0 is the empty context, w + 1 the word w, then the longer ones by length."""

    first: Nodes  # (nodes + 1,): the continuations of node i are first[i] .. first[i + 1]
    last: Nodes  # the last word of each node; -1 for the empty context
    suffix: Nodes  # the node without its first word
    levels: NDArray[np.int64]  # (order + 2,): the n-grams of length L are levels[L] .. levels[L + 1]
    old: NDArray[np.int64]  # (nodes - 1,): the number that node i + 1 had among the given n-grams

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


# The tree.


@njit(cache=True, nogil=True)
def _sorted_places(keys, n_keys, order):  # type: ignore[no-untyped-def]
    """The places of the order, sorted by their key, ties as they were: a counting sort."""
    ends = np.zeros(n_keys + 1, np.int64)
    for i in range(keys.size):
        ends[keys[i] + 1] += 1
    for key in range(n_keys):
        ends[key + 1] += ends[key]
    result = np.empty(order.size, np.int64)
    for i in range(order.size):
        key = keys[order[i]]
        result[ends[key]] = order[i]
        ends[key] += 1
    return result


@njit(cache=True, nogil=True)
def _search(last, low, high, word):  # type: ignore[no-untyped-def]
    """The place of the word in last[low:high], which ascends; or the place where it would stand."""
    while low < high:
        middle = (low + high) >> 1
        if last[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _child(first, last, context, word):  # type: ignore[no-untyped-def]
    """The node of the context and the word after it; -1 where there is none."""
    if word < 0 or context < 0:
        return -1
    if context == 0:
        return word + 1 if word < first[1] - first[0] else -1
    place = _search(last, first[context], first[context + 1], word)
    return place if place < first[context + 1] and last[place] == word else -1


@njit(cache=True, nogil=True)
def _suffixes(first, last, suffix, start, stop):  # type: ignore[no-untyped-def]
    """Fill in the suffixes of the continuations of the contexts start..stop; -1 if all are there, else one that is not.

    The suffix of (context, w) is (suffix of the context, w). Both lists of words ascend, so each search starts where
    the last one ended.
    """
    for context in range(start, stop):
        below = suffix[context]
        low, high = first[below], first[below + 1]
        for node in range(first[context], first[context + 1]):
            low = last[node] + 1 if below == 0 else _search(last, low, high, last[node])
            if below > 0 and (low == high or last[low] != last[node]):
                return node
            suffix[node] = low
    return -1


def build(parents: Sequence[Array], lasts: Sequence[Array], n_words: int, order: int) -> Trie:
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
        parent = node_of[parents[length - 2]]
        words = np.asarray(lasts[length - 2], np.int64)
        places = _sorted_places(words, n_words, np.arange(size, dtype=np.int64))
        places = _sorted_places(parent, above, places)
        last[start : start + size] = words[places]
        old[start - 1 : start - 1 + size] = start - 1 + places
        ends = start + np.cumsum(np.bincount(parent, minlength=above))
        first[levels[length - 1]] = start
        first[levels[length - 1] + 1 : levels[length] + 1] = ends
        node_of = np.empty(size, np.int64)
        node_of[places] = np.arange(size)
        lost = _suffixes(first, last, suffix, int(levels[length - 1]), start)
        if lost >= 0:
            raise InputError(
                f"the n-grams are not those of any text: one of {length} words is there without its last {length - 1}"
            )
    return Trie(first, last, suffix, levels, old)


# The counts.


@njit(cache=True, nogil=True)
def _continuations(counts, suffix, start, preceding):  # type: ignore[no-untyped-def]
    """Count, for every n-gram, the different words that stand before it."""
    for node in range(start, counts.size):
        if counts[node] > 0:
            preceding[suffix[node]] += 1


@njit(cache=True, nogil=True)
def _within(counts, suffix, start, remaining):  # type: ignore[no-untyped-def]
    """Take each n-gram's count from its suffix's; the first suffix that has fewer than that, or -1."""
    for node in range(start, counts.size):
        remaining[suffix[node]] -= counts[node]
    for node in range(remaining.size):
        if remaining[node] < 0 and node > 0:
            return node
    return -1


@njit(cache=True, nogil=True)
def _share(first, values, start, stop, discount, imagined, distinct, own, rest, k):  # type: ignore[no-untyped-def]
    """own = max(v - discount, 0) / (Σ v + added), rest = (added + Σ min(v, discount)) / (Σ v + added).

    Added is what is imagined in every context, and with `distinct` one for each word that was seen there. A context
    that was never seen, and in which nothing is imagined, leaves all to the one below.
    """
    for context in range(start, stop):
        total, spared, added = 0.0, 0.0, imagined
        for node in range(first[context], first[context + 1]):
            total += values[node]
            spared += min(values[node], discount)
            if distinct and values[node] > 0:
                added += 1
        total += added
        if total > 0:
            rest[context, k] = (added + spared) / total
            for node in range(first[context], first[context + 1]):
                own[node, k] = max(values[node] - discount, 0.0) / total
        else:
            rest[context, k] = 1.0


def ordered(trie: Trie, counts: Array) -> Array:
    """The counts of the given n-grams, for each node."""
    return np.append(counts.dtype.type(0), counts[trie.old])


def preceding(trie: Trie, counts: Array) -> Floats:
    """The number of different words that stand before each n-gram (of the longest: 0)."""
    result = np.zeros(len(counts))
    if trie.order > 1:
        _continuations(counts, trie.suffix, int(trie.levels[2]), result)
    return result


def consistent(trie: Trie, counts: Array) -> bool:
    """Whether no n-gram is counted more often with a word before it than at all."""
    return trie.order < 2 or _within(counts, trie.suffix, int(trie.levels[2]), counts.copy()) < 0


def additive(trie: Trie, counts: Array, imagined: float, own: Floats, rest: Floats, k: int) -> None:
    """(c + a) / (N + Σ a) in every context."""
    _share(trie.first, counts, 0, len(rest), 0.0, imagined, False, own, rest, k)


def witten_bell(trie: Trie, counts: Array, uniform: bool, own: Floats, rest: Floats, k: int) -> None:
    """(c + T · lower) / (N + T), T the number of different words in the context; below all, relative frequencies."""
    _share(trie.first, counts, 0, 1, 0.0, 0.0, uniform, own, rest, k)
    _share(trie.first, counts, 1, len(rest), 0.0, 0.0, True, own, rest, k)


def kneser_ney(trie: Trie, counts: Array, discount: float, uniform: bool, own: Floats, rest: Floats, k: int) -> None:
    """max(v - d, 0) / Σ v + …: counts of the longest n-grams, of the shorter ones the different words before them."""
    types = preceding(trie, counts)
    longest = int(trie.levels[trie.order - 1])
    lowest = counts if trie.order == 1 or not types[trie.first[0] : trie.first[1]].any() else types
    _share(trie.first, lowest, 0, 1, discount if uniform else 0.0, 0.0, False, own, rest, k)
    _share(trie.first, types, 1, longest, discount, 0.0, False, own, rest, k)
    _share(trie.first, counts, max(longest, 1), len(rest), discount, 0.0, False, own, rest, k)


# Scoring.


@njit(cache=True, nogil=True)
def _step(first, last, chances, history, length, word, nodes, values):  # type: ignore[no-untyped-def]
    """The probability of a word in every class, and the nodes that end with it.

    history[L] is the node of the last L words, -1 where it is not there, L = 0..length; nodes[L + 1] becomes that of
    those and the word. Where an n-gram is absent, so is every longer one that ends with it.
    """
    below = chances.base[word] if word >= 0 else chances.base[-1]
    for shorter in range(length + 1):
        nodes[shorter + 1] = _child(first, last, history[shorter], word)
        if nodes[shorter + 1] < 0:
            for longer in range(shorter + 1, length + 1):
                nodes[longer + 1] = -1
            break
    for k in range(values.size):
        values[k] = below
        for shorter in range(length if chances.direct else 0, length + 1):
            context, node = history[shorter], nodes[shorter + 1]
            if context < 0:
                break
            values[k] = chances.rest[context, k] * values[k] + (chances.own[node, k] if node >= 0 else 0.0)


@njit(cache=True, nogil=True)
def _follow(history, length, nodes, order):  # type: ignore[no-untyped-def]
    """The history after a word; its length."""
    grown = min(length + 1, order - 1)
    for n in range(1, grown + 1):
        history[n] = nodes[n]
    return grown


@njit(cache=True, nogil=True)
def _logs(first, last, chances, order, start, end, words, ends, low, high, floor, out):  # type: ignore[no-untyped-def]
    """Add the logarithms of the probabilities of the sequences low..high; with an end word, of that as well."""
    history, nodes, values = np.empty(order, np.int64), np.empty(order + 1, np.int64), np.empty(out.shape[1])
    for row in range(low, high):
        history[: start.size] = start
        length = start.size - 1
        begin = ends[row - 1] if row > 0 else 0
        for place in range(begin, ends[row] + (1 if end >= 0 else 0)):
            word = words[place] if place < ends[row] else end
            _step(first, last, chances, history, length, word, nodes, values)
            length = _follow(history, length, nodes, order)
            for k in range(values.size):
                out[row, k] += max(math.log(values[k]), floor)


@njit(cache=True, nogil=True)
def _each(first, last, chances, order, start, words, out, found):  # type: ignore[no-untyped-def]
    """The probability of each word of one sequence, and the nodes of every word's context and of itself."""
    history, nodes = np.empty(order, np.int64), np.empty(order + 1, np.int64)
    history[: start.size] = start
    length = start.size - 1
    for place in range(words.size):
        found[place, 0, :] = -1
        found[place, 1, :] = -1
        found[place, 0, : length + 1] = history[: length + 1]
        _step(first, last, chances, history, length, words[place], nodes, out[place])
        found[place, 1, : length + 1] = nodes[1 : length + 2]
        length = _follow(history, length, nodes, order)


def contexts(trie: Trie, words: Sequence[int]) -> NDArray[np.int64]:
    """The node of the last 0, 1, 2, … of the words; -1 where they were never seen in that order."""
    nodes = [ROOT]
    for word in words:
        nodes = [ROOT, *(int(_child(trie.first, trie.last, node, word)) for node in nodes)]
    return np.array(nodes, np.int64)


def log_probabilities(
    trie: Trie,
    chances: Chances,
    start: NDArray[np.int64],
    end: int,
    words: NDArray[np.int32],
    ends: NDArray[np.int64],
    floor: float = -math.inf,
) -> Floats:
    """log p of each sequence, in every class (sequences × classes).

    The sequences stand one after the other in `words` (-1 is an unknown one) and end at `ends`. Each starts in the
    contexts `start` (see `contexts`) and is followed by the word `end`, unless that is -1. No word's logarithm is
    taken for less than the floor.
    """
    out = np.zeros((len(ends), chances.own.shape[1]))
    step = partial(_logs, trie.first, trie.last, chances, trie.order, start, end, words, ends)
    cuts = split(len(words) + len(ends), width(), _WORDS_PER_THREAD)
    rows = np.searchsorted(ends + np.arange(1, len(ends) + 1), [high for _, high in cuts])
    bounds = [0, *rows[:-1].tolist(), len(ends)] if cuts else [0]
    run([partial(step, low, high, floor, out) for low, high in pairwise(bounds)])
    return out


def probabilities(
    trie: Trie, chances: Chances, start: NDArray[np.int64], words: NDArray[np.int32]
) -> tuple[Floats, NDArray[np.int64]]:
    """p of each word of one sequence in every class; and for each word, the nodes of its contexts and with it."""
    out = np.empty((len(words), chances.own.shape[1]))
    found = np.empty((len(words), 2, trie.order), np.int64)
    _each(trie.first, trie.last, chances, trie.order, start, words, out, found)
    return out, found


# Drawing.


@njit(cache=True, nogil=True)
def _running(first, own, rest, k, out):  # type: ignore[no-untyped-def]
    """Running sums of the shares of a context's continuations, which end exactly at 1 - rest."""
    for context in range(rest.shape[0]):
        low, high = first[context], first[context + 1]
        total = 0.0
        for node in range(low, high):
            total += own[node, k]
            out[node] = total
        if total > 0:
            for node in range(low, high):
                out[node] *= (1.0 - rest[context, k]) / total
            last = high - 1
            while own[last, k] == 0:  # what has no share gets none by rounding
                last -= 1
            out[last:high] = 1.0 - rest[context, k]


@njit(cache=True, nogil=True)
def _above(running, low, high, value):  # type: ignore[no-untyped-def]
    """The first place in low..high whose running sum is above the value."""
    while low < high:
        middle = (low + high) >> 1
        if running[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _draw(first, last, suffix, running, floor, direct, context, whole, generator):  # type: ignore[no-untyped-def]
    """A word after the context (whole: it is all of the history); the number of words stands for the unknown one."""
    while whole or not direct:
        low, high = first[context], first[context + 1]
        value = generator.random()
        if low < high and value < running[high - 1]:
            return last[_above(running, low, high, value)]
        if direct or context == 0:
            break
        context = suffix[context]
    if floor[-1] <= 0:
        return floor.size - 1
    return min(_above(floor, 0, floor.size, generator.random() * floor[-1]), floor.size - 1)


@njit(cache=True, nogil=True)
def _known(first, last, suffix, running, floor, direct, unknown, context, whole, generator):  # type: ignore[no-untyped-def]
    """A word after the context that is not the unknown one, drawn again until it is not.

    Where next to nothing but the unknown word can follow, the context gives way to its suffix.
    """
    while True:
        for _ in range(_REFUSALS):
            word = _draw(first, last, suffix, running, floor, direct, context, whole, generator)
            if word != unknown:
                return word
        if context == 0 and whole:
            break
        if whole:
            context = suffix[context]
        whole = True
    low, high = first[0], first[1]
    return last[_above(running, low, high, generator.random() * running[high - 1])]


@njit(cache=True, nogil=True)
def _drawn(first, last, suffix, levels, running, floor, direct, unknown, begin, start, end, n_words, n_documents, longest, generator):  # type: ignore[no-untyped-def]  # fmt: skip  # noqa: E501
    """Words, and where each document ends; as many words, or as many documents, as asked for.

    The state is the longest context that was seen and its length; `begin` is that of the first document, `start` of
    those that follow (in a text of so many words), each as (node, its length, length of the history).
    """
    order = levels.size - 2
    words, ends = np.empty(max(n_words, 64), np.int64), np.empty(n_documents, np.int64)
    found, done, idle = 0, 0, 0
    context, length, wanted = begin
    while (found < n_words or done < n_documents) and idle <= longest:
        word = _known(first, last, suffix, running, floor, direct, unknown, context, length == wanted, generator)
        idle += 1
        if word == end:
            if done < n_documents:
                ends[done] = found
                done, idle = done + 1, 0
            context, length, wanted = start if n_words > 0 else begin
            continue
        if found == words.size:
            larger = np.empty(2 * found, np.int64)
            larger[:found] = words
            words = larger
        words[found] = word
        found += 1
        if n_words > 0:
            idle = 0
        if order > 1:
            if length == order - 1:
                context, length = suffix[context], length - 1
            node = _child(first, last, context, word)
            while node < 0:
                context, length = suffix[context], length - 1
                node = _child(first, last, context, word)
            context, length, wanted = node, length + 1, min(wanted + 1, order - 1)
    return words[:found], ends[:done]


def running(trie: Trie, chances: Chances, k: int) -> tuple[Floats, Floats]:
    """Running sums to draw from: of the shares of each context, and of the base."""
    sums = np.zeros(len(trie.last))
    _running(trie.first, chances.own, chances.rest, k, sums)
    return sums, np.cumsum(chances.base)


def draw(
    trie: Trie,
    sums: tuple[Floats, Floats],
    direct: bool,
    unknown: int,
    begin: NDArray[np.int64],
    start: NDArray[np.int64],
    end: int,
    n_words: int,
    n_documents: int,
    generator: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw so many words, or documents: the words and, of documents, their ends; too few where there is no end.

    `begin` and `start` are contexts (see `contexts`): of the first word, and of documents that begin afterwards. The
    unknown word (a word of the tree that stands for such, or -1) is not drawn.
    """
    return _drawn(  # type: ignore[no-any-return]
        trie.first, trie.last, trie.suffix, trie.levels, *sums, direct,
        unknown if unknown >= 0 else len(sums[1]) - 1, _state(begin), _state(start), end, n_words,
        n_documents, LONGEST, generator,
    )  # fmt: skip


def _state(nodes: NDArray[np.int64]) -> tuple[int, int, int]:
    """The longest context that is there, its length, and the length of the history."""
    length = int(np.flatnonzero(nodes >= 0)[-1])
    return int(nodes[length]), length, len(nodes) - 1
