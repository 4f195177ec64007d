"""Several processes that answer on one socket, the one that learns for them, and the one that looks after them all.

Processes are started again when they die, but not for ever. They are begun by `spawn`: none has the memory of another.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from ingenuo.errors import IngenuoError, InputError
from ingenuo.serve.http import failure
from ingenuo.serve.logs import Log, write_error
from ingenuo.serve.models import Served
from ingenuo.serve.process import Learning, Process, Settings, open_live
from ingenuo.serve.publish import CHANGES, Counts, Numbers, Published, Publisher, Remote, answer_changes

READY, ERROR, END = "ready", "error", "end"
_DEATHS, _WITHIN = 5, 60.0  # so many, in so many seconds, of a process are too many
_LEAVE = 35.0  # seconds that a process may take to end


def serve(settings: Settings, bound: socket.socket, announce: Callable[[], object]) -> None:
    """Serve on a socket until the end is asked for; `announce` is called when every model answers."""
    if settings.workers == 1:
        Process(settings, announce).run(bound)
    else:
        Supervisor(settings, bound).run(announce)


class _Child:
    """A process, and how to begin it again."""

    def __init__(self, target: Callable[..., None], *args: Any) -> None:
        self._target, self._args = target, args
        self.deaths: deque[float] = deque(maxlen=_DEATHS)
        self.is_ready = False

    def start(self) -> None:
        """Begin it."""
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=self._target, args=(other, *self._args))
        self.process.start()
        other.close()
        self.is_ready = False

    def hear(self) -> str | None:
        """What it has said, if anything: that it is ready, or why it cannot be."""
        try:
            while self.pipe.poll():
                what, said = self.pipe.recv()
                self.is_ready = self.is_ready or what == READY
                if what == ERROR:
                    return str(said)
        except (EOFError, OSError):
            pass
        return None

    def end(self, *, ask: Callable[[], None]) -> None:
        """Ask it to end, wait, and end it where it does not."""
        if self.process.is_alive():
            ask()
            self.process.join(_LEAVE)
        if self.process.is_alive():
            self.process.kill()
        self.process.join()

    def ask(self) -> None:
        """Ask it to end, when nobody needs it any more."""
        with suppress(OSError):
            self.pipe.send((END, None))


class Supervisor:
    """Begins the processes, begins those again that die, and ends them in their order."""

    def __init__(self, settings: Settings, bound: socket.socket) -> None:
        if settings.learn and not hasattr(socket, "AF_UNIX"):
            raise InputError("on this system one process learns and answers; leave --workers out")
        self._settings, self._bound = settings, bound
        self._log = Log(None if settings.quiet else write_error)
        self._ending = threading.Event()
        self._signalled: deque[int] = deque()

    def run(self, announce: Callable[[], object]) -> None:
        """Serve until the end is asked for."""
        folder = Path(tempfile.mkdtemp(prefix="ingenuo-serve-"))  # which is ours alone
        owner = [_Child(_own, self._settings, folder)] if self._settings.learn else []
        readers = [_Child(_answer, self._settings, folder, self._bound, n) for n in range(self._settings.workers)]
        before = {number: signal.signal(number, self._note) for number in _signals()}
        error: str | None = None
        try:
            for group in (owner, readers):
                for child in group:
                    child.start()
                error = error or self._wait_for(group)
            if error is None and not self._ending.is_set():
                announce()
                error = self._look_after([*owner, *readers])
        finally:
            self._bound.close()  # so that nobody waits at a door behind which nobody is
            for child in readers:
                if hasattr(child, "process") and child.process.is_alive() and child.process.pid:
                    os.kill(child.process.pid, signal.SIGTERM)
            for child in [*readers, *owner]:
                if hasattr(child, "process"):
                    child.end(ask=child.ask)
            shutil.rmtree(folder, ignore_errors=True)
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if number == signal.SIGTERM else handler)
        if error is not None:
            raise InputError(error)

    def _note(self, number: int, _: Any) -> None:
        self._signalled.append(number)
        if number in (signal.SIGTERM, signal.SIGINT):
            self._ending.set()

    def _wait_for(self, group: list[_Child]) -> str | None:
        """Wait until some processes are ready; why they cannot be, if so."""
        while not self._ending.is_set() and not all(child.is_ready for child in group):
            waiting = [child for child in group if not child.is_ready]
            wait([*(child.pipe for child in waiting), *(child.process.sentinel for child in waiting)], 0.2)
            for child in group:
                said = child.hear()
                if said is not None or (not child.is_ready and not child.process.is_alive()):
                    return said or "a process ended before it was ready; the lines above may say why"
        return None

    def _look_after(self, children: list[_Child]) -> str | None:
        """Begin processes again until the end is asked for; why that is given up, if it is."""
        while not self._ending.is_set():
            wait([child.process.sentinel for child in children], 0.2)
            while self._signalled:
                number = self._signalled.popleft()
                for child in children:
                    if number == getattr(signal, "SIGHUP", None) and child.process.pid:
                        os.kill(child.process.pid, number)
            for child in children:
                said = child.hear()
                if child.process.is_alive() or self._ending.is_set():
                    continue
                now, code = time.monotonic(), child.process.exitcode
                child.deaths.append(now)
                self._log.line(event="died", code=code)
                if len(child.deaths) == _DEATHS and now - child.deaths[0] < _WITHIN:
                    often = f"a process died {_DEATHS} times within {_WITHIN:g} seconds, the last time with {code}"
                    return said or often
                child.start()
        return None


def _signals() -> list[int]:
    return [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]


# What the processes do.


def _answer(pipe: Connection, settings: Settings, folder: Path, bound: socket.socket, number: int) -> None:
    """Answer requests until the end is asked for."""
    changes, published = None, None
    if settings.learn:
        numbers = Numbers(folder, len(settings.models), owner=False)
        published = [Published(name, folder, place, numbers) for place, (name, _) in enumerate(settings.models)]
        changes = Remote(folder)
    process = Process(settings, lambda: pipe.send((READY, None)), changes, published)
    process.counts = Counts(folder, process.service)
    _end_with(pipe, lambda: os.kill(os.getpid(), signal.SIGTERM))
    try:
        process.run(bound)
    except (IngenuoError, OSError) as error:
        _say_error(pipe, error)


def _own(pipe: Connection, settings: Settings, folder: Path) -> None:
    """Learn for the others until nobody needs it any more: their end comes first."""
    warnings.simplefilter("ignore")  # they may hold values of rows
    for number in _signals():
        signal.signal(number, signal.SIG_IGN)
    models = [Served(name, path) for name, path in settings.models]
    log = Log(None if settings.quiet else write_error)
    learning = Learning({each.name: each for each in models})

    async def work() -> None:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        _end_with(pipe, lambda: loop.call_soon_threadsafe(ended.set))
        publisher = Publisher(folder, models)
        for place in range(len(models)):
            publisher.write(place)
        (folder / CHANGES).unlink(missing_ok=True)
        server = await answer_changes(learning, publisher, folder)
        pipe.send((READY, None))
        async with server:
            await ended.wait()

    try:
        for served in models:
            open_live(served, settings, log)
        asyncio.run(work())
        learning.close()
    except (IngenuoError, OSError) as error:
        _say_error(pipe, error)


def _end_with(pipe: Connection, end: Callable[[], object]) -> None:
    """Call something when the process that began this one asks for the end, or is gone."""

    def listen() -> None:
        with suppress(EOFError, OSError):
            pipe.recv()
        end()

    threading.Thread(target=listen, daemon=True).start()


def _say_error(pipe: Connection, error: Exception) -> None:
    said = error.in_command() if isinstance(error, IngenuoError) else failure(error).body.decode()
    with suppress(OSError):
        pipe.send((ERROR, said))
