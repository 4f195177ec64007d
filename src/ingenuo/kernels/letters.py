r"""Which characters make words, and their lower case, as tables that the loops over UTF-8 bytes read.

The tables come from the running Python, so that a word here is what ``re`` calls ``\w+`` in ``text.lower()``: the
same Unicode version, the same few odd cases. Those are two: the capital sigma, whose lower case depends on what
stands around it, and the capital I with a dot, which becomes an i and a mark that is no letter.

English needs none of them. They are made when a text first needs them, in some 6 ms for the letters, 20 ms for those
beyond the second plane, and 30 ms for the characters around a sigma.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.kernels.native import INT, U8, function

Codes = NDArray[np.uint32]

# What the table says of the two odd characters; no UTF-8 sequence is so small.
SIGMA, DOTTED_I = 1, 2

_ALL = 0x110000
#: Beyond this plane no letter has a case.
CASED = 0x20000
_CASES_END = 0xE0200
# What a text needs.
_LETTERS, _BEYOND, _CASES = 1, 2, 4
# For so many bytes, the time to make all the tables is nothing.
_LARGE = 1 << 22

_text_needs = function("text_needs", U8, INT, returns=INT)
_made: dict[tuple[int, bool], NDArray[Any]] = {}


def made(lowercase: bool) -> list[NDArray[Any] | None]:
    """The tables that there are by now: letters, those beyond the second plane, and cases."""
    return [_made.get(key) for key in ((_LETTERS, lowercase), (_BEYOND, False), (_CASES, False))]


def make(lowercase: bool, document: NDArray[np.uint8], size: int) -> None:
    """Make the tables that a document needs, among so many bytes of text."""
    needed = _text_needs(document, document.size) if size < _LARGE else _LETTERS | _BEYOND | _CASES
    if needed & _LETTERS:
        _made[_LETTERS, lowercase] = letters(lowercase)
    if needed & _BEYOND:
        _made[_BEYOND, False] = letters_beyond()
    if needed & _CASES:
        _made[_CASES, False] = cases()


@cache
def letters(lowercase: bool) -> Codes:
    """For each character of the first two planes the UTF-8 of its lower case, as a number (0: it is no letter).

    >>> letters(True)[ord("É")].item().to_bytes(2).decode()
    'é'
    """
    codes = np.arange(CASED, dtype=np.uint32)
    if lowercase:
        codes[0x130] = ord("i")
        codes = _lower(codes)
        codes[0x3A3] = 0x3C3  # here it stands within a word
    table = np.where(_make_words(codes), _as_utf8(codes), 0).astype(np.uint32)
    if lowercase:
        table[0x3A3], table[0x130] = SIGMA, DOTTED_I
    table.flags.writeable = False
    return table


@cache
def letters_beyond() -> Codes:
    """The same for the other planes, where no character has another lower case."""
    codes = np.arange(CASED, _ALL, dtype=np.uint32)
    table = np.where(_make_words(codes), _as_utf8(codes), 0).astype(np.uint32)
    table.flags.writeable = False
    return table


@cache
def cases() -> NDArray[np.uint8]:
    """For each character: 1 if it has a case, 2 if the rule of the final sigma looks through it, else 0.

    Python does not tell these two properties, but shows them: a sigma is final after a cased character, whatever
    is looked through between them.

    >>> [int(cases()[ord(c)]) for c in "a'1"]
    [1, 2, 0]
    """
    places = np.array([c for c in (*range(CASED), *range(0xE0000, _CASES_END)) if c not in (0x130, 10)], np.uint32)
    found = []
    for before in ([ord("a")], []):
        rows = np.empty((len(places), len(before) + 3), np.uint32)
        rows[:, : len(before)], rows[:, -3], rows[:, -2], rows[:, -1] = before, places, ord("Σ"), ord("\n")
        found.append(_lower(rows.reshape(-1)).reshape(rows.shape)[:, -2] == ord("ς"))
    either, cased = found
    result = np.zeros(_CASES_END, np.uint8)
    result[places] = np.where(cased, 1, np.where(either, 2, 0))
    result[0x130] = 1
    result.flags.writeable = False
    return result


def _lower(codes: Codes) -> Codes:
    """The lower case of a text, given by its characters' codes."""
    text = codes.tobytes().decode("utf-32", "surrogatepass")
    return np.frombuffer(text.lower().encode("utf-32", "surrogatepass")[4:], np.uint32).copy()


def _make_words(codes: Codes) -> Any:
    r"""Whether ``\w`` matches each character: it is a letter, a digit or an underscore."""
    return np.strings.isalnum(codes.view("U1")) | (codes == ord("_"))


def _as_utf8(codes: Codes) -> NDArray[np.uint64]:
    """The UTF-8 bytes of each character, the first in the highest place."""
    c = codes.astype(np.uint64)
    tail = [0x80 | (c >> shift & 0x3F) for shift in (0, 6, 12)]
    two = (0xC0 | c >> 6) << 8 | tail[0]
    three = (0xE0 | c >> 12) << 16 | tail[1] << 8 | tail[0]
    four = (0xF0 | c >> 18) << 24 | tail[2] << 16 | tail[1] << 8 | tail[0]
    return np.select([c < 0x80, c < 0x800, c < 0x10000], [c, two, three], four)
