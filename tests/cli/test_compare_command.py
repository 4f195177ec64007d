"""`ingenuo compare`: several models on one file, by the same folds, with tests of their differences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ingenuo.cli import main
from ingenuo.evaluation.comparison import compare
from ingenuo.evaluation.evaluation import evaluate
from ingenuo.evaluation.significance import mcnemar
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.store import load, save
from ingenuo.tally.prior import Lidstone


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 120)
    return pd.DataFrame(
        {"x": rng.normal(kind == "a", 1.0).round(3), "town": rng.choice(list("pqr"), 120), "kind": kind}
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Path:
    table.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["compare", *arguments])


def told(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


TWO = ("rows.csv", "--target", "kind", "--model", "naive-bayes", "--model", "naive-bayes:prior=lidstone:9")


def test_it_says_what_the_library_says(table: pd.DataFrame, folder: Path) -> None:
    wanted = compare({"a": NaiveBayes(), "b": NaiveBayes(prior=Lidstone(9))}, table, "kind", 5, random_state=3)
    found = json.loads(told(*TWO, "--folds", "5", "--seed", "3", "--json"))
    assert [each["model"] for each in found["models"]] == ["naive-bayes", "naive-bayes:prior=lidstone:9"]
    assert [each["log_loss"] for each in found["models"]] == pytest.approx([m.value for m in wanted.values("log_loss")])
    assert [pair["p"] for pair in found["pairs"]] == [pair.verdict.p_value for pair in wanted.pairs]
    text = told(*TWO, "--folds", "5", "--seed", "3", "--plot", "c.svg", "--measure", "log_loss")
    assert wanted.conclude() in text
    assert "<svg" in (folder / "c.svg").read_text()


def test_a_saved_models_settings_are_compared_and_not_what_it_has_learned(table: pd.DataFrame, folder: Path) -> None:
    save(NaiveBayes(prior=Lidstone(9)).fit(table, "kind"), "mine.ingenuo")
    found = json.loads(told(*TWO, "--model", "mine.ingenuo", "--json"))["models"]
    assert found[2]["log_loss"] == found[1]["log_loss"] != found[0]["log_loss"]


@pytest.fixture
def fitted(table: pd.DataFrame, folder: Path) -> tuple[str, str, str]:
    """Two model files, and a file of rows that they have not learned."""
    save(NaiveBayes().fit(table[:60], "kind"), "old.ingenuo")
    save(NaiveBayes().fit(table[:60][["town", "kind"]], "kind"), "new.ingenuo")  # which knows one column only
    table[60:].to_csv("test.csv", index=False)
    return "old.ingenuo", "new.ingenuo", "test.csv"


def test_model_files_are_judged_as_they_are_by_the_same_rows(table: pd.DataFrame, fitted: tuple[str, str, str]) -> None:
    found = json.loads(told(*fitted, "--json"))
    models = {name: load(name) for name in fitted[:2]}
    test = table[60:]
    evaluations = {
        "old.ingenuo": evaluate(models["old.ingenuo"], test, "kind"),
        "new.ingenuo": evaluate(models["new.ingenuo"], test[["town", "kind"]], "kind"),
    }
    assert [each["accuracy"] for each in found["models"]] == [e["accuracy"].value for e in evaluations.values()]
    assert "fit_time" not in found["models"][0]
    y, (one, two) = test["kind"], (e.predictions for e in evaluations.values())
    wanted = mcnemar(y, one.classes[one.predicted], two.classes[two.predicted], "mid-p")
    assert found["pairs"][0]["p"] == wanted.p_value
    assert found["pairs"][0]["difference"] == wanted.effect
    text = told(*fitted, "--target", "kind", "--plot", "two.svg")
    assert compare(evaluations).text() == text.rstrip("\n")
    assert "60 rows, the same for all models" in text
    assert "<svg" in Path("two.svg").read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", "naive-bayes"), "judged as they are"),
        (("--folds", "5"), "judged as they are"),
        (("--sizes", "5"), "judged as they are"),
        (("old.ingenuo",), "each model once"),
    ],
)
def test_what_makes_no_sense_beside_model_files_is_a_wrong_use(
    more: tuple[str, ...], said: str, fitted: tuple[str, str, str]
) -> None:
    result = run(*fitted, *more)
    assert result.exit_code == 2
    assert said in result.stderr


def test_models_of_other_classes_or_none_are_refused(fitted: tuple[str, str, str], table: pd.DataFrame) -> None:
    save(NaiveBayes().fit(table[:60], "town"), "town.ingenuo")
    result = run("old.ingenuo", "town.ingenuo", "test.csv")
    assert result.exit_code == 1
    assert "say by --target which column" in result.stderr
    save(NaiveBayesRegressor(3).fit(table[:60][["town", "x"]], "x"), "x.ingenuo")
    assert "tells no classes" in run("x.ingenuo", "x.ingenuo".replace("x", "./x"), "test.csv").stderr
    assert run("old.ingenuo", "new.ingenuo").exit_code == 2
    learned = run("old.ingenuo", "new.ingenuo", "rows.csv")
    assert learned.exit_code == 0


def test_learning_curves_are_the_librarys(table: pd.DataFrame) -> None:
    models = {"naive-bayes": NaiveBayes(), "naive-bayes:prior=lidstone:9": NaiveBayes(prior=Lidstone(9))}
    wanted = compare(models, table, "kind", sizes=[20, 60], repeats=3, random_state=1)
    text = told(*TWO, "--sizes", "20,60", "--repeats", "3", "--seed", "1", "--plot", "c.svg", "--measure", "log_loss")
    assert text.rstrip("\n") == str(wanted)
    assert "<svg" in Path("c.svg").read_text()
    found = json.loads(told(*TWO, "--sizes", "4", "--repeats", "3", "--json"))
    assert len({each["rows"] for each in found["curves"]}) == 4
    assert found["test_rows"] == 36


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--sizes", "many"), "'many' is neither"),
        (("--sizes", "5", "--folds", "3"), "two ways"),
        (("--repeats", "3"), "--sizes draws rows"),
    ],
)
def test_wrong_sizes_are_a_wrong_use(more: tuple[str, ...], said: str) -> None:
    result = run(*TWO, *more)
    assert result.exit_code == 2
    assert said in result.stderr


def test_texts_are_compared_too(folder: Path) -> None:
    good, bad = ["a fine film", "fine and good"] * 8, ["a dull film", "dull and bad"] * 8
    rows = pd.DataFrame({"text": good + bad, "stars": range(32), "kind": ["+"] * 16 + ["-"] * 16})
    rows.to_csv("films.csv", index=False)
    models = ("--model", "naive-bayes", "--model", "language")
    result = run("films.csv", "--target", "kind", *models, "--column", "text=text", "--folds", "4", "--json")
    assert result.exit_code == 0, result.output
    assert "all models are given 'text' alone" in result.stderr
    assert [each["accuracy"] for each in json.loads(result.stdout)["models"]] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rows.csv", "--target", "knd", *TWO[3:]), "did you mean 'kind'?"),
        (("nope.csv", "--target", "kind", *TWO[3:]), "nope.csv: there is no such file"),
        ((*TWO, "--model", "softmx"), "did you mean 'softmax'?"),
        ((*TWO, "--model", "softmax:l3=1"), "has no setting 'l3'"),
        ((*TWO, "--model", "naive-bayes"), "naive-bayes is given twice"),
        ((*TWO, "--model", "rows.csv"), "this is not an ingenuo model"),
        ((*TWO, "--model", "regressor"), "tells no classes"),
        ((*TWO, "--folds", "many"), "many"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(arguments: tuple[str, ...], said: str, folder: Path) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_one_model_alone_is_a_wrong_use() -> None:
    assert run("rows.csv", "--target", "kind", "--model", "naive-bayes").exit_code == 2
