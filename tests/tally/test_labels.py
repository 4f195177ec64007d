"""Labels: distinct, sorted, never changed; values become codes that stand for them."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.errors import KindError
from ingenuo.tally.labels import encode, find, from_dictionary, is_missing, labels_of, objects, recode, same, unite

anything = st.one_of(
    st.text(max_size=3),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.booleans(),
    st.tuples(st.integers(0, 2), st.text(max_size=1)),
    st.binary(max_size=2),
    st.frozensets(st.integers(0, 2)),
)
lists = st.one_of(
    st.lists(anything, max_size=8),
    st.lists(st.integers(-5, 5), max_size=8),
    st.lists(st.one_of(st.integers(2**53 - 2, 2**53 + 2), st.floats(2.0**53 - 2, 2.0**53 + 2)), max_size=8),
    st.lists(st.text(max_size=2), max_size=8),
)
quick = settings(deadline=None, max_examples=60)


@quick
@given(lists)
def test_labels_are_the_distinct_values_and_none_is_changed(values):
    labels = labels_of(values)
    assert set(labels.tolist()) == set(values)
    assert len(labels) == len(set(values))


@quick
@given(lists, st.randoms(use_true_random=False))
def test_the_order_of_labels_does_not_depend_on_how_they_came(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    assert same(labels_of(values), labels_of(shuffled))


@quick
@given(lists, lists)
def test_uniting_is_the_union_of_sets(a, b):
    united = unite(labels_of(a), labels_of(b))
    assert set(united.tolist()) == set(a) | set(b)
    assert len(united) == len(set(a) | set(b))
    assert same(united, labels_of([*a, *b]))


@quick
@given(lists, lists)
def test_finding_gives_the_place_of_each_label_and_minus_one_for_others(known, wanted):
    labels = labels_of(known)
    places = find(labels, labels_of(wanted))
    for value, place in zip(labels_of(wanted).tolist(), places.tolist()):
        assert (place >= 0) == (value in set(known))
        assert place < 0 or labels.tolist()[place] == value


@quick
@given(st.lists(st.one_of(st.none(), st.just(math.nan), anything), max_size=8))
def test_decoding_the_codes_gives_the_values_back(values):
    codes, labels = encode(values)
    for value, code in zip(values, codes.tolist()):
        assert (code == -1) == is_missing(value)
        assert code == -1 or labels.tolist()[code] == value
    assert same(labels, labels_of(labels.tolist()))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], np.int64),
        ([True, False], np.bool_),
        ([1.5, 2], np.float64),
        (["a"], object),
        ([1, "a"], object),
        ([2**63], object),
        ([2**53 + 1, 0.5], object),
        (np.array([1, 2], np.uint8), np.int64),
        (np.array([1, 2], np.float32), np.float64),
        (np.array([2**63], np.uint64), object),
    ],
)
def test_labels_live_in_the_narrowest_array_that_keeps_them(values, dtype):
    assert labels_of(values).dtype == dtype


def test_large_integers_beside_doubles_stay_apart():
    assert unite(np.array([2**53 + 1]), np.array([2.0**53])).tolist() == [2.0**53, 2**53 + 1]
    assert find(np.array([2**53 + 1]), np.array([2.0**53])).tolist() == [-1]
    assert find(np.array([2.0**53]), np.array([2**53, 2**53 + 1])).tolist() == [0, -1]


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 1, 3, 70_000]),
        np.array([-5, 10**12, -5]),
        np.array([7, 7], np.uint8),
        np.array([0.5, 1.0, 0.5]),
        np.array([2.0, 1.0, np.nan]),
        np.array([np.nan, np.nan]),
        np.array([True, False, True]),
        np.array(["b", "a", "b"]),
        np.array(["b", None, "a"], object),
        np.array([b"b", b"a"]),
        np.array([], float),
        np.array([], np.int64),
        np.array([], object),
        np.array(["x", "\ud800"], object),
        np.array(["x"] * 150 + [7, None, 2.5], object),
    ],
    ids=repr,
)
def test_arrays_of_every_type_are_encoded(values):
    codes, labels = encode(values)
    decoded = [None if code < 0 else labels.tolist()[code] for code in codes.tolist()]
    assert decoded == [None if is_missing(v) else v for v in values.tolist()]
    assert len(labels) == len({v for v in values.tolist() if not is_missing(v)})


@pytest.mark.parametrize("start", [[], ["x"] * 150])
def test_a_value_that_cannot_be_a_label_is_refused_with_its_row(start):
    values = objects([*start, [1, 2]])
    with pytest.raises(KindError, match=rf"row {len(start)}: .*got list \[1, 2\]"):
        encode(values)


def test_what_counts_as_missing():
    missing = [None, math.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
    assert [is_missing(value) for value in missing] == [True] * len(missing)
    assert not any(is_missing(value) for value in ["", 0, False, "nan", (), datetime.date(2020, 1, 1), np.inf])


def test_mixed_types_are_sorted_by_type_then_value():
    assert labels_of(["b", 2, "a", 1, (0,)]).tolist() == [1, 2, "a", "b", (0,)]


def test_numbers_that_are_equal_are_one_label():
    assert labels_of([1, 1.0, True]).tolist() == [1]
    assert unite(labels_of([True]), labels_of([1, 2])).tolist() == [1, 2]


def test_codes_of_a_dictionary_follow_the_sorted_labels():
    codes, labels = from_dictionary(np.array([0, 1, 2, -1, 3]), ["b", "a", None, "b"])
    assert labels.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, -1, -1, 1]
    assert recode(np.array([0, -1, 1]), objects(["x", "y"]), objects(["y"])).tolist() == [-1, -1, 0]
