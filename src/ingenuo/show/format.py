"""Numbers, names and progress as a person reads them, and plain data as JSON holds it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Dictionaries, lists, texts, numbers, booleans and None; all else as text, and so is what is infinite.

    >>> import datetime
    >>> plain({np.int64(3): [np.float64(0.5), -math.inf, math.nan], datetime.date(2020, 1, 2): True})
    {3: [0.5, '-inf', None], '2020-01-02': True}
    """
    if isinstance(value, Mapping):
        return {_key(plain(name)): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    return str(value)


def _key(name: Any) -> Any:
    """A label as the name of an entry: one of several parts as text."""
    return str(tuple(name)) if isinstance(name, list) else name


def span(low: float | None, high: float | None) -> str:
    """An interval as it is printed: a dash where there is none."""
    return "–" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def cell(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval.

    >>> cell(0.5, 0.25, 0.75), cell(0.5, None, None), cell(None, None, None)
    ('0.500 [0.250, 0.750]', '0.500', '–')
    """
    text = "–" if value is None or math.isnan(value) else f"{value:.3f}"
    return text if low is None or high is None else f"{text} {span(low, high)}"


def count(value: float) -> str:
    """Rows, or a sum of their weights."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


# How far a long task is, on stderr: a line for each step if asked for, else one that is kept up to date.


_WAIT = 5.0  # seconds after which a fit says how far it is, in a terminal


class Line:
    """A line on stderr that is kept up to date in a terminal, once it takes long; or lines, where asked for."""

    def __init__(self, verbose: bool | None) -> None:
        self.verbose, self.began, self.shown = verbose, time.monotonic(), False

    def say(self, line: str) -> None:
        """Say it, if it is to be said."""
        if self.verbose:
            print(line, file=sys.stderr, flush=True)
        elif self.verbose is None and sys.stderr.isatty() and time.monotonic() - self.began >= _WAIT:
            self.shown = True
            print(f"\r{line:<79}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line that was kept up to date."""
        if self.shown:
            print(file=sys.stderr)


class Progress(Line):
    """Called after each iteration; closed at the end.

    `verbose` is True for a line an iteration, False for nothing, None for one line in a terminal, once it takes long.
    """

    def __call__(self, iteration: int, loss: float, excess: float) -> None:
        """How far the loss is from its least."""
        self.say(f"iteration {iteration}: loss {loss:.8g}, at most {excess:.3g} above the least")


class Counter(Line):
    """Counts the steps of a task whose number is known: a bar in a terminal, once it takes long."""

    def __init__(self, what: str, total: int, verbose: bool | None) -> None:
        super().__init__(verbose)
        self.what, self.total, self.done = what, total, 0

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def step(self, by: int = 1) -> None:
        """So many more are done."""
        self.done += by
        filled = 30 * self.done // max(self.total, 1)
        self.say(f"{self.what} {self.done:,} of {self.total:,} [{'█' * filled}{' ' * (30 - filled)}]")
