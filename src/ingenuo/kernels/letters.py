r"""Which characters make words, and their lower case, as tables that the loops over UTF-8 bytes read.

The tables come from the running Python, so that a word here is what ``re`` calls ``\w+`` in ``text.lower()``: the
same Unicode version, the same few odd cases. Those are two: the capital sigma, whose lower case depends on what
stands around it, and the capital I with a dot, which becomes an i and a mark that is no letter.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

# What `kinds` says of a byte that begins a character beyond ASCII; ASCII letters stand there in lower case, and
# what ends a word as 0.
BEYOND = 255
# What `letters` says of the two odd characters; no UTF-8 sequence is so small.
SIGMA, DOTTED_I = 1, 2

_ALL = 0x110000
_CASED = 0x20000  # beyond this plane no letter has a case


@cache
def tables(lowercase: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """For each byte its kind, and for each character the UTF-8 of its lower case, packed into a number (0: no letter).

    >>> kinds, letters = tables(True)
    >>> chr(kinds[ord("A")]), int(kinds[ord("-")]), letters[ord("É")].item().to_bytes(2).decode()
    ('a', 0, 'é')
    """
    characters = list(map(chr, range(_ALL)))
    codes = np.arange(_ALL, dtype=np.uint32)
    if lowercase:
        # One call for all; a line break between them keeps each from being the neighbour of another.
        changed = "\n".join(characters[:_CASED]).lower().replace("i̇", "i").encode("utf-32-le", "surrogatepass")
        codes[:_CASED] = np.frombuffer(changed, np.uint32)[::2]
        codes[0x3A3] = 0x3C3
    word = np.fromiter(map(str.isalnum, characters), np.bool_, _ALL)
    word[ord("_")] = True
    letters = np.where(word[codes], _packed(codes), 0).astype(np.uint32)
    kinds = np.full(256, BEYOND, np.uint8)
    kinds[:128] = letters[:128]
    if lowercase:
        letters[0x3A3], letters[0x130] = SIGMA, DOTTED_I
    for table in (kinds, letters):
        table.flags.writeable = False
    return kinds, letters


def _packed(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The UTF-8 bytes of each character, the first in the highest place."""
    c = codes.astype(np.uint64)
    tail = [0x80 | (c >> shift & 0x3F) for shift in (0, 6, 12)]
    two = (0xC0 | c >> 6) << 8 | tail[0]
    three = (0xE0 | c >> 12) << 16 | tail[1] << 8 | tail[0]
    four = (0xF0 | c >> 18) << 24 | tail[2] << 16 | tail[1] << 8 | tail[0]
    return np.select([c < 0x80, c < 0x800, c < 0x10000], [c, two, three], four).astype(np.uint32)


@cache
def cases() -> NDArray[np.uint8]:
    """For each character: 1 if it has a case, 2 if the rule of the final sigma looks through it, else 0.

    Python does not tell these two properties, but shows them: a sigma is final after a cased character, whatever
    is looked through between them.

    >>> [int(cases()[ord(c)]) for c in "a'1"]
    [1, 2, 0]
    """
    characters = [chr(c) for c in (*range(_CASED), *range(0xE0000, 0xE0200)) if c not in (0x130, 10)]
    places = np.array([ord(c) for c in characters])
    found = []
    for before in ("a", ""):
        text = "\n".join(f"{before}{c}Σ" for c in characters).lower().encode("utf-32-le", "surrogatepass")
        found.append(np.frombuffer(text, np.uint32)[len(before) + 1 :: len(before) + 3] == ord("ς"))
    either, cased = found
    result = np.zeros(_ALL, np.uint8)
    result[places] = np.where(cased, 1, np.where(either, 2, 0))
    result[0x130] = 1
    result.flags.writeable = False
    return result
