"""Models learn from the same growing samples, and the table and the sentence say what the curves show."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, log_loss

import ingenuo as ing
from ingenuo.datasets import diabetes
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.comparison import LearningCurves, order

X, Y = load_iris(return_X_y=True)
TWINS = [ing.NaiveBayes(), ing.SoftmaxRegression()]


def curves(*accuracy, sizes=(10, 30, 100, 300), repeats=3):
    """Curves of models whose accuracies at each size are given, the same in every repeat."""
    found = np.tile(np.array(accuracy, float).T, (repeats, 1, 1))
    return LearningCurves(tuple("GDR"[: len(accuracy)]), np.array(sizes[: found.shape[1]]), found, 1 - found, 50)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=6), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_every_beginning_has_its_share_of_every_class(counts, seed):
    codes = np.repeat(np.arange(len(counts)), counts)
    found = order(codes, np.random.default_rng(seed))
    assert sorted(found.tolist()) == list(range(len(codes)))
    seen = np.cumsum(np.eye(len(counts))[codes[found]], axis=0)
    share = np.arange(1, len(codes) + 1)[:, np.newaxis] * np.array(counts) / len(codes)
    # Each class rounds by half a row, and so do the others, which moves the total.
    assert np.abs(seen - share).max() <= 0.5 + len(counts) / 2 + 1e-9


def test_measures_are_those_of_scikit_learn_on_nested_samples():
    models = {"ours": ing.NaiveBayes(), "theirs": LogisticRegression(max_iter=10_000)}
    found = ing.compare(models, X, Y, sizes=[15, 60], repeats=2, test_size=40, random_state=7)
    rng = np.random.default_rng(7)
    for repeat in range(2):
        rows = order(Y, rng)
        test = rows[110:]
        for place, size in enumerate((15, 60)):
            for k, model in enumerate(models.values()):
                fitted = clone(model).fit(X[rows[:size]], Y[rows[:size]])
                loss = log_loss(Y[test], fitted.predict_proba(X[test]), labels=fitted.classes_)
                assert found.accuracy[repeat, place, k] == accuracy_score(Y[test], fitted.predict(X[test]))
                assert found.log_loss[repeat, place, k] == pytest.approx(loss, rel=1e-9)


def test_so_many_sizes_go_from_a_few_rows_of_each_class_to_all_that_are_not_held_out():
    found = ing.compare(TWINS, X, Y, sizes=8, repeats=1)
    assert (len(found.sizes), found.sizes[0], found.sizes[-1], found.test_rows) == (8, 9, 105, 45)


def test_few_rows_favour_the_generative_twin_and_many_the_discriminative_one():
    found = ing.compare(TWINS, *load_breast_cancer(return_X_y=True), sizes=[40, 125, 398])
    assert found.leaders() == ["NaiveBayes", "SoftmaxRegression", "SoftmaxRegression"]
    (rows,) = found.crossings()
    assert 40 < rows < 125


@pytest.mark.parametrize("of", [lambda t: t.to_pandas(), pl.from_arrow], ids=["pandas", "polars"])
def test_frames_of_every_kind_give_the_same_curves(of):
    table = diabetes()
    one, other = (ing.compare(TWINS, each, "progression", sizes=[30, 200], repeats=2) for each in (table, of(table)))
    np.testing.assert_array_equal(one.accuracy, other.accuracy)
    np.testing.assert_array_equal(one.log_loss, other.log_loss)


def test_the_kind_of_a_column_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    words = ["red", "green", "blue", "loud", "soft", "fast", "slow", "late"]
    notes = [" ".join(rng.choice(words, 5)) for _ in range(80)]  # in two rows they would pass for categories
    table = pd.DataFrame({"note": notes, "n": rng.normal(size=80)})
    found = ing.compare(TWINS, table, np.arange(80) % 2, sizes=[2, 40], repeats=1)
    declared = [ing.NaiveBayes({"note": "text"}), ing.SoftmaxRegression({"note": "text"})]
    alone = ing.compare(declared, table, np.arange(80) % 2, sizes=[2, 40], repeats=1)
    np.testing.assert_array_equal(found.accuracy, alone.accuracy)


def test_texts_and_models_without_probabilities():
    texts = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull and long"] * 10
    found = ing.compare(TWINS, texts, ["good", "good", "bad", "bad"] * 10, sizes=3, repeats=2)
    assert found.accuracy[:, -1].tolist() == [[1.0, 1.0]] * 2
    labels = ing.compare([ing.NaiveBayes(), RidgeClassifier()], X, Y, sizes=[60], repeats=3)
    assert np.isnan(labels.log_loss[..., 1]).all()
    assert "By log loss" not in str(labels)


@pytest.mark.parametrize(
    ("accuracy", "sentence"),
    [
        (
            ([0.8, 0.8, 0.8, 0.8], [0.6, 0.7, 0.9, 1.0]),
            "By accuracy, G is ahead with 10 to 30 rows; D is ahead with 100 to 300 rows; the curves cross near 55 "
            "rows.",
        ),
        (([0.9, 0.9], [0.8, 0.9]), "By accuracy, G is ahead with 10 rows."),
        (([0.9, 0.9], [0.9, 0.9]), "By accuracy, nobody is clearly ahead in 3 repeats."),
        (([0.9, 0.9], [0.8, 0.7], [0.7, 1.0]), "By accuracy, G is ahead with 10 rows; R is ahead with 30 rows."),
    ],
)
def test_the_sentence_says_what_the_curves_show(accuracy, sentence):
    found = curves(*accuracy)
    assert found.conclude() == sentence
    assert found.conclude("log_loss") == sentence.replace("accuracy", "log loss")  # here 1 - accuracy
    assert sentence in str(found)
    assert sentence in found._repr_html_()


@pytest.mark.parametrize(("repeats", "rows", "leader"), [(2, 9, None), (3, 1, None), (3, 2, "G"), (5, 1, "G")])
def test_leads_that_are_all_the_same_are_uncertain_by_a_row_each(repeats, rows, leader):
    # Two standard errors are 2/√repeats rows of the 50 that are held out; two repeats are too few.
    assert curves([0.8 + rows / 50], [0.8], repeats=repeats).leaders() == [leader]


def test_the_table_and_the_picture_have_every_curve():
    found = curves([0.8, 0.8, 0.8, 0.8], [0.6, 0.7, 0.9, 1.0])
    table = found.table().to_pydict()
    assert (table["rows"][:3], table["model"][:3]) == ([10, 10, 30], ["G", "D", "G"])
    assert table["accuracy"][:4] == pytest.approx([0.8, 0.6, 0.8, 0.7])
    ax = found.plot("log_loss")
    drawn = [line.get_ydata().tolist() for line in ax.lines if len(line.get_xdata()) == 4]
    assert drawn == [pytest.approx([0.2] * 4), pytest.approx([0.4, 0.3, 0.1, 0.0])]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["G", "D"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rows learned from", "log loss on held-out rows")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"y": ["a"] * 150}, InputError, r"class 'a' has too few rows, or is the only one"),
        ({"y": ["a"] * 149 + ["b"]}, InputError, r"class 'b' has too few rows"),
        ({"y": Y[:100]}, InputError, r"X has 150 rows and y has 100 labels"),
        ({"sizes": []}, KindError, r"sizes must be a list of numbers of rows, or how many"),
        ({"sizes": "many"}, KindError, r"sizes must be a list"),
        ({"sizes": [0.5]}, KindError, r"a size must be a whole number, got float 0.5"),
        ({"sizes": [2]}, InputError, r"a size is 2; .* take from 3 to 105 rows"),
        ({"sizes": [30, 120]}, InputError, r"a size is 120; .* take from 3 to 105 rows"),
        ({"repeats": 0}, InputError, r"repeats is 0; it must be at least 1"),
        ({"test_size": 0.0}, InputError, r"test_size=0.0 must be a share"),
        ({"test_size": 150}, InputError, r"test_size=150 must be a share of the rows, or a number below 150"),
        ({"test_size": True}, InputError, r"test_size=True must be a share"),
        ({"groups": Y}, InputError, r"leave groups out"),
        ({"measure": "loss"}, InputError, r"measure='loss' is not known"),
    ],
)
def test_bad_input_gets_one_clear_sentence(given, error, message):
    measure = given.pop("measure", "accuracy")
    with pytest.raises(error, match=message):
        ing.compare(**{"models": TWINS, "X": X, "y": Y, "sizes": [60], "repeats": 1, **given}).plot(measure)


def test_a_model_that_refuses_a_size_is_named():
    infinite = X.copy()
    infinite[:, 1] = np.inf
    with pytest.raises(InputError, match=r"with 9 rows NaiveBayes cannot be fitted: .*; try larger sizes"):
        ing.compare(TWINS, infinite, Y, sizes=[9], repeats=1)
