"""A progress bar on stderr, on a terminal only: how many bytes are read, how fast, how long it will take yet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ingenuo.cli import options


@contextmanager
def bar(n_bytes: int | None, what: str) -> Iterator[Callable[[int], None] | None]:
    """A function to tell how many bytes have been read; None where nothing is to be shown."""
    if options.quiet() or not sys.stderr.isatty():
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
def watched(rows: Any, what: str) -> Iterator[Any]:
    """The same rows, whose reading is shown."""
    with bar(rows.n_bytes, what) as progress:
        if progress is None:
            yield rows
            return
        from ingenuo.sources.streams import Watched

        yield Watched(rows, progress)
