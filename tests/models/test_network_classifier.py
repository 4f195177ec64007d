"""A network as a classifier, against sums over every cell of the joint distribution, and as scikit-learn has it."""

from __future__ import annotations

import copy
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import ingenuo as ing
from ingenuo import store
from ingenuo.datasets import diabetes
from ingenuo.errors import InputError, KindError, ModelFileError, NetworkError, RefusedError
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks.network import Network
from ingenuo.tally import container
from ingenuo.tally.prior import Laplace, Lidstone, MaximumLikelihood, MEstimate

SEARCHED = ["naive", "tan", "kdb", "hill-climb", "k2", "chow-liu"]
STRUCTURES = [*SEARCHED, "aode", "given"]
COLUMNS = ["c0", "c1", "c2", "c3"]


def table(n: int = 150, holes: float = 0.1, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A chain of columns below the class, with missing values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    state, columns = y, {}
    for name in COLUMNS:
        state = np.where(rng.random(n) < 0.6, (state + rng.integers(0, 2, n)) % 3, rng.integers(0, 3, n))
        values = np.array(list("abc"), object)[state]
        values[rng.random(n) < holes] = None
        columns[name] = values
    return pd.DataFrame(columns), np.array(["p", "q", "r"])[y]


X, Y = table()
GIVEN = Network.from_arcs([("class", "c0"), ("c1", "class"), ("c0", "c2"), ("c1", "c2"), ("class", "c3"), ("c1", "c3")])


def model_of(structure: str, **parameters: Any) -> Any:
    return NetworkClassifier(GIVEN if structure == "given" else structure, **parameters)


def rows_of(some: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series([row[j] for row in some], dtype=object) for j, name in enumerate(COLUMNS)})


# Some of everything: known, missing, never seen in training, nothing known at all.
ASKED = list(product(["a", "c", None], ["b", None, "never"], ["a", None], ["c", None]))


def enumerated(model: Any, row: tuple[Any, ...]) -> np.ndarray:
    """P(class, what is known of the row): the sum over every cell of the joint distribution that agrees."""
    network = model.network_
    nodes, states = network.nodes, [network.states[node] for node in network.nodes]
    known = dict(zip(COLUMNS, row))
    found = np.zeros(len(states[0]))
    for cell in product(*(range(len(own)) for own in states)):
        at = dict(zip(nodes, cell))
        values = {node: own[i] for node, own, i in zip(nodes, states, cell)}
        if all(known[name] not in network.states[name] or values[name] == known[name] for name in COLUMNS):
            entries = [network.tables[v][(*(at[up] for up in network.parents[v]), at[v])] for v in nodes]
            found[cell[0]] += np.prod(entries)
    return found


def multiplied(explanation: Any) -> list[float]:
    """The product of all that is shown, class by class."""
    shown = explanation.to_dict()
    factors = [factor["terms"] for factor in (shown["prior"], *shown["factors"]) if factor["terms"]]
    return [float(np.prod([terms[k]["value"] for terms in factors])) for k in range(len(shown["posterior"]))]


@pytest.mark.parametrize("prior", [Laplace(), Lidstone(0.5), MEstimate(3), MaximumLikelihood()], ids=str)
def test_a_naive_network_is_naive_bayes(prior: Any) -> None:
    network = NetworkClassifier("naive", prior=prior).fit(X, Y)
    naive = NaiveBayes(prior=prior, class_prior=prior).fit(X, Y)
    rows = rows_of(ASKED)
    np.testing.assert_allclose(network.predict_proba(rows), naive.predict_proba(rows), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        network.predict_joint_log_proba(rows), naive.predict_joint_log_proba(rows), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("structure", [*SEARCHED, "given"])
def test_what_is_missing_is_summed_out_exactly_and_shown(structure: str) -> None:
    order = ["c2", "class", "c0", "c1", "c3"] if structure == "k2" else None  # so that the class may have parents
    model = model_of(structure, order=order).fit(X, Y)
    wanted = np.array([enumerated(model, row) for row in ASKED])
    rows = rows_of(ASKED)
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(rows)), wanted, rtol=1e-12)
    posteriors = wanted / wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(rows), posteriors, rtol=0, atol=1e-13)
    for row, joint, posterior in zip(ASKED, wanted, posteriors):
        shown = model.explain(dict(zip(COLUMNS, row)))
        assert multiplied(shown) == pytest.approx(joint.tolist(), rel=1e-12)
        assert list(shown.to_dict()["posterior"].values()) == pytest.approx(posterior.tolist(), abs=1e-13)
        assert list(shown.to_dict()["product"].values()) == pytest.approx(joint.tolist(), rel=1e-12)
        for name in COLUMNS:
            assert name in str(shown)


def test_a_network_given_where_the_class_has_parents_and_says_so() -> None:
    model = model_of("given").fit(X, Y)
    assert model.network_.parents["class"] == ("c1",)
    assert "summed over c1, below" in str(model.explain({"c0": "a", "c2": "b"}))
    below = {each["column"]: each for each in model.explain({"c1": "a"}).to_dict()["factors"]}
    for name in ("c0", "c2", "c3"):  # c0 has a child, of which nothing is known either
        assert below[name]["note"] == "summed out: what it could be sums to 1"
    assert model.search_ is None


def test_a_missing_node_of_many_children_is_explained() -> None:
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 2, 200)
    names = [f"x{i}" for i in range(80)]
    frame = pd.DataFrame({"hub": hub, **{name: np.where(rng.random(200) < 0.1, 1 - hub, hub) for name in names}})
    model = NetworkClassifier(Network.from_arcs([("class", "hub"), *(("hub", name) for name in names)]))
    model.fit(frame, np.where(rng.random(200) < 0.2, 1 - hub, hub))
    row = frame.iloc[:1].astype({"hub": object}).assign(hub=None)
    shown = model.explain(row)
    joint = np.exp(model.predict_joint_log_proba(row))[0]
    assert multiplied(shown) == pytest.approx(joint.tolist(), rel=1e-10)


# AODE.


def averaged(rows: list[dict[str, Any]], labels: list[Any], row: dict[str, Any], a: float, least: float) -> list[float]:
    """Webb's mean of one-dependence estimators, by counting again and again."""
    classes = sorted(set(labels))
    values = {name: {each[name] for each in rows} - {None} for name in rows[0]}
    known = {name: value for name, value in row.items() if value in values[name]}

    def count(label: Any = None, **wanted: Any) -> int:
        return sum(
            (label is None or own == label)
            and all(each[name] is not None if value is any else each[name] == value for name, value in wanted.items())
            for each, own in zip(rows, labels)
        )

    parents = [name for name in known if count(**{name: known[name]}) >= max(least, 1) and len(values) > 1]
    found = []
    for label in classes:
        models = []
        for parent in parents:
            at = {parent: known[parent]}
            cells = len(classes) * len(values[parent])
            model = (count(label, **at) + a) / (count(**{parent: any}) + a * cells)
            for child in known.keys() - {parent}:
                below = count(label, **at, **{child: any}) + a * len(values[child])
                model *= (count(label, **at, **{child: known[child]}) + a) / below
            models.append(model)
        if not models:
            models = [(count(label) + a) / (len(rows) + a * len(classes))]
            for child in known:
                below = count(label, **{child: any}) + a * len(values[child])
                models[0] *= (count(label, **{child: known[child]}) + a) / below
        found.append(sum(models) / len(models))
    return found


@pytest.mark.parametrize(("a", "least"), [(0.5, 1), (1.0, 0), (0.5, 45), (0.5, 10_000)])
def test_aode_is_the_mean_of_its_models(a: float, least: int) -> None:
    model = NetworkClassifier("aode", prior=Lidstone(a), frequency=least).fit(X, Y)
    plain = [dict(zip(COLUMNS, row)) for row in zip(*(X[name].tolist() for name in COLUMNS))]
    plain = [{name: value if isinstance(value, str) else None for name, value in row.items()} for row in plain]
    some = ASKED[::3]
    wanted = np.array([averaged(plain, Y.tolist(), dict(zip(COLUMNS, row)), a, least) for row in some])
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(rows_of(some))), wanted, rtol=1e-12)
    for row, joint in zip(some[:8], wanted):
        shown = model.explain(dict(zip(COLUMNS, row)))
        assert multiplied(shown) == pytest.approx(joint.tolist(), rel=1e-12)
        if least != 45:  # where it depends on the row
            assert ("naive product" in str(shown)) == (least == 10_000 or set(row) <= {None, "never"})


def test_aode_of_one_column_is_naive() -> None:
    one, naive = (NetworkClassifier(name).fit(X[["c0"]], Y) for name in ("aode", "naive"))
    np.testing.assert_allclose(one.predict_proba(X[["c0"]]), naive.predict_proba(X[["c0"]]), atol=1e-14)


def test_a_value_seen_just_often_enough_may_be_a_parent() -> None:
    row = {"c0": "a", "c1": None, "c2": None, "c3": None}
    seen = int((X["c0"] == "a").sum())
    enough, too_few = (
        str(NetworkClassifier("aode", frequency=least).fit(X, Y).explain(row)) for least in (seen, seen + 1)
    )
    assert "mean of 1" in enough
    assert "naive product" in too_few


@pytest.mark.parametrize("structure", ["aode", "tan", "naive"])
def test_what_columns_are_called_does_not_matter(structure: str) -> None:
    for names in (["a", "b|c", "a|b", "c"], ["rows", "class", "node:rows", "all"], ["a:", "a", "(a, b)", "prior"]):
        named = X.set_axis(names, axis=1)
        found = NetworkClassifier(structure).fit(named, Y)
        wanted = NetworkClassifier(structure).fit(X, Y)
        assert len(found.tally_) == len(wanted.tally_)
        np.testing.assert_allclose(found.predict_proba(named), wanted.predict_proba(X), atol=1e-14)
        row = dict(zip(names, ("a", None, "b", "c")))
        shown, plain = found.explain(row), wanted.explain(dict(zip(COLUMNS, row.values())))
        assert multiplied(shown) == pytest.approx(multiplied(plain), rel=1e-12)


def test_aode_is_no_single_network() -> None:
    model = NetworkClassifier("aode").fit(X, Y)
    with pytest.raises(RefusedError, match="average of networks"):
        model.network_  # noqa: B018
    with pytest.raises(RefusedError, match="take another structure to sample"):
        model.sample(3)


# Impossible rows.


@pytest.mark.parametrize("structure", STRUCTURES)
def test_rows_that_no_class_allows_get_probabilities_all_the_same(structure: str) -> None:
    strict = pd.DataFrame([list("aaaa"), list("bbbb")] * 5, columns=COLUMNS)
    labels = ["p", "q"] * 5
    model = model_of(structure, prior=MaximumLikelihood()).fit(strict, labels)
    every = rows_of(list(product("ab", repeat=4)))
    found = model.predict_proba(every)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (model.predict(every) == model.classes_[found.argmax(axis=1)]).all()
    assert not np.isnan(model.predict_log_proba(every)).any()
    assert "with probability" in str(model.explain({"c0": "a", "c1": "b", "c2": "a", "c3": "b"}))
    if structure == "naive":
        naive = NaiveBayes(prior=MaximumLikelihood()).fit(strict, labels)
        np.testing.assert_allclose(found, naive.predict_proba(every), atol=1e-12)
        assert (model.predict(every) == naive.predict(every)).all()


# Shapes and types of tables.


NUMBERS = np.random.default_rng(1).integers(0, 4, (60, 3))
YES = NUMBERS[:, 0] + NUMBERS[:, 1] > 3
TABLES = {
    "integers": NUMBERS,
    "small integers": NUMBERS.astype(np.int8),
    "doubles": NUMBERS.astype(float),
    "objects": NUMBERS.astype(object),
    "pandas": pd.DataFrame(NUMBERS, columns=list("abc")),
    "pandas categories": pd.DataFrame(NUMBERS, columns=list("abc")).astype("category"),
    "polars": pl.DataFrame({name: NUMBERS[:, j] for j, name in enumerate("abc")}),
    "arrow": pa.table({name: NUMBERS[:, j] for j, name in enumerate("abc")}),
}
LABELS = {"bools": YES, "integers": YES.astype(int), "strings": np.where(YES, "yes", "no"), "list": YES.tolist()}


@pytest.mark.parametrize("kind", TABLES)
def test_any_table_and_any_labels_give_the_same_answers(kind: str) -> None:
    wanted = NetworkClassifier("tan").fit(NUMBERS, YES).predict_proba(NUMBERS)
    for labels in LABELS.values():
        model = NetworkClassifier("tan").fit(TABLES[kind], labels)
        np.testing.assert_allclose(model.predict_proba(TABLES[kind]), wanted, atol=1e-14)
        predicted = model.predict(TABLES[kind])
        assert predicted.dtype.kind == np.asarray(labels).dtype.kind
        assert set(predicted.tolist()) <= set(np.asarray(labels).tolist())


@pytest.mark.parametrize("structure", [*SEARCHED, "aode"])
def test_odd_tables_are_learned(structure: str) -> None:
    single = NetworkClassifier(structure).fit(X, ["only"] * len(X))
    assert (single.predict_proba(X) == 1).all()
    one = NetworkClassifier(structure).fit(X[["c0"]], Y)
    np.testing.assert_allclose(one.predict_proba(X[["c0"]]).sum(axis=1), 1)
    constant = NetworkClassifier(structure).fit(X.assign(k="same"), Y)
    np.testing.assert_allclose(constant.predict_proba(X.assign(k="same")).sum(axis=1), 1)
    one_row = NetworkClassifier(structure).fit(X.iloc[1:2].fillna("a"), Y[1:2])
    assert one_row.predict(X)[0] == Y[1]


@pytest.mark.parametrize("structure", ["naive", "chow-liu"])
def test_three_hundred_columns_of_noise(structure: str) -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 3, (40, 300)).astype(float)
    model = NetworkClassifier(structure)
    model.fit(noise, rng.integers(0, 2, 40))
    noise[rng.random(noise.shape) < 0.1] = np.nan
    found = model.predict_proba(noise)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    shown = model.explain(noise[:1])
    np.testing.assert_allclose(list(shown.to_dict()["posterior"].values()), found[0], atol=1e-12)


def test_a_column_called_class_does_not_clash() -> None:
    renamed = X.rename(columns={"c0": "class", "c1": "class_"})
    model = NetworkClassifier("tan").fit(renamed, Y)
    assert model.network_.nodes == ("class__", "class", "class_", "c2", "c3")
    np.testing.assert_allclose(
        model.predict_proba(renamed), NetworkClassifier("tan").fit(X, Y).predict_proba(X), atol=1e-14
    )
    named = NetworkClassifier("tan").fit(X.assign(kind=Y), "kind")
    assert named.network_.nodes[0] == "kind"
    assert named.network_.target == "kind"


@pytest.mark.parametrize(
    ("frame", "structure", "message"),
    [
        (X.drop(columns="c3"), GIVEN, "the table has no column for node 'c3'|the nodes .* are no columns"),
        (X.assign(**{"class": "x"}), GIVEN, "one node of the network must be the class, and every node is a column"),
        (X.assign(c0=[f"some words of text {i}" for i in range(len(X))]), "tan", "column 'c0' is text .* NaiveBayes"),
        (X, "tann", "structure='tann' is not known; did you mean 'tan'"),
        (X, 7, "structure must be one of"),
    ],
    ids=["absent", "no class", "text", "typo", "number"],
)
def test_what_cannot_be_learned_is_told_in_a_sentence(frame: Any, structure: Any, message: str) -> None:
    model = NetworkClassifier(structure)
    with pytest.raises((InputError, KindError), match=message) as told:
        model.fit(frame, Y)
    assert "\n" not in str(told.value)
    assert not model.__sklearn_is_fitted__()


def test_a_column_that_is_no_node_is_left_out_or_refused_by_name() -> None:
    model = model_of("given").fit(X.assign(more="x"), Y)
    np.testing.assert_allclose(model.predict_proba(X.assign(more="y")), model_of("given").fit(X, Y).predict_proba(X))
    with pytest.raises(InputError, match="'more', which is no node"):
        NetworkClassifier(GIVEN, columns={"more": "category"}).fit(X.assign(more="x"), Y)


# scikit-learn's ways.


@pytest.mark.parametrize("structure", STRUCTURES)
def test_clones_pickles_and_copies(structure: str) -> None:
    model = model_of(structure, prior=Lidstone(0.25)).fit(X, Y)
    again = clone(model)
    assert again.get_params()["prior"] == Lidstone(0.25)
    wanted = model.predict_proba(X)
    np.testing.assert_array_equal(again.fit(X, Y).predict_proba(X), wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), wanted)
    np.testing.assert_array_equal(copy.deepcopy(model).partial_fit(X, Y).forget(X, Y).predict_proba(X), wanted)


def test_another_prior_is_heeded_without_learning_again_and_another_structure_is_not() -> None:
    model = NetworkClassifier("tan").fit(X, Y).set_params(prior=Laplace())
    np.testing.assert_array_equal(
        model.predict_proba(X), NetworkClassifier("tan", prior=Laplace()).fit(X, Y).predict_proba(X)
    )
    with pytest.raises(InputError, match="was changed after the model had learned"):
        model.set_params(structure="naive").predict_proba(X)


def test_it_works_inside_pipelines_searches_and_cross_validation() -> None:
    numbers = np.random.default_rng(0).normal(size=(90, 3)) + np.repeat([0, 1, 3], 30)[:, np.newaxis]
    labels = np.repeat([0, 1, 2], 30)
    pipeline = make_pipeline(KBinsDiscretizer(4, encode="ordinal"), NetworkClassifier("tan"))
    assert cross_val_score(pipeline, numbers, labels, cv=3).mean() > 0.6
    grid = GridSearchCV(NetworkClassifier(), {"structure": ["naive", "tan", "aode"]}, cv=3).fit(numbers, labels)
    assert grid.best_score_ > 0.6
    for structure in ("tan", "aode"):
        result = ing.cross_validate(NetworkClassifier(structure), X, Y, folds=3)
        assert 0.3 < result.by_fold().mean() <= 1


def test_classes_may_be_announced_and_new_ones_may_come() -> None:
    model = NetworkClassifier("tan").partial_fit(X, Y, classes=["p", "q", "r", "s"])
    assert model.classes_.tolist() == ["p", "q", "r", "s"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    model.partial_fit(X[:5], ["t"] * 5)
    assert model.classes_.tolist() == ["p", "q", "r", "s", "t"]
    assert model.network_.states["class"] == ["p", "q", "r", "s", "t"]
    assert model.network_.parents == NetworkClassifier("tan").fit(X, Y).network_.parents


def test_samples_are_drawn_from_the_joint_distribution() -> None:
    model = NetworkClassifier("tan").fit(X, Y)
    drawn, labels = model.sample(4000, random_state=0)
    network = model.network_
    for pair in (("class", "c0"), ("c0", "c1"), ("c2", "c3")):
        wanted = network.posterior(list(pair))
        columns = [labels.tolist() if name == "class" else drawn[name].to_pylist() for name in pair]
        seen = list(zip(*columns))
        counts = [seen.count(cell) for cell in wanted]
        assert chisquare(counts, np.array(list(wanted.values())) * 4000).pvalue > 1e-4
    only, labels = model.sample(2000, class_="q", random_state=1)
    assert set(labels) == {"q"}
    wanted = network.posterior("c0", {"class": "q"})
    counts = [only["c0"].to_pylist().count(state) for state in wanted]
    assert chisquare(counts, np.array(list(wanted.values())) * 2000).pvalue > 1e-4


# Files.


MIXED = X.assign(n=np.random.default_rng(3).normal(size=len(X)) + 2 * (Y == "p"), k=np.arange(len(X)) % 4, b=Y == "q")


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_model_comes_back_from_its_file_and_goes_on_learning(structure: str) -> None:
    model = model_of(structure).fit(MIXED, Y)
    data = store.to_bytes(model)
    again = store.from_bytes(data)
    assert again.tally_ == model.tally_
    assert again.cuts_ == model.cuts_
    assert str(again.search_) == str(model.search_)
    np.testing.assert_array_equal(again.predict_proba(MIXED), model.predict_proba(MIXED))
    assert str(again.explain(MIXED.iloc[:1])) == str(model.explain(MIXED.iloc[:1]))
    assert store.to_bytes(again) == data
    if structure != "aode":
        assert again.network_.arcs == model.network_.arcs
        assert again.network_.states == model.network_.states
    assert again.partial_fit(MIXED, Y).tally_ == model.tally_ + model.tally_
    assert (again + model).tally_ == model.tally_.scale(3)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in children for place in _places(child, (*path, key)))]


def test_a_structure_that_is_not_that_of_the_counts_is_refused() -> None:
    model = model_of("given").fit(X, Y)
    manifest, tensors = container.from_bytes(store.to_bytes(model))
    packed = dict(manifest["besides"]["items"])
    for node in range(5):
        for above in ([], [0], [1, 1], [4, 0], [9]):
            if above == packed["parents"][node]:
                continue
            forged = copy.deepcopy(manifest)
            dict(forged["besides"]["items"])["parents"][node] = above
            with pytest.raises(ModelFileError):
                store.from_bytes(container.to_bytes(forged, tensors))


WET = {("rain", "on"): [0.9, 0.1], ("rain", "off"): [0.8, 0.2], ("sun", "on"): [0.6, 0.4], ("sun", "off"): [0.0, 1.0]}
GARDEN = Network.from_arcs(
    [("sky", "hose"), ("sky", "grass"), ("hose", "grass")],
    states={"grass": ["wet", "dry"], "sky": ["sun", "rain", "hail"], "hose": ["on", "off"]},
    tables={
        "sky": [0.8, 0.2, 0.0],
        "hose": {"sun": [0.3, 0.7], "rain": [0.01, 0.99], "hail": [0.5, 0.5]},
        "grass": {**WET, ("hail", "on"): [0.5, 0.5], ("hail", "off"): [0.5, 0.5]},
    },
)


@pytest.mark.parametrize("target", ["sky", "hose", "grass"])
def test_a_given_network_is_a_classifier_by_any_of_its_nodes(target: str, tmp_path: Path) -> None:
    rows = GARDEN.sample(200, random_state=0).drop_columns([target])
    model = NetworkClassifier.from_network(GARDEN, target)
    order = [GARDEN.states[target].index(label) for label in model.classes_.tolist()]
    np.testing.assert_allclose(model.predict_proba(rows), GARDEN.predict_proba(rows, target)[:, order], atol=1e-13)
    store.save(model, tmp_path / "m.ingenuo")
    np.testing.assert_array_equal(store.load(tmp_path / "m.ingenuo").predict_proba(rows), model.predict_proba(rows))
    shown = model.explain(rows.slice(0, 1)).to_dict()
    assert all(term["how"] == "" for factor in shown["factors"] for term in factor["terms"])
    assert model.network_.posteriors() == {node: pytest.approx(own) for node, own in GARDEN.posteriors().items()}


def test_a_learned_network_gives_its_counts_and_its_prior() -> None:
    network = Network.learn(diabetes(), "tan", target="progression", prior=Lidstone(0.5))
    model = NetworkClassifier.from_network(network)
    wanted = NetworkClassifier(network, prior=Lidstone(0.5)).fit(diabetes(), "progression")
    assert model.tally_ == wanted.tally_
    np.testing.assert_array_equal(model.predict_proba(diabetes()), wanted.predict_proba(diabetes()))
    more = diabetes().slice(0, 50)
    assert model.partial_fit(more, "progression").tally_ == wanted.partial_fit(more, "progression").tally_


def test_rows_are_added_to_an_experts_tables() -> None:
    model = NetworkClassifier.from_network(GARDEN, "sky")
    before = model.network_.tables["sky"].copy()
    model.partial_fit(GARDEN.sample(10, {"sky": "rain"}, random_state=0), "sky")
    place = model.classes_.tolist().index("rain")
    assert model.network_.tables["sky"][place] == pytest.approx((before[place] + 10) / 11)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: NetworkClassifier.from_network(GARDEN), "which node is the class"),
        (lambda: NetworkClassifier.from_network(GARDEN, "sk"), "no node 'sk'; did you mean 'sky'"),
        (lambda: NetworkClassifier.from_network(GARDEN.observe(hose="on"), "sky"), r"nothing is known \(hose = on\)"),
        (lambda: NetworkClassifier.from_network(Network.from_arcs([("a", "b")]), "a"), "no tables yet"),
        (
            lambda: NetworkClassifier.from_network(Network.learn(diabetes(), target="progression"), "bmi"),
            "intervals of numbers",
        ),
    ],
)
def test_what_is_no_classifier_is_refused(make: Any, said: str) -> None:
    with pytest.raises(NetworkError, match=said):
        make()
