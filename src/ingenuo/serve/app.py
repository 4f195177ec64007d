"""The application of `ingenuo serve`: its addresses, what each answers, and who has to wait.

Up to 64 rows are answered where the request is read, and more if that takes no longer; else a thread beside it does.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from ingenuo import __version__
from ingenuo.errors import InputError, KindError, RefusedError
from ingenuo.evaluation.watch import Watch, prometheus
from ingenuo.serve import bodies, metrics, protocol
from ingenuo.serve.bodies import CSV, JSON, KINDS, NDJSON, Rows, accepted, answer_table, read_rows, write_table
from ingenuo.serve.door import door, enter
from ingenuo.serve.http import HTML, Answer, Application, Bodies, Guard, Refused, Request, Route, read_json
from ingenuo.serve.invocations import answer_invocation, read_invocation
from ingenuo.serve.logs import Log, place_of
from ingenuo.serve.models import Served, Version, count_rows
from ingenuo.serve.openapi import openapi
from ingenuo.sheet.changes import changes
from ingenuo.show.format import plain, shortened

R = TypeVar("R")

IN_FLIGHT = 64  # requests that wait for threads
INLINE = 1 << 15  # bytes of a body that is read in the event loop
AT_ONCE = 0.001  # seconds of an answer that is given there
EXPLAINED, CHANGED = 100, 10  # rows of a request
LONG = 1 << 19  # bytes of a body whose rows are explained or changed: each word of a text takes its time
_AGAIN = ((b"retry-after", b"1"),)
_WATCHED = 10.0  # seconds for which answers of a model that learns are counted by one version's values
VERBS = ("learn", "forget", "recalibrate")


class Changes(Protocol):
    """What learns and forgets, here or in the process that owns the journal."""

    async def change(self, model: str, verb: str, kind: str, body: bytes, key: str | None) -> tuple[Answer, int]:
        """Change a model by the rows of a body; the answer, and how many rows there were."""


class Service(Application):
    """Models by name, behind a guard.

    Parameters
    ----------
    models : sequence of Served
        The first is the one that is asked without a name.
    guard : Guard
        Who is answered.
    changes : Changes, optional
        What learns and forgets; None where that is not allowed.
    rate : float, optional
        Requests per second of each token.
    """

    def __init__(
        self,
        models: Sequence[Served],
        guard: Guard,
        *,
        log: Log | None = None,
        changes: Changes | None = None,
        rate: float | None = None,
    ) -> None:
        self.models = {each.name: each for each in models}
        self.first, self.changes, self.rate = models[0], changes, rate
        self.log = Log(None) if log is None else log
        self.metrics, self.bodies, self.in_flight = metrics.Metrics(), Bodies(), 0
        self.closing = False
        self.watches: dict[str, tuple[Version, Watch]] = {}
        self.watched: dict[str, Any] = {}  # the tallies of versions that no longer answer
        self._keeping = threading.Lock()
        self.others: Callable[[], Iterable[Any]] = tuple  # the counters of other processes
        self._buckets: dict[int, tuple[float, float]] = {}
        self._thread, self._beside = ThreadPoolExecutor(1, "answer"), ThreadPoolExecutor(1, "explain")
        self.guard = guard
        super().__init__(self._addresses(), guard)

    def _addresses(self) -> dict[str, dict[str, Route]]:
        posted: dict[str, Callable[[Served, Request], Any]] = {
            "predict": self.predict, "explain": self.explain, "change": self.change,
        }  # fmt: skip
        shown = {"model": self.describe, "sheet": self.sheet, "openapi.json": self.openapi}
        routes: dict[str, dict[str, Route]] = {
            "/": {"GET": Route("/", partial(self.page, self.first), "open")},
            "/enter": {"GET": Route("/enter", door, "open", waits=False)},
            "/v1/enter": {"POST": Route("/v1/enter", partial(enter, self.guard, self.bodies), "open", (JSON,), False)},
            "/v1/models": {"GET": Route("/v1/models", self.list_models)},
            "/metrics": {"GET": Route("/metrics", self.write_metrics)},
            "/v2": {"GET": Route("/v2", self.about_server, "open", waits=False)},
            "/v2/health/live": {"GET": Route("/v2/health/live", self.live, "probe", waits=False)},
            "/v2/health/ready": {"GET": Route("/v2/health/ready", self.ready, "probe", waits=False)},
            "/ping": {"GET": Route("/ping", self.ready, "probe", waits=False)},
            "/invocations": {"POST": Route("/invocations", partial(self.invocations, self.first), "read", (JSON, CSV))},
        }
        for prefix, served in [
            ("/v1", self.first),
            *((f"/v1/models/{each.name}", each) for each in self.models.values()),
        ]:
            for verb, answer in posted.items():
                kinds = (JSON,) if verb == "change" else KINDS
                routes[f"{prefix}/{verb}"] = {"POST": Route(f"/v1/{verb}", partial(answer, served), "read", kinds)}
            for verb in VERBS:
                route = Route(f"/v1/{verb}", partial(self.learn, served, verb), "learn", KINDS)
                routes[f"{prefix}/{verb}"] = {"POST": route}
            for what, show in shown.items():
                routes[f"{prefix}/{what}"] = {"GET": Route(f"/v1/{what}", partial(show, served))}
        for served in self.models.values():
            own = f"/v2/models/{served.name}"
            routes[f"/models/{served.name}"] = {"GET": Route("/", partial(self.page, served), "open")}
            routes[own] = {"GET": Route("/v2/models", partial(self.metadata, served))}
            routes[f"{own}/ready"] = {"GET": Route("/v2/models/ready", partial(self.model_ready, served), waits=False)}
            routes[f"{own}/infer"] = {
                "POST": Route("/v2/models/infer", partial(self.infer, served), "read", (JSON, ""))
            }
        return routes

    def find(self, request: Request) -> Mapping[str, Route] | None:
        """How a path is answered; a version may stand in that of a model, and must be the one that answers."""
        found = self.routes.get(request.path)
        if found is not None or "/versions/" not in request.path:
            return found
        front, _, rest = request.path.partition("/versions/")
        version, slash, verb = rest.partition("/")
        served = self.models.get(front.removeprefix("/v2/models/"))
        if served is None or not served.is_ready or served.now.version != version:
            return None
        return self.routes.get(f"{front}{slash}{verb}")

    def explain_missing(self, request: Request) -> str:
        """What is said of an address at which there is nothing: the models, or the version, that there are."""
        of, _, rest = request.path.removeprefix("/v2").removeprefix("/v1").partition("/models/")
        name, slash, _ = rest.partition("/")
        served = self.models.get(name)
        if of or not name:
            return super().explain_missing(request)
        if served is None:
            return f"there is no model of this name; there are {', '.join(self.models)}"
        if slash and "/versions/" in request.path and served.is_ready:
            return f"this version of {name} does not answer; {served.now.version} does"
        return super().explain_missing(request)

    # Who has to wait.

    @property
    def is_ready(self) -> bool:
        """Whether every model answers, and the end has not begun."""
        return not self.draining and all(each.is_ready for each in self.models.values())

    def begin(self, request: Request) -> None:
        """Name a request."""
        request.id = self.log.request_id(request.header(b"x-request-id"))

    def admit(self, request: Request, route: Route) -> None:
        """Raise while models are being loaded, at the end, and where a token asks too often."""
        if not route.waits:
            return
        if self.closing:
            raise Refused(503, "the server is ending; ask another one", *_AGAIN)
        if not all(each.is_ready for each in self.models.values()):
            raise Refused(503, "the models are being loaded; ask again", *_AGAIN)
        if self.rate is not None:
            self._check_rate(0 if request.token is None else request.token.number)

    def _check_rate(self, token: int) -> None:
        """Raise where a token has asked more often than it may; a second's worth may come at once."""
        assert self.rate is not None
        now, most = time.monotonic(), max(self.rate, 1.0)
        left, last = self._buckets.get(token, (most, now))
        left = min(most, left + (now - last) * self.rate)
        if left < 1:
            self._buckets[token] = left, now
            wait = max(1, round((1 - left) / self.rate + 0.5))
            raise Refused(
                429, f"more than {self.rate:g} requests a second; ask again later", (b"retry-after", str(wait).encode())
            )
        self._buckets[token] = left - 1, now

    async def work(self, task: Callable[[], R], pool: ThreadPoolExecutor | None = None) -> R:
        """Do something in a thread."""
        if self.in_flight >= IN_FLIGHT:
            raise Refused(503, f"{IN_FLIGHT} requests are being answered; ask again", *_AGAIN)
        self.in_flight += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(pool or self._thread, task)
        finally:
            self.in_flight -= 1

    def note(self, request: Request, route: str, answer: Answer, seconds: float, error: Exception | None) -> None:
        """Count what was answered, and write a line of it."""
        self.metrics.add_request(route, answer.status, seconds)
        ours = error is not None and not isinstance(error, Refused) and answer.status >= 500
        where = place_of(error) if ours and error is not None else None
        token = None if request.token is None else request.token.number
        self.log.line(
            method=request.method if request.method in _METHODS else "OTHER",
            route=route, status=answer.status, ms=round(seconds * 1000, 3), bytes_in=request.n_bytes,
            bytes_out=len(answer.body), rows=request.rows or None, model=request.model or None,
            version=request.version or None, id=request.id, token=token,
            error=None if where is None else type(error).__name__, at=where,
        )  # fmt: skip

    # What answers rows.

    async def _begin(self, served: Served, request: Request) -> Version:
        if served.is_behind:
            await served.catch_up()
        version = served.now
        request.model, request.version = served.name, version.version
        return version

    def _answered(self, served: Served, version: Version, request: Request, rows: Rows) -> Any:
        """The posterior of rows, which are counted."""
        posterior, joints = version.answer(rows)
        request.rows = rows.n
        self.metrics.rows["predict", served.name] += rows.n
        watch = self._watch(served, version)
        if rows.few is not None and version.answers_rows:
            watch.add(rows.few, posterior, joints)
        else:
            watch.add(version.table(rows), np.asarray(posterior))
        if self.watches[served.name][1] is not watch:  # another took its place meanwhile
            self._keep(served.name, watch)
        return posterior

    def _watch(self, served: Served, version: Version) -> Watch:
        """What counts the answers of a version."""
        found = self.watches.get(served.name)
        if found is not None:
            before = found[0]  # of a model that learns, each change is a version
            same = version.labels == before.labels and version.columns.names == before.columns.names
            if before is version or (same and (served.learns and time.monotonic() - before.since < _WATCHED)):
                return found[1]
        watch = version.watch()
        self.watches[served.name] = version, watch
        if found is not None:
            self._keep(served.name, found[1])
        return watch

    def _keep(self, name: str, watch: Watch) -> None:
        """Keep what a watch has counted of a version that answers no more."""
        with self._keeping:
            tally = watch.take()
            self.watched[name] = self.watched[name] + tally if name in self.watched else tally

    async def predict(self, served: Served, request: Request) -> Answer:
        """The answers to rows."""
        body = await self.bodies.read(request)
        version, kind = await self._begin(served, request), request.kind
        accept = request.headers.get(b"accept", b"*/*")
        wanted = kind if accept == b"*/*" else accepted(accept.decode("latin-1"), kind)

        def answer(rows: Rows) -> Answer:
            posterior = self._answered(served, version, request, rows)
            if wanted != JSON:
                return Answer(write_table(answer_table(version.labels, posterior), wanted), wanted.encode())
            posterior = posterior if rows.few is not None else posterior.tolist()
            places = [row.index(max(row)) for row in posterior]
            return Answer.of(
                {
                    "model": served.name,
                    "version": version.version,
                    "classes": version.classes,
                    "predicted": [version.classes[k] for k in places],
                    "probability": [row[k] for row, k in zip(posterior, places)],
                    "posterior": posterior,
                }
            )

        def read() -> Rows:
            rows, said = read_rows(kind, body, version.columns)
            check_keys(said)
            return rows

        return await self._in_turn(version, body, read, answer)

    async def _in_turn(
        self, version: Version, body: bytes, read: Callable[[], Rows], answer: Callable[[Rows], Answer]
    ) -> Answer:
        """Read rows and answer them: here where they are few, else in a thread."""
        if len(body) > INLINE:
            return await self.work(lambda: answer(read()))
        rows = read()
        if (rows.few is not None and version.answers_rows) or rows.n * version.seconds < AT_ONCE:
            return answer(rows)
        return await self.work(partial(answer, rows))

    async def infer(self, served: Served, request: Request) -> Answer:
        """The answers to tensors, as the Open Inference Protocol has them."""
        if b"inference-header-content-length" in request.headers:
            raise InputError("binary tensors are not taken: send and ask for JSON (binary_data=False)")
        body = await self.bodies.read(request)
        version = await self._begin(served, request)
        wanted, name = list[str](), None

        def read() -> Rows:
            nonlocal wanted, name
            rows, wanted, name = protocol.read_request(read_json(body), version.columns)
            return rows

        def answer(rows: Rows) -> Answer:
            posterior = self._answered(served, version, request, rows)
            found = protocol.answer_request(served.name, version.version, version.names, posterior, wanted, name)
            return Answer.of(found)

        return await self._in_turn(version, body, read, answer)

    async def invocations(self, served: Served, request: Request) -> Answer:
        """The answers to what MLflow's and SageMaker's callers send."""
        body = await self.bodies.read(request)
        version, kind, accept = await self._begin(served, request), request.kind, request.header(b"accept")
        method = ""

        def read() -> Rows:
            nonlocal method
            rows, method = read_invocation(kind, body, version.columns)
            return rows

        def answer(rows: Rows) -> Answer:
            return answer_invocation(version.classes, self._answered(served, version, request, rows), method, accept)

        return await self._in_turn(version, body, read, answer)

    async def explain(self, served: Served, request: Request) -> Answer:
        """The arithmetic behind the answers to some rows."""
        body = check_length(await self.bodies.read(request))
        version, kind = await self._begin(served, request), request.kind
        accept = request.header(b"accept")
        wanted = accepted(accept, kind) if accept else kind

        def explain() -> Answer:
            rows, said = read_rows(kind, body, version.columns, few=EXPLAINED)
            check_keys(said, "form")
            form = said.get("form", "product")
            if form not in ("product", "log"):
                raise InputError(f'"form" must be "product" or "log", got {shortened(form)!r}')
            if rows.few is None:
                raise Refused(413, f"there are {rows.n:,} rows, and {EXPLAINED} are explained at a time")
            found = [plain(version.model.explain(version.asked(row), form=form).to_dict()) for row in rows.few]
            request.rows = rows.n
            self.metrics.rows["explain", served.name] += rows.n
            if wanted == NDJSON:
                return Answer(bodies.each_line(found), NDJSON.encode())
            return Answer.of({"model": served.name, "version": version.version, "explanations": found})

        return await self.work(explain, self._beside)

    async def change(self, served: Served, request: Request) -> Answer:
        """What would change the answers to some rows."""
        body = check_length(await self.bodies.read(request))
        version = await self._begin(served, request)

        def search() -> Answer:
            rows, said = read_rows(JSON, body, version.columns, few=CHANGED)
            check_keys(said, "target", "locked", "most")
            if rows.few is None:
                raise Refused(413, f"there are {rows.n:,} rows, and {CHANGED} are looked at at a time")
            target = None if said.get("target") is None else version.columns.label(said["target"])
            locked, most = said.get("locked", []), said.get("most", 8)
            if not isinstance(locked, list):
                raise InputError('"locked" must be a list of names of columns')
            found = [plain(changes(version.asked_by, row, target, locked=locked, most=most)) for row in rows.few]
            request.rows = rows.n
            self.metrics.rows["change", served.name] += rows.n
            return Answer.of({"model": served.name, "version": version.version, "changes": found})

        return await self.work(search, self._beside)

    async def learn(self, served: Served, verb: str, request: Request) -> Answer:
        """Learn rows, forget them, or calibrate by them."""
        if self.changes is None:
            raise RefusedError("this server does not learn; start it with ingenuo serve --learn")
        body = await self.bodies.read(request)
        await self._begin(served, request)
        key = request.headers.get(b"idempotency-key")
        if key is not None and not 0 < len(key) <= 200:
            raise InputError("the Idempotency-Key must have 1 to 200 letters")
        if self.in_flight >= IN_FLIGHT:
            raise Refused(503, f"{IN_FLIGHT} requests are being answered; ask again", *_AGAIN)
        self.in_flight += 1
        try:
            said = None if key is None else key.decode("latin-1")
            answer, request.rows = await self.changes.change(served.name, verb, request.kind, body, said)
        finally:
            self.in_flight -= 1
        self.metrics.rows[verb, served.name] += request.rows
        return answer

    # What is shown.

    async def page(self, served: Served, request: Request) -> Answer:
        """The page on which a model is asked; who has no cookie yet is sent to the door."""
        if self.guard.tokens:
            try:
                self.guard.check_token(request, "read")
            except Refused:
                return Answer(b"", HTML, 303, [(b"location", b"/enter")])
        version = await self._begin(served, request)
        return Answer(await self.work(lambda: _from_sheet(lambda: version.page)), HTML)

    async def list_models(self, request: Request) -> Answer:
        """The names of the models, with their versions."""
        every = [{"name": each.name, "version": each.now.version} for each in self.models.values()]
        return Answer.of({"models": every})

    async def describe(self, served: Served, request: Request) -> Answer:
        """What a caller should know of a model."""
        version = await self._begin(served, request)
        found = await self.work(version.describe)
        state = {key: plain(value) for key, value in served.state().items() if key != "bytes"}
        return Answer.of({"name": served.name, **found, "learns": self.changes is not None, **state})

    async def sheet(self, served: Served, request: Request) -> Answer:
        """The document from which a model can be asked anywhere."""
        version = await self._begin(served, request)
        return Answer(await self.work(lambda: _from_sheet(lambda: version.sheet.to_json().encode())))

    async def openapi(self, served: Served, request: Request) -> Answer:
        """What can be asked, as OpenAPI has it."""
        version = await self._begin(served, request)
        return Answer.of(
            openapi(served.name, version, learns=self.changes is not None, secured=bool(self.guard.tokens))
        )

    async def about_server(self, request: Request) -> Answer:
        """What this server is."""
        return Answer.of({"name": protocol.NAME, "version": __version__, "extensions": list(protocol.EXTENSIONS)})

    async def live(self, request: Request) -> Answer:
        """That the server runs."""
        return Answer.of({"live": True})

    async def ready(self, request: Request) -> Answer:
        """Whether the server can be asked."""
        return Answer.of({"live": True}) if self.is_ready else Answer.of({"live": False}, 503, _AGAIN)

    async def metadata(self, served: Served, request: Request) -> Answer:
        """What goes into a model and comes out of it, as the Open Inference Protocol has it."""
        version = await self._begin(served, request)
        found = protocol.describe_model(served.name, version.version, version.columns, len(version.classes))
        return Answer.of(found)

    async def model_ready(self, served: Served, request: Request) -> Answer:
        """Whether a model can be asked."""
        ready = served.is_ready and not self.draining
        return Answer.of({"name": served.name, "ready": ready}, 200 if ready else 503)

    async def write_metrics(self, request: Request) -> Answer:
        """The counters of this process and of those beside it."""
        for served in self.models.values():
            if served.is_behind:
                await served.catch_up()
            self._watch(served, served.now)
        total = metrics.Metrics()
        total.add(self.metrics.state())
        states, tallies = await asyncio.get_running_loop().run_in_executor(None, self._counted)
        for state in states:
            total.add(state)
        lines = [*total.lines(), *metrics.family("in_flight", [(self.in_flight, {})]), *self._model_lines()]
        watched = [({"model": name}, tallies[name], watch.reference) for name, (_, watch) in self.watches.items()]
        return Answer(("\n".join([*lines, *prometheus(watched)]) + "\n").encode(), metrics.KIND)

    def _counted(self) -> tuple[list[Any], dict[str, Any]]:
        """The counters of other processes, and the tallies of all."""
        states, tallies = [], dict(self.tallies())
        for state, theirs in self.others():
            states.append(state)
            for name, tally in theirs.items():
                tallies[name] = tallies[name] + tally if name in tallies else tally
        return states, tallies

    def tallies(self) -> Iterable[tuple[str, Any]]:
        """What was counted of the answers of each model."""
        for name, (_, watch) in list(self.watches.items()):
            with self._keeping:  # else what is being kept could be counted twice
                own = watch.tally()
                tally = self.watched[name] + own if name in self.watched else own
            yield name, tally

    def _model_lines(self) -> Iterable[str]:
        every = self.models.values()
        states = {each.name: each.state() for each in every}
        info = [
            {"model": each.name, "version": each.now.version, "kind": type(each.now.model).__name__} for each in every
        ]
        yield from metrics.family("model_info", ((1, labels) for labels in info))
        rows = ((count_rows(each.now.model), {"model": each.name}) for each in every)
        yield from metrics.family("model_rows", ((n, labels) for n, labels in rows if n is not None))
        for name, key in (("journal_seq", "seq"), ("journal_bytes", "bytes"), ("calibration_behind_rows", "behind")):
            own = [(state[key], {"model": model}) for model, state in states.items() if state.get(key) is not None]
            yield from metrics.family(name, own)
        yield from metrics.family("reload_failures_total", ((each.failures, {"model": each.name}) for each in every))


def _from_sheet(write: Callable[[], bytes]) -> bytes:
    """What is made from the sheet of a model; of one that has none, it is not there."""
    try:
        return write()
    except (KindError, InputError) as error:
        raise Refused(404, error.in_command()) from None


_METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"}


def check_length(body: bytes) -> bytes:
    """A body whose rows take long; raises where it is too long."""
    if len(body) > LONG:
        raise Refused(413, f"the body has {len(body):,} bytes, and {LONG:,} are taken here; send less at a time")
    return body


def check_keys(said: Mapping[str, Any], *known: str) -> None:
    """Raise for what a body says that is not asked for."""
    for key in said:
        if key not in known:
            raise InputError(f"{shortened(key)!r} is not asked here; there may be {', '.join(('rows', *known))}")
