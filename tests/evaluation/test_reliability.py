"""Reliability: bins, gaps and the parts of the Brier score, against definitions, scikit-learn and themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.metrics import brier_score_loss
from sklearn.naive_bayes import GaussianNB

from ingenuo.errors import InputError, KindError, MergeError, RefusedError
from ingenuo.evaluation.evaluation import EvaluationDisplay, evaluate
from ingenuo.evaluation.reliability import ReliabilityDisplay, reliability


def answers(n: int = 500, k: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    return p, np.array(list("abcdefgh"))[rng.integers(0, k, n)]


forecasts = st.lists(
    st.tuples(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0])), st.booleans(), st.floats(0.1, 9)),
    min_size=1,
    max_size=40,
)


@given(forecasts, st.integers(1, 15), st.sampled_from(["width", "mass"]), st.booleans())
@settings(max_examples=200, deadline=None)
def test_parts_of_the_brier_score_add_up(rows: list[Any], bins: int, strategy: str, weighted: bool) -> None:
    p, e, w = (np.array(column, float) for column in zip(*rows))
    found = reliability(
        np.column_stack([1 - p, p]),
        y=e.astype(int),
        classes=[0, 1],
        class_=1,
        bins=bins,
        strategy=strategy,
        sample_weight=w if weighted else None,
    ).brier
    parts = found.reliability - found.resolution + found.uncertainty + found.variance - found.covariance
    assert parts == pytest.approx(found.score, abs=1e-12)
    expected = np.average((p - e) ** 2, weights=w if weighted else None)
    assert found.score == pytest.approx(expected, abs=1e-12)


def test_brier_score_is_scikit_learns() -> None:
    p, y = answers(k=2)
    found = reliability(p, y=y, class_="b")
    assert found.brier.score == pytest.approx(brier_score_loss(y == "b", p[:, 1]), abs=1e-14)


def test_brier_scores_of_the_classes_add_to_that_of_all() -> None:
    p, y = answers()
    whole = float(evaluate(p, y=y)["brier"])
    assert sum(one.brier.score for one in reliability(p, y=y).per_class().values()) == pytest.approx(whole, abs=1e-12)


def test_ece_is_that_of_evaluate() -> None:
    p, y = answers()
    assert reliability(p, y=y).ece == pytest.approx(float(evaluate(p, y=y)["ece"]), abs=1e-15)


@pytest.mark.parametrize(("strategy", "theirs"), [("width", "uniform"), ("mass", "quantile")])
def test_bins_are_those_of_scikit_learn(strategy: str, theirs: str) -> None:
    p, y = answers(1000, 2)
    share, forecast = calibration_curve(y == "b", p[:, 1], n_bins=10, strategy=theirs)
    found = reliability(p, y=y, class_="b", strategy=strategy)
    # Theirs of equal mass are cut between two rows; a row may stand on the other side.
    within = 1e-12 if strategy == "width" else 0.02
    np.testing.assert_allclose(found.forecast, forecast, atol=within)
    np.testing.assert_allclose(found.share, share, atol=within)


def test_a_probability_on_an_edge_is_in_the_bin_below() -> None:
    p = np.array([0.0, 0.1, 0.2, 0.3, 0.7, 1.0])
    found = reliability(np.column_stack([1 - p, p]), y=[0, 0, 0, 1, 1, 1], class_=1)
    assert found.rows.tolist() == [2, 1, 1, 0, 0, 0, 1, 0, 0, 1]


def test_bins_of_equal_mass_have_equally_many_rows() -> None:
    p, y = answers(1000, 2)
    found = reliability(p, y=y, class_="a", strategy="mass", bins=8)
    assert found.rows.tolist() == [125] * 8
    same = reliability([[0.5, 0.5]] * 20, y=["a", "b"] * 10, strategy="mass")
    assert same.rows.sum() == 20
    assert same.ece == 0


def test_intervals_are_exact_and_refused_where_there_is_no_row() -> None:
    p, y = answers(60, 2)
    found = reliability(p, y=y, confidence=0.9)
    for k, (low, high) in enumerate(found.intervals):
        if found.rows[k] == 0:
            assert np.isnan([low, high]).all()
            continue
        hits = round(found.share[k] * found.rows[k])
        theirs = binomtest(hits, int(found.rows[k])).proportion_ci(0.9, "exact")
        assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    weighted = reliability(p, y=y, sample_weight=np.full(60, 0.5))
    assert np.isnan(weighted.intervals).all()
    assert "no intervals" in str(weighted)


@pytest.mark.parametrize("strategy", ["width", "mass"])
def test_two_halves_add_to_the_whole(strategy: str) -> None:
    p, y = answers(301)
    whole = reliability(p, y=y, strategy=strategy)
    first, second = (
        reliability(p[part], y=y[part], classes=list("abc"), strategy=strategy) for part in (slice(99), slice(99, None))
    )
    for both in (first + second, second + first):
        assert both.ece == whole.ece
        assert both.brier == whole.brier
        assert both.table().equals(whole.table())
    assert str(first + second) == str(whole)


def test_reliabilities_that_were_asked_for_differently_do_not_add() -> None:
    p, y = answers()
    with pytest.raises(MergeError, match="bins is 10 here and 5 there"):
        reliability(p, y=y) + reliability(p, y=y, bins=5)


def test_weights_are_rows_that_are_repeated() -> None:
    p, y = answers(100)
    times = np.arange(100) % 3
    repeated = reliability(np.repeat(p, times, axis=0), y=np.repeat(y, times))
    weighted = reliability(p, y=y, sample_weight=times)
    assert weighted.ece == pytest.approx(repeated.ece, abs=1e-14)
    assert weighted.class_wise_ece == pytest.approx(repeated.class_wise_ece, abs=1e-14)
    assert weighted.brier.score == pytest.approx(repeated.brier.score, abs=1e-14)


def test_class_wise_error_is_the_mean_over_the_classes() -> None:
    p, y = answers()
    found = reliability(p, y=y)
    assert found.class_wise_ece == pytest.approx(np.mean([one.ece for one in found.per_class().values()]))


def of_event(p: Any, event: Any) -> Any:
    p = np.asarray(p)
    return reliability(np.column_stack([1 - p, p]), y=np.asarray(event).astype(int), classes=[0, 1], class_=1)


def test_the_error_by_hand() -> None:
    # Two bins: 0.9 three times with two right, 0.6 once and right: ¾ · |2/3 - 0.9| + ¼ · |1 - 0.6|.
    found = of_event([0.9, 0.9, 0.9, 0.6], [1, 1, 0, 1])
    assert found.ece == pytest.approx(0.75 * (0.9 - 2 / 3) + 0.25 * 0.4)
    assert found.mce == pytest.approx(0.4)


def test_honest_probabilities_have_a_small_error_and_sure_ones_a_large_one() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    e = rng.random(20_000) < p
    assert of_event(p, e).ece < 0.015
    assert of_event(p**5 / (p**5 + (1 - p) ** 5), e).ece > 0.1


def test_a_model_and_its_probabilities_are_the_same() -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    asked = reliability(model, X[1::2], y[1::2])
    assert str(asked) == str(reliability(model.predict_proba(X[1::2]), y=y[1::2]))
    assert asked.rows.sum() == 75


def test_one_row_and_one_class() -> None:
    one = reliability([[0.7, 0.3]], y=["a"], classes=["a", "b"])
    assert one.ece == pytest.approx(0.3)
    assert one.brier.uncertainty == 0
    alone = reliability([[1.0]] * 3, y=["a"] * 3)
    assert alone.ece == alone.mce == alone.brier.score == 0


def test_tables_and_pictures_show_the_bins() -> None:
    p, y = answers()
    y = y.astype(object)
    y[0] = "<b>"
    found = reliability(p, y=y, classes=["a", "b", "c"], class_="<b>")
    assert "&lt;b&gt;" in found._repr_html_()
    assert "that the model does not know" in str(found)
    assert found.table().column_names == ["from", "to", "rows", "forecast", "share", "low", "high"]
    assert found.table()["share"].null_count == int((found.rows == 0).sum())
    display = ReliabilityDisplay.from_predictions(y, p, classes=["a", "b", "c"], bins=5)
    display.figure_.canvas.draw()
    (beneath,) = [ax for ax in display.figure_.axes if ax is not display.ax_]
    assert [len(bars) for bars in beneath.containers] == [5]
    X, labels = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, labels)
    assert ReliabilityDisplay.from_estimator(model, X, labels, class_=1, ax=display.ax_).ax_ is display.ax_


def test_bad_questions_are_refused() -> None:
    p, y = answers()
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"bins": 0}, InputError, "bins is 0"),
        ({"bins": 2.5}, KindError, "whole number"),
        ({"strategy": "mas"}, InputError, "did you mean 'mass'"),
        ({"class_": "z"}, InputError, "class_='z' is not known"),
        ({"confidence": 1.0}, InputError, "between 0 and 1"),
        ({"confidence": "high"}, KindError, "between 0 and 1"),
    ]
    for options, kind, said in cases:
        with pytest.raises(kind, match=said):
            reliability(p, y=y, **options)
    with pytest.raises(RefusedError, match="labels only"):
        reliability(y, y=y)
    with pytest.raises(InputError, match="sum to"):
        reliability(p * 2, y=y)


def test_displays_take_a_name():
    answers, truth = [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]], ["no", "no", "yes"]
    drawn = EvaluationDisplay.from_predictions(truth, answers, classes=["no", "yes"], name="Bayes")
    assert all(ax.get_title().startswith("Bayes: ") for ax in drawn.axes_)
    one = ReliabilityDisplay.from_predictions(truth, answers, name="one")
    two = ReliabilityDisplay.from_predictions(truth, answers, name="two", ax=one.ax_)
    assert [text.get_text() for text in two.ax_.get_legend().get_texts()] == ["one", "two"]
    first, second = two.ax_.containers
    assert first.lines[0].get_color() != second.lines[0].get_color()
    assert ReliabilityDisplay.from_predictions(truth, answers).ax_.get_legend() is None
