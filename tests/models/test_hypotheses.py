"""Hypotheses: laws of Bayes' rule, exactness, models as likelihoods, the trace, bad input."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import binom, multivariate_normal, norm, uniform
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from ingenuo.errors import IngenuoError, InputError, KindError
from ingenuo.models.hypotheses import Hypotheses
from ingenuo.models.language import LanguageModel
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.scikit_learn import GaussianNB

TABLES = {"fair": {"H": 0.5, "T": 0.5}, "biased": {"H": 0.6, "T": 0.4}}
EXACT = {"fair": {"H": Fraction(1, 2), "T": Fraction(1, 2)}, "biased": {"H": Fraction(3, 5), "T": Fraction(2, 5)}}
PRIORS = {"fair": 0.75, "biased": 0.25}


@pytest.fixture
def coin():
    return Hypotheses(PRIORS, TABLES)


def refused(act, kind, *words):
    with pytest.raises(kind) as caught:
        act()
    assert isinstance(caught.value, IngenuoError)
    for word in words:
        assert word in str(caught.value), str(caught.value)


# Weights of three values under up to four hypotheses, zeros among them, but never a row or column of zeros.
WEIGHTS = (
    st.integers(2, 4)
    .flatmap(lambda n: st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=n, max_size=n))
    .map(lambda rows: [[1, 1, 1], *(row if sum(row) else [0, 1, 0] for row in rows)])
)
TOSSES = st.lists(st.integers(0, 2), max_size=30)


def made(weights, number=Fraction):
    tables = {h: {v: number(Fraction(w, sum(row))) for v, w in enumerate(row)} for h, row in enumerate(weights)}
    total = len(weights) * (len(weights) + 1) // 2
    return Hypotheses({h: number(Fraction(h + 1, total)) for h in range(len(weights))}, tables)


@given(WEIGHTS, TOSSES)
def test_the_posterior_is_bayes_rule_written_out(weights, tosses):
    joint = [Fraction(h + 1) * math.prod(Fraction(row[v], sum(row)) for v in tosses) for h, row in enumerate(weights)]
    assert list(made(weights).update(tosses).posterior.values()) == [each / sum(joint) for each in joint]


@given(WEIGHTS, TOSSES)
def test_logarithms_agree_with_fractions(weights, tosses):
    exact, rounded = made(weights).update(tosses), made(weights, float).update(tosses)
    assert exact.exact
    assert not rounded.exact
    for name, p in exact.posterior.items():
        assert rounded.posterior[name] == pytest.approx(float(p), rel=1e-12)
    assert rounded.evidence == pytest.approx(float(exact.evidence), rel=1e-12)
    assert rounded.predict() == pytest.approx({v: float(p) for v, p in exact.predict().items()}, rel=1e-12)
    if tosses:
        likelihoods = exact.likelihoods
        assert likelihoods[rounded.ml()] == pytest.approx(max(likelihoods.values()), rel=1e-12)


@given(WEIGHTS, TOSSES, TOSSES, st.randoms())
def test_neither_order_nor_portions_matter(weights, some, others, random):
    whole = made(weights, float).update(some + others)
    mixed = some + others
    random.shuffle(mixed)
    counts = {v: mixed.count(v) for v in range(3)}
    for other in (made(weights, float).update(others).update(some), made(weights, float).update(mixed)):
        assert other.posterior == whole.posterior
        assert other.log_evidence == whole.log_evidence
    assert made(weights, float).update(counts).posterior == whole.posterior


@given(WEIGHTS, TOSSES)
def test_yesterdays_posterior_is_todays_prior(weights, tosses):
    first = made(weights).update(tosses)
    tables = {h: {v: Fraction(w, sum(row)) for v, w in enumerate(row)} for h, row in enumerate(weights)}
    again = Hypotheses(first.posterior, tables).update([0, 2, 2]) if first.predict(0) * first.predict(2) else None
    if again is not None:
        assert again.posterior == first.update([0, 2, 2]).posterior


@given(WEIGHTS, TOSSES)
def test_predictions_sum_to_one_and_are_the_ratio_of_evidences(weights, tosses):
    seen = made(weights).update(tosses)
    assert sum(seen.predict().values()) == 1
    for value, p in seen.predict().items():
        if p:
            assert seen.update(value).evidence / seen.evidence == p


@given(WEIGHTS, TOSSES, TOSSES)
def test_the_trace_is_the_posterior_after_every_observation(weights, some, others):
    start = made(weights, float)
    trace = start.update(some).update(others).trace
    assert len(trace) == len(some + others) + 1
    for n, beliefs in enumerate(trace):
        wanted = start.update((some + others)[:n]).posterior
        assert beliefs == pytest.approx(wanted, abs=1e-12)
        assert trace[n] == beliefs


@settings(max_examples=20)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_portions_of_any_size_leave_the_trace_in_order(portions):
    rng = np.random.default_rng(sum(portions))
    tosses = np.where(rng.random(sum(portions)) < 0.5, "H", "T").tolist()
    model, at = Hypotheses(PRIORS, TABLES), 0
    for size in portions:
        model = model.update(tosses[at : at + size])
        at += size
    assert model.trace_table()["observation"].to_pylist() == [None, *tosses]


# Exact or not.


def test_decimals_and_whole_numbers_are_exact():
    model = Hypotheses(
        {"a": Decimal("0.1"), "b": Decimal("0.9")}, {"a": {"x": 1}, "b": {"x": Decimal("0.3"), "y": Decimal("0.7")}}
    )
    assert model.update("x").posterior == {"a": Fraction(10, 37), "b": Fraction(27, 37)}


def test_one_double_makes_everything_doubles():
    tables = {**EXACT, "fair": {"H": 0.5, "T": Fraction(1, 2)}}
    assert not Hypotheses(["fair", "biased"], tables).update("H").exact
    assert Hypotheses(["fair", "biased"], tables).update("T").exact  # nothing that was used is a double


def test_fractions_last_as_long_as_python_prints_them():
    model = Hypotheses(["fair", "biased"], EXACT)
    seen = model.update({"H": 2000, "T": 2000})
    assert seen.exact
    assert str(seen.posterior["fair"]).count("/") == 1
    beyond = seen.update({"H": 2000, "T": 2000})
    assert not beyond.exact
    assert beyond.posterior["fair"] == pytest.approx(1)
    assert isinstance(beyond.posterior["fair"], float)


def test_ties_are_broken_by_the_order_given():
    model = Hypotheses(
        ["b", "a"], {"b": {0: Fraction(1, 3), 1: Fraction(2, 3)}, "a": {0: Fraction(1, 3), 1: Fraction(2, 3)}}
    )
    assert (model.update([0, 1]).map(), model.update([0, 1]).ml()) == ("b", "b")


def test_a_very_small_fraction_has_a_logarithm():
    tiny = Fraction(1, 10**400)
    model = Hypotheses({"a": tiny, "b": 1 - tiny}, {"a": {"x": 1}, "b": {"x": tiny, "y": 1 - tiny}})
    assert float(model.update("x").posterior["a"]) == pytest.approx(0.5)
    assert model.update("x").trace[1]["a"] == pytest.approx(0.5)


# Much data.


def test_a_million_observations_do_not_underflow(coin):
    rng = np.random.default_rng(0)
    heads = rng.random(1_000_000) < 0.5
    seen = coin.update(np.where(heads, "H", "T"))
    n = int(heads.sum())
    wanted = math.log(0.25 / 0.75) + n * math.log(0.6 / 0.5) + (1_000_000 - n) * math.log(0.4 / 0.5)
    assert seen.log_likelihoods["biased"] - seen.log_likelihoods["fair"] == pytest.approx(
        wanted - math.log(1 / 3), rel=1e-9
    )
    assert seen.posterior["fair"] == 1
    assert seen.n_observations == 1_000_000
    assert seen.evidence == 0
    assert seen.log_evidence == pytest.approx(1_000_000 * math.log(0.5) + math.log(0.75), rel=1e-12)
    assert seen.trace[-1] == pytest.approx(seen.posterior, abs=1e-9)
    assert len(str(seen.trace).splitlines()) == 22
    assert len(seen.plot().lines[0].get_xdata()) <= 1000


def test_counts_may_be_larger_than_memory(coin):
    seen = coin.update({"H": 10**12, "T": 10**12})
    assert seen.map() == "fair"
    assert seen.n_observations == 2 * 10**12


# Models as likelihoods.


def test_language_models_are_hypotheses_about_a_text():
    models = {
        "english": LanguageModel().fit(["the cat sat on the mat", "the dog is in the house"]),
        "italian": LanguageModel().fit(["il gatto sta sulla sedia", "il cane sta in casa"]),
    }
    seen = Hypotheses(["english", "italian"], models).update("the cat is in the house")
    assert seen.map() == "english"
    log_odds = models["english"].score("the cat is in the house") - models["italian"].score("the cat is in the house")
    assert seen.posterior["english"] == pytest.approx(1 / (1 + math.exp(-log_odds)), rel=1e-12)
    assert seen.update(["il cane sta in casa"] * 3).map() == "italian"


def test_distributions_of_scipy_are_hypotheses():
    tosses = Hypotheses(["fair", "biased"], {"fair": binom(10, 0.5), "biased": binom(10, 0.6)}).update(7)
    assert tosses.posterior["fair"] == pytest.approx(
        binom.pmf(7, 10, 0.5) / (binom.pmf(7, 10, 0.5) + binom.pmf(7, 10, 0.6))
    )
    places = Hypotheses(["here", "there"], {"here": norm(0, 1), "there": norm(100, 1)}).update([0.1, -40.0, 0.3])
    assert places.map() == "here"
    assert places.predict(0.0) == pytest.approx(norm.pdf(0))
    plane = {"a": multivariate_normal([0, 0]), "b": multivariate_normal([3, 3])}
    assert Hypotheses(["a", "b"], plane).update(np.array([[2.9, 3.1], [3.0, 2.0]])).map() == "b"


@pytest.mark.parametrize("density", [KernelDensity(), GaussianMixture(random_state=0)], ids=["kernel", "mixture"])
def test_densities_of_scikit_learn_are_hypotheses(density):
    rng = np.random.default_rng(0)
    low, high = rng.normal(0, 1, (50, 1)), rng.normal(5, 1, (50, 1))
    models = {"low": type(density)().fit(low), "high": type(density)().fit(high)}
    seen = Hypotheses(["low", "high"], models).update([4.5, 5.5])
    logs = {name: float(model.score_samples([[4.5], [5.5]]).sum()) for name, model in models.items()}
    assert seen.log_likelihoods == pytest.approx(logs)
    assert Hypotheses(["low", "high"], models).update(np.array([[4.5], [5.5]])).log_likelihoods == pytest.approx(logs)
    assert seen.map() == "high"


def test_a_generative_classifier_is_a_hypothesis_about_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    models = {"near": GaussianNB().fit(X, y), "far": GaussianNB().fit(X + 3, y)}
    seen = Hypotheses(["near", "far"], models).update(X[:2])
    joint = models["near"].predict_joint_log_proba(X[:2])
    assert seen.log_likelihoods["near"] == pytest.approx(np.log(np.exp(joint).sum(axis=1)).sum())
    assert seen.map() == "near"


def test_a_generative_classifier_reads_texts():
    texts = ["a fine film", "a dull film", "fine music", "dull music"]
    models = {
        "films": NaiveBayes().fit(texts, ["good", "bad", "good", "bad"]),
        "music": NaiveBayes().fit(["loud music", "soft music"], ["good", "bad"]),
    }
    assert Hypotheses(["films", "music"], models).update("a film").n_observations == 1


def test_a_density_may_exceed_one():
    narrow = Hypotheses(["narrow", "wide"], {"narrow": norm(0, 0.01), "wide": norm(0, 10)}).update(0.001)
    assert narrow.map() == "narrow"
    assert narrow.likelihoods["narrow"] > 1


# What counts as one observation.


@pytest.mark.parametrize(
    "several",
    [["H", "T"], ("H", "T"), np.array(["H", "T"]), iter(["H", "T"]), pd.Series(["H", "T"]), pl.Series(["H", "T"])],
    ids=lambda s: type(s).__name__,
)
def test_sequences_of_any_kind_are_several_observations(coin, several):
    assert coin.update(several).posterior == coin.update("H").update("T").posterior


def test_a_string_is_one_observation():
    model = Hypotheses(["a", "b"], {"a": {"HT": 0.5, "TH": 0.5}, "b": {"HT": 0.1, "TH": 0.9}})
    assert model.update("HT").n_observations == 1


def test_a_tuple_that_a_table_knows_is_one_observation():
    model = Hypotheses(["a", "b"], {"a": {(1, 2): 0.5, (2, 1): 0.5}, "b": {(1, 2): 0.1, (2, 1): 0.9}})
    assert model.update((1, 2)).n_observations == 1
    assert model.update(((1, 2), (2, 1))).n_observations == 2


def test_no_observation_changes_nothing(coin):
    for nothing in ([], {}, {"H": 0}, np.array([])):
        assert coin.update(nothing).posterior == coin.posterior
        assert len(coin.update(nothing).trace) == 1


def test_updating_leaves_the_old_beliefs_as_they_were(coin):
    before = coin.posterior
    coin.update(["H"] * 10).posterior["fair"] = 0
    coin.priors["fair"] = 0
    assert coin.posterior == before
    assert coin.n_observations == 0
    assert coin.update("H").posterior == Hypotheses(PRIORS, TABLES).update("H").posterior


def test_before_any_data_the_posterior_is_the_prior(coin):
    assert coin.posterior == pytest.approx(PRIORS, rel=1e-15)
    assert (coin.evidence, coin.log_evidence) == (pytest.approx(1), pytest.approx(0, abs=1e-15))
    assert coin.map() == "fair"


def test_a_refuted_hypothesis_never_returns():
    model = Hypotheses(["a", "b"], {"a": {0: 1}, "b": {0: 0.1, 1: 0.9}}).update(1)
    assert model.posterior == {"a": 0, "b": 1}
    assert model.update([0] * 1000).posterior == {"a": 0, "b": 1}


def test_the_most_likely_hypothesis_may_have_prior_zero():
    model = Hypotheses({"a": 1.0, "b": 0.0}, {"a": {0: 0.5, 1: 0.5}, "b": {0: 0.9, 1: 0.1}}).update(0)
    assert (model.map(), model.ml()) == ("a", "b")


def test_hypotheses_can_be_pickled(coin):
    again = pickle.loads(pickle.dumps(coin.update(["H", "T"])))
    assert again.update("H").posterior == coin.update(["H", "T", "H"]).posterior
    assert len(again.trace) == 3


# Showing.


def test_the_trace_as_a_table(coin):
    table = coin.update("H").update({"T": 2}).trace_table()
    assert table.column_names == ["step", "observation", "times", "P(fair)", "P(biased)"]
    assert table["observation"].to_pylist() == [None, "H", "T", "T"]
    assert table["times"].to_pylist() == [0, 1, 1, 1]
    joint = [(0.375 * 0.5**n, 0.15 * 0.4**n) for n in range(3)]
    assert table["P(fair)"].to_pylist() == pytest.approx([0.75, *(fair / (fair + biased) for fair, biased in joint)])


def test_counts_are_traced_one_by_one_and_evenly_mixed(coin):
    seen = coin.update({"H": 70, "T": 30})
    observed = seen.trace_table()["observation"].to_pylist()[1:]
    assert (observed.count("H"), observed.count("T")) == (70, 30)
    for n in range(1, 101):  # at any time there were about as many as their shares
        assert abs(observed[:n].count("H") - 0.7 * n) <= 1
    assert seen.trace[-1] == pytest.approx(seen.posterior, abs=1e-12)
    assert seen.trace[37] == pytest.approx(coin.update(observed[:37]).posterior, abs=1e-12)
    fair = seen.plot().lines[0].get_ydata()
    assert len(fair) == 101
    assert len({round(step, 9) for step in np.diff(fair)}) > 50  # no straight lines
    ones = Hypotheses(["a"], {"a": {"x": 1, "y": 1, "z": 2}}, normalise=True).update({"x": 1, "y": 1, "z": 2}).trace
    assert ones.table()["observation"].to_pylist() == [None, "z", "x", "y", "z"]


def test_so_many_counts_that_a_step_has_several(coin):
    trace = coin.update({"H": 10**9 + 1, "T": 5}).trace
    assert len(trace) <= 100_002
    table = trace.table()
    for value, n in (("H", 10**9 + 1), ("T", 5)):
        times = [t for t, o in zip(table["times"].to_pylist(), table["observation"].to_pylist()) if o == value]
        assert sum(times) == n
        assert min(times) > 0


def test_the_picture_draws_every_hypothesis_from_prior_to_posterior(coin):
    ax = Figure().add_subplot()
    assert coin.update(["H", "T"]).plot(ax) is ax
    with pytest.raises(KindError, match=r"axes, got str 'coin.svg'; .*savefig\(path\)"):
        coin.update(["H", "T"]).plot("coin.svg")
    first, second = ax.lines
    assert first.get_label() == "fair"
    assert second.get_ydata().tolist() == pytest.approx([b["biased"] for b in coin.update(["H", "T"]).trace])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["prior", "H", "T"]


def test_the_picture_counts_observations_on_its_axis(coin):
    assert coin.update({"H": 70, "T": 30}).plot().lines[0].get_xdata().tolist() == list(range(101))
    assert coin.update({"H": 7 * 10**8, "T": 3 * 10**8}).plot().lines[0].get_xdata()[-1] == 10**9


def test_of_many_hypotheses_the_leading_ones_are_shown():
    grid = [p / 100 for p in range(1, 100)]
    model = Hypotheses(grid, {p: {"H": p, "T": 1 - p} for p in grid}).update({"H": 30, "T": 70})
    assert model.map() == 0.3
    assert "(91 less probable hypotheses are not shown)" in str(model.trace)
    assert [t.get_text() for t in model.plot().get_legend().get_texts()][-1] == "93 others"
    assert repr(model).startswith("<Hypotheses after 100 observations: 0.3 0.08")


def test_many_different_observations_are_explained_together():
    tables = {h: {v: Fraction(1 + (v + h) % 3, 40) for v in range(20)} for h in range(2)}
    model = Hypotheses([0, 1], tables, normalise=True).update(list(range(20)))
    explained = model.explain().to_dict()
    assert [f["column"] for f in explained["factors"]][-1] == "… 9 more"
    for h in (0, 1):
        terms = [f["terms"][h]["log"] for f in (explained["prior"], *explained["factors"])]
        assert sum(terms) == pytest.approx(explained["log_joint"][h], rel=1e-12)


def test_a_notebook_shows_the_arithmetic_with_names_escaped():
    model = Hypotheses(["<b>", "c"], {"<b>": {"x&y": 1}, "c": {"x&y": 0.5, "z": 0.5}}).update("x&y")
    for page in (model._repr_html_(), model.trace._repr_html_()):
        assert "&lt;b&gt;" in page
        assert "x&amp;y" in page
        assert "<b>" not in page


# Bad input.


@pytest.mark.parametrize(
    ("priors", "kind", "words"),
    [
        ({"fair": 0.75, "biased": 0.2}, InputError, ["the priors sum to 0.95", "normalise=True"]),
        ({"fair": Fraction(1, 2), "biased": Fraction(1, 3)}, InputError, ["the priors sum to 5/6"]),
        ({"fair": 1, "biased": Fraction(1, 10**30)}, InputError, ["sum to 10000"]),
        ({"fair": 0, "biased": 0}, InputError, ["sum to 0"]),
        ({"fair": -0.5, "biased": 1.5}, InputError, ["'fair'", "-0.5", "not negative"]),
        ({"fair": math.nan, "biased": 1}, InputError, ["'fair'", "nan"]),
        ({"fair": Decimal("nan"), "biased": 1}, InputError, ["'fair'", "NaN"]),
        ({"fair": "0.5", "biased": 0.5}, KindError, ["'fair'", "'0.5'", "number"]),
        ({"fair": True, "biased": 0.5}, KindError, ["'fair'", "True"]),
        ({}, InputError, ["no hypothesis"]),
        ([], InputError, ["no hypothesis"]),
        ("fair", KindError, ["'fair'", "list of hypotheses"]),
        (3, KindError, ["int 3"]),
        ([["fair"], "biased"], KindError, ["['fair']", "name"]),
        (["fair", "fair"], InputError, ["'fair'", "twice"]),
        ({"fair": 0.5, "baised": 0.5}, InputError, ["'baised'", "did you mean 'biased'?"]),
        (["fair"], InputError, ["'biased'", "no prior"]),
    ],
)
def test_bad_priors_are_refused(priors, kind, words):
    refused(lambda: Hypotheses(priors, TABLES), kind, *words)


@pytest.mark.parametrize(
    ("likelihoods", "kind", "words"),
    [
        ({**TABLES, "fair": {"H": 0.5, "T": 0.6}}, InputError, ["under 'fair'", "sum to 1.1"]),
        ({**TABLES, "fair": {"H": -0.5, "T": 1.5}}, InputError, ["under 'fair'", "'H'", "-0.5"]),
        ({**TABLES, "fair": {"H": None, "T": 1}}, KindError, ["under 'fair'", "'H'", "None"]),
        ({**TABLES, "fair": {}}, InputError, ["under 'fair'", "sum to 0"]),
        ({**TABLES, "fair": lambda o: 0.5}, InputError, ["'biased' has a table", "'fair' has none"]),
        ({**dict.fromkeys(TABLES, norm()), "fair": 3}, KindError, ["'fair'", "int 3", "a fitted model"]),
        (
            {**dict.fromkeys(TABLES, norm()), "fair": LogisticRegression()},
            KindError,
            ["'fair'", "BayesOptimalClassifier"],
        ),
        ({**dict.fromkeys(TABLES, norm()), "fair": IsolationForest()}, KindError, ["'fair'", "outliers"]),
        (0.5, KindError, ["float 0.5"]),
        (lambda h, o: 0.5, KindError, ["a table or a fitted model"]),
    ],
)
def test_bad_likelihoods_are_refused(likelihoods, kind, words):
    refused(lambda: Hypotheses(PRIORS, likelihoods), kind, *words)


def test_weights_are_normalised_when_asked():
    model = Hypotheses({"fair": 3, "biased": 1}, {"fair": {"H": 1, "T": 1}, "biased": {"H": 3, "T": 2}}, normalise=True)
    assert model.update("H").posterior == {"fair": Fraction(5, 7), "biased": Fraction(2, 7)}
    refused(lambda: Hypotheses({"a": 0}, {"a": {"x": 1}}, normalise=True), InputError, "sum to 0", "normalised")
    refused(lambda: Hypotheses({"a": 1}, {"a": {"x": 1}}, normalise="yes"), KindError, "normalise", "'yes'")


def test_doubles_need_not_sum_to_one_to_the_last_bit():
    assert Hypotheses(dict.fromkeys(range(10), 0.1), {i: {"x": 1} for i in range(10)}).map() == 0


@pytest.mark.parametrize(
    ("observation", "kind", "words"),
    [
        ("Heads", InputError, ["'Heads'", "known: H, T"]),
        (["H", "T", "E"], InputError, ["observation 3", "'E'"]),
        ({"H": 1.5}, KindError, ["'H'", "1.5"]),
        ({"H": -1}, InputError, ["'H'", "-1"]),
        ({"X": 1}, InputError, ["'X'"]),
        ([["H"]], KindError, ["['H']"]),
        (pd.DataFrame({"x": ["H"], "y": ["T"]}), KindError, ["DataFrame", "several columns"]),
        ({"H", "T"}, KindError, ["set"]),
    ],
)
def test_bad_observations_are_refused_and_change_nothing(coin, observation, kind, words):
    seen = coin.update("H")
    before, steps = seen.posterior, len(seen.trace)
    refused(lambda: seen.update(observation), kind, *words)
    assert (seen.posterior, len(seen.trace)) == (before, steps)


def test_a_misspelt_observation_is_guessed():
    model = Hypotheses(["a"], {"a": {"Head": 0.5, "Tail": 0.5}})
    refused(lambda: model.update("Haed"), InputError, "'Haed'", "did you mean 'Head'?")
    refused(lambda: model.predict("Haed"), InputError, "'Haed'", "did you mean 'Head'?")


def test_impossible_evidence_is_named_with_its_place():
    tables = {"a": {"x": 1}, "b": {"y": 0.5, "z": 0.5}}
    model = Hypotheses(["a", "b"], tables).update("x")
    refused(lambda: model.update(["x", "x", "z", "x"]), InputError, "observation 4, 'z', is impossible")
    assert model.posterior == {"a": 1, "b": 0}
    both = Hypotheses({"a": 0.0, "b": 1.0}, tables)
    refused(lambda: both.update("x"), InputError, "observation 1, 'x', is impossible")
    asked = Hypotheses(["a", "b"], {"a": uniform(0, 3), "b": uniform(0, 4)})
    refused(lambda: asked.update([1, 2, 5]), InputError, "observation 3, '5', is impossible")


def test_a_model_that_gives_no_density_is_named():
    class Odd:
        def logpdf(self, rows):
            return [math.nan] * len(rows)

    class Short:
        def logpdf(self, rows):
            return [0.0]

    refused(lambda: Hypotheses(["a"], {"a": Odd()}).update([1, 2]), InputError, "Odd.logpdf", "'a'", "nan")
    refused(
        lambda: Hypotheses(["a"], {"a": Short()}).update([1, 2]), InputError, "Short.logpdf", "(1,)", "2 observations"
    )


def test_what_needs_data_or_a_table_says_so(coin):
    refused(coin.ml, InputError, "nothing was observed yet")
    asked = Hypotheses(PRIORS, dict.fromkeys(PRIORS, norm()))
    refused(asked.predict, InputError, "predict(value)")
    refused(asked.classify, InputError, "predict(value)")
    with pytest.raises(IndexError, match="steps 0 to 0"):
        coin.trace[1]
