"""Learning is adding: no order, cutting or number of threads can be told from the model, and rows can be taken back."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.laws import harsh

from ingenuo.errors import ForgetError, InputError
from ingenuo.kernels import threads
from ingenuo.models.naive_bayes import NaiveBayes

ordinary = settings(deadline=None, max_examples=25)

COLUMNS = {0: "number", 1: "number", 2: "category"}


def unpack(rows):
    X = np.empty((len(rows), 3), object)
    y = np.empty(len(rows), object)
    for i, (numbers, category, label, _) in enumerate(rows):
        X[i] = [*numbers, category]
        y[i] = label
    return X, y, np.array([weight for *_, weight in rows], float)


def learned(rows, weighted=False):
    X, y, weights = unpack(rows)
    return NaiveBayes(COLUMNS).partial_fit(X, y, sample_weight=weights if weighted else None)


def answers(model):
    """What the model says of some rows, as bytes: equal only if equal to the last bit."""
    rows = np.empty((6, 3), object)
    rows[:, 0] = [0.0, 1.0, -1e30, 1e150, math.nan, harsh.LEAST]
    rows[:, 1] = [1e12, 0.1, 5.0, -harsh.LARGEST, 2.0, math.nan]
    rows[:, 2] = ["x", "y", "z", None, "never seen", " "]
    return model.predict_joint_log_proba(rows).tobytes(), model.predict_proba(rows).tobytes()


some_rows = harsh.rows(least=1)
weighted_too = st.booleans()


def has_weight(rows):
    return any(weight > 0 for *_, weight in rows)


@ordinary
@given(some_rows, weighted_too)
def test_the_tally_holds_the_rational_sums_of_the_rows(rows, weighted):
    rows = rows if has_weight(rows) else [(*rows[0][:3], 1.0), *rows[1:]]
    X, y, weights = unpack(rows)
    tally = learned(rows, weighted).tally_
    classes = sorted(set(y))
    codes = np.array([classes.index(label) for label in y])
    wanted = harsh.rational_sums(X[:, :2].astype(float), codes, len(classes), weights if weighted else None)
    axes = np.array([*classes, None], object)[:-1], np.arange(2)
    for name, sums in zip(("number:count", "number:sum", "number:square"), wanted):
        assert tally.over(name, *axes).fractions().tolist() == sums.tolist()
    amounts = weights if weighted else np.ones(len(rows))
    for label in classes:
        total = sum((Fraction(w) for w, own in zip(amounts, y) if own == label), Fraction(0))
        assert tally.over("class", np.array([label], object)).fractions()[0] == total
        for value in {v for v in X[:, 2] if v is not None}:
            count = sum(Fraction(w) for w, own, v in zip(amounts, y, X[:, 2]) if own == label and v == value)
            at = np.array([label], object), np.array([value], object)
            assert tally.over("category:2", *at).fractions()[0, 0] == count


def test_a_missing_value_cannot_hide_the_one_before_it():
    """The largest magnitude of a block is found four rows at a time, with missing values at any of them."""
    for hole in range(4):
        for there in set(range(4)) - {hole}:
            X = np.full((4, 1), 1.0)
            X[hole], X[there] = math.nan, 1e200
            model = NaiveBayes().fit(X, ["a"] * 4)
            assert model.tally_["number:sum"].sums.fractions()[0, 0] == Fraction(1e200) + 2
            assert model.tally_["number:square"].sums.fractions()[0, 0] == Fraction(1e200) ** 2 + 2


@ordinary
@given(some_rows, weighted_too, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_cannot_be_told(rows, weighted, random):
    rows = rows if has_weight(rows) else [(*rows[0][:3], 1.0), *rows[1:]]
    shuffled = list(rows)
    random.shuffle(shuffled)
    first, second = learned(rows, weighted), learned(shuffled, weighted)
    assert first.tally_ == second.tally_
    assert answers(first) == answers(second)


@ordinary
@given(some_rows, weighted_too, st.sets(st.integers(1, 11)))
def test_the_cutting_into_chunks_cannot_be_told(rows, weighted, cuts):
    rows = [(numbers, category, label, weight or 1.0) for numbers, category, label, weight in rows]
    places = [0, *sorted(cut for cut in cuts if cut < len(rows)), len(rows)]
    model = NaiveBayes(COLUMNS)
    for lo, hi in pairwise(places):
        X, y, weights = unpack(rows[lo:hi])
        model.partial_fit(X, y, sample_weight=weights if weighted else None)
    whole = learned(rows, weighted)
    assert model.tally_ == whole.tally_
    assert answers(model) == answers(whole)
    assert model.classes_.tolist() == whole.classes_.tolist()


@ordinary
@given(some_rows, harsh.rows(least=1), weighted_too)
@example(
    [
        ([0.0, 0.0], None, "a", 1.3670317029893825e98),
        ([0.0, 0.0], None, "b", 1.924667711060532e-210),
        ([0.0, 5e-324], None, "b", 1e-300),
    ],
    [([0.0, float("nan")], None, "a", 0.0)],
    True,
)
def test_forgetting_equals_never_having_seen(kept, forgotten, weighted):
    kept, forgotten = ([(*row[:3], row[3] or 1.0) for row in rows] for rows in (kept, forgotten))
    model, X, y, weights = learned(kept + forgotten, weighted), *unpack(forgotten)
    model.forget(X, y, sample_weight=weights if weighted else None)
    never = learned(kept, weighted)
    assert model.tally_ == never.tally_
    assert answers(model) == answers(never)
    assert model.classes_.tolist() == never.classes_.tolist()


@ordinary
@given(some_rows, some_rows, some_rows)
def test_merging_is_commutative_and_associative(a, b, c):
    a, b, c = learned(a), learned(b), learned(c)
    assert (a + b).tally_ == (b + a).tally_
    assert ((a + b) + c).tally_ == (a + (b + c)).tally_
    assert answers((a + b) + c) == answers(c + (b + a))


@ordinary
@given(some_rows, some_rows)
def test_merging_models_equals_learning_all_the_rows(a, b):
    merged, whole = learned(a).merge(learned(b)), learned(a + b)
    assert merged.tally_ == whole.tally_
    assert answers(merged) == answers(whole)


@ordinary
@given(some_rows, st.integers(1, 3))
def test_a_whole_weight_is_the_row_so_many_times(rows, times):
    X, y, _ = unpack(rows)
    weighted = NaiveBayes(COLUMNS).partial_fit(X, y, sample_weight=np.full(len(y), times))
    assert weighted.tally_ == learned(rows * times).tally_
    assert weighted.tally_ == learned(rows).tally_.scale(times)


@ordinary
@given(some_rows)
def test_a_weight_of_one_is_no_weight(rows):
    X, y, _ = unpack(rows)
    assert NaiveBayes(COLUMNS).partial_fit(X, y, sample_weight=1.0).tally_ == learned(rows).tally_


@ordinary
@given(some_rows, some_rows)
def test_a_row_of_weight_zero_is_no_row(rows, ignored):
    X, y, _ = unpack(rows + ignored)
    weights = np.r_[np.ones(len(rows)), np.zeros(len(ignored))]
    model = NaiveBayes(COLUMNS).partial_fit(X, y, sample_weight=weights)
    assert model.tally_ == learned(rows).tally_
    assert answers(model) == answers(learned(rows))


@ordinary
@given(some_rows, some_rows)
def test_forgetting_what_was_not_learned_raises_and_changes_nothing(rows, others):
    model = learned(rows)
    before, said, classes = model.tally_, answers(model), model.classes_.tolist()
    X, y, _ = unpack(rows + others)
    with pytest.raises(ForgetError):
        model.forget(X, y)
    assert model.tally_ == before
    assert answers(model) == said
    assert model.classes_.tolist() == classes


@ordinary
@given(some_rows)
def test_whatever_was_learned_every_posterior_is_finite_and_sums_to_one(rows):
    model = learned(rows)
    posterior = np.frombuffer(answers(model)[1]).reshape(6, -1)
    assert np.isfinite(posterior).all()
    assert (posterior >= 0).all()
    assert np.abs(posterior.sum(axis=1) - 1).max() <= 1e-12


# Larger tables: beyond a block of the loops, and beyond what one thread takes.


def table(n=9000, seed=0):
    kinds = ["doubles", "everywhere", "missing values", "float32", "light", "offset"]
    X = harsh.matrix(kinds, n, seed)
    y = np.random.default_rng(seed).choice(["a", "b", "c"], n, p=[0.9, 0.09, 0.01])
    return X, y


def test_one_poisoned_row_among_thousands_is_forgotten_to_the_last_bit():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(3000, 4)), rng.choice(["a", "b"], 3000)
    clean = NaiveBayes().fit(X, y)
    poison, label = np.array([[1e30, -1e30, 1e300, 5e-324]]), ["a"]
    model = NaiveBayes().fit(np.r_[X[:1500], poison, X[1500:]], [*y[:1500], *label, *y[1500:]])
    assert model.predict_proba(X).tobytes() != clean.predict_proba(X).tobytes()
    model.forget(poison, label)
    assert model.tally_ == clean.tally_
    assert model.predict_joint_log_proba(X).tobytes() == clean.predict_joint_log_proba(X).tobytes()


@pytest.mark.parametrize("width", [2, 3, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_number_of_threads_cannot_be_told(width, weighted):
    X, y = table(30_000)
    weights = np.random.default_rng(1).random(len(y)) if weighted else None
    with threads.limited(1):
        alone = NaiveBayes().fit(X, y, weights)
        said = alone.predict_joint_log_proba(X)
    with threads.limited(width):
        model = NaiveBayes().fit(X, y, weights)
        assert model.tally_ == alone.tally_
        assert model.predict_joint_log_proba(X).tobytes() == said.tobytes()


@pytest.mark.parametrize("step", [1000, 512, 511, 4097])
def test_pieces_of_any_size_give_the_tally_of_the_whole(step):
    X, y = table()
    model = NaiveBayes()
    for lo in range(0, len(y), step):
        model.partial_fit(X[lo : lo + step], y[lo : lo + step])
    assert model.tally_ == NaiveBayes().fit(X, y).tally_


def test_sorted_by_class_or_reversed_the_table_gives_the_same_tally():
    X, y = table()
    whole = NaiveBayes().fit(X, y).tally_
    order = np.argsort(y, kind="stable")
    assert NaiveBayes().fit(X[order], y[order]).tally_ == whole
    assert NaiveBayes().fit(X[::-1], y[::-1]).tally_ == whole


@pytest.mark.parametrize("make", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]])
def test_the_layout_of_the_array_cannot_be_told(make):
    X, y = table()
    assert NaiveBayes().fit(make(X), y).tally_ == NaiveBayes().fit(X, y).tally_


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.int8, np.uint16])
def test_the_type_of_whole_numbers_cannot_be_told(dtype):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 100, (2000, 3)), rng.integers(0, 2, 2000)
    assert NaiveBayes().fit(X.astype(dtype), y).tally_ == NaiveBayes().fit(X.astype(float), y).tally_


def test_a_class_for_every_row_is_learned_and_forgotten():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(2000, 2)), np.arange(2000)
    model = NaiveBayes().fit(X, y)
    assert model.tally_["number:sum"].sums.floats().tolist() == X.tolist()
    assert model.forget(X[1:], y[1:]).tally_ == NaiveBayes().fit(X[:1], y[:1]).tally_


def test_disjoint_classes_merge_and_part_again():
    X, y = table(2000)
    a = NaiveBayes().fit(X[y == "a"], y[y == "a"])
    rest = NaiveBayes().fit(X[y != "a"], y[y != "a"])
    both = a + rest
    assert both.classes_.tolist() == ["a", "b", "c"]
    assert both.tally_ == NaiveBayes().fit(X, y).tally_
    assert both.tally_ - rest.tally_ == a.tally_


@pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("sparse", [False, True])
def test_counts_obey_the_same_laws(counts, sparse):
    rng = np.random.default_rng(4)
    X = rng.poisson(0.3, (1500, 20))
    X[:, 19] = 0
    y = rng.integers(0, 4, 1500)
    given_rows = csr_matrix(X) if sparse else X
    columns = None if sparse else dict.fromkeys(range(20), "count")

    def model():
        return NaiveBayes(columns, counts=counts)

    whole = model().fit(given_rows, y)
    name = "presence:count" if counts == "bernoulli" else "count:sum"
    wanted = [((X != 0) if counts == "bernoulli" else X)[y == k].sum(axis=0).tolist() for k in range(4)]
    assert whole.tally_.over(name, np.arange(4), np.arange(20)).floats().tolist() == wanted
    pieces = model()
    for lo in (0, 1, 700):
        hi = {0: 1, 1: 700, 700: 1500}[lo]
        pieces.partial_fit(given_rows[lo:hi], y[lo:hi])
    assert pieces.tally_ == whole.tally_
    assert whole.forget(given_rows[700:], y[700:]).tally_ == model().partial_fit(given_rows[:700], y[:700]).tally_
    weighted = model().fit(given_rows, y, sample_weight=np.full(1500, 3))
    assert weighted.tally_ == pieces.tally_.scale(3)


def test_forgetting_everything_leaves_the_empty_tally_and_a_clear_answer():
    X, y = table(100)
    model = NaiveBayes().fit(X, y).forget(X, y)
    assert len(model.tally_) == 0
    with pytest.raises(InputError, match="forgotten every row"):
        model.predict(X)
    assert model.partial_fit(X, y).tally_ == NaiveBayes().fit(X, y).tally_


@pytest.mark.parametrize(
    ("row", "label", "message"),
    [
        (
            [7.0, "x"],
            "a",
            "cannot take away 49 from 'number:square' at class 'a', column 0, where only 5 was added",
        ),
        ([2.1, "x"], "a", "the numbers left in column 'x0' of class 'a' would have a negative variance"),
        (
            [1.0, "y"],
            "a",
            "cannot take away 1 from 'category:1' at class 'a', value 'y', where only 0 was added",
        ),
        ([1.0, "x"], "c", "cannot take away 1 from 'category:1' at class 'c', value 'x', where only 0 was added"),
        ([None, "x"], "a", "class 'a' would have 1 rows left and 2 values in 'number:count'"),
        ([2.0, None], "a", "class 'a' would have 1 rows left and 2 values in 'category:1'"),
    ],
)
def test_forgetting_a_row_that_was_not_learned_is_noticed_where_the_sums_show_it(row, label, message):
    model = NaiveBayes().fit([[1.0, "x"], [2.0, "x"], [3.0, "y"]], ["a", "a", "b"])
    before = model.tally_
    with pytest.raises(ForgetError) as caught:
        model.forget([row], [label])
    assert message in str(caught.value)
    assert "only rows that were learned can be forgotten" in str(caught.value)
    assert model.tally_ == before


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinite_values_are_refused_with_their_place_and_nothing_is_learned(value):
    X, y = table(600)
    model = NaiveBayes().fit(X, y)
    before = model.tally_
    poisoned = X.copy()
    poisoned[577, 3] = value
    for learn in (model.fit, model.partial_fit, model.forget):
        with pytest.raises(InputError, match=rf"column 'x3', row 577: {value!r} is infinite.*NaN if it is missing"):
            learn(poisoned, y)
    assert model.tally_ == before


def test_a_million_values_as_large_as_they_can_be_overflow_nothing():
    n, x = 1_200_000, 1024 - 2.0**-40
    with threads.limited(1):
        tally = NaiveBayes().fit(np.full((n, 1), x), np.zeros(n, int)).tally_
    assert tally["number:sum"].sums.fractions()[0, 0] == n * Fraction(x)
    assert tally["number:square"].sums.fractions()[0, 0] == n * Fraction(x) ** 2
