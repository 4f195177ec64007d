"""The group of commands, and what they share: options, how models and files are opened, what is printed and how."""

from __future__ import annotations

import errno
import importlib
import io
import os
import re
import shlex
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from ingenuo import __version__
from ingenuo.errors import IngenuoError, Spelled, did_you_mean, missing_file, visible, wants_colours

Given = dict[str, Any]  # what was given for the options, by their names
Decorator = Callable[[Any], Any]

FORMATS = "csv|tsv|parquet|arrow|json|arff|fasttext|lines|label-lines|texts|excel"
PICTURES = (".svg", ".png", ".pdf")
# What a result that has tables can be written as, by the ending of the file.
TABLES = {".txt": "text", ".md": "markdown", ".tex": "latex", ".csv": "csv", ".html": "html", ".json": "json"}
_ROWS = (".tsv", ".jsonl", ".parquet", ".arrow", ".xlsx")
PACKED = (".gz", ".bz2", ".zst", ".lz4", ".xz", ".zip")
# Each command with its line in the help, which is so shown without importing any of them.
COMMANDS = {
    "audit": "Look for harms: groups of names in sentences, or groups of rows in a table.",
    "believe": "Hypotheses and what is observed in, posterior beliefs out.",
    "card": "Write a model card: data, use, limits, evaluation, audit.",
    "compare": "Which of several models is better on a file, and is it luck?",
    "completion": "Print what makes a shell complete commands and options.",
    "demo": "Learn, answer, explain, forget and merge on data the package carries.",
    "drift": "Whether rows are still like those that a model learned.",
    "evaluate": "Judge a model by rows whose class is known, with intervals.",
    "explain": "Show the arithmetic behind answers.",
    "export": "Write a model as a page, JavaScript, SQL, ONNX or for MLflow.",
    "forget": "Unlearn rows, exactly.",
    "generate": "Draw rows or texts from a model.",
    "info": "Versions, threads, processor and extras, for a bug report.",
    "inspect": "What a model has learned: schema, counts, strongest evidence.",
    "merge": "Add up what several models have learned.",
    "network": "Bayesian networks: learn, show, query, draw and convert them; classify by one.",
    "open": "Ask a model on a page in the browser.",
    "predict": "Append the answers of a model to the rows of a file.",
    "report": "Write one page about a model and how good it is.",
    "select": "Which columns of files are worth having, in bits.",
    "serve": "Answer over HTTP, and learn and forget while it does.",
    "train": "Learn a model from files.",
    "update": "Learn more rows.",
}
# The modules that hold other commands than that of their own name.
_MODULES = {
    "change": ("forget", "merge", "update"),
    "demo": ("completion",),
    "explain": ("inspect",),
    "judge": ("audit", "compare", "drift", "evaluate"),
    "page": ("export", "open"),
    "predict": ("generate",),
    "report": ("card",),
    "train": ("select",),
}


def option(spec: str, help: str, into: str | None = None, **more: Any) -> Decorator:
    """An option as it is typed: "-o --output FILE", a FILE... that may be repeated, one|of|these, or a flag."""
    words = spec.split()
    names = [word for word in words if word.startswith("-")]
    metavar = " ".join(words[len(names) :])
    if metavar.endswith("..."):
        more |= {"multiple": True, "metavar": metavar[:-3]}
    elif "|" in metavar and metavar.islower():
        more["type"] = click.Choice(metavar.split("|"))
    elif metavar:
        more["metavar"] = metavar
    elif "type" not in more and "default" not in more:
        more["is_flag"] = True
    more.setdefault("show_default", more.get("default") is not None and "/" not in spec)
    return click.option(*names, *([into] if into else []), help=help, **more)


def picture(name: str, help: str, endings: tuple[str, ...] = PICTURES, **more: Any) -> Decorator:
    """An option that names a picture; a name of another ending is refused before the work, not after it."""

    def check(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if value is not None and os.path.splitext(value)[1].lower() not in endings:
            raise click.BadParameter(f"{value!r} has none of the endings {', '.join(endings)}", ctx, parameter)
        check_writable(value)
        return value

    kinds = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
    return option(f"{name} FILE", f"{help}: a {kinds} file.", type=click.Path(), callback=check, **more)


def _keep(ctx: click.Context, parameter: click.Parameter, value: bool) -> bool:
    if value:
        ctx.find_root().ensure_object(dict)[parameter.name] = True
    return value


MODEL = click.argument("model", metavar="MODEL", type=click.Path())
FILES = click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
ROW = option(
    "--row TEXT",
    "One row: 'COLUMN=VALUE, COLUMN=VALUE', a JSON object, or, where the model reads texts, the text itself. ? and "
    "columns that are left out are missing.",
)
TARGET = option("--target COLUMN", "The column that holds the class.")
JSON = option("--json", "Print JSON.", "as_json")
LANGUAGE = option("--language en|it|es", "The language of what is printed; data stay as they are.", default="en")
SEED = option("--seed", "Seed of what is drawn.", type=click.IntRange(min=0), default=0)
CONFIDENCE = option("--confidence", "How sure the intervals are.", type=float, default=0.95)
_RARE = "Drop from what is written all that fewer than N rows have: values, words, classes."
MINIMUM = option("--minimum-count N", _RARE, "minimum", type=click.IntRange(min=1))
READING = (
    option(f"--format {FORMATS}", "What the files are  [by name and content]", "format_"),
    option("--separator CHAR", "What separates cells; 'tab' for a tab  [detected]"),
    option("--quote CHAR", "What cells may be quoted by; 'none' for nothing  [detected]"),
    option("--encoding NAME", "How letters are written, such as latin-1  [detected]"),
    option(
        "--errors strict|replace",
        "Letters that are not in that encoding: refuse them, or put � in their place.",
        default="strict",
    ),
    option("--header/--no-header", "Whether the first line names columns  [detected]", default=None),
    option("--names NAME,…", "What the columns are called, where no line names them.", "columns_called"),
    option(
        "--missing VALUE...", "A cell that stands for no value; may be repeated  [NA, N/A, NaN, nan, null, NULL, ?]"
    ),
    option(
        "--column NAME=KIND...",
        "What a column is: number, category, count, text or ignore; may be repeated  [by its values]",
        "columns",
    ),
    option("--ignore NAME...", "A column to set aside; may be repeated."),
    option("--max-line MIB", "How long a line or a cell may be  [64]", type=click.FloatRange(min=0, min_open=True)),
    option(
        "--max-ratio N",
        "How many bytes one may unpack to in a packed file that is read whole  [100]",
        type=click.FloatRange(min=1),
    ),
    option(
        "--database URL",
        "FILE is a query of a database: postgresql://USER@HOST/NAME, sqlite:///FILE, or the path of an SQLite or "
        "DuckDB file. A password comes from PGPASSWORD, ~/.pgpass, or a $NAME in the URL.",
    ),
)
# Of these, what says how files are written.
_WRITTEN = ("format_", "separator", "quote", "encoding", "header", "columns_called", "missing", "max_line", "max_ratio")
AUDITED = (
    option(
        "--protected COLUMN...",
        "The column of FILE that says the group of each row; may be repeated, an audit for each.",
    ),
    option(
        "--templates NAME|FILE...",
        "Sentences that differ in a name only: english, italian, spanish, or a CSV file with the columns template, "
        "group and term, or with ready sentences; may be repeated.",
    ),
)
COMMON = (
    option("-q --quiet", "Say nothing on stderr.", expose_value=False, callback=_keep),
    option("--debug", "Show where an error arose.", expose_value=False, callback=_keep),
)


def command(name: str, *parts: Decorator | Iterable[Decorator], of: click.Group | None = None) -> Decorator:
    """A command, alone or of a group, with its arguments and options in their order, and those that all have."""

    def decorate(function: Any) -> click.Command:
        for part in reversed([*parts, COMMON]):
            for each in [part] if callable(part) else reversed([*part]):
                function = each(function)
        made = click.command if of is None else of.command
        return made(name, short_help=COMMANDS[name] if of is None else None)(function)

    return decorate


def pairs(given: Sequence[str], option: str, form: str = "NAME=KIND") -> dict[str, str]:
    """What was given as NAME=VALUE; the last = divides them."""
    found = dict[str, str]()
    for each in given:
        name, equals, value = each.rpartition("=")
        if not equals or not name:
            raise click.BadParameter(f"{each!r} is no {form}", param_hint=option)
        found[name] = value
    return found


def kinds(given: Given) -> dict[str, str]:
    """What --column and --ignore say."""
    return pairs(given.get("columns") or (), "--column") | dict.fromkeys(given.get("ignore") or (), "ignore")


# Models and files.


def open_files(paths: Sequence[str], given: Given, target: str | None = None, model: Any = None, **more: Any) -> Any:
    """The scan of some files for a model, as the options of `READING` say; what was detected is printed."""
    if not any(given.get(name) for name in ("engine", "scheduler", "master")):
        _leave_pandas_out()
    read: Any = list(paths)
    if database := given.get("database"):
        read = _query(paths, database, given, **{name: more.pop(name) for name in ("once", "settle") if name in more})
    from ingenuo.rows.files.bytes import MAX_LINE, MAX_RATIO
    from ingenuo.rows.files.scan import scan
    from ingenuo.rows.streams import text_columns

    separator, quote = given.get("separator"), given.get("quote")
    found = scan(
        read,
        database=database,
        format=given.get("format_"),
        separator={"tab": "\t", "\\t": "\t", "space": " "}.get(separator or "", separator),
        quote={"none": ""}.get(quote or "", quote),
        encoding=given.get("encoding"),
        errors=given.get("errors") or "strict",
        header=given.get("header"),
        names=given["columns_called"].split(",") if given.get("columns_called") else None,
        missing=list(given["missing"]) if given.get("missing") else None,
        max_line=int((given.get("max_line") or 0) * (1 << 20)) or MAX_LINE,
        max_ratio=given.get("max_ratio") or MAX_RATIO,
        columns=kinds(given) | more.pop("columns", {}),
        target=target,
        texts=text_columns(model),
        **more,
    )
    for note in found.notes:
        say(note)
    return found


def _query(paths: Sequence[str], database: str, given: Given, **how: bool) -> Any:
    """The rows of a query; options that say how files are written are refused."""
    from ingenuo.rows.database import Query, without_password

    odd = [name for name in _WRITTEN if given.get(name) not in (None, ())]
    odd += ["errors"] * (given.get("errors") == "replace")
    if odd:
        name = {"format_": "format", "columns_called": "names"}.get(odd[0], odd[0]).replace("_", "-")
        raise click.UsageError(f"--{name} says how files are written, and --database reads a query; leave it out.")
    if len(paths) != 1:
        raise click.UsageError("--database reads one query; put it in quotes: 'SELECT … FROM …'.")
    if without_password(database) != database:
        say("note: others on this machine may see a password that is typed; let it come from PGPASSWORD or ~/.pgpass")
    return Query(paths[0], database, **how)


def _leave_pandas_out() -> None:
    """Let Arrow find no pandas when it makes its first array: to import it takes longer (0.4 s) than to learn a file.

    No command needs it. It is done in a process of our own alone: elsewhere a user may give Arrow what is of pandas.
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


def open_rows(model: Any, paths: Sequence[str], given: Given, target: str | None = None, **how: Any) -> Any:
    """The rows of some files as a fitted model takes them."""
    from ingenuo.rows.streams import rows_for

    return rows_for(model, open_files(paths, given, model=model), target, **how)


def load(path: str, *, answers: bool = False, target: str | None = None) -> Any:
    """The model of a file, or the network of a network file; - is standard input.

    If it is to answer rows, a network that says which node is the class becomes a classifier. `target` says it.
    """
    from ingenuo import store
    from ingenuo.networks.files import is_network_file
    from ingenuo.networks.network import Network
    from ingenuo.show.format import listed

    if path != "-" and is_network_file(path):
        found: Any = Network.read(path)
    else:
        found = store.from_bytes(sys.stdin.buffer.read()) if path == "-" else store.load(path)
    if target is not None and isinstance(found, Network):
        if target not in found.nodes:
            raise click.BadParameter(
                f"{path} has no node {target!r}; it has {listed(found.nodes, 6)}", param_hint="--target"
            )
        found.target = target
    if not answers or not isinstance(found, Network):
        return found
    if found.target is None:
        how = (
            "add the line `target: NODE` to it" if path.endswith((".yaml", ".yml")) else "see `ingenuo network convert`"
        )
        raise click.ClickException(
            f"{path} does not say which of its nodes is the class ({listed(found.nodes, 6)}); {how}, or use "
            "`ingenuo network classify --target NODE`"
        )
    from ingenuo.models.network_classifier import NetworkClassifier

    return NetworkClassifier.from_network(found)


def load_model(path: str) -> Any:
    """The model of a file, which must be one that learned columns and answers rows."""
    model = load(path, answers=True)
    if not hasattr(model, "schema_") or not hasattr(model, "predict"):
        raise click.ClickException(
            f"{path} holds a {type(model).__name__}, and no model that answers rows; `ingenuo inspect` shows what it is"
        )
    return model


def about(path: str) -> dict[str, Any]:
    """What a model file says of where its model comes from."""
    from ingenuo import store
    from ingenuo.networks.files import is_network_file

    return {} if path == "-" or is_network_file(path) else store.about(path)


def save(model: Any, path: str, about: Mapping[str, Any], as_json: bool) -> None:
    """Write a model with what is known of it, which is printed too with --json; - is standard output."""
    from ingenuo import store

    if path == "-":
        sys.stdout.buffer.write(store.to_bytes(model, about))
        sys.stdout.buffer.flush()
    else:
        store.save(model, path, about)
        say(f"written to {path} ({os.path.getsize(path):,} bytes)")
    if as_json:
        out_json(about)


def check_inputs(*paths: str | None, files: Iterable[str | None] = (), given: Given | None = None) -> None:
    """Refuse files that are not there before anything is imported that could read them; - and patterns may pass.

    What stands for `files` may be a query, if a database is given.
    """
    for path in (*paths, *(files if (given or {}).get("database") is None else ())):
        if path is not None and path != "-" and not os.path.exists(path) and not any(sign in path for sign in "*?["):
            raise missing_file(path)


def shown_names(files: Iterable[str], given: Given) -> list[str]:
    """What reports call the files, without their folders; a query is called by itself."""
    return list(files) if given.get("database") else [os.path.basename(path) for path in files]


def check_writable(path: str | None, inputs: Sequence[str] = ()) -> None:
    """Refuse a place where no file can be written, or none should be, before the work and not after it."""
    if path is None or path == "-":
        return
    folder, problem = os.path.dirname(os.path.realpath(path)), ""
    if any(each != "-" and os.path.realpath(each) == os.path.realpath(path) for each in inputs):
        problem = " is read here, and would be overwritten; name another file to write to"
    elif not os.path.isdir(folder):
        problem = f": there is no folder {folder!r} to write to; make it first"
    elif os.path.isdir(path):
        problem = " is a folder; name a file to write to"
    elif not os.access(folder, os.W_OK):
        problem = f": the folder {folder!r} may not be written to; name another"
    if problem:
        raise click.ClickException(path + problem)


def check_model_output(path: str | None, inputs: Sequence[str], as_json: bool) -> None:
    """The same for a model, which must not overwrite what is none, nor stand beside JSON on standard output."""
    if path == "-" and as_json:
        raise click.UsageError("the model and --json cannot both go to standard output; name a file for the model")
    check_writable(path, inputs)
    if path is not None and os.path.isfile(path) and os.path.getsize(path):
        with open(path, "rb") as file:
            if b'"format":"ingenuo"' not in file.read(64):
                raise click.ClickException(f"{path} is there already and holds no model; remove it, or name another")
    if path is not None and os.path.splitext(path)[1].lower() in (*TABLES, *PICTURES, *_ROWS):
        raise click.BadParameter(f"{path!r} is no name for a model; let it end in .ingenuo", param_hint="-o")


def form_of(path: str | None, wanted: str | None, forms: Mapping[str, str]) -> str:
    """The form to write: as wanted, as the ending of the name says, else the first; other endings are refused."""
    if wanted is not None or path is None or path == "-":
        return wanted or next(iter(forms.values()))
    ending = os.path.splitext(path)[1].lower()
    if ending not in forms:
        raise click.BadParameter(f"{path!r} has none of the endings {', '.join(forms)}", param_hint="-o")
    return forms[ending]


# What is printed and written.


def _root() -> dict[str, Any]:
    """What the command as a whole was given."""
    return click.get_current_context().find_root().obj or {}


def typed() -> str:
    """The command as it was typed, without passwords."""
    words = ["ingenuo", *_root().get("typed", [])]
    if any("://" in word or "password" in word.lower() for word in words):
        from ingenuo.rows.database import without_password

        words = [without_password(word) for word in words]
    return shlex.join(words)


def is_heard() -> bool:
    """Whether messages are shown."""
    return not _root().get("quiet")


def echo(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print: the one place where text leaves a command. What a terminal would obey is shown, our colours apart."""
    stream = sys.stderr if err else sys.stdout
    kept = _COLOURS.split(str(text)) if wants_colours(stream) else [str(text)]
    kept[::2] = map(visible, kept[::2])
    stream.write("".join(kept) + "\n" * nl)
    stream.flush()


_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")


def bold(text: str, colour: str = "39", stream: Any = None) -> str:
    """Text in bold letters of a colour, for a terminal that wants them."""
    return f"\x1b[1;{colour}m{text}\x1b[0m" if wants_colours(sys.stdout if stream is None else stream) else text


def say(*messages: str) -> None:
    """Messages, on stderr."""
    for message in messages:
        if is_heard():
            echo(message, err=True)


out = echo  # data, on stdout


def out_data(pieces: Iterable[bytes], path: str | None, *, binary: bool = False) -> None:
    """Pieces of a file on stdout: as they are for -, or if they are no text; else as they may be printed."""
    changed = False
    for piece in pieces:
        text = "" if binary or path == "-" else piece.decode(errors="surrogateescape")
        shown = visible(text)
        changed |= shown != text
        sys.stdout.buffer.write(shown.encode() if text else piece)
    sys.stdout.buffer.flush()
    if changed:
        say(r"note: control characters are printed as escapes such as \u001b; -o - writes the values as they are")


def out_json(data: Any) -> None:
    """Data as JSON, on stdout."""
    from ingenuo.show.table import json_text

    out(json_text(data))


def show(found: Any, as_json: bool = False) -> None:
    """A result as it prints, in colours on a terminal, or as data."""
    out(found.to_json() if as_json else found.to_text(colour=wants_colours(sys.stdout)))


def write(data: str | bytes | Iterable[str], path: str | None, *, binary: bool = False) -> None:
    """Text (perhaps in pieces) or bytes to a file, whole or not at all; as they are to stdout for -, else printed."""
    pieces = [data] if isinstance(data, str | bytes) else data
    lines = (piece if isinstance(piece, bytes) else _ended(piece).encode() for piece in pieces)
    if path is None and not isinstance(data, bytes):
        for line in lines:
            echo(line.decode(), nl=False)
        return
    if path is None or path == "-":
        out_data(lines, path, binary=binary)
        return
    from ingenuo.tally.container import replace_file

    replace_file(os.path.realpath(path), lines)
    say(f"written to {path} ({os.path.getsize(path):,} bytes)")


def _ended(text: str) -> str:
    """With an end of its last line."""
    return text if text.endswith("\n") or not text else f"{text}\n"


def keep_old(path: str, old: str) -> None:
    """Keep a copy of a file that is about to be replaced."""
    from ingenuo.tally.container import replace_file

    with open(path, "rb") as file:
        replace_file(os.path.realpath(old), [file.read()])
    say(f"the model as it was is kept as {old}")


def draw(axes: Any, path: str) -> None:
    """What was drawn on matplotlib's axes, one or several of a figure, to a file, whole or not at all."""
    import matplotlib

    first = axes if hasattr(axes, "figure") else next(iter(axes))
    data = io.BytesIO()
    kind = os.path.splitext(path)[1].lower()[1:]
    dated = {"svg": "Date", "pdf": "CreationDate"}.get(kind)  # left out, so that equal pictures are equal files
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ingenuo"}):
        first.figure.savefig(data, format=kind, dpi=150, metadata={dated: None} if dated else None)
    write(data.getvalue(), path)


@contextmanager
def watched(rows: Any, what: str) -> Iterator[None]:
    """Show, on a terminal, what is done, how many rows have been read and how fast, and the time that is left."""
    if not is_heard() or not sys.stderr.isatty():
        yield
        return
    from rich import progress
    from rich.console import Console

    from ingenuo.show.format import watchers

    fields = [progress.TextColumn(f"{{task.{name}}}", markup=False) for name in ("description", "fields[counted]")]
    began = reading = time.monotonic()
    with progress.Progress(
        fields[0], progress.BarColumn(), fields[1], console=Console(stderr=True), transient=True
    ) as shown:
        number = shown.add_task(what, total=None, counted="")
        task = shown.tasks[0]

        def step(doing: str, done: int, total: int, counted: str = "") -> None:
            nonlocal began
            if done >= total:  # what is still to do has no measure: a full bar would wait
                began, task.total = time.monotonic(), None
            else:
                left, task.total = round((time.monotonic() - began) * (total - done) / max(done, 1)), total
                counted += f"{', ' * bool(counted)}{left // 60}:{left % 60:02} left"
            shown.update(number, description=doing, completed=done, counted=counted)

        def read(n_bytes: int, n_rows: int) -> None:
            nonlocal began, reading
            if task.completed > n_bytes:  # they are read again
                began = reading = time.monotonic()
            speed = n_rows / max(time.monotonic() - reading, 1e-3)
            step(what, n_bytes, rows.n_bytes or 0, f"{n_rows:,} rows, {speed:,.0f} rows/s")

        watchers.append(step)
        if rows is not None:
            rows.progress = read
        try:
            yield
        finally:
            watchers.pop()
            if rows is not None:
                rows.progress = None


# The group.


class _LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it or show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        home = next((home for home, names in _MODULES.items() if cmd_name in names), cmd_name)
        return getattr(importlib.import_module(f"ingenuo.cli.commands.{home}"), cmd_name)  # type: ignore[no-any-return]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **more: Any) -> Any:
        """Run it; where it stands alone, errors are printed, and it ends with their exit code."""
        self._is_process = args is None  # it was started by its name, and not called from Python
        alone = more.pop("standalone_mode", True)
        if self._is_process and sys.platform != "win32":
            _heed_termination()
        try:
            code = super().main(args, *rest, **more | {"standalone_mode": False})
        except click.ClickException as error:
            if not alone:
                raise
            _show_error(error)
            code = error.exit_code
        return sys.exit(code or 0) if alone else code

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.ensure_object(dict).update(typed=list(args), is_process=getattr(self, "_is_process", False))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run it; what the library refuses is one line, without a traceback unless --debug is given."""
        ctx.ensure_object(dict)
        try:
            with warnings.catch_warnings():  # which puts the former way of showing them back
                warnings.simplefilter("default")
                warnings.filterwarnings("ignore", "ignored: ")  # the table of columns says it
                for category in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning, RuntimeWarning):
                    warnings.simplefilter("ignore", category)
                warnings.showwarning = _note  # type: ignore[assignment]
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # whoever read our output has seen enough
            if ctx.obj.get("debug"):
                echo(traceback.format_exc(), err=True, nl=False)
            raise _failure(error) from None


class _Interrupted(click.ClickException):
    exit_code = 130


class _Ended(click.ClickException):
    exit_code = 143


_AGAIN = 0.5  # seconds


class _Terminated(KeyboardInterrupt):
    """The system asks for an end; what is half written is removed, as after Ctrl-C."""


def _end(*_: object) -> None:
    if not isinstance(sys.exc_info()[1], KeyboardInterrupt):  # it unwinds already
        raise _Terminated


def _heed_termination() -> None:
    """Unwind when the system asks for an end, even while this thread waits for a pipe, which another does not wake."""
    waiting, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGTERM, _end)
    signal.set_wakeup_fd(writing)
    here = threading.get_ident()

    def wake() -> None:
        while os.read(waiting, 1) != bytes([signal.SIGTERM]):
            pass
        while True:
            time.sleep(_AGAIN)
            signal.pthread_kill(here, signal.SIGTERM)

    threading.Thread(target=wake, daemon=True).start()


def _failure(error: BaseException) -> click.ClickException:
    """What went wrong, in one sentence."""
    if isinstance(error, KeyboardInterrupt):
        ended = _Ended if isinstance(error, _Terminated) else _Interrupted
        return ended("interrupted; nothing was written" + "".join(f" ({arg})" for arg in error.args))
    if isinstance(error, MemoryError):
        return click.ClickException(f"there is not enough memory for this ({error or 'none left'}); take fewer rows")
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        name = "standard output: " if error.errno == errno.ENOSPC and not name else name
        return click.ClickException(f"{name}{error.strerror or error}")
    if not isinstance(error, IngenuoError):
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return click.ClickException(f"this should not have happened ({what}); --debug shows where it did")
    return click.ClickException(error.in_command())


def _show_error(error: click.ClickException) -> None:
    """An error on stderr, as click shows it: the usage first, where it is of that."""
    shown = io.StringIO()
    error.show(shown)
    usage, message = shown.getvalue().partition("Error:")[0], visible(error.format_message(), lines=False)
    echo(f"{usage}{bold('Error:', '31', sys.stderr)} {message}", err=True)


def _note(message: Warning | str, *where: object) -> None:
    """A warning as a line on stderr, once: where in the code it was given says nothing here."""
    context = click.get_current_context(silent=True)
    known = {} if context is None else context.find_root().ensure_object(dict)
    text = message.in_command() if isinstance(message, Spelled) else str(message)
    line, said = f"note: {visible(text, lines=False)}", known.setdefault("notes", set())
    if not known.get("quiet") and line not in said:
        said.add(line)
        echo(line, err=True)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ingenuo")
@click.option("--debug", is_flag=True, help="Show where in the code an error arose.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Classify tables and texts by Bayes' rule, and see the arithmetic behind every answer.

    \b
    ingenuo train mail.csv --target label -o mail.ingenuo --folds 10
    ingenuo predict mail.ingenuo new.csv -o answers.csv
    ingenuo explain mail.ingenuo new.csv --rows 3,7

    Every command has --help, with examples. Files are CSV, TSV, Parquet, Arrow, JSON lines, ARFF, fastText's lines or
    folders of texts, compressed or not; - is standard input or output.
    """
    ctx.ensure_object(dict)["debug"] = debug
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that has no "÷" gets a "?", not a traceback
            stream.reconfigure(errors="replace")
