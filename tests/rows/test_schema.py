"""The schema says what each column is, and why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ingenuo.errors import InputError, KindError, MergeError
from ingenuo.rows.schema import Schema, column_name, family_of
from ingenuo.text.words import Words


def test_a_schema_prints_as_a_table():
    schema = Schema.of({"outlook": "category", "temperature": "number", "words": "count", "id": "ignore"})
    assert str(schema).splitlines() == [
        "column       kind      family       why",
        "outlook      category  categorical  declared",
        "temperature  number    gaussian     declared",
        "words        count     multinomial  declared",
        "id           ignore    ignore       declared",
    ]


def test_a_long_schema_prints_its_first_columns():
    lines = str(Schema.of(dict.fromkeys(range(60), "number"))).splitlines()
    assert len(lines) == 52
    assert lines[-1] == "… and 10 more"


def test_a_schema_answers_what_a_column_is():
    schema = Schema.of({"b": "category", "a": "gaussian-unbiased", "c": "ignore"})
    assert [schema.family(name) for name in "abc"] == ["gaussian-unbiased", "categorical", "ignore"]
    assert schema.columns("categorical").tolist() == ["b"]
    assert schema.families_used() == ["gaussian-unbiased", "categorical"]
    assert len(schema) == 3
    assert schema.named
    assert not Schema.of({0: "number"}).named


def test_a_column_that_is_not_there_is_named_with_its_nearest():
    with pytest.raises(InputError, match=r"there is no column 'outlok'; did you mean 'outlook'\?"):
        Schema.of({"outlook": "category"}).family("outlok")


def test_declared_categories_are_known_before_they_are_seen():
    schema = Schema.of({"outlook": "category"}, {"outlook": ["sunny", "rain", "snow"]})
    assert schema.known("outlook").tolist() == ["rain", "snow", "sunny"]
    assert schema.known("other").tolist() == []


def test_two_schemas_unite_their_columns_and_categories():
    a = Schema.of({"x": "number", "c": "category"}, {"c": ["u"]})
    b = Schema.of({"c": "category", "y": "count"}, {"c": ["v"]})
    united = a.unite(b)
    assert united.names.tolist() == ["x", "c", "y"]
    assert [united.family(name) for name in "xcy"] == ["gaussian", "categorical", "multinomial"]
    assert united.known("c").tolist() == ["u", "v"]
    assert a.unite(a) == a


def test_uniting_is_independent_of_the_order_of_columns():
    a = Schema.of({"x": "number", "c": "category", "n": "count"})
    b = Schema.of({"n": "count", "x": "number", "c": "category"})
    assert a.unite(b) == a
    assert b.unite(a) == b


def test_a_column_of_two_kinds_cannot_be_united():
    a, b = Schema.of({"x": "number", "c": "category"}), Schema.of({"c": "number", "x": "number"})
    with pytest.raises(MergeError) as caught:
        a.unite(b)
    assert str(caught.value) == (
        "column 'c' is categorical in one model and gaussian in the other; declare it the same way in both"
    )


def test_a_column_without_a_name_is_called_as_in_other_messages():
    with pytest.raises(MergeError, match=r"^column 'x1' is gaussian in one model and categorical in the other;"):
        Schema.of({0: "number", 1: "number"}).unite(Schema.of({0: "number", 1: "category"}))
    words = Schema.of({0: "text"})
    with pytest.raises(MergeError, match=r"^the words of column 'x0' are counted in two ways"):
        words.unite(replace(words, texts={0: Words(lowercase=False)}))


def test_named_and_unnamed_columns_cannot_be_united():
    with pytest.raises(MergeError, match="one schema has column names and the other has none"):
        Schema.of({"x": "number"}).unite(Schema.of({0: "number"}))


def test_schemas_are_equal_by_columns_kinds_and_categories():
    a = Schema.of({"x": "number"})
    assert a == Schema.of({"x": "number"})
    assert a != Schema.of({"x": "category"})
    assert a != Schema.of({"y": "number"})
    assert a != Schema.of({"x": "number", "y": "number"})
    assert Schema.of({"x": "category"}, {"x": [1]}) != Schema.of({"x": "category"}, {"x": [2]})
    assert a != "x"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("numbr", "column 'age' was declared as 'numbr', which is no kind of column; did you mean 'number'?"),
        (
            "",
            "column 'age' was declared as '', which is no kind of column; known: number, category, count, text, ignore",
        ),
    ],
)
def test_an_unknown_kind_is_refused_with_the_nearest(kind, message):
    with pytest.raises(InputError) as caught:
        Schema.of({"age": kind})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("kind", [None, 3, float])
def test_a_kind_that_is_no_string_is_refused(kind):
    with pytest.raises(KindError, match=r"column 'age' was declared as .*; a kind is a string: number, category"):
        Schema.of({"age": kind})


def test_columns_without_names_are_called_by_their_position():
    assert column_name(3) == column_name(np.int64(3)) == "x3"
    assert column_name("age") == "age"


def test_kinds_choose_families():
    assert family_of("number", "c", numbers="gaussian-unbiased") == "gaussian-unbiased"
    assert family_of("count", "c", counts="bernoulli") == "bernoulli"
    assert family_of("complement", "c") == "complement"


def test_columns_of_one_family_side_by_side_are_one_run():
    schema = Schema.of({"age": "number", "city": "category", "height": "number", "weight": "number"})
    assert schema.runs() == [("gaussian", 0, 1), ("categorical", 0, 1), ("gaussian", 1, 3)]
