"""`ingenuo card`: a model card in Markdown."""

from __future__ import annotations

import os
from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.commands.audit import asked


@click.command("card", short_help="Write a model card: data, use, limits, evaluation, audit.")
@click.argument("model", type=click.Path(), metavar="MODEL")
@click.argument("files", type=click.Path(), nargs=-1, metavar="[FILE]...")
@click.option("-o", "--output", type=click.Path(), metavar="CARD", help="Where to write it; - is standard output  [-]")
@options.target
@click.option("--title", metavar="TEXT", help="The name of the model.")
@click.option("--intended-use", metavar="TEXT", help="For what the model was made, and for whom.")
@click.option("--out-of-scope", metavar="TEXT", help="For what it was not made.")
@click.option("--limits", multiple=True, metavar="TEXT", help="What is known of where it fails; may be repeated.")
@click.option("--license", metavar="ID", help="The licence, as hubs call it: mit, cc-by-4.0 …")
@click.option(
    "--language", multiple=True, metavar="CODE", help="The language of its texts: en, it, es …; may be repeated."
)
@click.option("--dataset", "datasets", multiple=True, metavar="ID", help="The data, as hubs call it; may be repeated.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag for hubs; may be repeated.")
@asked
@options.reading
@options.seed
@options.common
def command(model: str, files: tuple[str, ...], output: str | None, target: str | None, **given: Any) -> None:
    """Write the card of MODEL: Markdown, with the metadata at its head that model hubs read.

    With FILEs, rows that the model should not have learned, it is judged by them; else the card has what
    `train --folds` or `--holdout` measured. What nobody said is marked as not stated.

    \b
    ingenuo card patients.ingenuo test.csv -o README.md --license cc-by-4.0 --intended-use 'Teaching.'
    ingenuo card income.ingenuo test.csv -o CARD.md --protected sex --limits 'Figures of 1994.'
    ingenuo card mail.ingenuo --templates english --language en
    """
    if given["protected"] and not files:
        raise click.UsageError("--protected is a column of a FILE; give that too")
    options.check_writable(output, [*files, model])
    options.check_inputs(model, *files)
    from ingenuo.cli.work.change import learned_already
    from ingenuo.cli.work.judge import audits_of
    from ingenuo.evaluation.evaluation import evaluate
    from ingenuo.report.card import card
    from ingenuo.rows.streams import rows_for

    loaded = options.load_model(model)
    judged, rows = None, None
    if files:
        rows = options.open_files(files, given)
        own = rows_for(loaded, rows, target)
        seen = learned_already(options.about(model), rows)
        if seen:
            options.say(f"note: {seen}")
            given["limits"] = (*given["limits"], f"{seen}.")
        judged = evaluate(loaded, own, own.target, random_state=given["seed"])
    audited = []
    if given["protected"] or given["templates"]:
        of = rows if given["protected"] else None
        audited = audits_of(
            loaded, of, target, protected=given["protected"], templates=given["templates"], seed=given["seed"]
        )
    text = card(
        loaded,
        options.about(model),
        judged,
        audited or None,
        intended_use=given["intended_use"],
        out_of_scope=given["out_of_scope"],
        limits=list(given["limits"]) or None,
        license=given["license"],
        language=list(given["language"]) or None,
        datasets=given["datasets"],
        judged_on=[os.path.basename(path) for path in files],
        tags=given["tags"],
        title=given["title"],
        model_file="model.ingenuo" if model == "-" else os.path.basename(model),
    )
    options.write_text(text, output)
