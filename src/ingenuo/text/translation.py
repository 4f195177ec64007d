"""What words are taken for: stop words for nothing, words for their stems, affect words for their class as well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from ingenuo.text.negation import PREFIX
from ingenuo.text.words import Words

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
