"""A language model: the probability of a text, word after word.

What is learned is how often every n-gram was seen, up to the order; smoothing comes when a probability is asked for.
So models stream, merge and forget, and a smoothing may be changed after learning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import EmptyModelError, InputError, KindError, MergeError, check_choice
from ingenuo.families import ngrams
from ingenuo.families.ngrams import END, NGRAMS, START, VOCABULARIES, Context, Given, Reading, Smoothing
from ingenuo.families.word_features import left_out
from ingenuo.kernels import ngrams as loops
from ingenuo.language import say
from ingenuo.models.class_prior import class_prior_of, share_classes
from ingenuo.models.classifier import Classifier, Parameters
from ingenuo.models.model import CLASS, Estimator, Learner, Plan, check_is_fitted
from ingenuo.rows import checks
from ingenuo.rows.checks import check_flag, check_whole, is_frame
from ingenuo.rows.part import ArrowText, Chunk, ListText, is_arrow
from ingenuo.rows.rows import EVERYTHING, Part, Rows
from ingenuo.rows.schema import Schema
from ingenuo.show.arithmetic import Explanation, Factor, logs
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import Labels, is_missing, unite
from ingenuo.tally.prior import MaximumLikelihood, Prior
from ingenuo.tally.tally import Tally
from ingenuo.text.tokens import SEPARATOR
from ingenuo.text.words import LONGEST, Words

Floats = NDArray[np.float64]

_ALL: Labels = np.zeros(1, np.int64)  # the one class of a model that has none
WORDS = Words(token=r"\w+")
SCHEMA = Schema.of({})  # texts have no columns
_SHOWN = 20  # words of a distribution that are printed
# What a model of sequences takes from Words; all else there is about bags of words.
_SHARED = ("lowercase", "token", "stop_words", "stem", "negation", "errors")


def texts_of(given: Any) -> Given:
    """Texts as strings, or as lists of words."""
    if isinstance(given, str):
        given = [given]
    if is_frame(given):
        given = _only_column(given)
    if hasattr(given, "to_arrow") and hasattr(given, "dtype"):  # a series of polars
        given = given.to_arrow()
    if isinstance(given, bytes | Mapping) or not hasattr(given, "__iter__") or getattr(given, "ndim", 1) != 1:
        raise KindError(f"texts must be a list of strings, or of lists of words, got {type(given).__name__} {given!r}")
    texts = given if is_arrow(given) else list(given)
    if not len(texts):
        raise InputError("there is no text to read (0 samples); give one at least")
    if not isinstance(texts, list):
        if texts.null_count:
            row = texts.is_null().to_pylist().index(True)
            raise InputError(f"text {row} is missing; leave it out, or give an empty string")
        return Given(ArrowText("texts", texts), False)
    separated = isinstance(texts[0], list | tuple)
    for row, text in enumerate(texts):
        if type(text) is str and not separated:
            continue
        if is_missing(text):
            raise InputError(f"text {row} is missing; leave it out, or give an empty string")
        if not isinstance(text, list | tuple if separated else str):
            what = "a list of words, as text 0 is" if separated else "a string"
            raise KindError(f"text {row} is {type(text).__name__} {text!r}; it must be {what}")
        if separated:
            _check_words(row, text)
    return Given(ListText("texts", [SEPARATOR.join(text) for text in texts] if separated else texts), separated)


def _only_column(table: Any) -> Any:
    """The texts of a table that has nothing else."""
    names = list(getattr(table, "column_names", None) or table.columns)
    if len(names) != 1:
        shown = ", ".join(repr(name) for name in names[:12]) + (", …" if len(names) > 12 else "")
        raise InputError(
            f"a language model reads one column of texts, and the table has {len(names)} ({shown}); take one of them"
        )
    return table[names[0]]


def _check_words(row: int, words: Sequence[Any]) -> None:
    for word in words:
        if not isinstance(word, str):
            raise KindError(f"text {row} has {type(word).__name__} {word!r}, which is no word; words are strings")
        what = ""
        if word in (START, END):
            what = f"the word {word!r}, which marks where texts begin and end"
        elif not word or SEPARATOR in word or "\x00" in word:
            what = f"the word {word!r}, with a control character (\\x1f or \\x00)" if word else "an empty word"
        if what:
            raise InputError(f"text {row} has {what}; drop it")


@dataclass(eq=False, repr=False)
class SequenceModel(Learner):
    """What both estimators share: their parameters, what is counted, and how it is read."""

    order: int = 1
    smoothing: Prior | str | None = None
    _: KW_ONLY
    discount: float = 0.75
    base: str = "observed"
    text: Words = WORDS
    boundaries: bool = True
    min_count: int = 1
    vocabulary: str = "open"

    _fixed = ("order", "text", "boundaries")
    _free: ClassVar[tuple[str, ...]] = ("smoothing", "discount", "base", "min_count", "vocabulary")

    def _check_settings(self) -> None:
        check_whole("order", self.order, 1)
        if self.order > LONGEST:
            raise InputError(f"the order is {self.order}; n-grams of more than {LONGEST} words are of no use")
        check_whole("min_count", self.min_count, 1)
        check_choice("vocabulary", self.vocabulary, VOCABULARIES)
        if self.vocabulary == "closed" and self.min_count > 1:
            raise InputError(
                f"min_count={self.min_count} takes rare words for the unknown one, which a closed vocabulary has not; "
                "set vocabulary='open' or min_count=1"
            )
        Smoothing.of(self.smoothing, self.order, self.discount, self.base)
        check_flag("boundaries", self.boundaries)
        if not isinstance(self.text, Words):
            raise KindError(f"text must be a Words, got {type(self.text).__name__} {self.text!r}")
        default = Words().parameters()
        for name, value in self.text.parameters().items():
            if (name not in _SHARED and value != default[name]) or (name == "stop_words" and self.text.most_frequent):
                raise InputError(
                    f"{name}={value!r} is for bags of words, not for their sequence; a language model takes "
                    f"{', '.join(_SHARED)} from Words"
                )

    def _tally_of(self, part: Part) -> Tally:
        """The sums over some texts: of the classes' texts and of their n-grams."""
        given = texts_of(part.X)
        n = given.text.n_rows
        codes, classes = checks.labels(self, part.y, n) if self._labelled else (np.zeros(n, np.int32), _ALL)
        weights = checks.weights(part.weights, n)
        found = ngrams.count(given, self.text, int(self.order), bool(self.boundaries), codes, classes, weights)
        return Chunk(n, {}, codes, classes, weights).count_classes() + found

    def _check_against_data(self) -> None:
        """Raise if a file's parameters are not those that its counts were made with."""
        super()._check_against_data()
        bag = self.tally_.bag(NGRAMS)
        if bag is not None and bag.vocabulary.order != self.order:
            raise InputError(f"the order is {self.order}, and n-grams of {bag.vocabulary.order} words were counted")

    def answer_nothing(self) -> None:
        """Score a text of one word."""
        reading = self._reading()
        reading.score(reading.sequences(texts_of(reading.names[:1])))

    def _declared_columns(self) -> Any:
        return EVERYTHING

    _known_columns = _declared_columns

    def _plan(self, rows: Rows, *, whole: bool = False) -> Plan:
        return Plan(SCHEMA)

    def _check_whole(self, schema: Schema, classes: Labels, tally: Tally) -> None:
        if NGRAMS not in tally:
            raise InputError("the texts have no word; give one that has")

    def _check_tally(self, schema: Schema, tally: Tally) -> None:
        ngrams.check(tally, int(self.order))

    def _check_other(self, other: Any) -> None:
        """Raise if the other counted something else."""
        for name in self._fixed:
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise MergeError(
                    f"{name} is {mine!r} in one model and {its!r} in the other; only models that count the same merge"
                )

    def _estimate(self) -> Parameters:
        bag = self.tally_.bag(NGRAMS)
        if bag is None:
            raise EmptyModelError("the model has seen no word, so there is nothing to estimate; fit it on some texts")
        classes = unite(self.__dict__.get("_declared_classes", _ALL[:0]), self.tally_.labels(CLASS, 0))
        rows = self.tally_.over(CLASS, classes).floats()
        shares, prior = share_classes(getattr(self, "class_prior", MaximumLikelihood()), rows, classes)
        reading = Reading(bag, classes, {name: getattr(self, name) for name in (*self._fixed, *self._free)})
        return Parameters(classes, logs(shares), {"ngrams": reading}, prior)

    def _reading(self) -> Reading:
        check_is_fitted(self)
        return self._parameters().families["ngrams"]  # type: ignore[no-any-return]

    @property
    def n_parameters_(self) -> int:
        """How many numbers were estimated: of V words that share the probability V - 1, for each class and each context
        of order - 1 words that was seen; and the share of each class but one.
        """
        reading, K = self._reading(), len(self._parameters().classes)
        levels = reading.vocabulary.levels
        contexts = levels[int(self.order) - 1] - levels[int(self.order) - 2] if self.order > 1 else 1
        return K * contexts * (len(self.vocabulary_) - 1) + (K - 1 if getattr(self, "_estimates_shares", True) else 0)

    @property
    def vocabulary_(self) -> list[str]:
        """The words that share the probability (of every class), sorted; with "</s>" and, if it is open, "<unk>"."""
        reading = self._reading()
        return sorted(name for name, known in zip(reading.names, reading.parameters.known) if known)


class WordShares(Shown, Mapping[str, float]):
    """The probability of each word, the most probable first; a mapping, which prints as a table of its first words."""

    def __init__(self, shares: Mapping[str, float]) -> None:
        self._shares = dict(shares)

    def __getitem__(self, word: str) -> float:
        return self._shares[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    def to_dict(self) -> dict[str, float]:
        """The same as a plain dict."""
        return dict(self._shares)

    def _blocks(self) -> list[str | Block]:
        more = len(self) - _SHOWN
        table = PrintedTable(["word", "probability"], list(self.items())[:_SHOWN], ["", ".4g"])
        return [table, *([f"… and {more:,} more"] if more > 0 else [])]


@dataclass(eq=False, repr=False)
class LanguageModel(SequenceModel, Estimator):
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
        What is below single words in "kneser-ney". With "observed" nothing is, and a word that was never seen has
        probability 0; with "uniform" every word of the vocabulary, the unknown one too, has a share.
    text : Words
        What a word is: `lowercase`, `token`, `stop_words` (no number), `stem`, `negation` and `errors` hold here.
    boundaries : bool
        Whether a text has a beginning ("<s>", which can stand in a context) and an end ("</s>", a word like others).
    min_count : int
        Words that were seen less often are taken for the unknown word "<unk>", which then has a count of its own.
    vocabulary : {"open", "closed"}
        Whether the unknown word belongs to it: after Lidstone(α) a word has (m + α)/(N + nα) with n words, "<unk>"
        among them ("open") or not ("closed"). Words that are not in a closed one have probability 0, and are left out
        of texts and contexts, as naive Bayes leaves them out.

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
    >>> model.phi_["am"], len(model.phi_)
    (0.11764705882352941, 12)
    >>> model.generate(n_words=3, context="green", seed=0)
    'eggs and ham'
    """

    _labelled = False

    def fit(self, texts: Any) -> Self:  # type: ignore[override]
        """Learn from texts, forgetting what was learned before.

        Parameters
        ----------
        texts : list of str, list of lists of str, or a Dask or Spark frame of one column
            Texts, which are cut into words; or the words of each, which are taken as they are. One string is one text.
        """
        return super().fit(texts)

    def partial_fit(self, texts: Any) -> Self:
        """Learn from more texts; new words are welcome."""
        return self._learn_more(texts, None, None)

    def forget(self, texts: Any) -> Self:  # type: ignore[override]
        """Unlearn texts: the model is then, to the last bit, what it would be had it never seen them.

        Texts that were never learned raise `ForgetError` wherever the sums show it, and leave the model as it was.
        """
        return super().forget(texts)

    def prob(self, word: str, context: Context = None) -> float:
        """p(word | context).

        Parameters
        ----------
        word : str
            A word, "</s>" (the text ends) or "<unk>"; any other that was never seen is the unknown one.
        context : list of str, or str, optional
            The words before it, the last one last, of which the last order - 1 count. Before the first words of a text
            stands "<s>", as often as is wanted. Without a context, the probability of the single word.
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
        begin = loops.find_contexts(p.trie, before)
        return float(loops.probabilities(p.trie, p.chances, begin, np.array([place], np.int32))[0][0, 0])

    def next(self, context: Context = None, n: int = 10) -> list[tuple[str, float]]:
        """The n most probable words after a context (as in `prob`), with their probabilities; ties in their order."""
        check_whole("n", n, 0)
        return self._ranked(context, n)

    @property
    def phi_(self) -> WordShares:
        """The probability of each word of the vocabulary without a context, φ; the most probable first."""
        return WordShares(dict(self._ranked(None, None)))

    def _ranked(self, context: Context, n: int | None) -> list[tuple[str, float]]:
        """The n most probable words, or all, after a context."""
        reading = self._reading()
        p = reading.parameters.distribution(reading.context(context))
        places = np.flatnonzero(reading.parameters.known)
        if n is not None and n < len(places):
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
        """Draw a text of so many words, or so many texts; without either, one text. The unknown word is not drawn.

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
        """
        reading = self._reading()
        if n_words is not None and n_documents is not None:
            raise InputError("give n_words or n_documents, not both")
        for name, value in (("n_words", n_words), ("n_documents", n_documents)):
            if value is not None:
                check_whole(name, value, 0)
        generator = checks.seeded_generator("seed", seed)
        before = None if context is None else reading.context(context)
        if n_words is not None:
            return reading.draw(n_words, 0, generator, before=before)[0]
        if n_documents == 0:
            return []
        texts = reading.draw(0, n_documents or 1, generator, before=before)
        return texts if n_documents is not None else texts[0]


@dataclass(eq=False, repr=False)
class LanguageModelClassifier(SequenceModel, Classifier):
    """Bayes' rule on a language model for each class: argmax_k  log π_k + Σ_i log p(w_i | the words before it, k).

    Parameters
    ----------
    order, smoothing, discount, text, boundaries, min_count, vocabulary
        As for `LanguageModel`. All classes have one vocabulary. With an order of 1, no boundaries and a closed
        vocabulary this is multinomial naive Bayes.
    class_prior : Prior, mapping or "uniform"
        Imaginary texts of each class; or, as a mapping, the probability of each class.
    base : {"observed", "uniform"}
        As for `LanguageModel`; "uniform", so that no class is ruled out by a word that it never had.

    Examples
    --------
    >>> texts = ["good film", "a good story", "not bad at all", "bad film", "a bad story", "not good at all"]
    >>> model = LanguageModelClassifier(2).fit(texts, ["+", "+", "+", "-", "-", "-"])
    >>> model.predict(["not bad", "not good"]).tolist()
    ['+', '-']
    """

    _free = (*SequenceModel._free, "class_prior")

    order: int = 2
    class_prior: Prior | Mapping[Any, float] | str = MaximumLikelihood()  # noqa: RUF009 (immutable)
    base: str = field(default="uniform", kw_only=True)

    def _check_settings(self) -> None:
        super()._check_settings()
        class_prior_of(self.class_prior)

    def sheet_scorer(self) -> dict[str, Any]:
        """None: a sheet adds up what single words and n-grams say."""
        raise InputError(
            f"a {type(self).__name__} has no sheet, from which pages and exports are made: a word counts by the words "
            "before it; take NaiveBayes with text=Words(ngrams=(1, 2))"
        )

    def _rows(self, X: Any) -> tuple[Any, int]:
        found = self._reading().sequences(texts_of(self._without_target(X)))
        return found, len(found[1])

    def _joint(self, found: Any, n_rows: int, floor: float | None = None) -> Floats:
        parameters = self._parameters()
        least = -np.inf if floor is None else floor
        joint = self._reading().score(found, least)
        joint += np.maximum(parameters.log_prior, least)
        return joint

    def _explain_row(self, row: Any) -> Explanation:
        """A line for each word, given the words before it; a row is a text, its words, or a table of one row."""
        if is_frame(row):
            (row,) = np.asarray(_only_column(row)).tolist()
        found, _ = self._rows([row])
        reading = self._reading()
        p = reading.parameters
        ids, before = np.append(found[0], p.end) if p.end >= 0 else found[0], len(p.start) - 1
        words = reading.cut(row) if isinstance(row, str) else row
        strange = reading.sequences(texts_of([row]), whole=True)[0] < 0 if reading.closed else np.zeros(len(words))
        shown = [*[START] * before, *(word for word, gone in zip(words, strange) if not gone), END]
        factors = [Factor(say("prior"), "", self._parameters().prior)]
        for at, terms in enumerate(p.terms(ids.astype(np.int32)), before):
            factors.append(Factor(" ".join(shown[max(at - self.order + 1, 0) : at]), shown[at], terms))
        unknown = [word for word, gone in zip(words, strange) if gone]
        factors += left_out(say("text"), unknown)
        return self._explain(found, factors)

    def _sample_rows(self, drawn: NDArray[np.intp], rng: np.random.Generator) -> list[str]:
        texts = np.empty(len(drawn), object)
        for k in np.unique(drawn).tolist():
            places = np.flatnonzero(drawn == k)
            texts[places] = self._reading().draw(0, len(places), rng, k=k)
        return texts.tolist()

    @property
    def class_log_prior_(self) -> Floats:
        """The log prior of each class."""
        return self._parameters().log_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = tags.input_tags.sparse = tags.input_tags.allow_nan = False
        return tags
