"""`ingenuo open` and `ingenuo export`: a model on a page, and a model taken elsewhere."""

from __future__ import annotations

import os
from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.options import MODEL, READING, SEED, option

FORMS = {".html": "html", ".htm": "html", ".mjs": "js", ".js": "js", ".sql": "sql", ".onnx": "onnx"}
DIALECTS = ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake", "clickhouse", "mysql", "tsql")
ROWS, MOST = 2_000, 10_000  # rows that a page embeds

_ROWS = (
    option(
        "--rows FILE...",
        "Rows to ask, and to judge the model by where they have their class; may be repeated. None unless it is given.",
        "files",
    ),
    option(
        "--max-rows N",
        f"Of more rows so many are drawn, {MOST:,} at most.",
        type=click.IntRange(1, MOST),
        default=ROWS,
        show_default=True,
    ),
    option("--target COLUMN", "The column that holds the class; of a network, the node that is asked for."),
    option("--title TEXT", "The heading of the page."),
    option("--language en|it|es", "The language of the page; names and values stay as they are  [en]"),
)


@options.command(
    "export",
    MODEL,
    option("-o --output FILE", "Where to write it; a folder for mlflow, - is standard output.", required=True),
    option("--to html|js|sql|onnx|mlflow", "What to write  [by the name of the output]", "form"),
    _ROWS,
    option("--sums", "Of html: with the sums of the model, so that rows can be forgotten on the page."),
    option("--minimum N", "Leave out what fewer rows than N have: values, words, classes.", type=click.IntRange(min=1)),
    option("--top-words N", "Of texts: keep the N most frequent words alone.", type=click.IntRange(min=1)),
    option(f"--dialect {'|'.join(DIALECTS)}", "Of sql: the database  [duckdb]"),
    option("--as select|tables", "Of sql: one SELECT, or a table of terms and a view  [select]", "shape"),
    option("--table NAME", "Of sql: the table of the rows, perhaps as SCHEMA.NAME  [rows]"),
    option("--key COLUMN...", "Of sql: the columns that name a row; may be repeated  [all that the model reads]"),
    READING,
    SEED,
)
def export(model: str, output: str, form: str | None, files: tuple[str, ...], **given: Any) -> None:
    """Write MODEL as a page that answers in a browser, as a module of JavaScript, SQL, ONNX or an MLflow folder.

    The page is one file that needs no server and no network; it computes the same numbers as Python. Rows are in it
    only if they are given by --rows, and whoever has the page can read them.

    \b
    ingenuo export mail.ingenuo -o mail.html
    ingenuo export patients.ingenuo -o patients.html --rows test.csv
    ingenuo export patients.ingenuo -o patients.html --sums --minimum 5
    ingenuo export income.ingenuo -o income.sql --dialect postgres
    ingenuo export income.ingenuo -o income.mjs
    ingenuo export income.ingenuo -o folder --to mlflow
    """
    form = _form_of(output, form)
    _check_use(form, output, files, given)
    options.check_inputs(model, files=files, given=given)
    if form != "mlflow":
        options.check_writable(output, [*files, model])
    from ingenuo.cli.work import page as work

    loaded, about = options.load(model, answers=form != "html", target=given["target"]), options.about(model)
    _check_target(loaded, files, given["target"])
    about |= {} if model == "-" else {"file": os.path.basename(model)}
    if given["minimum"] is not None:
        done = work.without_rare(loaded, about, given["minimum"])
        loaded, about = done.model, done.about
        options.say(*done.notes)
    if given["top_words"] is not None:
        loaded = work.keep_words(loaded, given["top_words"])
    if form == "mlflow":
        from ingenuo.mlflow import save_model

        save_model(loaded, output)
        options.say(f"written to {output}")
        return
    rows = _rows_of(loaded, files, given)
    data = work.written(form, loaded, about, rows, given)
    work.check_size(data, form, loaded, given["max_rows"] if files else 0)
    if rows is not None:
        options.say(f"in the page, for whoever has it to read: {rows['note']}")
    if given["sums"]:
        options.say("the sums are in the page: rare values and words become readable by whoever has it; see --minimum")
    options.write(data, output, binary=form == "onnx")


@options.command(
    "open",
    MODEL,
    _ROWS,
    option("-o --output MODEL", "Where the page may save the model, once rows were forgotten or learned  [nowhere]"),
    option(
        "--port",
        "Where to listen, on this machine alone; 0 is any that is free.",
        type=click.IntRange(0, 65535),
        default=0,
    ),
    option("--no-browser", "Print the address, and open no browser."),
    READING,
    SEED,
)
def open(model: str, files: tuple[str, ...], output: str | None, port: int, no_browser: bool, **given: Any) -> None:
    """Ask MODEL on a page in the browser: what it answers, why, what would change it, and what forgetting would do.

    The page is served on this machine alone, to whoever has the address that is printed, until Ctrl-C. The file of the
    model is not changed; with -o, the page can save what it changed to another.

    \b
    ingenuo open patients.ingenuo
    ingenuo open patients.ingenuo --rows test.csv -o without.ingenuo
    ingenuo open mail.ingenuo --port 8888 --no-browser
    """
    options.check_inputs(model, files=files, given=given)
    options.check_model_output(output, [*files, model], as_json=False)
    if output == "-":
        raise click.UsageError("the page saves to a file; name one")
    from ingenuo.cli.work import page as work
    from ingenuo.page.session import Session
    from ingenuo.serve.home import serve
    from ingenuo.serve.server import listen

    loaded, about = options.load(model, target=given["target"]), options.about(model)
    _check_target(loaded, files, given["target"])
    drawn = _drawn(loaded, files, given)
    bound = listen(port)
    with bound:
        how = {"merge": work.merge_with(model, about), "about": about, "save_to": output, "title": given["title"]}
        how["language"] = given["language"] or "en"
        session = Session(loaded, drawn, name=model, **how)

        def ready(address: str, once: str) -> None:
            options.out(address)
            options.say("this address is for you alone; Ctrl-C ends it")
            if not no_browser:
                import webbrowser

                webbrowser.open(once)

        serve(session, bound, ready)
    options.say("ended" if not session.state["changes"] else "ended; what was not saved is gone")


def _form_of(output: str, form: str | None) -> str:
    """What to write, by the name of the output unless it is said."""
    if form is not None:
        return form
    ending = os.path.splitext(output)[1].lower()
    if ending not in FORMS:
        raise click.BadParameter(
            f"{output!r} has none of the endings {', '.join(FORMS)}; say by --to what it is", param_hint="-o"
        )
    return FORMS[ending]


def _check_use(form: str, output: str, files: tuple[str, ...], given: options.Given) -> None:
    """Raise where an option is of another form."""
    of = {"html": ("files", "title", "language", "sums"), "sql": ("dialect", "shape", "table", "key")}
    called = {"files": "rows", "shape": "as"}
    for own, names in of.items():
        for name in names if own != form else ():
            if given.get(name) or (name == "files" and files):
                raise click.UsageError(f"--{called.get(name, name)} is of {own}, and this writes {form}; leave it out")
    if form == "mlflow" and output == "-":
        raise click.UsageError("mlflow is a folder; name one by -o")


def _check_target(model: Any, files: tuple[str, ...], target: str | None) -> None:
    """Raise where a target is named that neither rows have nor the model answers."""
    if target is not None and not files and target != getattr(model, "_target", None):
        raise click.UsageError("--target is the column of --rows with the class, or a node of a network; leave it out")


def _drawn(model: Any, files: tuple[str, ...], given: options.Given) -> Any:
    """What a page of a model embeds of the rows of files; None without files."""
    if not files:
        return None
    from ingenuo.cli.work import page as work
    from ingenuo.rows.streams import rows_for

    scanned, target = options.open_files(files, given, model=model), given["target"]
    known = target or scanned.target or getattr(model, "_target", None)
    labelled = target is not None or known in scanned.names
    return work.drawn_rows(rows_for(model, scanned, target, labelled=labelled), given["max_rows"], given["seed"])


def _rows_of(model: Any, files: tuple[str, ...], given: options.Given) -> Any:
    drawn = _drawn(model, files, given)
    return None if drawn is None else drawn(model)
