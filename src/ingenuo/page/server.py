"""The page at home: a server on this machine alone, for what needs the exact sums of a model.

Answers are computed in the browser. Asked of the server are forgetting, learning and merging, each first as a preview,
and networks that are too wide for the page. Whoever asks must come with the token, from this machine, and by the page.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import secrets
import socket
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ingenuo.errors import ForgetError, IngenuoError, InputError, MergeError, RefusedError, StaleCalibrationError
from ingenuo.page.session import Session
from ingenuo.rows.typed import too_deep

LARGEST = 1 << 24  # bytes of a body
_WAIT = 10.0  # seconds for a body to come
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
)

# Exchanges the token, which stands in the fragment and is so in no log and no request, for a cookie.
_ENTER = """
const token = location.hash.slice(1), said = document.getElementById("said");
history.replaceState(null, "", "/enter");
fetch("/v1/enter", {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({token})})
  .then((answer) => answer.ok ? location.replace("/") : answer.json().then(({error}) => { said.textContent = error; }))
  .catch(() => { said.textContent = "The server has ended: start ingenuo open again."; });
"""
_DOOR = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ingenuo</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; script-src 'sha256-{digest}';
connect-src 'self'; base-uri 'none'; form-action 'none'"><link rel="icon" href="data:,"></head>
<body><p id="said">The model is being opened …</p><noscript>The page needs JavaScript.</noscript>
<script>{script}</script></body></html>
"""


class _Refused(Exception):
    """What is answered instead of what was asked for."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def make_app(session: Session, token: str, tickets: set[str] | None = None) -> ASGIApp:
    """The application that serves a session to whoever has the token, or a ticket, which opens once."""
    unused = set(tickets or ())
    lock = asyncio.Lock()

    async def work(task: Callable[[], Any]) -> Any:
        """Do something in a thread, one thing after the other."""

        def quiet() -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what an answer should say, it says
                return task()

        async with lock:
            return await anyio.to_thread.run_sync(quiet)

    async def home(request: Request) -> Response:
        return HTMLResponse(await work(session.page))

    async def door(request: Request) -> Response:
        digest = base64.b64encode(hashlib.sha256(_ENTER.encode()).digest()).decode()
        return HTMLResponse(_DOOR.format(digest=digest, script=_ENTER))

    async def enter(request: Request) -> Response:
        given = read_json(await read_body(request)).get("token")
        if not isinstance(given, str) or not (_equal(given, token) or given in unused):
            raise _Refused(403, "this address was used already, or is of another server; take the one that was printed")
        unused.discard(given)
        answer = JSONResponse({})
        answer.set_cookie(_cookie(request.scope), token, httponly=True, samesite="strict", path="/")
        return answer

    async def download(request: Request) -> Response:
        data = await work(session.file)
        named = {"content-disposition": 'attachment; filename="model.ingenuo"'}
        return Response(data, media_type="application/octet-stream", headers=named)

    async def second(request: Request) -> Response:
        data = await read_body(request)
        return JSONResponse(await work(partial(session.add_second, data)))

    def posted(task: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            asked = read_json(await read_body(request))
            return JSONResponse(await work(partial(task, asked)))

        return endpoint

    tasks: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "forget": partial(session.change, "forget"),
        "learn": partial(session.change, "partial_fit"),
        "merge": session.merge,
        "undo": session.undo,
        "save": session.save,
        "network": session.network,
    }
    routes = [
        Route("/", home),
        Route("/enter", door),
        Route("/v1/enter", enter, methods=["POST"]),
        Route("/v1/model.ingenuo", download),
        Route("/v1/second", second, methods=["POST"]),
        *(Route(f"/v1/{name}", posted(task), methods=["POST"]) for name, task in tasks.items()),
    ]
    return _Guard(Starlette(routes=routes), token)


class _Guard:
    """What every request must be: of this machine, of the page, with the token; every failure is one sentence."""

    def __init__(self, app: Starlette, token: str) -> None:
        self._app, self._token = app, token
        app.add_exception_handler(HTTPException, _http_error)
        app.add_exception_handler(Exception, _any_error)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        began = False

        async def send_safely(message: Any) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        try:
            found = self._refuse(scope)
            if found is None:
                await self._app(scope, receive, send_safely)
            else:
                await found(scope, receive, send_safely)
        except Exception as error:  # which was answered within, as long as anybody listens
            if not began and not isinstance(error, ClientDisconnect):
                await _error(*_failure(error))(scope, receive, send_safely)

    def _refuse(self, scope: Scope) -> Response | None:
        """Why a request is not answered, if it is not."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        name, port = _split(host)
        server = scope.get("server") or ("", None)
        if name not in _LOOPBACK or port != server[1] or [key for key, _ in scope["headers"]].count(b"host") != 1:
            return _error(403, "this server answers to the address of this machine only; take the one that was printed")
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get(b"origin", b"").decode("latin-1") != f"http://{host}":
                return _error(403, "this was not asked by the page of this server")
            kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip()
            wanted = "application/octet-stream" if scope["path"] == "/v1/second" else "application/json"
            if kind != wanted:
                return _error(415, f"the body must be {wanted}")
        elif b"sec-fetch-site" in headers and headers[b"sec-fetch-site"] == b"cross-site" and scope["path"] != "/enter":
            return _error(403, "this was asked by the page of another site")
        if scope["path"] in ("/enter", "/v1/enter"):
            return None
        given = Request(scope).cookies.get(_cookie(scope), "")
        if _equal(given, self._token):
            return None
        if scope["path"] == "/" and scope["method"] == "GET":
            return RedirectResponse("/enter", 303)
        return _error(401, "the token is missing or of another server; open the address that was printed")


def _split(host: str) -> tuple[str, int | None]:
    """The name and the port of a Host."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        return host.lower(), 80
    return name.lower(), int(port) if port.isascii() and port.isdecimal() and len(port) < 6 else None


def _cookie(scope: Scope) -> str:
    """What the cookie is called: those of several servers on one machine must not be the same, for ports share them."""
    return f"ingenuo-{(scope.get('server') or ('', 0))[1]}"


def _equal(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), token.encode())


async def read_body(request: Request) -> bytes:
    """The body of a request, counted as it comes."""
    said = request.headers.get("content-length", "0")
    too_large = _Refused(413, f"the body is larger than {LARGEST >> 20} MiB, and no larger one is taken")
    if said.isdecimal() and int(said) > LARGEST:
        raise too_large
    pieces, size = list[bytes](), 0
    try:
        async with asyncio.timeout(_WAIT):
            async for piece in request.stream():
                size += len(piece)
                if size > LARGEST:
                    raise too_large
                pieces.append(piece)
    except TimeoutError:
        raise _Refused(408, f"the body did not come within {_WAIT:g} seconds") from None
    return b"".join(pieces)


def read_json(data: bytes) -> dict[str, Any]:
    """A body that is an object of JSON."""
    try:
        if too_deep(data) >= 0:
            raise ValueError("it has too many brackets within brackets")
        found = json.loads(data or b"{}", parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _Refused(400, f"the body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise _Refused(400, f"the body must be an object of JSON, got a {type(found).__name__}")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _error(code: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, code)


def _failure(error: Exception) -> tuple[int, str]:
    """How a failure is answered: a code and a sentence."""
    if isinstance(error, _Refused):
        return error.code, str(error)
    if isinstance(error, ForgetError | MergeError | RefusedError | StaleCalibrationError):
        return 409, error.in_command()
    if isinstance(error, IngenuoError):
        return 400, error.in_command()
    if isinstance(error, MemoryError):
        return 507, "there is not enough memory for this"
    if isinstance(error, OSError):
        return 500, f"{error.strerror or 'the system refused'}; nothing was written"
    return 500, f"this should not have happened ({type(error).__name__}); the model is as it was"


async def _any_error(request: Request, error: Exception) -> Response:
    return _error(*_failure(error))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {404: "there is nothing at this address", 405: "this address is not asked in this way"}
    return JSONResponse({"error": said.get(error.status_code, error.detail)}, error.status_code, error.headers)


# The server itself.


class Server(uvicorn.Server):
    """uvicorn's, that says when it listens, and ends quietly when it is asked to."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The signals, which are not raised again afterwards."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()


def listen(port: int = 0) -> socket.socket:
    """A socket on this machine alone; port 0 is any that is free."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name != "nt":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", port))
    except OSError as error:
        found.close()
        raise InputError(
            f"port {port} cannot be opened ({error.strerror or error}); take another, or 0 for any that is free"
        ) from None
    return found


def make_server(session: Session, port: int, ready: Callable[[str, str], object]) -> Server:
    """A server of a session at a port; `ready` is called with its address and with one that opens only once."""
    token, ticket = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    settings: dict[str, Any] = {"loop": "asyncio", "http": "h11", "ws": "none", "lifespan": "off", "interface": "asgi3"}
    config = uvicorn.Config(
        make_app(session, token, {ticket}), **settings, log_config=None, log_level="critical", access_log=False,
        server_header=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
    base = f"http://127.0.0.1:{port}/enter#"
    return Server(config, partial(ready, base + token, base + ticket))


def serve(session: Session, bound: socket.socket, ready: Callable[[str, str], object]) -> None:
    """Serve a session on a socket until Ctrl-C."""
    make_server(session, bound.getsockname()[1], ready).run(sockets=[bound])
