"""A language model: the probability of a text, word after word.

What is learned is how often every n-gram was seen, up to the order; smoothing comes when a probability is asked for.
So models stream, merge and forget, and a smoothing may be changed after learning.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ingenuo.errors import EmptyModelError, InputError, KindError, MergeError
from ingenuo.estimators.adding import Adding
from ingenuo.estimators.base import CLASS, frozen, sums
from ingenuo.estimators.contract import Estimator, check_is_fitted, clone
from ingenuo.estimators.rows import EVERYTHING, Part, rows_of
from ingenuo.estimators.sequence_model import SCHEMA, WORDS, SequenceModel, seeded, texts_of, whole
from ingenuo.families import ngrams, sequences
from ingenuo.families.ngrams import START
from ingenuo.families.sequences import NGRAMS, Context, Reading
from ingenuo.kernels import ngrams as loops
from ingenuo.labels import Labels
from ingenuo.prior import Prior
from ingenuo.schema import Schema
from ingenuo.tally import Tally
from ingenuo.text import Words

_ALL: Labels = np.zeros(1, np.int64)  # the one class of a model that has none


class LanguageModel(SequenceModel, Adding, Estimator):
    r"""The probability of a text, each word given the few before it.

    Parameters
    ----------
    order : int
        How many words make an n-gram: 1 counts single words, 2 pairs, and so on; a word depends on the order - 1
        words before it.
    smoothing : Prior or str, optional
        "ml" (relative frequencies), "kneser-ney" (interpolated), or imaginary data for every context:
        `Laplace()`, `Lidstone(alpha)`, `MEstimate(m, weights)`, `Dirichlet(alphas)`. By default "kneser-ney", and
        `Laplace()` for an order of 1.
    discount : float
        What "kneser-ney" takes from every count, between 0 and 1.
    base : {"observed", "uniform"}
        What is below single words in "kneser-ney". With "observed" nothing is, and a word that was
        never seen has probability 0; with "uniform" every word of the vocabulary, the unknown one too, has a
        share.
    text : Words
        What a word is: `lowercase`, `token`, `stop_words` (no number), `stem`, `negation` and `errors` hold here.
    boundaries : bool
        Whether a text has a beginning ("<s>", which can stand in a context) and an end ("</s>", a word like others).
    min_count : int
        Words that were seen less often are taken for the unknown word "<unk>", which then has a count of its own.

    Attributes
    ----------
    tally_ : Tally
        All that was learned: how often each n-gram was seen.
    vocabulary_ : list of str
        The words that share the probability, sorted; with "</s>" and "<unk>".

    Notes
    -----
    After a context that was never seen, "ml" and "kneser-ney" answer as after its longest suffix that
    was, so that probabilities sum to 1 in every context.

    Examples
    --------
    >>> model = LanguageModel(2, "ml").fit(["I am Sam", "Sam I am", "I do not like green eggs and ham"])
    >>> model.prob("am", context=["i"])
    0.6666666666666666
    >>> model.next("am", n=2)
    [('</s>', 0.5), ('sam', 0.5)]
    >>> model.generate(n_words=3, context="green", seed=0)
    'eggs and ham'
    """

    schema_: Schema
    tally_: Tally

    def __init__(
        self,
        order: int = 1,
        smoothing: Prior | str | None = None,
        *,
        discount: float = 0.75,
        base: str = "observed",
        text: Words = WORDS,
        boundaries: bool = True,
        min_count: int = 1,
    ) -> None:
        self.order = order
        self.smoothing = smoothing
        self.discount = discount
        self.base = base
        self.text = text
        self.boundaries = boundaries
        self.min_count = min_count

    # Learning.

    def fit(self, texts: Any) -> Self:
        """Learn from texts, forgetting what was learned before.

        Parameters
        ----------
        texts : list of str, list of lists of str, or a Dask or Spark frame of one column
            Texts, which are cut into words; or the words of each, which are taken as they are. One string is one text.
        """
        self._check_settings()
        tally = self._sums_of(texts)
        if NGRAMS not in tally:
            raise InputError("the texts have no word; give one that has")
        self._set(SCHEMA, tally)
        return self

    def partial_fit(self, texts: Any) -> Self:
        """Learn from more texts; new words are welcome."""
        if not self._fitted:
            return self.fit(texts)
        self._check_form()
        self._set(self.schema_, self.tally_ + self._sums_of(texts))
        return self

    def forget(self, texts: Any) -> Self:
        """Unlearn texts: the model is then, to the last bit, what it would be had it never seen them.

        Texts that were never learned raise `ForgetError` wherever the sums show it, and leave the model as it was.
        """
        check_is_fitted(self)
        self._check_form()
        rest = self.tally_ - self._sums_of(texts)
        sequences.check(rest, int(self.order))
        self._set(self.schema_, rest)
        return self

    def merge(self, other: Any) -> Self:
        """Add what another model that counts the same has learned."""
        check_is_fitted(self)
        if type(other) is not type(self):
            raise MergeError(
                f"a LanguageModel can be merged with another LanguageModel, not with {type(other).__name__}"
            )
        check_is_fitted(other)
        self._check_form()
        other._check_form()
        self._same_form(other)
        self._set(self.schema_, self.tally_ + other.tally_)
        return self

    def _sums_of(self, texts: Any) -> Tally:
        """The sums of texts, wherever they lie."""
        return rows_of(texts, declared=EVERYTHING, labelled=False).reduce(sums, clone(self))

    def _tally_of(self, part: Part) -> Tally:
        given = texts_of(part.X)
        return self._count(given, np.zeros(given.text.n_rows, np.int32), _ALL)

    @property
    def _fitted(self) -> bool:
        return "tally_" in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted

    def _set(self, schema: Schema, tally: Tally) -> None:
        if not self._fitted or "_learned_as" not in self.__dict__ or schema is not self.schema_:
            self._learned_as = frozen(self._form())
        self.schema_ = schema
        self.tally_ = tally
        self._known: tuple[Any, Reading] | None = None

    def _check_form(self) -> None:
        if self._learned_as != frozen(self._form()):
            raise InputError(
                "order, text or boundaries was changed after the model had learned; fit it again, or set it back"
            )

    # Answering.

    def _reading(self) -> Reading:
        check_is_fitted(self)
        settings = frozen(self._settings())
        if self._known is None or self._known[0] != settings:
            if CLASS not in self.tally_:
                raise EmptyModelError("the model has forgotten every text it knew; fit it again before asking it")
            self._check_settings()
            self._check_form()
            self._known = settings, self._read(_ALL)
        return self._known[1]

    @property
    def vocabulary_(self) -> list[str]:
        """The words that share the probability, sorted; with "</s>" and "<unk>"."""
        return self._vocabulary(self._reading())

    def prob(self, word: str, context: Context = None) -> float:
        """p(word | context).

        Parameters
        ----------
        word : str
            A word, "</s>" (the text ends) or "<unk>"; any other that was never seen is the unknown one.
        context : list of str, or str, optional
            The words before it, the last one last; at most order - 1. Before the first words of a text stands "<s>",
            as often as is wanted. Without a context, the probability of the single word.
        """
        reading = self._reading()
        if not isinstance(word, str):
            raise KindError(f"a word is a string, got {type(word).__name__} {word!r}")
        before = reading.context(context)
        if word == START:
            return 0.0
        place = reading.find(word)
        if place == reading.new[-1] and len(word.split()) > 1:
            raise InputError(f"{word!r} is several words; ask for the last one, with the others as its context")
        p = reading.parameters
        begin = loops.contexts(p.trie, before)
        return float(loops.probabilities(p.trie, p.chances, begin, np.array([place], np.int32))[0][0, 0])

    def next(self, context: Context = None, n: int = 10) -> list[tuple[str, float]]:
        """The n most probable words after a context (as in `prob`), with their probabilities; ties in their order."""
        reading = self._reading()
        whole("n", n, 0)
        p = ngrams.distribution(reading.parameters, reading.context(context))
        places = np.flatnonzero(reading.parameters.known)
        if n < len(places):
            least = -np.partition(-p[places], n)[n - 1] if n else np.inf
            places = places[p[places] >= least]
        found = sorted(((reading.names[i], float(p[i])) for i in places.tolist()), key=lambda pair: (-pair[1], pair[0]))
        return found[:n]

    def score(self, texts: Any) -> Any:  # type: ignore[override]
        """The logarithm of each text's probability, its end included; one number for one string."""
        reading = self._reading()
        found = reading.score(reading.sequences(texts_of(texts)))[:, 0]
        return float(found[0]) if isinstance(texts, str) else found

    def perplexity(self, texts: Any) -> float:
        """exp(-log p / n), n the number of words of all the texts and of their ends: so many words seem possible.

        Infinite where a text has probability 0, as one with an unknown word has without smoothing.
        """
        reading = self._reading()
        found = reading.sequences(texts_of(texts))
        n = len(found[0]) + (len(found[1]) if self.boundaries else 0)
        if n == 0:
            raise InputError("the texts have no word, so they have no perplexity; give one that has")
        return float(np.exp(-reading.score(found).sum() / n))

    def generate(
        self, n_words: int | None = None, n_documents: int | None = None, seed: Any = None, context: Context = None
    ) -> Any:
        """Draw a text of so many words, or so many texts; without either, one text.

        Parameters
        ----------
        n_words : int, optional
            The words of one string; where a text ends before, the next one begins.
        n_documents : int, optional
            The length of a list of strings.
        seed : int, optional
            Seed for NumPy's generator.
        context : list of str, or str, optional
            The words to go on from (as in `prob`), which are not repeated; by default the beginning of a text.

        Notes
        -----
        The unknown word is not drawn: every word has its probability among the known ones.
        """
        reading = self._reading()
        if n_words is not None and n_documents is not None:
            raise InputError("give n_words or n_documents, not both")
        for name, value in (("n_words", n_words), ("n_documents", n_documents)):
            if value is not None:
                whole(name, value, 0)
        generator = seeded("seed", seed)
        before = None if context is None else reading.context(context)
        if n_words is not None:
            return reading.draw(n_words, 0, generator, before=before)[0]
        if n_documents == 0:
            return []
        texts = reading.draw(0, n_documents or 1, generator, before=before)
        return texts if n_documents is not None else texts[0]
