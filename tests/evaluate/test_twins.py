"""Twins learn from the same growing samples, adding is fitting anew, and the sentence says what the curves show."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests import real_texts

import ingenuo as ing
from ingenuo.data import diabetes, weather
from ingenuo.errors import InputError, KindError
from ingenuo.estimators.inputs import target_column
from ingenuo.evaluation import growing
from ingenuo.evaluation.twins import Twins, _Learner, _pair

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def same(a: Twins, b: Twins) -> bool:
    return (
        a.names == b.names
        and np.array_equal(a.sizes, b.sizes)
        and np.array_equal(a.accuracy, b.accuracy)
        and np.array_equal(a.log_loss, b.log_loss)
    )


def curves(generative, discriminative, sizes=(10, 30, 100, 300)):
    """Twins whose accuracies are given: sizes for each of the repeats, or for all three of them."""
    both = [np.tile(each, (3, 1)) if np.ndim(each) == 1 else each for each in (generative, discriminative)]
    found = np.stack(both, axis=-1).astype(float)
    return Twins(("G", "D"), np.array(sizes), found, 1 - found, 50)


# Samples.


@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=6),
    st.integers(0, 10**6),
)
@settings(max_examples=60, deadline=None)
def test_every_beginning_has_its_share_of_every_class(counts, seed):
    codes = np.repeat(np.arange(len(counts)), counts)
    found = growing.order(codes, np.random.default_rng(seed))
    assert sorted(found.tolist()) == list(range(len(codes)))
    seen = np.cumsum(np.eye(len(counts))[codes[found]], axis=0)
    share = np.arange(1, len(codes) + 1)[:, np.newaxis] * np.array(counts) / len(codes)
    # Each class rounds by half a row, and so do the others, which moves the total.
    assert np.abs(seen - share).max() <= 0.5 + len(counts) / 2 + 1e-9


@given(st.lists(st.integers(1, 60), min_size=2, max_size=6), st.integers(1, 3), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_shortest_beginning_surely_has_a_few_rows_of_every_class(counts, few, seed):
    counts = np.array(counts)
    few = min(few, int(counts.min()))
    codes = np.repeat(np.arange(len(counts)), counts)
    found = codes[growing.order(codes, np.random.default_rng(seed))]
    assert np.bincount(found[: growing.least(counts, few)], minlength=len(counts)).min() >= few


def test_another_seed_draws_other_rows_of_the_same_classes():
    one, other = (growing.order(Y, np.random.default_rng(seed)) for seed in (0, 1))
    assert not np.array_equal(one, other)
    assert len({tuple(sorted(order[:30].tolist())) for order in (one, other)}) == 2


def test_default_sizes_go_from_a_few_rows_of_each_class_to_all_that_are_not_held_out():
    found = ing.twins(X, Y, repeats=1)
    assert (found.sizes[0], found.sizes[-1], found.test_rows) == (9, 105, 45)
    ratios = found.sizes[1:] / found.sizes[:-1]
    assert ratios.max() / ratios.min() < 1.15


# Learning.


@pytest.mark.parametrize(
    "model",
    [
        ing.NaiveBayes(),
        ing.NaiveBayes(numbers="kernel"),
        ing.NaiveBayes(numbers="auto"),
        ing.GaussianNB(),
        ing.LeastSquaresClassifier(),
        ing.GaussianDiscriminant("full", shrinkage="auto"),
    ],
    ids=lambda model: repr(model).replace("\n", ""),
)
def test_adding_the_new_rows_equals_fitting_anew(model):
    order = growing.order(Y, np.random.default_rng(0))
    learner = _Learner(model, X, Y, np.unique(Y))
    assert learner.adds
    for size in (12, 20, 77, 150):
        grown, anew = learner.upto(order[:size]), clone(model).fit(X[order[:size]], Y[order[:size]])
        exact = 0 if not isinstance(model, ing.GaussianDiscriminant | ing.LeastSquaresClassifier) else 1e-9
        np.testing.assert_allclose(grown.predict_proba(X), anew.predict_proba(X), rtol=0, atol=exact)


def test_adding_equals_fitting_anew_on_a_mixed_table_with_holes():
    frame, y = target_column(diabetes(missing=0.4), "progression")
    y = np.array(y.to_pylist())
    order = growing.order(np.unique(y, return_inverse=True)[1], np.random.default_rng(3))
    learner = _Learner(ing.NaiveBayes(), frame, y, np.unique(y))
    for size in (30, 31, 200):
        anew = ing.NaiveBayes().fit(frame.take(order[:size]), y[order[:size]])
        assert learner.upto(order[:size]).tally_ == anew.tally_


def test_what_is_measured_at_a_size_does_not_depend_on_the_other_sizes():
    many = ing.twins(diabetes(), "progression", sizes=[20, 50, 120, 250], repeats=3)
    for size in (50, 250):
        alone = ing.twins(diabetes(), "progression", sizes=[size], repeats=3)
        place = many.sizes.tolist().index(size)
        np.testing.assert_array_equal(alone.accuracy[:, 0], many.accuracy[:, place])
        np.testing.assert_array_equal(alone.log_loss[:, 0], many.log_loss[:, place])


def test_documents_measured_by_the_first_that_came_are_fitted_anew():
    words = ing.Words(weighting="tfidf", norm="l2")
    for text in (words, {"text": words}):
        assert not _Learner(ing.NaiveBayes(text=text), ["a"], np.array([0]), np.array([0])).adds
    assert not _Learner(GaussianNB(), X, Y, np.unique(Y)).adds  # its variances depend on the batches


def test_measures_are_those_of_scikit_learn():
    model, peer = ing.NaiveBayes(), LogisticRegression(max_iter=10_000)
    found = ing.twins(X, NAMES, model, peer, sizes=[15, 60], repeats=2, test_size=40, random_state=7)
    rng = np.random.default_rng(7)
    for repeat in range(2):
        order = growing.order(Y, rng)
        test = order[110:]
        for place, size in enumerate((15, 60)):
            for k, each in enumerate((model, peer)):
                fitted = clone(each).fit(X[order[:size]], NAMES[order[:size]])
                right = accuracy_score(NAMES[test], fitted.predict(X[test]))
                loss = log_loss(NAMES[test], fitted.predict_proba(X[test]), labels=fitted.classes_)
                assert found.accuracy[repeat, place, k] == right
                assert found.log_loss[repeat, place, k] == pytest.approx(loss, rel=1e-9)


def test_the_same_seed_gives_the_same_curves_and_another_seed_others():
    assert same(ing.twins(X, Y, repeats=2), ing.twins(X, Y, repeats=2))
    assert not same(ing.twins(X, Y, repeats=2), ing.twins(X, Y, repeats=2, random_state=1))


def test_the_models_that_are_given_stay_unfitted_and_unchanged():
    model, twin = ing.NaiveBayes(), ing.SoftmaxRegression()
    ing.twins(diabetes(), "progression", model, twin, sizes=[50], repeats=1)
    assert model.columns is None
    assert twin.columns is None
    assert not hasattr(model, "tally_")
    assert not hasattr(twin, "coef_")


# What can be given.


def test_frames_of_every_kind_give_the_same_curves():
    table = diabetes()
    wanted = ing.twins(table, "progression", sizes=[30, 200], repeats=2)
    assert same(wanted, ing.twins(table.to_pandas(), "progression", sizes=[30, 200], repeats=2))
    assert same(wanted, ing.twins(pl.from_arrow(table), "progression", sizes=[200, 30, 30], repeats=2))
    frame, y = target_column(table, "progression")
    (batch,) = frame.combine_chunks().to_batches()
    assert same(wanted, ing.twins(batch, y, sizes=[30, 200], repeats=2))


def test_lists_arrays_and_sparse_matrices_are_rows():
    wanted = ing.twins(X, Y, sizes=[30, 90], repeats=2)
    assert same(wanted, ing.twins(X.tolist(), Y.tolist(), sizes=[30, 90], repeats=2))
    assert same(wanted, ing.twins(pd.DataFrame(X), pd.Series(Y), sizes=[30, 90], repeats=2))
    counts = np.rint(X * 10).astype(int)
    found = ing.twins(csr_matrix(counts), NAMES, sizes=[90], repeats=3)
    assert found.means().min() > 0.8


TEXTS = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull and long"] * 10
MOODS = ["good", "good", "bad", "bad"] * 10


@pytest.mark.parametrize(
    "texts",
    [TEXTS, tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS), pl.Series(TEXTS), pa.array(TEXTS)],
    ids=lambda t: type(t).__module__,
)
def test_texts_are_one_column(texts):
    found = ing.twins(texts, MOODS, repeats=2)
    assert found.means()[-1].tolist() == [1.0, 1.0]


def test_the_twin_of_naive_bayes_has_its_columns_and_words():
    words = ing.Words(ngrams=(1, 2))
    _, twin = _pair(ing.NaiveBayes({"a": "ignore"}, text=words), None)
    assert (twin.columns, twin.text) == ({"a": "ignore"}, words)


def test_the_kind_of_a_column_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "loud", "soft", "fast", "slow", "late"])
    notes = [" ".join(rng.choice(words, 5)) for _ in range(80)]  # in two rows they would pass for categories
    table = pd.DataFrame({"note": notes, "n": rng.normal(size=80)})
    found = ing.twins(table, np.arange(80) % 2, sizes=[2, 40], repeats=1)
    assert found.sizes.tolist() == [2, 40]
    alone = ing.twins(table, np.arange(80) % 2, ing.NaiveBayes({"note": "text"}), sizes=[2, 40], repeats=1)
    np.testing.assert_array_equal(found.accuracy, alone.accuracy)


def test_the_discriminant_is_asked_for_by_name():
    found = ing.twins(X, Y, "discriminant", sizes=[30], repeats=1)
    assert found.names == ("GaussianDiscriminant", "SoftmaxRegression")
    assert ing.twins(X, Y, "naive-bayes", sizes=[30], repeats=1).names[0] == "NaiveBayes"


def test_models_of_scikit_learn_are_twins_too():
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    found = ing.twins(X, Y, GaussianNB(), scaled, sizes=[30, 90], repeats=2)
    assert found.names == ("GaussianNB", "LogisticRegression")
    assert found.means()[-1].min() > 0.9


def test_two_models_of_one_class_have_names_that_differ():
    found = ing.twins(X, Y, ing.NaiveBayes(), ing.NaiveBayes(numbers="kernel"), sizes=[60], repeats=1)
    assert found.names == ("NaiveBayes()", "NaiveBayes(numbers='kernel')")
    assert len(set(ing.twins(X, Y, GaussianNB(), GaussianNB(), sizes=[60], repeats=1).names)) == 2


# What is said.


def test_few_rows_favour_the_generative_twin_and_many_the_discriminative_one():
    rows, labels = load_breast_cancer(return_X_y=True)
    found = ing.twins(rows, labels, sizes=[40, 125, 398])
    assert found.leaders() == ["NaiveBayes", "SoftmaxRegression", "SoftmaxRegression"]
    (rows_at,) = found.crossings()
    assert 40 < rows_at < 125
    assert re.fullmatch(
        r"With few rows NaiveBayes is ahead \(accuracy 0\.\d{3} against 0\.\d{3} with 40\), with many "
        r"SoftmaxRegression \(accuracy 0\.\d{3} against 0\.\d{3} with 398\); the curves cross near \d+ rows\.",
        found.sentence,
    )


def test_the_crossing_is_where_the_mean_lead_is_zero_on_a_logarithmic_scale():
    found = curves([0.8, 0.8, 0.8, 0.8], [0.6, 0.7, 0.9, 1.0])
    assert found.crossings() == pytest.approx((np.sqrt(30 * 100),))
    assert found.sentence == (
        "With few rows G is ahead (accuracy 0.800 against 0.600 with 10), with many D (accuracy 1.000 against 0.800 "
        "with 300); the curves cross near 55 rows."
    )


def test_less_log_loss_is_better():
    accuracy = np.array([[[0.9, 0.8], [0.9, 0.8]]] * 3)
    found = Twins(("G", "D"), np.array([10, 40]), accuracy, np.array([[[0.2, 0.7], [0.5, 0.1]]] * 3), 50)
    assert found.leaders() == ["G", "G"]
    assert found.leaders("log_loss") == ["G", "D"]
    assert found.conclude("log_loss") == (
        "With few rows G is ahead (log loss 0.200 against 0.700 with 10), with many D (log loss 0.100 against 0.500 "
        "with 40); the curves cross near 22 rows."
    )


@pytest.mark.parametrize(
    ("generative", "discriminative", "sentence"),
    [
        (
            [0.9, 0.9, 0.9, 0.9],
            [0.8, 0.8, 0.8, 0.8],
            "G is ahead at every size (accuracy 0.900 against 0.800 with 10; accuracy 0.900 against 0.800 with 300); "
            "the curves do not cross.",
        ),
        (
            [0.9, 0.9, 0.9, 0.9],
            [0.9, 0.8, 0.9, 0.9],
            "G is ahead at 1 of 4 sizes (accuracy 0.900 against 0.800 with 30), and at the others neither is.",
        ),
        (
            [0.9, 0.9, 0.9, 0.9],
            [0.9, 0.9, 0.9, 0.9],
            "Neither is ahead at any size from 10 to 300 rows, as far as 3 repeats can show.",
        ),
        (
            [0.9, 0.9, 0.9, 0.9],
            [0.8, 0.9, 1.0, 0.9],
            "With few rows G is ahead (accuracy 0.900 against 0.800 with 10), with more D (accuracy 1.000 against "
            "0.900 with 100); the curves cross near 30 rows, and with 300 neither is.",
        ),
        (
            [0.9, 0.9, 0.9, 0.9],
            [1.0, 0.8, 0.8, 1.0],
            "With few rows D is ahead (accuracy 1.000 against 0.900 with 10), with many as well (accuracy 1.000 "
            "against 0.900 with 300), but not between 17 and 173 rows.",
        ),
        (
            [0.9, 0.9, 0.9, 0.9],
            [0.8, 1.0, 0.8, 1.0],
            "With few rows G is ahead (accuracy 0.900 against 0.800 with 10), with many D (accuracy 1.000 against "
            "0.900 with 300); the curves cross near 17 and 55 and 173 rows.",
        ),
    ],
)
def test_the_sentence_says_what_the_curves_show(generative, discriminative, sentence):
    assert curves(generative, discriminative).sentence == sentence


def test_one_size_has_no_curve_to_cross():
    assert curves([0.9], [0.8], [20]).sentence == "G is ahead (accuracy 0.900 against 0.800 with 20)."
    assert curves([0.9], [0.9], [20]).sentence == "Neither is ahead with 20 rows, as far as 3 repeats can show."


def test_a_lead_within_two_standard_errors_is_none():
    # Leads of 0.1, -0.1 and 0.06: a mean of 0.02 with a standard error of 0.06. Then 0.1, 0.1 and 0.16.
    found = curves([[0.9, 0.9], [0.7, 0.9], [0.86, 0.96]], [[0.8, 0.8]] * 3, [10, 20])
    assert found.leaders() == [None, "G"]
    np.testing.assert_allclose(
        found.spreads()[:, 0], [np.std([0.9, 0.7, 0.86], ddof=1), np.std([0.9, 0.9, 0.96], ddof=1)]
    )


def test_fewer_than_three_repeats_give_means_and_no_one_ahead():
    one = curves([[0.978, 0.978]], [[0.956, 0.978]], [20, 90])
    assert one.leaders() == one.leaders("log_loss") == [None, None]
    assert one.crossings() == ()
    assert one.sentence == (
        "One repeat is too few to tell who is ahead (G has accuracy 0.978 against 0.956 with 20 rows; accuracy 0.978 "
        "against 0.978 with 90 rows); take 3 repeats at least."
    )
    lines = str(one).splitlines()
    assert lines[3].split() == ["20", "0.978", "0.956", "0.022", "0.044", "–"]
    assert lines[6] == "Measured in one repeat; 50 rows were held out, the same for both."
    two = curves([[0.9]] * 2, [[0.5]] * 2, [20])
    assert two.conclude("log_loss") == (
        "2 repeats are too few to tell who is ahead (G has log loss 0.100 against 0.500 with 20 rows); take 3 repeats "
        "at least."
    )
    assert "ahead at" not in ing.twins(X, Y, repeats=1, sizes=[20, 90]).sentence


@pytest.mark.parametrize(("repeats", "rows", "leader"), [(3, 1, None), (3, 2, "G"), (5, 1, "G")])
def test_leads_that_are_all_the_same_are_uncertain_by_a_row_each(repeats, rows, leader):
    # Two standard errors are 2/√repeats rows of the 50 that are held out.
    assert curves([[0.8 + rows / 50]] * repeats, [[0.8]] * repeats, [20]).leaders() == [leader]


@pytest.mark.parametrize(("worse", "leader"), [(0.2 + 0.0045, None), (0.2 + 0.0055, "G")])
def test_a_lead_in_log_loss_is_uncertain_by_the_loss_of_a_row(worse, leader):
    loss = np.array([[[0.2, worse]]] * 3)  # two standard errors are 2/√3 · 0.2/50 = 0.0046, or a little more
    found = Twins(("G", "D"), np.array([20]), np.ones((3, 1, 2)), loss, 50)
    assert found.leaders("log_loss") == [leader]


def test_the_table_has_a_line_for_each_size_and_model():
    found = ing.twins(X, Y, sizes=[20, 90], repeats=3)
    table = found.table().to_pydict()
    assert table["rows"] == [20, 20, 90, 90]
    assert table["model"] == ["NaiveBayes", "SoftmaxRegression"] * 2
    np.testing.assert_allclose(table["accuracy"], found.accuracy.mean(axis=0).ravel())
    np.testing.assert_allclose(table["log_loss_spread"], found.log_loss.std(axis=0, ddof=1).ravel())


def test_it_prints_aligned_with_its_sentence():
    found = curves([0.8, 0.8, 0.8, 0.8], [0.6, 0.7, 0.9, 1.0])
    lines = str(found).splitlines()
    assert lines[1].split() == ["rows", "G", "D", "G", "D", "accuracy"]
    assert lines[3].replace(" ± 0.000", "").split() == ["10", "0.800", "0.600", "0.200", "0.400", "G"]
    assert {line.index("0.800") for line in lines[3:7]} == {lines[0].index("accuracy")}
    assert lines[7] == found.sentence
    assert lines[8] == "Means over 3 repeats ± their standard deviation; 50 rows were held out, the same for both."
    assert repr(found) == str(found)
    assert found.sentence in found._repr_html_()


def test_names_are_escaped_in_a_notebook():
    found = Twins(("<b>", "D"), np.array([10]), np.ones((1, 1, 2)), np.ones((1, 1, 2)), 5)
    assert "<b>" not in found._repr_html_()


def test_the_picture_has_both_curves_with_names_and_the_crossing():
    found = curves([0.8, 0.8, 0.8, 0.8], [0.6, 0.7, 0.9, 1.0])
    ax = found.plot()
    assert [text.get_text() for text in ax.texts] == ["cross near 55 rows", "G", "D"]
    drawn = [line.get_ydata().tolist() for line in ax.lines if len(line.get_xdata()) == 4]
    assert drawn == [pytest.approx([0.8, 0.8, 0.8, 0.8]), pytest.approx([0.6, 0.7, 0.9, 1.0])]
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "rows learned from")
    other = found.plot(what="log_loss", ax=ax.figure.add_subplot())
    assert other.get_ylabel() == "log loss on held-out rows (nats)"


def test_what_is_drawn_is_named_first():
    found = curves([0.8, 0.8, 0.8, 0.8], [0.6, 0.7, 0.9, 1.0])
    ax = found.plot("log_loss")
    assert ax.get_ylabel() == "log loss on held-out rows (nats)"
    assert found.plot("accuracy", ax) is ax


def test_the_names_at_the_end_of_the_curves_do_not_touch():
    ax = curves([0.5, 0.8, 0.9, 0.95], [0.6, 0.7, 0.9, 0.951]).plot()
    places = [text.get_position()[1] for text in ax.texts if text.get_text() in "GD"]
    assert places[1] - places[0] == pytest.approx(0.07)


def test_log_loss_that_falls_far_is_drawn_on_a_logarithmic_axis():
    accuracy = np.ones((2, 2, 2))
    loss = np.array([[[9.0, 30.0], [0.3, 0.2]], [[7.0, 2.0], [0.1, 0.2]]])
    ax = Twins(("G", "D"), np.array([10, 40]), accuracy, loss, 50).plot(what="log_loss")
    assert ax.get_yscale() == "log"
    assert np.isfinite(ax.get_ylim()).all()


# What goes wrong on the way.


def test_sizes_that_a_model_refuses_are_left_out_and_said():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3)) + np.arange(200)[:, np.newaxis] % 2
    rows[rng.random(200) < 0.85, 2] = np.nan  # in six rows there is often no value
    found = ing.twins(rows, np.arange(200) % 2, repeats=8)
    assert found.sizes[0] > 6
    assert np.isfinite(found.accuracy).all()
    assert np.isfinite(found.log_loss).all()
    said = r"Left out, for they are too few: 6.* rows \(SoftmaxRegression: column 'x2' has no value in any row"
    assert re.match(said, found.remarks[0])
    assert found.remarks[0] in str(found)
    with pytest.raises(InputError, match=r"with 6 rows SoftmaxRegression cannot be fitted: column 'x2' has no value"):
        ing.twins(rows, np.arange(200) % 2, sizes=[6, 100], repeats=8)


def test_warnings_are_gathered_into_one_remark_each():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ing.twins(*load_breast_cancer(return_X_y=True), "discriminant", sizes=[10, 20, 300], repeats=2)
    (remark,) = found.remarks
    assert remark.startswith("GaussianDiscriminant warned at 10, 20 rows: the covariance is singular")


def test_a_fit_that_does_not_converge_is_said():
    found = ing.twins(X, Y, discriminative=ing.SoftmaxRegression(max_iter=1, l2=1e-6), sizes=[60, 100], repeats=2)
    (remark,) = found.remarks
    assert remark.startswith("SoftmaxRegression warned at 60, 100 rows: the fit stopped after 1 iterations")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"y": ["a"] * 150}, InputError, r"every row is of the one class 'a'"),
        ({"y": ["a"] * 149 + ["b"]}, InputError, r"class 'b' has one row only"),
        ({"y": ["a"] * 147 + ["b"] * 3, "test_size": 0.9}, InputError, r"class 'b' has 3 of 150 rows, and 15 training"),
        ({"y": Y[:100]}, InputError, r"X has 150 rows and y has 100 labels"),
        ({"y": None}, InputError, r"requires y to be passed"),
        ({"y": "species"}, KindError, r"a column name needs a table as X"),
        ({"X": [], "y": []}, InputError, r"0 sample"),
        ({"X": None}, KindError, r"a table was expected, got NoneType"),
        ({"X": {"a": [1]}}, KindError, r"a table was expected, got dict"),
        ({"X": X[:, 0]}, InputError, r"2-dimensional array"),
        ({"X": np.array(1.0)}, InputError, r"2-dimensional array"),
        ({"X": "a text"}, KindError, r"a table was expected, got str"),
        ({"generative": "naive"}, InputError, r"generative='naive' is not known; did you mean 'naive-bayes'\?"),
        (
            {"generative": ing.NaiveBayes},
            KindError,
            r"the generative model must be a classifier such as NaiveBayes\(\)",
        ),
        ({"discriminative": "softmax"}, KindError, r"classifier such as SoftmaxRegression\(\), got 'softmax'"),
        ({"discriminative": RidgeClassifier()}, KindError, r"RidgeClassifier, gives no probabilities"),
        ({"sizes": []}, InputError, r"sizes is empty"),
        ({"sizes": 5}, KindError, r"sizes must be a list of numbers of rows, got int 5"),
        ({"sizes": [0.5]}, KindError, r"a size must be a whole number, got float 0.5"),
        ({"sizes": [0]}, InputError, r"a size is 0; it must be at least 1"),
        ({"sizes": [2]}, InputError, r"so few rows may have none of class 0.* take sizes of at least 3"),
        ({"sizes": [30, 120]}, InputError, r"a size is 120, and of 150 rows 105 are left .* at most 105"),
        ({"repeats": 0}, InputError, r"repeats is 0; it must be at least 1"),
        ({"repeats": 2.0}, KindError, r"repeats must be a whole number"),
        ({"test_size": 0.0}, InputError, r"test_size=0.0 is no share"),
        ({"test_size": 1.0}, InputError, r"test_size=1.0 is no share"),
        ({"test_size": 150}, InputError, r"test_size=150 of 150 rows cannot be held out; take 1 to 149"),
        ({"test_size": "a third"}, KindError, r"test_size must be a share"),
        ({"test_size": True}, KindError, r"test_size must be a share"),
        ({"random_state": "x"}, KindError, r"random_state must be a whole number or None"),
    ],
)
def test_bad_input_gets_one_clear_sentence(given, error, message):
    with pytest.raises(error, match=message):
        ing.twins(**{"X": X, "y": Y, **given})


def test_an_error_that_more_rows_do_not_mend_is_told_as_it_is():
    infinite = X.copy()
    infinite[:, 1] = np.inf
    with pytest.raises(InputError) as told:
        ing.twins(infinite, Y, repeats=1)
    with pytest.raises(InputError) as alone:
        ing.NaiveBayes().fit(infinite, Y)
    assert str(told.value) == str(alone.value)


@pytest.mark.parametrize("sizes", [[20, 90], [90], None])
def test_larger_sizes_are_not_advised_where_they_do_not_help(sizes):
    table = pd.DataFrame(X, columns=list("uvwx")).assign(c=NAMES)
    with pytest.raises(InputError, match=r"column 'c' is no number .* GaussianDiscriminant needs numbers") as told:
        ing.twins(table, Y, "discriminant", sizes=sizes, repeats=1)
    assert "larger sizes" not in str(told.value)


@pytest.mark.parametrize("sizes", [[4], [4, 70]])
def test_larger_sizes_are_advised_where_they_help(sizes):
    holes = X[:100].copy()
    holes[5:, 2] = np.nan  # seldom has one of 4 rows a value, and nearly always one of the 70 that there are
    with pytest.raises(InputError, match=r"with 4 rows \w+ cannot be fitted: column 'x2' .*; take larger sizes"):
        ing.twins(holes, np.arange(100) % 2, sizes=sizes, repeats=5)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(InputError, match="the table has no column 'plai' to learn; did you mean 'play'"):
        ing.twins(weather(), "plai")


def test_a_measure_that_is_none_is_named():
    found = curves([0.9], [0.8], [20])
    for ask in (found.plot, found.means, found.conclude):
        with pytest.raises(InputError, match=r"what='loss' is not measured; known: accuracy, log_loss|did you mean"):
            ask(what="loss")


def test_fourteen_days_are_enough():
    found = ing.twins(weather(), "play", repeats=3)
    assert found.sizes[-1] == 10
    assert found.test_rows == 4


def test_short_reviews_favour_naive_bayes():
    texts, labels = real_texts.labelled("snippets", 3000)
    found = ing.twins(texts, labels, sizes=[500, 1800], repeats=3)
    assert (found.means()[:, 0] > found.means()[:, 1]).all()
    assert found.means()[1, 0] > 0.68
    assert (found.means("log_loss")[:, 0] > found.means("log_loss")[:, 1]).all()  # but it is too sure of itself
