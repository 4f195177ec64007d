"""`ingenuo audit`: groups of rows by a protected column, groups of names by sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ingenuo.cli import main
from ingenuo.evaluation.audit import audit
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.store import load, save

TEXTS = ["a good film", "good and kind", "what a dull film", "dull and sad"] * 3


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 300)
    work = np.where(rng.random(300) < np.where(sex == "f", 0.8, 0.3), "x", "y")
    pay = np.where(rng.random(300) < np.where(work == "y", 0.7, 0.2), "high", "low")
    return pd.DataFrame({"sex": sex, "age": rng.integers(18, 80, 300), "work": work, "pay": pay})


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, people: pd.DataFrame) -> Path:
    folder = tmp_path_factory.mktemp("models")
    people.to_csv(folder / "people.csv", index=False)
    save(NaiveBayes().fit(people.drop(columns="sex"), "pay"), folder / "pay.ingenuo")
    save(NaiveBayes().fit(people.drop(columns="sex"), "pay").tally_, folder / "tally.ingenuo")
    reviews = pd.DataFrame({"text": TEXTS, "kind": ["+", "+", "-", "-"] * 3})
    save(NaiveBayes(columns={"text": "text"}).fit(reviews, "kind"), folder / "reviews.ingenuo")
    (folder / "names.csv").write_text(
        "template,group,term\n{person} is good.,a,Ada\n{person} is good.,a,Ann\n{person} is good.,b,Bob\n"
        "{person} is good.,b,Ben\n{person} is dull.,a,Ada\n{person} is dull.,b,Bob\n"
    )
    return folder


@pytest.fixture(autouse=True)
def folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in models.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["audit", *arguments])


def told(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def found(*arguments: str) -> Any:
    return json.loads(told(*arguments, "--json"))


def test_a_column_that_the_model_does_not_know_tells_the_groups(people: pd.DataFrame, folder: Path) -> None:
    wanted = audit(load("pay.ingenuo"), people, "pay", protected="sex", class_="high")
    text = told("pay.ingenuo", "people.csv", "--protected", "sex", "--class", "high", "--plot", "a.svg")
    assert "300 rows in 2 groups of sex" in text
    for sentence in wanted.plain:
        assert sentence in text
    assert "<svg" in (folder / "a.svg").read_text()
    assert found("pay.ingenuo", "people.csv", "--protected", "sex", "--class", "high") == json.loads(
        json.dumps(wanted.to_dict())
    )


def test_several_columns_are_audited_one_by_one() -> None:
    arguments = ("pay.ingenuo", "people.csv", "--protected", "sex", "--protected", "work")
    assert len(found(*arguments)) == 2
    text = told(*arguments)
    assert "2 groups of sex;" in text
    assert "groups of work;" in text


def test_rows_without_a_class_are_compared_by_decisions(people: pd.DataFrame, folder: Path) -> None:
    people.drop(columns="pay").to_csv("unknown.csv", index=False)
    text = told("pay.ingenuo", "unknown.csv", "--protected", "sex")
    assert "answered" in text
    assert "false positives" not in text.partition("–")[0]


def test_sentences_of_a_file_and_of_a_language() -> None:
    text = told("reviews.ingenuo", "--templates", "names.csv", "--class", "+")
    assert "Compared is P(+)" in text
    assert len(found("reviews.ingenuo", "--templates", "names.csv", "--templates", "italian")) == 2
    assert "gender" in told("reviews.ingenuo", "--templates", "italian", "--groups", "gender")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope.ingenuo",), "nope.ingenuo: there is no such file"),
        (("people.csv",), "this is not an ingenuo model"),
        (("tally.ingenuo",), "tally.ingenuo holds a Tally"),
        (("pay.ingenuo",), "reads no text"),
        (("pay.ingenuo", "people.csv", "--protected", "sx"), "did you mean 'sex'?"),
        (("pay.ingenuo", "people.csv", "--protected", "sex", "--class", "hgh"), "did you mean 'high'?"),
        (("pay.ingenuo", "people.csv", "--protected", "pay"), "both y and protected"),
        (("pay.ingenuo", "people.csv", "--protected", "sex", "--target", "py"), "did you mean 'pay'?"),
        (("reviews.ingenuo", "--templates", "engish"), "did you mean 'english'"),
    ],
)
def test_what_cannot_be_audited_is_one_sentence(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [("--protected", "sex"), ("people.csv",), ("--label", "x")])
def test_a_wrong_use_of_the_command_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert run("pay.ingenuo", *arguments).exit_code == 2
