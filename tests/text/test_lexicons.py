"""Lexicons: what is accepted, what it means, and how what is wrong is told."""

from __future__ import annotations

import codecs
import copy
import pickle
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingenuo.errors import InputError, KindError
from ingenuo.text.lexicons import Lexicon

MOODS = {"good": "positive", "awful": "negative"}


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes, name: str = "moods.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_the_sign_of_a_score_is_its_class_and_zero_is_none():
    scores = {"Good": 3, " awful ": -0.5, "table": 0, "nice": np.float32(1), "bad": np.int64(-1), "so": Fraction(1, 2)}
    assert Lexicon.of(scores).classes == {**MOODS, "nice": "positive", "bad": "negative", "so": "positive"}


def test_classes_keep_their_names():
    found = Lexicon.of({"love": "Joy", "hate": " anger "})
    assert dict(found.classes) == {"hate": "anger", "love": "Joy"}
    assert not found.scored


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("moods.csv", "word,score\ngood,2\nawful,-1\n"),
        ("moods.csv", "word,class\ngood,positive\nawful,negative\n"),
        ("moods.csv", 'score,note,word\r\n+2,"a, b",Good\r\n\r\n-1e0,,"awful"\r\n'),
        ("moods.csv", codecs.BOM_UTF8 + b" word , score\n good , 2\n awful , -1"),
        ("moods.CSV", "word,score\rgood,2\rawful,-1\r"),
        ("moods", "word,score\ngood,2\nawful,-1\n"),
        ("moods.tsv", "word\tscore\ngood\t2\nawful\t-1\n"),
        ("moods.tab", 'word\tscore\n"\t1\ngood\t2\nawful\t-1\n'),
        ("moods.txt", "word\tscore\ngood\t2\nawful\t-1\n"),
        ("moods.txt", "word,score\ngood,2\nawful,-1\n"),
    ],
)
def test_files_of_many_kinds_are_read(write, name, content):
    path = write(content, name)
    assert Lexicon.of(path).classes == MOODS
    assert Lexicon.of(str(path)) == Lexicon.of(path)


def test_columns_can_be_named(write):
    path = write("term,valence,mood,class\ngood,2,joy,1\nawful,-1,anger,-1\n")
    assert Lexicon.of((path, "term", "valence")) == Lexicon.of({"good": 1, "awful": -1})
    assert Lexicon.of((str(path), "term", "mood")) == Lexicon.of({"good": "joy", "awful": "anger"})
    assert Lexicon.of((path, "term", "class")) == Lexicon.of({"good": "1", "awful": "-1"})


def test_columns_of_a_file_without_a_header_are_counted(write):
    path = write("good,2,joy\nawful,-1,anger\n")
    assert Lexicon.of((path, 0, 1)) == Lexicon.of({"good": 1, "awful": -1})
    assert Lexicon.of((path, 0, 2)) == Lexicon.of({"good": "joy", "awful": "anger"})
    with pytest.raises(InputError, match="has 3 columns in its first line, so none at place 3"):
        Lexicon.of((path, 0, 3))


def test_a_column_with_a_number_in_it_is_one_of_scores(write):
    path = write("term,valence\ngood,n/a\nawful,-1\n")
    with pytest.raises(
        InputError, match=r"moods\.csv.*'n/a' in column 'valence' in line 2; a score is a finite number"
    ):
        Lexicon.of((path, "term", "valence"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("word,score\ngood,2\nbad,much\n", r"moods\.csv' has 'much' in column 'score' in line 3"),
        ("word,score\ngood,nan\n", "has 'nan' in column 'score' in line 2"),
        ("word,score\ngood,inf\n", "has 'inf' in column 'score' in line 2"),
        ("word,score\n\n\ngood, \n", "has nothing in column 'score' in line 4"),
        ('word,note,score\ngood,"two\nlines",1\nbad,,much', "has 'much' in column 'score' in line 4"),
        ("word,class\ngood,\n", "has nothing in column 'class' in line 2"),
        ("word,class\n,joy\n", "has nothing in column 'word' in line 2"),
        ("word,score\ngood\n", "has 1 columns in line 2, but its header has 2"),
        ("word,score\nwell, good,3\n", "has 3 columns in line 2, but its header has 2"),
        ("word,score\ngood,2\ngreat,1\ngood,-3\n", "'good' as 2.0 in line 2 and 'good' as -3.0 in line 4; keep one"),
        ("word,score\ngood,2\nGOOD,-3\n", "'good' as 2.0 in line 2 and 'GOOD' as -3.0 in line 3"),
        ("word,score\ngood,0\nGood,1\n", "'good' as 0.0 in line 2 and 'Good' as 1.0 in line 3"),
        ("word,class\ngood,joy\nGood,trust\n", "'good' as 'joy' in line 2 and 'Good' as 'trust' in line 3"),
        ("wrod,score\ngood,2\n", "no column 'word'.*columns are 'wrod', 'score'; did you mean 'wrod'"),
        ("word,points\ngood,2\n", "no column 'score'.*columns are 'word', 'points'; call them"),
        ("word;score\ngood;2\n", "no column 'word'.*columns are 'word;score'.*with commas between"),
        ("abandon,-2\n", "columns are 'abandon', '-2'; it seems to lack a header, so count its columns"),
        ("", "its columns are none"),
        ("word,score,class\ngood,2,joy\n", "both a column 'score' and a column 'class'"),
        ("word,word,score\ngood,well,2\n", "2 columns called 'word'"),
        ('word,score\n"good,2\nbad,-1\n', "cannot be read as a table from line 2 on"),
        ("word,score\n", r"no word that could be found in a text \(0 terms, 0 of them"),
        ("word,score\nso,0\n:-),3\n", r"no word that could be found in a text \(2 terms, 1 of them not single words\)"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(write, content, message):
    with pytest.raises(InputError, match=message) as raised:
        Lexicon.of(write(content))
    assert "moods.csv" in str(raised.value)


def test_other_named_columns_that_are_missing_are_told(write):
    with pytest.raises(InputError, match=r"no column 'valance'.*did you mean 'valence'"):
        Lexicon.of((write("term,valence\ngood,2\n"), "term", "valance"))


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_bytes_that_are_not_utf8_are_told_with_line_and_offset(write, mark, end):
    content = mark + b"word,score" + end + "più,1".encode() + end + "città,2".encode("latin-1") + end
    offset = content.index(b"\xe0")
    with pytest.raises(
        InputError, match=rf"moods\.csv.*line 3 has the byte 0xe0 at offset {offset} .*save it as UTF-8"
    ):
        Lexicon.of(write(content))


def test_utf16_is_told_at_its_first_byte(write):
    with pytest.raises(InputError, match="line 1 has the byte 0xff at offset 0"):
        Lexicon.of(write("word,score\ngood,1\n".encode("utf-16")))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.csv' was not found") as raised:
        Lexicon.of(tmp_path / "nowhere.csv")
    assert isinstance(raised.value.__cause__, FileNotFoundError)
    with pytest.raises(InputError, match="cannot be read"):
        Lexicon.of(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        Lexicon.of("a\0b.csv")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"good": True}, KindError, "'good' of the lexicon has bool True"),
        ({"good": None}, KindError, "'good' of the lexicon has NoneType None"),
        ({3: 1}, KindError, "must be strings, got int 3"),
        ({"good": float("nan")}, InputError, "'good' of the lexicon has nan"),
        ({"good": 10**400}, InputError, "'good' of the lexicon has 1000"),
        ({"good": " "}, InputError, "'good' of the lexicon has ' '"),
        ({" ": 1}, InputError, "the word ' ' of the lexicon"),
        ({"good": 1, "bad": "negative"}, InputError, "'good' a score and 'bad' a class"),
        (
            {"Good": 1, "good": -1},
            InputError,
            "'Good' as 1.0 in the entry 'Good' and 'good' as -1.0 in the entry 'good'",
        ),
        ({}, InputError, "0 terms"),
        (["good"], KindError, "a lexicon is a mapping .* got list"),
        (b"moods.csv", KindError, "got bytes"),
        (("moods.csv", "word"), InputError, r"\(path, word column, value column\), got \('moods.csv', 'word'\)"),
        ((1, "word", "score"), InputError, r"\(path, word column, value column\)"),
        (("moods.csv", 0, "score"), KindError, "or counted from 0"),
    ],
)
def test_what_is_no_lexicon_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        Lexicon.of(given)


def test_a_term_twice_with_one_value_is_one_term(write):
    assert Lexicon.of(write("word,score\ngood,2\ngood,2.0\nawful,-1\n")).classes == MOODS


def test_spellings_of_one_sign_do_not_quarrel():
    assert Lexicon.of({"LOL": 2.9, "lol": 1.8}).classes == {"lol": "positive"}


def test_terms_that_cannot_match_are_kept_out_and_counted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Lexicon.of({"good": 1, "awful": -1, "not bad": 1, ":-)": 1})
    assert found.classes == MOODS
    assert found.unusable == 2


def test_more_than_half_that_cannot_match_is_worth_a_warning():
    with pytest.warns(UserWarning, match="2 of 3 terms are not single words") as caught:
        assert Lexicon.of({"good": 1, "can't": -1, ":-)": 1}).unusable == 2
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("given", "opposite"),
    [
        ({"good": 1}, {"positive": "negative", "negative": "positive"}),
        (MOODS, {"positive": "negative", "negative": "positive"}),
        ({"good": "pos", "awful": "neg"}, {"pos": "neg", "neg": "pos"}),
        ({"good": "positive"}, {}),
        ({"good": "positive", "awful": "negative", "so": "neutral"}, {}),
        ({"good": "pos", "awful": "negative"}, {}),
        ({"good": "joy", "awful": "anger"}, {}),
    ],
)
def test_opposites_are_there_where_they_have_a_meaning(given, opposite):
    assert Lexicon.of(given).opposite == opposite


values = st.floats(allow_nan=False, allow_infinity=False).filter(bool) | st.integers(1, 9)
scores = st.dictionaries(st.from_regex(r"[a-zèñ]{1,8}", fullmatch=True), values, min_size=1)
classes = st.dictionaries(st.from_regex(r"[a-zèñ]{1,8}", fullmatch=True), st.sampled_from(["joy", "fear"]), min_size=1)


@given(scores | classes)
def test_a_lexicon_survives_its_plain_form_and_copies(terms):
    found = Lexicon.of(terms)
    for twin in (Lexicon.of(found.plain()), pickle.loads(pickle.dumps(found)), copy.deepcopy(found), Lexicon.of(found)):
        assert twin == found
        assert hash(twin) == hash(found)
        assert (list(twin.classes.items()), twin.opposite) == (list(found.classes.items()), found.opposite)
    reverse = dict(reversed(terms.items()))
    assert Lexicon.of(reverse).plain() == found.plain()
    assert list(Lexicon.of(reverse).classes) == list(found.classes)


def test_a_lexicon_does_not_change_with_what_it_was_made_of():
    terms = dict(MOODS)
    found = Lexicon.of(terms)
    terms["good"] = "negative"
    assert found.classes["good"] == "positive"
    with pytest.raises(TypeError):
        found.classes["good"] = "negative"
    assert found != Lexicon.of(terms)
    assert found != Lexicon.of({"good": 1, "awful": -1})  # scores have opposites, whichever are there


def test_a_lexicon_is_shown_by_its_sizes():
    assert repr(Lexicon.of({"good": 1, "nice": 1, "awful": -1})) == "Lexicon(3 words: negative 1, positive 2)"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["good"],), KindError, "are a mapping, got list"),
        (({"good": 1},), KindError, "names of classes, got 'good': 1"),
        (({"Good": "joy"},), InputError, "'Good' is no single word in lower case"),
        (({"not bad": "joy"},), InputError, "'not bad' is no single word"),
        (({"good": ""},), InputError, "'good' has an empty class"),
        (({"good": "joy"}, True), InputError, "scored=False"),
    ],
)
def test_a_lexicon_made_by_hand_is_checked(arguments, error, message):
    with pytest.raises(error, match=message):
        Lexicon(*arguments)
