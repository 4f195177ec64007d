"""The options that commands share, and what they print: data to stdout, all else to stderr."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from ingenuo.errors import missing_file

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("csv", "tsv", "parquet", "arrow", "json", "arff", "fasttext", "label-lines", "texts")


def _keep(name: str) -> Callable[[click.Context, click.Parameter, bool], bool]:
    def keep(ctx: click.Context, parameter: click.Parameter, value: bool) -> bool:
        if value:
            ctx.find_root().ensure_object(dict)[name] = True
        return value

    return keep


def common(command: F) -> F:
    """--quiet and --debug, which every command has."""
    for option in (
        click.option(
            "--debug", is_flag=True, expose_value=False, callback=_keep("debug"), help="Show where an error arose."
        ),
        click.option(
            "-q", "--quiet", is_flag=True, expose_value=False, callback=_keep("quiet"), help="Say nothing on stderr."
        ),
    ):
        command = option(command)
    return command


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
seed = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of what is drawn.")
minimum_count = click.option(
    "--minimum-count",
    "minimum",
    type=click.IntRange(min=1),
    metavar="N",
    help="Drop from what is written all that fewer than N rows have: values, words, classes.",
)
target = click.option("--target", metavar="COLUMN", help="The column that holds the class.")


def reading(command: F) -> F:
    """How files are read."""
    for option in reversed(
        (
            click.option(
                "--format", "format_", type=click.Choice(FORMATS), help="What the files are  [by name and content]"
            ),
            click.option("--separator", metavar="CHAR", help="What separates cells; 'tab' for a tab  [detected]"),
            click.option("--quote", metavar="CHAR", help="What cells may be quoted by; 'none' for nothing  [detected]"),
            click.option("--encoding", metavar="NAME", help="How letters are written, such as latin-1  [detected]"),
            click.option(
                "--errors",
                type=click.Choice(["strict", "replace"]),
                default="strict",
                show_default=True,
                help="Letters that are not in that encoding: refuse them, or put � in their place.",
            ),
            click.option("--header/--no-header", default=None, help="Whether the first line names columns  [detected]"),
            click.option(
                "--missing",
                multiple=True,
                metavar="VALUE",
                help="A cell that stands for no value; may be repeated  [NA, N/A, NaN, nan, null, NULL, ?]",
            ),
            click.option(
                "--column",
                "columns",
                multiple=True,
                metavar="NAME=KIND",
                help="What a column is: number, category, count, text or ignore; may be repeated  [by its values]",
            ),
            click.option("--ignore", multiple=True, metavar="NAME", help="A column to set aside; may be repeated."),
        )
    ):
        command = option(command)
    return command


def changing(again: str) -> Callable[[F], F]:
    """What the commands that change a model have in common; they differ in which rows calibrate it again."""

    def decorated(command: F) -> F:
        for option in reversed(
            (
                click.argument("model", metavar="MODEL", type=click.Path()),
                click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path()),
                target,
                click.option("-o", "--output", metavar="MODEL", help="Where to write the model  [MODEL itself]"),
                click.option("--weight", metavar="COLUMN", help="The column that says how often each row counts."),
                click.option("--calibrate-with", metavar="FILE", help=again),
                reading,
                as_json,
                common,
            )
        ):
            command = option(command)
        return command

    return decorated


def engine(command: F) -> F:
    """Where the rows of the files are read and added up."""
    for option in reversed(
        (
            click.option(
                "--engine",
                type=click.Choice(["local", "dask", "spark"]),
                help="Where the files are read and added up: here, or by the workers of Dask or Spark  [local]",
            ),
            click.option(
                "--scheduler", metavar="ADDRESS", help="Dask's, such as tcp://host:8786  [workers on this machine]"
            ),
            click.option(
                "--master", metavar="URL", help="Spark's, such as spark://host:7077  [this machine: local[*]]"
            ),
        )
    ):
        command = option(command)
    return command


def engine_of(given: Mapping[str, Any]) -> tuple[str, str | None]:
    """The engine that the options ask for, and its address."""
    scheduler, master = given["scheduler"], given["master"]
    if scheduler is not None and master is not None:
        raise click.UsageError("--scheduler is of Dask, and --master of Spark; give one of them.")
    name = given["engine"] or ("dask" if scheduler is not None else "spark" if master is not None else "local")
    for option, address, its in (("--scheduler", scheduler, "dask"), ("--master", master, "spark")):
        if address is not None and name != its:
            raise click.UsageError(f"{option} is the address of {its}, and --engine is {name}.")
    if name != "local":
        for option in ("folds", "holdout", "checkpoint"):
            if given[option] is not None:
                raise click.UsageError(
                    f"--{option} is for rows that one machine reads, and --engine is {name}; judge the model by files "
                    "that it has not learned (ingenuo evaluate)."
                )
    return name, scheduler or master


@contextmanager
def opened_engine(name: str, address: str | None) -> Iterator[Any]:
    """The engine, as long as it is needed; None for this machine itself."""
    if name == "local":
        yield None
        return
    from ingenuo.rows.engines import opened

    with opened(name, address) as found:
        yield found


def kinds(columns: Sequence[str], ignore: Sequence[str] = ()) -> dict[str, str]:
    """What --column and --ignore say."""
    found: dict[str, str] = {}
    for each in columns:
        name, equals, kind = each.rpartition("=")
        if not equals or not name:
            raise click.BadParameter(f"{each!r} is no NAME=KIND", param_hint="--column")
        found[name] = kind
    return found | dict.fromkeys(ignore, "ignore")


def open_files(paths: Sequence[str], options: Mapping[str, Any], target: str | None = None, **more: Any) -> Any:
    """The scan of some files, as the options of `reading` say; what was detected is said."""
    if not any(options.get(name) for name in ("engine", "scheduler", "master")):
        _leave_pandas_out()
    from ingenuo.rows.files.scan import scan

    separator = options.get("separator")
    found = scan(
        list(paths),
        format=options.get("format_"),
        separator={"tab": "\t", "\\t": "\t", "space": " "}.get(separator or "", separator),
        quote={"none": ""}.get(options.get("quote") or "", options.get("quote")),
        encoding=options.get("encoding"),
        errors=options.get("errors") or "strict",
        header=options.get("header"),
        missing=list(options["missing"]) if options.get("missing") else None,
        columns=kinds(options.get("columns") or (), options.get("ignore") or ()) | more.pop("columns", {}),
        target=target,
        **more,
    )
    for note in found.notes:
        say(note)
    return found


def _leave_pandas_out() -> None:
    """Let Arrow find no pandas when it looks for it, which is when it makes its first array.

    Where pandas is installed Arrow imports it then, which takes longer (0.4 s) than to learn a small file, and no
    command needs it. It is done in a process of our own alone: elsewhere a user may give Arrow what is of pandas.
    """
    if not _root().get("is_process") or "pandas" in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, _NoPandas)  # type: ignore[arg-type]
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(_NoPandas)  # type: ignore[arg-type]


class _NoPandas:
    """A finder of modules to which pandas is not installed."""

    @staticmethod
    def find_spec(name: str, *_where: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def _root() -> dict[str, Any]:
    """What the command as a whole was told."""
    return click.get_current_context().find_root().obj or {}


def quiet() -> bool:
    """Whether nothing is to be said."""
    return bool(_root().get("quiet"))


def typed() -> str:
    """The command as it was typed."""
    return shlex.join(["ingenuo", *_root().get("typed", [])])


def say(message: str = "") -> None:
    """A message, on stderr."""
    if not quiet():
        click.echo(message, err=True)


def out(text: str) -> None:
    """Data, on stdout."""
    click.echo(text)


def out_json(data: Any) -> None:
    """Data as JSON, on stdout."""
    click.echo(json_text(data))


def json_text(data: Any) -> str:
    """Data as JSON; an infinite number is text there, and what is no number null."""
    from ingenuo.show.format import plain

    return json.dumps(plain(data), ensure_ascii=False, indent=2)


def colours(stream: Any = None) -> bool:
    """Whether a stream wants colours: a terminal does, unless NO_COLOR is set."""
    stream = sys.stdout if stream is None else stream
    return bool(getattr(stream, "isatty", lambda: False)()) and not os.environ.get("NO_COLOR")


def load(path: str) -> Any:
    """The model of a file; - is standard input."""
    from ingenuo import store

    return store.from_bytes(sys.stdin.buffer.read()) if path == "-" else store.load(path)


def load_model(path: str) -> Any:
    """The model of a file, which must be one that learned columns and answers rows."""
    model = load(path)
    if not hasattr(model, "schema_") or not hasattr(model, "predict"):
        raise click.ClickException(
            f"{path} holds a {type(model).__name__}, and no model that answers rows; `ingenuo inspect` shows what it is"
        )
    return model


def about(path: str) -> dict[str, Any]:
    """What a model file says of where its model comes from."""
    from ingenuo import store

    return {} if path == "-" else store.about(path)


def save(model: Any, path: str, about: Mapping[str, Any]) -> None:
    """Write a model with what is said of it; - is standard output."""
    from ingenuo import store

    if path == "-":
        sys.stdout.buffer.write(store.to_bytes(model, about))
        sys.stdout.buffer.flush()
    else:
        store.save(model, path, about)
        say(f"written to {path} ({os.path.getsize(path):,} bytes)")


def refuse_both(output: str | None, as_json: bool) -> None:
    """Refuse to write a model and JSON to the same place."""
    if output == "-" and as_json:
        raise click.UsageError("the model and --json cannot both go to standard output; name a file for the model")


def check_inputs(*paths: str | None) -> None:
    """Refuse files that are not there before anything is imported that could read them; - and patterns may pass."""
    for path in paths:
        if path is not None and path != "-" and not os.path.exists(path) and not any(sign in path for sign in "*?["):
            raise missing_file(path)


def check_writable(path: str | None, inputs: Sequence[str] = (), *, model: bool = False) -> None:
    """Refuse a place where no file can be written, or none should be, before the work and not after it."""
    if path is None or path == "-":
        return
    if any(each != "-" and os.path.realpath(each) == os.path.realpath(path) for each in inputs):
        raise click.ClickException(f"{path} is read here, and would be overwritten; name another file to write to")
    if model and os.path.isfile(path) and os.path.getsize(path):
        with open(path, "rb") as file:
            if b'"format":"ingenuo"' not in file.read(64):
                raise click.ClickException(f"{path} is there already and holds no model; remove it, or name another")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise click.ClickException(f"{path}: there is no folder {folder!r} to write to; make it first")
    if os.path.isdir(path):
        raise click.ClickException(f"{path} is a folder; name a file to write to")
    if not os.access(folder, os.W_OK):
        raise click.ClickException(f"{path}: the folder {folder!r} may not be written to; name another")


def write_text(text: str, path: str | None) -> None:
    """Text to a file, whole or not at all; to stdout where there is no path, or -."""
    text = text if text.endswith("\n") or not text else f"{text}\n"
    if path is None or path == "-":
        click.echo(text, nl=False)
    else:
        write_bytes(text.encode(), path)


def write_bytes(data: bytes, path: str | None) -> None:
    """Bytes to a file, whole or not at all; to stdout where there is no path, or -."""
    if path is None or path == "-":
        click.echo(data, nl=False)
        return
    from ingenuo.tally.container import replace_file

    replace_file(os.path.realpath(path), [data])
    say(f"written to {path} ({len(data):,} bytes)")


def change(
    what: str, path: str, files: Sequence[str], target: str | None, output: str | None, given: Mapping[str, Any]
) -> None:
    """Learn or forget the rows of some files, and write the model where it was or elsewhere."""
    if path == "-" and output is None:
        output = "-"
    refuse_both(output, given["as_json"])
    check_writable(path if output is None else output, files, model=True)
    check_inputs(path, *files, given["calibrate_with"])
    from ingenuo.cli.work.change import change as changing_change
    from ingenuo.rows.streams import rows_for

    model = load(path)
    weight = given["weight"]
    besides = [] if weight is None else [weight]
    rows = rows_for(model, open_files(files, given), target, besides=besides)
    again = None
    if given["calibrate_with"]:
        again = rows_for(model, open_files([given["calibrate_with"]], given), target)
    with watched(rows, "learning" if what == "update" else "forgetting"):
        changed = changing_change(what, model, rows, about(path), weight=weight, calibrate_with=again)
    for note in changed.notes:
        say(note)
    save(changed.model, path if output is None else output, changed.about)
    if given["as_json"]:
        out_json(changed.about)


# The pictures that commands write: the ending of a file's name says which kind.


ENDINGS = (".svg", ".png", ".pdf")


def option(name: str, help: str, endings: tuple[str, ...] = ENDINGS) -> Callable[[F], F]:
    """An option that names a picture; a name of another ending is refused before the work, not after it."""

    def known(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if value is not None and os.path.splitext(value)[1].lower() not in endings:
            raise click.BadParameter(f"{value!r} has none of the endings {', '.join(endings)}", ctx, parameter)
        check_writable(value)
        return value

    kinds = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
    return click.option(name, type=click.Path(), metavar="FILE", callback=known, help=f"{help}: a {kinds} file.")


def write(axes: Any, path: str) -> None:
    """What was drawn on matplotlib's axes, one or several of a figure, to a file, whole or not at all."""
    import matplotlib

    first = axes if hasattr(axes, "figure") else next(iter(axes))

    data = io.BytesIO()
    kind = os.path.splitext(path)[1].lower()[1:]
    dated = {"svg": "Date", "pdf": "CreationDate"}.get(kind)  # left out, so that equal pictures are equal files
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ingenuo"}):
        first.figure.savefig(data, format=kind, dpi=150, metadata={dated: None} if dated else None)
    write_bytes(data.getvalue(), path)


# A progress bar on stderr, on a terminal only: how many bytes are read, how fast, how long it will take yet.


@contextmanager
def bar(n_bytes: int | None, what: str) -> Iterator[Callable[[int], None] | None]:
    """A function to tell how many bytes have been read; None where nothing is to be shown."""
    if quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), TimeElapsedColumn(), console=console, transient=True) as shown:
        task = shown.add_task(what, total=n_bytes)
        yield lambda done: shown.update(task, completed=done)


@contextmanager
def watched(rows: Any, what: str) -> Iterator[None]:
    """Show how far the rows have been read, as long as they are."""
    with bar(rows.n_bytes, what) as progress:
        rows.progress = progress
        try:
            yield
        finally:
            rows.progress = None
