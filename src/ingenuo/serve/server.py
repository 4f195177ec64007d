"""The process that listens: sockets, signals, a gentle end, and connections that are not kept waiting for.

uvicorn reads and writes HTTP; httptools and uvloop make it faster where they are installed (`ingenuo[serve]`).
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

import uvicorn

from ingenuo.errors import InputError
from ingenuo.serve.http import WAIT

FINISH = 25.0  # seconds for what is being answered at the end
_HEAD = 1 << 16  # bytes of the head of a request
_AT_THE_DOOR = 2048  # connections that nobody has seen yet, as many as the system keeps
_GRACE = 0.3  # seconds for requests on connections that are open at the end
_IDLE = 6  # looks at a connection that had requests before it is closed


class _Connection:
    """Mix-in of uvicorn's protocols: what is no HTTP is refused as all else, and who says nothing is not waited for."""

    def connection_made(self, transport: Any) -> None:
        """Begin to look whether requests come."""
        super().connection_made(transport)  # type: ignore[misc]
        self._unread, self._idle, self._last = 0, 0, self
        self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side has gone."""
        self._timer.cancel()
        super().connection_lost(exc)  # type: ignore[misc]

    def data_received(self, data: bytes) -> None:
        """Read some bytes; a head that has no end is refused."""
        mine: Any = self
        before = mine.cycle
        super().data_received(data)  # type: ignore[misc]
        if mine.cycle is not before:
            self._unread = 0
        elif before is None or (before.response_complete and not before.more_body):
            self._unread += len(data)
            if self._unread > _HEAD and not mine.transport.is_closing():
                self._refuse(431, "the head of the request is too large")

    def _look_again(self) -> None:
        """Close a connection on which no request has come: a new one at the second look, one that had some later."""
        mine: Any = self
        cycle = mine.cycle
        self._idle = self._idle + 1 if cycle is self._last else 0
        if self._idle and (cycle is None or (cycle.response_complete and self._idle >= _IDLE)):
            mine.transport.close()
            return
        self._last = cycle
        self._timer = mine.loop.call_later(WAIT, self._look_again)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(400, "this is no request of HTTP/1.1")

    def _refuse(self, status: int, said: str) -> None:
        body = json.dumps({"error": said}).encode()
        head = f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        transport = self.transport  # type: ignore[attr-defined]
        transport.write(f"{head}connection: close\r\n\r\n".encode() + body)
        transport.close()


def connection_class() -> type[Any]:
    """The protocol of connections: by httptools where that is installed, else by h11."""
    if find_spec("httptools") is not None:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
    else:
        from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol  # type: ignore[assignment]
    return type("Connection", (_Connection, Protocol), {})


class Server(uvicorn.Server):
    """uvicorn's, that says when it listens, ends gently, and quietly.

    Parameters
    ----------
    app : ASGI application
        What answers.
    ready : callable
        Is called once it listens; what it returns is awaited beside the answers, and an error of it ends the server.
    drain : float
        Seconds for which a TERM lets requests come before the socket is closed; `ending` is called as they begin, and
        `closing` as they end.
    """

    def __init__(
        self,
        app: Any,
        ready: Callable[[], Awaitable[None] | None],
        *,
        drain: float = 0.0,
        ending: Callable[[], None] = lambda: None,
        closing: Callable[[], None] = lambda: None,
        finish: float = FINISH,
        hangup: Callable[[], None] | None = None,
    ) -> None:
        settings: dict[str, Any] = {"ws": "none", "lifespan": "off", "interface": "asgi3", "server_header": False}
        config = uvicorn.Config(
            app, **settings, loop="uvloop" if find_spec("uvloop") is not None else "asyncio", http=connection_class(),
            log_config=None, log_level="critical", access_log=False, timeout_graceful_shutdown=finish,  # type: ignore[arg-type]
            timeout_keep_alive=60, h11_max_incomplete_event_size=2 * _HEAD,  # ours comes first
        )  # fmt: skip
        super().__init__(config)
        self._ready, self._drain, self._ending, self._closing, self._hangup = ready, drain, ending, closing, hangup
        self._asked: float | None = None  # when the end was asked for
        self._beside: asyncio.Task[None] | None = None
        self.error: BaseException | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            beside = self._ready()
            if beside is not None:
                self._beside = asyncio.ensure_future(beside)  # type: ignore[arg-type]

    async def on_tick(self, counter: int) -> bool:
        """Look whether it is time to end."""
        if self._beside is not None and self._beside.done() and not self._beside.cancelled():
            self.error = self._beside.exception()
            self.should_exit = self.should_exit or self.error is not None
        if self._asked is not None and time.monotonic() - self._asked >= self._drain:
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: whoever has come is answered, and what is being answered is finished."""
        self._ending()
        if self._beside is not None:
            self._beside.cancel()
            with suppress(BaseException):
                await self._beside
        await self._stop_listening(sockets or [])
        self._closing()
        await super().shutdown(sockets)

    async def _stop_listening(self, sockets: Iterable[socket.socket]) -> None:
        """Let nobody else in; who waits at the door is let in first, and may say what is wanted."""
        loop = asyncio.get_running_loop()
        for each in sockets:
            with suppress(OSError):  # nobody waits
                for _ in range(_AT_THE_DOOR):
                    made, _ = each.accept()
                    made.setblocking(False)
                    await loop.connect_accepted_socket(self._begin_connection, made)
        for server in self.servers:
            server.close()
        for each in sockets:
            each.close()
        until = loop.time() + _GRACE
        while self.server_state.connections and loop.time() < until:
            await asyncio.sleep(0.01)

    def _begin_connection(self) -> asyncio.Protocol:
        found: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg, assignment]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return found

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End on a signal: at once on Ctrl-C, and gently when the system asks."""
        if sig == signal.SIGTERM and self._drain > 0:
            if self._asked is None:
                self._asked = time.monotonic()
                self._ending()
            return
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The signals, which are not raised again afterwards; HUP reloads."""
        hup = getattr(signal, "SIGHUP", None)
        before = None
        if hup is not None and self._hangup is not None:
            hangup = self._hangup
            before = signal.signal(hup, lambda *_: hangup())
        try:
            with super().capture_signals():
                yield
                self._captured_signals.clear()
        finally:
            if before is not None:
                signal.signal(hup, before)  # type: ignore[arg-type]


def listen(port: int = 0, host: str = "127.0.0.1") -> socket.socket:
    """A socket at an address of this machine; port 0 is any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or error
        raise InputError(
            f"the host {host!r} has no address ({said}); take 127.0.0.1, or an address of this machine"
        ) from None
    found = socket.socket(family, kind, protocol)
    try:
        if os.name != "nt":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        found.close()
        raise InputError(
            f"port {port} cannot be opened ({error.strerror or error}); take another, or 0 for any that is free"
        ) from None
    return found


def address_of(bound: socket.socket) -> str:
    """The address of a socket, as a browser takes it."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{host}:{port}"


def notify(state: str) -> None:
    """Tell systemd a state, such as READY=1, where it is waiting for one."""
    path = os.environ.get("NOTIFY_SOCKET")
    if path:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
            to.sendto(state.encode(), f"\0{path[1:]}" if path.startswith("@") else path)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may be of any address
        return False
