"""A network by an expert: made in every form, asked in every form, refused in one clear sentence."""

from __future__ import annotations

import math
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ingenuo.errors import (
    CycleError,
    ImpossibleEvidenceError,
    IngenuoError,
    InputError,
    KindError,
    ModelFileError,
    NetworkError,
    RefusedError,
    TooWideError,
)
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks.network import Network
from ingenuo.store import load, save

ARCS = [("rain", "sprinkler"), ("rain", "wet"), ("sprinkler", "wet")]
ORDER = ["rain", "sprinkler", "wet"]
STATES = {"rain": ["yes", "no"], "sprinkler": ["on", "off"], "wet": ["soaked", "damp", "dry"]}
TABLES: dict[str, Any] = {
    "rain": {"yes": 0.2, "no": 0.8},
    "sprinkler": {"yes": {"on": 0.01, "off": 0.99}, "no": {"on": 0.4, "off": 0.6}},
    "wet": {
        ("yes", "on"): [0.9, 0.09, 0.01],
        ("yes", "off"): [0.5, 0.3, 0.2],
        ("no", "on"): [0.3, 0.6, 0.1],
        ("no", "off"): [0.0, 0.0, 1.0],
    },
}


def lawn() -> Network:
    return Network.from_arcs(ARCS, nodes=ORDER, states={"wet": STATES["wet"]}, tables=TABLES)


LAWN = lawn()


def cells(network: Network, likelihoods: dict[str, dict[Any, float]] | None = None) -> dict[tuple[Any, ...], float]:
    """P(all nodes) times the likelihoods, cell by cell, from the tables."""
    found = {}
    for cell in product(*(network.states[node] for node in network.nodes)):
        at = dict(zip(network.nodes, cell))
        p = 1.0
        for node in network.nodes:
            place = tuple(network.states[each].index(at[each]) for each in (*network.parents[node], node))
            p *= float(network.tables[node][place]) * (likelihoods or {}).get(node, {}).get(at[node], 1.0)
        found[cell] = p
    return found


def posterior(network: Network, node: str, likelihoods: Any = None) -> dict[Any, float]:
    joint = cells(network, likelihoods)
    at = network.nodes.index(node)
    total = sum(joint.values())
    return {s: sum(p for cell, p in joint.items() if cell[at] == s) / total for s in network.states[node]}


def random_network(seed: int) -> Network:
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c", "d"]
    arcs = [(up, down) for i, down in enumerate(names) for up in names[:i] if rng.random() < 0.6]
    states = {name: [f"{name}{i}" for i in range(rng.integers(1, 4))] for name in names}
    tables = {}
    for name in names:
        shape = [len(states[up]) for up, down in arcs if down == name]
        tables[name] = rng.dirichlet(np.ones(len(states[name])), shape)
    return Network.from_arcs(arcs, nodes=names, states=states, tables=tables)


evidence_kinds = st.sampled_from(["none", "hard", "soft", "not", "list"])


def likelihood_of(kind: str, states: list[Any], seed: int) -> tuple[Any, dict[Any, float]]:
    """Evidence as it is written, and what it means."""
    rng = np.random.default_rng(seed)
    one = states[rng.integers(len(states))]
    if kind == "hard":
        return one, {s: float(s == one) for s in states}
    if kind == "soft":
        soft = {s: float(rng.random() + 0.1) for s in states}
        return soft, soft
    if kind == "not" and len(states) > 1:
        return {one: 0}, {s: float(s != one) for s in states}
    if kind == "list":
        some = [s for s in states if s == one or rng.random() < 0.5]
        return some, {s: float(s in some) for s in states}
    return None, dict.fromkeys(states, 1.0)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.lists(evidence_kinds, min_size=4, max_size=4), st.sampled_from("abcd"))
def test_answers_are_sums_over_the_joint_distribution(seed: int, kinds: list[str], asked: str) -> None:
    network = random_network(seed)
    written, meant = {}, {}
    for i, (node, kind) in enumerate(zip(network.nodes, kinds)):
        written[node], meant[node] = likelihood_of(kind, network.states[node], seed + i)
    joint = cells(network, meant)
    total = sum(joint.values())
    assert network.posterior(asked, written) == pytest.approx(posterior(network, asked, meant), abs=1e-12)
    assert network.observe(written).posterior(asked) == pytest.approx(network.posterior(asked, written), abs=1e-12)
    assert network.posteriors(written)[asked] == pytest.approx(network.posterior(asked, written), abs=1e-12)
    together = network.posterior(["d", asked] if asked != "d" else ["d"], written)
    for key, p in together.items():
        fits = [q for cell, q in joint.items() if cell[3] == key[0] and cell[network.nodes.index(asked)] == key[-1]]
        assert p == pytest.approx(sum(fits) / total, abs=1e-12)
    assert network.probability(written) == pytest.approx(total, rel=1e-12)
    assert network.log_probability(written) == pytest.approx(math.log(total), abs=1e-12)
    best = network.most_probable(written)
    assert best.probability == pytest.approx(max(joint.values()) / total, rel=1e-12)
    assert joint[tuple(best.states[node] for node in network.nodes)] == pytest.approx(max(joint.values()), rel=1e-12)
    assert best.log_probability == pytest.approx(math.log(best.probability), abs=1e-12)


# Doing and seeing.


def truncated(network: Network, done: dict[str, Any], seen: dict[str, Any], asked: str) -> dict[Any, float]:
    """Pearl's truncated factorisation: the product of all tables but those of what was set."""
    found = dict.fromkeys(network.states[asked], 0.0)
    for cell in product(*(network.states[node] for node in network.nodes)):
        at = dict(zip(network.nodes, cell))
        if any(at[node] != state for node, state in {**done, **seen}.items()):
            continue
        p = 1.0
        for node in network.nodes:
            place = tuple(network.states[each].index(at[each]) for each in (*network.parents[node], node))
            p *= 1.0 if node in done else float(network.tables[node][place])
        found[at[asked]] += p
    total = sum(found.values())
    return {state: p / total for state, p in found.items()}


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.permutations("abcd"))
def test_setting_is_the_truncated_factorisation(seed: int, names: list[str]) -> None:
    network = random_network(seed)
    one, two, seen, asked = names
    done = {node: network.states[node][-1] for node in (one, two)}
    known = {seen: network.states[seen][0]}
    wanted = truncated(network, done, known, asked)
    assert network.intervene(done).posterior(asked, known) == pytest.approx(wanted, abs=1e-12)
    assert network.intervene(done).observe(known).posterior(asked) == pytest.approx(wanted, abs=1e-12)
    assert network.observe(known).intervene(done).posterior(asked) == pytest.approx(wanted, abs=1e-12)
    assert network.intervene({one: done[one]}).intervene({two: done[two]}).posterior(asked, known) == pytest.approx(
        wanted, abs=1e-12
    )


def test_seeing_tells_of_causes_and_doing_does_not() -> None:
    assert LAWN.posterior("rain", {"sprinkler": "on"})["yes"] < 0.01
    done = LAWN.intervene(sprinkler="on")
    assert done.posterior("rain") == pytest.approx({"yes": 0.2, "no": 0.8})
    assert done.posterior("wet") == pytest.approx({"soaked": 0.42, "damp": 0.498, "dry": 0.082})
    assert done.posterior("wet") != pytest.approx(LAWN.posterior("wet", {"sprinkler": "on"}), abs=1e-3)
    assert ("rain", "sprinkler") in LAWN.arcs  # which is as it was
    assert done.arcs == [("rain", "wet"), ("sprinkler", "wet")]


def test_a_common_effect_that_is_seen_makes_its_causes_dependent_and_one_that_is_set_does_not() -> None:
    coins = Network.from_arcs(
        [("a", "same"), ("b", "same")],
        tables={
            "a": {"h": 0.5, "t": 0.5},
            "b": {"h": 0.5, "t": 0.5},
            "same": {(x, y): {"yes": float(x == y), "no": float(x != y)} for x in "ht" for y in "ht"},
        },
    )
    assert coins.posterior("a", {"b": "h"})["h"] == pytest.approx(0.5)
    assert coins.posterior("a", {"b": "h", "same": "yes"})["h"] == pytest.approx(1)
    assert coins.intervene(same="yes").posterior("a", {"b": "h"})["h"] == pytest.approx(0.5)


def test_a_node_set_at_random_is_a_mixture() -> None:
    mixed = LAWN.intervene(sprinkler={"on": 0.25, "off": 0.75}).posterior("wet")
    on, off = (LAWN.intervene(sprinkler=state).posterior("wet") for state in ("on", "off"))
    assert mixed == pytest.approx({state: 0.25 * on[state] + 0.75 * off[state] for state in on})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"on": 1, "off": 3}, "a probability is from 0 to 1"),
        ({"on": 0.3, "off": 0.3}, "sum to 0.6 instead of 1"),
        ({"on": 0}, "sum to 0 instead of 1"),
        (["on", "off"], "set it to one state"),
        ("onn", "no state 'onn'; did you mean 'on'"),
    ],
)
def test_a_node_cannot_be_set_to_that(value: Any, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        LAWN.intervene(sprinkler=value)


def test_what_was_seen_cannot_be_set_nor_what_was_set_be_seen_otherwise() -> None:
    with pytest.raises(NetworkError, match="'sprinkler' was observed, and cannot be set as well"):
        LAWN.observe(sprinkler="off").intervene(sprinkler="on")
    assert LAWN.intervene(sprinkler="off").intervene(sprinkler="on").evidence == "do(sprinkler = on)"
    with pytest.raises(ImpossibleEvidenceError, match="'sprinkler'"):
        LAWN.intervene(sprinkler="on").posterior("rain", {"sprinkler": "off"})


def test_observations_add_up_and_contradictions_are_told() -> None:
    twice = LAWN.observe(wet=["soaked", "damp"]).observe(wet={"soaked": 0})
    assert twice.posterior("rain") == pytest.approx(LAWN.posterior("rain", {"wet": "damp"}))
    assert twice.evidence == "wet = damp"
    with pytest.raises(ImpossibleEvidenceError, match="'wet' contradicts"):
        twice.observe(wet="dry")
    assert LAWN.evidence == ""


def test_learning_is_for_the_network_itself() -> None:
    table = LAWN.sample(50, random_state=0)
    network = Network.from_arcs(ARCS, nodes=ORDER, states=STATES).fit(table)
    for asked in (network.observe(rain="yes"), network.intervene(sprinkler="on")):
        for learn in (asked.fit, asked.partial_fit, asked.forget):
            with pytest.raises(InputError):
                learn(table)
    with pytest.raises(KindError, match="not with what was observed"):
        save(network.observe(rain="yes"), "never-written")


def test_samples_agree_with_the_tables_and_the_evidence() -> None:
    for evidence in (None, {"wet": {"dry": 0}}, {"wet": {"soaked": 1.0, "damp": 0.5, "dry": 0.25}}, {"rain": "no"}):
        drawn = LAWN.sample(4000, evidence, random_state=1).to_pylist()
        wanted = {cell: p for cell, p in LAWN.posterior(ORDER, evidence).items() if p > 0}
        counts = [sum(tuple(row.values()) == cell for row in drawn) for cell in wanted]
        assert sum(counts) == 4000
        assert chisquare(counts, np.array(list(wanted.values())) * 4000).pvalue > 1e-4
    assert LAWN.sample(5, random_state=3).equals(LAWN.sample(5, random_state=3))
    assert LAWN.sample(0).column_names == ORDER


# Every form of a table.


def test_every_form_of_a_table_is_the_same_network() -> None:
    inner = {"on": {"soaked": 0.9, "damp": 0.09, "dry": 0.01}, "off": [0.5, 0.3, 0.2]}
    arrays = {name: LAWN.tables[name] for name in ORDER}
    forms = [
        {**TABLES, "wet": {"yes": inner, "no": {"on": [0.3, 0.6, 0.1], "off": {"dry": 1}}}},
        arrays,
        {name: table.tolist() for name, table in arrays.items()},
        {**arrays, "rain": (0.2, 0.8)},
    ]
    for tables in forms:
        network = Network.from_arcs(ARCS, nodes=ORDER, states=STATES, tables=tables)
        assert network.parents == LAWN.parents
        for name in ORDER:
            np.testing.assert_array_equal(network.tables[name], LAWN.tables[name])
    with pytest.raises(ValueError, match="read-only"):
        LAWN.tables["rain"][0] = 1.0


def test_states_of_any_type_are_called_by_themselves_or_as_they_are_written() -> None:
    network = Network.from_arcs(
        [("a", "b")], tables={"a": {True: 0.5, False: 0.5}, "b": {True: {1: 0.2, 0: 0.8}, False: {1: 0.7, 0: 0.3}}}
    )
    wanted = {1: 0.2, 0: 0.8}
    for state in (True, "True", np.True_):
        assert network.posterior("b", {"a": state}) == pytest.approx(wanted)
    assert network.posterior("a", {"b": 1}) == network.posterior("a", {"b": "1"})
    assert network.posterior("a", {"b": 1}) == network.posterior("a", {"b": np.int64(1)})


def test_words_of_a_file_take_truth_values_and_numbers() -> None:
    network = Network.from_arcs(
        [("a", "b")],
        tables={"a": {"true": 0.2, "false": 0.8}, "b": {"true": {"0": 0.1, "1": 0.9}, "false": {"0": 0.6, "1": 0.4}}},
    )
    rows = pd.DataFrame({"a": [True, False], "b": [0, 1]})
    np.testing.assert_allclose(network.predict_proba(rows, "b"), [[0.1, 0.9], [0.6, 0.4]])
    holed = pd.DataFrame({"a": [True, False, None], "b": [0.0, np.nan, 1.0]})
    np.testing.assert_allclose(
        network.predict_proba(holed, "a"),
        [list(network.posterior("a", evidence).values()) for evidence in ({"b": "0"}, {}, {"b": "1"})],
    )
    assert network.posterior("b", {"a": True}) == pytest.approx({"0": 0.1, "1": 0.9})
    assert network.posterior("a", {"b": 1.0}) == network.posterior("a", {"b": "1"})


# Bad input.


AB = {"a": ["x", "y"], "b": ["u", "v"]}
BAD_NETWORKS: dict[str, tuple[Any, type[Exception], str]] = {
    "circle": (lambda: Network.from_arcs([("a", "b"), ("b", "c"), ("c", "a")]), CycleError, "a → b → c → a"),
    "own parent": (lambda: Network.from_arcs([("a", "a")]), CycleError, "a → a"),
    "arc twice": (lambda: Network.from_arcs([("a", "b"), ("a", "b")]), NetworkError, "a → b is given twice"),
    "no pair": (lambda: Network.from_arcs(["ab"]), KindError, "pair"),
    "three ends": (lambda: Network.from_arcs([("a", "b", "c")]), KindError, "pair"),
    "no arc": (lambda: Network.from_arcs([None]), KindError, "pair"),  # type: ignore[list-item]
    "no name": (lambda: Network.from_arcs([(1, 2)]), KindError, "names of nodes"),  # type: ignore[list-item]
    "nothing": (lambda: Network.from_arcs([]), NetworkError, "one node at least"),
    "sum": (
        lambda: Network.from_arcs(
            [("a", "b")], states=AB, tables={"a": [0.5, 0.5], "b": {"x": [0.5, 0.6], "y": [1, 0]}}
        ),
        NetworkError,
        r"P\(b \| a = x\) sums to 1\.1 instead of 1",
    ),
    "sum of an array": (
        lambda: Network.from_arcs([("a", "b")], states=AB, tables={"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.3, 0.3]]}),
        NetworkError,
        r"P\(b \| a = y\) sums to 0\.6 instead of 1",
    ),
    "negative": (
        lambda: Network.from_arcs([], states={"a": ["x", "y"]}, tables={"a": [1.5, -0.5]}),
        NetworkError,
        "-0.5, which is no probability",
    ),
    "not a number": (
        lambda: Network.from_arcs([], states={"a": ["x", "y"]}, tables={"a": [np.nan, 0.5]}),
        NetworkError,
        "nan, which is no probability",
    ),
    "row absent": (
        lambda: Network.from_arcs([("a", "b")], states=AB, tables={"a": [0.5, 0.5], "b": {"x": [0.5, 0.5]}}),
        NetworkError,
        r"P\(b \| a = y\) is not given",
    ),
    "state": (
        lambda: Network.from_arcs(
            [("a", "b")], states=AB, tables={"a": [0.5, 0.5], "b": {"x": [0.5, 0.5], "yy": [1, 0]}}
        ),
        NetworkError,
        "no state 'yy'; did you mean 'y'",
    ),
    "node": (
        lambda: Network.from_arcs([("rain", "wet")], tables={"rian": {"y": 1.0}, "wet": {"y": {"u": 1.0}}}),
        NetworkError,
        "'rain' has no table",
    ),
    "shape": (
        lambda: Network.from_arcs([("a", "b")], states=AB, tables={"a": [0.5, 0.5], "b": [0.5, 0.5]}),
        NetworkError,
        r"found 0.5 as P\(b \| a = x\), expected a list of numbers",
    ),
    "length": (
        lambda: Network.from_arcs(
            [("a", "b")], states=AB, tables={"a": [0.5, 0.5], "b": {"x": [0.5, 0.5], "y": [0.2, 0.3, 0.5]}}
        ),
        NetworkError,
        "needs 2 numbers, and has 3",
    ),
    "no states": (lambda: Network.from_arcs([], tables={"a": [0.5, 0.5]}), NetworkError, "states of 'a' are not given"),
    "states twice": (
        lambda: Network.from_arcs([], states={"a": ["x", "x"]}, tables={"a": [0.5, 0.5]}),
        NetworkError,
        "'x' twice",
    ),
    "declared twice": (lambda: Network.from_arcs([("a", "b")], states={"a": ["x", "x"]}), InputError, "'a'"),
    "declared none": (lambda: Network.from_arcs([("a", "b")], states={"a": []}), InputError, "'a'"),
    "not learned": (lambda: Network.from_arcs(ARCS).posterior("rain"), NetworkError, "no tables yet"),
}


@pytest.mark.parametrize("name", BAD_NETWORKS)
def test_a_network_that_cannot_be_is_refused_in_one_sentence(name: str) -> None:
    make, kind, message = BAD_NETWORKS[name]
    with pytest.raises(kind, match=message) as told:
        make()
    assert "\n" not in str(told.value)


BAD_QUESTIONS: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "node": ("rian", None, NetworkError, "no node 'rian'; did you mean 'rain'"),
    "twice": (["rain", "rain"], None, NetworkError, "several different ones"),
    "none": ([], None, NetworkError, "several different ones"),
    "nothing": (None, None, IngenuoError, "node"),
    "number": (3, None, IngenuoError, "node"),
    "state": ("rain", {"wet": "dri"}, NetworkError, "node 'wet' has no state 'dri'; did you mean 'dry'"),
    "evidence node": ("rain", {"wett": "dry"}, NetworkError, "no node 'wett'; did you mean 'wet'"),
    "no mapping": ("rain", "wet", KindError, "mapping from node to state"),
    "no state left": ("rain", {"wet": []}, ImpossibleEvidenceError, "no state at all"),
    "all ruled out": ("rain", {"sprinkler": {"on": 0, "off": 0}}, ImpossibleEvidenceError, "no state at all"),
    "half": ("rain", {"wet": {"dry": 0.5}}, NetworkError, "every state a likelihood, and 'soaked' has none"),
    "negative": ("rain", {"sprinkler": {"on": -1, "off": 1}}, NetworkError, "finite and not negative"),
    "nan": ("rain", {"sprinkler": {"on": np.nan, "off": 1}}, NetworkError, "finite and not negative"),
    "endless": ("rain", {"sprinkler": {"on": np.inf, "off": 1}}, NetworkError, "finite and not negative"),
    "word": ("rain", {"sprinkler": {"on": "a", "off": 1}}, NetworkError, "finite and not negative"),
    "impossible": (
        "rain",
        {"rain": "no", "sprinkler": "off", "wet": "damp"},
        ImpossibleEvidenceError,
        "probability 0: rain = no, sprinkler = off, wet = damp",
    ),
}


@pytest.mark.parametrize("name", BAD_QUESTIONS)
def test_a_question_that_makes_no_sense_is_refused_in_one_sentence(name: str) -> None:
    node, evidence, kind, message = BAD_QUESTIONS[name]
    with pytest.raises(kind, match=message) as told:
        LAWN.posterior(node, evidence)
    assert "\n" not in str(told.value)


def test_impossible_evidence_has_probability_zero_and_no_other_answer() -> None:
    evidence = {"rain": "no", "sprinkler": "off", "wet": "damp"}
    assert LAWN.probability(evidence) == 0
    assert LAWN.log_probability(evidence) == -math.inf
    for ask in (LAWN.posteriors, LAWN.most_probable, lambda e: LAWN.sample(3, e), lambda e: LAWN.draw(evidence=e)):
        with pytest.raises(ImpossibleEvidenceError, match="rain = no"):
            ask(evidence)


def test_missing_evidence_says_nothing() -> None:
    assert LAWN.posterior("rain", {"wet": None, "sprinkler": np.nan}) == LAWN.posterior("rain")


def test_a_network_too_wide_says_how_wide_and_what_to_do() -> None:
    names = [f"n{i}" for i in range(40)]
    rng = np.random.default_rng(0)
    arcs = sorted({(names[rng.integers(i)], names[i]) for i in range(1, 40) for _ in range(7)})
    states = {name: ["u", "v", "w"] for name in names}
    above = {name: sum(down == name for _, down in arcs) for name in names}
    tables = {name: np.full((*[3] * above[name], 3), 1 / 3) for name in names}
    network = Network.from_arcs(arcs, nodes=names, states=states, tables=tables)
    with pytest.raises(TooWideError) as told:
        network.posteriors()
    assert "\n" not in str(told.value)
    assert "width" in str(told.value) or "wide" in str(told.value)
    assert "<svg" in network._repr_html_()
    with pytest.raises(TooWideError, match=r"would have .* cells"):
        Network.from_arcs([(f"p{i}", "c") for i in range(10)]).fit(
            pd.DataFrame({**{f"p{i}": list("abcdefghij") for i in range(10)}, "c": list("uv") * 5})
        )


@pytest.mark.parametrize("n", [-1, True, 1.5, "3"])
def test_so_many_rows_cannot_be_drawn(n: Any) -> None:
    with pytest.raises(IngenuoError):
        LAWN.sample(n)


# Comparing, seeing, keeping.


def test_strength_is_mutual_information() -> None:
    copies = Network.from_arcs([("a", "b")], tables={"a": {"x": 0.5, "y": 0.5}, "b": {"x": {"u": 1}, "y": {"v": 1}}}
        , states={"b": ["u", "v"]})  # fmt: skip
    assert copies.strengths() == pytest.approx({("a", "b"): 1.0})
    apart = Network.from_arcs(
        [("a", "b")], states={"a": ["x", "y"], "b": ["u", "v"]}, tables={"a": [0.5, 0.5], "b": [[0.3, 0.7]] * 2}
    )
    assert apart.strengths() == pytest.approx({("a", "b"): 0.0}, abs=1e-12)


def test_pictures_are_written_whole(tmp_path: Path) -> None:
    drawn = LAWN.draw(tmp_path / "lawn.svg", {"rain": "yes"}, title="lawn")
    assert drawn.startswith("<svg")
    assert (tmp_path / "lawn.svg").read_text(encoding="utf-8") == drawn
    assert [path.name for path in tmp_path.iterdir()] == ["lawn.svg"]


def test_pictures_elsewhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a picture is"):
        LAWN.draw(tmp_path / "lawn.gif")
    with pytest.raises((InputError, OSError)) as told:
        LAWN.draw(tmp_path / "nowhere" / "lawn.svg")
    assert ".tmp" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_in_a_notebook() -> None:
    picture = LAWN.draw()
    assert picture._repr_svg_().startswith("<svg")
    assert "soaked" in str(picture)
    assert "soaked" in LAWN._repr_html_()
    bare = Network.from_arcs(ARCS)
    assert "sprinkler" in bare._repr_html_()
    assert "sprinkler" in bare.draw()


def test_odd_names_are_shown_and_run_nothing() -> None:
    odd = "<script>alert('&\"')</script>"
    network = Network.from_arcs([(odd, "b]]>")], tables={odd: {"<b>": 0.5, "&amp;": 0.5}, "b]]>": [[0.5, 0.5]] * 2}
        , states={"b]]>": ["ü\n", "–" * 200]})  # fmt: skip
    for page in (network._repr_html_(), str(network.draw()), Network.from_arcs([(odd, "x")])._repr_html_()):
        assert "<script" not in page
        assert "<b>" not in page.replace("<b>&", "")
    import xml.etree.ElementTree as ElementTree

    ElementTree.fromstring(str(network.draw()))


def test_the_summary_counts_nodes_arcs_and_cells() -> None:
    text = str(LAWN)
    assert text.splitlines()[0] == "network: 3 nodes, 3 arcs, 18 cells (11 free parameters)"
    assert "rain, sprinkler" in text
    assert "given: rain = yes" in str(LAWN.observe(rain="yes"))
    lines = [line.split() for line in str(Network.from_arcs(ARCS)).splitlines()]
    assert lines[0][-3:] == ["no", "tables", "yet"]
    assert lines[2:] == [["rain"], ["sprinkler", "rain"], ["wet", "rain,", "sprinkler"]]
    assert repr(LAWN) == "<Network network: 3 nodes, 3 arcs>"
    assert LAWN.table("sprinkler").to_pydict() == {
        "rain": ["yes", "no"], "P(sprinkler = on)": [0.01, 0.4], "P(sprinkler = off)": [0.99, 0.6],
    }  # fmt: skip


def test_pickles_copies_and_files_answer_alike(tmp_path: Path) -> None:
    wanted = LAWN.posterior("rain", {"wet": "damp"})
    assert pickle.loads(pickle.dumps(LAWN)).posterior("rain", {"wet": "damp"}) == wanted
    save(LAWN, tmp_path / "lawn.ingenuo")
    assert load(tmp_path / "lawn.ingenuo").posterior("rain", {"wet": "damp"}) == wanted
    for suffix in ("bif", "xml", "yaml", "yaml.gz"):
        LAWN.write(tmp_path / f"lawn.{suffix}")
        assert Network.read(tmp_path / f"lawn.{suffix}").posterior("rain", {"wet": "damp"}) == wanted


def test_a_forged_file_of_a_network_is_refused_or_sound() -> None:
    import copy
    import random

    from ingenuo import store
    from ingenuo.tally import container

    manifest, tensors = container.from_bytes(store.to_bytes(LAWN))
    rng, refused = random.Random(0), 0
    packed = manifest["network"]
    for _ in range(200):
        forged = copy.deepcopy(packed)
        field = rng.choice(["parents", "states", "declared", "nodes", "cuts", "target", "tally", "prior", "tables"])
        value = rng.choice([None, [], [0], [1, 1], "x", 3, True, {}, [[]], ["rain"] * 3])
        if field in ("parents", "states") and rng.random() < 0.7:
            forged[field][rng.randrange(3)] = value
        elif field == "states" and rng.random() < 0.5:
            forged[field][0][0] = value
        else:
            forged[field] = value
        try:
            loaded = store.from_bytes(container.to_bytes({**manifest, "network": forged}, tensors))
        except ModelFileError:
            refused += 1
            continue
        try:
            found = loaded.posteriors()
        except InputError:
            continue
        assert all(sum(own.values()) == pytest.approx(1) for own in found.values())
        str(loaded), loaded._repr_html_()
    assert refused > 100


def test_only_what_was_learned_can_be_added_to() -> None:
    table = LAWN.sample(20, random_state=0)
    for learn in (LAWN.partial_fit, LAWN.forget, LAWN.merge):
        with pytest.raises((RefusedError, KindError)):
            learn(LAWN if learn == LAWN.merge else table)
    with pytest.raises(KindError, match="not with NetworkClassifier"):
        Network.from_arcs(ARCS).fit(table).merge(NetworkClassifier())  # type: ignore[arg-type]
