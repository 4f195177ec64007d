"""`ingenuo report`: one page about a model and how good it is."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.commands.audit import asked


@click.command("report", short_help="Write one page about a model and how good it is.")
@click.argument("model", type=click.Path(), metavar="MODEL")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o", "--output", type=click.Path(), required=True, metavar="PAGE", help="Where to write it; - is standard output."
)
@options.target
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@asked
@click.option(
    "--max-rows", type=click.IntRange(min=1), default=100_000, show_default=True, help="Of more rows so many are drawn."
)
@options.reading
@options.seed
@options.common
def command(model: str, files: tuple[str, ...], output: str, target: str | None, **given: Any) -> None:
    """Write a page about MODEL, judged by the rows of FILEs, which it should not have learned.

    PAGE is one HTML file that needs nothing else: the data, the schema, how good the model is, what it goes by, rows
    that it got right and wrong with the arithmetic, the audits that were asked for, and how to have it all again.

    \b
    ingenuo report patients.ingenuo test.csv -o report.html
    ingenuo report income.ingenuo test.csv -o report.html --protected sex --title 'Who earns more?'
    ingenuo report mail.ingenuo test.csv -o report.html --templates english
    """
    options.check_writable(output, [*files, model])
    options.check_inputs(model, *files)
    from ingenuo.cli.work.change import learned_already
    from ingenuo.cli.work.judge import audits_of
    from ingenuo.report.page import report
    from ingenuo.rows.streams import rows_for

    loaded = options.load_model(model)
    rows = options.open_files(files, given)
    own = rows_for(loaded, rows, target)
    audited = []
    if given["protected"] or given["templates"]:
        of = rows if given["protected"] else None
        audited = audits_of(
            loaded, of, target, protected=given["protected"], templates=given["templates"], seed=given["seed"]
        )
    seen = learned_already(options.about(model), rows)
    if seen:
        options.say(f"note: {seen}")
    page = report(
        loaded,
        own,
        own.target,
        notes=[f"{seen}."] if seen else [],
        about=options.about(model),
        title=given["title"],
        audit=audited or None,
        seed=given["seed"],
        max_rows=given["max_rows"],
    )
    options.write_text(page, output)
