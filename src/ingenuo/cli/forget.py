"""`ingenuo forget`: unlearn rows."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options


@click.command("forget", short_help="Unlearn rows, exactly.")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@options.target
@click.option("-o", "--output", metavar="MODEL", help="Where to write the model  [MODEL itself]")
@click.option("--weight", metavar="COLUMN", help="The column that says how often each row counted.")
@click.option("--calibrate-with", metavar="FILE", help="Rows that are still learned, to calibrate by again.")
@options.reading
@options.as_json
@options.common
def command(model: str, files: tuple[str, ...], target: str | None, output: str | None, **given: Any) -> None:
    """Unlearn the rows of FILEs: MODEL is then, to the last bit, what it would be had it never seen them.

    Rows that were never learned are refused wherever the sums show it, and the model stays as it was.

    \b
    ingenuo forget mail.ingenuo withdrawn.csv
    ingenuo forget mail.ingenuo withdrawn.csv -o without.ingenuo
    """
    options.change("forget", model, files, target, output, given)
