"""The command `ingenuo`: a group whose sub-commands are imported when they are called.

Commands hold no logic: they read their options, call the library and print. Data goes to stdout, all else to stderr.
What the library refuses is one sentence and exit code 1, what the command line gets wrong is exit code 2, and an
interrupted command ends with 130; a traceback is shown only with `--debug`.
"""

from __future__ import annotations

import errno
import importlib
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import click

from ingenuo import __version__
from ingenuo.errors import IngenuoError, did_you_mean

# Each command with its line in the help, which is so shown without importing any of them.
COMMANDS = {
    "audit": "Look for harms: groups of names in sentences, or groups of rows in a table.",
    "believe": "Hypotheses and what is observed in, posterior beliefs out.",
    "card": "Write a model card: data, use, limits, evaluation, audit.",
    "compare": "Which of several models is better on a file, and is it luck?",
    "completion": "Print what makes a shell complete commands and options.",
    "demo": "Learn, answer, explain, forget and merge on data the package carries.",
    "evaluate": "Judge a model by rows whose class is known, with intervals.",
    "explain": "Show the arithmetic behind answers.",
    "forget": "Unlearn rows, exactly.",
    "generate": "Draw rows or texts from a model.",
    "inspect": "What a model has learned: schema, counts, strongest evidence.",
    "merge": "Add up what several models have learned.",
    "network": "Bayesian networks: learn, query, draw and convert them.",
    "predict": "Append the answers of a model to the rows of a file.",
    "report": "Write one page about a model and how good it is.",
    "train": "Learn a model from files.",
    "update": "Learn more rows.",
}
# The modules that hold other commands than that of their own name.
_MODULES = {
    "change": ("forget", "merge", "update"),
    "demo": ("completion",),
    "explain": ("inspect",),
    "judge": ("audit", "compare", "evaluate"),
    "predict": ("generate",),
    "report": ("card",),
}


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

    def main(self, args: Sequence[str] | None = None, *further: Any, **options: Any) -> Any:
        self._is_process = args is None  # it was started by its name, and not called from Python
        return super().main(args, *further, **options)

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
                traceback.print_exc()
            raise _failure(error) from None


class _Interrupted(click.ClickException):
    exit_code = 130


def _failure(error: BaseException) -> click.ClickException:
    """What went wrong, in one sentence."""
    if isinstance(error, KeyboardInterrupt):
        return _Interrupted("interrupted; nothing was written" + "".join(f" ({arg})" for arg in error.args))
    if isinstance(error, MemoryError):
        return click.ClickException(f"there is not enough memory for this ({error or 'none left'}); take fewer rows")
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        return click.ClickException(f"{name}{error.strerror or error}")
    if not isinstance(error, IngenuoError):
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return click.ClickException(f"this should not have happened ({what}); --debug shows where it did")
    return click.ClickException(str(error))


def _note(message: Warning | str, *where: object) -> None:
    """A warning as a line on stderr: where in the code it was given says nothing here."""
    context = click.get_current_context(silent=True)
    if context is None or not (context.find_root().obj or {}).get("quiet"):
        click.echo(f"note: {message}", err=True)


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
