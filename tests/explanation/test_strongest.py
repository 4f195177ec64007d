"""What speaks most for a class: ratios that a person can check, and no fluke before what is met every day."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris

from ingenuo.datasets import diabetes, play_tennis
from ingenuo.errors import IngenuoError
from ingenuo.explanation.strongest import strongest
from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.scikit_learn import BernoulliNB, GaussianNB, MultinomialNB
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.tally.prior import MaximumLikelihood

IRIS, SPECIES = load_iris(return_X_y=True)
TEXTS = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull", "a long dull day", "fine wine"]
MOODS = ["good", "good", "bad", "bad", "bad", "good"]


def found(model, label, value, n=50):
    return next(sign for sign in strongest(model, n)[label] if sign.value == value)


def test_ratios_are_those_that_a_person_reads_off_the_counts():
    model = NaiveBayes().fit(play_tennis(), "Play")
    overcast = found(model, "Yes", "Overcast")
    assert (overcast.in_class, overcast.in_all) == (4, 4)
    assert (overcast.share, overcast.share_in_rest) == pytest.approx((5 / 12, 1 / 8))
    assert overcast.ratio == pytest.approx((5 / 12) / (1 / 8))
    assert overcast.information == pytest.approx(5 / 12 * math.log(10 / 3))
    assert [sign.value for sign in strongest(model, 2)["No"]] == ["High", "Sunny"]
    assert all(sign.ratio > 1 for signs in strongest(model, 50).signs for sign in signs)


def test_the_others_count_by_their_priors():
    table = pa.table({"v": ["x"] * 5 + ["y"] * 5 + ["x"] * 10 + ["y"] * 50, "c": ["a"] * 10 + ["b"] * 20 + ["d"] * 40})
    model = NaiveBayes(prior=MaximumLikelihood()).fit(table, "c")
    # P(x | a) = 1/2; P(x | b) = 1/2 and P(x | d) = 0, of which b has a third.
    assert found(model, "a", "x").share_in_rest == pytest.approx(0.5 * 20 / 60)
    assert found(model, "a", "x").ratio == pytest.approx(3)


def test_what_no_other_class_has_is_said_to_be_only_here():
    model = NaiveBayes(prior=MaximumLikelihood()).fit(play_tennis(), "Play")
    first = strongest(model)["Yes"][0]
    assert (first.value, first.times) == ("Overcast", "only here")
    words = NaiveBayes(prior=MaximumLikelihood()).fit(TEXTS, MOODS)
    assert found(words, "good", "fine").ratio == math.inf


def test_words_are_compared_by_their_share_of_the_words_of_a_class():
    model = NaiveBayes().fit(TEXTS, MOODS)
    fine = found(model, "good", "fine")
    assert (fine.in_class, fine.in_all) == (4, 4)
    words = len({"fine", "film", "music", "and", "cast", "dull", "long", "day", "wine"})
    assert fine.ratio == pytest.approx(((4 + 1) / (9 + words)) / (1 / (8 + words)))
    assert fine.information == pytest.approx(9 / 3 * (4 + 1) / (9 + words) * math.log(fine.ratio))


@pytest.mark.parametrize("counts", ["multinomial", "complement", "bernoulli"])
def test_a_word_seen_once_does_not_come_before_one_seen_every_day(counts):
    texts = ["common and plain"] * 30 + ["plain words"] * 29 + ["rare common plain"]
    labels = ["one"] * 30 + ["two"] * 29 + ["one"]
    model = NaiveBayes(counts=counts).fit(texts, labels)
    order = [sign.value for sign in strongest(model)["one"]]
    assert order.index("common") < order.index("rare")
    assert "plain" not in order[:2]


def test_a_number_speaks_for_a_class_between_the_points_where_the_densities_cross():
    model = GaussianNB().fit([[0.0], [2.0], [10.0], [12.0]], ["low", "low", "high", "high"])
    low, high = strongest(model)["low"][0], strongest(model)["high"][0]
    assert (low.value, high.value) == ("below 6", "above 6")
    assert low.note == "by the curves 100% of the class, 0% of the others; mean 1, deviation 1"
    mixed = GaussianNB().fit(IRIS, SPECIES)
    sign = next(sign for sign in strongest(mixed)[0] if sign.column == "x2")
    bound = float(sign.value.removeprefix("below "))
    inside = norm(*(mixed.theta_[0, 2], mixed.var_[0, 2] ** 0.5)).cdf(bound)
    outside = np.mean([norm(mixed.theta_[k, 2], mixed.var_[k, 2] ** 0.5).cdf(bound) for k in (1, 2)])
    assert sign.share == pytest.approx(inside, abs=2e-3)
    assert sign.share_in_rest == pytest.approx(outside, abs=2e-3)


def test_a_class_in_the_middle_has_an_interval():
    model = NaiveBayes(prior=MaximumLikelihood(), numbers="gaussian")
    model.fit([[x] for x in (0.0, 1, 2, 9, 10, 11, 18, 19, 20)], list("aaabbbccc"))
    low, high = strongest(model)["b"][0].value.split(" to ")
    # Half of the others are on either side, so the bounds are where (x - 1)² - (x - 10)² = -2σ² ln 2, σ² = 2/3.
    bound = (99 - 4 / 3 * math.log(2)) / 18
    assert (float(low), float(high)) == (pytest.approx(bound, abs=5e-4), pytest.approx(20 - bound, abs=5e-3))


def test_counts_and_things_that_are_there_are_compared_column_by_column():
    X, y = [[3, 0, 1], [2, 0, 1], [0, 4, 1], [0, 2, 1]], ["a", "a", "b", "b"]
    bag = strongest(MultinomialNB().fit(X, y))
    assert (bag["a"][0].column, bag["a"][0].ratio) == ("x0", pytest.approx((6 / 10) / (1 / 11)))
    there = strongest(BernoulliNB().fit(X, y))
    assert {(sign.column, sign.value) for sign in there["a"][:2]} == {("x0", "there"), ("x1", "absent")}
    assert there["a"][0].ratio == pytest.approx((3 / 4) / (1 / 4))


def test_linear_models_show_what_a_deviation_multiplies_the_odds_by():
    X = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 10.0, 100.0]
    y = np.where(X @ [0.5, 0.3, 0.0] + np.random.default_rng(1).normal(size=200) > 0, "up", "down")
    model = SoftmaxRegression().fit(X, y)
    first = strongest(model)["up"][0]
    assert (first.column, first.value) == ("x1", "more")
    assert first.ratio == pytest.approx(math.exp(model.coef_[0, 1] * X[:, 1].std()), rel=0.02)
    assert strongest(model)["down"][0].value == "less"
    for other in (GaussianDiscriminant(), LeastSquaresClassifier()):
        told = strongest(other.fit(X, y))
        assert told.linear
        assert (told["up"][0].column, told["up"][0].value) == ("x1", "more")
    assert "odds" in str(strongest(model))
    assert "odds" not in str(told)  # least squares has weights, and no odds
    assert told.table(0).heads[2] == "added to its sum"
    words = strongest(SoftmaxRegression().fit(TEXTS, MOODS))
    assert (words["good"][0].value, words["bad"][0].value) == ("fine", "dull")


def test_a_network_shows_each_column_given_the_class_alone():
    table = play_tennis()
    naive = strongest(NetworkClassifier("naive").fit(table, "Play"), 20)
    tree = NetworkClassifier("tan").fit(table, "Play")
    assert naive["Yes"][0].value in ("Overcast", "Normal")
    sign = next(sign for sign in strongest(tree, 20)["Yes"] if sign.value == "Overcast")
    asked = tree.network_.posterior("Outlook", {"Play": "Yes"})["Overcast"]
    assert sign.share == pytest.approx(asked)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: NetworkClassifier("aode").fit(play_tennis(), "Play"), "average of networks"),
        (lambda: LanguageModelClassifier().fit(TEXTS, MOODS), "words before it"),
    ],
    ids=["AODE", "sequences"],
)
def test_where_nothing_speaks_by_itself_the_table_is_empty_and_says_why(make, why):
    told = strongest(make())
    assert all(not signs for signs in told.signs)
    assert why in str(told)


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(IngenuoError, match="n is 0"):
        strongest(NaiveBayes().fit(play_tennis(), "Play"), 0)
    with pytest.raises(IngenuoError, match="answers with a number"):
        strongest(NaiveBayesRegressor().fit(IRIS[:, :3], IRIS[:, 3]))
    with pytest.raises(IngenuoError, match="fit it first"):
        strongest(NaiveBayes())


def test_it_prints_and_is_data():
    for kind in (NaiveBayes(tune=True), NaiveBayes(prior=MaximumLikelihood())):
        model = kind.fit(diabetes(), "progression")
        told = strongest(model, 3)
        assert [len(signs) for signs in told.signs] == [3, 3]
        data = json.loads(json.dumps(told.to_dict(), allow_nan=False))
        assert [each["class"] for each in data["classes"]] == ["fast", "slow"]
        assert str(told).startswith("for fast")
        assert "<table" in told._repr_html_()
        assert told.to_html().startswith("<!doctype html>")
