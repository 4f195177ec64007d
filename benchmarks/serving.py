"""Servers in new processes, what their processes take, and a generator of requests that is not what is measured."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.processes import as_installed, command

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


def tree_of(pid: int) -> list[int]:
    """A process and all that it has started."""
    parents: dict[int, list[int]] = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                fields = each.joinpath("stat").read_text().rpartition(") ")[2].split()
            except OSError:  # it has ended
                continue
            parents.setdefault(int(fields[1]), []).append(int(each.name))
    found = [pid]
    for below in found:
        found += parents.get(below, [])
    return found


def cpu_of(pid: int) -> float:
    """Seconds of a process and of those below it, ended ones included, the system's share included."""
    total = 0
    for each in tree_of(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / TICKS


def memory_of(pid: int) -> int:
    """Bytes that a process and those below it have in memory."""
    pages = 0
    for each in tree_of(pid):
        try:
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
        except OSError:
            continue
    return pages * PAGE


@dataclass
class Server:
    """A server that runs."""

    process: subprocess.Popen[str]
    port: int

    @property
    def pid(self) -> int:
        """The process that was started."""
        return self.process.pid

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running(
    call: Sequence[str], port: int, ready: str, env: Mapping[str, str] | None = None, log: Path | None = None,
    patience: float = 180.0, cwd: Path | None = None,
) -> Iterator[Server]:  # fmt: skip
    """A server that was started and answers; it and what it has started are ended afterwards."""
    with open(log or os.devnull, "wb") as out:
        full = {**as_installed(), **(env or {})}
        process = subprocess.Popen(call, stdout=out, stderr=out, text=True, env=full, start_new_session=True, cwd=cwd)
    try:
        end = time.monotonic() + patience
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{ready}", timeout=5) as answer:
                    if answer.status == 200:
                        break
            except OSError:
                pass
            if process.poll() is not None or time.monotonic() > end:
                said = log.read_text(errors="replace")[-2000:] if log else ""
                raise RuntimeError(f"{' '.join(map(str, call))} does not answer ({process.poll()}): {said}")
            time.sleep(0.2)
        yield Server(process, port)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)  # the session that it was started in
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)


@contextmanager
def serving(*words: str, log: Path | None = None, env: Mapping[str, str] | None = None) -> Iterator[Server]:
    """`ingenuo serve`, on a free port; it ends at once unless the words say otherwise."""
    port = free_port()
    call = [*command(), "serve", "--drain", "0", *words, "--port", str(port)]
    with running(call, port, "/v2/health/ready", log=log, env=env) as found:
        yield found


def request(
    port: int, path: str, body: bytes = b"", kind: str = "application/json", method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> bytes:  # fmt: skip
    """A request as it is sent."""
    lines = [f"{method} {path} HTTP/1.1", f"host: 127.0.0.1:{port}", f"content-length: {len(body)}"]
    lines += [f"content-type: {kind}"] if body else []
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass
class Load:
    """What came of many requests."""

    seconds: float = 0.0
    statuses: dict[int, int] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)
    lost: int = 0  # connections that were closed before the answer
    last: bytes = b""  # the last body

    @property
    def answered(self) -> int:
        """How many were answered at all."""
        return sum(self.statuses.values())


class _Connection:
    """One connection that is kept open: it sends a request when the answer to the last one is whole."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.began = b"", 0.0

    def answer(self) -> tuple[int, bytes] | None:
        """The status and the body of what came, if it is whole."""
        head, split, rest = self.buffer.partition(b"\r\n\r\n")
        if not split:
            return None
        low = head.lower()
        at = low.find(b"content-length:")
        if at >= 0:
            size = int(low[at + 15 :].split(b"\r\n", 1)[0])
            if len(rest) < size:
                return None
            self.buffer = rest[size:]
            return int(head[9:12]), rest[:size]
        if b"transfer-encoding: chunked" in low:
            if not rest.endswith(b"0\r\n\r\n"):
                return None
            self.buffer = b""
            return int(head[9:12]), rest
        self.buffer = rest
        return int(head[9:12]), b""


def send(port: int, requests: Sequence[bytes], n: int, connections: int = 8, *, patience: float = 600.0) -> Load:
    """Send n requests, one after the other on each of some connections, over and over the same."""
    found, sent = Load(), 0
    began = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        waiting = 0

        def start(connection: _Connection) -> None:
            nonlocal sent, waiting
            if sent < n:
                connection.began = time.perf_counter()
                connection.socket.sendall(requests[sent % len(requests)])
                sent += 1
                waiting += 1

        for _ in range(min(connections, n)):
            connection = _Connection(port)
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            start(connection)
        while waiting:
            events = selector.select(30)
            if not events or time.perf_counter() - began > patience:
                raise RuntimeError(f"{waiting} requests are not answered, {found.answered} are")
            for key, _ in events:
                connection = key.data
                try:
                    data = connection.socket.recv(1 << 18)
                except OSError:
                    data = b""
                connection.buffer += data
                answer = connection.answer()
                if answer is not None:
                    waiting -= 1
                    found.statuses[answer[0]] = found.statuses.get(answer[0], 0) + 1
                    found.latencies.append(time.perf_counter() - connection.began)
                    found.last = answer[1]
                    if data:
                        start(connection)
                elif not data:
                    waiting -= 1
                    found.lost += 1
                if not data:
                    selector.unregister(connection.socket)
                    connection.socket.close()
        for key in list(selector.get_map().values()):
            key.data.socket.close()
    found.seconds = time.perf_counter() - began
    return found
