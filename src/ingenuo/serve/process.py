"""One process that serves: it says that it is not ready while models are loaded, follows their files, ends gently."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from ingenuo.errors import InputError
from ingenuo.serve.app import INLINE, Changes, Service, check_keys
from ingenuo.serve.bodies import read_rows
from ingenuo.serve.http import LOOPBACK, Answer, Guard, Token
from ingenuo.serve.live import LiveModel
from ingenuo.serve.logs import Log, write_error
from ingenuo.serve.models import Served
from ingenuo.serve.server import Server, is_loopback
from ingenuo.show.format import plain

_LOOK = 1.0  # seconds between two looks at the files


@dataclass(frozen=True)
class Settings:
    """What a server is started with."""

    models: tuple[tuple[str, str], ...]  # names and files
    host: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()  # names by which it may be asked
    tokens: tuple[Token, ...] = ()
    learn: bool = False
    journal: str | None = None  # the folder of the journals; beside each model where there is none
    workers: int = 1
    rate: float | None = None
    drain: float = 5.0
    quiet: bool = False

    def journal_of(self, name: str, path: str) -> str:
        """The folder of the journal of a model."""
        return f"{path}.journal" if self.journal is None else os.path.join(self.journal, name)

    def guard(self) -> Guard:
        """Who is answered."""
        own = self.host if ":" not in self.host else f"[{self.host}]"
        return Guard(self.tokens, hosts=self.hosts or ((*LOOPBACK, own) if is_loopback(self.host) else None))


class Learning:
    """What learns and forgets in this process: every change is kept before it is answered."""

    def __init__(self, models: dict[str, Served]) -> None:
        self._models = models
        self._reads = ThreadPoolExecutor(1, "read")

    async def change(self, model: str, verb: str, kind: str, body: bytes, key: str | None) -> tuple[Answer, int]:
        """Change a model by the rows of a body."""
        served, loop = self._models[model], asyncio.get_running_loop()
        columns = served.last.columns
        read = partial(read_change, verb, kind, body, columns)
        found = read() if len(body) <= INLINE else await loop.run_in_executor(self._reads, read)
        rows, labels, weights, learned = found
        more = {"learned": learned} if verb == "recalibrate" else {}
        said = await asyncio.wrap_future(served.live.submit(verb, rows, labels, weights, key=key, **more))
        return Answer.of({"model": model, **plain(said)}), len(labels)

    def close(self) -> None:
        """End, after the last change."""
        self._reads.shutdown()
        for served in self._models.values():
            if served.live is not None:
                served.live.close()


def read_change(verb: str, kind: str, body: bytes, columns: Any) -> tuple[Any, list[Any], list[float] | None, bool]:
    """The rows of a body as they are learned, their classes and weights, and whether the model knows them."""
    rows, said = read_rows(kind, body, columns, labelled=True)
    check_keys(said, *(("classes", "learned") if verb == "recalibrate" else ("classes", "weights")))
    learned = said.get("learned", True)
    if not isinstance(learned, bool):
        raise InputError('"learned" must be true or false')
    if verb == "recalibrate" and rows.weights is not None:
        raise InputError("rows that calibrate have no weights; leave them out")
    return rows.table if rows.few is None else rows.few, rows.labels or [], rows.weights, learned


def open_live(served: Served, settings: Settings, log: Log) -> None:
    """Load a model that learns: it answers once it has learned what its journal has."""
    (version, stamp), folder = served.read(), settings.journal_of(served.name, served.path)
    served.live = LiveModel(
        version.model, version.about, folder, name=served.name, version=version.version, table=version.columns.table
    )
    served.publish(version, stamp)
    for note in served.live.notes:
        log.line(event="journal", model=served.name, note=note)


class Process:
    """Models, their application, and the server of both.

    Parameters
    ----------
    settings : Settings
        What is served.
    announce : callable
        Is called when every model answers.
    changes : Changes, optional
        What learns and forgets elsewhere; without it, this process does where that is asked for.
    models : sequence of Served, optional
        What is served, where that is not what the files hold.
    """

    def __init__(
        self,
        settings: Settings,
        announce: Callable[[], object],
        changes: Changes | None = None,
        models: Sequence[Served] | None = None,
    ) -> None:
        self.settings, self._announce = settings, announce
        self.models = [Served(name, path) for name, path in settings.models] if models is None else list(models)
        self.counts: Any = None  # of this process and others
        by_name = {each.name: each for each in self.models}
        self.own = Learning(by_name) if settings.learn and changes is None else None
        self.log = Log(None if settings.quiet else write_error)
        rate = None if settings.rate is None else settings.rate / settings.workers
        self.service = Service(
            self.models, settings.guard(), log=self.log, changes=self.own if changes is None else changes, rate=rate
        )
        self._again, self._wake = False, asyncio.Event()
        self.server = Server(
            self.service,
            self._serve,
            drain=settings.drain,
            ending=self._end,
            closing=self._close,
            hangup=self._reload_soon,
        )

    def run(self, bound: socket.socket) -> None:
        """Serve on a socket until the end is asked for; raises what kept the models from being loaded."""
        warnings.simplefilter("ignore")  # they may hold values of rows
        if hasattr(signal, "SIGTERM"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the end is gentle, and no interruption
        try:
            self.server.run(sockets=[bound])
        finally:
            if self.own is not None:
                self.own.close()
        if self.server.error is not None:
            raise self.server.error
        self.log.line(event="ended")

    def open(self) -> None:
        """Load the models."""
        for served in self.models:
            if self.own is None:
                served.open()
            else:
                open_live(served, self.settings, self.log)
        gc.collect()
        gc.freeze()  # what was loaded stays, and need not be looked at again and again

    async def _serve(self) -> None:
        """Load the models beside the answers, and follow their files."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.open)
        self.log.line(event="ready", models=[{"name": each.name, "version": each.now.version} for each in self.models])
        self._announce()
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), _LOOK)
            self._wake.clear()
            if self.counts is not None:
                await loop.run_in_executor(None, self.counts.write)
            again, self._again = self._again, False
            for served in self.models:
                if served.live is None and (again or served.has_changed()):
                    await loop.run_in_executor(None, self._reload, served)

    def _reload(self, served: Served) -> None:
        """Let the version of a file answer, if it answers its check rows."""
        before = served.now.version
        try:
            version, stamp = served.read()
        except Exception as error:
            served.failures += 1
            said = " ".join(str(error).split())
            self.log.line(event="reload", model=served.name, version=before, error=f"{type(error).__name__}: {said}")
            return
        if version.version != before:
            served.publish(version, stamp)
            self.log.line(event="reload", model=served.name, version=version.version, before=before)

    def _reload_soon(self) -> None:
        self._again = True
        self._wake.set()

    def _end(self) -> None:
        if self.service.is_ready:  # else it is ending already, or never began
            self.log.line(event="ending")
        self.service.draining = True

    def _close(self) -> None:
        self.service.closing = True
