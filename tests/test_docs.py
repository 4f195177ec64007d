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
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.public_data import public_data
from click.testing import CliRunner

from ingenuo.cli import main

from .serving import serving

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "serve.md")]
# Public files that a page asks its reader for.
DATA = {"sentiment.md": ("text/rt-polarity.all.gz", "lexicons/AFINN-en-165.txt")}
# Pages that need what may not be there.
JAVA = ("spark.md",)
NODE = ("exports.md",)
SERVED = "serve.md"  # whose snippets ask a server
HERE = "127.0.0.1:8080"  # as the page calls its address
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _run(command: str) -> str:
    """What a command of ours prints."""
    arguments = shlex.split(command)
    assert arguments[0] == "ingenuo", command
    return CliRunner().invoke(main, arguments[1:], prog_name="ingenuo").output


def _typed(text: str, run: Callable[[str], str] = _run) -> None:
    """Commands after $, each with what it prints; a line … stands for any lines, and … within one for anything."""
    for typed in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, wanted = re.sub(r"\\\n\s*", "", typed).partition("\n")
        found = _lines(run(command))
        parts = [[re.escape(part) for part in line.split("…")] for line in _lines(wanted)]
        pattern = "".join(r"(?:.*\n)*?" if part == ["", ""] else ".*?".join(part) + "\n" for part in parts)
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


class Terminal:
    """The shell in which a reader types what a page says, and the server that the page starts, at a free port."""

    def __init__(self, stack: ExitStack) -> None:
        self.address, self._server = "", stack.enter_context(ExitStack())
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self._shell = stack.enter_context(
            subprocess.Popen(
                ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                encoding="utf-8", env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
            )
        )  # fmt: skip

    def serve(self, command: str) -> None:
        """Start the server of the page, in the place of the one before."""
        self._server.close()
        self.address = self._server.enter_context(serving(*shlex.split(command)[2:])).removeprefix("http://")

    def here(self, text: str) -> str:
        """A snippet with the address at which the server is."""
        return text.replace(HERE, self.address)

    def run(self, command: str) -> str:
        """What a command prints: ours here, others in the shell."""
        command = self.here(command)
        if command.startswith("ingenuo "):
            return _run(command)
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{command}\nprintf '\\n\\004\\n'\n")
        self._shell.stdin.flush()
        return "".join(iter(self._shell.stdout.readline, "\x04\n"))


def _parse(words: list[str]) -> None:
    """Raise unless a command line of ours is one."""
    command = main.get_command(main.make_context("ingenuo", [words[1]], resilient_parsing=True), words[1])
    assert command is not None, words
    command.make_context(words[1], words[2:])


def test_the_page_on_serving_is_true_of_a_real_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("httpx", reason="the page asks by httpx, which is not installed")
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("the page asks by curl, typed in bash, and one of them is not here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INGENUO_TOKEN", raising=False)
    names: dict[str, object] = {}
    printed, metrics, counts = "", "", dict.fromkeys(("python", "text", "console", "sh", "bash", "yaml"), 0)
    with ExitStack() as stack:
        terminal = Terminal(stack)
        for kind, text in _blocks(ROOT / "docs" / SERVED):
            counts[kind] += 1
            if kind == "python" and (find_spec("tritonclient") is not None or "tritonclient" not in text):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(terminal.here(text), SERVED, "exec"), names)
                printed = out.getvalue()
            elif kind == "text":
                assert _lines(printed) == _lines(text)
            elif kind == "console":
                _typed(text, terminal.run)
            elif kind == "sh" and text.startswith("ingenuo serve "):
                terminal.serve(text)
            elif kind == "sh":
                assert terminal.run(text).strip() == ""
            elif kind == "bash":  # of another machine
                for line in text.splitlines():
                    words = shlex.split(line)
                    assert all((ROOT / word).exists() for word in words if word.startswith("deploy/")), line
                    if words[0] == "ingenuo":
                        _parse(words)
            elif kind == "yaml":
                metrics = metrics or terminal.run(f'curl -s {HERE}/metrics -H "Authorization: Bearer $READ"')
                for each in yaml.safe_load_all(text):
                    YAML[next(key for key in YAML if key in {*each, each.get("kind")})](each, metrics)
    assert all(counts.values())


def _check_runtime(runtime: Any, metrics: str) -> None:
    """The command line of the container is one, and the protocol that of the server."""
    (container,) = runtime["spec"]["containers"]
    _parse([*container["command"], *container["args"]])
    assert container["name"] == "kserve-container"
    assert runtime["spec"]["protocolVersions"] == ["v2"]
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    tokens = container["args"][container["args"].index("--token-file") + 1]
    assert [tokens.startswith(mounted[each["name"]]) for each in runtime["spec"]["volumes"]] == [True]
    port = str(container["ports"][0]["containerPort"])
    assert port == container["args"][container["args"].index("--port") + 1]
    for probe in ("readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in ("/v2/health/ready", "/v2/health/live")
        assert str(container[probe]["httpGet"]["port"]) == port


def _check_service(service: Any, metrics: str) -> None:
    model = service["spec"]["predictor"]["model"]
    assert (model["modelFormat"]["name"], model["protocolVersion"]) == ("ingenuo", "v2")


def _check_scrape(config: Any, metrics: str) -> None:
    (job,) = config["scrape_configs"]
    assert job["static_configs"] == [{"targets": [HERE]}]
    assert "ingenuo_requests_total{" in metrics


def _check_rules(config: Any, metrics: str) -> None:
    (rule,) = config["groups"][0]["rules"]
    names = set(re.findall(r"ingenuo_\w+", rule["expr"]))
    assert names == {"ingenuo_missing_total", "ingenuo_answers_total", "ingenuo_training_share"}
    assert all(f"\n{name}{{" in metrics for name in names)


YAML = {
    "ServingRuntime": _check_runtime, "InferenceService": _check_service, "scrape_configs": _check_scrape,
    "groups": _check_rules,
}  # fmt: skip


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
