"""A real server in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving(*words: str) -> Iterator[str]:
    """`ingenuo serve` on a free port of this machine; its address."""
    command = [sys.executable, "-c", "from ingenuo.cli import main; main()", "serve", *words]
    running = subprocess.Popen([*command, "--port", "0", "--drain", "0", "-q"], stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        yield running.stdout.readline().strip()
    finally:
        running.terminate()
        running.communicate(timeout=60)
