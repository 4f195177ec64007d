"""The weather network of the notes: the product of its tables' entries, and the misprint in its source."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from ingenuo.datasets import play_tennis
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks.network import Network
from ingenuo.tally.prior import Lidstone

ARCS = [
    *(("Play", attribute) for attribute in ("Outlook", "Temperature", "Humidity", "Wind")),
    ("Outlook", "Temperature"),
    ("Outlook", "Wind"),
    ("Temperature", "Humidity"),
]
DAY = {"Outlook": "Rain", "Temperature": "Cool", "Humidity": "High"}

# (count + 0.5) / (rows + 0.5 × states): of no and of yes.
ENTRIES = {
    "prior": (Fraction("5.5") / 15, Fraction("9.5") / 15),
    "Outlook": (Fraction("2.5") / Fraction("6.5"), Fraction("3.5") / Fraction("10.5")),
    "Temperature": (Fraction("1.5") / Fraction("3.5"), Fraction("1.5") / Fraction("4.5")),
    "Humidity": (Fraction("0.5") / 2, Fraction("0.5") / 4),
}
WIND = {
    "Strong": (Fraction("2.5") / 3, Fraction("0.5") / 4),
    "Weak": (Fraction("0.5") / 3, Fraction("3.5") / 4),
}
NOTES = {  # products of no and yes, and posteriors, as printed
    "Strong": ((0.0125916, 0.0010995), (0.9197, 0.0803)),
    "Weak": ((0.0025183, 0.0076968), (0.2465, 0.7535)),
}


@pytest.fixture(scope="module")
def model() -> Any:
    structure = Network.from_arcs(ARCS)
    return NetworkClassifier(structure, prior=Lidstone(0.5)).fit(play_tennis(), "Play")


def exact(wind: str) -> list[Fraction]:
    products = []
    for k in range(2):
        product = WIND[wind][k]
        for entry in ENTRIES.values():
            product *= entry[k]
        products.append(product)
    return products


@pytest.mark.parametrize("wind", ["Strong", "Weak"])
def test_products_and_posteriors_are_those_of_the_notes(model: Any, wind: str) -> None:
    row = {**DAY, "Wind": wind}
    products, posteriors = NOTES[wind]
    wanted = exact(wind)
    assert [round(float(p), 7) for p in wanted] == list(products)
    shown = model.explain(row).to_dict()
    assert list(shown["product"]) == ["No", "Yes"]
    assert list(shown["product"].values()) == pytest.approx([float(p) for p in wanted], rel=1e-14)
    found = [float(p / sum(wanted)) for p in wanted]
    assert list(shown["posterior"].values()) == pytest.approx(found, abs=1e-15)
    assert model.predict_proba(pd.DataFrame([row]))[0].tolist() == pytest.approx(found, abs=1e-15)
    assert [round(p, 4) for p in found] == list(posteriors)


@pytest.mark.parametrize("wind", ["Strong", "Weak"])
def test_each_entry_is_shown_as_a_person_counts_it(model: Any, wind: str) -> None:
    shown = model.explain({**DAY, "Wind": wind}).to_dict()
    factors = {each["column"]: each for each in (shown["prior"], *shown["factors"])}
    for name, (no, yes) in {**ENTRIES, "Wind": WIND[wind]}.items():
        values = [term["value"] for term in factors[name]["terms"]]
        assert values == pytest.approx([float(no), float(yes)], rel=1e-15)
    how = {name: [term["how"] for term in each["terms"]] for name, each in factors.items()}
    assert how["prior"] == ["(5 + 0.5)/(14 + 1)", "(9 + 0.5)/(14 + 1)"]
    assert how["Outlook"] == ["(2 + 0.5)/(5 + 1.5)", "(3 + 0.5)/(9 + 1.5)"]
    assert how["Temperature"] == ["(1 + 0.5)/(2 + 1.5)", "(1 + 0.5)/(3 + 1.5)"]
    assert how["Humidity"] == ["(0 + 0.5)/(1 + 1)", "(0 + 0.5)/(3 + 1)"]
    assert factors["Temperature"]["value"] == "Cool | Outlook Rain"


def test_the_notes_say_strong_wind_and_reckon_with_weak(model: Any) -> None:
    """Their answer, yes with three quarters, belongs to the other day."""
    strong, weak = (model.predict(pd.DataFrame([{**DAY, "Wind": wind}]))[0] for wind in ("Strong", "Weak"))
    assert (strong, weak) == ("No", "Yes")


def test_the_network_answers_as_the_classifier_does(model: Any) -> None:
    for wind in ("Strong", "Weak"):
        wanted = exact(wind)
        found = model.network_.posterior("Play", {**DAY, "Wind": wind})
        assert found == pytest.approx({"No": float(wanted[0] / sum(wanted)), "Yes": float(wanted[1] / sum(wanted))})
        evidence = {**DAY, "Wind": wind}
        assert model.network_.probability(evidence) == pytest.approx(float(sum(wanted)), rel=1e-13)
    by_rows = Network.from_arcs(ARCS).fit(play_tennis(), prior=Lidstone(0.5))
    assert by_rows.posterior("Play", DAY) == pytest.approx(model.network_.posterior("Play", DAY), abs=1e-15)


def test_a_wind_that_nobody_noted_is_summed_out(model: Any) -> None:
    both = [sum(each) for each in zip(exact("Strong"), exact("Weak"))]
    wanted = [float(each / sum(both)) for each in both]
    assert model.predict_proba(pd.DataFrame([{**DAY, "Wind": None}]))[0].tolist() == pytest.approx(wanted, abs=1e-15)
