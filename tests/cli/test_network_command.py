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
from ingenuo.datasets import play_tennis
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
    done("draw", "n.yaml", "-o", "p.svg", "--given", "smoke=yes", "--title", "A & <b>")
    assert "A &amp; &lt;b&gt;" in (folder / "p.svg").read_text()
    assert "before the evidence" in (folder / "p.svg").read_text()
    done("draw", "n.yaml", "-o", "q.svg", "--no-beliefs")
    assert "<svg" in (folder / "q.svg").read_text()
    done("draw", "n.yaml", "-o", "t.svg", "--tables")
    assert f"{Network.read('n.yaml').tables['cancer'].flat[0]:.3f}" in (folder / "t.svg").read_text()
    for ending, begins in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".html", b"<!doctype html")):
        done("draw", "n.yaml", "-o", f"t{ending}", "--tables")
        assert (folder / f"t{ending}").read_bytes()[:14].lower().startswith(begins.lower())
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


def test_quiet_says_nothing(folder: Path) -> None:
    for arguments in (
        ("learn", "data.csv", "-o", "quiet.yaml", "--path"),
        ("draw", "n.yaml", "-o", "quiet.svg"),
        ("convert", "n.yaml", "quiet.bif"),
        ("show", "n.yaml", "-o", "quiet.md"),
    ):
        assert done(*arguments, "--quiet") == ""
        result = CliRunner().invoke(main, ["network", *arguments])
        assert result.stdout == ""  # what is said is no data
        assert "written to quiet" in result.stderr


def test_show_prints_the_graph_or_tables_and_writes_by_ending(folder: Path) -> None:
    network = Network.read("n.yaml")
    assert done("show", "n.yaml") == f"{network}\n"
    assert done("show", "n.yaml", "cancer", "age") == f"{network.shown('cancer', 'age')}\n"
    assert json.loads(done("show", "n.yaml", "--json"))["nodes"]["cancer"]["states"] == network.states["cancer"]
    wanted = {".txt": "P(cancer", ".md": "| --- |", ".tex": "tabular", ".csv": "P(cancer = ill)", ".html": "<table"}
    wanted |= {".json": '"tables"'}
    for ending, what in wanted.items():
        done("show", "n.yaml", "cancer", "-o", f"shown{ending}")
        assert what in (folder / f"shown{ending}").read_text()
    (rows,) = json.loads((folder / "shown.json").read_text())["tables"]
    assert len(rows["rows"]) == network.tables["cancer"].size // len(network.states["cancer"])


def test_an_experts_network_classifies_rows(folder: Path, table: pd.DataFrame) -> None:
    network = Network.read("n.yaml")
    done("classify", "n.yaml", "data.csv", "--target", "cancer", "--all", "-o", "answers.csv")
    answers = pd.read_csv(folder / "answers.csv")
    wanted = network.predict_proba(table, "cancer")
    np.testing.assert_allclose(answers[["P(ill)", "P(well)"]], wanted, atol=1e-6)
    found = json.loads(done("classify", "n.yaml", "--target", "cancer", "--row", "smoke=yes", "--json"))
    assert found["posterior"] == pytest.approx(network.posterior("cancer", {"smoke": "yes"}))


def test_classify_answers_a_file_as_predict_does(folder: Path) -> None:
    """Six digits, the probabilities of all classes if asked, and a count of the states that the network lacks."""
    (folder / "new.csv").write_text("smoke,age,flag\nyes,60,\nsometimes,60,\n")
    found = run("classify", "n.yaml", "new.csv", "--target", "cancer")
    assert found.exit_code == 0, found.output
    assert "column 'smoke': 1 row has a value that the model never saw ('sometimes')" in found.stderr
    done("convert", "n.yaml", "c.yaml", "--target", "cancer")
    assert found.stdout == CliRunner().invoke(main, ["predict", "c.yaml", "new.csv"]).stdout
    header, *rows = found.stdout.splitlines()
    assert header == "smoke,age,flag,predicted,probability"
    assert all(len(row.rpartition(".")[2]) <= 6 for row in rows), rows


def test_a_network_file_that_names_its_class_is_a_model(folder: Path, table: pd.DataFrame) -> None:
    network = Network.read("n.yaml")
    for command in (["explain", "n.yaml", "--row", "smoke=yes"], ["predict", "n.yaml", "data.csv"]):
        bare = CliRunner().invoke(main, command)
        assert bare.exit_code == 1
        assert "`target: NODE`" in bare.output
        assert "network classify --target NODE" in bare.output
    done("convert", "n.yaml", "c.yaml", "--target", "cancer")
    wanted = network.posterior("cancer", {"smoke": "yes", "age": 60})
    for name in ("c.yaml", "c.ingenuo"):
        done("convert", "c.yaml", name)
        explained = CliRunner().invoke(main, ["explain", name, "--row", "smoke=yes, age=60", "--json"])
        assert json.loads(explained.stdout)["posterior"] == pytest.approx(wanted), explained.output
        answered = CliRunner().invoke(main, ["predict", name, "data.csv", "--only"])
        lines = answered.stdout.splitlines()[1:]
        assert [line.split(",")[0] for line in lines] == network.predict(table, "cancer").tolist()
    judged = CliRunner().invoke(main, ["evaluate", "c.yaml", "data.csv", "--json"])
    assert judged.exit_code == 0, judged.output
    refused = CliRunner().invoke(main, ["update", "c.yaml", "data.csv"])
    assert refused.exit_code == 1
    assert Network.read("c.yaml").arcs == network.arcs


def test_the_weather_of_the_notes_from_the_command(folder: Path) -> None:
    """Arcs in a file, tables from rows with half a row in each cell, and the product of the entries."""
    play_tennis().to_pandas().to_csv(folder / "days.csv", index=False)
    (folder / "arcs.yaml").write_text(
        "target: Play\nnodes:\n  Play: {}\n  Outlook: {parents: [Play]}\n  Temperature: {parents: [Play, Outlook]}\n"
        "  Humidity: {parents: [Play, Temperature]}\n  Wind: {parents: [Play, Outlook]}\n"
    )
    done("learn", "days.csv", "--structure", "arcs.yaml", "--smoothing", "0.5", "-o", "weather.yaml")
    windy = done("classify", "weather.yaml", "--row", "Outlook=Rain, Temperature=Cool, Humidity=High, Wind=Strong")
    for entry in ("0.3666667", "0.3846154", "0.4285714", "0.25", "0.8333333", "0.01259158", "0.001099537", "0.919690"):
        assert entry in windy.split(), entry
    calm = done("classify", "weather.yaml", "--row", "Outlook=Rain, Temperature=Cool, Humidity=High, Wind=Weak")
    assert "= 0.246529" in calm
    assert "= 0.753471" in calm
    trained = ["train", "days.csv", "--target", "Play", "--model", "network:structure=arcs.yaml", "-o", "m.ingenuo"]
    assert CliRunner().invoke(main, trained).exit_code == 0
    day = "Outlook=Rain, Temperature=Cool, Humidity=High, Wind=Strong"
    explained = CliRunner().invoke(main, ["explain", "m.ingenuo", "--row", day]).stdout
    assert "(5 + 0.5)/(14 + 1)   = 0.3666667" in explained


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
    "draw n.yaml -o x.gif": "'x.gif' has none of the endings .svg, .html, .png, .pdf",
    "draw n.yaml -o nowhere/x.svg": "nowhere/x.svg",
    "draw bare.ingenuo -o x.svg --tables": "no tables yet",
    "show n.yaml cancr": "no node 'cancr'; did you mean 'cancer'",
    "show bare.ingenuo a": "no tables yet",
    "show n.yaml -o x.png": "'x.png' has none of the endings .txt, .md",
    "show n.yaml -o n.yaml": "none of the endings",
    "classify n.yaml --row smoke=yes": "which node is the class?",
    "classify n.yaml --target cancr --row smoke=yes": "did you mean 'cancer'",
    "classify n.yaml --target age --row smoke=yes": "intervals of numbers, and no classes",
    "classify bare.ingenuo --target a --row b=x": "no tables yet",
    "classify n.yaml --target cancer": "give a row by --row, or a FILE",
    "classify n.yaml --target cancer --row smok=yes": "did you mean 'smoke'",
    "classify n.yaml --target cancer none.csv": "none.csv",
    "convert n.yaml x.yaml --target cancr": "did you mean 'cancer'",
    "learn data.csv -o x.yaml --structure bare.yaml": "no column for node 'a'",
    "learn data.csv -o x.yaml --structure n.yaml --score bdeu": "is for structure='hill-climb' and 'k2' only",
    "learn data.csv -o x.yaml --structure hill-clim": "did you mean 'hill-climb'",
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
    Network.from_arcs([("a", "b")]).write(folder / "bare.yaml")
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
