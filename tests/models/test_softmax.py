"""Softmax regression: how the minimum is found, when it stops, what it says of a row, and what it refuses."""

from __future__ import annotations

import copy
import pickle
import warnings
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests import real_texts

from ingenuo.errors import InputError, KindError, RefusedError
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.store import from_bytes, to_bytes
from ingenuo.tally.labels import labels_of
from ingenuo.text.words import Words

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])

REVIEWS = [
    "a fine film", "fine music and a fine cast", "the best film of the year", "I loved it", "good, very good",
    "a dull film", "dull, dull, dull", "the worst film of the year", "I hated it", "not good at all", "", "so so",
]  # fmt: skip
VERDICTS = ["good"] * 5 + ["bad"] * 5 + ["good", "bad"]

MIXED = pd.DataFrame(
    {
        "age": [31.0, 45.0, np.nan, 22.0, 61.0, 38.0, 50.0, 27.0, 33.0],
        "home": ["own", "rent", "rent", None, "own", "own", "rent", "with parents", "rent"],
        "said": [
            "yes please", "no", "not now, maybe later", "yes", None, "certainly, yes", "no thanks", "maybe", "never",
        ],
        "rooms": [4, 2, 3, 1, 5, 4, 2, 1, 2],
        "answer": ["yes", "no", "maybe", "yes", "no", "yes", "no", "maybe", "no"],
    }
)  # fmt: skip
KINDS = {"said": "text"}


def mixed(**settings):
    return SoftmaxRegression({"said": "text"}, **settings).fit(MIXED, "answer")


# Rows of every kind.

ROWS = {
    "numbers": (X, Y, {}),
    "two classes of numbers": (X[:100], Y[:100], {}),
    "counts": (sparse.csr_matrix(np.rint(X)), Y, {}),
    "weighted counts": (sparse.csr_matrix(np.rint(X)), Y, {"weighting": "naive-bayes"}),
    "text": (REVIEWS, VERDICTS, {}),
    "weighted text": (REVIEWS, VERDICTS, {"weighting": "naive-bayes", "text": Words(ngrams=(1, 2), binary=True)}),
    "mixed": (MIXED, "answer", {"columns": KINDS}),
    "weighted mixed": (MIXED, "answer", {"columns": KINDS, "weighting": "naive-bayes"}),
}


@pytest.mark.parametrize("name", [name for name in ROWS if "counts" not in name])  # which take thousands of steps
def test_gradient_descent_ends_at_the_same_minimum(name):
    rows, y, given_settings = ROWS[name]
    newton, descent = (
        SoftmaxRegression(**given_settings, l2=10.0, solver=solver, tolerance=1e-4, max_iter=50_000).fit(rows, y)
        for solver in ("newton", "gradient-descent")
    )
    assert descent.converged_
    assert descent.loss_ == pytest.approx(newton.loss_, rel=2e-4)
    np.testing.assert_allclose(descent.predict_proba(rows), newton.predict_proba(rows), atol=5e-2)
    for model in (newton, descent):
        assert model.losses_[-1] == model.loss_
        assert (np.diff(model.losses_) <= 1e-9 * model.loss_).all()
        assert from_bytes(to_bytes(model)).losses_.tolist() == model.losses_.tolist()
    assert len(descent.losses_) == descent.n_iter_ + 1


def test_a_step_of_gradient_descent_is_that_of_the_notes():
    """w ← w - η (1/n Σ (σ(w·x) - y) x), of columns about their means, and no penalty."""
    rows, y = X[:100], (Y[:100] == 1).astype(float)
    with pytest.warns(ConvergenceWarning):
        model = SoftmaxRegression(l2=0, solver="gradient-descent", learning_rate=0.25, max_iter=3).fit(rows, y)
    centred, share = rows - rows.mean(axis=0), y.mean()
    w, b = np.zeros(rows.shape[1]), np.log(share / (1 - share))
    for _ in range(3):
        error = 1 / (1 + np.exp(-(centred @ w + b))) - y
        w, b = w - 0.25 * centred.T @ error / len(y), b - 0.25 * error.mean()
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12)
    np.testing.assert_allclose(model.intercept_[0], b - w @ rows.mean(axis=0), rtol=1e-10)


def test_steps_that_are_too_long_are_said_to_diverge():
    with pytest.warns(ConvergenceWarning, match="learning_rate"):
        model = SoftmaxRegression(solver="gradient-descent", learning_rate=1e6).fit(X, Y)
    assert not model.converged_
    assert model.losses_[-1] > model.losses_[0]


def test_the_descent_can_be_drawn():
    model = SoftmaxRegression(solver="gradient-descent").fit(X[:, :1] - X[:, :1].mean(), Y)
    axes = model.plot_losses()
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), model.losses_)
    assert f"{len(model.losses_) - 1:,} steps" in axes.get_title()
    with pytest.warns(UserWarning, match="stopped after 2 iterations"):
        few = SoftmaxRegression(solver="gradient-descent", max_iter=2).fit(X[:, :1] - X[:, :1].mean(), Y)
    assert all(tick == round(tick) for tick in few.plot_losses().get_xticks())


@pytest.mark.parametrize("name", ["two classes of numbers", "numbers", "mixed", "text"])
def test_its_lines_are_written_out(name):
    rows, y, given_settings = ROWS[name]
    model = SoftmaxRegression(**given_settings).fit(rows, y)
    classes = model.classes_.tolist()
    first, *_, last = classes
    line = model.discriminant(last, first, digits=12).split("\n")[0]
    assert line.startswith(f"log P({last} | x) / P({first} | x) = ")
    w = model.coef_[-1] - (model.coef_[0] if len(classes) > 2 else 0)
    for name, weight in zip(model.features(), w):
        if weight:
            assert f"{'-' if weight < 0 else '+'} {abs(weight):.12g}·{name}" in line


def test_weights_that_took_the_place_of_others_in_memory_are_not_taken_for_them():
    from ingenuo.models.linear_features import _Words

    rows, y, _ = ROWS["weighted text"]
    twin = NaiveBayes().fit(rows, y)
    features = _Words(twin.schema_, twin.tally_, labels_of(twin.classes_), twin.schema_.names[0])
    weights = np.ones((len(features.weights), 1))
    features.parameters(weights)
    assert features._prepared[0] is weights  # so that no other can have its place


def test_the_twin_is_the_naive_bayes_of_the_same_rows():
    model = SoftmaxRegression({"said": "text"}, alpha=0.5).fit(MIXED, "answer")
    assert isinstance(model.twin_, NaiveBayes)
    assert model.twin_.tally_ == NaiveBayes({"said": "text"}).fit(MIXED, "answer").tally_
    assert SoftmaxRegression().fit(sparse.csr_matrix(X - 3), Y).twin_ is None


# When it stops.


@cache
def least_loss(name, l2):
    rows, y, given_settings = ROWS[name]
    return SoftmaxRegression(**given_settings, l2=l2, tolerance=1e-12, max_iter=20_000).fit(rows, y).loss_


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("l2", [1e-2, 1.0, 100.0])
@pytest.mark.parametrize("name", ROWS)
def test_the_excess_bounds_the_distance_to_the_least_loss(name, l2, tolerance):
    rows, y, given_settings = ROWS[name]
    model = SoftmaxRegression(**given_settings, l2=l2, tolerance=tolerance, max_iter=20_000).fit(rows, y)
    least = least_loss(name, l2)
    assert model.converged_
    assert model.excess_ <= tolerance * model.loss_
    assert model.loss_ - least <= model.excess_ * (1 + 1e-6) + 1e-11 * least


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ROWS)
def test_the_excess_is_a_bound_where_the_fit_was_cut_short_too(name, steps):
    rows, y, given_settings = ROWS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SoftmaxRegression(**given_settings, l2=0.1, tolerance=1e-9, max_iter=steps).fit(rows, y)
    least = least_loss(name, 0.1)
    assert model.loss_ - least <= model.excess_ * (1 + 1e-6) + 1e-11 * least


def test_too_few_iterations_are_said_in_one_sentence():
    texts, labels = real_texts.labelled("customers", 300)
    with pytest.warns(ConvergenceWarning) as caught:
        model = SoftmaxRegression(max_iter=2, tolerance=1e-12).fit(texts, labels)
    (said,) = (str(each.message) for each in caught if issubclass(each.category, ConvergenceWarning))
    assert "raise max_iter" in said
    assert f"{model.n_iter_} iterations" in said
    assert "\n" not in said
    assert "inf" not in said
    assert "nan" not in said
    assert not model.converged_
    assert model.n_iter_ <= 3


def test_no_warning_where_it_converges():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SoftmaxRegression().fit(X, Y).converged_
        assert SoftmaxRegression().fit(REVIEWS, VERDICTS).converged_
        assert mixed().converged_


@pytest.mark.parametrize("rows", [X, REVIEWS], ids=["numbers", "text"])
def test_verbose_prints_a_line_for_each_iteration(capsys, rows):
    y = Y if rows is X else VERDICTS
    model = SoftmaxRegression(verbose=True).fit(rows, y)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert 1 <= len(lines) <= model.n_iter_ + 1
    losses = [float(line.split("loss ")[1].split(",")[0]) for line in lines]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(model.loss_, rel=1e-6)
    SoftmaxRegression(verbose=False).fit(rows, y)
    SoftmaxRegression().fit(rows, y)  # stderr is no terminal here
    assert capsys.readouterr() == ("", "")


def test_a_long_fit_shows_how_far_it_is_in_a_terminal(capsys, monkeypatch):
    import sys

    from ingenuo.show import format

    monkeypatch.setattr(format, "_WAIT", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    SoftmaxRegression().fit(REVIEWS, VERDICTS)
    err = capsys.readouterr().err
    assert "\riteration" in err
    assert err.endswith("\n")
    assert err.count("\n") == 1


def test_fitting_again_gives_the_same_to_the_last_bit():
    for rows, y, given_settings in ROWS.values():
        one, two = (SoftmaxRegression(**given_settings).fit(rows, y) for _ in range(2))
        np.testing.assert_array_equal(one.coef_, two.coef_)
        np.testing.assert_array_equal(one.intercept_, two.intercept_)


# What it takes.


@pytest.mark.parametrize("form", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_any_frame_gives_the_same_answers(form):
    wanted = mixed(tolerance=1e-10).predict_proba(MIXED.drop(columns="answer"))
    model = SoftmaxRegression(KINDS, tolerance=1e-10).fit(form(MIXED), "answer")
    np.testing.assert_allclose(model.predict_proba(form(MIXED.drop(columns="answer"))), wanted, atol=1e-6)


def test_the_target_may_stay_in_the_table_and_columns_may_come_in_any_order():
    model = mixed()
    wanted = model.predict_proba(MIXED.drop(columns="answer"))
    np.testing.assert_array_equal(model.predict_proba(MIXED), wanted)
    np.testing.assert_array_equal(model.predict_proba(MIXED[["said", "rooms", "answer", "age", "home"]]), wanted)
    np.testing.assert_array_equal(model.predict_proba(MIXED[["rooms", "said", "home", "age"]]), wanted)
    assert model.score(MIXED, "answer") == np.mean(model.predict(MIXED) == MIXED["answer"].to_numpy())


def test_what_is_missing_or_was_never_seen_adds_nothing():
    model = mixed()
    plain = {"age": None, "home": None, "said": None, "rooms": MIXED["rooms"].mean()}
    nothing = model.predict_proba(pd.DataFrame([plain]))
    unseen = {**plain, "home": "a castle", "said": "qwerty"}
    np.testing.assert_array_equal(model.predict_proba(pd.DataFrame([unseen])), nothing)
    average = {**plain, "age": MIXED["age"].mean()}
    np.testing.assert_allclose(
        model.predict_proba(pd.DataFrame([average]).astype({"said": object})), nothing, atol=1e-9
    )


def test_missing_numbers_count_as_the_mean():
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    one, two = (SoftmaxRegression(tolerance=1e-11).fit(each, Y) for each in (holes, filled))
    np.testing.assert_allclose(one.predict_proba(holes), two.predict_proba(filled), atol=1e-6)


def test_classes_of_any_type_and_rows_in_any_array():
    for labels in (NAMES[Y], Y.astype(bool), [Decimal(int(k)) for k in Y], pd.Series(NAMES[Y], dtype="category")):
        model = SoftmaxRegression().fit(X.astype(np.float32), labels)
        assert np.mean(model.predict(X) == np.asarray(labels)) > 0.9
    wanted = SoftmaxRegression().fit(np.rint(X), Y).predict_proba(np.rint(X))
    integers = np.rint(X).astype(np.int64)
    for rows in (integers, integers.tolist(), np.asfortranarray(np.rint(X)), pd.DataFrame(integers)):
        np.testing.assert_allclose(SoftmaxRegression().fit(rows, Y).predict_proba(rows), wanted, atol=1e-9)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), classes=st.integers(2, 4))
def test_answers_are_probabilities_and_the_logits_say_the_same(seed, classes):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(classes), rng.integers(0, classes, 20))
    rows = rng.normal(size=(len(y), 3)) * 10.0 ** rng.integers(-4, 5, 3)
    model = SoftmaxRegression(l2=float(10.0 ** rng.integers(-3, 3))).fit(rows, y)
    p, z = model.predict_proba(rows), model.decision_function(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), p, atol=1e-12)
    if classes == 2:
        assert z.shape == (len(y),)
        np.testing.assert_allclose(1 / (1 + np.exp(-z)), p[:, 1], atol=1e-12)
        np.testing.assert_array_equal(model.predict(rows), (z > 0).astype(int))
    else:
        np.testing.assert_allclose(np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), p, atol=1e-12)
        np.testing.assert_array_equal(model.predict(rows), z.argmax(axis=1))


@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_and_intercepts_are_the_logits(classes):
    chosen = np.isin(Y, range(classes))
    rows, y = X[chosen] + 100, Y[chosen]
    model = SoftmaxRegression().fit(rows, y)
    logits = rows @ model.coef_.T + model.intercept_
    found = model.decision_function(rows)
    if classes == 2:
        np.testing.assert_allclose(logits.ravel(), found, atol=1e-9)
    else:
        np.testing.assert_allclose(logits - logits[:, :1], found - found[:, :1], atol=1e-9)
        np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-9)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-3)  # as the penalty wants it


def test_features_name_the_columns_of_the_coefficients():
    model = mixed()
    assert model.coef_.shape == (3, len(model.features()))
    assert {"age", "rooms", "home=own", "home=with parents", "yes", "never"} <= set(model.features())
    two = SoftmaxRegression({"a": "text", "b": "text"}).fit(
        pd.DataFrame({"a": ["red wine", "blue sea"], "b": ["red", "green"]}), [0, 1]
    )
    assert {"a: red", "b: red", "b: green"} <= set(two.features())
    assert SoftmaxRegression().fit(X, Y).features() == ["x0", "x1", "x2", "x3"]
    assert SoftmaxRegression().fit(pd.DataFrame(X, columns=list("abcd")), Y).features() == list("abcd")


def test_a_word_in_one_class_only_speaks_for_it():
    model = SoftmaxRegression().fit(REVIEWS, VERDICTS)
    weights = dict(zip(model.features(), model.coef_[0]))
    assert model.classes_.tolist() == ["bad", "good"]
    assert weights["fine"] > 0 > weights["dull"]


def test_copies_answer_the_same():
    model = mixed()
    wanted = model.predict_proba(MIXED)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(MIXED), wanted)
        assert str(other.explain({"said": "no"})) == str(model.explain({"said": "no"}))


# What it says of a row.

EXPLAINED = {
    "numbers": (lambda: SoftmaxRegression().fit(X, NAMES[Y]), X[60].tolist()),
    "two classes": (lambda: SoftmaxRegression().fit(X[:100], Y[:100]), X[10].tolist()),
    "counts": (lambda: SoftmaxRegression().fit(sparse.csr_matrix(np.rint(X)), Y), sparse.csr_matrix(np.rint(X[60:61]))),
    "text": (lambda: SoftmaxRegression().fit(REVIEWS, VERDICTS), "a fine, fine film, not dull, never seen"),
    "binary pairs": (
        lambda: SoftmaxRegression(text=Words(ngrams=(1, 2), binary=True), weighting="naive-bayes").fit(
            REVIEWS, VERDICTS
        ),
        "fine film, fine film",
    ),
    "unit length": (
        lambda: SoftmaxRegression(text=Words(weighting="tfidf", norm="l2")).fit(REVIEWS, VERDICTS),
        "fine film, fine film",
    ),
    "tf-idf": (lambda: SoftmaxRegression(text=Words(weighting="tfidf")).fit(REVIEWS, VERDICTS), "fine film, fine film"),
    "mixed": (lambda: mixed(), {"age": 40, "home": "own", "said": "yes, yes, of course", "rooms": 3}),
    "weighted mixed": (lambda: mixed(weighting="naive-bayes"), {"age": 40, "home": "own", "said": "no", "rooms": 3}),
    "mixed, missing and unseen": (lambda: mixed(), {"home": "a castle", "said": "qwerty"}),
    "nothing at all": (lambda: mixed(), {}),
}


@cache
def explained(name):
    learned, row = EXPLAINED[name]
    return learned(), row


@pytest.mark.parametrize("name", EXPLAINED)
def test_the_factors_of_an_explanation_multiply_to_the_answer(name):
    model, row = explained(name)
    found = model.explain(row)
    logs = np.array([[term.log for term in factor.terms] for factor in (found.prior, *found.factors) if factor.terms])
    np.testing.assert_allclose(logs.sum(axis=0), found.joint, atol=1e-9)
    table = [row] if isinstance(row, list | str) else row if sparse.issparse(row) else pd.DataFrame([row])
    if isinstance(row, dict):
        table = pd.DataFrame([{name: row.get(name) for name in ("age", "home", "said", "rooms")}]).astype(
            {"age": float, "home": object, "said": object, "rooms": float}
        )
    np.testing.assert_allclose(found.posterior, model.predict_proba(table)[0], atol=1e-12)
    assert found.prediction == model.predict(table)[0]
    posterior = np.exp(found.joint - found.joint.max())
    np.testing.assert_allclose(found.posterior, posterior / posterior.sum(), atol=1e-12)
    for factor in (found.prior, *found.factors):
        for term in factor.terms:
            assert np.exp(term.log) == pytest.approx(float(term.value), rel=1e-12)


def test_an_explanation_shows_the_texts_with_what_their_words_say():
    model, row = explained("text")
    found = model.explain(row)
    (passage,) = found.passages
    assert "".join(piece for piece, _ in passage.pieces) == row
    weights = {piece: weight for piece, weight in passage.pieces if weight is not None}
    assert "seen" not in weights
    sign = 1 if found.prediction == "good" else -1
    assert sign * weights["fine"] > 0 > sign * weights["dull"]
    shown = str(found)
    assert "fine" in shown
    assert "unknown" in shown
    assert "intercept" in shown


def test_an_explanation_says_what_was_missing_and_never_seen():
    shown = str(mixed().explain({"home": "a castle"}))
    assert "a castle" in shown
    assert "never seen: left out" in shown
    assert "missing" in shown
    assert "counts as the mean" in shown


def test_factors_come_in_the_order_of_the_columns():
    found = mixed().explain({"age": 40, "home": "own", "said": "yes", "rooms": 3})
    assert [factor.part_of or factor.column for factor in found.factors] == ["age", "home", "said", "rooms"]


# What it refuses.


@pytest.mark.parametrize(
    ("given_settings", "error", "said"),
    [
        ({"l2": -1}, InputError, "l2 is -1; it must be at least 0"),
        ({"l2": np.nan}, InputError, "l2 is nan"),
        ({"l2": np.inf}, InputError, "l2 is inf"),
        ({"l2": "1"}, KindError, "l2 must be a number, got str '1'"),
        ({"l2": True}, KindError, "l2 must be a number, got bool"),
        ({"alpha": 0}, InputError, "alpha is 0; it must be above 0"),
        ({"alpha": -0.5}, InputError, "alpha is -0.5"),
        ({"tolerance": 0}, InputError, "tolerance is 0; it must be above 0"),
        ({"weighting": "naive bayes"}, InputError, "weighting='naive bayes' is not known; did you mean 'naive-bayes'"),
        ({"solver": "newtons"}, InputError, "solver='newtons' is not known; did you mean 'newton'"),
        ({"learning_rate": 0.1}, InputError, "learning_rate is of gradient descent"),
        ({"solver": "gradient-descent", "learning_rate": 0}, InputError, "learning_rate is 0; it must be above 0"),
        ({"max_iter": 0}, InputError, "max_iter is 0; it must be at least 1"),
        ({"max_iter": 2.5}, KindError, "max_iter must be a whole number, got float 2.5"),
        ({"verbose": "yes"}, KindError, "verbose"),
        ({"text": "words"}, KindError, "text"),
        ({"columns": {"nowhere": "number"}}, InputError, "nowhere"),
    ],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(given_settings, error, said):
    with pytest.raises(error, match=said.replace("(", r"\(")) as caught:
        SoftmaxRegression(**given_settings).fit(pd.DataFrame(X), Y)
    assert "\n" not in str(caught.value)


INFINITE = X.copy()
INFINITE[3, 1] = np.inf


@pytest.mark.parametrize(
    ("rows", "y", "said"),
    [
        (X, np.zeros(150), "every row is of the one class 0.0"),
        (REVIEWS, ["good"] * 12, "every row is of the one class 'good'"),
        (INFINITE, Y, "row 3"),
        (sparse.csr_matrix(INFINITE), Y, "inf"),
        (["", " ", "?"], [0, 1, 1], "no word in any row"),
        (X, None, "y is None"),
        (X, Y[:10], "150 rows and y has 10 labels"),
        (X, np.where(Y == 1, np.nan, Y), "NaN"),
        (X, Y + 0.5, "continuous"),
        (np.empty((0, 4)), [], "0 sample"),
        (pd.DataFrame(X), "answer", "no column 'answer'"),
    ],
)
def test_rows_that_cannot_be_learned_are_refused_and_change_nothing(rows, y, said):
    model = SoftmaxRegression().fit(pd.DataFrame(X, columns=list("abcd")), NAMES[Y])
    before, wanted = dict(model.__dict__), model.predict_proba(pd.DataFrame(X, columns=list("abcd")))
    with pytest.raises(ValueError, match=said):
        model.fit(rows, y)
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict_proba(pd.DataFrame(X, columns=list("abcd"))), wanted)
    fresh = SoftmaxRegression()
    with pytest.raises(ValueError, match=said):
        fresh.fit(rows, y)
    assert fresh.__dict__ == SoftmaxRegression().__dict__


def test_weights_that_mean_nothing_are_refused():
    for weights, said in (([-1.0] * 150, "row 0 is -1.0"), ([0.0] * 150, "every weight is zero"), ([1.0], "expected")):
        with pytest.raises(InputError, match=said):
            SoftmaxRegression().fit(X, Y, weights)


def test_a_class_of_weight_zero_gets_no_probability():
    model = SoftmaxRegression().fit(X, Y, np.where(Y == 2, 0.0, 1.0))
    assert model.classes_.tolist() == [0, 1, 2]
    p = model.predict_proba(X)
    assert (p[:, 2] < 1e-6).all()
    assert model.converged_
    np.testing.assert_allclose(p[:, :2], SoftmaxRegression().fit(X[:100], Y[:100]).predict_proba(X), atol=0.05)


def test_negative_numbers_have_no_ratios():
    negative = sparse.csr_matrix(X - 3)
    with pytest.raises(InputError, match="take weighting=None"):
        SoftmaxRegression(weighting="naive-bayes").fit(negative, Y)
    assert SoftmaxRegression().fit(negative, Y).score(negative, Y) > 0.9


@pytest.mark.parametrize("method", ["partial_fit", "forget", "merge", "sample"])
def test_what_its_mathematics_does_not_allow_is_refused_with_the_reason(method):
    for model in (SoftmaxRegression(), SoftmaxRegression().fit(X, Y)):
        assert not hasattr(model, method)
        with pytest.raises(RefusedError, match=f"a SoftmaxRegression cannot {method}: .*twin_"):
            getattr(model, method)


def test_an_infinite_number_is_refused_in_questions_too():
    model = SoftmaxRegression().fit(X, Y)
    with pytest.raises(InputError, match="row 3"):
        model.predict_proba(INFINITE)


def test_an_unfitted_model_says_so():
    for ask in ("predict", "predict_proba", "predict_log_proba", "decision_function", "explain"):
        with pytest.raises(NotFittedError):
            getattr(SoftmaxRegression(), ask)(X)
    for name in ("coef_", "intercept_"):
        assert not hasattr(SoftmaxRegression(), name)
    with pytest.raises(NotFittedError):
        SoftmaxRegression().features()


def test_no_penalty_is_maximum_likelihood_where_there_is_one():
    rows, y = load_breast_cancer(return_X_y=True)
    rows = rows[:, :2] / rows[:, :2].std(axis=0)
    model = SoftmaxRegression(l2=0, tolerance=1e-12).fit(rows, y)
    # At the maximum of the likelihood the expected sums of the columns are the observed ones.
    p = model.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(rows.T @ p, rows.T @ y, rtol=1e-5)
    assert p.sum() == pytest.approx(y.sum(), rel=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_separable_classes_without_a_penalty_stay_finite_and_are_said(classes):
    """There is no minimum: the loss sinks for ever as the weights grow."""
    rows = np.arange(4.0 * classes).reshape(-1, 1)
    y = np.repeat(np.arange(classes), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SoftmaxRegression(l2=0).fit(rows, y)
    assert np.isfinite(model.loss_)
    assert np.isfinite(model.coef_).all()
    np.testing.assert_array_equal(model.predict(rows), y)


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_numbers_of_any_size_have_answers(scale):
    rows = np.arange(8.0).reshape(-1, 1) * scale
    model = SoftmaxRegression().fit(rows, [0, 0, 0, 0, 1, 1, 1, 1])
    assert np.isfinite(model.predict_proba(rows)).all()
    if scale > 1:
        np.testing.assert_array_equal(model.predict(rows), [0, 0, 0, 0, 1, 1, 1, 1])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_numbers_whose_products_leave_the_doubles_are_refused(scale):
    with pytest.raises(InputError, match=r"'x1' has numbers .* leave the doubles; .* in another unit"):
        SoftmaxRegression().fit(np.arange(8.0).reshape(-1, 1) * [1.0, scale], [0, 0, 0, 0, 1, 1, 1, 1])


def test_no_texts_are_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="there are no rows to learn from"):
        SoftmaxRegression().fit(pa.array([], pa.string()), [])
