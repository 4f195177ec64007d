"""`ingenuo open` and `ingenuo export`: a model on a page, and a model taken elsewhere."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyarrow import csv
from tests.cli.people import people

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.cli.work import page as work
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.store import save


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = diabetes()
    csv.write_csv(rows.slice(0, 300), "train.csv")
    csv.write_csv(rows.slice(300), "test.csv")
    about = {"title": "A year on", "command": "ingenuo train /home/me/secret.csv", "rows": 300}
    save(ing.NaiveBayes().fit(ing.read("train.csv"), "progression"), "model.ingenuo", about)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def done(*arguments: str) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/octet-stream" id="data">([^<]*)<', text)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


# export

GARDEN = """
network: garden
nodes:
  rain: {states: ['yes', 'no'], table: [0.2, 0.8]}
  grass: {states: [wet, dry], parents: [rain], table: {'yes': [0.9, 0.1], 'no': [0.1, 0.9]}}
"""


def test_a_page_speaks_the_language_that_is_asked_for(folder: Path) -> None:
    done("export", "model.ingenuo", "-o", "page.html", "--rows", "test.csv", "--language", "it")
    text = Path("page.html").read_text(encoding="utf-8")
    assert '<html lang="it">' in text
    data = data_of(text)
    assert (data["rows"]["note"], data["words"]["Answer"]) == ("142 righe", "Risposta")
    done("report", "model.ingenuo", "test.csv", "-o", "report.html", "--language", "es")
    text = Path("report.html").read_text(encoding="utf-8")
    assert '<html lang="es">' in text
    assert '<section id="evaluation" class="given" lang="en">' in text
    assert data_of(text)["evaluation"]["note"] == "142 filas"
    refused = run("export", "model.ingenuo", "-o", "model.sql", "--language", "it")
    assert "--language is of html, and this writes sql" in refused.output
    assert run("export", "model.ingenuo", "-o", "page.html", "--language", "de").exit_code == 2


def test_of_a_network_any_node_can_be_asked_for(folder: Path) -> None:
    Path("garden.yaml").write_text(GARDEN, encoding="utf-8")
    done("export", "garden.yaml", "-o", "page.html")
    data = data_of(Path("page.html").read_text(encoding="utf-8"))
    assert (data["title"], data["sheet"]["target"], data["sheet"]["classes"]) == ("garden", "rain", ["yes", "no"])
    done("export", "garden.yaml", "-o", "page.html", "--target", "grass")
    data = data_of(Path("page.html").read_text(encoding="utf-8"))
    assert (data["sheet"]["target"], data["sheet"]["classes"]) == ("grass", ["wet", "dry"])
    done("export", "garden.yaml", "-o", "garden.sql", "--target", "grass")
    assert "wet" in Path("garden.sql").read_text(encoding="utf-8")
    assert "garden.yaml has no node 'gras'; it has rain, grass" in run(
        "export", "garden.yaml", "-o", "page.html", "--target", "gras"
    ).output.replace("\n", " ")
    assert "or a node of a network" in run("export", "model.ingenuo", "-o", "page.html", "--target", "bmi").output


def test_a_page_has_no_rows_unless_they_are_given(folder: Path) -> None:
    result = done("export", "model.ingenuo", "-o", "page.html")
    page = (folder / "page.html").read_text()
    data = data_of(page)
    assert data["rows"] is None
    assert data["title"] == "A year on"
    assert data["about"] == {"rows": 300, "file": "model.ingenuo"}
    assert "secret.csv" not in json.dumps(data)
    assert "written to page.html" in result.stderr
    assert "rows" not in result.stderr


def test_the_command_says_how_many_rows_can_be_read(folder: Path) -> None:
    result = done("export", "model.ingenuo", "-o", "page.html", "--rows", "test.csv", "--title", "Mine")
    assert "in the page, for whoever has it to read: 142 rows\n" in result.stderr
    data = data_of((folder / "page.html").read_text())
    assert len(data["rows"]["values"]) == 142
    assert data["title"] == "Mine"
    few = done(
        "export", "model.ingenuo", "-o", "few.html", "--rows", "test.csv", "--rows", "train.csv", "--max-rows", "9"
    )
    assert "to read: 9 of 442 rows, drawn by seed 0\n" in few.stderr
    assert len(data_of((folder / "few.html").read_text())["rows"]["values"]) == 9


def test_rows_without_a_class_are_asked_and_not_judged(folder: Path) -> None:
    csv.write_csv(diabetes().slice(300).drop_columns(["progression"]), "new.csv")
    done("export", "model.ingenuo", "-o", "page.html", "--rows", "new.csv")
    assert set(data_of((folder / "page.html").read_text())["rows"]["labels"]) == {None}


def test_the_ending_or_the_option_decides(folder: Path) -> None:
    done("export", "model.ingenuo", "-o", "model.mjs")
    assert "export const predict" in (folder / "model.mjs").read_text()
    done("export", "model.ingenuo", "-o", "model.txt", "--to", "js")
    assert (folder / "model.txt").read_text() == (folder / "model.mjs").read_text()
    assert done("export", "model.ingenuo", "-o", "-", "--to", "html").stdout.startswith("<!doctype html>")
    done(
        "export", "model.ingenuo", "-o", "model.sql", "--table", "clinic.patients", "--key", "id", "--dialect", "sqlite"
    )
    query = (folder / "model.sql").read_text()
    assert '"clinic"."patients"' in query
    assert '"id"' in query


def test_onnx_and_mlflow_are_written(folder: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    done("export", "model.ingenuo", "-o", "model.onnx")
    assert (folder / "model.onnx").stat().st_size > 1000
    pytest.importorskip("mlflow", reason="MLflow is not installed")
    done("export", "model.ingenuo", "-o", "flow", "--to", "mlflow")
    assert (folder / "flow" / "MLmodel").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-o", "page.pdf"], 2, "has none of the endings"),
        (["-o", "model.mjs", "--rows", "test.csv"], 2, "--rows is of html"),
        (["-o", "model.mjs", "--title", "x"], 2, "--title is of html"),
        (["-o", "model.mjs", "--sums"], 2, "--sums is of html"),
        (["-o", "page.html", "--dialect", "duckdb"], 2, "--dialect is of sql"),
        (["-o", "model.onnx", "--as", "tables"], 2, "--as is of sql"),
        (["-o", "-", "--to", "mlflow"], 2, "mlflow is a folder"),
        (["-o", "page.html", "--max-rows", "10001"], 2, "--max-rows"),
        (["-o", "page.html", "--top-words", "5"], 1, "for naive Bayes on texts"),
        (["-o", "page.html", "--rows", "none.csv"], 1, "there is no such file"),
        (["-o", "model.ingenuo", "--to", "html"], 1, "would be overwritten"),
        (["-o", "no/page.html"], 1, "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(
    arguments: list[str], code: int, said: str, folder: Path
) -> None:
    before = sorted(folder.iterdir())
    result = run("export", "model.ingenuo", *arguments)
    assert result.exit_code == code, result.output
    assert said in result.stderr
    assert sorted(folder.iterdir()) == before


def test_a_model_without_a_sheet_is_refused_in_one_sentence(folder: Path) -> None:
    save(ing.NaiveBayesRegressor(bins=2).fit([[1], [2], [3], [4]], [1.0, 2.0, 3.0, 4.0]), "number.ingenuo")
    for output in ("page.html", "x.mjs", "x.sql"):
        result = run("export", "number.ingenuo", "-o", output)
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1
        assert not (folder / output).exists()


def test_what_is_rare_and_words_can_be_left_out(folder: Path) -> None:
    rows = people(240)
    model = ing.NaiveBayes({"said": "text"}).fit(rows.drop(columns="key"), "outcome")
    save(model, "people.ingenuo")
    sheets = {}
    for name, more in {"all": [], "few": ["--top-words", "4"], "frequent": ["--minimum", "20"]}.items():
        done("export", "people.ingenuo", "-o", f"{name}.html", *more)
        sheets[name] = data_of((folder / f"{name}.html").read_text())["sheet"]
    assert len(json.dumps(sheets["few"])) < len(json.dumps(sheets["all"]))
    assert "dizzy" in json.dumps(sheets["all"])
    few = json.dumps(sheets["few"])
    assert any(word in few for word in ("patient", "feels", "again", "day"))
    assert "dizzy" not in few
    tuned = ing.NaiveBayes({"said": "text"}, tune=True).fit(rows.drop(columns="key"), "outcome")
    save(tuned, "tuned.ingenuo")
    assert "tuned or calibrated" in run("export", "tuned.ingenuo", "-o", "x.html", "--top-words", "4").stderr


def test_the_sums_are_in_a_page_where_they_are_asked_for(folder: Path) -> None:
    rows = people(240).drop(columns="key").assign(town=["very rare"] * 2 + ["Rome", "Oslo"] * 119)
    save(ing.NaiveBayes({"said": "ignore"}).fit(rows, "outcome"), "people.ingenuo")
    for name, more in {"without": [], "all": ["--sums"], "frequent": ["--sums", "--minimum", "5"]}.items():
        said = done("export", "people.ingenuo", "-o", f"{name}.html", *more).stderr
        found = json.dumps(data_of((folder / f"{name}.html").read_text())["sheet"])
        assert ("rare values and words become readable by whoever has it" in said) == ("--sums" in more)
        assert ('"sums"' in found) == ("--sums" in more)
        assert ("very rare" in found) == (name != "frequent")
    save(ing.NaiveBayes({"said": "text"}).fit(rows, "outcome"), "texts.ingenuo")
    result = run("export", "texts.ingenuo", "-o", "texts.html", "--sums")
    assert result.exit_code == 1
    assert "column 'said' is 'words', and a page cannot take rows away" in result.stderr
    assert "forget with ingenuo open instead" in result.stderr
    assert not (folder / "texts.html").exists()


def test_a_file_that_is_too_large_is_refused_with_the_remedy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LARGEST", 10_000)
    result = run("export", "model.ingenuo", "-o", "model.mjs")
    assert result.exit_code == 1
    assert "leave out what few rows have (--minimum 5)" in result.stderr
    texts = ing.NaiveBayes().fit(["good film", "bad film"], ["+", "-"])
    save(texts, "texts.ingenuo")
    assert "--top-words" in run("export", "texts.ingenuo", "-o", "texts.mjs").stderr


# open


@pytest.fixture
def opened(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process, and the address that it printed."""
    save(ing.NaiveBayes().fit(play_tennis(), "Play"), "days.ingenuo")
    call = [sys.executable, "-c", "from ingenuo.cli import main; main()", "open", "days.ingenuo", "--no-browser"]
    process = subprocess.Popen([*call, "-o", "new.ingenuo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process, process.stdout.readline().strip()
    if process.poll() is None:
        process.kill()
    process.communicate()


def ask(address: str, path: str, body: Any = None, cookie: str = "", **headers: str) -> Any:
    base = address.partition("/enter")[0]
    sent = {"origin": base, "cookie": cookie, "content-type": "application/json", **headers}
    request = urllib.request.Request(base + path, None if body is None else json.dumps(body).encode(), sent)
    try:
        return urllib.request.urlopen(request, timeout=20)
    except urllib.error.HTTPError as error:
        return error


def test_the_page_is_served_to_whoever_has_the_address(opened: Any) -> None:
    process, address = opened
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/enter#[\w-]{43}", address)
    token = address.partition("#")[2]
    refused = ask(address, "/v1/model.ingenuo")
    assert refused.code == 401
    assert "token" in json.loads(refused.read())["error"]
    cookie = ask(address, "/v1/enter", {"token": token}).headers["set-cookie"].partition(";")[0]
    assert ask(address, "/", cookie=cookie).read().startswith(b"<!doctype html>")
    row = {"rows": [{"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}], "classes": ["No"]}
    assert json.loads(ask(address, "/v1/forget", row, cookie).read())["learned"] == [14, 13]
    for path in ("/../new.ingenuo", "/days.ingenuo", "/%2e%2e/days.ingenuo", "/v1/../../days.ingenuo"):
        assert ask(address, path, cookie=cookie).code == 404
    assert ask(address, "/", cookie=cookie, host="evil.example").code == 403
    assert process.poll() is None


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to a process")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly(opened: Any, sign: signal.Signals) -> None:
    process, _ = opened
    process.send_signal(sign)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out == ""
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "ended"


def test_what_cannot_be_opened_is_refused(folder: Path) -> None:
    assert "would be overwritten" in run("open", "model.ingenuo", "-o", "model.ingenuo").stderr
    assert "holds no model" in run("open", "model.ingenuo", "-o", "train.csv").stderr
    assert run("open", "model.ingenuo", "-o", "-").exit_code == 2
    assert run("open", "model.ingenuo", "--port", "70000").exit_code == 2
    assert "there is no such file" in run("open", "nothing.ingenuo").stderr
    save(ing.NaiveBayesRegressor(bins=2).fit([[1], [2], [3], [4]], [1.0, 2.0, 3.0, 4.0]), "number.ingenuo")
    result = run("open", "number.ingenuo", "--no-browser")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_said(opened: Any) -> None:
    port = opened[1].partition("/enter")[0].rpartition(":")[2]
    result = run("open", "days.ingenuo", "--port", port, "--no-browser")
    assert result.exit_code == 1
    assert f"port {port} cannot be opened" in result.stderr
