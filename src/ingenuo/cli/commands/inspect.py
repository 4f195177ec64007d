"""`ingenuo inspect`: what a model is and what it has learned."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options


@click.command("inspect", short_help="What a model has learned: schema, counts, strongest evidence.")
@click.argument("model", type=click.Path())
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many of the strongest signs of each class, or values of a --column, to show.",
)
@click.option("--column", metavar="NAME", help="Show one column: its counts, or mean and deviation, in each class.")
@options.option("--plot", help="Draw the --column")
@options.option("--nomogram", "Draw the nomogram, by which a person can work out answers with a ruler", (".svg",))
@click.option("--class", "class_", metavar="CLASS", help="Of the nomogram: the class whose probability it shows.")
@click.option("--against", metavar="CLASS", help="Of the nomogram: the other class, where there are more than two.")
@options.as_json
@options.common
def command(model: str, top: int, column: str | None, as_json: bool, **given: Any) -> None:
    """Show what MODEL is, where it comes from, what its columns are, and what speaks most for each class.

    MODEL is a file that train, update, forget, merge or network learn wrote; - is standard input.

    \b
    ingenuo inspect weather.ingenuo
    ingenuo inspect weather.ingenuo --column outlook --plot outlook.svg
    ingenuo inspect weather.ingenuo --nomogram nomogram.svg --class yes
    ingenuo inspect weather.ingenuo --json
    """
    if (given["class_"] or given["against"]) and not given["nomogram"]:
        raise click.UsageError("--class and --against are of the --nomogram; give that too")
    if given["plot"] and column is None:
        raise click.UsageError("--plot draws one column; say which by --column")
    options.check_inputs(model)
    from ingenuo.explanation.inspect import inspect

    loaded = options.load(model)
    drawn = None
    if given["nomogram"]:
        from ingenuo.explanation.nomogram import nomogram

        drawn = nomogram(loaded, given["class_"], given["against"])
    if column is None:
        shown: Any = inspect(loaded, options.about(model), top)
    else:
        from ingenuo.explanation.inspect import column_view

        shown = column_view(loaded, column, max(top, 1))
        if given["plot"]:
            options.write(shown.plot(), given["plot"])
    if drawn is not None:
        options.write_text(drawn.svg(), given["nomogram"])
    if as_json:
        options.out_json(shown.to_dict())
    else:
        options.out(str(shown))


def _nomogram(model: Any, positive: str | None, against: str | None) -> Any:
    from ingenuo.explanation.nomogram import nomogram

    return nomogram(model, positive, against)
