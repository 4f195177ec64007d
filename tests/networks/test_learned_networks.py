"""Networks learned from rows: tables, missing values, hidden nodes, and structures, whatever the table is made of."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ingenuo import store
from ingenuo.errors import ForgetError, IngenuoError, InputError, NetworkError, RefusedError
from ingenuo.networks.network import Network
from ingenuo.networks.search import Sample, Scorer
from ingenuo.tally.prior import Dirichlet, Laplace, Lidstone, MaximumLikelihood

ARCS = [("r", "s"), ("r", "w"), ("s", "w")]
TRUE = Network.from_arcs(
    ARCS,
    tables={
        "r": {"y": 0.3, "n": 0.7},
        "s": {"y": {"on": 0.2, "off": 0.8}, "n": {"on": 0.6, "off": 0.4}},
        "w": {
            ("y", "on"): {"wet": 0.9, "dry": 0.1},
            ("y", "off"): {"wet": 0.7, "dry": 0.3},
            ("n", "on"): {"wet": 0.6, "dry": 0.4},
            ("n", "off"): {"wet": 0.1, "dry": 0.9},
        },
    },
)
ROWS = TRUE.sample(6000, random_state=1).to_pandas()


def holed(rows: pd.DataFrame, share: float = 0.2, seed: int = 0) -> pd.DataFrame:
    away = np.random.default_rng(seed).random(rows.shape) < share
    return pd.DataFrame({
        name: pd.Series([None if gone else value for gone, value in zip(away[:, j], rows[name])], dtype=object)
        for j, name in enumerate(rows)
    })  # fmt: skip


HOLED = holed(ROWS)


def unlearned() -> Network:
    return Network.from_arcs(ARCS, nodes=TRUE.nodes, states=TRUE.states)


def farthest(one: Network, other: Network) -> float:
    return max(float(np.abs(one.tables[node] - other.tables[node]).max()) for node in one.nodes)


# Tables.


def test_tables_are_counts_and_prior() -> None:
    network = unlearned().fit(ROWS[:200], prior=Lidstone(0.5))
    some = ROWS[:200]
    for r, s, w in (("y", "on", "wet"), ("n", "off", "dry"), ("y", "off", "dry")):
        within = some[(some.r == r) & (some.s == s)]
        at = tuple(network.states[node].index(state) for node, state in (("r", r), ("s", s), ("w", w)))
        assert network.parents["w"] == ("r", "s")
        assert network.tables["w"][at] == ((within.w == w).sum() + 0.5) / (len(within) + 1)


def test_a_row_with_a_hole_is_left_out_of_the_tables_that_need_it() -> None:
    some = HOLED[:300]
    network = unlearned().fit(some, prior=MaximumLikelihood())
    whole = some.dropna()
    s = some.dropna(subset=["r", "s"])
    at = network.states["s"].index("on")
    assert network.tables["s"][network.states["r"].index("y"), at] == (s[s.r == "y"].s == "on").mean()
    r = some.dropna(subset=["r"])
    assert network.tables["r"][network.states["r"].index("y")] == pytest.approx((r.r == "y").mean())
    assert len(whole) < len(s) < len(r) < len(some)


def test_a_state_seen_only_where_the_parents_are_missing_is_a_state() -> None:
    table = pd.DataFrame({"a": ["x", None, "x"], "c": ["p", "q", "p"]})
    network = Network.from_arcs([("a", "c")]).fit(table)
    assert network.states["c"] == ["p", "q"]
    assert network.posterior("c") == pytest.approx({"p": 0.75, "q": 0.25})
    assert network.forget(table[1:2]).states["c"] == ["p"]
    lone = Network.from_arcs([("a", "c")], states={"a": ["x", "y"]}).fit(pd.DataFrame({"a": [None], "c": ["p"]}))
    assert lone.posterior("c") == {"p": 1.0}


def test_rows_without_a_class_have_no_say_in_the_cuts() -> None:
    table = pd.DataFrame({"x": np.arange(40) + 0.5, "c": ["u"] * 15 + [None] * 10 + ["v"] * 15})
    assert Network.learn(table, target="c").cuts["x"].points == (20.0,)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "strings"])
def test_any_table_gives_the_same_tables(kind: str) -> None:
    some = HOLED[:200]
    table: Any = {
        "pandas": some,
        "polars": pl.from_pandas(some),
        "arrow": pl.from_pandas(some).to_arrow(),
        "strings": some.astype("string"),
    }[kind]
    network = unlearned().fit(table)
    assert network.tally == unlearned().fit(some).tally
    np.testing.assert_array_equal(network.predict_proba(table, "w"), unlearned().fit(some).predict_proba(some, "w"))


def test_arrays_have_nodes_by_their_places() -> None:
    network = Network.learn(np.array([["a", "u"], ["b", "v"]] * 10, object))
    assert len(network.nodes) == 2
    declared = Network.learn(np.array([["a", "u"], ["b", "v"]] * 10, object), columns={0: ["a", "b", "c"]})
    assert declared.states[declared.nodes[0]] == ["a", "b", "c"]


def test_declared_states_keep_their_order_and_admit_no_other() -> None:
    table = pd.DataFrame({"a": ["yes", "no", "yes"], "b": ["a", "z", "a"]})
    network = Network.from_arcs([("a", "b")], states={"a": ["yes", "no", "never"], "b": ["z", "a"]}).fit(table)
    assert network.states == {"a": ["yes", "no", "never"], "b": ["z", "a"]}
    np.testing.assert_allclose(network.tables["a"], [3 / 6, 2 / 6, 1 / 6])
    np.testing.assert_allclose(network.tables["b"][0], [1 / 4, 3 / 4])
    before = copy.deepcopy(network)
    with pytest.raises(NetworkError, match="column 'b', row 1: 'zz' is none of the declared states; did you mean 'z'"):
        network.partial_fit(table.assign(b=["a", "zz", "a"]))
    assert network.tally == before.tally


def test_states_written_as_words_take_truth_values_and_numbers() -> None:
    arcs, states = [("a", "b")], {"a": ["true", "false"], "b": ["0", "1"]}
    words = pd.DataFrame({"a": ["true", "false", "true", None], "b": ["1", "0", "1", "1"]})
    wanted = Network.from_arcs(arcs, states=states).fit(words)
    values = pd.DataFrame({"a": [True, False, True, None], "b": [1, 0, 1, 1]})
    doubles = pd.DataFrame({"a": ["True", "FALSE", "true", None], "b": [1.0, 0.0, 1.0, 1.0]})
    for table in (values, doubles):
        network = Network.from_arcs(arcs, states=states).fit(table)
        assert network.tally == wanted.tally
        np.testing.assert_array_equal(network.predict_proba(table, "b"), wanted.predict_proba(words, "b"))


def test_whole_numbers_are_the_same_states_with_and_without_holes() -> None:
    whole = pd.DataFrame({"a": [0, 1, 2, 1], "b": list("uvuv")})
    holes = pd.DataFrame({"a": [0, np.nan, 2, 1], "b": list("uvuv")})
    network = Network.from_arcs([("a", "b")]).fit(whole).partial_fit(holes)
    other = Network.from_arcs([("a", "b")]).fit(holes).partial_fit(whole)
    assert network.tally == other.tally
    for one in (network, other):
        assert one.posterior("b", {"a": 1}) == one.posterior("b", {"a": 1.0}) == one.posterior("b", {"a": "1"})


def test_a_state_brought_by_the_prior_is_a_state() -> None:
    table = pd.DataFrame({"a": ["x", "y"] * 3})
    network = Network.from_arcs([], nodes=["a"]).fit(table, prior=Dirichlet({"a": {"x": 2, "y": 2, "z": 3}}))
    assert network.posterior("a") == pytest.approx({"x": 0.4, "y": 0.4, "z": 0.2})


# Expectation and maximisation.


def test_em_with_nothing_missing_is_counting() -> None:
    for prior in (Laplace(), Lidstone(0.5), MaximumLikelihood()):
        filled = unlearned().fit(ROWS[:300], missing="em", prior=prior)
        assert farthest(filled, unlearned().fit(ROWS[:300], prior=prior)) < 1e-12
        assert filled.expectation is not None
        assert filled.expectation.converged


def test_em_never_loses_likelihood_and_finds_the_tables_again() -> None:
    network = unlearned().fit(HOLED, missing="em", prior=MaximumLikelihood(), tolerance=1e-10, iterations=500)
    assert network.expectation is not None
    assert network.expectation.converged
    assert min(np.diff(network.expectation.log_likelihoods)) > -1e-8
    assert farthest(network, TRUE) < 0.05
    assert network.log_likelihood(HOLED).sum() == pytest.approx(network.expectation.log_likelihoods[-1], abs=1e-6)
    left_out = unlearned().fit(HOLED, prior=MaximumLikelihood())
    assert network.log_likelihood(HOLED).sum() > left_out.log_likelihood(HOLED).sum()


@pytest.mark.parametrize("seed", range(3))
def test_em_climbs_from_any_holes(seed: int) -> None:
    some = holed(ROWS[:60], 0.5, seed)
    network = unlearned().fit(some, missing="em", prior=MaximumLikelihood(), tolerance=0.0, iterations=60)
    assert network.expectation is not None
    assert min(np.diff(network.expectation.log_likelihoods), default=0) > -1e-9


def test_holes_that_depend_on_what_is_seen_mislead_counting_and_not_em() -> None:
    gone = (ROWS.w == "wet") & (np.random.default_rng(0).random(len(ROWS)) < 0.7)
    some = ROWS.assign(s=[None if away else value for away, value in zip(gone, ROWS.s)])
    counted, filled = unlearned().fit(some), unlearned().fit(some, missing="em", tolerance=1e-9)
    assert np.abs(counted.tables["s"] - TRUE.tables["s"]).max() > 0.08
    assert np.abs(filled.tables["s"] - TRUE.tables["s"]).max() < 0.04


def test_a_hidden_cause_is_found_by_em() -> None:
    arcs = [("h", "a"), ("h", "b"), ("h", "c")]
    child = {"0": {"x": 0.9, "y": 0.1}, "1": {"x": 0.2, "y": 0.8}}
    true = Network.from_arcs(arcs, tables={"h": {"0": 0.4, "1": 0.6}, "a": child, "b": child, "c": child})
    seen = true.sample(4000, random_state=0).to_pandas().drop(columns="h")
    network = Network.from_arcs(arcs, states={"h": ["0", "1"]}).fit(
        seen, missing="em", tolerance=1e-9, iterations=1000, prior=MaximumLikelihood()
    )
    assert network.expectation is not None
    assert min(np.diff(network.expectation.log_likelihoods)) > -1e-8
    x = network.states["a"].index("x")
    high, low = sorted(network.tables["a"][:, x])[::-1]
    assert (high, low) == (pytest.approx(0.9, abs=0.07), pytest.approx(0.2, abs=0.07))
    told = network.predict_proba(pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"], "c": ["x", "y"]}), "h")
    assert told[0].argmax() != told[1].argmax()


def test_a_hidden_node_in_the_middle_is_found_by_em() -> None:
    arcs = [("a", "h"), ("h", "b"), ("h", "c")]
    link = {"x": {"0": 0.9, "1": 0.1}, "y": {"0": 0.1, "1": 0.9}}
    leaf = {"0": {"x": 0.9, "y": 0.1}, "1": {"x": 0.1, "y": 0.9}}
    true = Network.from_arcs(arcs, tables={"a": {"x": 0.5, "y": 0.5}, "h": link, "b": leaf, "c": leaf})
    seen = true.sample(2000, random_state=0).to_pandas().drop(columns="h")
    network = Network.from_arcs(arcs, states={"h": ["0", "1"]}).fit(seen, missing="em", iterations=500)
    apart = Network.from_arcs([], nodes=["a", "b", "c"]).fit(seen)
    assert network.log_likelihood(seen).mean() > apart.log_likelihood(seen).mean() + 0.1
    assert network.log_likelihood(seen).mean() == pytest.approx(true.log_likelihood(seen).mean(), abs=0.01)


def test_em_heeds_weights_and_rows_that_say_nothing() -> None:
    some = HOLED[:150]
    twice = unlearned().fit(pd.concat([some, some]), missing="em")
    assert farthest(unlearned().fit(some, missing="em", sample_weight=np.full(150, 2.0)), twice) < 1e-12
    empty = pd.concat([some, pd.DataFrame({name: [None] for name in some})])
    plain = unlearned().fit(some, missing="em", tolerance=1e-12, iterations=1000, prior=MaximumLikelihood())
    with_it = unlearned().fit(empty, missing="em", tolerance=1e-12, iterations=1000, prior=MaximumLikelihood())
    assert farthest(plain, with_it) < 1e-4


def test_what_em_learned_is_no_sum_and_goes_with_the_next_fit() -> None:
    network = unlearned().fit(HOLED[:100], missing="em")
    for learn in (network.partial_fit, network.forget):
        with pytest.raises(RefusedError, match="learned by EM"):
            learn(ROWS[:5])
    again = store.from_bytes(store.to_bytes(network))
    assert farthest(again, network) == 0
    assert again.states == network.states
    network.fit(ROWS[:100])
    assert network.expectation is None
    assert network.tally is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missing": "EM"}, "missing='EM' is not known"),
        ({"missing": "em", "iterations": 0}, "iterations"),
        ({"missing": "em", "iterations": 1.5}, "iterations"),
        ({"missing": "em", "tolerance": -1}, "tolerance"),
        ({"missing": "em", "tolerance": "small"}, "tolerance"),
        ({"prior": 1}, "prior must be a Prior"),
        ({"sample_weight": [1, 2]}, "one weight for each row"),
        ({"sample_weight": -np.ones(6000)}, "the weight of row 0 is -1.0; weights are finite and not negative"),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense_changes_nothing(settings: dict[str, Any], message: str) -> None:
    network = unlearned().fit(ROWS[:50])
    before = copy.deepcopy(network)
    with pytest.raises(IngenuoError, match=message):
        network.fit(ROWS, **settings)
    assert network.tally == before.tally
    assert farthest(network, before) == 0


def test_nodes_without_a_column_are_told() -> None:
    network = unlearned().fit(ROWS[:50])
    before = copy.deepcopy(network)
    with pytest.raises(NetworkError, match="no column for node 'w'"):
        network.fit(ROWS.rename(columns={"w": "ww"}))
    with pytest.raises(NetworkError, match="node 'h' is never seen; declare its states"):
        Network.from_arcs([("h", "r")]).fit(ROWS, missing="em")
    with pytest.raises(InputError, match="the table is empty"):
        network.fit(ROWS[:0])
    with pytest.raises(ForgetError):
        network.forget(ROWS)
    assert network.tally == before.tally


# Structures and columns.


def mixed(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    c = np.where(x + 0.5 * rng.normal(size=n) > 0, "p", "q")
    return pd.DataFrame({"x": x, "k": rng.integers(0, 3, n), "b": (c == "p") ^ (rng.random(n) < 0.2), "c": c})


@pytest.mark.parametrize("structure", ["naive", "tan", "kdb", "hill-climb", "k2", "chow-liu"])
def test_every_structure_is_learned_from_a_mixed_table_with_holes(structure: str) -> None:
    table = mixed()
    table.loc[::7, "x"] = np.nan
    table["b"] = [None if i % 11 == 0 else value for i, value in enumerate(table["b"])]
    network = Network.learn(table, structure, target="c")
    assert set(network.nodes) == set(table)
    assert (network.search is None) == (structure == "naive")  # which has nothing to search
    assert network.target == "c"
    assert network.states["k"] == [0, 1, 2]
    assert network.states["b"] == [False, True]
    assert list(network.cuts) == ["x"]
    assert (network.predict(table, "c") == table["c"]).mean() > 0.7
    if structure in ("naive", "tan", "kdb"):
        assert all("c" in above for node, above in network.parents.items() if node != "c")
    again = Network.from_arcs(network.arcs, nodes=network.nodes)
    assert set(again.arcs) == set(network.arcs)


def test_a_number_is_evidence_for_its_interval() -> None:
    network = Network.learn(mixed(), target="c")
    point = network.cuts["x"].points[0]
    low, high = network.states["x"][:2]
    assert network.posterior("c", {"x": point}) == network.posterior("c", {"x": low})
    assert network.posterior("c", {"x": point + 1e-9}) == network.posterior("c", {"x": high})
    assert network.posterior("c", {"x": -1e300}) == network.posterior("c", {"x": low})


def test_a_file_keeps_the_cuts_and_learns_the_same_tables(tmp_path: Path) -> None:
    table = mixed()
    network = Network.learn(table, target="c")
    for suffix in ("yaml", "yaml.gz"):
        network.write(tmp_path / f"n.{suffix}")
        again = Network.read(tmp_path / f"n.{suffix}")
        assert again.cuts == network.cuts
        np.testing.assert_allclose(again.predict_proba(table, "c"), network.predict_proba(table, "c"), atol=1e-14)
        again.fit(table)
        for node in network.nodes:
            np.testing.assert_allclose(again.tables[node], network.tables[node], atol=1e-15)
    saved = store.from_bytes(store.to_bytes(network))
    assert saved.partial_fit(table).forget(table).tally == network.tally
    assert saved.states == network.states


def test_samples_of_intervals_can_be_read_again() -> None:
    network = Network.learn(mixed(), target="c")
    drawn = network.sample(200, random_state=0)
    assert np.isfinite(network.log_likelihood(drawn)).all()
    assert network.predict_proba(drawn, "c").shape == (200, 2)


def test_declared_kinds_are_heeded() -> None:
    table = pd.DataFrame({"a": np.arange(40) % 20 + 0.5, "b": list("uv") * 20, "k": np.arange(40) % 4})
    network = Network.learn(table, columns={"a": "category", "k": "number"})
    assert len(network.states["a"]) == 20
    assert list(network.cuts) == ["k"]
    words = pd.DataFrame({"a": [f"some words of number {i % 50}" for i in range(200)], "b": list("uv" * 100)})
    assert len(Network.learn(words, columns={"a": "category"}).states["a"]) == 50
    assert Network.learn(words, columns={"a": "ignore"}).nodes == ("b",)
    states = Network.learn(table, columns={"b": ["w", "v", "u"]}).states["b"]
    assert sorted(states) == ["u", "v", "w"]


FLAT = pd.DataFrame({"alpha": list("xy") * 9, "beta": list("xyy") * 6})
BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "both": (
        FLAT,
        {"required": [("alpha", "beta")], "forbidden": [("alpha", "beta")]},
        "alpha → beta is both required and forbidden",
    ),
    "circle": (FLAT, {"required": [("alpha", "beta"), ("beta", "alpha")]}, "alpha → beta → alpha"),
    "required": (FLAT, {"required": [("alpa", "beta")]}, "no node 'alpa'; did you mean 'alpha'"),
    "text": (pd.DataFrame({"a": [f"this is text {i} of it" for i in range(90)]}), {}, "column 'a' is text"),
    "ignored": (FLAT, {"columns": {"alpha": "ignore", "beta": "ignore"}}, "no node to make of any"),
    "kind": (FLAT, {"columns": {"alpha": "text"}}, "declared as 'text'"),
    "column": (FLAT, {"columns": {"alpa": "category"}}, "no column 'alpa'; did you mean 'alpha'"),
    "empty": (FLAT[:0], {}, "the table is empty"),
    "target": (FLAT, {"target": "alpa"}, "did you mean 'alpha'"),
    "number": (FLAT.assign(n=np.arange(18) + 0.5), {"target": "n"}, "holds numbers of many values"),
    "no target": (FLAT, {"structure": "tan"}, "say which column that is"),
    "structure": (FLAT, {"structure": "hillclimb"}, "did you mean 'hill-climb'"),
    "aode": (FLAT, {"structure": "aode"}, "NetworkClassifier"),
    "score": (FLAT, {"score": "bicc"}, "did you mean 'bic'"),
    "order": (FLAT, {"structure": "k2", "order": ["alpha"]}, "'beta' is not in it"),
    "order twice": (FLAT, {"structure": "k2", "order": ["alpha", "beta", "beta"]}, "twice"),
    "order elsewhere": (FLAT, {"order": ["alpha", "beta"]}, "is for structure='k2' only"),
    "parents": (FLAT, {"max_parents": -1}, "max_parents"),
    "root": (FLAT, {"structure": "tan", "target": "beta", "root": "beta"}, "the class itself"),
    "ess": (FLAT, {"ess": 0}, "ess"),
    "no table": (None, {}, "a table was expected"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_learned_is_refused_in_one_sentence(name: str) -> None:
    table, options, message = BAD[name]
    with pytest.raises(IngenuoError, match=message) as told:
        Network.learn(table, **options)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2", "log-likelihood"])
def test_the_score_is_that_of_the_search(score: str) -> None:
    some = ROWS[:500]
    codes = [np.array([TRUE.states[node].index(value) for value in some[node]]) for node in TRUE.nodes]
    scorer = Scorer(Sample(codes, [2] * 3), score, ess=2.0)
    assert TRUE.score(some, score, ess=2.0) == pytest.approx(scorer.total(TRUE._parents), rel=1e-12)
    if score in ("bic", "bdeu"):
        found = Network.learn(some, score=score, ess=2.0)
        assert found.search is not None
        assert found.score(some, score, ess=2.0) == pytest.approx(found.search.score, rel=1e-12)
        assert found.search.score >= TRUE.score(some, score, ess=2.0) - 1e-9


def test_the_score_log_likelihood_is_that_of_the_rows() -> None:
    network = unlearned().fit(ROWS[:400], prior=MaximumLikelihood())
    assert network.score(ROWS[:400], "log-likelihood") == pytest.approx(network.log_likelihood(ROWS[:400]).sum())
    with pytest.raises(InputError, match="score='zz' is not known"):
        network.score(ROWS, "zz")


def test_rows_are_answered_as_evidence_is() -> None:
    rows = HOLED[:25]
    found = TRUE.predict_proba(rows, "s")
    for i, row in enumerate(rows.to_dict("records")):
        evidence = {node: state for node, state in row.items() if node != "s" and isinstance(state, str)}
        assert found[i].tolist() == pytest.approx(list(TRUE.posterior("s", evidence).values()), abs=1e-13)
        known = {node: state for node, state in row.items() if isinstance(state, str)}
        assert TRUE.log_likelihood(rows[i : i + 1])[0] == pytest.approx(TRUE.log_probability(known), abs=1e-12)
    assert TRUE.predict(rows, "s").tolist() == [TRUE.states["s"][k] for k in found.argmax(axis=1)]
    strange = TRUE.predict_proba(pd.DataFrame({"w": ["never seen"], "r": ["y"]}), "s")[0]
    assert strange.tolist() == pytest.approx(list(TRUE.posterior("s", {"r": "y"}).values()))


def test_rows_that_are_impossible_are_named() -> None:
    strict = unlearned().fit(
        pd.DataFrame({"r": ["y", "n"], "s": ["on", "off"], "w": ["wet", "dry"]}), prior=MaximumLikelihood()
    )
    with pytest.raises(NetworkError, match="row 1 is impossible"):
        strict.predict(pd.DataFrame({"r": ["y", "y"], "w": ["wet", "dry"]}), "s")
    assert strict.log_likelihood(pd.DataFrame({"r": ["y"], "s": ["on"], "w": ["dry"]}))[0] == -np.inf
    with pytest.raises(NetworkError, match="no column that is a node"):
        strict.predict(pd.DataFrame({"zz": [1]}), "s")
