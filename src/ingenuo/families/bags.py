"""Counting the words of a text column on all threads, and looking them up again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.bag import Bag
from ingenuo.chunk import Share, Text
from ingenuo.exact import Exact
from ingenuo.kernels import text as kernel
from ingenuo.kernels.lookup import Lookup, Raw
from ingenuo.kernels.threads import run, width
from ingenuo.kernels.vocabulary import add_cells
from ingenuo.labels import Labels
from ingenuo.real import Real
from ingenuo.text.translation import Translation, changes, translation
from ingenuo.text.words import Words
from ingenuo.vocabulary import Vocabulary

Array = NDArray[Any]

# Whole weights are added as 64-bit integers up to this sum: a word may then be four million times in every document.
_MOST = float(1 << 40)


def style(words: Words, *, separated: bool = False) -> kernel.Style:
    """How the settings have documents cut into words."""
    return kernel.style(words.lowercase, words.shortest, words.cues, words.contractions, separated)


def count(
    text: Text,
    words: Words,
    labels: NDArray[np.int32],
    classes: Labels,
    weights: NDArray[np.float64] | None = None,
    *,
    counts: bool = True,
    documents: bool = False,
    bounded: bool = False,
    separated: bool = False,
) -> list[Bag]:
    """How often each class has each word or n-gram, and in how many documents: the bags that are asked for.

    With `bounded`, documents begin with as many <s> as n-grams look back, and end with </s>. With `separated`, the
    words are given, apart by the byte 0x1F.
    """
    how = style(words, separated=separated)
    changed = _translation(text, words, how) if changes(words) else None
    weighted, real = _weights(weights)
    buckets = words.hashed.bit_length() - 1 if words.hashed else 0
    counters: list[kernel.Counter] = []
    for shares in text.shares(words.errors, labels):
        while len(counters) < min(width(), len(shares)):
            counter = kernel.Counter(
                how, words.ngrams, counts=counts, documents=documents, bounded=bounded, buckets=buckets, real=real,
                room=(len(shares) - 1) << 12,
            )  # fmt: skip
            if changed is not None:
                counter.translate(*changed)
            counters.append(counter)
        waiting = deque(shares)
        run([partial(_count, counter, waiting, labels, weighted) for counter in counters])
    if not counters:
        counters = [kernel.Counter(how, words.ngrams, counts=counts, documents=documents, buckets=buckets, real=real)]
    results = run([counter.finish for counter in counters])
    counters.clear()  # whose tables are larger than what they have counted
    vocabulary, starts, codes, values = _merged(results, buckets)
    bags = []
    for column in values.T:
        sums = Real(column.copy()) if real else Exact.counts(np.ascontiguousarray(column))
        bags.append(Bag(vocabulary, classes, starts, codes, sums).trimmed())
    return bags


def _count(counter: kernel.Counter, waiting: deque[Callable[[], Share]], labels: Array, weights: Array | None) -> None:
    """Count the shares that are left, one after the other: a thread that is slower takes fewer."""
    while True:
        try:
            share = waiting.popleft()
        except IndexError:
            return
        piece, rows, places = share()
        here = None if weights is None else weights[places]
        counter.count(piece.data, piece.offsets, rows, labels[places], here)


def _weights(weights: NDArray[np.float64] | None) -> tuple[Array | None, bool]:
    """Weights as integers where they are whole; and whether they are not."""
    if weights is None:
        return None, False
    if weights.sum() > _MOST:
        return weights, True
    whole = weights.astype(np.int64)
    return (whole, False) if np.array_equal(whole, weights) else (weights, True)


def _merged(results: list[kernel.Counted], buckets: int) -> tuple[Vocabulary, Array, Array, Array]:
    """What the threads have counted, together."""
    first, *others = results
    vocabulary = _vocabulary(first, buckets)
    starts, codes, values = first.starts, first.codes, first.values
    for other in others:
        vocabulary, a, b = vocabulary.unite(_vocabulary(other, buckets))
        theirs = b, other.starts, other.codes, other.values
        starts, codes, values = add_cells((a, starts, codes, values), theirs, len(vocabulary))
    return vocabulary, starts, codes, values


def _vocabulary(counted: kernel.Counted, buckets: int) -> Vocabulary:
    return Vocabulary(counted.data, counted.ends, counted.hashes, counted.parents, counted.lasts, buckets)


def _translation(text: Text, words: Words, how: kernel.Style) -> Translation:
    return translation(words, distinct(text, words, how) if words.stem else ())


def distinct(text: Text, words: Words, how: kernel.Style) -> list[str]:
    """The words of a text column, each once, as they stand."""
    counter = kernel.Counter(how)
    for piece in text.pieces(words.errors):
        rows = np.arange(piece.n_rows)
        rows = rows if piece.missing is None else rows[~piece.missing]
        counter.count(piece.data, piece.offsets, rows, np.zeros(piece.n_rows, np.int32))
    return _vocabulary(counter.finish(), 0).words()


def lookup(vocabulary: Vocabulary, words: Words, text: Text | None = None, *, separated: bool = False) -> Lookup:
    """The tables to look the words of texts up in; where words are stemmed, those of this text."""
    how = style(words, separated=separated)
    if not changes(words):
        return Lookup(vocabulary, how, words.ngrams)
    found = translation(words, distinct(text, words, how) if words.stem and text is not None else ())
    mentioned = Vocabulary.of(word for word in (*found.words, *found.into, *found.besides) if word is not None)
    own = Vocabulary.of(()) if vocabulary.buckets else _single(vocabulary)
    table, at, theirs = own.unite(mentioned)
    into, besides = np.arange(len(table), dtype=np.int32), np.full(len(table), -1, np.int32)
    nodes = np.full(len(table) + 1, -1, np.int64)  # the last: what is not known at all
    nodes[at] = np.arange(len(at))
    places = dict(zip(mentioned.words(), theirs.tolist()))
    rows = [places[word] for word in found.words]
    into[rows] = [-1 if word is None else places[word] for word in found.into]
    besides[rows] = [-1 if word is None else places[word] for word in found.besides]
    return Lookup(vocabulary, how, words.ngrams, Raw(table, into, besides, nodes))


def _single(vocabulary: Vocabulary) -> Vocabulary:
    """Only its words."""
    return Vocabulary(vocabulary.data, vocabulary.ends, vocabulary.hashes[:1])
