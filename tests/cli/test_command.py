"""The command: help, version, and what it does not know."""

from __future__ import annotations

from click.testing import CliRunner

import ingenuo
from ingenuo.cli import main


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
