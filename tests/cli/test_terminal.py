"""What reaches a terminal: nothing that it would obey, whatever names and values hold; colours and progress of ours."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ingenuo.cli import COMMANDS, main
from ingenuo.errors import visible

ESCAPE = "\x1b]0;pwned\x07"
HOSTILE = f"x{ESCAPE}\x1b[2J\x9b1m\u202eevil\u2066\rend"  # a title, a cleared screen, letters that run backwards
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
FILE = f"rows{ESCAPE}.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables whose names, values and classes are hostile, models of them, and a file of hypotheses."""
    place = tmp_path_factory.mktemp("hostile")
    value, label, name = f"v{HOSTILE}", f"c{HOSTILE}", f"n{HOSTILE}"
    rows = [[name, "number", "words", label], *([value, n, f"some {ESCAPE} words of {n}", label] for n in range(20))]
    rows += [["other", n + 7.5, f"more words {n}", "another"] for n in range(20)]
    for file in (FILE, "rows.csv"):
        with open(place / file, "w", newline="") as out:
            csv.writer(out).writerows(rows)
    (place / "coin.yaml").write_text(
        json.dumps({"likelihoods": {f"h{ESCAPE}": {f"o{ESCAPE}": 0.5, "t": 0.5}, "g": {f"o{ESCAPE}": 0.1, "t": 0.9}}})
    )
    here = os.getcwd()
    os.chdir(place)
    try:
        for arguments in (
            ["train", FILE, "--target", label, "-o", f"m{ESCAPE}.ingenuo"],
            ["train", FILE, "--target", label, "--column", "words=text", "-o", "m.ingenuo"],
            ["train", "rows.csv", "--target", label, "--ignore", "words", "-o", "table.ingenuo"],
            ["network", "learn", "rows.csv", "--column", "words=ignore", "-o", "net.ingenuo"],
        ):
            done = CliRunner().invoke(main, arguments)
            assert done.exit_code == 0, done.output
            assert not OBEYED.search(done.stdout + done.stderr)
    finally:
        os.chdir(here)
    return place


RUNS = [
    "audit table.ingenuo FILE --protected NAME --target LABEL",
    "believe coin.yaml OBSERVED t --trace --predict",
    "believe coin.yaml nothingESC",
    "card m.ingenuo FILE",
    "compare FILE --target LABEL --model naive-bayes --model softmax --folds 2",
    "completion bash",
    "demo",
    "evaluate m.ingenuo FILE",
    "evaluate m.ingenuo FILE --json",
    "explain m.ingenuo FILE --rows 1,2",
    "explain m.ingenuo FILE --json",
    "explain m.ingenuo --row 'nothingESC=1'",
    "forget m.ingenuo FILE -o lessESC.ingenuo",
    "forget m.ingenuo noneESC.csv",
    "generate table.ingenuo",
    "generate table.ingenuo --class noneESC",
    "inspect MODEL",
    "inspect m.ingenuo --json",
    "inspect table.ingenuo --column NAME",
    "inspect table.ingenuo --column noneESC",
    "merge m.ingenuo MODEL -o both.ingenuo",
    "merge m.ingenuo m.ingenuo -o bothESC.ingenuo",
    "network query net.ingenuo NAME",
    "network query net.ingenuo noneESC",
    "predict m.ingenuo FILE",
    "predict m.ingenuo FILE --to jsonl --all --reasons 2",
    "predict m.ingenuo FILE -o outESC.csv",
    "predict noneESC.ingenuo FILE",
    "report m.ingenuo FILE -o pageESC.html",
    "train FILE --target noneESC",
    "train FILE --target LABEL --model noneESC",
    "train FILE --target LABEL --column NAME=ESC",
    "train FILE --dry-run --weight wESC",
    "train FILE --target LABEL --folds 3 -o foldsESC.ingenuo --debug",
    "train ESC",
    "update m.ingenuo FILE -o moreESC.ingenuo",
    "ESC",
    "train --ESC",
]


@pytest.mark.parametrize("line", RUNS)
def test_nothing_that_a_terminal_obeys_is_printed(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names = {"FILE": FILE, "MODEL": f"m{ESCAPE}.ingenuo", "OBSERVED": f"o{ESCAPE}", "ESC": ESCAPE}
    names |= {"NAME": f"n{HOSTILE}", "LABEL": f"c{HOSTILE}"}
    arguments = [re.sub("FILE|MODEL|OBSERVED|NAME|LABEL|ESC", lambda found: names[found[0]], each.strip("'"))
                 for each in line.split()]  # fmt: skip
    done = CliRunner().invoke(main, arguments)
    refused = re.search("noneESC|nothingESC|=ESC|train ESC|^ESC|--ESC", line)
    assert (done.exit_code in (1, 2)) if refused else done.exit_code == 0, done.output
    assert not refused or r"\x1b" in done.stderr or r"\u001b" in done.stderr
    assert "this should not have happened" not in done.stderr
    found = OBEYED.search(done.stdout + done.stderr)
    assert not found, repr((done.stdout + done.stderr)[max(0, found.start() - 60) : found.end() + 20])


def test_every_command_is_tried() -> None:
    assert set(COMMANDS) <= {line.split()[0] for line in RUNS}


def test_json_is_the_same_data(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(main, ["evaluate", "m.ingenuo", FILE, "--json"])
    assert f"c{HOSTILE}" in json.loads(done.stdout)["classes"]


def test_data_that_is_written_keeps_its_values(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    runs = {where: CliRunner().invoke(main, ["predict", "m.ingenuo", FILE, *where.split()])
            for where in ("-o kept.csv", "-o -", "", "--to parquet")}  # fmt: skip
    written = Path("kept.csv").read_bytes()
    assert f"v{HOSTILE}" in written.decode()
    assert runs["-o -"].stdout_bytes == written
    assert runs[""].stdout_bytes == visible(written.decode()).encode()
    assert "-o - writes the values as they are" in runs[""].stderr
    assert runs["--to parquet"].stdout_bytes.startswith(b"PAR1")


@pytest.mark.parametrize("text", ["שלום \u200f!", "नमस्\u200dते", "a\tb\n", "naïve – “quoted”", "👩\u200d🚀"])
def test_letters_of_all_languages_are_printed_as_they_are(text: str) -> None:
    assert visible(text) == text
