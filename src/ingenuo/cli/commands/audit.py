"""`ingenuo audit`: does a model treat groups of people otherwise than others?"""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options


def asked(command: options.F) -> options.F:
    """What is audited; `report` and `card` have these options too."""
    for option in reversed(
        (
            click.option(
                "--protected",
                multiple=True,
                metavar="COLUMN",
                help="The column of FILE that says the group of each row; may be repeated, an audit for each.",
            ),
            click.option(
                "--templates",
                multiple=True,
                metavar="NAME|FILE",
                help="Sentences that differ in a name only: english, italian, spanish, or a CSV file with the columns "
                "template, group and term, or with ready sentences; may be repeated.",
            ),
        )
    ):
        command = option(command)
    return command


@click.command("audit", short_help="Look for harms: groups of names in sentences, or groups of rows in a table.")
@click.argument("model", type=click.Path(), metavar="MODEL")
@click.argument("file", type=click.Path(), required=False, metavar="[FILE]")
@asked
@options.target
@click.option(
    "--class",
    "class_",
    metavar="CLASS",
    help="The class whose probability or decision is looked at  [of two the second]",
)
@click.option("--reference", metavar="GROUP", help="The group of rows that the others are compared with  [the largest]")
@click.option(
    "--groups", multiple=True, metavar="KIND", help="Of sentences: which kinds of groups, such as gender  [all]"
)
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL=CLASS", help="Of sentences that have labels: their class."
)
@click.option("--text-column", metavar="COLUMN", help="The column that takes the sentences, where there are several.")
@options.option("--plot", help="Draw it")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How sure the intervals are.")
@options.reading
@options.seed
@options.as_json
@options.common
def command(model: str, file: str | None, **given: Any) -> None:
    """Compare the answers of MODEL to groups of people.

    Of a model of texts, by sentences that differ in a name or an identity term only. With FILE and --protected, by
    rows: decisions, errors and calibration in each group. The model need not know that column.

    \b
    ingenuo audit mail.ingenuo
    ingenuo audit mail.ingenuo --templates italian --class spam
    ingenuo audit income.ingenuo test.csv --protected sex --protected race --class '>50K'
    ingenuo audit income.ingenuo test.csv --protected race --json
    """
    if given["protected"] and file is None:
        raise click.UsageError("--protected is a column of a FILE; give that too")
    if file is not None and not given["protected"]:
        raise click.UsageError("say which column of FILE tells the groups by --protected")
    if given["plot"] and len(given["protected"]) + len(given["templates"]) > 1:
        raise click.UsageError("--plot draws one audit, and these are several; ask for one at a time")
    options.check_inputs(model, file)
    from ingenuo.cli.work.judge import audits_of

    loaded = options.load_model(model)
    found = audits_of(
        loaded,
        None if file is None else options.open_files([file], given),
        given["target"],
        labels=_labels(given["labels"]),
        column=given["text_column"],
        **{
            name: given[name]
            for name in (*("protected", "templates", "groups", "class_", "reference", "confidence", "seed"),)
        },
    )
    if given["plot"]:
        options.write(found[0].plot(), given["plot"])
    if given["as_json"]:
        options.out_json(found[0].to_dict() if len(found) == 1 else [each.to_dict() for each in found])
    else:
        options.out("\n\n".join(map(str, found)))


def _labels(given: tuple[str, ...]) -> dict[str, str] | None:
    found = {}
    for each in given:
        label, equals, class_ = each.rpartition("=")
        if not equals or not label:
            raise click.BadParameter(f"{each!r} is no LABEL=CLASS", param_hint="--label")
        found[label] = class_
    return found or None
