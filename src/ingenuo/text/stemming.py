"""Stems: the Snowball algorithms, by language.

The algorithms expect lower case and treat each word alone, so distinct words are stemmed once, in one list.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ingenuo.text.choices import one_of

Stemmer = Callable[[list[str]], list[str]]


def languages() -> list[str]:
    """The names of the algorithms: languages, and variants such as "porter".

    >>> {"english", "italian", "spanish"} <= set(languages())
    True
    """
    import snowballstemmer  # type: ignore[import-untyped]

    return sorted(snowballstemmer.algorithms())


def stemmer(language: str) -> Stemmer:
    """A function from words to their stems, in the same order; it can be pickled and called from any thread.

    >>> stemmer("english")(["loved", "loving", "film"])
    ['love', 'love', 'film']
    """
    return partial(_stems, one_of("stem", language, languages()))


def _stems(language: str, words: list[str]) -> list[str]:
    import snowballstemmer

    # A fresh one for each call: the algorithms keep the word they work on in themselves, which two threads must
    # not share, and making one takes a microsecond.
    stems = snowballstemmer.stemmer(language).stemWords(words)
    # Some algorithms strip a word that is all ending down to nothing: it stays as it is.
    return [stem or word for stem, word in zip(stems, words, strict=True)]


def version() -> str:
    """The version of the stemmers: another may stem otherwise."""
    from importlib import metadata

    return metadata.version("snowballstemmer")
