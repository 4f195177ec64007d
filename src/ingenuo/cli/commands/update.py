"""`ingenuo update`: learn more rows."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options


@click.command("update", short_help="Learn more rows.")
@options.changing("Learned rows to calibrate by again  [those that are new]")
def command(model: str, files: tuple[str, ...], target: str | None, output: str | None, **given: Any) -> None:
    """Learn the rows of FILEs besides those that MODEL knows; the result is the same as learning all at once.

    \b
    ingenuo update mail.ingenuo today.csv
    ingenuo update mail.ingenuo today.csv -o newer.ingenuo
    """
    options.change("update", model, files, target, output, given)
