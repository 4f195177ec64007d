"""The pictures that commands write: the ending of a file's name says which kind."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

import click

from ingenuo.cli import options

ENDINGS = (".svg", ".png", ".pdf")


def _known(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse a name before the work, not after it."""
    if value is not None and os.path.splitext(value)[1].lower() not in ENDINGS:
        raise click.BadParameter(f"{value!r} has none of the endings {', '.join(ENDINGS)}", ctx, parameter)
    options.check_writable(value)
    return value


def option(name: str, help: str) -> Callable[[options.F], options.F]:
    """An option that names a picture."""
    return click.option(
        name, type=click.Path(), metavar="FILE", callback=_known, help=f"{help}: a .svg, .png or .pdf file."
    )


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
