"""Negation marking: after a cue such as "not", every word up to the next punctuation counts as another word.

    I didn't like this film, but the music is good   →   didn not_like not_this not_film but the music is good

so that "like" and "not_like" have counts of their own. The rules:

- Words are the longest runs of letters, digits and underscores; those shorter than a limit are left out.
- A cue opens a scope. It is not marked itself, unless it stands within an open scope; then it is marked like any
  other word, and the scope stays open (two negations do not cancel: that would need a grammar).
- In English a contraction is a cue: a run that ends in "n", an apostrophe (' or ’), a "t" and no letter after it.
  The scope opens behind the "t".
- One of . , : ; ! ? … ¿ ¡ closes the scope. Line breaks do not: text is often wrapped in mid-clause.
- Cues are known in any case, whether or not the words are lower-cased.

The kernel that reads large texts follows the same rules; `mark` says them in plain Python, to check it by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingenuo.errors import InputError, KindError
from ingenuo.text.choices import one_of

CUES: dict[str, tuple[str, ...]] = {
    "english": ("not", "no", "never", "cannot"),
    "italian": ("non", "mai", "né"),
    "spanish": ("no", "nunca", "jamás"),
}
CONTRACTING = frozenset({"english"})  # the languages in which n't is a cue
CLOSING = ".,:;!?…¿¡"
APOSTROPHES = "'’"
PREFIX = "not_"

_PIECE = re.compile(rf"\w+|[{re.escape(CLOSING)}]")
_CONTRACTED = re.compile(rf"[{APOSTROPHES}][tT](?!\w)")  # what follows the n


def mark(text: str, language: str, shortest: int = 2, lowercase: bool = True) -> list[str]:
    """The words of a text, those in the scope of a negation with the prefix "not_".

    Parameters
    ----------
    text : str
        One document.
    language : str
        Whose cues to look for: "english", "italian" or "spanish".
    shortest : int
        Words of fewer characters are left out, but still serve as cues.
    lowercase : bool
        Whether the text is lower-cased first.

    >>> mark("I didn't like it, but the music is good", "english")
    ['didn', 'not_like', 'not_it', 'but', 'the', 'music', 'is', 'good']
    >>> mark("Non mi piace: brutto", "italian")
    ['non', 'not_mi', 'not_piace', 'brutto']
    """
    one_of("negation", language, CUES)
    if not isinstance(text, str):
        raise KindError(f"a text must be a str, got {type(text).__name__} {text!r}")
    if isinstance(shortest, bool) or not isinstance(shortest, int):
        raise KindError(f"shortest must be a whole number, got {type(shortest).__name__} {shortest!r}")
    if shortest < 1:
        raise InputError(f"shortest must be at least 1, got {shortest!r}")
    return [word for _, _, word in marked(text.lower() if lowercase else text, language, shortest)]


def marked(text: str, language: str, shortest: int) -> Iterator[tuple[int, int, str]]:
    """As `mark`, of a text in lower case if it is to be, with the place where each word begins and ends."""
    cues = CUES[language]
    negated = False
    opens_behind = -1  # where the "t" of a contraction begins: the scope opens when it has been read
    for piece in _PIECE.finditer(text):
        run = piece.group()
        if run in CLOSING:
            negated = False
            continue
        if len(run) >= shortest:
            yield piece.start(), piece.end(), PREFIX + run if negated else run
        plain = run.lower()
        if plain in cues or piece.start() == opens_behind:
            negated = True
        elif language in CONTRACTING and plain.endswith("n") and _CONTRACTED.match(text, piece.end()):
            opens_behind = piece.end() + 1
