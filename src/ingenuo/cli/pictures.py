"""The pictures that commands write: the ending of a file's name says which kind."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

import click

from ingenuo.cli import options

ENDINGS = (".svg", ".png", ".pdf")


def option(name: str, help: str, endings: tuple[str, ...] = ENDINGS) -> Callable[[options.F], options.F]:
    """An option that names a picture; a name of another ending is refused before the work, not after it."""

    def known(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if value is not None and os.path.splitext(value)[1].lower() not in endings:
            raise click.BadParameter(f"{value!r} has none of the endings {', '.join(endings)}", ctx, parameter)
        options.check_writable(value)
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
    options.write_bytes(data.getvalue(), path)
