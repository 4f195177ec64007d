"""Exact inference against the sum over every cell of the joint distribution, and against pyAgrum on real networks."""

from __future__ import annotations

import gzip
import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from benchmarks.public_data import public_data
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ingenuo.errors import ImpossibleEvidenceError, TooWideError
from ingenuo.networks import graph
from ingenuo.networks.graph import JunctionTree, junction_tree
from ingenuo.networks.inference import (
    LOGARITHMS,
    joint,
    log_probability,
    most_probable,
    posteriors,
    propagate,
    sample,
)

Net = tuple[list[tuple[int, ...]], list[Any], dict[int, Any]]
NETWORKS = [
    "asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm", "hailfinder", "hepar2",
    "win95pts", "water", "andes", "barley",
]  # fmt: skip


def random_network(rng: np.random.Generator, n: int, most_parents: int = 3, zeros: float = 0.2) -> Net:
    """A graph in a shuffled order of places, tables with impossible cells, evidence of all kinds."""
    cards = rng.integers(1, 5, n)
    places = rng.permutation(n)
    parents: list[tuple[int, ...]] = [()] * n
    tables: list[Any] = [None] * n
    for at, node in enumerate(places):
        above = rng.permutation(places[:at])[: rng.integers(0, most_parents + 1)]
        parents[node] = tuple(int(a) for a in above)
        table = rng.random((*cards[above], cards[node])) * (rng.random((*cards[above], cards[node])) >= zeros)
        table[..., 0] += table.sum(axis=-1) == 0
        tables[node] = table / table.sum(axis=-1, keepdims=True)
    likelihoods = {}
    for node in range(n):
        kind = rng.integers(0, 7)
        if kind < 3:
            likelihoods[node] = [
                np.eye(cards[node])[rng.integers(cards[node])] * rng.choice([1.0, 0.5]),
                rng.random(cards[node]) * 3,
                1.0 - np.eye(cards[node])[rng.integers(cards[node])],
            ][kind]
    return parents, tables, {node: given for node, given in likelihoods.items() if given.any()}


def whole_joint(parents: Any, tables: Any, likelihoods: Any) -> Any:
    """P(all nodes) times the likelihoods: one axis per node."""
    n = len(parents)
    total = np.ones(tuple(table.shape[-1] for table in tables))
    for node, table in enumerate(tables):
        family = [*parents[node], node]
        shape = [total.shape[axis] if axis in family else 1 for axis in range(n)]
        total = total * table.transpose(np.argsort(family)).reshape(shape)
    for node, likelihood in likelihoods.items():
        total = total * likelihood.reshape([-1 if axis == node else 1 for axis in range(n)])
    return total


def over(total: Any, nodes: list[int]) -> Any:
    summed = total.sum(axis=tuple(axis for axis in range(total.ndim) if axis not in nodes))
    kept = sorted(nodes)
    return summed.transpose([kept.index(node) for node in nodes]) / total.sum()


networks = st.builds(
    lambda seed, n: random_network(np.random.default_rng(seed), n), st.integers(0, 2**32), st.integers(1, 8)
)
quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(networks, st.integers(0, 2**32))
def test_every_answer_is_that_of_the_whole_joint_distribution(network: Net, seed: int) -> None:
    parents, tables, likelihoods = network
    total = whole_joint(*network)
    n = total.ndim
    if total.sum() == 0:
        assert log_probability(*network) == -np.inf
        for ask in (posteriors, most_probable):
            with pytest.raises(ImpossibleEvidenceError):
                ask(*network)
        with pytest.raises(ImpossibleEvidenceError):
            propagate(parents, tables, likelihoods, range(n), whole=True)
        return
    rng = np.random.default_rng(seed)
    asked = [int(node) for node in rng.permutation(n)[: rng.integers(1, 4)]]
    log_evidence = pytest.approx(np.log(total.sum()), abs=1e-9)
    for nodes, found in [
        (range(n), posteriors(parents, tables, likelihoods)),
        (range(n), posteriors(parents, tables, likelihoods, nodes=range(n))),
        (asked, posteriors(parents, tables, likelihoods, nodes=asked)),
    ]:
        assert found[1] == log_evidence
        for node, marginal in zip(nodes, found[0], strict=True):
            np.testing.assert_allclose(marginal, over(total, [node]), atol=1e-12)
    in_logarithms = propagate(parents, tables, likelihoods, range(n), arithmetic=LOGARITHMS, whole=True)
    assert in_logarithms.log_evidence == log_evidence
    for node in range(n):
        np.testing.assert_allclose(in_logarithms.joint([node]), over(total, [node]), atol=1e-12)
    np.testing.assert_allclose(joint(parents, tables, likelihoods, asked), over(total, asked), atol=1e-12)
    with_them = propagate(parents, tables, likelihoods, range(n), asked, whole=True)
    np.testing.assert_allclose(with_them.joint(asked), over(total, asked), atol=1e-12)
    assert log_probability(parents, tables, likelihoods) == log_evidence
    states, best = most_probable(parents, tables, likelihoods)
    assert best == pytest.approx(np.log(total.max()), abs=1e-9)
    assert total[tuple(states)] == pytest.approx(total.max(), rel=1e-12)
    drawn = sample(parents, tables, likelihoods, 20, rng)
    assert (total[tuple(drawn.T)] > 0).all()


def whole_tree(parents: Any, cards: Any) -> JunctionTree:
    families = [(*above, node) for node, above in enumerate(parents)]
    return junction_tree(tuple(tuple(each for each in family if cards[each] > 1) for family in families), tuple(cards))


@quick
@given(networks)
def test_a_tree_holds_every_family_and_what_two_cliques_share_all_between_them_do(network: Net) -> None:
    parents, tables, _ = network
    cards = [table.shape[-1] for table in tables]
    tree = whole_tree(parents, cards)
    cliques = [set(clique) for clique in tree.cliques]
    for node, above in enumerate(parents):
        family = {member for member in (*above, node) if cards[member] > 1}
        assert not family or any(family <= clique for clique in cliques)
    for clique in range(len(cliques)):
        assert not any(cliques[clique] <= other for at, other in enumerate(cliques) if at != clique)
    for node in range(len(parents)):
        having = [clique for clique, members in enumerate(cliques) if node in members]
        assert len(having) == (cards[node] > 1) + sum(tree.above[clique] in having for clique in having)


@pytest.mark.parametrize("evidence", ["none", "some", "all kinds"])
def test_samples_are_as_frequent_as_they_are_probable(evidence: str) -> None:
    rng = np.random.default_rng(5)
    tried = 0
    while tried < 4:
        parents, tables, likelihoods = random_network(rng, 5)
        if evidence != "all kinds":
            likelihoods = dict(list(likelihoods.items())[: evidence == "some"])
        total = whole_joint(parents, tables, likelihoods)
        if not 2 < (total > 0).sum() <= 200:
            continue
        tried += 1
        n = 40_000
        drawn = sample(parents, tables, likelihoods, n, rng)
        counts = np.bincount(np.ravel_multi_index(tuple(drawn.T), total.shape), minlength=total.size)
        expected = total.ravel() / total.sum() * n
        assert not counts[expected == 0].any()
        groups = np.where(expected < 5, total.size, np.arange(total.size))  # those too rare for the test, as one
        observed, theory = (np.bincount(groups, of)[np.unique(groups)] for of in (counts, expected))
        assert chisquare(observed[theory > 0], theory[theory > 0]).pvalue > 1e-4


def test_the_same_seed_draws_the_same_samples() -> None:
    network = random_network(np.random.default_rng(3), 6)
    one, other = (sample(*network, 50, np.random.default_rng(1)) for _ in range(2))
    assert (one == other).all()


def test_evidence_that_pulls_both_ways_by_hundreds_of_magnitudes_is_weighed_exactly() -> None:
    """Each half of the children favours one state by 1e400; in plain numbers the first half would decide."""
    n = 800
    parents: list[tuple[int, ...]] = [()] + [(0,)] * n
    one, other = np.array([[0.9, 0.1], [0.09, 0.91]]), np.array([[0.09, 0.91], [0.9, 0.1]])
    tables = [np.array([0.25, 0.75])] + [one] * (n // 2) + [other] * (n // 2)
    known = {node: np.array([1.0, 0.0]) for node in range(1, n + 1)}
    (marginal,), log_evidence = posteriors(parents, tables, known, nodes=[0])
    np.testing.assert_allclose(marginal, [0.25, 0.75], rtol=1e-9)
    assert log_evidence == pytest.approx(n / 2 * np.log(0.9 * 0.09), rel=1e-12)


def test_likelihoods_near_the_smallest_double_do_not_vanish() -> None:
    """The child admits only the states that the evidence makes improbable, twice."""
    tables = [np.array([0.5, 0.5]), np.array([0.5, 0.5]), np.zeros((2, 2, 2))]
    tables[2][..., 0] = 1.0
    tables[2][1, 1] = [0.25, 0.75]
    known = {0: np.array([1.0, 1e-300]), 1: np.array([1.0, 1e-300]), 2: np.array([0.0, 1e-300])}
    parents: list[tuple[int, ...]] = [(), (), (0, 1)]
    found, log_evidence = posteriors(parents, tables, known)
    np.testing.assert_allclose(found[0], [0.0, 1.0])
    assert log_evidence == pytest.approx(np.log(0.75 / 4) + 3 * np.log(1e-300), rel=1e-12)
    assert most_probable(parents, tables, known) == ([1, 1, 1], pytest.approx(log_evidence))
    assert (sample(parents, tables, known, 5, np.random.default_rng(0)) == 1).all()


def test_a_network_too_wide_is_refused_before_anything_is_made() -> None:
    side = 20
    grid = [tuple(([at - 1] if at % side else []) + ([at - side] if at >= side else [])) for at in range(side * side)]
    tracemalloc.start()
    try:
        with pytest.raises(TooWideError, match=r"its width is \d\d .*iB.*observe more nodes"):
            whole_tree(grid, [4] * len(grid))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_evidence_narrows_a_network_that_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A square of nodes, each with the ones left and above as parents, falls in two once a column is observed."""
    side, rng = 8, np.random.default_rng(0)
    parents = [
        tuple(([at - 1] if at % side else []) + ([at - side] if at >= side else [])) for at in range(side * side)
    ]
    tables = []
    for above in parents:
        table = rng.random((2,) * (len(above) + 1))
        tables.append(table / table.sum(axis=-1, keepdims=True))
    known = {at: np.array([0.0, 1.0]) for at in range(4, side * side, side)}
    with monkeypatch.context() as patch:
        patch.setattr(graph, "LIMIT", 2000)
        with pytest.raises(TooWideError):
            posteriors(parents, tables, {})
        narrow, log_evidence = posteriors(parents, tables, known)
    wide, same = posteriors(parents, tables, known)
    assert log_evidence == pytest.approx(same, rel=1e-12)
    np.testing.assert_allclose(np.array(narrow), np.array(wide), atol=1e-12)


def test_too_many_nodes_asked_together_are_refused() -> None:
    parents: list[tuple[int, ...]] = [()] * 40
    tables = [np.array([0.5, 0.5])] * 40
    with pytest.raises(TooWideError, match="40 nodes"):
        joint(parents, tables, {}, range(40))


def test_a_network_in_parts_is_a_forest() -> None:
    tables = [np.array([0.2, 0.8]), np.array([0.5, 0.3, 0.2])]
    tree = whole_tree([(), ()], [2, 3])
    assert tree.above == [-1, -1]
    found = propagate([(), ()], tables, {0: np.array([0.5, 0.0])}, [0, 1])
    assert found.log_evidence == pytest.approx(np.log(0.1))
    np.testing.assert_allclose(found.joint([1]), tables[1])


def read(name: str) -> tuple[list[tuple[int, ...]], list[Any]]:
    """Parents and tables of one of the shared networks; states are only counted off."""
    path = public_data(f"networks/{name}.bif.gz")
    if path is None:
        pytest.skip(f"networks/{name}.bif.gz is not at hand")
    text = gzip.decompress(path.read_bytes()).decode()

    def words(line: str) -> list[str]:
        return [word.strip() for word in line.split(",")]

    variable = r"variable\s+(\S+)\s*\{\s*type discrete\s*\[\s*\d+\s*\]\s*\{(.*?)\}\s*;"
    states = {node: words(listed) for node, listed in re.findall(variable, text, re.S)}
    place = {node: at for at, node in enumerate(states)}
    parents: list[tuple[int, ...]] = [()] * len(states)
    tables: list[Any] = [None] * len(states)
    for head, body in re.findall(r"probability\s*\(\s*(.*?)\s*\)\s*\{(.*?)\n\}", text, re.S):
        node, *rest = [part.strip() for part in head.split("|")]
        above = words(rest[0]) if rest else []
        table = np.zeros([len(states[member]) for member in (*above, node)])
        for key, values in re.findall(r"^\s*(?:table|\((.*?)\)\s)([^;]*);", body, re.M):
            cell = tuple(states[parent].index(word) for parent, word in zip(above, words(key))) if above else ()
            table[cell] = [float(value) for value in values.split(",")]
        parents[place[node]] = tuple(place[parent] for parent in above)
        tables[place[node]] = table / table.sum(axis=-1, keepdims=True)
    return parents, tables


def agrum_network(parents: Any, tables: Any) -> Any:
    gum = pytest.importorskip("pyagrum")
    network = gum.BayesNet()
    for node, table in enumerate(tables):
        network.add(gum.RangeVariable(f"n{node}", "", 0, table.shape[-1] - 1))
    for node, above in enumerate(parents):
        for parent in reversed(above):  # its arrays have their axes the other way round
            network.addArc(parent, node)
    for node, table in enumerate(tables):
        network.cpt(node)[:] = table
    return network


@pytest.mark.parametrize("name", NETWORKS)
def test_posteriors_are_those_of_pyagrum(name: str) -> None:
    parents, tables = read(name)
    gum = pytest.importorskip("pyagrum")
    network = agrum_network(parents, tables)
    rng = np.random.default_rng(len(name))
    n, cards = len(parents), [table.shape[-1] for table in tables]
    tree = whole_tree(parents, cards)
    shares = [0.03, 0.2, 0.5] if tree.cells < 10**7 else [0.2]  # barley takes them 5 s with little evidence
    rows = sample(parents, tables, {}, len(shares), rng)
    for row, share in zip(rows, shares, strict=True):
        likelihoods = {}
        for node in rng.choice(n, max(1, int(n * share)), replace=False).tolist():
            hard = np.eye(cards[node])[row[node]]
            soft = rng.random(cards[node]) + 0.01
            likelihoods[node] = [hard, soft, 1.0 - np.eye(cards[node])[(row[node] + 1) % cards[node]]][
                rng.choice(3, p=[0.7, 0.2, 0.1])
            ]
        theirs = gum.LazyPropagation(network)
        for node, likelihood in likelihoods.items():
            theirs.addEvidence(node, likelihood.tolist())
        theirs.makeInference()
        for found, log_evidence in [
            posteriors(parents, tables, likelihoods),
            posteriors(parents, tables, likelihoods, nodes=range(n)),
        ]:
            for node, marginal in enumerate(found):
                np.testing.assert_allclose(marginal, theirs.posterior(node).toarray(), atol=1e-9)
            assert log_evidence == pytest.approx(np.log(theirs.evidenceProbability()), abs=1e-9)
        few = [int(node) for node in rng.choice(n, 2, replace=False)]
        for node, marginal in zip(few, posteriors(parents, tables, likelihoods, nodes=few)[0]):
            np.testing.assert_allclose(marginal, found[node], atol=1e-9)


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "hepar2", "andes"])
def test_evidence_on_every_node_gives_the_product_of_its_cells(name: str) -> None:
    parents, tables = read(name)
    row = sample(parents, tables, {}, 1, np.random.default_rng(1))[0]
    known = {node: np.eye(table.shape[-1])[row[node]] for node, table in enumerate(tables)}
    product_ = sum(np.log(table[tuple(row[list(parents[node])]) + (row[node],)]) for node, table in enumerate(tables))
    assert posteriors(parents, tables, known)[1] == pytest.approx(product_, rel=1e-12)
    assert log_probability(parents, tables, known) == pytest.approx(product_, rel=1e-12)
    states, best = most_probable(parents, tables, known)
    assert (states, best) == (row.tolist(), pytest.approx(product_))


def test_samples_of_alarm_have_the_marginals_that_inference_finds() -> None:
    parents, tables = read("alarm")
    rng = np.random.default_rng(2)
    known = {5: np.eye(tables[5].shape[-1])[0], 20: rng.random(tables[20].shape[-1])}
    found, _ = posteriors(parents, tables, known)
    n = 20_000
    drawn = sample(parents, tables, known, n, rng)
    for node, marginal in enumerate(found):
        shares = np.bincount(drawn[:, node], minlength=len(marginal)) / n
        assert (np.abs(shares - marginal) <= 4.5 * np.sqrt(marginal * (1 - marginal) / n) + 1e-12).all()
