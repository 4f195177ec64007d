"""Networks read and named end to end, and tables learned, against pyAgrum."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.public_data import public_data

from ingenuo.networks.network import Network
from ingenuo.tally.prior import Lidstone

gum = pytest.importorskip("pyagrum")

FILES = [
    "asia.bif.gz",
    "child.bif.gz",
    "insurance.bif.gz",
    "alarm.bif.gz",
    "aima-alarm.xml",
    "aima-wet-grass.xml",
    "dog-problem.xml",
]


def path_of(name: str) -> Path:
    path = public_data(name)
    if path is None:
        pytest.skip(f"{name} is not here")
    return path


def theirs(path: Path, tmp_path: Path) -> Any:
    """What pyAgrum reads; None where it cannot."""
    kind = ".bif" if ".bif" in path.suffixes else ".bifxml"
    plain = tmp_path / f"network{kind}"
    plain.write_bytes(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    try:
        return gum.loadBN(str(plain))
    except Exception:  # its reader has no words like "<5" or "12+"
        return None


def rebuilt(network: Network) -> Any:
    """The same network, made by pyAgrum from what we read, with states called 0, 1, …"""
    made = gum.BayesNet()
    for node in network.nodes:
        made.add(gum.LabelizedVariable(node, node, len(network.states[node])))
    for up, down in network.arcs:
        made.addArc(up, down)
    return fill(made, network)


def fill(made: Any, network: Network, close: float | None = None) -> Any:
    """Put our tables into a network of pyAgrum; what it has there must be close to them."""
    for node in network.nodes:
        own = made.variable(node)
        named = set(own.labels()) == set(map(str, network.states[node]))
        places = [own.labels().index(str(s)) for s in network.states[node]] if named else range(own.domainSize())
        for cell in np.ndindex(network.tables[node].shape[:-1]):
            above = zip(network.parents[node], cell)
            at: dict[str, Any] = {up: str(network.states[up][i]) if named else int(i) for up, i in above}
            row = np.empty(own.domainSize())
            row[list(places)] = network.tables[node][cell]
            if close is not None:
                np.testing.assert_allclose(np.ravel(made.cpt(node)[at]), row, atol=close)
            made.cpt(node)[at] = row.tolist()
    return made


@pytest.mark.parametrize("name", FILES)
def test_networks_read_from_files_answer_by_name_as_pyagrum_does(name: str, tmp_path: Path) -> None:
    path = path_of(f"networks/{name}")
    network = Network.read(path)
    other = theirs(path, tmp_path)
    by_name = other is not None and all(
        set(other.variable(node).labels()) == set(map(str, network.states[node])) for node in network.nodes
    )
    # Its reader keeps seven digits of a number, so that its tables are compared to those, and ours put in their place.
    other = fill(other, network, close=1e-6) if by_name else rebuilt(network)
    rng = np.random.default_rng(0)
    rows = network.sample(3, random_state=0).to_pylist()
    for row in rows:
        known = rng.choice(network.nodes, max(1, len(network.nodes) // 6), replace=False).tolist()
        evidence = {node: row[node] for node in known}
        place = {node: network.states[node].index(row[node]) for node in known}
        asked = gum.LazyPropagation(other)
        asked.setEvidence({node: str(row[node]) if by_name else place[node] for node in known})
        asked.makeInference()
        found = network.posteriors(evidence)
        for node in network.nodes:
            values = asked.posterior(node).toarray().tolist()
            labels = other.variable(node).labels() if by_name else list(map(str, network.states[node]))
            wanted = dict(zip(labels, values))
            assert {str(s): p for s, p in found[node].items()} == pytest.approx(wanted, abs=1e-9)
        assert network.probability(evidence) == pytest.approx(asked.evidenceProbability(), rel=1e-9)


def test_most_networks_are_compared_by_the_names_in_the_file(tmp_path: Path) -> None:
    """Else the comparison above would be one of ours with ours."""
    for name in ("asia.bif.gz", "alarm.bif.gz", "insurance.bif.gz"):
        path = path_of(f"networks/{name}")
        other = theirs(path, tmp_path)
        assert other is not None
        network = Network.read(path)
        assert {other.variable(node).name() for node in network.nodes} == set(network.nodes)
        assert {(other.variable(up).name(), other.variable(down).name()) for up, down in other.arcs()} == set(
            network.arcs
        )


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_tables_learned_from_alarm_are_pyagrums(alpha: float, tmp_path: Path) -> None:
    network = Network.read(path_of("networks/alarm.bif.gz"))
    rows = network.sample(2000, random_state=0).to_pandas().astype(str)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    template = gum.BayesNet()
    for node in network.nodes:
        template.add(gum.LabelizedVariable(node, node, list(map(str, network.states[node]))))
    for up, down in network.arcs:
        template.addArc(up, down)
    learner = gum.BNLearner(str(tmp_path / "rows.csv"), template)
    learner.useSmoothingPrior(alpha)
    learned = learner.learnParameters(template.dag())
    ours = Network.from_arcs(network.arcs, nodes=network.nodes, states=network.states).fit(rows, prior=Lidstone(alpha))
    for node in network.nodes:
        names = learned.cpt(node).names  # the node's own first, whichever the order of the others
        table = learned.cpt(node).toarray()  # axes in the opposite order
        axes = list(reversed(names))
        order = [axes.index(each) for each in (*network.parents[node], node)]
        np.testing.assert_allclose(ours.tables[node], table.transpose(order), atol=1e-12)


def test_posteriors_of_rows_with_holes_are_pyagrums(tmp_path: Path) -> None:
    network = Network.read(path_of("networks/asia.bif.gz"))
    other = fill(theirs(path_of("networks/asia.bif.gz"), tmp_path), network, close=1e-6)
    rows = network.sample(12, random_state=3).to_pandas().astype(object)
    rows = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.4)
    target = network.nodes[-1]
    found = network.predict_proba(pd.DataFrame(rows), target)
    for row, ours in zip(rows.to_dict("records"), found):
        asked = gum.LazyPropagation(other)
        asked.setEvidence({node: str(v) for node, v in row.items() if isinstance(v, str) and node != target})
        asked.makeInference()
        wanted = dict(zip(other.variable(target).labels(), asked.posterior(target).toarray().tolist()))
        assert dict(zip(network.states[target], ours)) == pytest.approx(wanted, abs=1e-9)
