"""NLTK's language models on the n-grams that ours count, so that the probabilities must be the same.

NLTK pads a text with as many ends as beginnings; ours has one end, and so has this. Words are found by one regular
expression, which is much faster than NLTK's own tokeniser.
"""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

from benchmarks.report import Absent

ORDER = 3
DISCOUNT = 0.75
_WORD = re.compile(r"\w+")


def module() -> Any:
    """`nltk.lm`, which is optional."""
    try:
        return importlib.import_module("nltk.lm")
    except ImportError as missing:
        raise Absent("nltk is not installed") from missing


def grams(text: str) -> list[tuple[str, ...]]:
    """Every n-gram, up to the order, that ends at a word of the text or at its end."""
    padded = ["<s>"] * (ORDER - 1) + _WORD.findall(text.lower()) + ["</s>"]
    return [tuple(padded[end - n : end]) for end in range(ORDER, len(padded) + 1) for n in range(1, ORDER + 1)]


def fit(texts: list[str]) -> Any:
    """A model with interpolated Kneser-Ney."""
    lm = module()
    counted = [grams(text) for text in texts]
    vocabulary = lm.Vocabulary(gram[0] for each in counted for gram in each if len(gram) == 1)
    return lm.KneserNeyInterpolated(ORDER, discount=DISCOUNT, vocabulary=vocabulary, counter=lm.NgramCounter(counted))


def score(model: Any, texts: list[str]) -> list[float]:
    """The logarithm of each text's probability."""
    return [
        math.fsum(math.log(model.unmasked_score(g[-1], g[:-1])) for g in grams(text) if len(g) == ORDER)
        for text in texts
    ]


def generate(model: Any, n_words: int) -> list[str]:
    """Draw so many words, from the beginning of a text on."""
    words: list[str] = model.generate(n_words, text_seed=["<s>"] * (ORDER - 1), random_seed=0)
    return words
