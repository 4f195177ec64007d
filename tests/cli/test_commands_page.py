"""The page of the commands shows every command there is."""

from __future__ import annotations

import re
from pathlib import Path

from ingenuo.cli import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")


def test_every_command_is_on_the_page() -> None:
    shown = set(re.findall(r"^(?:\$ )?ingenuo ([a-z]+)", PAGE, re.MULTILINE))
    assert set(COMMANDS) - {"network", "demo"} == shown & set(COMMANDS)
    assert {"network", "demo"} <= set(re.findall(r"`(\w+)`", PAGE))
