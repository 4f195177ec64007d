"""Tallies form a commutative group wherever no count becomes negative, whatever their labels are."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.laws import harsh

from ingenuo.errors import ForgetError, IngenuoError, InputError, KindError, MergeError
from ingenuo.tally.exact import Exact, Real
from ingenuo.tally.tally import Table, Tally

ordinary = settings(deadline=None, max_examples=60)

labels = st.one_of(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, max_size=3),
    st.lists(st.integers(-3, 3), unique=True, max_size=3),
    st.lists(st.sampled_from([("t", 1), ("t", 2), "a", 1.5]), unique=True, max_size=3),
)
counts = st.one_of(st.integers(0, 5), st.integers(0, 2**62), harsh.weight)


@st.composite
def tallies(draw):
    """A tally of some tables: counts over a class, counts over class and value, signed sums."""
    tables = {}
    for name, n_axes, signed in (("class", 1, False), ("category:c", 2, False), ("number:sum", 2, True)):
        if not draw(st.booleans()):
            continue
        axes = [draw(labels) for _ in range(n_axes)]
        shape = tuple(len(axis) for axis in axes)
        cell = harsh.finite if signed else counts
        values = np.array([draw(cell) for _ in range(int(np.prod(shape)))], object).reshape(shape)
        tables[name] = Table.of(dict(zip(("class", "value"), axes)), values, signed=signed)
    return Tally(tables)


def cells(tally):
    """A tally as a plain function: (table, labels) to value, for the cells that are not zero."""
    return {
        (name, *(axis[i] for axis, i in zip(table.axes, place))): value
        for name, table in tally.items()
        for place, value in np.ndenumerate(table.sums.fractions())
        if value != 0
    }


@ordinary
@given(tallies(), tallies())
def test_adding_tallies_adds_the_functions_they_are(a, b):
    mine, theirs = cells(a), cells(b)
    wanted = {at: mine.get(at, 0) + theirs.get(at, 0) for at in mine.keys() | theirs.keys()}
    assert cells(a + b) == {at: value for at, value in wanted.items() if value != 0}


@ordinary
@given(tallies(), tallies())
def test_addition_is_commutative(a, b):
    assert a + b == b + a


@ordinary
@given(tallies(), tallies(), tallies())
def test_addition_is_associative(a, b, c):
    assert (a + b) + c == a + (b + c)


@ordinary
@given(tallies())
def test_the_empty_tally_is_neutral(a):
    assert a + Tally() == a
    assert Tally() + a == a
    assert a - Tally() == a
    assert a - a == Tally()


@ordinary
@given(tallies(), tallies())
def test_subtraction_undoes_addition(a, b):
    assert (a + b) - b == a
    assert (a + b) - a == b


@ordinary
@given(tallies(), tallies())
def test_equality_is_equality_of_the_functions(a, b):
    assert (a == b) == (cells(a) == cells(b))


@ordinary
@given(tallies(), tallies())
def test_taking_away_more_than_was_added_raises_and_changes_nothing(a, b):
    before = cells(a)
    rest = {at: before.get(at, 0) - value for at, value in cells(b).items() if at[0] != "number:sum"}
    assume(any(value < 0 for value in rest.values()))
    with pytest.raises(ForgetError, match=r"cannot take away .* was added; only rows that were learned"):
        a - b
    assert cells(a) == before


@ordinary
@given(tallies(), st.one_of(st.integers(0, 10), st.floats(0, 1e6), st.fractions(max_denominator=1).map(abs)))
def test_scaling_multiplies_every_cell(a, factor):
    wanted = {at: value * Fraction(factor) for at, value in cells(a).items()}
    assert cells(a.scale(factor)) == {at: value for at, value in wanted.items() if value != 0}


@ordinary
@given(tallies())
def test_scaling_by_two_is_adding_twice(a):
    assert a.scale(2) == a + a
    assert a.scale(0) == Tally()
    assert a.scale(np.float32(0.5)) + a.scale(np.float32(0.5)) == a


@ordinary
@given(tallies())
def test_a_tally_survives_pickling(a):
    assert pickle.loads(pickle.dumps(a)) == a


@pytest.mark.parametrize("factor", [-1, -0.5, float("nan"), float("inf"), np.float64(-1)])
def test_a_factor_that_is_negative_or_not_finite_is_refused(factor):
    with pytest.raises(InputError, match="cannot be scaled by"):
        Tally({"class": Table.of({"class": ["a"]}, [1])}).scale(factor)


@pytest.mark.parametrize("factor", [True, "2", None, [2]])
def test_a_factor_that_is_no_number_is_refused(factor):
    with pytest.raises(KindError, match="scaled by a number, got"):
        Tally({"class": Table.of({"class": ["a"]}, [1])}).scale(factor)


def test_scaling_by_a_third_is_refused():
    with pytest.raises(InputError, match="1/3"):
        Tally({"class": Table.of({"class": ["a"]}, [1])}).scale(Fraction(1, 3))


def test_what_was_taken_away_leaves_no_label_behind():
    a = Tally({"class": Table.of({"class": ["no", "yes"]}, [5, 9])})
    b = Tally({"class": Table.of({"class": ["maybe"]}, [2])})
    assert ((a + b) - b).labels("class", 0).tolist() == ["no", "yes"]
    assert list((a + b) - a - b) == []


def test_the_order_in_which_labels_are_given_does_not_matter():
    a = Table.of({"class": ["b", "a"], "value": [2, 1]}, [[1, 2], [3, 4]])
    b = Table.of({"class": ["a", "b"], "value": [1, 2]}, [[4, 3], [2, 1]])
    assert a == b
    assert a.axes[0].tolist() == ["a", "b"]
    assert a.sums.floats().tolist() == [[4, 3], [2, 1]]


def test_labels_that_are_tuples_stay_tuples():
    table = Table.of({"class": [(1, 2), (0, 5)]}, [1, 2])
    assert table.axes[0].tolist() == [(0, 5), (1, 2)]
    assert table.sums.floats().tolist() == [2, 1]


@pytest.mark.parametrize(("given_labels", "values"), [(["a"], [1, 2]), (["a", "a"], [1, 2]), ([], [1])])
def test_a_table_needs_one_label_for_each_cell(given_labels, values):
    with pytest.raises(InputError, match="needs as many different labels"):
        Table.of({"class": given_labels}, values)


def test_tables_over_other_axes_do_not_add():
    a = Tally({"t": Table.of({"class": ["a"]}, [1])})
    b = Tally({"t": Table.of({"class": ["a"], "value": ["x"]}, [[1]])})
    with pytest.raises(MergeError, match=r"'t' is a table over class here and over class × value there"):
        a + b


@pytest.mark.parametrize("other", [1, None, {"class": 1}])
def test_a_tally_adds_to_tallies_only(other):
    tally = Tally({"class": Table.of({"class": ["a"]}, [1])})
    with pytest.raises(TypeError):
        tally + other
    with pytest.raises(TypeError):
        tally - other


def test_the_message_names_the_table_the_place_and_the_amounts():
    a = Tally({"category:wind": Table.of({"class": ["yes"], "value": ["weak"]}, [[2]])})
    with pytest.raises(ForgetError) as caught:
        a - a.scale(2)
    assert str(caught.value) == (
        "cannot take away 4 from 'category:wind' at class 'yes', value 'weak', where only 2 was added; "
        "only rows that were learned can be forgotten"
    )
    assert isinstance(caught.value, IngenuoError)
    assert isinstance(caught.value, ValueError)


def test_exact_and_real_sums_add_as_doubles():
    exact = Tally({"count:sum": Table.of({"class": ["a"]}, Exact.of([2]))})
    real = Tally({"count:sum": Table.of({"class": ["a", "b"]}, Real(np.array([0.5, 1.5])))})
    assert (exact + real)["count:sum"].sums.floats().tolist() == [2.5, 1.5]
    assert (real + exact) == (exact + real)
    assert ((exact + real) - real)["count:sum"].sums.floats().tolist() == [2.0]
    with pytest.raises(ForgetError):
        exact - real


def test_a_tally_reads_as_its_cells():
    tally = Tally({"class": Table.of({"class": ["no", "yes"]}, [5, 9])})
    assert str(tally) == "class: no 5, yes 9"
    assert repr(tally) == "<Tally of 1 tables: class>"


def test_a_tally_over_labels_it_has_not_is_zero_there():
    tally = Tally({"class": Table.of({"class": ["no", "yes"]}, [5, 9])})
    assert tally.over("class", np.array(["yes", "never"], object)).floats().tolist() == [9, 0]
    assert tally.over("nowhere", np.array([1, 2])).floats().tolist() == [0, 0]
