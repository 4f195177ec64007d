"""`ingenuo network`: learn, query, draw, convert; what goes wrong is one line and leaves no file behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ingenuo.cli import main
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.networks.network import Network
from ingenuo.store import load, save


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    smokes = rng.random(300) < 0.4
    ill = rng.random(300) < np.where(smokes, 0.6, 0.1)
    return pd.DataFrame(
        {
            "smoke": np.where(smokes, "yes", "no"),
            "cancer": np.where(ill, "ill", "well"),
            "age": (rng.normal(50, 10, 300) + 10 * ill).round(2),
            "flag": rng.random(300) < 0.5,
        }
    )


@pytest.fixture
def folder(tmp_path: Path, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    table.to_csv(tmp_path / "data.csv", index=False)
    Network.learn(table).write(tmp_path / "n.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["network", *arguments])


def done(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def answer(*arguments: str) -> Any:
    return json.loads(done("query", *arguments, "--json"))


def test_learn_writes_what_the_library_learns(folder: Path, table: pd.DataFrame) -> None:
    said = done("learn", "data.csv", "-o", "out.yaml", "--target", "cancer")
    assert "written to out.yaml" in said
    assert "4 nodes" in said
    wanted = Network.learn(table, target="cancer")
    found = Network.read(folder / "out.yaml")
    assert found.arcs == wanted.arcs
    assert found.cuts == wanted.cuts
    assert found.name == "data"
    for node in wanted.nodes:
        np.testing.assert_allclose(found.tables[node], wanted.tables[node], atol=1e-15)


def test_learn_heeds_its_options(folder: Path, table: pd.DataFrame) -> None:
    said = done(
        *("learn", "data.csv", "-o", "out.ingenuo", "--score", "bdeu", "--ess", "5", "--max-parents", "1"),
        *("--require", "flag", "smoke", "--forbid", "smoke", "cancer", "--column", "age=ignore", "--smoothing", "0.5"),
        *("--restarts", "1", "--seed", "3", "--path"),
    )
    network = load(folder / "out.ingenuo")
    assert "age" not in network.nodes
    assert ("flag", "smoke") in network.arcs
    assert ("smoke", "cancer") not in network.arcs
    assert max(map(len, network.parents.values())) <= 1
    assert said.startswith("bdeu")
    root = next(node for node in network.nodes if not network.parents[node])
    counts = table[root].value_counts()
    for state, p in network.posterior(root).items():
        assert p == pytest.approx((counts[state] + 0.5) / (len(table) + 0.5 * len(counts)))
    assert network.partial_fit(table).tally is not None  # the counts are kept


@pytest.mark.parametrize("structure", ["tan", "naive", "kdb", "chow-liu", "k2"])
def test_learn_every_structure(folder: Path, structure: str) -> None:
    done("learn", "data.csv", "-o", "out.yaml", "--structure", structure, "--target", "cancer")
    assert len(Network.read(folder / "out.yaml").nodes) == 4


def test_learn_from_holes_by_em(folder: Path, table: pd.DataFrame) -> None:
    table.mask(np.random.default_rng(1).random(table.shape) < 0.1).to_csv(folder / "missing values.csv", index=False)
    done("learn", "missing values.csv", "-o", "em.yaml", "--missing", "em")
    done("learn", "missing values.csv", "-o", "out.yaml")
    one, other = Network.read(folder / "em.yaml"), Network.read(folder / "out.yaml")
    assert one.arcs == other.arcs
    assert any((one.tables[node] != other.tables[node]).any() for node in one.nodes)


def test_query_answers_as_the_library_does(folder: Path) -> None:
    network = Network.read(folder / "n.yaml")
    assert answer("n.yaml", "cancer")["posteriors"]["cancer"] == pytest.approx(network.posterior("cancer"))
    forms: list[tuple[str, dict[str, Any]]] = [
        ("smoke=yes", {"smoke": "yes"}),
        ("smoke!=no", {"smoke": {"no": 0}}),
        ("smoke=yes|no", {"smoke": ["yes", "no"]}),
        ("smoke~yes:0.9,no:0.1", {"smoke": {"yes": 0.9, "no": 0.1}}),
        ("age=55", {"age": 55}),
        ("flag=True", {"flag": True}),
    ]
    for written, evidence in forms:
        found = answer("n.yaml", "cancer", "--given", written)
        assert found["posteriors"]["cancer"] == pytest.approx(network.posterior("cancer", evidence))
        assert found["probability of the evidence"] == pytest.approx(network.probability(evidence))
    everything = answer("n.yaml", "--given", "smoke=yes", "--given", "age=55")
    assert set(everything["posteriors"]) == set(network.nodes)
    doing = answer("n.yaml", "smoke", "--do", "cancer=ill")
    assert doing["posteriors"]["smoke"] == pytest.approx(network.intervene(cancer="ill").posterior("smoke"))
    both = answer("n.yaml", "cancer", "--do", "smoke=yes", "--given", "age=55")
    assert both["posteriors"]["cancer"] == pytest.approx(
        network.intervene(smoke="yes").posterior("cancer", {"age": 55})
    )
    together = answer("n.yaml", "cancer", "smoke", "--together")["joint"]
    found = {(each["states"]["cancer"], each["states"]["smoke"]): each["probability"] for each in together}
    assert found == pytest.approx(network.posterior(["cancer", "smoke"]))
    best = answer("n.yaml", "--most-probable", "--given", "cancer=ill")
    wanted = network.most_probable({"cancer": "ill"})
    assert best["most probable"] == {node: str(state) for node, state in wanted.states.items()}
    assert best["probability"] == pytest.approx(wanted.probability)


def test_query_prints_bars_for_people(folder: Path) -> None:
    said = done("query", "n.yaml", "cancer", "--given", "smoke=yes", "--do", "flag=True")
    assert said.startswith("given do(flag = True), smoke = yes\nprobability of the evidence: ")
    assert "█" in said
    assert "with probability" in done("query", "n.yaml", "--most-probable")


def test_draw_and_convert(folder: Path) -> None:
    done("draw", "n.yaml", "p.svg", "--given", "smoke=yes", "--title", "A & <b>")
    assert "A &amp; &lt;b&gt;" in (folder / "p.svg").read_text()
    done("draw", "n.yaml", "q.svg", "--no-beliefs")
    assert "<svg" in (folder / "q.svg").read_text()
    before = Network.read(folder / "n.yaml")
    for one, other in (("n.yaml", "n.xml"), ("n.xml", "n.bif"), ("n.bif", "n.yaml.gz"), ("n.yaml.gz", "n.ingenuo")):
        assert "4 nodes" in done("convert", one, other)
        found = answer(other, "cancer", "--given", "smoke=yes")["posteriors"]["cancer"]
        assert found == pytest.approx(before.posterior("cancer", {"smoke": "yes"}), abs=1e-12)


def test_a_classifiers_network_can_be_asked(folder: Path, table: pd.DataFrame) -> None:
    model = NetworkClassifier("tan").fit(table, "cancer")
    save(model, folder / "c.ingenuo")
    found = answer("c.ingenuo", "cancer", "--given", "smoke=yes")["posteriors"]["cancer"]
    assert found == pytest.approx(model.network_.posterior("cancer", {"smoke": "yes"}))


BAD = {
    "query n.yaml cancr": "no node 'cancr'; did you mean 'cancer'",
    "query n.yaml cancer --given smok=yes": "no node 'smok'; did you mean 'smoke'",
    "query n.yaml cancer --given smoke=yess": "no state 'yess'; did you mean 'yes'",
    "query n.yaml cancer --given smoke": "'smoke' is no NODE=STATE",
    "query n.yaml cancer --given smoke=yes --given smoke=no": "given twice",
    "query n.yaml cancer --given smoke~yes:a": "no STATE:NUMBER",
    "query n.yaml cancer --given smoke!yes": "'smoke!yes' is no NODE=STATE",
    "query n.yaml cancer --given cancer=ill --do cancer=well": "'cancer' was set",
    "query n.yaml cancer --together": "two nodes at least",
    "query n.yaml cancer --most-probable": "--most-probable",
    "query none.yaml": "none.yaml",
    "query data.csv": "holds no network",
    "query broken.bif": "broken.bif, line 6, column 1: P(a) sums to 1.1 instead of 1",
    "query bayes.ingenuo": "holds a NaiveBayes, and no network",
    "query bare.ingenuo a": "no tables yet",
    "convert bare.ingenuo x.bif": "no tables yet",
    "convert n.yaml x": "holds no network",
    "convert n.yaml nowhere/x.bif": "nowhere/x.bif",
    "draw n.yaml x.gif": "a picture is written as .svg",
    "draw n.yaml nowhere/x.svg": "nowhere/x.svg",
    "learn data.csv -o x.txt": "holds no network",
    "learn data.csv -o nowhere/x.yaml": "nowhere/x.yaml",
    "learn none.csv -o x.yaml": "none.csv",
    "learn empty.csv -o x.yaml": "the table is empty",
    "learn text.csv -o x.yaml": "column 'a' is text",
    "learn data.csv -o x.yaml --require smoke cancer --forbid smoke cancer": "both required and forbidden",
    "learn data.csv -o x.yaml --require smok cancer": "did you mean 'smoke'",
    "learn data.csv -o x.yaml --column smoke": "'smoke' is no NAME=KIND",
    "learn data.csv -o x.yaml --column smok=category": "did you mean 'smoke'",
    "learn data.csv -o x.yaml --column smoke=text": "declared as 'text'",
    "learn data.csv -o x.yaml --structure tan": "say which column that is",
    "learn data.csv -o x.yaml --target cancr": "did you mean 'cancer'",
    "learn data.csv -o x.yaml --smoothing -1": "not negative",
    "learn data.csv -o x.yaml --ess 0": "above 0",
    "learn data.csv -o x.yaml --seed -5 --restarts 1": "random_state",
}


@pytest.mark.parametrize("arguments", BAD)
def test_what_goes_wrong_is_one_line_and_no_file(folder: Path, table: pd.DataFrame, arguments: str) -> None:
    (folder / "broken.bif").write_text(
        "network x {\n}\nvariable a {\n type discrete [ 2 ] { u, v };\n}\nprobability ( a ) {\n table 0.5, 0.6;\n}\n"
    )
    (folder / "empty.csv").write_text("a,b\n")
    (folder / "text.csv").write_text("a,b\n" + "\n".join(f"this is some text number {i},{i % 2}" for i in range(100)))
    save(NaiveBayes().fit(table, "cancer"), folder / "bayes.ingenuo")
    save(Network.from_arcs([("a", "b")]), folder / "bare.ingenuo")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(*arguments.split())
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    told = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert len(told) == 1
    assert BAD[arguments] in told[0]
    assert result.output.rstrip().endswith(told[0])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_a_command_refuses_leaves_the_file_that_was_there(folder: Path) -> None:
    (folder / "x.yaml").write_text("mine")
    assert run("learn", "data.csv", "-o", "x.yaml", "--target", "none").exit_code == 1
    assert run("convert", "data.csv", "x.yaml").exit_code == 1
    assert (folder / "x.yaml").read_text() == "mine"
