"""The command `ingenuo`: a group whose sub-commands are imported when they are called.

Commands hold no logic: they read their options, call the library and print.
"""

from __future__ import annotations

import importlib
import sys
import warnings

import click

from ingenuo import __version__
from ingenuo.errors import IngenuoError

_COMMANDS = {"demo": "ingenuo.cli.demo", "network": "ingenuo.cli.network"}


class _LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it or show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run it; what the library refuses is one line, and no traceback."""
        try:
            with warnings.catch_warnings():  # which puts the former way of showing them back
                warnings.showwarning = _note  # type: ignore[assignment]
                return super().invoke(ctx)
        except IngenuoError as error:
            raise click.ClickException(str(error)) from None
        except OSError as error:
            name = "" if error.filename is None else f"{error.filename}: "
            raise click.ClickException(f"{name}{error.strerror or error}") from None


def _note(message: Warning | str, *where: object) -> None:
    """A warning as a line on stderr: where in the code it was given says nothing here."""
    click.echo(f"note: {message}", err=True)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ingenuo")
def main() -> None:
    """Classify tables by Bayes' rule, and see the arithmetic behind every answer."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that has no "÷" gets a "?", not a traceback
            stream.reconfigure(errors="replace")
