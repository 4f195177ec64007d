"""One document in plain Python: its words with their places, and the features they make.

The loops over bytes do the same for millions of documents; this is for showing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingenuo.text.negation import marked
from ingenuo.text.translation import changes, translation
from ingenuo.text.words import Words

_RUN = re.compile(r"\w+")


class Token(NamedTuple):
    """A word, and where it stands in the text."""

    begin: int
    end: int
    word: str


class Feature(NamedTuple):
    """A word, n-gram or class of a lexicon, and the tokens it is made of, by their numbers."""

    text: str
    tokens: tuple[int, ...]


def tokens(text: str, words: Words) -> list[Token]:
    """The words of a text, in lower case and marked if so asked; none is left out yet.

    >>> tokens("I DON'T like it", Words(negation="english"))
    [Token(begin=2, end=5, word='don'), Token(begin=8, end=12, word='not_like'), Token(begin=13, end=15, word='not_it')]
    """
    shown = text.lower() if words.lowercase else text
    places = list(range(len(text) + 1))
    if len(shown) != len(text):  # a character whose lower case is longer
        places = [i for i, c in enumerate(text) for _ in c.lower()] + [len(text)]
    found = marked(shown, words.negation, words.shortest) if words.negation else _runs(shown, words.shortest)
    return [Token(places[begin], places[end - 1] + 1, word) for begin, end, word in found]


def _runs(text: str, shortest: int) -> Iterator[tuple[int, int, str]]:
    for run in _RUN.finditer(text):
        if len(run.group()) >= shortest:
            yield run.start(), run.end(), run.group()


def features(read: list[Token], words: Words) -> list[Feature]:
    """The features of a text, in its order.

    >>> read = tokens("the cat sat", Words())
    >>> [feature.text for feature in features(read, Words(ngrams=(1, 2), stop_words=["the"]))]
    ['cat', 'sat', 'cat sat']
    """
    into: dict[str, str | None] = {}
    besides: dict[str, str | None] = {}
    if changes(words):
        found = translation(words, [token.word for token in read])
        into, besides = dict(zip(found.words, found.into)), dict(zip(found.words, found.besides))
    result = []
    kept: list[tuple[int, str]] = []
    for number, token in enumerate(read):
        extra = besides.get(token.word)
        if extra is not None:
            result.append(Feature(extra, (number,)))
        word = into.get(token.word, token.word)
        if word is not None:
            kept.append((number, word))
    for n in range(words.ngrams[0], words.ngrams[1] + 1):
        for at in range(len(kept) - n + 1):
            window = kept[at : at + n]
            result.append(Feature(" ".join(word for _, word in window), tuple(number for number, _ in window)))
    return result
