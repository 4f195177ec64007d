"""`ingenuo update`, `forget` and `merge`: learn more rows, unlearn rows, add up what several models have learned."""

from __future__ import annotations

import os

import click

from ingenuo.cli import options
from ingenuo.cli.options import FILES, JSON, MINIMUM, MODEL, READING, TARGET, Decorator, Given, option


def _changing(again: str) -> tuple[Decorator, ...]:
    """The options of the commands that change a model; they differ in which rows calibrate it again."""
    return (
        MODEL,
        FILES,
        TARGET,
        option("-o --output MODEL", "Where to write the model  [MODEL itself]"),
        option("--weight COLUMN", "The column that says how often each row counts."),
        option("--calibrate-with FILE", again),
        *READING,
        JSON,
    )


@options.command("update", _changing("Rows that it has learned then, to calibrate by again."))
def update(**given: object) -> None:
    """Add the rows of FILEs to those that MODEL knows; the result is the same as learning all at once.

    \b
    ingenuo update mail.ingenuo today.csv
    ingenuo update mail.ingenuo today.csv -o newer.ingenuo
    """
    _change("update", given)


@options.command(
    "forget",
    _changing("Rows that are still learned, to calibrate by again."),
    option("--force", "Forget FILEs that MODEL has not learned as they are: some rows of those, or from elsewhere."),
)
def forget(**given: object) -> None:
    """Unlearn the rows of FILEs: MODEL is then, to the last bit, what it would be had it never seen them.

    A model of `train --fingerprints` knows each of its rows, and a row that was never learned is refused by name. Any
    other model knows the files it learned, by their contents; other files need --force, and their rows are refused
    wherever the sums show that they were never learned. The old model is kept as MODEL~.

    \b
    ingenuo forget mail.ingenuo monday.csv
    ingenuo forget mail.ingenuo withdrawn.csv --force
    ingenuo forget mail.ingenuo withdrawn.csv --force -o without.ingenuo
    """
    _change("forget", given)


def _change(what: str, given: Given) -> None:
    """Learn or forget the rows of some files, and write the model where it was or elsewhere."""
    path, target, weight, again = (given[name] for name in ("model", "target", "weight", "calibrate_with"))
    output = path if given["output"] is None else given["output"]
    options.check_model_output(output, given["files"], given["as_json"])
    old = f"{output}~" if what == "forget" and os.path.isfile(output) else None
    options.check_model_output(old, given["files"], as_json=False)
    options.check_inputs(path, files=[*given["files"], again], given=given)
    from ingenuo.cli.work.change import change

    model = options.load(path)
    rows = options.open_rows(model, given["files"], given, target, extra=[] if weight is None else [weight])
    calibrating = options.open_rows(model, [again], given, target) if again else None
    with options.watched(rows, "learning" if what == "update" else "forgetting"):
        how = {"weight": weight, "calibrate_with": calibrating, "force": bool(given.get("force"))}
        done = change(what, model, rows, options.about(path), **how)
    options.say(*done.notes)
    if old is not None:
        options.keep_old(output, old)
    options.save(done.model, output, done.about, given["as_json"])


@options.command(
    "merge",
    click.argument("models", nargs=-1, required=True, metavar="MODEL MODEL...", type=click.Path()),
    option("-o --output MODEL", "Where to write the sum; - is standard output.", required=True),
    MINIMUM,
    JSON,
)
def merge(models: tuple[str, ...], output: str, minimum: int | None, as_json: bool) -> None:
    """Add up what MODELs have learned separately: the sum is the model that would have learned all their rows.

    A MODEL may be a tally, saved without its model. Tallies alone add up to a tally; beside models, they are added to
    these where they have the same tables. The order of the files does not matter. With --minimum-count, one MODEL is
    enough.

    \b
    ingenuo merge rome.ingenuo madrid.ingenuo -o both.ingenuo
    ingenuo merge rome.ingenuo madrid.ingenuo -o public.ingenuo --minimum-count 10
    """
    if len(models) < 2 and minimum is None:
        raise click.UsageError("give two models at least")
    options.check_model_output(output, models, as_json)
    options.check_inputs(*models)
    from ingenuo.cli.work.change import merge

    merged = merge([(path, options.load(path), options.about(path)) for path in models], minimum)
    options.say(*merged.notes)
    options.save(merged.model, output, merged.about, as_json)
