"""Evaluations add, say what they cannot know, and take classifiers, probabilities and labels alike."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB

import ingenuo as ing
from ingenuo.datasets import diabetes, weather
from ingenuo.errors import InputError, KindError, MergeError
from ingenuo.evaluation import intervals
from ingenuo.evaluation.evaluation import Evaluation, EvaluationDisplay, evaluate
from ingenuo.evaluation.measures import row_measures
from ingenuo.evaluation.predictions import predictions_of
from ingenuo.kernels.threads import limited

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def all_numbers(found: Evaluation) -> dict:
    """Every value and interval, to the last bit."""
    shown = {}
    for key, m in found.measures.items():
        numbers = (m.value, m.low, m.high)
        shown[key] = (*(None if v is None else v.hex() for v in numbers), m.how, m.reason)
    return shown


@st.composite
def judged_rows(draw):
    """Probabilities with ties and zeros, labels (some of a class without a column), perhaps weights."""
    n, k = draw(st.integers(2, 40)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts = rng.integers(0, draw(st.sampled_from([2, 5, 1000])), (n, k)).astype(float)
    parts[parts.sum(axis=1) == 0] = 1.0
    y = np.array(["a", "b", "c", "d", "e"])[rng.integers(0, k + 1, n)]
    weights = rng.choice([0.0, 0.25, 1.0, 3.7], n) if draw(st.booleans()) else None
    if weights is not None:
        weights[: n // 2] = 1.0
        weights[-1] = 0.3
    return parts / parts.sum(axis=1, keepdims=True), y, ["a", "b", "c", "d"][:k], weights, rng.permutation(n)


@settings(max_examples=25, deadline=None)
@given(judged_rows(), st.data())
def test_the_parts_add_to_the_whole_to_the_last_bit(rows, data):
    p, y, classes, w, order = rows
    cut = data.draw(st.integers(1, len(y) - 1))

    def judged(places):
        weights = None if w is None else w[places]
        return evaluate(p[places], y=y[places], classes=classes, sample_weight=weights)

    assume(w is None or (w[order[:cut]].any() and w[order[cut:]].any()))
    whole, first, second = judged(np.arange(len(y))), judged(order[:cut]), judged(order[cut:])
    assert first + second == second + first == whole
    assert all_numbers(first + second) == all_numbers(second + first) == all_numbers(whole)
    assert str(first + second) == str(whole)


def test_many_parts_of_labels_with_different_classes_unite():
    y = ["a", "b", "c", "a", "d"]
    guess = ["a", "a", "c", "b", "e"]
    parts = [evaluate([g], y=[t]) for t, g in zip(y, guess)]
    found = sum(parts)
    assert found == evaluate(guess, y=y)
    assert found.classes.tolist() == ["a", "b", "c", "d", "e"]
    assert found["accuracy"].value == 0.4
    np.testing.assert_array_equal(found.confusion, evaluate(guess, y=y).confusion)


def test_parts_of_another_kind_do_not_add():
    a = evaluate([0, 1], y=[0, 1])
    with pytest.raises(MergeError, match=r"confidence=0\.95 and the other 0\.9"):
        a + evaluate([0, 1], y=[0, 1], confidence=0.9)
    with pytest.raises(MergeError, match="random_state=0 and the other 1"):
        a + evaluate([0, 1], y=[0, 1], random_state=1)
    with pytest.raises(MergeError, match="labels only"):
        a + evaluate([[1.0, 0.0], [0.5, 0.5]], y=[0, 1])
    with pytest.raises(TypeError):
        a + 1


def test_evaluations_of_different_rows_are_not_equal():
    a = evaluate([[0.75, 0.25], [0.5, 0.5]], y=[0, 1])
    assert a == evaluate([[0.5, 0.5], [0.75, 0.25]], y=[1, 0])
    assert a != evaluate([[0.75, 0.25], [0.25, 0.75]], y=[0, 1])
    assert a != evaluate([[0.75, 0.25], [0.5, 0.5]], y=[0, 1], confidence=0.9)
    assert a != evaluate([[0.75, 0.25], [0.5, 0.5]], y=[0, 1], sample_weight=[1, 2])
    assert a == evaluate([[0.75, 0.25], [0.5, 0.5]], y=[0, 1], sample_weight=[1, 1])
    assert a != "another thing"


def model_and_rest():
    return GaussianNB().fit(X[::2], NAMES[::2]), X[1::2], NAMES[1::2]


def test_intervals_do_not_depend_on_the_threads_and_the_seed_changes_them():
    model, rest, y = model_and_rest()
    with limited(1):
        one = all_numbers(evaluate(model, rest, y))
    with limited(3):
        three = all_numbers(evaluate(model, rest, y))
    assert one == three
    other = all_numbers(evaluate(model, rest, y, random_state=1))
    assert other["log_loss"] != one["log_loss"]
    assert other["f1_macro"][1:] != one["f1_macro"][1:]
    assert other["accuracy"] == one["accuracy"]


def test_more_confidence_takes_wider_intervals():
    model, rest, y = model_and_rest()
    narrow, wide = evaluate(model, rest, y, confidence=0.5), evaluate(model, rest, y, confidence=0.99)
    for key in ("accuracy", "log_loss", "f1_macro", "mcc", "ece"):
        assert wide[key].low < narrow[key].low <= narrow[key].high < wide[key].high


def test_evaluate_draws_nothing_until_an_interval_is_asked_for(monkeypatch):
    def drawn(*_):
        raise AssertionError("drawn")

    monkeypatch.setattr(intervals, "of_rows", drawn)
    monkeypatch.setattr(intervals, "of_cells", drawn)
    model, rest, y = model_and_rest()
    found = evaluate(model, rest, y)
    assert 0 < found["log_loss"].value < 1
    assert found["accuracy"].low < found["accuracy"].value
    with pytest.raises(AssertionError, match="drawn"):
        found["log_loss"].low  # noqa: B018


@settings(max_examples=20, deadline=None)
@given(judged_rows())
def test_a_row_of_weight_two_counts_as_two_rows_and_of_weight_zero_as_none(rows):
    p, y, classes, _, _ = rows
    times = np.arange(len(y)) % 3
    weighted = evaluate(p, y=y, classes=classes, sample_weight=times.astype(float))
    repeated = evaluate(np.repeat(p, times, axis=0), y=np.repeat(y, times), classes=classes)
    for name in ("accuracy", "majority_rate", "mcc", "f1_macro", "log_loss", "brier", "ece", "precision_weighted"):
        assert weighted[name].value == pytest.approx(repeated[name].value, rel=1e-12, abs=1e-14)
    kept = times > 0
    assert weighted.n_rows == kept.sum()


def test_ece_is_the_sum_over_ten_bins():
    # Bin ]0.5, 0.6]: two rows, sure of 0.6, one right; bin ]0.6, 0.7]: one row sure of 0.7, right.
    found = evaluate([[0.6, 0.4], [0.6, 0.4], [0.3, 0.7]], y=[0, 1, 1])
    assert found["ece"].value == pytest.approx(2 / 3 * abs(0.5 - 0.6) + 1 / 3 * abs(1 - 0.7))


@pytest.mark.parametrize("edge", [0.1, 0.3, 0.6, 0.7])
def test_a_confidence_on_an_edge_belongs_to_the_bin_below(edge):
    n = round(1 / edge) + 9
    p = np.full((2, n), 0.0)
    p[0, 0], p[1, 0] = edge, np.nextafter(edge, 1)
    p[:, 1:] = (1 - edge) / (n - 1)
    bins = evaluate(p, y=[0, 0], classes=range(n))
    assert bins["ece"].value == pytest.approx(1 - edge)  # whichever bins: both are right
    first, second = sorted(row_measures(bins.rows).bins.tolist())
    assert (first, second) == (round(edge * 10) - 1, round(edge * 10))


def test_brier_is_the_squared_distance_from_the_truth():
    found = evaluate([[0.7, 0.2, 0.1]], y=["b"], classes=["a", "b", "c"])
    assert found["brier"].value == pytest.approx(0.7**2 + 0.8**2 + 0.1**2)


def test_exact_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        right = int(rng.binomial(60, 0.8))
        found = evaluate(np.r_[np.zeros(right), np.ones(60 - right)].astype(int), y=np.zeros(60, int))
        covered += found["accuracy"].low <= 0.8 <= found["accuracy"].high
    assert covered >= 0.95 * 400 - 2 * np.sqrt(400 * 0.95 * 0.05)


def test_bootstrap_intervals_cover_nearly_as_often_as_they_say():
    rng = np.random.default_rng(0)
    truth = 1.0 / 3.0  # the expected Brier score of a probability that is uniform and right
    covered = 0
    for _ in range(150):
        p = rng.random(200)
        y = (rng.random(200) < p).astype(int)
        found = evaluate(np.column_stack([1 - p, p]), y=y)
        covered += found["brier"].low <= truth <= found["brier"].high
    assert 0.88 * 150 <= covered <= 150 - 1


def test_labels_unseen_in_training_count_as_wrong_and_are_said():
    model = GaussianNB().fit(X[:90], NAMES[:90])
    found = evaluate(model, X, NAMES)
    assert found.classes.tolist() == ["setosa", "versicolor", "virginica"]
    assert found["recall", "virginica"].value == 0
    assert found["roc_area", "virginica"].value == 0.5
    (said,) = [remark for remark in found.remarks if "does not know" in remark]
    assert said.startswith("50 rows are of a class that the model does not know ('virginica')")
    assert "2.2e-16" in said
    assert str(found).splitlines()[0] == said  # before all that it makes worse
    assert str(found).count(said) == 1
    assert found["log_loss"].value > 50 / 150 * 36
    halves = evaluate(model, X[:100], NAMES[:100]) + evaluate(model, X[100:], NAMES[100:])
    assert halves.remarks == found.remarks
    assert not evaluate(model, X[:90], NAMES[:90]).remarks


def test_labels_alone_have_no_log_loss_and_say_why():
    found = evaluate(RidgeClassifier().fit(X[::2], NAMES[::2]), X[1::2], NAMES[1::2])
    assert found["log_loss"].value is None
    assert found["roc_area_macro"].value is None
    assert "probabilities" in found["log_loss"].reason
    assert np.isnan(float(found["log_loss"]))
    assert any("Only labels" in remark for remark in found.remarks)
    assert "log loss (nats)" not in str(found)
    assert found["accuracy"].low < found["accuracy"].value < found["accuracy"].high


def test_what_is_undefined_is_nan_and_said():
    found = evaluate(["a", "a", "a", "d"], y=["a", "b", "a", "a"], classes=["a", "b", "c", "d"])
    assert np.isnan(found["precision", "b"].value)
    assert np.isnan(found["recall", "d"].value)
    assert np.isnan(found["f1", "c"].value)
    assert found["precision", "b"].reason == "it is undefined"
    remarks = "\n".join(found.remarks)
    assert "Never answered, so without a precision (0 in the means): 'b'." in remarks
    assert "true of no row, so without a recall (0 in the macro means): 'd'." in remarks
    assert "Neither true of a row nor answered, and left out of the means: 'c'." in remarks


def test_one_row_has_no_interval():
    found = evaluate([[0.9, 0.1]], y=["no"], classes=["no", "yes"])
    assert found["accuracy"].value == 1
    for measure in found.measures.values():
        assert measure.low is None
        assert measure.high is None
        assert measure.reason
    assert str(found).endswith(
        "No interval for accuracy, majority-class rate, balanced accuracy, MCC, macro precision and 14 more: one row "
        "does not say how much others would differ."
    )


def test_an_area_of_one_row_has_no_interval():
    p = np.random.default_rng(0).random(50)
    found = evaluate(np.column_stack([1 - p, p]), y=[1] + [0] * 49)
    assert found["roc_area"].value is not None
    assert "1 of 50 rows are of class 1" in found["roc_area"].reason
    assert found["log_loss"].low is not None


def test_a_class_that_vanishes_from_many_replicates_leaves_the_means_without_interval():
    y = ["a"] * 30 + ["b"] * 30 + ["c"]
    guess = ["a"] * 25 + ["b"] * 35 + ["c"]
    found = evaluate(guess, y=y)
    assert "undefined in more than 5%" in found["balanced_accuracy"].reason  # about e⁻¹ have no row of c
    assert found["f1_macro"].low is None
    assert found["f1", "a"].low is not None
    assert found["f1", "c"].low is None


def test_replicates_that_all_measure_the_same_give_no_interval():
    found = evaluate([0, 0, 1, 1] * 5, y=[0, 0, 1, 1] * 5)
    assert found["f1_macro"].value == 1
    assert "measure the same" in found["f1_macro"].reason
    assert found["accuracy"].low == pytest.approx(0.025 ** (1 / 20))


def test_with_weights_shares_are_not_binomial_and_are_drawn_anew():
    model, rest, y = model_and_rest()
    weights = np.where(np.arange(len(y)) % 5 == 0, 10.0, 0.1)
    found = evaluate(model, rest, y, sample_weight=weights)
    for key in ("accuracy", "majority_rate", ("recall", "virginica"), ("precision", "versicolor"), "f1_micro"):
        assert found[key].how.startswith("bootstrap") or "measure the same" in found[key].reason
    assert found["majority_rate"].low < found["majority_rate"].value < found["majority_rate"].high
    # 15 of 75 rows have nearly all the weight, so the interval is wider than that of 75 rows.
    plain = evaluate(model, rest, y)["majority_rate"]
    assert found["majority_rate"].high - found["majority_rate"].low > plain.high - plain.low


def test_a_constant_answer_has_mcc_zero_without_interval():
    found = evaluate([0] * 20, y=[0, 1] * 10)
    assert found["mcc"].value == 0
    assert found["mcc"].low is None
    assert "The MCC of a single class is 0/0, and counts as 0." in found.remarks


def test_tables_of_any_kind_name_the_column_that_is_true():
    for table in (weather(), weather().to_pandas(), pl.from_arrow(weather())):
        model = ing.NaiveBayes().fit(table, "play")
        found = evaluate(model, table, "play")
        assert found.n_rows == 14
        y = table["play"]
        p = predictions_of(model, table, "play").probabilities
        assert found == evaluate(p, None, y)
        assert found == evaluate(p, table, "play")


def test_probabilities_in_a_frame_bring_their_classes():
    p = np.array([[0.2, 0.8], [0.6, 0.4], [0.9, 0.1]])
    y = ["no", "yes", "yes"]
    wanted = evaluate(p, y=y, classes=["yes", "no"])
    assert wanted["accuracy"].value == 1
    for frame in (
        pd.DataFrame(p, columns=["yes", "no"]),
        pl.DataFrame(p, schema=["yes", "no"]),
        pa.table({"yes": p[:, 0], "no": p[:, 1]}),
    ):
        assert evaluate(frame, y=y) == wanted


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array])
def test_labels_come_in_any_container(kind):
    assert evaluate(kind(["a", "b", "b"]), y=kind(["a", "b", "a"]))["accuracy"].value == pytest.approx(2 / 3)
    assert evaluate(kind([1, 0, 2]), y=[1, 0, 0])["accuracy"].value == pytest.approx(2 / 3)


def test_columns_of_another_order_are_put_in_order():
    p, y = np.array([[0.1, 0.9], [0.7, 0.3]]), ["x", "y"]
    found = predictions_of(p, y=y, classes=["y", "x"])
    np.testing.assert_array_equal(found.probabilities, p[:, ::-1])
    assert found.predicted.tolist() == [0, 1]


def test_the_answers_of_a_model_are_judged_and_not_the_largest_probability():
    class Cautious(GaussianNB):
        def predict(self, X):
            return np.full(len(X), "virginica")

    found = evaluate(Cautious().fit(X, NAMES), X, NAMES)
    assert found["recall", "virginica"].value == 1
    assert found["accuracy"].value == pytest.approx(1 / 3)


PROBABLE = np.array([[0.5, 0.5], [0.25, 0.75]])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((PROBABLE,), {}, "y is missing"),
        ((PROBABLE, None, [0]), {}, "2 predictions and 1 labels in y"),
        ((PROBABLE * 1.01, None, [0, 1]), {}, r"row 0 sum to 1\.01, not to 1"),
        ((PROBABLE * [[1], [np.nan]], None, [0, 1]), {}, "row 1 has the probability nan in column 0"),
        ((PROBABLE * [[-1, 3]], None, [0, 1]), {}, r"row 0 has the probability -0\.5 in column 0"),
        ((PROBABLE[:, 1], None, [0, 1]), {}, r"row 0 is 0\.5, which names no class; .*column_stack"),
        ((np.ones((2, 2, 2)), None, [0, 1]), {}, r"two dimensions, rows × classes, got the shape \(2, 2, 2\)"),
        ((PROBABLE, None, [0, 0]), {}, "2 columns of probabilities and 1 different labels in y"),
        ((PROBABLE, None, [0, 1]), {"classes": [0, 1, 2]}, "2 columns of probabilities and 3 classes"),
        ((PROBABLE, None, [0, 1]), {"classes": [0, 0]}, "only once"),
        ((PROBABLE, X, [0, 1]), {}, "X is of no use"),
        ((PROBABLE, None, [0, np.nan]), {}, "row 1 has no label"),
        ((["a", None], None, [0, 1]), {}, "predictions are no labels: they contain NaN: row 1"),
        (([], None, []), {}, "no rows to judge"),
        ((np.zeros((0, 2)), None, []), {}, "nothing to judge"),
        ((PROBABLE, None, [0, 1]), {"sample_weight": [1, -1]}, "the weight of row 1 is"),
        ((PROBABLE, None, [0, 1]), {"sample_weight": [0, 0]}, "every weight is zero"),
        ((PROBABLE, None, [0, 1]), {"confidence": 1.0}, r"confidence=1\.0 must lie between 0 and 1"),
        ((PROBABLE, None, [0, 1]), {"confidence": 95}, "confidence=95 must lie between 0 and 1"),
        ((PROBABLE, None, [0, 1]), {"random_state": -1}, "random_state is -1"),
        ((GaussianNB().fit(X, Y), None, Y), {}, "X is missing"),
        ((GaussianNB().fit(X, Y), X, Y), {"classes": [0, 1]}, "are not those of GaussianNB"),
    ],
)
def test_what_cannot_be_judged_is_refused(arguments, options, message):
    with pytest.raises(InputError, match=message):
        evaluate(*arguments, **options)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("good",), {"y": ["good"]}, "got str 'good'"),
        ((GaussianNB, X, Y), {}, "got the class GaussianNB"),
        (([["a", "b"]],), {"y": [0], "classes": [0, 1]}, "probabilities must be numbers"),
        (({"a": 1},), {"y": [0]}, "got dict"),
        (([0, 1],), {"y": "label"}, "a column name needs a table"),
        (([0, 1],), {"y": [0, 1], "confidence": "high"}, "confidence must be a number"),
        (([0, 1],), {"y": [0, 1], "random_state": None}, "random_state must be a whole number"),
        (([0, 1],), {"y": [0, 1], "classes": "01"}, "classes must be a list"),
    ],
)
def test_what_is_of_another_kind_is_refused(arguments, options, message):
    with pytest.raises(KindError, match=message):
        evaluate(*arguments, **options)


def test_a_measure_that_does_not_exist_is_refused_with_the_nearest():
    found = evaluate([0, 1, 1], y=[0, 1, 0])
    with pytest.raises(InputError, match="'acuracy' is not measured here; did you mean 'accuracy'"):
        found["acuracy"]
    with pytest.raises(InputError, match="is not measured here"):
        found["recall", 7]
    assert "accuracy" in found
    assert ("recall", 1) in found
    assert "nothing" not in found


def test_probabilities_of_single_precision_may_be_rounded():
    p = np.random.default_rng(0).dirichlet(np.ones(50), 100).astype(np.float32)
    assert evaluate(p, y=np.arange(100) % 50).n_rows == 100


def test_it_prints_tables_and_remarks():
    text = str(evaluate(*model_and_rest()))
    assert text.startswith("75 rows, 3 classes: 96.0% are correct; always answering 'setosa' would be right for 33.3%.")
    assert "accuracy             0.960  [0.888, 0.992]" in text
    assert "versicolor       0       24          1" in text
    assert repr(evaluate(*model_and_rest())) == text


def test_of_many_classes_the_worst_are_printed():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 60, 3000)
    guess = np.where(y == 7, 8, y)
    text = str(evaluate(guess, y=y))
    assert "Of 60 classes the 20 with the lowest F1 are shown" in text
    assert f"7     8         {(y == 7).sum()}" in text
    assert len(text.splitlines()) < 60


def test_thousands_of_classes_are_judged():
    y = np.arange(3000)
    found = evaluate(np.roll(y, 1) // 2 * 2, y=y)
    assert found["accuracy"].value == 0
    assert found["accuracy"].high == pytest.approx(1 - 0.025 ** (1 / 3000))
    assert len(str(found).splitlines()) < 60
    assert found["precision_macro"].low is None


def test_notebooks_show_labels_as_they_are():
    shown = evaluate(["<b>", "c"], y=["<b>", "<b>"])._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


def test_the_table_has_a_line_for_each_measure():
    found = evaluate(*model_and_rest())
    table = found.table()
    assert table.column_names == ["measure", "class", "value", "low", "high", "method"]
    assert table.num_rows == len(found.measures)
    frame = table.to_pandas().set_index(["measure", "class"])
    assert frame.loc[("recall", "virginica"), "value"] == found["recall", "virginica"].value
    assert table["method"][0].as_py() == "exact (Clopper-Pearson)"


def test_an_evaluation_survives_pickling():
    found = evaluate(*model_and_rest())
    assert found["log_loss"].low is not None
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert all_numbers(again) == all_numbers(found)


def test_large_evaluations_draw_less_often():
    assert intervals.how_many(10, 2, True) == 2000
    assert intervals.how_many(400_000, 2, True) == 500
    assert intervals.how_many(10**9, 2, True) == 200
    assert intervals.how_many(100_000, 20, True) == 200


def test_many_classes_are_ranked_in_blocks_and_the_blocks_draw_the_same_rows(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, 300)
    p = rng.dirichlet(np.ones(7), 300)
    whole = all_numbers(evaluate(p, y=y))
    monkeypatch.setattr(intervals, "_SCORES", 3)
    assert all_numbers(evaluate(p, y=y)) == whole


def test_the_display_has_four_panels_and_of_labels_one():
    from matplotlib.figure import Figure

    model, rest, y = model_and_rest()
    shown = EvaluationDisplay.from_estimator(model, rest, y)
    assert [ax.get_title() for ax in shown.axes_] == [
        "confusion matrix (colour: share of the true class)",
        "ROC, macro area 0.996",
        "precision and recall, macro area 0.993",
        "reliability, ECE 0.032",
    ]
    assert shown.figure_ is shown.axes_[0].figure
    given = Figure().subplots(2, 2)
    p = model.predict_proba(rest)
    again = EvaluationDisplay.from_predictions(y, p, classes=model.classes_, axes=given)
    assert again.axes_[3] is given[1, 1]
    labels = EvaluationDisplay.from_predictions(y, model.predict(rest))
    assert len(labels.axes_) == 1
    with pytest.raises(InputError, match="4 axes are needed"):
        EvaluationDisplay.from_predictions(y, p, classes=model.classes_, axes=given[0])


def test_the_curves_of_the_display_end_where_they_should():
    table = diabetes()
    model = ing.NaiveBayes().fit(table.slice(0, 300), "progression")
    shown = EvaluationDisplay.from_estimator(model, table.slice(300), "progression")
    (curve,) = [line for line in shown.axes_[1].lines if line.get_label().startswith("slow")]
    x, y = curve.get_xdata(), curve.get_ydata()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    area = np.trapezoid(y, x)
    assert area == pytest.approx(shown.evaluation["roc_area"].value, abs=1e-9)


@pytest.mark.parametrize("n_classes", [1, 2, 25])
def test_the_display_draws_few_rows_and_many_classes(n_classes):
    p = np.full((3, n_classes), 1 / n_classes)
    shown = EvaluationDisplay.from_predictions([0, 0, 0], p, classes=range(n_classes))
    shown.figure_.canvas.draw()
    assert len(shown.axes_) == 4


def test_labels_of_another_type_are_refused() -> None:
    with pytest.raises(InputError, match="are of different types, so nothing can be right"):
        evaluate([[0.9, 0.1], [0.2, 0.8]], y=[0, 1], classes=["no", "yes"])


def test_a_measure_of_classes_says_how_to_ask() -> None:
    with pytest.raises(InputError, match=r"ask for \['f1', 'a'\], \['f1_macro'\]"):
        evaluate(["a", "b"], y=["a", "b"])["f1"]


def test_an_interval_holds_its_value() -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        p = rng.dirichlet([2, 2], 80)
        y = np.where(rng.random(80) < p[:, 1], "b", "a")
        ece = evaluate(p, y=y, classes=["a", "b"], random_state=seed)["ece"]
        assert ece.low is not None
        assert ece.high is not None
        assert ece.low <= ece.value <= ece.high
