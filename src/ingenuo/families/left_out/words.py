"""Text: the words of a document are taken from its own class, and words that no other document has are unknown.

With c_jk occurrences of word j in class k, N_k of all words, V words in all and α imaginary ones of each, a document of
class y with x_j of word j has, words of its own set aside (n° occurrences of V° words),

    k = y:  Σ x_j log(c_jy - x_j + α) - (n - n°) log(N_y - n + α(V - V°))
    k ≠ y:  Σ x_j log(c_jk + α)       - (n - n°) log(N_k     + α(V - V°))
"""

from __future__ import annotations

import numpy as np

from ingenuo.chunk import Chunk, Text, Texts
from ingenuo.families.family import Floats
from ingenuo.families.word_features import totals
from ingenuo.families.word_parameters import ColumnParameters
from ingenuo.families.words import TextFamily
from ingenuo.kernels import left_out_words as loops
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.real import TOLERANCE, Real
from ingenuo.schema import Schema
from ingenuo.tally import Tally
from ingenuo.text.words import Words


def quick(family: TextFamily, words: Words, prior: Prior) -> bool:
    """Whether leaving a document out changes no more than its own words: no limits, no weights, the same α for all."""
    limits = (words.min_count, words.min_documents, words.max_documents, words.most_frequent, words.max_words)
    return (
        family.model == "multinomial"
        and words.weighting == "count"
        and words.norm is None
        and limits == (1, 1, 1.0, 0, None)
        and not isinstance(words.min_documents, float)
        and not isinstance(words.max_documents, int)
        and _each(prior, 2) > 0
        and _each(prior, 2) == _each(prior, 3)
        and not any(type(word) is str for word in prior.known(np.zeros(0, np.int64)).tolist())
        and not prior.columns()
    )


def _each(prior: Prior, words: int) -> float:
    """How many of each of so many words are imagined; 0 where that differs from word to word."""
    try:
        found = prior.pseudo_counts(np.arange(words))
    except ValueError:  # a list for values in their order
        return 0.0
    return float(found[0]) if (found == found[0]).all() else 0.0


class LeftOutText:
    """A text column read once, for any number of priors to be tried on."""

    def __init__(self, tally: Tally, prior: Prior, schema: Schema, classes: Labels, chunk: Chunk, text: Text) -> None:
        self.tally, self.schema, self.classes, self.chunk, self.text = tally, schema, classes, chunk, text
        self.parameters = self._estimate(prior)
        p = self.parameters
        rows, nodes, counts = p.lookup(text).entries(text.pieces(p.words.errors), np.ones(len(p.weights), np.bool_))
        if p.once:
            counts = np.ones_like(counts)
        weights = np.ones(chunk.n_rows) if chunk.weights is None else chunk.weights
        self.entries = loops.left(
            rows, nodes, counts, chunk.coded, weights, p.bag.starts, p.bag.codes, p.bag.numbers(), totals(p.bag),
            TOLERANCE if isinstance(p.bag.sums, Real) else 0.0, bool(p.words.hashed),
        )  # fmt: skip

    def _estimate(self, prior: Prior) -> ColumnParameters:
        names = np.empty(1, object)
        names[0] = self.text.name
        (found,) = TextFamily("multinomial").estimate(self.tally, prior, self.schema, names, self.classes)
        return found

    def scores(self, prior: Prior) -> Floats:
        """The log likelihood of every row without itself (rows × classes)."""
        p = self._estimate(prior)
        alpha = p.pseudo
        assert isinstance(alpha, float)
        out = np.zeros((self.chunk.n_rows, len(self.classes)))
        if not p.weights.any():  # no row that has a weight has a word
            return out
        TextFamily("multinomial").log_likelihood((p,), Texts(np.array([0]), len(out), [self.text], [p.words]), out)
        e = self.entries
        y, V = self.chunk.coded, int(np.count_nonzero(p.weights))
        w = 1.0 if self.chunk.weights is None else self.chunk.weights
        kept, within = e.tokens - e.gone, p.normaliser - alpha * V
        imagined = alpha * (V - e.gone_words)
        # A document whose words are all its own has nothing left that is known.
        below = np.log(np.maximum(within + imagined[:, np.newaxis], np.finfo(float).tiny))
        out += e.tokens[:, np.newaxis] * np.log(p.normaliser) - (e.gone * np.log(alpha))[:, np.newaxis]
        out -= kept[:, np.newaxis] * below
        own = np.maximum(within[y] - w * e.tokens, 0) + imagined
        rows = np.arange(len(out))
        out[rows, y] = loops.own(e, alpha, len(out)) - kept * np.log(np.maximum(own, np.finfo(float).tiny))
        out[kept == 0] = 0.0
        return out
