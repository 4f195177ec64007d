"""`ingenuo explain`: the arithmetic behind answers."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options


@click.command("explain", short_help="Show the arithmetic behind answers.")
@click.argument("model", type=click.Path(), metavar="MODEL")
@click.argument("file", type=click.Path(), required=False, metavar="[FILE]")
@click.option(
    "--row",
    metavar="TEXT",
    help="One row: 'COLUMN=VALUE, COLUMN=VALUE', a JSON object, or, where the model reads texts, the text itself. "
    "? and columns that are left out are missing.",
)
@click.option(
    "--rows",
    metavar="LIST",
    help="Which rows of FILE, such as 3,7-9; they are counted from 1, and the header is none of them  [1]",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="How they are shown; html is a whole page.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --to json.")
@click.option("-o", "--output", metavar="FILE", help="Where to write it; - is standard output  [-]")
@options.reading
@options.common
def command(model: str, file: str | None, row: str | None, rows: str | None, form: str, **given: Any) -> None:
    """Show how MODEL comes to its answers: the counts, the fractions, their product, and the division by the sum.

    FILE may have other columns besides those of the model, and the class; - is standard input. It is read no further
    than the last row that is asked for.

    \b
    ingenuo explain tennis.ingenuo --row 'Outlook=Sunny, Humidity=High, Wind=?'
    ingenuo explain tennis.ingenuo days.csv --rows 3,7-9
    ingenuo explain mail.ingenuo --row 'win money now' --to html -o why.html
    """
    if (file is None) == (row is None):
        raise click.UsageError("give a row by --row, or a FILE and perhaps --rows")
    if rows is not None and file is None:
        raise click.UsageError("--rows are rows of a FILE; give that too")
    options.check_writable(given["output"])
    options.check_inputs(model, file)
    from ingenuo.explanation.explain import explain, explained_page
    from ingenuo.rows.typed import parse_row

    loaded = options.load_model(model)
    if row is not None:
        found, numbers = [explain(loaded, parse_row(row, loaded))], [1]
    else:
        assert file is not None
        found, numbers = _of_file(loaded, file, "1" if rows is None else rows, given)
    names = [f"row {number}" for number in numbers]
    if given["as_json"] or form == "json":
        data = [{"row": number, **each.to_dict()} for number, each in zip(numbers, found)]
        text = options.json_text(found[0].to_dict() if row is not None else data)
    elif form == "html":
        text = found[0].to_html() if row is not None else explained_page(found, names, f"Answers to {file}")
    else:
        shown = (each.to_text(colour=_colours(given["output"])) for each in found)
        text = "\n\n".join(each if row is not None else f"{name}\n{each}" for name, each in zip(names, shown))
    options.write_text(text, given["output"])


def _of_file(model: Any, file: str, rows: str, given: dict[str, Any]) -> tuple[list[Any], list[int]]:
    """The explanations of some rows of a file, and their numbers."""
    from ingenuo.explanation.explain import explain
    from ingenuo.rows.streams import read_rows, row_numbers, rows_for

    numbers = row_numbers(rows)
    table = read_rows(rows_for(model, options.open_files([file], given), labelled=False), numbers)
    # What has no columns of its own reads texts, and no table.
    taken = table if len(model.schema_) else [text or "" for text in table.column(0).to_pylist()]
    return explain(model, taken, rows=range(len(numbers))), numbers


def _colours(output: str | None) -> bool:
    return (output is None or output == "-") and options.colours()
