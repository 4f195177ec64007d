"""The settings of text: what they mean, how they are kept, and how what is wrong is told."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingenuo.errors import InputError, KindError
from ingenuo.text.lexicons import Lexicon
from ingenuo.text.tokens import cut, tokens
from ingenuo.text.words import SHORTEST, STOP_WORDS, Words

MOODS = {"good": 1, "awful": -1}
PLAIN = (str, int, float, bool, type(None), list, tuple, dict, frozenset)


def test_the_order_of_the_parameters_is_fixed():
    parameters = inspect.signature(Words).parameters.values()
    positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    named = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    assert positional == [
        "ngrams",
        "binary",
        "lowercase",
        "token",
        "stop_words",
        "stem",
        "negation",
        "lexicon",
        "weighting",
    ]
    limits = ["min_count", "max_words", "min_documents", "max_documents"]
    assert named == ["norm", "model", *limits, "characters", "hashed", "errors"]


def test_without_settings_every_word_of_two_letters_counts():
    words = Words()
    assert (words.ngrams, words.shortest, words.stops, words.most_frequent) == ((1, 1), 2, frozenset(), 0)
    assert (words.cues, words.contractions) == ((), False)
    assert (words.polarity, words.opposite) == ({}, {})


def len_of(text):
    return [len(text)]


def test_a_word_may_have_one_letter():
    assert Words(token=r"\w+").shortest == 1


@pytest.mark.parametrize("prefix", ["", "(?u)"])
@pytest.mark.parametrize(("token", "shortest"), SHORTEST.items())
def test_the_compiled_tokens_are_known_by_every_spelling(token, shortest, prefix):
    assert Words(token=prefix + token).shortest == shortest
    assert Words(token=prefix + token) == Words(token=token)
    text = "a bé _c_, 12 x'yz 日本 naïve"
    plain = r"\w+" if shortest == 1 else r"\b\w\w+\b"
    assert re.findall(prefix + token, text) == re.findall(plain, text)


def test_a_token_is_any_regular_expression_or_function():
    def words_of(token, text="Don't  stop, Π_1", **settings):
        words = Words(token=token, **settings)
        assert words.shortest == 0
        assert cut(text, words).split("\x1f") == [each.word for each in tokens(text, words)]
        return [text[each.begin : each.end] for each in tokens(text, words)]

    assert words_of(r"[\w']+") == ["Don't", "stop", "Π_1"]
    assert words_of(r"(\w)\w*") == ["D", "t", "s", "Π"]  # the group, if there is one
    assert words_of(r"[a-z]*") == ["Don", "t", "stop"]  # what is empty is no word
    assert words_of(re.compile("[A-Z]+", re.I)) == words_of(re.compile("[A-Z]+", re.I).findall) == ["Don", "t", "stop"]
    assert words_of(re.compile("[A-Z] # capitals", re.X), lowercase=False) == ["D"]
    assert words_of(str.split) == words_of(r"\S+") == ["Don't", "stop,", "Π_1"]
    assert words_of(lambda text: ["stop", "", "zebra", "π_1"]) == ["stop", "", "Π_1"]  # what is not there has no place
    assert words_of(list, "İa") == ["İ", "İ", "a"]  # whose lower case is two characters
    assert Words(token=str.split) == Words(token=r"\S+")


def test_marks_of_negation_go_by_the_text_whatever_a_word_is():
    words = Words(token=r"[\w']+|[:;][)(]", negation="english")
    found = [each.word for each in tokens("I didn't like it :( not_so, fine. Never :) again", words)]
    assert found == ["i", "didn't", "not_like", "not_it", ":(", "not_so", "fine", "never", ":)", "again"]


def test_a_function_is_not_saved_and_the_remedy_is_named():
    words = Words(token=str.splitlines)
    assert words == Words(**words.parameters())
    assert repr(words) == "Words(token=str.splitlines)"
    with pytest.raises(KindError, match=r"token=str.splitlines is a function, which no model file holds .*\\S\+"):
        words.to_file()
    assert Words(token=r"\S+").to_file() == Words(token=r"\S+").parameters()


def test_words_that_cannot_be_told_apart_are_refused():
    with pytest.raises(InputError, match=r"the word 'a\\x00b' has a control character"):
        cut("a\0b", Words(token="[^ ]+"))
    with pytest.raises(KindError, match="token=len_of gives int 3; words are strings"):
        cut("abc", Words(token=len_of))


def test_stop_words_by_language_by_number_and_by_hand():
    assert Words(stop_words="spanish").stops == STOP_WORDS["spanish"]
    assert Words(lowercase=False, stop_words="english").stops == STOP_WORDS["english"]
    assert (Words(stop_words=20).stops, Words(stop_words=20).most_frequent) == (frozenset(), 20)
    assert Words(stop_words=["not", "film"]).stops == {"not", "film"}  # a negation of one's own is obeyed
    assert Words(stop_words=[]).stops == frozenset()
    assert Words(stop_words=["film"]).most_frequent == 0


def test_stop_words_of_ones_own_are_lower_cased_with_the_text():
    assert Words(stop_words={"Film"}).stops == {"film"}
    assert Words(stop_words={"Film"}, lowercase=False).stops == {"Film"}


def test_negation_by_language():
    english, italian = Words(negation="english"), Words(negation="italian")
    assert (english.cues, english.contractions) == (("not", "no", "never", "cannot"), True)
    assert (italian.cues, italian.contractions) == (("non", "mai", "né"), False)
    assert Words(negation="spanish").cues == ("no", "nunca", "jamás")


def test_a_lexicon_gives_polarity_and_opposites():
    words = Words(lexicon={"Good": 2, "awful": -3, "so": 0})
    assert words.polarity == {"good": "positive", "awful": "negative"}
    assert words.opposite == {"positive": "negative", "negative": "positive"}
    assert Words(lexicon={"love": "joy"}).opposite == {}


def test_a_lexicon_from_a_file_is_kept_by_its_contents(tmp_path):
    path = tmp_path / "moods.csv"
    path.write_text("term,valence\ngood,2\nawful,-3\n", encoding="utf-8")
    words = Words(lexicon=(path, "term", "valence"))
    path.unlink()
    assert words.parameters()["lexicon"] == {"awful": -1, "good": 1}
    assert words == Words(**words.parameters()) == Words(lexicon=MOODS)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"ngrams": (2, 1)}, InputError, r"ngrams=\(2, 1\) begins above its end; write \(1, 2\)"),
        ({"ngrams": (0, 1)}, InputError, "each of ngrams must be at least 1, got 0"),
        ({"ngrams": (1, 2, 3)}, InputError, r"a pair such as \(1, 2\).* got \(1, 2, 3\)"),
        ({"ngrams": 2}, KindError, "a pair .* got int 2"),
        ({"ngrams": (1, True)}, KindError, "a whole number, got bool True"),
        ({"ngrams": (1, 2.0)}, KindError, "a whole number, got float 2.0"),
        ({"characters": (5, 2)}, InputError, r"characters=\(5, 2\) begins above its end; write \(2, 5\)"),
        ({"characters": (1, 101)}, InputError, "longer than any that are of use; take 100 characters at most"),
        ({"characters": 3}, KindError, "characters must be a pair .* the fewest and the most characters, got int 3"),
        ({"characters": (2, 3), "ngrams": (1, 2)}, InputError, r"ngrams=\(1, 2\) is of words, and characters=\(2, 3\)"),
        ({"characters": (2, 3), "token": r"\w+"}, InputError, "token=.* is of words"),
        ({"characters": (2, 3), "stop_words": "english"}, InputError, "stop_words='english' is of words"),
        ({"characters": (2, 3), "stem": "english"}, InputError, "stem='english' is of words"),
        ({"characters": (2, 3), "negation": "english"}, InputError, "negation='english' is of words"),
        ({"characters": (2, 3), "lexicon": {"a": 1}}, InputError, "lexicon=.* is of words"),
        ({"binary": 1}, KindError, "binary must be True or False, got int 1"),
        ({"lowercase": "no"}, KindError, "lowercase must be True or False, got str 'no'"),
        ({"token": "(a"}, InputError, r"token='\(a' is no regular expression \(missing \).*position 0\); mend it"),
        ({"token": "(a)(b)"}, InputError, r"has 2 groups, and one at most is the word; write \(\?:…\)"),
        ({"token": ""}, InputError, "token has 0 characters"),
        ({"token": "a" * 1001}, InputError, "token has 1001 characters; write a regular expression of 1 to 1000"),
        ({"token": re.compile("(?i)a(?s:b)", re.M)}, InputError, "is no regular expression"),
        ({"token": re.compile(b"a")}, KindError, "a regular expression or a function, got Pattern"),
        ({"token": None}, KindError, "token must be a regular expression or a function, got NoneType None"),
        ({"token": list, "negation": "english"}, InputError, "which a function does not tell; give token as a regular"),
        ({"stop_words": "klingon"}, InputError, "no list for 'klingon'; .* 'english', 'italian', 'spanish'"),
        ({"stop_words": True}, KindError, "stop_words must be a language, .* got bool True"),
        ({"stop_words": 1.5}, KindError, "stop_words must be a language, .* got float 1.5"),
        ({"stop_words": 0}, InputError, "stop_words, .* at least 1, got 0"),
        ({"stop_words": ["the", 3]}, KindError, "stop_words must hold strings, got int 3"),
        ({"stop_words": {"the": 1}}, KindError, "got dict"),
        ({"stem": "klingon"}, InputError, "stem='klingon' is not known; known: arabic, .*, yiddish"),
        ({"stem": True}, KindError, "stem must be one of .* got bool True"),
        ({"negation": "french"}, InputError, "negation='french' is not known"),
        ({"negation": True}, KindError, "negation must be one of .* got bool True"),
        ({"lexicon": ["good"]}, KindError, "a lexicon is a mapping"),
        ({"lexicon": "nowhere.csv"}, InputError, "'nowhere.csv' was not found"),
        ({"weighting": "tf-idf"}, InputError, "weighting='tf-idf' is not known"),
        ({"norm": "l1", "weighting": "tfidf"}, InputError, "norm='l1' is not known"),
        ({"norm": "l2"}, InputError, "only weighting='tfidf' takes"),
        ({"model": "gaussian"}, InputError, "model='gaussian' is not known; known: multinomial, complement, bernoulli"),
        ({"model": "bernoulli", "weighting": "tfidf"}, InputError, "no effect in model='bernoulli'"),
        ({"min_count": 0}, InputError, "min_count must be at least 1, got 0"),
        ({"min_count": 2.0}, KindError, "min_count must be a whole number, got float 2.0"),
        ({"max_words": 0}, InputError, "max_words must be at least 1, got 0"),
        ({"max_words": True}, KindError, "max_words must be a whole number, got bool True"),
        ({"min_documents": 0}, InputError, "min_documents must be at least 1, got 0"),
        ({"min_documents": 1.5}, InputError, "min_documents=1.5 is a share of the documents, from 0 to 1"),
        ({"min_documents": float("nan")}, InputError, "min_documents=nan is a share"),
        ({"min_documents": True}, KindError, "min_documents must be a number of documents .* got bool True"),
        ({"max_documents": 0.0}, InputError, "max_documents=0.0 is a share of the documents, above 0 to 1"),
        ({"max_documents": "all"}, KindError, "max_documents must be a number of documents .* got str 'all'"),
        ({"min_documents": 5, "max_documents": 4}, InputError, "min_documents=5 is above max_documents=4"),
        ({"min_documents": 0.5, "max_documents": 0.4}, InputError, "min_documents=0.5 is above max_documents=0.4"),
        ({"hashed": 1000}, InputError, "hashed must be a power of two from 2 to .*, got 1000"),
        ({"hashed": 1}, InputError, "hashed must be a power of two from 2 to .*, got 1"),
        ({"hashed": 2**31}, InputError, "hashed must be a power of two from 2 to .*, got 2147483648"),
        ({"hashed": 0}, InputError, "hashed must be at least 1, got 0"),
        ({"hashed": True}, KindError, "hashed must be a whole number, got bool True"),
        ({"hashed": 8, "max_words": 5}, InputError, "max_words=5 cannot be had with hashed=8: a bucket holds several"),
        ({"hashed": 8, "min_count": 2}, InputError, "min_count=2 cannot be had with hashed=8"),
        ({"hashed": 8, "min_documents": 2}, InputError, "min_documents=2 cannot be had with hashed=8"),
        ({"hashed": 8, "min_documents": 0.1}, InputError, "min_documents=0.1 cannot be had with hashed=8"),
        ({"hashed": 8, "max_documents": 0.9}, InputError, "max_documents=0.9 cannot be had with hashed=8"),
        ({"hashed": 8, "max_documents": 1}, InputError, "max_documents=1 cannot be had with hashed=8"),
        ({"hashed": 8, "stop_words": 10}, InputError, "stop_words=10 cannot be had with hashed=8"),
        ({"errors": "ignore"}, InputError, "errors='ignore' is not known"),
    ],
)
def test_what_is_wrong_is_refused_with_the_remedy(settings, error, message):
    with pytest.raises(error, match=message):
        Words(**settings)


def test_the_bounds_themselves_are_allowed():
    assert (Words(hashed=2).hashed, Words(hashed=2**30, stop_words="english").hashed) == (2, 2**30)
    assert (Words(min_documents=0.0).min_documents, Words(min_documents=3, max_documents=0.5).min_documents) == (0.0, 3)
    assert Words(min_documents=3, max_documents=3).max_documents == 3


def test_numbers_of_numpy_become_pythons_own():
    words = Words(
        [np.int64(1), np.int32(2)],
        np.True_,
        stop_words=np.int8(3),
        max_words=np.int64(9),
        max_documents=np.float32(0.5),
    )
    assert words == Words((1, 2), True, stop_words=3, max_words=9, max_documents=0.5)
    assert all(type(value) in PLAIN for value in words.parameters().values())


def test_one_document_is_not_all_documents():
    assert Words(max_documents=1) != Words(max_documents=1.0)
    assert Words(min_documents=1.0) != Words(min_documents=1)
    assert repr(Words(max_documents=1)) == "Words(max_documents=1)"


def test_words_are_not_equal_to_other_things():
    assert Words() != "words"
    assert Words().__eq__(3) is NotImplemented


def test_nothing_changes_afterwards():
    mine = ["film"]
    words = Words(stop_words=mine)
    mine.append("movie")
    assert words.stops == {"film"}
    with pytest.raises(FrozenInstanceError):
        words.binary = True
    terms = dict(MOODS)
    lexicon = Words(lexicon=terms)
    terms["fine"] = 1
    lexicon.parameters()["lexicon"]["fine"] = 1
    assert lexicon == Words(lexicon=MOODS)


def test_words_are_shown_by_what_was_set():
    assert repr(Words()) == "Words()"
    assert (
        repr(Words((1, 2), stop_words={"b", "a"}, hashed=8)) == "Words(ngrams=(1, 2), stop_words=['a', 'b'], hashed=8)"
    )
    assert repr(Words(stop_words=list("abcdef"))) == "Words(stop_words=<6 words>)"
    assert repr(Words(lexicon=MOODS)) == "Words(lexicon=Lexicon(2 words: negative 1, positive 1))"


settings_of_words = st.fixed_dictionaries(
    {},
    optional={
        "ngrams": st.sampled_from([(1, 1), (1, 2), [2, 3]]),
        "binary": st.booleans(),
        "lowercase": st.booleans(),
        "token": st.sampled_from([r"\b\w\w+\b", r"\w+"]),
        "stop_words": st.sampled_from([None, "english", ["Film", "a"], ("x",), {"y", "z"}, frozenset(), 7]),
        "stem": st.sampled_from([None, "english", "italian"]),
        "negation": st.sampled_from([None, "english", "spanish"]),
        "lexicon": st.sampled_from([None, MOODS, {"good": 1}, {"love": "joy"}, Lexicon({"good": "positive"})]),
        "weighting": st.just("tfidf"),
        "model": st.sampled_from([None, "multinomial", "complement"]),
        "min_count": st.integers(1, 5),
        "max_words": st.none() | st.integers(1, 5),
        "min_documents": st.sampled_from([1, 2, 0.0, 0.25]),
        "max_documents": st.sampled_from([1.0, 2, 100, 0.5]),
        "errors": st.sampled_from(["strict", "replace"]),
    },
)


@given(settings_of_words)
def test_words_survive_their_parameters_and_copies(settings):
    words = Words(**settings)
    parameters = words.parameters()
    assert list(parameters) == [each.name for each in fields(Words)]
    assert all(type(value) in PLAIN for value in parameters.values())
    for twin in (Words(**parameters), pickle.loads(pickle.dumps(words)), copy.deepcopy(words), copy.copy(words)):
        assert twin == words
        assert hash(twin) == hash(words)
        assert repr(twin) == repr(words)
        assert (twin.stops, twin.polarity, twin.opposite) == (words.stops, words.polarity, words.opposite)


@given(settings_of_words, settings_of_words)
def test_words_are_equal_when_their_parameters_are(one, other):
    first, second = Words(**one), Words(**other)

    def typed(words):
        return [(type(value), value) for value in words.parameters().values()]

    assert (first == second) == (typed(first) == typed(second))


def test_settings_need_no_heavy_package():
    script = "import sys\nfrom ingenuo.text.words import Words\nWords()\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"pandas", "sklearn", "pyarrow", "numba", "snowballstemmer"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("found", [None, 3, "two words"])
def test_a_function_that_gives_no_list_is_refused(found: object) -> None:
    words = Words(token=lambda _: found)  # type: ignore[arg-type, return-value]
    with pytest.raises(KindError, match=r"for the text 'a film'; return a list of its words"):
        tokens("a film", words)
