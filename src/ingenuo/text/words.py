"""The settings of text: which words of a document count, and how."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ingenuo.errors import InputError, KindError, check_choice
from ingenuo.tally.prior import Settings
from ingenuo.text.lexicons import Given, Lexicon, read_text

if TYPE_CHECKING:
    from ingenuo.families.word_features import TextMatrix

Cut = str | Callable[[str], Iterable[str]]  # what finds the words of a text

# Stop words: the function words of a language, which say little about what a text is about.
_ENGLISH = """
a an the this that these those each every either some any all both another other others such same own i me my mine
myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves one ones oneself who whom whose which what whoever whatever whichever someone
somebody something anyone anybody anything everyone everybody everything am is are was were be been being have has had
having do does did doing done will would shall should may might must could ought let lets about above across after
against along amid among amongst around as at before behind below beneath beside besides between beyond by down during
for from in inside into near of off on onto out outside over past per since than through throughout till to toward
towards under underneath until unto up upon via with within and but or if because so although though while whereas
whether when whenever where wherever how why also again already always ever even else further here hence however
indeed just more most much many meanwhile moreover now often once only perhaps quite rather really sometimes soon
still then there therefore thus together too very yet ll ve re s d m
"""

_ITALIAN = """
il lo la i gli le un uno una di a da in con su per tra fra del dello della dei degli delle al allo alla ai agli alle
dal dallo dalla dai dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle col coi dopo prima
durante verso presso dentro fuori sopra sotto dietro davanti oltre fino circa attraverso io tu lui lei egli ella esso
essa noi voi essi esse loro me te sé mi ti si ci vi ne li mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro
nostra nostri nostre vostro vostra vostri vostre questo questa questi queste quello quella quelli quelle quel quei
quegli ciò stesso stessa stessi stesse che chi cui quale quali quanto quanta quanti quante cosa qualche qualcuno
qualcosa alcuni alcune ogni ognuno ciascuno tutto tutta tutti tutte altro altra altri altre e ed o od oppure ma però
anche se perché poiché mentre quando come dove quindi dunque allora cioè infatti essere sono sei è siamo siete ero eri
era eravamo eravate erano fu furono sarò sarai sarà saremo sarete saranno sarebbe sarebbero sia siano fosse fossero
stato stata stati state essendo avere ho hai ha abbiamo avete hanno avevo avevi aveva avevamo avevate avevano avrò
avrà avranno avrebbe avrebbero abbia abbiano avesse avessero avuto avendo sto stai sta stiamo stanno stava stavano
ancora già poi qui qua lì là ora adesso sempre più molto così solo proprio quasi tanto l c d m s t v dell all dall
nell sull coll quell quest dov com anch tutt po
"""

_SPANISH = """
el la los las lo un una unos unas al del a ante bajo con contra de desde durante en entre hacia hasta mediante para
por según sobre tras yo tú él ella ello nosotros nosotras vosotros vosotras ellos ellas usted ustedes mí ti conmigo
contigo consigo me te se nos os le les mi mis tu tus su sus mío mía míos mías tuyo tuya tuyos tuyas suyo suya suyos
suyas nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras este esta esto estos estas ese esa eso esos
esas aquel aquella aquello aquellos aquellas que qué quien quién quienes quiénes cual cuál cuales cuáles cuyo cuya
cuyos cuyas cuanto cuánto algo alguien algún alguno alguna algunos algunas cada todo toda todos todas otro otra otros
otras mismo misma mismos mismas tal tales ambos ambas y e o u pero aunque porque pues si como cómo cuando cuándo donde
dónde mientras ser soy eres es somos sois son era eras éramos eran fui fue fuimos fueron será serán sería serían sea
sean fuera fueran siendo sido estar estoy estás está estamos estáis están estaba estabas estábamos estaban estuvo
estuvieron esté estén estando estado haber he has ha hemos habéis han había habías habíamos habían hubo habrá habrán
habría habrían haya hayan hubiera hubieran habido hay muy más mucho mucha muchos muchas tan tanto también ya así aún
todavía siempre solo sólo entonces luego después antes ahora aquí ahí allí casi además
"""

STOP_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language: frozenset(listed.split())
        for language, listed in (("english", _ENGLISH), ("italian", _ITALIAN), ("spanish", _SPANISH))
    }
)


def languages() -> list[str]:
    """The names of Snowball's algorithms: languages, and variants such as "porter"."""
    import snowballstemmer  # type: ignore[import-untyped]

    return sorted(snowballstemmer.algorithms())


def stem_words(language: str, words: list[str]) -> list[str]:
    """The stems of words, in the same order."""
    import snowballstemmer

    # A fresh one for each call, which takes a microsecond: two threads must not share the word that one works on.
    stems = snowballstemmer.stemmer(language).stemWords(words)
    # Some algorithms strip a word that is all ending down to nothing: it stays as it is.
    return [stem or word for stem, word in zip(stems, words, strict=True)]


def version() -> str:
    """The version of the stemmers: another may stem otherwise."""
    from importlib import metadata

    return metadata.version("snowballstemmer")


# Negation: after a cue such as "not", every word up to the next punctuation counts as another word.
CUES: dict[str, tuple[str, ...]] = {
    "english": ("not", "no", "never", "cannot"),
    "italian": ("non", "mai", "né"),
    "spanish": ("no", "nunca", "jamás"),
}
CONTRACTING = frozenset({"english"})  # the languages in which n't is a cue
CLOSING = ".,:;!?…¿¡"
PREFIX = "not_"

_PIECE = re.compile(rf"\w+|[{re.escape(CLOSING)}]")
_CONTRACTED = re.compile(r"['’][tT](?!\w)")  # what follows the n


def _scopes(text: str, negation: str | None) -> list[int]:
    """Where the scopes of negations begin and end, in turn."""
    found: list[int] = []
    cues = CUES.get(negation or "", ())
    opens_behind = -1  # where the "t" of a contraction begins: the scope opens when it has been read
    for piece in _PIECE.finditer(text) if negation is not None else ():
        run = piece.group()
        plain, negated = run.lower(), len(found) % 2 == 1
        if run in CLOSING:
            found += [piece.start()] if negated else []
        elif plain in cues or piece.start() == opens_behind:
            found += [] if negated else [piece.end()]
        elif negation in CONTRACTING and plain.endswith("n") and _CONTRACTED.match(text, piece.end()):
            opens_behind = piece.end() + 1
    return found


def find_words(text: str, token: Cut = r"\b\w\w+\b", negation: str | None = None) -> Iterator[tuple[int, int, str]]:
    """Where each word begins and ends, and the word, with the prefix "not_" in the scope of a negation of a language.

    The text is in lower case, if it is to be. What a function calls words is looked for in it, one after the other.
    """
    if callable(token):
        at, found = 0, token(text)
        if not isinstance(found, Iterable) or isinstance(found, str):
            what = f"token={_describe(token)} gives {type(found).__name__} {found!r}"
            raise KindError(f"{what} for the text {text[:40]!r}; return a list of its words")
        for word in found:
            if not isinstance(word, str):
                raise KindError(f"token={_describe(token)} gives {type(word).__name__} {word!r}; words are strings")
            begin = text.find(word, at)
            end = at if begin < 0 else begin + len(word)
            if word:
                yield min(max(begin, at), end), end, word
            at = end
        return
    scopes, pattern = _scopes(text, negation), re.compile(token)
    for match in pattern.finditer(text):
        begin, end = match.span(pattern.groups)  # of the group, if there is one
        if begin < end:
            yield begin, end, (PREFIX if bisect(scopes, begin) % 2 else "") + text[begin:end]


# The regular expressions that a compiled loop cuts texts by: the fewest characters of a word.
SHORTEST = {r"\b\w\w+\b": 2, r"\b\w{2,}\b": 2, r"\w\w+": 2, r"\w{2,}": 2, r"\w+": 1, r"\b\w+\b": 1}
_FLAGS = {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
_LONGEST_PATTERN = 1000  # characters
WEIGHTINGS = ("count", "tfidf")
MODELS = ("multinomial", "complement", "bernoulli")
MOST_BUCKETS = 2**30
LONGEST = 100  # words or characters of an n-gram


@dataclass(frozen=True, eq=False, repr=False)
class Words(Settings):
    r"""Which words of a text count, and how.

    Parameters
    ----------
    ngrams : (int, int)
        The fewest and the most words in a row that make one feature: (1, 2) is single words and pairs.
    binary : bool
        Whether a word counts once in a document, however often it is there.
    lowercase : bool
        Whether the text is lower-cased first.
    token : str or callable
        What a word is, as a regular expression: ``\b\w\w+\b`` (two letters, digits or underscores and more), ``\w+``
        (one is enough), or any other; if it has a group, that is the word. Or a function from a text to its words,
        which no model file can hold. Those two are cut by compiled loops, however they are spelled, others by Python.
    stop_words : None, str, int or collection of str
        Words to leave out: the list of a language ("english", "italian", "spanish"), the so many most frequent words
        of the training texts, or your own. The lists of languages are in lower case, also with ``lowercase=False``,
        and hold no negation. A word of your own that `token` does not find, such as one with a space, never matches.
    stem : None or str
        The language whose stems stand for the words ("loved" and "loving" become "love"); it expects lower case.
    negation : None or str
        The language ("english", "italian", "spanish") whose negations mark the words behind them, up to the next
        punctuation: "didn't like it" counts as didn, not_like, not_it.
    lexicon : None, mapping, path or tuple
        Words with a score (its sign counts) or a class: each class is one more feature, which counts its words. A
        mapping; a CSV or TSV file with the columns "word" and "score" or "class"; or (path, word column, value
        column). Its words are in lower case, also with ``lowercase=False``.
    weighting : str
        "count", or "tfidf": counts times the logarithm of how rare a word is among the documents.
    norm : None or str
        "l2": each document's weights are scaled to length 1. Only with "tfidf".
    model : None or str
        "multinomial", "complement" or "bernoulli"; None is what the classifier does with counts.
    min_count : int
        Features that occur less often in all are left out.
    max_words : None or int
        The most frequent so many features are kept.
    min_documents, max_documents : int or float
        Features in fewer or in more documents are left out: so many documents (int) or a share of them (float).
    characters : None or (int, int)
        In place of words, so many characters in a row: (2, 5) is all pairs to quintuples of them within what stands
        between white space, with a space before and after it. It knows words by their parts: endings, misspellings,
        what is written together. Settings of words cannot be had with it.
    hashed : None or int
        Features are put into so many buckets (a power of two) instead of being remembered by name.
    errors : str
        Bytes that are not UTF-8 are an error ("strict") or become the replacement character ("replace").

    Examples
    --------
    >>> words = Words(ngrams=(1, 2), stop_words="italian", negation="italian")
    >>> words.cues
    ('non', 'mai', 'né')
    >>> words == Words(**words.parameters())
    True
    """

    ngrams: tuple[int, int] = (1, 1)
    binary: bool = False
    lowercase: bool = True
    token: Cut = r"\b\w\w+\b"
    stop_words: str | int | frozenset[str] | list[str] | tuple[str, ...] | set[str] | None = None
    stem: str | None = None
    negation: str | None = None
    lexicon: Lexicon | Given | None = None
    weighting: str = "count"
    _: KW_ONLY
    norm: str | None = None
    model: str | None = None
    min_count: int = 1
    max_words: int | None = None
    min_documents: int | float = 1
    max_documents: int | float = 1.0
    characters: tuple[int, int] | None = None
    hashed: int | None = None
    errors: str = "strict"

    def __post_init__(self) -> None:
        checks: dict[str, Callable[[Any], Any]] = {
            "ngrams": partial(_range, "ngrams", "words"),
            "characters": partial(_range, "characters", "characters"),
            "token": _token,
            "stop_words": _stop_words,
            "lexicon": Lexicon.of,
            "min_documents": partial(_documents, "min_documents"),
            "max_documents": partial(_documents, "max_documents"),
            "hashed": _buckets,
            **{name: partial(_switch, name) for name in ("binary", "lowercase")},
            **{name: partial(_whole, name) for name in ("min_count", "max_words")},
        }
        choices: dict[str, Collection[str]] = {
            "stem": languages() if self.stem is not None else (), "negation": CUES, "weighting": WEIGHTINGS,
            "norm": ["l2"], "model": MODELS, "errors": ["strict", "replace"],
        }  # fmt: skip
        checks |= {name: partial(check_choice, name, known=names) for name, names in choices.items()}
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None or each.default is not None:
                object.__setattr__(self, each.name, checks[each.name](value))
        self._check_together()

    def _check_together(self) -> None:
        """Settings that are sound alone and make no sense together."""
        if self.norm is not None and self.weighting != "tfidf":
            raise InputError(
                f"norm={self.norm!r} makes fractions of counts, which only weighting='tfidf' takes; set it or norm=None"
            )
        if self.weighting == "tfidf" and self.model == "bernoulli":
            raise InputError(
                "weighting='tfidf' has no effect in model='bernoulli', which asks only whether a word is there; "
                "use weighting='count' or another model"
            )
        of_words = ("ngrams", "token", "stop_words", "stem", "negation", "lexicon") if self.characters else ()
        for name in (name for name in of_words if getattr(self, name) != getattr(Words, name)):
            raise InputError(
                f"{name}={_describe(getattr(self, name))} is of words, and characters={self.characters} counts "
                "characters in their place; leave out one of the two"
            )
        if callable(self.token) and self.negation is not None:
            raise InputError(
                f"negation={self.negation!r} marks words by where they stand, which a function does not tell; give "
                "token as a regular expression"
            )
        low, high = self.min_documents, self.max_documents
        if type(low) is type(high) and low > high:
            raise InputError(f"min_documents={low!r} is above max_documents={high!r}, so no word would be left")
        if self.hashed is not None:
            ranked = {
                "stop_words": self.most_frequent > 0,
                "min_count": self.min_count > 1,
                "max_words": self.max_words is not None,
                "min_documents": not (type(low) is int and low == 1),
                "max_documents": not (type(high) is float and high == 1),
            }
            for name in (name for name, given in ranked.items() if given):
                raise InputError(
                    f"{name}={getattr(self, name)!r} cannot be had with hashed={self.hashed}: a bucket holds several "
                    f"words, so there are no words to rank or count; leave out one of the two"
                )

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Words) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        default = {each.name: (type(each.default), each.default) for each in fields(Words)}
        changed = [(name, value) for name, value in self._values().items() if (type(value), value) != default[name]]
        return f"Words({', '.join(f'{name}={_describe(value)}' for name, value in changed)})"

    def _values(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _content(self) -> tuple[Any, ...]:
        # With the types: max_documents=1 is one document, 1.0 is all of them, and yet 1 == 1.0.
        return tuple((type(value), value) for value in self._values().values())

    def parameters(self) -> dict[str, Any]:
        """The settings by name, in plain values; a lexicon by its contents, wherever it was read from."""
        values = self._values()
        if isinstance(self.lexicon, Lexicon):
            values["lexicon"] = self.lexicon.plain()
        return values

    def transform(self, texts: Any) -> TextMatrix:
        """Texts as a sparse matrix, a row for each, with its columns' names: for other estimators.

        With the same settings it is that of scikit-learn's CountVectorizer or TfidfVectorizer. `model`, which is what a
        classifier makes of counts, says nothing here.

        Parameters
        ----------
        texts : list, array or series of str
            A missing text is an empty row.

        Examples
        --------
        >>> found = Words(stop_words=["and"]).transform(["warm soup", "soup and soup"])
        >>> found.names.tolist(), found.matrix.toarray().tolist()
        (['soup', 'warm'], [[1, 1], [2, 0]])
        """
        from ingenuo.families.word_features import transform

        return transform(self, texts)

    def bigram_counts(self, texts: Any) -> tuple[Any, Any]:
        """How often each word follows each other in these texts, or in one: an n × n array, and the n words.

        Row i, column j: how often word j stands right behind word i. Words that are left out stand for nothing.

        Examples
        --------
        >>> counts, names = Words().bigram_counts("warm soup, warm bread")
        >>> names.tolist(), counts.tolist()
        (['bread', 'soup', 'warm'], [[0, 0, 0], [0, 0, 1], [1, 1, 0]])
        """
        from ingenuo.families.word_features import bigram_counts

        return bigram_counts(self, texts)

    def to_file(self) -> dict[str, Any]:
        """The settings as a model file holds them, which names no code to run."""
        if callable(self.token):
            raise KindError(
                f"token={_describe(self.token)} is a function, which no model file holds and no engine is sent; write "
                "a regular expression, or put spaces between the words of each text and take token=r'\\S+'"
            )
        return self.parameters()

    @property
    def shortest(self) -> int:
        """The fewest characters of a word; 0 where no compiled loop can tell words by that alone."""
        return 0 if callable(self.token) else SHORTEST.get(self.token, 0)

    @property
    def stops(self) -> frozenset[str]:
        """The words to leave out that are known beforehand; your own in lower case, if the text is."""
        if isinstance(self.stop_words, str):
            return STOP_WORDS[self.stop_words]
        if isinstance(self.stop_words, frozenset):
            return frozenset(word.lower() for word in self.stop_words) if self.lowercase else self.stop_words
        return frozenset()

    @property
    def most_frequent(self) -> int:
        """How many of the most frequent words to leave out, once the words are counted."""
        return self.stop_words if isinstance(self.stop_words, int) else 0

    @property
    def cues(self) -> tuple[str, ...]:
        """The words that negate what follows, in lower case."""
        return () if self.negation is None else CUES[self.negation]

    @property
    def contractions(self) -> bool:
        """Whether a contraction with n't negates what follows, as in English."""
        return self.negation in CONTRACTING

    @property
    def polarity(self) -> Mapping[str, str]:
        """The class of each word of the lexicon; the words are in lower case and not stemmed."""
        return self.lexicon.classes if isinstance(self.lexicon, Lexicon) else MappingProxyType({})

    @property
    def opposite(self) -> Mapping[str, str]:
        """The class that a negated word of the lexicon counts for; empty where classes have no opposites."""
        return self.lexicon.opposite if isinstance(self.lexicon, Lexicon) else MappingProxyType({})


def _token(value: Any) -> Cut:
    """A regular expression as text, or a function."""
    if value is str.split:
        return r"\S+"
    if isinstance(owner := getattr(value, "__self__", None), re.Pattern) and value == owner.findall:
        value = owner
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        alone, flags = value.pattern, "".join(name for name, flag in _FLAGS.items() if value.flags & flag)
        comment = "\n" if "x" in flags else ""  # which may stand last, and ends with its line
        value = alone if re.compile(alone).flags == value.flags else f"(?{flags}:{alone}{comment})"
    if callable(value):
        return value  # type: ignore[no-any-return]
    if not isinstance(value, str):
        raise KindError(f"token must be a regular expression or a function, got {type(value).__name__} {value!r}")
    pattern = value.removeprefix("(?u)")  # as scikit-learn spells it, and as any text is read
    if not 0 < len(pattern) <= _LONGEST_PATTERN:
        raise InputError(f"token has {len(pattern)} characters; write a regular expression of 1 to {_LONGEST_PATTERN}")
    try:
        groups = re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(f"token={value!r} is no regular expression ({error}); mend it") from None
    if groups > 1:
        raise InputError(
            f"token={value!r} has {groups} groups, and one at most is the word; write (?:…) for the others"
        )
    return pattern


def _describe(value: object) -> str:
    if callable(value):
        return str(getattr(value, "__qualname__", repr(value)))
    if not isinstance(value, frozenset):
        return repr(value)
    return repr(sorted(value)) if len(value) <= 5 else f"<{len(value)} words>"


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise KindError(f"{name} must be True or False, got {type(value).__name__} {value!r}")
    return bool(value)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _whole(name: str, value: Any) -> int:
    if not _is_whole(value):
        raise KindError(f"{name} must be a whole number, got {type(value).__name__} {value!r}")
    if value < 1:
        raise InputError(f"{name} must be at least 1, got {value!r}")
    return int(value)


def _range(name: str, what: str, value: Any) -> tuple[int, int]:
    pair = f"{name} must be a pair such as (1, 2), the fewest and the most {what}, got"
    if not isinstance(value, tuple | list):
        raise KindError(f"{pair} {type(value).__name__} {value!r}")
    if len(value) != 2:
        raise InputError(f"{pair} {value!r}")
    low, high = (_whole(f"each of {name}", each) for each in value)
    if low > high:
        raise InputError(f"{name}={value!r} begins above its end; write ({high}, {low})")
    if high > LONGEST:
        raise InputError(f"{name}={value!r} are longer than any that are of use; take {LONGEST} {what} at most")
    return low, high


def _stop_words(value: Any) -> str | int | frozenset[str]:
    if isinstance(value, str):
        if value not in STOP_WORDS:
            raise InputError(
                f"stop_words has no list for {value!r}; there are lists for {', '.join(map(repr, STOP_WORDS))}; "
                "give words of your own as a list"
            )
        return str(value)
    if _is_whole(value):
        return _whole("stop_words, as how many of the most frequent words to leave out,", value)
    if not isinstance(value, list | tuple | set | frozenset):
        raise KindError(
            "stop_words must be a language, a list of words, or how many of the most frequent words to leave out, "
            f"got {type(value).__name__} {value!r}"
        )
    for word in value:
        if not isinstance(word, str):
            raise KindError(f"stop_words must hold strings, got {type(word).__name__} {word!r} among them")
    return frozenset(map(str, value))


def parse_stop_words(text: str) -> str | int | list[str] | None:
    """Stop words as a command has them: a language, a number, words with commas between them, or a file of words."""
    if "," in text:
        return [word for word in map(str.strip, text.split(",")) if word]
    if text in STOP_WORDS or text.isdecimal() or text == "none":
        return None if text == "none" else int(text) if text.isdecimal() else text
    if not Path(text).is_file():
        raise InputError(
            f"stop_words={text!r} is no language ({', '.join(STOP_WORDS)}), number or file; give your own words with "
            f"commas between them, a single one as '{text},'"
        )
    return read_text(f"the file {text!r} of stop words", text).split()


def _documents(name: str, value: Any) -> int | float:
    if _is_whole(value):
        return _whole(name, value)
    if not isinstance(value, float | np.floating):
        raise KindError(
            f"{name} must be a number of documents (int) or a share (float), got {type(value).__name__} {value!r}"
        )
    if not 0 <= value <= 1 or (name == "max_documents" and value == 0):
        least = "above 0" if name == "max_documents" else "from 0"
        raise InputError(
            f"{name}={value!r} is a share of the documents, {least} to 1; give an int for a number of them"
        )
    return float(value)


def _buckets(value: Any) -> int:
    buckets = _whole("hashed", value)
    if buckets & (buckets - 1) or not 2 <= buckets <= MOST_BUCKETS:
        raise InputError(f"hashed must be a power of two from 2 to 2**30, such as 2**20, got {value!r}")
    return buckets
