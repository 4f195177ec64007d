"""`ingenuo predict`: the answers of a model beside the rows of a file."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ingenuo.cli import options

_FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")


@click.command("predict", short_help="Append the answers of a model to the rows of a file.")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option("-o", "--output", metavar="FILE", help="Where to write the rows  [standard output]")
@click.option("--to", type=click.Choice(_FORMATS), help="What to write  [by the name of the output, else csv]")
@click.option("--all", "all_classes", is_flag=True, help="The probability of every class (quantiles of a regressor).")
@click.option(
    "--reasons", type=click.IntRange(min=0), default=0, metavar="N", help="What decided each answer: the N strongest."
)
@click.option("--only", is_flag=True, help="Write the answers alone, without the rows.")
@options.reading
@options.common
def command(model: str, files: tuple[str, ...], output: str | None, **given: Any) -> None:
    """Append the most probable class and its probability to each row of FILEs.

    Rows are read, answered and written a part at a time, each value as it was read. Columns that the model does not
    know, its class among them, are carried along.

    \b
    ingenuo predict mail.ingenuo new.csv -o answers.csv
    ingenuo predict mail.ingenuo new.csv --all --reasons 3 | head
    cat new.csv | ingenuo predict mail.ingenuo - --to jsonl
    """
    options.check_writable(output, [*files, model])
    options.check_inputs(model, *files)
    from ingenuo.cli.options import watched
    from ingenuo.cli.work.answer import Wanted, answered
    from ingenuo.rows.files import write
    from ingenuo.rows.streams import rows_for

    kind = write.format_of(output, given["to"])
    loaded = options.load(model)
    rows = rows_for(loaded, options.open_files(files, given, keep_all=True), labelled=False, others=not given["only"])
    wanted = Wanted(given["all_classes"], given["reasons"])
    with watched(rows, "answering"):
        tables = answered(loaded, rows, wanted, only=given["only"])
        pieces = write.write(tables, kind)
        if output is None or output == "-":
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return
        from ingenuo.tally.container import replace_file

        replace_file(os.path.realpath(output), write.pack(pieces, output))
    options.say(f"written to {output} ({os.path.getsize(output):,} bytes)")
