"""Stems by language."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingenuo.errors import InputError, KindError
from ingenuo.text.words import Words, languages, stem_words

words = st.lists(st.from_regex(r"\w{1,12}", fullmatch=True))


@pytest.mark.parametrize(
    ("language", "given", "stems"),
    [
        ("english", ["loved", "loving", "films"], ["love", "love", "film"]),
        ("italian", ["gatto", "gatti", "bellissimo"], ["gatt", "gatt", "bellissim"]),
        ("spanish", ["gato", "gatos", "hermosas"], ["gat", "gat", "herm"]),
    ],
)
def test_words_of_one_stem_become_one(language, given, stems):
    assert stem_words(language, given) == stems


@pytest.mark.parametrize("language", languages())
def test_every_language_that_is_listed_stems(language):
    assert len(stem_words(language, ["a", "information", "città"])) == 3


def test_a_language_that_is_not_known_lists_all_of_them():
    with pytest.raises(InputError) as raised:
        Words(stem="klingon")
    assert all(language in str(raised.value) for language in languages())
    with pytest.raises(InputError, match="stem='English' is not known"):
        Words(stem="English")
    with pytest.raises(KindError, match="got bool True"):
        Words(stem=True)


@given(words, st.sampled_from(languages()))
def test_a_stem_depends_on_its_word_alone_and_is_never_empty(words, language):
    stems = stem_words(language, words)
    assert stems == [stem_words(language, [word])[0] for word in words]
    assert all(stems)


def test_a_word_that_is_all_ending_stays():
    assert stem_words("porter", ["s", "cats"]) == ["s", "cat"]


def test_threads_do_not_disturb_each_other():
    stem = partial(stem_words, "english")
    lists = [[f"word{i}ing", "relational", f"generalizations{i}", "loved"] * 200 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem, lists)) == [stem(each) for each in lists]
