"""The unit file and the Dockerfile of `deploy/`: checked by systemd itself, and by what linters of Dockerfiles ask."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import click
import pytest
from tests.wheels import build_wheel

from ingenuo.cli.commands.serve import serve
from ingenuo.kernels import NAME
from ingenuo.serve.server import FINISH

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "ingenuo.service"
pytestmark = pytest.mark.skipif(not DEPLOY.exists(), reason="an installed package has no deploy/")


def option(name: str) -> click.Parameter:
    return next(each for each in serve.params if each.name == name)


# systemd.


@pytest.fixture
def unit() -> configparser.SectionProxy:
    found = configparser.RawConfigParser(strict=False)
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read_string(UNIT.read_text())
    return found["Service"]


def systemd(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What systemd-analyze says of the unit, whose program is Python where the virtual environment is not there."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not installed")
    path = tmp_path / UNIT.name
    path.write_text(UNIT.read_text().replace("/opt/ingenuo/bin/ingenuo", sys.executable))
    return subprocess.run([analyze, *words, str(path)], capture_output=True, text=True)


def test_systemd_takes_every_line_of_the_unit(tmp_path: Path) -> None:
    done = systemd(tmp_path, "verify", "--man=no")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_systemd_finds_the_unit_well_confined(tmp_path: Path) -> None:
    done = systemd(tmp_path, "security", "--offline=yes", "--threshold=20")  # 2.0 of 10; most services have 9
    assert done.returncode == 0, done.stdout[-200:] + done.stderr


def test_the_unit_starts_a_server_as_the_command_has_it(unit: configparser.SectionProxy) -> None:
    program, command, *words = shlex.split(unit["ExecStart"])
    assert (program, command) == ("/opt/ingenuo/bin/ingenuo", "serve")
    given = serve.make_context("serve", list(words)).params
    assert given["models"] == ("/etc/ingenuo/model.ingenuo",)
    assert given["host"] == "127.0.0.1"
    assert given["learn"]
    assert given["journal"] == "${STATE_DIRECTORY}"
    assert given["token_file"] == "${CREDENTIALS_DIRECTORY}/tokens"
    assert unit["LoadCredential"].startswith("tokens:/")
    assert unit["StateDirectory"] == "ingenuo"


def test_the_unit_waits_as_long_as_the_end_may_take(unit: configparser.SectionProxy) -> None:
    drain = option("drain").default
    assert isinstance(drain, float)
    assert drain + FINISH + 10 <= float(unit["TimeoutStopSec"])
    assert unit["KillMode"] == "mixed"  # the server ends its processes itself, in their order
    assert unit["ExecReload"] == "/bin/kill -HUP $MAINPID"
    assert unit["Type"] == "notify"


# Docker.


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, with their words."""
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(each.split(None, 1)[0], each.split(None, 1)[1]) for each in lines if each.strip()]


def stages() -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    for what, words in instructions():
        if what == "FROM":
            found.append([])
        found[-1].append((what, words))
    return found


def words_of(stage: list[tuple[str, str]], what: str) -> list[str]:
    return [words for each, words in stage if each == what]


KNOWN = {
    "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT",
    "CMD",
}  # fmt: skip


def test_the_image_has_two_stages_of_named_versions() -> None:
    assert {what for what, _ in instructions()} <= KNOWN
    build, image = stages()
    for stage in (build, image):
        (base,) = words_of(stage, "FROM")
        tag = base.split()[0].partition(":")[2]
        assert re.fullmatch(r"3\.\d+(-[a-z]+)+", tag), base  # a version, and not the latest
    assert words_of(build, "FROM")[0].split()[1:] == ["AS", "build"]
    assert "-slim" in words_of(image, "FROM")[0]
    python = words_of(build, "FROM")[0].split()[0].partition("-")[0]
    assert words_of(image, "FROM")[0].startswith(python)  # the environment that is copied is of this Python
    assert words_of(image, "COPY") == ["--from=build /opt/ingenuo /opt/ingenuo"]  # no sources, no compiler
    assert "AS" not in words_of(image, "FROM")[0].split()


def test_nothing_of_what_built_the_image_is_left_in_it() -> None:
    for stage in stages():
        for run in words_of(stage, "RUN"):
            for call in re.findall(r"pip (?:install|wheel)[^&]*", run):
                assert "--no-cache-dir" in call
            assert not re.search(r"\b(sudo|curl|wget|apt-get|cd)\b|[|;]", run)  # which need pins, pipefail or WORKDIR
        assert all(path.startswith("/") for path in words_of(stage, "WORKDIR"))


def test_the_image_runs_as_nobody_in_particular() -> None:
    image = stages()[1]
    (user,) = words_of(image, "USER")
    assert user.isdecimal()  # by its number Kubernetes sees that it is not root
    assert int(user) > 1000
    assert f"--uid {user}" in " ".join(words_of(image, "RUN"))
    after = image[[what for what, _ in image].index("USER") :]
    assert not [what for what, _ in after if what in ("RUN", "COPY", "ADD")]


def test_the_image_begins_a_server_that_asks_for_tokens() -> None:
    image = stages()[1]
    (entry,), (words,) = words_of(image, "ENTRYPOINT"), words_of(image, "CMD")
    assert json.loads(entry) == ["ingenuo", "serve"]
    given = serve.make_context("serve", json.loads(words)).params
    assert (given["host"], given["token_file"]) == ("0.0.0.0", "/tokens/tokens.txt")
    (port,) = words_of(image, "EXPOSE")
    assert given["port"] == option("port").default == int(port)
    assert words_of(image, "STOPSIGNAL") == ["SIGTERM"]
    assert "/journal" in json.loads(words_of(image, "VOLUME")[0])
    assert not re.search(r"token|secret|password", " ".join(words_of(image, "ENV") + words_of(image, "RUN")), re.I)


def health_command(port: int) -> list[str]:
    """What the image asks by Python whether it is ready, at another port."""
    (words,) = words_of(stages()[1], "HEALTHCHECK")
    program, *rest = json.loads(words.partition("CMD ")[2])
    assert program == "python"
    own = f"127.0.0.1:{option('port').default}/v2/health/ready"
    assert own in rest[1]
    return [sys.executable, *(each.replace(own, f"127.0.0.1:{port}/v2/health/ready") for each in rest)]


def test_the_image_is_not_healthy_where_nothing_answers() -> None:  # where something does: tests/serve/test_process.py
    (words,) = words_of(stages()[1], "HEALTHCHECK")
    options = {each.partition("=")[0] for each in words.partition("CMD ")[0].split()}
    assert options == {"--interval", "--timeout", "--start-period"}
    assert subprocess.run(health_command(9), capture_output=True).returncode != 0


def test_every_path_that_is_copied_is_there_and_in_the_sdist() -> None:
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"][
        "include"
    ]
    assert "deploy" in included
    copied = copied_paths()
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert copied
    for path in copied:
        assert (ROOT / path).exists(), path
        assert path in {*included, "pyproject.toml"}
        assert f"!{path}" in ignored


def copied_paths() -> list[str]:
    return [path for words in words_of(stages()[0], "COPY") for path in words.split()[:-1]]


def test_what_is_copied_is_all_that_a_wheel_is_built_from(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    sources = tmp_path / "sources"
    for path in copied_paths():
        whole = ROOT / path
        if whole.is_dir():
            shutil.copytree(whole, sources / path, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            sources.mkdir(exist_ok=True)
            shutil.copy(whole, sources / path)
    wheel = build_wheel(sources, tmp_path)
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert len(names) == len(set(names))
    assert {f"ingenuo/{NAME}", "ingenuo/serve/app.py", "ingenuo/page/app.mjs"} <= set(names)
