"""`ingenuo report` and `ingenuo card`: a page and a card about a model, whole or not at all."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner, Result
from pyarrow import csv

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.datasets import diabetes
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.store import save

ABOUT = {
    "title": "Who is paid?",
    "command": "ingenuo train people.csv --target pay -o pay.ingenuo",
    "sources": [{"path": "people.csv", "bytes": 5000}],
    "evaluation": {"how": "10 folds", "rows": 150, "accuracy": {"value": 0.71, "low": 0.6, "high": 0.8}},
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    work = rng.choice(["x", "y"], 150)
    pay = np.where(rng.random(150) < np.where(work == "y", 0.7, 0.2), "high", "low")
    people = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 150), "age": rng.integers(18, 80, 150), "work": work, "pay": pay}
    )
    people.to_csv(folder / "people.csv", index=False)
    model = NaiveBayes().fit(people.drop(columns="sex"), "pay")
    save(model, folder / "pay.ingenuo", ABOUT)
    save(model.tally_, folder / "tally.ingenuo")
    return folder


@pytest.fixture(autouse=True)
def folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in models.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def done(*arguments: str) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def test_the_page_has_the_audit_and_the_command_that_made_the_model(folder: Path) -> None:
    done("report", "pay.ingenuo", "people.csv", "-o", "page.html", "--protected", "sex")
    page = (folder / "page.html").read_text()
    assert "Who is paid?" in page
    assert "ingenuo train people.csv --target pay" in page
    assert "The model does not use sex" in page


def test_the_page_may_go_to_standard_output(folder: Path) -> None:
    page = done("report", "pay.ingenuo", "people.csv", "-o", "-", "--title", "Fair & square").stdout
    assert page.startswith("<!doctype html>")
    assert "Fair &amp; square" in page


def test_the_card_has_what_training_measured_or_what_a_file_shows(folder: Path) -> None:
    card = done("card", "pay.ingenuo", "--license", "mit", "--intended-use", "Teaching.", "--limits", "Made up.").stdout
    head = yaml.safe_load(card.split("---")[1])
    assert head["license"] == "mit"
    assert head["model-index"][0]["results"][0]["metrics"][0]["value"] == 0.71
    for words in ("# Who is paid?", "Teaching.", "Made up.", "ingenuo predict pay.ingenuo"):
        assert words in card
    done("card", "pay.ingenuo", "people.csv", "-o", "CARD.md", "--protected", "sex")
    judged = (folder / "CARD.md").read_text()
    assert yaml.safe_load(judged.split("---")[1])["model-index"][0]["results"][0]["metrics"][0]["value"] != 0.71
    assert "The model does not use sex" in judged


@pytest.mark.parametrize("command", ["report", "card"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope.ingenuo", "people.csv"), "nope.ingenuo: there is no such file"),
        (("people.csv", "people.csv"), "this is not an ingenuo model"),
        (("tally.ingenuo", "people.csv"), "tally.ingenuo holds a Tally"),
        (("pay.ingenuo", "nope.csv"), "nope.csv: there is no such file"),
        (("pay.ingenuo", "people.csv", "--target", "py"), "did you mean 'pay'?"),
        (("pay.ingenuo", "people.csv", "--protected", "sx"), "did you mean 'sex'?"),
        (("pay.ingenuo", "people.csv", "--templates", "english"), "reads no text"),
    ],
)
def test_what_cannot_be_written_is_one_sentence_and_no_file(
    command: str, arguments: tuple[str, ...], said: str, folder: Path
) -> None:
    before = sorted(folder.iterdir())
    result = run(command, *arguments, "-o", "out.html")
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_the_ending_decides_and_one_that_cannot_be_written_is_refused_before_any_work(folder: Path) -> None:
    done("card", "pay.ingenuo", "-o", "card.html")
    page = (folder / "card.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<title>Who is paid?</title>" in page
    assert page.count("<h1>") == 1
    assert "<h2>Intended use</h2>" in page
    assert "license:" not in page
    for command in ("report", "card"):
        result = run(command, "nope.ingenuo", "nope.csv", "-o", "out.pdf")
        assert result.exit_code == 2
        assert "'out.pdf' has none of the endings" in result.stderr


def test_a_report_that_fails_leaves_the_old_one(folder: Path) -> None:
    old, broken = folder / "old.html", folder / "broken.csv"
    old.write_text("old")
    lines = (folder / "people.csv").read_text().splitlines()
    broken.write_text("\n".join([*lines, "?," * lines[0].count(",") + '"no end']))
    assert run("report", "pay.ingenuo", "broken.csv", "-o", "old.html").exit_code == 1
    assert old.read_text() == "old"


def test_a_wrong_use_of_the_commands_is_exit_code_2() -> None:
    assert run("report", "pay.ingenuo", "people.csv").exit_code == 2
    assert run("card", "pay.ingenuo", "--protected", "sex").exit_code == 2


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model with declared and ignored columns, trained by the command, and rows to judge it by."""
    monkeypatch.chdir(tmp_path)
    rows = diabetes()
    csv.write_csv(rows.slice(0, 300), "train.csv")
    csv.write_csv(rows.slice(300), "test.csv")
    done("train", "train.csv", "--target", "progression", "--column", "s1=category", "--ignore", "s2")
    return tmp_path


def test_the_page_names_model_target_file_and_date(declared: Path) -> None:
    done("report", "train.ingenuo", "test.csv", "-o", "page.html")
    facts = f"BayesClassifier of progression, judged on test.csv, {datetime.date.today().isoformat()}"
    page = (declared / "page.html").read_text()
    assert f"<title>{facts}</title>" in page
    assert f">{facts}</h1>" in page
    done("report", "train.ingenuo", "test.csv", "-o", "page.html", "--title", "Whose disease goes on?")
    page = (declared / "page.html").read_text()
    assert ">Whose disease goes on?</h1>" in page
    assert facts in page


def test_the_page_says_what_was_set_aside_and_how_to_have_the_model_again(declared: Path) -> None:
    done("report", "train.ingenuo", "test.csv", "-o", "page.html")
    page = unescape((declared / "page.html").read_text())
    assert "not in this table" not in page
    assert "set aside: the model does not look at it" in page
    assert hashlib.sha256((declared / "train.csv").read_bytes()).hexdigest() in page
    assert "ingenuo train train.csv --target progression --column s1=category --ignore s2" in page
    lines = re.search(r"import ingenuo as ing\n.*?(?=</code>)", page, re.DOTALL)
    assert lines is not None
    names: dict[str, Any] = {}
    exec(lines[0].replace("print(", "found = ("), names)  # the lines that the page has, with the file's own name
    assert names["model"].tally_ == ing.load("train.ingenuo").tally_
    judged = json.loads(done("evaluate", "train.ingenuo", "test.csv", "--json").stdout)
    assert names["found"]["accuracy"].value == judged["accuracy"]["value"]


def test_the_card_has_the_hash_of_the_file(declared: Path) -> None:
    assert hashlib.sha256((declared / "train.csv").read_bytes()).hexdigest() in done("card", "train.ingenuo").stdout


def test_every_advice_names_its_command(declared: Path) -> None:
    done("report", "train.ingenuo", "train.csv", "-o", "page.html")
    page = (declared / "page.html").read_text()
    for command in (
        "train … --calibrate</code>",
        "train … --class-prior</code>",
        "audit MODEL FILE --protected",
        "train --folds 10",
    ):
        assert f"ingenuo {command}" in page
