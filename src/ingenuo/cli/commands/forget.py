"""`ingenuo forget`: unlearn rows."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options


@click.command("forget", short_help="Unlearn rows, exactly.")
@options.changing("Rows that are still learned, to calibrate by again.")
def command(model: str, files: tuple[str, ...], target: str | None, output: str | None, **given: Any) -> None:
    """Unlearn the rows of FILEs: MODEL is then, to the last bit, what it would be had it never seen them.

    Rows that were never learned are refused wherever the sums show it, and the model stays as it was.

    \b
    ingenuo forget mail.ingenuo withdrawn.csv
    ingenuo forget mail.ingenuo withdrawn.csv -o without.ingenuo
    """
    options.change("forget", model, files, target, output, given)
