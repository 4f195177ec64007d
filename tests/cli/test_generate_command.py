"""`ingenuo generate`: rows and texts of models; the same seed draws the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from ingenuo.cli import main
from ingenuo.datasets import weather
from ingenuo.models.language import LanguageModel, LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.models.softmax import SoftmaxRegression
from ingenuo.networks.network import Network
from ingenuo.rows.files.scan import read
from ingenuo.store import save

TEXTS = ["a good film", "a good story", "a dull film", "dull dull story"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    save(NaiveBayes().fit(weather(), "play"), folder / "weather.ingenuo")
    save(NaiveBayes().fit([[1.0, 2.0], [2.0, 3.0], [1.0, 1.0], [0.0, 2.0]], [0, 1, 0, 1]), folder / "numbers.ingenuo")
    save(LanguageModel(order=2).fit(TEXTS), folder / "words.ingenuo")
    save(LanguageModelClassifier().fit(TEXTS, ["+", "+", "-", "-"]), folder / "films.ingenuo")
    save(SoftmaxRegression().fit(weather(), "play"), folder / "softmax.ingenuo")
    tables: dict[str, Any] = {
        "rain": {"yes": 0.3, "no": 0.7},
        "wet": {"yes": {"yes": 1.0, "no": 0.0}, "no": {"yes": 0.1, "no": 0.9}},
    }
    save(Network.from_arcs([("rain", "wet")], tables=tables), folder / "grass.ingenuo")
    (folder / "text.txt").write_text("no model")
    return folder


@pytest.fixture(autouse=True)
def folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in models.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["generate", *arguments])


def drawn(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in drawn(*arguments, "--to", "jsonl").splitlines()]


def test_rows_have_the_models_columns_and_its_class(folder: Path) -> None:
    drawn("weather.ingenuo", "-n", "200", "-o", "days.csv")
    days = read("days.csv")
    assert days.column_names == ["outlook", "temperature", "humidity", "windy", "play"]
    assert days.num_rows == 200
    assert set(days.column("play").to_pylist()) == {"yes", "no"}
    again = NaiveBayes().fit(days, "play")
    assert again.predict_proba(weather().drop_columns(["play"])).shape == (14, 2)


def test_a_class_can_be_asked_for() -> None:
    assert {row["play"] for row in rows("weather.ingenuo", "--class", "yes")} == {"yes"}
    assert {row["class"] for row in rows("numbers.ingenuo", "--class", "1", "-n", "3")} == {1}


def test_the_seed_decides() -> None:
    one, same, other = (drawn("weather.ingenuo", "--seed", seed) for seed in ("1", "1", "2"))
    assert one == same != other


def test_texts_are_lines_and_can_be_of_so_many_words() -> None:
    lines = drawn("words.ingenuo", "-n", "5", "--words", "4", "--context", "a").splitlines()
    assert [len(line.split()) for line in lines] == [4] * 5
    assert set(" ".join(lines).split()) <= set(" ".join(TEXTS).split())
    assert drawn("words.ingenuo", "-n", "0") == ""
    films = rows("films.ingenuo", "--class", "-", "-n", "4")
    assert [set(film) for film in films] == [{"text", "class"}] * 4
    assert drawn("films.ingenuo", "--class", "-", "-n", "4", "--to", "text").splitlines() == [f["text"] for f in films]


def test_a_network_is_drawn_from_given_what_is_known() -> None:
    assert {row["wet"] for row in rows("grass.ingenuo", "--given", "rain=yes", "-n", "20")} == {"yes"}


def test_files_are_of_the_kind_that_their_name_says(folder: Path) -> None:
    drawn("weather.ingenuo", "-n", "7", "-o", "days.parquet")
    assert parquet.read_table(folder / "days.parquet").num_rows == 7
    drawn("weather.ingenuo", "-n", "7", "-o", "days.arrow")
    with pa.OSFile(str(folder / "days.arrow")) as file:
        assert pa.ipc.open_file(file).read_all().num_rows == 7
    drawn("words.ingenuo", "-n", "2", "-o", "texts.txt")
    assert len((folder / "texts.txt").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope.ingenuo",), "nope.ingenuo: there is no such file"),
        (("text.txt",), "this is not an ingenuo model"),
        (("softmax.ingenuo",), "draws no rows"),
        (("weather.ingenuo", "--class", "yess"), "there is no class 'yess'; did you mean 'yes'?"),
        (("weather.ingenuo", "--words", "3"), "--words is of a language-model"),
        (("weather.ingenuo", "--given", "outlook=sunny"), "a network's nodes"),
        (("weather.ingenuo", "--to", "text"), "no column of texts"),
        (("weather.ingenuo", "-o", "days.doc"), "days.doc"),
        (("grass.ingenuo", "--class", "yes"), "has no classes"),
        (("grass.ingenuo", "--given", "rian=yes"), "did you mean 'rain'"),
        (("words.ingenuo", "--class", "x"), "has no classes"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(arguments: tuple[str, ...], said: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = run(*arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_the_next_words_are_listed() -> None:
    model = LanguageModel(order=2).fit(TEXTS)
    for context in ("a", "was there a", ""):
        shown = drawn("words.ingenuo", "--next", context, "-n", "3").splitlines()
        assert shown[0] == "word,probability"
        found = [(word, float(p)) for word, p in (line.split(",") for line in shown[1:])]
        assert found == model.next(context, 3)
    result = run("words.ingenuo", "--next", "a", "--context", "b")
    assert (result.exit_code, "--next draws no text" in result.output) == (1, True)
    result = run("weather.ingenuo", "--next", "a")
    assert (result.exit_code, "--next is of a language-model" in result.output) == (1, True)
