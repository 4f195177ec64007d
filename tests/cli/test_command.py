"""The command: help, version, and what it does not know."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyarrow import csv

import ingenuo
from ingenuo.cli import COMMANDS, main
from ingenuo.datasets import play_tennis
from ingenuo.errors import InputError


def test_help_lists_the_commands() -> None:
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    assert "demo" in done.output


def test_version_is_the_packages() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"ingenuo, version {ingenuo.__version__}\n"


def test_python_runs_the_command_too() -> None:
    done = subprocess.run([sys.executable, "-m", "ingenuo", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ingenuo, version {ingenuo.__version__}\n"


def test_an_unknown_command_is_an_error() -> None:
    done = CliRunner().invoke(main, ["demmo"])
    assert done.exit_code == 2
    assert "No such command 'demmo'" in done.output


def test_another_seed_holds_out_other_patients() -> None:
    one, other = (CliRunner().invoke(main, ["demo", "--seed", seed]).output for seed in ("0", "1"))
    assert "Accuracy on 142 others" in one
    assert one != other


# Imports are what a command waits for: errors of usage need none of the large packages, small files few.

RUN = """
import json, sys
from ingenuo.cli import main

for line in json.loads(sys.argv[1]):
    sys.argv = ["ingenuo", *line]
    try:
        main()
    except SystemExit as end:
        code = end.code
    large = {"numpy", "pyarrow", "scipy", "sklearn", "pandas", "matplotlib", "rich", "yaml"} & set(sys.modules)
    print(json.dumps([line, code, sorted(large)]), file=sys.stderr)
"""


def imported(lines: list[list[str]], folder: Path) -> list[tuple[list[str], int, set[str]]]:
    """Commands that are run one after the other, their exit codes, and the large packages imported so far."""
    call = [sys.executable, "-c", RUN, json.dumps(lines)]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=folder)
    found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[[")]
    assert len(found) == len(lines), done.stderr
    return [(line, code, set(large)) for line, code, large in found]


def test_errors_of_usage_come_before_the_imports(tmp_path: Path) -> None:
    play_tennis_to(tmp_path)
    unknown = [[command, "--nothing"] for command in COMMANDS if command != "network"]
    network = [["network", command, "--nothing"] for command in ("learn", "query", "draw", "convert")]
    missing = [["predict", "m.ingenuo", "days.csv"], ["explain", "days.csv", "nothing.csv"], ["inspect", "nothing"]]
    wrong = [
        ["trian"],
        ["train", "nothing.csv"],
        ["train", "days.csv", "-o", "no/folder/m.ingenuo"],
        ["train", "days.csv", "days.csv"],
        ["train", "days.csv", "--scheduler", "a", "--master", "b"],
        ["evaluate", "days.csv", "days.csv", "--plot", "picture.gif"],
        ["compare", "days.csv", "--model", "naive-bayes"],
        ["explain", "days.csv"],
        ["audit", "days.csv", "days.csv"],
    ]
    for line, code, large in imported([*unknown, *network, *missing, *wrong], tmp_path):
        assert code in (1, 2), line
        assert not large, (line, large)


def test_small_files_need_neither_scikit_learn_nor_pandas(tmp_path: Path) -> None:
    play_tennis_to(tmp_path)
    lines = [
        ["train", "days.csv", "--target", "Play", "-o", "vote.ingenuo"],
        ["predict", "vote.ingenuo", "days.csv"],
        ["train", "days.csv", "--target", "Play", "--model", "naive-bayes"],
        ["train", "days.csv", "--target", "Play", "-o", "judged.ingenuo", "--folds", "3", "--model", "naive-bayes"],
        ["predict", "days.ingenuo", "days.csv"],
        ["explain", "days.ingenuo", "days.csv", "--rows", "1-3"],
        ["inspect", "days.ingenuo"],
        ["evaluate", "days.ingenuo", "days.csv"],
        ["audit", "days.ingenuo", "days.csv", "--protected", "Wind"],
        ["card", "days.ingenuo", "days.csv"],
        ["update", "days.ingenuo", "days.csv"],
        ["forget", "days.ingenuo", "days.csv"],
        ["merge", "days.ingenuo", "judged.ingenuo", "-o", "both.ingenuo"],
        ["generate", "days.ingenuo"],
        ["compare", "days.csv", "--target", "Play", "--model", "naive-bayes", "--model", "softmax", "--folds", "3"],
    ]
    for line, code, large in imported(lines, tmp_path):
        assert code == 0, line
        assert not large & {"sklearn", "pandas", "matplotlib", "rich"}, (line, large)


def play_tennis_to(folder: Path) -> None:
    csv.write_csv(play_tennis(), folder / "days.csv")


@pytest.mark.parametrize(
    ("rows", "options", "python", "command"),
    [
        ("a,y\n" + "1,p\n2,q\n" * 9_000 + "old,p\n", [], ["missing=['old']", "columns={'a': 'category'}"],
         ["--missing 'old'", "--column a=category"]),
        ("a,b\n1,2\n2,3\n", [], ["y='COLUMN'"], ["--target COLUMN"]),
        ("a,y\n" + "".join(f"a long text of {n} words and more of them,{'pq'[n % 2]}\n" for n in range(40)),
         ["--model", "network"], ["columns={'a': 'ignore'}", "NaiveBayes"],
         ["--column a=ignore", "--model naive-bayes"]),
    ],
    ids=["no number", "no target", "text in a network"],
)  # fmt: skip
def test_remedies_are_named_as_they_are_given(
    rows: str, options: list[str], python: list[str], command: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(rows)
    target = ["--target", "y"] if "y" in rows.split("\n")[0] else []
    done = CliRunner().invoke(main, ["train", str(path), *target, "-o", str(tmp_path / "m"), *options])
    assert all(each in done.stderr for each in command), done.stderr
    assert not any(each in done.stderr for each in python)
    model = ingenuo.NetworkClassifier() if "network" in options else ingenuo.NaiveBayes()
    with pytest.raises(InputError) as error:
        model.fit(ingenuo.scan(path), "y" if target else None)
    assert all(each in str(error.value) for each in python)
    assert not any(each in str(error.value) for each in command)
