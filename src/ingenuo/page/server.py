"""The page at home: a server on this machine alone, for what needs the exact sums of a model.

Answers are computed in the browser. Asked of the server are forgetting, learning and merging, each first as a preview,
and networks that are too wide for the page. Whoever asks must come with the token, from this machine, and by the page.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
import hashlib
import json
import os
import secrets
import socket
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
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

from ingenuo import store
from ingenuo.errors import ForgetError, IngenuoError, InputError, MergeError, RefusedError, StaleCalibrationError
from ingenuo.networks.network import Network
from ingenuo.page import page
from ingenuo.rows.schema import column_name
from ingenuo.rows.typed import parse_row, reads_texts, too_deep
from ingenuo.show.format import plain, shortened
from ingenuo.tally.labels import labels_of, objects, recognise

Rows = Callable[[Any], dict[str, Any] | None]  # what a page of a model embeds of rows
Merge = Callable[[Any, Any], tuple[Any, list[str]]]  # the sum of two models, and what should be known of it

LARGEST = 1 << 24  # bytes of a body
_WAIT = 10.0  # seconds for a body to come
_ROWS = 100  # that are forgotten or learned at once
_FRACTIONS = 500  # that an answer lists
_UNDO = 50  # changes that can be taken back
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
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{digest}';
connect-src 'self'; base-uri 'none'; form-action 'none'"><link rel="icon" href="data:,"></head>
<body><p id="said">The model is being opened …</p><noscript>The page needs JavaScript.</noscript>
<script>{script}</script></body></html>
"""


class _Refused(Exception):
    """What is answered instead of what was asked for."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


# The model that the page asks, and what is done to it.


class Session:
    """A model that is asked, changed on trial, changed and taken back.

    Parameters
    ----------
    model : classifier or Network
        Of which there is a sheet.
    rows : function, optional
        What the page of a model embeds of rows.
    merge : function, optional
        The sum of two models, with notes on it; by default what `merge` of the first says.
    about : mapping, optional
        Where the model comes from; changes are added to its history.
    save_to : path, optional
        The one file that the page may write.
    title, name : str, optional
        Of the page, and of the model's file.
    """

    def __init__(
        self,
        model: Any,
        rows: Rows | None = None,
        *,
        merge: Merge | None = None,
        about: Mapping[str, Any] | None = None,
        save_to: str | None = None,
        title: str | None = None,
        name: str | None = None,
    ) -> None:
        self.model, self.rows, self.about, self.save_to = model, rows, dict(about or {}), save_to
        self.title, self.name = title, name
        self.second: Any = None
        self._merge = _add if merge is None else merge
        self._before: list[tuple[Any, dict[str, Any]]] = []
        self._page: str | None = None
        self.page()  # which raises where there is none

    @property
    def state(self) -> dict[str, Any]:
        """What the page should know of the model as it is now."""
        return {
            "learned": _count_rows(self.model),
            "changes": len(self._before),
            "fingerprints": bool(getattr(self.model, "fingerprints", False)),
            "save_to": None if self.save_to is None else os.path.basename(self.save_to),
            "cannot": {what: why for what in ("forget", "partial_fit", "merge") if (why := _why_not(self.model, what))},
        }

    def page(self) -> str:
        """The page of the model as it is now."""
        if self._page is None:
            rows = None if self.rows is None else self.rows(self.model)
            about = {"rows": _count_rows(self.model)} | ({} if self.name is None else {"file": self.name})
            title = self.title or self.about.get("title")
            self._page = page(self.model, rows, title=title, about=about, server={"url": "", "state": self.state})
        return self._page

    def change(self, what: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Forget ("forget") or learn ("partial_fit") rows, or say what would follow."""
        _check_keys(asked, "rows", "classes", "question", "apply")
        rows, labels = asked.get("rows"), asked.get("classes")
        if not isinstance(rows, list) or not isinstance(labels, list) or not 0 < len(rows) == len(labels) <= _ROWS:
            raise InputError(f"rows and classes must be lists of the same length, of 1 to {_ROWS} each")
        read = [read_row(self.model, row) for row in rows]
        known = [_label(self.model, label) for label in labels]
        if what == "forget" and (why := _why_not(self.model, "forget")) is not None:
            raise RefusedError(why)
        after = _copy(self.model)
        getattr(after, what)(_as_table(self.model, read), objects(known))
        found = self._compare(after, read, asked)
        if _flag(asked, "apply"):
            self._keep(after, "forget" if what == "forget" else "update", len(rows))
            found["state"] = self.state
        return found

    def add_second(self, data: bytes) -> dict[str, Any]:
        """Take another model, to be asked the same and perhaps to be added."""
        from ingenuo.sheet import sheet

        other = store.from_bytes(data)
        document = sheet(other).document()
        self.second = other
        return {"sheet": document, "state": self.state}

    def merge(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Add the second model, or say what would follow."""
        _check_keys(asked, "question", "apply")
        if self.second is None:
            raise InputError("there is no second model to add; give one first")
        after, notes = self._merge(_copy(self.model), _copy(self.second))
        found = self._compare(after, [], asked) | {"notes": notes}
        if _flag(asked, "apply"):
            self._keep(after, "merge", _count_rows(self.second))
            found["state"] = self.state
        return found

    def undo(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take the last change back."""
        _check_keys(asked)
        if not self._before:
            raise InputError("nothing was changed, so there is nothing to undo")
        self.model, self.about = self._before.pop()
        self._page = None
        return {"state": self.state}

    def save(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Write the model to the file that was named when the server was started, and to no other."""
        _check_keys(asked)
        if self.save_to is None:
            raise InputError("no file to save to was named; start with ingenuo open MODEL -o FILE, or download it")
        store.save(self.model, self.save_to, self.about)
        return {"saved": os.path.basename(self.save_to), "bytes": os.path.getsize(self.save_to)}

    def network(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What every node of a network is, given evidence on some and what is done to others."""
        _check_keys(asked, "evidence", "do")
        network = self.model if isinstance(self.model, Network) else getattr(self.model, "network_", None)
        if network is None:
            raise InputError(f"a {type(self.model).__name__} has no network to ask")
        given, done = ({} if asked.get(key) is None else asked[key] for key in ("evidence", "do"))
        if not isinstance(given, dict) or not isinstance(done, dict):
            raise InputError("evidence and do must be mappings from node to state")
        network = network.intervene(done) if done else network
        beliefs = network.posteriors(given)
        log = network.log_probability(given)
        return plain(  # type: ignore[no-any-return]
            {
                "log_probability": log,
                "probability": network.probability(given),
                "states": {node: list(own) for node, own in network.states.items()},
                "beliefs": {node: list(own.values()) for node, own in beliefs.items()},
            }
        )

    def file(self) -> bytes:
        """The model as a file."""
        return store.to_bytes(self.model, self.about)

    def _keep(self, after: Any, what: str, n_rows: float | None) -> None:
        """Take a changed model as the one that is asked."""
        self._before = [*self._before[-_UNDO + 1 :], (self.model, self.about)]
        about = {key: value for key, value in self.about.items() if key != "evaluation"}  # which was of another model
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        event = {"what": what, "source": "the page", "rows": n_rows, "when": when, "forced": what == "forget"}
        learned = _count_rows(after)
        about |= {"history": [*about.get("history", []), event]} | ({} if learned is None else {"rows": learned})
        self.model, self.about, self._page = after, about, None

    def _compare(self, after: Any, rows: Sequence[Any], asked: Mapping[str, Any]) -> dict[str, Any]:
        """The answers to the question and to the rows, and every fraction of these, before and after."""
        question = asked.get("question")
        asked_row = None if question is None else read_row(self.model, question)
        fractions = _fractions(self.model, after, rows or ([] if asked_row is None else [asked_row]))
        return {
            "learned": [_count_rows(self.model), _count_rows(after)],
            "question": None if asked_row is None else [_answer(each, asked_row) for each in (self.model, after)],
            "rows": [[_answer(each, row) for each in (self.model, after)] for row in rows],
            "fractions": fractions[:_FRACTIONS],
            "more": max(len(fractions) - _FRACTIONS, 0),
        }


def _add(model: Any, other: Any) -> tuple[Any, list[str]]:
    """The sum of two models."""
    if not hasattr(model, "merge"):
        raise MergeError(_why_not(model, "merge") or f"a {type(model).__name__} cannot be merged")
    return model.merge(other), []


def _copy(model: Any) -> Any:
    """A model that may be changed: as it would come from its file."""
    return store.from_bytes(store.to_bytes(model))


def _why_not(model: Any, what: str) -> str | None:
    """Why a model cannot do something; None where it can."""
    try:
        getattr(model, what)
    except AttributeError as error:
        return str(error) if isinstance(error, RefusedError) else f"a {type(model).__name__} cannot {what}"
    if getattr(model, "calibration", None) is not None and what != "merge":
        return (
            "the model is calibrated, and has to be calibrated again whenever its rows change: use ingenuo "
            f"{'forget' if what == 'forget' else 'update'} MODEL FILE --calibrate-with FILE"
        )
    return None


def _count_rows(model: Any) -> float | None:
    """How many rows a model has learned; None where that is not known."""
    tally = getattr(model, "tally_", None)
    if tally is None or "class" not in tally:
        return None
    total = float(tally.over("class", tally.labels("class", 0)).floats().sum())
    return int(total) if total.is_integer() else total


def _check_keys(asked: Mapping[str, Any], *known: str) -> None:
    for key in asked:
        if key not in known:
            raise InputError(f"{shortened(key)!r} is not asked here; there may be {', '.join(known) or 'nothing'}")


def _flag(asked: Mapping[str, Any], key: str) -> bool:
    found = asked.get(key, False)
    if not isinstance(found, bool):
        raise InputError(f"{key} must be true or false")
    return found


def read_row(model: Any, row: Any) -> Any:
    """A row of the page as the model takes it: of what reads texts the text, else a mapping."""
    plain_values = isinstance(row, dict) and all(x is None or isinstance(x, str | float | int) for x in row.values())
    if not plain_values:
        raise InputError("a row must be a mapping from column to a number, a text, true, false or null")
    if reads_texts(model):
        names = [column_name(name) for name in model.schema_.names.tolist()]
        for name in row:
            if name not in names:
                raise InputError(f"the row has a column {shortened(name)!r} that the model does not know")
        text = row.get(names[0]) if names else None
        return "" if text is None else str(text)
    return parse_row(json.dumps(row), model)


def _as_table(model: Any, rows: Sequence[Any]) -> Any:
    """Some rows as they are learned."""
    if reads_texts(model) or model.schema_.named:
        return list(rows)
    names = [column_name(name) for name in model.schema_.names.tolist()]
    return [[row.get(name) for name in names] for row in rows]


def _label(model: Any, label: Any) -> Any:
    """A class of the model, as the page calls it."""
    if not isinstance(label, str | int | float):
        raise InputError("a class must be a text, a number, true or false")
    known = labels_of(model.classes_)
    (place,) = recognise(known, objects([label])).tolist()
    return known.tolist()[place] if place >= 0 else label


def _answer(model: Any, row: Any) -> dict[str, Any]:
    """The posterior of a row, or why there is none."""
    try:
        posterior = model.predict_proba(_as_table(model, [row]))[0]
    except IngenuoError as error:
        return {"error": error.in_command()}
    return {"classes": plain(model.classes_), "posterior": plain(posterior)}


def _fractions(before: Any, after: Any, rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Every factor of the answers to some rows that is another afterwards, in the order of the arithmetic."""
    found: dict[tuple[str, str, str], list[tuple[str, float] | None]] = {}
    for side, model in enumerate((before, after)):
        for row in rows:
            try:
                explained = model.explain(row)
            except IngenuoError:
                continue
            for factor in (explained.prior, *explained.factors):
                for label, term in zip(explained.classes.tolist(), factor.terms):
                    key = (factor.column, factor.value, str(label))
                    found.setdefault(key, [None, None])[side] = (term.how, term.value)
    return [
        {"column": column, "value": value, "class": label, "before": plain(first), "after": plain(then)}
        for (column, value, label), (first, then) in found.items()
        if first != then
    ]


# HTTP.


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


class _Server(uvicorn.Server):
    """uvicorn's, that ends quietly when it is asked to."""

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


def serve(session: Session, bound: socket.socket, ready: Callable[[str, str], object]) -> None:
    """Serve a session until Ctrl-C; `ready` is called with its address and with one that opens only once."""
    token, ticket = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    app = make_app(session, token, {ticket})
    settings: dict[str, Any] = {"loop": "asyncio", "http": "h11", "ws": "none", "lifespan": "off", "interface": "asgi3"}
    config = uvicorn.Config(
        app, **settings, log_config=None, log_level="critical", access_log=False, server_header=False,
        limit_concurrency=64, timeout_graceful_shutdown=2,
    )  # fmt: skip
    base = f"http://127.0.0.1:{bound.getsockname()[1]}/enter#"

    class Telling(_Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready(base + token, base + ticket)

    Telling(config).run(sockets=[bound])
