"""One document in plain Python: its words with their places, and the features they make.

The loops over bytes do the same for millions of documents; this is for showing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ingenuo.text.words import PREFIX, Words, marked

# What words are taken for: stop words for nothing, words for their stems, affect words for their class as well.


_WORD = re.compile(r"\w+")


class Translation(NamedTuple):
    """Words, what each is taken for (None: it is dropped), and what it counts for besides (None: nothing)."""

    words: list[str]
    into: list[str | None]
    besides: list[str | None]


def feature(name: str) -> str:
    """How the class of a lexicon is called among the words; no word of a text has a bracket.

    >>> feature("positive")
    '[positive]'
    """
    return f"[{name}]"


def changes(words: Words) -> bool:
    """Whether any word is taken for something else than itself."""
    return bool(words.stops or words.stem or words.lexicon)


def translation(words: Words, seen: Iterable[str] = ()) -> Translation:
    """What is not taken for itself, among the stop words, the lexicon and, where words are stemmed, those seen.

    >>> translation(Words(stop_words=["the"], negation="english"))
    Translation(words=['the', 'not_the'], into=[None, None], besides=[None, None])
    """
    return _fixed(words) if words.stem is None else _translation(words, seen)


@lru_cache(maxsize=8)
def _fixed(words: Words) -> Translation:
    """What does not depend on the words that were seen."""
    return _translation(words, ())


def _translation(words: Words, seen: Iterable[str]) -> Translation:
    marked = words.negation is not None
    stops, polarity, opposite = words.stops, words.polarity, words.opposite
    # A stop word of the user's that is no word ("of the", "don't", "") can never match.
    listed = [word for word in (*stops, *polarity) if _WORD.fullmatch(word)]
    everything = dict.fromkeys([*listed, *(PREFIX + word for word in listed if marked), *seen])
    plain = {word: word.removeprefix(PREFIX) if marked else word for word in everything}
    stems = _stems(words, set(plain.values()) - stops)
    result = Translation([], [], [])
    for word, bare in plain.items():
        negated = word != bare
        into = None if bare in stops else (PREFIX if negated else "") + stems.get(bare, bare)
        affect = polarity.get(bare)
        if affect is not None and negated:
            affect = opposite.get(affect)
        if into != word or affect is not None:
            result.words.append(word)
            result.into.append(into)
            result.besides.append(None if affect is None else feature(affect))
    return result


def _stems(words: Words, bare: set[str]) -> Mapping[str, str]:
    stem = words.stemmer()
    if stem is None:
        return {}
    distinct = sorted(bare)
    return dict(zip(distinct, stem(distinct)))


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
