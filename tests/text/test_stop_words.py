"""The lists of stop words: function words, and never a negation."""

from __future__ import annotations

import re

import pytest

from ingenuo.text.words import CUES, STOP_WORDS

CONTRACTED = (
    "ai are ca can could dare did do does had has have is may might must need ought sha should was were wo would"
)
NEGATIONS = {
    "english": """not no never nor neither none nothing nobody nowhere noone without cannot cant dont didnt isnt n nt t
        hardly barely scarcely unless non""",
    "italian": """non no né nè mai neanche nemmeno neppure manco nessuno nessuna nessun nulla niente senza
        neanch nient senz null""",
    "spanish": """no nunca jamás jamas ni nadie nada ningún ningun ninguno ninguna ningunos ningunas
        tampoco sin sino""",
}


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_no_list_holds_a_negation(language):
    negations = set(NEGATIONS[language].split()) | set(CUES[language])
    assert STOP_WORDS[language] & negations == set()


def test_the_english_list_holds_no_piece_of_a_contracted_negation():
    pieces = {run for verb in CONTRACTED.split() for run in re.findall(r"\w+", f"{verb}n't")}
    pieces |= {"can"}  # can't has one n
    assert {"don", "didn", "won", "can", "t", "isn"} <= pieces
    assert STOP_WORDS["english"] & pieces == set()


@pytest.mark.parametrize(
    ("language", "some"),
    [
        ("english", "the of and is was it they with ll ve"),
        ("italian", "il della e è sono che con per dell l"),
        ("spanish", "el del y es está que con por los"),
    ],
)
def test_the_commonest_function_words_are_there(language, some):
    assert set(some.split()) <= STOP_WORDS[language]


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_every_stop_word_is_one_a_text_can_have(language):
    words = STOP_WORDS[language]
    assert 120 <= len(words) <= 300
    assert [word for word in words if not re.fullmatch(r"\w+", word) or word != word.lower()] == []


def test_nobody_changes_the_lists():
    with pytest.raises(TypeError):
        STOP_WORDS["english"] = frozenset()
    assert all(isinstance(words, frozenset) for words in STOP_WORDS.values())
