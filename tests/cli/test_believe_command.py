"""`ingenuo believe`: the worked examples of Bayes' rule over hypotheses, from the command line, exactly."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ingenuo.cli import main

COIN = ("--hypothesis", "fair 3/4: Head=1/2 Tail=1/2", "--hypothesis", "biased 1/4: Head=0.6 Tail=0.4")
BOXES = (
    *("--normalise", "--hypothesis", "red 4: apple=2 lemon=4 orange=6"),
    *("--hypothesis", "white 6: apple=3 lemon=6 orange=1"),
)


def run(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(main, ["believe", *arguments], **options)


def told(*arguments: str, **options: Any) -> str:
    result = run(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result.stdout


def found(*arguments: str, **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(told(*arguments, "--json", **options))
    return answer


def exactly(answer: dict[str, Any], what: str = "posterior") -> dict[str, Fraction]:
    return {each["name"]: Fraction(each["exact"][what]) for each in answer["hypotheses"]}


def refused(*arguments: str, code: int = 1, **options: Any) -> str:
    result = run(*arguments, **options)
    assert result.exit_code == code
    assert "Traceback" not in result.output
    assert result.stdout == ""
    return result.stderr


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_head_leaves_the_fair_coin_most_probable() -> None:
    assert found(*COIN)["next_exact"]["Head"] == "21/40"
    answer = found(*COIN, "Head")
    assert exactly(answer) == {"fair": Fraction(5, 7), "biased": Fraction(2, 7)}
    assert answer["evidence"] == 0.525
    assert (answer["map"], answer["ml"]) == ("fair", "biased")


def test_seventy_heads_in_a_hundred_show_the_bias() -> None:
    answer = found(*COIN, "70*Head", "30*Tail")
    fair, biased = (each["posterior"] for each in answer["hypotheses"])
    assert fair == pytest.approx(0.0068981, abs=5e-8)
    assert biased == pytest.approx(0.9931019, abs=5e-8)
    assert answer["observations"] == 100
    assert found(*COIN, *["Head"] * 70, *["Tail"] * 30)["hypotheses"] == answer["hypotheses"]


def test_equal_priors_lean_to_the_bias_after_one_head() -> None:
    lines = ("--hypothesis", "h1: Head=1/2 Tail=1/2", "--hypothesis", "h2: Head=0.6 Tail=0.4")
    assert exactly(found(*lines, "Head")) == {"h1": Fraction(5, 11), "h2": Fraction(6, 11)}


def test_the_most_probable_hypothesis_is_outvoted() -> None:
    lines = [each for line in ("h1 .4: +=1", "h2 .3: -=1", "h3 .3: -=1") for each in ("--hypothesis", line)]
    answer = found(*lines)
    assert answer["next"] == {"+": 0.4, "-": 0.6}
    assert (answer["map"], answer["bayes_optimal"], answer["ml"]) == ("h1", "-", None)
    assert "the Bayes-optimal answer is -" in told(*lines, "--predict")


def test_an_orange_comes_from_the_red_box() -> None:
    assert exactly(found(*BOXES, "orange")) == {"red": Fraction(10, 13), "white": Fraction(3, 13)}
    assert "red 10/13 = 0.769231" in told(*BOXES, "orange")


def test_the_arithmetic_and_the_trace_are_printed() -> None:
    text = told(*COIN, "Head", "Head", "Tail", "--trace")
    assert "3     Tail         0.722543  0.277457" in text
    assert "(3/5)^2  = 0.36" in text
    assert "most probable (MAP): fair" in text
    trace = found(*COIN, "Head", "2*Tail", "--trace")["trace"]
    assert [(step["observation"], step["times"]) for step in trace] == [(None, 0), ("Head", 1), ("Tail", 2)]
    assert trace[1]["P(fair)"] == pytest.approx(5 / 7)


@pytest.mark.parametrize("name", ["beliefs.yaml", "beliefs.json"])
def test_a_file_says_the_same_as_the_options(name: str, folder: Path) -> None:
    yaml = (
        "priors: {fair: 3/4, biased: 1/4}\nlikelihoods:\n  fair: {Head: 1/2, Tail: 1/2}\n"
        "  biased: {Head: 0.6, Tail: 0.4}\n"
        "observations: [Head, 2*Head]\n"
    )
    as_json = {
        "priors": {"fair": "3/4", "biased": 0.25},
        "likelihoods": {"fair": {"Head": 0.5, "Tail": 0.5}, "biased": {"Head": 0.6, "Tail": 0.4}},
        "observations": {"Head": 3},
    }
    (folder / name).write_text(yaml if name.endswith("yaml") else json.dumps(as_json))
    assert exactly(found("--file", name, "Tail")) == exactly(found(*COIN, "3*Head", "Tail"))


def test_a_weight_of_a_file_is_normalised_and_yes_is_a_word(folder: Path) -> None:
    (folder / "w.yaml").write_text("likelihoods: {a: {yes: 1, no: 3}, b: {yes: 1, no: 1}}\nnormalise: true\n")
    assert exactly(found("--file", "w.yaml", "yes")) == {"a": Fraction(1, 3), "b": Fraction(2, 3)}


def test_observations_come_from_a_column_of_a_file(folder: Path) -> None:
    (folder / "tosses.csv").write_text("toss,who\nHead,a\nHead,b\n,a\nTail,c\n")
    assert found(*COIN, "--data", "tosses.csv", "--column", "toss") == found(*COIN, "Head", "Head", "Tail")
    piped = found(*COIN, "--data", "-", "--column", "toss", input="toss\nHead\nTail\n")
    assert piped == found(*COIN, "Head", "Tail")
    digits = ("--hypothesis", "a: 1=1/2 2=1/2", "--hypothesis", "b: 1=3/4 2=1/4")
    (folder / "digits.csv").write_text("seen\n1\n2\n1\n")
    assert found(*digits, "--data", "digits.csv")["observations"] == 3
    assert "did you mean 'toss'" in refused(*COIN, "--data", "tosses.csv", "--column", "tos")
    assert "name the one that holds the observations" in refused(*COIN, "--data", "tosses.csv")


def test_the_beliefs_are_drawn(folder: Path) -> None:
    told(*COIN, "Head", "--plot", "beliefs.svg")
    assert "<svg" in (folder / "beliefs.svg").read_text()
    assert "has none of the endings" in refused(*COIN, "Head", "--plot", "beliefs.doc", code=2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*COIN, "Haed"), "did you mean 'Head'"),
        (("--hypothesis", "fair 3/4: Head=1/2 Tail=1/2", "Head"), "the priors sum to 3/4; they must sum to 1"),
        (("--hypothesis", "fair: Head=1/2 Tail=1/3"), "correct them, or give --normalise"),
        (("--hypothesis", "fair 3/4"), "is no hypothesis; write its name"),
        (("--hypothesis", "fair: Head=half"), "which is no number"),
        (("--hypothesis", "fair: Head=1/0"), "which is no number"),
        (("--hypothesis", "a: x=1", "--hypothesis", "a: x=1"), "given twice"),
        (("--hypothesis", "a 1/2: x=1", "--hypothesis", "b: x=1"), "has no prior, and others have"),
        (("--hypothesis", "a: x=1/2 y=1/2 x=0"), "stands twice"),
        (("--hypothesis", "a: x=1", "99999999999999999*x"), "too often"),
        (("--file", "nope.yaml"), "No such file"),
        (("--file", "empty.yaml"), "found no mapping"),
        (("--file", "odd.yaml"), "'likelihood'; did you mean 'likelihoods'"),
        (("--file", "broken.json"), "broken.json, line 1: this is no sound JSON"),
        (("--file", "twice.yaml"), "stands twice"),
        (("--file", "tosses.csv"), "in a .yaml or a .json file"),
    ],
)
def test_what_cannot_be_believed_is_one_sentence(arguments: tuple[str, ...], said: str, folder: Path) -> None:
    (folder / "empty.yaml").write_text("")
    (folder / "odd.yaml").write_text("likelihood: {a: {x: 1}}\n")
    (folder / "broken.json").write_text('{"priors": ')
    (folder / "twice.yaml").write_text("likelihoods: {a: {x: 1, x: 0}}\n")
    error = refused(*arguments)
    assert said in error
    assert error.startswith("Error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("arguments", [("Head",), (*COIN, "--file", "x.yaml"), (*COIN, "--column", "toss")])
def test_a_wrong_use_of_the_command_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert "Usage:" in refused(*arguments, code=2)
