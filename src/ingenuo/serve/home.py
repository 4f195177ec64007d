"""The page at home: a server on this machine alone, for what needs the exact sums of a model.

Answers are computed in the browser. Asked of the server are forgetting, learning and merging, each first as a preview,
and networks that are too wide for the page. Whoever asks must come with the token, from this machine, and by the page.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from ingenuo.page.session import Session
from ingenuo.serve.door import door, enter
from ingenuo.serve.http import (
    HTML,
    Answer,
    Application,
    Bodies,
    Endpoint,
    Guard,
    Refused,
    Request,
    Route,
    Token,
    read_object,
)
from ingenuo.serve.server import Server

_DATA, _JSON = "application/octet-stream", ("application/json",)


def make_app(session: Session, token: str, tickets: set[str] | None = None) -> Application:
    """The application that serves a session to whoever has the token, or a ticket, which opens once."""
    said = "the token is missing or of another server; open the address that was printed"
    guard = Guard((Token(token.encode(), frozenset(("page",))),), exact=True, once=set(tickets or ()), said=said)
    bodies, pool = Bodies(), ThreadPoolExecutor(1, "session")  # one thing after the other

    async def work(task: Callable[[], Any]) -> Any:
        """Do something in a thread."""

        def quiet() -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what an answer should say, it says
                return task()

        return await asyncio.get_running_loop().run_in_executor(pool, quiet)

    async def home(request: Request) -> Answer:
        try:
            guard.check_token(request)
        except Refused:
            return Answer(b"", HTML, 303, [(b"location", b"/enter")])
        page: str = await work(session.page)
        return Answer(page.encode(), HTML)

    async def download(request: Request) -> Answer:
        data = await work(session.file)
        return Answer(data, _DATA.encode(), headers=[(b"content-disposition", b'attachment; filename="model.ingenuo"')])

    async def second(request: Request) -> Answer:
        data = await bodies.read(request)
        return Answer.of(await work(partial(session.add_second, data)))

    def posted(task: Callable[[dict[str, Any]], dict[str, Any]]) -> Endpoint:
        async def endpoint(request: Request) -> Answer:
            asked = read_object(await bodies.read(request))
            return Answer.of(await work(partial(task, asked)))

        return endpoint

    tasks: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "forget": partial(session.change, "forget"),
        "learn": partial(session.change, "partial_fit"),
        "merge": session.merge,
        "undo": session.undo,
        "save": session.save,
        "network": session.network,
    }
    routes = {
        "/": {"GET": Route("/", home, "open")},
        "/enter": {"GET": Route("/enter", door, "open")},
        "/v1/enter": {"POST": Route("/v1/enter", partial(enter, guard, bodies), "open", _JSON)},
        "/v1/model.ingenuo": {"GET": Route("/v1/model.ingenuo", download, "page")},
        "/v1/second": {"POST": Route("/v1/second", second, "page", (_DATA,))},
        **{f"/v1/{name}": {"POST": Route(f"/v1/{name}", posted(task), "page", _JSON)} for name, task in tasks.items()},
    }
    return Application(routes, guard)


def make_server(session: Session, port: int, ready: Callable[[str, str], object]) -> Server:
    """A server of a session at a port; `ready` is called with its address and with one that opens only once."""
    token, ticket = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    base = f"http://127.0.0.1:{port}/enter#"

    def begin() -> None:
        ready(base + token, base + ticket)

    return Server(make_app(session, token, {ticket}), begin, finish=2)


def serve(session: Session, bound: socket.socket, ready: Callable[[str, str], object]) -> None:
    """Serve a session on a socket until Ctrl-C."""
    make_server(session, bound.getsockname()[1], ready).run(sockets=[bound])
