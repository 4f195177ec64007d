"""The worked examples of Bayes' rule over a finite set of hypotheses, in fractions where a person would use them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ingenuo.models.hypotheses import Hypotheses

HALF, THREE_FIFTHS = Fraction(1, 2), Fraction(3, 5)
COIN = {"fair": {"Head": HALF, "Tail": HALF}, "biased": {"Head": THREE_FIFTHS, "Tail": 1 - THREE_FIFTHS}}
DECIMALS = {"fair": {"Head": 0.5, "Tail": 0.5}, "biased": {"Head": 0.6, "Tail": 0.4}}


@pytest.fixture
def coin():
    return Hypotheses({"fair": Fraction(3, 4), "biased": Fraction(1, 4)}, COIN)


@pytest.fixture
def decimal_coin():
    return Hypotheses({"fair": 0.75, "biased": 0.25}, DECIMALS)


def test_a_head_has_probability_21_in_40_before_it_is_seen(coin, decimal_coin):
    assert coin.predict("Head") == Fraction(21, 40)
    assert coin.update("Head").evidence == Fraction(21, 40)
    assert decimal_coin.predict("Head") == pytest.approx(0.525, rel=1e-15)


def test_after_a_head_the_fair_coin_has_5_in_7(coin, decimal_coin):
    seen = coin.update("Head")
    assert seen.posterior == {"fair": Fraction(5, 7), "biased": Fraction(2, 7)}
    assert decimal_coin.update("Head").posterior == pytest.approx({"fair": 0.7142857, "biased": 0.2857143}, abs=5e-8)
    assert seen.map() == decimal_coin.update("Head").map() == "fair"


def test_the_likelihood_alone_prefers_the_biased_coin(coin):
    assert coin.update("Head").ml() == "biased"


@pytest.mark.parametrize("data", [{"Head": 70, "Tail": 30}, ["Head"] * 70 + ["Tail"] * 30])
def test_70_heads_in_100_show_the_bias(coin, decimal_coin, data):
    seen = coin.update(data)
    # The common 3/4, 1/4 and 5^100 cancel: 3 · 5^100 against 2^100 · 3^70 · 2^30.
    fair, biased = 3 * 5**100, 2**100 * 3**70 * 2**30
    assert seen.posterior == {"fair": Fraction(fair, fair + biased), "biased": Fraction(biased, fair + biased)}
    for found in (seen.posterior, decimal_coin.update(data).posterior):
        assert float(found["fair"]) == pytest.approx(0.0068981, abs=5e-8)
        assert float(found["biased"]) == pytest.approx(0.9931019, abs=5e-8)
    assert seen.map() == seen.ml() == "biased"


def test_with_equal_priors_a_head_leans_to_the_biased_coin():
    seen = Hypotheses(["fair", "biased"], COIN).update("Head")
    assert seen.posterior == {"fair": Fraction(5, 11), "biased": Fraction(6, 11)}
    assert float(seen.posterior["fair"]) == pytest.approx(0.4545455, abs=5e-8)
    assert float(seen.posterior["biased"]) == pytest.approx(0.5454545, abs=5e-8)
    assert seen.map() == "biased"


@pytest.mark.parametrize("number", [Fraction, float])
def test_the_vote_of_all_hypotheses_overrules_the_best_one(number):
    beliefs = {"h1": number(Fraction("0.4")), "h2": number(Fraction("0.3")), "h3": number(Fraction("0.3"))}
    voters = Hypotheses(beliefs, {"h1": {"+": 1}, "h2": {"-": 1}, "h3": {"-": 1}})
    assert voters.map() == "h1"
    assert voters.predict() == {"+": number(Fraction("0.4")), "-": number(Fraction("0.6"))}
    assert voters.classify() == "-"


def test_an_orange_came_from_the_red_box_with_10_in_13():
    fruit = {"red": {"apple": 2, "lemon": 4, "orange": 6}, "white": {"apple": 3, "lemon": 6, "orange": 1}}
    boxes = Hypotheses({"red": Fraction("0.4"), "white": Fraction("0.6")}, fruit, normalise=True)
    seen = boxes.update("orange")
    assert seen.posterior == {"red": Fraction(10, 13), "white": Fraction(3, 13)}
    assert float(seen.posterior["red"]) == pytest.approx(0.7692308, abs=5e-8)
    assert boxes.predict("orange") == Fraction(4, 10) * Fraction(6, 12) + Fraction(6, 10) * Fraction(1, 10)


def test_the_arithmetic_is_shown_as_a_person_writes_it(coin):
    lines = [line.split() for line in str(coin.update("Head")).splitlines()]
    assert lines[0] == ["fair", "biased"]
    assert lines[2] == ["prior", "3/4", "=", "0.75", "1/4", "=", "0.25"]
    assert lines[3] == ["Head", "1/2", "=", "0.5", "3/5", "=", "0.6"]
    assert lines[5] == ["product", "=", "0.375", "=", "0.15"]
    assert lines[6] == ["their", "sum", "P(x)", "=", "0.525"]
    assert lines[7] == ["÷", "their", "sum", "=", "0.714286", "=", "0.285714"]


def test_the_arithmetic_may_be_a_sum_of_logarithms(coin):
    lines = [line.split() for line in str(coin.update("Head").explain(form="log")).splitlines()]
    assert lines[2] == ["prior", "log(3/4)", "=", "-0.2876821", "log(1/4)", "=", "-1.386294"]
    assert lines[6] == ["log", "P(x)", "=", "-0.644357"]
    assert lines[8] == ["e^", "that", "=", "0.714286", "=", "0.285714"]


def test_the_trace_tells_what_was_believed_after_every_toss(coin):
    trace = coin.update(["Head", "Tail", "Head"]).trace
    by_hand = [Fraction(3, 4), Fraction(5, 7), Fraction(25, 33), Fraction(125, 173)]
    assert [beliefs["fair"] for beliefs in trace] == pytest.approx([float(p) for p in by_hand], rel=1e-14)
