"""`ingenuo predict` and `ingenuo generate`: the answers of a model beside rows, and rows or texts drawn from it."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.options import MODEL, READING, ROW, SEED, option

FORMATS = "csv|tsv|jsonl|parquet|arrow|xlsx"
BINARY = ("parquet", "arrow", "xlsx")
_DIGITS = 6  # of numbers in text


@options.command(
    "predict",
    click.argument("model", metavar="MODEL", required=False, type=click.Path()),
    click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path()),
    ROW,
    option("--server URL", "The server that answers (`ingenuo serve`), instead of a MODEL."),
    option("--token-file FILE", "What holds the token for it  [$INGENUO_TOKEN]", type=click.Path()),
    option("--insecure", "Send the token over http to another machine."),
    option("-o --output FILE", "Where to write the rows  [standard output]"),
    option(f"--to {FORMATS}", "What to write  [by the name of the output, else csv]"),
    option("--all", "The probability of every class (quantiles of a regressor).", "all_classes"),
    option(
        "--reasons N",
        "What decided each answer: the N strongest.",
        type=click.IntRange(min=0),
        default=0,
        show_default=False,
    ),
    option("--language en|it|es", "The language of the --reasons.", default="en"),
    option(
        "--spreadsheet-safe",
        "Put an apostrophe before what a spreadsheet would run: text that begins with =, +, - or @.",
    ),
    option("--into TABLE", "Write the rows to a new table of the --database, whole or not at all."),
    option("--replace", "Where that table is there, put the new one in its place."),
    option("--only", "Write the answers alone, without the rows."),
    option(
        "--digits N",
        "How many digits numbers are rounded to  [6; all in Parquet and Arrow]",
        type=click.IntRange(1, 17),
    ),
    READING,
)
def predict(
    model: str | None, files: tuple[str, ...], row: str | None, output: str | None, only: bool, **given: Any
) -> None:
    """Append the most probable class and its probability to each row of FILEs, or to the one of --row.

    Rows are read, answered and written a part at a time, each value as it was read. Columns that the model does not
    know, its class among them, are carried along. Values that it never saw are counted on stderr.

    \b
    ingenuo predict mail.ingenuo new.csv -o answers.csv
    ingenuo predict mail.ingenuo new.csv --all --reasons 3 | head
    ingenuo predict tennis.ingenuo --row 'Outlook=Sunny, Wind=Strong'
    cat new.csv | ingenuo predict mail.ingenuo - --to jsonl
    ingenuo predict mail.ingenuo 'SELECT * FROM new' --database sqlite:///mail.db --into answers
    ingenuo predict --server https://models.example.org/v1/models/mail new.csv -o answers.csv
    """
    if given["server"] is not None:  # there is no MODEL, and what stands first is a FILE
        if model is not None and model.endswith(".ingenuo"):
            raise click.UsageError(
                f"the --server answers, and not {model}: leave that out; another model of the server has the address "
                "URL/v1/models/NAME"
            )
        model, files = None, (*([] if model is None else [model]), *files)
    elif model is None:
        raise click.UsageError("Missing argument 'MODEL'; or give the --server that answers.")
    if bool(files) == (row is not None):
        raise click.UsageError("give FILEs, or one row by --row")
    if given["language"] != "en" and not given["reasons"]:
        raise click.UsageError("--language is that of the --reasons; give that too")
    _check_server(given)
    _check_into(row, output, given)
    options.check_writable(output, [*files, *([] if model is None else [model])])
    options.check_inputs(model, given["token_file"], files=files, given=given)
    found = _served(given) if model is None else options.load(model, answers=True)
    answer(found, files, row, output, only, given)


def _served(given: dict[str, Any]) -> Any:
    """The model that a server answers by."""
    if given["reasons"]:
        raise click.UsageError("--reasons are found where the model is: give its file, or ask the server's /v1/explain")
    from ingenuo.cli.work.client import ServedModel, token_of

    return ServedModel(given["server"], token_of(given["token_file"]), insecure=given["insecure"])


def _check_server(given: dict[str, Any]) -> None:
    """Refuse what is of a server only, where there is none."""
    for name in ("token_file", "insecure"):
        if given[name] and given["server"] is None:
            raise click.UsageError(f"--{name.replace('_', '-')} is of the --server; give that too")


def _check_into(row: str | None, output: str | None, given: dict[str, Any]) -> None:
    """Refuse a table to write without a database, or with options that are of files."""
    if given["replace"] and given["into"] is None:
        raise click.UsageError("--replace is of --into; give that too")
    if given["into"] is None:
        return
    if given["database"] is None or row is not None:
        raise click.UsageError("--into is a table of the --database of which FILE is a query; give both")
    for name, value in (("-o", output), ("--to", given["to"]), ("--spreadsheet-safe", given["spreadsheet_safe"])):
        if value:
            raise click.UsageError(f"{name} is of files, and --into writes a table; leave one of them out")


def answer(
    model: Any, files: tuple[str, ...], row: str | None, output: str | None, only: bool, given: dict[str, Any]
) -> None:
    """Write the rows of files, or the one that was typed, with the answers of a model."""
    from ingenuo.cli.work.answer import Answers, typed_table
    from ingenuo.rows.files import write
    from ingenuo.rows.streams import rows_for
    from ingenuo.tally.container import replace_file

    into, database = given.get("into"), given.get("database")
    kind = write.format_of(output, given["to"])
    digits = _DIGITS if given["digits"] is None and kind not in BINARY and into is None else given["digits"]
    written = partial(write.write, kind=kind, safe=given["spreadsheet_safe"])
    language = given.get("language", "en")
    found = Answers(model, given["all_classes"], given["reasons"], only=only, digits=digits, language=language)
    if row is None:
        # They are read once, and not kept; but a file that is to be written is read to its end before.
        how: dict[str, Any] = {} if database is None else {"once": True, "settle": into is not None}
        scanned = options.open_files(files, given, model=model, keep_all=True, **how)
        # A cell is written as it stands; but a safe sheet must know numbers from formulas.
        as_text = kind in ("csv", "tsv") and not given["spreadsheet_safe"]
        rows = rows_for(model, scanned, labelled=False, others=not only, as_text=as_text)
        pairs = rows.pairs()
    else:
        rows, taken = None, typed_table(model, row)
        pairs = iter([(taken, taken)])
    with options.watched(rows, "answering"):
        tables = found.tables(pairs, None if rows is None else (scanned.schema.empty_table(), rows.names))
        if into is not None:
            from ingenuo.rows.database import locate

            n_rows = locate(str(database)).write(tables, into, replace=given["replace"])
        elif output is None or output == "-":
            options.out_data(written(tables), output, binary=kind in BINARY)
        else:
            replace_file(os.path.realpath(output), write.pack(written(tables), output))
    options.say(*(f"note: {note}" for note in found.notes() if row is None))  # of one row it was said already
    if into is not None:
        options.say(f"written to table {into} ({n_rows:,} row{'s' if n_rows != 1 else ''})")
    elif output is not None and output != "-":
        options.say(f"written to {output} ({os.path.getsize(output):,} bytes)")


@options.command(
    "generate",
    MODEL,
    option("-n --rows", "How many.", "n", type=click.IntRange(min=0), default=10),
    option("--class CLASS", "Draw from this class only  [classes are drawn by their prior]", "class_"),
    option("--words N", "Of a language-model: texts of N words each.", type=click.IntRange(min=0)),
    option("--context TEXT", "Of a language-model: the words to go on from."),
    option("--next TEXT", "Of a language-model, draw nothing: the most probable words after TEXT.", "after"),
    option("--given NODE=STATE...", "Of a network: what is known, as in `ingenuo network query`."),
    option("-o --output FILE", "Where to write them; - is standard output  [-]"),
    option(
        f"--to {FORMATS}|text",
        "What to write  [as the ending of FILE says, else csv, and text for a language-model]",
        "format_",
    ),
    SEED,
)
def generate(model: str, n: int, output: str | None, format_: str | None, seed: int, **given: Any) -> None:
    """Draw rows or texts from MODEL.

    Rows of a classifier end with their class, under the name that it was trained by. `text` is one text in each line.

    \b
    ingenuo generate weather.ingenuo -n 5
    ingenuo generate weather.ingenuo -n 1000 --class yes --seed 7 -o days.jsonl
    ingenuo generate novels.ingenuo --words 30 --context 'it was'
    ingenuo generate novels.ingenuo --next 'it was' -n 5
    ingenuo generate cold.ingenuo -n 100 --given season=winter -o winters.csv
    """
    options.check_inputs(model)
    from ingenuo.cli.commands.network import evidence
    from ingenuo.cli.typed import written_class
    from ingenuo.cli.work.answer import as_lines, generate
    from ingenuo.networks.network import Network
    from ingenuo.rows.files.write import format_of
    from ingenuo.rows.files.write import write as to_bytes

    if format_ is None and output is not None and output != "-":
        format_ = "text" if output.endswith(".txt") else format_of(output)
    options.check_writable(output, [model])
    loaded = options.load(model)
    found = generate(
        loaded,
        n,
        class_=None if given["class_"] is None else written_class(loaded, given["class_"]),
        given=evidence(loaded, given["given"], "--given") if isinstance(loaded, Network) else given["given"],
        n_words=given["words"],
        context=given["context"],
        after=given["after"],
        random_state=seed,
    )
    if format_ is None:
        format_ = "text" if found.column_names == ["text"] else "csv"
    data = as_lines(found).encode() if format_ == "text" else b"".join(to_bytes(iter([found]), format_))
    options.write(data, output, binary=format_ in BINARY)
