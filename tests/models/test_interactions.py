"""Softmax regression whose penalty and products are chosen by rows that it has not learned."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_softmax
from sklearn.datasets import load_iris

import ingenuo as ing
from ingenuo import store
from ingenuo.errors import InputError, KindError, ModelFileError
from ingenuo.kernels import counts
from ingenuo.models.folds import FLOOR, stratified_folds
from ingenuo.models.interactions import MOST, MOST_WEIGHTS, TABLE, TEXT_PATH, screen
from ingenuo.tally import container

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)


def mixed(n: int = 240) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Numbers, categories with missing values and a text; the class is the exclusive or of two of them."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "height": rng.normal(170, 10, n),
            "weight": rng.normal(70, 8, n),
            "home": rng.choice(["own", "rent", "other"], n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    y = np.where((frame["height"] > 170) ^ (frame["sex"] == "m"), "yes", "no")
    y[rng.random(n) < 0.05] = "yes"
    frame.loc[::17, "height"] = np.nan
    frame.loc[::13, "home"] = None
    return frame, y


@cache
def fitted(name: str) -> tuple[Any, Any, Any]:
    frame, y = mixed()
    if name == "text":
        frame = frame.assign(said=["good day" if label == "yes" else "bad luck" for label in np.roll(y, 1)])
    given: dict[str, Any] = {"numbers": (X, Y), "two": (X[50:], Y[50:])}
    rows, labels = given.get(name, (frame, y))
    columns = {"said": "text"} if name == "text" else None
    return ing.SoftmaxRegression(columns, l2="auto", interactions="auto").fit(rows, labels), rows, labels


NAMES = ["numbers", "two", "mixed", "text"]


def design(model: Any, rows: Any) -> NDArray[Any]:
    """The features of a model of a table, products and all."""
    table = model._groups[TABLE]
    found, n = model._rows(rows)
    A = table.matrix(found, n)
    return np.hstack([A, A[:, table.left] * A[:, table.right]])


@pytest.mark.parametrize("name", ["numbers", "two", "mixed"])
@pytest.mark.parametrize("interactions", [None, "auto"])
def test_the_weights_are_at_the_minimum(name: str, interactions: str | None) -> None:
    _, rows, y = fitted(name)
    model = ing.SoftmaxRegression(l2="auto", interactions=interactions, tolerance=1e-8).fit(rows, y)
    table: Any = model._groups[TABLE]
    A = design(model, rows)
    number = table.design.is_number
    both = np.concatenate([np.zeros(len(number), bool), number[table.left] & number[table.right]])
    scales = np.where(both, A.std(axis=0), 1.0)  # the penalty is on weights of products that are measured so
    Z = (model.decision_function(rows) / model.temperature_).reshape(len(A), -1)
    Z = np.hstack([np.zeros_like(Z), Z]) if Z.shape[1] == 1 else Z
    one_hot = np.eye(Z.shape[1])[np.unique(y, return_inverse=True)[1]]
    residuals = (np.exp(log_softmax(Z, axis=1)) - one_hot)[:, -len(model.coef_) :]
    own = model.coef_.T / model.temperature_ * scales[:, np.newaxis]
    gradient = (A / scales).T @ residuals + model.l2_ * own
    loss = -(log_softmax(Z, axis=1) * one_hot).sum() + model.l2_ / 2 * (own**2).sum()
    assert model.converged_
    assert model.loss_ == pytest.approx(loss, rel=1e-7)
    assert np.square(gradient).sum() / (2 * model.l2_) <= 1e-3 * loss
    assert np.abs(residuals.sum(axis=0)).max() < 1e-2
    assert (np.diff(model.losses_) < 0).all()


def test_a_row_has_no_part_in_what_is_said_of_it_when_left_out() -> None:
    """Another class for a row, and other values, change its fold's models nowhere."""
    frame, y = mixed(150)
    folds = stratified_folds(np.unique(y, return_inverse=True)[1], 5)
    row = 7
    other, labels = frame.copy(), y.copy()
    labels[row] = "no" if y[row] == "yes" else "yes"
    model = ing.SoftmaxRegression(l2=1.0, interactions="auto")  # with a penalty that is given, nothing is shared
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ingenuo.models.solver.Problem.best_lengths", lambda *_: np.ones(1))  # nor with this temperature
        one = model._fit_with_folds(frame, y, None, folds)
        two = model._fit_with_folds(other, labels, None, folds)
    same = folds == folds[row]
    np.testing.assert_array_equal(one[same], two[same])
    assert np.abs(one[~same] - two[~same]).max() > 1e-3


def test_products_of_noise_do_not_beat_chance_on_left_out_rows() -> None:
    rng = np.random.default_rng(3)
    noise, y = rng.normal(size=(150, 40)), np.repeat([0, 1], 75)
    logs = ing.SoftmaxRegression(l2="auto", interactions="auto")._fit_with_folds(noise, y, None, stratified_folds(y, 5))
    assert -logs[np.arange(150), y].mean() > np.log(2) - 0.01


def test_the_products_that_matter_are_found() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 12))
    y = (rows[:, 3] * rows[:, 8] > 0).astype(int)
    linear, quadratic = ing.SoftmaxRegression(l2="auto"), ing.SoftmaxRegression(l2="auto", interactions="auto")
    folds = stratified_folds(y, 5)
    one, two = quadratic._fit_both_with_folds(linear, rows, y, None, folds)
    at = np.arange(len(y)), y
    assert -one[at].mean() > 0.66
    assert -two[at].mean() < 0.4
    weights = dict(zip(quadratic.features(), np.abs(quadratic.coef_[0])))
    assert max(weights, key=lambda name: weights[name]) == "x3 × x8"
    assert linear.features() == [f"x{j}" for j in range(12)]


def test_pairs_of_values_are_found_too() -> None:
    frame, y = mixed()
    model = ing.SoftmaxRegression(l2="auto", interactions="auto").fit(frame, y)
    assert model.score(frame, y) > 0.9 > ing.SoftmaxRegression(l2="auto").fit(frame, y).score(frame, y)
    names = model.features()
    assert "height × sex=m" in names or "height × sex=f" in names
    assert "height²" in names
    assert not any("home=own × home" in name for name in names)


def test_both_at_once_are_what_each_is_alone() -> None:
    linear, quadratic = ing.SoftmaxRegression(l2="auto"), ing.SoftmaxRegression(l2="auto", interactions="auto")
    folds = stratified_folds(Y, 5)
    both = quadratic._fit_both_with_folds(linear, X, Y, None, folds)
    for model, logs in zip((linear, quadratic), both):
        alone = ing.SoftmaxRegression(l2="auto", interactions=model.interactions)
        np.testing.assert_array_equal(alone._fit_with_folds(X, Y, None, folds), logs)
        np.testing.assert_array_equal(alone.coef_, model.coef_)
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1, atol=1e-4)
        assert alone.temperature_ == model.temperature_ != 1
        assert not alone._is_tally


def test_the_score_is_the_gain_that_a_product_promises() -> None:
    """Σ_c cov(ab, r_c)² / var(ab), by its definition."""
    A, R = RNG.normal(size=(80, 4)), RNG.normal(size=(80, 3))
    weights = RNG.random(80)
    owner, number = np.array([0, 1, 1, 2]), np.array([True, False, False, True])
    left, right = screen(A, np.ones((4, 3)), R * weights[:, None], owner, number, weights, 100)
    share = weights / weights.sum()

    def score(i: int, j: int) -> float:
        ab = A[:, i] * A[:, j]
        centred = ab - share @ ab
        return float(sum((share @ (centred * R[:, c])) ** 2 for c in range(3)) / (share @ centred**2))

    wanted = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (3, 3)]
    assert [*zip(left.tolist(), right.tolist())] == sorted(wanted, key=lambda pair: -score(*pair))


def test_many_classes_have_fewer_products() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(240) % 40
    rows = rng.normal(size=(240, 25)) + y[:, None] * rng.normal(size=25)
    model = ing.SoftmaxRegression(l2=10.0, interactions="auto").fit(rows, y)
    assert len(model.features()) == 25 + MOST_WEIGHTS // 40 < 25 + MOST


@pytest.mark.parametrize("name", NAMES)
def test_the_factors_of_an_explanation_multiply_to_the_answer(name: str) -> None:
    model, rows, _ = fitted(name)
    for at in (0, 17, 26):
        row = rows[at] if isinstance(rows, np.ndarray) else rows.iloc[at].to_dict()
        found = model.explain(row)
        terms = [[term.log for term in each.terms] for each in (found.prior, *found.factors) if each.terms]
        np.testing.assert_allclose(np.sum(terms, axis=0), found.joint, atol=1e-9)
        wanted = model.predict_proba(rows[at : at + 1])[0]
        np.testing.assert_allclose(found.posterior, wanted, atol=1e-12)
    shown = str(model.explain(row))
    assert " × " in shown


def test_coefficients_and_intercepts_are_the_logits() -> None:
    for name in ("numbers", "two", "mixed"):
        model, rows, _ = fitted(name)
        assert model.coef_.shape == (len(model.intercept_), len(model.features()))
        logits = design(model, rows) @ model.coef_.T + model.intercept_
        found = model.decision_function(rows).reshape(len(logits), -1)
        if logits.shape[1] > 1:  # what all classes have in common says nothing
            logits, found = (each - each.mean(axis=1, keepdims=True) for each in (logits, found))
        np.testing.assert_allclose(logits, found, atol=1e-9)
        assert model.n_parameters_ == (len(model.classes_) - 1) * (len(model.features()) + 1)


@pytest.mark.parametrize("interactions", [None, "auto"])
def test_a_weight_is_as_many_rows(interactions: str | None) -> None:
    frame, y = mixed(160)
    times = np.random.default_rng(2).integers(0, 3, len(y))
    folds = stratified_folds(np.unique(y, return_inverse=True)[1], 5)
    again = np.repeat(np.arange(len(y)), times)
    one, two = (ing.SoftmaxRegression(l2="auto", interactions=interactions, tolerance=1e-9) for _ in range(2))
    logs = one._fit_with_folds(frame, y, times.astype(float), folds)
    repeated = two._fit_with_folds(frame.iloc[again].reset_index(drop=True), y[again], None, folds[again])
    assert one.l2_ == two.l2_
    assert one.features()[:8] == two.features()[:8]
    np.testing.assert_allclose(logs[again], repeated, atol=0.05)
    np.testing.assert_allclose(one.predict_proba(frame), two.predict_proba(frame), atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_comes_back_whole(name: str) -> None:
    model, rows, _ = fitted(name)
    again = store.from_bytes(store.to_bytes(model))
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert again.features() == model.features()
    assert (again.l2_, again.temperature_, repr(again)) == (model.l2_, model.temperature_, repr(model))


def test_forged_products_are_refused() -> None:
    manifest, tensors = container.from_bytes(store.to_bytes(fitted("numbers")[0]), "it")
    for name in ("left", "right"):
        forged = np.array(tensors[f"besides/design/{name}"])
        forged[0] = 99
        with pytest.raises(ModelFileError, match="products"):
            store.from_bytes(container.to_bytes(manifest, {**tensors, f"besides/design/{name}": forged}))


@pytest.mark.parametrize("weighting", [None, "naive-bayes"])
def test_the_penalty_of_words_is_chosen_by_left_out_texts(weighting: str | None) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["good", "bad"], 60)
    own = {"good": ["fine", "lovely", "warm"], "bad": ["dull", "cold", "grey"]}
    texts = [" ".join([*rng.choice(list("abcdefgh"), 6), *rng.choice(own[c], 2), rng.choice(own["bad"])]) for c in y]
    model = ing.SoftmaxRegression(l2="auto", weighting=weighting)
    logs = model._fit_with_folds(texts, y, None, stratified_folds((y == "good").astype(int), 5))
    loss = -logs[np.arange(len(y)), (y == "good").astype(int)].mean()
    assert loss < 0.25
    assert np.isclose(2 * model.l2_, TEXT_PATH).any()  # of two classes one line has all the weights
    assert "fine" in model.features()
    both = ing.SoftmaxRegression(l2="auto", interactions="auto", weighting=weighting).fit(texts, y)
    alone = ing.SoftmaxRegression(l2="auto", weighting=weighting).fit(texts, y)
    np.testing.assert_array_equal(both.predict_proba(texts), alone.predict_proba(texts))  # words have no products


def test_sparse_counts_and_few_rows() -> None:
    words = sparse.csr_matrix(RNG.poisson(0.3, (60, 600)))
    y = np.arange(60) % 3
    assert ing.SoftmaxRegression(l2="auto").fit(words, y).predict_proba(words).shape == (60, 3)
    for n in (2, 3, 5, 14):
        rows = np.arange(2.0 * n).reshape(n, 2)
        model = ing.SoftmaxRegression(l2="auto", interactions="auto").fit(rows, np.arange(n) % 2)
        assert np.isfinite(model.predict_proba(rows)).all()
    constant = ing.SoftmaxRegression(l2="auto", interactions="auto").fit(np.ones((6, 2)), [0, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(constant.predict_proba(np.ones((1, 2)))[0, 1], 1 / 3, atol=0.1)


def test_a_class_that_a_fold_has_alone_gets_the_floor() -> None:
    y = np.where(np.arange(150) == 3, 2, Y % 2)
    folds = np.arange(150) % 5
    logs = ing.SoftmaxRegression(l2="auto")._fit_with_folds(X, y, None, folds)
    assert np.isfinite(logs).all()
    assert logs.min() >= np.log(FLOOR) * 6


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"l2": "x"}, KindError, "l2 must be a number, got str 'x'"),
        ({"interactions": "all"}, InputError, "interactions='all' is not known"),
        ({"interactions": 3}, KindError, "interactions must be one of auto, got int 3"),
        ({"l2": "auto", "solver": "gradient-descent"}, InputError, "take solver='newton'"),
    ],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(given: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        ing.SoftmaxRegression(**given).fit(X, Y)


def test_regions_and_losses_are_drawn() -> None:
    model = ing.SoftmaxRegression(l2="auto", interactions="auto").fit(X[:, 2:], Y)
    assert model.plot(X[:, 2:], Y) is not None
    assert len(model.plot_losses().lines[0].get_ydata()) == len(model.losses_)
    assert "×" in model.discriminant(1, 0)


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_a_sparse_table_has_the_minimum_of_a_dense_one(classes: int, precision: Any, monkeypatch: Any) -> None:
    rng = np.random.default_rng(0)
    table = np.where(rng.random((203, 21)) < 0.2, rng.normal(size=(203, 21)), 0).astype(precision)
    y, width = rng.integers(0, classes, 203).astype(np.int32), 1 if classes == 2 else classes
    found = []
    for share in (0.0, 1.0):
        monkeypatch.setattr(counts, "_DENSE", share)
        ridge = counts.Ridge(table, y, np.zeros(0), width)
        _, losses, excess, converged = ridge.search(0.5, 1e-4, 1000)
        assert converged
        assert excess <= 1e-4 * losses[-1]
        found.append(np.vstack([ridge.weights, ridge.intercepts]))
        np.testing.assert_allclose(table @ ridge.weights + ridge.intercepts, ridge.logits, atol=1e-4)
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)
