"""Discriminants, least squares and softmax regressions answer in JavaScript with Python's bits, rows with gaps too."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ingenuo as ing
from ingenuo.models.regularised import Shrinkage
from ingenuo.text.words import Words

from .factors import assert_alone_as_among_others, assert_same_lines
from .node import assert_same_bits
from .test_sheet import HOSTILE, NUMBERS, harsh_rows, table

MODERATE = [0.0, -0.0, 5e-324, 1.0, -1.0, 0.5, 3.0, 1e3, -1e6, 1e9]


def quietly(model: Any, *given: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*given)


def numbers(n: int, classes: int, d: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Columns that depend on each other, in units from 1e-5 to 1e5."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(classes, d))[y]
    X *= 10.0 ** rng.integers(-5, 6, d)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]), np.array([f"class {k}" for k in range(classes)])[y]


def rows_with_gaps(frame: pd.DataFrame, n: int = 30, seed: int = 1) -> list[dict[str, Any]]:
    """Rows of the table, of which most lack columns; and some of extremes."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = [{}]
    for number in range(n):
        cells = frame.iloc[int(rng.integers(len(frame)))].to_dict()
        lost = rng.random(len(cells)) < (0.0, 0.2, 0.5)[number % 3]
        row = {name: value for (name, value), gone in zip(cells.items(), lost) if not gone and value == value}
        if number % 5 == 4 and row:
            row[list(row)[int(rng.integers(len(row)))]] = float(rng.choice(NUMBERS))
        rows.append(row)
    return rows


@pytest.mark.parametrize("classes", [2, 5])
def test_discriminants_have_the_same_bits(classes: int) -> None:
    cases = []
    for d in (1, 3, 4, 9):
        frame, y = numbers(150, classes, d)
        for covariance in ("shared", "full", "diagonal"):
            for more in ({}, {"shrinkage": "auto", "unbiased": True}):
                model = quietly(ing.GaussianDiscriminant(covariance, **more), frame, y)
                cases.append((f"{covariance} {d} {more}", model, rows_with_gaps(frame) + harsh_rows(frame, 10)))
    assert_same_bits(cases)


def singular(classes: int) -> tuple[pd.DataFrame, Any]:
    """Columns that follow from others, one of a single value, and one that varies only between the classes."""
    frame, y = numbers(120, classes, 4)
    frame["twice"] = 2 * frame["x1"]
    frame["sum"] = frame["x0"] * 1e-3 - frame["x2"]
    frame["same"] = 7.0
    frame["by class"] = np.array([int(label[-1]) for label in y], float)
    return frame, y


@pytest.mark.parametrize("classes", [2, 5])
def test_singular_covariances_have_the_same_bits(classes: int) -> None:
    frame, y = singular(classes)
    rows = rows_with_gaps(frame, 60) + harsh_rows(frame, 20)
    models = [ing.GaussianDiscriminant("shared"), ing.GaussianDiscriminant("full"), ing.LeastSquaresClassifier()]
    assert_same_bits([(str(model), quietly(model, frame, y), rows) for model in models])


@pytest.mark.parametrize("classes", [2, 5])
def test_discriminants_within_naive_bayes_have_the_same_bits(classes: int) -> None:
    frame, y = table(150, classes)
    cases = []
    for family in ("gaussian-shared", "gaussian-full"):
        for more in ({}, {"calibration": "temperature"}):
            model = quietly(ing.NaiveBayes({"code": "category"}, numbers=family, **more), frame, y)
            cases.append((f"{family} {more}", model, harsh_rows(frame)))
    assert_same_bits(cases)


@pytest.mark.parametrize("classes", [2, 5])
def test_discriminants_of_features_have_the_same_bits(classes: int) -> None:
    frame, y = table(200, classes)
    cases, kinds = [], set()
    for name, own in (("mixed", frame), ("bells", numbers(200, classes, 3)[0])):
        columns = {"code": "category"} if name == "mixed" else None
        found, shared = (quietly(ing.GaussianDiscriminant("regularised", columns=columns), own, y) for _ in range(2))
        shared._chosen = type(shared._chosen)(found._chosen.design, Shrinkage(1.0, 0.1), 0.7)  # lines
        kinds |= {found.scores_, "lines" if shared._parameters().own.additive else ""}
        cases += [(name, found, harsh_rows(own)), (f"{name}, shared", shared, harsh_rows(own))]
    assert {"lines", "normal scores"} <= kinds or {"lines", "standardised"} <= kinds
    assert_same_bits(cases)


def test_normal_scores_and_deviations_have_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    skewed, even = np.exp(rng.normal(size=(300, 2)) * 2), rng.normal(size=(300, 2))
    cases, kinds = [], set()
    for X in (skewed, even):
        y = (np.log(np.abs(X)).sum(axis=1) > 0) if X is skewed else X[:, 0] > 0
        frame = pd.DataFrame(X, columns=["a", "b"])
        model = quietly(ing.GaussianDiscriminant("regularised"), frame, np.where(y, "yes", "no"))
        kinds.add(model.scores_)
        cases.append((model.scores_, model, rows_with_gaps(frame) + harsh_rows(frame)))
    assert kinds == {"normal scores", "standardised"}
    assert_same_bits(cases)


@pytest.mark.parametrize("classes", [2, 5])
def test_least_squares_has_the_same_bits(classes: int) -> None:
    frame, y = numbers(120, classes, 5)
    models = [ing.LeastSquaresClassifier(), ing.LeastSquaresClassifier(l2=3.0)]
    rows = rows_with_gaps(frame) + harsh_rows(frame)
    assert_same_bits([(str(model), quietly(model, frame, y), rows) for model in models])


def test_least_squares_beyond_the_doubles_answers_the_shares() -> None:
    frame, y = numbers(60, 2, 2)
    model = quietly(ing.LeastSquaresClassifier(), frame * 1e-140, y)
    rows = [{"x0": 1.7e308, "x1": -1.7e308}, {"x0": -1.7e308, "x1": 1.7e308}, {"x0": 1.7e308, "x1": 1.7e308}]
    for row in rows:
        assert np.isfinite(model.answer_row(row)[1]).all()
        assert abs(model.answer_row(row)[1].sum() - 1) < 1e-12
    assert_same_bits([("far", model, rows)])


SOFTMAX = [
    {}, {"weighting": "naive-bayes"}, {"l2": "auto"}, {"l2": "auto", "interactions": "auto"},
    {"interactions": "auto", "l2": 0.5},
]  # fmt: skip


@pytest.mark.parametrize("classes", [2, 5])
def test_softmax_regressions_of_tables_have_the_same_bits(classes: int) -> None:
    frame, y = table(150, classes)
    models = [ing.SoftmaxRegression({"code": "category"}, **each) for each in SOFTMAX]
    assert_same_bits([(str(model), quietly(model, frame, y), harsh_rows(frame)) for model in models])


@pytest.mark.parametrize("classes", [2, 5])
def test_softmax_regressions_of_counts_have_the_same_bits(classes: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(classes, size=120)
    y[:classes] = np.arange(classes)
    frame = pd.DataFrame(rng.poisson(0.5 + 0.2 * y[:, None], (120, 6)), columns=[f"n{j}" for j in range(6)])
    columns = dict.fromkeys(frame.columns, "count")
    frame["x"] = rng.normal(size=120)
    rows = [{name: float(rng.integers(0, 4)) for name in frame.columns if rng.random() < 0.8} for _ in range(20)]
    rows += [{}, {"n0": 1e18, "n1": 1e300}, {"n2": 1e308, "x": 1e308}]
    models = [ing.SoftmaxRegression(columns, **each) for each in SOFTMAX]
    assert_same_bits([(str(model), quietly(model, frame, y), rows) for model in models])


TEXTS = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull", "not fine at all", "ça va été"]


@pytest.mark.parametrize("classes", [2, 5])
def test_softmax_regressions_of_words_have_the_same_bits(classes: int) -> None:
    rng = np.random.default_rng(0)
    words = " ".join(TEXTS).replace(",", "").split()
    y = rng.integers(classes, size=80)
    y[:classes] = np.arange(classes)
    texts = [" ".join(rng.choice(words[k :: classes + 1] + words, 8)) for k in y]
    frame = pd.DataFrame({"text": texts, "x": rng.normal(y, 1.0)})
    frame.loc[5, "text"] = None
    rows = [{"text": text, "x": x} for text, x in zip([*TEXTS, *HOSTILE], [*MODERATE, *MODERATE])] + [{}, {"x": 1.0}]
    counted = Words(ngrams=(1, 2), token=r"\w+", binary=True, weighting="tfidf", norm="l2")
    cases = []
    for how in (Words(), Words(weighting="tfidf"), counted, Words(characters=(2, 4), binary=True)):
        for more in ({}, {"weighting": "naive-bayes", "l2": "auto", "exponent": "auto"}):
            model = quietly(ing.SoftmaxRegression({"text": "text"}, how, **more), frame, y)
            cases.append((f"{how} {more}", model, rows))
    assert_same_bits(cases)


@pytest.mark.parametrize("classes", [2, 5])
def test_the_drop_ins_have_the_same_bits(classes: int) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(classes, size=100)
    y[:classes] = np.arange(classes)
    counts = pd.DataFrame(rng.poisson(0.5 + 0.3 * y[:, None], (100, 5)), columns=[f"n{j}" for j in range(5)])
    rows = [{name: float(rng.integers(0, 5)) for name in counts.columns} for _ in range(20)]
    models = [
        ing.MultinomialNB(), ing.MultinomialNB(alpha=0.0), ing.ComplementNB(), ing.ComplementNB(norm=True),
        ing.BernoulliNB(), ing.BernoulliNB(binarize=1.5), ing.BernoulliNB(binarize=None, alpha=0.0),
        ing.CategoricalNB(), ing.CategoricalNB(min_categories=9), ing.GaussianNB(), ing.GaussianNB(var_smoothing=0.1),
    ]  # fmt: skip
    assert_same_bits([(str(model), quietly(model, counts, y), rows) for model in models])
    frame = counts * 1e-3 + rng.normal(size=counts.shape)
    far = harsh_rows(frame, 20)
    assert_same_bits([("numbers", quietly(ing.GaussianNB(), frame, y), far)])
    below = [{name: float(rng.normal()) for name in counts.columns} for _ in range(10)]
    assert_same_bits([("below 0", quietly(ing.BernoulliNB(), frame, y), below)])
    letters = pd.DataFrame({"a": np.array(["u", "v", "w"])[y % 3], "b": np.array(HOSTILE)[rng.integers(9, size=100)]})
    words = [{"a": a, "b": b} for a in ("u", "v", "z", None) for b in (HOSTILE[0], HOSTILE[4], "?")]
    assert_same_bits([("letters", quietly(ing.CategoricalNB(), letters, y), words)])


def test_lines_of_discriminants_are_those_of_explain() -> None:
    for classes in (2, 5):
        frame, y = numbers(150, classes, 5)
        for covariance in ("shared", "full"):
            model = quietly(ing.GaussianDiscriminant(covariance), frame, y)
            rows = [row for row in rows_with_gaps(frame, 20) if row]
            rows = [{name: x for name, x in row.items() if abs(x) < 1e9 and abs(x) > 1e-9} for row in rows]
            assert_same_lines(model, rows)
        model = quietly(ing.LeastSquaresClassifier(), frame, y)
        assert_same_lines(model, rows)


def test_lines_of_linear_models_are_those_of_explain() -> None:
    frame, y = table(150, 3)
    rows = [
        row for row in harsh_rows(frame, 20) if all(not isinstance(x, float) or abs(x) < 1e10 for x in row.values())
    ]
    models = [
        *(ing.SoftmaxRegression({"code": "category"}, **each) for each in SOFTMAX),
        ing.GaussianDiscriminant("regularised", columns={"code": "category"}),
    ]
    for model in models:
        assert_same_lines(quietly(model, frame, y), rows)


def test_a_table_is_answered_as_its_rows_are() -> None:
    frame, y = numbers(150, 3, 6)
    rows = rows_with_gaps(frame, 40)
    for model in (
        ing.GaussianDiscriminant("shared"), ing.GaussianDiscriminant("full"), ing.LeastSquaresClassifier(),
        ing.GaussianDiscriminant("regularised"), ing.SoftmaxRegression(l2="auto", interactions="auto"),
    ):  # fmt: skip
        assert_alone_as_among_others(quietly(model, frame, y), rows, frame)
