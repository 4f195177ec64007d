"""`ingenuo explain`: the arithmetic of rows, as they are typed or as they stand in a file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ingenuo.cli import main, options
from ingenuo.datasets import play_tennis, weather
from ingenuo.models.language import LanguageModelClassifier
from ingenuo.models.naive_bayes import NaiveBayes
from ingenuo.show import table
from ingenuo.store import load, save
from ingenuo.tally.prior import MaximumLikelihood

TEXTS = {"text": ["win money now", "cheap money", "see you at noon", "at the meeting"], "kind": ["s", "s", "h", "h"]}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    save(NaiveBayes(prior=MaximumLikelihood()).fit(play_tennis(), "Play"), folder / "tennis.ingenuo")
    save(NaiveBayes().fit(weather(), "play"), folder / "weather.ingenuo")
    save(NaiveBayes(columns={"text": "text"}).fit(pd.DataFrame(TEXTS), "kind"), folder / "mail.ingenuo")
    save(LanguageModelClassifier(order=1).fit(TEXTS["text"], TEXTS["kind"]), folder / "language.ingenuo")
    pd.DataFrame(TEXTS).to_csv(folder / "mail.csv", index=False)
    save(NaiveBayes().fit(weather(), "play").tally_, folder / "tally.ingenuo")
    frame = play_tennis().to_pandas()
    frame.insert(0, "day", range(1, 15))
    frame.to_csv(folder / "tennis.csv", index=False)
    weather().to_pandas().to_csv(folder / "weather.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in models.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, **more: Any) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments], **more)


def told(*arguments: str, **more: Any) -> str:
    result = run(*arguments, **more)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_row_of_the_notes_is_worked_out_as_in_the_notes() -> None:
    row = "Outlook=Sunny, Temperature=Cool, Humidity=High, Wind=Strong"
    text = told("tennis.ingenuo", "--row", row)
    assert "= 0.005291005" in text  # 1/189
    assert "= 0.02057143" in text  # 18/875
    assert "→ No, with probability 0.795417" in text
    data = json.loads(told("tennis.ingenuo", "--row", row, "--json"))
    for place, name in enumerate(("No", "Yes")):
        terms = [data["prior"], *data["factors"]]
        product = math.prod(factor["terms"][place]["value"] for factor in terms)
        assert product == pytest.approx(data["product"][name])
        assert data["posterior"][name] == pytest.approx(product / sum(data["product"].values()))


def test_rows_of_a_file_are_counted_from_1_without_the_header() -> None:
    found = json.loads(told("tennis.ingenuo", "tennis.csv", "--rows", "12,2-3", "--json"))
    model = load("tennis.ingenuo")
    wanted = model.predict_proba(play_tennis().drop_columns(["Play"]).take([11, 1, 2]))
    assert [each["row"] for each in found] == [12, 2, 3]
    for each, shares in zip(found, wanted):
        assert list(each["posterior"].values()) == pytest.approx(shares.tolist())
    assert told("tennis.ingenuo", "tennis.csv").startswith("row 1\n")


def test_a_column_of_booleans_in_a_file_is_the_one_that_was_learned() -> None:
    model = load("weather.ingenuo")
    (found,) = json.loads(told("weather.ingenuo", "weather.csv", "--rows", "7", "--json"))
    shares = model.predict_proba(weather().drop_columns(["play"]).slice(6, 1))[0]
    assert list(found["posterior"].values()) == pytest.approx(shares.tolist())


@pytest.mark.parametrize("model", ["mail.ingenuo", "language.ingenuo"])
def test_texts_of_a_file_are_explained_as_texts_that_are_typed(model: str) -> None:
    (found,) = json.loads(told(model, "mail.csv", "--rows", "2", "--json", "--column", "text=text", "--ignore", "kind"))
    typed = json.loads(told(model, "--row", TEXTS["text"][1], "--json"))
    assert found == {"row": 2, **typed}


def test_a_file_may_come_through_a_pipe(folder: Path) -> None:
    text = (folder / "tennis.csv").read_text()
    assert told("tennis.ingenuo", "-", "--rows", "5", input=text) == told("tennis.ingenuo", "tennis.csv", "--rows", "5")


def test_a_page_is_written_whole(folder: Path) -> None:
    told("tennis.ingenuo", "tennis.csv", "--rows", "1,2", "--to", "html", "-o", "why.html")
    page = (folder / "why.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("<h2>") == 2
    assert "<script" not in page


@pytest.mark.parametrize(
    ("ending", "begins", "times"),
    [
        ("txt", "row 1\n", {"\nrow ": 1}),
        ("md", "## row 1\n\n| ", {"## row": 2}),
        ("tex", r"\subsection*{row 1}", {r"\begin{tabular}": 2}),
        ("csv", "row,column,value,No: how,No: factor,Yes: how,Yes: factor,note\n1,prior,", {"\n2,": 7, "row,": 1}),
        ("html", "<!doctype html>", {"<h2>": 2, "</html>": 1}),
        ("json", "[", {'"row": 2': 1}),
    ],
)
def test_the_ending_decides_what_is_written(folder: Path, ending: str, begins: str, times: dict[str, int]) -> None:
    told("tennis.ingenuo", "tennis.csv", "--rows", "1,2", "-o", f"why.{ending}")
    text = (folder / f"why.{ending}").read_text()
    assert text.startswith(begins)
    assert {what: text.count(what) for what in times} == times
    if ending == "json":
        assert [each["row"] for each in json.loads(text)] == [1, 2]
    one = run("tennis.ingenuo", "--row", "Outlook=Rain", "-o", f"one.{ending}")
    assert one.exit_code == 0
    assert "Rain" in (folder / f"one.{ending}").read_text()


def test_an_ending_that_cannot_be_written_is_refused_before_any_work() -> None:
    result = run("nope.ingenuo", "--row", "a=b", "-o", "why.docx")
    assert result.exit_code == 2
    assert "'why.docx' has none of the endings .txt, .md, .tex, .csv, .html, .json" in result.stderr


def test_logarithms_may_be_added(folder: Path) -> None:
    text = told("tennis.ingenuo", "--row", "Outlook=Rain", "--log")
    assert "log(5/14)" in text
    assert "log P(x)     = -1.029619\n" in text


def test_a_text_is_typed_as_it_is_and_coloured_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = told("mail.ingenuo", "--row", "win money, at noon")
    assert "money" in plain
    assert "\x1b[" not in plain
    for module in (table, options):
        monkeypatch.setattr(module, "wants_colours", lambda stream: True)
    assert "\x1b[" in told("mail.ingenuo", "--row", "win money, at noon", color=True)


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert table.wants_colours(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not table.wants_colours(Terminal())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope.ingenuo", "--row", "a=b"), "nope.ingenuo: there is no such file"),
        (("tennis.csv", "--row", "a=b"), "this is not an ingenuo model"),
        (("tally.ingenuo", "--row", "a=b"), "tally.ingenuo holds a Tally"),
        (("tennis.ingenuo", "--row", "Outlok=Sunny"), "did you mean 'Outlook'?"),
        (("weather.ingenuo", "--row", "temperature=hot"), "temperature"),
        (("tennis.ingenuo", "nope.csv"), "nope.csv: there is no such file"),
        (("tennis.ingenuo", "weather.csv"), "there is no column 'Outlook'"),
        (("tennis.ingenuo", "tennis.csv", "--rows", "15"), "there is no row 15; there are 14"),
        (("tennis.ingenuo", "tennis.csv", "--rows", "0"), "rows are counted from 1"),
        (("tennis.ingenuo", "tennis.csv", "--rows", "5-3"), "runs backwards; write 3-5"),
        (("tennis.ingenuo", "tennis.csv", "--rows", "one"), "is no row; write rows such as 3,7"),
    ],
)
def test_what_cannot_be_explained_is_one_sentence(arguments: tuple[str, ...], said: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = run(*arguments, "-o", "why.html")
    assert result.exit_code == 1
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("arguments", [(), ("x.csv", "--row", "a=b"), ("--rows", "3", "--row", "a=b")])
def test_a_wrong_use_of_the_command_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert run("tennis.ingenuo", *arguments).exit_code == 2
