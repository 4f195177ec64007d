"""Several models at once: the same rows and folds for all, one table, and corrected tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ingenuo as ing
from ingenuo.datasets import diabetes
from ingenuo.errors import InputError, KindError
from ingenuo.evaluation.comparison import Comparison, compare
from ingenuo.evaluation.cross_validation import cross_validate
from ingenuo.evaluation.significance import holm, mcnemar, permutation

X, Y = load_iris(return_X_y=True)
MODELS = {"bayes": ing.NaiveBayes(), "gauss": ing.GaussianDiscriminant(), "labels": RidgeClassifier()}


class FlatBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes that is half as sure."""

    def fit(self, X, y):
        self.model_ = ing.NaiveBayes().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return (self.model_.predict_proba(X) + 1 / len(self.classes_)) / 2


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(MODELS, X, Y, folds=5)


def test_each_model_is_measured_as_alone(found):
    for name, model in MODELS.items():
        alone = cross_validate(model, X, Y, 5)
        for measure in ("accuracy", "f1_macro", "log_loss", "ece"):
            together, apart = found.evaluations[name][measure], alone.evaluation[measure]
            assert (together.value, together.low, together.high) == (apart.value, apart.low, apart.high)


def test_the_pairs_are_tests_of_the_rows_out_of_fold_corrected_by_holm(found):
    assert [(p.first, p.second, p.measure) for p in found.pairs] == [
        ("bayes", "gauss", "accuracy"),
        ("bayes", "labels", "accuracy"),
        ("gauss", "labels", "accuracy"),
        ("bayes", "gauss", "log_loss"),  # labels alone have no log loss
    ]
    by_hand = [
        mcnemar(Y, found.cross_validations[a].predicted, found.cross_validations[b].predicted, "mid-p").p_value
        for a, b in (("bayes", "gauss"), ("bayes", "labels"), ("gauss", "labels"))
    ]
    assert [p.verdict.p_value for p in found.pairs[:3]] == by_hand
    assert [p.p_adjusted for p in found.pairs[:3]] == holm(by_hand).tolist()
    one, other = (found.cross_validations[name].probabilities for name in ("bayes", "gauss"))
    loss = permutation(Y, one, other, "log_loss", classes=[0, 1, 2])
    assert found.pairs[3].verdict.effect == pytest.approx(loss.effect)
    assert found.pairs[3].p_adjusted == pytest.approx(loss.p_value, abs=0.02)


def test_it_prints_a_line_for_each_model_and_a_sentence_for_each_measure(found):
    lines = str(found).splitlines()
    assert lines[0].split("  ")[0] == "model"
    assert [line.split()[0] for line in lines[2:5]] == list(MODELS)
    assert lines[4].count("–") == 2
    assert lines[4].rstrip().endswith(("ms", "s"))
    assert lines[5].startswith("150 rows, each answered out of fold")
    assert lines[6] == found.conclude("accuracy")
    assert "gauss is better than labels" in lines[6]
    assert lines[7] == found.conclude("log_loss")
    assert lines[8] == "p-values are corrected for the number of pairs (Holm)."
    assert repr(found) == str(found)
    assert " ms" not in found.text(times=False)


def test_the_table_has_what_is_printed(found):
    table = found.table().to_pydict()
    assert table["model"] == list(MODELS)
    assert table["log_loss"][2] is None
    for at, name in enumerate(MODELS):
        accuracy = found.evaluations[name]["accuracy"]
        assert table["accuracy"][at] == accuracy.value
        assert table["accuracy_low"][at] == accuracy.low < accuracy.value < table["accuracy_high"][at]
    assert min(table["fit_time"] + table["predict_time"]) > 0


def test_the_best_is_right_most_often(found):
    assert found.best == "gauss"
    assert found.evaluations["gauss"]["accuracy"].value == max(v.value for v in found.values())


def test_of_models_that_are_right_as_often_the_best_has_the_lower_log_loss():
    # Probabilities that are flattened name the same classes.
    flat = FlatBayes()
    tied = compare({"flat": flat, "sharp": ing.NaiveBayes()}, X, Y, folds=5)
    assert len({found["accuracy"].value for found in tied.evaluations.values()}) == 1
    assert tied.best == "sharp"


def test_names_are_escaped_in_a_notebook():
    shown = compare({"<b>": ing.NaiveBayes(), "other": ing.GaussianDiscriminant()}, X, Y, folds=3)._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


def test_a_model_does_not_differ_from_itself():
    twice = compare([ing.NaiveBayes(), ing.NaiveBayes()], X, Y, folds=5)
    assert [pair.p_adjusted for pair in twice.pairs] == [1.0, 1.0]
    assert len(set(twice.names)) == 2
    assert "the two do not differ significantly at the 5 % level (p = 1)" in str(twice)


def test_a_list_is_named_after_its_classes():
    scaled = make_pipeline(StandardScaler(), RidgeClassifier())
    assert compare([ing.NaiveBayes(), scaled], X, Y, folds=3).names == ("NaiveBayes", "RidgeClassifier")


def test_a_splitter_that_draws_anew_gives_all_models_the_same_folds():
    drawn = compare(MODELS, X, Y, KFold(4, shuffle=True))
    tests = [found.test for found in drawn.cross_validations.values()]
    for other in tests[1:]:
        assert all(map(np.array_equal, tests[0], other))


def test_rows_that_no_fold_tests_are_not_judged():
    some = compare(MODELS, X, Y, ShuffleSplit(1, test_size=60, random_state=0))
    assert {e.n_rows for e in some.evaluations.values()} == {60}
    assert {pair.verdict.n for pair in some.pairs} == {60}
    assert "90 of 150 rows were never tested" in str(some)


def test_folds_may_be_pairs_of_rows_or_single_rows():
    pairs = [(np.arange(75, 150), np.arange(0, 75)), (np.arange(0, 75), np.arange(75, 150))]
    mixed = np.random.default_rng(0).permutation(150)
    given = compare(MODELS, X[mixed], Y[mixed], iter(pairs))
    assert [len(test) for test in given.cross_validations["gauss"].test] == [75, 75]
    alone = compare({"a": ing.NaiveBayes(), "b": ing.GaussianDiscriminant()}, X[::5], Y[::5], "leave-one-out")
    assert len(alone.cross_validations["b"].test) == 30


def test_groups_stay_together():
    groups = np.arange(150) // 5
    grouped = compare(MODELS, X, Y, 5, groups=groups)
    for test in grouped.cross_validations["bayes"].test:
        assert not set(groups[test]) & set(np.delete(groups, test))


def test_the_same_seed_gives_the_same_and_another_other_folds():
    one, same, other = (compare(MODELS, X, Y, 5, random_state=seed) for seed in (1, 1, 2))
    assert one.text(times=False) == same.text(times=False)
    assert not np.array_equal(one.cross_validations["gauss"].test[0], other.cross_validations["gauss"].test[0])


def test_a_table_names_its_label():
    table = diabetes()
    models = [ing.NaiveBayes(), ing.SoftmaxRegression()]
    by_name = compare(models, table, "progression", 3)
    frame = table.to_pandas()
    apart = compare(models, frame.drop(columns="progression"), frame["progression"], 3)
    assert by_name.text(times=False) == apart.text(times=False)
    assert isinstance(frame, pd.DataFrame)


def test_a_real_difference_in_log_loss_is_found():
    found = compare([ing.NaiveBayes(), ing.SoftmaxRegression()], *load_breast_cancer(return_X_y=True))
    (loss,) = [pair for pair in found.pairs if pair.measure == "log_loss"]
    assert loss.significant
    assert loss.sentence.startswith("The log loss of NaiveBayes is 0.4895 above")
    assert "SoftmaxRegression is better than NaiveBayes by 0.489" in found.conclude("log_loss")


def test_confidence_and_level_are_kept():
    wide, narrow = (compare(MODELS, X, Y, 3, confidence=c) for c in (0.99, 0.8))
    for name in MODELS:
        one, other = (c.evaluations[name]["accuracy"] for c in (wide, narrow))
        assert one.low < other.low < other.high < one.high
    assert "80 % intervals" in str(narrow)
    strict = compare(MODELS, X, Y, 3, alpha=1e-12)
    assert not any(pair.significant for pair in strict.pairs)


def test_the_picture_has_a_dot_and_an_interval_for_each_model(found):
    ax = found.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == list(MODELS)
    dots = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert dots == [found.evaluations[name]["accuracy"].value for name in MODELS]
    assert found.plot("f1_macro", ax) is ax
    with pytest.raises(InputError, match="labels gives labels only, and has no log loss to draw"):
        found.plot("log_loss")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"models": [ing.NaiveBayes()]}, InputError, "there are 1 models to compare; give two at least"),
        ({"models": {}}, InputError, "there are 0 models"),
        ({"models": ing.NaiveBayes()}, KindError, "models must be a mapping of names to classifiers, or a list"),
        ({"models": "bayes"}, KindError, "models must be a mapping"),
        ({"models": [ing.NaiveBayes, ing.GaussianDiscriminant()]}, KindError, "must be a classifier such as"),
        ({"y": None}, InputError, "y is missing"),
        ({"y": Y[:100]}, InputError, "100"),
        ({"folds": 1}, InputError, "folds=1"),
        ({"folds": 60}, InputError, "fewer than the 60 folds"),
        ({"folds": "loo"}, InputError, "folds='loo' is not known"),
        ({"folds": None}, KindError, "folds must be"),
        ({"confidence": 1.0}, InputError, "confidence=1.0 must lie between 0 and 1"),
        ({"alpha": 0}, InputError, "alpha=0 must lie between 0 and 1"),
        ({"random_state": "x"}, KindError, "random_state must be a whole number"),
        ({"X": X[:1], "y": Y[:1]}, InputError, "one row only"),
    ],
)
def test_bad_input_gets_one_clear_sentence(given, error, message):
    with pytest.raises(error, match=message):
        compare(**{"models": MODELS, "X": X, "y": Y, "folds": 3, **given})


def test_a_measure_that_is_none_is_named(found):
    with pytest.raises(InputError, match="measure='acuracy' is not known; did you mean 'accuracy'"):
        found.values("acuracy")
    with pytest.raises(InputError, match="measure='ece' is not known"):
        found.conclude("ece")


# Models that are fitted already.


def halves():
    return {name: ing.evaluate(model.fit(X[::2], Y[::2]), X[1::2], Y[1::2]) for name, model in MODELS.items()}


def test_evaluations_of_the_same_rows_are_compared_without_refitting():
    found = ing.compare(halves())
    assert found.cross_validations == {}
    assert "fit_time" not in found.table().column_names
    assert found.evaluations["bayes"].n_rows == len(Y[1::2])
    a, b = (found.evaluations[name].predictions for name in ("bayes", "gauss"))
    wanted = mcnemar(Y[1::2], a.classes[a.predicted], b.classes[b.predicted], "mid-p")
    assert (
        next(
            p for p in found.pairs if p.measure == "accuracy" and (p.first, p.second) == ("bayes", "gauss")
        ).verdict.p_value
        == wanted.p_value
    )
    assert "the same for all models; 95 % intervals" in str(found)


def test_models_of_different_classes_are_compared_on_the_classes_of_both():
    few = X[Y < 2][::2], Y[Y < 2][::2]
    one = ing.evaluate(ing.NaiveBayes().fit(*few), X[1::2], Y[1::2])
    other = ing.evaluate(ing.NaiveBayes().fit(X[::2], Y[::2]), X[1::2], Y[1::2])
    found = ing.compare({"two": one, "three": other})
    assert found.best == "three"
    assert found.pairs[0].significant
    assert "of a class that the model does not know (2)" in str(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: {"a": found["bayes"]}, "two at least"),
        (lambda found: {"a": found["bayes"], "b": ing.NaiveBayes()}, "evaluations of other models"),
        (lambda found: {"a": found["bayes"], "b": found["gauss"].take(np.arange(9))}, "by other rows"),
        (
            lambda found: {
                "a": found["bayes"],
                "b": ing.evaluate(found["gauss"].predictions.predicted, y=Y[1::2], confidence=0.5),
            },
            "confidence",
        ),
    ],
)
def test_evaluations_that_cannot_be_compared_are_one_sentence(change, message):
    with pytest.raises(InputError, match=message):
        ing.compare(change(halves()))
    with pytest.raises(InputError, match="leave X, y, groups and sizes out"):
        ing.compare(halves(), X, Y)
