"""What reaches a terminal: nothing that it would obey, whatever names and values hold; colours and progress of ours."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from rich.progress import Progress

from ingenuo.cli import COMMANDS, main, options
from ingenuo.errors import visible

PLAIN = ("--model", "naive-bayes")  # whose counts are looked at

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
            ["train", *PLAIN, FILE, "--target", label, "-o", f"m{ESCAPE}.ingenuo"],
            ["train", *PLAIN, FILE, "--target", label, "--column", "words=text", "-o", "m.ingenuo"],
            ["train", *PLAIN, "rows.csv", "--target", label, "--ignore", "words", "-o", "table.ingenuo"],
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
    "drift m.ingenuo FILE",
    "drift m.ingenuo noneESC.csv",
    "evaluate m.ingenuo FILE",
    "evaluate m.ingenuo FILE --json",
    "explain m.ingenuo FILE --rows 1,2",
    "explain m.ingenuo FILE --json",
    "explain m.ingenuo --row 'nothingESC=1'",
    "forget m.ingenuo FILE -o lessESC.ingenuo",
    "forget m.ingenuo noneESC.csv",
    "generate table.ingenuo",
    "generate table.ingenuo --class noneESC",
    "info",
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
    "select FILE --target LABEL",
    "train FILE --target noneESC",
    "train FILE --target LABEL --model noneESC",
    "train FILE --target LABEL --column NAME=ESC",
    "train FILE --dry-run --weight wESC",
    "train FILE --target LABEL --folds 3 -o foldsESC.ingenuo --debug",
    "train ESC",
    "update m.ingenuo FILE -o moreESC.ingenuo",
    "ESC",
    "train --ESC",
    "export m.ingenuo -o pageESC.html --rows FILE",
    "export m.ingenuo -o noneESC.foo",
    "open noneESC.ingenuo --no-browser",
    "serve noneESC.ingenuo",
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


# Colours and progress, in a pseudo-terminal.


def in_terminal(folder: Path, *arguments: str, code: str = "from ingenuo.cli import main; main()", **more: str) -> str:
    """What a terminal is sent by a command, or by other code."""
    program, end = pty.fork()
    if program == 0:
        os.chdir(folder)
        env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", **more}
        os.execve(sys.executable, [sys.executable, "-c", code, *arguments], env)
    sent = b""
    while True:
        try:
            piece = os.read(end, 1 << 16)
        except OSError:  # which is how a pseudo-terminal ends
            break
        if not piece:
            break
        sent += piece
    os.close(end)
    os.waitpid(program, 0)
    return sent.decode()


COLOURED = [
    ["explain", "m.ingenuo", "rows.csv", "--rows", "1"],
    ["evaluate", "m.ingenuo", "rows.csv", "--quiet"],
    ["inspect", "table.ingenuo"],
    ["predict", "nothing.ingenuo", "rows.csv"],
    ["train", *PLAIN, "--nothing"],
]


@pytest.mark.parametrize("arguments", COLOURED, ids=" ".join)
def test_colours_are_for_terminals_that_want_them(arguments: list[str], folder: Path) -> None:
    coloured, without = in_terminal(folder, *arguments), in_terminal(folder, *arguments, NO_COLOR="1")
    assert re.search(r"\x1b\[[0-9;]+m", coloured)
    assert "\x1b" not in without
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == without or arguments[0] == "explain"  # which has signs instead
    assert not OBEYED.search(re.sub(r"\x1b\[[0-9;]*m|\r\n", "", coloured))


WATCHED = """
import sys, time, click
from ingenuo.cli import options
from ingenuo.show.format import Counter

class Rows:
    n_bytes = 1000
    progress = None

with click.Context(click.Command("x"), obj={}):
    rows = Rows()
    with options.watched(rows, "learning"):
        read = rows.progress or (lambda *_: None)  # nobody asks where nothing is shown
        for done in (250, 500):
            time.sleep(0.3)
            read(done, done * 4)
        time.sleep(0.3)
        read(1000, 4000)
        time.sleep(0.3)
        with Counter("fold", 4, None) as counter:
            counter.step()
            time.sleep(0.3)
"""


def test_progress_says_what_is_done_and_has_no_full_bar_that_waits(folder: Path) -> None:
    sent = re.sub(r"\x1b\[[0-9;]*m", "", in_terminal(folder, code=WATCHED, NO_COLOR="1"))
    shown = [line for line in sent.replace("\x1b[2K", "\r").split("\r") if "━" in line]
    assert any(re.search(r"learning .*2,000 rows, [\d,]+ rows/s, 0:0\d left", line) for line in shown)
    assert any(re.search(r"learning .*4,000 rows, [\d,]+ rows/s\s*$", line) for line in shown)
    assert any(re.search(r"fold 1 of 4 .*0:0\d left", line) for line in shown)
    finished = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, check=True, cwd=folder)
    assert finished.stderr == finished.stdout == b""  # a pipe gets none of it


def test_what_is_still_to_do_has_no_bar_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rows:
        n_bytes = 1000
        progress: Any = None

    seen: list[Any] = []
    monkeypatch.setattr(Progress, "update", lambda self, *_, **given: seen.append((self.tasks[0].total, given)))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    rows = Rows()
    with click.Context(click.Command("x"), obj={}), options.watched(rows, "learning"):
        rows.progress(500, 2000)
        rows.progress(1000, 4000)
    assert [total for total, _ in seen] == [1000, None]
    assert rows.progress is None
