"""How a model that learns in one process is answered by others: files that are replaced, and numbers that are shared.

The process that owns the journal writes each version to a file, and then counts one up in a small file that all have
mapped. Who answers looks at the number before each answer, so no answer is older than one that anybody has been given.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ingenuo import store
from ingenuo.models import remote
from ingenuo.serve.http import Answer, Refused, failure
from ingenuo.serve.models import Served, Version
from ingenuo.tally.container import replace_file

NUMBERS, CHANGES = "numbers", "changes"
_NUMBER = struct.Struct("=Q")  # written at once, for it is aligned
_FRAME = struct.Struct("!II")  # the length of what is said of a body, and of the body
_AGAIN = (b"retry-after", b"1")


class Numbers:
    """A number for each model, which counts up with each version that is published."""

    def __init__(self, folder: Path, n: int, *, owner: bool) -> None:
        path = folder / NUMBERS
        if owner and not path.exists():
            path.write_bytes(bytes(_NUMBER.size * n))
        with open(path, "r+b" if owner else "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE if owner else mmap.ACCESS_READ)

    def __getitem__(self, place: int) -> int:
        return int(_NUMBER.unpack_from(self._map, place * _NUMBER.size)[0])

    def count(self, place: int) -> None:
        """One version more."""
        _NUMBER.pack_into(self._map, place * _NUMBER.size, self[place] + 1)


# The process that owns the journal.


class Publisher:
    """Writes the versions of models that learn; versions that follow each other fast are written as one."""

    def __init__(self, folder: Path, models: Iterable[Served]) -> None:
        self.models = list(models)
        self._folder, self._numbers = folder, Numbers(folder, len(self.models), owner=True)
        self._written: dict[str, int] = {}  # of each model, the change up to which it is there for all
        self._locks = {each.name: asyncio.Lock() for each in self.models}

    async def publish(self, name: str, change: int) -> None:
        """Return once the version of a change, or a later one, is there for all."""
        place = next(place for place, each in enumerate(self.models) if each.name == name)
        async with self._locks[name]:
            if self._written[name] < change:
                await asyncio.get_running_loop().run_in_executor(None, self.write, place)

    def write(self, place: int) -> None:
        """Write the version of a model that answers now."""
        served = self.models[place]
        state = served.state()
        model = served.live.model  # of that change, or of a later one
        about = {**served.last.about, "published": {key: state[key] for key in ("seq", "version", "behind", "bytes")}}
        store.save(model, self._folder / f"{served.name}.ingenuo", about)
        self._numbers.count(place)
        self._written[served.name] = state["seq"]


async def answer_changes(changes: Any, publisher: Publisher, folder: Path) -> asyncio.Server:
    """Answer the changes that other processes pass on, on a socket in a folder of our own."""

    async def answer(said: Mapping[str, Any], body: bytes, writer: asyncio.StreamWriter) -> None:
        n = 0
        try:
            found, n = await changes.change(said["model"], said["verb"], said["kind"], body, said["key"])
            await publisher.publish(said["model"], json.loads(found.body)["seq"])
        except Exception as error:
            found = failure(error)
        headers = [[name.decode(), value.decode()] for name, value in found.headers]
        writer.write(frame({"id": said["id"], "status": found.status, "headers": headers, "rows": n}, found.body))

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks: set[asyncio.Task[None]] = set()
        try:
            while True:
                task = asyncio.create_task(answer(*await read_frame(reader), writer))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            if tasks:
                await asyncio.wait(tasks)
            writer.close()

    return await asyncio.start_unix_server(attend, folder / CHANGES)


def frame(said: Mapping[str, Any], body: bytes) -> bytes:
    """What is said of a body, and the body."""
    head = json.dumps(said).encode()
    return _FRAME.pack(len(head), len(body)) + head + body


async def read_frame(reader: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    """The next of them."""
    head, body = _FRAME.unpack(await reader.readexactly(_FRAME.size))
    said: dict[str, Any] = json.loads(await reader.readexactly(head))
    return said, await reader.readexactly(body)


# The processes that answer.


class Published(Served):
    """A model that another process publishes."""

    def __init__(self, name: str, folder: Path, place: int, numbers: Numbers) -> None:
        super().__init__(name, str(folder / f"{name}.ingenuo"))
        self._place, self._numbers, self._number = place, numbers, 0
        self._reading: asyncio.Task[None] | None = None
        self._state: dict[str, Any] = {}

    @property
    def learns(self) -> bool:
        """Another process learns."""
        return True

    @property
    def is_behind(self) -> bool:
        """Whether a later version is there."""
        return self._numbers[self._place] != self._number

    async def catch_up(self) -> None:
        """Let the version that is the last now, or a later one, answer; whoever waits for it waits together."""
        last = self._numbers[self._place]
        while self._number < last:
            if self._reading is None or self._reading.done():
                loop = asyncio.get_running_loop()
                self._reading = asyncio.ensure_future(loop.run_in_executor(None, self.open))  # type: ignore[assignment]
            assert self._reading is not None
            await asyncio.shield(self._reading)

    def open(self) -> None:
        """Load the version that was published last."""
        number = self._numbers[self._place]  # before the file is read, which may be a later one then
        model, about = store.load(self.path, mapped=True), store.about(self.path)
        self._state = dict(about["published"])
        self.publish(Version(model, self._state["version"], about), None)
        self._number = number

    def has_changed(self) -> bool:
        """The file is not looked at, but the number."""
        return False

    def state(self) -> dict[str, Any]:
        """How many changes were learned, and how far the calibration is behind."""
        return dict(self._state)


class Remote:
    """Passes changes on to the process that owns the journal."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / CHANGES
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, asyncio.Future[tuple[Answer, int]]] = {}
        self._number, self._lock = 0, asyncio.Lock()

    async def change(self, model: str, verb: str, kind: str, body: bytes, key: str | None) -> tuple[Answer, int]:
        """Change a model by the rows of a body."""
        async with self._lock:
            if self._writer is None or self._writer.is_closing():
                await self._connect()
        self._number += 1
        number = self._number
        waiting: asyncio.Future[tuple[Answer, int]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        said = {"id": number, "model": model, "verb": verb, "kind": kind, "key": key}
        assert self._writer is not None
        self._writer.write(frame(said, body))
        try:
            return await waiting
        finally:
            self._waiting.pop(number, None)

    async def _connect(self) -> None:
        try:
            reader, self._writer = await asyncio.open_unix_connection(self._path)
        except OSError:
            raise _gone() from None
        self._task = asyncio.create_task(self._listen(reader, self._writer))

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                said, body = await read_frame(reader)
                waiting = self._waiting.get(said["id"])
                if waiting is not None and not waiting.done():
                    headers = [(name.encode(), value.encode()) for name, value in said["headers"]]
                    waiting.set_result((Answer(body, status=said["status"], headers=headers), said["rows"]))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(_gone())


def _gone() -> Refused:
    return Refused(503, "what learns is being started again; send it again, with its Idempotency-Key", _AGAIN)


# What processes count together.


class Counts:
    """The counters of this process, written for those beside it; those of a process that ended stay."""

    def __init__(self, folder: Path, service: Any) -> None:
        self._folder, self._service = folder, service
        self._own = folder / f"counts-{os.getpid()}"
        service.others = self.others

    def write(self) -> None:
        """Write the counters as they are now."""
        tallies = {name: remote.to_bytes(tally).hex() for name, tally in self._service.tallies()}
        data = json.dumps([self._service.metrics.state(), tallies]).encode()
        replace_file(str(self._own), [data])

    def others(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The counters of the other processes, as they were a second ago."""
        for path in sorted(self._folder.glob("counts-*")):
            if path != self._own:
                state, tallies = json.loads(path.read_bytes())
                yield state, {name: remote.from_bytes(bytes.fromhex(data)) for name, data in tallies.items()}
