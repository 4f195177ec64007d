"""Explanations: any model, any way to give a row, and numbers that multiply to what is shown."""

from __future__ import annotations

import datetime
import io
import json
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from ingenuo.datasets import diabetes, play_tennis, weather
from ingenuo.errors import IngenuoError
from ingenuo.explanation.explain import explain, explained_page
from ingenuo.models.bayes_optimal import BayesOptimalClassifier
from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier
from ingenuo.models.hypotheses import Hypotheses
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.scikit_learn import CategoricalNB, GaussianNB, MultinomialNB
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.rows.typed import parse_row
from ingenuo.tally.prior import MaximumLikelihood

IRIS, SPECIES = load_iris(return_X_y=True)
TEXTS = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull", "a long dull day", "fine wine"]
MOODS = ["good", "good", "bad", "bad", "bad", "good"]
REVIEWS = pa.table(
    {"said": [*TEXTS, None], "stars": [4.0, 5, 2, None, 1, 4, 3], "paid": [True, False, None, True, False, True, True],
     "mood": [*MOODS, "good"]}
)  # fmt: skip

MODELS = {
    "nominal": lambda: (NaiveBayes().fit(play_tennis(), "Play"), play_tennis()),
    "numeric": lambda: (NaiveBayes(numbers="gaussian-unbiased").fit(weather(), "play"), weather()),
    "mixed, with text and missing values": lambda: (NaiveBayes(columns={"said": "text"}).fit(REVIEWS, "mood"), REVIEWS),
    "impossible": lambda: (NaiveBayes(prior=MaximumLikelihood()).fit(play_tennis(), "Play"), play_tennis()),
    "tuned": lambda: (NaiveBayes(tune=True).fit(diabetes(), "progression"), diabetes()),
    "calibrated": lambda: (NaiveBayes(calibration="platt").fit(diabetes(), "progression"), diabetes()),
    "lines": lambda: (GaussianDiscriminant().fit(IRIS, SPECIES), IRIS),
    "quadrics": lambda: (GaussianDiscriminant("full").fit(IRIS, SPECIES), IRIS),
    "softmax": lambda: (SoftmaxRegression(columns={"said": "text"}).fit(REVIEWS, "mood"), REVIEWS),
    "network": lambda: (NetworkClassifier("tan").fit(play_tennis(), "Play"), play_tennis()),
    "average of networks": lambda: (NetworkClassifier("aode").fit(play_tennis(), "Play"), play_tennis()),
    "sequences": lambda: (LanguageModelClassifier(order=2).fit(TEXTS, MOODS), TEXTS),
    "GaussianNB": lambda: (GaussianNB().fit(IRIS, SPECIES), IRIS),
    "MultinomialNB": lambda: (MultinomialNB().fit(csr_matrix(IRIS.round()), SPECIES), csr_matrix(IRIS.round())),
    "words in a list": lambda: (NaiveBayes().fit(TEXTS, MOODS), TEXTS),
}


def logs_shown(line, heads):
    """The logarithms of the values that a line of the table ends its cells with, one for each class."""
    values = re.findall(r"= (\S+)", line)
    found = [float(v[2:]) if v.startswith("e^") else math.log(float(v)) if float(v) else -math.inf for v in values]
    assert len(found) in (0, heads)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_the_numbers_printed_multiply_to_the_product_and_normalise_to_the_posterior(name):
    model, table = MODELS[name]()
    places = [0, 2, 3, 5]
    asked = model.predict_proba(table)[places]
    for shown, posterior in zip(explain(model, table, rows=places), asked):
        _, _, *body = str(shown).split("\n")
        rule = next(i for i, line in enumerate(body) if line.startswith("─"))
        factors = [logs for line in body[:rule] if (logs := logs_shown(line, len(posterior)))]
        product, shares = logs_shown(body[rule + 1], len(posterior)), logs_shown(body[rule + 2], len(posterior))
        with np.errstate(invalid="ignore"):
            multiplied = np.sum(factors, axis=0)
        digits = 1e-6 * len(factors) * max(1.0, np.abs(multiplied[np.isfinite(multiplied)]).max(initial=0) / 100)
        np.testing.assert_allclose(multiplied, product, atol=digits)
        whole = np.exp(multiplied - multiplied.max())
        np.testing.assert_allclose(np.exp(shares), whole / whole.sum(), atol=digits + 1e-6)
        last = np.exp(logs_shown(body[rule + 3], len(posterior))) if name == "calibrated" else np.exp(shares)
        np.testing.assert_allclose(last, posterior, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_holds_of_the_data_to_the_last_digits(name):
    model, table = MODELS[name]()
    for shown in explain(model, table, rows=[1, 4]):
        told = json.loads(json.dumps(shown.to_dict(), allow_nan=False))  # as strict readers take it
        logs = [
            [float(term["log"]) for term in factor["terms"]]
            for factor in (told["prior"], *told["factors"])
            if factor["terms"]
        ]
        joint = np.array([float(log) for log in told["log_joint"].values()])
        np.testing.assert_allclose(np.sum(logs, axis=0), joint, rtol=1e-9, atol=1e-9)
        shares = np.exp(joint - joint.max())
        np.testing.assert_allclose(
            shares / shares.sum(), list(told.get("uncalibrated", told["posterior"]).values()), atol=1e-9
        )


def test_the_addends_printed_sum_to_the_answer_of_least_squares():
    model = LeastSquaresClassifier().fit(IRIS, SPECIES)
    text = explain(model, IRIS[70]).to_text()
    lines = [[float(v) for v in re.findall(r"= (\S+)", line)] for line in text.split("\n")]
    *addends, total, shares = [line for line in lines if line]
    np.testing.assert_allclose(np.sum(addends, axis=0), total, atol=5e-6)
    np.testing.assert_allclose(shares, model.predict_proba(IRIS[70:71])[0], atol=1e-6)


OTHERS = {
    "least squares": lambda: (LeastSquaresClassifier().fit(IRIS, SPECIES), IRIS[0]),
    "a number": lambda: (NaiveBayesRegressor().fit(IRIS[:, :3], IRIS[:, 3]), IRIS[0, :3]),
    "a vote": lambda: (BayesOptimalClassifier([("a", GaussianNB())]).fit(IRIS, SPECIES), IRIS[0]),
    "whole numbers as classes": lambda: (GaussianNB().fit(IRIS, SPECIES), IRIS[0]),
    "days as classes": lambda: (
        NaiveBayes().fit([[1.0], [2.0]], [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]), [1.5]
    ),
    "tuples as classes": lambda: (NaiveBayes().fit([[1.0], [2.0]], pd.Series([("a", 1), ("b", 2)])), [1.5]),
}  # fmt: skip


@pytest.mark.parametrize("name", [*OTHERS, *MODELS])
def test_every_explanation_is_text_data_and_a_page_of_its_own(name):
    model, row = OTHERS[name]() if name in OTHERS else (lambda m, t: (m, t))(*MODELS[name]())
    shown = explain(model, row) if name in OTHERS else explain(model, row, rows=[0])[0]
    json.dumps(shown.to_dict(), allow_nan=False)
    page = shown.to_html("What & why")
    assert page.startswith("<!doctype html>")
    assert "<title>What &amp; why</title>" in page
    assert "prefers-color-scheme:dark" in page
    assert not re.search(r"<script|https?:|src=|@import", page)
    assert shown._repr_html_() in page
    assert shown.to_text() == str(shown)
    printed = io.StringIO()
    shown.show(printed)
    assert printed.getvalue() == str(shown) + "\n"


def test_what_is_impossible_is_written_as_text_in_the_data():
    model = NaiveBayes(prior=MaximumLikelihood()).fit(play_tennis(), "Play")
    told = explain(model, {"Outlook": "Overcast"}).to_dict()
    assert told["log_joint"]["No"] == "-inf"
    assert told["product"]["No"] == 0


def test_rows_of_any_table_are_explained_alike():
    table = play_tennis()
    model = NaiveBayes().fit(table, "Play")
    wanted = [each.to_dict() for each in (explain(model, row) for row in table.slice(3, 2).to_pylist())]
    frames = [table, table.to_pandas(), pl.from_arrow(table), table.drop_columns("Play").to_pandas().to_numpy()]
    for frame in frames:
        assert [each.to_dict() for each in explain(model, frame, rows=[3, 4])] == wanted
    words = NaiveBayes().fit(TEXTS, MOODS)
    for column in (TEXTS, np.array(TEXTS), pd.Series(TEXTS, index=range(10, 16)), pa.array(TEXTS)):
        assert explain(words, column, rows=(1,))[0].to_dict() == words.explain(TEXTS[1]).to_dict()


def test_a_row_can_be_typed():
    model = NaiveBayes().fit(weather(), "play")
    wanted = {"outlook": "sunny", "temperature": 66.0, "windy": True, "humidity": None}
    for text in (
        "outlook=sunny, temperature=66, windy=true, humidity=?",
        " outlook = sunny,temperature= 66.0 ,windy=True,humidity=",
        "outlook='sunny', 'temperature'=\"66\", windy=true, humidity=?, ",
        '{"outlook": "sunny", "temperature": 66, "windy": true, "humidity": null}',
        '{"outlook": "sunny", "temperature": "66", "windy": "true", "humidity": "?"}',
        "outlook=sunny, temperature=66, windy=true, humidity=?, play=yes",
    ):
        assert parse_row(text, model) == wanted
    typed = explain(model, "outlook=sunny, temperature=66, windy=true")
    assert typed.to_dict() == model.explain({"outlook": "sunny", "temperature": 66, "windy": True}).to_dict()


def test_categories_get_the_type_that_the_model_knows_them_by():
    table = pa.table(
        {"grade": [1, 2, 3, 1], "half": [0.5, 1.0, 0.5, 1.0], "name": ["a, b", "O'Neil", 'say "x"', "?"],
         "y": ["p", "q", "p", "q"]}
    )  # fmt: skip
    model = NaiveBayes(columns={"grade": "category", "half": "category"}).fit(table, "y")
    row = parse_row("grade=3, half=1, name='a, b'", model)
    assert row == {"grade": 3, "half": 1.0, "name": "a, b"}
    assert type(row["grade"]) is int
    assert parse_row("name=O'Neil, grade=7", model) == {"name": "O'Neil", "grade": 7}
    assert parse_row("name='say \"x\"', half='?'", model) == {"name": 'say "x"', "half": None}
    assert parse_row("name='?'", model) == {"name": "?"}
    assert parse_row("name=?", model) == {"name": None}
    assert parse_row("name='O''Neil'", model) == {"name": "O'Neil"}
    assert "never seen" in str(explain(model, "grade=7"))


def test_columns_without_names_are_called_by_their_place():
    model = GaussianNB().fit(IRIS, SPECIES)
    typed = explain(model, "x0=5.1, x1=3.5, x2=1.4, x3=0.2")
    assert typed.to_dict() == model.explain(IRIS[0]).to_dict()


def test_rows_can_be_typed_for_every_kind_of_model():
    tennis, text = play_tennis(), "Outlook=Sunny, Temperature=Cool, Humidity=High, Wind=Strong"
    for model in (
        NetworkClassifier("tan").fit(tennis, "Play"),
        NetworkClassifier("aode").fit(tennis, "Play"),
        SoftmaxRegression().fit(tennis, "Play"),
        BayesOptimalClassifier([("a", NaiveBayes())]).fit(tennis, "Play"),
        CategoricalNB().fit(tennis.drop_columns("Play").to_pandas(), tennis["Play"].to_pylist()),
    ):
        assert explain(model, text).prediction == "No"
    cut = NetworkClassifier("naive", columns={"temperature": "number", "humidity": "number"}).fit(weather(), "play")
    assert parse_row("temperature=66, windy=false", cut) == {"temperature": 66.0, "windy": False}
    sequences = LanguageModelClassifier().fit(TEXTS, MOODS)
    assert explain(sequences, "outlook=fine").to_dict() == sequences.explain("outlook=fine").to_dict()
    assert parse_row("a=b", NaiveBayes().fit(TEXTS, MOODS)) == "a=b"
    mixed = NaiveBayes(columns={"said": "text"}).fit(REVIEWS, "mood")
    assert parse_row("said='a fine, long film', paid=false", mixed) == {"said": "a fine, long film", "paid": False}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("outlok=sunny", "'outlok' that the model does not know; did you mean 'outlook'"),
        ("temperature=warm", "column 'temperature' is a number, got 'warm'"),
        ('{"temperature": true}', "column 'temperature' is a number, got true"),
        ('{"outlook": ["sunny"]}', "give one value"),
        ("outlook", "'outlook' has no value"),
        ("outlook=sunny, rainy", "'rainy' has no value"),
        ("outlook='sunny", "is not closed"),
        ("outlook='sunny' today", "after the quoted 'sunny'"),
        ("=sunny", "no column before"),
        ("outlook=a, outlook=b", "two values, 'a' and 'b'"),
        ("", "the row is empty"),
        ("{outlook: sunny}", "looks like JSON and is none"),
    ],
)
def test_a_typing_mistake_is_told(text, why):
    model = NaiveBayes().fit(weather(), "play")
    with pytest.raises(IngenuoError, match=re.escape(why)):
        explain(model, text)


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(IngenuoError, match="a LogisticRegression cannot explain"):
        explain(LogisticRegression(), [1])
    with pytest.raises(IngenuoError, match="a Hypotheses cannot explain"):
        explain(Hypotheses({"fair": 0.5, "biased": 0.5}, {"fair": {"H": 1.0}, "biased": {"H": 1.0}}), "H")
    model = NaiveBayes().fit(play_tennis(), "Play")
    with pytest.raises(IngenuoError, match="there is no row 14: the table has 14 rows"):
        explain(model, play_tennis(), rows=[14])
    with pytest.raises(IngenuoError, match="rows must be whole numbers"):
        explain(model, play_tennis(), rows=["3"])
    with pytest.raises(IngenuoError, match="leave out rows="):
        explain(model, "Outlook=Sunny", rows=[0])
    with pytest.raises(IngenuoError, match="2 explanations and 1 names"):
        explained_page(explain(model, play_tennis(), rows=[0, 1]), ["one"])
