"""Votes answer in JavaScript with Python's bits: of tables and of texts, and what columns say to each member."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.errors import InputError
from ingenuo.sheet import sheet

from .factors import assert_alone_as_among_others, assert_same_lines, explained
from .node import assert_same_bits, bits
from .test_linear import TEXTS, numbers, quietly
from .test_sheet import HOSTILE, harsh_rows, table

CODE = {"code": "category"}


@pytest.mark.parametrize("members", ["auto", "additive"])
@pytest.mark.parametrize("classes", [2, 5])
def test_the_default_classifier_has_the_same_bits(members: str, classes: int) -> None:
    frame, y = table(150, classes)
    model = quietly(ing.BayesClassifier(members, CODE), frame, y)
    assert len(model.members_.lines) > 1
    assert_same_bits([(members, model, harsh_rows(frame, 40))])


def moderate(frame: pd.DataFrame, n: int) -> list[dict[str, Any]]:
    """Rows whose lines can be added up without losing all that others say."""
    rows = harsh_rows(frame, 4 * n)
    return [row for row in rows if row and all(abs(x) < 1e6 for x in row.values() if isinstance(x, float))][:n]


def reviews(n: int, classes: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    words = " ".join([*TEXTS, "une belle histoire", "боль и слава", "良い 映画"]).replace(",", "").split()
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    texts = [" ".join(rng.choice([*words[k :: classes + 1], *words], 9)) for k in y]
    frame = pd.DataFrame({"text": texts, "stars": rng.normal(y, 2.0), "from": rng.choice(["here", "there"], n)})
    frame.loc[3, "text"] = None
    return frame, np.array([f"class {k}" for k in range(classes)])[y]


@pytest.mark.parametrize("classes", [2, 5])
def test_the_default_classifier_of_texts_has_the_same_bits(classes: int) -> None:
    frame, y = reviews(90, classes)
    rows = [
        {"text": text, "stars": stars, "from": where}
        for text, stars, where in zip([*TEXTS, *HOSTILE], np.linspace(-3, 3, 30), ["here", "there", "?", None] * 8)
    ]
    rows += [{}, {"text": None, "stars": 1.0}, {"text": "fine " * 50}]
    model = quietly(ing.BayesClassifier(columns={"text": "text"}), frame, y)
    assert {"words", "softmax of words", "softmax of characters"} <= set(model.weights_)
    only = quietly(ing.BayesClassifier(), frame["text"].fillna("").tolist(), y)
    name = sheet(only).document()["columns"][0]["name"]
    assert_same_bits([("mixed", model, rows), ("texts", only, [{name: text} for text in [*TEXTS, *HOSTILE]])])


def own_members() -> list[tuple[str, Any]]:
    return [
        ("bayes", ing.NaiveBayes(CODE, numbers="kernel", calibration="isotonic")),
        ("shared", ing.GaussianDiscriminant("regularised", columns=CODE)),
        ("lines", ing.SoftmaxRegression(CODE)),
        ("trees", ing.BoostedTrees(CODE, max_trees=10)),
        ("vote", ing.BayesClassifier("additive", CODE)),
    ]


@pytest.mark.parametrize("classes", [2, 5])
def test_members_of_ones_own_have_the_same_bits(classes: int) -> None:
    frame, y = table(120, classes)
    model = quietly(ing.BayesClassifier(own_members(), CODE), frame, y)
    plain, labels = numbers(120, classes, 4)
    lines = [("least squares", ing.LeastSquaresClassifier()), ("shared", ing.GaussianDiscriminant("shared"))]
    both = quietly(ing.BayesClassifier(lines), plain, labels)
    assert_same_bits([("mixed", model, harsh_rows(frame)), ("lines", both, harsh_rows(plain))])


def test_a_class_that_a_member_does_not_know_has_the_same_bits() -> None:
    frame, y = table(120, 3)
    model = quietly(
        ing.BayesClassifier([("a", ing.NaiveBayes(CODE)), ("b", ing.SoftmaxRegression(CODE))], CODE), frame, y
    )
    known = y != "class 1"
    model.estimators_[0] = quietly(ing.NaiveBayes(CODE), frame[known], y[known])
    assert_same_bits([("unknown", model, harsh_rows(frame))])
    assert_same_lines(model, moderate(frame, 10))


def test_members_without_weight_are_left_out() -> None:
    frame, y = table(120, 2)
    model = quietly(
        ing.BayesClassifier([("a", ing.NaiveBayes(CODE)), ("b", ing.SoftmaxRegression(CODE))], CODE), frame, y
    )
    model._weights = np.array([0.0, 1.25])
    assert [each["name"] for each in sheet(model).scorer["members"]] == ["b"]
    assert_same_bits([("one", model, harsh_rows(frame))])


@pytest.mark.parametrize("folds", [2, "prefit"])
def test_the_bayes_optimal_vote_has_the_same_bits(folds: Any) -> None:
    frame, y = table(120, 3)
    members = [
        ("bayes", ing.NaiveBayes(CODE)),
        ("lines", ing.SoftmaxRegression(CODE)),
        ("trees", ing.BoostedTrees(CODE)),
    ]
    if folds == "prefit":
        members = [(name, quietly(each, frame, y)) for name, each in members]
    model = quietly(ing.BayesOptimalClassifier(members, folds), frame, y)
    assert_same_bits([(str(folds), model, harsh_rows(frame))])
    (found,) = explained(model, [{"bell": 1.0}])
    vote = model.explain({"bell": 1.0})
    given = [name for name, weight in model.weights_.items() if weight]
    assert [each["name"] for each in found["factors"]] == given
    shown = [weight * own for weight, own in zip(vote.weights, vote.probabilities) if weight]
    np.testing.assert_allclose([each["logs"] for each in found["factors"]], shown)


def test_members_without_a_sheet_are_named() -> None:
    from sklearn.dummy import DummyClassifier

    frame, y = numbers(80, 2, 2)
    model = quietly(ing.BayesClassifier([("dummy", DummyClassifier(strategy="prior"))]), frame, y)
    with pytest.raises(InputError, match="the member 'dummy' is a DummyClassifier, which has no sheet"):
        sheet(model)


def test_members_that_read_a_column_as_another_kind_are_named() -> None:
    frame, y = table(120, 2)
    members = [("a", ing.NaiveBayes(CODE)), ("b", ing.NaiveBayes({"code": "number"}))]
    model = quietly(ing.BayesClassifier(members, CODE), frame, y)
    with pytest.raises(InputError, match="the member 'b' reads column 'code' as 'number' and the vote as 'category'"):
        sheet(model)


@pytest.mark.parametrize("classes", [2, 5])
def test_lines_of_votes_are_those_of_explain(classes: int) -> None:
    frame, y = table(120, classes)
    model = quietly(ing.BayesClassifier(columns=CODE), frame, y)
    assert_same_lines(model, moderate(frame, 25))
    mixed, labels = reviews(90, classes)
    model = quietly(ing.BayesClassifier(columns={"text": "text"}), mixed, labels)
    assert_same_lines(model, [{"text": text, "stars": 0.5, "from": "here"} for text in TEXTS])


def test_the_shares_of_the_members_add_up_to_the_line() -> None:
    frame, y = table(120, 3)
    model = quietly(ing.BayesClassifier(columns=CODE), frame, y)
    row = {"bell": 1.0, "skew": 2.0, "code": 1}
    own = model.explain(row)
    (found,) = explained(model, [row])
    for factor in found["factors"]:
        shares = np.array([[float(each) for each in member] for member in factor["shares"]])
        assert shares.shape == (len(own.members), 3)
        if factor["name"] != "shift":
            np.testing.assert_allclose(shares.sum(axis=0), factor["logs"], atol=1e-12)
    lines = {each.column: each for each in own.factors}
    its = {each["name"]: each for each in found["factors"]}
    np.testing.assert_allclose(np.array(its["bell"]["shares"], float), lines["bell"].shares, rtol=1e-6, atol=1e-9)


def test_texts_are_shown_as_explain_shows_them() -> None:
    frame, y = reviews(90, 2)
    model = quietly(ing.BayesClassifier(columns={"text": "text"}), frame, y)
    row = {"text": "a fine film, and dull music", "stars": 0.2}
    (found,) = explained(model, [row])
    (own,) = model.explain(row).passages
    assert [piece for piece, _ in found["passages"][0]["pieces"]] == [piece for piece, _ in own.pieces]
    weights = [[np.nan if w is None else w for _, w in each] for each in (found["passages"][0]["pieces"], own.pieces)]
    np.testing.assert_allclose(*weights, rtol=1e-6, atol=1e-9)


def test_an_answer_and_its_explanation_have_the_same_bits() -> None:
    frame, y = table(120, 3)
    model = quietly(ing.BayesClassifier(columns=CODE), frame, y)
    for row in harsh_rows(frame, 10):
        own = model.explain(row)
        joint, posterior = model.answer_row(row)
        assert bits(own.joint) == bits(joint)
        assert bits(own.posterior) == bits(posterior)
    bells = frame[["bell", "skew", "flag"]]
    model = quietly(ing.BayesClassifier(), bells, y)
    assert_alone_as_among_others(model, harsh_rows(bells, 20), bells)
