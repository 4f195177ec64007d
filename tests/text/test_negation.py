"""Negation marking: what a cue reaches, and what it does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingenuo.text.words import CLOSING, CONTRACTING, CUES, find_words

LANGUAGES = sorted(CUES)
HARSH = "nNtTooO'’ . ,;…¿\n_éÉaMmiIı1(-\u0301"
PIECES = [
    "not",
    "No",
    "cannot",
    "never",
    "don't",
    "ISN’T",
    "n't",
    "nt",
    "can 't",
    "can't've",
    "won't",
    "isn''t",
    "t",
    "mai",
]
PIECES += [
    "non",
    "né",
    "NÉ",
    "nunca",
    "JAMÁS",
    "no",
    "good",
    "bad",
    "not_good",
    " ",
    " ",
    "\n",
    ".",
    ",",
    "…",
    "¿",
    "(",
    "'",
]
texts = (
    st.text(HARSH) | st.lists(st.sampled_from(PIECES)).map("".join) | st.lists(st.sampled_from(PIECES)).map(" ".join)
)
plain = st.text(st.characters(blacklist_characters="Σ"))  # whose lower case depends on what stands behind it


def mark(text, language, shortest=2, lowercase=True):
    token = rf"\b\w{{{shortest},}}\b"
    return [word for _, _, word in find_words(text.lower() if lowercase else text, token, language)]


def by_clauses(text: str, language: str, shortest: int, lowercase: bool) -> list[str]:
    """The same rules said another way: in each clause, all that begins behind the end of its first cue is marked."""
    text = text.lower() if lowercase else text
    cue = "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in CUES[language])
    if language in CONTRACTING:
        cue += r"|n['’]t(?!\w)"
    words = []
    for clause in re.split(f"[{re.escape(CLOSING)}]", text):
        first = re.search(cue, clause, re.IGNORECASE)
        end = first.end() if first else len(clause)
        for run in re.finditer(r"\w+", clause):
            if len(run.group()) >= shortest:
                words.append("not_" * (run.start() >= end) + run.group())
    return words


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("I didn't like this film, but I like you", "didn not_like not_this not_film but like you"),
        ("I didn’t like it", "didn not_like not_it"),
        ("did n't like", "did not_like"),
        ("DIDN'T LIKE", "didn not_like"),
        ("not good. good", "not not_good good"),
        ("can not, cannot go", "can not cannot not_go"),
        ("never\nagain\r\nhere; there", "never not_again not_here there"),
        ("no (really) bad - film: fine", "no not_really not_bad not_film fine"),
        ("not that I never liked it", "not not_that not_never not_liked not_it"),
        ("not what I didn't like", "not not_what not_didn not_like"),
        ("this isn't. good", "this isn good"),
        ("notes nobody knot", "notes nobody knot"),
        ("the n'th isn'ta isnt don''t don 't", "the th isn ta isnt don don"),
        ("not_ good", "not_ good"),
        ("", ""),
    ],
)
def test_english(text, marked):
    assert mark(text, "english") == marked.split()


@pytest.mark.parametrize(
    ("language", "text", "marked"),
    [
        ("italian", "Non mi piace né questo; bello", "non not_mi not_piace not_né not_questo bello"),
        ("italian", "MAI visto, ne vedo", "mai not_visto ne vedo"),
        ("italian", "un film don't bello", "un film don bello"),
        ("spanish", "¡No me gusta! ¿Nunca más? jamás digas", "no not_me not_gusta nunca not_más jamás not_digas"),
        ("spanish", "no sé ¿verdad", "no not_sé verdad"),
    ],
)
def test_other_languages(language, text, marked):
    assert mark(text, language) == marked.split()


def test_the_t_of_a_contraction_is_unmarked_where_it_opens_and_marked_within_a_scope():
    assert mark("didn't I", "english", shortest=1) == ["didn", "t", "not_i"]
    assert mark("no didn't I", "english", shortest=1) == ["no", "not_didn", "not_t", "not_i"]


def test_a_cue_that_is_too_short_to_be_a_word_is_still_a_cue():
    assert mark("no good film", "english", shortest=3) == ["not_good", "not_film"]


def test_cues_are_known_in_any_case_when_the_case_is_kept():
    assert mark("NOT Good, DON'T Go", "english", lowercase=False) == ["NOT", "not_Good", "DON", "not_Go"]
    assert mark("Né Questo", "italian", lowercase=False) == ["Né", "not_Questo"]


@pytest.mark.parametrize("closing", list(".,:;!?…¿¡"))
def test_each_of_these_closes_the_scope(closing):
    assert mark(f"not good{closing}fine", "english") == ["not", "not_good", "fine"]


@pytest.mark.parametrize("open_still", list("\n\r\t-()[]\"'’/&—·。\u2028"))
def test_nothing_else_does(open_still):
    assert mark(f"not good{open_still}fine", "english") == ["not", "not_good", "not_fine"]


@settings(max_examples=100)
@given(texts, st.sampled_from(LANGUAGES), st.integers(1, 3), st.booleans())
@example("NO N'T", "english", 1, False)
def test_marking_is_the_same_said_by_clauses(text, language, shortest, lowercase):
    assert mark(text, language, shortest, lowercase) == by_clauses(text, language, shortest, lowercase)


@given(plain | texts, st.sampled_from(LANGUAGES), st.integers(1, 3))
def test_marking_only_adds_prefixes(text, language, shortest):
    words = [run for run in re.findall(r"\w+", text.lower()) if len(run) >= shortest]
    marked = mark(text, language, shortest)
    assert len(marked) == len(words)
    assert all(new in (old, "not_" + old) for new, old in zip(marked, words))


@given(plain | texts, plain | texts, st.sampled_from(LANGUAGES), st.sampled_from(CLOSING))
def test_a_clause_knows_nothing_of_another(one, other, language, closing):
    assert mark(one + closing + other, language) == mark(one, language) + mark(other, language)


@given(plain | texts, st.sampled_from(LANGUAGES), st.data())
def test_a_cue_reaches_all_of_its_clause(text, language, data):
    cue = data.draw(st.sampled_from(CUES[language]))
    clause = "".join(each for each in text if each not in CLOSING)
    words = [run for run in re.findall(r"\w+", clause.lower()) if len(run) >= 2]
    assert mark(f"{cue} {clause}", language) == [cue, *("not_" + word for word in words)]
