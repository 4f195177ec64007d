"""Lines of JSON that say what was answered: never a value of a row, a token, or what follows the path of an address."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,64}")
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Log:
    """Writes lines to a function, or nowhere."""

    def __init__(self, write: Callable[[str], Any] | None) -> None:
        self._write = write
        self._second, self._shown = -1, ""
        self._begin = f"{os.getpid():x}-{time.time_ns() & 0xFFFFFFFF:08x}"
        self._number = 0

    def line(self, **fields: Any) -> None:
        """Write a line; what is None is left out."""
        if self._write is not None:
            found = {"time": self._now(), **{name: value for name, value in fields.items() if value is not None}}
            self._write(_encode(found) + "\n")

    def request_id(self, given: str) -> str:
        """The name of a request: as the caller calls it where that is a plain name, else a number of our own."""
        if given and _ID.fullmatch(given):
            return given
        self._number += 1
        return f"{self._begin}-{self._number:x}"

    def _now(self) -> str:
        """The time in UTC; the seconds are formatted once."""
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second, self._shown = second, datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._shown}.{int((now - second) * 1000):03d}Z"


def write_error(text: str) -> None:
    """Write to standard error, as long as anybody reads it."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def place_of(error: BaseException) -> str:
    """Where in this package an error arose, without what it says: that may hold values of rows."""
    trace, found = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        found = f"{name}:{trace.tb_lineno}" if name.startswith("ingenuo") else found
        trace = trace.tb_next
    return found
