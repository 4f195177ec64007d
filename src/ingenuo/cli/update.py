"""`ingenuo update`: learn more rows."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options


@click.command("update", short_help="Learn more rows.")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@options.target
@click.option("-o", "--output", metavar="MODEL", help="Where to write the model  [MODEL itself]")
@click.option("--weight", metavar="COLUMN", help="The column that says how often each row counts.")
@click.option("--calibrate-with", metavar="FILE", help="Learned rows to calibrate by again  [those that are new]")
@options.reading
@options.as_json
@options.common
def command(model: str, files: tuple[str, ...], target: str | None, output: str | None, **given: Any) -> None:
    """Learn the rows of FILEs besides those that MODEL knows; the result is the same as learning all at once.

    \b
    ingenuo update mail.ingenuo today.csv
    ingenuo update mail.ingenuo today.csv -o newer.ingenuo
    """
    options.change("update", model, files, target, output, given)
