"""`ingenuo believe`: the worked examples of Bayes' rule over hypotheses, from the command line, exactly."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ingenuo.cli import main

TABLES = "likelihoods: {fair: {Head: 1/2, Tail: 1/2}, biased: {Head: 0.6, Tail: 0.4}}\n"
FILES = {
    "coin.yaml": "priors: {fair: 3/4, biased: 1/4}\n" + TABLES,
    "equal.yaml": TABLES,
    "boxes.yaml": "priors: {red: 4, white: 6}\nnormalise: true\nlikelihoods:\n"
    "  red: {apple: 2, lemon: 4, orange: 6}\n  white: {apple: 3, lemon: 6, orange: 1}\n",
    "voters.yaml": "{priors: {h1: .4, h2: .3, h3: .3}, likelihoods: {h1: {+: 1}, h2: {'-': 1}, h3: {'-': 1}}}",
}


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
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_one_head_leaves_the_fair_coin_most_probable() -> None:
    assert found("coin.yaml")["next_exact"]["Head"] == "21/40"
    answer = found("coin.yaml", "Head")
    assert exactly(answer) == {"fair": Fraction(5, 7), "biased": Fraction(2, 7)}
    assert answer["evidence"] == 0.525
    assert (answer["map"], answer["ml"]) == ("fair", "biased")


@pytest.mark.parametrize("observed", ["{Head: 70, Tail: 30}", f"[{', '.join(['Head'] * 70 + ['Tail'] * 30)}]"])
def test_seventy_heads_in_a_hundred_show_the_bias(folder: Path, observed: str) -> None:
    (folder / "many.yaml").write_text(FILES["coin.yaml"] + f"observations: {observed}\n")
    answer = found("many.yaml")
    fair, biased = (each["posterior"] for each in answer["hypotheses"])
    assert fair == pytest.approx(0.0068981, abs=5e-8)
    assert biased == pytest.approx(0.9931019, abs=5e-8)
    assert answer["observations"] == 100


def test_equal_priors_lean_to_the_bias_after_one_head() -> None:
    assert exactly(found("equal.yaml", "Head")) == {"fair": Fraction(5, 11), "biased": Fraction(6, 11)}


def test_the_most_probable_hypothesis_is_outvoted() -> None:
    answer = found("voters.yaml")
    assert answer["next"] == {"+": 0.4, "-": 0.6}
    assert (answer["map"], answer["bayes_optimal"], answer["ml"]) == ("h1", "-", None)
    assert "the Bayes-optimal answer is -" in told("voters.yaml", "--predict")


def test_an_orange_comes_from_the_red_box() -> None:
    assert exactly(found("boxes.yaml", "orange")) == {"red": Fraction(10, 13), "white": Fraction(3, 13)}
    assert "red 10/13 = 0.769231" in told("boxes.yaml", "orange")


def test_the_arithmetic_and_the_trace_are_printed(folder: Path) -> None:
    text = told("coin.yaml", "Head", "Head", "Tail", "--trace")
    assert "3     Tail         0.722543  0.277457" in text
    assert "(3/5)^2  = 0.36" in text
    assert "most probable (MAP): fair" in text
    (folder / "seen.yaml").write_text(FILES["coin.yaml"] + "observations: {Head: 1, Tail: 2}\n")
    trace = found("seen.yaml", "--trace")["trace"]
    assert [(step["observation"], step["times"]) for step in trace] == [
        *((None, 0), ("Tail", 1), ("Head", 1), ("Tail", 1))  # evenly mixed
    ]
    assert trace[2]["P(fair)"] == pytest.approx(25 / 33)


def test_json_is_yaml(folder: Path) -> None:
    given = {
        "priors": {"fair": "3/4", "biased": 0.25},
        "likelihoods": {"fair": {"Head": 0.5, "Tail": 0.5}, "biased": {"Head": 0.6, "Tail": 0.4}},
        "observations": {"Head": 3},
    }
    (folder / "coin.json").write_text(json.dumps(given))
    assert exactly(found("coin.json", "Tail")) == exactly(found("coin.yaml", "Head", "Head", "Head", "Tail"))


def test_yes_is_a_word(folder: Path) -> None:
    (folder / "w.yaml").write_text("likelihoods: {a: {yes: 1, no: 3}, b: {yes: 1, no: 1}}\nnormalise: true\n")
    assert exactly(found("w.yaml", "yes")) == {"a": Fraction(1, 3), "b": Fraction(2, 3)}


def test_observations_come_from_a_column_of_a_file(folder: Path) -> None:
    (folder / "tosses.csv").write_text("toss,who\nHead,a\nHead,b\n,a\nTail,c\n")
    assert found("coin.yaml", "--data", "tosses.csv", "--column", "toss") == found("coin.yaml", "Head", "Head", "Tail")
    piped = found("coin.yaml", "--data", "-", "--column", "toss", input="toss\nHead\nTail\n")
    assert piped == found("coin.yaml", "Head", "Tail")
    (folder / "digits.yaml").write_text("likelihoods: {a: {1: 1/2, 2: 1/2}, b: {1: 3/4, 2: 1/4}}")
    (folder / "digits.csv").write_text("seen\n1\n2\n1\n")
    assert found("digits.yaml", "--data", "digits.csv")["observations"] == 3
    assert "did you mean 'toss'" in refused("coin.yaml", "--data", "tosses.csv", "--column", "tos")
    assert "name the column that holds the observations" in refused("coin.yaml", "--data", "tosses.csv")


def test_the_beliefs_are_drawn(folder: Path) -> None:
    told("coin.yaml", "Head", "--plot", "beliefs.svg")
    assert "<svg" in (folder / "beliefs.svg").read_text()
    assert "has none of the endings" in refused("coin.yaml", "Head", "--plot", "beliefs.doc", code=2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{priors: {a: 3/4}, likelihoods: {a: {x: 1}}}", "the priors sum to 3/4; they must sum to 1"),
        ("likelihoods: {a: {x: 1/2, y: 1/3}}", "sum to 5/6; they must sum to 1"),
        ("likelihoods: {a: {x: half}}", "which is no number"),
        ("likelihoods: {a: {x: 1/0}}", "which is no number"),
        ("likelihoods: {a: {x: 1e9999}}", "which is no number"),
        ("likelihoods: {a: {x: 1, x: 0}}", "the name 'x' stands twice"),
        ("likelihoods: {a: {x: 1}}\nobservations: {x: often}", "'often' times"),
        ("", "found no mapping"),
        ("likelihood: {a: {x: 1}}", "'likelihood'; did you mean 'likelihoods'"),
        ("{priors: ", "line 2, column 1: this is no sound YAML"),
    ],
)
def test_what_cannot_be_believed_is_one_sentence(text: str, said: str, folder: Path) -> None:
    (folder / "odd.yaml").write_text(text)
    error = refused("odd.yaml")
    assert said in error
    assert error.startswith("Error: odd.yaml")
    assert error.count("\n") == 1


def test_what_is_not_known_is_refused() -> None:
    assert "did you mean 'Head'" in refused("coin.yaml", "Haed")
    assert "there is no such file" in refused("nope.yaml")
    assert "Usage:" in refused("coin.yaml", "--column", "toss", code=2)
