"""Every snippet in README and docs is run, and its output compared; every command is run or is what CI runs."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.public_data import public_data
from click.testing import CliRunner

from ingenuo.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Public files that a page asks its reader for.
DATA = {"sentiment.md": ("text/rt-polarity.all.gz", "lexicons/AFINN-en-165.txt")}
# Pages that need what may not be there.
JAVA = ("spark.md",)
NODE = ("exports.md",)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _typed(text: str) -> None:
    """Commands after $, each with what it prints; a line … stands for any lines."""
    for typed in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, wanted = re.sub(r"\\\n\s*", "", typed).partition("\n")
        arguments = shlex.split(command)
        assert arguments[0] == "ingenuo", command
        found = _lines(CliRunner().invoke(main, arguments[1:], prog_name="ingenuo").output)
        pattern = "".join(r"(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in _lines(wanted))
        shown = "".join(f"{line}\n" for line in found)
        assert re.fullmatch(pattern, shown), f"$ {command}\n{shown}"


def run_snippets(page: Path) -> int:
    """Run the snippets of a page in this folder and compare what they print; how many were compared."""
    names: dict[str, object] = {}
    printed = ""
    compared = 0
    for kind, text in _blocks(page):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, f"{page.name}", "exec"), names)
            printed = out.getvalue()
        elif kind == "console":
            _typed(text)
            compared += 1
        elif kind == "text":
            assert _lines(printed) == _lines(text)
            compared += 1
    return compared


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run_and_print_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in DATA.get(page.name, ()):
        found = public_data(name)
        if found is None:
            pytest.skip(f"the page needs the public file {name}; set INGENUO_DATA to the folder that has it")
        (tmp_path / found.name).symlink_to(found)
    if page.name in JAVA and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("the page starts Spark, which needs Java 17 or later, and there is no Java here")
    if page.name in NODE and shutil.which("node") is None:
        pytest.skip("the page runs JavaScript in node, and there is none here")
    assert run_snippets(page) >= 1


def test_readme_commands_are_the_ones_that_are_run() -> None:
    commands = [text.strip() for kind, text in _blocks(ROOT / "README.md") if kind == "sh"]
    assert commands == ["pip install . && ingenuo demo", "pip install '.[test]' && pytest"]
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_contributing_commands_are_the_ones_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (text,) = [text for kind, text in _blocks(ROOT / "CONTRIBUTING.md") if kind == "sh"]
    for command in re.split(r"\n|&&", text):
        wanted = command.strip().replace("pip install -e", "pip install --quiet")
        if wanted:
            assert wanted in script


def test_demo_shows_accuracy_arithmetic_forgetting_and_merging() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from ingenuo.cli import main; main()", "demo"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=True,
    )
    assert "÷ their sum                = 0.795417          = 0.204583" in done.stdout
    assert re.search(r"Accuracy on 142 others: 0\.[67]\d\d", done.stdout)
    assert done.stdout.count("bit for bit") == 3
    assert "NO" not in done.stdout
    assert done.stdout.count(": yes.") == 3
