"""Explanations: any model, any way to give a row, and numbers that multiply to what is shown."""

from __future__ import annotations

import datetime
import html
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
from ingenuo.explanation.evidence import reasons
from ingenuo.explanation.explain import explain
from ingenuo.models.bayes_classifier import BayesClassifier
from ingenuo.models.bayes_optimal import BayesOptimalClassifier
from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier
from ingenuo.models.hypotheses import Hypotheses
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.scikit_learn import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.rows.typed import parse_row
from ingenuo.show import arithmetic
from ingenuo.show import table as table_module
from ingenuo.tally.prior import MaximumLikelihood
from ingenuo.text.words import Words

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


@pytest.fixture
def whole(monkeypatch):
    """Tables that are neither divided nor preceded by bars."""
    monkeypatch.setattr(table_module, "WIDTH", 10**6)
    monkeypatch.setattr(arithmetic, "_BARS", 10**6)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("whole")
def test_the_numbers_printed_multiply_to_the_product_and_normalise_to_the_posterior(name):
    model, table = MODELS[name]()
    places = [0, 2, 3, 5]
    asked = model.predict_proba(table)[places]
    for shown, posterior in zip(explain(model, table, rows=places), asked):
        _, _, *body = str(shown).split("\n")
        rule = next(i for i, line in enumerate(body) if line.startswith("─"))
        factors = [logs for line in body[:rule] if (logs := logs_shown(line, len(posterior)))]
        product, shares = logs_shown(body[rule + 1], len(posterior)), logs_shown(body[rule + 3], len(posterior))
        (whole,) = logs_shown(body[rule + 2], 1)
        with np.errstate(invalid="ignore"):
            multiplied = np.sum(factors, axis=0)
        digits = 1e-6 * len(factors) * max(1.0, np.abs(multiplied[np.isfinite(multiplied)]).max(initial=0) / 100)
        np.testing.assert_allclose(multiplied, product, atol=digits)
        np.testing.assert_allclose(np.logaddexp.reduce(multiplied), whole, atol=digits)
        odds = np.exp(multiplied - multiplied.max())
        np.testing.assert_allclose(np.exp(shares), odds / odds.sum(), atol=digits + 1e-6)
        last = np.exp(logs_shown(body[rule + 4], len(posterior))) if name == "calibrated" else np.exp(shares)
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


@pytest.mark.usefixtures("whole")
def test_the_addends_printed_sum_to_the_answer_of_least_squares():
    model = LeastSquaresClassifier().fit(IRIS, SPECIES)
    text = explain(model, IRIS[70]).to_text()
    lines = [[float(v) for v in re.findall(r"= (\S+)", line)] for line in text.split("\n")]
    *addends, total, shares = [line for line in lines if line]
    np.testing.assert_allclose(np.sum(addends, axis=0), total, atol=5e-6)
    np.testing.assert_allclose(shares, model.predict_proba(IRIS[70:71])[0], atol=1e-6)


VOTERS = [("a", GaussianNB()), ("b", SoftmaxRegression())]
OTHERS = {
    "least squares": lambda: (LeastSquaresClassifier().fit(IRIS, SPECIES), IRIS[0]),
    "a number": lambda: (NaiveBayesRegressor().fit(IRIS[:, :3], IRIS[:, 3]), IRIS[0, :3]),
    "a weighted vote": lambda: (BayesClassifier(VOTERS).fit(IRIS, SPECIES), IRIS[0]),
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
        BayesClassifier().fit(tennis, "Play"),
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
    with pytest.raises(IngenuoError, match="form='logs' is not known; did you mean 'log'"):
        explain(model, {"Outlook": "Rain"}, form="logs")
    with pytest.raises(IngenuoError, match="is a sum already"):
        explain(LeastSquaresClassifier().fit(IRIS, SPECIES), IRIS[0], form="log")
    with pytest.raises(IngenuoError, match="a vote is a sum"):
        explain(BayesOptimalClassifier([("a", GaussianNB())]).fit(IRIS, SPECIES), IRIS[0], form="log")


@pytest.mark.parametrize("name", MODELS)
def test_the_logarithms_printed_add_up_and_the_evidence_is_the_sum_of_the_products(name):
    model, rows = MODELS[name]()
    joint = np.asarray(model.predict_joint_log_proba(rows)) if hasattr(model, "predict_joint_log_proba") else None
    for place in (0, 3):
        (shown,) = explain(model, rows, rows=[place], form="log")
        lines = shown.records()
        names = [f"{label}: log" for label in shown.classes.tolist()]
        logs = [[line[each] for each in names] for line in lines if line[names[0]] is not None]
        *terms, total, posterior = np.array(logs)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(np.sum(terms, axis=0), total, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(np.exp(posterior), shown.posterior, atol=1e-12)
        if joint is not None and name != "tuned":
            np.testing.assert_allclose(shown.log_evidence, np.logaddexp.reduce(joint[place]), rtol=1e-9)
            np.testing.assert_allclose(shown.to_dict()["log_evidence"], shown.log_evidence)
        assert ("− log P(x)  " in str(shown)) == (name != "softmax")


def test_softmax_regression_has_no_distribution_of_rows_and_so_no_evidence():
    shown = explain(SoftmaxRegression().fit(IRIS, SPECIES), IRIS[0])
    assert "evidence" not in shown.to_dict()


@pytest.mark.parametrize("name", MODELS)
def test_no_line_of_text_is_longer_than_100_letters(name):
    model, rows = MODELS[name]()
    for form in ("product", "log"):
        for shown in explain(model, rows, rows=[0, 1], form=form):
            arithmetic_lines = shown.to_text().split("\n→ ")[0].split("\n")
            assert max(map(len, arithmetic_lines)) <= 100, shown


def test_many_columns_begin_with_bars_ranked_by_their_log_odds():
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b"], 60)
    X = rng.normal(size=(60, 14)) + (y == "b")[:, np.newaxis] * np.linspace(0, 2, 14)
    shown = NaiveBayes().fit(X, y).explain(X[0])
    head, *lines = shown.to_text().split("\n")
    best, second = (shown.classes[k] for k in shown.order)
    assert head == f"log odds for {best} (█), or for {second} (░)"
    bars = [re.fullmatch(r"  (\S.*?)  +([+-]\S+)  ?([█░]*)", line) for line in lines[:12]]
    odds = [float(bar[2]) for bar in bars]
    assert [abs(x) for x in odds[:10]] == sorted((abs(x) for x in odds[:10]), reverse=True)
    assert max(len(bar[3]) for bar in bars) == 30
    assert all(("█" in bar[3]) == (float(bar[2]) > 0) for bar in bars if bar[3])
    assert sum(odds) == pytest.approx(shown.joint[shown.order[0]] - shown.joint[shown.order[1]], abs=0.1)


def test_many_rows_are_a_list_that_shows_itself_and_is_worked_out_when_asked_for():
    table = play_tennis()
    model = NaiveBayes().fit(table, "Play")
    for rows in (
        table,
        table.to_pandas(),
        pl.from_arrow(table),
        table.to_pylist(),
        table.drop_columns("Play").to_pandas().to_numpy(),
    ):
        found = explain(model, rows)
        assert len(found) == 14
        assert [each.prediction for each in found] == model.predict(table).tolist()
    assert found[-1].to_dict() == model.explain(table.slice(13, 1)).to_dict()
    assert len(found[3:5]) == 2
    text = str(found)
    assert text.startswith("row 0\n")
    assert text.count("\nrow ") == 9
    assert text.endswith("… and 4 more rows")
    assert found.to_text().count("\nrow ") == 13
    assert found._repr_html_().count("<h2>") == 10
    assert found.to_html().count("<h2>") == 14
    assert found.to_markdown().count("\n## row ") == 13
    assert [each["row"] for each in found.to_dict()["rows"]] == list(range(14))
    frame = found.to_frame()
    assert frame["row"].nunique() == 14
    for (_, lines), share in zip(frame.groupby("row"), model.predict_proba(table)):
        factors = lines["Yes: factor"][~lines["column"].isin(["product", "posterior"])]
        assert math.prod(factors.dropna()) == pytest.approx(lines["Yes: factor"][lines["column"] == "product"].item())
        assert lines["Yes: factor"].iloc[-1] == pytest.approx(share[1])
    words = NaiveBayes().fit(TEXTS, MOODS)
    for column in (TEXTS, np.array(TEXTS), pd.Series(TEXTS, index=range(10, 16)), pa.array(TEXTS)):
        assert [each.prediction for each in explain(words, column)] == words.predict(TEXTS).tolist()
    vote = BayesOptimalClassifier([("a", GaussianNB())]).fit(IRIS, SPECIES)
    assert [each.prediction for each in explain(vote, IRIS[::50])] == vote.predict(IRIS[::50]).tolist()
    number = NaiveBayesRegressor().fit(IRIS[:, :3], IRIS[:, 3])
    assert [each.prediction for each in explain(number, IRIS[::50, :3])] == pytest.approx(
        number.predict(IRIS[::50, :3])
    )


def test_the_lines_of_every_row_have_the_same_columns_so_that_they_can_be_written_one_by_one():
    for name, (model, rows) in {name: make() for name, make in MODELS.items()}.items():
        several = explain(model, rows, rows=[0, 1, 2, 5])
        pieces = "".join(several.pieces("csv"))
        assert pieces == several.to_csv(), name
    vote = BayesOptimalClassifier([("a", GaussianNB())]).fit(IRIS, SPECIES)
    pooled = BayesClassifier(VOTERS).fit(IRIS, SPECIES)
    number = NaiveBayesRegressor().fit(IRIS[:, :3], IRIS[:, 3])
    for model, rows in ((vote, IRIS[::30]), (pooled, IRIS[::30]), (number, IRIS[::30, :3])):
        several = explain(model, rows)
        assert "".join(several.pieces("csv")) == several.to_csv()
    frame = several[0].to_frame()
    assert frame["value"].iloc[-1] == pytest.approx(number.predict(IRIS[:1, :3])[0])
    means, shares = (frame[frame["column"] == name].filter(like=": factor") for name in ("mean", "posterior"))
    assert (means.to_numpy() * shares.to_numpy()).sum() == pytest.approx(number.predict(IRIS[:1, :3])[0])
    assert explain(vote, IRIS[0]).to_frame()["P(0)"].iloc[-1] == pytest.approx(vote.predict_proba(IRIS[:1])[0, 0])


def by_odds(found):
    """Reasons by what they say: equal ones may come in any order."""
    return sorted((round(odds, 6), name) for name, odds in found)


@pytest.mark.parametrize("name", MODELS)
def test_the_reasons_of_many_rows_are_those_of_their_explanations(name):
    model, rows = MODELS[name]()
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    wanted = [each.reasons(50) for each in explain(model, rows, rows=range(n))]
    found = reasons(model, rows, 50)
    assert [by_odds(each) for each in found] == [by_odds(each) for each in wanted]
    few = reasons(model, rows, 2)
    for two, all_ in zip(few, found):
        assert [abs(odds) for _, odds in two] == [abs(odds) for _, odds in all_[:2]]


def test_reasons_of_counts_sets_and_tuned_texts_are_those_of_their_explanations():
    rng = np.random.default_rng(3)
    counts, y = rng.poisson(0.7, (40, 6)), rng.choice(["a", "b", "c"], 40)
    two = pa.table({"title": [*TEXTS, "fine"], "said": [None, *TEXTS], "mood": [*MOODS, "good"]})
    texts = [f"{rng.choice(['fine', 'dull', 'long'])} film {rng.choice(['wine', 'day'])} {k % 3}" for k in range(40)]
    for model, rows, labels in (
        (MultinomialNB(), csr_matrix(counts), y),
        (BernoulliNB(), counts, y),
        (ComplementNB(), counts, y),
        (NaiveBayes(counts="bernoulli", columns=dict.fromkeys(range(6), "count")), counts, y),
        (NaiveBayes(text=Words(binary=True)), TEXTS, MOODS),
        (NaiveBayes(text=Words(norm="l2", weighting="tfidf")), TEXTS, MOODS),
        (NaiveBayes(columns={"title": "text", "said": "text"}), two, "mood"),
        (NaiveBayes(tune=True), texts, rng.choice(["a", "b"], 40)),
    ):
        model.fit(rows, labels)
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        wanted = [each.reasons(50) for each in explain(model, rows, rows=range(n))]
        assert [by_odds(each) for each in reasons(model, rows, 50)] == [by_odds(each) for each in wanted], model


def test_reasons_of_networks_with_and_without_missing_values_are_those_of_their_explanations():
    rng = np.random.default_rng(5)
    a, b = rng.choice(["x", "y", "z"], 80), rng.normal(size=80)
    frame = pd.DataFrame({"a": a, "b": b, "c": np.where(a == "x", "p", rng.choice(["p", "q"], 80)), "d": b.round() > 0})
    frame["y"] = np.where((a == "x") ^ (b > 0), "yes", "no")
    frame.loc[::7, "a"] = None
    frame.loc[::11, "b"] = None
    for structure in ("tan", "kdb", "hill-climb", "aode"):
        model, rows = NetworkClassifier(structure).fit(frame, "y"), pa.Table.from_pandas(frame.drop(columns="y"))
        wanted = [each.reasons(9) for each in explain(model, rows)]
        assert [by_odds(each) for each in reasons(model, rows, 9)] == [by_odds(each) for each in wanted], structure


def test_the_reasons_of_many_rows_are_not_worked_out_row_by_row(monkeypatch):
    rng, n = np.random.default_rng(0), 50
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(list("xyz"), n), "y": rng.choice(["yes", "no"], n)})
    model = NaiveBayes().fit(frame, "y")
    rows = pa.Table.from_pandas(frame.drop(columns="y"))
    wanted = [by_odds(each.reasons(3)) for each in explain(model, rows)]

    def fail(*_):
        raise AssertionError("one row was explained by itself")

    monkeypatch.setattr(NaiveBayes, "_explain_row", fail)
    assert [by_odds(each) for each in reasons(model, rows, 3)] == wanted


HOSTILE = "a&b_c%d$e#f{g}h~i^j\\k<l>|m*n`o[p](q)"


def test_markdown_and_latex_show_names_as_they_are():
    from markdown_it import MarkdownIt

    model = NaiveBayes().fit(pd.DataFrame({HOSTILE: [HOSTILE, "x"] * 4, "y": [HOSTILE, "no"] * 4}), "y")
    shown = model.explain({HOSTILE: HOSTILE})
    page = MarkdownIt("commonmark").enable("table").render(shown.to_markdown())
    cells = [html.unescape(cell) for cell in re.findall(r"<t[dh]>(.*?)</t[dh]>", page)]
    assert cells.count(HOSTILE) == 3  # the class, the column and its value
    assert page.count("<tr>") == 1 + 2 + 3
    latex = shown.to_latex()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
    commands = r"text\w+\{\}|[&%$#_{}]|\\|(begin|end)\{tabular\}|\{l+\}|multicolumn\{5\}\{l\}\{P\(x\) = \S+\}|hline"
    plain = re.sub(rf"\\({commands})|\{{l+\}}|\$[^$]*\$", "", latex)
    assert not set(plain) & set("%$#_{}~^\\<>|"), plain
    rows = [line for line in latex.split("\n") if line.endswith(r"\\") and r"\multicolumn" not in line]
    assert [line.count(" & ") for line in rows] == [5] * 5
