"""The worked examples of naive Bayes on tables, with the numbers that a person gets by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib.resources import files

import pandas as pd
import pytest

from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.tally.prior import Dirichlet, Laplace, Lidstone, MaximumLikelihood, MEstimate

SUNNY = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}
NO_OUTLOOK = {**SUNNY, "Outlook": None}
WINDY = {"outlook": "sunny", "temperature": 66, "humidity": 90, "windy": True}


def read(name):
    return pd.read_csv(str(files("ingenuo") / "datasets" / name))


@pytest.fixture(scope="module")
def tennis():
    return NaiveBayes(prior=MaximumLikelihood()).fit(read("play_tennis.csv"), "Play")


@pytest.fixture(scope="module")
def weather():
    return NaiveBayes(prior=MaximumLikelihood(), numbers="gaussian-unbiased").fit(read("weather.csv"), "play")


def posterior(model, row):
    found = model.explain(row).to_dict()["posterior"]
    direct = model.predict_proba(pd.DataFrame([row]))[0]
    assert list(found.values()) == pytest.approx(direct.tolist(), abs=1e-15)
    return found


def product(model, row):
    return model.explain(row).to_dict()["product"]


def term(model, row, column, label):
    """(how it is written, its value) of one column and class in an explanation."""
    explanation = model.explain(row).to_dict()
    factors = [explanation["prior"], *explanation["factors"]]
    factor = next(f for f in factors if f["column"] == column)
    found = next(t for t in factor["terms"] if t["class"] == label)
    return found["how"], found["value"]


def test_the_table_is_the_one_of_the_notes():
    table = read("play_tennis.csv")
    assert table.shape == (14, 5)
    assert table["Play"].value_counts().to_dict() == {"Yes": 9, "No": 5}
    assert table[table["Play"] == "Yes"]["Outlook"].value_counts().to_dict() == {
        "Sunny": 2,
        "Overcast": 4,
        "Rain": 3,
    }


def test_the_numbers_are_the_ones_of_the_notes():
    table = read("weather.csv")
    yes, no = table[table["play"] == "yes"], table[table["play"] == "no"]
    assert yes["temperature"].tolist() == [83, 70, 68, 64, 69, 75, 75, 72, 81]
    assert yes["humidity"].tolist() == [86, 96, 80, 65, 70, 80, 70, 90, 75]
    assert no["temperature"].tolist() == [85, 80, 65, 72, 71]
    assert no["humidity"].tolist() == [85, 90, 70, 95, 91]


# Sunny, Cool, High, Strong: 9/14 · 2/9 · 3/9 · 3/9 · 3/9 against 5/14 · 3/5 · 1/5 · 4/5 · 3/5.


def test_a_sunny_cool_humid_windy_day(tennis):
    found = product(tennis, SUNNY)
    assert found["Yes"] == pytest.approx(1 / 189, rel=1e-14)
    assert found["No"] == pytest.approx(18 / 875, rel=1e-14)
    assert posterior(tennis, SUNNY)["Yes"] == pytest.approx(0.2045827, abs=5e-8)
    assert tennis.predict(pd.DataFrame([SUNNY])).tolist() == ["No"]


@pytest.mark.parametrize(
    ("column", "yes", "no"),
    [
        ("prior", "9/14", "5/14"),
        ("Outlook", "2/9", "3/5"),
        ("Temperature", "3/9", "1/5"),
        ("Humidity", "3/9", "4/5"),
        ("Wind", "3/9", "3/5"),
    ],
)
def test_the_explanation_shows_the_fraction_of_every_column(tennis, column, yes, no):
    for label, wanted in (("Yes", yes), ("No", no)):
        how, value = term(tennis, SUNNY, column, label)
        assert how == wanted
        assert value == pytest.approx(float(Fraction(wanted)), rel=1e-14)


def test_the_explanation_prints_as_the_table_written_by_hand(tennis):
    lines = [line.split() for line in str(tennis.explain(SUNNY)).splitlines()]
    assert lines[0] == ["No", "Yes"]
    assert lines[2] == ["prior", "5/14", "=", "0.3571429", "9/14", "=", "0.6428571"]
    assert lines[3] == ["Outlook", "Sunny", "3/5", "=", "0.6", "2/9", "=", "0.2222222"]
    assert lines[4] == ["Temperature", "Cool", "1/5", "=", "0.2", "3/9", "=", "0.3333333"]
    assert lines[5] == ["Humidity", "High", "4/5", "=", "0.8", "3/9", "=", "0.3333333"]
    assert lines[6] == ["Wind", "Strong", "3/5", "=", "0.6", "3/9", "=", "0.3333333"]
    assert lines[8] == ["product", "=", "0.02057143", "=", "0.005291005"]
    assert lines[9] == ["their", "sum", "P(x)", "=", "0.02586243"]
    assert lines[10] == ["÷", "their", "sum", "=", "0.795417", "=", "0.204583"]
    assert lines[11] == ["→", "No,", "with", "probability", "0.795417"]


@pytest.mark.parametrize("row", [SUNNY, NO_OUTLOOK, {"Wind": "Weak"}, {}])
@pytest.mark.parametrize("prior", [MaximumLikelihood(), Laplace(), Lidstone(0.3), MEstimate(2), Dirichlet(1.5)])
def test_the_terms_multiply_to_the_product_and_normalise_to_the_posterior(row, prior):
    model = NaiveBayes(prior=prior, class_prior=Lidstone(0.7)).fit(read("play_tennis.csv"), "Play")
    explanation = model.explain(row).to_dict()
    factors = [explanation["prior"], *explanation["factors"]]
    products = {
        name: math.prod(t["value"] for f in factors for t in f["terms"] if t["class"] == name) for name in ("Yes", "No")
    }
    for name, value in products.items():
        assert explanation["product"][name] == pytest.approx(value, rel=1e-12)
        assert explanation["log_joint"][name] == pytest.approx(math.log(value), rel=1e-12)
        assert explanation["posterior"][name] == pytest.approx(value / sum(products.values()), rel=1e-12)
    for t in (t for f in factors for t in f["terms"]):
        assert t["log"] == pytest.approx(math.log(t["value"]), rel=1e-12)


def test_a_missing_outlook_is_left_out_of_the_product(tennis):
    found = product(tennis, NO_OUTLOOK)
    assert found["Yes"] == pytest.approx(0.0238095, abs=5e-8)
    assert found["No"] == pytest.approx(0.0342857, abs=5e-8)
    assert posterior(tennis, NO_OUTLOOK)["Yes"] == pytest.approx(0.4098361, abs=5e-8)
    outlook = tennis.explain(NO_OUTLOOK).to_dict()["factors"][0]
    assert outlook == {"column": "Outlook", "value": "missing", "note": "left out", "terms": []}
    assert "left out" in str(tennis.explain(NO_OUTLOOK))


def test_an_overcast_day_is_never_a_no_without_smoothing(tennis):
    row = {**SUNNY, "Outlook": "Overcast"}
    assert product(tennis, row)["No"] == 0
    assert posterior(tennis, row) == {"No": 0, "Yes": 1}
    assert term(tennis, row, "Outlook", "No") == ("0/5", 0)


# The numeric version: sunny, 66, 90, windy.


def test_means_and_deviations_of_the_numbers(weather):
    parameters = weather._parameters().of("temperature").own
    means, deviations = parameters.means.tolist(), parameters.deviations.tolist()
    assert means[1] == pytest.approx([73, 79.1111], abs=5e-5)
    assert deviations[1] == pytest.approx([6.1644, 10.2157], abs=5e-5)
    assert means[0] == pytest.approx([74.6, 86.2], abs=1e-12)


@pytest.mark.parametrize(
    ("column", "label", "density"),
    [
        ("temperature", "yes", 0.0339635),
        ("humidity", "yes", 0.0221275),
        ("temperature", "no", 0.0279176),
        ("humidity", "no", 0.0379860),
    ],
)
def test_the_densities_of_the_numbers(weather, column, label, density):
    assert term(weather, WINDY, column, label)[1] == pytest.approx(density, abs=5e-8)


def test_a_sunny_day_of_66_degrees(weather):
    found = product(weather, WINDY)
    assert found["yes"] == pytest.approx(3.57871e-5, rel=5e-6)
    assert found["no"] == pytest.approx(1.363472e-4, rel=5e-7)
    assert posterior(weather, WINDY)["yes"] == pytest.approx(0.2079, abs=5e-5)


def test_the_explanation_shows_mean_and_deviation(weather):
    assert term(weather, WINDY, "temperature", "yes")[0] == "f(66 | μ 73, σ 6.16441)"
    assert term(weather, WINDY, "humidity", "yes")[0] == "f(90 | μ 79.1111, σ 10.2157)"
    assert term(weather, WINDY, "windy", "yes")[0] == "3/9"
    assert term(weather, WINDY, "windy", "no")[0] == "3/5"


def test_the_variance_over_n_is_the_one_of_maximum_likelihood():
    model = NaiveBayes(prior=MaximumLikelihood()).fit(read("weather.csv"), "play")
    yes = [83, 70, 68, 64, 69, 75, 75, 72, 81]
    variance = sum((x - 73) ** 2 for x in yes) / 9
    density = math.exp(-((66 - 73) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    assert term(model, WINDY, "temperature", "yes")[1] == pytest.approx(density, rel=1e-12)


# Smoothing.


@pytest.mark.parametrize("mu", [0, 1, 3, 0.5, 100])
@pytest.mark.parametrize(("outlook", "count"), [("Sunny", 2), ("Overcast", 4), ("Rain", 3)])
def test_the_m_estimate_on_outlook(mu, outlook, count):
    model = NaiveBayes(prior=MEstimate(mu)).fit(read("play_tennis.csv"), "Play")
    how, value = term(model, {"Outlook": outlook}, "Outlook", "Yes")
    assert value == pytest.approx((count + mu / 3) / (9 + mu), rel=1e-14)
    if mu == 3:
        assert how == f"({count} + 1)/(9 + 3)"
    if mu == 0:
        assert how == f"{count}/9"


def test_the_m_estimate_with_unequal_weights():
    weights = {"Outlook": {"Sunny": 0.5, "Overcast": 0.25, "Rain": 0.25}}
    model = NaiveBayes(prior=MEstimate(4, weights)).fit(read("play_tennis.csv"), "Play")
    for outlook, count, share in (("Sunny", 2, 0.5), ("Overcast", 4, 0.25), ("Rain", 3, 0.25)):
        value = term(model, {"Outlook": outlook}, "Outlook", "Yes")[1]
        assert value == pytest.approx((count + 4 * share) / (9 + 4), rel=1e-14)
    assert term(model, {"Wind": "Strong"}, "Wind", "No")[1] == pytest.approx((3 + 2) / (5 + 4), rel=1e-14)


@pytest.mark.parametrize("alpha", [1, 0.5, 0.01])
def test_adding_alpha_to_every_count(alpha):
    model = NaiveBayes(prior=Lidstone(alpha)).fit(read("play_tennis.csv"), "Play")
    row = {"Outlook": "Overcast", "Wind": "Strong"}
    assert term(model, row, "Outlook", "No")[1] == pytest.approx(alpha / (5 + 3 * alpha), rel=1e-14)
    assert term(model, row, "Wind", "Yes")[1] == pytest.approx((3 + alpha) / (9 + 2 * alpha), rel=1e-14)
    assert term(model, row, "prior", "Yes") == ("9/14", pytest.approx(9 / 14, rel=1e-14))


def test_laplace_is_lidstone_of_one_and_dirichlet_of_two():
    table = read("play_tennis.csv")
    models = [NaiveBayes(prior=prior).fit(table, "Play") for prior in (Laplace(), Lidstone(1), Dirichlet(2))]
    assert len({tuple(posterior(model, SUNNY).values()) for model in models}) == 1
    assert term(models[0], SUNNY, "Outlook", "Yes") == ("(2 + 1)/(9 + 3)", 0.25)


@pytest.mark.parametrize("extra", [1, 0.5, 10])
def test_smoothing_the_classes(extra):
    model = NaiveBayes(class_prior=Lidstone(extra)).fit(read("play_tennis.csv"), "Play")
    how, value = term(model, SUNNY, "prior", "Yes")
    assert value == pytest.approx((9 + extra) / (14 + 2 * extra), rel=1e-14)
    assert how == f"(9 + {extra:g})/(14 + {2 * extra:g})"


def test_the_order_of_learning_and_a_day_forgotten():
    """Without day 14 (Rain, Mild, High, Strong: No) the fractions are those of thirteen days."""
    table = read("play_tennis.csv")
    model = NaiveBayes(prior=MaximumLikelihood()).fit(table, "Play").forget(table[13:], "Play")
    assert term(model, SUNNY, "prior", "No")[0] == "4/13"
    assert term(model, SUNNY, "Wind", "No")[0] == "2/4"
    assert term(model, SUNNY, "Humidity", "No")[0] == "3/4"
