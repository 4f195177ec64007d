"""Several processes that serve on one socket, and the one that looks after them."""

from __future__ import annotations

import socket
from collections.abc import Callable

from ingenuo.serve.process import Process, Settings


def serve(settings: Settings, bound: socket.socket, announce: Callable[[], object]) -> None:
    """Serve on a socket until the end is asked for; `announce` is called when every model answers."""
    Process(settings, announce).run(bound)
