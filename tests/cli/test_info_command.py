"""`ingenuo info`: what a bug report needs, whatever is missing or broken, and nothing that is private."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import ingenuo
from ingenuo.cli import main
from ingenuo.cli.commands import info
from ingenuo.kernels import call
from ingenuo.kernels.threads import width

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))


def installation() -> dict:
    done = CliRunner().invoke(main, ["info", "--json"])
    assert done.exit_code == 0
    return json.loads(done.output)


def test_versions_kernels_and_threads_are_those_of_this_process() -> None:
    found = installation()
    assert found["ingenuo"] == ingenuo.__version__
    assert found["python"].startswith(platform.python_version())
    assert found["kernels"]["used"] == next(iter(call.variants))
    assert found["kernels"]["used"] in found["kernels"]["available"]
    assert found["threads"]["used"] == width()


def test_every_package_that_is_needed_is_listed_with_its_version() -> None:
    found = installation()["packages"]
    assert found["numpy"] == __import__("numpy").__version__
    assert {"numpy", "scipy", "scikit-learn", "pyarrow", "click"} <= found.keys()
    assert "pytest" not in found  # which only the tests need


def test_every_extra_for_users_says_what_it_is_for() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"]) - {"test", "dev", "docs"}
    assert extras <= info.EXTRAS.keys()


def test_the_text_shows_an_extra_that_lacks_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = info.metadata.version

    def version(name: str) -> str:
        if name == "duckdb":
            raise info.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(info.metadata, "version", version)
    shown = CliRunner().invoke(main, ["info"]).output.splitlines()
    assert next(line for line in shown if line.startswith("[duckdb]")).endswith("not there, lacks duckdb")
    assert shown[0].split() == ["ingenuo", ingenuo.__version__]


def test_broken_kernels_are_said_and_the_rest_is_shown(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    code = "from ingenuo.cli import main; main(['info'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"INGENUO_KERNELS": str(broken), "PATH": ""}
    )
    assert done.returncode == 0, done.stderr
    assert "kernels" in done.stdout
    assert "cannot be used: KernelError: the compiled kernels of ingenuo cannot be loaded" in done.stdout
    assert "numpy" in done.stdout


def test_only_named_settings_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGENUO_THREADS", "3")
    monkeypatch.setenv("INGENUO_TOKEN", "secret")
    found = installation()
    assert found["settings"]["INGENUO_THREADS"] == "3"
    assert found["threads"]["used"] == 3
    assert "secret" not in json.dumps(found)


def test_it_imports_neither_scikit_learn_nor_arrow() -> None:
    code = (
        "import sys\nfrom ingenuo.cli import main\n"
        "main(['info'], standalone_mode=False)\n"
        "assert not {'sklearn', 'pyarrow', 'scipy', 'matplotlib'} & set(sys.modules), 'heavy'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
