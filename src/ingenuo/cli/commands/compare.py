"""`ingenuo compare`: which of several models is better on a file, and is it luck?"""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options

MEASURES = ("accuracy", "f1_macro", "log_loss", "ece")


@click.command("compare", short_help="Which of several models is better on a file, and is it luck?")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@options.target
@click.option(
    "--model",
    "specs",
    multiple=True,
    metavar="NAME[:SETTING=VALUE,...]",
    help="A model, as of `ingenuo train`, or a file that holds one, whose settings are taken; two at least.",
)
@click.option("--folds", metavar="K", default="10", show_default=True, help="How many folds, or leave-one-out.")
@click.option("--measure", type=click.Choice(MEASURES), default="accuracy", show_default=True, help="Of the --plot.")
@options.option("--plot", help="Draw the measure of each model with its interval")
@click.option("--times/--no-times", default=True, help="Whether to show how long each took  [shown]")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How sure the intervals are.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of the tests.")
@options.reading
@options.seed
@options.as_json
@options.common
def command(files: tuple[str, ...], target: str | None, specs: tuple[str, ...], **given: Any) -> None:
    """Cross-validate several models on the rows of FILEs, the same folds for all, and test their differences.

    \b
    ingenuo compare iris.csv --target species --model naive-bayes --model discriminant --model softmax
    ingenuo compare mail.csv --target label --model naive-bayes --model softmax:l2=0.1,ngrams=2
    ingenuo compare adult.csv --target income --model network:structure=tan --model mine.ingenuo --plot tan.svg
    """
    if len(specs) < 2:
        raise click.UsageError("give two models at least, each by its own --model")
    options.check_inputs(*files)
    from ingenuo.cli.work.judge import as_data, rows_to_compare, several_models
    from ingenuo.evaluation.comparison import compare

    models, declared = several_models(specs, options.kinds(given["columns"], given["ignore"]))
    rows, named, notes = rows_to_compare(models, options.open_files(files, given, target, columns=declared), target)
    for note in notes:
        options.say(note)
    folds = given["folds"]
    found = compare(
        models,
        rows,
        named,
        int(folds) if folds.isdecimal() else folds,
        confidence=given["confidence"],
        alpha=given["alpha"],
        random_state=given["seed"],
    )
    if given["plot"]:
        options.write(found.plot(given["measure"]), given["plot"])
    if given["as_json"]:
        options.out_json(as_data(found))
    else:
        options.out(found.text(times=given["times"]))
