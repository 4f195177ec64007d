"""`ingenuo report` and `ingenuo card`: a page about a model and how good it is, and a model card in Markdown."""

from __future__ import annotations

import datetime
import os
from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.options import AUDITED, FILES, MODEL, READING, SEED, TARGET, option

_PAGE = {".html": "html", ".htm": "html"}
_CARD = {".md": "markdown", ".markdown": "markdown", **_PAGE}


@options.command(
    "report",
    MODEL,
    FILES,
    option(
        "-o --output PAGE", "Where to write it, an .html file; - is standard output.", type=click.Path(), required=True
    ),
    TARGET,
    option("--title TEXT", "The heading of the page."),
    AUDITED,
    option("--max-rows", "Of more rows so many are drawn.", type=click.IntRange(min=1), default=100_000),
    option("--language en|it|es", "Of the part that is asked; what is written about it is English.", default="en"),
    READING,
    SEED,
)
def report(model: str, files: tuple[str, ...], output: str, target: str | None, **given: Any) -> None:
    """Write a page about MODEL, judged by the rows of FILEs, which it should not have learned.

    PAGE is one HTML file that needs nothing else: the data, the schema, how good the model is, what it goes by, rows
    that it got right and wrong with the arithmetic, the audits, and how to have it all again. It is the page that
    `ingenuo export` writes, so the model can be asked on it, too.

    \b
    ingenuo report patients.ingenuo test.csv -o report.html
    ingenuo report income.ingenuo test.csv -o report.html --protected sex --title 'Who earns more?'
    ingenuo report mail.ingenuo test.csv -o report.html --templates english
    """
    options.form_of(output, None, _PAGE)
    options.check_writable(output, [*files, model])
    options.check_inputs(model, files=files, given=given)
    from ingenuo.cli.work.judge import open_judged
    from ingenuo.report.page import report

    judged = open_judged(model, files, target, given)
    page = report(
        judged.model,
        judged.rows,
        judged.rows.target,
        notes=judged.limits,
        files=options.shown_names(files, given),
        date=datetime.date.today().isoformat(),
        about=options.about(model),
        title=given["title"],
        audit=judged.audits(given),
        seed=given["seed"],
        max_rows=given["max_rows"],
        language=given["language"],
    )
    options.write(page, output)


@options.command(
    "card",
    MODEL,
    click.argument("files", type=click.Path(), nargs=-1, metavar="[FILE]..."),
    option("-o --output CARD", "Where to write it, an .md or .html file; - is standard output  [-]", type=click.Path()),
    TARGET,
    option("--title TEXT", "The name of the model."),
    option("--intended-use TEXT", "For what the model was made, and for whom."),
    option("--out-of-scope TEXT", "For what it was not made."),
    option("--limits TEXT...", "What is known of where it fails; may be repeated."),
    option("--license ID", "The licence, as hubs call it: mit, cc-by-4.0 …"),
    option("--language CODE...", "The language of its texts: en, it, es …; may be repeated."),
    option("--dataset ID...", "The data, as hubs call it; may be repeated.", "datasets"),
    option("--tag TAG...", "A tag for hubs; may be repeated.", "tags"),
    AUDITED,
    READING,
    SEED,
)
def card(model: str, files: tuple[str, ...], output: str | None, target: str | None, **given: Any) -> None:
    """Write the card of MODEL: Markdown, with the metadata at its head that model hubs read; or a page of HTML.

    With FILEs, rows that the model should not have learned, it is judged by them; else the card has what
    `train --folds` or `--holdout` measured. What nobody said is marked as not stated.

    \b
    ingenuo card patients.ingenuo test.csv -o README.md --license cc-by-4.0 --intended-use 'Teaching.'
    ingenuo card income.ingenuo test.csv -o CARD.md --protected sex --limits 'Figures of 1994.'
    ingenuo card mail.ingenuo --templates english --language en
    """
    if given["protected"] and not files:
        raise click.UsageError("--protected is a column of a FILE; give that too")
    form = options.form_of(output, None, _CARD)
    options.check_writable(output, [*files, model])
    options.check_inputs(model, files=files, given=given)
    from ingenuo.cli.work.judge import open_judged
    from ingenuo.evaluation.evaluation import evaluate
    from ingenuo.report.card import card
    from ingenuo.show.page import page_of_markdown

    judged = open_judged(model, files, target, given)
    rows = judged.rows
    evaluation = None if rows is None else evaluate(judged.model, rows, rows.target, random_state=given["seed"])
    stated = ("title", "intended_use", "out_of_scope", "license", "language", "datasets", "tags")
    text = card(
        judged.model,
        options.about(model),
        evaluation,
        judged.audits(given),
        limits=[*given["limits"], *judged.limits],
        judged_on=options.shown_names(files, given),
        model_file="model.ingenuo" if model == "-" else os.path.basename(model),
        **{name: given[name] for name in stated},
    )
    options.write(text if form == "markdown" else page_of_markdown(text), output)
