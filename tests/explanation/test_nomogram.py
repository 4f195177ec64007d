"""A nomogram loses nothing: the points of a row, added by hand, give the probability that the model gives."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris

from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import IngenuoError, InputError, KindError
from ingenuo.explanation.nomogram import nomogram
from ingenuo.models.bayes_classifier import BayesClassifier
from ingenuo.models.bayes_optimal import BayesOptimalClassifier
from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.scikit_learn import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.show.svg import text_width
from ingenuo.tally.prior import MaximumLikelihood

DIABETES = diabetes()
IRIS, SPECIES = load_iris(return_X_y=True)
COUNTS = np.random.default_rng(0).poisson(1.2, (60, 5))
THIRDS = np.array(["a", "b", "c"])[np.arange(60) % 3]
TEXTS = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull", "a long dull day", "fine wine"]
MOODS = ["good", "good", "bad", "bad", "bad", "good"]

MODELS = {
    "categories": lambda: (NaiveBayes().fit(play_tennis(), "Play"), play_tennis()),
    "mixed, with missing values": lambda: (NaiveBayes().fit(DIABETES, "progression"), DIABETES),
    "kernels": lambda: (NaiveBayes(numbers="kernel").fit(DIABETES, "progression"), DIABETES),
    "tuned": lambda: (NaiveBayes(tune=True).fit(DIABETES, "progression"), DIABETES),
    "Platt": lambda: (NaiveBayes(calibration="platt").fit(DIABETES, "progression"), DIABETES),
    "isotonic": lambda: (NaiveBayes(calibration="isotonic").fit(DIABETES, "progression"), DIABETES),
    "three classes, cooled": lambda: (NaiveBayes(calibration="temperature").fit(IRIS, SPECIES), IRIS),
    "softmax": lambda: (SoftmaxRegression().fit(DIABETES, "progression"), DIABETES),
    "softmax of three": lambda: (SoftmaxRegression().fit(IRIS, SPECIES), IRIS),
    "lines": lambda: (GaussianDiscriminant().fit(IRIS, SPECIES), IRIS),
    "variances": lambda: (GaussianDiscriminant("diagonal").fit(IRIS, SPECIES), IRIS),
    "GaussianNB": lambda: (GaussianNB().fit(IRIS, SPECIES), IRIS),
    "MultinomialNB": lambda: (MultinomialNB().fit(COUNTS, THIRDS), COUNTS),
    "ComplementNB": lambda: (ComplementNB().fit(COUNTS, THIRDS), COUNTS),
    "BernoulliNB": lambda: (BernoulliNB().fit(COUNTS, THIRDS), COUNTS),
    "CategoricalNB": lambda: (CategoricalNB().fit(COUNTS, THIRDS), COUNTS),
    "text": lambda: (NaiveBayes().fit(TEXTS, MOODS), TEXTS),
    "words that are there": lambda: (NaiveBayes(counts="bernoulli").fit(TEXTS, MOODS), TEXTS),
}


def rows_of(table, n=40):
    """Some rows of a table, each as `points` takes it."""
    return table.slice(0, n).to_pylist() if isinstance(table, pa.Table) else list(table[:n])


@pytest.mark.parametrize("name", MODELS)
def test_the_total_of_the_points_gives_the_probability_of_the_model(name):
    model, table = MODELS[name]()
    shown = nomogram(model)
    classes = model.classes_.tolist()
    yes, no = classes.index(shown.positive), classes.index(shown.against)
    asked = model.predict_proba(table)
    for row, p in zip(rows_of(table), asked):
        read = shown.points(row)
        assert read.total == pytest.approx(sum(read.points.values()), abs=1e-9)
        assert read.probability == pytest.approx(p[yes] / (p[yes] + p[no]), abs=1e-9)
        assert shown.probability(read.total) == read.probability


@pytest.mark.parametrize("name", ["categories", "mixed, with missing values", "kernels", "tuned", "softmax"])
def test_a_row_has_the_points_that_its_value_is_drawn_with(name):
    model, _ = MODELS[name]()
    shown = nomogram(model)
    for scale in shown.scales:
        for tick in scale.ticks:
            read = shown.points({scale.column: tick.value})
            assert read.points[scale.column] == pytest.approx(tick.points, abs=1e-9)
            others = {each.column: each.missing for each in shown.scales if each is not scale}
            assert {column: read.points[column] for column in others} == pytest.approx(others, abs=1e-9)


def test_the_widest_column_spans_a_hundred_points_from_nought():
    shown = nomogram(NaiveBayes().fit(DIABETES, "progression"))
    widths = [scale.width for scale in shown.scales]
    assert widths[0] == pytest.approx(100)
    assert widths == sorted(widths, reverse=True)
    for scale in shown.scales:
        points = [tick.points for tick in scale.ticks] + [p for _, p in scale.curve] + [scale.missing]
        assert min(points) == pytest.approx(0, abs=1e-9)
        assert max(points) == pytest.approx(scale.width, abs=1e-9)


def test_what_is_not_drawn_needs_no_points():
    model = NaiveBayes().fit(DIABETES, "progression")
    few, all_of_it = nomogram(model, rows=3), nomogram(model)
    drawn = [scale.column for scale in few.scales[:3]]
    for row in rows_of(DIABETES):
        known = {name: row[name] for name in drawn}
        by_hand = sum(few.points(row).points[name] for name in drawn)
        assert few.probability(by_hand) == pytest.approx(all_of_it.points(known).probability, abs=1e-9)
    assert "7 more columns" in str(few)
    assert len(few.to_dict()["columns"]) == 10


def test_a_text_has_the_points_of_its_words_as_often_as_they_come():
    shown = nomogram(NaiveBayes().fit(TEXTS, MOODS))
    (scale,) = shown.scales
    word = {tick.label: tick.points for tick in scale.ticks}
    assert word["fine"] > 0 > word["dull"]
    read = shown.points("a fine, fine and dull film")
    assert read.total == pytest.approx(2 * word["fine"] + word["and"] + word["dull"] + word["film"])
    assert scale.missing == 0


def test_of_several_classes_any_two_can_be_set_against_each_other():
    model = GaussianNB().fit(IRIS, SPECIES)
    asked = model.predict_proba(IRIS[100:110])
    shown = nomogram(model, positive=2, against=1)
    assert shown.title == "P(2) where it is 2 or 1"
    for row, p in zip(IRIS[100:110], asked):
        assert shown.points(row).probability == pytest.approx(p[2] / (p[1] + p[2]), abs=1e-9)
    assert (nomogram(model, positive="2", against="1").positive, nomogram(model, against=0).against) == (2, 0)
    two = NaiveBayes().fit(play_tennis(), "Play")
    assert (nomogram(two, against="Yes").positive, nomogram(two).positive) == ("No", "Yes")


def test_a_probability_has_its_total_and_the_total_its_probability():
    for calibration in (None, "platt", "isotonic"):
        shown = nomogram(NaiveBayes(calibration=calibration).fit(DIABETES, "progression"))
        for p in (0.2, 0.5, 0.8):
            total = shown.total(p)
            assert total is not None
            assert shown.probability(total) == pytest.approx(p, abs=1e-6)


def test_where_a_repair_is_no_function_of_the_odds_the_nomogram_says_that_it_is_before_it():
    shown = nomogram(NaiveBayes(calibration="isotonic").fit(IRIS, SPECIES))
    assert any("before calibration" in remark for remark in shown.remarks)
    repaired = nomogram(NaiveBayes(calibration="platt").fit(IRIS, SPECIES))
    assert any(remark.startswith("Calibrated") for remark in repaired.remarks)


def test_a_value_that_one_class_holds_impossible_decides_alone():
    model = NaiveBayes(prior=MaximumLikelihood()).fit(play_tennis(), "Play")
    shown = nomogram(model)
    outlook = next(scale for scale in shown.scales if scale.column == "Outlook")
    assert {tick.label: tick.points for tick in outlook.ticks}["Overcast"] == math.inf
    assert "decides alone: Overcast" in outlook.note
    assert shown.points({"Outlook": "Overcast", "Humidity": "High"}).probability == 1
    told = json.loads(json.dumps(shown.to_dict(), allow_nan=False))
    assert "inf" in [tick["points"] for scale in told["columns"] for tick in scale["ticks"]]
    ElementTree.fromstring(shown.svg())


def test_of_columns_with_one_covariance_all_must_be_there():
    shown = nomogram(GaussianDiscriminant().fit(IRIS, SPECIES))
    whole = dict(zip(("x0", "x1", "x2", "x3"), IRIS[0]))
    assert shown.points(whole).points == pytest.approx(shown.points(IRIS[0]).points)
    with pytest.raises(InputError, match="column 'x2' is missing"):
        shown.points({**whole, "x2": None})


REFUSED = {
    "a covariance for each class": (
        lambda: GaussianDiscriminant("full").fit(IRIS, SPECIES),
        "take covariance='shared'",
    ),
    "least squares": (lambda: LeastSquaresClassifier().fit(IRIS, SPECIES), "no log odds"),
    "a network": (lambda: NetworkClassifier("tan").fit(play_tennis(), "Play"), "depend on one another"),
    "an average of networks": (lambda: NetworkClassifier("aode").fit(play_tennis(), "Play"), "depend on one another"),
    "sequences": (lambda: LanguageModelClassifier().fit(TEXTS, MOODS), "words before it"),
    "numbers": (lambda: NaiveBayesRegressor().fit(IRIS[:, :3], IRIS[:, 3]), "answers with a number"),
    "a weighted vote": (lambda: BayesClassifier([("a", GaussianNB())]).fit(IRIS, SPECIES), "vote of several models"),
    "a vote": (lambda: BayesOptimalClassifier([("a", GaussianNB())]).fit(IRIS, SPECIES), "several models"),
    "nothing learned": (NaiveBayes, "fit it first"),
    "one class": (lambda: NaiveBayes().fit([[1.0], [2.0]], ["a", "a"]), "one class only"),
    "no model": (lambda: 3, "got int"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_model_that_is_no_sum_over_its_columns_is_refused_with_the_reason(name):
    make, why = REFUSED[name]
    with pytest.raises(IngenuoError, match=why):
        nomogram(make())


def test_classes_that_are_not_there_are_told():
    model = NaiveBayes().fit(play_tennis(), "Play")
    with pytest.raises(InputError, match="positive='yes' is no class of the model; did you mean 'Yes'"):
        nomogram(model, positive="yes")
    with pytest.raises(InputError, match="both 'Yes'"):
        nomogram(model, positive="Yes", against="Yes")
    with pytest.raises(InputError, match="rows is 0; it must be at least 1"):
        nomogram(model, rows=0)
    with pytest.raises(KindError, match="rows must be a whole number"):
        nomogram(model, rows="all")


def odd_names():
    rng = np.random.default_rng(1)
    places = ["New York <City>", "München & Rome", "東京都", "", "a" * 200, "\x00\x1b[31m", "Zürich", "x"]
    table = {f"<b>{name}</b>": rng.choice(places, 80) for name in ("one", "two")}
    return NaiveBayes().fit(pa.table({**table, "class": rng.choice(["<yes>", "no & no"], 80)}), "class")


PICTURES = {**MODELS, "odd names": lambda: (odd_names(), None)}


@pytest.mark.parametrize("name", ["categories", "kernels", "tuned", "text", "three classes, cooled", "odd names"])
def test_no_label_of_the_picture_covers_another(name):
    root = ElementTree.fromstring(nomogram(PICTURES[name]()[0]).svg())
    height = float(root.attrib["viewBox"].split()[3])
    boxes = []
    for label in root.iter("{http://www.w3.org/2000/svg}text"):
        x, y, size = (float(label.attrib[key]) for key in ("x", "y", "font-size"))
        anchor, text = label.get("text-anchor", "start"), label.text or ""
        width = text_width(text, size) * (0.85 if anchor == "start" else 1)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
        boxes.append((left, left + width, y - size * 0.8, y + 1, text))
        assert y < height
    for i, one in enumerate(boxes):
        for two in boxes[i + 1 :]:
            apart = one[1] <= two[0] or two[1] <= one[0] or one[3] <= two[2] or two[3] <= one[2]
            assert apart, (one, two)


@pytest.mark.parametrize("name", ["mixed, with missing values", "kernels", "text", "odd names"])
def test_the_svg_stands_by_itself(name):
    shown = nomogram(PICTURES[name]()[0])
    text = shown.svg()
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]
    assert "currentColor" in text
    assert "viewBox" in root.attrib
    assert not any(word in text for word in ("<script", "href", "url(", "<b>"))
    assert text.count("http") == 1  # the name of the format
    written = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "total points" in written
    assert text in shown._repr_html_()
    assert shown.to_html().startswith("<!doctype html>")


def test_it_says_everything_as_data_that_json_takes():
    for name in ("mixed, with missing values", "text", "MultinomialNB"):
        shown = nomogram(MODELS[name]()[0])
        told = json.loads(json.dumps(shown.to_dict(), allow_nan=False))
        scale = told["columns"][0]
        assert {"column", "kind", "ticks", "missing"} <= set(scale)
        even = next(level["total_points"] for level in told["probability"] if level["probability"] == 0.5)
        assert told["log_odds_at_0_points"] + even / told["points_per_nat"] == pytest.approx(0, abs=1e-9)
