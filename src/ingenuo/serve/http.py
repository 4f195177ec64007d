"""What every request goes through: who asks and from where, the body within its limits, and answers of one form.

An application is a dictionary of addresses; each is answered by a function of the request. There is no framework
between: it would cost more than the answer of a row. Every failure is `{"error": "one sentence"}`.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple

from ingenuo.errors import (
    ForgetError,
    IngenuoError,
    InputError,
    JournalError,
    MergeError,
    RefusedError,
    StaleCalibrationError,
    did_you_mean,
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LARGEST = 1 << 24  # bytes of a body, as it comes and unpacked
WAIT = 10.0  # seconds for a body to come
HELD = 1 << 28  # bytes of bodies that are on their way at a time
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
JSON, TEXT, HTML = b"application/json", b"text/plain; charset=utf-8", b"text/html; charset=utf-8"

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
)
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Refused(Exception):
    """What is answered instead of what was asked for."""

    def __init__(self, code: int, message: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(message)
        self.code, self.headers = code, headers


class Answer:
    """A status, a body, and what it is."""

    __slots__ = ("body", "headers", "kind", "status")

    def __init__(
        self, body: bytes, kind: bytes = JSON, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()
    ) -> None:
        self.body, self.kind, self.status, self.headers = body, kind, status, headers

    @classmethod
    def of(cls, data: Any, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()) -> Answer:
        """Data as JSON."""
        return cls(_encode(data).encode(), JSON, status, headers)


class Request:
    """A request, and what is noted of it on the way."""

    __slots__ = ("headers", "id", "method", "model", "n_bytes", "path", "receive", "rows", "scope", "token", "version")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope, self.receive = scope, receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.token: Token | None = None
        self.n_bytes = self.rows = 0
        self.id = self.model = self.version = ""

    def header(self, name: bytes) -> str:
        """A header as text; empty where there is none."""
        return self.headers.get(name, b"").decode("latin-1")

    @property
    def kind(self) -> str:
        """What the body is said to be."""
        return self.header(b"content-type").partition(";")[0].strip().lower()


Endpoint = Callable[[Request], Awaitable[Answer]]


class Route(NamedTuple):
    """How an address is answered, under which name it is counted, and what a token must allow."""

    name: str
    endpoint: Endpoint
    scope: str = "read"  # "open" is for everybody, "probe" by any name of this machine
    kinds: tuple[str, ...] = ()  # of bodies; any, where there are none
    waits: bool = True  # until the models are loaded


Routes = Mapping[str, Mapping[str, Route]]  # of each path, by method


# Who asks.


@dataclass(frozen=True)
class Token:
    """A secret, and what it allows."""

    secret: bytes
    scopes: frozenset[str]
    number: int = 0  # how it is called in what is written


@dataclass
class Guard:
    """Who is answered: by the name of the machine that is asked for, the page that asks, and the token."""

    tokens: tuple[Token, ...] = ()
    hosts: tuple[str, ...] | None = LOOPBACK  # names of this server; None is any
    exact: bool = False  # the port must be this server's own, and what changes anything asked by its own page
    once: set[str] = field(default_factory=set)  # secrets that open the page once
    said: str = "the token is missing or wrong; send it as Authorization: Bearer TOKEN"

    def check_origin(self, request: Request) -> None:
        """Raise for another name of this machine (which a page elsewhere may have given it), and for other pages."""
        headers, scope = request.headers, request.scope
        host = headers.get(b"host", b"").decode("latin-1")
        if self.hosts is not None:
            name, port = split_host(host)
            wrong = name not in self.hosts or (self.exact and port != (scope.get("server") or ("", None))[1])
            if wrong or [key for key, _ in scope["headers"]].count(b"host") != 1:
                known = "the address of this machine only" if {*LOOPBACK} <= {*self.hosts} else "other names"
                raise Refused(403, f"this server answers to {known}; take the one that was printed")
        if request.method not in ("GET", "HEAD"):
            origin = headers.get(b"origin")
            if (origin is not None or self.exact) and (origin or b"").decode("latin-1") not in (
                (f"http://{host}",) if self.exact else (f"http://{host}", f"https://{host}")
            ):
                raise Refused(403, "this was not asked by the page of this server")
        elif headers.get(b"sec-fetch-site") == b"cross-site" and request.path != "/enter":
            raise Refused(403, "this was asked by the page of another site")

    def check_token(self, request: Request, scope: str = "") -> None:
        """Raise where the token does not allow what is asked for, or is none."""
        if scope in ("open", "probe") or not self.tokens:
            return
        given = request.headers.get(b"authorization")
        if given is not None:
            word, _, secret = given.partition(b" ")
            found = self.find(secret.strip()) if word.lower() == b"bearer" else None
        else:
            found = self.find(cookie(request).encode("utf-8", "replace"))
        if found is None:
            raise Refused(401, self.said, (b"www-authenticate", b"Bearer"))
        if scope and scope not in found.scopes:
            raise Refused(403, f"the token does not allow to {scope}; take one that does")
        request.token = found

    def find(self, secret: bytes) -> Token | None:
        """The token that has a secret; as long is taken for each that has not."""
        found = None
        for token in self.tokens:
            if secrets.compare_digest(secret, token.secret):
                found = token
        return found

    def enter(self, request: Request, given: object) -> Answer:
        """Exchange a token, or what opens once, for a cookie that no script sees."""
        if not isinstance(given, str):
            given = ""
        found = self.tokens[0] if given in self.once else self.find(given.encode("utf-8", "replace"))
        if found is None:
            raise Refused(403, "this address was used already, or is of another server; take the one that was printed")
        self.once.discard(given)
        value = f"{cookie_name(request)}={found.secret.decode()}; HttpOnly; Path=/; SameSite=strict"
        return Answer(b"{}", headers=[(b"set-cookie", value.encode())])


def split_host(host: str) -> tuple[str, int | None]:
    """The name and the port of a Host."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        return host.lower(), 80
    return name.lower(), int(port) if port.isascii() and port.isdecimal() and len(port) < 6 else None


def cookie_name(request: Request) -> str:
    """What the cookie is called: those of several servers on one machine must not be the same, for ports share them."""
    return f"ingenuo-{(request.scope.get('server') or ('', 0))[1]}"


def cookie(request: Request) -> str:
    """The token of the cookie; empty where there is none."""
    given = request.header(b"cookie")
    if not given:
        return ""
    try:
        found = SimpleCookie(given).get(cookie_name(request))
    except CookieError:
        return ""
    return "" if found is None else found.value


SCOPES = ("read", "learn")
_SHORTEST = 16  # letters of a token


def read_tokens(path: str) -> tuple[Token, ...]:
    """The tokens of a file: one in each line, with what it allows (read, learn) behind it; where nothing is, all."""
    found: list[Token] = []
    with open(path, encoding="utf-8") as file:
        try:
            lines = file.read().splitlines()
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is no text: {error.reason}; write one token in each line") from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        secret, *scopes = line.split()
        if not all("!" <= letter <= "~" for letter in secret) or len(secret) < _SHORTEST or ";" in secret:
            raise InputError(
                f"{path}, line {number}: a token has {_SHORTEST} letters of ASCII or more, and no semicolon; "
                "`openssl rand -hex 32` makes one"
            )
        odd = next((each for each in scopes if each not in SCOPES), None)
        if odd is not None:
            raise InputError(f"{path}, line {number}: {odd!r} is no scope{did_you_mean(odd, SCOPES)}")
        if any(each.secret == secret.encode() for each in found):
            raise InputError(f"{path}, line {number}: the token stands there twice; remove one of the lines")
        found.append(Token(secret.encode(), frozenset(scopes or SCOPES), number))
    if not found:
        raise InputError(f"{path} has no token; write one in each line")
    return tuple(found)


# Bodies.


class Bodies:
    """The bodies that are on their way: each is counted as it comes, and so are all together."""

    def __init__(self) -> None:
        self.held = 0

    async def read(self, request: Request) -> bytes:
        """The body of a request, unpacked."""
        said = request.header(b"content-length") or "0"
        if said.isdecimal() and (len(said) > 12 or int(said) > LARGEST):
            raise too_large()
        pieces, size = list[bytes](), 0
        try:
            async with asyncio.timeout(WAIT):
                while True:
                    message = await request.receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "the body ended before it was whole")
                    piece = message.get("body", b"")
                    size += len(piece)
                    self.held += len(piece)
                    if size > LARGEST:
                        raise too_large()
                    if self.held > HELD:
                        raise Refused(503, "too many large bodies are on their way; ask again", (b"retry-after", b"1"))
                    pieces.append(piece)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            late = f"the body did not come within {WAIT:g} seconds"
            raise Refused(408, late, (b"connection", b"close")) from None
        finally:
            self.held -= size
        request.n_bytes = size
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        packing = request.headers.get(b"content-encoding")
        if packing is None:
            return data
        return await asyncio.get_running_loop().run_in_executor(None, unpack, data, packing.decode("latin-1"))


def too_large() -> Refused:
    """What is said of a body beyond the limit."""
    return Refused(413, f"the body is larger than {LARGEST >> 20} MiB, and no larger one is taken; send less at a time")


def unpack(data: bytes, packing: str) -> bytes:
    """What was packed by gzip or deflate, as far as a body may be large."""
    packing = packing.strip().lower()
    if packing in ("", "identity"):
        return data
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise Refused(415, f"the body is packed by {packing[:40]!r}; gzip, deflate and identity are taken")
    raw = packing == "deflate" and (len(data) < 2 or data[0] & 15 != 8 or int.from_bytes(data[:2], "big") % 31 != 0)
    unpacking = zlib.decompressobj(15 if packing == "deflate" else 31)
    if raw:
        unpacking = zlib.decompressobj(-15)
    try:
        found = unpacking.decompress(data, LARGEST + 1)
        if len(found) > LARGEST:
            raise too_large()
        if not unpacking.eof or unpacking.unused_data:
            raise zlib.error("it is cut off, or something follows")
    except zlib.error as error:
        raise Refused(400, f"the body is no {packing}: {error}") from None
    return found


def read_json(data: bytes) -> Any:
    """What a body of JSON says: UTF-8, every key once, finite numbers."""
    try:
        found = _decoder.decode(data.decode("utf-8"))
        if b"\\ud" in data or b"\\uD" in data:
            json.dumps(found, ensure_ascii=False).encode()  # which halves of pairs have not
        return found
    except UnicodeEncodeError:
        raise Refused(400, "a text has half a character (a lone surrogate), which is no text") from None
    except UnicodeDecodeError as error:
        raise Refused(400, f"the body is no UTF-8: {error.reason} at byte {error.start}") from None
    except (ValueError, RecursionError) as error:
        said = "it has too many brackets within brackets" if isinstance(error, RecursionError) else str(error)
        raise Refused(400, f"the body is no JSON: {said}") from None


def read_object(data: bytes) -> dict[str, Any]:
    """A body that is an object of JSON."""
    found = read_json(data or b"{}")
    if not isinstance(found, dict):
        raise Refused(400, f"the body must be an object of JSON, got a {type(found).__name__}")
    return found


def find_repeated(names: Iterable[str]) -> str:
    """The first name that was there before; empty where none was."""
    before = set[str]()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"an object has the key {find_repeated(name for name, _ in pairs)[:60]!r} twice")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON; null stands for a missing value")


_decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)


# Failures.


def failure(error: Exception) -> Answer:
    """How a failure is answered: a code and one sentence, without a path or a trace."""
    headers: Iterable[tuple[bytes, bytes]] = ()
    if isinstance(error, Refused):
        code, said, headers = error.code, str(error), error.headers
    elif isinstance(error, JournalError):
        code, said, headers = 503, error.in_command(), [(b"retry-after", b"1")]
    elif isinstance(error, ForgetError | MergeError | RefusedError | StaleCalibrationError):
        code, said = 409, error.in_command()
    elif isinstance(error, IngenuoError):
        code, said = 400, error.in_command()
    elif isinstance(error, UnicodeError):
        code, said = 400, "a text, or the name of a column, is no UTF-8"
    elif isinstance(error, MemoryError):
        code, said = 507, "there is not enough memory for this"
    elif isinstance(error, OSError):
        code, said = 500, f"{error.strerror or 'the system refused'}; nothing was written"
    else:
        code, said = 500, f"this should not have happened ({type(error).__name__}); the model is as it was"
    return Answer.of({"error": " ".join(said.split())}, code, headers)


# The application.


class Application:
    """A dictionary of addresses as an ASGI application, behind a guard; what it answered can be noted."""

    def __init__(self, routes: Routes, guard: Guard) -> None:
        self.routes, self.guard = routes, guard
        self.draining = False  # the end has begun: what is asked is answered, on connections that are not kept

    def find(self, request: Request) -> Mapping[str, Route] | None:
        """How a path is answered, by method."""
        return self.routes.get(request.path)

    def explain_missing(self, request: Request) -> str:
        """What is said of an address at which there is nothing."""
        return "there is nothing at this address"

    def begin(self, request: Request) -> None:
        """Take note of a request that begins."""

    def admit(self, request: Request, route: Route) -> None:
        """Raise where a request that is allowed has to wait."""

    def note(self, request: Request, route: str, answer: Answer, seconds: float, error: Exception | None) -> None:
        """Take note of what was answered."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        began, request, route, failed = time.perf_counter(), Request(scope, receive), None, None
        try:
            self.begin(request)
            route = self._route(request)
            self.admit(request, route)
            answer = await route.endpoint(request)
        except Exception as error:
            failed, answer = error, failure(error)
        headers = [(b"content-type", answer.kind), (b"content-length", str(len(answer.body)).encode()), *_HEADERS]
        headers += answer.headers
        if self.draining:
            headers.append((b"connection", b"close"))
        if request.id:
            headers.append((b"x-request-id", request.id.encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else answer.body})
        self.note(request, "unknown" if route is None else route.name, answer, time.perf_counter() - began, failed)

    def _route(self, request: Request) -> Route:
        """The route of a request that is allowed; who has no token hears nothing of what there is."""
        found = self.find(request)
        method = "GET" if request.method == "HEAD" else request.method
        route = None if found is None else found.get(method)
        if route is None or route.scope != "probe":
            self.guard.check_origin(request)
        self.guard.check_token(request, "" if route is None else route.scope)
        if found is None:
            raise Refused(404, self.explain_missing(request))
        if route is None:
            allowed = ", ".join(found).encode()
            raise Refused(405, "this address is not asked in this way", (b"allow", allowed))
        if route.kinds and request.kind not in route.kinds:
            raise Refused(
                415, f"the body must be {listed([kind for kind in route.kinds if kind])}, by its Content-Type"
            )
        return route


def listed(kinds: Iterable[str]) -> str:
    """Some kinds of bodies, as a sentence names them."""
    *others, last = kinds
    return f"{', '.join(others)} or {last}" if others else last
