"""Networks on the page: rows are answered with Python's bits, and posteriors are those of `Network.posteriors`."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.public_data import public_data

import ingenuo as ing
from ingenuo import Network, NetworkClassifier
from ingenuo.errors import ImpossibleEvidenceError
from ingenuo.sheet import sheet
from ingenuo.sheet.packing import plain

from .node import PAGE, assert_same_bits, in_node

STRUCTURES = ["naive", "tan", "kdb", "aode", "hill-climb", "k2", "chow-liu"]
NUMBERS = [0.0, -0.0, 5e-324, 1e-310, 1.0, -1.0, 0.5, 1e300, -1e300, 1 / 3]
HOSTILE = ["</script>", "été", "\u202eabc", "__proto__", "constructor", "", " ", "1", "True", "never seen"]


def table(n: int, classes: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers and categories that hang together, some with missing values, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    y[:classes] = np.arange(classes)
    first = rng.normal(y, 1.0)
    frame = pd.DataFrame({
        "first": first,
        "second": first + rng.normal(0.0, 1.0, n),
        "third": np.exp(rng.normal(-0.5 * first, 1.0)),
        "few": rng.poisson(1 + y % 2).astype(float),
        "word": rng.choice([*HOSTILE[:5], "common"], n),
        "flag": rng.random(n) < 0.2 + 0.1 * y,
        "code": np.where(first > 0, rng.choice([1, 2], n), 30),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "first"] = np.nan
    frame["word"] = frame["word"].where(rng.random(n) > 0.1, None)
    return frame, np.array([f"class {k}" for k in range(5)])[y]


def harsh_rows(frame: pd.DataFrame, n: int = 30, seed: int = 1, missing: float = 0.3) -> list[dict[str, Any]]:
    """Rows of values that were seen, never seen, extreme, and missing."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = [{}]
    for _ in range(n):
        row: dict[str, Any] = {}
        for name in frame.columns:
            if rng.random() < missing:
                continue
            seen = frame[name].dropna()
            kind, draw = frame[name].dtype.kind, rng.random()
            if kind == "f":
                row[name] = float(seen.iloc[int(rng.integers(len(seen)))] if draw < 0.8 else rng.choice(NUMBERS))
            elif kind == "b":
                row[name] = bool(draw < 0.5)
            elif kind == "i":
                row[name] = [1, 2, 30, "2", 31][int(rng.integers(5))]
            else:
                row[name] = seen.iloc[int(rng.integers(len(seen)))] if draw < 0.8 else HOSTILE[int(rng.integers(10))]
        rows.append(row)
    return rows


def fitted(frame: pd.DataFrame, y: Any, structure: Any = "tan", **settings: Any) -> NetworkClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NetworkClassifier(structure, columns={"code": "category"}, **settings).fit(frame, y)


@pytest.mark.parametrize("classes", [2, 5])
def test_every_structure_answers_with_the_same_bits(classes: int) -> None:
    frame, y = table(300, classes)
    rows = harsh_rows(frame)
    models = [fitted(frame, y, structure) for structure in STRUCTURES]
    models.append(fitted(frame, y, models[4].network_))
    assert_same_bits([(str(model.structure), model, rows) for model in models])
    assert all(sheet(model).scorer.get("exact", True) for model in models)


@pytest.mark.parametrize("classes", [2, 5])
def test_tables_with_zeros_answer_with_the_same_bits(classes: int) -> None:
    frame, y = table(120, classes)
    none = ing.MaximumLikelihood()
    structures = ["naive", "tan", "kdb", "aode"]
    models = [fitted(frame, y, structure, prior=none) for structure in structures]
    rows = harsh_rows(frame, missing=0.15)
    assert_same_bits([(structure, model, rows) for structure, model in zip(structures, models)])


@pytest.mark.parametrize("classes", [2, 5])
def test_tables_that_back_off_answer_with_the_same_bits(classes: int) -> None:
    frame, y = table(400, classes)
    weights = np.random.default_rng(3).random(400)
    cases = [
        (f"{structure} {weighting}", fitted(frame, y, structure, smoothing="back-off", weighting=weighting), rows)
        for structure, rows in zip(["naive", "tan", "kdb"], [harsh_rows(frame, seed=k) for k in range(3)])
        for weighting in (None, "levels")
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NetworkClassifier("kdb", smoothing="back-off", weighting="levels", columns={"code": "category"})
        cases.append(("weights", model.fit(frame, y, sample_weight=weights), harsh_rows(frame)))
    assert_same_bits(cases)


def test_rows_of_a_wide_table_are_summed_out_in_the_same_order() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(400, 1))
    values = (codes + rng.integers(2, size=(400, 14))) % 3
    frame = pd.DataFrame(values.astype(str), columns=[f"c{j}" for j in range(14)])
    model = NetworkClassifier("kdb", k=3).fit(frame, np.array(["a", "b", "c"])[codes[:, 0]])
    rows = [{k: v for k, v in row.items() if rng.random() < share} for share in (0.1, 0.4, 0.7) for row in
            frame.head(15).to_dict("records")]  # fmt: skip
    assert_same_bits([("kdb", model, rows)])


def in_javascript(script: str, given: Any) -> Any:
    """What a script makes of `given`, with what networks.mjs exports."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    head = f'import {{ posteriors, tree_of }} from "{(PAGE / "networks.mjs").as_uri()}";\n'
    head += f'import {{ unpack }} from "{(PAGE / "sheet.mjs").as_uri()}";\nimport {{ readFileSync }} from "node:fs";\n'
    head += 'const given = JSON.parse(readFileSync(0, "utf8"));\n'
    call = ["node", "--input-type=module", "-e", f"{head}{script}"]
    done = subprocess.run(call, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


ASK = """
const networks = given.map(({ network, asked }) => {
  const own = unpack(network);
  return asked.map(({ evidence, interventions, soft }) => {
    const found = posteriors(own, evidence, { interventions, soft });
    return found.marginals && { ...found, marginals: found.marginals.map((each) => Array.from(each)) };
  });
});
console.log(JSON.stringify(networks));
"""


def questions(network: Network, n: int, seed: int = 0) -> list[tuple[dict[str, Any], Any, float]]:
    """Evidence, soft evidence and interventions on a few nodes, and what Python says: the posteriors, and log P."""
    rng = np.random.default_rng(seed)
    found: list[tuple[dict[str, Any], Any, float]] = []
    for _ in range(n):
        places, soft, done = [-1] * len(network.nodes), list[Any](), list[Any]()
        given: dict[str, Any] = {}
        set_to: dict[str, Any] = {}
        for v in rng.permutation(len(network.nodes))[: rng.integers(5)].tolist():
            node = network.nodes[v]
            states = network.states[node]
            k, draw = int(rng.integers(len(states))), rng.random()
            if draw < 0.5:
                places[v], given[node] = k, states[k]
            elif draw < 0.75:
                done.append([v, k])
                set_to[node] = states[k]
            else:
                soft.append([v, rng.random(len(states)).tolist()])
                given[node] = dict(zip(states, soft[-1][1]))
        asked = network.intervene(set_to) if set_to else network
        question = {"evidence": places, "interventions": done, "soft": soft}
        try:
            own = [list(each.values()) for each in asked.posteriors(given).values()]
            found.append((question, own, asked.log_probability(given)))
        except ImpossibleEvidenceError:
            found.append((question, None, -np.inf))
    return found


def assert_same_beliefs(networks: list[Network], n: int = 30) -> None:
    asked = [questions(network, n) for network in networks]
    jobs = [
        {"network": plain(network.sheet_network()), "asked": [question for question, *_ in own]}
        for network, own in zip(networks, asked)
    ]
    for network, own, answers in zip(networks, asked, in_javascript(ASK, jobs)):
        for (question, expected, log_probability), answer in zip(own, answers):
            if expected is None:
                assert answer is None, (network.name, question)
                continue
            assert answer["log_probability"] == pytest.approx(log_probability, rel=1e-12, abs=1e-12)
            for mine, theirs in zip(answer["marginals"], expected):
                np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12, err_msg=f"{network.name} {question}")


NAMES = ["asia", "cancer", "earthquake", "sachs", "survey", "child", "insurance", "alarm", "hailfinder", "hepar2"]


def read(name: str) -> Network:
    path = public_data(f"networks/{name}.bif.gz")
    if path is None:
        pytest.skip(f"the network {name} is not here")
    return Network.read(path)


@pytest.mark.parametrize("name", [*NAMES, "win95pts"])
def test_beliefs_of_public_networks_are_those_of_python(name: str) -> None:
    assert_same_beliefs([read(name)])


def test_beliefs_under_an_intervention_leave_the_causes_as_they_were() -> None:
    sky = {"rain": 0.2, "sun": 0.8}
    wet = {"rain": {"wet": 0.9, "dry": 0.1}, "sun": {"wet": 0.05, "dry": 0.95}}
    network = Network.from_arcs([("sky", "grass")], tables={"sky": sky, "grass": wet})
    asked = [
        {"evidence": [-1, -1], "interventions": [[1, 0]], "soft": []},
        {"evidence": [-1, 0], "interventions": [], "soft": []},
    ]
    ((done, seen),) = in_javascript(ASK, [{"network": plain(network.sheet_network()), "asked": asked}])
    assert done["marginals"] == [pytest.approx([0.2, 0.8]), [1, 0]]
    assert done["probability"] == pytest.approx(1)
    assert seen["marginals"][0] == pytest.approx([0.18 / 0.22, 0.04 / 0.22])
    assert seen["probability"] == pytest.approx(0.22)


def test_beliefs_hold_where_products_are_below_the_doubles() -> None:
    rare = {"yes": 1e-200, "no": 1 - 1e-200}
    by = {"yes": {"yes": 1 - 1e-200, "no": 1e-200}, "no": {"yes": 1e-200, "no": 1 - 1e-200}}
    arcs = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    both = {(x, y): (0.5, 0.5) for x in ("yes", "no") for y in ("yes", "no")} | {("yes", "no"): (1e-250, 1.0)}
    network = Network.from_arcs(
        arcs, tables={"a": rare, "b": by, "c": by, "d": both}, states={"a": ["yes", "no"], "d": ["yes", "no"]}
    )
    assert_same_beliefs([network], 60)


def test_a_network_that_is_too_wide_says_how_many_cells_it_has() -> None:
    script = "console.log(JSON.stringify(given.map((each) => tree_of(unpack(each)).cells)));"
    (cells,) = in_javascript(script, [plain(read("barley").sheet_network())])
    assert cells > 200_000


def test_a_network_answers_rows_by_the_states_of_its_target() -> None:
    network = read("asia")
    network.target = "lung"
    rng = np.random.default_rng(0)
    rows: list[dict[str, Any]] = [{}]
    for _ in range(40):
        others = [node for node in network.nodes if node != "lung" and rng.random() < 0.5]
        rows.append({node: ["yes", "no", "YES", "maybe"][int(rng.integers(4))] for node in others})
    assert_same_bits([("asia", network, rows)])


def test_a_model_says_of_a_row_what_its_network_says() -> None:
    frame, y = table(300, 5)
    model = fitted(frame, y, "tan")
    network = model.network_
    row = {"second": 0.3, "flag": True}
    ((answer,),) = (each["answers"] for each in in_node([(sheet(model), [row])]))
    shares = np.frombuffer(bytes.fromhex(answer["posterior"]))
    own = network.posterior(network.nodes[0], {"second": 0.3, "flag": True})
    np.testing.assert_allclose(shares, list(own.values()), rtol=1e-12)
