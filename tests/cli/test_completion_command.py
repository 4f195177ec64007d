"""`ingenuo completion`: what a shell asks of it is answered, and only the command that is typed is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from ingenuo.cli import COMMANDS, main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert f"_INGENUO_COMPLETE={shell}_complete" in done.stdout


def test_another_shell_is_a_wrong_use() -> None:
    assert CliRunner().invoke(main, ["completion", "csh"]).exit_code == 2


def completed(words: str) -> list[str]:
    """What bash is told to offer for the last of some words."""
    asked = {"_INGENUO_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = CliRunner().invoke(main, [], env=asked, prog_name="ingenuo")
    return done.output.splitlines()


def test_commands_complete() -> None:
    assert completed("ingenuo ex") == ["plain,explain", "plain,export"]
    assert {line.removeprefix("plain,") for line in completed("ingenuo ")} == set(COMMANDS)


def test_options_and_choices_complete() -> None:
    assert completed("ingenuo explain --ro") == ["plain,--row", "plain,--rows"]
    assert completed("ingenuo explain m.ingenuo --to h") == ["plain,html"]


def test_files_are_left_to_the_shell() -> None:
    assert completed("ingenuo explain mod") == ["file,mod"]


def test_completing_imports_nothing_heavy() -> None:
    code = (
        "import os, sys\n"
        "os.environ.update(_INGENUO_COMPLETE='bash_complete', COMP_WORDS='ingenuo believe --', COMP_CWORD='2')\n"
        "from ingenuo.cli import main\n"
        "try:\n    main(prog_name='ingenuo')\n"
        "finally:\n    heavy = {'numpy', 'pyarrow', 'sklearn', 'numba', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "    own = {name for name in sys.modules if name.startswith('ingenuo.cli.')}\n"
        "    print(sorted(heavy), sorted(own))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    *offered, last = done.stdout.splitlines()
    assert "plain,--trace" in offered
    assert last == "[] ['ingenuo.cli.commands', 'ingenuo.cli.commands.believe', 'ingenuo.cli.options']"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_its_line(name: str) -> None:
    command = main.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    assert command.short_help == COMMANDS[name]
    assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0
