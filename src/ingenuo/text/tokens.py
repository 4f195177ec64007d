"""One document in plain Python: its words with their places, and the features they make.

The loops over bytes do the same for millions of documents; this is for showing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError
from ingenuo.kernels.text import CASED, find_cases
from ingenuo.tally.bag import visible
from ingenuo.text.words import PREFIX, Words, find_words, stem_words

_BETWEEN_SPACES = r"[^\s\0]+"
_WORD, _ANY = re.compile(r"\w+"), re.compile(r"[^\x00\x1f]+")

SEPARATOR = "\x1f"  # between words that are given


class Translation(NamedTuple):
    """Words, what each is taken for (None: it is dropped), and what it also counts for (None: nothing)."""

    words: list[str]
    into: list[str | None]
    also: list[str | None]


def feature(name: str) -> str:
    """How the class of a lexicon is called among the words; no word of a text has a bracket."""
    return f"[{name}]"


def changes(words: Words) -> bool:
    """Whether any word is taken for something else than itself."""
    return bool(words.stops or words.stem or words.lexicon)


def translation(words: Words, seen: Iterable[str] = ()) -> Translation:
    """What is not taken for itself, among the stop words, the lexicon and, where words are stemmed, those seen."""
    return _fixed(words) if words.stem is None else _translate(words, seen)


def _translate(words: Words, seen: Iterable[str]) -> Translation:
    negates, stops = words.negation is not None, words.stops
    # A stop word of the user's that is no word (for the usual token: "of the", "don't", "") can never match.
    possible = _WORD if words.shortest else _ANY
    listed = [word for word in (*stops, *words.polarity) if possible.fullmatch(word)]
    everything = dict.fromkeys([*listed, *(PREFIX + word for word in listed if negates), *seen])
    plain = {word: word.removeprefix(PREFIX) if negates else word for word in everything}
    distinct = sorted(set(plain.values()) - stops)
    stems = dict(zip(distinct, distinct if words.stem is None else stem_words(words.stem, distinct)))
    result = Translation([], [], [])
    for word, bare in plain.items():
        negated = word != bare
        into = None if bare in stops else (PREFIX if negated else "") + stems[bare]
        affect = words.polarity.get(bare)
        if affect is not None and negated:
            affect = words.opposite.get(affect)
        if into != word or affect is not None:
            result.words.append(word)
            result.into.append(into)
            result.also.append(None if affect is None else feature(affect))
    return result


@lru_cache(maxsize=8)
def _fixed(words: Words) -> Translation:
    """What does not depend on the words that were seen."""
    return _translate(words, ())


class Token(NamedTuple):
    """A word, and where it stands in the text."""

    begin: int
    end: int
    word: str


class Feature(NamedTuple):
    """A word, n-gram, run of characters or class of a lexicon, and the tokens it is of, by their numbers."""

    words: tuple[str, ...]
    tokens: tuple[int, ...]

    @property
    def text(self) -> str:
        """Its words with spaces between them, as a person reads them."""
        return visible(" ".join(self.words))


def _grams(word: str, fewest: int, most: int) -> Iterator[str]:
    """So many characters in a row of a word between spaces; a shorter one is there as it is."""
    padded = f" {word} "
    for end in range(1, len(padded) + 1):
        yield from (padded[end - size : end] for size in range(fewest, min(most, end) + 1))
    if len(padded) < fewest:
        yield padded


def tokens(text: str, words: Words) -> list[Token]:
    """The words of a text, in lower case and marked if so set; none is left out yet."""
    shown = text.lower() if words.lowercase else text
    places = list(range(len(text) + 1))
    if len(shown) != len(text):  # a character whose lower case is longer
        places = [i for i, c in enumerate(text) for _ in c.lower()] + [len(text)]
    token = _BETWEEN_SPACES if words.characters else words.token
    found = find_words(shown, token, words.negation)
    return [Token(places[a], places[b - 1] + 1 if a < b else places[a], word) for a, b, word in found]


def cut(text: str, words: Words) -> str:
    """The words of a text with 0x1F between them, for the loops that cannot cut it themselves."""
    found = [word for _, _, word in find_words(text.lower() if words.lowercase else text, words.token, words.negation)]
    for word in found:
        if not _ANY.fullmatch(word):
            raise InputError(f"the word {word!r} has a control character (\\x1f or \\x00); let token leave it out")
    return SEPARATOR.join(found)


def features(read: list[Token], words: Words) -> list[Feature]:
    """The features of a text, in its order."""
    if words.characters:
        runs = [(number, _grams(token.word, *words.characters)) for number, token in enumerate(read)]
        return [Feature((gram,), (number,)) for number, run in runs for gram in run]
    found = translation(words, [token.word for token in read]) if changes(words) else Translation([], [], [])
    into, also = (dict(zip(found.words, each)) for each in (found.into, found.also))
    extra = [(number, also.get(token.word)) for number, token in enumerate(read)]
    taken = [(number, into.get(token.word, token.word)) for number, token in enumerate(read)]
    kept = [(number, word) for number, word in taken if word is not None]
    result = [Feature((name,), (number,)) for number, name in extra if name is not None]
    for n in range(words.ngrams[0], words.ngrams[1] + 1):
        for at in range(len(kept) - n + 1):
            numbers, window = zip(*kept[at : at + n])
            result.append(Feature(window, numbers))
    return result


# What a letter is depends on the version of Unicode that a language knows: 14,049 characters are letters for a browser
# of 2025 and not for Python 3.11. So the tables of the Python that makes a sheet go with it, as runs: how many
# characters lack the property, how many after them have it, and so on.


@lru_cache(maxsize=1)
def reader_tables() -> dict[str, Any]:
    """The letters, digits and white space, and the lower case of each character, for page/tokens.mjs."""
    characters = np.arange(0x110000, dtype=np.uint32).view("U1")
    letters = np.strings.isalnum(characters)
    letters[ord("_")] = True
    cases = find_cases()
    lowered = {code: low for code in range(CASED) if (low := chr(code).lower()) != chr(code)}
    return {
        "letters": _runs(letters),
        "digits": _runs(np.strings.isdecimal(characters)),
        "spaces": _runs(np.strings.isspace(characters)),
        "cased": _runs(cases == 1),  # for the rule of the final sigma
        "skipped": _runs(cases == 2),
        "lower": _steps({code: ord(low) for code, low in lowered.items() if len(low) == 1}),
        "longer": {chr(code): low for code, low in lowered.items() if len(low) > 1},
    }


def _runs(has: NDArray[np.bool_]) -> list[int]:
    """How many in a row have not, how many have, how many have not, …"""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], has, [False]])))
    return np.diff(edges, prepend=0).tolist()  # type: ignore[no-any-return]


def _steps(lower: dict[int, int]) -> list[int]:
    """Characters with their lower case, as runs: how far behind the last, how many, how far apart, how far to go."""
    runs: list[list[int]] = []  # first, count, step, shift
    for code, low in sorted(lower.items()):
        first, count, step, shift = runs[-1] if runs else (0, 0, 0, 0)
        last = first + (count - 1) * step
        if count and low - code == shift and code - last in ((1, 2) if count == 1 else (step,)):
            runs[-1][1:3] = [count + 1, code - last]
        else:
            runs.append([code, 1, 1, low - code])
    at, found = 0, []
    for first, count, step, shift in runs:
        found += [first - at, count, step, shift]
        at = first + (count - 1) * step
    return found
