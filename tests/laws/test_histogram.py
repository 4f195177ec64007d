"""Histograms add and subtract exactly at the coarser of two resolutions, and are functions of the set of rows."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import harsh

from ingenuo.errors import ForgetError, InputError, MergeError
from ingenuo.kernels import threads
from ingenuo.kernels.moments import BINS
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.tally.exact import Exact
from ingenuo.tally.histogram import Histogram, bins_name
from ingenuo.tally.tally import Table, Tally

ordinary = settings(deadline=None, max_examples=30)
few = settings(deadline=None, max_examples=20)


@st.composite
def histograms(draw):
    """A histogram of some classes: bins near each other or far apart, at any resolution, with any weights."""
    classes = sorted(draw(st.lists(st.sampled_from(["a", "b", "c"]), unique=True, min_size=1)))
    start = draw(st.sampled_from([0, -3, 5000, -(1 << 50), (1 << 50) - BINS]))
    places = sorted(draw(st.lists(st.integers(start, start + BINS - 1), unique=True, min_size=1, max_size=5)))
    cell = st.one_of(st.integers(1, 5), harsh.weight)
    counts = [[draw(cell) for _ in places] for _ in classes]
    return Histogram.of(classes, places, counts, draw(st.integers(-6, 6)))


def cells(bins, exponent):
    """(class, bin) to count at a resolution, by Python's integers."""
    result = {}
    for (k, i), value in np.ndenumerate(bins.sums.fractions()):
        at = bins.classes[k], int(bins.places[i]) >> (exponent - bins.exponent)
        result[at] = result.get(at, Fraction(0)) + value
    return {at: value for at, value in result.items() if value}


@ordinary
@given(histograms(), histograms())
def test_adding_adds_the_counts_at_the_coarser_resolution(a, b):
    total = a.plus("x", b)
    assert total.exponent >= max(a.exponent, b.exponent)
    mine, theirs = cells(a, total.exponent), cells(b, total.exponent)
    assert cells(total, total.exponent) == {
        at: mine.get(at, 0) + theirs.get(at, 0) for at in mine.keys() | theirs.keys()
    }
    places = [place for _, place in cells(total, total.exponent)]
    assert max(places, default=0) - min(places, default=0) < BINS
    if total.exponent > max(a.exponent, b.exponent):  # no coarser than it must be
        finer = [place for part in (a, b) for _, place in cells(part, total.exponent - 1)]
        assert max(finer) - min(finer) >= BINS


@ordinary
@given(histograms(), histograms(), histograms())
def test_addition_is_commutative_and_associative(a, b, c):
    assert a.plus("x", b) == b.plus("x", a)
    assert a.plus("x", b).plus("x", c) == a.plus("x", b.plus("x", c))


@ordinary
@given(histograms(), histograms())
def test_what_was_added_can_be_taken_away_again(a, b):
    total = a.plus("x", b)
    assert total.minus("x", b) == a.coarsened(total.exponent)
    assert (total.minus("x", b) == a) == (total.exponent == a.exponent or not a.sums.fractions().any())
    assert Tally({"x": total}) - Tally({"x": total}) == Tally()


def test_nothing_is_nothing_however_wide_its_bins():
    narrow, wide = (Histogram.of(["a"], [0], [[1]], exponent) for exponent in (-1, 3))
    assert narrow.minus("x", narrow) == wide.minus("x", wide)
    assert narrow != wide


@ordinary
@given(histograms(), st.integers(0, 5), st.integers(0, 5))
def test_coarsening_twice_is_coarsening_once(a, i, j):
    assert a.coarsened(a.exponent + i).coarsened(a.exponent + i + j) == a.coarsened(a.exponent + i + j)
    assert a.coarsened(a.exponent + 5).sums.fractions().sum() == a.sums.fractions().sum()


@ordinary
@given(histograms())
def test_scaling_is_adding_and_pickling_changes_nothing(a):
    assert a.scale(2) == a.plus("x", a)
    tally = Tally({"x": a})
    assert tally.scale(0) == Tally()
    assert pickle.loads(pickle.dumps(tally)) == tally


def test_taking_away_what_was_never_added_names_the_place():
    a = Histogram.of(["yes"], [64], [[2]], 0)
    with pytest.raises(ForgetError) as caught:
        a.minus("bins:temperature", a.scale(2))
    assert str(caught.value) == (
        "cannot take away 4 from 'bins:temperature' at class 'yes', values [64, 65), where only 2 was added; "
        "only rows that were learned can be forgotten"
    )
    with pytest.raises(ForgetError, match=r"values \[65, 66\)"):
        a.minus("x", Histogram.of(["yes"], [65], [[1]], 0))
    with pytest.raises(ForgetError, match="class 'no'"):
        Tally({"x": a}) - Tally({"x": Histogram.of(["no"], [64], [[1]], 0)})
    with pytest.raises(ForgetError):
        Tally() - Tally({"x": a})


def test_a_histogram_and_a_table_do_not_add():
    bins, table = Histogram.of(["a"], [0], [[1]], 0), Table.of({"class": ["a"]}, [1])
    with pytest.raises(MergeError, match="is a histogram here and a table over class there"):
        Tally({"x": bins}) + Tally({"x": table})
    with pytest.raises(MergeError, match="class × bin there"):
        Tally({"x": table}) + Tally({"x": bins})


@pytest.mark.parametrize(
    ("places", "counts", "exponent"),
    [([1, 0], [[1, 1]], 0), ([0, BINS], [[1, 1]], 0), ([0], [[1, 1]], 0), ([0], [[1]], 2000), ([1 << 51], [[1]], 0)],
)
def test_a_histogram_that_cannot_be_is_refused(places, counts, exponent):
    with pytest.raises(InputError):
        Histogram.of(["a"], places, counts, exponent)


def test_a_histogram_reads_as_its_cells():
    assert str(Tally({"bins:age": Histogram.of(["no", "yes"], [3, 4], [[1, 0], [0, 2]], -1)})) == (
        "bins:age: no [1.5, 2) 1, yes [2, 2.5) 2"
    )


# The same of models.


def learned(rows, numbers="kernel", weighted=False):
    X = np.array([row[0] for row in rows], float).reshape(len(rows), 2)
    weights = np.array([row[3] for row in rows]) if weighted else None
    return NaiveBayes(numbers=numbers).partial_fit(X, [row[2] for row in rows], sample_weight=weights)


def resolution(model):
    return {name: table.exponent for name, table in model.tally_.items() if isinstance(table, Histogram)}


def coarsened(tally, exponents):
    return Tally({n: t.coarsened(exponents[n]) if isinstance(t, Histogram) else t for n, t in tally.items()})


def heavy(rows):
    return [(*row[:3], row[3] or 1.0) for row in rows]


PROBES = np.array(
    [[0.0, 1e12], [1.0, 0.1], [-1e30, 5.0], [1e150, -harsh.LARGEST], [np.nan, 2.0], [harsh.LEAST, np.nan]]
)


@pytest.mark.filterwarnings("ignore:the bins of column")
@few
@given(harsh.rows(1, 12), st.booleans(), st.randoms(use_true_random=False), st.integers(0, 12))
def test_order_and_cuts_cannot_be_told_from_the_model(rows, weighted, random, cut):
    rows = heavy(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)
    whole, other = learned(rows, weighted=weighted), learned(shuffled[:cut] or shuffled, weighted=weighted)
    if shuffled[:cut] and shuffled[cut:]:
        other.merge(learned(shuffled[cut:], weighted=weighted))
    assert whole.tally_ == other.tally_
    assert whole.predict_joint_log_proba(PROBES).tobytes() == other.predict_joint_log_proba(PROBES).tobytes()


@few
@given(harsh.rows(1, 12), harsh.rows(1, 12), st.booleans())
def test_forgetting_leaves_what_was_never_forgotten_at_the_resolution_reached(rows, more, weighted):
    rows, more = heavy(rows), heavy(more)
    both = learned(rows + more, "auto", weighted)
    reached = resolution(both)
    X, y = np.array([row[0] for row in more], float), [row[2] for row in more]
    both.forget(X, y, sample_weight=np.array([row[3] for row in more]) if weighted else None)
    alone = learned(rows, "auto", weighted)
    assert both.tally_ == coarsened(alone.tally_, reached)
    if resolution(alone) == resolution(both):
        assert both.tally_ == alone.tally_


def test_threads_cannot_be_told_from_the_model():
    rng = np.random.default_rng(0)
    X, y = rng.lognormal(0, 2, (30_000, 3)), rng.integers(0, 3, 30_000)
    models = []
    for width in (1, 2, 5):
        with threads.limited(width):
            models.append(NaiveBayes(numbers="auto").fit(X, y))
    assert models[0].tally_ == models[1].tally_ == models[2].tally_


def test_an_outlier_that_is_forgotten_costs_resolution_and_nothing_else():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 1)), rng.integers(0, 2, 500)
    model = NaiveBayes(numbers="kernel").fit(X, y)
    fine = dict(model.resolution_)
    before = copy.deepcopy(model)
    model.partial_fit([[1e30]], [0]).forget([[1e30]], [0])
    assert model.resolution_[0] > 1e26 > fine[0]
    assert model.tally_ == coarsened(before.tally_, resolution(model))
    with pytest.warns(UserWarning, match="too wide to tell these values apart"):
        assert np.isfinite(model.predict_joint_log_proba([[0.0], [1e30], [-1e308]])).all()
    model.partial_fit([[3.0]], [1]).forget([[3.0]], [1])  # within the range: to the last bit
    assert model.tally_ == coarsened(before.tally_, resolution(model))


def test_rows_that_were_never_learned_are_refused_and_change_nothing():
    model = NaiveBayes(numbers="histogram").fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    before = model.tally_
    with pytest.raises(ForgetError, match="only rows that were learned"):
        model.forget([[2.5]], ["a"])
    with pytest.raises(ForgetError):
        model.forget([[3.0]], ["a"])
    assert model.tally_ is before
    assert isinstance(before[bins_name(0)].sums, Exact)
