"""The command: help, version, and what it does not know."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner
from pyarrow import csv

import ingenuo
from ingenuo.cli import COMMANDS, main
from ingenuo.datasets import play_tennis


def test_help_lists_the_commands() -> None:
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    assert "demo" in done.output


def test_version_is_the_packages() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"ingenuo, version {ingenuo.__version__}\n"


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
        ["train", "days.csv", "--target", "Play"],
        ["train", "days.csv", "--target", "Play", "-o", "judged.ingenuo", "--folds", "3"],
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
