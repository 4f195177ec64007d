"""`ingenuo explain` and `ingenuo inspect`: the arithmetic behind answers, and what a model has learned."""

from __future__ import annotations

import sys
from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.options import JSON, LANGUAGE, MODEL, READING, ROW, option


@options.command(
    "explain",
    MODEL,
    click.argument("file", type=click.Path(), required=False, metavar="[FILE]"),
    ROW,
    option(
        "--rows LIST",
        "Which rows of FILE, such as 3,7-9; they are counted from 1, and the header is none of them  [1]",
    ),
    option("--log", "Add logarithms instead of multiplying factors."),
    option(
        f"--to {'|'.join(options.TABLES.values())}",
        "How they are shown; html is a whole page  [by the name of the output, else text]",
        "form",
    ),
    option("--json", "The same as --to json.", "as_json"),
    LANGUAGE,
    option("-o --output FILE", f"Where to write it: {', '.join(options.TABLES)}; - is standard output  [-]"),
    READING,
)
def explain(model: str, file: str | None, row: str | None, rows: str | None, form: str | None, **given: Any) -> None:
    """Show how MODEL comes to its answers: the counts, the fractions, their product, and the division by the sum.

    FILE may have more columns than those of the model, and the class; - is standard input. It is read no further than
    the last row that is wanted.

    \b
    ingenuo explain tennis.ingenuo --row 'Outlook=Sunny, Humidity=High, Wind=?'
    ingenuo explain tennis.ingenuo days.csv --rows 3,7-9
    ingenuo explain tennis.ingenuo days.csv --rows 1-14 -o days.md
    ingenuo explain mail.ingenuo --row 'win money now' -o why.html
    ingenuo explain tennis.ingenuo --row 'Outlook=Sunny' --language it
    """
    if (file is None) == (row is None):
        raise click.UsageError("give a row by --row, or a FILE and perhaps --rows")
    if rows is not None and file is None:
        raise click.UsageError("--rows are rows of a FILE; give that too")
    output = given["output"]
    form = options.form_of(output, "json" if given["as_json"] else form, options.TABLES)
    language = given["language"]
    if language != "en" and form in ("csv", "json"):
        raise click.UsageError(f"--language is of what people read, and {form} is for programs; leave one of them out")
    options.check_writable(output, [model, *([file] if file else [])])
    options.check_inputs(model, files=[file], given=given)
    from ingenuo.explanation.explain import explain
    from ingenuo.rows.streams import read_rows, row_numbers
    from ingenuo.rows.typed import parse_row
    from ingenuo.show.table import wants_colours

    loaded = options.load_model(model)
    how = "log" if given["log"] else "product"
    if row is not None:
        found = explain(loaded, parse_row(row, loaded), form=how, language=language)
    else:
        assert file is not None
        numbers = row_numbers("1" if rows is None else rows)
        table = read_rows(options.open_rows(loaded, [file], given, labelled=False), numbers)
        # What has no columns of its own reads texts, and no table.
        taken = table if len(loaded.schema_) else [text or "" for text in table.column(0).to_pylist()]
        found = explain(loaded, taken, rows=range(len(numbers)), form=how, language=language)
        found.numbers = numbers
    options.write(found.pieces(form, colour=output in (None, "-") and wants_colours(sys.stdout)), output)


@options.command(
    "inspect",
    MODEL,
    option(
        "--top",
        "How many of the strongest signs of each class, or values of a --column, to show.",
        type=click.IntRange(min=0),
        default=10,
    ),
    option("--column NAME", "Show one column: its counts, or mean and deviation, in each class."),
    options.picture(
        "--plot", "Draw the --column; of discriminants and linear models without one, the regions of the classes"
    ),
    options.picture("--losses", "Of softmax regression: draw how its loss fell, step by step"),
    options.picture("--nomogram", "Draw the nomogram, by which a person can work out answers with a ruler", (".svg",)),
    option("--class CLASS", "Of the nomogram: the class whose probability it shows.", "class_"),
    option("--against CLASS", "Of the nomogram: the other class, where there are more than two."),
    option("--language en|it|es", "Of the nomogram: its language.", default="en"),
    JSON,
)
def inspect(model: str, top: int, column: str | None, as_json: bool, **given: Any) -> None:
    """Show what MODEL is, where it comes from, what its columns are, and what speaks most for each class.

    MODEL is a file that train, update, forget, merge or network learn wrote; - is standard input.

    \b
    ingenuo inspect weather.ingenuo
    ingenuo inspect weather.ingenuo --column outlook --plot outlook.svg
    ingenuo inspect weather.ingenuo --nomogram nomogram.svg --class yes
    ingenuo inspect iris.ingenuo --plot regions.svg
    ingenuo inspect weather.ingenuo --json
    """
    if (given["class_"] or given["against"] or given["language"] != "en") and not given["nomogram"]:
        raise click.UsageError("--class, --against and --language are of the --nomogram; give that too")
    options.check_inputs(model)
    from ingenuo.explanation.explain import column_view, inspect
    from ingenuo.explanation.nomogram import nomogram

    loaded = options.load(model)
    if given["plot"] and column is None and not hasattr(loaded, "discriminant"):
        raise click.UsageError("--plot draws one column of this model; say which by --column")
    if given["losses"] and not hasattr(loaded, "plot_losses"):
        raise click.UsageError(f"--losses is of softmax regression, and this is a {type(loaded).__name__}")
    drawn = None
    if given["nomogram"]:
        drawn = nomogram(loaded, given["class_"], given["against"]).translate(given["language"]).svg()
    shown: Any = (
        inspect(loaded, options.about(model), top) if column is None else column_view(loaded, column, max(top, 1))
    )
    if given["plot"]:
        options.draw((loaded if column is None else shown).plot(), given["plot"])
    if given["losses"]:
        options.draw(loaded.plot_losses(), given["losses"])
    if drawn is not None:
        options.write(str(drawn), given["nomogram"])
    options.show(shown, as_json)
