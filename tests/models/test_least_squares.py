"""Least squares on one-hot targets: normal equations that are sums, a Brier score, and masking."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import ingenuo as ing
from ingenuo.errors import ForgetError, InputError, KindError, RefusedError
from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier
from ingenuo.show.plots import curves

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def three_in_a_row(n=100, dimensions=1, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(scale=0.7, size=(3 * n, dimensions)) + np.repeat([0.0, 4.0, 8.0], n)[:, np.newaxis]
    return rows, np.repeat(["left", "middle", "right"], n)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_the_middle_of_three_classes_in_a_row_is_masked(dimensions):
    rows, labels = three_in_a_row(dimensions=dimensions)
    masked = LeastSquaresClassifier().fit(rows, labels)
    assert (masked.predict(rows) == "middle").mean() < (0.001 if dimensions == 1 else 0.1)
    assert masked.score(rows, labels) == pytest.approx(2 / 3, abs=0.05)
    assert GaussianDiscriminant().fit(rows, labels).score(rows, labels) > 0.98


def test_a_squared_column_unmasks_the_middle():
    rows, labels = three_in_a_row()
    wider = np.column_stack([rows, rows**2])
    assert LeastSquaresClassifier().fit(wider, labels).score(wider, labels) > 0.95


def test_of_two_classes_least_squares_has_the_direction_of_the_discriminant():
    rows, labels = X[50:], Y[50:]
    least, discriminant = LeastSquaresClassifier().fit(rows, labels), GaussianDiscriminant().fit(rows, labels)
    w, v = least.coef_[1], discriminant.coef_[0]
    assert w @ v / np.sqrt((w @ w) * (v @ v)) == pytest.approx(1.0, abs=1e-12)


def test_the_lines_of_any_row_sum_to_one():
    rows = np.vstack([X, X[:5] * 1e3])
    values = LeastSquaresClassifier(l2=3).fit(X, Y).decision_function(rows)
    np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-9)
    assert values.min() < 0


def test_probabilities_are_the_lines_cut_at_zero():
    model = LeastSquaresClassifier().fit(X, Y)
    cut = np.maximum(X @ model.coef_.T + model.intercept_, 0)
    np.testing.assert_allclose(model.predict_proba(X), cut / cut.sum(axis=1, keepdims=True), atol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    np.testing.assert_array_equal(model.predict(X), cut.argmax(axis=1))


def test_the_decision_of_two_classes_is_one_number():
    model = LeastSquaresClassifier().fit(X[50:], NAMES[50:])
    values = model.decision_function(X[50:])
    assert values.shape == (100,)
    np.testing.assert_allclose(values, 2 * (X[50:] @ model.coef_[1] + model.intercept_[1]) - 1, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X[50:]) == "virginica", values > 0)


def test_the_training_brier_score_comes_from_the_tally_alone():
    model = LeastSquaresClassifier(l2=0.7).partial_fit(X[:80], Y[:80]).partial_fit(X[80:], Y[80:])
    model.forget(X[10:20], Y[10:20])
    rows, labels = np.delete(X, slice(10, 20), 0), np.delete(Y, slice(10, 20))
    values = rows @ model.coef_.T + model.intercept_
    brier = ((values - np.eye(3)[labels]) ** 2).sum(axis=1).mean()
    assert model.brier_ == pytest.approx(brier, rel=1e-10)
    assert model.brier_score(rows, labels) == pytest.approx(brier, rel=1e-10)
    assert model.brier_score(X[:2], [0, 99]) == pytest.approx(
        ((values[:2] - [[1, 0, 0], [0, 0, 0]]) ** 2).sum() / 2 + 0.5, rel=1e-10
    )
    weighted = model.brier_score(X[[0, 0, 70]], Y[[0, 0, 70]])
    assert model.brier_score(X[[0, 70]], Y[[0, 70]], sample_weight=[2, 1]) == pytest.approx(weighted)


def test_no_lines_have_a_smaller_brier_score():
    model = LeastSquaresClassifier().fit(X, Y)
    rng = np.random.default_rng(0)
    targets = np.eye(3)[Y]
    for _ in range(20):
        coefficients = model.coef_ + 0.01 * rng.normal(size=(3, 4))
        values = X @ coefficients.T + model.intercept_
        assert ((values - targets) ** 2).sum(axis=1).mean() > model.brier_


def test_parts_merged_and_forgotten_are_the_whole():
    whole = LeastSquaresClassifier().fit(X, NAMES)
    merged = LeastSquaresClassifier().fit(X[::2], NAMES[::2]) + LeastSquaresClassifier().fit(X[1::2], NAMES[1::2])
    np.testing.assert_allclose(merged.coef_, whole.coef_, atol=1e-13)
    rest = merged.forget(X[:50], NAMES[:50])
    assert rest.classes_.tolist() == ["versicolor", "virginica"]
    np.testing.assert_allclose(rest.coef_, LeastSquaresClassifier().fit(X[50:], NAMES[50:]).coef_, atol=1e-12)
    with pytest.raises(ForgetError):
        rest.forget(X[:1], NAMES[:1])


def test_a_missing_value_leaves_least_squares_on_the_other_columns():
    model = LeastSquaresClassifier(l2=0.3).fit(X, NAMES)
    fewer = LeastSquaresClassifier(l2=0.3).fit(X[:, [0, 3]], NAMES)
    rows = X[::10].copy()
    rows[:, [1, 2]] = np.nan
    np.testing.assert_allclose(model.decision_function(rows), fewer.decision_function(X[::10][:, [0, 3]]), atol=1e-12)
    nothing = model.predict_proba(np.full((1, 4), np.nan))
    np.testing.assert_allclose(nothing, 1 / 3)


@pytest.mark.parametrize("row", [X[70], [5.0, np.nan, 4.0, np.nan]])
def test_an_explanation_adds_up(row):
    model = LeastSquaresClassifier().fit(pd.DataFrame(X, columns=list("abcd")), NAMES)
    said = model.explain(dict(zip("abcd", row)))
    for k in range(3):
        total = said.prior.terms[k].value + sum(each.terms[k].value for each in said.factors if each.terms)
        assert total == pytest.approx(said.joint[k], rel=1e-9, abs=1e-12)
    told = said.to_dict()
    assert told["prediction"] == said.prediction
    assert sum(told["probability"].values()) == pytest.approx(1)
    assert len(told["addends"]) == 4
    assert f"→ {said.prediction}" in str(said)
    assert "colspan" in said._repr_html_() or not np.isnan(row).any()


def test_a_file_holds_all_that_was_learned(tmp_path):
    model = LeastSquaresClassifier(l2=2.0).fit(X, NAMES)
    ing.save(model, tmp_path / "model")
    again = ing.load(tmp_path / "model")
    assert again.tally_ == model.tally_
    assert again.l2 == 2.0
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_singular_equations_are_said_and_a_penalty_mends_them():
    rows = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(150)])
    model = LeastSquaresClassifier().fit(rows, Y)
    with pytest.warns(UserWarning, match="columns 'x4', 'x5' are constant or follow"):
        found = model.predict_proba(rows)
    np.testing.assert_allclose(found, LeastSquaresClassifier().fit(X, Y).predict_proba(X), atol=1e-9)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(l2=1e-3).predict(rows)


def test_what_it_cannot_do_is_said():
    model = LeastSquaresClassifier().fit(X, Y)
    assert not hasattr(model, "sample")
    with pytest.raises(RefusedError, match=r"cannot sample.*GaussianDiscriminant"):
        model.sample(3)
    with pytest.raises(RefusedError, match="no joint probabilities"):
        model.predict_joint_log_proba(X)


@pytest.mark.parametrize(
    ("l2", "kind"), [(-1, InputError), (float("nan"), InputError), ("1", KindError), (True, KindError)]
)
def test_a_penalty_that_makes_no_sense_is_refused(l2, kind):
    with pytest.raises(kind, match=r"l2 .*must be"):
        LeastSquaresClassifier(l2=l2).fit(X, Y)


def test_columns_that_are_no_numbers_are_named():
    with pytest.raises(InputError, match=r"column 'b' is no number .* LeastSquaresClassifier needs numbers"):
        LeastSquaresClassifier().fit(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [0, 1])
    with pytest.raises(InputError, match="column 'x0', row 1"):
        LeastSquaresClassifier().fit(X, Y).predict([[1, 2, 3, 4], [np.inf, 1, 2, 3]])


def test_rows_beyond_all_reason_are_still_answered():
    model = LeastSquaresClassifier().fit(X, Y)
    found = model.predict_proba([[1e308, -1e308, 1e308, 1e308]])
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(1)


def test_the_picture_of_masking_shows_the_middle_class_nowhere_on_top():
    rows, labels = three_in_a_row()
    masked, sound = LeastSquaresClassifier().fit(rows, labels), GaussianDiscriminant().fit(rows, labels)
    functions = {"least squares": masked.decision_function, "discriminant": sound.predict_proba}
    axes = curves(functions, rows, labels, masked.classes_, name="x", labels={"least squares": "f(x)"})
    assert [ax.get_title() for ax in axes] == ["least squares", "discriminant"]
    assert [ax.get_ylabel() for ax in axes] == ["f(x)", "P(class | x)"]
    tops = []
    for ax in axes:
        lines = {
            line.get_label(): line.get_ydata()
            for line in ax.lines
            if line.get_label() in functions or len(line.get_xdata()) == 400
        }
        values = np.stack([lines[name] for name in ("left", "middle", "right")])
        tops.append((values.argmax(axis=0) == 1).mean())
    assert tops[0] < 0.01
    assert tops[1] > 0.2
    axes[0].figure.canvas.draw()


def test_regions_of_least_squares_are_drawn():
    ax = LeastSquaresClassifier().fit(X[:, :2], NAMES).plot(X[:, :2], NAMES)
    assert len(ax.patches) == 0
    assert LeastSquaresClassifier().fit(X, NAMES).plot().get_ylabel() == "x1"
