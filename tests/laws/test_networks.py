"""The tables of a network are sums: no order, cutting or merging can be told from them, and rows can be taken back."""

from __future__ import annotations

import copy
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.errors import ForgetError, InputError, MergeError
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks.network import Network
from ingenuo.tally.prior import Lidstone, MaximumLikelihood

NAMES = ["a", "b", "c", "n"]
ARCS = [("a", "class"), ("class", "b"), ("a", "b"), ("b", "c"), ("class", "n")]
STRUCTURES = ["naive", "tan", "kdb", "aode", "hill-climb", "k2", "chow-liu", "given"]

Row = tuple[Any, ...]  # a, b, c, the number n, the class, the weight

value = st.sampled_from(["x", "y", "z", None])
rows = st.lists(
    st.tuples(
        value,
        st.sampled_from([True, False, None]),
        st.sampled_from(["x", "w", None]),
        st.sampled_from([0.25, 1.5, -3.0, 1e9, None]),
        st.sampled_from(["p", "q", "late"]),
        st.sampled_from([0.5, 1.0, 3.0, 0.1]),
    ),
    min_size=1,
    max_size=12,
)


def first_rows() -> list[Row]:
    """What the structure and the cut points are found from."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(40):
        yes = rng.random() < 0.5
        a = "x" if rng.random() < (0.8 if yes else 0.3) else "y"
        b = bool(rng.random() < (0.7 if a == "x" else 0.2))
        c = None if rng.random() < 0.1 else "x" if b else "w"
        found.append((a, b, c, float(rng.normal(3.0 * yes)), "p" if yes else "q", 1.0))
    return found


FIRST = first_rows()


def frame(some: list[Row]) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    X = pd.DataFrame({name: pd.Series([row[j] for row in some], dtype=object) for j, name in enumerate(NAMES)})
    X["n"] = pd.array([np.nan if row[3] is None else row[3] for row in some], dtype="float64").to_numpy()
    return X, np.array([row[4] for row in some], object), np.array([row[5] for row in some])


def together(some: list[Row]) -> pd.DataFrame:
    X, y, _ = frame(some)
    return X.assign(**{"class": y})


@cache
def learned(structure: str) -> Any:
    return NetworkClassifier(Network.from_arcs(ARCS) if structure == "given" else structure).fit(*frame(FIRST)[:2])


@cache
def learned_shape() -> Network:
    return Network.learn(together(FIRST), required=ARCS, max_parents=2, prior=Lidstone(0.5))


def started(structure: str) -> Any:
    """A classifier that has found its structure, and learned the first rows."""
    return copy.deepcopy(learned(structure))


def shape() -> Network:
    """The same of a network, with no rows but the first."""
    return copy.deepcopy(learned_shape())


def add(model: Any, some: list[Row], weighted: bool) -> Any:
    X, y, weights = frame(some)
    if isinstance(model, Network):
        return model.partial_fit(X.assign(**{"class": y}), sample_weight=weights if weighted else None)
    return model.partial_fit(X, y, sample_weight=weights if weighted else None)


def take(model: Any, some: list[Row], weighted: bool) -> Any:
    X, y, weights = frame(some)
    if isinstance(model, Network):
        return model.forget(X.assign(**{"class": y}), sample_weight=weights if weighted else None)
    return model.forget(X, y, sample_weight=weights if weighted else None)


ASKED = frame(
    [
        (a, b, c, n, "p", 1.0)
        for a in ("x", "y", None)
        for b in (True, None)
        for c, n in (("x", 0.2), (None, 9.0), ("never", None))
    ]
)[0]


def answers(model: Any) -> Any:
    """The tally, and what is said of some rows as bytes: equal only if equal to the last bit."""
    if isinstance(model, Network):
        tables = {name: (table.shape, table.tobytes()) for name, table in model.tables.items()}
        return model.states, tables, model.predict_proba(ASKED, "class").tobytes()
    return model.classes_.tolist(), model.predict_joint_log_proba(ASKED).tobytes()


def same(one: Any, other: Any) -> None:
    tally = "tally" if isinstance(one, Network) else "tally_"
    assert getattr(one, tally) == getattr(other, tally)
    assert answers(one) == answers(other)


def begin(structure: str) -> Any:
    return shape() if structure == "network" else started(structure)


every = st.sampled_from([*STRUCTURES, "network"])
weighted_too = st.booleans()


@settings(deadline=None, max_examples=25)
@given(every, rows, weighted_too)
def test_forgetting_equals_never_having_seen(structure: str, some: list[Row], weighted: bool) -> None:
    model = take(add(begin(structure), some, weighted), some, weighted)
    same(model, begin(structure))


@settings(deadline=None, max_examples=25)
@given(every, rows, weighted_too, st.sets(st.integers(1, 11)), st.randoms(use_true_random=False))
def test_neither_order_nor_chunks_can_be_told(
    structure: str, some: list[Row], weighted: bool, cuts: set[int], random: Any
) -> None:
    shuffled = list(some)
    random.shuffle(shuffled)
    places = [0, *sorted(cut for cut in cuts if cut < len(some)), len(some)]
    model = begin(structure)
    for lo, hi in pairwise(places):
        add(model, shuffled[lo:hi], weighted)
    same(model, add(begin(structure), some, weighted))


@settings(deadline=None, max_examples=25)
@given(every, rows, rows)
def test_merging_equals_learning_all_the_rows(structure: str, one: list[Row], other: list[Row]) -> None:
    a, b = add(begin(structure), one, False), add(begin(structure), other, False)
    both = add(add(begin(structure), one, False), [*other, *FIRST], False)
    same(a + b, both)
    same(b + a, both)
    same(a, add(begin(structure), one, False))
    same(a.merge(b), both)


@settings(deadline=None, max_examples=25)
@given(every, rows, st.integers(1, 3))
def test_a_whole_weight_is_the_row_so_many_times(structure: str, some: list[Row], times: int) -> None:
    heavy = [(*row[:5], float(times)) for row in some]
    same(add(begin(structure), heavy, True), add(begin(structure), some * times, False))


@settings(deadline=None, max_examples=25)
@given(every, rows)
def test_rows_that_were_never_learned_cannot_be_forgotten(structure: str, some: list[Row]) -> None:
    model = begin(structure)
    before = copy.deepcopy(model)
    strange = [*some, ("never", True, "x", 0.0, "p", 1.0)]
    with pytest.raises(ForgetError):
        take(model, strange, False)
    with pytest.raises(ForgetError):
        take(model, FIRST + FIRST, False)
    same(model, before)


@pytest.mark.parametrize("structure", [*STRUCTURES, "network"])
def test_empty_rows_cannot_be_forgotten_in_place_of_full_ones(structure: str) -> None:
    """No cell would fall below 0, but the tables would have more rows than were learned."""
    model = begin(structure)
    empty = [(None, None, None, None, "p", 1.0)]
    with pytest.raises(ForgetError, match="only rows that were learned can be forgotten"):
        take(model, empty * 12, False)
    same(model, begin(structure))


@settings(deadline=None, max_examples=25)
@given(rows, rows)
def test_fit_equals_partial_fit_for_a_network_of_categories(one: list[Row], other: list[Row]) -> None:
    """With no numbers to cut, nothing is taken from the rows that come first."""
    a, b, whole = together(one).drop(columns="n"), together(other).drop(columns="n"), together(one + other)
    arcs = [arc for arc in ARCS if "n" not in arc]
    states = {
        "a": ["z", "y", "x"],
        "b": [False, True],
        "c": ["x", "w"],
        "class": ["p", "q", "late"],
    }  # so that none is without a state
    made = Network.from_arcs(arcs, states=states).partial_fit(a).partial_fit(b)
    same_tables = Network.from_arcs(arcs, states=states).fit(whole)
    assert made.tally == same_tables.tally
    for node in made.nodes:
        assert made.tables[node].tobytes() == same_tables.tables[node].tobytes()
    assert made.forget(b).tally == Network.from_arcs(arcs, states=states).fit(a).tally


@pytest.mark.parametrize("structure", STRUCTURES)
def test_forgetting_every_value_of_a_column_leaves_a_model_that_answers(structure: str) -> None:
    X, y, _ = frame(FIRST)
    holes = X.assign(a=None)
    model = started(structure).partial_fit(holes, y).forget(X, y)
    found = model.predict_proba(holes)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_forgetting_everything_and_learning_again(structure: str) -> None:
    model = take(started(structure), FIRST, False)
    with pytest.raises(InputError, match="forgotten every row"):
        model.predict(ASKED)
    same(add(model, FIRST, False), started(structure))


def test_a_kind_once_learned_stays() -> None:
    """Few whole numbers are states, and more of them do not make intervals of what was learned."""
    few = pd.DataFrame({"a": np.arange(8), "b": list("uvuvuvuv")})
    many = pd.DataFrame({"a": np.arange(30), "b": list("uv" * 15)})
    network = Network.from_arcs([("a", "b")]).fit(few)
    before = copy.deepcopy(network)
    network.partial_fit(many)
    assert not network.cuts
    assert network.states["a"] == list(range(30))
    assert network.forget(many).tally == before.tally
    assert network.states == before.states
    words = pd.DataFrame({"a": [f"some words that look like text {i}" for i in range(200)], "b": list("uv" * 100)})
    categories = Network.from_arcs([("a", "b")]).fit(pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}))
    assert len(categories.partial_fit(words).states["a"]) == 202


@pytest.mark.parametrize(
    ("mine", "other"), [("tan", "naive"), ("naive", "tan"), ("given", "naive"), ("aode", "naive"), ("naive", "aode")]
)
def test_another_structure_is_not_merged(mine: str, other: str) -> None:
    model = started(mine)
    with pytest.raises(MergeError, match=r"networks merge where their structure is the same: .* in one of them only"):
        model.merge(started(other))
    same(model, started(mine))


def test_other_columns_are_not_merged() -> None:
    model = started("tan")
    fewer = NetworkClassifier("tan", columns={"n": "ignore"}).fit(*frame(FIRST)[:2])
    with pytest.raises(MergeError, match="structure is the same"):
        model.merge(fewer)
    same(model, started("tan"))


def test_other_cut_points_are_not_merged() -> None:
    X, y, _ = frame(FIRST)
    moved = X.assign(n=X["n"] + 100)
    model = started("naive")
    before = copy.deepcopy(model)
    with pytest.raises(MergeError, match="column 'n' is not"):
        model.merge(NetworkClassifier("naive").fit(moved, y))
    same(model, before)
    network, before = shape(), shape()
    other = Network.from_arcs(network.arcs, nodes=network.nodes).fit(moved.assign(**{"class": y}))
    with pytest.raises(MergeError, match="numbers are cut alike, and 'n' is not"):
        network.merge(other)
    same(network, before)


def test_networks_of_other_arcs_are_not_merged() -> None:
    table = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]})
    network = Network.from_arcs([("a", "b")]).fit(table)
    for arcs, what in (([("b", "a")], "is in one of them only"), ([], "is in one of them only")):
        with pytest.raises(MergeError, match=what):
            network.merge(Network.from_arcs(arcs, nodes=["a", "b"]).fit(table))
    assert network.tally == Network.from_arcs([("a", "b")]).fit(table).tally


def test_states_that_are_not_declared_are_not_merged() -> None:
    one = Network.from_arcs([("a", "b")], states={"a": ["x", "y"]}).fit(
        pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]})
    )
    other = Network.from_arcs([("a", "b")]).fit(pd.DataFrame({"a": ["z", "y"], "b": ["u", "v"]}))
    before = copy.deepcopy(one)
    with pytest.raises(MergeError, match="'z'"):
        one.merge(other)
    assert one.tally == before.tally


@pytest.mark.parametrize("structure", STRUCTURES)
def test_rows_that_cannot_be_learned_change_nothing(structure: str) -> None:
    model = started(structure)
    X, y, _ = frame(FIRST)
    for bad in (X.drop(columns="b"), X.assign(n=np.inf), X.iloc[:0]):
        with pytest.raises(InputError):
            model.partial_fit(bad, y[: len(bad)])
    with pytest.raises(InputError):
        model.partial_fit(X, y, sample_weight=-np.ones(len(y)))
    same(model, started(structure))


def test_the_prior_is_no_part_of_the_sum() -> None:
    for prior in (MaximumLikelihood(), Lidstone(2.0)):
        table = together(FIRST)
        network = shape().fit(table, prior=prior)
        again = shape().fit(table, prior=prior).partial_fit(table).forget(table)
        same(network, again)
        assert network.tally == shape().tally
