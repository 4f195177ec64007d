"""How far a long fit is, on stderr: a line for each iteration if asked for, else one that is kept up to date."""

from __future__ import annotations

import sys
import time

_WAIT = 5.0  # seconds after which a fit says how far it is, in a terminal


class Progress:
    """Called after each iteration; closed at the end.

    `verbose` is True for a line an iteration, False for nothing, None for one line in a terminal, once it takes long.
    """

    def __init__(self, verbose: bool | None) -> None:
        self.verbose, self.began, self.shown = verbose, time.monotonic(), False

    def __call__(self, iteration: int, loss: float, excess: float) -> None:
        """Say it, if it is to be said."""
        line = f"iteration {iteration}: loss {loss:.8g}, at most {excess:.3g} above the least"
        if self.verbose:
            print(line, file=sys.stderr, flush=True)
        elif self.verbose is None and sys.stderr.isatty() and time.monotonic() - self.began >= _WAIT:
            self.shown = True
            print(f"\r{line:<79}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line that was kept up to date."""
        if self.shown:
            print(file=sys.stderr)
