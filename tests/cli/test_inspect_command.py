"""`ingenuo inspect`: what a saved model, network or tally is, and what it has learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ingenuo.cli import main
from ingenuo.datasets import weather
from ingenuo.models.language import LanguageModel, LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.network_classifier import NetworkClassifier
from ingenuo.models.regressor import NaiveBayesRegressor
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.networks.network import Network
from ingenuo.store import load, save

TEXTS = {"text": ["a good film", "a good story", "a dull film", "dull dull story"], "kind": ["+", "+", "-", "-"]}
ABOUT = {
    "title": "Shall we play?",
    "sources": [{"path": "weather.csv", "bytes": 300}],
    "created": "2026-01-02",
    "evaluation": {"how": "10 folds", "accuracy": {"value": 0.75, "low": 0.5, "high": 0.9}},
    "history": [{"what": "train", "rows": 14, "source": ["weather.csv"], "when": "2026-01-02"}],
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import pandas as pd

    folder = tmp_path_factory.mktemp("models")
    model = NaiveBayes().fit(weather(), "play")
    save(model, folder / "weather.ingenuo", ABOUT)
    save(model.tally_, folder / "tally.ingenuo")
    save(NaiveBayes(columns={"text": "text"}).fit(pd.DataFrame(TEXTS), "kind"), folder / "films.ingenuo")
    save(LanguageModel(order=2).fit(TEXTS["text"]), folder / "words.ingenuo")
    save(LanguageModelClassifier().fit(TEXTS["text"], TEXTS["kind"]), folder / "language.ingenuo")
    save(SoftmaxRegression().fit(weather(), "play"), folder / "softmax.ingenuo")
    save(NetworkClassifier(structure="tan").fit(weather(), "play"), folder / "tan.ingenuo")
    wet = {"y": {"y": 1.0, "n": 0.0}, "n": {"y": 0.1, "n": 0.9}}
    rain: dict[str, Any] = {"rain": {"y": 0.3, "n": 0.7}, "wet": wet}
    save(Network.from_arcs([("rain", "wet")], tables=rain), folder / "grass.ingenuo")
    rows = np.arange(20.0)[:, np.newaxis]
    save(NaiveBayesRegressor(bins=4).fit(rows, rows[:, 0] ** 2), folder / "regressor.ingenuo")
    (folder / "text.txt").write_text("no model")
    return folder


@pytest.fixture(autouse=True)
def folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in models.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(main, ["inspect", *arguments], **options)


def told(*arguments: str, **options: Any) -> str:
    result = run(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_model_says_what_it_is_where_from_and_what_it_learned() -> None:
    text = told("weather.ingenuo", "--top", "2")
    assert "NaiveBayes(): 14 rows, 2 classes, 4 columns; the class is 'play'" in text
    for line in (
        "title       Shall we play?",
        "source      weather.csv (300 bytes)",
        "evaluation  accuracy 0.75 (0.5 to 0.9), 10 folds",
        "history     2026-01-02 train 14 rows weather.csv",
        "yes    9     0.6429",
    ):
        assert line in text
    assert "overcast" in text.partition("for yes")[2]
    assert "overcast" not in told("weather.ingenuo", "--top", "0")


def test_json_has_the_same_facts() -> None:
    data = json.loads(told("weather.ingenuo", "--json"))
    assert [(each["class"], each["rows"]) for each in data["classes"]] == [("no", 5), ("yes", 9)]
    assert [each["column"] for each in data["schema"]] == ["outlook", "temperature", "humidity", "windy"]
    assert data["about"]["title"] == "Shall we play?"
    assert data["strongest"]["classes"][1]["signs"][0]["value"] == "overcast"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tally", "a tally: 8 tables of sums"),
        ("grass", "a Bayesian network"),
        ("words", "4 texts, 5 different words"),
        ("language", "4 rows, 2 classes, 5 different words"),
        ("softmax", "SoftmaxRegression(): 14 rows"),
        ("tan", "outlook      overcast, rainy, sunny"),
        ("regressor", "4 bins of the target from 0 to 361"),
        ("films", "for -"),
    ],
)
def test_everything_that_can_be_saved_can_be_inspected(name: str, said: str) -> None:
    assert said in told(f"{name}.ingenuo")
    assert json.loads(told(f"{name}.ingenuo", "--json"))["what"]


def test_what_a_text_begins_with_is_what_follows_its_beginning() -> None:
    model = load("words.ingenuo")
    assert "The most probable words: dull 0.2727, film 0.1818" in told("words.ingenuo")
    assert "A text most probably begins with: a 0.5966, dull" in told("words.ingenuo")
    data = json.loads(told("words.ingenuo", "--json"))
    starts = [(word, p) for word, p in model.next("<s>", 12) if word not in ("</s>", "<unk>") and p > 0]
    assert list(data["first words"].items()) == starts
    assert data["words"] == {word: p for word, p in model.next(n=12) if word not in ("</s>", "<unk>") and p > 0}
    save(LanguageModel(1, boundaries=False).fit(TEXTS["text"]), "unbounded.ingenuo")
    assert "begins" not in told("unbounded.ingenuo")


def test_a_column_is_shown_as_it_was_counted(folder: Path) -> None:
    lines = [line.split() for line in told("weather.ingenuo", "--column", "outlook", "--plot", "o.svg").splitlines()]
    assert ["sunny", "3", "0.5", "2", "0.25"] in lines  # (3 + 1)/(5 + 3), (2 + 1)/(9 + 3)
    assert "<svg" in (folder / "o.svg").read_text()
    assert "73" in told("weather.ingenuo", "--column", "temperature", "--plot", "t.png").split()
    assert (folder / "t.png").read_bytes().startswith(b"\x89PNG")
    words = json.loads(told("films.ingenuo", "--column", "text", "--json"))["lines"]
    assert {line["value"]: line["times"] for line in words}["dull"] == {"+": 0, "-": 3}
    shares = json.loads(told("tan.ingenuo", "--column", "outlook", "--json"))["lines"]
    assert sum(line["numbers"]["yes"] for line in shares) == pytest.approx(1)
    assert "weights" in told("softmax.ingenuo", "--column", "outlook")


def test_the_nomogram_is_written(folder: Path) -> None:
    told("weather.ingenuo", "--nomogram", "n.svg", "--class", "no")
    assert "<svg" in (folder / "n.svg").read_text()


def test_a_model_may_come_through_a_pipe(folder: Path) -> None:
    assert told("-", input=(folder / "weather.ingenuo").read_bytes()).startswith("NaiveBayes(): 14 rows")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope.ingenuo",), "nope.ingenuo: there is no such file"),
        (("text.txt",), "this is not an ingenuo model"),
        (("weather.ingenuo", "--column", "outlok"), "did you mean 'outlook'?"),
        (("weather.ingenuo", "--nomogram", "n.svg", "--class", "ys"), "did you mean 'yes'?"),
        (("tan.ingenuo", "--nomogram", "n.svg"), "a NetworkClassifier has no nomogram"),
        (("tally.ingenuo", "--column", "outlook"), "a Tally has no classes"),
        (("language.ingenuo", "--column", "text"), "there is no column 'text'"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(arguments: tuple[str, ...], said: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = run(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("arguments", [("--class", "yes"), ("--plot", "x.svg"), ("--nomogram", "x.doc")])
def test_a_wrong_use_of_the_command_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert run("weather.ingenuo", *arguments).exit_code == 2


def test_lines_are_written_out_and_drawn(tmp_path: Path) -> None:
    from ingenuo.models.discriminant import GaussianDiscriminant, LeastSquaresClassifier

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    for model in (GaussianDiscriminant(), LeastSquaresClassifier(), SoftmaxRegression()):
        save(model.fit(X, y), tmp_path / "model")
        found = CliRunner().invoke(main, ["inspect", str(tmp_path / "model"), "--plot", str(tmp_path / "regions.svg")])
        assert found.exit_code == 0, found.output
        assert model.discriminant().splitlines()[0] in found.stdout
        assert "<svg" in (tmp_path / "regions.svg").read_text()
    found = CliRunner().invoke(main, ["inspect", str(tmp_path / "model"), "--losses", str(tmp_path / "losses.svg")])
    assert found.exit_code == 0, found.output
    assert "<svg" in (tmp_path / "losses.svg").read_text()
    save(GaussianDiscriminant("full").fit(X, y), tmp_path / "model")
    found = CliRunner().invoke(main, ["inspect", str(tmp_path / "model"), "--losses", str(tmp_path / "none.svg")])
    assert found.exit_code == 2
    assert "--losses is of softmax regression" in found.stderr
    assert not (tmp_path / "none.svg").exists()


def test_a_picture_without_a_column_is_of_models_that_have_regions(models: Path, tmp_path: Path) -> None:
    found = CliRunner().invoke(main, ["inspect", str(models / "weather.ingenuo"), "--plot", str(tmp_path / "p.svg")])
    assert found.exit_code == 2
    assert "say which by --column" in found.stderr
