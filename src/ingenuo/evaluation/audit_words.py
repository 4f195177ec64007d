"""Which words carry a difference: what the log-odds of a class lose when a word is taken out of its sentence.

Only words that differ between the sentences of a frame can carry a difference between groups. In naive Bayes on single
words what is lost is the word's own factor, so the words' shares add up to the whole difference of the log-odds; for
other models it is what the word does in its place. A term that changes nothing is one that the model does not use: it
has never seen it, or leaves it out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingenuo.evaluation.audit_sentences import Sentences

Floats = NDArray[np.float64]
Ask = Callable[[list[str]], Floats]

MOST = 20_000  # sentences whose words are looked at; of more, those of some frames
_NOTHING = 1e-9  # of the log-odds
_WORD = re.compile(r"\w+")


class Carried(NamedTuple):
    """What words carry: sentence and word of each entry, what the log-odds of each class lose without it."""

    rows: NDArray[np.int64]
    words: NDArray[np.int64]
    names: list[str]
    losses: Floats  # entries × classes
    own: NDArray[np.bool_]  # whether the word is part of the sentence's term
    looked: NDArray[np.bool_]  # of each sentence, whether its words were looked at


def carried(sentences: Sentences, log_odds: Floats, ask: Ask) -> Carried:
    """Take each word that differs out of its sentence, and see what the log-odds lose.

    Parameters
    ----------
    sentences : Sentences
        The sentences.
    log_odds : array (sentences × classes)
        Of each class, for the sentences as they are.
    ask : callable
        The log-odds of each class for other texts.
    """
    looked = _looked(sentences)
    names: dict[str, int] = {}
    rows, words, own, texts = [], [], [], []
    for row, found in varying(sentences, looked):
        term = set(_words(sentences.terms[row])) if sentences.terms[row] else set(found)
        for word in found:
            rows.append(row)
            words.append(names.setdefault(word, len(names)))
            own.append(word in term)
            texts.append(without(sentences.texts[row], word))
    at = np.array(rows, np.int64)
    losses = log_odds[at] - ask(texts) if texts else np.zeros((0, log_odds.shape[1]))
    return Carried(at, np.array(words, np.int64), list(names), losses, np.array(own, np.bool_), looked)


def unused_terms(sentences: Sentences, found: Carried) -> set[str]:
    """The terms whose words change nothing in any sentence."""
    seen = {sentences.terms[row] for row in np.flatnonzero(found.looked).tolist()}
    moved = found.own & (np.abs(found.losses) > _NOTHING).any(axis=1)
    used = {sentences.terms[row] for row in found.rows[moved].tolist()}
    # Terms that vary nowhere, for all sentences of their frames are about them, say nothing.
    varied = {sentences.terms[row] for row in found.rows[found.own].tolist()}
    return (seen & varied) - used


def without(text: str, word: str) -> str:
    """A sentence without a word.

    >>> without("My aunt met Aunt Ada.", "aunt")
    'My met Ada.'
    """
    left = _WORD.sub(lambda found: "" if found.group().lower() == word else found.group(), text)
    return " ".join(left.split())


def _words(text: str) -> list[str]:
    return [found.group() for found in _WORD.finditer(text.lower())]


def _looked(sentences: Sentences) -> NDArray[np.bool_]:
    """The sentences of so many frames, taken evenly."""
    n, frames = len(sentences), sentences.n_frames
    if n <= MOST:
        return np.ones(n, np.bool_)
    step = -(-n // MOST)
    chosen = np.arange(frames) % step == 0
    return np.asarray(chosen[sentences.frames])


def varying(sentences: Sentences, looked: NDArray[np.bool_]) -> list[tuple[int, list[str]]]:
    """The words of each sentence that not all sentences of its frame have."""
    counts = {row: Counter(_words(sentences.texts[row])) for row in np.flatnonzero(looked).tolist()}
    common: dict[int, Counter[str]] = {}
    for row, own in counts.items():
        frame = int(sentences.frames[row])
        common[frame] = own if frame not in common else common[frame] & own
    return [(row, list(own - common[int(sentences.frames[row])])) for row, own in counts.items()]
